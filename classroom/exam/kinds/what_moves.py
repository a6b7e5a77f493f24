"""What moves if: one thing of one token is changed, and the question is whose outputs change."""

import torch

from attn_lib import causal_mask, padding_mask, scaled_dot_product_attention, window_mask

from ..item import Option, item, new_mistake, slip, wrong

CHANGED = {
    "input": "the input of token {0} (its query, key and value all come from it)",
    "query": "the query of token {0}",
    "key": "the key of token {0}",
    "value": "the value of token {0}",
}

WHY = {
    "input": "An output changes if its query may attend to token {0}, or is asked by it and has more than one key.",
    "query": "A query is asked by its own token alone; it moves the weights where there is more than one key.",
    "key": "An output changes if its query may attend to token {0} and has another key to weigh it against.",
    "value": "An output changes if its query may attend to token {0}.",
}


def draw(id, rng):
    """An `Item` about whose outputs change, or None where too few wrong answers differ.

    Raises: AssertionError if the rule and a trial with random numbers disagree.
    """
    n = rng.choice([4, 5, 6])
    situation, mask = rng.choice([open_to_all, causal, padded, windowed])(n, rng)
    part, token = rng.choice(list(CHANGED)), rng.randrange(n)
    right = by_rule(mask, part, token)
    if right != by_trying(mask, part, token):
        raise AssertionError(f"{id}: {right} by the rule, {by_trying(mask, part, token)} by trying")
    everybody, transposed = frozenset(range(n)), tuple(zip(*mask, strict=True))
    polarity = tuple(tuple(not may for may in row) for row in mask)
    wrongs = [
        (everybody, slip("03.moved", "unmasked")),
        (by_rule(transposed, part, token), slip("03.moved", "other")),
        (by_rule(polarity, part, token), slip("03.lost", "polarity")),
        (right - {token}, slip("10.two-at-once", "strict")),
        (frozenset({token}), new_mistake("itself alone", "Ask whose row of the mask has a True in its column.")),
        (everybody - right, slip("03.lost", "polarity")),
        (frozenset(), slip("03.break-it", "unchanged")),
    ]
    wrongs = [(who, mistake) for who, mistake in wrongs if who != right]
    why = WHY[part].format(token)
    parts = (f"{situation} Tokens are counted from 0 to {n - 1}; all numbers are drawn at random.",)
    asks = f"You change {CHANGED[part].format(token)} and nothing else. Which outputs change?"
    options = [wrong(who_in_words(who, n), mistake, who) for who, mistake in wrongs]
    return item(id, 3, parts, asks, Option(who_in_words(right, n), why, value=right), options, rng)


def open_to_all(n, rng):
    """The situation in words, and as rows of True and False: no mask."""
    return f"{n} tokens attend to each other, without a mask.", as_rows(torch.ones(n, n, dtype=torch.bool))


def causal(n, rng):
    """The situation in words, and the mask as rows of True and False."""
    return f"{n} tokens attend to each other under a causal mask.", as_rows(causal_mask(n))


def padded(n, rng):
    """The situation in words, and the mask as rows of True and False: some of the last tokens are padding."""
    real = rng.randint(2, n - 1)
    padding = "the last is padding" if n - real == 1 else f"the last {n - real} are padding"
    it = "it" if n - real == 1 else "them"
    situation = f"{n} tokens, of which {padding}; a padding mask hides {it}, and no query attends to {it}."
    return situation, as_rows(padding_mask([real], n)[0].expand(n, n))


def windowed(n, rng):
    """The situation in words, and the mask as rows of True and False: a window of 2 tokens or more."""
    wide = rng.randint(2, n - 1)
    return f"{n} tokens under a causal mask; each attends to the {wide} latest, itself among them.", as_rows(
        window_mask(n, n, wide)
    )


def as_rows(mask):
    """A mask of shape (n, n) as a tuple of rows of True and False."""
    return tuple(map(tuple, mask.tolist()))


def by_rule(mask, part, token):
    """Whose outputs change, by which queries the mask lets attend to the token."""
    attended = frozenset(i for i, row in enumerate(mask) if row[token])
    weighed = frozenset(
        i for i, row in enumerate(mask) if sum(row) > 1
    )  # one key alone gets everything, whatever it is
    asks = frozenset({token}) & weighed
    return {"value": attended, "key": attended & weighed, "query": asks, "input": attended | asks}[part]


def by_trying(mask, part, token):
    """Whose outputs change, found by changing the token's query, key, value or all three."""
    torch.manual_seed(0)
    before = {name: torch.randn(len(mask), 4, dtype=torch.float64) for name in ("query", "key", "value")}
    after = {name: rows.clone() for name, rows in before.items()}
    for name in after if part == "input" else (part,):
        after[name][token] += torch.randn(4, dtype=torch.float64)
    old, new = (scaled_dot_product_attention(*each.values(), torch.tensor(mask))[0] for each in (before, after))
    return frozenset(torch.nonzero((old - new).abs().amax(-1) > 1e-12).flatten().tolist())


def who_in_words(who, n):
    """A set of tokens out of n as an answer in words."""
    names = [str(i) for i in sorted(who)]
    if len(names) in (0, n):
        return "none of them" if not names else "all of them"
    return (
        f"only that of token {names[0]}"
        if len(names) == 1
        else f"those of tokens {', '.join(names[:-1])} and {names[-1]}"
    )
