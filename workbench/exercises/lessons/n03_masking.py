"""Exercises of notebook 3: padding and causal masks, and a softmax that survives dead rows."""

import math
from functools import partial

import torch

from attn_lib import functional, masks

from ..engine.function import function
from ..engine.probes import normal, random_lengths, random_mask

# ----------------------------------------------------------------------------------------------------------- 3.1


LOW = (-1e4, -1e5, -1e6, -1e9, -1e10, -1e30, torch.finfo(torch.float32).min)  # what people write for −∞


def _lengths(*lengths, max_len):
    return torch.tensor(lengths), max_len


padding_mask = function(
    "3.1",
    masks.padding_mask,
    as_="my_padding_mask(lengths, max_len)",
    title="A padding mask",
    section="03#text-05",
    probes=[
        _lengths(2, 1, max_len=3),
        _lengths(3, 1, max_len=4),
        _lengths(2, 5, 1, 4, max_len=6),
        _lengths(1, 3, 2, max_len=5),
    ],
    corner_cases=[
        _lengths(0, 2, max_len=3),
        _lengths(2, 0, max_len=3),
        _lengths(0, 0, max_len=2),
        _lengths(4, 4, max_len=4),
        _lengths(1, max_len=1),
        _lengths(1, 3, max_len=40),
    ],
    returns=("the mask",),
    random_probes=random_lengths,
    hints=[
        "Position j of sequence b is a real token if j is less than `lengths[b]`.",
        "`torch.arange(max_len)` is the row of positions; `lengths[:, None]` is the column of lengths. Compare "
        "the two.",
        "The comparison has shape (batch, max_len). The axis of the queries is missing: `[:, None]` puts in a 1 "
        "that fits any number of them.",
    ],
)


@padding_mask.misconception(
    reread="03#text-35",
    forms=[
        lambda lengths, max_len: ~masks.padding_mask(lengths, max_len)[:, 0],
        lambda lengths, max_len: ~masks.padding_mask(lengths, max_len)[:, None],
        lambda lengths, max_len: ~masks.padding_mask(lengths, max_len).expand(-1, max_len, -1),
    ],
)
def polarity(lengths, max_len):
    """True and False have changed places.

    `nn.MultiheadAttention` means “ignore this” by True, so half of all code is written that way. Here, and in
    `F.scaled_dot_product_attention`, True = may attend.
    """
    return ~masks.padding_mask(lengths, max_len)


@padding_mask.misconception(forms=[lambda lengths, max_len: torch.arange(max_len) <= lengths[:, None]])
def off_by_one(lengths, max_len):
    """One token too many may be attended to.

    Positions count from 0: a sequence of length 2 has the positions 0 and 1, so the comparison is `<`, not `<=`.
    """
    return (torch.arange(max_len) <= lengths[:, None])[:, None]


@padding_mask.misconception()
def off_by_one_short(lengths, max_len):
    """One token too few may be attended to.

    Positions count from 0: the last real token of a sequence of length 2 is position 1, and it counts.
    """
    return (torch.arange(max_len) < lengths[:, None] - 1)[:, None]


@padding_mask.misconception()
def no_query_axis(lengths, max_len):
    """The axis of the queries is missing.

    (batch, max_len) looks right, and where batch equals the number of queries it even broadcasts: every *query*
    then gets another sequence's mask.
    """
    return torch.arange(max_len) < lengths[:, None]


@padding_mask.misconception(reread="03#text-27")
def queries_masked(lengths, max_len):
    """The padded queries are masked as well.

    A padded query does no harm: nobody reads its output. A row with nothing left becomes NaN, and spoils gradients
    of rows that were fine.
    """
    keys = masks.padding_mask(lengths, max_len)
    return keys & keys.transpose(1, 2)


@padding_mask.misconception(forms=[lambda lengths, max_len: masks.padding_mask(lengths, max_len)[:, None].mT])
def column(lengths, max_len):
    """The mask stands on its side.

    (batch, max_len, 1) hides queries; keys are the last axis.
    """
    return masks.padding_mask(lengths, max_len).transpose(1, 2)


