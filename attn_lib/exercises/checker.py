"""check, hint and solution: the three calls of every exercise cell."""

import ast
import dis
import inspect
import json
import os
import textwrap

import torch

from ..trace import trace
from . import judge, progress_file
from .catalogue import find
from .runner import LIMIT_S, Deadline
from .verdict import Hint, Solution, Verdict

RECORD = "ATTN_VERDICTS"  # names the file to which a grader's kernel writes every verdict
_hints_shown = {}


def check(id, answer=None):
    """Judge an answer and say what is wrong with it; returns a `Verdict`, which displays itself.

    Never raises for an answer, whatever it does; raises KeyError for an exercise that does not exist.
    """
    entry = find(id)
    if is_unattempted(answer):
        verdict = Verdict(
            id, "unattempted", None, f"Not attempted yet. Write {_what(entry)}, then run both cells again."
        )
    else:
        verdict = (entry.judge or _judge)(entry, answer)
    _record(verdict)
    return verdict


def hint(id):
    """Show the first hint, and one more with every further call in this session."""
    entry = find(id)
    _hints_shown[id] = min(_hints_shown.get(id, 0) + 1, len(entry.hints))
    return Hint(id, entry.hints[: _hints_shown[id]], len(entry.hints))


def solution(id):
    """Show the library's own source of what the exercise asks for, argument checks left out, folded away."""
    entry = find(id)
    return Solution(id, "\n\n".join(source_of(function) for function in entry.shows or (entry.reference,)))


# --------------------------------------------------------------------------------------------------- unattempted


def is_unattempted(answer):
    """Whether it is still the stub: `...`, None, a list of them, or a function whose body does nothing."""
    if answer is None or answer is Ellipsis:
        return True
    if isinstance(answer, list | tuple):
        return bool(answer) and any(map(is_unattempted, answer))
    code = getattr(answer, "__code__", None)
    return code is not None and _does_nothing(code)


