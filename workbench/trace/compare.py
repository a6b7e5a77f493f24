"""Two recorded runs side by side: operations aligned by their results, and the first one that goes its own way."""

import math
from dataclasses import dataclass, fields, is_dataclass, replace

import torch

from ..display import show
from .record import in_a_row, shape_of, tensors_in

MOST_ALIGNED = 400  # operations at a time
MOST_FACTORS = 24  # strays of each side that are looked through for a scale
SCALES = {"mul", "div", "__rmul__", "__rdiv__"}
HALF = {torch.float16, torch.bfloat16}


@dataclass(frozen=True)
class Difference:
    """Where two versions part: the steps (one may be None) and what to say about them."""

    first: object
    second: object
    words: str
    largest: float | None = None
    is_cause: bool = False  # whether all that goes into it is the same: else it may be only another way of building


# ------------------------------------------------------------------------------------------------ what is returned


def outputs_differ(ours, theirs, where="output"):
    """What differs between two outputs, in words, or "": every number, every part of tuples and dicts, every dtype."""
    if isinstance(ours, torch.Tensor) and isinstance(theirs, torch.Tensor):
        return _tensors_differ(ours, theirs, where)
    if isinstance(ours, torch.Tensor) or isinstance(theirs, torch.Tensor) or type(ours) is not type(theirs):
        return f"{where} is {_kind(ours)} in A and {_kind(theirs)} in B"
    parts = [_parts(side) for side in (ours, theirs)]
    if parts[0] is None:
        return "" if _same(ours, theirs) else f"{where} is {show.value(ours)} in A and {show.value(theirs)} in B"
    if list(parts[0]) != list(parts[1]):
        return f"{where} holds {_names_of(parts[0])} in A and {_names_of(parts[1])} in B"
    differences = (outputs_differ(parts[0][name], parts[1][name], f"{where}[{name!r}]") for name in parts[0])
    return next((words for words in differences if words), "")


def _tensors_differ(ours, theirs, where):
    if shape_of(ours) != shape_of(theirs):
        return f"{where} has shape {shape_of(ours)} in A and {shape_of(theirs)} in B"
    if ours.dtype != theirs.dtype:
        one, two = (str(tensor.dtype).removeprefix("torch.") for tensor in (ours, theirs))
        return f"{where} is {one} in A and {two} in B"
    if ours.layout != theirs.layout or "meta" in (ours.device.type, theirs.device.type):
        return f"{where} holds no numbers that can be compared"
    one, two = (in_a_row(side.detach()).to("cpu") for side in (ours, theirs))
    if one.shape != two.shape:  # nested tensors
        return f"{where} has {one.numel()} numbers in A and {two.numel()} in B"
    if not one.is_floating_point() and not one.is_complex():
        wrong = one != two
    else:
        one, two = (x.to(torch.complex128 if x.is_complex() else torch.float64) for x in (one, two))
        finite = one[one.isfinite()].abs()
        size = finite.max().item() if finite.numel() else 0.0
        wrong = ~torch.isclose(one, two, rtol=show.RTOL, atol=_slack(ours.dtype) * size, equal_nan=True)
    count = int(wrong.sum())
    return f"{where} differs in {show.count(count, 'number')} of {wrong.numel()}" if count else ""


def _same(ours, theirs):
    """Whether two results that are no tensors are the same, as far as they say."""
    if isinstance(ours, float):
        return math.isclose(ours, theirs, rel_tol=show.RTOL) or (math.isnan(ours) and math.isnan(theirs))
    try:
        return ours is theirs or bool(torch.as_tensor(ours == theirs).all())
    except (TypeError, ValueError, RuntimeError):
        return False


def _slack(dtype):
    """Rounding, as a share of the largest number."""
    return 1e-2 if dtype in HALF else show.ATOL


def _parts(thing):
    if isinstance(thing, dict):
        return thing
    if is_dataclass(thing) and not isinstance(thing, type):
        return {part.name: getattr(thing, part.name) for part in fields(thing)}
    return dict(enumerate(thing)) if isinstance(thing, tuple | list) else None


def _names_of(parts):
    return (
        ", ".join(map(str, parts)) if parts and isinstance(next(iter(parts)), str) else show.count(len(parts), "part")
    )


def _kind(thing):
    if thing is None:
        return "nothing"
    if isinstance(thing, torch.Tensor):
        return f"one tensor of shape {shape_of(thing)}"
    return f"a {type(thing).__name__}" + (f" of {len(thing)}" if isinstance(thing, tuple | list | dict) else "")


# ------------------------------------------------------------------------------------------------- which are the same


