"""One function per board that a notebook shows: its panels, and what Python computes from them."""

import math

import torch

from .board import Board, Control, Panel, Task
from .checks import check_floating
from .examples import TOKENS, W_k, W_q, W_v, X, self_attention_steps
from .functional import masked_softmax, split_heads
from .masks import causal_mask, padding_mask

# ---------------------------------------------------------------------------------------------- notebook 1


def by_hand_explorer():
    """The 3×4 example with every number of its seven steps: edit X or a weight matrix, and watch the rest move."""
    matrix = {"rows": TOKENS, "columns": TOKENS}
    panels = [
        Panel("X", "input", rows=TOKENS, editable=True),
        Panel("W_q", "query", editable=True, group=1),
        Panel("W_k", "key", editable=True, group=1),
        Panel("W_v", "value", editable=True, group=1),
        Panel("queries", "query", rows=TOKENS, group=2, how=("product", "X", "W_q")),
        Panel("keys", "key", rows=TOKENS, group=2, how=("product", "X", "W_k")),
        Panel("values", "value", rows=TOKENS, group=2, how=("product", "X", "W_v")),
        Panel("scores", "scores", **matrix, group=3, how=("match", "queries", "keys")),
        Panel("scaled", "scores", "scores × scale", **matrix, group=3, how=("times", "scores")),
        Panel("weights", "weights", **matrix, share=True, group=4, how=("softmax", "scaled")),
        Panel("used", "weights", "weights used", **matrix, share=True, group=4, how=("times", "weights")),
        Panel(
            "weighted_values",
            "value",
            "weighted values",
            rows=TOKENS,
            group=5,
            how=("weigh", "used", "values", "query"),
        ),
        Panel("outputs", "output", rows=TOKENS, group=5, how=("product", "used", "values")),
    ]
    controls = [
        Control("arithmetic", "Weights", ("true", "rounded to one digit", "scaled by 1/√d_k"), "true"),
        Control("query", "Weighted values of", TOKENS, TOKENS[0]),
    ]

    def compute(X, W_q, W_k, W_v, arithmetic, query):
        steps = self_attention_steps(X, W_q, W_k, W_v, scale=None if arithmetic.startswith("scaled") else 1)
        used = steps.weights.mul(10).round().div(10) if arithmetic.startswith("rounded") else steps.weights
        return {
            **{name: getattr(steps, name) for name in ("queries", "keys", "values", "scores", "scaled", "weights")},
            "used": used,
            "weighted_values": used[TOKENS.index(query), :, None] * steps.values,
            "outputs": used @ steps.values,
        }

    def one_entry_of_w_k(board):
        changed = {name: int((board.inputs[name] != board.start[name]).sum()) for name in board.inputs}
        return board.results["weights"][0, 2] > 0.6 and changed == {"X": 0, "W_q": 0, "W_k": 1, "W_v": 0}

    task = Task(
        "Make I listen mostly to tea, with a weight above 0.6, by changing one single entry of W_k.", one_entry_of_w_k
    )
    start = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v}
    return Board(panels, compute, start, controls=controls, task=task, title="Self-attention by hand")


# ---------------------------------------------------------------------------------------------- notebook 2


def softmax_explorer():
    """Eight scores of a size that grows with d_k, with and without scaling, at any temperature."""
    keys = tuple(f"key {j}" for j in range(8))
    panels = [
        Panel("match", "query", "how well each key matches, × √d_k = score", columns=keys, editable=True),
        Panel("scores", "scores", "scores", columns=keys, group=1, how=("times", "match")),
        Panel("scaled", "scores", "scores after scale and temperature", columns=keys, group=1, how=("times", "scores")),
        Panel("weights", "weights", columns=keys, share=True, group=1, how=("softmax", "scaled")),
    ]
    sizes = tuple(2**i for i in range(11))
    temperatures = (0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32)
    controls = [
        Control("scaling", "Scale by 1/√d_k", ("on", "off"), "on"),
        Control("d_k", "d_k", sizes, 16, slider=True),
        Control("temperature", "Temperature", temperatures, 1, slider=True),
    ]

    def compute(match, scaling, d_k, temperature):
        scores = match * math.sqrt(d_k)
        scaled = scores / (math.sqrt(d_k) if scaling == "on" else 1) / temperature
        weights = masked_softmax(scaled)
        entropy = torch.special.entr(weights).sum().item()
        largest = weights.max().item()
        numbers = f"Entropy {entropy:.2f} of at most {math.log(8):.2f}.  Largest weight {largest:.3f}."
        return {"scores": scores, "scaled": scaled, "weights": weights, "numbers": numbers}

    def spread_again(board):
        set_to, weights = board.settings, board.results["weights"]
        entropy = torch.special.entr(weights).sum()
        return set_to["scaling"] == "off" and set_to["d_k"] == 256 and entropy > 1.5

    task = Task("With the scaling off and d_k at 256, bring the entropy above 1.5 again.", spread_again)
    start = {"match": torch.tensor([[0.4, -0.3, 1.2, 0.0, -1.1, 0.7, 1.0, -0.6]])}
    return Board(panels, compute, start, controls=controls, task=task, title="Scores, scale and temperature")


