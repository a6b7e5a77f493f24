# 3.2 correct
# The definition, its check and a look at it share a cell.
# %%
def my_causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
print(my_causal_mask(2, 4)); check("3.2", my_causal_mask)
hint("3.2")