@padding_mask.misconception(
    reread="03#text-35",
    forms=[
        lambda lengths, max_len: masks.padding_mask(lengths, max_len).long(),
        lambda lengths, max_len: masks.padding_mask(lengths, max_len)[:, 0].float(),
        lambda lengths, max_len: masks.padding_mask(lengths, max_len)[:, 0].long(),
        lambda lengths, max_len: masks.padding_mask(lengths, max_len)[:, None].float(),
        lambda lengths, max_len: masks.padding_mask(lengths, max_len)[:, None].long(),
        lambda lengths, max_len: (~masks.padding_mask(lengths, max_len)).float(),
        lambda lengths, max_len: (~masks.padding_mask(lengths, max_len)).long(),
    ],
)
def numbers(lengths, max_len):
    """These are 0 and 1, not False and True.

    They print much the same. But a float mask is *added* to the scores by `F.scaled_dot_product_attention`, and 0
    or 1 added hides nothing.
    """
    return masks.padding_mask(lengths, max_len).float()


@padding_mask.misconception()
def left(lengths, max_len):
    """The padding is taken to stand in front.

    Some code pads on the left. Here the real tokens come first and the padding stands behind them.
    """
    return masks.padding_mask(lengths, max_len).flip(-1)


@padding_mask.misconception(forms=[lambda lengths, max_len: torch.arange(max_len)[None, None] < lengths[:, None]])
def an_axis_too_many(lengths, max_len):
    """There is an axis too many.

    (batch, 1, 1, max_len) has an axis for the heads, as much code has that splits into heads first. Here it is (batch,
    1, max_len): one for the queries is enough.
    """
    return masks.padding_mask(lengths, max_len)[:, None]


@padding_mask.misconception(
    forms=[
        lambda lengths, max_len: torch.arange(max_len) < lengths,
        lambda lengths, max_len: lengths > torch.arange(max_len),
    ]
)
def lengths_not_upright(lengths, max_len):
    """The lengths lie beside the positions.

    There are batch of the ones and max_len of the others, and two rows are compared number by number. As a column,
    `lengths[:, None]`, each length meets each position.
    """
    return torch.arange(max_len)[None] < lengths


@padding_mask.misconception()
def square(lengths, max_len):
    """The mask is written out for each query.

    Padding is the same for all of them: (batch, 1, max_len) fits any number of queries, and (batch, max_len, max_len)
    only as many as there are keys.
    """
    return masks.padding_mask(lengths, max_len).expand(-1, max_len, -1)


@padding_mask.misconception(reread="03#text-27")
def padding_hears_padding(lengths, max_len):
    """Tokens are open to tokens, and padding to padding.

    `==` is True where both are real and where both are padding. Only the key counts: a query that is padding may hear
    real tokens, and nobody may hear padding.
    """
    keys = masks.padding_mask(lengths, max_len)
    return keys == keys.transpose(1, 2)


@padding_mask.misconception(
    forms=[
        lambda lengths, max_len: masks.padding_mask(lengths, int(lengths.max()))[:, 0],
        lambda lengths, max_len: ~masks.padding_mask(lengths, int(lengths.max())),
        lambda lengths, max_len: ~masks.padding_mask(lengths, int(lengths.max()))[:, 0],
    ]
)
def as_long_as_the_longest(lengths, max_len):
    """The mask is as long as the longest sequence.

    It has to fit the keys, and there are `max_len` of them, also where no sequence fills them.
    """
    return masks.padding_mask(lengths, int(lengths.max()))


def _to_be_added(fill, axes=lambda mask: mask):
    return lambda lengths, max_len: axes(
        torch.zeros(len(lengths), 1, max_len).masked_fill(~masks.padding_mask(lengths, max_len), fill)
    )


@padding_mask.misconception(
    reread="03#text-35",
    forms=[
        _to_be_added(fill, axes)
        for fill in (-math.inf, *LOW)
        for axes in (lambda mask: mask, lambda mask: mask[:, 0], lambda mask: mask[:, None])
    ],
)
def additive(lengths, max_len):
    """This is a mask to be added: 0 and −∞, or a large number.

    Many libraries build such masks. Ours are bool, so that they combine with `&`; the −∞ comes in where the scores are
    filled.
    """
    return _to_be_added(-math.inf)(lengths, max_len)


# ----------------------------------------------------------------------------------------------------------- 3.2


