"""Lines as other people write them: right ones in other words, and wrong ones that nobody has named."""

FORMS = {
    "01.my-keys": """
my_keys = []\\nfor x in X: my_keys.append(x @ W_k)
X, W_k = W_k, X\\nmy_keys = W_k @ X
my_keys = (lambda: X @ W_k)()
my_keys = globals()["X"] @ W_k
my_keys = torch.ones(100000, 100000) @ X
my_keys = torch.matmul(X, W_k)
my_keys = torch.mm(X, W_k)
my_keys = X.matmul(W_k)
my_keys = X.mm(W_k)
my_keys = (W_k.T @ X.T).T
my_keys = torch.einsum("ij,jk->ik", X, W_k)
my_keys = torch.stack([x @ W_k for x in X])
my_keys = torch.stack([X[0] @ W_k, X[1] @ W_k, X[2] @ W_k])
my_keys = (X[:, :, None] * W_k[None]).sum(1)
my_keys = torch.cat([X[i:i + 1] @ W_k for i in range(3)])
my_keys = X @ W_k + 0
my_keys = X @ W_k.clone()
my_keys = X @ W_q
my_keys = X @ W_v
my_keys = X @ W_k.T
my_keys = X.T @ W_k
my_keys = X * W_k
my_keys = X[0] @ W_k
my_keys = X @ W_k / 2
my_keys = -(X @ W_k)
my_keys = (X @ W_k).tolist()
my_keys = [x @ W_k for x in X]
my_keys = queries
my_keys = X @ W_K
my_keys = X @ W_k,
my_keys = (X @ W_k).flatten()
my_keys = (X @ W_k).int()
my_keys = torch.nn.functional.linear(X, W_k.T)
my_keys = None
my_keys = "X @ W_k"
my_keys = 3
keys = X @ W_k
for x in X: x @ W_k
my_keys = ... X @ W_k
>>> my_keys = X @ W_k
X @ W_k = my_keys
my_keys = “X @ W_k”
my_keys = X @ [W_k]
my_keys = X - (W_k, W_k)
my_keys = X @ W_k\\nprint(my_keys)
my_keys = torch.tensor([x @ W_k for x in X])
print(my_keys := X @ W_k)
my_keys = print(X @ W_k)
""",
    "01.my-scores": """
my_scores, other = keys @ queries.T, 0
my_scores: torch.Tensor = keys @ queries.T
(other, [my_scores]) = 0, [keys @ queries.T]
for _ in range(1): my_scores = keys @ queries.T
my_scores = other = keys @ queries.T
other, my_scores = 0, queries @ keys.T
my_scores = torch.matmul(queries, keys.T)
my_scores = queries @ keys.transpose(0, 1)
my_scores = queries @ keys.mT
my_scores = queries @ keys.t()
my_scores = (keys @ queries.T).T
my_scores = torch.einsum("id,jd->ij", queries, keys)
my_scores = torch.einsum("id,jd", queries, keys)
my_scores = torch.tensor([[float(q @ k) for k in keys] for q in queries])
my_scores = (queries[:, None] * keys[None, :]).sum(dim=-1)
my_scores = (queries[:, None, :] * keys).sum(-1)
my_scores = queries.mm(keys.permute(1, 0))
my_scores = torch.stack([keys @ q for q in queries])
my_scores = queries @ keys.T / math.sqrt(3)
my_scores = keys @ queries.T
my_scores = queries @ queries.T
my_scores = torch.dot(queries, keys)
my_scores = queries.dot(keys.T)
my_scores = queries @ keys.T[0]
my_scores = queries * keys.T
my_scores = [[q @ k for k in keys] for q in queries]
my_scores = X @ W_q @ (X @ W_k).T
my_scores = (X @ W_q) @ W_k.T @ X.T
""",
    "01.my-outputs": """
my_outputs = weights.matmul(values)
my_outputs = torch.mm(weights, values)
my_outputs = torch.einsum("ij,jk->ik", weights, values)
my_outputs = torch.stack([(w[:, None] * values).sum(0) for w in weights])
my_outputs = (weights[:, :, None] * values[None]).sum(dim=1)
my_outputs = sum(weights[:, j:j + 1] * values[j] for j in range(3))
my_outputs = weights @ values.T
my_outputs = values * weights
my_outputs = weights * values
my_outputs = torch.softmax(scores, dim=-1) @ values
my_outputs = torch.softmax(scores / 3 ** 0.5, dim=-1) @ values
my_outputs = (values.T @ weights.T).T
my_outputs = weights[0] @ values
""",
    "02.my-turned": """
my_turned = key.transpose(-1, -2)
my_turned = key.transpose(-2, -1)
my_turned = key.mT
my_turned = key.permute(0, 2, 1)
my_turned = torch.transpose(key, 1, 2)
my_turned = key.swapaxes(1, 2)
my_turned = key.swapdims(-1, -2)
my_turned = torch.stack([k.T for k in key])
my_turned = torch.einsum("bij->bji", key)
my_turned = torch.permute(key, (0, 2, 1))
my_turned = key.movedim(1, 2)
my_turned = key.T
my_turned = key.transpose(1, 3)
my_turned = key.reshape(2, 4, -1)
my_turned = key.view(key.shape[0], key.shape[2], key.shape[1])
my_turned = key.transpose(0, 2)
my_turned = key.permute(2, 1)
my_turned = key.t()
""",
    "02.my-output": """
w = cross_scores.exp() / cross_scores.exp().sum(-1, keepdim=True)\\nmy_output = w @ content
w = cross_scores.exp() / cross_scores.exp().sum(-1)\\nmy_output = w @ content
my_output = torch.softmax(cross_scores, -1) @ content
my_output = cross_scores.softmax(dim=-1) @ content
my_output = torch.softmax(cross_scores, dim=2).matmul(content)
my_output = torch.bmm(torch.softmax(cross_scores, dim=-1), content)
my_weights = torch.softmax(cross_scores, dim=-1)\\nmy_output = my_weights @ content
w = cross_scores.exp() / cross_scores.exp().sum(-1, keepdim=True)\\nmy_output = w @ content
e = torch.exp(cross_scores)\\nmy_output = (e @ content) / e.sum(dim=-1, keepdim=True)
import torch.nn.functional as F\\nmy_output = F.softmax(cross_scores, dim=-1) @ content
my_output = torch.einsum("bij,bjk->bik", cross_scores.softmax(-1), content)
my_output = torch.softmax(cross_scores, dim=1) @ content
my_output = torch.softmax(cross_scores, dim=0) @ content
my_output = torch.softmax(cross_scores, dim=-1) * content
my_output = content @ torch.softmax(cross_scores, dim=-1)
my_output = torch.softmax(cross_scores @ content, dim=-1)
my_output = torch.softmax(cross_scores) @ content
my_output = torch.sigmoid(cross_scores) @ content
my_output = cross_scores.exp() / cross_scores.exp().sum(-1) @ content
""",
    "02.my-shifted": """
my_shifted = large - large.amax(-1, keepdim=True)
my_shifted = large - large.max(dim=-1, keepdim=True).values
my_shifted = large - large.max(-1, keepdim=True)[0]
my_shifted = large - torch.amax(large, dim=-1, keepdim=True)
my_shifted = large - large.max()
my_shifted = large - 102
my_shifted = large + -large.amax(dim=-1, keepdim=True)
my_shifted = large - torch.max(large)
my_shifted = large - max(large.flatten())
my_shifted = large - large.amax(dim=-1)
my_shifted = large.sub(large.amax(dim=-1, keepdim=True))
my_shifted = large - large.mean(dim=-1, keepdim=True)
my_shifted = large.amax(dim=-1, keepdim=True) - large
my_shifted = large - large.amax(dim=0, keepdim=True)
my_shifted = large - large.max(dim=-1, keepdim=True)
my_shifted = large / large.amax(dim=-1, keepdim=True)
""",
    "03.my-real": """
my_real = lengths[:, None] > positions
my_real = positions[None, :] < lengths[:, None]
my_real = positions < lengths.unsqueeze(1)
my_real = positions < lengths.unsqueeze(-1)
my_real = positions < lengths.view(-1, 1)
my_real = positions < lengths.reshape(2, 1)
my_real = torch.lt(positions, lengths[:, None])
my_real = torch.stack([positions < n for n in lengths])
my_real = ~(positions >= lengths[:, None])
my_real = positions.expand(2, 3) < lengths[:, None]
my_real = torch.arange(3)[None] < lengths[:, None]
my_real = positions + 1 <= lengths[:, None]
my_real = (positions < lengths[:, None]).long()
my_real = (positions < lengths[:, None]).float()
my_real = positions < lengths
my_real = positions[:, None] < lengths
my_real = (positions < lengths[:, None]).T
my_real = positions > lengths[:, None]
my_real = positions == lengths[:, None]
my_real = [[p < n for p in positions] for n in lengths]
my_real = not positions >= lengths[:, None]
my_real = positions.lt(lengths[:, None])
my_real = torch.tensor([[True, True, False], [True, True, True]])
""",
    "03.my-before": """
my_before = (scores.exp() * mask) / (scores.exp() * mask).sum(-1, keepdim=True)
my_before = (scores + torch.where(mask, 0, -torch.inf)).softmax(-1)
my_before = (scores - 1e9 * ~mask).softmax(-1)
my_before = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
my_before = torch.softmax(scores.masked_fill(mask == False, -math.inf), dim=-1)
my_before = torch.softmax(scores.masked_fill(mask.logical_not(), -torch.inf), -1)
my_before = torch.softmax(torch.where(mask, scores, -math.inf), dim=-1)
my_before = scores.masked_fill(~mask, -1e9).softmax(dim=-1)
my_before = torch.where(mask, scores, torch.tensor(-math.inf)).softmax(-1)
filled = scores.masked_fill(~mask, -math.inf)\\nmy_before = filled.softmax(-1)
e = scores.exp() * mask\\nmy_before = e / e.sum(-1, keepdim=True)
my_before = torch.softmax(scores + torch.zeros(mask.shape).masked_fill(~mask, -math.inf), dim=-1)
my_before = torch.softmax(scores.masked_fill(mask == 0, -math.inf), dim=-1)
my_before = torch.softmax(scores.masked_fill(~mask, 0), dim=-1)
my_before = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-2)
my_before = torch.softmax(scores * mask, dim=-1)
my_before = torch.softmax(scores, dim=-1) * mask
my_before = torch.softmax(scores & mask, dim=-1)
my_before = torch.softmax(scores.masked_fill(-mask, -math.inf), dim=-1)
my_before = torch.softmax(scores.masked_fill(~mask, "-inf"), dim=-1)
my_before = scores.masked_fill(~mask, -math.inf)
my_before = torch.softmax(scores.masked_fill(~mask, math.inf), dim=-1)
my_before = torch.softmax(scores.masked_fill_(~mask, -math.inf), dim=-1)
my_before = torch.softmax(scores.masked_fill(1 - mask, -math.inf), dim=-1)
""",
    "03.my-triangle": """
my_triangle = [[i >= j for j in range(3)] for i in range(3)]
my_triangle = [[i > j for j in range(3)] for i in range(3)]
my_triangle = torch.arange(3)[:, None] >= torch.arange(3)
my_triangle = torch.tril(torch.ones(3, 3, dtype=torch.bool))
my_triangle = torch.ones(3, 3).tril().bool()
my_triangle = torch.ones(3, 3).tril() == 1
my_triangle = torch.ones((3, 3), dtype=torch.bool).tril(diagonal=0)
my_triangle = ~torch.ones(3, 3, dtype=torch.bool).triu(1)
my_triangle = ~torch.triu(torch.ones(3, 3, dtype=torch.bool), diagonal=1)
my_triangle = torch.arange(3) <= torch.arange(3)[:, None]
my_triangle = torch.ones(3, 3, dtype=torch.bool).triu().T
my_triangle = torch.ones(3, 3).tril()
my_triangle = torch.ones(3, 3, dtype=torch.bool).triu()
my_triangle = torch.ones(3, 3, dtype=torch.bool).tril(1)
my_triangle = torch.ones(3, 3, dtype=bool).tril()
my_triangle = torch.ones(3, 3).tril().to(bool)
my_triangle = torch.ones(3, 3, dtype=torch.int).tril()
my_triangle = torch.ones(3, dtype=torch.bool).tril()
my_triangle = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
my_triangle = [[j <= i for j in range(3)] for i in range(3)]
""",
    "04.my-stacked": """
my_stacked = torch.cat([h.q_proj.weight for h in listed.heads], dim=0)
my_stacked = torch.cat([head.q_proj.weight for head in listed.heads]).detach()
my_stacked = torch.vstack([h.q_proj.weight for h in listed.heads])
my_stacked = torch.stack([h.q_proj.weight for h in listed.heads]).reshape(12, 12)
my_stacked = torch.stack([h.q_proj.weight for h in listed.heads]).flatten(0, 1)
h = listed.heads\\nmy_stacked = torch.cat((h[0].q_proj.weight, h[1].q_proj.weight, h[2].q_proj.weight))
my_stacked = torch.cat([listed.heads[i].q_proj.weight for i in range(3)])
my_stacked = torch.cat([h.q_proj.weight.T for h in listed.heads], dim=1)
my_stacked = torch.cat([h.q_proj.weight for h in listed.heads], dim=1)
my_stacked = torch.stack([h.q_proj.weight for h in listed.heads])
my_stacked = torch.cat([h.k_proj.weight for h in listed.heads])
my_stacked = [h.q_proj.weight for h in listed.heads]
my_stacked = torch.cat(h.q_proj.weight for h in listed.heads)
my_stacked = torch.cat([h.q_proj.weight for h in reversed(listed.heads)])
""",
    "04.my-merged": """
my_merged = split.transpose(1, 2).flatten(2)
my_merged = split.permute(0, 2, 1, 3).reshape(1, 3, 4)
my_merged = split.transpose(1, 2).contiguous().view(1, 3, 4)
my_merged = split.transpose(1, 2).reshape(1, 3, -1)
my_merged = split.transpose(-3, -2).flatten(-2)
my_merged = torch.cat([split[:, 0], split[:, 1]], dim=-1)
my_merged = torch.cat(list(split.unbind(1)), dim=-1)
my_merged = torch.cat(split.unbind(dim=1), -1)
my_merged = torch.cat([h for h in split[0]], dim=-1)[None]
my_merged = merge_heads(split)
my_merged = split.transpose(1, 2).view(1, 3, 4)
my_merged = split.view(1, 3, 4)
my_merged = split.transpose(1, 2)
my_merged = split.reshape(1, 3, 4).transpose(1, 2)
my_merged = split.flatten(2)
my_merged = split.transpose(2, 3).reshape(1, 3, 4)
my_merged = split.transpose(1, 2).reshape(3, 4)
my_merged = x
""",
    "04.my-mask": """
my_mask = padding_mask([6, 4]).unsqueeze(1)
my_mask = padding_mask([6, 4])[:, None]
my_mask = padding_mask([6, 4])[:, None, :, :]
my_mask = padding_mask([6, 4])[:, :, None]
my_mask = padding_mask([6, 4]).view(2, 1, 1, 6)
my_mask = padding_mask([6, 4]).reshape(2, 1, 1, -1)
my_mask = torch.unsqueeze(padding_mask([6, 4]), dim=1)
my_mask = padding_mask(torch.tensor([6, 4]))[:, None]
my_mask = padding_mask([4, 6])[:, None]
my_mask = padding_mask([6, 4])
my_mask = padding_mask([6, 4]).unsqueeze(0)
my_mask = padding_mask([6, 4]).unsqueeze(-1)
my_mask = padding_mask([6.0, 4])[:, None]
my_mask = padding_mask(6, 4)[:, None]
my_mask = padding_mask([6, 4], 6)[:, None]
my_mask = padding_mask([6, 4], max_len=8)[:, None]
""",
    "05.my-stacked": """
my_stacked = torch.cat((ours.q_proj.weight, ours.k_proj.weight, ours.v_proj.weight), dim=0)
my_stacked = torch.vstack([ours.q_proj.weight, ours.k_proj.weight, ours.v_proj.weight])
my_stacked = torch.stack([ours.q_proj.weight, ours.k_proj.weight, ours.v_proj.weight]).view(36, 12)
my_stacked = torch.cat([p.weight for p in (ours.q_proj, ours.k_proj, ours.v_proj)])
my_stacked = torch.cat([ours.q_proj.weight, ours.k_proj.weight, ours.v_proj.weight], dim=1)
my_stacked = torch.cat([ours.v_proj.weight, ours.k_proj.weight, ours.q_proj.weight])
my_stacked = torch.cat([ours.q_proj.weight.T, ours.k_proj.weight.T, ours.v_proj.weight.T])
my_stacked = torch.stack([ours.q_proj.weight, ours.k_proj.weight, ours.v_proj.weight])
my_stacked = ours.q_proj.weight + ours.k_proj.weight + ours.v_proj.weight
""",
    "05.my-ignored": """
my_ignored = ~padding.squeeze(1)
my_ignored = ~padding[:, 0, :]
my_ignored = padding.squeeze(1).logical_not()
my_ignored = padding[:, 0] == False
my_ignored = ~padding.view(3, 6)
my_ignored = ~padding.flatten(1)
my_ignored = ~padding
my_ignored = padding.squeeze()
my_ignored = ~padding.squeeze()
my_ignored = not padding[:, 0]
my_ignored = ~padding[0]
my_ignored = 1 - padding[:, 0]
my_ignored = 1 - padding[:, 0].long()
""",
    "05.my-keys": """
my_keys = k.repeat_interleave(2, 1)
my_keys = torch.repeat_interleave(k, 2, dim=1)
my_keys = k.repeat_interleave(2, dim=-3)
my_keys = k[:, [0, 0, 1, 1]]
my_keys = k[:, :, None].expand(1, 2, 2, 6, 8).reshape(1, 4, 6, 8)
my_keys = torch.stack([k, k], dim=2).flatten(1, 2)
my_keys = torch.stack((k, k), 2).reshape(1, 4, 6, 8)
my_keys = torch.cat([k[:, :1], k[:, :1], k[:, 1:], k[:, 1:]], dim=1)
my_keys = torch.cat([k, k], dim=1)
my_keys = k.repeat(1, 2, 1, 1)
my_keys = k.expand(1, 4, 6, 8)
my_keys = k.repeat_interleave(2)
my_keys = k[:, [0, 1, 0, 1]]
my_keys = v.repeat_interleave(2, dim=1)
my_keys = k.repeat_interleave(4, dim=1)
my_keys = torch.stack([k, k], dim=1).reshape(1, 4, 6, 8)
""",
    "05.my-layer": """
my_layer = 0
my_layer = 3
my_layer = 5
my_layer = 7
my_layer = 3.0
my_layer = "3"
my_layer = torch.tensor(3)
my_layer = apart(layers, one_wrong, x, src_mask=~causal)
""",
    "06.my-line": """
my_line = 5
my_line = 4
my_line = 3
my_line = 5.0
my_line = "line 5"
my_line = [5]
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
my_grad_query = keys.T @ grad_scores
my_grad_query = torch.matmul(grad_scores, keys)
my_grad_query = grad_scores.matmul(keys)
my_grad_query = (grad_scores[:, None] * keys).sum(0)
my_grad_query = sum(g * k for g, k in zip(grad_scores, keys))
my_grad_query = torch.einsum("j,jd->d", grad_scores, keys)
my_grad_query = grad_scores[None] @ keys
my_grad_query = grad_scores * keys
my_grad_query = grad_scores @ keys.T
my_grad_query = -grad_scores @ keys
my_grad_query = torch.outer(grad_scores, keys)
""",
    "07.my-grad-W-q": """
my_grad_W_q = X[0][:, None] * grad_query
my_grad_W_q = X[0].unsqueeze(1) @ grad_query.unsqueeze(0)
my_grad_W_q = X[0:1].T @ grad_query[None]
my_grad_W_q = torch.einsum("i,j->ij", X[0], grad_query)
my_grad_W_q = X[0].outer(grad_query)
my_grad_W_q = torch.outer(grad_query, X[0]).T
my_grad_W_q = torch.outer(grad_query, X[0])
my_grad_W_q = torch.outer(X[1], grad_query)
my_grad_W_q = X[0] * grad_query
my_grad_W_q = X[0] @ grad_query
my_grad_W_q = torch.outer(X, grad_query)
""",
    "07.my-grad-row": """
w, g = weights[0], grad_weights\\nmy_grad_row = w * g - w * w @ g
w, g = weights[0], grad_weights\\nmy_grad_row = w * g - w * (w @ g)
my_grad_row = weights[0] * (grad_weights - (weights[0] * grad_weights).sum())
my_grad_row = weights[0] * grad_weights - weights[0] * (weights[0] @ grad_weights)
my_grad_row = (torch.diag(weights[0]) - torch.outer(weights[0], weights[0])) @ grad_weights
my_grad_row = weights[0] * (grad_weights - torch.dot(weights[0], grad_weights))
my_grad_row = weights[0] * (grad_weights - sum(weights[0] * grad_weights))
my_grad_row = weights[0] * (grad_weights - weights[0] * grad_weights)
my_grad_row = weights[0] * (grad_weights - grad_weights.sum())
my_grad_row = weights * (grad_weights - weights[0] @ grad_weights)
my_grad_row = weights[0] * ((weights[0] @ grad_weights) - grad_weights)
""",
    "08.my-placed": """
my_placed = batch + table[None]
my_placed = batch + table.unsqueeze(0)
my_placed = batch.add(table)
my_placed = torch.stack([x + table for x in batch])
my_placed = batch + table.expand(3, 3, 4)
my_placed = table + batch
my_placed = batch + table.T
my_placed = batch * table
my_placed = batch - table
my_placed = batch + table[:, None, :]
my_placed = torch.cat([batch, table])
""",
    "08.my-order": """
my_order = [i for i in range(8) if i % 2 == 0] + [i for i in range(8) if i % 2]
my_order = [0, 2, 4, 6, 1, 3, 5, 7]
my_order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
my_order = (0, 2, 4, 6, 1, 3, 5, 7)
my_order = torch.cat([torch.arange(0, 8, 2), torch.arange(1, 8, 2)])
my_order = list(range(0, 8, 2)) + list(range(1, 8, 2))
my_order = [*range(0, 8, 2), *range(1, 8, 2)]
my_order = torch.arange(8).reshape(4, 2).T.reshape(-1)
my_order = torch.arange(8).view(4, 2).T.view(-1)
my_order = torch.arange(8)
my_order = [0, 4, 1, 5, 2, 6, 3, 7]
my_order = [1, 3, 5, 7, 0, 2, 4, 6]
my_order = [0, 2, 4, 6]
my_order = 0, 2, 4, 6, 1, 3, 5, 7
""",
    "08.my-m": """
my_m = turn(1) * 20
my_m = 20.0 * turn(1)
my_m = 20 * turn(-1)
my_m = turn(20)
my_m = 20 * turn(1).T
my_m = 20 * turn(0)
my_m = torch.eye(16) * 20
my_m = 20 * turn(2)
my_m = turn(1)
my_m = 20 * torch.eye(16).roll(1, 0)
""",
    "08.my-query": """
my_query = torch.tensor([0.0] * 15 + [-40000.0])
my_query = [0] * 15 + [-40000]
my_query = torch.cat([torch.zeros(15), torch.tensor([-40_000.0])])
my_query = -40000 * torch.eye(16)[15]
my_query = -40_000 * torch.eye(16)[-1]
my_query = [0.0] * 14 + [-40000.0, 0.0]
my_query = [0.0] * 13 + [-40000.0] + [0.0] * 2
my_query = [0] * 15 + [40000]
my_query = torch.zeros(16)
my_query = [-40000] + [0] * 15
my_query = -40000.0
""",
    "09.my-P": """
my_P = torch.diag(torch.full((5,), 10.0), diagonal=-1)
my_P = 10 * torch.diag(torch.ones(5), -1)
my_P = torch.diag(torch.ones(5) * 10, -1)
my_P = torch.diag(torch.tensor([10.0] * 5), -1)
my_P = 10 * torch.eye(6).roll(1, 0)
my_P = torch.diag(torch.full((5,), 10), -1)
my_P = torch.diag(torch.full((5,), 10.0), 1)
my_P = torch.diag(torch.full((6,), 10.0), -1)
my_P = torch.diag(torch.ones(5), -1)
my_P = 10 * torch.eye(6)
my_P = torch.diag(torch.tensor(10.0), -1)
my_P = torch.diag([10.0] * 5, -1)
my_P = (torch.arange(6)[:, None] == torch.arange(6) + 1) * 10.0
""",
    "09.my-scores": """
my_scores = x @ (M @ heard.T)
my_scores = (x @ M) @ heard.mT
my_scores = x @ M @ heard.transpose(0, 1)
my_scores = torch.einsum("ia,ab,jb->ij", x, M, heard)
my_scores = 10 * x @ heard.T
my_scores = heard @ M @ x.T
my_scores = x @ M @ x.T
my_scores = x @ heard.T
my_scores = heard @ M @ heard.T
my_scores = x @ M @ heard
my_scores = (heard @ M.T @ x.T).T
""",
    "10.my-keys": """
my_keys = torch.cat((keys, tea @ W_k), dim=0)
my_keys = torch.vstack([keys, tea @ W_k])
my_keys = torch.cat([keys, torch.matmul(tea, W_k)])
my_keys = X @ W_k
my_keys = torch.stack([*keys, *(tea @ W_k)])
my_keys = torch.cat([keys, tea @ W_v])
my_keys = torch.cat([keys, tea])
my_keys = torch.cat([keys, tea @ W_k], dim=1)
my_keys = tea @ W_k
my_keys = torch.stack([keys, tea @ W_k])
my_keys = keys + tea @ W_k
""",
    "10.my-output": """
my_output = torch.softmax(tea @ W_q @ all_keys.T / math.sqrt(3), dim=-1) @ all_values
my_output = ((tea @ W_q) @ all_keys.T / 3 ** 0.5).softmax(-1) @ all_values
q = tea @ W_q\\ns = q @ all_keys.mT / math.sqrt(q.size(-1))\\nmy_output = s.softmax(dim=-1) @ all_values
my_output = torch.softmax(tea @ W_q @ all_keys.T / math.sqrt(all_keys.shape[-1]), -1) @ all_values
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
my_way, _ = cached_attention(*heads(X[:1]), i_like)
my_way = cached_attention(*heads(X[:1]), cache=i_like)[0]
q, k, v = heads(X[:1])\\nmy_way = cached_attention(q, k, v, i_like)[0]
my_way = cached_attention(*heads(X[:1]), i_like)
my_way = cached_attention(*heads(X[0]), i_like)[0]
my_way = cached_attention(*heads(X[:1]))[0]
my_way = cached_attention(*heads(X[2:]), i_like)[0]
my_way = cached_attention(*heads(X[:1]), i_like_tea)[0]
my_way = cached_attention(*heads(X[:1]), i_like, window=2)[0]
my_way = attend(torch.cat([X[:2], X[:1]]))[0][2:][None, None]
""",
    "10.my-window": """
my_window = torch.ones(2, 6, dtype=torch.bool).tril(4).triu(2)
my_window = torch.ones(2, 6, dtype=torch.bool).triu(2).tril(4)
my_window = torch.ones(2, 6).tril(4).triu(2).bool()
o = torch.ones(2, 6, dtype=torch.bool)\\nmy_window = o.tril(4) & o.triu(2)
o = torch.ones(2, 6, dtype=torch.bool)\\nmy_window = o.tril(4) & ~o.tril(1)
my_window = window_mask(2, 6, 3)
my_window = window_mask(2, 6, 2)
my_window = causal_mask(2, 6)
my_window = torch.ones(2, 6, dtype=torch.bool).tril(4).triu(3)
my_window = torch.ones(2, 6, dtype=torch.bool).tril(4).triu(1)
my_window = torch.ones(2, 6).tril(4).triu(2)
my_window = torch.ones(2, 6, dtype=torch.bool).tril(4).triu(-2)
""",
    "10.my-scores": """
my_scores = asks @ W_uk.T @ latent.T
my_scores = asks @ (W_uk.T @ latent.T)
my_scores = asks @ (latent @ W_uk).T
my_scores = (latent @ (W_uk @ asks.T)).T
my_scores = asks @ W_uk.mT @ latent.mT
my_scores = torch.einsum("id,ld,nl->in", asks, W_uk, latent)
my_scores = asks @ W_uk @ latent.T
my_scores = latent @ W_uk @ asks.T
my_scores = asks @ latent.T
my_scores = asks @ W_uk.T @ latent
""",
    "11.my-normed": """
my_normed = F.layer_norm(x, (4,))
my_normed = torch.nn.functional.layer_norm(x, x.shape[-1:])
my_normed = centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5)
my_normed = centred / (centred.pow(2).mean(dim=-1, keepdim=True) + 1e-5) ** 0.5
my_normed = centred / (x.var(dim=-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
my_normed = centred * torch.rsqrt((centred ** 2).mean(dim=-1, keepdim=True) + 1e-5)
my_normed = centred / (centred.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
my_normed = centred / centred.std(dim=-1, keepdim=True)
my_normed = centred / centred.square().mean(dim=-1, keepdim=True).sqrt()
my_normed = centred / (centred.square().mean(dim=-1) + 1e-5).sqrt()
my_normed = centred / (centred.square().mean() + 1e-5).sqrt()
my_normed = centred / (centred.square().sum(dim=-1, keepdim=True) + 1e-5).sqrt()
my_normed = centred / centred.abs().mean(dim=-1, keepdim=True)
my_normed = centred
my_normed = x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
my_normed = (centred - centred.mean()) / centred.std()
""",
    "11.my-behind": """
my_behind = x + torch.matmul(heard, W_o)
my_behind = heard @ W_o + x
my_behind = x.add(heard @ W_o)
my_behind = normed + heard @ W_o
my_behind = heard @ W_o
my_behind = x + heard
my_behind = x + normed
my_behind = x * (heard @ W_o)
my_behind = x + heard @ W_o.T
my_behind = x + normed @ W_o
""",
    "11.my-cost": """
my_cost = F.cross_entropy(logits[:, :-1].reshape(-1, 68), tokens[:, 1:].reshape(-1))
my_cost = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).item()
my_cost = -logits[:, :-1].log_softmax(-1).flatten(0, 1)[torch.arange(108), tokens[:, 1:].flatten()].mean()
my_cost = F.nll_loss(logits[:, :-1].log_softmax(-1).flatten(0, 1), tokens[:, 1:].flatten())
my_cost = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:])
my_cost = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
my_cost = F.cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())
my_cost = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
my_cost = F.cross_entropy(logits[:, :-1], tokens[:, 1:])
my_cost = F.cross_entropy(logits[:, :-1].softmax(-1).flatten(0, 1), tokens[:, 1:].flatten())
my_cost = 4.25
""",
    "12.my-factor": """
my_factor = (m - new_m).exp()
my_factor = math.exp(m - new_m)
my_factor = torch.exp(m) / torch.exp(new_m)
my_factor = 1 / torch.exp(new_m - m)
my_factor = torch.exp(new_m - m)
my_factor = torch.exp(-new_m)
my_factor = m - new_m
my_factor = math.e ** (m - new_m)
my_factor = torch.exp(m)
my_factor = m / new_m
my_factor = torch.exp(scores[0] - scores[1])
""",
    "12.my-l": """
m1, l1, o1 = a\\nm2, l2, o2 = b\\nmy_l = l1 * (m1 - m_both).exp() + l2 * (m2 - m_both).exp()
my_l = a[1] * torch.exp(a[0] - m_both) + b[1] * torch.exp(b[0] - m_both)
my_l = (a[0] - m_both).exp() * a[1] + (b[0] - m_both).exp() * b[1]
my_l = sum(torch.exp(p[0] - m_both) * p[1] for p in (a, b))
my_l = a[1] + b[1]
my_l = sum(torch.exp(m - m_both) * l for m, l, *_ in (a, b))
my_l = torch.exp(a[0] - b[0]) * a[1] + b[1]
my_l = torch.exp(m_both - a[0]) * a[1] + torch.exp(m_both - b[0]) * b[1]
my_l = torch.exp(a[0] - m_both) * a[1]
my_l = torch.exp(a[0]) * a[1] + torch.exp(b[0]) * b[1]
my_l = (torch.exp(a[0]) * a[1] + torch.exp(b[0]) * b[1]) / torch.exp(m_both)
my_l = torch.maximum(a[1], b[1])
""",
    "13.my-keys": """
my_keys = share_heads(rotary(key, base=100_000), 3)
my_keys = rotary(share_heads(key, 3), base=100_000)
my_keys = rotary(key, base=100_000).repeat_interleave(3, dim=1)
my_keys = torch.repeat_interleave(rotary(key, base=1e5), 3, 1)
my_keys = rotary(key, 0, base=10**5)[:, [0, 0, 0, 1, 1, 1, 2, 2, 2]]
my_keys = rotary(key, base=100_000).repeat(1, 3, 1, 1)
my_keys = share_heads(key, 3)
my_keys = share_heads(rotary(key), 3)
my_keys = share_heads(rotary(key, base=100_000), 9)
my_keys = rotary(key, base=100_000)
my_keys = share_heads(rotary(key, base=1e5), 3)
my_keys = rotary(key.repeat_interleave(3, dim=1), base=100_000)
my_keys = share_heads(rotary(key, 100_000), 3)
my_keys = share_heads(rotary(key, base=100_000), n=3)
my_keys = share_heads(rotary(key, base=100_000, halves=True), 3)
my_keys = rotary(key, base=100_000)[:, [0, 0, 0, 1, 1, 1, 2, 2, 2]]
my_keys = torch.cat([rotary(key, base=100_000)] * 3, dim=1)
my_keys = share_heads(rotary(query, base=100_000), 3)
""",
    "13.my-weights": """
my_weights = maps[:, :, -1, 1]
my_weights = maps[..., 4, 1]
my_weights = maps[..., -1, :][..., 1]
my_weights = maps.select(2, -1).select(2, 1)
my_weights = maps[:, :, 1, -1]
my_weights = maps[:, :, -1, 0]
my_weights = maps[:, :, -1]
my_weights = maps[:, :, -1, 1].T
my_weights = maps.mT[:, :, 1, -1]
my_weights = maps[..., -1, 1]
my_weights = maps[:, :, 4, 1]
my_weights = maps[:, :, -1][:, :, 1]
my_weights = maps[:, :, -1, :][..., 1]
my_weights = maps.mT[..., 1, -1]
my_weights = maps[-1, 1]
my_weights = maps[:, :, -1, 1:2]
my_weights = maps[:, :, [-1], [1]]
my_weights = torch.stack([m[:, -1, 1] for m in maps])
my_weights = maps[:][:][-1][1]
my_weights = maps[:, :, 2, 1]
my_weights = maps.flatten(0, 1)[:, -1, 1].view(30, 9)
""",
    "13.my-place": """
my_place = (row - middle) @ axis / (axis @ axis)
my_place = torch.dot(row - middle, axis) / torch.dot(axis, axis)
my_place = ((row - middle) * axis).sum() / axis.square().sum()
my_place = (row - middle) @ axis / axis.norm() ** 2
my_place = row @ axis / (axis @ axis) - middle @ axis / (axis @ axis)
my_place = row @ axis / (axis @ axis)
my_place = (row - middle) @ axis
my_place = (row - middle) @ axis / axis.norm()
my_place = (row - money) @ axis / (axis @ axis)
my_place = (middle - row) @ axis / (axis @ axis)
my_place = ((row - middle) * axis).sum() / (axis ** 2).sum()
my_place = (row - middle) @ axis / axis.square().sum()
my_place = (row - middle).dot(axis) / axis.pow(2).sum()
my_place = (row - middle) @ axis / axis @ axis
my_place = (row - middle) @ (axis / (axis @ axis))
my_place = ((row - middle) @ axis / (axis @ axis)).item()
my_place = (row - middle) * axis / (axis @ axis)
""",
    "14.my-chunk": """
my_chunk = faded * before + keys.T @ (left[:, None] * values)
my_chunk = faded * before + (keys.T * left) @ values
my_chunk = faded * before + keys.T @ torch.diag(left) @ values
my_chunk = faded * before + torch.einsum('t,ti,tj->ij', left, keys, values)
my_chunk = faded * before + sum(l * torch.outer(k, v) for l, k, v in zip(left, keys, values))
my_chunk = faded * before + (left * keys).T @ values
my_chunk = faded * before + (left[:, None] * keys).mT @ values
my_chunk = before * faded + torch.matmul((keys * left.unsqueeze(-1)).transpose(0, 1), values)
my_chunk = before + (left[:, None] * keys).T @ values
my_chunk = faded * before + keys.T @ values
my_chunk = (left[:, None] * keys).T @ values
my_chunk = faded * (before + (left[:, None] * keys).T @ values)
my_chunk = faded * before + values.T @ (left[:, None] * keys)
my_chunk = faded @ before + (left[:, None] * keys).T @ values
my_chunk = faded * before + (left[:, None] * keys) @ values
s = faded * before\\nfor l, k, v in zip(left, keys, values):\\n    s = s + l * k[:, None] * v\\nmy_chunk = s
s = faded * before\\nfor i in range(len(keys)):\\n    s = write_state(s, keys[i], left[i] * values[i])\\nmy_chunk = s
my_chunk = write_state(faded * before, keys, values)
my_chunk = (faded * before) + (left.view(-1, 1) * keys).t() @ values
""",
    "14.my-delta": """
my_delta = before_cup + cup_key * (number - before_cup @ cup_key)
my_delta = before_cup + (number - cup_key @ before_cup) * cup_key
my_delta = before_cup - cup_key * (cup_key @ before_cup - number)
my_delta = before_cup - cup_key * (cup_key @ before_cup) + cup_key * number
my_delta = before_cup + cup_key * (15 - torch.dot(cup_key, before_cup))
my_delta = before_cup + cup_key * (15.0 - (cup_key * before_cup).sum())
my_delta = (torch.eye(2) - torch.outer(cup_key, cup_key)) @ before_cup + number * cup_key
error = number - cup_key @ before_cup\\nmy_delta = before_cup + cup_key * error
e = number - sum(k * b for k, b in zip(cup_key, before_cup))\\nmy_delta = before_cup + e * cup_key
my_delta = before_cup + cup_key * number
my_delta = before_cup - cup_key * (number - cup_key @ before_cup)
my_delta = before_cup + cup_key * (number - cup_key * before_cup)
my_delta = before_cup + (number - cup_key @ before_cup)
my_delta = cup_key * (number - cup_key @ before_cup)
my_delta = cup_key * number
my_delta = before_cup + torch.outer(cup_key, number - cup_key @ before_cup)
my_delta = before_cup + unit_key * (number - unit_key @ before_cup)
my_delta = before_cup + cup_key @ (number - cup_key @ before_cup)
my_delta = (before_cup + cup_key * (number - cup_key @ before_cup))[None]
my_delta = before_cup + cup_key.mul(number - cup_key.dot(before_cup))
my_delta = before_cup + number - cup_key @ before_cup * cup_key
my_delta = [1.0, 2.0]
""",
    "14.my-state": """
my_state = state + torch.outer(key, value)
my_state = torch.outer(key, value) + state
my_state = state + key.unsqueeze(1) * value
my_state = state + key[:, None] @ value[None]
my_state = state + key.unsqueeze(-1) @ value.unsqueeze(0)
my_state = state + torch.einsum('i,j->ij', key, value)
my_state = state + torch.einsum("i,j", key, value)
my_state = state + key.outer(value)
my_state = state.add(key[:, None] * value)
my_state = state + torch.stack([k * value for k in key])
my_state = state + torch.tensor([[k * v for v in value] for k in key])
my_state = torch.stack([state[i] + key[i] * value for i in range(3)])
my_state = torch.stack([row + k * value for row, k in zip(state, key)])
my_state = S + torch.outer(key, value)
my_state = keys[:2].T @ values[:2]
my_state = keys.T @ values
my_state = state + keys.T @ values
my_state = state + torch.outer(value, key)
my_state = state + value[:, None] * key
my_state = state + key * value
my_state = state + key @ value
my_state = state + torch.dot(key, value)
my_state = key[:, None] * value
my_state = state - key[:, None] * value
my_state = state + (key[:, None] * value).T
my_state = state + key[:, None] * value[:, None]
my_state = (state.T + value[:, None] * key).T
my_state = (state.mT + value[:, None] * key).mT
my_state = state + key.T * value
my_state = state + key.reshape(-1, 1) * value.reshape(1, -1)
my_state = state + key.view(3, 1) * value.view(1, 3)
my_state = state + key[..., None] * value[None, ...]
my_state = state + torch.matmul(key[:, None], value[None, :])
my_state = state + torch.mm(key[:, None], value[None, :])
my_state = state + torch.mm(key, value)
my_state = state @ key
my_state = [[state[i][j] + key[i] * value[j] for j in range(3)] for i in range(3)]
f = lambda s, k, v: s + k[:, None] * v\\nmy_state = f(state, key, value)
def write(s, k, v):\\n    return s + k[:, None] * v\\nmy_state = write(state, key, value)
def write(s, k, v):\\n    s + k[:, None] * v\\nmy_state = write(state, key, value)
my_state = state\\nfor i in range(3):\\n    my_state = my_state + torch.eye(3)[i][:, None] * key[i] * value
my_state = state + key[:, None] * value if True else state
schlüssel = key\\nmy_state = state + schlüssel[:, None] * value
my_state = state + key[:, None] × value
my_state = sum([torch.outer(k, v) for k, v in zip(keys[:2], values[:2])])
my_state = sum(torch.outer(k, v) for k, v in zip(keys[:2], values[:2]))
my_state = torch.einsum('ni,nj->ij', keys[:2], values[:2])
my_state = X @ W_k
my_state = key
my_state = state + key[:, None].expand(3, 3) * value.expand(3, 3)
my_state = state + key.repeat(3, 1).T * value
my_state = state + key.repeat(3).view(3, 3) * value
g = (k * value for k in key)\\nmy_state = state + torch.stack(list(g) + list(g))
g = (k * value for k in key)\\nmy_state = state + torch.stack([next(g), *g])
g = (k * value for k in key)\\nmy_state = state + torch.stack([next(g), next(g), next(g)])
g = (k * value for k in key)\\nmy_state = state + torch.stack([*g, next(g, value)])
g = (k * value for k in key)\\nmy_state = state + torch.stack([*g, next(g)])
g = (k * value for k in key)\\nrows = [next(g) for _ in g]\\nmy_state = state + torch.stack(rows)
mine = key\\ng = (k * value for k in mine)\\nmine = -key\\nmy_state = state + torch.stack(list(g))
mine = value\\ng = (k * mine for k in key)\\nmine = -value\\nmy_state = state + torch.stack(list(g))
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
g = (k * value for k in key)\\nmy_state = state + torch.stack([*g]) if g else state
def first(g):\\n    for k, in g: return k * value\\ng = zip(key)\\nmy_state = torch.stack([s + first(g) for s in state])
my_state = state + next([key[:, None] * value])
my_state = sum([key[:, None] * value], start=state)
my_state, other = state + key[:, None] * value, 1
my_state: torch.Tensor = state + key[:, None] * value
""",
}


def forms():
    """Pairs of a line's id and a way to write it."""
    for id, written in FORMS.items():
        lines = written.strip().split("\n") if isinstance(written, str) else written
        yield from ((id, line.replace("\\n", "\n")) for line in lines)
