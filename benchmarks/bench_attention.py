"""Speed and memory of MultiHeadAttention beside PyTorch's own: `python course.py bench` (--quick: the small sizes).

With --device cuda a graphics card is measured, by benchmarks/card.py.

Every variant has the same four projections, and is in eval mode where nothing is trained. Times are processor times of
all threads, interleaved, one round of all variants after another, and given as the median of the ratios to the bare
fused module of the same round, so that a machine that slows down slows all.
Memory is the peak of a fresh process above what it held before the call. Tables and a plot go to build/.
"""

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import card
import psutil
import torch
from side_by_side import VARIANTS, calls_of_variants, ratios, rounds_within, seconds_of, table
from tqdm import tqdm

from workbench.display.plots import curves

BUILD = Path(__file__).resolve().parent.parent / "build"
SIZES = [(2, 4, 768, 12), (8, 256, 512, 8), (4, 1024, 768, 12)]  # batch, length, embed_dim, heads
LENGTHS = [512, 1024, 2048, 4096]


def speed_table(sizes, seconds):
    rows = []
    cases = [(size, backward, causal) for size in sizes for backward in (False, True) for causal in (False, True)]
    for size, backward, causal in tqdm(cases, desc="speed"):
        calls = calls_of_variants(size, causal, backward)
        times = seconds_of(calls, rounds_within(calls, seconds, most=300))
        for name, by_round in ratios(times, "fused").items():
            quarter = statistics.quantiles(by_round, n=4)
            direction = "forward + backward" if backward else "forward"
            rows.append(
                (str(size), direction, "causal" if causal else "full", name, quarter[1], quarter[0], quarter[2])
            )
    return rows


def peak_of_fresh_process(name, length, causal):
    """MB at the peak of one forward call above what the process held before it."""
    command = [sys.executable, __file__, "--peak", name, str(length), str(int(causal))]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def peak(name, length, causal):
    """Print the largest resident memory during one call, looked at every millisecond, less that before it."""
    process = psutil.Process()
    module, x = VARIANTS[name](768, 12).eval(), torch.randn(1, int(length), 768)
    seen, done = [], threading.Event()

    def look():
        while not done.is_set():
            seen.append(process.memory_info().rss)
            time.sleep(0.001)

    with torch.no_grad():
        module(x[:, :8], bool(int(causal)))  # what a first call loads is not the call's
        before = process.memory_info().rss
        watcher = threading.Thread(target=look)
        watcher.start()
        module(x, bool(int(causal)))
        done.set()
        watcher.join()
    print((max(seen) - before) / 2**20)


def memory_table(lengths):
    names = [name for name in VARIANTS if name != "matmul only"]
    cases = [(name, causal) for name in names for causal in (False, True)]
    return {
        f"{name}{', causal' if causal else ''}": [peak_of_fresh_process(name, n, causal) for n in lengths]
        for name, causal in tqdm(cases, desc="memory")
    }


def import_milliseconds(pairs=7):
    """What `import attn_lib` adds to `import torch`, the median over fresh processes."""
    code = (
        "import time; import torch; t = time.perf_counter(); import attn_lib; print(1000 * (time.perf_counter() - t))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(pairs)]
    return statistics.median(float(run.stdout) for run in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the two small sizes and short lengths")
    parser.add_argument("--device", default="cpu", help="cuda: a graphics card")
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device != "cpu":
        return card.report(options.device, options.quick)
    if options.peak:
        return peak(*options.peak)
    sizes, lengths, seconds = (SIZES[:2], LENGTHS[:2], 2) if options.quick else (SIZES, LENGTHS, 12)

    speed = [[*row[:4], f"{row[4]:.2f}", f"{row[5]:.2f} to {row[6]:.2f}"] for row in speed_table(sizes, seconds)]
    text = "## Time as a ratio to the fused module\n\n"
    text += table(["batch, length, embed, heads", "direction", "mask", "variant", "median", "quartiles"], speed)
    BUILD.mkdir(exist_ok=True)
    memory = memory_table(lengths)
    text += "\n\n## Peak memory of one forward call above the start, MB, batch 1, 768 features, 12 heads\n\n"
    text += table(["variant", *lengths], [[name, *(f"{mb:.0f}" for mb in row)] for name, row in memory.items()])
    drawn = {name: [max(mb, 0.1) for mb in row] for name, row in memory.items() if not name.endswith("causal")}
    figure = curves(
        lengths, drawn, title="Peak memory", xlabel="length", ylabel="MB above the start", log_x=True, log_y=True
    )
    figure.savefig(BUILD / "bench_attention.png", dpi=110)
    text += f"\n\n`import attn_lib` takes {import_milliseconds():.0f} ms after `import torch`.\n"
    (BUILD / "bench_attention.md").write_text(text, encoding="utf-8")
    print("\n" + text)


if __name__ == "__main__":
    main()
