# 3.2 wrong
# %%
edge = n_keys - n_queries
def my_causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys).tril(edge).bool()
