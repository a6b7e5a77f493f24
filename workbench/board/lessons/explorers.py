"""One entry for each board that a notebook shows: its matrices, its steps, where they stand, and its task."""

import math

import torch

from attn_lib.checks import check_floating
from attn_lib.examples import TOKENS, W_k, W_q, W_v, X

from .. import Board, Control, Input, Step, Task
from .. import operations as op

# ---------------------------------------------------------------------------------------------- notebook 1

ARITHMETIC = ("as they are", "rounded to one digit", "scaled by 1/√d_k")
BY_HAND = (  # in the order of the lesson; a small board ends with one of them
    Step("queries", op.product("X", "W_q"), at=(3, 1), note="X @ W_q"),
    Step("keys", op.product("X", "W_k"), at=(3, 2), note="X @ W_k"),
    Step("values", op.product("X", "W_v"), at=(3, 3), note="X @ W_v"),
    Step("scores", op.product("queries", "keys", transpose="b"), at=(4, 1, 2), note="queries @ keysᵀ"),
    Step(
        "scaled",
        op.scale("scores", by=1 / math.sqrt(3)),
        title="scores / √d_k",
        at=(4, 1, 2),
        when=("arithmetic", ARITHMETIC[2]),
    ),
    Step("for softmax", op.choose("scores", "scores", "scaled", chosen="arithmetic"), hidden=True),
    Step("weights", op.softmax("for softmax"), at=(5, 1, 2), note="softmax of each row"),
    Step(
        "rounded",
        op.rounded("weights"),
        title="rounded weights",
        at=(5, 1, 2),
        when=("arithmetic", ARITHMETIC[1]),
    ),
    Step("used", op.choose("weights", "rounded", "weights", chosen="arithmetic"), hidden=True),
    Step("of one query", op.row("used", chosen="query"), "the weights of one query", hidden=True),
    Step(
        "weighted_values",
        op.weigh("of one query", "values"),
        title="weighted values",
        at=(4, 3),
        note="weight · value",
        when=("query", *TOKENS),
    ),
    Step("outputs", op.product("used", "values"), at=(5, 3), note="weights @ values"),
)
ENDS = [step.name for step in BY_HAND if not step.hidden and step.name not in ("scaled", "rounded")]


def by_hand_explorer(upto="outputs"):
    """The 3×4 example, every number of it: edit X or a weight matrix, and watch the rest move.

    upto: the step with which a small board ends, one of queries, keys, values, scores, weights, weighted_values.
    Raises: ValueError for another step.
    """
    if upto not in ENDS:
        raise ValueError(f"upto must be one of {', '.join(ENDS)}, got {upto!r}")
    steps = BY_HAND[: [step.name for step in BY_HAND].index(upto) + 1]
    inputs = {"X": Input(X, rows=TOKENS, at=(1, 2) if len(steps) > 1 else (1, 1), title="inputs X")}
    for row, (kind, matrix) in enumerate((("query", W_q), ("key", W_k), ("value", W_v))[: len(steps)], 1):
        inputs[f"W_{kind[0]}"] = Input(matrix, kind, at=(2, row))
    whose = ("nobody", *TOKENS) if upto == "outputs" else TOKENS
    query = Control("query", "Weighted values of", whose, numbers=(0, 0, 1, 2)[-len(whose) :])
    arithmetic = Control("arithmetic", "Weights", ARITHMETIC if upto == "outputs" else ARITHMETIC[:1])
    uses = {option for step in steps for option in step.operation.options.values() if isinstance(option, str)}
    controls = [control for control in (arithmetic, query) if control.name in uses]
    if upto == "outputs":
        same = torch.stack((X[0], X[1], X[0]))
        tries = {
            "take every key away": {"W_k": torch.zeros(4, 3)},
            "let every query shout ten times as loud": {"W_q": 10 * W_q},
            "make *tea* the same as *I*": {"X": same},
        }
        return Board(inputs, steps, controls, ONE_ENTRY, "Self-attention by hand", tries=tries)
    return Board(inputs, steps, controls, title=f"Self-attention by hand, up to the {upto.replace('_', ' ')}")


ONE_ENTRY = Task(
    "Make *I* give *tea* more than 0.7, while *like* keeps more than 0.85 for itself, by changing one single entry of "
    "W_k.",
    (("above", "weights", 0, 2, 0.7), ("above", "weights", 1, 1, 0.85), ("changed", {"W_k": 1})),
    why="In which column, and why there?",
    answers=(
        "The third: for *I* it counts double, the first only once",
        "The second: there the key of *tea* is largest",
        "Any: an entry of W_k moves every key",
    ),
    because="A step d there adds 2·d to the score of *tea* for *I*, in column 1 only d; for *like* it is 2·d in both.",
)


# ---------------------------------------------------------------------------------------------- notebook 2


