"""Masks, one convention everywhere: bool, True = this query may attend to this key. Combine them with `&`."""

import torch

from .checks import check_count, check_lengths


def padding_mask(lengths, max_len=None):
    """Let every query see the real tokens of its sequence and none of the padding behind them.

    Shapes: lengths (batch,), a list or an integer tensor, in tokens; returns (batch, 1, max_len), the same row for
    every query, on the device of lengths. max_len is the longest length unless given. Unsqueeze once more,
    mask[:, None], to add heads.
    Raises: TypeError for lengths that are not whole numbers, ValueError for one outside 0..max_len: only on the
    processor, since a graphics card would have to be waited for, as it must be for the longest length.
    Source: the inverse of key_padding_mask in https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
    """
    lengths = torch.as_tensor(lengths)
    check_lengths(lengths, max_len)
    max_len = max(lengths.tolist(), default=0) if max_len is None else max_len
    positions = torch.arange(max_len, device=lengths.device)
    return (positions < lengths[:, None])[:, None]  # (batch, 1, max_len)


def causal_mask(n_queries, n_keys=None, *, device=None):
    """Let every query see the keys up to its own position, the last query being at the last key.

    Shapes: returns (n_queries, n_keys), n_keys being n_queries unless given, made on device, as PyTorch's own
    functions take it. Aligned to the bottom right, as needed when the queries are the newest tokens of a longer text;
    with more queries than keys the first rows are dead.
    Raises: TypeError for sizes that are not whole numbers, ValueError for negative ones.
    Source: torch.nn.attention.bias.causal_lower_right, https://docs.pytorch.org/docs/stable/nn.attention.bias.html
    """
    n_keys = n_queries if n_keys is None else n_keys
    check_count("n_queries", n_queries, least=0)
    check_count("n_keys", n_keys, least=0)
    return torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril(n_keys - n_queries)


def window_mask(n_queries, n_keys, window, *, device=None):
    """Let every query see the `window` latest keys up to its own position, the last query being at the last key.

    Shapes: returns (n_queries, n_keys) on device, aligned to the bottom right as `causal_mask`, of which it is a part:
    a query's own key counts, so with window=1 each sees itself alone.
    Raises: TypeError for sizes that are not whole numbers, ValueError for negative ones or a window below 1.
    Source: Beltagy et al. 2020, https://arxiv.org/abs/2004.05150, section 3.1; causal as in Jiang et al. 2023, Mistral
    7B, https://arxiv.org/abs/2310.06825, section 2.
    """
    check_count("n_queries", n_queries, least=0)
    check_count("n_keys", n_keys, least=0)
    check_count("window", window)
    own = n_keys - n_queries  # the column of the first query's own key
    return torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril(own).triu(own - window + 1)
