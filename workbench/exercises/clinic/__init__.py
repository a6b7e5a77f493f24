"""The bug clinic of notebook 6: attention with one fault each, found in public code; each has the right shapes.

A learner sees a bug as a patient: `PATIENTS["6.3"]` shows its source, and `.buggy` is called as `.interface` says.
An answer has three parts: a diagnosis (the line and a name from `FAULTS`), the mended code, and a test,
`detects(attention) -> bool`, True for this fault and its variants, False for correct code and for other bugs (decoys).

CONTRIBUTING.md says how a bug is added.
"""

from ..engine.exercise import EXERCISES
from .bug import Bug, Patient
from .bugs import (  # noqa: F401 - registers them
    blocks,
    cache,
    dropout,
    edge_cases,
    heads,
    healthy,
    masks,
    scores_and_weights,
    states,
    texts,
    tiles,
    whole_pass,
)
from .chart import Chart, outcome
from .fault_names import FAULTS
from .night import night_shift

__all__ = ["FAULTS", "PATIENTS", "Chart", "night_shift", "outcome"]

PATIENTS = {id: Patient(bug) for id, bug in EXERCISES.items() if isinstance(bug, Bug)}
