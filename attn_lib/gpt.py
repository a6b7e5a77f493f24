"""A small GPT: what stands between its attentions, the loss it learns by, and how it writes; notebook 11's."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from .cache import cached_attention
from .checks import check_count, check_floating, check_logits, check_positive, check_tokens, check_width
from .functional import merge_heads, split_heads
from .modules import MultiHeadAttention


def layer_norm(x, weight, bias, eps=1e-5):
    """Each token's features with mean 0 and deviation 1, times weight, plus bias.

    Shapes: x (…, d), weight and bias (d,); returns (…, d). Each token is normed alone. The variance is divided by d;
    eps, inside the root, keeps a token whose features are all alike from being divided by 0.
    Raises: TypeError or ValueError, naming the argument and both numbers, for what does not fit.
    Source: Ba et al. 2016, https://arxiv.org/abs/1607.06450;
    https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html
    """
    check_floating("x", x)
    check_width("weight", weight, x)
    check_width("bias", bias, x)
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)  # (…, 1): of each token alone
    return centred / (variance + eps).sqrt() * weight + bias


class Block(nn.Module):
    """What a GPT is stacked of: attention and then an MLP, each on normed rows, added to what was there (pre-norm).

    Shapes: x (batch, n, embed_dim); returns the same shape, and weights (batch, heads, n, n). Causal; options go to
    `MultiHeadAttention`, whose need_weights=False returns None for the weights.
    Raises: as `MultiHeadAttention`.
    Source: Radford et al. 2019, Language Models are Unsupervised Multitask Learners, section 2.3; Xiong et al. 2020,
    https://arxiv.org/abs/2002.04745, "Pre-LN".
    """

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(embed_dim), nn.LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads, bias=False)
        self.mlp = nn.Sequential(nn.Linear(embed_dim, 4 * embed_dim), nn.GELU(), nn.Linear(4 * embed_dim, embed_dim))

    def forward(self, x, **options):
        h = self.norm1(x)
        heard, weights = self.attention(h, h, h, is_causal=True, **options)
        x = x + heard  # (batch, n, embed_dim): added to x, not to the normalized rows
        return x + self.mlp(self.norm2(x)), weights


class GPT(nn.Module):
    """A model that says, at each token, how likely every token of its vocabulary is to come next.

    Shapes: tokens (batch, n) of whole numbers below vocabulary, n up to length; returns logits (batch, n, vocabulary)
    and a list of weights (batch, heads, n, n), one for each block; options as in `Block`.
    Raises: TypeError or ValueError, naming both numbers, for tokens that it does not know or has no place for; on a
    graphics card, which would have to be waited for, tokens that it does not know are left to `nn.Embedding`.
    Source: Radford et al. 2019, Language Models are Unsupervised Multitask Learners; its places are learned too.
    """

    def __init__(self, vocabulary, length, embed_dim=32, num_heads=4, blocks=1):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, embed_dim), nn.Embedding(length, embed_dim)
        self.blocks = nn.ModuleList(Block(embed_dim, num_heads) for _ in range(blocks))
        self.norm, self.says = nn.LayerNorm(embed_dim), nn.Linear(embed_dim, vocabulary, bias=False)
        for part in (self.token, self.place, self.says):
            nn.init.normal_(part.weight, std=0.1)

    def forward(self, tokens, **options):
        check_tokens(tokens, self.token.num_embeddings, self.place.num_embeddings)
        x, maps = self.token(tokens) + self.place.weight[: tokens.size(1)], []  # (batch, n, embed_dim)
        for block in self.blocks:
            x, weights = block(x, **options)
            maps.append(weights)
        return self.says(self.norm(x)), maps  # (batch, n, vocabulary)


def next_token_loss(logits, tokens):
    """The mean loss, in nats, of predicting each token from those before it: cross-entropy.

    Shapes: logits (batch, n, vocabulary) of all tokens (batch, n); returns a single number. The first token is
    not predicted, and the logits at the last one are not used.
    Raises: TypeError or ValueError, naming the argument and both numbers, for what does not fit.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
    """
    check_logits(logits, tokens)
    predicted, next_tokens = logits[:, :-1], tokens[:, 1:]  # (batch, n − 1, …) and (batch, n − 1)
    return F.cross_entropy(predicted.flatten(0, 1), next_tokens.flatten())


def next_shares(logits, temperature=1.0, top=None):
    """How likely each token is to be drawn as the next one.

    Shapes: logits (…, vocabulary); returns the same shape, each row with sum 1. A temperature below 1 makes the likely
    ones likelier, above 1 the shares more even; with top only so many of the largest logits take part, more only where
    several are equal to the last of them. top may be more than there are.
    Raises: TypeError for logits of whole numbers, ValueError for a temperature not above 0 or top below 1.
    Source: Fan et al. 2018, https://arxiv.org/abs/1805.04833, section 5.1, top-k.
    """
    check_floating("logits", logits)
    check_positive("temperature", temperature)
    check_count("top", 1 if top is None else top)
    if top is not None:
        least = logits.topk(min(top, logits.size(-1))).values[..., -1:]  # (…, 1): the last one that takes part
        logits = logits.masked_fill(logits < least, -math.inf)
    return torch.softmax(logits / temperature, dim=-1)


def read_on(model, tokens, caches):
    """The logits of a `GPT` at new tokens that follow all that the caches hold, and the caches with them in it.

    Shapes: tokens (batch, n_new); caches has a `Cache` for each block, or None at the start of a text; returns logits
    (batch, n_new, vocabulary) and a list of caches. The same as the whole text in one call, within rounding.
    Raises: TypeError or ValueError for tokens as `GPT` and for another number of caches than of blocks.
    Source: notebook 10; Shazeer 2019, https://arxiv.org/abs/1911.02150, section 2.4.
    """
    seen = 0 if caches[0] is None else caches[0].seen
    check_tokens(tokens, model.token.num_embeddings, model.place.num_embeddings, seen)
    x, kept = model.token(tokens) + model.place.weight[seen : seen + tokens.size(1)], []  # (batch, n_new, embed_dim)
    for block, cache in zip(model.blocks, caches, strict=True):
        a, h = block.attention, block.norm1(x)
        heads = [split_heads(project(h), a.num_heads) for project in (a.q_proj, a.k_proj, a.v_proj)]
        heard, cache = cached_attention(*heads, cache)  # heard (batch, heads, n_new, head_dim)
        x = x + a.out_proj(merge_heads(heard))
        x, kept = x + block.mlp(block.norm2(x)), [*kept, cache]
    return model.says(model.norm(x)), kept
