"""Writing with a cache and without: tokens per second against length, `python course.py bench` (--quick: short texts).

One layer with its four projections writes one more token behind a text of n. Beside attn_lib's `cached_attention` stand
the simplest way in public, computing the whole text again, and PyTorch's fused kernel on a cache, grown by `torch.cat`
as ours is or written into memory set aside beforehand. Times are processor times, interleaved, one round of all after
another, and ratios are medians of the ratios to ours of the same round. Tables and a plot go to build/.
"""

import argparse
import statistics
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from tqdm import tqdm

from attn_lib import Cache, cached_attention, merge_heads, split_heads
from workbench.display.plots import curves

BUILD = Path(__file__).resolve().parent.parent / "build"
LENGTHS = [16, 64, 256, 1024, 4096]
EMBED_DIM, HEADS, STORED = 512, 8, 2  # STORED heads where heads share
OURS = "ours"


class Layer:
    """A text of n tokens, what is kept of it, and the one token that comes next."""

    def __init__(self, n, kv_heads):
        generator = torch.Generator().manual_seed(n)
        head_dim, self.n, self.kv_heads = EMBED_DIM // HEADS, n, kv_heads
        widths = EMBED_DIM, kv_heads * head_dim, kv_heads * head_dim, EMBED_DIM
        self.w_q, self.w_k, self.w_v, self.w_o = (
            torch.randn(EMBED_DIM, width, generator=generator) / EMBED_DIM**0.5 for width in widths
        )
        self.text = torch.randn(1, n + 1, EMBED_DIM, generator=generator)
        _, keys, values = self.projected(self.text[:, :n])
        self.cache = Cache(keys, values, n)
        self.space = [torch.cat([x, torch.zeros_like(x[:, :, :1])], dim=2) for x in (keys, values)]

    def projected(self, x):
        sizes = HEADS, self.kv_heads, self.kv_heads
        return [split_heads(x @ w, h) for w, h in zip((self.w_q, self.w_k, self.w_v), sizes, strict=True)]

    def fused(self, query, key, value, **options):
        return F.scaled_dot_product_attention(query, key, value, enable_gqa=self.kv_heads != HEADS, **options)

    def ours(self):
        return cached_attention(*self.projected(self.text[:, -1:]), self.cache)[0]

    def again(self):
        return self.fused(*self.projected(self.text), is_causal=True)[:, :, -1:]

    def fused_and_cat(self):
        query, key, value = self.projected(self.text[:, -1:])
        kept = [torch.cat(pair, dim=2) for pair in ((self.cache.keys, key), (self.cache.values, value))]
        return self.fused(query, *kept)

    def fused_in_place(self):
        query, key, value = self.projected(self.text[:, -1:])
        for space, new in zip(self.space, (key, value), strict=True):
            space[:, :, self.n :] = new
        return self.fused(query, *self.space)

    def next_token(self, way):
        return merge_heads(way()) @ self.w_o


def ways(layer):
    return {
        OURS: layer.ours,
        "everything again": layer.again,
        "fused, cat": layer.fused_and_cat,
        "fused, in place": layer.fused_in_place,
    }


def seconds(layer, way):
    start = time.process_time()  # other people's work on the machine does not count
    with torch.no_grad():
        layer.next_token(way)
    return time.process_time() - start


def rounds_of(layer, rounds):
    """For each way its times, after one round that warms up."""
    found = {name: [] for name in ways(layer)}
    for _ in range(rounds + 1):
        for name, way in ways(layer).items():
            found[name].append(seconds(layer, way))
    return {name: times[1:] for name, times in found.items()}


def agree(layer):
    """All ways say the same, or there is nothing to compare."""
    with torch.no_grad():
        said = [layer.next_token(way) for way in ways(layer).values()]
    for other in said[1:]:
        torch.testing.assert_close(other, said[0], rtol=1e-4, atol=1e-4)


def measured(lengths, kv_heads, patience):
    """(length, way) → tokens per second and the median and quartiles of its time as a ratio to ours."""
    table = {}
    for n in tqdm(lengths, desc=f"{kv_heads} stored heads"):
        layer = Layer(n, kv_heads)
        agree(layer)
        probe = rounds_of(layer, 1)
        times = rounds_of(layer, max(5, min(400, int(patience / sum(map(sum, probe.values()))))))
        for name, taken in times.items():
            ratios = [mine / ours for mine, ours in zip(taken, times[OURS], strict=True)]
            table[n, name] = 1 / statistics.median(taken), statistics.quantiles(ratios, n=4)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="texts up to 1024 tokens, two seconds for each length")
    options = parser.parse_args()
    lengths, patience = (LENGTHS[:4], 2) if options.quick else (LENGTHS, 8)
    text = f"One layer, {EMBED_DIM} features, {HEADS} heads, {torch.get_num_threads()} thread(s)\n"
    for kv_heads in (HEADS, STORED):
        found = measured(lengths, kv_heads, patience)
        text += f"\n## {kv_heads} stored heads\n\n| tokens before | way | tokens a second | time / ours | quartiles |\n"
        text += "| --- | --- | --- | --- | --- |\n"
        for (n, name), (speed, (low, middle, high)) in found.items():
            text += f"| {n} | {name} | {speed:.0f} | {middle:.2f} | {low:.2f} to {high:.2f} |\n"
        if kv_heads == HEADS:
            drawn = {name: [found[n, name][0] for n in lengths] for name in dict.fromkeys(name for _, name in found)}
    BUILD.mkdir(exist_ok=True)
    labels = {"xlabel": "tokens before", "ylabel": "tokens a second", "log_x": True, "log_y": True}
    curves(lengths, drawn, title="One more token", **labels).savefig(BUILD / "bench_cache.png", dpi=110)
    (BUILD / "bench_cache.md").write_text(text, encoding="utf-8")
    print("\n" + text)


if __name__ == "__main__":
    main()
