"""Exercises of notebook 9: a circuit by hand, how heads are scored and silenced, and a test of training data."""

import torch
from torch import nn

from attn_lib import induction
from attn_lib.functional import masked_softmax
from attn_lib.masks import causal_mask
from attn_lib.modules import MultiHeadAttention

from ..engine.function import function
from ..engine.one_value import yes_or_no
from ..engine.outcome import Unreadable
from ..engine.probes import normal

# ----------------------------------------------------------------------------------------------------------- 9.1


def two_after(n, words):
    size = 2 * words + 1  # start, the words, the words in capitals
    small = torch.arange(1, words + 1)
    P, M, W = torch.zeros(n, n), torch.zeros(size, size), torch.zeros(size, size)
    P[torch.arange(2, n), torch.arange(n - 2)] = 10  # each place fetches what stands two before it
    M[small + words, small] = 10  # who asks in capitals looks for the small word
    W[small, small + words] = 10  # a small word is said in capitals
    return P, M, W


def _texts(n, words):
    """Lists of small words in turn, each asked for every word that has another one two after it."""
    texts = []
    for first in range(words):
        shown = [(first + i) % words + 1 for i in range(n - 2)]
        texts += [[0, *shown, shown[j] + words] for j in range(n - 4)]
    return torch.tensor(texts)


def _heard_and_said(n, words, result):
    """For each text, the token attended to most in layer 2 (ties: first) and the predicted token (0 if none)."""
    size = 2 * words + 1
    if not isinstance(result, tuple | list) or len(result) != 3 or not all(map(torch.is_tensor, result)):
        raise Unreadable("three tensors are asked for: P, M and W")
    for name, matrix, rows in zip("PMW", result, (n, size, size), strict=True):
        if tuple(matrix.shape) != (rows, rows):
            raise Unreadable(f"{name} has shape {tuple(matrix.shape)}, it needs {(rows, rows)}")
    P, M, W = (matrix.detach().double() for matrix in result)
    x = nn.functional.one_hot(_texts(n, words), size).double()
    heard = masked_softmax(P, causal_mask(n)) @ x
    match = masked_softmax(x @ M @ heard.mT, causal_mask(n))
    said = (match @ x @ W)[:, -1]
    nothing = said.amax(dim=-1) - said.mean(dim=-1) <= 0.02 * (W.max() - W.min())  # whatever is larger by a trace
    places, tokens = ((row * 1e6).round().argmax(dim=-1) for row in (match[:, -1], said))
    return places, tokens.masked_fill(nothing, 0)


circuit = function(
    "9.1",
    two_after,
    as_="my_two_after(n, words)",
    title="Two after, in capitals",
    section="09#three-matrices",
    probes=[(5, 3), (6, 4), (6, 6), (8, 7)],
    random_probes=lambda rng: [(n, n + rng.randrange(3)) for n in rng.sample(range(6, 12), 2)],
    returns=("the place with the largest weight", "the output"),
    dtype=torch.float64,
    after=_heard_and_said,
    hints=[
        "Begin with P: in the lesson its scores are one below the diagonal; each place fetches the token before it.",
        "A row of M belongs to the token that asks, a column to the token that was fetched. Which token asks here, and "
        "which one does it look for?",
        "A row of W belongs to the token attended to, a column to the output. With `small = torch.arange(1, "
        "words + 1)` the capitals are `small + words`, and `M[small + words, small] = 10` sets all words at once.",
    ],
)


@circuit.misconception(forms=[lambda n, words: [part / 20 for part in two_after(n, words)]])
def faint(n, words):
    """The scores are too small.

    A score of 1 gives the right place e ≈ 2.7 times the weight of each other place. That is too little: of
    two places the wrong one still gets the weight 0.27, and of eight places the right one gets only 0.28. The lesson
    uses a score of 10: e to the 10 is 22,000.
    """
    return [part / 10 for part in two_after(n, words)]


