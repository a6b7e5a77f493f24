"""Exercises of notebook 12: one more key, two outputs merged, attention in tiles, and the way back through a block."""

import math
from functools import partial, reduce

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from attn_lib import online
from attn_lib.functional import scaled_dot_product_attention

from ..engine.function import AUTOGRAD, function
from ..engine.probes import normal

# --------------------------------------------------------------------------------------------------------- 12.1


def _step(m, l, o, score, value):
    new_m = torch.maximum(m, score)
    factor, p = torch.exp(m - new_m), torch.exp(score - new_m)
    return new_m, factor * l + p, factor * o + p * value


def _kept(m, l, score, *, seed, width=3):
    """What is kept of a row, the score of the next key, and values with numbers of both signs."""
    numbers = (torch.tensor(float(x)) for x in (m, l, score))
    m, l, score = numbers
    o = normal(width, seed=seed) * l if l else torch.zeros(width)
    return m, l, o, score, normal(width, seed=seed + 1)


def _drawn_rows(rng):
    m = rng.randrange(-3, 4)
    up, down = m + 1 + rng.random(), m - 1 - rng.random()
    return [_kept(m, 1 + 2 * rng.random(), score, seed=rng.randrange(10**6)) for score in (up, down)]


step = function(
    "12.1",
    _step,
    as_="my_step(m, l, o, score, value)",
    title="One more key",
    section="12#three",
    dtype=torch.float64,
    shows=(_step,),
    probes=[
        _kept(2, 1.5, 4, seed=1),
        _kept(4, 2.25, 1, seed=2, width=4),
        _kept(-3, 1.25, -1, seed=3),
        _kept(-1, 3.5, -2, seed=4, width=2),
    ],
    corner_cases=[
        _kept(-math.inf, 0, -2, seed=5),
        _kept(-math.inf, 0, -900, seed=6),
        _kept(-900, 2, -901, seed=7),
        _kept(-900, 2, 900, seed=8),
        _kept(900, 2, -900, seed=9, width=1),
        _kept(3, 1.5, 3, seed=10),
    ],
    random_probes=_drawn_rows,
    returns=("the new m", "the new l", "the new o"),
    numbers=("the new m", "the new l"),
    hints=[
        "Three lines: the new maximum; the factor for the old l and o; and p, e to the power of the new score minus "
        "the new maximum. The factor and p are at most 1.",
        "`torch.maximum(m, score)` is the new m. Multiply the old l and o by e to the power of m minus the new m.",
        "The new key adds p = e^(score − new m) to l, and p times its value to o. Nothing is divided yet.",
    ],
)


def _stepped(m, l, o, score, value, *, on_l=1, on_o=1, top=torch.maximum, p_of=None):
    new_m = top(m, score)
    factor = torch.exp(m - new_m)
    p = torch.exp(score - (new_m if p_of is None else p_of(m, score)))
    return new_m, factor**on_l * l + p, factor**on_o * o + p * value


@step.misconception(reread="12#hide")
def output_not_rescaled(m, l, o, score, value):
    """o is not rescaled.

    l is in the new unit, o in the old one. Both are sums with e to the power of s − m, so both need the factor.
    """
    return _stepped(m, l, o, score, value, on_o=0)


@step.misconception(reread="12#hide")
def sum_not_rescaled(m, l, o, score, value):
    """l is not rescaled.

    o is in the new unit, l in the old one. Both are sums with e to the power of s − m, so both need the factor.
    """
    return _stepped(m, l, o, score, value, on_l=0)


@step.misconception(reread="12#hide")
def neither_rescaled(m, l, o, score, value):
    """Neither l nor o is rescaled when a larger score comes.

    The output still lies between the values, so this mistake is easy to miss.
    """
    return _stepped(m, l, o, score, value, on_l=0, on_o=0)


@step.misconception()
def new_key_rescaled(m, l, o, score, value):
    """The new key is rescaled, too.

    p is e to the power of score minus new m, so it is in the new unit already. Rescale only the old l and o, and then
    add.
    """
    new_m = torch.maximum(m, score)
    factor, p = torch.exp(m - new_m), torch.exp(score - new_m)
    return new_m, factor * (l + p), factor * (o + p * value)


@step.misconception()
def smaller_scores_ignored(m, l, o, score, value):
    """A key whose score is not the largest so far is left out.

    The maximum stays as it is then. But each key adds its p to l, and p times its value to o.
    """
    return _step(m, l, o, score, value) if score > m else (m, l, o)


@step.misconception()
def upside_down(m, l, o, score, value):
    """The factor stands upside down: e to the power of new minus old.

    The maximum never becomes smaller, so e to the power of new minus old is 1 or more, and the old l and o would grow.
    But in a larger unit they have to become smaller: old minus new.
    """
    return _stepped(m, l, o, score, value, on_l=-1, on_o=-1)


@step.misconception()
def old_maximum_forgotten(m, l, o, score, value):
    """The new m is the score of the new key alone; the old maximum is forgotten.

    The output o / l is right as long as nothing overflows, because the unit cancels. But m has to be the largest score
    so far: only then no exponential is above 1.
    """
    return _stepped(m, l, o, score, value, top=lambda m, score: score)


@step.misconception()
def old_maximum_returned(m, l, o, score, value):
    """The returned m is the old one.

    l and o are in units of e to the power of the new maximum, so the next step would rescale them wrongly. Return the
    new maximum.
    """
    return m, *_step(m, l, o, score, value)[1:]


@step.misconception(reread="12#three")
def divided_in_each_step(m, l, o, score, value):
    """o is divided by l in each step, and rescaled again in the next one.

    Divide once, at the very end; until then o is a sum.
    """
    new_m, new_l, new_o = _step(m, l, o, score, value)
    return new_m, new_l, new_o / new_l


@step.misconception(reread="12#three")
def kept_divided(m, l, o, score, value):
    """Your code treats o as divided by l: it multiplies o by l, and divides it again.

    Here o is a sum that is not divided yet, and it has to stay one. Divide once, at the very end.
    """
    new_m, new_l, _ = _step(m, l, o, score, value)
    return new_m, new_l, (torch.exp(m - new_m) * l * o + torch.exp(score - new_m) * value) / new_l


