"""Exercises of notebook 1: one output by hand, then self-attention as a function."""

import torch

from ..examples import W_k, W_q, W_v, X, self_attention_steps
from .catalogue import Probe, also, exercise, misconception
from .probes import normal
from .verdict import Verdict, number

EXACT = 0.01


def _judge_numbers(entry, answer):
    """Compare three numbers given as a list, tuple or tensor; a mistake is known by its own three numbers."""
    try:
        mine = torch.as_tensor(_plain(answer), dtype=torch.float64).flatten()
    except (TypeError, ValueError, RuntimeError):
        return Verdict(entry.id, "wrong", None, "This could not be read as three numbers, as in `[1.5, 2.0, 0.25]`.")
    truth = entry.reference()
    if mine.shape != truth.shape:
        return Verdict(entry.id, "wrong", None, f"The output holds {truth.numel()} numbers, this holds {mine.numel()}.")
    if _near(mine, truth):
        return Verdict(entry.id, "correct", None, f"Right: {_listed(truth, 4)}.")
    for known in entry.misconceptions.values():
        if any(_near(mine, code()) for code in known.codes):
            message = f"{known.name}.\n\n{known.why}\n\nRead again: {known.reread}."
            return Verdict(entry.id, "wrong", known.id, message)
    wrong = [i for i in range(len(truth)) if not _near(mine[i], truth[i])]
    places = " and ".join(f"number {i + 1} ({number(mine[i].item())})" for i in wrong)
    return Verdict(
        entry.id, "wrong", None, f"Not yet: {places} {'is' if len(wrong) == 1 else 'are'} off by over {EXACT}."
    )


def _plain(answer):
    if isinstance(answer, torch.Tensor):
        return answer.detach().tolist()
    if isinstance(answer, list | tuple):
        return [_plain(part) for part in answer]
    return answer


def _near(mine, truth):
    return bool(((mine - truth).abs() <= EXACT).all())


def _listed(tensor, digits):
    return "[" + ", ".join(f"{x:.{digits}f}" for x in tensor.tolist()) + "]"


def _steps(**settings):
    return self_attention_steps(X.double(), W_q.double(), W_k.double(), W_v.double(), **{"scale": 1, **settings})


@exercise(
    "1.1",
    "The second output",
    "three numbers",
    "notebook 1, “Step 5: from scores to weights” to “Step 7: the output is their sum”",
    probes=[],
    judge=_judge_numbers,
    shows=(self_attention_steps,),
    hints=[
        "Three numbers say how much *like* takes from each token: the softmax of its scores (4, 16, 12).",
        "Softmax: e⁴, e¹⁶ and e¹², each divided by the sum of the three. Subtracting 16 from all three scores first "
        "changes nothing and keeps the numbers small: e⁻¹², e⁰, e⁻⁴.",
        "The output is weight₁ · (1, 2, 3) + weight₂ · (2, 8, 0) + weight₃ · (2, 6, 3), with all digits of the "
        "weights.",
    ],
)
def second_output():
    return _steps().outputs[1]


@misconception(
    "1.1",
    "rounded",
    "These are the numbers that come out of rounded weights",
    "Rounded to (0, 1, 0) the weights look tidy, and the output becomes simply the second value. But softmax gives no "
    "key exactly 0 or exactly 1: the third token gets 0.018, and that moves the second number by 0.036.",
    reread="notebook 1, “What rounding does”",
)
def _():
    return _steps().weights[1].round() @ _steps().values


@misconception(
    "1.1",
    "scaled",
    "These are the numbers with scores divided by √3",
    "Most texts divide by √d_k, and so will we from notebook 2 on. This exercise asks for the unscaled example.",
)
def _():
    return _steps(scale=None).outputs[1]


@misconception(
    "1.1",
    "other-row",
    "This is the output of another token",
    "Row 1 in Python is the second token, since counting starts at 0. Each token has its own scores: those of *like* "
    "are (4, 16, 12).",
)
def _():
    return _steps().outputs[0]


@also("1.1", "other-row")
def _():
    return _steps().outputs[2]


@misconception(
    "1.1",
    "raw-scores",
    "The values were multiplied by the scores, not by the weights",
    "Scores and weights both have one number per key, so either fits. But an output is an average of the values, and "
    "scores do not sum to 1: the softmax is missing.",
)
def _():
    return _steps().scores[1] @ _steps().values


@misconception(
    "1.1",
    "wrong-axis",
    "The softmax was taken down a column",
    "A column holds the scores of one key for all queries. What has to sum to 1 is the row: all keys, for one query.",
)
def _():
    return torch.softmax(_steps().scores, dim=0)[1] @ _steps().values


@misconception(
    "1.1",
    "keys-for-values",
    "The weights were applied to the keys",
    "Keys decide how much is taken from each token, values are what is taken.",
)
def _():
    return _steps().weights[1] @ _steps().keys


@misconception(
    "1.1",
    "weights",
    "These are the weights, not yet the output",
    "The weights say how much of each value is taken. The output is the sum of the values, each times its weight.",
)
def _():
    return _steps().weights[1]


