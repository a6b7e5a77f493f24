"""check names the mistake: right answers of any style pass, known mistakes are called by name, unknown ones are not."""

import itertools
import json
import math
import random
import re
import sys
import threading
import time

import numpy as np
import pytest
import torch
from filelock import FileLock
from other_styles import MISTAKES, NEAR_MISSES, RIGHT, learn_by_autograd, learn_by_optimizer
from torch import nn

import attn_lib
from attn_lib.examples import OTHER_X, W_k, W_q, W_v, X, self_attention_steps
from workbench import progress as progress_file
from workbench.exercises import api, check, hint, progress, solution
from workbench.exercises.api import verdict_on
from workbench.exercises.engine import outcome, runner
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.function import Function, Trial
from workbench.exercises.engine.verdict import Verdict
from workbench.exercises.lessons import n07_learning, n08_position, n09_two_heads

pytestmark = pytest.mark.usefixtures("own_folder")

FUNCTIONS = [id for id, exercise in EXERCISES.items() if isinstance(exercise, Function)]
MISTAKE_CODES = [
    pytest.param(id, known.id, code, id=f"{id}-{known.id}-{i}")
    for id in FUNCTIONS
    for known in EXERCISES[id].misconceptions.values()
    for i, code in enumerate(known.forms)
]


# ------------------------------------------------------------------------------------------ right answers, any style


@pytest.mark.parametrize("id", FUNCTIONS)
def test_the_librarys_own_answer_is_correct(id):
    assert verdict_on(id, EXERCISES[id].answer).status == "correct"


@pytest.mark.parametrize(("id", "answer"), [pytest.param(i, a, id=f"{i}-{a.__name__}") for i, a in RIGHT])
def test_a_right_answer_of_another_style_is_correct(id, answer):
    verdict = verdict_on(id, answer)
    assert verdict.status == "correct", verdict


@pytest.mark.parametrize(
    "answer",
    [[1.5105, 3.3094, 2.2658], (1.51, 3.31, 2.27), torch.tensor([1.51, 3.31, 2.26]), [[1.505, 3.3, 2.27]]],
    ids=["list", "tuple", "tensor", "nested"],
)
def test_three_numbers_may_come_as_they_like(answer):
    assert check("1.1", answer).status == "correct"


# -------------------------------------------------------------------------------------------- mistakes have a name


@pytest.mark.parametrize(("id", "name", "code"), MISTAKE_CODES)
def test_every_mistake_of_the_catalogue_is_named(id, name, code):
    verdict = verdict_on(id, code)
    assert (verdict.status, verdict.misconception) == ("wrong", name), verdict


@pytest.mark.parametrize(
    ("id", "name", "answer"), [pytest.param(i, n, a, id=f"{i}-{n}-{k}") for k, (i, n, a) in enumerate(MISTAKES)]
)
def test_a_mistake_written_in_another_style_is_named(id, name, answer):
    verdict = verdict_on(id, answer)
    assert (verdict.status, verdict.misconception) == ("wrong", name), verdict


@pytest.mark.parametrize("known", list(EXERCISES["1.1"].misconceptions))
def test_numbers_that_come_from_a_known_mistake_are_named(known):
    for code in EXERCISES["1.1"].misconceptions[known].forms:
        assert check("1.1", [round(x, 3) for x in code().tolist()]).misconception == known


def test_each_wrong_way_to_1_1_is_known_by_its_numbers():
    x, other = OTHER_X.double(), X.double()
    queries, keys, values = (x @ w.double() for w in (W_q, W_k, W_v))
    scores = queries @ keys.T
    shares = (scores - scores.amax(dim=1, keepdim=True)).exp()
    weights = shares / shares.sum(dim=1, keepdim=True)
    shares = scores.exp()
    sentence = self_attention_steps(*(matrix.double() for matrix in (other, W_q, W_k, W_v)), scale=1).outputs
    wrong = {
        "scaled": [(scores[1] / math.sqrt(3)).softmax(0) @ values],
        "other-sentence": list(sentence),
        "raw-scores": [scores[1] @ values],
        "wrong-axis": [(shares / shares.sum(dim=0))[1] @ values],
        "keys-for-values": [weights[1] @ keys],
        "weights": [weights[1]],
        "uniform": [(values[0] + values[1] + values[2]) / 3],
        "linear": [scores[1] / scores[1].sum() @ values],
        "scores-alone": [[3, 2, 4]],
        "exchanged": [torch.softmax(keys[1] @ queries.T, 0) @ values],
        "one-token-alone": [values[weights[1].argmax()], weights[1].round() @ values],
    }
    for name, answers in wrong.items():
        assert [check("1.1", answer).misconception for answer in answers] == [name] * len(answers)


@pytest.mark.parametrize("id", list(EXERCISES))
def test_every_mistake_says_why_it_tempts_and_what_to_read(id):
    for known in EXERCISES[id].misconceptions.values():
        assert known.name and known.why and "notebook" in known.reread


@pytest.mark.parametrize(("id", "answer"), [pytest.param(i, a, id=f"{i}-{k}") for k, (i, a) in enumerate(NEAR_MISSES)])
def test_a_mistake_that_is_not_in_the_catalogue_is_wrong_and_gets_no_name(id, answer):
    verdict = verdict_on(id, answer)
    assert (verdict.status, verdict.misconception) == ("wrong", None), verdict
    assert verdict.yours is not None or "shape" in verdict.message or "raises" in verdict.message