@step.misconception(reread="12#never")
def no_maximum_subtracted(m, l, o, score, value):
    """The new key gets e to the power of its score; the new maximum has to be subtracted from the score first.

    The old l and o are in units of e to the power of m, but the new key is in units of 1. Bring both to the new
    maximum.
    """
    return torch.maximum(m, score), l + torch.exp(score), o + torch.exp(score) * value


@step.misconception(reread="12#merge")
def starts_at_zero(m, l, o, score, value):
    """The maximum never falls below 0.

    With scores around 0 this does not show. If all scores are far below 0, every exponential is 0, and so is l.
    """
    return _stepped(m, l, o, score, value, top=lambda m, score: torch.maximum(m, score).clamp(min=0))


@step.misconception()
def weighed_by_the_old_maximum(m, l, o, score, value):
    """The old maximum is subtracted from the new score.

    The old l and o are in the new unit, and the new key has to be, too: e to the power of score minus new m.
    """
    return _stepped(m, l, o, score, value, p_of=lambda m, score: m)


@step.misconception(reread="12#never")
def never_rescaled(m, l, o, score, value):
    """m stays as it was, and nothing is rescaled.

    The output o / l is then right as long as no score is far above the first. But the exercise asks for an m that is
    the largest score so far.
    """
    p = torch.exp(score - m)
    return m, l + p, o + p * value


@step.misconception()
def new_key_counts_as_one(m, l, o, score, value):
    """The new key counts as 1, whatever its score is.

    It counts as p, e to the power of score minus new m, which is 1 only for the largest score.
    """
    new_m = torch.maximum(m, score)
    factor = torch.exp(m - new_m)
    return new_m, factor * l + 1, factor * o + value


@step.misconception()
def value_not_weighed(m, l, o, score, value):
    """The value is added to o as it is.

    The new key counts in o with the same number p as in l: add p times the value.
    """
    new_m, new_l, _ = _step(m, l, o, score, value)
    return new_m, new_l, torch.exp(m - new_m) * o + value


# --------------------------------------------------------------------------------------------------------- 12.2


def _merge(out_a, lse_a, out_b, lse_b):
    return online.merge_outputs(out_a, lse_a, out_b, lse_b)


def _outputs(*lead, d_v, seed, silent=(), high=0.0, apart=0.0):
    """Two outputs and their lse; of the queries in `silent` the second set has heard nobody."""
    out_a, out_b = normal(*lead, d_v, seed=seed), normal(*lead, d_v, seed=seed + 1)
    lse_a, lse_b = high + 2 * normal(*lead, seed=seed + 2), high - apart + 2 * normal(*lead, seed=seed + 3)
    for i in silent:
        lse_b[..., i], out_b[..., i, :] = -math.inf, 0.0
    return out_a, lse_a, out_b, lse_b


def _nobody():
    out_a, lse_a, out_b, lse_b = _outputs(2, d_v=3, seed=8, silent=(1,))
    lse_a, out_a = lse_a.clone(), out_a.clone()
    lse_a[1], out_a[1] = -math.inf, 0.0
    return out_a, lse_a, out_b, lse_b


def _with_sets_exchanged(out_a, lse_a, out_b, lse_b):
    return out_b, lse_b, out_a, lse_a


_FIRST_SET_SILENT = _with_sets_exchanged(*_outputs(3, d_v=2, seed=33, silent=(1,)))

merge = function(
    "12.2",
    _merge,
    as_="my_merge(out_a, lse_a, out_b, lse_b)",
    title="Two outputs",
    section="12#merge",
    dtype=torch.float64,
    shows=(online.merge_outputs,),
    probes=[_outputs(3, d_v=4, seed=1), _outputs(2, 3, d_v=5, seed=10), _outputs(2, 3, 4, d_v=2, seed=20)],
    corner_cases=[
        _outputs(3, d_v=2, seed=30, silent=(0,)),
        _FIRST_SET_SILENT,
        _outputs(1, d_v=3, seed=36, silent=(0,)),
        _nobody(),
        _outputs(3, d_v=2, seed=40, high=800.0),
        _outputs(3, d_v=2, seed=50, high=-800.0),
        _outputs(2, d_v=3, seed=60, high=800.0, apart=1600.0),
        _with_sets_exchanged(*_outputs(2, d_v=3, seed=70, high=800.0, apart=1600.0)),
    ],
    random_probes=lambda rng: [_outputs(2, rng.randrange(2, 5), d_v=3, seed=rng.randrange(10**6)) for _ in range(2)],
    returns=("the output", "the lse"),
    hints=[
        "An lse is like the score of a whole set. What is softmax of the two?",
        "`torch.logaddexp(a, b)` is ln(eᵃ + eᵇ), without overflow. The weights of the outputs are e to the power of "
        "each lse minus this new lse.",
        "Where both lse are −∞, −∞ − (−∞) is nan: replace the new lse by 0 there, before you subtract.",
    ],
)


def _shared_out(out_a, lse_a, out_b, lse_b, share_a, share_b, lse):
    return share_a[..., None] * out_a + share_b[..., None] * out_b, lse


@merge.misconception(
    forms=[
        lambda out_a, lse_a, out_b, lse_b: (online.merge_outputs(out_a, lse_a, out_b, lse_b)[0], lse_a + lse_b),
    ]
)
def lse_added(out_a, lse_a, out_b, lse_b):
    """The two lse are added.

    They are logarithms, so add their exponentials and take the logarithm of the sum: ln(eᵃ + eᵇ).
    """
    lse = lse_a + lse_b
    return _shared_out(out_a, lse_a, out_b, lse_b, torch.exp(lse_a - lse), torch.exp(lse_b - lse), lse)


@merge.misconception(
    forms=[
        lambda out_a, lse_a, out_b, lse_b: (
            (out_a * torch.exp2(lse_a)[..., None] + out_b * torch.exp2(lse_b)[..., None])
            / (torch.exp2(lse_a) + torch.exp2(lse_b))[..., None],
            torch.logaddexp(lse_a, lse_b),
        )
    ],
    telltale_call=_outputs(3, d_v=4, seed=1),
)
def base_two(out_a, lse_a, out_b, lse_b):
    """Your code takes each lse for a logarithm in base 2.

    These lse are natural logarithms. With 2 in place of e the weights of the outputs are too equal, and the result
    looks nearly right.
    """
    lse = torch.logaddexp2(lse_a, lse_b)
    return _shared_out(out_a, lse_a, out_b, lse_b, torch.exp2(lse_a - lse), torch.exp2(lse_b - lse), lse)


