"""How `check` judges: how often it calls an answer, what it survives, what it leaves behind, what it names."""

import contextlib
import importlib
import itertools
import math
import signal
import sys
import threading
import time
import warnings

import nbformat
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from other_styles import OWN
from paths import LESSONS
from small_exercise import small
from torch import nn
from wordings import KEPT, wordings

import attn_lib
from workbench.exercises import check
from workbench.exercises.api import verdict_on
from workbench.exercises.engine import runner
from workbench.exercises.engine.exercise import EXERCISES, MisconceptionAsCode
from workbench.exercises.engine.function import Function
from workbench.exercises.engine.module import Module
from workbench.exercises.engine.outcome import close
from workbench.exercises.engine.sections import section_in_words

pytestmark = pytest.mark.usefixtures("own_folder")

FUNCTIONS = [id for id, exercise in EXERCISES.items() if isinstance(exercise, Function)]


def test_check_says_what_stands_in_wordings_txt():
    assert wordings() == KEPT.read_text(encoding="utf-8"), "look at it, and run tests/workbench/exercises/wordings.py"


# ------------------------------------------------------------------------------------------------- what it may change


def test_what_may_change_is_no_fault():
    def negates(x, y):
        return y.neg_()

    def exercise(**settings):
        return small(lambda x, y: -y, probes=[(torch.ones(2), torch.ones(2))], **settings)

    assert exercise(may_change=(1,)).judge(negates).status == "correct"
    assert exercise(may_change=(0,)).judge(negates).status == "wrong"


@pytest.mark.parametrize("id", ["3.1", "5.2", "10.5"])
def test_no_probe_is_changed_by_what_answers_do(id):
    exercise = EXERCISES[id]
    before = [str(args) for args in exercise.probes]

    def vandal(*args):
        for arg in args:
            if isinstance(arg, torch.Tensor):
                arg.zero_()
        return torch.zeros(2)

    check(id, vandal)
    assert [str(args) for args in exercise.probes] == before


# --------------------------------------------------------------------------------------------- whatever was set before


@contextlib.contextmanager
def double_by_default():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("id", FUNCTIONS)
def test_a_right_answer_is_right_whatever_the_notebook_has_set(id):
    EXERCISES[id]._known.clear()  # as in a new session
    with double_by_default(), torch.no_grad(), torch.device("meta"):
        assert verdict_on(id, EXERCISES[id].answer).status == "correct"


def test_a_right_answer_is_right_in_inference_mode_and_after_it():
    EXERCISES["4.3"]._known.clear()
    with torch.inference_mode():
        assert check("4.3", OWN["4.3"]).status == "correct"
    assert check("4.3", OWN["4.3"]).status == "correct"


def test_what_the_notebook_has_set_is_as_it_was():
    def meddles(n_queries, n_keys):
        torch.set_default_dtype(torch.float16)
        torch.manual_seed(3)
        torch.set_grad_enabled(False)
        return OWN["3.2"](n_queries, n_keys)

    with double_by_default():
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        assert check("3.2", meddles).status == "correct"
        assert torch.get_default_dtype() == torch.float64 and torch.is_grad_enabled()
        torch.testing.assert_close(torch.rand(3), expected)


def test_exercises_do_not_depend_on_default_device_and_dtype(imported_afresh):
    importlib.import_module("attn_lib.examples")  # as in a notebook's first cell
    with torch.device("meta"), double_by_default():
        from workbench.exercises.engine.exercise import EXERCISES as made

        assert made is not EXERCISES and torch.ones(1).is_meta
    probes = [args for id in FUNCTIONS for args in (*made[id].probes, *made[id].corner_cases)]
    assert {arg.device.type for args in probes for arg in args if isinstance(arg, torch.Tensor)} == {"cpu"}
    assert str(made["3.3"].probes) == str(EXERCISES["3.3"].probes), "nor on the default dtype"


# --------------------------------------------------------------------------------------------------------- odd answers


class WithoutDetach(torch.Tensor):
    def detach(self):
        raise ValueError("no")