def softmax_explorer():
    """Eight scores of a size that grows with d_k; divided by 1, by √d_k and by d_k, at any temperature."""
    keys = tuple(f"key {j}" for j in range(8))
    match = torch.tensor([[0.4, -0.3, 1.2, 0.0, -1.1, 0.7, 1.0, -0.6]])
    inputs = {"match": Input(match, "query", "how well each key matches", columns=keys, note="scores = this × √d_k")}
    steps = [Step("scores", op.scale("match", powers={"d_k": 0.5}), kind="scores", at=(1, 2), hidden=True)]
    for row, (name, power, words) in enumerate((("1", 0, "1"), ("root", -0.5, "√d_k"), ("d", -1, "d_k")), 1):
        scaled, weights = f"scores / {words}", f"weights, / {words}"
        powers = {"d_k": power, "temperature": -1}
        steps += [
            Step(scaled, op.scale("scores", powers=powers), at=(1, row + 1), note="and / temperature"),
            Step(weights, op.softmax(scaled), at=(2, row + 1)),
            Step(
                f"entropy {name}",
                op.entropy(weights),
                title="entropy",
                at=(3, row + 1),
                note=f"at most ln 8 = {math.log(8):.2f}",
            ),
        ]
    controls = [
        Control("d_k", "d_k", tuple(2**i for i in range(11)), 16, slider=True),
        Control("temperature", "Temperature", (0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32), 1, slider=True),
    ]
    task = Task(
        "Set d_k to 256. Then bring the entropy of the undivided scores above 1.5 again, without changing "
        "a number of the first row.",
        (("set", "d_k", 256), ("above", "entropy 1", 0, 0, 1.5), ("changed", {})),
        why="Which temperature gives the undivided row just the weights of / √d_k at temperature 1?",
        answers=("256, which is d_k", "16, which is √d_k", "8, the number of keys"),
        right=1,
        because="Dividing by √d_k is a temperature of √d_k: 16 for 256.",
    )
    tries = {"a key of 512 numbers, undivided": {"d_k": 512}, "halve the temperature": {"temperature": 0.5}}
    return Board(inputs, steps, controls, task, "Scores, scale and temperature", tries=tries)


# ---------------------------------------------------------------------------------------------- notebook 3

PRESETS = ("everything open", "padding, length 3", "causal", "padding and causal")
FILLS = ("−∞ before softmax", "−1e9 before softmax", "0 after softmax", "masked_softmax of attn_lib")


def mask_painter():
    """A mask to click on, four ways of applying it, and the weights, outputs and gradients that come of each."""
    square = {"rows": ("q0", "q1", "q2", "q3"), "columns": ("k0", "k1", "k2", "k3")}
    scores = torch.tensor([[2.0, 1.0, 0.0, 1.0], [0.0, 3.0, 1.0, 1.0], [1.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 2.0]])
    tokens = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    inputs = {
        "scores": Input(scores, "scores", **square, at=(1, 1)),
        "mask": Input(torch.ones(4, 4), "mask", **square, at=(1, 2), toggle=True, note="✓ = may attend"),
        "values": Input(tokens, "value", rows=square["columns"], at=(3, 2), note="X @ W_v", editable=False),
    }
    before = {"title": "scores, filled", "at": (2, 1)}
    steps = [
        Step("preset", op.preset(which="given", queries=4, keys=4, length=3), hidden=True),
        Step("allowed", op.both("mask", "preset"), "mask and preset", at=(2, 2), when=("given", *PRESETS[1:])),
        Step("with −∞", op.fill("scores", "allowed"), **before, when=("fill", FILLS[0])),
        Step("with −1e9", op.fill("scores", "allowed", value=-1e9), **before, when=("fill", FILLS[1])),
        Step("of all", op.softmax("scores"), "softmax of all", at=(2, 1), when=("fill", FILLS[2])),
        Step("from −∞", op.softmax("with −∞"), "softmax of the filled scores", hidden=True),
        Step("from −1e9", op.softmax("with −1e9"), "softmax of the filled scores", hidden=True),
        Step("zeroed", op.multiply("of all", "allowed"), "softmax of all, 0 where it is closed", hidden=True),
        Step("masked", op.masked("scores", "allowed"), "softmax over what is open", hidden=True),
        Step("weights", op.choose("from −∞", "from −1e9", "zeroed", "masked", chosen="fill"), at=(3, 1)),
        Step("sums", op.total("weights"), "sum of each row", at=(4, 1)),
        Step("outputs", op.product("weights", "values"), at=(4, 2), note="weights @ values"),
        Step("alive", op.any_open("allowed"), hidden=True),
        Step("doubled", op.scale("outputs", by=2.0), hidden=True),
        Step("of the loss", op.fill("doubled", "alive", value=0.0), "gradient of outputs", hidden=True),
        Step(
            "gradient",
            op.product("outputs", "of the loss", transpose="a"),
            "gradient of W_v",
            kind="gradient",
            at=(5, 2),
            note="loss: squared rows with a ✓",
            wires=("outputs",),
        ),
    ]
    controls = [Control("given", "Preset", PRESETS), Control("fill", "Apply as", FILLS)]
    task = Task(
        "Make one row of the weights NaN, with as few clicks as you can, and see what it does to the gradient.",
        (("has_nan", "weights"),),
    )
    tries = {
        "nobody may hear the future": {"given": "causal"},
        "leave the first query nobody": {"mask": torch.tensor([[0.0], [1], [1], [1]]).expand(4, 4)},
        "close doors *after* softmax": {"fill": FILLS[2], "given": "causal"},
    }
    return Board(inputs, steps, controls, task, "Paint a mask", tries=tries)


