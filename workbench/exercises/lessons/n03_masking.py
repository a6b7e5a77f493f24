"""Exercises of notebook 3: padding and causal masks, and a softmax without NaN."""

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
        "Position j of sentence b is a real token if j is less than `lengths[b]`.",
        "`torch.arange(max_len)` is a row of positions; `lengths[:, None]` is a column of lengths. If you compare the "
        "two, each length is compared with each position.",
        "The comparison has shape (batch, max_len). The axis of the queries is missing: `[:, None]` puts in an "
        "axis of size 1, which fits any number of queries.",
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
    """True and False are exchanged.

    In `nn.MultiheadAttention` True means “ignored”, and much code follows it. Here, and in
    `F.scaled_dot_product_attention`, True means “may attend”.
    """
    return ~masks.padding_mask(lengths, max_len)


@padding_mask.misconception(forms=[lambda lengths, max_len: torch.arange(max_len) <= lengths[:, None]])
def off_by_one(lengths, max_len):
    """In each sentence your mask allows one token too many.

    Positions count from 0: a sentence of length 2 has the positions 0 and 1, so the comparison is `<`, not `<=`.
    """
    return (torch.arange(max_len) <= lengths[:, None])[:, None]


@padding_mask.misconception()
def off_by_one_short(lengths, max_len):
    """In each sentence your mask allows one token too few.

    Positions count from 0: the last real token of a sentence of length 2 has position 1, and the mask has to allow it.
    """
    return (torch.arange(max_len) < lengths[:, None] - 1)[:, None]


@padding_mask.misconception()
def no_query_axis(lengths, max_len):
    """The axis of the queries is missing.

    (batch, max_len) looks right. Where batch equals the number of queries, it even broadcasts: then each *query* gets
    the mask of another sentence.
    """
    return torch.arange(max_len) < lengths[:, None]


@padding_mask.misconception(reread="03#text-27")
def queries_masked(lengths, max_len):
    """The padded queries are masked as well.

    A padded query does no harm, since nothing uses its output. But if all its keys are hidden, its row becomes NaN,
    and the NaN spreads to the gradients of the parameters.
    """
    keys = masks.padding_mask(lengths, max_len)
    return keys & keys.transpose(1, 2)


@padding_mask.misconception(forms=[lambda lengths, max_len: masks.padding_mask(lengths, max_len)[:, None].mT])
def column(lengths, max_len):
    """The axis of the keys and the axis of the queries are exchanged.

    (batch, max_len, 1) hides queries. The keys have to be the last axis: (batch, 1, max_len).
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

    Printed, the two look almost the same. But `F.scaled_dot_product_attention` *adds* a float mask to the scores, and
    adding 0 or 1 hides no key.
    """
    return masks.padding_mask(lengths, max_len).float()


@padding_mask.misconception()
def left(lengths, max_len):
    """The mask expects the padding before the real tokens.

    Some code pads on the left. Here the real tokens come first, and the padding comes after them.
    """
    return masks.padding_mask(lengths, max_len).flip(-1)


@padding_mask.misconception(forms=[lambda lengths, max_len: torch.arange(max_len)[None, None] < lengths[:, None]])
def an_axis_too_many(lengths, max_len):
    """The mask has one axis more than it should have.

    (batch, 1, 1, max_len) has an axis for the heads; much code needs it, because it splits into heads first. Here the
    mask is (batch, 1, max_len): an axis for the queries is enough.
    """
    return masks.padding_mask(lengths, max_len)[:, None]


@padding_mask.misconception(
    forms=[
        lambda lengths, max_len: torch.arange(max_len) < lengths,
        lambda lengths, max_len: lengths > torch.arange(max_len),
    ]
)
def lengths_not_upright(lengths, max_len):
    """The lengths are a row, and have to be a column.

    There are `batch` lengths and `max_len` positions. Two rows are compared number by number. If the lengths are a
    column, `lengths[:, None]`, each length is compared with each position.
    """
    return torch.arange(max_len)[None] < lengths


