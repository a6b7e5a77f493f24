"""Bugs of several heads, several sentences and sizes that differ."""

import math

import torch
import torch.nn.functional as F

from attn_lib.functional import merge_heads, scaled_dot_product_attention, split_heads
from attn_lib.masks import causal_mask, padding_mask

from ..blind_spots import arguments
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
        "only the splitting is wrong: `reshape` to heads, without a transpose": heads_of(split=split_by_reshape),
        "only the merging is wrong: `reshape`, without transposing heads and tokens back": heads_of(
            merge=merge_by_reshape
        ),
    },
    hints=[
        "Number the features: x of 2 tokens with 6 features each, 0 to 11. Which does head 0 get?",
        "A second line of the same function has to be mended together with the first.",
        "Without a mask, attention does not depend on the order: if you reorder the tokens, the outputs must "
        "be reordered in the same way.",
    ],
)
def heads_torn(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Heads are split with view alone.

    The heads need the shape (batch, heads, n, head_dim), and `view` gives this shape. But `view` fills this shape in
    the order of the memory, so each head gets parts of other tokens.
    """
    batch, n, embed_dim = x.shape
    q, k, v = ((x @ w).view(batch, num_heads, n, embed_dim // num_heads) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    heads = scaled_dot_product_attention(q, k, v, mask)[0]
    return heads.reshape(batch, n, embed_dim) @ w_o


@heads_torn.blind_to
def one_head(calls):
    """There is only one head.

    However the features are split, one head gets all features of all tokens.
    """
    return all(heads == 1 for heads in arguments(calls, "num_heads"))


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
        "the features that are left over by the division are dropped": features_dropped,
        "zeros are added until num_heads divides the features": features_added,
    },
    hints=[
        "Its outputs are right for all ordinary sizes. Which sizes would you normally not choose?",
        "How many tokens does `view` make of 4 tokens with 10 features, for 4 heads?",
        "Right code raises ValueError or RuntimeError for 10 features and 4 heads: `try` it, and say which of the two "
        "happened.",
    ],
)
def invented_tokens(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """The code makes tokens that do not exist.

    It does not check that num_heads divides embed_dim, and `view` with `-1` then makes another number of tokens. Right
    code raises ValueError or RuntimeError.
    """
    batch, _, embed_dim = x.shape
    q, k, v = ((x @ w).view(batch, -1, num_heads, embed_dim // num_heads).transpose(1, 2) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    heads = scaled_dot_product_attention(q, k, v, mask)[0]
    return heads.transpose(1, 2).reshape(batch, -1, embed_dim) @ w_o


@invented_tokens.blind_to
def sizes_divide(calls):
    """In the test, num_heads always divides embed_dim.

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
        "each length is repeated, and then the list is reversed": merged_heads(
            spread=lambda lengths, heads: lengths.repeat_interleave(heads).flip(0)
        ),
        "every row gets the largest length": merged_heads(
            spread=lambda lengths, heads: lengths.max().repeat(len(lengths) * heads)
        ),
    },
    hints=[
        "Batch and heads share one axis. Write down, for each row, which sentence and which head it holds.",
        "Then write beside each row the length that the patient gives it.",
        "A sentence does not depend on the other sentences of the batch: alone, with its own length, it must "
        "get the same output.",
    ],
)
def lengths_repeated(q, k, v, lengths, num_heads):
    """repeat in place of repeat_interleave.

    Batch and heads are merged, so every length is needed once for each head: 1, 1, 5, 5 and not 1, 5, 1, 5.
    """
    heads = [split_heads(x, num_heads).flatten(0, 1) for x in (q, k, v)]  # (batch · heads, n, head_dim)
    mask = padding_mask(lengths.repeat(num_heads), k.size(1))
    output = scaled_dot_product_attention(*heads, mask)[0]
    return merge_heads(output.unflatten(0, (-1, num_heads)))


@lengths_repeated.blind_to
def equal_lengths(calls):
    """All lengths of the test are equal.

    Then every order of the lengths is right. Take lengths that differ.
    """
    return all(len(set(torch.as_tensor(lengths).tolist())) == 1 for lengths in arguments(calls, "lengths"))


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
        "the merged heads are returned without w_o, in any implementation": heads_of(project=False),
        "`w_v` is used in place of `w_o`": lambda x, w_q, w_k, w_v, w_o, num_heads, mask=None: heads_of()(
            x, w_q, w_k, w_v, w_v, num_heads, mask
        ),
    },
    hints=[
        "Which argument has no influence on the output?",
        "Follow each argument to the lines that use it.",
        "Change one argument at a time. Does the output change?",
    ],
)
def projection_unused(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """The output projection is not used.

    The matrix exists and its parameters are counted, but the merged heads are returned without it.
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
        "the same, split in another way: tokens and heads are transposed twice": heads_of_a_token(),
        "a head attends only to itself and the heads before it": heads_of_a_token(causal_mask),
    },
    hints=[
        "The patient computes a table of weights for each token. What are the rows and columns of this table?",
        "Which token attends to which? Change one token, and look at the outputs of the others.",
        "In right code the output of a token changes when another token of its sentence changes. Here it does"
        " not. Test a token of another sentence, too: in one patient, tokens attend to the other sentences "
        "and not to their own.",
    ],
)
def heads_hear_heads(x, w_q, w_k, w_v, w_o, num_heads):
    """The heads of a token attend to one another, and no token attends to another token.

    The function takes the last axis but one as the tokens. Without a transpose this axis holds the heads. All shapes
    are right and the loss falls, since each token still goes through all its matrices.
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
        "With a single sentence, each token attends only to itself, with weight 1. What must the output of "
        "this patient be then?",
        "A sentence does not depend on the other sentences of the batch. Change the second sentence, and look"
        " at the output of the first.",
    ],
)
def batch_for_tokens(x, w_q, w_k, w_v, w_o, num_heads):
    """Sentences and tokens are exchanged: a token attends to the tokens at its position in the other sentences.

    The layer was written for (n, batch, embed_dim), as PyTorch's own is without `batch_first=True`, but it gets (batch,
    n, embed_dim). Both have three axes, so there is no error. (For example pytorch, issue 122959.)
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
        "How many lines change the size of the scores? One of these lines is in another function.",
        "By what would you multiply the queries beforehand, so that the output becomes right?",
        "Use two conditions: the output is wrong; and with a `w_q` that is √d times as large, where d is the "
        "width of a head, the output is the right one.",
    ],
)
def scaled_twice(x, w_q, w_k, w_v, w_o, num_heads):
    """Scaled twice: the queries in this function, and the scores in the function that it calls.

    The weights are too even. A model still learns with this fault, so it is often found late. (For example
    x-transformers, issue 190; Protenix, issue 159.)
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
