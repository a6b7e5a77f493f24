# 11.2 correct
# Several modules to one call, some of which stay with the judge: each answers for itself, and norms have weights.
# %%
def my_block(x, norm1, attention, norm2, mlp):
    h = torch.nn.functional.layer_norm(x, x.shape[-1:], norm1.weight, norm1.bias, norm1.eps)
    n = x.size(1)
    x = x + attention(h, h, h, torch.ones(n, n, dtype=torch.bool).tril())[0]
    return x + mlp(norm2(x))
