"""trace: shows every operation with its shapes, remarks on what surprises, and finds where two versions part."""

import functools
import inspect
import linecache
import math
import re
import sys
import textwrap
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from strategies import normal, seeds
from torch import nn
from torch.overrides import BaseTorchFunctionMode

from attn_lib import (
    MultiHeadAttention,
    MultiHeadAttentionByHeads,
    causal_mask,
    checks,
    masked_softmax,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    self_attention_steps,
    split_heads,
)
from workbench.display.colours import FRAMES
from workbench.exercises.clinic import PATIENTS
from workbench.exercises.clinic.anonymous import instance_of
from workbench.exercises.engine.exercise import EXERCISES
from workbench.trace import compare, trace
from workbench.trace.surprises import Call

NEVER_USED = "never used"
several = st.integers(2, 5)  # an axis of size 1 is a surprise in itself


def operations(run):
    return [step.operation for step in run.operations]


def remarks(run):
    return [f"{step.operation}: {words}" for step, words in run.surprises]


def in_a_cell(source, name="<ipython-input-1-0a1b2c3d4e5f>", **names):
    """Define what a notebook cell defines: IPython puts the lines of a cell into linecache, under no file."""
    source = textwrap.dedent(source).strip()
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"torch": torch, "F": F, "math": math, "nn": nn, **names}
    exec(compile(source, name, "exec"), names)
    return names


# ----------------------------------------------------------------------------------------- what an honest trace shows


def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v


@given(several, several, several, several, several, seeds)
def test_operations_come_in_order_with_the_shapes_they_had(batch, n_q, n_k, d_k, d_v, seed):
    q, k, v = normal(batch, n_q, d_k, seed=seed), normal(batch, n_k, d_k, seed=seed), normal(batch, n_k, d_v, seed=seed)
    run = trace(attention, q, k, v)
    assert operations(run) == ["transpose(-2, -1)", "@", f"/ {math.sqrt(d_k):.4g}", "softmax(dim=-1)", "@"]
    shapes = [([shape for shape, _ in step.inputs], step.outputs[0][0]) for step in run.operations]
    scores = (batch, n_q, n_k)
    assert shapes == [
        ([(batch, n_k, d_k)], (batch, d_k, n_k)),
        ([(batch, n_q, d_k), (batch, d_k, n_k)], scores),
        ([scores], scores),
        ([scores], scores),
        ([scores, (batch, n_k, d_v)], (batch, n_q, d_v)),
    ]
    assert torch.equal(run.output, attention(q, k, v)) and not run.error and not run.surprises
    assert torch.equal(run[3].value, (q @ k.mT / math.sqrt(d_k)).softmax(-1))


ALONG_AN_AXIS = [
    "softmax",
    "log_softmax",
    "sum",
    "mean",
    "any",
    "all",
    "amax",
    "amin",
    "max",
    "min",
    "argmax",
    "argmin",
]
ALONG_AN_AXIS += ["cumsum", "squeeze", "unsqueeze", "std", "var", "unbind", "logsumexp", "prod", "flip"]


@pytest.mark.parametrize(
    "written, operation",
    [
        ("x @ x.mT", "@"),
        ("torch.matmul(x, x.mT)", "@"),
        ("2 * x", "* 2"),
        ("1 - x", "1 -"),
        ("2 / x", None),
        ("x ** 2", "** 2"),
        ("x + x", "+"),
        ("-x", "-"),
        ("~(x > 0)", "~"),
        ("(x > 0) & (x < 1)", "&"),
        ("x[:, None]", "[:, None]"),
        ("x[..., 0:2]", "[..., 0:2]"),
        ("x.T", ".T"),
        ("x.softmax(-1)", "softmax(dim=-1)"),
        ("F.softmax(x, 1)", "softmax(dim=1)"),
        ("nn.Softmax(dim=-1)(x)", "softmax(dim=-1)"),
        ("x.sum(dim=-1, keepdim=True)", "sum(dim=-1, keepdim=True)"),
        ("x.masked_fill(x > 0, -math.inf)", "masked_fill(·, -inf)"),
        ("torch.einsum('ij,kj->ik', x, x)", "einsum('ij,kj->ik')"),
        ("torch.cat([x, x], dim=-1)", "cat(dim=-1)"),
        ("F.dropout(x, 0.0)", "dropout(p=0, training=True)"),
        ("x.to(torch.float64)", "to(float64)"),
        ("x.reshape(2, -1)", "reshape(2, -1)"),
        *((f"x.{name}(-1)", f"{name}(dim=-1)") for name in ALONG_AN_AXIS),
    ],
)
def test_operations_read_as_they_are_written(written, operation):
    fn = in_a_cell(f"def fn(x):\n    return {written}")["fn"]
    assert operations(trace(fn, normal(4, 4)))[-1] == operation or operation is None


def test_the_line_is_the_learners_own_also_in_a_notebook_cell():
    fn = in_a_cell("""
        import torch

        def fn(x):
            y = x.relu()  # keep what is positive

            return y @ y.mT
        """)["fn"]
    run = trace(fn, normal(3, 3))
    assert [(step.place.number, step.place.text) for step in run] == [
        (4, "y = x.relu()  # keep what is positive"),
        (6, "return y @ y.mT"),
        (6, "return y @ y.mT"),
    ]
    assert "line 4  y = x.relu()  # keep what is positive" in repr(run)


def test_code_without_a_file_is_traced_without_lines():
    names = {}
    exec("def fn(x):\n    return x.relu() + 1", names)
    run = trace(names["fn"], normal(2, 2))
    assert operations(run) == ["relu", "+ 1"] and not run[0].place.text
    assert len(repr(run).splitlines()) == 3
    assert repr(run[0]).startswith("0  relu") and "></code>" not in run[0]._repr_html_()
    assert operations(trace(torch.softmax, normal(2, 2), -1)) == ["softmax(dim=-1)"]
    assert operations(trace(F.softmax, normal(2, 2), dim=-1)) == ["softmax(dim=-1)"]


def test_a_helper_of_ones_own_is_open_and_a_library_call_is_folded():
    names = in_a_cell(
        """
        def scores_of(q, k):
            return q @ k.mT

        def fn(x):
            return masked_softmax(scores_of(x, x))
        """,
        masked_softmax=masked_softmax,
    )
    run = trace(names["fn"], normal(3, 3))
    text = repr(run)
    assert [step.operation for step in run] == ["scores_of", "softmax(dim=-1)"]
    assert re.search(r"0\.1 +@", text) and "line 2  return q @ k.mT" in text
    folded = trace(lambda x: masked_softmax(x, causal_mask(3)), normal(3, 3))
    assert "masked_fill" not in repr(folded) and "inside" in repr(folded)
    assert "masked_fill(·, 0)" in folded.as_text(inner=True)
    assert folded[1].operation == "masked_softmax"
    assert [shape for shape, _ in folded[1].inputs] == [(3, 3), (3, 3)] and folded[1].outputs[0][0] == (3, 3)
    assert folded["1.4"].operation == "where"
    assert len(re.findall(r"^ *line \d", folded.as_text(inner=True), re.M)) == 1  # the library's lines have no number
    assert folded._repr_html_().count(">line ") == 1 and "padding-left: 1.4em" in run._repr_html_()
    assert "Inside masked_softmax" in folded[1]._repr_html_() and "Inside masked_softmax" in folded._repr_html_()
    assert re.search(r"masked_softmax .*\(\d+ operations inside\)$", repr(folded), re.M)
    assert re.search(r">\d+ operations inside</summary>", folded._repr_html_())
    assert run._repr_html_().count("border-top") == 1  # a rule before a line of one's own, not inside its call


def test_argument_checks_are_not_shown():
    run = trace(padding_mask, torch.tensor([1, 3]), 4)
    assert operations(run) == ["as_tensor", "arange(4, device=cpu)", "[:, None]", "<", "[:, None]"]
    names = {}
    exec(compile("def check(x):\n    assert x.isfinite().all()", checks.__file__, "exec"), names)
    assert operations(trace(lambda x: names["check"](x) or x * 2, normal(2))) == ["* 2"]


def test_inside_of_multi_head_attention_forward():
    mha, x = nn.MultiheadAttention(8, 2, batch_first=True), normal(2, 3, 8, dtype=torch.float32)
    run = trace(mha, x, x, x)
    assert "multi_head_attention_forward" in [step.operation for step in run]
    inside = operations(run)
    assert inside.index("bmm") < inside.index("softmax(dim=-1)") < len(inside) - inside[::-1].index("linear")
    for ours, theirs in zip(run.output, mha(x, x, x), strict=True):
        assert torch.equal(ours, theirs)
    named = {step.operation: step for step in run}["multi_head_attention_forward"]
    assert [shape for shape, _ in named.inputs][:3] == [(3, 2, 8)] * 3


def test_a_linear_layer_is_one_operation_without_its_parameters():
    run = trace(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), torch.randn(2, 4, generator=torch.Generator()))
    assert operations(run) == ["linear", "relu"]
    assert [shape for shape, _ in run.operations[0].inputs] == [(2, 4)]


def test_the_same_call_in_a_loop_is_shown_each_time():
    names = in_a_cell("""
        def double(x):
            return x * 2

        def fn(x):
            return [double(row) for row in (x, x, x)]
        """)
    assert [step.operation for step in trace(names["fn"], normal(2, 2))] == ["double"] * 3


# ---------------------------------------------------------------------------------------------------- surprises


def both(a, b):
    return a + b


def masked(scores, mask):
    return scores.masked_fill(mask, -math.inf)


