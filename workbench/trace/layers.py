"""Two stacks of layers side by side: how far apart they are after each layer."""

import torch


@torch.no_grad()
def apart(one, other, x, **options):
    """Return the largest difference between two stacks of layers after each layer, as a list of floats.

    x goes up through both, layer by layer, each called as layer(x, **options); a layer that returns several things
    hands on the first.
    Raises: ValueError if one stack has more layers than the other.
    """
    if len(one) != len(other):
        raise ValueError(f"one has {len(one)} layers, other has {len(other)}")
    a = b = x
    differences = []
    for left, right in zip(one, other, strict=True):
        a, b = (_first(layer(h, **options)) for layer, h in ((left, a), (right, b)))
        differences.append((a - b).abs().max().item())
    return differences


def _first(result):
    return result[0] if isinstance(result, tuple) else result
