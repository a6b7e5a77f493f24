"""Exercises of notebook 7: gradients of softmax and attention, learning, a test for gradients, a shared key."""

import functools
import itertools
import math

import torch

from attn_lib import backward, functional
from attn_lib.masks import causal_mask

from ..engine.function import AUTOGRAD, function
from ..engine.one_value import yes_or_no
from ..engine.probes import normal

# ----------------------------------------------------------------------------------------------------------- 7.1


def _shares(*shape, seed):
    return torch.softmax(2 * normal(*shape, seed=seed), dim=-1), normal(*shape, seed=seed + 1)


def _masked_shares():
    return functional.masked_softmax(normal(4, 5, seed=70), causal_mask(4, 5)), normal(4, 5, seed=71)


def _dead_shares():
    mask = torch.tensor([[True, False, True], [False, False, False]])
    return functional.masked_softmax(normal(2, 3, seed=72), mask), normal(2, 3, seed=73)


_AS_MANY_QUERIES_AS_KEYS = _shares(4, 4, seed=11)

softmax_backward = function(
    "7.1",
    backward.softmax_backward,
    as_="my_softmax_backward(weights, grad_weights)",
    title="Backward through softmax",
    section="07#through-softmax",
    probes=[
        _shares(2, 3, seed=1),
        _shares(3, 4, seed=3),
        _shares(2, 3, 4, seed=5),
        _shares(2, 3, 4, 5, seed=7),
        _AS_MANY_QUERIES_AS_KEYS,
    ],
    corner_cases=[_masked_shares(), _dead_shares(), (torch.ones(3, 1), normal(3, 1, seed=9)), _shares(4, seed=13)],
    random_probes=lambda rng: [_shares(*rng.sample(range(2, 7), axes), seed=rng.randrange(10**6)) for axes in (2, 3)],
    returns=("the gradient of the scores",),
    dtype=torch.float64,
    without=AUTOGRAD,
    hints=[
        "Begin with one row: the gradient of score i is w_i · (g_i − m). The number m is the same for the "
        "whole row. Which is it?",
        "m is the row's weighted mean, the sum of w_j · g_j.",
        "`(weights * grad_weights).sum(dim=-1, keepdim=True)`: with `keepdim` the means stay a column, and each mean "
        "is subtracted from every entry of its row.",
    ],
)


@softmax_backward.misconception()
def copied_through(weights, grad_weights):
    """The gradient of the weights is returned without a change.

    That would be right if each score were its weight. But softmax is between them, and each weight depends on all
    scores of its row.
    """
    return grad_weights


@softmax_backward.misconception()
def diagonal_only(weights, grad_weights):
    """Only the change of each weight with its own score is counted.

    w(1 − w) is how a weight changes with its own score. The other weights of the row change too, by −w_i·w_j, because
    the row must still sum to 1.
    """
    return weights * (1 - weights) * grad_weights


@softmax_backward.misconception()
def mean_kept(weights, grad_weights):
    """The row's mean is not subtracted.

    Each row of the result must sum to 0: if all scores of a row rise together, no weight changes.
    """
    return weights * grad_weights


@softmax_backward.misconception()
def mean_without_weight(weights, grad_weights):
    """The mean is subtracted without the weight of its key.

    w · (g − m) is w · g − w · m. Subtract the mean from the gradient first, and then multiply by the weight.
    """
    products = weights * grad_weights
    return products - products.sum(dim=-1, keepdim=True)


@softmax_backward.misconception()
def mean_added(weights, grad_weights):
    """The row's mean is added, where it should be subtracted.

    If one weight rises, the others fall, because the row must still sum to 1. So the derivative of one weight by
    another score is −w_i·w_j, with a minus.
    """
    return weights * (grad_weights + (weights * grad_weights).sum(dim=-1, keepdim=True))


@softmax_backward.misconception(
    forms=[lambda weights, grad_weights: weights * (grad_weights - grad_weights.sum(dim=-1, keepdim=True))]
)
def plain_mean(weights, grad_weights):
    """The plain mean, or the plain sum, of the row is subtracted.

    A weight of 0.9 counts nine times as much as a weight of 0.1. Subtract the *weighted* mean, the sum of w · g.
    """
    return weights * (grad_weights - grad_weights.mean(dim=-1, keepdim=True))


@softmax_backward.misconception()
def mean_of_products(weights, grad_weights):
    """The number that is subtracted is too small: the products are averaged, not added up.

    The weights sum to 1 already, so the sum of w · g *is* the weighted mean. `mean` divides it by the number of keys
    once more.
    """
    return weights * (grad_weights - (weights * grad_weights).mean(dim=-1, keepdim=True))


@softmax_backward.misconception(
    forms=[
        lambda weights, grad_weights: weights * (grad_weights - (weights * grad_weights).sum(dim=0)),
        lambda weights, grad_weights: (
            weights * (grad_weights - (weights * grad_weights).sum(dim=min(1, weights.ndim - 1), keepdim=True))
        ),
    ]
)
def mean_over_queries(weights, grad_weights):
    """The mean is taken along another axis than that of the keys.

    Softmax runs along each row, over the keys, and its gradient needs the same axis: `dim=-1`. `dim=1` is the axis of
    the keys only without a batch; with a batch in front it is the axis of the queries.
    """
    return weights * (grad_weights - (weights * grad_weights).sum(dim=-2, keepdim=True))


@softmax_backward.misconception(
    forms=[lambda weights, grad_weights: weights * (grad_weights - (weights * grad_weights).sum())]
)
def mean_over_everything(weights, grad_weights):
    """The mean is taken over everything at once.

    Each query has a softmax of its own, so each row has a mean of its own.
    """
    return weights * (grad_weights - (weights * grad_weights).sum(dim=(-2, -1), keepdim=True))