def _does_nothing(code):
    idle = {"RESUME", "NOP", "CACHE", "POP_TOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
    steps = list(dis.get_instructions(code))
    constants = [step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")]
    return all(step.opname in idle for step in steps) and all(value in (None, Ellipsis) for value in constants)


def _what(entry):
    return f"`{entry.call}`" if "(" in entry.call else entry.call


# ------------------------------------------------------------------------------------------------------- judging


def _judge(entry, answer):
    if not callable(answer):
        return Verdict(entry.id, "wrong", None, f"`{entry.call}` is to be a function; this is {judge.kind_of(answer)}.")
    deadline, printed = Deadline(), []
    trials = judge.trials_of(entry)
    expected = judge.outcomes_of_known(entry.reference, trials, entry)
    outcomes = []
    for trial, truth in zip(trials, expected, strict=True):
        outcomes.append(judge.outcome_of(answer, trial, entry, deadline, printed))
        if outcomes[-1].kind == "late" or _ends_here(outcomes[-1], truth):
            break
    verdict = _verdict(entry, answer, trials, outcomes, expected)
    if printed:
        first = printed[0].strip().splitlines()[0][:60]
        verdict.message += (
            f'\n\nIt prints ("{first}"): a function returns its result and leaves it to the caller what to show.'
        )
    return verdict


def _ends_here(outcome, truth):
    """Whether nothing more can be learnt from further calls: a stub, or a result that cannot be compared."""
    return outcome.kind in ("none", "changed") or (outcome.kind == "unreadable" and truth.kind == "value")


def _verdict(entry, answer, trials, outcomes, expected):
    pairs = list(zip(trials, outcomes, expected, strict=False))
    wrong = [pair for pair in pairs if not judge.right(pair[1], pair[2], entry)]
    if not wrong:
        broken = _broken_invariant(entry, answer)
        if broken is None:
            return Verdict(
                entry.id, "correct", None, "Right, in numbers" + (" and gradients." * entry.gradients or ".")
            )
        return Verdict(entry.id, "wrong", None, f"The numbers agree with the library's, but {broken}.")
    trial, outcome, truth = wrong[0]
    if outcome.kind == "raised" and outcome.text.startswith("NotImplementedError"):
        return Verdict(entry.id, "unattempted", None, f"Not attempted yet. Write {_what(entry)}.")
    if len(outcomes) == len(trials):
        known = judge.diagnose(trials, outcomes, expected, entry)
        if known is not None:
            return _named(entry, answer, known, trial, outcome, truth)
    message, drawn = _explain(entry, trial, outcome, truth)
    if drawn is not None:
        message += _where_they_part(entry, answer, trial)
    if drawn is not None and (broken := _broken_invariant(entry, answer)) is not None:
        message += f"\n\nA clue: {broken}."
    return Verdict(entry.id, "wrong", None, message, *(drawn or ()))


def _where_they_part(entry, answer, trial):
    """The first operation whose result differs from the library's, in a sentence; nothing where none can be named."""
    try:
        compared = judge.run(lambda: trace(entry.reference, answer, *trial.make()), Deadline())
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever the answer does when it is run once more, its verdict stands
        return ""
    if compared.difference is None:
        return ""
    return f"\n\n`trace` of the library's answer (A) and yours (B): {compared.verdict}"


def _named(entry, answer, known, trial, outcome, truth):
    if known.telltale is not None:
        trial = judge.Trial(known.telltale, trial.stage, False)
        truth = judge.outcome_of(entry.reference, trial, entry, Deadline())
        outcome = judge.outcome_of(answer, trial, entry, Deadline())
    seen, drawn = _explain(entry, trial, outcome, truth)
    message = f"{known.name}.\n\n{known.why}\n\n{seen}\n\nRead again: {known.reread}."
    return Verdict(entry.id, "wrong", known.id, message, *(drawn or ()))


def _explain(entry, trial, outcome, truth):
    """Say in words what one call came to; with it the two matrices to draw, or None."""
    call = f"`{called(entry, trial)}`"
    if outcome.kind == "late":
        return f"{call} had not come back after {LIMIT_S:g} seconds and was stopped. Does a loop never end?", None
    if outcome.kind == "raised":
        return f"{call} raises `{outcome.text}`.", None
    if truth.kind == "raised":
        return f"{call} returns something, where it has to raise an error: the library raises `{truth.text}`.", None
    if outcome.kind == "none":
        return f"{call} returns nothing. Is the line with `return` missing?", None
    if outcome.kind == "changed":
        return f"{call} changes its argument `{outcome.text}`, which the caller still needs. Work on a copy.", None
    if outcome.kind == "unreadable":
        return f"{call}: {outcome.text}.", None
    if outcome.kind == "detached":
        return (
            f"{call}: the numbers are right, but no gradient flows back. What cuts it: `.detach()`, `.item()`, "
            f"`.tolist()`, numpy, or `torch.tensor(…)` around results?",
            None,
        )
    return _explain_values(entry, trial, outcome, truth, call)


def _explain_values(entry, trial, outcome, truth, call):
    names = [f"the gradient of {name}" for name in _differentiable(entry, trial)] if trial.gradients else entry.returns
    for name, yours, expected in zip(names, outcome.tensors, truth.tensors, strict=True):
        if judge.sort_of(yours) != judge.sort_of(expected):
            return f"{call}: {name} is {yours.dtype}, where {expected.dtype} was expected.", (yours, expected)
        if yours.shape != expected.shape:
            sizes = f"{tuple(yours.shape)}, where {tuple(expected.shape)} was expected"
            return f"{call}: {name} has shape {sizes}.", None
        if not judge._close(yours, expected):
            what = "is not finite" if trial.gradients and not torch.isfinite(yours).all() else "differs"
            return f"The smallest call that shows it is {call}: {name} {what}.", (yours, expected)
    raise AssertionError("called only where something differs")


def _differentiable(entry, trial):
    return [
        name
        for name, arg in zip(judge.argument_names(entry), trial.make(), strict=False)
        if isinstance(arg, torch.Tensor) and arg.is_floating_point()
    ]


def called(entry, trial):
    """The call in words: numbers as they are, small integer and bool tensors written out, others by shape."""
    args = zip(judge.argument_names(entry), trial.make(), strict=False)
    return f"{entry.call.split('(')[0]}({', '.join(_shown(name, arg) for name, arg in args)})"


def _shown(name, arg):
    if not isinstance(arg, torch.Tensor):
        return f"{name}={arg}" if isinstance(arg, int | list) or arg is None else name
    if arg.ndim == 1 and not arg.is_floating_point() and arg.numel() <= 8:
        return f"{name}={arg.tolist()}"
    return f"{name} {tuple(arg.shape)}"


def _broken_invariant(entry, answer):
    for what, holds in entry.invariants:
        try:
            if not judge.run(lambda holds=holds: holds(answer), Deadline()):
                return what
        except KeyboardInterrupt:
            raise
        except BaseException:
            return what
    return None


# ------------------------------------------------------------------------------------------- records and sources


def _record(verdict):
    """Keep a verdict: a grader's kernel writes all of them, a learner's only what was attempted."""
    path = os.environ.get(RECORD)
    if path:
        line = {"exercise": verdict.exercise, "status": verdict.status, "misconception": verdict.misconception}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    elif verdict.status != "unattempted" and not progress_file.store(verdict):
        verdict.message += "\n\n(Progress could not be saved: this folder cannot be written to.)"


def source_of(function):
    """The source of a function without docstring and argument checks, its comments kept."""
    source = textwrap.dedent(inspect.getsource(function))
    definition = ast.parse(source).body[0]
    lines, dropped = source.splitlines(), set(range(1, definition.lineno))  # decorators
    for scope in ast.walk(definition):
        for node in getattr(scope, "body", ()) if isinstance(getattr(scope, "body", None), list) else ():
            if isinstance(node, ast.Expr) and (_is_check(node.value) or isinstance(node.value, ast.Constant)):
                dropped |= set(range(node.lineno, node.end_lineno + 1))
    return "\n".join(line for i, line in enumerate(lines, start=1) if i not in dropped)


def _is_check(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", "").startswith("check_")