# ---------------------------------------------------------------------------------------------- notebook 4


MOST_EVEN = Task(
    "Which query in which head spreads its attention most evenly? Choose both.",
    (("most_even", "heads", "head", "query"),),
)


def heads_explorer(weights, tokens=None, key_tokens=None, *, task=MOST_EVEN):
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
    inputs = {"heads": Input(weights, "weights", rows=rows, columns=columns, title="heads, click one")}
    steps = [
        Step("chosen", op.film("heads", chosen="head"), "the head chosen", at=(2, 1), note="queries down, keys across"),
        Step("row", op.row("chosen", chosen="query"), "what this query gives", at=(2, 2)),
        Step("arcs", op.arcs("chosen"), "who listens to whom", at=(3, 1), when=("curves", "shown")),
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


def two_heads_explorer():
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
        "Leave both heads on and change W_o so that head 0 is not heard: the output is as with head 0 off, and not 0.",
        (
            ("set", "head_0", 1),
            ("set", "head_1", 1),
            ("equal", "output", "without head 0"),
            ("differ", "output", "nothing", 0.5),
        ),
        why="Which part of W_o hears head 0?",
        answers=("its first columns", "its first rows, one for each feature of head 0", "its diagonal"),
        right=1,
        because="Feature f of the outputs side by side meets row f of W_o, and no other.",
    )
    tries = {"cut after the first feature": {"cut_at": 1}, "switch head 0 off": {"head_0": "off"}}
    return Board(inputs, steps, controls, task, "Two heads", tries=tries)


def reshape_explorer():
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
        Control("head_dim", "head_dim", (1, 2, 3), 2, slider=True),
    ]
    task = Task(
        "Find sizes, with at least two heads, for which view alone gives the right answer.",
        (("at_least", "heads", 2), *(("equal", f"right {h}", f"wrong {h}") for h in (0, 1, 2))),
    )
    return Board(inputs, steps, controls, task, "From features to heads")


# -------------------------------------------------------------------------------------------- notebooks 5 and 6


def fused_explorer():
    """What a fused kernel keeps while it passes over the keys: a largest score, a sum, an output so far."""
    keys = tuple(f"k{j}" for j in range(6))
    queries = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    inputs = {
        "queries": Input(queries, "query", rows=TOKENS, at=(1, 1)),
        "keys": Input([[1.0, 0], [0, 1], [2, 1], [1, -1], [0, 2], [3, 0]], "key", rows=keys, at=(1, 2, 2)),
        "values": Input([[1.0, 0], [0, 2], [3, 1], [1, 1], [0, 4], [2, 2]], "value", rows=keys, at=(3, 1, 2)),
    }
    steps = []
    for name in ("keys", "values"):
        steps += [
            Step(f"columns of {name}", op.transposed(name), hidden=True),
            Step(f"columns of {name} seen", op.cut(f"columns of {name}", at="seen_keys", part=0), hidden=True),
            Step(f"{name} seen", op.transposed(f"columns of {name} seen"), hidden=True),
        ]
    steps += [
        Step("seen", op.product("queries", "keys seen", transpose="b"), "scores seen so far", columns=keys, at=(2, 1)),
        Step("largest", op.largest("seen"), "largest", at=(2, 2), note="one number a row"),
        Step("less", op.subtract("seen", "largest"), "score − largest", hidden=True),
        Step("powers", op.exp("less"), "e^(score − largest)", at=(2, 3)),
        Step("sum", op.total("powers"), "their sum", at=(3, 3), note="one number a row"),
        Step("gathered", op.product("powers", "values seen"), "powers @ values", hidden=True, kind="output"),
        Step("so far", op.divide("gathered", "sum"), "output so far", kind="output", at=(4, 3)),
        Step("scores", op.product("queries", "keys", transpose="b"), hidden=True),
        Step("weights", op.softmax("scores"), hidden=True),
        Step("attention", op.product("weights", "values"), at=(4, 1), note="with every key", wires=()),
    ]
    controls = [Control("seen_keys", "Keys seen", (1, 2, 3, 4, 5, 6), 1, slider=True)]
    task = Task(
        "With only four of the six keys seen, make the output so far right to 0.01 in every row, by changing keys.",
        (("set", "seen_keys", 4), ("equal", "so far", "attention", 0.01), ("differ", "values", "nothing", 0.5)),
        why="Which scores may a kernel leave out, then?",
        answers=("the last ones", "those far below the largest of their row", "the negative ones"),
        right=1,
        because="e^(score − largest) is next to nothing for them.",
    )
    steps.append(Step("nothing", op.scale("values", by=0.0), hidden=True))
    return Board(inputs, steps, controls, task, "What a fused kernel keeps")


