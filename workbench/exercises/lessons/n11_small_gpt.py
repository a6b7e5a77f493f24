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
    returns=("the normed rows",),
    gradients=True,
    hints=[
        "Two means over the features of a token, `dim=-1, keepdim=True`: first of x, then of the squares of what is "
        "left when the first is taken away.",
        "The deviation is the root of the second mean plus 0.00001. Divide by it, then comes `weight`, then `bias`.",
        "`x.var(dim=-1, keepdim=True, correction=0)` is the second mean, too; without `correction=0` it is divided by "
        "one less.",
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
    """The variance is divided by one less than there are features.

    That is how a variance is estimated from a sample, and what `x.var` and `x.std` do unless told otherwise. Here the
    features are not a sample: it is their plain mean, `correction=0`.
    """
    return _normed(x, weight, bias, less=1)


@layer_norm.misconception(
    telltale_call=_NEARLY_ALIKE, forms=[partial(_written_as_std, less=0, eps=eps) for eps in (1e-3, 1e-4, 1e-6)]
)
def epsilon_outside(x, weight, bias):
    """ε stands outside the root.

    It hardly shows, until a row has features that are nearly alike: the root of 0.00001 is 0.003, three hundred times
    as much.
    """
    return _normed(x, weight, bias, inside=False)


@layer_norm.misconception(forms=[lambda x, weight, bias: _normed(x, weight, bias, dim=0)])
def over_tokens(x, weight, bias):
    """The means run over the tokens, where they have to run over the features.

    Then a token's row depends on who else is in the text. LayerNorm knows one token at a time: `dim=-1`.
    """
    return _normed(x, weight, bias, dim=-2)


@layer_norm.misconception(telltale_call=_rows(2, 3, 4, seed=2))
def over_all_rows(x, weight, bias):
    """The means run over all rows, feature by feature: that is BatchNorm.

    There a row depends on which other texts are in the batch. LayerNorm knows one token at a time: `dim=-1`.
    """
    return _normed(x.flatten(0, -2) if x.ndim > 1 else x[None], weight, bias, dim=0).view_as(x)


@layer_norm.misconception(telltale_call=_rows(2, 3, 4, seed=2))
def over_tokens_and_features(x, weight, bias):
    """The means run over tokens and features at once.

    Then a token's row depends on who else is in the text. Each token has a mean and a deviation of its own: `dim=-1`.
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
    """A token's mean or deviation lies along the features.

    `x.mean(dim=-1)` has one number for each token and no axis of features, so it is laid beside the features of every
    token. With `keepdim=True` it stays a column.
    """
    return _mean_as_a_row(x, weight, bias)


@layer_norm.misconception()
def over_everything(x, weight, bias):
    """There is one mean for all tokens together.

    `x.mean()` without `dim` is a single number. Each token has a mean and a deviation of its own.
    """
    centred = x - x.mean()
    return centred / (centred.square().mean() + 1e-5).sqrt() * weight + bias


@layer_norm.misconception()
def by_the_variance(x, weight, bias):
    """It is divided by the variance, where its root is asked for.

    A row twice as large then comes out half as large.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + 1e-5) * weight + bias


@layer_norm.misconception(telltale_call=_ALL_ALIKE)
def no_epsilon(x, weight, bias):
    """ε is missing.

    A token whose features are all alike, as *tea* in the lesson, is then 0 divided by 0: NaN.
    """
    return _normed(x, weight, bias, eps=0.0)


