"""check, hint and solution, the three calls of every exercise cell, and progress."""

from .. import classroom
from .. import progress as stored_progress
from ..display import show
from ..places import is_to_be_read
from . import own
from .engine.exercise import COURSES_OWN, EXERCISES, find
from .engine.stub import is_unattempted
from .engine.verdict import Hint, Overview, Solution

LISTENERS = [stored_progress.tell, classroom.tell]  # each may answer with a sentence for the learner
_hints_shown = {}


def check(id, *answer):
    """Judge an answer and say what is wrong with it; returns a `Verdict`, which displays itself.

    Where an exercise asks for several things they follow one another: check("6.1", line, fault, mended, detects).
    Never raises for an answer, whatever it does; raises KeyError for an exercise that does not exist.
    """
    verdict = verdict_on(id, *answer)
    if verdict.status == "correct" and find(id).is_own(answer[0]):  # as grading does
        verdict = find(id).wrong(f"The numbers agree with the library's, but {COURSES_OWN.format(answer[0].__name__)}.")
    if verdict.status == "correct" and isinstance(answer[0], type):
        verdict.message += f"\n\n{own.keep(id, answer[0])}"
    _record(verdict)
    classroom.show_button(_notebook(id))  # on a class's hub, handing in is where the exercise is
    return verdict


def verdict_on(id, *answer):
    """Return the verdict without recording or reporting it."""
    exercise, answer = find(id), answer[0] if len(answer) == 1 else answer or None
    if is_unattempted(answer) and not exercise.in_parts:
        return exercise.unattempted(", then check it")
    try:
        return exercise.judge(answer)
    except Exception as error:  # no form of answer is to stop a notebook, also none that nobody has thought of
        return exercise.wrong(
            f"This could not be judged: comparing it raises `{show.error(error)}`. Is it of the form that is asked for?"
        )


def hint(id):
    """Show the first hint, one more with every further call in this session, and after the last the solution."""
    exercise = find(id)
    total = len(exercise.hints)
    _hints_shown[id] = total if is_to_be_read() else _hints_shown.get(id, 0) + 1
    return Hint(id, exercise.hints[: _hints_shown[id]], total, solution(id) if _hints_shown[id] > total else None)


def solution(id):
    """Show an answer that is right as source, argument checks left out, folded away."""
    return Solution(id, find(id).solution())


def progress():
    """Show which exercises are done of the notebooks that were begun, as kept in the folder of the learner's copies."""
    states = stored_progress.load()
    notebooks = {_notebook(id) for id in states}
    exercises = [(id, exercise) for id, exercise in EXERCISES.items() if _notebook(id) in notebooks]
    rows = [(id, exercise.title, states.get(id, _waits(exercise, notebooks))) for id, exercise in exercises]
    return Overview(rows, elsewhere=len(EXERCISES) - len(rows))


def _waits(exercise, notebooks):
    """The number of the notebook that an exercise opens after, if that has not been begun yet, else None."""
    after = exercise.opens_after
    return after if after and str(after) not in notebooks else None


def _notebook(id):
    return id.split(".")[0]


def _record(verdict):
    """Call every listener with the verdict on an attempt; what they return is added to the message."""
    if verdict.status == "unattempted":
        return
    for tell in LISTENERS:
        if sentence := tell(verdict):
            verdict.message += f"\n\n({sentence})"
