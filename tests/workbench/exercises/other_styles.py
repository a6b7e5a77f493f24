"""Answers as people write them: right in other styles, known mistakes with other numbers, mistakes nobody foresaw.

A verdict hangs on what an answer comes to. So there is one of a kind: another precision or container or layout, an
operation near one that is ruled out, other numbers than those by which a misconception is known.
"""

import copy
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import attn_lib
from workbench.exercises.lessons import n05_match_pytorch

# ------------------------------------------------------------------------------------------------------ lessons 1 to 5


def self_attention_double(x, w_q, w_k, w_v):
    x, w_q, w_k, w_v = (t.double() for t in (x, w_q, w_k, w_v))
    return F.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, scale=1.0)


def left_out_as_numbers(x, w_q, w_k, w_v, j):
    rest = [i for i in range(len(x)) if i != j]
    with_j, without_j = self_attention_double(x, w_q, w_k, w_v)[rest], self_attention_double(x[rest], w_q, w_k, w_v)
    return [math.dist(*pair) for pair in zip(with_j.tolist(), without_j.tolist(), strict=True)]


def softmax_in_place(scores):
    exps = scores.clone()
    exps -= exps.max(dim=-1, keepdim=True).values
    exps = exps.exp_()
    return exps / exps.sum(-1)[..., None]


def attention_einsum(q, k, v):
    weights = torch.einsum("...id,...jd->...ij", q, k).div(k.shape[-1] ** 0.5).softmax(-1)
    return [torch.einsum("...ij,...jd->...id", weights, v), weights]


def cosine_normalized(q, k, v, temperature):
    weights = torch.einsum("...id,...jd->...ij", F.normalize(q, dim=-1), F.normalize(k, dim=-1) / temperature).softmax(
        -1
    )
    return torch.einsum("...ij,...jd->...id", weights, v), weights


def padding_mask_numbers(lengths, max_len):
    return torch.ones(len(lengths), 1, max_len).cumsum(-1) <= lengths.view(-1, 1, 1)


def causal_mask_positions(n_queries, n_keys):
    queries = torch.arange(n_keys - n_queries, n_keys).unsqueeze(1)
    return torch.arange(n_keys) <= queries


def packed_mask_positions(documents):
    """3.4 by where each text begins."""
    begins = (documents[:, :, None] == documents[:, None, :]).int().argmax(dim=-1)  # of the text of each query
    places = torch.arange(documents.size(1))
    return (places >= begins[:, :, None]) & (places <= places[:, None])


