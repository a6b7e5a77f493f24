"""Exercises of notebook 14: one token into a state, a chunk with a gate, and from where on a cache is larger."""

import torch
import torch.nn.functional as F

from attn_lib.linear import what_is_left, write_state

from ..engine.function import function
from ..engine.one_value import number_of
from ..engine.probes import normal

# --------------------------------------------------------------------------------------------------------- 14.1


def _write(S, key, value, keep, rate):
    return write_state(S, key, value, keep, rate)


def _token(keep, rate, *, seed, d_k=3, d_v=4, empty=False):
    """A state, a key of length 1, a value, and the two numbers of a token."""
    S = normal(d_k, d_v, seed=seed) * (not empty)
    key, value = F.normalize(normal(d_k, seed=seed + 1), dim=0), normal(d_v, seed=seed + 2)
    return S, key, value, *(torch.tensor(float(x)) for x in (keep, rate))


def _drawn_tokens(rng):
    keep, rate = 0.2 + 0.6 * rng.random(), 0.2 + 0.6 * rng.random()
    seed, sizes = rng.randrange(10**6), {"d_k": rng.randrange(2, 5), "d_v": rng.randrange(2, 5)}
    return [_token(*gates, seed=seed + i, **sizes) for i, gates in enumerate([(keep, rate), (1, rate), (keep, 1)])]


write = function(
    "14.1",
    _write,
    as_="my_write(S, key, value, keep, rate)",
    title="One token",
    section="14#gate",
    dtype=torch.float64,
    shows=(write_state,),
    also_called=("pass_chunk",),
    probes=[
        _token(0.5, 0.5, seed=1),
        _token(1, 0.75, seed=4, d_k=2, d_v=2),
        _token(0.25, 1, seed=7, d_v=2),
        _token(0.5, 0.25, seed=10, d_k=4, d_v=4),
    ],
    corner_cases=[
        _token(0.5, 0.5, seed=13, empty=True),
        _token(0, 0.5, seed=16),
        _token(0.5, 0, seed=19),
        _token(0.5, 0.5, seed=22, d_v=1),
    ],
    random_probes=_drawn_tokens,
    hints=[
        "Three lines: fade the state; work out the error; write it. Each of them uses the state of the line before.",
        "`key @ S` is what the key reads, a row with as many numbers as the value. The error is `value` minus this "
        "row; use the state that has faded.",
        "What is written is a column times a row: `key[:, None]` times `rate` times the error. Add it to the faded "
        "state.",
    ],
)


@write.misconception(reread="14#your-delta")
def added(S, key, value, keep, rate):
    """The value is written, not the error: the rate is not used.

    That is the sum with a gate. What the key already reads has to be subtracted from the value first.
    """
    return write_state(S, key, value, keep)


@write.misconception(reread="14#your-delta")
def rate_alone(S, key, value, keep, rate):
    """The value is written times the rate, and nothing is erased.

    Subtract what the key reads from the value before you multiply by the rate.
    """
    return write_state(S, key, rate * value, keep)


@write.misconception(reread="14#your-delta")
def rate_forgotten(S, key, value, keep, rate):
    """The whole error is written: the rate is not used.

    A rate of ½ takes the reading half of the way to the new value. Multiply the error by the rate.
    """
    return write_state(S, key, value, keep, torch.ones_like(rate))


@write.misconception(reread="14#your-delta")
def subtracted(S, key, value, keep, rate):
    """The error is subtracted from the state; add it.

    The error is the value minus the reading, so adding it brings the reading nearer to the value.
    """
    faded = keep * S
    return faded - key[:, None] * (rate * (value - key @ faded))


@write.misconception(reread="14#your-delta")
def erased_whole(S, key, value, keep, rate):
    """The whole of what the key reads is erased, but only a part of the value is written.

    The rate belongs to the error, so to both: to the value and to what is read.
    """
    faded = keep * S
    return faded + key[:, None] * (rate * value - key @ faded)


@write.misconception(reread="14#gate")
def error_too_early(S, key, value, keep, rate):
    """The error is worked out before the state fades.

    Then it takes out more than is there. With a gate of 1 it does not show.
    """
    return keep * S + key[:, None] * (rate * (value - key @ S))