@softmax_backward.misconception(telltale_call=_AS_MANY_QUERIES_AS_KEYS)
def keepdim_forgotten(weights, grad_weights):
    """The rows' means stand in the axis of the keys.

    `.sum(dim=-1)` has one number for each query and no axis of keys, so PyTorch puts these numbers along the keys of
    every query. With `keepdim=True` they stay a column.
    """
    return weights * (grad_weights - (weights * grad_weights).sum(dim=-1))


@softmax_backward.misconception()
def softmax_again(weights, grad_weights):
    """The weights go through softmax once more.

    The argument `weights` is already the result of softmax. It is not the scores, so softmax is not needed here.
    """
    return backward.softmax_backward(torch.softmax(weights, dim=-1), grad_weights)


@softmax_backward.misconception()
def negated(weights, grad_weights):
    """The numbers have the right size and the wrong sign.

    The mean is subtracted from the gradient, not the gradient from the mean.
    """
    return -backward.softmax_backward(weights, grad_weights)


@softmax_backward.misconception()
def unweighted(weights, grad_weights):
    """The last factor is missing.

    The difference from the mean still has to be multiplied by the weight: the score of a key with a weight of 0.001
    hardly changes the loss.
    """
    return grad_weights - (weights * grad_weights).sum(dim=-1, keepdim=True)


@softmax_backward.misconception(
    reread="03#text-27",
    telltale_call=_dead_shares(),
    forms=[lambda w, g: w * (g - (w * g).sum(dim=-1, keepdim=True)) / w.sum(dim=-1, keepdim=True)],
)
def dead_nan(weights, grad_weights):
    """Dead rows are NaN.

    All weights of a dead row are 0. If you divide by their sum, you get 0/0; if you take their logarithm, you get −∞.
    The other rows already sum to 1, so you need neither. A dead row must get the gradient 0.
    """
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights * (grad_weights - (weights * grad_weights).sum(dim=-1, keepdim=True))


# ----------------------------------------------------------------------------------------------------------- 7.2


def _attended(n_queries, n_keys, d_k, d_v, *lead, seed):
    sizes = (n_queries, d_k), (n_keys, d_k), (n_keys, d_v), (n_queries, d_v)
    return tuple(normal(*lead, *size, seed=seed + i) for i, size in enumerate(sizes))


attention_backward = function(
    "7.2",
    backward.attention_backward,
    as_="my_attention_backward(query, key, value, grad_output)",
    title="Backward through attention",
    section="07#all-of-it",
    shows=(backward.attention_backward, backward.softmax_backward),
    probes=[
        _attended(3, 3, 3, 3, seed=1),
        _attended(4, 4, 4, 4, 2, seed=5),
        _attended(2, 3, 4, 5, seed=10),
        _attended(3, 4, 2, 5, 2, seed=15),
        _attended(3, 5, 4, 2, 2, 3, seed=20),
    ],
    corner_cases=[_attended(1, 4, 3, 2, seed=30), _attended(4, 1, 3, 2, seed=35)],
    random_probes=lambda rng: [_attended(*rng.sample(range(2, 8), 4), seed=rng.randrange(10**6)) for _ in range(2)],
    returns=("the gradient of query", "the gradient of key", "the gradient of value"),
    dtype=torch.float64,
    without=AUTOGRAD,
    hints=[
        "Write attention itself first: scores, weights, output. Then go back line by line, beginning with the last "
        "line.",
        "output = weights @ value, so the gradient of value is `weights.mT @ grad_output`, and the gradient of the "
        "weights is `grad_output @ value.mT`. For the step through softmax use your function of exercise 7.1.",
        "scores = query @ key.mT · scale. So the gradient of query is grad_scores @ key · scale, and the gradient of "
        "key is grad_scores, transposed, @ query · scale.",
    ],
)


def _way_back(query, key, value, grad_output, softmax_back=backward.softmax_backward):
    """scale, weights and the gradient of the scaled scores."""
    scale = 1 / math.sqrt(query.size(-1))
    weights = torch.softmax(query @ key.mT * scale, dim=-1)
    return scale, weights, softmax_back(weights, grad_output @ value.mT)


@attention_backward.misconception()
def scale_forgotten(query, key, value, grad_output):
    """The scale is missing in the gradients.

    The scores were multiplied by 1/√d_k, so the gradients of query and key are multiplied by it too.
    """
    _, weights, back = _way_back(query, key, value, grad_output)
    return back @ key, back.mT @ query, weights.mT @ grad_output


@attention_backward.misconception()
def scaled_twice(query, key, value, grad_output):
    """The gradients are scaled twice.

    The scores were multiplied by 1/√d_k once, so each gradient is multiplied by it once: either in the gradient of the
    scores, or in the gradients of query and key, not in both.
    """
    scale, weights, back = _way_back(query, key, value, grad_output)
    return back @ key * scale**2, back.mT @ query * scale**2, weights.mT @ grad_output


def _scaled_by(scale):
    """The whole way there and back with another scale."""

    def way_back(query, key, value, grad_output):
        factor = scale(query, key) * math.sqrt(query.size(-1))
        to_query, to_key, to_value = backward.attention_backward(query * factor, key, value, grad_output)
        return to_query * factor, to_key, to_value

    return way_back


@attention_backward.misconception(reread="02#text-29")
def never_scaled(query, key, value, grad_output):
    """The scores are not scaled, neither forward nor backward.

    They have to be multiplied by 1/√d_k before softmax, and the gradients of query and key are multiplied by it too.
    """
    return _scaled_by(lambda query, key: 1.0)(query, key, value, grad_output)


