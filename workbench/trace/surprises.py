"""What a shape or a number does that its author may not have meant: each surprise is one function, Call → words."""

import math
from dataclasses import dataclass, field

import torch

ARITHMETIC = {"add", "sub", "mul", "div", "rsub", "pow", "where", "maximum", "minimum", "multiply", "divide"}
ARITHMETIC |= {"subtract", "truediv", "true_divide", "rtruediv", "rpow", "iadd", "isub", "imul", "itruediv"}
MASKING = {"masked_fill", "where", "add", "sub", "mul", "iadd"}
MOVES = {"transpose", "permute", "swapaxes", "swapdims", "movedim", "moveaxis", "t", "T", "mT", "adjoint"}
SHAPES = {"view", "reshape", "flatten", "unflatten", "squeeze", "view_as", "reshape_as"}
SOFTMAXES = {"softmax", "log_softmax"}
MASKED = -1e4  # a score this low is meant as "not this key"


@dataclass
class Call:
    """One operation as it happened: its tensors, and what was kept of them before and after."""

    name: str
    args: tuple
    kwargs: dict
    inputs: list
    before: list
    results: list
    after: object
    in_place: bool
    overwrites_argument: bool = False
    axis_added: list = field(default_factory=list)  # for each input, whether [:, None] or unsqueeze made it
    factors: list = field(default_factory=list)  # for each input that is a product, over how many features it ran

    @property
    def kind(self):
        return self.name.strip("_")

    def argument(self, position, name):
        return self.args[position] if len(self.args) > position else self.kwargs.get(name)


def surprises_of(call, own):
    """All that is worth a remark; in library code only where nan or inf come from."""
    everywhere, in_own_code = [nan_appears, overflow], [
        both_enlarged, mask_on_other_axis, nothing_moved, same_shape, softmax_of_one,
        masked_nothing, all_keys_masked, overwrites_argument, tokens_torn, scaled_by_all_heads, mask_added, other_axis,
    ]  # fmt: skip
    with torch.no_grad():
        remarks = (look(call) for look in (everywhere + in_own_code if own else everywhere))
        return [words for words in remarks if words]


# ------------------------------------------------------------------------------------------------------ shapes


def both_enlarged(call):
    shapes = [snapshot.shape for snapshot in call.before if snapshot.shape]
    result = call.after.shape
    if call.kind == "masked_fill" and shapes and shapes[0] != result:
        return f"the mask {_shape(shapes[1])} enlarged the tensor it fills, {_shape(shapes[0])}, to {_shape(result)}"
    if call.kind not in ARITHMETIC or len(shapes) < 2 or any(shape == result for shape in shapes):
        return None
    axes_of_inputs = list(zip(call.axis_added, call.before, strict=True))
    if all(axis or len(snapshot.shape) < 2 for axis, snapshot in axes_of_inputs):
        return None  # every row with every column, written out: not silent
    both = "both sides" if len(shapes) == 2 else "all sides"
    return f"broadcasting enlarged {both}: {' and '.join(map(_shape, shapes))} became {_shape(result)}; is that meant?"


def mask_on_other_axis(call):
    """A mask whose first axis might be the batch, lined up with heads or queries because the sizes happen to agree."""
    if call.kind not in {*ARITHMETIC, "masked_fill"} or len(call.inputs) < 2:
        return None
    small, large = sorted(range(len(call.inputs)), key=lambda i: len(call.before[i].shape))[:: len(call.inputs) - 1]
    shape, onto = call.before[small].shape, call.before[large].shape
    axis = len(onto) - len(shape)
    if len(shape) < 2 or axis < 1 or shape[0] == 1 or not shape[0] == onto[axis] == onto[0]:
        return None
    if not _is_mask(call.inputs[small]) or _is_triangle(call.inputs[small]) or _is_of_rows(shape):
        return None
    ones = ", ".join(["None"] * axis)
    return (
        f"{_shape(shape)} was lined up from the right with {_shape(onto)}: its first axis became axis {axis}, "
        f"though axis 0 has size {shape[0]} too; if it is the batch, write [:, {ones}]"
    )


