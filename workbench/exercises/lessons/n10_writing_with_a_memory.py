"""Exercises of notebook 10: attention with a cache, heads that share, a window, and what it all costs."""

import math
from functools import partial

import torch

from attn_lib import functional, masks
from attn_lib.position import rotary

from ..engine.function import function
from ..engine.one_value import number_of
from ..engine.probes import normal

# ---------------------------------------------------------------------------------------------------------- 10.1


def _text(n_kept, n_new, heads=2, batch=1, head_dim=4, d_v=3, seed=0):
    """The query, key and value of new tokens, and what is kept of those before."""
    sizes = (n_new, head_dim), (n_new, head_dim), (n_new, d_v), (n_kept, head_dim), (n_kept, d_v)
    return tuple(normal(batch, heads, *size, seed=10 * seed + i) for i, size in enumerate(sizes))


def _attend(query, key, value, keys, values):
    read = keys.size(-2)  # the first new token stands behind all that were read
    keys = torch.cat([keys, rotary(key, read)], dim=-2)
    values = torch.cat([values, value], dim=-2)
    mask = masks.causal_mask(query.size(-2), keys.size(-2))
    output, _ = functional.scaled_dot_product_attention(rotary(query, read), keys, values, mask)
    return output, keys, values


attend = function(
    "10.1",
    _attend,
    as_="my_attend(query, key, value, keys, values)",
    title="Attention with a cache",
    section="10#text-whole",
    probes=[
        _text(0, 3),
        _text(3, 1, seed=1),
        _text(4, 2, seed=2),
        _text(2, 3, heads=3, batch=2, head_dim=6, d_v=5, seed=3),
    ],
    corner_cases=[
        _text(0, 1, seed=4),
        _text(5, 1, heads=1, head_dim=2, d_v=1, seed=5),
        _text(9, 2, seed=6),
        _text(1, 7, seed=7),
    ],
    random_probes=lambda rng: [
        _text(rng.randrange(1, 7), rng.randrange(2, 5), batch=2, d_v=5, seed=rng.randrange(10**6)) for _ in range(2)
    ],
    returns=("the output", "the keys", "the values"),
    gradients=True,
    also_called=("cached_attention",),
    hints=[
        "The stored keys say how many tokens have been read: `keys.size(-2)`. The first new token has this position.",
        "Rotate query and key with that `start`. Then put the stored keys before the new ones, and so with values.",
        "`causal_mask(n_new, n_keys)`: n_keys counts all keys, so that the last query may attend to all of them.",
    ],
)


def _memory(query, key, value, keys, values, *, turn_query=rotary, turn_key=rotary, start=None, mask=None,
            old=lambda keys: keys, keep=None, scale=1.0, dead=0.0):  # fmt: skip
    """10.1 with one part exchanged; `dead` is what a query gets that may attend to nobody."""
    start = keys.size(-2) if start is None else start
    all_keys = torch.cat([old(keys), turn_key(key, start)], dim=-2)
    all_values = torch.cat([values, value], dim=-2)
    allowed = masks.causal_mask(query.size(-2), all_keys.size(-2)) if mask is None else mask
    turned = turn_query(query, start) * scale
    output, _ = functional.scaled_dot_product_attention(turned, all_keys, all_values, allowed)
    output = output + torch.where(allowed.any(dim=-1, keepdim=True), 0.0, dead)
    return (output, all_keys, all_values) if keep is None else (output, *keep(all_keys, all_values))


def _ones(query, key, keys):
    return torch.ones(query.size(-2), keys.size(-2) + key.size(-2), dtype=torch.bool)


def _shifted(query, key, value, keys, values, *, by, dead=0.0):
    """10.1 with the triangle moved by so many keys."""
    mask = _ones(query, key, keys).tril(keys.size(-2) + by)
    return _memory(query, key, value, keys, values, mask=mask, dead=dead)


@attend.misconception(telltale_call=_text(4, 2, seed=2), reread="10#text-chunk")
def top_left(query, key, value, keys, values):
    """The triangle of the mask ends at the upper left.

    That is right for a prompt, where there are as many queries as keys. Once the cache holds keys, the newest tokens
    attend to the oldest ones only. The triangle of `causal_mask(n_new, n_keys)` ends at the lower right.
    """
    return _memory(query, key, value, keys, values, mask=_ones(query, key, keys).tril())


@attend.misconception(telltale_call=_text(4, 2, seed=2), reread="10#text-chunk")
def causal_flag(query, key, value, keys, values):
    """Several new tokens get a triangle at the upper left, a single one gets no mask.

    That is `is_causal=n_new > 1` of PyTorch's own function. It is right for a prompt, and for one new token. Where
    several new tokens come after a cache, the flag makes the first of them attend to the oldest key only: the triangle
    has to end at the lower right.
    """
    mask = _ones(query, key, keys)
    return _memory(query, key, value, keys, values, mask=mask.tril() if query.size(-2) > 1 else mask)


@attend.misconception(telltale_call=_text(4, 2, seed=2), reread="10#text-chunk")
def one_ahead(query, key, value, keys, values):
    """Each new token may attend to one token too many: to the one that comes after it.

    The first new token has the position `keys.size(-2)`, and its own key is the last one that it may attend to. So the
    diagonal of `tril` is the number of stored keys, and not one more.
    """
    return _shifted(query, key, value, keys, values, by=1)


@attend.misconception(
    telltale_call=_text(3, 1, seed=1),
    reread="10#text-chunk",
    forms=[
        partial(_shifted, by=-1, dead=math.nan),
        lambda query, key, value, keys, values: _memory(
            query, key, value, keys, values, mask=_first_at_least(_ones(query, key, keys).tril(keys.size(-2) - 1))
        ),
    ],
)
def own_key_hidden(query, key, value, keys, values):
    """A new token may not attend to itself.

    A token attends to all tokens up to its own position, itself included. `<` hides its own key where `<=` does not,
    and then the first token of a text has no key at all.
    """
    return _shifted(query, key, value, keys, values, by=-1)


