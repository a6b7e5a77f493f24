"""Exercises of notebook 1: one output by hand, self-attention as a function, and what a token matters to the others."""

from functools import partial

import torch

from attn_lib.examples import OTHER_X, W_k, W_q, W_v, X, self_attention_steps

from ..engine.function import function
from ..engine.numbers import numbers
from ..engine.probes import TYPED_DIVISORS, normal

# ----------------------------------------------------------------------------------------------------------- 1.1


def second_output(x):
    query, keys, values = x[1] @ W_q, x @ W_k, x @ W_v
    weights = torch.softmax(keys @ query, dim=0)
    return weights @ values


def _steps(x=OTHER_X, scale=1):
    return self_attention_steps(x.double(), W_q.double(), W_k.double(), W_v.double(), scale=scale)


another_sentence = numbers(
    "1.1",
    lambda: _steps().outputs[1],
    asks="three numbers",
    title="Another sentence",
    section="01#text-18..text-25",
    hints=[
        "First compute the query of *drink* and the three keys: each is a row of the inputs times `W_q` or `W_k`. The "
        "dot products of this query with the keys are its three scores; each is a whole number.",
        "Softmax turns the scores into three weights: take e to each score, and divide by the sum of these three.",
        "Each token's value is its row times `W_v`. Multiply each value by its weight, with all digits, and add up.",
    ],
    shows=(second_output,),
)


def _with_weights_to(decimals):
    return _steps().weights[1].round(decimals=decimals) @ _steps().values


@another_sentence.misconception(reread="01#text-18")
def one_token_alone():
    """This is the value of one token alone.

    The key with the largest score got all the weight, because you used `argmax` or rounded the weights to whole
    numbers. Softmax gives some weight to each token. Even a small weight has to be multiplied by its value and added.
    """
    return _steps().values[_steps().scores[1].argmax()]


@another_sentence.misconception(reread="01#text-29", forms=[lambda: _with_weights_to(2)])
def rounded():
    """These are the numbers that come out of rounded weights.

    Rounding takes a little weight from one token and gives it to another token, whose value is not the same. Keep all
    digits until the end.
    """
    return _with_weights_to(1)


def _divided_by_hand(divisor):
    return lambda: torch.softmax(_steps().scores[1] / divisor, dim=0) @ _steps().values


@another_sentence.misconception(reread="01#text-34", forms=[_divided_by_hand(divisor) for divisor in (3, 2, 4)])
def scaled():
    """These are the numbers that come out if the scores are divided, by √3 or another number.

    Most texts divide by √d_k, and we will do so from notebook 2 on. In this exercise the scores are not divided.
    """
    return _steps(scale=None).outputs[1]


@another_sentence.misconception(reread="01#text-12", forms=[lambda: _steps().outputs[2]])
def other_row():
    """This is the output of another token.

    Row 1 in Python is the second token, since counting starts at 0. Each token has a query of its own: the query of
    *drink* is its row of the inputs times `W_q`.
    """
    return _steps().outputs[0]


@another_sentence.misconception(reread="01#text-04", forms=[lambda: _steps(X).outputs[0], lambda: _steps(X).outputs[2]])
def other_sentence():
    """This is an output of *I like tea*.

    The sentence here is *We drink coffee*. The three matrices are the same, the inputs are not.
    """
    return _steps(X).outputs[1]


@another_sentence.misconception(reread="01#text-18")
def linear():
    """The scores were divided by their sum, without e.

    This also makes numbers that sum to 1, but a score of 0 gets the share 0, and a negative score gets a negative
    share. Softmax takes e to each score first, and that is always positive.
    """
    return _steps().scores[1] / _steps().scores[1].sum() @ _steps().values


@another_sentence.misconception(reread="01#text-18")
def scores_alone():
    """These are the scores, not yet the output.

    Softmax turns the scores into weights. The output is the sum of the values, each times its weight.
    """
    return _steps().scores[1]


@another_sentence.misconception(reread="01#text-12")
def exchanged():
    """Query and key have changed places.

    You compared the key of *drink* with the three queries. The output of *drink* needs its query, compared with the
    three keys.
    """
    return torch.softmax(_steps().scores[:, 1], dim=0) @ _steps().values


