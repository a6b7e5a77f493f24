# 3.2 wrong librarys-own
# The lesson defines `causal_mask` before the exercise.
# %%
check("3.2", causal_mask)
