"""What a kernel and nearly every notebook import, but nothing of the course, for preloaded_kernels.py.

What is here stays: Python need not look for garbage in it, neither now, nor once more in each process that is forked.
"""

import gc
import os
from importlib import import_module

gc.disable()
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else a debugger, which nobody begins, warns
for name in (
    "preloaded_kernels",  # what a process is forked for
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.extensions.storemagic",
    "anywidget",
    "filelock",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "PIL.JpegImagePlugin",
    "torch",
    "torch.distributed.tensor",  # what torch.testing.assert_close imports when it is first used
    "torch._dynamo",  # what torch.optim does
):
    import_module(name)
del os.environ["PYDEVD_DISABLE_FILE_VALIDATION"]
gc.freeze()
gc.enable()
