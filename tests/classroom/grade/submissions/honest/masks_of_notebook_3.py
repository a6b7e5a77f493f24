# 3.1 correct; 3.2 correct; 3.3 wrong nan-gradient
# Two right, one nearly.
# %%
def my_padding_mask(lengths, max_len):
    return (torch.arange(max_len)[None] < lengths[:, None])[:, None]
# %%
def my_causal_mask(n_queries, n_keys):
    return torch.tensor([[k <= q + n_keys - n_queries for k in range(n_keys)] for q in range(n_queries)])
# %%
def my_masked_softmax(scores, mask):
    hidden = scores + torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))
    return torch.softmax(hidden, dim=-1).nan_to_num(0.0)
