"""Attention for many heads: the taught function's numbers from less memory, and PyTorch's fused kernel."""

import math

import torch
import torch.nn.functional as F

from .functional import scaled_dot_product_attention
from .masks import causal_mask

FAST_PATH_MIN_WEIGHTS = 2**20  # 4 MB in float32, larger than a core's L2 cache


def attention_with_weights(query, key, value, mask=None, *, is_causal=False, dropout_p=0.0):
    """scaled_dot_product_attention in which, where there are many weights, they take the place of the scores.

    The taught function writes every step down: scores, filled scores, softmax, weights. At length 1024 getting and
    filling that memory takes longer than computing what is in it; here one piece of it goes through all four.
    Shapes: query (batch, heads, n_queries, d), key and value (batch, heads, n_keys, d), mask of 2 or 4 dimensions;
    returns output (batch, heads, n_queries, d) and weights (batch, heads, n_queries, n_keys). is_causal, without a
    mask, is `causal_mask(n_queries, n_keys)`.
    Raises: as `scaled_dot_product_attention`.
    """
    if is_causal:
        mask = causal_mask(query.size(-2), key.size(-2), device=query.device)
    may_be_dead = not is_causal or query.size(-2) > key.size(-2)  # else each query sees a key, and nobody need look
    few = query.shape[:-1].numel() * key.size(-2) < FAST_PATH_MIN_WEIGHTS
    if few or dropout_p or torch.compiler.is_compiling():  # a compiler sees to its memory itself
        return scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout_p)
    scores = (query / math.sqrt(query.size(-1))) @ key.transpose(-2, -1)  # (batch, heads, n_queries, n_keys)
    weights = _MaskedSoftmaxInPlace.apply(scores, mask, may_be_dead)
    return weights @ value, weights


def attention_without_weights(query, key, value, mask=None, *, is_causal=False, dropout_p=0.0):
    """The output of `attention_with_weights` from PyTorch's fused kernel, which never writes the weights down.

    Shapes and arguments: as `attention_with_weights`; returns the output.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """
    if is_causal and query.size(-2) != key.size(-2):  # PyTorch's own triangle starts at the top left
        mask, is_causal = causal_mask(query.size(-2), key.size(-2), device=query.device), False
    return F.scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout_p, is_causal=is_causal)


class _MaskedSoftmaxInPlace(torch.autograd.Function):
    """`masked_softmax` that overwrites its scores; a masked weight is 0, so softmax's own derivative is its too."""

    @staticmethod
    def forward(scores, mask, may_be_dead):
        if mask is None:
            return torch.softmax(scores, dim=-1, out=scores)
        if not may_be_dead:
            torch.where(mask, scores, scores.new_full((), -math.inf), out=scores)
            return torch.softmax(scores, dim=-1, out=scores)
        dead = ~mask.any(dim=-1, keepdim=True)
        fill = torch.where(dead, 0.0, -math.inf).to(scores.dtype)
        torch.softmax(torch.where(mask, scores, fill, out=scores), dim=-1, out=scores)
        if scores.is_cpu and not dead.any():  # a graphics card would have to be waited for
            return scores
        return scores.masked_fill_(dead, 0.0)

    @staticmethod
    def setup_context(ctx, inputs, weights):
        ctx.mark_dirty(inputs[0])
        ctx.save_for_backward(weights)

    @staticmethod
    def backward(ctx, of_weights):
        (weights,) = ctx.saved_tensors
        return torch._softmax_backward_data(of_weights, weights, -1, weights.dtype), None, None
