"""The board of notebook 12."""

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op
from . import n12_tiles_operations as tiles
from .n10_cache_operations import max_difference
from .n12_tiles_operations import Fault

__all__ = ["tiles_board"]

WORDS = ("I", "like", "tea", "with", "milk")
S = [
    [2.0, 4.0, 4.0, 1.0, 5.0],
    [1.0, 3.0, 2.0, 0.0, 4.0],
    [4.0, 2.0, 1.0, 3.0, 0.0],
    [0.0, 1.0, 3.0, 2.0, 5.0],
    [2.0, 5.0, 0.0, 1.0, 3.0],
]
V = [[1.0, 2.0, 3.0], [2.0, 8.0, 0.0], [2.0, 6.0, 3.0], [0.0, 4.0, 1.0], [5.0, 1.0, 2.0]]
HIDES = Task(
    "Choose *factor missing on o*. Find an order for which the output of *I* is right; "
    "then change one score so that it is wrong.",
    (
        ("set", "fault", Fault.NO_FACTOR_ON_O),
        ("changed", {"S": 1}),
        ("below", "hidden before", 0, 0, 1e-9),
        ("above", "difference", 0, 0, 0.05),
    ),
    why="Why was the output of *I* right before?",
    answers=(
        "The largest score was read first, so every factor was 1",
        "o / ℓ does not depend on the factor",
        "The row of *I* was not read to its end",
    ),
    right=0,
    because="If no later score is larger, every factor is 1, and a missing factor changes nothing.",
)


def tiles_board():
    """Five queries that hear five keys tile by tile: what is kept of a row, what is spared, and what faults break."""
    inputs = {
        "S": Input(S, "scores", "scores", rows=WORDS, columns=WORDS, at=(1, 1), draw=(0, 5, 1)),
        "V": Input(V, "value", "values", rows=WORDS, at=(2, 1), draw=(0, 8, 1)),
        "first S": Input(S, "scores", editable=False, hidden=True),
    }
    sizes = (1, 2, 4)
    controls = [
        Control("read", "Blocks of keys read", tuple(range(6)), 1, slider=True, ends=("keys", (5, 3, 2))),
        Control("query", "Query", WORDS),
        Control("rows", "Rows", sizes),
        Control("keys", "Keys", sizes),
        *(_menu(one) for one in (tiles.Order, tiles.Mask, Fault)),
    ]
    tries = {
        "read {three} blocks": Drag(range(6), 3, lambda read: {"read": read}),
        "read the keys backwards": {"order": str(tiles.Order.BACKWARDS)},
        "mask the future": {"mask": str(tiles.Mask.CAUSAL), "rows": 2, "keys": 2},
        "forget the factor on o": {"fault": str(Fault.NO_FACTOR_ON_O), "read": 5},
    }
    return Board(inputs, _steps(), controls, HIDES, "Softmax in passing", tries=tries)


def _menu(choices):
    """A control whose values are the words of an enumeration, each its own number."""
    name = choices.__name__
    return Control(name.lower(), name, tuple(map(str, choices)), numbers=tuple(choices))


def _steps():
    cut = {"rows": "rows", "keys": "keys", "order": "order"}
    step = {**cut, "read": "read"}
    shown = {"rows": tuple(f"after {k}" for k in range(1, 6)), "columns": ("m", "ℓ", "o₁", "o₂", "o₃")}
    return [
        Step("mask of", tiles.who_hears("S", which="mask"), hidden=True),
        Step(
            "tiles",
            tiles.tiles_now("S", "mask of", "first S", **step),
            "order of reading, 0: not read yet",
            "scores",
            at=(1, 2),
            sparse=True,
            tiles=("rows", "keys"),
        ),
        Step(
            "film",
            tiles.passing("S", "V", "mask of", "first S", query="query", fault="fault", **step),
            "m, ℓ and o of the query",
            "scores",
            at=(2, 2),
            sparse="rows",
            **shown,
        ),
        Step(
            "so far",
            tiles.output_so_far("film"),
            "o / ℓ so far",
            "output",
            rows=(),
            columns=(),
            at=(3, 2),
            strip=True,
        ),
        Step("weights", op.masked("S", "mask of"), hidden=True),
        Step("outputs", op.product("weights", "V"), hidden=True),
        Step("own weights", op.row("weights", chosen="query"), hidden=True),
        Step("whole", op.product("own weights", "V"), "the whole row", "output", rows=(), at=(3, 1)),
        Step("in tiles", tiles.outputs_in_tiles("S", "V", "mask of", "first S", fault="fault", **cut), hidden=True),
        Step("tiled", op.rounded("in tiles", digits=9), hidden=True),
        Step("exact", op.rounded("outputs", digits=9), hidden=True),
        Step("apart", max_difference("tiled", "exact"), hidden=True),
        Step("difference", op.transposed("apart"), "difference at the end", "scores", rows=(), at=(4, 1), strip=True),
        Step("whole before", op.masked("first S", "mask of"), hidden=True),
        Step("outputs before", op.product("whole before", "V"), hidden=True),
        Step(
            "in tiles before",
            tiles.outputs_in_tiles("first S", "V", "mask of", "first S", fault="fault", **cut),
            hidden=True,
        ),
        Step("hidden before", max_difference("in tiles before", "outputs before"), hidden=True),
        Step(
            "bytes",
            tiles.bytes_moved("tiles", "V", rows="rows"),
            "bytes moved at the end",
            "input",
            rows=(),
            columns=("tiles", "whole"),
            at=(4, 2),
            wires=("tiles",),
        ),
    ]
