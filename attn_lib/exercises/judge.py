"""Compare an answer with the reference, call by call, and find the known mistake that computes what it computes."""

import copy
import re
from dataclasses import dataclass

import torch
from torch import nn

from .runner import Deadline, OutOfTime, run

RTOL, ATOL = 1e-4, 1e-5  # float32, whatever the order of the operations


@dataclass
class Outcome:
    """What one call came to: `kind` is "value", "raised", "none", "unreadable", "changed", "detached" or "late"."""

    kind: str
    tensors: tuple = ()
    text: str = ""


@dataclass
class Trial:
    """One probe, with or without gradients. Stages are judged in turn: numbers, corner cases, gradients."""

    make: object
    stage: int
    gradients: bool

    def size(self):
        return sum(_size(arg) for arg in self.make())


_known = {}  # (exercise, code, trials) → outcomes: the catalogue's own code comes to the same each time


def outcomes_of_known(code, trials, exercise):
    """What the reference or a known mistake comes to on these trials, computed once in a session."""
    key = (exercise.id, code, len(trials))
    if key not in _known:
        _known[key] = [outcome_of(code, trial, exercise, Deadline()) for trial in trials]
    return _known[key]


def trials_of(exercise):
    probes = sorted(exercise.probes, key=lambda probe: sum(map(_size, probe.make())))
    trials = [Trial(probe.make, int(probe.edge), False) for probe in probes]
    if exercise.gradients:
        trials += [Trial(probe.make, 2, True) for probe in probes]
    return sorted(trials, key=lambda trial: trial.stage)


def outcome_of(answer, trial, exercise, deadline, printed=None):
    """Call the answer once. An answer's own exceptions, delays and odd results are outcomes, not errors."""
    args = trial.make()
    if trial.gradients:
        args = tuple(_with_gradient(arg) for arg in args)
    before = copy.deepcopy(args)

    def work():
        result = answer(*args)
        if exercise.after is not None:
            return "value", exercise.after(*args, result)
        if result is None or result is Ellipsis:
            return "none", ()
        tensors = exercise.read(_tensors(result, exercise.returns))
        return _gradients(tensors, args) if trial.gradients else ("value", tensors)

    try:
        kind, tensors = run(work, deadline, printed)
    except OutOfTime:
        return Outcome("late")
    except Unreadable as error:
        return Outcome("unreadable", text=str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome("raised", text=describe(error))
    changed = [i for i in range(len(args)) if i not in exercise.may_change and not _unchanged(before[i], args[i])]
    if changed:
        return Outcome("changed", tensors, argument_names(exercise)[changed[0]])
    return Outcome(kind, tuple(tensor.detach() for tensor in tensors))


class Unreadable(Exception):
    """The result is of a type that cannot be compared."""


def _tensors(result, names):
    if len(names) == 1:
        result = (result,)
    elif not isinstance(result, tuple | list) or len(result) != len(names):
        wanted = f"({', '.join(names)})"
        raise Unreadable(f"it returns {kind_of(result)}, where {wanted} was expected")
    for name, part in zip(names, result, strict=True):
        if not isinstance(part, torch.Tensor):
            raise Unreadable(f"its {name} is {kind_of(part)}, where a tensor was expected")
    return tuple(result)


def kind_of(value):
    if isinstance(value, torch.Tensor):
        return f"one tensor of shape {tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type {type(value).__name__}"


def _with_gradient(arg):
    wanted = isinstance(arg, torch.Tensor) and arg.is_floating_point()
    return arg.detach().clone().requires_grad_() if wanted else arg


def _gradients(tensors, args):
    """The gradient of a fixed, uneven sum of the results with respect to every floating-point argument."""
    leaves = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad]
    total = sum((tensor.double() * _uneven(tensor)).sum() for tensor in tensors)
    if not total.requires_grad:
        return "detached", ()
    gradients = torch.autograd.grad(total, leaves, allow_unused=True)
    return "value", tuple(torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, gradients, strict=True))


