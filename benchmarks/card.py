"""Speed and memory of attn_lib on a graphics card, and whether anything waits for it: `python benchmarks/card.py`.

Modules beside PyTorch's own, attention with weights alone beside what one would write first, tiles, peak memory, what
equals `nn.MultiheadAttention` to the last bit, and every path there and back while PyTorch raises at whatever makes the
processor wait. Times are the card's own, ratios medians of those of the same round. It takes about three minutes
on an H100 and needs nothing but torch. --quick: the small sizes. --compile: beside the taught function compiled.
--device cpu runs the same on the processor, where there is nothing to wait for and memory is not counted.
"""

import argparse
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/helpers")]

import torch
import torch.nn.functional as F
from every_path import paths, there_and_back
from side_by_side import VARIANTS, calls_of_variants, medians, ratios, rounds_within, seconds_of, table
from torch import nn

from attn_lib import MultiHeadAttention, causal_mask, flash_attention, scaled_dot_product_attention
from attn_lib.fast import attention_with_weights

F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
MODULES = [  # dtype, (batch, length, embed_dim, heads), and the way back too
    (F32, (2, 4, 768, 12), False),
    (F32, (8, 256, 512, 8), False),
    (F32, (4, 1024, 768, 12), False),
    (F32, (4, 1024, 768, 12), True),
    (BF16, (4, 1024, 768, 12), False),
    (F32, (2, 4096, 1024, 16), False),
    (F32, (1, 16384, 1024, 16), False),
    (BF16, (2, 4096, 1024, 16), False),
    (BF16, (1, 16384, 1024, 16), False),
    (BF16, (1, 16384, 1024, 16), True),
]
ATTENTION = [  # dtype, (batch, heads, length, d)
    (F32, (8, 8, 256, 64)),
    (F32, (4, 12, 1024, 64)),
    (BF16, (4, 12, 1024, 64)),
    (F32, (1, 16, 16384, 64)),
    (BF16, (1, 16, 16384, 64)),
]
BASE = "fused"


def named(dtype):
    return str(dtype).removeprefix("torch.")


def measured(calls, device, patience):
    """Name → median seconds, and name → median ratio to the base; without the calls that find no room on the card."""
    with torch.no_grad():
        calls = {name: call for name, call in calls.items() if finds_room(call, device)}
        seconds = seconds_of(calls, rounds_within(calls, patience, 100, device), device)
    return medians(seconds), medians(ratios(seconds, BASE))


def finds_room(call, device):
    """Whether a call's results fit into the card's memory."""
    try:
        call()
    except torch.OutOfMemoryError:
        return False
    finally:
        forget(device)
    return True


def modules_table(device, cases, patience):
    """Whole modules; in a cell without a mask, and causal."""
    rows = []
    for dtype, size, backward in cases:
        found = []
        for causal in (False, True):
            calls = calls_of_variants(size, causal, backward, device, dtype)
            found.append(measured(calls, device, patience))
            del calls
            forget(device)
        direction = "forward + backward" if backward else "forward"
        milliseconds = " / ".join(f"{1000 * times.get(BASE, math.nan):.2f}" for times, _ in found)
        others = (
            " / ".join(f"{times.get(name, math.nan):.2f}" for _, times in found) for name in VARIANTS if name != BASE
        )
        rows.append([named(dtype), size, direction, milliseconds, *others])
    header = ["dtype", "batch, length, embed, heads", "direction", "fused, ms", *(n for n in VARIANTS if n != BASE)]
    return table(header, rows)


# ------------------------------------------------------------------------------------------ attention with weights


def first_idea(query, key, value):
    """A mask from the processor, and a look whether a row is dead: each call waits twice."""
    mask = causal_mask(query.size(-2), key.size(-2)).to(query.device)
    scores = (query / math.sqrt(query.size(-1))) @ key.mT
    dead = ~mask.any(dim=-1, keepdim=True)
    fill = torch.where(dead, 0.0, -math.inf).to(scores.dtype)
    weights = torch.softmax(torch.where(mask, scores, fill, out=scores), dim=-1, out=scores)
    weights = weights.masked_fill_(dead, 0.0) if dead.any() else weights
    return weights @ value, weights


def ways_with_weights(query, key, value, compiled):
    causal = {"is_causal": True}
    mask = causal_mask(query.size(-2), device=query.device)
    ways = {
        BASE: lambda: F.scaled_dot_product_attention(query, key, value, **causal),
        "ours": lambda: attention_with_weights(query, key, value, **causal),
        "ours, any mask": lambda: attention_with_weights(query, key, value, mask),
        "ours, no mask": lambda: attention_with_weights(query, key, value),
        "taught": lambda: scaled_dot_product_attention(query, key, value, mask),
    }
    if compiled:
        torch.compiler.reset()
        way = torch.compile(attention_with_weights, fullgraph=True, dynamic=False)
        ways["taught, compiled"] = lambda: way(query, key, value, **causal)
    ways["mask carried over, and a look"] = lambda: first_idea(query, key, value)  # last: it empties the card's queue
    return ways