def nothing_moved(call):
    source, result = call.inputs[:1], call.results[0]
    if call.kind not in MOVES or not source or result.ndim < 2 or source[0].shape != result.shape:
        return None
    strides = zip(source[0].stride(), result.stride(), result.shape, strict=True)
    if all(was == now for was, now, size in strides if size > 1):
        return "changed nothing: the axes it exchanges have size 1, or are one and the same"
    return None


def same_shape(call):
    if call.kind in SHAPES and call.before and call.before[0].shape == call.after.shape:
        return f"changed nothing: the shape was {_shape(call.after.shape)} already"
    return None


def softmax_of_one(call):
    axis = _axis(call)
    if axis is not None and call.after.shape[axis] == 1 and math.prod(call.after.shape):
        return f"softmax over axis {axis}, which has size 1: every weight is 1, whatever the scores"
    return None


def tokens_torn(call):
    """(batch, n, embed_dim) cut straight into (batch, heads, n, head_dim), which tears each token apart."""
    if call.kind not in SHAPES or not call.before or len(call.before[0].shape) != 3 or len(call.after.shape) != 4:
        return None
    (batch, n, _), (_, heads, _, head_dim) = call.before[0].shape, call.after.shape
    if call.after.shape != (batch, heads, n, head_dim) or min(n, heads, head_dim) < 2 or heads == n:
        return None
    code = f"{call.kind}({batch}, {n}, {heads}, {head_dim}).transpose(1, 2)"
    return (
        f"tears tokens apart: a head's {head_dim} numbers no longer come from one token; {code} gives each head its own"
    )


def scaled_by_all_heads(call):
    """Divided by √(heads · head_dim) where the product runs over head_dim only."""
    numbers = [x for x in call.args if isinstance(x, int | float) and not isinstance(x, bool) and x]
    if call.kind not in ("div", "truediv", "divide", "mul", "multiply") or len(numbers) != 1 or not call.before:
        return None
    shape = call.before[0].shape
    if len(shape) != 4 or shape[1] < 2:
        return None
    head_dim, scale = (call.factors[0] or shape[-1:])[0], numbers[0] if "div" in call.kind else 1 / numbers[0]
    embed_dim = head_dim * shape[1]
    if head_dim == shape[1] or not math.isclose(scale * scale, embed_dim, rel_tol=1e-4):
        return None
    return (
        f"scales by √{embed_dim}, embed_dim: the product of one of {shape[1]} heads runs over head_dim={head_dim}, "
        f"so √{head_dim} belongs here"
    )


def other_axis(call):
    """Softmax across heads or sequences: over queries or keys it may be meant, over these it never is."""
    axis, last = _axis(call), len(call.after.shape) - 1
    if axis is None or axis >= last - 1 or call.after.shape[axis] < 2:
        return None
    return (
        f"softmax over axis {axis} of {_shape(call.after.shape)}, across heads or sequences: keys are on the last axis"
    )


# ----------------------------------------------------------------------------------------------------- masking


def mask_added(call):
    """A bool mask added to scores counts as 1 and 0, and hides nothing."""
    kinds = [tensor.dtype == torch.bool for tensor in call.inputs]
    if call.kind not in ("add", "iadd", "sub", "isub") or sorted(kinds) != [False, True]:
        return None
    return "a bool mask is added as 1 and 0 and hides nothing: masked_fill(~mask, -inf) does, where True may attend"


def masked_nothing(call):
    if call.kind != "masked_fill" or len(call.before) < 2 or _is_of_rows(call.before[1].shape):
        return None
    return "masked nothing: the mask is False everywhere" if call.before[1].high == 0 else None