@padding_mask.misconception()
def square(lengths, max_len):
    """The mask is repeated for each query.

    Padding is the same for all queries: (batch, 1, max_len) fits any number of queries, but (batch, max_len, max_len)
    fits only as many queries as there are keys.
    """
    return masks.padding_mask(lengths, max_len).expand(-1, max_len, -1)


@padding_mask.misconception(reread="03#text-27")
def padding_hears_padding(lengths, max_len):
    """Real tokens attend to real tokens, and padding to padding.

    `==` is True where both are real, and also where both are padding. Only the key counts: a query that is padding may
    attend to real tokens, and no query may attend to padding.
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
    """The mask is as long as the longest sentence.

    It has to fit the keys. There are `max_len` keys, even if every sentence is shorter.
    """
    return masks.padding_mask(lengths, int(lengths.max()))


def _with_positions(number):
    return lambda lengths, max_len: (torch.arange(number) < lengths[:, None])[:, None]


@padding_mask.misconception(reread="03#text-05", forms=[_with_positions(number) for number in (2, 4, 5, 6, 10)])
def fixed_number_of_positions(lengths, max_len):
    """The number of positions is typed, and the same in every call.

    `torch.arange(3)` is right for *I like tea*. The mask has to fit any number of keys: `torch.arange(max_len)`.
    """
    return _with_positions(3)(lengths, max_len)


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

    Many libraries build such masks. Ours are bool, so that they combine with `&`; −∞ is written into the scores later,
    by `masked_fill`.
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
        "Which row must be all True? The last query belongs to the last key and may attend to every key.",
        "With as many queries as keys it is the lower triangle with its diagonal: "
        "`torch.ones(n, n, dtype=torch.bool).tril()`.",
        "`tril(diagonal=…)` moves the edge of the triangle. With 2 queries and 5 keys, query 0 belongs to key 3: by "
        "how many columns must the edge move?",
    ],
)


def _ones(n_queries, n_keys):
    return torch.ones(n_queries, n_keys, dtype=torch.bool)


@causal_mask.misconception(telltale_call=(2, 5))
def top_left(n_queries, n_keys):
    """The mask starts at the wrong corner.

    `tril()` begins with query 0 at key 0. This is right for as many queries as keys. With fewer queries than keys, the
    queries are the newest tokens, and the last query belongs to the last key. (`is_causal=True` in PyTorch also begins
    at the top left.)
    """
    return _ones(n_queries, n_keys).tril()


@causal_mask.misconception(telltale_call=(2, 5))
def offset_negated(n_queries, n_keys):
    """The triangle is moved in the wrong direction.

    `tril(diagonal=…)` with a positive number moves the edge to the right, which allows more keys. There are
    n_keys − n_queries more keys than queries, and all of these belong to earlier tokens.
    """
    return _ones(n_queries, n_keys).tril(n_queries - n_keys)


@causal_mask.misconception()
def all_open(n_queries, n_keys):
    """Nothing is hidden: every query may attend to every key.

    `tril(d)` keeps all cells up to diagonal d. With d = n_keys − 1 these are all cells of the matrix, because diagonal
    d begins in the last column.
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
    """True and False are exchanged.

    In `nn.MultiheadAttention` True means “ignored”, and much code builds such masks with `triu(1)`. Here True means
    “may attend”.
    """
    return ~masks.causal_mask(n_queries, n_keys)


@causal_mask.misconception(forms=[lambda n_queries, n_keys: _ones(n_queries, n_keys).tril(-1)])
def no_diagonal(n_queries, n_keys):
    """Your mask does not let a token attend to itself.

    “Only earlier tokens” sounds as if the token itself were excluded. But each token attends to itself too; otherwise
    the first row would have no allowed key.
    """
    return _ones(n_queries, n_keys).tril(n_keys - n_queries - 1)


@causal_mask.misconception(forms=[lambda n_queries, n_keys: _ones(n_queries, n_keys).tril(1)])
def one_ahead(n_queries, n_keys):
    """Every token may attend to one later token.

    The edge is one column too far to the right: key i + 1 belongs to exactly the token that query i has to predict.
    """
    return _ones(n_queries, n_keys).tril(n_keys - n_queries + 1)


