"""Every exercise of the catalogue: right answers of any style pass, misconceptions are named, others not."""

import inspect
import itertools
import random
import re

import nbformat
import numpy as np
import pytest
import torch
from other_styles import MISCONCEPTIONS, NEAR_MISSES, OWN, RIGHT, learn_by_autograd, learn_by_optimizer
from paths import LESSONS
from torch import nn

import attn_lib
from attn_lib.linear import chunked_attention, linear_attention, pass_chunk
from workbench.exercises import api, check, hint, solution
from workbench.exercises.api import verdict_on
from workbench.exercises.engine import outcome, runner
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.function import Function
from workbench.exercises.lessons import n01_by_hand, n07_how_attention_learns, n09_two_heads

# what answers are warned of, a learner is not shown either
pytestmark = [pytest.mark.usefixtures("own_folder"), pytest.mark.filterwarnings("ignore")]

FUNCTIONS = [id for id, exercise in EXERCISES.items() if isinstance(exercise, Function)]


# -------------------------------------------------------------------------------------------- right answers, any style


@pytest.mark.parametrize(("id", "answer"), [pytest.param(i, a, id=f"{i}-{a.__name__}") for i, a in RIGHT])
def test_check_accepts_right_answers_of_other_styles(id, answer):
    verdict = verdict_on(id, answer)
    assert verdict.status == "correct", verdict


@pytest.mark.parametrize("kind", [list, tuple, torch.tensor, np.array, lambda x: [x], lambda x: [*map(np.float32, x)]])
def test_numbers_are_read_from_any_container(kind):
    assert check("1.1", kind([1.51, 3.31, 2.26])).status == "correct"


# ------------------------------------------------------------------------------------------ misconceptions have a name


def in_another_style(code):
    """The same with other types and another rounding, as another order of operations leaves it."""

    def other(result):
        if isinstance(result, tuple):
            return list(map(other, result))
        is_float = isinstance(result, torch.Tensor) and result.is_floating_point()
        return (result * (1 - 1e-6)).double() if is_float else result

    return lambda *args: other(code(*args))


@pytest.mark.parametrize("id", FUNCTIONS)
def test_check_names_every_misconception(id):
    """In each form in which it is known; one of them also as another order of operations leaves it."""
    known = [(one.id, form) for one in EXERCISES[id].misconceptions.values() for form in one.forms]
    for name, code in [*known, *((name, in_another_style(code)) for name, code in known[:1])]:
        verdict = verdict_on(id, code)
        assert (verdict.status, verdict.misconception) == ("wrong", name), (code, verdict)


@pytest.mark.parametrize(
    ("id", "misconception", "answer"),
    [pytest.param(i, n, a, id=f"{i}-{n}-{k}") for k, (i, n, a) in enumerate(MISCONCEPTIONS)],
)
def test_check_names_misconceptions_of_other_styles(id, misconception, answer):
    verdict = verdict_on(id, answer)
    assert (verdict.status, verdict.misconception) == ("wrong", misconception), verdict


@pytest.mark.parametrize("misconception", list(EXERCISES["1.1"].misconceptions))
def test_check_names_a_misconception_by_its_numbers(misconception):
    for code in EXERCISES["1.1"].misconceptions[misconception].forms:
        assert check("1.1", [round(x, 3) for x in code().tolist()]).misconception == misconception


@pytest.mark.parametrize(("id", "answer"), [pytest.param(i, a, id=f"{i}-{k}") for k, (i, a) in enumerate(NEAR_MISSES)])
def test_check_names_no_misconception_for_other_mistakes(id, answer):
    verdict = verdict_on(id, answer)
    assert (verdict.status, verdict.misconception) == ("wrong", None), verdict
    assert verdict.yours is not None or "shape" in verdict.message or verdict.came_to == "raised"


def test_telltale_calls_show_their_misconception():
    for exercise in map(EXERCISES.get, FUNCTIONS):
        for misconception in exercise.misconceptions.values():
            if misconception.telltale_call is not None:
                with runner.Worker() as worker:
                    right, wrong = (
                        exercise.outcome(code, exercise.trial(misconception.telltale_call), worker.run)
                        for code in (exercise.reference, misconception.forms[0])
                    )
                assert not outcome.right(wrong, right), (exercise.id, misconception.id)


def test_ties_within_rounding_resolve_to_first_position():
    def answer(n, words):
        return tuple(matrix + 1e-7 * torch.rand(matrix.shape) for matrix in wrong(n, words))

    wrong = EXERCISES["9.1"].misconceptions["nobody-found"].forms[0]
    assert verdict_on("9.1", answer).misconception == "nobody-found"


# ------------------------------------------------------------------------------------------- what answers are tried on