@another_sentence.misconception(reread="01#text-18")
def raw_scores():
    """The values were multiplied by the scores, not by the weights.

    Scores and weights both have one number for each key, so both have the right shape. But an output is an average of
    the values, and scores do not sum to 1: the softmax is missing.
    """
    return _steps().scores[1] @ _steps().values


@another_sentence.misconception(reread="01#text-18")
def wrong_axis():
    """The softmax was taken down a column.

    A column holds the scores of one key for all queries. What has to sum to 1 is the row: all keys, for one query.
    """
    return torch.softmax(_steps().scores, dim=0)[1] @ _steps().values


@another_sentence.misconception(reread="01#why-ask", forms=[lambda: _steps().weights[1] @ _steps().queries])
def keys_for_values():
    """The weights were applied to the keys, or to the queries.

    Queries and keys decide how much is taken from each token, values are what is taken.
    """
    return _steps().weights[1] @ _steps().keys


@another_sentence.misconception(reread="01#text-25")
def weights():
    """These are the weights, not yet the output.

    The weights say how much of each value is taken. The output is the sum of the values, each times its weight.
    """
    return _steps().weights[1]


@another_sentence.misconception(reread="01#text-18")
def uniform():
    """This is the plain average of the three values.

    Equal weights would be right if all scores were equal. These scores are not.
    """
    return _steps().values.mean(dim=0)


@another_sentence.misconception(reread="01#text-23")
def values_added_up():
    """The three values were added up as they are.

    Each value has to be multiplied by its weight first, so that the output is an average of the values.
    """
    return _steps().values.sum(dim=0)


@another_sentence.misconception(reread="01#text-18", forms=[lambda: _steps().scores[1].exp()])
def not_divided():
    """e to each score was not divided by the sum of all three.

    The three numbers are positive, but they do not sum to 1 yet. Each divided by their sum is a weight.
    """
    return _steps().scores[1].exp() @ _steps().values


@another_sentence.misconception(reread="01#text-18", forms=[lambda: _to_a_power_of(2.0)])
def other_base():
    """The base is not e.

    A key of a calculator that says 10ˣ has another base. Softmax takes powers of e = 2.718….
    """
    return _to_a_power_of(10.0)


def _to_a_power_of(base):
    powers = base ** _steps().scores[1]
    return powers / powers.sum() @ _steps().values


@another_sentence.misconception(
    reread="01#text-12",
    forms=[
        lambda: torch.softmax(_steps().keys[1] @ _steps().keys.T, dim=0) @ _steps().values,  # inputs: the same here
        lambda: torch.softmax(_steps().queries[1] @ _steps().queries.T, dim=0) @ _steps().values,
    ],
)
def no_query_with_a_key():
    """The scores are not those of a query with the keys.

    They compare keys with keys, queries with queries, or the rows of the inputs as they are. A score is the dot product
    of a query and a key.
    """
    x = OTHER_X.double()
    return torch.softmax(x[1] @ x.T, dim=0) @ _steps().values


@another_sentence.misconception(reread="01#text-07", forms=[lambda: _steps().keys[1], lambda: _steps().queries[1]])
def before_the_scores():
    """This is the value, the key or the query of *drink*, not its output.

    The output of *drink* is made of the values of all three tokens: each is multiplied by its weight, and these are
    added up.
    """
    return _steps().values[1]


@another_sentence.misconception(reread="01#text-18")
def column_of_weights():
    """The weights come from a column, not from a row.

    A column says how much each query takes from *drink*. The output of *drink* needs its row: how much *drink* takes
    from each token.
    """
    return _steps().weights[:, 1] @ _steps().values


@another_sentence.misconception(reread="01#text-27", forms=[lambda: _of_tokens([0, 2])])
def tokens_left_out():
    """A token was left out: *coffee*, or *drink* itself.

    Here each word attends to every word of the sentence, to itself and to later ones too: there are three weights.
    """
    return _of_tokens([0, 1])


def _of_tokens(which):
    return torch.softmax(_steps().scores[1, which], dim=0) @ _steps().values[which]


# ----------------------------------------------------------------------------------------------------------- 1.2


