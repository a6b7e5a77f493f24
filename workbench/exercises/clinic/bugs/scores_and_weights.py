"""Bugs of scores and weights, without a mask."""

import math

import torch

from attn_lib.functional import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads

from ..bug import bug
from ..correct import by_library, filled, heads_of, plain, scaled_by
from ..interfaces import HEADS, PLAIN


@bug(
    "6.1",
    PLAIN,
    fixes=[
        {2: ("transpose(-2, -1)", "transpose(-2, -1) / math.sqrt(q.size(-1))")},
        {3: ("(scores, mask)", "(scores / math.sqrt(q.size(-1)), mask)")},
    ],
    faults=("wrong scale",),
    section="02#text-29",
    variants={
        "it divides by d_k, not by its root": scaled_by(lambda q, k, v: 1 / q.size(-1)),
        "it *multiplies* by √d_k": scaled_by(lambda q, k, v: q.size(-1) ** 0.5),
        "it divides by the root of the number of keys": scaled_by(lambda q, k, v: k.size(-2) ** -0.5),
    },
    hints=[
        "How large are its scores, with 8 features and with 800?",
        "Use a unit matrix as values, `torch.eye(5).expand(2, 5, 5)`: then the output is the weights.",
        "The weights of this patient sum to 1. In the patients without softmax, or with softmax along the "
        "wrong axis, they do not. Use two conditions: the weights sum to 1, and they differ from the weights "
        "of right code.",
    ],
)
def unscaled(q, k, v, mask=None):
    """Nothing divides by √d_k.

    With more features the scores grow, and softmax then gives nearly all weight to one key.
    """
    scores = q @ k.transpose(-2, -1)
    return masked_softmax(scores, mask) @ v


@unscaled.tested_by
def detects(attention):
    q, k, unit = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.eye(5).expand(2, 5, 5)
    weights = attention(q, k, unit)  # with a unit matrix for values the weights come out
    expected = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(8), dim=-1)
    are_weights = torch.allclose(weights.sum(dim=-1), torch.ones(2, 3), atol=1e-4)
    return are_weights and not torch.allclose(weights, expected, atol=1e-4)


@bug(
    "6.2",
    HEADS,
    fixes=[{4: ("x.size", "q.size")}],
    faults=("wrong scale",),
    section="04#text-31",
    variants={
        "it divides by nothing": heads_of(scaled_by(lambda q, k, v: 1.0)),
        "it divides by head_dim, not by its root": heads_of(scaled_by(lambda q, k, v: 1 / q.size(-1))),
        "it divides by the root of heads + head_dim": heads_of(
            scaled_by(lambda q, k, v: 1 / math.sqrt(q.size(1) + q.size(-1)))
        ),
    },
    hints=[
        "With one head this patient is right. What changes with several heads?",
        "`trace` it with 3 heads and 6 features. By which number are the scores divided, and which should it be?",
        "With a `w_q` of zeros all scores are 0. Then this patient is right, but patients with wrong heads or"
        " projections are still wrong. With other scores this patient is wrong, too.",
    ],
)
def scaled_by_d_model(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """√embed_dim is used where √head_dim belongs.

    With 768 features in 12 heads, each head multiplies 64 numbers. Divided by √768 in place of √64, the scores are 3.5
    times too small.
    """
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    scores = q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))
    return merge_heads(masked_softmax(scores, mask) @ v) @ w_o


@scaled_by_d_model.tested_by
def detects(attention):
    x, (w_q, w_k, w_v, w_o) = torch.randn(2, 5, 6), torch.randn(4, 6, 6)

    def wrong(w_q):
        q, k, v = (split_heads(x @ w, 3) for w in (w_q, w_k, w_v))
        expected = merge_heads(scaled_dot_product_attention(q, k, v)[0]) @ w_o
        return not torch.allclose(attention(x, w_q, w_k, w_v, w_o, 3), expected, atol=1e-4)

    return wrong(w_q) and not wrong(torch.zeros(6, 6))  # right where all scores are 0: it is the scores


