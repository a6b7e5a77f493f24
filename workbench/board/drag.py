"""A number in a phrase that sets a board: where the phrase stands, it can be dragged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Drag:
    """The number between { and } of a phrase: one of `values`, `start` where nobody has moved it.

    sets: value → the inputs and controls that it sets, by name; all others stay as they are.
    Raises: ValueError for a start that is none of the values.
    """

    values: Sequence
    start: object
    sets: Callable

    def __post_init__(self):
        if self.start not in self.values:
            raise ValueError(f"start is {self.start!r}, the values are {', '.join(map(str, self.values))}")
