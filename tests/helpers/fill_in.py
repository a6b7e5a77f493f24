"""Notebooks with the library's answers in their exercise cells."""

import ast
import itertools

SOLUTION = """\
from workbench.exercises.engine.exercise import EXERCISES

{names} = EXERCISES["{exercise}"].answer
"""


def fill_in(notebook):
    """Put the library's answer into every exercise cell; returns the ids."""
    filled = []
    for cell, following in itertools.pairwise(notebook.cells):
        if "exercise" in cell.metadata.get("tags", []):
            exercise, *parts = ast.parse(following.source, mode="eval").body.args  # check("3.2", my_causal_mask)
            names = ", ".join(part.id for part in parts)
            cell.source = SOLUTION.format(names=names, exercise=exercise.value)
            filled.append(exercise.value)
    return filled