class Alike:
    """Gives results that are the same numbers one number, in time that grows with them and not with their square."""

    def __init__(self):
        self._boxes, self._count = {}, 0

    def number(self, snapshot):
        """The same for two results that are `equal`; a result that nothing can be compared with has its own."""
        keys = _keys(snapshot)
        for key in keys:
            for other, which in self._boxes.get(key, ()):
                if equal(snapshot, other):
                    return which
        self._count += 1
        for key in keys[:1]:
            self._boxes.setdefault(key, []).append((snapshot, self._count))
        return self._count


def _keys(snapshot):
    """Where equal results are looked for: boxes of their size and of two sums, with those next door; its own first."""
    if snapshot is None or snapshot.sample is None:
        return []
    finite = snapshot.sample[snapshot.sample.isfinite()]
    if not finite.numel():
        return [(snapshot.shape, "none")]
    size, mean = finite.abs().max().item(), finite.mean().item()
    if size == 0:
        return [(snapshot.shape, 0)]
    slack = (show.RTOL + _slack(snapshot.dtype)) * 1.01
    wide = 8 * slack  # a box is wider than rounding, so that only next door has to be looked at
    at = math.log(size) / math.log1p(wide)
    boxes = [math.floor(at), *{math.floor(at - 0.15), math.floor(at + 0.15)} - {math.floor(at)}]
    keys = []
    for box in boxes:
        scale = (1 + wide) ** box
        place = mean / scale / wide
        near = [math.floor(place), *{math.floor(place - 0.3), math.floor(place + 0.3)} - {math.floor(place)}]
        keys += [(snapshot.shape, box, i) for i in near]
    return keys


def align(first, second):
    """Pairs (a, b, same) in order, with None where the other version has nothing like it."""
    alike = Alike()
    ours, theirs = ([(step, alike.number(step.snapshot)) for step in side] for side in (first, second))
    begin = 0
    while begin < min(len(ours), len(theirs)) and ours[begin][1] == theirs[begin][1]:
        begin += 1
    pairs = [(a[0], b[0], True) for a, b in zip(ours[:begin], theirs[:begin], strict=True)]
    ours, theirs = ours[begin:], theirs[begin:]
    while ours or theirs:
        pairs += _align(ours[:MOST_ALIGNED], theirs[:MOST_ALIGNED])
        ours, theirs = ours[MOST_ALIGNED:], theirs[MOST_ALIGNED:]
    return pairs


def _align(first, second):
    score = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in reversed(range(len(first))):
        row, below = score[i], score[i + 1]
        for j in reversed(range(len(second))):
            together = 2 * _worth(first[i], second[j]) + below[j + 1]
            row[j] = max(together, below[j], row[j + 1])
    pairs, i, j = [], 0, 0
    while i < len(first) or j < len(second):
        worth = 2 * _worth(first[i], second[j]) if i < len(first) and j < len(second) else 0
        if worth and score[i][j] == worth + score[i + 1][j + 1]:
            pairs.append((first[i][0], second[j][0], first[i][1] == second[j][1]))
            i, j = i + 1, j + 1
        elif j == len(second) or (i < len(first) and score[i][j] == score[i + 1][j]):
            pairs.append((first[i][0], None, False))
            i += 1
        else:
            pairs.append((None, second[j][0], False))
            j += 1
    return pairs


def _worth(one, other):
    """Equal results weigh most; of the others, only the same operation may stand in one row."""
    (a, which), (b, its) = one, other
    return 1000 * (which == its) + (a.name == b.name)


# --------------------------------------------------------------------------------------------------- where they part


def first_difference(first, second):
    """The first operation whose result differs and reaches an output that differs, or None where the outputs agree.

    first, second: the two runs.
    An operation that only takes another way to the same numbers, such as scaling the query in place of the scores,
    is no difference: its result is lost again in one that both versions have.
    """
    if first.error or second.error:
        return _difference_of_errors(first, second)
    outputs = outputs_differ(first.output, second.output)
    if not outputs:
        return None
    wrong, total = _wrong_places(first.output, second.output), len(tensors_in(first.output))
    opening = "" if wrong == {0} and " differs in " in outputs else f"The outputs differ: {outputs}. "
    if wrong and len(wrong) < total:
        right = total - len(wrong)
        opening = f"{right} of {total} outputs {'agrees' if right == 1 else 'agree'}, but {outputs}. "
    difference = _first_stray(first.operations, second.operations, wrong)
    if difference is None:
        return Difference(
            None, None, f"The outputs differ: {outputs}. Every operation has a counterpart with its numbers."
        )
    return replace(difference, words=f"{opening}First difference: {difference.words}.")


def _wrong_places(ours, theirs):
    """The places among the tensors of the outputs that differ, or None for all where they do not correspond."""
    ours, theirs = tensors_in(ours), tensors_in(theirs)
    if len(ours) != len(theirs):
        return None
    return {i for i, pair in enumerate(zip(ours, theirs, strict=True)) if outputs_differ(*pair)} or None


