"""The vocabulary of boards: each function is what a step computes in torch; page/operations.js has the same names.

A step's operation names earlier matrices, `product("X", "W_q")`. An option that is the name of a control stands for
its number, `row("weights", chosen="query")`. All matrices have two dimensions but a film, which has frames.
"""

import functools
import inspect
import math
from dataclasses import dataclass, field

import torch

from attn_lib.functional import masked_softmax, merge_heads, scaled_dot_product_attention, share_heads, split_heads
from attn_lib.masks import causal_mask, padding_mask

OPERATIONS = {}


@dataclass(frozen=True)
class Operation:
    """What a step does: a function of this file, the earlier names it works on, and its options."""

    does: str
    of: tuple
    options: dict = field(default_factory=dict)

    def compute(self, values, numbers):
        """The matrix of this step; values: name → tensor, numbers: control → number."""
        options = {name: resolved(option, numbers) for name, option in self.options.items()}
        return OPERATIONS[self.does](*(values[name] for name in self.of), **options)


def resolved(option, numbers):
    """An option's number: that of the control it names, the product of several, or control → power multiplied."""
    if isinstance(option, dict):
        return math.prod(numbers[name] ** power for name, power in option.items())
    if isinstance(option, tuple):
        return math.prod(resolved(part, numbers) for part in option)
    return numbers.get(option, option) if isinstance(option, str) else option


def operation(compute):
    """Let a torch function be named in a step: its positional arguments are names, its keywords options."""
    signature = inspect.signature(compute)
    OPERATIONS[compute.__name__] = compute

    @functools.wraps(compute)
    def step(*of, **options):
        defaults = {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
        signature.bind(*of, **options)  # TypeError for what does not fit
        return Operation(compute.__name__, of, {**defaults, **options})

    return step


# --------------------------------------------------------------------------------------------- products and sums


@operation
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


@operation
def outer(a, b):
    """Every entry of a times every entry of b."""
    return a.reshape(-1, 1) * b.reshape(1, -1)


@operation
def weigh(weights, values):
    """Each row of values times its entry of the one row of weights."""
    return weights.mT * values


@operation
def total(a, *, over="row"):
    """The sum of each row, or of each column."""
    return a.sum(dim=1 if over == "row" else 0, keepdim=True)


@operation
def largest(a):
    """The largest entry of each row."""
    return a.max(dim=1, keepdim=True).values


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
def preset(*, which, queries, keys, length):
    """A mask by number: 0 everything open, 1 padding behind `length`, 2 causal, 3 both."""
    padding = padding_mask([length], keys)[0].expand(queries, keys)
    causal = causal_mask(queries, keys)
    return [torch.ones(queries, keys, dtype=torch.bool), padding, causal, padding & causal][which].double()


@operation
def both(a, b):
    """Open where both masks are open."""
    return (a.bool() & b.bool()).double()


@operation
def any_open(mask):
    """Whether a query may attend to anything."""
    return mask.bool().any(dim=1, keepdim=True).double()


@operation
def fill(a, mask, *, value=-math.inf):
    """a where the mask is open, and elsewhere this value."""
    return a.masked_fill(~mask.bool(), value)


@operation
def softmax(a, *, over="row"):
    """Shares that sum to 1 in each row, or in each column."""
    return masked_softmax(a) if over == "row" else masked_softmax(a.mT).mT


@operation
def masked(a, mask):
    """attn_lib's masked_softmax: a masked key gets exactly 0, and so does every key of a dead row."""
    return masked_softmax(a, mask.bool())


@operation
def entropy(a):
    """How spread each row of weights is: −Σ w ln w, at most ln of their number."""
    return torch.special.entr(a).sum(dim=1, keepdim=True)


@operation
def cross_entropy(wish, weights):
    """How far each row of weights is from its wish: −Σ wish · ln weight, where nothing is wished for 0."""
    return -torch.where(wish == 0, 0.0, wish * weights.log()).sum(dim=1, keepdim=True)


@operation
def learned(w_q, w_k, x, wish, *, steps, rate, keys_too, which):
    """W_q (which 0) or W_k (1) after so many steps down the gradient of the cross-entropy; keys_too: W_k learns too.

    Each step is kept in float32, as models keep theirs: else page and Python, whose last bits differ, would part on a
    path that is chaotic, as it is with a large rate.
    """
    for _ in range(steps):
        queries, keys = x @ w_q, x @ w_k
        weights = masked_softmax(queries @ keys.mT)
        to_scores = weights * wish.sum(dim=1, keepdim=True) - wish
        w_q, w_k = w_q - rate * (x.mT @ (to_scores @ keys)), w_k - rate * keys_too * (x.mT @ (to_scores.mT @ queries))
        w_q, w_k = w_q.float().double(), w_k.float().double()
    return w_k if which else w_q


# ----------------------------------------------------------------------------------------------- choose, cut, join


@operation
def choose(*of, chosen):
    """One of several matrices."""
    return of[chosen]


@operation
def row(a, *, chosen):
    """One row."""
    return a[chosen : chosen + 1]


@operation
def film(frames, *, chosen):
    """One frame of a stored film: a head of many, a step of a training."""
    return frames[chosen]


@operation
def cut(a, *, at, part):
    """The columns before `at` (part 0), or from there on (part 1)."""
    return a[:, at:] if part else a[:, :at]


@operation
def columns(a, *, first=0, step=1):
    """Every step-th column, from the first on."""
    return a[:, first::step]


@operation
def head(a, *, heads, which):
    """One head's share of the features, as `split_heads` gives it; nothing where there are fewer heads."""
    return split_heads(a[None], heads)[0, which] if which < heads else a.new_empty(0, 0)


@operation
def view_alone(a, *, heads, which):
    """What `view` without transpose gives as one head: the numbers in their order, cut into heads."""
    return a.reshape(heads, a.size(0), -1)[which] if which < heads else a.new_empty(0, 0)


@operation
def transposed(a):
    """Rows become columns."""
    return a.mT


@operation
def stack(a, b):
    """The tokens of a, then those of b."""
    return torch.cat([a, b])


@operation
def beside(a, b):
    """The features of a, then those of b."""
    return torch.cat([a, b], dim=1)


@operation
def numbered(*, tokens, features):
    """10 · token + feature."""
    return 10.0 * torch.arange(tokens, dtype=torch.float64)[:, None] + torch.arange(features)


@operation
def rotate(a, *, angle, start=0, every=0):
    """Each pair of features turned by its row's position times an angle in degrees.

    Positions are counted from `start`, and from there again after `every` rows, if that is not 0.
    """
    positions = torch.arange(a.size(0), dtype=a.dtype)
    turn = torch.deg2rad(((positions % every if every else positions) + start)[:, None] * angle)
    cos, sin = (wave.round(decimals=15) for wave in (turn.cos(), turn.sin()))  # a right angle is exact
    x, y = a[:, 0::2], a[:, 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], -1).flatten(1)