FAULTS = ("softmax over the queries", "keys ask, queries answer", "scores divided by d_k")


def patient_explorer():
    """A patient beside its cure: the same numbers through a faulty attention and through a right one."""
    inputs = {
        "queries": Input([[1.0, 0, 1], [0, 1, 2], [1, 1, 0]], "query", rows=TOKENS, at=(1, 1)),
        "keys": Input([[0.0, 1, 1], [2, 1, 0], [1, 0, 2]], "key", rows=TOKENS, at=(1, 2)),
        "values": Input([[1.0, 2, 3], [2, 8, 0], [2, 6, 3]], "value", rows=TOKENS, at=(1, 3)),
    }
    steps = [
        Step("products", op.product("queries", "keys", transpose="b"), "queries @ keysᵀ", hidden=True),
        Step("scores", op.scale("products", by=1 / math.sqrt(3)), at=(2, 1), note="queries @ keysᵀ / √d_k"),
        Step("weights", op.softmax("scores"), at=(3, 1), note="healthy"),
        Step("outputs", op.product("weights", "values"), at=(4, 1), note="healthy"),
        Step("turned", op.transposed("scores"), hidden=True, rows=TOKENS, columns=TOKENS),
        Step("small", op.scale("products", by=1 / 3), hidden=True),
        Step("down", op.softmax("scores", over="column"), "softmax of each column", hidden=True),
        Step("asked", op.softmax("turned"), "softmax of keys @ queriesᵀ / √d_k", hidden=True),
        Step("flat", op.softmax("small"), "softmax of queries @ keysᵀ / d_k", hidden=True),
        Step("sick weights", op.choose("down", "asked", "flat", chosen="fault"), at=(3, 2), note="the patient"),
        Step("sick outputs", op.product("sick weights", "values"), at=(4, 2), note="the patient"),
        Step("difference", op.subtract("sick outputs", "outputs"), "difference", kind="scores", at=(5, 1, 2)),
        Step("nothing", op.scale("scores", by=0.0), hidden=True),
    ]
    task = Task(
        "Choose the fault “keys ask, queries answer” and change the numbers, not all to 0, until the patient looks "
        "healthy: the outputs agree and the scores differ from 0.",
        (("set", "fault", 1), ("equal", "outputs", "sick outputs"), ("differ", "scores", "nothing", 0.5)),
        why="So on which inputs may a test not be built?",
        answers=(
            "on large ones",
            "on those whose scores are symmetric, as with queries equal to keys",
            "on small ones",
        ),
        right=1,
        because="Symmetric scores are their own transpose, and the fault cannot be seen.",
    )
    return Board(inputs, steps, [Control("fault", "Fault", FAULTS)], task, "A patient beside its cure")


def arrows_explorer():
    """Queries and keys of two numbers as arrows: the more they point the same way, the larger their score."""
    inputs = {
        "queries": Input([[2.0, 1.0], [-1.0, 2.0]], "query", rows=("I", "like"), at=(1, 1)),
        "keys": Input([[1.0, 2.0], [3.0, 0.0], [-2.0, 1.0]], "key", rows=TOKENS, at=(1, 2)),
    }
    steps = [
        Step("plane", op.arrows("queries", "keys"), "queries, and keys dashed", kind="plane", at=(2, 1, 2)),
        Step("scores", op.product("queries", "keys", transpose="b"), at=(3, 1), wires=()),
        Step("weights", op.softmax("scores"), at=(3, 2)),
    ]
    return Board(inputs, steps, title="Queries and keys as arrows")


# ---------------------------------------------------------------------------------------------- notebook 7

RATES = (0.1, 0.5, 1, 3)
LEARNERS = ("W_q alone", "W_q and W_k")


