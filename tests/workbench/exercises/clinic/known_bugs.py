"""What the clinic's tests share: the bugs, how their code is run and compared, and what a verdict says of a part."""

import contextlib
import copy
import re

import pytest
import torch

from workbench.exercises.clinic import PATIENTS
from workbench.exercises.engine.exercise import EXERCISES

BUGS = {id: EXERCISES[id] for id in PATIENTS if EXERCISES[id].fixes}  # one is healthy
PARTS = "Diagnosis", "Mended", "Test"
each_bug = pytest.mark.parametrize("id", BUGS)
bugs_of_each_kind = pytest.mark.parametrize("id", ["6.1", "6.15", "6.16"])  # a function, a module, two wrong lines


def part(verdict, name):
    """What a verdict says of one part, with its sign: "✓ Mended: right on 5 calls."."""
    (found,) = re.findall(rf"^. {name}: .*$", str(verdict), re.M)
    return found


def signs(verdict):
    return "".join(part(verdict, name)[0] for name in PARTS)


def inputs():
    return torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)


def calls_of(bug):
    return [*bug.interface.probes, *bug.probes]


def outcome(code, args):
    torch.manual_seed(0)  # some drop
    with contextlib.suppress(Exception):
        return code(*copy.deepcopy(args))
    return torch.empty(0)


def alike(one, other):
    tensors = isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
    return tensors and one.shape == other.shape and torch.allclose(one, other, atol=1e-4, equal_nan=True)
