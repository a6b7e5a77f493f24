"""The board of notebook 14."""

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op
from .n14_state_operations import Rule, lines_and_path, read_by_each, state_after

__all__ = ["states_board"]

WORDS = ("tea", "milk", "cup", "jam")
KEYS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-0.8, 0.6]]
NUMBERS = [[4.0], [7.0], [3.0], [5.0]]
AS_TEA = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [-0.8, 0.6]]
ALIKE = [[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [-0.8, 0.6]]
LONG = [[2.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-0.8, 0.6]]
THREE = Task(
    "*tea* is 4 and *milk* is 7. Change one number, that of *cup*, and choose what is written, so that after three "
    "writes or more all three pairs are read back.",
    (
        ("changed", {"numbers": 1}),
        ("above", "numbers", 0, 0, 3.9),
        ("below", "numbers", 0, 0, 4.1),
        ("above", "numbers", 1, 0, 6.9),
        ("below", "numbers", 1, 0, 7.1),
        ("at_least", "writes", 3),
        *(("below", "off", i, 0, 1e-6) for i in range(3)),
    ),
    why="Why does it have to be this number?",
    answers=(
        "It is the mean of the numbers of *tea* and *milk*, as *cup* points between them",
        "The line of *cup* then goes through the point where the other two lines cross",
        "It was written last, and the delta rule always keeps what was written last",
    ),
    right=1,
    because="A state of two numbers is one point. Two lines cross in a point; a third pair is kept only if its line "
    "goes through the same point.",
)


def states_board():
    """Pairs of a key and a number written into a state of two numbers: a line each, and a point that steps."""
    inputs = {
        "keys": Input(KEYS, "key", rows=WORDS, at=(1, 1)),
        "numbers": Input(NUMBERS, "value", "numbers", rows=WORDS, at=(1, 2), draw=(0, 10, 1)),
    }
    controls = [
        Control("writes", "Writes", tuple(range(13)), 3, slider=True),
        Control("pairs", "Pairs", (1, 2, 3, 4), 3),
        Control("rule", "What is written", tuple(map(str, Rule)), numbers=tuple(Rule)),
        Control("gate", "Gate", (1, 0.9, 0.5)),
    ]
    delta = {"rule": str(Rule.DELTA)}
    tries = {
        "write {two} times": Drag(range(13), 2, lambda writes: {"writes": writes}),
        "again and again": {**delta, "writes": 12},
        "a second number": {**delta, "keys": AS_TEA},
        "keys that point alike": {**delta, "keys": ALIKE, "pairs": 2, "writes": 2},
        "a longer key": {**delta, "keys": LONG, "pairs": 1, "writes": 5},
    }
    written = {"writes": "writes", "pairs": "pairs", "rule": "rule", "gate": "gate"}
    plane = lines_and_path("keys", "numbers", "S", **written)
    steps = [
        Step("S", state_after("keys", "numbers", **written), "state S", "weights", at=(2, 1), strip=True),
        Step(
            "read", read_by_each("keys", "S", pairs="pairs"), "each key reads", sparse="rows", at=(2, 2), wires=("S",)
        ),
        Step(
            "off",
            op.apart("read", "numbers"),
            "off by",
            "scores",
            sparse="rows",
            at=(3, 2),
            wires=("read",),
            strip=True,
        ),
        Step("plane", plane, "lines of the pairs, path of S", "weights", at=(4, 1, 2), wires=("S",)),
    ]
    return Board(inputs, steps, controls, THREE, "Pairs in a state", tries=tries)
