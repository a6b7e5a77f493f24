"""Exercises of notebook 4: split, merge, and multi-head attention as one function."""

import math

import torch

from .. import functional
from ..functional import scaled_dot_product_attention
from ..masks import causal_mask
from ..masks import padding_mask as padding
from .catalogue import Probe, also, exercise, misconception
from .probes import normal

# ----------------------------------------------------------------------------------------------------------- 4.1


def _tokens(batch, n, d_model, num_heads, edge=False):
    return Probe(lambda: (normal(batch, n, d_model, seed=num_heads), num_heads), edge)


@exercise(
    "4.1",
    "Split into heads",
    "split_heads(x, num_heads)",
    "notebook 4, “From features to heads: view and transpose”",
    probes=[
        _tokens(1, 3, 4, 2),
        _tokens(2, 3, 8, 2),
        _tokens(2, 5, 6, 3),
        _tokens(3, 4, 10, 5),
        _tokens(2, 3, 4, 1, edge=True),
        _tokens(2, 1, 6, 3, edge=True),
        _tokens(1, 4, 10, 4, edge=True),
    ],
    returns=("the result",),
    hints=[
        "Two steps: cut the features of each token into heads, then move the heads in front of the tokens.",
        "`x.view(batch, n, num_heads, head_dim)` cuts and leaves tokens whole; head_dim is `d_model // num_heads`.",
        "Then `.transpose(1, 2)`. Write the sizes out, without -1: then 10 features for 4 heads raise an error "
        "as they should.",
    ],
    shows=(functional.split_heads,),
)
def split_heads(x, num_heads):
    return functional.split_heads(x, num_heads)