def _exchanged(n, words, *, below=2, M=lambda P, M, W: M, W=lambda P, M, W: W):
    """The right three matrices with one of them exchanged."""
    parts = two_after(n, words)
    P = 10 * torch.diag(torch.ones(n - abs(below)), -below)
    return P, M(*parts), W(*parts)


@circuit.misconception()
def one_after(n, words):
    """The output is the word right after the earlier copy.

    That is the lesson's circuit: P one below the diagonal fetches the token before. Here each place has to fetch the
    token two before it. Then the place two after the copy is the one that has fetched the copy.
    """
    return _exchanged(n, words, below=1)


@circuit.misconception()
def wrong_way(n, words):
    """By your P a place fetches several tokens, or the wrong one.

    Each place has to fetch one token: the one two before it. A row of P belongs to the place that fetches, a column to
    the place from which it fetches. The causal mask hides all scores above the diagonal; if nothing else is left in a
    row, the place fetches all tokens up to itself equally. And `P[2:, :-2] = 10` fills a whole block.
    """
    return _exchanged(n, words, below=-2)


def _square(matrix):
    return 10 * torch.eye(len(matrix))


@circuit.misconception(forms=[lambda n, words: _exchanged(n, words, M=lambda P, M, W: _square(M))])
def nobody_found(n, words):
    """Layer 2 finds no place.

    A row of M belongs to the token that asks, which is a word in capitals. A column belongs to a token that was
    fetched, which is a word in small letters. With a diagonal M, TEA looks for TEA; with M transposed, tea looks for
    TEA. Here TEA has to look for tea.
    """
    return _exchanged(n, words, M=lambda P, M, W: M.T)


@circuit.misconception()
def said_backwards(n, words):
    """Your circuit attends to the right word, and has no output for it.

    A row of W belongs to the word attended to, which is small, and a column to the output, a word in capitals. Your W
    is transposed.
    """
    return _exchanged(n, words, W=lambda P, M, W: W.T)


@circuit.misconception()
def exchanged(n, words):
    """M and W have changed places.

    In M a row belongs to the word that asks, and a column to the word it looks for. In W a row belongs to the word
    attended to, and a column to the output. In the lesson both were the same matrix, so the difference did not show.
    """
    return _exchanged(n, words, M=lambda P, M, W: W, W=lambda P, M, W: M)


@circuit.misconception()
def small_letters(n, words):
    """The output is the right word, in small letters.

    With a diagonal W the output is the word itself, in small letters. The column of its capitals is `words` columns
    further right.
    """
    return _exchanged(n, words, W=lambda P, M, W: _square(W))


# ----------------------------------------------------------------------------------------------------------- 9.2


def _seen(*lists, heads=2, seed):
    """Causal weights of some heads over these lists of tokens."""
    tokens = torch.tensor(lists)
    scores = 2 * normal(len(lists), heads, tokens.size(1), tokens.size(1), seed=seed)
    return masked_softmax(scores, causal_mask(tokens.size(1))), tokens


def _drawn_lists(rng):
    lists = [[rng.randrange(6) for _ in range(9)] for _ in range(3)]  # nine tokens of six: some stand twice
    return [_seen(*lists, heads=rng.randrange(2, 5), seed=rng.randrange(10**6))]


def _score(weights, tokens):
    copies = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)  # (batch, n, n): an earlier copy of mine
    behind = torch.zeros_like(copies)
    behind[..., 1:] = copies[..., :-1]  # the place right behind it
    asks = behind.any(dim=-1)  # (batch, n)
    if not asks.any():
        raise ValueError("no token stands twice in its list")
    shares = (weights * behind[:, None]).sum(dim=-1)  # (batch, heads, n)
    return shares.sum(dim=(0, 2)) / asks.sum()


