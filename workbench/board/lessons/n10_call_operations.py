"""What only the board of one call computes: what a call reads and multiplies. The page's half stands beside it.

A call gives a model some new tokens of each of several texts, and returns an output for each. The model is Llama 2 7B,
the card is roughly an NVIDIA H100, as in the notebook's text.
"""

import torch

from ..operations import operation, row_words

WEIGHTS = 6.7e9  # numbers, of two bytes
LAYERS, HEADS, HEAD_DIM = 32, 32, 128
BYTES_A_SECOND = 3e12
PRODUCTS_A_SECOND = 5e14
GIGA = 1e9


@operation(words=lambda *_: ([], []))
def bytes_read(*, prompt, texts, stored, window, bits):
    """GB that one call reads from memory: all weights, and each text's whole cache."""
    a_token = 2 * LAYERS * stored * HEAD_DIM * bits / 8
    return torch.tensor([[2 * WEIGHTS, texts * min(prompt, window) * a_token]], dtype=torch.float64) / GIGA


@operation(words=lambda *_: ([], []))
def products_made(*, prompt, texts, tokens, window):
    """Billions of multiplications of one call: each weight once a token; a score and an average for each old token."""
    new = texts * tokens
    attended = 2 * LAYERS * HEADS * HEAD_DIM * min(prompt, window)
    return torch.tensor([[new * WEIGHTS, new * attended]], dtype=torch.float64) / GIGA


@operation(words=row_words)
def milliseconds(read, made):
    """How long the card reads, in the first row, and how long it multiplies, in the second."""
    return torch.cat([read * GIGA / BYTES_A_SECOND, made * GIGA / PRODUCTS_A_SECOND]) * 1000


@operation(words=lambda *_: ([], []))
def longer(times):
    """The longer of the two times: while the card reads it multiplies."""
    return times.sum(dim=1, keepdim=True).max(dim=0, keepdim=True).values
