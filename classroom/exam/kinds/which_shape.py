"""Which shape: a tensor on the way through attention, with sizes of which no two are alike.

Each of these functions takes an item's id and a `random.Random`, and returns an `Item`, or None where too few wrong
shapes are left. The tensor is made by PyTorch as well; `asked` raises AssertionError where its shape is another.
"""

import torch

from attn_lib import merge_heads, scaled_dot_product_attention, split_heads

from ..item import Code, Option, item, misconception, new_mistake, reworded, slip, with_mistake, wrong

SWAPPED = reworded(
    slip("02.cross-scores", "transposed"), "Rows and columns have changed places: who asks has the rows."
)


def draw(id, rng):
    """An `Item` about one of the tensors below, drawn too, or None where too few wrong shapes are left."""
    return rng.choice([scores, cross, split, weights, merged, averaged, padding, cached])(id, rng)


def sizes(rng, *names):
    """Different whole numbers for these names; heads divide the width."""
    while True:
        size = {name: rng.randint(2, 9) for name in names}
        size |= {"heads": rng.choice([2, 3, 4])} if "heads" in names else {}
        if "width" in names:
            size["width"] = size.get("heads", 1) * rng.randint(5, 8)
        per_head = {size["width"] // size["heads"]} if {"heads", "width"} <= set(size) else set()
        if len({*size.values(), *per_head}) == len(size) + len(per_head):
            return size


def scores(id, rng):
    """The scores of self-attention."""
    s = sizes(rng, "batch", "n", "d")
    b, n, d = s["batch"], s["n"], s["d"]
    tensor = torch.zeros(b, n, d) @ torch.zeros(b, n, d).transpose(-2, -1)
    wrongs = [
        ((b, d, d), slip("02.cross-scores", "features")),
        ((n, n), slip("02.query-shape", "unbatched")),
        ((b, n, d), slip("02.query-shape", "unchanged")),
        (
            (b * n, b * n),
            new_mistake("batch mixed in", "Sentences would attend to each other: the batch is an axis of its own."),
        ),
    ]
    code = f"q = torch.randn({b}, {n}, {d})", f"k = torch.randn({b}, {n}, {d})", "scores = q @ k.transpose(-2, -1)"
    return shape_item(
        id, 2, code, "scores", (b, n, n), tensor, wrongs, rng, "A row for each query and a column for each key."
    )


def cross(id, rng):
    """The scores of cross-attention."""
    s = sizes(rng, "batch", "n", "m", "d")
    b, n, m, d = s["batch"], s["n"], s["m"], s["d"]
    tensor = torch.zeros(b, n, d) @ torch.zeros(b, m, d).transpose(-2, -1)
    wrongs = [
        ((b, m, n), SWAPPED),
        ((b, n, n), new_mistake("queries for keys", "You took the number of queries where that of the keys belongs.")),
        ((n, m), slip("02.query-shape", "unbatched")),
        ((b, d, d), slip("02.cross-scores", "features")),
    ]
    code = f"q = torch.randn({b}, {n}, {d})", f"k = torch.randn({b}, {m}, {d})", "scores = q @ k.transpose(-2, -1)"
    return shape_item(
        id, 2, code, "scores", (b, n, m), tensor, wrongs, rng, "Who asks has the rows, who is asked the columns."
    )


def split(id, rng):
    """An embedding that is split into heads."""
    s = sizes(rng, "batch", "n", "heads", "width")
    b, n, h, w = s["batch"], s["n"], s["heads"], s["width"]
    x = torch.zeros(b, n, w)
    tensor = split_heads(x, h)
    wrongs = [
        shape_with("4.1", "not-transposed", x, h),
        shape_with("4.1", "merged-batch", x, h),
        (
            (b, h, n, w),
            reworded(misconception("10.4", "whole-width"), "Each head is taken for as wide as the whole token."),
        ),
        ((b, h, w // h, n), slip("07.my-grad-W-q", "transposed")),
    ]
    code = f"x = torch.randn({b}, {n}, {w})  # batch, tokens, features", f"heads = split_heads(x, {h})"
    why = f"Each of {h} heads gets {w} / {h} = {w // h} features of every token, and stands before the tokens."
    return shape_item(id, 4, code, "heads", (b, h, n, w // h), tensor, wrongs, rng, why)


def weights(id, rng):
    """The weights of all heads in cross-attention."""
    s = sizes(rng, "batch", "n", "m", "heads", "width")
    b, n, m, h, w = s["batch"], s["n"], s["m"], s["heads"], s["width"]
    q, k = (split_heads(torch.zeros(b, length, w), h) for length in (n, m))
    _, tensor = scaled_dot_product_attention(q, k, k)
    wrongs = [
        ((b, n, m), slip("04.whole-shape", "averaged")),
        ((b, n, h, m), slip("04.whole-shape", "head_order")),
        ((b, h, m, m), slip("04.whole-shape", "n_k")),
        ((b, h, m, n), SWAPPED),
        ((b, h, n, w // h), slip("02.cross-scores", "features")),
    ]
    code = (
        f"x = torch.randn({b}, {n}, {w})  # who asks",
        f"y = torch.randn({b}, {m}, {w})  # who is asked",
        f"q, k, v = split_heads(x, {h}), split_heads(y, {h}), split_heads(y, {h})",
        "output, weights = scaled_dot_product_attention(q, k, v)",
    )
    return shape_item(
        id, 4, code, "weights", (b, h, n, m), tensor, wrongs, rng, "Each head has a map: queries by keys."
    )


def merged(id, rng):
    """The heads' outputs, joined."""
    s = sizes(rng, "batch", "n", "heads", "width")
    b, n, h, w = s["batch"], s["n"], s["heads"], s["width"]
    x = torch.zeros(b, h, n, w // h)
    tensor = merge_heads(x)
    wrongs = [
        shape_with("4.2", "averaged", x),
        shape_with("4.2", "not-joined", x),
        ((n, w), slip("02.query-shape", "unbatched")),
        (
            (b, h, n * (w // h)),
            new_mistake("tokens joined", "That joins a head's tokens; it is the heads of a token that are joined."),
        ),
    ]
    code = (
        f"heads = torch.randn({b}, {h}, {n}, {w // h})  # batch, heads, tokens, features",
        "joined = merge_heads(heads)",
    )
    return shape_item(
        id, 4, code, "joined", (b, n, w), tensor, wrongs, rng, f"Side by side they have {h} · {w // h} features."
    )


def averaged(id, rng):
    """The weights that nn.MultiheadAttention returns."""
    s = sizes(rng, "batch", "n", "m", "heads", "width")
    b, n, m, h, w = s["batch"], s["n"], s["m"], s["heads"], s["width"]
    module = torch.nn.MultiheadAttention(w, h, batch_first=True)
    _, tensor = module(torch.zeros(b, n, w), torch.zeros(b, m, w), torch.zeros(b, m, w))
    wrongs = [
        ((b, h, n, m), new_mistake("unaveraged", "That is for each head by itself; they have been averaged.")),
        ((n, m), slip("02.query-shape", "unbatched")),
        ((b, m, n), SWAPPED),
        ((b, n, w), slip("02.cross-scores", "features")),
    ]
    code = (
        f"module = torch.nn.MultiheadAttention({w}, {h}, batch_first=True)",
        f"x = torch.randn({b}, {n}, {w})  # who asks",
        f"y = torch.randn({b}, {m}, {w})  # who is asked",
        "output, weights = module(x, y, y)",
    )
    return shape_item(
        id, 5, code, "weights", (b, n, m), tensor, wrongs, rng, "Unless told otherwise, it averages over the heads."
    )


def padding(id, rng):
    """A padding mask, made from lengths."""
    b, n = rng.sample(range(3, 9), 2)
    lengths = torch.tensor([rng.randint(1, n - 1) for _ in range(b - 1)] + [n])
    tensor = (torch.arange(n) < lengths[:, None])[:, None]
    wrongs = [
        shape_with("3.1", "no-query-axis", lengths, n),
        shape_with("3.1", "column", lengths, n),
        shape_with("3.1", "queries-masked", lengths, n),
        ((1, n), slip("02.query-shape", "unbatched")),
    ]
    code = (
        f"lengths = torch.tensor({lengths.tolist()})",
        f"real = torch.arange({n}) < lengths[:, None]",
        "mask = real[:, None]",
    )
    return shape_item(
        id, 3, code, "mask", (b, 1, n), tensor, wrongs, rng, "One row for each sentence, which holds for each query."
    )


def cached(id, rng):
    """The keys of a cache with new ones behind them."""
    b, old, new, d = rng.sample(range(2, 10), 4)
    tensor = torch.cat([torch.zeros(b, old, d), torch.zeros(b, new, d)], dim=-2)
    wrongs = [
        ((b, new, d), misconception("10.1", "old-ones-dropped")),
        ((b, old, d), misconception("10.1", "not-kept")),
        (
            (b, old + new, 2 * d),
            new_mistake("features joined", "That joins the features too; only the tokens become more."),
        ),
        (
            (2 * b, old + new, d),
            new_mistake("batch joined", "That joins the batch too; the sentences are the same as before."),
        ),
    ]
    code = (
        f"kept = torch.randn({b}, {old}, {d})  # batch, tokens, features",
        f"new = torch.randn({b}, {new}, {d})",
        "keys = torch.cat([kept, new], dim=-2)",
    )
    return shape_item(
        id, 10, code, "keys", (b, old + new, d), tensor, wrongs, rng, "The new tokens stand behind the old ones."
    )


def shape_with(exercise, name, *arguments):
    """(the shape that an answer with this misconception has, what `misconception` returns)."""
    result, mistake = with_mistake(exercise, name, *arguments)
    return tuple(result.shape), mistake


def shape_item(id, lesson, code, name, shape, tensor, wrongs, rng, why):
    """The `Item` for a tensor's shape; tensor is the one that PyTorch makes, wrongs are pairs of shape and mistake.

    Raises: AssertionError if the tensor has another shape.
    """
    if tuple(tensor.shape) != shape:
        raise AssertionError(f"{id}: {shape} by thought, {tuple(tensor.shape)} by PyTorch")
    options = [wrong(str(other), mistake, other) for other, mistake in wrongs]
    right = Option(str(shape), why, value=shape)
    return item(id, lesson, (Code(code),), f"Which shape has {name}?", right, options, rng, most=4)