def test_the_smallest_failing_call_is_shown_with_both_matrices():
    def answer(n_queries, n_keys):
        mask = attn_lib.causal_mask(n_queries, n_keys)
        mask[-1, -2:] = False
        return mask

    verdict = check("3.2", answer)
    assert "n_queries=3, n_keys=3" in verdict.message
    assert verdict.expected[-1].tolist() == [True, True, True]
    assert verdict.yours[-1].tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("id", "shape", "said"),
    [
        ("1.2", (5, 4), "change places"),
        ("3.3", (4, 6), "masked still moves"),
        ("4.3", (2, 4, 6), "future token moves the past"),
        ("4.3", (2, 5, 6), "change places"),
    ],
)
def test_numbers_right_on_every_probe_do_not_excuse_a_broken_invariant(id, shape, said):
    def answer(first, *rest):
        result = EXERCISES[id].reference(first, *rest)
        if tuple(first.shape) != shape:
            return result
        return result + first.sum() * torch.arange(shape[-2])[:, None]

    verdict = check(id, answer)
    assert verdict.status == "wrong" and said in verdict.message, verdict


def sizes(*args):
    return [tuple(arg.shape) for arg in args if isinstance(arg, torch.Tensor)]


# Kinds of calls, each of which somebody gets wrong alone: what must be among those that an answer is tried on.
ALONE = [
    ("1.2", "one token", lambda x, *_: x.size(0) == 1),
    ("1.2", "the lesson's own sentence", lambda x, *_: torch.equal(x, X)),
    ("1.2", "outputs as wide as inputs", lambda x, w_q, w_k, w_v: x.size(1) == w_v.size(1) != w_q.size(1)),
    ("1.2", "all sizes equal", lambda *args: len({n for shape in sizes(*args) for n in shape}) == 1),
    ("2.1", "one row alone", lambda scores: scores.ndim == 1),
    ("2.1", "one key", lambda scores: scores.size(-1) == 1),
    ("2.1", "a square", lambda scores: scores.ndim == 2 and scores.size(0) == scores.size(1)),
    ("2.1", "a batch", lambda scores: scores.ndim == 3),
    ("2.1", "heads", lambda scores: scores.ndim == 4),
    ("2.1", "huge scores", lambda scores: scores[scores.isfinite()].abs().max() > 1e5),
    ("2.1", "scores far above what exp bears", lambda scores: bool((scores > 1e5).any())),
    ("2.1", "rows far below another", lambda scores: bool((scores.amax(-1) == -500).any())),
    ("2.1", "scores of -inf", lambda scores: bool(scores.isinf().any())),
    ("2.2", "as many queries as keys", lambda q, k, v: q.size(-2) == k.size(-2)),
    ("2.2", "one key", lambda q, k, v: k.size(-2) == 1),
    ("2.2", "no batch", lambda q, k, v: q.ndim == 2),
    ("2.2", "heads", lambda q, k, v: q.ndim == 4),
    ("3.1", "an empty sequence", lambda lengths, max_len: bool((lengths == 0).any())),
    ("3.1", "no padding", lambda lengths, max_len: bool((lengths == max_len).all()) and max_len > 1),
    ("3.1", "one place", lambda lengths, max_len: max_len == 1),
    ("3.2", "a larger square", lambda n, k: n == k > 3),
    ("3.2", "many keys of the past", lambda n, k: k > n + 2 > 3),
    ("3.2", "one query", lambda n, k: n == 1 < k),
    ("3.2", "more queries than keys", lambda n, k: n > k),
    ("3.3", "heads", lambda scores, mask: scores.ndim == 4),
    ("3.3", "a mask for the whole batch", lambda scores, mask: mask.ndim < scores.ndim),
    ("3.3", "one key", lambda scores, mask: scores.size(-1) == 1),
    ("3.3", "nothing masked", lambda scores, mask: bool(mask.all())),
    ("3.3", "a row with nothing left", lambda scores, mask: scores.ndim == 2 and not mask.any(-1).all()),
    ("3.3", "a sentence with nothing left", lambda scores, mask: scores.ndim == 3 and not mask.any(-1).all()),
    ("3.3", "scores far below what is filled in", lambda scores, mask: bool(scores.min() < -1e6)),
    ("3.3", "a hidden score that drowns all others", lambda scores, mask: bool((scores - 100 > 0)[..., -1:].any())),
    ("3.3", "a mask of its own for each sentence", lambda scores, mask: mask.shape == scores.shape == (2, 3, 4)),
    ("4.1", "five heads", lambda x, heads: heads == 5),
    ("4.1", "one head", lambda x, heads: heads == 1),
    ("4.1", "features that cannot be shared out", lambda x, heads: x.size(2) % heads != 0),
    ("4.1", "one token", lambda x, heads: x.size(1) == 1),
    ("4.2", "as many heads as tokens", lambda x: x.size(1) == x.size(2)),
    ("4.2", "one head", lambda x: x.size(1) == 1),
    ("4.2", "one token", lambda x: x.size(2) == 1),
    ("4.3", "one head", lambda *args: args[5] == 1),
    ("4.3", "a causal mask", lambda *args: len(args) > 6 and args[6] is not None and args[6].ndim == 2),
    ("4.3", "one sequence that is padded",
     lambda *args: len(args) > 6 and args[6] is not None and args[6].ndim > 2 and args[0].size(0) == 1),
    ("4.3", "an empty sequence",
     lambda *args: len(args) > 6 and args[6] is not None and not args[6].any(-1).all()),
    ("4.3", "several sentences that are padded",
     lambda *args: getattr(args[-1], "ndim", 0) == 3 and len({*args[-1].sum(-1).flatten().tolist()}) > 2),
    ("5.2", "no biases", lambda ours, theirs: theirs.in_proj_bias is None),
    ("5.2", "keys of another width", lambda ours, theirs: theirs.kdim != theirs.embed_dim),
    ("5.2", "values of another width", lambda ours, theirs: theirs.vdim not in (theirs.embed_dim, theirs.kdim)),
    ("5.1", "a larger batch", lambda lengths, max_len: len(lengths) > 3),
    ("5.1", "an empty sequence", lambda lengths, max_len: bool((torch.as_tensor(lengths) == 0).any())),
    ("5.1", "no padding", lambda lengths, max_len: bool((torch.as_tensor(lengths) == max_len).all())),
    ("7.1", "masked keys", lambda weights, _: bool((weights == 0).any()) and bool(weights.any(-1).all())),
    ("7.1", "a row without keys", lambda weights, _: not weights.any(-1).all()),
    ("7.1", "a batch", lambda weights, _: weights.ndim == 3),
    ("7.1", "heads", lambda weights, _: weights.ndim == 4),
    ("7.2", "one query", lambda q, k, v, _: q.size(-2) == 1),
    ("7.2", "one key", lambda q, k, v, _: k.size(-2) == 1),
    ("7.2", "heads", lambda q, k, v, _: q.ndim == 4),
    ("7.3", "no step", lambda *args: args[4] == 0),
    ("7.3", "everybody wishes another", lambda x, w_q, w_k, wish, *_: wish.any(-1).all() and wish.trace() == 0),
    ("7.3", "nobody has a wish", lambda x, w_q, w_k, wish, *_: not wish.any()),
    ("7.3", "one has a wish", lambda x, w_q, w_k, wish, steps, _: wish.sum() == 1 and steps > 1),
    ("7.3", "more tokens", lambda x, *_: x.size(0) == 5),
    ("8.1", "a long text", lambda n, embed_dim: n == 40),
    ("8.1", "one token", lambda n, embed_dim: n == 1),
    ("8.1", "more features than tokens", lambda n, embed_dim: embed_dim == 10),
    ("8.2", "one token", lambda x, start=0: x.size(2) == 1),
    ("8.2", "two features", lambda x, start=0: x.size(3) == 2),
    ("8.2", "many features", lambda x, start=0: x.size(3) > 8),
    ("8.3", "twelve heads", lambda heads, n, k: heads == 12),
    ("8.3", "two heads and one token", lambda heads, n, k: n == 1 and heads == 2 and k == 1),
    ("9.1", "a longer text", lambda n, words: n > 6),
    ("9.2", "three heads", lambda weights, tokens: weights.size(1) == 3),
    ("9.2", "nothing that comes again", lambda _, tokens: all(len({*row}) == len(row) for row in tokens.tolist())),
    ("9.2", "one list", lambda _, tokens: len(tokens) == 1),
    ("9.2", "a token five times", lambda _, tokens: any(len({*row}) == 1 for row in tokens.tolist())),
    ("9.2", "two copies of one token side by side", lambda _, tokens: bool((tokens[:, 1:] == tokens[:, :-1]).any())),
    ("9.3", "the third head", lambda attention, head, x: head == 2),
    ("10.1", "nothing kept", lambda q, k, v, keys, values: keys.size(2) == 0),
    ("10.1", "a batch", lambda q, k, v, keys, values: q.size(0) > 1),
    ("10.2", "groups of four", lambda x, groups: groups == 4),
    ("10.2", "one head kept", lambda x, groups: x.size(1) == 1 < groups),
    ("10.3", "a window of one", lambda n, k, window: window == 1 < n),
    ("10.3", "a window wider than the text", lambda n, k, window: window > k),
    ("10.3", "one query", lambda n, k, window: n == 1 < k),
    ("10.4", "a real model", lambda layers, *_: layers == 32),
]  # fmt: skip


