"""Notebooks with the library's answers in their exercise cells."""

import itertools

SOLUTION = """\
from workbench.exercises.engine.exercise import EXERCISES

{names} = EXERCISES["{exercise}"].answer
"""


def fill_in(notebook):
    """Put the library's answer into every exercise cell; returns the ids."""
    filled = []
    for cell, following in itertools.pairwise(notebook.cells):
        if exercise := cell.metadata.get("exercise"):
            names = following.source.partition(", ")[2].rstrip(")")  # check("3.2", my_causal_mask)
            cell.source = SOLUTION.format(names=names, exercise=exercise)
            filled.append(exercise)
    return filled
