"""Attention as modules: one head, a list of heads, and all heads in one product, each equal to the other."""

import torch
from torch import nn

from .checks import check_count, check_divisible, check_mask, check_probability, check_sequences
from .fast import attention_with_weights, attention_without_weights
from .functional import merge_heads, scaled_dot_product_attention, split_heads


def _dtype_of(projection):
    """What a module's inputs must be, or None where autocast or another kind of layer sees to that."""
    weight = getattr(projection, "weight", None)
    if not isinstance(weight, torch.Tensor):
        return None
    kind = weight.device.type  # `meta` knows no autocast
    return None if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind) else weight.dtype


class AttentionHead(nn.Module):
    """One attention head with its own query, key and value projections.

    Shapes: query (batch, n_queries, embed_dim), key and value (batch, n_keys, embed_dim), mask (n_queries, n_keys)
    or (batch, 1 or n_queries, n_keys); returns output (batch, n_queries, head_dim) and weights (batch, n_queries,
    n_keys).
    Raises: TypeError or ValueError, naming the argument and both numbers, for sizes or shapes that do not fit.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.2.2, "head_i".
    """

    def __init__(self, embed_dim, head_dim, *, bias=True):
        super().__init__()
        check_count("embed_dim", embed_dim)
        check_count("head_dim", head_dim)
        self.embed_dim = embed_dim
        self.q_proj = nn.Linear(embed_dim, head_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, head_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, head_dim, bias=bias)

    def forward(self, query, key, value, mask=None):
        check_sequences(query, key, value, (self.embed_dim,) * 3, _dtype_of(self.q_proj))
        return scaled_dot_product_attention(self.q_proj(query), self.k_proj(key), self.v_proj(value), mask)


class MultiHeadAttentionByHeads(nn.Module):
    """Multi-head attention as a list of heads: slow, and the easiest one to read.

    Shapes: as `MultiHeadAttention`, but one mask for all heads: (n_queries, n_keys) or (batch, 1 or n_queries, n_keys);
    head_dim is embed_dim / num_heads.
    Raises: ValueError if embed_dim is not divisible by num_heads, and as `AttentionHead` for shapes.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.2.2.
    """

    def __init__(self, embed_dim, num_heads, *, bias=True):
        super().__init__()
        check_divisible("embed_dim", embed_dim, num_heads)
        self.embed_dim, self.num_heads = embed_dim, num_heads
        head_dim = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(embed_dim, head_dim, bias=bias) for _ in range(num_heads))
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(self, query, key, value, mask=None):
        check_sequences(query, key, value, (self.embed_dim,) * 3, _dtype_of(self.out_proj))
        results = [head(query, key, value, mask) for head in self.heads]
        outputs, weights = zip(*results, strict=True)  # each output (batch, n_queries, head_dim)
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