@layer_norm.misconception(
    telltale_call=_NEARLY_ALIKE,
    forms=[partial(_normed, eps=eps) for eps in (1e-3, 1e-4, 1e-7, 1e-8, torch.finfo(torch.float32).eps)],
)
def epsilon_of_another_size(x, weight, bias):
    """ε is there, but it is not 0.00001.

    Many models have 0.000001. A token whose features are all alike comes out as 0 with each of them. It shows where
    they are nearly alike: the smaller ε is, the larger that token comes out.
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
    """ε only keeps it from dividing by 0, and adds nothing to the variance that would count.

    Either it is far smaller than 0.00001, as BERT's 1e-12, or smaller and outside the root, or `clamp` and `max` set a
    floor where a sum is asked for. A token whose features are all alike comes out as 0 then, and is no NaN; one whose
    features are nearly alike comes out larger than it should.
    """
    return _normed(x, weight, bias, eps=1e-12)


def _by_the_length(x, weight, bias, *, centre=True, eps=0.0):
    centred = x - x.mean(dim=-1, keepdim=True) if centre else x
    return centred / (centred.norm(dim=-1, keepdim=True) + eps) * weight + bias


@layer_norm.misconception(
    forms=[partial(_by_the_length, centre=centre, eps=eps) for centre in (True, False) for eps in (1e-12, 1e-5)]
)
def by_the_length(x, weight, bias):
    """It is divided by the row's length, where its deviation is asked for.

    The length is the root of the *sum* of squares, the deviation that of their mean: √d times less. Rows come out with
    length 1, and not with deviation 1.
    """
    return _by_the_length(x, weight, bias)


@layer_norm.misconception()
def mean_left(x, weight, bias):
    """The mean is not taken away.

    Without it this is another norm, RMSNorm, which newer models use. LayerNorm takes the mean away first.
    """
    return x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt() * weight + bias


@layer_norm.misconception()
def weight_forgotten(x, weight, bias):
    """`weight` and `bias` are not used.

    They are what the model learns here: how large each feature is to be, and around which number.
    """
    return _normed(x, torch.ones_like(weight), torch.zeros_like(bias))


@layer_norm.misconception()
def bias_first(x, weight, bias):
    """`bias` is added before `weight` multiplies.

    First times weight, then plus bias.
    """
    return (_normed(x, torch.ones_like(weight), torch.zeros_like(bias)) + bias) * weight


# --------------------------------------------------------------------------------------------------------- 11.2


def _block(x, norm1, attention, norm2, mlp):
    return _second(x + _attended(norm1(x), attention), norm2, mlp)


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
    shows=(gpt.Block,),
    probes=[_parts(1, 3, 4, 2, seed=1), _parts(2, 4, 6, 3, seed=2), _parts(2, 5, 4, 1, seed=3)],
    corner_cases=[_parts(1, 1, 4, 2, seed=4)],
    random_probes=lambda rng: [_parts(2, rng.randrange(3, 6), 6, 2, seed=rng.randrange(10**5)) for _ in range(2)],
    returns=("the rows",),
    shown=lambda arg: type(arg).__name__ if isinstance(arg, nn.Module) else None,
    hints=[
        "The straight road of the diagram is `x`; two branches leave it and join it again. On the road stands nothing "
        "but two plus signs.",
        "`h = norm1(x)`, and attention gets `h` three times, with `causal_mask(x.size(1))`. It returns two things.",
        "What was heard is added to `x`. Then the same with `norm2` and `mlp`, of the new `x`.",
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
    """It is added to the normed row, where it has to be added to `x`.

    `x = norm1(x)`, and then `x + …`: what the norm took away is lost for the rest of the model. *tea*, in the lesson,
    would be gone.
    """
    return _from_normed(norm1(x) + _attended(norm1(x), attention), norm2, mlp)


def _from_normed(x, norm2, mlp):
    return norm2(x) + mlp(norm2(x))


@block.misconception()
def post_norm(x, norm1, attention, norm2, mlp):
    """The norms stand after the parts, not before them: post-norm.

    So it was in the paper of 2017, and so PyTorch's layer does it unless told `norm_first=True`. GPT-2 and those after
    it norm what a part reads, and leave the road alone.
    """
    x = norm1(x + _attended(x, attention))
    return norm2(x + mlp(x))


@block.misconception()
def second_norm_forgotten(x, norm1, attention, norm2, mlp):
    """`norm2` is not used: the MLP reads rows that are not normed.

    Each part norms what it reads.
    """
    x = x + _attended(norm1(x), attention)
    return x + mlp(x)


@block.misconception()
def first_norm_forgotten(x, norm1, attention, norm2, mlp):
    """`norm1` is not used: attention reads rows that are not normed.

    Each part norms what it reads.
    """
    return _second(x + _attended(x, attention), norm2, mlp)


@block.misconception()
def one_norm_for_both(x, norm1, attention, norm2, mlp):
    """`norm1` is used twice.

    Each norm has a weight and a bias of its own, and learns what its part needs.
    """
    return _second(x + _attended(norm1(x), attention), norm1, mlp)


@block.misconception()
def norms_exchanged(x, norm1, attention, norm2, mlp):
    """The two norms have changed places.

    `norm1` belongs to attention, `norm2` to the MLP.
    """
    return _second(x + _attended(norm2(x), attention), norm1, mlp)


@block.misconception(reread="11#residual")
def no_second_residual(x, norm1, attention, norm2, mlp):
    """After the MLP nothing is added: its output takes the place of the row.

    The residual goes round both parts.
    """
    return mlp(norm2(x + _attended(norm1(x), attention)))


@block.misconception(reread="11#residual")
def no_first_residual(x, norm1, attention, norm2, mlp):
    """After the attention nothing is added: what was heard takes the place of the row.

    The residual goes round both parts.
    """
    return _second(_attended(norm1(x), attention), norm2, mlp)


@block.misconception(reread="11#residual")
def old_row(x, norm1, attention, norm2, mlp):
    """The MLP reads the row as it was before the attention.

    Then both parts work side by side, as in a few models. Here the MLP works on what has been heard: on the new row.
    """
    return x + _attended(norm1(x), attention) + mlp(norm2(x))


@block.misconception(
    forms=[lambda x, norm1, attention, norm2, mlp: x + _attended(norm1(x), attention) + mlp(norm1(x))],
    reread="11#residual",
)
def mlp_of_the_first_norm(x, norm1, attention, norm2, mlp):
    """The MLP reads the row that was normed for the attention.

    `h = norm1(x)` is what attention reads. By then `x` has changed: the MLP reads `norm2(x)`, with what was heard.
    """
    return x + _attended(norm1(x), attention) + mlp(norm2(norm1(x)))


@block.misconception(reread="03#text-10")
def mask_forgotten(x, norm1, attention, norm2, mlp):
    """There is no mask: each token hears who comes later.

    A model that is to say the next token would read it off, and could write nothing.
    """
    everybody = torch.ones(x.size(1), x.size(1), dtype=torch.bool)
    return _second(x + _attended(norm1(x), attention, everybody), norm2, mlp)


@block.misconception(reread="03#text-35")
def polarity(x, norm1, attention, norm2, mlp):
    """The mask means the opposite: each token attends to those who come later, and to nobody else.

    In this series, and in this module, True = may attend.
    """
    return _second(x + _attended(norm1(x), attention, ~causal_mask(x.size(1))), norm2, mlp)


@block.misconception()
def no_norms(x, norm1, attention, norm2, mlp):
    """Neither norm is used.

    Each part norms what it reads: attention reads `norm1(x)`, the MLP `norm2` of the new `x`.
    """
    x = x + _attended(x, attention)
    return x + mlp(x)


@block.misconception()
def norms_at_the_end(x, norm1, attention, norm2, mlp):
    """The norms stand at the ends of the branches: what a part returns is normed, and not what it reads.

    A few models do it so. Pre-norm means before: `attention` of `norm1(x)`, `mlp` of `norm2(x)`.
    """
    x = x + norm1(_attended(x, attention))
    return x + norm2(mlp(x))


@block.misconception(reread="11#residual")
def no_residuals(x, norm1, attention, norm2, mlp):
    """Nothing is added anywhere: each part's output takes the place of the row.

    The residual goes round both parts. Without it a token forgets who it is after the first.
    """
    return mlp(norm2(_attended(norm1(x), attention)))


@block.misconception(reread="11#residual")
def heard_is_lost(x, norm1, attention, norm2, mlp):
    """The MLP reads what was heard, and its output is added to the row as it was before.

    So what attention brought is lost for the road. Keep the sum: `x = x + …`, and then `x + mlp(norm2(x))`.
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
    """Something is added that is a tuple: `attention` returns two things, its output and its weights.

    Take the first: `attention(h, h, h, mask)[0]`, or `heard, _ = attention(…)`.
    """
    return x + attention(*[norm1(x)] * 3, causal_mask(x.size(1)))


