"""Many items from one seed: the same seed gives the same items, on every machine."""

import hashlib
import random

from .item import Coincidence
from .kinds import KINDS

DRAWS = 400  # after so many draws without a new item, a kind has no more


def mark_of(seed):
    """What stands for a seed where students see it: the seed itself would give the key to whoever has this code."""
    return hashlib.sha256(f"exam {seed}".encode()).hexdigest()[:6]


def draw(kind, seed, number):
    """The item of that number, drawn until its numbers serve. Its id is kind-mark-number.

    Raises: RuntimeError if none of `DRAWS` draws serves.
    """
    id = f"{kind}-{mark_of(seed)}-{number:02}"
    rng = random.Random(f"{kind} {seed} {number}")
    for _ in range(DRAWS):
        try:
            one = KINDS[kind](id, rng)
        except Coincidence:
            continue
        if one:
            return one
    raise RuntimeError(f"{DRAWS} draws brought no numbers that serve for {id}")


def bank(kinds, seed, how_many, lessons=None):
    """{kind: at most so many items, no two alike}, of some lessons only if these are named.

    A kind has fewer where there are no more.
    """
    items_of = {}
    for kind in kinds:
        unlike, number = {}, 0
        while len(unlike) < how_many and number < DRAWS:
            number += 1
            one = draw(kind, seed, number)
            if not lessons or one.lesson in lessons:
                unlike.setdefault(content(one), one)
        items_of[kind] = list(unlike.values())
    return items_of


def content(item):
    """What makes two items one: the question, whatever wrong answers stand beside it."""
    return item.parts, item.asks
