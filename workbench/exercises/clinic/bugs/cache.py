"""Bugs of a cache: each reads a text in chunks. They open after notebook 10."""

import functools

import torch

from attn_lib.functional import scaled_dot_product_attention, share_heads
from attn_lib.masks import window_mask
from attn_lib.position import rotary

from ..blind_spots import arguments
from ..bug import bug
from ..interfaces import CHUNKS

late_bug = functools.partial(bug, opens_after=10)


def reading(*, mask=window_mask, starts=lambda seen: (seen, seen), shared=(share_heads, share_heads), missing=0):
    """Return correct code with one part exchanged: the variants of these bugs."""

    def attention(q, k, v, chunks, window):
        outputs, keys, values, seen = [], k[:, :, :0], v[:, :, :0], 0
        for query, key, value in zip(*(x.split(chunks, dim=2) for x in (q, k, v)), strict=True):
            query, key = (rotary(x, start) for x, start in zip((query, key), starts(seen), strict=True))
            keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
            allowed = mask(query.size(2), keys.size(2), window)
            groups = q.size(1) // k.size(1)
            heads = [share(x, groups) for share, x in zip(shared, (keys, values), strict=True)]
            outputs.append(scaled_dot_product_attention(query, *heads, allowed)[0])
            gone, seen = max(0, keys.size(2) - window + 1 + missing), seen + query.size(2)
            keys, values = keys[:, :, gone:], values[:, :, gone:]
        return torch.cat(outputs, dim=2)

    return attention


def band_from(place):
    """Return the mask of a window whose first query stands at place(n_new, n_keys); right is n_keys - n_new."""

    def mask(n_new, n_keys, window):
        own = place(n_new, n_keys)
        return torch.ones(n_new, n_keys, dtype=torch.bool).tril(own).triu(own - window + 1)

    return mask


def looking_ahead(ahead):
    """Return a mask that lets new tokens see `ahead` tokens too far, once there is a cache."""

    def mask(n_new, n_keys, window):
        if n_new == n_keys:
            return window_mask(n_new, n_keys, window)
        return (
            torch.ones(n_new, n_keys, dtype=torch.bool).tril(n_keys - n_new + ahead).triu(n_keys - n_new - window + 1)
        )

    return mask


def tiled(x, groups):
    return x.repeat(1, groups, 1, 1)


def at_once(calls):
    """Every text of the test is read at once.

    Then no key was stored before, and this patient is right. Read the text in chunks.
    """
    return all(len(chunks) == 1 for chunks in arguments(calls, "chunks"))


