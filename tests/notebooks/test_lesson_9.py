"""What notebook 9 says of its circuit, of its data and of a small model."""

import ast

import nbformat
import pytest
import torch
import torch.nn.functional as F
from paths import NOTEBOOKS
from strategies import normal
from torch.testing import assert_close

from attn_lib import MultiHeadAttention, causal_mask, masked_softmax

SOURCES = {cell.id: cell.source for cell in nbformat.read(NOTEBOOKS / "09_two_heads.ipynb", as_version=4).cells}


# ------------------------------------------------------------------------------- the circuit is attention's own form


@pytest.fixture(scope="module")
def lesson():
    """What notebook 9 defines, up to the start of its small GPT."""
    before, threads, names = torch.get_default_dtype(), torch.get_num_threads(), {}
    try:
        for part in ("imports", "place", "filled-P", "layer-1", "all-puzzles", "film-code", "no-start",
                     "one-head-learns", "lists", "road-mended"):  # fmt: skip
            tree = ast.parse(SOURCES[part])
            tree.body = [one for one in tree.body if not ast.unparse(one).startswith(("blank(", "guess =", "predict("))]
            exec(compile(tree, part, "exec"), names)
        yield names
    finally:
        torch.set_default_dtype(before)
        torch.set_num_threads(threads)
        torch.set_printoptions(profile="default")


def as_layers(P, M, W):
    """Two `MultiHeadAttention` layers of one working head each that do what the three matrices say.

    A row has four parts side by side: its word, its place, the word that was fetched, and what is said. The heads'
    scores are divided by √head_dim, so the queries are multiplied by it.
    """
    n, size = len(P), len(M)
    head_dim = size  # at least as many as there are places
    parts = {"word": 0, "place": size, "fetched": 2 * size, "said": 3 * size}

    def layer(query, key, value, to):
        attention = MultiHeadAttention(4 * size, 4, bias=False).double()
        for parameter in attention.parameters():
            parameter.data.zero_()
        rows = slice(0, head_dim)  # of head 0; the other three say nothing
        for projection, (part, matrix) in (("q_proj", query), ("k_proj", key), ("v_proj", value)):
            columns = slice(parts[part], parts[part] + len(matrix))
            getattr(attention, projection).weight.data[rows, columns][: matrix.size(1)] = matrix.T
        part, matrix = to
        attention.out_proj.weight.data[parts[part] : parts[part] + size, rows] = matrix.T
        return attention

    unit, root = torch.eye(size).double(), head_dim**0.5
    first = layer(("place", P * root), ("place", torch.eye(n).double()), ("word", unit), ("fetched", unit))
    second = layer(("word", M * root), ("fetched", unit), ("word", unit), ("said", W))
    return first, second


@pytest.mark.parametrize("which", ["by hand", "learned"])
def test_the_three_matrices_are_two_layers_of_multi_head_attention(lesson, which):
    matrices = (lesson["P"], lesson["M"], lesson["W"]) if which == "by hand" else lesson["film"][100]
    x = lesson["puzzles"][::7]
    said, before, match = lesson["circuit"](x, *matrices)
    size = x.size(-1)
    row = torch.cat([x, F.pad(torch.eye(6).double(), (0, size - 6)).expand(len(x), 6, size), 0 * x, 0 * x], dim=-1)
    for layer, weights in zip(as_layers(*matrices), (before.expand(len(x), 6, 6), None), strict=True):
        output, maps = layer(row, row, row, is_causal=True)
        row = row + output
        if weights is not None:
            assert_close(maps[:, 0], weights)
    assert_close(maps[:, 0, -1], match)
    assert_close(row[:, -1, 3 * size :], said)


# ------------------------------------------------------------------------------------------ what the lesson says


def share(names, x, answers, matrices, model="circuit"):
    return names["share_right"](getattr(names["two_heads"], model), x, answers, matrices)


def test_by_hand_and_learned_give_the_same_answers_to_all_puzzles(lesson):
    for matrices in ((lesson["P"], lesson["M"], lesson["W"]), lesson["film"][100]):
        assert share(lesson, lesson["puzzles"], lesson["answers"], matrices) == 1


