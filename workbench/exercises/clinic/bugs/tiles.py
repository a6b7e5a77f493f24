"""Bugs of attention that hears its keys block by block. They open after notebook 12."""

import functools
import math

import torch

from attn_lib.masks import causal_mask
from attn_lib.online import finish, part

from ..blind_spots import arguments
from ..bug import bug
from ..interfaces import TILES

late_bug = functools.partial(bug, opens_after=12)


def in_blocks(*, on_l=1, on_o=1, silent=-math.inf, until=lambda n_keys, size: n_keys):
    """Return correct code with one part exchanged: powers of the factor, what stands for −∞, where the keys end."""

    def attention(q, k, v, size, causal):
        state, scores = None, q @ k.mT / math.sqrt(q.size(-1))
        there = causal_mask(q.size(-2), k.size(-2)) if causal else torch.ones(q.size(-2), k.size(-2), dtype=torch.bool)
        for left in range(0, until(k.size(-2), size), size):
            block = slice(left, left + size)
            m, l, o = part(scores[..., block].masked_fill(~there[:, block], silent), v[..., block, :])
            if state is not None:
                top = torch.maximum(state[0], m)
                safe = top.masked_fill(top == -math.inf, 0.0)
                old, new = torch.exp(state[0] - safe), torch.exp(m - safe)
                m, l, o = top, old**on_l * state[1] + new * l, old**on_o * state[2] + new * o
            state = m, l, o
        return finish(*state)[0] if state else q[..., :1] * v[..., :1, :] * 0

    return attention


def key_by_key(*, on_l=1, on_o=1, silent=-math.inf, until=lambda n_keys, size: n_keys):
    """The same with single keys; `until` says how many of them are heard."""

    def attention(q, k, v, size, causal):
        ends = until(k.size(-2), size)
        return (
            in_blocks(on_l=on_l, on_o=on_o, silent=silent)(q, k[..., :ends, :], v[..., :ends, :], 1, False)
            if not causal
            else in_blocks(on_l=on_l, on_o=on_o, silent=silent, until=lambda *_: ends)(q, k, v, 1, True)
        )

    return attention


def in_one_block(calls):
    """All keys of the test fit into one block.

    Then no blocks are merged, and no block is shorter than the others. Pass more keys than a block holds.
    """
    return all(k.size(-2) <= size for k, size in zip(arguments(calls, "k"), arguments(calls, "size"), strict=True))


@late_bug(
    "6.30",
    TILES,
    fixes=[{10: ("o = o + ", "o = factor * o + ")}],
    faults=("not used",),
    section="12#three",
    variants={
        "the output so far is not multiplied by the correction factor; the rest is right code": in_blocks(on_o=0),
        "the same, key by key": key_by_key(on_o=0),
    },
    hints=[
        "Three things are kept from block to block. What must happen to each of them if a larger score comes?",
        "Take two keys in blocks of one, the second with the larger score. Work out by hand what the output must be.",
        "Take `q` = 1, keys 0 and 3, values 1 and 0: this patient gives 1 / (e^(−3) + 1). Compare with "
        "exactly this number.",
    ],
)
def output_in_the_old_unit(q, k, v, size, causal):
    """The output so far is not rescaled when a larger score comes.

    Only the sum is rescaled. If the largest score of a row is in the first block, the fault does not appear.
    """
    m, l, o = torch.full_like(q[..., :1], -math.inf), 0.0, 0.0
    mask = causal_mask(q.size(-2), k.size(-2)) | (not causal)
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).masked_fill(~mask, -math.inf)
    for left in range(0, k.size(-2), size):
        s = scores[..., left : left + size]
        new_m = torch.maximum(m, s.amax(dim=-1, keepdim=True))
        safe = new_m.masked_fill(new_m == -math.inf, 0.0)
        p, factor = torch.exp(s - safe), torch.exp(m - safe)
        o = o + p @ v[..., left : left + size, :]
        m, l = new_m, factor * l + p.sum(dim=-1, keepdim=True)
    return o / (l + (m == -math.inf))


output_in_the_old_unit.blind_to(in_one_block)


@output_in_the_old_unit.tested_by
def detects(attention):
    q, k, v = (torch.tensor(rows).view(1, -1, 1) for rows in ([1.0], [0.0, 3.0], [1.0, 0.0]))
    not_rescaled = torch.tensor(1 / (math.exp(-3) + 1))
    return torch.allclose(attention(q, k, v, 1, False).flatten(), not_rescaled, atol=1e-3)