@causal_mask.misconception(forms=[lambda n_queries, n_keys: _ones(n_queries, n_keys).triu(n_keys - n_queries)])
def backwards(n_queries, n_keys):
    """Every token attends to itself and to later tokens.

    This is the upper triangle. Rows are queries and columns are keys: a key to the right of the diagonal comes later.
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

    Printed, the two look almost the same. But `F.scaled_dot_product_attention` *adds* a float mask to the scores, and
    adding 0 or 1 hides no key.
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

    PyTorch's transformer builds such masks. Ours are bool, so that they combine with `&`; −∞ is written into the scores
    later, by `masked_fill`.
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
    """The mask has axes that it does not need.

    (1, n, n) or (1, 1, n, n) fits a batch, or heads. But (n, n) also fits both, by broadcasting: no axis has to be put
    before it.
    """
    return masks.causal_mask(n_queries, n_keys)[None]


@causal_mask.misconception(forms=[lambda n_queries, n_keys: _ones(n_keys, n_keys).tril()])
def always_square(n_queries, n_keys):
    """The mask is always square, for any number of keys.

    With stored keys there are fewer queries than keys. The mask has a row for each query and a column for each key.
    """
    return _ones(n_queries, n_queries).tril()


@causal_mask.misconception(
    forms=[
        *(lambda n_queries, n_keys, d=d: _ones(n_queries, n_keys).tril(d) for d in (3, 4)),
        *(lambda n_queries, n_keys, d=d: _ones(n_queries, n_keys).tril(n_keys - d) for d in (2, 3)),
    ],
)
def fixed_edge(n_queries, n_keys):
    """A number is typed where the edge of the triangle depends on both arguments.

    `tril(2)` is right only if there are 2 more keys than queries, and `tril(n_keys - 2)` only for two queries. To which
    key does query 0 belong?
    """
    return _ones(n_queries, n_keys).tril(2)


@causal_mask.misconception(
    forms=[lambda n_queries, n_keys, size=size: masks.causal_mask(*size) for size in ((3, 3), (5, 5))]
)
def fixed_size(n_queries, n_keys):
    """The mask has the same size in every call.

    Its sizes are typed, as in the lesson's examples. Here they are the arguments: n_queries rows, n_keys columns.
    """
    return masks.causal_mask(2, 5)


@causal_mask.misconception()
def sideways(n_queries, n_keys):
    """Queries and keys are exchanged.

    A mask is (n_queries, n_keys): it has a row for each query.
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
    title="A softmax without NaN",
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
        _huge_hidden(),
        (normal(2, 4, seed=9), torch.ones(2, 4, dtype=torch.bool)),
    ],
    returns=("the weights",),
    random_probes=lambda rng: [_masked(*rng.sample(range(2, 7), axes), seed=rng.randrange(10**6)) for axes in (2, 3)],
    gradients=True,
    invariants=[("a score that is masked still moves the weights", _masked_scores_silent)],
    hints=[
        "Fill the masked scores before softmax: `scores.masked_fill(~mask, -math.inf)`. What happens to a row "
        "without any True?",
        "Find those rows: `~mask.any(dim=-1, keepdim=True)`. Never give softmax a row of only −∞; and the weights "
        "of such a row have to be 0.",
        "Leave the scores of a dead row unmasked, take the softmax, then fill that row of weights with 0. Where "
        "`masked_fill` replaced a weight, the gradient is 0, not NaN.",
    ],
)


