"""trace's remarks: each surprise stands at its operation and nowhere else, and right code has none."""

import inspect
import math
import re
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from cells import in_a_cell, remarks, traced
from hypothesis import given
from hypothesis import strategies as st
from strategies import normal, seeds
from torch import nn

from attn_lib import (
    MultiHeadAttention,
    MultiHeadAttentionByHeads,
    causal_mask,
    masked_softmax,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from workbench.trace import trace

NEVER_USED = "never used"
NAN = "nan first appears here"
several = st.integers(2, 5)  # an axis of size 1 is a surprise in itself
inf = math.inf


def both(a, b):
    return a + b


def hidden(scores, mask):
    return scores.masked_fill(mask, -inf)


def mean_of(x):
    x.softmax(-1)
    return x.mean()


BATCH = padding_mask([1, 4, 2, 3], 4)[:, 0]  # (batch, n) where batch == n
ONE_ROW = torch.tensor([[True, True], [False, True]])
PER_SEQUENCE = torch.eye(3).bool()[:2, None]  # (batch, 1, n) where batch == heads
ones = torch.ones
SURPRISES = [  # what runs, on what, the operation that is remarked on, and what of it is said
    (both, (ones(4, 1, 4), ones(4, 4, 1)), "+", "both sides: (4, 1, 4) and (4, 4, 1)"),
    (lambda a, b: (a - b) ** 2, (ones(3, 1), ones(3)), "-", "became (3, 3)"),
    (lambda x, y: x.view(3, 1, 4) + y, (ones(3, 4), ones(5, 4)), "+", "broadcasting enlarged both"),
    (hidden, (ones(3, 3), torch.eye(3).bool().expand(2, 3, 3)), "masked_fill", "enlarged"),
    (hidden, (ones(4, 2, 4, 4), ~BATCH), "masked_fill", "became axis 2"),
    (hidden, (ones(2, 2, 3, 3), PER_SEQUENCE), "masked_fill", "became axis 1"),
    (both, (ones(4, 2, 4, 4), (~BATCH).float() * -1e9), "+", "if it is the batch"),
    (lambda x: x.transpose(1, 2) + 1, (ones(3, 1, 1),), "transpose", "changed nothing"),
    (lambda x: x.transpose(1, -1) + 1, (ones(3, 2),), "transpose", "changed nothing"),
    (lambda x: x.view(2, 3) + 1, (ones(2, 3),), "view", "changed nothing: the shape was (2, 3)"),
    (lambda x: x.squeeze(1) + 1, (ones(2, 3),), "squeeze", "changed nothing"),
    (lambda x: x.softmax(1), (ones(3, 1, 4),), "softmax", "every weight is 1"),
    (lambda x: F.softmax(x, dim=1), (ones(3, 1),), "softmax", "every weight is 1"),
    (lambda x: x.softmax(1), (ones(2, 2, 3, 3),), "softmax", "over axis 1 of (2, 2, 3, 3)"),
    (lambda x: x.view(2, 2, 6, 4) + 1, (ones(2, 6, 8),), "view", "view(2, 6, 2, 4).transpose"),
    (lambda q: q @ q.mT / math.sqrt(8), (ones(2, 2, 6, 4),), "/ 2.828", "head_dim=4, so √4 belongs here"),
    (lambda q: q / math.sqrt(8), (ones(2, 2, 6, 4),), "/", "√8, embed_dim: the product of one"),
    (lambda q: q @ q.mT * 8**-0.5, (ones(2, 2, 6, 4),), "*", "scales by √8"),
    (both, (ones(2, 3), ones(2, 3).bool()), "+", "hides nothing"),
    (hidden, (ones(2, 3), torch.zeros(2, 3).bool()), "masked_fill", "masked nothing"),
    (hidden, (ones(2, 2), ONE_ROW), "masked_fill", "1 of 2 rows"),
    (lambda x, m: torch.where(m, -1e9, x), (ones(2, 2), ONE_ROW), "where", "1 of 2 rows"),
    (lambda x: x.masked_fill(x > 0, -1e4) * 2, (ones(2, 2),), "masked_fill", "2 of 2 rows"),
    (lambda x: x.numpy() * 2, (ones(2),), "numpy", "leaves PyTorch"),
    (lambda x: np.asarray(x) * 2, (ones(2),), "__array__", "leaves PyTorch"),
    (lambda x: np.from_dlpack(x) * 2, (ones(2),), "__dlpack__", "leaves PyTorch"),
    (mean_of, (ones(2, 3),), "softmax", NEVER_USED),
    (lambda x: x.softmax(-1), (torch.tensor([[0.0, 1], [-inf, -inf]]),), "softmax", "1 of 2 rows: softmax of"),
    (lambda x: x.softmax(-1), (torch.tensor([[-inf, inf]]),), "softmax", "softmax of a row that is inf somewhere"),
    (lambda x: x - x, (torch.tensor([-inf, 1.0]),), "-", "in 1 of 2 numbers: inf met 0"),
    (lambda x: 1 / x, (torch.zeros(2),), "1 /", "2 of 2 numbers became inf here"),
    (lambda x: x / 1e-4, (torch.full((2,), 100.0).half(),), "/", "float16 ends at 65504"),
    (lambda x: x @ x.mT, (torch.full((2, 2), 300.0).half(),), "@", "4 of 4 numbers became inf; float16 ends"),
    (lambda x: x.exp(), (torch.tensor([1.0, 1000.0]),), "exp", "1 of 2 numbers became inf; float32"),
    (lambda x: x.masked_fill_(x > 0, 0.0), (ones(2, 2),), "masked_fill_", "caller's own is changed"),
    (lambda x: x.view(-1).mul_(2), (ones(2, 2),), "*=", "caller's own is changed"),
]  # fmt: skip


@pytest.mark.parametrize("fn, args, operation, words", SURPRISES, ids=[f"{row[2]}: {row[3]}" for row in SURPRISES])
def test_surprise_is_named_at_its_operation(fn, args, operation, words):
    run = trace(fn, *(arg.clone() for arg in args))
    found = [step for step, said in run.surprises if words in said]
    assert len(found) == 1 and found[0].operation.startswith(operation), remarks(run)
    assert words in repr(run) and "⚠" in found[0]._repr_html_()


CHANGES = {  # a statement about x and its argument → how the operation reads
    "x += y": "+=",
    "x -= 1": "-= 1",
    "x //= 2": "//= 2",
    "x %= 2": "%= 2",
    "x **= 2": "**= 2",
    "x &= y": "&=",
    "x.fill_(2)": "fill_(2)",
    "x[0] = 7": "[0] = 7",
    "x[0] = y[0]": "[0] = ·",
    "torch.bitwise_and(x, y, out=x)": "&=",
    "F.relu(x, inplace=True)": "relu(inplace=True)",
}
KEEPS = {"x + y": "+", "x & y": "&", "~x": "~", "x > y": ">", "F.relu(x, inplace=False)": "relu", "int(x[0])": "[0]"}


@pytest.mark.parametrize("written, read", [*CHANGES.items(), *KEEPS.items()])
def test_only_what_changes_an_argument_is_said_to_change_it(written, read):
    run = traced(f"def f(x, y):\n    {written}\n    return x", ones(2, dtype=torch.long), torch.full((2,), 2))
    assert run.operations[-1].operation == read
    assert ("the caller's own is changed" in repr(run)) == (written in CHANGES)


def test_nan_is_named_where_it_appears_and_not_again():
    run = trace(lambda x: (x.softmax(-1) @ x.exp()) * 2, torch.full((2, 2), -inf))
    assert [NAN in words for words in remarks(run)] == [True], remarks(run)

    def through_a_view(x):
        x = x * 1
        x.view(-1)[0].fill_(math.nan)
        return x * 2

    assert sum(NAN in words for words in remarks(trace(through_a_view, torch.zeros(2, 2)))) == 1
    with torch.inference_mode():  # where PyTorch does not count what is written
        assert sum(NAN in words for words in remarks(trace(through_a_view, torch.zeros(2, 2)))) == 1

    def from_one_of_two(x):
        bad, fine = x.unbind(0)
        return bad, fine - fine

    run = trace(from_one_of_two, torch.tensor([[math.nan, 0], [inf, 0]]))
    assert [step.operation for step, words in run.surprises if NAN in words] == ["-"]


def test_nan_inside_a_library_call_is_shown_at_that_call():
    mha, x = nn.MultiheadAttention(8, 2, batch_first=True), normal(2, 3, 8, dtype=torch.float32)
    run = trace(lambda: mha(x, x, x, key_padding_mask=ones(2, 3).bool()))
    assert any(said.startswith("softmax") and NAN in said for said in remarks(run)), remarks(run)
    for shown in (repr(run), run._repr_html_()):
        assert re.search(r"nan first appears .*\([\d.]+: softmax", shown), "above the fold"


# ----------------------------------------------------------------------------------------------------- never used


@pytest.mark.parametrize("library", [masked_softmax, split_heads, MultiHeadAttention(4, 2)])
def test_library_result_thrown_away_is_remarked_at_the_call(library):
    given = {"x": normal(2, 3, 4, dtype=torch.float32)}
    arguments = {masked_softmax: "x", split_heads: "x, 2"}.get(library, "x, x, x")
    run = traced(f"def f(x):\n    library({arguments})\n    return x * 2", *given.values(), library=library)
    assert [step.number for step, words in run.surprises if NEVER_USED in words] == ["0"]
    assert NEVER_USED in repr(run) and NEVER_USED in run._repr_html_()


def test_what_is_kept_or_used_in_another_way_is_no_surprise():
    kept = []

    def fn(x):
        kept.append(x.softmax(-1))  # kept elsewhere, as modules keep self.weights
        if (x > 0).any():
            x = x + 1
        total = x.sum().item()
        (x * 2).numpy()
        out = torch.zeros_like(x)
        out[0] = x[0] * total
        out[1].fill_(2.0)  # through a view
        values, _ = x.max(-1)
        return out, {"values": values}

    assert not any(NEVER_USED in words for words in remarks(trace(fn, normal(3, 3))))


# ----------------------------------------------------------------------------------------------- what is no surprise


@given(
    several, several, several, st.integers(2, 3), st.integers(2, 3), st.sampled_from(["no", "causal", "padding"]), seeds
)
def test_right_code_has_no_surprises(batch, n, n_k, heads, head_dim, kind, seed):
    warnings.simplefilter("ignore")
    x = normal(batch, n, heads * head_dim, seed=seed, dtype=torch.float32)
    y = x if kind == "causal" else normal(batch, n_k, heads * head_dim, seed=seed + 1, dtype=torch.float32)
    lengths = [1] + [y.size(1)] * (batch - 1)
    mask = {"no": None, "causal": causal_mask(n), "padding": padding_mask(lengths)}[kind]
    torch.manual_seed(seed)
    ours, by_heads = MultiHeadAttention(heads * head_dim, heads), MultiHeadAttentionByHeads(heads * head_dim, heads)
    theirs = nn.MultiheadAttention(heads * head_dim, heads, batch_first=True)
    closed = None if mask is None else ~mask
    theirs_masks = {"key_padding_mask": closed[:, 0]} if kind == "padding" else {"attn_mask": closed}
    learners = written_by_a_learner()
    for fn in (scaled_dot_product_attention, learners["scaled_dot_product_attention"], ours, by_heads):
        assert not remarks(trace(fn, x, y, y, mask))
    assert not remarks(trace(theirs, x, y, y, **theirs_masks))
    assert not remarks(trace(lambda: masked_softmax(x @ y.mT, mask)))
    assert not remarks(trace(lambda: learners["merge_heads"](learners["split_heads"](x, heads))))
    assert not remarks(trace(padding_mask, lengths)) and not remarks(trace(causal_mask, n, n_k))
    assert not remarks(trace(lambda: padding_mask([1] * n) & causal_mask(1, 1)))


def written_by_a_learner():
    """The library's own source in a cell, so that it is judged as the learner's and not as library code."""
    source = "\n".join(map(inspect.getsource, (masked_softmax, scaled_dot_product_attention, split_heads, merge_heads)))
    checks = {name: lambda *args: None for name in ("check_scores", "check_attention", "check_split", "check_merge")}
    return in_a_cell(source, "<ipython-input-2-right>", **checks)


NO_SURPRISE = [
    (lambda x: x.view(2, 6, 2, 4).transpose(1, 2), (2, 6, 8)),  # whole tokens
    (lambda x: x.view(2, 4, 4, 2) + 1, (2, 4, 8)),  # as many heads as tokens: cannot be told apart
    (lambda x: x.view(12, 2, 4) + 1, (2, 6, 8)),
    (lambda q: q @ q.mT / 2, (2, 2, 6, 4)),  # √head_dim
    (lambda q: q @ q.mT / 4, (2, 4, 6, 4)),  # as many heads as features: d_k is no less likely
    (lambda q: q @ q.mT / math.sqrt(8), (2, 6, 8)),  # one head
    (lambda x: x.masked_fill(~causal_mask(3), -inf), (3, 2, 3, 3)),  # as many sequences as queries
    (lambda x: x * (x > 0), (3, 3)),  # weights are erased by a product with a bool mask
    (lambda x: x.softmax(-2), (2, 2, 3, 3)),  # over queries: for the reader to find
    (lambda x: x * x.sum().item(), (3, 3)),
    (lambda x: x[:, :, None] * x[None], (3, 3)),  # axes that are written out
    (lambda x: x.unsqueeze(1) + x.unsqueeze(0), (3, 4)),
    (lambda x: x[0][:, None] - x[1], (3, 3)),
    (lambda x: x + x[0], (4, 4, 8)),  # positions, added to a batch of the same size
    (lambda x: split_heads(x, 1), (1, 1, 4)),  # what is odd inside a library call is not the learner's
    (lambda x: masked_softmax(x, torch.tensor([[True, False], [False, False]])), (2, 2)),
]


@pytest.mark.parametrize("fn, shape", NO_SURPRISE)
def test_what_is_right_is_no_surprise(fn, shape):
    assert remarks(trace(fn, torch.full(shape, 0.5))) == []