@block.misconception()
def values_not_normed(x, norm1, attention, norm2, mlp):
    """Only the queries are normed.

    Attention gets the normed rows three times: as query, as key and as value.
    """
    heard = attention(norm1(x), x, x, causal_mask(x.size(1)))[0]
    return _second(x + heard, norm2, mlp)


# --------------------------------------------------------------------------------------------------------- 11.3


def _loss(logits, tokens, lengths):
    said, due = logits[:, :-1], tokens[:, 1:]
    true = torch.arange(1, tokens.size(1)) < lengths[:, None]  # (batch, n − 1): no padding
    return F.cross_entropy(said[true], due[true])


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
        "Shift first: `logits[:, :-1]` say `tokens[:, 1:]`, row by row.",
        "Which of these due tokens are true ones? The token at place i, from 0, is if i < its text's length: a bool "
        "table (batch, n − 1).",
        "Index both with that table: `said[true]` is (how_many, vocabulary), `due[true]` (how_many,), just what "
        "`F.cross_entropy` takes.",
    ],
)


def _cost(logits, tokens, true):
    return F.cross_entropy(logits[true], tokens[true])


def _every_cost(said, due):
    """The loss when nobody asks for padding."""
    return F.cross_entropy(said.flatten(0, 1), due.flatten())


