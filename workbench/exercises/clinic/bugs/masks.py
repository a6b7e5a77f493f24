"""Bugs that get a mask and do something else with it."""

import math

import torch

from attn_lib.functional import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads
from attn_lib.masks import causal_mask, padding_mask

from ..blind_spots import given, no_mask, square_only
from ..bug import bug
from ..correct import by_library, causal_of, filled, heads_of, plain, with_both
from ..interfaces import BOTH, CAUSAL, HEADS, PLAIN, qkv


@bug(
    "6.5",
    PLAIN,
    fixes=[{4: ("scores.masked_fill", "scores = scores.masked_fill")}],
    faults=("not used",),
    section="03#text-14",
    variants={
        "the mask is an argument that no line reads": plain(lambda scores, mask: torch.softmax(scores, dim=-1)),
        "only `mask.any(-1)` arrives: a query that may hear one key hears all": plain(
            lambda scores, mask: masked_softmax(
                scores, None if mask is None else mask.any(-1, keepdim=True).expand_as(scores)
            )
        ),
    },
    hints=[
        "What does each line return, and who takes it?",
        "Call it with a mask and without one.",
        "A mask that has an effect changes the output. Leave every query something, so that no row is empty.",
    ],
)
def mask_forgotten(q, k, v, mask=None):
    """The mask that never arrives.

    A source text builds a mask for its demo and calls the module without it; here the fill is computed and not kept.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, dim=-1).nan_to_num() @ v


mask_forgotten.blind_to(no_mask)


@mask_forgotten.tested_by
def detects(attention):
    q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
    mask = torch.ones(3, 5, dtype=torch.bool).tril(1)
    return torch.allclose(attention(q, k, v, mask), attention(q, k, v), atol=1e-4)


@bug(
    "6.6",
    PLAIN,
    fixes=[{4: ("(mask", "(~mask")}],
    faults=("exchanged",),
    section="03#text-35",
    variants={
        "−1e9 is filled in where the mask is True": plain(
            lambda scores, mask: torch.softmax(scores if mask is None else scores.masked_fill(mask, -1e9), dim=-1)
        ),
        "`mask * -1e9` is added to the scores": plain(
            lambda scores, mask: torch.softmax(scores if mask is None else scores + mask * -1e9, dim=-1)
        ),
    },
    hints=[
        "Let every query see the first key only. What has to come out?",
        "The weights of a query that sees one key only are known without computing: use a unit matrix for the values.",
        "Change the value of a key that may be seen. In right code the output moves; with most other faults too.",
    ],
)
def polarity_flipped(q, k, v, mask=None):
    """True means the opposite.

    Code moved over from `nn.MultiheadAttention`, where True = ignored. Nothing is raised.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    return torch.softmax(scores, dim=-1).nan_to_num() @ v


polarity_flipped.blind_to(no_mask)


@polarity_flipped.tested_by
def detects(attention):
    q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
    first_only = torch.tensor([True, False, False, False, False]).expand(3, 5)
    changed = v.clone()
    changed[:, 0] += 1  # the one value that may be seen
    return torch.allclose(attention(q, k, v, first_only), attention(q, k, changed, first_only), atol=1e-4)


