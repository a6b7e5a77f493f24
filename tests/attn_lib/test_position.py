"""Positions: RoPE by its properties, ALiBi as a float mask, sinusoids by distance; and what notebook 8 says of them."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused
from strategies import normal, seeds
from torch.testing import assert_close

from attn_lib import alibi_bias, causal_mask, masked_softmax, position_angles, rotary, sinusoidal_encoding

even = st.integers(1, 6).map(lambda pairs: 2 * pairs)
leading = st.sampled_from([(), (2,), (2, 3)])
lengths = st.integers(0, 6)
starts = st.integers(0, 50)


# ------------------------------------------------------------------------------------------------------ sinusoids


def test_the_angles_are_those_of_the_paper():
    for p, i in itertools.product(range(5), range(3)):
        angle = (p + 7) / 10000 ** (2 * i / 6)
        assert position_angles(5, 6, start=7)[p, i].item() == pytest.approx(angle, rel=1e-14)
        assert sinusoidal_encoding(5, 6, start=7)[p, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
        assert sinusoidal_encoding(5, 6, start=7)[p, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)
    assert position_angles(2, 4, base=100.0).tolist() == [[0, 0], [1, pytest.approx(0.1)]]


def test_far_away_the_angles_are_not_rounded_to_float32():
    far = position_angles(1, 8, start=1_000_000)
    exact = [1_000_000 / 10000 ** (2 * i / 8) for i in range(4)]
    assert far.dtype == torch.float64
    assert_close(far[0], torch.tensor(exact, dtype=torch.float64), rtol=1e-14, atol=0)
    x = torch.ones(1, 8)
    assert_close(rotary(x, 1_000_000), rotary(x.double(), 1_000_000).float())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sinusoids_have_the_default_dtype(dtype):
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)
        assert sinusoidal_encoding(2, 4).dtype == alibi_bias(2, 3).dtype == dtype
    finally:
        torch.set_default_dtype(before)


# ------------------------------------------------------------------------------------------------------ RoPE


@given(leading, lengths, even, starts, seeds)
def test_a_pair_is_a_complex_number_that_is_turned(lead, n, head_dim, start, seed):
    x = normal(*lead, n, head_dim, seed=seed)
    angles = position_angles(n, head_dim, start=start)
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angles), angles)
    assert_close(rotary(x, start), torch.view_as_real(turned).flatten(-2))


@given(leading, lengths, even, starts, seeds)
def test_halves_are_pairs_in_another_order_to_the_last_bit(lead, n, head_dim, start, seed):
    x = normal(*lead, n, head_dim, seed=seed)
    order = [*range(0, head_dim, 2), *range(1, head_dim, 2)]
    assert rotary(x[..., order], start, halves=True).equal(rotary(x, start)[..., order])


def test_a_text_written_token_by_token_is_turned_as_the_whole():
    x = normal(2, 3, 7, 6)
    assert torch.cat([rotary(x[:, :, i : i + 1], i) for i in range(7)], dim=2).equal(rotary(x))
    assert not torch.allclose(rotary(x[:, :, 3:]), rotary(x)[:, :, 3:])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_low_precision_is_turned_by_angles_of_full_precision(dtype):
    x = normal(40, 8, dtype=dtype)
    assert_close(rotary(x, 5000).double(), rotary(x.double(), 5000), atol=0.05, rtol=0.02)


# ------------------------------------------------------------------------------------------------------ ALiBi


@pytest.mark.parametrize(
    "num_heads, exponents",
    [
        (1, [8]),
        (2, [4, 8]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (3, [4, 8, 2]),
        (6, [2, 4, 6, 8, 1, 3]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
    ],
)
def test_the_slopes_are_those_of_the_papers_code(num_heads, exponents):
    assert_close(-alibi_bias(num_heads, 1, 2)[:, 0, 0], 0.5 ** torch.tensor(exponents))


@given(st.integers(1, 20), st.integers(0, 5), st.integers(0, 7))
def test_alibi_price_grows_with_distance_from_the_last_key(num_heads, n_queries, n_keys):
    bias = alibi_bias(num_heads, n_queries, n_keys)
    assert bias.shape == (num_heads, n_queries, n_keys)
    for i, j in itertools.product(range(n_queries), range(n_keys)):
        distance = abs(i + n_keys - n_queries - j)
        assert_close(bias[:, i, j], distance * alibi_bias(num_heads, 1, 2)[:, 0, 0])
    assert not (bias == 0).logical_and(bias.signbit()).any()  # 0 is printed as 0


def biased(query, key, value, bias, mask):
    return masked_softmax(query @ key.mT / math.sqrt(query.size(-1)) + bias, mask) @ value


@pytest.mark.parametrize("n_queries", [6, 2])
def test_alibi_is_a_float_mask_of_pytorchs_own_attention(n_queries):
    query, key, value = normal(2, 4, n_queries, 8), normal(2, 4, 6, 8, seed=1), normal(2, 4, 6, 5, seed=2)
    bias, mask = alibi_bias(4, n_queries, 6).double(), causal_mask(n_queries, 6)
    ours = biased(query, key, value, bias, mask)
    assert_close(ours, F.scaled_dot_product_attention(query, key, value, bias.masked_fill(~mask, -math.inf)))


# ------------------------------------------------------------------------------------------------------ bad input

X = torch.ones(3, 4)
BAD = {
    "odd features": (lambda: position_angles(3, 5), ValueError, ["features=5", "2"]),
    "negative start": (lambda: rotary(X, -2), ValueError, ["start=-2", "at least 0"]),
    "start a mask": (lambda: rotary(X, True), TypeError, ["start", "True"]),
    "base 0": (lambda: rotary(X, base=0), ValueError, ["base=0", "larger than 0"]),
    "base a word": (lambda: position_angles(2, 4, base="10000"), TypeError, ["base", "'10000'"]),
    "whole numbers": (lambda: rotary(torch.ones(3, 4, dtype=torch.long)), TypeError, ["x ", "int64"]),
    "one row": (lambda: rotary(torch.ones(4)), ValueError, ["x ", "(4,)"]),
    "odd head_dim": (lambda: rotary(torch.ones(3, 5)), ValueError, ["head_dim=5", "2"]),
    "no heads": (lambda: alibi_bias(0, 3), ValueError, ["num_heads=0", "at least 1"]),
}


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_both_numbers(name):
    assert_refused(*BAD[name])