def _first_stray(ours, theirs, places):
    strays, pairs = _strays(ours, theirs, places), align(ours, theirs)
    leading = [stray[0] if stray else None for stray in strays]
    if not any(leading):
        return None
    if all(leading) and leading[0].name == leading[1].name:
        return _scaled(*strays) or _compared(*leading, pairs)
    return _scaled(*strays) or _one_is_extra(strays, leading, pairs)


def _one_is_extra(strays, leading, aligned):
    """One version has an operation that the other does not have; the next that both have shows what it comes to."""
    pairs = [(a, b) for a, b, _ in align(*strays) if a and b]
    pairs = [(a, b) for a, b in pairs if a.snapshot.shape == b.snapshot.shape] or pairs
    if all(leading) and not pairs:
        a, b = leading
        if a.snapshot.shape == b.snapshot.shape:
            return _describe(a, b)
        return Difference(a, b, f"A goes on with {_code(a)}, B with {_code(b)}")
    extra = next(step for step in leading if step and all(step not in pair for pair in pairs))
    beside = next((pair[:2] for pair in aligned if extra in pair[:2]), (None, None))
    if all(beside):  # the other has it too, and there it changes nothing
        return _compared(*beside, aligned)
    is_first = extra is leading[0]
    words = f"{_name(is_first)} has {_code(extra)}, {_name(not is_first)} has nothing like it"
    steps = (extra, None) if is_first else (None, extra)
    if not pairs:
        return Difference(*steps, words)
    later = _describe(*pairs[0])
    is_cause = not is_first and _same_without(extra, strays[1], *pairs[0])
    return Difference(*steps, f"{words}; then {later.words}", later.largest, is_cause)


def _compared(a, b, aligned):
    """Two operations that stand for each other; the cause if they take the same and do something else with it."""
    stand_together = any(one is a and other is b for one, other, _ in aligned)
    differs = a.name == b.name and a.operation != b.operation and a.snapshot.shape == b.snapshot.shape
    return replace(_describe(a, b), is_cause=stand_together and differs and _all_same(a.sources, b.sources))


def _same_without(extra, strays, a, b):
    """Whether an operation of B would do what that of A does, if not for the extra one on the way to it."""
    sources, passed_over = [], set()
    for step in b.sources:
        while step in strays:
            passed_over.add(step)
            step = step.sources[0] if step.sources else None
        sources.append(step)
    same = a.operation == b.operation and a.snapshot.shape == b.snapshot.shape
    return same and extra in passed_over and _all_same(a.sources, sources)


def _all_same(ours, theirs):
    """Whether two lists of steps have the same results, one by one; None stands for an argument."""
    return len(ours) == len(theirs) and all(
        a is b is None or (a is not None and b is not None and equal(a.snapshot, b.snapshot))
        for a, b in zip(ours, theirs, strict=True)
    )


def _scaled(ours, theirs):
    """Whether the scale is all that differs, wherever it is applied: to the query, to the key or to the scores."""
    all_ours, strays, ours, theirs = ours, theirs, ours[:MOST_FACTORS], theirs[:MOST_FACTORS]
    for a in ours:
        for b in reversed(theirs):
            if factor(a.snapshot, b.snapshot):
                a, b = _where_it_begins(
                    next(one for one in reversed(ours) if factor(one.snapshot, b.snapshot)), b, strays
                )
                largest, _ = largest_difference(a.snapshot, b.snapshot)
                words = (
                    f"{_code(b)} in B gives {factor(a.snapshot, b.snapshot):.4g} times what {_code(a)} gives in A: "
                    f"the scale differs, by up to {largest:.3g}"
                )
                only_earlier = any(other.operation == b.operation for other in all_ours)  # A applies the same scale too
                is_cause = _is_where_scale_goes_wrong(b, strays) and not only_earlier
                return Difference(a, b, words, largest, is_cause=is_cause)
    return None


def _where_it_begins(a, b, strays):
    """The first of the same operations that hand a wrong scale on, or that before them which makes it."""
    times = factor(a.snapshot, b.snapshot)
    while a.name == b.name:
        before = [pair for pair in zip(a.sources, b.sources, strict=False) if pair[0] and pair[1] in strays]
        before = [
            pair for pair in before if math.isclose(factor(*(x.snapshot for x in pair)) or 0, times, rel_tol=1e-3)
        ]
        if not before:
            break
        a, b = before[0]
    return a, b


def _is_where_scale_goes_wrong(step, strays):
    """Whether a step makes the wrong scale, and none is applied later that may be meant to right it."""
    makes_it = step.name in SCALES or not any(source in strays for source in step.sources)
    later = strays[strays.index(step) + 1 :]
    return makes_it and not any(other.name in SCALES and len(other.sources) == 1 for other in later)