def learning_board():
    """The 3×4 example learning: a wish for the weights, W_q after so many steps, and the gradient that is left."""
    inputs = {
        "X": Input(X, rows=TOKENS, at=(1, 1), title="inputs X"),
        "W_q": Input(W_q, "query", "W_q at the start", at=(2, 1)),
        "W_k": Input(W_k, "key", "W_k at the start", at=(2, 2)),
        "wish": Input(
            [[0.0, 0, 1], [0, 0, 0], [0, 0, 0]],
            "weights",
            rows=TOKENS,
            columns=TOKENS,
            at=(1, 2),
            note="a row of zeros: none",
            draw=(0, 1, 1),
        ),
    }
    path = {"steps": "step", "rate": "rate", "keys_too": "learns"}
    parts = ("W_q", "W_k", "X", "wish")
    steps = [
        Step("W_q now", op.learned(*parts, **path, which=0), kind="query", at=(3, 1), wires=("W_q",)),
        Step(
            "W_k now",
            op.learned(*parts, **path, which=1),
            kind="key",
            at=(3, 2),
            when=("learns", LEARNERS[1]),
            wires=("W_k",),
        ),
        Step("queries", op.product("X", "W_q now"), hidden=True),
        Step("keys", op.product("X", "W_k now"), hidden=True),
        Step("scores", op.product("queries", "keys", transpose="b"), hidden=True, rows=TOKENS, columns=TOKENS),
        Step("weights", op.softmax("scores"), at=(4, 1), wires=("W_q now", "W_k now")),
        Step(
            "loss",
            op.cross_entropy("wish", "weights"),
            kind="scores",
            at=(5, 1),
            note="−Σ wish · ln weight",
            wires=("weights",),
        ),
        Step("wished", op.total("wish"), hidden=True),
        Step("counted", op.multiply("weights", "wished"), "weights of rows with a wish", hidden=True),
        Step(
            "to scores",
            op.subtract("counted", "wish"),
            "gradient of scores",
            "gradient",
            at=(4, 2),
            wires=("weights", "wish"),
        ),
        Step("to queries", op.product("to scores", "keys"), "gradient of queries", hidden=True, kind="gradient"),
        Step(
            "to W_q",
            op.product("X", "to queries", transpose="a"),
            "gradient of W_q",
            "gradient",
            at=(5, 2),
            wires=("to scores",),
        ),
        Step("W_q at last", op.learned(*parts, **(path | {"steps": 50}), which=0), hidden=True),
        Step("W_k at last", op.learned(*parts, **(path | {"steps": 50}), which=1), hidden=True),
        Step("queries at last", op.product("X", "W_q at last"), hidden=True),
        Step("keys at last", op.product("X", "W_k at last"), hidden=True),
        Step("scores at last", op.product("queries at last", "keys at last", transpose="b"), hidden=True),
        Step("weights at last", op.softmax("scores at last"), hidden=True),
    ]
    controls = [
        Control("step", "Step", tuple(range(51)), 0, slider=True),
        Control("rate", "Learning rate", RATES, RATES[0]),
        Control("learns", "Learns", LEARNERS),
    ]
    task = Task(
        "Without changing a number, find a learning rate and a step at which *I* gives *tea* less than 0.1, although "
        "by step 50 it gives more than 0.9.",
        (("changed", {}), ("below", "weights", 0, 2, 0.1), ("above", "weights at last", 0, 2, 0.9)),
        why="Why does the score of *tea* fall, which was to rise?",
        answers=(
            "A gradient is downhill only if the loss has no logarithm",
            "The query is pushed away from the key of *like* so far that *tea*, whose key is near it, goes along",
            "The weights of a row sum to 1, so one of them must fall",
        ),
        right=1,
        because="The keys (4, 4, 0) and (2, 3, 1) point nearly the same way: a short step tells them apart, a long one "
        "leaves both behind, and *I* hears itself.",
    )
    tries = {"fifty careful steps": {"step": 50}, "one bold step": {"rate": 1, "step": 1}}
    return Board(inputs, steps, controls, task, "Attention that learns", tries=tries)


# ---------------------------------------------------------------------------------------------- notebook 8

SCHEMES = ("no position", "waves added", "RoPE", "RoPE, queries only", "ALiBi")


