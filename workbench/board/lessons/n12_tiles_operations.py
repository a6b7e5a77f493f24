"""What only the board of notebook 12 computes: rows of scores heard tile by tile. The page's half stands beside it."""

import math
from enum import StrEnum

import torch

from attn_lib.online import finish

from ..operations import column_words, operation, row_words, same_words


class Order(StrEnum):
    """In which order blocks of keys are read, in the words of the board's menu."""

    FORWARDS = "forwards"
    BACKWARDS = "backwards"
    LARGEST_FIRST = "largest first"


class Mask(StrEnum):
    """Which keys nobody hears, in the words of the board's menu."""

    NONE = "none"
    CAUSAL = "causal"
    FIRST_TWO_KEYS = "first two keys"


class Fault(StrEnum):
    """What can be wrong with softmax in passing, in the words of the board's menu."""

    NONE = "none"
    NO_FACTOR_ON_O = "factor missing on o"
    NO_FACTOR_ON_L = "factor missing on ℓ"
    NO_FACTOR = "factor missing on both"
    UPSIDE_DOWN = "factor upside down"
    CARELESS = "no care for −∞"
    STAND_IN = "−10000 for −∞"


POWERS = {  # of the factor on o and on l; 1 and 1 where a fault leaves them alone
    Fault.NO_FACTOR_ON_O: (0, 1),
    Fault.NO_FACTOR_ON_L: (1, 0),
    Fault.NO_FACTOR: (0, 0),
    Fault.UPSIDE_DOWN: (-1, -1),
}


def _reading(sorting, mask, rows, keys, order, first):
    """Where the blocks of keys begin that are read, in order, for the rows from `first` on.

    Those behind the last key that anybody hears are spared, as in `pass_keys`. Which is the largest, the scores
    `sorting` say: those at the start, so that a score changed later may be read late all the same.
    """
    heard = mask[first : first + rows].bool()
    lefts = list(range(0, int(heard.any(dim=0).nonzero().max()) + 1, keys)) if heard.any() else []
    if order == Order.LARGEST_FIRST:
        open_ = sorting[first : first + rows].masked_fill(~heard, -math.inf)
        return sorted(lefts, key=lambda left: -open_[:, left : left + keys].max().item())
    return lefts if order == Order.FORWARDS else lefts[::-1]


def _states(scores, values, heard, lefts, keys, fault):
    """(m, l, o) of one query after each of these blocks."""
    on_o, on_l = POWERS.get(fault, (1, 1))
    silent, states = -1e4 if fault == Fault.STAND_IN else -math.inf, []
    for left in lefts:
        s = scores[left : left + keys].masked_fill(~heard[left : left + keys].bool(), silent)
        before = states[-1] if states else (s.new_tensor(-math.inf), s.new_zeros(()), values.new_zeros(values.size(1)))
        m = torch.maximum(before[0], s.max())
        unit = m if fault == Fault.CARELESS or m > -math.inf else torch.zeros_like(m)
        p, factor = torch.exp(s - unit), torch.exp(before[0] - unit)
        scaled = (factor**on_l * before[1], factor**on_o * before[2]) if states else before[1:]
        states.append((m, scaled[0] + p.sum(), scaled[1] + p @ values[left : left + keys]))
    return states


@operation
def who_hears(a, *, which):
    """A mask of the size of a: nobody's, the future's, or that of the first two keys."""
    queries, keys = torch.arange(a.size(0))[:, None], torch.arange(a.size(1))
    heard = {Mask.NONE: keys >= 0, Mask.CAUSAL: keys <= queries, Mask.FIRST_TWO_KEYS: keys >= 2}
    return heard[which].expand(a.shape).double()


@operation(words=same_words)
def tiles_now(scores, mask, sorting, *, rows, keys, order, read):
    """Of each place's tile: as which of its rows it was read, counted from 1, 0 if it will be; nan if it is spared.

    A place that is masked in a tile that is not spared is −∞, as its score is then.
    """
    places = torch.full_like(scores, math.nan)
    for first in range(0, scores.size(0), rows):
        for place, left in enumerate(_reading(sorting, mask, rows, keys, order, first), start=1):
            tile = slice(first, first + rows), slice(left, left + keys)
            places[tile] = torch.where(mask[tile].bool(), place if place <= read else 0, -math.inf)
    return places


@operation
def passing(scores, values, mask, sorting, *, query, rows, keys, order, read, fault=Fault.NONE):
    """A query's m, l and o, a row for each block of keys; rows of blocks that it has not read are nan."""
    film = torch.full((math.ceil(scores.size(1) / keys), 2 + values.size(1)), math.nan, dtype=scores.dtype)
    lefts = _reading(sorting, mask, rows, keys, order, query // rows * rows)[:read]
    for row, (m, l, o) in zip(film, _states(scores[query], values, mask[query], lefts, keys, fault), strict=False):
        row[:] = torch.cat([m[None], l[None], o])
    return film


@operation
def output_so_far(film):
    """o / l in the last row that is there, or 0 while nobody was heard."""
    there = film[~film.isnan().all(dim=1)]
    return (
        finish(*(there[-1:, part] for part in (slice(0, 1), slice(1, 2), slice(2, None))))[0]
        if len(there)
        else (torch.zeros_like(film[:1, 2:]))
    )


@operation(words=row_words)
def outputs_in_tiles(scores, values, mask, sorting, *, rows, keys, order, fault=Fault.NONE):
    """The output of every query when all its tiles were read."""
    outputs = torch.zeros(scores.size(0), values.size(1), dtype=scores.dtype)
    for query in range(scores.size(0)):
        lefts = _reading(sorting, mask, rows, keys, order, query // rows * rows)
        for m, l, o in _states(scores[query], values, mask[query], lefts, keys, fault)[-1:]:
            outputs[query] = finish(m[None], l[None], o)[0]
    return outputs


@operation(words=column_words)
def bytes_moved(tiles, values, *, rows):
    """Bytes of two-byte numbers: of all tiles that are not spared, rows outside, and of the whole matrix."""
    (n, m), d = tiles.shape, values.size(1)
    read = int((~tiles[::rows].isnan()).sum())  # keys: in each block of rows those of its tiles
    own = n * 2 * d + n  # queries, outputs and one number of each row
    return torch.tensor([[2.0 * (own + read * 2 * d), 2.0 * (4 * n * m + 2 * (n + m) * d)]], dtype=tiles.dtype)
