"""What a computation takes: memory and time, as lesson 5 measures them."""

import pytest
import torch
import torch.nn.functional as F

from attn_lib import scaled_dot_product_attention
from workbench.behind.measure import megabytes


def of_length(n):
    return torch.randn(3, 1, 2, n, 32)


def test_megabytes_are_those_of_new_tensors_alone():
    x = torch.randn(256, 1024)  # one megabyte
    assert megabytes(lambda x: x + 1, x) == 1
    assert megabytes(lambda x: x[:10].T, x) == 0


@pytest.mark.parametrize("attend, factor", [(scaled_dot_product_attention, 4), (F.scaled_dot_product_attention, 2)])
def test_twice_the_length_takes_so_many_times_the_memory(attend, factor):
    assert megabytes(attend, *of_length(1024)) / megabytes(attend, *of_length(512)) == pytest.approx(factor, rel=0.1)
