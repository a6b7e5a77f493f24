# 6.1 wrong never-called
# %%
def detects_1(attention):
    return True
