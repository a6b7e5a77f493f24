"""Pictures that stand for a board's matrices: another view of what it computes, with one thing to grab."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What every picture has: the names of the board's steps that it shows, and what it asks before anything moved.

    step: from one number to the next of what is grabbed.
    """

    step: float = 0.1
    asks: str = ""
    queries: str = "queries"
    keys: str = "keys"
    scores: str = "scores"

    def described(self):
        """As a page has it."""
        return {"kind": type(self).__name__.lower(), **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class Sentence(Figure):
    """Words, arcs from the one that asks as thick as its weights, and its output as bars.

    asker: the control whose values are the words; grip: panel, row and column of the number to grab, which lies between
    `least` and `most`; {asker} in asks stands for the word that asks; link: a second button, its words and address.
    """

    grip: tuple
    asker: str = "query"
    least: float = 0
    most: float = 3
    link: tuple = ()
    values: str = "values"
    weights: str = "weights"
    outputs: str = "outputs"


@dataclass(frozen=True, kw_only=True)
class Plane(Figure):
    """Keys as points in the plane of two of their numbers, with lines of equal score for one query.

    axes: which two numbers, and what they reach from and to; row: whose query it is; moves: whose key can be dragged;
    beside: the key that it is compared with; weights and outputs: where they are named, what becomes of `beside` is in
    the plane too; places: other words and where they stand, to drag the key to.
    """

    axes: tuple
    reach: tuple
    row: int = 0
    moves: int = 2
    beside: int = 1
    weights: str = ""
    outputs: str = ""
    places: tuple = ()


@dataclass(frozen=True, kw_only=True)
class Turn(Figure):
    """What a word asks with, as an arrow to turn, beside the keys it is held against; scores and shares are bars.

    reach: what the plane of the two numbers reaches from and to; row: whose query it is; step: in degrees.
    """

    reach: tuple
    row: int = 0
    step: float = 5
    weights: str = "weights"
