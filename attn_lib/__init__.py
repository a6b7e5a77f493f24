"""The attention that the notebooks teach, as they build it up; what teaches it stands in workbench."""

from .backward import attention_backward, softmax_backward
from .cache import Cache, cache_bytes, cached_attention
from .examples import Steps, self_attention_steps
from .functional import masked_softmax, merge_heads, scaled_dot_product_attention, share_heads, split_heads
from .gpt import GPT, Block, layer_norm, next_shares, next_token_loss, read_on
from .induction import induction_score, without_head
from .linear import chunked_attention, linear_attention, read_state, state_bytes, write_state
from .masks import causal_mask, padding_mask, window_mask
from .modules import AttentionHead, MultiHeadAttention, MultiHeadAttentionByHeads
from .online import backward_block, finish, flash_attention, merge, merge_outputs, part, pass_keys
from .position import alibi_bias, position_angles, rotary, sinusoidal_encoding

__all__ = [
    "GPT",
    "AttentionHead",
    "Block",
    "Cache",
    "MultiHeadAttention",
    "MultiHeadAttentionByHeads",
    "Steps",
    "alibi_bias",
    "attention_backward",
    "backward_block",
    "cache_bytes",
    "cached_attention",
    "causal_mask",
    "chunked_attention",
    "finish",
    "flash_attention",
    "induction_score",
    "layer_norm",
    "linear_attention",
    "masked_softmax",
    "merge",
    "merge_heads",
    "merge_outputs",
    "next_shares",
    "next_token_loss",
    "padding_mask",
    "part",
    "pass_keys",
    "position_angles",
    "read_on",
    "read_state",
    "rotary",
    "scaled_dot_product_attention",
    "self_attention_steps",
    "share_heads",
    "sinusoidal_encoding",
    "softmax_backward",
    "split_heads",
    "state_bytes",
    "window_mask",
    "without_head",
    "write_state",
]