def _first_at_least(mask):
    """The mask with the first key open to all."""
    return mask | (torch.arange(mask.size(-1)) == 0)


@attend.misconception(
    reread="03#text-35",
    forms=[
        lambda query, key, value, keys, values: _memory(
            query, key, value, keys, values, mask=_hidden(query, key, keys), dead=math.nan
        )
    ],
)
def polarity(query, key, value, keys, values):
    """The mask means the opposite: each new token attends to what it may not attend to, and to nothing else.

    In this series True = may attend. `masked_fill(mask, …)` fills where the mask is True, so it takes `~mask`.
    """
    return _memory(query, key, value, keys, values, mask=_hidden(query, key, keys))


def _hidden(query, key, keys):
    return ~_ones(query, key, keys).tril(keys.size(-2))


@attend.misconception(telltale_call=_text(4, 2, seed=2), reread="10#text-chunk")
def no_mask_with_a_cache(query, key, value, keys, values):
    """There is no mask once the cache holds keys.

    One new token needs no mask, because it may attend to all tokens. Of two new tokens the first may not attend to the
    second.
    """
    return _memory(query, key, value, keys, values, mask=_ones(query, key, keys) if keys.size(-2) else None)


@attend.misconception(reread="10#text-chunk")
def never_masked(query, key, value, keys, values):
    """There is no mask at all.

    Then the first token of a prompt attends to the last one. A single new token needs no mask. Several new tokens in
    one call need one.
    """
    return _memory(query, key, value, keys, values, mask=_ones(query, key, keys))


def _from_0(x, start):
    return rotary(x)


@attend.misconception(
    telltale_call=_text(3, 1, seed=1),
    reread="10#text-start",
    forms=[partial(_memory, turn_query=_from_0), partial(_memory, turn_key=_from_0)],
)
def starts_again(query, key, value, keys, values):
    """The positions begin at 0 again, for query, key or both.

    The new tokens come after all that were read, so `start` is the number of stored keys. Counted from 0, the new
    tokens are rotated as if they were the beginning of a text.
    """
    return _memory(query, key, value, keys, values, start=0)


def _as_it_came(x, start):
    return x


@attend.misconception(reread="10#text-start")
def query_unturned(query, key, value, keys, values):
    """The query is not rotated.

    The scores depend on the distance of two tokens only if query and key are both rotated, each by its own position.
    """
    return _memory(query, key, value, keys, values, turn_query=_as_it_came)


@attend.misconception(reread="10#text-start")
def never_turned(query, key, value, keys, values):
    """Query and key are not rotated: RoPE is missing.

    The stored keys were rotated when their tokens arrived. `rotary(query, start)` and `rotary(key, start)` rotate the
    new ones.
    """
    return _memory(query, key, value, keys, values, turn_query=_as_it_came, turn_key=_as_it_came)


@attend.misconception(
    telltale_call=_text(3, 1, seed=1),
    reread="10#text-start",
    forms=[lambda q, k, v, keys, values: _memory(q, k, v, keys, values, old=lambda old: rotary(old, keys.size(-2)))],
)
def turned_again(query, key, value, keys, values):
    """The stored keys are rotated once more.

    They were rotated when their tokens arrived. If an old key is rotated again in each call, its angle is wrong by
    more and more.
    """
    return _memory(query, key, value, keys, values, old=rotary)


@attend.misconception(telltale_call=_text(3, 1, seed=1), reread="10#text-start")
def one_further(query, key, value, keys, values):
    """The positions of the new tokens are too large by 1.

    Counted from 0, three tokens have the positions 0, 1 and 2, and the next one has 3, which is the number of tokens
    before it. A counter is too large if it is increased before it is used, or once in every layer.
    """
    return _memory(query, key, value, keys, values, start=keys.size(-2) + 1)


def _after_the_new(x, start):
    """Turned as if the new tokens had been counted already."""
    return rotary(x, start + x.size(-2))


@attend.misconception(
    telltale_call=_text(0, 3),
    reread="10#text-start",
    forms=[partial(_memory, turn_query=_after_the_new, turn_key=_after_the_new)],
)
def new_tokens_counted(query, key, value, keys, values):
    """The new tokens are counted before their positions are read.

    `keys.size(-2)` is the first new position as long as `keys` holds only the stored ones. After `torch.cat` it is
    larger by the number of new tokens. Read it before.
    """
    return _memory(query, key, value, keys, values, turn_query=_after_the_new)


@attend.misconception(telltale_call=_text(3, 1, seed=1), reread="10#text-start")
def one_behind(query, key, value, keys, values):
    """The positions of the new tokens are too small by 1.

    The last token that was read has the position `keys.size(-2) - 1`. The first new token comes after it.
    """
    return _memory(query, key, value, keys, values, start=keys.size(-2) - 1)


@attend.misconception(reread="08#text-break")
def halves(query, key, value, keys, values):
    """Your pairs have one feature from each half.

    That is the other convention, and it is right by itself. Here a pair is two neighbouring features, and the stored
    keys were rotated in this way.
    """
    turn = partial(rotary, halves=True)
    return _memory(query, key, value, keys, values, turn_query=turn, turn_key=turn)


def _at_one_place(x, start):
    """Every row turned as the first one is."""
    return torch.cat([rotary(row, start) for row in x.split(1, dim=-2)], dim=-2)