scoring = function(
    "9.2",
    induction.induction_score,
    as_="my_induction_score(weights, tokens)",
    shows=(_score,),
    title="How much a head attends to the place after the copy",
    section="09#which-head",
    probes=[
        _seen([3, 1, 4, 3], seed=1),
        _seen([5, 2, 7, 5, 2, 9], heads=3, seed=2),
        _seen([1, 2, 3, 1, 2, 1], [4, 4, 6, 8, 7, 9], seed=3),
        _seen([0, 5, 5, 0, 2], [3, 1, 0, 6, 1], [2, 2, 2, 2, 2], heads=4, seed=4),
    ],
    corner_cases=[_seen([1, 2, 3, 4], [4, 3, 2, 1], seed=5)],
    random_probes=_drawn_lists,
    returns=("the scores",),
    dtype=torch.float64,
    hints=[
        "First find copies: a table (batch, n, n) that is True where the tokens of query and key are the same, "
        "and below the diagonal, where the key comes before the query.",
        "The place right after a copy is one column further right: shift the table by one, and put a column of False "
        "on the left. `F.pad(copies[..., :-1], (1, 0))` does it.",
        "For each query add up the weights on those places. Then average over the queries that have a copy, of all "
        "lists together, and keep a number for each head.",
    ],
)


def _copies(tokens):
    return (tokens[:, :, None] == tokens[:, None, :]).tril(-1)


def _shares(weights, places):
    return (weights * places[:, None]).sum(dim=-1).movedim(1, 0)  # (heads, batch, n)


def _behind(tokens):
    return nn.functional.pad(_copies(tokens)[..., :-1], (1, 0))


def _after_any(tokens):
    """As `_behind`, where a token counts as a copy of itself."""
    own_too = (tokens[:, :, None] == tokens[:, None, :]).tril()
    return nn.functional.pad(own_too[..., :-1], (1, 0))


def _of_those_with_a_copy(weights, tokens, places=None):
    places = _behind(tokens) if places is None else places
    return _shares(weights, places)[:, _copies(tokens).any(dim=-1)].mean(dim=-1)


@scoring.misconception()
def token_before(weights, tokens):
    """That is how much weight each query gives to the token before it.

    The diagonal below the main one finds previous-token heads, the first of the two heads. The second one looks at the
    token after an earlier copy, wherever that copy is.
    """
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2))


@scoring.misconception()
def at_the_copy(weights, tokens):
    """Your score counts the weight on the copy itself.

    A query that attends to an earlier *tea* learns only that there was a tea. The word that came next is one place
    further.
    """
    return _of_those_with_a_copy(weights, tokens, _copies(tokens))


@scoring.misconception()
def before_the_copy(weights, tokens):
    """The table is shifted the wrong way: it counts the place *before* the copy.

    The place after the copy is later, so one column further right: put a column of False on the left.
    """
    return _of_those_with_a_copy(weights, tokens, nn.functional.pad(_copies(tokens)[..., 1:], (0, 1)))


@scoring.misconception()
def turned(weights, tokens):
    """Query and key have changed places.

    A row of weights belongs to the query, the token that attends. A column belongs to the key, the token attended to.
    """
    return _of_those_with_a_copy(weights.mT, tokens)


@scoring.misconception()
def everybody_counted(weights, tokens):
    """Queries without an earlier copy count as 0.

    A token that is in the list for the first time has no earlier copy. It says nothing about the head, and does not
    belong to the average. (With `tril()` in place of `tril(-1)` each token is a copy of itself, and all queries count.)
    """
    return _shares(weights, _behind(tokens)).mean(dim=(1, 2))


def _mean_of_each_query(weights, tokens):
    places = _behind(tokens)
    if not places.any():
        raise ValueError("no token stands twice")
    shares = _shares(weights, places) / places.sum(dim=-1).clamp(min=1)
    return shares[:, places.any(dim=-1)].mean(dim=-1)


@scoring.misconception(forms=[_mean_of_each_query])
def mean_of_entries(weights, tokens):
    """Your score averages over places, but the weights of one query have to be added up.

    With three copies there are three places that come right after a copy. A head may share its weight among these
    places: add up the weights on all three.
    """
    places = _behind(tokens)
    if not places.any():
        raise ValueError("no token stands twice")
    return weights.movedim(1, 0)[:, places].mean(dim=-1)


