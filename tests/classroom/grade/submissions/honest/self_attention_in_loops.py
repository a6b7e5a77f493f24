# 1.2 correct
# Without a matrix product of its own.
# %%
def my_self_attention(x, w_q, w_k, w_v):
    rows = []
    for token in x:
        scores = torch.stack([(token @ w_q) @ (other @ w_k) for other in x])
        weights = scores.exp() / scores.exp().sum()
        rows.append(sum(w * (other @ w_v) for w, other in zip(weights, x)))
    return torch.stack(rows)
