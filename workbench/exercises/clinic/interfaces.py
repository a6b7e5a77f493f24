"""The signatures of the bugs; each with correct implementations, inputs for fixed code, and adapted decoys."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from attn_lib.masks import causal_mask, padding_mask

from ..engine.probes import normal, random_mask
from . import correct


@dataclass(frozen=True, eq=False)
class Interface:
    """How an attention is called: `call`, and in words what goes in and out."""

    call: str
    meaning: str
    correct: list  # implementations in several styles; classes where the bug is a module
    probes: list  # arguments on which fixed code must be right
    adapt: Callable | None = None  # turns attention(q, k, v, mask) into attention with this signature
    adapted: tuple = ()  # ids of bugs that, so adapted, are decoys where too few share the signature
    parameters: tuple = field(init=False)

    def __post_init__(self):
        inside = self.call.partition("(")[2].rpartition(")")[0]
        object.__setattr__(self, "parameters", tuple(part.strip() for part in inside.split(",")))

    def __str__(self):
        return f"{self.call} → output; {self.meaning}"

    def named(self, args, kwargs):
        """Return the arguments of a call by name, or None if the call does not fit the signature."""
        names = [parameter.partition("=")[0] for parameter in self.parameters]
        needed = {name for name, parameter in zip(names, self.parameters, strict=True) if "=" not in parameter}
        arguments = dict(zip(names, args, strict=False)) | kwargs
        fits = len(args) + len(kwargs) == len(arguments) and needed <= set(arguments) <= set(names)
        return arguments if fits else None


def qkv(n_q=3, n_k=5, d_k=8, d_v=4, batch=2, seed=0):
    sizes = (batch, n_q, d_k), (batch, n_k, d_k), (batch, n_k, d_v)
    return tuple(normal(*size, seed=seed + i) for i, size in enumerate(sizes))


def projected(batch=2, n=5, embed_dim=6, num_heads=3, seed=0):
    return normal(batch, n, embed_dim, seed=seed), *normal(4, embed_dim, embed_dim, seed=seed + 1).unbind(), num_heads


def reads(chunks, window, heads=2, kv_heads=2, batch=1, seed=0):
    sizes = (heads, 6), (kv_heads, 6), (kv_heads, 4)
    tensors = (normal(batch, h, sum(chunks), width, seed=seed + i) for i, (h, width) in enumerate(sizes))
    return *tensors, chunks, window


def with_table(texts, d=4, seed=0):
    texts = torch.tensor(texts)
    return normal(*texts.shape, d, seed=seed), normal(texts.size(1) + 3, d, seed=seed + 1), texts


def of_block(n=4, d=4, batch=2, seed=0):
    sizes = (batch, n, d), (d, d), (d, d), (d, d), (d, 3 * d), (3 * d, d)
    return tuple(normal(*size, seed=seed + i) for i, size in enumerate(sizes))


def with_gates(n=7, d_k=3, d_v=2, seed=0):
    """Tokens with keys of length 1, and gates and rates from 0 to 1."""
    q, k, v = normal(n, d_k, seed=seed), normal(n, d_k, seed=seed + 1), normal(n, d_v, seed=seed + 2)
    keep, rate = (torch.sigmoid(normal(n, seed=seed + i)) for i in (3, 4))
    return q, k / k.norm(dim=-1, keepdim=True), v, keep, rate


PLAIN = Interface(
    "attention(q, k, v, mask=None)",
    "mask bool, True = may attend",
    correct.CORES,
    [qkv(), qkv(seed=3), qkv(n_q=4, n_k=4, d_v=8), (*qkv(), random_mask(3, 5)), (*qkv(seed=5), random_mask(2, 3, 5))],
)
HEADS = Interface(
    "attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None)",
    "mask (n, n), (batch, 1, n) or (batch, n, n)",
    [correct.heads_of(core) for core in (correct.by_library, correct.by_torch, correct.by_einsum, correct.in_double)]
    + [correct.list_of_heads],
    [
        projected(),
        (*projected(num_heads=2, seed=2), causal_mask(5)),
        (*projected(seed=4), padding_mask([5, 3])),
        (*projected(seed=6), padding_mask([5, 3]) & causal_mask(5)),
        (*projected(batch=3, seed=8), padding_mask([2, 5, 3]) & causal_mask(5)),
    ],
)
LENGTHS = Interface(
    "attention(q, k, v, lengths)",
    "q, k, v (batch, n, d), the first lengths[b] tokens are real",
    [correct.with_lengths(core) for core in correct.CORES],
    [(*qkv(n_q=5), torch.tensor([5, 2])), (*qkv(n_q=4, n_k=4, batch=3, seed=3), torch.tensor([1, 4, 3]))],
    correct.with_lengths,
    ("6.1", "6.4", "6.5", "6.8"),
)
BOTH = Interface(
    "attention(q, k, v, lengths=None, mask=None)",
    "lengths of the keys, mask (n_q, n_k)",
    [correct.with_both(core) for core in correct.CORES],
    [
        qkv(),
        (*qkv(seed=3), torch.tensor([5, 2])),
        (*qkv(n_q=4, n_k=4), None, causal_mask(4)),
        (*qkv(n_q=4, n_k=4, seed=3), torch.tensor([2, 4]), causal_mask(4)),
    ],
    correct.with_both,
    ("6.1", "6.4", "6.5", "6.8"),
)
CAUSAL = Interface(
    "attention(q, k, v)",
    "causal, the last query belongs to the last key",
    [correct.causal_of(core) for core in correct.CORES],
    [qkv(n_q=4, n_k=4), qkv(n_q=2), qkv(n_q=1, seed=3), qkv(n_q=5, seed=6)],
    correct.causal_of,
    ("6.1", "6.4", "6.5", "6.8"),
)
MODULE = Interface(
    "attention(q, k, v)",
    "a module, with attention.train() and attention.eval()",
    [correct.DropoutInTraining, correct.DropoutModule, correct.WithoutDropout],
    [qkv(), qkv(n_q=4, n_k=4, seed=3)],
    correct.module_of,
    ("6.1", "6.3", "6.4"),
)
MERGED = Interface(
    "attention(q, k, v, lengths, num_heads)",
    "q, k, v (batch, n, embed_dim), no projections",
    [
        *(correct.merged_heads(core) for core in (correct.by_library, correct.by_torch, correct.by_einsum)),
        correct.lengths_per_head,
    ],
    [
        (*qkv(n_q=5, d_k=6, d_v=6), torch.tensor([2, 5]), 3),
        (*qkv(n_q=5, d_k=4, d_v=4, batch=3, seed=3), torch.tensor([1, 5, 3]), 2),
    ],
    correct.merged_heads,
    ("6.1", "6.4", "6.5", "6.8"),
)
CHUNKS = Interface(
    "attention(q, k, v, chunks, window)",
    "q (batch, heads, n, d), k and v with as many heads or fewer, read in chunks such as [5, 1, 2], with RoPE; each "
    "token attends only to the last window tokens, itself included",
    [
        correct.read_with_a_cache,
        correct.read_at_once(),
        correct.read_at_once(correct.by_torch),
        correct.read_one_by_one,
    ],
    [
        reads([3, 2], 9),
        reads([4, 1, 2], 3, heads=4, kv_heads=2, seed=3),
        reads([1, 1, 3], 2, heads=6, kv_heads=2, batch=2, seed=6),
        reads([5], 3, heads=2, kv_heads=1, seed=9),
    ],
    correct.read_at_once,
    ("6.1", "6.4", "6.5", "6.8"),
)
PASS = Interface(
    "attention(x, w_q, w_k, w_v, w_o, num_heads, chunks, lengths)",
    "x (batch, n, embed_dim), read in chunks such as [5, 1, 2]; causal; in text b only the first lengths[b] tokens "
    "are real, the others are padding",
    [
        *(correct.whole_pass(core) for core in (correct.by_library, correct.by_einsum, correct.by_loop)),
        correct.pass_in_chunks(),
    ],
    [
        (*projected(), [5], torch.tensor([5, 3])),
        (*projected(seed=2), [3, 2], torch.tensor([2, 5])),
        (*projected(batch=1, n=6, num_heads=2, seed=4), [3, 1, 1, 1], torch.tensor([6])),
        (*projected(batch=3, n=7, embed_dim=4, num_heads=2, seed=6), [2, 3, 2], torch.tensor([7, 1, 4])),
    ],
    correct.whole_pass,
    ("6.1", "6.4", "6.5", "6.8"),
)
BLOCK = Interface(
    "attention(x, w_q, w_k, w_v, w_1, w_2)",
    "a block: x (batch, n, d), pre-norm, causal, one head; its norms have no weight and no bias, its MLP is w_1, ReLU, "
    "w_2",
    [correct.block_of(core) for core in correct.CORES],
    [of_block(), of_block(n=3, d=6, seed=10), of_block(n=1, batch=1, seed=20)],
    correct.block_of,
    ("6.1", "6.4", "6.5", "6.8"),
)
TILES = Interface(
    "attention(q, k, v, size, causal)",
    "keys are read in blocks of `size`; if causal, the last query belongs to the last key",
    [*(correct.tiled(core) for core in correct.CORES), correct.in_tiles],
    [
        (*qkv(), 2, False),
        (*qkv(n_k=7, seed=3), 3, False),
        (*qkv(n_q=4, n_k=4, seed=5), 2, True),
        (*qkv(n_q=3, n_k=7, seed=7), 3, True),
        (*qkv(n_q=5, n_k=3, seed=9), 2, True),
    ],
    correct.tiled,
    ("6.1", "6.4", "6.5", "6.8"),
)
SELF = Interface(
    "attention(x, w_q, w_k, w_v, w_o, num_heads)",
    "self-attention of x (batch, n, embed_dim): each token attends to every token of its text",
    [correct.self_attention(core) for core in correct.CORES] + [correct.heads_in_turn],
    [projected(), projected(num_heads=2, seed=2), projected(batch=3, n=4, embed_dim=8, num_heads=2, seed=4)],
    correct.self_attention,
    ("6.1", "6.3", "6.4", "6.20"),
)
TEXTS = Interface(
    "attention(x, table, texts)",
    "causal, one head; texts (batch, n) has for each token of x (batch, n, d) the number of its text in this row, 0 "
    "for padding; a token attends to its own text; to each token the row of table (max_len, d) for its place in its "
    "text is added",
    [*(correct.of_texts(core) for core in correct.CORES), correct.text_by_text],
    [
        with_table([[1, 1, 1, 1], [0, 0, 1, 1]]),
        with_table([[1, 1, 2, 2, 2], [0, 1, 1, 1, 1], [1, 1, 1, 0, 0]], d=6, seed=3),
        with_table([[0, 1, 1, 2, 2, 3], [1, 2, 2, 2, 3, 3]], seed=6),
    ],
    correct.of_texts,
    ("6.1", "6.4", "6.5", "6.8"),
)
STATES = Interface(
    "attention(q, k, v, keep, rate)",
    "one text, q and k (n, d_k), keys of length 1, v (n, d_v); keep and rate (n,): for each token the state is "
    "multiplied by keep, then rate times the error is written, then the query reads",
    [correct.by_states, correct.by_state_chunks, correct.by_matrices, correct.one_by_one()],
    [with_gates(), with_gates(n=14, d_v=3, seed=5), with_gates(n=1, seed=10), with_gates(n=11, d_k=2, seed=15)],
)