def _projections(n, d_in, d_k, d_v, seed):
    x, w_q, w_k = normal(n, d_in, seed=seed), normal(d_in, d_k, seed=seed + 1), normal(d_in, d_k, seed=seed + 2)
    return x, w_q / 2, w_k / 2, normal(d_in, d_v, seed=seed + 3)


def _permuting(answer):
    x, *weights = _projections(5, 4, 3, 2, seed=70)
    order = torch.tensor([3, 0, 4, 1, 2])
    return torch.allclose(answer(x[order], *weights), answer(x, *weights)[order], atol=1e-4)


def unscaled(x, w_q, w_k, w_v):
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    scores = queries @ keys.T
    weights = torch.softmax(scores, dim=-1)
    return weights @ values


self_attention = function(
    "1.2",
    unscaled,
    as_="my_self_attention(x, w_q, w_k, w_v)",
    title="Your own self-attention",
    section="01#text-27",
    probes=[
        (X, W_q, W_k, W_v),
        _projections(2, 3, 4, 5, seed=10),
        _projections(4, 2, 3, 5, seed=20),
        _projections(5, 6, 2, 3, seed=30),
        _projections(5, 4, 2, 4, seed=50),  # outputs as wide as the inputs
        _projections(3, 3, 3, 3, seed=60),
    ],
    corner_cases=[_projections(1, 3, 2, 4, seed=40)],
    returns=("the output",),
    random_probes=lambda rng: [_projections(*rng.sample(range(2, 8), 4), seed=rng.randrange(10**6)) for _ in range(2)],
    invariants=[("when the tokens change places, their outputs do not change places with them", _permuting)],
    hints=[
        "Five lines are enough: queries, keys, values, weights, outputs. Each line is a matrix product, or the softmax "
        "of a matrix product.",
        "`scores = queries @ keys.T` makes all scores at once; row i belongs to query i.",
        "`torch.softmax(scores, dim=-1)` makes the weights. The outputs are the weights times the values. Do not "
        "divide by √d_k here.",
    ],
    also_called=("self_attention_steps",),
)


def _divided_by(divisor):
    def code(x, w_q, w_k, w_v):
        return torch.softmax((x @ w_q) @ (x @ w_k).T / divisor(x, w_v), dim=-1) @ (x @ w_v)

    return code


@self_attention.misconception(
    reread="01#text-34",
    forms=[
        lambda x, w_q, w_k, w_v: unscaled(x, w_q / w_q.size(1), w_k, w_v),
        *(_divided_by(lambda x, w_v, axis=axis: x.size(axis) ** 0.5) for axis in (-1, 0)),
        *(_divided_by(lambda x, w_v, axis=axis: x.size(axis)) for axis in (-1, 0)),
        _divided_by(lambda x, w_v: w_v.size(-1) ** 0.5),
        _divided_by(lambda x, w_v: w_v.size(-1)),
        *(_divided_by(lambda x, w_v, typed=typed: typed) for typed in TYPED_DIVISORS),
    ],
)
def scaled(x, w_q, w_k, w_v):
    """You divided the scores. In this exercise they are not divided.

    Most texts divide them by √d_k, and we will do so from notebook 2 on; no other size, and no number that you type,
    could take its place there. In the example by hand the scores were not divided either.
    """
    return unscaled(x, w_q / w_q.size(1) ** 0.5, w_k, w_v)


@self_attention.misconception(
    reread="01#text-34",
    forms=[
        lambda x, w_q, w_k, w_v: unscaled(x, w_q, w_k, w_v) / w_q.size(1),
        lambda x, w_q, w_k, w_v: unscaled(x, w_q, w_k, w_v) / 3**0.5,
    ],
)
def scaled_after(x, w_q, w_k, w_v):
    """The weights, or the outputs, are divided by something.

    Then the weights of a row no longer sum to 1, and the outputs are too small. In this exercise nothing is divided,
    neither before softmax nor after it.
    """
    return unscaled(x, w_q, w_k, w_v) / w_q.size(1) ** 0.5


@self_attention.misconception(
    reread="01#text-12",
    forms=[lambda x, w_q, w_k, w_v: torch.softmax((x @ w_k) @ (x @ w_k).T, dim=-1) @ (x @ w_v)],
)
def no_query_with_a_key(x, w_q, w_k, w_v):
    """Queries are compared with queries, or keys with keys.

    Then the scores are symmetric for all inputs, and one matrix is not used. A score is the dot product of a query,
    `x @ w_q`, and a key, `x @ w_k`.
    """
    return torch.softmax((x @ w_q) @ (x @ w_q).T, dim=-1) @ (x @ w_v)


