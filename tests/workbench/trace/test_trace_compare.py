"""trace of two versions: they agree, or the first operation is named in which they part."""

import math
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from bs4 import BeautifulSoup
from strategies import normal
from torch import nn

from attn_lib import causal_mask, scaled_dot_product_attention, split_heads
from workbench.exercises.clinic import PATIENTS
from workbench.exercises.clinic.anonymous import instance_of
from workbench.exercises.engine.exercise import EXERCISES
from workbench.trace import trace

AGREE = "The outputs agree on these arguments."
ones = torch.ones


def attention(q, k, v):
    return (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


def qkv(n=3):
    return [normal(2, n, 4, seed=i) for i in range(3)]


# ------------------------------------------------------------------------------------------------------- whether


DIFFER = [  # A, B, and what is said of them on (1, 2, 3, 4)
    (lambda x: (x, x), lambda x: (x, x + 1), "1 of 2 outputs agrees, but output[1] differs in 4"),
    (lambda x: (x, x, x), lambda x: (x, x, x + 1), "2 of 3 outputs agree, but output[2] differs in 4"),
    (lambda x: (x, x), lambda x: (x, x.clamp(max=3)), "but output[1] differs in 1 number of 4"),
    (lambda x: (y := x * 1, y), lambda x: (x * 3, x), "1 of 2 outputs agrees"),
    (lambda x: x, lambda x: (x, x), "one tensor of shape (4,) in A and a tuple of 2 in B"),
    (lambda x: (x, x), lambda x: (x, x, x), "2 parts in A and 3 parts in B"),
    (lambda x: {"a": x, "b": x}, lambda x: {"a": x, "b": -x}, "output['b'] differs"),
    (lambda x: {"a": x, "b": 1}, lambda x: {"b": x}, "output holds a, b in A and b in B"),
    (lambda x: [x], lambda x: (x,), "a list of 1 in A and a tuple of 1 in B"),
    (lambda x: x, lambda x: None, "one tensor of shape (4,) in A and nothing in B"),
    (lambda x: x, lambda x: x.float(), "output is float64 in A and float32 in B"),
    (lambda x: x, lambda x: x[None], "has shape (4,) in A and (1, 4) in B"),
    (lambda x: (x, np.ones(2)), lambda x: (x, np.array([1, 2])), "output[1] is [1. 1.] in A and [1 2] in B"),
    (lambda x: (x, 0.5), lambda x: (x, 0.6), "output[1] is 0.5 in A and 0.6 in B"),
    (lambda x: x * 2, lambda x: x * 3, "`* 3` in B gives 1.5 times what `* 2` gives in A: the scale differs, by"),
    (lambda x: x * 1j, lambda x: x * 2j, "gives 2 times"),
    (lambda x: x * 2, lambda x: x * -2, "A has `* 2`, B has `* -2`"),
    (lambda x: (x * 2).sum().item(), lambda x: (x * 3).sum().item(), "gives 1.5 times what `* 2` gives in A"),
    (lambda x: x.exp(), lambda x: x.log(), "A has `exp`, B has `log`: the largest difference is"),
    (lambda x: x.sum(), lambda x: x.exp(), "A goes on with `sum`, B with `exp`"),
    (lambda x: x * 2, lambda x: x.exp() * 2, "B has `exp`, A has nothing like it; then both have `* 2`"),
    (lambda x: x * 2, lambda x: x * 2 + 1, "B has `+ 1`, A has nothing like it"),
    (
        lambda x: ((x.view(2, 2) + 3) * 2).flatten().sqrt(),
        lambda x: (x * 2).sqrt(),
        "A has `view(2, 2)`, B has nothing like it; then both have `sqrt`",
    ),
    (
        lambda x: (x.view(2, 2) + 3) * 2,
        lambda x: x * 2,
        "A has `view(2, 2)`, B has nothing like it; then A makes (2, 2) with `* 2`, B makes (4,) with `* 2`",
    ),
    (lambda x: (x * 1, x + 1), lambda x: (x, x + x), "A has `+ 1`, B has `+`"),
    (lambda x: (x + 5, x * x)[1:], lambda x: (x / x, x), "A has `*`, B has `/`"),
    (lambda x: x.sort()[1], lambda x: x.flip(-1).sort()[1], "B has `flip(dim=-1)`"),
    (lambda x: x * math.nan, lambda x: x, "First difference"),
    (lambda x: x.long(), lambda x: x.long() + 1, "`+ 1`"),
    (lambda x: x @ x, lambda x: x @ ones(3).double(), "B raises RuntimeError"),
    (lambda x: x[7], lambda x: x.view(3), "A raises IndexError"),
]  # fmt: skip


@pytest.mark.parametrize("ours, theirs, words", DIFFER, ids=[words for *_, words in DIFFER])
def test_difference_is_named(ours, theirs, words):
    found = trace(ours, theirs, torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64))
    assert found.difference is not None and words in found.verdict and found.verdict in repr(found), found.verdict
    assert AGREE not in repr(found) and repr(found).count("← here they part") <= 1


