"""The way back by hand is autograd's, through our attention and PyTorch's: any shape, any mask, dead rows too."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import attention_inputs, normal, seeds
from torch.testing import assert_close

from attn_lib import (
    attention_backward,
    masked_softmax,
    scaled_dot_product_attention,
    softmax_backward,
)

EXACT = {"rtol": 0, "atol": 1e-12}  # in float64


def came_back(output, seed=99):
    return normal(*output.shape, seed=seed, dtype=output.dtype)


# ---------------------------------------------------------------------------------------------- equal to autograd's


@given(attention_inputs(grad=True), st.sampled_from([None, 0.3, 1.0, 2.5]), seeds)
def test_attention_backward_equals_autograd(inputs, scale, seed):
    *qkv, mask = inputs
    output, _ = scaled_dot_product_attention(*qkv, mask, scale=scale)
    grad_output = came_back(output, seed)
    with torch.no_grad():
        made = attention_backward(*qkv, grad_output, mask, scale=scale)
    assert [gradient.shape for gradient in made] == [tensor.shape for tensor in qkv]
    for mine, its in zip(made, torch.autograd.grad(output, qkv, grad_output), strict=True):
        assert_close(mine, its, **EXACT)


@given(attention_inputs(), seeds)
def test_softmax_backward_is_autograds_and_its_rows_sum_to_0(inputs, seed):
    query, key, _, mask = inputs
    scores = (query @ key.mT).requires_grad_()
    weights = masked_softmax(scores, mask)
    back = came_back(weights, seed)
    made = softmax_backward(weights.detach(), back)
    assert_close(made, torch.autograd.grad(weights, scores, back)[0], **EXACT)
    assert_close(made.sum(dim=-1), torch.zeros(made.shape[:-1], dtype=made.dtype), **EXACT)
    assert (made[weights == 0] == 0).all()


@pytest.mark.parametrize("dtype, within", [(torch.float32, 1e-5), (torch.bfloat16, 5e-2), (torch.float16, 1e-2)])
def test_other_dtypes_keep_theirs(dtype, within):
    sizes = (2, 3, 4), (2, 5, 4), (2, 5, 2), (2, 3, 2)
    exact = [normal(*size, seed=i) for i, size in enumerate(sizes)]
    made = attention_backward(*(tensor.to(dtype) for tensor in exact))
    for mine, true in zip(made, attention_backward(*exact), strict=True):
        assert mine.dtype == dtype
        assert_close(mine.double(), true, rtol=within, atol=within)


# --------------------------------------------------------------------------------------------------------- dead rows


@given(attention_inputs(masked=True), seeds)
def test_a_dead_query_gets_nothing_and_gives_nothing(inputs, seed):
    *qkv, mask = inputs
    weights = masked_softmax(qkv[0] @ qkv[1].mT, mask)
    dead = ~mask.expand(weights.shape).any(dim=-1)
    grad_output = came_back(qkv[0] @ qkv[1].mT @ qkv[2], seed)
    made = attention_backward(*qkv, grad_output, mask)
    assert (made[0][dead] == 0).all()
    silenced = grad_output.masked_fill(dead[..., None], 0.0)
    for mine, without in zip(made, attention_backward(*qkv, silenced, mask), strict=True):
        assert mine.isfinite().all() and torch.equal(mine, without)
    unheard = ~mask.expand(weights.shape).any(dim=-2)
    assert (made[1][unheard] == 0).all() and (made[2][unheard] == 0).all()


# ----------------------------------------------------------------------------------------------------- what it holds


@given(attention_inputs(), seeds)
def test_arguments_are_left_as_they_were(inputs, seed):
    *qkv, mask = inputs
    grad_output = came_back(qkv[0] @ qkv[1].mT @ qkv[2], seed)
    before = [tensor.clone() for tensor in (*qkv, grad_output)]
    attention_backward(*qkv, grad_output, mask)
    assert all(map(torch.equal, before, (*qkv, grad_output)))


# ------------------------------------------------------------------------------------------------------------ errors

Q, K, V, G = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 6), normal(2, 3, 6)


@pytest.mark.parametrize(
    "arguments, exception, message",
    [
        ((Q, K, V, G[:, :2]), ValueError, r"grad_output has shape \(2, 2, 6\), the output has \(2, 3, 6\)"),
        ((Q, K, V, normal(3, 6)), ValueError, r"grad_output has shape \(3, 6\)"),
        ((Q, K, V, G.float()), TypeError, "query is torch.float64, grad_output is torch.float32"),
        ((Q, K, V, G.long()), TypeError, "grad_output must hold floating-point"),
        ((Q, K, V, [1.0]), TypeError, "grad_output must be a tensor, got list"),
        ((Q, K[..., :3], V, G), ValueError, "query has 4 features, key has 3"),
        ((Q, K, V[:, :4], G), ValueError, "key has 5 positions, value has 4"),
        ((Q, K[:1], V, G), ValueError, "leading dimensions differ"),
        ((Q, K, V, G, torch.ones(3, 5)), TypeError, "mask must be bool"),
        ((Q, K, V, G, torch.ones(3, 4, dtype=torch.bool)), ValueError, "does not broadcast"),
    ],
)
def test_what_does_not_fit_is_named_with_both_numbers(arguments, exception, message):
    with pytest.raises(exception, match=message):
        attention_backward(*arguments)


@pytest.mark.parametrize(
    "arguments, exception, message",
    [
        ((Q, K), ValueError, r"weights has shape \(2, 3, 4\), grad_weights has \(2, 5, 4\)"),
        ((Q, Q[0]), ValueError, r"grad_weights has \(3, 4\)"),
        ((Q.long(), Q), TypeError, "weights must hold floating-point"),
        ((Q, None), TypeError, "grad_weights must be a tensor, got NoneType"),
        ((torch.tensor(1.0), torch.tensor(1.0)), ValueError, "weights must have at least 1 dimension"),
    ],
)
def test_softmax_backward_says_what_does_not_fit(arguments, exception, message):
    with pytest.raises(exception, match=message):
        softmax_backward(*arguments)