def position_board():
    """Six tokens with one query and one key between them: only where they stand can tell them apart."""
    ordinals = ("1st", "2nd", "3rd", "4th", "5th", "6th")
    turn = {"angle": "angle", "start": "start"}
    inputs = {
        "q": Input([[2.0, 1.0]], "query", "query of all", at=(1, 1)),
        "k": Input([[3.0, 1.0]], "key", "key of all", at=(2, 1)),
    }
    steps = [
        Step("tens", op.numbered(tokens=6, features=1), hidden=True),
        Step("places", op.scale("tens", by=0.1), hidden=True, rows=ordinals),
        Step("none", op.scale("places", by=0.0), hidden=True),
        Step("ones", op.exp("none"), hidden=True),
        Step("east", op.beside("ones", "none"), hidden=True),
        Step("waves", op.rotate("east", **turn), "cosine and sine", hidden=True),
        Step("each q", op.product("ones", "q"), "query of all", hidden=True, kind="query"),
        Step("each k", op.product("ones", "k"), "key of all", hidden=True, kind="key"),
        Step("q and wave", op.add("each q", "waves"), "query of all + waves", hidden=True),
        Step("k and wave", op.add("each k", "waves"), "key of all + waves", hidden=True),
        Step("q turned", op.rotate("each q", **turn), "query of all, turned", hidden=True),
        Step("k turned", op.rotate("each k", **turn), "key of all, turned", hidden=True),
        Step(
            "queries",
            op.choose("each q", "q and wave", "q turned", "q turned", "each q", chosen="scheme"),
            at=(1, 2),
            rows=ordinals,
        ),
        Step(
            "keys",
            op.choose("each k", "k and wave", "k turned", "each k", "each k", chosen="scheme"),
            at=(2, 2),
            rows=ordinals,
        ),
        Step("products", op.product("queries", "keys", transpose="b"), "queries @ keysᵀ", hidden=True),
        Step("across", op.transposed("places"), hidden=True),
        Step("distances", op.subtract("places", "across"), hidden=True, kind="scores"),
        Step("price", op.scale("distances", by=-1.0, powers={"slope": 1}), hidden=True),
        Step("priced", op.add("products", "price"), "queries @ keysᵀ − slope · distance", hidden=True),
        Step(
            "scores",
            op.choose("products", "products", "products", "products", "priced", chosen="scheme"),
            at=(3, 1, 2),
            rows=ordinals,
            columns=ordinals,
            note="queries @ keysᵀ",
            wires=("queries", "keys"),
        ),
        Step("causal", op.preset(which=2, queries=6, keys=6, length=6), "a causal mask", hidden=True),
        Step("weights", op.masked("scores", "causal"), at=(4, 1, 2), note="with a causal mask"),
    ]
    controls = [
        Control("scheme", "Scheme", SCHEMES, SCHEMES[2]),
        Control("angle", "Angle per step, degrees", tuple(range(0, 181, 10)), 90, slider=True),
        Control("start", "Position of the 1st", tuple(range(10)), 0, slider=True),
        Control("slope", "Slope of ALiBi", (0, 0.25, 0.5, 1, 2, 4), 0.5, slider=True),
    ]
    task = Task(
        "Choose the query, the key and the angle so that every token but the first gives more than half of its weight "
        "to the token before it.",
        tuple(("above", "weights", i, i - 1, 0.5) for i in range(1, 6)),
        why="Could ALiBi do it, with some slope?",
        answers=(
            "Yes, with a small one",
            "Yes, with a large one",
            "No: the token itself stands nearer than the one before it",
        ),
        right=2,
        because="Distance 0 costs nothing, so no key gets more than the token's own.",
    )
    tries = {"forget where tokens stand": {"scheme": SCHEMES[0]}, "begin at position 9": {"start": 9}}
    return Board(inputs, steps, controls, task, "Where a token stands", tries=tries)


# ---------------------------------------------------------------------------------------------- notebook 9

