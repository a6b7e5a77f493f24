"""Exercises that diagnose: check an answer, ask for a hint, see the solution, look at your progress.

A notebook's exercises are a file of their own beside this one; whatever stands here is found, nothing is listed.
"""

import importlib
import pkgutil

from .api import check, hint, solution
from ..progress import progress
from .engine.runner import as_when_torch_starts
from .engine.verdict import Verdict

__all__ = ["Verdict", "check", "hint", "progress", "solution"]

with as_when_torch_starts():  # probes are made here, once, and must not depend on what a notebook has set
    for _module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{_module.name}")