@pytest.mark.parametrize("id", FUNCTIONS)
def test_no_two_arguments_of_a_probe_are_alike_and_none_hardly_varies(id):
    for args in (*EXERCISES[id].probes, *EXERCISES[id].corner_cases):
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.numel() > 1]
        assert not any(torch.equal(*pair) for pair in itertools.combinations(tensors, 2))
        drawn = [tensor for tensor in tensors if tensor.is_floating_point() and (tensor < 0).any()]
        assert not any(tensor.std() < 0.1 for tensor in drawn)


def off(result):
    """The result with every number wrong."""
    if isinstance(result, tuple):
        return tuple(map(off, result))
    if isinstance(result, torch.Tensor):
        return ~result if result.dtype == torch.bool else (-1 - 2 * result).nan_to_num(7)
    return -1 - 2 * result


@pytest.mark.parametrize(("id", "when"), [pytest.param(i, when, id=f"{i} {name}") for i, name, when in ALONE])
def test_an_answer_that_is_wrong_in_one_kind_of_call_only_is_wrong(id, when):
    reference = EXERCISES[id].reference

    def answer(*args):
        if not when(*args):
            return reference(*args)
        try:
            return off(reference(*args))
        except ValueError:
            return torch.zeros(1)

    assert check(id, answer).status == "wrong"


def leaks(into, out_of, first=0):
    """4.3 in which one token hears of another whom it may not hear."""

    def answer(x, *rest):
        output = EXERCISES["4.3"].reference(x, *rest).clone()
        if tuple(x.shape) == (2, 4, 6) and rest[-1] is not None and rest[-1].ndim == (3 if first else 2):
            output[0, into] += x[0, out_of]
        return output

    return answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (leaks(into=2, out_of=3), "a future token moves the past, although the mask is causal"),
        (leaks(into=0, out_of=3), "a future token moves the past, although the mask is causal"),
        (leaks(into=1, out_of=2, first=2), "padding moves the outputs of real tokens"),
        (leaks(into=0, out_of=3, first=2), "padding moves the outputs of real tokens"),
    ],
)
def test_whoever_hears_a_single_token_too_many_is_told(answer, said):
    verdict = check("4.3", answer)
    assert verdict.status == "wrong" and f"but {said}." in verdict.message


def test_a_hidden_score_that_moves_the_weights_a_little_is_told():
    def answer(scores, mask):
        weights = EXERCISES["3.3"].reference(scores, mask)
        return weights + 1e-3 * scores.masked_fill(mask, 0.0).sum() if scores.shape == (4, 6) else weights

    assert "a score that is masked still moves the weights" in check("3.3", answer).message


