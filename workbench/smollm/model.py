"""A language model that people use, read from its GGUF file; its attention is attn_lib's, as the lessons wrote it."""

import json
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F

from attn_lib import cached_attention, merge_heads, rotary, split_heads

from . import absent
from .gguf import GGUF
from .pieces import Pieces
from .place import NoModel, model_file


class Sizes(NamedTuple):
    """blocks, features of a token, heads that ask, heads that are stored, features of a head, RoPE's base, and ε."""

    blocks: int
    embed_dim: int
    heads: int
    kv_heads: int
    head_dim: int
    base: float
    epsilon: float


class Weights(NamedTuple):
    """A block's numbers. Each row of a matrix makes one output, so x @ W.T is what the matrix makes of x."""

    norm_1: torch.Tensor
    W_q: torch.Tensor
    W_k: torch.Tensor
    W_v: torch.Tensor
    W_o: torch.Tensor
    norm_2: torch.Tensor
    W_gate: torch.Tensor
    W_up: torch.Tensor
    W_down: torch.Tensor


IN_FILE = Weights(
    *("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")
)

# ----------------------------------------------------------------------------------------------------------- a block


def rms_norm(x, weight, epsilon):
    """LayerNorm without its mean and its bias."""
    return x / (x.square().mean(dim=-1, keepdim=True) + epsilon).sqrt() * weight


def attend(query, key, value, cache, base):
    """What the heads read, side by side (batch, n, embed_dim), and the cache with these tokens; all comes unturned."""
    seen = 0 if cache is None else cache.seen
    query, key = rotary(query, seen, base=base), rotary(key, seen, base=base)
    output, cache = cached_attention(query, key, value, cache)
    return merge_heads(output), cache


def block(x, w, cache, sizes, attend=attend):
    """One block: x (batch, n, embed_dim) → the same shape, and its cache."""
    h = rms_norm(x, w.norm_1, sizes.epsilon)
    query = split_heads(h @ w.W_q.T, sizes.heads)  # (batch, heads, n, head_dim)
    key = split_heads(h @ w.W_k.T, sizes.kv_heads)  # (batch, kv_heads, n, head_dim)
    value = split_heads(h @ w.W_v.T, sizes.kv_heads)
    output, cache = attend(query, key, value, cache, sizes.base)
    x = x + output @ w.W_o.T
    h = rms_norm(x, w.norm_2, sizes.epsilon)
    return x + (F.silu(h @ w.W_gate.T) * (h @ w.W_up.T)) @ w.W_down.T, cache


# ------------------------------------------------------------------------------------------------------ the whole


class LanguageModel:
    """The model in a GGUF file: text → pieces → 30 blocks → logits of the next piece.

    Raises: ValueError, in a sentence, for a file whose model would be computed wrongly here: another architecture,
    other pieces, numbers kept in a way that is not read.
    """

    def __init__(self, path, dtype=torch.float32):
        self.file = file = GGUF(path)
        self.sizes = sizes_of(file)
        check_pieces(file)
        self.pieces = Pieces(file.fields)
        check_arrays(file, self.sizes, len(self.pieces.words))
        self.end = file.fields.get("tokenizer.ggml.eos_token_id")

        def read(name):
            numbers = torch.from_numpy(file.numbers(f"{name}.weight")).to(dtype)
            file.release()
            return numbers

        self.table = read("token_embd")  # (vocabulary, embed_dim)
        self.blocks = [Weights(*(read(f"blk.{i}.{name}") for name in IN_FILE)) for i in range(self.sizes.blocks)]
        self.norm = read("output_norm")
        self.says = read("output") if "output.weight" in file.shapes else self.table  # often one and the same

    def __repr__(self):
        sizes, numbers = self.sizes, sum(w.numel() for w in self.arrays())
        return (
            f"{numbers:,} numbers: {len(self.pieces.words):,} pieces of {sizes.embed_dim} features, "
            f"{sizes.blocks} blocks of {sizes.heads} heads of {sizes.head_dim}, "
            f"{sizes.kv_heads} heads of keys and values"
        )

    def arrays(self):
        """All that was trained, each once."""
        yield from (self.table, self.norm, *[self.says] * (self.says is not self.table))
        for w in self.blocks:
            yield from w

    # ------------------------------------------------------------------------------------------------------- text

    def tokens(self, *texts):
        """The numbers of the pieces of these texts, which must be as long as each other: (texts, n)."""
        return torch.tensor([self.pieces.encode(text) for text in texts])

    def cut(self, text):
        """The pieces of a text, as texts."""
        return self.pieces.cut(text)

    def piece(self, word):
        """The number of a word that is one piece; mind the space in front: " were"."""
        numbers = self.pieces.encode(word)
        if len(numbers) != 1:
            raise ValueError(f"{word!r} is {len(numbers)} pieces: {' | '.join(self.cut(word))}")
        return numbers[0]

    # ----------------------------------------------------------------------------------------------------- reading

    @torch.no_grad()
    def rows(self, tokens, caches=None, attend=attend, blocks=None):
        """tokens (batch, n) → their rows after all blocks, or after the first ones, and a cache for each block."""
        x, new = self.table[tokens], []  # (batch, n, embed_dim)
        caches = caches or [None] * len(self.blocks)
        for w, cache in list(zip(self.blocks, caches, strict=True))[:blocks]:
            x, cache = block(x, w, cache, self.sizes, attend)
            new.append(cache)
        return x, new

    @torch.no_grad()
    def logits(self, rows):
        """What rows say after all blocks: (…, embed_dim) → (…, vocabulary)."""
        return rms_norm(rows, self.norm, self.sizes.epsilon) @ self.says.T

    def read(self, tokens, caches=None, attend=attend):
        """tokens (batch, n) → logits (batch, n, vocabulary) and a cache for each block."""
        rows, caches = self.rows(tokens, caches, attend)
        return self.logits(rows), caches

    def likeliest(self, text, count=5, attend=attend):
        """The likeliest next pieces and their shares: [(" Paris", 0.77), …]."""
        logits, _ = self.read(self.tokens(text), attend=attend)
        shares, numbers = logits[0, -1].softmax(dim=-1).topk(count)
        return list(zip(map(self.pieces.word, numbers.tolist()), shares.tolist(), strict=True))

    def write(self, text, pieces=20, attend=attend):
        """How the text goes on, the likeliest piece each time, up to so many pieces or the end that the model sets."""
        logits, caches = self.read(self.tokens(text), attend=attend)
        written = []
        while len(written) < pieces and (number := logits[0, -1].argmax().item()) != self.end:
            written.append(number)
            logits, caches = self.read(torch.tensor([[number]]), caches, attend)
        return self.pieces.decode(written)

    def answer(self, question, pieces=40, attend=attend):
        """What the model answers in a chat."""
        return self.write(CHAT.format(question), pieces, attend)


CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"


def smollm(dtype=torch.float32):
    """The model of lesson 13, or the one that ATTENTION_GGUF names.

    Raises: NoModel, with what to do, where its file is not here or holds a model that cannot be run. Whoever reads a
    notebook gets a stand-in for it, as `absent` says.
    """
    absent.end()
    try:
        return LanguageModel(model_file(), dtype)
    except (NoModel, OSError, ValueError) as error:
        if absent.can_be_read_on():
            return absent.begin(str(error))
        raise NoModel(str(error)) from None


def reference():
    """What transformers says of the next piece, by its own code: text → pieces, and their logits.

    Recorded from the same file, with float32, so that it can be compared without installing it.
    """
    recorded = json.loads(Path(__file__).with_name("reference.json").read_text(encoding="utf-8"))
    return {text: (said["pieces"], torch.tensor(said["logits"])) for text, said in recorded["texts"].items()}


# ------------------------------------------------------------------------- what would be computed wrongly is refused

KNOWN = {  # what a file may say of its model: all that is used here, and two that change nothing
    *("block_count", "embedding_length", "feed_forward_length", "vocab_size", "context_length"),
    *("attention.head_count", "attention.head_count_kv", "attention.layer_norm_rms_epsilon"),
    *("rope.freq_base", "rope.dimension_count", "attention.key_length", "attention.value_length"),
}


def sizes_of(file):
    """The sizes in a file. Raises: ValueError for a model of another kind."""
    kind = file.fields.get("general.architecture")
    if kind != "llama":
        raise ValueError(f"{file.path.name} is a model of the kind {kind}; only llama can be run here.")
    facts = {name.removeprefix("llama."): value for name, value in file.fields.items() if name.startswith("llama.")}
    if unknown := sorted(set(facts) - KNOWN):
        raise ValueError(f"{file.path.name} sets {', '.join(unknown)}, which cannot be run here.")
    try:
        heads, embed_dim = facts["attention.head_count"], facts["embedding_length"]
        sizes = Sizes(
            blocks=facts["block_count"],
            embed_dim=embed_dim,
            heads=heads,
            kv_heads=facts.get("attention.head_count_kv", heads),
            head_dim=embed_dim // heads,
            base=facts.get("rope.freq_base", 10000.0),
            epsilon=facts["attention.layer_norm_rms_epsilon"],
        )
    except KeyError as error:
        raise ValueError(f"{file.path.name} does not say its {error.args[0]}.") from None
    for name in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        if facts.get(name, sizes.head_dim) != sizes.head_dim:
            raise ValueError(
                f"{file.path.name} has {name} {facts[name]} where a head has {sizes.head_dim} features, "
                "which cannot be run here."
            )
    return sizes


def check_pieces(file):
    """Raise ValueError where text would be cut into other pieces than those that the model was trained on."""
    how = file.fields.get("tokenizer.ggml.model"), file.fields.get("tokenizer.ggml.pre")
    if how != ("gpt2", "smollm"):
        raise ValueError(
            f"{file.path.name} cuts text by {how[0]}, {how[1]}; only the pieces of SmolLM2 (gpt2, smollm) can be cut "
            "here."
        )
    if file.fields.get("tokenizer.ggml.add_bos_token"):
        raise ValueError(f"{file.path.name} wants a mark in front of every text, which is not put there here.")


def check_arrays(file, sizes, vocabulary):
    """Raise ValueError where an array is missing, has another shape, or would be left out, as a bias."""
    d, kv, inner = sizes.embed_dim, sizes.kv_heads * sizes.head_dim, file.fields.get("llama.feed_forward_length")
    shapes = Weights((d,), (d, d), (kv, d), (kv, d), (d, d), (d,), (inner, d), (inner, d), (d, inner))
    wanted = {"token_embd": (vocabulary, d), "output_norm": (d,)}
    for i in range(sizes.blocks):
        wanted |= {f"blk.{i}.{name}": shape for name, shape in zip(IN_FILE, shapes, strict=True)}
    if "output.weight" in file.shapes:
        wanted["output"] = vocabulary, d
    for name, shape in wanted.items():
        if (there := file.shapes.get(f"{name}.weight")) != shape:
            raise ValueError(f"{file.path.name} has {there} for {name}, where {shape} is wanted.")
    if others := sorted(set(file.shapes) - {f"{name}.weight" for name in wanted}):
        raise ValueError(f"{file.path.name} also holds {others[0]}, which is not used here: its model is another one.")
