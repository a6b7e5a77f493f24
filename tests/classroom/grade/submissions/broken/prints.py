# 2.1 correct
# Right, and told that it prints.
# %%
def my_softmax(scores):
    print("scores", scores.shape)
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)
