"""What `progress` keeps in a file and shows, whatever happens to the file; what a class is told of an attempt."""

import json
import threading
import time

import pytest
import torch
from filelock import FileLock

from workbench import progress as kept
from workbench import shared_json
from workbench.exercises import check, progress
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.verdict import Verdict
from workbench.places import PROGRESS_FILE

pytestmark = pytest.mark.usefixtures("own_folder")


def my_causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)


def my_masked_softmax(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


def test_progress_keeps_what_was_done():
    check("3.2", lambda n, k: torch.ones(n, k))
    assert kept.load() == {"3.2": "tried"}
    check("3.2", my_causal_mask)
    check("3.2", lambda n, k: torch.ones(n, k))
    assert kept.load() == {"3.2": "done"}
    of_this_notebook = [id for id in EXERCISES if id.startswith("3.")]
    lines = str(progress()).splitlines()
    assert lines[0].startswith(f"1 of {len(of_this_notebook)} exercises done;")
    assert [line.split()[0] for line in lines[1:]] == of_this_notebook
    assert "✓ done" in progress()._repr_html_()
    check("3.3", lambda scores, mask: scores)
    assert kept.load() == {"3.2": "done", "3.3": "tried"}  # one does not push out the other


def test_progress_before_the_first_check_names_no_number(monkeypatch):
    fresh = str(progress())
    assert fresh and not any(digit in fresh for digit in "0123456789")
    monkeypatch.setitem(EXERCISES, "99.1", EXERCISES["3.2"])
    assert str(progress()) == fresh


def test_two_notebooks_at_once_lose_nothing(own_folder):
    ids = list(EXERCISES)[:20]
    halves = ids[::2], ids[1::2]
    ready = threading.Barrier(len(halves))  # two threads stand for two kernels: each opens the file and its lock anew
    notebooks = [threading.Thread(target=_store_all, args=(own_folder, half, ready.wait)) for half in halves]
    for notebook in notebooks:
        notebook.start()
    for notebook in notebooks:
        notebook.join()
    assert kept.load(own_folder) == dict.fromkeys(ids, "done")


def _store_all(folder, ids, wait=lambda: None):
    wait()
    for id in ids:
        assert kept.store(Verdict(id, "correct"), folder)


def test_a_notebook_waits_while_another_one_writes(own_folder):
    def tries():
        kept.store(Verdict("2.1", "wrong"), own_folder)
        kept.store(Verdict("1.1", "correct"), own_folder)

    with FileLock(str(own_folder / PROGRESS_FILE) + ".lock"):
        other = threading.Thread(target=tries)
        other.start()
        other.join(0.3)
        shared_json.replace(own_folder / PROGRESS_FILE, '{"2.1": "done"}')
    other.join()
    assert kept.load(own_folder) == {"1.1": "done", "2.1": "done"}


def test_no_more_is_promised_where_every_notebook_was_begun(own_folder):
    (own_folder / PROGRESS_FILE).write_text(json.dumps(dict.fromkeys(EXERCISES, "tried")))
    assert str(progress()).startswith(f"0 of {len(EXERCISES)} exercises done\n")


def test_progress_is_kept_where_a_variable_says(own_folder, monkeypatch):
    (own_folder / "else").mkdir()
    monkeypatch.setenv("ATTENTION_PROGRESS", str(own_folder / "else"))
    check("3.2", my_causal_mask)
    assert kept.load(own_folder / "else") == {"3.2": "done"} and kept.load(own_folder) == {}


def test_a_disk_that_is_full_costs_nothing_of_what_was_kept(own_folder, monkeypatch):
    def half(path, text, **options):
        path.write_bytes(text[:5].encode())
        raise OSError("no space left")

    assert kept.store(Verdict("1.1", "correct"))
    monkeypatch.setattr("pathlib.Path.write_text", half)
    assert not kept.store(Verdict("2.1", "correct"))
    assert kept.load() == {"1.1": "done"}


@pytest.mark.parametrize("times", [3, 1000])
def test_a_file_in_use_is_waited_for_but_not_for_ever(own_folder, monkeypatch, times):
    replace, held = shared_json.os.replace, iter(range(times))

    def refusing(*paths):
        if next(held, None) is not None:
            raise PermissionError("in use")
        replace(*paths)

    monkeypatch.setattr(shared_json.os, "replace", refusing)
    monkeypatch.setattr(shared_json.time, "sleep", lambda seconds: None)
    stored = kept.store(Verdict("1.1", "correct"))
    assert stored == (times == 3) == (kept.load() == {"1.1": "done"})
    assert not [path for path in own_folder.iterdir() if not path.name.endswith((".json", ".lock"))]


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"3.2": 7, "x": "done"}', '{"3.2": []}', '{"3.2": "7 of 0"}'])
def test_a_damaged_file_costs_nothing_but_itself(own_folder, content):
    (own_folder / PROGRESS_FILE).write_text(content)
    progress()
    check("3.2", my_causal_mask)
    assert kept.load()["3.2"] == "done"


def test_a_folder_without_write_access_is_said_once(monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError("read-only")

    kept.store(Verdict("3.3", "correct"))
    monkeypatch.setattr(shared_json, "replace", refuse)
    verdict = check("3.2", my_causal_mask)
    assert verdict.status == "correct" and "could not be saved" in verdict.message
    for answer in (lambda scores, mask: scores, my_masked_softmax):  # nothing to be added
        assert "could not be saved" not in check("3.3", answer).message


def test_a_folder_that_is_gone_costs_only_the_progress(own_folder, monkeypatch):
    (own_folder / "gone").mkdir()
    monkeypatch.chdir(own_folder / "gone")
    (own_folder / "gone").rmdir()
    verdict = check("3.2", my_causal_mask)
    assert verdict.status == "correct" and "could not be saved" in verdict.message


def test_a_class_is_told_of_attempts_and_the_learner_knows(own_folder, monkeypatch):
    (own_folder / "class").mkdir()
    monkeypatch.setenv("ATTENTION_LIVE", str(own_folder / "class"))
    monkeypatch.setenv("ATTENTION_NAME", "../王小明 <b>")
    before = time.time()
    assert "teacher" not in check("3.2", ...).message
    assert "Your teacher sees this result" in check("3.2", lambda n, k: torch.ones(n, k).tril().bool()).message
    (file,) = (own_folder / "class").iterdir()
    assert file.name == ".._王小明__b_.jsonl"
    (line,) = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert before - 1 < line.pop("time") < time.time() + 1
    assert line == {"exercise": "3.2", "status": "wrong", "misconception": "top-left"}
    assert kept.load() == {"3.2": "tried"}
    check("3.2", my_causal_mask)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["status"] for line in lines] == ["wrong", "correct"]
    monkeypatch.delenv("ATTENTION_NAME")
    monkeypatch.setattr("getpass.getuser", lambda: "anna")
    check("3.2", my_causal_mask)
    assert (own_folder / "class/anna.jsonl").is_file()
    monkeypatch.setenv("ATTENTION_LIVE", str(own_folder / "nowhere"))
    verdict = check("3.2", my_causal_mask)
    assert verdict.status == "correct" and "teacher" not in verdict.message, "nobody was told"