@attention_backward.misconception(reread="02#text-29", forms=[_scaled_by(lambda query, key: key.size(-2) ** -0.5)])
def another_scale(query, key, value, grad_output):
    """The scale is not 1/√d_k, neither forward nor backward.

    If you divide by d_k, the root is missing, or you divide twice. If you divide by the root of the number of keys, it
    is the wrong axis. d_k is the number of features of a query: `query.size(-1)`.
    """
    return _scaled_by(lambda query, key: 1 / query.size(-1))(query, key, value, grad_output)


@attention_backward.misconception(telltale_call=_attended(3, 3, 3, 3, seed=1))
def value_untransposed(query, key, value, grad_output):
    """The values are not transposed in the gradient of the weights.

    A weight's gradient is the dot product of its query's `grad_output` with its key's value: `grad_output @ value.mT`.
    """
    scale, weights, _ = _way_back(query, key, value, grad_output)
    back = backward.softmax_backward(weights, grad_output @ value)
    return back @ key * scale, back.mT @ query * scale, weights.mT @ grad_output


@attention_backward.misconception(telltale_call=_attended(3, 3, 3, 3, seed=1), reread="07#through-softmax")
def keepdim_forgotten(query, key, value, grad_output):
    """In the step through softmax the rows' means stand in the axis of the keys.

    `.sum(dim=-1)` has no axis of keys, so PyTorch puts these numbers along the keys of every query. With `keepdim=True`
    they stay a column.
    """

    def as_a_row(weights, grad_weights):
        return weights * (grad_weights - (weights * grad_weights).sum(dim=-1))

    scale, weights, back = _way_back(query, key, value, grad_output, as_a_row)
    return back @ key * scale, back.mT @ query * scale, weights.mT @ grad_output


@attention_backward.misconception()
def value_scaled(query, key, value, grad_output):
    """The gradient of the value is scaled too.

    The factor 1/√d_k belongs to the scores, and scores are made of queries and keys. The values meet only the weights.
    """
    scale, weights, back = _way_back(query, key, value, grad_output)
    return back @ key * scale, back.mT @ query * scale, weights.mT @ grad_output * scale


@attention_backward.misconception()
def divided_by_scale(query, key, value, grad_output):
    """The gradients of query and key are multiplied by √d_k.

    The scores were *divided* by √d_k, so the gradients of query and key are divided by it too.
    """
    scale, weights, back = _way_back(query, key, value, grad_output)
    return back @ key / scale, back.mT @ query / scale, weights.mT @ grad_output


@attention_backward.misconception(telltale_call=_attended(3, 3, 3, 3, seed=1), reread="07#your-grad-query")
def partners_exchanged(query, key, value, grad_output):
    """Queries and keys are exchanged in the last step.

    A score is query · key. So the gradient of a query is a weighted sum of *keys*, and that of a key a weighted sum of
    queries.
    """
    scale, weights, back = _way_back(query, key, value, grad_output)
    return back @ query * scale, back.mT @ key * scale, weights.mT @ grad_output


def _key_scaled_alone(query, key, value, grad_output):
    scale, weights, back = _way_back(query, key, value, grad_output)
    return back @ key, back.mT @ query * scale, weights.mT @ grad_output


@attention_backward.misconception(forms=[_key_scaled_alone])
def scaled_once(query, key, value, grad_output):
    """Only one of two gradients is scaled, the query's or the key's.

    A score depends on query and key in the same way, so both gradients get the factor 1/√d_k.
    """
    scale, weights, back = _way_back(query, key, value, grad_output)
    return back @ key * scale, back.mT @ query, weights.mT @ grad_output


@attention_backward.misconception(telltale_call=_attended(3, 3, 3, 3, seed=1))
def scores_untransposed(query, key, value, grad_output):
    """The gradient of the scores is not transposed in the gradient of the key.

    A column of `grad_scores` belongs to one key: `grad_scores.mT @ query`. With as many queries as keys the shape is
    right with and without the transpose, so PyTorch raises no error.
    """
    scale, weights, back = _way_back(query, key, value, grad_output)
    return back @ key * scale, back @ query * scale, weights.mT @ grad_output


@attention_backward.misconception(telltale_call=_attended(3, 3, 3, 3, seed=1))
def weights_untransposed(query, key, value, grad_output):
    """The weights are not transposed in the gradient of the value.

    Each query uses a value with one weight. These weights are a *column*: `weights.mT @ grad_output`.
    """
    scale, weights, back = _way_back(query, key, value, grad_output)
    return back @ key * scale, back.mT @ query * scale, weights @ grad_output


@attention_backward.misconception()
def weights_for_scores(query, key, value, grad_output):
    """The weights are used where the gradient of the scores is needed.

    The weights say how the values are mixed. The gradients of query and key need to know how the loss changes with each
    score.
    """
    scale, weights, _ = _way_back(query, key, value, grad_output)
    return weights @ key * scale, weights.mT @ query * scale, weights.mT @ grad_output


@attention_backward.misconception()
def scores_for_weights(query, key, value, grad_output):
    """In the gradient of value, the gradient of the scores is used where the weights are needed.

    The output is the weights times the values, so the gradient of value does not go through softmax.
    """
    scale, _, back = _way_back(query, key, value, grad_output)
    return back @ key * scale, back.mT @ query * scale, back.mT @ grad_output


@attention_backward.misconception(reread="07#through-softmax")
def softmax_skipped(query, key, value, grad_output):
    """The step through softmax is missing.

    You use the gradient of the weights as the gradient of the scores. The function of exercise 7.1 computes the second
    from the first.
    """
    scale, weights, back = _way_back(query, key, value, grad_output, lambda weights, grad_weights: grad_weights)
    return back @ key * scale, back.mT @ query * scale, weights.mT @ grad_output


