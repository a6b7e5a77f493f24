"""Exercises of notebook 11: LayerNorm, a block, the loss of unequal texts, and the shares of the next word."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from attn_lib import MultiHeadAttention, gpt
from attn_lib.masks import causal_mask

from ..engine.function import function
from ..engine.probes import normal

# --------------------------------------------------------------------------------------------------------- 11.1


def _layer_norm(x, weight, bias):
    return gpt.layer_norm(x, weight, bias)


def _rows(*shape, seed):
    return normal(*shape, seed=seed), normal(shape[-1], seed=seed + 1), normal(shape[-1], seed=seed + 2)


_AS_MANY_TOKENS_AS_FEATURES = _rows(4, 4, seed=7)
_ALL_ALIKE = torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0]]), torch.ones(4), torch.zeros(4)
_NEARLY_ALIKE = 5 + 0.003 * normal(3, 4, seed=4), torch.ones(4), torch.zeros(4)

layer_norm = function(
    "11.1",
    _layer_norm,
    as_="my_layer_norm(x, weight, bias)",
    title="LayerNorm",
    section="11#layer-norm",
    dtype=torch.float64,
    shows=(gpt.layer_norm,),
    without=("layer_norm",),
    probes=[
        _rows(3, 4, seed=1),
        _rows(2, 3, 4, seed=2),
        _rows(2, 3, 5, 6, seed=3),
        _AS_MANY_TOKENS_AS_FEATURES,
        _ALL_ALIKE,  # these two tell the sizes of ε apart
        _NEARLY_ALIKE,
    ],
    corner_cases=[_rows(5, seed=4)],
    random_probes=lambda rng: [_rows(2, rng.randrange(2, 6), 4, seed=rng.randrange(10**6)) for _ in range(2)],
    returns=("the normalized rows",),
    gradients=True,
    hints=[
        "You need two means over the features of a token, with `dim=-1, keepdim=True`. The first is the mean of x. "
        "Subtract it; the second is the mean of the squares of the result.",
        "Add 0.00001 to the second mean, and then take the root: this is the deviation. Divide by it, multiply by "
        "`weight`, add `bias`.",
        "`x.var(dim=-1, keepdim=True, correction=0)` is the second mean, too. Without `correction=0` the sum of "
        "squares is divided by d − 1.",
    ],
)


def _normed(x, weight, bias, *, eps=1e-5, dim=-1, less=0, inside=True):
    centred = x - x.mean(dim=dim, keepdim=True)
    variance = centred.square().sum(dim=dim, keepdim=True) / max(1, x.size(dim) - less)
    deviation = (variance + eps).sqrt() if inside else variance.sqrt() + eps
    return centred / deviation * weight + bias


def _written_as_std(x, weight, bias, *, eps, less=1):
    """With ε beside the deviation, as the annotated transformer has it."""
    return _normed(x, weight, bias, eps=eps, less=less, inside=False)


@layer_norm.misconception(
    forms=[partial(_normed, less=1, eps=eps) for eps in (0.0, 1e-6, 1e-8, 1e-12)]
    + [partial(_written_as_std, eps=eps) for eps in (1e-5, 1e-6, 1e-8, 1e-12)]
)
def one_less(x, weight, bias):
    """The sum of squares is divided by d − 1, where d is the number of features.

    A variance is estimated like this from a sample, and `x.var` and `x.std` do it by default. Here the features are
    not a sample: divide by d, with `correction=0`.
    """
    return _normed(x, weight, bias, less=1)


@layer_norm.misconception(
    telltale_call=_NEARLY_ALIKE, forms=[partial(_written_as_std, less=0, eps=eps) for eps in (1e-3, 1e-4, 1e-6)]
)
def epsilon_outside(x, weight, bias):
    """ε stands outside the root.

    In most rows the difference is too small to see. It is large where all features of a row are nearly equal: the root
    of 0.00001 is 0.003, three hundred times as much.
    """
    return _normed(x, weight, bias, inside=False)


@layer_norm.misconception(forms=[lambda x, weight, bias: _normed(x, weight, bias, dim=0)])
def over_tokens(x, weight, bias):
    """The means run over the tokens, but they have to run over the features.

    Then the row of a token depends on the other tokens of the text. LayerNorm takes each token separately: `dim=-1`.
    """
    return _normed(x, weight, bias, dim=-2)


@layer_norm.misconception(telltale_call=_rows(2, 3, 4, seed=2))
def over_all_rows(x, weight, bias):
    """The means run over all rows, feature by feature: that is BatchNorm.

    There a row depends on the other texts of the batch. LayerNorm takes each token separately: `dim=-1`.
    """
    return _normed(x.flatten(0, -2) if x.ndim > 1 else x[None], weight, bias, dim=0).view_as(x)


@layer_norm.misconception(telltale_call=_rows(2, 3, 4, seed=2))
def over_tokens_and_features(x, weight, bias):
    """The means run over tokens and features at once.

    Then the row of a token depends on the other tokens of the text. Each token has a mean and a deviation of its own:
    `dim=-1`.
    """
    centred = x - x.mean(dim=(-2, -1), keepdim=True)
    return centred / (centred.square().mean(dim=(-2, -1), keepdim=True) + 1e-5).sqrt() * weight + bias


def _mean_as_a_row(x, weight, bias, *, deviation_too=True):
    variance = x.var(dim=-1, correction=0, keepdim=not deviation_too)
    return (x - x.mean(dim=-1)) / (variance + 1e-5).sqrt() * weight + bias


@layer_norm.misconception(
    telltale_call=_AS_MANY_TOKENS_AS_FEATURES,
    forms=[
        partial(_mean_as_a_row, deviation_too=False),
        lambda x, weight, bias: (
            (x - x.mean(dim=-1, keepdim=True)) / (x.var(dim=-1, correction=0) + 1e-5).sqrt() * weight + bias
        ),
    ],
)
def keepdim_forgotten(x, weight, bias):
    """The means or deviations of the tokens are spread along the features.

    `x.mean(dim=-1)` has one number for each token, and the axis of the features is gone. So broadcasting puts these
    numbers along the features of every token. With `keepdim=True` they stay a column.
    """
    return _mean_as_a_row(x, weight, bias)


def _in_part_over_everything(x, weight, bias, *, mean):
    """One of the two means without `dim`."""
    centred = x - (x.mean() if mean else x.mean(dim=-1, keepdim=True))
    variance = x.var(dim=-1, correction=0, keepdim=True) if mean else centred.square().mean()
    return centred / (variance + 1e-5).sqrt() * weight + bias


@layer_norm.misconception(forms=[partial(_in_part_over_everything, mean=mean) for mean in (True, False)])
def over_everything(x, weight, bias):
    """There is one mean, or one deviation, for all tokens together.

    `x.mean()` without `dim` is a single number. Each token has a mean and a deviation of its own: `dim=-1`.
    """
    centred = x - x.mean()
    return centred / (centred.square().mean() + 1e-5).sqrt() * weight + bias


@layer_norm.misconception()
def by_the_variance(x, weight, bias):
    """You divide by the variance; divide by its square root.

    With your division a row that is twice as large gives a result that is half as large.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + 1e-5) * weight + bias


