"""The slides of each lesson, in order: what each asks and draws, what is said and for how long.

A lesson's file, n03_masking.py, is read from top to bottom as the lecture is given:

    @slide(
        "Two lengths. Which positions are real?",
        minutes=1,
        say="Say the convention aloud: True means may attend.",
        hall="Which positions are real? [All but the last of the second sentence]",
    )
    def mask_from_lengths(real):
        return [Matrices([Matrix(rows, name="real", thing="weights")]) for rows in (unknown(2, 3), real)]

The function's name is the slide's; a cell of the notebook says that it begins there: "slide": "mask-from-lengths". Its
parameters are the notebook's own names, as they are when the slide's cells have run. It returns a picture of
workbench/display/drawings.py, a list of them, one for each step, or nothing where the slide shows its plot. Of a slide
that shows its board it returns `on_board(...)`, the state that its claim speaks of.
"""

import inspect
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench import questions
from workbench.display.drawings import Album

HERE = Path(__file__).parent


class SlideError(Exception):
    """What does not fit between a lesson's notebook and its slides; says lesson and slide."""


@dataclass(frozen=True)
class Slide:
    """One slide of a lesson, as its file has it."""

    lesson: str  # "03_masking"
    asks: str  # the heading until the last step, at most 52 characters
    minutes: float
    say: str  # where to point, what to change live
    hall: str  # the question for the hall, with its answer in brackets
    choices: str  # the question of workbench/questions whose options the hall chooses from, or ""
    short: float | None  # its minutes in the short lecture where they are others; 0 leaves it out there
    column: bool  # whether it begins a column although its cell has no heading of a section
    draw: Callable  # the notebook's names → the picture

    @property
    def name(self):
        """As the cell says it that begins the slide."""
        return self.draw.__name__.replace("_", "-")

    def error(self, words):
        return SlideError(f"Lesson {int(self.lesson[:2])}, slide {self.name}: {words}")

    def choices_for(self, question):
        """What the hall chooses from, and the place of the right one; [] and None where it writes its answer.

        question is one that a cell of the slide asks, as `Prediction.for_a_page` gives it, or None.
        """
        if question is None or question["id"] != f"{self.lesson[:2]}.{self.choices}":
            return [], None
        record = questions.question(question["id"])
        return record.choices, record.choices.index(record.right or question["leaves"][0])

    def steps(self, names, earlier):
        """Its pictures, one for each step, or what its board shows for the claim; an empty list without either.

        names are the notebook's; earlier has the steps of slides before it by their names. Raises: SlideError.
        """
        wanted = list(inspect.signature(self.draw).parameters)
        if missing := [name for name in wanted if name not in names]:
            raise self.error(f"the notebook has no {missing[0]} when the cells of this slide have run.")
        try:
            made = self.draw(*(names[name] for name in wanted))
        except Exception as error:
            raise self.error(f"its picture cannot be made: {error}") from error
        if isinstance(made, Again):
            pictures = [earlier[one.name] for one in made.slides]
            return [Album(pictures, open=k) for k in range(len(pictures) + 1)]
        if isinstance(made, list | OnBoard):
            return made
        return [] if made is None else [made]


@dataclass(frozen=True)
class OnBoard:
    """What a slide's board shows when the claim comes."""

    sets: dict
    mark: tuple | None

    def state(self, board):
        """The state as a page is told it; board is what the page knows of it. Raises: ValueError where it cannot be."""
        inputs, settings = (dict(board["start"][part]) for part in ("inputs", "settings"))
        values = {control["name"]: control["values"] for control in board.get("controls", [])}
        for name, value in self.sets.items():
            if name in inputs:
                inputs[name] = changed(inputs[name], value)
            elif value in values.get(name, ()) or (name in settings and name not in values):  # words have no list
                settings[name] = value
            else:
                raise ValueError(f"{name} cannot be {value!r}; it has {[*inputs, *settings]}")
        if self.mark and self.mark[0] not in {panel["name"] for panel in board["panels"] if not panel["hidden"]}:
            raise ValueError(f"it shows no {self.mark[0]}")
        return {"inputs": inputs, "settings": settings, "mark": self.mark}


def changed(matrix, value):
    """A matrix, all of it or with the numbers at some places; or the words of a text."""
    if isinstance(value, str):
        return value.split() if isinstance(matrix, list) else value
    if not isinstance(value, dict):
        return value
    matrix = [list(row) for row in matrix]
    for (row, column), number in value.items():
        matrix[row][column] = number
    return matrix


def on_board(mark=None, **sets):
    """What the function of a slide with a board returns: inputs and controls by name, all others as at the start.

    An input is a matrix, or {(row, column): number} where the others stay. mark: (matrix, row, column), a cell whose
    arithmetic is shown.
    """
    return OnBoard(sets, mark)


@dataclass(frozen=True)
class Again:
    """Pictures that come back small, one with each step."""

    slides: tuple


def again(*slides):
    """What the last slide returns: these earlier slides, whose pictures come back."""
    return Again(slides)


def slide(asks, *, minutes, say, hall="", choices="", short=None, column=False):
    """Makes the function under it a slide of the lesson in whose file it stands."""

    def made(draw):
        lesson = draw.__module__.rpartition(".n")[2]
        return Slide(lesson, asks, minutes, one_line(say), one_line(hall), choices, short, column, draw)

    return made


def one_line(text):
    return " ".join(text.split())


def slides_of(lesson):
    """The slides of a lesson, as 03_masking, in the order of its file. Raises: SlideError where it has none."""
    path = file_of(lesson)
    if not path.is_file():
        raise SlideError(f"Lesson {int(lesson[:2])} has no slides: write authors/deck/slides/{path.name}.")
    names = runpy.run_path(path, run_name=f"{__name__}.{path.stem}")  # as it is now, while somebody writes it
    slides = [one for one in names.values() if isinstance(one, Slide)]
    if not slides:
        raise SlideError(f"Lesson {int(lesson[:2])} has no slides: authors/deck/slides/{path.name} holds none.")
    return slides


def file_of(lesson):
    """Where the slides of a lesson, as 03_masking, are written."""
    return HERE / f"n{lesson}.py"


def with_cells(cells, slides):
    """Pairs of a slide and its cells, of a notebook's cells, in order. Raises: SlideError where they do not fit."""
    named, pairs = {one.name: one for one in slides}, []
    lesson = int(slides[0].lesson[:2])
    for cell in cells:
        name = cell.metadata.get("slide")
        if name is not None:
            if name not in named:
                where = f"{file_of(slides[0].lesson).name} has no function {name.replace('-', '_')}"
                raise SlideError(f"Lesson {lesson}, slide {name}: cell {cell.id} begins it, and {where}.")
            pairs.append((named[name], []))
        elif not pairs:
            raise SlideError(f"Lesson {lesson}, slide {slides[0].name}: the first cell has to begin it.")
        pairs[-1][1].append(cell)
    begun = [one for one, _ in pairs]
    for one in slides:
        if begun.count(one) != 1:
            raise one.error(f"{'no cell' if one not in begun else 'more than one cell'} of the notebook begins it.")
    for one, other in zip(slides, begun, strict=True):
        if one is not other:
            raise one.error(f"in the notebook {other.name} comes before it. Write slides in the notebook's order.")
    return pairs
