"""Every explorer computes what attn_lib computes, and its task can be done by the edit that it asks for."""

import pytest
import torch
from torch.testing import assert_close

from attn_lib import masked_softmax, self_attention_steps
from attn_lib.explorers import by_hand_explorer, heads_explorer, mask_painter, reshape_explorer, softmax_explorer


def edit(board, panel, row, column, text):
    board.handle({"type": "edit", "panel": panel, "cells": [[row, column, text]]})


def choose(board, **settings):
    for control, value in settings.items():
        board.handle({"type": "set", "control": control, "value": value})


HEADS = torch.tensor([[[0.9, 0.1], [0.5, 0.5]], [[1.0, 0.0], [0.2, 0.8]]])
ALL = {
    "by_hand": by_hand_explorer,
    "softmax": softmax_explorer,
    "mask": mask_painter,
    "heads": lambda: heads_explorer(HEADS, ["a", "b"]),
    "reshape": reshape_explorer,
}


@pytest.mark.parametrize("name", ALL)
def test_it_starts_without_a_problem_and_with_its_task_undone(name):
    board = ALL[name]()
    assert board.state["problem"] == "" and board.state["task"] and not board.done
    for panel in board.panels:
        for source in panel["how"][1:3]:
            assert source in board.state["values"]


@pytest.mark.parametrize("name", ALL)
def test_every_setting_and_random_numbers_can_be_computed(name):
    board = ALL[name]()
    for control in board.controls:
        for value in control["values"]:
            choose(board, **{control["name"]: value})
            assert board.state["problem"] == ""
    for _ in range(5):
        board.handle({"type": "random"})
        assert board.state["problem"] == ""


@pytest.mark.parametrize("arithmetic, scale", [("true", 1), ("scaled by 1/√d_k", None)])
def test_by_hand_is_self_attention_steps(arithmetic, scale):
    board = by_hand_explorer()
    choose(board, arithmetic=arithmetic, query="tea")
    edit(board, "W_q", 0, 0, "-2")
    edit(board, "X", 2, 3, "0.5")
    steps = self_attention_steps(*board.inputs.values(), scale=scale)
    for name in ("queries", "keys", "values", "scores", "scaled", "weights", "outputs"):
        assert_close(board.results[name], getattr(steps, name))
    assert_close(board.results["weighted_values"], steps.weighted_values[2])


def test_by_hand_shows_what_rounding_does():
    board = by_hand_explorer()
    choose(board, arithmetic="rounded to one digit")
    assert_close(board.results["outputs"][1:], torch.tensor([[2.0, 8.0, 0.0], [2.0, 7.8, 0.3]]))


def test_by_hand_task_is_done_by_row_3_column_3_of_w_k_and_not_by_two_edits():
    board = by_hand_explorer()
    edit(board, "W_k", 2, 2, "1")
    assert board.done
    edit(board, "W_q", 0, 0, "2")
    assert not board.done


def test_softmax_explorer_task():
    board = softmax_explorer()
    choose(board, scaling="off", d_k=256)
    assert board.results["weights"].max() > 0.9 and not board.done
    choose(board, temperature=16)
    assert board.done
    assert_close(board.results["weights"], masked_softmax(board.inputs["match"]))


def test_mask_painter_shows_nan_in_weights_and_gradient_and_how_each_fill_hides_or_heals_it():
    board = mask_painter()
    choose(board, preset="causal")
    edit(board, "mask", 0, 0, "0")  # one click: the first query has nothing left
    assert board.done
    assert board.results["weights"][0].isnan().all() and not board.results["weights"][1:].isnan().any()
    assert board.results["gradient"].isnan().all()
    choose(board, fill="−1e9 before softmax")
    assert_close(board.results["weights"][0].sum(), torch.tensor(1.0))  # an average of what nobody may see
    choose(board, fill="0 after softmax")
    assert board.results["row_sums"][1] < 0.99
    choose(board, fill="masked_softmax of attn_lib")
    assert (board.results["weights"][0] == 0).all() and board.results["gradient"].isfinite().all()
    assert not board.done


def test_heads_explorer_takes_any_weights_and_reads_out_a_query():
    board = heads_explorer(HEADS, ["a", "b"])
    assert_close(board.results["enlarged"], HEADS[1])
    choose(board, query="1: b")
    assert "b (key 1) 0.80" in board.state["text"]["read"]
    choose(board, head="head 0")
    assert_close(board.results["enlarged"], HEADS[0])
    assert board.done
    weights = torch.rand(3, 2, 5, requires_grad=True).softmax(-1)
    assert heads_explorer(weights, ["x", "y"], list("abcde")).state["problem"] == ""
    assert heads_explorer(weights).state["problem"] == ""


@pytest.mark.parametrize(
    "arguments, exception, word",
    [
        (([[0.5]],), TypeError, "tensor"),
        ((torch.ones(2, 2),), ValueError, r"\(2, 2\)"),
        ((torch.ones(0, 2, 2),), ValueError, "empty"),
        ((HEADS, ["a"]), ValueError, "tokens has 1 entries, weights have 2"),
        ((torch.ones(1, 2, 3), ["a", "b"], ["a"]), ValueError, "key_tokens has 1 entries, weights have 3"),
    ],
)
def test_heads_explorer_says_what_does_not_fit(arguments, exception, word):
    with pytest.raises(exception, match=word):
        heads_explorer(*arguments)


def test_reshape_explorer_follows_every_feature_and_its_task_is_a_single_token():
    board = reshape_explorer()
    assert board.results["right 0"].tolist() == [[0, 1], [10, 11], [20, 21]]
    assert board.results["wrong 0"].tolist() == [[0, 1], [2, 3], [10, 11]]
    assert board.results["wrong 0:head"].tolist() == [[0, 0], [1, 1], [0, 0]]
    choose(board, heads=1)
    assert not board.done
    choose(board, heads=3, tokens=1)
    assert board.done
