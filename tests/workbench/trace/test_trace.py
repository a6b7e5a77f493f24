"""trace of one function: every operation with its line and shapes, and the run is the function's own."""

import html
import math
import re
import sys

import pytest
import torch
import torch.nn.functional as F
from cells import operations, traced
from hypothesis import given
from hypothesis import strategies as st
from shown import CASES, run_of
from strategies import normal, seeds
from torch import nn

from attn_lib import MultiHeadAttention, masked_softmax, split_heads
from workbench.display.colours import on_any
from workbench.display.plots import Figure
from workbench.trace import record, trace


def attention(q, k, v):
    return (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


# ------------------------------------------------------------------------------------------------------- what is shown


@pytest.mark.parametrize("title", CASES)
def test_trace_shows_what_shown_md_says(title):
    cell, text = CASES[title]
    assert repr(run_of(cell)) == text


@pytest.mark.parametrize("title", CASES)
def test_page_says_what_the_text_says(title):
    run = run_of(CASES[title][0])
    page = run._repr_html_()
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
    for line in repr(run).splitlines():
        for part in re.split(r"(?<=\d)  (?=\w+:$)|   \(", line):  # a call that is open, and one that is folded
            assert " ".join(part.strip(" ():").split()) in words
    assert (on_any("wrong") in page.split(">")[0]) == bool(run.error or run.surprises)
    assert page.count("<th scope='col'") and "<script" not in page and "http" not in page


READS = {  # as it is written, of a matrix x, whole numbers i and a mask b → as it reads
    "x @ x.mT": "@",
    "2 * x": "* 2",
    "1 - x": "1 -",
    "1 < x": "> 1",
    "-x": "-",
    "~b": "~",
    "torch.bitwise_and(b, b)": "&",
    "torch.logical_not(b)": "~",
    "torch.subtract(x, 2)": "- 2",
    "x * 1j": "* 0+1j",
    "x * 3.14159": "* 3.142",
    "torch.add(x, x, alpha=2)": "add(alpha=2)",
    "torch.div(x, 2, rounding_mode='floor')": "div(2, rounding_mode='floor')",
    "x.T": ".T",
    "x[i]": "[·]",
    "x[:, None]": "[:, None]",
    "x[..., ::2]": "[..., ::2]",
    "x.to(x)": "to(float32)",
    "x.to('cpu', dtype=torch.float64)": "to('cpu', dtype=float64)",
    "x.softmax(-1)": "softmax(dim=-1)",
    "nn.Softmax(dim=-1)(x)": "softmax(dim=-1)",
    "x.sum(dim=-1, keepdim=True)": "sum(dim=-1, keepdim=True)",
    "x.sum([0, 1])": "sum(dim=(0, 1))",
    "x.masked_fill(x > 0, -math.inf)": "masked_fill(·, -inf)",
    "torch.einsum('ij,kj->ik', x, x)": "einsum('ij,kj->ik')",
    "torch.cat([x, x], dim=-1)": "cat(dim=-1)",
    "x.reshape(2, -1)": "reshape(2, -1)",
    "F.dropout(x, 0.1, training=False)": "dropout(p=0.1, training=False)",
    "F.layer_norm(x, (4,))": "layer_norm((4,), eps=1e-05)",
    "torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 8])": "tensor((0, 1, 2, 3, 4, 5, 6, 7, …))",
    f"torch.einsum({39 * 'i'!r}, x)": f"einsum('{38 * 'i'}…)",
    "torch.rand(2, generator=torch.Generator())": "rand(2, generator=Generator)",
}


@pytest.mark.parametrize("written, read", READS.items(), ids=READS)
def test_operation_reads_as_it_is_written(written, read):
    fn = eval(f"lambda x, i, b: {written}", {"torch": torch, "F": F, "nn": nn, "math": math})
    run = trace(fn, normal(4, 4, dtype=torch.float32), torch.arange(4), torch.eye(4).bool())
    assert operations(run)[-1] == read


def test_library_call_is_open_where_it_is_asked_for():
    run = trace(lambda x: masked_softmax(x, x > 0), normal(3, 3))
    assert "masked_fill" not in repr(run) and "masked_fill(·, 0)" in run.as_text(inner=True)
    assert run["1.4"].operation == "where" and "Inside masked_softmax" in run[1]._repr_html_()
    assert len(re.findall(r"^ *line \d", run.as_text(inner=True), re.M)) == 1, "only the learner's own have numbers"


def test_multi_head_attention_of_pytorch_is_seen_inside():
    mha, x = nn.MultiheadAttention(8, 2, batch_first=True), normal(2, 3, 8, dtype=torch.float32)
    run = trace(mha, x, x, x)
    inside = operations(run)
    assert inside.index("bmm") < inside.index("softmax(dim=-1)") < len(inside) - inside[::-1].index("linear")
    (call,) = (step for step in run if step.operation == "multi_head_attention_forward")
    assert [shape for shape, _ in call.inputs][:3] == [(3, 2, 8)] * 3
    wrong = trace(mha, x, x, x, attn_mask=torch.ones(5, 5).bool())
    assert "[5, 5]" in wrong.error and wrong.error in repr(wrong)


def test_rows_that_are_not_shown_are_counted():
    run = traced("def f(x):\n" + "    x = x + 1\n" * 100 + "    return x", normal(2))
    shown = [line for line in repr(run).splitlines() if not line.startswith("…")]
    assert len(shown) == 151 and repr(run).endswith("… and 50 more rows")  # 100 lines and 100 operations
    assert "… and 50 more rows</td>" in run._repr_html_()


NOISE = f"{object()} in /home/someone/course/file.py and C:\\Users\\me\\file.py"


def noisy(x):
    y = x @ x.mT
    raise ValueError(NOISE + str(y.shape))


def test_text_and_page_are_the_same_in_every_run():
    shown = []
    for _ in range(2):
        runs = (
            trace(noisy, normal(3, 3)),
            trace(attention, noisy, normal(2, 4, 8)),
            trace(split_heads, normal(1, 2, 4), 2),
        )
        shown.append([text for run in runs for text in (repr(run), run._repr_html_())])
        shown[-1] += [text for step in runs[-1].operations for text in (repr(step), step._repr_html_())]
    assert shown[0] == shown[1]
    assert "<object object at 0x…> in file.py and file.py" in shown[0][0]
    assert not re.search(r"0x[0-9a-f]|/home|Users|site-packages|/work|/tmp", "".join(shown[0]))


# ------------------------------------------------------------------------------------------------ one step of a run


def test_steps_are_had_by_number():
    run = trace(attention, *(normal(2, 3, 4, seed=i) for i in range(3)))
    assert len(run) == 5 and run[3] is run["3"] and run[-1] is run[4] and run[1:] == run.steps[1:]
    for missing in (5, -6, "9.9"):
        with pytest.raises(IndexError, match="there is no step"):
            run[missing]


def test_weights_are_drawn_and_other_numbers_tabled():
    run = trace(attention, *(normal(2, 3, 4, seed=i) for i in range(3)))
    weights = run.show(3, (1,), query_tokens=["a", "b", "c"])
    assert isinstance(weights, Figure) and "Step 3: softmax(dim=-1) [1]" in weights.description
    assert "c attends" in weights.description and "softmax(dim=-1) [1]" in run.show(3, 1).description
    scores = run.show(2)
    assert "step 2: / 2" in repr(scores) and "<table" in scores._repr_html_()
    assert f"{run[2].value[0, 0, 0]:.3f}".replace("-", "−") in repr(scores)
    with pytest.raises(IndexError, match="needs 1"):
        run.show(3, (0, 0))


@pytest.mark.parametrize(
    "matrix, are_weights",
    [
        (torch.full((2, 2), 0.5), True),
        (torch.tensor([[0.5, 0.5], [0, 0]]), True),  # and a dead row
        (torch.full((2, 3), 0.5), False),
        (torch.eye(2, dtype=torch.long), False),
    ],
)
def test_weights_are_what_adds_up_to_1_in_each_row(matrix, are_weights):
    assert isinstance(trace(lambda x: x * 1, matrix).show(0), Figure) == are_weights


def test_large_results_are_kept_as_a_summary_only():
    run = trace(lambda x: x * 2, normal(400, 400))
    assert run[0].value is None and run[0].snapshot.sample.numel() <= 1024
    with pytest.raises(ValueError, match="too many numbers to keep"):
        run.show(0)
    assert re.search(r"too large to keep: from −[\d.]+ to \d", repr(run[0])) and "too large" in run[0]._repr_html_()


def test_long_run_is_cut_short_and_says_so(monkeypatch):
    monkeypatch.setattr(record, "MOST_STEPS", 200)
    monkeypatch.setattr(record, "KEPT_TOGETHER", 1000)
    run = trace(lambda x: [x := x + 1 for _ in range(250)][-1], torch.zeros(10))
    assert "200 operations, 50 more not shown" in repr(run) and len(repr(run).splitlines()) < 200
    assert sum(step.value.numel() for step in run.operations if step.value is not None) <= 1000
    assert torch.equal(run.output, torch.full((10,), 250.0))


def test_results_without_numbers_show_their_shapes():
    empty, unread = trace(lambda x: x[:0] * 2, normal(2, 3, 4)), trace(lambda x: x * 2, torch.ones(2, device="meta"))
    assert empty[1].value.shape == (0, 3, 4) and "(0, 3, 4)" in repr(empty[1]) and "(0, 3, 4)" in empty[1]._repr_html_()
    assert repr(unread[0]).splitlines()[-1] == "0  * 2  (2,) → (2,)" and "from" not in unread[0]._repr_html_()
    unfilled = trace(lambda: torch.empty(3).fill_(1))
    assert unfilled[0].value is None and torch.equal(unfilled[1].value, torch.ones(3)), "no memory of others is shown"


# -------------------------------------------------------------------------------------- whatever is traced, and however


def test_error_is_kept_with_the_steps_before_it():
    run = trace(lambda q, k: (q * 2) @ k, normal(3, 4), normal(3, 4))
    assert operations(run) == ["* 2", "@"] and run.output is None and run.error.startswith("RuntimeError: mat1")
    assert not run.surprises, "what was computed for a line that failed is not called unused"
    assert "missing 2 required positional arguments" in repr(trace(attention, normal(3, 4)))


def test_endless_recursion_is_an_error_like_another():
    def forever(x):
        return forever(x + 1)

    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(300)
        run = trace(forever, torch.zeros(1))
    finally:
        sys.setrecursionlimit(before)
    assert run.error.startswith("RecursionError") and len(run.operations) > 20 and "RecursionError" in repr(run)


@pytest.mark.parametrize("wrong", [torch.ones(2), None, 3])
def test_what_cannot_be_called_is_refused(wrong):
    with pytest.raises(TypeError, match=r"got \w+: write trace\(fn, x\), not trace\(fn\(x\)\)"):
        trace(wrong)


@pytest.mark.parametrize(
    "x",
    [
        torch.ones(2, 3, device="meta"),
        torch.empty(0, 3),
        torch.ones(2, dtype=torch.complex64),
        torch.eye(2).to_sparse(),
    ],
)
def test_tensors_of_any_kind_can_be_traced(x):
    assert operations(trace(lambda x: x * 2, x)) == ["* 2"]
    with torch.inference_mode():
        assert operations(trace(lambda x: x * 2, x)) == ["* 2"]


# --------------------------------------------------------------------------------------- leaves everything as it was


@given(seeds, st.booleans())
def test_run_is_the_run_of_the_function_itself(seed, grad):
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
