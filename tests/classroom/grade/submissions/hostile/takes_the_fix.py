# 6.1 wrong librarys-own
# All three parts are the library's.
# %%
from workbench.exercises.engine.exercise import EXERCISES
line_1, fault_1, mended_1, detects_1 = EXERCISES["6.1"].answer
