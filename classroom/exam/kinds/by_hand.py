"""An output by hand: one query, two or three keys whose scores lie 1 or 2 apart, with the powers of e on the sheet."""

import math
import random

import torch

from attn_lib import scaled_dot_product_attention

from ..item import Option, Table, could_be_confused, item, misconception, number, slip, with_mistake, wrong

D_K = 4  # so that the root is 2
MOST = 4  # wrong options


def draw(id, rng):
    """An `Item` about one query's output, or None for numbers that do not serve.

    Raises: AssertionError if the library comes to another output.
    """
    keys = rng.choice([2, 2, 3])
    query = [rng.randint(0, 2) for _ in range(D_K)]
    key = [[rng.randint(0, 2) for _ in range(D_K)] for _ in range(keys)]
    value = [rng.randint(-4, 9) for _ in range(keys)]
    scores = [sum(q * k for q, k in zip(query, row, strict=True)) for row in key]
    halves = [score / 2 for score in scores]
    gaps = {half - min(halves) for half in halves}
    if not gaps <= {0, 1, 2} or len(gaps) < 2 or len(set(value)) < keys or sum(scores) == 0:
        return None
    weights = softmax(halves)
    right = mixed(weights, value)
    tensors = [torch.tensor(rows, dtype=torch.float64) for rows in ([query], key, [[v] for v in value])]
    output, _ = scaled_dot_product_attention(*tensors)
    if abs(output.item() - right) > 1e-9:
        raise AssertionError(f"{id}: {right} by hand, {output.item()} by the library")
    powers = [math.exp(half - min(halves)) for half in halves]
    slips = [
        output_with("no-scale", tensors),
        output_with("d-not-root", tensors),
        (mixed([1 / keys] * keys, value), slip("01.output-one", "mean")),
        (mixed([s / sum(scores) for s in scores], value), misconception("1.1", "linear")),
        (mixed(weights[1:] + weights[:1], value), slip("01.new-bank", "order")),
        (float(value[weights.index(max(weights))]), slip("02.diagonal", "one")),
        (mixed([s / 2 for s in scores], value), misconception("1.1", "raw-scores")),
        (mixed(powers, value), slip("01.weights-by-hand", "exponentials")),
        (float(sum(value)), slip("01.output-one", "unweighted")),
    ]
    # No mean lies beyond the values, so an option there betrays itself; and were the right one always in the middle,
    # whoever crossed out the ends would have it sooner: its rank is drawn by the id, which a redraw does not bend.
    within = [one for one in slips if min(value) <= one[0] <= max(value)]
    beyond = [one for one in slips if one not in within]
    rng.shuffle(within)
    if any(could_be_confused(x, right) for x, _ in slips):
        return None  # a mistake would get points
    candidates = distinct([*within, *rng.sample(beyond, min(1, len(beyond)))])
    rank = random.Random(id).randrange(MOST + 1)
    below = [one for one in candidates if one[0] < right][:rank]
    above = [one for one in candidates if one[0] > right][: MOST - rank]
    if len(below) < rank or len(above) < MOST - rank:
        return None
    options = [wrong(number(x), mistake, x) for x, mistake in below + above]
    why = (
        f"Scores {in_a_row(scores)}, divided by 2: {in_a_row(halves)}; weights "
        f"{in_a_row([round(w, 3) for w in weights])}; their sum with the values is {number(right)}."
    )
    parts = (
        f"One query and {keys} keys of {D_K} numbers, and a value of one number for each key:",
        Table("query", (texts(query),)),
        Table("keys", tuple(texts(row) for row in key)),
        Table("values", tuple(texts([v]) for v in value)),
        "e¹ = 2.72, e² = 7.39.",
    )
    asks = "What is the output of scaled dot-product attention, rounded to two decimals?"
    return item(id, 2, parts, asks, Option(number(right), why, value=right), options, rng, most=MOST)


def output_with(name, tensors):
    """(the output of attention with this misconception, what `misconception` returns)."""
    (output, _), mistake = with_mistake("2.2", name, *tensors)
    return output.item(), mistake


def distinct(pairs):
    """Pairs of a number and what leads to it, without those that could be confused with one before."""
    different = []
    for x, mistake in pairs:
        if not any(could_be_confused(x, other) for other, _ in different):
            different.append((x, mistake))
    return different


def softmax(scores):
    """The weights of a list of scores, in plain Python: a second way beside the library."""
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def mixed(weights, values):
    """The values' sum, each times its weight; one number."""
    return float(sum(weight * value for weight, value in zip(weights, values, strict=True)))


def texts(row):
    """A row of numbers as a `Table` has it."""
    return tuple(number(x) for x in row)


def in_a_row(numbers):
    """Numbers in a sentence, with commas between them and at most three decimals."""
    return ", ".join(number(float(round(x, 3))) if isinstance(x, float) and x == round(x, 2) else
                     (f"{x:.3f}" if isinstance(x, float) else number(x)) for x in numbers)  # fmt: skip
