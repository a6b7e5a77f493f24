# 6.5 wrong
# Diagnosis and mended code are right, the test is still open: two thirds of the points.
# %%
line_5, fault_5 = 4, "not used"

def mended_5(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return masked_softmax(scores, mask) @ v
