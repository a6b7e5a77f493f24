"""The outcome of one call of an answer, and when two outcomes are equal."""

import copy
import re
from dataclasses import dataclass

import torch
from torch import nn

from ...display import show
from ...display.show import ATOL, RTOL
from .runner import OutOfTime, Raised
from .watch import Failure, FailureWatch


@dataclass
class Outcome:
    """The outcome of a call: `kind` is "value", "raised", "none", "unreadable", "changed", "detached" or "late"."""

    kind: str
    tensors: tuple = ()
    text: str = ""
    rounding: float = 0.0  # what the precision of the result costs: half precision is no mistake
    is_right: bool | None = None  # once it has been judged
    failure: Failure | None = None  # of a call that raised: where it did


def outcome_of(answer, args, exercise, run, *, gradients):
    """Call the answer once, on copies of the arguments; `run(work)` makes the call.

    An answer's own exceptions, delays and odd results are outcomes, not errors.
    """
    before, args = args, tuple(_with_gradient(arg) if gradients else _copy_of(arg) for arg in args)
    watch = FailureWatch()

    def work():
        with watch:
            result = answer(*args)
        places = [i for i in range(len(args)) if i not in exercise.may_change and not _unchanged(before[i], args[i])]
        if places:
            return Outcome("changed", text=exercise.argument_names()[places[0]])
        if exercise.after is None and (result is None or result is Ellipsis):
            return Outcome("none")
        try:
            tensors = _read(result, args, exercise)
        except Unreadable as error:
            return Outcome("unreadable", text=str(error))
        if exercise.after is not None:
            return Outcome("value", tensors)
        outcome = _gradients(tensors, args) if gradients else Outcome("value", _detached(tensors))
        outcome.rounding = max((4 * torch.finfo(t.dtype).eps for t in tensors if t.is_floating_point()), default=0.0)
        return outcome

    try:
        return run(work)
    except OutOfTime:
        return Outcome("late")
    except Raised as raised:
        elsewhere = hasattr(answer, "failure")
        failure = answer.failure if elsewhere else watch.failure(raised.error)
        return Outcome("raised", text=show.error(raised.error), failure=failure)


# --------------------------------------------------------------------------------------------------- reading results


class Unreadable(Exception):
    """The result cannot be compared; the message says why, as a clause: "the mask is an int, where …"."""


def _read(result, args, exercise):
    """The tensors that count of a result; raises `Unreadable` for a result that has no such form.

    An exercise's own reading may stumble over a form that nobody thought of: that is the result's fault, too.
    """
    try:
        if exercise.after is not None:
            tensors = exercise.after(*args, result)
        else:
            tensors = exercise.read(_tensors(result, exercise.returns, exercise.numbers))
        tensors = tuple(tensors)
    except Unreadable:
        raise
    except Exception:
        raise Unreadable(_another_form(result, exercise)) from None
    if not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        raise Unreadable(_another_form(result, exercise))
    return tensors if exercise.after is None else tuple(_plain("the result", tensor) for tensor in tensors)


def _another_form(result, exercise):
    if exercise.after is not None:
        return f"it returns {kind_of(result)}, which is not what is asked for"
    return f"the result is {kind_of(result)}, where {_in_words(exercise.returns)} was expected"


def _in_words(names):
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _tensors(result, names, numbers=()):
    if len(names) == 1:
        result = (result,)
    elif not isinstance(result, tuple | list) or len(result) != len(names):
        raise Unreadable(f"the result is {kind_of(result)}, where {_in_words(names)} was expected")
    pairs = zip(names, result, strict=True)
    return tuple(_plain(name, _as_tensor(part) if name in numbers else part) for name, part in pairs)


def _as_tensor(part):
    """Numbers in any container as a tensor; what holds no numbers as it is."""
    if isinstance(part, torch.Tensor):
        return part
    try:
        parts = part.tolist() if hasattr(part, "tolist") else part
        if isinstance(parts, list | tuple) and any(isinstance(each, torch.Tensor) for each in parts):
            return torch.stack([torch.as_tensor(each) for each in parts])
        return torch.as_tensor(parts) if isinstance(parts, int | float | list | tuple) else part
    except Exception:
        return part


def _plain(name, part):
    """The tensor itself, not what a subclass makes of it, and its numbers in memory."""
    if not isinstance(part, torch.Tensor):
        raise Unreadable(f"{name} {is_or_are(name)} {kind_of(part)}, where a tensor was expected")
    try:
        with torch._C.DisableTorchFunctionSubclass():
            tensor = torch.Tensor.as_subclass(part, torch.Tensor)
            ordinary = type(tensor) is torch.Tensor and tensor.layout == torch.strided and not tensor.is_nested
            ordinary = ordinary and tensor.device.type == "cpu" and not tensor.is_quantized
    except Exception:
        ordinary = False
    if not ordinary:
        raise Unreadable(f"{name} {is_or_are(name)} {_sort_of_tensor(part)}, where an ordinary tensor was expected")
    return tensor


def is_or_are(name):
    """Return the verb: "is" for `the output`, `the loss` and `the gradient of scores`, "are" for `the weights`."""
    is_plural = name.endswith("s") and not name.endswith(("ss", "bias")) and " of " not in name
    return "are" if is_plural else "is"


