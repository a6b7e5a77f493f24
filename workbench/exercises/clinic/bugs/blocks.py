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
        "the road goes on with the normed row, in another build": correct.block_of(road=lambda x, h: h),
        "what is lost is the row's mean alone": correct.block_of(
            correct.by_einsum, road=lambda x, h: x - x.mean(dim=-1, keepdim=True)
        ),
    },
    hints=[
        "What comes out at the end is what came in, and what was added on the way. What came in?",
        "Think of tea in the lesson: a token whose features are all alike, and matrices of any kind.",
        "`x = torch.full((1, 3, 4), 5.0)`: its norm is 0, so nothing is heard and nothing added. What must come out?",
    ],
)
def carried_on_normed(x, w_q, w_k, w_v, w_1, w_2):
    """The residual begins behind the norm.

    What the norm takes away is lost for the rest of the model. It trains nearly as well, so nobody notices; found in
    five public repositories.
    """
    h = x = F.layer_norm(x, x.shape[-1:])
    heard = scaled_dot_product_attention(h @ w_q, h @ w_k, h @ w_v, causal_mask(x.size(1)))[0]
    x = x + heard
    return x + F.relu(F.layer_norm(x, x.shape[-1:]) @ w_1) @ w_2


@carried_on_normed.tested_by
def detects(attention):
    x = torch.full((1, 3, 4), 5.0)  # its norm is 0: nothing is heard, nothing added
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
        "mean and variance along the text, by a norm of its own": correct.block_of(norm=normed_over(1)),
        "mean and variance over text and batch": correct.block_of(norm=normed_over((0, 1))),
    },
    hints=[
        "Attention is masked. Is there another way by which a token learns who comes later?",
        "Change the last token and look at the first one's output.",
        "A forgotten mask shows in the same way, so look for something else: what is the norm of a text of one token, "
        "along the text? With an MLP of zeros, what comes out?",
    ],
)
def normed_along_the_text(x, w_q, w_k, w_v, w_1, w_2):
    """The norm runs along the text, where it has to run along the features.

    A token's row then depends on all the others, those who come later among them: the future, past every mask. In
    training the loss falls far too well.
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
        "the MLP reads the row from before, in another build": correct.block_of(behind=lambda x, h, norm: h),
        "the same, with PyTorch's attention": correct.block_of(correct.by_torch, behind=lambda x, h, norm: h),
    },
    hints=[
        "A text of one token: it hears itself, with weight 1. Work out by hand what has to come out.",
        "Which row does the MLP read, and what has been heard by then?",
        "One token, `h` its normed row: this patient gives x + h w_v + relu(h w_1) w_2. Compare with that itself.",
    ],
)
def deaf_mlp(x, w_q, w_k, w_v, w_1, w_2):
    """The MLP reads the row as it was before the attention.

    What was heard goes past it. Some large models are built so on purpose, both parts side by side; with weights
    trained for one after the other it is wrong, and a single block can then no longer work on what it heard.
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
