"""Softmax in passing: attention that has seen only a block of keys at a time, as notebook 12 builds it."""

import math

import torch

from .checks import (
    check_attention,
    check_count,
    check_finished,
    check_grad_output,
    check_mask,
    check_part,
    check_states,
)


def part(scores, values):
    """What softmax needs of a block of keys: the largest score m, the sum l and the output o, both in units of eᵐ.

    Shapes: scores (…, n_queries, n_keys), masked ones −∞, values (…, n_keys, d_v); returns m and l (…, n_queries, 1),
    o (…, n_queries, d_v). A query that may attend to none of the keys has m = −∞ and l and o = 0, the neutral part.
    Raises: TypeError or ValueError, naming the argument and both numbers, for what does not fit.
    Source: Milakov and Gimelshein 2018, https://arxiv.org/abs/1805.02867, algorithm 3; Dao et al. 2022,
    https://arxiv.org/abs/2205.14135, section 3.1.
    """
    check_part(scores, values)
    m = scores.amax(dim=-1, keepdim=True)  # (…, n_queries, 1)
    p = torch.exp(scores - m.masked_fill(m == -math.inf, 0.0))  # (…, n_queries, n_keys), at most 1
    return m, p.sum(dim=-1, keepdim=True), p @ values


def merge(a, b):
    """The part of all keys of two parts, in whatever order they come.

    Shapes: a and b each (m, l, o) as `part` returns them; returns the same. Brackets and order do not matter, within
    rounding, and a part whose keys are all masked changes nothing.
    Raises: TypeError or ValueError, naming the argument and both numbers, for parts of other queries or widths.
    Source: Milakov and Gimelshein 2018, https://arxiv.org/abs/1805.02867, section 3.1, equation 4.
    """
    check_states(a, b)
    m = torch.maximum(a[0], b[0])
    safe = m.masked_fill(m == -math.inf, 0.0)  # −∞ − (−∞) would be nan
    of_a, of_b = torch.exp(a[0] - safe), torch.exp(b[0] - safe)  # the larger one is 1
    return m, of_a * a[1] + of_b * b[1], of_a * a[2] + of_b * b[2]


def finish(m, l, o):
    """The output of a part and its log-sum-exp, all that is needed of it once every key has been read.

    Shapes: m, l and o as `part` returns them; returns output (…, n_queries, d_v) and lse (…, n_queries), the natural
    logarithm of Σ eˢ. A query that may attend to no key has an output of 0 and an lse of −∞.
    Source: Dao 2023, https://arxiv.org/abs/2307.08691, section 3.1.1.
    """
    return o / l.masked_fill(l == 0, 1.0), (m + l.log()).squeeze(-1)


def pass_keys(query, key, value, last, keys):
    """The part of all keys, read in blocks of so many: m, l and o of queries that are already scaled.

    Shapes: query (…, n_queries, d_k), key (…, n_keys, d_k), value (…, n_keys, d_v). last, a number, is the last key
    that the first query may attend to, less than 0 for none; each query below it may attend to one more, if there is
    one. Blocks that no query may attend to are not computed.
    Raises: nothing of its own: `flash_attention` checks.
    Source: Dao 2023, https://arxiv.org/abs/2307.08691, algorithm 1, lines 6 to 11.
    """
    one = query[..., :1]  # (…, n_queries, 1)
    state = torch.full_like(one, -math.inf), torch.zeros_like(one), one * value.new_zeros(value.size(-1))
    for left in range(0, min(key.size(-2), last + query.size(-2)), keys):  # blocks further right are skipped
        scores = query @ key[..., left : left + keys, :].mT  # (…, n_queries, keys)
        if last < left + keys - 1:  # the diagonal crosses this block
            heard = torch.ones_like(scores, dtype=torch.bool).tril(last - left)
            scores = scores.masked_fill(~heard, -math.inf)
        state = merge(state, part(scores, value[..., left : left + keys, :]))
    return state