@self_attention.misconception(reread="01#text-25")
def last_value_alone(x, w_q, w_k, w_v):
    """Each output is made of the last value alone.

    In a loop over the keys `output = weight * value` writes over what was there. The output is the sum of all values,
    each times its weight: `+=`, or one matrix product, `weights @ values`.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1)[:, -1:] * (x @ w_v)[-1]


@self_attention.misconception(reread="01#text-18")
def not_divided_by_the_sum(x, w_q, w_k, w_v):
    """e to each score is not divided by the sum of its row.

    The exponentials are positive, but a row of them does not sum to 1 yet. `torch.softmax(scores, dim=-1)` does both.
    """
    return torch.exp((x @ w_q) @ (x @ w_k).T) @ (x @ w_v)


@self_attention.misconception(reread="01#text-23")
def added_up_over_queries(x, w_q, w_k, w_v):
    """The weighted values are added up over the queries, not over the keys.

    With all queries at once the weighted values have three axes: query, key and feature. The keys are axis 1. The
    product `weights @ values` multiplies and adds up over the keys.
    """
    weights = torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1)
    return (weights[:, :, None] * (x @ w_v)).sum(dim=0)


@self_attention.misconception(reread="01#text-18")
def best_key_alone(x, w_q, w_k, w_v):
    """Each query takes the value of one key alone, that with the highest score.

    `argmax` gives all weight to one key. Softmax gives some weight to each key.
    """
    return (x @ w_v)[((x @ w_q) @ (x @ w_k).T).argmax(dim=-1)]


def _not_itself(x, w_q, w_k, w_v, fill=-torch.inf):
    scores = (x @ w_q) @ (x @ w_k).T
    return torch.softmax(scores.masked_fill(torch.eye(len(x), dtype=torch.bool), fill), dim=-1) @ (x @ w_v)


@self_attention.misconception(reread="01#text-18", forms=[partial(_not_itself, fill=-1e9)])
def itself_left_out(x, w_q, w_k, w_v):
    """A token does not attend to itself.

    In the example *like* gives itself a weight of 0.98. Each query is compared with every key, also with that of its
    own token.
    """
    return _not_itself(x, w_q, w_k, w_v)


@self_attention.misconception(
    reread="01#text-27",
    forms=[
        lambda x, w_q, w_k, w_v: unscaled(x[:3], w_q, w_k, w_v),
        lambda x, w_q, w_k, w_v: unscaled(x, w_q, w_k, w_v)[:3],
    ],
)
def three_tokens(x, w_q, w_k, w_v):
    """Your function works for three tokens only.

    Three is the number of tokens of *I like tea*. Here there may be any number: `len(x)`, or a matrix product, which
    needs no number at all.
    """
    outputs = unscaled(x, w_q, w_k, w_v)
    return torch.stack([outputs[i] for i in range(3)])


@self_attention.misconception(reread="01#text-18")
def wrong_axis(x, w_q, w_k, w_v):
    """The softmax runs down the columns.

    With `dim=0` the weights of each key sum to 1 over the queries. The shape is the same, and the numbers look similar.
    The weights of a query are a row, so it has to be `dim=-1`.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=0) @ (x @ w_v)


def _sums_across(x, w_q, w_k, w_v, shift=lambda scores: 0):
    scores = (x @ w_q) @ (x @ w_k).T
    exponentials = torch.exp(scores - shift(scores))
    return exponentials / exponentials.sum(dim=-1) @ (x @ w_v)


@self_attention.misconception(
    reread="01#text-18",
    forms=[partial(_sums_across, shift=lambda scores: scores.amax(dim=-1, keepdim=True))],
)
def sums_across(x, w_q, w_k, w_v):
    """Each exponential is divided by the sum of another row.

    A sum over `dim=-1` or `dim=1` has the shape (n,). PyTorch takes these n numbers for a row, so column j is divided
    by the sum of row j. With `keepdim=True` the sums stay a column, of shape (n, 1). `torch.softmax(scores, dim=-1)`
    does all of it.
    """
    return _sums_across(x, w_q, w_k, w_v)


