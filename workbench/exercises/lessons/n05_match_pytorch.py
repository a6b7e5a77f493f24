"""Exercises of notebook 5: masks and weights for PyTorch's own module, and back."""

from functools import partial

import torch
from torch import nn

from attn_lib.masks import padding_mask
from attn_lib.modules import MultiHeadAttention

from ..engine.function import function
from ..engine.probes import random_lengths
from .n03_masking import LOW

# ----------------------------------------------------------------------------------------------------------- 5.1


def _lengths(*lengths, max_len):
    return torch.tensor(lengths), max_len


def _ignored(tensors):
    """A float mask of 0 and −∞ does the same in `nn.MultiheadAttention` as a bool one."""
    return tuple(
        mask.isinf() if mask.is_floating_point() and ((mask == 0) | (mask == -torch.inf)).all() else mask
        for mask in tensors
    )


def to_key_padding_mask(lengths, max_len):
    return ~padding_mask(lengths, max_len)[:, 0]  # (batch, max_len), True = ignored


key_padding = function(
    "5.1",
    to_key_padding_mask,
    as_="my_to_key_padding_mask(lengths, max_len)",
    title="A padding mask for PyTorch's module",
    section="05#text-11",
    probes=[_lengths(2, 1, max_len=3), _lengths(3, 1, max_len=4), _lengths(2, 5, 1, 4, max_len=6)],
    corner_cases=[
        _lengths(0, 2, max_len=3),
        _lengths(2, 0, max_len=3),
        _lengths(4, 4, max_len=4),
        _lengths(1, max_len=2),
        _lengths(1, 3, max_len=40),
    ],
    random_probes=random_lengths,
    returns=("the mask",),
    read=_ignored,
    hints=[
        "`key_padding_mask` has the shape (batch, max_len). What does True mean in it: may attend, or ignored?",
        "In `nn.MultiheadAttention` True = ignored. So the padding is True, and the tokens are False.",
        "`padding_mask(lengths, max_len)` is (batch, 1, max_len) with True = may attend: remove the axis, and "
        "exchange True and False with `~`.",
    ],
)


@key_padding.misconception(reread="03#text-35", forms=[padding_mask])
def polarity(lengths, max_len):
    """The tokens are True, and the padding is False.

    That is right for our module, and for `F.scaled_dot_product_attention`. `nn.MultiheadAttention` ignores the keys
    that are True, so with this mask it attends only to the padding, and raises no error.
    """
    return padding_mask(lengths, max_len)[:, 0]


@key_padding.misconception(reread="03#text-05")
def off_by_one(lengths, max_len):
    """The first padded position still counts as a token.

    Positions are counted from 0. With length 2 the padding starts at position 2, so all positions >= length must be
    True.
    """
    return torch.arange(max_len) > lengths[:, None]


@key_padding.misconception(
    reread="03#text-05", forms=[lambda lengths, max_len: torch.arange(1, max_len + 1) > lengths[:, None] - 1]
)
def last_token_ignored(lengths, max_len):
    """The last token of each text is ignored too.

    Positions are counted from 0. A text of length 2 has its tokens at positions 0 and 1, so the padding starts at
    position 2: all positions >= length must be True.
    """
    return torch.arange(max_len) >= lengths[:, None] - 1


@key_padding.misconception(reread="03#text-05", telltale_call=_lengths(4, 4, max_len=4))
def full_text_ignored(lengths, max_len):
    """A text without any padding is ignored as a whole.

    Its padding is 0 positions long, and `mask[-0:]` is `mask[0:]`: all positions, not the last 0. Count from the front:
    `mask[length:]`.
    """
    return ~padding_mask(lengths, max_len)[:, 0] | (lengths == max_len)[:, None]


