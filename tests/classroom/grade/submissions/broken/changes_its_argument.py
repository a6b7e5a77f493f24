# 3.3 wrong
# Right numbers, but the caller's scores are filled in place. It has to be noticed across the processes.
# %%
def my_masked_softmax(scores, mask):
    dead = ~mask.any(dim=-1, keepdim=True)
    scores.masked_fill_(~mask & ~dead, -math.inf)
    return torch.softmax(scores, dim=-1).masked_fill(dead, 0)