@write.misconception(reread="14#gate")
def fades_its_own(S, key, value, keep, rate):
    """The token's own write is faded, too.

    The gate is for what was there before: fade first, then write.
    """
    return keep * (S + key[:, None] * (rate * (value - key @ S)))


@write.misconception(reread="14#your-delta")
def written_first(S, key, value, keep, rate):
    """The value is written first, and then what the key reads is erased.

    So the new value is erased, too. With a rate of 1 the key then reads 0.
    """
    written = keep * S + rate * key[:, None] * value
    return written - rate * key[:, None] * (key @ written)


@write.misconception(reread="14#gate")
def no_gate(S, key, value, keep, rate):
    """The state does not fade: the gate is not used.

    It shows only where the gate is below 1 and the state is not empty.
    """
    return write_state(S, key, value, None, rate)


@write.misconception(reread="14#gate")
def faded_for_the_error_only(S, key, value, keep, rate):
    """The state fades for the error only.

    The error is that of the faded state, but it is added to the state as it was. Add it to `keep * S`.
    """
    return S + key[:, None] * (rate * (value - key @ (keep * S)))


@write.misconception(reread="14#gate")
def gate_reversed(S, key, value, keep, rate):
    """The state keeps what it should lose.

    `keep` is the share of the old state that stays: with a gate of 1 nothing fades. So multiply by `keep`, not by
    `1 - keep`.
    """
    return write_state(S, key, value, 1 - keep, rate)


@write.misconception(reread="14#your-write")
def replaced(S, key, value, keep, rate):
    """Only the new write is returned; the old state is lost.

    Add it to the faded state.
    """
    return key[:, None] * (rate * (value - key @ (keep * S)))


@write.misconception(reread="14#gate")
def turned_gate(S, key, value, keep, rate):
    """Gate and rate are exchanged.

    `keep` is for the old state, `rate` for the error.
    """
    return write_state(S, key, value, rate, keep)


# --------------------------------------------------------------------------------------------------------- 14.2


def _chunk(q, k, v, keep, S):
    faded, left = what_is_left(keep)
    return faded * (q @ S) + (left * (q @ k.T)) @ v, faded[-1] * S + (left[-1][:, None] * k).T @ v


def _tokens(n, *, seed, gates=None, d_k=3, d_v=2, empty=False):
    """A chunk of n tokens with gates, and the state before it."""
    keep = 0.2 + 0.7 * torch.sigmoid(normal(n, seed=seed + 4)) if gates is None else torch.full((n,), float(gates))
    S = normal(d_k, d_v, seed=seed + 3) * (not empty)
    return normal(n, d_k, seed=seed), normal(n, d_k, seed=seed + 1), normal(n, d_v, seed=seed + 2), keep, S


def _drawn_chunks(rng):
    seed, d_k, d_v = rng.randrange(10**6), rng.randrange(2, 5), rng.randrange(2, 5)
    sizes = {"d_k": d_k, "d_v": d_v}
    return [_tokens(rng.randrange(3, 7), seed=seed, **sizes), _tokens(rng.randrange(3, 7), seed=seed + 9, **sizes)]


chunk = function(
    "14.2",
    _chunk,
    as_="my_chunk_of(q, k, v, keep, S)",
    title="A chunk with a gate",
    section="14#in-chunks",
    dtype=torch.float64,
    also_called=("pass_chunk", "linear_attention", "chunked_attention"),
    probes=[
        _tokens(5, seed=1),
        _tokens(4, seed=11, d_v=4),
        _tokens(5, seed=21, d_k=2, d_v=3),
        _tokens(5, seed=31, gates=1),
        _tokens(4, seed=41, empty=True),
    ],
    corner_cases=[_tokens(1, seed=51), _tokens(2, seed=61, d_v=1), _tokens(40, seed=71, gates=0.1)],
    random_probes=_drawn_chunks,
    returns=("the outputs", "the new state"),
    hints=[
        "By a loop: for each token `S = keep[t] * S + k[t][:, None] * v[t]`, and then its output `q[t] @ S`. Collect "
        "the outputs with `torch.stack`.",
        "At once: `keep.cumprod(0)` says what is left of the old state at each token. What is left of the write of "
        "token j at token i is the product of the gates after j, up to and with i: a triangular matrix with ones on "
        "its diagonal.",
        "Outputs: what is left of the old state, times q @ S, plus the triangular matrix times q @ kᵀ, entry by entry, "
        "@ v. The new state uses the last row of that matrix.",
    ],
)