@key_padding.misconception(
    reread="05#text-07",
    forms=[
        lambda lengths, max_len: ~padding_mask(lengths, max_len)[:, None],
        lambda lengths, max_len: padding_mask(lengths, max_len)[:, None],
        lambda lengths, max_len: ~padding_mask(lengths, max_len).expand(-1, max_len, -1),
    ],
)
def query_axis(lengths, max_len):
    """The mask still has an axis for the queries, or for the heads.

    `key_padding_mask` is (batch, max_len); only `attn_mask` has an axis for queries. And True = ignored.
    """
    return ~padding_mask(lengths, max_len)


@key_padding.misconception(
    reread="03#text-35",
    forms=[
        lambda lengths, max_len: (~padding_mask(lengths, max_len)[:, 0]).long(),
        lambda lengths, max_len: padding_mask(lengths, max_len)[:, 0].float(),
        lambda lengths, max_len: padding_mask(lengths, max_len)[:, 0].long(),
    ],
)
def numbers(lengths, max_len):
    """These are 0 and 1, not False and True.

    A float mask is *added* to the scores: adding 1 to the padding hides nothing. It has to be bool, or 0 and −∞.
    """
    return (~padding_mask(lengths, max_len)[:, 0]).float()


def _low(number):
    return lambda lengths, max_len: torch.zeros(()).masked_fill(~padding_mask(lengths, max_len)[:, 0], number)


@key_padding.misconception(reread="03#text-35", forms=[_low(number) for number in LOW])
def finite(lengths, max_len):
    """There is a large negative number where −∞ belongs.

    Added to the scores, it hides a key only if no other score is even lower; and in an empty text all keys get the same
    weight. The mask has to be bool, or 0 and −∞.
    """
    return _low(-1e9)(lengths, max_len)


@key_padding.misconception(
    reread="03#text-05", forms=[lambda lengths, max_len: padding_mask(lengths, int(lengths.max()))[:, 0]]
)
def as_long_as_the_longest(lengths, max_len):
    """The mask is as long as the longest sentence.

    It has to fit the keys. There are `max_len` keys, even if no sentence is so long.
    """
    return ~padding_mask(lengths, int(lengths.max()))[:, 0]


@key_padding.misconception(
    reread="03#text-05",
    forms=[
        lambda lengths, max_len: lengths <= torch.arange(max_len),
        lambda lengths, max_len: torch.arange(max_len) < lengths,
        lambda lengths, max_len: torch.arange(max_len)[None] >= lengths,
    ],
)
def lengths_not_upright(lengths, max_len):
    """Lengths and positions are compared as two rows.

    There are batch lengths and max_len positions, and two rows are compared number by number. If the lengths are a
    column, `lengths[:, None]`, each length is compared with each position.
    """
    return torch.arange(max_len) >= lengths


@key_padding.misconception(reread="03#text-05")
def sideways(lengths, max_len):
    """Sentences and positions have changed places.

    (max_len, batch) is the order in which `nn.MultiheadAttention` takes tokens without `batch_first=True`.
    `key_padding_mask` is always (batch, max_len).
    """
    return ~padding_mask(lengths, max_len)[:, 0].T


# ----------------------------------------------------------------------------------------------------------- 5.2


PARTS = tuple(f"{name}.{part}" for name in ("q_proj", "k_proj", "v_proj", "out_proj") for part in ("weight", "bias"))


