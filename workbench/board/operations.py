"""The vocabulary of boards: each function is what a step computes in torch; page/operations.js has the same names.

A step's operation names earlier matrices, `product("X", "W_q")`. An option that is the name of a control stands for
its number, `row("weights", chosen="query")`. All matrices have two dimensions but a film, which has frames. What only
one lesson needs stands in its file, with its other half for the page in the file beside it.
"""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import torch

from attn_lib.functional import masked_softmax, split_heads
from attn_lib.masks import causal_mask, padding_mask

OPERATIONS = {}


class Role(StrEnum):
    """How the page takes a step."""

    COMPUTED = "computed"
    CHOICE = "choice"  # its lines and its title are those of the matrix that is chosen
    STORED = "stored"  # a frame of a film: nothing to play, and nothing that moved
    PICTURE = "picture"  # it has no numbers


@dataclass(frozen=True)
class Record:
    """All that a board knows of an operation.

    words and kind take the panels that a step is computed from and its options, and return the words beside the
    result's rows and columns, and whose colour it has.
    """

    compute: Callable
    words: Callable
    kind: Callable
    role: Role


@dataclass(frozen=True)
class Operation:
    """What a step does: the name of an operation, the earlier names it works on, and its options."""

    does: str
    of: tuple
    options: dict = field(default_factory=dict)

    @property
    def record(self):
        """What a board knows of this operation."""
        return OPERATIONS[self.does]

    def compute(self, values, numbers):
        """The matrix of this step; values: name → tensor, numbers: control → number."""
        options = {name: resolved(option, numbers) for name, option in self.options.items()}
        return self.record.compute(*(values[name] for name in self.of), **options)


def resolved(option, numbers):
    """An option's number: that of the control it names, the product of several, or control → power multiplied."""
    if isinstance(option, dict):
        return math.prod(numbers[name] ** power for name, power in option.items())
    if isinstance(option, tuple):
        return math.prod(resolved(part, numbers) for part in option)
    return numbers.get(option, option) if isinstance(option, str) else option


# ------------------------------------------------------------------------------------------------ words and colours


def same_words(panels, _):
    """Those of the first matrix."""
    return (panels[0]["rows"], panels[0]["columns"]) if panels else ([], [])


def row_words(panels, _):
    """The first matrix's rows; the result's columns are others."""
    return panels[0]["rows"], []


def column_words(panels, _):
    """The first matrix's columns; the result has one row."""
    return [], panels[0]["columns"]


def turned_words(panels, _):
    """Rows and columns change places."""
    return panels[0]["columns"], panels[0]["rows"]


def product_words(panels, options):
    """The first matrix's rows and the second's columns, as far as they are not transposed."""
    rows = panels[0]["columns" if options["transpose"] == "a" else "rows"]
    return rows, panels[1]["rows" if options["transpose"] == "b" else "columns"]


def second_words(panels, _):
    """Those of the second matrix."""
    return panels[1]["rows"], panels[1]["columns"]


def total_words(panels, options):
    """Rows, or columns, whichever are summed."""
    return (column_words if options["over"] == "column" else row_words)(panels, options)


def same_kind(panels, _):
    """That of the first matrix."""
    return panels[0]["kind"] if panels else "input"


def second_kind(panels, _):
    """That of the second matrix."""
    return panels[1]["kind"]


def product_kind(panels, options):
    """Queries times keys are scores, weights times values outputs; else it is what the second matrix makes of it."""
    if options["transpose"] == "b":
        return "scores"
    return "output" if panels[0]["kind"] == "weights" else panels[1]["kind"]


def weights_kind(*_):
    """Weights, whatever they are computed from."""
    return "weights"