@pytest.mark.parametrize("id", FUNCTIONS)
def test_arguments_of_a_probe_differ_and_vary(id):
    for args in (*EXERCISES[id].probes, *EXERCISES[id].corner_cases):
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.numel() > 1]
        assert not any(torch.equal(*pair) for pair in itertools.combinations(tensors, 2))
        drawn = [tensor for tensor in tensors if tensor.is_floating_point() and (tensor < 0).any()]
        assert not any(tensor.std() < 0.1 for tensor in drawn)


EDGES = [  # calls that somebody gets wrong alone, and that must be among those that an answer is tried on
    ("2.1", "heads", lambda scores: scores.ndim == 4),
    ("2.1", "huge scores", lambda scores: bool((scores > 1e5).any())),
    ("2.1", "scores of -inf", lambda scores: bool(scores.isinf().any())),
    ("2.2", "no batch", lambda q, k, v: q.ndim == 2),
    ("3.1", "an empty sequence", lambda lengths, max_len: bool((lengths == 0).any())),
    ("3.2", "one query", lambda n, k: n == 1 < k),
    ("3.3", "a row with nothing left", lambda scores, mask: not mask.any(-1).all()),
    ("3.3", "a hidden score that drowns all others", lambda scores, mask: bool((scores - 100 > 0)[..., -1:].any())),
    ("4.3", "a causal mask", lambda *args: len(args) > 6 and args[6] is not None and args[6].ndim == 2),
    ("4.3", "padding", lambda *args: len(args) > 6 and args[6] is not None and args[6].ndim > 2),
    ("7.1", "heads", lambda weights, _: weights.ndim == 4),
    ("8.1", "a long text", lambda n, embed_dim: n == 40),
    ("10.1", "a batch", lambda q, k, v, keys, values: q.size(0) > 1),
    ("10.3", "a window wider than the text", lambda n, k, window: window > k),
    ("10.3", "one query", lambda n, k, window: n == 1 < k),
]


def off(result):
    """The result with every number wrong."""
    if isinstance(result, tuple):
        return tuple(map(off, result))
    if isinstance(result, torch.Tensor):
        return ~result if result.dtype == torch.bool else (-1 - 2 * result).nan_to_num(7)
    return -1 - 2 * result


@pytest.mark.parametrize(("id", "when"), [pytest.param(i, when, id=f"{i} {name}") for i, name, when in EDGES])
def test_an_answer_wrong_in_an_edge_case_is_wrong(id, when):
    assert check(id, lambda *args: off(OWN[id](*args)) if when(*args) else OWN[id](*args)).status == "wrong"


@pytest.mark.parametrize(
    ("id", "shape"),
    [
        ("1.2", (5, 4)),
        ("3.3", (4, 6)),
        ("4.3", (2, 4, 6)),
        ("4.3", (2, 5, 6)),
    ],
)
def test_check_rejects_a_broken_invariant(id, shape):
    def answer(first, *rest):
        result = OWN[id](first, *rest)
        if tuple(first.shape) != shape:
            return result
        return result + first.sum() * torch.arange(shape[-2])[:, None]

    verdict = check(id, answer)
    assert verdict.status == "wrong" and any(what in verdict.message for what, _ in EXERCISES[id].invariants)


@pytest.mark.parametrize(
    "rows, keys, complaint",
    [(99, 99, "the whole matrix"), (8, 99, "a whole row"), (1, 99, "a whole row"), (99, 5, "more than")],
)
def test_12_3_notices_whoever_holds_more_than_a_tile(rows, keys, complaint):
    verdict = check("12.3", lambda q, k, v, _rows, _keys, causal: OWN["12.3"](q, k, v, rows, keys, causal))
    assert verdict.status == "wrong" and f"stores {complaint}" in verdict.message


def leaks(into, out_of, first=0):
    """4.3 in which one token is reached by another that is masked."""

    def answer(x, *rest):
        output = OWN["4.3"](x, *rest).clone()
        if tuple(x.shape) == (2, 4, 6) and rest[-1] is not None and rest[-1].ndim == (3 if first else 2):
            output[0, into] += x[0, out_of]
        return output

    return answer


@pytest.mark.parametrize("answer", [leaks(into=2, out_of=3), leaks(into=0, out_of=3), leaks(into=1, out_of=2, first=2)])
def test_check_notices_a_single_token_that_leaks(answer):
    assert check("4.3", answer).status == "wrong"


@pytest.mark.parametrize("id", ["2.1", "2.2", "3.3", "4.3", "8.2", "10.1", "10.2"])
def test_check_notices_that_no_gradient_flows(id):
    def answer(*args):
        with torch.no_grad():
            return EXERCISES[id].reference(*args)

    assert check(id, answer).came_to == "detached"