@misconception(
    "4.1",
    "view-alone",
    "`view` alone tears the tokens apart",
    "It returns the right shape, since the numbers fit. But `view` reads them in the order in which they lie in "
    "memory: "
    "head 0 gets all features of the first tokens, where it should get some features of all tokens.",
)
def _(x, num_heads):
    return x.reshape(x.size(0), num_heads, x.size(1), x.size(2) // num_heads)


@misconception(
    "4.1",
    "interleaved",
    "Each head takes every so-manyth feature",
    "Cut as (head_dim, heads) neighbouring features go to different heads. Trained weights expect each head's features "
    "side by side: (heads, head_dim).",
)
def _(x, num_heads):
    return x.reshape(*x.shape[:2], -1, num_heads).permute(0, 3, 1, 2)


@misconception(
    "4.1",
    "not-transposed",
    "The heads still stand behind the tokens",
    "(batch, n, heads, head_dim) is half of the way. Attention works on the last two axes, and those have to be n and "
    "head_dim: `.transpose(1, 2)`.",
)
def _(x, num_heads):
    return x.reshape(*x.shape[:2], num_heads, -1)


@misconception(
    "4.1",
    "merged-batch",
    "Heads and batch have been merged into one axis",
    "Some code computes with (batch · heads, n, head_dim). The numbers are the right ones; here the two axes "
    "stay apart.",
    reread="notebook 4, “All heads in the batch”",
)
def _(x, num_heads):
    return functional.split_heads(x, num_heads).flatten(0, 1)


@misconception(
    "4.1",
    "invented-tokens",
    "Sizes that do not divide go through unnoticed",
    "With -1 for the number of tokens, `view` makes them fit: 4 tokens of 10 become 5 tokens of 8, and every number "
    "after that is wrong. Name all sizes, or check that num_heads divides d_model.",
    reread="notebook 4, “Break it”",
)
def _(x, num_heads):
    return x.reshape(x.size(0), -1, num_heads, x.size(2) // num_heads).transpose(1, 2)


# ----------------------------------------------------------------------------------------------------------- 4.2


def _heads(*shape, edge=False):
    return Probe(lambda: (normal(*shape),), edge)


@exercise(
    "4.2",
    "Merge the heads",
    "merge_heads(x)",
    "notebook 4, “From features to heads: view and transpose”",
    probes=[
        _heads(1, 2, 3, 2),
        _heads(2, 3, 4, 5),
        _heads(3, 2, 5, 4),
        _heads(2, 4, 4, 3),
        _heads(2, 1, 3, 4, edge=True),
        _heads(2, 3, 1, 4, edge=True),
    ],
    returns=("the result",),
    hints=[
        "It is `split_heads` backwards: the last step first.",
        "`x.transpose(1, 2)` brings the heads back behind the tokens.",
        "Then join the last two axes with `reshape`; after a transpose `view` refuses, because the numbers no "
        "longer lie in order.",
    ],
    shows=(functional.merge_heads,),
)
def merge_heads(x):
    return functional.merge_heads(x)


@misconception(
    "4.2",
    "reshape-alone",
    "`reshape` alone mixes the tokens",
    "The shape is right, but the numbers are read head by head: the first rows hold several tokens of head 0, where "
    "each row should hold one token of every head. Transpose first.",
)
def _(x):
    batch, heads, n, head_dim = x.shape
    return x.reshape(batch, n, heads * head_dim)


@misconception(
    "4.2",
    "view-refused",
    "`view` refuses after `transpose`",
    "`transpose` moves no number, it only reads them in another order, and `view` cannot join axes that do not "
    "lie side "
    "by side. `reshape` copies where it has to; `.contiguous().view(…)` does the same.",
)
def _(x):
    batch, heads, n, head_dim = x.shape
    return x.transpose(1, 2).view(batch, n, heads * head_dim)


@misconception(
    "4.2",
    "interleaved",
    "The heads' features are woven into each other",
    "Joined as (head_dim, heads), neighbouring features come from different heads. Each head's features belong "
    "side by side.",
)
def _(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@misconception(
    "4.2",
    "averaged",
    "The heads are averaged or added up",
    "Then all but the sum of what they found is lost. They are put side by side, and the output projection mixes them.",
)
def _(x):
    return x.mean(dim=1)


@also("4.2", "averaged")
def _(x):
    return x.sum(dim=1)


@misconception(
    "4.2",
    "not-joined",
    "The heads are still an axis of their own",
    "(batch, n, heads, head_dim) is half of the way: the last two axes have to become one.",
)
def _(x):
    return x.transpose(1, 2)


# ----------------------------------------------------------------------------------------------------------- 4.3


def _attention_args(batch, n, d_model, num_heads, mask=None, seed=0):
    x = normal(batch, n, d_model, seed=seed)
    w_q, w_k, w_v, w_o = (normal(d_model, d_model, seed=seed + i) / math.sqrt(d_model) * 1.5 for i in range(1, 5))
    return x, w_q, w_k, w_v, w_o, num_heads, mask


def _future(answer):
    args = _attention_args(2, 4, 6, 3, causal_mask(4), seed=50)
    changed = args[0].clone()
    changed[:, -1] += 1
    return torch.allclose(answer(*args)[:, :-1], answer(changed, *args[1:])[:, :-1], atol=1e-5)


def _padding(answer):
    args = _attention_args(2, 4, 6, 3, padding([2, 4], 4), seed=51)
    changed = args[0].clone()
    changed[0, 2:] += 1
    return torch.allclose(answer(*args)[0, :2], answer(changed, *args[1:])[0, :2], atol=1e-5)


def _permuting(answer):
    x, *rest = _attention_args(2, 5, 6, 2, seed=52)
    order = torch.tensor([3, 0, 4, 1, 2])
    return torch.allclose(answer(x, *rest)[:, order], answer(x[:, order], *rest), atol=1e-4)


@exercise(
    "4.3",
    "Multi-head attention",
    "multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None)",
    "notebook 4, “Multi-head attention, whole”",
    probes=[
        Probe(lambda: _attention_args(1, 2, 4, 2, seed=1)),
        Probe(lambda: _attention_args(2, 3, 8, 4, seed=2)),
        Probe(lambda: _attention_args(2, 5, 6, 3, causal_mask(5), seed=3)),
        Probe(lambda: _attention_args(3, 4, 8, 2, padding([3, 1, 2], 4), seed=4)),
        Probe(lambda: _attention_args(1, 4, 6, 2, padding([3], 4), seed=5)),
        Probe(lambda: _attention_args(2, 4, 6, 1, seed=6), edge=True),
        Probe(lambda: _attention_args(2, 5, 4, 2, padding([3, 4], 5), seed=7), edge=True),
        Probe(lambda: _attention_args(2, 3, 4, 2, padding([0, 2], 3), seed=8), edge=True),
    ],
    returns=("the output",),
    gradients=True,
    invariants=[
        ("a future token moves the past, although the mask is causal", _future),
        ("padding moves the outputs of real tokens", _padding),
        ("the outputs do not move along when the tokens change places", _permuting),
    ],
    hints=[
        "Project, split, attend, merge, project. Your functions from notebooks 3 and 4 do four of the five.",
        "`mask` may be (batch, 1, n). Against scores (batch, heads, n, n) it needs an axis for the heads: "
        "`mask[:, None]`.",
        "The scale is √head_dim, not √d_model, since a dot product runs over the features of one head. The last "
        "step is `@ w_o`.",
    ],
)
def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    query, key, value = (functional.split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]  # (batch, 1, 1, n): the same for every head
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    return functional.merge_heads(output) @ w_o


def _variant(
    *,
    split=functional.split_heads,
    merge=functional.merge_heads,
    scale=lambda head_dim, d_model: head_dim**-0.5,
    weigh=functional.masked_softmax,
    heads_axis=True,
    project=True,
    transposed=False,
):
    """multi_head_attention with one part exchanged: most of its known mistakes are that."""

    def mistaken(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        turn = (lambda w: w.T) if transposed else (lambda w: w)
        query, key, value = (split(x @ turn(w), num_heads) for w in (w_q, w_k, w_v))
        if mask is not None and mask.ndim == 3 and heads_axis:
            mask = mask[:, None]
        scores = query @ key.transpose(-2, -1) * scale(query.size(-1), x.size(-1))
        if mask is not None and not heads_axis:
            mask = mask.expand(scores.shape)
        merged = merge(weigh(scores, mask) @ value)
        return merged @ turn(w_o) if project else merged

    return mistaken


def _masked(scores, mask, fill, dim=-1):
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, fill), dim=dim)


_known = {
    "scale-d-model": (
        "The scores are divided by √d_model",
        "The formula says √d_k, and outside a head that is all features. Inside a head a dot product runs over "
        "head_dim "
        "features only; with √d_model the scores are too small and the weights too even.",
        "notebook 4, “Which root?”",
        [_variant(scale=lambda head_dim, d_model: d_model**-0.5)],
    ),
    "no-scale": (
        "The scores are not divided by √head_dim",
        "It runs, and on small heads it hardly shows; on large ones softmax hardens and gradients vanish.",
        "notebook 4, “Which root?”",
        [_variant(scale=lambda head_dim, d_model: 1.0)],
    ),
    "d-not-root": (
        "The scores are divided by head_dim, not by its root",
        "The spread of the scores grows like the root.",
        "notebook 4, “Which root?”",
        [_variant(scale=lambda head_dim, d_model: 1 / head_dim)],
    ),
    "view-alone": (
        "The heads are cut with `view` alone",
        "The shape is right, but `view` reads the numbers in memory order: a head gets all features of some tokens "
        "instead of some features of all tokens.",
        "notebook 4, “From features to heads: view and transpose”",
        [
            _variant(split=lambda x, h: x.reshape(x.size(0), h, x.size(1), -1)),
            _variant(
                split=lambda x, h: x.reshape(x.size(0), h, x.size(1), -1),
                merge=lambda x: x.reshape(x.size(0), x.size(2), -1),
            ),
        ],
    ),
    "merge-alone": (
        "The heads are merged without moving them back behind the tokens",
        "`reshape` from (batch, heads, n, head_dim) gives the right shape and mixes the tokens: `transpose(1, "
        "2)` first.",
        "notebook 4, “From features to heads: view and transpose”",
        [_variant(merge=lambda x: x.reshape(x.size(0), x.size(2), -1))],
    ),
    "interleaved": (
        "Each head takes every so-manyth feature",
        "Cut as (head_dim, heads) neighbouring features go to different heads: it has to be (heads, head_dim).",
        "notebook 4, “From features to heads: view and transpose”",
        [
            _variant(split=lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2)),
            _variant(
                split=lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2),
                merge=lambda x: x.permute(0, 2, 3, 1).flatten(2),
            ),
        ],
    ),
    "one-head": (
        "It attends with all features at once: there is only one head",
        "The shapes are the same with and without heads. Each head has to make its own weights from its own features.",
        "notebook 4, “Two questions, one softmax”",
        [_variant(split=lambda x, h: x[:, None])],
    ),
    "no-output-projection": (
        "The output projection is not used",
        "`w_o` is an argument and nothing happens to it. Merged heads have the right shape already, so nothing "
        "complains; "
        "but the heads' results are never mixed, and `w_o` gets no gradient.",
        "notebook 4, “The projection that was forgotten”",
        [_variant(project=False)],
    ),
    "transposed-weights": (
        "The projections are transposed",
        "`nn.Linear` keeps its weight as (out, in) and computes `x @ w.T`. Here it is `x @ w`, and square "
        "matrices fit both ways.",
        "notebook 4, “Multi-head attention, whole”",
        [_variant(transposed=True)],
    ),
    "wrong-axis": (
        "The softmax runs over the wrong axis",
        "Scores are (batch, heads, n, n). A query's weights are the last axis; `dim=1` is the heads, `dim=-2` "
        "the queries.",
        "notebook 2, “Break it”",
        [_variant(weigh=lambda s, m, d=d: _masked(s, m, -math.inf, d)) for d in (-2, 1, 0)]
        + [_variant(weigh=lambda s, m, d=d: _masked(s, m, -1e9, d)) for d in (-2, 1, 0)],
    ),
    "softmax-lost": (
        "The softmax is missing, or its result is thrown away",
        "Scores times values have the right shape too.",
        "notebook 2, “Larger, and a false friend”",
        [
            _variant(weigh=lambda s, m: s),
            _variant(weigh=lambda s, m: s if m is None else s.masked_fill(~m, -1e9)),
            _variant(weigh=lambda s, m: s if m is None else s.masked_fill(~m, -math.inf)),
        ],
    ),
    "mask-ignored": (
        "The mask has no effect",
        "It is taken as an argument and lost on the way; without a mask everything is right, so nothing shows.",
        "notebook 3, “A mask that is not used”",
        [_variant(weigh=lambda s, m: torch.softmax(s, dim=-1))],
    ),
    "polarity": (
        "True is taken to mean “hide”",
        "In `nn.MultiheadAttention` it does. Here True = may attend.",
        "notebook 3, “True means what?”",
        [
            _variant(weigh=lambda s, m: functional.masked_softmax(s, None if m is None else ~m)),
            _variant(weigh=lambda s, m: _masked(s, None if m is None else ~m, -math.inf)),
            _variant(weigh=lambda s, m: _masked(s, None if m is None else ~m, -1e9)),
        ],
    ),
    "after-softmax": (
        "The mask is applied after softmax",
        "What is hidden has then already taken its share, and the rest of the row no longer sums to 1.",
        "notebook 3, “Before softmax, not after”",
        [_variant(weigh=lambda s, m: torch.softmax(s, dim=-1) * (1 if m is None else m))],
    ),
    "added": (
        "The mask is added to the scores as 0 and 1",
        "Adding 1 hides nothing. A mask to be added holds 0 and −∞.",
        "notebook 3, “True means what?”",
        [_variant(weigh=lambda s, m: torch.softmax(s if m is None else s + m.float(), dim=-1))],
    ),
    "mask-per-head": (
        "A mask per sequence is taken for one per head",
        "(batch, 1, n) against (batch, heads, n, n) lines up its first axis with the heads. That fails with most "
        "sizes; "
        "where batch equals the number of heads it goes through and is wrong. `mask[:, None]` puts the axis in.",
        "notebook 4, “Multi-head attention, whole”",
        [
            _variant(heads_axis=False),
            _variant(heads_axis=False, weigh=lambda s, m: _masked(s, m, -math.inf)),
            lambda x, w_q, w_k, w_v, w_o, num_heads, mask=None: _by_broadcast(x, w_q, w_k, w_v, w_o, num_heads, mask),
        ],
    ),
    "dead-nan": (
        "Rows with nothing left are NaN",
        "A sequence of length 0 leaves its queries nothing to attend to, and softmax of −∞ everywhere is 0/0.",
        "notebook 3, “The row with nothing left”",
        [_variant(weigh=lambda s, m: _masked(s, m, -math.inf))],
    ),
    "dead-uniform": (
        "Rows with nothing left listen to everything alike",
        "Where all scores are equally low, softmax gives each key the same. Such a row has to be 0.",
        "notebook 3, “Which number to fill in?”",
        [_variant(weigh=lambda s, m: _masked(s, m, -1e9))],
    ),
}


def _by_broadcast(x, w_q, w_k, w_v, w_o, num_heads, mask):
    query, key, value = (functional.split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    scores = query @ key.transpose(-2, -1) * query.size(-1) ** -0.5
    return functional.merge_heads(_masked(scores, mask, -math.inf) @ value) @ w_o


for _id, (_name, _why, _reread, _codes) in _known.items():
    for _code in _codes:
        misconception("4.3", _id, _name, _why, reread=_reread)(_code)