def test_no_puzzle_is_learned_and_tested_and_each_place_is_asked_alike(lesson):
    known, unseen = lesson["known"].tolist(), lesson["unseen"].tolist()
    assert sorted(known + unseen) == list(range(1080))
    for half in (known, unseen):
        assert [sum(i // 360 == j for i in half) for j in range(3)] == [180] * 3
    texts = [tuple(text) for text in lesson["puzzles"][:, 1:].argmax(dim=-1).tolist()]
    assert len(set(texts)) == 1080 and "our 1080 puzzles" in SOURCES["predict-road"]
    for text, answer in zip(texts, lesson["answers"].tolist(), strict=True):
        assert text[text.index(text[-1]) + 1] == answer and len(set(text[:-1])) == 4


def test_P_and_M_have_no_gradient_while_W_is_0(lesson):
    x, answers = lesson["puzzles"][lesson["known"]], lesson["answers"][lesson["known"]]
    P, M = (3 * normal(n, n, seed=n).requires_grad_() for n in (6, 7))  # whatever they are
    W = torch.zeros(7, 7, dtype=torch.float64, requires_grad=True)
    to_P, to_M, to_W = torch.autograd.grad(F.cross_entropy(lesson["circuit"](x, P, M, W)[0], answers), (P, M, W))
    assert to_P.count_nonzero() == to_M.count_nonzero() == 0 and to_W.count_nonzero() > 0
    moved = [[p.abs().max().item() for p in matrices] for matrices in lesson["film"]]
    assert moved[20][2] > 1 and max(moved[20][:2]) < 0.05  # W alone
    assert moved[60][0] < 0.5 and moved[60][1] < 0.5 and moved[85][0] > 2 and moved[85][1] > 2


def test_each_of_P_and_M_learns_faster_the_further_the_other_is(lesson):
    """Fetching is of use only if somebody looks for what was fetched, and the other way round."""
    x, answers = lesson["puzzles"][lesson["known"]], lesson["answers"][lesson["known"]]
    P, M, W = (10 * matrix / matrix.abs().max() for matrix in (lesson["P"], lesson["M"], lesson["W"]))

    def pulls(p, m):
        there = [(p * P).requires_grad_(), (m * M).requires_grad_()]
        loss = F.cross_entropy(lesson["circuit"](x, *there, W / 10)[0], answers)
        to_P, to_M = torch.autograd.grad(loss, there)
        return -(to_P * P).sum().item(), -(to_M * M).sum().item()  # how much each wants to go on in this direction

    of_P = [pulls(0.01, m)[0] for m in (0, 0.01, 0.02, 0.04)]
    of_M = [pulls(p, 0.01)[1] for p in (0, 0.01, 0.02, 0.04)]
    assert of_P[0] == pytest.approx(0, abs=1e-12) and of_P == sorted(of_P)
    assert of_M == sorted(of_M)


def test_below_a_sixth_it_says_the_word_that_asks(lesson):
    x, asks = lesson["puzzles"][lesson["unseen"]], lesson["puzzles"][lesson["unseen"], -1].argmax(dim=-1)
    said = lesson["circuit"](x, *lesson["film"][60])[0].argmax(dim=-1)
    assert (said == asks).double().mean() > 0.9
    right, losses = lesson["right"], lesson["losses"]
    assert max(right[1:61]) < 0.05 < 1 / 6 and min(right[85:]) == 1
    assert right[70] < 0.5  # it comes late, and all at once
    assert losses[30] - losses[60] < 0.05 and losses[100] < 0.1
    assert "between step 60 and step 85" in SOURCES["moment-answer"]


def test_the_last_place_rests_on_start_because_nobody_looks_for_it(lesson):
    P, M, _ = lesson["film"][100]
    before = masked_softmax(P, causal_mask(6))
    assert before[5].argmax() == 0 and 0.7 < before[5, 0] < 0.8
    assert before.diagonal(-1)[1:4].min() > 0.9 and "with a weight above 0.9" in SOURCES["predict-rest"]
    assert M[1:, 0].max() < M[1:, 1:].min()  # of all that may be fetched start is looked for least
    diagonal = M.diagonal()[1:]
    assert diagonal.min() > 3 and (M - torch.diag(M.diagonal()))[1:].max() < 0.5
    again = P.clone()
    again[5] = torch.tensor([0.0, 0, 0, 0, 0, 10])  # it fetches itself
    assert share(lesson, lesson["puzzles"], lesson["answers"], (again, *lesson["film"][100][1:])) < 1
    again[5] = torch.tensor([0.0, 0, 0, 0, 10, 0])  # it fetches the word before it: no harm
    assert share(lesson, lesson["puzzles"], lesson["answers"], (again, *lesson["film"][100][1:])) == 1


def test_without_start_more_training_does_not_help(lesson):
    known = lesson["known"]
    bare, _ = lesson["learn"](
        lesson["circuit"], lesson["puzzles"][known, 1:], lesson["answers"][known], (5, 7, 7), steps=200
    )
    ok = lesson["circuit"](lesson["puzzles"][:, 1:], *bare[-1])[0].argmax(dim=-1) == lesson["answers"]
    by_place = ok.view(3, 360).double().mean(dim=1)
    assert by_place[0] < 0.6 and by_place[1:].tolist() == [1, 1]
    match = lesson["circuit"](lesson["puzzles"][:360, 1:], *bare[-1])[2].mean(dim=0)
    assert_close(match[:2], torch.tensor([0.5, 0.5], dtype=torch.float64), atol=0.01, rtol=0)


def test_to_one_head_milk_has_the_same_score_whoever_stands_before_it(lesson):
    words = lesson["words"]
    texts = [["start", *text.split()] for text in ("tea milk cup jam tea", "jam milk tea cup tea")]
    x = F.one_hot(torch.tensor([[words.index(word) for word in text] for text in texts]), 7).double()
    both = torch.cat([x, torch.eye(6).double().expand(2, 6, 6)], dim=-1)
    scores = both @ normal(13, 13) @ both.mT
    assert scores[0, 5, 2] == scores[1, 5, 2]
    assert share(lesson, lesson["puzzles"][lesson["unseen"]], lesson["answers"][lesson["unseen"]],
                 lesson["alone"][-1], "one_head") < 0.45  # fmt: skip


def test_the_short_cut_is_a_place_and_the_data_are_to_blame(lesson):
    road, puzzles, answers = lesson["road"][-1], lesson["puzzles"], lesson["answers"]
    assert lesson["road_losses"][-1] < 0.02
    right = (lesson["circuit"](puzzles, *road)[0].argmax(dim=-1) == answers).view(3, 360)
    assert right.all(dim=1).tolist() == [False, True, False] and right[0].sum() == right[2].sum() == 0
    assert max(p.abs().max() for p in road[:2]) < 0.2 and road[3][-1].argmax() == 3
    P, M, W = lesson["P"], lesson["M"], lesson["W"]
    assert share(lesson, lesson["lists"], lesson["three"][:, 2], (P, M, W)) == 1  # the rule would do for these too
    assert f"gets all {len(lesson['lists'])} such lists right" in SOURCES["road-mended-text"]
    assert share(lesson, puzzles[lesson["unseen"]], answers[lesson["unseen"]], lesson["with_Q"][-1]) == 1
