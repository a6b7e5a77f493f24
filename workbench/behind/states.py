"""Behind notebook 14: how many pairs a state returns, two puzzles for a memory, and a small model that learns them."""

from functools import cache

import torch
import torch.nn.functional as F
from torch import nn

from attn_lib import chunked_attention, linear_attention, rotary
from attn_lib.linear import chunk_errors, what_is_left

KEYS, VALUES = 16, 16  # words of the puzzles: the keys come first, as A to P, then the values, as 0 to 15
KINDS = ("softmax", "RoPE", "sum", "gate", "delta", "gate and delta")  # of a layer; RoPE is softmax with it


# ------------------------------------------------------------------------------------------- pairs that are read back


def unit_rows(n, d, seed):
    """Random rows of length 1: (n, d)."""
    return F.normalize(torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64), dim=-1)


def read_back(n, d, seed, delta):
    """Of n random pairs that were written once, which are read back: (n,), True where the right value is the nearest.

    Keys and n different values are rows of d features, of length 1; the value with the largest product counts as read.
    """
    keys, values = unit_rows(n, d, 1000 + seed), unit_rows(n, d, seed)
    rate = torch.ones(n, dtype=torch.float64) if delta else None
    _, state = linear_attention(keys, keys, values, None, rate)
    return (keys @ state @ values.T).argmax(dim=-1) == torch.arange(n)


def told_by_age(by_sum, by_delta):
    """Of draws (draws, n) of what is read back, as text: all, and from the oldest quarter to the newest."""
    lines = []
    for name, right in (("sum", by_sum.double()), ("delta rule", by_delta.double())):
        quarters = right.view(len(right), 4, -1).mean(dim=(0, 2))
        lines.append(f"{name:10} {right.mean():.2f} of all; oldest to newest " + " ".join(f"{x:.2f}" for x in quarters))
    ahead = (by_sum.sum(dim=1) > by_delta.sum(dim=1)).sum().item()
    return "\n".join([*lines, f"the sum gave back more in {ahead} of {len(by_sum)} draws"])


def ones_added(n, dtype):
    """What a state of one number is after n ones were added to it, each sum kept in this dtype."""
    state = torch.zeros((), dtype=dtype)
    for _ in range(n):
        state = state + torch.ones((), dtype=dtype)
    return state.item()


def faded(number, gate, n, dtype):
    """What is left of a number after n tokens that write nothing, each product kept in this dtype."""
    state = torch.tensor(float(number), dtype=dtype)
    for _ in range(n):
        state = (gate * state.float()).to(dtype)
    return state.item()


# ---------------------------------------------------------------------------------------------------------- puzzles


def some_of(choices, n, batch, generator):
    """n different numbers below `choices` in random order, for each text: (batch, n)."""
    lots = torch.rand(batch, choices, generator=generator, dtype=torch.float64)
    return lots.argsort(dim=1)[:, :n]


def recall(batch, pairs, generator):
    """Texts of different keys, each with its value, then all keys in another order: tokens, and the values due."""
    keys = some_of(KEYS, pairs, batch, generator)
    values = KEYS + torch.randint(VALUES, (batch, pairs), generator=generator)
    asked = some_of(pairs, pairs, batch, generator)
    facts = torch.stack([keys, values], dim=2).flatten(1)  # (batch, 2 · pairs)
    return torch.cat([facts, keys.gather(1, asked)], dim=1), values.gather(1, asked)


def newest(batch, writes, generator):
    """Texts in which four keys are written again and again, then asked: tokens, and the values that came last."""
    names = some_of(KEYS, 4, batch, generator)
    which = torch.cat([torch.arange(4).expand(batch, 4), torch.randint(4, (batch, writes - 4), generator=generator)], 1)
    which = which.gather(1, some_of(writes, writes, batch, generator))  # (batch, writes): each key at least once
    values = KEYS + torch.randint(VALUES, (batch, writes), generator=generator)
    last = torch.stack([torch.where(which == key, torch.arange(writes), -1).amax(dim=1) for key in range(4)], dim=1)
    asked = some_of(4, 4, batch, generator)
    facts = torch.stack([names.gather(1, which), values], dim=2).flatten(1)  # (batch, 2 · writes)
    return torch.cat([facts, names.gather(1, asked)], dim=1), values.gather(1, last).gather(1, asked)


