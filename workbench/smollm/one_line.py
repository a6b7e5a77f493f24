"""One wrong line: the attention of a block, written out, with one place in it written otherwise."""

import linecache
import math

import torch
import torch.nn.functional as F

from attn_lib import Cache, causal_mask, masked_softmax, merge_heads, rotary, share_heads

from ..exercises.engine.source import source_of
from .model import rms_norm


def opened(query, key, value, cache, base):
    """`model.attend` with all that it calls written out, as far as one can go wrong in it."""
    seen = 0 if cache is None else cache.seen
    query, key = rotary(query, seen, base=base), rotary(key, seen, base=base)
    if cache is not None:
        key, value = torch.cat([cache.keys, key], dim=2), torch.cat([cache.values, value], dim=2)
    mask = causal_mask(query.size(2), key.size(2))
    groups = query.size(1) // key.size(1)
    scores = query @ share_heads(key, groups).mT / math.sqrt(query.size(3))
    output = masked_softmax(scores, mask) @ share_heads(value, groups)
    return merge_heads(output), Cache(key, value, key.size(2))


SEEN, TURNED = "0 if cache is None else cache.seen", "rotary(query, seen, base=base), rotary(key, seen, base=base)"
MASK, SOFTMAX = "causal_mask(query.size(2), key.size(2))", "masked_softmax(scores, mask)"
NEW_CACHE = "Cache(key, value, key.size(2))"
WRONG = {  # what is wrong → what stands in `opened`, and what stands in its place
    "no scale": (" / math.sqrt(query.size(3))", ""),
    "heads tiled": ("share_heads(key, groups)", "key.repeat(1, groups, 1, 1)"),
    "softmax over queries": (SOFTMAX, "scores.masked_fill(~mask, -1e9).softmax(dim=2)"),
    "no mask": (MASK, "None"),
    "one softmax for all": (SOFTMAX, "scores.masked_fill(~mask, -math.inf).flatten(2).softmax(dim=2).view_as(scores)"),
    "mask after softmax": (SOFTMAX, "scores.softmax(dim=3) * mask"),
    "cache never grows": (NEW_CACHE, f"{NEW_CACHE} if cache is None else cache"),
    "positions from 0 again": (SEEN, "0"),
    "one position too late": (SEEN, f"{SEEN} + 1"),
    "RoPE with base 10,000": (TURNED, TURNED.replace(", base=base", "")),
}

PATIENTS = {  # letter → what is wrong
    "A": "cache never grows",
    "B": "one softmax for all",
    "C": "heads tiled",
    "D": "mask after softmax",
    "E": "positions from 0 again",
    "F": "softmax over queries",
}


def faulty(name):
    """`opened` with one wrong line, by the name of what is wrong."""
    return with_line(opened, *WRONG[name])


def with_line(function, right, wrong):
    """A copy of the function in which `wrong` stands in place of `right`, which stands in it once.

    Raises: ValueError where it does not stand there once.
    """
    source = source_of(function)
    if source.count(right) != 1:
        raise ValueError(f"{right!r} stands {source.count(right)} times in {function.__name__}, not once.")
    source = source.replace(right, wrong)
    name = f"<{function.__name__}, with {wrong!r}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name  # tracebacks read it there
    names = dict(function.__globals__)
    exec(compile(source, name, "exec"), names)
    return names[function.__name__]


def together(attends):
    """One attention for a batch in which each of these attentions reads as many texts as the others.

    Nearly all time goes into the matrices of the blocks, which are the same for all of them: so they are used once.
    """

    def attend(query, key, value, caches, base):
        caches = caches or [None] * len(attends)
        parts = zip(*(part.chunk(len(attends)) for part in (query, key, value)), caches, strict=True)
        outputs, caches = zip(*(one(*part, base) for one, part in zip(attends, parts, strict=True)), strict=True)
        return torch.cat(outputs), caches

    return attend


def side_by_side(model, prompts, attends, pieces=7):
    """How prompts of the same number of pieces go on, so many pieces, with each of these attentions.

    attends: name → attention. Returns name → what each of the prompts is followed by.
    """
    attend = together(attends.values())
    logits, caches = model.read(model.tokens(*prompts).repeat(len(attends), 1), attend=attend)
    written = [logits[:, -1:].argmax(dim=-1)]  # (attentions × prompts, 1) each
    while len(written) < pieces:
        logits, caches = model.read(written[-1], caches, attend)
        written.append(logits[:, -1:].argmax(dim=-1))
    texts = [model.pieces.decode(row) for row in torch.cat(written, dim=1).tolist()]
    return {name: texts[k * len(prompts) :][: len(prompts)] for k, name in enumerate(attends)}


def two_tests(model, attends, tokens):
    """How far logits are from what they should be: piece by piece from one pass, and one pass from the model's own.

    The first needs no other code. Both are the largest difference of a logit. attends: name → attention; tokens: (1,
    n). Returns name → both.
    """
    attend, tokens = together(attends.values()), tokens.repeat(len(attends), 1)
    at_once, _ = model.read(tokens, attend=attend)
    half = tokens.size(1) // 2
    first, caches = model.read(tokens[:, :half], attend=attend)
    steps = [first]
    for i in range(half, tokens.size(1)):
        logits, caches = model.read(tokens[:, i : i + 1], caches, attend)
        steps.append(logits)
    own, _ = model.read(tokens[:1])
    gaps = [(a - b).abs().amax(dim=(1, 2)).tolist() for a, b in ((torch.cat(steps, dim=1), at_once), (at_once, own))]
    return dict(zip(attends, zip(*gaps, strict=True), strict=True))


@torch.no_grad()
def spoken_by(model, block_attention, text, pieces=8):
    """How a text goes on if a function of exercise 13.1 is the attention of all blocks.

    It has no cache, so all is read again for each piece. A function that is not written yet gets a sentence.
    """
    sizes, tokens = model.sizes, model.tokens(text)
    for _ in range(pieces):
        x = model.table[tokens]
        for w in model.blocks:
            x = block_attention(x, w.norm_1, w.W_q, w.W_k, w.W_v, w.W_o, sizes.heads, sizes.kv_heads, sizes.base)
            if not torch.is_tensor(x):
                return f"{block_attention.__name__} returns no rows yet."
            h = rms_norm(x, w.norm_2, sizes.epsilon)
            x = x + (F.silu(h @ w.W_gate.T) * (h @ w.W_up.T)) @ w.W_down.T
        tokens = torch.cat([tokens, model.logits(x[:, -1:]).argmax(dim=-1)], dim=1)
    return model.pieces.decode(tokens[0].tolist())
