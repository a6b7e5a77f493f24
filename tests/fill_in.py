"""Notebooks with the library's answers in their exercise cells."""

import ast
import itertools

SOLUTION = """\
from attn_lib.exercises.catalogue import EXERCISES

{names} = EXERCISES["{exercise}"].answer
"""


def fill_in(notebook):
    """Put the library's answer into every exercise cell; returns the ids."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    filled = []
    for cell, following in itertools.pairwise(code):
        if "exercise" in cell.metadata.get("tags", []):
            exercise, *parts = ast.parse(following.source).body[-1].value.args  # check("3.2", my_causal_mask)
            names = ", ".join(part.id for part in parts)
            cell.source = SOLUTION.format(names=names, exercise=exercise.value)
            filled.append(exercise.value)
    return filled
