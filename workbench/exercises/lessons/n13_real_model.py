"""Exercises of notebook 13: a block's attention, rows for neighbours, numbers of four bits, what a head carries."""

from functools import partial

import torch
import torch.nn.functional as F

from attn_lib import causal_mask, masked_softmax, merge_heads, position, share_heads, split_heads
from workbench.smollm import model

from ..engine.function import function
from ..engine.one_value import number_of
from ..engine.probes import normal

# ---------------------------------------------------------------------------------------------------------- 13.1

EPSILON = 1e-5


def _block_attention(x, norm, W_q, W_k, W_v, W_o, heads, kv_heads, base):
    h = x / (x.square().mean(dim=-1, keepdim=True) + 0.00001).sqrt() * norm  # (batch, n, embed_dim)
    query = split_heads(h @ W_q.T, heads)  # (batch, heads, n, head_dim)
    key, value = split_heads(h @ W_k.T, kv_heads), split_heads(h @ W_v.T, kv_heads)
    query, key = position.rotary(query, base=base), position.rotary(key, base=base)
    key, value = share_heads(key, heads // kv_heads), share_heads(value, heads // kv_heads)
    scores = query @ key.mT / query.size(-1) ** 0.5  # (batch, heads, n, n)
    weights = masked_softmax(scores, causal_mask(x.size(1)))
    return x + merge_heads(weights @ value) @ W_o.T


def _block(batch, n, heads, kv_heads, head_dim, base, *, seed):
    """Rows and a block's numbers. Heads have four features or more: with two, neither base nor pairs would show."""
    d, kv = heads * head_dim, kv_heads * head_dim
    norm, *weights = (normal(*shape, seed=seed + i) for i, shape in enumerate([(d,), (d, d), (kv, d), (kv, d), (d, d)]))
    return (
        normal(batch, n, d, seed=seed + 9),
        1 + norm / 4,
        *(w / d**0.5 for w in weights),
        heads,
        kv_heads,
        base,
    )


_FEW_HEADS = _block(2, 5, 4, 2, 6, 500.0, seed=20)
_X, *_REST = _block(1, 3, 2, 1, 4, 100.0, seed=60)
_TINY_ROWS = 0.003 * _X.abs(), *_REST  # grading draws no others: these are there to show ε

block_attention = function(
    "13.1",
    _block_attention,
    as_="my_block_attention(x, norm, W_q, W_k, W_v, W_o, heads, kv_heads, base)",
    title="The attention of a block",
    section="13#eight-lines",
    dtype=torch.float64,
    also_called=(model.block.__name__,),
    probes=[_block(1, 4, 6, 3, 4, 100_000.0, seed=1), _FEW_HEADS, _block(2, 6, 6, 2, 4, 50.0, seed=40), _TINY_ROWS],
    corner_cases=[_block(1, 1, 4, 2, 4, 100.0, seed=80), _block(1, 3, 3, 3, 4, 100.0, seed=100)],
    random_probes=lambda rng: [
        _block(2, rng.randrange(3, 7), 6, rng.choice((2, 3)), 4, 900.0, seed=rng.randrange(10**5)) for _ in range(2)
    ],
    returns=("the rows",),
    hints=[
        "Begin with RMSNorm: `x / sqrt(mean of the squares of a row + 0.00001) * norm`. Attention works on these rows, "
        "and its result is added to `x` itself.",
        "The rows of a matrix are its outputs, so `h @ W_q.T`. Then `split_heads`: `heads` for queries, `kv_heads` for "
        "keys and values. Queries and keys are turned by `rotary(…, base=base)`, and values are not.",
        "`share_heads(key, heads // kv_heads)` gives each head of queries its key; the same with values. After that it "
        "is attention with `causal_mask(n)`, `merge_heads` and `@ W_o.T`.",
    ],
)


def _rms(x, norm, epsilon=EPSILON):
    return x / (x.square().mean(dim=-1, keepdim=True) + epsilon).sqrt() * norm


def _turned(x, base, **how):
    return position.rotary(x, base=base, **how)


def _with(
    x,
    norm,
    W_q,
    W_k,
    W_v,
    W_o,
    heads,
    kv_heads,
    base,
    *,
    normed=_rms,
    q=lambda h, W: h @ W.T,
    o=lambda y, W: y @ W.T,
    split=split_heads,
    turn_query=_turned,
    turn_key=_turned,
    turn_value=lambda x, base: x,
    share=share_heads,
    width=lambda head_dim, heads: head_dim,
    weigh=masked_softmax,
    mask=causal_mask,
    merge=merge_heads,
    add=lambda x, h, y: x + y,
):
    """13.1 with some of its parts exchanged."""
    h = normed(x, norm)
    query, key, value = split(q(h, W_q), heads), split(h @ W_k.T, kv_heads), split(h @ W_v.T, kv_heads)
    query, key, value = turn_query(query, base), turn_key(key, base), turn_value(value, base)
    key, value = share(key, heads // kv_heads), share(value, heads // kv_heads)
    scores = query @ key.mT / width(query.size(-1), heads) ** 0.5
    return add(x, h, o(merge(weigh(scores, mask(x.size(1))) @ value), W_o))


def _form(**parts):
    return partial(_with, **parts)


def _tiled(x, groups):
    return x.repeat(1, groups, 1, 1)


@block_attention.misconception(
    forms=[_form(share=lambda x, groups: x[:, :1].expand(-1, x.size(1) * groups, -1, -1))], telltale_call=_FEW_HEADS
)
def tiled(*args):
    """The stored heads come in the wrong order: first, second, first, second, and not first, first, second, second.

    `repeat` lays all heads side by side once more, and `expand` of the first stored head gives it to all heads of
    queries. The shapes are right in both cases. A head of queries belongs to the stored head with the number
    `head // groups`: `share_heads`, or `repeat_interleave`.
    """
    return _with(*args, share=_tiled)


@block_attention.misconception()
def default_base(*args):
    """`base` is not handed on: `rotary` turns by base 10,000.

    10,000 is the default, and no error tells that this model was trained with another base. In the lesson short prompts
    are still answered well with the wrong base, which makes this fault hard to find.
    """
    return _with(*args, turn_query=lambda x, _: position.rotary(x), turn_key=lambda x, _: position.rotary(x))


@block_attention.misconception()
def halves(*args):
    """Features i and i + head_dim/2 are turned together, where features 2i and 2i + 1 belong together.

    Hugging Face's own files are trained for halves. In a GGUF file the rows of W_q and W_k are already reordered for
    neighbours.
    """
    turn = partial(_turned, halves=True)
    return _with(*args, turn_query=turn, turn_key=turn)


@block_attention.misconception(
    forms=[
        _form(turn_query=lambda x, base: x),
        _form(turn_key=lambda x, base: x),
    ],
    reread="08#text-01",
)
def not_turned(*args):
    """Queries, or keys, or both, are not turned.

    Without the turn a head does not know how far away a key is. Both are turned, each by its own position: then the
    score depends on the distance alone.
    """
    return _with(*args, turn_query=lambda x, base: x, turn_key=lambda x, base: x)


@block_attention.misconception()
def values_turned(*args):
    """The values are turned, too.

    Only queries and keys are compared, so only these two are turned. A value is the same at every position.
    """
    return _with(*args, turn_value=_turned)


def _viewed(x, heads):
    return x.reshape(x.size(0), heads, x.size(1), x.size(2) // heads)


@block_attention.misconception(
    forms=[_form(split=lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2))], telltale_call=_FEW_HEADS
)
def torn(*args):
    """The features are not cut into heads: `view` alone, or an interleaved cut, mixes features of different heads.

    First `view(batch, n, heads, head_dim)`, then `transpose(1, 2)`: a token's features stay together, and the first
    head_dim of them are head 0. `split_heads` does both.
    """
    return _with(*args, split=_viewed)


def _flattened(x):
    return x.reshape(x.size(0), x.size(2), -1)


@block_attention.misconception(
    forms=[_form(merge=lambda x: x.permute(0, 2, 3, 1).flatten(2))], telltale_call=_FEW_HEADS
)
def merged_torn(*args):
    """The heads are not laid side by side again: the `transpose` is missing, or it moves the wrong axis.

    `reshape` reads (batch, heads, n, head_dim) head by head, so that the row of a token gets numbers of other tokens.
    With a cache such a model still writes fluently, because with a single query nothing is mixed.
    """
    return _with(*args, merge=_flattened)


@block_attention.misconception(
    forms=[_form(mask=lambda n: torch.ones(n, n, dtype=torch.bool).triu())], reread="03#text-10"
)
def no_mask(*args):
    """Tokens attend to the ones that come after them.

    A language model reads from left to right: `causal_mask(n)`.
    """
    return _with(*args, mask=lambda n: torch.ones(n, n, dtype=torch.bool))


@block_attention.misconception(reread="03#text-10")
def may_not_attend_to_itself(*args):
    """A token does not attend to itself.

    `tril(-1)` cuts the diagonal, too. A token may attend to all tokens up to and including itself.
    """
    return _with(*args, mask=lambda n: torch.ones(n, n, dtype=torch.bool).tril(-1))


def _layer_norm(x, norm):
    return F.layer_norm(x, x.shape[-1:], eps=EPSILON) * norm


@block_attention.misconception(reread="13#more-norm")
def layer_norm(*args):
    """It is LayerNorm: the mean is subtracted.

    RMSNorm divides by the root of the mean of the squares, and subtracts nothing.
    """
    return _with(*args, normed=_layer_norm)


@block_attention.misconception(
    forms=[_form(normed=lambda x, norm: x * norm), _form(normed=lambda x, norm: _rms(x, 1.0))],
    reread="13#more-norm",
)
def norm_left_out(*args):
    """RMSNorm is left out, or its factors `norm` are.

    Attention reads normalized rows, times `norm`.
    """
    return _with(*args, normed=lambda x, norm: x)


@block_attention.misconception(
    forms=[_form(normed=partial(_rms, epsilon=epsilon)) for epsilon in (1e-6, 1e-8, 1e-12, torch.finfo().eps)]
    + [
        _form(normed=partial(_rms, epsilon=torch.finfo(torch.float64).eps)),
        _form(normed=lambda x, norm: x / (x.square().mean(-1, keepdim=True).sqrt() + EPSILON) * norm),
    ],
    telltale_call=_TINY_ROWS,
    reread="13#more-norm",
)
def epsilon_of_another_size(*args):
    """ε is missing, is not 0.00001, or stands outside the root.

    Only rows with tiny numbers show it. `F.rms_norm` takes another ε unless you write `eps=1e-5`.
    """
    return _with(*args, normed=partial(_rms, epsilon=0.0))


@block_attention.misconception(
    forms=[lambda *args: _with(*args, normed=lambda x, norm: _rms(x, norm) / x.size(-1) ** 0.5)],
    reread="13#more-norm",
)
def by_the_length(*args):
    """You divide by the length of a row; divide by the root of the *mean* of its squares.

    The length is √embed_dim times as large.
    """
    return _with(*args, normed=lambda x, norm: x / (x.square().sum(-1, keepdim=True) + EPSILON).sqrt() * norm)


@block_attention.misconception(reread="11#residual")
def from_the_normed(*args):
    """The result is added to the normalized rows.

    Add it to `x` as it came in: `x` goes from block to block without any norm.
    """
    return _with(*args, add=lambda x, h, y: h + y)


@block_attention.misconception(reread="11#residual")
def nothing_added(*args):
    """The output of attention replaces the rows.

    A block adds to `x`: otherwise all that earlier blocks have added is lost.
    """
    return _with(*args, add=lambda x, h, y: y)


@block_attention.misconception(
    forms=[_form(width=lambda head_dim, heads: 1), _form(width=lambda head_dim, heads: head_dim**2)],
    reread="02#text-29",
)
def scale_of_all(*args):
    """Scores are divided by the wrong number: √embed_dim, head_dim or 1, where √head_dim belongs.

    A score is a dot product over the features of one head: head_dim products are added.
    """
    return _with(*args, width=lambda head_dim, heads: head_dim * heads)


def _as_it_is(rows, W):
    return rows @ W


@block_attention.misconception(forms=[_form(q=_as_it_is), _form(o=_as_it_is)])
def untransposed(*args):
    """W_q or W_o is not transposed.

    The rows of a matrix in the file are its outputs, as in `nn.Linear`: `h @ W_q.T`. W_q and W_o are square, so the
    shapes fit without the `.T`, too.
    """
    return _with(*args, q=_as_it_is, o=_as_it_is)


@block_attention.misconception(forms=[_form(weigh=lambda scores, mask: torch.softmax(scores, dim=-1) * mask)])
def over_queries(*args):
    """The weights of a query do not sum to 1.

    Either softmax runs over the queries and not over the keys, or the mask is applied after it.
    """
    return _with(*args, weigh=lambda scores, mask: torch.softmax(scores.masked_fill(~mask, -1e9), dim=-2) * mask)


# ---------------------------------------------------------------------------------------------------------- 13.2


def _rows_for_neighbours(weight, heads):
    inputs = weight.size(1)
    halves = weight.view(heads, 2, -1, inputs)  # (heads, which half, pair, inputs)
    return halves.transpose(1, 2).reshape(-1, inputs)


def _weight(heads, head_dim, inputs, seed):
    return normal(heads * head_dim, inputs, seed=seed), heads


_TWO_HEADS = torch.arange(16.0)[:, None].expand(16, 3).contiguous(), 2  # a row says its own number

rows = function(
    "13.2",
    _rows_for_neighbours,
    as_="my_rows(weight, heads)",
    title="Rows for neighbours",
    section="13#eight-lines",
    probes=[_TWO_HEADS, _weight(3, 6, 5, seed=1), _weight(2, 10, 20, seed=2)],
    corner_cases=[_weight(1, 8, 4, seed=3), _weight(4, 2, 3, seed=4)],
    random_probes=lambda rng: [
        _weight(rng.randrange(2, 5), 2 * rng.randrange(3, 6), 7, seed=rng.randrange(10**6)) for _ in range(2)
    ],
    returns=("the weight",),
    hints=[
        "Write down for one head of 8 rows where each row goes: rows 0 and 4 were a pair, so they become neighbours, "
        "rows 0 and 1 of the result.",
        "`weight.view(heads, 2, half, inputs)` gives the two halves of each head an axis of their own.",
        "Exchange the axis of the halves with the axis of the pairs, `transpose(1, 2)`, and `reshape` to the shape of "
        "`weight`.",
    ],
)


@rows.misconception(telltale_call=_TWO_HEADS)
def back(weight, heads):
    """The rows go the other way: from neighbours to halves.

    Your order for one head of 8 is 0 2 4 6 1 3 5 7. The rows stand in halves now, so rows 0 and 4 belong together:
    0 4 1 5 2 6 3 7.
    """
    return weight.view(heads, -1, 2, weight.size(1)).transpose(1, 2).reshape(weight.shape)


@rows.misconception(telltale_call=_TWO_HEADS, forms=[lambda weight, heads: back(weight, 1)])
def over_all_heads(weight, heads):
    """Rows of different heads are mixed: the halves are taken of all rows together.

    Each head has halves of its own. Give the heads an axis first.
    """
    return _rows_for_neighbours(weight, 1)


@rows.misconception(telltale_call=_TWO_HEADS)
def second_half_first(weight, heads):
    """In each pair the row of the second half comes first.

    `rotary` turns feature 2i towards feature 2i + 1. With the two exchanged it turns the other way.
    """
    return weight.view(heads, 2, -1, weight.size(1)).flip(1).transpose(1, 2).reshape(weight.shape)


@rows.misconception(
    telltale_call=_weight(2, 10, 20, seed=2),
    forms=[lambda weight, heads: _rows_for_neighbours(weight.T.contiguous(), heads).T],
)
def columns(weight, heads):
    """The columns are reordered.

    Columns belong to the inputs, the features of a token. What `rotary` turns are the outputs: the rows.
    """
    return weight.view(weight.size(0), heads, 2, -1).transpose(2, 3).reshape(weight.shape)


@rows.misconception(telltale_call=_TWO_HEADS)
def heads_last(weight, heads):
    """The rows are read as if the heads were interleaved.

    The first head_dim rows are head 0, the next ones head 1: in `view` the heads come first.
    """
    return weight.view(2, -1, heads, weight.size(1)).permute(2, 1, 0, 3).reshape(weight.shape)


@rows.misconception(
    telltale_call=_TWO_HEADS,
    forms=[lambda weight, heads: weight.view(heads, 2, -1, weight.size(1)).reshape(weight.shape)],
)
def unchanged(weight, heads):
    """The rows stay where they are.

    After `view` alone the order in memory is the same. Two axes have to be exchanged before `reshape`.
    """
    return weight


@rows.misconception(telltale_call=_TWO_HEADS)
def heads_reversed(weight, heads):
    """The rows of each head run backwards.

    No row is to be mirrored: the two halves are put together like a zip.
    """
    return weight.view(heads, -1, weight.size(1)).flip(1).reshape(weight.shape)


# ---------------------------------------------------------------------------------------------------------- 13.3


def _from_four_bits(q, d, m):
    low, high = q & 15, q >> 4
    steps = torch.cat([low, high], dim=1)  # (blocks, 32)
    return steps * d[:, None] + m[:, None]


def _packed(blocks, seed):
    """Bytes, steps and smallest numbers. m is far from −8 d, or Q4_0's way would look right."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.randint(256, (blocks, 16), generator=generator, dtype=torch.uint8)
    d = 0.1 + torch.rand(blocks, generator=generator)
    return q, d, 1 - 3 * torch.rand(blocks, generator=generator)


four_bits = function(
    "13.3",
    _from_four_bits,
    as_="my_numbers(q, d, m)",
    title="Four bits",
    section="13#more-four-bits",
    also_called=("from_four_bits",),
    probes=[_packed(2, seed=1), _packed(5, seed=2), _packed(16, seed=3)],
    corner_cases=[_packed(1, seed=4), _packed(32, seed=5)],
    random_probes=lambda rng: [_packed(rng.randrange(2, 8), seed=rng.randrange(10**6)) for _ in range(2)],
    returns=("the numbers",),
    hints=[
        "A byte holds two numbers from 0 to 15. `q & 15` is its low half, `q >> 4` its high half.",
        "All low halves of a block come first, then all high halves: `torch.cat([low, high], dim=1)`, 32 a block.",
        "Each is that many steps d above the smallest number m. d and m belong to a block, so they are columns: "
        "`d[:, None]`.",
    ],
)


def _steps(q, d, m, *, together=None, plain=None):
    steps = torch.cat([q & 15, q >> 4], dim=1) if together is None else together(q & 15, q >> 4)
    d, m = d[:, None], m[:, None]
    return steps * d + m if plain is None else plain(steps.to(d.dtype), d, m)


@four_bits.misconception(
    forms=[partial(_steps, together=lambda low, high: torch.stack([high, low], dim=-1).flatten(1))]
)
def pairs(q, d, m):
    """The two halves of a byte are put side by side.

    In this format they are 16 places apart: a block's first 16 numbers are in the low halves, the other 16 in the high
    ones. Several programs have had this fault, and the model wrote gibberish.
    """
    return _steps(q, d, m, together=lambda low, high: torch.stack([low, high], dim=-1).flatten(1))


@four_bits.misconception()
def high_first(q, d, m):
    """The high halves come first.

    The low halves of all 16 bytes are numbers 0 to 15 of the block.
    """
    return _steps(q, d, m, together=lambda low, high: torch.cat([high, low], dim=1))


@four_bits.misconception(forms=[partial(_steps, plain=lambda steps, d, m: (steps - 8) * d + m)])
def minus_eight(q, d, m):
    """8 is subtracted from the steps.

    That is another format, Q4_0, which has no smallest number m. Here m says where the steps begin.
    """
    return _steps(q, d, m, plain=lambda steps, d, m: (steps - 8) * d)


@four_bits.misconception()
def m_inside(q, d, m):
    """m is multiplied by d.

    m is a weight itself, the smallest of its block, and does not count steps: `steps * d + m`.
    """
    return _steps(q, d, m, plain=lambda steps, d, m: (steps + m) * d)


@four_bits.misconception()
def m_subtracted(q, d, m):
    """m is subtracted.

    In some formats a number is stored that has to be subtracted. Here m is the smallest number: add it.
    """
    return _steps(q, d, m, plain=lambda steps, d, m: steps * d - m)


@four_bits.misconception()
def m_forgotten(q, d, m):
    """m is not used: all numbers have the sign of d.

    The steps begin at the block's smallest number m, not at 0.
    """
    return _steps(q, d, m, plain=lambda steps, d, m: steps * d)


@four_bits.misconception()
def not_shifted(q, d, m):
    """The high halves are not shifted: they are 0, 16, 32 and so on up to 240.

    `q & 240` leaves them where they stand. `q >> 4` moves them down to 0 to 15.
    """
    return torch.cat([q & 15, q & 240], dim=1) * d[:, None] + m[:, None]


@four_bits.misconception()
def not_masked(q, d, m):
    """The low halves are whole bytes, 0 to 255.

    `q & 15` takes the lowest four bits and leaves the others out.
    """
    return torch.cat([q, q >> 4], dim=1) * d[:, None] + m[:, None]


@four_bits.misconception(forms=[partial(_steps, plain=lambda steps, d, m: steps / 16 * d + m)])
def fifteen_parts(q, d, m):
    """The steps are divided by 15 or 16.

    d is the size of one step already.
    """
    return _steps(q, d, m, plain=lambda steps, d, m: steps / 15 * d + m)


@four_bits.misconception(telltale_call=_packed(32, seed=5))
def along_the_row(q, d, m):
    """d and m run along the 32 numbers of a block, but they belong to the blocks.

    Without `[:, None]` their axis is that of the columns, which raises an error unless there are 1 or 32 blocks.
    """
    return torch.cat([q & 15, q >> 4], dim=1) * d + m


# ---------------------------------------------------------------------------------------------------------- 13.4


def _gap(logits, words):
    one, other = words
    return logits[one] - logits[other]


def _part(whole, other, exchanged, words):
    before, goal, after = (_gap(logits, words) for logits in (whole, other, exchanged))
    return (before - after) / (before - goal)


def _a_number(*arguments_and_result):
    return (number_of("a number", arguments_and_result[-1]),)


def _logits(vocabulary, words, part, seed):
    """Logits of one sentence, of another, and of the first with a head exchanged that carries this part of the gap."""
    whole, other, noise = (3 * normal(vocabulary, seed=seed + i) for i in range(3))
    one, second = words
    exchanged = whole + (0.5 + 0.1 * noise) * (other - whole)
    now = _gap(whole, words) - part * (_gap(whole, words) - _gap(other, words))
    exchanged[one] = exchanged[second] + now
    return whole, other, exchanged, words


carried = function(
    "13.4",
    _part,
    as_="my_part(whole, other, exchanged, words)",
    shows=(_part, _gap),
    title="What a head carries",
    section="13#which-of-270",
    probes=[_logits(9, (2, 5), 0.46, seed=1), _logits(12, (7, 0), 0.28, seed=5), _logits(9, (4, 3), -0.1, seed=9)],
    corner_cases=[_logits(6, (0, 1), 1.0, seed=13), _logits(6, (5, 2), 0.0, seed=17)],
    random_probes=lambda rng: [
        _logits(10, tuple(rng.sample(range(10), 2)), rng.random(), seed=rng.randrange(10**5)) for _ in range(2)
    ],
    returns=("the part",),
    numbers=("the part",),
    after=_a_number,
    shown=lambda arg: str(arg) if isinstance(arg, tuple) else None,
    hints=[
        "The gap in one sentence is the difference of two logits: that of the first word minus that of the second.",
        "There are three gaps: whole, other and exchanged. How far does the exchange move the gap away from whole?",
        "Divide this distance by the whole way, from the gap of `whole` to the gap of `other`. Nothing moved is 0, all "
        "the way is 1.",
    ],
)


def _way(whole, other, exchanged, words, *, gap=_gap, of=lambda a, b, c: (a - c) / (a - b)):
    return of(gap(whole, words), gap(other, words), gap(exchanged, words))


def _gap_of_shares(logits, words):
    return _gap(logits.softmax(dim=-1), words)


@carried.misconception(
    forms=[
        partial(_way, gap=lambda logits, words: logits.softmax(-1)[words[0]]),
        partial(_way, gap=lambda logits, words: logits[list(words)].softmax(-1)[0]),
    ]
)
def shares(whole, other, exchanged, words):
    """The gaps are differences of shares; take differences of logits.

    Shares cannot be added up: near 0 and near 1 they hardly move, whatever a head does. Each head adds its part to the
    logits.
    """
    return _way(whole, other, exchanged, words, gap=_gap_of_shares)


@carried.misconception(forms=[partial(_way, gap=lambda logits, words: logits[words[1]])])
def one_word(whole, other, exchanged, words):
    """Only the logit of one of the two words is looked at.

    A logit can rise because all logits rise, and then no share changes. The difference of two words tells which of them
    gains.
    """
    return _way(whole, other, exchanged, words, gap=lambda logits, words: logits[words[0]])


@carried.misconception(forms=[partial(_way, of=lambda a, b, c: (a - b) / (a - c))])
def upside_down(whole, other, exchanged, words):
    """It is measured from the wrong end: the part that is still missing, or one over the part.

    If the exchange does not move the gap, the answer is 0; if it moves the gap all the way to that of `other`, it is 1.
    """
    return _way(whole, other, exchanged, words, of=lambda a, b, c: (c - b) / (a - b))


@carried.misconception(forms=[partial(_way, of=lambda a, b, c: c / a)])
def gaps_divided(whole, other, exchanged, words):
    """One gap is divided by another one, and no change is worked out.

    First subtract: how far does the gap move? Then divide by the whole way, from the gap of `whole` to that of `other`.
    """
    return _way(whole, other, exchanged, words, of=lambda a, b, c: c / b)


@carried.misconception(
    forms=[
        partial(_way, of=lambda a, b, c: (c - a) / a),
        partial(_way, of=lambda a, b, c: (a - c) / b),
        partial(_way, of=lambda a, b, c: (c - a) / b),
    ]
)
def of_the_whole(whole, other, exchanged, words):
    """The change is divided by a gap; divide it by the whole way, from the gap of `whole` to that of `other`.

    The way does not end at a gap of 0: it ends at the gap of `other`.
    """
    return _way(whole, other, exchanged, words, of=lambda a, b, c: (a - c) / a)


@carried.misconception()
def wrong_sign(whole, other, exchanged, words):
    """The sign is wrong: one of the two differences is taken the other way round.

    Both ways begin at the gap of `whole`: to the gap of `exchanged`, and to the gap of `other`.
    """
    return _way(whole, other, exchanged, words, of=lambda a, b, c: (c - a) / (a - b))


@carried.misconception(forms=[partial(_way, of=lambda a, b, c: c - a)])
def not_divided(whole, other, exchanged, words):
    """It is how far the gap moves, and not which part of the way that is.

    Divide by the way from the gap of `whole` to the gap of `other`.
    """
    return _way(whole, other, exchanged, words, of=lambda a, b, c: a - c)


@carried.misconception()
def over_all_words(whole, other, exchanged, words):
    """All pieces of the vocabulary are compared, and not the two words.

    The length of a difference of all logits says how much has changed, and not which of the two words gains.
    """
    return (whole - exchanged).norm() / (whole - other).norm()
