"""Exercises of notebook 2: a stable softmax, and batched attention."""

import math

import torch

from attn_lib.functional import scaled_dot_product_attention

from ..engine.function import function
from ..engine.probes import TYPED_DIVISORS, normal

# ----------------------------------------------------------------------------------------------------------- 2.1


HUGE = (torch.tensor([[1e6, 0.0, -1e6], [-1e6, -1e6 + 64.0, -1e6]]),)
FAR_APART = (torch.tensor([[500.0, 499.0], [-500.0, -501.0], [0.0, 1.0]]),)


def softmax(scores):
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))  # the largest becomes exp(0) = 1
    return exps / exps.sum(dim=-1, keepdim=True)


stable_softmax = function(
    "2.1",
    softmax,
    as_="my_softmax(scores)",
    title="A stable softmax",
    section="02#text-25",
    probes=[
        (torch.tensor([[1.0, 2.0], [0.0, 3.0]]),),
        (normal(2, 3),),
        (normal(4, 4) * 2,),
        (normal(2, 3, 5) * 3,),
        (normal(2, 3, 4, 5),),
    ],
    corner_cases=[
        (normal(6),),
        (normal(3, 1),),
        FAR_APART,
        HUGE,
        (normal(3, 4, seed=5).masked_fill(torch.eye(3, 4, dtype=torch.bool), -math.inf),),
        (torch.tensor([[[-math.inf, 3.0, -math.inf], [2e6, -math.inf, 1.9e6]]]),),
    ],
    gradients=True,
    random_probes=lambda rng: [(normal(*rng.sample(range(2, 8), axes), seed=rng.randrange(10**6)),) for axes in (2, 3)],
    without=("softmax", "log_softmax", "softmin"),
    hints=[
        "Softmax is `exp` divided by the sum of `exp`, along the last axis.",
        "exp(1 000 000) is infinite. If you subtract the same number from every score of a row, the result stays the "
        "same. With which number can exp never become infinite?",
        "`scores.amax(dim=-1, keepdim=True)` is the largest score of each row, as a column that can be subtracted.",
    ],
)


@stable_softmax.misconception(
    forms=[lambda scores: torch.sub(scores, torch.max(scores, dim=-1)), lambda scores: torch.exp(scores.max(dim=-1))]
)
def max_and_place(scores):
    """`max` with a dim returns two things.

    `scores.max(dim=-1)` returns the largest number of each row *and* its place. Such a pair cannot be subtracted from
    the scores. `.values` is the first of the two; `scores.amax(dim=-1, keepdim=True)` returns only that.
    """
    return torch.exp(scores - scores.max(dim=-1, keepdim=True))


@stable_softmax.misconception(
    telltale_call=HUGE,
    forms=[
        lambda scores, least=least: torch.exp(scores) / (torch.exp(scores).sum(dim=-1, keepdim=True) + least)
        for least in (1e-12, 1e-9, 1e-6)
    ],
)
def small_number_added(scores):
    """A small number below the fraction line does not help against infinity.

    It prevents 0 divided by 0. But a large score has an infinite exp, and infinity divided by infinity is NaN. Subtract
    the largest score of each row before exp; then the sum is at least 1, and the small number is not needed.
    """
    return torch.exp(scores) / (torch.exp(scores).sum(dim=-1, keepdim=True) + 1e-8)


@stable_softmax.misconception(telltale_call=HUGE)
def overflow(scores):
    """The formula is right, but exp overflows.

    On paper this is softmax. But in float32 exp(89) is already infinite, and infinity divided by infinity is NaN. A row
    of scores below −104 becomes NaN too: every exp is 0, and 0 divided by 0 is NaN. What has to be subtracted before
    exp is the largest score itself, not its place (`argmax`).
    """
    return torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)


@stable_softmax.misconception(telltale_call=FAR_APART)
def global_max(scores):
    """The largest score of the whole tensor is subtracted, not that of each row.

    `scores.max()` without a dim prevents the overflow, and with ordinary numbers the result is right. But in a row far
    below the largest score every exp is 0, and 0 divided by 0 is NaN.
    """
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum(dim=-1, keepdim=True)


