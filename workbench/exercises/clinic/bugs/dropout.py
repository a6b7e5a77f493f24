"""The bug of a module: dropout, with the difference between training and eval."""

import torch
import torch.nn.functional as F
from torch import nn

from attn_lib.functional import scaled_dot_product_attention

from ..bug import bug
from ..correct import DropoutModule, by_library
from ..interfaces import MODULE


class AlwaysDropping(DropoutModule):
    def train(self, mode=True):
        return super().train(True)


class DropoutOnOutput(nn.Module):
    def forward(self, q, k, v):
        return F.dropout(by_library(q, k, v), 0.2)


@bug(
    "6.15",
    MODULE,
    fixes=[{8: ("self.p)", "self.p, self.training)")}],
    faults=("not asked",),
    section="03#text-33",
    variants={
        "a module whose `train(False)` turns dropout on, too": AlwaysDropping,
        "a module that applies dropout to the *output*, by `F.dropout(output, 0.2)`, also in eval": DropoutOnOutput,
    },
    hints=[
        "Call the patient twice with the same arguments, in training and in eval.",
        "A module knows from `.eval()` that training is over. How does a function know it?",
        "Put it into eval, call it twice and compare. Other faults give the same wrong output both times.",
    ],
)
class DropoutAlways(nn.Module):
    """Dropout is still on in eval.

    `F.dropout`, and `dropout_p` of PyTorch's own function, do not know of `.eval()`: the code has to use
    `self.training`.
    """

    def __init__(self, p=0.3):
        super().__init__()
        self.p = p

    def forward(self, q, k, v):
        weights = scaled_dot_product_attention(q, k, v)[1]
        return F.dropout(weights, self.p) @ v


@DropoutAlways.blind_to
def only_in_training(calls):
    """The test never puts the module into eval.

    In training, right modules drop weights, too. Call `attention.eval()` first, and then call the module.
    """
    return all(call["training"] for call in calls)


@DropoutAlways.tested_by
def detects(attention):
    q, k, v = torch.randn(3, 2, 5, 8)
    attention.eval()
    return not torch.equal(attention(q, k, v), attention(q, k, v))
