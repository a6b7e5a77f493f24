"""Which mask: a situation in words, and the masks that the exercises' known mistakes make of it."""

import torch

from attn_lib import causal_mask, padding_mask, window_mask

from ..item import Option, Table, item, mistaken, wrong


def draw(id, rng):
    """An `Item` about a mask for one of the situations below, or None where too few wrong masks are left."""
    return rng.choice([causal, cached, padded, causal_and_padded, window])(id, rng)


def causal(id, rng):
    """A text that is written from left to right: the causal mask."""
    n = rng.choice([4, 5])
    situation = (
        f"A text of {n} tokens is written from left to right; each token may attend to itself and to those before it."
    )
    return mask_item(id, 3, situation, causal_mask(n), mistaken("3.2", n, n), rng)


def cached(id, rng):
    """New tokens after some whose keys are kept: a causal mask with more columns than rows."""
    new, old = rng.choice([2, 3]), rng.choice([2, 3])
    situation = (
        f"{old} tokens have been read and their keys are kept; {new} more come together. Each of these may attend to "
        "itself and to all tokens before it."
    )
    return mask_item(id, 10, situation, causal_mask(new, new + old), mistaken("3.2", new, new + old), rng)


def padded(id, rng):
    """A padded sentence: a padding mask."""
    n = rng.choice([4, 5])
    real = rng.randint(2, n - 1)
    situation = (
        f"A sentence of {real} tokens has been padded at its end to {n}. No query may attend to the padding; every "
        "query, those of the padding too, may attend to every real token."
    )
    lengths = torch.tensor([real])
    more = "The library's mask has one row, which holds for every query."
    return mask_item(id, 3, situation, padding_mask(lengths, n), mistaken("3.1", lengths, n), rng, more)


def causal_and_padded(id, rng):
    """A padded sentence that is written from left to right: both masks at once."""
    n = rng.choice([4, 5])
    real = rng.randint(2, n - 1)
    situation = (
        f"A sentence of {real} tokens has been padded at its end to {n}. No query may attend to the padding; every "
        "query, those of the padding too, may attend to a real token that is itself or stands before it."
    )
    lengths, past = torch.tensor([real]), causal_mask(n)
    real_keys = padding_mask(lengths, n)
    mistakes = [(past & mask, mistake) for mask, mistake in mistaken("3.1", lengths, n) if is_mask(mask, n, n)]
    mistakes += [(mask & real_keys, mistake) for mask, mistake in mistaken("3.2", n, n) if is_mask(mask, n, n)]
    return mask_item(id, 3, situation, real_keys & past, mistakes, rng)


def window(id, rng):
    """A window of some tokens: the window mask."""
    n, wide = rng.choice([(5, 2), (5, 3), (6, 3), (6, 2), (6, 4)])
    situation = f"A text of {n} tokens; each may attend to the {wide} latest tokens, and is itself one of them."
    return mask_item(id, 10, situation, window_mask(n, n, wide), mistaken("10.3", n, n, wide), rng)


def mask_item(id, lesson, situation, mask, mistakes, rng, more=""):
    """The item for a mask and what mistakes make of it, in a drawn order.

    Left out are results that are no mask of this shape, or the right one, or that hide everything, which needs no
    thought.
    """
    n_queries, n_keys = mask.shape[-2:] if mask.ndim == 2 else (mask.size(-1),) * 2
    right = rows(mask, n_queries, n_keys)
    wrongs = [
        (rows(other, n_queries, n_keys), mistake) for other, mistake in mistakes if is_mask(other, n_queries, n_keys)
    ]
    wrongs = [(other, mistake) for other, mistake in wrongs if other != right and any(map(any, other))]
    rng.shuffle(wrongs)
    wrongs = {mistake: (other, mistake) for other, mistake in wrongs}.values()  # one form of each mistake
    why = f"A row is a query, a column a key; ■ says that the query may attend to the key. {more}".strip()
    parts = (
        situation,
        "In each mask below a row is a query and a column a key; ■ is True, the query may attend to the key.",
    )
    options = [wrong(as_table(other), mistake, other) for other, mistake in wrongs]
    return item(id, lesson, parts, "Which mask does that?", Option(as_table(right), why, value=right), options, rng)


def is_mask(result, n_queries, n_keys):
    """Whether it is a bool mask for one text of these lengths."""
    if not isinstance(result, torch.Tensor) or result.dtype != torch.bool or not 2 <= result.ndim <= 3:
        return False
    one_text = result.ndim == 2 or result.size(0) == 1
    return one_text and all(size in (1, n) for size, n in zip(result.shape[-2:], (n_queries, n_keys), strict=True))


def rows(mask, n_queries, n_keys):
    """The mask for each query and key, as rows of True and False."""
    return tuple(map(tuple, mask.expand(1, n_queries, n_keys)[0].tolist()))


def as_table(mask):
    """A mask's rows of True and False as a `Table` of ■ and ·."""
    return Table("", tuple(tuple("■" if may else "·" for may in row) for row in mask))
