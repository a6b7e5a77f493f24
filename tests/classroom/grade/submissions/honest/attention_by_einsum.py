# 2.2 correct
# With an import of its own in another cell, and a helper in a third.
# %%
from math import sqrt
# %%
def weigh(scores):
    return torch.softmax(scores, dim=-1)
# %%
def my_attention(q, k, v):
    weights = weigh(torch.einsum("...qd,...kd->...qk", q, k) / sqrt(q.shape[-1]))
    return torch.einsum("...qk,...kv->...qv", weights, v), weights
