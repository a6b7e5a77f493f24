# 10.4 correct; 8.4 correct; 12.1 correct
# What comes back is a Fraction, a truth value of numpy's, a namedtuple: check reads them all.
# %%
from collections import namedtuple
from fractions import Fraction

import numpy as np
# %%
def my_cache_bytes(layers, embed_dim, heads, kv_heads, tokens, bits):
    return Fraction(2 * layers * kv_heads * embed_dim * tokens * bits, 8 * heads)
# %%
def my_detects(add_positions):
    x, table = torch.randn(3, 5, 4), torch.randn(7, 4)
    try:
        differs = np.any(~np.isclose(add_positions(x.clone(), table.clone()), x + table[:5], atol=1e-5))
    except Exception:
        return True
    try:
        add_positions(torch.randn(2, 9, 4), table)
    except Exception:
        return differs
    return np.True_

check("8.4", my_detects)
# %%
State = namedtuple("State", "m l o")

def my_step(m, l, o, score, value):
    top = torch.maximum(m, score)
    old, new = torch.exp(m - top), torch.exp(score - top)
    return State(top, l * old + new, o * old + new * value)
