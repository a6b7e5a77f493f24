"""What becomes of a notebook's cells on a page: guesses, folds, hints, exercises, ways to run it."""

import json
import zipfile
from types import SimpleNamespace

import nbformat
import pytest
import torch
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from paths import LESSONS

from authors import addresses
from authors.pages import outputs, ways_to_run
from authors.site import cards, lesson_page, openings
from workbench.copies import folded
from workbench.exercises.engine.exercise import EXERCISES

ADDED = {"form": "number", "slips": {"added": {"label": "one more", "says": "One too many."}}}

PLOT = """from workbench.display.plots import heatmap
print("6 apart")
heatmap(torch.ones(1, 1), ["tea"], ["tea"], title="Tea")"""


def predicting(source, **metadata):
    return new_code_cell(source, metadata={"tags": ["predict"], **metadata})


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Id → cell on the page of a small notebook with one cell of every kind; tests look at them only."""
    cells = [
        new_markdown_cell("# 9. A title\nand a first paragraph"),
        new_code_cell(
            "import torch\nfrom workbench.exercises import check, hint, progress\n"
            "from workbench.predict import predict\nfrom workbench.questions import Question",
            id="in",
        ),
        predicting(f'guess = ...  # a number < 3, as "1"\npredict(Question("", {ADDED}), guess, 1 + 1, added=3)'),
        new_markdown_cell(folded("After your guess", "Two."), metadata={"tags": ["answer"]}, id="answer"),
        new_code_cell("2 * 1", metadata={"tags": ["answer"]}, id="by-hand"),
        new_code_cell("half = 1 / 2", metadata={"tags": ["filled"]}, id="filled"),
        new_code_cell("from workbench.board.lessons import two_heads_board\ntwo_heads_board()", id="board"),
        new_code_cell("answer = my_self_attention = ...", id="own"),
        new_code_cell(PLOT, id="plot", outputs=[new_output("stream", name="stdout", text="6 apart")]),
        new_code_cell('check("1.1", answer)', id="check-numbers", metadata={"check": "1.1"}),
        new_code_cell('check("1.2", my_self_attention)', id="check-function", metadata={"check": "1.2"}),
        new_code_cell('hint("1.2")', id="hint", metadata={"hint": "1.2"}),
        new_code_cell("progress()", id="progress"),
    ]
    cells[2].id = "asked"
    path = tmp_path_factory.mktemp("lesson") / "09_small.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    told = SimpleNamespace(name="09_small", path=path, goals=[], time_in_words="", needs="")
    return {cell.id: cell for cell in lesson_page.LessonPage(told).page().cells}


def shown(cell):
    (output,) = cell.outputs
    return BeautifulSoup(output.data["text/html"], "html.parser")


def test_what_answers_a_question_is_folded_prose_and_code(cells):
    assert cells["answer"].source.startswith('<details class="after-guess">') and "Two." in cells["answer"].source
    assert cells["answer"].source.count("<details") == 1, "the notebook's own fold is not the page's"
    assert "hide-cell" in cells["by-hand"].metadata["tags"]
    assert "hide-cell" in cells["filled"].metadata["tags"], "the course's line waits for the learner's own"


def test_imports_are_folded_and_what_shows_something_is_not(cells):
    assert cells["in"].metadata["tags"] == ["hide-cell", lesson_page.SET_UP]
    assert not cells["board"].metadata.get("tags")
    assert not lesson_page.is_set_up(new_code_cell("import torch", outputs=[new_output("stream", text="2.13")]))


def test_what_a_cell_prints_stands_above_its_picture(cells):
    printed, picture = cells["plot"].outputs
    assert printed.text == "6 apart" and "<img" in picture.data["text/html"]


def test_a_function_is_for_later_on_a_computer(cells):
    place = shown(cells["check-function"]).select_one(".later")
    assert place["id"] == "later-1.2" and not place.select("a"), "its button leads nowhere"
    assert shown(cells["check-function"]).select_one("noscript a")["href"] == "#run-it"
    hints = shown(cells["hint"]).select("details")
    assert len(hints) == len(EXERCISES["1.2"].hints) and not any(hint.has_attr("open") for hint in hints)


def test_what_a_notebook_sets_holds_for_no_other():
    def settings():
        return torch.get_default_dtype(), str(torch.tensor(1 / 3)), torch.get_rng_state().tolist()

    sets = "torch.set_default_dtype(torch.float64); torch.set_printoptions(precision=2); torch.manual_seed(7)"
    before = settings()
    fails = new_code_cell(f"import torch\n{sets}\n1 / 0", metadata={"tags": ["raises-exception"]})
    outputs.run_here(new_notebook(cells=[fails]))
    assert settings() == before


# ---------------------------------------------------------------------------------------------- ways to run it


@pytest.mark.parametrize(
    "repository, on_colab, on_binder",
    [
        ("", "", ""),
        (
            "https://github.com/a/b",
            "https://colab.research.google.com/github/a/b/blob/gh-pages/run/colab/03_masking.ipynb",
            "https://mybinder.org/v2/gh/a/b/main?urlpath=lab/tree/my/03_masking.ipynb",
        ),
        (
            "https://git.example.org/a/b",
            "",
            "https://mybinder.org/v2/git/https%3A%2F%2Fgit.example.org%2Fa%2Fb/main?urlpath=lab/tree/my/03_masking.ipynb",
        ),
    ],
)
def test_one_setting_opens_every_lesson_elsewhere(monkeypatch, tmp_path, repository, on_colab, on_binder):
    text = f'[tool.course]\nrepository = "{repository and repository + ".git"}"\nsite = "https://a.github.io/b/"\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(addresses, "ROOT", tmp_path)
    assert addresses.addresses() == (repository, "https://a.github.io/b")
    ways = ways_to_run.how_to_run("03_masking")
    assert all(link in ways for link in (on_colab, on_binder)) and (" in <a " in ways) == bool(repository)
    assert ways_to_run.notebook_of("03_masking") == (on_colab or "#run-it")
    ways_to_run.write_for_colab(tmp_path / "colab")
    copies = sorted((tmp_path / "colab").glob("*.ipynb"))
    assert [path.name for path in copies] == [path.name for path in LESSONS if repository]
    for path in copies:
        first, *others = nbformat.read(path, as_version=4).cells
        assert f"git+{repository}.git" in first.source and "ATTENTION_COPY" in first.source
        assert not any(cell.get("outputs") for cell in others)
        hidden = [cell for cell in others if cell.metadata.get("jupyter", {}).get("source_hidden")]
        assert hidden and all(cell.source.startswith("# @title ") for cell in hidden), "Colab shows the code of others"


def test_the_zip_holds_the_course_and_nothing_of_a_learner(monkeypatch, tmp_path):
    left = ["attn_lib/__pycache__/a.pyc", "notebooks/.ipynb_checkpoints/b.ipynb", "my/b.ipynb", "node_modules/c.js"]
    for name in ["attn_lib/a.py", "course.py", *left]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(ways_to_run, "ROOT", tmp_path)
    for name in ("one.zip", "two.zip"):
        ways_to_run.pack(tmp_path / name)
    assert zipfile.ZipFile(tmp_path / "one.zip").namelist() == ["attention/attn_lib/a.py", "attention/course.py"]
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_jupyterlab_opens_a_lesson_with_the_drawing_of_its_page():
    """Of the lessons whose drawing is quickly made."""
    for number in (1, 5, 13):
        assert json.loads(openings.FILE.read_text(encoding="utf-8"))[str(number)] == cards.opening(number)