@merge.misconception(
    forms=[lambda out_a, lse_a, out_b, lse_b: ((out_a + out_b) / 2, torch.logaddexp(lse_a, lse_b) - math.log(2))]
)
def plain_mean(out_a, lse_a, out_b, lse_b):
    """You return the plain mean of the two outputs.

    A set with high scores has to get more weight. Its lse tells how much more.
    """
    return (out_a + out_b) / 2, torch.logaddexp(lse_a, lse_b)


@merge.misconception()
def added(out_a, lse_a, out_b, lse_b):
    """The two outputs are added.

    Each output is an average of values already. The output of both sets is an average, too: the two weights sum to 1.
    """
    return out_a + out_b, torch.logaddexp(lse_a, lse_b)


@merge.misconception()
def shared_by_the_logarithms(out_a, lse_a, out_b, lse_b):
    """The lse themselves are used as weights of the outputs.

    An lse is a logarithm, and can be negative. Take exponentials: the weights are softmax of the two lse.
    """
    share = lse_a / (lse_a + lse_b)
    return _shared_out(out_a, lse_a, out_b, lse_b, share, 1 - share, torch.logaddexp(lse_a, lse_b))


@merge.misconception()
def exchanged(out_a, lse_a, out_b, lse_b):
    """The two weights are exchanged.

    Each output goes with its own lse.
    """
    return online.merge_outputs(out_b, lse_a, out_a, lse_b)


@merge.misconception()
def the_larger_one(out_a, lse_a, out_b, lse_b):
    """The new lse is the larger of the two.

    That is the maximum, m. The lse is larger than both: ln(eᵃ + eᵇ).
    """
    return online.merge_outputs(out_a, lse_a, out_b, lse_b)[0], torch.maximum(lse_a, lse_b)


@merge.misconception()
def not_divided(out_a, lse_a, out_b, lse_b):
    """The weights do not sum to 1: they are e to the power of each lse minus the larger lse.

    Divide by the sum of both weights, too; or subtract the new lse and not the larger one.
    """
    top = torch.maximum(lse_a, lse_b)
    top = top.masked_fill(top == -math.inf, 0.0)
    shares = torch.exp(lse_a - top), torch.exp(lse_b - top)
    return _shared_out(out_a, lse_a, out_b, lse_b, *shares, torch.logaddexp(lse_a, lse_b))


def _by_the_larger(out_a, lse_a, out_b, lse_b):
    """As it stands in many books: both in units of the larger one, which is −∞ where nobody was heard."""
    top = torch.maximum(lse_a, lse_b)
    of_a, of_b = torch.exp(lse_a - top), torch.exp(lse_b - top)
    both = of_a + of_b
    return _shared_out(out_a, lse_a, out_b, lse_b, of_a / both, of_b / both, top + both.log())


@merge.misconception(forms=[_by_the_larger], telltale_call=_nobody(), reread="12#merge")
def nobody_is_nan(out_a, lse_a, out_b, lse_b):
    """If a query may attend to no key in both sets, its result is nan.

    −∞ − (−∞) is nan. Replace such an lse by a finite number before you subtract it.
    """
    lse = torch.logaddexp(lse_a, lse_b)
    return _shared_out(out_a, lse_a, out_b, lse_b, torch.exp(lse_a - lse), torch.exp(lse_b - lse), lse)


def _relative_to_the_first(out_a, lse_a, out_b, lse_b, *, guard=lambda lse_a, lse_b: lse_b - lse_a):
    share = torch.exp(guard(lse_a, lse_b))[..., None]
    return (out_a + share * out_b) / (1 + share), lse_a + torch.log1p(share[..., 0])


def _as_in_a_ring(out_a, lse_a, out_b, lse_b):
    """As it stands in public code that passes blocks round a ring."""
    out = out_a - torch.sigmoid(lse_b - lse_a)[..., None] * (out_a - out_b)
    return out, lse_a - torch.nn.functional.logsigmoid(lse_a - lse_b)


def _guarded_by_the_second(out_a, lse_a, out_b, lse_b, *, code):
    """The code, but the first set as it is where the second is silent."""
    out, lse = code(out_a, lse_a, out_b, lse_b)
    silent = lse_b == -math.inf
    return torch.where(silent[..., None], out_a, out), torch.where(silent, lse_a, lse)


@merge.misconception(
    telltale_call=_FIRST_SET_SILENT,
    forms=[
        _as_in_a_ring,
        partial(_guarded_by_the_second, code=_as_in_a_ring),
        partial(_guarded_by_the_second, code=_relative_to_the_first),
    ],
    reread="12#merge",
)
def first_set_silent(out_a, lse_a, out_b, lse_b):
    """If a query may attend to no key of the *first* set, its result is nan, even if it has keys in the second set.

    You always subtract the first lse, which is −∞ there. A loop over blocks begins like this, before any key is read.
    Subtract the larger of the two, or the new lse.
    """
    return _relative_to_the_first(out_a, lse_a, out_b, lse_b)


def _overwritten(out_a, lse_a, out_b, lse_b, *, lost):
    silent = lse_a == -math.inf
    out, lse = online.merge_outputs(out_a, lse_a, out_b, lse_b)
    return (torch.where(silent[..., None], 0.0, out) if lost else out), torch.where(silent, -math.inf, lse)


@merge.misconception(telltale_call=_FIRST_SET_SILENT, forms=[partial(_overwritten, lost=True)], reread="12#merge")
def second_set_lost(out_a, lse_a, out_b, lse_b):
    """If a query may attend to no key of the first set, the second set is lost, too: the lse is −∞.

    If a query has keys in only one set, lse and output are those of this set. Only if *both* lse are −∞, the new one is
    −∞. `nan_to_num`, or a test of the first set only, hides the other case.
    """
    return _overwritten(out_a, lse_a, out_b, lse_b, lost=False)


