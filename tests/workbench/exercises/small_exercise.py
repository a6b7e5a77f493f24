"""An exercise small enough for a test to see through: doubling a tensor."""

import torch

from workbench.exercises.engine.function import Function


def small(reference=lambda x: x * 2, **settings):
    """An exercise outside the catalogue: doubling, unless told otherwise."""
    calls = [(torch.ones(2),), (torch.tensor([[1.0, 2.0], [3.0, 5.0]]),)]
    settings = {"probes": calls, "asks": "my_double(x)", **settings}
    return Function(id="0.1", reference=reference, title="Twice", section="03#text-10", hints=[], **settings)