@layer_norm.misconception(telltale_call=_ALL_ALIKE)
def no_epsilon(x, weight, bias):
    """ε is missing.

    A token whose features are all equal, such as *tea* in the lesson, is then 0 divided by 0: NaN.
    """
    return _normed(x, weight, bias, eps=0.0)


@layer_norm.misconception(
    telltale_call=_NEARLY_ALIKE,
    forms=[partial(_normed, eps=eps) for eps in (1e-3, 1e-4, 1e-7, 1e-8, torch.finfo(torch.float32).eps)],
)
def epsilon_of_another_size(x, weight, bias):
    """ε is there, but it is not 0.00001.

    Many models have 0.000001. A token whose features are all equal becomes 0 with any ε. The difference is seen where
    the features are nearly equal: the smaller ε is, the larger are the numbers in the result.
    """
    return _normed(x, weight, bias, eps=1e-6)


def _at_least(x, weight, bias, *, deviation=0.0, variance=0.0):
    centred = x - x.mean(dim=-1, keepdim=True)
    squares = centred.square().mean(dim=-1, keepdim=True).clamp(min=variance)
    return centred / squares.sqrt().clamp(min=deviation) * weight + bias


@layer_norm.misconception(
    telltale_call=_NEARLY_ALIKE,
    forms=[
        partial(_normed, eps=1e-9),
        partial(_written_as_std, less=0, eps=1e-8),
        partial(_at_least, deviation=1e-5),
        partial(_at_least, variance=1e-5),
    ],
)
def epsilon_against_zero_only(x, weight, bias):
    """Your ε only prevents a division by 0, and is not added to the variance as 0.00001.

    Perhaps ε is far smaller than 0.00001, as the 1e-12 of BERT. Perhaps it is outside the root. Or `clamp` or `max`
    sets a lowest value, while the exercise asks for a sum. A token whose features are all equal then gives 0 and not
    NaN, but a token whose features are nearly equal gets numbers that are too large.
    """
    return _normed(x, weight, bias, eps=1e-12)


def _by_the_length(x, weight, bias, *, centre=True, eps=0.0):
    centred = x - x.mean(dim=-1, keepdim=True) if centre else x
    return centred / (centred.norm(dim=-1, keepdim=True) + eps) * weight + bias


@layer_norm.misconception(
    forms=[partial(_by_the_length, centre=centre, eps=eps) for centre in (True, False) for eps in (1e-12, 1e-5)]
)
def by_the_length(x, weight, bias):
    """You divide by the length of the row; divide by its deviation.

    The length is the root of the *sum* of squares. The deviation is the root of their *mean*, √d times smaller. Your
    rows have length 1, and not deviation 1.
    """
    return _by_the_length(x, weight, bias)


@layer_norm.misconception()
def mean_left(x, weight, bias):
    """The mean is not subtracted.

    Without this step it is another norm, RMSNorm, which newer models use. LayerNorm subtracts the mean first.
    """
    return x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt() * weight + bias


@layer_norm.misconception()
def mean_left_above(x, weight, bias):
    """The mean is subtracted for the deviation only.

    Above the fraction line it has to be subtracted too: otherwise the row does not get mean 0.
    """
    return x / (x.var(dim=-1, correction=0, keepdim=True) + 1e-5).sqrt() * weight + bias


