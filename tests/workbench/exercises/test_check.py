"""check as such: how often it calls an answer, what it survives, what it leaves behind; how exercises are written."""

import contextlib
import importlib
import itertools
import math
import queue
import random
import re
import shutil
import sys
import threading
import warnings

import nbformat
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from other_styles import RIGHT
from paths import ROOT
from torch import nn

import attn_lib
from workbench.exercises import check
from workbench.exercises.engine import probes, runner
from workbench.exercises.engine.exercise import EXERCISES, Exercise, MisconceptionAsCode, described_by, find
from workbench.exercises.engine.function import Function
from workbench.exercises.engine.numbers import Numbers
from workbench.exercises.engine.outcome import Outcome, close, is_or_are, outcome_of, same, same_complaint
from workbench.exercises.engine.runner import OutOfTime, Worker

pytestmark = pytest.mark.usefixtures("own_folder")

OWN = dict(RIGHT)  # an answer of one's own to each exercise
FUNCTIONS = [id for id, exercise in EXERCISES.items() if isinstance(exercise, Function)]
SECONDS = 0.05  # a limit for tests in which an answer never comes back


def counted(function):
    """The function, with the number of its calls so far."""

    def counting(*args, **kwargs):
        counting.calls += 1
        return function(*args, **kwargs)

    counting.calls = 0
    return counting


def small(reference=lambda x: x * 2, **settings):
    """An exercise of its own, outside the catalogue: doubling, unless told otherwise."""
    calls = [(torch.ones(2),), (torch.tensor([[1.0, 2.0], [3.0, 5.0]]),)]
    settings = {"probes": calls, "asks": "my_double(x)", **settings}
    return Function(id="0.1", reference=reference, title="Twice", section="03#text-10", hints=[], **settings)


# --------------------------------------------------------------------------------------------- how often it is called


@pytest.fixture
def threads(monkeypatch):
    started = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread), start(thread))[1])
    return started


@pytest.mark.parametrize("id", FUNCTIONS)
def test_a_check_starts_one_thread_and_leaves_none(id, threads):
    check(id, EXERCISES[id].answer)
    check(id, lambda *args: torch.rand(3))
    assert len(threads) == 2
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize("id", FUNCTIONS)
def test_a_named_mistake_is_called_once_for_each_probe_of_the_stage_at_which_it_shows(id):
    exercise = EXERCISES[id]
    for known in exercise.misconceptions.values():
        answer = counted(known.forms[0])
        assert check(id, answer).misconception == known.id
        up_to = [len([trial for trial in exercise.trials if trial.stage <= stage]) for stage in range(3)]
        assert answer.calls - (known.telltale_call is not None) in up_to


def test_a_wrong_4_3_without_a_name_is_called_a_dozen_times_at_most():
    answer = counted(lambda *args: EXERCISES["4.3"].reference(*args) * 1.1)
    assert check("4.3", answer).misconception is None
    assert answer.calls <= 14


def test_the_reference_and_the_known_mistakes_run_once_in_a_session():
    reference, mistake = counted(lambda x: x * 2), counted(lambda x: x * 3)
    exercise = small(reference)
    exercise.add(MisconceptionAsCode("thrice", "Thrice", "It tempts.", "03#text-10", [mistake]))
    for _ in range(3):
        assert exercise.judge(lambda x: x + x + x).misconception == "thrice"
        assert exercise.judge(lambda x: x + x).status == "correct"
    assert (reference.calls, mistake.calls) == (2, 2)


def test_corner_cases_and_gradients_wait_until_the_numbers_are_right():
    exercise = small(gradients=True, corner_cases=[(torch.zeros(0),)])
    wrong, right = counted(lambda x: x * 4), counted(lambda x: x + x)
    exercise.judge(wrong)
    exercise.judge(right)
    assert wrong.calls == 3  # two probes, and once more beside the library's to see where they part
    assert right.calls == 3 + 3 + 3  # numbers, gradients, and numbers once more


@pytest.mark.parametrize(
    "answer",
    [lambda x: x.tolist(), lambda x: x.add_(1), lambda x: None, lambda x: ...],
    ids=["unreadable", "changing", "nothing", "dots"],
)
def test_where_one_call_says_it_all_there_is_no_second(answer):
    answer = counted(answer)
    assert small().judge(answer).status == "wrong" and answer.calls == 1


@pytest.mark.parametrize("nothing", [None, ...], ids=["nothing", "dots"])
def test_an_answer_that_returns_nothing_is_asked_for_its_return(nothing):
    assert "returns nothing. Is the line with `return` missing?" in small().judge(lambda x: nothing).message


def test_another_number_of_results_is_counted():
    exercise = small(lambda x: (x, x * 2), returns=("the output", "the weights"))
    wanted = "where (the output, the weights) was expected"
    assert f"the result is a tuple of 3, {wanted}" in exercise.judge(lambda x: (x, x, x)).message
    assert f"the result is a list of 1, {wanted}" in exercise.judge(lambda x: [x]).message
    assert f"the result is a tensor of shape (2,), {wanted}" in exercise.judge(lambda x: x).message


def test_an_answer_may_write_each_result_into_the_same_memory():
    memory = torch.empty(2)
    exercise = small(probes=[(torch.ones(2),), (torch.full((2,), 3.0),)])
    assert exercise.judge(lambda x: torch.mul(x, 2, out=memory)).status == "correct"


def test_what_may_change_is_no_fault():
    def negates(x, y):
        return y.neg_()

    def exercise(**settings):
        return small(lambda x, y: -y, probes=[(torch.ones(2), torch.ones(2))], **settings)

    assert exercise(may_change=(1,)).judge(negates).status == "correct"
    assert exercise(may_change=(0,)).judge(negates).status == "wrong"


# --------------------------------------------------------------------------------------------- whatever was set before


@contextlib.contextmanager
def double_by_default():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def no_grad_in_float64_elsewhere():
    with double_by_default(), torch.no_grad(), torch.device("meta"):
        yield


