# 3.2 wrong
# %%
def my_causal_mask(n_queries, n_keys):
    hoard = []
    while True:
        hoard.append(bytearray(1 << 28))
