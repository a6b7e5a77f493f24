# 3.2 correct
# The definition stands; what fails is the look at it, as in a notebook.
# %%
def my_causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()
my_causal_mask(3)
