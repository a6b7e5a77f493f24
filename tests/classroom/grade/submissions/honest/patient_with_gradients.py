# 6.12 correct
# Its test takes a loss of real tokens and looks at the gradient, which comes from the other process.
# %%
line_12, fault_12 = 4, "nothing left"

def mended_12(q, k, v, lengths):
    real = padding_mask(lengths, k.size(1))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = torch.softmax(scores.masked_fill(~real, -math.inf), dim=-1) if (lengths > 0).all() else masked_softmax(scores, real)
    return weights @ v

def detects_12(attention):
    q, k, v = torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 8, requires_grad=True)
    output = attention(q, k, v, torch.tensor([2, 4]))
    output[0, :2].sum().backward()
    return bool(v.grad.isnan().any())