def mean_of(x):
    x.softmax(-1)
    return x.mean()


BATCH = padding_mask([1, 4, 2, 3], 4)[:, 0]  # (batch, n) where batch == n
DEAD = torch.tensor([[0.0, 1.0], [-math.inf, -math.inf]])
ONE_ROW = torch.tensor([[True, True], [False, True]])
PER_SEQUENCE = torch.eye(3).bool()[:2, None]  # (batch, 1, n) where batch == heads
SURPRISES = {
    "both sides enlarged": (
        both,
        (torch.ones(4, 1, 4), torch.ones(4, 4, 1)),
        "+",
        "both sides: (4, 1, 4) and (4, 4, 1)",
    ),
    "a column and a row": (lambda a, b: (a - b) ** 2, (torch.ones(3, 1), torch.ones(3)), "-", "became (3, 3)"),
    "a mask enlarges": (masked, (torch.ones(3, 3), torch.eye(3).bool().expand(2, 3, 3)), "masked_fill", "enlarged"),
    "(batch, n) onto heads": (masked, (torch.ones(4, 2, 4, 4), ~BATCH), "masked_fill", "became axis 2"),
    "(batch, 1, n) onto heads": (masked, (torch.ones(2, 2, 3, 3), PER_SEQUENCE), "masked_fill", "became axis 1"),
    "a float mask": (both, (torch.ones(4, 2, 4, 4), (~BATCH).float() * -1e9), "+", "if it is the batch"),
    "transpose": (lambda x: x.transpose(1, 2) + 1, (torch.ones(3, 1, 4)[..., :1],), "transpose", "changed nothing"),
    "transpose of one axis": (lambda x: x.transpose(1, -1) + 1, (torch.ones(3, 2),), "transpose", "changed nothing"),
    "view": (lambda x: x.view(2, 3) + 1, (torch.ones(2, 3),), "view", "changed nothing: the shape was (2, 3)"),
    "squeeze": (lambda x: x.squeeze(1) + 1, (torch.ones(2, 3),), "squeeze", "changed nothing"),
    "softmax of one": (lambda x: x.softmax(1), (torch.ones(3, 1, 4),), "softmax", "every weight is 1"),
    "F.softmax of one": (lambda x: F.softmax(x, dim=1), (torch.ones(3, 1),), "softmax", "every weight is 1"),
    "tokens torn": (lambda x: x.view(2, 2, 6, 4) + 1, (torch.ones(2, 6, 8),), "view", "view(2, 6, 2, 4).transpose"),
    "√d_model": (
        lambda q: q @ q.mT / math.sqrt(8),
        (torch.ones(2, 2, 6, 4),),
        "/ 2.828",
        "head_dim=4, so √4 belongs here",
    ),
    "√d_model of the query": (
        lambda q: q / math.sqrt(8),
        (torch.ones(2, 2, 6, 4),),
        "/",
        "√8, embed_dim: the product of one",
    ),
    "√d_model by product": (lambda q: q @ q.mT * 8**-0.5, (torch.ones(2, 2, 6, 4),), "*", "scales by √8"),
    "a bool mask added": (both, (torch.ones(2, 3), torch.ones(2, 3).bool()), "+", "hides nothing"),
    "softmax over heads": (lambda x: x.softmax(1), (torch.ones(2, 2, 3, 3),), "softmax", "over axis 1 of (2, 2, 3, 3)"),
    "to NumPy": (lambda x: x.numpy() * 2, (torch.ones(2),), "numpy", "leaves PyTorch"),
    "to an array": (lambda x: np.asarray(x) * 2, (torch.ones(2),), "__array__", "leaves PyTorch"),
    "to another library": (lambda x: np.from_dlpack(x) * 2, (torch.ones(2),), "__dlpack__", "leaves PyTorch"),
    "nothing masked": (masked, (torch.ones(2, 3), torch.zeros(2, 3).bool()), "masked_fill", "masked nothing"),
    "a row masked": (masked, (torch.ones(2, 2), ONE_ROW), "masked_fill", "1 of 2 rows"),
    "a row masked by where": (
        lambda x, m: torch.where(m, -1e9, x),
        (torch.ones(2, 2), ONE_ROW),
        "where",
        "1 of 2 rows",
    ),
    "thrown away": (mean_of, (torch.ones(2, 3),), "softmax", NEVER_USED),
    "nan from softmax": (
        lambda x: x.softmax(-1),
        (DEAD,),
        "softmax",
        "in 1 of 2 rows: softmax of a row that is all −inf",
    ),
    "nan from a softmax of inf": (
        lambda x: x.softmax(-1),
        (torch.tensor([[-math.inf, math.inf]]),),
        "softmax",
        "softmax of a row that is inf somewhere",
    ),
    "nan from −inf + inf": (lambda x: x - x, (torch.tensor([-math.inf, 1.0]),), "-", "in 1 of 2 numbers: inf met 0"),
    "nan from inf − inf": (lambda x: x - x, (torch.tensor([math.inf, 1.0]),), "-", "in 1 of 2 numbers: inf met 0"),
    "division by 0": (lambda x: 1 / x, (torch.zeros(2),), "1 /", "2 of 2 numbers became inf here"),
    "float16 division": (lambda x: x / 1e-4, (torch.full((2,), 100.0).half(),), "/", "float16 ends at 65504"),
    "rows masked by a number": (
        lambda x: x.masked_fill(x > 0, -1e4),
        (torch.ones(2, 2),),
        "masked_fill",
        "2 of 2 rows",
    ),
    "float16": (
        lambda x: x @ x.mT,
        (torch.full((2, 2), 300.0).half(),),
        "@",
        "4 of 4 numbers became inf; float16 ends",
    ),
    "float16 fill": (lambda x: x * -1e9, (torch.ones(2).half(),), "*", "float16 ends at 65504"),
    "exp": (lambda x: x.exp(), (torch.tensor([1.0, 1000.0]),), "exp", "1 of 2 numbers became inf; float32"),
    "in place": (lambda x: x.masked_fill_(x > 0, 0.0), (torch.ones(2, 2),), "masked_fill_", "caller's own is changed"),
    "in place, through a view": (lambda x: x.view(-1).mul_(2), (torch.ones(2, 2),), "*=", "caller's own is changed"),
}


@pytest.mark.parametrize("fn, args, name, words", SURPRISES.values(), ids=SURPRISES)
def test_a_surprise_is_named_at_its_operation(fn, args, name, words):
    run = trace(fn, *args)
    found = [step for step, said in run.surprises if words in said]
    assert len(found) == 1 and found[0].operation.startswith(name), remarks(run)
    assert words in repr(run)


def test_nan_is_named_where_it_appears_and_not_again():
    run = trace(lambda x: (x.softmax(-1) @ x.exp()) * 2, torch.full((2, 2), -math.inf))
    assert ["nan first" in words for words in remarks(run)] == [True], remarks(run)


def test_nan_written_through_a_view_is_named_there_only():
    def fn(x):
        x = x * 1
        x.view(-1)[0].fill_(math.nan)
        return x * 2

    assert ["nan first" in words for words in remarks(trace(fn, torch.zeros(2, 2)))].count(True) == 1
    with torch.inference_mode():  # where PyTorch does not count what is written
        assert ["nan first" in words for words in remarks(trace(fn, torch.zeros(2, 2)))].count(True) == 1


def test_of_two_results_only_one_of_which_has_nan_the_other_is_known_to_have_none():
    def fn(x):
        bad, fine = x.unbind(0)
        return bad, fine - fine

    run = trace(fn, torch.tensor([[math.nan, 0], [math.inf, 0]]))
    assert [step.operation for step, words in run.surprises if "nan first appears" in words] == ["-"]


def test_masked_rows_are_named_where_they_are_masked_and_not_again():
    run = trace(lambda x: x.masked_fill(x > 0, -math.inf) * 2 + 1, torch.ones(2, 2))
    assert [step.operation for step, words in run.surprises if "every key" in words] == ["masked_fill(·, -inf)"]


def test_nan_inside_a_library_call_is_shown_at_that_call():
    mha, x = nn.MultiheadAttention(8, 2, batch_first=True), normal(2, 3, 8, dtype=torch.float32)
    run = trace(lambda: mha(x, x, x, key_padding_mask=torch.ones(2, 3).bool()))
    assert [r for r in remarks(run) if "nan first appears" in r and r.startswith("softmax")], remarks(run)
    for shown in (repr(run), run._repr_html_()):
        assert re.search(r"nan first appears .*\([\d.]+: softmax", shown), "above the fold"


@pytest.mark.parametrize("library", [masked_softmax, split_heads])
def test_a_library_result_thrown_away_is_a_surprise(library):
    def fn(x):
        library(x, None if library is masked_softmax else 2)
        return x * 2

    assert [words for words in remarks(trace(fn, normal(2, 3, 4))) if NEVER_USED in words]


def test_a_library_call_of_which_something_is_kept_is_no_surprise():
    source = "def keeps(x, kept):\n    kept.append(x * 2)\n    x + 1"
    keeps = in_a_cell(source, str(Path(checks.__file__).parent / "made_up.py"))["keeps"]
    assert not remarks(trace(lambda x, kept: keeps(x, kept), torch.ones(2), []))


