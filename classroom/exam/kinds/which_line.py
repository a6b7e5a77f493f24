"""Which line is wrong: a program with one fault, and complaints of which one alone is true.

The options are complaints and not cures: of cures the right one would be known by being the textbook's line.
"""

import math

import torch

from attn_lib import merge_heads, scaled_dot_product_attention, split_heads

from ..item import Code, Option, item, misconception, reworded, slip, wrong

TRIES = 3  # random inputs on which the faulty program must differ


class Fault:
    """A line with a mistake, the complaint about it, and what is right about the same line without the mistake."""

    def __init__(self, line, code, complaint, holds, explanation):
        self.line, self.code, self.complaint, self.holds, self.explanation = line, code, complaint, holds, explanation


class Program:
    """Lines of a function's body, its faults, and what calls it beside the library's result."""

    def __init__(self, lesson, head, lines, faults, arguments, library):
        self.lesson, self.head, self.lines, self.faults = lesson, head, lines, faults
        self.given, self.library = arguments, library

    def source(self, fault=None):
        """The lines of the whole function, with one fault or none."""
        lines = list(self.lines)
        if fault:
            lines[fault.line] = fault.code
        return [self.head, *("    " + line for line in lines)]

    def results(self, fault, seed):
        """(what the program returns, what the library does), or an error in place of the first."""
        names = {"torch": torch, "math": math}
        exec("\n".join(self.source(fault)), names)
        torch.manual_seed(seed)
        arguments = self.given()
        try:
            return names["attend"](*arguments), self.library(*arguments)
        except RuntimeError as error:
            return error, None

    def agrees(self, fault, seed):
        """Whether the program, with this fault or None, returns what the library does on inputs of this seed."""
        ours, theirs = self.results(fault, seed)
        return theirs is not None and ours.shape == theirs.shape and bool(torch.allclose(ours, theirs, atol=1e-5))


def masked_input():
    """Arguments of `MASKED`: queries, keys and values, and a mask that leaves each query its first key."""
    q, k, v = torch.randn(2, 4, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    mask = torch.rand(2, 4, 5) < 0.6
    mask[..., 0] = True
    return q, k, v, mask


MASKED = Program(
    3,
    "def attend(q, k, v, mask):  # mask: True = may attend",
    [
        "d_k = q.size(-1)",
        "scores = q @ k.transpose(-2, -1)",
        "scores = scores / math.sqrt(d_k)",
        "scores = scores.masked_fill(~mask, -math.inf)",
        "weights = torch.softmax(scores, dim=-1)",
        "return weights @ v",
    ],
    [
        Fault(0, "d_k = q.size(-2)", "It counts tokens, where features are asked for.",
              "The last size is that of the features", misconception("2.2", "wrong-size-in-root")),
        Fault(1, "scores = k @ q.transpose(-2, -1)", "Keys ask queries: rows and columns have changed places.",
              "Here queries have the rows and keys the columns",
              reworded(slip("02.cross-scores", "transposed"), "Who asks has the rows.")),
        Fault(2, "scores = scores / d_k", "It divides by d_k, not by its root.",
              "It divides by the root", misconception("2.2", "d-not-root")),
        Fault(2, "scores = scores * math.sqrt(d_k)", "It multiplies where it should divide.",
              "It divides", misconception("2.2", "multiplied")),
        Fault(3, "scores = scores.masked_fill(mask, -math.inf)", "It hides the allowed keys and not the others.",
              "It fills where the mask is False", misconception("3.3", "polarity")),
        Fault(3, "scores = scores.masked_fill(~mask, 0.0)", "The number that is filled in is not low enough.",
              "exp(−∞) is exactly 0", misconception("3.3", "zero-scores")),
        Fault(3, "scores.masked_fill(~mask, -math.inf)", "Its result is not used.",
              "Its result is kept", misconception("3.3", "ignored")),
        Fault(4, "weights = torch.softmax(scores, dim=-2)", "It runs along the queries, not along the keys.",
              "The last axis is that of the keys", misconception("2.2", "wrong-axis")),
        Fault(4, "weights = torch.exp(scores)", "Its rows do not sum to 1.",
              "Softmax's rows sum to 1", misconception("2.1", "not-divided")),
        Fault(5, "return weights @ k", "It mixes the keys, not the values.",
              "It mixes the values", misconception("1.2", "keys-for-values")),
    ],
    masked_input,
    lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, mask)[0],
)  # fmt: skip


def heads_input():
    """Arguments of `HEADS`: x, four projections and how many heads."""
    return (torch.randn(2, 5, 12), *(torch.randn(12, 12) / 3 for _ in range(4)), 3)