causal_mask = function(
    "3.2",
    masks.causal_mask,
    as_="my_causal_mask(n_queries, n_keys)",
    title="A causal mask",
    section="03#text-10",
    probes=[(3, 3), (2, 4), (5, 5), (3, 7)],
    corner_cases=[(1, 1), (1, 4), (4, 2), (4, 1), (2, 40), (30, 2)],
    random_probes=lambda rng: [(n, n + more) for n, more in zip(rng.sample(range(2, 9), 3), (0, 1, 3), strict=True)],
    returns=("the mask",),
    hints=[
        "Which row must be all True? The last query stands at the last key and may see everything.",
        "For equal numbers it is the lower triangle with its diagonal, `torch.ones(n, n, dtype=torch.bool).tril()`.",
        "`tril(diagonal=…)` moves the edge. With 2 queries and 5 keys, query 0 stands at key 3: by how much is that?",
    ],
)


def _ones(n_queries, n_keys):
    return torch.ones(n_queries, n_keys, dtype=torch.bool)


@causal_mask.misconception(telltale_call=(2, 5))
def top_left(n_queries, n_keys):
    """The mask starts at the wrong corner.

    `tril()` puts query 0 at key 0. That is right for equal numbers; but when there are fewer queries than keys, the
    queries are the newest tokens, and the last one stands at the last key. `is_causal=True` in PyTorch has the same
    corner.
    """
    return _ones(n_queries, n_keys).tril()


@causal_mask.misconception(telltale_call=(2, 5))
def offset_negated(n_queries, n_keys):
    """The triangle is moved the wrong way.

    `tril(diagonal=…)` with a positive number moves the edge to the right, which opens more keys. There are
    n_keys − n_queries more keys than queries, and all of them lie in the past.
    """
    return _ones(n_queries, n_keys).tril(n_queries - n_keys)


@causal_mask.misconception()
def all_open(n_queries, n_keys):
    """Nothing is hidden: every query may see every key.

    `tril(d)` keeps everything up to diagonal d. With d = n_keys − 1 that is the whole matrix, because diagonal d
    already begins in the last column.
    """
    return _ones(n_queries, n_keys)


@causal_mask.misconception(
    reread="03#text-35",
    forms=[
        lambda n_queries, n_keys: _ones(n_queries, n_keys).triu(1),
        lambda n_queries, n_keys: _ones(n_queries, n_keys).triu(1)[None],
        lambda n_queries, n_keys: _ones(n_queries, n_keys).triu(1)[None, None],
    ],
)
def polarity(n_queries, n_keys):
    """True and False have changed places.

    In `nn.MultiheadAttention` True means “ignore this”, and much code builds its masks with `triu(1)`. Here True =
    may attend.
    """
    return ~masks.causal_mask(n_queries, n_keys)


@causal_mask.misconception(forms=[lambda n_queries, n_keys: _ones(n_queries, n_keys).tril(-1)])
def no_diagonal(n_queries, n_keys):
    """A token may not see itself.

    “Only the past” sounds as if the present were excluded. Each token attends to itself too; without that the first
    row has nothing left.
    """
    return _ones(n_queries, n_keys).tril(n_keys - n_queries - 1)


@causal_mask.misconception(forms=[lambda n_queries, n_keys: _ones(n_queries, n_keys).tril(1)])
def one_ahead(n_queries, n_keys):
    """Every token may see one token of the future.

    The edge is one too far to the right: at key i + 1 stands the very token that query i has to guess.
    """
    return _ones(n_queries, n_keys).tril(n_keys - n_queries + 1)


@causal_mask.misconception(forms=[lambda n_queries, n_keys: _ones(n_queries, n_keys).triu(n_keys - n_queries)])
def backwards(n_queries, n_keys):
    """Every token sees itself and the future.

    This is the upper triangle. Queries go down, keys go across: what lies to the right of the diagonal comes later.
    """
    return _ones(n_queries, n_keys).triu()


