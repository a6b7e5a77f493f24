"""Board in the kernel: what the page asks for is done, bad input is refused, and everything can be read back."""

import pytest
import torch
from torch.testing import assert_close

from attn_lib.board import Board, Control, Panel, Task


@pytest.fixture
def board():
    """Two numbers a and b, and their products with a factor."""
    panels = [
        Panel("a", editable=True),
        Panel("b", editable=True),
        Panel("c", "output", how=("product", "a", "b")),
    ]

    def compute(a, b, factor):
        if a[0, 0] == 13:
            raise RuntimeError("unlucky")
        return {"c": factor * a @ b, "line": f"factor {factor}"}

    start = {"a": torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "b": torch.eye(2)}
    task = Task("Make c larger than 9.", lambda board: bool(board.results["c"].max() > 9))
    return Board(panels, compute, start, controls=[Control("factor", "Factor", (1, 10), 1)], task=task)


def edit(board, *cells, panel="a", **more):
    board.handle({"type": "edit", "panel": panel, "cells": [list(cell) for cell in cells], **more})


def test_an_edit_reaches_inputs_results_and_page(board):
    edit(board, (0, 1, "5.5"), id="7")
    assert board.inputs["a"].tolist() == [[1, 5.5], [3, 4]]
    assert_close(board.results["c"], board.inputs["a"])
    assert board.state["values"]["c"] == [[1, 5.5], [3, 4]]
    assert board.state["answered"] == "7"
    assert board.state["said"] == "a row 1 column 2 is now 5.5."


@pytest.mark.parametrize(
    "text, word",
    [
        ("abc", "not a number"),
        ("", "empty"),
        ("   ", "empty"),
        ("nan", "not a number"),
        ("inf", "not a number"),
        ("1e400", "too large"),
        ("-1e308", "too large"),
        ("0x10", "not a number"),
        ("1_000", "not a number"),
        ("1,5", "write 1.5"),
        ("1 2", "not a number"),
        ("--1", "not a number"),
        ("٣", "not a number"),
    ],
)
def test_bad_input_is_answered_at_its_cell_and_changes_nothing(board, text, word):
    before = board.state
    edit(board, (1, 0, text))
    (error,) = board.state["errors"]
    assert (error["panel"], error["row"], error["column"]) == ("a", 1, 0)
    assert word in error["text"] and "3 stays" in error["text"]
    assert board.state["values"] == before["values"] and not board.state["can_undo"]
    edit(board, (0, 0, "2"))
    assert board.state["errors"] == []


@pytest.mark.parametrize(
    "text, value", [("2", 2), (" 2.5 ", 2.5), ("-1", -1), ("−1", -1), ("1e-3", 0.001), (".5", 0.5)]
)
def test_numbers_are_read_as_people_write_them(board, text, value):
    edit(board, (0, 0, text))
    assert board.inputs["a"][0, 0] == torch.tensor(value, dtype=torch.float32)


def test_a_block_is_pasted_whole_or_not_at_all(board):
    edit(board, (0, 0, "5"), (0, 1, "6"), (1, 0, "7"), (1, 1, "8"))
    assert board.inputs["a"].tolist() == [[5, 6], [7, 8]]
    edit(board, (0, 0, "1"), (0, 1, "x"))
    assert board.inputs["a"].tolist() == [[5, 6], [7, 8]] and "“x”" in board.state["said"]
    edit(board, *[(1, j, "1") for j in range(3)])
    assert board.inputs["a"].tolist() == [[5, 6], [7, 8]]
    assert "1 × 3" in board.state["said"] and "1 × 2" in board.state["said"]