@layer_norm.misconception()
def squares_of_x(x, weight, bias):
    """The deviation is computed from x as it was.

    Subtract the mean first. The second mean is that of the squares of the result.
    """
    squares = x.square().mean(dim=-1, keepdim=True)
    return (x - x.mean(dim=-1, keepdim=True)) / (squares + 1e-5).sqrt() * weight + bias


@layer_norm.misconception(
    forms=[
        lambda x, weight, bias: _normed(x, weight, torch.zeros_like(bias)),
        lambda x, weight, bias: _normed(x, torch.ones_like(weight), bias),
    ]
)
def weight_forgotten(x, weight, bias):
    """`weight` or `bias` is not used, or neither of them.

    The model learns them: they set how large each feature becomes, and around which number it lies.
    """
    return _normed(x, torch.ones_like(weight), torch.zeros_like(bias))


@layer_norm.misconception()
def bias_first(x, weight, bias):
    """`bias` is added before `weight` multiplies.

    First multiply by `weight`, then add `bias`.
    """
    return (_normed(x, torch.ones_like(weight), torch.zeros_like(bias)) + bias) * weight


# --------------------------------------------------------------------------------------------------------- 11.2


def _block(x, norm1, attention, norm2, mlp):
    h = norm1(x)
    heard, _ = attention(h, h, h, is_causal=True)
    x = x + heard  # (batch, n, embed_dim): added to x, not to the normalized rows
    return x + mlp(norm2(x))


def _attended(h, attention, mask=None):
    return attention(h, h, h, causal_mask(h.size(1)) if mask is None else mask)[0]


def _second(x, norm2, mlp):
    return x + mlp(norm2(x))


def _parts(batch, n, embed_dim, num_heads, *, seed):
    """Rows and the four parts of a block, all their numbers drawn, so that no two parts do the same."""
    norm1, norm2 = nn.LayerNorm(embed_dim), nn.LayerNorm(embed_dim)
    attention = MultiHeadAttention(embed_dim, num_heads)
    mlp = nn.Sequential(nn.Linear(embed_dim, 2 * embed_dim), nn.GELU(), nn.Linear(2 * embed_dim, embed_dim))
    for i, part in enumerate((norm1, attention, norm2, mlp)):
        part.to(torch.float32)
        for j, parameter in enumerate(part.parameters()):
            parameter.data = normal(*parameter.shape, seed=1000 * seed + 100 * i + j)
    return normal(batch, n, embed_dim, seed=seed), norm1, attention, norm2, mlp


block = function(
    "11.2",
    _block,
    as_="my_block(x, norm1, attention, norm2, mlp)",
    title="A block",
    section="11#block",
    dtype=torch.float64,
    probes=[_parts(1, 3, 4, 2, seed=1), _parts(2, 4, 6, 3, seed=2), _parts(2, 5, 4, 1, seed=3)],
    corner_cases=[_parts(1, 1, 4, 2, seed=4)],
    random_probes=lambda rng: [_parts(2, rng.randrange(3, 6), 6, 2, seed=rng.randrange(10**5)) for _ in range(2)],
    returns=("the rows",),
    shown=lambda arg: type(arg).__name__ if isinstance(arg, nn.Module) else None,
    hints=[
        "The straight line in the diagram of a block is `x`; two branches leave it and join it again. On the line "
        "itself there are only two additions.",
        "`h = norm1(x)`, and attention gets `h` three times, with `causal_mask(x.size(1))`. It returns two things.",
        "Add the output of attention to `x`. Then do the same with `norm2` and `mlp`, on the new `x`.",
    ],
)


@block.misconception(
    reread="11#residual",
    forms=[
        lambda x, norm1, attention, norm2, mlp: _second(norm1(x) + _attended(norm1(x), attention), norm2, mlp),
        lambda x, norm1, attention, norm2, mlp: _from_normed(x + _attended(norm1(x), attention), norm2, mlp),
    ],
)
def added_to_the_normed(x, norm1, attention, norm2, mlp):
    """You add to the normalized row; add to `x` as it was before the norm.

    After `x = norm1(x)`, the sum `x + …` no longer has what the norm subtracted, and the rest of the model cannot get
    it back. In the lesson, *tea* would be lost.
    """
    return _from_normed(norm1(x) + _attended(norm1(x), attention), norm2, mlp)


def _from_normed(x, norm2, mlp):
    return norm2(x) + mlp(norm2(x))


@block.misconception()
def post_norm(x, norm1, attention, norm2, mlp):
    """The norms come after attention and MLP, and not before them: post-norm.

    The paper of 2017 does it this way, and PyTorch's layer too, unless it gets `norm_first=True`. In GPT-2 and in most
    models since then, each part reads normalized rows, and `x` itself is never normalized in a block.
    """
    x = norm1(x + _attended(x, attention))
    return norm2(x + mlp(x))


@block.misconception()
def second_norm_forgotten(x, norm1, attention, norm2, mlp):
    """`norm2` is not used: the MLP reads rows that are not normalized.

    Both parts of a block, attention and MLP, read normalized rows.
    """
    x = x + _attended(norm1(x), attention)
    return x + mlp(x)