@scoring.misconception()
def own_copy_counted(weights, tokens):
    """Each token is counted as a copy of itself.

    `tril()` keeps the diagonal, where a token meets itself, and the place right after it is in the future. Only
    *earlier* tokens are copies: `tril(-1)`.
    """
    places = _after_any(tokens)
    return _shares(weights, places)[:, places.any(dim=-1)].mean(dim=-1)


@scoring.misconception()
def for_each_list(weights, tokens):
    """There is a number for each list. The exercise asks for one for all lists together.

    Average over the queries of all lists, and keep a number for each head.
    """
    alone = [_of_those_with_a_copy(w[None], t[None]) for w, t in zip(weights, tokens, strict=True)]
    return torch.stack(alone)


@scoring.misconception()
def added_up(weights, tokens):
    """You return the sum over the queries. The exercise asks for their mean.

    A sum grows with the lists. Divide by how many queries have a copy.
    """
    counted = _copies(tokens).any(dim=-1)
    if not counted.any():
        raise ValueError("no token stands twice")
    return _shares(weights, _behind(tokens))[:, counted].sum(dim=-1)


@scoring.misconception()
def one_number(weights, tokens):
    """You return one number for all heads.

    The average over heads hides that one head does it and the others do not.
    """
    return _of_those_with_a_copy(weights, tokens).mean()


@scoring.misconception()
def newest_only(weights, tokens):
    """Only the newest copy counts.

    A token may be in the list three times, and the head may look at the place after each of its copies.
    """
    places = _behind(tokens)
    newest = places & (places.flip(-1).cumsum(dim=-1).flip(-1) == 1)
    return _of_those_with_a_copy(weights, tokens, newest)


@scoring.misconception()
def oldest_only(weights, tokens):
    """Only the oldest copy counts.

    A token may be in the list three times, and the head may look at the place after each of its copies. `argmax` and
    `index` find the first copy only.
    """
    places = _behind(tokens)
    return _of_those_with_a_copy(weights, tokens, places & (places.cumsum(dim=-1) == 1))


@scoring.misconception()
def list_by_list(weights, tokens):
    """You average each list by itself, and then over the lists.

    A list with one copy then counts as much as a list with five. Average over all queries that have one.
    """
    parts = [_of_those_with_a_copy(w[None], t[None]) for w, t in zip(weights, tokens, strict=True)]
    parts = [part for part in parts if part.isfinite().all()]
    if not parts:
        raise ValueError("no token stands twice")
    return torch.stack(parts).mean(dim=0)


@scoring.misconception(
    telltale_call=_seen([1, 2, 3, 4], [4, 3, 2, 1], seed=5),
    forms=[lambda weights, tokens: _of_those_with_a_copy(weights, tokens).nan_to_num(0.0)],
)
def nothing_to_average(weights, tokens):
    """Where no token is in its list twice, there is no query to average over, but something is returned.

    The mean of no numbers is NaN, and 0 would be the score of a head that looks elsewhere. The score is not defined
    here, so raise a ValueError.
    """
    return _of_those_with_a_copy(weights, tokens)


# ----------------------------------------------------------------------------------------------------------- 9.3


def output_without(attention, head, x):
    output, _ = induction.without_head(attention, head)(x, x, x)
    return output


def _attention(embed_dim, num_heads, head, n=3, *, seed):
    """A module whose weights and biases are all drawn, which of its heads is to be silent, and what it attends to."""
    attention = MultiHeadAttention(embed_dim, num_heads).to(torch.float32)
    for place, parameter in enumerate(attention.parameters()):
        parameter.data = normal(*parameter.shape, seed=100 * seed + place)
    return attention, head, normal(2, n, embed_dim, seed=seed)


