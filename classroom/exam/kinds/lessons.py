"""Questions of the lessons with new numbers; their slips are the lessons' own.

Each of these functions takes an item's id and a `random.Random`, and returns an `Item`, or None where the numbers that
it draws do not serve. Each calculates the right answer in two ways; `made` raises AssertionError where they differ.
"""

import math
import random

import torch

from attn_lib import Cache, cache_bytes, cached_attention, softmax_backward

from ..item import (
    FEWEST,
    Option,
    Table,
    is_same,
    item,
    misconception,
    new_mistake,
    number,
    reworded,
    slip,
    with_mistake,
    wrong,
)
from .by_hand import softmax


def draw(id, rng):
    """An `Item` of one of the questions below, itself drawn at random; None where the numbers do not serve."""
    kinds = [
        scores_of_a_query, after_softmax, spread, new_scores, scores_in_all, kept_bytes, back_through_softmax,
        parameters, longer_text, ignorance, shared_head,
    ]  # fmt: skip
    return rng.choice(kinds)(id, rng)


def number_item(id, lesson, parts, asks, right, checked, wrongs, rng, why):
    """An item with numbers for options; `checked` is the right number, computed in a second way."""
    if abs(right - checked) > 1e-9 * max(1, abs(right)):
        raise AssertionError(f"{id}: {right} in one way, {checked} in the other")
    right_option = Option(number(right), why, value=right if isinstance(right, float) else None)
    rng.shuffle(wrongs)
    below, above = [], []
    for x, mistake in wrongs:
        option = wrong(number(x), mistake, x if isinstance(x, float) else None)
        if is_same(option, right_option):
            return None  # a mistake would get points
        if not any(is_same(option, other) for other in below + above):
            (below if x < right else above).append(option)
    rank = random.Random(id).randrange(FEWEST)  # were it always in the middle, nobody had to calculate
    if len(below) < rank or len(above) < FEWEST - 1 - rank:
        return None
    options = below[:rank] + above[: FEWEST - 1 - rank]
    return item(id, lesson, parts, asks, right_option, options, rng)


def in_brackets(x):
    """A number as it stands behind a sign."""
    return f"({number(x)})" if x < 0 else number(x)


def scores_of_a_query(id, rng):
    """Lesson 1: the score of a query with one of three keys, undivided."""
    d = rng.choice([3, 4])
    query = [rng.randint(-1, 3) for _ in range(d)]
    keys = [[rng.randint(-1, 3) for _ in range(d)] for _ in range(3)]
    place = rng.randrange(3)
    products = [q * k for q, k in zip(query, keys[place], strict=True)]
    right, checked = sum(products), (torch.tensor(query) @ torch.tensor(keys[place])).item()
    neighbour = keys[(place + 1) % 3]
    wrongs = [
        (sum(query) + sum(keys[place]), slip("01.one-score", "added")),
        (products[0], slip("01.one-score", "incomplete")),
        (sum(q * k for q, k in zip(query, neighbour, strict=True)), slip("01.likeness", "other_token")),
        (sum(keys[place]), slip("01.scores-of-like", "unmultiplied")),
    ]
    rows = tuple(tuple(number(x) for x in row) for row in keys)
    parts = (Table("query", (tuple(number(x) for x in query),)), Table("keys", rows))
    why = "Multiplied in pairs and added: " + " + ".join(map(in_brackets, products)) + "."
    asks = f"What is the score of this query with key {place}, keys counted from 0, before anything is divided?"
    return number_item(id, 1, parts, asks, right, checked, wrongs, rng, why)