# ---------------------------------------------------------------------------------------------- notebook 3

PRESETS = {
    "everything open": lambda: torch.ones(4, 4, dtype=torch.bool),
    "padding, length 3": lambda: padding_mask([3], 4)[0].expand(4, 4),
    "causal": lambda: causal_mask(4),
    "padding and causal": lambda: padding_mask([3], 4)[0] & causal_mask(4),
}
FILLS = ("−∞ before softmax", "−1e9 before softmax", "0 after softmax", "masked_softmax of attn_lib")


def mask_painter():
    """A mask to click on, four ways of applying it, and the weights and gradients that come of each."""
    square = {"rows": ("q0", "q1", "q2", "q3"), "columns": ("k0", "k1", "k2", "k3")}
    panels = [
        Panel("scores", "scores", **square, editable=True),
        Panel("mask", "input", "mask, ✓ = may attend", **square, editable=True, toggle=True),
        Panel("allowed", "input", "mask and preset together", **square, group=1),
        Panel("filled", "scores", "scores, filled", **square, group=1, how=("fill", "scores", "allowed")),
        Panel("weights", "weights", **square, share=True, group=2),
        Panel(
            "row_sums", "weights", "sum of each row", rows=square["rows"], share=True, group=2, how=("total", "weights")
        ),
        Panel("gradient", "value", "gradient of W_v", group=3),
    ]
    controls = [
        Control("preset", "Preset", tuple(PRESETS), "everything open"),
        Control("fill", "Apply as", FILLS, FILLS[0]),
    ]
    tokens = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])

    def compute(scores, mask, preset, fill):
        allowed = mask.bool() & PRESETS[preset]()
        filled, weigh = scores, torch.softmax
        if fill.startswith("−"):
            filled = scores.masked_fill(~allowed, -math.inf if "∞" in fill else -1e9)
        weights = weigh(filled, dim=-1)
        if fill == FILLS[2]:
            weights = weights * allowed
        if fill == FILLS[3]:
            weights = masked_softmax(scores, allowed)
        with torch.enable_grad():  # the loss looks only at rows that may attend to something
            w_v = torch.eye(2, requires_grad=True)
            outputs = weights @ (tokens @ w_v)
            loss = outputs[allowed.any(dim=-1)].square().sum()
            gradient = torch.autograd.grad(loss, w_v)[0]
        return {
            "allowed": allowed.float(),
            "filled": filled,
            "weights": weights,
            "row_sums": weights.sum(dim=-1, keepdim=True),
            "gradient": gradient,
            "loss": f"The loss looks at rows with an open door only: {loss.item():.3f}.",
        }

    task = Task(
        "Make one row of the weights NaN, with as few clicks as you can, and see what it does to the gradient.",
        lambda board: bool(board.results["weights"].isnan().any()),
    )
    start = {
        "scores": torch.tensor(
            [[2.0, 1.0, 0.0, 1.0], [0.0, 3.0, 1.0, 1.0], [1.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 2.0]]
        ),
        "mask": torch.ones(4, 4),
    }
    return Board(panels, compute, start, controls=controls, task=task, title="Paint a mask")


# ---------------------------------------------------------------------------------------------- notebook 4


