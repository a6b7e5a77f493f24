"""The board of notebook 7, and the operation that only it has, whose half for the page stands beside it."""

from attn_lib.examples import TOKENS, W_k, W_q, X
from attn_lib.functional import masked_softmax

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op

__all__ = ["learning_board"]

RATES = (0.1, 0.5, 1, 3)
LEARNERS = ("W_q alone", "W_q and W_k")


@op.operation
def gradient_descent(w_q, w_k, x, wish, *, steps, rate, keys_too, which):
    """W_q (which 0) or W_k (1) after so many steps down the gradient of the cross-entropy; keys_too: W_k learns too.

    Each step is kept in float32, as models keep theirs: else page and Python, whose last bits differ, would part on a
    path that is chaotic, as it is with a large rate.
    """
    for _ in range(steps):
        queries, keys = x @ w_q, x @ w_k
        weights = masked_softmax(queries @ keys.mT)
        to_scores = weights * wish.sum(dim=1, keepdim=True) - wish
        w_q, w_k = w_q - rate * (x.mT @ (to_scores @ keys)), w_k - rate * keys_too * (x.mT @ (to_scores.mT @ queries))
        w_q, w_k = w_q.float().double(), w_k.float().double()
    return w_k if which else w_q


def learning_board():
    """The 3×4 example learning: a wish for the weights, W_q after so many steps, and the gradient that is left."""
    wish = [[0.0, 0, 1], [0, 0, 0], [0, 0, 0]]
    words = {"rows": TOKENS, "columns": TOKENS, "note": "a row of zeros: no wish"}
    inputs = {
        "X": Input(X, rows=TOKENS, at=(1, 1), title="inputs X"),
        "W_q": Input(W_q, "query", "W_q at the start", at=(2, 1)),
        "W_k": Input(W_k, "key", "W_k at the start", at=(1, 2)),
        "wish": Input(wish, "weights", at=(5, 2), draw=(0, 1, 1), **words),
    }
    controls = [
        Control("step", "Step", tuple(range(51)), 0, slider=True),
        Control("rate", "Learning rate", RATES, RATES[0]),
        Control("learns", "Learns", LEARNERS),
    ]
    tries = {
        "{fifty} careful steps": Drag(range(51), 50, lambda step: {"rate": RATES[0], "step": step}),
        "one bold step": {"rate": 1, "step": 1},
    }
    steps = [*_weights_now(), *_loss_and_gradient(), *_weights_at_last()]
    return Board(inputs, steps, controls, TOO_FAR, "Attention that learns", tries=tries)


def _learned(steps, which):
    return gradient_descent("W_q", "W_k", "X", "wish", steps=steps, rate="rate", keys_too="learns", which=which)


def _weights_now():
    both = ("learns", LEARNERS[1])
    return [
        Step("W_q now", _learned("step", 0), kind="query", at=(3, 1), wires=("W_q",)),
        Step("W_k now", _learned("step", 1), kind="key", at=(3, 2), when=both, wires=("W_k",)),
        Step("queries", op.product("X", "W_q now"), hidden=True),
        Step("keys", op.product("X", "W_k now"), hidden=True),
        Step("scores", op.product("queries", "keys", transpose="b"), hidden=True, rows=TOKENS, columns=TOKENS),
        Step("weights", op.softmax("scores"), at=(4, 1), wires=("X", "W_q now", "W_k now")),
    ]


def _loss_and_gradient():
    """The way there ends at the loss; below it, from right to left, what comes back, and the step it leads to."""
    loss = {"kind": "scores", "at": (5, 1), "note": "−Σ wish · ln weight", "wires": ("weights",)}
    scores = {"kind": "gradient", "at": (5, 3), "note": "weights · Σ wish − wish", "wires": ("weights", "wish")}
    queries = {"kind": "gradient", "at": (4, 3), "note": "@ keys", "wires": ("to scores",)}
    w_q = {"kind": "gradient", "at": (3, 3), "note": "Xᵀ @", "wires": ("to queries",)}
    on = {"kind": "query", "at": (2, 3), "note": "− rate · gradient", "wires": ("to W_q",)}
    return [
        Step("loss", op.cross_entropy("wish", "weights"), **loss),
        Step("wished", op.total("wish"), hidden=True),
        Step("counted", op.multiply("weights", "wished"), "weights of rows with a wish", hidden=True),
        Step("to scores", op.subtract("counted", "wish"), "gradient of scores", **scores),
        Step("to queries", op.product("to scores", "keys"), "gradient of queries", **queries),
        Step("to W_q", op.product("X", "to queries", transpose="a"), "gradient of W_q", **w_q),
        Step("taken away", op.scale("to W_q", by=1.0, powers={"rate": 1}), "rate · gradient of W_q", hidden=True),
        Step("W_q next", op.subtract("W_q now", "taken away"), "W_q next", **on),
    ]


def _weights_at_last():
    """The weights after all steps, for the task."""
    return [
        Step("W_q at last", _learned(50, 0), hidden=True),
        Step("W_k at last", _learned(50, 1), hidden=True),
        Step("queries at last", op.product("X", "W_q at last"), hidden=True),
        Step("keys at last", op.product("X", "W_k at last"), hidden=True),
        Step("scores at last", op.product("queries at last", "keys at last", transpose="b"), hidden=True),
        Step("weights at last", op.softmax("scores at last"), hidden=True),
    ]


TOO_FAR = Task(
    "Leave all matrices as they are. Find a learning rate and a step at which *I* gives *tea* less than 0.1, "
    "although at step 50 it gives *tea* more than 0.9.",
    (("changed", {}), ("below", "weights", 0, 2, 0.1), ("above", "weights at last", 0, 2, 0.9)),
    why="The score of *tea* should grow. Why does it fall?",
    answers=(
        "A step against the gradient goes downhill only if the loss has no logarithm",
        "The query moves so far from the key of *like* that the score of *tea*, whose key is similar, falls too",
        "The weights of a row sum to 1, so one of them must fall",
    ),
    right=1,
    because="The keys (4, 4, 0) and (2, 3, 1) are nearly parallel. After a small step *tea* has more weight than "
    "*like*; after a large step both scores are low, and *I* attends to itself.",
)
