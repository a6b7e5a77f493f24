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
        "What looks wrong in it? Find a call on which it also *is* wrong.",
        "Write the shape after each line, with all sizes different. Whose axis comes first in its scores?",
        "Compare it with `scaled_dot_product_attention` and `padding_mask`: on every size, with a length of 0 too.",
    ],
)
def keys_first(q, k, v, lengths):
    """Nothing ails it.

    Key comes before query, so its table has a row for each *key*: then softmax has to run along −2, padding is hidden
    row by row, and the weights are turned before they meet the values. What would be a fault line by line is right
    together. Who reads lines finds an illness here; who asks for numbers finds none.
    """
    scores = k @ q.transpose(-2, -1) / math.sqrt(k.size(-1))
    absent = (torch.arange(k.size(1)) >= lengths[:, None])[:, :, None]
    scores = scores.masked_fill(absent, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-2).masked_fill(absent, 0.0)
    return weights.transpose(-2, -1) @ v
