"""By how much two results differ, printed beside an assertion that says nothing when it passes."""

import math

import torch

FROM_ROUNDING = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 1e-1}
PLAIN_FROM = 1e-3  # a difference as large as this is no rounding, and is printed with two digits


def show_difference(ours, theirs, what="", *, below=None):
    """Print the largest difference between two results: `largest difference below 1e-05`.

    A result is a tensor, a number, or a tuple, list or dict of results. What rounding can do differs with the machine;
    so a small difference is printed as the power of ten below which it is, and as no smaller one than rounding may
    reach in the coarser of the two dtypes, or than `below`, where a cell knows better. `what` is printed before it.
    Raises: ValueError if the two do not have the same parts, or the same shapes.
    """
    pairs = list(_pairs(ours, theirs))
    largest = max((_largest(a, b) for a, b in pairs), key=_badness, default=0.0)
    floor = below or max((_rounding(x) for pair in pairs for x in pair), default=0.0)
    print(f"{what}: " * bool(what) + f"largest difference {_in_words(largest, floor)}")


def _pairs(ours, theirs):
    """The tensors of both that stand at the same place, two by two."""
    parts, others = _parts(ours), _parts(theirs)
    if (parts and parts.keys()) != (others and others.keys()):
        raise ValueError(f"one has {_described(parts)}, the other {_described(others)}")
    if parts is not None:
        for name, part in parts.items():
            yield from _pairs(part, others[name])
        return
    a, b = (torch.as_tensor(x).detach() for x in (ours, theirs))
    if a.shape != b.shape:
        raise ValueError(f"one has shape {tuple(a.shape)}, the other {tuple(b.shape)}")
    yield a, b


def _parts(result):
    """Name or place → part; None for what has no parts."""
    if isinstance(result, tuple | list):
        return dict(enumerate(result))
    return result if isinstance(result, dict) else None


def _described(parts):
    return "no parts" if parts is None else f"the parts {list(parts)}"


def _largest(a, b):
    """The largest gap: nan where either has a nan, 0 where both have the same infinity."""
    a, b = a.cpu().double(), b.cpu().double()
    gaps = torch.where(a == b, 0.0, (a - b).abs())
    return gaps.max().item() if gaps.numel() else 0.0


def _badness(gap):
    return math.inf if math.isnan(gap) else gap


def _rounding(x):
    return FROM_ROUNDING.get(x.dtype, 0.0)


def _in_words(gap, floor):
    if not math.isfinite(gap) or gap >= max(PLAIN_FROM, floor):
        return f"{gap:.2g}"
    if not gap and not floor:
        return "0"
    bound = max(floor, 10.0 ** (math.floor(math.log10(gap)) + 1)) if gap else floor
    return f"below {bound:.0e}"
