"""The second board of notebook 8: what RoPE learned on eight positions, turned more slowly for a longer text."""

import torch

from attn_lib import position_angles
from workbench.behind import two_rules

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op
from .n08_stretched_operations import Way, curves_by_distance, scores_by_distance, shares_right, slowed

__all__ = ["stretched_board"]

LONG = 32
PAIRS = tuple(f"pair {i}" for i in range(8))
BOTH_RULES = Task(
    "Read 32 tokens. Find the setting with which both rules are right in more than 80 of 100 answers.",
    (("set", "read", LONG), ("above", "right", 0, 0, 0.8), ("above", "right", 1, 0, 0.8)),
    why="Why must one pair be left alone?",
    answers=(
        "It turns so slowly that dividing its angle changes nothing",
        "Only this pair tells distance 1 from distances 0 and 2: if it is slowed, near tokens get nearly the same "
        "score",
        "If it is slowed, the first token is lost",
    ),
    right=1,
    because="In one step pair 0 turns by 57°, the next pair by only 18°. And no angle of pair 0 is new to the query: "
    "within eight tokens this pair has made a full turn.",
)


def stretched_board(learned):
    """RoPE's two learned queries read on eight tokens or on 32, while all pairs, or the slow ones, turn more slowly.

    learned: (scheme, rule) → the query of 16 numbers and the matrix w, as `two_rules.learn` gives them.
    """
    degrees = torch.rad2deg(position_angles(2, 16)[1])[:, None]  # of each pair, in one step
    inputs = {
        "learned": Input(degrees, "key", "learned: degrees a step", rows=PAIRS, at=(1, 1), editable=False),
        "sentences": Input(two_rules.sentences(LONG), hidden=True, editable=False),
    }
    for rule in two_rules.RULES:
        query, w = learned["RoPE", rule]
        inputs[f"query, {rule}"] = Input(query[None], "query", hidden=True, editable=False)
        inputs[f"w, {rule}"] = Input(w, hidden=True, editable=False)
    controls = [
        Control("read", "Tokens", (8, LONG)),
        Control("by", "Times slower", (1, 2, 4, 8), slider=True),
        Control("way", "Slower", tuple(map(str, Way)), numbers=tuple(Way)),
        Control("alone", "Fastest pairs left alone", tuple(range(8)), slider=True),
    ]
    tries = {
        "read 32 tokens": {"read": LONG},
        "divide all positions by {four}": Drag((1, 2, 4, 8), 4, lambda by: {"read": LONG, "by": by}),
        "take another base": {"read": LONG, "by": 4, "way": str(Way.SLOW)},
    }
    return Board(inputs, _steps(), controls, BOTH_RULES, "Learned on 8 tokens, read on 32", tries=tries)


def _steps():
    rules, wires = tuple(two_rules.RULES), ("now",)
    now, learned = ([f"{rule}, {how}" for rule in rules] for how in ("now", "learned"))
    scores = [
        Step(f"{rule}, {degrees}", scores_by_distance(f"query, {rule}", degrees, tokens=LONG), hidden=True)
        for degrees in ("now", "learned")
        for rule in rules
    ]
    heads = [Step(f"{name}, read", op.cut(name, at="read", part=0), hidden=True) for name in (*now, "sentences")]
    right = shares_right(*(step.name for step in heads), *(f"w, {rule}" for rule in rules))
    return [
        Step("now", slowed("learned", way="way", by="by", alone="alone"), "now", rows=PAIRS, at=(2, 1)),
        Step("times", op.divide("learned", "now"), "times slower", "scores", rows=PAIRS, at=(3, 1), wires=wires),
        *scores,
        Step("curves", curves_by_distance(*now, *learned), "score by distance", at=(4, 1), wires=wires),
        *heads,
        Step("right", right, "right answers", "output", rows=rules, columns=("share",), at=(5, 1), wires=wires),
    ]
