"""What only the board of notebook 10 computes: reading with a cache. The page's half stands beside it."""

import math
from enum import StrEnum

import torch

from attn_lib.functional import merge_heads, scaled_dot_product_attention, share_heads, split_heads

from ..operations import operation, row_words, turned


class Fault(StrEnum):
    """What can be wrong with a cache, in the words of the board's menu."""

    NONE = "none"
    TOP_LEFT_MASK = "top-left mask"
    NO_MASK = "no mask once there is a cache"
    POSITIONS_AGAIN = "positions start again"
    HEADS_AS_LIST = "heads repeated as a list"
    WINDOW_SHORT = "window one too short"


@operation
def rotate_in_chunks(a, *, angle, chunk, fault=Fault.NONE):
    """RoPE, `angle` degrees a position; with the fault POSITIONS_AGAIN they are counted from 0 in each chunk."""
    positions = torch.arange(a.size(0), dtype=a.dtype)
    return turned(a, angle, positions % chunk if fault == Fault.POSITIONS_AGAIN else positions)


@operation
def cache_mask(*, tokens, read, chunk, window, fault=Fault.NONE):
    """Who hears whom when the first `read` of so many tokens come in chunks and a cache keeps window − 1 of them.

    A mask, closed for tokens that have not been read; the faults of a cache that a mask can have are built in.
    """
    mask = torch.zeros(tokens, tokens, dtype=torch.float64)
    for begin in range(0, read, chunk):
        end, first = min(begin + chunk, read), max(0, begin - window + 1 + (fault == Fault.WINDOW_SHORT))
        query, key = torch.arange(begin, end)[:, None], torch.arange(first, end)
        distance = query - begin - (key - first) if fault == Fault.TOP_LEFT_MASK else query - key
        heard = (distance >= 0) & (distance < window)
        mask[begin:end, first:end] = 1.0 if fault == Fault.NO_MASK and begin else heard.double()
    return mask


@operation
def with_first(mask, *, stays):
    """A mask that is open for the first key too, if it stays in the cache."""
    first = torch.zeros_like(mask)
    first[:, 0] = stays
    return mask.maximum(first)


@operation(words=lambda *_: ([], []), kind=lambda *_: "scores")
def keys_for_the_next(mask, *, window, stays):
    """How many keys a cache holds for the token after the last: window − 1, and the first if that one stays."""
    in_window = min(len(mask), window - 1)
    return torch.tensor([[in_window + float(stays and in_window < len(mask))]], dtype=mask.dtype)


@operation
def kept_rows(a, *, read, window, fault=Fault.NONE):
    """The rows that a cache keeps for the next token, window − 1 of those that were read; the others are nan."""
    there, rows = torch.full_like(a, math.nan), slice(max(0, read - window + 1 + (fault == Fault.WINDOW_SHORT)), read)
    there[rows] = a[rows]
    return there


def _shared(x, heads, stored, fault):
    """(heads, n, head_dim) of stored heads side by side: neighbours share, or the whole list is repeated."""
    x, groups = split_heads(x[None], stored)[0], heads // stored
    return x.repeat(groups, 1, 1) if fault == Fault.HEADS_AS_LIST else share_heads(x, groups)


@operation
def shared_outputs(q, k, v, mask, *, heads, stored, fault=Fault.NONE):
    """Attention of several heads that share stored ones: their outputs side by side."""
    k, v = (_shared(x, heads, stored, fault) for x in (k, v))
    output, _ = scaled_dot_product_attention(split_heads(q[None], heads)[0], k, v, mask.bool())
    return merge_heads(output[None])[0]


@operation
def shared_weights(q, k, mask, *, heads, stored, of, fault=Fault.NONE, read=math.inf):
    """The weights of one token in each head, of heads that share stored ones; nan if it has not been read."""
    k = _shared(k, heads, stored, fault)
    weights = scaled_dot_product_attention(split_heads(q[None], heads)[0], k, k, mask.bool())[1][:, of]
    return weights if of < read else torch.full_like(weights, math.nan)


@operation(words=row_words)
def max_difference(a, b, *, read=math.inf):
    """How far apart two matrices are: the largest difference in each row; rows that have not been read are nan."""
    has_been_read = torch.arange(a.size(0))[:, None] < read
    return torch.where(has_been_read, (a - b).abs().max(dim=1, keepdim=True).values, math.nan)


@operation
def count(a, b):
    """How many numbers two matrices hold together, those that are nan left out."""
    return torch.stack([a.isfinite().sum() + b.isfinite().sum()]).double()[None]