@bug(
    "6.7",
    PLAIN,
    fixes=[{4: ("scores + mask.float()", "scores.masked_fill(~mask, -math.inf)")}],
    faults=("too weak",),
    section="03#text-35",
    variants={
        "3 is taken from the scores that may not be heard": plain(
            lambda scores, mask: torch.softmax(scores if mask is None else scores - 3 * (~mask).float(), dim=-1)
        ),
        "the scores are multiplied by the mask": plain(
            lambda scores, mask: torch.softmax(scores if mask is None else scores * mask, dim=-1)
        ),
    },
    hints=[
        "How much weight does a key get that may not be seen? A unit matrix for the values shows it.",
        "By how much does the mask change a score, and by how much would it have to?",
        "Two conditions: every weight is above 0, and the mask has an effect all the same. The first alone condemns a "
        "patient who ignores the mask.",
    ],
)
def mask_added(q, k, v, mask=None):
    """A mask that is added as 0 and 1.

    Converted to floats, a mask is taken by PyTorch as something to be added to the scores.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores + mask.float()
    return torch.softmax(scores, dim=-1).nan_to_num() @ v


mask_added.blind_to(no_mask)


@mask_added.tested_by
def detects(attention):
    q, k, unit = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.eye(5).expand(2, 5, 5)
    mask = torch.ones(3, 5, dtype=torch.bool).tril(1)
    weights = attention(q, k, unit, mask)  # with a unit matrix for values the weights come out
    has_an_effect = not torch.allclose(weights, attention(q, k, unit), atol=1e-4)
    return has_an_effect and bool((weights > 0).all())


@bug(
    "6.8",
    PLAIN,
    fixes=[
        {5: ("weights * mask", "masked_softmax(scores, mask)")},
        {3: ("torch.softmax(scores, dim=-1)", "masked_softmax(scores, mask)")},
    ],
    faults=("wrong order",),
    section="03#text-07",
    variants={
        "1e-9 is put in place of the weights, after softmax": plain(
            lambda scores, mask: (
                torch.softmax(scores, -1) if mask is None else torch.softmax(scores, -1).masked_fill(~mask, 1e-9)
            )
        ),
        "the weights left over are scaled up by n_keys / keys that may be heard, not by their own sum": plain(
            lambda scores, mask: (
                torch.softmax(scores, -1)
                if mask is None
                else torch.softmax(scores, -1) * mask * mask.size(-1) / mask.sum(-1, keepdim=True).clamp(min=1)
            )
        ),
    },
    hints=[
        "What do the weights of one query sum to, without a mask and with one?",
        "Values of 1 make an average of 1. Here they do so without a mask.",
        "Two conditions: with values of 1 and no mask 1 comes out, with a mask it does not.",
    ],
)
def zeros_after_softmax(q, k, v, mask=None):
    """Zeros after softmax.

    The weights are multiplied by the mask once softmax is over: rows no longer sum to 1. An issue of the transformers
    library was about this.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v


zeros_after_softmax.blind_to(no_mask)


@zeros_after_softmax.tested_by
def detects(attention):
    q, k, ones = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.ones(2, 5, 4)
    mask = torch.ones(3, 5, dtype=torch.bool).tril(1)
    averages = torch.allclose(attention(q, k, ones), torch.ones(2, 3, 4), atol=1e-4)
    return averages and not torch.allclose(attention(q, k, ones, mask), torch.ones(2, 3, 4), atol=1e-4)


def padding_ignored(q, k, v, lengths=None, mask=None):
    return by_library(q, k, v, mask) if mask is not None else with_both()(q, k, v, lengths)


def either_suffices(q, k, v, lengths=None, mask=None):
    if lengths is None or mask is None:
        return with_both()(q, k, v, lengths, mask)
    return by_library(q, k, v, mask | padding_mask(lengths, k.size(1)))


@bug(
    "6.13",
    BOTH,
    fixes=[
        {
            3: (
                "mask = padding_mask(lengths, k.size(1))",
                "real = padding_mask(lengths, k.size(1))\n        mask = real if mask is None else mask & real",
            )
        }
    ],
    faults=("not used",),
    section="03#text-14",
    variants={
        "it is the padding that is lost where both are given": padding_ignored,
        "either mask suffices: `mask | padding_mask(…)`": either_suffices,
    },
    hints=[
        "Each of the two works alone. What becomes of one when the other is given?",
        "Masks combine with `&`. What one mask says may not be lost because there is a second one.",
        "Take one sentence of 4 tokens, 3 of them real. Lengths and mask given apart must come to the same as both "
        "combined into one mask: that holds for every other patient too.",
    ],
)
def mask_replaced(q, k, v, lengths=None, mask=None):
    """Padding given, causality lost.

    A source text's function replaces the caller's mask as soon as padding is given too.
    """
    if lengths is not None:
        mask = padding_mask(lengths, k.size(1))
    return scaled_dot_product_attention(q, k, v, mask)[0]


