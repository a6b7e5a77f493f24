"""Bugs of a cache: each reads a text in chunks. They open after notebook 10."""

import functools

import torch

from attn_lib.functional import scaled_dot_product_attention, share_heads
from attn_lib.masks import window_mask
from attn_lib.position import rotary

from ..blind_spots import given
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
    """Every text of the test is read in one go.

    Then nothing has been kept when a token comes, and this patient is in perfect health. Read it in chunks.
    """
    return all(len(chunks) == 1 for chunks in given(calls, "chunks"))


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
        "the triangle begins half way between the two corners": reading(
            mask=band_from(lambda n_new, n_keys: (n_keys - n_new) // 2)
        ),
        "the triangle is one place too far left, once there is a cache": reading(
            mask=band_from(lambda n_new, n_keys: n_keys - n_new - (n_new < n_keys))
        ),
    },
    hints=[
        "Queries of 0 give every key that is heard the same weight: the output is a plain average of those values.",
        "Draw its mask for one new token when five are kept. Which keys does the newest token hear?",
        "How a text is cut may not matter. Read six tokens at once, and then five and one, with one head, queries of 0 "
        "and a window that is longer than the text.",
    ],
)
def chunk_top_left(q, k, v, chunks, window):
    """A chunk's mask at the upper left.

    The triangle is right for a prompt. The newest tokens then hear the oldest keys, and not even themselves. Found in
    several public runtimes, and it is what `is_causal=True` of PyTorch's own function does.
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
    q, (k, v) = torch.zeros(1, 1, 6, 4), torch.randn(2, 1, 1, 6, 4)  # equal weights for all that is heard
    return not torch.allclose(attention(q, k, v, [5, 1], 9), attention(q, k, v, [6], 9), atol=1e-4)


@late_bug(
    "6.23",
    CHUNKS,
    fixes=[{7: (" if seen == 0 else None", "")}],
    faults=("not asked",),
    section="10#text-chunk",
    variants={
        "new tokens see one too far ahead, once there is a cache": reading(mask=looking_ahead(1)),
        "new tokens see everything ahead, but the window is kept to": reading(mask=looking_ahead(99)),
    },
    hints=[
        "Read token by token it is in perfect health. When does a new token need a mask?",
        "Of two tokens that come together, whom may the first not hear?",
        "Two conditions: of two tokens that come behind four the first notices when the last one's value changes, and "
        "of six that come at once it does not.",
    ],
)
def mask_for_the_prompt_only(q, k, v, chunks, window):
    """No mask once there is a cache.

    A single new token may hear everything that is there, so a mask seems to be needed for the prompt only. Of several
    new ones the first hears the last, and a window is not kept to either.
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
    """After its first chunk the test hands over single tokens only.

    A single new token is the newest: it may hear all that is there, with a mask or without. Hand over two at once.
    """
    return all(set(chunks[1:]) <= {1} for chunks in given(calls, "chunks"))


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
        "only the queries begin again at 0": reading(starts=lambda seen: (0, seen)),
        "positions run on at half their pace": reading(starts=lambda seen: (seen // 2, seen // 2)),
    },
    hints=[
        "Which of its lines knows how many tokens have been read, and which ought to?",
        "With queries of 0 it does not matter how they are turned: then all is well.",
        "Two conditions: with queries of 0 it does not matter how a text is cut, with others it does.",
    ],
)
def positions_from_zero(q, k, v, chunks, window):
    """Positions that start again.

    Each chunk is turned as if a text began with it. Found in several public ports of RoPE, where the start was left out
    of one call.
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

    Then every key that is heard gets the same weight, however it was turned.
    """
    return all(not q.any() for q in given(calls, "q"))


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
        "only the keys are tiled": reading(shared=(tiled, share_heads)),
        "only the values are tiled": reading(shared=(share_heads, tiled)),
    },
    hints=[
        "With as many stored heads as heads of queries it is in perfect health, and with one stored head too.",
        "Two stored heads, four heads of queries: write down which of the two each head asks.",
        "Heads that share come to what they come to if each is handed a copy of its own: k and v repeated beforehand, "
        "as they ought to be.",
    ],
)
def heads_tiled(q, k, v, chunks, window):
    """repeat in place of repeat_interleave.

    Stored heads A and B are laid out as A, B, A, B. Every shape is right, and half of the heads ask somebody else's
    keys. Found in converters and tutorials.
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
    """In the test no heads share, or all share one.

    Then each order of them is the right one. Take four heads of queries and two that are stored.
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
        "How many tokens have to be kept for a window of three? The next one brings a key of its own.",
        "It goes wrong only once the text is longer than the window.",
        "Two conditions: read one by one, a text within its window comes out as read at once, and one that is longer "
        "than its window does not. Queries of 0 keep other faults out.",
    ],
)
def window_cut_short(q, k, v, chunks, window):
    """A window that is one too short.

    One token too many is let go. Nothing is wrong until the text is longer than its window, which in a test it seldom
    is. A public runtime had it.
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
    """No text of the test is longer than its window.

    Then nothing that is needed is ever let go. Take a window of 3 and six tokens.
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
        "a chunk's triangle begins half way between the two corners, a single token's does not": reading(
            mask=band_from(lambda n_new, n_keys: n_keys - 1 if n_new == 1 else (n_keys - n_new) // 2)
        ),
        "a chunk's triangle stands one place too far left, a single token's does not": reading(
            mask=band_from(lambda n_new, n_keys: n_keys - n_new - (1 < n_new < n_keys))
        ),
    },
    hints=[
        "A prompt is read rightly, and word by word it goes on rightly. What else may a text be cut into?",
        "Draw its mask for two new tokens when four are kept. Which keys may the first of them attend to?",
        "Three conditions: five and then one come to what six at once come to, four and then two do not, and nobody "
        "there looks ahead: the last one's value moves nobody else's output.",
    ],
)
def flag_for_chunks(q, k, v, chunks, window):
    """A flag in place of a mask: right for a prompt, right for one token, wrong for a chunk behind a cache.

    `is_causal=n_new > 1` puts the triangle of every chunk at the upper left, since PyTorch's own function counts from
    there. A prompt has no keys before it, a single token needs no triangle, and so every usual test passes. A long
    prompt that is read in pieces, or a draft that is looked over, meets it.
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
