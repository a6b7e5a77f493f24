"""The attention of a block of a language model with nothing wrong; a file of its own, as no answer may call it."""

import math

import torch

from attn_lib import causal_mask, masked_softmax, merge_heads, rotary, share_heads, split_heads
from workbench.smollm.model import rms_norm


def block(x, w, cache, heads, kv_heads, base):
    norm, W_q, W_k, W_v, W_o = w
    h = rms_norm(x, norm, 1e-5)  # (batch, n, embed_dim)
    query = split_heads(h @ W_q.T, heads)  # (batch, heads, n, head_dim)
    key = split_heads(h @ W_k.T, kv_heads)  # (batch, kv_heads, n, head_dim)
    value = split_heads(h @ W_v.T, kv_heads)
    seen = 0 if cache is None else cache[0].size(2)
    query, key = rotary(query, seen, base=base), rotary(key, seen, base=base)
    if cache is not None:
        key = torch.cat([cache[0], key], dim=2)  # (batch, kv_heads, n_keys, head_dim)
        value = torch.cat([cache[1], value], dim=2)
    all_keys = share_heads(key, heads // kv_heads)  # (batch, heads, n_keys, head_dim)
    all_values = share_heads(value, heads // kv_heads)
    scores = query @ all_keys.mT / math.sqrt(query.size(-1))  # (batch, heads, n, n_keys)
    mask = causal_mask(query.size(2), key.size(2))
    weights = masked_softmax(scores, mask)
    output = weights @ all_values  # (batch, heads, n, head_dim)
    x = x + merge_heads(output) @ W_o.T
    return x, (key, value)
