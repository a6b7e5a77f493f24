"""What hypothesis draws from: attention inputs of any shape, and masks that may leave rows dead."""

import torch
from hypothesis import strategies as st

seeds = st.integers(0, 2**31 - 1)
sizes = st.integers(1, 5)
leading = st.sampled_from([(), (1,), (2,), (3,), (2, 3), (3, 1)])


def random_numbers(seed):
    """A generator for the device on which tensors are made just now."""
    return torch.Generator(torch.get_default_device()).manual_seed(seed)


def normal(*shape, seed=0, dtype=torch.float64, grad=False):
    return torch.randn(*shape, generator=random_numbers(seed), dtype=torch.float64).to(dtype).requires_grad_(grad)


@st.composite
def attention_inputs(draw, dtype=torch.float64, masked=None, grad=False):
    """query, key, value and a mask or None, all sizes drawn apart from each other."""
    lead, n_queries, n_keys, d_k, d_v = draw(leading), draw(sizes), draw(sizes), draw(sizes), draw(sizes)
    seed = draw(seeds)
    query = normal(*lead, n_queries, d_k, seed=seed, dtype=dtype, grad=grad)
    key = normal(*lead, n_keys, d_k, seed=seed + 1, dtype=dtype, grad=grad)
    value = normal(*lead, n_keys, d_v, seed=seed + 2, dtype=dtype, grad=grad)
    wanted = draw(st.booleans()) if masked is None else masked
    return query, key, value, draw(masks((*lead, n_queries, n_keys))) if wanted else None


@st.composite
def masks(draw, scores_shape):
    """Any mask that broadcasts to the scores: two dimensions or all of them, each of size 1 or whole."""
    dimensions = draw(st.sampled_from([2, len(scores_shape)]))
    shape = [size if draw(st.booleans()) else 1 for size in scores_shape[-dimensions:]]
    share = draw(st.sampled_from([0.2, 0.6, 0.9]))  # the first leaves many rows dead
    return torch.rand(shape, generator=random_numbers(draw(seeds))) < share
