"""Softmax in passing: parts merged in any order are the whole, tiles are attention, and so is the way back."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import attention_inputs, leading, normal, random_numbers, seeds, sizes
from torch.testing import assert_close

from attn_lib import (
    attention_backward,
    backward_block,
    causal_mask,
    finish,
    flash_attention,
    merge,
    merge_outputs,
    online,
    part,
    scaled_dot_product_attention,
)

tiles = st.integers(1, 7)


def scores_and_values(lead, n_queries, n_keys, seed, *, heard=0.6):
    """Scores of which many are −∞, whole rows among them, and values."""
    scores, values = normal(*lead, n_queries, n_keys, seed=seed), normal(*lead, n_keys, 3, seed=seed + 1)
    silent = torch.rand(scores.shape, generator=random_numbers(seed)) > heard
    return scores.masked_fill(silent, -math.inf), values


@given(leading, sizes, st.integers(3, 9), seeds, st.randoms(use_true_random=False))
def test_parts_merge_to_the_whole_in_any_order_and_bracket(lead, n_queries, n_keys, seed, random):
    scores, values = scores_and_values(lead, n_queries, n_keys, seed)
    states = [part(scores[..., j : j + 1], values[..., j : j + 1, :]) for j in range(n_keys)]
    while len(states) > 1:  # any two of them are merged
        random.shuffle(states)
        states.append(merge(states.pop(), states.pop()))
    assert_close(states[0], part(scores, values))
    output, lse = finish(*states[0])
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)  # a dead row is nan there
    assert_close((output, lse), (weights @ values, scores.logsumexp(dim=-1)))


@given(leading, sizes, sizes, seeds)
def test_a_part_in_which_nobody_is_heard_changes_nothing(lead, n_queries, n_keys, seed):
    state = part(*scores_and_values(lead, n_queries, n_keys, seed))
    nobody = part(torch.full((*lead, n_queries, 2), -math.inf).double(), normal(*lead, 2, 3, seed=seed))
    for merged in (merge(state, nobody), merge(nobody, state)):
        assert all(a.equal(b) for a, b in zip(merged, state, strict=True))


@given(attention_inputs(masked=False, grad=True), tiles, tiles, st.booleans())
def test_tiles_of_any_size_are_attention_and_its_gradients(inputs, rows, keys, is_causal):
    query, key, value, _ = inputs
    mask = causal_mask(query.size(-2), key.size(-2)) if is_causal else None
    expected, _ = scaled_dot_product_attention(query, key, value, mask)
    output, lse = flash_attention(query, key, value, rows=rows, keys=keys, is_causal=is_causal)
    scores = query @ key.mT / math.sqrt(query.size(-1))
    assert_close(output, expected)
    assert_close(lse, (scores if mask is None else scores.masked_fill(~mask, -math.inf)).logsumexp(dim=-1))
    gradients = (torch.autograd.grad(y.sin().sum(), (query, key, value)) for y in (output, expected))
    assert_close(*gradients)


@pytest.mark.parametrize("n, rows, keys, computed", [(512, 64, 64, 36), (512, 16, 64, 144), (512, 64, 16, 144)])
def test_tiles_beyond_the_rim_are_not_computed(monkeypatch, n, rows, keys, computed):
    calls = []
    monkeypatch.setattr(online, "part", lambda *block: calls.append(1) or part(*block))
    flash_attention(*torch.randn(3, n, 4), rows=rows, keys=keys, is_causal=True)
    assert len(calls) == computed


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_added_up_in_float32(dtype):
    ones = torch.ones(1, 2304, 2, dtype=dtype)
    output, lse = flash_attention(ones[:, :1], ones, ones, keys=1, scale=1.0)
    assert output.dtype == dtype and output.equal(ones[:, :1])  # added up in dtype, it would end at 2048 or before
    assert_close(lse, torch.full((1, 1), 2 + math.log(2304)))


@given(leading, sizes, sizes, sizes, seeds)
def test_outputs_merge_by_their_log_sum_exps(lead, n_queries, one, other, seed):
    scores, values = scores_and_values(lead, n_queries, one + other, seed)
    halves = [(scores[..., :one], values[..., :one, :]), (scores[..., one:], values[..., one:, :])]
    (a, lse_a), (b, lse_b) = (finish(*part(*half)) for half in halves)
    assert_close(merge_outputs(a, lse_a, b, lse_b), finish(*part(scores, values)))


@given(attention_inputs(), tiles)
def test_the_way_back_by_blocks_is_the_whole_one(inputs, keys):
    query, key, value, mask = inputs
    sizes_of_scores = (*query.shape[:-1], key.size(-2))
    mask = torch.ones(sizes_of_scores, dtype=torch.bool) if mask is None else mask.expand(sizes_of_scores)
    scores = (query @ key.mT / math.sqrt(query.size(-1))).masked_fill(~mask, -math.inf)
    output, lse = finish(*part(scores, value))
    grad_output = normal(*output.shape, seed=7)
    blocks = [slice(i, i + keys) for i in range(0, key.size(-2), keys)]
    shares = [
        backward_block(query, key[..., b, :], value[..., b, :], output, lse, grad_output, mask[..., b]) for b in blocks
    ]
    of_query, of_key, of_value = zip(*shares, strict=True)
    ours = sum(of_query), torch.cat(of_key, dim=-2), torch.cat(of_value, dim=-2)
    assert_close(ours, attention_backward(query, key, value, grad_output, mask))


def test_what_does_not_fit_is_refused_with_both_numbers():
    x, state = torch.zeros(2, 3, 4), part(torch.zeros(2, 3), torch.zeros(3, 4))
    other = part(torch.zeros(5, 3), torch.zeros(3, 4))
    calls = {
        (part, torch.zeros(2, 3), torch.zeros(5, 4)): (ValueError, "3 keys", "5"),
        (part, torch.zeros(2, 0), torch.zeros(0, 4)): (ValueError, "0 keys"),
        (merge, state, other): (ValueError, "2, 1", "5, 1"),
        (merge, state, 3): (TypeError, "b must be"),
        (flash_attention, x, torch.zeros(2, 3, 5), x): (ValueError, "4 features", "5"),
        (flash_attention, x[:, :0], x, x): (ValueError, "n_queries=0"),
        (merge_outputs, x, x[..., 0], x, torch.zeros(2, 4)): (ValueError, "lse_b", "(2, 4)", "(2, 3)"),
        (backward_block, x, x, x, x, torch.zeros(2, 4), x): (ValueError, "lse", "(2, 4)", "(2, 3)"),
    }
    for (function, *arguments), (error, *words) in calls.items():
        with pytest.raises(error) as refused:
            function(*arguments)
        assert all(word in str(refused.value) for word in words), refused.value
    for size, least in itertools.product(("rows", "keys"), (0, -1)):
        with pytest.raises(ValueError, match=f"{size}={least}"):
            flash_attention(x, x, x, **{size: least})
