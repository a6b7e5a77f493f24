"""Attention as functions: each is built up line by line in a notebook and ends there as its `taught` cell."""

import math

import torch
import torch.nn.functional as F

from .checks import check_attention, check_merge, check_scores, check_share, check_split


def masked_softmax(scores, mask=None):
    """Softmax over the keys in which a masked key gets exactly 0, and so does every key of a fully masked row.

    Shapes: scores (…, n_queries, n_keys); mask bool, True = may attend, (n_queries, n_keys) or as many dimensions
    as scores, sizes of 1 broadcast; returns weights of the scores' shape. Each row sums to 1, or to 0 if dead.
    Raises: TypeError for integer scores or a mask that is not bool, ValueError for a mask that does not fit.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.2.3, "masking out (setting to −∞)".
    """
    check_scores(scores, mask)
    if mask is None:
        return torch.softmax(scores, dim=-1)
    dead = ~mask.any(dim=-1, keepdim=True)  # rows with nothing to attend to
    fill = torch.where(dead, 0.0, -math.inf).to(scores.dtype)  # a row of −∞ would become nan
    weights = torch.softmax(torch.where(mask, scores, fill), dim=-1)
    return weights.masked_fill(dead, 0.0)


def scaled_dot_product_attention(query, key, value, mask=None, *, scale=None, dropout_p=0.0):
    """softmax(query keyᵀ · scale) value: each output is an average of the values, weighted by how well keys match.

    Shapes: query (…, n_queries, d_k), key (…, n_keys, d_k), value (…, n_keys, d_v), mask as in `masked_softmax`;
    returns output (…, n_queries, d_v) and weights (…, n_queries, n_keys). scale is 1/√d_k unless given.
    dropout_p is applied to the weights whenever it is not 0; a dead row gives output and weights of exactly 0.
    Raises: TypeError or ValueError, naming the argument and both numbers, for dtypes or shapes that do not fit.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, equation 1.
    """
    check_attention(query, key, value, dropout_p)
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query * scale) @ key.transpose(-2, -1)  # (…, n_queries, n_keys)
    weights = F.dropout(masked_softmax(scores, mask), dropout_p)
    return weights @ value, weights  # (…, n_queries, d_v)


def split_heads(x, num_heads):
    """Give each head its own slice of the features.

    Shapes: x (batch, n, embed_dim); returns (batch, heads, n, head_dim), head h holding features
    h·head_dim to (h+1)·head_dim − 1 of every token; a view of x, no number is copied.
    Raises: ValueError if embed_dim is not divisible by num_heads or x is not 3-D, TypeError if it is no tensor.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.2.2.
    """
    check_split(x, num_heads)
    batch, n, embed_dim = x.shape
    x = x.view(batch, n, num_heads, embed_dim // num_heads)  # cut the features, tokens stay whole
    return x.transpose(1, 2)  # (batch, heads, n, head_dim)


def merge_heads(x):
    """Put the heads' features side by side again: the inverse of `split_heads`.

    Shapes: x (batch, heads, n, head_dim); returns (batch, n, heads · head_dim).
    Raises: ValueError if x is not 4-D, TypeError if it is no tensor.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.2.2, "Concat".
    """
    check_merge(x)
    batch, heads, n, head_dim = x.shape
    return x.transpose(1, 2).reshape(batch, n, heads * head_dim)


def share_heads(x, groups):
    """Give each group of neighbouring query heads the key or value head that they share (GQA; MQA if there is one).

    Shapes: x (…, kv_heads, n, head_dim); returns (…, kv_heads · groups, n, head_dim), where query head h finds what it
    shares: head h // groups of x.
    Raises: TypeError if x is no tensor or groups no whole number, ValueError for groups below 1 or fewer than three
    dimensions.
    Source: Ainslie et al. 2023, https://arxiv.org/abs/2305.13245, section 2.2; `enable_gqa` of
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """
    check_share(x, groups)
    return x.repeat_interleave(groups, dim=-3)  # (…, kv_heads · groups, n, head_dim)
