"""What notebook 14 claims of sums, gates and the delta rule, for seeds that it does not show, and of its tests."""

import torch

from workbench.behind import states


def test_softmax_is_as_good_as_counting():
    """The notebook prints what every kind of layer knows; why softmax knows no more is said in words alone."""
    model = states.train("newest", "softmax", d=8, seed=1)
    assert abs(states.share_right("newest", model, 16) - states.by_frequency(16)) < 0.03


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