OUTPUTS = [
    lambda x: (x, {"a": [x]}),
    lambda x: x * math.nan,
    lambda x: x * 1j,
    lambda x: (x, x.sum().item(), math.nan, None, "word", np.ones(2)),
    lambda x: x.long(),
    lambda x: x.half(),
]


@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_of_every_kind_agree_with_themselves(output):
    found = trace(output, lambda x: output(x * (1 + 1e-9)), normal(4))
    assert found.difference is None and found.verdict == AGREE


def test_two_that_return_nothing_do_not_agree_on_anything():
    assert trace(lambda x: None, lambda x: None, normal(2)).verdict == "Neither returns anything."


@pytest.mark.parametrize("dtype, rounding, more", [(torch.float32, 5e-5, 5e-4), (torch.bfloat16, 5e-3, 0.1)])
def test_rounding_is_no_difference_and_more_is(dtype, rounding, more):
    x = normal(100).to(dtype)
    assert trace(lambda x: x + 0, lambda x: x * (1 + rounding), x).difference is None
    assert trace(lambda x: x + 0, lambda x: x * (1 + more), x).difference is not None


def one_changed(x, place):
    x = x * 2
    y = x.clone()
    y.view(-1)[place] += 1
    return y


@pytest.mark.parametrize("shape", [(64, 64), (600, 600)])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_one_number_that_differs_is_a_difference(shape, share):
    x = normal(*shape)
    found = trace(lambda x: x * 2, lambda x: one_changed(x, round(share * (x.numel() - 1))), x)
    assert found.difference is not None and "agree" not in found.verdict


# ---------------------------------------------------------------------------------------------------------- where


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


BUGS = [
    ({"scale": 8}, "/ 2", "/ 2.828"),
    ({"split": wrong_split}, "view(2, 4, 2, 4)", "view(2, 2, 4, 4)"),
    ({"axis": -2}, "softmax(dim=-1)", "softmax(dim=-2)"),
    ({"use": False}, "@", "@"),
    ({"polarity": False}, "~", None),
]


@pytest.mark.parametrize("bug, right, wrong", BUGS)
def test_first_difference_is_the_bug(bug, right, wrong):
    found = trace(multi_head, lambda x: multi_head(x, **bug), normal(2, 4, 8))
    first, second = found.difference.first, found.difference.second
    assert (first and first.operation, second and second.operation) == (right, wrong), repr(found)
    assert repr(found).count("← here they part") == 1 == found._repr_html_().count("<b>← here they part</b>")


def test_another_way_to_the_same_numbers_is_no_difference():
    def looped(q, k, v):
        return torch.stack([attention(*one) for one in zip(q, k, v, strict=True)])

    scaled_query = lambda q, k, v: ((q / 2) @ k.mT).softmax(-1) @ v  # noqa: E731
    for other in (scaled_query, looped, lambda q, k, v: scaled_dot_product_attention(q, k, v)[0]):
        found = trace(attention, other, *qkv())
        assert found.difference is None and AGREE in repr(found) and torch.allclose(*found.output)


