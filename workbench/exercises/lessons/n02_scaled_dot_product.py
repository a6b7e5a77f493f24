"""Exercises of notebook 2: a stable softmax, and batched attention."""

import math

import torch

from attn_lib.functional import scaled_dot_product_attention

from ..engine.function import function
from ..engine.probes import normal

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
        "What breaks is exp(1 000 000). Subtracting the same number from every score of a row leaves the result "
        "as it is; which number keeps exp in bounds?",
        "`scores.amax(dim=-1, keepdim=True)` is the largest of each row, kept as a column so that it can be "
        "subtracted.",
    ],
)


@stable_softmax.misconception(
    forms=[lambda scores: torch.sub(scores, torch.max(scores, dim=-1)), lambda scores: torch.exp(scores.max(dim=-1))]
)
def max_and_place(scores):
    """`max` with a dim returns two things.

    `scores.max(dim=-1)` finds the largest of each row *and* where it stands, and nothing can be subtracted from such
    a pair. `.values` is the first of the two; `scores.amax(dim=-1, keepdim=True)` returns it alone.
    """
    return torch.exp(scores - scores.max(dim=-1, keepdim=True))


@stable_softmax.misconception(telltale_call=HUGE)
def overflow(scores):
    """The formula is right, but exp overflows.

    On paper it is finished. In float32 exp(89) is already infinite, and infinity divided by infinity is NaN. A row
    of scores below −104 fares no better: there every exp is 0, and 0 divided by 0 is NaN too.
    """
    return torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)


@stable_softmax.misconception(telltale_call=FAR_APART)
def global_max(scores):
    """The largest score of the whole tensor is subtracted, not that of each row.

    `scores.max()` without a dim stops the overflow, and on tame numbers nothing shows. A row far below the largest
    one then underflows to 0 divided by 0.
    """
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum(dim=-1, keepdim=True)


