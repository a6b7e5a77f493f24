# 3.2 correct
# The first try was kept above the second.
# %%
def my_causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys).tril().bool()
# %%
def my_causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()
