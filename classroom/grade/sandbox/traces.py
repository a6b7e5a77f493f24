"""A run that was recorded on the student's side, told as plain data, for the judge to lay beside the library's."""

from dataclasses import dataclass, field

import torch

from workbench.trace import compare
from workbench.trace.record import KEPT_TO_COMPARE, Place, Ragged, Recorder, Snapshot, Step

from .protocol import DTYPES, NAMES, Malformed

MOST = 500  # operations of one run
OWN = "<cell "  # how the files of a submission's own cells begin


@dataclass
class Run:
    """What `compare` asks of a run."""

    output: object = None
    operations: list = field(default_factory=list)
    error: str = ""


def recorded(function, args):
    """Run a function; returns the run."""
    recorder = Recorder(KEPT_TO_COMPARE)
    output = recorder.run(function, args, {})
    return Run(output, [leaf for step in recorder.steps for leaf in step.operations()], recorder.error)


def as_data(run):
    """A run as lists: its output and its operations; None for one that failed or has more than `MOST` of them."""
    if run.error or len(run.operations) > MOST:
        return None
    place = {id(step): i for i, step in enumerate(run.operations)}
    return [run.output, [_step_as_data(step, place) for step in run.operations]]


def _step_as_data(step, place):
    snapshot = step.snapshot and _snapshot_as_data(step.snapshot)
    sources = [place.get(id(source)) for source in step.sources]
    return [step.name, step.operation, _own_line(step), snapshot, sources, sorted(step.returned)]


def _snapshot_as_data(snapshot):
    shape = [size if isinstance(size, int) else str(size) for size in snapshot.shape]
    return [shape, NAMES.get(snapshot.dtype), snapshot.count, snapshot.sample]


def _own_line(step):
    """The line of the student's own code that made an operation, perhaps by a call of the library's."""
    places = [step.place, *(call.place for call in reversed(step.within))]
    return next((place.text for place in places if place.file.startswith(OWN)), "")


def from_data(data):
    """The run that the other side tells of, or None; raises Malformed for anything that is none."""
    match data:
        case None:
            return None
        case [output, list(steps_data)] if len(steps_data) <= MOST:
            steps = []
            for one in steps_data:
                steps.append(_step_from_data(one, steps))
            return Run(output, steps)
    raise Malformed("no run")


def _step_from_data(data, before):
    match data:
        case [str(name), str(operation), str(line), snapshot, list(sources), list(returned)]:
            step = Step(
                operation, Place(text=line), name=name, snapshot=_snapshot_from_data(snapshot), returned=set(returned)
            )
            if not all(source is None or source in range(len(before)) for source in sources):
                raise Malformed("an operation on what is not there yet")
            step.sources = [None if source is None else before[source] for source in sources]
            return step
    raise Malformed("no operation")


def _snapshot_from_data(data):
    match data:
        case None:
            return None
        case [list(shape), str(dtype), int(count), None | torch.Tensor() as sample] if dtype in DTYPES:
            shape = tuple(Ragged(size) if size == "*" else size for size in shape)
            if all(type(size) in (int, Ragged) for size in shape) and (sample is None or sample.dtype == torch.float64):
                return Snapshot(shape, DTYPES[dtype], count, sample=sample)
    raise Malformed("no result of an operation")


def first_difference(reference, theirs, args):
    """Which line makes a run part from the library's, as `trace` says it; "" where none is seen to be the cause."""
    right = recorded(reference, args)
    difference = compare.first_difference(right, theirs)
    if (
        difference is None or not difference.is_cause or not difference.second.place.text
    ):  # else its line may only be built another way
        return ""
    line = difference.second.place.text.replace("`", "'")
    return f"`trace` of the library's answer (A) and yours (B): {difference.words} In your code: `{line}`."