def by_library(x, w_q, w_k, w_v, w_o, heads):
    """What `HEADS` has to return for these arguments, by attn_lib."""
    q, k, v = (split_heads(x @ w, heads) for w in (w_q, w_k, w_v))
    return merge_heads(scaled_dot_product_attention(q, k, v)[0]) @ w_o


HEADS = Program(
    4,
    "def attend(x, w_q, w_k, w_v, w_o, heads):  # x: (batch, n, width)",
    [
        "batch, n, width = x.shape",
        "cut = lambda t: t.view(batch, n, heads, width // heads).transpose(1, 2)",
        "q, k, v = cut(x @ w_q), cut(x @ w_k), cut(x @ w_v)",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(width // heads)",
        "output = torch.softmax(scores, dim=-1) @ v",
        "joined = output.transpose(1, 2).reshape(batch, n, width)",
        "return joined @ w_o",
    ],
    [
        Fault(1, "cut = lambda t: t.view(batch, heads, n, width // heads)", "It tears tokens apart.",
              "It cuts the features and then moves the heads", misconception("4.1", "view-alone")),
        Fault(1, "cut = lambda t: t.view(batch, n, width // heads, heads).permute(0, 3, 1, 2)",
              "Each head gets features that are not neighbours.",
              "Each head gets a block of neighbours", misconception("4.1", "interleaved")),
        Fault(2, "q, k, v = cut(x @ w_q), cut(x @ w_k), cut(x)", "The values are not projected.",
              "All three are projected", misconception("1.2", "inputs-for-values")),
        Fault(2, "q, k, v = cut(x @ w_k), cut(x @ w_q), cut(x @ w_v)", "Queries and keys have changed places.",
              "Each comes from its own matrix", misconception("1.2", "swapped")),
        Fault(3, "scores = q @ k.transpose(-2, -1) / math.sqrt(width)", "It divides by the root of too large a number.",
              "It divides by the root of one head's features", misconception("4.3", "scale-d-model")),
        Fault(3, "scores = q @ k.transpose(-2, -1)", "Nothing is divided.",
              "It divides by the root of one head's features", misconception("4.3", "no-scale")),
        Fault(4, "output = torch.softmax(scores, dim=1) @ v", "It runs along the heads.",
              "The last axis is that of the keys", misconception("4.3", "wrong-axis")),
        Fault(4, "output = scores @ v", "The softmax is missing.",
              "It is there", misconception("4.3", "softmax-lost")),
        Fault(5, "joined = output.reshape(batch, n, width)", "It joins what belongs to different tokens.",
              "The heads are moved back behind the tokens first", misconception("4.3", "merge-alone")),
        Fault(5, "joined = output.permute(0, 2, 3, 1).reshape(batch, n, width)",
              "It weaves the features of the heads into each other.",
              "It lays the heads side by side", misconception("4.2", "interleaved")),
        Fault(6, "return joined", "The last projection is missing.",
              "It is there", misconception("4.3", "no-output-projection")),
    ],
    heads_input,
    by_library,
)  # fmt: skip


def draw(id, rng):
    """An `Item` about a program with one fault. Raises: AssertionError if it is no fault, or not the only one."""
    program = rng.choice([MASKED, HEADS])
    fault = rng.choice(program.faults)
    serves(program, fault)
    others = [one for one in program.faults if one is not fault]
    rng.shuffle(others)
    beside = [one for one in others if one.line == fault.line][:1]  # else the line alone would be enough
    others = beside + [one for one in others if one not in beside]
    complaint = {one: f"Line {one.line + 1}: {one.complaint}" for one in program.faults}
    why, _ = fault.explanation
    right = Option(complaint[fault], f"{why} It should be: {program.lines[fault.line]}")
    wrongs = [wrong(complaint[one], (denied(one, fault), one.explanation[1])) for one in others]
    parts = ("One line of this function is wrong.", Code(tuple(program.source(fault)), numbered=True))
    return item(id, program.lesson, parts, "Which complaint is true?", right, wrongs, rng)


def denied(one, fault):
    """The sentence on a complaint that is not true: what is right there, or else what is wrong with that line."""
    if one.line == fault.line:
        return "That line it is, but something else is wrong with it."
    return f"Line {one.line + 1} is right. {one.holds}."


def serves(program, fault):
    """Raises AssertionError unless the program is right without the fault, and wrong with it on every input tried."""
    for seed in range(TRIES):
        if not program.agrees(None, seed) or program.agrees(fault, seed):
            raise AssertionError(f"{fault.code!r} is no fault, or not the only one")
