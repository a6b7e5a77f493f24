"""The catalogue: exercises, their probes and the mistakes known for each. Adding a mistake is adding one function."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

EXERCISES = {}  # id → Exercise, in the order of the notebooks


@dataclass(frozen=True)
class Probe:
    """One call of an answer: `make()` gives fresh arguments, the same each time; an edge probe is a corner case."""

    make: Callable
    edge: bool = False


@dataclass
class Misconception:
    """A mistake that is known: code that makes it, its name, why it is tempting, and where to read again."""

    id: str
    name: str
    why: str
    reread: str
    codes: list = field(default_factory=list)  # the same mistake written out in each way that gives other numbers
    telltale: Callable | None = None  # arguments on which it shows best; the smallest failing probe unless given


@dataclass
class Exercise:
    """What `check` needs to know about one exercise."""

    id: str
    title: str
    call: str  # how the answer is called: "causal_mask(n_queries, n_keys)"
    section: str  # where it is taught
    reference: Callable
    probes: list
    hints: list
    returns: tuple = ("result",)  # a name for each tensor that comes back
    shows: tuple = ()  # whose source is the solution; the reference unless given
    gradients: bool = False
    read: Callable = lambda tensors: tensors  # brings equally right answers to one form
    may_change: tuple = ()  # positions of arguments that the answer is there to change
    after: Callable | None = None  # takes the arguments after the call, where they are what counts
    raises: tuple = ()  # what a right answer raises, on the probes for which the reference raises
    invariants: list = field(default_factory=list)  # (what must hold, test(answer, …) -> bool)
    judge: Callable | None = None  # replaces the comparison with the reference
    misconceptions: dict = field(default_factory=dict)


def exercise(id, title, call, section, **settings):
    """Register the decorated reference as an exercise; its misconceptions follow."""

    def register(reference):
        EXERCISES[id] = Exercise(id, title, call, section, reference, **settings)
        return reference

    return register


def misconception(exercise_id, id, name, why, *, reread=None, telltale=None):
    """Register the decorated function as a known mistake."""
    entry = find(exercise_id)
    known = entry.misconceptions.setdefault(id, Misconception(id, name, why, reread or entry.section, [], telltale))
    return _adding(known)


def also(exercise_id, id):
    """Register the decorated function as another form of a known mistake, one that gives other numbers."""
    return _adding(find(exercise_id).misconceptions[id])


def _adding(known):
    def register(code):
        known.codes.append(code)
        return code

    return register


def find(id):
    """Return the exercise with this id; raises KeyError that lists the ids there are."""
    try:
        return EXERCISES[id]
    except (KeyError, TypeError):
        raise _UnknownExercise(f"there is no exercise {id!r}; there are {', '.join(sorted_ids())}") from None


class _UnknownExercise(KeyError):
    def __str__(self):  # KeyError would show the message in quotes
        return self.args[0]


def sorted_ids():
    return sorted(EXERCISES, key=lambda id: [int(part) for part in re.findall(r"\d+", id)])