@pytest.mark.parametrize("id", [id for id in FUNCTIONS if EXERCISES[id].invariants])
def test_what_has_to_hold_need_not_hold_to_the_last_digit(id):
    def rounded(result):
        if isinstance(result, tuple | list):
            return tuple(map(rounded, result))
        return result + 1e-6 * torch.rand(result.shape)

    assert check(id, lambda *args: rounded(dict(RIGHT)[id](*args))).status == "correct"


@pytest.mark.parametrize("id", ["2.1", "2.2", "3.3", "4.3", "8.2", "10.1", "10.2"])
def test_an_answer_through_which_no_gradient_flows_is_wrong(id):
    def answer(*args):
        with torch.no_grad():
            return EXERCISES[id].reference(*args)

    assert "no gradient flows back" in check(id, answer).message


def test_in_grading_a_function_is_called_with_what_its_learner_has_not_seen():
    detectors = {id for id in FUNCTIONS if EXERCISES[id].asks.startswith("my_detects(")}
    for id in {*FUNCTIONS} - detectors:
        first, second = (EXERCISES[id].drawn(random.Random(seed)) for seed in (1, 2))
        assert first and (repr(first) != repr(second) or id == "5.2"), id  # modules look alike


def test_keys_and_values_must_be_free_to_change_places_together():
    def first_key_is_special(q, k, v):
        output, weights = EXERCISES["2.2"].reference(q, k, v)
        return output + (k[0, 0, 0] if q.shape == (2, 3, 4) else 0), weights

    assert "change places together" in check("2.2", first_key_is_special).message


def test_a_broken_invariant_is_a_clue_to_a_mistake_that_has_no_name():
    def looks_ahead(x, *rest):
        return EXERCISES["4.3"].reference(x, *rest) + x.mean(dim=1, keepdim=True)

    verdict = check("4.3", looks_ahead)
    assert verdict.misconception is None and "A clue: a future token moves the past" in verdict.message


# ------------------------------------------------------------------------------------------ answers that misbehave


def test_unattempted_is_said_and_nothing_is_run_or_written(own_folder):
    def stub(n_queries, n_keys): ...

    def documented(n_queries, n_keys):
        """A mask."""
        pass

    def refusing(n_queries, n_keys):
        raise NotImplementedError

    for answer in (..., None, stub, documented, refusing, lambda n, k: None, lambda n, k: ...):
        assert check("3.2", answer).status == "unattempted"
    for answer in (..., None, [..., 2, 3]):
        assert check("1.1", answer).status == "unattempted"
    assert check("3.2", stub).message.endswith(
        "Write `my_causal_mask(n_queries, n_keys)`; running both cells checks it."
    )
    assert check("6.1", lambda attention: None).status == "unattempted"
    assert list(own_folder.iterdir()) == []


def forgets_return(n_queries, n_keys):
    torch.ones(n_queries, n_keys).tril()


def raises(n_queries, n_keys):
    raise ZeroDivisionError("no")


def leaves(n_queries, n_keys):
    sys.exit(3)


def returns_list(n_queries, n_keys):
    return attn_lib.causal_mask(n_queries, n_keys).tolist()


def wrong_shape(n_queries, n_keys):
    return attn_lib.causal_mask(n_queries, n_keys)[None]


def recurses(n_queries, n_keys):
    return recurses(n_queries, n_keys)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (forgets_return, "`return` missing"),
        (raises, "raises `ZeroDivisionError: no`"),
        (leaves, "raises `SystemExit: 3`"),
        (returns_list, "a list of"),
        (wrong_shape, "has shape (1, 3, 3)"),
        (recurses, "RecursionError"),
        (lambda: 1, "raises `TypeError"),
        (42, "must be a function"),
        (torch.ones(3, 3), "must be a function"),
    ],
)
def test_what_an_answer_did_is_said(answer, said):
    verdict = check("3.2", answer)
    assert verdict.status == "wrong"
    assert said in verdict.message


def endless(n_queries, n_keys):
    while True:
        pass


@pytest.mark.parametrize(("answer", "steps"), [(learn_by_optimizer, 1), (learn_by_autograd, 0)])
def test_the_first_step_of_an_optimizer_which_imports_for_seconds_is_not_the_answers_time(answer, steps, monkeypatch):
    taken = []
    monkeypatch.setattr(n07_learning, "_first_step", lambda: taken.append(answer))
    monkeypatch.setattr(runner, "LIMIT_S", 0)  # no call of an answer is begun
    assert "had not come back" in check("7.3", answer).message
    assert len(taken) == steps


@pytest.mark.parametrize("named", ["SGD", "Adam", "AdamW", "optim"])
def test_an_optimizer_is_known_by_each_of_its_names(named, monkeypatch):
    taken, names = [], {}
    monkeypatch.setattr(n07_learning, "_first_step", lambda: taken.append(named))
    exec(f"def answer():\n    return {named}\ndef plain():\n    return steps", names)
    EXERCISES["7.3"].prepare(names["plain"])
    EXERCISES["7.3"].prepare(len)
    assert taken == []
    EXERCISES["7.3"].prepare(names["answer"])
    assert taken == [named]


def by_grad(query, key, value, grad_output):
    inputs = [tensor.detach().requires_grad_() for tensor in (query, key, value)]
    return torch.autograd.grad(attention_of(*inputs), inputs, grad_output)


def attention_of(query, key, value):
    return attn_lib.scaled_dot_product_attention(query, key, value)[0]


def by_vjp(query, key, value, grad_output):
    return torch.func.vjp(attention_of, query, key, value)[1](grad_output)


