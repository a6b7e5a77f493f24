"""Exercises of notebook 1: one output by hand, then self-attention as a function."""

import torch

from ..examples import W_k, W_q, W_v, X, self_attention_steps
from .function import function
from .numbers import numbers
from .probes import normal

# ----------------------------------------------------------------------------------------------------------- 1.1


def _steps(**settings):
    return self_attention_steps(X.double(), W_q.double(), W_k.double(), W_v.double(), **{"scale": 1, **settings})


second_output = numbers(
    "1.1",
    lambda: _steps().outputs[1],
    asks="three numbers",
    title="The second output",
    section="notebook 1, “Step 5: from scores to weights” to “Step 7: the output is their sum”",
    hints=[
        "Three numbers say how much *like* takes from each token: the softmax of its scores (4, 16, 12).",
        "Softmax: e⁴, e¹⁶ and e¹², each divided by the sum of the three. Subtracting 16 from all three scores first "
        "changes nothing and keeps the numbers small: e⁻¹², e⁰, e⁻⁴.",
        "The output is weight₁ · (1, 2, 3) + weight₂ · (2, 8, 0) + weight₃ · (2, 6, 3), with all digits of the "
        "weights.",
    ],
    shows=(self_attention_steps,),
)


@second_output.mistake(reread="notebook 1, “What rounding does”")
def rounded():
    """These are the numbers that come out of rounded weights.

    Rounded to (0, 1, 0) the weights look tidy, and the output becomes simply the second value. But softmax gives no
    key exactly 0 or exactly 1: the third token gets 0.018, and that moves the second number by 0.036.
    """
    return _steps().weights[1].round() @ _steps().values


@second_output.mistake()
def scaled():
    """These are the numbers with scores divided by √3.

    Most texts divide by √d_k, and so will we from notebook 2 on. This exercise asks for the unscaled example.
    """
    return _steps(scale=None).outputs[1]


@second_output.mistake(forms=[lambda: _steps().outputs[2]])
def other_row():
    """This is the output of another token.

    Row 1 in Python is the second token, since counting starts at 0. Each token has its own scores: those of *like*
    are (4, 16, 12).
    """
    return _steps().outputs[0]


@second_output.mistake()
def raw_scores():
    """The values were multiplied by the scores, not by the weights.

    Scores and weights both have one number per key, so either fits. But an output is an average of the values, and
    scores do not sum to 1: the softmax is missing.
    """
    return _steps().scores[1] @ _steps().values


@second_output.mistake()
def wrong_axis():
    """The softmax was taken down a column.

    A column holds the scores of one key for all queries. What has to sum to 1 is the row: all keys, for one query.
    """
    return torch.softmax(_steps().scores, dim=0)[1] @ _steps().values


@second_output.mistake()
def keys_for_values():
    """The weights were applied to the keys.

    Keys decide how much is taken from each token, values are what is taken.
    """
    return _steps().weights[1] @ _steps().keys


@second_output.mistake()
def weights():
    """These are the weights, not yet the output.

    The weights say how much of each value is taken. The output is the sum of the values, each times its weight.
    """
    return _steps().weights[1]


@second_output.mistake()
def uniform():
    """This is the plain average of the three values.

    Equal weights would be right if all scores were equal. They are 4, 16 and 12.
    """
    return _steps().values.mean(dim=0)


# ----------------------------------------------------------------------------------------------------------- 1.2


def _projections(n, d_in, d_k, d_v, seed):
    x, w_q, w_k = normal(n, d_in, seed=seed), normal(d_in, d_k, seed=seed + 1), normal(d_in, d_k, seed=seed + 2)
    return x, w_q / 2, w_k / 2, normal(d_in, d_v, seed=seed + 3)


def _permuting(answer):
    x, *weights = _projections(5, 4, 3, 2, seed=70)
    order = torch.tensor([3, 0, 4, 1, 2])
    return torch.allclose(answer(x[order], *weights), answer(x, *weights)[order], atol=1e-4)


def unscaled(x, w_q, w_k, w_v):
    return self_attention_steps(x, w_q, w_k, w_v, scale=1).outputs


self_attention = function(
    "1.2",
    unscaled,
    as_="my_self_attention(x, w_q, w_k, w_v)",
    title="Your own self-attention",
    section="notebook 1, “All queries at once”",
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
    invariants=[("the outputs do not move along when the tokens change places", _permuting)],
    hints=[
        "Five lines are enough: queries, keys, values, weights, outputs. Each of them is one matrix product or a "
        "softmax of one.",
        "All scores at once: `scores = queries @ keys.T`, row i for query i.",
        "`torch.softmax(scores, dim=-1)` makes each row sum to 1; times the values, that is the answer. No √ here.",
    ],
    shows=(self_attention_steps,),
)


@self_attention.mistake(reread="notebook 1, “Step 4: the scores of one query”")
def scaled(x, w_q, w_k, w_v):
    """The scores are divided by √d_k.

    That is how most texts have it, and from notebook 2 on we do too. This exercise is the example by hand,
    unscaled.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T / w_q.size(1) ** 0.5, dim=-1) @ (x @ w_v)


@self_attention.mistake(reread="notebook 1, “Step 5: from scores to weights”")
def wrong_axis(x, w_q, w_k, w_v):
    """The softmax runs down the columns.

    With `dim=0` every key deals out one whole among the queries; the shape is the same, and so is every cell's
    meaning at first sight. A query's weights are a row, so it has to be `dim=-1`.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=0) @ (x @ w_v)


@self_attention.mistake(reread="notebook 1, “Step 4: the scores of one query”")
def swapped(x, w_q, w_k, w_v):
    """Queries and keys have changed places.

    The product of keys and queries holds the same numbers, but transposed: row i then asks how well all queries
    match key i.
    """
    return torch.softmax((x @ w_k) @ (x @ w_q).T, dim=-1) @ (x @ w_v)


@self_attention.mistake(reread="notebook 1, “Step 5: from scores to weights”")
def raw_scores(x, w_q, w_k, w_v):
    """The values are multiplied by the scores: the softmax is missing or its result is not used.

    `torch.softmax(scores, dim=-1)` on a line of its own changes nothing, because it returns a new tensor. The
    shapes are the same either way.
    """
    return (x @ w_q) @ (x @ w_k).T @ (x @ w_v)


@self_attention.mistake(reread="notebook 1, “Step 7: the output is their sum”")
def transposed_weights(x, w_q, w_k, w_v):
    """The weights are transposed before they meet the values.

    A square matrix fits both ways round. Row i of the weights belongs to query i and has to make output i.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1).T @ (x @ w_v)


@self_attention.mistake(reread="notebook 1, “Step 6: weighted values”")
def inputs_for_values(x, w_q, w_k, w_v):
    """The weights are applied to the inputs themselves.

    It is natural to think that a token hands on what it is. It hands on its value, `x @ w_v`.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) @ x


@self_attention.mistake(reread="notebook 1, “Step 6: weighted values”")
def keys_for_values(x, w_q, w_k, w_v):
    """The weights are applied to the keys.

    Keys decide how much is taken from each token, values are what is taken.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) @ (x @ w_k)


@self_attention.mistake(reread="notebook 1, “Step 7: the output is their sum”")
def weights(x, w_q, w_k, w_v):
    """It returns the weights.

    They are the last step but one: the outputs are the weights times the values.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1)


@self_attention.mistake(reread="notebook 1, “What rounding does”")
def rounded(x, w_q, w_k, w_v):
    """The weights are rounded on the way.

    One decimal looks tidy on paper, but the outputs carry the error: up to 0.3 in the example.
    """
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1).round(decimals=1) @ (x @ w_v)
