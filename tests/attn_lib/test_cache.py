"""Attention with a cache: any cut of a text comes to what the whole comes to, in ours and in PyTorch's."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused
from strategies import normal, seeds
from torch.testing import assert_close

from attn_lib import (
    Cache,
    cache_bytes,
    cached_attention,
    causal_mask,
    rotary,
    scaled_dot_product_attention,
    share_heads,
    window_mask,
)

WITHIN = {torch.float32: 2e-6, torch.float64: 1e-14}
leading = st.sampled_from([(), (2,), (2, 1)])
windows = st.one_of(st.none(), st.integers(1, 8))


@st.composite
def texts(draw, dtype=torch.float64):
    """query, key and value of a whole text, heads that share, and how many tokens come at a time."""
    chunks = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    kv_heads, groups, pairs, d_v, seed = (*(draw(st.integers(1, 3)) for _ in range(4)), draw(seeds))
    lead, n = draw(leading), sum(chunks)
    query = normal(*lead, kv_heads * groups, n, 2 * pairs, seed=seed, dtype=dtype)
    key = normal(*lead, kv_heads, n, 2 * pairs, seed=seed + 1, dtype=dtype)
    return query, key, normal(*lead, kv_heads, n, d_v, seed=seed + 2, dtype=dtype), chunks


def read(query, key, value, chunks, **options):
    """All outputs, and the last cache, of a text that comes in chunks."""
    outputs, cache = [], None
    for new in zip(*(x.split(chunks, dim=-2) for x in (query, key, value)), strict=True):
        output, cache = cached_attention(*new, cache, **options)
        outputs.append(output)
    return torch.cat(outputs, dim=-2), cache


def as_a_whole(query, key, value, *, window=None, rope=False):
    """The same by the definition: one call for all tokens, every query with a key and a value of its own."""
    n, groups = query.size(-2), query.size(-3) // key.size(-3)
    query, key = (rotary(query), rotary(key)) if rope else (query, key)
    mask = torch.tensor([[0 <= i - j < (window or n) for j in range(n)] for i in range(n)])
    key, value = (torch.stack([x[..., h // groups, :, :] for h in range(query.size(-3))], -3) for x in (key, value))
    return scaled_dot_product_attention(query, key, value, mask)[0]


# --------------------------------------------------------------------------------------- equal to the full computation


@pytest.mark.parametrize("dtype", WITHIN)
@given(st.data(), windows, st.booleans())
def test_any_cut_of_a_text_comes_to_the_full_computation(dtype, data, window, rope):
    query, key, value, chunks = data.draw(texts(dtype))
    output, _ = read(query, key, value, chunks, window=window, rope=rope)
    assert output.dtype == dtype
    assert_close(output, as_a_whole(query, key, value, window=window, rope=rope), rtol=0, atol=WITHIN[dtype])


# ------------------------------------------------------------------------------------------------- what is kept


@given(texts(), windows, st.booleans())
def test_cache_holds_the_latest_turned_keys_and_a_count(text, window, rope):
    query, key, value, chunks = text
    n = query.size(-2)
    _, cache = read(query, key, value, chunks, window=window, rope=rope)
    held = n if window is None else min(n, window - 1)
    assert cache.seen == n
    assert_close(cache.keys, (rotary(key) if rope else key)[..., n - held :, :])
    assert cache.values.equal(value[..., n - held :, :])


@given(texts(), windows)
def test_cached_attention_changes_neither_input_nor_cache(text, window):
    query, key, value, chunks = text
    first = [x[..., : chunks[0], :] for x in (query, key, value)]
    before = [x.clone() for x in first]
    _, cache = cached_attention(*first, window=window)
    kept = [x.clone() for x in cache[:2]]
    one, _ = cached_attention(*first, cache, window=window)
    cached_attention(*(-x for x in first), cache, window=window)
    again, _ = cached_attention(*first, cache, window=window)
    assert one.equal(again)
    assert all(a.equal(b) for a, b in zip((*first, *cache[:2]), (*before, *kept), strict=True))


@given(st.integers(0, 7), st.integers(0, 7), st.integers(1, 9))
def test_a_window_is_the_latest_keys_up_to_ones_own(n_queries, n_keys, window):
    mask = window_mask(n_queries, n_keys, window)
    assert mask.dtype == torch.bool and mask.shape == (n_queries, n_keys)
    for i in range(n_queries):
        own = i + n_keys - n_queries
        assert mask[i].nonzero().flatten().tolist() == [j for j in range(n_keys) if own - window < j <= own]
    assert window_mask(n_queries, n_keys, max(1, n_keys)).equal(causal_mask(n_queries, n_keys))


@given(st.integers(1, 4), st.integers(1, 4), seeds)
def test_neighbouring_query_heads_share(kv_heads, groups, seed):
    x = normal(2, kv_heads, 3, 4, seed=seed)
    shared = share_heads(x, groups)
    assert shared.shape == (2, kv_heads * groups, 3, 4)
    for h in range(kv_heads * groups):
        assert shared[:, h].equal(x[:, h // groups])
    assert share_heads(x[0], groups).equal(shared[0])


@given(
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(0, 6),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_bytes_are_those_of_the_caches_of_all_layers(layers, kv_heads, head_dim, tokens, dtype):
    cache = Cache(*(torch.zeros(1, kv_heads, tokens, head_dim, dtype=dtype) for _ in range(2)), tokens)
    held = layers * sum(x.nbytes for x in cache[:2])
    assert cache_bytes(layers, kv_heads, head_dim, tokens=tokens, bytes_per_number=dtype.itemsize) == held


# ------------------------------------------------------------------------------------------------- bad input

X = torch.ones(1, 2, 3, 4)
CACHE = Cache(X, X, 3)
BAD = {
    "another number of new keys": (lambda: cached_attention(X, X[:, :, :2], X), ValueError, ["3", "key has 2"]),
    "another number of new values": (lambda: cached_attention(X, X, X[:, :, :2]), ValueError, ["3", "value has 2"]),
    "heads that do not divide": (
        lambda: cached_attention(torch.ones(1, 3, 3, 4), X, X),
        ValueError,
        ["heads=3", "kv_heads=2"],
    ),
    "no stored head": (lambda: cached_attention(X, X[:, :0], X[:, :0]), ValueError, ["heads=2", "kv_heads=0"]),
    "values of other heads": (lambda: cached_attention(X, X, X[:, :1]), ValueError, ["key has 2", "value has 1"]),
    "other features": (lambda: cached_attention(X[..., :2], X, X), ValueError, ["query has 2", "key has 4"]),
    "window 0": (lambda: cached_attention(X, X, X, window=0), ValueError, ["window=0", "at least 1"]),
    "odd head_dim": (lambda: cached_attention(*[X[..., :3]] * 3, rope=True), ValueError, ["head_dim=3", "2"]),
    "cache of another batch": (
        lambda: cached_attention(*[torch.ones(2, 2, 1, 4)] * 3, CACHE),
        ValueError,
        ["cache.keys", "(1, 2, 3, 4)", "(2, 2, 1, 4)"],
    ),
    "cache of other heads": (
        lambda: cached_attention(*[torch.ones(1, 1, 1, 4)] * 3, CACHE),
        ValueError,
        ["cache.keys", "(1, 2, 3, 4)", "(1, 1, 1, 4)"],
    ),
    "cache of other values": (
        lambda: cached_attention(X, X, X[..., :2], CACHE),
        ValueError,
        ["cache.values", "(1, 2, 3, 4)", "(1, 2, 3, 2)"],
    ),
    "cache of another dtype": (lambda: cached_attention(*[X.double()] * 3, CACHE), TypeError, ["float32", "float64"]),
    "fewer values than keys": (
        lambda: cached_attention(X, X, X, Cache(X, X[:, :, :2], 3)),
        ValueError,
        ["3 keys", "2 values"],
    ),
    "seen less than kept": (lambda: cached_attention(X, X, X, Cache(X, X, 2)), ValueError, ["3 keys", "cache.seen=2"]),
    "groups 0": (lambda: share_heads(X, 0), ValueError, ["groups=0", "at least 1"]),
    "one head": (lambda: share_heads(X[0, 0], 2), ValueError, ["x ", "(3, 4)"]),
    "two dimensions": (lambda: cached_attention(X[0, 0], X[0, 0], X[0, 0]), ValueError, ["query", "(3, 4)"]),
    "no layers": (lambda: cache_bytes(0, 1, 1), ValueError, ["layers=0", "at least 1"]),
}


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_both_numbers(name):
    assert_refused(*BAD[name])
