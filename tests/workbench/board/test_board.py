"""Board in the kernel: it computes what it is told, refuses what it cannot read, and everything can be read back."""

import math

import pytest
import torch

from workbench.board import Board, Control, Input, Step, Task
from workbench.board import operations as op

START = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.fixture
def board():
    """Two numbers a and b, and their products with a factor."""
    steps = [("c", op.product("a", "b")), ("d", op.scale("c", powers={"factor": 1}))]
    task = Task("Make d larger than 9.", (("above", "d", 1, 1, 9),))
    return Board({"a": START, "b": torch.eye(2)}, steps, [Control("factor", "Factor", (1, 10))], task)


def said(board, **more):
    """A message as the page sends it."""
    now = {"revision": 5, "inputs": {n: t.tolist() for n, t in board.inputs.items()}, "settings": board.settings}
    return {**now, "proof": None, "answer": None, "fresh": True, **more}


def test_what_the_page_says_reaches_inputs_settings_and_results(board):
    inputs = {"a": [[1, 5.5], [3, 4]], "b": [[1, 0], [0, 1]]}
    board.set_state({"state": said(board, inputs=inputs, settings={"factor": 10})})
    assert board.inputs["a"].tolist() == [[1, 5.5], [3, 4]] and board.settings == {"factor": 10}
    assert board.results["d"].tolist() == [[10, 55], [30, 40]]
    assert board.reply == {"revision": 5, "problem": ""}
    assert board.done


HUGE = []
for _ in range(200):
    HUGE = [HUGE]
MALFORMED = [
    None, 0, "now", [], {}, True, 1.5, HUGE,
    {"revision": 1}, {"inputs": {}}, {"revision": "x"}, {"revision": None, "inputs": None, "settings": None},
]  # fmt: skip
WRONG_INPUTS = [
    None, [], "a", {}, {"a": None}, {"a": 5}, {"a": []}, {"a": [[]]}, {"a": [[1, 2]]}, {"a": [[1, 2], [3]]},
    {"a": [[1, 2], [3, 4], [5, 6]]}, {"a": [[1, 2], [3, "4"]]}, {"a": [[1, 2], [3, None]]}, {"a": [[1, 2], [3, True]]},
    {"a": [[1, 2], [3, math.nan]]}, {"a": [[1, 2], [3, math.inf]]}, {"a": [[1, 2], [3, 1e7]]},
    {"a": [[1, 2], [3, -1e7]]},
    {"a": [[1, 2], [3, [4]]]}, {"a": [[1, 2], [3, {}]]}, {"a": "1234"}, {"a": {"0": [1, 2]}},
    {"a": [[1, 2], [3, 10**400]]},
    {"a": ["12", "34"]}, {"a": [[1, 2], HUGE]},
]  # fmt: skip
WRONG_SETTINGS = [
    None,
    [],
    "x",
    {},
    {"factor": None},
    {"factor": 2},
    {"factor": "10"},
    {"factor": [1]},
    {"factor": True},
]


def test_no_malformed_message_raises_or_changes_anything(board):
    before = board.inputs
    messages = [*MALFORMED]
    messages += [
        said(board, inputs=inputs and isinstance(inputs, dict) and {"b": [[1, 0], [0, 1]], **inputs})
        for inputs in WRONG_INPUTS
    ]
    messages += [said(board, settings=settings) for settings in WRONG_SETTINGS]
    messages += [said(board, proof=proof) for proof in (5, {"inputs": {}}, "x")]
    assert len(messages) >= 44
    for message in messages:
        board.set_state({"state": message})
        assert "could not read" in board.reply["problem"], message
        assert torch.equal(board.inputs["a"], before["a"]) and board.settings == {"factor": 1}
        assert board.state["inputs"]["a"] == before["a"].tolist()  # what a page that is loaded anew starts from
    board.set_state({"state": said(board)})
    assert board.reply["problem"] == ""


def test_a_float32_number_is_the_decimal_that_was_written():
    assert Board({"a": torch.tensor([[0.4]])}, []).inputs["a"].item() == 0.4


def test_the_task_is_judged_here_and_what_was_done_stays_done(board):
    moved = {"a": [[1, 2], [3, 10]], "b": [[1, 0], [0, 1]]}
    proof = {"inputs": moved, "settings": {"factor": 1}}
    board.set_state({"state": said(board, proof=proof)})  # the page was ahead: done, and moved on since
    assert board.done and board.inputs["a"][1, 1] == 4
    board.set_state({"state": said(board, proof=None, fresh=True)})  # Reset
    assert not board.done
    board.set_state({"state": said(board, proof={**proof, "inputs": said(board)["inputs"]})})  # not so
    assert not board.done


def test_a_task_with_a_question_is_done_with_its_right_answer():
    task = Task("Make a large.", (("above", "a", 0, 0, 5),), why="Why?", answers=("no", "yes"), right=1)
    board = Board({"a": torch.zeros(1, 1)}, [], task=task)
    for answer, done in ((None, False), (0, False), (True, False), ("1", False), (1, True)):
        board.set_state({"state": said(board, inputs={"a": [[6]]}, answer=answer, fresh=False)})
        assert board.done is done


