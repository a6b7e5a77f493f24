# 4.1 correct; 4.2 correct; 4.3 correct
# 4.3 stands on the hand-in's own 4.1 and 4.2, and on the lesson's attention.
# %%
def my_split_heads(x, num_heads):
    batch, n, width = x.shape
    return x.view(batch, n, num_heads, width // num_heads).permute(0, 2, 1, 3)
# %%
def my_merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(-2)
# %%
def my_multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (my_split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]
    output, _ = scaled_dot_product_attention(q, k, v, mask)
    return my_merge_heads(output) @ w_o
