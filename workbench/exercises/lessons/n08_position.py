"""Exercises of notebook 8: sinusoids, RoPE, ALiBi, a test of code that adds positions, a query that looks back."""

import math
from functools import partial

import torch

from attn_lib import position

from ...display.show import ATOL
from ..engine.function import function
from ..engine.one_value import yes_or_no
from ..engine.outcome import Unreadable, kind_of
from ..engine.probes import normal

# ----------------------------------------------------------------------------------------------------------- 8.1


def _sorted(rows):
    """The columns in an order that does not depend on the one they came in."""
    return rows[:, (normal(rows.size(0), seed=1).double() @ rows.double()).argsort()]


def _in_any_order(tensors):
    """The library's order in place of the learner's, where the columns are the same."""
    (rows,) = tensors
    if rows.ndim != 2 or rows.size(1) % 2 or not rows.is_floating_point():
        return tensors
    truth = position.sinusoidal_encoding(*rows.shape).to(rows.dtype)
    same = torch.allclose(_sorted(rows).double(), _sorted(truth).double(), atol=ATOL)
    return (truth + 0 * rows,) if same else (_side_by_side(rows, truth),)


def _side_by_side(rows, truth):
    """Columns in the order, of those that are in use, in which they come nearest to the library's."""
    pairs = rows.unflatten(1, (-1, 2))  # sine, cosine, sine, cosine, …
    halves = rows.unflatten(1, (2, -1)).mT  # all sines, then all cosines
    orders = [order.flatten(1) for order in (pairs, halves, pairs.flip(-1), halves.flip(-1))]
    return min(
        orders, key=lambda order: round(float((order - truth).abs().nan_to_num().sum()), 3)
    )  # of equals the first


sinusoidal_encoding = function(
    "8.1",
    position.sinusoidal_encoding,
    as_="my_sinusoidal_encoding(n, embed_dim)",
    title="Sinusoids",
    section="08#text-waves",
    probes=[(4, 4), (3, 10), (6, 8), (9, 6)],
    corner_cases=[(1, 4), (5, 2), (40, 16)],
    random_probes=lambda rng: [
        (n, 2 * pairs) for n, pairs in zip(rng.sample(range(3, 12), 2), rng.sample(range(3, 8), 2), strict=True)
    ],
    returns=("the encoding",),
    read=_in_any_order,
    dtype=torch.float64,
    shows=(position.sinusoidal_encoding, position.position_angles),
    hints=[
        "With 4 features there are two angles for each position: the position times 1, and the position times 0.01.",
        "`torch.arange(0, embed_dim, 2)` is 0, 2, 4, …: this is already 2i. The exponent is minus this, divided by "
        "embed_dim.",
        "`angles = torch.arange(n)[:, None] * frequencies` has shape (n, embed_dim / 2). Its sine and its cosine are "
        "the features, in any order.",
    ],
)


def _waves(n, sine, cosine, waves=(torch.sin, torch.cos)):
    """Sine and cosine with frequencies of their own, side by side."""
    places = torch.arange(n, dtype=torch.float64)[:, None]
    return torch.stack([wave(places * pace) for wave, pace in zip(waves, (sine, cosine), strict=True)], -1).flatten(-2)


def _powers(embed_dim, power=lambda even, d: -even / d):
    return 10000.0 ** power(torch.arange(0, embed_dim, 2, dtype=torch.float64), embed_dim)


def _doubled(embed_dim, more=0):
    return _powers(embed_dim, lambda even, d: -2 * (even + more) / d)


@sinusoidal_encoding.misconception(
    forms=[
        lambda n, embed_dim: _waves(n, _doubled(embed_dim), _doubled(embed_dim, more=1)),
        lambda n, embed_dim: (
            _waves(n, _doubled(embed_dim), _doubled(embed_dim, more=1)) * (torch.arange(n) > 0)[:, None]
        ),
    ],
    telltale_call=(3, 10),
)
def exponent_doubled(n, embed_dim):
    """The exponent is doubled: the frequencies fall twice as fast.

    The formula says 2i, where i counts pairs. In a loop or `arange` in steps of two the number is already 2i. You do
    not see the mistake in the shapes; the later pairs hardly turn at all.
    """
    return _waves(n, _doubled(embed_dim), _doubled(embed_dim))


@sinusoidal_encoding.misconception()
def exponent_halved(n, embed_dim):
    """The exponent is half of what it should be: the frequencies fall too slowly.

    The formula says 2i / embed_dim, where i counts pairs: 0, 1, 2, …. With i / embed_dim the slowest pair turns too
    fast: with 8 features 32 times as fast, with 64 features 87 times.
    """
    return _waves(n, *[_powers(embed_dim, lambda even, d: -even / 2 / d)] * 2)


@sinusoidal_encoding.misconception(
    forms=[lambda n, embed_dim: _waves(n, *[_powers(embed_dim)] * 2, waves=(torch.cos, torch.cos))]
)
def one_wave_twice(n, embed_dim):
    """Both features of a pair are the same wave.

    You need both the sine and the cosine to know an angle: the sine alone is the same for 30° and for 150°. And the dot
    product of two rows is no longer a sum of cos(a − b).
    """
    return _waves(n, *[_powers(embed_dim)] * 2, waves=(torch.sin, torch.sin))


