"""One who lies in the clinic and is healthy."""

import math

import torch

from ..bug import bug
from ..interfaces import LENGTHS


@bug(
    "6.34",
    LENGTHS,
    fixes=[],
    faults=(),
    gradients=True,
    section="02#text-40",
    variants={},
    hints=[
        "What looks wrong in it? Find a call on which its output *is* wrong.",
        "Write the shape after each line, with all sizes different. Which axis comes first in its scores, "
        "queries or keys?",
        "Compare it with `scaled_dot_product_attention` and `padding_mask`: on every size, with a length of 0 too.",
    ],
)
def keys_first(q, k, v, lengths):
    """This patient has no fault.

    It computes k @ qᵀ, so each row of its table belongs to a *key*. So softmax has to run along axis −2, padding is
    hidden row by row, and the weights are transposed before they are multiplied by the values. Each of these lines
    alone would be a fault; together they are right. If you only read the lines, you find a fault; if you compare
    numbers, you find none.
    """
    scores = k @ q.transpose(-2, -1) / math.sqrt(k.size(-1))
    absent = (torch.arange(k.size(1)) >= lengths[:, None])[:, :, None]
    scores = scores.masked_fill(absent, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-2).masked_fill(absent, 0.0)
    return weights.transpose(-2, -1) @ v
