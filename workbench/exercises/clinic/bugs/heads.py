"""Bugs of several heads, several sentences and sizes that differ."""

import math

import torch
import torch.nn.functional as F

from attn_lib.functional import merge_heads, scaled_dot_product_attention, split_heads
from attn_lib.masks import causal_mask, padding_mask

from ..blind_spots import given
from ..bug import bug
from ..correct import by_library, heads_of, merged_heads
from ..interfaces import HEADS, MERGED, SELF, projected


def split_by_reshape(x, num_heads):
    return x.reshape(x.size(0), num_heads, x.size(1), x.size(2) // num_heads)


def merge_by_reshape(x):
    return x.reshape(x.size(0), x.size(2), -1)


@bug(
    "6.16",
    HEADS,
    fixes=[
        {
            3: (
                "batch, num_heads, n, embed_dim // num_heads)",
                "batch, n, num_heads, embed_dim // num_heads).transpose(1, 2)",
            ),
            6: ("heads.reshape", "heads.transpose(1, 2).reshape"),
        }
    ],
    faults=("wrong axis", "wrong order"),
    section="04#text-20",
    variants={
        "only the way in is wrong: `reshape` to heads, without a transpose": heads_of(split=split_by_reshape),
        "only the way out is wrong: `reshape`, without turning heads and tokens back": heads_of(merge=merge_by_reshape),
    },
    hints=[
        "Number the features: x of 2 tokens with 6 features each, 0 to 11. Which does head 0 get?",
        "There is a second place in the same function that has to be mended with the first.",
        "Without a mask nobody knows who stands where: let the tokens change places, and their outputs have to change "
        "places in the same way.",
    ],
)
def heads_torn(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Heads cut with view alone.

    The shape asked for is (batch, heads, n, head_dim), and `view` gives just that. Seen in questions about two
    well-known repositories.
    """
    batch, n, embed_dim = x.shape
    q, k, v = ((x @ w).view(batch, num_heads, n, embed_dim // num_heads) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    heads = scaled_dot_product_attention(q, k, v, mask)[0]
    return heads.reshape(batch, n, embed_dim) @ w_o


@heads_torn.blind_to
def one_head(calls):
    """There is only one head.

    One head gets all features of all tokens, however they are cut.
    """
    return all(heads == 1 for heads in given(calls, "num_heads"))


@heads_torn.tested_by
def detects(attention):
    x, weights = torch.randn(2, 5, 6), torch.randn(4, 6, 6)
    moved = attention(x.roll(1, dims=1), *weights, 3)  # every token one place on, the last one first
    return not torch.allclose(moved, attention(x, *weights, 3).roll(1, dims=1), atol=1e-4)


def features_dropped(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    width = x.size(-1) // num_heads * num_heads
    q, k, v = (split_heads((x @ w)[..., :width].contiguous(), num_heads) for w in (w_q, w_k, w_v))
    return merge_heads(by_library(q, k, v, mask)) @ w_o[:width]


def features_added(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    q, k, v = (split_heads(F.pad(x @ w, (0, -x.size(-1) % num_heads)), num_heads) for w in (w_q, w_k, w_v))
    return merge_heads(by_library(q, k, v, mask))[..., : x.size(-1)] @ w_o


@bug(
    "6.17",
    HEADS,
    fixes=[
        {
            2: (
                "x.shape",
                "x.shape\n    if embed_dim % num_heads:\n"
                '        raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")',
            )
        },
        {3: ("view(batch, -1", "view(batch, x.size(1)")},
    ],
    faults=("not asked",),
    section="04#text-39",
    probes=[projected(batch=1, n=4, embed_dim=10, num_heads=4)],
    variants={
        "features that do not divide are dropped": features_dropped,
        "zeros are added until the features divide": features_added,
    },
    hints=[
        "Its outputs are right for every size you would choose by yourself. Which sizes would you never choose?",
        "How many tokens does `view` make of 4 tokens with 10 features, for 4 heads?",
        "Right code raises ValueError or RuntimeError for 10 features and 4 heads: `try` it, and say which of the two "
        "happened.",
    ],
)
def invented_tokens(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Tokens that nobody wrote.

    No check that num_heads divides embed_dim, and a `view` with `-1`: one source text runs 255 tokens as 256 and
    returns the right shape. Right code raises ValueError or RuntimeError.
    """
    batch, _, embed_dim = x.shape
    q, k, v = ((x @ w).view(batch, -1, num_heads, embed_dim // num_heads).transpose(1, 2) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    heads = scaled_dot_product_attention(q, k, v, mask)[0]
    return heads.transpose(1, 2).reshape(batch, -1, embed_dim) @ w_o


@invented_tokens.blind_to
def sizes_divide(calls):
    """All sizes of the test divide.

    Then this patient is right. Take 10 features and 4 heads, and expect an error.
    """
    return all(call["x"].size(-1) % call["num_heads"] == 0 for call in calls)


@invented_tokens.tested_by
def detects(attention):
    x, weights = torch.randn(1, 4, 10), torch.randn(4, 10, 10)
    try:
        attention(x, *weights, 4)  # 10 features for 4 heads
    except (ValueError, RuntimeError):
        return False
    return True


@bug(
    "6.18",
    MERGED,
    fixes=[{3: ("repeat", "repeat_interleave")}],
    faults=("wrong order", "misaligned"),
    section="04#text-33",
    variants={
        "each length is repeated where it stands, and then the whole list is turned round": merged_heads(
            spread=lambda lengths, heads: lengths.repeat_interleave(heads).flip(0)
        ),
        "every row gets the longest length": merged_heads(
            spread=lambda lengths, heads: lengths.max().repeat(len(lengths) * heads)
        ),
    },
    hints=[
        "Batch and heads share one axis. Write down, row by row, whose head stands in it.",
        "Then write the lengths beside the rows, as the patient does it.",
        "A sentence does not notice who else is in the batch: alone, with its own length, it has to get the same.",
    ],
)
def lengths_repeated(q, k, v, lengths, num_heads):
    """repeat in place of repeat_interleave.

    Batch and heads are merged, so every length is needed once per head: 1, 1, 5, 5 and not 1, 5, 1, 5.
    """
    heads = [split_heads(x, num_heads).flatten(0, 1) for x in (q, k, v)]  # (batch · heads, n, head_dim)
    mask = padding_mask(lengths.repeat(num_heads), k.size(1))
    output = scaled_dot_product_attention(*heads, mask)[0]
    return merge_heads(output.unflatten(0, (-1, num_heads)))


@lengths_repeated.blind_to
def equal_lengths(calls):
    """All lengths of the test are equal.

    Then every order of them is the right one.
    """
    return all(len(set(torch.as_tensor(lengths).tolist())) == 1 for lengths in given(calls, "lengths"))


lengths_repeated.blind_to(one_head)


@lengths_repeated.tested_by
def detects(attention):
    q, k, v = torch.randn(3, 3, 5, 4)  # three sentences of 5 tokens
    lengths = torch.tensor([1, 5, 3])
    together, alone = attention(q, k, v, lengths, 2), attention(q[:1], k[:1], v[:1], lengths[:1], 2)
    return not torch.allclose(together[:1], alone, atol=1e-4)


@bug(
    "6.21",
    HEADS,
    fixes=[{5: ("merge_heads(heads)", "merge_heads(heads) @ w_o")}],
    faults=("not used",),
    section="04#text-mix",
    variants={
        "the merged heads are returned as they are, however they came about": heads_of(project=False),
        "`w_v` is used in place of `w_o`": lambda x, w_q, w_k, w_v, w_o, num_heads, mask=None: heads_of()(
            x, w_q, w_k, w_v, w_v, num_heads, mask
        ),
    },
    hints=[
        "Which of its arguments could be anything?",
        "Follow each name from where it comes in to where it is read.",
        "Change one argument and look whether the output moves.",
    ],
)
def projection_unused(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """The output projection that is never used.

    One source text creates `out_proj`, saves it, counts its parameters, and returns the merged heads without it.
    """
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    heads = scaled_dot_product_attention(q, k, v, mask)[0]
    return merge_heads(heads)


@projection_unused.tested_by
def detects(attention):
    x, (w_q, w_k, w_v, w_o) = torch.randn(2, 5, 6), torch.randn(4, 6, 6)
    before, after = attention(x, w_q, w_k, w_v, w_o, 3), attention(x, w_q, w_k, w_v, torch.randn(6, 6), 3)
    return torch.allclose(before, after, atol=1e-4)


# ------------------------------------------------------------------------------------ in the last ward


def heads_of_a_token(mask=None):
    """Return attention in which the heads of each token attend to one another; `mask` is made of how many there are."""

    def attention(x, w_q, w_k, w_v, w_o, num_heads):
        q, k, v = (split_heads(x @ w, num_heads).transpose(1, 2) for w in (w_q, w_k, w_v))
        return by_library(q, k, v, mask and mask(num_heads)).flatten(2) @ w_o

    return attention


@bug(
    "6.35",
    SELF,
    fixes=[
        {
            3: ("embed_dim // num_heads)", "embed_dim // num_heads).transpose(1, 2)"),
            5: ("heads.reshape", "heads.transpose(1, 2).reshape"),
        }
    ],
    faults=("wrong axis",),
    section="04#text-20",
    opens_after=12,
    variants={
        "the same by another cut: tokens and heads are turned round twice": heads_of_a_token(),
        "a head attends only to itself and the heads before it": heads_of_a_token(causal_mask),
    },
    hints=[
        "Its weights are a table for each token. What are its rows and columns?",
        "Who attends to whom? Change one token, and look at the outputs of the others.",
        "In right code a token notices when another one of its sentence changes. Here nobody does. Ask of the other "
        "sentences, too: there is a patient whose tokens attend to those, and not to their own.",
    ],
)
def heads_hear_heads(x, w_q, w_k, w_v, w_o, num_heads):
    """The heads of a token attend to one another, and no token attends to another.

    The last axis but one is taken for the tokens, and without a transpose the heads stand there. Shapes are right and
    the loss falls, since each token still goes through all its matrices. Found in forks of a well-known image model.
    """
    batch, n, embed_dim = x.shape
    q, k, v = ((x @ w).view(batch, n, num_heads, embed_dim // num_heads) for w in (w_q, w_k, w_v))
    heads = scaled_dot_product_attention(q, k, v)[0]
    return heads.reshape(batch, n, embed_dim) @ w_o


@heads_hear_heads.tested_by
def detects(attention):
    x, weights = torch.randn(2, 5, 6), torch.randn(4, 6, 6)
    changed = x.clone()
    changed[0, 0] += 1
    moves = (attention(changed, *weights, 3) - attention(x, *weights, 3)).abs().amax(dim=-1) > 1e-4  # (2, 5)
    return not moves[0, 1:].any() and not moves[1].any()


def along_the_batch(x, w_q, w_k, w_v, w_o, num_heads):
    parts = zip(*(w.chunk(num_heads, dim=1) for w in (w_q, w_k, w_v)), strict=True)
    turned = x.transpose(0, 1)
    heads = torch.cat([by_library(turned @ q, turned @ k, turned @ v) for q, k, v in parts], dim=-1)
    return heads.transpose(0, 1) @ w_o


def all_texts_as_one(x, w_q, w_k, w_v, w_o, num_heads):
    return heads_of()(x.flatten(0, 1)[None], w_q, w_k, w_v, w_o, num_heads).view_as(x)


@bug(
    "6.36",
    SELF,
    fixes=[
        {
            2: ("(x @ w).transpose(0, 1)", "x @ w"),
            4: ("merge_heads(heads).transpose(0, 1)", "merge_heads(heads)"),
        }
    ],
    faults=("wrong axis", "exchanged"),
    section="04#text-33",
    opens_after=12,
    variants={
        "head by head, along the sentences of the batch": along_the_batch,
        "all sentences are read as one": all_texts_as_one,
    },
    hints=[
        "Write the shape after each line, for 2 sentences of 5 tokens. Along which axis does softmax run?",
        "With a single sentence there is nobody else to attend to: each token's weight is 1. What comes out then?",
        "A sentence does not notice who else is in the batch. Change the second, and look at the first.",
    ],
)
def batch_for_tokens(x, w_q, w_k, w_v, w_o, num_heads):
    """Sentences and tokens have changed places: a token attends to those at its place in the other sentences.

    The layer was written for (n, batch, embed_dim), as PyTorch's own is unless told `batch_first=True`, and is handed
    (batch, n, embed_dim). Both have three axes, and nothing complains.
    """
    q, k, v = (split_heads((x @ w).transpose(0, 1), num_heads) for w in (w_q, w_k, w_v))
    heads = scaled_dot_product_attention(q, k, v)[0]
    return merge_heads(heads).transpose(0, 1) @ w_o


@batch_for_tokens.tested_by
def detects(attention):
    x, weights = torch.randn(2, 5, 6), torch.randn(4, 6, 6)
    changed = x.clone()
    changed[1] = torch.randn(5, 6)  # another second sentence
    return not torch.allclose(attention(changed, *weights, 3)[0], attention(x, *weights, 3)[0], atol=1e-4)


@bug(
    "6.37",
    SELF,
    fixes=[
        {3: ("q / math.sqrt(q.size(-1))", "q")},
        {4: ("(q, k, v)", "(q * math.sqrt(q.size(-1)), k, v)")},
    ],
    faults=("wrong scale",),
    section="02#text-29",
    opens_after=12,
    variants={
        "queries and keys are both divided by √d": heads_of(
            lambda q, k, v, mask=None: torch.softmax(q @ k.mT / q.size(-1), dim=-1) @ v
        ),
        "the scores are divided by d, not by its root": heads_of(
            lambda q, k, v, mask=None: by_library(q / q.size(-1) ** 0.5, k, v)
        ),
    },
    hints=[
        "How many lines of it change the size of the scores? One of them stands in another function.",
        "Which queries would have to come in so that the right output comes out?",
        "Two conditions: the output is wrong, and with a `w_q` that is √d times as large, d being the width of a head, "
        "it is what it should have been.",
    ],
)
def scaled_twice(x, w_q, w_k, w_v, w_o, num_heads):
    """Scaled twice: the queries by hand, the scores by the function that is called.

    It is a leftover of the days when scores were computed by hand. Weights are too even, and the model learns to live
    with it, so it is found late: in several public libraries after years.
    """
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    q = q / math.sqrt(q.size(-1))
    heads = scaled_dot_product_attention(q, k, v)[0]
    return merge_heads(heads) @ w_o


@scaled_twice.tested_by
def detects(attention):
    x, (w_q, w_k, w_v, w_o) = torch.randn(2, 5, 6), torch.randn(4, 6, 6)
    q, k, v = (split_heads(x @ w, 3) for w in (w_q, w_k, w_v))
    right = merge_heads(scaled_dot_product_attention(q, k, v)[0]) @ w_o

    def is_right(w_q):
        return torch.allclose(attention(x, w_q, w_k, w_v, w_o, 3), right, atol=1e-4)

    return not is_right(w_q) and is_right(math.sqrt(2) * w_q)  # heads are 2 wide