@stable_softmax.misconception(telltale_call=HUGE)
def mean(scores):
    """The mean is subtracted, not the largest.

    Any number may be subtracted on paper. Only with the largest is every exponent at most 0, so that exp cannot
    overflow.
    """
    exps = torch.exp(scores - scores.mean(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)


@stable_softmax.misconception(telltale_call=HUGE)
def smallest(scores):
    """The smallest is subtracted, not the largest.

    Then every exponent is at least 0, and exp overflows just where it would have without. With the largest every
    exponent is at most 0.
    """
    exps = torch.exp(scores - scores.amin(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)


@stable_softmax.misconception(telltale_call=FAR_APART)
def clamp(scores):
    """Large scores are cut off.

    Clamping stops the overflow, but two scores beyond the limit become equal, and so do their weights.
    """
    exps = torch.exp(scores.clamp(-80, 80))
    return exps / exps.sum(dim=-1, keepdim=True)


@stable_softmax.misconception(
    reread="02#text-40",
    forms=[lambda scores: torch.softmax(scores, dim=0), lambda scores: torch.softmax(scores, dim=1)],
)
def wrong_axis(scores):
    """The sum runs over the wrong axis.

    Each column sums to 1 here. A query's scores stand in a row, the last axis: `dim=-1`.
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

    `.sum()` without a dim adds everything up, so that all numbers together make 1. Each row has to sum to 1 by
    itself.
    """
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum()


@stable_softmax.misconception(forms=[lambda scores: torch.exp(scores) / torch.exp(scores).sum(dim=-1)])
def keepdim(scores):
    """The sums have lost their axis.

    Without `keepdim=True` the sums of (2, 3) have shape (2,), which broadcasts along the wrong axis: a square
    matrix is divided by the sums of other rows and nothing complains.
    """
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1)


def _flat_maxima(scores, keepdim=True):
    exps = torch.exp(scores - scores.amax(dim=-1))
    return exps / exps.sum(dim=-1, keepdim=keepdim)


@stable_softmax.misconception(forms=[lambda scores: _flat_maxima(scores, keepdim=False)])
def maxima_without_their_axis(scores):
    """The largest of each row has lost its axis.

    Without `keepdim=True` the maxima of (2, 3) have shape (2,), which broadcasts along the columns: from a square
    matrix the maxima of other rows are subtracted and nothing complains.
    """
    return _flat_maxima(scores)


@stable_softmax.misconception(
    reread="02#text-40",
    forms=[lambda scores: _shifted_by(scores.amax(dim=-2 if scores.ndim > 1 else -1, keepdim=True), scores)],
)
def maxima_of_columns(scores):
    """The largest of each column is subtracted, not that of each row.

    What is subtracted has to be the same for the whole row, or it does not cancel. `dim=0` is the axis of the rows;
    the scores of one query are the last axis: `dim=-1`.
    """
    return _shifted_by(scores.amax(dim=0, keepdim=True), scores)


def _shifted_by(number, scores):
    exps = torch.exp(scores - number)
    return exps / exps.sum(dim=-1, keepdim=True)


@stable_softmax.misconception()
def sum_not_shifted(scores):
    """The largest is subtracted above the line and not below.

    exp(score − largest) has to be divided by the sum of just these. Keep them in a variable and use it twice.
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

    With a 1 below the line a query may attend to nothing much, and some models want that. Softmax divides by the sum
    alone.
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

    e is 2.718281828…; a rounded one leaves small numbers nearly right, and large ones are off by more. `torch.exp` has
    all its digits.
    """
    return _powers_of(2.0)(scores)


@stable_softmax.misconception(reread="01#text-18")
def log(scores):
    """This is the logarithm of the softmax.

    `log_softmax` serves loss functions. Weights are between 0 and 1.
    """
    return torch.log_softmax(scores, dim=-1)


@stable_softmax.misconception(reread="01#text-18")
def no_exp(scores):
    """The scores are divided by their sum, without exp.

    That also makes rows sum to 1, but negative scores become negative weights, and a sum near 0 blows up.
    """
    return scores / scores.sum(dim=-1, keepdim=True)


@stable_softmax.misconception(reread="01#text-18", forms=[lambda scores: torch.exp(scores)])
def not_divided(scores):
    """exp is taken, but nothing is divided by the sum.

    exp makes every number positive; only the division makes a row sum to 1.
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
    invariants=[("the output changes when keys and values change places together", _keys_together)],
    hints=[
        "scores → weights → output. Keep an eye on the shapes: `(…, n_queries, n_keys)` for scores and weights.",
        "`k.transpose(-2, -1)` swaps the last two axes and leaves the others alone; `@` does the same.",
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

    It runs, rows sum to 1, and with few features it hardly shows. With many the scores spread by √d_k, softmax
    hardens to nearly 0 and 1, and gradients vanish.
    """
    return _attend(q @ k.transpose(-2, -1), v)


@attention.misconception(reread="02#text-29")
def d_not_root(q, k, v):
    """The scores are divided by d_k in all, not by its root.

    Either d_k stands where its root belongs, or √d_k divides twice: the queries, and the scores once more. The variance
    of a score is d_k; its spread, which is what division changes, is √d_k.
    """
    return _attend(q @ k.transpose(-2, -1) / q.size(-1), v)


@attention.misconception(
    reread="02#text-29",
    forms=[
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(k.size(-2)), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(-2)), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(0)), v),
        lambda q, k, v: _attend(q @ k.transpose(-2, -1) / math.sqrt(q.size(1)), v),
    ],
)
def wrong_size_in_root(q, k, v):
    """The root is taken of another size than d_k.

    A score is a sum of d_k products, one for each feature of a query: `q.size(-1)`. Neither the width of the values
    nor the number of tokens enters into it.
    """
    return _attend(q @ k.transpose(-2, -1) / math.sqrt(v.size(-1)), v)


@attention.misconception(reread="02#text-29")
def multiplied(q, k, v):
    """The scores are multiplied by √d_k.

    It makes the spread larger where it should make it smaller.
    """
    return _attend(q @ k.transpose(-2, -1) * math.sqrt(q.size(-1)), v)


@attention.misconception(reread="02#text-29")
def scaled_after(q, k, v):
    """The division comes after softmax.

    Rows then sum to 1/√d_k. The scores have to be made smaller before softmax sees them.
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

    `dim=-2`, or `dim=1` in three dimensions, is the axis of the queries; without a dim `F.softmax` may take the batch.
    The shapes are the same, but the rows do not sum to 1.
    """
    return _attend(_scores(q, k), v, dim=-2)


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

    A line `torch.softmax(scores, dim=-1)` changes nothing unless its result gets a name. The shape of the output is
    the same.
    """
    return _scores(q, k) @ v, torch.softmax(_scores(q, k), dim=-1)


@attention.misconception(reread="01#text-02")
def scores_returned(q, k, v):
    """The output is right; what comes with it are the scores, not the weights.

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
    """`.T` turns round all axes.

    Of a matrix that is what is wanted. With a batch in front the batch comes out last: `k.transpose(-2, -1)`, or
    `k.mT`, swaps the last two axes and leaves the others alone.
    """
    return _attend(q @ k.permute(*reversed(range(k.ndim))), v)  # k.T, without its warning


