"""Exercises of notebook 4: split, merge, multi-head attention as a function and as a class, and heads cut out of it."""

import itertools
import math
from functools import partial

import torch
from torch import nn

from attn_lib.functional import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads
from attn_lib.masks import causal_mask, padding_mask
from attn_lib.modules import MultiHeadAttention, MultiHeadAttentionByHeads

from ..engine import module as made
from ..engine.function import function
from ..engine.module import module
from ..engine.probes import TYPED_DIVISORS, normal, random_mask

# ----------------------------------------------------------------------------------------------------------- 4.1


def _tokens(batch, n, embed_dim, num_heads):
    return normal(batch, n, embed_dim, seed=num_heads), num_heads


split = function(
    "4.1",
    split_heads,
    as_="my_split_heads(x, num_heads)",
    title="Split into heads",
    section="04#text-20",
    random_probes=lambda rng: [
        _tokens(*rng.sample(range(2, 7), 2), heads * rng.randrange(2, 5), heads) for heads in (2, 3)
    ],
    probes=[_tokens(1, 3, 4, 2), _tokens(2, 3, 8, 2), _tokens(2, 5, 6, 3), _tokens(3, 4, 10, 5)],
    corner_cases=[
        _tokens(2, 3, 4, 1),
        _tokens(2, 1, 6, 3),
        _tokens(1, 4, 10, 4),
        _tokens(1, 3, 6, 4),
        _tokens(1, 2, 12, 12),
        _tokens(1, 4, 2, 4),
    ],
    hints=[
        "There are two steps: cut the features of each token into heads, then put the axis of the heads before that "
        "of the tokens.",
        "`x.view(batch, n, num_heads, head_dim)` cuts the features and mixes no tokens; head_dim is `embed_dim // "
        "num_heads`.",
        "Then `.transpose(1, 2)`. Write all sizes out, without `-1`: then 10 features for 4 heads raise an error, "
        "as they should.",
    ],
)


