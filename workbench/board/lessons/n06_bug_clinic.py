"""The board of notebook 6."""

import math

from attn_lib.examples import TOKENS

from .. import Board, Control, Input, Step, Task
from .. import operations as op

__all__ = ["patient_board"]

SWAPPED = "keys ask, queries answer"
FAULTS = ("softmax over the queries", SWAPPED, "scores divided by d_k")


def patient_board():
    """A patient beside its cure: the same numbers through a faulty attention and through a right one."""
    inputs = {
        "queries": Input([[1.0, 0, 1], [0, 1, 2], [1, 1, 0]], "query", rows=TOKENS, at=(1, 1)),
        "keys": Input([[0.0, 1, 1], [2, 1, 0], [1, 0, 2]], "key", rows=TOKENS, at=(1, 2)),
        "values": Input([[1.0, 2, 3], [2, 8, 0], [2, 6, 3]], "value", rows=TOKENS, at=(1, 3)),
    }
    steps = [
        Step("products", op.product("queries", "keys", transpose="b"), "queries @ keysᵀ", hidden=True),
        Step("scores", op.scale("products", by=1 / math.sqrt(3)), at=(2, 1), note="queries @ keysᵀ / √d_k"),
        Step("weights", op.softmax("scores"), at=(3, 1), note="healthy"),
        Step("outputs", op.product("weights", "values"), at=(4, 1), note="healthy"),
        Step("turned", op.transposed("scores"), hidden=True, rows=TOKENS, columns=TOKENS),
        Step("small", op.scale("products", by=1 / 3), hidden=True),
        Step("down", op.softmax("scores", over="column"), "softmax of each column", hidden=True),
        Step("asked", op.softmax("turned"), "softmax of keys @ queriesᵀ / √d_k", hidden=True),
        Step("flat", op.softmax("small"), "softmax of queries @ keysᵀ / d_k", hidden=True),
        Step("sick weights", op.choose("down", "asked", "flat", chosen="fault"), at=(3, 2), note="the patient"),
        Step("sick outputs", op.product("sick weights", "values"), at=(4, 2), note="the patient"),
        Step("difference", op.subtract("sick outputs", "outputs"), "difference", kind="scores", at=(5, 1, 2)),
        Step("nothing", op.scale("scores", by=0.0), hidden=True),
    ]
    task = Task(
        f"Choose the fault “{SWAPPED}” and change the numbers, not all to 0, until the patient looks "
        "healthy: the outputs agree and the scores differ from 0.",
        (
            ("set", "fault", FAULTS.index(SWAPPED)),
            ("equal", "outputs", "sick outputs"),
            ("differ", "scores", "nothing", 0.5),
        ),
        why="So on which inputs may a test not be built?",
        answers=(
            "on large ones",
            "on those whose scores are symmetric, as with queries equal to keys",
            "on small ones",
        ),
        right=1,
        because="Symmetric scores are their own transpose, and the fault cannot be seen.",
    )
    return Board(inputs, steps, [Control("fault", "Fault", FAULTS)], task, "A patient beside its cure")
