"""Judge the three parts of an answer: the diagnosis (line and name), the mended code, and the test.

Why `same_code` compares bytecode: the notebook hands out the buggy code as the stub of `mended_1`, and a stub that was
run is not an attempt. The source would have to be found again (not possible for code typed at a prompt or sent to a
grader), parsed, and freed of names and comments; the compiler has done that. Results would not do: code that was
rewritten and is still wrong has been attempted.
"""

import torch

from ...display import show
from ..engine import runner
from ..engine.function import explain
from ..engine.outcome import refuse_not_callable, right, same
from ..engine.runner import OutOfTime, Raised, Worker
from ..engine.sections import section_in_words
from ..engine.verdict import Part, Verdict
from .anonymous import instance_of
from .fault_names import FAULTS, HEALTHY
from .judge_test import judge_test
from .named_line import lines_in_words, lines_named


def judge(bug, answer):
    """Return the verdict on (line, fault, mended, detects), of which the last ones may be missing."""
    line, fault, mended, detects = parts_of(answer)
    if bug.is_healthy and says_healthy(line, fault):
        bug.solved = True
        return Verdict(bug.id, "correct", None, f"{bug.name}. {bug.story}")
    with Worker() as worker:
        fix = judge_fix(bug, mended, worker)
        test = blamed_on(fix, mended, detects, judge_test(bug, detects, worker))
        parts = [judge_diagnosis(bug, line, fault), fix, test]
        printed = worker.printed().strip()
    bug.solved = bug.solved or all(part.state == "right" for part in parts)
    status, message = _in_words(bug, parts, is_begun=not (is_unanswered(line) and is_unanswered(fault)))
    if printed:
        first = printed.splitlines()[0][:60]
        message += f'\n\nIt prints ("{first}"): a test has to return what it has found, True or False.'
    return _verdict(bug, parts, status, message)


def _in_words(bug, parts, *, is_begun):
    """Return status and message of the whole answer; `is_begun` says whether a line or a name was given."""
    how_many_right = sum(part.state == "right" for part in parts)
    if how_many_right == len(parts):
        reread = f"Read again: {section_in_words(bug.section)}."
        return "correct", f"{bug.name}. {bug.story}\n\n{parts[-1].message}\n\n{reread}"
    if not is_begun and all(part.state == "open" for part in parts):
        return "unattempted", f"Not attempted yet. Needed: {bug.asks_in_words()}."
    return "wrong", "\n\n".join([f"{how_many_right} of {len(parts)} right.", *map(str, parts)])


def _verdict(bug, parts, status, message):
    """Return the verdict with the misconception and the matrices of the first wrong part that has them."""
    wrong = [part for part in parts if part.state == "wrong"]
    matrices = [part.matrices for part in wrong if part.matrices]
    misconception = wrong[0].misconception if wrong else None
    verdict = Verdict(bug.id, status, misconception, message, *(matrices[0] if matrices else ()))
    how_many_right = sum(part.state == "right" for part in parts)
    verdict.right_parts = f"{how_many_right} of {len(parts)}" if how_many_right else ""
    return verdict


def parts_of(answer):
    """Return line, fault, mended and detects, with `...` for what is missing; a function alone is the test."""
    if not isinstance(answer, tuple | list):
        answer = (answer,) if isinstance(answer, str) else (..., ..., ..., answer)
    return (*answer, ..., ..., ..., ...)[:4]


def says_healthy(*parts):
    return any(isinstance(part, str) and part.strip().casefold() == HEALTHY for part in parts)


def is_unanswered(part):
    return part is None or part is Ellipsis


# ----------------------------------------------------------------------------------------------- the diagnosis


def judge_diagnosis(bug, line, fault):
    if is_unanswered(line) and is_unanswered(fault):
        return Part("Diagnosis", "open", "which line, and which of the names in `FAULTS`?")
    if says_healthy(line, fault):
        words = "It has a fault: there are calls on which its output is wrong, or its gradient."
        return Part("Diagnosis", "wrong", words, "not-healthy")
    line_is, fault_is = judge_line(line, set(bug.lines), bug.source, *bug.mended_sources), _judge_fault(bug, fault)
    states = {line_is.state, fault_is.state}
    state = "wrong" if "wrong" in states else "open" if "open" in states else "right"
    misconception = line_is.misconception or fault_is.misconception
    return Part(
        "Diagnosis", state, f"{line_is.message[0].upper()}{line_is.message[1:]} {fault_is.message}", misconception
    )


def judge_line(answer, wrong, source, *others):
    """The part on the line that an answer names: wrong has the numbers of the lines in which the fault can be mended.

    others are sources with the same lines as the patient's, as the right one.
    """
    if is_unanswered(answer):
        return Part("Line", "open", "which line?")
    lines, last = lines_named(answer, source, *others), len(source.splitlines())
    if not lines or not lines <= set(range(1, last + 1)):
        words = f"a line is a number from 1 to {last}, as in the source, or its code."
        return Part("Line", "wrong", words, "no-line")
    if lines <= wrong:
        return Part("Line", "right", f"the fault can be mended in {lines_in_words(lines)}.")
    if lines & wrong:
        return Part("Line", "wrong", f"your words fit {lines_in_words(lines)}. Give the number of one.", "no-line")
    return Part("Line", "wrong", f"the fault is not in {lines_in_words(lines)}.", "wrong-line")


