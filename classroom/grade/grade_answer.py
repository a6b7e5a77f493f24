"""Judge one submission: each of its answers is run in a process of its own and compared here."""

import ast
import contextlib
import copy
import dataclasses
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
from .submissions.extract import OTHER_KINDS, OTHER_NAME, answer_in, course, exercises_in

LIBRARYS, HIDDEN = "librarys-own", "hidden"
RUN_ENDINGS = {  # why an answer is wrong that shows no misconception
    "raises": "It raises an error",
    "changes-its-argument": "It changes its argument",
    "returns-nothing": "It returns nothing",
    "cannot-be-run": "The cell cannot be run",
    "other-name": "Nothing is called what the exercise asks for",
    "no-code-cell": "The answer stands in a Markdown or raw cell",
    "too-long": "It had not come back in time",
    "too-much-memory": "It used too much memory",
    "ended": "It ended its own process, or sent no answer",
    LIBRARYS: "The library's own function was called",
    HIDDEN: "It hides what it calls",
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
    """Run an answer in a process of its own and compare what it returns; returns a `GradedAnswer`.

    Of an answer that was written anew after it was checked, the later one counts if it is right, or else what `check`
    was given and said.
    """
    result = _judge(answer, host)
    if result.status != "correct" and answer.checked is not None:
        result = _judge(answer.checked, host)
        result.note = "; ".join(filter(None, [result.note, "a later version, below its check, is not right"]))
    return result


def _judge(answer, host):
    if answer.problem == "not handed in":
        return GradedAnswer(answer.exercise, "missing", note="")
    if answer.problem == OTHER_NAME:
        return _misnamed(answer)
    if answer.problem in OTHER_KINDS.values():
        return _never_run(answer)
    if answer.problem:
        return _unreadable(answer, answer.problem)
    if not answer.expressions:
        return _unattempted(answer)
    result, library, calls = _judged(answer, host)
    if not library:
        return result
    bare = dataclasses.replace(
        answer, steps=[_without(step, number, calls) for number, step in enumerate(answer.steps)]
    )
    alone, still, _ = _judged(bare, host)  # as if what called the library were not there
    if still or (alone.status, alone.misconception) != (result.status, result.misconception):
        return _librarys(answer, library)
    return alone


def _judged(answer, host):
    """(the `GradedAnswer`, the library's function that was called while the cells ran, from where) of an answer."""
    runner.LIMIT_S = host.limits.seconds
    with host.channel() as channel:
        connection = Connection(channel, host.limits.seconds, _memory_check(host))
        return _compare(answer, connection, host)


def _without(step, number, calls):
    """A step without the statements from which the library was called; calls are (number of a step, line)."""
    file, source, is_own = step
    lines = {line for place, line in calls if place == number}
    if not lines:
        return step
    tree = ast.parse(source)
    tree.body = [one for one in tree.body if lines.isdisjoint(range(one.lineno, one.end_lineno + 1))]
    return [file, ast.unparse(tree), is_own]


def _librarys(answer, function):
    """The `GradedAnswer` of an answer that calls the library's own function for its exercise."""
    message = (
        f"This calls the library's own `{function}`, so that what it returns need not be yours: leave the call out, of "
        "tests inside the function too."
    )
    note = f"the library's own {function}"
    return GradedAnswer(answer.exercise, "wrong", LIBRARYS, message, code=answer.shown, note=note)


def _hiding(answer, event):
    """The `GradedAnswer` of an answer that is right, and hides what does the work."""
    message = (
        f"The numbers are right, but your code uses `{event}`, and so nobody can see whether the library's own "
        "function does the work: leave it out."
    )
    return GradedAnswer(answer.exercise, "wrong", HIDDEN, message, code=answer.shown, note=f"{event}: look at it")


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


def _cells_failed(answer, error):
    """The `GradedAnswer` of cells that bound nothing, since one of them raised an error, [type, message]."""
    result = _unreadable(answer, cleaned(": ".join(map(str, error)), 500))
    if error[0] == "ModuleNotFoundError":
        result.message += (
            " Your file is judged alone, and with the packages of the course only: copy what you need of a .py of your "
            "own into a cell, and do without other packages."
        )
        result.note = "a module is imported that is not there, perhaps the student's own: look at it"
    return result


def _misnamed(answer):
    names = " and ".join(f"`{name}`" for name in sorted(course().asked[answer.exercise].cell.binds))
    message = f"Nothing in this cell is called {names}, which is what `check` is given: keep the name."
    note = f"nothing is called {names.replace('`', '')}"
    return GradedAnswer(answer.exercise, "wrong", "other-name", message, code=answer.shown, note=note)


def _never_run(answer):
    names = " and ".join(f"`{name}`" for name in sorted(course().asked[answer.exercise].cell.binds))
    message = f"{names} stands {answer.problem}, which is never run: make it a code cell and run `check`."
    note = f"an answer {answer.problem}, which is never run: look at it"
    return GradedAnswer(answer.exercise, "wrong", "no-code-cell", message, code=answer.shown, note=note)


def ending_of(trouble):
    """The id in `RUN_ENDINGS` of a connection's trouble, "" if it had none."""
    begins = {"stopped after": "too-long", "used more than": "too-much-memory"}
    return next((id for words, id in begins.items() if trouble.startswith(words)), "ended" if trouble else "")


def _compare(answer, connection, host):
    exercise = find(answer.exercise)
    library, calls = "", []
    try:
        description, reader = connection.load(
            exercise=exercise.id,
            own=sorted(exercise.names_in_the_course()),
            without=bool(getattr(exercise, "without", ())),
            steps=answer.steps,
            answer=answer.expressions,
        )
        error = description.get("failed")
        if error and description["parts"] == [["stub"]]:
            return _cells_failed(answer, error), "", []
        parts = [_part(i, part, connection, reader) for i, part in enumerate(description["parts"])]
        connection.hides = cleaned(description.get("hides") or "", 60)
        connection.library = description["library"] and cleaned(description["library"], 60)
        library = description["called"] and cleaned(description["called"], 60)
        calls = {(int(number), int(line)) for number, line in description["calls"]}
    except (RuntimeError, Malformed, KeyError, TypeError, ValueError, AttributeError):
        return _unreadable(answer, connection.trouble or "its process sent no answer", connection.trouble), "", []
    connection.patience = 1.5 * host.limits.seconds + 5  # the judge's own clock comes first
    if all(part is Ellipsis or is_ours for part, is_ours in zip(parts, answer.given, strict=True)):
        return _unattempted(answer), "", []
    verdict = verdict_on(answer.exercise, *parts)
    if connection.library:
        return _librarys(answer, connection.library), "", []
    result = _graded(answer, verdict, connection, error)
    if result.share and connection.hides:
        return _hiding(answer, connection.hides), "", []
    if verdict.shown_in is not None:
        result.difference = _first_difference(exercise, parts[0], verdict.shown_in)
    return result, library, calls


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


def _graded(answer, verdict, connection, error):
    """The `GradedAnswer` made of a verdict and of what the connection noticed meanwhile."""
    status, misconception = verdict.status, verdict.misconception or ""
    note = connection.trouble
    if note:
        verdict.message = verdict.message.replace(f"raises `WorkerEnded: {note}`", f"did not come back: {note}")
    if status == "wrong" and not misconception:
        misconception = ending_of(connection.trouble) or ENDING_OF_OUTCOME.get(verdict.came_to, "")
    if error and status != "correct":
        note = "; ".join(filter(None, [note, f"a cell ended with {cleaned(': '.join(map(str, error)), 120)}"]))
    with contextlib.suppress(Exception):
        page = verdict._repr_html_()
        return GradedAnswer(
            answer.exercise, status, misconception, verdict.message, page, answer.shown, _share(verdict, answer), note
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
