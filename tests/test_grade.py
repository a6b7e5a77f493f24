"""Grading: what counts is found, what a student's code can do is bounded, and what comes out can be handed on.

tests/hand_ins holds hand-ins as students made them, honest, broken and hostile: the first line of each is what is to
come of it. Of a hostile one the lines below say what it got from the grader of before, which ran the notebooks.
"""

import contextlib
import socket
from pathlib import Path

import nbformat
import pytest
import torch
from fill_in import fill_in

from attn_lib.exercises import runner
from attn_lib.exercises.catalogue import EXERCISES
from attn_lib.exercises.clinic.patient import Case
from attn_lib.exercises.function import Function
from authors.grade import judge
from authors.grade.answers import NOTEBOOKS, Cell, answer_in, course, exercises_in, read_cells, split_script
from authors.grade.confine import Host, Limits, best_host, bubblewrap
from authors.grade.judge import judge_one
from authors.grade.remote import RemoteFunction, Student

HAND_INS = Path(__file__).parent / "hand_ins"
RIGHT = "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril(k - q).bool()"
TOP_LEFT = "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril().bool()"
FILES = sorted(HAND_INS.rglob("*.py"))


@pytest.fixture(scope="module")
def host():
    """Students' processes as this machine can confine them best; generous, since nobody is stopped for being slow."""
    host, _ = best_host(Limits(seconds=100, memory_mb=300))
    with host, probes_drawn_anew(seed=1):
        yield host


@contextlib.contextmanager
def probes_drawn_anew(seed):
    """As in a grader's process; other tests find the course's own probes again."""
    exercises = [*EXERCISES.values(), *(case.mending for case in EXERCISES.values() if isinstance(case, Case))]
    before = [vars(exercise).copy() for exercise in exercises]
    limit = runner.LIMIT_S
    judge.draw_probes(seed)
    yield
    runner.LIMIT_S = limit
    for exercise, was in zip(exercises, before, strict=True):
        vars(exercise).clear()
        vars(exercise).update(was)


def judged(host, id, *sources):
    return judge_one(answer_in([Cell(source, place=i) for i, source in enumerate(sources)], id), host)


def expectations(path):
    """(exercise, status, mistake) for each that the first line of a hand-in names."""
    for words in path.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ").split("; "):
        id, status, *mistake = words.split()
        yield id, status, "".join(mistake)


# ------------------------------------------------------------------------------------------------------ the judge


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_hand_in(host, path):
    cells = split_script(path.read_text(encoding="utf-8"))
    assert set(exercises_in(cells)) >= {id for id, _, _ in expectations(path)}
    for id, status, mistake in expectations(path):
        result = judge_one(answer_in(cells, id), host)
        assert (result.status, result.misconception) == (status, mistake or result.misconception), result.message
        assert result.share == (status == "correct") or path.stem == "patient_half_mended" or id == "6.1"


def test_there_are_enough_of_them():
    assert len(FILES) >= 40
    assert min(sum(path.parent.name == kind for path in FILES) for kind in ("honest", "broken", "hostile")) >= 15


NAMES = [path.stem for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))]


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_is_no_tick(name):
    """Each exercise in turn is deleted, broken, emptied and commented out, in a notebook in which all are answered."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    ids = fill_in(notebook)
    cells = read_cells(nbformat.writes(notebook))
    places = [i for i, cell in enumerate(cells) if "exercise" in cell.tags]
    assert ids == [id for id, asked in course().asked.items() if asked.notebook == name]
    for id, place in zip(ids, places, strict=True):
        answered = cells[place].source
        assert answer_in(cells, id).expressions
        commented = "".join(f"# {line}\n" for line in answered.splitlines())
        for without, status in ((None, "missing"), (f"({answered}", "wrong"), ("", "missing"), (commented, "missing")):
            instead = [] if without is None else [Cell(without, cells[place].id, cells[place].tags, place)]
            spoilt = [*cells[:place], *instead, *cells[place + 1 :]]
            result = judge_one(answer_in(spoilt, id), host=None)  # nobody needs to be asked
            assert (result.status, result.share) == (status, 0.0), (id, without)
            assert id in exercises_in(spoilt)


def test_every_exercise_is_judged_by_the_courses_own_answer(host):
    """The course's lines are found: what it shows as solution is right, where it can be run as it stands."""
    for id in ("2.1", "3.1", "3.3", "4.1", "4.2", "6.1", "6.3"):
        name = EXERCISES[id].asks.partition("(")[0]
        source = EXERCISES[id].solution()
        if not id.startswith("6"):
            source = source.replace(f"def {EXERCISES[id].reference.__name__}(", f"def {name}(")
        assert judged(host, id, source).status == "correct", id


def test_a_hand_in_over_its_time_is_told_so_and_the_next_goes_on(host):
    host.limits, before = Limits(seconds=1, memory_mb=300), host.limits
    try:
        endless = judged(host, "3.2", "def my_causal_mask(n_queries, n_keys):\n    while True: pass")
        in_the_cell = judged(host, "3.2", "while True: pass\ndef my_causal_mask(n_queries, n_keys): return 1")
    finally:
        host.limits = before
    assert (endless.status, endless.note) == ("wrong", "stopped after 1 seconds")
    assert "had not come back after 1 seconds" in endless.message
    assert (in_the_cell.status, in_the_cell.note) == ("wrong", "stopped after 1 seconds")
    assert judged(host, "3.2", RIGHT).status == "correct"


