"""Correct implementations of every signature, in several styles, and parts from which variants of a bug are made."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from attn_lib.cache import cached_attention
from attn_lib.functional import masked_softmax, merge_heads, scaled_dot_product_attention, share_heads, split_heads
from attn_lib.linear import chunked_attention, linear_attention, pass_chunk
from attn_lib.masks import causal_mask, padding_mask, window_mask
from attn_lib.online import flash_attention
from attn_lib.position import rotary


def by_library(q, k, v, mask=None):
    return scaled_dot_product_attention(q, k, v, mask)[0]


def by_torch(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, mask)


def by_einsum(q, k, v, mask=None):
    weights = masked_softmax(torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.size(-1)), mask)
    return torch.einsum("...qk,...kd->...qd", weights, v)


def by_loop(q, k, v, mask=None):
    shape = (*q.shape[:-1], k.size(-2))
    mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    rows = [by_library(q[..., i : i + 1, :], k, v, mask[..., i : i + 1, :]) for i in range(q.size(-2))]
    return torch.cat(rows, dim=-2)


def in_double(q, k, v, mask=None):
    return by_library(q.double(), k.double(), v.double(), mask).to(q.dtype)


CORES = [by_library, by_torch, by_einsum, by_loop, in_double]


# ------------------------------------------------------------------------- around a core: the other signatures


def heads_of(core=by_library, *, split=split_heads, merge=merge_heads, project=True, head_axis=True):
    """Return multi-head attention around a core, with parts to be exchanged."""

    def attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        q, k, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
        if mask is not None and mask.ndim == 3 and head_axis:
            mask = mask[:, None]
        merged = merge(core(q, k, v, mask))
        return merged @ w_o if project else merged

    return attention


def list_of_heads(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    if x.size(-1) % num_heads:
        raise ValueError(f"embed_dim={x.size(-1)} is not divisible by num_heads={num_heads}")
    parts = zip(*(w.chunk(num_heads, dim=1) for w in (w_q, w_k, w_v)), strict=True)
    return torch.cat([by_library(x @ q, x @ k, x @ v, mask) for q, k, v in parts], dim=-1) @ w_o


def with_lengths(core=by_library):
    def attention(q, k, v, lengths):
        return core(q, k, v, padding_mask(lengths, k.size(1)))

    return attention


def with_both(core=by_library):
    def attention(q, k, v, lengths=None, mask=None):
        mask = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool) if mask is None else mask
        both = mask if lengths is None else mask & padding_mask(lengths, k.size(1))
        return core(q, k, v, both)

    return attention


def causal_of(core=by_library, offset=lambda n_q, n_k: n_k - n_q):
    def attention(q, k, v):
        n_q, n_k = q.size(-2), k.size(-2)
        return core(q, k, v, torch.ones(n_q, n_k, dtype=torch.bool).tril(offset(n_q, n_k)))

    return attention


def merged_heads(core=by_library, spread=lambda lengths, heads: lengths.repeat_interleave(heads)):
    def attention(q, k, v, lengths, num_heads):
        heads = [split_heads(x, num_heads).flatten(0, 1) for x in (q, k, v)]  # (batch · heads, n, head_dim)
        output = core(*heads, padding_mask(spread(lengths, num_heads), k.size(1)))
        return merge_heads(output.unflatten(0, (-1, num_heads)))

    return attention


def lengths_per_head(q, k, v, lengths, num_heads):
    q, k, v = (split_heads(x, num_heads) for x in (q, k, v))
    return merge_heads(by_library(q, k, v, padding_mask(lengths, k.size(2))[:, None]))


def read_with_a_cache(q, k, v, chunks, window):
    outputs, cache = [], None
    for new in zip(*(x.split(chunks, dim=2) for x in (q, k, v)), strict=True):
        output, cache = cached_attention(*new, cache, window=window, rope=True)
        outputs.append(output)
    return torch.cat(outputs, dim=2)


def read_one_by_one(q, k, v, chunks, window):
    return read_with_a_cache(q, k, v, [1] * sum(chunks), window)


def read_at_once(core=by_library):
    """Return attention that reads the whole text in one call of a core, whatever the chunks."""

    def attention(q, k, v, chunks, window):
        n, groups = q.size(2), q.size(1) // k.size(1)
        k, v = share_heads(rotary(k), groups), share_heads(v, groups)
        return core(rotary(q), k, v, window_mask(n, n, window))

    return attention


def whole_pass(core=by_library):
    """Return a pass through projections, heads and masks that reads the whole text at once, whatever the chunks."""

    def attention(x, w_q, w_k, w_v, w_o, num_heads, chunks, lengths):
        n = x.size(1)
        allowed = causal_mask(n) & padding_mask(lengths, n)[:, None]
        return merge_heads(core(*(split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v)), allowed)) @ w_o

    return attention


def pass_in_chunks(counted=lambda seen, new: seen + new):
    """Return the same, read in chunks; `counted` says how many tokens have been read when so many more came."""

    def attention(x, w_q, w_k, w_v, w_o, num_heads, chunks, lengths):
        outputs, seen, (q, k, v) = [], 0, (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
        ends = torch.tensor(chunks).cumsum(0).tolist()
        for size, end in zip(chunks, ends, strict=True):
            places = torch.arange(seen, seen + size)[:, None]
            allowed = (torch.arange(end) <= places) & padding_mask(lengths, x.size(1))[:, None, :, :end]
            outputs.append(by_library(q[:, :, end - size : end], k[:, :, :end], v[:, :, :end], allowed))
            seen = counted(seen, size)
        return merge_heads(torch.cat(outputs, dim=2)) @ w_o

    return attention


def self_attention(core=by_library):
    """Return multi-head self-attention around a core, without a mask."""
    around = heads_of(core)
    return lambda x, w_q, w_k, w_v, w_o, num_heads: around(x, w_q, w_k, w_v, w_o, num_heads)


def heads_in_turn(x, w_q, w_k, w_v, w_o, num_heads):
    return list_of_heads(x, w_q, w_k, w_v, w_o, num_heads)


def places_in_texts(texts):
    """Each token's place in its text, (batch, n): how many tokens of that text stand before it."""
    return ((texts[:, :, None] == texts[:, None, :]) & causal_mask(texts.size(1))).sum(dim=-1) - 1


