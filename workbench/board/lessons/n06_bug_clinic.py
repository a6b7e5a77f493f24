"""The board of notebook 6."""

import math

from attn_lib.examples import TOKENS

from .. import Board, Control, Input, Step, Task
from .. import operations as op

__all__ = ["patient_board"]

SWAPPED = "queries and keys exchanged"
FAULTS = ("softmax over the queries", SWAPPED, "scores divided by d_k")


def patient_board():
    """A patient beside right code: the same numbers go through a faulty attention and a right one."""
    inputs = {
        "queries": Input([[1.0, 0, 1], [0, 1, 2], [1, 1, 0]], "query", rows=TOKENS, at=(1, 1)),
        "keys": Input([[0.0, 1, 1], [2, 1, 0], [1, 0, 2]], "key", rows=TOKENS, at=(1, 2)),
        "values": Input([[1.0, 2, 3], [2, 8, 0], [2, 6, 3]], "value", rows=TOKENS, at=(1, 3)),
    }
    steps = [
        Step("products", op.product("queries", "keys", transpose="b"), "queries @ keysᵀ", hidden=True),
        Step("scores", op.scale("products", by=1 / math.sqrt(3)), at=(2, 1), note="queries @ keysᵀ / √d_k"),
        Step("weights", op.softmax("scores"), at=(3, 1), note="right code"),
        Step("outputs", op.product("weights", "values"), at=(4, 1), note="right code"),
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
        f"Choose the fault “{SWAPPED}”. Change the numbers until both outputs are equal, so that the "
        "fault cannot be seen. At least one score must not be 0.",
        (
            ("set", "fault", FAULTS.index(SWAPPED)),
            ("equal", "outputs", "sick outputs"),
            ("differ", "scores", "nothing", 0.01),
        ),
        why="Which inputs should a test for this fault not use?",
        answers=(
            "large ones",
            "those with symmetric scores, for example queries equal to keys",
            "small ones",
        ),
        right=1,
        because="Symmetric scores are equal to their transpose, so the fault changes nothing.",
    )
    return Board(inputs, steps, [Control("fault", "Fault", FAULTS)], task, "A patient beside right code")