@attention_backward.misconception(reread="07#through-softmax")
def mean_kept(query, key, value, grad_output):
    """In the step through softmax the mean of the row is not subtracted.

    weights · grad_weights is only one of two terms. The weighted mean must be subtracted too, because no weight of a
    row can rise alone.
    """
    scale, weights, back = _way_back(
        query, key, value, grad_output, lambda weights, grad_weights: weights * grad_weights
    )
    return back @ key * scale, back.mT @ query * scale, weights.mT @ grad_output


@attention_backward.misconception()
def mean_of_a_part(query, key, value, grad_output):
    """The row's mean is taken over a part of the keys.

    Code that processes the keys block by block often makes this mistake. The mean belongs to the whole row, as the sum
    in softmax does. A single block can get it only as output · grad_output, which is the same number.
    """

    def in_blocks(weights, grad_weights):
        half = (weights.size(-1) + 1) // 2
        pairs = zip(weights.split(half, dim=-1), grad_weights.split(half, dim=-1), strict=True)
        return torch.cat([w * (g - (w * g).sum(dim=-1, keepdim=True)) for w, g in pairs], dim=-1)

    scale, weights, back = _way_back(query, key, value, grad_output, in_blocks)
    return back @ key * scale, back.mT @ query * scale, weights.mT @ grad_output


@attention_backward.misconception(telltale_call=_attended(3, 3, 3, 3, seed=1))
def exchanged(query, key, value, grad_output):
    """The gradients of query and key have changed places.

    The gradient of the query is a weighted sum of *keys*, with a row for each query. The gradient of the key is a
    weighted sum of queries.
    """
    to_query, to_key, to_value = backward.attention_backward(query, key, value, grad_output)
    return to_key, to_query, to_value


def _in_order(*order):
    return lambda *args: tuple(backward.attention_backward(*args)[i] for i in order)


@attention_backward.misconception(
    telltale_call=_attended(3, 3, 3, 3, seed=1),
    forms=[_in_order(2, 1, 0), _in_order(0, 2, 1), _in_order(1, 2, 0)],
)
def order(query, key, value, grad_output):
    """The three gradients are right, but returned in another order.

    The gradient of the value is computed first, but returned last: query, key, value, as in the arguments.
    """
    return _in_order(2, 0, 1)(query, key, value, grad_output)


# ----------------------------------------------------------------------------------------------------------- 7.3


def learn(x, w_q, w_k, wish, steps, rate):
    for _ in range(steps):
        queries, keys = x @ w_q, x @ w_k
        weights = torch.softmax(queries @ keys.T, dim=-1)
        grad_scores = weights * wish.sum(dim=-1, keepdim=True) - wish  # a row without a wish gets 0
        w_q = w_q - rate * x.T @ (grad_scores @ keys)
    return w_q


def _wishes(n, d_in, d_k, steps, rate, *places, seed):
    """places: (token, the token that it is to attend to); a token without one has no wish."""
    wish = torch.zeros(n, n)
    for token, other in places:
        wish[token, other] = 1.0
    x, w_q, w_k = (normal(*size, seed=seed + i) / 2 for i, size in enumerate(((n, d_in), (d_in, d_k), (d_in, d_k))))
    return x, w_q, w_k, wish, steps, rate


@functools.cache
def _first_step():
    """The first step of an optimizer imports for seconds, in every process once."""
    torch.optim.SGD([torch.zeros(1, requires_grad=True)]).step()


def _take_first_step(answer):
    """Before an answer with an optimizer is called: those seconds are not the answer's."""
    if {"optim", "SGD", "Adam", "AdamW"} & set(getattr(getattr(answer, "__code__", None), "co_names", ())):
        _first_step()


_EVERYBODY = (0, 2), (1, 0), (2, 1)
learning = function(
    "7.3",
    learn,
    as_="my_learn(x, w_q, w_k, wish, steps, rate)",
    title="Learning",
    section="07#one-step",
    probes=[
        _wishes(3, 4, 2, 1, 0.5, *_EVERYBODY, seed=1),
        _wishes(3, 2, 4, 3, 0.25, *_EVERYBODY, seed=5),
        _wishes(3, 4, 3, 4, 0.5, (0, 2), seed=9),
        _wishes(5, 4, 3, 3, 0.5, (4, 0), (2, 3), seed=13),
    ],
    corner_cases=[_wishes(3, 4, 2, 0, 0.5, (0, 2), seed=17), _wishes(4, 3, 2, 3, 0.5, seed=21)],
    random_probes=lambda rng: [
        _wishes(4, *rng.sample(range(2, 6), 2), 2, 0.5, (0, 2), (3, 1), seed=rng.randrange(10**6))
    ],
    returns=("W_q",),
    dtype=torch.float64,
    prepare=_take_first_step,
    hints=[
        "One step first: compute the weights, subtract the wish, multiply by the keys, and multiply by `x.T` from the "
        "left.",
        "For all tokens at once the outer products add up to one matrix product, `x.T @ (grad_scores @ keys)`.",
        "A row without a wish must get the gradient 0: weights · (sum of the row's wish) − wish is 0 there. With "
        "autograd: set the gradient to 0 before each step, and update under `torch.no_grad()`.",
    ],
)


def _gradient(x, w_q, w_k, wish):
    keys = x @ w_k
    weights = torch.softmax(x @ w_q @ keys.T, dim=-1)
    return x.T @ ((weights * wish.sum(dim=-1, keepdim=True) - wish) @ keys)


@learning.misconception()
def climbs(x, w_q, w_k, wish, steps, rate):
    """Every step goes uphill.

    The gradient points to where the loss grows. It has to be subtracted, not added.
    """
    return learn(x, w_q, w_k, wish, steps, -rate)