@bug(
    "6.3",
    PLAIN,
    fixes=[{5: ("dim=-2", "dim=-1")}],
    faults=("wrong axis",),
    section="02#text-40",
    variants={
        "softmax runs over queries and keys at once": plain(
            lambda scores, mask: torch.softmax(filled(scores, mask, -1e9).flatten(-2), -1).view_as(scores)
        ),
        "softmax runs along the batch": plain(lambda scores, mask: torch.softmax(filled(scores, mask, -1e9), dim=0)),
    },
    hints=[
        "What do the weights of one query sum to? A unit matrix as values shows them.",
        "In right code the output of a query does not depend on the other queries.",
        "Call the patient twice, the second time with all queries changed except one. In right code the output of this "
        "one stays the same.",
    ],
)
def softmax_over_queries(q, k, v, mask=None):
    """Softmax along the queries.

    With `dim=-2` the columns sum to 1, and not the rows.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, dim=-2).nan_to_num() @ v


@softmax_over_queries.tested_by
def detects(attention):
    q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
    others_ask = torch.randn(2, 3, 8)
    others_ask[0, 0] = q[0, 0]  # the first query stays, all others change
    return not torch.allclose(attention(q, k, v)[0, 0], attention(others_ask, k, v)[0, 0], atol=1e-4)


@bug(
    "6.4",
    PLAIN,
    fixes=[{6: ("scores", "weights")}, {3: ("weights =", "scores =")}],
    faults=("not used",),
    section="02#text-13",
    variants={
        "`log_softmax` in place of softmax": plain(
            lambda scores, mask: torch.log_softmax(filled(scores, mask, -1e9), dim=-1)
        ),
        "`sigmoid` in place of softmax": plain(lambda scores, mask: torch.sigmoid(filled(scores, mask, -1e9))),
        "twice the scores, and no softmax": plain(lambda scores, mask: 2 * filled(scores, mask, 0.0)),
    },
    hints=[
        "If weights are between 0 and 1 and sum to 1, how large can the output be?",
        "Follow each name from the line that makes it to the lines that use it.",
        "With one query and one key the weight must be 1. What must the output be? Other patients are right "
        "in this case.",
    ],
)
def softmax_thrown_away(q, k, v, mask=None):
    """The result of softmax is not used.

    One line computes the softmax, and a later line multiplies the raw scores by the values. Such outputs are not
    averages: they can be far larger than any value.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = masked_softmax(scores, mask)
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
    return scores @ v


@softmax_thrown_away.tested_by
def detects(attention):
    q, k, v = torch.randn(1, 1, 8), torch.randn(1, 1, 8), torch.randn(1, 1, 4)
    return not torch.allclose(attention(q, k, v), v, atol=1e-4)  # one key only: its weight is 1


@bug(
    "6.20",
    PLAIN,
    fixes=[
        {5: ("q, k, v", "k, q, v")},
        {2: ("key, query, value", "query, key, value")},
        {3: ("query, key, value", "key, query, value")},
    ],
    faults=("exchanged", "wrong order"),
    section="02#text-20",
    variants={
        "queries are also used as keys: `attention(q, q, v)`": lambda q, k, v, mask=None: by_library(q, q, v, mask),
        "keys are also used as queries: `attention(k, k, v)`": lambda q, k, v, mask=None: by_library(k, k, v, mask),
        "query and key are exchanged only if their shapes agree: there is no error": lambda q, k, v, mask=None: (
            by_library(*((k, q) if q.shape == k.shape else (q, k)), v, mask)
        ),
    },
    hints=[
        "With as many queries as keys there is no error. With other sizes there is: read it.",
        "Change one query: which outputs may change? Use as many queries as keys, otherwise this patient "
        "raises an error.",
        "In right code a query changes its own output and no other. A softmax along the wrong axis breaks "
        "this rule, too. A second condition tells the two apart: with values of 1, this patient returns 1.",
    ],
)
def key_as_query(q, k, v, mask=None):
    """The keys are passed as queries.

    Some functions take key, query, value and others take query, key, value. In self-attention all sizes are equal, so
    there is no error.
    """

    def attend(key, query, value):
        return scaled_dot_product_attention(query, key, value, mask)[0]

    return attend(q, k, v)


@key_as_query.tested_by
def detects(attention):
    q, k, v = torch.randn(3, 2, 5, 8)
    changed = q.clone()
    changed[:, 1:] = torch.randn(2, 4, 8)  # all queries but the first
    moves = (attention(q, k, v) - attention(changed, k, v)).abs().amax(dim=(0, 2)) > 1e-4  # for each query
    is_average = torch.allclose(attention(q, k, torch.ones(2, 5, 8)), torch.ones(2, 5, 8), atol=1e-4)
    return is_average and moves.tolist() != [False, True, True, True, True]
