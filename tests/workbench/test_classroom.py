"""Handing in: what the button copies, what it says, and that there is none where nobody collects."""

import json
import os
import stat

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from workbench import classroom
from workbench.display.colours import on_any

CELLS = ("text", "def my_f(x):\n    return x", 'check("3.2", my_f)', "my_scores = 2", "progress()")


@pytest.fixture
def notebook(tmp_path):
    return write(tmp_path / "my/03_masking.ipynb", CELLS)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "handed-in"


def write(path, cells):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": [{"source": cell.splitlines(keepends=True)} for cell in cells]}))
    return path


def test_hand_in_copies_the_saved_notebook_for_its_owner(notebook, folder):
    os.utime(notebook, (1e9, 1e9))
    kind, said = classroom.hand_in(notebook, folder)
    (copy,) = (folder / "03").iterdir()
    assert copy.read_bytes() == notebook.read_bytes() and copy.name.endswith(" 03_masking.ipynb")
    assert kind == "right" and said.startswith("Handed in: notebook 3, 03_masking.ipynb, as saved ")
    assert ":46:40." in said  # the time of the file, not of the button
    assert stat.S_IMODE((folder / "03").stat().st_mode) == 0o700


def test_every_version_is_kept_and_the_same_one_once(notebook, folder):
    classroom.hand_in(notebook, folder)
    kind, said = classroom.hand_in(notebook, folder)
    assert kind == "right" and said.startswith("Handed in already: notebook 3")
    write(notebook, [*CELLS, "more"])
    assert classroom.hand_in(notebook, folder)[1].startswith("Handed in: ")
    assert classroom.hand_in(notebook, folder)[1].startswith("Handed in already: ")
    names = sorted(path.name for path in (folder / "03").iterdir())
    assert len(names) == 2 and "more" in (folder / "03" / names[-1]).read_text()  # the newest is the last by name


def test_notebook_is_known_by_its_exercises_whatever_it_is_called(notebook, folder):
    classroom.hand_in(notebook.rename(notebook.with_name("Übung.ipynb")), folder)
    assert [path.name[27:] for path in (folder / "03").iterdir()] == ["Übung.ipynb"]
    write(notebook, [*CELLS, 'check("2.1", my_softmax)', 'check("3.3", my_masked_softmax)'])
    assert "notebook 3" in classroom.hand_in(notebook, folder)[1], "most are of lesson 3"
    answer = {"source": "def my_f(x):\n    return x", "metadata": {"exercise": "10.2"}}
    notebook.write_text(json.dumps({"cells": [answer, {"source": '# check("2.1", my_f)'}]}))
    assert "notebook 10" in classroom.hand_in(notebook, folder)[1], "a cell says what it answers"


def test_what_was_run_and_not_saved_is_named(notebook, folder):
    ran = [*CELLS, "def my_f(x):\n    return x + 1", "my_scores = 2\n", "def helper(x): ...", "my_f(3)"]
    kind, said = classroom.hand_in(notebook, folder, ran)
    assert kind == "open" and "Not in it, because it was run and not saved: my_f. Save" in said
    assert list((folder / "03").iterdir())  # handed in all the same
    write(notebook, [*CELLS, ran[-4]])
    assert "not saved" not in classroom.hand_in(notebook, folder, ran)[1]


@pytest.mark.parametrize("text", [None, "{", "[]", '{"cells": [{"source": ["no check here"]}]}'])
def test_what_is_no_notebook_of_the_course_is_not_handed_in(notebook, folder, text):
    notebook.unlink() if text is None else notebook.write_text(text)
    kind, said = classroom.hand_in(notebook, folder)
    assert kind == "wrong" and said.startswith("Nothing was handed in: 03_masking.ipynb") and not folder.exists()


def test_a_copy_that_cannot_be_written_is_said(notebook, folder):
    folder.write_text("a file where the folder should be")
    kind, said = classroom.hand_in(notebook, folder)
    assert kind == "wrong" and "could not be written (Not a directory)" in said and "Tell your teacher" in said


def test_the_cells_that_were_run_are_the_kernels_in_order():
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    try:
        for cell in ("my_f = 1", "%time my_f", "my_f = 2"):
            shell.run_cell(cell, store_history=True, silent=False)
        assert classroom.cells_run()[1:] == ["my_f = 1", "%time my_f", "my_f = 2"]
    finally:
        InteractiveShell.clear_instance()


def test_button_stands_below_each_exercise_where_somebody_collects(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv(classroom.SESSION, str(notebook))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ATTENTION_PROGRESS", str(tmp_path))
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    try:
        shell.run_cell("from workbench.exercises import check, progress")
        shell.run_cell("check('3.2', ...)")
        assert not shown, "nobody collects"
        monkeypatch.setenv(classroom.HAND_IN_VARIABLE, "~/handed-in")
        shell.run_cell("check('3.2', ...); check('3.1', ...)")
        shell.run_cell("progress()")
        ((press, words),) = (one.children for one in shown)
        assert press.description == "Hand in this notebook" and "other students cannot read it" in words.value
        shell.run_cell("my_scores = 3", store_history=True)
        press.click()
    finally:
        InteractiveShell.clear_instance()
    assert "Handed in: notebook 3" in words.value and "my_scores" in words.value and on_any("quiet") in words.value
    assert len(list((tmp_path / "handed-in/03").iterdir())) == 1


@pytest.mark.parametrize(("due", "said"), [("2999-05-03T23:59+00:00", "Hand in by "), ("2026-05-03T23:59", "is late.")])
def test_button_says_until_when(tmp_path, monkeypatch, due, said):
    (tmp_path / "deadlines.json").write_text(json.dumps({"03": due}))
    monkeypatch.setenv(classroom.DEADLINES_VARIABLE, str(tmp_path / "deadlines.json"))
    words = classroom.button("3").children[1].value
    assert said in words and "May" in words and "23:59 (UTC" in words
    assert "deadline" not in classroom.button("4").children[1].value
