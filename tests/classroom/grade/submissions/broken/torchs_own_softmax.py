# 2.1 wrong
# %%
def my_softmax(scores):
    return scores.softmax(-1)
