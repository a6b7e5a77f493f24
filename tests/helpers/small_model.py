"""A language model of the same kind as SmolLM2 that was never trained: two blocks, a few words, no file."""

import torch

from workbench.smollm import LanguageModel
from workbench.smollm.model import Sizes, Weights
from workbench.smollm.pieces import SIGNS, Pieces

SIZES = Sizes(blocks=2, embed_dim=24, heads=6, kv_heads=2, head_dim=4, base=100.0, epsilon=1e-5)
WORDS = ["The", " keys", " key", " near", " the", " cat", " cats", " were", " was"]


def small_model(seed=0, words=WORDS, end=None):
    """Its words are one piece each; everything else is cut into bytes. Numbers are large, so that heads differ."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(shape, generator=generator)

    model = object.__new__(LanguageModel)
    model.sizes, model.pieces, model.end = SIZES, pieces_of(words), end
    d, kv, inner = SIZES.embed_dim, SIZES.kv_heads * SIZES.head_dim, 40
    shapes = Weights((d,), (d, d), (kv, d), (kv, d), (d, d), (d,), (inner, d), (inner, d), (d, inner))
    model.blocks = [Weights(*(drawn(*shape) * 1.5 / d**0.5 for shape in shapes)) for _ in range(SIZES.blocks)]
    model.table, model.norm = drawn(len(model.pieces.words), d), 1 + drawn(d) / 4
    model.says = model.table
    return model


def pieces_of(words):
    """Pieces that join each of these words sign by sign, from the left."""
    signs, merges = list(SIGNS.values()), {}
    for word in words:
        own = [SIGNS[byte] for byte in word.encode()]
        for k in range(1, len(own)):
            merges["".join(own[:k]) + " " + own[k]] = None
    tokens = signs + [pair.replace(" ", "") for pair in merges]
    fields = {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": list(merges)}
    return Pieces(fields | {"tokenizer.ggml.token_type": [1] * len(tokens)})
