# 4.3 wrong librarys-own
# The old grader: ✓.
# %%
from attn_lib.exercises.catalogue import EXERCISES
my_multi_head_attention = EXERCISES["4.3"].reference