@attention.misconception(reread="02#text-13")
def only_3d(q, k, v):
    """It works for three dimensions only.

    `torch.bmm` and `transpose(1, 2)` count axes from the front. Counted from the back, `@` and `transpose(-2, -1)`,
    the same line works for any number of leading axes.
    """
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, v), weights


@attention.misconception(reread="02#text-02")
def keys_not_transposed(q, k, v):
    """The keys are not transposed.

    A score is a row of q times a row of k. For `@` the keys have to lie as columns: `k.transpose(-2, -1)`.
    """
    return _attend(q @ k / math.sqrt(q.size(-1)), v)


@attention.misconception(reread="02#text-02")
def other_axes_exchanged(q, k, v):
    """Other axes than the last two are exchanged.

    `k.transpose(0, 1)` is right for a matrix. With a batch in front it is the batch that goes astray: counted from the
    back, `k.transpose(-2, -1)`, the axes are the right ones for any number of them.
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

    `q.size(-1)` is a number of Python's: `math.sqrt(q.size(-1))`, or `q.size(-1) ** 0.5`.
    """
    return _attend(q @ k.mT / torch.sqrt(q.size(-1)), v)


@attention.misconception(reread="02#text-29")
def output_scaled(q, k, v):
    """The output is divided by √d_k, and the scores are not.

    Softmax has dealt out the weights by then. It is the scores that grow with d_k.
    """
    output, weights = _attend(q @ k.transpose(-2, -1), v)
    return output / math.sqrt(q.size(-1)), weights


def _divided_by(number):
    return lambda q, k, v: _attend(q @ k.transpose(-2, -1) / number, v)