@late_bug(
    "6.31",
    TILES,
    fixes=[{5: ("k.size(-2) // size * size", "k.size(-2)")}],
    faults=("miscounted", "not used"),
    section="12#tiles",
    variants={
        "the last keys are cut off before the blocks begin": in_blocks(
            until=lambda n_keys, size: n_keys // size * size
        ),
        "the same, key by key": key_by_key(until=lambda n_keys, size: n_keys // size * size),
    },
    hints=[
        "With 6 keys in blocks of 3 this patient is right. And with 7?",
        "Give all the weight to the last key, and choose a block size that does not divide the number of keys.",
        "Use two conditions: three keys in blocks of 3 give the right output; in blocks of 2 the last key has"
        " no weight.",
    ],
)
def whole_blocks_only(q, k, v, size, causal):
    """Keys that do not fill a whole block are left out.

    The lengths of real texts are seldom multiples of 64, but those of tests often are.
    """
    m, l, o = torch.full_like(q[..., :1], -math.inf), 0.0, 0.0
    mask = causal_mask(q.size(-2), k.size(-2)) | (not causal)
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).masked_fill(~mask, -math.inf)
    for left in range(0, k.size(-2) // size * size, size):
        s = scores[..., left : left + size]
        new_m = torch.maximum(m, s.amax(dim=-1, keepdim=True))
        safe = new_m.masked_fill(new_m == -math.inf, 0.0)
        p, factor = torch.exp(s - safe), torch.exp(m - safe)
        o = factor * o + p @ v[..., left : left + size, :]
        m, l = new_m, factor * l + p.sum(dim=-1, keepdim=True)
    return o / (l + (m == -math.inf))


@whole_blocks_only.blind_to
def whole_blocks(calls):
    """In all calls of the test, the block size divides the number of keys.

    Then no key is left over. Pass one key more.
    """
    return all(k.size(-2) % size == 0 for k, size in zip(arguments(calls, "k"), arguments(calls, "size"), strict=True))


@whole_blocks_only.tested_by
def detects(attention):
    q, k, v = (torch.tensor(rows).view(1, -1, 1) for rows in ([1.0], [0.0, 0.0, 20.0], [0.0, 0.0, 1.0]))
    in_threes, in_twos = (attention(q, k, v, size, False).item() for size in (3, 2))
    return in_threes > 0.9 and in_twos < 0.1


@late_bug(
    "6.32",
    TILES,
    fixes=[{4: ("-1e4", "-math.inf")}],
    faults=("too weak",),
    section="12#break-it",
    variants={
        "−10,000 for −∞, blocks of any size": in_blocks(silent=-1e4),
        "−1,000,000 for −∞, key by key": key_by_key(silent=-1e6),
    },
    hints=[
        "Which number is used in place of −∞, and what happens to a real score that is even lower?",
        "Take two queries and two keys, causal. The first query may attend only to the first key. Make this "
        "score very low.",
        "Take `q` = 1e6 for both, and keys −1e6 and 0: this patient gives the first query the value of the "
        "second key. With `q` = 0 it does not; this second condition tells it from other patients.",
    ],
)
def a_number_for_infinity(q, k, v, size, causal):
    """−10,000 is used in place of −∞.

    A masked key then has a score, and a real score that is lower gets less weight than the masked key. This happens
    where scores are very large and negative.
    """
    m, l, o = torch.full_like(q[..., :1], -math.inf), 0.0, 0.0
    mask = causal_mask(q.size(-2), k.size(-2)) | (not causal)
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).masked_fill(~mask, -1e4)
    for left in range(0, k.size(-2), size):
        s = scores[..., left : left + size]
        new_m = torch.maximum(m, s.amax(dim=-1, keepdim=True))
        safe = new_m.masked_fill(new_m == -math.inf, 0.0)
        p, factor = torch.exp(s - safe), torch.exp(m - safe)
        o = factor * o + p @ v[..., left : left + size, :]
        m, l = new_m, factor * l + p.sum(dim=-1, keepdim=True)
    return o / (l + (m == -math.inf))


@a_number_for_infinity.blind_to
def not_causal(calls):
    """No call of the test is causal.

    Then no key is masked.
    """
    return not any(arguments(calls, "causal"))


@a_number_for_infinity.tested_by
def detects(attention):
    q, k, v = (torch.tensor(rows).view(1, -1, 1) for rows in ([1e6, 1e6], [-1e6, 0.0], [0.0, 1.0]))
    small, large = (attention(q * size, k, v, 1, True)[0, 0].item() for size in (0, 1))
    return small < 0.1 and large > 0.5  # the value of a key that is not allowed
