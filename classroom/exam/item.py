"""An item of an exam: a situation, a question and options, each wrong one a misconception that has a name."""

import contextlib
import math
from dataclasses import dataclass

from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.sections import section_in_words
from workbench.questions import question

FEWEST = 4  # options: the right one and three that are wrong
APART = 0.1  # whoever rounds on the way could confuse numbers that are closer than this


@dataclass(frozen=True)
class Table:
    """Named rows of numbers or signs, as a matrix is written."""

    name: str
    rows: tuple  # of tuples of texts


@dataclass(frozen=True)
class Code:
    """Lines of Python; numbered where the question names them."""

    lines: tuple
    numbered: bool = False


@dataclass(frozen=True)
class Option:
    """What may be chosen: a text, or a Table; why is what students read about it, mistake the misconception's id."""

    shown: object
    why: str
    mistake: str = ""  # "" for the right one
    value: object = None  # by which two options are told apart; the text unless given

    @property
    def is_right(self):
        """Whether no misconception leads to it."""
        return not self.mistake


@dataclass(frozen=True)
class Item:
    """parts are sentences, tables and code, as they stand on the sheet; the options' order is the sheet's too."""

    id: str  # kind-mark-number; with the seed it is drawn again
    kind: str
    lesson: int
    parts: tuple
    asks: str
    options: tuple

    @property
    def key(self):
        """The place of the right option."""
        return next(i for i, option in enumerate(self.options) if option.is_right)

    def letter(self, place):
        """The letter on the sheet of the option at this place, counted from 0."""
        return "abcdefgh"[place]


def item(id, lesson, parts, asks, right, wrong, rng, most=5):
    """An `Item` whose options stand in a drawn order, or None where too few of the wrong ones are left.

    A wrong option that cannot be told from the right one, or from one before it, is left out. Raises: ValueError if the
    right one is nearly one of the known mistakes, for which a misconception would get points.
    """
    options = [right]
    for option in wrong:
        if is_same(option, right):
            raise Coincidence(f"{id}: {option.mistake} leads to the right answer")
        if len(options) <= most and not any(is_same(option, other) for other in options):
            options.append(option)
    if len(options) < FEWEST:
        return None
    rng.shuffle(options)
    return Item(id, id.partition("-")[0], lesson, tuple(parts), asks, tuple(options))


class Coincidence(ValueError):
    """These numbers reward a mistake: others have to be drawn."""


def is_same(one, other):
    """Whether two options say the same, or numbers that rounding could confuse."""
    a, b = (option.shown if option.value is None else option.value for option in (one, other))
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return could_be_confused(a, b)
    return a == b


def could_be_confused(a, b):
    """Whether somebody who rounds on the way could take one number for the other."""
    return abs(a - b) < max(APART, 0.02 * max(abs(a), abs(b)))


def number(value):
    """A number as it stands on a sheet: at most two decimals, with the sign of mathematics."""
    text = f"{round(value, 2) + 0.0:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"
    return text.replace("-", "−").replace(",", "\u202f")


def misconception(exercise, name):
    """(what `check` says of an exercise's mistake, its id). Raises: KeyError for none of that name."""
    mistake = EXERCISES[exercise].misconceptions[name]
    sentence = mistake.name[0].upper() + mistake.name[1:]
    return f"{sentence}. Read again: {section_in_words(mistake.reread)}.", f"{exercise} {name}"


def with_mistake(exercise, name, *arguments):
    """(what an answer with this misconception returns, what `misconception` does). Raises: KeyError for none."""
    return EXERCISES[exercise].misconceptions[name].forms[0](*arguments), misconception(exercise, name)


def mistaken(exercise, *arguments):
    """(result, what `misconception` returns) for each way to have one of an exercise's misconceptions that can run."""
    for name, mistake in EXERCISES[exercise].misconceptions.items():
        for form in mistake.forms:
            with contextlib.suppress(RuntimeError, TypeError, ValueError, IndexError):  # it raises, as some mistakes do
                yield form(*arguments), misconception(exercise, name)


def slip(record, name):
    """(what `predict` says of a slip, its id). Raises: KeyError for none of that name."""
    return question(record).slips[name].says, f"{record} {name}"


def new_mistake(name, says):
    """(a sentence, the id) of a mistake that no lesson asks for yet."""
    return says, f"exam {name}"


def reworded(mistake, says):
    """A known mistake, in words that suit this question."""
    return says, mistake[1]


def wrong(shown, mistake, value=None):
    """An `Option` that a misconception leads to; mistake is what `misconception` or `slip` returned."""
    why, id = mistake
    return Option(shown, why, id, value)