def _uneven(tensor):
    generator = torch.Generator().manual_seed(tensor.numel())
    return torch.randn(tensor.shape, generator=generator, dtype=torch.float64)


def _unchanged(before, after):
    if isinstance(before, torch.Tensor):
        return before.shape == after.shape and torch.equal(before.nan_to_num(), after.nan_to_num())
    if isinstance(before, nn.Module):
        pairs = zip(before.parameters(), after.parameters(), strict=True)
        return all(torch.equal(one, other) for one, other in pairs)
    return before == after


def _size(arg):
    if isinstance(arg, torch.Tensor):
        return arg.numel()
    return arg if isinstance(arg, int) else 1


def describe(error):
    """One line without addresses, which would differ from run to run."""
    text = " ".join(str(error).split())
    text = re.sub(r"0x[0-9a-fA-F]+", "0x…", text)
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def argument_names(exercise):
    inside = exercise.call[exercise.call.index("(") + 1 : exercise.call.rindex(")")]
    return [part.split("=")[0].strip() for part in inside.split(",")]


# ------------------------------------------------------------------------------------------------------- comparing


def same(one, other, *, any_complaint=False):
    """Whether two calls came to the same: equal numbers within rounding, or the same complaint (or any of its type)."""
    if one.kind != other.kind:
        return False
    if one.kind == "raised" and any_complaint:
        return one.text.split(":")[0] == other.text.split(":")[0]
    if one.kind == "raised":
        return re.sub(r"\d+", "#", one.text) == re.sub(r"\d+", "#", other.text)
    if one.kind != "value":
        return one.text == other.text
    return len(one.tensors) == len(other.tensors) and all(map(_close, one.tensors, other.tensors))


def right(outcome, expected, exercise):
    """As `same`, but where the reference refuses its arguments any refusal will do."""
    if expected.kind == "raised":
        return outcome.kind == "raised"
    return same(outcome, expected)


def _close(one, other):
    if one.shape != other.shape or sort_of(one) != sort_of(other):
        return False
    if sort_of(one) != "floating point":
        return torch.equal(one, other)
    return torch.allclose(one.double(), other.double(), rtol=RTOL, atol=ATOL, equal_nan=True)


def sort_of(tensor):
    if tensor.dtype == torch.bool:
        return "bool"
    return "complex" if tensor.is_complex() else "floating point" if tensor.is_floating_point() else "integer"


def diagnose(trials, outcomes, expected, exercise):
    """Return the known mistake whose code comes to what the answer came to, or None.

    Both must first go wrong at the same stage and agree on everything up to there. In corner cases, where two
    mistakes may meet, they need to agree only where this mistake shows.
    """
    wrong = [not right(o, e, exercise) for o, e in zip(outcomes, expected, strict=True)]
    stage = min(trial.stage for trial, bad in zip(trials, wrong, strict=True) if bad)
    best, most = None, -1
    for known in exercise.misconceptions.values():
        for code in known.codes:
            theirs = outcomes_of_known(code, [trial for trial in trials if trial.stage <= stage], exercise)
            agreed = _agreement(trials, outcomes, theirs, expected, exercise, stage)
            if agreed > most:
                best, most = known, agreed
    return best


def _agreement(trials, outcomes, theirs, expected, exercise, stage):
    """The number of trials on which the answer and a mistake agree, or -1 if the answer is not this mistake."""
    agreed, shown = 0, False
    computes = any(outcome.kind == "value" for outcome in theirs)  # then where it fails says enough, not in what words
    for trial, mine, its, truth in zip(trials, outcomes, theirs, expected, strict=False):
        mistaken = not right(its, truth, exercise)
        equal = same(mine, its, any_complaint=computes) or (right(mine, truth, exercise) and not mistaken)
        if trial.stage < stage:
            if mistaken:
                return -1
            continue
        if not equal and (mistaken or stage == 0):
            return -1
        shown = shown or mistaken
        agreed += equal
    return agreed if shown else -1