def _sort_of_tensor(tensor):
    if type(tensor) not in (torch.Tensor, nn.Parameter):
        return _a(type(tensor).__name__)
    if tensor.is_nested or tensor.is_quantized:
        return "a nested tensor" if tensor.is_nested else "a quantised tensor"
    return "a sparse tensor" if tensor.layout != torch.strided else f"a tensor on the device {tensor.device}"


def kind_of(value):
    """Return what a value is, in words: "a tensor of shape (2, 3)", "a list of 3", "an int"."""
    if isinstance(value, torch.Tensor):
        return "a nested tensor" if value.is_nested else f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return "None" if value is None else _a(type(value).__name__)


def refuse_not_callable(name, value, kind="a function"):
    """Return the sentence that refuses an answer which cannot be called."""
    return f"`{name}` must be {kind}, but it is {kind_of(value)}."


def _a(noun):
    spoken_with_a_vowel = noun[0].lower() in "aeiou" or noun == "ndarray"
    return f"{'an' if spoken_with_a_vowel else 'a'} {noun}"


def _detached(tensors):
    return tuple(tensor.detach().clone() for tensor in tensors)


def _with_gradient(arg):
    is_float = isinstance(arg, torch.Tensor) and arg.is_floating_point()
    return arg.detach().clone().requires_grad_() if is_float else _copy_of(arg)


def _copy_of(arg):
    plain = type(arg) is torch.Tensor and not arg.requires_grad  # `deepcopy` of a small tensor takes ten times as long
    return arg.clone() if plain else copy.deepcopy(arg)


def _gradients(tensors, args):
    """The gradient of a fixed, uneven sum of the results with respect to every floating-point argument."""
    leaves = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad]
    total = sum((tensor.double() * _uneven(tensor)).sum() for tensor in tensors)
    if not total.requires_grad:
        return Outcome("detached")
    gradients = torch.autograd.grad(total, leaves, allow_unused=True)
    if all(gradient is None for gradient in gradients):
        return Outcome("detached")
    filled = [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, gradients, strict=True)]
    return Outcome("value", _detached(filled))


def _uneven(tensor):
    generator = torch.Generator().manual_seed(tensor.numel())
    return torch.randn(tensor.shape, generator=generator, dtype=torch.float64)


def _unchanged(before, after):
    if isinstance(before, torch.Tensor):
        if (before.shape, before.dtype, before.layout) != (after.shape, after.dtype, after.layout):
            return False
        return torch.equal(before, after) or bool(((before == after) | (before.isnan() & after.isnan())).all())
    if isinstance(before, nn.Module):
        return all(map(_unchanged, before.parameters(), after.parameters()))
    return before == after


# --------------------------------------------------------------------------------------------------------- comparing


def same(one, other):
    """Whether two outcomes are equal: numbers within rounding, or one operation that fails on the same."""
    if one.kind != other.kind:
        return False
    if one.kind == "raised":
        return _failed_alike(one, other)
    if one.kind != "value":
        return one.text == other.text
    if len(one.tensors) != len(other.tensors):
        return False
    rounding = max(one.rounding, other.rounding)
    return all(close(mine, its, rounding) for mine, its in zip(one.tensors, other.tensors, strict=True))


def _failed_alike(one, other):
    """Whether one operation failed on one thing; where no operation of torch's did, the words have to do."""
    if not same_complaint(one, other):
        return False
    operations = [outcome.failure.operation if outcome.failure else "" for outcome in (one, other)]
    if any(operations):
        return all(operations) and one.failure.is_like(other.failure)
    return re.sub(r"\d+", "#", one.text) == re.sub(r"\d+", "#", other.text)


def same_complaint(one, other):
    """Whether both raised an error of the same type, whatever its words."""
    return one.kind == other.kind == "raised" and one.text.split(":")[0] == other.text.split(":")[0]


def failed_on_one_thing(one, other):
    """Whether two errors may have one cause: an operand of the same sizes, in any order, or None in its place."""
    if "NoneType" in one.text and "NoneType" in other.text:
        return True
    operands = [outcome.failure.operands if outcome.failure else () for outcome in (one, other)]
    if any(operands):
        first, second = ({tuple(sorted(shape)) for shape, *_ in each} for each in operands)
        return bool(first & second)
    return _failed_alike(one, other)


def right(outcome, expected):
    """As `same`, but where the reference refuses its arguments any refusal will do."""
    if expected.kind == "raised":
        return outcome.kind == "raised"
    return same(outcome, expected)


def close(one, other, rounding=0.0):
    """Whether two tensors hold the same numbers, whatever their precision."""
    if one.shape != other.shape or sort_of(one) != sort_of(other):
        return False
    if one.dtype == other.dtype and torch.equal(one, other):  # most often they are, and this takes a tenth of the time
        return True
    if sort_of(one) == "floating point":
        within = {"rtol": max(RTOL, rounding), "atol": ATOL if rounding < RTOL else rounding}
        return torch.allclose(one.double(), other.double(), **within, equal_nan=True)
    return torch.equal(one.long(), other.long())


def sort_of(tensor):
    """What a tensor holds, where precision does not matter: bool, integer, floating point or complex numbers."""
    if tensor.dtype == torch.bool:
        return "bool"
    return "complex" if tensor.is_complex() else "floating point" if tensor.is_floating_point() else "integer"
