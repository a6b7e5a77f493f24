"""Numbers that stand in sentences of the lessons are those that come out when they are computed."""

import functools
import math

import nbformat
import pytest
import torch
import torch.nn.functional as F
from paths import NOTEBOOKS

from attn_lib import (
    MultiHeadAttention,
    cache_bytes,
    causal_mask,
    masked_softmax,
    padding_mask,
    scaled_dot_product_attention,
    state_bytes,
)
from attn_lib.examples import W_k, W_q, W_v, X
from workbench.behind import states, two_rules

KEYS, VALUES = X @ W_k, X @ W_v
SCORES = X @ W_q @ KEYS.T
WEIGHTS, SCALED = SCORES.softmax(-1), (SCORES / math.sqrt(3)).softmax(-1)
NEAT = torch.tensor([[0.0, 0.5, 0.5], [0.0, 1.0, 0.0], [0.0, 0.9, 0.1]])


@functools.cache
def lesson(number):
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    return {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}


def after(number, *ids):
    """What these cells of a lesson define, run one after the other."""
    names = {}
    for name in ids:
        exec(lesson(number)[name], names)
    return names


# ------------------------------------------------------------------------------------------- what is computed


def barks(matrix=None):
    """The dot products of barks with dog and with itself; its query through `matrix`, if there is one."""
    rows = torch.tensor([[3.0, 0.0], [1.0, 2.0]])
    scores = rows @ (rows[1] if matrix is None else rows[1] @ matrix)
    return *scores.tolist(), *scores.softmax(-1).tolist()


def longer():
    return torch.tensor([[1, 1], [10, 10]]) @ torch.tensor([1, 1])


def first_number():
    weighted = WEIGHTS[0] * VALUES[:, 0]
    return [*weighted, weighted.sum()]


def rounding():
    weights, outputs = (WEIGHTS - NEAT).abs().max(), (WEIGHTS @ VALUES - NEAT @ VALUES).abs().max()
    assert 4.5 < outputs / weights < 5.5  # "five times as much"
    return weights, outputs


def padding_heard():
    """The scores of I in the sentence I like, their exponentials, and the weight that its padding gets."""
    scores = X[0] @ W_q @ torch.stack([*KEYS[:2], torch.zeros(3)]).T / math.sqrt(3)
    assert scores[2] == 0
    return *scores[:2].tolist(), *scores[:2].round(decimals=2).exp().tolist()


def without_the_padding():
    scores = torch.tensor([2 / math.sqrt(3), 4 / math.sqrt(3), 0.0])
    return scores.softmax(-1)[2]


def running_mean():
    """What three tokens of value 6, 2 and 1 hear by a causal mask alone."""
    return masked_softmax(torch.zeros(3, 3), causal_mask(3)) @ torch.tensor([6.0, 2.0, 1.0])


def reactions():
    """Of 100 undivided rows at 1024, the dead and the jumpy ones; the smallest size has neither."""
    moved = after("02", "imports", "reaction")["reactions"]
    small, large = ([(rows < 0.001).sum() / 2, (rows > 0.1).sum() / 2] for rows in (moved(4, 1), moved(1024, 1)))
    assert small == [0, 0] and moved(1024, 1024).max() < 0.001
    return large


def over_queries():
    sums = (SCORES / math.sqrt(3)).softmax(-2).sum(-1)
    assert sums[1] > 2  # "more than 2"
    return (sums[0],)


def damage():
    """How far sentences with each other's lengths are off, against a typical output, on notebook 4's numbers."""
    torch.manual_seed(0)
    rows, lengths = torch.randn(4, 3, 4), torch.tensor([3, 2])
    right, tiled = (
        scaled_dot_product_attention(rows, rows, rows, padding_mask(order, 3))[0]
        for order in (lengths.repeat_interleave(2), lengths.repeat(2))
    )
    assert 2 < (right - tiled).abs().max() / right.abs().mean() < 3
    return ()


def seen_at_the_top_left():
    """How many of five keys the last of two queries sees with is_causal=True."""
    seen = F.scaled_dot_product_attention(
        torch.randn(1, 2, 4), torch.randn(1, 5, 4), torch.eye(5)[None], is_causal=True
    )
    assert causal_mask(2, 5)[-1].all()
    return (int((seen[0, -1] > 0).sum()),)


