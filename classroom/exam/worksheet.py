"""Worksheets for a pencil: numbers that work out, empty matrices, and the key on pages of its own."""

import argparse
import html
import math
import random
import secrets
import sys
from pathlib import Path

import torch

from attn_lib import (
    causal_mask,
    finish,
    masked_softmax,
    merge,
    part,
    scaled_dot_product_attention,
    self_attention_steps,
)

from .bank import mark_of
from .item import Table, number
from .paper import as_page, print_as_pdf, shown_on_paper

ROOT = Path(__file__).resolve().parents[2]
DRAWS = 20_000
NEGATIVE_POWERS = "e⁰ = 1, e⁻¹ = 0.37, e⁻² = 0.14, e⁻³ = 0.05, e⁻⁴ = 0.02"
POWERS = "e¹ = 2.72, e² = 7.39, e³ = 20.09, e⁴ = 54.6"


def by_hand(rng):
    """Lesson 1: three tokens of four features all the way to the outputs, with scores of at most 4."""
    for _ in range(DRAWS):
        x = _bits(rng, 3, 4)
        matrices = [_bits(rng, 4, 3) for _ in range(3)]
        steps = self_attention_steps(x, *matrices, scale=1)
        unlike = len(steps.weights.unique(dim=0)) == 3 and len(steps.values.unique(dim=0)) > 1
        if _serves(steps.scores) and steps.values.max() <= 3 and unlike and _is_full(x) and _is_full(steps.values):
            break
    else:
        raise RuntimeError(f"{DRAWS} draws brought no numbers that serve")
    tensors = [("X", x), *zip(("W_q", "W_k", "W_v"), matrices, strict=True)]
    return "Attention by hand", tensors, [
        ("Each query is a row of X times W_q.", "queries", steps.queries),
        ("Each key is a row of X times W_k.", "keys", steps.keys),
        ("Each value is a row of X times W_v.", "values", steps.values),
        ("A score: query times key, pair by pair, added up; nothing divided.", "scores", steps.scores),
        (f"e to the power of each score. {POWERS}.", "powers", steps.scores.exp()),
        ("Divide each row by its sum.", "weights", steps.weights),
        ("Each output is the values' sum, each times its weight.", "outputs", steps.outputs),
    ]  # fmt: skip


def masking(rng):
    """Lesson 3: scores under a causal mask, and what changes if softmax comes first."""
    scores = _scores(rng, 4)
    mask = causal_mask(4)
    weights, late = masked_softmax(scores, mask), torch.softmax(scores, -1) * mask
    return "Masking", [("scores", scores)], [
        ("Which keys may each query attend to under a causal mask? Write 1 or 0.", "mask", mask.double()),
        ("Cross out the scores that are hidden; write −∞.", "masked scores", scores.masked_fill(~mask, -math.inf)),
        (f"Softmax of each row. {POWERS}.", "weights", weights),
        ("Now the mistake: softmax of whole rows, then 0 where the mask hides.", "weights, masked too late", late),
        ("What does each of these rows sum to?", "sums", late.sum(-1, keepdim=True)),
    ]  # fmt: skip


def way_back(rng):
    """Lesson 7: from what the output should have been back to scores, query and keys, in quarters."""
    shares = torch.tensor([rng.sample([0.5, 0.25, 0.25], 3)], dtype=torch.float64)
    for _ in range(DRAWS):
        query, keys, values = _small(rng, 1, 2), _bits(rng, 3, 2), _small(rng, 3, 2)
        grad_output = torch.tensor([[rng.choice([-2, -1, 1, 2]) for _ in range(2)]], dtype=torch.float64)
        grad_weights = grad_output @ values.T
        mean = (shares * grad_weights).sum(-1, keepdim=True)
        if (
            query.min() > 0
            and len(set(grad_weights[0].tolist())) == 3
            and keys.sum() >= 3
            and mean == mean.round()
            and _is_full(values)
        ):
            break
    else:
        raise RuntimeError(f"{DRAWS} draws brought no numbers that serve")
    grad_scores = shares * (grad_weights - mean)
    tensors = [("query", query), ("keys", keys), ("values", values), ("weights", shares),
             ("gradient of the output", grad_output)]  # fmt: skip
    return "The way back", tensors, [
        ("Each weight's gradient: its value times the output's gradient, added up.", "of the weights", grad_weights),
        ("The mean of these, each counted with its weight.", "mean", mean),
        ("Each score's gradient: weight times what its own is above the mean.", "of the scores", grad_scores),
        ("They add up to 0. Write the sum down.", "sum", grad_scores.sum(-1, keepdim=True)),
        ("The query's gradient: each key times its score's gradient, added up; nothing was divided.", "of the query",
         grad_scores @ keys),
        ("Each key's gradient: the query times the gradient of its score.", "of the keys", grad_scores.T @ query),
    ]  # fmt: skip