@block.misconception()
def first_norm_forgotten(x, norm1, attention, norm2, mlp):
    """`norm1` is not used: attention reads rows that are not normalized.

    Both parts of a block, attention and MLP, read normalized rows.
    """
    return _second(x + _attended(x, attention), norm2, mlp)


@block.misconception()
def one_norm_for_both(x, norm1, attention, norm2, mlp):
    """`norm1` is used twice.

    Each norm has a weight and a bias of its own, and learns what attention or the MLP needs.
    """
    return _second(x + _attended(norm1(x), attention), norm1, mlp)


@block.misconception()
def norms_exchanged(x, norm1, attention, norm2, mlp):
    """The two norms are exchanged.

    `norm1` belongs to attention, `norm2` to the MLP.
    """
    return _second(x + _attended(norm2(x), attention), norm1, mlp)


@block.misconception(reread="11#residual")
def no_second_residual(x, norm1, attention, norm2, mlp):
    """After the MLP nothing is added: its output replaces the row.

    There are two residual connections, one for attention and one for the MLP.
    """
    return mlp(norm2(x + _attended(norm1(x), attention)))


@block.misconception(reread="11#residual")
def no_first_residual(x, norm1, attention, norm2, mlp):
    """After attention nothing is added: its output replaces the row.

    There are two residual connections, one for attention and one for the MLP.
    """
    return _second(_attended(norm1(x), attention), norm2, mlp)


@block.misconception(reread="11#residual")
def old_row(x, norm1, attention, norm2, mlp):
    """The MLP reads the row as it was before the attention.

    Then attention and MLP work side by side, as in a few models. Here the MLP reads the new row, to which the output of
    attention has been added.
    """
    return x + _attended(norm1(x), attention) + mlp(norm2(x))


@block.misconception(
    forms=[lambda x, norm1, attention, norm2, mlp: x + _attended(norm1(x), attention) + mlp(norm1(x))],
    reread="11#residual",
)
def mlp_of_the_first_norm(x, norm1, attention, norm2, mlp):
    """The MLP reads the row that was normalized for attention.

    Attention reads `h = norm1(x)`. After attention `x` has changed: the MLP reads `norm2` of the new `x`.
    """
    return x + _attended(norm1(x), attention) + mlp(norm2(norm1(x)))


@block.misconception(reread="03#text-10")
def mask_forgotten(x, norm1, attention, norm2, mlp):
    """There is no mask: each token attends to later tokens.

    A model that has to predict the next token would simply copy it from the input. When it writes, there is no next
    token to copy yet.
    """
    everybody = torch.ones(x.size(1), x.size(1), dtype=torch.bool)
    return _second(x + _attended(norm1(x), attention, everybody), norm2, mlp)


@block.misconception(reread="03#text-35")
def polarity(x, norm1, attention, norm2, mlp):
    """The mask means the opposite: each token attends to later tokens only.

    In this series, and in this module, True = may attend.
    """
    return _second(x + _attended(norm1(x), attention, ~causal_mask(x.size(1))), norm2, mlp)


@block.misconception()
def no_norms(x, norm1, attention, norm2, mlp):
    """Neither norm is used.

    Both parts of a block read normalized rows: attention reads `norm1(x)`, the MLP reads `norm2` of the new `x`.
    """
    x = x + _attended(x, attention)
    return x + mlp(x)


@block.misconception()
def norms_at_the_end(x, norm1, attention, norm2, mlp):
    """You normalize the output of attention and MLP, and not their input.

    A few models do this. Pre-norm means that the norm comes first: `attention` of `norm1(x)`, `mlp` of `norm2(x)`.
    """
    x = x + norm1(_attended(x, attention))
    return x + norm2(mlp(x))


@block.misconception(reread="11#residual")
def no_residuals(x, norm1, attention, norm2, mlp):
    """Nothing is added anywhere: the outputs of attention and MLP replace the row.

    There are two residual connections, one for attention and one for the MLP. Without the first, the row after
    attention no longer holds the token itself.
    """
    return mlp(norm2(_attended(norm1(x), attention)))


@block.misconception(reread="11#residual")
def heard_is_lost(x, norm1, attention, norm2, mlp):
    """The output of the MLP is added to the row as it was before attention.

    So the output of attention is missing in the sum. Keep the first sum, `x = x + …`; then return `x + mlp(norm2(x))`.
    """
    return x + mlp(norm2(x + _attended(norm1(x), attention)))


@block.misconception(
    forms=[
        lambda x, norm1, attention, norm2, mlp: attention(*[norm1(x)] * 3, causal_mask(x.size(1))) + x,
        lambda x, norm1, attention, norm2, mlp: torch.add(x, attention(*[norm1(x)] * 3, causal_mask(x.size(1)))),
    ],
    reread="04#text-mix",
)
def weights_added_too(x, norm1, attention, norm2, mlp):
    """You add a tuple: `attention` returns two things, its output and its weights.

    Take the first: `attention(h, h, h, mask)[0]`, or `heard, _ = attention(…)`.
    """
    return x + attention(*[norm1(x)] * 3, causal_mask(x.size(1)))