@merge.misconception(
    telltale_call=_outputs(3, d_v=2, seed=40, high=800.0),
    forms=[
        lambda out_a, lse_a, out_b, lse_b: (
            (out_a * lse_a.exp()[..., None] + out_b * lse_b.exp()[..., None])
            / (lse_a.exp() + lse_b.exp())[..., None].where(lse_a.exp()[..., None] + lse_b.exp()[..., None] > 0, 1.0),
            (lse_a.exp() + lse_b.exp()).log(),
        )
    ],
)
def exponentials_of_large_numbers(out_a, lse_a, out_b, lse_b):
    """The exponentials are taken as they are, and overflow.

    e to the power of 800 is too large for float64, and e to the power of −800 is 0. Subtract a maximum first, as
    `torch.logaddexp` does.
    """
    of_a, of_b = lse_a.exp(), lse_b.exp()
    return _shared_out(out_a, lse_a, out_b, lse_b, of_a / (of_a + of_b), of_b / (of_a + of_b), (of_a + of_b).log())


# --------------------------------------------------------------------------------------------------------- 12.3


def _flash(q, k, v, rows, keys, causal):
    return online.flash_attention(q, k, v, rows=rows, keys=keys, is_causal=causal)[0]


def _tiled(n_q, n_k, rows, keys, causal, *lead, d=4, d_v=3, seed=0, wide=2.0):
    sizes = (*lead, n_q, d), (*lead, n_k, d), (*lead, n_k, d_v)
    q, k, v = (normal(*size, seed=seed + i) for i, size in enumerate(sizes))
    return wide * q, k, v, rows, keys, causal


class _Largest(TorchDispatchMode):
    """Notes the size of the largest tensor of numbers, masks apart, and of the largest that goes into exponentials."""

    def __init__(self):
        super().__init__()
        self.any = self.exponential = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                self.any = max(self.any, tensor.numel())
        if operation.overloadpacket._qualified_op_name.removeprefix("aten::").rstrip("_") in _EXPONENTIALS:
            self.exponential = max(self.exponential, *(arg.numel() for arg in args if isinstance(arg, torch.Tensor)))
        return result


_EXPONENTIALS = "exp", "exp2", "expm1", "special_expm1", "pow", "sigmoid", "logsumexp"
_N_Q, _N_K, _ROWS, _KEYS = 20, 40, 4, 5  # few enough for code that takes one key at a time
_measured = []  # what was measured of the answer that is judged


def _largest(answer):
    """What an answer holds at most, measured once for all questions; keys and values are of two features each."""
    if not _measured:
        args = _tiled(_N_Q, _N_K, _ROWS, _KEYS, False, d=2, d_v=2)
        with _Largest() as largest:
            answer(*(x.double() if isinstance(x, torch.Tensor) else x for x in args))
        _measured.append(largest)
    return _measured[0]


def _holds_no_matrix(answer):
    return _largest(answer).any < _N_Q * _N_K


def _holds_no_row(answer):
    """Whether there is never a block of whole rows, nor a single row of which exponentials are taken at once."""
    largest = _largest(answer)
    return largest.any < _ROWS * _N_K and largest.exponential not in range(_N_K, _N_Q * _KEYS)


def _holds_a_tile_at_most(answer):
    return _largest(answer).exponential <= _ROWS * _KEYS


def _low_scores():
    """All scores are far below 0."""
    q, k, v, *sizes = _tiled(4, 7, 2, 3, False, seed=13)
    return -40 * (1 + q.abs()), 40 * (1 + k.abs()), v, *sizes


_LOW = _low_scores()

flash = function(
    "12.3",
    _flash,
    as_="my_flash(q, k, v, rows, keys, causal)",
    title="Tiles",
    section="12#tiles",
    dtype=torch.float64,
    shows=(_flash, online.flash_attention, online.pass_keys),
    without=("scaled_dot_product_attention", "softmax"),
    probes=[
        _tiled(6, 6, 2, 3, False, seed=1),
        _tiled(5, 7, 2, 3, False, 2, seed=2),
        _tiled(6, 6, 2, 2, True, seed=3),
        _tiled(7, 7, 4, 2, True, 2, seed=4),
        _tiled(7, 7, 2, 3, True, seed=5),
        _tiled(3, 7, 2, 2, True, seed=6),
    ],
    corner_cases=[
        _tiled(7, 4, 2, 3, True, seed=7),  # three queries hear nobody
        _tiled(4, 5, 9, 9, False, 2, seed=8),
        _tiled(5, 8, 2, 3, True, seed=9, wide=300.0),
        _LOW,
        _tiled(2, 23, 2, 3, True, seed=10),  # far more keys than queries, and the other way round
        _tiled(9, 2, 2, 3, True, seed=11),
        _tiled(4, 5, 9, 9, True, 2, 3, seed=12),
    ],
    prepare=lambda answer: _measured.clear(),
    random_probes=lambda rng: [
        _tiled(rng.randrange(4, 7), rng.randrange(7, 10), 2, 3, causal, seed=rng.randrange(10**6))
        for causal in (False, True)
    ],
    invariants=[
        ("it stores the whole matrix of scores at once", _holds_no_matrix),
        ("it stores a whole row of scores at once; it should store only a tile with `keys` columns", _holds_no_row),
        ("it stores more than `rows` × `keys` scores at once", _holds_a_tile_at_most),
    ],
    returns=("the output",),
    hints=[
        "Two loops: over blocks of rows, and inside it over blocks of keys. A slice may go beyond the end: "
        "`k[..., left : left + keys, :]` is then shorter.",
        "Compute m, l and o of each tile, and merge them with those of the earlier tiles of the same rows. "
        "You may use `attn_lib.part` and `attn_lib.merge` for this.",
        "Query i attends to key j if j ≤ i + n_k − n_q. Set the other scores of a tile to −∞. If all scores of a row "
        "so far are −∞, then m is −∞: do not subtract it, or the result is nan. At the end return o / l, and 0 where l "
        "is 0.",
    ],
)