def by_backward(query, key, value, grad_output):
    inputs = [tensor.detach().requires_grad_() for tensor in (query, key, value)]
    attention_of(*inputs).backward(grad_output)
    return tuple(tensor.grad for tensor in inputs)


@pytest.mark.parametrize(
    ("id", "answer", "used"),
    [
        ("7.2", by_grad, "grad"),
        ("7.2", by_vjp, "grad"),
        ("7.2", by_backward, "backward"),
        ("7.1", lambda w, g: torch._softmax_backward_data(g, w, -1, w.dtype), "_softmax_backward_data"),
    ],
)
def test_a_way_back_that_torch_goes_is_not_ones_own(id, answer, used):
    assert f"torch's own `{used}` that does the work" in verdict_on(id, answer).message


@pytest.mark.parametrize("id", FUNCTIONS)
def test_whoever_calls_the_courses_own_answer_is_told(id):
    assert "the course's own" in verdict_on(id, lambda *args: EXERCISES[id].reference(*args)).message


def test_a_function_of_another_cell_with_the_name_asked_for_is_the_courses_own():
    notebook = {"torch": torch, "__name__": "__main__"}
    lesson = "def padding_mask(n, m):\n    return (torch.arange(m) < n[:, None])[:, None]"
    exec(compile(lesson, "<lesson>", "exec"), notebook)
    exec(compile("def answer(n, m):\n    return padding_mask(n, m)", "<exercise>", "exec"), notebook)
    assert "the course's own `padding_mask`" in verdict_on("3.1", notebook["answer"]).message
    exec(compile(lesson.replace("m):", "m):  # a helper"), "<exercise>", "exec"), notebook)
    assert verdict_on("3.1", notebook["answer"]).status == "correct"


def test_a_test_says_true_or_false_in_whatever_type_and_a_patient_has_its_name():
    detects = dict(RIGHT)["7.4"]
    assert verdict_on("7.4", lambda backward: np.bool_(detects(backward))).status == "correct"
    assert verdict_on("7.4", lambda backward: torch.tensor(detects(backward))).status == "correct"
    assert "where True or False is asked for" in verdict_on("7.4", lambda backward: torch.ones(2)).message
    assert "my_detects(backward=one without the scale)" in verdict_on("7.4", lambda backward: False).message


def test_a_result_of_another_shape_is_told_its_shape_also_where_any_order_is_right():
    assert "shape (4,)" in verdict_on("8.1", lambda n, embed_dim: torch.zeros(embed_dim)).message
    small = verdict_on("9.1", lambda n, words: (torch.eye(n), torch.eye(2), torch.eye(2))).message
    assert "M has shape (2, 2), it needs (7, 7)" in small


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("8.4", "it returns nothing: True or False is asked for"),
        ("9.4", "it returns nothing: True or False is asked for"),
        ("10.4", "it returns nothing: a number of bytes is asked for"),
        ("9.1", "three tensors are asked for: P, M and W"),
        ("7.4", "my_detects returns None, where True or False is asked for"),
    ],
)
def test_an_answer_that_returns_nothing_is_told_what_is_asked_for(id, said):
    assert said in verdict_on(id, lambda *args: [][:0] or None).message


def test_three_tensors_are_three_and_tensors():
    P, M, W = EXERCISES["9.1"].reference(5, 3)
    for result in ((P, M), (P, M, W, W), (P, M, 3), P):
        assert "three tensors are asked for" in verdict_on("9.1", lambda n, words, result=result: result).message


@pytest.mark.parametrize("known", ["wrong-way", "nobody-found", "said-backwards"])
def test_of_places_that_are_heard_alike_but_for_a_trace_the_first_counts(known):
    def answer(n, words):
        return tuple(matrix + 1e-7 * torch.rand(matrix.shape) for matrix in mistake(n, words))

    mistake = EXERCISES["9.1"].misconceptions[known].forms[0]
    assert verdict_on("9.1", answer).misconception == known


def test_who_is_right_and_who_is_wrong_among_those_that_a_test_is_tried_on():
    wrong = {
        id: [exercise.shown(code) for (code,) in exercise.probes if exercise.reference(code)]
        for id, exercise in EXERCISES.items()
        if id in ("7.4", "8.4", "9.4")
    }
    assert wrong == {
        "7.4": list(n07_learning.ILL),
        "8.4": [
            "“a row for each sentence”",
            "“the position's number, to every feature”",
            "“beyond the table its last row”",
            "“beyond the table its first rows again”",
            "“each token gets its neighbour's row”",
            "“the last rows of the table”",
        ],
        "9.4": [
            "“three words again and again, as in a b c a b”",
            "“six words of ten, and always the first one is asked”",
            "“three guests, each with the same last name in every list, one of them asked”",
            "“six letters of the alphabet from anywhere on, one of them asked”",
            "“one and the same list every time”",
        ],
    }


def test_those_who_add_positions_do_it_as_they_say():
    x, table = torch.zeros(2, 3, 4), torch.arange(20.0).view(5, 4)
    rows = {
        n08_position.slices: [0, 1, 2], n08_position.looks_up: [0, 1, 2], n08_position.loops: [0, 1, 2],
        n08_position.stops_at_the_last_row: [0, 1, 2], n08_position.begins_again: [0, 1, 2],
        n08_position.one_row_late: [1, 2, 3], n08_position.last_rows: [2, 3, 4],
    }  # fmt: skip
    for code, places in rows.items():
        assert torch.equal(code(x, table), table[places].expand(2, 3, 4))
    assert torch.equal(n08_position.along_the_batch(x, table), table[:2, None].expand(2, 3, 4))
    assert torch.equal(n08_position.one_number(x, table)[1, :, 3], torch.arange(3.0))
    longer = torch.zeros(1, 7, 4)
    assert torch.equal(n08_position.stops_at_the_last_row(longer, table)[0], table[[0, 1, 2, 3, 4, 4, 4]])
    assert torch.equal(n08_position.begins_again(longer, table)[0], table[[0, 1, 2, 3, 4, 0, 1]])
    for code in rows.keys() - {n08_position.stops_at_the_last_row, n08_position.begins_again} | {
        n08_position.one_number
    }:
        with pytest.raises((IndexError, RuntimeError)):
            code(longer, table)