def position(rng):
    """Lesson 8: a pair of numbers is turned by its place; a score depends on the distance alone."""
    query, key = ([rng.choice([-2, -1, 1, 2]), rng.choice([-2, -1, 0, 1, 2])] for _ in range(2))
    places = torch.arange(4)
    quarter = torch.tensor(
        [[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=torch.float64
    )  # cos and sin of 0 to 3 right angles

    def rotated(pair):
        a, b = pair
        return torch.stack([a * quarter[:, 0] - b * quarter[:, 1], a * quarter[:, 1] + b * quarter[:, 0]], -1)

    queries, keys = rotated(query), rotated(key)
    scores = queries @ keys.T
    assert torch.allclose(scores[0, 0], scores[places, places])  # equal distances, equal scores
    tensors = [("query", torch.tensor([query], dtype=torch.float64)), ("key", torch.tensor([key], dtype=torch.float64))]
    return "Turned by its place", tensors, [
        ("At place p a query is turned by p right angles: each makes (−b, a) of (a, b).", "queries", queries),
        ("The same for the key.", "keys", keys),
        ("All scores, a row for each query.", "scores", scores),
        ("Read the diagonals: a score for each distance, query's place minus key's, from −3 to 3.", "by distance",
         torch.stack([scores.diagonal(-d)[0] for d in range(-3, 4)])[None]),
    ]  # fmt: skip


def cache(rng):
    """Lesson 10: a token comes, and meets keys and values that are kept."""
    for _ in range(DRAWS):
        kept_keys, kept_values = _bits(rng, 3, 3), _small(rng, 3, 2)
        query, key, value = _small(rng, 1, 3), _bits(rng, 1, 3), _small(rng, 1, 2)
        keys, values = torch.cat([kept_keys, key]), torch.cat([kept_values, value])
        scores = query @ keys.T
        if _serves(scores) and _is_full(keys) and _is_full(values):
            break
    else:
        raise RuntimeError(f"{DRAWS} draws brought no numbers that serve")
    output, weights = scaled_dot_product_attention(query, keys, values, scale=1.0)
    tensors = [("kept keys", kept_keys), ("kept values", kept_values), ("new query", query), ("new key", key),
             ("new value", value)]  # fmt: skip
    without_cache, with_cache = 4 * 5 // 2, 4
    return "Writing with a memory", tensors, [
        ("Put the new key behind those that are kept.", "keys", keys),
        ("The new token's scores; nothing is divided.", "scores", scores),
        (f"Its weights. {POWERS}.", "weights", weights),
        ("Put the new value behind those that are kept.", "values", values),
        ("Its output.", "output", output),
        ("How many scores were computed now? How many if all are run again (causal mask)?", "now, without",
         torch.tensor([[with_cache, without_cache]], dtype=torch.float64)),
    ]  # fmt: skip


def in_passing(rng):
    """Lesson 12: one query's scores come two at a time; largest, sum and output so far are all that is kept."""
    while True:
        scores = torch.tensor([[rng.randint(0, 4) for _ in range(4)]], dtype=torch.float64)
        first, second = scores.split(2, dim=-1)
        if first.max() < second.max() and scores[0, 0] != scores[0, 1]:
            break
    while not _is_full(values := _small(rng, 4, 2)):
        pass
    halves = [part(*half) for half in zip((first, second), values.split(2), strict=True)]
    m, sums, o = (torch.cat(both) for both in zip(*halves, strict=True))  # a row for each half
    whole = merge(*halves)
    return "Softmax in passing", [("scores", scores), ("values", values)], [
        ("The largest score of the first two keys, and of the last two.", "m of each half", m.T),
        (f"For each half the sum of e to the power of (score − m). {NEGATIVE_POWERS}.", "l of each half", sums.T),
        ("For each half these powers times their values, added up: a row for each half.", "o of each half", o),
        ("Merge: the larger m.", "m", whole[0]),
        ("Each half's factor: e to the power of (its m − the larger m).", "factors", (m - whole[0]).exp().T),
        ("Each l times its factor, added up.", "l", whole[1]),
        ("Each o times its factor, added up.", "o", whole[2]),
        ("The output: o divided by l.", "output", finish(*whole)[0]),
    ]  # fmt: skip


SHEETS = {1: by_hand, 3: masking, 7: way_back, 8: position, 10: cache, 12: in_passing}


def _bits(rng, rows, columns):
    return torch.tensor([[rng.randint(0, 1) for _ in range(columns)] for _ in range(rows)], dtype=torch.float64)


def _small(rng, rows, columns):
    return torch.tensor([[rng.randint(0, 2) for _ in range(columns)] for _ in range(rows)], dtype=torch.float64)


def _scores(rng, n):
    while True:
        scores = torch.tensor([[rng.randint(0, 3) for _ in range(n)] for _ in range(n)], dtype=torch.float64)
        if _serves(scores) and all(len(set(row)) > 1 for row in scores.tolist()):
            return scores


def _is_full(matrix):
    """Whether no column is all 0, with which there were nothing to do."""
    return bool(matrix.any(0).all())


def _serves(scores):
    """Whether powers of e stay on the sheet, and a row has something to choose from."""
    return scores.max() <= 4 and scores.min() >= 0 and bool((scores.amax(-1) > scores.amin(-1)).all())


# ----------------------------------------------------------------------------------------------------------- paper


def page(lesson, seed):
    """The sheet and, behind it, its key, as HTML."""
    title, tensors, steps = SHEETS[lesson](random.Random(f"worksheet {lesson} {seed}"))
    about = f"<h1>{html.escape(title)}</h1><p>lesson {lesson}, sheet {mark_of(seed)}</p>"
    head = f"<header>{about}<p class='fill'>Name</p></header>"
    blanks = "".join(_step(i, *step, filled=False) for i, step in enumerate(steps, start=1))
    solved = "".join(_step(i, *step, filled=True) for i, step in enumerate(steps, start=1))
    tables = "".join(shown_on_paper(_table(name, values)) for name, values in tensors)
    is_rounded = any(bool((100 * values != (100 * values).round()).any()) for _, _, values in steps)
    return as_page(
        f"{title}, {mark_of(seed)}",
        f"<section class='sheet'>{head}<div class='parts'>{tables}</div><div class='steps'>{blanks}</div></section>"
        f"<section><header><h1>Key</h1><p>{html.escape(title)}, sheet {mark_of(seed)}</p></header>"
        + "<p>Whoever goes on with rounded numbers may end a few hundredths off, which is right too.</p>" * is_rounded
        + f"<div class='steps'>{solved}</div></section>",
    )


def _step(place, task, name, values, filled):
    cells = "".join(
        "<tr>" + "".join(f"<td>{x if filled else ''}</td>" for x in row) + "</tr>" for row in _as_texts(values)
    )
    return (
        f"<div class='step'><p><b>{place}</b> {html.escape(task)}</p><figure class='blanks'><table><caption>"
        f"{html.escape(name)}</caption>{cells}</table></figure></div>"
    )


def _table(name, values):
    return Table(name, tuple(map(tuple, _as_texts(values))))


def _as_texts(values):
    """The rows of a matrix as they stand on a sheet: whole numbers, and all others with as many decimals."""
    rows = values.tolist()
    fractions = [round(float(x), 2) for row in rows for x in row if math.isfinite(x) and not float(x).is_integer()]
    decimals = max((len(number(x).partition(".")[2]) for x in fractions), default=0)

    def one(x):
        if math.isinf(x):
            return "−∞"
        return number(int(x)) if float(x).is_integer() else f"{x:.{decimals}f}".replace("-", "−")

    return [[one(x) for x in row] for row in rows]


def lesson(text):
    """A lesson that has a worksheet. Raises: argparse.ArgumentTypeError for another."""
    if not text.isdecimal() or int(text) not in SHEETS:
        raise argparse.ArgumentTypeError(f"there is no sheet for {text!r}; there are {', '.join(map(str, SHEETS))}")
    return int(text)


def main(argv):
    """Write the worksheet of a lesson, one for each group; returns an exit code."""
    parser = argparse.ArgumentParser(
        prog="course.py worksheet", description="Numbers for a pencil: empty matrices, and the key on pages of its own."
    )
    have = ", ".join(map(str, SHEETS))
    parser.add_argument("lesson", type=lesson, metavar="lesson", help=f"one of {have}")
    parser.add_argument("--seed", help="the same seed gives the same numbers (default: drawn)")
    parser.add_argument("--groups", type=int, default=1, help="how many sheets, each with numbers of its own")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "worksheets", help="a folder")
    options = parser.parse_args(argv)
    if not 1 <= options.groups <= 99:
        parser.error(f"from 1 to 99 groups, not {options.groups}")
    seed = options.seed or secrets.token_hex(4)
    options.out.mkdir(parents=True, exist_ok=True)
    paths = []
    for group in range(1, options.groups + 1):
        own = seed if options.groups == 1 else f"{seed} {group}"
        paths.append(options.out / f"{options.lesson:02}-{mark_of(own)}.html")
        paths[-1].write_text(page(options.lesson, own), encoding="utf-8")
    as_pdf = print_as_pdf(paths)
    kinds = ".html and .pdf" if as_pdf else ".html; no browser was found to make .pdf of them"
    print(f"Seed {seed}. Written to {options.out}: {', '.join(path.stem for path in paths)}, as {kinds}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
