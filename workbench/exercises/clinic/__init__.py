"""The bug clinic of notebook 6: attention with one fault each, found in public code; each has the right shapes.

A learner sees a bug as a patient: `PATIENTS["6.3"]` shows its source, and `.buggy` is called as `.interface` says.
An answer has three parts: a diagnosis (the line and a name from `FAULTS`), the mended code, and a test,
`detects(attention) -> bool`, True for this fault and its variants, False for correct code and for other bugs (decoys).

To add a bug, write into a file of bugs/

    @bug("6.42", PLAIN, fixes=[{4: ("wrong", "right")}], faults=("wrong axis",), section=…, variants={…}, hints=[…])
    def its_name(q, k, v, mask=None):
        \"""The diagnosis in a line.

        The story: where it was found, and why nobody noticed.
        \"""

and under it the library's own test with `@its_name.tested_by`, and with `@its_name.blind_to` why tests may miss it.
Then give it its cells in notebook 6, as the others have, and run tests/workbench/exercises/test_clinic.py: the tests of
the other bugs that are called as it is must let it pass.
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
