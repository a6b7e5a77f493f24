"""Grammar: what makes a story of templates sound, as data that a page can read and lay over a text."""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

TRIED = 30  # draws after which a slot is held not to depend on another


@dataclass(frozen=True)
class Grammar:
    """The rules of a language of templates.

    sentences: each a list of forms, as text of words and slots, which have a capital; may: slot → words that may stand
    there; follows: slot → word of all that was drawn → slot → word of all slots; apart: pairs of slots that may not
    hold the same, with an s or without.
    """

    sentences: list
    may: dict
    follows: Callable
    apart: tuple = (("HERO", "FRIEND"), ("THING", "OTHER"))

    def as_data(self):
        """The rules for a page: what follows as tables."""
        forms = [[form.split() for form in sentence] for sentence in self.sentences]
        slots = sorted({part.upper() for form in itertools.chain(*forms) for part in form if part[0].isupper()})
        may = {slot: sorted(self.may[slot]) for slot in slots}
        return {"sentences": forms, "may": may, "follows": _tables(self.follows, may), "apart": list(self.apart)}

    def begins(self, sentences=2):
        """The first sentences of a sound story, as text."""
        r = random.Random(0)
        draws = (
            self.follows({slot: r.choice(sorted(words)) for slot, words in self.may.items()}) for _ in range(TRIED)
        )
        alike = [pair for pair in self.apart if set(pair) <= self.may.keys()]
        sound = (
            slots for slots in draws if all(slots[one].rstrip("s") != slots[other].rstrip("s") for one, other in alike)
        )
        slots = next(sound, {})
        forms = (word for sentence in self.sentences[:sentences] for word in sentence[-1].split())
        return " ".join(slots.get(word.upper(), word) if word[0].isupper() else word for word in forms) if slots else ""


def _tables(follows, may):
    """For each slot that is not drawn: the slots it follows from, and its word for each of their words."""
    r = random.Random(0)
    draws = [{slot: r.choice(words) for slot, words in may.items()} for _ in range(TRIED)]

    def moves(slot, other):
        return any(len({follows(draw | {other: word})[slot] for word in may[other]}) > 1 for draw in draws)

    drawn = [slot for slot in may if all(follows(draw)[slot] == draw[slot] for draw in draws)]
    tables = {}
    for slot in set(may) - set(drawn):
        of = [other for other in drawn if moves(slot, other)]
        each = itertools.product(*(may[other] for other in of))
        table = {" ".join(words): follows(draws[0] | dict(zip(of, words, strict=True)))[slot] for words in each}
        tables[slot] = {"of": of, "table": table}
    return dict(sorted(tables.items()))
