"""Bugs that ordinary input does not show."""

import math

import torch

from attn_lib.functional import masked_softmax
from attn_lib.masks import padding_mask

from ..blind_spots import inputs, no_dead_row, no_mask
from ..bug import bug
from ..correct import filled, plain, scores_of
from ..interfaces import LENGTHS, PLAIN, qkv


def with_a_dead_row():
    mask = torch.ones(3, 5, dtype=torch.bool).tril(1)
    mask[1] = False
    return *qkv(seed=7), mask


def with_scores_out_of_all_proportion():
    q, k, v = qkv(seed=8)
    return -1e4 * q.abs(), 1e4 * k.abs(), v, torch.tensor([True, True, True, True, False]).expand(3, 5)


@bug(
    "6.9",
    PLAIN,
    fixes=[{5: ("-1e6", "-math.inf")}],
    faults=("too weak",),
    section="03#text-18",
    probes=[with_scores_out_of_all_proportion()],
    variants={
        "the fill is −10,000, not −1,000,000": plain(
            lambda scores, mask: torch.softmax(filled(scores, mask, -1e4), dim=-1)
        ),
        "the fill is −100": plain(lambda scores, mask: torch.softmax(filled(scores, mask, -100.0), dim=-1)),
    },
    hints=[
        "For which other scores does its softmax give a large weight to a hidden key?",
        "Make the scores very low: large queries, and large keys of the opposite direction.",
        "Hide the last key and change its value. With scores far below −1,000,000 the output changes; with "
        "ordinary scores it does not. Test both, because in other patients hidden keys always have an "
        "influence.",
    ],
)
def fill_too_high(q, k, v, mask=None):
    """The number that is filled in is not the lowest.

    A large negative number in place of −∞ hides a key only as long as no real score is lower.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is None:
        return torch.softmax(scores, dim=-1) @ v
    weights = torch.softmax(scores.masked_fill(~mask, -1e6), dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0) @ v


fill_too_high.blind_to(no_mask)


@fill_too_high.blind_to
def tame_scores(calls):
    """The scores of the test are ordinary.

    As long as no real score is lower than the fill value, this patient is right. Make the scores very low: large
    queries, and large keys of the opposite direction.
    """
    return max(float(tensor.abs().max()) for tensor in inputs(calls)) < 50


@fill_too_high.tested_by
def detects(attention):
    q, k, v = torch.rand(2, 3, 8), torch.rand(2, 5, 8), torch.randn(2, 5, 4)
    hide_last, changed = torch.tensor([True, True, True, True, False]).expand(3, 5), v.clone()
    changed[:, -1] += 1

    def leaks(q):
        return not torch.allclose(attention(q, k, v, hide_last), attention(q, k, changed, hide_last), atol=1e-4)

    return leaks(-1e8 * q) and not leaks(q)


@bug(
    "6.10",
    PLAIN,
    fixes=[
        {
            4: (
                "scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)",
                "return masked_softmax(scores, mask) @ v",
            )
        },
        {5: ("torch.softmax(scores, dim=-1)", "masked_softmax(scores, mask)")},
    ],
    faults=("nothing left", "too weak"),
    section="03#text-21",
    probes=[with_a_dead_row()],
    gradients=True,
    variants={
        "the fill is −1e9: a dead row still attends to all keys": plain(
            lambda scores, mask: torch.softmax(filled(scores, mask, -1e9), dim=-1)
        ),
        "all keys are allowed in a dead row: `mask | ~mask.any(-1, keepdim=True)`": plain(
            lambda scores, mask: masked_softmax(scores, mask if mask is None else mask | ~mask.any(-1, keepdim=True))
        ),
    },
    hints=[
        "The patient is right where a query has at least one allowed key. And where every key is hidden?",
        "There is no NaN and no error: look at the numbers of this row.",
        "Use two conditions: a query without any allowed key gets an output other than 0, and other queries "
        "do not use hidden keys. The second makes the test False for patients whose mask never works.",
    ],
)
def dead_rows_uniform(q, k, v, mask=None):
    """Dead rows attend to all keys.

    With a large negative number in place of −∞ nothing becomes NaN. But a query without any allowed key gets equal
    weights on all the keys that are hidden from it.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1) @ v


dead_rows_uniform.blind_to(no_mask, no_dead_row)


