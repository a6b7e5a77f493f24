"""Boards: matrices on a page whose numbers can be moved, and every step computed from them, in the page and here."""

from .. import extra  # noqa: F401 - first: it says what is not installed
from .board import Board, random_matrix
from .drag import Drag
from .parts import Control, Input, Step, Task

__all__ = ["Board", "Control", "Drag", "Input", "Step", "Task", "random_matrix"]