def _in_tiles(
    q,
    k,
    v,
    rows,
    keys,
    causal,
    *,
    scale=None,
    silent=-math.inf,
    hears=None,
    end=None,
    padded=False,
    whole_tiles=False,
    powers=(1, 1),
    care=True,
    divided=True,
    begins=-math.inf,
    moves=True,
):
    """Attention tile by tile with parts to be exchanged; hears(i, j, offset, left) says what a mask lets through."""
    scale = 1 / math.sqrt(q.size(-1)) if scale is None else scale
    (n_q, n_k), outputs = (q.size(-2), k.size(-2)), []
    offset = n_k - n_q
    if padded and n_k % keys:
        more = keys - n_k % keys
        k = torch.cat([k, k.new_zeros(*k.shape[:-2], more, k.size(-1))], dim=-2)
        v = torch.cat([v, v.new_zeros(*v.shape[:-2], more, v.size(-1))], dim=-2)
    for top in range(0, n_q, rows):
        block = q[..., top : top + rows, :] * scale
        i = torch.arange(top, top + block.size(-2))[:, None]
        m, l = torch.full_like(block[..., :1], begins), torch.zeros_like(block[..., :1])
        o = l * v.new_zeros(v.size(-1))
        stop = n_k // keys * keys if whole_tiles else k.size(-2)
        if causal:
            stop = min(stop, int(i[-1]) + offset + 1 if end is None else end(top, rows, keys, offset))
        for left in range(0, stop, keys):
            s = block @ k[..., left : left + keys, :].mT
            j = torch.arange(left, left + s.size(-1))
            if causal:
                open_ = j <= i + offset if hears is None else hears(i, j, offset, left)
                s = s.masked_fill(~open_, silent)
            new_m = torch.maximum(m, s.amax(dim=-1, keepdim=True)) if moves else m
            unit = new_m.masked_fill(new_m == -math.inf, 0.0) if care else new_m
            p, factor = torch.exp(s - unit), torch.exp(m - unit)
            factor = factor if left else torch.ones_like(factor)  # nothing was there
            l, o = factor ** powers[0] * l + p.sum(dim=-1, keepdim=True), factor ** powers[1] * o + p @ v[..., j, :]
            m = new_m
        l = torch.ones_like(l) if not divided else l
        outputs.append(o / (l.masked_fill(l == 0, 1.0) if care else l))
    return torch.cat(outputs, dim=-2)


@flash.misconception()
def padded_with_zeros(q, k, v, rows, keys, causal):
    """You fill the last tile with keys of 0, and these keys count.

    Their score is 0, and e to the power of 0 is 1, so they are added to l. Mask them, or let the last tile be shorter.
    """
    return _in_tiles(q, k, v, rows, keys, causal, padded=True, end=lambda top, rows, keys, offset: 10**9)


@flash.misconception()
def last_keys_left_out(q, k, v, rows, keys, causal):
    """The last keys are left out if they do not fill a tile.

    `n_keys // keys` counts whole tiles only. The last tile may be shorter.
    """
    return _in_tiles(q, k, v, rows, keys, causal, whole_tiles=True)


@flash.misconception(reread="12#tiles")
def stops_too_early(q, k, v, rows, keys, causal):
    """The loop over the keys ends at the last key that the *first* query of a block of rows may attend to.

    The last query of the block may attend to later keys. Skip a tile only if no query of the block may attend to any
    of its keys.
    """
    return _in_tiles(q, k, v, rows, keys, causal, end=lambda top, rows, keys, offset: top + offset + 1)


@flash.misconception(
    forms=[partial(_in_tiles, hears=lambda i, j, offset, left: j <= i, end=lambda top, rows, *_: top + rows)],
    reread="03#text-10",
)
def upper_left(q, k, v, rows, keys, causal):
    """The triangle of the mask begins at the upper left.

    If there are fewer queries than keys, the last query then cannot attend to the last keys. Query i attends to key j
    if j ≤ i + n_k − n_q.
    """
    everywhere = {"end": lambda *_: 10**9}
    return _in_tiles(q, k, v, rows, keys, causal, hears=lambda i, j, offset, left: j <= i, **everywhere)


def _within_a_tile(i, j, offset, left):
    return j - left <= i + offset


@flash.misconception(forms=[partial(_in_tiles, hears=_within_a_tile, end=lambda *_: 10**9)], reread="12#tiles")
def keys_counted_in_a_tile(q, k, v, rows, keys, causal):
    """In the mask a key is counted from the left of its tile.

    The second tile begins with key `keys`, not with key 0: add `left`.
    """
    return _in_tiles(q, k, v, rows, keys, causal, hears=_within_a_tile)


def _after_the_query(i, j, offset, left):
    return j > i + offset


@flash.misconception(forms=[partial(_in_tiles, hears=_after_the_query)], reread="03#text-35")
def polarity(q, k, v, rows, keys, causal):
    """The mask means the opposite: queries attend to later keys only.

    `masked_fill(mask, …)` fills where the mask is True, so it takes the keys that a query may *not* attend to.
    """
    return _in_tiles(q, k, v, rows, keys, causal, hears=_after_the_query, end=lambda *_: 10**9)


@flash.misconception(reread="12#tiles")
def rim_not_masked(q, k, v, rows, keys, causal):
    """The tiles on the diagonal are not masked.

    It is not enough to skip the tiles to the right of the diagonal. In a tile on the diagonal there are keys that some
    of its queries may not attend to.
    """
    return _in_tiles(q, k, v, rows, keys, causal, hears=lambda i, j, offset, left: j >= 0)


@flash.misconception()
def mask_in_the_last_tile_only(q, k, v, rows, keys, causal):
    """Your code masks only the last tile of each block of rows.

    If `rows` is larger than `keys`, the diagonal crosses several tiles of one block of rows.
    """

    def hears(i, j, offset, left):
        last = (int(i[-1]) + offset) // keys * keys
        return (j <= i + offset) | (torch.tensor(left) < last)

    return _in_tiles(q, k, v, rows, keys, causal, hears=hears)


@flash.misconception(
    forms=[partial(_in_tiles, silent=silent, end=lambda *_: 10**9) for silent in (-1e9, torch.finfo(torch.float64).min)]
    + [partial(_in_tiles, silent=-1e4)],
    telltale_call=_tiled(7, 4, 2, 3, True, seed=7),
    reread="12#break-it",
)
def stand_in(q, k, v, rows, keys, causal):
    """You use a large negative number and not −∞.

    A query that may attend to no key then gives all keys the same weight. And a real key with a score below that number
    gets less weight than a masked key.
    """
    return _in_tiles(q, k, v, rows, keys, causal, silent=-1e9)


def _careless(q, k, v, rows, keys, causal):
    """The notebook's own `careless` for `part`; merged and finished with care."""
    outputs, offset = [], k.size(-2) - q.size(-2)
    for top in range(0, q.size(-2), rows):
        parts, i = [], torch.arange(top, min(top + rows, q.size(-2)))[:, None]
        for left in range(0, k.size(-2), keys):
            s = q[..., top : top + rows, :] @ k[..., left : left + keys, :].mT / math.sqrt(q.size(-1))
            j = torch.arange(left, left + s.size(-1))
            s = s.masked_fill(j > i + offset, -math.inf) if causal else s
            m = s.amax(dim=-1, keepdim=True)
            p = torch.exp(s - m)
            parts.append((m, p.sum(dim=-1, keepdim=True), p @ v[..., left : left + keys, :]))
        outputs.append(online.finish(*reduce(online.merge, parts))[0])
    return torch.cat(outputs, dim=-2)


