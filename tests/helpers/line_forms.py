"""Lines as other people write them: one for each way through the Python of a page, and for each verdict on a line."""

FORMS = {
    "01.my-keys": """
my_keys = []\\nfor x in X: my_keys.append(x @ W_k)
X, W_k = W_k, X\\nmy_keys = W_k @ X
my_keys = torch.zeros(3, 3)\\nfor i in range(3):\\n    my_keys[i] = X[i] @ W_k
my_keys = torch.zeros(3, 3)\\nfor j in range(4):\\n    my_keys += X[:, [j]] * W_k[j]
my_keys = torch.zeros(3, 3)\\nmy_keys[[0, 1, 2]] = (X @ W_k)[[2, 1, 0]]
k = []\\nwhile len(k) < 3:\\n    k += [X[len(k)] @ W_k]\\nprint(f"{X[0, 0]:.2f}")\\nmy_keys = torch.stack(k)
a = (X.T + 0).T\\nb = a.reshape(-1)\\nb[0] = 7\\nmy_keys = a @ W_k
a = X + 0\\nb = a.T\\nb[0] = 7\\nmy_keys = a @ W_k
X[0] = 0\\nmy_keys = X @ W_k
my_keys = (lambda: X @ W_k)()
my_keys = globals()["X"] @ W_k
my_keys = torch.ones(100000, 100000) @ X
my_keys = torch.einsum("ij,jk->ik", X, W_k)
my_keys = X @ W_k.clone()
my_keys = X @ W_q
my_keys = X @ W_v
my_keys = X @ W_k.T
my_keys = X.T @ W_k
my_keys = X @ W_K
my_keys = (X @ W_k).int()
my_keys = torch.nn.functional.linear(X, W_k.T)
my_keys = None
my_keys = "X @ W_k"
my_keys = 3
keys = X @ W_k
my_keys = ... X @ W_k
>>> my_keys = X @ W_k
X @ W_k = my_keys
my_keys = “X @ W_k”
my_keys = X @ W_k\\nprint(my_keys)
my_keys = torch.tensor([x @ W_k for x in X])
""",
    "01.my-scores": """
my_scores: torch.Tensor = keys @ queries.T
(other, [my_scores]) = 0, [keys @ queries.T]
my_scores = other = keys @ queries.T
my_scores = torch.tensor([[float(q @ k) for k in keys] for q in queries])
my_scores = queries.dot(keys.T)
""",
    "01.my-outputs": """
my_outputs = sum(weights[:, j:j + 1] * values[j] for j in range(3))
my_outputs = values * weights
my_outputs = scores * values
""",
    "02.my-turned": """
my_turned = torch.permute(key, (0, 2, 1))
my_turned = key.movedim(1, 2)
my_turned = key.T
my_turned = key.transpose(1, 3)
my_turned = key.reshape(2, 4, -1)
my_turned = key.view(key.shape[0], key.shape[2], key.shape[1])
my_turned = key.permute(2, 1)
my_turned = key.t()
""",
    "02.my-output": """
w = cross_scores.exp() / cross_scores.exp().sum(-1)\\nmy_output = w @ content
import torch.nn.functional as F\\nmy_output = F.softmax(cross_scores, dim=-1) @ content
my_output = torch.softmax(cross_scores, dim=1) @ content
my_output = content @ torch.softmax(cross_scores, dim=-1)
my_output = torch.softmax(cross_scores) @ content
my_output = torch.sigmoid(cross_scores) @ content
""",
    "02.my-shifted": """
my_shifted = large - large.max(-1, keepdim=True)[0]
my_shifted = large - max(large.flatten())
my_shifted = large.amax(dim=-1, keepdim=True) - large
my_shifted = large - large.max(dim=-1, keepdim=True)
""",
    "03.my-real": """
my_real = positions[:, None] < lengths
my_real = lengths[:, None] < positions
my_real = positions + 1 <= lengths[:, None]
my_real = (positions < lengths[:, None]).float()
my_real = positions > lengths[:, None]
my_real = positions == lengths[:, None]
my_real = (lengths[:, None] - positions).bool()
my_real = positions < 3 - torch.arange(2)[:, None]
my_real = torch.tensor([[True, True, True], [True, True, False]])
my_real = not positions >= lengths[:, None]
""",
    "03.my-before": """
my_before = (scores.exp() * mask) / (scores.exp() * mask).sum(-1, keepdim=True)
my_before = torch.softmax(scores * mask, dim=-1)
my_before = torch.softmax(scores.masked_fill(~mask, 0), dim=-1)
my_before = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
my_before = torch.softmax(scores, dim=-1) * mask
my_before = torch.softmax(scores & mask, dim=-1)
my_before = torch.softmax(scores.masked_fill(~mask, "-inf"), dim=-1)
my_before = scores.masked_fill(~mask, -math.inf)
my_before = torch.softmax(scores.masked_fill_(~mask, -math.inf), dim=-1)
""",
    "03.my-triangle": """
my_triangle = torch.ones(3, 3, dtype=torch.bool).tril(1)
my_triangle = [[i >= j for j in range(3)] for i in range(3)]
my_triangle = [[i > j for j in range(3)] for i in range(3)]
my_triangle = torch.ones(3, 3).tril().bool()
my_triangle = torch.ones(3, 3).tril()
my_triangle = torch.ones(3, 3, dtype=torch.bool).tril
my_triangle = torch.ones(3, 3, dtype=torch.bool).triu()
my_triangle = torch.ones(3, 3, dtype=torch.int).tril()
my_triangle = torch.ones(3, dtype=torch.bool).tril()
""",
    "04.my-stacked": """
my_stacked = torch.cat([head.q_proj.weight for head in listed.heads]).detach()
my_stacked = torch.vstack([h.q_proj.weight for h in listed.heads])
my_stacked = torch.cat([h.q_proj.weight.T for h in listed.heads], dim=1)
my_stacked = [h.q_proj.weight for h in listed.heads]
my_stacked = torch.cat(h.q_proj.weight for h in listed.heads)
my_stacked = torch.cat([h.q_proj.weight for h in reversed(listed.heads)])
""",
    "04.my-merged": """
my_merged = split.transpose(1, 2).contiguous().view(1, 3, 4)
my_merged = torch.cat(list(split.unbind(1)), dim=-1)
my_merged = split.view(1, 3, 4)
my_merged = split.flatten(2)
my_merged = x
""",
    "04.my-mask": """
my_mask = padding_mask(torch.tensor([6, 4]))[:, None]
my_mask = padding_mask([4, 6])[:, None]
my_mask = padding_mask([6, 4]).unsqueeze(0)
my_mask = padding_mask([6, 4]).unsqueeze(-1)
my_mask = padding_mask([6.0, 4])[:, None]
my_mask = padding_mask(6, 4)[:, None]
""",
    "05.my-stacked": """
my_stacked = torch.cat([p.weight for p in (ours.q_proj, ours.k_proj, ours.v_proj)])
my_stacked = ours.q_proj.weight + ours.k_proj.weight + ours.v_proj.weight
""",
    "05.my-ignored": """
my_ignored = padding.squeeze(1).logical_not()
my_ignored = padding.squeeze()
my_ignored = 1 - padding[:, 0]
my_ignored = 1 - padding[:, 0].long()
""",
    "05.my-keys": """
my_keys = k[:, :, None].expand(1, 2, 2, 6, 8).reshape(1, 4, 6, 8)
my_keys = k.repeat(1, 2, 1, 1)
my_keys = k.expand(1, 4, 6, 8)
my_keys = k.repeat_interleave(2)
""",
    "05.my-layer": """
my_layer = 0
my_layer = 7
my_layer = apart(layers, one_wrong, x, src_mask=~causal)
""",
    "06.my-line": """
my_line = 4
my_line = 3
my_line = "line 5"
""",
    "06.my-mended": [
        """def my_mended(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, dim=ENDS @ v

my_output = my_mended(q, k, v, earlier)""".replace("ENDS", ends)
        for ends in ("-1).nan_to_num()", "-2).nan_to_num()", "-1)", "-1).masked_fill(~mask, 0)")
    ]
    + [
        """def my_mended(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        return scores.softmax(-1) @ v
    return masked_softmax(scores, mask) @ v
my_output = my_mended(q, k, v, earlier)""",
        "def my_mended(q, k, v, mask=None):\n    return ...\n\nmy_output = my_mended(q, k, v, earlier)",
        "def my_mended(q, k, v, mask=None)\n    return q",
    ],
    "07.my-grad-query": """
my_grad_query = sum(g * k for g, k in zip(grad_scores, keys))
my_grad_query = grad_scores * keys
my_grad_query = grad_scores @ keys.T
my_grad_query = torch.outer(grad_scores, keys)
""",
    "07.my-grad-W-q": """
my_grad_W_q = torch.einsum("i,j->ij", X[0], grad_query)
my_grad_W_q = torch.outer(grad_query, X[0])
my_grad_W_q = torch.outer(X[1], grad_query)
my_grad_W_q = X[0] @ grad_query
""",
    "07.my-grad-row": """
w, g = weights[0], grad_weights\\nmy_grad_row = w * g - w * (w @ g)
my_grad_row = weights[0] * (grad_weights - weights[0] * grad_weights)
my_grad_row = weights[0] * (grad_weights - grad_weights.sum())
""",
    "08.my-placed": """
my_placed = batch.add(table)
my_placed = batch + table.T
my_placed = batch + table[:, None, :]
""",
    "08.my-order": """
my_order = [i for i in range(8) if i % 2 == 0] + [i for i in range(8) if i % 2]
my_order = torch.arange(8).view(4, 2).T.view(-1)
my_order = torch.arange(8)
my_order = [0, 4, 1, 5, 2, 6, 3, 7]
my_order = [0, 2, 4, 6]
""",
    "08.my-m": """
my_m = turn(1) * 20
my_m = turn(20)
my_m = 20 * turn(1).T
my_m = 20 * turn(0)
my_m = turn(1)
""",
    "08.my-query": """
my_query = torch.tensor([0.0] * 15 + [-40000.0])
my_query = [0.0] * 14 + [-40000.0, 0.0]
my_query = -40000.0
""",
    "09.my-P": """
my_P = 10 * torch.eye(6).roll(1, 0)
my_P = torch.diag(torch.full((5,), 10), -1)
my_P = torch.diag(torch.full((5,), 10.0), 1)
my_P = torch.diag(torch.full((6,), 10.0), -1)
my_P = torch.diag(torch.ones(5), -1)
my_P = torch.diag(torch.tensor(10.0), -1)
my_P = torch.diag([10.0] * 5, -1)
my_P = (torch.arange(6)[:, None] == torch.arange(6) + 1) * 10.0
""",
    "09.my-scores": """
my_scores = 10 * x @ heard.T
my_scores = heard @ M @ x.T
my_scores = x @ M @ x.T
my_scores = x @ heard.T
my_scores = heard @ M @ heard.T
my_scores = x @ M @ heard
""",
    "10.my-keys": """
my_keys = torch.cat([keys, tea @ W_v])
my_keys = tea @ W_k
my_keys = torch.stack([keys, tea @ W_k])
my_keys = keys + tea @ W_k
my_keys = torch.cat([keys, parts["values"][2:]])
my_keys = torch.cat([keys, parts["key"][2:]])
""",
    "10.my-output": """
my_output = torch.softmax(tea @ W_q @ all_keys.T / math.sqrt(4), dim=-1) @ all_values
my_output = torch.softmax(tea @ W_q @ all_keys.T / 3, dim=-1) @ all_values
my_output = torch.softmax(tea @ W_q @ all_keys.T, dim=-1) @ all_values
my_output = torch.softmax(tea @ W_q @ all_keys.T / math.sqrt(3), dim=0) @ all_values
my_output = tea @ W_q @ all_keys.T / math.sqrt(3) @ all_values
my_output = torch.softmax(tea @ W_k @ all_keys.T / math.sqrt(3), dim=-1) @ all_values
my_output = attend(X)[0][2:]
my_output = attend(X)[0][-1]
""",
    "10.my-way": """
my_way = cached_attention(*heads(X[:1]), i_like)[0]
my_way = cached_attention(*heads(X[0]), i_like)[0]
my_way = cached_attention(*heads(X[:1]))[0]
my_way = cached_attention(*heads(X[2:]), i_like)[0]
my_way = cached_attention(*heads(X[:1]), i_like_tea)[0]
my_way = cached_attention(*heads(X[:1]), i_like, window=2)[0]
""",
    "10.my-window": """
o = torch.ones(2, 6, dtype=torch.bool)\\nmy_window = o.tril(4) & o.triu(2)
my_window = window_mask(2, 6, 2)
my_window = causal_mask(2, 6)
my_window = torch.ones(2, 6, dtype=torch.bool).tril(4).triu(1)
my_window = torch.ones(2, 6).tril(4).triu(2)
""",
    "10.my-scores": """
my_scores = torch.einsum("id,ld,nl->in", asks, W_uk, latent)
my_scores = latent @ W_uk @ asks.T
my_scores = asks @ latent.T
my_scores = asks @ W_uk.T @ latent
""",
    "11.my-normed": """
my_normed = F.layer_norm(x, (4,))
my_normed = centred / (x.var(dim=-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
my_normed = centred * torch.rsqrt((centred ** 2).mean(dim=-1, keepdim=True) + 1e-5)
my_normed = centred / centred.std(dim=-1, keepdim=True)
my_normed = centred / (centred.square().mean(dim=-1) + 1e-5).sqrt()
my_normed = centred / (centred.square().mean() + 1e-5).sqrt()
my_normed = centred / centred.abs().mean(dim=-1, keepdim=True)
my_normed = (centred - centred.mean()) / centred.std()
""",
    "11.my-behind": """
my_behind = heard @ W_o + x
my_behind = normed + heard @ W_o
my_behind = heard @ W_o
my_behind = x + heard
my_behind = x + normed
my_behind = x + heard @ W_o.T
""",
    "11.my-cost": """
my_cost = F.cross_entropy(logits[:, :-1].reshape(-1, 68), tokens[:, 1:].reshape(-1))
my_cost = -logits[:, :-1].log_softmax(-1).flatten(0, 1)[torch.arange(108), tokens[:, 1:].flatten()].mean()
my_cost = F.nll_loss(logits[:, :-1].log_softmax(-1).flatten(0, 1), tokens[:, 1:].flatten())
my_cost = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
my_cost = F.cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())
my_cost = F.cross_entropy(logits[:, :-1], tokens[:, 1:])
my_cost = F.cross_entropy(logits[:, :-1].softmax(-1).flatten(0, 1), tokens[:, 1:].flatten())
my_cost = 4.25
""",
    "12.my-factor": """
my_factor = (m - new_m).exp()
my_factor = torch.exp(-new_m)
my_factor = m - new_m
my_factor = torch.exp(m)
my_factor = m / new_m
""",
    "12.my-l": """
my_l = sum(torch.exp(p[0] - m_both) * p[1] for p in (a, b))
my_l = a[1] + b[1]
my_l = sum(torch.exp(m - m_both) * l for m, l, *_ in (a, b))
my_l = torch.exp(a[0] - b[0]) * a[1] + b[1]
my_l = torch.exp(m_both - a[0]) * a[1] + torch.exp(m_both - b[0]) * b[1]
my_l = torch.exp(a[0]) * a[1] + torch.exp(b[0]) * b[1]
""",
    "13.my-keys": """
my_keys = share_heads(rotary(key, base=100_000), 3)
my_keys = share_heads(key, 3)
my_keys = share_heads(rotary(key), 3)
my_keys = rotary(key, base=100_000)
my_keys = share_heads(rotary(key, base=100_000), n=3)
my_keys = share_heads(rotary(key, base=100_000, halves=True), 3)
my_keys = torch.cat([rotary(key, base=100_000)] * 3, dim=1)
my_keys = share_heads(rotary(query, base=100_000), 3)
""",
    "13.my-weights": """
my_weights = maps.select(2, -1).select(2, 1)
my_weights = maps[:, :, -1, 0]
my_weights = maps[:, :, [-1], [1]]
my_weights = torch.stack([m[:, -1, 1] for m in maps])
my_weights = maps[:, :, 2, 1]
""",
    "13.my-place": """
my_place = row @ axis / (axis @ axis)
my_place = (row - middle) @ axis
my_place = (row - middle) @ axis / axis.norm()
my_place = (row - money) @ axis / (axis @ axis)
my_place = (row - middle).dot(axis) / axis.pow(2).sum()
my_place = (row - middle) @ axis / axis @ axis
my_place = ((row - middle) @ axis / (axis @ axis)).item()
""",
    "14.my-chunk": """
my_chunk = faded * before + sum(l * torch.outer(k, v) for l, k, v in zip(left, keys, values))
my_chunk = faded * before + (left * keys).T @ values
my_chunk = torch.eye(3) + keys.T * left @ values
my_chunk = before + (left[:, None] * keys).T @ values
my_chunk = faded * before + keys.T @ values
my_chunk = (left[:, None] * keys).T @ values
my_chunk = faded * before + values.T @ (left[:, None] * keys)
my_chunk = faded @ before + (left[:, None] * keys).T @ values
s = faded * before\\nfor l, k, v in zip(left, keys, values):\\n    s = s + l * k[:, None] * v\\nmy_chunk = s
my_chunk = write_state(faded * before, keys, values)
""",
    "14.my-delta": """
e = number - sum(k * b for k, b in zip(cup_key, before_cup))\\nmy_delta = before_cup + e * cup_key
my_delta = before_cup + cup_key * number
my_delta = before_cup - cup_key * (number - cup_key @ before_cup)
my_delta = before_cup + (number - cup_key @ before_cup)
my_delta = before_cup * number / 5
my_delta = before_cup + cup_key @ (number - cup_key @ before_cup)
my_delta = [1.0, 2.0]
""",
    "14.my-state": """
my_state = torch.stack([row + k * value for row, k in zip(state, key)])
my_state = state + value[:, None] * key
my_state = state + key * value
my_state = state + key @ value
my_state = key[:, None] * value
my_state = state + torch.mm(key, value)
def write(s, k, v):\\n    s + k[:, None] * v\\nmy_state = write(state, key, value)
my_state = state + key[:, None] × value
my_state = sum([torch.outer(k, v) for k, v in zip(keys[:2], values[:2])])
my_state = sum(torch.outer(k, v) for k, v in zip(keys[:2], values[:2]))
g = (k * value for k in key)\\nmy_state = state + torch.stack([next(g), *g])
g = (k * value for k in key)\\nmy_state = state + torch.stack([next(g), next(g), next(g)])
g = (k * value for k in key)\\nmy_state = state + torch.stack([*g, next(g, value)])
g = (k * value for k in key)\\nmy_state = state + torch.stack([*g, next(g)])
g = (k * value for k in key)\\nrows = [next(g) for _ in g]\\nmy_state = state + torch.stack(rows)
z = zip(state, key)\\nmy_state = torch.stack([s + k * value for s, k in z] + [s for s, k in z])
z = zip(state, key)\\nmy_state = torch.stack([s for s, k in z] + [s + k * value for s, k in z])
k = (x for x in key)\\npairs = list(zip(k, k))\\nmy_state = state + len(pairs)
k = (x for x in key)\\nlist(zip([1], k))\\nmy_state = state + next(k) * value
k = (x for x in key)\\nlist(zip(k, [1]))\\nmy_state = state + next(k) * value
e = enumerate(key)\\nmy_state = torch.stack([state[i] + k * value for i, k in e] + [state[i] for i, k in e])
e = enumerate(key, start=-3)\\ni, k = next(e)\\nmy_state = torch.stack([state[i] + k * value for i, k in [(i, k), *e]])
r = reversed([k * value for k in key])\\nmy_state = state + torch.stack([*reversed([*r, *r])])
my_state = state + torch.stack([*reversed(k * value for k in key)])
g = (k > 100 for k in key)\\nany(g)\\nmy_state = state if next(g, None) is None else key
g = (i for i in range(3))\\n1 in g\\nmy_state = state + key[:, None] * value * (next(g) - 1)
def first(g):\\n    for k, in g: return k * value\\ng = zip(key)\\nmy_state = torch.stack([s + first(g) for s in state])
my_state = state + next([key[:, None] * value])
""",
}