@learning.misconception(telltale_call=_wishes(3, 2, 4, 3, 0.25, *_EVERYBODY, seed=5), reread="07#break-it")
def adds_up(x, w_q, w_k, wish, steps, rate):
    """Each step uses the sum of all gradients so far.

    `backward()` adds to the number that is already in `.grad`. Set `.grad` to 0 before each step: `w_q.grad = None`,
    or `optimizer.zero_grad()`.
    """
    collected = torch.zeros_like(w_q)
    for _ in range(steps):
        collected = collected + _gradient(x, w_q, w_k, wish)
        w_q = w_q - rate * collected
    return w_q


@learning.misconception(telltale_call=_wishes(3, 2, 4, 3, 0.25, *_EVERYBODY, seed=5))
def stale(x, w_q, w_k, wish, steps, rate):
    """The gradient is computed once, before the loop.

    After a step the weights have changed, and so has the gradient: compute scores and softmax inside the loop.
    """
    return w_q - steps * rate * _gradient(x, w_q, w_k, wish)


@learning.misconception(telltale_call=_wishes(3, 2, 4, 3, 0.25, *_EVERYBODY, seed=5))
def one_step(x, w_q, w_k, wish, steps, rate):
    """Your function takes only one step, whatever `steps` says.

    Either the loop is missing, or the function returns in the first round, or each round begins again with the first
    W_q.
    """
    return learn(x, w_q, w_k, wish, min(steps, 1), rate)


@learning.misconception()
def one_too_few(x, w_q, w_k, wish, steps, rate):
    """Your function takes one step too few.

    `range(steps)` counts from 0 to steps − 1, so the loop runs `steps` times.
    """
    return learn(x, w_q, w_k, wish, steps - 1, rate)


@learning.misconception()
def one_too_many(x, w_q, w_k, wish, steps, rate):
    """Your function takes one step too many.

    With 0 steps the function has to return W_q without a change. `range(steps + 1)` is right if you list all matrices,
    with the first one; the number of steps is one less.
    """
    return learn(x, w_q, w_k, wish, steps + 1, rate)


@learning.misconception()
def never_moves(x, w_q, w_k, wish, steps, rate):
    """Your function returns W_q without a change.

    You may have trained a copy, or lost a result: `w_q - rate * gradient` makes a new matrix, which needs a name.
    """
    return w_q


@learning.misconception()
def without_rate(x, w_q, w_k, wish, steps, rate):
    """The learning rate is not used.

    The gradient gives the direction of a step, and the rate gives its length.
    """
    return learn(x, w_q, w_k, wish, steps, 1.0)


@learning.misconception(reread="07#a-wish")
def scaled(x, w_q, w_k, wish, steps, rate):
    """The scores are divided by √d_k.

    A model divides them. In this exercise, as in notebook 1, they are not divided.
    """
    keys = x @ w_k / math.sqrt(w_k.size(1))
    for _ in range(steps):
        weights = torch.softmax(x @ w_q @ keys.T, dim=-1)
        w_q = w_q - rate * x.T @ ((weights * wish.sum(dim=-1, keepdim=True) - wish) @ keys)
    return w_q


@learning.misconception(telltale_call=_wishes(3, 4, 3, 4, 0.5, (0, 2), seed=9))
def nobodys_wish(x, w_q, w_k, wish, steps, rate):
    """Tokens without a wish are trained too.

    If a row of the wish is all 0, its loss is 0, so its gradient must be 0 too. But weights − wish is not 0 there: the
    step would lower the scores of this row.
    """
    for _ in range(steps):
        keys = x @ w_k
        w_q = w_q - rate * x.T @ ((torch.softmax(x @ w_q @ keys.T, dim=-1) - wish) @ keys)
    return w_q


@learning.misconception(
    reread="07#exercise-text-1",
    forms=[
        lambda x, w_q, w_k, wish, steps, rate: learn(x, w_q, w_k, wish, steps, rate / max(1, wish.sum().item())),
        lambda x, w_q, w_k, wish, steps, rate: learn(x, w_q, w_k, wish, steps, rate / wish.numel()),
    ],
)
def averaged(x, w_q, w_k, wish, steps, rate):
    """The loss is a mean, and it should be a sum.

    Often the loss is a mean, so that the rate does not have to depend on the number of tokens. Here it is the sum over
    all pairs.
    """
    return learn(x, w_q, w_k, wish, steps, rate / len(x))


@learning.misconception(telltale_call=_wishes(3, 2, 4, 3, 0.25, *_EVERYBODY, seed=5))
def keys_learn_too(x, w_q, w_k, wish, steps, rate):
    """W_k learns as well.

    In a model it does. Here only W_q changes, and W_k stays as it is.
    """
    for _ in range(steps):
        queries, keys = x @ w_q, x @ w_k
        weights = torch.softmax(queries @ keys.T, dim=-1)
        back = weights * wish.sum(dim=-1, keepdim=True) - wish
        w_q, w_k = w_q - rate * x.T @ (back @ keys), w_k - rate * x.T @ (back.T @ queries)
    return w_q


@learning.misconception(reread="02#text-40")
def softmax_over_queries(x, w_q, w_k, wish, steps, rate):
    """Softmax runs over the queries.

    The weights of each token sum to 1 over the keys, so softmax runs over the keys: `dim=-1`.
    """
    w_q = w_q.clone().requires_grad_()
    for _ in range(steps):
        logs = torch.log_softmax(x @ w_q @ (x @ w_k).T, dim=0)
        (gradient,) = torch.autograd.grad(-(wish * logs).sum(), w_q)
        w_q = (w_q - rate * gradient).detach().requires_grad_()
    return w_q.detach()


def _by_loss(x, w_q, w_k, steps, rate, loss):
    """Steps against another loss of the scores."""
    w_q = w_q.clone().requires_grad_()
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(loss(x @ w_q @ (x @ w_k).T), w_q)
        w_q = (w_q - rate * gradient).detach().requires_grad_()
    return w_q.detach()


