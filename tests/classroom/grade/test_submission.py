"""What was handed in: every file found, read, named for what it is, and chosen among a student's own."""

import datetime
import io
import os
import zipfile
from pathlib import PurePosixPath

import pytest
from grading import RIGHT, notebook_with

from classroom.grade.submissions import owners
from classroom.grade.submissions.extract import Cell, answer_in, read_cells
from classroom.grade.submissions.submission import Submission, choose, submissions_in, whose
from workbench.exercises.engine.exercise import EXERCISES

LESSON_3 = [id for id in EXERCISES if id.startswith("3.")]


def test_exercises_are_found_whatever_the_file_is_called(tmp_path):
    renamed = notebook_with(tmp_path / "in" / "ada" / "my answers.ipynb", e2=RIGHT)
    (tmp_path / "in" / "bob.py").write_text(
        f"# In[7]:\nx = 1\n# In[3]:\n{RIGHT}\n# In[4]:\nget_ipython().run()", "utf-8"
    )
    (tmp_path / "in" / "eve.PY").write_text(f"import torch\n{RIGHT}\nprint(my_causal_mask(2, 3))", "utf-8")
    with zipfile.ZipFile(tmp_path / "in" / "zoe.ZIP", "w") as archive:
        archive.writestr("week 3/answers.ipynb", renamed.read_bytes())
        archive.writestr("__MACOSX/week 3/._answers.ipynb", "x")
    cells = read_cells(renamed.read_text(encoding="utf-8"))
    moved = [*(cell for cell in cells if "my_causal_mask" in cell.binds), *cells]
    found = {submission.owner.name: submission for submission in submissions_in(tmp_path / "in")}
    assert {name: submission.problem for name, submission in found.items()} == dict.fromkeys(
        ("ada", "bob", "eve", "zoe"), ""
    )
    for submission in found.values():
        assert submission.exercises == LESSON_3
        assert answer_in(submission.cells, "3.2").shown == RIGHT
        assert answer_in(submission.cells, "3.1").expressions == []
    assert answer_in(moved, "3.2").expressions == ["my_causal_mask"]
    with zipfile.ZipFile(tmp_path / "ALL.ZIP", "w") as archive:
        archive.writestr("ada/answers.py", RIGHT)
    (ada,) = submissions_in(tmp_path / "ALL.ZIP")
    assert (ada.owner.name, ada.exercises) == ("ada", LESSON_3)


