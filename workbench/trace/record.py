"""Watch a function run: every tensor operation as a Step, in order, nested in the calls that it was made in.

Why `__torch_function__` and not something simpler: hooks see modules, and a learner writes functions; torch.fx traces
without numbers and stops at `if`; a dispatch mode sees what PyTorch makes of `softmax` below its public names. A mode
sees each call by the name it was written with, and the frames above it tell the line and the calls it stands in.
"""

import linecache
import math
import site
import sys
import sysconfig
import types
import weakref
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

import attn_lib

from ..display import show
from .readable import is_in_place, name_of, operation_of
from .surprises import Call, surprises_of

LIBRARY, WORKBENCH = Path(attn_lib.__file__).parent, Path(__file__).parents[1]  # as frames name them: links stay
TORCH = Path(torch.__file__).parent
INSTALLED = [*site.getsitepackages(), *(sysconfig.get_path(p) for p in ("stdlib", "platstdlib", "purelib"))]
NOT_YOURS = tuple({f"{Path(folder)}{sep}" for folder in [*INSTALLED, LIBRARY, WORKBENCH, TORCH] for sep in "/\\"})
CHECKS = str(LIBRARY / "checks.py")
OVERRIDES = str(TORCH / "overrides.py")
# How PyTorch gets from a call to the code that does it: of no interest to a reader.
PLUMBING = {str(TORCH / part) for part in ("_tensor.py", "functional.py", "_jit_internal.py")}
PLUMBING |= {str(TORCH / "nn/modules/module.py"), str(TORCH / "utils/_contextlib.py")}
PLUMBING |= {str(TORCH / "autograd/function.py"), str(TORCH / "_dynamo/eval_frame.py"), __file__}
INLINE = {"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}  # part of the function they stand in
OPENED = {F.multi_head_attention_forward}  # functions of PyTorch worth looking into

KEPT_WHOLE = 2**14  # numbers: a larger tensor is kept as a summary and a sample
KEPT_TOGETHER = 2**22  # numbers in all values that are kept whole
KEPT_TO_COMPARE = 2**18  # numbers: up to here all are compared when two versions are
SAMPLE = 1024
MOST_STEPS = 2000
DEEPEST = 40  # calls within calls; what recurses deeper is shown as if it were called from there
LEAVES = {"numpy", "__array__", "__dlpack__"}  # what takes a tensor's numbers away from PyTorch


class Ragged(str):
    """Stands in a shape for the length of an axis along which the parts of a nested tensor differ."""

    __repr__ = str.__str__


def shape_of(tensor):
    """`(2, 3, 4)`; `(2, *, 4)` of a nested tensor, which has no shape as others have it."""
    if not tensor.is_nested:
        return tuple(tensor.shape)
    return tuple(_length(tensor, axis) for axis in range(tensor.dim()))


def _length(nested, axis):
    try:
        length = nested.size(axis)
    except RuntimeError:
        return Ragged("*")
    return length if isinstance(length, int) else Ragged("*")


def in_a_row(tensor):
    """The tensor; of a nested one the numbers of all its parts, one after the other."""
    return torch.cat([part.reshape(-1) for part in tensor.unbind()]) if tensor.is_nested else tensor


@dataclass
class Snapshot:
    """What is kept of a tensor: all of it if it is small, otherwise its range and some of its numbers."""

    shape: tuple
    dtype: torch.dtype
    count: int = 0  # of its numbers
    low: float = 0.0  # the smallest number, nan if there is any nan
    high: float = 0.0
    sample: torch.Tensor | None = None  # float64; None where there are no numbers to read
    value: torch.Tensor | None = None

    @property
    def has_nan(self):
        return math.isnan(self.low)

    @property
    def is_finite(self):
        return math.isfinite(self.low) and math.isfinite(self.high)


def snapshot_of(tensor, whole=True, sampled=KEPT_WHOLE):
    """A summary of a tensor, which is neither changed nor held; of up to `sampled` numbers all are in its sample."""
    snapshot = Snapshot(shape_of(tensor), tensor.dtype)
    try:
        tensor, whole = in_a_row(tensor.detach()), whole and not tensor.is_nested
        snapshot.count = tensor.numel()
        if tensor.is_complex():
            snapshot.sample = _sample(torch.view_as_real(tensor.resolve_conj()), sampled)
            return snapshot
        snapshot.sample = _sample(tensor, sampled)
        if tensor.numel():
            snapshot.low, snapshot.high = (end.item() for end in tensor.aminmax())
        if whole and tensor.numel() <= KEPT_WHOLE:
            snapshot.value = tensor.to("cpu", copy=True)
    except (RuntimeError, NotImplementedError, TypeError):  # meta, sparse: shapes only
        snapshot.sample = snapshot.value = None
    return snapshot


def _sample(tensor, whole):
    if tensor.numel() <= whole:
        return tensor.reshape(-1).to("cpu", torch.float64, copy=True)
    places = torch.arange(SAMPLE, device=tensor.device) * (tensor.numel() - 1) // (SAMPLE - 1)
    return tensor[torch.unravel_index(places, tensor.shape)].to("cpu", torch.float64)


@dataclass(frozen=True)
class Place:
    """A line of source; own is False in library code."""

    file: str = field(repr=False, default="")
    number: int = 0
    text: str = ""
    own: bool = True


@dataclass(eq=False)
class Step:
    """One tensor operation, or one call of a function with the operations it made as `inner`."""

    operation: str
    place: Place
    number: str = ""
    inputs: list = field(default_factory=list)  # (shape, dtype) of every tensor that goes in
    outputs: list = field(default_factory=list)
    snapshot: Snapshot | None = None  # of the first result that goes on
    snapshots: list = field(default_factory=list, repr=False)  # the same of every result of an operation
    surprises: list = field(default_factory=list)
    inner: list = field(default_factory=list)
    own: bool = True
    error: str = ""
    name: str = ""
    sources: list = field(default_factory=list, repr=False)  # the steps whose results go in, None for arguments
    users: list = field(default_factory=list, repr=False)  # for each use, which result and the calls it was made in
    within: tuple = field(default=(), repr=False)  # the calls it was made in
    results: list = field(default_factory=list, repr=False)  # weak references
    places: dict = field(default_factory=dict, repr=False)  # id of a result → which of them it is
    in_place: bool = False
    returned: set = field(default_factory=set, repr=False)  # the places among the outputs where its result stands
    factors: tuple = ()  # of a product: over how many features it ran

    @property
    def value(self):
        """The result as it was at this step, or None if it was too large to keep."""
        return self.snapshot.value if self.snapshot else None

    def operations(self):
        """The operations that this step consists of: itself, or all inside the call."""
        return [leaf for part in self.inner for leaf in part.operations()] if self.inner else [self]


class Recorder(TorchFunctionMode):
    """Records while it is entered; `steps` is the tree, top level first, of `Step` or of what is made in its place."""

    def __init__(self, sampled=KEPT_WHOLE, make_step=Step):
        super().__init__()
        self._make_step = make_step
        self._sampled, self._samples = sampled, KEPT_TOGETHER
        self.steps, self.error, self.error_place, self.left_out = [], "", None, 0
        self._tensors = {}  # id of a tensor → (weak reference, version, what is kept of it, its step)
        self._open, self._root_file, self._base = [], None, None
        self._room, self._count, self._arguments = KEPT_TOGETHER, 0, set()

    def run(self, fn, args, kwargs):
        """Call fn and return its output, None if it raised; `error` then says what."""
        self._base = sys._getframe()
        self._arguments = {_storage(tensor) for tensor in tensors_in((args, kwargs))}
        output = None
        try:
            with self:
                output = fn(*args, **kwargs)
        except Exception as error:
            self.error = show.error(error)
            if "has_torch_function" in self.error:  # why PyTorch says that it does not take its fast path
                self.error += " (by trace, which that path does not go through: without trace this may run)"
            self.error_place = self._place_of_error(error)
        self._open, self._base = [], None
        for place, tensor in enumerate(tensors_in(output)):
            self._use(tensor, (), returned={place})
        if not self.error:
            self._find_unused(self.steps)
        self.steps = [_unwrapped(step) for step in self.steps]
        number(self.steps)
        return output

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = name_of(func)
        path = None if name in ASKS_FOR_SHAPE or name.startswith("is_") else self._path(sys._getframe(1))
        if path is None or self._count >= MOST_STEPS:
            self.left_out += path is not None
            return func(*args, **kwargs)
        if func in OPENED:
            with self:
                return opened(func)(*args, **kwargs)
        inputs = tensors_in((args, kwargs))
        before = [self._look(tensor) for tensor in inputs]
        shown_inputs = [t for t in inputs if not isinstance(t, torch.nn.Parameter)] or inputs
        step = self._make_step(operation_of(name, args, kwargs), Place(), name=name, in_place=is_in_place(name, kwargs))
        step.inputs = [(shape_of(t), t.dtype) for t in shown_inputs]
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            step.error = show.error(error)
            self._add(step, path)
            raise
        results = tensors_in(result)
        if step.in_place and not results:  # x[i] = y returns nothing
            results = inputs[:1]
        if results:
            step.sources = [self._tensors[id(tensor)][3] for tensor in inputs]
            self._add(step, path)
            self._note_results(step, results)
            call = Call(name, args, kwargs, inputs, before, results, step.snapshot, step.in_place)
            step.factors = _features(name, inputs)
            call.factors = [getattr(self._tensors[id(tensor)][3], "factors", ()) for tensor in inputs]
            call.axis_added = [_adds_axis(self._tensors[id(tensor)][3]) for tensor in inputs]
            call.overwrites_argument = step.in_place and _storage(results[0]) in self._arguments
            if not any(tensor.is_nested for tensor in (*inputs, *results)):  # whose shapes cannot be reckoned with
                step.surprises = surprises_of(call, own=step.own)
        elif name in LEAVES:
            self._add(step, path)
            step.surprises = ["leaves PyTorch: what is done to a NumPy array is not seen here, and no gradient passes"]
            step.sources, step.in_place = [self._tensors[id(tensor)][3] for tensor in inputs], True
        for tensor in inputs:
            self._use(tensor, tuple(group for _, group in self._open))
        for tensor in results:
            self._remember(tensor, step)
        return result

    # ---------------------------------------------------------------------------------------------- tensors

    def _look(self, tensor):
        """What is known of a tensor as it stands; an argument or parameter that is new belongs to no step."""
        reference, version, snapshot, step = self._tensors.get(id(tensor), (None,) * 4)
        is_known = reference is not None and reference() is tensor
        if not is_known or version is None or version != _version(tensor):
            snapshot = snapshot_of(tensor, whole=False)
        step = step if is_known else None
        self._tensors[id(tensor)] = weakref.ref(tensor), _version(tensor), snapshot, step
        return snapshot

    def _note_results(self, step, results):
        for place, tensor in enumerate(results):
            step.outputs.append((shape_of(tensor), tensor.dtype))
            step.results.append(weakref.ref(tensor))
            step.places[id(tensor)] = place
            step.snapshots.append(self._snapshot(step, tensor))
        step.snapshot = step.snapshots[0]

    def _snapshot(self, step, tensor):
        if "empty" in step.name:  # whatever was in memory: not to be read, it differs from run to run
            return Snapshot(shape_of(tensor), tensor.dtype)
        fits = self._sampled if tensor.numel() <= self._samples else SAMPLE
        snapshot = snapshot_of(tensor, whole=tensor.numel() <= self._room, sampled=fits)
        self._samples -= snapshot.sample.numel() if snapshot.sample is not None else 0
        self._room -= snapshot.value.numel() if snapshot.value is not None else 0
        return snapshot

    def _remember(self, tensor, step):
        snapshot = step.snapshots[step.places[id(tensor)]]
        self._tensors[id(tensor)] = weakref.ref(tensor), _version(tensor), snapshot, step

    def _use(self, tensor, within, returned=()):
        reference, _, _, step = self._tensors.get(id(tensor), (None,) * 4)
        if step is not None and reference() is tensor:
            step.users.append((step.places[id(tensor)], within))
            step.returned.update(returned)

    # ------------------------------------------------------------------------------------------------ calls

    def _path(self, frame):
        """The calls from the traced function down to this operation as (frame, frame of the line), or None."""
        path, line, is_the_operation = [], None, False
        while frame is not None and frame is not self._base:
            file = frame.f_code.co_filename
            if file == CHECKS:
                return None
            if is_the_operation:
                is_the_operation = False
            elif file == OVERRIDES:
                is_the_operation = frame.f_code.co_name == "handle_torch_function"
            elif file not in PLUMBING:
                line = line or frame
                if frame.f_code.co_name not in INLINE:
                    path.append((frame, line))
                    line = None
            frame = frame.f_back
        return path[::-1] if len(path) <= DEEPEST else [*path[:-DEEPEST:-1], path[0]]

    def _add(self, step, path):
        """Put a step into the tree, opening the calls that it was made in."""
        if path:
            self._root_file = path[0][0].f_code.co_filename
        self._count += 1
        same = 0
        while same < min(len(self._open), len(path) - 1) and self._open[same][0] is path[same + 1][0]:
            same += 1
        del self._open[same:]
        for (_, line), (frame, _) in zip(path[same:], path[same + 1 :], strict=False):
            group = self._make_step(_name_of_call(frame), self._place(line), own=self._is_own(frame))
            group.inputs = [(shape_of(t), t.dtype) for t in _arguments(frame)]
            self._here().append(group)
            self._open.append((frame, group))  # the frame is held, so that no later one is taken for it
        step.within = tuple(group for _, group in self._open)
        step.place = self._place(path[-1][1]) if path else Place()
        step.own = all(group.own for group in step.within)
        self._here().append(step)

    def _here(self):
        return self._open[-1][1].inner if self._open else self.steps

    def _is_own(self, frame):
        file = frame.f_code.co_filename
        return file == self._root_file or not file.startswith(NOT_YOURS)

    def _place(self, frame, number=None):
        file, number = frame.f_code.co_filename, number or frame.f_lineno
        text = linecache.getline(file, number).strip()
        return Place(file, number, text, own=not file.startswith(NOT_YOURS))

    def _place_of_error(self, error):
        """The last line of the learner's own code that the error went through."""
        place, entry, entered = None, error.__traceback__, False
        while entry is not None:
            file = entry.tb_frame.f_code.co_filename
            if file not in PLUMBING and (not entered or self._is_own(entry.tb_frame)):
                place = self._place(entry.tb_frame, entry.tb_lineno)
                entered = True
            entry = entry.tb_next
        return place

    # ----------------------------------------------------------------------------------------------- unused

    def _find_unused(self, steps):
        for step in steps:
            if step.inner and step.own:
                self._find_unused(step.inner)
            elif _is_unused(step):
                step.surprises.append("computed and never used: nothing takes this result and it is not returned")


ASKS_FOR_SHAPE = {"shape", "size", "dim", "ndim", "dtype", "device", "numel", "stride", "layout", "requires_grad"}
ASKS_FOR_SHAPE |= {"grad_fn", "__len__", "element_size", "get_device", "grad", "_version", "data_ptr", "itemsize"}
ASKS_FOR_SHAPE |= {"storage_offset", "untyped_storage"}


def opened(function):
    """The same function without its hand-over to __torch_function__, so that the mode sees inside."""
    inside = {name: lambda *tensors: False for name in function.__globals__ if name.startswith("has_torch_function")}
    names = {**function.__globals__, **inside}
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def tensors_in(thing):
    """All tensors, in order, in nested tuples, lists, dicts and dataclasses such as `Steps`."""
    if isinstance(thing, torch.Tensor):
        return [thing]
    if isinstance(thing, dict):
        thing = list(thing.values())
    elif is_dataclass(thing) and not isinstance(thing, type):
        thing = [getattr(thing, part.name) for part in fields(thing)]
    return [tensor for part in thing for tensor in tensors_in(part)] if isinstance(thing, tuple | list) else []


def _features(name, inputs):
    """Over how many features a product of two tensors runs."""
    return shape_of(inputs[0])[-1:] if name in ("matmul", "bmm") else ()


def number(steps, before=""):
    for i, step in enumerate(steps):
        step.number = f"{before}{i}"
        number(step.inner, f"{step.number}.")


def _unwrapped(step):
    """A library call that made one operation is shown as that operation: `linear` for nn.Linear."""
    step.inner = [_unwrapped(part) for part in step.inner]
    if step.own or len(step.inner) != 1:
        _sum_up(step)
        return step
    only = step.inner[0]
    if only.inner:
        step.inner = only.inner
        _sum_up(step)
        return step
    only.place = step.place
    only.surprises = [*only.surprises, *(s for s in step.surprises if s not in only.surprises)]
    return only


def _sum_up(step):
    """What comes out of a call: the results made in it that are taken elsewhere, or else its last one."""
    leaves = step.operations()
    passed_on = [(leaf, place) for leaf in leaves for place in _going_on(leaf, step)]
    if passed_on:
        step.snapshot = passed_on[0][0].snapshots[passed_on[0][1]]
    elif step.inner:
        step.snapshot = leaves[-1].snapshot
    if step.inner:
        step.outputs = [leaf.outputs[place] for leaf, place in passed_on] or leaves[-1].outputs
        step.error = leaves[-1].error


def _going_on(leaf, call):
    """Which of an operation's results are taken outside a call that it was made in, or at all if it is no call."""
    return sorted({place for place, within in leaf.users if call not in within})


def _is_unused(step):
    leaves = step.operations()
    if any(leaf.in_place for leaf in leaves):
        return False
    if any(ref() is not None for leaf in leaves for ref in leaf.results):  # kept somewhere, as self.weights
        return False
    return not any(_going_on(leaf, step) for leaf in leaves)


def _name_of_call(frame):
    code = frame.f_code
    if code.co_name in ("forward", "__init__", "__call__") and code.co_varnames[:1] == ("self",):
        return type(frame.f_locals["self"]).__name__
    return "lambda" if code.co_name == "<lambda>" else code.co_name


def _adds_axis(step):
    """Whether the author wrote an axis of size 1 on purpose: `[:, None]` or unsqueeze."""
    return step is not None and (step.name == "unsqueeze" or (step.name == "__getitem__" and "None" in step.operation))


def _arguments(frame):
    """The tensors that a call was given; read before its first operation, since it may rebind their names."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    arguments = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
    return [tensor for tensor in tensors_in(arguments) if not isinstance(tensor, torch.nn.Parameter)]


def _version(tensor):
    try:
        return tensor._version
    except RuntimeError:  # tensors of inference_mode have none
        return None


def _storage(tensor):
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):
        return id(tensor)