@learning.misconception(reread="07#a-wish")
def softmax_twice(x, w_q, w_k, wish, steps, rate):
    """Softmax is taken twice.

    `F.cross_entropy` takes scores: it does softmax and logarithm itself. If it gets the weights, it takes them for
    scores.
    """
    return _by_loss(x, w_q, w_k, steps, rate, lambda scores: -(wish * scores.softmax(dim=-1).log_softmax(dim=-1)).sum())


@learning.misconception(reread="07#a-wish")
def logarithm_forgotten(x, w_q, w_k, wish, steps, rate):
    """The logarithm is missing in the loss.

    The loss of a wish is −ln of the weight. Without the logarithm a weight near 0 has a gradient near 0, and what is
    most wrong hardly learns.
    """
    return _by_loss(x, w_q, w_k, steps, rate, lambda scores: -(wish * scores.softmax(dim=-1)).sum())


@learning.misconception(reread="07#your-grad-query")
def pulled_by_queries(x, w_q, w_k, wish, steps, rate):
    """The gradient of the scores is multiplied by the queries.

    A score is query · key, so its derivative by the query is the *key*. Multiply by the keys. (The queries give the
    gradient of W_k.)
    """
    for _ in range(steps):
        queries, keys = x @ w_q, x @ w_k
        weights = torch.softmax(queries @ keys.T, dim=-1)
        w_q = w_q - rate * x.T @ ((weights * wish.sum(dim=-1, keepdim=True) - wish) @ queries)
    return w_q


@learning.misconception(telltale_call=_wishes(3, 2, 4, 3, 0.25, *_EVERYBODY, seed=5), reread="07#break-it")
def recorded_update(x, w_q, w_k, wish, steps, rate):
    """The update itself is recorded by autograd.

    After `w_q = w_q - rate * w_q.grad` the new W_q is the result of a computation, and PyTorch stores no gradient for
    results: its `.grad` is None in the next round. Update under `torch.no_grad()`, or begin each round with
    `w_q = w_q.detach().requires_grad_()`.
    """
    w_q = w_q.clone().requires_grad_()
    for _ in range(steps):
        weights = torch.softmax(x @ w_q @ (x @ w_k).T, dim=-1)
        (-(wish * weights.log()).sum()).backward()
        w_q = w_q - rate * w_q.grad
    return w_q


# ----------------------------------------------------------------------------------------------------------- 7.4


def _by_autograd(query, key, value, grad_output):
    with torch.enable_grad():
        inputs = [tensor.detach().clone().requires_grad_() for tensor in (query, key, value)]
        output, _ = functional.scaled_dot_product_attention(*inputs)
        return torch.autograd.grad(output, inputs, grad_output)


def _in_double(query, key, value, grad_output):
    made = backward.attention_backward(*(tensor.double() for tensor in (query, key, value, grad_output)))
    return tuple(gradient.to(query.dtype) for gradient in made)


def _by_outputs(query, key, value, grad_output):
    """The row's mean as a fused kernel has it."""
    scale = 1 / math.sqrt(query.size(-1))
    weights = torch.exp(query @ key.mT * scale - (query @ key.mT * scale).logsumexp(dim=-1, keepdim=True))
    shared = (weights @ value * grad_output).sum(dim=-1, keepdim=True)
    back = weights * (grad_output @ value.mT - shared) * scale
    return back @ key, back.mT @ query, weights.mT @ grad_output


def _values_only(query, key, value, grad_output):
    """Forgets that a value is heard by all queries: right for query and key."""
    to_query, to_key, to_value = backward.attention_backward(query, key, value, grad_output)
    return to_query, to_key, to_value / query.size(-2)


def _queries_only(query, key, value, grad_output):
    to_query, to_key, to_value = backward.attention_backward(query, key, value, grad_output)
    return to_query * math.sqrt(query.size(-1)), to_key, to_value


def _keys_only(query, key, value, grad_output):
    to_query, to_key, to_value = backward.attention_backward(query, key, value, grad_output)
    return to_query, to_key * math.sqrt(query.size(-1)), to_value


def _signs_turned(query, key, value, grad_output):
    """Subtracts the gradient of a weight from the row's mean, not the mean from the gradient."""
    to_query, to_key, to_value = backward.attention_backward(query, key, value, grad_output)
    return -to_query, -to_key, to_value


HEALTHY = {
    "the library's": backward.attention_backward,
    "one by autograd": _by_autograd,
    "one in float64": _in_double,
    "one as in a fused kernel": _by_outputs,
}
ILL = {
    "one without the scale": scale_forgotten,
    "one that scales the query's gradient only": _keys_only,
    "one that scales the key's gradient only": _queries_only,
    "one that skips softmax": softmax_skipped,
    "one that keeps the row's mean": attention_backward.misconceptions["mean-kept"].forms[0],
    "one that takes the mean of half a row": mean_of_a_part,
    "one with the values' gradient too small": _values_only,
    "one in which weights and the scores' gradient are exchanged": weights_for_scores,
    "one with the wrong sign in two gradients": _signs_turned,
}
NAMES = {code: name for name, code in (HEALTHY | ILL).items()}


def detects(backward):
    generator = torch.Generator().manual_seed(0)
    sizes = (3, 4), (5, 4), (5, 2), (3, 2)  # query, key, value and what came back: no two sizes alike
    query, key, value, came_back = (torch.randn(size, generator=generator) for size in sizes)
    inputs = [tensor.requires_grad_() for tensor in (query, key, value)]
    scores = query @ key.mT / math.sqrt(query.size(-1))
    truth = torch.autograd.grad(torch.softmax(scores, dim=-1) @ value, inputs, came_back)
    made = backward(*(tensor.detach() for tensor in inputs), came_back)
    return not all(torch.allclose(mine, right, atol=1e-5) for mine, right in zip(made, truth, strict=True))


