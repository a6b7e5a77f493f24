"""In a learner's copy: which cell a missing name comes from, and what a line that raised leaves behind."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes
from traitlets.config import Config

from workbench import copies, lab, missing

CELLS = {
    "title": "# 9. A lesson",
    "imports": "import math",
    "first": "## Lengths",
    "sizes": "sizes = [3, 2]",
    "blank": "my_total = ...  # one line",
    "own": "# The course's own:\ntotal = sum(sizes)\nmy_total == total",
    "second": "## Means",
    "mean": "def mean():\n    return math.fsum(sizes) / total",
    "asks": "mean()",
    "exercise": "def my_mean(numbers):\n    ...",
    "check": "my_mean([1])",
    "later": "from operator import add",
}
TAGS = {"blank": ["blank"], "own": ["filled"], "exercise": ["exercise"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a learner's copies, in which the kernel works, on the one notebook."""
    (tmp_path / "notebooks").mkdir()
    publish(tmp_path)
    monkeypatch.chdir(tmp_path / "my")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "my/09_lesson.ipynb"))
    return tmp_path / "my"


def publish(root, **changes):
    """The course gives out an edition of the lesson, with some cells changed."""
    kinds = {id: new_markdown_cell if id in ("title", "first", "second") else new_code_cell for id in CELLS}
    texts = {**CELLS, **changes}
    cells = [kind(texts[id], id=id, metadata={"tags": TAGS.get(id, [])}) for id, kind in kinds.items()]
    (root / "notebooks/09_lesson.ipynb").write_text(writes(new_notebook(cells=cells)))
    copies.bring_up_to_date(root)


@pytest.fixture
def run(folder, capsys):
    """run(id or code, …): what the last of these cells shows, run one after the other."""
    shell = InteractiveShell.instance(config=Config(HistoryManager={"hist_file": ":memory:"}), colors="nocolor")
    shell.run_cell("from workbench.missing import watch; watch()")  # as `import attn_lib` does

    def run(*cells):
        for cell in cells:
            capsys.readouterr()
            shell.run_cell(copied(folder).get(cell, cell), store_history=True)
        return " ".join(capsys.readouterr().out.split())

    yield run
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def copied(folder):
    return {cell["id"]: cell["source"] for cell in copies.read(folder / "09_lesson.ipynb")["cells"]}


def change(folder, id, source=None):
    """Give a cell of the copy another source, or take it out, as a learner does who then saves."""
    notebook = copies.read(folder / "09_lesson.ipynb")
    cells = [cell for cell in notebook["cells"] if cell["id"] != id or source]
    notebook["cells"] = [{**cell, "source": source} if cell["id"] == id else cell for cell in cells]
    copies.write(folder / "09_lesson.ipynb", notebook)


@pytest.mark.parametrize(
    "ran, asks, told",
    [
        ((), "asks", ["`mean`", "the cell with `def mean():`", "“Means”"]),
        (("mean",), "asks", ["`math`", "the cell with `import math`", "“9. A lesson”", "Run All Above"]),
        (("imports", "mean"), "asks", ["`sizes`", "the cell with `sizes = [3, 2]`", "“Lengths”"]),
        (("imports", "sizes", "mean"), "asks", ["`total`", "a folded cell", "“Lengths”"]),
        (("imports",), "add(1, 2)", ["`add`", "from the cell with `from operator import add`"]),
    ],
)
def test_a_missing_name_is_told_by_the_cell_it_comes_from(run, ran, asks, told):
    shown = run(*ran, asks)
    assert all(words in shown for words in told) and shown.endswith("is not defined")