def test_what_is_kept_or_used_in_another_way_is_no_surprise():
    kept = []

    def fn(x):
        kept.append(x.softmax(-1))  # kept elsewhere, as modules keep self.weights
        if (x > 0).any():
            x = x + 1
        total = x.sum().item()
        out = torch.zeros_like(x)
        out[0] = x[0] * total
        out[1].fill_(2.0)  # through a view
        values, _ = x.max(-1)
        return out, {"values": values}

    assert not trace(fn, normal(3, 3)).surprises


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
    for fn in (scaled_dot_product_attention, learners["scaled_dot_product_attention"], attention):
        assert not remarks(trace(fn, x, y, y, mask))
    for fn in (ours, by_heads):
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


def test_axes_added_on_purpose_are_no_surprise():
    x = normal(3, 3)
    assert not remarks(trace(lambda: (x[:, :, None] * x[None]).sum(1) + (x[0][:, None] - x[1])))
    assert remarks(trace(lambda: x.sum(-1, keepdim=True) - x[0]))
    assert remarks(trace(lambda: x[:, :1] - x[:1]))


def test_positions_added_to_a_batch_of_the_same_size_are_no_surprise():
    assert not remarks(trace(both, normal(4, 4, 8), normal(4, 8)))


def test_what_is_odd_inside_a_library_call_is_not_the_learners():
    x = normal(1, 1, 4)  # one token and one head: the transpose exchanges two axes of size 1
    assert not remarks(trace(lambda: split_heads(x, 1)))
    assert remarks(trace(written_by_a_learner()["split_heads"], x, 1))


def test_dead_rows_are_mended_without_a_remark():
    mask = torch.tensor([[True, False], [False, False]])
    for fn in (masked_softmax, written_by_a_learner()["masked_softmax"]):
        assert not remarks(trace(fn, normal(2, 2), mask))


# ------------------------------------------------------------------------------------------------------- errors


def test_an_error_is_shown_with_the_steps_before_it_and_the_shapes_that_met():
    run = trace(lambda q, k: (q * 2) @ k, normal(3, 4), normal(3, 4))
    assert operations(run) == ["* 2", "@"] and run.output is None
    assert not run.surprises  # what was computed for a line that failed is not called unused
    assert [shape for shape, _ in run[1].inputs] == [(3, 4), (3, 4)]
    assert "mat1 and mat2 shapes cannot be multiplied" in run.error and run.error in repr(run)
    assert run.error.startswith("RuntimeError: ") and "✗ RuntimeError" in run._repr_html_()


def test_an_error_of_python_is_shown_at_its_line():
    fn = in_a_cell("""
        def fn(x):
            y = x * 2
            return y.shape[7]
        """)["fn"]
    run = trace(fn, normal(2, 2))
    assert operations(run) == ["* 2"]
    assert repr(run).endswith("line 3  return y.shape[7]\n      ✗ IndexError: tuple index out of range")
    assert ">line 3</span>" in run._repr_html_() and repr(run).startswith("fn: 1 operation, then an error\n")


def test_an_error_is_shown_at_the_innermost_line_of_ones_own_also_within_a_with():
    fn = in_a_cell("""
        def helper(x):
            with torch.no_grad():
                return x.shape[7]

        def fn(x):
            return helper(x)
        """)["fn"]
    assert "line 3  return x.shape[7]" in repr(trace(fn, normal(2, 2)))


def test_an_error_of_a_check_is_shown_at_the_learners_line():
    fn = in_a_cell("def fn(x):\n    return split(x * 2, 3)", split=split_heads)["fn"]
    text = repr(trace(fn, normal(2, 2, 4)))
    assert "embed_dim=4 is not divisible by num_heads=3" in text and "line 2  return split(x * 2, 3)" in text


def test_an_error_deep_in_pytorch_or_before_the_first_line():
    mha = nn.MultiheadAttention(8, 2, batch_first=True)
    x = normal(2, 3, 8, dtype=torch.float32)
    wrong = trace(mha, x, x, x, attn_mask=torch.ones(5, 5).bool())
    assert "[5, 5]" in wrong.error and wrong.error in repr(wrong)
    assert "missing 2 required positional arguments" in repr(trace(attention, x))