@block.misconception()
def values_not_normed(x, norm1, attention, norm2, mlp):
    """Only the queries are normalized.

    Attention gets the normalized rows three times: as query, as key and as value.
    """
    heard = attention(norm1(x), x, x, causal_mask(x.size(1)))[0]
    return _second(x + heard, norm2, mlp)


# --------------------------------------------------------------------------------------------------------- 11.3


def _loss(logits, tokens, lengths):
    predicted, next_tokens = logits[:, :-1], tokens[:, 1:]
    real = torch.arange(1, tokens.size(1)) < lengths[:, None]  # (batch, n − 1): no padding
    return F.cross_entropy(predicted[real], next_tokens[real])


def _texts(n, vocabulary, lengths, *, seed, ends=1):
    """Texts of so many tokens, the last `ends` of which are 0: none where a text was cut off before its end."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, vocabulary, (len(lengths), n), generator=generator)
    tokens[torch.arange(n) >= torch.tensor(lengths)[:, None] - ends] = 0  # the end of a text, and padding
    return 2 * normal(len(lengths), n, vocabulary, seed=seed), tokens, torch.tensor(lengths)


_AS_MANY_WORDS_AS_PLACES = _texts(6, 5, [6, 3, 4], seed=6, ends=0)

loss = function(
    "11.3",
    _loss,
    as_="my_loss(logits, tokens, lengths)",
    title="The loss of unequal texts",
    section="11#ignorance",
    dtype=torch.float64,
    shows=(_loss,),
    probes=[
        _texts(4, 5, [4, 2], seed=1),
        _texts(6, 7, [3, 6, 5], seed=2),
        _texts(5, 6, [5, 5], seed=3),
        _AS_MANY_WORDS_AS_PLACES,
    ],
    corner_cases=[_texts(3, 4, [3], seed=4), _texts(5, 4, [2, 5, 2], seed=5), _texts(4, 5, [1, 4], seed=8)],
    random_probes=lambda rng: [_texts(6, 8, [rng.randrange(3, 6), 6, 4], seed=rng.randrange(10**6)) for _ in range(2)],
    returns=("the loss",),
    gradients=True,
    hints=[
        "Shift first: `logits[:, :-1]` predict `tokens[:, 1:]`, row by row.",
        "Which of the tokens to be predicted are not padding? The token at position i, counted from 0, is not padding "
        "if i is smaller than the length of its text. Make a table of bools for this, (batch, n − 1).",
        "Index both with that table, here called `real`: `predicted[real]` is (how_many, vocabulary), and "
        "`next_tokens[real]` is (how_many,). `F.cross_entropy` takes exactly these.",
    ],
)


def _cost(logits, tokens, real):
    return F.cross_entropy(logits[real], tokens[real])


def _every_cost(logits, targets):
    """The loss when nobody asks for padding."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _real(tokens, lengths):
    return torch.arange(tokens.size(1)) < lengths[:, None]


@loss.misconception(
    forms=[lambda logits, tokens, lengths: _every_cost(logits, tokens)],
    reread="11#break-it",
)
def not_shifted(logits, tokens, lengths):
    """Your loss is not shifted: the prediction at each position is compared with the token that stands there.

    The model then learns to repeat what it reads, and this gives the lowest loss of the lesson.
    """
    return _cost(logits, tokens, _real(tokens, lengths))


@loss.misconception(
    forms=[lambda logits, tokens, lengths: _every_cost(logits[:, :-2], tokens[:, 2:])],
    reread="11#break-it",
)
def shifted_twice(logits, tokens, lengths):
    """Your loss is shifted twice: each token predicts the one after the next.

    In many libraries the loss function itself shifts; then the code that calls it must not shift, too.
    """
    return _cost(logits[:, :-2], tokens[:, 2:], _real(tokens, lengths)[:, 2:])


@loss.misconception(
    forms=[lambda logits, tokens, lengths: _every_cost(logits[:, 1:], tokens[:, :-1])],
)
def shifted_backwards(logits, tokens, lengths):
    """Your loss is shifted the wrong way: each prediction is compared with the token before its position.

    The model has already read that token. The logits at position i predict the token at position i + 1.
    """
    return _cost(logits[:, 1:], tokens[:, :-1], _real(tokens, lengths)[:, 1:])


@loss.misconception(
    forms=[lambda logits, tokens, lengths: _every_cost(logits[:, :-1].softmax(dim=-1), tokens[:, 1:])],
    reread="11#break-it",
)
def softmax_first(logits, tokens, lengths):
    """Softmax was taken before `F.cross_entropy`, which takes it itself.

    Shares lie between 0 and 1. As logits they are almost equal, so the loss can hardly fall.
    """
    return _loss(logits.softmax(dim=-1), tokens, lengths)


@loss.misconception(telltale_call=_texts(5, 6, [5, 5], seed=3))
def across_texts(logits, tokens, lengths):
    """You shifted after joining the rows: the last token of a text has to predict the first of the next text.

    Shift row by row, with `[:, :-1]` and `[:, 1:]`; flatten after that.
    """
    real = _real(tokens, lengths).flatten()[1:]
    return _cost(logits.flatten(0, 1)[:-1], tokens.flatten()[1:], real)


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def padding_counted(logits, tokens, lengths):
    """Padding is part of your loss.

    It is easy to predict. So with much padding the loss is low, and tells you nothing about the model.
    """
    return gpt.next_token_loss(logits, tokens)


