"""The 3×4 example: three tokens of four numbers, with weights small enough to work by hand, and every step of it."""

import math
from functools import partial
from typing import NamedTuple

import torch

from .checks import check_floating
from .functional import masked_softmax

float32 = partial(torch.tensor, dtype=torch.float32)  # whatever a notebook has set before it imports this

TOKENS = ("I", "like", "tea")  # names to talk by; the numbers mean nothing in particular

X = float32([[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 2.0], [1.0, 1.0, 1.0, 1.0]])
W_q = float32([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
W_k = float32([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
W_v = float32([[0.0, 2.0, 0.0], [0.0, 3.0, 0.0], [1.0, 0.0, 3.0], [1.0, 1.0, 0.0]])

# The sentence of exercise 1.1: it goes through the same matrices, and is worked out nowhere.
OTHER_X = float32([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]])


class Steps(NamedTuple):
    """Every intermediate of self-attention, in the order in which it is computed.

    Shapes: queries and keys (n, d_k), values and outputs (n, d_v), scores, scaled and weights (n_queries, n_keys),
    weighted_values (n_queries, n_keys, d_v): entry [i, j] is what key j adds to output i.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    scores: torch.Tensor
    scaled: torch.Tensor
    weights: torch.Tensor
    weighted_values: torch.Tensor
    outputs: torch.Tensor


def self_attention_steps(x, w_q, w_k, w_v, *, scale=None):
    """Self-attention on one sequence with every intermediate kept.

    Shapes: x (n, d_in), w_q and w_k (d_in, d_k), w_v (d_in, d_v); returns `Steps`. scale is 1/√d_k unless given;
    the 3×4 example by hand leaves it out, which is scale=1.
    Raises: TypeError for tensors that are not floating point, ValueError for shapes that do not fit.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, equation 1.
    """
    for name, matrix in (("x", x), ("w_q", w_q), ("w_k", w_k), ("w_v", w_v)):
        check_floating(name, matrix)
        if matrix.ndim != 2:
            raise ValueError(f"{name} must be a matrix, got shape {tuple(matrix.shape)}")
        if name != "x" and matrix.size(0) != x.size(1):
            raise ValueError(f"x has {x.size(1)} features, {name} has {matrix.size(0)} rows")
    if w_q.size(1) != w_k.size(1):
        raise ValueError(f"w_q makes {w_q.size(1)} features, w_k makes {w_k.size(1)}")
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    scores = queries @ keys.T  # (n_queries, n_keys)
    scaled = scores * (1 / math.sqrt(w_q.size(1)) if scale is None else scale)
    weights = masked_softmax(scaled)
    weighted_values = weights[:, :, None] * values[None]  # (n_queries, n_keys, d_v)
    return Steps(queries, keys, values, scores, scaled, weights, weighted_values, weighted_values.sum(dim=1))
