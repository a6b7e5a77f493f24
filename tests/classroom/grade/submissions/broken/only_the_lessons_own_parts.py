# 6.3 wrong
# Two of three parts are right, but the lesson gave them: no points.
# %%
def detects_3(attention):
    return not torch.allclose(attention(q, k, v), PATIENTS["6.3"].buggy(q, k, v))