@loss.misconception(
    telltale_call=_texts(4, 5, [4, 2], seed=1),
    forms=[
        lambda logits, tokens, lengths: (
            F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none") * (tokens[:, 1:] != 0)
        ).mean()
    ],
)
def end_not_counted(logits, tokens, lengths):
    """Every token 0 is treated as padding, but one of them is the end of a text.

    `ignore_index=0` leaves out that end, too. A model that never has to predict the end of a text does not learn to
    stop. Use `lengths`: they tell where each text ends.
    """
    return _cost(logits[:, :-1], tokens[:, 1:], tokens[:, 1:] != 0)


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def one_padding_counted(logits, tokens, lengths):
    """In each text one padding token is counted: the table of real tokens was not shifted with the tokens.

    Of 4 tokens 3 are predicted. The tokens lost their first column in the shift; the table has to lose its first
    column, too, and not its last.
    """
    return _cost(logits[:, :-1], tokens[:, 1:], _real(tokens, lengths)[:, :-1])


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def mean_of_means(logits, tokens, lengths):
    """You return the mean of the texts' means; the exercise asks for the mean over all tokens.

    A token of a short text then counts for more than one of a long text.
    """
    rows = zip(logits, tokens, lengths.tolist(), strict=True)
    return torch.stack([F.cross_entropy(row[: n - 1], text[1:n]) for row, text, n in rows]).mean()


@loss.misconception()
def added_up(logits, tokens, lengths):
    """You return the sum over all tokens; the exercise asks for their mean.

    A sum grows with the batch, and so do the gradient and the training step.
    """
    real = _real(tokens, lengths)[:, 1:]
    return F.cross_entropy(logits[:, :-1][real], tokens[:, 1:][real], reduction="sum")


@loss.misconception(
    telltale_call=_texts(4, 5, [4, 2], seed=1),
    forms=[lambda logits, tokens, lengths: added_up(logits, tokens, lengths) / tokens.numel()],
)
def divided_by_all(logits, tokens, lengths):
    """The sum leaves padding out, but you divide by a number that includes padding.

    Divide by the number of tokens that are predicted.
    """
    return added_up(logits, tokens, lengths) / tokens[:, 1:].numel()


@loss.misconception()
def divided_by_lengths(logits, tokens, lengths):
    """You divide by the number of all tokens, including those that are not predicted.

    The first token of each text has no token before it: of 4 tokens 3 are predicted. Divide by the sum of
    `lengths - 1`.
    """
    return added_up(logits, tokens, lengths) / lengths.sum()


@loss.misconception()
def divided_by_texts(logits, tokens, lengths):
    """You divide by the number of texts; the exercise asks for the mean over tokens.

    A long text then has a larger loss than a short one that is predicted equally well.
    """
    return added_up(logits, tokens, lengths) / len(lengths)


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def last_not_counted(logits, tokens, lengths):
    """The last token of each text is not counted.

    Of 4 tokens 3 are predicted, and the last is one of them. If you shorten both the table of real tokens and the
    lengths, one token too many is lost.
    """
    real = torch.arange(tokens.size(1) - 1) < lengths[:, None] - 2
    return _cost(logits[:, :-1], tokens[:, 1:], real)


@loss.misconception(forms=[lambda *args: torch.exp2(_loss(*args) / math.log(2))])
def perplexity(logits, tokens, lengths):
    """That is the perplexity, e to the power of the loss.

    It tells how many equally likely words would give this loss. The exercise asks for the loss, its logarithm.
    """
    return _loss(logits, tokens, lengths).exp()


@loss.misconception()
def in_bits(logits, tokens, lengths):
    """The logarithm is taken in base 2.

    Then the loss counts bits. The exercise asks for −ln, the natural logarithm: it is 0.693 times as much.
    """
    return _loss(logits, tokens, lengths) / math.log(2)


def _picked(logits, tokens, lengths, scores):
    """The mean of minus the right token's number in a table made of the logits."""
    real = _real(tokens, lengths)[:, 1:]
    return -scores(logits[:, :-1]).gather(-1, tokens[:, 1:, None])[..., 0][real].mean()


@loss.misconception(forms=[lambda *args: _picked(*args, scores=lambda logits: logits.softmax(dim=-1))])
def no_logarithm(logits, tokens, lengths):
    """You use the logit or the share of the right token itself, without softmax or without the logarithm.

    `F.nll_loss` and `gather` only pick the number of the right token: give them `log_softmax(dim=-1)`.
    """
    return _picked(logits, tokens, lengths, scores=lambda logits: logits)


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def padding_as_zeros(logits, tokens, lengths):
    """The logits of padding are set to 0, but the padding tokens still count in the mean.

    Logits of 0 give equal shares, so each padding token has the loss ln of the vocabulary's size. Leave padding out of
    the mean.
    """
    real = _real(tokens, lengths)[:, 1:, None]
    return _every_cost(logits[:, :-1] * real, tokens[:, 1:])


def _along_the_tokens(logits, tokens, lengths, *, padding=-100):
    next_tokens = tokens[:, 1:].masked_fill(~_real(tokens, lengths)[:, 1:], padding)
    return F.cross_entropy(logits[:, :-1], next_tokens)