@split.misconception()
def view_alone(x, num_heads):
    """`view` alone mixes the tokens.

    The result has the right shape, because the numbers fit. But `view` reads the numbers in the order of memory:
    head 0 gets the numbers of the first tokens, where it should get some features of all tokens.
    """
    return x.reshape(x.size(0), num_heads, x.size(1), x.size(2) // num_heads)


@split.misconception()
def interleaved(x, num_heads):
    """Each head takes every `num_heads`-th feature.

    If you cut the features as (head_dim, heads), neighbouring features go to different heads. Trained weights expect
    the features of a head side by side: (heads, head_dim).
    """
    return x.reshape(*x.shape[:2], -1, num_heads).permute(0, 3, 1, 2)


@split.misconception()
def not_transposed(x, num_heads):
    """The axis of the heads still comes after that of the tokens.

    (batch, n, heads, head_dim) is right after the first step; the second step is missing. Attention works on the last
    two axes, and those have to be n and head_dim: `.transpose(1, 2)`.
    """
    return x.reshape(*x.shape[:2], num_heads, -1)


@split.misconception(
    reread="04#text-33",
    forms=[
        lambda x, num_heads: split_heads(x, num_heads).transpose(0, 1).flatten(0, 1),
        lambda x, num_heads: x.reshape(x.size(0) * num_heads, x.size(1), -1),
        lambda x, num_heads: x.reshape(x.size(0), x.size(1) * num_heads, -1).transpose(0, 1),
    ],
)
def merged_batch(x, num_heads):
    """Heads and batch have been merged into one axis.

    Some code computes with (batch · heads, n, head_dim). In this exercise the two axes must stay separate: (batch,
    heads, n, head_dim).
    """
    return split_heads(x, num_heads).flatten(0, 1)


@split.misconception()
def heads_in_front(x, num_heads):
    """The axis of the heads comes before the batch.

    The numbers are right, in the shape (heads, batch, n, head_dim). Here the batch comes first.
    """
    return split_heads(x, num_heads).transpose(0, 1)


@split.misconception()
def laid_out_for_keys(x, num_heads):
    """Tokens and features of a head have changed places.

    (batch, heads, head_dim, n) is what a product with the queries needs of the keys. `split_heads` leaves the features
    last: (batch, heads, n, head_dim).
    """
    return split_heads(x, num_heads).transpose(2, 3)


@split.misconception()
def transposed_too_early(x, num_heads):
    """The axes are exchanged before the features are cut.

    (batch, embed_dim, n) has the tokens last, and `reshape` then cuts a row of all tokens into pieces. First cut the
    features, `view(batch, n, heads, head_dim)`, then exchange tokens and heads: `transpose(1, 2)`.
    """
    return x.transpose(1, 2).reshape(x.size(0), num_heads, x.size(1), -1)


@split.misconception(reread="04#text-39")
def invented_tokens(x, num_heads):
    """Sizes that do not divide raise no error.

    With `-1` for the number of tokens, `view` finds a number that fits: 4 tokens of 10 become 5 tokens of 8, and every
    number after that is wrong. Write all sizes out, or check that num_heads divides embed_dim.
    """
    return x.reshape(x.size(0), -1, num_heads, x.size(2) // num_heads).transpose(1, 2)


def _sliced(x, num_heads):
    width = x.size(-1) // num_heads
    return torch.stack([x[..., h * width : (h + 1) * width] for h in range(num_heads)], dim=1)


@split.misconception(reread="04#text-39", forms=[_sliced], telltale_call=_tokens(1, 4, 10, 4))
def left_over(x, num_heads):
    """Features that are left over raise no error.

    10 features for 4 heads make 2 for each, and 2 are left over: slices drop them, `split` makes a fifth head of them.
    The code after this gets wrong numbers, or too few, so raise an error here.
    """
    return torch.stack(x.split(x.size(-1) // num_heads, dim=-1), dim=1)


@split.misconception(reread="04#text-39")
def fewer_heads(x, num_heads):
    """`chunk` makes fewer heads where the sizes do not divide.

    It rounds the width of a head up: 6 features for 4 heads become three heads of 2, and no error is raised. Check that
    num_heads divides embed_dim.
    """
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@split.misconception(reread="04#text-20")
def one_text_only(x, num_heads):
    """Your function works for a batch of one text only.

    The first axis is the batch, and it has another size in other calls: keep it, as `x.size(0)`. `squeeze(0)` removes
    it only where its size is 1.
    """
    return x.squeeze(0).unflatten(-1, (num_heads, -1)).permute(1, 0, 2)[None]


def _of_size(heads=None, head_dim=-1):
    return lambda x, num_heads: x.reshape(*x.shape[:2], heads or num_heads, head_dim).transpose(1, 2)


@split.misconception(
    reread="04#text-20",
    forms=[
        *(_of_size(heads=heads) for heads in (3, 4)),
        *(_of_size(heads, head_dim) for heads in (None, -1) for head_dim in (2, 4)),
        lambda x, num_heads: x.view(1, 3, 2, 2).transpose(1, 2),
    ],
)
def fixed_sizes(x, num_heads):
    """A size is typed, and the same in every call.

    `view(1, 3, 2, 2)` is right for the lesson's example. Here batch, n and embed_dim are the sizes of `x`, the number
    of heads is the argument, and head_dim is `embed_dim // num_heads`.
    """
    return _of_size(heads=2)(x, num_heads)


# ----------------------------------------------------------------------------------------------------------- 4.2


def _heads(*shape):
    return (normal(*shape),)


merge = function(
    "4.2",
    merge_heads,
    as_="my_merge_heads(x)",
    title="Merge the heads",
    section="04#text-20",
    random_probes=lambda rng: [_heads(*rng.sample(range(2, 7), 4))],
    probes=[_heads(1, 2, 3, 2), _heads(2, 3, 4, 5), _heads(3, 2, 5, 4), _heads(2, 4, 4, 3)],
    corner_cases=[_heads(2, 1, 3, 4), _heads(2, 3, 1, 4)],
    hints=[
        "Merging is `split_heads` backwards: the last step first.",
        "`x.transpose(1, 2)` puts the axis of the heads after that of the tokens again.",
        "Then join the last two axes with `reshape`. After a transpose `view` raises an error, because the numbers are "
        "no longer in the order of memory.",
    ],
)


@merge.misconception()
def reshape_alone(x):
    """`reshape` alone mixes the tokens.

    The shape is right, but the numbers are read head by head: the first rows hold several tokens of head 0, where
    each row should hold one token and all its heads. Transpose first.
    """
    batch, heads, n, head_dim = x.shape
    return x.reshape(batch, n, heads * head_dim)


@merge.misconception(
    forms=[
        lambda x: x.transpose(1, 3).reshape(x.size(0), x.size(2), -1),
        lambda x: x.transpose(0, 1).reshape(x.size(0), x.size(2), -1),
    ]
)
def other_axes_exchanged(x):
    """Other axes are exchanged than those of heads and tokens.

    x is (batch, heads, n, head_dim). Heads and features belong side by side, so that they can be joined: exchange
    heads (1) and tokens (2), `transpose(1, 2)`.
    """
    return x.transpose(2, 3).reshape(x.size(0), x.size(2), -1)


@merge.misconception()
def view_refused(x):
    """`view` raises an error after `transpose`.

    `transpose` copies nothing in memory, it only changes the order of the axes, and `view` cannot join two axes whose
    numbers are not side by side in memory. `reshape` copies where it has to; `.contiguous().view(…)` does the same.
    """
    batch, heads, n, head_dim = x.shape
    return x.transpose(1, 2).view(batch, n, heads * head_dim)


@merge.misconception()
def interleaved(x):
    """The features of different heads alternate.

    If you join the axes as (head_dim, heads), neighbouring features come from different heads. The features of one
    head belong side by side.
    """
    return x.permute(0, 2, 3, 1).flatten(2)


@merge.misconception(reread="04#text-11", forms=[lambda x: x.sum(dim=1)])
def averaged(x):
    """The heads are averaged or added up.

    Then only the sum of the heads' outputs is left, and all else is lost. The outputs are put side by side, and the
    output projection mixes them.
    """
    return x.mean(dim=1)


@merge.misconception(forms=[lambda x: x.reshape(-1, x.size(1) * x.size(3))])
def tokens_of_all_texts(x):
    """The batch is gone: the tokens of all texts are in one list.

    Some code joins these two axes for a linear layer, (batch · n, heads · head_dim). Here the batch stays: (batch, n,
    heads · head_dim).
    """
    return merge_heads(x).flatten(0, 1)


@merge.misconception()
def one_text_only(x):
    """Your function works for a batch of one text only.

    The first axis is the batch, and it has another size in other calls: keep it, as `x.size(0)`. `squeeze(0)` removes
    it only where its size is 1.
    """
    return x.squeeze(0).permute(1, 0, 2).flatten(1)[None]


@merge.misconception(forms=[lambda x: x.transpose(1, 2).reshape(*x.transpose(1, 2).shape[:2], 12)])
def fixed_sizes(x):
    """A size is typed, and the same in every call.

    `reshape(1, 3, 4)` is right for the lesson's example. Here all sizes are those of `x`:
    `batch, heads, n, head_dim = x.shape`.
    """
    return x.transpose(1, 2).reshape(1, 3, 4)


@merge.misconception()
def not_joined(x):
    """The heads are still an axis of their own.

    (batch, n, heads, head_dim) is right after the first step. Then the last two axes have to become one.
    """
    return x.transpose(1, 2)


# ----------------------------------------------------------------------------------------------------------- 4.3


def _inputs(batch, n, embed_dim, num_heads, mask=None, seed=0):
    x = normal(batch, n, embed_dim, seed=seed)
    w_q, w_k, w_v, w_o = (normal(embed_dim, embed_dim, seed=seed + i) / math.sqrt(embed_dim) * 1.5 for i in range(1, 5))
    return x, w_q, w_k, w_v, w_o, num_heads, mask


def _future(answer):
    args = _inputs(2, 4, 6, 3, causal_mask(4), seed=50)
    changed = args[0].clone()
    changed[:, -1] += 1
    return torch.allclose(answer(*args)[:, :-1], answer(changed, *args[1:])[:, :-1], atol=1e-5)


def _padding_moves(answer):
    args = _inputs(2, 4, 6, 3, padding_mask([2, 4], 4), seed=51)
    changed = args[0].clone()
    changed[0, 2:] += 1
    return torch.allclose(answer(*args)[0, :2], answer(changed, *args[1:])[0, :2], atol=1e-5)


def _permuting(answer):
    x, *rest = _inputs(2, 5, 6, 2, seed=52)
    order = torch.tensor([3, 0, 4, 1, 2])
    return torch.allclose(answer(x, *rest)[:, order], answer(x[:, order], *rest), atol=1e-4)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    query, key, value = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]  # (batch, 1, 1, n): the same for every head
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    return merge_heads(output) @ w_o


multi_head = function(
    "4.3",
    multi_head_attention,
    as_="my_multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None)",
    title="Multi-head attention",
    section="04#text-27",
    probes=[
        _inputs(1, 2, 4, 2, seed=1),
        _inputs(2, 3, 8, 4, seed=2),
        _inputs(2, 5, 6, 3, causal_mask(5), seed=3),
        _inputs(3, 4, 8, 2, padding_mask([3, 1, 2], 4), seed=4),
        _inputs(1, 4, 6, 2, padding_mask([3], 4), seed=5),
        _inputs(2, 5, 4, 2, padding_mask([3, 4], 5), seed=7),
    ],
    corner_cases=[
        _inputs(2, 4, 6, 1, seed=6),
        _inputs(2, 3, 4, 2, padding_mask([0, 2], 3), seed=8),
        _inputs(2, 3, 4, 2, causal_mask(3).tril(-1), seed=9),
        _inputs(3, 1, 8, 2, padding_mask([1, 0, 1], 1), seed=10),
        _inputs(2, 4, 6, 3, ~causal_mask(4).tril(-1), seed=11),  # of the future alone, and of itself
    ],
    returns=("the output",),
    also_called=("multi_head",),
    random_probes=lambda rng: [_inputs(2, n, 12, rng.choice((2, 3, 4)), seed=rng.randrange(10**6)) for n in (3, 4)],
    gradients=True,
    invariants=[
        ("if a later token changes, outputs of earlier tokens change, although the mask is causal", _future),
        ("if the padding changes, outputs of real tokens change", _padding_moves),
        ("if the tokens change places, their outputs do not change places in the same way", _permuting),
    ],
    hints=[
        "Project, split, attend, merge, project. Your functions from notebooks 3 and 4 do three of the five steps.",
        "`mask` may be (batch, 1, n). Against scores (batch, heads, n, n) it needs an axis for the heads: "
        "`mask[:, None]`.",
        "The scores are divided by √head_dim, not by √embed_dim, since a dot product runs over the features of one "
        "head. The last step is `@ w_o`.",
    ],
)


def _variant(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    num_heads,
    mask=None,
    *,
    split=split_heads,
    merge=merge_heads,
    scale=lambda head_dim, embed_dim: head_dim**-0.5,
    weigh=masked_softmax,
    mask_for_scores=lambda mask: mask[:, None] if mask.ndim == 3 else mask,
    project=True,
    turn=lambda w: w,
    turn_last=None,
):
    """Multi-head attention with each part exchangeable: most misconceptions are one part exchanged."""
    query, key, value = (split(x @ turn(w), num_heads) for w in (w_q, w_k, w_v))
    scores = query @ key.transpose(-2, -1) * scale(query.size(-1), x.size(-1))
    merged = merge(weigh(scores, None if mask is None else mask_for_scores(mask)) @ value)
    return merged @ (turn_last or turn)(w_o) if project else merged


def _masked(scores, mask, fill, dim=-1):
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, fill), dim=dim)


def _not_moved(x, num_heads):
    return x.reshape(*x.shape[:2], num_heads, -1)


@multi_head.misconception(reread="04#text-31")
def scale_d_model(*args):
    """The scores are divided by √embed_dim.

    The formula says √d_k, and without heads d_k is embed_dim. In a head a dot product runs over head_dim features
    only; with √embed_dim the scores are too small and the weights too even.
    """
    return _variant(*args, scale=lambda head_dim, embed_dim: embed_dim**-0.5)


@multi_head.misconception(reread="02#text-29")
def no_scale(*args):
    """The scores are not divided by √head_dim.

    No error is raised, and if heads have few features the difference is small. If they have many, softmax gives nearly
    all weight to one key, and gradients become nearly 0.
    """
    return _variant(*args, scale=lambda head_dim, embed_dim: 1.0)


@multi_head.misconception(reread="02#text-29")
def d_not_root(*args):
    """In total, the scores are divided by head_dim, not by its root.

    Either the code divides by head_dim, or it divides by the root twice: first the queries, then the scores. The
    standard deviation of the scores grows like √head_dim.
    """
    return _variant(*args, scale=lambda head_dim, embed_dim: 1 / head_dim)


@multi_head.misconception(
    reread="02#text-29",
    forms=[
        partial(_variant, scale=lambda head_dim, embed_dim: (embed_dim // head_dim) ** -0.5),
        partial(_variant, scale=lambda *_: 1.0, weigh=lambda s, m: masked_softmax(s / math.sqrt(s.size(-1)), m)),
        partial(_variant, scale=lambda *_: 1.0, weigh=lambda s, m: masked_softmax(s / math.sqrt(s.size(0)), m)),
        partial(_variant, scale=lambda head_dim, embed_dim: 1 / embed_dim),
        partial(_variant, scale=lambda head_dim, embed_dim: head_dim / embed_dim),
        *(partial(_variant, scale=lambda *_, by=by: 1 / by) for by in TYPED_DIVISORS),
    ],
)
def other_size_in_root(*args):
    """The scores are divided by something else than √head_dim, or multiplied.

    A score is a sum of head_dim products, one for each feature of the head. How large it is does not depend on the
    number of heads or of tokens, and no fixed number is right for every head.
    """
    return _variant(*args, scale=lambda head_dim, embed_dim: head_dim**0.5)


@multi_head.misconception(
    reread="04#text-20",
    forms=[
        partial(_variant, split=_not_moved, merge=lambda x: x.flatten(2), weigh=weigh)
        for weigh in (partial(_masked, fill=-math.inf), partial(_masked, fill=-1e9), lambda s, m: torch.softmax(s, -1))
    ],
)
def heads_attend_to_heads(*args):
    """Within each token, heads attend to heads.

    Without `transpose(1, 2)` after the split the last two axes are (heads, head_dim), and no token attends to another.
    They have to be (n, head_dim): (batch, heads, n, head_dim). A mask for tokens does not fit, or hides heads.
    """
    return _variant(*args, split=_not_moved, merge=lambda x: x.flatten(2))


@multi_head.misconception(
    reread="04#text-20",
    forms=[
        partial(
            _variant,
            split=lambda x, h: x.reshape(x.size(0), h, x.size(1), -1),
            merge=lambda x: x.reshape(x.size(0), x.size(2), -1),
            weigh=weigh,
        )
        for weigh in (masked_softmax, lambda s, m: torch.softmax(s, dim=-1))
    ],
)
def view_alone(*args):
    """The heads are cut with `view` alone.

    The shape is right, but `view` reads the numbers in memory order: a head gets the numbers of a few tokens
    instead of some features of all tokens.
    """
    return _variant(*args, split=lambda x, h: x.reshape(x.size(0), h, x.size(1), -1))


@multi_head.misconception(
    reread="04#text-20",
    forms=[
        partial(_variant, split=_of_size(heads, head_dim))
        for heads, head_dim in ((3, -1), (4, -1), (None, 2), (None, 4), (-1, 2), (-1, 3), (-1, 4))
    ],
)
def fixed_sizes(*args):
    """The number of heads, or of the features of a head, is typed, and the same in every call.

    `num_heads` is an argument, and a head has `embed_dim // num_heads` features, where embed_dim is `x.size(-1)`.
    """
    return _variant(*args, split=_of_size(heads=2))


@multi_head.misconception(reread="04#text-20")
def merge_alone(*args):
    """The heads are merged without `transpose(1, 2)`.

    `reshape` from (batch, heads, n, head_dim) gives the right shape and mixes the tokens: transpose first.
    """
    return _variant(*args, merge=lambda x: x.reshape(x.size(0), x.size(2), -1))


@multi_head.misconception(
    reread="04#text-20",
    forms=[
        partial(
            _variant,
            split=lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2),
            merge=lambda x: x.permute(0, 2, 3, 1).flatten(2),
        )
    ],
)
def interleaved(*args):
    """Each head takes every `num_heads`-th feature.

    If you cut the features as (head_dim, heads), neighbouring features go to different heads. It has to be (heads,
    head_dim).
    """
    return _variant(*args, split=lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2))


@multi_head.misconception(reread="04#text-02")
def one_head(*args):
    """Your code attends with all features at once: there is only one head.

    The shapes are the same with and without heads. Each head has to compute its own weights from its own features.
    """
    return _variant(*args, split=lambda x, h: x[:, None])


@multi_head.misconception(reread="04#text-mix")
def no_output_projection(*args):
    """The output projection is not used.

    `w_o` is an argument, but your function never uses it. Merged heads have the right shape already, so no error is
    raised; but the heads' results are never mixed, and `w_o` gets no gradient.
    """
    return _variant(*args, project=False)


@multi_head.misconception(
    reread="04#text-08",
    forms=[
        partial(_variant, turn_last=lambda w: w.T),
        partial(_variant, turn=lambda w: w.T, turn_last=lambda w: w),
    ],
)
def transposed_weights(*args):
    """The projections are transposed, all or some of them.

    `nn.Linear` stores its weight as (out, in) and computes `x @ w.T`. Here a projection is `x @ w`, and a square matrix
    fits either way.
    """
    return _variant(*args, turn=lambda w: w.T)


@multi_head.misconception(
    reread="02#text-40",
    forms=[
        partial(_variant, weigh=partial(_masked, fill=fill, dim=dim))
        for fill, dim in itertools.product((-math.inf, -1e9), (-2, 1, 0))
    ],
)
def wrong_axis(*args):
    """The softmax runs over the wrong axis.

    Scores are (batch, heads, n, n). The weights of one query lie along the last axis; `dim=1` is the axis of the heads,
    `dim=-2` that of the queries.
    """
    return _variant(*args, weigh=partial(_masked, fill=-math.inf, dim=-2))


@multi_head.misconception(
    reread="02#text-13",
    forms=[
        partial(_variant, weigh=lambda s, m: s if m is None else s.masked_fill(~m, -1e9)),
        partial(_variant, weigh=lambda s, m: s if m is None else s.masked_fill(~m, -math.inf)),
    ],
)
def softmax_lost(*args):
    """The softmax is missing, or its result is thrown away.

    The product of scores and values has the right shape too, so no error is raised.
    """
    return _variant(*args, weigh=lambda s, m: s)


@multi_head.misconception(reread="03#text-14")
def mask_ignored(*args):
    """The mask has no effect.

    The mask is an argument but is not used. Without a mask the result is right, so such calls do not show the mistake.
    """
    return _variant(*args, weigh=lambda s, m: torch.softmax(s, dim=-1))


@multi_head.misconception(
    reread="03#text-35",
    forms=[
        partial(_variant, weigh=lambda s, m: _masked(s, None if m is None else ~m, -math.inf)),
        partial(_variant, weigh=lambda s, m: _masked(s, None if m is None else ~m, -1e9)),
    ],
)
def polarity(*args):
    """True is taken to mean “hide”.

    In `nn.MultiheadAttention` it does. Here True = may attend.
    """
    return _variant(*args, weigh=lambda s, m: masked_softmax(s, None if m is None else ~m))


@multi_head.misconception(reread="03#text-02")
def zero_scores(*args):
    """Masked scores are set to 0.

    A score of 0 is an ordinary score: exp(0) = 1, which is more than any negative score gives. Only −∞ gives a weight
    of 0.
    """
    return _variant(*args, weigh=partial(_masked, fill=0.0))


@multi_head.misconception(reread="03#text-07")
def after_softmax(*args):
    """The mask is applied after softmax.

    The hidden keys were already counted in the sum, so the weights that are left do not sum to 1.
    """
    return _variant(*args, weigh=lambda s, m: torch.softmax(s, dim=-1) * (1 if m is None else m))


@multi_head.misconception(reread="03#text-35")
def added(*args):
    """The mask is added to the scores as 0 and 1.

    Adding 1 hides nothing. A mask that is added has to hold 0 and −∞.
    """
    return _variant(*args, weigh=lambda s, m: torch.softmax(s if m is None else s + m.float(), dim=-1))


@multi_head.misconception(
    reread="04#text-27",
    forms=[partial(_variant, mask_for_scores=lambda mask: mask, weigh=partial(_masked, fill=-math.inf))],
)
def mask_per_head(*args):
    """A mask for each sentence is taken for one for each head.

    If (batch, 1, n) is used with (batch, heads, n, n), its first axis is taken for that of the heads. With most sizes
    that raises an error. Where batch equals the number of heads no error is raised, and the result is wrong. `mask[:,
    None]` puts the axis in.
    """
    return _variant(*args, mask_for_scores=lambda mask: mask)


@multi_head.misconception(reread="03#text-05", forms=[partial(_variant, mask_for_scores=torch.squeeze)])
def mask_squeezed(*args):
    """The mask has lost its axis of the queries.

    (batch, 1, n) without its 1 is (batch, n), and the axis of the batch is then taken for that of the queries. No axis
    has to be removed; one for the heads has to be put in: `mask[:, None]`.
    """
    return _variant(*args, mask_for_scores=torch.squeeze, weigh=partial(_masked, fill=-math.inf))


@multi_head.misconception(reread="03#text-21")
def dead_nan(*args):
    """Rows without a key are NaN.

    In a sentence of length 0 the queries may attend to no key. All scores of such a row are −∞, and softmax computes
    0/0.
    """
    return _variant(*args, weigh=partial(_masked, fill=-math.inf))


@multi_head.misconception(reread="03#text-21")
def dead_uniform(*args):
    """Rows without a key give the same weight to every key.

    If all scores of a row are equally low, softmax makes all its weights equal. Such a row has to be 0.
    """
    return _variant(*args, weigh=partial(_masked, fill=-1e9))


def _batch_attended(x, w_q, w_k, w_v, w_o, num_heads, mask=None, weigh=masked_softmax):
    return _variant(x.transpose(0, 1), w_q, w_k, w_v, w_o, num_heads, mask, weigh=weigh).transpose(0, 1)


def _masking_by(choose):
    def code(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        return multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, choose(mask, causal_mask(x.size(1))))

    return code


def _first_of_all(mask):
    return mask[0] if mask.ndim == 3 else mask


@multi_head.misconception(
    reread="04#text-33",
    forms=[
        partial(_batch_attended, weigh=partial(_masked, fill=-math.inf)),
        partial(_batch_attended, weigh=partial(_masked, fill=-1e9)),
        partial(_batch_attended, weigh=lambda s, m: torch.softmax(s, dim=-1)),
    ],
)
def batch_attended(*args):
    """The texts of the batch attend to each other.

    The first axis was taken for the tokens, as `nn.MultiheadAttention` has it without `batch_first=True`. Here it is
    the batch, and no text may attend to another.
    """
    return _batch_attended(*args)


def _projected_by(order):
    def code(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        given = w_q, w_k, w_v
        return multi_head_attention(x, *(given[i] for i in order), w_o, num_heads, mask)

    return code


@multi_head.misconception(
    reread="04#text-08",
    forms=[_projected_by(order) for order in ((0, 1, 0), (0, 1, 1), (0, 0, 0), (1, 0, 2), (0, 2, 1), (2, 1, 0))],
)
def wrong_matrix(*args):
    """Queries, keys and values are made by the wrong matrices, or have changed places.

    Perhaps a line was copied and still has the matrix of the line above, or the scores are those of keys with queries.
    All three matrices have one size, so no error is raised: `w_q` makes queries, `w_k` keys, `w_v` values.
    """
    return _projected_by((0, 0, 2))(*args)


@multi_head.misconception(
    reread="03#text-10",
    forms=[
        _masking_by(lambda mask, causal: causal),
        _masking_by(lambda mask, causal: causal if mask is None else mask),
    ],
)
def future_masked_always(*args):
    """The future is hidden, whatever `mask` says.

    Models that write text hide it, and much code has that mask built in. Here `mask` alone says what is hidden, and
    without a mask every token attends to all tokens.
    """
    return _masking_by(lambda mask, causal: causal if mask is None else mask & causal)(*args)


@multi_head.misconception(
    reread="03#text-05",
    forms=[
        partial(_variant, mask_for_scores=_first_of_all, weigh=partial(_masked, fill=fill))
        for fill in (-math.inf, -1e9)
    ],
)
def first_mask_for_all(*args):
    """All texts have the mask of the first.

    `mask[0]` is the mask of one text. Each text has its own: keep the batch as the first axis.
    """
    return _variant(*args, mask_for_scores=_first_of_all)


@multi_head.misconception(
    reread="04#text-27",
    forms=[
        partial(_variant, mask_for_scores=lambda mask: mask[:, None], weigh=partial(_masked, fill=fill))
        for fill in (-math.inf, -1e9)
    ],
)
def axis_for_heads_always(*args):
    """A mask with two axes gets an axis where it has no batch.

    `mask[:, None]` is right for (batch, 1, n). Of (n, n) it makes (n, 1, n), where the axis of the queries is taken for
    the batch. A mask with two axes fits as it is.
    """
    return _variant(*args, mask_for_scores=lambda mask: mask[:, None])


@multi_head.misconception(
    reread="03#text-14",
    forms=[
        lambda *args: _variant(*args[:6], ~~args[6], weigh=partial(_masked, fill=-1e9)),
        lambda *args: _variant(*args, weigh=lambda s, m: torch.softmax(s.masked_fill(m == 0, -1e9), dim=-1)),
    ],
)
def mask_expected(*args):
    """Without a mask your code raises an error.

    `mask` is None where nothing is hidden, and None is no tensor: ask `if mask is not None` first.
    """
    return _variant(*args[:6], args[6].bool(), weigh=partial(_masked, fill=-1e9))


def _turned_round(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    query, key, value = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    scores = query @ key.permute(3, 2, 1, 0) / math.sqrt(query.size(-1))  # key.T, without its warning
    return merge_heads(_masked(scores, None, 0) @ value) @ w_o


@multi_head.misconception(reread="02#text-02")
def all_axes(*args):
    """`.T` reverses the order of all axes.

    For a matrix that is what you want. Here batch and heads would change places too: `key.transpose(-2, -1)`, or
    `key.mT`, swaps only the last two axes.
    """
    return _turned_round(*args)


@multi_head.misconception(reread="04#text-20")
def view_refused(*args):
    """`view` raises an error after `transpose`.

    `transpose` copies nothing in memory, it only changes the order of the axes, and `view` cannot join two axes whose
    numbers are not side by side in memory. `reshape` copies where it has to; `.contiguous().view(…)` does the same.
    """
    return _variant(*args, merge=lambda x: x.transpose(1, 2).view(x.size(0), x.size(2), -1))


@multi_head.misconception(reread="02#text-29")
def root_of_a_plain_number(*args):
    """`torch.sqrt` takes tensors only.

    head_dim is a Python number: `math.sqrt(head_dim)`, or `head_dim ** 0.5`.
    """
    return _variant(*args, scale=lambda head_dim, embed_dim: 1 / torch.sqrt(head_dim))


@multi_head.misconception(reread="04#text-27")
def input_added(*args):
    """The input is added to the output.

    A block of a transformer does that, outside of attention. This exercise asks for the attention alone.
    """
    return args[0] + multi_head_attention(*args)


def _fused(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    rows = (x @ torch.cat([w_q, w_k, w_v], dim=1)).view(*x.shape[:2], num_heads, 3, -1)
    query, key, value = rows.permute(3, 0, 2, 1, 4)
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]
    return merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]) @ w_o


@multi_head.misconception(reread="04#text-33")
def fused_in_another_order(*args):
    """Queries, keys and values are cut out of one product in another order than they were put in.

    With the three matrices side by side a row holds all features of the query, then of the key, then of the value:
    (3, heads, head_dim). If it is read as (heads, 3, head_dim), as some models do, a head gets wrong features.
    """
    return _fused(*args)


def _one_projection(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    width = x.size(-1) // num_heads
    first = (w[:, :width].repeat(1, num_heads) for w in (w_q, w_k, w_v))
    return multi_head_attention(x, *first, w_o, num_heads, mask)


def _own_features_alone(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    width = x.size(-1) // num_heads
    alone = (torch.block_diag(*(w[:width, :width] for _ in range(num_heads))) for w in (w_q, w_k, w_v))
    return multi_head_attention(x, *alone, w_o, num_heads, mask)


def _part_of(head, x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    width = x.size(-1) // num_heads
    own = slice(head * width, (head + 1) * width)
    output, _ = scaled_dot_product_attention(x @ w_q[:, own], x @ w_k[:, own], x @ w_v[:, own], mask)
    return output @ w_o[own]


@multi_head.misconception(reread="04#text-mix", forms=[partial(_part_of, 0)])
def one_head_is_left(*args):
    """Only one head's part is in the output.

    In a loop over the heads `output = …` writes over the head before, and a `return` inside the loop ends it after the
    first. The parts of all heads have to be added up, or joined before `w_o`.
    """
    return _part_of(args[5] - 1, *args)


@multi_head.misconception(reread="04#text-08")
def values_not_projected(*args):
    """The values are not projected: `w_v` is not used.

    Queries, keys and values are made in the same way, each with a matrix of its own: `x @ w_v`.
    """
    return multi_head_attention(*args[:3], torch.eye(args[0].size(-1)), *args[4:])


@multi_head.misconception(reread="04#text-08", forms=[_own_features_alone])
def one_projection_for_all_heads(*args):
    """All heads have the same projection, that of the first.

    Then all heads compute the same, and one would be enough. Head h has its own columns in `w_q`, `w_k` and `w_v`:
    split after the product, not before.
    """
    return _one_projection(*args)


# ----------------------------------------------------------------------------------------------------------- 4.4


def _four(embed_dim, num_heads, keep, *, seed):
    return *(normal(embed_dim, embed_dim, seed=seed + k) for k in range(4)), num_heads, keep


def _features(embed_dim, num_heads, keep):
    return torch.arange(embed_dim).view(num_heads, -1)[list(keep)].flatten()


def pruned(w_q, w_k, w_v, w_o, num_heads, keep):
    """Columns of what makes queries, keys and values, rows of what takes the heads' outputs."""
    kept = _features(w_o.size(0), num_heads, keep)
    return w_q[:, kept], w_k[:, kept], w_v[:, kept], w_o[kept]


prune = function(
    "4.4",
    pruned,
    as_="my_prune(w_q, w_k, w_v, w_o, num_heads, keep)",
    shows=(pruned, _features),
    title="Fewer heads",
    section="04#text-mix",
    probes=[
        _four(6, 3, [0, 2], seed=400),
        _four(12, 3, [1], seed=410),
        _four(8, 4, [0, 1, 3], seed=420),
        _four(8, 2, [1], seed=430),
    ],
    corner_cases=[_four(4, 2, [0, 1], seed=440)],
    returns=("`w_q`", "`w_k`", "`w_v`", "`w_o`"),
    random_probes=lambda rng: [
        _four(heads * 3, heads, sorted(rng.sample(range(heads), heads - 1)), seed=rng.randrange(10**6))
        for heads in (3, 4)
    ],
    hints=[
        "Which of the `embed_dim` features belong to head 2? `head_dim` features side by side, from 2 · head_dim on.",
        "`x @ w_q` computes feature j with *column* j of `w_q`. Feature j of the heads' outputs is multiplied by "
        "*row* j of `w_o`.",
        "`torch.arange(embed_dim).view(num_heads, -1)[keep].flatten()` lists the features that stay.",
    ],
)


def _as_linear_keeps_them(w_q, w_k, w_v, w_o, num_heads, keep):
    kept = _features(w_o.size(0), num_heads, keep)
    return w_q[kept], w_k[kept], w_v[kept], w_o[:, kept]


@prune.misconception(reread="04#text-18", forms=[_as_linear_keeps_them])
def rows_everywhere(w_q, w_k, w_v, w_o, num_heads, keep):
    """Queries, keys and values lose rows, where they should lose columns.

    `nn.Linear` stores its weight transposed, so there a head corresponds to some rows. Here a projection is `x @ w_q`:
    row i holds the numbers that input feature i is multiplied by, and all input features are still needed.
    """
    kept = _features(w_o.size(0), num_heads, keep)
    return w_q[kept], w_k[kept], w_v[kept], w_o[kept]


@prune.misconception(reread="04#text-mix")
def columns_everywhere(w_q, w_k, w_v, w_o, num_heads, keep):
    """`w_o` loses columns, where it should lose rows.

    The heads' outputs are multiplied by its rows. Its columns are the output features; all heads contribute to them, so
    all must stay.
    """
    kept = _features(w_o.size(0), num_heads, keep)
    return w_q[:, kept], w_k[:, kept], w_v[:, kept], w_o[:, kept]


@prune.misconception(reread="04#text-mix")
def last_projection_as_it_was(w_q, w_k, w_v, w_o, num_heads, keep):
    """`w_o` was not made smaller.

    With fewer heads there are fewer features, but `w_o` still expects the old number. The rows that belong to the
    removed heads have to be removed too.
    """
    kept = _features(w_o.size(0), num_heads, keep)
    return w_q[:, kept], w_k[:, kept], w_v[:, kept], w_o


@prune.misconception(reread="04#text-20")
def every_other_feature(w_q, w_k, w_v, w_o, num_heads, keep):
    """For a head you take every `num_heads`-th feature.

    The features of a head are side by side: head 0 has the first `head_dim` features, head 1 the next.
    """
    kept = torch.arange(w_o.size(0)).view(-1, num_heads)[:, list(keep)].T.flatten()
    return w_q[:, kept], w_k[:, kept], w_v[:, kept], w_o[kept]


@prune.misconception(reread="04#text-20")
def features_for_heads(w_q, w_k, w_v, w_o, num_heads, keep):
    """Your function keeps one feature for each head that stays.

    `keep` lists heads, and a head has `head_dim` features.
    """
    return w_q[:, keep], w_k[:, keep], w_v[:, keep], w_o[keep]


def _heads_of_width(width):
    def code(w_q, w_k, w_v, w_o, num_heads, keep):
        kept = torch.cat([torch.arange(head * width, (head + 1) * width) for head in keep])
        return w_q[:, kept], w_k[:, kept], w_v[:, kept], w_o[kept]

    return code


def _three_heads(w_q, w_k, w_v, w_o, num_heads, keep):
    columns = [w.unflatten(1, (3, -1))[:, keep].flatten(1) for w in (w_q, w_k, w_v)]
    return *columns, w_o.unflatten(0, (3, -1))[keep].flatten(0, 1)


@prune.misconception(
    reread="04#text-20",
    forms=[
        *map(_heads_of_width, (2, 3)),
        *(lambda *args, heads=heads: pruned(*args[:4], heads, args[5]) for heads in (2, 3, 4)),
        _three_heads,
    ],
)
def fixed_sizes(w_q, w_k, w_v, w_o, num_heads, keep):
    """The number of heads, or of the features of a head, is typed, and the same in every call.

    `num_heads` is an argument, and a head has `embed_dim // num_heads` features, where embed_dim is `w_o.size(0)`.
    """
    return _heads_of_width(4)(w_q, w_k, w_v, w_o, num_heads, keep)


@prune.misconception(reread="04#text-mix")
def the_others(w_q, w_k, w_v, w_o, num_heads, keep):
    """Your function removes the heads that should stay.

    `keep` lists the heads that are still needed.
    """
    return pruned(w_q, w_k, w_v, w_o, num_heads, [h for h in range(num_heads) if h not in keep])


@prune.misconception(reread="04#text-20")
def counted_from_one(w_q, w_k, w_v, w_o, num_heads, keep):
    """The heads are counted from 1.

    `keep` counts from 0, as Python does: head h has the features from h · head_dim to (h + 1) · head_dim.
    """
    return pruned(w_q, w_k, w_v, w_o, num_heads, [head - 1 for head in keep])


@prune.misconception(reread="04#text-20")
def the_first_heads(w_q, w_k, w_v, w_o, num_heads, keep):
    """Your function keeps the right number of heads, but always the first ones.

    `keep` says which heads stay, not only how many: with `[0, 2]` head 1, in the middle, is removed.
    """
    return pruned(w_q, w_k, w_v, w_o, num_heads, range(len(keep)))


@prune.misconception(reread="04#text-18")
def both_axes(w_q, w_k, w_v, w_o, num_heads, keep):
    """The matrices lose rows and columns, and only one of the two should go.

    Every head reads all input features of a token, and contributes to all output features. Only the features inside a
    head are its own: columns of `w_q`, `w_k` and `w_v`, rows of `w_o`.
    """
    kept = _features(w_o.size(0), num_heads, keep)
    return tuple(w[kept][:, kept] for w in (w_q, w_k, w_v, w_o))


@prune.misconception(reread="04#text-mix")
def made_up_for(w_q, w_k, w_v, w_o, num_heads, keep):
    """The numbers in `w_o` are made larger, as if they had to replace the removed heads.

    Dropout multiplies by such a factor. Here the heads that stay must contribute exactly what they did before.
    """
    *made, last = pruned(w_q, w_k, w_v, w_o, num_heads, keep)
    return *made, last * num_heads / len(keep)


def _last_zeroed(w_q, w_k, w_v, w_o, num_heads, keep):
    stays = torch.isin(torch.arange(w_o.size(0)), _features(w_o.size(0), num_heads, keep))
    return w_q, w_k, w_v, w_o * stays[:, None]


@prune.misconception(reread="04#text-mix", forms=[_last_zeroed])
def silenced(w_q, w_k, w_v, w_o, num_heads, keep):
    """The heads are set to 0, and not removed.

    With zeros in their places the output is right, but every product is as large as before: nothing is saved.
    """
    stays = torch.isin(torch.arange(w_o.size(0)), _features(w_o.size(0), num_heads, keep))
    return w_q * stays, w_k * stays, w_v * stays, w_o * stays[:, None]


# ----------------------------------------------------------------------------------------------------------- 4.5


LINEARS = ("q_proj", "k_proj", "v_proj", "out_proj")


class MyMultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key, value, mask=None):
        query = split_heads(self.q_proj(query), self.num_heads)  # (batch, heads, n_queries, head_dim)
        key = split_heads(self.k_proj(key), self.num_heads)  # (batch, heads, n_keys, head_dim)
        value = split_heads(self.v_proj(value), self.num_heads)  # (batch, heads, n_keys, head_dim)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]  # the same mask for every head
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return self.out_proj(merge_heads(output)), weights


def _call(batch, n_queries, n_keys, embed_dim, num_heads, mask=None, *, seed):
    weights = []
    for i in range(4):
        weights += [normal(embed_dim, embed_dim, seed=seed + i) / math.sqrt(embed_dim) * 1.5]
        weights += [normal(embed_dim, seed=seed + 10 + i)]
    inputs = [normal(batch, n, embed_dim, seed=seed + 20 + i) for i, n in enumerate((n_queries, n_keys, n_keys))]
    return embed_dim, num_heads, *weights, *inputs, mask


def _each_its_own(batch, n_queries, n_keys):
    """A mask for each sentence and each query."""
    return random_mask(batch, n_queries, n_keys, seed=9)


own_class = module(
    "4.5",
    MyMultiHeadAttention,
    as_="MyMultiHeadAttention(embed_dim, num_heads)",
    parameters=tuple(f"{linear}.{part}" for linear in LINEARS for part in ("weight", "bias")),
    forward="query, key, value, mask=None",
    title="The class, from an empty cell",
    section="04#text-27",
    courses=(MultiHeadAttention, MultiHeadAttentionByHeads),
    also_called=("multi_head",),
    probes=[
        _call(1, 2, 3, 8, 2, seed=501),
        _call(2, 3, 5, 6, 3, seed=520),
        _call(2, 5, 5, 6, 2, causal_mask(5), seed=540),
        _call(3, 2, 4, 8, 2, padding_mask([3, 1, 2], 4), seed=560),
        _call(2, 3, 4, 6, 3, _each_its_own(2, 3, 4), seed=580),
        _call(2, 5, 5, 4, 2, padding_mask([3, 4], 5), seed=600),
    ],
    corner_cases=[
        _call(2, 3, 3, 4, 1, seed=620),
        _call(2, 3, 3, 4, 2, padding_mask([0, 2], 3), seed=640),
        _call(2, 4, 4, 6, 3, causal_mask(4).tril(-1), seed=660),
        _call(2, 3, 3, 6, 4, seed=680),  # cannot be made
    ],
    returns=("the output", "the weights"),
    gradients=True,
    random_probes=lambda rng: [
        _call(2, 3, n, 12, rng.choice((2, 3, 4)), mask, seed=rng.randrange(10**6))
        for n, mask in ((5, None), (4, random_mask(2, 1, 4, seed=rng.randrange(10**6))))
    ],
    hints=[
        "In `__init__`, after `super().__init__()`: keep num_heads, and make four `nn.Linear(embed_dim, embed_dim)` "
        "under the names q_proj, k_proj, v_proj and out_proj. PyTorch finds the parameters of each layer that is an "
        "attribute of its own.",
        "`forward` is the body of 4.3, with `self.q_proj(query)` in place of `x @ w_q`. Queries come from `query`, "
        "keys from `key`, values from `value`. A mask with three axes needs one more for the heads: `mask[:, None]`.",
        "`scaled_dot_product_attention(query, key, value, mask)` on the split heads gives output and weights, and "
        "makes rows without a key 0. Return `self.out_proj(merge_heads(output)), weights`: the weights as they are, "
        "(batch, heads, n_queries, n_keys).",
    ],
)


def _attends(
    embed_dim,
    num_heads,
    *given,
    split=split_heads,
    merge=merge_heads,
    scale=lambda head_dim, embed_dim: head_dim**-0.5,
    product=lambda query, key: query @ key.transpose(-2, -1),
    weigh=masked_softmax,
    mask_for_scores=lambda mask: mask[:, None] if mask.ndim == 3 else mask,
    projected=(0, 1, 2),
    inputs=(0, 1, 2),
    biased=True,
    last=True,
    shown=lambda weights: weights,
):
    """What the class computes, with each part exchangeable."""
    *given, mask = given
    layers, tokens = [given[i : i + 2] for i in range(0, 8, 2)], given[8:]

    def linear(i, x):
        weight, bias = layers[i]
        return nn.functional.linear(x, weight, bias if biased else None)

    pairs = zip(projected, inputs, strict=True)
    query, key, value = (split(linear(i, tokens[j]), num_heads) for i, j in pairs)
    scores = product(query, key) * scale(query.size(-1), embed_dim)
    weights = weigh(scores, None if mask is None else mask_for_scores(mask))
    merged = merge(weights @ value)
    return linear(3, merged) if last else merged, shown(weights)


def _variants(**parts):
    """Forms of one part exchanged, which masks as most code does: by −∞, and by a large number."""
    ways = [masked_softmax, partial(_masked, fill=-math.inf), partial(_masked, fill=-1e9)]
    return [partial(_attends, weigh=way, **parts) for way in ways]


def _refused(why):
    def call(*args):
        raise made.CannotTakeWeights(why)

    return call


@own_class.misconception(reread="04#text-08")
def no_module(*args):
    """The class is no `nn.Module`.

    `class MyMultiHeadAttention(nn.Module):` makes it one. Only then does PyTorch find its parameters, to train, save
    or load them.
    """
    return _refused(made.NO_MODULE)(*args)


class _WithoutSuper(nn.Module):
    def __init__(self, embed_dim, num_heads):
        self.q_proj = nn.Linear(embed_dim, embed_dim)


@own_class.misconception(reread="04#text-08")
def super_forgotten(*args):
    """`super().__init__()` is missing, or comes too late.

    This call makes the lists in which a module keeps its parameters. Without them there is no place for a layer, so the
    call has to be the first line of `__init__`.
    """
    return _WithoutSuper(*args[:2])


@own_class.misconception(reread="04#text-08")
def not_registered(*args):
    """The module does not know its own layers.

    A module finds a layer, or an `nn.Parameter`, only if this is one of the module's own attributes. Layers in a plain
    list or dict, and plain tensors, are not found: training would not change them, and they would not be saved with the
    model. Write `self.q_proj = nn.Linear(…)`.
    """
    return _refused(made.NOT_REGISTERED)(*args)


@own_class.misconception(reread="04#text-08", forms=_variants(biased=False))
def no_biases(*args):
    """The projections have no biases, or do not use them.

    `nn.Linear(embed_dim, embed_dim)` has one, and so has PyTorch's own module.
    """
    return _refused(made.NO_BIASES)(*args)


@own_class.misconception(reread="04#text-mix", forms=_variants(last=False))
def no_output_projection(*args):
    """The output projection is missing, or is not used.

    Merged heads have the right shape already, so no error is raised. But without `out_proj` each head would only
    influence its own features of the output.
    """
    return _refused(made.NO_OUTPUT_PROJECTION)(*args)


@own_class.misconception(
    reread="04#text-08",
    forms=[form for order in ((0, 0, 0), (0, 0, 2), (0, 1, 1), (0, 1, 0)) for form in _variants(projected=order)],
)
def one_projection_for_several(*args):
    """One projection makes more than one of the three: queries, keys and values.

    Each has weights of its own: `q_proj` makes the queries, `k_proj` the keys, `v_proj` the values.
    """
    return _refused(made.ONE_FOR_SEVERAL)(*args)


@own_class.misconception(reread="04#text-18")
def other_size(*args):
    """A projection has another size than `(embed_dim, embed_dim)`.

    One projection makes the features of all heads at once: embed_dim in, embed_dim out. `split_heads` cuts them into
    pieces of head_dim afterwards.
    """
    return _refused(made.OTHER_SIZE)(*args)


@own_class.misconception(
    reread="04#text-27",
    forms=[form for sources in ((0, 0, 1), (0, 1, 1), (0, 2, 1), (1, 0, 2)) for form in _variants(inputs=sources)],
)
def other_inputs(*args):
    """Keys or values are made from the wrong argument.

    `forward` gets three: queries come from `query`, keys from `key`, values from `value`. If all three are the same
    tokens, the difference cannot be seen.
    """
    return _attends(*args, inputs=(0, 0, 0))


@own_class.misconception(reread="04#text-31", forms=_variants(scale=lambda head_dim, embed_dim: embed_dim**-0.5))
def scale_d_model(*args):
    """The scores are divided by √embed_dim.

    A dot product runs over the features of one head, so d_k is head_dim. With √embed_dim the scores are too small and
    the weights too even.
    """
    return _attends(*args, scale=lambda head_dim, embed_dim: embed_dim**-0.5)


@own_class.misconception(reread="02#text-29", forms=_variants(scale=lambda head_dim, embed_dim: 1.0))
def no_scale(*args):
    """The scores are not divided by √head_dim.

    No error is raised, and with few features in a head the difference is small. With many, softmax gives nearly all
    weight to one key, and gradients become nearly 0.
    """
    return _attends(*args, scale=lambda head_dim, embed_dim: 1.0)


@own_class.misconception(
    reread="02#text-29",
    forms=[
        *_variants(scale=lambda head_dim, embed_dim: 1 / head_dim),
        *_variants(scale=lambda head_dim, embed_dim: (embed_dim // head_dim) ** -0.5),
        *_variants(scale=lambda head_dim, embed_dim: head_dim**0.5),
        *_variants(scale=lambda head_dim, embed_dim: head_dim / embed_dim),
        *(partial(_attends, scale=lambda *_, by=by: 1 / by) for by in TYPED_DIVISORS),
    ],
)
def other_scale(*args):
    """The scores are not divided by √head_dim, but by something else.

    A score is a sum of head_dim products, and its standard deviation grows like √head_dim: divide once, by
    `math.sqrt(head_dim)`, where `head_dim` is `embed_dim // num_heads`. A number that you type is right for one
    head_dim only.
    """
    return _attends(*args, scale=lambda head_dim, embed_dim: 1 / embed_dim)


@own_class.misconception(
    reread="04#text-20",
    forms=[
        *_variants(split=_not_moved, merge=lambda x: x.flatten(2)),
        partial(_attends, split=_not_moved, merge=lambda x: x.flatten(2), weigh=lambda s, m: torch.softmax(s, dim=-1)),
    ],
)
def heads_attend_to_heads(*args):
    """Within each token, heads attend to heads.

    Without `transpose(1, 2)` after the split the last two axes are (heads, head_dim), and no token attends to another.
    They have to be (n, head_dim): split into (batch, heads, n, head_dim).
    """
    return _attends(*args, split=_not_moved, merge=lambda x: x.flatten(2))


@own_class.misconception(
    reread="04#text-20",
    forms=[
        form
        for heads, head_dim in ((2, -1), (3, -1), (4, -1), (None, 2), (None, 3), (None, 4), (-1, 2), (-1, 3), (-1, 4))
        for form in _variants(split=_of_size(heads, head_dim))
    ],
)
def fixed_sizes(*args):
    """The number of heads, or of the features of a head, is typed, and the same in every module.

    `num_heads` is an argument of `__init__`: keep it as `self.num_heads`. A head has `embed_dim // num_heads` features.
    """
    return _attends(*args, split=_of_size(heads=2))


def _viewed(x, num_heads):
    return x.reshape(x.size(0), num_heads, x.size(1), -1)


@own_class.misconception(
    reread="04#text-20",
    forms=[
        *_variants(split=_viewed),
        *_variants(split=_viewed, merge=lambda x: x.reshape(x.size(0), x.size(2), -1)),
    ],
)
def view_alone(*args):
    """The heads are cut with `view` alone.

    The shape is right, but `view` divides the numbers in the order of memory: a head gets the numbers of a few tokens
    in place of some features of all tokens. Use `view` to (batch, n, heads, head_dim), then `transpose(1, 2)`.
    """
    return _attends(*args, split=_viewed)


@own_class.misconception(reread="04#text-20", forms=_variants(merge=lambda x: x.reshape(x.size(0), x.size(2), -1)))
def merge_alone(*args):
    """The heads are merged without `transpose(1, 2)`.

    `reshape` from (batch, heads, n, head_dim) gives the right shape and mixes the tokens.
    """
    return _attends(*args, merge=lambda x: x.reshape(x.size(0), x.size(2), -1))


@own_class.misconception(
    reread="04#text-20",
    forms=_variants(
        split=lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2),
        merge=lambda x: x.permute(0, 2, 3, 1).flatten(2),
    ),
)
def interleaved(*args):
    """Each head takes every `num_heads`-th feature.

    A head's features stand side by side: cut into (heads, head_dim), not into (head_dim, heads).
    """
    return _attends(*args, split=lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2))


@own_class.misconception(reread="04#text-02", forms=_variants(split=lambda x, h: x[:, None]))
def one_head(*args):
    """Your code attends with all features at once: there is only one head.

    The output has the same shape with and without heads. Each head has to compute weights from its own features.
    """
    return _attends(*args, split=lambda x, h: x[:, None])


@own_class.misconception(
    reread="04#text-27",
    forms=[
        *_variants(shown=lambda weights: weights.mean(dim=1)),
        *_variants(shown=lambda weights: weights.mean(dim=1, keepdim=True)),
        *_variants(shown=lambda weights: weights[:, 0]),
        *_variants(shown=lambda weights: weights.sum(dim=1)),
    ],
)
def weights_averaged(*args):
    """The weights are averaged over the heads, or are those of one head.

    `nn.MultiheadAttention` returns such an average unless you ask for more. Here the weights of every head are asked
    for: (batch, heads, n_queries, n_keys).
    """
    return _attends(*args, shown=lambda weights: weights.mean(dim=1))


@own_class.misconception(reread="04#text-27")
def the_other_way_round(*args):
    """Weights and output have changed places.

    `forward` returns the output first: `return output, weights`.
    """
    return _attends(*args)[::-1]


@own_class.misconception(
    reread="02#text-40",
    forms=[
        partial(_attends, weigh=partial(_masked, fill=fill, dim=dim))
        for fill, dim in itertools.product((-math.inf, -1e9), (-2, 1, 0))
    ],
)
def wrong_axis(*args):
    """The softmax runs over the wrong axis.

    Scores are (batch, heads, n_queries, n_keys). The weights of one query lie along the last axis, `dim=-1`; `dim=1` is
    the axis of the heads, `dim=2` that of the queries.
    """
    return _attends(*args, weigh=lambda s, m: torch.softmax(s, dim=-2))


def _scores_for_weights(*args, fill=None, shown=False):
    scores = []

    def weigh(s, m):
        scores.append(s if m is None or fill is None else s.masked_fill(~m, fill))
        return torch.softmax(scores[0], dim=-1) if shown else scores[0]

    output, weights = _attends(*args, weigh=weigh)
    return output, scores[0] if shown else weights


@own_class.misconception(
    reread="02#text-13", forms=[partial(_scores_for_weights, fill=fill) for fill in (-1e9, -math.inf)]
)
def softmax_lost(*args):
    """The softmax is missing, or its result is thrown away.

    A line `torch.softmax(scores, dim=-1)` changes nothing unless its result gets a name. The product of scores and
    values has the right shape too, so no error is raised.
    """
    return _scores_for_weights(*args)


@own_class.misconception(
    reread="01#text-02",
    forms=[partial(_scores_for_weights, fill=fill, shown=True) for fill in (-1e9, -math.inf)],
)
def scores_returned(*args):
    """The output is right, but the second result is the scores, not the weights.

    “Scores” are before softmax, “weights” after. The second result has to be the weights, rows that sum to 1.
    """
    return _scores_for_weights(*args, shown=True)


@own_class.misconception(reread="04#text-27")
def input_added(*args):
    """The input is added to the output.

    A block of a transformer does that, outside of attention. This exercise asks for the attention alone.
    """
    output, weights = _attends(*args)
    return args[10] + output, weights


def _future_masked(*args, weigh=masked_softmax):
    def past(s, m):
        causal = causal_mask(*s.shape[-2:])
        return weigh(s, causal if m is None else m & causal)

    return _attends(*args, weigh=past)


@own_class.misconception(
    reread="03#text-10",
    forms=[partial(_future_masked, weigh=partial(_masked, fill=fill)) for fill in (-math.inf, -1e9)],
)
def future_masked_always(*args):
    """The future is hidden, whatever `mask` says.

    Models that write text hide it, and much code has that mask built in. Here `mask` alone says what is hidden, and
    without a mask every query attends to all keys.
    """
    return _future_masked(*args)


@own_class.misconception(reread="03#text-14")
def mask_ignored(*args):
    """The mask has no effect.

    `forward` takes it and does not use it. Without a mask the result is right, so such calls do not show the mistake.
    """
    return _attends(*args, weigh=lambda s, m: torch.softmax(s, dim=-1))


@own_class.misconception(
    reread="03#text-35",
    forms=[partial(_attends, weigh=lambda s, m, fill=fill: _masked(s, None if m is None else ~m, fill))
           for fill in (-math.inf, -1e9)],
)  # fmt: skip
def polarity(*args):
    """True is taken to mean “hide”.

    In `nn.MultiheadAttention` it does. Here True = may attend.
    """
    return _attends(*args, weigh=lambda s, m: masked_softmax(s, None if m is None else ~m))


@own_class.misconception(reread="03#text-02")
def zero_scores(*args):
    """Masked scores are set to 0.

    A score of 0 still gets weight, since exp(0) = 1. Only −∞ gives a weight of 0.
    """
    return _attends(*args, weigh=partial(_masked, fill=0.0))


@own_class.misconception(reread="03#text-07")
def after_softmax(*args):
    """The mask is applied after softmax.

    The hidden keys were already counted in the sum, so the weights that are left no longer sum to 1.
    """
    return _attends(*args, weigh=lambda s, m: torch.softmax(s, dim=-1) * (1 if m is None else m))


@own_class.misconception(
    reread="04#text-27",
    forms=_variants(mask_for_scores=lambda mask: mask),
)
def mask_per_head(*args):
    """A mask with three axes has no axis for the heads.

    (batch, n_queries, n_keys) against (batch, heads, n_queries, n_keys): the first axis of the mask meets the axis of
    the heads. That fails with most sizes; where batch equals the number of heads no error is raised, and the result is
    wrong. `mask[:, None]` puts the axis in.
    """
    return _attends(*args, mask_for_scores=lambda mask: mask, weigh=partial(_masked, fill=-math.inf))


@own_class.misconception(reread="04#text-27", forms=_variants(mask_for_scores=lambda mask: mask[:, None]))
def axis_for_heads_always(*args):
    """A mask with two axes gets an axis where it has no batch.

    `mask[:, None]` is right for three axes. Of (n_queries, n_keys) it makes (n_queries, 1, n_keys), where the queries
    meet the axis of the heads. A mask with two axes fits as it is.
    """
    return _attends(*args, mask_for_scores=lambda mask: mask[:, None], weigh=partial(_masked, fill=-math.inf))


@own_class.misconception(reread="03#text-21")
def dead_nan(*args):
    """Rows without a key are NaN.

    If all scores of a row are −∞, softmax computes 0/0. Such a row has to be 0: `scaled_dot_product_attention` does so.
    """
    return _attends(*args, weigh=partial(_masked, fill=-math.inf))


@own_class.misconception(reread="03#text-21")
def dead_uniform(*args):
    """Rows without a key give the same weight to every key.

    If all scores of a row are equally low, softmax makes equal weights of them. Such a row has to be 0.
    """
    return _attends(*args, weigh=partial(_masked, fill=-1e9))


def _batch_exchanged(*args, weigh=masked_softmax):
    *first, query, key, value, mask = args
    turned = (x.transpose(0, 1) for x in (query, key, value))
    output, weights = _attends(*first, *turned, mask, weigh=weigh)
    return output.transpose(0, 1), weights


@own_class.misconception(
    reread="04#text-33",
    forms=[
        partial(_batch_exchanged, weigh=partial(_masked, fill=-math.inf)),
        partial(_batch_exchanged, weigh=partial(_masked, fill=-1e9)),
        partial(_batch_exchanged, weigh=lambda s, m: torch.softmax(s, dim=-1)),
    ],
)
def batch_attended(*args):
    """The texts of the batch attend to each other.

    The first axis was taken for the tokens, as `nn.MultiheadAttention` does without `batch_first=True`. Here it is the
    batch, and no text may attend to another.
    """
    return _batch_exchanged(*args)


@own_class.misconception(reread="02#text-02")
def keys_not_transposed(*args):
    """The keys are not transposed.

    A score is the dot product of a query's row with a key's row. A matrix product needs the keys as columns for that:
    `query @ key.mT`, or `key.transpose(-2, -1)`.
    """
    return _attends(*args, product=lambda query, key: query @ key)


@own_class.misconception(reread="04#text-20")
def view_refused(*args):
    """`view` raises an error after `transpose`.

    `transpose` copies nothing in memory, it only changes the order of the axes, and `view` cannot join axes whose
    numbers are not side by side in memory. `reshape` copies where it has to.
    """
    return _attends(*args, merge=lambda x: x.transpose(1, 2).view(x.size(0), x.size(2), -1))


@own_class.misconception(reread="02#text-29")
def root_of_a_plain_number(*args):
    """`torch.sqrt` takes tensors only.

    head_dim is a Python number: `math.sqrt(head_dim)`, or `head_dim ** 0.5`.
    """
    return _attends(*args, scale=lambda head_dim, embed_dim: 1 / torch.sqrt(head_dim))


@own_class.misconception(
    reread="03#text-14",
    forms=[lambda *args: _attends(*args[:-1], ~~args[-1], weigh=partial(_masked, fill=-1e9))],
)
def mask_expected(*args):
    """Without a mask your code raises an error.

    `mask` is None where nothing is hidden, and None is no tensor: ask `if mask is not None` first.
    """
    return _attends(*args[:-1], args[-1].bool(), weigh=partial(_masked, fill=-1e9))
