# 11.2 correct
# Modules that stay with the judge, several to one call: each answers for itself.
# %%
def my_block(x, norm1, attention, norm2, mlp):
    h = norm1(x)
    n = x.size(1)
    x = x + attention(h, h, h, torch.ones(n, n, dtype=torch.bool).tril())[0]
    return x + mlp(norm2(x))