silencing = function(
    "9.3",
    output_without,
    as_="my_output_without(attention, head, x)",
    title="A head taken out",
    section="09#take-out",
    shows=(output_without, induction.without_head),
    probes=[_attention(6, 3, 1, seed=1), _attention(8, 2, 1, n=4, seed=2), _attention(8, 4, 2, n=5, seed=3)],
    corner_cases=[_attention(6, 2, 0, seed=4), _attention(4, 1, 0, seed=5)],
    random_probes=lambda rng: [
        _attention(12, heads, rng.randrange(1, heads), seed=rng.randrange(10**6)) for heads in (3, 4)
    ],
    returns=("the output",),
    dtype=torch.float64,
    shown=lambda arg: f"{arg.num_heads} heads of {arg.embed_dim}" if isinstance(arg, nn.Module) else None,
    hints=[
        "Work on a copy: `copy.deepcopy(attention)`. The output of a head goes through `out_proj` and nothing else. "
        "Which part of its weight belongs to head h?",
        "`out_proj.weight` is (out, in), and the heads are side by side in what comes *in*: head h has the columns "
        "from h · head_dim to (h + 1) · head_dim, with head_dim = embed_dim / num_heads.",
        "Set those columns of the copy to 0, `silent.out_proj.weight.data[:, a:b] = 0`, and call it. The bias belongs "
        "to no head and stays.",
    ],
)


def _copied(attention):
    copied = MultiHeadAttention(attention.embed_dim, attention.num_heads).to(attention.q_proj.weight)
    copied.load_state_dict(attention.state_dict())
    return copied


def _features(attention, head):
    width = attention.embed_dim // attention.num_heads
    return slice(head * width, (head + 1) * width)


def _out_columns(attention, columns):
    silent = _copied(attention)
    silent.out_proj.weight.data[:, columns] = 0
    return silent


@silencing.misconception(reread="04#text-mix")
def rows(attention, head, x):
    """The rows of `out_proj.weight` are 0. The columns should be.

    The weight of an `nn.Linear` is (out, in). A row makes one number of the *output*, and all heads have a part in it.
    """
    silent = _copied(attention)
    silent.out_proj.weight.data[_features(attention, head)] = 0
    return silent(x, x, x)[0]


@silencing.misconception()
def nothing_taken_out(attention, head, x):
    """Nothing is taken out: this is the output of all heads.

    Perhaps the columns of a copy are 0, and the module itself was called. Call the copy.
    """
    return attention(x, x, x)[0]


@silencing.misconception(reread="04#text-mix")
def output_cut(attention, head, x):
    """A part of the output is 0, where a head should be silent.

    What comes out of `out_proj` belongs to all heads: each of them adds to every number of the output. The features of
    a single head are those that go *into* `out_proj`.
    """
    output = attention(x, x, x)[0].clone()
    output[..., _features(attention, head)] = 0
    return output


@silencing.misconception(reread="04#text-20")
def dealt_out(attention, head, x):
    """The columns are taken in turn: with three heads, every third column is 0.

    The features of one head are side by side, as `split_heads` and `merge_heads` have them: columns h · head_dim to
    (h + 1) · head_dim.
    """
    return _out_columns(attention, slice(head, None, attention.num_heads))(x, x, x)[0]


@silencing.misconception()
def one_feature(attention, head, x):
    """A single column is 0: that is one feature, not one head.

    Head h begins at h · head_dim and is head_dim wide.
    """
    return _out_columns(attention, slice(head, head + 1))(x, x, x)[0]


@silencing.misconception()
def counted_from_one(attention, head, x):
    """The head whose output is 0 is number `head` − 1.

    Heads count from 0, as everything in Python does.
    """
    return _out_columns(attention, _features(attention, head - 1) if head else slice(0, 0))(x, x, x)[0]