def _modules(embed_dim, num_heads, seed, **options):
    """Two modules of the same sizes with different numbers; biases too, which PyTorch starts at 0."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        theirs = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True, **options)
        ours = MultiHeadAttention(embed_dim, num_heads, **options)
        with torch.no_grad():
            for parameter in (*theirs.parameters(), *ours.parameters()):
                parameter.normal_()
    for module in (ours, theirs):
        sizes = [str(embed_dim), str(num_heads), *(f"{name}={value}" for name, value in options.items())]
        module.in_words = f"{type(module).__name__}({', '.join(sizes)})"
    return ours, theirs


def _state_and_independence(ours, theirs, result):
    """What both hold after the call, and whether training `theirs` a step would move `ours`."""
    kept = torch.cat([parameter.detach().flatten() for parameter in theirs.parameters()])
    before = {name: parameter.detach().clone() for name, parameter in ours.named_parameters()}
    with torch.no_grad():
        for parameter in theirs.parameters():  # of a copy made for this call
            parameter.add_(1.0)
    shared = any(not torch.equal(before[name], now) for name, now in ours.named_parameters())
    held = [before.get(name, torch.zeros(0)) for name in PARTS]
    return (*held, kept, torch.tensor(shared), torch.tensor(all(p.requires_grad for p in ours.parameters())))


def load_from_torch(ours, theirs):
    if theirs.in_proj_weight is None:  # keys or values have a width of their own
        weights = theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight
    else:
        weights = theirs.in_proj_weight.chunk(3)  # stacked, each (embed_dim, embed_dim)
    projections = ours.q_proj, ours.k_proj, ours.v_proj
    with torch.no_grad():
        for linear, weight in zip(projections, weights, strict=True):
            linear.weight.copy_(weight)
        if theirs.in_proj_bias is not None:
            for linear, bias in zip(projections, theirs.in_proj_bias.chunk(3), strict=True):
                linear.bias.copy_(bias)
    ours.out_proj.load_state_dict(theirs.out_proj.state_dict())


carry_over = function(
    "5.2",
    load_from_torch,
    as_="my_load_from_torch(ours, theirs)",
    title="Carry the weights over",
    section="05#text-05",
    probes=[_modules(4, 2, seed=1), _modules(6, 3, seed=2), _modules(8, 2, seed=3)],
    corner_cases=[
        _modules(4, 1, seed=4, bias=False),
        _modules(4, 2, seed=5, kdim=3, vdim=5),
        _modules(4, 2, seed=6, kdim=3),
        _modules(6, 2, seed=7, vdim=2, bias=False),
    ],
    returns=(
        *(f"ours.{part}" for part in PARTS),
        "the content of theirs",
        "sharing of memory with theirs",
        "ours.requires_grad",
    ),
    after=_state_and_independence,
    also_called=("from_torch",),
    random_probes=lambda rng: [_modules(embed_dim=12, num_heads=rng.choice((2, 3, 4)), seed=rng.randrange(10**6))],
    shown=lambda module: module.in_words,
    may_change=(0, 1),  # theirs may not, but is compared by its numbers: then it shows what became of them
    hints=[
        "`theirs.in_proj_weight` holds three matrices, one below the other, for query, key and value in this "
        "order: `.chunk(3)`.",
        "Both modules store a weight as (out, in), so nothing is transposed. `in_proj_bias` is cut in the same way, "
        "and `out_proj` is an `nn.Linear` in both.",
        "Under `torch.no_grad()`, `ours.q_proj.weight.copy_(…)` copies numbers. Without a bias `in_proj_bias` is None; "
        "with kdim or vdim `in_proj_weight` is None and `q_proj_weight`, `k_proj_weight`, `v_proj_weight` are "
        "there instead.",
    ],
)


LINEARS = ("q_proj", "k_proj", "v_proj", "out_proj")


@torch.no_grad()
def _copying(ours, theirs, *, order=(0, 1, 2), turned=(), weights=LINEARS, biases=LINEARS, share=False):
    """load_from_torch with one part exchanged, transposed (`turned`) or left out of `weights` or `biases`."""
    stacked = theirs.in_proj_weight
    in_proj = (
        (theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight) if stacked is None else stacked.chunk(3)
    )
    in_biases = (None,) * 3 if theirs.in_proj_bias is None else theirs.in_proj_bias.chunk(3)
    pairs = [(in_proj[i], in_biases[i]) for i in order] + [(theirs.out_proj.weight, theirs.out_proj.bias)]
    for name, (weight, bias) in zip(LINEARS, pairs, strict=True):
        linear = getattr(ours, name)
        if share:
            linear.weight.data = weight.data
        elif name in weights:
            linear.weight.copy_(weight.T if name in turned else weight)
        if linear.bias is not None and name in biases:
            linear.bias.copy_(bias)


def _copying_one_width(ours, theirs, biases=True):
    """load_from_torch that leaves the three weights as they are where theirs are not stacked."""
    is_stacked = theirs.in_proj_weight is not None
    weights = LINEARS if is_stacked else LINEARS[3:]
    _copying(ours, theirs, weights=weights, biases=LINEARS if biases else weights)


def _expecting(use):
    """load_from_torch that does something with `theirs` first, for which nothing may be None or missing there."""

    def code(ours, theirs):
        use(theirs)
        _copying(ours, theirs)

    return code


@carry_over.misconception(
    forms=[partial(_copying, order=order) for order in ((2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1))]
)
def order(ours, theirs):
    """The three weights are not in the order query, key, value.

    Some libraries stack them in another order. All three have the same shape, so no error is raised.
    """
    _copying(ours, theirs, order=(1, 0, 2))


@carry_over.misconception(
    reread="04#text-18",
    forms=[partial(_copying, turned=LINEARS[:3]), partial(_copying, turned=LINEARS[3:])],
)
def transposed(ours, theirs):
    """The weights are transposed, all or some of them.

    If a module computed `x @ w`, its weight would have to be transposed. But both modules store their weights as
    `nn.Linear` does, (out, in).
    """
    _copying(ours, theirs, turned=LINEARS)


@torch.no_grad()
def _cut_by_columns(ours, theirs):
    weights = theirs.in_proj_weight.chunk(3, dim=1)
    for linear, weight in zip((ours.q_proj, ours.k_proj, ours.v_proj), weights, strict=False):
        linear.weight.copy_(weight)


@carry_over.misconception(reread="05#text-02", forms=[_cut_by_columns])
def cut_by_columns(ours, theirs):
    """`in_proj_weight` is cut along the wrong axis.

    The three weights are stacked, one below the other: (3 · embed_dim, embed_dim). Each has embed_dim *rows*.
    `chunk(3)` cuts between rows; with `dim=1` it cuts through every weight, and with some sizes does not give three
    pieces.
    """
    with torch.no_grad():
        query, _, _ = theirs.in_proj_weight.chunk(3, dim=1)
        ours.q_proj.weight.copy_(query)


@torch.no_grad()
def _backwards(ours, theirs, biases=True, last=True):
    linears = ours.q_proj, ours.k_proj, ours.v_proj
    if theirs.in_proj_weight is not None:
        theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in linears]))
    if biases and theirs.in_proj_bias is not None:
        theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in linears]))
    if last:
        theirs.out_proj.load_state_dict(ours.out_proj.state_dict())


@carry_over.misconception(forms=[partial(_backwards, biases=False), partial(_backwards, last=False)])
def backwards(ours, theirs):
    """The weights were copied from `ours` to `theirs`.

    `load_into_torch` in the lesson did that. Here `ours` has to get the weights of `theirs`:
    `ours.q_proj.weight.copy_(…)`.
    """
    _backwards(ours, theirs)


@carry_over.misconception(forms=[partial(_copying, biases=LINEARS[:3]), partial(_copying, biases=LINEARS[3:])])
def no_biases(ours, theirs):
    """Some or all of the biases were not copied.

    There are `in_proj_bias` and `out_proj.bias`. A bias that is not copied stays as it was in `ours`, which began with
    random numbers.
    """
    _copying(ours, theirs, biases=())


@carry_over.misconception(forms=[partial(_copying, weights=LINEARS[:3])])
def no_out_proj(ours, theirs):
    """The output projection was not copied.

    The three input projections agree. There is a fourth, `out_proj`, which is an `nn.Linear` in both modules.
    """
    _copying(ours, theirs, weights=LINEARS[:3], biases=LINEARS[:3])


@carry_over.misconception(
    reread="05#text-35",
    forms=[
        _expecting(lambda theirs: theirs.in_proj_bias[:1]),
        _expecting(lambda theirs: theirs.state_dict()["in_proj_bias"]),
    ],
)
def biases_expected(ours, theirs):
    """A module without biases has none to copy.

    With `bias=False` PyTorch's `in_proj_bias` is None, and so is the `bias` of every `nn.Linear`: check for None before
    you copy.
    """
    _expecting(lambda theirs: theirs.in_proj_bias.chunk(3))(ours, theirs)


@carry_over.misconception(
    reread="05#text-35",
    forms=[
        _expecting(lambda theirs: theirs.in_proj_weight[:1]),
        _expecting(lambda theirs: theirs.state_dict()["in_proj_weight"]),
    ],
)
def one_width(ours, theirs):
    """The three weights are not always stored in one tensor.

    If keys or values have another number of features (`kdim`, `vdim`), the weights cannot be stacked: `in_proj_weight`
    is None, and there are `q_proj_weight`, `k_proj_weight` and `v_proj_weight` instead.
    """
    _expecting(lambda theirs: theirs.in_proj_weight.chunk(3))(ours, theirs)


@carry_over.misconception(
    reread="05#text-35",
    telltale_call=_modules(4, 2, seed=5, kdim=3, vdim=5),
)
def biases_of_one_width_alone(ours, theirs):
    """Where keys or values have a width of their own, the biases are not copied.

    With kdim or vdim only the weights stand in three tensors. The biases are still stacked in `in_proj_bias`: copy them
    in both cases.
    """
    _copying(ours, theirs, biases=LINEARS if theirs.in_proj_weight is not None else LINEARS[3:])


@carry_over.misconception(
    reread="05#text-35",
    telltale_call=_modules(4, 2, seed=5, kdim=3, vdim=5),
    forms=[partial(_copying_one_width, biases=False)],
)
def other_widths_skipped(ours, theirs):
    """Where keys or values have a width of their own, the weights are not copied.

    There `in_proj_weight` is None, and the weights are in `q_proj_weight`, `k_proj_weight` and `v_proj_weight`: if you
    ask whether it is None, there has to be an `else`.
    """
    _copying_one_width(ours, theirs)


@torch.no_grad()
def _bias_not_cut(ours, theirs):
    _copying(ours, theirs, biases=())
    ours.q_proj.bias.copy_(theirs.in_proj_bias)


@torch.no_grad()
def _cut_by_heads(ours, theirs, count=lambda ours: ours.num_heads):
    ours.q_proj.weight.copy_(theirs.in_proj_weight.chunk(count(ours))[0])


@carry_over.misconception(
    reread="05#text-02",
    forms=[_bias_not_cut, _cut_by_heads, partial(_cut_by_heads, count=lambda ours: 3 * ours.num_heads)],
)
def not_cut(ours, theirs):
    """The stacked weight, or the stacked bias, is not cut into three.

    `in_proj_weight` has 3 · embed_dim rows and `in_proj_bias` 3 · embed_dim numbers: those of query, key and value, one
    below the other. Both have to be cut: `.chunk(3)`. Do not cut between heads.
    """
    with torch.no_grad():
        ours.q_proj.weight.copy_(theirs.in_proj_weight)


def _written_with_gradients(write, first="weight"):
    def code(ours, theirs):
        q, *_ = getattr(theirs, f"in_proj_{first}").chunk(3)
        write(getattr(ours.q_proj, first), q)

    return code


def _out_proj_first(ours, theirs):
    ours.out_proj.weight.copy_(theirs.out_proj.weight)


@carry_over.misconception(
    forms=[
        _written_with_gradients(lambda parameter, q: parameter.copy_(q), first="bias"),
        _written_with_gradients(lambda parameter, q: parameter.__setitem__(slice(None), q)),
        _written_with_gradients(lambda parameter, q: parameter.__setitem__(..., q)),
        _out_proj_first,
    ]
)
def without_no_grad(ours, theirs):
    """You write to parameters while gradients are recorded.

    PyTorch would have to record such a change of a parameter, and raises an error instead. Put the lines under `with
    torch.no_grad():`.
    """
    _written_with_gradients(lambda parameter, q: parameter.copy_(q))(ours, theirs)


def _assigned_bias(ours, theirs):
    ours.q_proj.bias = theirs.in_proj_bias[:1]


@carry_over.misconception(forms=[_assigned_bias])
def tensor_for_parameter(ours, theirs):
    """A tensor is assigned where a parameter belongs.

    A module takes only an `nn.Parameter` under that name. And no new one is needed: write into the parameter that is
    there, `ours.q_proj.weight.copy_(…)`.
    """
    ours.q_proj.weight = theirs.in_proj_weight.chunk(3)[0]


@carry_over.misconception(
    reread="05#text-02",
    forms=[lambda ours, theirs: ours.load_state_dict(theirs.state_dict())],
)
def same_names_only(ours, theirs):
    """Only parameters with the same name in both modules are copied.

    `load_state_dict` copies by name, and only those of `out_proj` have the same names; with `strict=False` the others
    are left out, and no error is raised. You have to cut `in_proj_weight` into three yourself.
    """
    ours.load_state_dict(theirs.state_dict(), strict=False)


@carry_over.misconception()
def frozen(ours, theirs):
    """`ours` can no longer be trained.

    The numbers are right, but its parameters no longer get a gradient: `requires_grad` was set to False.
    """
    load_from_torch(ours, theirs)
    ours.requires_grad_(False)


@carry_over.misconception()
def shared(ours, theirs):
    """The two modules now share their memory.

    The numbers are right. But `.data = …` and `nn.Parameter(weight)` use the same tensor in both modules: if you train
    one, the other changes too. `copy_` copies numbers.
    """
    _copying(ours, theirs, share=True)


@carry_over.misconception()
def new_module(ours, theirs):
    """`ours` is unchanged.

    Inside the function `ours = …` only changes a local name; the caller's module stays as it was. Write into its
    parameters.
    """
    return MultiHeadAttention.from_torch(theirs)


# ----------------------------------------------------------------------------------------------------------- 5.3


def _may_attend(*shape, seed):
    """A mask and a number of heads, that of the mask where it has an axis for them."""
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.6
    return mask, shape[1] if len(shape) == 4 else 2 + seed % 2


def _with_heads(mask, num_heads):
    return mask[:, None].expand(-1, num_heads, -1, -1) if mask.ndim == 3 else mask


def to_attn_mask(mask, num_heads):
    if mask.ndim == 3:  # the same for every head
        mask = mask[:, None].expand(-1, num_heads, -1, -1)  # (batch, num_heads, n_queries, n_keys)
    return ~mask.flatten(0, 1)  # (batch · num_heads, n_queries, n_keys), True = ignored


attn_mask = function(
    "5.3",
    to_attn_mask,
    as_="my_to_attn_mask(mask, num_heads)",
    title="A mask for each sentence, and for each head",
    section="05#text-07",
    probes=[_may_attend(2, 2, 3, seed=1), _may_attend(3, 2, 4, seed=2), _may_attend(2, 3, 3, seed=6)],
    corner_cases=[
        _may_attend(2, 3, 2, 4, seed=4),
        _may_attend(3, 2, 2, 2, seed=5),
        _may_attend(1, 4, 3, 2, seed=7),
        _may_attend(4, 1, 2, 3, seed=8),
        _may_attend(1, 2, 9, seed=9),
    ],
    random_probes=lambda rng: [
        _may_attend(rng.choice((2, 3)), 3, 4, seed=rng.randrange(10**6)),
        _may_attend(3, 2, 2, 5, seed=rng.randrange(10**6)),
    ],
    returns=("the mask",),
    read=_ignored,
    hints=[
        "Write down the rows for two sentences and three heads: sentence 0 head 0, sentence 0 head 1, … Which mask "
        "does each row need?",
        "Give the mask an axis for the heads first, `(batch, num_heads, n_queries, n_keys)`; a mask for each head "
        "has it already. Then join the first two axes into one.",
        "`mask[:, None].expand(-1, num_heads, -1, -1)` has the axis, `.flatten(0, 1)` joins two axes; "
        "`repeat_interleave` along dim 0 does both at once. And what does True mean to PyTorch's module?",
    ],
)


@attn_mask.misconception(reread="05#text-11")
def polarity(mask, num_heads):
    """Your mask is True where a query may attend.

    `nn.MultiheadAttention` ignores keys that are True: exchange True and False with `~`. No error is raised; every
    query then attends to exactly the forbidden keys.
    """
    return _with_heads(mask, num_heads).flatten(0, 1)


@attn_mask.misconception(reread="04#text-33")
def tiled(mask, num_heads):
    """The rows are in the order sentence 0, sentence 1, and again sentence 0, sentence 1.

    `repeat` repeats the whole list. The module expects all heads of sentence 0 first, then all heads of sentence 1. The
    shape is right either way, so head 1 of sentence 0 gets the mask of sentence 1, and no error is raised.
    """
    return ~_with_heads(mask, num_heads).transpose(0, 1).flatten(0, 1)


@attn_mask.misconception()
def one_for_each_sentence(mask, num_heads):
    """There is one mask for each sentence, and not one for each head.

    The module needs batch · num_heads masks: the mask of each sentence once for each head.
    """
    return ~(mask if mask.ndim == 3 else mask[:, 0])


@attn_mask.misconception()
def four_axes(mask, num_heads):
    """Sentences and heads still have an axis each.

    Our module takes a mask with four axes, PyTorch's one with three: join the first two, `.flatten(0, 1)`.
    """
    return ~_with_heads(mask, num_heads)


@attn_mask.misconception(reread="05#text-07")
def three_axes_only(mask, num_heads):
    """Your function takes masks with three axes only.

    A mask for each head has four: (batch, num_heads, n_queries, n_keys). It needs no axis for the heads; its first two
    axes are joined into one.
    """
    batch, n_queries, n_keys = mask.shape
    return ~mask[:, None].expand(batch, num_heads, n_queries, n_keys).flatten(0, 1)


@attn_mask.misconception(
    reread="04#text-33",
    forms=[
        lambda mask, num_heads: ~mask.repeat_interleave(num_heads, dim=0),
        lambda mask, num_heads: ~mask[:, None].expand(-1, num_heads, -1, -1).flatten(0, 1),
    ],
)
def heads_twice(mask, num_heads):
    """A mask that already has an axis for the heads was repeated for each head.

    In `(batch, num_heads, n_queries, n_keys)` each head has its own mask, so no mask has to be repeated.
    """
    return ~(mask if mask.ndim == 3 else mask.flatten(0, 1)).repeat_interleave(num_heads, dim=0)


@attn_mask.misconception(
    reread="03#text-35",
    forms=[lambda mask, num_heads: to_attn_mask(mask, num_heads).long()],
)
def numbers(mask, num_heads):
    """These are 0 and 1, not False and True.

    A float mask is *added* to the scores: adding 1 to the scores of ignored keys hides nothing. It has to be bool, or 0
    and −∞.
    """
    return to_attn_mask(mask, num_heads).float()


def _filled(number):
    return lambda mask, num_heads: torch.zeros(()).masked_fill(to_attn_mask(mask, num_heads), number)


@attn_mask.misconception(
    reread="03#text-35", forms=[_filled(-1e4), _filled(-1e6), _filled(torch.finfo(torch.float32).min)]
)
def finite(mask, num_heads):
    """There is a large negative number where −∞ belongs.

    Added to the scores, it hides a key only if no other score is even lower; and if a query may attend to no key, all
    keys get the same weight. The mask has to be bool, or 0 and −∞.
    """
    return _filled(-1e9)(mask, num_heads)


@attn_mask.misconception(reread="03#text-21")
def dead_opened(mask, num_heads):
    """In rows in which every key is hidden, your mask allows every key.

    Then softmax makes no NaN, but a query that may attend to no key attends to all keys. The mask has to hide what ours
    hides, whatever the module returns for such a row.
    """
    ignored = to_attn_mask(mask, num_heads)
    return ignored & ~ignored.all(dim=-1, keepdim=True)