def test_what_cannot_be_computed_leaves_the_old_results():
    board = Board({"a": torch.ones(1, 1)}, [("b", op.choose("a", chosen="n"))], [Control("n", "N", (0, 9))])
    board.set_state({"state": said(board, settings={"n": 9})})
    assert "cannot be computed" in board.reply["problem"] and board.results["b"].tolist() == [[1]]
    board.set_state({"state": said(board, settings={"n": 0}, inputs={"a": [[4]]})})
    assert board.reply == {"revision": 5, "problem": ""} and board.results["b"].tolist() == [[4]]


def test_what_is_read_back_and_what_was_given_are_copies(board):
    board.inputs["a"].zero_()
    board.results["c"].zero_()
    assert torch.equal(board.inputs["a"], START.double()) and board.results["c"][0, 0] == 1
    given = torch.ones(1, 1, dtype=torch.float64)
    frames = torch.ones(2, 1, 1)
    one = Board({"a": given, "f": frames}, [("g", op.film("f", chosen=1))])
    two = Board({"a": given}, [])
    given.fill_(7)
    frames.fill_(7)
    one.change(a=[[5.0]])
    assert (one.inputs["a"].item(), two.inputs["a"].item(), one.results["g"].item()) == (5, 1, 1)


def test_nan_and_infinity_reach_the_page_as_words():
    board = Board({"a": Input(torch.tensor([[math.nan, math.inf, -math.inf]]), editable=False)}, [])
    assert board.spec["panels"][0]["values"] == [["nan", "inf", "-inf"]]


def test_without_a_kernel_there_are_plain_tables_and_no_address(board):
    board.change(a=[[1, 0.25], [3, 4]])
    data, _ = board._repr_mimebundle_()
    assert "<table" in data["text/html"] and ">0.25<" in data["text/html"]
    assert data["text/plain"] == repr(board) == "Board: a; b; c; d"
    assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.parametrize(
    "make, exception, word",
    [
        (lambda: Board({"a": START}, [("b", op.exp("c"))]), ValueError, r"step 'b' needs 'c'.*\['a'\]"),
        (lambda: Board({"a": torch.ones(40, 40)}, []), ValueError, "40 × 40 = 1,600.*1,024"),
        (lambda: Board({"a": torch.ones(4)}, []), TypeError, r"\(4,\)"),
        (lambda: Board({"a": START, "c": torch.ones(3, 3)}, [("b", op.product("a", "c"))]), ValueError, "cannot be"),
        (lambda: Board({"a": START}, []).change(b=1), ValueError, r"'b'.*\['a'\]"),
        (lambda: Board({"a": START}, []).change(a=[[1.0]]), ValueError, "2 × 2"),
        (lambda: Board({"m": Input([[1.0]], toggle=True)}, []).change(m=[[0.5]]), ValueError, "m cannot hold 0.5"),
        (lambda: Board({"a": START}, [], [Control("n", "N", (1, 2))]).change(n=3), ValueError, "N cannot be 3"),
    ],
)  # fmt: skip
def test_a_board_that_cannot_be_says_why(make, exception, word):
    with pytest.raises(exception, match=word):
        make()


def test_a_change_from_python_is_one_that_the_page_takes_for_new(board):
    revisions = [board.state["revision"], *(board.change(factor=factor).state["revision"] for factor in (10, 1))]
    assert len(set(revisions)) == 3
    assert board.state["settings"] == {"factor": 1} and board.reply["revision"] == revisions[-1]


def test_a_number_written_over_a_result_moves_what_follows():
    pinned = Board({"a": START}, [Step("c", op.scale("a", by=2), pin=True), Step("d", op.total("c"))])
    pinned.change(c={(1, 0): 5.5})
    assert pinned.results["c"].tolist() == [[2, 4], [5.5, 8]] and pinned.results["d"].tolist() == [[6], [13.5]]
    assert pinned.pinned == {"c": {(1, 0): 5.5}} and list(pinned.inputs) == ["a"]
    again = Board({"a": START}, [Step("c", op.scale("a", by=2), pin=True), Step("d", op.total("c"))])
    again.set_state({"state": {**pinned.state, "revision": 7}})  # as a page sends it
    assert again.pinned == pinned.pinned and again.results["d"].tolist() == [[6], [13.5]]
    assert pinned.change(c={}).results["d"].tolist() == [[6], [14]] and not pinned.pinned  # let go
    for wrong in ({(2, 0): 1}, {(0, 0): math.nan}, {(0, 0): 1e7}, {(0, 0): True}):
        with pytest.raises(ValueError, match="c "):
            pinned.change(c=wrong)
    with pytest.raises(ValueError, match="no input"):
        pinned.change(d={(0, 0): 1})


def test_a_task_is_not_done_by_writing_over_a_result():
    steps = [Step("c", op.scale("a", by=2), pin=True)]
    board = Board({"a": START}, steps, task=Task("Make c large.", (("above", "c", 0, 0, 9),)))
    assert not board.change(c={(0, 0): 10}).done and board.change(c={}, a=START * 9).done
