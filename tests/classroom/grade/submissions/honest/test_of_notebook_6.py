# 6.3 correct
# Line, fault and mended code of 6.3 are the lesson's; only the test is the student's.
# %%
def detects_3(attention):
    others_ask = -q
    others_ask[0, 0] = q[0, 0]
    before, after = attention(q, k, v)[0, 0], attention(others_ask, k, v)[0, 0]
    return not torch.allclose(before, after, atol=1e-4)