def test_grading_draws_calls_that_nobody_has_seen():
    detectors = {id for id in FUNCTIONS if EXERCISES[id].asks.startswith("my_detects(")}
    for id in {*FUNCTIONS} - detectors:
        first, second = (EXERCISES[id].random_probes(random.Random(seed)) for seed in (1, 2))
        alike = f"{id}: random_probes draws the same for two seeds; several calls, or more of each, are not alike"
        assert first and (repr(first) != repr(second) or id == "5.2"), alike  # modules look alike


def test_an_answer_by_chance_is_judged_alike():
    def by_chance(n_queries, n_keys):
        return torch.rand(n_queries, n_keys) < 0.5

    torch.manual_seed(1)
    first = check("3.2", by_chance)
    torch.manual_seed(2)
    assert str(check("3.2", by_chance)) == str(first)


# ---------------------------------------------------------------------------------------------- answers that misbehave


def test_check_says_unattempted_and_keeps_nothing(own_folder):
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
    assert check("6.1", lambda attention: None).status == "unattempted"
    assert {check(id).status for id in EXERCISES} == {"unattempted"}
    assert list(own_folder.iterdir()) == []


@pytest.mark.parametrize(("answer", "steps"), [(learn_by_optimizer, 1), (learn_by_autograd, 0)])
def test_first_step_of_an_optimizer_is_not_timed(answer, steps, monkeypatch):
    taken = []
    monkeypatch.setattr(n07_how_attention_learns, "_first_step", lambda: taken.append(answer))
    monkeypatch.setattr(runner, "LIMIT_S", 0)  # no call of an answer is begun
    assert check("7.3", answer).came_to == "late"
    assert len(taken) == steps


def by_grad(query, key, value, grad_output):
    inputs = [tensor.detach().requires_grad_() for tensor in (query, key, value)]
    return torch.autograd.grad(attention_of(*inputs), inputs, grad_output)


def attention_of(query, key, value):
    return attn_lib.scaled_dot_product_attention(query, key, value)[0]


def by_vjp(query, key, value, grad_output):
    return torch.func.vjp(attention_of, query, key, value)[1](grad_output)


def by_jvp(weights, grad_weights):
    """Forwards: softmax's table of derivatives is symmetric."""
    dead, scores = weights.sum(-1, keepdim=True) == 0, weights.clamp(min=1e-30).log()
    return torch.func.jvp(lambda x: x.softmax(-1), (scores,), (grad_weights,))[1].masked_fill(dead, 0.0)


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
        ("7.1", by_jvp, "grad"),
        ("7.1", lambda w, g: torch._softmax_backward_data(g, w, -1, w.dtype), "_softmax_backward_data"),
    ],
)
def test_check_rejects_gradients_by_autograd(id, answer, used):
    assert f"`{used}`" in verdict_on(id, answer).message


@pytest.mark.parametrize("id", FUNCTIONS)
def test_check_rejects_a_call_of_the_course_answer(id):
    assert verdict_on(id, lambda *args: EXERCISES[id].reference(*args)).status == "wrong"


def test_check_rejects_the_course_answer_itself():
    assert check("3.2", EXERCISES["3.2"].reference).status == "wrong"


def test_check_rejects_what_the_library_has_for_a_whole_chunk():
    for by in (pass_chunk, linear_attention):

        def written(S, key, value, keep, rate, by=by):
            return by(key[None], key[None], value[None], keep[None], rate[None], S)[1]

        assert check("14.1", written).status == "wrong"
    for by in (linear_attention, chunked_attention, pass_chunk):
        assert check("14.2", lambda q, k, v, keep, S, by=by: by(q, k, v, keep, None, S)).status == "wrong"


def test_a_whole_number_may_be_a_float():
    assert check("14.3", lambda heads, stored, head_dim: heads * head_dim / stored + 1).status == "correct"


def test_check_rejects_a_call_of_the_lesson_function():
    notebook = {"torch": torch, "__name__": "__main__"}
    lesson = "def padding_mask(n, m):\n    return (torch.arange(m) < n[:, None])[:, None]"
    exec(compile(lesson, "<lesson>", "exec"), notebook)
    exec(compile("def answer(n, m):\n    return padding_mask(n, m)", "<exercise>", "exec"), notebook)
    assert "`padding_mask`" in verdict_on("3.1", notebook["answer"]).message
    exec(compile(lesson.replace("m):", "m):  # a helper"), "<exercise>", "exec"), notebook)
    assert verdict_on("3.1", notebook["answer"]).status == "correct"