@stable_softmax.misconception(telltale_call=HUGE)
def mean(scores):
    """The mean is subtracted, not the largest.

    On paper you may subtract any number. If you subtract the largest, every exponent is at most 0, and exp cannot
    overflow. If you subtract another number, it can.
    """
    exps = torch.exp(scores - scores.mean(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)


@stable_softmax.misconception(telltale_call=HUGE)
def smallest(scores):
    """The smallest is subtracted, not the largest.

    Then every exponent is 0 or more, and exp can still overflow. If you subtract the largest, every exponent is at
    most 0.
    """
    exps = torch.exp(scores - scores.amin(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)


def _clamped(*limits):
    def code(scores):
        exps = torch.exp(scores.clamp(*limits))
        return exps / exps.sum(dim=-1, keepdim=True)

    return code


@stable_softmax.misconception(
    telltale_call=FAR_APART,
    forms=[
        *(_clamped(-limit, limit) for limit in (50, 88, 100)),
        *(_clamped(None, limit) for limit in (50, 80, 88)),
    ],
)
def clamp(scores):
    """Large scores are cut off.

    `clamp` stops the overflow, but two scores beyond the limit become equal, and so do their weights.
    """
    return _clamped(-80, 80)(scores)


@stable_softmax.misconception(telltale_call=FAR_APART)
def nan_replaced(scores):
    """The NaN is replaced by 0 afterwards, and the weights are lost.

    exp overflows, and infinity divided by infinity is NaN. With a 0 in its place the row no longer sums to 1: the
    largest score gets a weight of 0. Prevent the overflow instead.
    """
    return (torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)).nan_to_num(0.0)


@stable_softmax.misconception(telltale_call=HUGE)
def more_digits(scores):
    """float64 overflows too, only later.

    In float64, exp becomes infinite above 709, and the scores here can be a million. If you subtract the largest score
    of each row, no exponential is larger than 1, in any precision.
    """
    exps = torch.exp(scores.double())
    return (exps / exps.sum(dim=-1, keepdim=True)).float()


@stable_softmax.misconception(
    telltale_call=HUGE, forms=[lambda scores, typed=typed: _shifted_by(typed, scores) for typed in (1000.0, 1e6)]
)
def fixed_number_subtracted(scores):
    """A fixed number is subtracted, not the largest score.

    It is right only for rows whose largest score is near this number. A score far above it still overflows, and in a
    row far below it every exp is 0, and 0 divided by 0 is NaN.
    """
    return _shifted_by(100.0, scores)


@stable_softmax.misconception(telltale_call=FAR_APART)
def largest_size(scores):
    """The largest absolute value is subtracted, not the largest score.

    If all scores of a row are far below 0, this number is far above all of them, and every exp is 0. Subtract the
    largest score itself, even if it is negative.
    """
    return _shifted_by(scores.abs().amax(dim=-1, keepdim=True), scores)


@stable_softmax.misconception(telltale_call=FAR_APART)
def largest_added(scores):
    """The largest score is added, not subtracted.

    Then a large score becomes twice as large, and exp overflows even earlier.
    """
    return _shifted_by(-scores.amax(dim=-1, keepdim=True), scores)


@stable_softmax.misconception(telltale_call=(torch.tensor([[1.0, 2.0], [0.0, 3.0]]),))
def sign_turned(scores):
    """The sign of the exponent is wrong: the smallest score gets the largest weight.

    exp(largest − score) is large where the score is small. It has to be exp(score − largest).
    """
    return torch.softmax(-scores, dim=-1)


@stable_softmax.misconception()
def each_alone(scores):
    """Each score has a weight of its own, from sigmoid.

    `sigmoid` looks at one score at a time, so a row does not sum to 1. In softmax the keys of a row share the weight 1
    among them.
    """
    return torch.sigmoid(scores)


@stable_softmax.misconception()
def divided_by_the_largest(scores):
    """The scores are divided by the largest, where it should be subtracted.

    Softmax depends only on the differences of the scores. If you subtract one number from all scores of a row, their
    differences stay; if you divide, they change.
    """
    return _shifted_by(0.0, scores / scores.amax(dim=-1, keepdim=True))


@stable_softmax.misconception(
    forms=[
        lambda scores: _shifted_by(0.0, scores / scores.size(-1) ** 0.5),
        *(
            lambda scores, typed=typed: _shifted_by(scores.amax(dim=-1, keepdim=True) / typed, scores / typed)
            for typed in TYPED_DIVISORS
        ),
    ]
)
def scaled(scores):
    """The scores are divided by something before exp.

    The division by √d_k is a step of attention before softmax. The softmax of 2.1 takes the scores as they are.
    """
    scores = scores / scores.size(-1) ** 0.5
    return _shifted_by(scores.amax(dim=-1, keepdim=True), scores)


@stable_softmax.misconception(
    reread="02#text-40",
    forms=[
        lambda scores: torch.softmax(scores, dim=0),
        lambda scores: torch.softmax(scores, dim=1),
        *(
            lambda scores, dim=dim: _exp_of_row(scores) / _exp_of_row(scores).sum(dim=dim(scores), keepdim=True)
            for dim in (lambda scores: 1, lambda scores: 0, lambda scores: max(-2, -scores.ndim))
        ),
    ],
)
def wrong_axis(scores):
    """The sum runs over the wrong axis.

    Each column sums to 1 here. The scores of a query are a row, so softmax runs over the last axis: `dim=-1`.
    """
    return torch.softmax(scores, dim=-2)


@stable_softmax.misconception(
    forms=[
        lambda scores: torch.exp(scores) / torch.exp(scores).sum(),
        lambda scores: torch.exp(scores - scores.amax(-1, True)) / torch.exp(scores - scores.amax(-1, True)).sum(),
    ]
)
def whole_tensor(scores):
    """The sum runs over the whole tensor.

    `.sum()` without a dim adds up all numbers, so all weights together sum to 1. Each single row has to sum to 1.
    """
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum()


@stable_softmax.misconception(forms=[lambda scores: torch.exp(scores) / torch.exp(scores).sum(dim=-1)])
def keepdim(scores):
    """The sums have lost their axis.

    Without `keepdim=True` the sums of (2, 3) have shape (2,), which broadcasts along the wrong axis: each column of a
    square matrix is divided by the sum of another row, and no error is raised.
    """
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1)


