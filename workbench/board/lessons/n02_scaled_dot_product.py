"""The board of notebook 2."""

import math

import torch

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op

__all__ = ["softmax_board"]

SIZES = tuple(2**i for i in range(11))


def softmax_board():
    """Eight scores of a size that grows with d_k; divided by 1, by √d_k and by d_k, at any temperature."""
    keys = tuple(f"key {j}" for j in range(8))
    match = torch.tensor([[0.4, -0.3, 1.2, 0.0, -1.1, 0.7, 1.0, -0.6]])
    inputs = {"match": Input(match, "query", "how well each key matches", columns=keys, note="scores = this × √d_k")}
    steps = [Step("scores", op.scale("match", powers={"d_k": 0.5}), kind="scores", at=(1, 2), hidden=True)]
    for row, (name, power, words) in enumerate((("1", 0, "1"), ("root", -0.5, "√d_k"), ("d", -1, "d_k")), 1):
        scaled, weights = f"scores / {words}", f"weights, / {words}"
        powers = {"d_k": power, "temperature": -1}
        steps += [
            Step(scaled, op.scale("scores", powers=powers), at=(1, row + 1), note="divided by the temperature too"),
            Step(weights, op.softmax(scaled), at=(2, row + 1)),
            Step(
                f"entropy {name}",
                op.entropy(weights),
                title="entropy",
                at=(3, row + 1),
                note=f"at most ln 8 = {math.log(8):.2f}",
            ),
        ]
    controls = [
        Control("d_k", "d_k", SIZES, 16, slider=True),
        Control("temperature", "Temperature", (0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32), 1, slider=True),
    ]
    task = Task(
        "Set d_k to 256. Then bring the entropy of the undivided row of weights above 1.5, without changing a number "
        "in the first row of the board.",
        (("set", "d_k", 256), ("above", "entropy 1", 0, 0, 1.5), ("changed", {})),
        why="At which temperature does the undivided row have the weights of the row divided by √d_k at temperature 1?",
        answers=("256, which is d_k", "16, which is √d_k", "8, the number of keys"),
        right=1,
        because="A division by √d_k is the same as a temperature of √d_k: 16 for 256.",
    )
    tries = {
        "a key of {512} numbers, undivided": Drag(SIZES, 512, lambda d_k: {"d_k": d_k}),
        "halve the temperature": {"temperature": 0.5},
    }
    return Board(inputs, steps, controls, task, "Scores, scale and temperature", tries=tries)
