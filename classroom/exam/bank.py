"""Many items from one seed: the same seed gives the same items, on every machine."""

import hashlib
import random

from .item import Coincidence
from .kinds import KINDS

DRAWS = 400  # before a kind is believed to have no more


def mark_of(seed):
    """What stands for a seed where students see it: the seed itself would give the key to whoever has this code."""
    return hashlib.sha256(f"exam {seed}".encode()).hexdigest()[:6]


def drawn(kind, seed, number):
    """The item of that number: numbers are drawn until they serve. Its id is kind-mark-number."""
    id = f"{kind}-{mark_of(seed)}-{number:02}"
    rng = random.Random(f"{kind} {seed} {number}")
    for _ in range(DRAWS):
        try:
            found = KINDS[kind](id, rng)
        except Coincidence:
            continue
        if found:
            return found
    raise RuntimeError(f"{DRAWS} draws brought no numbers that serve for {id}")


def bank(kinds, seed, how_many, lessons=None):
    """{kind: at most so many items, no two alike}, of some lessons only if these are named.

    A kind has fewer where there are no more.
    """
    found = {}
    for kind in kinds:
        unlike, number = {}, 0
        while len(unlike) < how_many and number < DRAWS:
            number += 1
            one = drawn(kind, seed, number)
            if not lessons or one.lesson in lessons:
                unlike.setdefault(content(one), one)
        found[kind] = list(unlike.values())
    return found


def content(item):
    """What two items must not share: the same question with other wrong answers beside it is no second one."""
    return item.parts, item.asks
