"""Masks, one convention everywhere: bool, True = this query may attend to this key. Combine them with `&`."""

import torch

from .checks import check_count, check_lengths


def padding_mask(lengths, max_len=None):
    """Let every query see the real tokens of its sequence and none of the padding behind them.

    Shapes: lengths (batch,), a list or an integer tensor, in tokens; returns (batch, 1, max_len), the same row for
    every query. max_len is the longest length unless given. Unsqueeze once more, mask[:, None], to add heads.
    Raises: TypeError for lengths that are not whole numbers, ValueError for one outside 0..max_len.
    Source: the inverse of key_padding_mask in https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
    """
    lengths = torch.as_tensor(lengths)
    check_lengths(lengths, max_len)
    max_len = max(lengths.tolist(), default=0) if max_len is None else max_len
    positions = torch.arange(max_len, device=lengths.device)
    return (positions < lengths[:, None])[:, None]  # (batch, 1, max_len)


def causal_mask(n_queries, n_keys=None):
    """Let every query see the keys up to its own position, the last query being at the last key.

    Shapes: returns (n_queries, n_keys), n_keys being n_queries unless given. Aligned to the bottom right, as needed
    when the queries are the newest tokens of a longer text; with more queries than keys the first rows are dead.
    Raises: TypeError for sizes that are not whole numbers, ValueError for negative ones.
    Source: torch.nn.attention.bias.causal_lower_right, https://docs.pytorch.org/docs/stable/nn.attention.bias.html
    """
    n_keys = n_queries if n_keys is None else n_keys
    check_count("n_queries", n_queries, least=0)
    check_count("n_keys", n_keys, least=0)
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