@self_attention.misconception(reread="01#text-18")
def whole_table(x, w_q, w_k, w_v):
    """The sum runs over the whole table of scores.

    `.sum()` without a dim adds up all numbers, so all weights together sum to 1. The weights of each query, which are a
    row, have to sum to 1: `dim=-1, keepdim=True`.
    """
    exponentials = torch.exp((x @ w_q) @ (x @ w_k).T)
    return exponentials / exponentials.sum() @ (x @ w_v)


@self_attention.misconception(reread="01#text-18")
def softmax_twice(x, w_q, w_k, w_v):
    """Softmax is taken twice.

    Weights are between 0 and 1, so the second softmax sees hardly any difference between them and makes them nearly
    even.
    """
    return torch.softmax(torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1), dim=-1) @ (x @ w_v)


@self_attention.misconception(reread="01#text-18")
def linear(x, w_q, w_k, w_v):
    """The scores are divided by their sum, without e.

    The rows sum to 1, but negative scores become negative weights. Softmax takes e to each score first.
    """
    scores = (x @ w_q) @ (x @ w_k).T
    return scores / scores.sum(dim=-1, keepdim=True) @ (x @ w_v)


@self_attention.misconception(reread="01#text-12")
def swapped(x, w_q, w_k, w_v):
    """Queries and keys have changed places.

    The product of keys and queries has the same numbers, but transposed: row i then says how well each query matches
    key i.
    """
    return torch.softmax((x @ w_k) @ (x @ w_q).T, dim=-1) @ (x @ w_v)


@self_attention.misconception(reread="01#text-18")
def raw_scores(x, w_q, w_k, w_v):
    """The values are multiplied by the scores: the softmax is missing or its result is not used.

    `torch.softmax(scores, dim=-1)` on a line without `=` changes nothing, because it returns a new tensor. The shapes
    are the same with and without it.
    """
    return (x @ w_q) @ (x @ w_k).T @ (x @ w_v)


@self_attention.misconception(reread="01#text-27")
def transposed_weights(x, w_q, w_k, w_v):
    """The weights are transposed before they are multiplied by the values.

    The shapes fit, since the weights are a square matrix. Row i of the weights belongs to query i and has to make
    output i.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1).T @ (x @ w_v)


@self_attention.misconception(reread="01#why-ask")
def inputs_for_values(x, w_q, w_k, w_v):
    """The weights are applied to the inputs themselves.

    It seems natural that the other tokens get the input of a token. But they get its value, `x @ w_v`.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) @ x


@self_attention.misconception(
    reread="01#why-ask",
    forms=[lambda x, w_q, w_k, w_v: torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) @ (x @ w_q)],
)
def keys_for_values(x, w_q, w_k, w_v):
    """The weights are applied to the keys, or to the queries.

    Queries and keys decide how much is taken from each token, values are what is taken.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) @ (x @ w_k)


@self_attention.misconception(reread="01#text-25")
def weights(x, w_q, w_k, w_v):
    """Your function returns the weights.

    One step is missing: the outputs are the weights times the values.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1)


@self_attention.misconception(
    reread="01#text-29",
    forms=[
        lambda x, w_q, w_k, w_v: torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1).round(decimals=2) @ (x @ w_v),
    ],
)
def rounded(x, w_q, w_k, w_v):
    """The weights are rounded on the way.

    Neat numbers make the outputs wrong: with one decimal by up to 0.3 in the example.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1).round(decimals=1) @ (x @ w_v)


@self_attention.misconception(
    reread="01#why-ask",
    forms=[
        lambda x, w_q, w_k, w_v: torch.softmax(x @ x.T, dim=-1) @ (x @ w_v),
        lambda x, w_q, w_k, w_v: torch.softmax(x @ x.T / x.size(-1) ** 0.5, dim=-1) @ x,
    ],
)
def not_projected(x, w_q, w_k, w_v):
    """The inputs are compared with each other as they are.

    In `x @ x.T` there is nothing to learn. A score compares a query, `x @ w_q`, with a key, `x @ w_k`.
    """
    return torch.softmax(x @ x.T, dim=-1) @ x


@self_attention.misconception(reread="01#text-12")
def keys_not_transposed(x, w_q, w_k, w_v):
    """The keys are not transposed.

    A score is a row of the queries times a row of the keys. But `@` multiplies rows by columns, so the keys have to be
    transposed: `keys.T`.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k), dim=-1) @ (x @ w_v)