def test_an_interruption_is_not_swallowed_and_leaves_no_mode_behind():
    def fn(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trace(fn, normal(2))
    assert torch.overrides._get_current_function_mode() is None


@pytest.mark.parametrize("wrong", [torch.ones(2), None, 3])
def test_what_cannot_be_called_is_refused(wrong):
    with pytest.raises(TypeError, match="must be a function or a module"):
        trace(wrong)


# ------------------------------------------------------------------------------------------- what is no surprise


@pytest.mark.parametrize(
    "fn, shape",
    [
        (lambda x: x.view(2, 6, 2, 4).transpose(1, 2), (2, 6, 8)),  # whole tokens
        (lambda x: x.view(2, 4, 4, 2) + 1, (2, 4, 8)),  # as many heads as tokens: cannot be told apart
        (lambda x: x.view(12, 2, 4) + 1, (2, 6, 8)),
        (lambda q: q @ q.mT / 2, (2, 2, 6, 4)),  # √head_dim
        (lambda q: q @ q.mT * 0.5, (2, 2, 6, 4)),
        (lambda q: q @ q.mT / 4, (2, 4, 6, 4)),  # as many heads as features: d_k is no less likely
        (lambda x: x.masked_fill(~causal_mask(3), -math.inf), (3, 2, 3, 3)),  # as many sequences as queries
        (lambda q: q @ q.mT / math.sqrt(8), (2, 6, 8)),  # one head
        (lambda x: x * (x > 0), (3, 3)),  # weights are erased by a product with a bool mask
        (lambda x: x.softmax(-1), (3, 3)),
        (lambda x: x.softmax(-2), (2, 2, 3, 3)),  # over queries: for the reader to find
        (lambda x: x * x.sum().item(), (3, 3)),
    ],
)
def test_what_is_right_is_no_surprise(fn, shape):
    assert remarks(trace(fn, torch.ones(shape))) == []


# ---------------------------------------------------------------------- calls: what is said of them, and where


def test_a_call_of_the_library_stands_at_the_line_that_makes_it():
    layer, heads = nn.Linear(8, 8), MultiHeadAttention(8, 2)
    given = in_a_cell("def f(x):\n    return heads(layer(x), x, x)", layer=layer, heads=heads)
    run = trace(given["f"], torch.rand(1, 3, 8))
    assert operations(run)[0] == "linear" and [step.operation for step in run] == ["linear", "MultiHeadAttention"]
    assert {step.place.text for step in run} == {"return heads(layer(x), x, x)"}


def test_what_decorates_a_function_does_not_stand_around_it():
    @torch.no_grad()
    def without_gradient(x):
        return x * 2 + 1

    class Squared(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x + 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    @functools.singledispatch
    def of_any_kind(x):
        return x * 2 + 1

    run = trace(lambda x: of_any_kind(Squared.apply(without_gradient(x))), normal(3, grad=True))
    assert [step.operation for step in run] == ["without_gradient", "forward", "wrapper"]
    assert [step.own for step in run] == [True, True, False], "what the standard library calls is folded in its call"


def test_a_mode_of_another_does_not_hide_the_line():
    fn = in_a_cell(
        """
        def fn(x):
            with BaseTorchFunctionMode():
                return x * 2
        """,
        BaseTorchFunctionMode=BaseTorchFunctionMode,
    )["fn"]
    assert trace(fn, torch.ones(2))[0].place.text == "return x * 2"


def test_the_line_of_an_operation_in_a_comprehension_is_its_own():
    fn = in_a_cell("""
        def fn(x):
            return [
                x * n
                for n in (1, 2)
            ]
        """)["fn"]
    assert {step.place.text for step in trace(fn, torch.ones(2))} == {"x * n"}


def test_a_module_of_pytorch_that_is_traced_itself_is_open_down_to_other_files():
    inner = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    outer = nn.Sequential(inner, nn.Linear(4, 2))
    plain = trace(outer, torch.ones(2, 3))
    assert re.findall(r"^ *([\d.]+)  (\w+)", repr(plain), re.M) == [
        ("0", "Sequential"),
        ("0.0", "linear"),
        ("0.1", "relu"),
        ("1", "linear"),
    ]
    outer.register_forward_pre_hook(lambda module, args: (args[0] * 1,))
    assert [step.operation for step in trace(outer, torch.ones(2, 3)).operations] == ["* 1", "linear", "relu", "linear"]
    assert re.search(r"^ +1\.1  relu", repr(trace(outer, torch.ones(2, 3))), re.M), "also after what it does first"


def test_no_line_of_pytorchs_own_stands_where_one_of_its_functions_is_traced():
    for fn, args in (
        (torch.einsum, ["ij->j"]),
        (torch.Tensor.__iter__, [torch.ones(())]),
        (F.max_pool1d, [normal(1, 4), 2]),
    ):
        assert re.fullmatch(
            r"\w+: \d operations?(, then an error\n +✗ \w+: .*|\n +0  max_pool1d\(.*)", repr(trace(fn, *args))
        )


def test_an_error_in_the_library_is_shown_at_the_line_that_called_it():
    source = "def f(x):\n    y = x * 2\n    return split_heads(y, 5)"
    run = trace(in_a_cell(source, split_heads=split_heads)["f"], torch.ones(1, 2, 8))
    last = "line 3  return split_heads(y, 5)\n      ✗ ValueError: embed_dim=8 is not divisible by num_heads=5"
    assert run.as_text().endswith(last)


def test_a_call_in_which_an_operation_fails_says_so():
    layers = nn.Sequential(nn.Linear(4, 4), nn.Linear(3, 2))
    run = trace(in_a_cell("def f(x):\n    return layers(x)", layers=layers)["f"], torch.ones(2, 4))
    (call,) = run
    assert call.operation == "Sequential" and "shapes cannot be multiplied" in call.error
    assert run.as_text().splitlines()[-1].strip().startswith("✗ RuntimeError: mat1 and mat2 shapes")
    assert run.as_text().count("✗") == run.as_text(inner=True).count("✗") == 1, "it is said once"


def test_a_call_of_the_library_whose_result_is_not_taken_is_remarked_as_a_whole():
    heads = MultiHeadAttention(8, 2)
    f, x = in_a_cell("def f(x):\n    heads(x, x, x)\n    return x", heads=heads)["f"], torch.rand(1, 3, 8)
    run = trace(f, x)
    assert [step.operation for step, words in run.surprises if NEVER_USED in words] == ["MultiHeadAttention"]
    assert NEVER_USED in trace(lambda x: f(x) * 2, x)[0]._repr_html_(), "where the call is open"


def test_writing_into_a_tensor_is_a_step_and_shows_what_it_holds_then():
    def fn(x):
        y = x * 2
        y[0] = 7.0
        return y

    run = trace(fn, torch.ones(2, 3))
    assert operations(run) == ["* 2", "[0] = 7"] and "[0] = 7  (2, 3) → (2, 3)" in run.as_text()
    assert run[0].value.tolist() == [[2.0] * 3] * 2 and run[1].value.tolist() == [[7.0] * 3, [2.0] * 3]


def test_of_two_results_either_may_be_used():
    def fn(x):
        _, places = x.max(-1)
        return places + 1

    run = trace(fn, normal(2, 3))
    assert not run.surprises and "(2, 3) → (2,), (2,) int64" in repr(run)
    (call,) = trace(lambda x: (lambda y: (y * 2).max(-1))(x), normal(2, 3))
    assert call.outputs == [((2,), torch.float64), ((2,), torch.int64)] and call.value.shape == (2,)


def test_of_several_results_those_are_shown_that_go_on():
    source = """
        def places(x):
            values, places = x.sort(dim=-1)
            return places

        def largest(x):
            return torch.aminmax(places(x) * x, dim=-1).max

        def f(x):
            return largest(x) + 1
    """
    x = torch.tensor([[0.5, 3.0, 2.0]])
    run = trace(in_a_cell(source)["f"], x)
    assert [shape for shape, _ in run[0].outputs] == [(1,)] and run[0].value.tolist() == [6]
    called = run["0.0"]
    assert called.operation == "places" and called.outputs == [((1, 3), torch.int64)]
    assert called.value.tolist() == [[0, 2, 1]] == run["0.0.0"].value.tolist()
    assert "sort(dim=-1)  (1, 3) → (1, 3), (1, 3) int64" in repr(run)
    assert repr(run["0.0.0"]).endswith("result 2 of 2\n   0  2  1") and "result 2 of 2" in run["0.0.0"]._repr_html_()
    assert "result\n" in repr(run["0.1"]), "of one that is alone nothing is counted"
    (alone,) = trace(lambda x: x.sort(), x)
    assert alone.value.tolist() == [[0.5, 2, 3]] and "result\n" in repr(alone), "of those that both go on, the first"


def test_versions_of_which_only_a_second_result_differs_part_there():
    found = trace(lambda x: x.sort().indices, lambda x: x.flip(-1).sort().indices, torch.tensor([0.5, 3.0, 2.0]))
    assert "B has `flip(dim=-1)`, A has nothing like it; then both have `sort`" in found.verdict


def test_a_call_whose_results_are_dropped_comes_to_its_last_one():
    def part(x):
        return (x + 1) @ x.T

    def fn(x):
        part(x)
        return x * 2

    dropped = trace(fn, torch.ones(2, 3))[0]
    assert [shape for shape, _ in dropped.outputs] == [(2, 2)] and dropped.value.tolist() == [[6.0, 6], [6, 6]]


UNIT_MATRICES = torch.eye(2), torch.eye(2).flip(0)


def test_what_is_done_to_parameters_alone_shows_their_shapes():
    scale = nn.Parameter(torch.ones(2, 3))
    assert "* 2  (2, 3) → (2, 3)" in repr(trace(lambda: scale * 2))
    with torch.no_grad():
        unit, turned = (lambda x, unit=unit: x @ nn.Parameter(torch.zeros(2, 2)).copy_(unit) for unit in UNIT_MATRICES)
        assert trace(unit, turned, torch.rand(3, 2)).difference.first.operation == "copy_"


def test_all_that_a_call_hands_on_comes_out_of_it():
    source = """
        def part(x):
            a = x + 1
            return a, a @ a.T

        def f(x):
            a, b = part(x)
            return b @ a
    """
    part, _ = trace(in_a_cell(source)["f"], torch.ones(2, 3))
    assert [shape for shape, _ in part.outputs] == [(2, 3), (2, 2)] and part.value.shape == (2, 3)


def test_an_argument_that_is_overwritten_is_remarked_however_it_was_passed():
    def fill(scores):
        return scores.masked_fill_(scores > 2, 0.0)

    by_place, by_name = trace(fill, torch.arange(4.0)), trace(fill, scores=torch.arange(4.0))
    assert remarks(by_place) == remarks(by_name) and "overwrites a tensor that was passed in" in remarks(by_name)[0]


def test_axes_that_are_written_out_are_no_surprise():
    rows, columns = torch.rand(3, 4), torch.rand(5, 4)
    assert not remarks(trace(lambda x, y: x.unsqueeze(1) + y.unsqueeze(0), rows, columns))
    assert not remarks(trace(lambda x, y: x[:, None] + y[None], rows, columns))
    assert "broadcasting enlarged both" in remarks(trace(lambda x, y: x.view(3, 1, 4) + y, rows, columns))[0]


def test_tensors_in_a_dataclass_are_outputs_like_others():
    inputs = [normal(3, 4, seed=seed) for seed in range(4)]
    inputs[1:] = [matrix.T @ matrix for matrix in inputs[1:]]
    halved, whole = (lambda *given, scale=scale: self_attention_steps(*given, scale=scale) for scale in (0.5, 1))
    assert trace(whole, halved, *inputs).verdict.startswith("4 of 8 outputs agree, but output[4] differs in 9 numbers")


def test_a_result_that_is_returned_twice_counts_at_each_place():
    verdict = trace(lambda x: (same := x * 1, same), lambda x: (x * 3, x), normal(4)).verdict
    assert verdict.startswith("1 of 2 outputs agrees") and "`* 3` in B gives 3 times what `* 1` gives in A" in verdict


def test_up_to_its_limit_every_number_is_compared():
    def verdict(n):
        ones = torch.ones(n)
        ones[[0, 77]] = 1.5
        return trace(lambda x: (x + 1) * 2, lambda x: (x + ones) * 2, torch.zeros(n)).verdict

    assert verdict(512 * 512).endswith("the largest difference is 0.5, in 2 of 262144 numbers.")
    assert verdict(512 * 512 + 1).endswith("the largest difference is 0.5, in 1 of 1024 numbers that were sampled.")


# ------------------------------------------------------------------------- loops, recursion, what cannot be looked into


def by_tokens(q, k, v):
    out = []
    for i in range(len(q)):
        weights = (q[i] @ k.mT / 2).softmax(-1)
        out.append(weights @ v)
    return torch.stack(out)


def test_a_loop_is_folded_to_its_first_and_last_turn():
    run = trace(by_tokens, *(normal(20, 4, seed=i) for i in range(3)))
    text, page = repr(run), run._repr_html_()
    assert len(run) == 121 and len(text.splitlines()) < 25  # 121 rows and their lines unfolded
    for shown in (text, page):
        assert "… the same 18 times more: 108 operations, steps 6 to 113" in shown
    assert re.findall(r"^ *(\d+)  ", text, re.M) == [*map(str, range(6)), *map(str, range(114, 121))]
    assert "20 × (4,) → (20, 4)" in text
    assert run[77].operation == "@" and run[76].operation == "softmax(dim=-1)"  # every step can be had


def test_a_short_loop_and_a_turn_with_a_surprise_are_shown_whole():
    assert "the same" not in repr(trace(by_tokens, *(normal(3, 4, seed=i) for i in range(3))))
    assert "the same 2 times more" in repr(trace(by_tokens, *(normal(4, 4, seed=i) for i in range(3))))
    q = normal(9, 4)
    q[4, 0] = math.nan
    run = trace(by_tokens, q, *(normal(9, 4, seed=i) for i in range(2)))
    assert "nan" not in repr(run)  # it was there before
    q[4, 0] = math.inf
    assert "nan first appears here" in repr(trace(by_tokens, q, *(normal(9, 4, seed=i) for i in range(2))))


def test_of_calls_within_calls_the_outermost_are_shown_and_the_line_that_computes():
    fn = in_a_cell("""
        def deep(x, n):
            if n:
                return deep(x, n - 1)
            return x * 2
        """)["deep"]
    (outermost,) = run = trace(fn, torch.ones(2), 60)
    (step,) = run.operations
    assert (step.place.text, step.number.count(".")) == ("return x * 2", 39)
    assert (outermost.operation, outermost.place.text) == ("deep", "return deep(x, n - 1)")


def test_endless_recursion_is_an_error_like_another():
    def forever(x):
        return forever(x + 1)

    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(300)
        run = trace(forever, torch.zeros(1))
    finally:
        sys.setrecursionlimit(before)
    assert run.error.startswith("RecursionError") and len(run.operations) > 20
    assert "RecursionError" in repr(run) and "RecursionError" in run._repr_html_()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripted_code_gets_a_word():
    scripted = torch.jit.script(in_a_script)
    run = trace(scripted, normal(2))
    assert len(run) == 0 and "it is scripted" in repr(run) and "it is scripted" in run._repr_html_()
    assert "it is scripted" in trace(torch.jit.script(nn.ReLU()), normal(2)).note
    compared = trace(scripted, lambda x: x * 2 + 1, normal(2))
    assert "A: it is scripted" in repr(compared) and "A: it is scripted" in compared._repr_html_()
    assert not trace(lambda: 3).note and not trace(lambda x: x * 2, normal(2)).note
    assert "no operation of PyTorch" in trace(lambda x: x, normal(2)).note


def in_a_script(x):
    return x * 2


def test_compiled_code_is_traced_as_it_is_written():
    compiled = torch.compile(attention, backend=lambda graph, inputs: graph)
    q, k, v = (normal(2, 3, 4, seed=i) for i in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run, inside = trace(compiled, q, k, v), trace(lambda *qkv: compiled(*qkv) * 2, q, k, v)
    assert operations(run) == operations(trace(attention, q, k, v)) and run.name == "attention"
    assert operations(inside) == [*operations(run), "* 2"]
    assert len(run) == 5 and [step.operation for step in inside] == ["attention", "* 2"]
    layer, x = nn.Linear(3, 3), normal(2, 3, dtype=torch.float32)
    compiled = torch.compile(layer, backend=lambda graph, inputs: graph)
    assert trace(compiled, x).name == trace(layer, x).name == "Linear"
    assert [step.operation for step in trace(lambda x: compiled(x) * 2, x)] == ["linear", "* 2"]


def test_a_callable_argument_is_an_argument_where_the_call_fits_only_so():
    def multi_head(core, x):
        return core(x, x, x)

    run = trace(multi_head, attention, normal(2, 3, 4))
    assert "softmax(dim=-1)" in operations(run)
    assert trace(attention, attention, *[normal(2, 3, 4)] * 3).verdict == "The outputs agree on these arguments."
    assert "missing" in trace(attention, attention, normal(2, 3, 4)).verdict  # neither fits: two versions
    assert trace(torch.relu, F.relu, normal(2)).difference is None  # without a signature too


# ---------------------------------------------------------------------------------------------- where two versions part


class Result(dict):
    pass


def one_changed(x, place):
    x = x * 2
    y = x.clone()
    y.view(-1)[place] += 1
    return y


@pytest.mark.parametrize("shape", [(64, 64), (2, 8, 16, 64), (600, 600)])
@pytest.mark.parametrize("share", [0.0, 0.123, 0.5, 0.77, 1.0])
def test_one_number_that_differs_is_a_difference(shape, share):
    x = normal(*shape)
    found = trace(lambda x: x * 2, lambda x: one_changed(x, round(share * (x.numel() - 1))), x)
    assert found.difference is not None and "agree" not in found.verdict


def test_one_number_of_many_is_enough_to_find_the_operation():
    found = trace(lambda x: (x * 2).tanh(), lambda x: one_changed(x, 503).tanh(), normal(64, 64))
    assert found.difference.second.operation == "tanh" and "in 1 of 4096 numbers" in found.verdict


DIFFER = {
    "a second output": (lambda x: (x, x), lambda x: (x, x + 1), "1 of 2 outputs agrees, but output[1] differs in 4"),
    "a tuple and its first": (lambda x: x, lambda x: (x, x), "one tensor of shape (4,) in A and a tuple of 2 in B"),
    "more parts": (lambda x: (x, x), lambda x: (x, x, x), "2 parts in A and 3 parts in B"),
    "in a dict": (lambda x: {"a": x, "b": x}, lambda x: {"a": x, "b": -x}, "output['b'] differs"),
    "the last": (lambda x: (x, x, x), lambda x: (x, x, x + 1), "2 of 3 outputs agree, but output[2] differs in 4"),
    "one number": (lambda x: (x, x), lambda x: (x, x.clamp(max=3)), "but output[1] differs in 1 number of 4"),
    "other names": (lambda x: {"a": x, "b": 1}, lambda x: {"b": x}, "output holds a, b in A and b in B"),
    "a list": (lambda x: [x], lambda x: (x,), "a list of 1 in A and a tuple of 1 in B"),
    "nothing": (lambda x: x, lambda x: None, "one tensor of shape (4,) in A and nothing in B"),
    "a dtype": (lambda x: x, lambda x: x.float(), "output is float64 in A and float32 in B"),
    "a shape": (lambda x: x, lambda x: x[None], "has shape (4,) in A and (1, 4) in B"),
    "a length": (lambda x: x, lambda x: x[:1], "has shape (4,) in A and (1,) in B"),
    "no parts": (lambda x: (), lambda x: (x,), "output holds 0 parts in A and 1 part in B"),
    "a dict": (lambda x: {"a": x}, lambda x: [x], "a dict of 1 in A and a list of 1 in B"),
    "an array": (
        lambda x: (x, np.ones(2)),
        lambda x: (x, np.array([1, 2])),
        "output[1] is [1. 1.] in A and [1 2] in B",
    ),
    "a scale": (
        lambda x: x * 2,
        lambda x: x * 3,
        "`* 3` in B gives 1.5 times what `* 2` gives in A: the scale differs, by up to 4.",
    ),
    "another operation": (lambda x: x.exp(), lambda x: x.log(), "A has `exp`, B has `log`: the largest difference is"),
    "another shape": (lambda x: x.sum(), lambda x: x.exp(), "A goes on with `sum`, B with `exp`"),
    "one more": (lambda x: x * 2, lambda x: x.exp() * 2, "B has `exp`, A has nothing like it; then both have `* 2`"),
    "one more, and then a shape": (
        lambda x: ((x.view(2, 2) + 3) * 2).flatten().sqrt(),
        lambda x: (x * 2).sqrt(),
        "A has `view(2, 2)`, B has nothing like it; then both have `sqrt`",
    ),
    "one more, and to the end a shape": (
        lambda x: (x.view(2, 2) + 3) * 2,
        lambda x: x * 2,
        "A has `view(2, 2)`, B has nothing like it; then A makes (2, 2) with `* 2`, B makes (4,) with `* 2`",
    ),
    "behind one that agrees": (lambda x: (x * 1, x + 1), lambda x: (x, x + x), "A has `+ 1`, B has `+`"),
    "beside one that is not used": (lambda x: (x + 5, x * x)[1:], lambda x: (x / x, x), "A has `*`, B has `/`"),
    "a number": (lambda x: (x, 1), lambda x: (x, 2), "output[1] is 1 in A and 2 in B"),
    "a fraction": (lambda x: (x, 0.5), lambda x: (x, 0.6), "output[1] is 0.5 in A and 0.6 in B"),
    "a sign, which is no scale": (lambda x: x * 2, lambda x: x * -2, "A has `* 2`, B has `* -2`"),
    "complex": (lambda x: x * 1j, lambda x: x * 2j, "gives 2 times"),
    "nan": (lambda x: x * math.nan, lambda x: x, "First difference"),
    "integers": (lambda x: x.long(), lambda x: x.long() + 1, "`+ 1`"),
}


@pytest.mark.parametrize("ours, theirs, words", DIFFER.values(), ids=DIFFER)
def test_agreement_means_every_number_part_and_dtype(ours, theirs, words):
    found = trace(ours, theirs, torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64))
    assert found.difference is not None and words in found.verdict and words in repr(found), found.verdict
    assert "outputs agree on" not in found.verdict


OUTPUTS = [
    lambda x: (x, {"a": [x]}),
    lambda x: x * math.nan,
    lambda x: x * 1j,
    lambda x: (x, 0.5),
    lambda x: (x, None),
    lambda x: x.long(),
    lambda x: x.half(),
    lambda x: (x, x.sum().item(), math.nan),
    lambda x: (x, "word", Call),
    lambda x: (x, np.ones(2)),
    lambda x: Result(a=x),
]


@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_of_every_kind_agree_with_themselves(output):
    found = trace(output, lambda x: output(x * (1 + 1e-9)), normal(4))
    assert found.difference is None and found.verdict == "The outputs agree on these arguments.", found.verdict


def test_two_that_return_nothing_do_not_agree_on_anything():
    assert trace(lambda x: None, lambda x: None, normal(2)).verdict == "Neither returns anything."


def test_rounding_of_float32_is_no_difference_and_more_is():
    x = normal(100, dtype=torch.float32)
    assert trace(lambda x: x, lambda x: x * (1 + 5e-5), x).difference is None
    assert trace(lambda x: x, lambda x: x * (1 + 5e-4), x).difference is not None
    for half in (x.half(), x.bfloat16()):
        assert trace(lambda x: x + 0, lambda x: x * (1 + 5e-3), half).difference is None
        assert trace(lambda x: x + 0, lambda x: x * 1.1, half).difference is not None


def test_pytorchs_module_returns_the_mean_of_our_weights():
    theirs, x = nn.MultiheadAttention(8, 2, batch_first=True), normal(2, 3, 8, dtype=torch.float32)
    found = trace(MultiHeadAttention.from_torch(theirs), theirs, x, x, x)
    assert found.verdict == (
        "1 of 2 outputs agrees, but output[1] has shape (2, 2, 3, 3) in A and (2, 3, 3) in B. "
        "First difference: B has `mean(dim=1)`, A has nothing like it."
    )


def test_comparing_takes_time_that_grows_with_the_operations(monkeypatch):
    looked = []
    monkeypatch.setattr(compare, "equal", lambda a, b: looked.append(1) or torch.allclose(a.sample, b.sample))
    for n in (20, 80):
        q, k, v = (normal(n, 4, seed=i) for i in range(3))
        trace(by_tokens, lambda q, k, v: by_tokens(q, k, v * 1.5), q, k, v)
        looked.append(0)
    first = looked.index(0)
    assert 0 < len(looked) - first < 8 * first  # four times as many operations


def multi_head(x, scale=None, axis=-1, split=split_heads, polarity=True, use=True, heads=2):
    q, k, v = split(x, heads), split(x * 0.5, heads), split(x + 1, heads)
    mask = causal_mask(x.size(1))
    scores = q @ k.mT / math.sqrt(scale or q.size(-1))
    scores = scores.masked_fill(~mask if polarity else mask, -1e4)
    weights = torch.softmax(scores, dim=axis)
    out = (weights if use else scores) @ v
    return out.transpose(1, 2).flatten(2)


def wrong_split(x, heads):
    batch, n, d_model = x.shape
    return x.view(batch, heads, n, d_model // heads)


PAIRS = {
    "√d_model for √head_dim": ({"scale": 8}, "/ 2", "/ 2.828"),
    "view without transpose": ({"split": wrong_split}, "view(2, 4, 2, 4)", "view(2, 2, 4, 4)"),
    "softmax over the queries": ({"axis": -2}, "softmax(dim=-1)", "softmax(dim=-2)"),
    "softmax thrown away": ({"use": False}, "@", "@"),
    "mask polarity": ({"polarity": False}, "~", None),
}


@pytest.mark.parametrize("bug, right, wrong", PAIRS.values(), ids=PAIRS)
def test_the_first_difference_is_the_bug(bug, right, wrong):
    x = normal(2, 4, 8)
    found = trace(multi_head, lambda x: multi_head(x, **bug), x)
    first, second = found.difference.first, found.difference.second
    assert (first and first.operation, second and second.operation) == (right, wrong), repr(found)
    assert repr(found).count("← here they part") == 1
    assert found.verdict in repr(found)


def test_the_largest_difference_is_right():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.5])
    found = trace(lambda x: x + a, lambda x: x + b, torch.zeros(2))
    assert found.difference.largest == 1.5
    assert found.verdict == (
        "First difference: both have `+`, of other numbers: the largest difference is 1.5, in 2 of 2 numbers."
    )
    twice = trace(lambda x: (x + a, x + a), lambda x: (x + b, x + b), torch.zeros(2))
    assert twice.verdict.startswith("The outputs differ: output[0] differs in 2 numbers of 2. First difference: both ")
    exchanged = trace(lambda x: (x + a, x + b), lambda x: (x + b, x + a), torch.zeros(2))
    assert exchanged.verdict == (
        "The outputs differ: output[0] differs in 2 numbers of 2. Every operation has a counterpart with its numbers."
    )


def test_a_difference_holds_the_steps_of_both_and_how_large_it_is():
    apart = trace(lambda x: x.sum(), lambda x: x.exp(), torch.ones(2)).difference
    assert (apart.first.operation, apart.second.operation) == ("sum", "exp")
    assert trace(lambda x: x.exp(), lambda x: x.log(), torch.ones(2)).difference.largest == pytest.approx(math.e)


def test_numbers_that_leave_as_numbers_part_where_they_were_computed():
    for first in ((), (torch.ones(2),)):
        doubled, tripled = (lambda x, *first, by=by: (*first, (x * by).sum().item()) for by in (2, 3))
        found = trace(doubled, tripled, normal(4), *first)
        assert "gives 1.5 times what `* 2` gives in A" in found.verdict, found.verdict


def test_what_stands_side_by_side():
    def pairs(ours, theirs):
        found = trace(ours, theirs, torch.arange(1.0, 5)).pairs
        return [(a and a.operation, b and b.operation, same) for a, b, same in found]

    assert pairs(lambda x: (x + 1) * 2, lambda x: (x.exp().log() + 1) * 2) == [
        (None, "exp", False), (None, "log", False), ("+ 1", "+ 1", True), ("* 2", "* 2", True)
    ]  # fmt: skip
    assert pairs(lambda x: (x + 1) * 2, lambda x: [x + 5, (x + 1) * 2]) == [  # the same numbers, not the same sign
        (None, "+ 5", False), ("+ 1", "+ 1", True), ("* 2", "* 2", True)
    ]  # fmt: skip
    assert pairs(lambda x: [x + x, x * 3, x * 5], lambda x: [x * 7, x * 11, x * 2]) == [  # once, however many signs
        (None, "* 7", False), (None, "* 11", False), ("+", "* 2", True), ("* 3", None, False), ("* 5", None, False)
    ]  # fmt: skip
    long = pairs(lambda x: x * 2, lambda x: [x + n for n in range(1, 403)])
    assert [theirs for _, theirs, _ in long if theirs] == [f"+ {n}" for n in range(1, 403)]
    block = [(f"+ {n}", f"+ {n}", True) for n in range(1, 7)]  # behind more than a few that only one of them has
    assert pairs(lambda x: [x + n for n in range(1, 7)], lambda x: [x + n for n in range(-8, 7)])[8:] == [
        (None, "+ 0", False), *block
    ]  # fmt: skip


def test_a_softmax_thrown_away_is_told_by_what_the_product_takes():
    found = trace(multi_head, lambda x: multi_head(x, use=False), normal(2, 4, 8))
    assert "A takes the result of `softmax(dim=-1)` and B that of `masked_fill(·, -1e+04)`" in found.verdict
    assert NEVER_USED in repr(found)


def test_what_a_product_takes_is_told_from_where_it_was_made_and_not_from_where_it_was_rounded():
    def fn(x, use=True):
        scores = x * 2
        both = scores.softmax(-1).half(), scores.half()
        return both[0 if use else 1] @ x.half()

    verdict = trace(fn, lambda x: fn(x, False), normal(4, 4, dtype=torch.float32)).verdict
    assert "A takes the result of `softmax(dim=-1)` and B that of `* 2`" in verdict
    ours, theirs = (lambda x, last=last: [x + torch.ones(2), x + torch.eye(2)][last].exp() for last in (0, 1))
    assert "both have `exp`, of other numbers: " in trace(ours, theirs, torch.ones(2, 2)).verdict
    ours, theirs = (lambda seed=seed: torch.rand(3, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    assert "both have `rand(3, generator=Generator)`: " in trace(ours, theirs).verdict


def test_another_way_to_the_same_numbers_is_no_difference():
    def scaled_query(q, k, v):
        return ((q / math.sqrt(q.size(-1))) @ k.mT).softmax(-1) @ v

    def looped(q, k, v):
        return torch.stack([attention(*one) for one in zip(q, k, v, strict=True)])

    q, k, v = (normal(2, 3, 4, seed=i) for i in range(3))
    for other in (scaled_query, looped, lambda q, k, v: scaled_dot_product_attention(q, k, v)[0]):
        found = trace(attention, other, q, k, v)
        assert found.difference is None and "agree" in repr(found)
        assert torch.allclose(*found.output)


def test_the_bug_is_found_behind_another_way_to_the_same_numbers():
    def wrong(q, k, v):
        return ((q / math.sqrt(q.size(-1))) @ k.mT).softmax(-2) @ v

    found = trace(attention, wrong, *(normal(2, 3, 4, seed=i) for i in range(3)))
    assert found.difference.second.operation == "softmax(dim=-2)"
    assert found.difference.first.operation == "softmax(dim=-1)"
    names = "A is attention, B is wrong"
    assert repr(found).startswith(f"{names}\n") and f">{names}<" in found._repr_html_()


@pytest.mark.parametrize(
    "other, times",
    [
        (lambda q, k, v: ((q / 4) @ k.mT).softmax(-1) @ v, 0.5),
        (lambda q, k, v: (q @ (k.mT * 4)).softmax(-1) @ v, 8),
    ],
)
def test_a_wrong_scale_is_named_wherever_it_is_applied(other, times):
    found = trace(attention, other, *(normal(2, 3, 4, seed=i) for i in range(3)))
    assert found.difference.first.operation == "/ 2" and found.difference.second.operation == "@"
    assert f"gives {times} times what `/ 2` gives in A" in found.verdict
    assert repr(found).count("← here they part") == 1


def test_an_operation_that_one_side_has_not():
    q, k, v = (normal(2, 3, 4, seed=i) for i in range(3))
    found = trace(attention, lambda q, k, v: (q @ k.mT / 2) @ v, q, k, v)
    assert found.difference.first.operation == "softmax(dim=-1)" and found.difference.second is None
    assert "on one side only" in found._repr_html_() and repr(found).count("here they part") == 1
    assert "A has `softmax(dim=-1)`, B has nothing like it; then both have `@`" in found.verdict
    assert found.difference.largest == pytest.approx((found.output[0] - found.output[1]).abs().max())
    unscaled = trace(attention, lambda q, k, v: (q @ k.mT).softmax(-1) @ v, q, k, v)
    assert unscaled.difference.first.operation == "/ 2" and unscaled.difference.second is None
    assert "A has `/ 2`, B has nothing like it; then both have `softmax(dim=-1)`" in unscaled.verdict
    more = trace(lambda x: x * 2, lambda x: x * 2 + 1, normal(3))
    assert more.difference.first is None and more.difference.second.operation == "+ 1"


def test_one_version_raises():
    found = trace(lambda x: x @ x.mT, lambda x: x @ x, normal(2, 3))
    assert "B raises RuntimeError" in found.verdict and "A does not" in found.verdict
    assert found.difference.second.operation == "@"
    assert "  @  ✗" in repr(found) and "@</code> &nbsp; ✗</td>" in found._repr_html_()
    python = trace(lambda x: x * 2, lambda x: [][0], normal(2, 3))
    assert "B ✗ IndexError" in repr(python) and "B ✗ IndexError" in python._repr_html_()


def test_both_versions_get_the_same_arguments_and_random_numbers():
    x = normal(4, 4)
    before = x.clone()
    assert trace(lambda x: F.dropout(x.mul_(2)), lambda x: F.dropout(x.mul_(2)), x).difference is None
    assert torch.equal(x, before)
    same = trace(lambda a, b: torch.tensor(a is b), lambda a, b: torch.tensor(a is b), x, x)
    assert all(same.output)


# --------------------------------------------------------------------------------------- leaves everything as it was


@given(seeds, st.booleans())
def test_the_run_is_the_run_of_the_function_itself(seed, grad):
    module = MultiHeadAttention(8, 2, dropout=0.5)
    x = normal(2, 3, 8, seed=seed, dtype=torch.float32, grad=grad)
    before = x.detach().clone()
    with torch.set_grad_enabled(grad):
        torch.manual_seed(seed)
        expected, after = module(x, x, x), torch.get_rng_state()
        torch.manual_seed(seed)
        run = trace(module, x, x, x)
        assert torch.equal(torch.get_rng_state(), after)
        assert torch.is_grad_enabled() == grad
    assert torch.equal(x, before) and x._version == 0
    for ours, theirs in zip(run.output, expected, strict=True):
        assert torch.equal(ours, theirs) and ours.requires_grad == theirs.requires_grad == grad
    if grad:
        gradient, wanted = (torch.autograd.grad(out[0].sum(), x)[0] for out in (run.output, expected))
        assert torch.equal(gradient, wanted)


def test_under_inference_mode_and_with_other_tensors():
    with torch.inference_mode():
        assert operations(trace(lambda x: x * 2, normal(2))) == ["* 2"]
    assert operations(trace(lambda x: x @ x.mT, torch.ones(2, 3, device="meta"))) == [".mT", "@"]
    assert operations(trace(lambda x: x + 1, torch.empty(0, 3))) == ["+ 1"]
    assert operations(trace(lambda x: x * 2, torch.ones(2, dtype=torch.complex64))) == ["* 2"]
    assert operations(trace(lambda x: x * 2, torch.eye(2).to_sparse())) == ["* 2"]
    assert trace(lambda x: torch.empty_like(x), torch.ones(2))[0].value is None
    unfilled = trace(lambda: torch.empty(3).fill_(1))
    assert operations(unfilled) == ["empty(3)", "fill_(1)"]
    assert unfilled[0].value is None and torch.equal(unfilled[1].value, torch.ones(3))  # no memory of others is shown


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_nested_tensors_are_shown_with_a_star_where_their_parts_differ(layout):
    def fn(x):
        return [part * 2 for part in (x.view(2, -1, 2, 4).transpose(1, 2) + 1).unbind()]

    nested = torch.nested.nested_tensor([torch.ones(2, 8), torch.ones(3, 8)], layout=layout)
    run = trace(in_a_cell("def double(x):\n    return x * 2\n\ndef fn(x):\n    return double(x)")["fn"], nested)
    assert not run.error and run[0].inputs == run[0].outputs == [((2, "*", 8), torch.float32)] and run[0].value is None
    run = trace(fn, nested)
    assert not run.error and not run.surprises and len(run.output) == 2
    assert [line.split("  ")[-1].strip() for line in repr(run).splitlines() if "→" in line] == [
        "(2, *, 8) → (2, *, 2, 4)",
        "(2, *, 2, 4) → (2, 2, *, 4)",
        "(2, 2, *, 4) → (2, 2, *, 4)",
        "(2, 2, *, 4) → (2, 2, 4), (2, 3, 4)",
        "(2, 2, 4) → (2, 2, 4)",
        "(2, 3, 4) → (2, 3, 4)",
    ]
    assert not trace(lambda x: x.transpose(1, 2) @ x if layout == torch.strided else x, nested).error
    padded = trace(lambda x: x.to_padded_tensor(0), lambda x: x.to_padded_tensor(1), nested)
    assert "the largest difference is 1, in 8 of 48 numbers" in padded.verdict
    assert (
        "has shape (2, *, 8) in A and (2, 3, 8) in B"
        in trace(lambda x: x, lambda x: x.to_padded_tensor(0), nested).verdict
    )
    assert "one tensor of shape (2, *, 8) in A and nothing in B" in trace(lambda x: x, lambda x: None, nested).verdict


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_compared_part_by_part():
    def weights(x):
        return torch.softmax(x @ x.transpose(1, 2), dim=-1)

    def halved(x):
        return torch.softmax(x @ x.transpose(1, 2) / 2, dim=-1)

    nested = torch.nested.nested_tensor([normal(2, 4, seed=1), normal(3, 4, seed=2)])
    assert trace(weights, weights, nested).verdict == "The outputs agree on these arguments."
    assert "First difference: B has `/ 2`, A has nothing like it" in trace(weights, halved, nested).verdict
    assert trace(weights, nested)[0].value is None, "there is no one matrix to show"
    longer = torch.nested.nested_tensor([normal(2, 4, seed=1), normal(5, 4, seed=2)])
    said = trace(lambda x: x + 0, lambda x: longer + 0, nested).verdict
    assert "output has 20 numbers in A and 28 in B" in said and "both have `+ 0`" in said


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_what_pytorch_only_does_while_nobody_looks_on_is_not_said_to_be_the_learners_error():
    mha = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    nested = torch.nested.nested_tensor([torch.ones(2, 8), torch.ones(3, 8)])
    with torch.no_grad():
        assert mha(nested, nested, nested, need_weights=False)[0].is_nested
        assert "without trace this may run" in trace(mha, nested, nested, nested, need_weights=False).error


def test_large_results_are_kept_as_a_summary_only():
    run = trace(lambda x: (x * 2).softmax(-1), normal(400, 400))
    assert all(step.value is None and step.kept.sample.numel() <= 1024 for step in run.operations)
    with pytest.raises(ValueError, match="too many numbers to keep"):
        run.show(0)
    assert "too large to keep: from" in repr(run[0]) and "too large to keep: from" in run[0]._repr_html_()
    long = trace(lambda x: [x := x + 1 for _ in range(2500)][-1], torch.zeros(10_000))
    assert sum(step.value.numel() for step in long.operations if step.value is not None) <= 2**22
    assert re.search(r"from −[\d.]+ to \d", repr(run[0]))
    assert "2000 operations, 500 more not shown" in repr(long)
    assert len(long.operations) == 2000 and long.left_out == 500 and len(repr(long).splitlines()) < 200
    assert torch.equal(long.output, torch.full((10_000,), 2500.0))


def test_no_result_is_held():
    refs = []

    def fn(x):
        y = x * 2
        refs.append(weakref.ref(y))
        return y.sum()

    run = trace(fn, normal(3, 3))
    assert refs[0]() is None and run.output.ndim == 0


def test_a_tensor_that_lies_where_a_lost_one_lay_is_not_taken_for_it():
    def fn(x, returned):
        for _ in range(100):
            lost = x * 2
            place = id(lost)
            del lost
            new = torch.from_numpy(np.ones(2))  # which trace does not see
            if id(new) == place:
                return new if returned else new + 1

    for returned in (True, False):
        run = trace(fn, torch.ones(2), returned)
        assert [words for step, words in run.surprises if step.operation == "* 2" and NEVER_USED in words], run
        assert returned or run[-1].sources == [None]


# ---------------------------------------------------------------------------------------------------- how it looks


NOISE = f"{object()} in /home/someone/course/file.py and C:\\Users\\me\\file.py"


def noisy(x):
    y = x @ x.mT
    raise ValueError(NOISE + str(y.shape))


def test_text_and_html_are_the_same_in_every_run():
    shown = []
    for _ in range(2):
        runs = trace(noisy, normal(3, 3)), trace(multi_head, noisy, normal(2, 4, 8)), trace(multi_head, normal(2, 4, 8))
        shown.append([text for run in runs for text in (repr(run), run._repr_html_())])
        shown[-1] += [text for step in runs[-1].operations for text in (repr(step), step._repr_html_())]
    assert shown[0] == shown[1]
    assert "<object object at 0x…> in file.py and file.py" in shown[0][0]
    assert not re.search(r"0x[0-9a-f]|/home|Users|site-packages|/work|/tmp", "".join(shown[0]))


def test_html_says_what_the_text_says_and_escapes_it():
    run = trace(lambda x: (x < 1).any() & (x > 0).any(), normal(2, 2))
    html = run._repr_html_()
    assert html.count("<th scope='col'") == 3 and "<caption" in html and "&lt;" in html and "<style" not in html
    assert "&lt; 1</code>" in html and "< 1</code>" not in html and "http" not in html and "<script" not in html
    for step in run:
        assert f">{step.number}</th>" in html


def test_what_is_wrong_is_framed_so_and_counted():
    fine, odd = trace(attention, *[normal(2, 3)] * 3), trace(lambda x: x.softmax(0), normal(1, 3))
    apart, broken = trace(lambda x: x + 0, lambda x: x + 1, normal(2)), trace(lambda x: x @ x, normal(2, 3))
    looks = (fine, False), (odd, True), (fine[0], False), (odd[0], True), (apart, True), (broken, True)
    for shown, wrong in (*looks, (broken[0], True)):
        assert (FRAMES["wrong"] in shown._repr_html_().split(">")[0]) == wrong
    assert repr(odd).splitlines()[0] == "lambda: 1 operation, 1 surprise" and "⚠" in odd[0]._repr_html_()
    assert "aria-label='differs'>≠" in apart._repr_html_() or "on one side only" in apart._repr_html_()
    assert apart._repr_html_().count("border-top: 2px") == 4
    assert repr(apart).count("← here they part") == apart._repr_html_().count("<b>← here they part</b>") == 1
    assert "title='apart, broken = trace(lambda x: x + 0, lambda x: x + 1" in apart._repr_html_()
    assert "aria-label='same'>=" in trace(attention, attention, *[normal(2, 3)] * 3)._repr_html_()


def test_long_lines_are_cut_and_dtypes_that_matter_are_shown():
    long = " + ".join(["x"] * 60)
    run = trace(in_a_cell(f"def fn(x):\n    return ({long}) > 0")["fn"], normal(3))
    assert "…" in repr(run).splitlines()[1] and len(repr(run).splitlines()[1]) < 100
    assert repr(run).splitlines()[1].removeprefix("line 2  ") in run._repr_html_()
    assert "(3,) → (3,) bool" in repr(run)


def test_a_turn_that_does_something_else_inside_its_call_is_shown():
    def part(x, other):
        return x.exp() if other else x * 2

    def fn(x):
        for i in range(9):
            x = part(x, i == 4)
        return x

    rows = repr(trace(fn, torch.zeros(2))).splitlines()
    assert [row.split()[0] for row in rows if row.endswith("part:")] == ["0", "3", "4", "5", "8"]
    assert sum("4.0  exp" in row for row in rows) == 1 and sum("the same 2 times more" in row for row in rows) == 2


def test_shapes_are_those_that_go_in_and_come_out_and_the_same_ones_are_counted():
    run = trace(lambda x: torch.stack([x] * 4) * torch.stack([x] * 3).sum() + torch.arange(2), torch.ones(2))
    for words in ("4 × (2,) → (4, 2)", " (2,), (2,), (2,) → (3, 2)", "(3, 2) → number"):
        assert words in repr(run)
    assert "  arange(2)  → (2,) int64" in repr(run[4])


def test_rows_that_are_not_shown_are_counted():
    run = trace(in_a_cell("def fn(x):\n" + "    x = x + 1\n" * 100 + "    return x")["fn"], normal(2))
    shown, page = [line for line in repr(run).splitlines() if not line.startswith("…")], run._repr_html_()
    assert len(shown) == 151 and repr(run).endswith("… and 50 more rows")  # 100 lines and 100 operations
    assert page.count("<tr>") == 1 + 150 + 1 and "… and 50 more rows</td>" in page
    run = trace(in_a_cell("def fn(x):\n" + "    x = x + 1\n" * 75 + "    return x")["fn"], normal(2))
    assert "more rows" not in repr(run) + run._repr_html_()


def test_a_value_stays_as_it_was_at_its_step():
    def fn(x):
        y = x * 2
        y.add_(1)
        return y

    run = trace(fn, torch.ones(2))
    assert run[0].value.tolist() == [2, 2] and run[1].value.tolist() == [3, 3]


def test_a_call_says_its_name_and_every_tensor_that_it_was_given():
    names = in_a_cell("""
        def helper(a, scale, *more, last, **others):
            return (a + more[0] + last) * others["two"] * scale

        def forward(x):
            return x * 2 + 1

        def fn(x, scale):
            return (lambda y: y * 2 + 1)(forward(helper(x, scale, x, last=x[0], two=x[0, 0])))
        """)
    run = trace(names["fn"], normal(2, 3), nn.Parameter(torch.ones(3)))
    called = {step.operation: step for step in run if step.inner}
    assert list(called) == ["helper", "forward", "lambda"]
    assert [shape for shape, _ in called["helper"].inputs] == [(2, 3), (3,), (2, 3), ()], "but not parameters"
    layers = trace(lambda x: nn.Sequential(nn.GRU(3, 3))(x), torch.ones(2, 3))
    assert [step.operation for step in layers] == ["GRU", "Sequential"], "a layer by its name when it is made too"
    assert [step.name for step in layers[1].inner][1:3] == ["zeros", "gru"]
    x = normal(2, 3, 8, dtype=torch.float32)
    assert [step.operation for step in trace(MultiHeadAttentionByHeads(8, 2), x, x, x)][:2] == ["AttentionHead"] * 2


def test_numbers_between_0_and_1_are_weights_only_if_their_rows_add_up_to_1():
    from workbench.display.plots import Figure

    assert not isinstance(trace(lambda x: x * 0.5, torch.ones(2, 3)).show(0), Figure)
    assert isinstance(trace(lambda x: x * 0.5, torch.ones(2, 2)).show(0), Figure)
    assert isinstance(trace(lambda x: x * 0.5, torch.tensor([[1.0, 1], [0, 0]])).show(0), Figure)  # and a dead row
    assert not isinstance(trace(lambda x: x * 1, torch.eye(2, dtype=torch.long)).show(0), Figure)


def test_steps_by_number():
    run = trace(attention, *(normal(2, 3, 4, seed=i) for i in range(3)))
    assert len(run) == 5 and run[3] is run["3"] and run[-1] is run[4] and [s.number for s in run] == list("01234")
    for missing in (5, -6, "9.9"):
        with pytest.raises(IndexError, match="there is no step"):
            run[missing]


def test_a_heatmap_on_demand():
    from workbench.display.plots import Figure

    run = trace(attention, *(normal(2, 3, 4, seed=i) for i in range(3)))
    weights = run.show(3, (1,), query_tokens=["a", "b", "c"])
    assert isinstance(weights, Figure) and "Step 3: softmax(dim=-1) [1]" in weights.description
    assert "c attends" in weights.description
    scores = run.show(2)
    assert "step 2: / 2" in repr(scores) and "<table" in scores._repr_html_()
    assert f"{run[2].value[0, 0, 0]:.3f}".replace("-", "−") in repr(scores)
    with pytest.raises(IndexError, match="needs 1"):
        run.show(3, (0, 0))
    assert "softmax(dim=-1) [1]" in run.show(3, 1).description


def test_a_result_without_numbers_is_a_step_like_another():
    empty, unread = trace(lambda x: x[:0] * 2, normal(2, 3, 4)), trace(lambda x: x * 2, torch.ones(2, device="meta"))
    assert empty[1].value.shape == (0, 3, 4) and "too large" not in repr(empty[1])
    assert "(0, 3, 4)" in repr(empty[1]) and "(0, 3, 4)" in empty[1]._repr_html_()
    assert repr(unread[0]).splitlines()[1:] == ["0  * 2  (2,) → (2,)"] and "from" not in unread[0]._repr_html_()


def test_results_without_numbers_are_told_by_their_operations():
    nowhere = torch.ones(2, device="meta")
    said = [trace(lambda x: x * 2, lambda x, by=by: x * by, nowhere).verdict for by in (2, 3)]
    assert [words.partition("First difference: ")[2] for words in said] == [
        "both have `* 2`.",
        "A has `* 2`, B has `* 3`.",
    ]


def test_shapes_stand_below_each_other():
    lines = repr(trace(lambda x: x.exp().repeat_interleave(2, dim=0, output_size=4), normal(2, 3))).splitlines()
    assert len({line.index("  (2, 3)") for line in lines if "→" in line}) == 1


SAID_OF_PATIENTS = {
    "6.1": "gives 2.828 times what `@` gives in A",
    "6.2": "`/ 2.449` in B gives 0.5774 times what `@` gives in A",
    "6.3": "A has `softmax(dim=-1)`, B has `softmax(dim=-2)`",
    "6.4": "A takes the result of `softmax(dim=-1)` and B that of `/ 2.828`",
    "6.5": "A takes the result of `where` and B that of `/ 2.828`",
    "6.10": "A has `any(dim=-1, keepdim=True)`, B has nothing like it",
    "6.16": "makes (2, 3, 5, 2) with `view(2, 3, 5, 2)`",
}


@pytest.mark.parametrize("id", PATIENTS)
def test_every_patient_of_the_clinic_parts_from_right_code(id):
    case, found = EXERCISES[id], []
    torch.manual_seed(0)  # what a test of the clinic draws must not hang on which tests ran before
    right, buggy = instance_of(case.interface.correct[0]), instance_of(case.buggy)
    for fn in (buggy, right):
        calls = []
        case.answer[3](Listening(fn, calls))
        found += [trace(right, buggy, *args, **kwargs) for args, kwargs in calls]
    found += [trace(right, buggy, *args) for args in case.probes]
    parted = [comparison for comparison in found if comparison.difference]
    assert parted and all("First difference" in repr(comparison) for comparison in parted)
    assert any(SAID_OF_PATIENTS.get(id, "") in comparison.verdict for comparison in parted)


class Listening(nn.Module):
    """Notes what it is called with."""

    def __init__(self, fn, calls):
        super().__init__()
        self.fn, self.calls = fn, calls

    def forward(self, *args, **kwargs):
        self.calls.append((args, kwargs))
        return self.fn(*args, **kwargs)


def test_the_steps_of_the_example_can_be_traced():
    x, w = normal(3, 4), normal(4, 3)
    run = trace(self_attention_steps, x, w, w, w)
    assert "softmax(dim=-1)" in operations(run) and not run.surprises