ILL_IN = {  # which of the gradients of query, key and value each patient of 7.4 has wrong
    "one without the scale": [True, True, False],
    "one that scales the query's gradient only": [False, True, False],
    "one that scales the key's gradient only": [True, False, False],
    "one that skips softmax": [True, True, False],
    "one that keeps the row's mean": [True, True, False],
    "one that takes the mean of half a row": [True, True, False],
    "one with the values' gradient too small": [False, False, True],
}


def test_each_way_back_is_ill_where_its_name_says():
    inputs = [
        torch.randn(size, generator=torch.Generator().manual_seed(1)) for size in ((3, 4), (5, 4), (5, 2), (3, 2))
    ]
    truth = by_grad(*inputs)
    for name, code in (n07_learning.HEALTHY | n07_learning.ILL).items():
        wrong = [not torch.allclose(*pair, atol=1e-5) for pair in zip(code(*inputs), truth, strict=True)]
        assert wrong == ILL_IN.get(name, [False] * 3), name
    exact = [all(map(torch.equal, code(*inputs), truth)) for code in n07_learning.HEALTHY.values()]
    assert exact.count(True) < 2  # they round in several places


TASKS = {  # words shown before one is asked, how many there are, and how many may be asked
    "puzzles": (6, 10, 5), "few_words": (4, 5, 3), "new_names": (6, 16, 3), "repeats": (4, 10, 1),
    "always_the_first": (6, 10, 1), "old_names": (6, 16, 3), "alphabet": (6, 25, 5),
}  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
def test_training_data_are_as_they_are_described(name):
    tokens, answers = getattr(n09_two_heads, name)(4000)
    shown, words, places = TASKS[name]
    assert tokens.shape == (4000, shown + 1) and len(tokens.unique()) == words
    copies = tokens[:, :-1] == tokens[:, -1:]
    at = copies.int().argmax(dim=1)
    assert (copies.sum(dim=1) == 1).all() and len(at.unique()) == places
    assert name != "always_the_first" or not at.any()
    assert torch.equal(tokens.gather(1, at[:, None] + 1)[:, 0], answers)
    assert n09_two_heads.detects(getattr(n09_two_heads, name)) == (getattr(n09_two_heads, name) in n09_two_heads.EASY)
    with pytest.raises(ValueError, match="batch=10001 is more than 10000 lists"):
        getattr(n09_two_heads, name)(10_001)


@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_where_a_mistake_shows_best_it_shows():
    for exercise in map(EXERCISES.get, FUNCTIONS):
        for known in exercise.misconceptions.values():
            if known.telltale_call is not None:
                with runner.Worker() as worker:
                    right, wrong = (
                        exercise.outcome(code, Trial(known.telltale_call, 0), worker.run)
                        for code in (exercise.reference, known.forms[0])
                    )
                assert not outcome.right(wrong, right), (exercise.id, known.id)


def stubborn(n_queries, n_keys):
    while True:
        try:
            while True:
                pass
        except Exception:
            continue


def sleeping(n_queries, n_keys):
    time.sleep(3)  # in C, where no exception reaches it
    return attn_lib.causal_mask(n_queries, n_keys)


@pytest.mark.parametrize("answer", [endless, stubborn, sleeping])
def test_an_endless_answer_is_stopped_and_the_notebook_goes_on(answer, monkeypatch):
    with monkeypatch.context() as hurried:
        hurried.setattr(runner, "LIMIT_S", 0.05)
        verdict = check("3.2", answer)
    assert verdict.status == "wrong"
    assert "had not come back" in verdict.message
    assert check("3.2", attn_lib.causal_mask).status == "correct"


def test_changing_an_argument_is_said():
    def overwrites(scores, mask):
        scores[~mask.expand_as(scores)] = -math.inf
        return torch.softmax(scores, dim=-1).nan_to_num(0.0)

    verdict = check("3.3", overwrites)
    assert (verdict.status, verdict.misconception) == ("wrong", None)
    assert "changes its argument `scores`" in verdict.message


def test_the_module_from_which_weights_are_carried_over_stays_as_it_is():
    def moves(ours, theirs):
        EXERCISES["5.2"].reference(ours, theirs)
        theirs.out_proj.bias = None if theirs.out_proj.bias is None else nn.Parameter(theirs.out_proj.bias + 1)

    assert "theirs differs" in check("5.2", moves).message


def test_a_gradient_that_is_cut_off_is_said():
    def cut(scores):
        return torch.tensor(torch.softmax(scores.detach(), dim=-1).tolist())

    assert "no gradient flows back" in check("2.1", cut).message


def test_printing_is_said_and_not_shown(capsys):
    def chatty(n_queries, n_keys):
        print("scores.shape:", n_queries)
        return dict(RIGHT)["3.2"](n_queries, n_keys)

    verdict = check("3.2", chatty)
    assert verdict.status == "correct"
    assert "It prints" in verdict.message
    assert capsys.readouterr().out == ""


def test_check_leaves_the_notebooks_random_numbers_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    check("4.3", lambda *args: torch.rand(2))
    torch.testing.assert_close(torch.rand(3), expected)


def test_an_answer_by_chance_is_judged_alike_whatever_the_seed():
    def by_chance(n_queries, n_keys):
        return torch.rand(n_queries, n_keys) < 0.5

    torch.manual_seed(1)
    first = check("3.2", by_chance)
    torch.manual_seed(2)
    assert str(check("3.2", by_chance)) == str(first)


