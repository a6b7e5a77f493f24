"""Bugs of attention without a row, whose memory is one matrix. They open after notebook 14."""

import functools

import torch

from ..blind_spots import arguments
from ..bug import bug
from ..correct import in_state_chunks, one_by_one
from ..interfaces import STATES

late_bug = functools.partial(bug, opens_after=14)


def open_gates(calls):
    """All gates of the test are 1.

    Then nothing fades, and it does not matter when or where. Pass gates below 1.
    """
    return all(bool((keep == 1).all()) for keep in arguments(calls, "keep"))


@late_bug(
    "6.42",
    STATES,
    fixes=[{4: ("k[t] @ state", "keep[t] * k[t] @ state")}],
    faults=("wrong order",),
    section="14#gate",
    variants={
        "the error is worked out from a state that has faded by half of the gate": one_by_one(
            error=lambda key, value, keep, state: value - (1 + keep) / 2 * key @ state
        ),
        "the error is worked out from the state before it fades, in float64": one_by_one(
            error=lambda key, value, keep, state: (value.double() - key.double() @ state.double()).to(value.dtype)
        ),
    },
    hints=[
        "Has the state faded already when the error is worked out? And when the new value is written?",
        "Write 4 and then 10 under the same key of one feature, with rate 1: what must be read after the second, "
        "whatever the gate is?",
        "Use two conditions: with the gates 1 the second number is read back, with the gates 0.5 it is not (this "
        "patient reads 8 in place of 10). Patients whose second number is wrong with open gates have another fault.",
    ],
)
def decay_after_the_error(q, k, v, keep, rate):
    """The error is worked out before the state fades, so too much is taken out.

    With gates of 1, or an empty state, the fault does not appear; with gates near 1 it makes little difference.
    Users of flash-linear-attention asked about this order, too (issue 885): the state fades first.
    """
    state, outputs = k.new_zeros(k.size(-1), v.size(-1)), []
    for t in range(len(k)):
        error = v[t] - k[t] @ state
        state = keep[t] * state + rate[t] * k[t][:, None] * error
        outputs.append(q[t] @ state)
    return torch.stack(outputs)


decay_after_the_error.blind_to(open_gates)


@decay_after_the_error.tested_by
def detects(attention):
    key, numbers = torch.ones(2, 1), torch.tensor([[4.0], [10.0]])

    def second(gate):
        return attention(key, key, numbers, torch.full((2,), gate), torch.ones(2))[1].item()

    return abs(second(1.0) - 10) < 0.1 and abs(second(0.5) - 10) > 0.1


@late_bug(
    "6.43",
    STATES,
    fixes=[
        {
            5: ("+ rate[t] * k[t][:, None] * v[t]", "- rate[t] * k[t][:, None] * (k[t] @ state)"),
            6: ("- rate[t] * k[t][:, None] * (k[t] @ state)", "+ rate[t] * k[t][:, None] * v[t]"),
        }
    ],
    faults=("wrong order", "exchanged"),
    section="14#your-delta",
    variants={
        "written and erased at once: the value is written less itself": one_by_one(
            error=lambda key, value, keep, state: value - key @ (keep * state) - (key @ key) * value
        ),
        "the whole value is written, and then erased": one_by_one(
            error=lambda key, value, keep, state: -key @ (keep * state), also=lambda value, rate: (1 - rate) * value
        ),
    },
    hints=[
        "Two things happen to a key: something is taken out, and something is put in. Which comes first here?",
        "A single token, with rate 1, reads with its own key. What must it read?",
        "One token with key 1 and value 5: this patient reads 0. Compare with exactly this number.",
    ],
)
def erased_after_the_write(q, k, v, keep, rate):
    """The value is written first, and then erased together with the old one.

    With rate 1 nothing is left of what was written; with rate 1/2 a quarter is left, and no rate leaves more. Every
    shape is right.
    """
    state, outputs = k.new_zeros(k.size(-1), v.size(-1)), []
    for t in range(len(k)):
        state = keep[t] * state
        state = state + rate[t] * k[t][:, None] * v[t]
        state = state - rate[t] * k[t][:, None] * (k[t] @ state)
        outputs.append(q[t] @ state)
    return torch.stack(outputs)


@erased_after_the_write.tested_by
def detects(attention):
    one, value = torch.ones(1, 1), torch.tensor([[5.0]])
    return abs(attention(one, one, value, torch.ones(1), torch.ones(1)).item()) < 0.1