def after_softmax(id, rng):
    """Lesson 3: what a row of weights sums to, in per cent, if the mask comes after softmax."""
    scores = [rng.randint(0, 2) for _ in range(4)]
    hidden = rng.randint(1, 2)
    if not 0 < sum(scores[: 4 - hidden]) < sum(scores):
        return None  # without e the rest would have all or nothing
    weights = softmax(scores)
    weights_left = weights[: 4 - hidden]
    right, checked = (
        100 * sum(weights_left),
        100 * torch.softmax(torch.tensor(scores, dtype=torch.float64), 0)[: 4 - hidden].sum(),
    )
    wrongs = [
        (100.0, slip("03.after-softmax", "renormalised")),
        (100 - right, slip("03.after-softmax", "erased")),
        (100 * (4 - hidden) / 4, slip("03.dead", "uniform")),
        (100 * sum(scores[: 4 - hidden]) / sum(scores), slip("01.break-it", "linear")),
    ]
    erased = "weights of the last two are" if hidden == 2 else "weight of the last one is"
    parts = (
        f"A query's scores with four keys are {', '.join(map(str, scores))}. Softmax makes weights of all four. "
        f"After that, the {erased} set to 0. e¹ = 2.72, e² = 7.39.",
    )
    asks = "What do the weights of this row sum to now, in per cent?"
    why = f"The erased {number(100 - right)} % are missing, so the row no longer sums to 1."
    return number_item(id, 3, parts, asks, right, checked.item(), wrongs, rng, why)


def spread(id, rng):
    """Lesson 4: the standard deviation of scores that are divided by the wrong root."""
    heads, per_head = rng.choice([(2, 32), (4, 16), (4, 64), (8, 64), (8, 32), (12, 64)])
    width = heads * per_head
    right, checked = math.sqrt(per_head / width), (torch.tensor(1.0 / heads, dtype=torch.float64)).sqrt().item()
    wrongs = [
        (per_head / width, slip("04.root", "variance")),
        (1.0, new_mistake("as it is meant", f"That is with √{per_head}; here the scores are divided by √{width}.")),
        (math.sqrt(per_head), new_mistake("undivided", "That is of scores that nothing divides.")),
        (float(per_head), new_mistake("undivided variance", "That is the variance of scores that nothing divides.")),
    ]
    parts = (
        f"Entries of queries and keys have mean 0 and variance 1, and are independent. An embedding of {width} "
        f"features is cut into {heads} heads, and the scores of each head are divided by √{width}, which is a mistake.",
    )
    why = f"A score is a sum of {per_head} products, so its standard deviation is √{per_head}, here over √{width}."
    asks = "What is the standard deviation of the scores, rounded to two decimals?"
    return number_item(id, 4, parts, asks, right, checked, wrongs, rng, why)


