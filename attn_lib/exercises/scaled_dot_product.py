"""Exercises of notebook 2: a stable softmax, and batched attention."""

import math

import torch

from ..functional import scaled_dot_product_attention
from .catalogue import Probe, also, exercise, misconception
from .probes import normal

# ----------------------------------------------------------------------------------------------------------- 2.1


def _huge():
    return (torch.tensor([[1e6, 0.0, -1e6], [-1e6, -1e6 + 64.0, -1e6]]),)


def _far_apart():
    return (torch.tensor([[500.0, 499.0], [-500.0, -501.0], [0.0, 1.0]]),)


def _masked():
    return (normal(3, 4, seed=5).masked_fill(torch.eye(3, 4, dtype=torch.bool), -math.inf),)


@exercise(
    "2.1",
    "A stable softmax",
    "softmax(scores)",
    "notebook 2, “A softmax that does not break”",
    probes=[
        Probe(lambda: (torch.tensor([[1.0, 2.0], [0.0, 3.0]]),)),
        Probe(lambda: (normal(2, 3),)),
        Probe(lambda: (normal(4, 4) * 2,)),
        Probe(lambda: (normal(2, 3, 5) * 3,)),
        Probe(lambda: (normal(2, 3, 4, 5),)),
        Probe(lambda: (normal(6),), edge=True),
        Probe(lambda: (normal(3, 1),), edge=True),
        Probe(_far_apart, edge=True),
        Probe(_huge, edge=True),
        Probe(_masked, edge=True),
    ],
    returns=("the result",),
    gradients=True,
    hints=[
        "Softmax is `exp` divided by the sum of `exp`, along the last axis.",
        "What breaks is exp(1 000 000). Subtracting the same number from every score of a row leaves the result "
        "as it is; which number keeps exp in bounds?",
        "`scores.amax(dim=-1, keepdim=True)` is the largest of each row, kept as a column so that it can be "
        "subtracted.",
    ],
)
def softmax(scores):
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))  # the largest becomes exp(0) = 1
    return exps / exps.sum(dim=-1, keepdim=True)


@misconception(
    "2.1",
    "overflow",
    "The formula is right, but exp overflows",
    "On paper it is finished. In float32 exp(89) is already infinite, and infinity divided by infinity is NaN. "
    "Scores that far below zero fare no better: 0 divided by 0.",
    telltale=_huge,
)
def _(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)


@misconception(
    "2.1",
    "global-max",
    "The largest score of the whole tensor is subtracted, not that of each row",
    "`scores.max()` without a dim stops the overflow, and on tame numbers nothing shows. A row far below the "
    "largest one then underflows to 0 divided by 0.",
    telltale=_far_apart,
)
def _(scores):
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum(dim=-1, keepdim=True)


@misconception(
    "2.1",
    "mean",
    "The mean is subtracted, not the largest",
    "Any number may be subtracted on paper. Only with the largest is every exponent at most 0, so that exp "
    "cannot overflow.",
    telltale=_huge,
)
def _(scores):
    exps = torch.exp(scores - scores.mean(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)


@misconception(
    "2.1",
    "clamp",
    "Large scores are cut off",
    "Clamping stops the overflow, but two scores beyond the limit become equal, and so do their weights.",
    telltale=_far_apart,
)
def _(scores):
    exps = torch.exp(scores.clamp(-80, 80))
    return exps / exps.sum(dim=-1, keepdim=True)


@misconception(
    "2.1",
    "wrong-axis",
    "The sum runs over the wrong axis",
    "Each column sums to 1 here. A query's scores stand in a row, the last axis: `dim=-1`.",
    reread="notebook 2, “Break it”",
)
def _(scores):
    return torch.softmax(scores, dim=-2)


@also("2.1", "wrong-axis")
def _(scores):
    return torch.softmax(scores, dim=0)


@also("2.1", "wrong-axis")
def _(scores):
    return torch.softmax(scores, dim=1)


@misconception(
    "2.1",
    "whole-tensor",
    "The sum runs over the whole tensor",
    "`.sum()` without a dim adds everything up, so that all numbers together make 1. Each row has to sum to 1 by "
    "itself.",
)
def _(scores):
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum()


@misconception(
    "2.1",
    "keepdim",
    "The sums have lost their axis",
    "Without `keepdim=True` the sums of (2, 3) have shape (2,), which broadcasts along the wrong axis: a square "
    "matrix is divided by the sums of other rows and nothing complains.",
)
def _(scores):
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1)