def flash_attention(query, key, value, *, rows=64, keys=64, is_causal=False, scale=None):
    """Attention and its log-sum-exp, tile by tile: no more than rows × keys scores are ever there.

    Shapes: query (…, n_queries, d_k), key (…, n_keys, d_k), value (…, n_keys, d_v); returns output (…, n_queries, d_v)
    and lse (…, n_queries). Tiles need not divide the sizes; causal stands at the lower right, as `causal_mask`. m, l
    and o are kept in float32 at least, which lse has too; a query that may attend to no key has output 0 and lse −∞.
    Raises: TypeError or ValueError, naming the argument and both numbers, for what does not fit.
    Source: Dao 2023, FlashAttention-2, https://arxiv.org/abs/2307.08691, algorithm 1.
    """
    check_attention(query, key, value, dropout_p=0.0)
    check_count("n_queries", query.size(-2))
    check_count("rows", rows)
    check_count("keys", keys)
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    kept = torch.promote_types(query.dtype, torch.float32)  # in half precision a long sum would stop growing
    q, k, v = query.to(kept) * scale, key.to(kept), value.to(kept)
    last = k.size(-2) - (q.size(-2) if is_causal else 0)  # the last key of the first query, or all keys
    tops = range(0, q.size(-2), rows)
    passed = [pass_keys(q[..., top : top + rows, :], k, v, last + top, keys) for top in tops]
    outputs, lses = zip(*(finish(*state) for state in passed), strict=True)
    return torch.cat(outputs, dim=-2).to(query.dtype), torch.cat(lses, dim=-1)


def merge_outputs(output_a, lse_a, output_b, lse_b):
    """The output and log-sum-exp of two sets of keys together, from the outputs and log-sum-exps of each.

    Shapes: outputs (…, n_queries, d_v), lses (…, n_queries), natural logarithms; returns output and lse of all keys.
    A set of which a query may attend to no key, lse −∞, changes nothing.
    Raises: TypeError or ValueError, naming the argument and both numbers, for what does not fit.
    Source: Liu et al. 2023, Ring Attention, https://arxiv.org/abs/2310.01889, section 3; Flash-Decoding, PyTorch's
    blog, October 2023.
    """
    check_finished(output_a, lse_a, output_b, lse_b)
    lse = torch.logaddexp(lse_a, lse_b)
    safe = lse.masked_fill(lse == -math.inf, 0.0)
    share_a, share_b = torch.exp(lse_a - safe), torch.exp(lse_b - safe)  # (…, n_queries), sum 1
    return share_a[..., None] * output_a + share_b[..., None] * output_b, lse


def backward_block(query, key, value, output, lse, grad_output, mask=None, *, scale=None):
    """What a block of keys gives to the gradients: its share of query's, and those of its own keys and values.

    Shapes: query (…, n_queries, d_k), key and value a block's, (…, keys, d_k) and (…, keys, d_v), mask theirs; output,
    grad_output (…, n_queries, d_v) and lse (…, n_queries) of all keys, as `flash_attention` returns them. Returns
    gradients of the shapes of query, key and value; query's, added up over all blocks, is the whole one.
    Raises: TypeError or ValueError, naming the argument and both numbers, for what does not fit.
    Source: Dao et al. 2022, FlashAttention, https://arxiv.org/abs/2205.14135, algorithm 4.
    """
    check_attention(query, key, value, dropout_p=0.0)
    check_grad_output(query, value, grad_output)
    check_finished(output, lse, grad_output, lse)
    check_mask(mask, (*query.shape[:-1], key.size(-2)))
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    shared = (output * grad_output).sum(dim=-1, keepdim=True)  # (…, n_queries, 1): of the whole row
    whole = lse.masked_fill(lse == -math.inf, math.inf)[..., None]  # a query without any allowed key has the weights 0
    weights = torch.exp(query @ key.mT * scale - whole)  # (…, n_queries, keys): of the whole row, without its maximum
    weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
    grad_scores = weights * (grad_output @ value.mT - shared) * scale
    return grad_scores @ key, grad_scores.mT @ query, weights.mT @ grad_output
