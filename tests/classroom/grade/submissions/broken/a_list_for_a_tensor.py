# 3.2 wrong
# %%
def my_causal_mask(n_queries, n_keys):
    return [[k <= q + n_keys - n_queries for k in range(n_keys)] for q in range(n_queries)]
