"""A board in a page without a kernel answers as Python does, and computes what attn_lib computes."""

import json
import math
import re

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attn_lib.explorers import by_hand_explorer, heads_explorer, mask_painter, reshape_explorer, softmax_explorer
from authors import pages

WORDS = ("the", "cat", "sat")


def heads():
    weights = torch.softmax(torch.randn(3, 3, 3, generator=torch.Generator().manual_seed(0)), dim=-1)
    weights[1, 2] = 1 / 3  # the row that the task asks for
    return heads_explorer(weights, WORDS)


EXPLORERS = {
    "by hand": by_hand_explorer,
    "softmax": softmax_explorer,
    "mask": mask_painter,
    "heads": heads,
    "reshape": reshape_explorer,
}
NUMBERS = st.one_of(
    st.integers(-12, 12).map(str),
    st.floats(-99, 99).map("{:.3f}".format),
    st.sampled_from(["1e6", "−2", "+.5", "3.", " 4 "]),
)
BAD = st.sampled_from(["", "  ", "1,5", "abc", "nan", "0x10", "1e400", "1e7", "--1", "1 2", "<b>1</b>", "１"])


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.set_content("<p>A page without a kernel.</p>")
    page.add_script_tag(content=pages.script())
    yield page
    page.close()


@st.composite
def messages(draw, board):
    """What a person at the board may do, in any order."""
    editable = [panel for panel in board.panels if panel["editable"]]
    choices = [st.sampled_from(["undo", "redo", "reset"]).map(lambda kind: {"type": kind})]
    for control in board.controls:
        choices.append(
            st.sampled_from(control["values"]).map(
                lambda v, c=control: {"type": "set", "control": c["name"], "value": v}
            )
        )
    for panel in editable:
        rows, columns = board.inputs[panel["name"]].shape
        texts = st.sampled_from(["0", "1"]) if panel["toggle"] else st.one_of(NUMBERS, NUMBERS, BAD)
        cell = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1), texts).map(list)
        edit = st.fixed_dictionaries(
            {"type": st.just("edit"), "panel": st.just(panel["name"]), "cells": cell.map(lambda c: [c])},
            optional={"gesture": st.sampled_from(["drag 1", "drag 2"])},
        )
        block = st.tuples(st.integers(0, rows), st.integers(0, columns), texts).map(
            lambda corner, p=panel: pasted(p["name"], *corner)
        )
        choices += [edit, edit, edit, block]
    return draw(st.lists(st.one_of(choices), min_size=1, max_size=8))


def pasted(panel, row, column, text):
    cells = [[row + i, column + j, text] for i in range(2) for j in range(2)]
    return {"type": "edit", "panel": panel, "cells": cells}