def _true(tokens, lengths):
    return torch.arange(tokens.size(1)) < lengths[:, None]


@loss.misconception(
    forms=[lambda logits, tokens, lengths: _every_cost(logits, tokens)],
    reread="11#break-it",
)
def not_shifted(logits, tokens, lengths):
    """It is not shifted: each token is judged by itself.

    The model then learns to repeat what it reads, which costs next to nothing; the lowest loss of the lesson.
    """
    return _cost(logits, tokens, _true(tokens, lengths))


@loss.misconception(
    forms=[lambda logits, tokens, lengths: _every_cost(logits[:, :-2], tokens[:, 2:])],
    reread="11#break-it",
)
def shifted_twice(logits, tokens, lengths):
    """It is shifted twice: each token says the one after the next.

    In the libraries the loss shifts by itself; who calls it must not have shifted already.
    """
    return _cost(logits[:, :-2], tokens[:, 2:], _true(tokens, lengths)[:, 2:])


@loss.misconception(
    forms=[lambda logits, tokens, lengths: _every_cost(logits[:, 1:], tokens[:, :-1])],
)
def shifted_backwards(logits, tokens, lengths):
    """It is shifted the wrong way: each token is judged by the one before it.

    What it has just read it need not say. The logits at place i say the token at place i + 1.
    """
    return _cost(logits[:, 1:], tokens[:, :-1], _true(tokens, lengths)[:, 1:])


@loss.misconception(
    forms=[lambda logits, tokens, lengths: _every_cost(logits[:, :-1].softmax(dim=-1), tokens[:, 1:])],
    reread="11#break-it",
)
def softmax_first(logits, tokens, lengths):
    """Softmax was taken before `F.cross_entropy`, which takes it itself.

    Shares lie between 0 and 1; as logits they are nearly alike, and the loss can hardly fall.
    """
    return _loss(logits.softmax(dim=-1), tokens, lengths)


