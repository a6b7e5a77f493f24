# 3.3 wrong
# %%
def my_masked_softmax(scores, mask):
    dead = ~mask.any(dim=-1, keepdim=True)
    scores = torch.tensor(scores.tolist())
    return torch.softmax(scores.masked_fill(~mask & ~dead, -math.inf), dim=-1).masked_fill(dead, 0)
