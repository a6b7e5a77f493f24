"""masked_softmax, scaled_dot_product_attention, split_heads and merge_heads, against PyTorch's own."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused
from strategies import attention_inputs, normal, random_numbers, seeds, sizes
from torch.testing import assert_close

from attn_lib import causal_mask, fast, masked_softmax, merge_heads, scaled_dot_product_attention, split_heads

LOOSE = {
    torch.float64: {"atol": 1e-10, "rtol": 1e-10},
    torch.float32: {"atol": 1e-5, "rtol": 1e-4},
    torch.float16: {"atol": 4e-3, "rtol": 4e-3},
    torch.bfloat16: {"atol": 4e-2, "rtol": 4e-2},
}


def pytorch(query, key, value, mask, **options):
    """PyTorch's kernel, with every dimension of the mask written out, as some of its kernels want it."""
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], key.size(-2))
    return F.scaled_dot_product_attention(query, key, value, mask, **options)


# ------------------------------------------------------------------------------------- against PyTorch


@given(st.data(), st.sampled_from(list(LOOSE)))
def test_attention_is_pytorchs(data, dtype):
    query, key, value, mask = data.draw(attention_inputs(dtype))
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    exact = pytorch(query.double(), key.double(), value.double(), mask)
    assert output.dtype == dtype
    assert_close(output.double(), exact, **LOOSE[dtype])


@given(attention_inputs(), st.sampled_from([0.1, 1.0, 3, -0.5, 0.0]))
def test_a_given_scale_is_used(inputs, scale):
    query, key, value, mask = inputs
    output, _ = scaled_dot_product_attention(query, key, value, mask, scale=scale)
    assert_close(output, pytorch(query, key, value, mask, scale=scale))


# ------------------------------------------------------------------------------------------- dead rows


@given(attention_inputs(masked=True, grad=True))
def test_a_row_is_a_share_or_nothing_and_all_gradients_are_finite(inputs):
    query, key, value, mask = inputs
    output, weights = scaled_dot_product_attention(*inputs)
    whole = mask.expand(weights.shape)
    dead = ~whole.any(-1)
    assert (weights[~whole] == 0).all()
    assert_close(weights.sum(-1), (~dead).double())
    assert (output[dead] == 0).all()
    with torch.autograd.set_detect_anomaly(True):  # no NaN on the way either
        gradients = torch.autograd.grad((output.sum() + weights.square().sum()), (query, key, value))
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][dead] == 0).all()


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_masked_scores_reach_neither_weights_nor_gradients(odd):
    scores = torch.tensor([[odd, 1.0, odd], [2.0, odd, 3.0]], requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([[False, False, False], [True, False, True]]))
    assert (weights[0] == 0).all() and weights[1, 1] == 0 and weights[1].sum() == 1
    (weights * torch.arange(6.0).view(2, 3)).sum().backward()
    assert scores.grad.isfinite().all() and (scores.grad[0] == 0).all() and scores.grad[1, 0] != 0


def test_a_genuine_score_below_any_fill_value_still_wins():
    scores = torch.tensor([[-3e30, -2e30, 5.0]])
    mask = torch.tensor([[True, True, False]])
    assert masked_softmax(scores, mask).tolist() == [[0.0, 1.0, 0.0]]


def test_softmax_survives_large_scores():
    assert_close(masked_softmax(torch.tensor([1e30, 1e30])), torch.tensor([0.5, 0.5]))
    assert_close(masked_softmax(torch.tensor([65504.0, 0.0], dtype=torch.float16)).tolist(), [1.0, 0.0])


def test_float16_scores_do_not_overflow_before_they_are_scaled():
    query = key = torch.full((1, 256), 20.0, dtype=torch.float16)  # 256 · 400 is beyond float16, divided by 16 it fits
    output, _ = scaled_dot_product_attention(query, key, torch.ones(1, 1, dtype=torch.float16))
    assert output.item() == 1


# ------------------------------------------------------------------------------------------ invariants


