"""The board of notebook 1."""

import math

import torch

from attn_lib.examples import TOKENS, W_k, W_q, W_v, X

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op
from ..figures import Plane, Sentence, Turn

__all__ = ["bank_figure", "by_hand_board", "plane_figure", "sentence_figure", "turn_figure"]

ARITHMETIC = ("as they are", "rounded to one digit", "scaled by 1/√d_k")
BY_HAND = (  # in the order of the lesson; a small board ends with one of them
    Step("queries", op.product("X", "W_q"), at=(3, 1), note="X @ W_q"),
    Step("keys", op.product("X", "W_k"), at=(3, 2), note="X @ W_k", pin=True),
    Step("values", op.product("X", "W_v"), at=(3, 3), note="X @ W_v"),
    Step("scores", op.product("queries", "keys", transpose="b"), at=(4, 1, 2), note="queries @ keysᵀ"),
    Step(
        "scaled",
        op.scale("scores", by=1 / math.sqrt(3)),
        title="scores / √d_k",
        at=(4, 1, 2),
        when=("arithmetic", ARITHMETIC[2]),
    ),
    Step("for softmax", op.choose("scores", "scores", "scaled", chosen="arithmetic"), hidden=True),
    Step("weights", op.softmax("for softmax"), at=(5, 1, 2), note="softmax of each row"),
    Step(
        "rounded",
        op.rounded("weights"),
        title="rounded weights",
        at=(5, 1, 2),
        when=("arithmetic", ARITHMETIC[1]),
    ),
    Step("used", op.choose("weights", "rounded", "weights", chosen="arithmetic"), hidden=True),
    Step("of one query", op.row("used", chosen="query"), "the weights of one query", hidden=True),
    Step(
        "weighted_values",
        op.weighted_rows("of one query", "values"),
        title="weighted values",
        at=(4, 3),
        note="weight · value",
        when=("query", *TOKENS),
        wires=("of one query", "values"),
    ),
    Step("outputs", op.product("used", "values"), at=(5, 3), note="weights @ values"),
)
ENDS = [step.name for step in BY_HAND if not step.hidden and step.name not in ("scaled", "rounded")]


def by_hand_board(upto="outputs"):
    """The 3×4 example, every number of it: edit X or a weight matrix, and watch the rest move.

    upto: the step with which a small board ends, one of queries, keys, values, scores, weights, weighted_values.
    Raises: ValueError for another step.
    """
    if upto not in ENDS:
        raise ValueError(f"upto must be one of {', '.join(ENDS)}, got {upto!r}")
    inputs, steps, controls = _parts(upto, ARITHMETIC if upto == "outputs" else ARITHMETIC[:1], upto == "outputs")
    if upto == "outputs":
        same = torch.stack((X[0], X[1], X[0]))
        tries = {
            "set all of W_k to 0": {"W_k": torch.zeros(4, 3)},
            "make every query {ten} times as large": Drag(range(1, 11), 10, lambda times: {"W_q": times * W_q}),
            "make *tea* the same as *I*": {"X": same},
        }
        return Board(inputs, steps, controls, ONE_ENTRY, "Self-attention by hand", tries=tries)
    return Board(inputs, steps, controls, title=f"Self-attention by hand, up to the {upto.replace('_', ' ')}")


def sentence_figure(link=()):
    """Whom each word listens to, as arcs, with the third number of *tea*'s key to grab; link as in `Sentence`."""
    asks = "Make the third number of the key of *tea* larger: does *{asker}* give *tea* more weight?"
    figure = Sentence(grip=("keys", 2, 2), asks=asks, link=link)
    return Board(*_parts("outputs", ARITHMETIC[:1]), title="I like tea", figure=figure)


def plane_figure():
    """The keys as points, and lines of equal score with *I*, for whose query a key's second number counts nothing."""
    asks = "The keys of *like* and *tea* are on one line. Drag *tea* across it: which key has the higher score?"
    figure = Plane(axes=(0, 2), reach=((-1, 5), (-1, 3)), asks=asks)
    return Board(*_parts("scores", ARITHMETIC[:1]), title="Keys in a plane", figure=figure)


def bank_figure():
    """*Bank* beside a word to drag: how much of it *bank* hears by likeness alone, and where that takes it."""
    rows = Input([[1, 1], [2, 0]], rows=("bank", "neighbour"), columns=("water", "money"), title="two words")
    steps = [
        Step("scores", op.product("rows", "rows", transpose="b")),
        Step("weights", op.softmax("scores")),
        Step("outputs", op.product("weights", "rows")),
    ]
    figure = Plane(
        axes=(0, 1),
        reach=((-1, 3), (-1, 3)),
        asks="Drag the *neighbour* to *coins*, along the thick line. Where is the new row of *bank*?",
        queries="rows",
        keys="rows",
        moves=1,
        beside=0,
        weights="weights",
        outputs="outputs",
        places=(("river", 2, 0), ("coins", 0, 2)),
    )
    return Board({"rows": rows}, steps, title="Bank and its neighbour", figure=figure)


def turn_figure():
    """What *barks* asks with, to be turned; the keys of *dog* and *barks* stay, and scores and shares answer."""
    axes = ("thing", "action")
    query = Input([[1, 2]], "query", rows=("barks",), columns=axes, at=(1, 1))
    keys = Input([[3, 0], [1, 2]], "key", rows=("dog", "barks"), columns=axes, at=(1, 2))
    steps = [
        Step("scores", op.product("query", "keys", transpose="b"), at=(2, 1)),
        Step("weights", op.softmax("scores"), at=(2, 2)),
    ]
    figure = Turn(
        reach=((-3, 3.6), (-2.6, 2.6)),
        asks="*Barks* attends mostly to itself. Turn its arrow until it attends mostly to *dog*.",
        queries="query",
    )
    return Board({"query": query, "keys": keys}, steps, title="The query of barks", figure=figure)


def _parts(upto, arithmetic, may_show_nobody=False):
    """Inputs, steps and controls up to this step."""
    steps = BY_HAND[: [step.name for step in BY_HAND].index(upto) + 1]
    inputs = {"X": Input(X, rows=TOKENS, at=(1, 2) if len(steps) > 1 else (1, 1), title="inputs X")}
    for row, (kind, matrix) in enumerate((("query", W_q), ("key", W_k), ("value", W_v))[: len(steps)], 1):
        inputs[f"W_{kind[0]}"] = Input(matrix, kind, at=(2, row))
    whose = ("nobody", *TOKENS) if may_show_nobody else TOKENS
    query = Control("query", "Weighted values of", whose, numbers=(0, 0, 1, 2)[-len(whose) :])
    controls = (Control("arithmetic", "Weights", arithmetic), query)
    uses = {option for step in steps for option in step.operation.options.values() if isinstance(option, str)}
    return inputs, steps, [control for control in controls if control.name in uses]


ONE_ENTRY = Task(
    "Change one single entry of W_k, so that *I* gives *tea* a weight of more than 0.7, and *like* still gives itself "
    "more than 0.85.",
    (("above", "weights", 0, 2, 0.7), ("above", "weights", 1, 1, 0.85), ("changed", {"W_k": 1})),
    why="In which column, and why there?",
    answers=(
        "The third: there the query of *I* has a 2, in the first column only a 1",
        "The second: there the key of *tea* is largest",
        "Any column: each entry of W_k changes every key",
    ),
    because="If an entry of the third column grows by d, the score of *I* with *tea* grows by 2·d; in the first column "
    "only by d. The score of *like* with *tea* grows by 2·d in both.",
)
