# 3.3 correct
# A large negative number, and the dead rows put to 0: right on every score that float32 holds.
# %%
def my_masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1)
    return weights * mask.any(dim=-1, keepdim=True)
