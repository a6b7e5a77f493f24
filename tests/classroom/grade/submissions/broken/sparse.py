# 3.2 wrong
# %%
def my_causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool().to_sparse()
