"""Two recorded runs side by side: operations aligned by their results, and the first one that goes its own way."""

import math
from dataclasses import dataclass

import torch

MOST_ALIGNED = 400


@dataclass(frozen=True)
class Difference:
    """Where two versions part: the steps (one may be None) and what to say about them."""

    first: object
    second: object
    words: str
    largest: float | None = None


def align(first, second):
    """Pairs (a, b, same) in order, with None where the other version has nothing like it."""
    first, second = first[:MOST_ALIGNED], second[:MOST_ALIGNED]
    same = [[equal(a.kept, b.kept) for b in second] for a in first]
    score = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in reversed(range(len(first))):
        for j in reversed(range(len(second))):
            together = 2 * score_of_pair(first[i], second[j], same[i][j]) + score[i + 1][j + 1]
            score[i][j] = max(together, score[i + 1][j], score[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(first) or j < len(second):
        both = i < len(first) and j < len(second)
        worth = 2 * score_of_pair(first[i], second[j], same[i][j]) if both else 0
        if worth and score[i][j] == worth + score[i + 1][j + 1]:
            pairs.append((first[i], second[j], same[i][j]))
            i, j = i + 1, j + 1
        elif j == len(second) or (i < len(first) and score[i][j] == score[i + 1][j]):
            pairs.append((first[i], None, False))
            i += 1
        else:
            pairs.append((None, second[j], False))
            j += 1
    return pairs


def score_of_pair(a, b, same):
    """Equal results weigh most; of the others, only the same operation may stand in one row."""
    return (1000 + (a.name == b.name)) if same else int(a.name == b.name)


def first_difference(first, second, outputs):
    """The first operation whose result differs and reaches the output, or None where the outputs agree.

    first, second: the two runs; outputs: what is kept of the tensors that each returned.
    An operation that only takes another way to the same numbers, such as scaling the query in place of the scores,
    is no difference: its result is lost again in one that both versions have.
    """
    if first.error or second.error:
        return _difference_of_errors(first, second)
    if _outputs_agree(*outputs):
        return None
    ours, theirs = first.operations, second.operations
    ours, theirs = first.operations, second.operations
    strays = [_strays(ours, theirs), _strays(theirs, ours)]
    leading = [stray[0] if stray else None for stray in strays]
    if not any(leading):
        return Difference(None, None, "every operation has a counterpart, only what is returned differs")
    if all(leading) and leading[0].name == leading[1].name:
        return _scaled(*strays) or _describe(*leading)
    return _scaled(*strays) or _one_is_extra(strays, leading, outputs)


def _one_is_extra(strays, leading, outputs):
    """One version has an operation that the other has not; what it comes to is seen in the next that both have."""
    pairs = [(a, b) for a, b, _ in align(*strays) if a and b and a.name == b.name]
    pairs = [(a, b) for a, b in pairs if a.kept.shape == b.kept.shape] or pairs
    if all(leading) and not pairs:
        a, b = leading
        words = f"A goes on with {_called(a)}, B with {_called(b)}{_between(outputs)}"
        return _describe(a, b) if a.kept.shape == b.kept.shape else Difference(a, b, words)
    extra = next(step for step in leading if step and all(step not in pair for pair in pairs))
    is_first = extra is leading[0]
    words = f"{_name(is_first)} has {_called(extra)}, {_name(not is_first)} has nothing like it"
    steps = (extra, None) if is_first else (None, extra)
    if not pairs:
        return Difference(*steps, f"{words}{_between(outputs)}")
    later = _describe(*pairs[0])
    return Difference(*steps, f"{words}; then {later.words}", later.largest)


def _between(outputs):
    ours, theirs = (kept[0] for kept in outputs)
    if ours.shape != theirs.shape or ours.sample is None or theirs.sample is None:
        return ""
    return f"; the outputs are up to {largest_difference(ours, theirs)[0]:.3g} apart"


def _scaled(ours, theirs):
    """Whether the scale is all that differs, wherever it is applied: to the query, to the key or to the scores."""
    for a in ours:
        for b in reversed(theirs):
            if factor(a.kept, b.kept):
                a = next(other for other in reversed(ours) if factor(other.kept, b.kept))
                times = factor(a.kept, b.kept)
                largest, _ = largest_difference(a.kept, b.kept)
                words = (
                    f"{_called(b)} in B gives {times:.4g} times what {_called(a)} gives in A, the rest is the same: "
                )
                return Difference(a, b, f"{words}the scale differs, by up to {largest:.3g}", largest)
    return None


def factor(a, b):
    """The number by which every entry of b differs from that of a, or None if there is none."""
    if a.shape != b.shape or a.sample is None or b.sample is None or a.dtype == torch.bool or a.sample.numel() < 2:
        return None
    one, two = (x.sample[a.sample.isfinite() & b.sample.isfinite()] for x in (a, b))
    same = (a.sample == b.sample) | (a.sample.isfinite() & b.sample.isfinite())
    if not same.all() or not one.numel() or not (one * one).sum() or one.max() == one.min():
        return None
    times = ((one * two).sum() / (one * one).sum()).item()
    close = torch.allclose(one * times, two, rtol=1e-4, atol=1e-5 * two.abs().max().item())
    return times if close and times > 0 else None


def _difference_of_errors(first, second):
    failed = [next((step for step in run.operations if step.error), None) for run in (first, second)]
    said = [f"{name} raises {run.error}" for name, run in (("A", first), ("B", second)) if run.error]
    words = " and ".join(said) if len(said) == 2 else f"{said[0]}, {_name(not first.error)} does not"
    return Difference(*failed, words)


def _strays(steps, others):
    """Operations without an equal on the other side from which the output is reached through such ones only."""
    unequal = [step for step in steps if not any(equal(step.kept, other.kept) for other in others)]
    reaching = set()
    for step in reversed(unequal):
        if step.returned or any(step in later.sources for later in reaching):
            reaching.add(step)
    return [step for step in unequal if step in reaching]


def _describe(a, b):
    if a.kept.shape != b.kept.shape:
        return Difference(a, b, f"A {_gives(a)}, B {_gives(b)}")
    largest, count = largest_difference(a.kept, b.kept)
    much = f"the largest difference is {largest:.3g}, in {count} of {a.kept.sample.numel()} numbers"
    if a.kept.value is None:
        much += " that were sampled"
    if a.operation != b.operation:
        return Difference(a, b, f"A has {_called(a)}, B has {_called(b)}: {much}", largest)
    taken = _other_source(a, b)
    return Difference(a, b, f"both have {_called(a)}{taken}: {much}", largest)


def _other_source(a, b):
    for one, two in zip(map(_origin, a.sources), map(_origin, b.sources), strict=False):
        if one and two and one.operation != two.operation:
            return f", but A takes the result of {_called(one)} and B that of {_called(two)}"
    return ", of other numbers" if a.sources else ""


def _origin(step):
    """The step that made these numbers, not one that passed them on, as dropout with p=0 does."""
    while step and step.sources and step.sources[0] and equal(step.kept, step.sources[0].kept):
        step = step.sources[0]
    return step


def _called(step):
    return f"`{step.operation}`"


def _gives(step):
    return f"makes {step.kept.shape} with {_called(step)}"


def _name(is_first):
    return "A" if is_first else "B"


def _outputs_agree(ours, theirs):
    return bool(ours and theirs) and all(equal(a, b) for a, b in zip(ours, theirs, strict=False))


def equal(a, b):
    """Whether two results are the same numbers in the same shape, whatever the order of the rounding."""
    if a is None or b is None or a.shape != b.shape or a.sample is None or b.sample is None:
        return False
    half = {torch.float16, torch.bfloat16} & {a.dtype, b.dtype}
    finite = a.sample[a.sample.isfinite()]
    size = finite.abs().max().item() if finite.numel() else 0.0
    return torch.allclose(a.sample, b.sample, rtol=1e-4, atol=(1e-2 if half else 1e-5) * size, equal_nan=True)


def largest_difference(a, b):
    """The largest difference (inf where only one side is finite) and in how many of the numbers they differ."""
    one, two = a.sample, b.sample
    size = max((x[x.isfinite()].abs().max().item() if x.isfinite().any() else 0.0) for x in (one, two))
    differ = ~torch.isclose(one, two, rtol=1e-4, atol=1e-5 * size, equal_nan=True)
    gap = (one - two).abs()[differ]
    return gap.nan_to_num(nan=math.inf, posinf=math.inf).max().item() if gap.numel() else 0.0, int(differ.sum())