@causal_mask.misconception(
    reread="03#text-35",
    forms=[
        lambda n_queries, n_keys: masks.causal_mask(n_queries, n_keys).long(),
        lambda n_queries, n_keys: torch.ones(n_queries, n_keys).tril(),
        lambda n_queries, n_keys: torch.ones(n_queries, n_keys).tril().long(),
        lambda n_queries, n_keys: torch.ones(1, n_queries, n_keys).tril(),
        lambda n_queries, n_keys: torch.ones(1, n_queries, n_keys).tril().long(),
        lambda n_queries, n_keys: torch.ones(1, 1, n_queries, n_keys).tril(),
        lambda n_queries, n_keys: torch.ones(n_queries, n_keys).triu(1),
        lambda n_queries, n_keys: torch.ones(n_queries, n_keys).triu(1).long(),
        lambda n_queries, n_keys: torch.ones(1, n_queries, n_keys).triu(1),
    ],
)
def numbers(n_queries, n_keys):
    """These are 0 and 1, not False and True.

    They print much the same. But a float mask is *added* to the scores by `F.scaled_dot_product_attention`, and 0
    or 1 added hides nothing.
    """
    return masks.causal_mask(n_queries, n_keys).float()


def _causal_to_be_added(fill, edge, axes):
    def code(n_queries, n_keys):
        open_ = _ones(n_queries, n_keys).tril(edge(n_queries, n_keys))
        return torch.zeros(n_queries, n_keys).masked_fill(~open_, fill)[(*axes, ...)]

    return code


@causal_mask.misconception(
    reread="03#text-35",
    forms=[
        _causal_to_be_added(fill, edge, axes)
        for fill in (-math.inf, *LOW)
        for edge in (lambda n_queries, n_keys: n_keys - n_queries, lambda n_queries, n_keys: 0)
        for axes in ((), (None,), (None, None))
    ],
)
def additive(n_queries, n_keys):
    """This is a mask to be added: 0 and −∞, or a large number.

    PyTorch's transformer builds such masks. Ours are bool, so that they combine with `&`; the −∞ comes in where the
    scores are filled.
    """
    return torch.zeros(n_queries, n_keys).masked_fill(~masks.causal_mask(n_queries, n_keys), -math.inf)


@causal_mask.misconception(
    forms=[
        lambda n_queries, n_keys: masks.causal_mask(n_queries, n_keys)[None, None],
        lambda n_queries, n_keys: _ones(n_queries, n_keys).tril()[None],
        lambda n_queries, n_keys: _ones(n_queries, n_keys).tril()[None, None],
    ],
)
def axes_in_front(n_queries, n_keys):
    """There are axes in front.

    (1, n, n) or (1, 1, n, n) fits a batch, or heads. So does (n, n), by broadcasting: nothing has to be put in front.
    """
    return masks.causal_mask(n_queries, n_keys)[None]


@causal_mask.misconception(forms=[lambda n_queries, n_keys: _ones(n_keys, n_keys).tril()])
def always_square(n_queries, n_keys):
    """The mask is square, however many keys there are.

    With a cache there are fewer queries than keys: a row for each query, a column for each key.
    """
    return _ones(n_queries, n_queries).tril()


@causal_mask.misconception()
def sideways(n_queries, n_keys):
    """Queries and keys have changed places.

    A mask is (n_queries, n_keys): a row for each query.
    """
    return masks.causal_mask(n_queries, n_keys).T


# ----------------------------------------------------------------------------------------------------------- 3.3


def _masked(*shape, mask=None, seed):
    return normal(*shape, seed=seed), random_mask(*(mask or shape), seed=seed)


def _dead():
    mask = random_mask(3, 4, seed=7)
    mask[1] = False
    return normal(3, 4, seed=7), mask


def _dead_batch():
    mask = masks.padding_mask([0, 2], 3)
    return normal(2, 4, 3, seed=8), mask


def _tiny_scores():
    return torch.tensor([[-2e6, -2e6 + 1, 0.0], [0.5, 3.0, 1.0]]), torch.tensor([[True, True, False]] * 2)


def _loud_masked():
    return torch.tensor([[1.0, 2.0, 500.0], [0.5, 1.0, 0.0]]), torch.tensor([[True, True, False]] * 2)


def _huge_hidden():
    scores = torch.tensor([[1e38, -1e38, 3.0], [2.0, 1.0, -3e38]])
    return scores, torch.tensor([[False, True, True], [True, True, False]])


def _renormalised(weights, least=0.0):
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=least)


