"""What a board is made of: inputs, steps, controls, and a task with its conditions."""

from collections.abc import Callable
from dataclasses import dataclass

from .operations import Operation


@dataclass(frozen=True)
class Input:
    """A matrix to start from, or a film (frames, rows, columns), which cannot be edited.

    kind names its colour; rows and columns are words beside it and are handed on to the steps; toggle: cells are
    switches, 1 or 0; draw: lowest and highest number and step that *Random* draws from; when and hidden as in a `Step`.
    """

    tensor: object
    kind: str = "input"
    title: str = ""
    rows: tuple = ()
    columns: tuple = ()
    at: tuple = ()
    note: str = ""
    editable: bool = True
    toggle: bool = False
    draw: tuple = (-1, 1, 0.5)
    gap: object = 0
    parts: tuple = ()
    when: tuple = ()
    hidden: bool = False


@dataclass(frozen=True)
class Step:
    """A matrix that is computed. What is left out follows from the operation: colour, words, place.

    at: column, row and number of rows of the drawing's grid; when: a control and the values for which the step is
    shown; gap: after how many columns there is a gap, a number or a control's name; parts: names of
    what stands between gaps, and no gap after the last; hidden steps are never drawn;
    wires: the names from which connectors are drawn, if not from all that it is computed from; sparse: what is nan is
    not there, and its cell stays empty ("rows": where a whole row is nan); tiles: the controls after whose number of
    rows and of columns a line is drawn; pin: a hand may write over its numbers, and what follows takes the hand's;
    blinks: a cell lights up for a moment as its number changes; zero: the word that stands for 0;
    strip: a phone keeps it in sight while a number is changed, in place of the first weights and where the flow ends.
    """

    name: str
    operation: Operation
    title: str = ""
    kind: str = ""
    rows: tuple | None = None
    columns: tuple | None = None
    at: tuple = ()
    note: str = ""
    when: tuple = ()
    hidden: bool = False
    gap: object = 0
    parts: tuple = ()
    wires: tuple | None = None
    sparse: object = False
    tiles: tuple = ()
    pin: bool = False
    blinks: bool = False
    zero: str = ""
    strip: bool = False


@dataclass(frozen=True)
class Control:
    """A choice among a few values. Its number is the value, or its place among the values, unless given.

    ends: of a slider another control, and for each of that one's values the last value that this one can still reach.
    """

    name: str
    title: str
    values: tuple
    start: object = None
    slider: bool = False
    numbers: tuple = ()
    ends: tuple = ()

    def number(self, value):
        counts = all(isinstance(v, int | float) for v in self.values)
        numbers = self.numbers or (self.values if counts else tuple(range(len(self.values))))
        return numbers[self.values.index(value)]


@dataclass(frozen=True)
class Task:
    """What to bring about. Each condition is a tuple, its kind first, as in `CONDITIONS`; all must hold at once.

    why: a question that is asked as well, with its answers; `right` is the place of the right one.
    """

    text: str
    conditions: tuple
    why: str = ""
    answers: tuple = ()
    right: int = 0
    because: str = ""


CONDITIONS: dict[str, Callable] = {  # (values, numbers of the controls, start) → bool; the page has the same in JS
    "above": lambda values, _, start, name, i, j, least: bool(values[name][i, j] > least),
    "below": lambda values, _, start, name, i, j, most: bool(values[name][i, j] < most),
    "changed": lambda values, _, start, counts: all(
        int((values[name] != matrix).sum()) == counts.get(name, 0) for name, matrix in start.items()
    ),
    "set": lambda values, numbers, start, control, number: numbers[control] == number,
    "at_least": lambda values, numbers, start, control, number: numbers[control] >= number,
    "has_nan": lambda values, _, start, name: bool(values[name].isnan().any()),
    "equal": lambda values, _, start, a, b, within=1e-9: (
        values[a].shape == values[b].shape and bool(((values[a] - values[b]).abs() < within).all())
    ),
    "differ": lambda values, _, start, a, b, least: bool(((values[a] - values[b]).abs() > least).any()),
    "most_even": lambda values, numbers, start, film, frame, row: bool(
        values[film][numbers[frame], numbers[row]].max() - values[film].max(dim=2).values.min() < 1e-4
    ),
}
