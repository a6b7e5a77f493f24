"""The fast path is the taught function: same numbers, same gradients, to the second derivative."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import masks, normal, seeds, sizes
from torch.testing import assert_close

from attn_lib import causal_mask, fast, scaled_dot_product_attention


@pytest.fixture(autouse=True)
def always_fast(monkeypatch):
    monkeypatch.setattr(fast, "FAST_PATH_MIN_WEIGHTS", 0)


@st.composite
def heads(draw, dtype=torch.float64):
    batch, num_heads, n_queries, n_keys, d = draw(sizes), draw(sizes), draw(sizes), draw(sizes), draw(sizes)
    seed = draw(seeds)
    shapes = [(batch, num_heads, n, d) for n in (n_queries, n_keys, n_keys)]
    inputs = [normal(*shape, seed=seed + i, dtype=dtype, grad=True) for i, shape in enumerate(shapes)]
    mask = draw(st.sampled_from(["none", "causal", "mask"]))
    return inputs, mask, draw(masks((batch, num_heads, n_queries, n_keys))) if mask == "mask" else None


@given(heads())
def test_numbers_and_gradients_are_the_taught_functions(call):
    inputs, kind, mask = call
    kept = [tensor.detach().clone() for tensor in inputs]
    ours = fast.attention_with_weights(*inputs, mask, is_causal=kind == "causal")
    gradients = torch.autograd.grad(ours[0].sin().sum() + ours[1].square().sum(), inputs)
    if kind == "causal":
        mask = causal_mask(inputs[0].size(-2), inputs[1].size(-2))
    taught = scaled_dot_product_attention(*inputs, mask)
    assert_close(ours, taught)
    assert_close(gradients, torch.autograd.grad(taught[0].sin().sum() + taught[1].square().sum(), inputs))
    assert all(torch.equal(one, other) for one, other in zip(inputs, kept, strict=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_other_dtypes_and_strides(dtype):
    query, key, value = (normal(2, 5, 3, 8, seed=i).to(dtype).transpose(1, 2) for i in range(3))
    output, weights = fast.attention_with_weights(query, key, value, is_causal=True)
    exact, exact_weights = scaled_dot_product_attention(query.double(), key.double(), value.double(), causal_mask(5))
    assert output.dtype == weights.dtype == dtype
    assert_close(output.double(), exact, atol=3e-2, rtol=3e-2)
    assert_close(weights.double(), exact_weights, atol=3e-2, rtol=3e-2)


@pytest.mark.parametrize("masked", [True, False])
def test_second_derivatives_are_right(masked):
    inputs = [normal(1, 2, n, 2, seed=n, grad=True) for n in (3, 4, 4)]
    mask = torch.tensor([[True, False, True, True], [False] * 4, [True] * 4]) if masked else None
    assert torch.autograd.gradgradcheck(lambda *qkv: fast.attention_with_weights(*qkv, mask), inputs)
