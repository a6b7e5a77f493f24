# 3.2 wrong librarys-own
# %%
import attn_lib
my_causal_mask = attn_lib.causal_mask
