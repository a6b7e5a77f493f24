"""Bugs of a block: each is attention and an MLP, with their norms and residuals. They open after notebook 11."""

import functools

import torch
import torch.nn.functional as F

from attn_lib.functional import scaled_dot_product_attention
from attn_lib.masks import causal_mask

from .. import correct
from ..bug import bug
from ..interfaces import BLOCK

late_bug = functools.partial(bug, opens_after=11)


def normed_over(dim):
    """Return a norm along other axes than the features."""

    def norm(x):
        centred = x - x.mean(dim=dim, keepdim=True)
        return centred / (centred.square().mean(dim=dim, keepdim=True) + 1e-5).sqrt()

    return norm


@late_bug(
    "6.27",
    BLOCK,
    fixes=[{2: ("h = x = ", "h = ")}],
    faults=("exchanged", "not used"),
    section="11#residual",
    variants={
        "the residual path uses the normed row, in another implementation": correct.block_of(road=lambda x, h: h),
        "only the mean of the row is lost": correct.block_of(
            correct.by_einsum, road=lambda x, h: x - x.mean(dim=-1, keepdim=True)
        ),
    },
    hints=[
        "The output of a block is its input plus what was added. What is used as the input here?",
        "Take a token whose features are all equal, as tea in lesson 11, and any matrices.",
        "Take `x = torch.full((1, 3, 4), 5.0)`: normed, it is 0, so nothing is added to it. What must the output be?",
    ],
)
def carried_on_normed(x, w_q, w_k, w_v, w_1, w_2):
    """The residual path begins after the norm.

    What the norm takes away is lost for the rest of the model. The model trains nearly as well, so the fault is seldom
    noticed.
    """
    h = x = F.layer_norm(x, x.shape[-1:])
    heard = scaled_dot_product_attention(h @ w_q, h @ w_k, h @ w_v, causal_mask(x.size(1)))[0]
    x = x + heard
    return x + F.relu(F.layer_norm(x, x.shape[-1:]) @ w_1) @ w_2


@carried_on_normed.tested_by
def detects(attention):
    x = torch.full((1, 3, 4), 5.0)  # normed, it is 0: attention and MLP add nothing
    return not torch.allclose(attention(x, *torch.randn(3, 4, 4), torch.randn(4, 8), torch.randn(8, 4)), x, atol=1e-2)


@late_bug(
    "6.28",
    BLOCK,
    fixes=[
        {
            2: (
                "x.mean(dim=1, keepdim=True), x.var(dim=1,",
                "x.mean(dim=-1, keepdim=True), x.var(dim=-1,",
            )
        }
    ],
    faults=("wrong axis",),
    section="11#layer-norm",
    variants={
        "mean and variance along the text, in another implementation": correct.block_of(norm=normed_over(1)),
        "mean and variance over text and batch": correct.block_of(norm=normed_over((0, 1))),
    },
    hints=[
        "Attention is masked. In which other way can a later token change an earlier one?",
        "Change the last token, and look at the output of the first.",
        "A missing mask has the same effect, so use another test: what does a norm along the text make of a "
        "text of one token? With an MLP of zeros, what is the output?",
    ],
)
def normed_along_the_text(x, w_q, w_k, w_v, w_1, w_2):
    """The norm runs along the text, and not along the features.

    Then every token depends on all tokens of the text, also on later ones, although there is a causal mask. In training
    the loss becomes far too small.
    """
    mean, variance = x.mean(dim=1, keepdim=True), x.var(dim=1, keepdim=True, correction=0)
    h = (x - mean) / (variance + 1e-5).sqrt()
    heard = scaled_dot_product_attention(h @ w_q, h @ w_k, h @ w_v, causal_mask(x.size(1)))[0]
    x = x + heard
    return x + F.relu(F.layer_norm(x, x.shape[-1:]) @ w_1) @ w_2


@normed_along_the_text.tested_by
def detects(attention):
    x, w, silent = torch.randn(1, 1, 4), torch.randn(3, 4, 4), torch.zeros(4, 4)
    return torch.allclose(attention(x, *w, silent, silent), x, atol=1e-2)  # a text of one token, normed to 0


@late_bug(
    "6.29",
    BLOCK,
    fixes=[{4: ("h @ w_1", "F.layer_norm(x, x.shape[-1:]) @ w_1")}],
    faults=("not used", "wrong order"),
    section="11#block",
    variants={
        "the MLP reads the earlier row, in another implementation": correct.block_of(behind=lambda x, h, norm: h),
        "the same, with PyTorch's attention": correct.block_of(correct.by_torch, behind=lambda x, h, norm: h),
    },
    hints=[
        "Take a text of one token: it attends to itself with weight 1. Work out by hand what the output must be.",
        "Which row does the MLP read? Does this row contain the output of attention?",
        "Take one token, with the normed row `h`. This patient gives x + h w_v + relu(h w_1) w_2. Compare "
        "with exactly this.",
    ],
)
def deaf_mlp(x, w_q, w_k, w_v, w_1, w_2):
    """The MLP reads the row from before the attention.

    It does not get the output of attention. Some large models compute attention and MLP in parallel like this on
    purpose. With weights that were trained for one after the other it is wrong.
    """
    h = F.layer_norm(x, x.shape[-1:])
    x = x + scaled_dot_product_attention(h @ w_q, h @ w_k, h @ w_v, causal_mask(x.size(1)))[0]
    return x + F.relu(h @ w_1) @ w_2


@deaf_mlp.tested_by
def detects(attention):
    x, (w_q, w_k, w_v) = torch.randn(1, 1, 4), torch.randn(3, 4, 4)
    w_1, w_2, h = torch.randn(4, 8), torch.randn(8, 4), F.layer_norm(x, (4,))
    side_by_side = x + h @ w_v + F.relu(h @ w_1) @ w_2
    return torch.allclose(attention(x, w_q, w_k, w_v, w_1, w_2), side_by_side, atol=1e-3)
