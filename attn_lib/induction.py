"""Heads that find each other: how much a head looks behind an earlier copy, and a head taken out; notebook 9's."""

import copy

import torch.nn.functional as F

from .checks import check_attention_module, check_head, check_seen


def induction_score(weights, tokens):
    """How much weight each head puts right behind an earlier copy of the query's token.

    Shapes: weights (batch, heads, n, n), causal; tokens (batch, n) of whole numbers; returns (heads,), each from 0 to
    1: of every query whose token stood before, the weight on all places right behind such a copy, on average.
    Raises: TypeError for dtypes, ValueError for shapes that do not fit, and if no token stands twice in a sequence:
    on a graphics card, which would have to be waited for, the scores are nan then.
    Source: Olsson et al. 2022, In-context Learning and Induction Heads, https://arxiv.org/abs/2209.11895.
    """
    check_seen(weights, tokens)
    copies = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)  # (batch, n, n): an earlier copy of mine
    behind = F.pad(copies[..., :-1], (1, 0))  # (batch, n, n): the place right behind it
    shares = (weights * behind[:, None]).sum(dim=-1)  # (batch, heads, n)
    return shares.sum(dim=(0, 2)) / behind.any(dim=-1).sum()  # (heads,), on average over those who have a copy


def without_head(attention, head):
    """A copy of a `MultiHeadAttention` in which one head adds nothing; the others, and the original, stay as they are.

    head counts from 0. What a head returns reaches the output only through its own columns of out_proj, which are 0 in
    the copy; its weights are still computed and returned.
    Raises: TypeError for another module, ValueError for a head that it does not have.
    Source: Michel et al. 2019, Are Sixteen Heads Really Better than One?, https://arxiv.org/abs/1905.10650.
    """
    check_attention_module(attention)
    check_head(head, attention.num_heads)
    silent = copy.deepcopy(attention)
    head_dim = attention.embed_dim // attention.num_heads
    silent.out_proj.weight.data[:, head * head_dim : (head + 1) * head_dim] = 0  # (embed_dim, head_dim)
    return silent