def _masked_scores_silent(answer):
    scores, mask = normal(4, 6, seed=90), random_mask(4, 6, seed=90)
    moved = scores + 3 * normal(4, 6, seed=91) * ~mask
    return torch.allclose(answer(scores, mask), answer(moved, mask), atol=1e-5)


masked_softmax = function(
    "3.3",
    functional.masked_softmax,
    as_="my_masked_softmax(scores, mask)",
    title="A softmax that survives",
    section="03#text-27",
    probes=[
        _masked(2, 3, seed=1),
        _masked(4, 5, seed=2),
        _masked(2, 3, 4, seed=3),
        _masked(2, 3, 4, mask=(2, 1, 4), seed=4),
        _masked(2, 3, 4, 5, mask=(2, 1, 4, 5), seed=5),
        _masked(3, 4, 6, mask=(4, 6), seed=6),
    ],
    corner_cases=[
        _dead(),
        _dead_batch(),
        _tiny_scores(),
        _loud_masked(),
        (normal(3, 1, seed=9), torch.tensor([[True], [True], [False]])),
        (normal(2, 3, 4, 5, seed=10), masks.padding_mask([0, 3], 5)[:, None]),
        (
            torch.tensor([[1e38, -1e38, 3.0], [2.0, 1.0, -3e38]]),
            torch.tensor([[False, True, True], [True, True, False]]),
        ),
        (normal(2, 4, seed=9), torch.ones(2, 4, dtype=torch.bool)),
    ],
    returns=("the weights",),
    random_probes=lambda rng: [_masked(*rng.sample(range(2, 7), axes), seed=rng.randrange(10**6)) for axes in (2, 3)],
    gradients=True,
    invariants=[("a score that is masked still moves the weights", _masked_scores_silent)],
    hints=[
        "Fill the masked scores before softmax: `scores.masked_fill(~mask, -math.inf)`. What happens to a row "
        "without any True?",
        "Find those rows: `~mask.any(dim=-1, keepdim=True)`. Softmax must never see a row that is all −∞, and "
        "its weights have to be 0.",
        "Leave the scores of a dead row unmasked, take the softmax, then fill that row of weights with 0. The "
        "gradient of what was filled over is 0, not NaN.",
    ],
)


@masked_softmax.misconception(reread="03#text-07")
def after_softmax(scores, mask):
    """What is hidden is set to 0 after softmax, or after the sum was taken.

    It has then already taken its share: the rest of the row no longer sums to 1. The scores have to be filled before
    softmax.
    """
    return torch.softmax(scores, dim=-1) * mask


@masked_softmax.misconception(
    reread="03#text-07",
    telltale_call=_loud_masked(),
    forms=[
        lambda scores, mask: _renormalised(torch.softmax(scores, dim=-1) * mask, least=1e-9),
        lambda scores, mask: _renormalised(torch.exp(scores) * mask),
        lambda scores, mask: _renormalised(torch.exp(scores) * mask, least=1e-9),
        lambda scores, mask: _renormalised(torch.softmax(scores * mask, dim=-1) * mask),
        lambda scores, mask: _renormalised(torch.softmax(scores * mask, dim=-1) * mask, least=1e-13),
    ],
)
def renormalised(scores, mask):
    """What is hidden is set to 0 after exp, or after softmax, and the rows are divided by what is left.

    On tame numbers that is right. A dead row is 0/0, and where scores are very large or very small, everything that
    is left has been rounded to 0 or to infinity by then. Hide the scores, and let softmax see nothing else.
    """
    return _renormalised(torch.softmax(scores, dim=-1) * mask)


@masked_softmax.misconception(reread="03#text-35")
def polarity(scores, mask):
    """True is taken to mean “hide”.

    In `nn.MultiheadAttention` it does. Here True = may attend: fill where the mask is False, `~mask`.
    """
    return functional.masked_softmax(scores, ~mask)


@masked_softmax.misconception(reread="03#text-02")
def zero_scores(scores, mask):
    """Masked scores are set to 0.

    A score of 0 is an ordinary score: exp(0) = 1, which is more than any negative score gets. It takes −∞ to get a
    weight of 0.
    """
    return torch.softmax(scores * mask, dim=-1)


@masked_softmax.misconception(reread="03#text-35")
def added(scores, mask):
    """The mask is added to the scores as 0 and 1.

    Adding 1 makes what may be attended to a little stronger and hides nothing. A mask to be added holds 0 and −∞.
    """
    return torch.softmax(scores + mask.float(), dim=-1)


