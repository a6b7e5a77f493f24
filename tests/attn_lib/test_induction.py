"""Heads that find each other: the library's two functions."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused
from strategies import normal, seeds
from torch import nn
from torch.testing import assert_close

from attn_lib import MultiHeadAttention, causal_mask, induction_score, masked_softmax, without_head


def causal_weights(batch, heads, n, seed=0):
    return masked_softmax(3 * normal(batch, heads, n, n, seed=seed), causal_mask(n))


# ------------------------------------------------------------------------------------------------- induction_score


def by_loop(weights, tokens):
    shares = []
    for w, t in zip(weights, tokens.tolist(), strict=True):
        for i in range(len(t)):
            behind = [j + 1 for j in range(i) if t[j] == t[i]]
            if behind:
                shares.append(w[:, i, behind].sum(dim=-1))
    return torch.stack(shares).mean(dim=0)


@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=4), st.integers(1, 3), seeds)
def test_induction_score_is_the_mean_weight_behind_copies(lists, heads, seed):
    tokens = torch.tensor(lists)  # five tokens of four words: some stand twice
    weights = causal_weights(len(lists), heads, 5, seed)
    assert_close(induction_score(weights, tokens), by_loop(weights, tokens))


def test_induction_head_scores_1_and_previous_token_head_0():
    tokens = torch.tensor([[5, 1, 2, 3, 1]])
    perfect = torch.eye(5)[[0, 0, 0, 0, 2]]
    previous = torch.eye(5)[[0, 0, 1, 2, 3]]
    scores = induction_score(torch.stack([perfect, previous])[None], tokens)
    assert scores.tolist() == [1, 0]


def test_token_that_repeats_its_neighbour_is_its_own_copy():
    weights = torch.tensor([[[[1.0, 0.0], [0.25, 0.75]]]])
    assert induction_score(weights, torch.tensor([[7, 7]])).tolist() == [0.75]


W, T = torch.ones(2, 3, 4, 4), torch.ones(2, 4, dtype=torch.long)
BAD = {
    "tokens floating": (lambda: induction_score(W, T.float()), TypeError, ["tokens", "float32"]),
    "not square": (lambda: induction_score(W[:, :, :3], T), ValueError, ["weights", "(2, 3, 3, 4)"]),
    "too few tokens": (lambda: induction_score(W, T[:, :3]), ValueError, ["tokens", "(2, 3)", "(2, 4)"]),
    "another batch": (lambda: induction_score(W, T[:1]), ValueError, ["tokens", "(1, 4)", "(2, 4)"]),
    "nobody twice": (lambda: induction_score(W, torch.arange(4).expand(2, 4)), ValueError, ["twice"]),
    "no such head": (lambda: without_head(MultiHeadAttention(6, 3), 3), ValueError, ["head=3", "3 heads"]),
    "a linear layer": (lambda: without_head(nn.Linear(4, 4), 0), TypeError, ["attention", "Linear"]),
}


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_both_numbers(name):
    assert_refused(*BAD[name])


# --------------------------------------------------------------------------------------------------- without_head


def by_heads(attention, x, silent):
    """Self-attention head by head, with one that says nothing."""
    q, k, v = (
        part(x).chunk(attention.num_heads, dim=-1) for part in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    outputs = [F.scaled_dot_product_attention(q[h], k[h], v[h]) * (h != silent) for h in range(attention.num_heads)]
    return attention.out_proj(torch.cat(outputs, dim=-1))


@given(st.integers(1, 4), st.integers(1, 3), st.booleans(), seeds)
def test_without_a_head_the_others_say_what_they_said(num_heads, head_dim, bias, seed):
    torch.manual_seed(seed)
    attention = MultiHeadAttention(num_heads * head_dim, num_heads, bias=bias).double()
    x = normal(2, 4, num_heads * head_dim, seed=seed)
    before = attention(x, x, x)
    for head in range(num_heads):
        silent = without_head(attention, head)
        output, weights = silent(x, x, x)
        assert_close(output, by_heads(attention, x, head))
        assert weights.equal(before[1])  # it is computed as ever
        assert_close(silent(x, x, x, need_weights=False)[0], output)
    assert attention(x, x, x)[0].equal(before[0])  # the original has not changed


def test_pytorchs_own_module_can_lose_a_head_too():
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(8, 4, batch_first=True)
    x = torch.randn(2, 5, 8)
    ours = without_head(MultiHeadAttention.from_torch(theirs), 2)
    assert_close(without_head(theirs, 2)(x, x, x)[0], ours(x, x, x)[0])
