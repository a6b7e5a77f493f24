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


layer_norm = function(
    "11.1",
    _layer_norm,
    as_="my_layer_norm(x, weight, bias)",
    title="LayerNorm",
    section="11#layer-norm",
    dtype=torch.float64,
    shows=(gpt.layer_norm,),
    without=("layer_norm",),
    probes=[_rows(3, 4, seed=1), _rows(2, 3, 4, seed=2), _rows(2, 3, 5, 6, seed=3)],
    corner_cases=[
        (torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0]]), torch.ones(4), torch.zeros(4)),
        (5 + 0.003 * normal(3, 4, seed=4), torch.ones(4), torch.zeros(4)),
    ],
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


@layer_norm.misconception()
def one_less(x, weight, bias):
    """The variance is divided by one less than there are features.

    That is how a variance is estimated from a sample, and what `x.var` and `x.std` do unless told otherwise. Here the
    features are not a sample: it is their plain mean, `correction=0`.
    """
    return _normed(x, weight, bias, less=1)


@layer_norm.misconception()
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


@layer_norm.misconception()
def no_epsilon(x, weight, bias):
    """ε is missing.

    A token whose features are all alike, as *tea* in the lesson, is then 0 divided by 0: NaN.
    """
    return _normed(x, weight, bias, eps=0.0)


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


def _texts(n, vocabulary, lengths, *, seed):
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, vocabulary, (len(lengths), n), generator=generator)
    tokens[torch.arange(n) >= torch.tensor(lengths)[:, None] - 1] = 0  # the end of a text, and padding
    return 2 * normal(len(lengths), n, vocabulary, seed=seed), tokens, torch.tensor(lengths)


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
    ],
    corner_cases=[_texts(3, 4, [3], seed=4), _texts(5, 4, [2, 5, 2], seed=5)],
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


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
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


@loss.misconception(telltale_call=_texts(4, 5, [4, 2], seed=1))
def divided_by_all(logits, tokens, lengths):
    """Padding is left out of the sum, and counted when it is divided.

    Divide by how many tokens were judged.
    """
    return added_up(logits, tokens, lengths) / tokens[:, 1:].numel()


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


@next_word.misconception(telltale_call=_said(3, 4, [1, 3], 0.5, 9, seed=5))
def top_too_large(logits, lengths, temperature, top):
    """A `top` larger than the vocabulary raises an error.

    `topk` cannot give more than there are: `min(top, vocabulary)`.
    """
    rows = _rows_at(logits, lengths)
    least = rows.topk(top).values[..., -1:]
    return torch.softmax(rows.masked_fill(rows < least, -math.inf) / temperature, dim=-1)
