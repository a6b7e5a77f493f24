"""The shared code of the notebook series. Plots, boards and exercises are imported by name: attn_lib.plots, …"""

from .backward import attention_backward, softmax_backward
from .examples import Steps, self_attention_steps
from .functional import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads
from .masks import causal_mask, padding_mask
from .modules import AttentionHead, MultiHeadAttention, MultiHeadAttentionByHeads

__all__ = [
    "AttentionHead",
    "MultiHeadAttention",
    "MultiHeadAttentionByHeads",
    "Steps",
    "attention_backward",
    "causal_mask",
    "masked_softmax",
    "merge_heads",
    "padding_mask",
    "scaled_dot_product_attention",
    "self_attention_steps",
    "softmax_backward",
    "split_heads",
]
