"""How far apart two stacks of layers are, layer by layer: where one was loaded wrongly, they part."""

import copy

import pytest
import torch
from torch import nn

from workbench.trace import apart


class Cut(nn.Linear):
    """A layer that returns several things, takes a mask, and hands on the first."""

    def forward(self, x, *, mask):
        return super().forward(x) * mask, "weights"


@pytest.fixture
def layers():
    torch.manual_seed(0)
    return [nn.Linear(4, 4) for _ in range(5)]


def test_copies_are_nowhere_apart(layers):
    assert apart(layers, copy.deepcopy(layers), torch.randn(2, 4)) == [0.0] * 5


@pytest.mark.parametrize("wrong", range(5))
def test_the_first_that_differs_is_the_wrong_layer(layers, wrong):
    other = copy.deepcopy(layers)
    other[wrong].weight.data = other[wrong].weight.data.T
    differs = [difference > 1e-4 for difference in apart(layers, other, torch.randn(2, 4))]
    assert differs.index(True) == wrong


def test_layers_get_the_options_and_hand_on_what_comes_first():
    torch.manual_seed(0)
    one, other = nn.ModuleList([Cut(4, 4), Cut(4, 4)]), [Cut(4, 4), Cut(4, 4)]
    assert min(apart(one, other, torch.randn(2, 4), mask=1)) > 0
    assert apart(one, other, torch.randn(2, 4), mask=0) == [0.0, 0.0]


def test_stacks_of_two_heights_are_refused_with_both_numbers(layers):
    with pytest.raises(ValueError, match=r"5 layers.* 3"):
        apart(layers, layers[:3], torch.randn(2, 4))