# --------------------------------------------------------------------------------------------- reading with a cache

TOP_LEFT, NO_MASK, TILED, TOO_SHORT = 1, 2, 4, 5  # faults, by their places in the menu of lessons.cache_board


@operation
def remembered(*, tokens, read, chunk, window, fault=0):
    """Who hears whom when the first `read` of so many tokens come in chunks and a cache keeps window − 1 of them.

    A mask, closed for tokens that have not been read; the faults of a cache that a mask can have are built in.
    """
    mask = torch.zeros(tokens, tokens, dtype=torch.float64)
    for begin in range(0, read, chunk):
        end, first = min(begin + chunk, read), max(0, begin - window + 1 + (fault == TOO_SHORT))
        query, key = torch.arange(begin, end)[:, None], torch.arange(first, end)
        distance = query - begin - (key - first) if fault == TOP_LEFT else query - key
        heard = (distance >= 0) & (distance < window)
        mask[begin:end, first:end] = 1.0 if fault == NO_MASK and begin else heard.double()
    return mask


@operation
def kept(a, *, read, window, fault=0):
    """The rows that a cache keeps for the next token, window − 1 of those that were read; the others are nan."""
    there, rows = torch.full_like(a, math.nan), slice(max(0, read - window + 1 + (fault == TOO_SHORT)), read)
    there[rows] = a[rows]
    return there


def _shared(x, heads, stored, fault):
    """(heads, n, head_dim) of stored heads side by side: neighbours share, or the whole list is repeated."""
    x, groups = split_heads(x[None], stored)[0], heads // stored
    return x.repeat(groups, 1, 1) if fault == TILED else share_heads(x, groups)


@operation
def shared_outputs(q, k, v, mask, *, heads, stored, fault=0):
    """Attention of several heads that share stored ones: their outputs side by side."""
    k, v = (_shared(x, heads, stored, fault) for x in (k, v))
    output, _ = scaled_dot_product_attention(split_heads(q[None], heads)[0], k, v, mask.bool())
    return merge_heads(output[None])[0]


@operation
def shared_weights(q, k, mask, *, heads, stored, of, fault=0, read=math.inf):
    """The weights of one token in each head, of heads that share stored ones; nan if it has not been read."""
    k = _shared(k, heads, stored, fault)
    weights = scaled_dot_product_attention(split_heads(q[None], heads)[0], k, k, mask.bool())[1][:, of]
    return weights if of < read else torch.full_like(weights, math.nan)


@operation
def apart(a, b, *, read=math.inf):
    """How far apart two matrices are: the largest difference in each row; rows that have not been read are nan."""
    has_been_read = torch.arange(a.size(0))[:, None] < read
    return torch.where(has_been_read, (a - b).abs().max(dim=1, keepdim=True).values, math.nan)


@operation
def amount(a, b):
    """How many numbers two matrices hold together, those that are nan left out."""
    return torch.stack([a.isfinite().sum() + b.isfinite().sum()]).double()[None]


# --------------------------------------------------------------------------------------------- pictures, and Python


@operation
def arrows(a, b):
    """A picture: the rows of two matrices with two columns as arrows in a plane."""
    return a.new_empty(0, 0)


@operation
def arcs(weights):
    """A picture: who listens to whom, as curves between words."""
    return weights.new_empty(0, 0)


def python(function, *names):
    """A step that only Python can do: function takes the tensors of these names and returns a matrix."""
    return Operation("python", names, {"function": function})


OPERATIONS["python"] = lambda *tensors, function: function(*tensors)