def half_the_features():
    """The module refuses what the sentence says it refuses."""
    with pytest.raises(ValueError, match="768 is not divisible by num_heads=10"):
        MultiHeadAttention(768, 10)
    return 768 // 10, 768 // 10 * 10


def digits():
    """How many digits e to the 100 has before its point, and the largest float32."""
    return [math.floor(math.log10(number)) + 1 for number in (math.exp(100), torch.finfo(torch.float32).max)]


@functools.cache
def fifty_steps():
    """The weight and the score of tea for I before, after one step and after fifty towards it, at rate .1."""
    keys, w_q, seen = KEYS.double(), W_q.double(), []
    for _ in range(51):
        scores = X[0].double() @ w_q @ keys.T
        seen.append((scores.softmax(-1)[2], scores[2]))
        w_q = w_q - 0.1 * torch.outer(X[0].double(), (scores.softmax(-1) - torch.tensor([0, 0, 1])) @ keys)
    return [seen[step] for step in (0, 1, 50)]


@functools.cache
def kept_at_256():
    """What sinusoids and RoPE keep of before, and of first, as learned on eight tokens."""
    before, threads = torch.get_default_dtype(), torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    try:
        asked = [(scheme, rule) for rule in ("before", "first") for scheme in ("sinusoids", "RoPE")]
        return [two_rules.share_right(*one, 256, *two_rules.learn(*one)) for one in asked]
    finally:
        torch.set_default_dtype(before)
        torch.set_num_threads(threads)


def lots_of_a_story():
    """What the draws of a story of lesson 11 cost in nats, and each of its 54 words; and how many there are."""
    common = 10 * 9 * 6 * 5 * 2**3 * 3 * 4 * 2 * 2
    nats = math.log(2 * common) + math.log(4) / 2  # then lost, or near one of four animals
    return nats, 100 * nats / 54, common * (1 + 4) / 1e6


def llama_2():
    """The cache of Llama 2 7B for 131,072 tokens in GiB, and in MiB what it would have of states."""
    return cache_bytes(32, 32, 128, tokens=131072) / 2**30, state_bytes(32, 32, 128, 128) / 2**20


