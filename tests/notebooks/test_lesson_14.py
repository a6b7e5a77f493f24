"""What notebook 14 claims of sums, gates and the delta rule, for seeds that it does not show, and of its tests."""

import pytest
import torch

from workbench.behind import states


@pytest.fixture(scope="module")
def newest():
    """The share right after 16 writes, for each kind of layer, of models with seed 1."""
    models = {kind: states.train("newest", kind, d=8, seed=1) for kind in ("softmax", "sum", "gate", "delta")}
    return {kind: states.share_right("newest", model, 16) for kind, model in models.items()}


def test_only_who_can_forget_knows_the_newest_of_many(newest):
    assert max(newest["softmax"], newest["sum"]) < 0.5 < newest["gate"] < 0.9 < newest["delta"]
    assert abs(newest["softmax"] - states.by_frequency(16)) < 0.03  # as good as counting


def test_four_features_are_too_few_under_either_rule_and_a_row_holds_all():
    recalled = {
        kinds: states.share_right("recall", states.train("recall", *kinds, d=4, seed=1), 16)
        for kinds in (("sum",), ("delta",), ("sum", "softmax"))
    }
    assert abs(recalled["sum",] - 0.25) < 0.03 and abs(recalled["delta",] - recalled["sum",]) < 0.03
    assert recalled["sum", "softmax"] > 0.99


def test_the_sum_gives_back_more_and_the_delta_rule_the_newest():
    for seed in range(100, 110):  # draws that the lesson does not show
        by_sum, by_delta = (states.read_back(64, 32, seed, delta) for delta in (False, True))
        assert by_sum.sum() > by_delta.sum() and by_delta[48:].sum() > by_delta[:16].sum()


def test_an_odd_text_sees_every_fault_and_one_chunk_few():
    for seed in range(5):
        seen = {test: sum(states.sees(test, fault, seed) for fault in states.FAULTS) for test in states.TESTS}
        assert seen["odd text"] == len(states.FAULTS) and seen["one chunk"] == 2 and seen["one chunk, and state"] == 5
    right = states.with_fault("none", *text(11), 4)
    for one, other in zip(right, states.linear_attention(*text(11)), strict=True):
        torch.testing.assert_close(one, other)


def text(n):
    """A text with gates and rates, and a state handed in."""
    generator = torch.Generator().manual_seed(n)
    query, key, value = torch.randn(3, n, 8, generator=generator, dtype=torch.float64)
    keep, rate = torch.rand(2, n, generator=generator, dtype=torch.float64)
    return query, key / key.norm(dim=1, keepdim=True), value, keep, rate, torch.eye(8, dtype=torch.float64)