def _flat_maxima(scores, keepdim=True):
    exps = torch.exp(scores - scores.amax(dim=-1))
    return exps / exps.sum(dim=-1, keepdim=keepdim)


@stable_softmax.misconception(forms=[lambda scores: _flat_maxima(scores, keepdim=False)])
def maxima_without_their_axis(scores):
    """The largest of each row has lost its axis.

    Without `keepdim=True` the maxima of (2, 3) have shape (2,), which broadcasts along the wrong axis: from each column
    of a square matrix the maximum of another row is subtracted, and no error is raised.
    """
    return _flat_maxima(scores)


@stable_softmax.misconception(
    reread="02#text-40",
    forms=[lambda scores: _shifted_by(scores.amax(dim=-2 if scores.ndim > 1 else -1, keepdim=True), scores)],
)
def maxima_of_columns(scores):
    """The largest of each column is subtracted, not that of each row.

    The same number has to be subtracted from a whole row; otherwise it does not cancel. `dim=0` takes the maximum down
    each column. The scores of one query are along the last axis: `dim=-1`.
    """
    return _shifted_by(scores.amax(dim=0, keepdim=True), scores)


def _exp_of_row(scores):
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


def _shifted_by(number, scores):
    exps = torch.exp(scores - number)
    return exps / exps.sum(dim=-1, keepdim=True)


@stable_softmax.misconception()
def sum_not_shifted(scores):
    """The largest is subtracted above the fraction line and not below it.

    exp(score − largest) has to be divided by the sum of the same exponentials. Give them a name and use it twice.
    """
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True)) / torch.exp(scores).sum(dim=-1, keepdim=True)


def _with_one(scores):
    largest = scores.amax(dim=-1, keepdim=True).clamp(min=0)
    return torch.exp(scores - largest) / (torch.exp(-largest) + torch.exp(scores - largest).sum(-1, keepdim=True))


@stable_softmax.misconception(
    forms=[
        lambda scores: torch.exp(scores) / (1 + torch.exp(scores).sum(dim=-1, keepdim=True)),
        _with_one,
    ]
)
def one_more(scores):
    """Something is added to the sum: the rows sum to less than 1.

    With a 1 added to the sum, a query can give little weight to all keys, and some models want that. Softmax divides by
    the sum alone.
    """
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / (1 + exps.sum(dim=-1, keepdim=True))


def _powers_of(base):
    def code(scores):
        powers = base ** (scores - scores.amax(dim=-1, keepdim=True))
        return powers / powers.sum(dim=-1, keepdim=True)

    return code


@stable_softmax.misconception(forms=[_powers_of(base) for base in (2.718, 2.72, 2.71, 2.7, 3.0, 10.0)])
def other_base(scores):
    """The base is not e.

    e is 2.718281828…. With a rounded e, powers of small scores are nearly right, and those of large scores are wrong by
    more. `torch.exp` has all digits.
    """
    return _powers_of(2.0)(scores)


@stable_softmax.misconception(reread="01#text-18")
def log(scores):
    """This is the logarithm of the softmax.

    `log_softmax` is used in loss functions, and its numbers are 0 or negative. Weights are between 0 and 1.
    """
    return torch.log_softmax(scores, dim=-1)


@stable_softmax.misconception(reread="01#text-18")
def no_exp(scores):
    """The scores are divided by their sum, without exp.

    These rows also sum to 1, but negative scores give negative weights, and a sum near 0 gives very large ones.
    """
    return scores / scores.sum(dim=-1, keepdim=True)


@stable_softmax.misconception(reread="01#text-18", forms=[lambda scores: torch.exp(scores)])
def not_divided(scores):
    """exp is taken, but nothing is divided by the sum.

    exp makes every number positive. The division makes a row sum to 1.
    """
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


# ----------------------------------------------------------------------------------------------------------- 2.2


def _qkv(*lead, n_q, n_k, d_k, d_v, seed):
    q, k = normal(*lead, n_q, d_k, seed=seed), normal(*lead, n_k, d_k, seed=seed + 1)
    return q, k, normal(*lead, n_k, d_v, seed=seed + 2)


def _keys_together(answer):
    q, k, v = _qkv(2, n_q=3, n_k=5, d_k=4, d_v=2, seed=80)
    order = torch.tensor([3, 0, 4, 1, 2])
    return torch.allclose(answer(q, k[:, order], v[:, order])[0], answer(q, k, v)[0], atol=1e-4)