@also("2.1", "keepdim")
def _(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=-1)


@misconception(
    "2.1",
    "log",
    "This is the logarithm of the softmax",
    "`log_softmax` serves loss functions. Weights are between 0 and 1.",
)
def _(scores):
    return torch.log_softmax(scores, dim=-1)


@misconception(
    "2.1",
    "no-exp",
    "The scores are divided by their sum, without exp",
    "That also makes rows sum to 1, but negative scores become negative weights, and a sum near 0 blows up.",
)
def _(scores):
    return scores / scores.sum(dim=-1, keepdim=True)


@misconception(
    "2.1",
    "not-divided",
    "exp is taken, but nothing is divided by the sum",
    "exp makes every number positive; only the division makes a row sum to 1.",
)
def _(scores):
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


@also("2.1", "not-divided")
def _(scores):
    return torch.exp(scores)


# ----------------------------------------------------------------------------------------------------------- 2.2


def _qkv(*lead, n_q, n_k, d_k, d_v, seed):
    q, k = normal(*lead, n_q, d_k, seed=seed), normal(*lead, n_k, d_k, seed=seed + 1)
    return q, k, normal(*lead, n_k, d_v, seed=seed + 2)


def _keys_together(answer):
    q, k, v = _qkv(2, n_q=3, n_k=5, d_k=4, d_v=2, seed=80)
    order = torch.tensor([3, 0, 4, 1, 2])
    return torch.allclose(answer(q, k[:, order], v[:, order])[0], answer(q, k, v)[0], atol=1e-4)


@exercise(
    "2.2",
    "Attention, from an empty cell",
    "attention(q, k, v)",
    "notebook 2, “Putting it together”",
    probes=[
        Probe(lambda: _qkv(1, n_q=2, n_k=3, d_k=4, d_v=5, seed=1)),
        Probe(lambda: _qkv(2, n_q=3, n_k=4, d_k=6, d_v=5, seed=2)),
        Probe(lambda: _qkv(2, n_q=5, n_k=5, d_k=3, d_v=3, seed=3)),
        Probe(lambda: _qkv(2, 3, n_q=4, n_k=5, d_k=7, d_v=6, seed=4)),
        Probe(lambda: _qkv(n_q=3, n_k=4, d_k=2, d_v=5, seed=5), edge=True),
        Probe(lambda: _qkv(2, n_q=3, n_k=1, d_k=2, d_v=4, seed=6), edge=True),
    ],
    returns=("the output", "the weights"),
    gradients=True,
    invariants=[("the output changes when keys and values change places together", _keys_together)],
    hints=[
        "scores → weights → output. Keep an eye on the shapes: `(…, n_queries, n_keys)` for scores and weights.",
        "`k.transpose(-2, -1)` swaps the last two axes and leaves the others alone; `@` does the same.",
        "Divide the scores by `math.sqrt(q.size(-1))`, take the softmax along `dim=-1`, multiply by `v`, return both.",
    ],
    shows=(scaled_dot_product_attention,),
)
def attention(q, k, v):
    return scaled_dot_product_attention(q, k, v)


def _attend(scores, v):
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


@misconception(
    "2.2",
    "no-scale",
    "The scores are not divided by √d_k",
    "It runs, rows sum to 1, and with few features it hardly shows. With many the scores spread by √d_k, softmax "
    "hardens to nearly 0 and 1, and gradients vanish.",
    reread="notebook 2, “Why divide by √d_k?”",
)
def _(q, k, v):
    return _attend(q @ k.transpose(-2, -1), v)