def new_scores(id, rng):
    """Lesson 10: how many scores one more token costs with a cache."""
    tokens, heads = rng.randint(4, 30), rng.choice([1, 2, 4, 8])
    right = heads * (tokens + 1)
    wrongs = [
        (heads * (tokens + 1) ** 2, slip("10.scores-in-all", "square")),
        (heads * (2 * tokens + 1), slip("10.new-scores", "column_too")),
        (heads * tokens, slip("10.my-keys", "key_forgotten")),
        (heads * (tokens + 1) * (tokens + 2) // 2, slip("10.new-scores", "recomputed")),
    ]
    query, keys = torch.zeros(heads, 1, 2), torch.zeros(heads, tokens, 2)
    _, cache = cached_attention(query, query, query, Cache(keys, keys, tokens))
    parts = (
        f"A model with a cache has read {tokens} tokens. One layer, {heads} head{'s' * (heads > 1)}. One more token "
        "comes.",
    )
    why = f"One query meets {tokens} kept keys and its own, in {heads} head{'s' * (heads > 1)}."
    return number_item(
        id, 10, parts, "How many scores are computed now?", right, cache.keys[..., 0].numel(), wrongs, rng, why
    )


def scores_in_all(id, rng):
    """Lesson 10: how many scores a whole text costs with a cache."""
    n = rng.randint(5, 40)
    right, checked = n * (n + 1) // 2, sum(range(1, n + 1))
    wrongs = [
        (n * n, slip("10.scores-in-all", "square")),
        (n, slip("10.scores-in-all", "last_alone")),
        (sum(i * i for i in range(1, n + 1)), slip("10.scores-in-all", "every_time")),
        (n * (n - 1) // 2, slip("10.my-keys", "key_forgotten")),
    ]
    parts = (f"A model with a cache reads {n} tokens, one after the other. One layer, one head.",)
    why = f"The first token has 1 score, the last {n}: together {n} · {n + 1} / 2."
    return number_item(id, 10, parts, "How many scores are computed in all?", right, checked, wrongs, rng, why)


def kept_bytes(id, rng):
    """Lesson 10: bytes of the cache for each token, where heads share keys and values."""
    layers, heads, wide = rng.choice([12, 16, 24, 32]), rng.choice([8, 16, 32]), rng.choice([64, 128])
    kv_heads = heads // rng.choice([2, 4])  # with 8 the bits would be what unshared heads take
    right, checked = 2 * layers * kv_heads * wide * 2, cache_bytes(layers, kv_heads, wide)
    mistakes = "keys-alone", "query-heads", "in-bits", "one-layer"
    model = layers, heads * wide, heads, kv_heads, 1, 16  # bits for each number
    wrongs = [(int(count), mistake) for count, mistake in (with_mistake("10.4", name, *model) for name in mistakes)]
    parts = (
        f"A model has {layers} layers, {heads} query heads of {wide} features each, and {kv_heads} head"
        f"{'s' * (kv_heads > 1)} of keys and values that they share. Numbers take 2 bytes.",
    )
    why = f"2 (key and value) · {layers} layers · {kv_heads} heads · {wide} features · 2 bytes."
    return number_item(
        id, 10, parts, "How many bytes does the cache take for each token?", right, checked, wrongs, rng, why
    )


def back_through_softmax(id, rng):
    """Lesson 7: the gradient by one score, from the gradient by the weights."""
    weights = [w / 10 for w in rng.choice([(5, 3, 2), (6, 3, 1), (4, 4, 2), (7, 2, 1), (5, 4, 1), (8, 1, 1)])]
    grads = [rng.randint(-3, 5) for _ in range(3)]
    place = rng.randrange(3)
    mean = sum(w * g for w, g in zip(weights, grads, strict=True))
    right = weights[place] * (grads[place] - mean)
    tensors = [torch.tensor(row, dtype=torch.float64) for row in (weights, grads)]
    checked = softmax_backward(*tensors)[place].item()
    mistakes = [with_mistake("7.1", name, *tensors) for name in ("plain-mean", "negated")]
    wrongs = [
        (float(grads[place]), slip("07.dS", "copied")),
        (weights[place] * grads[place], slip("07.dS", "mean_kept")),
        (weights[place] * (1 - weights[place]) * grads[place], slip("07.dS", "alone")),
        *((gradients[place].item(), mistake) for gradients, mistake in mistakes),
    ]
    parts = (
        f"Softmax has made the weights {', '.join(map(str, weights))} of three scores. The gradient of the loss by the "
        f"weights is {', '.join(number(g) for g in grads)}.",
    )
    why = f"The row's mean is {number(mean)}; the rest is multiplied by the weight: "
    why += f"{weights[place]} · ({number(grads[place])} − {in_brackets(mean)})."
    asks = f"What is the gradient by score {place}, counted from 0, rounded to two decimals?"
    return number_item(id, 7, parts, asks, right, checked, wrongs, rng, why)


def parameters(id, rng):
    """Lesson 5: how many parameters multi-head attention has, biases too."""
    heads = rng.choice([2, 4, 8])
    width = heads * rng.choice([8, 16, 32])
    right = 4 * (width * width + width)
    module = torch.nn.MultiheadAttention(width, heads)
    wrongs = [
        (4 * width * width, slip("05.inside", "weights_only")),
        (3 * (width * width + width), misconception("5.2", "no-out-proj")),
        (
            4 * heads * (width * width + width),
            reworded(misconception("10.4", "whole-width"), "Each head is taken for as wide as the whole token."),
        ),
        (
            4 * (width * width // heads + width),
            new_mistake("one head", "That is one head; each matrix makes all of them at once."),
        ),
    ]
    parts = (f"Multi-head attention with an embedding of {width} features and {heads} heads, with biases.",)
    why = f"Four matrices of {width} · {width} numbers and four biases of {width}, however many heads there are."
    checked = sum(p.numel() for p in module.parameters())
    return number_item(id, 5, parts, "How many parameters has it?", right, checked, wrongs, rng, why)


def longer_text(id, rng):
    """Lesson 5: how many scores are held at once if the text is some times as long."""
    n, times, heads = rng.choice([256, 512, 1024]), rng.choice([2, 3, 4]), rng.choice([4, 8, 12])
    right, checked = heads * (times * n) ** 2, heads * sum(times * n for _ in range(times * n))
    wrongs = [
        (times * heads * n * n, slip("05.memory-answer", "doubles")),
        (
            times**3 * heads * n * n,
            reworded(
                slip("05.memory-answer", "cubed"),
                f"Queries and keys are {times} times as many; the features of each are not.",
            ),
        ),
        (heads * n * n, slip("03.break-it", "unchanged")),
        ((times * n) ** 2, new_mistake("one map", "That is one head; each of them has a map of its own.")),
    ]
    parts = (
        f"A layer with {heads} heads holds its whole map of scores. At {n} tokens these are "
        f"{number(heads * n * n)} numbers.",
    )
    why = f"Each head has a row and a column for each token: {heads} · {times * n} · {times * n}."
    return number_item(id, 5, parts, f"How many are they at {times * n} tokens?", right, checked, wrongs, rng, why)


def ignorance(id, rng):
    """Lesson 11: the cross-entropy, in nats, of a model that knows nothing."""
    words = rng.choice([5, 6, 8, 10, 12, 20, 27, 50, 68])
    right, checked = (
        math.log(words),
        torch.nn.functional.cross_entropy(torch.zeros(1, words, dtype=torch.float64), torch.tensor([0])).item(),
    )
    wrongs = [
        (1 / words, new_mistake("a share", "That is the share of the right word; the loss is minus its logarithm.")),
        (math.log2(words), new_mistake("base 2", "That is in bits, with the logarithm to base 2.")),
        (0.0, new_mistake("all of it", "That is the loss of a model that gives the right word everything.")),
        (float(words), new_mistake("perplexity", "That is the perplexity, e to the power of the loss.")),
        (
            1 - 1 / words,
            new_mistake("what is missing", "That is what the share lacks of 1; the loss takes a logarithm."),
        ),
    ]
    parts = (f"A model that knows nothing gives each of {words} words the same share.",)
    why = f"The loss is −ln(1 / {words}) = ln {words}."
    return number_item(
        id,
        11,
        parts,
        "What is its cross-entropy, with the natural logarithm, rounded to two decimals?",
        right,
        checked,
        wrongs,
        rng,
        why,
    )


def shared_head(id, rng):
    """Lesson 10: which of the shared key heads a query head uses, counted from 0."""
    kv = rng.choice([2, 3, 4])
    groups = rng.choice([2, 3, 4])
    head = rng.randrange(kv * groups)
    right, checked = head // groups, torch.arange(kv).repeat_interleave(groups)[head].item()
    wrongs = [
        (head % kv, misconception("10.2", "tiled")),
        (head, new_mistake("nobody shares", f"So it would be if nobody shared: there are only {kv} key heads.")),
        (head % groups, new_mistake("place among them", "That is its place among those that share one.")),
        (right + 1, slip("10.start", "off_by_one")),
    ]
    parts = (
        f"{kv * groups} query heads share {kv} heads of keys and values, neighbours the same one; heads are "
        "counted from 0.",
    )
    why = f"Each is shared by {groups}: {head} // {groups} = {right}."
    return number_item(id, 10, parts, f"Which key head does query head {head} use?", right, checked, wrongs, rng, why)
