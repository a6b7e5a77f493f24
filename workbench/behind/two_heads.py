"""Behind notebook 9: its puzzles, what learns them, and a small GPT of guest lists whose heads can be changed.

Everything is float64 and begins at zeros or at a seed, so that what is printed is the same on every machine.
"""

import copy
import functools
import itertools

import torch
import torch.nn.functional as F
from torch import nn

from attn_lib import MultiHeadAttention, causal_mask, induction_score, masked_softmax, without_head

# --------------------------------------------------------------------------------------------------------- puzzles


def all_puzzles():
    """All texts of start, four of six words, and one of the first three again: (1080, 6, 7), and answers (1080,)."""
    order = torch.tensor(list(itertools.permutations(range(1, 7), 4)))  # (360, 4)
    texts = torch.cat([torch.cat([order, order[:, j : j + 1]], dim=1) for j in range(3)])
    answers = torch.cat([order[:, j + 1] for j in range(3)])
    return F.one_hot(F.pad(texts, (1, 0)), 7).double(), answers


def long_lists(seed):
    """2000 texts of start, eight of ten words, and one of the first seven again: (2000, 10, 11), and answers."""
    generator = torch.Generator().manual_seed(seed)
    order = 1 + torch.rand(2000, 10, generator=generator, dtype=torch.float64).argsort(dim=1)[:, :8]
    copy_at = torch.randint(7, (2000, 1), generator=generator)
    texts = F.pad(torch.cat([order, order.gather(1, copy_at)], dim=1), (1, 0))
    return F.one_hot(texts, 11).double(), order.gather(1, copy_at + 1)[:, 0]


# ----------------------------------------------------------------------------------------------- heads and matrices


def circuit(x, P, M, W, Q=0):
    """Two heads, one after the other: what the last token says, and the weights of both layers."""
    mask = causal_mask(x.size(1))
    before = masked_softmax(P, mask)  # layer 1: which place came before?
    heard = before @ x  # (batch, n, words)
    match = masked_softmax(x @ M @ heard.mT + Q, mask)  # layer 2: which place has fetched my word?
    return (match @ x @ W)[:, -1], before, match[:, -1]


def one_head(x, S, W):
    """One head that knows word and place of every token: what the last token says, and its weights."""
    n = x.size(1)
    both = torch.cat([x, torch.eye(n).to(x).expand(len(x), n, n)], dim=-1)  # (batch, n, words + n): word and place
    weights = (both[:, -1:] @ S @ both.mT).softmax(dim=-1)  # (batch, 1, n): the last may attend to all
    return (weights @ x @ W)[:, -1], weights[:, -1]


def side_by_side(x, S, W, S2, W2):
    """Two such heads in one layer: what they say is added."""
    return (one_head(x, S, W)[0] + one_head(x, S2, W2)[0],)


def learn(model, x, answers, sizes, steps=100, rate=5.0, start=0.0, seed=0):
    """Square matrices of these sizes go downhill from zeros (start: from small random numbers), all steps kept."""
    generator = torch.Generator().manual_seed(seed)
    first = [start * torch.rand(size, size, generator=generator, dtype=torch.float64) for size in sizes]
    matrices, film, losses = [matrix.requires_grad_() for matrix in first], [], []
    for _ in range(steps + 1):
        loss = F.cross_entropy(model(x, *matrices)[0], answers)
        film.append([p.detach().clone() for p in matrices])
        losses.append(loss.item())
        for p, gradient in zip(matrices, torch.autograd.grad(loss, matrices), strict=True):
            p.data -= rate * gradient
    return film, losses


def share_right(model, x, answers, matrices):
    """The share of texts to which the largest of what is said is the answer."""
    return (model(x, *matrices)[0].argmax(dim=-1) == answers).double().mean().item()


@functools.cache  # whoever runs the cell again need not wait again
def right_on_long_lists(model, sizes, start=0.0, seed=0):
    """The share right of 2000 new long lists, for who has learned from 2000 others."""
    film, _ = learn(model, *long_lists(seed), sizes, steps=200, rate=10.0, start=start, seed=seed)
    return share_right(model, *long_lists(seed + 1), film[-1])


def found_each_other(film, x, answers, steps):
    """For some steps of a film: the share that is right, and how much each head gives to the right place."""
    copies = (x[:, :-1] * x[:, -1:]).sum(dim=-1)  # (batch, n - 1): 1 where the last token stood before
    answer_at = copies.argmax(dim=1) + 1
    lines = {"right": [], "layer 1, on the place before": [], "layer 2, on the right place": []}
    for step in steps:
        said, before, match = circuit(x, *film[step])
        found = (said.argmax(dim=-1) == answers).double(), before.diagonal(-1)[1:4], match[range(len(x)), answer_at]
        for line, shares in zip(lines.values(), found, strict=True):
            line.append(shares.mean().item())
    return lines


# ------------------------------------------------------------------------------------------- a small GPT of guests

FIRST_NAMES = ["ann", "bob", "cem", "dan", "eve", "fay", "gus", "hal"]  # 0 to 7
LAST_NAMES = ["lee", "kay", "fox", "ray", "may", "cox", "day", "ash"]  # 8 to 15
VOCABULARY = [*FIRST_NAMES, *LAST_NAMES, ","]


def guests(batch, generator):
    """Lists of three guests, mentioned seven times: tokens (batch, 21), and which mentions stood there before."""
    first, last = (
        torch.rand(batch, 8, generator=generator, dtype=torch.float64).argsort(dim=1)[:, :3] for _ in range(2)
    )
    who = torch.randint(3, (batch, 7), generator=generator)
    lists = torch.stack([first.gather(1, who), 8 + last.gather(1, who), torch.full_like(who, 16)], dim=2)
    before = (who[:, :, None] == who[:, None]).tril(-1).any(dim=2)  # (batch, 7)
    return lists.flatten(1), before