def all_keys_masked(call):
    """Every key masked for a query, which softmax turns into nan (−inf) or into equal weights (a large number)."""
    result = call.results[0]
    if (
        call.kind not in MASKING
        or result.ndim < 2
        or result.size(-1) < 2
        or not result.is_floating_point()
        or not result.numel()
    ):
        return None
    if not (call.after.low <= MASKED or call.after.has_nan) or any(_rows_masked(t) for t in _untouched(call)):
        return None
    masked = _rows_masked(result)
    if not masked:
        return None
    return f"every key is masked in {masked} of {math.prod(result.shape[:-1])} rows: softmax has nothing to choose from"


def overwrites_argument(call):
    return "overwrites a tensor that was passed in: the caller's own is changed" if call.overwrites_argument else None


# ----------------------------------------------------------------------------------------------------- numbers


def nan_appears(call):
    if not call.after.has_nan or any(snapshot.has_nan for snapshot in call.before):
        return None
    result = call.results[0]
    why = ""
    axis = _axis(call)
    if axis is not None and call.before[0].low == -math.inf:
        why = f": softmax of a row that is {'all −inf' if call.before[0].high < math.inf else 'inf somewhere'}"
    elif not all(snapshot.is_finite for snapshot in call.before):
        why = ": inf met 0, or inf met −inf"
    bad = result.isnan()
    if result.ndim < 2:
        return f"nan first appears here, in {int(bad.sum())} of {bad.numel()} numbers{why}"
    rows = bad.any(-1)
    return f"nan first appears here, in {int(rows.sum())} of {rows.numel()} rows{why}"


def overflow(call):
    if math.inf not in (call.after.high, -call.after.low) or not call.inputs:
        return None
    scalars = [x for x in (*call.args, *call.kwargs.values()) if isinstance(x, float)]
    if not all(snapshot.is_finite for snapshot in call.before) or not all(map(math.isfinite, scalars)):
        return None
    result = call.results[0]
    count = int(result.isinf().sum())
    name = str(result.dtype).removeprefix("torch.")
    if call.kind in ("div", "truediv", "log", "reciprocal", "rdiv", "rtruediv", "divide") and name != "float16":
        return f"{count} of {result.numel()} numbers became inf here"
    return (
        f"overflow: {count} of {result.numel()} numbers became inf; {name} ends at {torch.finfo(result.dtype).max:.5g}"
    )


# ----------------------------------------------------------------------------------------------------- helpers


def _shape(shape):
    return str(tuple(shape))


def _axis(call):
    """The axis of a softmax, counted from 0, or None for anything else."""
    if call.kind not in SOFTMAXES or not call.after.shape:
        return None
    axis = call.argument(1, "dim")
    return axis % len(call.after.shape) if isinstance(axis, int) else None


def _untouched(call):
    """The inputs that still hold what they held before the call."""
    return call.inputs[1:] if call.in_place else call.inputs


def _rows_masked(tensor):
    if tensor.ndim < 2 or not tensor.is_floating_point() or not tensor.numel():
        return 0
    return int((tensor <= MASKED).all(-1).sum())


def _is_mask(tensor):
    if tensor.dtype == torch.bool:
        return True
    if not tensor.numel():
        return False
    return bool(((tensor == 0) | (tensor == 1) | (tensor <= MASKED)).all())


def _is_of_rows(shape):
    """Whether a mask says the same of a whole row, as one does that erases rows with nothing to attend to."""
    return shape[-1:] == (1,)


def _is_triangle(tensor):
    """Whether a mask is causal whichever of its numbers masks, so that both of its axes are positions."""
    if tensor.shape[-1] != tensor.shape[-2] or tensor.ndim != 2:
        return False
    visible = tensor != tensor[0, -1]  # the corner behind the first query's future
    rows, columns = torch.ones_like(visible).nonzero().T
    return bool(torch.equal(visible.flatten(), (rows >= columns)))