@late_bug(
    "6.22",
    CHUNKS,
    fixes=[
        {
            7: (
                "torch.ones(n_new, n_keys, dtype=torch.bool).tril().triu(1 - window)",
                "window_mask(n_new, n_keys, window)",
            )
        }
    ],
    faults=("misaligned", "miscounted"),
    section="10#text-chunk",
    variants={
        "the triangle begins half way between upper left and lower right": reading(
            mask=band_from(lambda n_new, n_keys: (n_keys - n_new) // 2)
        ),
        "with a cache, the triangle is one column too far to the left": reading(
            mask=band_from(lambda n_new, n_keys: n_keys - n_new - (n_new < n_keys))
        ),
    },
    hints=[
        "With queries of 0, all allowed keys get the same weight: the output is the plain average of their values.",
        "Draw its mask for one new token when five are kept. Which keys does the newest token attend to?",
        "However a text is cut, the output must be the same. Read six tokens at once, and then five and one, "
        "with one head, queries of 0 and a window that is longer than the text.",
    ],
)
def chunk_top_left(q, k, v, chunks, window):
    """The mask of a chunk starts at the upper left.

    The triangle is right for a prompt. But later the newest tokens attend to the oldest keys, and not to themselves.
    `is_causal=True` of PyTorch's own function does the same.
    """
    outputs, keys, values, seen = [], k[:, :, :0], v[:, :, :0], 0
    for query, key, value in zip(*(x.split(chunks, dim=2) for x in (q, k, v)), strict=True):
        query, key = rotary(query, seen), rotary(key, seen)
        keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        n_new, n_keys, groups = query.size(2), keys.size(2), q.size(1) // k.size(1)
        mask = torch.ones(n_new, n_keys, dtype=torch.bool).tril().triu(1 - window)
        heads = [x.repeat_interleave(groups, dim=1) for x in (keys, values)]
        outputs.append(scaled_dot_product_attention(query, *heads, mask)[0])
        gone, seen = max(0, n_keys - window + 1), seen + n_new
        keys, values = keys[:, :, gone:], values[:, :, gone:]
    return torch.cat(outputs, dim=2)


chunk_top_left.blind_to(at_once)


@chunk_top_left.tested_by
def detects(attention):
    q, (k, v) = torch.zeros(1, 1, 6, 4), torch.randn(2, 1, 1, 6, 4)  # equal weights for all allowed keys
    return not torch.allclose(attention(q, k, v, [5, 1], 9), attention(q, k, v, [6], 9), atol=1e-4)


@late_bug(
    "6.23",
    CHUNKS,
    fixes=[{7: (" if seen == 0 else None", "")}],
    faults=("not asked",),
    section="10#text-chunk",
    variants={
        "with a cache, each new token may attend to one later token": reading(mask=looking_ahead(1)),
        "new tokens may attend to all later tokens, but the window is right": reading(mask=looking_ahead(99)),
    },
    hints=[
        "If the text is read token by token, this patient is right. When does a new token need a mask?",
        "If two new tokens come together, to which token may the first not attend?",
        "Use two conditions. Read four tokens and then two: the output of the fifth changes with the value of"
        " the sixth. Read six at once: it does not.",
    ],
)
def mask_for_the_prompt_only(q, k, v, chunks, window):
    """There is no mask for tokens after the prompt.

    A single new token may attend to every stored key, so only the prompt seems to need a mask. But if several new
    tokens come together, the first can attend to the last, and the last to keys that its window no longer holds.
    """
    outputs, keys, values, seen = [], k[:, :, :0], v[:, :, :0], 0
    for query, key, value in zip(*(x.split(chunks, dim=2) for x in (q, k, v)), strict=True):
        query, key = rotary(query, seen), rotary(key, seen)
        keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        n_new, n_keys, groups = query.size(2), keys.size(2), q.size(1) // k.size(1)
        mask = window_mask(n_new, n_keys, window) if seen == 0 else None
        heads = [x.repeat_interleave(groups, dim=1) for x in (keys, values)]
        outputs.append(scaled_dot_product_attention(query, *heads, mask)[0])
        gone, seen = max(0, n_keys - window + 1), seen + n_new
        keys, values = keys[:, :, gone:], values[:, :, gone:]
    return torch.cat(outputs, dim=2)


mask_for_the_prompt_only.blind_to(at_once)


@mask_for_the_prompt_only.blind_to
def one_new_token(calls):
    """After its first chunk the test passes only single tokens.

    A single new token is the newest: it may attend to all keys, with a mask or without. Pass two at once.
    """
    return all(set(chunks[1:]) <= {1} for chunks in arguments(calls, "chunks"))


@mask_for_the_prompt_only.tested_by
def detects(attention):
    q, (k, v) = torch.zeros(1, 1, 6, 4), torch.randn(2, 1, 1, 6, 4)
    changed = v.clone()
    changed[:, :, 5] += 1  # the last one's value

    def looks_ahead(chunks):
        before, after = attention(q, k, v, chunks, 9), attention(q, k, changed, chunks, 9)
        return not torch.allclose(before[:, :, 4], after[:, :, 4], atol=1e-4)

    return looks_ahead([4, 2]) and not looks_ahead([6])


@late_bug(
    "6.24",
    CHUNKS,
    fixes=[{4: ("rotary(query), rotary(key)", "rotary(query, seen), rotary(key, seen)")}],
    faults=("miscounted", "misaligned"),
    section="10#text-start",
    variants={
        "only the positions of the queries begin again at 0": reading(starts=lambda seen: (0, seen)),
        "the first position of a chunk is only half of what it should be": reading(
            starts=lambda seen: (seen // 2, seen // 2)
        ),
    },
    hints=[
        "Which line uses the number of tokens that were read, and which line should use it?",
        "With queries of 0 their rotation makes no difference: then this patient is right.",
        "Use two conditions: with queries of 0 the output is the same for every cut, with other queries it is not.",
    ],
)
def positions_from_zero(q, k, v, chunks, window):
    """Positions start again from 0.

    Each chunk is rotated as if a text began with it: the start is missing in both calls of `rotary`.
    """
    outputs, keys, values, seen = [], k[:, :, :0], v[:, :, :0], 0
    for query, key, value in zip(*(x.split(chunks, dim=2) for x in (q, k, v)), strict=True):
        query, key = rotary(query), rotary(key)
        keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        n_new, n_keys, groups = query.size(2), keys.size(2), q.size(1) // k.size(1)
        mask = window_mask(n_new, n_keys, window)
        heads = [x.repeat_interleave(groups, dim=1) for x in (keys, values)]
        outputs.append(scaled_dot_product_attention(query, *heads, mask)[0])
        gone, seen = max(0, n_keys - window + 1), seen + n_new
        keys, values = keys[:, :, gone:], values[:, :, gone:]
    return torch.cat(outputs, dim=2)


positions_from_zero.blind_to(at_once)


@positions_from_zero.blind_to
def nobody_asks(calls):
    """All queries of the test are 0.

    Then all allowed keys get the same weight, in whatever way they were rotated.
    """
    return all(not q.any() for q in arguments(calls, "q"))


@positions_from_zero.tested_by
def detects(attention):
    q, k, v = torch.randn(3, 1, 1, 6, 4)

    def depends_on_the_cut(q):
        return not torch.allclose(attention(q, k, v, [5, 1], 9), attention(q, k, v, [6], 9), atol=1e-4)

    return depends_on_the_cut(3 * q) and not depends_on_the_cut(0 * q)


@late_bug(
    "6.25",
    CHUNKS,
    fixes=[{8: ("repeat(1, groups, 1, 1)", "repeat_interleave(groups, dim=1)")}],
    faults=("wrong order", "misaligned"),
    section="10#text-shared",
    variants={
        "only the keys are repeated as a list": reading(shared=(tiled, share_heads)),
        "only the values are repeated as a list": reading(shared=(share_heads, tiled)),
    },
    hints=[
        "With as many stored heads as heads of queries this patient is right, and with one stored head, too.",
        "Take two stored heads and four heads of queries: write down which of the two each head of queries uses.",
        "Heads that share must give the same output as with k and v that you repeat in the right order before"
        " the call.",
    ],
)
def heads_tiled(q, k, v, chunks, window):
    """repeat in place of repeat_interleave.

    Stored heads A and B are repeated as A, B, A, B and not as A, A, B, B. Every shape is right, and half of the heads
    use the wrong keys.
    """
    outputs, keys, values, seen = [], k[:, :, :0], v[:, :, :0], 0
    for query, key, value in zip(*(x.split(chunks, dim=2) for x in (q, k, v)), strict=True):
        query, key = rotary(query, seen), rotary(key, seen)
        keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        n_new, n_keys, groups = query.size(2), keys.size(2), q.size(1) // k.size(1)
        mask = window_mask(n_new, n_keys, window)
        heads = [x.repeat(1, groups, 1, 1) for x in (keys, values)]
        outputs.append(scaled_dot_product_attention(query, *heads, mask)[0])
        gone, seen = max(0, n_keys - window + 1), seen + n_new
        keys, values = keys[:, :, gone:], values[:, :, gone:]
    return torch.cat(outputs, dim=2)


@heads_tiled.blind_to
def nothing_shared(calls):
    """In the test no heads share, or all heads share one.

    Then every order of the heads is right. Take four heads of queries and two stored heads.
    """
    return all(call["k"].size(1) in (1, call["q"].size(1)) for call in calls)


@heads_tiled.tested_by
def detects(attention):
    q, (k, v) = torch.randn(1, 4, 5, 6), torch.randn(2, 1, 2, 5, 6)  # four heads of queries, two that are stored
    own_k, own_v = (x.repeat_interleave(2, dim=1) for x in (k, v))  # a copy for each
    return not torch.allclose(attention(q, k, v, [5], 9), attention(q, own_k, own_v, [5], 9), atol=1e-4)


@late_bug(
    "6.26",
    CHUNKS,
    fixes=[
        {10: ("window + 2", "window + 1")},
        {11: ("gone:], values[:, :, gone:]", "max(0, gone - 1) :], values[:, :, max(0, gone - 1) :]")},
    ],
    faults=("miscounted",),
    section="10#text-window",
    variants={
        "two keys too few are kept": reading(missing=2),
        "three keys too few are kept": reading(missing=3),
    },
    hints=[
        "How many tokens must be kept for a window of three? The next token brings its own key.",
        "It is wrong only if the text is at least as long as the window.",
        "Use two conditions. A text that is shorter than its window gives the same one by one as at once; a"
        " longer text does not. With queries of 0 other faults have no effect.",
    ],
)
def window_cut_short(q, k, v, chunks, window):
    """The window is one token too short.

    One token too many is removed. The fault appears only if the text is at least as long as the window; texts of tests
    are usually short.
    """
    outputs, keys, values, seen = [], k[:, :, :0], v[:, :, :0], 0
    for query, key, value in zip(*(x.split(chunks, dim=2) for x in (q, k, v)), strict=True):
        query, key = rotary(query, seen), rotary(key, seen)
        keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        n_new, n_keys, groups = query.size(2), keys.size(2), q.size(1) // k.size(1)
        mask = window_mask(n_new, n_keys, window)
        heads = [x.repeat_interleave(groups, dim=1) for x in (keys, values)]
        outputs.append(scaled_dot_product_attention(query, *heads, mask)[0])
        gone, seen = max(0, n_keys - window + 2), seen + n_new
        keys, values = keys[:, :, gone:], values[:, :, gone:]
    return torch.cat(outputs, dim=2)


window_cut_short.blind_to(at_once)


@window_cut_short.blind_to
def within_the_window(calls):
    """Every text of the test is shorter than its window.

    Then no token that is needed is ever removed. Take a window of 3 and six tokens.
    """
    return all(call["q"].size(2) < call["window"] for call in calls)


@window_cut_short.tested_by
def detects(attention):
    q, (k, v) = torch.zeros(1, 1, 6, 4), torch.randn(2, 1, 1, 6, 4)

    def depends_on_the_cut(window):
        one_by_one, whole = attention(q, k, v, [1] * 6, window), attention(q, k, v, [6], window)
        return not torch.allclose(one_by_one, whole, atol=1e-4)

    return depends_on_the_cut(3) and not depends_on_the_cut(9)


@bug(
    "6.40",
    CHUNKS,
    fixes=[{7: (" if n_new == 1 else 0", "")}],
    faults=("misaligned", "not asked"),
    section="10#text-chunk",
    opens_after=12,
    variants={
        "the triangle of a chunk begins half way between the two corners; that of a single token is right": reading(
            mask=band_from(lambda n_new, n_keys: n_keys - 1 if n_new == 1 else (n_keys - n_new) // 2)
        ),
        "the triangle of a chunk is one column too far to the left; that of a single token is right": reading(
            mask=band_from(lambda n_new, n_keys: n_keys - n_new - (1 < n_new < n_keys))
        ),
    },
    hints=[
        "A prompt is right, and single tokens after it are right. In which other way can a text be cut?",
        "Draw its mask for two new tokens when four are kept. Which keys may the first of them attend to?",
        "Use three conditions. Five tokens and then one give the same as six at once; four and then two do "
        "not; and there the value of the last token changes no other output.",
    ],
)
def flag_for_chunks(q, k, v, chunks, window):
    """A flag in place of a mask: right for a prompt, right for one token, wrong for a chunk with stored keys.

    `is_causal=n_new > 1` puts the triangle of every chunk at the upper left, since PyTorch's own function starts there.
    A prompt has no earlier keys, and a single token needs no triangle, so the usual tests pass. The fault appears if a
    long prompt is read in pieces, or if a draft, several proposed tokens, is checked in one call. (For example pytorch,
    issue 108108.)
    """
    outputs, keys, values, seen = [], k[:, :, :0], v[:, :, :0], 0
    for query, key, value in zip(*(x.split(chunks, dim=2) for x in (q, k, v)), strict=True):
        query, key = rotary(query, seen), rotary(key, seen)
        keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        n_new, n_keys, groups = query.size(2), keys.size(2), q.size(1) // k.size(1)
        own = n_keys - n_new if n_new == 1 else 0
        mask = torch.ones(n_new, n_keys, dtype=torch.bool).tril(own).triu(own - window + 1)
        heads = [x.repeat_interleave(groups, dim=1) for x in (keys, values)]
        outputs.append(scaled_dot_product_attention(query, *heads, mask)[0])
        gone, seen = max(0, n_keys - window + 1), seen + n_new
        keys, values = keys[:, :, gone:], values[:, :, gone:]
    return torch.cat(outputs, dim=2)


flag_for_chunks.blind_to(at_once, one_new_token)


@flag_for_chunks.tested_by
def detects(attention):
    q, (k, v) = torch.zeros(1, 1, 6, 4), torch.randn(2, 1, 1, 6, 4)
    whole, one, two = (attention(q, k, v, chunks, 9) for chunks in ([6], [5, 1], [4, 2]))
    changed = v.clone()
    changed[:, :, 5] += 1  # the last one's value
    looks_ahead = not torch.allclose(two[:, :, :5], attention(q, k, changed, [4, 2], 9)[:, :, :5], atol=1e-4)
    differs = torch.allclose(one, whole, atol=1e-4) and not torch.allclose(two, whole, atol=1e-4)
    return differs and not looks_ahead