@self_attention.misconception(
    reread="01#text-25",
    forms=[
        lambda x, w_q, w_k, w_v: (torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) * (x @ w_v)).sum(dim=0),
        lambda x, w_q, w_k, w_v: torch.softmax((x @ w_q) * (x @ w_k), dim=-1) @ (x @ w_v),
    ],
)
def entry_by_entry(x, w_q, w_k, w_v):
    """`*` multiplies entry by entry.

    A score is a dot product, and an output a sum of values, each times its weight. Both are matrix products: `@`.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) * (x @ w_v)


@self_attention.misconception(reread="01#why-ask")
def matrices_turned(x, w_q, w_k, w_v):
    """The matrices are transposed.

    Much code has `x @ w.T`, because PyTorch's own layers keep their matrices transposed (notebook 4). Here a query is
    `x @ w_q`. With a square matrix both have the right shape.
    """
    return unscaled(x, w_q.T, w_k.T, w_v.T)


@self_attention.misconception(reread="01#text-27")
def future_masked(x, w_q, w_k, w_v):
    """A token attends only to itself and to the tokens before it.

    Models that write text hide the later tokens with a mask, and much code has that mask built in. Here every token
    attends to all tokens, as in the example. Masks come in notebook 3.
    """
    scores = (x @ w_q) @ (x @ w_k).T
    later = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1) @ (x @ w_v)


# ----------------------------------------------------------------------------------------------------------- 1.3


def _others(x, j):
    return torch.arange(len(x)) != j


def _moved(x, w_q, w_k, w_v, j, without):
    """How far the outputs of the others are from those in `without`, a row for each of them."""
    return (unscaled(x, w_q, w_k, w_v)[_others(x, j)] - without).norm(dim=-1)


def left_out(x, w_q, w_k, w_v, j):
    others = torch.arange(len(x)) != j
    with_j = unscaled(x, w_q, w_k, w_v)[others]
    without_j = unscaled(x[others], w_q, w_k, w_v)
    return (with_j - without_j).norm(dim=-1)


matters = function(
    "1.3",
    left_out,
    as_="my_left_out(x, w_q, w_k, w_v, j)",
    title="Without one token",
    section="01#text-27",
    probes=[
        (X, W_q, W_k, W_v, 2),
        (*_projections(4, 3, 4, 2, seed=110), 0),
        (*_projections(5, 4, 2, 3, seed=120), 3),
        (*_projections(3, 2, 3, 3, seed=130), 1),
    ],
    corner_cases=[(*_projections(2, 3, 2, 4, seed=140), 1), (*_projections(6, 1, 7, 1, seed=150), 5)],
    returns=("the distances",),
    numbers=("the distances",),
    random_probes=lambda rng: [
        (*_projections(n, *rng.sample(range(2, 8), 3), seed=rng.randrange(10**6)), rng.randrange(n)) for n in (3, 5)
    ],
    hints=[
        "Run your function from 1.2 twice: once on all rows of x, once without row j. "
        "`x[torch.arange(len(x)) != j]` has all rows except row j.",
        "The first run has one output more than the second. Leave out row j of its outputs too, then subtract.",
        "`.norm(dim=-1)` is the length of each row of differences: the root of the sum of the squares.",
    ],
    shows=(left_out, unscaled),
    also_called=("self_attention_steps",),
)


@matters.misconception(reread="01#text-18")
def zeroed_input(x, w_q, w_k, w_v, j):
    """Row j of the inputs is set to 0, but the token is still in the sentence.

    A token of zeros has a key of zeros, so its score is 0, and e to 0 is 1. So the token still gets a weight, which the
    others lose, and its value is 0. Leave the row out.
    """
    silent = x * _others(x, j)[:, None]
    return _moved(x, w_q, w_k, w_v, j, unscaled(silent, w_q, w_k, w_v)[_others(x, j)])


@matters.misconception(reread="01#text-18")
def shares_that_do_not_sum_to_one(x, w_q, w_k, w_v, j):
    """The weight of token j is not divided among the others: the rest of a row no longer sums to 1.

    If the weights of token j become 0 after softmax, or its value becomes 0, an output moves by weight times value.
    Softmax has to be taken over the tokens that are left, so that their weights sum to 1 again.
    """
    weights = torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) * _others(x, j)
    return _moved(x, w_q, w_k, w_v, j, (weights @ (x @ w_v))[_others(x, j)])


def _differences(x, w_q, w_k, w_v, j):
    others = _others(x, j)
    return unscaled(x, w_q, w_k, w_v)[others] - unscaled(x[others], w_q, w_k, w_v)


@matters.misconception(reread="01#text-27")
def squared_distance(x, w_q, w_k, w_v, j):
    """These are the squares of the distances.

    The length of a row is the root of the sum of its squares.
    """
    return _differences(x, w_q, w_k, w_v, j).square().sum(dim=-1)


@matters.misconception(reread="01#text-27", forms=[lambda *args: _differences(*args).abs().sum(dim=-1)])
def added_up(x, w_q, w_k, w_v, j):
    """The differences of a row are added up without being squared.

    Positive and negative differences then cancel; their absolute values give another kind of distance. The distance
    here is the length of the row: the root of the sum of its squares.
    """
    return _differences(x, w_q, w_k, w_v, j).sum(dim=-1)


@matters.misconception(reread="01#text-25")
def its_weight(x, w_q, w_k, w_v, j):
    """These are the weights that the others give to token j, not how far their outputs move.

    If the value of token j is close to the average of the other values, the token can have a large weight, and still
    little changes without it.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1)[_others(x, j), j]