PUZZLES = {"recall": recall, "newest": newest}


def as_words(tokens):
    """A text as a learner reads it: keys are letters, values numbers."""
    return " ".join(chr(ord("A") + token) if token < KEYS else str(token - KEYS) for token in tokens.tolist())


def by_frequency(n):
    """The share right in 500 texts of `newest` of whoever answers with the value most often written under the key.

    Where several values are, one of them by lot.
    """
    tokens, due = newest(500, n, torch.Generator().manual_seed(9))
    facts, asked = tokens[:, :-4].view(500, n, 2), tokens[:, -4:]
    under = facts[:, None, :, 0] == asked[:, :, None]  # (500, 4, n): which pairs have the key that is asked
    times = (under[..., None] & (facts[:, None, :, 1, None] == torch.arange(KEYS, KEYS + VALUES))).sum(dim=2)
    most = times == times.amax(dim=-1, keepdim=True)  # (500, 4, 16)
    return (most.gather(2, due[..., None] - KEYS)[..., 0] / most.sum(dim=-1)).mean().item()


# ------------------------------------------------------------------------------------------------------------ model


class Layer(nn.Module):
    """A layer of one head. A token's query and value are its own, its key is that of the token before it.

    So a value stands under the key before it; in lesson 9 a head of the first layer learned to fetch it.
    """

    def __init__(self, kind, width, d):
        super().__init__()
        self.kind, self.d = kind, d
        self.norm = nn.RMSNorm(width, eps=1e-6)
        self.query, self.key, self.value = (nn.Linear(width, d, bias=False) for _ in range(3))
        self.back = nn.Linear(d, width, bias=False)
        self.gates = nn.Linear(width, 2)  # of keep and rate
        nn.init.zeros_(self.gates.weight)
        self.gates.bias.data = torch.tensor([4.0, 1.0])

    def forward(self, x):
        x = self.norm(x)
        query, key, value = self.query(x), self.key(F.pad(x, (0, 0, 1, 0))[:, :-1]), self.value(x)  # (batch, n, d)
        return self.back(F.rms_norm(self.attend(x, query, key, value), (self.d,), eps=1e-6))

    def attend(self, x, query, key, value):
        if self.kind == "RoPE":
            query, key = (rotary(rows[:, None])[:, 0] for rows in (query, key))
        if self.kind in ("softmax", "RoPE"):
            return F.scaled_dot_product_attention(query, key, value, is_causal=True)
        keep, rate = self.keep_and_rate(x)
        keep, rate = keep if "gate" in self.kind else None, rate if "delta" in self.kind else None
        return chunked_attention(F.normalize(query, dim=-1), F.normalize(key, dim=-1), value, keep, rate)[0]

    def keep_and_rate(self, x):
        """What each token computes of itself, two numbers from 0 to 1: x (batch, n, width) → (batch, n) each."""
        return torch.sigmoid(self.gates(x)).unbind(dim=-1)


class Model(nn.Module):
    """tokens (batch, n) → logits of the words due at the last so many (batch, asked, words); only RoPE has places."""

    def __init__(self, kinds, d, width=32):
        super().__init__()
        self.token = nn.Embedding(KEYS + VALUES, width)
        self.layers = nn.ModuleList(Layer(kind, width, d) for kind in kinds)
        self.norm = nn.RMSNorm(width, eps=1e-6)
        self.says = nn.Linear(width, KEYS + VALUES, bias=False)

    def forward(self, tokens, asked):
        x = self.token(tokens)
        for layer in self.layers:
            x = x + layer(x)
        return self.says(self.norm(x[:, -asked:]))


class Adam:
    """Adam over all numbers of a model in one row: torch's own imports for longer than a model here takes to learn."""

    def __init__(self, model):
        self.row = nn.utils.parameters_to_vector(model.parameters()).detach()
        self.gradient = torch.zeros_like(self.row)
        self.mean, self.mean_square, self.steps = torch.zeros_like(self.row), torch.zeros_like(self.row), 0
        sizes = [parameter.numel() for parameter in model.parameters()]
        parts = zip(model.parameters(), self.row.split(sizes), self.gradient.split(sizes), strict=True)
        for parameter, part, slope in parts:
            parameter.data, parameter.grad = part.view_as(parameter), slope.view_as(parameter)

    def step(self, rate):
        """One step down the gradients that stand in `.grad`, which are 0 afterwards."""
        self.steps += 1
        self.mean.lerp_(self.gradient, 0.1)
        self.mean_square.lerp_(self.gradient.square(), 0.001)
        mean, mean_square = self.mean / (1 - 0.9**self.steps), self.mean_square / (1 - 0.999**self.steps)
        self.row -= rate * mean / (mean_square.sqrt() + 1e-8)
        self.gradient.zero_()


