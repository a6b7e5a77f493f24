"""Notebooks with the library's answers in their exercise cells."""

import ast
import itertools

SOLUTION = """\
from attn_lib.exercises.catalogue import EXERCISES

{name} = EXERCISES["{exercise}"].answer
"""


def fill_in(notebook):
    """Put the library's answer into every exercise cell; returns the ids."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    filled = []
    for cell, following in itertools.pairwise(code):
        if "exercise" in cell.metadata.get("tags", []):
            call = ast.parse(following.source).body[-1].value  # check("3.2", causal_mask)
            exercise, name = call.args[0].value, call.args[1].id
            cell.source = SOLUTION.format(name=name, exercise=exercise)
            filled.append(exercise)
    return filled