@matters.misconception(reread="01#text-27")
def down_the_columns(x, w_q, w_k, w_v, j):
    """The lengths are taken down the columns: there is one for each number of an output.

    The exercise asks for one distance for each token, and a token is a row.
    """
    return _differences(x, w_q, w_k, w_v, j).norm(dim=0)


@matters.misconception(reread="01#text-27", forms=[lambda *args: _differences(*args).norm(dim=-1).sum()])
def one_length_for_all(x, w_q, w_k, w_v, j):
    """This is one number for all the others together.

    Each token that is left has a distance of its own: `dim=-1`.
    """
    return _differences(x, w_q, w_k, w_v, j).norm()


@matters.misconception(reread="01#text-27")
def mean_of_the_squares(x, w_q, w_k, w_v, j):
    """The squares are averaged, not added up.

    The root of the mean depends on how many numbers an output has. A distance is the root of the sum.
    """
    return _differences(x, w_q, w_k, w_v, j).square().mean(dim=-1).sqrt()


@matters.misconception(reread="01#text-27")
def row_j_still_there(x, w_q, w_k, w_v, j):
    """Row j of the outputs is still there.

    With the token there are n outputs, without it n − 1, so they cannot be subtracted. Leave out row j of the n outputs
    too.
    """
    return (unscaled(x, w_q, w_k, w_v) - unscaled(x[_others(x, j)], w_q, w_k, w_v)).norm(dim=-1)


@matters.misconception(reread="01#text-27")
def last_outputs_dropped(x, w_q, w_k, w_v, j):
    """From row j on, outputs of different tokens are compared.

    The first run has one output more, and the last one was left out to make the sizes equal. Leave out row j: then each
    output is compared with that of the same token.
    """
    with_j, without_j = unscaled(x, w_q, w_k, w_v), unscaled(x[_others(x, j)], w_q, w_k, w_v)
    return (with_j[:-1] - without_j).norm(dim=-1)


@matters.misconception(reread="01#text-18")
def key_hidden_and_row_kept(x, w_q, w_k, w_v, j):
    """There is a distance for token j, too.

    The exercise asks for the other tokens only: n − 1 distances.
    """
    scores = ((x @ w_q) @ (x @ w_k).T).masked_fill(~_others(x, j), -torch.inf)
    return (unscaled(x, w_q, w_k, w_v) - torch.softmax(scores, dim=-1) @ (x @ w_v)).norm(dim=-1)


