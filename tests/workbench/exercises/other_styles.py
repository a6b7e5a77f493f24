"""Answers as people write them: right in unusual styles, misconceptions in the words of others, unknown mistakes."""

import copy
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import attn_lib
from workbench.exercises.lessons import n05_match_pytorch

# ---------------------------------------------------------------------------------------------------------- right


def self_attention_loop(x, w_q, w_k, w_v):
    outputs = []
    for token in x:
        scores = torch.stack([(token @ w_q) @ (other @ w_k) for other in x])
        weights = scores.exp() / scores.exp().sum() if scores.max() < 80 else torch.softmax(scores, 0)
        outputs.append(sum(weight * (other @ w_v) for weight, other in zip(weights, x, strict=True)))
    return torch.stack(outputs)


def self_attention_einsum(x, w_q, w_k, w_v):
    scores = torch.einsum("id,de,jf,fe->ij", x, w_q, x, w_k)
    return torch.einsum("ij,jd,de->ie", scores.softmax(-1), x, w_v)


def self_attention_double(x, w_q, w_k, w_v):
    x, w_q, w_k, w_v = (t.double() for t in (x, w_q, w_k, w_v))
    return F.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, scale=1.0)


def softmax_log(scores):
    return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()


def softmax_in_place(scores):
    exps = scores.clone()
    exps -= exps.max(dim=-1, keepdim=True).values
    exps = exps.exp_()
    return exps / exps.sum(-1)[..., None]


def softmax_max_detached_double(scores):
    scores = scores.double()
    exps = torch.exp(scores - scores.detach().max(-1, keepdim=True)[0])
    return exps / (exps.sum(-1, keepdim=True) + 1e-12)


def attention_einsum(q, k, v):
    weights = torch.einsum("...id,...jd->...ij", q, k).div(k.shape[-1] ** 0.5).softmax(-1)
    return [torch.einsum("...ij,...jd->...id", weights, v), weights]


def attention_loop(q, k, v):
    rows = []
    for i in range(q.size(-2)):
        scores = torch.stack([(q[..., i, :] * k[..., j, :]).sum(-1) for j in range(k.size(-2))], dim=-1)
        rows.append(torch.softmax(scores / math.sqrt(q.size(-1)), dim=-1))
    weights = torch.stack(rows, dim=-2)
    return weights @ v, weights


def attention_in_place(q, k, v):
    scores = q @ k.mT
    scores /= math.sqrt(q.size(-1))
    weights = scores.double().softmax(-1)
    return weights @ v.double(), weights


def padding_mask_loop(lengths, max_len):
    mask = torch.zeros(len(lengths), 1, max_len, dtype=torch.bool)
    for i, length in enumerate(lengths):
        mask[i, :, :length] = True
    return mask


def padding_mask_lists(lengths, max_len):
    return torch.tensor([[[j < n for j in range(max_len)]] for n in lengths.tolist()])


def padding_mask_numbers(lengths, max_len):
    return torch.ones(len(lengths), 1, max_len).cumsum(-1) <= lengths.view(-1, 1, 1)


def causal_mask_loop(n_queries, n_keys):
    return torch.tensor([[j <= i + n_keys - n_queries for j in range(n_keys)] for i in range(n_queries)])


def causal_mask_positions(n_queries, n_keys):
    queries = torch.arange(n_keys - n_queries, n_keys).unsqueeze(1)
    return torch.arange(n_keys) <= queries


def causal_mask_triu(n_queries, n_keys):
    return ~torch.ones(n_queries, n_keys).triu(1 + n_keys - n_queries).bool()


