"""Bugs that get a mask and do something else with it."""

import math

import torch

from attn_lib.functional import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads
from attn_lib.masks import causal_mask, padding_mask

from ..blind_spots import arguments, no_mask, square_only
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
        "only `mask.any(-1)` is used: a query with one allowed key attends to all keys": plain(
            lambda scores, mask: masked_softmax(
                scores, None if mask is None else mask.any(-1, keepdim=True).expand_as(scores)
            )
        ),
    },
    hints=[
        "What does each line return, and where is the result used?",
        "Call the patient with a mask and without one.",
        "A mask that is used changes the output. Let every query have at least one key, so that no row is dead.",
    ],
)
def mask_forgotten(q, k, v, mask=None):
    """The mask is not used.

    `masked_fill` returns a new tensor. Here this tensor is computed and not kept, so the scores stay as they were.
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
        "Allow only the first key, for every query. What must the output be?",
        "If only one key is allowed, its weight must be 1. Use a unit matrix as values to see the weights.",
        "Change the value of an allowed key. In right code the output changes; with most other faults it does, too.",
    ],
)
def polarity_flipped(q, k, v, mask=None):
    """True means the opposite.

    The code was copied from `nn.MultiheadAttention`, where True = ignored. There is no error.
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
        "3 is subtracted from the scores of hidden keys": plain(
            lambda scores, mask: torch.softmax(scores if mask is None else scores - 3 * (~mask).float(), dim=-1)
        ),
        "the scores are multiplied by the mask": plain(
            lambda scores, mask: torch.softmax(scores if mask is None else scores * mask, dim=-1)
        ),
    },
    hints=[
        "How much weight does a hidden key get? A unit matrix as values shows it.",
        "By how much does the mask change a score, and by how much should it?",
        "Use two conditions: every weight is above 0, and the mask changes the output. The first alone is "
        "also true of a patient that ignores the mask.",
    ],
)
def mask_added(q, k, v, mask=None):
    """The mask is added as 0 and 1.

    PyTorch adds a float mask to the scores. A bool mask that was converted to floats then adds 1 or 0, which hides no
    key.
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
        "the remaining weights are multiplied by n_keys / (number of allowed keys), not divided by their sum": plain(
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
        "Use two conditions: values of 1 give 1 without a mask; with a mask they do not.",
    ],
)
def zeros_after_softmax(q, k, v, mask=None):
    """Weights are set to 0 after softmax.

    The weights are multiplied by the mask after softmax, so the rows no longer sum to 1.
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
        "the padding is lost if both are given": padding_ignored,
        "a key is allowed if one of the masks allows it: `mask | padding_mask(…)`": either_suffices,
    },
    hints=[
        "Lengths alone work, and a mask alone works. What happens to the mask when lengths are given, too?",
        "Masks combine with `&`. A second mask must not replace the first.",
        "Take one sentence of 4 tokens, 3 of them real. Lengths and mask as two arguments must give the same "
        "output as one mask made of both. This is also true for every other patient.",
    ],
)
def mask_replaced(q, k, v, lengths=None, mask=None):
    """With padding given, the causal mask is lost.

    The function replaces the mask of the caller as soon as lengths are given, too.
    """
    if lengths is not None:
        mask = padding_mask(lengths, k.size(1))
    return scaled_dot_product_attention(q, k, v, mask)[0]


@mask_replaced.blind_to
def never_both(calls):
    """The test never passes both lengths and a mask.

    Each of the two works alone. One of them is lost only when both are given.
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
        "with fewer queries than keys nothing is hidden": causal_of(
            offset=lambda n_q, n_k: n_k - 1 if n_q < n_k else 0
        ),
        "the triangle begins half way between upper left and lower right": causal_of(
            offset=lambda n_q, n_k: (n_k - n_q) // 2
        ),
    },
    hints=[
        "With as many queries as keys this patient is right. Draw its mask for 2 queries and 5 keys.",
        "If the queries are the newest of many tokens, which key belongs to the last query?",
        "The newest two queries alone must get the same outputs as among all five: call it with `q[:, -2:]` "
        "and with `q`.",
    ],
)
def causal_top_left(q, k, v):
    """The causal mask starts at the wrong corner.

    The triangle puts query 0 at key 0, as PyTorch's `is_causal=True` does. If the queries are the newest of many
    tokens, they attend to almost no key.
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
        "the mask of the first sentence is used for all sentences": heads_of(
            lambda q, k, v, mask=None: by_library(q, k, v, mask if mask is None else mask[:1])
        ),
    },
    hints=[
        "Pass a mask (batch, n, n) with 2 sentences and 3 heads, then with 3 sentences and 3 heads.",
        "Write the shape of the scores above the shape of the mask, aligned at the right. Which axis meets which?",
        "A sentence does not depend on the other sentences of the batch: alone, with its own mask, it must "
        "get the same output.",
    ],
)
def mask_per_head(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """The mask of each sentence is used as the mask of each head.

    A mask (batch, n, n) meets scores (batch, heads, n, n). If there are as many sentences as heads, it broadcasts, and
    the mask of sentence 0 becomes the mask of head 0.
    """
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (batch, heads, n, n)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return merge_heads(torch.softmax(scores, dim=-1) @ v) @ w_o


mask_per_head.blind_to(no_mask)


@mask_per_head.blind_to
def one_sequence(calls):
    """There is only one sentence.

    With one sentence, its mask is right for every head. Take as many sentences as heads, with masks that differ.
    """
    return all(x.size(0) == 1 for x in arguments(calls, "x"))


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
        "Each of the two masks alone is safe, in every row. What are the numbers where both hide a key?",
        "`torch.finfo(torch.float32).min` is the lowest float32. What is twice this number?",
        "Hide all keys of a query by the mask, and give its text no real token. Is its output a number?",
    ],
)
def lowest_number_twice(q, k, v, lengths=None, mask=None):
    """Two masks are added, each with the lowest number there is: together they give −∞.

    One mask is safe: the lowest number plus a score is rounded to the lowest number again. Where both masks hide all
    keys of a query, its row is only −∞, and softmax makes NaN of it. The last line cannot remove this NaN: NaN times 0
    is NaN. In float16 the lowest number is −65504, and there one score may already be too much. (For example keras,
    issue 17571; transformers, issue 18057.)
    """
    real = torch.ones(1, 1, k.size(1), dtype=torch.bool) if lengths is None else padding_mask(lengths, k.size(1))
    mask = torch.ones(q.size(1), k.size(1), dtype=torch.bool) if mask is None else mask
    scores, least = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), torch.finfo(q.dtype).min
    scores = scores + torch.where(real, 0.0, least)
    scores = scores + torch.where(mask, 0.0, least)
    return torch.softmax(scores, dim=-1) * (real & mask) @ v


@lowest_number_twice.blind_to
def not_both_at_once(calls):
    """In no call do both masks hide all keys of a query.

    The fault needs a text without a real token *and* an empty row of the mask: each of the two alone is safe.
    """
    dead = [call["mask"].any(dim=-1).all() or call["lengths"].all() for call in calls if _has_both(call)]
    return all(dead)


def _has_both(call):
    return call.get("lengths") is not None and call.get("mask") is not None


@lowest_number_twice.tested_by
def detects(attention):
    q, k, v = torch.randn(3, 2, 3, 8)
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[1] = False  # no key for query 1
    output = attention(q, k, v, torch.tensor([0, 3]), mask)  # and the first text has no real token
    return bool(output[0, 1].isnan().any())