def test_undo_redo_reset_and_what_they_say_when_there_is_nothing(board):
    start = board.inputs["a"]
    board.handle({"type": "undo"})
    assert "nothing to undo" in board.state["said"]
    edit(board, (0, 0, "5"))
    board.handle({"type": "set", "control": "factor", "value": 10})
    board.handle({"type": "undo"})
    assert board.settings == {"factor": 1} and board.inputs["a"][0, 0] == 5
    board.handle({"type": "undo"})
    assert_close(board.inputs["a"], start)
    board.handle({"type": "redo"})
    assert board.inputs["a"][0, 0] == 5
    edit(board, (0, 0, "6"))
    assert not board.state["can_redo"]
    board.handle({"type": "reset"})
    assert_close(board.inputs["a"], start)
    board.handle({"type": "undo"})
    assert board.inputs["a"][0, 0] == 6


def test_one_drag_is_undone_at_once(board):
    for value in ("2", "3", "4"):
        edit(board, (0, 0, value), gesture="drag 1")
    edit(board, (0, 0, "9"), gesture="drag 2")
    board.handle({"type": "undo"})
    assert board.inputs["a"][0, 0] == 4
    board.handle({"type": "undo"})
    assert board.inputs["a"][0, 0] == 1


def test_random_numbers_have_a_seed_that_is_shown(board):
    board.handle({"type": "random"})
    first = board.inputs
    assert board.state["seed"] == 1 and "seed 1" in board.state["said"]
    board.handle({"type": "random"})
    assert not torch.equal(first["a"], board.inputs["a"])


def test_a_control_takes_its_own_values_only(board):
    board.handle({"type": "set", "control": "factor", "value": 10})
    assert board.results["c"][1, 1] == 40 and board.state["text"] == {"line": "factor 10"}
    board.handle({"type": "set", "control": "factor", "value": 11})
    assert board.settings == {"factor": 10}


def test_the_task_is_done_when_it_is_done(board):
    assert not board.done and board.state["task"] == "Make c larger than 9."
    edit(board, (1, 1, "10"))
    assert board.done and board.state["done"]


def test_what_cannot_be_computed_is_said_and_the_old_results_stay(board):
    edit(board, (0, 0, "13"))
    assert "unlucky" in board.state["problem"] and board.results["c"][0, 0] == 1
    board.handle({"type": "undo"})
    assert board.state["problem"] == ""


def test_what_is_read_back_is_a_copy_and_the_code_makes_the_same_tensors(board):
    board.inputs["a"].zero_()
    assert board.inputs["a"][0, 0] == 1
    edit(board, (0, 0, "0.1"))
    made = {}
    exec(board.copy_as_code(), made)
    assert_close(made["a"], board.inputs["a"])
    assert_close(made["b"], torch.eye(2).long())


def test_two_boards_do_not_share_anything():
    panels, start = [Panel("a", editable=True)], {"a": torch.zeros(1, 1)}
    one, two = Board(panels, lambda a: {}, start), Board(panels, lambda a: {}, start)
    edit(one, (0, 0, "5"))
    assert two.inputs["a"].item() == 0 and start["a"].item() == 0


def test_nan_and_infinity_reach_the_page_as_words():
    def compute(a):
        return {"b": torch.tensor([[float("nan"), float("inf"), -float("inf")]])}

    board = Board([Panel("a", editable=True), Panel("b")], compute, {"a": torch.zeros(1, 1)})
    assert board.state["values"]["b"] == [["nan", "inf", "-inf"]]


def test_without_a_kernel_there_is_a_plain_table_and_no_address(board):
    edit(board, (0, 0, "0.25"))
    data, _ = board._repr_mimebundle_()
    assert "<table>" in data["text/html"] and "<td>0.25</td>" in data["text/html"]
    assert data["text/plain"] == repr(board) == "Board: a, b, c"
    assert "application/vnd.jupyter.widget-view+json" in data


def test_a_panel_without_a_start_is_an_error():
    with pytest.raises(ValueError, match=r"\['a'\].*\['b'\]"):
        Board([Panel("a", editable=True)], lambda: {}, {"b": torch.zeros(1, 1)})