@masked_softmax.misconception(reread="03#text-07")
def after_softmax(scores, mask):
    """Hidden keys are set to 0 after softmax, or after its sum was computed.

    The sum then contains the hidden keys, so the other weights of the row sum to less than 1. The scores have to be
    filled before softmax.
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
    """Hidden keys are set to 0 after exp, or after softmax, and each row is divided by its remaining sum.

    For moderate scores the result is the same. But a dead row is 0/0. And where scores are very large or very small,
    the exponentials of the other keys have already become 0 or infinity. Fill the scores before softmax.
    """
    return _renormalised(torch.softmax(scores, dim=-1) * mask)


@masked_softmax.misconception(reread="03#text-35")
def polarity(scores, mask):
    """True is taken to mean “hide”.

    In `nn.MultiheadAttention` it does. Here True means “may attend”: fill where the mask is False, `~mask`.
    """
    return functional.masked_softmax(scores, ~mask)


@masked_softmax.misconception(reread="03#text-02")
def zero_scores(scores, mask):
    """Masked scores are set to 0.

    A score of 0 is an ordinary score: exp(0) = 1, which is more than any negative score gets. Only a score of −∞ gives
    a weight of 0.
    """
    return torch.softmax(scores * mask, dim=-1)


@masked_softmax.misconception(reread="03#text-35")
def added(scores, mask):
    """The mask is added to the scores as 0 and 1.

    Adding 1 gives allowed keys a little more weight and hides no key. A mask that is added has to hold 0 and −∞.
    """
    return torch.softmax(scores + mask.float(), dim=-1)


@masked_softmax.misconception(reread="03#text-14")
def ignored(scores, mask):
    """The mask has no effect.

    `masked_fill` returns a new tensor and does not change the old one. If the result is not assigned to a name, the
    mask is lost.
    """
    return torch.softmax(scores, dim=-1)


@masked_softmax.misconception(reread="03#text-21", telltale_call=_dead())
def dead_nan(scores, mask):
    """Rows in which every key is hidden are NaN.

    A softmax of only −∞ is not a number. Such rows occur: in an empty sentence, for example.
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
    """In rows where every key is hidden, all keys get the same weight.

    With a large negative number in place of −∞ nothing becomes NaN. But where all scores are equally low, softmax
    gives each key the same weight. Here such a row has to be 0.
    """
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)


@masked_softmax.misconception(
    reread="03#text-18",
    telltale_call=_huge_hidden(),
    forms=[lambda scores, mask: torch.softmax(scores + (1 - mask.to(scores.dtype)) * -1e9, dim=-1) * mask],
)
def large_number_added(scores, mask):
    """A large negative number is added to hidden scores, where it should replace them.

    A hidden score may be even larger: 1e38 − 1e9 is still 1e38, and the hidden key takes the weight that others should
    have. `masked_fill` replaces the score, whatever it was.
    """
    return torch.softmax(scores + (~mask) * -1e9, dim=-1) * mask


def _dead_by(dead, scores, mask):
    return torch.softmax(scores.masked_fill(~mask & ~dead, -math.inf), dim=-1).masked_fill(dead, 0.0)


@masked_softmax.misconception(
    reread="03#text-21",
    forms=[lambda scores, mask: functional.masked_softmax(scores, mask) * mask.all(dim=-1, keepdim=True)],
)
def one_hidden_is_enough(scores, mask):
    """Each row with a hidden key counts as dead.

    `mask.all(dim=-1)` asks whether *every* key is allowed. A row is dead if *no* key is allowed:
    `~mask.any(dim=-1, keepdim=True)`.
    """
    return _dead_by(~mask.all(dim=-1, keepdim=True), scores, mask)


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

    Real scores can be lower, and then the hidden keys get the largest weights. No score is lower than −∞.
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
        *(
            lambda scores, mask, dim=dim: torch.softmax(scores.masked_fill(~mask, -1e9), dim=dim) * mask
            for dim in (-2, 0, 1)
        ),
        lambda scores, mask: functional.masked_softmax(scores.mT, mask.expand_as(scores).mT).mT,
    ],
)
def wrong_axis(scores, mask):
    """The softmax runs over the wrong axis.

    The weights of a query are a row, whatever axes come before it: `dim=-1`. For a matrix only, `dim=1` is the same
    axis; and without a dim, `F.softmax` may take the first axis.
    """
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-2)


