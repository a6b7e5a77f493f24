"""The board of notebook 9."""

import torch

from .. import Board, Control, Input, Step, Task
from .. import operations as op

__all__ = ["SECOND_MENTION", "induction_board"]

SECOND_MENTION = Task(  # for heads_board, of the names that a trained model reads
    "Choose head 3 and the second *bob*.",
    (("set", "head", 3), ("set", "query", 3)),
    why="To which token does the second *bob* give nearly all its weight, and why to that one?",
    answers=(
        "The first *bob*: it is the same word",
        "The first *ray*: it comes right after the first *bob*",
        "The comma: it comes right before the second *bob*",
    ),
    right=1,
    because="After the first *bob* came *ray*, so *ray* should come after the second.",
)
WORDS = ("start", "tea", "milk", "cup", "jam", "egg", "oat")
TEXTS = ("start tea milk cup jam tea", "start oat cup egg tea cup", "start jam egg oat tea oat")
STEPS_A_FRAME = 5  # steps from one frame of the film to the next
WHOSE = ("yours", "learned")
PLACES = tuple(map(str, range(6)))
MATRICES = {  # colour, words and place of each
    "P": {"kind": "query", "title": "P: a place fetches from", "rows": PLACES, "columns": PLACES, "at": (1, 1)},
    "M": {"kind": "key", "title": "M: a word looks for", "rows": WORDS, "columns": WORDS, "at": (2, 1)},
    "W": {"kind": "value", "title": "W: a word outputs", "rows": WORDS, "columns": WORDS, "at": (3, 1)},
}


def induction_board(film, right):
    """Two heads as three matrices: yours to set, or as they were after so many steps of learning.

    film has (P, M, W) for each step from 0 on, P (6, 6) and M and W (7, 7), and right the share of new puzzles that
    each step got right; every fifth step is kept.
    Raises: ValueError for matrices of other sizes, or for another number of shares than of steps.
    """
    shapes = {tuple(tuple(matrix.shape) for matrix in matrices) for matrices in film}
    if shapes != {((6, 6), (7, 7), (7, 7))}:
        raise ValueError(f"film must hold P (6, 6), M (7, 7) and W (7, 7) for each step, got {sorted(shapes)}")
    if len(right) != len(film):
        raise ValueError(f"right has {len(right)} shares, film has {len(film)} steps")
    texts = torch.tensor([[WORDS.index(word) for word in text.split()] for text in TEXTS])
    inputs = {
        "texts": Input(torch.nn.functional.one_hot(texts, len(WORDS)).double(), hidden=True),
        "shares": Input(torch.tensor(right[::STEPS_A_FRAME], dtype=torch.float64)[:, None, None], hidden=True),
    }
    steps = [Step("causal", op.mask_preset(which=2, queries=6, keys=6, length=6), hidden=True)]
    for (name, panel), film_of in zip(MATRICES.items(), zip(*film[::STEPS_A_FRAME], strict=True), strict=True):
        inputs[name] = Input(torch.zeros_like(film_of[0]), **panel, draw=(-2, 4, 1), when=("whose", WHOSE[0]))
        inputs[f"film of {name}"] = Input(torch.stack(film_of), hidden=True)
        chosen = op.film(f"film of {name}", chosen="step")
        steps.append(Step(f"{name} learned", chosen, **panel, when=("whose", WHOSE[1])))
        steps.append(Step(f"{name} used", op.choose(name, f"{name} learned", chosen="whose"), hidden=True))
    steps.append(Step("before", op.masked("P used", "causal"), hidden=True))
    for k in ("text", *range(len(TEXTS))):  # the chosen one is shown, and the task asks for all of them
        steps += _from_text(k)
    moment = {"kind": "output", "rows": (), "columns": ("right",), "at": (1, 2), "when": ("whose", WHOSE[1])}
    steps.append(Step("right", op.film("shares", chosen="step"), "of new puzzles", **moment))
    frames = tuple(range(0, len(film), STEPS_A_FRAME))
    controls = [
        Control("whose", "Matrices", WHOSE),
        Control("step", "Step", frames, 0, slider=True, numbers=tuple(range(len(frames)))),
        Control("text", "Text", TEXTS),
    ]
    moments = {"just before it happens": 60, "a moment later": 85}
    tries = {said: {"step": step, "whose": WHOSE[1]} for said, step in moments.items() if step in frames}
    return Board(inputs, steps, controls, _all_three(texts), "Two heads that find each other", tries=tries)


def _all_three(texts):
    """The task: after each text what followed its last word before."""
    answers = [int(text[(text[:-1] == text[-1]).nonzero()[0, 0] + 1]) for text in texts]
    return Task(
        "Set your matrices so that each text gets its right word, with a share above 0.9. Nine entries are enough.",
        (("set", "whose", 0), *(("above", f"says {k}", 0, answer, 0.9) for k, answer in enumerate(answers))),
        why="Then choose learned and move the step. Which matrix changes first?",
        answers=(
            "P, from which place each place fetches",
            "M, which word looks for which",
            "W, which word is output",
        ),
        right=2,
        because="With W = 0 the output is the same whatever P and M are, so their gradients are 0. Later P helps only "
        "if M is already good, and M only if P is.",
    )


def _from_text(text):
    """The steps from a text, chosen or by its number, to whom its last token hears and what it says."""
    number = "" if text == "text" else f" {text}"
    x, heard, found, mixed = (f"{name}{number}" for name in ("x", "heard", "found", "mixed"))
    hears = {"columns": PLACES, "at": (2, 2), "wires": ("P", "P learned", "M", "M learned"), "hidden": bool(number)}
    says = {"at": (3, 2), "wires": ("hears", "W", "W learned"), "hidden": bool(number)}
    return [
        Step(x, op.film("texts", chosen=text), columns=WORDS, hidden=True),
        Step(heard, op.product("before", x), hidden=True),
        Step(f"asked{number}", op.product(x, "M used"), hidden=True),
        Step(found, op.product(f"asked{number}", heard, transpose="b"), hidden=True),
        Step(f"match{number}", op.masked(found, "causal"), "weights of layer 2", hidden=True),
        Step(f"hears{number}", op.row(f"match{number}", chosen=5), "layer 2: last token's weights", **hears),
        Step(mixed, op.product(f"hears{number}", x), hidden=True),
        Step(f"logits{number}", op.product(mixed, "W used"), "what it gets @ W", hidden=True),
        Step(f"says{number}", op.softmax(f"logits{number}"), "its output", **says),
    ]