def attention_table(device, cases, patience, compiled):
    """Causal attention without projections, as a ratio to the fused kernel."""
    rows = []
    for dtype, size in cases:
        query, key, value = torch.randn(3, *size, device=device, dtype=dtype)
        ways = ways_with_weights(query, key, value, compiled)
        seconds, found = measured(ways, device, patience)
        rows.append(
            [named(dtype), size, f"{1000 * seconds.get(BASE, math.nan):.3f}"]
            + [f"{found.get(name, math.nan):.2f}" for name in ways if name != BASE]
        )
        names = [name for name in ways if name != BASE]
        del query, key, value, ways
        forget(device)
    return table(["dtype", "batch, heads, length, d", "fused, ms", *names], rows)


def tiles_table(device, lengths, patience):
    rows = []
    for length in lengths:
        query, key, value = torch.randn(3, 1, 16, length, 64, device=device)
        ways = {
            BASE: lambda q=query, k=key, v=value: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            "tiles": lambda q=query, k=key, v=value: flash_attention(q, k, v, rows=256, keys=256, is_causal=True),
        }
        seconds, _ = measured(ways, device, patience)
        apart = (ways["tiles"]()[0] - ways[BASE]()).abs().max().item()
        times = (f"{1000 * seconds[name]:.2f}" for name in ways)
        rows.append([length, *times, f"{apart:.1e}", peak(ways["tiles"], device)])
    return table(["length", "fused, ms", "tiles, ms", "furthest apart", "tiles, MB"], rows)


# ----------------------------------------------------------------------------------------------------------- memory


def forget(device):
    if device != "cpu":
        torch.cuda.empty_cache()


def peak(call, device):
    """MB at the peak of a call above what was held before it."""
    if device == "cpu":
        return "–"
    try:
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        torch.cuda.synchronize()
        return f"{(torch.cuda.max_memory_allocated() - before) / 2**20:.0f}"
    except torch.OutOfMemoryError:
        return "no room"


def memory_table(device, dtype, size):
    rows = []
    for backward in (False, True):
        for causal in (False, True):
            calls = calls_of_variants(size, causal, backward, device, dtype)
            mb = []
            for call in calls.values():
                peak(call, device)  # what a first call keeps, gradients among it, is not the call's
                mb.append(peak(call, device))
                forget(device)
            rows.append(["forward + backward" if backward else "forward", "causal" if causal else "full", *mb])
            del calls
    return table(["direction", "mask", *VARIANTS], rows)


# ------------------------------------------------------------------------------------ what is equal, and what waits


def equal_to_the_last_bit(device, length):
    """Ours beside nn.MultiheadAttention with the same weights, and how far apart they are where they differ."""
    rows = []
    for dtype in (F32, BF16, F16):
        for causal in (False, True):
            torch.manual_seed(0)
            theirs = nn.MultiheadAttention(768, 12, batch_first=True, device=device, dtype=dtype)
            ours, x = MultiHeadAttention.from_torch(theirs), torch.randn(4, length, 768, device=device, dtype=dtype)
            mask = ~causal_mask(length, device=device) if causal else None
            wanted = theirs(x, x, x, attn_mask=mask, average_attn_weights=False)
            pairs = zip(ours(x, x, x, is_causal=causal), wanted, strict=True)
            cells = ["equal" if a.equal(b) else f"{(a - b).abs().max().item():.1e} apart" for a, b in pairs]
            rows.append([named(dtype), "causal" if causal else "full", *cells])
    return table(["dtype", "mask", "output", "weights"], rows)


def who_waits(device):
    """Every path there and back, while PyTorch raises at what makes the processor wait for the card.

    Of `states` one wait is PyTorch's own: the way back through `cumprod`, which looks whether a factor is 0.
    """
    if device == "cpu":
        return "The processor waits for nobody."
    waits = []
    for name, path in paths(device).items():
        there_and_back(path)  # libraries that are loaded at a first call may wait
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            there_and_back(path)
        except RuntimeError as error:
            waits.append(f"{name}: {str(error).splitlines()[0]}")
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return "\n".join(waits) or f"{len(paths(device))} paths there and back, and nothing waits."


def report(device, quick=False, compiled=False):
    """Print one part after another, each as soon as it is measured."""
    patience = 0.5 if quick else 3
    modules, attention, tiles = (MODULES[:2], ATTENTION[:1], [512]) if quick else (MODULES, ATTENTION, [1024, 4096])
    size = (1, 512, 1024, 16) if quick else (1, 16384, 1024, 16)
    parts = {
        "Who waits": lambda: who_waits(device),
        "Equal to nn.MultiheadAttention": lambda: equal_to_the_last_bit(device, 64 if quick else 1024),
        "Attention with weights, causal: time as a ratio to the fused kernel": lambda: attention_table(
            device, attention, patience, compiled
        ),
        "Modules: time as a ratio to the fused one, full / causal": lambda: modules_table(device, modules, patience),
        f"Peak memory above the start, MB, bfloat16 {size}": lambda: memory_table(device, BF16, size),
        "Tiles of 256 × 256, causal, float32, 16 heads of 64": lambda: tiles_table(device, tiles, patience),
    }
    print("The processor" if device == "cpu" else torch.cuda.get_device_name(), "with PyTorch", torch.__version__)
    for title, part in parts.items():
        print(f"\n## {title}\n\n{part()}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true", help="the small sizes")
    parser.add_argument("--compile", action="store_true", help="beside the taught function compiled")
    options = parser.parse_args()
    report(options.device, options.quick, options.compile)


if __name__ == "__main__":
    main()