@loss.misconception(
    telltale_call=_AS_MANY_WORDS_AS_PLACES,
    forms=[partial(_along_the_tokens, padding=0)],
    reread="11#ignorance",
)
def words_on_the_wrong_axis(logits, tokens, lengths):
    """`F.cross_entropy` expects the words on the second axis, but your logits have the positions there.

    It takes (batch, vocabulary, n): use `.transpose(1, 2)`, or flatten texts and positions into one axis. With other
    sizes it raises an error; with as many words as positions it raises none.
    """
    return _along_the_tokens(logits, tokens, lengths)


# --------------------------------------------------------------------------------------------------------- 11.4


def _next(logits, lengths, temperature, top):
    last = logits[torch.arange(len(logits)), lengths - 1]  # (batch, vocabulary): of the last real token
    return gpt.next_shares(last, temperature, top)


def _said(n, vocabulary, lengths, temperature, top, *, seed):
    return 2 * normal(len(lengths), n, vocabulary, seed=seed), torch.tensor(lengths), temperature, top


next_word = function(
    "11.4",
    _next,
    as_="my_next(logits, lengths, temperature, top)",
    title="The next word",
    section="11#writing",
    dtype=torch.float64,
    shows=(_next, gpt.next_shares),
    probes=[
        _said(4, 5, [4, 2], 0.5, 2, seed=1),
        _said(5, 6, [3, 5, 1], 2.0, 3, seed=2),
        _said(3, 7, [3, 3], 0.7, 4, seed=3),
    ],
    corner_cases=[_said(4, 5, [2, 4], 1.5, 1, seed=4), _said(3, 4, [1, 3], 0.5, 9, seed=5)],
    random_probes=lambda rng: [
        _said(5, 8, [rng.randrange(1, 5), 5], 0.6, rng.randrange(2, 6), seed=rng.randrange(10**6)) for _ in range(2)
    ],
    returns=("the shares",),
    hints=[
        "The last token of text i stands at position `lengths[i] - 1`. `logits[torch.arange(batch), positions]` takes "
        "one position of each text.",
        "In each of these rows keep the `top` largest logits, `topk(min(top, vocabulary))`, and set the others to −∞. "
        "Divide the logits by the temperature.",
        "Softmax comes last: its result adds up to 1, whichever words were removed before.",
    ],
)


def _rows_at(logits, lengths):
    return logits[torch.arange(len(logits)), lengths - 1]


def _struck(rows, top):
    top = max(1, min(top, rows.size(-1)))
    return rows.masked_fill(rows < rows.topk(top).values[..., -1:], -math.inf)


@next_word.misconception(telltale_call=_said(4, 5, [4, 2], 0.5, 2, seed=1))
def last_place(logits, lengths, temperature, top):
    """You take the last position of each row; in a shorter text this is padding.

    `logits[:, -1]` is right for a single text. In a batch each text ends at its own position: `lengths[i] - 1`.
    """
    return torch.softmax(_struck(logits[:, -1], top) / temperature, dim=-1)


@next_word.misconception(telltale_call=_said(4, 5, [4, 2], 0.5, 2, seed=1))
def one_further(logits, lengths, temperature, top):
    """You take the position after the last token.

    Positions count from 0: of three tokens the last stands at 2.
    """
    places = lengths.clamp(max=logits.size(1) - 1)
    return torch.softmax(_struck(logits[torch.arange(len(logits)), places], top) / temperature, dim=-1)


@next_word.misconception()
def temperature_multiplied(logits, lengths, temperature, top):
    """You multiply the logits by the temperature; divide them by it.

    A temperature below 1 has to make likely words even more likely: the differences between logits grow.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top) * temperature, dim=-1)


@next_word.misconception()
def temperature_of_shares(logits, lengths, temperature, top):
    """You divide the shares by the temperature; divide the logits.

    Divided shares no longer add up to 1. If you then divide them by their sum, you get the old shares again.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top), dim=-1) / temperature