def of_texts(core=by_library, *, places=places_in_texts):
    """Return causal attention within texts around a core, each token with the row of its place added."""

    def attention(x, table, texts):
        h = x + table[places(texts)]
        together = (texts[:, :, None] == texts[:, None, :]) & (texts > 0)[:, None]
        return core(h, h, h, together & causal_mask(x.size(1)))

    return attention


def text_by_text(x, table, texts):
    output = torch.zeros_like(x)
    for i, row in enumerate(texts):
        for number in row[row > 0].unique():
            of_it = row == number
            h = x[i, of_it] + table[: of_it.sum()]
            output[i, of_it] = by_library(h, h, h, causal_mask(len(h)))
    return output


def normed(x):
    return F.layer_norm(x, x.shape[-1:])


def block_of(core=by_library, *, norm=normed, road=lambda x, h: x, behind=lambda x, h, norm: norm(x)):
    """Return a pre-norm block around a core, with parts to be exchanged."""

    def attention(x, w_q, w_k, w_v, w_1, w_2):
        h = norm(x)
        x = road(x, h)
        x = x + core(h @ w_q, h @ w_k, h @ w_v, causal_mask(x.size(1)))
        return x + F.relu(behind(x, h, normed) @ w_1) @ w_2

    return attention


def tiled(core=by_library):
    """Return attention that is told how many keys to hear at a time, and hears them all at once."""

    def attention(q, k, v, size, causal):
        return core(q, k, v, causal_mask(q.size(-2), k.size(-2)) if causal else None)

    return attention


def in_tiles(q, k, v, size, causal):
    return flash_attention(q, k, v, rows=2, keys=size, is_causal=causal)[0]


# ------------------------------------------------------------------------------------ one matrix in place of a row


def by_states(q, k, v, keep, rate):
    return linear_attention(q, k, v, keep, rate)[0]


def by_state_chunks(q, k, v, keep, rate):
    return chunked_attention(q, k, v, keep, rate, chunk=3)[0]


def by_matrices(q, k, v, keep, rate):
    """S ← keep (1 − rate kᵀk) S + rate kᵀv, with whole matrices."""
    state, outputs = k.new_zeros(k.size(-1), v.size(-1)), []
    for t in range(len(k)):
        key = k[t : t + 1]
        state = keep[t] * (state - rate[t] * key.T @ (key @ state)) + rate[t] * key.T @ v[t : t + 1]
        outputs.append(q[t] @ state)
    return torch.stack(outputs)


def one_by_one(
    *,
    error=lambda key, value, keep, state: value - key @ (keep * state),
    also=lambda value, rate: 0.0,
    kept=lambda state: state,
):
    """Return correct code with parts to be exchanged: the error, what is written beside it, how the state is kept."""

    def attention(q, k, v, keep, rate):
        state, outputs = k.new_zeros(k.size(-1), v.size(-1)), []
        for t in range(len(k)):
            written = rate[t] * error(k[t], v[t], keep[t], state) + also(v[t], rate[t])
            state = kept(keep[t] * state + k[t][:, None] * written)
            outputs.append(q[t] @ state)
        return torch.stack(outputs)

    return attention


def in_state_chunks(size, *, border=torch.prod):
    """Return attention in chunks; border: by what the old state fades at the end of a chunk, of its gates."""

    def attention(q, k, v, keep, rate):
        state, outputs = k.new_zeros(k.size(-1), v.size(-1)), []
        for at in range(0, len(k), size):
            now = slice(at, at + size)
            output, new = pass_chunk(q[now], k[now], v[now], keep[now], rate[now], state)
            state = new + (border(keep[now]) - keep[now].prod()) * state
            outputs.append(output)
        return torch.cat(outputs)

    return attention


class DropoutInTraining(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, q, k, v):
        return scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0)[0]


class DropoutModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.3)

    def forward(self, q, k, v):
        _, weights = scaled_dot_product_attention(q, k, v)
        return self.dropout(weights) @ v


class WithoutDropout(nn.Module):
    def forward(self, q, k, v):
        return by_einsum(q, k, v)


def module_of(core):
    """Return a class of modules that use a core, without dropout."""

    class Attention(nn.Module):
        def forward(self, q, k, v):
            return core(q, k, v)

    return Attention


# ------------------------------------------------------------------------------------------ parts of variants


def scores_of(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


def plain(weights_of):
    """Return attention whose weights are `weights_of(scores, mask)`."""

    def attention(q, k, v, mask=None):
        return weights_of(scores_of(q, k), mask) @ v

    return attention


def scaled_by(scale):
    """Return attention whose scores are multiplied by `scale(q, k, v)` instead of 1/√d_k."""

    def attention(q, k, v, mask=None):
        return masked_softmax(q @ k.transpose(-2, -1) * scale(q, k, v), mask) @ v

    return attention


def filled(scores, mask, number):
    return scores if mask is None else scores.masked_fill(~mask, number)