@misconception(
    "1.1",
    "uniform",
    "This is the plain average of the three values",
    "Equal weights would be right if all scores were equal. They are 4, 16 and 12.",
)
def _():
    return _steps().values.mean(dim=0)


# ----------------------------------------------------------------------------------------------------------- 1.2


def _example():
    return X, W_q, W_k, W_v


def _projections(n, d_in, d_k, d_v, seed):
    x, w_q, w_k = normal(n, d_in, seed=seed), normal(d_in, d_k, seed=seed + 1), normal(d_in, d_k, seed=seed + 2)
    return x, w_q / 2, w_k / 2, normal(d_in, d_v, seed=seed + 3)


def _permuting(answer):
    x, *weights = _projections(5, 4, 3, 2, seed=70)
    order = torch.tensor([3, 0, 4, 1, 2])
    return torch.allclose(answer(x[order], *weights), answer(x, *weights)[order], atol=1e-4)


@exercise(
    "1.2",
    "Your own self-attention",
    "self_attention(x, w_q, w_k, w_v)",
    "notebook 1, “All queries at once”",
    probes=[
        Probe(_example),
        Probe(lambda: _projections(2, 3, 4, 5, seed=10)),
        Probe(lambda: _projections(4, 2, 3, 5, seed=20)),
        Probe(lambda: _projections(5, 6, 2, 3, seed=30)),
        Probe(lambda: _projections(1, 3, 2, 4, seed=40), edge=True),
    ],
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
def self_attention(x, w_q, w_k, w_v):
    return self_attention_steps(x, w_q, w_k, w_v, scale=1).outputs


@misconception(
    "1.2",
    "scaled",
    "The scores are divided by √d_k",
    "That is how most texts have it, and from notebook 2 on we do too. This exercise is the example by hand, unscaled.",
    reread="notebook 1, “Step 4: the scores of one query”",
)
def _(x, w_q, w_k, w_v):
    return torch.softmax((x @ w_q) @ (x @ w_k).T / w_q.size(1) ** 0.5, dim=-1) @ (x @ w_v)


@misconception(
    "1.2",
    "wrong-axis",
    "The softmax runs down the columns",
    "With `dim=0` every key deals out one whole among the queries; the shape is the same, and so is every cell's "
    "meaning at first sight. A query's weights are a row, so it has to be `dim=-1`.",
    reread="notebook 1, “Step 5: from scores to weights”",
)
def _(x, w_q, w_k, w_v):
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=0) @ (x @ w_v)


@misconception(
    "1.2",
    "swapped",
    "Queries and keys have changed places",
    "The product of keys and queries holds the same numbers, but transposed: row i then asks how well all "
    "queries match key i.",
    reread="notebook 1, “Step 4: the scores of one query”",
)
def _(x, w_q, w_k, w_v):
    return torch.softmax((x @ w_k) @ (x @ w_q).T, dim=-1) @ (x @ w_v)


@misconception(
    "1.2",
    "raw-scores",
    "The values are multiplied by the scores: the softmax is missing or its result is not used",
    "`torch.softmax(scores, dim=-1)` on a line of its own changes nothing, because it returns a new tensor. The "
    "shapes are the same either way.",
    reread="notebook 1, “Step 5: from scores to weights”",
)
def _(x, w_q, w_k, w_v):
    return (x @ w_q) @ (x @ w_k).T @ (x @ w_v)


@misconception(
    "1.2",
    "transposed-weights",
    "The weights are transposed before they meet the values",
    "A square matrix fits both ways round. Row i of the weights belongs to query i and has to make output i.",
    reread="notebook 1, “Step 7: the output is their sum”",
)
def _(x, w_q, w_k, w_v):
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1).T @ (x @ w_v)


@misconception(
    "1.2",
    "inputs-for-values",
    "The weights are applied to the inputs themselves",
    "It is natural to think that a token hands on what it is. It hands on its value, `x @ w_v`.",
    reread="notebook 1, “Step 6: weighted values”",
)
def _(x, w_q, w_k, w_v):
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) @ x


@misconception(
    "1.2",
    "keys-for-values",
    "The weights are applied to the keys",
    "Keys decide how much is taken from each token, values are what is taken.",
    reread="notebook 1, “Step 6: weighted values”",
)
def _(x, w_q, w_k, w_v):
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1) @ (x @ w_k)


@misconception(
    "1.2",
    "weights",
    "It returns the weights",
    "They are the last step but one: the outputs are the weights times the values.",
    reread="notebook 1, “Step 7: the output is their sum”",
)
def _(x, w_q, w_k, w_v):
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1)


@misconception(
    "1.2",
    "rounded",
    "The weights are rounded on the way",
    "One decimal looks tidy on paper, but the outputs carry the error: up to 0.3 in the example.",
    reread="notebook 1, “What rounding does”",
)
def _(x, w_q, w_k, w_v):
    return torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1).round(decimals=1) @ (x @ w_v)