@loss.misconception(telltale_call=_texts(5, 6, [5, 5], seed=3))
def across_texts(logits, tokens, lengths):
    """It is shifted after the rows were joined: the end of a text says the beginning of the next.

    Shift row by row, `[:, :-1]` and `[:, 1:]`, and flatten then.
    """
    true = _true(tokens, lengths).flatten()[1:]
    return _cost(logits.flatten(0, 1)[:-1], tokens.flatten()[1:], true)


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def padding_counted(logits, tokens, lengths):
    """Padding counts: the model is paid for saying it.

    Who pads much then has a low loss that says nothing.
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
    """Every token 0 is taken for padding, where it may be a true one.

    `ignore_index=0` leaves out the end of each text, too, which has the same number; and a model that is never told
    where a text ends never stops. `lengths` say how far a text goes.
    """
    return _cost(logits[:, :-1], tokens[:, 1:], tokens[:, 1:] != 0)


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def one_padding_counted(logits, tokens, lengths):
    """One token of padding counts in each text: lengths were not shifted along.

    Of 4 true tokens 3 are said. The table of true tokens has to lose its first column, as the tokens did, not its last.
    """
    return _cost(logits[:, :-1], tokens[:, 1:], _true(tokens, lengths)[:, :-1])


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def mean_of_means(logits, tokens, lengths):
    """It is the mean of the texts' means, where the mean over all tokens is asked for.

    A token of a short text then counts for more than one of a long text.
    """
    rows = zip(logits, tokens, lengths.tolist(), strict=True)
    return torch.stack([F.cross_entropy(row[: n - 1], due[1:n]) for row, due, n in rows]).mean()


@loss.misconception()
def added_up(logits, tokens, lengths):
    """It is the sum over all tokens, where their mean is asked for.

    A sum grows with the batch, and the step with it.
    """
    true = _true(tokens, lengths)[:, 1:]
    return F.cross_entropy(logits[:, :-1][true], tokens[:, 1:][true], reduction="sum")


@loss.misconception(
    telltale_call=_texts(4, 5, [4, 2], seed=1),
    forms=[lambda logits, tokens, lengths: added_up(logits, tokens, lengths) / tokens.numel()],
)
def divided_by_all(logits, tokens, lengths):
    """Padding is left out of the sum, and counted when it is divided.

    Divide by how many tokens were judged.
    """
    return added_up(logits, tokens, lengths) / tokens[:, 1:].numel()


@loss.misconception()
def divided_by_lengths(logits, tokens, lengths):
    """It is divided by all tokens of the texts, also by those that nobody says.

    The first of each text has no one before it: of 4 tokens 3 are judged. Divide by the sum of `lengths - 1`.
    """
    return added_up(logits, tokens, lengths) / lengths.sum()


@loss.misconception()
def divided_by_texts(logits, tokens, lengths):
    """It is divided by the number of texts, where the mean over tokens is asked for.

    A long text then has a larger loss than a short one that is as well foretold.
    """
    return added_up(logits, tokens, lengths) / len(lengths)


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def last_not_counted(logits, tokens, lengths):
    """The last true token of each text is not judged.

    Of 4 true tokens 3 are said, the last among them. Who shortens the table of true tokens and the lengths takes one
    away twice.
    """
    true = torch.arange(tokens.size(1) - 1) < lengths[:, None] - 2
    return _cost(logits[:, :-1], tokens[:, 1:], true)


@loss.misconception(forms=[lambda *args: torch.exp2(_loss(*args) / math.log(2))])
def perplexity(logits, tokens, lengths):
    """That is the perplexity, e to the power of the loss.

    It says among how many words the model wavers. The loss is asked for, its logarithm.
    """
    return _loss(logits, tokens, lengths).exp()


@loss.misconception()
def in_bits(logits, tokens, lengths):
    """The logarithm is taken in base 2.

    Then the loss counts bits. Asked for is −ln, the natural logarithm: 0.693 times as much.
    """
    return _loss(logits, tokens, lengths) / math.log(2)


def _picked(logits, tokens, lengths, scores):
    """The mean of minus the right token's number in a table made of the logits."""
    true = _true(tokens, lengths)[:, 1:]
    return -scores(logits[:, :-1]).gather(-1, tokens[:, 1:, None])[..., 0][true].mean()


