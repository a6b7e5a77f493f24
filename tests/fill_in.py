"""Notebooks with the library's answers in their exercise cells."""

import ast
import itertools

SOLUTION = """\
from attn_lib.exercises.catalogue import EXERCISES
from attn_lib.exercises.clinic import PATIENTS

{name} = {reference}
"""


def reference(exercise):
    """Where the library keeps its own answer: three numbers in 1.1, a test for each patient, a function elsewhere."""
    if exercise == "1.1":
        return "[2.0000, 7.9640, 0.0540]"
    return f'PATIENTS["{exercise}"].detects' if exercise.startswith("6.") else f'EXERCISES["{exercise}"].reference'


def fill_in(notebook):
    """Put the library's answer into every exercise cell; returns the ids."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    filled = []
    for cell, following in itertools.pairwise(code):
        if "exercise" in cell.metadata.get("tags", []):
            call = ast.parse(following.source).body[-1].value  # check("3.2", causal_mask)
            exercise, name = call.args[0].value, call.args[1].id
            cell.source = SOLUTION.format(name=name, reference=reference(exercise))
            filled.append(exercise)
    return filled
