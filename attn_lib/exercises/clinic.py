"""The bug clinic of notebook 6: every fault of the source texts as a patient that runs, with the right shapes.

`PATIENTS["6.3"].buggy` and `.right` are called as `.interface` says; shown, a patient keeps its diagnosis (`.title` and
`.story`) to itself. An answer is a test, `detects(attention) -> bool`:
it is tried on the patient, on right code of several styles, and on relatives of the fault; what it calls `attention`
with is watched, so that a test which cannot see the fault is told why.
"""

import html
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from ..functional import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads
from ..masks import causal_mask, padding_mask
from ..show import error as in_words
from ..show import framed
from .catalogue import Exercise, Known, register
from .outcomes import kind_of
from .runner import LIMIT_S, OutOfTime, Raised, Worker
from .source import source_of

PLAIN = "attention(q, k, v, mask=None) → output; mask bool, True = may attend"
HEADS = "attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None) → output; mask (n, n), (batch, 1, n) or (batch, n, n)"
LENGTHS = "attention(q, k, v, lengths) → output; q, k, v (batch, n, d), the first lengths[b] tokens are real"
BOTH = "attention(q, k, v, lengths=None, mask=None) → output; lengths of the keys, mask (n_q, n_k)"
CAUSAL = "attention(q, k, v) → output, causal: the last query stands at the last key"
MODULE = "a module: attention(q, k, v) → output, attention.train(), attention.eval()"
MERGED = "attention(q, k, v, lengths, num_heads) → output; q, k, v (batch, n, d_model), no projections"
PATIENTS = {}  # id → Patient


@dataclass
class Patient:
    """A fault that is alive: `buggy` and `right` to call, `detects` the library's own test for it."""

    id: str
    title: str
    story: str
    interface: str
    section: str
    make: Callable  # → the buggy callable; a module is made afresh
    cures: list  # right code of several styles
    relatives: list
    detects: Callable

    @property
    def buggy(self):
        return self.make() if isinstance(self.make, type) else self.make

    @property
    def right(self):
        return self.cures[0]() if isinstance(self.cures[0], type) else self.cures[0]

    @property
    def source(self):
        """The buggy source, under a name that does not give the fault away."""
        return re.sub(rf"\b{self.make.__name__}\b", "attention", source_of(self.make))

    def __repr__(self):
        return f"Patient {self.id}: {self.interface}\n\n{self.source}"

    def _repr_html_(self):
        interface, source = (html.escape(text, quote=False) for text in (self.interface, self.source))
        return framed(f"<b>Patient {self.id}</b> &nbsp; <code>{interface}</code><pre>{source}</pre>")


# ------------------------------------------------------------------------------------------ right code, many styles


def by_library(q, k, v, mask=None):
    return scaled_dot_product_attention(q, k, v, mask)[0]


def by_torch(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, mask)


def by_einsum(q, k, v, mask=None):
    weights = masked_softmax(torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.size(-1)), mask)
    return torch.einsum("...qk,...kd->...qd", weights, v)


def by_loop(q, k, v, mask=None):
    shape = (*q.shape[:-1], k.size(-2))
    mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    rows = [by_library(q[..., i : i + 1, :], k, v, mask[..., i : i + 1, :]) for i in range(q.size(-2))]
    return torch.cat(rows, dim=-2)


def in_double(q, k, v, mask=None):
    return by_library(q.double(), k.double(), v.double(), mask).to(q.dtype)


CURES = [by_library, by_torch, by_einsum, by_loop, in_double]


def heads_of(core=by_library, *, split=split_heads, merge=merge_heads, project=True, head_axis=True):
    """Multi-head attention around a given attention, with each part exchangeable."""

    def attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        q, k, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
        if mask is not None and mask.ndim == 3 and head_axis:
            mask = mask[:, None]
        merged = merge(core(q, k, v, mask))
        return merged @ w_o if project else merged

    return attention


def list_of_heads(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    if x.size(-1) % num_heads:
        raise ValueError(f"d_model={x.size(-1)} is not divisible by num_heads={num_heads}")
    parts = zip(*(w.chunk(num_heads, dim=1) for w in (w_q, w_k, w_v)), strict=True)
    return torch.cat([by_library(x @ q, x @ k, x @ v, mask) for q, k, v in parts], dim=-1) @ w_o


HEADS_CURES = [heads_of(), heads_of(by_torch), heads_of(by_einsum), heads_of(in_double), list_of_heads]


def with_lengths(core=by_library):
    def attention(q, k, v, lengths):
        return core(q, k, v, padding_mask(lengths, k.size(1)))

    return attention


def with_both(core=by_library):
    def attention(q, k, v, lengths=None, mask=None):
        mask = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool) if mask is None else mask
        return core(
            q, k, v, (mask if lengths is None else mask & padding_mask(lengths, k.size(1))).expand(q.size(0), -1, -1)
        )

    return attention


