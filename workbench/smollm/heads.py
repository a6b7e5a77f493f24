"""The heads of a language model: whom each attends to, what it says, and what is lost without it."""

import itertools
import weakref
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


def look(model, tokens, *, last=False):
    """Read tokens (batch, n) in one pass, as `model.read`, and keep what all heads do.

    With last=True there are logits of the last place alone.
    """
    (batch, n), sizes, numbers = tokens.shape, model.sizes, itertools.count()
    maps = model.table.new_empty(batch, sizes.blocks, sizes.heads, n, n)
    outputs = model.table.new_empty(batch, sizes.blocks, sizes.heads, n, sizes.head_dim)

    def attend(query, key, value, cache, base):
        number = next(numbers)  # blocks come one after the other
        outputs[:, number], maps[:, number] = attention(query, key, value, base)
        return merge_heads(outputs[:, number]), cache

    rows, _ = model.rows(tokens, attend=attend)
    return Look(model.logits(rows[:, -1:] if last else rows), maps, outputs)


def attention(query, key, value, base):
    """One pass without a cache: what each head reads, and its weights."""
    groups = query.size(1) // key.size(1)
    query, key = rotary(query, base=base), rotary(key, base=base)
    key, value, mask = share_heads(key, groups), share_heads(value, groups), causal_mask(query.size(2))
    return scaled_dot_product_attention(query, key, value, mask)


def read_without(model, tokens, out, *, last=True):
    """Read tokens (batch, n), while these heads say nothing: logits (batch, vocabulary) at the last place.

    out names heads, (block, head). With last=False there are logits of all places, (batch, n, vocabulary).
    """

    def say_nothing(number, output):
        for changed, head in out:
            if changed == number:
                output[:, head] = 0

    rows = rows_with(model, tokens, out, say_nothing)
    return model.logits(rows[:, -1] if last else rows)


def exchanged(model, tokens, others, heads):
    """Read tokens, while these heads say, at the last place, what they say there in the others: logits at that place.

    tokens and others, (batch, n), are texts of the same length; the rest of the model does as always. Returns (batch,
    vocabulary).
    """
    says = {number: said_in(model, others, number) for number, _ in heads}

    def say_others(number, output):
        for changed, head in heads:
            if changed == number:
                output[:, head, -1] = says[number][:, head, -1]

    return model.logits(rows_with(model, tokens, heads, say_others)[:, -1])


@torch.no_grad()
def rows_with(model, tokens, heads, change):
    """The rows after all blocks, where change(block, output) changes in place what the heads of a block say.

    heads, (block, head), are those that are changed: before the first of them all is as always.
    """
    first = min((number for number, _ in heads), default=model.sizes.blocks)
    x = rows_before(model, tokens, first)
    for number in range(first, model.sizes.blocks):

        def attend(query, key, value, cache, base, number=number):
            output, _ = attention(query, key, value, base)
            change(number, output)
            return merge_heads(output), cache

        x, _ = block(x, model.blocks[number], None, model.sizes, attend)
    return x


@torch.no_grad()
def said_in(model, tokens, number):
    """What the heads of this block say: (batch, heads, n, head_dim)."""
    says = []

    def attend(query, key, value, cache, base):
        output, _ = attention(query, key, value, base)
        says.append(output)
        return merge_heads(output), cache

    block(rows_before(model, tokens, number), model.blocks[number], None, model.sizes, attend)
    return says[0]


APART = 5  # blocks between two that remember their rows; more of them would cost memory
_last_read = weakref.WeakKeyDictionary()  # model → the two texts that were read last, and their rows, each APART blocks


@torch.no_grad()
def rows_before(model, tokens, number):
    """The rows that come into this block, or that all blocks give.

    Whoever turns off one head after the other in late blocks reads the same text again and again: what comes before is
    the same each time, and most of the work. So some of it is remembered.
    """
    texts_read = _last_read.setdefault(model, [])
    rows = next((rows for text, rows in texts_read if torch.equal(text, tokens)), None)
    if rows is None:
        rows = [model.table[tokens]]
        texts_read[:] = [*texts_read[-1:], (tokens, rows)]
    begin = min(number // APART, len(rows) - 1)
    x = rows[begin]
    for i in range(begin * APART, number):
        x, _ = block(x, model.blocks[i], None, model.sizes)
        if i + 1 == len(rows) * APART:
            rows.append(x)
    return x


@torch.no_grad()
def without_each(model, tokens):
    """Take out every head, one at a time. Yields (block, logits (heads, vocabulary) at the last place), the last first.

    What comes before a block is the same for all that is taken out in it, so it is computed once.
    """
    sizes = model.sizes

    def each_silent(query, key, value, cache, base):
        """A copy of the text for each head, which says nothing in it."""
        output, _ = attention(query, key, value, base)
        output = output.repeat(sizes.heads, 1, 1, 1)
        output[range(sizes.heads), range(sizes.heads)] = 0
        return merge_heads(output), cache

    for number in reversed(range(sizes.blocks)):
        x = rows_before(model, tokens, number).expand(sizes.heads, -1, -1)
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
    logits = read_without(model, model.tokens(*beginnings), out)  # (80, vocabulary)
    right = (logits[:, model.piece(" were")] > logits[:, model.piece(" was")]) == torch.tensor(plural)
    return right[::2].float().mean().item(), right[1::2].float().mean().item()