@loss.misconception(forms=[lambda *args: _picked(*args, scores=lambda logits: logits.softmax(dim=-1))])
def no_logarithm(logits, tokens, lengths):
    """The right token's logit or share is taken as it is, without softmax or without the logarithm.

    `F.nll_loss` and `gather` only pick the number of the right token: hand them `log_softmax(dim=-1)`.
    """
    return _picked(logits, tokens, lengths, scores=lambda logits: logits)


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def padding_as_zeros(logits, tokens, lengths):
    """The logits of padding are set to 0, and its tokens are judged all the same.

    Logits of 0 are equal shares, and each such token costs ln of the vocabulary's size. Leave padding out of the mean.
    """
    true = _true(tokens, lengths)[:, 1:, None]
    return _every_cost(logits[:, :-1] * true, tokens[:, 1:])


def _along_the_tokens(logits, tokens, lengths, *, padding=-100):
    due = tokens[:, 1:].masked_fill(~_true(tokens, lengths)[:, 1:], padding)
    return F.cross_entropy(logits[:, :-1], due)


@loss.misconception(
    telltale_call=_AS_MANY_WORDS_AS_PLACES,
    forms=[partial(_along_the_tokens, padding=0)],
    reread="11#ignorance",
)
def words_on_the_wrong_axis(logits, tokens, lengths):
    """`F.cross_entropy` takes the second axis for the words, and there stand the places.

    It wants (batch, vocabulary, n): turn it by `.transpose(1, 2)`, or flatten texts and places into one axis. With
    other sizes it raises an error; with as many words as places it does not.
    """
    return _along_the_tokens(logits, tokens, lengths)


# --------------------------------------------------------------------------------------------------------- 11.4


def _next(logits, lengths, temperature, top):
    last = logits[torch.arange(len(logits)), lengths - 1]  # (batch, vocabulary): of the last true token
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
        "The last true token of text i stands at place `lengths[i] - 1`. `logits[torch.arange(batch), places]` takes a "
        "place of each text.",
        "Of these rows keep the `top` largest logits, `topk(min(top, vocabulary))`, and set the others to −∞. "
        "Temperature divides.",
        "Softmax comes last: what it makes adds up to 1, whatever was struck before.",
    ],
)


def _rows_at(logits, lengths):
    return logits[torch.arange(len(logits)), lengths - 1]


def _struck(rows, top):
    top = max(1, min(top, rows.size(-1)))
    return rows.masked_fill(rows < rows.topk(top).values[..., -1:], -math.inf)


@next_word.misconception(telltale_call=_said(4, 5, [4, 2], 0.5, 2, seed=1))
def last_place(logits, lengths, temperature, top):
    """It is the last place of each row, which is padding where a text is shorter.

    `logits[:, -1]` is right for a single text. In a batch each text ends at its own place: `lengths[i] - 1`.
    """
    return torch.softmax(_struck(logits[:, -1], top) / temperature, dim=-1)


@next_word.misconception(telltale_call=_said(4, 5, [4, 2], 0.5, 2, seed=1))
def one_further(logits, lengths, temperature, top):
    """It is the place after the last true token.

    Of three tokens the last stands at 2.
    """
    places = lengths.clamp(max=logits.size(1) - 1)
    return torch.softmax(_struck(logits[torch.arange(len(logits)), places], top) / temperature, dim=-1)


@next_word.misconception()
def temperature_multiplied(logits, lengths, temperature, top):
    """Logits are multiplied by the temperature, where they are divided.

    Below 1 the likely words are to become likelier still: the differences grow.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top) * temperature, dim=-1)


@next_word.misconception()
def temperature_of_shares(logits, lengths, temperature, top):
    """The shares are divided by the temperature, where it is the logits.

    Then they no longer add up to 1; and divided anew they are as they were.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top), dim=-1) / temperature


