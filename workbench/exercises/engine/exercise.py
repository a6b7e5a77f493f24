"""How every exercise is written; the kinds of exercises are in numbers.py, function.py and clinic/.

An exercise is its reference, which is the library's own function wherever there is one, and its hints. A
misconception is a function of its own, written under the exercise with `@that_exercise.misconception(…)`: its name is
the id, the first line of its docstring is what the learner is told, and the rest is why it is tempting.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .sections import section_in_words
from .source import source_of
from .verdict import Verdict

EXERCISES = {}  # id → Exercise, in the order of the notebooks


@dataclass(eq=False)
class Misconception:
    """What a learner is told who shows it: its name, why it is tempting, and where to read again."""

    id: str
    name: str
    why: str
    reread: str  # a section, as sections.py names them: "08#text-waves"


@dataclass(eq=False)
class MisconceptionAsCode(Misconception):
    """One that is known by its code: an answer has it whose results are those of one of the forms."""

    forms: list = field(default_factory=list)  # each is called as an answer is, and has other results
    telltale_call: tuple | None = None  # arguments on which it shows best; the smallest failing probe unless given


COURSES_OWN = (
    "it is the course's own `{}` that does the work. You may call whatever PyTorch and attn_lib offer, except what "
    "does all that the exercise asks for"
)


@dataclass(eq=False, kw_only=True)
class Exercise:
    """What every exercise has; each kind of exercise adds its own `judge`."""

    id: str
    reference: Callable
    title: str
    section: str  # where it is taught, as `reread` of a misconception
    asks: str  # what the learner writes: "my_causal_mask(n_queries, n_keys)", "three numbers"
    hints: list
    shows: tuple = ()  # whose source is the solution, first what answers; the reference unless given
    also_called: tuple = ()  # other names under which the course has what is asked for
    opens_after: int = 0  # the notebook that it needs, where that is a later one than its own
    misconceptions: dict = field(default_factory=dict)  # id → Misconception, in the order in which they are tried

    in_parts = False  # whether the answer has parts, of which each may still be open

    def judge(self, answer):
        """Return the `Verdict` on an answer; never raises for an answer."""
        raise NotImplementedError

    def draw_again(self, rng):
        """Try answers on other numbers from now on, drawn by a `random.Random`: what grading does, once."""

    def names_in_the_course(self):
        """What the library and the lessons call the functions that would be the answer."""
        return {code.__name__ for code in (self.reference, *self.shows) if inspect.isfunction(code)} | {
            *self.also_called
        }

    def is_own(self, answer):
        """Whether an answer is the course's own, under whatever name."""
        return any(answer is own for own in (self.reference, *self.shows))

    def misconception(self, *, reread=None, forms=(), telltale_call=None):
        """Add the decorated function as a misconception; `forms` are other ways to have it, with other results.

        reread is a section, "08#text-waves", that of the exercise unless given.
        Raises: ValueError for a function without a docstring of two paragraphs, or a name that is taken.
        """

        def add(code):
            words = described_by(code)
            return self.add(MisconceptionAsCode(*words, reread or self.section, [code, *forms], telltale_call), code)

        return add

    def add(self, misconception, code=None):
        """Keep a misconception; returns the code that it came from."""
        if misconception.id in self.misconceptions:
            raise ValueError(f"exercise {self.id} has two misconceptions named {misconception.id!r}")
        self.misconceptions[misconception.id] = misconception
        return code

    @property
    def answer(self):
        """What a learner who is right would hand in."""
        return self.reference

    def asks_in_words(self):
        """What the learner writes, as it stands in a sentence."""
        return f"`{self.asks}`" if "(" in self.asks else self.asks

    def solution(self):
        """An answer as source, under the name that is asked for; what it calls stands below it."""
        shown = self.shows or (self.reference,)
        names = "|".join(code.__name__ for code in shown)
        source = re.sub(rf"\b\w+\.({names})(?=\()", r"\1", "\n\n".join(map(source_of, shown)))
        asked, is_function, _ = self.asks.partition("(")
        return re.sub(rf"(?<![.\w]){shown[0].__name__}(?=\()", asked, source) if is_function else source

    # -------------------------------------------------------------------------------------------------- verdicts

    def correct(self, message):
        return Verdict(self.id, "correct", None, message)

    def unattempted(self, then=""):
        return Verdict(self.id, "unattempted", None, f"Not attempted yet. Write {self.asks_in_words()}{then}.")

    def wrong(self, message, matrices=None):
        """`matrices` are two to show beside it, the learner's and the expected one."""
        return Verdict(self.id, "wrong", None, message, *(matrices or ()))

    def wrong_by(self, misconception, where="", matrices=None):
        """The verdict on an answer with a known misconception; `where` says where it shows."""
        reread = f"Read again: {section_in_words(misconception.reread)}."
        parts = [f"{misconception.name}.", misconception.why, where, reread]
        return Verdict(self.id, "wrong", misconception.id, "\n\n".join(filter(None, parts)), *(matrices or ()))


def register(exercise):
    """Put an exercise into the catalogue, which stays in the order of the notebooks; returns it."""
    if exercise.id in EXERCISES:
        raise ValueError(
            f"there are two exercises {exercise.id}, or its file could not be read before: then mend that error first"
        )
    EXERCISES[exercise.id] = exercise
    for id in sorted(EXERCISES, key=_place):
        EXERCISES[id] = EXERCISES.pop(id)
    return exercise


def _place(id):
    return [int(part) for part in re.findall(r"\d+", id)]


def described_by(code):
    """Return (id, name, why) of the misconception that a function is, from its name and docstring."""
    name, _, why = inspect.cleandoc(code.__doc__ or "").partition("\n\n")
    if not why or "\n" in name:
        raise ValueError(
            f"the docstring of {code.__name__} must be one line that says what is wrong, a blank line, and then why"
        )
    return code.__name__.strip("_").replace("_", "-"), name.rstrip("."), _unfolded(why)


def _unfolded(text):
    """Paragraphs without the line breaks that the width of the source asks for."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def find(id):
    """Return the exercise with this id; raises KeyError that lists the ids there are."""
    try:
        return EXERCISES[id]
    except (KeyError, TypeError):
        if isinstance(id, int | float):
            raise _UnknownExercise('write the number of an exercise in quotes, as in check("3.2", …)') from None
        raise _UnknownExercise(f"there is no exercise {id!r}; there are {', '.join(EXERCISES)}") from None


class _UnknownExercise(KeyError):
    def __str__(self):  # KeyError would show the message in quotes
        return self.args[0]