def _chunked(q, k, v, keep, S, *, border=1, faded_q=True, faded_s=True, early=False, own=False, strict=False,
             inside=True, to_end="left", masked=True):  # fmt: skip
    faded, left = what_is_left(keep)
    left = left if inside else torch.ones_like(left).tril()
    left = left * keep if own else left
    weights = left.tril(-1) if strict else left if masked else torch.ones_like(left)
    at = faded if faded_q else torch.ones_like(faded)
    at = torch.cat([torch.ones_like(at[:1]), at[:-1]]) if early else at
    ends = {"left": left[-1][:, None], "ones": torch.ones_like(faded), "wrong": faded}[to_end]
    outputs = border * at * (q @ S) + (weights * (q @ k.T)) @ v
    return outputs, border * (faded[-1] if faded_s else 1) * S + (ends * k).T @ v


@chunk.misconception(reread="14#in-chunks")
def border_forgotten(q, k, v, keep, S):
    """The state from before is not used.

    Each chunk begins as if it were a new text. One chunk from an empty state does not show it.
    """
    return _chunked(q, k, v, keep, S, border=0)


@chunk.misconception(reread="14#gate")
def writes_gated_too(q, k, v, keep, S):
    """What a token writes is multiplied by 1 − gate.

    Some recurrent networks mix old and new like this. Here the gate is for the old state only: the write is added as it
    is.
    """
    return _chunk(q, k, (1 - keep)[:, None] * v, keep, S)


@chunk.misconception(reread="14#in-chunks")
def query_unfaded(q, k, v, keep, S):
    """The queries read the old state as it was before the chunk.

    At each token it has faded by all gates up to this token, its own included.
    """
    return _chunked(q, k, v, keep, S, faded_q=False)


@chunk.misconception(reread="14#in-chunks")
def query_early(q, k, v, keep, S):
    """The queries read the old state one gate too early.

    A token fades the state first and reads then: its own gate counts, too.
    """
    return _chunked(q, k, v, keep, S, early=True)


@chunk.misconception(reread="14#in-chunks")
def state_unfaded(q, k, v, keep, S):
    """The old state is not faded when it is handed on.

    The outputs of this chunk are right, those of the next one are not.
    """
    return _chunked(q, k, v, keep, S, faded_s=False)


@chunk.misconception(reread="14#in-chunks")
def nothing_fades_in_the_state(q, k, v, keep, S):
    """Nothing fades in the new state: neither the old state nor what this chunk writes.

    The outputs of this chunk are right, those of the next one are not.
    """
    return _chunked(q, k, v, keep, S, faded_s=False, to_end="ones")


@chunk.misconception(reread="14#gate")
def no_gate_at_all(q, k, v, keep, S):
    """The gates are not used: nothing fades.

    That is the sum. Before each token writes, the state is multiplied by its gate.
    """
    return _chunked(q, k, v, keep, S, faded_q=False, faded_s=False, inside=False, to_end="ones")


@chunk.misconception(reread="14#your-write")
def read_first(q, k, v, keep, S):
    """Each token reads before the state fades and before it writes.

    A token fades the state, writes into it, and reads last.
    """
    return torch.stack([query @ state for query, state in zip(q, _states_before(k, v, keep, S), strict=True)]), (
        _chunk(q, k, v, keep, S)[1]
    )


def _states_before(k, v, keep, S):
    states = [S]
    for t in range(len(k) - 1):
        states.append(write_state(states[-1], k[t], v[t], keep[t]))
    return states


@chunk.misconception(reread="14#in-chunks")
def wrong_end(q, k, v, keep, S):
    """In the new state the writes are faded from the wrong end.

    You used what is left of the old state at each token. What the last token writes has not faded at all.
    """
    return _chunked(q, k, v, keep, S, to_end="wrong")


@chunk.misconception(reread="14#in-chunks")
def writes_unfaded(q, k, v, keep, S):
    """In the new state the writes of this chunk are not faded.

    What a token has written is multiplied by the gates of all tokens after it.
    """
    return _chunked(q, k, v, keep, S, to_end="ones")


