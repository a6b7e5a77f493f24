"""Exercises of notebook 8: sinusoids, RoPE, ALiBi, a test for whoever adds positions, and a query that looks back."""

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
    shows=(position.position_angles, position.sinusoidal_encoding),
    hints=[
        "With 4 features there are two angles for each position: the position times 1, and the position times 0.01.",
        "`torch.arange(0, embed_dim, 2)` is 0, 2, 4, …: that is 2i already. Divided by embed_dim it is the exponent, "
        "with a minus.",
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

    The formula says 2i, where i counts pairs. A loop or `arange` in steps of two has an i that is even already. Nothing
    looks wrong; the later pairs hardly turn at all.
    """
    return _waves(n, _doubled(embed_dim), _doubled(embed_dim))


@sinusoidal_encoding.misconception()
def exponent_halved(n, embed_dim):
    """The exponent is half of what it should be: the frequencies fall too slowly.

    The formula says 2i / embed_dim, where i counts pairs: 0, 1, 2, …. With i / embed_dim the slowest pair turns
    nearly a hundred times as fast as it should.
    """
    return _waves(n, *[_powers(embed_dim, lambda even, d: -even / 2 / d)] * 2)


@sinusoidal_encoding.misconception(
    forms=[lambda n, embed_dim: _waves(n, *[_powers(embed_dim)] * 2, waves=(torch.cos, torch.cos))]
)
def one_wave_twice(n, embed_dim):
    """A pair is twice the same wave.

    It takes the sine *and* the cosine of an angle to know it: one number alone cannot tell a hand that comes up from
    one that goes down, and cos(a − b) no longer comes out.
    """
    return _waves(n, *[_powers(embed_dim)] * 2, waves=(torch.sin, torch.sin))


@sinusoidal_encoding.misconception()
def cosine_of_its_own(n, embed_dim):
    """The cosine has another angle than its sine.

    A pair is the sine and the cosine of *one* angle. With an exponent for each feature, cos(a − b) no longer comes out,
    and dot products depend on where two tokens stand and not only on how far apart.
    """
    return _waves(n, _powers(embed_dim), _powers(embed_dim, lambda even, d: -(even + 1) / d))


@sinusoidal_encoding.misconception(
    forms=[lambda n, embed_dim: _waves(n, *[_powers(embed_dim, lambda even, d: (-even / d).floor())] * 2)]
)
def one_frequency(n, embed_dim):
    """The exponents have been cut off to whole numbers.

    `//`, or a division of integers where it drops what is behind the point, makes 0 of every 2i / embed_dim, and all
    pairs turn alike.
    """
    return _waves(n, *[_powers(embed_dim, lambda even, d: even // d)] * 2)


def _floored(embed_dim, steps):
    return (steps * (-math.log(10000.0) / embed_dim // 2)).exp()


@sinusoidal_encoding.misconception(
    forms=[lambda n, embed_dim: _waves(n, *[_floored(embed_dim, torch.arange(0, embed_dim, 2))] * 2)]
)
def divided_and_floored(n, embed_dim):
    """`a / d // 2` is not a / (d / 2).

    Python works from left to right and `//` rounds down: a negative exponent becomes −1 or less for every pair.
    """
    return _waves(n, *[_floored(embed_dim, torch.arange(0, embed_dim // 2))] * 2)


@sinusoidal_encoding.misconception(
    forms=[
        lambda n, embed_dim: _waves(n, *[_powers(embed_dim, lambda even, d: even / 2 / d)] * 2),
        lambda n, embed_dim: _waves(n, *[_powers(embed_dim, lambda even, d: 2 * even / d)] * 2),
    ]
)
def power_turned(n, embed_dim):
    """The frequencies grow in place of falling.

    The sign of the exponent is lost: the position is divided by 10000 to the power of 2i / embed_dim. Multiplied, each
    step turns the later pairs by thousands of radians, which is noise.
    """
    return _waves(n, *[_powers(embed_dim, lambda even, d: even / d)] * 2)


def _to_the_end(embed_dim, base=10000.0):
    """Frequencies from 1 to 1/10000 itself, the last pair's."""
    return base ** -torch.linspace(0, 1, embed_dim // 2, dtype=torch.float64)


@sinusoidal_encoding.misconception(telltale_call=(3, 10))
def spread_to_the_end(n, embed_dim):
    """The slowest pair turns 10000 times as slowly as the first, and the others lie between.

    With 2i / embed_dim the exponent never reaches 1. Divided by the number of pairs less one it does: so have it the
    first public code of the transformer and what was copied from it.
    """
    return _waves(n, *[_to_the_end(embed_dim)] * 2)


def _with_base(n, embed_dim, *, base):
    return _waves(n, *[base ** -(torch.arange(0, embed_dim, 2, dtype=torch.float64) / embed_dim)] * 2)


@sinusoidal_encoding.misconception(forms=[partial(_with_base, base=base) for base in (1e5, 5e5, 1e6)])
def another_base(n, embed_dim):
    """The base is not 10000.

    With a smaller one the slow pairs come round sooner, with a larger one later. The formula has 10000.
    """
    return _with_base(n, embed_dim, base=1000.0)


@sinusoidal_encoding.misconception()
def first_row_empty(n, embed_dim):
    """The first row is 0.

    So is a table in which number 0 means padding. Here row 0 belongs to the first token: sines of 0 and cosines of 1.
    """
    return position.sinusoidal_encoding(n, embed_dim) * (torch.arange(n) > 0)[:, None]


@sinusoidal_encoding.misconception()
def from_one(n, embed_dim):
    """Positions are counted from 1.

    The first token stands at 0, whose row is 0, 1, 0, 1, … Differences are the same; the rows of a trained model are
    not.
    """
    return position.sinusoidal_encoding(n + 1, embed_dim)[1:]


@sinusoidal_encoding.misconception(forms=[lambda n, embed_dim: _waves(n, *[_powers(embed_dim) * 180 / math.pi] * 2)])
def degrees(n, embed_dim):
    """The angles were converted between degrees and radians.

    torch's sine and cosine take radians, and so does the formula: one step turns the first pair by 1, which is 57
    degrees. There is nothing to convert.
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
    shows=(position.position_angles, position.rotary),
    hints=[
        "Angles as in 8.1, but of the positions start, start + 1, …: their shape is (n, head_dim / 2), which fits "
        "every sentence and every head.",
        "`x[..., 0::2]` are the first ones of all pairs, `x[..., 1::2]` the second ones. Turn them by the formula.",
        "`torch.stack([…, …], dim=-1).flatten(-2)` puts the two back side by side, pair by pair.",
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

    That is the other convention, right by itself and used by much public code. Here a pair is two neighbours: weights
    that were trained for the one are wrong with the other.
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

    Neighbours go with angles that are repeated one by one, halves with angles that are written twice in a row. Mixed,
    the two numbers of a pair get different angles: that is no turning, and the scores are no longer relative.
    """
    angles = _angles(x, start).repeat_interleave(2, dim=-1)
    return x * angles.cos() + _half_exchanged(x) * angles.sin()


@rotary.misconception(telltale_call=_heads(1, 2, 5, 8, start=3))
def start_forgotten(x, start=0):
    """The positions begin at 0, whatever start says.

    For a whole text that is right. A model that writes hands over its newest token alone, and it then stands at 0 each
    time.
    """
    return position.rotary(x)


@rotary.misconception()
def backwards(x, start=0):
    """It is turned the other way round.

    The scores are the same if queries and keys both are, but in trained weights the way round is fixed. The minus
    belongs to the first of the two: x cos − y sin.
    """
    return _neighbours(x, -_angles(x, start))


@rotary.misconception()
def sign_lost(x, start=0):
    """Both of a pair are added up: that is no turning.

    x cos − y sin, and x sin + y cos: without the minus lengths change with the position.
    """
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = _angles(x, start).cos(), _angles(x, start).sin()
    return torch.stack([a * cos + b * sin, a * sin + b * cos], dim=-1).flatten(-2)


@rotary.misconception()
def one_pace(x, start=0):
    """All pairs turn at the same pace.

    One angle a step comes round after six or seven tokens, and then far looks like near. Each pair has a frequency of
    its own.
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

    Models for long texts take 500000 or more, and their slow pairs turn more slowly. Here it is 10000, as in the
    lesson.
    """
    return _at_paces(x, start, paces=lambda d: 1e6 ** -(torch.arange(0, d, 2) / d))


@rotary.misconception(telltale_call=_heads(2, 1, 3, 10, start=1))
def spread_to_the_end(x, start=0):
    """The slowest pair turns 10000 times as slowly as the first, and the others lie between.

    With 2i / head_dim the exponent never reaches 1: `linspace(0, 1, …)` does.
    """
    return _at_paces(x, start, paces=_to_the_end)


@rotary.misconception()
def exponent_halved(x, start=0):
    """The exponent is half of what it should be: the pairs turn too fast.

    The formula says 2i / head_dim, where i counts pairs: 0, 1, 2, …. With i / head_dim half of it is left.
    """
    return _at_paces(x, start, paces=lambda d: 10000.0 ** -(torch.arange(d // 2) / d))


@rotary.misconception(telltale_call=_heads(2, 3, 4, 6))
def exponent_doubled(x, start=0):
    """The exponent is doubled: the pairs turn too slowly.

    `arange(0, head_dim, 2)` is 2i already. Times 2 once more the later pairs hardly turn at all.
    """
    return _at_paces(x, start, paces=lambda d: 10000.0 ** -(2 * torch.arange(0, d, 2) / d))


@rotary.misconception(
    telltale_call=_heads(2, 3, 4, 6),
    forms=[lambda x, start=0: _part_turned(x, start, halves=True), lambda x, start=0: _part_turned(x, start, share=4)],
)
def part_turned(x, start=0):
    """Only a part of the features is turned.

    Some models leave the rest as it is, on purpose. Here every pair of a head is turned.
    """
    return _part_turned(x, start)


def _part_turned(x, start, *, share=2, halves=False):
    width = max(2, x.size(-1) // share // 2 * 2)
    return torch.cat([position.rotary(x[..., :width], start, halves=halves), x[..., width:]], dim=-1)


@rotary.misconception()
def sine_and_cosine_exchanged(x, start=0):
    """Sine and cosine have changed places.

    At position 0 nothing is turned: there the cosine is 1 and the sine 0. x cos − y sin, and x sin + y cos.
    """
    return _neighbours(x, math.pi / 2 - _angles(x, start))


@rotary.misconception()
def over_all_heads(x, start=0):
    """The frequencies run through all heads.

    Each head has its own head_dim features and begins again with the fastest pair. Laid out over embed_dim, the last
    heads hardly turn and cannot tell neighbours apart.
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
    """One number of each pair is made of the other one's *new* value.

    Both need both old ones. Once `x[..., 0::2]` has been written over, the old one is gone; a slice is a view, not a
    copy. Compute both before you assign either, as in `a, b = a * cos - b * sin, a * sin + b * cos`.
    """
    return _second_from_new(x, _angles(x, start))


@rotary.misconception()
def not_interleaved(x, start=0):
    """The turned numbers are right, and not back in their places.

    `torch.cat` puts all first ones in front and all second ones behind. A pair's two have to stand side by side again:
    `torch.stack([…, …], dim=-1).flatten(-2)`.
    """
    return torch.cat(_turned(x[..., 0::2], x[..., 1::2], _angles(x, start)), dim=-1)


@rotary.misconception()
def along_the_heads(x, start=0):
    """It is turned by the number of the head, not of the token.

    x is (batch, heads, n, head_dim): the tokens are next to last. Code for (batch, n, heads, head_dim) fits too, and
    turns along the wrong axis.
    """
    return position.rotary(x.transpose(1, 2), start).transpose(1, 2)


@rotary.misconception()
def from_one(x, start=0):
    """Positions are counted from 1.

    The first token stands at start, and at 0 nothing is turned. Scores are the same if queries and keys both are one
    further on, but cached keys are not.
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
        "Distances first: a table (n_queries, n_keys). The last query stands at the last key; where does the first?",
        "With 8 heads the slopes are 2 to the power of −1, −2, …, −8; with 4 heads −2, −4, −6, −8.",
        "For 6 heads: the slopes of 4, then the 1st and the 3rd of those of 8. In general: of the largest power of two "
        "that fits, then every second one of twice as many.",
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

    Counted from 0, the powers are 0, −1, −2, …. The paper's begin one step further: with 8 heads 1/2, …, 1/256.
    """
    steps = torch.arange(num_heads) * (8 / num_heads)
    return -_distances(n_queries, n_keys) * (0.5**steps)[:, None, None]


@alibi_bias.misconception(telltale_call=(6, 3, 4))
def powers_of_two_only(num_heads, n_queries, n_keys):
    """The slopes are right only where the number of heads is a power of two.

    For other numbers the formula 2^(−8h / heads) can be computed and runs, but models were trained with the slopes of
    the next smaller power of two, and every second one of the next larger.
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
    """The slopes fall by the same factor, however many heads there are.

    With 8 heads each is half of the one before. With 4 it is a quarter, since the exponents always end at −8: the step
    between them is 8 / heads.
    """
    return _steps_of(num_heads, n_queries, n_keys, step=1)


@alibi_bias.misconception()
def sum_of_places(num_heads, n_queries, n_keys):
    """The places of query and key are added, where their distance is asked for.

    A token then pays for standing late, and not for standing far away. Distance is query minus key, without its sign.
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
    """Slope is multiplied by the key's place, for every query alike.

    Added to a whole row, behind a causal mask and a softmax, that comes to the same, and some models do it. Here the
    price is asked for: −slope times distance, 0 at the token itself.
    """
    return _by_the_key(num_heads, n_queries, n_keys)


def _by_the_key(num_heads, n_queries, n_keys):
    return (torch.arange(n_keys) * _slopes(num_heads)).expand(num_heads, n_queries, n_keys)


@alibi_bias.misconception(reread="03#text-10")
def future_hidden(num_heads, n_queries, n_keys):
    """Keys ahead of the query get −∞: a causal mask is in it.

    Here the price alone is asked for, ahead as behind; who hides the future adds a mask.
    """
    ahead = torch.arange(n_keys) > torch.arange(n_queries)[:, None] + n_keys - n_queries
    return position.alibi_bias(num_heads, n_queries, n_keys).masked_fill(ahead, -math.inf)


@alibi_bias.misconception()
def sorted_slopes(num_heads, n_queries, n_keys):
    """The slopes are right, in another order.

    For 6 heads those of 4 come first and the two that are left behind them. Sorted, each head of a trained model gets
    another's price.
    """
    slopes = _slopes(num_heads).sort(dim=0, descending=True).values
    return -_distances(n_queries, n_keys) * slopes


@alibi_bias.misconception()
def rewarded(num_heads, n_queries, n_keys):
    """Distance is rewarded.

    The sign is lost: what is far away gets a higher score. A price is taken off.
    """
    return -position.alibi_bias(num_heads, n_queries, n_keys)


@alibi_bias.misconception(telltale_call=(4, 2, 5), reread="03#text-10")
def top_left(num_heads, n_queries, n_keys):
    """With fewer queries than keys the distances are counted from the wrong place.

    The queries are then the newest tokens, and the last one stands at the last key. Counted from 0, each is taken for
    one of the oldest.
    """
    distances = (torch.arange(n_queries)[:, None] - torch.arange(n_keys)).abs()
    return -distances * _slopes(num_heads)


@alibi_bias.misconception()
def signed(num_heads, n_queries, n_keys):
    """Keys ahead of the query get a reward.

    Query minus key is negative there, and the price becomes a gift. Behind a causal mask nobody sees it; without one
    every token listens to the end of the text.
    """
    return -_signed(n_queries, n_keys) * _slopes(num_heads)


@alibi_bias.misconception()
def free_ahead(num_heads, n_queries, n_keys):
    """Keys ahead of the query cost nothing.

    Behind a causal mask nobody sees it. Without one, distance has its price in both directions: it is the difference of
    the two positions, without its sign.
    """
    return -_signed(n_queries, n_keys).clamp(min=0) * _slopes(num_heads)


@alibi_bias.misconception()
def keys_only(num_heads, n_queries, n_keys):
    """Every query gets the same row.

    That is how the paper's own code does it, for behind a causal mask softmax does not see what is added to a whole
    row. Here the price is asked for: 0 at the token itself.
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
    """a row for each sentence"""
    return x + table[: x.size(0), None]


def stops_at_the_last_row(x, table):
    """beyond the table its last row"""
    return x + table[torch.arange(x.size(1)).clamp(max=len(table) - 1)]


def begins_again(x, table):
    """beyond the table its first rows again"""
    return x + table[torch.arange(x.size(1)) % len(table)]


def one_number(x, table):
    """the position's number, to every feature"""
    if x.size(1) > len(table):
        raise IndexError(f"{x.size(1)} tokens, {len(table)} rows")
    return x + torch.arange(x.size(1))[:, None]


def first_sentence_only(x, table):
    """nothing for any sentence but the first"""
    return torch.cat([x[:1] + table[: x.size(1)], x[1:]])


def one_row_late(x, table):
    """each token gets its neighbour's row"""
    return x + torch.cat([table[1:], table[:1]])[: x.size(1)]


def last_rows(x, table):
    """the last rows of the table"""
    if x.size(1) > len(table):
        raise IndexError(f"{x.size(1)} tokens, {len(table)} rows")
    return x + table[len(table) - x.size(1) :]


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
        )
    ],
    returns=("the verdict",),
    dtype=torch.float64,
    after=_said,
    shown=lambda add_positions: f"“{add_positions.__doc__}”",
    hints=[
        "What should come out is easily written down for a small table: x + table[:n]. Which numbers make every "
        "difference visible?",
        "Random numbers, and no two sizes alike: 2 sentences of 3 tokens with 4 features, 5 rows in the table.",
        "Then call it with more tokens than rows, inside `try`: right code raises an error there, and one that goes on "
        "is wrong.",
    ],
)


@my_detects.misconception()
def alarm(add_positions):
    """It says True to everything, to right code too.

    A fire alarm that never stops is no alarm. Right code has to get False.
    """
    return True


@my_detects.misconception()
def shapes(add_positions):
    """It says False to everything: the shape is right in all of them.

    None of these faults changes a shape, and nearly none of the faults of attention does. Compare numbers.
    """
    return add_positions(torch.randn(2, 3, 4), torch.randn(5, 4)).shape != (2, 3, 4)


def _wrong_rows(add_positions):
    x, table = torch.randn(2, 3, 4), torch.randn(5, 4)
    return not torch.allclose(add_positions(x, table), x + table[:3])


@my_detects.misconception(forms=[lambda add_positions: not _wrong_rows(add_positions)])
def upside_down(add_positions):
    """It says True of what is right and False of what is wrong.

    True is to be the alarm: `not torch.allclose(…)`. And with more tokens than rows an error is the right answer.
    """
    return not detects(add_positions)


@my_detects.misconception()
def only_whether_they_differ(add_positions):
    """It notices only where equal tokens stay equal.

    That catches those who give all tokens of a sentence the same row. Whether it is the *right* row for each goes
    unasked.
    """
    placed = add_positions(torch.zeros(2, 3, 4), torch.randn(5, 4))
    return torch.allclose(placed[:, 0], placed[:, 1])


@my_detects.misconception()
def never_too_long(add_positions):
    """Whoever goes on behind the end of the table goes unnoticed.

    Some code does, as if nothing had happened: with the last row for all the rest, or with the first rows again. Hand
    over more tokens than the table has rows, and see whether an error is raised.
    """
    return _wrong_rows(add_positions)


@my_detects.misconception()
def table_of_equals(add_positions):
    """Which row a token gets makes no difference to it.

    So it is where all rows of the table are alike, or are only added up. Take random numbers, and compare row by row.
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

    With more tokens than rows an error is the right answer. Call it inside `try`, and say False in `except`.
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
        "One pair first. A key (1, 0) that stands so many places back has, seen from the query, been turned back by as "
        "many angles: it points to (cos, −sin) of steps · pace.",
        "Of all queries of one length, the one that points where a key points has the largest product with it.",
        "`angles = steps * paces`, with the paces of 8.1, and then the pairs (angles.cos(), −angles.sin()) side by "
        "side, as in RoPE.",
    ],
)


@looking_back.misconception()
def ahead(steps, head_dim):
    """The query is turned the other way: it looks as many steps ahead.

    From the query's place a key further back has been turned *less* than the query, so it seems turned back: (cos,
    −sin). With (cos, sin) the key would have to stand in the future, which the causal mask hides.
    """
    angles = steps * _paces(head_dim)
    return _pairs(angles.cos(), angles.sin())


@looking_back.misconception()
def unturned(steps, head_dim):
    """The query is not turned: every token hears itself best.

    (1, 0) points where the key at distance 0 points. What lies further back has been turned away from it.
    """
    angles = _paces(head_dim)
    return _pairs(torch.ones_like(angles), torch.zeros_like(angles))


@looking_back.misconception()
def sines_first(steps, head_dim):
    """Sine and cosine have changed places.

    A row of sinusoids begins with the sine. Here a pair is an arrow, and the key (1, 0) turned by an angle is the
    cosine first.
    """
    angles = steps * _paces(head_dim)
    return _pairs(angles.sin(), angles.cos())


@looking_back.misconception(forms=[lambda steps, head_dim: look_back(steps + 1, head_dim)])
def counted_from_itself(steps, head_dim):
    """It hears a place that is one beside the right one.

    The token itself is 0 steps back, the one before it 1.
    """
    return look_back(steps - 1, head_dim)


@looking_back.misconception()
def one_pair(steps, head_dim):
    """Only the fastest pair is used, and its angle comes round.

    After 44 steps it points as it did before, to a fiftieth of a radian: far places are heard as well. The slower pairs
    tell them apart, and each of them has to be turned by its own angle.
    """
    query = look_back(steps, head_dim)
    query[2:] = 0
    return query


@looking_back.misconception()
def slowest_pair(steps, head_dim):
    """The slowest pair alone is no judge of near places.

    That query rises with distance and hears the first token best, as in the lesson. Here a place in between is asked
    for: all pairs have to agree on it.
    """
    query = torch.zeros(head_dim, dtype=torch.float64)
    query[-1] = -1
    return query


@looking_back.misconception(telltale_call=(3, 16))
def halves(steps, head_dim):
    """The pairs are one feature of each half.

    That is the other convention. Here a pair is two neighbours: `torch.stack([…, …], dim=-1).flatten()` in place of
    `torch.cat`.
    """
    angles = steps * _paces(head_dim)
    return torch.cat([angles.cos(), -angles.sin()])


@looking_back.misconception(reread="08#text-waves")
def one_pace(steps, head_dim):
    """All pairs are turned by the same angle.

    Each pair has a pace of its own, and after so many steps an angle of its own: steps · pace.
    """
    angle = torch.full((head_dim // 2,), float(steps), dtype=torch.float64)
    return _pairs(angle.cos(), -angle.sin())
