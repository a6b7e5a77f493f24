"""The bug clinic of notebook 6: every fault of the source texts as a patient that runs, with the right shapes.

`PATIENTS["6.3"]` shows itself and is called by `.buggy`, as `.interface` says; it keeps its diagnosis to itself.
An answer is what is found out about it: the line where it goes wrong and a name from `FAULTS`, the mended code, and a
test, `detects(attention) -> bool`, True for this fault and its relatives, False for right code and for other faults.

A new patient is written into its ward, one of the six files named last, and gets its cells in notebook 6.
"""

from ..engine.exercise import EXERCISES
from .bug import Case, Patient
from .bugs import cache, dropout, edge_cases, heads, masks, scores_and_weights  # noqa: F401 - the wards
from .fault_names import FAULTS

__all__ = ["FAULTS", "PATIENTS"]

PATIENTS = {id: Patient(case) for id, case in EXERCISES.items() if isinstance(case, Case)}