def test_vs_code_names_the_notebook_in_another_way(folder, run, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert "comes from" not in run("asks")
    InteractiveShell.instance().user_ns["__vsc_ipynb_file__"] = str(folder / "09_lesson.ipynb")
    assert "comes from" in run("asks")


def test_what_comes_only_later_is_called_so(folder, run):
    change(folder, "own", "add(1, 2)")
    assert "only further down" in run("own") and "only further down" not in run("asks")


def test_a_deleted_cell_is_told_with_its_place_and_text(folder, run):
    change(folder, "exercise")
    shown = run("check")
    assert "deleted" in shown and "“Means”" in shown and "def my_mean(numbers): ..." in shown


def test_a_cell_that_is_deleted_on_the_page_only_is_told_as_deleted(folder, run, monkeypatch):
    """JupyterLab saves every two minutes; the page says what it has whenever a cell goes or comes back."""
    monkeypatch.setattr(lab, "_on_page", {})
    ids = json.dumps(list(copied(folder)))
    told = '__import__("workbench.lab").lab.state_of_page("09_lesson.ipynb", {});'
    run(told.format(json.dumps([id for id in CELLS if id != "sizes"])))
    shown = run("imports", "own")
    assert "deleted" in shown and "Undo" in shown and "sizes = [3, 2]" in shown and "Run that cell" not in shown
    run(told.format(ids))
    assert "deleted" not in run("own")


def test_a_line_that_was_changed_away_is_told(folder, run):
    change(folder, "sizes", "lengths = [3, 2]")
    assert "`sizes = [3, 2]`" in run("imports", "own") and "gone" in run("own")


@pytest.mark.parametrize("asks", ["meen", "def f():\n    sizes += 1\nf()"])
def test_other_name_errors_read_as_python_writes_them(run, asks):
    shown = run("imports", asks)
    assert "Traceback" in shown and "comes from" not in shown


def test_outside_of_a_copy_nothing_is_changed(run, monkeypatch, folder):
    monkeypatch.setenv("JPY_SESSION_NAME", "elsewhere.ipynb")
    assert "Traceback" in run("asks")
    (folder / missing.BASELINE_FILE).unlink()
    shell = InteractiveShell()
    missing.load_ipython_extension(shell)
    assert shell.custom_exceptions == () and not shell.events.callbacks["post_run_cell"]


@pytest.mark.parametrize("slip", ["my_total = sum(size)", "my_total = sum(sizes", "my_total = 1 / 0"])
def test_a_blank_that_raised_has_no_value_for_the_next_cell(run, slip):
    run("imports", "sizes", "my_total = 7", slip)
    shown = run("own")
    assert "`my_total` has no value" in shown and "ended with an error" in shown
    assert "True" in run("my_total = 5", "own")


def test_what_a_failing_cell_only_uses_is_kept(run):
    assert "7" in run("my_total = 7", "my_total == 1 / 0", "my_total")


def test_copy_of_an_earlier_edition_says_what_moved(folder, run):
    publish(
        folder.parent,
        imports="from workbench.plots import heatmap\nfrom attn_lib.old import old_board",
        asks="old_board()",
    )
    change(folder, "imports", "import os\nfrom workbench.plots import heatmap\nfrom attn_lib.old import old_board")
    change(folder, "asks", "old_board(mine=1)")
    answers = {"blank": "my_total = 5", "exercise": "def my_mean(numbers):\n    return sum(numbers) / len(numbers)"}
    for id, answer in answers.items():
        change(folder, id, answer)

    new = "from workbench.display.plots import heatmap"
    publish(folder.parent, imports=new, asks="new_board()", check="my_mean([1, 3])")

    assert answers.items() <= copied(folder).items() and copied(folder)["check"] == "my_mean([1, 3])"
    sources = [*copied(folder).values()]
    assert sources[sources.index(copied(folder)["imports"]) + 1].endswith(f"yours stands above.\n{new}")
    for cell in ("imports", "asks"):
        assert "Its new version stands right below" in run(cell)
    assert "Write: from workbench.display.plots import heatmap " in run("from workbench.plots import heatmap as mine")
    assert "2.0" in run("sizes", "exercise", "check")