@flash.misconception(
    forms=[partial(_in_tiles, care=False, end=lambda *_: 10**9), _careless],
    telltale_call=_tiled(7, 4, 2, 3, True, seed=7),
    reread="12#break-it",
)
def nobody_is_nan(q, k, v, rows, keys, causal):
    """A query for which all keys so far are masked becomes nan.

    Its maximum is −∞, and −∞ − (−∞) is nan. At the end, 0 divided by 0 is nan, too.
    """
    return _in_tiles(q, k, v, rows, keys, causal, care=False)


@flash.misconception(
    forms=[partial(_in_tiles, powers=powers) for powers in ((0, 1), (0, 0), (-1, -1))], reread="12#hide"
)
def not_rescaled(q, k, v, rows, keys, causal):
    """When the maximum changes from tile to tile, l or o, or both, are not rescaled.

    Tiles need the same factor as single keys: multiply both by e to the power of old maximum minus new maximum.
    """
    return _in_tiles(q, k, v, rows, keys, causal, powers=(1, 0))


@flash.misconception(reread="12#three")
def end_not_divided(q, k, v, rows, keys, causal):
    """o is not divided by l at the end.

    o is a sum over the keys; the output is o / l.
    """
    return _in_tiles(q, k, v, rows, keys, causal, divided=False)


@flash.misconception(
    forms=[partial(_in_tiles, hears=lambda i, j, offset, left: j <= i - i[0] + offset, end=lambda *_: 10**9)]
)
def rows_counted_in_the_tile(q, k, v, rows, keys, causal):
    """In the mask the index of a query is counted from the top of its tile.

    Which keys a query may attend to depends on its index among all queries: add the index of the first row of its
    block.
    """
    return _in_tiles(q, k, v, rows, keys, causal, hears=lambda i, j, offset, left: j <= i - i[0] + offset)


def _blocks_alone(q, k, v, rows, keys, causal, together):
    i, j = torch.arange(q.size(-2))[:, None], torch.arange(k.size(-2))
    mask = j <= i + k.size(-2) - q.size(-2) if causal else j >= 0 * i
    pieces = [
        scaled_dot_product_attention(q, k[..., b, :], v[..., b, :], mask[:, b])[0]
        for b in (slice(left, left + keys) for left in range(0, k.size(-2), keys))
    ]
    return together(torch.stack(pieces), dim=0)


@flash.misconception(forms=[partial(_blocks_alone, together=torch.sum)], reread="12#merge")
def softmax_of_each_tile(q, k, v, rows, keys, causal):
    """Each tile has a softmax of its own, and the outputs are added or averaged.

    Then each block counts the same, whatever its scores are. Merge m, l and o of all tiles, and divide once.
    """
    return _blocks_alone(q, k, v, rows, keys, causal, torch.mean)


@flash.misconception()
def divided_by_d(q, k, v, rows, keys, causal):
    """You divide the scores by d; divide them by √d.

    Either the root is missing, or you divide by √d twice: the queries before the loops, and the scores inside them.
    """
    return _in_tiles(q, k, v, rows, keys, causal, scale=1 / q.size(-1))


@flash.misconception(
    telltale_call=_LOW,
    forms=[partial(_in_tiles, begins=0.0, care=False)],
    reread="12#merge",
)
def starts_at_zero(q, k, v, rows, keys, causal):
    """The maximum begins at 0; it has to begin at −∞.

    With scores around 0 this does not show. If all scores are far below 0, every exponential is 0, and so is l.
    """
    return _in_tiles(q, k, v, rows, keys, causal, begins=0.0)


@flash.misconception(
    telltale_call=_tiled(5, 8, 2, 3, True, seed=9, wide=300.0),
    forms=[partial(_in_tiles, begins=0.0, moves=False, care=False)],
    reread="12#never",
)
def no_maximum_subtracted(q, k, v, rows, keys, causal):
    """You take the exponentials of the scores themselves, and they overflow.

    e to the power of 800 is too large for float64. Subtract the largest score so far first.
    """
    return _in_tiles(q, k, v, rows, keys, causal, begins=0.0, moves=False)


def _triangle_moved(q, k, v, rows, keys, causal, *, by, care=True):
    moved = {"hears": lambda i, j, offset, left: j <= i + offset + by, "end": lambda *_: 10**9}
    return _in_tiles(q, k, v, rows, keys, causal, care=care, **moved)


@flash.misconception(forms=[partial(_triangle_moved, by=-1, care=False)], reread="03#text-10")
def own_key_hidden(q, k, v, rows, keys, causal):
    """A query may not attend to its own key.

    Query i attends to key j if j ≤ i + n_k − n_q. The last of these keys is at its own position, and `<` leaves it out.
    """
    return _triangle_moved(q, k, v, rows, keys, causal, by=-1)


@flash.misconception(reread="03#text-10")
def one_ahead(q, k, v, rows, keys, causal):
    """Each query may attend to one key too many.

    Query i attends to key j if j ≤ i + n_k − n_q. With one key more it sees the next token.
    """
    return _triangle_moved(q, k, v, rows, keys, causal, by=1)


@flash.misconception()
def not_scaled(q, k, v, rows, keys, causal):
    """The scores are not divided by √d.

    Divide them as in notebook 2: tiles do not change this.
    """
    return _in_tiles(q, k, v, rows, keys, causal, scale=1.0)


@flash.misconception(reread="03#text-10")
def future_heard(q, k, v, rows, keys, causal):
    """`causal` is not used: each query attends to later keys, too.

    If `causal` is True, query i attends to key j only if j ≤ i + n_k − n_q.
    """
    return _in_tiles(q, k, v, rows, keys, False)


# --------------------------------------------------------------------------------------------------------- 12.4


def _backward(q, k, v, out, lse, grad_out):
    return online.backward_block(q, k, v, out, lse, grad_out)