class Agreeable(torch.Tensor):
    """Says yes to every question."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.allclose, torch.equal, torch.isclose):
            return True
        return super().__torch_function__(func, types, args, kwargs or {})


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError("this error has no words")


def raising(error):
    def answer(*args):
        raise error

    return answer


def recurses(n_queries, n_keys):
    return recurses(n_queries, n_keys)


def fake(n_queries, n_keys):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(n_queries, n_keys)


def masked(n_queries, n_keys):
    return torch.masked.masked_tensor(torch.ones(n_queries, n_keys), attn_lib.causal_mask(n_queries, n_keys))


def nested(n_queries, n_keys):
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


ODD = {  # answers to 3.2 → what they come to, or the misconception that they show
    "masked": (masked, "unreadable"),
    "nested": (nested, "unreadable"),
    "fake": (fake, "unreadable"),
    "quantised": (lambda n, k: torch.quantize_per_tensor(torch.ones(n, k), 0.1, 0, torch.quint8), "unreadable"),
    "uint16": (lambda n, k: attn_lib.causal_mask(n, k).to(torch.uint16), "numbers"),
    "agreeable": (lambda n, k: (~attn_lib.causal_mask(n, k)).as_subclass(Agreeable), "polarity"),
    "speechless": (raising(Speechless()), "raised"),
    "interrupt": (raising(KeyboardInterrupt()), "raised"),
    "recursion": (recurses, "raised"),
    "no arguments": (lambda: 1, "raised"),
    "forgotten return": (lambda n, k: [].sort(), "none"),
    "no function": (torch.ones(3, 3), ""),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer_gets_a_verdict_that_can_be_shown(name, monkeypatch):
    monkeypatch.setattr(runner, "LIMIT_S", 600)  # torch imports a good deal of itself for some of them
    answer, found = ODD[name]
    verdict = check("3.2", answer)
    assert verdict.status == "wrong" and found == (verdict.misconception or verdict.came_to)
    assert str(verdict) and "<div" in verdict._repr_html_()


def on_tensors(change):
    """What a result becomes if each tensor in it is changed."""

    def changed(result):
        if isinstance(result, tuple | list):
            return type(result)(map(changed, result))
        return change(result) if isinstance(result, torch.Tensor) else result

    return changed


WRAPPINGS = {
    "a list": lambda result: list(result) if isinstance(result, tuple) else [result],
    "a tuple": lambda result: (result,),
    "a dict": lambda result: {"result": result},
    "text": str,
    "a number": lambda result: 7,
    "a set": lambda result: {1, 2},
    "an array": on_tensors(lambda tensor: tensor.detach().numpy()),
    "lists": on_tensors(lambda tensor: tensor.tolist()),
    "half precision": on_tensors(lambda tensor: tensor.half() if tensor.is_floating_point() else tensor),
    "complex": on_tensors(lambda tensor: tensor.to(torch.complex64)),
    "sparse": on_tensors(lambda tensor: tensor.to_sparse()),
    "meta": on_tensors(lambda tensor: tensor.to("meta")),
    "no axis": on_tensors(lambda tensor: tensor.sum()),
    "an axis more": on_tensors(lambda tensor: tensor[None]),
    "turned round": on_tensors(lambda tensor: tensor.transpose(0, -1) if tensor.ndim else tensor),
    "nothing in it": on_tensors(lambda tensor: tensor[..., :0] if tensor.ndim else tensor),
    "one thing more": lambda result: (*result, result) if isinstance(result, tuple) else (result, result),
    "one thing less": lambda result: result[:-1] if isinstance(result, tuple) else (),
    "the first alone": lambda result: result[0] if isinstance(result, tuple) else result,
    "a pair in a pair": lambda result: (result, (result, result)),
    "None": lambda result: None,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("id", ["2.2", "5.2", "7.4", "12.1"])  # one for each form that is right
def test_check_has_a_verdict_on_a_result_of_any_form(id):
    for name, wrapped in WRAPPINGS.items():

        def answer(*args, wrapped=wrapped):
            return wrapped(EXERCISES[id].reference(*args))

        verdict = check(id, answer)
        assert "could not be judged" not in verdict.message and verdict._repr_html_(), name
        assert "raises" not in verdict.message or verdict.came_to in ("raised", "value"), (name, verdict)


@pytest.mark.parametrize("name", ["a subclass", "an inference tensor", "a parameter"])
def test_a_right_result_of_an_odd_type_is_right(name):
    kinds = {
        "a subclass": lambda mask: mask.as_subclass(WithoutDetach),
        "an inference tensor": torch.inference_mode()(lambda mask: mask & True),
        "a parameter": lambda mask: nn.Parameter(mask, requires_grad=False),
    }
    assert check("3.2", lambda n, k: kinds[name](OWN["3.2"](n, k))).status == "correct"


def itself():
    numbers = [1.0, 2.0]
    numbers.append(numbers)
    return numbers


@pytest.mark.parametrize(
    "answer",
    [
        *([10**400, 1, 2], itself(), [1j, 2, 3], {}, object()),
        *(torch.ones(3, device="meta"), "abc", [[1, 2], [3]], [math.nan] * 3),
    ],
    ids=["too large", "holds itself", "complex", "dict", "object", "meta", "words", "ragged", "nan"],
)
def test_what_is_no_list_of_numbers_is_wrong(answer):
    verdict = check("1.1", answer)
    assert verdict.status == "wrong" and verdict._repr_html_()


def test_three_checks_at_once_are_right():
    before = sys.stdout, sys.stderr
    verdicts = []

    def answer(*args):
        print("busy")
        return OWN["4.3"](*args)

    notebooks = [threading.Thread(target=lambda: verdicts.append(check("4.3", answer))) for _ in range(3)]
    for notebook in notebooks:
        notebook.start()
    for notebook in notebooks:
        notebook.join()
    assert [verdict.status for verdict in verdicts] == ["correct"] * 3
    assert all(verdict.message.count("busy") == 1 for verdict in verdicts)
    assert (sys.stdout, sys.stderr) == before


# ---------------------------------------------------------------------------------------------------------------- time


def endless(n_queries, n_keys):
    while True:
        pass


def excusing_everything(n_queries, n_keys):
    with contextlib.suppress(BaseException):
        endless(n_queries, n_keys)


def excusing_exceptions_for_ever(n_queries, n_keys):
    while True:
        with contextlib.suppress(Exception):
            endless(n_queries, n_keys)


def sleeping(n_queries, n_keys):
    time.sleep(0.5)  # in C, where no exception reaches it


def threads_of_checks():
    return [thread for thread in threading.enumerate() if isinstance(thread, runner._Thread)]


@pytest.mark.parametrize("answer", [endless, excusing_everything, excusing_exceptions_for_ever, sleeping])
def test_an_endless_answer_is_stopped_and_the_notebook_goes_on(answer, monkeypatch):
    with monkeypatch.context() as hurried:
        hurried.setattr(runner, "LIMIT_S", 0.05)
        assert check("3.2", answer).came_to == "late"
    assert check("3.2", OWN["3.2"]).status == "correct"
    for thread in threads_of_checks():
        thread.join(10)
    assert not threads_of_checks()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="Windows has no signal to a thread")
def test_the_stop_button_stops_a_check():
    check("3.2", OWN["3.2"])  # what the library's own answer comes to is kept
    began, before, handler = threading.Event(), sys.stdout, signal.signal(signal.SIGINT, signal.default_int_handler)

    def answer(n_queries, n_keys):
        began.set()
        endless(n_queries, n_keys)

    def press():
        began.wait(30)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    button = threading.Thread(target=press)
    try:
        button.start()
        with pytest.raises(KeyboardInterrupt):
            check("3.2", answer)
    finally:
        button.join()
        signal.signal(signal.SIGINT, handler)
    assert sys.stdout is before and check("3.2", OWN["3.2"]).status == "correct"


def test_all_calls_of_a_check_share_one_limit(monkeypatch):
    now, calls = [0.0], []
    monkeypatch.setattr(runner.time, "monotonic", lambda: now[0])

    def slow(n_queries, n_keys):
        calls.append((n_queries, n_keys))
        now[0] += 0.4 * runner.LIMIT_S
        return attn_lib.causal_mask(n_queries, n_keys)

    assert check("3.2", slow).came_to == "late"
    assert len(calls) == 3


def test_the_librarys_own_time_is_not_the_learners(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(runner.time, "monotonic", lambda: now[0])

    def reference(x):
        now[0] += 100.0
        return x * 2

    assert small(reference).judge(lambda x: x + x).status == "correct"


# -------------------------------------------------------------------------------------------- right, and only just not


SHAPES = st.sampled_from([(2, 2), (3, 5), (2, 3, 4)])


@given(seed=st.integers(0, 1000), shape=SHAPES, off=st.floats(3e-4, 1), right=st.floats(0, 5e-5))
def test_numbers_count_as_right_within_rounding_and_no_further(seed, shape, off, right):
    expected = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).sign() * 3
    assert close(expected * (1 + right), expected) and close(expected.double(), expected)
    assert not close(expected * (1 + off), expected) and not close(expected * (1 - off), expected)
    one_off = expected.clone()
    one_off.view(-1)[seed % expected.numel()] += 3 * off
    assert not close(one_off, expected)


@given(off=st.floats(2e-5, 1))
def test_what_is_to_be_0_may_be_off_by_next_to_nothing(off):
    assert close(torch.full((2,), 5e-6), torch.zeros(2))
    assert not close(torch.full((2,), off), torch.zeros(2))


def test_nan_is_right_only_where_nan_is_expected():
    nan = torch.tensor([float("nan"), 1.0])
    assert close(nan, nan.clone()) and not close(torch.ones(2), nan) and not close(nan, torch.ones(2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_a_right_answer_of_another_precision_is_right(dtype):
    assert small(torch.exp, gradients=True).judge(lambda x: torch.exp(x).to(dtype)).status == "correct"
    assert small(torch.exp, gradients=True).judge(lambda x: torch.exp(1.1 * x).to(dtype)).status == "wrong"


def assigns_double(x):
    x.data = x.data.double()


def halved(layer):
    layer.weight.data /= 2


@pytest.mark.parametrize(
    "probe, numbers, change",
    [
        (torch.ones(2), lambda x: x * 2, lambda x: x.add_(1)),
        (torch.ones(2), lambda x: x * 2, assigns_double),
        (torch.ones(2, 3), lambda x: x * 2, lambda x: x.t_()),
        (torch.ones(2), lambda x: x * 2, lambda x: x.fill_(math.nan)),
        (nn.Linear(2, 1), lambda layer: layer.weight * 2, halved),
        ([1, 2], torch.tensor, lambda numbers: numbers.pop()),
    ],
)
def test_an_answer_that_changes_its_argument_is_wrong(probe, numbers, change):
    def answer(x):
        result = numbers(x)
        change(x)
        return result

    assert small(numbers, probes=[(probe,)]).judge(answer).came_to == "changed"


def test_an_argument_that_holds_nan_is_not_called_changed():
    exercise = small(probes=[(torch.tensor([float("nan"), 1.0, float("-inf")]),)])
    assert exercise.judge(lambda x: x + x).status == "correct"
    assert exercise.judge(lambda x: x + 2).came_to == "value"


@pytest.mark.parametrize(
    "softmax",
    [
        lambda s: torch.softmax(s, -1),
        lambda s: nn.Softmax(-1)(s),
        lambda s: torch.log_softmax(s, -1).exp(),
        lambda s: F.softmin(-s, dim=-1),
        lambda s: torch._softmax(s, -1, False),
        lambda s: torch.ops.aten._safe_softmax(s, -1),
        lambda s: F.scaled_dot_product_attention(torch.atleast_2d(s), *[torch.eye(s.size(-1))] * 2, scale=1).view_as(s),
    ],
)
def test_2_1_asks_for_a_softmax_of_ones_own(softmax):
    assert check("2.1", softmax).status == "wrong"


def test_an_argument_that_does_not_count_may_be_left_out():
    probe = torch.ones(2), torch.ones(2)
    exercise = small(lambda x, y: x * 2 + 0 * y, asks="my_double(x, y)", probes=[probe], gradients=True)
    assert exercise.judge(lambda x, y: x * 2).status == "correct"  # the gradient of y is 0, or there is none


def test_a_wrong_gradient_of_softmax_is_noticed():
    exercise = small(lambda scores: scores.softmax(-1), gradients=True)
    assert exercise.judge(lambda scores: scores.detach().softmax(-1) + 0 * scores).status == "wrong"


# ----------------------------------------------------------------------------------------------- telling what is wrong


@pytest.mark.filterwarnings("ignore:deprecated")
def test_warnings_and_prints_of_an_answer_are_not_shown(capsys):
    def transposing(q, k, v):
        warnings.warn("deprecated", stacklevel=1)
        print("seen", file=sys.stderr)
        print("seen")
        return OWN["2.2"](q, k, v)

    assert check("2.2", transposing).status == "correct"
    assert capsys.readouterr() == ("", "")


NOT_FINITE = torch.tensor([math.nan, 1.0])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: torch.rand(x.shape), "it is random"),
        (lambda x: x * 3 + NOT_FINITE[:1], "is NaN"),
        (lambda x: x * 3 + math.inf, "is infinite"),
    ],
)
def test_an_answer_without_fixed_numbers_is_said_to_be_that(answer, said):
    def holds(answer):
        return torch.equal(answer(torch.ones(2)), answer(torch.ones(2)))

    message = small(invariants=[("it turns round", holds)]).judge(answer).message
    assert said in message and "it turns round" not in message


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: x + x if len(x) < 3 else [].sort() / 2, "it raises `TypeError"),
        (lambda x: x + x if len(x) < 3 else time.sleep(0.5), "0.2 seconds together"),
        (lambda x: x + x if len(x) < 3 else x * math.nan, "it comes to NaN"),
        (lambda x: x + x if len(x) < 3 else x * 0, "it is not twice the number"),
    ],
)
def test_what_an_invariant_breaks_on_is_said_of_right_numbers(answer, said, monkeypatch):
    monkeypatch.setattr(runner, "LIMIT_S", 0.2)
    exercise = small(
        invariants=[
            ("it is not twice the number", lambda answer: torch.equal(answer(torch.ones(3)), 2 * torch.ones(3)))
        ]
    )
    verdict = exercise.judge(answer)
    assert verdict.status == "wrong" and said in verdict.message


def test_an_error_of_pytorchs_is_no_stub():
    verdict = check("3.3", lambda scores, mask: torch.softmax(scores & mask, dim=-1))
    assert (verdict.status, verdict.came_to) == ("wrong", "raised")


def test_a_case_left_open_is_no_stub():
    def answer(x, *rest):
        if rest[-1] is not None:
            raise NotImplementedError("a mask")
        return OWN["4.3"](x, *rest)

    assert check("4.3", answer).status == "wrong"


def after(calls, first, then):
    """An answer that comes to `first` in so many calls, and to `then` from there on."""
    seen = itertools.count()
    return lambda x: (first if next(seen) < calls else then)(x)


def weights_by_hand(x):
    exponentials = x.exp()
    return exponentials / exponentials.sum(0)  # the axis is wrong, the exponentials are not


def weights_row_by_row(x):
    return torch.stack([row.softmax(-1) * row for row in torch.atleast_2d(x)]).view_as(x)


def one_threshold_for_all_texts(logits, lengths, temperature, top):
    rows = logits[torch.arange(len(logits)), lengths - 1] / temperature
    return torch.softmax(rows.masked_fill(rows < rows.topk(top).values.min(), -math.inf), dim=-1)


def test_a_right_step_that_comes_earlier_is_not_blamed():
    assert "`trace`" not in check("11.4", one_threshold_for_all_texts).message


@pytest.mark.parametrize("answer", [weights_by_hand, weights_row_by_row])
def test_no_line_is_blamed_that_is_only_built_otherwise(answer):
    assert "`trace`" not in small(lambda x: x.softmax(-1)).judge(answer).message


@pytest.mark.parametrize(
    ("reference", "answer", "blamed"),
    [
        (lambda x: x.softmax(-1), lambda x: x.softmax(0), "`softmax(dim=0)`"),
        (lambda x: x.softmax(-1).log(), lambda x: x.softmax(-1).softmax(-1).log(), "B has `softmax(dim=-1)`"),
        (lambda x: x.cumsum(-1).tril(), lambda x: x.cumsum(-1).tril(1), "B has `tril(1)`"),  # which changes nothing
        (lambda x: (x / 2).exp(), lambda x: (x * 3 / 4).exp(), "`/ 4` in B"),
    ],
)
def test_what_makes_the_difference_is_blamed(reference, answer, blamed):
    probes = [(torch.tensor([[1.0, 2.0], [3.0, 5.0]]),)]
    assert blamed in small(reference, probes=probes).judge(answer).message


def test_an_answer_that_fails_when_traced_keeps_its_verdict():
    verdict = small().judge(after(2, lambda x: x * 3, lambda x: sys.exit(3)))
    assert (verdict.status, verdict.came_to) == ("wrong", "value")


# ------------------------------------------------------------------------------------------------- which misconception


def capped(x):
    return (x * 2).clamp(max=6)


def fives(n):
    return [(torch.full((size,), 5.0),) for size in range(1, n + 1)]


def knows(exercise, name, *forms):
    exercise.add(MisconceptionAsCode(name, "Its name", "It tempts.", "03#text-10", forms))
    return exercise


def test_a_misconception_avoided_in_half_of_the_calls_is_not_named():
    two, exercise = (knows(small(probes=fives(n)), "capped", capped) for n in (2, 3))
    assert two.judge(lambda x: x * 3 if len(x) == 2 else capped(x)).misconception is None
    assert exercise.judge(lambda x: capped(x).clone()).misconception == "capped"
    assert exercise.judge(lambda x: x * 2 if len(x) == 2 else capped(x)).misconception is None
    assert exercise.judge(lambda x: x * 3 if len(x) == 2 else capped(x)).misconception == "capped"


def refusing(error, otherwise):
    """Code that refuses 0 with an error, and comes to something otherwise."""

    def code(x):
        if not x.any():
            raise error
        return otherwise(x)

    return code


def test_refusals_may_be_in_other_words():
    exercise = small(refusing(ValueError("0"), lambda x: x * 2), probes=[(torch.ones(2),), (torch.zeros(3),)])
    knows(exercise, "thrice", refusing(ValueError("0"), lambda x: x * 3))
    assert exercise.judge(refusing(TypeError("no"), lambda x: x * 3)).misconception == "thrice"


def test_an_error_alone_is_recognised_by_its_words():
    def complaining(words):
        return refusing(ValueError(words), lambda x: x * 2)

    exercise = knows(small(probes=[(torch.zeros(2),)]), "zero", complaining("a 0"))
    assert exercise.judge(complaining("a 0")).misconception == "zero"
    assert exercise.judge(complaining("another")).misconception is None


def test_a_misconception_shows_in_every_corner_case_and_nowhere_else():
    exercise = small(corner_cases=[(torch.zeros(3),), (torch.zeros(4),)])
    knows(exercise, "plus-one", lambda x: x * 2 + (x.sum() == 0))
    assert exercise.judge(lambda x: x + x + (x.sum() == 0)).misconception == "plus-one"
    assert exercise.judge(lambda x: x + x + (x.sum() == 0) * (len(x) - 2)).misconception is None
    assert exercise.judge(lambda x: x * 3 + (x.sum() == 0)).misconception is None


def test_booleans_that_agree_by_chance_are_no_explanation():
    exercise = knows(small(lambda x: x > 2, probes=fives(3)), "turned", lambda x: x <= 2)
    assert exercise.judge(lambda x: x <= 2).misconception == "turned"
    assert exercise.judge(lambda x: x.round() if len(x) == 2 else x <= 2).misconception is None


def test_a_squeezed_mask_is_not_called_a_mask_per_head():
    def squeezing(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        return EXERCISES["4.3"].reference(x, w_q, w_k, w_v, w_o, num_heads, None if mask is None else mask.squeeze())

    assert check("4.3", squeezing).misconception == "mask-squeezed"


def test_a_gradient_misconception_is_not_named_for_a_corner():
    exercise = small(corner_cases=[(torch.zeros(3),), (torch.zeros(4),)], gradients=True)
    knows(exercise, "cut-off", lambda x: x.detach() * 2 + 0 * x)
    assert exercise.judge(lambda x: x * 2 + (len(x) == 4)).misconception is None
    assert exercise.judge(lambda x: x.detach() + x.detach() + 0 * x).misconception == "cut-off"


# ------------------------------------------------------------------------------------------- how exercises are written


def thrice(x):
    """Three times.

    It tempts.
    """
    return x * 3


def test_a_misconception_has_forms_and_a_section_to_reread():
    exercise = small()
    exercise.misconception(reread="09#break-it", forms=[lambda x: x * 4])(thrice)
    for factor in (3, 4):
        verdict = exercise.judge(lambda x, factor=factor: x * factor)
        assert verdict.misconception == "thrice" and verdict.message.startswith("Three times.\n\nIt tempts.")
        assert verdict.message.endswith(f"{section_in_words('09#break-it')}.")


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_notebook_asks_for_the_function_that_is_checked(path):
    for cell in nbformat.read(path, as_version=4).cells:
        exercise = EXERCISES.get(cell.metadata.get("exercise"))
        if isinstance(exercise, Module):
            assert f"class {exercise.asks.partition('(')[0]}(nn.Module):" in cell.source
        elif isinstance(exercise, Function):
            assert f"def {exercise.asks}:" in cell.source


def test_what_is_counted_has_no_fraction():
    verdict = verdict_on("14.3", lambda heads, stored, head_dim: heads / stored * head_dim + 0.9999)
    assert verdict.status == "wrong" and "whole" in verdict.message