@masked_softmax.misconception(
    reread="03#text-21",
    forms=[lambda scores, mask: torch.softmax(scores.masked_fill(~mask, math.inf), dim=-1)],
)
def rows_are_nan(scores, mask):
    """Whole rows are NaN, also rows with allowed keys.

    Usually an infinity causes this. 0 · −∞ is NaN, so `(1 - mask) * -inf` makes NaN of exactly the keys that are
    allowed. And a hidden score of +∞ (a wrong sign) makes ∞ − ∞ inside softmax. `scores.masked_fill(~mask, -math.inf)`
    multiplies nothing.
    """
    return torch.softmax(scores + (1 - mask.to(scores.dtype)) * -math.inf, dim=-1)


@masked_softmax.misconception(reread="03#text-21", telltale_call=_dead())
def dead_opened(scores, mask):
    """Rows in which every key is hidden attend as if no key were hidden.

    If such a row is not masked, softmax makes no NaN; this is half of the solution. Afterwards its weights have to be
    set to 0.
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

    `scores[~mask] = …` needs a mask of exactly the shape of the scores, but the mask can be (batch, 1, n).
    `masked_fill` and `torch.where` broadcast.
    """
    return _filled_by_index(scores, mask)


@masked_softmax.misconception(reread="03#text-02")
def scores_returned(scores, mask):
    """The scores are filled, but softmax is missing.

    Hidden keys have the score −∞. The function has to return weights.
    """
    return scores.masked_fill(~mask, -math.inf)


@masked_softmax.misconception(reread="03#text-21")
def nan_gradient(scores, mask):
    """The weights are right, but the gradient of a dead row is NaN.

    The NaN was replaced after softmax had made it. In the backward pass the gradient still goes through the NaN: NaN
    times 0 is NaN. Never give softmax a row of only −∞, and never divide by a sum that is 0.
    """
    additive = torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    return torch.softmax(scores + additive, dim=-1).nan_to_num(0.0)


@masked_softmax.misconception(reread="03#text-27")
def written_over(scores, mask):
    """The weights are right, but the result of softmax was changed in place.

    `weights[…] = 0` and `masked_fill_` change the tensor that softmax needs again for its gradient, so no gradient can
    be computed and training stops with an error. `masked_fill` without the underscore, or `torch.where`, makes a new
    tensor. And if a dead row was NaN first, its gradient is NaN in any case: never give softmax a row of only −∞.
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
        "Two conditions for each pair of tokens: the key is not later than the query, and both belong to the same "
        "text.",
        "`documents[:, :, None]` makes a column of each row of the batch, `documents[:, None, :]` keeps it a row. "
        "Compare the two with `==`: the result is (batch, n, n).",
        "The other condition is the causal mask of n tokens, which broadcasts to the whole batch. Join the two with "
        "`&`.",
    ],
)


@packed.misconception(reread="03#text-10")
def future_heard(documents):
    """Tokens attend to later tokens of their own text.

    The texts are separated, but inside a text each token attends to all tokens. The causal mask is missing.
    """
    return _same(documents)


@packed.misconception(reread="03#text-12", forms=[_past])
def one_long_text(documents):
    """Your mask treats all texts of a row as one text.

    With the causal mask alone, tokens of the second text attend to the first text. They must not.
    """
    return _past(documents).expand(*documents.shape, documents.size(-1)).clone()


@packed.misconception(reread="03#text-12")
def and_before_equals(documents):
    """`&` is computed before `==`.

    In Python `a == b & c` means `a == (b & c)`: the causal mask is joined to the numbers of the texts, and not to the
    result of the comparison. Put the comparison in parentheses: `(a == b) & c`.
    """
    return documents[..., :, None] == (documents[..., None, :] & _past(documents))


@packed.misconception(reread="03#text-12")
def or_for_and(documents):
    """The two conditions are joined by *or*.

    With `|` a pair is allowed if one of the two holds: earlier tokens of other texts, and later tokens of the same
    text. Both have to hold: `&`.
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
    """Tokens attend to texts with smaller numbers as well, or with larger ones.

    A number is only a name: text 2 may come after text 7, and neither may attend to the other. It only matters whether
    two numbers are equal, not which is larger.
    """
    return (documents[..., :, None] >= documents[..., None, :]) & _past(documents)


