"""What is measured beside what, and how: on the processor and on a graphics card; torch alone is needed."""

import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

from attn_lib import MultiHeadAttention, causal_mask, merge_heads, split_heads


class Projections(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, x, causal):
        heads = (split_heads(proj(x), self.num_heads) for proj in (self.q_proj, self.k_proj, self.v_proj))
        return self.out_proj(merge_heads(self.attend(*heads, causal)))


class Fused(Projections):
    """A bare F.scaled_dot_product_attention: what the others are measured by."""

    def attend(self, query, key, value, causal):
        return F.scaled_dot_product_attention(query, key, value, is_causal=causal)


class MatmulOnly(Projections):
    """The two products and nothing between them: what any code that makes the scores must take."""

    def attend(self, query, key, value, causal):
        return (query @ key.mT) @ value


class Ours(nn.Module):
    def __init__(self, embed_dim, num_heads, need_weights):
        super().__init__()
        self.module, self.need_weights = MultiHeadAttention(embed_dim, num_heads), need_weights

    def forward(self, x, causal):
        return self.module(x, x, x, need_weights=self.need_weights, is_causal=causal)[0]


class Theirs(nn.Module):
    def __init__(self, embed_dim, num_heads, need_weights):
        super().__init__()
        self.module = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
        self.options = {"need_weights": need_weights, "average_attn_weights": False}

    def forward(self, x, causal):
        mask = {"attn_mask": ~causal_mask(x.size(1), device=x.device), "is_causal": True} if causal else {}
        return self.module(x, x, x, **mask, **self.options)[0]


VARIANTS = {
    "fused": Fused,
    "ours": lambda *size: Ours(*size, need_weights=False),
    "ours, weights": lambda *size: Ours(*size, need_weights=True),
    "nn.MultiheadAttention": lambda *size: Theirs(*size, need_weights=False),
    "nn.MultiheadAttention, weights": lambda *size: Theirs(*size, need_weights=True),
    "matmul only": MatmulOnly,
}


def calls_of_variants(size, causal, backward, device="cpu", dtype=torch.float32):
    """For each variant a call of its module, and the way back through it where something is trained."""
    batch, length, embed_dim, heads = size
    torch.manual_seed(0)
    x = torch.randn(batch, length, embed_dim, device=device, dtype=dtype)

    def call(module):
        with torch.set_grad_enabled(backward):
            output = module(x, causal)
            if backward:
                output.sum().backward()

    modules = {name: make(embed_dim, heads).to(device, dtype).train(backward) for name, make in VARIANTS.items()}
    return {name: lambda module=module: call(module) for name, module in modules.items()}


def seconds_of(calls, rounds, device="cpu"):
    """Name → seconds of each round but the first, which warms up; a round is all calls, one after another.

    On the processor those of all its threads: other people's work on the machine does not count. On a graphics card
    its own, between two events: it is kept busy while the processor sends it the round, and awaited behind each.
    """
    marks = {name: [] for name in calls}
    for _ in range(rounds + 1):
        if device != "cpu":
            torch.cuda._sleep(3_000_000)  # turns of its clock, about 2 ms
        for name, call in calls.items():
            start = _mark(device)
            call()
            marks[name].append((start, _mark(device)))
        if device != "cpu":
            torch.cuda.synchronize()
    return {name: [_between(*pair) for pair in pairs[1:]] for name, pairs in marks.items()}


def _mark(device):
    if device == "cpu":
        return time.process_time()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _between(start, end):
    return end - start if isinstance(start, float) else start.elapsed_time(end) / 1000


def rounds_within(calls, patience, most, device="cpu"):
    """How many rounds so many seconds have room for, 5 at least."""
    seconds_of(calls, 0, device)
    start = time.perf_counter()
    seconds_of(calls, 0, device)
    return max(5, min(most, int(patience / (time.perf_counter() - start))))


def ratios(seconds, base):
    """Name → the ratio to the base of the same round, so that a machine that slows down slows all."""
    return {
        name: [mine / one for mine, one in zip(taken, seconds[base], strict=True)] for name, taken in seconds.items()
    }


def medians(by_name):
    return {name: statistics.median(values) for name, values in by_name.items()}


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