def causal_of(core=by_library, offset=lambda n_q, n_k: n_k - n_q):
    def attention(q, k, v):
        n_q, n_k = q.size(-2), k.size(-2)
        return core(q, k, v, torch.ones(n_q, n_k, dtype=torch.bool).tril(offset(n_q, n_k)))

    return attention


def merged_heads(core=by_library, spread=lambda lengths, heads: lengths.repeat_interleave(heads)):
    def attention(q, k, v, lengths, num_heads):
        heads = [split_heads(x, num_heads).flatten(0, 1) for x in (q, k, v)]  # (batch · heads, n, head_dim)
        output = core(*heads, padding_mask(spread(lengths, num_heads), k.size(1)))
        return merge_heads(output.unflatten(0, (-1, num_heads)))

    return attention


def lengths_per_head(q, k, v, lengths, num_heads):
    q, k, v = (split_heads(x, num_heads) for x in (q, k, v))
    return merge_heads(by_library(q, k, v, padding_mask(lengths, k.size(2))[:, None]))


class DropoutInTraining(nn.Module):
    def __init__(self, p=0.5, core=by_library):
        super().__init__()
        self.p, self.core = p, core

    def forward(self, q, k, v):
        if not self.training:
            return self.core(q, k, v)
        return scaled_dot_product_attention(q, k, v, dropout_p=self.p)[0]


class DropoutModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.3)

    def forward(self, q, k, v):
        _, weights = scaled_dot_product_attention(q, k, v)
        return self.dropout(weights) @ v


class WithoutDropout(nn.Module):
    def forward(self, q, k, v):
        return by_einsum(q, k, v)


# ----------------------------------------------------------------------------------------------- making relatives