def _left_out_divided(divisor):
    def code(x, w_q, w_k, w_v, j):
        return left_out(x, w_q / divisor(x, w_q), w_k, w_v, j)

    return code


@matters.misconception(
    reread="01#text-34",
    forms=[
        _left_out_divided(lambda x, w_q: w_q.size(1)),
        _left_out_divided(lambda x, w_q: x.size(-1) ** 0.5),
        *(_left_out_divided(lambda x, w_q, typed=typed: typed) for typed in TYPED_DIVISORS),
    ],
)
def scaled_scores(x, w_q, w_k, w_v, j):
    """The scores are divided by something, and the distances become others.

    As in 1.2, the scores are not divided here. From notebook 2 on we divide them by √d_k.
    """
    return _left_out_divided(lambda x, w_q: w_q.size(1) ** 0.5)(x, w_q, w_k, w_v, j)


def _without(x, w_q, w_k, w_v, which):
    return (unscaled(x, w_q, w_k, w_v)[which] - unscaled(x[which], w_q, w_k, w_v)).norm(dim=-1)


@matters.misconception(
    reread="01#text-27",
    forms=[
        lambda x, w_q, w_k, w_v, j: _without(x, w_q, w_k, w_v, torch.arange(len(x)) != 0),
        lambda x, w_q, w_k, w_v, j: _without(x, w_q, w_k, w_v, torch.arange(len(x)) != 2),
        lambda x, w_q, w_k, w_v, j: _without(x, w_q, w_k, w_v, torch.arange(len(x)) != j - 1),
        lambda x, w_q, w_k, w_v, j: _without(x, w_q, w_k, w_v, torch.arange(len(x)) != j + 1),
    ],
)
def another_token(x, w_q, w_k, w_v, j):
    """Another token is left out than token j, for example always the last.

    Token `j` is row j of x, and rows are counted from 0.
    """
    return _without(x, w_q, w_k, w_v, torch.arange(len(x)) != len(x) - 1)


@matters.misconception(
    reread="01#text-27",
    forms=[lambda x, w_q, w_k, w_v, j: _without(x, w_q, w_k, w_v, torch.arange(len(x)) < j)],
)
def other_rows_kept(x, w_q, w_k, w_v, j):
    """Not all of the other tokens are kept: only token j, or only those before it.

    `x[torch.arange(len(x)) != j]` has all rows except row j, those before it and those after it.
    """
    return _without(x, w_q, w_k, w_v, torch.arange(len(x)) == j)


@matters.misconception(reread="01#text-27")
def three_tokens(x, w_q, w_k, w_v, j):
    """Your function works for three tokens only.

    Three is the number of tokens of *I like tea*. Here there may be any number: `len(x)`.
    """
    return _without(x, w_q, w_k, w_v, torch.arange(3) != j)


@matters.misconception(reread="01#text-27")
def lengths_compared(x, w_q, w_k, w_v, j):
    """You subtracted the lengths of the outputs, not the outputs.

    Two outputs of the same length can be far apart. Subtract the outputs first, then take the length of the difference.
    """
    others = _others(x, j)
    with_all, without = unscaled(x, w_q, w_k, w_v)[others], unscaled(x[others], w_q, w_k, w_v)
    return with_all.norm(dim=-1) - without.norm(dim=-1)


@matters.misconception(reread="01#text-27", forms=[lambda *args: _differences(*args).abs().mean(dim=-1)])
def another_distance(x, w_q, w_k, w_v, j):
    """This is another kind of distance: the largest of the differences, or their average size.

    Here the distance is the length of the row of differences: the root of the sum of their squares.
    """
    return _differences(x, w_q, w_k, w_v, j).abs().amax(dim=-1)


@matters.misconception(reread="01#text-18")
def score_of_0(x, w_q, w_k, w_v, j):
    """The scores with token j are set to 0, but the token is still in the sentence.

    e to 0 is 1, so token j still gets a weight in each row, and its value is still added. Leave its row out.
    """
    scores = ((x @ w_q) @ (x @ w_k).T).masked_fill(~_others(x, j), 0.0)
    return _moved(x, w_q, w_k, w_v, j, (torch.softmax(scores, dim=-1) @ (x @ w_v))[_others(x, j)])