def operation(compute=None, *, words=same_words, kind=same_kind, role=Role.COMPUTED):
    """Let a torch function be named in a step: its positional arguments are names, its keywords options.

    words, kind, role: as in a `Record`.
    """
    if compute is None:
        return functools.partial(operation, words=words, kind=kind, role=role)
    signature = inspect.signature(compute)
    OPERATIONS[compute.__name__] = Record(compute, words, kind, role)

    @functools.wraps(compute)
    def step(*of, **options):
        defaults = {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
        signature.bind(*of, **options)  # TypeError for what does not fit
        return Operation(compute.__name__, of, {**defaults, **options})

    return step


# --------------------------------------------------------------------------------------------- products and sums


@operation(words=product_words, kind=product_kind)
def product(a, b, *, transpose=""):
    """Rows of a times columns of b; transpose="b": times rows of b; transpose="a": columns of a times columns of b."""
    return (a.mT if transpose == "a" else a) @ (b.mT if transpose == "b" else b)


@operation
def scale(a, *, by=1.0, powers=1.0):
    """a times a number; powers={"d_k": -0.5} multiplies by controls' numbers to these powers."""
    return a * by * powers


@operation
def add(a, b):
    """a + b; a single row or column is used for all."""
    return a + b


@operation
def subtract(a, b):
    """a − b; a single row or column is used for all."""
    return a - b


@operation
def multiply(a, b):
    """a · b, entry by entry; a single row or column is used for all."""
    return a * b


@operation
def divide(a, b):
    """a / b, entry by entry; a single row or column is used for all."""
    return a / b


@operation
def exp(a):
    """e to the power of each entry."""
    return a.exp()


@operation(words=second_words, kind=second_kind)
def weighted_rows(weights, values):
    """Each row of values times its entry of the one row of weights."""
    return weights.mT * values


@operation(words=total_words)
def total(a, *, over="row"):
    """The sum of each row, or of each column."""
    return a.sum(dim=1 if over == "row" else 0, keepdim=True)


@operation(words=row_words)
def largest(a):
    """The largest entry of each row."""
    return a.max(dim=1, keepdim=True).values


@operation(words=row_words)
def apart(a, b):
    """How far each row of a is from that of b: the largest difference of two entries."""
    return (a - b).abs().amax(dim=1, keepdim=True)


@operation
def running_maximum(a):
    """The largest entry of each row so far, from left to right."""
    return a.cummax(dim=1).values


@operation
def rounded(a, *, digits=1):
    """a with this many digits behind the point, halves to even."""
    return (a * 10**digits).round() / 10**digits


# ---------------------------------------------------------------------------------------------- masks and weights


@operation
def mask_preset(*, which, queries, keys, length):
    """A mask by number: 0 everything open, 1 padding behind `length`, 2 causal, 3 both."""
    padding = padding_mask([length], keys)[0].expand(queries, keys)
    causal = causal_mask(queries, keys)
    return [torch.ones(queries, keys, dtype=torch.bool), padding, causal, padding & causal][which].double()


@operation
def both(a, b):
    """Open where both masks are open."""
    return (a.bool() & b.bool()).double()


@operation(words=row_words)
def any_open(mask):
    """Whether a query may attend to anything."""
    return mask.bool().any(dim=1, keepdim=True).double()


@operation
def fill(a, mask, *, value=-math.inf):
    """a where the mask is open, and elsewhere this value."""
    return a.masked_fill(~mask.bool(), value)


@operation(kind=weights_kind)
def softmax(a, *, over="row"):
    """Shares that sum to 1 in each row, or in each column."""
    return masked_softmax(a) if over == "row" else masked_softmax(a.mT).mT


@operation(kind=weights_kind)
def masked(a, mask):
    """attn_lib's masked_softmax: a masked key gets exactly 0, and so does every key of a dead row."""
    return masked_softmax(a, mask.bool())


@operation(words=row_words)
def entropy(a):
    """How spread each row of weights is: −Σ w ln w, at most ln of their number."""
    return torch.special.entr(a).sum(dim=1, keepdim=True)


@operation(words=row_words)
def cross_entropy(wish, weights):
    """How far each row of weights is from its wish: −Σ wish · ln weight, where nothing is wished for 0."""
    return -torch.where(wish == 0, 0.0, wish * weights.log()).sum(dim=1, keepdim=True)


# ----------------------------------------------------------------------------------------------- choose, cut, join


@operation(role=Role.CHOICE)
def choose(*of, chosen):
    """One of several matrices."""
    return of[chosen]


@operation(words=column_words)
def row(a, *, chosen):
    """One row."""
    return a[chosen : chosen + 1]


@operation(role=Role.STORED)
def film(frames, *, chosen):
    """One frame of a stored film: a head of many, a step of a training."""
    return frames[chosen]


@operation(words=row_words)
def cut(a, *, at, part):
    """The columns before `at` (part 0), or from there on (part 1)."""
    return a[:, at:] if part else a[:, :at]


@operation(words=row_words)
def columns(a, *, first=0, step=1):
    """Every step-th column, from the first on."""
    return a[:, first::step]


@operation(words=row_words)
def head(a, *, heads, which):
    """One head's share of the features, as `split_heads` gives it; nothing where there are fewer heads."""
    return split_heads(a[None], heads)[0, which] if which < heads else a.new_empty(0, 0)


@operation(words=row_words)
def view_alone(a, *, heads, which):
    """What `view` without transpose gives as one head: the numbers in their order, cut into heads."""
    return a.reshape(heads, a.size(0), -1)[which] if which < heads else a.new_empty(0, 0)


@operation(words=turned_words)
def transposed(a):
    """Rows become columns."""
    return a.mT


@operation
def beside(a, b):
    """The features of a, then those of b."""
    return torch.cat([a, b], dim=1)


@operation
def numbered(*, tokens, features):
    """10 · token + feature."""
    return 10.0 * torch.arange(tokens, dtype=torch.float64)[:, None] + torch.arange(features)


@operation
def rotate(a, *, angle, start=0):
    """Each pair of features turned by its row's position, counted from `start`, times an angle in degrees."""
    return turned(a, angle, torch.arange(a.size(0), dtype=a.dtype) + start)


def turned(a, angle, positions):
    """Each pair of features turned by the position of its row times an angle in degrees."""
    turn = torch.deg2rad(positions[:, None] * angle)
    cos, sin = (wave.round(decimals=15) for wave in (turn.cos(), turn.sin()))  # a right angle is exact
    x, y = a[:, 0::2], a[:, 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], -1).flatten(1)


# -------------------------------------------------------------------------------------------------------- pictures


@operation(role=Role.PICTURE)
def arcs(weights):
    """A picture: who listens to whom, as curves between words."""
    return weights.new_empty(0, 0)


@operation(role=Role.PICTURE)
def bars(matrix):
    """A picture: each row as a bar, its numbers one after the other; the longest bar fills the width."""
    return matrix.new_empty(0, 0)