# Wrong lines that give the right numbers with the lesson's inputs, as another name that holds the same numbers does.
BY_CHANCE = [
    ("01.my-keys", "my_keys = torch.tensor([[0.0, 1, 1], [4, 4, 0], [2, 3, 1]])  # typed"),
    ("01.my-scores", "my_scores = keys @ queries.T"),
    ("01.my-outputs", "my_outputs = torch.softmax(keys @ queries.T, dim=-1) @ values"),
    ("01.my-outputs", "my_outputs = torch.softmax(scores.T, dim=-1) @ values"),
    ("02.my-shifted", "my_shifted = small - 4"),
    ("04.my-merged", "my_merged = numbered"),
    ("04.my-merged", "my_merged = wrong.reshape(1, 3, 4)"),
    ("07.my-grad-W-q", "my_grad_W_q = moving"),
    ("09.my-scores", "my_scores = x @ W @ heard.T"),
    ("09.my-scores", "my_scores = x @ M.T @ heard.T"),
    ("10.my-keys", "my_keys = torch.cat([keys, torch.tensor([[2., 3, 1]])])"),
    ("10.my-output", "my_output = outputs[2:]"),
    (
        "10.my-output",
        'my_output = torch.softmax(parts["keys"][2:] @ (X @ W_q).T / math.sqrt(3), dim=-1) @ all_values',
    ),
    (
        "10.my-output",
        "my_output = torch.softmax(tea @ W_k @ (X @ W_q).T / math.sqrt(3), dim=-1) @ all_values",
    ),
    ("10.my-scores", "my_scores = scores"),
    ("11.my-normed", "my_normed = normed"),
    ("12.my-factor", "my_factor = torch.exp(-m)"),
    ("12.my-factor", "my_factor = torch.exp(scores[0] - scores[1])"),
    ("12.my-l", "my_l = torch.exp(a[0] - m_both) + 2 * torch.exp(b[0] - m_both)"),
    ("12.my-l", "my_l = torch.exp(a[0] - m_both) + torch.exp(b[0] - m_both) * b[1]"),
    ("12.my-l", "my_l = torch.exp(a[0] - m_both) * a[1] + 2 * torch.exp(b[0] - m_both)"),
    ("12.my-l", "my_l = torch.exp(a[0] - m_both[0]) * a[1] + torch.exp(b[0] - m_both) * b[1]"),
    ("14.my-chunk", "my_chunk = faded * before.T + (left[:, None] * keys).T @ values"),
    ("14.my-chunk", "my_chunk = before / 8 + (left[:, None] * keys).T @ values"),
    ("03.my-real", "my_real = lengths[:, None] != positions"),
    ("03.my-before", "my_before = torch.softmax(scores.masked_fill(~mask, -10), dim=-1)"),
    ("14.my-delta", "my_delta = number * cup_key"),
]