def _qkv_of_sizes(rng):
    batch, n_q, n_k, d_k, d_v = rng.sample(range(2, 9), 5)
    return [_qkv(batch, n_q=n_q, n_k=n_k, d_k=d_k, d_v=d_v, seed=rng.randrange(10**6))]


attention = function(
    "2.2",
    scaled_dot_product_attention,
    as_="my_attention(q, k, v)",
    title="Attention, from an empty cell",
    section="02#text-38",
    probes=[
        _qkv(1, n_q=2, n_k=3, d_k=4, d_v=5, seed=1),
        _qkv(2, n_q=3, n_k=4, d_k=6, d_v=5, seed=2),
        _qkv(2, n_q=5, n_k=5, d_k=3, d_v=3, seed=3),
        _qkv(2, 3, n_q=4, n_k=5, d_k=7, d_v=6, seed=4),
    ],
    corner_cases=[
        _qkv(n_q=3, n_k=4, d_k=2, d_v=5, seed=5),
        _qkv(2, n_q=3, n_k=1, d_k=2, d_v=4, seed=6),
        _qkv(3, n_q=1, n_k=4, d_k=1, d_v=2, seed=7),
        _qkv(1, 2, 3, n_q=2, n_k=9, d_k=3, d_v=1, seed=9),
    ],
    returns=("the output", "the weights"),
    also_called=("attention",),
    random_probes=_qkv_of_sizes,
    gradients=True,
    invariants=[
        (
            "when the keys and their values are put into another order, the output changes; it should stay the same",
            _keys_together,
        )
    ],
    hints=[
        "scores → weights → output. Watch the shapes: scores and weights are `(…, n_queries, n_keys)`.",
        "`k.transpose(-2, -1)` exchanges the last two axes only. `@`, too, works on the last two axes only.",
        "Divide the scores by `math.sqrt(q.size(-1))`, take the softmax along `dim=-1`, multiply by `v`, return both.",
    ],
)


def _attend(scores, v, dim=-1):
    weights = torch.softmax(scores, dim=dim)
    return weights @ v, weights


def _weights(q, k):
    return torch.softmax(_scores(q, k), dim=-1)


def _scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


@attention.misconception(reread="02#text-29")
def no_scale(q, k, v):
    """The scores are not divided by √d_k.

    The rows still sum to 1, and with few features the result is nearly the same. With many features the typical size of
    a score is √d_k, the weights become nearly 0 or 1, and small changes of the query hardly change them.
    """
    return _attend(q @ k.transpose(-2, -1), v)


@attention.misconception(reread="02#text-29")
def d_not_root(q, k, v):
    """In total, the scores are divided by d_k, not by its root.

    You divided by d_k where √d_k is needed, or by √d_k twice: the queries, and then the scores. The variance of a score
    is d_k, but its typical size is √d_k.
    """
    return _attend(q @ k.transpose(-2, -1) / q.size(-1), v)


@attention.misconception(
    reread="02#text-29",
    forms=[
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(k.size(-2)), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(-2)), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(0)), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(1)), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(k.size(1)), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(q.numel()), v),
    ],
)
def wrong_size_in_root(q, k, v):
    """You took the root of another size than d_k.

    A score is a sum of d_k products, one for each feature of a query: `q.size(-1)`. The width of the values and the
    number of tokens do not change how large it is.
    """
    return _attend(q @ k.transpose(-2, -1) / math.sqrt(v.size(-1)), v)


@attention.misconception(
    reread="02#text-29",
    forms=[
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / k.size(-2), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / q.size(-2), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / q.size(0), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / q.size(1), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / k.size(1), v),
    ],
)
def wrong_size(q, k, v):
    """The scores are divided by another size than d_k, and without a root.

    A score is a sum of d_k products, one for each feature of a query, and its typical size is the root of that:
    `math.sqrt(q.size(-1))`.
    """
    return _attend(q @ k.transpose(-2, -1) / v.size(-1), v)


@attention.misconception(
    reread="02#text-29", forms=[lambda q, k, v: _attend(q @ k.transpose(-2, -1) / int(math.sqrt(q.size(-1))), v)]
)
def root_cut(q, k, v):
    """The root of d_k is not computed as meant.

    `d ** 1/2` is (d to the power 1) / 2, since `**` comes before `/`: write `d ** 0.5` or `math.sqrt(d)`. And `int`
    cuts off the digits after the point.
    """
    return _attend(q @ k.transpose(-2, -1) / (q.size(-1) ** 1 / 2), v)


@attention.misconception(reread="02#text-29")
def multiplied(q, k, v):
    """The scores are multiplied by √d_k.

    This makes the scores larger. They have to become smaller: divide.
    """
    return _attend(q @ k.transpose(-2, -1) * math.sqrt(q.size(-1)), v)


@attention.misconception(reread="02#text-29")
def scaled_after(q, k, v):
    """The division comes after softmax.

    Then each row sums to 1/√d_k. The scores have to be divided before softmax.
    """
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1) / math.sqrt(q.size(-1))
    return weights @ v, weights


