"""Exercises that diagnose: check an answer, ask for a hint, see the solution, look at your progress."""

from . import by_hand, clinic, masking, match_pytorch, multi_head, scaled_dot_product  # noqa: F401 - they register
from .checker import check, hint, solution
from .progress_file import progress
from .verdict import Verdict

__all__ = ["Verdict", "check", "hint", "progress", "solution"]