@pytest.mark.parametrize("name", EXPLORERS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_page_answers_as_python_does(page, name, data):
    board = EXPLORERS[name]()
    assert_same_answers(page, board, data.draw(messages(board)))


def test_a_drag_is_undone_at_once_in_the_page_too(page):
    drag = [{"type": "edit", "panel": "W_q", "cells": [[0, 0, str(n)]], "gesture": "drag"} for n in (2, 3, 4)]
    assert_same_answers(page, by_hand_explorer(), [*drag, {"type": "undo"}, {"type": "undo"}, {"type": "redo"}])


def assert_same_answers(page, board, asked):
    traits = json.dumps({trait: getattr(board, trait) for trait in pages.TRAITS})
    answers = page.evaluate(
        """([traits, asked]) => {
            const board = attnBoards.modelWithoutPython(JSON.parse(traits));
            return asked.map((message) => (board.handle(message), structuredClone(board.get("state"))));
        }""",
        [traits, asked],
    )
    for message, theirs in zip(asked, answers, strict=True):
        board.handle(message)
        assert_same_state(theirs, board.state)


def assert_same_state(theirs, ours):
    for name in ("said", "errors", "problem", "settings", "can_undo", "can_redo", "task", "done", "seed"):
        assert theirs[name] == ours[name], name
    assert_same_text(theirs["code"], ours["code"])
    assert theirs["text"].keys() == ours["text"].keys()
    for name, text in ours["text"].items():
        assert_same_text(theirs["text"][name], text)
    assert theirs["values"].keys() == ours["values"].keys()
    for name, matrix in ours["values"].items():
        assert_close_lists(theirs["values"][name], matrix, 3e-5)  # Python's board computes in float32


def assert_same_text(theirs, ours):
    """Equal words, and numbers that are equal up to their last digit."""
    number = r"-?\d+\.?\d*(?:e-?\d+)?"
    assert re.sub(number, "#", theirs) == re.sub(number, "#", ours)
    for a, b in zip(re.findall(number, theirs), re.findall(number, ours), strict=True):
        assert float(a) == pytest.approx(float(b), abs=0.0101 if "." in b else 0, rel=1e-5)


def assert_close_lists(theirs, ours, tolerance):
    if isinstance(ours, list):
        assert len(theirs) == len(ours)
        for a, b in zip(theirs, ours, strict=True):
            assert_close_lists(a, b, tolerance)
    elif isinstance(ours, str) or not math.isfinite(ours):
        assert str(theirs) == str(ours)
    else:
        largest = max(1.0, abs(ours))
        assert abs(theirs - ours) <= tolerance * largest, (theirs, ours)


@pytest.mark.parametrize("name", EXPLORERS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_page_computes_what_attn_lib_computes_in_float64(page, name, data):
    torch.set_default_dtype(torch.float64)
    try:
        board = EXPLORERS[name]()
        draw = st.floats(-8, 8).map(lambda x: round(x, 4))
        inputs = {}
        for panel in board.panels:
            if panel["editable"]:
                number = st.integers(0, 1) if panel["toggle"] else draw
                shape = board.inputs[panel["name"]].shape
                row = st.lists(number, min_size=shape[1], max_size=shape[1])
                inputs[panel["name"]] = data.draw(st.lists(row, min_size=shape[0], max_size=shape[0]))
        chosen = {control["name"]: data.draw(st.sampled_from(control["values"])) for control in board.controls}
        made = board._compute(**{name: torch.tensor(matrix).double() for name, matrix in inputs.items()}, **chosen)
    finally:
        torch.set_default_dtype(torch.float32)
    asked = [
        {
            "type": "edit",
            "panel": panel,
            "cells": [[i, j, str(x)] for i, row in enumerate(matrix) for j, x in enumerate(row)],
        }
        for panel, matrix in inputs.items()
    ] + [{"type": "set", "control": control, "value": value} for control, value in chosen.items()]
    traits = json.dumps({trait: getattr(board, trait) for trait in pages.TRAITS})
    results = page.evaluate(
        """([traits, asked]) => {
            const board = attnBoards.modelWithoutPython(JSON.parse(traits));
            asked.forEach(board.handle);
            const word = (x) => Array.isArray(x) ? x.map(word)
                : Number.isFinite(x) ? x : String(x).replace("Infinity", "inf").toLowerCase();
            return Object.fromEntries(Object.entries(board.results()).map(([name, matrix]) => [name, word(matrix)]));
        }""",
        [traits, asked],
    )
    for name, tensor in made.items():
        if isinstance(tensor, torch.Tensor):
            tolerance = 2e-6 if name.startswith(("head", "enlarged")) else 1e-6  # heads were saved with six digits
            assert_close_lists(results[name], tensor.tolist(), tolerance)


def test_random_numbers_come_from_their_seed_and_can_be_undone(page):
    board = by_hand_explorer()
    traits = json.dumps({trait: getattr(board, trait) for trait in pages.TRAITS})
    first, again, undone = page.evaluate(
        """(traits) => {
            const values = (board) => structuredClone(board.get("state"));
            const [one, two] = [1, 2].map(() => attnBoards.modelWithoutPython(JSON.parse(traits)));
            one.handle({ type: "random" }); two.handle({ type: "random" });
            const drawn = values(one);
            one.handle({ type: "undo" });
            return [drawn, values(two), values(one)];
        }""",
        traits,
    )
    assert first["values"] == again["values"] != board.state["values"]
    assert {name: undone["values"][name] for name in board.inputs} == {
        n: board.state["values"][n] for n in board.inputs
    }
    assert first["said"] == "Random numbers, seed 1."
    assert {x for row in first["values"]["X"] for x in row} <= set(range(-3, 4))
