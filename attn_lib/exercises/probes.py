"""What probes are made of: seeded tensors of sizes that all differ, so that no two axes can be mistaken."""

import torch


def normal(*shape, seed=0):
    """Random numbers with mean 0 and variance 1, the same each time, whatever the notebook's own seed and dtype."""
    generator = torch.Generator().manual_seed(1000 * seed + sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float32)


def some(*shape, seed=0):
    """A random bool mask in which every row holds at least one True and, from two keys on, one False."""
    generator = torch.Generator().manual_seed(1000 * seed + sum(shape))
    ranks = torch.rand(shape, generator=generator).argsort(dim=-1).argsort(dim=-1)
    attended = 1 + torch.randint(max(1, shape[-1] - 1), (*shape[:-1], 1), generator=generator)
    return ranks < attended
