"""The board of notebook 8."""

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op

__all__ = ["position_board"]

ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th")
SCHEMES = ("no position", "waves added", "RoPE", "RoPE, queries only", "ALiBi")


def position_board():
    """Six tokens with one query and one key between them: only where they stand can tell them apart."""
    inputs = {
        "q": Input([[2.0, 1.0]], "query", "query of every token", at=(1, 1)),
        "k": Input([[3.0, 1.0]], "key", "key of every token", at=(2, 1)),
    }
    controls = [
        Control("scheme", "Scheme", SCHEMES, SCHEMES[2]),
        Control("angle", "Angle per step, degrees", tuple(range(0, 181, 10)), 90, slider=True),
        Control("start", "Position of the 1st", tuple(range(10)), 0, slider=True),
        Control("slope", "Slope of ALiBi", (0, 0.25, 0.5, 1, 2, 4), 0.5, slider=True),
    ]
    tries = {
        "forget where tokens stand": {"scheme": SCHEMES[0]},
        "begin at position {9}": Drag(range(10), 9, lambda start: {"start": start}),
    }
    steps = [*_queries_and_keys(), *_scores_and_weights()]
    return Board(inputs, steps, controls, TOKEN_BEFORE, "Where a token stands", tries=tries)


def _queries_and_keys():
    """Six times the same, and as each scheme changes them."""
    turn = {"angle": "angle", "start": "start"}
    queries = op.choose("each q", "q and wave", "q turned", "q turned", "each q", chosen="scheme")
    keys = op.choose("each k", "k and wave", "k turned", "each k", "each k", chosen="scheme")
    return [
        Step("tens", op.numbered(tokens=6, features=1), hidden=True),
        Step("places", op.scale("tens", by=0.1), hidden=True, rows=ORDINALS),
        Step("none", op.scale("places", by=0.0), hidden=True),
        Step("ones", op.exp("none"), hidden=True),
        Step("east", op.beside("ones", "none"), hidden=True),
        Step("waves", op.rotate("east", **turn), "cosine and sine", hidden=True),
        Step("each q", op.product("ones", "q"), "query of every token", hidden=True, kind="query"),
        Step("each k", op.product("ones", "k"), "key of every token", hidden=True, kind="key"),
        Step("q and wave", op.add("each q", "waves"), "query of every token + waves", hidden=True),
        Step("k and wave", op.add("each k", "waves"), "key of every token + waves", hidden=True),
        Step("q turned", op.rotate("each q", **turn), "query of every token, turned", hidden=True),
        Step("k turned", op.rotate("each k", **turn), "key of every token, turned", hidden=True),
        Step("queries", queries, at=(1, 2), rows=ORDINALS),
        Step("keys", keys, at=(2, 2), rows=ORDINALS),
    ]


def _scores_and_weights():
    """Queries times keys, with ALiBi less a price of the distance, and their causal softmax."""
    scores = op.choose("products", "products", "products", "products", "priced", chosen="scheme")
    words = {"rows": ORDINALS, "columns": ORDINALS, "note": "queries @ keysᵀ"}
    return [
        Step("products", op.product("queries", "keys", transpose="b"), "queries @ keysᵀ", hidden=True),
        Step("across", op.transposed("places"), hidden=True),
        Step("distances", op.subtract("places", "across"), hidden=True, kind="scores"),
        Step("price", op.scale("distances", by=-1.0, powers={"slope": 1}), hidden=True),
        Step("priced", op.add("products", "price"), "queries @ keysᵀ − slope · distance", hidden=True),
        Step("scores", scores, at=(3, 1, 2), wires=("queries", "keys"), **words),
        Step("causal", op.mask_preset(which=2, queries=6, keys=6, length=6), "a causal mask", hidden=True),
        Step("weights", op.masked("scores", "causal"), at=(4, 1, 2), note="with a causal mask"),
    ]


TOKEN_BEFORE = Task(
    "Choose the query, the key and the angle so that every token except the first gives more than half of its weight "
    "to the token before it.",
    tuple(("above", "weights", i, i - 1, 0.5) for i in range(1, 6)),
    why="Could ALiBi do this task with some slope?",
    answers=(
        "Yes, with a small one",
        "Yes, with a large one",
        "No: the token itself is nearer than the token before it",
    ),
    right=2,
    because="At distance 0 nothing is subtracted, so no other key gets more weight than the token's own key.",
)
