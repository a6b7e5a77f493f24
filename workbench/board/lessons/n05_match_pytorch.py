"""The board of notebook 5."""

import torch

from attn_lib.examples import TOKENS

from .. import Board, Control, Input, Step, Task
from .. import operations as op

__all__ = ["fused_board"]


def fused_board():
    """What a fused kernel keeps while it passes over the keys: a largest score, a sum, an output so far."""
    keys = tuple(f"k{j}" for j in range(6))
    queries = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    inputs = {
        "queries": Input(queries, "query", rows=TOKENS, at=(1, 1)),
        "keys": Input([[1.0, 0], [0, 1], [2, 1], [1, -1], [0, 2], [3, 0]], "key", rows=keys, at=(1, 2, 2)),
        "values": Input([[1.0, 0], [0, 2], [3, 1], [1, 1], [0, 4], [2, 2]], "value", rows=keys, at=(3, 1, 2)),
    }
    steps = []
    for name in ("keys", "values"):
        steps += [
            Step(f"columns of {name}", op.transposed(name), hidden=True),
            Step(f"columns of {name} seen", op.cut(f"columns of {name}", at="seen_keys", part=0), hidden=True),
            Step(f"{name} seen", op.transposed(f"columns of {name} seen"), hidden=True),
        ]
    steps += [
        Step("seen", op.product("queries", "keys seen", transpose="b"), "scores seen so far", columns=keys, at=(2, 1)),
        Step("largest", op.largest("seen"), "largest", at=(2, 2), note="one number for each row"),
        Step("less", op.subtract("seen", "largest"), "score − largest", hidden=True),
        Step("powers", op.exp("less"), "e^(score − largest)", at=(2, 3)),
        Step("sum", op.total("powers"), "their sum", at=(3, 3), note="one number for each row"),
        Step("gathered", op.product("powers", "values seen"), "powers @ values", hidden=True, kind="output"),
        Step("so far", op.divide("gathered", "sum"), "output so far", kind="output", at=(4, 3)),
        Step("scores", op.product("queries", "keys", transpose="b"), hidden=True),
        Step("weights", op.softmax("scores"), hidden=True),
        Step("attention", op.product("weights", "values"), at=(4, 1), note="with every key", wires=()),
    ]
    controls = [Control("seen_keys", "Keys seen", (1, 2, 3, 4, 5, 6), 1, slider=True)]
    task = Task(
        "Set the slider to four of the six keys. Then change keys until no number of the output so far "
        "differs by more than 0.01 from the attention with every key.",
        (("set", "seen_keys", 4), ("equal", "so far", "attention", 0.01), ("differ", "values", "nothing", 0.5)),
        why="Which scores could a kernel leave out?",
        answers=("the last ones", "those far below the largest of their row", "the negative ones"),
        right=1,
        because="For such scores e^(score − largest) is almost 0.",
    )
    steps.append(Step("nothing", op.scale("values", by=0.0), hidden=True))
    return Board(inputs, steps, controls, task, "What a fused kernel keeps")
