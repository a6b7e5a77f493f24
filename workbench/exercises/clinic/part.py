"""One of the three parts of an answer, as it was found."""

from dataclasses import dataclass

from ..engine.verdict import SIGNS

LESSON = "06#text-07"
SIGN_OF = {"right": SIGNS["correct"], "wrong": SIGNS["wrong"], "open": SIGNS["unattempted"]}


@dataclass
class Part:
    """What was found of one part of an answer: `state` is right, wrong or open."""

    name: str
    state: str
    message: str
    misconception: str | None = None  # its id, where it is known
    drawn: tuple = ()  # two matrices to show beside it, the learner's and the expected one

    def __str__(self):
        return f"{SIGN_OF[self.state]} {self.name}: {self.message}"
