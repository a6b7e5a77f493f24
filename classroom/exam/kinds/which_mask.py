"""Which mask: a situation in words, and masks that known mistakes make of it."""

from attn_lib import causal_mask, padding_mask, window_mask

from ..item import Option, Table, item, misconception, wrong


def draw(id, rng):
    return rng.choice([causal, cached, padded, causal_and_padded, window])(id, rng)


def causal(id, rng):
    n = rng.choice([4, 5])
    mask = rule(n, n, lambda query, key: key <= query)
    told = f"A text of {n} tokens is written from left to right; each token may hear itself and what stands before it."
    wrongs = [
        (rule(n, n, lambda query, key: key < query), misconception("3.2", "no-diagonal")),
        (rule(n, n, lambda query, key: key <= query + 1), misconception("3.2", "one-ahead")),
        (rule(n, n, lambda query, key: key >= query), misconception("3.2", "backwards")),
        (rule(n, n, lambda query, key: key > query), misconception("3.2", "polarity")),
        (rule(n, n, lambda query, key: True), misconception("3.2", "all-open")),
    ]
    return made(id, 3, told, mask, causal_mask(n), wrongs, rng)


def cached(id, rng):
    new, old = rng.choice([2, 3]), rng.choice([2, 3])
    n = new + old
    mask = rule(new, n, lambda query, key: key <= query + old)
    told = (
        f"{old} tokens have been read and their keys are kept; {new} more come together. Each of these may hear itself "
        "and all before it."
    )
    wrongs = [
        (rule(new, n, lambda query, key: key <= query), misconception("3.2", "top-left")),
        (rule(new, n, lambda query, key: key < query + old), misconception("3.2", "no-diagonal")),
        (rule(new, n, lambda query, key: key <= query + old + 1), misconception("3.2", "one-ahead")),
        (rule(new, n, lambda query, key: key > query + old), misconception("3.2", "polarity")),
        (rule(new, n, lambda query, key: True), misconception("3.2", "all-open")),
        (rule(new, n, lambda query, key: key >= query + old), misconception("3.2", "backwards")),
    ]
    return made(id, 10, told, mask, causal_mask(new, n), wrongs, rng)


def padded(id, rng):
    n = rng.choice([4, 5])
    real = rng.randint(2, n - 1)
    mask = rule(n, n, lambda query, key: key < real)
    told = (
        f"A sentence of {real} tokens has been padded at its end to {n}. Nobody may hear the padding; every query, "
        "those of the padding too, may hear every real token."
    )
    wrongs = [
        (rule(n, n, lambda query, key: key >= real), misconception("3.1", "polarity")),
        (rule(n, n, lambda query, key: key <= real), misconception("3.1", "off-by-one")),
        (rule(n, n, lambda query, key: key < real - 1), misconception("3.1", "off-by-one-short")),
        (rule(n, n, lambda query, key: query < real), misconception("3.1", "column")),
        (rule(n, n, lambda query, key: key >= n - real), misconception("3.1", "left")),
        (rule(n, n, lambda query, key: key < real and query < real), misconception("3.1", "queries-masked")),
    ]
    library = padding_mask([real], n)[0].expand(n, n)
    return made(id, 3, told, mask, library, wrongs, rng, "The library's mask has one row, which holds for every query.")


def causal_and_padded(id, rng):
    n = rng.choice([4, 5])
    real = rng.randint(2, n - 1)
    mask = rule(n, n, lambda query, key: key <= query and key < real)
    told = (
        f"A sentence of {real} tokens has been padded at its end to {n}. Nobody may hear the padding; every query, "
        "those of the padding too, may hear every real token that is itself or stands before it."
    )
    wrongs = [
        (rule(n, n, lambda query, key: key < query and key < real), misconception("3.2", "no-diagonal")),
        (rule(n, n, lambda query, key: key <= query and key <= real), misconception("3.1", "off-by-one")),
        (rule(n, n, lambda query, key: key <= query and key < real - 1), misconception("3.1", "off-by-one-short")),
        (rule(n, n, lambda query, key: key >= query and key < real), misconception("3.2", "backwards")),
        (rule(n, n, lambda query, key: key <= query and query < real), misconception("3.1", "queries-masked")),
        (rule(n, n, lambda query, key: not (key <= query and key < real)), misconception("3.2", "polarity")),
    ]
    return made(id, 3, told, mask, padding_mask([real], n)[0] & causal_mask(n), wrongs, rng)


def window(id, rng):
    n, wide = rng.choice([(5, 2), (5, 3), (6, 3), (6, 2), (6, 4)])
    mask = rule(n, n, lambda query, key: query - wide < key <= query)
    told = f"A text of {n} tokens; each may hear the {wide} latest, and is one of them itself."
    wrongs = [
        (rule(n, n, lambda query, key: query - wide <= key <= query), misconception("10.3", "one-too-many")),
        (rule(n, n, lambda query, key: query - wide + 1 < key <= query), misconception("10.3", "one-too-few")),
        (rule(n, n, lambda query, key: abs(query - key) < wide), misconception("10.3", "both-sides")),
        (rule(n, n, lambda query, key: not query - wide < key <= query), misconception("10.3", "polarity")),
        (rule(n, n, lambda query, key: key > query - wide), misconception("10.3", "future-open")),
    ]
    return made(id, 10, told, mask, window_mask(n, n, wide), wrongs, rng)


def rule(queries, keys, may):
    """Rows of True and False by a rule on the places of query and key."""
    return tuple(tuple(bool(may(query, key)) for key in range(keys)) for query in range(queries))


def made(id, lesson, told, mask, library, wrongs, rng, more=""):
    if library.tolist() != [list(row) for row in mask]:
        raise AssertionError(f"{id}: the rule's mask is not the library's")
    wrongs = [one for one in wrongs if any(map(any, one[0]))]  # one that hides everything needs no thought
    rng.shuffle(wrongs)
    right = Option(
        shown(mask), f"A row is a query, a column a key; ■ says that it may hear. {more}".strip(), value=mask
    )
    parts = (
        told,
        "In each mask below a row is a query and a column a key; ■ is True, the query may attend to the key.",
    )
    options = [wrong(shown(rows), said, rows) for rows, said in wrongs]
    return item(id, lesson, parts, "Which mask does that?", right, options, rng)


def shown(mask):
    return Table("", tuple(tuple("■" if may else "·" for may in row) for row in mask))