@next_word.misconception(
    forms=[lambda logits, lengths, temperature, top: torch.softmax(_struck(_rows_at(logits, lengths), top), dim=-1)]
)
def temperature_forgotten(logits, lengths, temperature, top):
    """The temperature is not used.

    The logits are divided by it, before softmax.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top), dim=-1)


@next_word.misconception()
def not_divided_anew(logits, lengths, temperature, top):
    """The shares are struck after softmax, and what is left is not brought to a sum of 1.

    Strike logits, by −∞, and take softmax of what is left.
    """
    rows = _rows_at(logits, lengths)
    return torch.softmax(rows / temperature, dim=-1).masked_fill(_struck(rows, top) == -math.inf, 0.0)


@next_word.misconception()
def struck_to_zero(logits, lengths, temperature, top):
    """What is struck is set to a logit of 0, where −∞ is needed.

    A logit of 0 is a word like others, and a likely one where the rest is negative.
    """
    rows = _struck(_rows_at(logits, lengths), top)
    return torch.softmax(rows.masked_fill(rows == -math.inf, 0.0) / temperature, dim=-1)


def _off_by(more, logits, lengths, temperature, top):
    return torch.softmax(_struck(_rows_at(logits, lengths), top + more) / temperature, dim=-1)


@next_word.misconception(forms=[partial(_off_by, 1)])
def one_too_many(logits, lengths, temperature, top):
    """One word too many takes part.

    `sort` counts from 0: the k-th largest stands at k − 1.
    """
    return _off_by(1, logits, lengths, temperature, top)


@next_word.misconception(telltale_call=_said(3, 7, [3, 3], 0.7, 4, seed=3))
def one_too_few(logits, lengths, temperature, top):
    """One word too few takes part.

    The k-th largest is one of them: strike what is *smaller* than it.
    """
    return _off_by(-1, logits, lengths, temperature, top)


@next_word.misconception()
def nothing_struck(logits, lengths, temperature, top):
    """All words take part: `top` is not used.

    Only the `top` largest logits of each text stay; all others are set to −∞.
    """
    return torch.softmax(_rows_at(logits, lengths) / temperature, dim=-1)


@next_word.misconception()
def temperature_twice(logits, lengths, temperature, top):
    """The logits are divided by the temperature twice.

    Once is enough: before the others are struck or after, which comes to the same.
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

    What is large in one text may be small in another: each has its own `top` largest logits. `topk` along the last axis
    gives them, and `[..., -1:]` the smallest of each, as a column.
    """
    return _one_threshold(logits, lengths, temperature, top, of=lambda largest, rows, top: largest[:, -1].min())


@next_word.misconception()
def likeliest_alone(logits, lengths, temperature, top):
    """The whole share goes to the likeliest word.

    Who always takes that one needs no shares: that is greedy. Here the `top` largest share it, as softmax says.
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
    """That is a word, where the shares are asked for from which one is drawn.

    Return the table before `multinomial` or `argmax`: a row for each text, a number for each word.
    """
    return torch.multinomial(_next(logits, lengths, temperature, top), 1)


@next_word.misconception(telltale_call=_said(4, 5, [4, 2], 0.5, 2, seed=1))
def places_of_everybody(logits, lengths, temperature, top):
    """Of each text the last places of *all* texts are taken.

    `logits[:, lengths - 1]` takes each of these places of each text. `logits[torch.arange(batch), lengths - 1]` takes
    them pair by pair.
    """
    return torch.softmax(_struck(logits[:, lengths - 1], top) / temperature, dim=-1)


@next_word.misconception(reread="02#text-40")
def over_the_texts(logits, lengths, temperature, top):
    """Softmax runs over the texts.

    The shares of a text add up to 1, its row: `dim=-1`.
    """
    return torch.softmax(_struck(_rows_at(logits, lengths), top) / temperature, dim=0)


@next_word.misconception(
    forms=[lambda logits, lengths, temperature, top: _struck(_rows_at(logits, lengths), top) / temperature]
)
def logarithms(logits, lengths, temperature, top):
    """Those are the logarithms of the shares, or logits.

    A share lies between 0 and 1: `softmax`, not `log_softmax`.
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

    `topk` cannot give more than there are, and no place of a sorted row lies behind its end: `min(top, vocabulary)`.
    """
    return _down_to(lambda rows, top: rows.topk(top).values[..., -1:], logits, lengths, temperature, top)