@attend.misconception(telltale_call=_text(0, 3), reread="10#text-start")
def one_place_for_all(query, key, value, keys, values):
    """All new tokens are rotated by one and the same position.

    A single new token has one position. Several new tokens have one each: start, start + 1, and so on.
    """
    return _memory(query, key, value, keys, values, turn_query=_at_one_place, turn_key=_at_one_place)


@attend.misconception(
    telltale_call=_text(3, 1, seed=1),
    reread="10#text-start",
    forms=[lambda *args: (turned_at_each_call(*args)[0], *_memory(*args)[1:])],
)
def turned_at_each_call(query, key, value, keys, values):
    """All keys are rotated in this call, the stored ones too.

    A cache may hold keys that are not rotated; then every call has to rotate all of them. Here the stored keys are
    rotated already, and your code rotates them a second time.
    """
    n, all_keys = keys.size(-2), torch.cat([keys, key], dim=-2)
    heard = rotary(all_keys)
    output = _memory(query, key, value, heard[..., :n, :], values)[0]
    return output, all_keys, torch.cat([values, value], dim=-2)


@attend.misconception(telltale_call=_text(3, 1, seed=1))
def new_ones_in_front(query, key, value, keys, values):
    """The new keys and values come before the stored ones.

    The mask counts positions: the oldest key comes first, the newest last. `torch.cat([keys, new])`, in this order.
    """
    turned, mask = rotary(key, keys.size(-2)), masks.causal_mask(query.size(-2), keys.size(-2) + key.size(-2))
    all_keys, all_values = torch.cat([turned, keys], dim=-2), torch.cat([value, values], dim=-2)
    query = rotary(query, keys.size(-2))
    return functional.scaled_dot_product_attention(query, all_keys, all_values, mask)[0], all_keys, all_values


def _times(power):
    return lambda query, *rest: _memory(query, *rest, scale=query.size(-1) ** power)


@attend.misconception(reread="02#text-29")
def not_scaled(query, key, value, keys, values):
    """The scores are not divided by √d.

    As in notebook 2, d is the width of a head. Neither the cache nor RoPE changes this.
    """
    return _times(0.5)(query, key, value, keys, values)


@attend.misconception(reread="02#text-29")
def scaled_twice(query, key, value, keys, values):
    """The scores are divided by d, where it should be √d.

    Either the root is missing, or you divide by √d twice, for example the query and then the scores.
    """
    return _times(-0.5)(query, key, value, keys, values)


@attend.misconception()
def kept_unturned(query, key, value, keys, values):
    """The new keys are stored as they were before the rotation.

    The output is right. But the next call expects rotated keys. Store the keys that were used here.
    """
    output, _, all_values = _memory(query, key, value, keys, values)
    return output, torch.cat([keys, key], dim=-2), all_values


@attend.misconception()
def not_kept(query, key, value, keys, values):
    """The returned keys and values do not contain those of the new tokens.

    The output is right in this call. In the next call the keys and values of these new tokens are missing.
    """
    return _memory(query, key, value, keys, values, keep=lambda *_: (keys, values))


@attend.misconception(telltale_call=_text(3, 1, seed=1))
def old_ones_dropped(query, key, value, keys, values):
    """Only the keys and values of the new tokens are returned.

    The output is right in this call. In the next call the keys and values of all earlier tokens are missing.
    """
    n = query.size(-2)
    return _memory(query, key, value, keys, values, keep=lambda k, v: (k[..., -n:, :], v[..., -n:, :]))


@attend.misconception(telltale_call=_text(3, 1, seed=1), reread="10#text-arrives")
def memory_unused(query, key, value, keys, values):
    """The stored keys and values are not used.

    The new tokens attend to each other and to no earlier token. Put the stored keys and values before the new ones.
    """
    output, *_ = _memory(query, key, value, keys[..., :0, :], values[..., :0, :], start=keys.size(-2))
    return output, *_memory(query, key, value, keys, values)[1:]


# ---------------------------------------------------------------------------------------------------------- 10.2


def _stored(batch, kv_heads, n, head_dim, groups):
    return normal(batch, kv_heads, n, head_dim, seed=groups), groups


share_heads = function(
    "10.2",
    functional.share_heads,
    as_="my_share_heads(x, groups)",
    title="Heads that share",
    section="10#text-shared",
    probes=[_stored(1, 2, 3, 4, 2), _stored(2, 3, 4, 5, 2), _stored(2, 2, 5, 3, 4)],
    corner_cases=[_stored(2, 1, 3, 4, 3), _stored(1, 3, 2, 4, 1), _stored(1, 1, 1, 2, 1)],
    random_probes=lambda rng: [_stored(2, rng.randrange(2, 6), 3, 4, rng.randrange(2, 6)) for _ in range(2)],
    returns=("the heads",),
    gradients=True,
    hints=[
        "Stored heads A and B, for two query heads each, become A, A, B, B: neighbouring query heads use the same one.",
        "Which of the four axes counts the heads? That axis becomes `groups` times as long, and no other.",
        "`repeat_interleave` repeats each entry next to itself, `repeat` repeats the whole list.",
    ],
)


@share_heads.misconception()
def tiled(x, groups):
    """The whole list of heads is repeated.

    A, B, A, B in place of A, A, B, B: `repeat` where `repeat_interleave` is needed. Every shape is right, but many
    query heads use the keys and values of the wrong stored head.
    """
    return x.repeat(1, groups, 1, 1)


@share_heads.misconception()
def along_the_tokens(x, groups):
    """The tokens are repeated, not the heads.

    x is (batch, kv_heads, n, head_dim): the heads are the second axis, third from the end. In code for (batch, n,
    kv_heads, head_dim) the heads are another axis.
    """
    return x.repeat_interleave(groups, dim=-2)