def _verdict(backward, said):
    return (yes_or_no(said),)


testing = function(
    "7.4",
    detects,
    as_="my_detects(backward)",
    title="A test for gradients",
    section="07#all-of-it",
    probes=[(code,) for code in (HEALTHY | ILL).values()],
    returns=("the verdict",),
    after=_verdict,
    shown=NAMES.get,
    hints=[
        "Make random inputs of sizes that all differ, with several queries and several keys.",
        "Autograd gives the right gradients: write attention itself, and call "
        "`torch.autograd.grad(output, (query, key, value), grad_output)`.",
        "Compare all three gradients, with `torch.allclose` and a tolerance of 1e-5 or so: right code may compute in "
        "another order, and its rounding differs.",
    ],
)


def _compared(backward, which=(0, 1, 2), sizes=((3, 4), (5, 4), (5, 2), (3, 2)), equal=None):
    equal = equal or (lambda mine, right: torch.allclose(mine, right, atol=1e-5))
    query, key, value, came_back = (normal(*size, seed=40 + i) for i, size in enumerate(sizes))
    truth = _by_autograd(query, key, value, came_back)
    made = backward(query, key, value, came_back)
    return not all(equal(made[i], truth[i]) for i in which)


@testing.misconception()
def lets_all_pass(backward):
    """Your test returns False for every function.

    All of these functions return right shapes. Compare the numbers of the three gradients. A function is wrong if *one*
    of the three differs: `not all(…)`, not `not any(…)`.
    """
    return False


@testing.misconception()
def condemns_everything(backward):
    """Your test returns True for every function.

    Your test returns True for right code as well. Is a tolerance missing, or is there a `not` too many?
    """
    return True


@testing.misconception(
    forms=[
        lambda backward: _compared(
            backward, equal=lambda mine, right: torch.allclose(mine.abs().sum(), right.abs().sum(), atol=1e-5)
        )
    ]
)
def lengths_compared(backward):
    """Your test does not see a wrong sign.

    The norm of a gradient, or a sum of absolute values, is the same with the opposite sign. Compare the gradients
    number by number.
    """
    return _compared(backward, equal=lambda mine, right: torch.allclose(mine.norm(), right.norm(), atol=1e-5))


def _constant(backward):
    query, key, value, came_back = torch.ones(3, 4), torch.ones(5, 4), torch.ones(5, 2), torch.ones(3, 2)
    truth, made = (code(query, key, value, came_back) for code in (_by_autograd, backward))
    return not all(torch.allclose(mine, right, atol=1e-5) for mine, right in zip(made, truth, strict=True))


@testing.misconception()
def constant_inputs(backward):
    """Your test tries inputs that are all alike.

    If all values are equal, it does not matter which key gets more weight, so the gradients of query and key are 0,
    with any scale and any sign. Take random numbers.
    """
    return _constant(backward)


@testing.misconception()
def upside_down(backward):
    """Your test returns True for right functions and False for wrong ones.

    True must mean that the function is wrong: `not torch.allclose(…)`.
    """
    return not _compared(backward)


@testing.misconception()
def query_only(backward):
    """Your test finds only mistakes in the gradient of the query.

    Two of the wrong functions compute this gradient correctly. Compare all three gradients.
    """
    return _compared(backward, which=[0])


@testing.misconception()
def key_only(backward):
    """Your test finds only mistakes in the gradient of the key.

    Two of the wrong functions compute this gradient correctly, and make a mistake in another. Compare all three
    gradients.
    """
    return _compared(backward, which=[1])


@testing.misconception()
def value_only(backward):
    """Your test finds only mistakes in the gradient of the value.

    This gradient does not go through softmax, so most of the wrong functions compute it correctly. Compare all three
    gradients.
    """
    return _compared(backward, which=[2])


@testing.misconception(forms=[lambda backward: _compared(backward, which=[0, 1])])
def one_query(backward):
    """Your test does not find mistakes in the gradient of the value.

    Either you do not compare this gradient, or you try a single query. The gradient of a value is a sum over the
    queries; you see a mistake in this sum only with several queries.
    """
    return _compared(backward, sizes=((1, 4), (5, 4), (5, 2), (1, 2)))


@testing.misconception(forms=[lambda backward: _compared(backward, sizes=((3, 1), (1, 1), (1, 2), (3, 2)))])
def one_key(backward):
    """Your test does not find a wrong scale, nor a mean over half a row.

    With a single key the only weight is 1, and the gradients of query and key are 0 with any scale. The sum of the
    gradient of the key over the keys is also 0. Try several keys, and compare number by number.
    """
    return _compared(backward, sizes=((3, 4), (1, 4), (1, 2), (3, 2)))


@testing.misconception(
    forms=[lambda backward: _compared(backward, which=[0, 1], sizes=((3, 1), (5, 1), (5, 2), (3, 2)))]
)
def one_feature(backward):
    """Your test does not find a missing scale.

    With queries of a single number a missing scale changes nothing, because √1 is 1. The sum of the gradient of the key
    over the keys does not show it either: this sum is 0 with any scale. Try queries of several numbers, and compare
    number by number.
    """
    return _compared(backward, sizes=((3, 1), (5, 1), (5, 2), (3, 2)))


def _condemning(some):
    """A test that knows all patients and condemns some of the healthy too."""
    return lambda backward: backward in some or backward in ILL.values()