@sinusoidal_encoding.misconception()
def cosine_of_its_own(n, embed_dim):
    """In each pair the cosine and the sine have different angles.

    A pair is the sine and the cosine of *one* angle. If each feature has its own exponent, the dot product of two rows
    is no longer a sum of cos(a − b). It depends on the two positions, not only on their distance.
    """
    return _waves(n, _powers(embed_dim), _powers(embed_dim, lambda even, d: -(even + 1) / d))


@sinusoidal_encoding.misconception(
    forms=[lambda n, embed_dim: _waves(n, *[_powers(embed_dim, lambda even, d: (-even / d).floor())] * 2)]
)
def one_frequency(n, embed_dim):
    """The exponents are rounded down to whole numbers.

    `//` removes the digits after the decimal point. So 2i / embed_dim becomes 0 for each pair (and with a minus in
    front, −1 for each pair except the first): the pairs get the same frequency.
    """
    return _waves(n, *[_powers(embed_dim, lambda even, d: even // d)] * 2)


def _floored(embed_dim, steps):
    return (steps * (-math.log(10000.0) / embed_dim // 2)).exp()


@sinusoidal_encoding.misconception(
    forms=[lambda n, embed_dim: _waves(n, *[_floored(embed_dim, torch.arange(0, embed_dim, 2))] * 2)]
)
def divided_and_floored(n, embed_dim):
    """`a / d // 2` is not a / (d / 2).

    Python computes `a / d` first, and then `//` rounds down: a negative number becomes −1 or less.
    """
    return _waves(n, *[_floored(embed_dim, torch.arange(0, embed_dim // 2))] * 2)


def _power_first(embed_dim):
    """10000 ** -a / d, as Python reads it."""
    return 10000.0 ** -torch.arange(0, embed_dim, 2, dtype=torch.float64) / embed_dim


@sinusoidal_encoding.misconception()
def power_first(n, embed_dim):
    """The power is computed before the division.

    Python reads `10000 ** -a / d` as `(10000 ** -a) / d`. Put the whole exponent in parentheses: `10000 ** (-a / d)`.
    """
    return _waves(n, *[_power_first(embed_dim)] * 2)


@sinusoidal_encoding.misconception(
    forms=[
        lambda n, embed_dim: _waves(n, *[_powers(embed_dim, lambda even, d: even / 2 / d)] * 2),
        lambda n, embed_dim: _waves(n, *[_powers(embed_dim, lambda even, d: 2 * even / d)] * 2),
    ]
)
def power_turned(n, embed_dim):
    """The frequencies grow. They have to fall.

    The minus of the exponent is missing. The position has to be divided by 10000^(2i / embed_dim). If you multiply, one
    step turns the later pairs by hundreds or thousands of radians, so their numbers look random.
    """
    return _waves(n, *[_powers(embed_dim, lambda even, d: even / d)] * 2)


def _to_the_end(embed_dim, base=10000.0):
    """Frequencies from 1 to 1/10000 itself, the last pair's."""
    return base ** -torch.linspace(0, 1, embed_dim // 2, dtype=torch.float64)


@sinusoidal_encoding.misconception(telltale_call=(3, 10))
def spread_to_the_end(n, embed_dim):
    """The slowest pair turns 10000 times as slowly as the first, and the others lie between.

    With 2i / embed_dim the exponent is always below 1. If i is divided by the number of pairs minus one, the last
    exponent is 1. Some public code does this: tensor2tensor, the first code of the transformer, and code copied from
    it.
    """
    return _waves(n, *[_to_the_end(embed_dim)] * 2)


def _with_base(n, embed_dim, *, base):
    return _waves(n, *[base ** -(torch.arange(0, embed_dim, 2, dtype=torch.float64) / embed_dim)] * 2)


@sinusoidal_encoding.misconception(forms=[partial(_with_base, base=base) for base in (1e5, 5e5, 1e6)])
def another_base(n, embed_dim):
    """The base is not 10000.

    With a smaller base the slow pairs turn faster, with a larger base more slowly. The formula has 10000.
    """
    return _with_base(n, embed_dim, base=1000.0)


@sinusoidal_encoding.misconception()
def first_row_empty(n, embed_dim):
    """The first row is 0.

    In some code row 0 belongs to padding. Here it belongs to the first token: its sines are 0 and its cosines are 1.
    """
    return position.sinusoidal_encoding(n, embed_dim) * (torch.arange(n) > 0)[:, None]


@sinusoidal_encoding.misconception()
def from_one(n, embed_dim):
    """Positions are counted from 1.

    The first token has position 0, whose row is 0, 1, 0, 1, … Dot products do not change if all positions are larger by
    1, but a trained model expects the rows that begin at position 0.
    """
    return position.sinusoidal_encoding(n + 1, embed_dim)[1:]


@sinusoidal_encoding.misconception(forms=[lambda n, embed_dim: _waves(n, *[_powers(embed_dim) * 180 / math.pi] * 2)])
def degrees(n, embed_dim):
    """You converted the angles between degrees and radians.

    torch's sine and cosine take radians, and the formula gives radians: one step turns the first pair by 1, which is 57
    degrees. So do not convert.
    """
    return _waves(n, *[_powers(embed_dim) * math.pi / 180] * 2)


# ----------------------------------------------------------------------------------------------------------- 8.2


def _heads(batch, heads, n, head_dim, start=0):
    return normal(batch, heads, n, head_dim, seed=n), start


rotary = function(
    "8.2",
    position.rotary,
    as_="my_rotary(x, start=0)",
    title="RoPE",
    section="08#text-rope",
    probes=[_heads(1, 2, 3, 4), _heads(2, 3, 4, 6), _heads(1, 2, 5, 8, start=3), _heads(2, 1, 3, 10, start=1)],
    corner_cases=[_heads(2, 3, 1, 4, start=7), _heads(1, 2, 4, 2, start=2)],
    random_probes=lambda rng: [
        _heads(2, 3, rng.randrange(3, 8), 2 * rng.randrange(2, 6), rng.randrange(1, 9)) for _ in range(2)
    ],
    returns=("the turned x",),
    dtype=torch.float64,
    gradients=True,
    shows=(position.rotary, position.position_angles),
    hints=[
        "Compute angles as in 8.1, but for the positions start, start + 1, …: their shape is (n, head_dim / 2), which "
        "fits every sentence and every head.",
        "`x[..., 0::2]` has the first number of each pair, `x[..., 1::2]` the second. Turn them by the formula.",
        "`torch.stack([…, …], dim=-1).flatten(-2)` makes the two numbers of each pair neighbours again.",
    ],
)


def _angles(x, start=0):
    return position.position_angles(x.size(-2), x.size(-1), start=start).to(x)


def _turned(a, b, angles):
    return a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()


def _neighbours(x, angles):
    return torch.stack(_turned(x[..., 0::2], x[..., 1::2], angles), dim=-1).flatten(-2)


def _half_exchanged(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([-b, a], dim=-1)


@rotary.misconception(reread="08#text-break")
def halves(x, start=0):
    """The pairs are one feature of each half.

    That is the other convention, which much public code uses. In this exercise a pair is two neighbours. Weights that
    were trained with one convention give wrong scores with the other.
    """
    return position.rotary(x, start, halves=True)


@rotary.misconception(
    forms=[
        lambda x, start=0: (
            x * torch.cat([_angles(x, start)] * 2, -1).cos()
            + torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2) * torch.cat([_angles(x, start)] * 2, -1).sin()
        )
    ],
    reread="08#text-break",
)
def mixed(x, start=0):
    """Pairs of one convention are turned by the angles of the other.

    With neighbours the angles must be a, a, b, b; with halves they must be a, b, a, b. If you mix the two, the numbers
    of a pair get different angles. This is not a turn, and the scores no longer depend on the distance only.
    """
    angles = _angles(x, start).repeat_interleave(2, dim=-1)
    return x * angles.cos() + _half_exchanged(x) * angles.sin()


@rotary.misconception(telltale_call=_heads(1, 2, 5, 8, start=3))
def start_forgotten(x, start=0):
    """The positions begin at 0, and `start` is not used.

    For a whole text that is right. But a model that generates text calls this function with the new token only; without
    `start` this token gets position 0 each time.
    """
    return position.rotary(x)


@rotary.misconception()
def backwards(x, start=0):
    """The pairs are turned in the opposite direction.

    If queries and keys are both turned in this direction, the scores still depend on the distance only, but they are
    other scores than those of the formula. The minus belongs to the first number: x cos − y sin.
    """
    return _neighbours(x, -_angles(x, start))


@rotary.misconception()
def second_sign_lost(x, start=0):
    """The second formula has a minus, and it needs a plus.

    The formulas are x cos − y sin, and x sin + y cos. With y cos − x sin as the second, the length of the vector
    changes with the position.
    """
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = _angles(x, start).cos(), _angles(x, start).sin()
    return torch.stack([a * cos - b * sin, b * cos - a * sin], dim=-1).flatten(-2)


@rotary.misconception()
def sign_lost(x, start=0):
    """Both formulas have a plus. This is not a turn.

    The formulas are x cos − y sin, and x sin + y cos. If the minus is missing, the length of the vector changes with
    the position.
    """
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = _angles(x, start).cos(), _angles(x, start).sin()
    return torch.stack([a * cos + b * sin, a * sin + b * cos], dim=-1).flatten(-2)


@rotary.misconception()
def one_pace(x, start=0):
    """All pairs have the same frequency.

    With 1 radian for each step, a full turn is complete after 6 or 7 tokens, and then a far key has nearly the same
    direction as a near key. Each pair needs its own frequency.
    """
    return _neighbours(x, _angles(x, start)[:, :1])


def _at_paces(x, start=0, *, paces):
    """Neighbours, turned at other paces: paces(head_dim) is one for each pair."""
    places = torch.arange(start, start + x.size(-2), dtype=torch.float64)[:, None]
    return _neighbours(x, (places * paces(x.size(-1))).to(x))


@rotary.misconception(
    forms=[
        partial(_at_paces, paces=lambda d, base=base: base ** -(torch.arange(0, d, 2) / d))
        for base in (1000.0, 1e5, 5e5)
    ]
)
def another_base(x, start=0):
    """The base is not 10000.

    Models for long texts use 500000 or more, so that the slow pairs turn more slowly. In this exercise it is 10000, as
    in the lesson.
    """
    return _at_paces(x, start, paces=lambda d: 1e6 ** -(torch.arange(0, d, 2) / d))


@rotary.misconception(telltale_call=_heads(2, 1, 3, 10, start=1))
def spread_to_the_end(x, start=0):
    """The slowest pair turns 10000 times as slowly as the first, and the others lie between.

    With 2i / head_dim the exponent is always below 1. With `linspace(0, 1, …)` the last exponent is 1.
    """
    return _at_paces(x, start, paces=_to_the_end)


@rotary.misconception()
def power_turned(x, start=0):
    """The frequencies grow. They have to fall.

    The minus of the exponent is missing: the position has to be divided by 10000^(2i / head_dim). If you multiply, one
    step turns the later pairs by hundreds or thousands of radians.
    """
    return _at_paces(x, start, paces=lambda d: 10000.0 ** (torch.arange(0, d, 2) / d))


@rotary.misconception()
def power_first(x, start=0):
    """The power is computed before the division.

    Python reads `10000 ** -a / d` as `(10000 ** -a) / d`. Put the whole exponent in parentheses: `10000 ** (-a / d)`.
    """
    return _at_paces(x, start, paces=_power_first)


@rotary.misconception(telltale_call=_heads(1, 2, 5, 8, start=3))
def start_added_to_the_angle(x, start=0):
    """`start` is added to the angle, and not to the position.

    The angle is position · frequency. Then every pair is turned further by `start` radians, where the slow pairs should
    be turned further by less. Count the positions from `start`: `torch.arange(start, start + n)`.
    """
    return _neighbours(x, _angles(x) + start)


@rotary.misconception()
def exponent_halved(x, start=0):
    """The exponent is half of what it should be: the pairs turn too fast.

    The formula says 2i / head_dim, where i counts pairs: 0, 1, 2, …. You divided i by head_dim, not 2i.
    """
    return _at_paces(x, start, paces=lambda d: 10000.0 ** -(torch.arange(d // 2) / d))


@rotary.misconception(telltale_call=_heads(2, 3, 4, 6))
def exponent_doubled(x, start=0):
    """The exponent is doubled: the pairs turn too slowly.

    `arange(0, head_dim, 2)` is already 2i. If you multiply by 2 once more, the later pairs hardly turn at all.
    """
    return _at_paces(x, start, paces=lambda d: 10000.0 ** -(2 * torch.arange(0, d, 2) / d))


@rotary.misconception(
    telltale_call=_heads(2, 3, 4, 6),
    forms=[lambda x, start=0: _part_turned(x, start, halves=True), lambda x, start=0: _part_turned(x, start, share=4)],
)
def part_turned(x, start=0):
    """Only a part of the features is turned.

    Some models turn only a part, on purpose. In this exercise every pair of a head is turned.
    """
    return _part_turned(x, start)


def _part_turned(x, start, *, share=2, halves=False):
    width = max(2, x.size(-1) // share // 2 * 2)
    return torch.cat([position.rotary(x[..., :width], start, halves=halves), x[..., width:]], dim=-1)


@rotary.misconception()
def sine_and_cosine_exchanged(x, start=0):
    """Sine and cosine have changed places.

    At position 0 nothing is turned: there the cosine is 1 and the sine 0. The formulas are x cos − y sin, and x sin + y
    cos.
    """
    return _neighbours(x, math.pi / 2 - _angles(x, start))


@rotary.misconception()
def over_all_heads(x, start=0):
    """The frequencies run through all heads.

    Each head has its own head_dim features and begins again with the fastest pair. If the frequencies are computed over
    embed_dim, the last heads get only slow pairs, and neighbouring positions look the same to them.
    """
    batch, heads, n, head_dim = x.shape
    merged = x.transpose(1, 2).reshape(batch, n, heads * head_dim)
    return position.rotary(merged, start).view(batch, n, heads, head_dim).transpose(1, 2)


def _second_from_new(x, angles, first=0):
    """The second of each pair to be computed is made of the other one's new value."""
    pair = [x[..., 0::2], x[..., 1::2]]
    for i in (first, 1 - first):
        pair[i] = _turned(*pair, angles)[i]
    return torch.stack(pair, dim=-1).flatten(-2)


@rotary.misconception(forms=[lambda x, start=0: _second_from_new(x, _angles(x, start), first=1)])
def written_over(x, start=0):
    """One number of each pair is computed from the *new* value of the other.

    Each new number needs both old numbers of the pair. When you write into `x[..., 0::2]`, its old numbers are lost,
    because a slice is a view, not a copy. Compute both before you assign them, as in `a, b = a * cos - b * sin, a * sin
    + b * cos`.
    """
    return _second_from_new(x, _angles(x, start))


@rotary.misconception()
def not_interleaved(x, start=0):
    """The turned numbers are right, but not in the right order.

    `torch.cat` puts the first numbers of all pairs before all second numbers. The two numbers of a pair must be
    neighbours again: `torch.stack([…, …], dim=-1).flatten(-2)`.
    """
    return torch.cat(_turned(x[..., 0::2], x[..., 1::2], _angles(x, start)), dim=-1)


@rotary.misconception()
def along_the_heads(x, start=0):
    """The angle depends on the number of the head, not on the position of the token.

    x is (batch, heads, n, head_dim): the token axis is the second from the end. Code for (batch, n, heads, head_dim)
    raises no error here, but turns along the wrong axis.
    """
    return position.rotary(x.transpose(1, 2), start).transpose(1, 2)


@rotary.misconception()
def from_one(x, start=0):
    """Positions are counted from 1.

    The first token has position start, and at position 0 nothing is turned. If queries and keys are both shifted by one
    position, the scores do not change; but keys that are already stored in a cache were turned by other angles.
    """
    return position.rotary(x, start + 1)


# ----------------------------------------------------------------------------------------------------------- 8.3


alibi_bias = function(
    "8.3",
    position.alibi_bias,
    as_="my_alibi_bias(num_heads, n_queries, n_keys)",
    title="ALiBi",
    section="08#text-alibi",
    probes=[(2, 3, 3), (8, 4, 4), (4, 2, 5), (6, 3, 4), (12, 1, 3)],
    corner_cases=[(1, 2, 2), (3, 4, 4), (2, 1, 1), (3, 5, 2), (2, 1, 9)],
    random_probes=lambda rng: [(heads, n, n + 2) for heads, n in zip(rng.sample(range(5, 15), 2), (2, 4), strict=True)],
    returns=("the bias",),
    dtype=torch.float64,
    hints=[
        "Compute the distances first: a table (n_queries, n_keys). The last query has the position of the last key. "
        "Which position has the first query?",
        "With 8 heads the slopes are 2 to the power of −1, −2, …, −8; with 4 heads −2, −4, −6, −8.",
        "For 6 heads: the slopes for 4 heads, then the 1st and the 3rd slope for 8 heads. In general: the slopes for "
        "the largest power of two that is not larger than the number of heads, then every second slope for two times "
        "that power.",
    ],
)


def _distances(n_queries, n_keys):
    return _signed(n_queries, n_keys).abs()


def _signed(n_queries, n_keys):
    return torch.arange(n_queries)[:, None] + n_keys - n_queries - torch.arange(n_keys)


def _slopes(num_heads):
    return -position.alibi_bias(num_heads, 1, 2)[:, 0, :1, None]  # (heads, 1, 1)


@alibi_bias.misconception(
    forms=[
        lambda h, n_queries, n_keys: -_distances(n_queries, n_keys) * 2 * _slopes(h),
        lambda h, n_queries, n_keys: -_signed(n_queries, n_keys) * (0.5 ** (torch.arange(h) * 8 / h))[:, None, None],
    ]
)
def first_slope_one(num_heads, n_queries, n_keys):
    """The slopes begin at 1.

    If the exponents are counted from 0, the first slope is 1. In the paper they begin one step later: with 8 heads the
    slopes are 1/2, …, 1/256.
    """
    steps = torch.arange(num_heads) * (8 / num_heads)
    return -_distances(n_queries, n_keys) * (0.5**steps)[:, None, None]


@alibi_bias.misconception(telltale_call=(6, 3, 4))
def powers_of_two_only(num_heads, n_queries, n_keys):
    """The slopes are right only where the number of heads is a power of two.

    For other numbers the formula 2^(−8h / heads) raises no error, but the models were trained with other slopes: those
    for the next smaller power of two, and then every second slope of the list for the next larger power of two.
    """
    steps = (torch.arange(num_heads) + 1) * (8 / num_heads)
    return -_distances(n_queries, n_keys) * (0.5**steps)[:, None, None]


def _steps_of(num_heads, n_queries, n_keys, *, step, first=1):
    steps = (torch.arange(num_heads) + first) * step
    return -_distances(n_queries, n_keys) * (0.5**steps)[:, None, None]


@alibi_bias.misconception(
    telltale_call=(4, 2, 5),
    forms=[partial(_steps_of, step=step, first=first) for step, first in ((4, 1), (4, 0), (8, 1), (8, 0), (1, 0))],
)
def same_steps_for_all(num_heads, n_queries, n_keys):
    """The slopes fall by the same factor for any number of heads.

    With 8 heads each slope is half of the slope before. With 4 heads it is a quarter, since the exponents end at −8:
    the step between them is 8 / heads.
    """
    return _steps_of(num_heads, n_queries, n_keys, step=1)


@alibi_bias.misconception()
def sum_of_places(num_heads, n_queries, n_keys):
    """The positions of query and key are added. The distance is needed.

    The price then grows with the positions, not with the distance. The distance is query minus key, without its sign.
    """
    places = (torch.arange(n_queries) + n_keys - n_queries)[:, None] + torch.arange(n_keys)
    return -places * _slopes(num_heads)


@alibi_bias.misconception(
    forms=[
        lambda h, n_queries, n_keys: -_by_the_key(h, n_queries, n_keys),
        lambda h, n_queries, n_keys: _by_the_key(h, 1, n_keys),
    ]
)
def by_the_keys_place(num_heads, n_queries, n_keys):
    """The slope is multiplied by the position of the key, the same for every query.

    With a causal mask the weights are the same, since softmax does not change if a number is added to a whole row. Some
    models do this. In this exercise return the price itself: −slope times distance, 0 at the token itself.
    """
    return _by_the_key(num_heads, n_queries, n_keys)


def _by_the_key(num_heads, n_queries, n_keys):
    return (torch.arange(n_keys) * _slopes(num_heads)).expand(num_heads, n_queries, n_keys)


@alibi_bias.misconception(reread="03#text-10")
def future_hidden(num_heads, n_queries, n_keys):
    """Keys after the query get −∞: the result contains a causal mask.

    Return only the price, for keys before and after the query. A causal mask is added elsewhere.
    """
    ahead = torch.arange(n_keys) > torch.arange(n_queries)[:, None] + n_keys - n_queries
    return position.alibi_bias(num_heads, n_queries, n_keys).masked_fill(ahead, -math.inf)


@alibi_bias.misconception()
def sorted_slopes(num_heads, n_queries, n_keys):
    """The slopes are right, but in another order.

    For 6 heads, the 4 slopes for 4 heads come first, and the 2 other slopes come after them. If you sort the slopes,
    heads of a trained model get the slope of another head.
    """
    slopes = _slopes(num_heads).sort(dim=0, descending=True).values
    return -_distances(n_queries, n_keys) * slopes


@alibi_bias.misconception()
def rewarded(num_heads, n_queries, n_keys):
    """The price is added.

    The minus is missing, so far keys get higher scores. The price must be subtracted from the score.
    """
    return -position.alibi_bias(num_heads, n_queries, n_keys)


@alibi_bias.misconception(telltale_call=(4, 2, 5), reread="03#text-10")
def top_left(num_heads, n_queries, n_keys):
    """With fewer queries than keys the distances are counted from the wrong place.

    The queries are then the newest tokens, and the last query has the position of the last key. If you count the
    queries from 0, each new query gets the position of one of the first tokens.
    """
    distances = (torch.arange(n_queries)[:, None] - torch.arange(n_keys)).abs()
    return -distances * _slopes(num_heads)


@alibi_bias.misconception()
def signed(num_heads, n_queries, n_keys):
    """Keys after the query get a higher score.

    There query minus key is negative, so the price is added. With a causal mask this makes no difference; without a
    mask each token gives most weight to the end of the text.
    """
    return -_signed(n_queries, n_keys) * _slopes(num_heads)


@alibi_bias.misconception()
def free_ahead(num_heads, n_queries, n_keys):
    """For keys after the query nothing is subtracted.

    With a causal mask this makes no difference. Without a mask the price is needed in both directions: the distance is
    the difference of the two positions, without its sign.
    """
    return -_signed(n_queries, n_keys).clamp(min=0) * _slopes(num_heads)


@alibi_bias.misconception()
def keys_only(num_heads, n_queries, n_keys):
    """Every query gets the same row.

    The paper's own code does this too, because with a causal mask a number added to a whole row does not change the
    softmax. In this exercise return the price itself: 0 at the token itself.
    """
    row = torch.arange(n_keys) - (n_keys - 1)
    return (row * _slopes(num_heads)).expand(num_heads, n_queries, n_keys)


# ----------------------------------------------------------------------------------------------------------- 8.4


def slices(x, table):
    """right, by a slice of the table"""
    return x + table[: x.size(1)]


def looks_up(x, table):
    """right, by looking each row up"""
    return x + table[torch.arange(x.size(1))].expand_as(x)


def loops(x, table):
    """right, by a loop"""
    return torch.stack([x[:, i] + table[i] for i in range(x.size(1))], dim=1)


def along_the_batch(x, table):
    """gives each sentence one row"""
    return x + table[: x.size(0), None]


def stops_at_the_last_row(x, table):
    """for positions after the end of the table, its last row"""
    return x + table[torch.arange(x.size(1)).clamp(max=len(table) - 1)]


def begins_again(x, table):
    """for positions after the end of the table, its first rows again"""
    return x + table[torch.arange(x.size(1)) % len(table)]


def one_number(x, table):
    """adds the number of the position to every feature"""
    if x.size(1) > len(table):
        raise IndexError(f"{x.size(1)} tokens, {len(table)} rows")
    return x + torch.arange(x.size(1))[:, None]


def first_sentence_only(x, table):
    """adds nothing to any sentence except the first"""
    return torch.cat([x[:1] + table[: x.size(1)], x[1:]])


def one_row_late(x, table):
    """gives each token the row of its neighbour"""
    return x + torch.cat([table[1:], table[:1]])[: x.size(1)]


def last_rows(x, table):
    """adds the last rows of the table"""
    if x.size(1) > len(table):
        raise IndexError(f"{x.size(1)} tokens, {len(table)} rows")
    return x + table[len(table) - x.size(1) :]


def turned_round(x, table):
    """gives the rows to the tokens in reverse order"""
    return x + table[: x.size(1)].flip(0) + _too_long(x, table)


def first_row_for_all(x, table):
    """gives every token the first row"""
    return x + table[0] + _too_long(x, table)


def _too_long(x, table):
    """0, or the error of a table that is too short."""
    if x.size(1) > len(table):
        raise IndexError(f"{x.size(1)} tokens, {len(table)} rows")
    return 0


def detects(add_positions):
    """Whether this way of adding a table to the inputs is wrong."""
    x, table = torch.randn(2, 3, 4), torch.randn(5, 4)  # more rows than tokens, and no two sizes alike
    if not torch.allclose(add_positions(x, table), x + table[:3]):
        return True
    try:
        add_positions(torch.randn(2, 6, 4), table)  # more tokens than rows
    except (IndexError, RuntimeError, ValueError):
        return False
    return True


def _said(add_positions, result):
    return (yes_or_no(result),)


my_detects = function(
    "8.4",
    detects,
    as_="my_detects(add_positions)",
    title="A test of positions",
    section="08#text-table",
    probes=[
        (add_positions,)
        for add_positions in (
            *(slices, looks_up, loops, along_the_batch, one_number),
            *(stops_at_the_last_row, begins_again, first_sentence_only, one_row_late, last_rows),
            *(turned_round, first_row_for_all),
        )
    ],
    returns=("the verdict",),
    dtype=torch.float64,
    after=_said,
    shown=lambda add_positions: f"“{add_positions.__doc__}”",
    hints=[
        "For a small table you know the right result: x + table[:n]. Which numbers make every difference visible?",
        "Take random numbers, and sizes that all differ: 2 sentences of 3 tokens with 4 features, 5 rows in the table.",
        "Then call it with more tokens than rows, inside `try`: right code raises an error there, and code that raises "
        "no error is wrong.",
    ],
)


@my_detects.misconception()
def alarm(add_positions):
    """Your test returns True for every function, also for right code.

    Such a test says nothing about any function. For right code it has to return False.
    """
    return True


@my_detects.misconception()
def shapes(add_positions):
    """Your test returns False for every function: all of them return the right shape.

    None of these mistakes changes a shape, and few mistakes in attention do. Compare the numbers.
    """
    return add_positions(torch.randn(2, 3, 4), torch.randn(5, 4)).shape != (2, 3, 4)


def _wrong_rows(add_positions):
    x, table = torch.randn(2, 3, 4), torch.randn(5, 4)
    return not torch.allclose(add_positions(x, table), x + table[:3])


@my_detects.misconception(forms=[lambda add_positions: not _wrong_rows(add_positions)])
def upside_down(add_positions):
    """Your test returns True for right code and False for wrong code.

    True must mean that the code is wrong: `not torch.allclose(…)`. And with more tokens than rows an error is right.
    """
    return not detects(add_positions)


@my_detects.misconception()
def only_whether_they_differ(add_positions):
    """Your test finds only code for which equal tokens stay equal.

    This is code that gives all tokens of a sentence the same row. Your test does not check that each token gets the
    *right* row.
    """
    placed = add_positions(torch.zeros(2, 3, 4), torch.randn(5, 4))
    return torch.allclose(placed[:, 0], placed[:, 1])


@my_detects.misconception()
def ends_with_the_error(add_positions):
    """An error for a text that is too long does not make the code right.

    Your test ends there, before the numbers are compared. Compare them first; then call the function with more tokens
    than rows, where code that raises no error is wrong.
    """
    try:
        add_positions(torch.randn(2, 6, 4), torch.randn(5, 4))
    except (IndexError, RuntimeError, ValueError):
        return False
    return _wrong_rows(add_positions)


def _by(compared):
    """A test as it should be, but for what it compares."""

    def test(add_positions):
        x, table = torch.randn(2, 3, 4), torch.randn(5, 4)
        if not torch.allclose(compared(add_positions(x, table)), compared(x + table[:3]), atol=1e-5):
            return True
        return not _wrong_rows(add_positions) and detects(add_positions)

    return test


@my_detects.misconception()
def first_token_alone(add_positions):
    """Your test looks at the first token only.

    Code that gives every token row 0 gives the first one the right row. Compare all tokens: `x + table[:n]`.
    """
    return _by(lambda rows: rows[:, 0])(add_positions)


@my_detects.misconception()
def never_too_long(add_positions):
    """Your test does not find code that continues after the end of the table.

    Some code raises no error there: it uses the last row for all later positions, or begins again with the first rows.
    Call the function with more tokens than the table has rows, and check that it raises an error.
    """
    return _wrong_rows(add_positions)


@my_detects.misconception(forms=[_by(torch.sum), _by(torch.mean)])
def table_of_equals(add_positions):
    """Your test does not see which row a token gets.

    This happens if all rows of your table are equal, or if you compare only sums. Take random numbers, and compare row
    by row.
    """
    x, table = torch.randn(2, 3, 4), torch.ones(5, 4)
    if not torch.allclose(add_positions(x, table), x + 1):
        return True
    try:
        add_positions(torch.randn(2, 6, 4), table)
    except (IndexError, RuntimeError, ValueError):
        return False
    return True


@my_detects.misconception()
def error_let_through(add_positions):
    """The error that right code raises ends the test.

    With more tokens than rows an error is right. Call the function inside `try`, and return False in `except`.
    """
    add_positions(torch.randn(2, 6, 4), torch.randn(5, 4))
    return True


# ----------------------------------------------------------------------------------------------------------- 8.5

PLACES, SHOWN, SURE = 512, 16, 57  # how far back is tried and shown; how long the query is made before softmax


def _paces(head_dim):
    return 10000.0 ** -(torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)


def _pairs(first, second):
    return torch.stack([first, second], dim=-1).flatten()


def look_back(steps, head_dim):
    angles = steps * 10000.0 ** -(torch.arange(0, head_dim, 2) / head_dim)
    return torch.stack([angles.cos(), -angles.sin()], dim=-1).flatten()  # the key, turned back by so many steps


def _scores_of_distances(head_dim, query):
    """What a query of that direction scores with the key (1, 0) of each pair, 0, 1, 2, … places back."""
    angles = torch.arange(PLACES)[:, None] * _paces(head_dim)
    keys = torch.stack([angles.cos(), -angles.sin()], dim=-1).flatten(1)  # (512, head_dim), as the query sees them
    return keys @ query / query.norm().clamp(min=1e-12)


def _heard(steps, head_dim, query):
    """The scores of the nearest places; those of the library's query where the right place is heard best."""
    try:
        query = torch.as_tensor(query).detach().double().flatten()
    except (TypeError, ValueError, RuntimeError):
        raise Unreadable(f"it returns {kind_of(query)}, where {head_dim} numbers are asked for") from None
    if query.numel() != head_dim:
        raise Unreadable(f"it returns {query.numel()} numbers, where head_dim={head_dim} are asked for")
    scores = _scores_of_distances(head_dim, query)
    if torch.softmax(SURE * scores, dim=0)[steps] > 0.9:
        scores = _scores_of_distances(head_dim, look_back(steps, head_dim).double())
    return (scores[None, :SHOWN],)


looking_back = function(
    "8.5",
    look_back,
    as_="my_look_back(steps, head_dim)",
    title="Any number of steps back",
    section="08#text-by-hand",
    probes=[(2, 8), (3, 16), (5, 16), (9, 12), (12, 32)],
    corner_cases=[(1, 16), (4, 8)],
    random_probes=lambda rng: [(rng.randrange(2, 13), 2 * rng.randrange(5, 17)) for _ in range(2)],
    returns=(f"the row of scores, of distances 0 to {SHOWN - 1},",),
    dtype=torch.float64,
    after=_heard,
    hints=[
        "Begin with one pair. Relative to the query, a key (1, 0) that is `steps` positions back is turned by the "
        "angle −steps · frequency. So it is (cos, −sin) of steps · frequency.",
        "Of all queries with the same norm, the query with the direction of a key has the largest product with this "
        "key.",
        "`angles = steps * frequencies`, with the frequencies of 8.1. Then put (angles.cos(), −angles.sin()) side by "
        "side, as in RoPE.",
    ],
)


@looking_back.misconception()
def ahead(steps, head_dim):
    """The query is turned in the opposite direction: it looks the same number of steps ahead.

    A key further back has been turned *less* than the query, so relative to the query it is turned back: (cos, −sin).
    With (cos, sin) the query looks for a key after it, which the causal mask hides.
    """
    angles = steps * _paces(head_dim)
    return _pairs(angles.cos(), angles.sin())


@looking_back.misconception()
def unturned(steps, head_dim):
    """The query is not turned: every token gives most weight to itself.

    (1, 0) has the direction of the key at distance 0. Keys further back have other directions.
    """
    angles = _paces(head_dim)
    return _pairs(torch.ones_like(angles), torch.zeros_like(angles))


@looking_back.misconception()
def sines_first(steps, head_dim):
    """Sine and cosine have changed places.

    A row of sinusoids begins with the sine. Here a pair is a vector: (1, 0) turned by an angle is (cos, sin), so the
    cosine is the first number.
    """
    angles = steps * _paces(head_dim)
    return _pairs(angles.sin(), angles.cos())


@looking_back.misconception(forms=[lambda steps, head_dim: look_back(steps + 1, head_dim)])
def counted_from_itself(steps, head_dim):
    """The query attends to a position that is wrong by one.

    The token itself is 0 steps back, the one before it 1.
    """
    return look_back(steps - 1, head_dim)


@looking_back.misconception()
def one_pair(steps, head_dim):
    """Only the fastest pair is used, and it makes full turns.

    After 44 steps its direction is nearly the same again, with a difference of 1/56 radian, so far positions get weight
    too. The slower pairs distinguish them, and each pair has to be turned by its own angle.
    """
    query = look_back(steps, head_dim)
    query[2:] = 0
    return query


@looking_back.misconception()
def slowest_pair(steps, head_dim):
    """The slowest pair alone cannot distinguish near positions.

    The score of this query grows with the distance, so it gives most weight to the first token, as in the lesson. Here
    the position is in between, and all pairs are needed to find it.
    """
    query = torch.zeros(head_dim, dtype=torch.float64)
    query[-1] = -1
    return query


@looking_back.misconception()
def power_turned(steps, head_dim):
    """The frequencies grow. They have to fall.

    The minus of the exponent is missing: frequency i is 1 / 10000^(2i / head_dim), as in 8.1.
    """
    angles = steps / _paces(head_dim)
    return _pairs(angles.cos(), -angles.sin())


@looking_back.misconception(telltale_call=(3, 16))
def halves(steps, head_dim):
    """The pairs are one feature of each half.

    That is the other convention. In this exercise a pair is two neighbours: `torch.stack([…, …], dim=-1).flatten()` in
    place of `torch.cat`.
    """
    angles = steps * _paces(head_dim)
    return torch.cat([angles.cos(), -angles.sin()])


@looking_back.misconception(reread="08#text-waves")
def one_pace(steps, head_dim):
    """All pairs are turned by the same angle.

    Each pair has its own frequency, so after `steps` steps it has its own angle: steps · frequency.
    """
    angle = torch.full((head_dim // 2,), float(steps), dtype=torch.float64)
    return _pairs(angle.cos(), -angle.sin())
