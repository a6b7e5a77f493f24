"""Argument checks: every one raises an error that names the argument and both numbers, or returns nothing.

What a tensor holds is looked at on the processor alone: a graphics card would have to be waited for in each call.
"""

import math
from numbers import Integral

import torch

WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def check_tensor(name, value):
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(value).__name__}")


def check_floating(name, tensor):
    check_tensor(name, tensor)
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must hold floating-point numbers, got {tensor.dtype}: use {name}.float()")


def check_count(name, value, *, least=1):
    """A whole number: Python's, NumPy's, that of a tensor, or what stands for a size while torch.export looks on."""
    if isinstance(value, torch.Tensor) and value.ndim == 0 and value.dtype in WHOLE:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | Integral | torch.SymInt):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}")


def check_even(name, size):
    check_count(name, size)
    if size % 2:
        raise ValueError(f"{name}={size} is not divisible by 2: features are taken in pairs")


def check_positive(name, value):
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not 0 < value < math.inf:
        raise ValueError(f"{name}={value} must be larger than 0 and finite")


def check_probability(name, value):
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value} is outside [0, 1]")


def check_divisible(name, size, num_heads):
    check_count(name, size)
    check_count("num_heads", num_heads)
    if size % num_heads:
        raise ValueError(f"{name}={size} is not divisible by num_heads={num_heads}")


def check_mask(mask, scores_shape):
    """A mask is bool, has 2 dimensions or as many as the scores, and broadcasts to them without enlarging them."""
    if mask is None:
        return
    check_tensor("mask", mask)
    shape, scores_shape = tuple(mask.shape), tuple(scores_shape)
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be bool, True = may attend, got {mask.dtype}: write mask == 1 if 1 means attend")
    if mask.ndim not in (min(2, len(scores_shape)), len(scores_shape)):
        raise ValueError(
            f"mask of shape {shape} has {mask.ndim} dimensions: against scores of shape {scores_shape} it needs "
            f"2, (n_queries, n_keys), or {len(scores_shape)}; write the others as 1, as in mask[:, None]"
        )
    sizes = zip(shape, scores_shape[-mask.ndim :], strict=True)
    if any(size not in (1, wanted) for size, wanted in sizes):
        raise ValueError(f"mask of shape {shape} does not broadcast to scores of shape {scores_shape}")


def check_attention(query, key, value, dropout_p):
    """query (…, n_queries, d_k), key (…, n_keys, d_k), value (…, n_keys, d_v); softmax checks the mask."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        check_floating(name, tensor)
        if tensor.ndim < 2:
            raise ValueError(f"{name} must be (…, positions, features), got shape {tuple(tensor.shape)}")
        if tensor.dtype != query.dtype:
            raise TypeError(f"query is {query.dtype}, {name} is {tensor.dtype}: convert one to the other")
        if tensor.shape[:-2] != query.shape[:-2]:
            raise ValueError(
                f"leading dimensions differ: query {tuple(query.shape[:-2])}, {name} {tuple(tensor.shape[:-2])}"
            )
    if query.size(-1) != key.size(-1):
        raise ValueError(f"query has {query.size(-1)} features, key has {key.size(-1)}")
    if query.size(-1) == 0:
        raise ValueError("query and key have 0 features, they need at least 1")
    if key.size(-2) != value.size(-2):
        raise ValueError(f"key has {key.size(-2)} positions, value has {value.size(-2)}")
    check_probability("dropout_p", dropout_p)


def check_scores(scores, mask):
    check_floating("scores", scores)
    if scores.ndim < 1:
        raise ValueError("scores must have at least 1 dimension, got 0")
    check_mask(mask, scores.shape)


def check_weights(weights, grad_weights):
    """Weights and the gradient of each of them."""
    for name, tensor in (("weights", weights), ("grad_weights", grad_weights)):
        check_floating(name, tensor)
        if tensor.ndim < 1:
            raise ValueError(f"{name} must have at least 1 dimension, got 0")
    if weights.shape != grad_weights.shape:
        raise ValueError(f"weights has shape {tuple(weights.shape)}, grad_weights has {tuple(grad_weights.shape)}")


def check_grad_output(query, value, grad_output):
    """The gradient of an output has the output's shape, (…, n_queries, d_v)."""
    check_floating("grad_output", grad_output)
    if grad_output.dtype != query.dtype:
        raise TypeError(f"query is {query.dtype}, grad_output is {grad_output.dtype}: convert one to the other")
    wanted = (*query.shape[:-1], value.size(-1))
    if tuple(grad_output.shape) != wanted:
        raise ValueError(f"grad_output has shape {tuple(grad_output.shape)}, the output has {wanted}")


def check_lengths(lengths, max_len):
    """lengths (batch,) of whole numbers; on the processor within 0..max_len, or from 0 up where max_len is None."""
    if lengths.ndim != 1:
        raise ValueError(f"lengths must be (batch,), one number for each sequence, got shape {tuple(lengths.shape)}")
    if lengths.numel() and (lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool):
        raise TypeError(f"lengths must be whole numbers, got {lengths.dtype}")
    if max_len is not None:
        check_count("max_len", max_len, least=0)
        max_len = int(max_len)
    for index, length in enumerate(lengths.tolist() if lengths.is_cpu else ()):
        if length < 0 or (max_len is not None and length > max_len):
            raise ValueError(f"lengths[{index}]={length} is outside 0..max_len={max_len}")


