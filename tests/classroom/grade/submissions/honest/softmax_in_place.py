# 2.1 correct
# %%
def my_softmax(scores):
    shifted = scores - scores.max(dim=-1, keepdim=True).values
    exps = shifted.exp_()
    return exps / exps.sum(-1, keepdim=True)
