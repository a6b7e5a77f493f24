"""Pictures that stand for a board's matrices: another view of what it computes, with one thing to grab."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Sentence:
    """Words, arcs from the one that asks as thick as its weights, and its output as bars.

    The names are those of the board's steps; asker: the control whose values are the words; grip: panel, row and column
    of the number to grab, which lies between `least` and `most`; asks: what is asked before anything was moved, where
    {asker} stands for the word that asks; link: a second button, its words and its address.
    """

    grip: tuple
    asker: str = "query"
    least: float = 0
    most: float = 3
    step: float = 0.1
    asks: str = ""
    link: tuple = ()
    queries: str = "queries"
    keys: str = "keys"
    values: str = "values"
    scores: str = "scores"
    weights: str = "weights"
    outputs: str = "outputs"

    def described(self):
        """As a page has it."""
        return {"kind": "sentence", **asdict(self)}


@dataclass(frozen=True)
class Plane:
    """Keys as points in the plane of two of their numbers, with lines of equal score for one query.

    axes: which two numbers, and what they reach from and to; row: whose query it is; moves: whose key can be dragged;
    beside: the key that it is compared with.
    """

    axes: tuple
    reach: tuple
    row: int = 0
    moves: int = 2
    beside: int = 1
    step: float = 0.1
    asks: str = ""
    queries: str = "queries"
    keys: str = "keys"
    scores: str = "scores"

    def described(self):
        """As a page has it."""
        return {"kind": "plane", **asdict(self)}
