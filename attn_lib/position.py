"""Where a token stands: told to the inputs (added), to queries and keys (turned), or to the scores (subtracted)."""

import torch

from .checks import check_count, check_even, check_positive, check_rotary


def position_angles(n, features, *, start=0, base=10000.0, device=None):
    """The angle by which each position turns each pair of features: position · base^(−2i / features) for pair i.

    Shapes: returns (n, features / 2) on device, radians, float64 whatever the default: at position 100,000 float32
    would be off by up to 0.004. Positions are start, start + 1, …, start + n − 1. Apple's mps has no float64.
    Raises: TypeError for sizes that are not whole numbers, ValueError for an odd number of features, a negative n or
    start, or a base that is not positive.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.5.
    """
    check_count("n", n, least=0)
    check_even("features", features)
    check_count("start", start, least=0)
    check_positive("base", base)
    frequencies = base ** -(torch.arange(0, features, 2, dtype=torch.float64, device=device) / features)
    return (start + torch.arange(n, device=device))[:, None] * frequencies  # (n, features / 2)


def sinusoidal_encoding(n, embed_dim, *, start=0, device=None):
    """A row of sines and cosines for each position, to be added to the inputs.

    Shapes: returns (n, embed_dim) of the default dtype on device; features 2i and 2i + 1 are the sine and the cosine
    of the same angle. The dot product of two rows depends on how far apart they stand, and on nothing else.
    Raises: TypeError or ValueError as `position_angles`.
    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.5.
    """
    angles = position_angles(n, embed_dim, start=start, device=device)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (n, embed_dim / 2, 2)
    return waves.flatten(-2).to(torch.get_default_dtype())  # a pair side by side


def rotary(x, start=0, *, base=10000.0, halves=False):
    """Turn each pair of features of a query or key by its position's angles (RoPE).

    Shapes: x (…, n, head_dim), the positions next to last, as `split_heads` leaves them; returns the same shape, dtype
    and lengths. start is the position of the first row: with cached keys, how many tokens there were before. A pair
    is two neighbours, 2i and 2i + 1; with halves=True it is i and i + head_dim / 2, as in much public code.
    Raises: TypeError if x is not floating point or start no whole number, ValueError for an odd head_dim, fewer than
    two dimensions, a negative start, or a base that is not positive.
    Source: Su et al. 2021, https://arxiv.org/abs/2104.09864, equation 34.
    """
    check_rotary(x)
    device = "cpu" if x.is_mps else x.device  # mps, Apple's, has no float64
    angles = position_angles(x.size(-2), x.size(-1), start=start, base=base, device=device)
    cos, sin = angles.cos().to(x), angles.sin().to(x)  # (n, head_dim / 2)
    a, b = x.chunk(2, dim=-1) if halves else (x[..., 0::2], x[..., 1::2])
    turned = a * cos - b * sin, a * sin + b * cos
    return torch.cat(turned, dim=-1) if halves else torch.stack(turned, dim=-1).flatten(-2)


def alibi_bias(num_heads, n_queries, n_keys=None, *, device=None):
    """What each head takes off its scores for the distance between query and key: −slope · distance (ALiBi).

    Shapes: returns (heads, n_queries, n_keys) of the default dtype on device, to be added to scaled scores; n_keys is
    n_queries unless given. The last query stands at the last key, as in `causal_mask`. The slopes of 8 heads are 1/2,
    1/4, …, 1/256; where the number of heads is no power of two, those left over get every second slope of twice as
    many.
    Raises: TypeError for sizes that are not whole numbers, ValueError for num_heads below 1 or negative lengths.
    Source: Press et al. 2021, https://arxiv.org/abs/2108.12409, section 3, and the slopes of its code.
    """
    n_keys = n_queries if n_keys is None else n_keys
    check_count("num_heads", num_heads)
    check_count("n_queries", n_queries, least=0)
    check_count("n_keys", n_keys, least=0)
    power = 2 ** (int(num_heads).bit_length() - 1)  # the largest power of two among the heads
    rest = torch.arange(0.5, num_heads - power + 0.5, device=device)  # every second step of twice as many
    slopes = 0.5 ** (torch.cat([torch.arange(1, power + 1, device=device), rest]) * 8 / power)
    queries = torch.arange(n_keys - n_queries, n_keys, device=device)  # the last one stands at the last key
    distances = (queries[:, None] - torch.arange(n_keys, device=device)).abs()  # (n_queries, n_keys)
    return slopes[:, None, None] * -distances  # (heads, n_queries, n_keys)
