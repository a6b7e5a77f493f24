"""What only the board of slowed turning computes: RoPE with other angles. The page's half stands beside it."""

from enum import StrEnum

import torch

from workbench.behind import two_rules

from ..operations import Role, operation


class Way(StrEnum):
    """Which pairs turn more slowly, in the words of the board's menu."""

    ALL = "all pairs alike (interpolation)"
    SLOW = "the slow pairs more (another base)"


@operation
def slowed(learned, *, way, by, alone):
    """Degrees a step of each pair, (pairs, 1): the slowest is slowed `by` times, the fastest `alone` are left alone.

    With another base a pair is slowed the more the slower it is: the exponents of a base grow evenly, from 0 on.
    """
    pairs = torch.arange(len(learned), dtype=learned.dtype)[:, None]
    share = pairs / (len(learned) - 1) if way == Way.SLOW else torch.ones_like(pairs)
    return torch.where(pairs < alone, learned, learned / by**share)


@operation(words=lambda *_: ([], []), kind=lambda *_: "scores")
def scores_by_distance(query, degrees, *, tokens):
    """The score at distance 0, 1, … of a query, (1, features), and the lesson's one key, each turned by its place."""
    angles = torch.arange(tokens, dtype=degrees.dtype) * torch.deg2rad(degrees[:, :1])  # (pairs, tokens)
    x, y = query[0, 0::2, None], query[0, 1::2, None]
    return (x * angles.cos() - y * angles.sin()).sum(dim=0, keepdim=True)


@operation(words=lambda *_: (list(two_rules.RULES), []))
def shares_right(before, first, sentences, w_before, w_first):
    """The share of right answers of each rule in these sentences, by the lesson's `share_of`; scores by distance."""
    places = torch.arange(before.size(1))
    distances = (places[:, None] - places).clamp(min=0)  # what lies ahead is behind the causal mask
    found = {"before": (before, w_before), "first": (first, w_first)}
    shares = [two_rules.share_of(rule, row[0, distances], sentences.long(), w) for rule, (row, w) in found.items()]
    return torch.stack(shares)[:, None]


@operation(role=Role.PICTURE)
def curves_by_distance(before, first, before_learned, first_learned):
    """A picture: the scores of both rules by distance, as they are and, pale, as they were learned."""
    return before.new_empty(0, 0)
