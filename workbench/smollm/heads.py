"""The heads of a language model: whom each attends to, what it says, and what is lost without it."""

import itertools
from typing import NamedTuple

import torch

from attn_lib import causal_mask, merge_heads, rotary, scaled_dot_product_attention, share_heads

from . import texts
from .model import block


class Look(NamedTuple):
    """What was read, with all that heads did.

    Shapes: logits (batch, n, vocabulary), or of the last place alone; maps (batch, blocks, heads, n, n), the weights;
    outputs (batch, blocks, heads, n, head_dim), what each head says.
    """

    logits: torch.Tensor
    maps: torch.Tensor
    outputs: torch.Tensor


def look(model, tokens, out=(), instead=None, *, last=False):
    """Read tokens (batch, n) in one pass, as `model.read`, and keep what all heads do.

    out names heads, (block, head), that say nothing; instead maps heads to what they say in place of their own, a
    tensor (batch, n, head_dim), or broadcast to it. With last=True there are logits of the last place alone.
    """
    changes = dict.fromkeys(out, 0.0) | (instead or {})
    maps, outputs = [], []

    def attend(query, key, value, cache, base):
        number = len(maps)  # blocks come one after the other
        output, weights = attention(query, key, value, base)
        for (changed, head), says in changes.items():
            if changed == number:
                output[:, head] = says
        maps.append(weights)
        outputs.append(output)
        return merge_heads(output), cache

    rows, _ = model.rows(tokens, attend=attend)
    return Look(model.logits(rows[:, -1:] if last else rows), torch.stack(maps, dim=1), torch.stack(outputs, dim=1))


def attention(query, key, value, base):
    """One pass without a cache: what each head reads, and its weights."""
    groups = query.size(1) // key.size(1)
    query, key = rotary(query, base=base), rotary(key, base=base)
    key, value, mask = share_heads(key, groups), share_heads(value, groups), causal_mask(query.size(2))
    return scaled_dot_product_attention(query, key, value, mask)


def exchanged(model, tokens, others, heads):
    """Read tokens, while these heads say, at the last place, what they say there in the others: logits at that place.

    tokens and others, (batch, n), are texts of the same length; the rest of the model does as always. Returns (batch,
    vocabulary).
    """
    says, numbers = look(model, others, last=True).outputs, itertools.count()

    def attend(query, key, value, cache, base):
        number = next(numbers)  # blocks come one after the other
        output, _ = attention(query, key, value, base)
        for changed, head in heads:
            if changed == number:
                output[:, head, -1] = says[:, number, head, -1]
        return merge_heads(output), cache

    rows, _ = model.rows(tokens, attend=attend)
    return model.logits(rows[:, -1])


@torch.no_grad()
def without_each(model, tokens):
    """Take out every head, one at a time. Yields (block, logits (heads, vocabulary) at the last place), the last first.

    What comes before a block is the same for all that is taken out in it, so it is computed once.
    """
    sizes, rows = model.sizes, [model.table[tokens]]
    for w in model.blocks[:-1]:
        rows.append(block(rows[-1], w, None, sizes)[0])

    def each_silent(query, key, value, cache, base):
        """A copy of the text for each head, which says nothing in it."""
        output, _ = attention(query, key, value, base)
        output = output.repeat(sizes.heads, 1, 1, 1)
        output[range(sizes.heads), range(sizes.heads)] = 0
        return merge_heads(output), cache

    for number in reversed(range(sizes.blocks)):
        x = rows[number].expand(sizes.heads, -1, -1)
        x, _ = block(
            x, model.blocks[number], None, sizes, lambda q, k, v, *rest: each_silent(q[:1], k[:1], v[:1], *rest)
        )
        for w in model.blocks[number + 1 :]:
            x, _ = block(x, w, None, sizes)
        yield number, model.logits(x[:, -1])


def silent(query, key, value, cache, base):
    """An attention whose heads all say nothing, in place of `model.attend`."""
    return torch.zeros(query.size(0), query.size(2), query.size(1) * query.size(3)).to(query), cache


def right_numbers(model, out=()):
    """For how many of the 80 sentences of `texts` *was* or *were* is right: shares of plural and singular subjects."""
    beginnings, plural = zip(*texts.subjects(), strict=True)
    logits = look(model, model.tokens(*beginnings), out=out, last=True).logits[:, 0]  # (80, vocabulary)
    right = (logits[:, model.piece(" were")] > logits[:, model.piece(" was")]) == torch.tensor(plural)
    return right[::2].float().mean().item(), right[1::2].float().mean().item()