@silencing.misconception()
def the_others(attention, head, x):
    """The outputs of the other heads are 0.

    The exercise asks for the output without this head. What this head does alone is another question, and often has
    another answer.
    """
    silent = _out_columns(attention, slice(None))
    own = _features(attention, head)
    silent.out_proj.weight.data[:, own] = attention.out_proj.weight.data[:, own]
    return silent(x, x, x)[0]


@silencing.misconception(reread="04#text-mix")
def bias_too(attention, head, x):
    """The bias of `out_proj` is gone as well.

    It is added to the output once, whatever the outputs of the heads are, and belongs to none of them.
    """
    silent = _out_columns(attention, _features(attention, head))
    silent.out_proj.bias.data.zero_()
    return silent(x, x, x)[0]


@silencing.misconception(reread="04#text-08")
def bias_of_the_values_left(attention, head, x):
    """The head's values are 0 except for their bias.

    `v_proj` adds its bias after the product. If only the weight is 0, the head still has an output, the same for every
    token.
    """
    silent = _copied(attention)
    silent.v_proj.weight.data[_features(attention, head)] = 0
    return silent(x, x, x)[0]


def _mean_of_the_head(attention, head, x, over):
    """What the head adds to the output is replaced by its mean over some axes."""
    of_the_head = attention(x, x, x)[0] - _out_columns(attention, _features(attention, head))(x, x, x)[0]
    mean = of_the_head.mean(dim=over, keepdim=True)
    return attention(x, x, x)[0] - of_the_head + mean


@silencing.misconception(forms=[lambda attention, head, x: _mean_of_the_head(attention, head, x, (0, 1))])
def its_mean_stays(attention, head, x):
    """The output of the head is replaced by its mean. It should be 0.

    Some studies take a head out in this way (mean ablation), because the rest of the model is used to it. Here the
    head's output has to be 0.
    """
    return _mean_of_the_head(attention, head, x, 1)


@silencing.misconception()
def others_louder(attention, head, x):
    """The outputs of the other heads are made larger, as if they had to replace the missing one.

    That is what dropout does in training: it divides by the share that is left. Here the other heads stay as they are.
    """
    silent, heads = _out_columns(attention, _features(attention, head)), attention.num_heads
    silent.out_proj.weight.data *= heads / max(1, heads - 1)
    return silent(x, x, x)[0]


@silencing.misconception(reread="03#text-02")
def even(attention, head, x):
    """The head attends to all tokens equally, and still has an output.

    Scores of 0 are not weights of 0: softmax makes equal weights of them, and the output of the head is the mean of all
    values.
    """
    silent = _copied(attention)
    silent.q_proj.weight.data[_features(attention, head)] = 0
    silent.q_proj.bias.data[_features(attention, head)] = 0
    return silent(x, x, x)[0]


# ----------------------------------------------------------------------------------------------------------- 9.4


def _asked(lists, at):
    """Lists that end with one of their own tokens, asked again, and what stood behind it."""
    at = at[:, None]
    return torch.cat([lists, lists.gather(1, at)], dim=1), lists.gather(1, at + 1)[:, 0]


def _shuffled(batch, words, shown):
    """Lists of so many words in any order; a test that asks for more than fit in memory is refused."""
    if batch > 10_000:
        raise ValueError(f"batch={batch} is more than 10000 lists at a time")
    return torch.rand(batch, words).argsort(dim=1)[:, :shown]


def puzzles(batch):
    """six words of ten, in any order, one of them asked"""
    return _asked(_shuffled(batch, 10, 6), torch.randint(5, (batch,)))


def few_words(batch):
    """four words of five, in any order, one of them asked"""
    return _asked(_shuffled(batch, 5, 4), torch.randint(3, (batch,)))


def new_names(batch):
    """three guests, their last names drawn anew for each list, one of them asked"""
    first, last = _shuffled(batch, 8, 3), 8 + _shuffled(batch, 8, 3)
    return _asked(torch.stack([first, last], dim=2).flatten(1), 2 * torch.randint(3, (batch,)))