@masked_softmax.misconception(reread="03#text-14")
def ignored(scores, mask):
    """The mask has no effect.

    `masked_fill` returns a new tensor and leaves the old one as it is: without a name for the result the mask is
    lost.
    """
    return torch.softmax(scores, dim=-1)


@masked_softmax.misconception(reread="03#text-21", telltale_call=_dead())
def dead_nan(scores, mask):
    """Rows with nothing left are NaN.

    A softmax of −∞ everywhere is 0/0. Such rows occur: an empty sequence, a first token without a past.
    """
    return torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)


@masked_softmax.misconception(
    reread="03#text-21",
    telltale_call=_dead(),
    forms=[
        lambda scores, mask: torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1),
        lambda scores, mask: torch.softmax(scores + (~mask) * -1e9, dim=-1),
    ],
)
def dead_uniform(scores, mask):
    """Rows with nothing left listen to everything alike.

    With a large negative number in place of −∞ nothing becomes NaN, but where all scores are equally low, softmax
    gives each key the same. Here such a row has to be 0.
    """
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)


@masked_softmax.misconception(
    reread="03#text-18",
    telltale_call=_tiny_scores(),
    forms=[
        lambda scores, mask: torch.softmax(scores.masked_fill(~mask, -1e4), dim=-1),
        lambda scores, mask: torch.softmax(scores.masked_fill(~mask, -1e6), dim=-1),
        lambda scores, mask: torch.softmax(scores + (~mask) * -1e4, dim=-1),
        lambda scores, mask: torch.softmax(scores + (~mask) * -1e6, dim=-1),
        lambda scores, mask: torch.softmax(scores + (mask + 1e-45).log(), dim=-1),
    ],
)
def small_fill(scores, mask):
    """The number filled in, or added, is not low enough.

    Real scores can lie below it, and then the hidden keys win. −∞ cannot be undercut.
    """
    return torch.softmax(scores.masked_fill(~mask, -1e6), dim=-1) * mask.any(dim=-1, keepdim=True)


@masked_softmax.misconception(
    reread="02#text-40",
    forms=[
        *(
            lambda scores, mask, fill=fill, dim=dim: torch.softmax(scores.masked_fill(~mask, fill), dim=dim(scores))
            for fill in (-math.inf, -1e9)
            for dim in (
                lambda scores: -2,
                lambda scores: 0,
                lambda scores: 1,
                lambda scores: 2,
                lambda scores: 0 if scores.ndim == 3 else 1,  # what F.softmax takes without one
            )
        ),
        lambda scores, mask: functional.masked_softmax(scores.mT, mask.expand_as(scores).mT).mT,
    ],
)
def wrong_axis(scores, mask):
    """The softmax runs over the wrong axis.

    A query's weights are a row, whatever stands in front: `dim=-1`. `dim=1` is that for a matrix only, and without a
    dim `F.softmax` may take the first axis.
    """
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-2)


@masked_softmax.misconception(
    reread="03#text-21",
    forms=[lambda scores, mask: torch.softmax(scores.masked_fill(~mask, math.inf), dim=-1)],
)
def rows_are_nan(scores, mask):
    """Whole rows are NaN, also those with something left.

    Mostly an infinity is behind it. 0 · −∞ is NaN, so `(1 - mask) * -inf` spoils just those keys that may be
    attended to; and a hidden score of +∞, by a sign too many, makes ∞ − ∞ inside softmax.
    `scores.masked_fill(~mask, -math.inf)` multiplies nothing.
    """
    return torch.softmax(scores + (1 - mask.to(scores.dtype)) * -math.inf, dim=-1)


@masked_softmax.misconception(reread="03#text-21", telltale_call=_dead())
def dead_opened(scores, mask):
    """Rows with nothing left attend as if nothing were hidden.

    Opening such a row keeps softmax from NaN, and is half of the way. Its weights have to be 0 afterwards.
    """
    alive = mask.any(dim=-1, keepdim=True)
    return torch.softmax(scores.masked_fill(~mask & alive, -math.inf), dim=-1)


def _filled_by_index(scores, mask, fill=-math.inf):
    filled = scores.clone()
    filled[~mask] = fill
    return torch.softmax(filled, dim=-1)


