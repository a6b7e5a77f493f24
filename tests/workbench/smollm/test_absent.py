"""Lesson 13 in a learner's copy where the model did not come: it is read from its first cell to its last."""

import json
import shutil

import pytest
from IPython.core.interactiveshell import InteractiveShell
from paths import ROOT
from small_model import small_model
from traitlets.config import Config

from workbench import copies, predict
from workbench.smollm import model as models
from workbench.smollm import place

NAME = "13_real_model.ipynb"
OTHERS = {"check", "hint"}  # buttons below exercises


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / NAME, tmp_path / "notebooks")
    copies.bring_up_to_date(tmp_path)
    monkeypatch.chdir(tmp_path / "my")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "my" / NAME))
    monkeypatch.setenv(place.VARIABLE, str(tmp_path / "nowhere.gguf"))
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """run(code, id): what the cell of this id shows, which ends without an error."""
    predict._first_wrong.clear(), predict._known.clear()  # as in a kernel that was just started
    shell = InteractiveShell.instance(config=Config(HistoryManager={"hist_file": ":memory:"}), colors="nocolor")

    def run(code, id=None):
        capsys.readouterr()
        shell.get_parent = lambda: {"metadata": {"cellId": id}}  # as JupyterLab says which cell runs
        assert shell.run_cell(code, store_history=True).success
        return capsys.readouterr().out

    yield run
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def cells(file):
    return [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == "code"]


def printed(cell):
    """What the course saved below a cell, as texts."""
    data = [output.get("data", {}).get("text/plain", output.get("text")) for output in cell["outputs"]]
    return ["".join(text) for text in data]


def test_lesson_is_read_to_its_end_with_what_the_course_printed(folder, run):
    saved = {cell["id"]: printed(cell) for cell in cells(folder / "notebooks" / NAME)}
    sentences = []
    for cell in cells(folder / "my" / NAME):
        if OTHERS & set(cell["metadata"]):
            continue
        told = run("".join(cell["source"]).replace("guess = ...", 'guess = "show"'), cell["id"])
        sentences += [told] * ("nowhere.gguf" in told)
        if cell["id"] not in ("load", "progress", "own-attention"):
            assert all(text in told for text in saved[cell["id"]]), cell["id"]
    assert len(sentences) == 1


def test_own_code_and_other_names_run_as_ever(run):
    run("from workbench.smollm import smollm\nmodel = smollm()\nprint(model)")
    assert "not here" in run("def mine(text):\n    return model.write(text)")
    assert "not here" in run("[mine(text) for text in ('Tea is',)]")
    assert "3" in run("def longer(model):\n    return model + 1\nlonger(2)")
    assert "5" in run("mine = len\nmine('three')")


def test_a_guess_is_compared_with_the_saved_answer(folder, run):
    source = {cell["id"]: "".join(cell["source"]) for cell in cells(folder / "my" / NAME)}
    asks = source["keys-share"]
    run(source["imports"]), run(source["load"])
    assert "another try" in run(asks.replace("guess = ...", "guess = 0.5"), "keys-share")
    assert "Right" in run(asks.replace("guess = ...", "guess = 0.93"), "keys-share")


def test_once_the_model_is_here_cells_run(run, monkeypatch):
    begin = "from workbench.smollm import smollm\nmodel = smollm()"
    run(begin)
    monkeypatch.setattr(models, "model_file", lambda: None)
    monkeypatch.setattr(models, "LanguageModel", lambda *_: small_model())
    run(begin)
    assert "The| keys" in run('print("|".join(model.cut("The keys")))')