@given(attention_inputs(masked=False), seeds)
def test_attention_ignores_the_order_of_keys(inputs, seed):
    query, key, value, _ = inputs
    generator = random_numbers(seed)
    of_keys = torch.randperm(key.size(-2), generator=generator)
    of_queries = torch.randperm(query.size(-2), generator=generator)
    output, weights = scaled_dot_product_attention(query, key, value)
    shuffled, shuffled_weights = scaled_dot_product_attention(
        query[..., of_queries, :], key[..., of_keys, :], value[..., of_keys, :]
    )
    assert_close(shuffled, output[..., of_queries, :])
    assert_close(shuffled_weights, weights[..., of_queries, :][..., of_keys])


@given(sizes, sizes, seeds)
def test_a_future_token_does_not_move_the_past(n, d, seed):
    query, key, value = (normal(n + 1, d, seed=seed + i) for i in range(3))
    before, _ = scaled_dot_product_attention(query, key, value, causal_mask(n + 1))
    key, value = key.clone(), value.clone()
    key[n], value[n] = 100.0, -100.0
    after, _ = scaled_dot_product_attention(query, key, value, causal_mask(n + 1))
    assert torch.equal(before[:n], after[:n])
    assert not torch.allclose(before[n], after[n])


@given(attention_inputs())
def test_arguments_are_never_changed(inputs):
    copies = [None if t is None else t.clone() for t in inputs]
    scaled_dot_product_attention(*inputs, dropout_p=0.5)
    scores = inputs[0] @ inputs[1].mT
    kept = scores.clone()
    masked_softmax(scores, inputs[3])
    assert all(a is None or torch.equal(a, b) for a, b in zip(inputs, copies, strict=True))
    assert torch.equal(scores, kept)


def test_dropout_zeroes_weights_and_rescales_the_rest():
    torch.manual_seed(0)
    query, key, value = normal(500, 4), normal(6, 4, seed=1), normal(6, 2, seed=2)
    _, whole = scaled_dot_product_attention(query, key, value)
    output, dropped = scaled_dot_product_attention(query, key, value, dropout_p=0.5)
    kept = dropped != 0
    assert_close(dropped[kept], 2 * whole[kept])
    assert 0.45 < kept.double().mean() < 0.55
    assert_close(output, dropped @ value)
    everything_dropped, _ = scaled_dot_product_attention(query, key, value, dropout_p=1.0)
    assert (everything_dropped == 0).all()


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4)])
def test_empty_batches_and_sequences_pass_through(shape):
    x = torch.randn(shape)
    output, weights = scaled_dot_product_attention(x, x, x)
    assert output.shape == shape and weights.shape == (*shape[:2], shape[1])


def test_no_keys_at_all_is_nothing_to_attend_to():
    output, weights = scaled_dot_product_attention(torch.randn(2, 3, 4), torch.randn(2, 0, 4), torch.randn(2, 0, 5))
    assert weights.shape == (2, 3, 0)
    assert torch.equal(output, torch.zeros(2, 3, 5))


# ----------------------------------------------------------------------------------------------- heads


@given(sizes, sizes, sizes, sizes)
def test_head_h_holds_its_slice_of_every_tokens_features(batch, n, heads, head_dim):
    x = normal(batch, n, heads * head_dim)
    split = split_heads(x, heads)
    assert split.shape == (batch, heads, n, head_dim)
    for h in range(heads):
        assert torch.equal(split[:, h], x[:, :, h * head_dim : (h + 1) * head_dim])
    assert torch.equal(merge_heads(split), x)
    assert split.data_ptr() == x.data_ptr()  # a view


# ------------------------------------------------------------------------ under what PyTorch can do to a function


def graph_only(graph, inputs):
    """In place of a compiler, which a machine may not have: torch.compile then takes the function to one graph."""
    return graph


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, fast.attention_with_weights])
@pytest.mark.parametrize("rows", [None, [[True, False, True], [False, False, False]]], ids=["whole", "masked"])
def test_compile_takes_attention_as_one_graph(attend, rows, monkeypatch):
    monkeypatch.setattr(fast, "FAST_PATH_MIN_WEIGHTS", 0)
    mask = None if rows is None else torch.tensor(rows)
    inputs = torch.randn(2, 1, 2, 3), torch.randn(2, 1, 3, 3), torch.randn(2, 1, 3, 4), mask
    torch._dynamo.reset()
    compiled = torch.compile(attend, fullgraph=True, backend=graph_only)
    assert_close(compiled(*inputs), scaled_dot_product_attention(*inputs))


