"""The three modules: equal to each other and to nn.MultiheadAttention once their weights are."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused
from strategies import normal, seeds, sizes
from torch import nn
from torch.testing import assert_close

from attn_lib import (
    MultiHeadAttention,
    MultiHeadAttentionByHeads,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)


def by_heads_with_weights_of(fused):
    listed = MultiHeadAttentionByHeads(fused.embed_dim, fused.num_heads, bias=fused.q_proj.bias is not None).double()
    with torch.no_grad():
        for name in ("q_proj", "k_proj", "v_proj"):
            for source in getattr(fused, name).state_dict():
                blocks = getattr(getattr(fused, name), source).chunk(fused.num_heads)
                for head, block in zip(listed.heads, blocks, strict=True):
                    getattr(getattr(head, name), source).copy_(block)
    listed.out_proj.load_state_dict(fused.out_proj.state_dict())
    return listed


@st.composite
def calls(draw):
    """A module of any size, inputs for it, and a mask in each of the forms it takes, dead rows included."""
    heads, batch, n_queries, n_keys = draw(sizes), draw(sizes), draw(sizes), draw(sizes)
    embed_dim = heads * draw(sizes)
    seed = draw(seeds)
    torch.manual_seed(seed)
    module = MultiHeadAttention(embed_dim, heads, bias=draw(st.booleans())).double()
    inputs = [normal(batch, n, embed_dim, seed=seed + i) for i, n in enumerate((n_queries, n_keys, n_keys))]
    shape = draw(
        st.sampled_from(
            [
                None,
                (n_queries, n_keys),
                (batch, 1, n_keys),
                (batch, n_queries, n_keys),
                (batch, heads, n_queries, n_keys),
                (batch, 1, 1, n_keys),
                (1, heads, n_queries, n_keys),
            ]
        )
    )
    mask = None if shape is None else torch.rand(shape) < draw(st.sampled_from([0.3, 0.8]))
    return module, inputs, mask


@given(calls())
def test_a_list_of_heads_is_one_product(call):
    fused, inputs, mask = call
    listed = by_heads_with_weights_of(fused)
    if mask is not None and mask.ndim == 4:  # one for each head, which only the one product takes
        with pytest.raises(ValueError, match="4 dimensions"):
            listed(*inputs, mask)
    else:
        assert_close(listed(*inputs, mask), fused(*inputs, mask))


@given(calls())
def test_without_weights_the_output_and_its_gradients_are_the_same(call):
    module, inputs, mask = call
    inputs = [x.requires_grad_() for x in inputs]
    whole, weights = module(*inputs, mask)
    fast, nothing = module(*inputs, mask, need_weights=False)
    assert nothing is None and weights.shape[1] == module.num_heads
    assert_close(fast, whole)
    parameters = [*inputs, *module.parameters()]
    assert_close(torch.autograd.grad(fast.sin().sum(), parameters), torch.autograd.grad(whole.sin().sum(), parameters))
    with torch.no_grad():
        assert_close(module(*inputs, mask, need_weights=False)[0], whole)


@given(calls())
def test_weights_are_those_of_the_function_for_each_head(call):
    module, (query, key, value), mask = call
    _, weights = module(query, key, value, mask)
    size = module.embed_dim // module.num_heads
    for h in range(module.num_heads):
        features = slice(h * size, (h + 1) * size)
        of_head = mask if mask is None or mask.ndim < 4 else mask.expand(-1, module.num_heads, -1, -1)[:, h]
        _, expected = scaled_dot_product_attention(
            module.q_proj(query)[..., features], module.k_proj(key)[..., features], value, of_head
        )
        assert_close(weights[:, h], expected)


# ---------------------------------------------------------------------- against nn.MultiheadAttention


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kdim, vdim", [(None, None), (5, 7)])
@pytest.mark.parametrize("padded, causal", [(False, False), (True, False), (False, True), (True, True)])
def test_pytorchs_module_with_its_weights(bias, kdim, vdim, padded, causal):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(12, 3, bias=bias, kdim=kdim, vdim=vdim, batch_first=True, dtype=torch.float64)
    if bias:
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
    ours = MultiHeadAttention.from_torch(theirs)
    query, key, value = normal(2, 4, 12, grad=True), normal(2, 4, kdim or 12, seed=1), normal(2, 4, vdim or 12, seed=2)
    padding = padding_mask([4, 2])
    mask = (padding if padded else torch.ones(1, 1, 4, dtype=torch.bool)) & (causal_mask(4) if causal else True)
    mask = mask.expand(2, -1, -1) if padded or causal else None
    output, weights = ours(query, key, value, mask)
    expected, expected_weights = theirs(
        query,
        key,
        value,
        key_padding_mask=~padding[:, 0] if padded else None,
        attn_mask=~causal_mask(4) if causal else None,
        average_attn_weights=False,
    )
    assert_close((output, weights), (expected, expected_weights))
    assert_close(torch.autograd.grad(output.sum(), query), torch.autograd.grad(expected.sum(), query))


def test_from_torch_copies_and_keeps_dtype_dropout_mode_and_what_is_frozen():
    theirs = nn.MultiheadAttention(4, 2, dropout=0.25, dtype=torch.float64).eval()
    theirs.in_proj_weight.requires_grad_(False)
    ours = MultiHeadAttention.from_torch(theirs)
    assert ours.q_proj.weight.dtype == torch.float64 and ours.dropout == 0.25 and not ours.training
    frozen = {name for name, parameter in ours.named_parameters() if not parameter.requires_grad}
    assert frozen == {"q_proj.weight", "k_proj.weight", "v_proj.weight"}
    theirs.in_proj_weight.zero_()
    assert (ours.q_proj.weight != 0).any()


@pytest.mark.parametrize(
    "theirs, exception, word",
    [
        (nn.Linear(4, 4), TypeError, "Linear"),
        (nn.MultiheadAttention(4, 2, add_bias_kv=True), ValueError, "add_bias_kv"),
        (nn.MultiheadAttention(4, 2, add_zero_attn=True), ValueError, "add_zero_attn"),
    ],
)
def test_from_torch_refuses_what_ours_does_not_have(theirs, exception, word):
    with pytest.raises(exception, match=word):
        MultiHeadAttention.from_torch(theirs)


# -------------------------------------------------------------------------------------------- causality


@given(sizes, sizes, st.booleans(), st.booleans(), seeds)
def test_is_causal_is_the_causal_mask(n_queries, n_keys, need_weights, grad, seed):
    torch.manual_seed(seed)
    module = MultiHeadAttention(6, 2).double()
    query, memory = normal(2, n_queries, 6, seed=seed), normal(2, n_keys, 6, seed=seed + 1, grad=grad)
    with torch.set_grad_enabled(grad):
        output, _ = module(query, memory, memory, is_causal=True, need_weights=need_weights)
    expected, _ = module(query, memory, memory, causal_mask(n_queries, n_keys))
    assert_close(output, expected)
    if grad:
        assert_close(torch.autograd.grad(output.sin().sum(), memory), torch.autograd.grad(expected.sin().sum(), memory))


# ------------------------------------------------------------------------------------- as modules should


def test_dropout_acts_in_training_only():
    torch.manual_seed(0)
    module, x = MultiHeadAttention(8, 2, dropout=0.5), torch.randn(3, 6, 8)
    for need_weights in (True, False):
        assert not torch.equal(
            module.train()(x, x, x, need_weights=need_weights)[0], module(x, x, x, need_weights=need_weights)[0]
        )
        assert_close(module.eval()(x, x, x, need_weights=need_weights)[0], module(x, x, x)[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("need_weights", [True, False])
def test_half_precision_with_a_dead_row(dtype, need_weights):
    torch.manual_seed(0)
    module, x = MultiHeadAttention(8, 2).to(dtype), torch.randn(2, 3, 8).to(dtype)
    output, _ = module(x, x, x, padding_mask([3, 0]), need_weights=need_weights)
    assert output.dtype == dtype and output.isfinite().all()
    assert_close(output[1], module.out_proj.bias.expand(3, 8))


@pytest.mark.parametrize("make", [MultiHeadAttention, MultiHeadAttentionByHeads])
def test_under_autocast_inputs_may_have_another_dtype_than_the_weights(make, device):
    with torch.autocast(device.type, torch.bfloat16):
        assert make(8, 2)(*[torch.randn(2, 3, 8).bfloat16()] * 3)[0].dtype == torch.bfloat16


# --------------------------------------------------------------------------------------------- bad input

x, y = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
mha, heads = MultiHeadAttention(8, 2), MultiHeadAttentionByHeads(8, 2)
half = MultiHeadAttentionByHeads(8, 2).half()
true = torch.ones(2, 3, 5, dtype=torch.bool)

BAD = {
    "divisible": (lambda: MultiHeadAttention(768, 10), ValueError, ["embed_dim=768", "num_heads=10"]),
    "no heads": (lambda: MultiHeadAttention(8, 0), ValueError, ["num_heads=0"]),
    "kdim": (lambda: MultiHeadAttention(8, 2, kdim=0), ValueError, ["kdim=0"]),
    "dropout": (lambda: MultiHeadAttention(8, 2, dropout=-0.1), ValueError, ["dropout=-0.1", "[0, 1]"]),
    "features": (lambda: mha(x, y[..., :4], y), ValueError, ["key has 4 features", "8"]),
    "2-D": (lambda: mha(x[0], y, y), ValueError, ["query", "(3, 8)"]),
    "batch": (lambda: mha(x, y[:1], y), ValueError, ["query has batch size 2", "key has 1"]),
    "positions": (lambda: heads(x, y, y[:, :4]), ValueError, ["key has 5", "value has 4"]),
    "positions, fused": (lambda: mha(x, y, y[:, :4], need_weights=False), ValueError, ["key has 5", "value has 4"]),
    "integers": (lambda: mha(x.int(), y, y), TypeError, ["query", "int32"]),
    "float mask": (lambda: mha(x, y, y, true.float()), TypeError, ["mask", "float32"]),
    "(batch, n) mask": (
        lambda: mha(x, y, y, true[:, 0]),
        ValueError,
        ["(2, 5)", "(3, 5)", "(2, 1 or 3, 5)", "(2, 2 or 1, 3 or 1, 5)"],
    ),
    "mask of another batch": (lambda: mha(x, y, y, true[:1].expand(3, 3, 5)), ValueError, ["(3, 3, 5)", "(2, 3, 5)"]),
    "mask of heads": (lambda: heads(x, y, y, true[:, None].expand(2, 3, 3, 5)), ValueError, ["(2, 3, 3, 5)"]),
    "half weights": (lambda: half(x, x, x), TypeError, ["query is torch.float32", "weights are torch.float16"]),
    "both": (lambda: mha(x, x, x, causal_mask(3), is_causal=True), ValueError, ["mask", "is_causal"]),
}


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_both_numbers(name):
    assert_refused(*BAD[name])