@masked_softmax.misconception(reread="03#text-14", forms=[partial(_filled_by_index, fill=-1e9)])
def mask_as_an_index(scores, mask):
    """A mask as an index does not broadcast.

    `scores[~mask] = …` needs a mask of just the shape of the scores, and (batch, 1, n) is not that. `masked_fill` and
    `torch.where` broadcast.
    """
    return _filled_by_index(scores, mask)


@masked_softmax.misconception(reread="03#text-02")
def scores_returned(scores, mask):
    """The scores are filled, and softmax is missing.

    −∞ stands where nothing may be attended to. What is asked for are weights.
    """
    return scores.masked_fill(~mask, -math.inf)


@masked_softmax.misconception(reread="03#text-21")
def nan_gradient(scores, mask):
    """The weights are right, but the gradient of a dead row is NaN.

    A NaN was repaired after it had arisen, and backwards the gradient still runs through it: NaN times 0 is NaN.
    Softmax must not see a row that is all −∞, and no sum that is 0 may divide.
    """
    additive = torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    return torch.softmax(scores + additive, dim=-1).nan_to_num(0.0)


@masked_softmax.misconception(reread="03#text-27")
def written_over(scores, mask):
    """The weights are right, but softmax's result was written over.

    `weights[…] = 0` and `masked_fill_` change the very tensor that softmax needs again on its way back, so no gradient
    can be computed and training stops with an error. `masked_fill` without the underscore, or `torch.where`, makes a
    new one. And if a dead row was NaN before, its gradient would be NaN all the same: softmax must not see a row that
    is all −∞.
    """
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    weights[weights.isnan()] = 0.0
    return weights


# ----------------------------------------------------------------------------------------------------------- 3.4


def packed_mask(documents):
    same = documents[..., :, None] == documents[..., None, :]  # (…, n) -> (…, n, n)
    return same & masks.causal_mask(documents.size(-1))


def _same(documents):
    return documents[..., :, None] == documents[..., None, :]


def _past(documents):
    return masks.causal_mask(documents.size(-1))


def _packed(*rows):
    return (torch.tensor(rows),)


def _random_packs(rng):
    def pack(length):
        cuts = sorted(rng.sample(range(1, length), 2))
        numbers = rng.sample(range(9), 3)
        return [numbers[sum(place >= cut for cut in cuts)] for place in range(length)]

    return [_packed(*(pack(length) for _ in range(batch))) for batch, length in ((2, 6), (3, 7))]


packed = function(
    "3.4",
    packed_mask,
    as_="my_packed_mask(documents)",
    title="Several texts in one row",
    section="03#text-12",
    probes=[
        _packed([0, 0, 0, 1, 1]),
        _packed([0, 0, 1, 1, 2], [0, 1, 1, 1, 1]),
        _packed([7, 7, 2, 2, 2, 5]),
        _packed([4, 4, 1, 1, 1, 1], [3, 3, 3, 3, 8, 0], [1, 2, 2, 5, 5, 5]),
    ],
    corner_cases=[_packed([3]), _packed([2, 2, 2, 2]), _packed([4, 3, 2, 1]), _packed([10**6, 10**6, -1, 0, 0])],
    returns=("the mask",),
    random_probes=_random_packs,
    hints=[
        "Two conditions for each pair of tokens: the key is not later than the query, and both are of one text.",
        "`documents[:, :, None]` stands upright, `documents[:, None, :]` lies: where are the two equal? "
        "That is (batch, n, n).",
        "The other condition is the causal mask of n tokens, which broadcasts to the whole batch. Join them by `&`.",
    ],
)


@packed.misconception(reread="03#text-10")
def future_heard(documents):
    """The future of one's own text is heard.

    Each text is by itself, but within it everybody hears everybody. The causal mask is missing.
    """
    return _same(documents)


@packed.misconception(reread="03#text-12", forms=[_past])
def one_long_text(documents):
    """All texts are taken for one.

    The causal mask alone lets the second text hear the first, about which it must know nothing.
    """
    return _past(documents).expand(*documents.shape, documents.size(-1)).clone()