SETTINGS = {"float64, no grad, meta": no_grad_in_float64_elsewhere, "inference": torch.inference_mode}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("id", FUNCTIONS)
def test_a_right_answer_is_right_whatever_the_notebook_has_set(id, setting):
    EXERCISES[id]._known.clear()  # as in a new session
    with SETTINGS[setting]():
        assert check(id, EXERCISES[id].answer).status == "correct"
    assert check(id, EXERCISES[id].answer).status == "correct"  # and nothing of it stays


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


def test_exercises_imported_after_a_change_of_the_default_dtype_are_the_same(imported_afresh):
    def dtypes(exercises):
        probes = {id: (*exercises[id].probes, *exercises[id].corner_cases) for id in FUNCTIONS}
        return {id: [getattr(arg, "dtype", None) for args in probes[id] for arg in args] for id in probes}

    with double_by_default():
        from workbench.exercises.engine.exercise import EXERCISES as made

        assert made is not EXERCISES and torch.get_default_dtype() == torch.float64
    assert dtypes(made) == dtypes(EXERCISES)


def test_exercises_imported_where_tensors_are_made_elsewhere_are_on_the_processor(imported_afresh):
    importlib.import_module("attn_lib.examples")  # as in a notebook's first cell
    with torch.device("meta"):
        from workbench.exercises.engine.exercise import EXERCISES as made

        assert made is not EXERCISES and torch.ones(1).is_meta
    probes = [args for id in FUNCTIONS for args in (*made[id].probes, *made[id].corner_cases)]
    assert {arg.device.type for args in probes for arg in args if isinstance(arg, torch.Tensor)} == {"cpu"}


def as_it_stands():
    return torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.rand(()).item()


def test_every_call_finds_torch_as_it_starts():
    def meddles():
        torch.set_default_dtype(torch.float16)
        torch.set_grad_enabled(False)
        torch.rand(3)

    def checks_another():
        with torch.inference_mode(), Worker() as inner:
            meddles()
            return inner.run(as_it_stands)

    with Worker() as worker:
        first = worker.run(as_it_stands)
        assert first[:3] == (torch.float32, True, False)
        worker.run(meddles)
        assert worker.run(as_it_stands) == first
        assert worker.run(checks_another) == first


def test_exercises_are_imported_and_judged_as_when_torch_starts():
    with no_grad_in_float64_elsewhere(), runner.as_when_torch_starts():
        assert as_it_stands()[:3] == (torch.float32, True, False) and torch.ones(1).device.type == "cpu"


@pytest.mark.parametrize("seconds", [1e-9, 0.0, -1.0])
def test_the_time_that_the_library_takes_is_not_the_learners(seconds):
    with Worker(seconds) as worker:
        assert worker.run(lambda: 2 * 3, timed=False) == 6
        assert worker.left == seconds


# --------------------------------------------------------------------------------------------------- odd answers


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


def fake(n_queries, n_keys):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(n_queries, n_keys)


def masked(n_queries, n_keys):
    return torch.masked.masked_tensor(torch.ones(n_queries, n_keys), attn_lib.causal_mask(n_queries, n_keys))


def nested(n_queries, n_keys):
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


ODD = {
    "sparse": (lambda n, k: torch.ones(n, k).to_sparse(), "is a sparse tensor"),
    "meta": (lambda n, k: torch.ones(n, k, device="meta"), "on the device meta"),
    "masked": (masked, "a MaskedTensor"),
    "nested": (nested, "is a nested tensor"),
    "fake": (fake, "a FakeTensor"),
    "quantised": (lambda n, k: torch.quantize_per_tensor(torch.ones(n, k), 0.1, 0, torch.quint8), "a quantised tensor"),
    "complex": (lambda n, k: torch.ones(n, k, dtype=torch.complex64), "is torch.complex64"),
    "uint16": (lambda n, k: attn_lib.causal_mask(n, k).to(torch.uint16), "These are 0 and 1"),
    "ndarray": (lambda n, k: attn_lib.causal_mask(n, k).numpy(), "the mask is an ndarray"),
    "agreeable": (lambda n, k: (~attn_lib.causal_mask(n, k)).as_subclass(Agreeable), "have changed places"),
    "speechless": (raising(Speechless()), "raises `Speechless"),
    "interrupt": (raising(KeyboardInterrupt()), "raises `KeyboardInterrupt`"),
    "exit": (raising(SystemExit(2)), "raises `SystemExit: 2`"),
    "empty": (lambda n, k: torch.zeros(0), "torch.float32, where torch.bool"),
}


@pytest.mark.parametrize(
    "weights, said",
    [
        (lambda w: 1, "the weights are an int, where a tensor was expected"),
        (lambda w: w.long(), "the weights are torch.int64"),
        (lambda w: w[..., :1], "the weights have shape"),
    ],
)
def test_of_several_things_a_verdict_speaks_in_the_plural(weights, said):
    def my_attention(q, k, v):
        output, right = attn_lib.scaled_dot_product_attention(q, k, v)
        return output, weights(right)

    assert said in repr(check("2.2", my_attention))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("id, asked", [("3.2", "my_causal_mask"), ("6.1", "`detects`")])
def test_a_tensor_without_a_shape_where_a_function_is_asked_for_is_named(id, asked):
    said = repr(check(id, nested(2, 2)))
    assert asked in said and "a nested tensor" in said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer_gets_a_verdict_that_can_be_shown(name, monkeypatch):
    monkeypatch.setattr(runner, "LIMIT_S", 600)  # torch imports a good deal of itself for some of them
    answer, said = ODD[name]
    verdict = check("3.2", answer)
    assert verdict.status == "wrong"
    assert said in verdict.message
    assert said in str(verdict) and "<div" in verdict._repr_html_()


@pytest.mark.parametrize("name", ["a subclass", "an inference tensor", "a parameter"])
def test_a_right_result_in_an_odd_coat_is_right(name):
    coats = {
        "a subclass": lambda mask: mask.as_subclass(WithoutDetach),
        "an inference tensor": torch.inference_mode()(lambda mask: mask & True),
        "a parameter": lambda mask: nn.Parameter(mask, requires_grad=False),
    }
    assert check("3.2", lambda n, k: coats[name](OWN["3.2"](n, k))).status == "correct"