def heads_explorer(weights, tokens=None, key_tokens=None):
    """Heads side by side, one enlarged with its numbers.

    Shapes: weights (heads, n_queries, n_keys); tokens are words for the queries, and for the keys unless key_tokens.
    Raises: TypeError or ValueError if weights are not such a tensor or the number of tokens does not fit.
    """
    check_floating("weights", weights)
    if weights.ndim != 3 or 0 in weights.shape:
        raise ValueError(f"weights must be (heads, n_queries, n_keys) and not empty, got shape {tuple(weights.shape)}")
    weights = weights.detach().float().cpu()
    heads, n_queries, n_keys = weights.shape
    rows = _words("tokens", tokens, n_queries)
    columns = _words("key_tokens", tokens if key_tokens is None and n_queries == n_keys else key_tokens, n_keys)
    square = {"rows": rows, "columns": columns, "kind": "weights", "share": True, "how": ("share",)}
    names = [f"head {h}" for h in range(heads)]
    queries = tuple(f"{i}: {word}" for i, word in enumerate(rows))
    panels = [Panel(name, compact=True, **square) for name in names]
    panels.append(Panel("enlarged", title="the head chosen: queries down, keys across", group=1, **square))
    sharpest = int(weights.max(dim=-1).values.argmax())  # to begin with: the opposite of what the task asks for
    controls = [
        Control("head", "Enlarge", tuple(names), names[sharpest // n_queries]),
        Control("query", "Read out query", queries, queries[sharpest % n_queries]),
    ]

    def compute(head, query):
        chosen = weights[names.index(head)]
        row = chosen[queries.index(query)]
        order = row.argsort(descending=True, stable=True)[:3].tolist()
        read = ", ".join(f"{columns[j]} (key {j}) {row[j]:.2f}" for j in order)
        return {**dict(zip(names, weights, strict=True)), "enlarged": chosen, "read": f"{head}, query {query}: {read}"}

    def most_even(board):
        chosen = weights[names.index(board.settings["head"]), queries.index(board.settings["query"])]
        return chosen.max() - weights.max(dim=-1).values.min() < 1e-4

    task = Task("Which query in which head spreads its attention most evenly? Choose both.", most_even)
    return Board(panels, compute, controls=controls, task=task, title="Heads")


def _words(name, tokens, size):
    words = tuple(map(str, range(size))) if tokens is None else tuple(map(str, tokens))
    if len(words) != size:
        raise ValueError(f"{name} has {len(words)} entries, weights have {size}")
    return words


def reshape_explorer():
    """Every feature of every token followed into its head, by view and transpose, and by a wrong view alone.

    A cell reads 10 · token + feature; small letters say which head the feature belongs to.
    """
    panels = [Panel("x", "input", "x: a row for each token"), Panel("cut", "input", "view: each token cut", group=1)]
    panels += [Panel(f"right {h}", "output", f"head {h}: view, then transpose", group=2) for h in range(3)]
    panels += [Panel(f"wrong {h}", "query", f"head {h}: view alone", group=3) for h in range(3)]
    controls = [
        Control("tokens", "Tokens", (1, 2, 3, 4), 3, slider=True),
        Control("heads", "Heads", (1, 2, 3), 2, slider=True),
        Control("head_dim", "head_dim", (1, 2, 3), 2, slider=True),
    ]

    def compute(tokens, heads, head_dim):
        x = 10.0 * torch.arange(tokens)[:, None] + torch.arange(heads * head_dim)
        belongs = (torch.arange(heads * head_dim) // head_dim).expand(tokens, -1).float()

        def followed(move):
            return move(x[None])[0], move(belongs[None])[0]

        right, right_heads = followed(lambda t: split_heads(t, heads))
        wrong, wrong_heads = followed(lambda t: t.reshape(1, heads, tokens, head_dim))
        made = {"x": x, "x:head": belongs, "cut": x, "cut:head": belongs}
        for h in range(3):
            for name, moved, heads_of in (("right", right, right_heads), ("wrong", wrong, wrong_heads)):
                made[f"{name} {h}"] = moved[h] if h < heads else torch.empty(0, 0)
                made[f"{name} {h}:head"] = heads_of[h] if h < heads else torch.empty(0, 0)
        same = torch.equal(right, wrong)
        return made | {"verdict": f"view alone gives {'the same' if same else 'something else'}."}

    def same_by_accident(board):
        made, heads = board.results, board.settings["heads"]
        return heads > 1 and all(torch.equal(made[f"right {h}"], made[f"wrong {h}"]) for h in range(heads))

    task = Task("Find sizes, with at least two heads, for which view alone gives the right answer.", same_by_accident)
    return Board(panels, compute, controls=controls, task=task, title="From features to heads")