def scores_of(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


def plain(weigh):
    """Attention with its own way from scores and mask to weights."""

    def attention(q, k, v, mask=None):
        return weigh(scores_of(q, k), mask) @ v

    return attention


def scaled_by(scale):
    """Attention whose scores are multiplied by `scale(q, k, v)` instead of 1/√d_k."""

    def attention(q, k, v, mask=None):
        return masked_softmax(q @ k.transpose(-2, -1) * scale(q, k, v), mask) @ v

    return attention


def filled(scores, mask, number):
    return scores if mask is None else scores.masked_fill(~mask, number)


# ------------------------------------------------------------------------------------------------------- judging


@dataclass
class Watched:
    """One implementation under test, and what the test called it with."""

    implementation: Callable
    calls: list

    def target(self):
        if isinstance(self.implementation, nn.Module):
            self.implementation.register_forward_pre_hook(lambda module, args: self.calls.append(args))
            return self.implementation

        def attention(*args, **kwargs):
            self.calls.append((*args, *kwargs.values()))
            return self.implementation(*args, **kwargs)

        return attention


@dataclass(eq=False)
class Sign(Known):
    """A mistake in a test, known by `shows(found, calls, answer)`: what it said of whom, and what it called."""

    shows: Callable


class Detector(Exercise):
    """An exercise whose answer is a test; right if it catches the patient and its relatives, and no right code."""

    def judge(self, answer):
        with Worker() as worker:
            return _judge_detects(self, answer, worker)


def _judge_detects(entry, answer, worker):
    patient = PATIENTS[entry.id]
    if not callable(answer):
        return entry.wrong(f"`detects` is to be a function; this is {kind_of(answer)}.")
    calls = []
    groups = {"patient": [patient.make], "right": patient.cures, "relatives": patient.relatives}
    found = {}
    for group, implementations in groups.items():
        for implementation in implementations:
            watched = Watched(implementation() if isinstance(implementation, type) else implementation, calls)
            try:
                said = worker.run(partial(answer, watched.target()))
            except OutOfTime:
                return entry.wrong(f"`detects` had not come back after {LIMIT_S:g} seconds.")
            except Raised as raised:
                if isinstance(raised.error, NotImplementedError):
                    return entry.unattempted()
                return _raised(entry, group, raised.error)
            if isinstance(said, torch.Tensor) and said.numel() == 1:
                said = bool(said)
            if said is Ellipsis:  # a stub of which only one line is missing
                return entry.unattempted(" in place of `...`")
            if type(said).__name__ not in ("bool", "bool_"):
                what = (
                    "nothing. Is the line with `return` missing?" if said is None else f"{kind_of(said)}, not a bool."
                )
                return entry.wrong(f"`detects` returns {what}")
            found.setdefault(group, []).append(bool(said))
    verdict = _weigh(entry, answer, found, calls)
    if worker.printed().strip():
        verdict.message += "\n\nIt prints; a test says what it found by what it returns."
    return verdict


def _raised(entry, group, error):
    text = in_words(error)
    where = {"patient": "on the patient", "right": "on right code", "relatives": "on a relative of the fault"}[group]
    advice = ""
    if isinstance(error, AssertionError):
        advice = (
            " An assertion that fails has found something: catch it, or compare with `torch.allclose`, and return True."
        )
    return entry.wrong(f"{where[0].upper()}{where[1:]} `detects` raises `{text}`.{advice}")


def _weigh(entry, answer, found, calls):
    caught = found["patient"][0]
    condemned, relatives = sum(found["right"]), found["relatives"]
    if caught and not condemned and all(relatives):
        return entry.correct(
            f"It catches the patient and {len(relatives)} relatives of the fault, and lets {len(found['right'])} right "
            f"implementations pass.\n\nThe diagnosis: {PATIENTS[entry.id].title}. {PATIENTS[entry.id].story}",
        )
    for known in entry.mistakes.values():
        if known.shows(found, calls, answer):
            return entry.named(known)
    parts = [
        "It catches the patient" if caught else "It lets the patient pass",
        f"condemns {condemned} of {len(found['right'])} right implementations",
        f"catches {sum(relatives)} of {len(relatives)} relatives of the fault",
    ]
    return entry.wrong(f"Not yet. {parts[0]}, {parts[1]} and {parts[2]}.")


def _tensors_in(calls):
    return [arg for call in calls for arg in call if isinstance(arg, torch.Tensor)]


def _inputs(calls):
    return [t for t in _tensors_in(calls) if t.is_floating_point()]


def _masks(calls):
    return [t for t in _tensors_in(calls) if t.dtype == torch.bool]


def _lets_pass(found):
    return not found["patient"][0]


def _say(answer, implementation):
    try:
        return bool(answer(implementation))
    except Exception:
        return None


def _never_calls(found, calls, answer):
    return not calls


def _always(found, calls, answer):
    return all(all(said) for said in found.values())


def _shape_only(found, calls, answer):
    """It also lets pass an implementation that returns zeros."""
    return not any(any(said) for said in found.values()) and _zeros_pass(answer, calls)


def _zeros_pass(answer, calls):
    module = any(len(call) == 3 for call in calls)

    class Zeros(nn.Module):
        def forward(self, q, k=None, v=None, *rest, **options):
            wide = v if isinstance(v, torch.Tensor) and v.ndim == q.ndim else q
            return q.new_zeros(*q.shape[:-1], wide.size(-1), requires_grad=q.requires_grad)

    zeros = Zeros()
    return _say(answer, zeros if module else lambda *args, **kwargs: zeros(*args, **kwargs)) is False


def _constant(found, calls, answer):
    inputs = [t for t in _inputs(calls) if t.numel() > 1]
    return _lets_pass(found) and bool(inputs) and all(float(t.min()) == float(t.max()) for t in inputs)


def _no_mask(found, calls, answer):
    return _lets_pass(found) and bool(calls) and not _masks(calls)


def _no_dead_row(found, calls, answer):
    return _lets_pass(found) and bool(_masks(calls)) and all(bool(m.any(dim=-1).all()) for m in _masks(calls))


def _square(found, calls, answer):
    pairs = [(call[0].shape, call[1].shape) for call in calls]
    return _lets_pass(found) and bool(pairs) and all(q[-2] == k[-2] for q, k in pairs)


def _exact(found, calls, answer):
    return found["patient"][0] and any(found["right"]) and not all(found["right"])


def _only_this(found, calls, answer):
    return found["patient"][0] and not any(found["right"]) and not all(found["relatives"])


GENERAL = [
    (
        _never_calls,
        "never-called",
        "The test never calls `attention`",
        "Whatever it looks at, it is not what the function computes: call it with inputs of your own and look at "
        "the output.",
    ),
    (
        _always,
        "always",
        "The test condemns everything",
        "It says True to right code as well. A test is worth something only if it lets the right ones pass.",
    ),
    (
        _shape_only,
        "shape-only",
        "The test looks at the shape only",
        "It lets even a function pass that returns zeros. Nearly every fault in this clinic has the right shape: "
        "compare numbers.",
    ),
    (
        _constant,
        "constant-input",
        "All inputs are constant",
        "If all keys are alike, all scores are, and every way of weighing them comes to the same: with ones for "
        "inputs almost every fault is invisible. Take random numbers.",
    ),
]
MASKLESS = (_no_mask, "no-mask", "The test never passes a mask", "Without a mask this patient is in perfect health.")
DEADLESS = (
    _no_dead_row,
    "no-dead-row",
    "No row of the mask is empty",
    "The fault shows only where a query may attend to nothing at all. Set one row of the mask to False.",
)
SQUARE = (
    _square,
    "square-only",
    "There are as many queries as keys",
    "With equal numbers both corners are the same. Take fewer queries than keys.",
)
CLOSE = (
    _exact,
    "condemns-right",
    "Some right implementations are condemned too",
    "Right code need not agree to the last bit, since the order of operations differs: compare with a tolerance, "
    "as `torch.allclose` does, and demand nothing that is only one way of doing it.",
)
NARROW = (
    _only_this,
    "only-this-one",
    "It catches this patient, but not its relatives",
    "The same mistake with another number gets away. Test what has to hold for right code, not the one number "
    "that is wrong here.",
)


def patient(id, title, story, interface, section, *, cures, relatives, detects, special=()):
    """Register the decorated buggy function as a patient and as the exercise of its id."""

    def admit(make):
        PATIENTS[id] = Patient(id, title, story, interface, section, make, cures, relatives, detects)
        exercise = Detector(
            id=id,
            reference=detects,
            title=f"Patient {id}",
            section=section,
            asks="detects(attention)",
            hints=[
                f"What would right code return here, and how do you know? The patient is called as "
                f"`{interface.split(' → ')[0]}`.",
                _hint(special),
                "Compute what should come out with the library, on random inputs of which no two sizes agree, "
                "and return "
                "`not torch.allclose(…, atol=1e-4)`.",
            ],
        )
        for code, known_id, name, why in (*GENERAL, *special, CLOSE, NARROW):
            exercise.add(Sign(known_id, name, why, section, code))
        register(exercise)
        return make

    return admit


def _hint(special):
    shows = {
        "no-mask": "The fault shows only when a mask is passed: take a random one that leaves every query something.",
        "no-dead-row": "The fault shows only in a row of the mask that is False throughout.",
        "square-only": "The fault shows only when there are fewer queries than keys.",
    }
    for _, known_id, *_ in reversed(special):
        if known_id in shows:
            return shows[known_id]
    return "Constant inputs hide almost everything; take random ones, and sizes that all differ."


# ------------------------------------------------------------------------------------ tests that catch: the solutions


def random_qkv(n_q=3, n_k=5, d_k=8, d_v=2, batch=2):
    return torch.randn(batch, n_q, d_k), torch.randn(batch, n_k, d_k), torch.randn(batch, n_k, d_v)


def differs(output, expected):
    return not torch.allclose(output, expected, atol=1e-4)


def detects_without_mask(attention):
    q, k, v = random_qkv()
    return differs(attention(q, k, v), by_library(q, k, v))


def detects_exchange(attention):
    q, k, v = random_qkv(n_q=5, n_k=5, d_v=8)
    return differs(attention(q, k, v), by_library(q, k, v))


def detects_with_mask(attention):
    q, k, v = random_qkv()
    mask = torch.tensor([[True, False, False, True, False], [True] * 4 + [False], [False, True, True, True, False]])
    return differs(attention(q, k, v, mask), by_library(q, k, v, mask))


def detects_low_scores(attention):
    q, k, v = random_qkv()
    q, k = q.abs() * 3e3, -k.abs() * 3e3  # real scores far below any finite fill value
    mask = torch.tensor([True, True, True, False, False]).expand(3, 5)
    return differs(attention(q, k, v, mask), by_library(q, k, v, mask))


def detects_dead_rows(attention):
    q, k, v = random_qkv()
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False
    return differs(attention(q, k, v, mask)[:, 1], torch.zeros(2, 2))


def random_heads(batch=2, n=5, d_model=6, num_heads=3):
    return torch.randn(batch, n, d_model), *(torch.randn(d_model, d_model) for _ in range(4)), num_heads


def detects_in_heads(attention):
    args = random_heads()
    return differs(attention(*args), list_of_heads(*args))


def detects_mask_per_head(attention):
    args = random_heads(batch=3, num_heads=3)  # as many sequences as heads: only then does it go through
    mask = padding_mask([5, 2, 3], 5) & causal_mask(5)
    return differs(attention(*args, mask), list_of_heads(*args, mask))


def detects_invented_tokens(attention):
    args = random_heads(batch=1, n=4, d_model=10, num_heads=4)
    try:
        attention(*args)
    except (ValueError, RuntimeError):
        return False
    return True


def detects_poisoned_gradients(attention):
    q, k, v = random_qkv(n_q=4, n_k=4)
    v.requires_grad_()
    attention(q, k, v, torch.tensor([2, 4]))[0, :2].sum().backward()  # real tokens only
    return not v.grad.isfinite().all()


def detects_lost_causality(attention):
    q, k, v = random_qkv(n_q=4, n_k=4)
    lengths, mask = torch.tensor([3, 4]), causal_mask(4)
    return differs(attention(q, k, v, lengths, mask), by_library(q, k, v, mask & padding_mask(lengths)))


def detects_wrong_corner(attention):
    q, k, v = random_qkv(n_q=2, n_k=5)
    return differs(attention(q, k, v), by_library(q, k, v, causal_mask(2, 5)))


def detects_dropout_in_eval(attention):
    q, k, v = random_qkv()
    attention.eval()
    return differs(attention(q, k, v), by_library(q, k, v))


def detects_repeat_order(attention):
    q, k, v = random_qkv(n_q=5, n_k=5, d_k=4, d_v=4, batch=3)
    lengths = torch.tensor([1, 5, 3])
    return differs(attention(q, k, v, lengths, 2), lengths_per_head(q, k, v, lengths, 2))


# ------------------------------------------------------------------------------------------------------ the patients

NOTEBOOK_2, NOTEBOOK_3, NOTEBOOK_4 = "notebook 2", "notebook 3", "notebook 4"


@patient(
    "6.1",
    "Nothing divides by √d_k",
    "Two of the source texts leave the division out, and a well-known lecture's code did for a while.",
    PLAIN,
    f"{NOTEBOOK_2}, “Why divide by √d_k?”",
    cures=CURES,
    relatives=[
        scaled_by(lambda q, k, v: 1 / q.size(-1)),
        scaled_by(lambda q, k, v: q.size(-1) ** 0.5),
        scaled_by(lambda q, k, v: k.size(-2) ** -0.5),
    ],
    detects=detects_without_mask,
)
def unscaled(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    return masked_softmax(scores, mask) @ v


@patient(
    "6.2",
    "√d_model where √head_dim belongs",
    "One source text divides by the root of all 768 features, though each of its 12 heads multiplies 64: the "
    "scores come out 3.5 times too small.",
    HEADS,
    f"{NOTEBOOK_4}, “Which root?”",
    cures=HEADS_CURES,
    relatives=[
        heads_of(scaled_by(lambda q, k, v: 1.0)),
        heads_of(scaled_by(lambda q, k, v: 1 / q.size(-1))),
        heads_of(scaled_by(lambda q, k, v: 1 / math.sqrt(q.size(1) + q.size(-1)))),
    ],
    detects=detects_in_heads,
)
def scaled_by_d_model(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    scores = q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))
    return merge_heads(masked_softmax(scores, mask) @ v) @ w_o


@patient(
    "6.3",
    "Softmax along the queries",
    "`dim=-2`: the columns sum to 1 and not the rows. Seen in at least two published libraries.",
    PLAIN,
    f"{NOTEBOOK_2}, “Break it”",
    cures=CURES,
    relatives=[
        plain(lambda scores, mask: torch.softmax(filled(scores, mask, -1e9).flatten(-2), -1).view_as(scores)),
        plain(lambda scores, mask: torch.softmax(filled(scores, mask, -1e9), dim=0)),
    ],
    detects=detects_without_mask,
)
def softmax_over_queries(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=-2) @ v


@patient(
    "6.4",
    "The softmax that is thrown away",
    "A source text computes the softmax in one cell and multiplies the raw scores by the values in the next. "
    "Outputs spread by 72 where it should be 0.14.",
    PLAIN,
    f"{NOTEBOOK_2}, “Larger, and a false friend”",
    cures=CURES,
    relatives=[
        plain(lambda scores, mask: filled(scores, mask, 0.0)),
        plain(lambda scores, mask: torch.log_softmax(filled(scores, mask, -1e9), dim=-1)),
        plain(lambda scores, mask: torch.sigmoid(filled(scores, mask, -1e9))),
    ],
    detects=detects_without_mask,
)
def softmax_thrown_away(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
    torch.softmax(scores, dim=-1)
    return scores @ v


@patient(
    "6.5",
    "The mask that never arrives",
    "A source text builds a mask for its demo and calls the module without it; here the fill is computed and not kept.",
    PLAIN,
    f"{NOTEBOOK_3}, “A mask that is not used”",
    cures=CURES,
    relatives=[
        plain(lambda scores, mask: torch.softmax(scores, dim=-1)),
        plain(
            lambda scores, mask: masked_softmax(
                scores, None if mask is None else mask.any(-1, keepdim=True).expand_as(scores)
            )
        ),
    ],
    detects=detects_with_mask,
    special=[MASKLESS],
)
def mask_forgotten(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, dim=-1) @ v


@patient(
    "6.6",
    "True means the opposite",
    "Code moved over from `nn.MultiheadAttention`, where True = ignored. Nothing is raised.",
    PLAIN,
    f"{NOTEBOOK_3}, “True means what?”",
    cures=CURES,
    relatives=[
        plain(lambda scores, mask: torch.softmax(scores if mask is None else scores.masked_fill(mask, -1e9), dim=-1)),
        plain(lambda scores, mask: torch.softmax(scores if mask is None else scores + mask * -1e9, dim=-1)),
    ],
    detects=detects_with_mask,
    special=[MASKLESS],
)
def polarity_flipped(q, k, v, mask=None):
    return by_library(q, k, v, None if mask is None else ~mask)


@patient(
    "6.7",
    "A mask that is added as 0 and 1",
    "Converted to floats, a mask is taken by PyTorch as something to be added to the scores.",
    PLAIN,
    f"{NOTEBOOK_3}, “True means what?”",
    cures=CURES,
    relatives=[
        plain(lambda scores, mask: torch.softmax(scores if mask is None else scores - (~mask).float(), dim=-1)),
        plain(lambda scores, mask: torch.softmax(scores if mask is None else scores * mask, dim=-1)),
    ],
    detects=detects_with_mask,
    special=[MASKLESS],
)
def mask_added(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores + mask.float()
    return torch.softmax(scores, dim=-1) @ v


@patient(
    "6.8",
    "Zeros after softmax",
    "The weights are multiplied by the mask once softmax is over: rows no longer sum to 1. An issue of the "
    "transformers library was about this.",
    PLAIN,
    f"{NOTEBOOK_3}, “Before softmax, not after”",
    cures=CURES,
    relatives=[
        plain(lambda scores, mask: torch.softmax(scores, -1) * (1 if mask is None else 0.1 + 0.9 * mask)),
        plain(
            lambda scores, mask: (
                torch.softmax(scores, -1).masked_fill(~mask, 1e-9) if mask is not None else torch.softmax(scores, -1)
            )
        ),
    ],
    detects=detects_with_mask,
    special=[MASKLESS],
)
def zeros_after_softmax(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v


@patient(
    "6.9",
    "A fill value that real scores undercut",
    "A large negative number in place of −∞ holds only as long as no real score lies below it; one source text "
    "fills with −1 000 000.",
    PLAIN,
    f"{NOTEBOOK_3}, “Which number to fill in?”",
    cures=CURES,
    relatives=[
        plain(lambda scores, mask: torch.softmax(filled(scores, mask, -1e4), dim=-1)),
        plain(lambda scores, mask: torch.softmax(filled(scores, mask, -100.0), dim=-1)),
    ],
    detects=detects_low_scores,
    special=[
        MASKLESS,
        (
            lambda found, calls, answer: (
                _lets_pass(found) and bool(_masks(calls)) and max(float(t.abs().max()) for t in _inputs(calls)) < 50
            ),
            "tame-scores",
            "The scores of the test are tame",
            "As long as all real scores lie far above −1 000 000 this patient is right. Make them very low: "
            "large queries, keys that point the other way.",
        ),
    ],
)
def fill_too_high(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e6)
    return torch.softmax(scores, dim=-1) @ v


@patient(
    "6.10",
    "Dead rows that listen to everything",
    "With −1e9 nothing becomes NaN. But a query that may attend to nothing gets equal weights over all that it "
    "must not see.",
    PLAIN,
    f"{NOTEBOOK_3}, “Which number to fill in?”",
    cures=CURES,
    relatives=[
        plain(lambda scores, mask: torch.softmax(filled(scores, mask, torch.finfo(scores.dtype).min), dim=-1)),
        plain(
            lambda scores, mask: masked_softmax(scores, mask if mask is None else mask | ~mask.any(-1, keepdim=True))
        ),
    ],
    detects=detects_dead_rows,
    special=[MASKLESS, DEADLESS],
)
def dead_rows_uniform(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=-1) @ v


@patient(
    "6.11",
    "Dead rows that are NaN",
    "With −∞ a query that may attend to nothing is 0/0. An empty sequence in the batch is enough.",
    PLAIN,
    f"{NOTEBOOK_3}, “The row with nothing left”",
    cures=CURES,
    relatives=[
        plain(
            lambda scores, mask: torch.softmax(
                scores if mask is None else scores + torch.zeros(mask.shape).masked_fill(~mask, -math.inf), dim=-1
            )
        ),
        plain(
            lambda scores, mask: (
                torch.softmax(scores, -1)
                if mask is None
                else torch.softmax(scores, -1) * mask / (torch.softmax(scores, -1) * mask).sum(-1, keepdim=True)
            )
        ),
    ],
    detects=detects_dead_rows,
    special=[MASKLESS, DEADLESS],
)
def dead_rows_nan(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, dim=-1) @ v


def queries_masked_by_product(q, k, v, lengths):
    real = padding_mask(lengths, k.size(1))
    return torch.softmax(scores_of(q, k).masked_fill(~(real.transpose(1, 2) * real), -math.inf), dim=-1) @ v


@patient(
    "6.12",
    "Padded queries masked, gradients NaN",
    "Masking padded queries too looks thorough. Their rows become NaN, and the gradient of the values is NaN "
    "even if the loss reads real tokens only.",
    LENGTHS,
    f"{NOTEBOOK_3}, “The row with nothing left”",
    cures=[with_lengths(core) for core in CURES],
    relatives=[queries_masked_by_product],
    detects=detects_poisoned_gradients,
    special=[
        (
            lambda found, calls, answer: _lets_pass(found) and not any(t.requires_grad for t in _inputs(calls)),
            "no-gradient",
            "The test looks at no gradient and at no padded query",
            "The real tokens' outputs are right. What is wrong are the padded rows, NaN, and through them the "
            "gradients: let `v.requires_grad_()`, take a loss of real tokens, call `.backward()`.",
        )
    ],
)
def queries_masked_too(q, k, v, lengths):
    real = padding_mask(lengths, k.size(1))  # (batch, 1, n)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~(real.transpose(1, 2) & real), -math.inf)
    return torch.softmax(scores, dim=-1) @ v


def padding_ignored(q, k, v, lengths=None, mask=None):
    return by_library(q, k, v, mask) if mask is not None else with_both()(q, k, v, lengths)


def either_suffices(q, k, v, lengths=None, mask=None):
    if lengths is None or mask is None:
        return with_both()(q, k, v, lengths, mask)
    return by_library(q, k, v, mask | padding_mask(lengths, k.size(1)))


@patient(
    "6.13",
    "Padding given, causality lost",
    "A source text's function replaces the caller's mask as soon as padding is given too.",
    BOTH,
    f"{NOTEBOOK_3}, “No looking ahead”",
    cures=[with_both(core) for core in CURES],
    relatives=[padding_ignored, either_suffices],
    detects=detects_lost_causality,
    special=[
        MASKLESS,
        (
            lambda found, calls, answer: (
                _lets_pass(found) and not any(t.dtype == torch.long for t in _tensors_in(calls))
            ),
            "one-mask-only",
            "The test never passes both",
            "Each of the two works alone. It is together that one replaces the other.",
        ),
    ],
)
def mask_replaced(q, k, v, lengths=None, mask=None):
    if lengths is not None:
        mask = padding_mask(lengths, k.size(1))
    return by_library(q, k, v, mask)


@patient(
    "6.14",
    "A causal mask that starts at the wrong corner",
    "`is_causal=True` puts query 0 at key 0. When the queries are the newest of many tokens, they see almost nothing.",
    CAUSAL,
    f"{NOTEBOOK_3}, “No looking ahead”",
    cures=[causal_of(core) for core in CURES],
    relatives=[
        causal_of(offset=lambda n_q, n_k: 0),
        causal_of(offset=lambda n_q, n_k: n_k - 1 if n_q < n_k else 0),
        causal_of(offset=lambda n_q, n_k: (n_k - n_q) // 2),
    ],
    detects=detects_wrong_corner,
    special=[SQUARE],
)
def causal_top_left(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class AlwaysDropping(DropoutModule):
    def train(self, mode=True):
        return super().train(True)


class DropoutOnOutput(nn.Module):
    def forward(self, q, k, v):
        return F.dropout(by_library(q, k, v), 0.2)


@patient(
    "6.15",
    "Dropout left on in eval",
    "`F.dropout` and `dropout_p` of PyTorch's own function know nothing of `.eval()`: somebody has to ask "
    "`self.training`.",
    MODULE,
    f"{NOTEBOOK_3}, “Dropout on the weights”",
    cures=[DropoutInTraining, DropoutModule, WithoutDropout],
    relatives=[AlwaysDropping, DropoutOnOutput],
    detects=detects_dropout_in_eval,
)
class DropoutAlways(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, dropout_p=0.3)


def torn(x, num_heads):
    return x.reshape(x.size(0), num_heads, x.size(1), x.size(2) // num_heads)


def sewn(x):
    return x.reshape(x.size(0), x.size(2), -1)


@patient(
    "6.16",
    "Heads cut with view alone",
    "The shape asked for is (batch, heads, n, head_dim), and `view` gives just that. Seen in questions about two "
    "well-known repositories.",
    HEADS,
    f"{NOTEBOOK_4}, “From features to heads: view and transpose”",
    cures=HEADS_CURES,
    relatives=[
        heads_of(split=torn),
        heads_of(merge=sewn),
        heads_of(split=lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2)),
    ],
    detects=detects_in_heads,
)
def heads_torn(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    batch, n, d_model = x.shape
    q, k, v = ((x @ w).view(batch, num_heads, n, d_model // num_heads) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    return by_library(q, k, v, mask).reshape(batch, n, d_model) @ w_o


def features_dropped(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    width = x.size(-1) // num_heads * num_heads
    q, k, v = (split_heads((x @ w)[..., :width].contiguous(), num_heads) for w in (w_q, w_k, w_v))
    return merge_heads(by_library(q, k, v, mask)) @ w_o[:width]


@patient(
    "6.17",
    "Tokens that nobody wrote",
    "No check that num_heads divides d_model, and a `view` with -1: one source text runs 255 tokens as 256 and "
    "returns the right shape. Right code raises ValueError or RuntimeError.",
    HEADS,
    f"{NOTEBOOK_4}, “Break it”",
    cures=HEADS_CURES,
    relatives=[features_dropped],
    detects=detects_invented_tokens,
    special=[
        (
            lambda found, calls, answer: _lets_pass(found) and all(call[0].size(-1) % call[5] == 0 for call in calls),
            "sizes-divide",
            "All sizes of the test divide",
            "Then this patient is right. Take 10 features and 4 heads, and expect an error.",
        )
    ],
)
def invented_tokens(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    batch, _, d_model = x.shape
    q, k, v = ((x @ w).view(batch, -1, num_heads, d_model // num_heads).transpose(1, 2) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    return by_library(q, k, v, mask).transpose(1, 2).reshape(batch, -1, d_model) @ w_o


@patient(
    "6.18",
    "repeat in place of repeat_interleave",
    "Batch and heads are merged, so every length is needed once per head: 1, 1, 5, 5 and not 1, 5, 1, 5.",
    MERGED,
    f"{NOTEBOOK_4}, “All heads in the batch”",
    cures=[merged_heads(), merged_heads(by_torch), merged_heads(by_einsum), lengths_per_head],
    relatives=[
        merged_heads(spread=lambda lengths, heads: lengths.repeat(heads)),
        merged_heads(spread=lambda lengths, heads: lengths.repeat_interleave(heads).flip(0)),
        merged_heads(spread=lambda lengths, heads: lengths.max().repeat(len(lengths) * heads)),
    ],
    detects=detects_repeat_order,
    special=[
        (
            lambda found, calls, answer: _lets_pass(found) and all(len(set(call[3].tolist())) == 1 for call in calls),
            "equal-lengths",
            "All lengths of the test are equal",
            "Then every order of them is the right one.",
        ),
        (
            lambda found, calls, answer: _lets_pass(found) and all(call[4] == 1 for call in calls),
            "one-head",
            "There is only one head",
            "Repeated once, in whatever order, the lengths stay as they are.",
        ),
    ],
)
def lengths_repeated(q, k, v, lengths, num_heads):
    heads = [split_heads(x, num_heads).flatten(0, 1) for x in (q, k, v)]  # (batch · heads, n, head_dim)
    mask = padding_mask(lengths.repeat(num_heads), k.size(1))
    return merge_heads(by_library(*heads, mask).unflatten(0, (-1, num_heads)))


@patient(
    "6.19",
    "A mask per sequence taken for one per head",
    "A mask (batch, n, n) against scores (batch, heads, n, n): where batch equals heads it broadcasts, and "
    "sequence 0's mask becomes head 0's.",
    HEADS,
    f"{NOTEBOOK_4}, “Multi-head attention, whole”",
    cures=HEADS_CURES,
    relatives=[
        heads_of(by_torch, head_axis=False),
        heads_of(lambda q, k, v, mask=None: by_library(q, k, v, mask if mask is None else mask[:1])),
    ],
    detects=detects_mask_per_head,
    special=[
        MASKLESS,
        (
            lambda found, calls, answer: _lets_pass(found) and all(call[0].size(0) == 1 for call in calls),
            "one-sequence",
            "There is only one sequence",
            "With one sequence its mask is every head's mask anyway. Take as many sequences as heads, with masks "
            "that differ.",
        ),
    ],
)
def mask_per_head(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (batch, heads, n, n)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return merge_heads(torch.softmax(scores, dim=-1) @ v) @ w_o


@patient(
    "6.20",
    "Key handed over as query",
    "One library's constructor takes key, query, value, but its call takes query, key, value. In self-attention "
    "with equal sizes nothing complains.",
    PLAIN,
    f"{NOTEBOOK_2}, “Different lengths, different sizes”",
    cures=CURES,
    relatives=[
        lambda q, k, v, mask=None: by_library(q, q, v, mask),
        lambda q, k, v, mask=None: by_library(k, k, v, mask),
        lambda q, k, v, mask=None: by_library(v, k, q, mask),
    ],
    detects=detects_exchange,
    special=[
        (
            lambda found, calls, answer: (
                _lets_pass(found)
                and all(call[0].shape == call[1].shape and torch.equal(call[0], call[1]) for call in calls)
            ),
            "same-tensor",
            "Query and key are the same tensor",
            "Then it does not matter which is which. Take two different ones.",
        )
    ],
)
def key_as_query(q, k, v, mask=None):
    return by_library(k, q, v, mask)


@patient(
    "6.21",
    "The output projection that is never used",
    "One source text creates `out_proj`, saves it, counts its parameters, and returns the merged heads without it.",
    HEADS,
    f"{NOTEBOOK_4}, “The projection that was forgotten”",
    cures=HEADS_CURES,
    relatives=[
        heads_of(project=False),
        lambda x, w_q, w_k, w_v, w_o, num_heads, mask=None: heads_of()(x, w_q, w_k, w_v, w_v, num_heads, mask),
        lambda x, w_q, w_k, w_v, w_o, num_heads, mask=None: heads_of()(x, w_q, w_k, w_v, w_o.T, num_heads, mask),
    ],
    detects=detects_in_heads,
)
def projection_unused(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
    return merge_heads(by_library(q, k, v, mask))
