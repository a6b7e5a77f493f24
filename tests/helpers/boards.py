"""Every board of matrices: a new one is among them as soon as its lesson's file names it."""

from functools import cache

import torch

from workbench.behind import two_rules
from workbench.board import lessons
from workbench.board.lessons.n01_by_hand import ENDS

PMW = tuple(torch.zeros(size, size) for size in (6, 7, 7))
FILM = [tuple(matrix + step * torch.eye(len(matrix)) for matrix in PMW) for step in range(11)]
HEADS = torch.tensor([[[0.9, 0.1], [0.5, 0.5]], [[1.0, 0.0], [0.2, 0.8]]])


@cache
def learned_by_rope():
    """What lesson 8 learns with RoPE."""
    return {("RoPE", rule): two_rules.learn("RoPE", rule) for rule in two_rules.RULES}


GIVEN = {  # to those that ask
    "heads": lambda: (HEADS, ["a", "b"]),
    "induction": lambda: (FILM, [step / 10 for step in range(11)]),
    "stretched": lambda: (learned_by_rope(),),
}


def _made(name, make):
    return lambda: make(*GIVEN.get(name, tuple)())


ALL = {
    name.removesuffix("_board"): _made(name.removesuffix("_board"), make)
    for name, make in vars(lessons).items()
    if name.endswith(("_board", "_figure")) and name not in ("story_board", "real_board")  # which have words
}
ALL |= {f"by_hand, {end}": lambda end=end: lessons.by_hand_board(end) for end in ENDS[:-1]}
