"""Judge one submission: each of its answers is run in a process of its own and compared here."""

import contextlib
import copy
import random
import secrets
import time
from dataclasses import dataclass

from workbench.exercises.api import verdict_on
from workbench.exercises.engine import runner
from workbench.exercises.engine.exercise import EXERCISES, find

from .sandbox.protocol import Malformed, cleaned
from .sandbox.remote import Connection, OverMemory, RemoteFunction, remote_class
from .sandbox.traces import first_difference
from .submissions.extract import OTHER_NAME, answer_in, course, exercises_in

LIBRARYS = "librarys-own"
RUN_ENDINGS = {  # why an answer is wrong that shows no misconception
    "raises": "It raises an error",
    "changes-its-argument": "It changes its argument",
    "returns-nothing": "It returns nothing",
    "cannot-be-run": "The cell cannot be run",
    "other-name": "Nothing is called what the exercise asks for",
    "too-long": "It had not come back in time",
    "too-much-memory": "It used too much memory",
    "ended": "It ended its own process, or sent no answer",
    LIBRARYS: "The library's own function was called",
}
ENDING_OF_OUTCOME = {
    "raised": "raises",
    "changed": "changes-its-argument",
    "none": "returns-nothing",
    "late": "too-long",
}
SEED = secrets.randbits(64)  # of this run's probes, which nobody can know beforehand


@dataclass
class GradedAnswer:
    """What was found of one exercise in one submission; the report keeps it as a dict."""

    exercise: str
    status: str  # "correct", "wrong", "unattempted" or "missing"
    misconception: str = ""
    message: str = ""  # as `check` words it
    shown: str = ""  # the same with its tables, as HTML
    code: str = ""  # the answer as it was handed in
    share: float = 0.0  # of the points
    note: str = ""  # what the teacher should know
    difference: str = ""  # where it parts from the library's answer, as `trace` says


def draw_probes(seed=None):
    """Give every exercise new numbers to be tried on, the same for one seed."""
    for id, exercise in EXERCISES.items():
        exercise.draw_again(random.Random(f"{SEED if seed is None else seed} {id}"))


def graded_answers(submission, host):
    """Return a `GradedAnswer` for each exercise of the notebooks that a submission holds anything of."""
    ids = exercises_in(submission.cells, submission.name, submission.heads)
    return [judge(answer_in(submission.cells, id), host) for id in ids]


def judge(answer, host):
    """Run an answer in a process of its own and compare what it returns; returns a `GradedAnswer`."""
    if answer.problem == "not handed in":
        return GradedAnswer(answer.exercise, "missing", note="")
    if answer.problem == OTHER_NAME:
        return _misnamed(answer)
    if answer.problem:
        return _unreadable(answer, answer.problem)
    if not answer.expressions:
        return _unattempted(answer)
    runner.LIMIT_S = host.limits.seconds
    with host.channel() as channel:
        connection = Connection(channel, host.limits.seconds, _memory_check(host))
        return _compare(answer, connection, host)


def _memory_check(host, every=0.3):
    """Return a function that may be called often and now and then raises `OverMemory`."""
    last = time.monotonic()

    def check():
        nonlocal last
        if time.monotonic() - last > every:
            last = time.monotonic()
            if host.memory() > host.limits.memory_mb << 20:
                raise OverMemory(f"used more than {host.limits.memory_mb} MB")

    return check


def _unattempted(answer):
    verdict = find(answer.exercise).unattempted()
    return GradedAnswer(answer.exercise, "unattempted", message=verdict.message, code=answer.shown)


def _unreadable(answer, why, note=""):
    message = f"The cell cannot be run: {why}."
    how = ending_of(note) or "cannot-be-run"
    return GradedAnswer(answer.exercise, "wrong", how, message, code=answer.shown, note=note)


def _misnamed(answer):
    names = " and ".join(f"`{name}`" for name in sorted(course().asked[answer.exercise].cell.binds))
    message = f"Nothing in this cell is called {names}, which is what `check` is given: keep the name."
    note = f"nothing is called {names.replace('`', '')}"
    return GradedAnswer(answer.exercise, "wrong", "other-name", message, code=answer.shown, note=note)