@chunk.misconception(reread="14#gate")
def own_fading(q, k, v, keep, S):
    """A token's own gate fades its own write.

    A gate is for what was there before: on the diagonal stands a 1.
    """
    return _chunked(q, k, v, keep, S, own=True)


@chunk.misconception(reread="14#your-write")
def strict(q, k, v, keep, S):
    """A token does not read what it has written itself.

    It writes first and reads then, so the diagonal belongs to the mask.
    """
    return _chunked(q, k, v, keep, S, strict=True)


def _quotients_alone(q, k, v, keep, S):
    """The products of gates as quotients, above the diagonal too."""
    faded = keep.cumprod(dim=0)
    outputs = faded[:, None] * (q @ S) + (faded[:, None] / faded * (q @ k.T)) @ v
    return outputs, _chunk(q, k, v, keep, S)[1]


@chunk.misconception(reread="03#text-10", forms=[_quotients_alone])
def unmasked(q, k, v, keep, S):
    """Tokens read what later tokens have written.

    Inside a chunk, too, the mask is causal.
    """
    return _chunked(q, k, v, keep, S, masked=False)


@chunk.misconception(reread="14#in-chunks")
def unfaded_inside(q, k, v, keep, S):
    """Inside the chunk nothing fades: only a causal mask is there.

    What token j has written is multiplied by the gates of the tokens after it.
    """
    return _chunked(q, k, v, keep, S, inside=False)


# --------------------------------------------------------------------------------------------------------- 14.3


def _crossing(heads, stored, head_dim):
    return heads * head_dim * head_dim * 4 // (2 * stored * head_dim * 2) + 1


def _number_of_tokens(*arguments_and_result):
    return (number_of("a number of tokens", arguments_and_result[-1], is_whole=True),)


def _drawn_shapes(rng):
    stored, sharing = rng.randrange(1, 9), rng.randrange(2, 9)
    return [(stored * sharing, stored, 8 * rng.randrange(2, 17)), (stored, stored, 8 * rng.randrange(2, 17))]


crossing = function(
    "14.3",
    _crossing,
    as_="my_crossing(heads, stored, head_dim)",
    title="From where on",
    section="14#weighs",
    probes=[(32, 32, 128), (32, 8, 128), (16, 2, 96), (9, 3, 64)],
    corner_cases=[(1, 1, 2), (8, 1, 16)],
    random_probes=_drawn_shapes,
    returns=("the number of tokens",),
    after=_number_of_tokens,
    hints=[
        "How many bytes does one token add to the cache? A key and a value for each stored head.",
        "The states have `heads * head_dim * head_dim` numbers of 4 bytes. At which number of tokens are both equal?",
        "Equal: at `heads * head_dim / stored` tokens. Larger: one token more.",
    ],
)


@crossing.misconception(reread="14#weighs")
def keys_alone(heads, stored, head_dim):
    """Only the keys of the cache are counted.

    For each token a value is stored, too.
    """
    return heads * head_dim * 4 // (stored * 2) + 1


@crossing.misconception(reread="14#weighs")
def same_bytes(heads, stored, head_dim):
    """Numbers of the state and of the cache are counted as equally large.

    A number of the state has 4 bytes, one of the cache 2.
    """
    return heads * head_dim // (2 * stored) + 1


@crossing.misconception(reread="10#text-shared")
def not_shared(heads, stored, head_dim):
    """Cache and states are counted with the same number of heads.

    Heads share keys and values: only `stored` heads are in the cache. But each of the `heads` query heads has a state
    of its own.
    """
    return head_dim + 1


@crossing.misconception(reread="14#weighs")
def one_state(heads, stored, head_dim):
    """Only one state is counted.

    Each of the `heads` query heads has a state of its own.
    """
    return head_dim // stored + 1


@crossing.misconception(reread="14#weighs")
def one_too_few(heads, stored, head_dim):
    """That is one token too few.

    There the cache is as large as the states, or still smaller.
    """
    return heads * head_dim // stored


@crossing.misconception(reread="14#weighs")
def upside_down(heads, stored, head_dim):
    """The two numbers of heads are exchanged: fewer stored heads make a smaller cache, so it crosses later.

    Divide by the stored heads, and multiply by the heads.
    """
    return max(1, stored * head_dim // heads + 1)