def _way_back(n_q, n_k, block, *lead, d=4, d_v=3, seed=0):
    """One block of the keys, and what the way there has left of all of them."""
    q, k, v = (
        normal(*lead, n_q, d, seed=seed),
        normal(*lead, n_k, d, seed=seed + 1),
        normal(*lead, n_k, d_v, seed=seed + 2),
    )
    output, lse = online.flash_attention(q.double(), k.double(), v.double())
    grad_out = normal(*lead, n_q, d_v, seed=seed + 3)
    return q, k[..., block, :], v[..., block, :], output, lse, grad_out


_SQUARE = _way_back(4, 7, slice(2, 6), d=4, d_v=4, seed=30)  # on which a forgotten transpose computes something

backward = function(
    "12.4",
    _backward,
    as_="my_backward_block(q, k, v, out, lse, grad_out)",
    title="The backward pass through a block",
    section="12#way-back",
    dtype=torch.float64,
    shows=(online.backward_block,),
    without=AUTOGRAD,
    probes=[
        _way_back(3, 6, slice(0, 4), seed=1),
        _way_back(4, 7, slice(3, 5), 2, seed=10),
        _way_back(5, 8, slice(2, 8), 2, 3, d=6, seed=20),
        _SQUARE,
    ],
    random_probes=lambda rng: [
        _way_back(3, 7, slice(rng.randrange(3), 5), 2, seed=rng.randrange(10**6)) for _ in range(2)
    ],
    returns=("what the block adds to the gradient of q", "the gradient of k", "the gradient of v"),
    hints=[
        "Use the seven lines of notebook 7 with two changes: how the weights are computed, and what `shared` is.",
        "The weights are e to the power of score − lse, with lse as a column. `shared` is the sum over features of "
        "`out * grad_out`, one number for each query.",
        "`grad_scores = weights * (grad_out @ v.mT - shared) / √d`; then `grad_scores @ k`, `grad_scores.mT @ q` and "
        "`weights.mT @ grad_out`.",
    ],
)


def _back(q, k, v, out, lse, grad_out, *, weights=None, shared=None, there=None, back=None):
    by = 1 / math.sqrt(q.size(-1))
    scores = q @ k.mT * (by if there is None else there(by))
    weights = torch.exp(scores - lse[..., None]) if weights is None else weights(scores, lse)
    grad_weights = grad_out @ v.mT
    own = (out * grad_out).sum(dim=-1, keepdim=True)
    shared = own if shared is None else shared(weights, grad_weights, own)
    grad_scores = weights * (grad_weights - shared) * (by if back is None else back(by))
    return grad_scores @ k, grad_scores.mT @ q, weights.mT @ grad_out


@backward.misconception()
def shared_of_the_block(q, k, v, out, lse, grad_out):
    """`shared` is computed from this block only.

    The mean that is subtracted in a row is over *all* keys, and a block has only some of them. The dot product of `out`
    and `grad_out` is over all.
    """
    return _back(q, k, v, out, lse, grad_out, shared=lambda w, g, own: (w * g).sum(dim=-1, keepdim=True))


@backward.misconception()
def shared_by_all_queries(q, k, v, out, lse, grad_out):
    """`shared` is one number for all queries.

    Without a dim, `.sum()` adds up everything. Each query has its own: `.sum(dim=-1, keepdim=True)`.
    """
    return _back(q, k, v, out, lse, grad_out, shared=lambda w, g, own: own.sum())


@backward.misconception()
def shared_added(q, k, v, out, lse, grad_out):
    """`shared` is added, where it has to be subtracted.

    If one key gains weight, the others lose it: a minus.
    """
    return _back(q, k, v, out, lse, grad_out, shared=lambda w, g, own: -own)


@backward.misconception()
def scores_exponentiated(q, k, v, out, lse, grad_out):
    """The weights are e to the power of the score: the lse is not used.

    Such weights do not sum to 1. The lse is the logarithm of the sum, so subtract it from the score first.
    """
    return _back(q, k, v, out, lse, grad_out, weights=lambda s, lse: torch.exp(s))


@backward.misconception()
def softmax_of_the_block(q, k, v, out, lse, grad_out):
    """The weights are softmax of this block only.

    Use the weights of the whole row: e to the power of score − lse.
    """
    return _back(q, k, v, out, lse, grad_out, weights=lambda s, lse: torch.softmax(s, dim=-1))


@backward.misconception()
def by_the_blocks_maximum(q, k, v, out, lse, grad_out):
    """The weights are e to the power of score minus the block's maximum.

    This is the p of one part: not divided, and with the maximum of this block only. The lse contains maximum and sum of
    the whole row.
    """
    return _back(q, k, v, out, lse, grad_out, weights=lambda s, lse: torch.exp(s - s.amax(dim=-1, keepdim=True)))


@backward.misconception()
def base_two(q, k, v, out, lse, grad_out):
    """The weights are taken in base 2.

    This lse is a natural logarithm: use e, not 2.
    """
    return _back(q, k, v, out, lse, grad_out, weights=lambda s, lse: torch.exp2(s - lse[..., None]))


@backward.misconception(forms=[partial(_back, there=lambda by: 1.0, back=lambda by: 1.0)], reread="07#all-of-it")
def scale_forgotten(q, k, v, out, lse, grad_out):
    """The scale is missing in the backward pass, or everywhere.

    In the forward pass the scores are multiplied by the scale, so in the backward pass their gradient is, too.
    """
    return _back(q, k, v, out, lse, grad_out, back=lambda by: 1.0)


@backward.misconception()
def scale_twice(q, k, v, out, lse, grad_out):
    """The gradient of the scores is scaled twice.

    Multiply it once by 1/√d.
    """
    return _back(q, k, v, out, lse, grad_out, back=lambda by: by**2)


@backward.misconception(reread="02#text-29")
def divided_by_d(q, k, v, out, lse, grad_out):
    """You divide by d, in the scores and in their gradient; divide by √d.

    Either the root is missing, or you divide by √d twice. The lse fits only the scores of the forward pass.
    """
    return _back(q, k, v, out, lse, grad_out, there=lambda by: by**2, back=lambda by: by**2)


@backward.misconception()
def not_shared(q, k, v, out, lse, grad_out):
    """Nothing is subtracted from `grad_out @ v.mT`.

    If one key gains weight, the others lose it. So subtract the weighted mean of the row, `shared`.
    """
    return _back(q, k, v, out, lse, grad_out, shared=lambda w, g, own: 0.0)


