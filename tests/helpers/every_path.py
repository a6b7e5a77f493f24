"""Every way through `attn_lib`, on any device: what a test asks of `meta` and a benchmark of a graphics card."""

import torch

import attn_lib
from attn_lib import GPT, MultiHeadAttention, fast


def paths(device):
    """Name of the way → a call without arguments, which returns what is made."""
    device = torch.device(device)

    def zeros(*shape, dtype=torch.float32):
        return torch.zeros(shape, dtype=dtype, device=device, requires_grad=dtype.is_floating_point)

    def mask(*leading):
        return zeros(*leading, 5, 7, dtype=torch.bool)

    def tokens(*shape):
        return zeros(*shape, dtype=torch.int64)

    def heads(n_queries=5, n_keys=7, kv_heads=4):
        return zeros(2, 4, n_queries, 8), zeros(2, kv_heads, n_keys, 8), zeros(2, kv_heads, n_keys, 8)

    def module(n_queries=5, n_keys=7, **options):
        with device:
            attention = MultiHeadAttention(16, 2, dropout=0.1)
        memory = zeros(2, n_keys, 16)
        return attention(zeros(2, n_queries, 16), memory, memory, **options)

    def from_torch():
        theirs = torch.nn.MultiheadAttention(16, 2, device=device)
        return attn_lib.without_head(MultiHeadAttention.from_torch(theirs), 1)(*[zeros(2, 5, 16)] * 3)

    def by_heads():
        with device:
            attention = attn_lib.MultiHeadAttentionByHeads(16, 2)
        return attention(*[zeros(2, 5, 16)] * 3, attn_lib.causal_mask(5, device=device))

    def cached(**options):
        _, cache = attn_lib.cached_attention(*heads(7, 7, 2), **options)
        return attn_lib.cached_attention(*heads(1, 1, 2), cache, **options)

    def by_blocks():
        query, key, value = heads()
        output, lse = attn_lib.flash_attention(query, key, value, is_causal=True, rows=2, keys=3)
        shares = attn_lib.backward_block(query, key, value, output, lse, output, mask())
        return shares, attn_lib.merge_outputs(output, lse, output, lse)

    def without_a_row():
        tokens = zeros(2, 7, 8), zeros(2, 7, 8), zeros(2, 7, 4)
        keep, rate = zeros(2, 7), zeros(2, 7)
        return attn_lib.linear_attention(*tokens, keep, rate), attn_lib.chunked_attention(*tokens, keep, rate, chunk=3)

    def written():
        with device:
            model = GPT(9, 12, 16, 2)
        _, caches = attn_lib.read_on(model, tokens(2, 5), [None])
        logits, _ = attn_lib.read_on(model, tokens(2, 3), caches)
        loss = attn_lib.next_token_loss(model(tokens(2, 8))[0], tokens(2, 8))
        return attn_lib.next_shares(logits, top=3), loss

    return {
        "weights": module,
        "weights, causal": lambda: module(is_causal=True),
        "weights, causal, dead rows": lambda: module(7, 5, is_causal=True),
        "weights, mask": lambda: module(mask=mask(2)),
        "weights, padding": lambda: module(mask=attn_lib.padding_mask(tokens(2), 7)),
        "fused": lambda: module(need_weights=False),
        "fused, causal": lambda: module(7, need_weights=False, is_causal=True),
        "fused, causal, more keys": lambda: module(need_weights=False, is_causal=True),
        "fused, mask": lambda: module(need_weights=False, mask=mask(2)),
        "from torch": from_torch,
        "by heads": by_heads,
        "without dropout": lambda: fast.attention_with_weights(*heads()),
        "without dropout, causal": lambda: fast.attention_with_weights(*heads(), is_causal=True),
        "without dropout, dead rows": lambda: fast.attention_with_weights(*heads(7, 5), is_causal=True),
        "without dropout, mask": lambda: fast.attention_with_weights(*heads(), mask()),
        "the way back by hand": lambda: attn_lib.attention_backward(*heads(), heads()[0], mask()),
        "cache": cached,
        "cache, window, RoPE": lambda: cached(window=3, rope=True),
        "RoPE in halves": lambda: attn_lib.rotary(heads()[0], 3, halves=True),
        "sinusoids": lambda: attn_lib.sinusoidal_encoding(5, 6, device=device),
        "ALiBi": lambda: attn_lib.alibi_bias(6, 5, 7, device=device),
        "window": lambda: attn_lib.window_mask(5, 7, 2, device=device),
        "tiles": lambda: attn_lib.flash_attention(*heads(), rows=2, keys=3),
        "blocks": by_blocks,
        "states": without_a_row,
        "GPT": written,
        "induction": lambda: attn_lib.induction_score(zeros(2, 3, 5, 5), tokens(2, 5)),
        "steps": lambda: attn_lib.self_attention_steps(zeros(3, 4), zeros(4, 3), zeros(4, 3), zeros(4, 3)),
    }


def there_and_back(path):
    """Go one way, and back through all that learns; returns the tensors that it made."""
    made = [x for x in torch.utils._pytree.tree_leaves(path()) if isinstance(x, torch.Tensor)]
    trained = [x for x in made if x.requires_grad]
    if trained:
        torch.autograd.backward(trained, [torch.ones_like(x) for x in trained])
    return made
