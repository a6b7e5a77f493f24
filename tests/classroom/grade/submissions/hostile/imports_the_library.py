# 3.2 wrong librarys-own
# %%
from attn_lib.masks import causal_mask as my_causal_mask