@share_heads.misconception()
def along_the_features(x, groups):
    """The features are repeated, not the heads.

    Without `dim`, or with the last one, each number of a head is written several times: the heads become wider, not
    more.
    """
    return x.repeat_interleave(groups, dim=-1)


@share_heads.misconception()
def in_the_batch(x, groups):
    """The sentences are repeated, not the heads.

    The batch is the first axis, the heads are the second.
    """
    return x.repeat_interleave(groups, dim=0)


# ---------------------------------------------------------------------------------------------------------- 10.3


window_mask = function(
    "10.3",
    masks.window_mask,
    as_="my_window_mask(n_queries, n_keys, window)",
    title="A window",
    section="10#text-window",
    probes=[(3, 3, 2), (4, 4, 3), (2, 6, 3), (1, 5, 2), (3, 7, 2)],
    corner_cases=[(4, 4, 1), (2, 4, 9), (3, 3, 3), (1, 1, 1), (4, 2, 2), (2, 15, 3)],
    random_probes=lambda rng: [(n, n + 3, rng.randrange(2, 5)) for n in rng.sample(range(2, 7), 2)],
    returns=("the mask",),
    hints=[
        "Begin with `causal_mask(n_queries, n_keys)`. Which True entries of it have to become False?",
        "With 2 queries, 6 keys and a window of 3, the own key of query 0 is key 4, and it attends to keys 2, 3 and 4.",
        "`tril(d)` keeps what lies on or left of diagonal d, `triu(d)` what lies on or right of it. Own keys lie on "
        "diagonal n_keys − n_queries.",
    ],
)


def _band(n_queries, n_keys, latest, oldest, *, corner=None):
    own = n_keys - n_queries if corner is None else corner
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(own + latest).triu(own + oldest)


@window_mask.misconception()
def one_too_many(n_queries, n_keys, window):
    """The window is too wide by one key.

    The token itself counts as one of the window: with a window of 3 it attends to itself and to two more.
    `distance <= window` lets one more key through than `distance < window`.
    """
    return _band(n_queries, n_keys, 0, -window)


@window_mask.misconception(telltale_call=(4, 4, 3))
def one_too_few(n_queries, n_keys, window):
    """The window is too narrow by one key.

    The distances 0, 1, …, window − 1 are `window` numbers, and distance 0 is the token itself.
    """
    return _band(n_queries, n_keys, 0, 2 - window)


@window_mask.misconception(forms=[lambda n_queries, n_keys, window: _band(n_queries, n_keys, -1, 1 - window)])
def self_left_out(n_queries, n_keys, window):
    """A token may not attend to itself.

    The token itself is the last token of the window. With a window of 1 it attends to itself only, and with your mask
    no key would be left for it.
    """
    return _band(n_queries, n_keys, -1, -window)


@window_mask.misconception(
    telltale_call=(2, 6, 3),
    reread="10#text-chunk",
    forms=[
        lambda n_queries, n_keys, window: _band(n_queries, n_keys, 0, 1 - window - (n_keys - n_queries)),
        lambda n_queries, n_keys, window: _band(n_queries, n_keys, -(n_keys - n_queries), 1 - window),
        lambda n_queries, n_keys, window: _band(n_queries, n_keys, 0, -window, corner=0),
    ],
)
def top_left_window(n_queries, n_keys, window):
    """The band of allowed keys, or one of its two edges, begins at the upper left.

    Where there are fewer queries than keys, the queries belong to the newest tokens: the last query to the last key.
    """
    return _band(n_queries, n_keys, 0, 1 - window, corner=0)


@window_mask.misconception(telltale_call=(2, 6, 3))
def same_for_all(n_queries, n_keys, window):
    """Every query has the window of the last one.

    The newest `window` keys are right for the last query. The own key of the first query is further left, so its window
    is further left, too. Your mask hides keys that it should attend to.
    """
    latest = torch.arange(n_keys) >= n_keys - window
    return masks.causal_mask(n_queries, n_keys) & latest


@window_mask.misconception(telltale_call=(4, 4, 3), reread="03#text-10")
def both_sides(n_queries, n_keys, window):
    """The window reaches into the future.

    That is right for a text that is read as a whole. A model that writes may not attend to later tokens: `tril` is
    missing, or the distance is taken without its sign.
    """
    return _band(n_queries, n_keys, window - 1, 1 - window)


@window_mask.misconception(telltale_call=(4, 4, 3), reread="03#text-10")
def future_open(n_queries, n_keys, window):
    """The past is cut off, the future is open.

    `triu` alone hides the keys that are too old. The later keys have to be hidden, too.
    """
    return _band(n_queries, n_keys, n_keys, 1 - window)


@window_mask.misconception(telltale_call=(4, 4, 3))
def window_unused(n_queries, n_keys, window):
    """The window is not used: each query may attend to all keys up to its own.

    That is the causal mask. Keys that are `window` or more places back have to be hidden, too.
    """
    return masks.causal_mask(n_queries, n_keys)


def _places(n_queries, n_keys):
    return torch.arange(n_keys - n_queries, n_keys)[:, None], torch.arange(n_keys)


def _same_block(n_queries, n_keys, window):
    query, key = _places(n_queries, n_keys)
    return query // window == key // window


@window_mask.misconception(telltale_call=(4, 4, 3), forms=[_same_block])
def fixed_blocks(n_queries, n_keys, window):
    """The keys are cut into blocks of `window`, and a query attends to its own block.

    Then the first query of a block attends to itself alone. A window slides: it ends at each query's own key.
    """
    return _same_block(n_queries, n_keys, window) & masks.causal_mask(n_queries, n_keys)


