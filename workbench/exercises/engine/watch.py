"""What runs while an answer is called: which of torch's operations, and the one at which it fails.

Why not by names? `torch.softmax`, `torch.special.softmax` and `nn.Softmax` are one operation, `_softmax`, and torch
tells of each operation that it starts. Why not by the words of an error? `q @ k` and `q @ k.T` fail with the same
words. What fails is known by the operation and by what it was given: shapes, and numbers up to a factor.
"""

import dis
import itertools
import linecache
import math
import os
from dataclasses import dataclass

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import attn_lib
import workbench

COURSE = tuple(os.path.dirname(os.path.abspath(room.__file__)) + os.sep for room in (attn_lib, workbench))
PACKAGES = os.path.dirname(os.path.dirname(torch.__file__)) + os.sep
CLASSROOM = os.path.join(os.path.dirname(os.path.dirname(COURSE[1])), "classroom") + os.sep  # which grades
NOT_THE_LEARNERS = (*COURSE, CLASSROOM, PACKAGES, os.path.dirname(os.__file__) + os.sep, "<frozen ")

RULED_OUT = {  # what a text calls by one name → how the operations begin that do it
    "softmax": (
        "_softmax",
        "_safe_softmax",
        "_masked_softmax",
        "_sparse_softmax",
        "_scaled_dot_product",
        "_native_mul",
    ),
    "log_softmax": ("_log_softmax", "_sparse_log_softmax"),
    "layer_norm": ("native_layer_norm",),
    "scaled_dot_product_attention": ("_scaled_dot_product", "_safe_softmax", "_native_multi_head"),
    "backward": ("run_backward",),  # C functions, to which every way to differentiate leads
    "grad": ("_make_dual",),
}

SAMPLE = 32  # numbers of an operand that are compared
DIGITS = "0123456789"  # float32 and float64 may hold the same
LONGEST_LINE = 120  # of a learner's code, as it is shown in a sentence
ONE_NAME = {"mm": "matmul", "bmm": "matmul", "rsub": "sub", "truediv": "div", "radd": "add", "rmul": "mul"}


def first_ruled_out(without, ran):
    """The first of the names in `without` that did the work, by its own name or another, or None."""
    for name in without:
        if name in ran:
            return name
    for name in without:
        if any(operation.startswith(RULED_OUT.get(name, ())) for operation in ran):
            return name
    return None


def name_of(code):
    """A function's name; a method's with its class: `MultiHeadAttention.forward`."""
    return code.co_qualname.rpartition("<locals>.")[2]


def is_one_of(code, own):
    """Whether code is a function, or a method, that `own` names."""
    return code.co_name in own or name_of(code) in own


class Operations(TorchDispatchMode):
    """Adds to `ran` the name of every operation that torch starts, whatever function asked for it."""

    def __init__(self, ran):
        super().__init__()
        self.ran = ran

    @classmethod
    def _should_skip_dynamo(cls):  # which imports torch's compiler first, three seconds long
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ran.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


# ------------------------------------------------------------------------------------------------- where it failed


@dataclass
class Failure:
    """Where code raised: the learner's line, and the operation with what it was given, each "" or () if unknown."""

    line: str = ""
    operation: str = ""
    operands: tuple = ()  # of each tensor: shape, dtype, and its first numbers
    is_stub: bool = False  # whether the learner's own code raises NotImplementedError

    def is_like(self, other):
        """Whether the same operation failed on the same numbers, or on these times a factor."""
        return (
            self.operation == other.operation
            and len(self.operands) == len(other.operands)
            and all(map(_same_operand, self.operands, other.operands))
        )

    def operands_in_words(self):
        """The operands in words: their shapes, and dtypes where those differ."""
        differ = len({dtype for _, dtype, _ in self.operands}) > 1
        words = (f"{tuple(shape)}{f' of {dtype}' * differ}" for shape, dtype, _ in self.operands)
        return " and ".join(words)

    def as_data(self):
        return [self.line, self.operation, [list(operand) for operand in self.operands], self.is_stub]

    @classmethod
    def from_data(cls, data):
        """What `as_data` gave, also from a process that may send anything; raises ValueError or TypeError."""
        line, operation, operands, is_stub = data
        operands = tuple(
            ([int(size) for size in shape], str(dtype)[:20], [float(number) for number in numbers[:SAMPLE]])
            for shape, dtype, numbers in operands
        )
        return cls(str(line), str(operation), operands, is_stub is True)


def _same_operand(one, other):
    (shape, dtype, numbers), (its_shape, its_dtype, its_numbers) = one, other
    if list(shape) != list(its_shape) or dtype.strip(DIGITS) != its_dtype.strip(DIGITS):
        return False
    pairs = itertools.zip_longest(_to_one_size(numbers), _to_one_size(its_numbers), fillvalue=math.inf)
    return all(abs(mine - its) <= 1e-3 for mine, its in pairs)


def _to_one_size(numbers):
    largest = max(map(abs, numbers), default=0)
    return [number / largest for number in numbers] if largest else numbers


class FailureWatch(TorchFunctionMode):
    """Remembers, while open, the function of torch's that raised last: `with FailureWatch() as watch: …`."""

    ours = NOT_THE_LEARNERS  # where files begin that are none of the learner's
    _raised = None  # (error, function, arguments)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            if self._raised is None or self._raised[0] is not error:
                self._raised = error, func, (*args, *(kwargs or {}).values())
            raise

    def failure(self, error):
        """Where the code that was watched raised this error."""
        frame, at = _last_of_the_learner(error.__traceback__, self.ours)
        line = _line_of(frame, at) if frame is not None else ""
        if self._raised is not None and self._raised[0] is error:
            _, func, args = self._raised
            return Failure(line, operation_of(func), tuple(_operands(args)))
        return Failure(line, is_stub=_raises_itself(error))


def operation_of(func):
    """One name for a function of torch's in all its forms: "matmul" for `@` and `torch.bmm`, "add" for `+=`."""
    name = str(getattr(func, "__name__", "")).strip("_")
    return ONE_NAME.get(name, name)


def _operands(args):
    for arg in args:
        if isinstance(arg, tuple | list):
            yield from _operands(arg)
        elif isinstance(arg, torch.Tensor):
            yield list(map(int, arg.shape)), str(arg.dtype).removeprefix("torch."), _numbers(arg)


def _numbers(tensor):
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return tensor.detach().flatten()[:SAMPLE].double().nan_to_num(-1.0, 1e30, -1e30).tolist()
    except Exception:  # a sparse tensor, say, or one without numbers: its shape has to do
        return []


def _last_of_the_learner(traceback, ours):
    """The last frame of a traceback that is of no package, of Python's or ours, and its line, or (None, 0)."""
    last = None, 0
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(ours):
            last = traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
    return last


def _line_of(frame, number):
    line = linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()
    if line.startswith(("def ", "class ", "@")):
        return ""
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


def _raises_itself(error):
    """Whether a NotImplementedError comes from a `raise` that the learner has written, or was handed."""
    if not isinstance(error, NotImplementedError) or error.__traceback__ is None:
        return False
    traceback = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    return not code.co_filename.startswith(NOT_THE_LEARNERS) and (
        code.co_code[traceback.tb_lasti] == dis.opmap["RAISE_VARARGS"]
    )