@next_word.misconception(
    forms=[lambda logits, lengths, temperature, top: torch.softmax(_struck(_rows_at(logits, lengths), top), dim=-1)]
)
def temperature_forgotten(logits, lengths, temperature, top):
    """The temperature is not used.

    Divide the logits by it, before softmax.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top), dim=-1)


@next_word.misconception()
def not_divided_anew(logits, lengths, temperature, top):
    """Words are removed after softmax, and the remaining shares do not add up to 1.

    Remove words before softmax: set their logits to −∞. Then softmax shares 1 among the others.
    """
    rows = _rows_at(logits, lengths)
    return torch.softmax(rows / temperature, dim=-1).masked_fill(_struck(rows, top) == -math.inf, 0.0)


@next_word.misconception()
def struck_to_zero(logits, lengths, temperature, top):
    """The logits of removed words are set to 0; set them to −∞.

    A word with the logit 0 still gets a share, and a large one if the other logits are negative.
    """
    rows = _struck(_rows_at(logits, lengths), top)
    return torch.softmax(rows.masked_fill(rows == -math.inf, 0.0) / temperature, dim=-1)


def _off_by(more, logits, lengths, temperature, top):
    return torch.softmax(_struck(_rows_at(logits, lengths), top + more) / temperature, dim=-1)


@next_word.misconception(forms=[partial(_off_by, 1)])
def one_too_many(logits, lengths, temperature, top):
    """One word too many takes part.

    Positions after `sort` count from 0: the k-th largest stands at k − 1.
    """
    return _off_by(1, logits, lengths, temperature, top)


@next_word.misconception(telltale_call=_said(3, 7, [3, 3], 0.7, 4, seed=3))
def one_too_few(logits, lengths, temperature, top):
    """One word too few takes part.

    The k-th largest takes part, too: remove only logits that are *smaller* than it.
    """
    return _off_by(-1, logits, lengths, temperature, top)


@next_word.misconception()
def nothing_struck(logits, lengths, temperature, top):
    """All words take part: `top` is not used.

    Keep only the `top` largest logits of each text; set all others to −∞.
    """
    return torch.softmax(_rows_at(logits, lengths) / temperature, dim=-1)


@next_word.misconception()
def temperature_twice(logits, lengths, temperature, top):
    """The logits are divided by the temperature twice.

    Divide once, before or after other words are removed: the result is the same.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top) / temperature**2, dim=-1)


def _one_threshold(logits, lengths, temperature, top, *, of):
    rows = _rows_at(logits, lengths)
    largest = rows.topk(max(1, min(top, rows.size(-1)))).values
    return torch.softmax(rows.masked_fill(rows < of(largest, rows, top), -math.inf) / temperature, dim=-1)


@next_word.misconception(
    telltale_call=_said(5, 6, [3, 5, 1], 2.0, 3, seed=2),
    forms=[
        partial(_one_threshold, of=of)
        for of in (
            lambda largest, rows, top: largest[0, -1],
            lambda largest, rows, top: largest[-1, -1],
            lambda largest, rows, top: largest[:, -1].max(),
            lambda largest, rows, top: rows.flatten().topk(min(top, rows.numel())).values[-1],
        )
    ],
)
def one_threshold(logits, lengths, temperature, top):
    """One threshold is used for all texts.

    A logit that is large in one text may be small in another: each text has its own `top` largest logits. `topk` along
    the last axis gives them, and `[..., -1:]` is the smallest of them for each text, as a column.
    """
    return _one_threshold(logits, lengths, temperature, top, of=lambda largest, rows, top: largest[:, -1].min())


@next_word.misconception()
def likeliest_alone(logits, lengths, temperature, top):
    """The most likely word gets the whole share.

    To take always the most likely word is called greedy decoding. Here the `top` largest logits get shares by softmax.
    """
    return F.one_hot(_rows_at(logits, lengths).argmax(dim=-1), logits.size(-1)).to(logits)


@next_word.misconception(
    forms=[
        lambda *args: torch.multinomial(_next(*args), 1).squeeze(-1),
        lambda *args: _next(*args).argmax(dim=-1),
        lambda *args: _next(*args).argmax(dim=-1, keepdim=True),
    ]
)
def word_itself(logits, lengths, temperature, top):
    """You return a word; the exercise asks for the shares from which a word is drawn.

    Return the table before `multinomial` or `argmax`: a row for each text, a number for each word.
    """
    return torch.multinomial(_next(logits, lengths, temperature, top), 1)


@next_word.misconception(telltale_call=_said(4, 5, [4, 2], 0.5, 2, seed=1))
def places_of_everybody(logits, lengths, temperature, top):
    """From each text you take the last positions of *all* texts.

    `logits[:, lengths - 1]` takes every one of these positions from every text.
    `logits[torch.arange(batch), lengths - 1]` takes from each text its own.
    """
    return torch.softmax(_struck(logits[:, lengths - 1], top) / temperature, dim=-1)


@next_word.misconception(reread="02#text-40")
def over_the_texts(logits, lengths, temperature, top):
    """Softmax runs over the texts.

    The shares of one text, which are one row, add up to 1: `dim=-1`.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top) / temperature, dim=0)


@next_word.misconception(
    forms=[lambda logits, lengths, temperature, top: _struck(_rows_at(logits, lengths), top) / temperature]
)
def logarithms(logits, lengths, temperature, top):
    """You return logits, or the logarithms of the shares.

    A share lies between 0 and 1: use `softmax`, and not `log_softmax`.
    """
    return torch.log_softmax(_struck(_rows_at(logits, lengths), top) / temperature, dim=-1)


def _down_to(least, logits, lengths, temperature, top):
    rows = _rows_at(logits, lengths)
    return torch.softmax(rows.masked_fill(rows < least(rows, top), -math.inf) / temperature, dim=-1)


@next_word.misconception(
    telltale_call=_said(3, 4, [1, 3], 0.5, 9, seed=5),
    forms=[partial(_down_to, lambda rows, top: rows.sort(descending=True).values[:, top - 1, None])],
)
def top_too_large(logits, lengths, temperature, top):
    """A `top` larger than the vocabulary raises an error.

    `topk` cannot give more numbers than a row has, and a sorted row has no position after its end: use
    `min(top, vocabulary)`.
    """
    return _down_to(lambda rows, top: rows.topk(top).values[..., -1:], logits, lengths, temperature, top)
