"""Functions as a learner writes them in a notebook's cell, and trace of them."""

import linecache
import math
import textwrap

import torch
import torch.nn.functional as F
from torch import nn

from workbench.trace import trace


def in_a_cell(source, name="<ipython-input-1-0a1b2c3d4e5f>", **names):
    """Define what a notebook cell defines: IPython puts the lines of a cell into linecache, under no file."""
    source = textwrap.dedent(source).strip()
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"torch": torch, "F": F, "math": math, "nn": nn, **names}
    exec(compile(source, name, "exec"), names)
    return names


def traced(source, *args, **names):
    """The trace of the function `f` of a cell."""
    return trace(in_a_cell(source, **names)["f"], *args)


def operations(run):
    return [step.operation for step in run.operations]


def remarks(run):
    return [f"{step.operation}: {words}" for step, words in run.surprises]