@backward.misconception()
def mean_over_features(q, k, v, out, lse, grad_out):
    """`shared` is a mean over the features; it has to be a sum.

    `shared` is the dot product of `out` and `grad_out`.
    """
    return _back(q, k, v, out, lse, grad_out, shared=lambda w, g, own: own / v.size(-1))


def _parts(q, k, v, out, lse, grad_out):
    """The weights, the gradient of the scores, and the right answer."""
    weights = torch.exp(q @ k.mT / math.sqrt(q.size(-1)) - lse[..., None])
    shared = (out * grad_out).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_out @ v.mT - shared) / math.sqrt(q.size(-1))
    return weights, grad_scores, _back(q, k, v, out, lse, grad_out)


@backward.misconception(telltale_call=_SQUARE)
def lse_as_a_row(q, k, v, out, lse, grad_out):
    """lse is subtracted along the keys.

    lse has one number for each query, so it has to be a column: `lse[..., None]`.
    """
    return _back(q, k, v, out, lse, grad_out, weights=lambda s, lse: torch.exp(s - lse[..., None, :]))


@backward.misconception(
    telltale_call=_SQUARE,
    forms=[partial(_back, shared=lambda w, g, own: own[..., 0])],
)
def shared_as_a_row(q, k, v, out, lse, grad_out):
    """`shared` is subtracted along the keys.

    `shared` has one number for each query, so it has to be a column: `.sum(dim=-1, keepdim=True)`.
    """
    return _back(q, k, v, out, lse, grad_out, shared=lambda w, g, own: own.mT)


@backward.misconception(
    telltale_call=_SQUARE,
    forms=[
        lambda q, k, v, out, lse, grad_out: _back(
            q, k, v, out, lse, grad_out, shared=lambda *_: (out * grad_out).sum(dim=-2)
        )
    ],
)
def shared_over_queries(q, k, v, out, lse, grad_out):
    """`shared` is a sum over the queries; it has to be a sum over the features.

    Each query has its own number, the dot product of its `out` and its `grad_out`: `dim=-1`.
    """
    return _back(q, k, v, out, lse, grad_out, shared=lambda *_: (out * grad_out).sum(dim=-2, keepdim=True))


@backward.misconception(
    telltale_call=_SQUARE,
    forms=[lambda q, k, v, out, lse, grad_out: _back(q, k, v, out, lse, grad_out, shared=lambda *_: out @ grad_out.mT)],
)
def shared_of_all_pairs(q, k, v, out, lse, grad_out):
    """`shared` is a matrix product of the `out` of each query with the `grad_out` of every query.

    Only `out` and `grad_out` of the same query belong together: `(out * grad_out).sum(dim=-1, keepdim=True)`.
    """
    return _back(q, k, v, out, lse, grad_out, shared=lambda *_: grad_out @ out.mT)


@backward.misconception(telltale_call=_SQUARE)
def not_transposed(q, k, v, out, lse, grad_out):
    """The gradient of the scores is not transposed for the gradient of k.

    It has one row for each query. The gradient of a key is a sum over the queries: `grad_scores.mT @ q`.
    """
    _, grad_scores, (of_q, _, of_v) = _parts(q, k, v, out, lse, grad_out)
    return of_q, grad_scores @ q, of_v


@backward.misconception(telltale_call=_SQUARE)
def weights_not_transposed(q, k, v, out, lse, grad_out):
    """The weights are not transposed for the gradient of v.

    They have one row for each query. The gradient of a value is a sum over the queries: `weights.mT @ grad_out`.
    """
    weights, _, (of_q, of_k, _) = _parts(q, k, v, out, lse, grad_out)
    return of_q, of_k, weights @ grad_out


@backward.misconception(telltale_call=_SQUARE)
def value_not_transposed(q, k, v, out, lse, grad_out):
    """The values are not transposed for the gradient of the weights.

    The gradient of a weight is the dot product of the `grad_out` of its query with the value of its key:
    `grad_out @ v.mT`.
    """
    weights, _, (*_, of_v) = _parts(q, k, v, out, lse, grad_out)
    shared = (out * grad_out).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_out @ v - shared) / math.sqrt(q.size(-1))
    return grad_scores @ k, grad_scores.mT @ q, of_v


@backward.misconception(telltale_call=_SQUARE, reread="02#text-20")
def key_not_transposed(q, k, v, out, lse, grad_out):
    """The keys are not transposed for the scores.

    A score is the dot product of a query with a key: `q @ k.mT`.
    """
    weights = torch.exp(q @ k / math.sqrt(q.size(-1)) - lse[..., None])
    return _back(q, k, v, out, lse, grad_out, weights=lambda *_: weights)


@backward.misconception()
def lse_added(q, k, v, out, lse, grad_out):
    """You add lse to the scores; subtract it.

    e to the power of lse is the sum of the exponentials of the row. So a weight is e to the power of score *minus* lse.
    """
    return _back(q, k, v, out, lse, grad_out, weights=lambda s, lse: torch.exp(s + lse[..., None]))


@backward.misconception()
def divided_by_lse(q, k, v, out, lse, grad_out):
    """You divide the exponentials by lse itself.

    lse is the logarithm of their sum. Subtract it before the exponential: e to the power of score − lse.
    """
    return _back(q, k, v, out, lse, grad_out, weights=lambda s, lse: torch.exp(s) / lse[..., None])


def _with_scores_gradient(q, k, v, out, lse, grad_out, *, of_q, of_k):
    _, grad_scores, (right_q, right_k, of_v) = _parts(q, k, v, out, lse, grad_out)
    return (
        grad_scores @ q if of_q else right_q,
        grad_scores.mT @ k if of_k else right_k,
        of_v,
    )


@backward.misconception(
    telltale_call=_SQUARE,
    forms=[
        partial(_with_scores_gradient, of_q=of_q, of_k=of_k)
        for of_q, of_k in ((True, True), (True, False), (False, True))
    ],
)
def query_and_key_exchanged(q, k, v, out, lse, grad_out):
    """Query and key are exchanged in the formulas of their gradients, or in one of them.

    The gradient of q is grad_scores times the *keys*. The gradient of k is grad_scores, transposed, times the
    *queries*.
    """
    of_q, of_k, of_v = _back(q, k, v, out, lse, grad_out)
    return of_k, of_q, of_v