class MultiHeadAttention(nn.Module):
    """Multi-head attention with all heads in one product; agrees with `nn.MultiheadAttention` once weights are equal.

    Shapes: query (batch, n_queries, embed_dim), key (batch, n_keys, kdim), value (batch, n_keys, vdim); kdim and vdim
    are embed_dim unless given. mask bool, True = may attend: (n_queries, n_keys), (batch, 1 or n_queries, n_keys) or
    (batch or 1, heads or 1, n_queries or 1, n_keys or 1). Returns output (batch, n_queries, embed_dim) and weights
    (batch, heads, n_queries, n_keys), never averaged. need_weights=False returns (output, None) and takes PyTorch's
    fused kernel. is_causal=True is the mask `causal_mask(n_queries, n_keys)`. dropout acts on the weights, in training.
    Raises: ValueError if embed_dim is not divisible by num_heads, if mask and is_causal are both given, or for
    shapes that do not fit; TypeError for dtypes; each names the argument and both numbers.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.2.2.
    """

    def __init__(self, embed_dim, num_heads, *, kdim=None, vdim=None, bias=True, dropout=0.0):
        super().__init__()
        check_divisible("embed_dim", embed_dim, num_heads)
        check_probability("dropout", dropout)
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        check_count("kdim", self.kdim)
        check_count("vdim", self.vdim)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(self.kdim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(self.vdim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(self, query, key, value, mask=None, *, need_weights=True, is_causal=False):
        mask = self._prepare(query, key, value, mask, is_causal)
        query = split_heads(self.q_proj(query), self.num_heads)  # (batch, heads, n_queries, head_dim)
        key = split_heads(self.k_proj(key), self.num_heads)  # (batch, heads, n_keys, head_dim)
        value = split_heads(self.v_proj(value), self.num_heads)  # (batch, heads, n_keys, head_dim)
        options = {"is_causal": is_causal, "dropout_p": self.dropout if self.training else 0.0}
        if need_weights:
            output, weights = attention_with_weights(query, key, value, mask, **options)
        else:
            output, weights = attention_without_weights(query, key, value, mask, **options), None
        return self.out_proj(merge_heads(output)), weights  # (batch, n_queries, embed_dim)

    def _prepare(self, query, key, value, mask, is_causal):
        """Check what a call was given; returns the mask in 2 or 4 dimensions: a 3-D one holds for every head."""
        check_sequences(query, key, value, (self.embed_dim, self.kdim, self.vdim), _dtype_of(self.q_proj))
        if mask is not None and is_causal:
            raise ValueError("mask and is_causal=True were both given: pass mask & causal_mask(n_queries, n_keys)")
        batch, heads, n_queries, n_keys = query.size(0), self.num_heads, query.size(1), key.size(1)
        if isinstance(mask, torch.Tensor) and mask.ndim == 3:
            check_mask(mask, (batch, n_queries, n_keys))
            return mask[:, None]
        try:
            check_mask(mask, (batch, heads, n_queries, n_keys))
        except ValueError as error:
            raise ValueError(
                f"mask has shape {tuple(mask.shape)}; this call takes (n_queries, n_keys)=({n_queries}, {n_keys}), "
                f"({batch}, 1 or {n_queries}, {n_keys}) or ({batch}, {heads} or 1, {n_queries} or 1, {n_keys})"
            ) from error
        return mask

    @classmethod
    def from_torch(cls, theirs):
        """Make a module with the weights of an `nn.MultiheadAttention`; ours always takes the batch first.

        Raises: TypeError for another class, ValueError for bias_k, bias_v or add_zero_attn, which ours does not have.
        Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
        """
        if not isinstance(theirs, nn.MultiheadAttention):
            raise TypeError(f"from_torch takes an nn.MultiheadAttention, got {type(theirs).__name__}")
        if theirs.bias_k is not None or theirs.add_zero_attn:
            raise ValueError("add_bias_kv=True and add_zero_attn=True have no counterpart in this module")
        bias = theirs.in_proj_bias is not None
        options = {"kdim": theirs.kdim, "vdim": theirs.vdim, "bias": bias, "dropout": theirs.dropout}
        with theirs.out_proj.weight.device:
            ours = cls(theirs.embed_dim, theirs.num_heads, **options).to(theirs.out_proj.weight.dtype)
        if theirs.in_proj_weight is not None:  # one matrix of three stacked blocks
            weights = theirs.in_proj_weight.chunk(3)
        else:  # kept apart because kdim or vdim differs from embed_dim
            weights = theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight
        biases = theirs.in_proj_bias.chunk(3) if bias else (None,) * 3
        for projection, weight, b in zip((ours.q_proj, ours.k_proj, ours.v_proj), weights, biases, strict=True):
            _fill(projection, weight, b)
        _fill(ours.out_proj, theirs.out_proj.weight, theirs.out_proj.bias)
        return ours.train(theirs.training)


def _fill(projection, weight, bias):
    """Copy numbers into a linear layer; what was frozen stays frozen."""
    for own, other in ((projection.weight, weight), (projection.bias, bias)):
        if own is not None:
            own.detach().copy_(other.detach())
            own.requires_grad_(other.requires_grad)