def itself():
    numbers = [1.0, 2.0]
    numbers.append(numbers)
    return numbers


@pytest.mark.parametrize(
    "answer",
    [[10**400, 1, 2], itself(), [1j, 2, 3], {}, object(), torch.ones(3, device="meta"), "abc", [[1, 2], [3]]],
    ids=["too large", "holds itself", "complex", "dict", "object", "meta", "words", "ragged"],
)
def test_what_is_no_list_of_numbers_is_told_so(answer):
    verdict = check("1.1", answer)
    assert verdict.status == "wrong" and "could not be read" in verdict.message and verdict._repr_html_()


@pytest.mark.parametrize("kind", [np.array, torch.tensor, np.float32, lambda x: [x]])
def test_numbers_may_stand_in_arrays_of_their_own(kind):
    assert check("1.1", [kind(x) for x in EXERCISES["1.1"].answer]).status == "correct"


def test_a_folder_that_is_gone_costs_only_the_progress(own_folder, monkeypatch):
    (own_folder / "gone").mkdir()
    monkeypatch.chdir(own_folder / "gone")
    (own_folder / "gone").rmdir()
    verdict = check("3.2", attn_lib.causal_mask)
    assert verdict.status == "correct" and "could not be saved" in verdict.message


def test_three_checks_at_once_are_right_and_leave_the_output_where_it_was():
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


def test_a_check_waits_until_another_one_is_done():
    inside, go_on, called = threading.Event(), threading.Event(), threading.Event()

    def waits(n_queries, n_keys):
        inside.set()
        go_on.wait(10)
        return attn_lib.causal_mask(n_queries, n_keys)

    def is_called(n_queries, n_keys):
        called.set()
        return attn_lib.causal_mask(n_queries, n_keys)

    first, second = (threading.Thread(target=check, args=("3.2", answer)) for answer in (waits, is_called))
    first.start()
    assert inside.wait(30)
    second.start()
    assert not called.wait(0.3)  # however long that is, the other one is still inside
    go_on.set()
    first.join()
    second.join()
    assert called.is_set()


def test_an_answer_may_check_another_one():
    def curious(n_queries, n_keys):
        assert check("3.2", OWN["3.2"]).status == "correct"
        return OWN["3.2"](n_queries, n_keys)

    assert check("3.2", curious).status == "correct"


def test_stop_stops_the_check_and_its_thread(monkeypatch, threads):
    class Pressed(queue.SimpleQueue):
        def get(self, *args, **kwargs):
            raise KeyboardInterrupt

    def endless(n_queries, n_keys):
        while True:
            pass

    before = sys.stdout
    original = runner._Thread.__init__

    def pressed(thread):
        original(thread)
        thread.results = Pressed()

    EXERCISES["3.2"]._known[EXERCISES["3.2"].reference] = ["kept"] * len(EXERCISES["3.2"].trials)
    try:
        monkeypatch.setattr(runner._Thread, "__init__", pressed)
        with pytest.raises(KeyboardInterrupt):
            check("3.2", endless)
    finally:
        EXERCISES["3.2"]._known.clear()
    assert sys.stdout is before
    threads[0].join(10)
    assert not threads[0].is_alive()


def endless(n_queries, n_keys):
    while True:
        pass


def excusing_everything(n_queries, n_keys):
    with contextlib.suppress(BaseException):
        endless(n_queries, n_keys)


@pytest.mark.parametrize("answer", [endless, excusing_everything])
def test_an_endless_answer_is_stopped_in_its_time_and_its_thread_ends(answer, monkeypatch, threads):
    monkeypatch.setattr(runner, "LIMIT_S", SECONDS)
    verdict = check("3.2", answer)
    assert f"had not come back after {SECONDS:g} seconds" in verdict.message
    threads[0].join(10)
    assert not threads[0].is_alive()


def test_a_call_that_does_not_come_back_leaves_no_time_to_others():
    def endless():
        while True:
            pass

    with Worker(SECONDS) as worker, pytest.raises(OutOfTime):
        worker.run(endless)
    assert worker.left == 0


def test_that_the_time_is_up_is_no_error_of_the_answer_that_checks_another():
    with Worker(), pytest.raises(runner._TimeUp):
        runner._fresh(raising(runner._TimeUp()))


