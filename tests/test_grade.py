"""Grading: a folder of good, bad, endless, crashing and greedy notebooks becomes one table."""

import csv
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authors.grade import grade, main

IMPORTS = "import os, torch\nfrom attn_lib.exercises import check"
RIGHT = "def causal_mask(n_queries, n_keys):\n    return torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()"
TOP_LEFT = "def causal_mask(n_queries, n_keys):\n    return torch.ones(n_queries, n_keys).tril().bool()"
CHECK = 'check("3.2", causal_mask)'
ENDLESS = "import time\nwhile True:\n    time.sleep(0.01)"  # which leaves the processor to the other tests


def save(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = new_notebook(cells=[new_markdown_cell("# 3. Masking"), *map(new_code_cell, (IMPORTS, *cells))])
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """One run over every kind of hand-in, since each notebook costs a kernel."""
    folder, out = tmp_path_factory.mktemp("handed in"), tmp_path_factory.mktemp("out")
    save(folder / "good" / "03_masking.ipynb", RIGHT, CHECK)
    save(folder / "03_masking_topleft.ipynb", TOP_LEFT, CHECK)
    save(
        folder / "twice" / "renamed.ipynb",
        TOP_LEFT,
        CHECK,
        "def padding_mask(:",
        'check("3.1", padding_mask)',
        RIGHT,
        CHECK,
    )
    save(folder / "endless" / "03_masking.ipynb", ENDLESS, "hoard = torch.ones(2**32)", RIGHT, CHECK)
    save(folder / "crash" / "03_masking.ipynb", RIGHT, CHECK, "os._exit(1)", 'check("3.1", None)')
    (folder / "broken").mkdir()
    (folder / "broken" / "03_masking.ipynb").write_text("{", encoding="utf-8")
    (folder / ".ipynb_checkpoints").mkdir()
    save(folder / ".ipynb_checkpoints" / "03_masking.ipynb", TOP_LEFT, CHECK)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    options = {"cell_seconds": 8, "notebook_seconds": 40, "memory_mb": 1024, "show_progress": False}
    with ThreadPoolExecutor(1) as elsewhere:  # away from the event loop that a browser test may have left running here
        report = elsewhere.submit(grade, folder, out, **options).result()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before  # left as they were
    return report, {row.student: row for row in report.rows if row.exercise == "3.2"}


def test_every_student_is_there_once_and_no_checkpoint(graded):
    assert set(graded[1]) == {"good", "topleft", "twice", "endless", "crash", "broken"}


@pytest.mark.parametrize(
    ("student", "status", "misconception"),
    [
        ("good", "correct", ""),
        ("topleft", "wrong", "top-left"),
        ("twice", "correct", ""),  # the last verdict counts
        ("endless", "correct", ""),
        ("crash", "correct", ""),
        ("broken", "missing", ""),
    ],
)
def test_verdict(graded, student, status, misconception):
    row = graded[1][student]
    assert (row.status, row.misconception) == (status, misconception)


def test_what_went_wrong_is_noted(graded):
    notes = {student: row.note for student, row in graded[1].items()}
    assert notes["endless"] == "2 cells failed, the first with KeyboardInterrupt"  # the other had no memory
    assert notes["crash"] == "the kernel died"
    assert notes["twice"] == "2 cells failed, the first with SyntaxError"
    assert "could not be read" in notes["broken"]
    assert notes["good"] == ""


def test_exercises_of_the_notebook_without_a_check_are_missing(graded):
    rows = {row.exercise: row.status for row in graded[0].rows if row.student == "good"}
    assert rows == {"3.1": "missing", "3.2": "correct", "3.3": "missing"}


def test_tables_hold_every_row_and_what_the_class_got_wrong(graded):
    report = graded[0]
    with open(report.csv, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["student"], r["exercise"], r["status"]) for r in rows] == [
        (r.student, r.exercise, r.status) for r in report.rows
    ]
    assert report.commonest() == [("3.2", "top-left", 1)]
    page = report.html.read_text(encoding="utf-8")
    assert "The mask starts at the wrong corner" in page
    assert "1 of 6" in page


def test_the_command_prints_where_the_tables_are(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "03_masking_anna.ipynb").write_text("{}", encoding="utf-8")
    assert main([str(tmp_path / "in"), "--out", str(tmp_path / "out")]) == 0
    assert "1 students" in capsys.readouterr().out
    assert "anna,03_masking_anna.ipynb,3.1,missing" in (tmp_path / "out" / "verdicts.csv").read_text(
        encoding="utf-8-sig"
    )


def test_a_folder_without_notebooks_is_an_error_and_not_an_empty_table(tmp_path, capsys):
    assert main([str(tmp_path)]) == 1
    assert "no notebook" in capsys.readouterr().err
    assert main([str(tmp_path / "nowhere")]) == 1