def masked_softmax_large(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask


def masked_softmax_where(scores, mask):
    alive = mask.any(-1, keepdim=True)
    safe = torch.where(mask, scores, torch.where(alive, -torch.inf, 0.0))
    return torch.where(alive, safe.softmax(-1), torch.zeros(()))


def masked_softmax_by_hand(scores, mask):
    filled = scores.double().masked_fill(~mask, -1e30)
    exps = torch.exp(filled - filled.amax(-1, keepdim=True)) * mask
    return exps / exps.sum(-1, keepdim=True).clamp(min=1e-30)


def masked_softmax_nan_to_num(scores, mask):
    filled = scores.clone()
    filled[~mask.expand_as(scores)] = -math.inf
    return filled.softmax(-1).masked_fill(~mask, 0.0)


def split_heads_chunks(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError("no")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def split_heads_unflatten(x, num_heads):
    return x.double().unflatten(-1, (num_heads, x.size(-1) // num_heads)).permute(0, 2, 1, 3)


def split_heads_loop(x, num_heads):
    assert x.size(2) % num_heads == 0
    d = x.size(2) // num_heads
    out = torch.empty(x.size(0), num_heads, x.size(1), d)
    for h in range(num_heads):
        out[:, h] = x[..., h * d : (h + 1) * d]
    return out


def merge_heads_cat(x):
    return torch.cat(list(x.unbind(1)), dim=-1)


def merge_heads_einsum(x):
    return torch.einsum("bhnd->bnhd", x).flatten(2)


def merge_heads_contiguous(x):
    return x.permute(0, 2, 1, 3).contiguous().view(x.shape[0], x.shape[2], -1)


def multi_head_loop(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    heads = []
    for q, k, v in zip(*(w.chunk(num_heads, dim=1) for w in (w_q, w_k, w_v)), strict=True):
        scores = (x @ q) @ (x @ k).transpose(1, 2) / math.sqrt(q.size(1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        heads.append((weights if mask is None else weights * mask) @ (x @ v))
    return torch.cat(heads, -1) @ w_o


def multi_head_fused(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    batch, n, d = x.shape
    q, k, v = (x @ torch.cat([w_q, w_k, w_v], 1)).view(batch, n, 3, num_heads, d // num_heads).permute(2, 0, 3, 1, 4)
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    return F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).reshape(batch, n, d) @ w_o


def multi_head_einsum(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    x, w_q, w_k, w_v, w_o = (t.double() for t in (x, w_q, w_k, w_v, w_o))
    q, k, v = (torch.einsum("bnd,dhe->bhne", x, w.unflatten(1, (num_heads, -1))) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bhie,bhje->bhij", q, k) / q.size(-1) ** 0.5
    if mask is None:
        mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool)
    weights = masked_softmax_where(scores, mask if mask.ndim == 2 else mask[:, None])
    return torch.einsum("bhij,bhje,hef->bif", weights, v, w_o.unflatten(0, (num_heads, -1)))


def key_padding_compare(lengths, max_len):
    return torch.arange(max_len).expand(len(lengths), -1) >= lengths.unsqueeze(1)


def key_padding_additive(lengths, max_len):
    return torch.zeros(len(lengths), max_len).masked_fill(key_padding_compare(lengths, max_len), -math.inf)


def load_by_data(ours, theirs):
    d = theirs.embed_dim
    for i, name in enumerate(("q_proj", "k_proj", "v_proj")):
        linear = getattr(ours, name)
        if theirs.in_proj_weight is None:
            linear.weight.data = getattr(theirs, name + "_weight").detach().clone()
        else:
            linear.weight.data = theirs.in_proj_weight[i * d : (i + 1) * d].detach().clone()
        if theirs.in_proj_bias is not None:
            linear.bias.data = theirs.in_proj_bias[i * d : (i + 1) * d].detach().clone()
    ours.out_proj.load_state_dict(theirs.out_proj.state_dict())
    return ours


def load_by_parameters(ours, theirs):
    weights = theirs.in_proj_weight
    weights = (
        (theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight) if weights is None else weights.chunk(3)
    )
    for linear, weight in zip((ours.q_proj, ours.k_proj, ours.v_proj), weights, strict=True):
        linear.weight = nn.Parameter(weight.detach().clone())
    if theirs.in_proj_bias is not None:
        for linear, bias in zip((ours.q_proj, ours.k_proj, ours.v_proj), theirs.in_proj_bias.chunk(3), strict=True):
            linear.bias = nn.Parameter(bias.detach().clone())
        ours.out_proj.bias = nn.Parameter(theirs.out_proj.bias.detach().clone())
    ours.out_proj.weight = nn.Parameter(theirs.out_proj.weight.detach().clone())


def softmax_back_jacobian(weights, grad_weights):
    jacobian = torch.diag_embed(weights) - torch.einsum("...i,...j->...ij", weights, weights)
    return torch.einsum("...ij,...j->...i", jacobian, grad_weights)


def softmax_back_loop(weights, grad_weights):
    grad_scores = torch.zeros_like(weights)
    for i in range(weights.size(-1)):
        for j in range(weights.size(-1)):
            change = weights[..., j] * (float(i == j) - weights[..., i])  # of weight j with score i
            grad_scores[..., i] += change * grad_weights[..., j]
    return grad_scores


def softmax_back_double(weights, grad_weights):
    weights, grad_weights = weights.double(), grad_weights.double()
    grad_scores = weights * grad_weights
    grad_scores -= weights * grad_scores.sum(-1)[..., None]
    return grad_scores


def attention_back_einsum(query, key, value, grad_output):
    scale = query.shape[-1] ** -0.5
    weights = (torch.einsum("...id,...jd->...ij", query, key) * scale).softmax(-1)
    back = softmax_back_jacobian(weights, torch.einsum("...id,...jd->...ij", grad_output, value)) * scale
    to_query = torch.einsum("...ij,...jd->...id", back, key)
    return [to_query, torch.einsum("...ij,...id->...jd", back, query), weights.transpose(-2, -1) @ grad_output]


def attention_back_by_outputs(query, key, value, grad_output):
    query = query / math.sqrt(query.size(-1))
    scores = query @ key.mT
    weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    shared = (weights @ value * grad_output).sum(-1, keepdim=True)  # as fused kernels do
    back = weights * (grad_output @ value.mT - shared)
    return back @ key / math.sqrt(query.size(-1)), back.mT @ query, weights.mT @ grad_output


def learn_by_autograd(x, w_q, w_k, wish, steps, rate):
    w_q = w_q.detach().clone().requires_grad_()
    for _ in range(steps):
        loss = -(wish * torch.log_softmax(x @ w_q @ (x @ w_k).T, dim=-1)).sum()
        loss.backward()
        with torch.no_grad():
            w_q -= rate * w_q.grad
        w_q.grad = None
    return w_q


def learn_by_optimizer(x, w_q, w_k, wish, steps, rate):
    w_q = torch.nn.Parameter(w_q.clone())
    optimizer = torch.optim.SGD([w_q], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        (wish * (x @ w_q @ (x @ w_k).T).log_softmax(-1)).sum().neg().backward()
        optimizer.step()
    return w_q


def learn_token_by_token(x, w_q, w_k, wish, steps, rate):
    for _ in range(steps):
        gradient = torch.zeros_like(w_q)
        for token, wanted in zip(x, wish, strict=True):
            if wanted.any():
                weights = torch.softmax((x @ w_k) @ (token @ w_q), dim=0)
                gradient += torch.outer(token, (weights - wanted) @ (x @ w_k))
        w_q = w_q - rate * gradient
    return w_q


def back_inputs(*sizes, dtype=torch.float32, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(size, generator=generator).to(dtype) for size in sizes]


def detects_by_differences(backward):
    """Nudge every number a little in float64, and look whether the loss moves as the gradient says."""
    inputs = back_inputs((2, 3), (4, 3), (4, 2), dtype=torch.float64)
    (came_back,) = back_inputs((2, 2), dtype=torch.float64, seed=4)

    def loss(tensors):
        return (F.scaled_dot_product_attention(*(t[None, None] for t in tensors))[0, 0] * came_back).sum()

    for k, gradient in enumerate(backward(*inputs, came_back)):
        for place in range(gradient.numel()):
            up, down = ([t.clone() for t in inputs] for _ in range(2))
            up[k].view(-1)[place] += 1e-5
            down[k].view(-1)[place] -= 1e-5
            if abs((loss(up) - loss(down)) / 2e-5 - gradient.flatten()[place]) > 1e-3:
                return True
    return False


def detects_by_einsum(backward):
    *inputs, came_back = back_inputs((2, 3, 4), (2, 5, 4), (2, 5, 4), (2, 3, 4))
    made, truth = backward(*inputs, came_back), attention_back_einsum(*inputs, came_back)
    return any((one - other).abs().max() > 1e-4 for one, other in zip(made, truth, strict=True))


def cosine_by_torch(q, k, v, temperature):
    """2.3 with PyTorch's own cosines, and one loop over the queries."""
    rows = [F.cosine_similarity(q[..., i : i + 1, :], k, dim=-1) for i in range(q.size(-2))]
    weights = by_exp(torch.stack(rows, dim=-2) / temperature)
    return weights @ v, weights


def cosine_normalized(q, k, v, temperature):
    weights = torch.einsum("...id,...jd->...ij", F.normalize(q, dim=-1), F.normalize(k, dim=-1) / temperature).softmax(
        -1
    )
    return torch.einsum("...ij,...jd->...id", weights, v), weights


def packed_mask_loop(documents):
    """3.4 pair by pair."""
    rows = documents.tolist()
    heard = [[[j <= i and row[i] == row[j] for j in range(len(row))] for i in range(len(row))] for row in rows]
    return torch.tensor(heard)


def packed_mask_positions(documents):
    """3.4 by where each text begins."""
    begins = (documents[:, :, None] == documents[:, None, :]).int().argmax(dim=-1)  # of the text of each query
    places = torch.arange(documents.size(1))
    return (places >= begins[:, :, None]) & (places <= places[:, None])


RIGHT = [
    *(("1.2", f) for f in (self_attention_loop, self_attention_einsum, self_attention_double)),
    *(("2.1", f) for f in (softmax_log, softmax_in_place, softmax_max_detached_double)),
    *(("2.2", f) for f in (attention_einsum, attention_loop, attention_in_place)),
    *(("2.3", f) for f in (cosine_by_torch, cosine_normalized)),
    *(("3.4", f) for f in (packed_mask_loop, packed_mask_positions)),
    *(("3.1", f) for f in (padding_mask_loop, padding_mask_lists, padding_mask_numbers)),
    *(("3.2", f) for f in (causal_mask_loop, causal_mask_positions, causal_mask_triu)),
    *(
        ("3.3", f)
        for f in (masked_softmax_large, masked_softmax_where, masked_softmax_by_hand, masked_softmax_nan_to_num)
    ),
    *(("4.1", f) for f in (split_heads_chunks, split_heads_unflatten, split_heads_loop)),
    *(("4.2", f) for f in (merge_heads_cat, merge_heads_einsum, merge_heads_contiguous)),
    *(("4.3", f) for f in (multi_head_loop, multi_head_fused, multi_head_einsum)),
    *(("5.1", f) for f in (key_padding_compare, key_padding_additive)),
    *(("5.2", f) for f in (load_by_data, load_by_parameters)),
    *(("7.1", f) for f in (softmax_back_jacobian, softmax_back_loop, softmax_back_double)),
    *(("7.2", f) for f in (attention_back_einsum, attention_back_by_outputs)),
    *(("7.3", f) for f in (learn_by_autograd, learn_by_optimizer, learn_token_by_token)),
    *(("7.4", f) for f in (detects_by_differences, detects_by_einsum)),
]

# ----------------------------------------------------------------------------------------- what mistakes are made of


def scores_einsum(q, k):
    return torch.einsum("...id,...jd->...ij", q, k)


def by_exp(scores, dim=-1):
    exps = (scores - scores.amax(dim, keepdim=True)).exp()
    return exps / exps.sum(dim, keepdim=True)


def attend(weigh, scale=lambda q: q.size(-1) ** -0.5):
    """2.2 with einsum."""

    def answer(q, k, v):
        weights = weigh(scores_einsum(q, k) * scale(q))
        return torch.einsum("...ij,...jd->...id", weights, v), weights

    return answer


def from_loop(inside, dtype=torch.bool, shape=lambda batch, max_len: (batch, 1, max_len)):
    """3.1 written with a loop over sequences and positions."""

    def answer(lengths, max_len):
        rows = [[inside(j, n, max_len) for j in range(max_len)] for n in lengths.tolist()]
        return torch.tensor(rows, dtype=dtype).reshape(shape(len(rows), max_len))

    return answer


def triangle(inside, dtype=torch.bool):
    """3.2 written with two loops."""

    def answer(n_queries, n_keys):
        return torch.tensor(
            [[inside(i, j, n_keys - n_queries) for j in range(n_keys)] for i in range(n_queries)], dtype=dtype
        )

    return answer


def weighed(weigh):
    """3.3 with the softmax by hand."""
    return lambda scores, mask: weigh(scores, mask.expand_as(scores))


def checked(answer):
    def with_check(x, num_heads):
        if x.size(-1) % num_heads:
            raise ValueError("no")
        return answer(x, num_heads)

    return with_check


def per_head(
    *,
    scale=lambda head_dim: head_dim**-0.5,
    weigh=masked_softmax_where,
    join=lambda heads: torch.cat(heads, dim=-1),
    mask_of=lambda mask: mask,
):
    """4.3 as a loop over heads: another layout than the library's, with one part exchanged."""

    def answer(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        q, k, v = ((x @ w).chunk(num_heads, dim=-1) for w in (w_q, w_k, w_v))
        outputs = []
        for h in range(num_heads):
            scores = scores_einsum(q[h], k[h]) * scale(q[h].size(-1))
            full = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask_of(mask).expand_as(scores)
            outputs.append(weigh(scores, full) @ v[h])
        return join(outputs) @ w_o

    return answer


def loads(parts, *, out=True, clone=True, bias=True, ask=True):
    """5.2 with slices; `parts` says which third goes to which projection."""

    @torch.no_grad()
    def answer(ours, theirs):
        d = theirs.embed_dim
        separate = [theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight]
        for linear, i in zip((ours.q_proj, ours.k_proj, ours.v_proj), parts, strict=True):
            weight = separate[i] if theirs.in_proj_weight is None else theirs.in_proj_weight[i * d : (i + 1) * d]
            linear.weight = nn.Parameter(weight.clone() if clone else weight)
            if bias and (linear.bias is not None or not ask):
                linear.bias.copy_(theirs.in_proj_bias[i * d : (i + 1) * d])
        if out:
            ours.out_proj.weight.copy_(theirs.out_proj.weight)
            if bias and ours.out_proj.bias is not None:
                ours.out_proj.bias.copy_(theirs.out_proj.bias)

    return answer


def back_as(parts, soft=softmax_back_loop):
    """7.2 with einsum: `parts` makes the three gradients of what is at hand."""

    def answer(query, key, value, grad_output):
        scale = query.size(-1) ** -0.5
        weights = by_exp(scores_einsum(query, key) * scale)
        back = soft(weights, scores_einsum(grad_output, value))
        return parts(scale, weights, back, query, key, grad_output)

    return answer


def to_rows(a, b):
    return torch.einsum("...ij,...jd->...id", a, b)


def to_columns(a, b):
    return torch.einsum("...ij,...id->...jd", a, b)


def all_three(scale, weights, back, query, key, grad_output):
    return scale * to_rows(back, key), scale * to_columns(back, query), to_columns(weights, grad_output)


def trained(scores=lambda x, w_q, w_k: x @ w_q @ (x @ w_k).T, loss=None, sign=-1, keep=False, rounds=None, rate=None):
    """7.3 with autograd."""
    loss = loss or (lambda weights, wish: -(wish * weights.log()).sum())

    def answer(x, w_q, w_k, wish, steps, lr):
        w_q = w_q.clone().requires_grad_()
        for _ in range(steps if rounds is None else rounds(steps)):
            loss(torch.softmax(scores(x, w_q, w_k), -1), wish).backward()
            with torch.no_grad():
                w_q += sign * (lr if rate is None else rate) * w_q.grad
            if not keep:
                w_q.grad.zero_()
        return w_q.detach()

    return answer


def looks_at(*which, sizes=((3, 4), (5, 4), (5, 2), (3, 2))):
    """7.4 by autograd, at some of the three gradients."""

    def detects(backward):
        *inputs, came_back = back_inputs(*sizes)
        inputs = [tensor.requires_grad_() for tensor in inputs]
        output = torch.softmax(scores_einsum(*inputs[:2]) / math.sqrt(sizes[0][1]), -1) @ inputs[2]
        output.backward(came_back)
        made = backward(*(tensor.detach() for tensor in inputs), came_back)
        return bool(max((made[i] - inputs[i].grad).abs().max() for i in which) > 1e-4)

    return detects


# ------------------------------------------------------------------------------------ mistakes that nobody foresaw


def last_key_lost(n_queries, n_keys):
    mask = causal_mask_loop(n_queries, n_keys)
    mask[-1, -1] = False
    return mask


def first_key_weighs_more(x, w_q, w_k, w_v):
    output = self_attention_einsum(x, w_q, w_k, w_v)
    return output + 0.01 * (x @ w_v)[0]


NEAR_MISSES = [
    ("1.2", first_key_weighs_more),
    ("1.2", lambda x, w_q, w_k, w_v: self_attention_einsum(x, w_q * 1.01, w_k, w_v)),
    ("1.2", lambda x, w_q, w_k, w_v: x @ w_v),
    ("2.1", lambda s: torch.softmax(s / 2, -1)),
    ("2.1", lambda s: torch.softmax(s, -1) + 1e-3),
    ("2.1", lambda s: torch.sigmoid(s)),
    ("2.2", lambda q, k, v: attend(by_exp, scale=lambda q: (q.size(-1) + 1) ** -0.5)(q, k, v)),
    ("2.2", lambda q, k, v: (attend(by_exp)(q, k, v)[0].relu(), attend(by_exp)(q, k, v)[1])),
    ("3.1", from_loop(lambda j, n, m: j < max(n, 2))),
    ("3.1", from_loop(lambda j, n, m: j % 2 == 0)),
    ("3.2", last_key_lost),
    ("3.2", triangle(lambda i, j, o: i + o - 2 <= j <= i + o)),
    ("3.3", weighed(lambda s, m: masked_softmax_where(s * 0.9, m))),
    ("3.3", weighed(lambda s, m: by_exp(s.where(m, -2.0)))),
    ("4.1", checked(lambda x, n: split_heads_chunks(x, n).flip(1))),
    ("4.1", checked(lambda x, n: split_heads_chunks(x, n).flip(2))),
    ("4.2", lambda x: merge_heads_cat(x.flip(1))),
    ("4.2", lambda x: merge_heads_cat(x) * 0.99),
    ("4.3", per_head(scale=lambda head_dim: 0.9 * head_dim**-0.5)),
    ("4.3", per_head(join=lambda heads: torch.cat(heads[::-1], -1))),
    ("4.3", lambda x, q, k, v, o, h, mask=None: multi_head_loop(x, q, k, 0.5 * v, o, h, mask)),
    ("5.1", from_loop(lambda j, n, m: j > n + 1, shape=lambda b, m: (b, m))),
    ("5.2", loads((0, 1, 1))),
    ("5.2", loads((0, 0, 0), bias=False, out=False)),
    ("7.1", lambda w, g: softmax_back_loop(w, g) * 0.9),
    ("7.1", lambda w, g: w * (g - g.max(-1, keepdim=True).values)),
    ("7.2", back_as(lambda *parts: [gradient * 0.9 for gradient in all_three(*parts)])),
    ("7.3", trained(loss=lambda weights, wish: ((weights - wish) ** 2).sum())),
    ("7.4", looks_at(0, 2)),
]

# ------------------------------------------------------------------------------------------------------ notebook 8


def waves(n, d, *, base=10000):
    """8.1 number by number: feature j of position p."""
    rows = [[(math.cos if j % 2 else math.sin)(p * base ** -((j - j % 2) / d)) for j in range(d)] for p in range(n)]
    return torch.tensor(rows)


def waves_of_complex_numbers(n, embed_dim):
    turns = torch.polar(torch.ones(embed_dim // 2), 10000.0 ** (-torch.arange(0, embed_dim, 2) / embed_dim))
    powers = turns ** torch.arange(n)[:, None]
    return torch.stack([powers.imag, powers.real], dim=-1).reshape(n, embed_dim)


def waves_in_halves(n, embed_dim):
    angles = torch.outer(torch.arange(n).float(), 10000.0 ** (-torch.arange(0, embed_dim, 2) / embed_dim))
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def rope(x, start=0):
    """8.2 feature by feature: feature j turns with its partner, the other one of its pair."""
    n, d = x.shape[-2:]
    places = torch.arange(start, start + n, dtype=torch.float64)
    columns = []
    for j in range(d):
        turn, partner = (places * 10000.0 ** (-2 * (j // 2) / d)).to(x.dtype), j ^ 1
        columns.append(x[..., j] * turn.cos() + (-1 if j < partner else 1) * x[..., partner] * turn.sin())
    return torch.stack(columns, dim=-1)


def rope_complex(x, start=0):
    n, d = x.shape[-2:]
    angles = torch.outer(torch.arange(start, start + n), 10000.0 ** (-torch.arange(0, d, 2) / d))
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


def rope_matrices(x, start=0):
    n, d = x.shape[-2:]
    rows = []
    for i in range(n):
        blocks = []
        for j in range(0, d, 2):
            a = torch.tensor((start + i) * 10000.0 ** (-j / d))
            blocks.append(torch.stack([torch.stack([a.cos(), a.sin()]), torch.stack([-a.sin(), a.cos()])]))
        rows.append(x[..., i, :] @ torch.block_diag(*blocks).to(x))
    return torch.stack(rows, dim=-2)


def slopes(num_heads):
    def of_a_power(n):
        return [2 ** (-8 * (i + 1) / n) for i in range(n)]

    if math.log2(num_heads).is_integer():
        return of_a_power(num_heads)
    power = 2 ** math.floor(math.log2(num_heads))
    return of_a_power(power) + of_a_power(2 * power)[::2][: num_heads - power]


def alibi(num_heads, n_queries, n_keys, *, slopes=slopes, price=lambda i, j: -abs(i - j)):
    """8.3 number by number, with one part exchanged."""
    places = range(n_keys - n_queries, n_keys)
    return torch.tensor([[[m * price(i, j) for j in range(n_keys)] for i in places] for m in slopes(num_heads)])


def alibi_roll(num_heads, n_queries, n_keys):
    distance = torch.arange(n_keys)[None, :] - torch.arange(n_keys - n_queries, n_keys)[:, None]
    return torch.einsum("h,qk->hqk", torch.tensor(slopes(num_heads)), -distance.abs().float())


def judged(x, table, wanted, *, overflow=True):
    """8.4 as a recipe: compare with what is wanted, then try a sentence that is too long."""

    def detects(add_positions):
        if (add_positions(x, table) - wanted).abs().max() > 1e-4:
            return torch.tensor(True)
        if not overflow:
            return False
        try:
            add_positions(torch.zeros(1, len(table) + 1, x.size(-1)), table)
        except Exception:
            return False
        return True

    return detects


TABLE = torch.arange(28.0, dtype=torch.float64).reshape(7, 4).cos()


def detects_row_by_row(add_positions):
    placed = add_positions(torch.zeros(3, 5, 4), TABLE)
    wrong = any(not torch.allclose(placed[b, i], TABLE[i]) for b in range(3) for i in range(5))
    try:
        add_positions(torch.zeros(3, 8, 4), TABLE)
        wrong = True
    except (RuntimeError, IndexError):
        pass
    return wrong


RIGHT += [
    *[("8.1", answer) for answer in (waves, waves_of_complex_numbers, waves_in_halves)],
    *[("8.2", answer) for answer in (rope, rope_complex, rope_matrices)],
    *[("8.3", answer) for answer in (alibi, alibi_roll)],
    *[
        ("8.4", answer)
        for answer in (detects_row_by_row, judged(torch.zeros(2, 4, 4), TABLE, TABLE[:4].expand(2, 4, 4)))
    ],
]


def part(whole, **exchanged):
    """An answer with one part exchanged."""
    return lambda *args: whole(*args, **exchanged)


NEAR_MISSES += [
    ("8.1", lambda n, d: waves(n, d, base=2000)),
    ("8.1", lambda n, d: waves(n, d) * 0.99),
    ("8.2", lambda x, start=0: rope(x, start) * 1.01),
    ("8.2", lambda x, start=0: rope(x, 2 * start)),
    ("8.3", lambda h, q, k: alibi(h, q, k, price=lambda i, j: -((i - j) ** 2))),
    ("8.3", lambda h, q, k: alibi(h, q, k, slopes=lambda h: [0.5] * h)),
]


def shared_by_einsum(q, k, v, g):
    """7.5 as one product for each gradient."""
    weights = torch.softmax(torch.einsum("hid,jd->hij", q, k) / math.sqrt(k.size(1)), dim=-1)
    back = torch.einsum("hie,je->hij", g, v)
    back = weights * (back - (weights * back).sum(-1, keepdim=True)) / math.sqrt(k.size(1))
    return back @ k, torch.einsum("hij,hid->jd", back, q), torch.einsum("hij,hie->je", weights, g)


def shared_head_by_head(q, k, v, g, *, own=lambda one: one):
    """7.5 in a loop that adds up."""
    rows, to_key, to_value = [], torch.zeros_like(k), torch.zeros_like(v)
    for query, came_back in zip(q, g, strict=True):
        to_query, dk, dv = (own(one) for one in shared_by_einsum(query[None], k, v, came_back[None]))
        rows.append(to_query[0])
        to_key, to_value = to_key + dk, to_value + dv
    return torch.stack(rows), to_key, to_value


def arrow(steps, head_dim, *, way=-1, length=20.0, exponent=2):
    """8.5 as complex numbers, one for each pair."""
    paces = 10000.0 ** (-exponent * torch.arange(head_dim // 2) / head_dim)
    return length * torch.view_as_real(torch.polar(torch.ones(head_dim // 2), way * steps * paces)).reshape(head_dim)


def arrow_by_rope(steps, head_dim):
    """8.5 with the second of each pair turned over, as a list."""
    ahead = arrow(steps, head_dim, way=1)
    return (torch.tensor([1.0, -1.0]).repeat(head_dim // 2) * ahead).tolist()


RIGHT += [
    *[("7.5", answer) for answer in (shared_by_einsum, shared_head_by_head)],
    *[("8.5", answer) for answer in (arrow, arrow_by_rope, lambda steps, d: arrow(steps, d, length=0.1).reshape(1, d))],
]


NEAR_MISSES += [
    ("7.5", lambda q, k, v, g: [2 * x for x in shared_by_einsum(q, k, v, g)]),
    ("8.5", lambda steps, d: arrow(steps, d, exponent=1)),
    ("8.5", lambda steps, d: arrow(steps + 20, d)),
]


# ----------------------------------------------------------------------------------------------------- notebook 10


def with_memory(query, key, value, keys, values, *, hears=lambda i, j, kept: j <= kept + i):
    """10.1 token by token: new token i hears some of all keys j."""
    kept, n = keys.size(-2), query.size(-2)

    def turned(x, i):
        return attn_lib.rotary(x[..., i : i + 1, :], kept + i)

    keys = torch.cat([keys, *(turned(key, i) for i in range(n))], dim=-2)
    values = torch.cat([values, value], dim=-2)
    outputs = []
    for i in range(n):
        heard = [j for j in range(kept + n) if hears(i, j, kept)]
        scores = turned(query, i) @ keys[..., heard, :].transpose(-2, -1)
        outputs.append(torch.softmax(scores / query.size(-1) ** 0.5, dim=-1) @ values[..., heard, :])
    return torch.cat(outputs, dim=-2), keys, values


def memory_by_the_fused_kernel(query, key, value, keys, values):
    seen = keys.shape[2]
    keys, values = torch.cat((keys, attn_lib.rotary(key, seen)), 2), torch.cat((values, value), 2)
    mask = torch.arange(keys.size(2)) <= torch.arange(seen, keys.size(2))[:, None]
    output = F.scaled_dot_product_attention(attn_lib.rotary(query, seen), keys, values, mask)
    return output, keys, values


def memory_turned_by_matrices(query, key, value, keys, values):
    n = keys.size(-2)
    keys, values = torch.cat([keys, rope(key, n)], dim=-2), torch.cat([values, value], dim=-2)
    scores = torch.einsum("bhqd,bhkd->bhqk", rope(query, n), keys) / math.sqrt(query.size(-1))
    hidden = torch.ones(scores.shape[-2:]).triu(n + 1) > 0
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ values, keys, values


def shared_by_view(x, groups):
    batch, heads, n, head_dim = x.shape
    return x[:, :, None].expand(batch, heads, groups, n, head_dim).reshape(batch, heads * groups, n, head_dim)


def shared_by_index(x, groups):
    return x[:, torch.arange(x.size(1) * groups) // groups]


def shared_by_list(x, groups):
    return torch.stack([head for head in x.unbind(1) for _ in range(groups)], dim=1)


def window_loop(n_queries, n_keys, window):
    places = range(n_keys - n_queries, n_keys)
    return torch.tensor([[0 <= i - j < window for j in range(n_keys)] for i in places])


def window_by_distance(n_queries, n_keys, window):
    distance = torch.arange(n_keys - n_queries, n_keys)[:, None] - torch.arange(n_keys)
    return (distance >= 0) & (distance < window)


def bytes_added_up(layers, embed_dim, heads, kv_heads, tokens, bits):
    kinds = ("key", "value")
    return sum(tokens * embed_dim // heads * bits / 8 for _ in range(layers) for _ in kinds for _ in range(kv_heads))


def accepted_one_by_one(draft, said, keys, values, *, own=True):
    written = []
    for proposed, due in zip(draft.tolist(), said.tolist(), strict=False):
        if proposed != due:
            break
        written.append(proposed)
    gone = len(draft) - len(written)
    kept = [x[:, :, : x.size(2) - gone] for x in (keys, values)]
    return [*written, said[len(written)].item()] if own else written, *kept


def accepted_by_where(draft, said, keys, values):
    differs = torch.cat([draft != said[:-1], torch.tensor([True])])
    first = differs.nonzero()[0, 0].item()
    left = keys.shape[2] - draft.numel() + first
    return torch.where(differs.cumsum(0) > 0, said, said.new_tensor([*draft, 0]))[: first + 1], *(
        x.narrow(2, 0, left) for x in (keys, values)
    )


RIGHT += [
    *[("10.1", answer) for answer in (with_memory, memory_by_the_fused_kernel, memory_turned_by_matrices)],
    *[("10.2", answer) for answer in (shared_by_view, shared_by_index, shared_by_list)],
    *[("10.3", answer) for answer in (window_loop, window_by_distance)],
    ("10.4", bytes_added_up),
    ("10.4", lambda n, e, h, kv, t, bits: torch.tensor(2 * n * (e // h) * kv * t * bits // 8)),
    *[("10.5", answer) for answer in (accepted_one_by_one, accepted_by_where)],
]


NEAR_MISSES += [
    ("10.1", lambda q, k, v, keys, values: (2 * with_memory(q, k, v, keys, values)[0], keys, values)),
    ("10.1", part(with_memory, hears=lambda i, j, kept: j in (0, kept + i))),
    ("10.2", lambda x, groups: shared_by_list(x, groups).flip(1)),
    ("10.3", lambda n_queries, n_keys, window: window_by_distance(n_queries, n_keys, window + 2)),
    ("10.4", lambda n, e, h, kv, t, bits: 3 * bytes_added_up(n, e, h, kv, t, bits)),
    ("10.5", lambda draft, said, keys, values: (said.flip(0), keys, values)),
]

# ----------------------------------------------------------------------------------------------------- notebook 11


def norm_by_token(x, weight, bias, *, less=0):
    """11.1 a token at a time, in plain Python but for the last line."""
    rows = []
    for row in x.reshape(-1, x.size(-1)).unbind():
        mean = sum(row.unbind()) / len(row)
        variance = sum((feature - mean) ** 2 for feature in row.unbind()) / (len(row) - less)
        rows.append((row - mean) * (variance + 1e-5) ** -0.5)
    return torch.stack(rows).reshape(x.shape) * weight + bias


def norm_by_var_mean(x, weight, bias):
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + 1e-5), weight)


def block_in_one_line(x, norm1, attention, norm2, mlp):
    x = x + attention(*[norm1(x)] * 3, is_causal=True, need_weights=False)[0]
    return mlp(norm2(x)).add(x)


def block_token_by_token(x, norm1, attention, norm2, mlp):
    """11.2 with the mask kept by never showing a token who comes later."""
    h = norm1(x)
    heard = [attention(h[:, i : i + 1], h[:, : i + 1], h[:, : i + 1])[0] for i in range(x.size(1))]
    x = torch.cat(heard, dim=1) + x
    return x + mlp(norm2(x))


def loss_by_loop(logits, tokens, lengths, *, first=1):
    costs = []
    for row, said, n in zip(logits, tokens, lengths, strict=True):
        for i in range(first, int(n)):
            costs.append(row[i - 1].logsumexp(dim=0) - row[i - 1, said[i]])
    return sum(costs) / len(costs)


def loss_by_ignoring(logits, tokens, lengths):
    due = tokens.clone()
    due[torch.arange(tokens.size(1)) >= lengths[:, None]] = -100
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), due[:, 1:])


def next_by_sorting(logits, lengths, temperature, top):
    rows = []
    for text, n in zip(logits, lengths.tolist(), strict=True):
        keep = text[n - 1].argsort(descending=True)[:top]
        row = torch.zeros(logits.size(-1), dtype=logits.dtype)
        row[keep] = (text[n - 1, keep] / temperature).softmax(dim=0)
        rows.append(row)
    return torch.stack(rows)


def next_by_gather(logits, lengths, temperature, top):
    """11.4 with the shares struck after softmax, and divided anew."""
    places = (lengths - 1)[:, None, None].expand(-1, 1, logits.size(-1))
    shares = (logits.gather(1, places)[:, 0] / temperature).softmax(dim=-1)
    largest = shares.topk(min(top, shares.size(-1)))
    kept = torch.zeros_like(shares).scatter(-1, largest.indices, largest.values)
    return kept / kept.sum(dim=-1, keepdim=True)


RIGHT += [
    *[("11.1", answer) for answer in (norm_by_token, norm_by_var_mean)],
    *[("11.2", answer) for answer in (block_in_one_line, block_token_by_token)],
    *[("11.3", answer) for answer in (loss_by_loop, loss_by_ignoring)],
    *[("11.4", answer) for answer in (next_by_sorting, next_by_gather)],
]


NEAR_MISSES += [
    ("11.1", lambda x, weight, bias: norm_by_token(x, weight, bias) * 1.1),
    ("11.2", lambda x, *parts: block_in_one_line(x, *parts) + x),
    ("11.3", lambda logits, tokens, lengths: loss_by_loop(logits, tokens, lengths, first=2)),
    ("11.4", lambda logits, lengths, temperature, top: next_by_sorting(logits, lengths, temperature + 0.1, top)),
]

# ------------------------------------------------------------------------------------------------------ notebook 9


def two_after_loop(n, words, *, fetches=lambda i: i - 2, says=lambda w, k: (w, w + k)):
    """9.1 entry by entry, with one part exchanged."""
    size = 2 * words + 1
    P, M, W = torch.zeros(n, n), torch.zeros(size, size), torch.zeros(size, size)
    for i in range(n):
        if 0 <= fetches(i) < n:
            P[i, fetches(i)] = 30.0
    for w in range(1, words + 1):
        M[w + words, w] = W[says(w, words)] = 30.0
    return P, M, W


def two_after_forbidding(n, words):
    """With noes in place of yeses, for start as well, and in another precision."""
    P = (20 * torch.eye(n).roll(-2, dims=1) - 20).double()
    shift = torch.zeros(2 * words + 1, 2 * words + 1).double()
    shift[torch.arange(words) + 1, torch.arange(words) + words + 1] = 1
    return [P, 40 * shift.T - 20, 15 * shift - 20]


def induction_loop(weights, tokens, *, place=lambda j: j + 1):
    """9.2 query by query."""
    rows = []
    for w, t in zip(weights, tokens.tolist(), strict=True):
        for i in range(len(t)):
            seen = [place(j) for j in range(i) if t[j] == t[i]]
            if seen:
                rows.append(sum(w[:, i, j] for j in seen if j < len(t)))
    if not rows:
        raise ValueError("no token stands twice")
    return torch.stack(rows).mean(dim=0)


def induction_einsum(weights, tokens):
    copies = torch.tril(tokens.unsqueeze(2).eq(tokens.unsqueeze(1)), diagonal=-1).to(weights.dtype)
    behind = torch.roll(copies, 1, dims=2)
    asks = behind.amax(dim=2)
    if asks.sum() == 0:
        raise ValueError("nobody has a copy")
    return torch.einsum("bhij,bij->h", weights, behind) / asks.sum()


def induction_in_the_notebooks_precision(weights, tokens):
    """As the lesson writes its tensors: with `double()`, which fits no float32."""
    x = F.one_hot(tokens).double()
    behind = F.pad((x @ x.mT).tril(-1)[..., :-1], (1, 0))
    asks = behind.amax(dim=-1) > 0
    if not asks.any():
        raise ValueError("nobody has a copy")
    return torch.einsum("bhij,bij->bhi", weights, behind).movedim(1, 0)[:, asks].mean(dim=-1)


def without_by_heads(attention, head, x, *, silent=lambda h, head: h == head):
    """9.3 head by head."""
    projections = attention.q_proj, attention.k_proj, attention.v_proj
    q, k, v = (projection(x).chunk(attention.num_heads, dim=-1) for projection in projections)
    parts = []
    for h in range(attention.num_heads):
        weights = torch.softmax(q[h] @ k[h].transpose(1, 2) / math.sqrt(q[h].size(-1)), dim=-1)
        parts.append(weights @ v[h] * (not silent(h, head)))
    return torch.cat(parts, dim=-1) @ attention.out_proj.weight.T + attention.out_proj.bias


def without_by_difference(attention, head, x):
    """What the head adds is what is left without the others; it is taken off the whole."""
    heard = []
    handle = attention.out_proj.register_forward_hook(lambda module, args, output: heard.append(args[0]))
    whole, _ = attention(x, x, x)
    handle.remove()
    width = x.size(-1) // attention.num_heads
    part = slice(head * width, (head + 1) * width)
    return whole - heard[0][..., part] @ attention.out_proj.weight[:, part].T


def without_by_mask(attention, head, x):
    """Features of the heads side by side, switched off one by one."""
    width = x.size(-1) // attention.num_heads
    on = torch.tensor([float(f // width != head) for f in range(x.size(-1))])
    changed = nn.Linear(x.size(-1), x.size(-1))
    changed.weight.data, changed.bias.data = attention.out_proj.weight * on, attention.out_proj.bias
    other = copy.copy(attention)
    other._modules = {**attention._modules, "out_proj": changed}
    return other(x, x, x)[0]


def finds_short_cuts(*roads, lists=500, upside_down=False):
    """9.4 in words: `roads` are the short cuts that are looked for."""

    def detects(task):
        tokens, answers = task(lists)
        rows = list(zip(tokens.tolist(), answers.tolist(), strict=True))
        by_place = any(all(row[place] == answer for row, answer in rows) for place in range(tokens.size(1) - 1))
        known = {}
        by_word = all(known.setdefault(row[-1], answer) == answer for row, answer in rows)
        return any({"place": by_place, "word": by_word}[road] for road in roads) != upside_down

    return detects


RIGHT += [
    *[("9.1", answer) for answer in (two_after_loop, two_after_forbidding)],
    *[("9.2", answer) for answer in (induction_loop, induction_einsum, induction_in_the_notebooks_precision)],
    *[("9.3", answer) for answer in (without_by_heads, without_by_difference, without_by_mask)],
    ("9.4", finds_short_cuts("place", "word")),
]


NEAR_MISSES += [
    ("9.1", part(two_after_loop, fetches=lambda i: i - 3)),
    ("9.1", part(two_after_loop, says=lambda w, k: (w, k + 1 + w % k))),
    ("9.2", lambda weights, tokens: induction_loop(weights, tokens) * 0.99),
    ("9.2", part(induction_loop, place=lambda j: j + 2)),
    ("9.3", lambda attention, head, x: without_by_heads(attention, head, x) * 1.01),
    ("9.3", part(without_by_heads, silent=lambda h, head: True)),
]


def last_place_fetches_nothing(n, words):
    P, M, W = two_after_loop(n, words)
    P[n - 2] = 0
    return P, M, W


def last_place_fetches_its_neighbour(n, words):
    P, M, W = two_after_loop(n, words)
    if n > 5:
        P[n - 2] = P[n - 2].roll(1)
    return P, M, W


def biases_turned(ours, theirs):
    n05_match_pytorch.load_from_torch(ours, theirs)
    with torch.no_grad():
        for name, bias in zip(
            "vkq", theirs.in_proj_bias.chunk(3) if theirs.in_proj_bias is not None else (), strict=False
        ):
            getattr(ours, f"{name}_proj").bias.copy_(bias)


NEAR_MISSES += [
    ("9.1", last_place_fetches_nothing),
    ("9.1", last_place_fetches_its_neighbour),
    ("10.4", lambda n, *rest: bytes_added_up(n, *rest) * (1.5 if n == 32 else 1)),
    ("5.2", biases_turned),
    ("5.1", from_loop(lambda j, n, m: math.inf if j >= n else 0.0, torch.float32, lambda b, m: (b, m))),
]


# ------------------------------------------------------------------------------------------------------- notebook 12


def one_more_by_logs(m, l, o, score, value, *, old=None, new=None, top=max):
    """12.1 with Python's numbers: each as a logarithm of a sum; old and new exchange the two weights."""
    new_m = top(float(m), float(score))
    factor, p = math.exp(float(m) - new_m), math.exp(float(score) - new_m)
    of_l, of_o = old(factor) if old else (factor, factor)
    p_l, p_o = new(p) if new else (p, p)
    o = torch.stack([of_o * a + p_o * b for a, b in zip(o, value, strict=True)])
    return score.new_tensor(new_m), score.new_tensor(of_l * float(l) + p_l), o


def one_more_by_merging(m, l, o, score, value):
    state = attn_lib.merge((m[None, None], l[None, None], o[None]), (score[None, None], torch.ones(1, 1), value[None]))
    return state[0][0, 0], state[1][0, 0], state[2][0]


def both_by_softmax(out_a, lse_a, out_b, lse_b, *, logs=None, shares=None, swap=False):
    """12.2 with both sets side by side: logs brings the lse to others, shares to weights."""
    lses = torch.stack([lse_a, lse_b])  # (2, …)
    lse = lses.logsumexp(dim=0)
    weights = (shares or (lambda lses: torch.softmax(lses, dim=0).nan_to_num(0.0)))(lses)
    outs = torch.stack([out_b, out_a] if swap else [out_a, out_b])
    return torch.einsum("s...,s...d->...d", weights, outs), lse if logs is None else logs(lses)


def both_by_sigmoid(out_a, lse_a, out_b, lse_b):
    share = torch.sigmoid((lse_a - lse_b).nan_to_num(0.0, posinf=math.inf, neginf=-math.inf))[..., None]
    return torch.lerp(out_b, out_a, share), torch.logaddexp(lse_a, lse_b)


def in_base(base):
    return lambda lses: torch.softmax(lses * math.log(base), dim=0)


def query_by_query(
    q, k, v, rows, keys, causal, *, heard=None, scaled=True, score_of=None, tail=None, step=None, end=None
):
    """12.3 with one query at a time, key block by key block; its parts can be exchanged."""
    lead, (n_q, n_k) = q.shape[:-2], (q.size(-2), k.size(-2))
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    answer = v.new_zeros(len(q), n_q, v.size(-1))
    for b in range(len(q)):
        for i in range(n_q):
            m, l, o, first = -math.inf, 0.0, torch.zeros(v.size(-1), dtype=v.dtype), True
            for left in range(0, n_k, keys):
                if end is not None and causal and left >= end(i // rows * rows, n_k - n_q):
                    continue
                for j in range(left, min(left + keys, n_k)):
                    s = float(q[b, i] @ k[b, j]) / (math.sqrt(q.size(-1)) if scaled else 1)
                    if causal and not (j <= i + n_k - n_q if heard is None else heard(i, j, n_k - n_q, rows, keys)):
                        if score_of is None:
                            continue
                        s = score_of
                    m, l, o = (step or add_key)(m, l, o, s, v[b, j], left if first else None)
                    first = False
            for _ in range(tail(n_k, keys, causal) if tail else 0):
                m, l, o = add_key(m, l, o, 0.0, 0 * v[b, 0], None)
            answer[b, i] = o / l if l else o
    return answer.reshape(*lead, n_q, v.size(-1))


def add_key(m, l, o, s, value, _):
    top = max(m, s)
    return top, l * math.exp(m - top) + math.exp(s - top), o * math.exp(m - top) + math.exp(s - top) * value


def tiles_then_merged(q, k, v, rows, keys, causal):
    """12.3 with a part for each tile, merged by their log-sum-exps."""
    offset, outputs = k.size(-2) - q.size(-2), []
    for top in range(0, q.size(-2), rows):
        block = q[..., top : top + rows, :] / math.sqrt(q.size(-1))
        out, lse = block[..., :1] * 0 * v[..., :1, :], torch.full(block.shape[:-1], -math.inf, dtype=q.dtype)
        for left in range(0, k.size(-2), keys):
            s = torch.einsum("...id,...jd->...ij", block, k[..., left : left + keys, :])
            if causal:
                i, j = torch.arange(block.size(-2))[:, None] + top, torch.arange(s.size(-1)) + left
                s = torch.where(j > i + offset, -math.inf, s)
            now = attn_lib.finish(*attn_lib.part(s, v[..., left : left + keys, :]))
            out, lse = attn_lib.merge_outputs(out, lse, *now)
        outputs.append(out)
    return torch.cat(outputs, dim=-2)


def block_by_einsum(q, k, v, out, lse, grad_out, *, weights=None, shared=None, scales=(0.5, 0.5), swap=False):
    """12.4 with einsum; weights(scores, lse) and shared(weights, grad_weights, out, grad_out) can be exchanged."""
    there, back = (q.size(-1) ** -power for power in scales)
    scores = torch.einsum("...id,...jd->...ij", q, k) * there
    w = torch.exp(scores - lse.unsqueeze(-1)) if weights is None else weights(scores, lse)
    grad_w = torch.einsum("...id,...jd->...ij", grad_out, v)
    taken = torch.einsum("...id,...id->...i", out, grad_out)[..., None]
    taken = taken if shared is None else shared(w, grad_w, taken)
    grad_s = (w * grad_w - w * taken) * back
    of_q, of_k = torch.einsum("...ij,...jd->...id", grad_s, k), torch.einsum("...ij,...id->...jd", grad_s, q)
    of_v = torch.einsum("...ij,...id->...jd", w, grad_out)
    return (of_k, of_q, of_v) if swap else (of_q, of_k, of_v)


def block_query_by_query(q, k, v, out, lse, grad_out):
    """12.4 by autograd of a sum whose gradient it is, block and rest of the row apart."""
    grad_q, grad_k, grad_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for j in range(k.size(-2)):
        key, value = k[..., j, :], v[..., j, :]
        weight = ((q * key[..., None, :]).sum(-1) / math.sqrt(q.size(-1)) - lse).exp()
        change = weight * ((grad_out * (value[..., None, :] - out)).sum(-1)) / math.sqrt(q.size(-1))
        grad_q = grad_q + change[..., None] * key[..., None, :]
        grad_k[..., j, :] = (change[..., None] * q).sum(-2)
        grad_v[..., j, :] = (weight[..., None] * grad_out).sum(-2)
    return grad_q, grad_k, grad_v


RIGHT += [
    ("12.1", one_more_by_logs),
    ("12.1", one_more_by_merging),
    ("12.2", both_by_softmax),
    ("12.2", both_by_sigmoid),
    ("12.3", query_by_query),
    ("12.3", tiles_then_merged),
    ("12.4", block_by_einsum),
    ("12.4", block_query_by_query),
]


NEAR_MISSES += [
    ("12.1", part(one_more_by_logs, old=lambda c: (c, c * c))),
    ("12.2", part(both_by_softmax, shares=in_base(3))),
    ("12.3", part(query_by_query, heard=lambda i, j, o, *_: j <= i + o and j != 1)),
    ("12.4", part(block_by_einsum, scales=(0.5, 0.25))),
]


# ------------------------------------------------------------------- as public code has them, in a learner's own words


def one_more_in_floats(m, l, o, score, value):
    """12.1 with Python's own numbers."""
    m, score = float(m), float(score)
    top = max(m, score)
    old, new = math.exp(m - top), math.exp(score - top)
    return top, float(l) * old + new, o * old + value * new


def accepted_as(kind):
    """10.5 with the tokens in another container."""

    def answer(draft, said, keys, values):
        tokens, *kept = accepted_one_by_one(draft, said, keys, values)
        return kind(tokens), *kept

    return answer


def in_tiles_with_one_mask(q, k, v, rows, keys, causal):
    """12.3 with one bool mask that is cut, and tiles of scores that are not larger than they may be."""
    n_q, n_k = q.size(-2), k.size(-2)
    mask = torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q if causal else n_k)
    blocks = []
    for i in range(0, n_q, rows):
        state = None
        for j in range(0, n_k, keys):
            scores = q[..., i : i + rows, :] @ k[..., j : j + keys, :].mT / math.sqrt(q.size(-1))
            tile = scores.masked_fill(~mask[i : i + rows, j : j + keys], -math.inf)
            here = attn_lib.part(tile, v[..., j : j + keys, :])
            state = here if state is None else attn_lib.merge(state, here)
        blocks.append(attn_lib.finish(*state)[0])
    return torch.cat(blocks, dim=-2)


RIGHT += [
    ("12.1", one_more_in_floats),
    ("12.3", in_tiles_with_one_mask),
    *[
        ("10.5", accepted_as(kind))
        for kind in (tuple, np.array, torch.tensor, lambda tokens: [*map(torch.tensor, tokens)])
    ],
]


def passed_round_a_ring(out_a, lse_a, out_b, lse_b):
    gate = torch.sigmoid(lse_b - lse_a).unsqueeze(-1)
    return out_a - gate * (out_a - out_b), lse_a - F.logsigmoid(lse_a - lse_b)


def norm_with(eps, inside=True):
    def norm(x, weight, bias):
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return weight * (x - mean) / ((variance + eps) ** 0.5 if inside else variance**0.5 + eps) + bias

    return norm


def annotated_norm(x, weight, bias, eps=1e-6):
    return weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


def way_back_with(*, delta=None, of_v=None, of_q=None, of_k=None):
    """12.4 line by line, with one of them written otherwise."""

    def answer(q, k, v, out, lse, do):
        scale = q.shape[-1] ** -0.5
        p = torch.exp(q @ k.transpose(-2, -1) * scale - lse.unsqueeze(-1))
        taken = (do * out).sum(-1, keepdim=True) if delta is None else delta(out, do)
        ds = p * (do @ v.transpose(-2, -1) - taken) * scale
        return (
            ds @ k if of_q is None else of_q(ds, q),
            ds.transpose(-2, -1) @ q if of_k is None else of_k(ds, q),
            p.transpose(-2, -1) @ do if of_v is None else of_v(p, do),
        )

    return answer


def cache_with_a_flag(query, key, value, keys, values):
    start = keys.size(2)
    keys = torch.cat([keys, attn_lib.rotary(key, start)], dim=2)
    values = torch.cat([values, value], dim=2)
    query = attn_lib.rotary(query, start)
    return F.scaled_dot_product_attention(query, keys, values, is_causal=query.size(2) > 1), keys, values


def cut_by_the_first_axes(draft, said, keys, values):
    tokens, *kept = accepted_one_by_one(draft, said, keys, values)
    n = kept[0].size(2)
    return torch.tensor(tokens), keys[:, :n], values[:, :n]


def accepted_by_a_loop_without_end(draft, said, keys, values):
    n = 0
    while draft[n] == said[n]:
        n += 1
    left = keys.size(2) - len(draft) + n
    return torch.cat([draft[:n], said[n : n + 1]]), keys[:, :, :left], values[:, :, :left]


def waves_as_first_published(n, d):
    pace = torch.exp(torch.arange(d // 2, dtype=torch.float64) * -(math.log(10000.0) / (d // 2 - 1 or 1)))
    angle = torch.arange(n, dtype=torch.float64)[:, None] * pace
    return torch.cat([angle.sin(), angle.cos()], dim=1)


MISCONCEPTIONS = [
    ("8.1", "spread-to-the-end", waves_as_first_published),
    ("10.1", "causal-flag", cache_with_a_flag),
    ("10.1", "own-key-hidden", part(with_memory, hears=lambda i, j, kept: j < max(1, kept + i))),
    ("10.5", "another-axis-cut", cut_by_the_first_axes),
    ("10.5", "error-where-all-is-right", accepted_by_a_loop_without_end),
    ("11.1", "epsilon-of-another-size", norm_with(1e-6)),
    ("11.1", "epsilon-against-zero-only", norm_with(1e-12)),
    ("11.1", "no-epsilon", norm_with(0.0)),
    ("11.1", "one-less", annotated_norm),
    ("11.2", "weights-added-too", lambda x, norm1, attention, norm2, mlp: mlp(x + attention(*[norm1(x)] * 3))),
    ("11.4", "temperature-twice", lambda logits, n, t, top: next_by_sorting(logits / t, n, t, top)),
    ("12.2", "first-set-silent", passed_round_a_ring),
    ("12.3", "own-key-hidden", part(query_by_query, heard=lambda i, j, o, *_: j < i + o)),
    ("12.4", "shared-as-a-row", way_back_with(delta=lambda out, do: (do * out).sum(-1))),
    ("12.4", "shared-over-queries", way_back_with(delta=lambda out, do: (do * out).sum(-2, keepdim=True))),
    ("12.4", "shared-of-all-pairs", way_back_with(delta=lambda out, do: do @ out.mT)),
    ("12.4", "weights-not-transposed", way_back_with(of_v=lambda p, do: p @ do)),
    ("12.4", "not-transposed", way_back_with(of_k=lambda ds, q: ds @ q)),
    ("12.4", "query-and-key-exchanged", way_back_with(of_q=lambda ds, q: ds @ q)),
]


# -------------------------------------------------------------------------------- as people outside have written it


def attention_with(scores_of):
    """2.2 with scores of one's own."""

    def answer(q, k, v):
        weights = torch.softmax(scores_of(q, k), dim=-1)
        return torch.matmul(weights, v), weights

    return answer


def heads_with(mask_of):
    """4.3 in the words of most tutorials, with a mask of one's own."""

    def answer(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        batch, n, _ = x.shape
        query, key, value = (x.matmul(w).view(batch, n, num_heads, -1).transpose(1, 2) for w in (w_q, w_k, w_v))
        mask = mask_of(mask, n)
        hidden = torch.logical_not(mask if mask.ndim == 2 else mask.unsqueeze(1))
        scores = torch.where(hidden, -1e9, query.matmul(key.mT) / math.sqrt(query.size(-1)))
        weights = torch.where(hidden, 0.0, F.softmax(scores, dim=-1))
        return weights.matmul(value).transpose(1, 2).flatten(2).matmul(w_o)

    return answer


def causal(n):
    return torch.arange(n)[:, None] >= torch.arange(n)


MISCONCEPTIONS += [
    ("1.2", "keys-not-transposed", lambda x, a, b, c: F.softmax(torch.mm(x @ a, x @ b), -1).mm(x @ c)),
    (
        "1.2",
        "future-masked",
        lambda x, a, b, c: F.scaled_dot_product_attention(x @ a, x @ b, x @ c, causal(len(x)), scale=1.0),
    ),
    ("2.1", "maxima-without-their-axis", lambda s: (e := (s - s.max(-1)[0]).exp()) / e.sum(-1, True)),
    ("2.1", "maxima-of-columns", lambda s: (e := (s - s.max(0).values).exp()).div(e.sum(-1).unsqueeze(-1))),
    ("2.1", "other-base", lambda s: (e := torch.pow(2.718, s - s.amax(-1, True))) / e.sum(-1, True)),
    ("2.2", "keys-not-transposed", attention_with(lambda q, k: torch.matmul(q / q.size(-1) ** 0.5, k))),
    ("2.2", "all-axes", attention_with(lambda q, k: torch.matmul(q / q.size(-1) ** 0.5, k.T))),
    ("2.2", "fixed-number", attention_with(lambda q, k: torch.einsum("...id,...jd->...ij", q, k) * 0.125)),
    (
        "3.1",
        "as-long-as-the-longest",
        lambda lengths, _: torch.arange(max(lengths)).expand(len(lengths), 1, -1) < lengths.view(-1, 1, 1),
    ),
    ("3.2", "additive", lambda n, k: torch.full((1, 1, n, k), torch.finfo(torch.float32).min).triu(1)),
    (
        "3.3",
        "rows-are-nan",
        lambda scores, mask: F.softmax((1.0 - mask.float()).mul(-math.inf).add(scores), -1),
    ),
    ("3.3", "renormalised", lambda s, m: (e := s.exp().where(m, 0.0)) / (e.sum(-1, True) + 1e-9)),
    (
        "4.3",
        "future-masked-always",
        heads_with(lambda mask, n: causal(n) if mask is None else causal(n) & mask),
    ),
    ("5.1", "sideways", lambda lengths, m: torch.arange(m)[:, None] >= lengths),
    ("5.2", "not-cut", lambda ours, theirs: ours.q_proj.weight.data.copy_(theirs.in_proj_weight)),
    ("5.2", "biases-expected", lambda ours, theirs: copies_all(ours, theirs, len(theirs.in_proj_bias))),
    ("5.2", "same-names-only", lambda ours, theirs: ours.out_proj.load_state_dict(theirs.out_proj.state_dict())),
]


def copies_all(ours, theirs, _):
    n05_match_pytorch.load_from_torch(ours, theirs)


def left_out_as_numbers(x, w_q, w_k, w_v, j):
    rest = [i for i in range(len(x)) if i != j]
    with_j, without_j = self_attention_loop(x, w_q, w_k, w_v)[rest], self_attention_loop(x[rest], w_q, w_k, w_v)
    return [math.dist(*pair) for pair in zip(with_j.tolist(), without_j.tolist(), strict=True)]


def pruned_by_chunks(w_q, w_k, w_v, w_o, num_heads, keep):
    columns = [torch.cat([w.chunk(num_heads, dim=1)[head] for head in keep], dim=1) for w in (w_q, w_k, w_v)]
    return [*columns, torch.cat([w_o.chunk(num_heads)[head] for head in keep])]


def attn_mask_by_index(mask, num_heads):
    places = [(b, h) for b in range(len(mask)) for h in range(num_heads)]
    return torch.stack([torch.logical_not(mask[b] if mask.ndim == 3 else mask[b, h]) for b, h in places])


RIGHT += [
    ("1.3", left_out_as_numbers),
    ("1.3", lambda *args: torch.tensor(left_out_as_numbers(*args))),
    ("4.4", pruned_by_chunks),
    ("5.3", attn_mask_by_index),
]

NEAR_MISSES += [  # that raise in the words of a misconception, or come to numbers of one in some calls
    ("2.2", attention_with(lambda q, k: q @ k.flip(-1).transpose(0, 1))),
    ("2.2", attention_with(lambda q, k: q.mT @ k)),
    ("4.2", lambda x: x.transpose(2, 3).view(x.size(0), x.size(2), -1)),
    ("5.2", lambda ours, theirs: ours.k_proj.weight.data.copy_(theirs.in_proj_weight.chunk(2)[0])),
]


class AttentionByEinsum(nn.Module):
    """4.5 with heads as an axis of their own from the start; each part can be exchanged."""

    def __init__(self, embed_dim, num_heads):
        assert embed_dim % num_heads == 0
        super().__init__()
        self.heads = num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            self.add_module(name, self.layer(embed_dim))

    def layer(self, embed_dim):
        return nn.Linear(embed_dim, embed_dim)

    def cut(self, x):
        return x.unflatten(-1, (self.heads, -1))

    def forward(self, query, key, value, mask=None):
        q, k, v = self.cut(self.q_proj(query)), self.cut(self.k_proj(key)), self.cut(self.v_proj(value))
        scores = torch.einsum("bihe,bjhe->bhij", q, k) / self.divisor(q.size(-1))
        if mask is None:
            mask = torch.ones(query.size(1), key.size(1), dtype=torch.bool)
        weights = masked_softmax_where(scores, mask if mask.ndim == 2 else mask.unsqueeze(1))
        return self.joined(torch.einsum("bhij,bjhe->bihe", weights, v).flatten(2)), self.returned(weights)

    def divisor(self, head_dim):
        return head_dim**0.5

    def joined(self, heads):
        return self.out_proj(heads)

    def returned(self, weights):
        return weights


def with_parts(**parts):
    return type("AttentionByEinsum", (AttentionByEinsum,), parts)


class AttentionOfPlainLists(AttentionByEinsum):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        del self.q_proj
        self.q_proj = [nn.Linear(embed_dim, embed_dim // num_heads) for _ in range(num_heads)]


class AttentionWithoutSuper(nn.Module):
    def __init__(self, embed_dim, num_heads):
        self.out_proj = nn.Linear(embed_dim, embed_dim)


class AttentionUnderOtherNames(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(embed_dim, embed_dim) for _ in range(4))


RIGHT += [("4.5", AttentionByEinsum)]
MISCONCEPTIONS += [
    ("4.5", "scale-d-model", with_parts(divisor=lambda self, head_dim: (head_dim * self.heads) ** 0.5)),
    ("4.5", "no-output-projection", with_parts(joined=lambda self, heads: heads)),
    ("4.5", "weights-averaged", with_parts(returned=lambda self, weights: weights.mean(1))),
    ("4.5", "interleaved", with_parts(cut=lambda self, x: x.unflatten(-1, (-1, self.heads)).mT)),
    ("4.5", "no-biases", with_parts(layer=lambda self, width: nn.Linear(width, width, bias=False))),
    ("4.5", "other-size", with_parts(layer=lambda self, width: nn.Linear(width, width // self.heads))),
    (
        "4.5",
        "one-projection-for-several",
        with_parts(layer=lambda self, width: vars(self).setdefault("made", nn.Linear(width, width))),
    ),
    ("4.5", "not-registered", AttentionOfPlainLists),
    ("4.5", "super-forgotten", AttentionWithoutSuper),
]
NEAR_MISSES += [("4.5", AttentionUnderOtherNames)]


# ---------------------------------------------------------------------------------------------------------- notebook 13


def block_attention_fused(x, norm, w_q, w_k, w_v, w_o, heads, kv_heads, base):
    """13.1 with complex numbers for the turn, and PyTorch's own norm and attention."""
    h = F.rms_norm(x, x.shape[-1:], norm, eps=1e-5)
    q, k, v = (
        F.linear(h, w).unflatten(-1, (count, -1)).transpose(1, 2)
        for w, count in ((w_q, heads), (w_k, kv_heads), (w_v, kv_heads))
    )
    q, k = (turned_by_complex(part, base) for part in (q, k))
    k, v = (part.repeat_interleave(heads // kv_heads, dim=1) for part in (k, v))
    heard = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F.linear(heard.transpose(1, 2).flatten(2), w_o) + x


def turned_by_complex(x, base):
    half = x.size(-1) // 2
    angles = torch.arange(x.size(-2))[:, None] * base ** (-torch.arange(half) / half)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (half, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles).double(), angles.double())).flatten(-2)


def block_attention_by_heads(x, norm, w_q, w_k, w_v, w_o, heads, kv_heads, base):
    """13.1 head by head."""
    h = norm * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
    n, d = x.size(1), w_q.size(0) // heads
    out = x.clone()
    for head in range(heads):
        own, stored = slice(head * d, (head + 1) * d), head // (heads // kv_heads)
        kept = slice(stored * d, (stored + 1) * d)
        q, k = (attn_lib.rotary(h @ w.T, base=base) for w in (w_q[own], w_k[kept]))
        scores = (q @ k.mT / math.sqrt(d)).masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
        out = out + scores.softmax(-1) @ (h @ w_v[kept].T) @ w_o[:, own].T
    return out


def rows_in_a_loop(weight, heads):
    size = len(weight) // heads
    order = [h * size + part * (size // 2) + i for h in range(heads) for i in range(size // 2) for part in (0, 1)]
    return weight[order]


def rows_stacked(weight, heads):
    low, high = weight.unflatten(0, (heads, -1)).chunk(2, dim=1)
    return torch.stack([low, high], dim=2).flatten(0, 2)


def four_bits_in_a_loop(q, d, m):
    rows = [[b % 16 for b in block] + [b // 16 for b in block] for block in q.tolist()]
    return torch.tensor(rows) * d.unsqueeze(1) + m.unsqueeze(1)


def four_bits_by_numpy(q, d, m):
    q = q.numpy().astype(np.int64)
    made = np.concatenate([q & 0xF, q >> 4], axis=-1) * d.numpy()[:, None] + m.numpy()[:, None]
    return torch.from_numpy(made)


def part_as_a_float(whole, other, exchanged, words):
    a, b = words
    gaps = [(logits[a] - logits[b]).item() for logits in (whole, other, exchanged)]
    return (gaps[2] - gaps[0]) / (gaps[1] - gaps[0])


def part_of_log_shares(whole, other, exchanged, words):
    one, two, three = (
        logits.log_softmax(-1)[list(words)] @ torch.tensor([1.0, -1.0]) for logits in (whole, other, exchanged)
    )
    return 1 - (three - two) / (one - two)


RIGHT += [
    *(("13.1", f) for f in (block_attention_fused, block_attention_by_heads)),
    *(("13.2", f) for f in (rows_in_a_loop, rows_stacked)),
    *(("13.3", f) for f in (four_bits_in_a_loop, four_bits_by_numpy)),
    *(("13.4", f) for f in (part_as_a_float, part_of_log_shares)),
]
MISCONCEPTIONS += [
    (
        "13.1",
        "epsilon-of-another-size",
        lambda x, norm, *rest: own_norm_first(F.rms_norm(x, x.shape[-1:], norm), x, *rest),
    ),
    ("13.2", "back", lambda w, heads: torch.cat([part[i::2] for part in w.chunk(heads) for i in (0, 1)])),
    ("13.3", "pairs", lambda q, d, m: torch.stack([q % 16, q // 16], 2).reshape(len(q), 32) * d[:, None] + m[:, None]),
    (
        "13.4",
        "shares",
        lambda a, b, c, words: (
            (of_softmax(a, words) - of_softmax(c, words)) / (of_softmax(a, words) - of_softmax(b, words))
        ),
    ),
]
NEAR_MISSES += [("13.1", lambda x, norm, *rest: block_attention_fused(x, norm, *rest) * 2)]


def own_norm_first(h, x, w_q, w_k, w_v, w_o, heads, kv_heads, base):
    q = attn_lib.rotary((h @ w_q.T).unflatten(-1, (heads, -1)).transpose(1, 2), base=base)
    k = attn_lib.rotary((h @ w_k.T).unflatten(-1, (kv_heads, -1)).transpose(1, 2), base=base)
    v = (h @ w_v.T).unflatten(-1, (kv_heads, -1)).transpose(1, 2)
    k, v = (part.repeat_interleave(heads // kv_heads, dim=1) for part in (k, v))
    return x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2) @ w_o.T


def of_softmax(logits, words):
    shares = logits.exp() / logits.exp().sum()
    return shares[words[0]] - shares[words[1]]
