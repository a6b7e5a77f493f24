"""One hand-in before the judge: every exercise in it, each in a student's process of its own."""

import contextlib
import copy
import random
import secrets
import time
from dataclasses import asdict, dataclass

from workbench.exercises.api import verdict_on
from workbench.exercises.engine import runner
from workbench.exercises.engine.exercise import EXERCISES, find

from .sandbox.protocol import Malformed, cleaned
from .sandbox.remote import Greedy, RemoteFunction, Student, remote_class
from .sandbox.traces import first_difference
from .submissions.extract import OTHER_NAME, answer_in, course, exercises_in

LIBRARYS = "librarys-own"
OF_THE_RUN = {  # how an answer's run ended that made no mistake in the subject
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
OUTCOMES = {"raised": "raises", "changed": "changes-its-argument", "none": "returns-nothing", "late": "too-long"}
SEED = secrets.randbits(64)  # of this run's probes, which nobody knows beforehand


@dataclass
class Result:
    """What was found of one exercise in one hand-in."""

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


def judge(hand_in, host):
    """The results of a hand-in, a dict for each exercise of the notebooks that it holds anything of."""
    return [
        asdict(judge_one(answer_in(hand_in.cells, id), host))
        for id in exercises_in(hand_in.cells, hand_in.name, hand_in.heads)
    ]


def judge_one(answer, host):
    """The `Result` of one answer."""
    if answer.problem == "not handed in":
        return Result(answer.exercise, "missing", note="")
    if answer.problem == OTHER_NAME:
        return _misnamed(answer)
    if answer.problem:
        return _unread(answer, answer.problem)
    if not answer.expressions:
        return _unattempted(answer)
    runner.LIMIT_S = host.limits.seconds
    with host.student() as channel:
        student = Student(channel, host.limits.seconds, _watch_over_memory(host))
        return _judged(answer, student, host)


def _watch_over_memory(host, every=0.3):
    """Something to be called often, which looks now and then and raises `Greedy`."""
    looked = time.monotonic()

    def look():
        nonlocal looked
        if time.monotonic() - looked > every:
            looked = time.monotonic()
            if host.memory() > host.limits.memory_mb << 20:
                raise Greedy(f"used more than {host.limits.memory_mb} MB")

    return look


def _unattempted(answer):
    verdict = find(answer.exercise).unattempted()
    return Result(answer.exercise, "unattempted", message=verdict.message, code=answer.shown)


def _unread(answer, why, note=""):
    message = f"The cell cannot be run: {why}."
    how = how_it_ended(note) or "cannot-be-run"
    return Result(answer.exercise, "wrong", how, message, code=answer.shown, note=note)


def _misnamed(answer):
    names = " and ".join(f"`{name}`" for name in sorted(course().asked[answer.exercise].cell.binds))
    message = f"Nothing in this cell is called {names}, which is what `check` is given: keep the name."
    note = f"nothing is called {names.replace('`', '')}"
    return Result(answer.exercise, "wrong", "other-name", message, code=answer.shown, note=note)


def how_it_ended(trouble):
    """The id in `OF_THE_RUN` of what kept a student's process from answering."""
    begins = {"stopped after": "too-long", "used more than": "too-much-memory"}
    return next((id for words, id in begins.items() if trouble.startswith(words)), "ended" if trouble else "")


def _judged(answer, student, host):
    exercise = find(answer.exercise)
    try:
        told, reader = student.load(
            exercise=exercise.id,
            own=sorted(exercise.names_in_the_course()),
            without=bool(getattr(exercise, "without", ())),
            lesson=answer.lesson,
            cells=answer.cells,
            answer=answer.expressions,
        )
        failed = told.get("failed")
        if failed and told["parts"] == [["stub"]]:
            return _unread(answer, cleaned(": ".join(map(str, failed)), 500))
        parts = [_part(i, words, student, reader) for i, words in enumerate(told["parts"])]
        student.library = told["library"] and cleaned(told["library"], 60)
    except (RuntimeError, Malformed, KeyError, TypeError, ValueError, AttributeError):
        return _unread(answer, student.trouble or "its process sent no answer", student.trouble)
    student.patience = 1.5 * host.limits.seconds + 5  # the judge's own clock comes first
    if all(part is Ellipsis or given for part, given in zip(parts, answer.given, strict=True)):
        return _unattempted(answer)
    verdict = verdict_on(answer.exercise, *parts)
    result = _result(answer, verdict, student, failed)
    if verdict.shown_in is not None and not student.library:
        result.difference = _where_it_parts(exercise, parts[0], verdict.shown_in)
    return result


def _where_it_parts(exercise, function, args):
    """In words, or "" where it cannot be said: this is a clue beside a verdict that stands."""
    if exercise.after is None:
        with contextlib.suppress(Exception):  # whatever their process tells
            theirs = function.traced(args)
            return first_difference(exercise.reference, theirs, copy.deepcopy(args)) if theirs else ""
    return ""


def _part(i, words, student, reader):
    match words:
        case ["stub"]:
            return ...
        case ["class"]:
            return remote_class(student, i)
        case ["function"]:
            return RemoteFunction(student, i)
        case ["value", value]:
            return reader.value(value)
    raise Malformed("an answer of no known kind")


def _result(answer, verdict, student, failed):
    status, misconception = verdict.status, verdict.misconception or ""
    note = student.trouble
    if note:
        verdict.message = verdict.message.replace(f"raises `Ended: {note}`", f"did not come back: {note}")
    if student.library:
        status, misconception = "wrong", LIBRARYS
        message = (
            f"This calls the library's own `{student.library}`. Whatever it returns, it was not written by you: leave "
            "it out, of tests inside the function too."
        )
        verdict.status, verdict.message, verdict.yours, verdict.right_parts = status, message, None, ""
        note = f"the library's own {student.library}"
    if status == "wrong" and not misconception:
        misconception = how_it_ended(student.trouble) or OUTCOMES.get(verdict.came_to, "")
    if failed and status != "correct":
        note = "; ".join(filter(None, [note, f"a cell ended with {cleaned(failed[0], 60)}"]))
    with contextlib.suppress(Exception):
        shown = verdict._repr_html_()
        return Result(
            answer.exercise, status, misconception, verdict.message, shown, answer.shown, _share(verdict, answer), note
        )
    return Result(answer.exercise, status, misconception, verdict.message, "", answer.shown, 0.0, note)


def _share(verdict, answer):
    """How much of the points: all, or those parts of several that are right and were not the course's own."""
    if verdict.status == "correct":
        return 1.0
    right, _, total = verdict.right_parts.partition(" of ")
    if not right or any(answer.given):
        return 0.0
    return int(right) / int(total)
