"""Attention without a row: token by token, in chunks and as a masked product it is the same, and so are gradients."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from strategies import leading, normal, random_numbers, seeds, sizes
from torch.testing import assert_close

from attn_lib import cache_bytes, chunked_attention, linear_attention, read_state, state_bytes, write_state

lengths = st.integers(0, 9)
chunks = st.integers(1, 11)


@st.composite
def texts(draw, gates=None, grad=False):
    """Six arguments of a text that may be empty: keys of length 1, and keep, rate and state there or None."""
    lead, n, d_k, d_v, seed = draw(leading), draw(lengths), draw(sizes), draw(sizes), draw(seeds)
    keep, rate = (torch.rand(*lead, n, generator=random_numbers(seed + j), dtype=torch.float64) for j in (3, 4))
    keep = torch.where(keep < 0.1, 0.0, keep) if draw(st.booleans()) else keep  # 0: all before it is gone
    state = normal(*lead, d_k, d_v, seed=seed + 5)
    query, value = normal(*lead, n, d_k, seed=seed), normal(*lead, n, d_v, seed=seed + 2)
    key = F.normalize(normal(*lead, n, d_k, seed=seed + 1), dim=-1)
    there = [draw(st.booleans()) if gates is None else gates for _ in range(3)]
    optional = (x if is_there else None for x, is_there in zip((keep, rate, state), there, strict=True))
    return [x if x is None else x.requires_grad_(grad) for x in (query, key, value, *optional)]


def as_a_masked_product(query, key, value, keep):
    """Without softmax, every pair of a query and an earlier key faded by the product of what is kept between them."""
    n = key.size(-2)
    left = torch.zeros(*key.shape[:-2], n, n, dtype=key.dtype)
    for i, j in itertools.product(range(n), range(n)):
        if j <= i:
            left[..., i, j] = keep[..., j + 1 : i + 1].prod(dim=-1)
    return (left * (query @ key.mT)) @ value


@given(texts(), chunks)
def test_chunks_of_any_size_are_token_by_token(text, chunk):
    assert_close(chunked_attention(*text, chunk=chunk), linear_attention(*text))


@given(texts())
def test_without_a_rate_it_is_a_masked_product(text):
    query, key, value, keep, _, state = text
    output, new = linear_attention(query, key, value, keep)
    keep = torch.ones_like(key[..., 0]) if keep is None else keep
    assert_close(output, as_a_masked_product(query, key, value, keep))
    before = torch.zeros_like(new) if state is None else state
    shifted, _ = linear_attention(query, key, value, keep, None, before)
    assert_close(shifted - output, keep.cumprod(dim=-1)[..., None] * (query @ before))


@given(texts(), st.integers(0, 9), chunks)
def test_a_text_may_be_cut_where_the_state_is_handed_on(text, cut, chunk):
    *tokens, state = text
    axes = (-2, -2, -2, -1, -1)
    halves = [(x, x) if x is None else x.tensor_split([cut], dim=at) for x, at in zip(tokens, axes, strict=True)]
    first, rest = zip(*halves, strict=True)
    one, between = chunked_attention(*first, state, chunk=chunk)
    other, last = linear_attention(*rest, between)
    assert_close((torch.cat([one, other], dim=-2), last), linear_attention(*text))


@given(texts(gates=True, grad=True), chunks)
def test_gradients_are_those_of_the_matrix_form(text, chunk):
    """S ← keep (1 − rate kᵀk) S + rate kᵀv, written with whole matrices; its gradients are autograd's."""
    query, key, value, keep, rate, state = text
    outputs, new = [value[..., :0, :]], state
    for t in range(key.size(-2)):
        k, v = key[..., t : t + 1, :], value[..., t : t + 1, :]
        a, b = keep[..., t, None, None], rate[..., t, None, None]
        new = a * (torch.eye(k.size(-1), dtype=k.dtype) - b * k.mT @ k) @ new + b * k.mT @ v
        outputs.append(query[..., t : t + 1, :] @ new)
    expected = torch.cat(outputs, dim=-2), new
    made = linear_attention(*text), chunked_attention(*text, chunk=chunk)
    ways = [
        torch.autograd.grad(sum(x.sin().sum() for x in way), text, materialize_grads=True) for way in (expected, *made)
    ]
    for way, gradients in zip(made, ways[1:], strict=True):
        assert_close(way, expected)
        assert_close(gradients, ways[0])


def test_a_gate_of_0_forgets_all_before_and_a_rate_of_0_writes_nothing():
    state, key, value = normal(2, 3, 4), F.normalize(normal(2, 3, seed=1), dim=-1), normal(2, 4, seed=2)
    none, one = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    assert_close(write_state(state, key, value, none), write_state(torch.zeros_like(state), key, value))
    assert write_state(state, key, value, one, none).equal(state)
    assert_close(read_state(write_state(state, key, value, one), key), read_state(state, key) + value)


@pytest.mark.parametrize("attend", [linear_attention, chunked_attention])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_state_of_halves_is_kept_in_float32(attend, dtype):
    ones = torch.ones(1, 300, 1, dtype=dtype)
    output, state = attend(ones, ones, ones)
    assert output.dtype == dtype and state.dtype == torch.float32 and state.item() == 300  # bfloat16 stops at 256


@pytest.mark.parametrize("n", [64, 200])
def test_in_float32_chunks_and_tokens_differ_by_rounding(n):
    query, key, value = normal(3, 2, n, 16, dtype=torch.float32)
    keep, rate = torch.rand(2, 2, n, generator=random_numbers(7))
    text = query, F.normalize(key, dim=-1), value, keep, rate
    assert_close(chunked_attention(*text), linear_attention(*text), rtol=0, atol=1e-5)


def test_a_state_is_as_large_as_a_cache_of_as_many_tokens_as_features():
    for heads, size in ((1, 128), (4, 64), (32, 96)):
        assert state_bytes(7, heads, size, size) == cache_bytes(7, heads, size, tokens=size)


def test_what_does_not_fit_is_refused_with_both_numbers():
    x, gate, state = torch.zeros(2, 3, 4), torch.zeros(2, 3), torch.zeros(2, 4, 4)
    calls = {
        (x[:, :2], x, x): (ValueError, "query has 2 positions", "3"),
        (x, torch.zeros(2, 3, 5), x): (ValueError, "4 features", "5"),
        (x, x, x, gate[:, :2]): (ValueError, "keep", "(2, 2)", "(2, 3)"),
        (x, x, x, gate, gate[0]): (ValueError, "rate", "(3,)", "(2, 3)"),
        (x, x, x, None, None, state[:, :3]): (ValueError, "state", "(2, 3, 4)", "(2, 4, 4)"),
        (x, x, x, gate.long()): (TypeError, "keep", "int64"),
        (x, x.double(), x): (TypeError, "float32", "float64"),
    }
    for attend, (arguments, (error, *words)) in itertools.product((linear_attention, chunked_attention), calls.items()):
        with pytest.raises(error) as refused:
            attend(*arguments)
        assert all(word in str(refused.value) for word in words), refused.value
    for chunk in (0, -1):
        with pytest.raises(ValueError, match=f"chunk={chunk}"):
            chunked_attention(x, x, x, chunk=chunk)
    with pytest.raises(ValueError, match="heads=0"):
        state_bytes(1, 0, 4, 4)