@packed.misconception(reread="03#text-12")
def or_for_and(documents):
    """The two conditions are joined by *or*.

    With `|` a pair is open if one of them holds: the past of other texts, and the future of one's own. Both have to
    hold: `&`.
    """
    return _same(documents) | _past(documents)


@packed.misconception(
    reread="03#text-12",
    forms=[
        lambda documents: (documents[..., :, None] <= documents[..., None, :]) & _past(documents),
        lambda documents: documents[..., :, None] >= documents[..., None, :],
    ],
)
def numbers_compared(documents):
    """Texts with smaller numbers are heard as well.

    A number is a name: text 2 may stand behind text 7, and neither hears the other. What counts is whether two numbers
    are equal, not which is larger.
    """
    return (documents[..., :, None] >= documents[..., None, :]) & _past(documents)


@packed.misconception(reread="03#text-12")
def numbers_sorted(documents):
    """The texts are taken in the order of their numbers.

    `unique` sorts, and `bincount` counts from 0; but text 2 may stand behind text 7. A number is a name: where a text
    stands only its places say.
    """
    sizes = [row.unique(return_counts=True)[1].tolist() for row in documents]
    return torch.stack([torch.block_diag(*(_ones(n, n).tril() for n in row)) for row in sizes]).bool()


@packed.misconception(reread="03#text-12", forms=[lambda documents: ~_same(documents)])
def others_heard(documents):
    """The other texts are heard, and its own is not.

    `!=` is True where two tokens are of different texts. True = may attend, so the two have to be equal.
    """
    return ~_same(documents) & _past(documents)


@packed.misconception(reread="03#text-12")
def axis_too_many(documents):
    """There is an axis too many.

    A padding mask has an axis of size 1, as it is the same for every query. This one has a row for each query already:
    (batch, n, n).
    """
    return packed_mask(documents)[:, None]


@packed.misconception(reread="03#text-35")
def polarity(documents):
    """True and False have changed places.

    In `nn.MultiheadAttention` True means “ignore this”. Here True = may attend.
    """
    return ~packed_mask(documents)


@packed.misconception(reread="03#text-10")
def itself_not_heard(documents):
    """A token may not hear itself.

    Then the first token of each text hears nobody at all, and its row is dead.
    """
    return _same(documents) & _past(documents).tril(-1)


@packed.misconception(reread="03#text-10")
def backwards(documents):
    """Each token hears itself and the future of its text.

    This is the upper triangle. Queries go down, keys go across: what lies to the right of the diagonal comes later.
    """
    return _same(documents) & _past(documents).T


@packed.misconception(reread="03#text-12")
def neighbours_alone(documents):
    """A token hears itself and the one before it, where that is of its text.

    Comparing each place with the place before finds where texts begin. A token hears its whole text so far.
    """
    return packed_mask(documents).triu(-1)


@packed.misconception(reread="03#text-12")
def first_row_for_all(documents):
    """All rows of the batch have the mask of the first.

    Each row of the batch is packed in its own way: keep the batch as the first axis of the mask.
    """
    return packed_mask(documents[:1]).expand(len(documents), -1, -1).clone()


@packed.misconception(reread="03#text-35", forms=[lambda documents: packed_mask(documents).long()])
def numbers(documents):
    """These are 0 and 1, not False and True.

    They print much the same. But a float mask is *added* to the scores by `F.scaled_dot_product_attention`, and 0
    or 1 added hides nothing.
    """
    return packed_mask(documents).float()


@packed.misconception(reread="03#text-35")
def additive(documents):
    """This is a mask to be added: 0 and −∞.

    PyTorch's transformer builds such masks. Ours are bool, so that they combine with `&`; the −∞ comes in where the
    scores are filled.
    """
    return torch.zeros(*documents.shape, documents.size(-1)).masked_fill(~packed_mask(documents), -math.inf)


@packed.misconception(
    reread="03#text-12",
    forms=[
        lambda documents: packed_mask(documents) & (documents != 0)[..., :, None],
        lambda documents: packed_mask(documents) & (documents != 0)[..., :, None] & (documents != 0)[..., None, :],
    ],
)
def zero_for_padding(documents):
    """The text with number 0 is taken for padding.

    Some code keeps 0 for padding. Here there is none: a number is a name, and 0 is as good a name as 7.
    """
    return packed_mask(documents) & (documents != 0)[..., None, :]