def masked_softmax_large(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask


def masked_softmax_where(scores, mask):
    alive = mask.any(-1, keepdim=True)
    safe = torch.where(mask, scores, torch.where(alive, -torch.inf, 0.0))
    return torch.where(alive, safe.softmax(-1), torch.zeros(()))


def split_heads_chunks(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError("no")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads_einsum(x):
    return torch.einsum("bhnd->bnhd", x).flatten(2)


def multi_head_einsum(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    x, w_q, w_k, w_v, w_o = (t.double() for t in (x, w_q, w_k, w_v, w_o))
    q, k, v = (torch.einsum("bnd,dhe->bhne", x, w.unflatten(1, (num_heads, -1))) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bhie,bhje->bhij", q, k) / q.size(-1) ** 0.5
    if mask is None:
        mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool)
    weights = masked_softmax_where(scores, mask if mask.ndim == 2 else mask[:, None])
    return torch.einsum("bhij,bhje,hef->bif", weights, v, w_o.unflatten(0, (num_heads, -1)))


def pruned_by_chunks(w_q, w_k, w_v, w_o, num_heads, keep):
    columns = [torch.cat([w.chunk(num_heads, dim=1)[head] for head in keep], dim=1) for w in (w_q, w_k, w_v)]
    return [*columns, torch.cat([w_o.chunk(num_heads)[head] for head in keep])]


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


class AttentionUnderOtherNames(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(embed_dim, embed_dim) for _ in range(4))


def key_padding_compare(lengths, max_len):
    return torch.arange(max_len).expand(len(lengths), -1) >= lengths.unsqueeze(1)


def key_padding_additive(lengths, max_len):
    return torch.zeros(len(lengths), max_len).masked_fill(key_padding_compare(lengths, max_len), -math.inf)


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


def biases_turned(ours, theirs):
    n05_match_pytorch.load_from_torch(ours, theirs)
    with torch.no_grad():
        for name, bias in zip(
            "vkq", theirs.in_proj_bias.chunk(3) if theirs.in_proj_bias is not None else (), strict=False
        ):
            getattr(ours, f"{name}_proj").bias.copy_(bias)


def last_bias_expected(ours, theirs):
    n05_match_pytorch.load_from_torch(ours, theirs)
    ours.out_proj.bias.data.copy_(theirs.out_proj.bias)


def misspelt_where_no_bias_is(ours, theirs):
    n05_match_pytorch.load_from_torch(ours, theirs)
    if theirs.in_proj_bias is None:
        ours.out_prj.bias = None


def attn_mask_by_index(mask, num_heads):
    places = [(b, h) for b in range(len(mask)) for h in range(num_heads)]
    return torch.stack([torch.logical_not(mask[b] if mask.ndim == 3 else mask[b, h]) for b, h in places])


# ----------------------------------------------------------------------------------------------------- lessons 7 and 8


def softmax_back_jacobian(weights, grad_weights):
    jacobian = torch.diag_embed(weights) - torch.einsum("...i,...j->...ij", weights, weights)
    return torch.einsum("...ij,...j->...i", jacobian, grad_weights)


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


def back_inputs(*sizes):
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(size, generator=generator) for size in sizes]


def detects_by_einsum(backward, gradients=(0, 1, 2)):
    """7.4 by einsum, at some of the three gradients."""
    *inputs, came_back = back_inputs((2, 3, 4), (2, 5, 4), (2, 5, 4), (2, 3, 4))
    made, truth = backward(*inputs, came_back), attention_back_by_outputs(*inputs, came_back)
    return any((made[i] - truth[i]).abs().max() > 1e-4 for i in gradients)


def shared_by_einsum(q, k, v, g):
    """7.5 as one product for each gradient."""
    weights = torch.softmax(torch.einsum("hid,jd->hij", q, k) / math.sqrt(k.size(1)), dim=-1)
    back = torch.einsum("hie,je->hij", g, v)
    back = weights * (back - (weights * back).sum(-1, keepdim=True)) / math.sqrt(k.size(1))
    return back @ k, torch.einsum("hij,hid->jd", back, q), torch.einsum("hij,hie->je", weights, g)


def waves(n, d, *, base=10000):
    """8.1 number by number: feature j of position p."""
    rows = [[(math.cos if j % 2 else math.sin)(p * base ** -((j - j % 2) / d)) for j in range(d)] for p in range(n)]
    return torch.tensor(rows)


def waves_in_halves(n, embed_dim):
    angles = torch.outer(torch.arange(n).float(), 10000.0 ** (-torch.arange(0, embed_dim, 2) / embed_dim))
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def rope_complex(x, start=0):
    n, d = x.shape[-2:]
    angles = torch.outer(torch.arange(start, start + n), 10000.0 ** (-torch.arange(0, d, 2) / d))
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


def slopes(num_heads):
    def of_a_power(n):
        return [2 ** (-8 * (i + 1) / n) for i in range(n)]

    if math.log2(num_heads).is_integer():
        return of_a_power(num_heads)
    power = 2 ** math.floor(math.log2(num_heads))
    return of_a_power(power) + of_a_power(2 * power)[::2][: num_heads - power]


def alibi_roll(num_heads, n_queries, n_keys):
    distance = torch.arange(n_keys)[None, :] - torch.arange(n_keys - n_queries, n_keys)[:, None]
    return torch.einsum("h,qk->hqk", torch.tensor(slopes(num_heads)), -distance.abs().float())


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


def arrow(steps, head_dim, *, way=-1, length=20.0):
    """8.5 as complex numbers, one for each pair."""
    paces = 10000.0 ** (-2 * torch.arange(head_dim // 2) / head_dim)
    return length * torch.view_as_real(torch.polar(torch.ones(head_dim // 2), way * steps * paces)).reshape(head_dim)


def arrow_by_rope(steps, head_dim):
    """8.5 with the second of each pair turned over, as a list."""
    ahead = arrow(steps, head_dim, way=1)
    return (torch.tensor([1.0, -1.0]).repeat(head_dim // 2) * ahead).tolist()


# ---------------------------------------------------------------------------------------------------- lessons 9 and 10


def two_after_forbidding(n, words):
    """With noes in place of yeses, for start as well, and in another precision."""
    P = (20 * torch.eye(n).roll(-2, dims=1) - 20).double()
    shift = torch.zeros(2 * words + 1, 2 * words + 1).double()
    shift[torch.arange(words) + 1, torch.arange(words) + words + 1] = 1
    return [P, 40 * shift.T - 20, 15 * shift - 20]


def last_place_fetches_nothing(n, words):
    P, M, W = two_after_forbidding(n, words)
    P[n - 2] = 0
    return P, M, W


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


def memory_by_the_fused_kernel(query, key, value, keys, values):
    seen = keys.shape[2]
    keys, values = torch.cat((keys, attn_lib.rotary(key, seen)), 2), torch.cat((values, value), 2)
    mask = torch.arange(keys.size(2)) <= torch.arange(seen, keys.size(2))[:, None]
    output = F.scaled_dot_product_attention(attn_lib.rotary(query, seen), keys, values, mask)
    return output, keys, values


def shared_by_index(x, groups):
    return x[:, torch.arange(x.size(1) * groups) // groups]


def window_by_distance(n_queries, n_keys, window):
    distance = torch.arange(n_keys - n_queries, n_keys)[:, None] - torch.arange(n_keys)
    return (distance >= 0) & (distance < window)


def bytes_added_up(layers, embed_dim, heads, kv_heads, tokens, bits):
    kinds = ("key", "value")
    return sum(tokens * embed_dim // heads * bits / 8 for _ in range(layers) for _ in kinds for _ in range(kv_heads))


def accepted_one_by_one(draft, said, keys, values):
    written = []
    for proposed, due in zip(draft.tolist(), said.tolist(), strict=False):
        if proposed != due:
            break
        written.append(proposed)
    gone = len(draft) - len(written)
    kept = [x[:, :, : x.size(2) - gone] for x in (keys, values)]
    return [*written, said[len(written)].item()], *kept


def accepted_as_tensors(draft, said, keys, values):
    tokens, *kept = accepted_one_by_one(draft, said, keys, values)
    return [*map(torch.tensor, tokens)], *kept


# ---------------------------------------------------------------------------------------------------- lessons 11 to 13


def norm_by_var_mean(x, weight, bias):
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + 1e-5), weight)


def annotated_norm(x, weight, bias, eps=1e-6):
    return weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


def block_in_one_line(x, norm1, attention, norm2, mlp):
    x = x + attention(*[norm1(x)] * 3, is_causal=True, need_weights=False)[0]
    return mlp(norm2(x)).add(x)


def loss_by_ignoring(logits, tokens, lengths):
    due = tokens.clone()
    due[torch.arange(tokens.size(1)) >= lengths[:, None]] = -100
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), due[:, 1:])


def next_by_gather(logits, lengths, temperature, top):
    """11.4 with the shares struck after softmax, and divided anew."""
    places = (lengths - 1)[:, None, None].expand(-1, 1, logits.size(-1))
    shares = (logits.gather(1, places)[:, 0] / temperature).softmax(dim=-1)
    largest = shares.topk(min(top, shares.size(-1)))
    kept = torch.zeros_like(shares).scatter(-1, largest.indices, largest.values)
    return kept / kept.sum(dim=-1, keepdim=True)


def one_more_in_floats(m, l, o, score, value):
    """12.1 with Python's own numbers."""
    m, score = float(m), float(score)
    top = max(m, score)
    old, new = math.exp(m - top), math.exp(score - top)
    return top, float(l) * old + new, o * old + value * new


def both_by_sigmoid(out_a, lse_a, out_b, lse_b):
    share = torch.sigmoid((lse_a - lse_b).nan_to_num(0.0, posinf=math.inf, neginf=-math.inf))[..., None]
    return torch.lerp(out_b, out_a, share), torch.logaddexp(lse_a, lse_b)


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


def rows_stacked(weight, heads):
    low, high = weight.unflatten(0, (heads, -1)).chunk(2, dim=1)
    return torch.stack([low, high], dim=2).flatten(0, 2)


def four_bits_by_numpy(q, d, m):
    q = q.numpy().astype(np.int64)
    made = np.concatenate([q & 0xF, q >> 4], axis=-1) * d.numpy()[:, None] + m.numpy()[:, None]
    return torch.from_numpy(made)


def part_as_a_float(whole, other, exchanged, words):
    a, b = words
    gaps = [(logits[a] - logits[b]).item() for logits in (whole, other, exchanged)]
    return (gaps[2] - gaps[0]) / (gaps[1] - gaps[0])


# ------------------------------------------------------------------------------------------------------------ tables

RIGHT = [
    ("1.2", self_attention_double),
    ("1.3", left_out_as_numbers),
    ("2.1", softmax_in_place),
    ("2.2", attention_einsum),
    ("2.3", cosine_normalized),
    ("3.1", padding_mask_numbers),
    ("3.2", causal_mask_positions),
    ("3.3", masked_softmax_large),
    ("3.3", masked_softmax_where),
    ("3.4", packed_mask_positions),
    ("4.1", split_heads_chunks),
    ("4.2", merge_heads_einsum),
    ("4.3", multi_head_einsum),
    ("4.4", pruned_by_chunks),
    ("4.5", AttentionByEinsum),
    ("5.1", key_padding_compare),
    ("5.1", key_padding_additive),
    ("5.2", load_by_parameters),
    ("5.3", attn_mask_by_index),
    ("7.1", softmax_back_jacobian),
    ("7.2", attention_back_by_outputs),
    ("7.3", learn_by_autograd),
    ("7.3", learn_by_optimizer),
    ("7.4", detects_by_einsum),
    ("7.5", shared_by_einsum),
    ("8.1", waves),
    ("8.1", waves_in_halves),
    ("8.2", rope_complex),
    ("8.3", alibi_roll),
    ("8.4", detects_row_by_row),
    ("8.5", arrow_by_rope),
    ("8.5", lambda steps, d: arrow(steps, d, length=0.1).reshape(1, d)),
    ("9.1", two_after_forbidding),
    ("9.2", induction_einsum),
    ("9.2", induction_in_the_notebooks_precision),
    ("9.3", without_by_mask),
    ("9.4", finds_short_cuts("place", "word")),
    ("10.1", memory_by_the_fused_kernel),
    ("10.2", shared_by_index),
    ("10.3", window_by_distance),
    ("10.4", bytes_added_up),
    ("10.4", lambda n, e, h, kv, t, bits: torch.tensor(2 * n * (e // h) * kv * t * bits // 8)),
    ("10.5", accepted_one_by_one),
    ("10.5", accepted_as_tensors),
    ("11.1", norm_by_var_mean),
    ("11.2", block_in_one_line),
    ("11.3", loss_by_ignoring),
    ("11.4", next_by_gather),
    ("12.1", one_more_in_floats),
    ("12.2", both_by_sigmoid),
    ("12.3", in_tiles_with_one_mask),
    ("12.4", block_query_by_query),
    ("13.1", block_attention_fused),
    ("13.2", rows_stacked),
    ("13.3", four_bits_by_numpy),
    ("13.4", part_as_a_float),
]

MISCONCEPTIONS = [  # which in some calls come to other numbers than any form in which they are known
    ("2.1", "maxima-of-columns", lambda s: (e := (s - s.max(0).values).exp()).div(e.sum(-1).unsqueeze(-1))),
    ("2.2", "all-axes", lambda q, k, v: (w := (q / q.size(-1) ** 0.5 @ k.T).softmax(-1), w @ v)[::-1]),
    ("3.3", "renormalised", lambda s, m: (e := s.exp().where(m, 0.0)) / (e.sum(-1, True) + 1e-9)),
    ("4.2", "one-text-only", lambda x: torch.einsum("hnd->nhd", x.squeeze(0)).flatten(1)[None]),
    ("4.3", "mask-expected", lambda *args: multi_head_einsum(*args[:6], args[6].view(args[6].shape))),
    ("4.5", "scale-d-model", with_parts(divisor=lambda self, head_dim: (head_dim * self.heads) ** 0.5)),
    ("4.5", "weights-averaged", with_parts(returned=lambda self, weights: weights.mean(1))),
    ("4.5", "interleaved", with_parts(cut=lambda self, x: x.unflatten(-1, (-1, self.heads)).mT)),
    ("5.2", "biases-expected", last_bias_expected),
    ("11.1", "one-less", annotated_norm),
]

OWN = dict(RIGHT)  # an answer of one's own to each exercise
NUMBERS = ["1.2", "2.1", "2.2", "3.3", "4.3", "7.2", "7.5", "9.2", "9.3", "10.1"]
NUMBERS += ["11.1", "11.3", "12.1", "12.2", "12.3", "12.4", "13.1"]


def a_tenth_more(answer):
    def more(result):
        return [more(part) for part in result] if isinstance(result, tuple | list) else result * 1.1

    return lambda *args: more(answer(*args))


NEAR_MISSES = [  # near a misconception, in its words or in its numbers in some calls, and yet another mistake
    ("2.2", lambda q, k, v: attention_einsum(q.mT, k, v)),
    ("3.1", lambda lengths, max_len: padding_mask_numbers(lengths.clamp(min=2), max_len)),
    ("3.2", lambda n, k: causal_mask_positions(n, k) & (torch.arange(n * k) < n * k - 1).view(n, k)),
    ("4.1", lambda x, n: split_heads_chunks(x, n).flip(1)),
    ("4.2", lambda x: merge_heads_einsum(x.flip(1))),
    ("4.2", lambda x: x.transpose(2, 3).view(x.size(0), x.size(2), -1)),
    ("4.3", lambda *args: multi_head_einsum(*args[:6], torch.no_mask if args[6] is None else args[6])),
    ("4.3", lambda x, *args: multi_head_einsum(x, *args[:5], None if args[5] is None else args[5].view(len(x), 1, -1))),
    ("4.5", AttentionUnderOtherNames),
    ("5.1", lambda lengths, m: torch.zeros(len(lengths), m).masked_fill(key_padding_compare(lengths, m), math.inf)),
    ("5.2", biases_turned),
    ("5.2", misspelt_where_no_bias_is),
    ("5.2", lambda ours, theirs: ours.k_proj.weight.data.copy_(theirs.in_proj_weight.chunk(2)[0])),
    ("7.1", lambda w, g: w * (g - g.max(-1, keepdim=True).values)),
    ("7.3", lambda x, q, k, wish, steps, rate: learn_by_autograd(x, q, k, wish.sqrt(), steps, rate * 1.1)),
    ("7.4", lambda backward: detects_by_einsum(backward, gradients=(0, 2))),
    ("8.1", lambda n, d: waves(n, d, base=2000)),
    ("8.2", lambda x, start=0: rope_complex(x, 2 * start)),
    ("8.3", lambda *sizes: -(alibi_roll(*sizes) ** 2)),
    ("8.5", lambda steps, d: arrow(steps + 20, d)),
    ("9.1", last_place_fetches_nothing),
    ("10.2", lambda x, groups: shared_by_index(x, groups).flip(1)),
    ("10.3", lambda n_queries, n_keys, window: window_by_distance(n_queries, n_keys, window + 2)),
    ("10.4", lambda n, *rest: bytes_added_up(n, *rest) * (1.5 if n == 32 else 1)),
    ("10.5", lambda draft, said, keys, values: (said.flip(0), keys, values)),
    ("11.2", lambda x, *parts: block_in_one_line(x, *parts) + x),
    ("11.4", lambda logits, lengths, temperature, top: next_by_gather(logits, lengths, temperature + 0.1, top)),
    *((id, a_tenth_more(OWN[id])) for id in NUMBERS),
]