@attention.misconception(
    reread="02#text-40",
    forms=[
        lambda q, k, v: _attend(_scores(q, k), v, dim=1),
        lambda q, k, v: _attend(_scores(q, k), v, dim=0),
        lambda q, k, v: _attend(_scores(q, k), v, dim=0 if q.ndim == 3 else 1),  # what F.softmax takes without one
    ],
)
def wrong_axis(q, k, v):
    """The softmax runs over the wrong axis.

    `dim=-2`, or `dim=1` in three dimensions, is the axis of the queries. Without a dim, `F.softmax` may take the batch
    axis. The shapes are the same, but the rows do not sum to 1.
    """
    return _attend(_scores(q, k), v, dim=-2)


def _over_all(scores):
    return torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)


@attention.misconception(
    reread="02#text-40",
    forms=[lambda q, k, v: (_over_all(_scores(q, k)) @ v, _over_all(_scores(q, k)))],
)
def whole_table(q, k, v):
    """The sum runs over the whole table, or over the whole batch.

    `.sum()` without a dim adds up all numbers. Each row has to sum to 1, since each query shares its own weight among
    the keys: `dim=-1`.
    """
    weights = torch.exp(_scores(q, k)) / torch.exp(_scores(q, k)).sum()
    return weights @ v, weights


@attention.misconception(
    reread="02#text-13",
    forms=[
        lambda q, k, v: (_scores(q, k) @ v, _scores(q, k)),
        lambda q, k, v: (q @ k.transpose(-2, -1) @ v, q @ k.transpose(-2, -1)),
        lambda q, k, v: (q @ k.transpose(-2, -1) @ v, torch.softmax(q @ k.transpose(-2, -1), dim=-1)),
    ],
)
def softmax_lost(q, k, v):
    """The values are multiplied by the scores: the softmax was thrown away.

    A line `torch.softmax(scores, dim=-1)` changes nothing unless its result gets a name. The output has the same shape
    with and without it.
    """
    return _scores(q, k) @ v, torch.softmax(_scores(q, k), dim=-1)