def test_all_calls_of_a_check_share_one_limit(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(runner.time, "monotonic", lambda: now[0])

    def slow(n_queries, n_keys):
        now[0] += 0.4 * runner.LIMIT_S
        return attn_lib.causal_mask(n_queries, n_keys)

    answer = counted(slow)
    assert "had not come back" in check("3.2", answer).message
    assert answer.calls == 3


def test_a_learner_waits_for_seconds_not_minutes():
    assert 5 <= runner.LIMIT_S <= 15


def test_the_librarys_own_time_is_not_the_learners(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(runner.time, "monotonic", lambda: now[0])

    def reference(x):
        now[0] += 100.0
        return x * 2

    assert small(reference).judge(lambda x: x + x).status == "correct"


# ------------------------------------------------------------------------------------------- right, and only just not


SHAPES = st.sampled_from([(2, 2), (3, 5), (2, 3, 4)])


@given(seed=st.integers(0, 1000), shape=SHAPES, off=st.floats(3e-4, 1), right=st.floats(0, 5e-5))
def test_numbers_count_as_right_within_rounding_and_no_further(seed, shape, off, right):
    expected = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).sign() * 3
    assert close(expected * (1 + right), expected) and close(expected.double(), expected)
    assert not close(expected * (1 + off), expected) and not close(expected * (1 - off), expected)
    one_off = expected.clone()
    one_off.view(-1)[seed % expected.numel()] += 3 * off
    assert not close(one_off, expected)


def test_half_precision_may_be_off_by_its_rounding_from_0_too():
    little, zeros = torch.full((2,), 1e-2), torch.zeros(2)
    assert close(little, zeros, rounding=0.03) and not close(little, zeros, rounding=1e-6)


def test_a_complex_answer_is_told_so_whatever_its_real_part():
    assert "is torch.complex64, where torch.float32" in small().judge(lambda x: x * 2 + 0j).message
    assert "is torch.complex64, where torch.int64" in small(lambda x: x.long()).judge(lambda x: x + 0j).message


def test_things_have_their_verb():
    assert [is_or_are(name) for name in ("the weights", "the output", "the gradient of scores")] == ["are", "is", "is"]


@given(off=st.floats(2e-5, 1))
def test_what_is_to_be_0_may_be_off_by_next_to_nothing(off):
    assert close(torch.full((2,), 5e-6), torch.zeros(2))
    assert not close(torch.full((2,), off), torch.zeros(2))


def test_nan_is_right_only_where_nan_is_expected():
    nan = torch.tensor([float("nan"), 1.0])
    assert close(nan, nan.clone()) and not close(torch.ones(2), nan) and not close(nan, torch.ones(2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_a_right_answer_of_another_precision_is_right_with_its_gradients(dtype):
    assert small(torch.exp, gradients=True).judge(lambda x: torch.exp(x).to(dtype)).status == "correct"
    assert small(torch.exp, gradients=True).judge(lambda x: torch.exp(1.1 * x).to(dtype)).status == "wrong"


@pytest.mark.parametrize("id", ["1.2", "2.1", "2.2", "3.3", "4.1", "4.2", "4.3"])
@pytest.mark.parametrize("by", [5e-4, -0.01, 0.5])
def test_an_answer_that_is_off_by_a_little_is_wrong(id, by):
    def off(*args):
        result = EXERCISES[id].reference(*args)
        first = result[0] * (1 + by) if isinstance(result, tuple) else result * (1 + by)
        return (first, *result[1:]) if isinstance(result, tuple) else first

    assert EXERCISES[id].judge(off).status == "wrong"


def assigns_double(x):
    x.data = x.data.double()


def transposes(x):
    if x.ndim == 2:
        x.t_()


def fills_nan(x):
    x[0] = float("nan")


@pytest.mark.parametrize("change", [lambda x: x.add_(1), lambda x: x.zero_(), assigns_double, transposes, fills_nan])
def test_an_answer_that_changes_its_argument_is_told(change):
    def answer(x):
        result = x * 2
        change(x)
        return result

    verdict = small().judge(answer)
    assert verdict.status == "wrong" and "changes its argument `x`" in verdict.message


def test_an_argument_that_holds_nan_and_stays_is_not_called_changed():
    exercise = small(probes=[(torch.tensor([float("nan"), 1.0, float("-inf")]),)])
    assert exercise.judge(lambda x: x + x).status == "correct"
    wrong = exercise.judge(lambda x: x + 2)
    assert wrong.status == "wrong" and "changes" not in wrong.message


def test_a_module_that_is_changed_is_noticed_too():
    def answer(layer):
        result = layer.weight * 2
        layer.weight.data.zero_()
        return result

    exercise = small(lambda layer: layer.weight * 2, probes=[(nn.Linear(2, 1),)])
    assert "changes its argument" in exercise.judge(answer).message


def test_what_is_changed_only_where_gradients_are_asked_for_is_noticed_too():
    def answer(x, mask):
        return (x * mask.logical_not_()).sum()

    args = torch.ones(2), torch.tensor([True, False])
    exercise = small(lambda x, mask: x, asks="my_sum(x, mask)", probes=[args])
    for gradients in (False, True):
        assert outcome_of(answer, args, exercise, lambda work: work(), gradients=gradients).kind == "changed"


def test_a_list_that_is_changed_is_noticed_too():
    exercise = small(lambda x: torch.tensor(x), probes=[([1, 2],)])
    assert "changes its argument" in exercise.judge(lambda x: torch.tensor([x.pop(0), x.pop(0)])).message


def test_what_is_right_for_the_first_calls_only_is_wrong():
    for limit in (7, 8):
        answer = counted(OWN["3.2"])
        verdict = check("3.2", lambda n, k, a=answer, m=limit: a(n, k) if a.calls < m else ~a(n, k))
        assert verdict.status == "wrong" and "when it is called again" in verdict.message


def test_1_2_wrong_only_where_the_outputs_are_as_wide_as_the_inputs():
    def answer(x, w_q, w_k, w_v):
        values = x if w_v.size(0) == w_v.size(1) else x @ w_v
        return torch.softmax((x @ w_q) @ (x @ w_k).T, -1) @ values

    assert check("1.2", answer).status == "wrong"


@pytest.mark.parametrize(
    "softmax",
    [
        lambda s: torch.softmax(s, -1),
        lambda s: F.softmax(s, dim=-1),
        lambda s: s.softmax(-1),
        lambda s: nn.Softmax(-1)(s),
        lambda s: torch.log_softmax(s, -1).exp(),
        lambda s: F.softmin(-s, dim=-1),
    ],
)
def test_2_1_asks_for_a_softmax_of_ones_own(softmax):
    verdict = check("2.1", softmax)
    assert verdict.status == "wrong" and "torch's own" in verdict.message


# --------------------------------------------------------------------------------------------- telling what is wrong


def test_a_global_of_the_notebook_is_a_clue():
    X = torch.randn(3, 4)
    scope = {"torch": torch, "X": X}
    exec("def answer(x, w_q, w_k, w_v): return torch.softmax(X @ w_q @ (X @ w_k).T, -1) @ (X @ w_v)", scope)
    assert "it reads `X` of the notebook" in check("1.2", scope["answer"]).message
    assert "of the notebook" not in check("1.2", lambda x, q, k, v: x).message


def test_a_warning_is_not_taken_for_printing_and_not_shown(capsys):
    def transposing(q, k, v):
        warnings.warn("deprecated", stacklevel=1)
        print("seen", file=sys.stderr)
        return EXERCISES["2.2"].reference(q, k, v)

    assert "prints" not in check("2.2", transposing).message
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("printed", "quoted"), [("first\nsecond", "first"), (70 * "long", 15 * "long")])
def test_what_is_printed_is_quoted_up_to_its_first_line_or_60_letters(printed, quoted):
    def chatty(x):
        print(printed)
        return x * 2

    assert f'It prints ("{quoted}")' in small().judge(chatty).message


def test_of_the_calls_that_go_wrong_the_smallest_is_shown():
    large, little = torch.ones(4, 4), torch.ones(2, 2)
    assert small(probes=[(large,), (little,)]).judge(lambda x: x * 7).yours.shape == (2, 2)
    assert "`my_double(x=2)`" in small(torch.zeros, probes=[(4,), (2,)]).judge(torch.ones).message
    masked = small(lambda x, mask: x * 2, asks="my_double(x, mask)", probes=[(little, little > 0), (little, None)])
    assert "mask=None" in masked.judge(lambda x, mask: x * 7).message


def test_arguments_are_shown_by_their_numbers_where_these_are_few_and_whole():
    def called_with(arg):
        return small(lambda x: torch.ones(2), probes=[(arg,)]).judge(lambda x: torch.zeros(2)).message

    assert "`my_double(x=[3, 1])`" in called_with(torch.tensor([3, 1]))
    assert "`my_double(x=[0, 1, 2, 3, 4, 5, 6, 7])`" in called_with(torch.arange(8))
    assert "`my_double(x (9,))`" in called_with(torch.arange(9))
    assert "`my_double(x (1, 2))`" in called_with(torch.tensor([[3, 1]]))
    assert "`my_double(x (2,))`" in called_with(torch.tensor([0.5, 1]))
    assert "`my_double(x=[3, 1])`" in called_with([3, 1])
    assert "`my_double(x=None)`" in called_with(None)
    assert "`my_double(x=4)`" in called_with(4)
    assert "`my_double(x)`" in called_with(nn.Identity())


def test_what_was_compared_is_said_where_it_is_right():
    assert "gradients" not in small().judge(lambda x: x + x).message
    assert "gradients" in small(gradients=True).judge(lambda x: x + x).message


def test_a_mistake_is_shown_where_it_shows_best():
    verdict = check("3.2", EXERCISES["3.2"].misconceptions["top-left"].forms[0])
    assert verdict.misconception == "top-left" and "n_queries=2, n_keys=5" in verdict.message


def test_a_clue_is_given_where_there_are_numbers_to_compare():
    invariants = [("it is not twice the number", lambda answer: False)]
    assert "A clue" in small(invariants=invariants).judge(lambda x: x * 7).message
    assert "A clue" not in small(invariants=invariants).judge(lambda x: x[:1]).message


def test_a_clue_is_also_what_raises_where_it_should_hold():
    def holds(answer):
        raise ZeroDivisionError

    verdict = small(invariants=[("it is not twice the number", holds)]).judge(lambda x: x + x)
    assert verdict.status == "wrong" and "but it is not twice the number." in verdict.message


def after(calls, first, then):
    """An answer that comes to `first` in so many calls, and to `then` from there on."""
    seen = itertools.count()
    return lambda x: (first if next(seen) < calls else then)(x)


def test_where_two_runs_part_is_said_only_where_they_do():
    assert (
        "`trace` of the library's answer (A) and yours (B): First difference" in small().judge(lambda x: x * 3).message
    )
    assert "`trace`" not in small().judge(after(2, lambda x: x * 3, lambda x: x * 2)).message


def weights_by_hand(x):
    exponentials = x.exp()
    return exponentials / exponentials.sum(0)  # the axis is wrong, the exponentials are not


def weights_row_by_row(x):
    return torch.stack([row.softmax(-1) * row for row in torch.atleast_2d(x)]).view_as(x)


@pytest.mark.parametrize("answer", [weights_by_hand, weights_row_by_row])
def test_no_line_is_blamed_that_is_only_built_otherwise(answer):
    verdict = small(lambda x: x.softmax(-1)).judge(answer)
    assert verdict.status == "wrong" and "`trace`" not in verdict.message


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


def test_of_a_test_only_what_it_says_is_compared_not_how_it_comes_to_it():
    verdict = check("8.4", lambda code: code is not EXERCISES["8.4"].probes[-1][0] and EXERCISES["8.4"].answer(code))
    assert verdict.misconception is None and "differs" in verdict.message and "`trace`" not in verdict.message
    tells = small(lambda x: bool((x > 2).any()), after=lambda x, said: (torch.tensor([said]),))
    assert "`trace`" not in tells.judge(lambda x: bool((x < 2).any())).message


def test_an_answer_that_leaves_when_it_is_traced_keeps_its_verdict():
    verdict = small().judge(after(2, lambda x: x * 3, lambda x: sys.exit(3)))
    assert verdict.status == "wrong" and "differs" in verdict.message


class Elsewhere:
    """An answer that runs in a process of its own, which says what torch's functions it used there."""

    def __init__(self, code, *used):
        self.code, self.used = code, set(used)

    def __call__(self, x):
        return torch.tensor(self.code(x).tolist())


def test_an_answer_that_runs_elsewhere_is_asked_what_it_used_and_not_traced():
    exercise = small(without=("mul",))
    assert "torch's own `mul`" in exercise.judge(Elsewhere(lambda x: x + x, "mul", "add")).message
    assert exercise.judge(Elsewhere(lambda x: x + x, "add")).status == "correct"
    assert "`trace`" not in exercise.judge(Elsewhere(lambda x: x * 3)).message


def capped(x):
    """At most 6.

    It tempts.
    """
    return (x * 2).clamp(max=6)


def test_a_mistake_is_not_named_for_what_it_would_get_right():
    exercise = small(probes=[(torch.ones(1),), (torch.ones(2),), (torch.full((3,), 5.0),)])
    exercise.misconception()(capped)
    assert exercise.judge(lambda x: capped(x).clone()).misconception == "capped"
    assert exercise.judge(lambda x: x * 3 if len(x) == 2 else capped(x)).misconception is None


def test_a_mistake_that_the_answer_avoids_in_some_calls_is_not_the_one():
    exercise = small(probes=[(torch.full((n,), 5.0),) for n in (1, 2, 3)])
    exercise.misconception()(capped)
    assert exercise.judge(lambda x: x * 2 if len(x) == 2 else capped(x)).misconception is None
    assert exercise.judge(lambda x: x * 3 if len(x) == 2 else capped(x)).misconception == "capped"


def test_beside_a_named_mistake_the_other_is_shown_where_it_is_wrong():
    exercise = small(probes=[(torch.ones(1),), *((torch.full((n,), 5.0),) for n in (2, 3, 4, 6))])
    exercise.misconception()(capped)
    message = exercise.judge(lambda x: x * 3 if len(x) == 2 else capped(x)).message
    assert "This explains 3 of 5 calls. Something else is wrong too. It shows in `my_double(x (2,))`" in message


def refusing(error, otherwise):
    """Code that refuses 0 with an error, and comes to something otherwise."""

    def code(x):
        if not x.any():
            raise error
        return otherwise(x)

    return code


def test_a_mistake_is_named_in_whatever_words_the_answer_refuses_what_has_to_be_refused():
    exercise = small(refusing(ValueError("0"), lambda x: x * 2), probes=[(torch.ones(2),), (torch.zeros(3),)])
    exercise.add(MisconceptionAsCode("thrice", "", "", "03#text-10", [refusing(ValueError("0"), lambda x: x * 3)]))
    assert exercise.judge(refusing(TypeError("no"), lambda x: x * 3)).misconception == "thrice"


def test_a_mistake_that_can_only_be_told_by_its_complaint_is_told_by_its_words():
    def complaining(words):
        return refusing(ValueError(words), lambda x: x * 2)

    exercise = small(probes=[(torch.zeros(2),)])
    exercise.add(MisconceptionAsCode("zero", "", "", "03#text-10", [complaining("a 0")]))
    assert exercise.judge(complaining("a 0")).misconception == "zero"
    assert exercise.judge(complaining("another")).misconception is None


def test_a_mistake_in_the_corners_is_one_wherever_it_shows_there():
    exercise = small(corner_cases=[(torch.zeros(3),), (torch.zeros(4),)])
    exercise.add(MisconceptionAsCode("plus-one", "", "", "03#text-10", [lambda x: x * 2 + (x.sum() == 0)]))
    assert exercise.judge(lambda x: x + x + (x.sum() == 0)).misconception == "plus-one"
    assert exercise.judge(lambda x: x + x + (x.sum() == 0) * (len(x) - 2)).misconception is None


def test_half_of_the_calls_are_too_few_to_name_a_mistake():
    exercise = small(probes=[(torch.full((n,), 5.0),) for n in (1, 2)])
    exercise.misconception()(capped)
    assert exercise.judge(lambda x: x * 3 if len(x) == 2 else capped(x)).misconception is None


def test_yes_and_no_that_agree_by_chance_are_no_second_mistake():
    exercise = small(lambda x: x > 2, probes=[(torch.full((n,), 5.0),) for n in (1, 2, 3)])
    exercise.add(MisconceptionAsCode("turned", "Turned round", "It tempts.", "03#text-10", [lambda x: x <= 2]))
    assert exercise.judge(lambda x: x <= 2).misconception == "turned"
    assert exercise.judge(lambda x: x.round() if len(x) == 2 else x <= 2).misconception is None


def test_names_of_several_things_are_joined_and_have_their_verb():
    def my_attention(q, k, v):
        output, weights = attn_lib.scaled_dot_product_attention(q, k, v)
        return output, weights * 1.03

    assert "the weights differ." in check("2.2", my_attention).message
    scope = {"X": torch.ones(1), "Y": torch.ones(1)}
    exec("def answer(x): return X + Y + x", scope)
    assert "it reads `X` and `Y` of the notebook" in small().judge(scope["answer"]).message


def test_grading_meets_the_calls_in_an_order_of_its_own():
    calls = [(torch.full((2,), float(n)),) for n in range(8)]

    def order(seed):
        exercise = small(probes=calls, drawn=lambda rng: [(torch.full((2,), 9.0),)])
        exercise.draw_again(random.Random(seed))
        return [trial.args[0][0].item() for trial in exercise.trials]

    assert sorted(order(1)) == [0, 1, 2, 3, 4, 5, 6, 7, 9] and order(1) == order(1) != order(2)


def with_both_mistakes(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    batch, n, d_model = x.shape
    q, k, v = ((x @ w).view(batch, n, num_heads, -1).transpose(1, 2) for w in (w_q, w_k, w_v))
    scores = q @ k.mT / d_model**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, n, d_model) @ w_o


def test_two_mistakes_at_once_are_told_as_two():
    verdict = check("4.3", with_both_mistakes)
    assert verdict.misconception == "scale-d-model"
    assert "This explains 4 of 6 calls. Something else is wrong too." in verdict.message
    assert "mask (2, 1, 5)" in verdict.message and "0.7071" not in verdict.message


def test_a_squeezed_mask_is_not_called_a_mask_per_head():
    def squeezing(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        return EXERCISES["4.3"].reference(x, w_q, w_k, w_v, w_o, num_heads, None if mask is None else mask.squeeze())

    assert check("4.3", squeezing).misconception == "mask-squeezed"


def test_5_2_says_on_which_modules_it_failed_and_compares_no_operations():
    def unguarded(ours, theirs):
        ours.load_state_dict({name: torch.zeros_like(p) for name, p in ours.state_dict().items()})

    message = check("5.2", unguarded).message
    assert "ours=MultiHeadAttention(4, 2), theirs=MultiheadAttention(4, 2)" in message
    assert "ours.q_proj.weight differs" in message and "trace" not in message


def test_where_a_mistake_shows_best_is_where_it_is_shown():
    verdict = check("3.2", lambda n, k: torch.ones(n, k, dtype=torch.bool).tril())
    assert "n_queries=2, n_keys=5" in verdict.message and verdict.yours.shape == (2, 5)


def test_a_mistake_must_not_be_named_for_what_it_gets_right():
    exercise = small(corner_cases=[(torch.zeros(3),)])
    exercise.add(
        MisconceptionAsCode("plus-one", "Plus one", "It tempts.", "03#text-10", [lambda x: x * 2 + (x.sum() == 0)])
    )
    both = exercise.judge(lambda x: x * 3 + (x.sum() == 0))
    assert both.misconception is None
    assert exercise.judge(lambda x: x + x + (x.sum() == 0)).misconception == "plus-one"


def test_a_mistake_that_shows_in_gradients_alone_is_not_named_for_a_corner():
    exercise = small(corner_cases=[(torch.zeros(3),), (torch.zeros(4),)], gradients=True)
    exercise.add(
        MisconceptionAsCode("cut-off", "Cut off", "It tempts.", "03#text-10", [lambda x: x.detach() * 2 + 0 * x])
    )
    assert exercise.judge(lambda x: x * 2 + (len(x) == 4)).misconception is None
    assert exercise.judge(lambda x: x.detach() + x.detach() + 0 * x).misconception == "cut-off"


# ------------------------------------------------------------------------------------------- how exercises are written


def test_a_mistake_is_told_by_its_function():
    def half_of_it(x):
        """Only half of it comes back.

        It is tempting
        to stop here.

        A second reason.
        """

    assert described_by(half_of_it) == (
        "half-of-it",
        "Only half of it comes back",
        "It is tempting to stop here.\n\nA second reason.",
    )


@pytest.mark.parametrize("text", [None, "", "Only a name.", "A name\nin two lines.\n\nAnd why."])
def test_a_mistake_without_a_name_or_a_why_is_refused(text):
    def nameless(x):
        return x

    nameless.__doc__ = text
    with pytest.raises(ValueError, match="nameless"):
        small().misconception()(nameless)


def test_a_mistake_comes_with_its_other_forms_and_is_read_again_where_it_says():
    exercise = small()

    @exercise.misconception(reread="09#break-it", forms=[lambda x: x * 4])
    def thrice(x):
        """Three times.

        It tempts.
        """
        return x * 3

    for factor in (3, 4):
        verdict = exercise.judge(lambda x, factor=factor: x * factor)
        assert verdict.misconception == "thrice" and verdict.message.startswith("Three times.\n\nIt tempts.")
        assert verdict.message.endswith("Read again: notebook 9, “Break it”.")
    with pytest.raises(ValueError, match="two misconceptions named 'thrice'"):
        exercise.misconception()(thrice)


def test_what_the_course_calls_an_answer_is_known_under_each_of_its_names():
    assert EXERCISES["3.2"].names_in_the_course() == {"causal_mask"}
    assert EXERCISES["5.2"].names_in_the_course() == {"load_from_torch", "from_torch"}


def test_every_mistake_holds_one_kind_of_thing():
    for exercise in EXERCISES.values():
        for id, known in exercise.misconceptions.items():
            assert id == known.id and known.name and known.why and not known.name.endswith(".")
            if isinstance(exercise, Function | Numbers):
                assert isinstance(known, MisconceptionAsCode) and all(map(callable, known.forms))


def test_an_exercise_says_what_it_is_and_has_three_hints():
    for id, exercise in EXERCISES.items():
        assert isinstance(exercise, Exercise) and exercise.id == id
        assert exercise.title and len(exercise.hints) == 3
    assert all(EXERCISES[id].asks.startswith("my_") for id in FUNCTIONS)


ANOTHER = '''"""Exercises of a notebook that somebody has added."""

import torch

from ..engine.function import function

twice = function(
    "{id}",
    lambda x: x * 2,
    as_="my_double(x)",
    title="Twice",
    section="03#text-10",
    probes=[(torch.ones(2, 3),)],
    hints=["one", "two", "three"],
)


@twice.misconception()
def thrice(x):
    """Three times.

    It tempts.
    """
    return x * 3
'''


def test_another_notebook_needs_its_exercises_and_nothing_else(tmp_path, monkeypatch, imported_afresh):
    for folder in ("attn_lib", "workbench", "authors", "notebooks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    exercises = tmp_path / "workbench/exercises/lessons"
    (exercises / "how_it_learns.py").write_text(ANOTHER.format(id="97.1"), encoding="utf-8")
    (exercises / "a_hundredth.py").write_text(ANOTHER.format(id="100.1"), encoding="utf-8")
    asked = [nbformat.v4.new_code_cell("def my_twice(x):\n    ...", metadata={"tags": ["exercise"]})]
    asked += [nbformat.v4.new_code_cell('check("97.1", my_twice)')]
    path = tmp_path / "notebooks" / "97_how_it_learns.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=asked), path)
    monkeypatch.syspath_prepend(tmp_path)

    from authors.grade.submissions import find
    from authors.grade.submissions.roster import read_points
    from workbench.exercises import check, hint, progress, solution
    from workbench.exercises.engine.exercise import EXERCISES

    assert list(EXERCISES)[-2:] == ["97.1", "100.1"], list(EXERCISES)
    assert check("97.1", lambda x: x + x).status == "correct"
    assert check("97.1", lambda x: x * 3).misconception == "thrice"
    assert "lambda x: x * 2" in str(solution("97.1"))
    assert "Hint 1 of 3" in str(hint("97.1")) and "✓ done   Twice" in str(progress())
    (tmp_path / "in").mkdir()
    shutil.copy(path, tmp_path / "in" / "anna_97_how_it_learns.ipynb")
    (handed_in,) = find.find(tmp_path / "in")
    points, _ = read_points()
    assert (handed_in.owner.name, handed_in.exercises) == ("anna", ["97.1"]) and points["97.1"] == 2


NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


def cells(path):
    return nbformat.read(path, as_version=4).cells


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_function_that_a_notebook_asks_for_is_the_one_that_is_checked(path):
    code = [cell for cell in cells(path) if cell.cell_type == "code"]
    for cell, following in itertools.pairwise(code):
        said = re.match(r'check\("(\d+\.\d+)", (my_\w+)\)', following.source)
        if said and "exercise" in cell.metadata.get("tags", []):
            assert EXERCISES[said[1]].asks.startswith(f"{said[2]}(")
            assert f"def {EXERCISES[said[1]].asks}:" in cell.source


def test_two_exercises_of_one_name_are_refused():
    from workbench.exercises.engine.function import function

    kept = dict(EXERCISES)
    with pytest.raises(ValueError, match=r"two exercises 3\.2"):
        function("3.2", abs, as_="f(x)", title="", section="", probes=[], hints=[])
    assert kept == EXERCISES and find("3.2").title == "A causal mask"


@pytest.mark.parametrize("id", FUNCTIONS)
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


def test_a_gradient_that_is_not_finite_is_told_so():
    poisoned = EXERCISES["3.3"].misconceptions["nan-gradient"].forms[0]
    assert "the gradient of scores is not finite" in check("3.3", poisoned).message


def test_a_gradient_is_named_by_its_argument():
    def chooses(x, mask, y):
        return torch.where(mask, x, y)

    probe = torch.ones(2), torch.tensor([True, False]), torch.ones(2)
    exercise = small(chooses, asks="my_choice(x, mask, y)", probes=[probe], gradients=True)
    assert (
        "the gradient of y differs" in exercise.judge(lambda x, mask, y: chooses(x, mask, y.detach() + 0 * y)).message
    )


def test_an_argument_that_does_not_count_may_be_left_out():
    probe = torch.ones(2), torch.ones(2)
    exercise = small(lambda x, y: x * 2 + 0 * y, asks="my_double(x, y)", probes=[probe], gradients=True)
    assert exercise.judge(lambda x, y: x * 2).status == "correct"  # the gradient of y is 0, or there is none


def test_a_gradient_that_flows_elsewhere_only_is_cut_off():
    own = torch.ones((), requires_grad=True)
    verdict = small(gradients=True).judge(lambda x: x.detach() * 2 * own)
    assert verdict.status == "wrong" and "no gradient flows back" in verdict.message


def test_a_wrong_gradient_is_seen_though_the_weights_of_a_row_add_up_to_1():
    exercise = small(lambda scores: scores.softmax(-1), gradients=True)
    verdict = exercise.judge(lambda scores: scores.detach().softmax(-1) + 0 * scores)
    assert verdict.status == "wrong" and "gradient" in verdict.message


def test_one_complaint_about_other_numbers_is_the_same_complaint():
    three, four, other = (Outcome("raised", text=f"ValueError: {text}") for text in ("3 keys", "4 keys", "no keys"))
    assert same(three, four) and not same(three, other) and same_complaint(three, other)
    assert not same_complaint(three, Outcome("raised", text="TypeError: 3 keys"))
    assert not same_complaint(Outcome("raised", text="x"), Outcome("changed", text="x"))


@pytest.mark.parametrize("id", ["1.1", "3.2", "6.1"])
def test_no_answer_at_all_is_not_attempted_yet(id):
    assert check(id).status == "unattempted"


def test_of_a_few_numbers_those_that_are_off_are_named_and_how_far_off_is_too_far():
    exercise = small_numbers()
    assert exercise.judge([1.5, 2, 4]).message == (
        "Not yet: number 1 (1.5) and number 3 (4) are off by more than 0.01."
    )
    assert exercise.judge([1.5, 2, 3]).message == "Not yet: number 1 (1.5) is off by more than 0.01."
    assert exercise.judge([1.0, 2.0, 3.005]).message == "Right: [1, 2, 3.0012]."
    assert exercise.judge([1.0, 2.0]).message == "The answer is three numbers; this is 2 numbers."
    numbers = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    assert all(exercise.judge(answer).status == "correct" for answer in (numbers[:, None], [numbers], (numbers,)))


def small_numbers():
    return Numbers(
        id="0.2", reference=lambda: torch.tensor([1.0, 2.0, 3.0012]), title="Three", section="03#text-10",
        asks="three numbers", hints=[],
    )  # fmt: skip


def test_a_number_that_is_off_is_counted_from_one():
    numbers = EXERCISES["1.1"].answer
    message = check("1.1", [numbers[0], numbers[1] + 7, *numbers[2:]]).message
    assert f"Not yet: number 2 ({numbers[1] + 7:.4f}".rstrip("0") in message and "number 1" not in message
    assert check("1.1", [number + 0.009 for number in numbers]).status == "correct"
    assert check("1.1", [numbers[0] + 0.011, *numbers[1:]]).status == "wrong"


# ------------------------------------------------------------------------------------------- what probes are made of


def test_numbers_of_a_probe_hang_on_its_shape_and_seed_alone():
    with double_by_default():
        first = probes.normal(3, 4)
    torch.manual_seed(1)
    assert torch.equal(first, probes.normal(3, 4)) and first.dtype == torch.float32
    others = probes.normal(3, 4, seed=1), probes.normal(4, 4)[:3], probes.normal(2, 4)
    assert all(not torch.equal(first[: len(other)], other) for other in others)


@pytest.mark.parametrize("shape", [(2, 2), (4, 5), (2, 3, 4), (30, 3)])
def test_in_a_random_mask_every_row_is_partly_open(shape):
    mask = probes.random_mask(*shape)
    assert mask.any(-1).all() and not mask.all(-1).any() and torch.equal(mask, probes.random_mask(*shape))
    assert probes.random_mask(3, 1).all()


def test_other_numbers_are_drawn_of_the_same_size_and_what_means_something_stays():
    draw = random.Random(3)
    numbers = torch.linspace(-1, 9, 4000)
    drawn = probes.drawn_again(numbers, draw)
    assert not torch.equal(drawn, numbers) and drawn.shape == numbers.shape
    assert abs(drawn.mean() - 4) < 0.3 and abs(drawn.std() - numbers.std()) < 0.2
    kept = [torch.rand(3), torch.tensor([True]), torch.tensor([-2]), torch.tensor([-0.5]), torch.tensor([-1, math.inf])]
    assert all(probes.drawn_again(arg, draw) is arg for arg in [*kept, 3, None, [1, -2]])
    module = nn.Linear(3, 2)
    before = module.weight.clone()
    assert not torch.equal(probes.drawn_again(module, draw).weight, before) and torch.equal(module.weight, before)


def test_drawn_lengths_leave_something_to_pad():
    drawn = [probe for seed in range(20) for probe in probes.drawn_lengths(random.Random(seed))]
    assert len(drawn) == 40 and all(lengths.min() >= 1 and lengths.max() < max_len for lengths, max_len in drawn)