# --------------------------------------------------------------------------------------------------- how it is run


def test_both_versions_get_the_same_arguments_and_random_numbers():
    x, weight = normal(4, 4, grad=True), nn.Parameter(ones(2))
    before = x.clone()
    twice = lambda x: F.dropout(x.mul_(2))  # noqa: E731
    assert trace(twice, twice, x=x).difference is None and torch.equal(x, before)
    assert all(trace(lambda a, b: torch.tensor(a is b), lambda a, b: torch.tensor(a is b), x, x).output)
    same = trace(lambda w: (w, w is weight), lambda w: (w, w is weight), weight)
    assert [output[1] for output in same.output] == [True, True]
    trace(lambda x: x * 3, lambda x: x * 5, x).output[1].sum().backward()
    assert torch.equal(x.grad, torch.full((4, 4), 5.0, dtype=torch.float64))


def test_page_marks_what_agrees_differs_and_is_missing():
    pages = [trace(lambda x: x * 2, other, ones(2))._repr_html_() for other in (lambda x: x * 2, lambda x: x * 2 + 1)]
    assert "aria-label='same'>=" in pages[0] and "on one side only" in pages[1]
    differs = trace(lambda x: x + 1, lambda x: x + 2, ones(2))._repr_html_()
    assert "aria-label='differs'>≠" in differs and "title='differs = trace" in differs
    raises = trace(lambda x: x, lambda x: [][0], ones(2))
    assert "B ✗ IndexError" in repr(raises) and "B ✗ IndexError" in raises._repr_html_()


def test_long_comparison_shows_where_they_part_and_the_rest_if_asked():
    def twice(x, by):
        for _ in range(10):
            x = x.flip(0) + 1
        return (x * by).flip(0).abs() + 1

    found = trace(lambda x: twice(x, 2), lambda x: twice(x, 3), ones(2))
    every = found.as_text(every=True).splitlines()
    rows = [line for line in repr(found).splitlines() if re.match(r" *\d", line)]
    assert len(rows) <= 3 and len(rows) < len(every) and "← here they part" in rows[1]
    page = BeautifulSoup(found._repr_html_(), "html.parser")
    inside = [row for fold in page("details") for row in fold("tr")]
    left_out = [int(n) for n in re.findall(r"… (\d+) row", repr(found))]
    assert len(inside) == sum(left_out) == len(every) - len(rows) - 4


# ---------------------------------------------------------------------------------------------------- the bug clinic

SAID_OF_PATIENTS = {
    "6.1": "gives 2.828 times what `@` gives in A",
    "6.2": "`/ 2.449` in B gives 0.5774 times what `@` gives in A",
    "6.3": "A has `softmax(dim=-1)`, B has `softmax(dim=-2)`",
    "6.4": "A takes the result of `softmax(dim=-1)` and B that of `/ 2.828`",
    "6.5": "A takes the result of `where` and B that of `/ 2.828`",
    "6.10": "A has `any(dim=-1, keepdim=True)`, B has nothing like it",
    "6.16": "makes (2, 3, 5, 2) with `view(2, 3, 5, 2)`",
}
# Whose own test asks for a single number, to which some operation of the right code has a counterpart by chance
MORE_NUMBERS = {
    "6.43": [(*torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(0)), torch.ones(3), torch.full((3,), 0.5))]
}


@pytest.mark.parametrize("id", [id for id in PATIENTS if EXERCISES[id].fixes])
def test_every_patient_of_the_clinic_parts_from_right_code(id):
    case, calls = EXERCISES[id], []
    torch.manual_seed(0)  # what a test of the clinic draws must not hang on which tests ran before
    right, buggy = instance_of(case.interface.correct[0]), instance_of(case.buggy)
    case.answer[3](Listening(buggy, calls))
    of_its_test = [trace(right, buggy, *args, **kwargs) for args, kwargs in calls if id not in MORE_NUMBERS]
    found = of_its_test + [trace(right, buggy, *args) for args in [*case.probes, *MORE_NUMBERS.get(id, [])]]
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
