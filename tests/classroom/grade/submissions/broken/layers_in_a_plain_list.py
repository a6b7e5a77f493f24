# 4.5 wrong not-registered
# %%
class MyMultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = ([nn.Linear(embed_dim, embed_dim)] for _ in range(3))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
