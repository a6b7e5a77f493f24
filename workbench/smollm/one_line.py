"""One wrong line: the attention of a block, written out, with one place in it written otherwise."""

import linecache
import math

import torch

from attn_lib import Cache, causal_mask, masked_softmax, merge_heads, rotary, share_heads

from ..exercises.engine.source import source_of


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


MASK, TURNED = "causal_mask(query.size(2), key.size(2))", "rotary(query, seen, base=base), rotary(key, seen, base=base)"
WRONG = {  # what is wrong → what stands in `opened`, and what stands in its place
    "no scale": (" / math.sqrt(query.size(3))", ""),
    "heads tiled": ("share_heads(key, groups)", "key.repeat(1, groups, 1, 1)"),
    "softmax over queries": ("masked_softmax(scores, mask)", "scores.masked_fill(~mask, -1e9).softmax(dim=2)"),
    "no mask": (MASK, "None"),
    "own key closed": (MASK, "torch.ones(query.size(2), key.size(2)).tril(key.size(2) - query.size(2) - 1).bool()"),
    "merged without transpose": ("merge_heads(output)", "output.reshape(output.size(0), output.size(2), -1)"),
    "mask in the upper left corner": (MASK, "torch.ones(query.size(2), key.size(2)).tril().bool()"),
    "cache never grows": (
        "Cache(key, value, key.size(2))",
        "Cache(key, value, key.size(2)) if cache is None else cache",
    ),
    "positions from 0 again": ("0 if cache is None else cache.seen", "0"),
    "one position too early": ("0 if cache is None else cache.seen", "0 if cache is None else cache.seen - 1"),
    "RoPE with base 10,000": (TURNED, "rotary(query, seen), rotary(key, seen)"),
    "RoPE by halves": (TURNED, TURNED.replace("base=base", "base=base, halves=True")),
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