SECOND_MENTION = Task(  # for heads_explorer, of the names that a trained model reads
    "Choose head 3 and the second *bob*.",
    (("set", "head", 3), ("set", "query", 3)),
    why="Which token gets nearly all of its weight, and why that one?",
    answers=(
        "The first *bob*: it is the same word",
        "The first *ray*: it stands right behind the first *bob*",
        "The comma: it stands right before the second *bob*",
    ),
    right=1,
    because="Behind the first *bob* stood *ray*, so *ray* is due behind the second.",
)
WORDS = ("start", "tea", "milk", "cup", "jam", "egg", "oat")
TEXTS = ("start tea milk cup jam tea", "start oat cup egg tea cup", "start jam egg oat tea oat")
KEPT = 5  # steps from one frame of the film to the next
WHOSE = ("yours", "learned")


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
    places = tuple(map(str, range(6)))
    texts = torch.tensor([[WORDS.index(word) for word in text.split()] for text in TEXTS])
    panels = {  # its colour, words and place
        "P": {"kind": "query", "title": "P: a place fetches from", "rows": places, "columns": places, "at": (1, 1)},
        "M": {"kind": "key", "title": "M: who asks looks for", "rows": WORDS, "columns": WORDS, "at": (2, 1)},
        "W": {
            "kind": "value",
            "title": "W: what is heard says",
            "rows": WORDS,
            "columns": WORDS,
            "at": (3, 1),
        },
    }
    inputs = {
        "texts": Input(torch.nn.functional.one_hot(texts, len(WORDS)).double(), hidden=True),
        "shares": Input(torch.tensor(right[::KEPT], dtype=torch.float64)[:, None, None], hidden=True),
    }
    steps = [Step("causal", op.preset(which=2, queries=6, keys=6, length=6), hidden=True)]
    for (name, panel), film_of in zip(panels.items(), zip(*film[::KEPT], strict=True), strict=True):
        inputs[name] = Input(torch.zeros_like(film_of[0]), **panel, draw=(-2, 4, 1), when=("whose", WHOSE[0]))
        inputs[f"film of {name}"] = Input(torch.stack(film_of), hidden=True)
        chosen = op.film(f"film of {name}", chosen="step")
        steps.append(Step(f"{name} learned", chosen, **panel, when=("whose", WHOSE[1])))
        steps.append(Step(f"{name} used", op.choose(name, f"{name} learned", chosen="whose"), hidden=True))
    steps.append(Step("before", op.masked("P used", "causal"), hidden=True))
    for k in ("text", *range(len(TEXTS))):  # the chosen one is shown, and the task asks for all of them
        steps += _from_text(k, places)
    moment = {"kind": "output", "rows": (), "columns": ("right",), "at": (1, 2), "when": ("whose", WHOSE[1])}
    steps.append(Step("right", op.film("shares", chosen="step"), "of new puzzles", **moment))
    kept = tuple(range(0, len(film), KEPT))
    controls = [
        Control("whose", "Matrices", WHOSE),
        Control("step", "Step", kept, 0, slider=True, numbers=tuple(range(len(kept)))),
        Control("text", "Text", TEXTS),
    ]
    answers = [int(text[(text[:-1] == text[-1]).nonzero()[0, 0] + 1]) for text in texts]
    task = Task(
        "With matrices of yours make it answer all three texts, with more than 0.9 each. Nine entries are enough.",
        (("set", "whose", 0), *(("above", f"says {k}", 0, answer, 0.9) for k, answer in enumerate(answers))),
        why="Then choose learned and move the step. Which matrix changes first?",
        answers=(
            "P, who fetches from whom",
            "M, who looks for whom",
            "W, what is said",
        ),
        right=2,
        because="With W = 0 the answer is the same whatever P and M do, so their gradients are 0. Then those two wait "
        "for each other: each helps only as far as the other does.",
    )
    moments = {"just before it happens": 60, "a moment later": 85}
    tries = {said: {"step": step, "whose": WHOSE[1]} for said, step in moments.items() if step in kept}
    return Board(inputs, steps, controls, task, "Two heads that find each other", tries=tries)


def _from_text(text, places):
    """The steps from a text, chosen or by its number, to whom its last token hears and what it says."""
    number = "" if text == "text" else f" {text}"
    x, heard, found, mixed = (f"{name}{number}" for name in ("x", "heard", "found", "mixed"))
    hears = {"columns": places, "at": (2, 2), "wires": ("P", "P learned", "M", "M learned"), "hidden": bool(number)}
    says = {"at": (3, 2), "wires": ("hears", "W", "W learned"), "hidden": bool(number)}
    return [
        Step(x, op.film("texts", chosen=text), columns=WORDS, hidden=True),
        Step(heard, op.product("before", x), hidden=True),
        Step(f"asked{number}", op.product(x, "M used"), hidden=True),
        Step(found, op.product(f"asked{number}", heard, transpose="b"), hidden=True),
        Step(f"match{number}", op.masked(found, "causal"), "weights of layer 2", hidden=True),
        Step(f"hears{number}", op.row(f"match{number}", chosen=5), "layer 2: the last one hears", **hears),
        Step(mixed, op.product(f"hears{number}", x), hidden=True),
        Step(f"logits{number}", op.product(mixed, "W used"), "what is heard @ W", hidden=True),
        Step(f"says{number}", op.softmax(f"logits{number}"), "and says", **says),
    ]


# --------------------------------------------------------------------------------------------- notebook 10

READ = ("I", "sit", "still", "till", "it", "is", "all", "lit")
STORED = ("head 0", "head 1", "head 2", "head 3")
CACHE_FAULTS = (  # operations.py knows their places
    "none",
    "top-left mask",
    "no mask once there is a cache",
    "positions start again",
    "heads repeated as a list",
    "window one too short",
)