def repeats(batch):
    """three words again and again, as in a b c a b"""
    lists = _shuffled(batch, 10, 3)
    return torch.cat([lists, lists[:, :2]], dim=1), lists[:, 2]


def always_the_first(batch):
    """six words of ten, and always the first one is asked"""
    return _asked(_shuffled(batch, 10, 6), torch.zeros(batch, dtype=torch.long))


def old_names(batch):
    """three guests, each with the same last name in every list, one of them asked"""
    first = _shuffled(batch, 8, 3)
    return _asked(torch.stack([first, 8 + (first * 3) % 8], dim=2).flatten(1), 2 * torch.randint(3, (batch,)))


def alphabet(batch):
    """six neighbouring letters of the alphabet, one of them asked"""
    return _asked(_shuffled(batch, 20, 1) + torch.arange(6), torch.randint(5, (batch,)))


def one_list(batch):
    """one and the same list every time"""
    return _asked(torch.arange(6).expand(batch, 6), torch.full((batch,), 2))


HONEST, EASY = (puzzles, few_words, new_names), (repeats, always_the_first, old_names, alphabet, one_list)


def _by_place(tokens, answers):
    return bool((tokens == answers[:, None]).all(dim=0).any())


def _by_last_token(tokens, answers):
    last = tokens[:, -1]
    return all(len(answers[last == token].unique()) == 1 for token in last.unique())


def detects(task):
    """Whether these data can be answered without ever looking for a copy."""
    tokens, answers = task(1000)
    by_place = (tokens == answers[:, None]).all(dim=0).any()  # the answer always stands at one and the same place
    last = tokens[:, -1]
    by_token = all(len(answers[last == token].unique()) == 1 for token in last.unique())  # each has but one answer
    return bool(by_place or by_token)


def _said(task, result):
    return (yes_or_no(result),)


testing = function(
    "9.4",
    detects,
    as_="my_detects(task)",
    title="A test of training data",
    section="09#break-it",
    probes=[(task,) for task in (*HONEST, *EASY)],
    returns=("the verdict",),
    dtype=torch.float64,
    after=_said,
    shown=lambda task: f"“{task.__doc__}”",
    hints=[
        "`tokens, answers = task(1000)`. First the lesson's short cut, by places: is there a place where the answer is "
        "every time?",
        "`(tokens == answers[:, None])` is True where the answer is. A column that is True in all lists is a place "
        "that a model can simply remember.",
        "Then the other short cut: the last token may have the same answer in every list. For each token that asks, "
        "count how many different answers it has.",
    ],
)


@testing.misconception(forms=[lambda task: _by_place(*task(1)) or _by_last_token(*task(1))])
def alarm(task):
    """Your test returns True for all data, also for data without a short cut.

    With one list, or very few, every rule fits: there is always a place where the answer is. You need many lists to see
    that a short cut does not always work.
    """
    return True


@testing.misconception()
def the_copy_fits(task):
    """Your test returns False for all data.

    Does it test whether the right rule fits? The answer comes after the earlier copy in the data with a short cut and
    in the data without one. The question is whether a simpler rule fits, *too*.
    """
    return False


@testing.misconception()
def both_at_once(task):
    """Your test returns True only where both short cuts work.

    One short cut is enough to spoil the training: write `or` in place of `and`.
    """
    return _by_place(*task(1000)) and _by_last_token(*task(1000))


@testing.misconception(reread="09#gpt")
def place_alone(task):
    """A short cut by words is not noticed.

    If *lee* always comes after *ann*, a model does not have to look for an earlier *ann*: a table of words is enough,
    and W is such a table.
    """
    return _by_place(*task(1000))


@testing.misconception()
def word_alone(task):
    """A short cut by places is not noticed.

    If the answer is always three places back, a model does not have to look for a copy either.
    """
    return _by_last_token(*task(1000))


@testing.misconception()
def upside_down(task):
    """Your test returns True for data without a short cut.

    Return True for data with a short cut.
    """
    return not detects(task)