@window_mask.misconception(
    telltale_call=(4, 4, 3),
    forms=[
        lambda n_queries, n_keys, window: _band(n_queries, n_keys, 0, -(window // 2)),
        lambda n_queries, n_keys, window: _band(n_queries, n_keys, (window - 1) // 2, -((window - 1) // 2)),
    ],
)
def half_each_side(n_queries, n_keys, window):
    """Only half of the window lies before the query.

    Models that read a whole text lay the window around each token. A model that writes has no later tokens: all
    `window` keys are its own key and keys before it.
    """
    return _band(n_queries, n_keys, window // 2, -(window // 2))


def _with_sinks(n_queries, n_keys, window, sinks=1):
    first = masks.causal_mask(n_queries, n_keys) & (torch.arange(n_keys) < sinks)
    return masks.window_mask(n_queries, n_keys, window) | first


@window_mask.misconception(telltale_call=(3, 7, 2), forms=[partial(_with_sinks, sinks=sinks) for sinks in (2, 3, 4)])
def first_ones_kept(n_queries, n_keys, window):
    """All queries may attend to the first keys of the text.

    Some models keep such keys on purpose, as attention sinks. Here every key that is `window` or more places back is
    hidden, the first ones too.
    """
    return _with_sinks(n_queries, n_keys, window)


@window_mask.misconception(reread="03#text-35")
def to_be_added(n_queries, n_keys, window):
    """You return a mask of 0 and −∞, to be added to the scores.

    Here a mask is bool: True = may attend.
    """
    mask = masks.window_mask(n_queries, n_keys, window)
    return torch.zeros(n_queries, n_keys).masked_fill(~mask, -math.inf)


@window_mask.misconception(reread="03#text-35")
def polarity(n_queries, n_keys, window):
    """True means the opposite.

    Here True = may attend, as everywhere in this series.
    """
    return ~masks.window_mask(n_queries, n_keys, window)


# ---------------------------------------------------------------------------------------------------------- 10.4


def _bytes(layers, embed_dim, heads, kv_heads, tokens, bits):
    numbers = 2 * layers * kv_heads * (embed_dim // heads) * tokens  # a key and a value
    return numbers * bits / 8


def _number_of_bytes(*arguments_and_result):
    return (number_of("a number of bytes", arguments_and_result[-1]),)


cache_bytes = function(
    "10.4",
    _bytes,
    as_="my_cache_bytes(layers, embed_dim, heads, kv_heads, tokens, bits)",
    title="What it costs",
    section="10#text-memory",
    probes=[(2, 12, 6, 3, 5, 16), (3, 20, 4, 2, 7, 32), (12, 768, 12, 12, 1, 32), (32, 4096, 32, 8, 100, 16)],
    corner_cases=[(1, 8, 4, 1, 1, 8), (2, 12, 6, 3, 0, 16), (2, 12, 6, 3, 5, 4)],
    random_probes=lambda rng: [(rng.randrange(2, 9), 24, 6, 2, rng.randrange(2, 9), 16) for _ in range(2)],
    returns=("the number of bytes",),
    after=_number_of_bytes,
    also_called=("cache_bytes",),
    hints=[
        "One token, one layer, one stored head: a key and a value, of `head_dim` numbers each.",
        "`head_dim` is the width of a token divided by the number of query heads; stored heads have the same width.",
        "2 · layers · kv_heads · (embed_dim / heads) · tokens numbers; 8 bits are a byte.",
    ],
)


@cache_bytes.misconception()
def keys_alone(layers, embed_dim, heads, kv_heads, tokens, bits):
    """The values are forgotten.

    For each token a key *and* a value are stored: a factor of 2.
    """
    return _bytes(layers, embed_dim, heads, kv_heads, tokens, bits) / 2


@cache_bytes.misconception(reread="10#text-shared")
def query_heads(layers, embed_dim, heads, kv_heads, tokens, bits):
    """That is the number for a model in which no heads are shared.

    Either you counted the query heads, or you divided the width by `kv_heads`. The cache holds the stored heads, before
    they are repeated, and each of them is as wide as a query head: embed_dim / heads.
    """
    return _bytes(layers, embed_dim, heads, heads, tokens, bits)


@cache_bytes.misconception()
def whole_width(layers, embed_dim, heads, kv_heads, tokens, bits):
    """Each stored head is counted as wide as a whole token.

    Either you did not divide the width of a token by `heads`, or you multiplied the result by `heads` again. The width
    of a token is divided among the query heads: `head_dim` is embed_dim / heads, and `kv_heads` heads of this width are
    stored.
    """
    return _bytes(layers, embed_dim * heads, heads, kv_heads, tokens, bits)


@cache_bytes.misconception()
def in_bits(layers, embed_dim, heads, kv_heads, tokens, bits):
    """That is the number of bits.

    8 bits are a byte.
    """
    return 8 * _bytes(layers, embed_dim, heads, kv_heads, tokens, bits)


@cache_bytes.misconception()
def numbers_for_bytes(layers, embed_dim, heads, kv_heads, tokens, bits):
    """That is how many numbers are stored, not how many bytes.

    Each number takes bits / 8 bytes: 2 in bfloat16, 4 in float32.
    """
    return _bytes(layers, embed_dim, heads, kv_heads, tokens, 8)


@cache_bytes.misconception()
def one_layer(layers, embed_dim, heads, kv_heads, tokens, bits):
    """That is the memory of one layer.

    Every layer stores keys and values of its own.
    """
    return _bytes(1, embed_dim, heads, kv_heads, tokens, bits)


@cache_bytes.misconception()
def one_token(layers, embed_dim, heads, kv_heads, tokens, bits):
    """That is the memory of one token.

    For every token that was read, each layer stores a key and a value: multiply by `tokens`.
    """
    return _bytes(layers, embed_dim, heads, kv_heads, 1, bits)


@cache_bytes.misconception()
def queries_too(layers, embed_dim, heads, kv_heads, tokens, bits):
    """Three things are counted for each token, where two are stored.

    The query of a token is not needed again once the token was read: only its key and its value are stored.
    """
    return 1.5 * _bytes(layers, embed_dim, heads, kv_heads, tokens, bits)


def _of_fixed(bits):
    return lambda layers, embed_dim, heads, kv_heads, tokens, _: _bytes(
        layers, embed_dim, heads, kv_heads, tokens, bits
    )


def _all_heads_of_fixed(bits):
    return lambda layers, embed_dim, heads, kv_heads, tokens, _: _bytes(layers, embed_dim, heads, heads, tokens, bits)


@cache_bytes.misconception(forms=[_of_fixed(32), _all_heads_of_fixed(16), _all_heads_of_fixed(32)])
def bits_unused(layers, embed_dim, heads, kv_heads, tokens, bits):
    """Every number takes the same bytes, whatever `bits` says.

    2 bytes are right for bfloat16, 4 for float32. Here `bits` says it, and it may be 4.
    """
    return _bytes(layers, embed_dim, heads, kv_heads, tokens, 16)


def _divided_by(unit):
    return lambda *configuration: _bytes(*configuration) / unit


@cache_bytes.misconception(forms=[_divided_by(unit) for unit in (1e3, 1e6, 2**20, 1e9, 2**30)])
def larger_units(layers, embed_dim, heads, kv_heads, tokens, bits):
    """The result is in a larger unit than a byte.

    Return bytes; nothing is divided by 1000 or 1024.
    """
    return _divided_by(1024)(layers, embed_dim, heads, kv_heads, tokens, bits)


@cache_bytes.misconception(telltale_call=(2, 12, 6, 3, 5, 4))
def whole_bytes(layers, embed_dim, heads, kv_heads, tokens, bits):
    """For numbers of less than 8 bits the result is 0.

    `bits // 8` rounds down: 4 // 8 is 0. Two numbers of 4 bits share a byte, so divide by 8 at the end.
    """
    return _bytes(layers, embed_dim, heads, kv_heads, tokens, 8 * (bits // 8))


# ---------------------------------------------------------------------------------------------------------- 10.5


def _draft(draft, said, n_old, heads=2, batch=1, seed=0):
    """A draft, what the model says at each of its places, and what is kept once it has read the draft."""
    sizes = (batch, heads, n_old + len(draft), 4), (batch, heads, n_old + len(draft), 3)
    kept = (normal(*size, seed=10 * seed + i) for i, size in enumerate(sizes))
    return torch.tensor(draft), torch.tensor(said), *kept


def _accept(draft, said, keys, values):
    """As asked for: what is written, and what is kept."""
    right = (draft == said[:-1]).int().cumprod(dim=0).sum()  # up to the first that differs
    n = keys.size(-2) - len(draft) + right
    return torch.cat([draft[:right], said[right : right + 1]]), keys[..., :n, :], values[..., :n, :]


def _whole_numbers(tensors):
    """No tokens at all are whole numbers, too: an empty list does not say what it would hold."""
    tokens, *kept = tensors
    return tokens if tokens.numel() else tokens.long(), *kept


def _random_drafts(rng):
    probes = []
    for right in (1, 2):
        said = rng.sample(range(3, 60), 6)
        draft = [*said[:right], 1, *said[right + 1 : 5]]
        probes.append(_draft(draft, said, rng.randrange(2, 6), seed=rng.randrange(10**6)))
    return probes


_MORE_HEADS_THAN_TOKENS = _draft([6, 2], [4, 6, 2], 1, heads=6, batch=3, seed=8)

accepting = function(
    "10.5",
    _accept,
    as_="my_accept(draft, said, keys, values)",
    title="A draft, read at once",
    section="10#text-chunk",
    probes=[
        _draft([7, 3, 9, 4], [7, 3, 5, 4, 8], 3, seed=1),
        _draft([2, 8, 8, 6, 1], [2, 5, 8, 6, 1, 9], 2, heads=3, seed=2),
        _draft([5, 5, 1], [5, 5, 1, 4], 4, seed=3),
        _draft([6, 2, 9], [4, 6, 2, 9], 5, heads=1, seed=4),
        _MORE_HEADS_THAN_TOKENS,
    ],
    corner_cases=[_draft([3], [3, 8], 2, seed=5), _draft([3], [8, 3], 1, seed=6), _draft([4, 4], [4, 4, 4], 0, seed=7)],
    random_probes=_random_drafts,
    returns=("the tokens", "the keys", "the values"),
    numbers=("the tokens",),
    read=_whole_numbers,
    hints=[
        "Compare the draft with `said[:-1]`, place by place. Where is the first token that differs?",
        "All draft tokens before that place are written, and then one token of the large model: `said` at that place.",
        "Remove the keys and values of the refused draft tokens. The large model's own token has not been read yet, so "
        "it has no key and no value.",
    ],
)


def _accepted(draft, said, keys, values, *, right=None, own=None, spare=None):
    """10.5 with one part exchanged: how many are right, the model's own token, how many of the draft stay kept."""
    if right is None:
        right = int((draft == said[:-1]).int().cumprod(dim=0).sum())
    own = said[right : right + 1] if own is None else own
    n = keys.size(-2) - len(draft) + (right if spare is None else spare)
    return torch.cat([draft[:right], own]), keys[..., :n, :], values[..., :n, :]


@accepting.misconception(telltale_call=_draft([7, 3, 9, 4], [7, 3, 5, 4, 8], 3, seed=1))
def all_that_agree(draft, said, keys, values):
    """All places that agree are counted, also those after the first one that differs.

    At the later places the large model has read a refused token, so what it would write there cannot be used.
    """
    return _accepted(draft, said, keys, values, right=int((draft == said[:-1]).sum()))


def _right_at_most(draft, said, most):
    return max(0, min(int((draft == said[:-1]).int().cumprod(dim=0).sum()), most))


@accepting.misconception()
def last_right_one_lost(draft, said, keys, values):
    """If the whole draft is right, its last token is lost.

    After `for i in …: if …: break` the variable `i` is the place of the first difference. Without a difference there is
    no `break`, and `i` is the last place, one less than the number of right tokens.
    """
    return _accepted(draft, said, keys, values, right=_right_at_most(draft, said, len(draft) - 1))


@accepting.misconception()
def picked_out(draft, said, keys, values):
    """Tokens are taken from the draft after the first one that differs.

    A draft can be used up to the first difference only: from there on the large model would have read another token.
    """
    right = int((draft == said[:-1]).int().cumprod(dim=0).sum())
    agree = draft == said[:-1]
    return torch.cat([draft[agree], said[right : right + 1]]), *_accepted(draft, said, keys, values)[1:]


def _off_by_one_place(draft, said):
    return int((draft == said[1:]).int().cumprod(dim=0).sum())


@accepting.misconception(
    forms=[
        lambda draft, said, keys, values: _accepted(
            draft,
            said,
            keys,
            values,
            right=_off_by_one_place(draft, said),
            own=said[_off_by_one_place(draft, said) + 1 :][:1],
        )
    ]
)
def one_place_off(draft, said, keys, values):
    """Each token is compared with what the model would write after it.

    `said[i]` is what the model would write *before* it has read `draft[i]`: these two have to agree.
    """
    return _accepted(draft, said, keys, values, right=_off_by_one_place(draft, said))


@accepting.misconception()
def all_or_nothing(draft, said, keys, values):
    """The draft is accepted as a whole or not at all.

    The tokens before the first difference are what the model would have written itself, so accept them.
    """
    return _accepted(draft, said, keys, values, right=len(draft) if draft.equal(said[:-1]) else 0)


@accepting.misconception()
def own_token_missing(draft, said, keys, values):
    """The large model's own token is missing.

    At the first place that differs, `said` holds the right token. If the whole draft is wrong, one token is written.
    """
    return _accepted(draft, said, keys, values, own=draft[:0])


@accepting.misconception()
def last_token_said(draft, said, keys, values):
    """The large model's own token is taken from the end.

    `said[-1]` would follow the whole draft. Take `said` at the place where the draft first differs.
    """
    return _accepted(draft, said, keys, values, own=said[-1:])


@accepting.misconception()
def refused_one_written(draft, said, keys, values):
    """The token that was refused is written, too.

    At this place the large model's own token is written, and not the refused one.
    """
    right = int((draft == said[:-1]).int().cumprod(dim=0).sum())
    tokens = torch.cat([draft[: right + 1], said[right : right + 1]])
    return tokens, *_accepted(draft, said, keys, values)[1:]


@accepting.misconception()
def nothing_taken_back(draft, said, keys, values):
    """The keys and values of refused tokens are still there.

    The next token would attend to tokens that were never written, and would get a position that is too large.
    """
    return _accepted(draft, said, keys, values, spare=len(draft))


@accepting.misconception(
    telltale_call=_MORE_HEADS_THAN_TOKENS,
    forms=[
        lambda draft, said, keys, values: _cut(draft, said, keys, values, lambda x, n: x[:n]),
        lambda draft, said, keys, values: _cut(draft, said, keys, values, lambda x, n: x[..., :n]),
    ],
)
def another_axis_cut(draft, said, keys, values):
    """Keys and values are cut along another axis than that of the tokens.

    They are (batch, heads, n_kept, …): `keys[:, :n]` cuts the axis of the heads, and changes nothing where there are n
    heads or fewer. The tokens are the axis before the last: `keys[..., :n, :]`.
    """
    return _cut(draft, said, keys, values, lambda x, n: x[:, :n])


def _cut(draft, said, keys, values, slice_of):
    """The right tokens, and of keys and values a slice."""
    n = keys.size(-2) - len(draft) + _right(draft, said)
    return _accepted(draft, said, keys, values)[0], slice_of(keys, n), slice_of(values, n)


@accepting.misconception()
def refused_one_kept(draft, said, keys, values):
    """The key and value of the first refused token are still there, in the place of the large model's own token.

    The large model's own token has not been read yet; its key is computed in the next call. So keep the keys and values
    of the accepted draft tokens, and not one more.
    """
    right = int((draft == said[:-1]).int().cumprod(dim=0).sum())
    return _accepted(draft, said, keys, values, spare=right + 1)


@accepting.misconception()
def draft_let_go(draft, said, keys, values):
    """No keys and values of the draft are kept.

    Those of the accepted tokens are the ones that the model would have computed itself, so keep them.
    """
    return _accepted(draft, said, keys, values, spare=0)


def _right(draft, said):
    return int((draft == said[:-1]).int().cumprod(dim=0).sum())


@accepting.misconception(telltale_call=_draft([5, 5, 1], [5, 5, 1, 4], 4, seed=3))
def right_to_the_end(draft, said, keys, values):
    """A draft that is right to its end is treated as if its first token was wrong.

    Where no token differs, `argmax` returns place 0, as if the first token differed. In this case accept the whole
    draft.
    """
    return _accepted(draft, said, keys, values, right=_right(draft, said) % len(draft))


@accepting.misconception(telltale_call=_draft([5, 5, 1], [5, 5, 1, 4], 4, seed=3))
def minus_zero(draft, said, keys, values):
    """Where no token is refused, no key is left.

    `keys[:, :, :-refused]` cuts `refused` keys from the end, but `-0` is 0, and `[:0]` is empty. Count the keys that
    stay instead.
    """
    right = _right(draft, said)
    tokens, *kept = _accepted(draft, said, keys, values)
    return tokens, *(x[..., : x.size(-2) * (right < len(draft)), :] for x in kept)


@accepting.misconception(telltale_call=_draft([5, 5, 1], [5, 5, 1, 4], 4, seed=3))
def all_right_and_no_more(draft, said, keys, values):
    """Where the whole draft is right, the large model's own token is missing.

    `said` has one token more than the draft: the one that the model would write after the whole draft. You get this
    token without another call.
    """
    return _accepted(draft, said, keys, values, own=draft[:0] if _right(draft, said) == len(draft) else None)


@accepting.misconception()
def read_before_let_go(draft, said, keys, values):
    """The keys and values of the text before the draft are gone.

    Keys and values belong to *all* tokens that were read: first the text so far, then the draft. Keep all those of the
    text, and after them those of the accepted draft tokens.
    """
    return _accepted(draft, said, keys, values)[0], *(x[..., : _right(draft, said), :] for x in (keys, values))


@accepting.misconception()
def wrong_end(draft, said, keys, values):
    """The number of keys is right, but they are the last ones, not the first ones.

    The refused tokens come last. `[-n:]` keeps them, and drops the beginning of the text.
    """
    n = keys.size(-2) - len(draft) + _right(draft, said)
    return _accepted(draft, said, keys, values)[0], *(x[..., x.size(-2) - n :, :] for x in (keys, values))


@accepting.misconception(telltale_call=_draft([6, 2, 9], [4, 6, 2, 9], 5, heads=1, seed=4))
def first_unasked(draft, said, keys, values):
    """The first token of the draft is accepted without being compared.

    `said[0]` is what the model would write before it has read any of the draft: it has to agree with `draft[0]`.
    """
    agree = draft == said[:-1]
    agree[0] = True
    return _accepted(draft, said, keys, values, right=int(agree.int().cumprod(dim=0).sum()))


def _said_after(draft, said, keys, values, *, last):
    place = _right(draft, said) + 1
    return _accepted(draft, said, keys, values, own=said[min(place, len(draft)) if last else place :][:1])


@accepting.misconception(forms=[partial(_said_after, last=True)])
def said_a_place_later(draft, said, keys, values):
    """The large model's own token is taken from the place after the first one that differs.

    There the model has already read the refused token. Take `said` at the place where the two first differ.
    """
    return _said_after(draft, said, keys, values, last=False)


@accepting.misconception()
def one_too_few_kept(draft, said, keys, values):
    """One key and one value too few are kept.

    Keep those of all tokens before the draft, and those of the accepted draft tokens. The model's own token has no key
    and no value yet.
    """
    return _accepted(draft, said, keys, values, spare=_right(draft, said) - 1)


@accepting.misconception(
    forms=[
        lambda draft, said, keys, values: (
            _accepted(draft, said, keys, values)
            if _right(draft, said) == len(draft)
            else all_let_go(draft, said, keys, values)
        )
    ]
)
def all_let_go(draft, said, keys, values):
    """No keys and values are left.

    The whole text would have to be read again. Keep those of the text before the draft and of the accepted tokens.
    """
    return _accepted(draft, said, keys, values)[0], keys[..., :0, :], values[..., :0, :]


@accepting.misconception(telltale_call=_draft([6, 2, 9], [4, 6, 2, 9], 5, heads=1, seed=4))
def nothing_right_nothing_cut(draft, said, keys, values):
    """Where the whole draft is refused, its keys and values are still there.

    None of its tokens is written, so remove the keys and values of all of them.
    """
    return _accepted(draft, said, keys, values, spare=_right(draft, said) or len(draft))


@accepting.misconception(
    telltale_call=_draft([5, 5, 1], [5, 5, 1, 4], 4, seed=3),
    forms=[
        lambda draft, said, keys, values: _accepted(
            draft, said, keys, values, right=int((draft != said[:-1]).nonzero()[0])
        )
    ],
)
def error_where_all_is_right(draft, said, keys, values):
    """A draft that is right to its end raises an error.

    Where no token differs, a loop runs past the end of the draft, or a search for the first difference finds none. In
    this case accept the whole draft.
    """
    i = 0
    while draft[i] == said[i]:
        i += 1
    return _accepted(draft, said, keys, values, right=i)


@accepting.misconception()
def values_left(draft, said, keys, values):
    """The values of refused tokens are still there; only their keys are gone.

    A key and its value belong together. With more values than keys the next call fails, or mixes them up.
    """
    return *_accepted(draft, said, keys, values)[:2], values


@accepting.misconception(
    forms=[lambda draft, said, keys, values: _accepted(draft, said, keys, values, own=draft[_right(draft, said) :][:1])]
)
def refused_in_its_place(draft, said, keys, values):
    """The first token that differs is taken from the draft.

    At this place the two disagree, and the large model decides: take `said`, not `draft`.
    """
    right = _right(draft, said)
    own = draft[right : right + 1] if right < len(draft) else None
    return _accepted(draft, said, keys, values, own=own)


@accepting.misconception(forms=[lambda draft, said, keys, values: (said, *_accepted(draft, said, keys, values)[1:])])
def all_said_written(draft, said, keys, values):
    """All of `said` is written.

    After the first difference, `said` continues a text with a refused token. It cannot be used.
    """
    return said, keys, values