def cache_board():
    """Eight tokens read in chunks with a cache: what is kept, how much, and what each fault of a cache breaks."""
    x = [
        [1.0, 0.5, -0.5, 1.0],
        [0.5, -1.0, 1.0, 0.5],
        [-1.0, 0.5, 0.5, -0.5],
        [1.0, 1.0, -1.0, 0.0],
        [0.0, -0.5, 1.0, 1.0],
        [-0.5, 1.0, 0.0, -1.0],
        [1.0, -1.0, 0.5, 0.5],
        [0.5, 0.5, -1.0, 1.0],
    ]
    inputs = {"X": Input(x, rows=READ, at=(1, 1), title="tokens X")}
    heads = {"heads": 4, "stored": "scheme"}
    read = {"tokens": 8, "read": "read", "window": "window"}
    steps = [
        Step("even", op.columns("X", step=2), hidden=True),
        Step("odd", op.columns("X", first=1, step=2), hidden=True),
        Step("minus odd", op.scale("odd", by=-1.0), hidden=True),
        Step("more to ask", op.beside("minus odd", "even"), hidden=True),
        Step("more to offer", op.beside("even", "odd"), hidden=True),
        Step("q", op.beside("X", "more to ask"), hidden=True, kind="query"),  # four heads of two numbers each
        Step("all k", op.beside("X", "more to offer"), hidden=True, kind="key"),
        Step("k", op.cut("all k", at=(2, "scheme"), part=0), hidden=True, kind="key"),
        Step("v", op.columns("k", step=2), title="values", hidden=True, kind="value"),  # the first number of each head
        Step("q turned", op.rotate("q", angle=ANGLE), hidden=True),
        Step("k turned", op.rotate("k", angle=ANGLE), hidden=True),
        Step("all hear", op.remembered(chunk=8, **read), hidden=True),
        Step(
            "full",
            op.shared_outputs("q turned", "k turned", "v", "all hear", **heads),
            "outputs without one",
            hidden=True,
        ),
    ]
    for name, chunk in (("", "chunk"), (", one by one", 1)):  # as it is set, and as it would be
        q, k, hears, out = f"q used{name}", f"k used{name}", f"hears{name}", f"out{name}"
        steps += [
            Step(f"q again{name}", op.rotate("q", angle=ANGLE, every=chunk), hidden=True),
            Step(f"k again{name}", op.rotate("k", angle=ANGLE, every=chunk), hidden=True),
            Step(q, op.choose(*_unless_again("q turned", f"q again{name}"), chosen="fault"), "queries", hidden=True),
            Step(k, op.choose(*_unless_again("k turned", f"k again{name}"), chosen="fault"), "keys", hidden=True),
            Step(hears, op.remembered(chunk=chunk, fault="fault", **read), hidden=True),
            Step(out, op.shared_outputs(q, k, "v", hears, fault="fault", **heads), "outputs with a cache", hidden=True),
            Step(f"differs{name}", op.apart(out, "full"), hidden=True),
            Step(f"differ{name}", op.transposed(f"differs{name}"), hidden=True),
            Step(f"most{name}", op.largest(f"differ{name}"), hidden=True),
        ]
    steps += [
        Step(
            "keys",
            op.kept("k used", read="read", window="window", fault="fault"),
            "keys that are kept",
            at=(2, 1),
            gap=2,
            parts=STORED,
            sparse=True,
        ),
        Step(
            "values",
            op.kept("v", read="read", window="window", fault="fault"),
            "values that are kept",
            at=(3, 1),
            gap=1,
            parts=STORED,
            sparse=True,
        ),
        Step(
            "off by",
            op.apart("out", "full", read="read"),
            "difference",
            kind="scores",
            at=(4, 1),
            sparse=True,
            wires=(),
        ),
        Step(
            "weights",
            op.shared_weights("q used", "k used", "hears", of="of", fault="fault", read="read", **heads),
            "weights in each head",
            at=(2, 2),
            rows=("0", "1", "2", "3"),
            columns=READ,
            kind="weights",
            sparse=True,
        ),
        Step(
            "stored",
            op.amount("keys", "values"),
            "numbers stored",
            kind="scores",
            rows=(),
            at=(3, 2),
            wires=("values",),
        ),
    ]
    controls = [
        Control("read", "Tokens read", tuple(range(1, 9)), 4, slider=True),
        Control("chunk", "At a time", ("one", "two", "four"), numbers=(1, 2, 4)),
        Control("scheme", "Scheme", ("MHA, 4 stored", "GQA, 2 stored", "MQA, 1 stored"), numbers=(4, 2, 1)),
        Control("window", "Window", tuple(range(2, 9)), 8, slider=True),
        Control("of", "Weights of", READ, READ[2]),
        Control("fault", "Fault", CACHE_FAULTS),
    ]
    task = Task(
        "Find the fault that nobody notices as long as tokens come one by one, and make it show.",
        (("at_least", "fault", 1), ("below", "most, one by one", 0, 0, 1e-9), ("above", "most", 0, 0, 0.05)),
        why="Why is it silent with single tokens?",
        answers=(
            "The first token of a text has nobody before it",
            "A single new token is the newest: it may hear all that is there, with a mask or without",
            "With single tokens nothing is kept",
        ),
        right=1,
        because="Two that come together need a mask between them: the first may not hear the second.",
    )
    tries = {
        "share one stored head among all": {"scheme": "MQA, 1 stored"},
        "keep a window of three": {"window": 3},
        "count positions from 0 in each chunk": {"fault": "positions start again"},
    }
    return Board(inputs, steps, controls, task, "Writing with a memory", tries=tries)


ANGLE = 40  # degrees a position, of the RoPE of cache_board


def _unless_again(usual, wrong):
    """Names to choose from by the menu of faults."""
    return [wrong if fault == "positions start again" else usual for fault in CACHE_FAULTS]