# Right lines in other words than the course's, which use what its names were made from.
IN_OTHER_WORDS = [
    ("01.my-scores", "my_scores = torch.stack([scores_of_I, scores_of_like, queries[2] @ keys.T])"),
    ("01.my-scores", "my_scores = X @ W_q @ keys.T"),
    ("01.my-outputs", "my_outputs = torch.softmax(scores, dim=-1) @ values"),
    ("01.my-outputs", "my_outputs = torch.stack([output_of_I, weights[1] @ values, weights[2] @ values])"),
    ("01.my-outputs", "my_outputs = torch.softmax(X @ W_q @ keys.T, dim=-1) @ values"),
    ("02.my-shifted", "my_shifted = small - small.amax()"),
    ("03.my-before", "my_before = torch.softmax(scores.masked_fill(~mask.expand(2, 3, 3), -math.inf), dim=-1)"),
    ("07.my-grad-W-q", "my_grad_W_q = torch.outer(X[0], (weights[0] - wish) @ X @ W_k)"),
    ("09.my-P", "my_P = F.pad(10 * torch.eye(5), (0, 1, 1, 0))"),
    ("10.my-keys", "my_keys = X @ W_k"),
    ("10.my-keys", 'my_keys = torch.cat([keys, parts["keys"][2:]])'),
    (
        "10.my-output",
        'my_output = torch.softmax(parts["queries"][2:] @ all_keys.T / math.sqrt(3), dim=-1) @ all_values',
    ),
    (
        "10.my-output",
        "q, k, v = parts.values()\nmy_output = torch.softmax(q[-1:] @ k.T / 3**0.5, dim=-1) @ v",
    ),
    ("10.my-output", "my_output = F.scaled_dot_product_attention(tea @ W_q, all_keys, all_values)"),
    ("11.my-cost", "my_cost = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:])"),
    ("11.my-cost", "my_cost = -logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:, None]).mean()"),
    ("11.my-normed", "my_normed = F.layer_norm(X.double(), (4,))"),
    ("12.my-factor", "my_factor = torch.exp(scores[0] - new_m)"),
    ("12.my-factor", "my_factor = torch.exp(scores[0] - max(scores[0], scores[1]))"),
    ("12.my-l", "my_l = torch.exp(two_rows - m_both).sum(dim=-1, keepdim=True)"),
    ("14.my-delta", "my_delta = before_cup + unit_keys[2] * (number - cup_key @ before_cup)"),
    ("14.my-state", "my_state = keys[:2].T @ values[:2]"),
    ("14.my-state", "my_state = S - keys[2][:, None] * values[2]"),
]


def forms():
    """Pairs of a line's id and a way to write it."""
    yield from BY_CHANCE
    yield from IN_OTHER_WORDS
    for id, written in FORMS.items():
        lines = written.strip().split("\n") if isinstance(written, str) else written
        yield from ((id, line.replace("\\n", "\n")) for line in lines)
