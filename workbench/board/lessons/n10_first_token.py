"""The third board of notebook 10: a window of a cache, with and without the first token."""

import torch

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op
from .n10_cache_operations import cache_mask, keys_for_the_next, max_difference, with_first

__all__ = ["first_token_board"]

WORDS = ("I", "sit", "still", "till", "it", "is", "all", "lit")
FEATURES = ("rest", "rhyme")
REST, RHYME = 4.0, 8.0
LOOKS = WORDS.index("lit")
FOR = WORDS.index("it")
VALUES = (0.0, 2.0, 8.0, 6.0, 9.0, 4.0, 7.0, 5.0)
STAYS = ("leaves the window", "stays in the cache")
FOUR_KEYS = Task(
    "Leave the values as they are. Find the setting in which the cache holds four keys at most and no "
    "output is off by 1 or more.",
    (("changed", {}), ("below", "held", 0, 0, 4.5), ("below", "most", 0, 0, 1)),
    why="What is the first token good for, here?",
    answers=(
        "Its value is what the other tokens look for",
        "It takes the weight that a token does not need, and adds nothing: its value is 0",
        "It stands at position 0, so RoPE does not turn its key",
    ),
    right=1,
    because="Weights sum to 1 whether a token looks for something or not. Without the first key, the keys of "
    "the window get its weight, and so their values are in the output.",
)


def first_token_board():
    """One head over eight tokens that rests on the first; only the last token looks for something, three steps back."""
    queries, keys = torch.zeros(8, 2), torch.zeros(8, 2)
    queries[:, 0], queries[LOOKS, 1] = 1, RHYME
    keys[0, 0], keys[FOR, 1] = REST, 1
    words = {"rows": WORDS, "columns": FEATURES}
    inputs = {
        "queries": Input(queries, "query", **words, hidden=True),
        "keys": Input(keys, "key", **words, hidden=True),
        "values": Input(torch.tensor(VALUES)[:, None], "value", rows=WORDS, at=(1, 1)),
    }
    controls = [
        Control("window", "Window", tuple(range(2, 9)), 8, slider=True),
        Control("first", "The first token", STAYS),
    ]
    tries = {
        "a window of {three}": Drag(range(2, 9), 3, lambda window: {"window": window}),
        "keep the first token": {"window": 3, "first": STAYS[1]},
    }
    return Board(inputs, _steps(), controls, FOUR_KEYS, "A window, and the first token", tries=tries)


def _steps():
    all_of_them = {"tokens": 8, "read": 8, "chunk": 1}
    return [
        Step("scores", op.product("queries", "keys", transpose="b"), hidden=True),
        Step("all", cache_mask(**all_of_them, window=8), hidden=True),
        Step("in window", cache_mask(**all_of_them, window="window"), hidden=True),
        Step("open", with_first("in window", stays="first"), hidden=True),
        Step("whole weights", op.masked("scores", "all"), hidden=True),
        Step(
            "whole",
            op.product("whole weights", "values"),
            "without a window",
            at=(3, 1),
            wires=("values",),
        ),
        Step("weights", op.masked("scores", "open"), rows=WORDS, columns=WORDS, at=(2, 1)),
        Step("outputs", op.product("weights", "values"), at=(4, 1)),
        Step("off", max_difference("outputs", "whole"), hidden=True),
        Step(
            "as a row",
            op.transposed("off"),
            "off by",
            "scores",
            rows=(),
            columns=WORDS,
            at=(2, 2),
            wires=(),
            strip=True,
        ),
        Step("most", op.largest("as a row"), hidden=True),
        Step("held", keys_for_the_next("in window", window="window", stays="first"), "keys held", at=(4, 2), wires=()),
    ]