@testing.misconception(
    forms=[_condemning(some) for n in (2, 3) for some in itertools.combinations(HEALTHY.values(), n)]
    + [_condemning([one]) for one in HEALTHY.values()]
)
def condemns_right(backward):
    """Your test returns True for right code too.

    Right code may add in another order, and its rounding differs, so the last digits differ. Compare with
    `torch.allclose` and a tolerance, not with `torch.equal`.
    """
    return _compared(backward, equal=torch.equal)


# ----------------------------------------------------------------------------------------------------------- 7.5


def shared_backward(query, key, value, grad_output):
    heads, n_queries, d_k = query.shape
    all_queries = query.reshape(heads * n_queries, d_k)  # to a shared key all heads' queries are queries
    all_grads = grad_output.reshape(heads * n_queries, -1)
    to_query, to_key, to_value = backward.attention_backward(all_queries, key, value, all_grads)
    return to_query.view(heads, n_queries, d_k), to_key, to_value


def _shared(heads, n_queries, n_keys, d_k, d_v, seed):
    sizes = (heads, n_queries, d_k), (n_keys, d_k), (n_keys, d_v), (heads, n_queries, d_v)
    return tuple(normal(*size, seed=seed + i) for i, size in enumerate(sizes))


sharing = function(
    "7.5",
    shared_backward,
    as_="my_shared_backward(query, key, value, grad_output)",
    title="One key for all heads",
    section="07#all-of-it",
    shows=(shared_backward, backward.attention_backward, backward.softmax_backward),
    probes=[
        _shared(2, 2, 3, 4, 5, seed=50),
        _shared(3, 2, 4, 5, 2, seed=55),
        _shared(4, 3, 2, 2, 3, seed=60),
        _shared(2, 5, 3, 3, 4, seed=65),
    ],
    corner_cases=[_shared(1, 3, 4, 2, 3, seed=70), _shared(3, 1, 2, 4, 2, seed=75)],
    random_probes=lambda rng: [_shared(*rng.sample(range(2, 7), 5), seed=rng.randrange(10**6)) for _ in range(2)],
    returns=("the gradient of query", "the gradient of key", "the gradient of value"),
    dtype=torch.float64,
    without=AUTOGRAD,
    hints=[
        "One head first: 7.2 on `query[h]` and `grad_output[h]` gives its three gradients.",
        "The gradient of the query has a part for each head. Every head uses the same key, so every head adds to the "
        "key's gradient.",
        "If a number is used several times, the gradients of these uses are added: the gradients of key and value are "
        "sums over the heads.",
    ],
)


def _each_head(query, key, value, grad_output, way_back=backward.attention_backward):
    """The three gradients of each head by itself, as if it had keys and values of its own."""
    all_of = [tensor.expand(len(query), *tensor.shape) for tensor in (key, value)]
    return way_back(query, *all_of, grad_output)


@sharing.misconception()
def averaged(query, key, value, grad_output):
    """The gradients of the heads are averaged. They have to be added.

    Change a number of the shared key a little: the scores of every head change, and the loss changes by the sum of
    these effects.
    """
    to_query, to_key, to_value = _each_head(query, key, value, grad_output)
    return to_query, to_key.mean(dim=0), to_value.mean(dim=0)


@sharing.misconception()
def last_heads(query, key, value, grad_output):
    """The gradients of key and value come from the last head only.

    In a loop over the heads, each round overwrites the result of the round before. Begin with zeros, and add.
    """
    to_query, to_key, to_value = _each_head(query, key, value, grad_output)
    return to_query, to_key[-1], to_value[-1]


@sharing.misconception()
def first_heads(query, key, value, grad_output):
    """The gradients of key and value come from the first head only.

    Every head uses the key, so every head adds to the key's gradient. Is there a `return` inside the loop, or a `[0]`
    too many?
    """
    to_query, to_key, to_value = _each_head(query, key, value, grad_output)
    return to_query, to_key[0], to_value[0]


@sharing.misconception()
def kept_apart(query, key, value, grad_output):
    """Key and value get a gradient for each head.

    This would be right if each head had its own key and value. Here there is only one key, and the gradient has the
    same shape as the key.
    """
    return _each_head(query, key, value, grad_output)


@sharing.misconception()
def value_averaged(query, key, value, grad_output):
    """The gradients of the key are added, but the gradients of the value are averaged.

    All heads share key and value in the same way, so the gradients of the value are added over the heads too.
    """
    to_query, to_key, to_value = _each_head(query, key, value, grad_output)
    return to_query, to_key.sum(dim=0), to_value.mean(dim=0)


@sharing.misconception()
def query_added_up(query, key, value, grad_output):
    """The gradient of the query is also added over the heads.

    Each head has its own queries. Only the gradients of the shared key and value are added.
    """
    to_query, to_key, to_value = _each_head(query, key, value, grad_output)
    return to_query.sum(dim=0).expand_as(query), to_key.sum(dim=0), to_value.sum(dim=0)


@sharing.misconception(reread="07#all-of-it")
def scale_forgotten(query, key, value, grad_output):
    """The scale is missing in the gradients.

    The scores were multiplied by 1/√d_k, so the gradients of query and key are multiplied by it too.
    """
    to_query, to_key, to_value = shared_backward(query, key, value, grad_output)
    return to_query * math.sqrt(key.size(-1)), to_key * math.sqrt(key.size(-1)), to_value


@sharing.misconception(reread="07#through-softmax")
def mean_kept(query, key, value, grad_output):
    """In the step through softmax the mean of the row is not subtracted.

    weights · grad_weights is only one of two terms. The weighted mean must be subtracted too, because no weight of a
    row can rise alone.
    """
    way_back = attention_backward.misconceptions["mean-kept"].forms[0]
    to_query, to_key, to_value = _each_head(query, key, value, grad_output, way_back)
    return to_query, to_key.sum(dim=0), to_value.sum(dim=0)