@dead_rows_uniform.tested_by
def detects(attention):
    q, k, unit = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.eye(5).expand(2, 5, 5)
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[0, 4], mask[1] = False, False  # one key hidden from query 0, all from query 1
    weights = attention(q, k, unit, mask)  # with a unit matrix for values the weights come out
    return bool(weights[:, 1].sum() > 0.1 and weights[:, 0, 4].abs().max() < 1e-4)


@bug(
    "6.11",
    PLAIN,
    fixes=[
        {4: ("scores = scores.masked_fill(~mask, -math.inf)", "return masked_softmax(scores, mask) @ v")},
        {5: ("torch.softmax(scores, dim=-1)", "masked_softmax(scores, mask)")},
    ],
    faults=("nothing left",),
    section="03#text-21",
    probes=[with_a_dead_row()],
    gradients=True,
    variants={
        "a float mask of 0 and −∞ is added to the scores": plain(
            lambda scores, mask: torch.softmax(
                scores if mask is None else scores + torch.zeros(mask.shape).masked_fill(~mask, -math.inf), dim=-1
            )
        ),
        "the weights are masked after softmax and divided by the remaining sum: 0 / 0": plain(
            lambda scores, mask: (
                torch.softmax(scores, -1)
                if mask is None
                else torch.softmax(scores, -1) * mask / (torch.softmax(scores, -1) * mask).sum(-1, keepdim=True)
            )
        ),
    },
    hints=[
        "The patient is right where a query has at least one allowed key. And where every key is hidden?",
        "What does softmax make of a row of only −∞? Mended code must return 0 there, and its gradients must "
        "be numbers, too.",
        "Set one row of the mask to False. Is its output a number?",
    ],
)
def dead_rows_nan(q, k, v, mask=None):
    """Dead rows are NaN.

    With −∞, a row in which every key is hidden becomes NaN. One empty sentence in the batch is enough.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, dim=-1) @ v


dead_rows_nan.blind_to(no_mask, no_dead_row)


@dead_rows_nan.tested_by
def detects(attention):
    q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False  # query 1 may attend to nothing
    return bool(attention(q, k, v, mask)[:, 1].isnan().any())


def queries_masked_by_product(q, k, v, lengths):
    real = padding_mask(lengths, k.size(1))
    return torch.softmax(scores_of(q, k).masked_fill(~(real.transpose(1, 2) * real), -math.inf), dim=-1) @ v


def queries_emptied(q, k, v, lengths):
    real = padding_mask(lengths, k.size(1))
    scores = scores_of(q, k).masked_fill(~real, -math.inf) + torch.log(real.transpose(1, 2).float())
    return torch.softmax(scores, dim=-1) @ v


@bug(
    "6.12",
    LENGTHS,
    fixes=[{4: ("~(real.transpose(1, 2) & real)", "~real")}],
    faults=("nothing left",),
    section="03#text-21",
    gradients=True,
    counts=lambda output, q, k, v, lengths: output.where(padding_mask(lengths, k.size(1)).mT, output * 0),
    variants={
        "the mask is made by `*`, `real.transpose(1, 2) * real`": queries_masked_by_product,
        "the logarithm of 0 is added to the rows of padded queries": queries_emptied,
    },
    hints=[
        "The outputs of the real tokens are right. Look at those of the padding.",
        "Which keys must be hidden from which queries? And which keys may a query at padding attend to?",
        "Look at the padded rows. Or take a loss of real tokens only, call `backward()`, and look at the "
        "gradient of the values.",
    ],
)
def queries_masked_too(q, k, v, lengths):
    """Padded queries are masked, and gradients are NaN.

    To mask the padded queries, too, seems careful. But their rows become NaN, and then the gradient of the values is
    NaN even if the loss uses only real tokens.
    """
    real = padding_mask(lengths, k.size(1))  # (batch, 1, n)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~(real.transpose(1, 2) & real), -math.inf)
    return torch.softmax(scores, dim=-1) @ v


@queries_masked_too.blind_to
def real_tokens_only(calls):
    """The test looks at no gradient and at no padded query.

    The outputs of the real tokens are right. The padded rows are wrong, and through them the gradients: set
    `v.requires_grad_()`, take a loss of real tokens, call `.backward()`.
    """
    return not any(tensor.requires_grad for tensor in inputs(calls))


@queries_masked_too.tested_by
def detects(attention):
    q, k, v = torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 8, requires_grad=True)
    output = attention(q, k, v, torch.tensor([2, 4]))
    output[0, :2].sum().backward()  # a loss of real tokens only
    return not bool(v.grad.isfinite().all())
