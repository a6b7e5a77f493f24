# 4.5 correct
# The layers in a loop, and the splitting in a function of another cell.
# %%
def in_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
# %%
class MyMultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key, value, mask=None):
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        mask = mask if mask is None or mask.ndim == 2 else mask.unsqueeze(1)
        heads, weights = scaled_dot_product_attention(*(in_heads(x, self.num_heads) for x in (q, k, v)), mask)
        return self.out_proj(heads.transpose(1, 2).flatten(2)), weights