STATED = [
    ("01", "why-three-faults", "The score with itself, {1:.0f}, is higher than the score with *dog*, {0:.0f}", barks),
    ("01", "why-three-faults", "{3:.2f} against {2:.2f}", barks),
    ("01", "why-three-matrices", "{0:.0f} for *dog* against {1:.0f} for itself", lambda: barks(torch.eye(2).flip(0))),
    ("01", "why-three-matrices", "the share of {2:.2f}", lambda: barks(torch.eye(2).flip(0))),
    ("01", "text-18", "{:.3f} + {:.3f} + {:.3f}", lambda: SCORES[0].exp().tolist()),
    ("01", "text-18", "&= {:.4f}\n", lambda: WEIGHTS[0, :1].tolist()),
    ("01", "text-21", "{:.3f} against {:.3f}", lambda: WEIGHTS[1, 1:].tolist()),
    ("01", "text-21", "$e^4 \\approx {:.0f}$", lambda: [math.exp(4)]),
    ("01", "text-25", "${:.4f} + {:.4f} + {:.4f} = {:.4f}$", first_number),
    ("01", "text-26", "{:.2f} between {:.0f} and {:.0f}", lambda: [(WEIGHTS @ VALUES)[0, 1], *VALUES[:, 1].aminmax()]),
    ("01", "text-31", "weights is {:.3f}, that of the outputs {:.2f}", rounding),
    ("01", "text-31", "$({:.0f}, {:.0f}, {:.1f})$ instead of", lambda: (NEAT @ VALUES)[0].tolist()),
    ("01", "text-31", "$({:.2f}, {:.2f}, {:.2f})$", lambda: (WEIGHTS @ VALUES)[0].tolist()),
    ("02", "text-12", "$(1, 1)$ scores {} with itself and {} with $(10, 10)$", longer),
    ("02", "text-27", "a number of {} digits. The largest float32 has {} digits", digits),
    ("02", "text-27", "largest number is {:.0f}", lambda: [torch.finfo(torch.float16).max]),
    ("02", "text-27", "scores above {:.1f}", lambda: [math.log(torch.finfo(torch.float16).max)]),
    ("02", "text-30", "a typical score is {:.2f}", lambda: [1024**-0.5]),
    ("02", "text-31", "\\approx {:.2f}$", lambda: [math.log(32)]),
    ("02", "text-35", "{:.0f} % of the 200 rows are dead: the score of one key is far above all others. And {:.0f} %",
     reactions),
    ("02", "text-41", "in the row of *I* now sum to {:.2f}", over_queries),
    ("03", "text-03", "other two scores are {0:.2f} and {1:.2f}", padding_heard),
    ("03", "text-03", "$e^{{{0:.2f}}} = {2:.1f}$ and $e^{{{1:.2f}}} = {3:.1f}$", padding_heard),
    ("03", "text-08", "{:.2f} is missing", lambda: [without_the_padding()]),
    ("03", "text-mean-answer", "{0:.0f}, then $\\frac{{6 + 2}}{{2}} = {1:.0f}$", running_mean),
    ("03", "text-mean-answer", "$\\frac{{6 + 2 + 1}}{{3}} = {2:.0f}$", running_mean),
    ("03", "text-renormalise-predict", "the first key gets {:.2f}", lambda: [torch.tensor([1.0, 2.0]).softmax(-1)[0]]),
    ("03", "text-board-answer", "{:.2f} four times", lambda: [torch.full((4,), -1e9).softmax(-1)[0]]),
    ("04", "text-14", "gets {} features, together {}", half_the_features),
    ("04", "text-36", "more than twice as large", damage),
    ("07", "predict-rows", "*tea* is {1:.2f}; before, it was {0:.2f}.", lambda: [w for w, _ in fifty_steps()]),
    ("07", "predict-rows", "from {:.0f} to {:.2f}, but the score", lambda: [score for _, score in fifty_steps()]),
    ("07", "predict-rows", "fifty steps the weight on *tea* is {:.2f}.", lambda: fifty_steps()[2][:1]),
    ("07", "sorting-rows", "{} sets of six numbers and {:,} lists", lambda: [math.comb(10, 6), math.perm(10, 6)]),
    ("08", "text-race-far-answer", "is {:.2f} with sinusoids and {:.2f} with RoPE. For *first*", kept_at_256),
    ("08", "text-race-far-answer", "*first* it is {2:.2f} with sinusoids and {3:.2f} with RoPE", kept_at_256),
    ("11", "one-story", "{2:.1f} million different", lots_of_a_story),
    ("11", "floor-answer", "{0:.2f} a story, .{1:.0f} for each", lots_of_a_story),
    ("11", "faults-answer", "\\frac{{10}}{{9}} = .{:.0f}$", lambda: [100 * math.log(10 / 9)]),
    ("11", "faults-answer", "\\frac65 = .{:.0f}$", lambda: [100 * math.log(6 / 5)]),
    ("05", "text-28", "that is {:.0f} million numbers", lambda: [round(12 * 4096**2 / 1e6, -1)]),
    ("05", "text-20", "sees only {} of the 5 keys", seen_at_the_top_left),
    ("14", "gate", "0.99 leaves {:.2f} of a pair after 100", lambda: [0.99**100]),
    ("14", "below-answer", "in {:.0f} % of the answers", lambda: [100 * states.by_frequency(16)]),
    ("14", "crossing-answer", "{:.0f} GiB of cache, but only {:.0f} MiB of states", llama_2),
    ("12", "predict-sum", "$e^{{-2}}$ is {:.4f}", lambda: [math.exp(-2)]),
    ("12", "way-back", "lse is {:.4f}", lambda: [math.log(math.exp(2) + 2 * math.exp(4))]),
    ("12", "hands", "with lse {:.4f}. What", lambda: [4 + math.log(2)]),
]  # fmt: skip


@pytest.mark.parametrize("number, cell, sentence, compute", STATED, ids=[f"{n}-{cell}" for n, cell, *_ in STATED])
def test_what_a_sentence_states_is_what_comes_out(number, cell, sentence, compute):
    assert sentence.format(*(x.item() if isinstance(x, torch.Tensor) else x for x in compute())) in lesson(number)[cell]
