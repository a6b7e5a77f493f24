# 3.2 wrong librarys-own
# The old grader: ✓.
# %%
from attn_lib.masks import causal_mask as my_causal_mask