def numbers_of(probe):
    return str([list(arg.parameters()) if isinstance(arg, torch.nn.Module) else arg for arg in probe])


def test_probes_are_drawn_anew_and_every_exercise_has_some():
    functions = {id: exercise for id, exercise in EXERCISES.items() if isinstance(exercise, Function)}
    functions = {id: exercise for id, exercise in functions.items() if not callable(exercise.probes[0][0])}
    before = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    with probes_drawn_anew(seed=11):
        one = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    with probes_drawn_anew(seed=12):
        other = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    for id in functions:
        new, others = set(one[id]) - set(before[id]), set(other[id]) - set(before[id])
        assert new and others and new != others, id
    assert {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()} == before


# ---------------------------------------------------------------------------------------------------- confinement

LOOK = """
import os, socket, subprocess
def look(*_):
    seen = {"uid": os.getuid(), "env": sorted(os.environ), "root": sorted(os.listdir("/")), "here": os.listdir(".")}
    for name in %r:
        try:
            seen[name] = open(name).read(20)
        except OSError as error:
            seen[name] = type(error).__name__
    try:
        open(%r, "w").write("mine")
        seen["course"] = "written"
    except OSError as error:
        seen["course"] = type(error).__name__
    try:
        socket.create_connection(("127.0.0.1", %d), timeout=5).close()
        seen["network"] = "reached"
    except OSError as error:
        seen["network"] = "none"
    open("left behind", "w").write("here")
    child = subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            import time
            time.sleep(1000)
        os._exit(0)
    seen["processes"] = len([name for name in os.listdir("/proc") if name.isdigit()])
    return seen
"""


def looked(host, source):
    with host.student() as channel:
        student = Student(channel, 100)
        what = {"exercise": "3.2", "own": [], "without": False, "lesson": []}
        told, _ = student.load(**what, cells=[["<cell>", source]], answer=["look"])
        assert told["parts"] == [["function"]], told
        return RemoteFunction(student, 0)()


def processes_of(host):
    import psutil

    return len(psutil.Process(host.process.pid).children(recursive=True))


def test_behind_bubblewrap_nothing_of_the_teachers_is_seen_reached_or_left(host, tmp_path, monkeypatch):
    if not host.bwrap:
        pytest.skip("bubblewrap is not installed, or does not work here")
    monkeypatch.setenv("TEACHERS_SECRET", "x")
    (tmp_path / "neighbour.py").write_text("my answer")
    seen_before = processes_of(host)
    with socket.create_server(("127.0.0.1", 0)) as server:
        names = [str(tmp_path / "neighbour.py"), "/etc/passwd", str(NOTEBOOKS / f"{NAMES[0]}.ipynb"), "/proc/1/environ"]
        source = LOOK % (names, str(NOTEBOOKS.parent / "attn_lib" / "masks.py"), server.getsockname()[1])
        seen = looked(host, source)
    assert [seen[name] for name in names[:3]] == ["FileNotFoundError"] * 3
    assert seen["/proc/1/environ"] == "PermissionError"
    assert seen["course"] == "OSError" and seen["network"] == "none"  # read-only
    assert seen["uid"] != 0 and "TEACHERS_SECRET" not in seen["env"]
    assert not {"home", "root", "work", "tmp"} & set(seen["root"]) - {"tmp", *NOTEBOOKS.parts, *seen_parts()}
    assert seen["processes"] < 10
    assert processes_of(host) == seen_before  # the detached ones too
    assert looked(host, source)["here"] == []  # the folder was emptied


def seen_parts():
    """Folders on the way to Python and the course."""
    import sys

    return {part for path in (sys.prefix, sys.base_prefix) for part in Path(path).parts}


def test_without_bubblewrap_detached_processes_end_too_and_it_is_said_what_cannot_be_prevented(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("TEACHERS_SECRET", "x")
    host, words = best_host(Limits(seconds=100, memory_mb=300))
    with host:
        assert host.bwrap is None
        assert words.startswith("bubblewrap is not installed: ") and "cannot be prevented" in words
        seen = looked(host, LOOK % ([], "/nowhere/x", 1))
        assert processes_of(host) == 0
        assert "TEACHERS_SECRET" not in seen["env"] and seen["here"] == []
        assert looked(host, LOOK % ([], "/nowhere/x", 1))["here"] == []
        assert judged(host, "3.2", RIGHT).status == "correct"
    assert not Path(seen.get("folder", "/nowhere")).exists()


def test_where_there_is_no_fork_each_answer_has_a_process_of_its_own():
    with Host(Limits(seconds=100)) as host:
        pass
    host.forks = False
    assert judged(host, "1.1", "answer = [1.5105, 3.3094, 2.2658]").status == "correct"


def test_the_command_line_of_bubblewrap(monkeypatch):
    for root in (True, False):
        monkeypatch.setattr("os.geteuid", lambda root=root: 0 if root else 1000)
        command = bubblewrap("/usr/bin/bwrap")
        assert {"--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc"} <= set(command)
        assert ("--unshare-user" in command) != root
        bound = [command[i + 1] for i, word in enumerate(command) if word == "--ro-bind"]
        assert str(NOTEBOOKS.parent) not in bound and str(NOTEBOOKS) not in bound
        assert not any(word in ("--bind", "--dev-bind") for word in command)
        assert command[command.index("--cap-drop") + 1] == "ALL"
