"""What probes are made of: seeded tensors of sizes that all differ, so that no two axes can be mistaken."""

import copy

import torch
from torch import nn

SIZES_OF_EXAMPLES_AND_MODELS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32, 64, 100, 128, 256, 512, 768, 1024)
# What learners type in place of the root of a size: the root of one that they have seen, also rounded, or the size
TYPED_DIVISORS = sorted(
    {typed for size in SIZES_OF_EXAMPLES_AND_MODELS for typed in (size**0.5, round(size**0.5, 2), float(size))}
)


def normal(*shape, seed=0):
    """Random numbers with mean 0 and variance 1, the same each time, whatever the notebook's own seed and dtype."""
    generator = torch.Generator().manual_seed(1000 * seed + sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float32)


def random_mask(*shape, seed=0):
    """A random bool mask in which every row holds at least one True and, from two keys on, one False."""
    generator = torch.Generator().manual_seed(1000 * seed + sum(shape))
    ranks = torch.rand(shape, generator=generator).argsort(dim=-1).argsort(dim=-1)
    attended = 1 + torch.randint(max(1, shape[-1] - 1), (*shape[:-1], 1), generator=generator)
    return ranks < attended


def with_dtype(arg, dtype):
    """An argument whose numbers have this precision: a tensor of others, or a module, is copied."""
    if isinstance(arg, nn.Module):
        same = all(parameter.dtype == dtype for parameter in arg.parameters())
        return arg if same else copy.deepcopy(arg).to(dtype)
    return arg.to(dtype) if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg


def redrawn(arg, rng):
    """Return an argument with new random numbers of the same mean and spread; anything but random numbers stays.

    Sizes and masks stay, and tensors without a negative number: those are weights, wishes or a worked example.
    """
    if isinstance(arg, nn.Module):
        arg = copy.deepcopy(arg)
        for parameter in arg.parameters():
            parameter.data = redrawn(parameter.data, rng)
        return arg
    varies = isinstance(arg, torch.Tensor) and arg.is_floating_point() and arg.isfinite().all() and (arg < 0).any()
    varies = varies and arg.numel() > 1
    return normal(*arg.shape, seed=rng.randrange(2**40)) * arg.std() + arg.mean() if varies else arg


def random_lengths(rng):
    """Probes of a mask for padding, two of them: (lengths, max_len), with at least one sequence that is padded."""
    probes = []
    for batch in rng.sample(range(2, 6), 2):
        max_len = rng.randrange(6, 10)
        probes.append((torch.tensor([rng.randrange(1, max_len) for _ in range(batch)]), max_len))
    return probes
