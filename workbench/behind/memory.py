"""Behind notebook 10: eight tokens read in chunks, five faults of a cache and five tests, models that are known."""

import math
import time

import torch

from attn_lib import (
    Cache,
    cached_attention,
    merge_heads,
    rotary,
    scaled_dot_product_attention,
    share_heads,
    split_heads,
    window_mask,
)

TOKENS = torch.randn(3, 1, 4, 8, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
MODELS = {  # layers, stored heads, head_dim
    "GPT-2 small": (12, 12, 64),
    "Llama 2 7B, MHA": (32, 32, 128),
    "Llama 3 8B, GQA": (32, 8, 128),
    "Llama 3 70B, GQA": (80, 8, 128),
    "Falcon 7B, MQA": (32, 1, 64),
}


# ------------------------------------------------------------------------------------------------- what is needed


def moves(parts, name):
    """Whether the last token's output moves when the queries, keys or values of the others are spoilt."""
    spoilt = torch.cat([parts[name][:-1] + 1, parts[name][-1:]])
    output, other = (scaled_dot_product_attention(*p.values())[0][-1] for p in (parts, parts | {name: spoilt}))
    return not torch.allclose(output, other)


def scores_from(start):
    """The scores of token 6 if it is turned by RoPE from here on, and those before it as they came: (1, 4, 7)."""
    query, key, _ = TOKENS
    keys = torch.cat([rotary(key[:, :, :6]), rotary(key[:, :, 6:7], start)], dim=2)
    return (rotary(query[:, :, 6:7], start) @ keys.mT)[:, :, 0]


def read(chunks, attention=cached_attention, kv_heads=2, **options):
    """The eight tokens in chunks, each call with what the one before handed back: the outputs and the last cache."""
    outputs, cache = [], None
    parts = (x[:, :heads].split(chunks, dim=2) for x, heads in zip(TOKENS, (4, kv_heads, kv_heads), strict=True))
    for new in zip(*parts, strict=True):
        output, cache = attention(*new, cache, **options)
        outputs.append(output)
    return torch.cat(outputs, dim=2), cache


# ---------------------------------------------------------------------------------------------------- five faults


def with_part(mask=window_mask, start=lambda seen: seen, share=share_heads, missing=0):
    """Attention with a cache and RoPE in which one part is exchanged."""

    def attention(q, k, v, cache=None, window=99):
        seen = 0 if cache is None else cache.seen
        q, k = rotary(q, start(seen)), rotary(k, start(seen))
        if cache is not None:
            k, v = torch.cat([cache.keys, k], dim=2), torch.cat([cache.values, v], dim=2)
        groups, spare = q.size(1) // k.size(1), max(0, k.size(2) - window + 1 + missing)
        allowed = mask(q.size(2), k.size(2), window)
        output, _ = scaled_dot_product_attention(q, share(k, groups), share(v, groups), allowed)
        return output, Cache(k[:, :, spare:], v[:, :, spare:], seen + q.size(2))

    return attention


def top_left(n_queries, n_keys, window):
    """A causal mask whose triangle stands at the upper left."""
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril()


def none_with_a_cache(n_queries, n_keys, window):
    """A mask for the first call, and none from then on."""
    if n_queries == n_keys:  # nothing was kept
        return window_mask(n_queries, n_keys, window)
    return torch.ones(n_queries, n_keys, dtype=torch.bool)


def faults():
    """Five faults of a cache by name, each an exchange of one part."""
    return {
        "top-left mask": with_part(mask=top_left),
        "no mask": with_part(mask=none_with_a_cache),
        "starts at 0": with_part(start=lambda seen: 0),
        "heads tiled": with_part(share=lambda x, groups: x.repeat(1, groups, 1, 1)),
        "short window": with_part(missing=1),
    }


def tests():
    """Five tests by name: how the tokens are cut, how many heads are stored, and whether there is a window."""
    return {
        "all at once": {"chunks": [8]},
        "one by one": {"chunks": [1] * 8},
        "prompt, two": {"chunks": [6, 2]},
        "shared heads": {"chunks": [8], "kv_heads": 2},
        "a window": {"chunks": [1] * 8, "window": 3},
    }


def notices(test, attention):
    """Whether a test sees a difference between this attention and one call of the right one."""
    chunks, kv_heads, window = test["chunks"], test.get("kv_heads", 4), test.get("window", 99)
    output, _ = read(chunks, attention, kv_heads, window=window)
    expected, _ = read([8], kv_heads=kv_heads, window=window, rope=True)
    return not torch.allclose(output, expected, atol=1e-4)


def who_notices_what():
    """A table: every test on every fault, and on the right code."""
    codes = faults() | {"right code": with_part()}
    rows = [" " * 14 + "".join(f"{name:>14}" for name in codes)]
    for name, test in tests().items():
        words = ("noticed" if notices(test, code) else "·" for code in codes.values())
        rows.append(f"{name:14}" + "".join(f"{word:>14}" for word in words))
    return "\n".join(rows)


# ------------------------------------------------------------------------------------------------- what it takes


def write(n, remember):
    """One layer that writes n tokens, each output being its next input, with a memory or without: (1, n + 1, 64)."""
    layer = torch.randn(3, 64, 64, generator=torch.Generator().manual_seed(0)) / 8
    text, cache = torch.ones(1, 1, 64), None
    for _ in range(n):
        heads = (split_heads((text[:, -1:] if remember else text) @ w, 4) for w in layer)
        output, kept = cached_attention(*heads, cache)
        cache = kept if remember else None
        text = torch.cat([text, merge_heads(output)[:, -1:]], dim=1)
    return text


def counted(n, remember):
    """The multiplications of `write`: three projections, and of each pair of tokens a score and a share of a value."""
    return sum((1 if remember else k) * (3 * 64**2 + 2 * 64 * k) for k in range(1, n + 1))


def took(n, remember):
    """The seconds of the processor that `write` takes, the better of two; others disturb them less than a clock's."""
    best = math.inf
    for _ in range(2):
        start = time.thread_time()
        write(n, remember)
        best = min(best, time.thread_time() - start)
    return best
