"""The boards of notebook 3."""

import math

import torch

from attn_lib.examples import OTHER_X, W_k, W_q, W_v, X

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op

__all__ = ["mask_board", "other_word_figure"]

ORDINALS = ("first", "second", "third", "fourth")
PRESETS = ("everything open", "padding, length 3", "causal", "padding and causal")
FILLS = ("−∞ before softmax", "−1e9 before softmax", "0 after softmax", "masked_softmax of attn_lib")
QUERIES, KEYS = ([f"{kind} {place}" for place in range(3)] for kind in ("query", "key"))
SENTENCES = {  # each is the first one with one word changed
    "I like tea": X,
    "I like milk": torch.stack([X[0], X[1], torch.tensor([1.0, 0.0, 0.0, 1.0])]),
    "I like coffee": torch.stack([X[0], X[1], OTHER_X[2]]),
    "I drink tea": torch.stack([X[0], OTHER_X[1], X[2]]),
    "We like tea": torch.stack([OTHER_X[0], X[1], X[2]]),
}


def _all_but(which):
    """A mask that is open except for the row of one query."""
    mask = torch.ones(4, 4)
    mask[ORDINALS.index(which)] = 0
    return {"mask": mask}


def mask_board():
    """A mask to click on, four ways of applying it, and the weights, outputs and gradients that come of each."""
    square = {"rows": ("q0", "q1", "q2", "q3"), "columns": ("k0", "k1", "k2", "k3")}
    scores = torch.tensor([[2.0, 1.0, 0.0, 1.0], [0.0, 3.0, 1.0, 1.0], [1.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 2.0]])
    tokens = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    inputs = {
        "scores": Input(scores, "scores", **square, at=(1, 1)),
        "mask": Input(torch.ones(4, 4), "mask", **square, at=(1, 2), toggle=True, note="✓ = may attend"),
        "values": Input(tokens, "value", rows=square["columns"], at=(3, 2), note="X @ W_v", editable=False),
    }
    before = {"title": "scores, filled", "at": (2, 1)}
    steps = [
        Step("preset", op.mask_preset(which="given", queries=4, keys=4, length=3), hidden=True),
        Step("allowed", op.both("mask", "preset"), "mask and preset", at=(2, 2), when=("given", *PRESETS[1:])),
        Step("with −∞", op.fill("scores", "allowed"), **before, when=("fill", FILLS[0])),
        Step("with −1e9", op.fill("scores", "allowed", value=-1e9), **before, when=("fill", FILLS[1])),
        Step("of all", op.softmax("scores"), "softmax of all scores", at=(2, 1), when=("fill", FILLS[2])),
        Step("from −∞", op.softmax("with −∞"), "softmax of the filled scores", hidden=True),
        Step("from −1e9", op.softmax("with −1e9"), "softmax of the filled scores", hidden=True),
        Step("zeroed", op.multiply("of all", "allowed"), "softmax of all scores, 0 where closed", hidden=True),
        Step("masked", op.masked("scores", "allowed"), "softmax over the open cells", hidden=True),
        Step("weights", op.choose("from −∞", "from −1e9", "zeroed", "masked", chosen="fill"), at=(3, 1)),
        Step("sums", op.total("weights"), "sum of each row", at=(4, 1)),
        Step("outputs", op.product("weights", "values"), at=(4, 2), note="weights @ values"),
        Step("alive", op.any_open("allowed"), hidden=True),
        Step("doubled", op.scale("outputs", by=2.0), hidden=True),
        Step("of the loss", op.fill("doubled", "alive", value=0.0), "gradient of outputs", hidden=True),
        Step(
            "gradient",
            op.product("outputs", "of the loss", transpose="a"),
            "gradient of W_v",
            kind="gradient",
            at=(5, 2),
            note="loss: sum of outputs², rows with a ✓",
            wires=("outputs",),
        ),
    ]
    controls = [Control("given", "Preset", PRESETS), Control("fill", "Apply as", FILLS)]
    task = Task(
        "Make one row of the weights NaN, close as few cells as you can, and look at the gradient.",
        (("has_nan", "weights"),),
    )
    tries = {
        "hide every later key": {"given": "causal"},
        "close every key of the {first} query": Drag(ORDINALS, "first", _all_but),
        "mask *after* softmax": {"fill": FILLS[2], "given": "causal"},
    }
    return Board(inputs, steps, controls, task, "Paint a mask", tries=tries)


def other_word_figure():
    """A mask to paint and another word in the place of one: the outputs that change blink."""
    inputs = {
        "mask": Input(
            torch.ones(3, 3), "mask", rows=QUERIES, columns=KEYS, at=(1, 1), toggle=True, note="✓ = may attend"
        ),
        "sentences": Input(torch.stack(list(SENTENCES.values())), hidden=True),
        "I like tea": Input(X, hidden=True, editable=False),
        **{
            f"W_{kind[0]}": Input(w, kind, hidden=True, editable=False)
            for kind, w in zip(("query", "key", "value"), (W_q, W_k, W_v), strict=True)
        },
    }
    steps = [Step("sentence", op.film("sentences", chosen="chosen"), hidden=True)]
    for x, given in (("tea", "I like tea"), ("now", "sentence")):
        steps += [
            Step(f"queries, {x}", op.product(given, "W_q"), hidden=True),
            Step(f"keys, {x}", op.product(given, "W_k"), hidden=True),
            Step(f"values, {x}", op.product(given, "W_v"), hidden=True),
            Step(f"scores, {x}", op.product(f"queries, {x}", f"keys, {x}", transpose="b"), hidden=True),
            Step(f"scaled, {x}", op.scale(f"scores, {x}", by=1 / math.sqrt(3)), "scores / √d_k", hidden=True),
            Step(f"weights, {x}", op.masked(f"scaled, {x}", "mask"), "weights", hidden=True),
        ]
    shown = {"rows": QUERIES, "wires": ("mask",)}
    steps += [
        Step(
            "outputs, tea",
            op.product("weights, tea", "values, tea"),
            "outputs before",
            at=(2, 1),
            note="I like tea",
            **shown,
        ),
        Step("outputs", op.product("weights, now", "values, now"), at=(3, 1), blinks=True, note="now", **shown),
        Step("moved by", op.apart("outputs", "outputs, tea"), at=(4, 1), blinks=True, zero="keeps"),
    ]
    chosen = Control("chosen", "Sentence", tuple(SENTENCES))
    return Board(inputs, steps, [chosen], title="Another word")
