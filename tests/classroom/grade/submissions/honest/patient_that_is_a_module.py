# 6.15 correct
# %%
line_15, fault_15 = 8, "not asked"

class mended_15(nn.Module):
    def __init__(self, p=0.3):
        super().__init__()
        self.p = p

    def forward(self, q, k, v):
        weights = scaled_dot_product_attention(q, k, v)[1]
        return F.dropout(weights, self.p, self.training) @ v

def detects_15(attention):
    q, k, v = torch.randn(3, 2, 5, 8)
    attention.eval()
    return not torch.equal(attention(q, k, v), attention(q, k, v))
