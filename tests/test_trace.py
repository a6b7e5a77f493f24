"""trace: the operations in order, what is odd about them, and where two versions part."""

import math

import pytest
import torch
import torch.nn.functional as F
from strategies import normal
from torch import nn

import attn_lib
from attn_lib.trace import trace

q, k, v = normal(2, 3, 4, 8), normal(2, 3, 5, 8, seed=1), normal(2, 3, 5, 6, seed=2)


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(query.size(-1))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value


def notes(run):
    return [note for step in run.steps for note in step.notes]


def test_operations_stand_in_order_with_their_lines_and_shapes():
    run = trace(attention, q, k, v)
    assert [s.operation for s in run.steps] == ["transpose(-2, -1)", "@", "/ 2.828", "softmax(dim=-1)", "@"]
    assert [s.line for s in run.steps][2:4] == [
        "scores = scores / math.sqrt(query.size(-1))",
        "weights = torch.softmax(scores, dim=-1)",
    ]
    assert run.steps[1].inputs == [(2, 3, 4, 8), (2, 3, 8, 5)] and run.steps[1].output == [(2, 3, 4, 5)]
    torch.testing.assert_close(run.output, attention(q, k, v))
    torch.testing.assert_close(run[4].sum(-1), torch.ones(2, 3, 4, dtype=torch.float64))


def test_what_it_shows_is_the_same_every_time_and_holds_no_address():
    assert repr(trace(attention, q, k, v)) == repr(trace(attention, q, k, v))
    for text in (repr(trace(attention, q, k, v)), trace(attention, q, k, v)._repr_html_()):
        assert "0x" not in text and "/tests/" not in text and "test_trace" not in text


def test_a_heatmap_of_a_step_and_a_number_outside():
    run = trace(attention, q, k, v)
    assert "step 4: softmax(dim=-1), 4 queries by 5 keys" in run.show(4).description
    with pytest.raises(IndexError, match=r"step 6 is outside 1\.\.5"):
        run[6]


def test_it_takes_something_that_can_be_called():
    with pytest.raises(TypeError, match="Tensor"):
        trace(q, k)


def test_inner_functions_are_indented_and_argument_checks_left_out():
    run = trace(attn_lib.scaled_dot_product_attention, q, k, v, torch.ones(4, 5, dtype=torch.bool))
    assert {step.depth for step in run.steps} == {0, 1}
    assert next(step.depth for step in run.steps if step.operation.startswith("softmax")) == 1
    assert not any("check" in step.line for step in run.steps)


# ---------------------------------------------------------------------------------------------- surprises


def stretched(x):
    return x[:, None] + x[None]


def thrown_away(x):
    torch.softmax(x, dim=-1)
    return x @ x.mT


def nothing_masked(x):
    return x.masked_fill(torch.zeros_like(x, dtype=torch.bool), -math.inf)


def dead_row(x):
    mask = torch.zeros_like(x, dtype=torch.bool)
    mask[0] = True
    return torch.softmax(x.masked_fill(mask, -math.inf), dim=-1)


@pytest.mark.parametrize(
    "function, x, note",
    [
        (stretched, torch.ones(4, 3), "both sides were stretched: (4, 1, 3) and (1, 4, 3) made (4, 4, 3)"),
        (thrown_away, torch.ones(3, 3), "computed and never used"),
        (nothing_masked, torch.ones(3, 3), "nothing was masked"),
        (dead_row, torch.ones(3, 3), "1 rows were filled from end to end"),
        (dead_row, torch.ones(3, 3), "NaN appears here, in 1 row"),
        (lambda x: x.transpose(0, 1), torch.ones(1, 1), "this changed nothing"),
        (lambda x: x.view(3, 3), torch.ones(3, 3), "this changed nothing: the shape was that already"),
        (lambda x: torch.softmax(x, dim=-1), torch.ones(3, 1), "softmax over an axis of size 1"),
        (lambda x: x * 300, torch.full((2,), 300.0, dtype=torch.float16), "too large for float16"),
        (
            lambda x: x.masked_fill(torch.eye(6, dtype=torch.bool).expand(3, 6, 6), 0.0),
            torch.ones(3, 3, 6, 6),
            "the first axis of (3, 6, 6) was matched with axis 1 of (3, 3, 6, 6)",
        ),
    ],
)
def test_a_surprise_is_pointed_out(function, x, note):
    assert any(note in found for found in notes(trace(function, x)))


@pytest.mark.parametrize("mask", [None, torch.ones(4, 5, dtype=torch.bool).tril(1)])
def test_right_code_surprises_nobody(mask):
    assert notes(trace(attn_lib.scaled_dot_product_attention, q, k, v, mask)) == []
    x = torch.randn(2, 4, 8)
    for module in (attn_lib.MultiHeadAttention(8, 2), nn.MultiheadAttention(8, 2, batch_first=True)):
        assert notes(trace(module, x, x, x)) == []


# ------------------------------------------------------------------------------------------------- errors


def test_an_error_ends_the_trace_and_shows_the_shapes_that_met():
    def broken(query, key):
        scaled = query / 2
        return scaled @ key

    run = trace(broken, torch.ones(2, 3), torch.ones(2, 3))
    assert len(run) == 1 and isinstance(run.error, RuntimeError)
    assert "The shapes that met here: (2, 3) and (2, 3)." in repr(run) and "RuntimeError" in run._repr_html_()


def test_tensors_gradients_and_random_numbers_are_left_alone():
    x = torch.randn(3, 3, requires_grad=True)
    torch.manual_seed(0)
    alone = F.dropout(x, 0.5) @ x
    torch.manual_seed(0)
    run = trace(lambda t: F.dropout(t, 0.5) @ t, x)
    assert torch.equal(run.output, alone)
    run.output.sum().backward()
    assert x.grad is not None


# ------------------------------------------------------------------------------------------- two versions


def by_embed_dim(query, key, value):
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(3 * query.size(-1))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value


def wrong_axis(query, key, value):
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(query.size(-1))
    weights = torch.softmax(scores, dim=-2)
    return weights @ value


def softmax_lost(query, key, value):
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(query.size(-1))
    torch.softmax(scores, dim=-1)
    return scores @ value


@pytest.mark.parametrize("other, step", [(by_embed_dim, 3), (wrong_axis, 4), (softmax_lost, 5)])
def test_two_versions_part_at_the_wrong_operation(other, step):
    compared = trace(attention, other, q, k, v)
    assert compared.first == (step, step) and not compared.same
    assert f"attention has step {step}" in compared.verdict and f"{other.__name__} has step {step}" in compared.verdict
    assert compared._repr_html_().count("← they part here") == 2


def test_another_way_to_the_same_result_is_the_same():
    compared = trace(attention, attn_lib.scaled_dot_product_attention, q, k, v)
    assert compared.same and compared.verdict == "Both give the same result."
    assert "they part" not in compared._repr_html_()


def test_view_without_transpose_parts_at_the_view():
    def alone(x, num_heads):
        return x.view(x.size(0), num_heads, x.size(1), -1)

    compared = trace(attn_lib.split_heads, alone, torch.randn(2, 3, 8), 2)
    assert compared.first == (1, 1) and "view" in compared.verdict
