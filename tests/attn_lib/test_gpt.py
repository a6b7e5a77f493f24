"""A small GPT and its parts: equal to PyTorch's layers, and writing with a memory to reading all at once."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused
from strategies import leading, normal, random_numbers, seeds, sizes
from torch import nn
from torch.testing import assert_close

from attn_lib import GPT, Block, MultiHeadAttention, layer_norm, next_shares, next_token_loss, read_on


@given(leading, sizes, seeds)
def test_layer_norm_is_pytorchs(lead, d, seed):
    x, weight, bias = (normal(*shape, d, seed=seed + i, grad=True) for i, shape in enumerate((lead, (), ())))
    ours, theirs = layer_norm(x, weight, bias), F.layer_norm(x, (d,), weight, bias)
    assert_close(ours, theirs)
    assert_close(*(torch.autograd.grad(y.sin().sum(), (x, weight, bias)) for y in (ours, theirs)))


def test_features_all_alike_are_normed_to_0():
    assert_close(layer_norm(torch.full((2, 4), 7.0), torch.ones(4), torch.zeros(4)), torch.zeros(2, 4))


def block_of(theirs):
    """A `Block` with the weights of an `nn.TransformerEncoderLayer`, put in as notebook 11 does it."""
    block = Block(theirs.self_attn.embed_dim, theirs.self_attn.num_heads)
    block.attention = MultiHeadAttention.from_torch(theirs.self_attn)
    block.norm1, block.norm2 = theirs.norm1, theirs.norm2
    block.mlp = nn.Sequential(theirs.linear1, nn.GELU(), theirs.linear2)
    return block


@given(sizes, sizes, sizes, sizes, seeds)
def test_block_is_pytorchs_layer(batch, n, heads, head_dim, seed):
    torch.manual_seed(seed)
    d, options = heads * head_dim, {"dropout": 0.0, "activation": "gelu", "norm_first": True, "batch_first": True}
    theirs, x = nn.TransformerEncoderLayer(d, heads, 4 * d, **options).double(), normal(batch, n, d, seed=seed)
    expected = theirs(x, nn.Transformer.generate_square_subsequent_mask(n, dtype=x.dtype), is_causal=True)
    output, weights = block_of(theirs)(x)
    assert_close(output, expected)
    assert weights.shape == (batch, heads, n, n)


@given(sizes, st.integers(2, 5), sizes, seeds)
def test_next_token_loss_is_what_the_next_tokens_cost(batch, n, vocabulary, seed):
    logits = normal(batch, n, vocabulary, seed=seed)
    tokens = torch.randint(vocabulary, (batch, n), generator=random_numbers(seed))
    logs = logits.log_softmax(dim=-1)
    costs = [-logs[b, i, tokens[b, i + 1]] for b in range(batch) for i in range(n - 1)]
    assert_close(next_token_loss(logits, tokens), torch.stack(costs).mean())


@given(leading, sizes, st.floats(0.1, 5), st.integers(1, 7), seeds)
def test_next_shares_keep_the_largest_and_their_order(lead, vocabulary, temperature, top, seed):
    logits = normal(*lead, vocabulary, seed=seed)
    shares, kept = next_shares(logits, temperature, top), min(top, vocabulary)
    assert_close(shares.sum(dim=-1), torch.ones_like(shares.sum(dim=-1)))
    assert ((shares > 0).sum(dim=-1) <= kept).all()
    order, raised = logits.argsort(dim=-1, descending=True)[..., :kept], (logits.exp() ** (1 / temperature))
    expected = raised.gather(-1, order) / raised.gather(-1, order).sum(dim=-1, keepdim=True)
    assert_close(shares.gather(-1, order), expected)


def test_temperature_1_and_no_top_is_softmax():
    logits = normal(3, 5)
    assert_close(next_shares(logits), logits.softmax(dim=-1))


@given(st.lists(sizes, min_size=1, max_size=4), st.integers(1, 3), seeds)
def test_read_on_in_any_chunks_says_what_the_whole_text_says(chunks, blocks, seed):
    torch.manual_seed(seed)
    model = GPT(9, sum(chunks), 8, 2, blocks).double()
    tokens = torch.randint(9, (2, sum(chunks)))
    logits, caches = [], [None] * blocks
    for part in tokens.split(chunks, dim=1):
        said, caches = read_on(model, part, caches)
        logits.append(said)
    assert_close(torch.cat(logits, dim=1), model(tokens)[0])
    assert [cache.seen for cache in caches] == [sum(chunks)] * blocks


def test_who_comes_later_changes_nothing_and_every_parameter_takes_part():
    torch.manual_seed(0)
    model, tokens = GPT(9, 6, 8, 2, 2), torch.randint(9, (2, 6))
    later = torch.cat([tokens[:, :4], (tokens[:, 4:] + 1) % 9], dim=1)
    assert_close(model(later)[0][:, :4], model(tokens)[0][:, :4])
    assert model(tokens, need_weights=False)[1] == [None, None]
    next_token_loss(model(tokens)[0], tokens).backward()
    assert [name for name, p in model.named_parameters() if p.grad is None] == []


x, logits, tokens = torch.randn(2, 3, 4), torch.randn(2, 3, 7), torch.randint(7, (2, 3))
gpt = GPT(7, 3, 8, 2)
full = read_on(gpt, tokens, [None])[1]
BAD = {
    "weight": (lambda: layer_norm(x, torch.ones(3), torch.zeros(4)), ValueError, ["weight", "(3,)", "(2, 3, 4)"]),
    "tokens": (lambda: next_token_loss(logits, tokens[:, 1:]), ValueError, ["(2, 3, 7)", "(2, 2)"]),
    "float tokens": (lambda: next_token_loss(logits, tokens.float()), TypeError, ["tokens", "float32"]),
    "one token": (lambda: next_token_loss(logits[:, :1], tokens[:, :1]), ValueError, ["tokens has 1", "2"]),
    "temperature": (lambda: next_shares(logits, 0), ValueError, ["temperature=0"]),
    "top": (lambda: next_shares(logits, top=0), ValueError, ["top=0", "1"]),
    "too long": (lambda: gpt(tokens.repeat(1, 2)), ValueError, ["6 tokens", "length=3"]),
    "read on": (lambda: read_on(gpt, tokens[:, :1], full), ValueError, ["4 tokens", "length=3"]),
    "unknown": (lambda: gpt(tokens + 7), ValueError, ["tokens hold", "0 to 6"]),
}


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_both_numbers(name):
    assert_refused(*BAD[name])