def check_split(x, num_heads):
    check_tensor("x", x)
    if x.ndim != 3:
        raise ValueError(f"x must be (batch, n, embed_dim), got shape {tuple(x.shape)}")
    check_divisible("embed_dim", x.size(-1), num_heads)


def check_merge(x):
    check_tensor("x", x)
    if x.ndim != 4:
        raise ValueError(f"x must be (batch, heads, n, head_dim), got shape {tuple(x.shape)}")


def check_share(x, groups):
    check_tensor("x", x)
    if x.ndim < 3:
        raise ValueError(f"x must be (…, kv_heads, n, head_dim), got shape {tuple(x.shape)}")
    check_count("groups", groups)


def check_cache(query, key, value, cache, window):
    """The new tokens' query, key and value, and what a cache holds: alike in all but the number of tokens."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        check_floating(name, tensor)
        if tensor.ndim < 3:
            raise ValueError(f"{name} must be (…, heads, n_new, features), got shape {tuple(tensor.shape)}")
    if window is not None:
        check_count("window", window)
    if query.size(-2) != key.size(-2):
        raise ValueError(f"query has {query.size(-2)} new tokens, key has {key.size(-2)}")
    if key.size(-3) != value.size(-3):
        raise ValueError(f"key has {key.size(-3)} heads, value has {value.size(-3)}")
    if query.size(-3) % max(1, key.size(-3)) or not key.size(-3):
        raise ValueError(f"heads={query.size(-3)} of query is not divisible by kv_heads={key.size(-3)} of key")
    if cache is None:
        return
    check_count("cache.seen", cache.seen, least=0)
    for name, kept, new in (("keys", cache.keys, key), ("values", cache.values, value)):
        check_floating(f"cache.{name}", kept)
        if kept.dtype != new.dtype:
            raise TypeError(f"cache.{name} are {kept.dtype}, the new ones {new.dtype}: convert one to the other")
        without_tokens = [(*x.shape[:-2], x.size(-1)) if x.ndim > 1 else tuple(x.shape) for x in (kept, new)]
        if without_tokens[0] != without_tokens[1]:
            raise ValueError(
                f"cache.{name} have shape {tuple(kept.shape)}, the new ones {tuple(new.shape)}: "
                "they may differ only in the number of tokens"
            )
    if cache.keys.size(-2) != cache.values.size(-2):
        raise ValueError(f"cache has {cache.keys.size(-2)} keys and {cache.values.size(-2)} values")
    if cache.keys.size(-2) > cache.seen:
        raise ValueError(f"cache has {cache.keys.size(-2)} keys, more than cache.seen={cache.seen} tokens")


def check_linear(query, key, value, keep, rate, state):
    """As many queries as keys; keep and rate, a number for each token; the state, a row for each feature of a key."""
    check_attention(query, key, value, dropout_p=0.0)
    if query.size(-2) != key.size(-2):
        raise ValueError(f"query has {query.size(-2)} positions, key has {key.size(-2)}: one of each for every token")
    of_state = (*key.shape[:-2], key.size(-1), value.size(-1))
    for name, given, wanted in (
        ("keep", keep, key.shape[:-1]),
        ("rate", rate, key.shape[:-1]),
        ("state", state, of_state),
    ):
        if given is None:
            continue
        check_floating(name, given)
        if tuple(given.shape) != tuple(wanted):
            raise ValueError(f"{name} has shape {tuple(given.shape)}, these tokens need {tuple(wanted)}")


def check_rotary(x):
    check_floating("x", x)
    if x.ndim < 2:
        raise ValueError(f"x must be (…, n, head_dim), got shape {tuple(x.shape)}")
    check_even("head_dim", x.size(-1))


def check_seen(weights, tokens):
    """Weights (batch, heads, n, n) of sequences (batch, n); on the processor some token must stand twice."""
    check_floating("weights", weights)
    check_tensor("tokens", tokens)
    if tokens.dtype not in WHOLE:
        raise TypeError(f"tokens must hold whole numbers, got {tokens.dtype}")
    if weights.ndim != 4 or weights.size(-1) != weights.size(-2):
        raise ValueError(f"weights must be (batch, heads, n, n), got shape {tuple(weights.shape)}")
    wanted = (weights.size(0), weights.size(-1))
    if tuple(tokens.shape) != wanted:
        raise ValueError(f"tokens has shape {tuple(tokens.shape)}, weights belong to tokens of shape {wanted}")
    if tokens.is_cpu and not (tokens[:, :, None] == tokens[:, None, :]).tril(-1).any():
        raise ValueError("tokens hold none that stands twice in a sequence: there is no copy to look behind")


def check_attention_module(attention):
    if not {"num_heads", "embed_dim", "out_proj"} <= set(dir(attention)):
        raise TypeError(f"attention must be a MultiHeadAttention, got {type(attention).__name__}")


def check_head(head, num_heads):
    check_count("head", head, least=0)
    if head >= num_heads:
        raise ValueError(f"head={head} is none of the {num_heads} heads, which count from 0")


def check_sequences(query, key, value, features, dtype):
    """query, key, value (batch, n, features): what every module takes, before any head exists; dtype None is any."""
    for (name, tensor), wanted in zip((("query", query), ("key", key), ("value", value)), features, strict=True):
        check_floating(name, tensor)
        if dtype not in (None, tensor.dtype):
            raise TypeError(f"{name} is {tensor.dtype}, the module's weights are {dtype}: convert one to the other")
        if tensor.ndim != 3:
            raise ValueError(f"{name} must be (batch, n, features), got shape {tuple(tensor.shape)}")
        if tensor.size(0) != query.size(0):
            raise ValueError(f"query has batch size {query.size(0)}, {name} has {tensor.size(0)}")
        if tensor.size(-1) != wanted:
            raise ValueError(f"{name} has {tensor.size(-1)} features, this module was made for {wanted}")
    if key.size(1) != value.size(1):
        raise ValueError(f"key has {key.size(1)} positions, value has {value.size(1)}")


def check_width(name, tensor, x):
    """A row of numbers, one for each feature of x."""
    check_floating(name, tensor)
    if x.ndim < 1 or tuple(tensor.shape) != (x.size(-1),):
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, x has shape {tuple(x.shape)}: one for each feature")


def check_logits(logits, tokens):
    """Logits (batch, n, vocabulary) of tokens (batch, n), at least two in a row and all of the vocabulary."""
    check_floating("logits", logits)
    check_tensor("tokens", tokens)
    if tokens.dtype not in WHOLE:
        raise TypeError(f"tokens must hold whole numbers, got {tokens.dtype}")
    if logits.ndim != 3 or logits.shape[:2] != tokens.shape:
        raise ValueError(f"logits has shape {tuple(logits.shape)}, tokens have {tuple(tokens.shape)}")
    if tokens.size(1) < 2:
        raise ValueError(f"tokens has {tokens.size(1)} in a row: the first is not predicted, so 2 are needed")


def check_tokens(tokens, vocabulary, length, seen=0):
    """Tokens (batch, n) of a text not longer than length with what was seen before; on the processor all known."""
    check_tensor("tokens", tokens)
    if tokens.dtype not in WHOLE:
        raise TypeError(f"tokens must hold whole numbers, got {tokens.dtype}")
    if tokens.ndim != 2 or 0 in tokens.shape:
        raise ValueError(f"tokens must be (batch, n) with at least one token, got shape {tuple(tokens.shape)}")
    if seen + tokens.size(1) > length:
        raise ValueError(f"a text of {seen + tokens.size(1)} tokens has no place in a model of length={length}")
    if not tokens.is_cpu:
        return
    low, high = tokens.aminmax()
    if low < 0 or high >= vocabulary:
        raise ValueError(f"tokens hold {int(low if low < 0 else high)}, the vocabulary has 0 to {vocabulary - 1}")


def check_part(scores, values):
    """Scores (…, n_queries, n_keys) of at least one key, and values (…, n_keys, d_v)."""
    check_floating("scores", scores)
    check_floating("values", values)
    if scores.ndim < 2 or values.ndim < 2:
        raise ValueError(f"scores {tuple(scores.shape)} and values {tuple(values.shape)} need two dimensions or more")
    if scores.size(-1) != values.size(-2):
        raise ValueError(f"scores has {scores.size(-1)} keys, values has {values.size(-2)}")
    if scores.size(-1) == 0:
        raise ValueError("scores has 0 keys, a part needs at least 1")


def check_states(a, b):
    """Two parts (m, l, o), m and l (…, n_queries, 1), o (…, n_queries, d_v), of the same queries."""
    for name, state in (("a", a), ("b", b)):
        if not isinstance(state, tuple | list) or len(state) != 3:
            raise TypeError(f"{name} must be (m, l, o), got {type(state).__name__}")
        for letter, tensor in zip("mlo", state, strict=True):
            check_floating(f"{letter} of {name}", tensor)
    for letter, one, other in zip("mlo", a, b, strict=True):
        if one.shape != other.shape:
            raise ValueError(f"{letter} of a has shape {tuple(one.shape)}, {letter} of b has {tuple(other.shape)}")


def check_finished(output_a, lse_a, output_b, lse_b):
    """Outputs (…, n_queries, d_v) of the same queries, and an lse (…, n_queries) of each."""
    for name, tensor in (("output_a", output_a), ("lse_a", lse_a), ("output_b", output_b), ("lse_b", lse_b)):
        check_floating(name, tensor)
    if output_a.shape != output_b.shape:
        raise ValueError(f"output_a has shape {tuple(output_a.shape)}, output_b has {tuple(output_b.shape)}")
    for name, lse in (("lse_a", lse_a), ("lse_b", lse_b)):
        if lse.shape != output_a.shape[:-1]:
            raise ValueError(f"{name} has shape {tuple(lse.shape)}, one for each query is {tuple(output_a.shape[:-1])}")
