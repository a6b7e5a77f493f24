"""The boards of notebook 4."""

import torch

from attn_lib.checks import check_floating
from attn_lib.examples import TOKENS

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op

__all__ = ["heads_board", "reshape_board", "two_heads_board"]

CUTS = {"first": 1, "second": 2, "third": 3}  # after which feature
MOST_EVEN = Task(
    "Which query in which head spreads its attention most evenly? Choose both.",
    (("most_even", "heads", "head", "query"),),
)


def heads_board(weights, tokens=None, key_tokens=None, *, task=MOST_EVEN):
    """Heads side by side; a click on one enlarges it.

    Shapes: weights (heads, n_queries, n_keys), at most 16 × 256 × 256 numbers; tokens are words for the queries, and
    for the keys unless key_tokens.
    Raises: TypeError or ValueError if weights are not such a tensor or the number of tokens does not fit.
    """
    check_floating("weights", weights)
    if weights.ndim != 3 or 0 in weights.shape:
        raise ValueError(f"weights must be (heads, n_queries, n_keys) and not empty, got shape {tuple(weights.shape)}")
    heads, n_queries, n_keys = weights.shape
    tokens, key_tokens = (None if words is None else tuple(map(str, words)) for words in (tokens, key_tokens))
    rows = _words("tokens", tokens, n_queries)
    columns = _words("key_tokens", tokens if key_tokens is None and n_queries == n_keys else key_tokens, n_keys)
    sharpest = int(weights.max(dim=-1).values.argmax())  # to begin with: the opposite of what the task asks for
    names, queries = [f"head {h}" for h in range(heads)], tuple(f"{i}: {word}" for i, word in enumerate(rows))
    inputs = {"heads": Input(weights, "weights", rows=rows, columns=columns, title="heads, choose one")}
    steps = [
        Step("chosen", op.film("heads", chosen="head"), "the head chosen", at=(2, 1), note="queries down, keys across"),
        Step("row", op.row("chosen", chosen="query"), "what this query gives", at=(2, 2)),
        Step("arcs", op.arcs("chosen"), "which token attends to which", at=(3, 1), when=("curves", "shown")),
    ]
    controls = [
        Control("head", "Head", tuple(names), names[sharpest // n_queries]),
        Control("query", "Query", queries, queries[sharpest % n_queries]),
    ]
    if max(n_queries, n_keys) <= 24:
        controls.append(Control("curves", "Curves", ("hidden", "shown")))
    else:
        steps = steps[:1]
    return Board(inputs, steps, controls, task, "Heads")


def _words(name, tokens, size):
    words = tuple(map(str, range(size))) if tokens is None else tokens
    if len(words) != size:
        raise ValueError(f"{name} has {len(words)} entries, weights have {size}")
    return words


def two_heads_board():
    """Two heads that can be moved: where the features are cut, which head is on, and what W_o makes of both."""
    matrix = {
        "queries": [[1.0, 0, 2, 0], [0, 2, 1, 1], [1, 1, 0, 2]],
        "keys": [[1.0, 0, 0, 1], [2, 1, 1, 0], [0, 1, 2, 0]],
        "values": [[1.0, 2, 0, 1], [0, 3, 1, 0], [2, 0, 1, 3]],
    }
    cut = {"gap": "cut_at", "parts": ("head 0", "head 1")}
    inputs = {
        f"{kind}s" if kind != "query" else "queries": Input(rows, kind, rows=TOKENS, at=(1, place), **cut)
        for place, (kind, rows) in enumerate(zip(("query", "key", "value"), matrix.values(), strict=True), 1)
    }
    inputs["W_o"] = Input(torch.eye(4), "output", at=(4, 3), note="a row for each feature")
    steps = []
    for h in (0, 1):
        steps += [Step(f"{n} {h}", op.cut(n, at="cut_at", part=h), f"{n} of head {h}", hidden=True) for n in matrix]
        steps += [
            Step(
                f"scores {h}",
                op.product(f"queries {h}", f"keys {h}", transpose="b"),
                f"scores, head {h}",
                at=(2, h + 1),
            ),
            Step(f"weights {h}", op.softmax(f"scores {h}"), f"weights, head {h}", at=(3, h + 1)),
            Step(f"heard {h}", op.product(f"weights {h}", f"values {h}"), hidden=True),
            Step(f"output {h}", op.scale(f"heard {h}", powers={f"head_{h}": 1}), f"head {h}", hidden=True),
        ]
    steps += [
        Step("both", op.beside("output 0", "output 1"), "outputs side by side", rows=TOKENS, at=(4, 1, 2), **cut),
        Step("output", op.product("both", "W_o"), at=(5, 1, 3), kind="output", note="@ W_o"),
        Step("silent", op.scale("output 0", by=0.0), hidden=True),
        Step("one", op.beside("silent", "output 1"), hidden=True),
        Step("without head 0", op.product("one", "W_o"), hidden=True),
        Step("nothing", op.scale("output", by=0.0), hidden=True),
    ]
    switch = ("on", "off")
    controls = [
        Control("cut_at", "Cut after feature", (1, 2, 3), 2, slider=True),
        Control("head_0", "Head 0", switch, numbers=(1, 0)),
        Control("head_1", "Head 1", switch, numbers=(1, 0)),
    ]
    task = Task(
        "Leave both heads on, and change W_o so that head 0 has no influence: "
        "the output is as with head 0 off, and not all 0.",
        (
            ("set", "head_0", 1),
            ("set", "head_1", 1),
            ("equal", "output", "without head 0"),
            ("differ", "output", "nothing", 0.5),
        ),
        why="Which part of W_o is multiplied by the features of head 0?",
        answers=("its first columns", "its first rows, one for each feature of head 0", "its diagonal"),
        right=1,
        because="Feature f of the two outputs, put side by side, is multiplied by row f of W_o, and by no other row.",
    )
    tries = {
        "cut after the {first} feature": Drag(tuple(CUTS), "first", lambda word: {"cut_at": CUTS[word]}),
        "switch head 0 off": {"head_0": "off"},
    }
    return Board(inputs, steps, controls, task, "Two heads", tries=tries)


def reshape_board():
    """Every feature of every token followed into its head, by view and transpose, and by a wrong view alone.

    A cell reads 10 · token + feature; point at one to see where it goes, and where it came from.
    """
    inputs = {}
    steps = [
        Step(
            "x",
            op.numbered(tokens="tokens", features=("heads", "head_dim")),
            "x: a row for each token",
            at=(1, 1, 2),
            gap="head_dim",
        ),
    ]
    for h in (0, 1, 2):
        right, wrong = (cut("x", heads="heads", which=h) for cut in (op.head, op.view_alone))
        steps.append(Step(f"right {h}", right, f"head {h}", "output", at=(2 + h, 1), note="view, then transpose"))
        steps.append(Step(f"wrong {h}", wrong, f"head {h}?", "key", at=(2 + h, 2), note="view alone"))
    controls = [
        Control("tokens", "Tokens", (1, 2, 3, 4), 3, slider=True),
        Control("heads", "Heads", (1, 2, 3), 2, slider=True),
        Control("head_dim", "head_dim", (1, 2, 3), 3, slider=True),
    ]
    task = Task(
        "Find sizes, with at least two heads, for which view alone gives the right answer.",
        (("at_least", "heads", 2), *(("equal", f"right {h}", f"wrong {h}") for h in (0, 1, 2))),
    )
    return Board(inputs, steps, controls, task, "From features to heads")