@pytest.mark.parametrize(
    ("path", "name", "number", "place"),
    [
        ("ada/03_masking.ipynb", "ada", "", "ada"),
        ("ada/week 3/my answers.ipynb", "ada", "", "ada"),
        ("ada_03_masking.ipynb", "ada", "", "ada_03_masking.ipynb"),
        ("03_masking-ada.ipynb", "ada", "", "03_masking-ada.ipynb"),
        ("ada_03_masking_lovelace.ipynb", "ada lovelace", "", "ada_03_masking_lovelace.ipynb"),
        ("ada_03_masking.ipynb.txt", "ada", "", "ada_03_masking.ipynb.txt"),
        ("ada.zip/03_masking.ipynb", "ada", "", "ada.zip"),
        ("王小明.ipynb", "王小明", "", "王小明.ipynb"),
        ("03_masking.ipynb", "(no name)", "", "03_masking.ipynb"),
        ("Ada L_47_assignsubmission_file_/03_masking.ipynb", "Ada L", "47", "Ada L_47_assignsubmission_file_"),
        ("Ada L_47_assignsubmission_file_a.ipynb", "Ada L", "47", "Ada L_47_assignsubmission_file_a.ipynb"),
        ("Ada L_47_assignsubmission_onlinetext_/a.ipynb", "Ada L", "47", "Ada L_47_assignsubmission_onlinetext_"),
        ("Participant_47_assignsubmission_file_/a.py", "Participant 47", "47", "Participant_47_assignsubmission_file_"),
        ("lovelaceada_123_456_03_masking.ipynb", "lovelaceada", "123", "lovelaceada_123_456_03_masking.ipynb"),
        ("lovelaceada_LATE_123_456_a.ipynb", "lovelaceada", "123", "lovelaceada_LATE_123_456_a.ipynb"),
        ("all.zip/Ada L_47_assignsubmission_file_/a.py", "Ada L", "47", "all.zip/Ada L_47_assignsubmission_file_"),
    ],
)
def test_path_says_whose_a_file_is(path, name, number, place):
    owner, where, late = whose(PurePosixPath(path))
    assert (owner.name, owner.number, where, late) == (name, number, place, "LATE" in path)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.py", f"{RIGHT}  # größer".encode("cp1252")),
        ("a.py", f"{RIGHT}  # größer".encode("utf-16")),
        ("a.py", f"{RIGHT}  # größer".encode("utf-8-sig")),
        ("a.py", b'{"cells": [{"cell_type": "code", "source": "my_causal_mask = 1"}]}'),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": "my_causal_mask = 1"}]}'.encode("utf-16")),
        ("a.ipynb", RIGHT.encode()),
    ],
)
def test_file_is_read_whatever_wrote_and_named_it(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    (found,) = submissions_in(tmp_path)
    assert not found.problem and "3.2" in found.exercises


def zipped(compression=zipfile.ZIP_DEFLATED, **files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return data.getvalue()


def locked():
    data = bytearray(zipped(a_py="x = 1"))
    data[data.rindex(b"PK\x01\x02") + 8] |= 1  # as it says of an entry in its table of contents
    return bytes(data)


def damaged():
    data = zipped(a_py="x = 1\n" * 99)
    return data[:34] + b"\xff" * 3 + data[37:]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.ipynb", b"", "cannot be read: it is empty (0 bytes)"),
        ("a.py", b" \n", "cannot be read: it is empty (2 bytes)"),
        ("a.ipynb", b"%PDF-1.7", "cannot be read: it is a PDF"),
        ("a.ipynb", b"<!DOCTYPE html><html>", "cannot be read: it is a web page"),
        ("a.py", b"PK\x03\x04", "cannot be read: it is a .zip"),
        ("a.zip", b"", "cannot be read: it is empty"),
        ("a.zip", b"Rar!\x1a\x07", "cannot be read: it is a .rar"),
        ("a.zip", b"PK\x03\x04 cut", "cannot be read: it is cut off"),
        ("a.ipynb", b'{"cells": [{"cell_type": "co', "cannot be read: it is cut off"),
        ("a.ipynb", "{'ü': 1}".encode("cp1252"), "cannot be read: it is not UTF-8"),
        ("a.ipynb", b"my answers", "cannot be read: it is not a notebook"),
        ("a.ipynb", f"<<<<<<< HEAD\n{RIGHT}".encode(), "cannot be read: it is not a notebook"),
        ("a.ipynb", b"{}", "cannot be read: it is not a notebook"),
        ("a.ipynb", b'{"cells": 3}', "cannot be read: it is not a notebook"),
        ("a.py", b"x\0\x01", "cannot be read: it is not text"),
        ("a.docx", b"PK", "not a notebook, .py or .zip (.docx)"),
        ("a.py", b"print(1)", "no exercise of this course in it"),
        ("a.zip", zipped(), "cannot be read: there is nothing in it"),
        ("a.zip", zipped(**{f"{i}_py": "" for i in range(501)}), "cannot be read: more than 500 files"),
        ("a.zip", zipped(inner_zip="x"), "a .zip in a .zip, which is not opened"),
        ("a.zip", locked(), "cannot be read: it is locked with a password"),
        ("a.zip", damaged(), "cannot be read: Error -3 while decompressing"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_unreadable_file_is_named_for_what_it_is(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    (found,) = submissions_in(tmp_path)
    assert found.problem.startswith(said)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ipynb", b"x" * 301),
        ("a.zip", zipped(zipfile.ZIP_STORED, a_py="#" * 301)),
        ("a.zip", zipped(a_py="#" * 301)),  # as it lies there it is small enough
    ],
)
def test_too_large_file_is_not_read(tmp_path, monkeypatch, name, data):
    monkeypatch.setattr("classroom.grade.submissions.submission.LARGEST", 300)
    (tmp_path / name).write_bytes(data)
    assert "larger than" in submissions_in(tmp_path)[0].problem


def test_zip_of_too_much_together_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("classroom.grade.submissions.submission.LARGEST", 3000)
    (tmp_path / "many.zip").write_bytes(zipped(**{f"{i}_py": "#" * 2900 for i in range(5)}))
    assert "more than 500 files or" in submissions_in(tmp_path)[0].problem


def test_hidden_files_tables_and_links_are_no_submissions(tmp_path):
    for name in (".hidden.ipynb", "roster.csv", "ada/__pycache__/x.pyc", "ada/roster.csv", "b.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "b.ipynb")
    found = {submission.path: submission.problem for submission in submissions_in(tmp_path)}
    assert sorted(found) == ["ada/roster.csv", "b.ipynb", "link.ipynb"]
    assert found["link.ipynb"] == "a link, which is not followed"
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="nothing in"):
        submissions_in(tmp_path / "empty")


def test_newest_in_time_counts_and_of_one_attempt_the_fullest():
    def made(path, when, *sources):
        cells = [Cell(source, place=i) for i, source in enumerate(sources)]
        return Submission("ada", path, when, cells, digest=path, exercises=LESSON_3)

    padding = "def my_padding_mask(lengths, max_len):\n    return 1"
    old, new, full = made("old", 1, RIGHT), made("new", 2, RIGHT), made("full", 0, RIGHT, padding)

    def counting(*files):
        (versions,) = choose(files, lambda submission, number: submission.came >= noon)
        return versions.picks[0], list(versions.others(versions.picks[0]))

    noon = datetime.datetime(2026, 5, 3, 12, tzinfo=datetime.UTC)
    assert counting(new, old) == (new, [(old, "does not count: new is newer")])
    assert counting(new, full) == (full, [(new, "does not count: full answers more exercises")])
    for hours, counts, why in (((-2, -1, -3), new, "newer"), ((1, 2, 3), full, "newer"), ((-1, 1, 2), old, "in time")):
        for submission, hour in zip((old, new, full), hours, strict=True):
            submission.came = noon + datetime.timedelta(hours=hour)
        best, others = counting(old, new, full)
        assert best == counts and all(said.endswith(why) for _, said in others) and len(others) == 2
    blank = made("blank", 3)
    blank.came = noon - datetime.timedelta(minutes=1)
    assert counting(blank, old)[0] == old, "nobody takes an answer back with an empty file"
    old.digest = new.digest
    old.came = None
    assert counting(new, old)[1] == [(old, "does not count: new is the same")]


def test_newest_file_in_a_zip_or_folder_counts(tmp_path):
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        for name, day in (("a.py", 9), ("b.py", 10), ("c.py", 8)):
            archive.writestr(zipfile.ZipInfo(name, (2026, 5, day, 0, 0, 0)), f"\ufeff{RIGHT}\n# {name}")

    def chosen():
        found = submissions_in(tmp_path)
        owners.assign_students(found, [])
        return [versions.picks[0] for versions in choose(found)]

    (best,) = chosen()
    assert best.path == "ada.zip/b.py" and not best.problem
    for name, when in (("a.py", 5), ("b.py", 9), ("c.py", 7)):  # and in a folder
        (tmp_path / "bob").mkdir(exist_ok=True)
        (tmp_path / "bob" / name).write_text(f"{RIGHT}\n# {name}")
        os.utime(tmp_path / "bob" / name, (when, when))
    assert [best.path for best in chosen()] == ["ada.zip/b.py", "bob/b.py"]
