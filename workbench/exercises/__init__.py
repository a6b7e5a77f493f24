"""Exercises that diagnose: check an answer, ask for a hint, see the solution, look at your progress.

A notebook's exercises are a file in lessons/, those of the sixth the clinic; what stands there is found, not listed.
"""

import importlib
import pkgutil

from .. import extra  # noqa: F401 - first: it says what is not installed
from . import lessons
from .api import check, hint, progress, solution
from .engine.runner import as_when_torch_starts
from .engine.verdict import Verdict
from .own import your_own

__all__ = ["Verdict", "check", "hint", "progress", "solution", "your_own"]

with as_when_torch_starts():  # probes are made here, once, and must not depend on what a notebook has set
    for _lesson in pkgutil.iter_modules(lessons.__path__):
        importlib.import_module(f"{lessons.__name__}.{_lesson.name}")
    from . import clinic  # noqa: F401
