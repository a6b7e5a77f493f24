"""Attention without a row: of all tokens that were read, one matrix is stored, the state, as notebook 14 builds it."""

import torch

from .checks import check_count, check_linear


def write_state(state, key, value, keep=None, rate=None):
    """The state after one more token was written into it: keep · state + keyᵀ value, or less with a rate.

    Shapes: state (…, d_k, d_v), key (…, d_k), value (…, d_v), keep and rate (…) or None; returns the state's shape.
    keep, from 0 to 1, fades all that was there (a gate). With a rate only an error is written: rate times the value
    less what the key reads after fading (the delta rule); keys should then have length 1, and rate lie from 0 to 1.
    Source: Katharopoulos et al. 2020, https://arxiv.org/abs/2006.16236, section 3.4; with a rate, Schlag et al. 2021,
    https://arxiv.org/abs/2102.11174, section 4.2; with both, Yang et al. 2024, https://arxiv.org/abs/2412.06464.
    """
    state = state if keep is None else keep[..., None, None] * state
    if rate is not None:
        value = rate[..., None] * (value - read_state(state, key))  # the error
    return state + key[..., :, None] * value[..., None, :]


def read_state(state, query):
    """What a query reads from a state: a sum, which nothing divides.

    Shapes: state (…, d_k, d_v), query (…, d_k); returns (…, d_v).
    Source: Katharopoulos et al. 2020, https://arxiv.org/abs/2006.16236, section 3.4.
    """
    return (query[..., None, :] @ state).squeeze(-2)


def linear_attention(query, key, value, keep=None, rate=None, state=None):
    """Causal attention without softmax, token by token: each one is written, then its query reads.

    Shapes: query and key (…, n, d_k), value (…, n, d_v), keep and rate (…, n) or None, state (…, d_k, d_v) or None at
    the start of a text; returns outputs (…, n, d_v) and the new state, which is kept in float32 at least. There is
    neither a scale nor a divisor: models put a norm after it.
    Raises: TypeError or ValueError, naming the argument and both numbers, for what does not fit.
    Source: as `write_state`.
    """
    check_linear(query, key, value, keep, rate, state)
    q, k, v, keep, rate, state = in_float32(query, key, value, keep, rate, state)
    outputs = [v[..., :0, :]]  # a text may be empty
    for t in range(k.size(-2)):
        now = [x if x is None else x[..., t] for x in (keep, rate)]
        state = write_state(state, k[..., t, :], v[..., t, :], *now)
        outputs.append(read_state(state, q[..., t, :])[..., None, :])
    return torch.cat(outputs, dim=-2).to(query.dtype), state


def in_float32(query, key, value, keep, rate, state):
    """All six in float32 at least, without a state an empty one: in half precision a long sum would stop growing."""
    exact = torch.promote_types(query.dtype, torch.float32)
    state = key.new_zeros(*key.shape[:-2], key.size(-1), value.size(-1)) if state is None else state
    return [x if x is None else x.to(exact) for x in (query, key, value, keep, rate, state)]


def what_is_left(keep):
    """What is left, at each token of a chunk, of the state before it, and of what each of its tokens has written.

    Shapes: keep (…, n); returns (…, n, 1) and (…, n, n), 0 where a token is written later.
    """
    n = keep.size(-1)
    later = torch.ones(n, n, dtype=torch.bool, device=keep.device).tril(-1)  # (n, n): row after column
    left = torch.where(later, keep[..., :, None], 1.0).cumprod(dim=-2).tril()  # (…, n, n)
    return keep.cumprod(dim=-1)[..., None], left


def chunk_errors(key, value, faded, left, rate, state):
    """What the delta rule writes for each token of a chunk: its error, which depends on the errors before it.

    Shapes: as in `pass_chunk`; faded and left as `what_is_left` returns them; returns (…, n, d_v), the solution of a
    triangular system.
    Source: Yang et al. 2024, https://arxiv.org/abs/2406.06484, section 3.2.
    """
    rate = rate[..., None]  # (…, n, 1)
    met = rate * left * (key @ key.mT)  # (…, n, n): what a token reads of those before it
    return torch.linalg.solve_triangular(met, rate * (value - faded * (key @ state)), upper=False, unitriangular=True)


def pass_chunk(query, key, value, keep, rate, state):
    """The outputs of one chunk and the state after it: a masked product inside, and the state from before.

    Shapes: as in `linear_attention`, keep given; returns outputs (…, n, d_v) and the state.
    Raises: nothing of its own: `chunked_attention` checks.
    Source: Sun et al. 2023, https://arxiv.org/abs/2307.08621, section 2.3; with keep and rate, Yang et al. 2024,
    https://arxiv.org/abs/2412.06464, section 3.3.
    """
    faded, left = what_is_left(keep)  # (…, n, 1), (…, n, n)
    written = value if rate is None else chunk_errors(key, value, faded, left, rate, state)
    outputs = faded * (query @ state) + (left * (query @ key.mT)) @ written  # (…, n, d_v)
    return outputs, faded[..., -1:, :] * state + (left[..., -1, :, None] * key).mT @ written


def chunked_attention(query, key, value, keep=None, rate=None, state=None, *, chunk=64):
    """The same as `linear_attention` in chunks, whose number of tokens need not divide n: equal within rounding.

    Shapes, raises and source: as `linear_attention` and `pass_chunk`.
    """
    check_linear(query, key, value, keep, rate, state)
    check_count("chunk", chunk)
    q, k, v, keep, rate, state = in_float32(query, key, value, keep, rate, state)
    keep = k.new_ones(k.size(-2)) if keep is None else keep
    outputs = [v[..., :0, :]]
    for first in range(0, k.size(-2), chunk):
        now = slice(first, first + chunk)
        gates = keep[..., now], rate if rate is None else rate[..., now]
        output, state = pass_chunk(q[..., now, :], k[..., now, :], v[..., now, :], *gates, state)
        outputs.append(output)
    return torch.cat(outputs, dim=-2).to(query.dtype), state


def state_bytes(layers, heads, d_k, d_v, *, bytes_per_number=4):
    """What the states of a whole model take, in bytes, however long the text is.

    bytes_per_number is 4 for float32, in which states are kept.
    Raises: TypeError for what is not a whole number, ValueError for one below 1.
    """
    check_count("layers", layers)
    check_count("heads", heads)
    check_count("d_k", d_k)
    check_count("d_v", d_v)
    check_count("bytes_per_number", bytes_per_number)
    return layers * heads * d_k * d_v * bytes_per_number
