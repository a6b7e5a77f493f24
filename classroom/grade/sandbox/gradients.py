"""A call whose work is done in the other process, with its gradients: the same on both sides.

Why not compute gradients in the worker: what is differentiated is made here, a weighted sum that `check` builds from
the results, and a student's test differentiates whatever it likes of the judge's attention. Either would need a second
way to judge beside the learner's `check`; this one node of autograd lets both run as they are.
"""

import torch
from torch.autograd.function import once_differentiable


class _RemoteCall(torch.autograd.Function):
    """As autograd sees it: results that came from elsewhere, and gradients that are asked for there."""

    @staticmethod
    def forward(ctx, results, needed, ask, *_leaves):
        ctx.ask = ask
        results = tuple(tensor.detach() for tensor in results)
        ctx.mark_non_differentiable(*(tensor for tensor, needs in zip(results, needed, strict=True) if not needs))
        return results

    @staticmethod
    @once_differentiable
    def backward(ctx, *weights):
        return None, None, None, *ctx.ask(weights)


def connected(result, leaves, ask):
    """A result whose tensors lead back to `leaves`; ask(weights) gets their gradients, or None, from where it was made.

    Only the tensors of the result itself, or of the tuple or list that it is, are connected.
    """
    parts = list(result) if isinstance(result, list | tuple) else [result]
    places = [i for i, part in enumerate(parts) if isinstance(part, torch.Tensor)]
    needed = [parts[i].requires_grad for i in places]
    if not any(needed) or not leaves:
        return result
    for i, tensor in zip(places, _RemoteCall.apply([parts[i] for i in places], needed, ask, *leaves), strict=True):
        parts[i] = tensor
    return type(result)(parts) if isinstance(result, list | tuple) else parts[0]


def tensors_in(result):
    """The tensors that `connected` connects, in its order."""
    parts = result if isinstance(result, list | tuple) else (result,)
    return [part for part in parts if isinstance(part, torch.Tensor)]


def gradients(results, leaves, weights):
    """The gradients of tensors that were made here, each weighted, with respect to the leaves; None where none is."""
    pairs = [(t, w) for t, w in zip(results, weights, strict=True) if t.requires_grad]
    return list(torch.autograd.grad([t for t, _ in pairs], leaves, [w for _, w in pairs], allow_unused=True))
