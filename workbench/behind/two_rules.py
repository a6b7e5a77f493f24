"""What notebook 8 tries out: two rules for one head that attends by position only, set by hand or learned.

On a second reading the notebook shows how this is written.
"""

import torch
import torch.nn.functional as F

from attn_lib import alibi_bias, causal_mask, masked_softmax, rotary, sinusoidal_encoding

ONE_KEY = torch.tensor([1.0, 0.0] * 8, dtype=torch.float64)  # the same for every token, then turned
SCHEMES = {  # the shape of what is learned, and the scores that it gives to n positions
    "table": ((8, 8), lambda scores, n: scores[:n, :n]),
    "sinusoids": ((16, 16), lambda m, n: _waves(n) @ m @ _waves(n).T),
    "RoPE": ((16,), lambda query, n: rotary(query.expand(n, 16)) @ rotary(ONE_KEY.expand(n, 16)).T),
    "ALiBi": ((1,), lambda slope, n: slope * alibi_bias(8, n)[0].double()),
}
RULES = {  # the right tokens, from the second position on
    "before": lambda tokens: tokens[:, :-1],
    "first": lambda tokens: tokens[:, :1].expand(-1, tokens.size(1) - 1),
}


def _waves(n):
    return sinusoidal_encoding(n, 16).double()


def say(scores, tokens, w):
    """The answers from the second position on: the tokens, weighted by attention, times w.

    Shapes: scores (n, n), tokens (batch, n), w (8, 8); returns (batch, n − 1, 8).
    """
    weights = masked_softmax(scores, causal_mask(len(scores)))
    return (weights @ F.one_hot(tokens, 8).double() @ w)[:, 1:]


def sentences(n):
    """Fifty new sentences of n tokens, (50, n): the same ones whoever asks."""
    return torch.randint(8, (50, n), generator=torch.Generator().manual_seed(n))


def share_of(rule, scores, tokens, w):
    """The share of right answers in these sentences with these scores, after the eighth token if there are more."""
    hits = say(scores, tokens, w).argmax(dim=-1) == RULES[rule](tokens)
    return hits[:, 7 if len(scores) > 8 else 0 :].double().mean()


def share_right(scheme, rule, n, chosen, w=None):
    """The share of right answers on new sentences of n tokens, after the eighth if there are more.

    Without w the answer is the token with the largest weight.
    """
    w = 10 * torch.eye(8, dtype=torch.float64) if w is None else w
    return share_of(rule, SCHEMES[scheme][1](chosen, n), sentences(n), w)


def learn(scheme, rule, steps=200):
    """What is learned, and w, after `steps` steps from zeros on sentences of eight tokens (Adagrad, rate 1)."""
    generator = torch.Generator().manual_seed(0)
    sizes = SCHEMES[scheme][0], (8, 8)
    learned = [torch.zeros(size, dtype=torch.float64, requires_grad=True) for size in sizes]
    squares = [torch.full_like(p, 1e-9) for p in learned]
    for _ in range(steps):
        tokens = torch.randint(8, (64, 8), generator=generator)
        said = say(SCHEMES[scheme][1](learned[0], 8), tokens, learned[1])
        gradients = torch.autograd.grad(F.cross_entropy(said.mT, RULES[rule](tokens)), learned)
        for p, square, gradient in zip(learned, squares, gradients, strict=True):
            p.data -= gradient / square.add_(gradient**2).sqrt()
    return [p.detach() for p in learned]