@packed.misconception(reread="03#text-12")
def numbers_sorted(documents):
    """Your mask expects the texts in the order of their numbers.

    `unique` sorts, and `bincount` counts from 0; but text 2 may come after text 7. A number is only a name; only the
    positions of its tokens show where a text is.
    """
    sizes = [row.unique(return_counts=True)[1].tolist() for row in documents]
    return torch.stack([torch.block_diag(*(_ones(n, n).tril() for n in row)) for row in sizes]).bool()


@packed.misconception(reread="03#text-12", forms=[lambda documents: ~_same(documents)])
def others_heard(documents):
    """Tokens attend to the other texts, and not to their own.

    `!=` is True where two tokens belong to different texts. True means “may attend”, so the two numbers have to be
    equal.
    """
    return ~_same(documents) & _past(documents)


@packed.misconception(reread="03#text-12")
def axis_too_many(documents):
    """The mask has one axis more than it should have.

    A padding mask has an axis of size 1, since it is the same for every query. This mask already has a row for each
    query: (batch, n, n).
    """
    return packed_mask(documents)[:, None]


@packed.misconception(reread="03#text-35")
def polarity(documents):
    """True and False are exchanged.

    In `nn.MultiheadAttention` True means “ignored”. Here True means “may attend”.
    """
    return ~packed_mask(documents)


@packed.misconception(reread="03#text-10")
def batch_for_tokens(documents):
    """The causal mask is as large as the batch, not as the row of tokens.

    `len(documents)` counts rows of the batch. The number of tokens is `documents.size(-1)`. With one row the mask is
    (1, 1), which broadcasts and hides nothing.
    """
    return _same(documents) & masks.causal_mask(len(documents))


@packed.misconception(
    reread="03#text-10",
    forms=[lambda documents, n=n: _same(documents) & masks.causal_mask(n) for n in (3, 4, 6)],
)
def fixed_number_of_tokens(documents):
    """The causal mask has a fixed number of tokens.

    The example in the text has five tokens, other rows have more or fewer. Their number is `documents.size(-1)`.
    """
    return _same(documents) & masks.causal_mask(5)


@packed.misconception(reread="03#text-10")
def itself_not_heard(documents):
    """Your mask does not let a token attend to itself.

    Then the first token of each text has no allowed key, and its row is dead.
    """
    return _same(documents) & _past(documents).tril(-1)


@packed.misconception(reread="03#text-10")
def backwards(documents):
    """Each token attends to itself and to later tokens of its text.

    This is the upper triangle. Rows are queries and columns are keys: a key to the right of the diagonal comes later.
    """
    return _same(documents) & _past(documents).T


@packed.misconception(reread="03#text-12")
def neighbours_alone(documents):
    """A token attends only to itself and to the token before it, if both belong to the same text.

    If each position is compared with the one before, you find where texts begin. But a token attends to its whole text
    so far.
    """
    return packed_mask(documents).triu(-1)


@packed.misconception(reread="03#text-12")
def first_row_for_all(documents):
    """All rows of the batch have the mask of the first.

    Each row of the batch holds other texts: keep the batch as the first axis of the mask.
    """
    return packed_mask(documents[:1]).expand(len(documents), -1, -1).clone()


@packed.misconception(reread="03#text-35", forms=[lambda documents: packed_mask(documents).long()])
def numbers(documents):
    """These are 0 and 1, not False and True.

    Printed, the two look almost the same. But `F.scaled_dot_product_attention` *adds* a float mask to the scores, and
    adding 0 or 1 hides no key.
    """
    return packed_mask(documents).float()


@packed.misconception(reread="03#text-35")
def additive(documents):
    """This is a mask to be added: 0 and −∞.

    PyTorch's transformer builds such masks. Ours are bool, so that they combine with `&`; −∞ is written into the scores
    later, by `masked_fill`.
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
    """Your mask treats the text with number 0 as padding.

    Some code uses 0 for padding. Here there is no padding: a number is only a name, and 0 is a name like 7.
    """
    return packed_mask(documents) & (documents != 0)[..., None, :]