@mask_replaced.blind_to
def never_both(calls):
    """The test never passes both.

    Each of the two works alone. It is together that one of them is lost.
    """
    return not any(call.get("lengths") is not None and call.get("mask") is not None for call in calls)


@mask_replaced.tested_by
def detects(attention):
    q, k, v = torch.randn(3, 1, 4, 8)
    lengths, mask = torch.tensor([3]), causal_mask(4)
    both_in_one = mask & padding_mask(lengths, 4)[0]
    return not torch.allclose(attention(q, k, v, lengths, mask), attention(q, k, v, mask=both_in_one), atol=1e-4)


@bug(
    "6.14",
    CAUSAL,
    fixes=[{3: ("tril()", "tril(n_k - n_q)")}],
    faults=("misaligned", "miscounted"),
    section="03#text-10",
    variants={
        "with fewer queries than keys nothing is hidden from anybody": causal_of(
            offset=lambda n_q, n_k: n_k - 1 if n_q < n_k else 0
        ),
        "the triangle begins half way between the two corners": causal_of(offset=lambda n_q, n_k: (n_k - n_q) // 2),
    },
    hints=[
        "With as many queries as keys it is in perfect health. Draw its mask for 2 queries and 5 keys.",
        "When the queries are the newest of many tokens, which key is the last one's own?",
        "The newest two queries alone have to get what they get among all five: call it with `q[:, -2:]` and with `q`.",
    ],
)
def causal_top_left(q, k, v):
    """A causal mask that starts at the wrong corner.

    The triangle puts query 0 at key 0, as PyTorch's `is_causal=True` does. When the queries are the newest of many
    tokens, they see almost nothing.
    """
    n_q, n_k = q.size(-2), k.size(-2)
    mask = torch.ones(n_q, n_k, dtype=torch.bool).tril()
    return scaled_dot_product_attention(q, k, v, mask)[0]


causal_top_left.blind_to(square_only)


@causal_top_left.tested_by
def detects(attention):
    q, k, v = torch.randn(3, 2, 5, 8)
    return not torch.allclose(attention(q[:, -2:], k, v), attention(q, k, v)[:, -2:], atol=1e-4)


@bug(
    "6.19",
    HEADS,
    fixes=[
        {5: ("~mask", "~(mask[:, None] if mask.ndim == 3 else mask)")},
        {4: ("None:", "None:\n        mask = mask[:, None] if mask.ndim == 3 else mask")},
    ],
    faults=("misaligned", "wrong axis"),
    section="04#text-27",
    variants={
        "the same mask without a head axis, filled with −1e9": heads_of(
            plain(lambda scores, mask: torch.softmax(filled(scores, mask, -1e9), -1)), head_axis=False
        ),
        "the first sentence's mask is used for all": heads_of(
            lambda q, k, v, mask=None: by_library(q, k, v, mask if mask is None else mask[:1])
        ),
    },
    hints=[
        "Pass a mask (batch, n, n) with 2 sentences and 3 heads, then with 3 sentences and 3 heads.",
        "Write the shape of the scores above that of the mask, aligned at the right. Which axis meets which?",
        "A sentence does not notice who else is in the batch: alone, with its own mask, it has to get the same.",
    ],
)
def mask_per_head(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """A mask per sequence taken for one per head.

    A mask (batch, n, n) against scores (batch, heads, n, n): where batch equals heads it broadcasts, and sequence 0's
    mask becomes head 0's.
    """
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (batch, heads, n, n)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return merge_heads(torch.softmax(scores, dim=-1) @ v) @ w_o


mask_per_head.blind_to(no_mask)


@mask_per_head.blind_to
def one_sequence(calls):
    """There is only one sequence.

    With one sequence its mask is every head's mask anyway. Take as many sequences as heads, with masks that differ.
    """
    return all(x.size(0) == 1 for x in given(calls, "x"))


@mask_per_head.tested_by
def detects(attention):
    x, weights = torch.randn(3, 5, 6), torch.randn(4, 6, 6)
    mask = padding_mask([5, 2, 3], 5) & causal_mask(5)  # (3, 5, 5), for 3 sentences and 3 heads
    together, alone = attention(x, *weights, 3, mask), attention(x[1:2], *weights, 3, mask[1:2])
    return not torch.allclose(together[1:2], alone, atol=1e-4)


def least_twice(number):
    """Return attention that adds a number wherever a mask is False, and sets weights of masked keys to 0."""

    def attention(q, k, v, lengths=None, mask=None):
        real, open_ = either_given(q, k, lengths, mask)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        for one in (real, open_):
            scores = scores + torch.where(one, 0.0, number)
        return torch.softmax(scores, dim=-1) * (real & open_) @ v

    return attention


def either_given(q, k, lengths, mask):
    """Both masks, all True for one that is not given."""
    everybody = torch.ones(1, q.size(-2), k.size(-2), dtype=torch.bool)
    return everybody if lengths is None else padding_mask(lengths, k.size(1)), everybody if mask is None else mask


def with_a_row_that_both_hide():
    mask = torch.tensor([[True, False, False], [False, False, False], [True, True, False]])
    return *qkv(n_q=3, n_k=3, seed=9), torch.tensor([0, 3]), mask


@bug(
    "6.41",
    BOTH,
    fixes=[
        {6: ("scores + torch.where(mask, 0.0, least)", "torch.where(mask, scores, least)")},
        {5: ("least", "-1e30")},
        {4: ("torch.finfo(q.dtype).min", "torch.finfo(q.dtype).min / 2")},
    ],
    faults=("nothing left",),
    section="03#text-21",
    opens_after=12,
    probes=[with_a_row_that_both_hide()],
    gradients=True,
    variants={
        "the same, in a loop over the two": least_twice(torch.finfo(torch.float32).min),
        "−∞ is added for each of the two": least_twice(-math.inf),
    },
    hints=[
        "Each of the two masks alone is safe, in every row. What are the numbers where both say no?",
        "`torch.finfo(torch.float32).min` is the lowest number there is. What is twice that?",
        "Hide all keys from a query by its mask, and give its text no real token. Is its output a number?",
    ],
)
def lowest_number_twice(q, k, v, lengths=None, mask=None):
    """Two masks are added, each with the lowest number there is: together they come to −∞.

    A single one is safe: the lowest number and a score come to that number again. Where both hide all keys from a query
    its row is −∞ throughout, and softmax makes NaN of it, which the last line cannot take away: NaN times 0 is NaN. In
    half precision the lowest number is −65504, and a single score may be too much. Found in several large libraries.
    """
    real = torch.ones(1, 1, k.size(1), dtype=torch.bool) if lengths is None else padding_mask(lengths, k.size(1))
    mask = torch.ones(q.size(1), k.size(1), dtype=torch.bool) if mask is None else mask
    scores, least = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), torch.finfo(q.dtype).min
    scores = scores + torch.where(real, 0.0, least)
    scores = scores + torch.where(mask, 0.0, least)
    return torch.softmax(scores, dim=-1) * (real & mask) @ v


@lowest_number_twice.blind_to
def not_both_at_once(calls):
    """No query of the test is left alone by both.

    It takes a text without a real token *and* a row of the mask that is empty: each of the two alone is safe.
    """
    dead = [call["mask"].any(dim=-1).all() or call["lengths"].all() for call in calls if _has_both(call)]
    return all(dead)


def _has_both(call):
    return call.get("lengths") is not None and call.get("mask") is not None


@lowest_number_twice.tested_by
def detects(attention):
    q, k, v = torch.randn(3, 2, 3, 8)
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[1] = False  # nobody for query 1
    output = attention(q, k, v, torch.tensor([0, 3]), mask)  # and the first text has no real token
    return bool(output[0, 1].isnan().any())