def ending_of(trouble):
    """The id in `RUN_ENDINGS` of a connection's trouble, "" if it had none."""
    begins = {"stopped after": "too-long", "used more than": "too-much-memory"}
    return next((id for words, id in begins.items() if trouble.startswith(words)), "ended" if trouble else "")


def _compare(answer, connection, host):
    exercise = find(answer.exercise)
    try:
        loaded, reader = connection.load(
            exercise=exercise.id,
            own=sorted(exercise.names_in_the_course()),
            without=bool(getattr(exercise, "without", ())),
            lesson=answer.lesson,
            cells=answer.cells,
            answer=answer.expressions,
        )
        failed = loaded.get("failed")
        if failed and loaded["parts"] == [["stub"]]:
            return _unreadable(answer, cleaned(": ".join(map(str, failed)), 500))
        parts = [_part(i, description, connection, reader) for i, description in enumerate(loaded["parts"])]
        connection.library = loaded["library"] and cleaned(loaded["library"], 60)
    except (RuntimeError, Malformed, KeyError, TypeError, ValueError, AttributeError):
        return _unreadable(answer, connection.trouble or "its process sent no answer", connection.trouble)
    connection.patience = 1.5 * host.limits.seconds + 5  # the judge's own clock comes first
    if all(part is Ellipsis or given for part, given in zip(parts, answer.given, strict=True)):
        return _unattempted(answer)
    verdict = verdict_on(answer.exercise, *parts)
    result = _graded(answer, verdict, connection, failed)
    if verdict.shown_in is not None and not connection.library:
        result.difference = _first_difference(exercise, parts[0], verdict.shown_in)
    return result


def _first_difference(exercise, function, args):
    """Which line of the answer first differs from the library's run, in words; "" where that cannot be said."""
    if exercise.after is None:
        with contextlib.suppress(Exception):  # a clue only: whatever their process sends, the verdict stands
            theirs = function.traced(args)
            return first_difference(exercise.reference, theirs, copy.deepcopy(args)) if theirs else ""
    return ""


def _part(i, description, connection, reader):
    """What the judge is handed for one part of an answer: a value, or something that calls the student's process."""
    match description:
        case ["stub"]:
            return ...
        case ["class"]:
            return remote_class(connection, i)
        case ["function"]:
            return RemoteFunction(connection, i)
        case ["value", value]:
            return reader.value(value)
    raise Malformed("an answer of no known kind")


def _graded(answer, verdict, connection, failed):
    """The `GradedAnswer` that a verdict and what the connection noticed beside it come to."""
    status, misconception = verdict.status, verdict.misconception or ""
    note = connection.trouble
    if note:
        verdict.message = verdict.message.replace(f"raises `WorkerEnded: {note}`", f"did not come back: {note}")
    if connection.library:
        status, misconception = "wrong", LIBRARYS
        message = (
            f"This calls the library's own `{connection.library}`. Whatever it returns, it was not written by you: "
            "leave it out, of tests inside the function too."
        )
        verdict.status, verdict.message, verdict.yours, verdict.right_parts = status, message, None, ""
        note = f"the library's own {connection.library}"
    if status == "wrong" and not misconception:
        misconception = ending_of(connection.trouble) or ENDING_OF_OUTCOME.get(verdict.came_to, "")
    if failed and status != "correct":
        note = "; ".join(filter(None, [note, f"a cell ended with {cleaned(failed[0], 60)}"]))
    with contextlib.suppress(Exception):
        shown = verdict._repr_html_()
        return GradedAnswer(
            answer.exercise, status, misconception, verdict.message, shown, answer.shown, _share(verdict, answer), note
        )
    return GradedAnswer(answer.exercise, status, misconception, verdict.message, "", answer.shown, 0.0, note)


def _share(verdict, answer):
    """The share of the points: 1, or the parts of several that are right and are not the course's own."""
    if verdict.status == "correct":
        return 1.0
    right, _, total = verdict.right_parts.partition(" of ")
    if not right or any(answer.given):
        return 0.0
    return int(right) / int(total)
