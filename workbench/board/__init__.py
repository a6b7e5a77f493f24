"""Boards: matrices on a page whose numbers can be moved, and every step computed from them, in the page and here."""

from .board import Board, Control, Input, Step, Task, random_matrix

__all__ = ["Board", "Control", "Input", "Step", "Task", "random_matrix"]
