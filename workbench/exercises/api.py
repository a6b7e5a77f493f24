"""check, hint and solution: the three calls of every exercise cell."""

import dis
import getpass
import json
import os
import re
import time

from .. import progress
from .engine.exercise import find
from .engine.verdict import Hint, Solution

LIVE = "ATTENTION_LIVE"  # names a folder that a class shares: `course.py grade --live` shows what is told there
LEARNER = "ATTENTION_NAME"  # under which name; the user's unless given
TOLD = "Your teacher sees this result and which mistake it names, not your code."
_hints_shown = {}


def check(id, *answer):
    """Judge an answer and say what is wrong with it; returns a `Verdict`, which displays itself.

    Where an exercise asks for several things they follow one another: check("6.1", line, fault, mended, detects).
    Never raises for an answer, whatever it does; raises KeyError for an exercise that does not exist.
    """
    verdict = verdict_on(id, *answer)
    _record(verdict)
    return verdict


def verdict_on(id, *answer):
    """The `Verdict` of `check`, which nobody is told of and nothing keeps."""
    exercise, answer = find(id), answer[0] if len(answer) == 1 else answer or None
    stub = is_unattempted(answer) and not exercise.in_parts
    return exercise.unattempted("; running both cells checks it") if stub else exercise.judge(answer)


def hint(id):
    """Show the first hint, and one more with every further call in this session."""
    exercise = find(id)
    _hints_shown[id] = _hints_shown.get(id, 0) + 1
    return Hint(id, exercise.hints[: _hints_shown[id]], len(exercise.hints))


def solution(id):
    """Show the library's own source of what the exercise asks for, argument checks left out, folded away."""
    return Solution(id, find(id).solution())


def is_unattempted(answer):
    """Whether it is still the stub: `...`, None, a list of them, or a function whose body does nothing."""
    if isinstance(answer, list | tuple):
        return any(part is None or part is Ellipsis for part in answer)
    if answer is None or answer is Ellipsis:
        return True
    code = getattr(answer, "__code__", None)
    return code is not None and _does_nothing(code)


def _does_nothing(code):
    idle = {"RESUME", "NOP", "RETURN_VALUE"}
    constants = {"LOAD_CONST", "RETURN_CONST"}
    return all(
        step.opname in idle or (step.opname in constants and step.argval in (None, Ellipsis))
        for step in dis.get_instructions(code)
    )


def _record(verdict):
    """Keep a verdict on an attempt for the learner, and tell the class where there is one; the learner reads of it."""
    if verdict.status == "unattempted":
        return
    if not progress_file.store(verdict):
        verdict.message += "\n\n(Progress could not be saved: this folder cannot be written to.)"
    folder = os.environ.get(LIVE)
    if folder and _tell(verdict, folder):
        verdict.message += f"\n\n({TOLD})"


def _tell(verdict, folder):
    """Add a line to the learner's file in the folder of a class; returns False where that cannot be."""
    name = re.sub(r"[^\w.@-]", "_", os.environ.get(LEARNER) or getpass.getuser())
    line = {"time": round(time.time(), 1), "exercise": verdict.exercise, "status": verdict.status}
    try:
        with open(os.path.join(folder, f"{name}.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "misconception": verdict.misconception}) + "\n")
    except OSError:
        return False
    return True
