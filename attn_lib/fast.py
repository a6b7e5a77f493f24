"""Attention with its weights at the speed of the cache: the taught function's numbers, a block of rows at a time.

The plain function writes all scores to memory, reads them for softmax, writes all weights, reads those again; at
length 1024 moving those numbers takes longer than computing them. Here the scores of one head, or of some of its rows,
are made, masked, put through softmax and multiplied while they are still in the processor's cache.
"""

import itertools
import math

import torch
import torch.nn.functional as F
from torch.autograd.function import once_differentiable

from .functional import scaled_dot_product_attention
from .masks import causal_mask

BLOCK = 2**20  # scores at a time: 4 MB in float32, one whole head of length 1024
CAUSAL_ROWS = 256  # with more, too much is computed above the diagonal; with fewer, the cores wait for each other
WORTH_IT = 2**23  # below so many weights, 32 MB in float32, the plain function is as fast


def attention_with_weights(query, key, value, mask=None, *, is_causal=False, dropout_p=0.0):
    """scaled_dot_product_attention for heads, fast where there is much to compute on a CPU and the same everywhere.

    Shapes: query (batch, heads, n_queries, d), key and value (batch, heads, n_keys, d), mask of 2 or 4 dimensions;
    returns output (batch, heads, n_queries, d) and weights (batch, heads, n_queries, n_keys). is_causal, without a
    mask, is `causal_mask(n_queries, n_keys)` and leaves out what that hides. Can be differentiated once.
    Raises: as `scaled_dot_product_attention`.
    Source: the row-by-row softmax of Milakov and Gimelshein 2018, https://arxiv.org/abs/1805.02867, without its
    running maximum, since whole rows are at hand.
    """
    n_queries, n_keys = query.size(-2), key.size(-2)
    if is_causal:
        mask = causal_mask(n_queries, n_keys).to(query.device)
    small = query.shape[:-1].numel() * n_keys < WORTH_IT
    if small or dropout_p or query.device.type != "cpu":
        return scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout_p)
    return _BlockByBlock.apply(query, key, value, mask, is_causal)


def attention_without_weights(query, key, value, mask=None, *, is_causal=False, dropout_p=0.0):
    """The output of `attention_with_weights` from PyTorch's fused kernel, which never writes the weights down.

    Shapes and arguments: as `attention_with_weights`; returns the output.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """
    if is_causal and query.size(-2) != key.size(-2):  # PyTorch's own triangle starts at the top left
        mask, is_causal = causal_mask(query.size(-2), key.size(-2)).to(query.device), False
    return F.scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout_p, is_causal=is_causal)


class _BlockByBlock(torch.autograd.Function):
    @staticmethod
    def forward(query, key, value, mask, is_causal):
        weights = query.new_empty(*query.shape[:-1], key.size(-2))
        output = query.new_empty(*query.shape[:-1], value.size(-1))
        closed, dead = _closed_and_dead(mask, weights.shape)
        query = query / math.sqrt(query.size(-1))
        for head, rows, seen in _blocks(weights.shape, is_causal):
            block = (*head, rows)
            shares = weights[block][:, :seen]
            scores = torch.matmul(query[block], key[head][:seen].mT, out=None if is_causal else shares)
            if closed is not None:
                scores.masked_fill_(closed[block][:, :seen], -math.inf)
            torch.softmax(scores, dim=-1, out=shares)
            if dead is not None:
                shares.masked_fill_(dead[block], 0.0)
            weights[block][:, seen:] = 0.0
            output[block] = shares @ value[head][:seen]
        return output, weights

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:3], output[1])
        ctx.is_causal = inputs[4]
        ctx.set_materialize_grads(False)

    @staticmethod
    @once_differentiable
    def backward(ctx, of_output, of_weights):
        if of_output is None and of_weights is None:
            return (None,) * 5
        query, key, value, weights = ctx.saved_tensors
        of_query, of_key, of_value = (torch.zeros_like(t) for t in (query, key, value))
        scale = 1 / math.sqrt(query.size(-1))
        query = query * scale
        for head, rows, seen in _blocks(weights.shape, ctx.is_causal):
            block = (*head, rows)
            shares = weights[block][:, :seen]
            of_shares = 0.0
            if of_output is not None:
                of_value[head][:seen] += shares.mT @ of_output[block]
                of_shares = of_output[block] @ value[head][:seen].mT
            if of_weights is not None:
                of_shares = of_shares + of_weights[block][:, :seen]
            # softmax: each share falls by what all shares of its row would gain together
            of_scores = (of_shares - (of_shares * shares).sum(-1, keepdim=True)).mul_(shares)
            of_query[block] = of_scores @ key[head][:seen]
            of_key[head][:seen] += of_scores.mT @ query[block]
        return of_query.mul_(scale), of_key, of_value, None, None


def _blocks(shape, is_causal):
    """For every block of scores: its (batch, head), its rows as a slice, and how many keys any of them may see."""
    batch, heads, n_queries, n_keys = shape
    size = max(1, BLOCK // max(1, n_keys))
    if is_causal:
        size = min(size, CAUSAL_ROWS)
    for head in itertools.product(range(batch), range(heads)):
        for start in range(0, n_queries, size):
            stop = min(start + size, n_queries)
            yield head, slice(start, stop), max(0, stop + n_keys - n_queries) if is_causal else n_keys


def _closed_and_dead(mask, shape):
    """What to fill with −∞ and which rows to erase, as in `masked_softmax`, as views of the whole shape."""
    if mask is None:
        return None, None
    dead = ~mask.any(dim=-1, keepdim=True)
    closed = (~(mask | dead)).expand(shape)
    return closed, dead.expand(*shape[:-1], 1) if dead.any() else None