def test_export_takes_attention_and_its_mask_with_sizes_left_open():
    class Module(torch.nn.Module):
        def forward(self, x, y):
            return scaled_dot_product_attention(x, y, y, causal_mask(x.size(0), y.size(0)))

    sizes = {"x": {0: torch.export.Dim("n")}, "y": {0: torch.export.Dim("m")}}
    exported = torch.export.export(Module(), (torch.randn(3, 4), torch.randn(4, 4)), dynamic_shapes=sizes).module()
    x, y = torch.randn(2, 4), torch.randn(5, 4)
    assert_close(exported(x, y), scaled_dot_product_attention(x, y, y, causal_mask(2, 5)))


# ------------------------------------------------------------------------------------------- bad input

q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
mask = torch.ones(3, 5, dtype=torch.bool)
attend = scaled_dot_product_attention

BAD = {
    "a list": (lambda: attend([[1.0]], k, v), TypeError, ["query", "tensor", "list"]),
    "integers": (lambda: attend(q.int(), k.int(), v), TypeError, ["query", "int32"]),
    "two dtypes": (lambda: attend(q, k.double(), v), TypeError, ["float32", "float64"]),
    "features": (lambda: attend(q, k[..., :3], v), ValueError, ["query has 4 features", "key has 3"]),
    "no features": (lambda: attend(q[..., :0], k[..., :0], v), ValueError, ["0 features"]),
    "a vector": (lambda: attend(q[0, 0], k, v), ValueError, ["query", "(4,)"]),
    "lengths": (lambda: attend(q, k, v[:, :4]), ValueError, ["key has 5 positions", "value has 4"]),
    "batches": (lambda: attend(q, k[:1], v[:1]), ValueError, ["query (2,)", "key (1,)"]),
    "float mask": (lambda: attend(q, k, v, mask.float()), TypeError, ["mask", "bool", "float32"]),
    "mask too small": (lambda: attend(q, k, v, mask[:2]), ValueError, ["(2, 5)", "(2, 3, 5)"]),
    "mask too deep": (lambda: attend(q[0], k[0], v[0], mask[None]), ValueError, ["(1, 3, 5)", "(3, 5)"]),
    "(batch, n, n) for heads": (
        lambda: attend(*[torch.randn(3, 3, 5, 4)] * 3, torch.ones(3, 5, 5, dtype=torch.bool)),
        ValueError,
        ["(3, 5, 5)", "(3, 3, 5, 5)"],
    ),
    "dropout": (lambda: attend(q, k, v, dropout_p=1.5), ValueError, ["dropout_p=1.5", "[0, 1]"]),
    "dropout word": (lambda: attend(q, k, v, dropout_p="0.1"), TypeError, ["dropout_p", "'0.1'"]),
    "integer scores": (lambda: masked_softmax(torch.ones(2, 2, dtype=torch.int64)), TypeError, ["scores", "int64"]),
    "scalar scores": (lambda: masked_softmax(torch.tensor(1.0)), ValueError, ["scores", "0"]),
    "softmax mask": (lambda: masked_softmax(torch.ones(2, 2), mask), ValueError, ["(3, 5)", "(2, 2)"]),
    "not divisible": (lambda: split_heads(torch.ones(1, 2, 768), 10), ValueError, ["768", "num_heads=10"]),
    "no heads": (lambda: split_heads(torch.ones(1, 2, 4), 0), ValueError, ["num_heads=0", "at least 1"]),
    "split 2-D": (lambda: split_heads(torch.ones(2, 4), 2), ValueError, ["x", "(2, 4)"]),
    "merge 3-D": (lambda: merge_heads(torch.ones(2, 3, 4)), ValueError, ["x", "(2, 3, 4)"]),
}


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_both_numbers(name):
    assert_refused(*BAD[name])
