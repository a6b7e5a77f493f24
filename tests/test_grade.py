"""Grading: a folder of good, bad, endless, crashing and greedy notebooks becomes one table.

Nobody here is stopped for being slow: limits are generous, but for the cell and the notebook that never end.
"""

import asyncio
import csv
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import nbclient
import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authors import grade as grading
from authors.grade import Report, Row, Watch, grade, main

IMPORTS = "import os, torch\nfrom attn_lib.exercises import check"
RIGHT = "def causal_mask(n_queries, n_keys):\n    return torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()"
TOP_LEFT = "def causal_mask(n_queries, n_keys):\n    return torch.ones(n_queries, n_keys).tril().bool()"
CHECK = 'check("3.2", causal_mask)'
ENDLESS = "import time\nwhile True:\n    time.sleep(0.01)"  # which leaves the processor to the other tests


def save(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = new_notebook(cells=[new_markdown_cell("# 3. Masking"), *map(new_code_cell, (IMPORTS, *cells))])
    nbformat.write(notebook, path)


def elsewhere(function, *arguments, **options):
    """The function's result, computed away from the event loop that a browser test may have left running here."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(function, *arguments, **options).result()


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
    save(folder / "greedy" / "week 3" / "03_masking.ipynb", "hoard = torch.empty(2**32)", RIGHT, CHECK)
    save(folder / "crash" / "03_masking.ipynb", RIGHT, CHECK, "os._exit(1)", 'check("3.1", None)')
    (folder / "broken").mkdir()
    (folder / "broken" / "03_masking.ipynb").write_text("{", encoding="utf-8")
    (folder / ".ipynb_checkpoints").mkdir()
    save(folder / ".ipynb_checkpoints" / "03_masking.ipynb", TOP_LEFT, CHECK)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    report = elsewhere(grade, folder, out, memory_mb=1024, show_progress=False)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before  # left as they were
    return report, {row.student: row for row in report.rows if row.exercise == "3.2"}


def test_every_student_is_there_once_and_no_checkpoint(graded):
    assert set(graded[1]) == {"good", "topleft", "twice", "greedy", "crash", "broken"}


@pytest.mark.parametrize(
    ("student", "status", "misconception"),
    [
        ("good", "correct", ""),
        ("topleft", "wrong", "top-left"),
        ("twice", "correct", ""),  # the last verdict counts
        ("greedy", "correct", ""),
        ("crash", "correct", ""),
        ("broken", "missing", ""),
    ],
)
def test_verdict(graded, student, status, misconception):
    row = graded[1][student]
    assert (row.status, row.misconception) == (status, misconception)


def test_what_went_wrong_is_noted(graded):
    notes = {student: row.note for student, row in graded[1].items()}
    assert notes["greedy"] == "1 cells failed, the first with RuntimeError"  # torch had no memory
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


def test_a_notebook_is_named_by_its_path_below_the_students_folder(graded):
    names = {student: row.notebook for student, row in graded[1].items()}
    assert names["greedy"] == "week 3/03_masking.ipynb"
    assert names["good"] == "03_masking.ipynb" and names["topleft"] == "03_masking_topleft.ipynb"


# ---------------------------------------------------------------------------------------------------- limits


def hurried(monkeypatch, seconds):
    """The endless cell alone is stopped after so many seconds; returns what other cells were given."""
    given = []

    class Client(nbclient.NotebookClient):
        def __init__(self, notebook, **options):
            super().__init__(notebook, **options)
            given.append(options["timeout"])
            self.timeout_func = lambda cell: seconds if cell.source == ENDLESS else options["timeout"]

    monkeypatch.setattr(nbclient, "NotebookClient", Client)
    return given


def test_an_endless_cell_is_stopped_and_the_next_ones_run(tmp_path, monkeypatch):
    given = hurried(monkeypatch, 2)
    save(tmp_path / "03_masking_ada.ipynb", ENDLESS, RIGHT, CHECK)
    report = elsewhere(grade, tmp_path, cell_seconds=997, show_progress=False)
    (row,) = [row for row in report.rows if row.exercise == "3.2"]
    assert (row.status, row.note) == ("correct", "1 cells failed, the first with KeyboardInterrupt")
    assert given == [997]


def test_an_endless_notebook_is_stopped_and_says_when(tmp_path, monkeypatch):
    given, timeout = [], asyncio.timeout
    monkeypatch.setattr(asyncio, "timeout", lambda seconds: given.append(seconds) or timeout(seconds))
    save(tmp_path / "03_masking_ada.ipynb", ENDLESS)
    report = elsewhere(grade, tmp_path, notebook_seconds=4, show_progress=False)
    assert {(row.status, row.note) for row in report.rows} == {("missing", "stopped after 4 seconds")}
    assert 4 in given


def test_the_command_passes_its_limits_on_in_the_units_that_it_names(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(grading, "_run", lambda notebook, limits: (seen.append(limits), ({}, ""))[1])
    save(tmp_path / "03_masking_ada.ipynb")
    assert main([str(tmp_path)]) == 0
    assert main([str(tmp_path), "--cell-seconds", "5", "--notebook-seconds", "50", "--memory-mb", "500"]) == 0
    assert [(x.cell_seconds, x.notebook_seconds, x.memory) for x in seen] == [(60, 600, 2048 << 20), (5, 50, 500 << 20)]


@pytest.mark.parametrize(("allowed_mb", "killed"), [(100, True), (2000, False)])
def test_where_the_system_sets_no_limit_a_greedy_kernel_is_ended(allowed_mb, killed):
    """The watch allows half a GB on top, which a kernel with torch has; this process holds 300 MB."""
    code = "hoard = b'x' * (300 << 20); print('has it', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().strip() == b"has it"
        client = SimpleNamespace(km=SimpleNamespace(provisioner=SimpleNamespace(pid=process.pid)))
        watch = Watch(client, (allowed_mb << 20) - 2**29)
        watch.look()
        assert watch.killed == killed
        if not killed:
            assert process.poll() is None
            process.communicate(b"\n")
    assert (process.returncode != 0) == killed
    watch.look()  # a process that is gone is no reason to stop watching


# ------------------------------------------------------------------------------------------------- the tables


def written(rows, folder):
    """The class's table, each student's table and the CSV, each as rows of texts."""
    report = Report(rows)
    grading._write(report, folder)
    page = BeautifulSoup(report.html.read_text(encoding="utf-8"), "html.parser")
    cells = [[[c.get_text(" ") for c in row.select("th, td")] for row in table.select("tr")] for table in page("table")]
    with open(report.csv, encoding="utf-8-sig", newline="") as file:
        return *cells, list(csv.reader(file))


def wrong(student, exercise, misconception, name="x.ipynb"):
    return Row(student, name, exercise, "wrong", misconception)


def test_the_commonest_mistake_comes_first_and_a_student_counts_once(tmp_path):
    rows = [wrong("a", "3.2", "top-left"), wrong("a", "3.2", "top-left", "again.ipynb"), wrong("b", "3.2", "top-left")]
    rows += [wrong(student, "3.1", "shape-2d") for student in "abc"] + [Row("d", "x.ipynb", "3.2", "correct")]
    assert Report(rows).commonest() == [("3.1", "shape-2d", 3), ("3.2", "top-left", 2)]
    mistakes, _, _ = written(rows, tmp_path)
    assert [(row[0], row[2]) for row in mistakes[1:]] == [("3.1", "3 of 4"), ("3.2", "2 of 4")]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_name_reaches_a_spreadsheet_as_a_formula(tmp_path, name):
    _, rows = written([Row(name, f"{name}.ipynb", "3.2", "correct", "", "=note")], tmp_path)
    assert rows[1] == [f"'{name}", f"'{name}.ipynb", "3.2", "correct", "", "'=note"]


def test_names_are_text_and_no_markup(tmp_path):
    students, _ = written([Row("<b>ada</b>", "<i>x.ipynb", "3.2", "correct", "", "<u>")], tmp_path)
    assert students[1][0] == "<b>ada</b>" and students[1][-1] == "<i>x.ipynb: <u>"


def test_the_table_has_a_sign_for_each_exercise_and_a_verdict_counts_more_than_none(tmp_path):
    rows = [Row("ada", "a.ipynb", "3.1", "missing"), Row("ada", "b.ipynb", "3.1", "correct")]
    rows += [Row("ada", "b.ipynb", "3.2", "unattempted"), Row("bob", "c.ipynb", "3.1", "wrong", "top-left", "slow")]
    _, students, _ = written(rows, tmp_path)
    assert students == [
        ["student", "3.1", "3.2", "notes"],
        ["ada", "✓", "…", ""],
        ["bob", "✗ top-left", "", "c.ipynb: slow"],
    ]


@pytest.mark.parametrize(
    ("path", "student", "exercises"),
    [
        ("ada/03_masking.ipynb", "ada", "3"),
        ("ada/my answers.ipynb", "ada", ""),
        ("ada_03_masking.ipynb", "ada", "3"),
        ("03_masking-ada.ipynb", "ada", "3"),
        ("ada.ipynb", "ada", ""),
        ("03_masking.ipynb", "(no name)", "3"),
    ],
)
def test_whose_and_which_a_notebook_is(tmp_path, path, student, exercises):
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("{", encoding="utf-8")
    rows = grade(tmp_path, show_progress=False).rows
    assert {row.student for row in rows} == {student}
    assert {row.exercise[:1] for row in rows} == {exercises}


def test_a_verdict_that_was_cut_off_or_made_up_does_not_count(tmp_path):
    record = tmp_path / "verdicts.jsonl"
    lines = [
        '{"exercise": "3.2", "status": "correct", "misconception": null}',
        '{"exercise": "99", "status": "correct"}',
    ]
    lines += ['{"exercise": "3.1", "status": "perfect", "misconception": null}', '{"exercise": "3.3", "sta']
    record.write_text("\n".join(lines), encoding="utf-8")
    assert grading._last_verdicts(record) == {"3.2": ("correct", None)}
    assert grading._last_verdicts(tmp_path / "none") == {}


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