@pytest.mark.parametrize("call", [check, hint, solution])
@pytest.mark.parametrize("id", ["9.9", 3.2, None, []])
def test_an_exercise_that_does_not_exist_is_named_beside_those_that_do(call, id):
    with pytest.raises(KeyError, match=r"no exercise .*1\.1, 1\.2.*6\.9, 6\.10") as raised:
        call(id)
    assert str(raised.value).startswith("there is no exercise")  # in no quotes, as a KeyError has them


def test_1_1_says_what_it_could_not_read():
    assert "could not be read" in check("1.1", "2, 7.96, 0.05").message
    assert "this is 2 numbers" in check("1.1", [2, 8]).message
    assert check("1.1", [math.nan] * 3).status == "wrong"
    assert check("1.1", [9.0, 9.0, 9.0]).misconception is None


# --------------------------------------------------------------------------------------------- what the learner sees


def test_outputs_that_notebooks_keep_are_the_same_in_every_process(imported_afresh):
    from workbench.exercises import check as another_check
    from workbench.exercises import hint as another_hint

    assert another_check is not check
    for id in ("1.1", "6.15"):
        for shown, again in ((check(id, None), another_check(id, None)), (_first_hint(id), another_hint(id))):
            assert (str(shown), shown._repr_html_()) == (str(again), again._repr_html_())


def _first_hint(id):
    api._hints_shown.pop(id, None)
    return hint(id)


def test_everything_that_is_told_of_an_exercise_is_said():
    """No hint, name or sentence is empty, and what is a sentence ends as one."""
    for exercise in EXERCISES.values():
        mistakes = list(exercise.misconceptions.values())
        sentences = [*exercise.hints, *(known.why for known in mistakes)]
        names = [exercise.title, exercise.section, exercise.asks, *getattr(exercise, "returns", ())]
        names += [words for known in mistakes for words in (known.name, known.reread)]
        names += [what for what, _ in getattr(exercise, "invariants", ())]
        assert all(re.search(r"\w{2}", words) for words in names), exercise.id
        unsaid = [words for words in sentences if words.count(" ") < 2 or words[-1] not in ".?!:`…)”"]
        assert not unsaid, f"{exercise.id}: {unsaid}"


def test_hints_come_one_by_one(monkeypatch):
    first = _first_hint("3.2")
    assert str(first).startswith("Hint 1 of 3") and "Hint 2" not in str(first)
    assert "Hint 2 of 3" in str(hint("3.2"))
    hint("3.2")
    assert str(hint("3.2")).count("Hint ") == 3
    assert 'solution("3.2")' in str(hint("3.2"))
    monkeypatch.setattr(EXERCISES["3.2"], "hints", ["One.", "Two."])
    assert str(_first_hint("3.2")).startswith("Hint 1 of 2")


@pytest.mark.parametrize("id", list(EXERCISES))
def test_solution_is_the_librarys_source_folded_and_without_checks(id):
    shown = solution(id)
    assert "def " in str(shown) and "check_" not in str(shown) and '"""' not in str(shown)
    assert "<details><summary>" in shown._repr_html_()


def test_solution_of_a_library_function_is_that_function():
    assert ".tril(n_keys - n_queries)" in str(solution("3.2"))
    assert "dead = ~mask.any(dim=-1, keepdim=True)  # rows with nothing" in str(solution("3.3"))


def test_a_verdict_reads_the_same_in_text_and_in_html():
    verdict = check("3.2", lambda n_queries, n_keys: torch.ones(n_queries, n_keys).tril().bool())
    page = verdict._repr_html_()
    assert "The mask starts at the wrong corner" in str(verdict) and "The mask starts at the wrong corner" in page
    assert page.count("<table") == 2 and page.count("<caption") == 2
    assert "≠" in page  # colour is never the only cue
    assert "0x" not in str(verdict) + page
    assert "<script>" not in check("3.2", lambda n, k: "<script>")._repr_html_()


# ---------------------------------------------------------------------------------------------------------- progress


def test_progress_keeps_what_was_done():
    check("3.2", lambda n, k: torch.ones(n, k))
    assert progress_file.load() == {"3.2": "tried"}
    check("3.2", attn_lib.causal_mask)
    check("3.2", lambda n, k: torch.ones(n, k))
    assert progress_file.load() == {"3.2": "done"}
    of_this_notebook = [id for id in EXERCISES if id.startswith("3.")]
    lines = str(progress()).splitlines()
    assert (
        lines[0] == f"1 of {len(of_this_notebook)} exercises done; there are more in notebooks that you have not begun"
    )
    assert [line.split()[0] for line in lines[1:]] == of_this_notebook
    assert "✓ done" in progress()._repr_html_()
    check("3.3", lambda scores, mask: scores)
    assert progress_file.load() == {"3.2": "done", "3.3": "tried"}  # one does not push out the other


def test_before_the_first_check_progress_says_nothing_that_a_new_notebook_would_change(monkeypatch):
    fresh = str(progress())
    assert "No exercise attempted yet" in fresh and not any(digit in fresh for digit in "0123456789")
    monkeypatch.setitem(EXERCISES, "99.1", EXERCISES["3.2"])
    assert str(progress()) == fresh


def test_two_notebooks_at_once_lose_nothing(own_folder):
    halves = list(EXERCISES)[::2], list(EXERCISES)[1::2]
    ready = threading.Barrier(len(halves))  # two threads stand for two kernels: each opens the file and its lock anew
    notebooks = [threading.Thread(target=_store_all, args=(own_folder, half, ready.wait)) for half in halves]
    for notebook in notebooks:
        notebook.start()
    for notebook in notebooks:
        notebook.join()
    assert progress_file.load(own_folder) == dict.fromkeys(list(EXERCISES), "done")