@attention.misconception(reread="01#text-02")
def scores_returned(q, k, v):
    """The output is right, but the second result is the scores, not the weights.

    “Scores” are before softmax, “weights” after. The second result has to be the weights, rows that sum to 1.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return torch.softmax(scores, dim=-1) @ v, scores


@attention.misconception()
def order(q, k, v):
    """The two results have changed places.

    The output comes first, then the weights, as everywhere in this series.
    """
    return scaled_dot_product_attention(q, k, v)[::-1]


@attention.misconception(reread="02#text-02")
def all_axes(q, k, v):
    """`.T` reverses the order of all axes.

    For a matrix this is right. With a batch in front, the batch axis becomes the last. `k.transpose(-2, -1)`, or
    `k.mT`, exchanges the last two axes only.
    """
    return _attend(q @ k.permute(*reversed(range(k.ndim))), v)  # k.T, without its warning


def _text_by_text(q, k, v):
    return [torch.stack(results) for results in zip(*map(_of_one_text, q, k, v), strict=True)]


def _of_one_text(q, k, v):
    return _attend(q @ k.t() / math.sqrt(q.size(-1)), v)


@attention.misconception(
    reread="02#text-13",
    forms=[
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(2)), v),
        lambda q, k, v: _attend(_scores(q, k), v, dim=2),
        _text_by_text,
    ],
)
def only_3d(q, k, v):
    """Your function works for three dimensions only.

    `torch.bmm`, `transpose(1, 2)`, `q.size(2)` and `dim=2` count axes from the front. `@`, `transpose(-2, -1)`,
    `q.size(-1)` and `dim=-1` count them from the end, so the same line works for any number of leading axes.
    """
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, v), weights


@attention.misconception(reread="02#text-02")
def keys_not_transposed(q, k, v):
    """The keys are not transposed.

    A score is a row of q times a row of k. But `@` multiplies rows by columns, so the keys have to be transposed:
    `k.transpose(-2, -1)`.
    """
    return _attend(q @ k / math.sqrt(q.size(-1)), v)


@attention.misconception(reread="02#text-02")
def keys_reshaped(q, k, v):
    """`reshape` gives the keys the right shape, and the numbers wrong places.

    `reshape` and `view` leave the numbers in the order of memory and cut them into rows of another length.
    `k.transpose(-2, -1)` exchanges the axes: each key becomes a column.
    """
    return _attend(q @ k.reshape(*k.shape[:-2], k.size(-1), k.size(-2)) / math.sqrt(q.size(-1)), v)


@attention.misconception(reread="02#text-02")
def other_axes_exchanged(q, k, v):
    """Other axes than the last two are exchanged.

    `k.transpose(0, 1)` is right for a matrix. With a batch in front, it exchanges the batch axis with another. Count
    from the end, `k.transpose(-2, -1)`: then it is right for any number of axes.
    """
    return _attend(q @ k.transpose(0, 1) / math.sqrt(q.size(-1)), v)


@attention.misconception(
    reread="02#text-02",
    forms=[lambda q, k, v: _attend((q * k).sum(dim=-1), v), lambda q, k, v: (_weights(q, k) * v, 0)],
)
def entry_by_entry(q, k, v):
    """`*` multiplies entry by entry.

    A score is a dot product, and an output a sum of values, each times its weight. Both are matrix products: `@`.
    """
    return _attend(q * k, v)


@attention.misconception(reread="02#text-29")
def root_of_a_plain_number(q, k, v):
    """`torch.sqrt` takes tensors only.

    `q.size(-1)` is a Python number, not a tensor: `math.sqrt(q.size(-1))`, or `q.size(-1) ** 0.5`.
    """
    return _attend(q @ k.mT / torch.sqrt(q.size(-1)), v)


@attention.misconception(reread="02#text-29")
def output_scaled(q, k, v):
    """The output is divided by √d_k, and the scores are not.

    The weights are already made by then. The scores grow with d_k, so they have to be divided, before softmax.
    """
    output, weights = _attend(q @ k.transpose(-2, -1), v)
    return output / math.sqrt(q.size(-1)), weights


def _divided_by(number):
    return lambda q, k, v: _attend(q @ k.transpose(-2, -1) / number, v)


@attention.misconception(reread="02#text-29", forms=[_divided_by(number) for number in (*TYPED_DIVISORS, 0.5)])
def fixed_number(q, k, v):
    """The scores are divided by a fixed number.

    A number that you type is right for one d_k only: 8, which is √64, for queries and keys of 64 numbers. Here d_k is
    `q.size(-1)`, whatever it is.
    """
    return _divided_by(8.0)(q, k, v)


def _causal(q, k, v, edge=0, fill=-math.inf):
    open_ = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool).tril(edge)
    return _attend(_scores(q, k).masked_fill(~open_, fill), v)


def _causal_for_keys(q, k, v):
    open_ = torch.ones(k.size(-2), k.size(-2), dtype=torch.bool).tril()
    return _attend(_scores(q, k).masked_fill(~open_, -math.inf), v)


@attention.misconception(
    reread="02#text-38",
    forms=[lambda q, k, v: _causal(q, k, v, k.size(-2) - q.size(-2)), _causal_for_keys],
)
def future_masked(q, k, v):
    """A query attends only to the keys up to its own place.

    Models that write text hide the later tokens by a mask, and much code has that mask built in. Here every query
    attends to all keys. Masks come in notebook 3.
    """
    return _causal(q, k, v)


@attention.misconception(reread="02#text-13")
def softmax_twice(q, k, v):
    """Softmax is taken twice.

    Weights are between 0 and 1, so the second softmax sees hardly any difference between them and makes them nearly
    even.
    """
    return _attend(torch.softmax(_scores(q, k), dim=-1), v)


@attention.misconception(reread="01#text-12")
def swapped(q, k, v):
    """Queries and keys have changed places.

    The scores need a row for each query and a column for each key: the queries stand on the left, the keys, transposed,
    on the right.
    """
    return _attend(_scores(k, q), v)


@attention.misconception(reread="01#why-ask")
def keys_for_values(q, k, v):
    """The weights are applied to the keys.

    Keys decide how much is taken from each token, values are what is taken.
    """
    return _attend(_scores(q, k), k)


# ----------------------------------------------------------------------------------------------------------- 2.3


def cosine_attention(q, k, v, temperature):
    q, k = (x / x.norm(dim=-1, keepdim=True) for x in (q, k))  # each row of length 1
    weights = torch.softmax(q @ k.transpose(-2, -1) / temperature, dim=-1)
    return weights @ v, weights


def _with_temperature(*lead, temperature, **sizes):
    return *_qkv(*lead, **sizes), temperature


def _louder_keys(answer):
    q, k, v = _qkv(2, n_q=3, n_k=4, d_k=5, d_v=2, seed=230)
    louder = k * torch.tensor([1.0, 3.0, 0.5, 10.0])[:, None]
    return torch.allclose(answer(q, louder, v, 0.3)[1], answer(q, k, v, 0.3)[1], atol=1e-4)


cosine = function(
    "2.3",
    cosine_attention,
    as_="my_cosine_attention(q, k, v, temperature)",
    title="Divided by their own lengths",
    section="02#text-36",
    probes=[
        _with_temperature(n_q=2, n_k=3, d_k=4, d_v=5, seed=200, temperature=0.5),
        _with_temperature(2, n_q=3, n_k=4, d_k=6, d_v=5, seed=205, temperature=0.1),
        _with_temperature(2, 3, n_q=4, n_k=5, d_k=7, d_v=6, seed=210, temperature=0.2),
        _with_temperature(2, n_q=4, n_k=4, d_k=4, d_v=4, seed=215, temperature=2.0),
    ],
    corner_cases=[_with_temperature(n_q=1, n_k=1, d_k=3, d_v=2, seed=220, temperature=1.0)],
    returns=("the output", "the weights"),
    random_probes=lambda rng: [
        (*_qkv_of_sizes(rng)[0], rng.choice((0.1, 0.2, 0.4))),
        _with_temperature(2, 2, n_q=3, n_k=4, d_k=5, d_v=6, seed=rng.randrange(10**6), temperature=0.3),
    ],
    gradients=True,
    invariants=[("the weights change when a key only becomes longer", _louder_keys)],
    hints=[
        "First make every query and every key of length 1. Their dot products are then the cosines.",
        "The length of each row is `x.norm(dim=-1, keepdim=True)`. Divide each query and each key by its own length.",
        "The rest is attention with another divisor: `temperature` in place of √d_k.",
    ],
)


def _lengths(x, dim=-1):
    return x.norm(dim=dim, keepdim=True)


def _attended(q, k, v, divisor):
    return _attend(q @ k.transpose(-2, -1) / divisor, v)


def _cosines_divided(divisor):
    return lambda q, k, v, t: _attended(q / _lengths(q), k / _lengths(k), v, divisor(q, t))


@cosine.misconception(
    reread="02#text-36",
    forms=[
        _cosines_divided(lambda q, t: t * q.size(-1)),
        *(_cosines_divided(lambda q, t, typed=typed: t * typed) for typed in TYPED_DIVISORS),
    ],
)
def root_as_well(q, k, v, temperature):
    """The cosines are divided by √d_k, or by another number, as well.

    The division by √d_k is needed because vectors of many numbers give large dot products. These vectors have length 1
    for every d_k, so their scores are between −1 and 1 already.
    """
    return _attended(q / _lengths(q), k / _lengths(k), v, temperature * math.sqrt(q.size(-1)))


@cosine.misconception(
    reread="02#text-36",
    forms=[lambda q, k, v, t: _attended(q / _lengths(q), k / _lengths(k), v, 1 / t)],
)
def temperature_turned_round(q, k, v, temperature):
    """The temperature multiplies the scores, where it should divide them.

    A higher temperature has to make the weights of a row more equal. If it multiplies the scores, they grow, and the
    weights become less equal.
    """
    return _attend(temperature * (q / _lengths(q)) @ (k / _lengths(k)).transpose(-2, -1), v)


@cosine.misconception(
    reread="02#text-36",
    forms=[
        _cosines_divided(lambda q, t: q.size(-1)),
        *(_cosines_divided(lambda q, t, typed=typed: typed) for typed in (0.05, 0.07, 0.1, 0.2, 0.5, *TYPED_DIVISORS)),
    ],
)
def another_divisor(q, k, v, temperature):
    """The cosines are divided by √d_k, or by a number that is typed, in place of the temperature.

    `temperature` is an argument, and each call may have another. No other number divides the cosines.
    """
    return _cosines_divided(lambda q, t: math.sqrt(q.size(-1)))(q, k, v, temperature)


@cosine.misconception(reread="02#text-36")
def divided_twice_by_temperature(q, k, v, temperature):
    """The temperature divides twice.

    If queries and keys are both divided by it, their products are divided by its square. Divide the scores, once.
    """
    return _cosines_divided(lambda q, t: t * t)(q, k, v, temperature)


@cosine.misconception(reread="02#text-36")
def temperature_forgotten(q, k, v, temperature):
    """The temperature has no effect.

    Either it does not appear, or it is subtracted from all scores of a row, and softmax looks only at differences. Two
    cosines differ by 2 at most, so without a temperature no key can get more than 7.4 times the weight of another.
    """
    return _attended(q / _lengths(q), k / _lengths(k), v, 1)


@cosine.misconception(reread="02#text-36")
def only_queries(q, k, v, temperature):
    """Only the queries have length 1.

    A long key then still gets a large score from every query of a similar direction. Divide both, each by its own
    length.
    """
    return _attended(q / _lengths(q), k, v, temperature)


@cosine.misconception(reread="02#text-36")
def only_keys(q, k, v, temperature):
    """Only the keys have length 1.

    A long query then still makes a row with larger differences than a short one. Divide both, each by its own length.
    """
    return _attended(q, k / _lengths(k), v, temperature)


@cosine.misconception(reread="02#text-36", forms=[lambda q, k, v, t: _attended(q / q.norm(), k / k.norm(), v, t)])
def one_length_for_all(q, k, v, temperature):
    """There is one length for a whole matrix.

    `norm()` without an axis is one length for all rows together, so a long key stays longer than the others. Each row
    has a length of its own: `dim=-1, keepdim=True`.
    """
    q_length, k_length = (x.norm(dim=(-2, -1), keepdim=True) for x in (q, k))
    return _attended(q / q_length, k / k_length, v, temperature)


@cosine.misconception(reread="02#text-36")
def lengths_without_their_axis(q, k, v, temperature):
    """The lengths have lost their axis.

    `norm(dim=-1)` makes one number of each row and removes the axis of the features, so the lengths are no longer a
    column beside the queries. With `keepdim=True` they are: divide each query and each key before their product.
    """
    return _attended(q, k, v, q.norm(dim=-1) * k.norm(dim=-1) * temperature)


@cosine.misconception(reread="02#text-40")
def lengths_of_columns(q, k, v, temperature):
    """The lengths are those of the columns.

    A column has one feature of all tokens. A query or a key is a row, so its length is taken over the last axis:
    `dim=-1`.
    """
    return _attended(q / _lengths(q, -2), k / _lengths(k, -2), v, temperature)


@cosine.misconception(reread="02#text-36")
def squared_lengths(q, k, v, temperature):
    """The vectors are divided by the squares of their lengths.

    The length is the root of the sum of the squares. If a long vector is divided by this sum without the root, it
    becomes shorter than 1.
    """
    return _attended(q / _lengths(q).square(), k / _lengths(k).square(), v, temperature)


@cosine.misconception(reread="02#text-20")
def values_too(q, k, v, temperature):
    """The values have length 1 as well.

    Only queries and keys are compared, so only they get the length 1. The length of a value is part of its information,
    and has to stay.
    """
    return _attended(q / _lengths(q), k / _lengths(k), v / _lengths(v), temperature)


@cosine.misconception(
    reread="02#text-29",
    forms=[
        lambda q, k, v, t: _attended(q, k, v, t * math.sqrt(q.size(-1))),
        lambda q, k, v, t: _attended(q, k, v, t * q.size(-1)),
    ],
)
def not_divided_by_lengths(q, k, v, temperature):
    """The scores are not divided by the lengths of their query and key.

    A dot product grows with both lengths, so a key that is twice as long has twice the score. A cosine depends on the
    angle only.
    """
    return _attended(q, k, v, temperature)


@cosine.misconception(reread="02#text-36")
def lengths_added_up(q, k, v, temperature):
    """The lengths are sums of absolute values.

    The length of a vector is the root of the sum of its squares. The dot product is a cosine only with this length.
    """
    q, k = (x / x.abs().sum(dim=-1, keepdim=True) for x in (q, k))
    return _attended(q, k, v, temperature)


@cosine.misconception(reread="02#text-36")
def temperature_after(q, k, v, temperature):
    """The temperature divides the weights, after softmax.

    Each row then sums to 1/temperature, and the ratios of its weights stay as they were. The temperature has to divide
    the scores.
    """
    weights = torch.softmax(q / _lengths(q) @ (k / _lengths(k)).transpose(-2, -1), dim=-1) / temperature
    return weights @ v, weights


@cosine.misconception(reread="02#text-40")
def cosines_over_queries(q, k, v, temperature):
    """The softmax runs over the queries.

    Then the weights of each key sum to 1. The weights of each query have to sum to 1, over the keys: `dim=-1`.
    """
    return _attend(q / _lengths(q) @ (k / _lengths(k)).transpose(-2, -1) / temperature, v, dim=-2)


@cosine.misconception(reread="02#text-36")
def length_of_a_row_of_scores(q, k, v, temperature):
    """Each row of scores is divided by its own length.

    Divide by the length of the query and the length of the key, not by that of a row of their scores.
    """
    scores = q @ k.transpose(-2, -1)
    return _attended(q / _lengths(scores), k, v, temperature)


@cosine.misconception(reread="02#text-40")
def axis_one(q, k, v, temperature):
    """The lengths are taken along axis 1, whatever that is.

    `F.normalize(x)` uses `dim=1` if you name no axis. With a batch in front, that is the axis of the tokens, or of the
    heads. A query is a row, so its length is taken over the last axis: `dim=-1`.
    """
    return _attended(q / _lengths(q, 1), k / _lengths(k, 1), v, temperature)


@cosine.misconception(reread="02#text-36")
def root_of_the_mean(q, k, v, temperature):
    """The vectors are divided by the root of the mean of their squares.

    Then each has the length √d_k, and the scores are d_k times the cosines. The length is the root of the *sum* of the
    squares.
    """
    q, k = (x / x.square().mean(dim=-1, keepdim=True).sqrt() for x in (q, k))
    return _attended(q, k, v, temperature)


@cosine.misconception(reread="02#text-36")
def lengths_of_keys_upright(q, k, v, temperature):
    """The lengths of the keys are a column, where they should be a row.

    Scores have a row for each query and a column for each key. Beside them the lengths of the queries are a column, but
    those of the keys have to be a row: `k.norm(dim=-1)[..., None, :]`. It is easier to divide queries and keys before
    their product.
    """
    return _attended(q, k, v, _lengths(q) * _lengths(k) * temperature)


@cosine.misconception(reread="02#text-13")
def softmax_lost(q, k, v, temperature):
    """The softmax is missing: the values are multiplied by the scores.

    Cosines can be negative, and they do not sum to 1. Softmax over the keys makes weights of them.
    """
    scores = q / _lengths(q) @ (k / _lengths(k)).transpose(-2, -1) / temperature
    return scores @ v, scores


@cosine.misconception()
def order(q, k, v, temperature):
    """The two results have changed places.

    The output comes first, then the weights, as everywhere in this series.
    """
    return cosine_attention(q, k, v, temperature)[::-1]