@late_bug(
    "6.44",
    STATES,
    fixes=[{10: ("state = state + ", "state = faded[-1] * state + ")}],
    faults=("not used", "misaligned"),
    section="14#in-chunks",
    variants={
        "the old state does not fade at all at the border of two chunks": in_state_chunks(4, border=lambda keep: 1.0),
        "at the border of two chunks it fades by the last gate of the chunk only": in_state_chunks(
            4, border=lambda keep: keep[-1]
        ),
    },
    hints=[
        "The tokens are read in chunks of four. What does each chunk pass to the next, and what should have happened "
        "to it?",
        "Write one number with the first token, nothing with the others (rate 0), and let all gates be 0.5. What must "
        "be left of it at the ninth token?",
        "Write 8: at the ninth token 8 · 0.5⁸ = 0.03 must be left, and this patient has 0.5. At the second token it "
        "is right, 4: this condition tells it from other patients.",
    ],
)
def border_unfaded(q, k, v, keep, rate):
    """The old state does not fade when it is handed on to the next chunk.

    Inside a chunk all is right, and so is any text of two chunks: the first one begins with an empty state. Tests with
    short texts do not show it.
    """
    state, outputs = k.new_zeros(k.size(-1), v.size(-1)), []
    for at in range(0, len(k), 4):
        q_, k_, v_, keep_, rate_ = (x[at : at + 4] for x in (q, k, v, keep, rate))
        faded, later = keep_.cumprod(dim=0)[:, None], torch.ones(len(k_), len(k_)).tril(-1).bool()
        left = torch.where(later, keep_[:, None], 1.0).cumprod(dim=0).tril()
        met, own = rate_[:, None] * left * (k_ @ k_.mT), rate_[:, None] * (v_ - faded * (k_ @ state))
        error = torch.linalg.solve_triangular(met, own, upper=False, unitriangular=True)
        outputs.append(faded * (q_ @ state) + (left * (q_ @ k_.mT)) @ error)
        state = state + (left[-1][:, None] * k_).mT @ error
    return torch.cat(outputs)


border_unfaded.blind_to(open_gates)


@border_unfaded.blind_to
def at_most_two_chunks(calls):
    """No text of the test has more than eight tokens.

    This patient reads them in chunks of four, and the first chunk begins with an empty state: there is nothing to fade
    at its end. Pass nine tokens or more.
    """
    return all(k.size(0) <= 8 for k in arguments(calls, "k"))


@border_unfaded.tested_by
def detects(attention):
    key, value, rate = torch.ones(9, 1), torch.zeros(9, 1), torch.zeros(9)
    value[0], rate[0] = 8.0, 1.0
    output = attention(key, key, value, torch.full((9,), 0.5), rate).flatten()
    return abs(output[1].item() - 4) < 0.1 and output[8].item() > 0.1


@late_bug(
    "6.45",
    STATES,
    fixes=[{6: ("torch.bfloat16", "torch.float32")}],
    faults=("not asked",),
    section="14#break-it",
    variants={
        "the state is kept in float16": one_by_one(kept=lambda state: state.half().to(state.dtype)),
        "the state is rounded to 8 binary digits twice": one_by_one(
            kept=lambda state: state.bfloat16().float().bfloat16().to(state.dtype)
        ),
    },
    hints=[
        "Not a formula is wrong here. In which dtype is the state between two tokens?",
        "Which whole numbers can bfloat16 not hold? And float16, which has three binary digits more?",
        "Write 2049 under a key of length 1, with rate 1: both round it to 2048. A second condition, that about 2000 "
        "is read at all, tells this patient from one that erases it.",
    ],
)
def state_in_half_precision(q, k, v, keep, rate):
    """The state is kept in bfloat16 from token to token.

    If 1 is added again and again, the sum stays at 256, and 100 never fades under a gate of 0.998. Sixteen random
    tokens are off by about 0.2 per cent. (mlx-swift-lm stored its states so until its pull request 224, in 2026.)
    """
    state, outputs = k.new_zeros(k.size(-1), v.size(-1)), []
    for t in range(len(k)):
        state = keep[t] * state
        state = state + rate[t] * k[t][:, None] * (v[t] - k[t] @ state)
        state = state.to(torch.bfloat16).to(k.dtype)
        outputs.append(q[t] @ state)
    return torch.stack(outputs)


@state_in_half_precision.tested_by
def detects(attention):
    one, value = torch.ones(1, 1), torch.tensor([[2049.0]])
    read = attention(one, one, value, torch.ones(1), torch.ones(1)).item()
    return read > 1000 and abs(read - 2049) > 0.5