class Guests(nn.Module):
    """Two layers of two heads; queries and keys know their positions, values do not."""

    def __init__(self, d=32):
        super().__init__()
        self.token, self.place = nn.Embedding(17, d), nn.Embedding(20, d)
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(3))
        self.layers = nn.ModuleList(MultiHeadAttention(d, 2, bias=False) for _ in range(2))
        self.says = nn.Linear(d, 17, bias=False)
        for part in (self.token, self.place, self.says):
            nn.init.uniform_(part.weight, -0.5, 0.5)

    def forward(self, tokens, need_weights=True):
        x, place, maps = self.token(tokens), self.place.weight, []
        for layer, norm in zip(self.layers, self.norms[:2], strict=True):
            h = norm(x)  # (batch, 20, d)
            output, weights = layer(h + place, h + place, h, is_causal=True, need_weights=need_weights)
            x, maps = x + output, [*maps, weights]
        return self.says(self.norms[2](x)), maps


def trained(seed=2):
    """The model after 240 steps, two seconds; torch's own random numbers and its dtype stay as they were."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Guests()
    torch.set_default_dtype(dtype)
    generator = torch.Generator().manual_seed(seed)
    sizes = [torch.zeros_like(p) for p in model.parameters()]
    for _ in range(240):
        tokens, _ = guests(32, generator)
        loss = F.cross_entropy(model(tokens[:, :-1], need_weights=False)[0].flatten(0, 1), tokens[:, 1:].flatten())
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        for p, size, gradient in zip(model.parameters(), sizes, gradients, strict=True):
            p.data -= 0.005 * gradient / size.lerp_(gradient**2, 0.1).sqrt().add_(1e-8)
    return model


NEW, KNOWN = guests(400, torch.Generator().manual_seed(5))  # lists that it has not seen
READ = NEW[:, :-1]  # (400, 20)


def names_right(model):
    """Of all last names that stood there before, the share that the model says right."""
    says = model(READ, need_weights=False)[0].argmax(dim=-1)
    return _names_right(says)


def _names_right(says):
    return (says[:, ::3] == NEW[:, 1::3])[KNOWN].double().mean().item()


def maps_of(model):
    """Who hears whom as the model reads the new lists: (layers, 400, heads, 20, 20)."""
    return torch.stack([weights.detach() for weights in model(READ)[1]])


def head_scores(model):
    """Two numbers for each head: what a last name gives its first name, and a first name what is behind its copy.

    Both (layers, heads). The second is the induction score, of first names alone.
    """
    own = torch.where(READ < 8, READ, 100 + torch.arange(20))  # only first names count as words that return
    maps = maps_of(model)
    on_the_first = [weights.diagonal(offset=-1, dim1=2, dim2=3)[..., ::3].mean(dim=(0, 2)) for weights in maps]
    return torch.stack(on_the_first), torch.stack([induction_score(weights, own) for weights in maps])


# --------------------------------------------------------------------------------------------- heads, taken and given


def right_without(model, layer, head):
    """The share of names right when one head says nothing."""
    changed = copy.deepcopy(model)
    changed.layers[layer] = without_head(model.layers[layer], head)
    return names_right(changed)


def said_by(model, layer, head):
    """What a head says at each place of the new lists: (400, 20, 16)."""
    caught = []
    handle = model.layers[layer].out_proj.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0]))
    model(READ)
    handle.remove()
    return caught[0][..., 16 * head : 16 * head + 16].detach()


def saying(model, layer, head, instead):
    """A copy of the model in which one head says this in place of what it says: (400, 20, 16), or broadcast to it."""
    changed = copy.deepcopy(model)

    def exchange(out_proj, inputs):
        merged = inputs[0].clone()  # the heads side by side, (400, 20, 32)
        merged[..., 16 * head : 16 * head + 16] = instead
        return (merged,)

    changed.layers[layer].out_proj.register_forward_pre_hook(exchange)
    return changed


def right_saying(model, layer, head, instead):
    """The share of names right when one head says this."""
    return names_right(saying(model, layer, head, instead))


def worth(model):
    """What each head is worth, a row a head: the share right if it is silent, says its mean, or of another list."""
    rows = []
    for layer, head in itertools.product(range(2), range(2)):
        said = said_by(model, layer, head)
        changes = torch.zeros_like(said), said.mean(dim=0, keepdim=True), said.roll(1, dims=0)
        rows.append([right_saying(model, layer, head, instead) for instead in changes])
    return torch.tensor(rows)


def right_if_told(model, told, part):
    """The share of names right if layer 1 makes one part, "queries", "keys" or "values", from what `told` has heard.

    told is the model with a head of layer 0 exchanged; the other two parts, and all that goes on, are the model's own.
    """
    own, other = (_after_layer_0(one) for one in (model, told))
    place, (layer, norm) = model.place.weight, (model.layers[1], model.norms[1])
    query, key, value = (norm(other if name == part else own) for name in ("queries", "keys", "values"))
    output, _ = layer(query + place, key + place, value, is_causal=True)
    return _names_right(model.says(model.norms[2](own + output)).argmax(dim=-1))


def _after_layer_0(model):
    x, place = model.token(READ), model.place.weight
    h = model.norms[0](x)
    return x + model.layers[0](h + place, h + place, h, is_causal=True)[0]
