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
        "What would have to be true of the other scores for its softmax to choose a key that may not be seen?",
        "Make the scores very low: large queries, large keys that point the other way.",
        "Hide the last key and change its value. With scores far below a million the output moves, with ordinary "
        "scores it does not: say both, for other patients leak always.",
    ],
)
def fill_too_high(q, k, v, mask=None):
    """A fill value that real scores undercut.

    A large negative number in place of −∞ holds only as long as no real score lies below it; one source text fills
    with −1 000 000.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is None:
        return torch.softmax(scores, dim=-1) @ v
    weights = torch.softmax(scores.masked_fill(~mask, -1e6), dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0) @ v


fill_too_high.blind_to(no_mask)


@fill_too_high.blind_to
def tame_scores(calls):
    """The scores of the test are tame.

    As long as no real score is lower than what is filled in, this patient is right. Make them very low: large queries,
    keys that point the other way.
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
        "the fill is −1e9: a dead row still hears everything": plain(
            lambda scores, mask: torch.softmax(filled(scores, mask, -1e9), dim=-1)
        ),
        "a dead row is opened on purpose: `mask | ~mask.any(-1, keepdim=True)`": plain(
            lambda scores, mask: masked_softmax(scores, mask if mask is None else mask | ~mask.any(-1, keepdim=True))
        ),
    },
    hints=[
        "It is right wherever a query may see at least one key. And where it may see none?",
        "Nothing is NaN, so nothing complains: look at the numbers of that row.",
        "A query that may see nothing gets something, and yet no other query sees what is hidden from it: the second "
        "half spares the patients whose mask does not work at all.",
    ],
)
def dead_rows_uniform(q, k, v, mask=None):
    """Dead rows that listen to everything.

    With a large negative number in place of −∞ nothing becomes NaN. But a query that may attend to nothing gets equal
    weights over all that it must not see.
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
        "the weights are masked after softmax and divided by what is left: 0 / 0": plain(
            lambda scores, mask: (
                torch.softmax(scores, -1)
                if mask is None
                else torch.softmax(scores, -1) * mask / (torch.softmax(scores, -1) * mask).sum(-1, keepdim=True)
            )
        ),
    },
    hints=[
        "It is right wherever a query may see at least one key. And where it may see none?",
        "What is 0 divided by 0? Mended code has to give 0 there, and gradients that are numbers too.",
        "Set one row of the mask to False and look whether its output is a number.",
    ],
)
def dead_rows_nan(q, k, v, mask=None):
    """Dead rows that are NaN.

    With −∞ a query that may attend to nothing is 0/0. An empty sequence in the batch is enough.
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
        "Who has to be hidden from whom? And what is left for a query that is padding?",
        "Either look at the padded rows, or take a loss of real tokens only, call `backward()` and look at the "
        "gradient of the values.",
    ],
)
def queries_masked_too(q, k, v, lengths):
    """Padded queries masked, gradients NaN.

    Masking padded queries too looks thorough. Their rows become NaN, and the gradient of the values is NaN even if the
    loss reads real tokens only.
    """
    real = padding_mask(lengths, k.size(1))  # (batch, 1, n)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~(real.transpose(1, 2) & real), -math.inf)
    return torch.softmax(scores, dim=-1) @ v


@queries_masked_too.blind_to
def real_tokens_only(calls):
    """The test looks at no gradient and at no padded query.

    The real tokens' outputs are right. What is wrong are the padded rows, and through them the gradients: let
    `v.requires_grad_()`, take a loss of real tokens, call `.backward()`.
    """
    return not any(tensor.requires_grad for tensor in inputs(calls))


@queries_masked_too.tested_by
def detects(attention):
    q, k, v = torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 8, requires_grad=True)
    output = attention(q, k, v, torch.tensor([2, 4]))
    output[0, :2].sum().backward()  # a loss of real tokens only
    return not bool(v.grad.isfinite().all())
