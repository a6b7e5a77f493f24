"""Writing with a memory: keys and values of what was read are kept, as a value that is passed in and handed back."""

from typing import NamedTuple

import torch

from .checks import check_cache, check_count
from .functional import scaled_dot_product_attention, share_heads
from .masks import window_mask
from .position import rotary


class Cache(NamedTuple):
    """What attention keeps of the tokens it has read; nobody changes it, each call returns a new one.

    Shapes: keys (…, kv_heads, n_kept, head_dim), turned already where there is RoPE; values (…, kv_heads, n_kept, d_v);
    seen is how many tokens have been read: as many as are kept, or more where a window has let some go.
    """

    keys: torch.Tensor
    values: torch.Tensor
    seen: int


def cached_attention(query, key, value, cache=None, *, window=None, rope=False):
    """Causal attention of new tokens to themselves and to all that the cache holds, and the cache with them in it.

    Shapes: query (…, heads, n_new, head_dim), key (…, kv_heads, n_new, head_dim) and value (…, kv_heads, n_new, d_v) of
    the new tokens alone; returns output (…, heads, n_new, d_v) and a `Cache`. heads is a multiple of kv_heads, and
    neighbouring heads share. cache is None at the start of a text. With a window each token may attend to the
    `window` latest, itself among them, and no more than window − 1 are kept; with rope=True queries and keys are turned
    by `rotary`. The same as all tokens in one call, whatever the chunks, but for rounding: 1e-6 in float32.
    Raises: TypeError or ValueError, naming the argument and both numbers, for a cache, dtypes or shapes that do not
    fit, or a window below 1.
    Source: Shazeer 2019, https://arxiv.org/abs/1911.02150, section 2.4, "incremental"; heads that share, Ainslie et al.
    2023, https://arxiv.org/abs/2305.13245.
    """
    check_cache(query, key, value, cache, window)
    seen = 0 if cache is None else cache.seen
    if rope:  # the first new token stands behind all that were read
        query, key = rotary(query, seen), rotary(key, seen)
    if cache is not None:
        key = torch.cat([cache.keys, key], dim=-2)
        value = torch.cat([cache.values, value], dim=-2)
    n_new, n_keys, groups = query.size(-2), key.size(-2), query.size(-3) // key.size(-3)
    mask = window_mask(n_new, n_keys, window or n_keys + 1, device=query.device)  # without a window all keys count
    output, _ = scaled_dot_product_attention(query, share_heads(key, groups), share_heads(value, groups), mask)
    gone = 0 if window is None else max(0, n_keys - window + 1)  # the next brings its own key
    return output, Cache(key[..., gone:, :], value[..., gone:, :], seen + n_new)


def cache_bytes(layers, kv_heads, head_dim, *, tokens=1, bytes_per_number=2):
    """What the keys and values of so many tokens take in a whole model, in bytes.

    layers, kv_heads and head_dim are the model's; kv_heads are those that are kept, fewer than the query heads where
    heads share. bytes_per_number is 2 for bfloat16 and float16, 4 for float32.
    Raises: TypeError for what is not a whole number, ValueError for one below 1 (tokens: below 0).
    Source: Shazeer 2019, https://arxiv.org/abs/1911.02150, section 2.4.1.
    """
    check_count("layers", layers)
    check_count("kv_heads", kv_heads)
    check_count("head_dim", head_dim)
    check_count("tokens", tokens, least=0)
    check_count("bytes_per_number", bytes_per_number)
    return 2 * layers * kv_heads * head_dim * tokens * bytes_per_number  # a key and a value