def factor(a, b):
    """The number by which every entry of b differs from that of a, or None if there is none."""
    if not comparable(a, b) or a.dtype == torch.bool:
        return None
    one, two = (x.sample[a.sample.isfinite() & b.sample.isfinite()] for x in (a, b))
    same = (a.sample == b.sample) | (a.sample.isfinite() & b.sample.isfinite())
    if not same.all() or not one.numel() or one.max() == one.min():
        return None
    times = ((one * two).sum() / (one * one).sum()).item()
    close = torch.allclose(one * times, two, rtol=1e-4, atol=1e-5 * two.abs().max().item())
    return times if close and times > 0 else None


def _difference_of_errors(first, second):
    failing_steps = [next((step for step in run.operations if step.error), None) for run in (first, second)]
    sentences = [f"{name} raises {run.error}" for name, run in (("A", first), ("B", second)) if run.error]
    words = " and ".join(sentences) if len(sentences) == 2 else f"{sentences[0]}, {_name(not first.error)} does not"
    return Difference(*failing_steps, f"First difference: {words}.")


def _strays(ours, theirs, places):
    """On each side, operations without an equal on the other from which a differing output is reached through such.

    Where no tensor of the outputs shows what differs, as after `.item()`, all without an equal.
    """
    alike = Alike()
    numbers = [[alike.number(step.snapshot) for step in side] for side in (ours, theirs)]
    unequal, strays = [], []
    for side, mine, others in ((ours, numbers[0], set(numbers[1])), (theirs, numbers[1], set(numbers[0]))):
        unequal.append([step for step, number in zip(side, mine, strict=True) if number not in others])
        reaching, needed = [], set()
        for step in reversed(unequal[-1]):
            returned = step.returned if places is None else step.returned & places
            if returned or step in needed:
                reaching.append(step)
                needed.update(source for source in step.sources if source)
        strays.append(reaching[::-1])
    return strays if any(strays) or places is not None else unequal


def _describe(a, b):
    if a.snapshot.shape != b.snapshot.shape:
        return Difference(a, b, f"A {_gives(a)}, B {_gives(b)}")
    if not comparable(a.snapshot, b.snapshot):
        return Difference(
            a, b, f"both have {_code(a)}" if a.operation == b.operation else f"A has {_code(a)}, B has {_code(b)}"
        )
    largest, count = largest_difference(a.snapshot, b.snapshot)
    much = f"the largest difference is {largest:.3g}, in {count} of {a.snapshot.sample.numel()} numbers"
    if a.snapshot.sample.numel() < a.snapshot.count:
        much += " that were sampled"
    if a.operation != b.operation:
        return Difference(a, b, f"A has {_code(a)}, B has {_code(b)}: {much}", largest)
    other_source = _other_source(a, b)
    return Difference(a, b, f"both have {_code(a)}{other_source}: {much}", largest)


def _other_source(a, b):
    for one, two in zip(map(_origin, a.sources), map(_origin, b.sources), strict=False):
        if one and two and one.operation != two.operation:
            return f", but A takes the result of {_code(one)} and B that of {_code(two)}"
    return ", of other numbers" if a.sources else ""


def _origin(step):
    """The step that made these numbers, not one that passed them on, as dropout with p=0 does."""
    while step and step.sources and step.sources[0] and equal(step.snapshot, step.sources[0].snapshot):
        step = step.sources[0]
    return step


def _code(step):
    return f"`{step.operation}`"


def _gives(step):
    return f"makes {step.snapshot.shape} with {_code(step)}"


def _name(is_first):
    return "A" if is_first else "B"


def comparable(a, b):
    """Whether there are numbers of both, each with its place; parts of nested tensors may have other lengths."""
    return (a.shape, a.count) == (b.shape, b.count) and a.sample is not None is not b.sample


def equal(a, b):
    """Whether two results are the same numbers in the same shape, whatever the order of the rounding."""
    if a is None or b is None or not comparable(a, b):
        return False
    finite = a.sample[a.sample.isfinite()]
    size = finite.abs().max().item() if finite.numel() else 0.0
    return torch.allclose(a.sample, b.sample, rtol=show.RTOL, atol=_slack(a.dtype) * size, equal_nan=True)


def largest_difference(a, b):
    """The largest difference (inf where only one side is finite) and in how many of the numbers they differ."""
    one, two = a.sample, b.sample
    size = max((x[x.isfinite()].abs().max().item() if x.isfinite().any() else 0.0) for x in (one, two))
    differ = ~torch.isclose(one, two, rtol=show.RTOL, atol=show.ATOL * size, equal_nan=True)
    gap = (one - two).abs()[differ]
    return gap.nan_to_num(nan=math.inf, posinf=math.inf).max().item() if gap.numel() else 0.0, int(differ.sum())