def _judge_fault(bug, fault):
    if is_unanswered(fault):
        return Part("Fault", "open", "Which of the names in `FAULTS`?")
    name = fault.strip().casefold() if isinstance(fault, str) else None
    if name not in FAULTS:
        return Part("Fault", "wrong", f"The name must be one of {', '.join(FAULTS)}.", "no-name")
    if name not in bug.faults:
        return Part("Fault", "wrong", f"“{name}” is not the name of its fault.", "wrong-name")
    return Part("Fault", "right", f"“{name}” is the name of its fault.")


# ------------------------------------------------------------------------------------------------ the mended code


def judge_fix(bug, mended, worker):
    if is_unanswered(mended):
        return Part("Mended", "open", "it is still `...`; give your code this name.")
    if same_code(mended, bug.buggy):
        return Part("Mended", "open", "you have not changed the code yet.")
    if not callable(mended):
        return Part("Mended", "wrong", refuse_not_callable("mended", mended, _code_like(bug)))
    exercise, answer = bug.fix_exercise, bug.called(mended)
    expected = exercise.known_outcomes(exercise.reference, len(exercise.trials), worker)
    for trial, truth in zip(exercise.trials, expected, strict=True):
        outcome = exercise.outcome(answer, trial, worker.run)
        if outcome.kind == "none" and trial is exercise.trials[0]:
            return Part("Mended", "open", "it returns nothing yet.")
        if not right(outcome, truth):
            return _wrong_fix(bug, trial, outcome, truth, worker)
    if isinstance(bug.buggy, type) and (wrong := _wrong_in_training(mended, exercise.trials[0], worker)):
        return wrong
    calls = show.count(len(exercise.trials), "call")
    if bug.is_healthy:
        words = f"right on {calls}, but the patient was right before you changed it. Then its line is “{HEALTHY}”."
        return Part("Mended", "wrong", words, "mended-the-healthy")
    return Part("Mended", "right", f"right on {calls}.")


def _code_like(bug):
    return f"the patient's whole code, mended, as a {'class' if isinstance(bug.buggy, type) else 'function'}"


def _wrong_fix(bug, trial, outcome, truth, worker):
    """Return the part on mended code that is wrong in one call: half mended, still buggy, or wrong in another way."""
    exercise = bug.fix_exercise
    if outcome.kind == "value":

        def gives_the_same(code):
            return same(outcome, exercise.outcome(bug.called(code), trial, worker.run))

        if any(map(gives_the_same, bug.half_fixed)):
            message = "one of the wrong lines is mended, another is still wrong."
            return Part("Mended", "wrong", message, "half-mended")
        if any(map(gives_the_same, (bug.buggy, *bug.variants.values()))):
            as_before = gives_the_same(bug.buggy)
            words = "it still gives the wrong numbers." if as_before else "that is another form of the same fault."
            return Part("Mended", "wrong", words, "still-buggy")
    words, matrices = explain(exercise, trial, outcome, truth)
    return Part("Mended", "wrong", words, None, matrices or ())


def _wrong_in_training(mended, trial, worker):
    """Return the part on a module that is right in eval but wrong in training, or None."""

    def is_steady():
        module = instance_of(mended).train()
        return torch.equal(module(*trial.args), module(*trial.args))

    try:
        if worker.run(is_steady):
            message = "in training no weight is dropped any more: dropout was removed, not mended."
            return Part("Mended", "wrong", message, "dropout-removed")
    except Raised as raised:
        return Part("Mended", "wrong", f"in training it raises `{show.error(raised.error)}`.")
    except OutOfTime:
        return Part("Mended", "wrong", f"in training it had not come back after {runner.LIMIT_S:g} seconds.")
    return None


def blamed_on(fix, mended, detects, test):
    """Return the part on the test; where it condemns right code by comparing with wrong mended code, it says so."""
    if fix.state == "right" or test.misconception not in CONDEMN_RIGHT_CODE or not _calls(detects, mended):
        return test
    words = "It returns True for right code: it compares with your mended code, which is still wrong. Mend that first."
    return Part("Test", "wrong", words, "compares-with-wrong-code")


CONDEMN_RIGHT_CODE = ("always", "upside-down", "condemns-right")


def _calls(function, other):
    """Whether a function names the other, as a global or from around it."""
    code = getattr(function, "__code__", None)
    if code is None or not callable(other):
        return False
    names, inner = set(), [code]
    while inner:
        code = inner.pop()
        names.update(code.co_names)
        inner += [part for part in code.co_consts if hasattr(part, "co_code")]
    around = [cell.cell_contents for cell in function.__closure__ or () if cell != type(cell)()]
    return any(thing is other for thing in [*map(function.__globals__.get, names), *around])


def same_code(one, other):
    """Whether two functions or classes were compiled from the same source, but for their names."""
    if isinstance(one, type) and isinstance(other, type):
        pairs = [(vars(one).get(name), method) for name, method in vars(other).items() if hasattr(method, "__code__")]
        return all(same_code(mine, theirs) for mine, theirs in pairs)
    one, other = (getattr(code, "__code__", code) for code in (one, other))
    if not (hasattr(one, "co_code") and hasattr(other, "co_code")):
        return False
    consts = list(zip(one.co_consts, other.co_consts, strict=False))
    inner = [pair for pair in consts if hasattr(pair[0], "co_code")]
    plain = all(mine == theirs for mine, theirs in consts if not hasattr(mine, "co_code"))
    return (
        (one.co_code, one.co_names, one.co_varnames) == (other.co_code, other.co_names, other.co_varnames)
        and plain
        and all(same_code(*pair) for pair in inner)
    )