@attention.misconception(reread="02#text-29", forms=[_divided_by(number) for number in (512**0.5, 64.0, 10.0, 2.0)])
def fixed_number(q, k, v):
    """The scores are divided by a fixed number.

    8 is √64, which fits models whose heads have 64 features. Here it is the root of what d_k is: `q.size(-1)`.
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
    """A query hears only the keys before it.

    Models that write text mask the future, and much code has that mask built in. Here every query hears all keys;
    masks come in notebook 3.
    """
    return _causal(q, k, v)


@attention.misconception(reread="02#text-13")
def softmax_twice(q, k, v):
    """Softmax is taken twice.

    Weights are between 0 and 1, so the second softmax sees hardly any difference between them and makes them nearly
    even.
    """
    return _attend(torch.softmax(_scores(q, k), dim=-1), v)


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
        "Make every query and every key of length 1 first. Their dot products are then the cosines.",
        "The length of each row is `x.norm(dim=-1, keepdim=True)`. Divide queries by theirs and keys by theirs.",
        "From there it is attention with another divisor: `temperature` where √d_k stood, and nothing else.",
    ],
)


def _lengths(x, dim=-1):
    return x.norm(dim=dim, keepdim=True)


def _attended(q, k, v, divisor):
    return _attend(q @ k.transpose(-2, -1) / divisor, v)


@cosine.misconception(reread="02#text-36")
def root_as_well(q, k, v, temperature):
    """The cosines are divided by √d_k as well.

    √d_k makes up for long vectors. These have length 1 whatever d_k is, and their scores lie between −1 and 1 already.
    """
    return _attended(q / _lengths(q), k / _lengths(k), v, temperature * math.sqrt(q.size(-1)))


@cosine.misconception(
    reread="02#text-36",
    forms=[lambda q, k, v, t: _attended(q / _lengths(q), k / _lengths(k), v, 1 / t)],
)
def temperature_turned_round(q, k, v, temperature):
    """The temperature multiplies the scores, where it should divide them.

    A higher temperature makes a row more even. Multiplied, it makes it sharper.
    """
    return _attend(temperature * (q / _lengths(q)) @ (k / _lengths(k)).transpose(-2, -1), v)


@cosine.misconception(reread="02#text-36")
def temperature_forgotten(q, k, v, temperature):
    """The temperature does not appear.

    Cosines are at most 2 apart, so without it no key can get more than 7.4 times as much as another.
    """
    return _attended(q / _lengths(q), k / _lengths(k), v, 1)


@cosine.misconception(reread="02#text-36")
def only_queries(q, k, v, temperature):
    """Only the queries have length 1.

    A long key then still scores high with everybody who looks its way. Both have to be divided, each by its own length.
    """
    return _attended(q / _lengths(q), k, v, temperature)


@cosine.misconception(reread="02#text-36")
def only_keys(q, k, v, temperature):
    """Only the keys have length 1.

    A long query then still has a sharper row than a short one. Both have to be divided, each by its own length.
    """
    return _attended(q, k / _lengths(k), v, temperature)


@cosine.misconception(reread="02#text-36", forms=[lambda q, k, v, t: _attended(q / q.norm(), k / k.norm(), v, t)])
def one_length_for_all(q, k, v, temperature):
    """There is one length for a whole matrix.

    `norm()` without an axis takes all rows together, and a long key stays longer than the others. Each row has a
    length of its own: `dim=-1, keepdim=True`.
    """
    q_length, k_length = (x.norm(dim=(-2, -1), keepdim=True) for x in (q, k))
    return _attended(q / q_length, k / k_length, v, temperature)


@cosine.misconception(reread="02#text-40")
def lengths_of_columns(q, k, v, temperature):
    """The lengths are those of the columns.

    A column holds one feature of all tokens. A query or a key is a row, the last axis: `dim=-1`.
    """
    return _attended(q / _lengths(q, -2), k / _lengths(k, -2), v, temperature)


@cosine.misconception(reread="02#text-36")
def squared_lengths(q, k, v, temperature):
    """The vectors are divided by the squares of their lengths.

    The length is the root of the sum of the squares; divided by that sum itself, a long vector becomes a short one.
    """
    return _attended(q / _lengths(q).square(), k / _lengths(k).square(), v, temperature)


@cosine.misconception(reread="02#text-20")
def values_too(q, k, v, temperature):
    """The values have length 1 as well.

    Only what is compared is made equally long. Values are compared with nothing; their length is part of what is told.
    """
    return _attended(q / _lengths(q), k / _lengths(k), v / _lengths(v), temperature)


@cosine.misconception(
    reread="02#text-29",
    forms=[lambda q, k, v, t: _attended(q, k, v, t * math.sqrt(q.size(-1)))],
)
def not_divided_by_lengths(q, k, v, temperature):
    """The scores are not divided by the lengths of their query and key.

    A dot product grows with both lengths, so a key that is twice as long scores twice as high. A cosine knows the angle
    alone.
    """
    return _attended(q, k, v, temperature)


@cosine.misconception(reread="02#text-36")
def lengths_added_up(q, k, v, temperature):
    """The lengths are sums of the entries' sizes.

    The length of an arrow is the root of the sum of its squares; only with that is the dot product a cosine.
    """
    q, k = (x / x.abs().sum(dim=-1, keepdim=True) for x in (q, k))
    return _attended(q, k, v, temperature)


@cosine.misconception(reread="02#text-36")
def temperature_after(q, k, v, temperature):
    """The temperature divides the weights, after softmax.

    The rows then sum to 1 divided by it, and their shares are as even as before. It has to divide the scores.
    """
    weights = torch.softmax(q / _lengths(q) @ (k / _lengths(k)).transpose(-2, -1), dim=-1) / temperature
    return weights @ v, weights


@cosine.misconception(reread="02#text-40")
def cosines_over_queries(q, k, v, temperature):
    """The softmax runs over the queries.

    Each key then deals out one whole. It is a query that shares its attention among the keys: `dim=-1`.
    """
    return _attend(q / _lengths(q) @ (k / _lengths(k)).transpose(-2, -1) / temperature, v, dim=-2)


@cosine.misconception(reread="02#text-36")
def length_of_a_row_of_scores(q, k, v, temperature):
    """Each row of scores is divided by its own length.

    The lengths that are asked for are those of the query and of the key, before they meet.
    """
    scores = q @ k.transpose(-2, -1)
    return _attended(q / _lengths(scores), k, v, temperature)


@cosine.misconception(reread="02#text-40")
def axis_one(q, k, v, temperature):
    """The lengths run along axis 1, whatever that is.

    `F.normalize(x)` takes `dim=1` unless told otherwise: with a batch in front that is the axis of the tokens, or of
    the heads. A query is a row, the last axis: `dim=-1`.
    """
    return _attended(q / _lengths(q, 1), k / _lengths(k, 1), v, temperature)