@pytest.mark.parametrize("id", ["7.4", "8.4", "9.4"])
def test_a_learners_test_may_return_any_kind_of_bool(id):
    for kind in (bool, int, np.bool_, torch.tensor, lambda said: np.array([said])):
        assert verdict_on(id, lambda *args, kind=kind: kind(bool(OWN[id](*args)))).status == "correct"
    for kind in (str, lambda said: [said], lambda said: torch.tensor([said, said]), lambda said: 2 * said):
        verdict = verdict_on(id, lambda *args, kind=kind: kind(bool(OWN[id](*args))))
        assert verdict.came_to == "unreadable", verdict


@pytest.mark.parametrize("task", [*n09_two_heads.HONEST, *n09_two_heads.EASY], ids=lambda task: task.__name__)
def test_training_data_ask_for_a_token_shown_before(task):
    tokens, answers = task(2000)
    copies = tokens[:, :-1] == tokens[:, -1:]
    assert (copies.sum(dim=1) == 1).all()
    behind = copies.int().argmax(dim=1)[:, None] + 1
    assert torch.equal(tokens.gather(1, behind)[:, 0], answers)


def test_5_2_notices_that_the_source_module_is_changed():
    def moves(ours, theirs):
        EXERCISES["5.2"].reference(ours, theirs)
        theirs.out_proj.bias = None if theirs.out_proj.bias is None else nn.Parameter(theirs.out_proj.bias + 1)

    assert "theirs" in check("5.2", moves).message


def test_an_unknown_exercise_is_named_beside_those_there_are():
    for call, id in itertools.product((check, hint, solution), ("9.9", None, [])):
        with pytest.raises(KeyError, match=r"^there is no exercise .*1\.1, 1\.2.*6\.9, 6\.10"):  # in no quotes
            call(id)
        with pytest.raises(KeyError, match=r"^write the number .*in quotes"):  # 3.2 is among those there are
            call(3.2)


# ----------------------------------------------------------------------------------------------- what the learner sees


def _first_hint(id):
    api._hints_shown.pop(id, None)
    return hint(id)


def test_exercises_are_complete():
    """Three hints, no name or sentence is empty, and what is a sentence ends as one."""
    for id, exercise in EXERCISES.items():
        known = exercise.misconceptions.values()
        names = [exercise.title, exercise.asks, *getattr(exercise, "returns", ()), *(one.name for one in known)]
        names += [what for what, _ in getattr(exercise, "invariants", ())]
        assert all(re.search(r"\w{2}", words) for words in names), f"{id}: one of {names} is empty"
        assert len(exercise.hints) == 3, f"{id} has {len(exercise.hints)} hints"
        sentences = [*exercise.hints, *(one.why for one in known)]
        no_sentences = [words for words in sentences if words.count(" ") < 2 or words[-1] not in ".?!:`…)”"]
        assert not no_sentences, f"{id}: not a sentence"
        assert exercise.asks.lower().startswith("my") == (id in FUNCTIONS), f"{id} asks for {exercise.asks}"


def test_each_exercise_is_asked_in_its_notebook():
    cells = [(path.stem[:2], cell) for path in LESSONS for cell in nbformat.read(path, as_version=4).cells]
    asked = {(lesson, cell.metadata["exercise"]) for lesson, cell in cells if "exercise" in cell.metadata}
    known = {(f"{int(id.partition('.')[0]):02}", id) for id in EXERCISES}
    assert asked == known, f"without cells in their notebook, or without code: {sorted(asked ^ known)}"


def test_hints_come_one_by_one():
    assert str(_first_hint("3.2")).count("Hint ") == 1
    assert [str(hint("3.2")).count("Hint ") for _ in range(2)] == [2, 3]


def test_who_asks_after_the_last_hint_gets_the_solution():
    third = [_first_hint("3.2"), hint("3.2"), hint("3.2")][-1]
    assert str(solution("3.2")) not in str(third)
    assert str(solution("3.2")) in str(hint("3.2"))
    assert solution("3.2")._repr_html_() in hint("3.2")._repr_html_()  # and it stays


@pytest.mark.parametrize("id", FUNCTIONS)
def test_the_solution_put_below_an_exercise_is_right(id):
    exercise, cell = EXERCISES[id], {}
    for code in exercise.shows or (exercise.reference,):
        cell |= vars(inspect.getmodule(code))  # what a notebook would import
    exec(str(solution(id)), cell)
    assert verdict_on(id, cell[exercise.asks.partition("(")[0]]).status == "correct"


def test_the_solution_of_numbers_gives_them():
    assert torch.allclose(n01_by_hand.second_output(n01_by_hand.OTHER_X), EXERCISES["1.1"].reference().float())


def test_solution_is_source_without_checks_or_docstring():
    for id in EXERCISES:
        shown = solution(id)
        assert "def " in str(shown) and "check_" not in str(shown) and '"""' not in str(shown), id
        assert "<details><summary>" in shown._repr_html_(), id
