"""trace: what is kept of a tensor, which results count as the same, and what a reader is not to be bothered with."""

import math

import pytest
import torch
from strategies import normal

from workbench.display import show
from workbench.trace import trace
from workbench.trace.compare import Alike, equal, factor, largest_difference, outputs_differ
from workbench.trace.record import SAMPLE, keep
from workbench.trace.run import Trace


def test_of_a_large_tensor_a_sample_from_its_first_number_to_its_last_is_kept():
    whole, large = keep(torch.arange(2**14)), keep(torch.arange(2**14 + 1))
    assert whole.value is not None and whole.sample.numel() == 2**14
    assert large.value is None and large.sample.numel() == SAMPLE == 1024
    assert (large.sample[0], large.sample[-1]) == (0, 2**14) and (large.low, large.high) == (0, 2**14)


def test_what_is_kept_of_large_results_to_compare_them_has_an_end():
    def fn(x):
        for _ in range(20):
            x = x + 1
        return x

    samples = [step.kept.sample.numel() for step in Trace(fn, [torch.zeros(2**18)], {}, sampled=2**18).operations]
    assert samples == [2**18] * 16 + [SAMPLE] * 4  # 2**22 numbers, and then no more than a few of each


def test_of_numbers_that_cannot_be_summed_up_only_the_shape_is_kept():
    assert keep(torch.tensor([1 + 2j]).conj()).sample.tolist() == [1, -2]
    for odd in (torch.zeros(3, dtype=torch.float8_e4m3fn), torch.zeros(3, device="meta")):
        assert keep(odd).sample is None and keep(odd).value is None and keep(odd).shape == (3,)


def test_a_comprehension_is_no_call():
    run = trace(lambda x: sum(x * i for i in (1, 2)), torch.ones(2))
    assert [step.operation for step in run.steps] == ["* 1", "+ 0", "* 2", "+"]
    for comprehension in (lambda x: {i: x * i for i in (1, 2)}, lambda x: len({x * i for i in (1, 2)})):
        assert [step.operation for step in trace(comprehension, torch.ones(2)).steps] == ["* 1", "* 2"]


ASKED = """
    shape ndim dtype device layout requires_grad grad_fn grad _version itemsize size dim numel stride __len__
    element_size get_device data_ptr __hash__ nelement ndimension storage_offset untyped_storage is_floating_point
    is_contiguous
"""


def test_to_ask_a_result_for_its_kind_is_not_to_use_it():
    def asked(x, name):
        doubled = x * 2
        answer = getattr(doubled, name)
        answer() if callable(answer) else answer
        return x + 1

    for name in ASKED.split():
        found = [(step.operation, words[:23]) for step, words in trace(asked, torch.ones(2), name).surprises]
        assert found == [("* 2", "computed and never used")], name


def test_what_is_written_into_is_the_result_and_what_leaves_pytorch_is_used():
    def writes(x):
        y = torch.zeros(3)
        y[0] = x.sum()
        (x * 2).numpy()
        return y

    run = trace(writes, torch.ones(2))
    (step,) = (step for step in run.steps if step.operation == "[0] = ·")
    assert [shape for shape, _ in step.outputs] == [(3,)]
    assert [words for _, words in run.surprises if "never used" in words] == []


def test_results_that_are_equal_are_found_whatever_their_size_and_those_that_are_not_are_told_apart():
    alike, zeros = Alike(), keep(torch.zeros(2))
    nothing = keep(torch.full((2,), math.nan))
    assert alike.number(zeros) == alike.number(zeros) != alike.number(nothing) == alike.number(nothing)
    for seed in range(300):
        one = normal(6, seed=seed) * 1.07**seed
        near, other = one * (1 + 0.9 * show.RTOL), one * 1.01
        assert equal(keep(one), keep(near)) and not equal(keep(one), keep(other))
        assert alike.number(keep(one)) == alike.number(keep(near)) != alike.number(keep(other)), seed
        assert alike.number(keep(one)) == alike.number(keep(one * (1 - 0.9 * show.RTOL))), seed


def test_a_scale_is_what_every_number_was_multiplied_by():
    one = keep(torch.tensor([1.0, 2, 3]))
    assert factor(one, keep(torch.tensor([2.0, 4, 6]))) == pytest.approx(2)
    around_zero = [torch.tensor([-1.0, 1, 0]), torch.tensor([-2.0, 2, 0])]
    assert factor(*map(keep, around_zero)) == pytest.approx(2)
    open_and_hidden = keep(torch.tensor([1.0, 2, -math.inf]))
    assert factor(open_and_hidden, keep(torch.tensor([2.0, 4, -math.inf]))) == pytest.approx(2)
    assert factor(keep(torch.tensor([True, False])), keep(torch.tensor([2.0, 0]))) is None, "a mask has no scale"
    for other in ([2.0, 4, 6.02], [-2.0, -4, -6], [2.0, 4, math.inf], [2.0, 4]):
        assert factor(one, keep(torch.tensor(other))) is None
    assert factor(keep(torch.ones(3)), keep(2 * torch.ones(3))) is None, "one number three times shows no scale"
    assert factor(keep(torch.ones(1)), keep(2 * torch.ones(1))) is None


def test_where_one_side_is_no_number_the_difference_is_infinite():
    assert largest_difference(keep(torch.tensor([math.nan, 1])), keep(torch.tensor([2.0, 1]))) == (math.inf, 1)
    assert largest_difference(keep(torch.tensor([math.nan] * 2)), keep(torch.tensor([2.0, 1]))) == (math.inf, 2)
    assert largest_difference(keep(torch.tensor([2.0, 1])), keep(torch.tensor([2.0, 1]))) == (0, 0)
    assert largest_difference(keep(torch.tensor([math.inf, 1])), keep(torch.tensor([2.0, 1]))) == (math.inf, 1)
    assert largest_difference(keep(torch.tensor([0, 0.0])), keep(torch.tensor([2.0**20, 1e-3]))) == (2**20, 1)
    same_or_as_good, other = [math.nan, 1e-9, 1], [math.nan, 0, 2]
    assert largest_difference(keep(torch.tensor(same_or_as_good)), keep(torch.tensor(other))) == (1, 1)


class Odd:
    """What cannot be compared: neither yes nor no comes of it."""

    __hash__ = None

    def __eq__(self, other):
        return object()


def test_outputs_that_cannot_be_compared_are_not_called_the_same():
    for one, two in ((torch.eye(2).to_sparse(), torch.eye(2)), (torch.ones(2, device="meta"),) * 2):
        assert "no numbers that can be compared" in outputs_differ(one, two)
    assert outputs_differ(Odd(), Odd()) != ""
    odd = Odd()
    assert outputs_differ(odd, odd) == ""


def test_of_two_that_fail_both_errors_are_told():
    verdict = trace(lambda x: x[7], lambda x: x.view(3), torch.ones(2)).verdict
    assert "A raises IndexError" in verdict and " and B raises RuntimeError" in verdict