def _store_all(folder, ids, wait=lambda: None):
    wait()
    for id in ids:
        assert progress_file.store(Verdict(id, "correct"), folder)


def test_a_notebook_waits_while_another_one_writes_and_loses_nothing_of_it(own_folder):
    def tries():
        progress_file.store(Verdict("2.1", "wrong"), own_folder)
        progress_file.store(Verdict("1.1", "correct"), own_folder)

    with FileLock(str(own_folder / progress_file.NAME) + ".lock"):
        other = threading.Thread(target=tries)
        other.start()
        other.join(0.3)
        progress_file._replace(own_folder / progress_file.NAME, '{"2.1": "done"}')
    other.join()
    assert progress_file.load(own_folder) == {"1.1": "done", "2.1": "done"}


def test_no_more_is_promised_where_every_notebook_was_begun():
    for id in EXERCISES:
        progress_file.store(Verdict(id, "wrong"))
    assert str(progress()).startswith(f"0 of {len(EXERCISES)} exercises done\n")


def test_progress_is_kept_where_a_variable_says(own_folder, monkeypatch):
    (own_folder / "else").mkdir()
    monkeypatch.setenv("ATTENTION_PROGRESS", str(own_folder / "else"))
    check("3.2", attn_lib.causal_mask)
    assert progress_file.load(own_folder / "else") == {"3.2": "done"} and progress_file.load(own_folder) == {}


def test_a_disk_that_is_full_costs_nothing_of_what_was_kept(own_folder, monkeypatch):
    def half(path, text, **options):
        path.write_bytes(text[:5].encode())
        raise OSError("no space left")

    assert progress_file.store(Verdict("1.1", "correct"))
    monkeypatch.setattr("pathlib.Path.write_text", half)
    assert not progress_file.store(Verdict("2.1", "correct"))
    assert progress_file.load() == {"1.1": "done"}


@pytest.mark.parametrize("times", [3, 1000])
def test_a_file_that_another_program_holds_is_waited_for_but_not_for_ever(own_folder, monkeypatch, times):
    replace, held = progress_file.os.replace, iter(range(times))

    def refusing(*paths):
        if next(held, None) is not None:
            raise PermissionError("in use")
        replace(*paths)

    monkeypatch.setattr(progress_file.os, "replace", refusing)
    monkeypatch.setattr(progress_file.time, "sleep", lambda seconds: None)
    stored = progress_file.store(Verdict("1.1", "correct"))
    assert stored == (times == 3) == (progress_file.load() == {"1.1": "done"})
    assert not [path for path in own_folder.iterdir() if not path.name.endswith((".json", ".lock"))]


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"3.2": 7, "x": "done"}', '{"3.2": []}', '{"3.2": "7 of 0"}'])
def test_a_damaged_progress_file_costs_nothing_but_itself(own_folder, content):
    (own_folder / progress_file.NAME).write_text(content)
    progress()
    check("3.2", attn_lib.causal_mask)
    assert progress_file.load()["3.2"] == "done"


def test_a_folder_that_cannot_be_written_to_is_said_and_nothing_else_happens(monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError("read-only")

    progress_file.store(Verdict("3.3", "correct"))
    monkeypatch.setattr(progress_file, "_replace", refuse)
    verdict = check("3.2", attn_lib.causal_mask)
    assert verdict.status == "correct" and "could not be saved" in verdict.message
    for answer in (lambda scores, mask: scores, EXERCISES["3.3"].reference):  # nothing to be added
        assert "could not be saved" not in check("3.3", answer).message


def test_a_class_is_told_what_was_attempted_and_the_learner_reads_that_it_is(own_folder, monkeypatch):
    (own_folder / "class").mkdir()
    monkeypatch.setenv("ATTENTION_LIVE", str(own_folder / "class"))
    monkeypatch.setenv("ATTENTION_NAME", "../王小明 <b>")
    before = time.time()
    assert "teacher" not in check("3.2", ...).message
    assert "Your teacher sees this result" in check("3.2", lambda n, k: torch.ones(n, k).tril().bool()).message
    (file,) = (own_folder / "class").iterdir()
    assert file.name == ".._王小明__b_.jsonl"
    (line,) = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert before - 1 < line.pop("time") < time.time() + 1
    assert line == {"exercise": "3.2", "status": "wrong", "misconception": "top-left"}
    assert progress_file.load() == {"3.2": "tried"}
    check("3.2", attn_lib.causal_mask)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["status"] for line in lines] == ["wrong", "correct"]


def test_a_class_is_told_under_the_name_of_the_user_where_there_is_no_other(own_folder, monkeypatch):
    monkeypatch.setenv("ATTENTION_LIVE", str(own_folder))
    monkeypatch.delenv("ATTENTION_NAME", raising=False)
    monkeypatch.setattr("getpass.getuser", lambda: "anna")
    check("3.2", attn_lib.causal_mask)
    assert (own_folder / "anna.jsonl").is_file()


def test_where_a_class_cannot_be_told_check_says_nothing_of_it(own_folder, monkeypatch):
    monkeypatch.setenv("ATTENTION_LIVE", str(own_folder / "nowhere"))
    verdict = check("3.2", attn_lib.causal_mask)
    assert verdict.status == "correct" and "teacher" not in verdict.message


def test_import_attn_lib_leaves_the_exercises_out(imported_afresh):
    import attn_lib

    assert attn_lib.causal_mask and not any(name.startswith("workbench.exercises") for name in sys.modules)


def test_a_wrong_answer_without_a_name_is_shown_the_operation_at_which_it_parts():
    def attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / 7.5
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights

    verdict = check("2.2", attention)
    assert (verdict.status, verdict.misconception) == ("wrong", None)
    assert "First difference" in verdict.message and "/ 7.5" in verdict.message