@cache  # whoever runs the cell again, now with a guess, need not wait again
def train(puzzle, *kinds, d, seed=0, steps=400):
    """A model after so many steps of Adam on texts of 4, 8 and 16 pairs; torch's own seed stays.

    puzzle is one of `PUZZLES`, kinds has one of `KINDS` for each layer, d is how many features a head has.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Model(kinds, d).double()
    adam = Adam(model)
    generator = torch.Generator().manual_seed(1000 + seed)
    for step in range(steps):
        tokens, due = PUZZLES[puzzle](32, (4, 8, 16)[step % 3], generator)
        F.cross_entropy(model(tokens, due.size(1)).flatten(0, 1), due.flatten()).backward()
        adam.step(0.01 * min(1, (step + 1) / 20) * (1 - step / steps))
    return model


@torch.no_grad()
def share_right(puzzle, model, n):
    """The share of right answers of a model in 500 new texts of n pairs."""
    tokens, due = PUZZLES[puzzle](500, n, torch.Generator().manual_seed(9))
    return (model(tokens, due.size(1)).argmax(dim=-1) == due).double().mean().item()


# ------------------------------------------------------------------------------------- faults of chunks, and tests

FAULTS = ("border forgotten", "state unfaded", "wrong end", "own write faded", "rest dropped", "errors unfaded")
TESTS = {  # tokens, size of a chunk, whether all gates are 1, whether a state is handed in and compared
    "one chunk": (4, 4, False, False),
    "one chunk, and state": (4, 4, False, True),
    "gates of 1": (11, 4, True, False),
    "chunks of 1": (5, 1, False, False),
    "two whole chunks": (8, 4, False, False),
    "odd text": (11, 4, False, False),
}


def with_fault(fault, query, key, value, keep, rate, state, chunk):
    """Attention in chunks, of one text, with one of `FAULTS`: outputs and state."""
    outputs, end = [], len(key) // chunk * chunk if fault == "rest dropped" else len(key)
    for now in (slice(first, first + chunk) for first in range(0, end, chunk)):
        q, k, v, r = query[now], key[now], value[now], rate[now]
        state = torch.zeros_like(state) if fault == "border forgotten" else state
        faded, left = what_is_left(keep[now])
        left = left * keep[now] if fault == "own write faded" else left
        written = chunk_errors(k, v, faded, torch.ones_like(left) if fault == "errors unfaded" else left, r, state)
        outputs.append(faded * (q @ state) + (left * (q @ k.mT)) @ written)
        to_end = faded if fault == "wrong end" else left[-1][:, None]
        state = (1 if fault == "state unfaded" else faded[-1]) * state + (to_end * k).mT @ written
    return torch.cat(outputs), state


def sees(test, fault, seed=0):
    """Whether a test sees a difference between a fault and right code, on random numbers."""
    n, chunk, open_gates, with_state = TESTS[test]
    generator = torch.Generator().manual_seed(seed)
    query, key, value, state = (
        torch.randn(8, rows, generator=generator, dtype=torch.float64).T for rows in (n, n, n, 8)
    )
    keep, rate = 0.6 + 0.4 * torch.rand(n, generator=generator, dtype=torch.float64), torch.rand(n, generator=generator)
    keep, state = torch.ones_like(keep) if open_gates else keep, state if with_state else torch.zeros_like(state)
    text = query, F.normalize(key, dim=-1), value, keep, rate.double(), state
    right, wrong = linear_attention(*text), with_fault(fault, *text, chunk)
    pairs = list(zip(right, wrong, strict=True))[: 2 if with_state else 1]
    return any(one.shape != other.shape or not torch.allclose(one, other, atol=1e-6) for one, other in pairs)


def who_sees_what():
    """Test → fault → whether the test sees it."""
    return {test: {fault: sees(test, fault) for fault in FAULTS} for test in TESTS}