@misconception(
    "2.2",
    "d-not-root",
    "The scores are divided by d_k, not by its root",
    "The variance of a score is d_k; its spread, which is what division changes, is √d_k.",
    reread="notebook 2, “Why divide by √d_k?”",
)
def _(q, k, v):
    return _attend(q @ k.transpose(-2, -1) / q.size(-1), v)


@misconception(
    "2.2",
    "wrong-size-in-root",
    "The root is taken of another size than d_k",
    "A score is a sum of d_k products, one for each feature of a query: `q.size(-1)`. Neither the width of the "
    "values nor the number of tokens enters into it.",
    reread="notebook 2, “Why divide by √d_k?”",
)
def _(q, k, v):
    return _attend(q @ k.transpose(-2, -1) / math.sqrt(v.size(-1)), v)


@also("2.2", "wrong-size-in-root")
def _(q, k, v):
    return _attend(q @ k.transpose(-2, -1) / math.sqrt(k.size(-2)), v)


@also("2.2", "wrong-size-in-root")
def _(q, k, v):
    return _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(-2)), v)


@also("2.2", "wrong-size-in-root")
def _(q, k, v):
    return _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(0)), v)


@also("2.2", "wrong-size-in-root")
def _(q, k, v):
    return _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(1)), v)


@misconception(
    "2.2",
    "multiplied",
    "The scores are multiplied by √d_k",
    "It makes the spread larger where it should make it smaller.",
    reread="notebook 2, “Why divide by √d_k?”",
)
def _(q, k, v):
    return _attend(q @ k.transpose(-2, -1) * math.sqrt(q.size(-1)), v)


@misconception(
    "2.2",
    "scaled-after",
    "The division comes after softmax",
    "Rows then sum to 1/√d_k. The scores have to be made smaller before softmax sees them.",
    reread="notebook 2, “Why divide by √d_k?”",
)
def _(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1) / math.sqrt(q.size(-1))
    return weights @ v, weights


@misconception(
    "2.2",
    "wrong-axis",
    "The softmax runs over the wrong axis",
    "`dim=-2`, or `dim=1` in three dimensions, is the axis of the queries. The shapes are the same, but it is "
    "the columns that sum to 1.",
    reread="notebook 2, “Break it”",
)
def _(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-2)
    return weights @ v, weights


@also("2.2", "wrong-axis")
def _(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=1)
    return weights @ v, weights


@also("2.2", "wrong-axis")
def _(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=0)
    return weights @ v, weights


@misconception(
    "2.2",
    "softmax-lost",
    "The values are multiplied by the scores: the softmax was thrown away",
    "A line `torch.softmax(scores, dim=-1)` changes nothing unless its result gets a name. The shape of the "
    "output is the same.",
    reread="notebook 2, “Larger, and a false friend”",
)
def _(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores @ v, torch.softmax(scores, dim=-1)


@also("2.2", "softmax-lost")
def _(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores @ v, scores


@also("2.2", "softmax-lost")
def _(q, k, v):
    scores = q @ k.transpose(-2, -1)
    return scores @ v, scores


@also("2.2", "softmax-lost")
def _(q, k, v):
    scores = q @ k.transpose(-2, -1)
    return scores @ v, torch.softmax(scores, dim=-1)


@misconception(
    "2.2",
    "scores-returned",
    "The output is right; what comes with it are the scores, not the weights",
    "“Scores” are before softmax, “weights” after. The second result is to be the weights, rows that sum to 1.",
)
def _(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return torch.softmax(scores, dim=-1) @ v, scores


@misconception(
    "2.2",
    "order",
    "The two results have changed places",
    "The output comes first, then the weights, as everywhere in this series.",
)
def _(q, k, v):
    return scaled_dot_product_attention(q, k, v)[::-1]


@misconception(
    "2.2",
    "only-3d",
    "It works for three dimensions only",
    "`torch.bmm` and `transpose(1, 2)` count axes from the front. Counted from the back, `@` and `transpose(-2, "
    "-1)`, the same line works for any number of leading axes.",
    reread="notebook 2, “Any leading dimensions”",
)
def _(q, k, v):
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, v), weights
