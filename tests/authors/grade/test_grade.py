"""Grading: what counts is found, what a student's code can do is bounded, and what comes out can be handed on.

submissions/ holds submissions as students made them, honest, broken and hostile: the first line of each is what is to
come of it. Its README says what each hostile one got from the grader of before, which ran the notebooks.
"""

import base64
import contextlib
import csv
import hashlib
import io
import itertools
import json
import multiprocessing
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from unittest import mock

import nbformat
import pytest
import torch
from bs4 import BeautifulSoup
from fill_in import fill_in

from authors.grade import grade_answer, grade_class, judge_process
from authors.grade.__main__ import main
from authors.grade.grade_answer import judge
from authors.grade.report import dashboard, pages, report
from authors.grade.report.points import BestOf, read_points
from authors.grade.report.report import Report, Row
from authors.grade.sandbox import host as hosts
from authors.grade.sandbox import traces, worker
from authors.grade.sandbox.host import Host, Limits, best_host, bubblewrap
from authors.grade.sandbox.protocol import Malformed
from authors.grade.sandbox.remote import Connection, RemoteFunction
from authors.grade.submissions import class_list, owners
from authors.grade.submissions.class_list import Person
from authors.grade.submissions.extract import (
    NOTEBOOKS,
    OTHER_NAME,
    Cell,
    Course,
    answer_in,
    course,
    exercises_in,
    lines_of,
    read_cells,
    split_script,
)
from authors.grade.submissions.submission import FILES_IN_ZIP, Owner, Submission, choose, submissions_in, whose
from authors.grade.tables import harmless
from workbench.exercises.api import verdict_on
from workbench.exercises.clinic.bug import Case
from workbench.exercises.engine import runner
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.function import Function

SUBMISSIONS = Path(__file__).parent / "submissions"
RIGHT = "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril(k - q).bool()"
TOP_LEFT = "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril().bool()"
FILES = sorted(SUBMISSIONS.glob("*/*.py"))
SAID = {  # what comes from the other process beside numbers
    "changes_its_argument": "changes its argument `scores`",
    "changes_the_kind_of_its_argument": "changes its argument `scores`",
    "cuts_the_gradient": "no gradient flows back",
    "torchs_own_softmax": "torch's own `softmax`",
    "never_returns": "returns nothing",
    "sparse": "sparse tensor",
    "prints": 'It prints ("scores torch.Size',
    "kernel_ends": "it ended its own process",
    "cannot_be_parsed": "SyntaxError in line 2",
    "fails_as_it_is_defined": "NameError: name 'n_keys' is not defined",
    "patient_half_mended": "2 of 3 right",
    "hoards_memory": "used more than 300 MB",
}


@pytest.fixture(scope="module")
def host():
    """Students' processes as this machine can confine them best; generous, since nobody is stopped for being slow."""
    host, _ = best_host(Limits(seconds=100, memory_mb=300, processes=20), unconfined=True)
    with host, probes_drawn_anew(seed=1):
        yield host


@contextlib.contextmanager
def probes_drawn_anew(seed):
    """As in a grader's process; other tests find the course's own probes again."""
    exercises = [*EXERCISES.values(), *(case.mending for case in EXERCISES.values() if isinstance(case, Case))]
    before = [vars(exercise).copy() for exercise in exercises]
    limit = runner.LIMIT_S
    grade_answer.draw_probes(seed)
    yield
    runner.LIMIT_S = limit
    for exercise, was in zip(exercises, before, strict=True):
        vars(exercise).clear()
        vars(exercise).update(was)


def judged(host, id, *sources):
    return judge(answer_in([Cell(source, place=i) for i, source in enumerate(sources)], id), host)


def expectations(path):
    """(exercise, status, mistake) for each that the first line of a submission names."""
    for words in path.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ").split("; "):
        id, status, *mistake = words.split()
        yield id, status, "".join(mistake)


# ------------------------------------------------------------------------------------------------------ the judge


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_hand_in(host, path):
    if path.parent.name == "hostile" and not host.bwrap:  # it would fork, kill and hoard on the reader's own machine
        pytest.skip("hostile hand-ins run behind bubblewrap only, which is not installed or does not work here")
    cells, left = split_script(path.read_text(encoding="utf-8")), processes_of(host)
    assert set(exercises_in(cells)) >= {id for id, _, _ in expectations(path)}
    for id, status, mistake in expectations(path):
        result = judge(answer_in(cells, id), host)
        assert (result.status, result.misconception) == (status, mistake or result.misconception), result.message
        assert SAID.get(path.stem, "") in result.message
        assert result.share == (status == "correct") or path.stem == "patient_half_mended" or id == "6.1"
        assert path.parent.name != "hostile" or processes_of(host) == left  # whatever it has started


def test_every_hostile_one_is_listed_with_what_it_got_before_and_gets_now():
    text = (SUBMISSIONS / "README.md").read_text(encoding="utf-8")
    listed = {row[0]: row[1:] for row in re.findall(r"^\| (\w+) \| (.+?) \| ✗ ?([\w-]*) \|$", text, re.M)}
    now = {path.stem: next(expectations(path))[1:] for path in FILES if path.parent.name == "hostile"}
    assert {name: ("wrong", mistake) for name, (_, mistake) in listed.items()} == now
    harm = {"ends_everything_it_may", "forks_without_end", "hoards_memory", "markup", "sends_nonsense"}
    assert {name for name, (before, _) in listed.items() if before != "✓"} == harm
    assert all(f"`{name}`" in text.rpartition("|\n")[2] for name in harm)


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
    places = [i for i, cell in enumerate(cells) if cell.exercise]
    assert ids == [id for id, asked in course().asked.items() if asked.notebook == name]
    for id, place in zip(ids, places, strict=True):
        answered = cells[place].source
        assert answer_in(cells, id).expressions
        commented = "".join(f"# {line}\n" for line in answered.splitlines())
        for without, status in ((None, "missing"), (f"({answered}", "wrong"), ("", "missing"), (commented, "missing")):
            instead = [] if without is None else [Cell(without, cells[place].id, cells[place].exercise, place)]
            spoilt = [*cells[:place], *instead, *cells[place + 1 :]]
            result = judge(answer_in(spoilt, id), host=None)  # nobody needs to be asked
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
        in_the_cell = judged(host, "3.2", f"import time\ntime.sleep(1000)\n{RIGHT}")
    finally:
        host.limits = before
    assert (endless.status, endless.note) == ("wrong", "stopped after 1 seconds")
    assert "had not come back after 1 seconds" in endless.message
    assert (in_the_cell.status, in_the_cell.note) == ("wrong", "stopped after 1 seconds")
    assert judged(host, "3.2", RIGHT).status == "correct"


@pytest.mark.parametrize(
    ("id", "source", "said"),
    [
        ("3.2", TOP_LEFT, "A has `tril(3)`, B has `tril`: "),
        ("3.2", f"def corner(n, m):\n    return torch.ones(n, m).tril()\n{TOP_LEFT.replace('torch.ones', 'corner')}",
         "In your code: `return torch.ones(n, m).tril()`."),
        ("4.1", "def my_split_heads(x, h):\n    return x.view(len(x), h, -1, x.size(-1) // h)",
         ""),  # a view may come first in a right answer too
        ("3.2", "def my_causal_mask(q, k):\n    return q.no", ""),  # the message says it all
        ("3.2", f"def my_causal_mask(q, k):\n    return sum(torch.ones(q) for _ in range({traces.MOST}))", ""),
    ],
)  # fmt: skip
def test_a_cross_comes_with_the_line_that_is_its_cause(host, id, source, said):
    found = judged(host, id, source)
    assert found.status == "wrong" and said in found.difference and bool(said) == bool(found.difference)


def test_a_run_that_is_told_wrongly_is_no_clue_and_the_verdict_stands(host):
    lies = (
        "import authors.grade.sandbox.traces\nauthors.grade.sandbox.traces.as_data = lambda run: [1, [[2, [], {}]]]\n"
    )
    found = judged(host, "3.2", f"{lies}{TOP_LEFT}")
    assert (found.misconception, found.difference) == ("top-left", "")


STEP = ["tril", "tril", "line", [[2, 2], "float32", 4, torch.ones(4).double()], [None], [0]]


@pytest.mark.parametrize(
    "data",
    [
        3,
        [1, 2, 3],
        [1, [STEP] * (traces.MOST + 1)],
        [1, [[*STEP[:4], [0], []]]],  # of itself
        [1, [[*STEP[:4], [-1], []]]],
        [1, [[*STEP[:3], [[2, "2"], "float32", 4, None], [], []]]],
        [1, [[*STEP[:3], [[2, 2], "float", 4, None], [], []]]],
        [1, [[*STEP[:3], [[2, 2], "float32", "4", None], [], []]]],
        [1, [[*STEP[:3], [[2, 2], "float32", 4, torch.ones(4)], [], []]]],
        [1, [[*STEP[:3], [[2, 2], "float32", 4, "4"], [], []]]],
        [1, [[1, *STEP[1:]]]],
    ],
)
def test_what_is_no_run_is_refused(data):
    with pytest.raises(Malformed):
        traces.from_data(data)
    assert traces.from_data(None) is None and len(traces.from_data([1, [STEP, [*STEP[:4], [0], []]]]).operations) == 2


def test_gradients_that_the_judge_asks_for_are_nothing_that_an_answer_used(host):
    with host.channel() as channel:
        student = Connection(channel, 100)
        what = {"exercise": "7.2", "own": [], "without": True, "lesson": [["<lesson>", "import torch"]]}
        student.load(**what, cells=[["<cell>", "def f(x):\n    return x.exp() * 2"]], answer=["f"])
        x = torch.zeros(2, requires_grad=True)
        result = RemoteFunction(student, 0)(x)
        used = {*student.used}
        (gradient,) = torch.autograd.grad(result.sum(), x)
        RemoteFunction(student, 0)(x)  # which tells of itself alone
    assert gradient.tolist() == [2, 2] and {"exp", "mul"} <= used == student.used


def test_the_teacher_is_told_what_a_cell_ended_with(host):
    failing = f"{TOP_LEFT}\n1 / 0"
    assert judged(host, "3.2", failing).note == "a cell ended with ZeroDivisionError"
    first = judged(host, "3.2", "n = 0\n1 / 0", TOP_LEFT.replace("tril()", "tril(n)") + "\nnowhere")
    assert first.note == "a cell ended with ZeroDivisionError", "the first of several"
    assert judged(host, "3.2", f"{RIGHT}\n1 / 0").note == ""  # the answer stands


def test_what_the_library_answers_is_not_shown_beside_what_is_expected(host):
    in_a_thread = "import threading, attn_lib\ndef my_causal_mask(q, k):\n    found = []\n"
    in_a_thread += "    thread = threading.Thread(target=lambda: found.append(attn_lib.causal_mask(q, k)))\n"
    found = judged(host, "3.2", f"{in_a_thread}    thread.start()\n    thread.join()\n    return ~found[0]")
    assert (found.status, found.misconception, found.note) == ("wrong", "librarys-own", "the library's own causal_mask")
    assert found.difference == ""
    cured = "from workbench.exercises.engine.exercise import EXERCISES\nline_5, fault_5 = 4, 'not used'\n"
    cured += "mended_5 = EXERCISES['6.5'].cured\ndef detects_5(attention):\n    return True"
    assert judged(host, "6.5", cured).misconception == "librarys-own"
    assert "<td" not in found.shown and "<td" in judged(host, "3.2", TOP_LEFT).shown


def test_a_patient_as_it_came_in_is_no_attempt_whatever_else_is_in_its_cell(host):
    stub = f"{course().asked['6.5'].cell.source}\nnotes = 'later'"
    assert judged(host, "6.5", stub).status == "unattempted"
    assert judged(host, "1.1", "answer = [1.5, ..., 2.2]").status == "unattempted"
    assert judged(host, "6.3", "def detects_3(attention):\n    return ...").status == "unattempted"  # the rest is ours


def test_an_answer_runs_as_in_a_notebook_and_its_chance_is_the_judges(host):
    indented = RIGHT.replace("def", "    def").replace("return", "    return")
    assert judged(host, "3.2", f"if __name__ == '__main__':\n{indented}").status == "correct"
    with host.channel() as channel:
        student = Connection(channel, 100)
        what = {"exercise": "3.2", "own": [], "without": False, "lesson": []}
        cell = "import torch\ntorch.set_default_dtype(torch.float64)\ndef f(n):\n    return torch.rand(n)"
        student.load(**what, cells=[["<cell>", cell]], answer=["f"])
        drawn = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            drawn.append(RemoteFunction(student, 0)(3))
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[1], drawn[2])
    assert drawn[0].dtype == torch.float32


def numbers_of(probe):
    return str([list(arg.parameters()) if isinstance(arg, torch.nn.Module) else arg for arg in probe])


def test_probes_are_drawn_anew_and_every_exercise_has_some():
    functions = {id: exercise for id, exercise in EXERCISES.items() if isinstance(exercise, Function)}
    functions = {id: exercise for id, exercise in functions.items() if not callable(exercise.probes[0][0])}
    before = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    with probes_drawn_anew(seed=11):
        one = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    with probes_drawn_anew(seed=13):
        other = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    for id in functions:
        new, others = set(one[id]) - set(before[id]), set(other[id]) - set(before[id])
        assert new and others and new != others, id
    assert {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()} == before


# ---------------------------------------------------------------------------------------------------- confinement

LOOK = """
import gc, os, socket, subprocess, sys
from workbench import exercises
def look(*_):
    seen = {"uid": os.getuid(), "env": sorted(os.environ), "root": sorted(os.listdir("/")), "here": os.listdir(".")}
    seen["groups"], seen["gids"] = os.getgroups(), os.getresgid()
    seen["said"] = [getattr(exercises, name)("3.2") for name in ("check", "hint", "solution", "progress")]
    seen["shared"] = gc.get_freeze_count() > 10_000
    seen["threads"] = sys.modules["torch"].get_num_threads()
    seen["alone"] = os.getsid(0) == os.getpgrp() == os.getpid()
    seen["imported"] = sorted({"torch", "sympy", "IPython", "matplotlib"} & set(sys.modules))
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
    for name in ("/mine", "/dev/mine", "/dev/shm/mine"):
        try:
            open(name, "w").write("mine")
            seen[name] = "written"
            os.remove(name)
        except OSError as error:
            seen[name] = type(error).__name__
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
    with host.channel() as channel:
        student = Connection(channel, 100)
        what = {"exercise": "3.2", "own": [], "without": False, "lesson": []}
        told, _ = student.load(**what, cells=[["<cell>", source]], answer=["look"])
        assert told["parts"] == [["function"]], told
        return RemoteFunction(student, 0)()


def processes_of(host):
    import psutil

    return len(psutil.Process(host.process.pid).children(recursive=True))


STARTING = """
import os, time
def look():
    for started in range(100):
        try:
            if os.fork() == 0:
                time.sleep(1000)
        except OSError:
            break
    return os.getuid(), started
"""


def test_behind_bubblewrap_nothing_of_the_teachers_is_seen_reached_or_left(host, tmp_path, monkeypatch):
    if not host.bwrap:
        plainly = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
        assert not shutil.which("bwrap") or subprocess.run(plainly).returncode, "it works, but not as we call it"
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
    assert [seen[name] for name in ("course", "/mine", "/dev/mine", "/dev/shm/mine")] == ["OSError"] * 4  # read-only
    assert seen["network"] == "none"
    assert seen["uid"] != 0 and "TEACHERS_SECRET" not in seen["env"]
    system = {"bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "student", "usr"}
    assert set(seen["root"]) <= {*system, *NOTEBOOKS.parts, *seen_parts()}
    assert os.geteuid() != 0 or (seen["groups"], seen["gids"]) == ([], (seen["uid"],) * 3)
    assert seen["processes"] < 10 and seen["alone"] and seen["shared"]  # what torch takes is no answer's own memory
    assert seen["said"] == [None] * 4 and seen["threads"] == 1
    assert seen["imported"] == ["sympy", "torch"]  # what every gradient needs, and nothing that only notebooks do
    assert processes_of(host) == seen_before  # the detached ones too
    assert host.memory() == 0  # nobody's, when nobody is there
    assert looked(host, source)["here"] == []  # the folder was emptied
    with contextlib.ExitStack() as others:
        for _ in range(host.limits.processes * (os.geteuid() == 0)):  # as another judge's, or a proxy's, may be
            process = others.enter_context(subprocess.Popen(["sleep", "1000"], user=hosts.NOBODY))
            others.callback(process.kill)
        user, started = looked(host, STARTING)
    assert started > host.limits.processes // 2 and user not in (0, hosts.NOBODY)
    assert started < host.limits.processes or os.geteuid() != 0  # another's own processes are counted too


def leaves_root_where_it_can(user):
    """In a process of its own, for which there is no way back."""
    left = [worker.leave_root(None)]
    for nothing_can_be_read in (lambda: ["/nowhere"], lambda: 1 / 0):
        with mock.patch.object(worker, "imported_files", nothing_can_be_read):
            left += [worker.leave_root(user)]
    vars(worker.select).pop("__file__", None)  # as where it is within Python: Debian's own, uv's
    left += [os.getuid(), worker.imported_files() == [os.__file__, torch.__file__, worker.__file__]]
    with mock.patch.object(worker, "imported_files", lambda: ["/"]):  # which everybody may read
        return [*left, worker.leave_root(user), os.getuid()]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root becomes somebody else")
def test_root_becomes_somebody_else_whatever_python_it_is_unless_that_one_could_not_read_it():
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        left = pool.submit(leaves_root_where_it_can, 12345).result()
    assert left == [False, False, False, 0, True, True, 12345]


def seen_parts():
    """Folders on the way to Python and the course."""
    return {part for path in (sys.prefix, sys.base_prefix) for part in Path(path).parts}


HOLDING = """
import os, subprocess, time
def look():
    small = [subprocess.Popen(["/bin/sleep", "1000"]) for _ in range(3)]  # which hold less than they were forked from
    for _ in range(3):
        reading, writing = os.pipe()
        if os.fork() == 0:
            held = b"x" * (20 << 20)
            os.write(writing, b"held")
            time.sleep(1000)
        os.read(reading, 4)
"""


def test_what_all_processes_of_an_answer_hold_is_added_up(host):
    with host.channel() as channel:
        student = Connection(channel, 100)
        what = {"exercise": "3.2", "own": [], "without": False, "lesson": []}
        student.load(**what, cells=[["<cell>", HOLDING]], answer=["look"])
        before = host.memory() >> 20
        RemoteFunction(student, 0)()
        assert before < 20 and 60 <= (host.memory() >> 20) < 60 + 20


def test_without_bubblewrap_detached_processes_end_too_and_it_is_said_what_cannot_be_prevented(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("TEACHERS_SECRET", "x")
    host, words = best_host(Limits(seconds=100, memory_mb=300), unconfined=True)
    started = host.process
    with host:
        assert host.process is started and host.bwrap is None  # torch is imported once
        assert words.startswith("bubblewrap is not installed: ") and "cannot be prevented" in words
        seen = looked(host, LOOK % ([], "/nowhere/x", 1))
        assert processes_of(host) == 0
        assert "TEACHERS_SECRET" not in seen["env"] and seen["here"] == []
        assert seen["alone"]  # what it sends to its group does not reach the teacher's
        assert looked(host, LOOK % ([], "/nowhere/x", 1))["here"] == []
        assert judged(host, "3.2", RIGHT).status == "correct"
    assert not Path(seen.get("folder", "/nowhere")).exists()


def test_where_there_is_no_fork_each_answer_has_a_process_of_its_own():
    import psutil

    host, children = Host(Limits(seconds=100)), psutil.Process().children()
    host.forks = False
    with host:
        assert judged(host, "1.1", "answer = [1.5105, 3.3094, 2.2658]").status == "correct"
    assert psutil.Process().children() == children  # it has ended


def test_the_command_line_of_bubblewrap(monkeypatch):
    monkeypatch.setattr(hosts, "SEEN", (*hosts.SEEN, "not_there.py"))
    links, read = ("/bin", "/lib"), os.readlink
    monkeypatch.setattr("os.path.islink", lambda path: path in links)
    monkeypatch.setattr("os.readlink", lambda path: f"usr{path}" if path in links else read(path))
    for root in (True, False):
        monkeypatch.setattr("os.geteuid", lambda root=root: 0 if root else 1000)
        command = bubblewrap("/usr/bin/bwrap")
        apart = {f"--unshare-{what}" for what in ("pid", "net", "ipc", "uts", "cgroup-try")}
        assert {"--die-with-parent", "--new-session", "--as-pid-1", *apart} <= set(command)
        assert command[-3:] == ["--chdir", str(NOTEBOOKS.parent), "--"]
        assert ("--unshare-user" in command) != root
        bound = [command[i + 1] for i, word in enumerate(command) if word == "--ro-bind"]
        assert str(NOTEBOOKS.parent) not in bound and str(NOTEBOOKS) not in bound
        assert all(Path(path).exists() for path in bound)
        assert not any(Path(one).is_relative_to(other) for one in bound for other in bound if one != other)
        assert {Path(path).stem for path in bound if "authors" in path} == {
            "__init__",
            "worker",
            "gradients",
            "traces",
            "protocol",
        }
        assert not Path("/etc/ld.so.cache").exists() or "/etc/ld.so.cache" in bound  # where libraries are found at once
        linked = [command[i + 1 : i + 3] for i, word in enumerate(command) if word == "--symlink"]
        assert linked == [["usr/bin", "/bin"], ["usr/lib", "/lib"]] and not {*links} & {*bound}
        assert not any(word in ("--bind", "--dev-bind") for word in command)
        assert command[command.index("--cap-drop") + 1] == "ALL"
        assert command[command.index("--tmpfs") - 2 :][:4] == ["--size", str(64 << 20), "--tmpfs", "/student"]


# ------------------------------------------------------------------------------------------ what was handed in


def notebook_with(path, **answers):
    """Notebook 3 as a learner hands it in, with answers to some exercises, and cell ids and tags of its own."""
    notebook = nbformat.read(NOTEBOOKS / "03_masking.ipynb", as_version=4)
    for cell in notebook.cells:
        name = cell.id.replace("exercise-3-", "e")
        cell.source = answers.get(name, cell.source)
        cell.id, cell.metadata = f"new-{cell.id}"[:60], {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path


def test_exercises_are_found_in_a_renamed_notebook_in_a_script_in_a_zip_and_moved(tmp_path):
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
        assert submission.exercises == ["3.1", "3.2", "3.3"]
        assert answer_in(submission.cells, "3.2").shown == RIGHT
        assert answer_in(submission.cells, "3.1").expressions == []
    assert answer_in(moved, "3.2").expressions == ["my_causal_mask"]
    with zipfile.ZipFile(tmp_path / "ALL.ZIP", "w") as archive:
        archive.writestr("ada/answers.py", RIGHT)
    (ada,) = submissions_in(tmp_path / "ALL.ZIP")
    assert (ada.owner.name, ada.exercises) == ("ada", ["3.1", "3.2", "3.3"])


def test_a_name_that_two_notebooks_ask_for_does_not_tell_which_was_handed_in(tmp_path):
    def notebooks(*sources, **more):
        return sorted({id.split(".")[0] for id in exercises_in([Cell(source) for source in sources], **more)})

    shared, own = "def my_detects(f):\n    return True", "def my_softmax_backward(weights, grad):\n    return grad"
    assert notebooks(shared, own) == notebooks(shared, "check('7.4', my_detects)") == ["7"]
    assert notebooks(shared, file_name="08_position.py") == notebooks(shared, heads=["# 8. A token's place"]) == ["8"]
    only_it = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(shared)])
    only_it.cells.insert(0, nbformat.v4.new_markdown_cell("\n# 8. A token's place\nwords"))
    only_it.cells.append(nbformat.v4.new_markdown_cell("# 9. And then"))
    (tmp_path / "ada.ipynb").write_text(nbformat.writes(only_it), encoding="utf-8")
    assert submissions_in(tmp_path)[0].notebooks() == ["8"]
    assert notebooks(shared) == sorted({id.split(".")[0] for id in course().asked if id in ("7.4", "8.4", "9.4")})


def test_the_lessons_code_is_the_courses_and_never_the_hand_ins():
    spoilt = Cell("def padding_mask(lengths, max_len=None):\n    return 'mine'", place=0)
    answer = answer_in(
        [spoilt, Cell("def my_causal_mask(q, k):\n    return padding_mask(q, k), torch", place=1)], "3.2"
    )
    assert [source for _, source in answer.cells] == ["def my_causal_mask(q, k):\n    return padding_mask(q, k), torch"]
    lesson = "\n".join(source for _, source in answer.lesson)
    assert "mine" not in lesson and "import torch" in lesson and "def padding_mask" in lesson
    imports = [line.code for line in lines_of(Cell("from a.b import c as d, e\nimport f, g.h"))]
    assert imports == ["from a.b import c as d", "from a.b import e", "import f", "import g.h"], "each as it is needed"


def test_what_an_answer_needs_of_its_own_notebook_comes_with_it_and_what_only_says_something_does_not():
    cells = [Cell("TABLE = {1: [0]}"), Cell("TABLE[1][0] = 2"), Cell("other = 3")]
    cells += [Cell("%matplotlib inline\n!pip list\nn = TABLE")]
    says = "check('3.2', my_causal_mask); hint('3.2'); solution('3.2'); progress(); predict(1, 2); blank(1, 2)"
    cells += [Cell(f"{RIGHT}\nk = n\n{says}\nk += 1")]
    found = answer_in([Cell(cell.source, place=i) for i, cell in enumerate(cells)], "3.2")
    assert [source for _, source in found.cells] == [
        "TABLE = {1: [0]}", "TABLE[1][0] = 2", "pass\npass\nn = TABLE", f"{RIGHT}\nk = n\npass\nk += 1",
    ]  # fmt: skip
    twice = [Cell("n = 1"), Cell("n = 2"), Cell(f"{RIGHT}\nk = n")]
    found = answer_in([Cell(cell.source, place=i) for i, cell in enumerate(twice)], "3.2")
    assert [source for _, source in found.cells] == ["n = 2", f"{RIGHT}\nk = n"]
    imports = ["import os.path", "import math as maths", "import this", f"{RIGHT}\nk = maths, os"]
    found = answer_in([Cell(source, place=i) for i, source in enumerate(imports)], "3.2")
    assert [source for _, source in found.cells] == [source for source in imports if source != "import this"]
    assert answer_in([Cell(RIGHT + "  # " + "x" * 60_000)], "3.2").problem == (
        "SyntaxError: more than 60000 characters in one cell"
    )
    assert "Error" in answer_in([Cell(f"{RIGHT}\nx = {'-' * 9000}1")], "3.2").problem, "nested too deep for Python"
    own_names = ["def old(q, k): ...", "def new(q, k): ...", "check('3.2', old)", "check('3.2', new)"]
    assert answer_in([Cell(source) for source in own_names], "3.2").expressions == ["new"]
    one_line = answer_in([Cell("answer = [1, 2, 3]; check('1.1',\n answer)")], "1.1")
    assert [source for _, source in one_line.cells] == ["answer = [1, 2, 3]"]


def test_of_a_cell_it_is_known_what_it_binds_changes_uses_and_checks():
    def known(source):
        cell = Cell(source)
        return [" ".join(sorted(names)) for names in (cell.binds, cell.changes, cell.uses)]

    assert known("if a:\n    def f(): b\n    class C: ...\n    async def g(): ...") == ["C f g", "", "a b"]
    assert known("k = [i for i in r]; d = {a: b for a, b in r}; s = {e for e in r}; t = (c for c in r)")[0] == "d k s t"
    assert known("h = lambda: (w := 1)\nfor j in r: (v := 2)") == ["h j v", "", "r"]
    assert known("m.weight = x\nt[0].shape[1] = y\nf().z = 1") == ["", "m t", "f m t x y"]
    assert known("x = len(y)\nfrom a.b import c as d, e") == ["d e x", "", "y"]
    assert Cell("x = '\0'").error and Cell("check()").checks == Cell("x = (").checks == []
    assert [id for id, _ in Cell("course.check('3.2', f)\nfor i in r: check('3.1', g)").checks] == ["3.2", "3.1"]


def test_what_an_answer_does_not_need_stays_behind_and_answers_of_ones_own_come_along():
    def sources(*cells):
        return [source for _, source in answer_in([Cell(cell, place=i) for i, cell in enumerate(cells)], "3.2").cells]

    assert sources("sum = 0", f"{RIGHT}\nk = sum([1])") == [f"{RIGHT}\nk = sum([1])"], "nobody needs that"
    assert sources("k = 1 / 0", f"k = 2\n{RIGHT}") == [f"k = 2\n{RIGHT}"]
    other = "def my_padding_mask(lengths, max_len):\n    return 'mine'"
    assert sources(other, f"{RIGHT}\nk = my_padding_mask") == [other, f"{RIGHT}\nk = my_padding_mask"]


def test_of_a_broken_answer_and_one_left_open_the_later_counts():
    open_, broken = course().asked["3.2"].cell.source, f"({RIGHT}"

    def found(*sources):
        return answer_in([Cell(source, place=i) for i, source in enumerate(sources)], "3.2")

    assert found(open_, broken).problem.startswith("SyntaxError") and found(open_, broken).shown == broken
    assert found(broken, open_).problem == "" and found(broken, open_).expressions == []
    assert found("x = (", "check('3.2')").problem == "not handed in", "it was to hold something else"
    misnamed = answer_in([Cell("def padding_mask(lengths, max_len): ...", id="exercise-3-1")], "3.1")
    assert misnamed.problem == OTHER_NAME and misnamed.shown.startswith("def padding_mask"), "it was handed in"
    in_its_place = Cell("x = (", id=course().asked["3.2"].cell.id)
    assert answer_in([in_its_place], "3.2").problem.startswith("SyntaxError")
    assert found("check('3.2', lambda q, k: q)").shown == "check('3.2', lambda q, k: q)"


def test_a_name_of_the_lesson_is_what_it_is_above_the_exercise(tmp_path):
    code = nbformat.v4.new_code_cell
    cells = [code("n = 1\nm = 5"), code("n = m + 1"), code("answer = ...", metadata={"exercise": "3.2"})]
    cells += [code('check("3.2", answer)'), code("n = 3\nlater = 4")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "03_small.ipynb")
    found = answer_in([Cell("answer = n, later")], "3.2", Course(tmp_path))
    assert [source for _, source in found.lesson] == ["m = 5", "n = m + 1", "later = 4"]
    cells = [code("a = 0"), code("a = 1\nb = a"), code("a = 9\nanswer(3)"), *cells[2:]]
    for name in ("04_small", "05_small"):
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / f"{name}.ipynb")
        cells[3:5] = [code("answer = ...", metadata={"exercise": "5.1"}), code('check("5.1", answer, b)')]
    of = Course(tmp_path)
    assert [source for _, source in of.lines_for(["b", "answer"], of.asked["5.1"])] == ["a = 1", "b = a"]
    assert of.shared == {"answer"} and of.asked["5.1"].names == ["answer", "b"]
    assert answer_in([Cell("b = 7")], "5.1", of).problem == "not handed in", "what the lesson has is no answer"
    found = answer_in([Cell("answer = b = 2\nk = b", place=4)], "5.1", of)
    assert (found.lesson, found.given, found.cells[0][0]) == ([], [False, True], "<cell 5>")


def test_scripts_of_other_editors_and_notebooks_of_an_old_format_are_read():
    assert [cell.source for cell in split_script(f"# %% one\nx = 1\ny = 2\n\n# %%\n{RIGHT}\n")] == [
        "x = 1\ny = 2",
        RIGHT,
    ]
    assert [cell.source for cell in split_script("# %%\n\n# In [2]:\nx = 1\n# %%\n \n")] == ["x = 1"]
    assert [cell.source for cell in split_script("x = (\ny = 2\n  z\nw")] == ["x = (", "y = 2\n  z", "w"]
    old = [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}, {"cell_type": "markdown", "source": "x"}]
    (cell,) = read_cells(json.dumps({"worksheets": [{"cells": old}], "nbformat": 3}))
    assert cell.source == "x = 1\ny = 2"


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
def test_whose_a_file_is(path, name, number, place):
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
def test_a_file_is_read_whatever_wrote_it_and_named_it(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    (found,) = submissions_in(tmp_path)
    assert not found.problem and "3.2" in found.exercises


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.ipynb", b"", "it is empty (0 bytes)"),
        ("a.py", b" \n", "it is empty (2 bytes)"),
        ("a.zip", b"", "it is empty"),
        ("a.ipynb", b"%PDF-1.7", "it is a PDF"),
        ("a.ipynb", b"<!DOCTYPE html><html>", "it is a web page"),
        ("a.py", b"PK\x03\x04", "it is a .zip"),
        ("a.zip", b"Rar!\x1a\x07", "it is a .rar"),
        ("a.zip", b"PK\x03\x04 cut", "it is cut off"),
        ("a.ipynb", b'{"cells": [{"cell_type": "co', "it is cut off"),
        ("a.ipynb", "{'ü': 1}".encode("cp1252"), "it is not UTF-8"),
        ("a.ipynb", b"my answers", "it is not a notebook"),
        ("a.py", b"x\0\x01", "it is not text"),
    ],
)
def test_what_cannot_be_read_is_named_for_what_it_is(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    (found,) = submissions_in(tmp_path)
    assert found.problem.startswith(f"cannot be read: {said}")


def test_what_cannot_be_read_is_listed_with_its_reason(tmp_path, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ada.ipynb").write_text("{}", encoding="utf-8")
    (folder / "bob.ipynb").write_text('{"cells": 3}', encoding="utf-8")
    (folder / "dan.docx").write_bytes(b"PK")
    (folder / "eve.zip").write_bytes(b"PK\x03\x04 nothing")
    (folder / "fay.py").write_text("print(1)", encoding="utf-8")
    (folder / ".hidden.ipynb").write_text("{", encoding="utf-8")
    (folder / "roster.csv").write_text("id,name\n1,Ada", encoding="utf-8")
    (folder / "gus.ipynb").symlink_to(folder / "ada.ipynb")
    deep = io.BytesIO()
    with zipfile.ZipFile(deep, "w") as archive:
        for i in range(FILES_IN_ZIP + 1):
            archive.writestr(f"{i}.py", "")
    (folder / "hal.zip").write_bytes(deep.getvalue())
    with zipfile.ZipFile(folder / "ivy.zip", "w") as archive:
        archive.writestr("inner.zip", "x")
    zipfile.ZipFile(folder / "jim.zip", "w").close()
    (folder / "kay").mkdir()
    (folder / "kay" / "roster.csv").write_text("id,name\n1,Ada", encoding="utf-8")
    (folder / "kay" / "__pycache__").mkdir()
    (folder / "kay" / "__pycache__" / "x.pyc").touch()
    with zipfile.ZipFile(folder / "lee.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", "x = 1\n" * 99)
    whole = (folder / "lee.zip").read_bytes()
    (folder / "lee.zip").write_bytes(whole[:34] + b"\xff" * 3 + whole[37:])
    locked = bytearray(whole)
    locked[locked.rindex(b"PK\x01\x02") + 8] |= 1  # as it says of an entry in its table of contents
    (folder / "may.zip").write_bytes(locked)
    problems = {submission.path: submission.problem for submission in submissions_in(folder)}
    assert problems == {
        "ada.ipynb": "cannot be read: it is not a notebook",
        "bob.ipynb": "cannot be read: it is not a notebook",
        "dan.docx": "not a notebook, .py or .zip (.docx)",
        "eve.zip": "cannot be read: it is cut off or damaged",
        "fay.py": "no exercise of this course in it",
        "gus.ipynb": "a link, which is not followed",
        "hal.zip": "cannot be read: more than 500 files or 128 MB",
        "ivy.zip/inner.zip": "a .zip in a .zip, which is not opened",
        "jim.zip": "cannot be read: there is nothing in it",
        "kay/roster.csv": "not a notebook, .py or .zip (.csv)",
        "lee.zip/a.py": problems["lee.zip/a.py"],
        "may.zip/a.py": "cannot be read: it is locked with a password",
    }
    assert problems["lee.zip/a.py"].startswith("cannot be read: Error -3 while decompressing")
    monkeypatch.setattr("authors.grade.submissions.submission.LARGEST", 30)
    (folder / "bob.ipynb").write_text("x" * 31, encoding="utf-8")
    with zipfile.ZipFile(folder / "ivy.zip", "w") as archive:
        archive.writestr("a.py", "#" * 31)
    problems = {submission.path: submission.problem for submission in submissions_in(folder)}
    assert problems["bob.ipynb"] == problems["ivy.zip"] == "cannot be read: larger than 0 MB"
    monkeypatch.setattr("authors.grade.submissions.submission.LARGEST", 300)
    with zipfile.ZipFile(folder / "ivy.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", "#" * 301)  # as it lies there it is small enough
    problems = {submission.path: submission.problem for submission in submissions_in(folder)}
    assert problems["ivy.zip/a.py"] == "cannot be read: larger than 0 MB"
    monkeypatch.setattr("authors.grade.submissions.submission.LARGEST", 3000)
    with zipfile.ZipFile(folder / "ivy.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(5):
            archive.writestr(f"{i}.py", "#" * 2900)  # none of them, but all together
    problems = {submission.path: submission.problem for submission in submissions_in(folder)}
    assert problems["ivy.zip"] == "cannot be read: more than 500 files or 0 MB"
    with pytest.raises(FileNotFoundError, match="nothing in"):
        (tmp_path / "empty").mkdir()
        submissions_in(tmp_path / "empty")


def test_of_two_files_of_a_student_the_fullest_counts_then_the_newest_and_it_is_said():
    def made(path, when, *sources):
        cells = [Cell(source, place=i) for i, source in enumerate(sources)]
        return Submission("ada", path, when, cells, digest=path, exercises=["3.1", "3.2", "3.3"])

    padding = "def my_padding_mask(lengths, max_len):\n    return 1"
    old, new, full = made("old", 1, RIGHT), made("new", 2, RIGHT), made("full", 0, RIGHT, padding)
    chosen, said = choose([new, old])
    assert chosen == [(new, "3")] and said == [(old, "does not count: new is newer")]
    chosen, said = choose([new, full])
    assert chosen == [(full, "3")] and said == [(new, "does not count: full answers more exercises")]
    old.digest = new.digest
    assert choose([new, old])[1] == [(old, "does not count: new is the same")]


def test_of_two_files_in_a_zip_the_one_that_was_changed_last_is_newer(tmp_path):
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        for name, day in (("a.py", 9), ("b.py", 10), ("c.py", 8)):
            archive.writestr(zipfile.ZipInfo(name, (2026, 5, day, 0, 0, 0)), f"\ufeff{RIGHT}\n# {name}")

    def chosen():
        found = submissions_in(tmp_path)
        owners.assign_students(found, [])
        return [submission for submission, _ in choose(found)[0]]

    (best,) = chosen()
    assert best.path == "ada.zip/b.py" and not best.problem
    for name, when in (("a.py", 5), ("b.py", 9), ("c.py", 7)):  # and in a folder
        (tmp_path / "bob").mkdir(exist_ok=True)
        (tmp_path / "bob" / name).write_text(f"{RIGHT}\n# {name}")
        os.utime(tmp_path / "bob" / name, (when, when))
    assert [best.path for best in chosen()] == ["ada.zip/b.py", "bob/b.py"]


# ------------------------------------------------------------------------------------------------ roster and points


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("id,name,e-mail\n7,Ada Lovelace,ada@x.org\n,,\n", [Person("Ada Lovelace", "7", "ada@x.org")]),
        ("\ufeffname;id\n王小明;7\n", [Person("王小明", "7")]),
        (
            "First name,Surname,ID number,Email address\nAda,Lovelace,7,ada@x.org\n",
            [Person("Ada Lovelace", "7", "ada@x.org")],
        ),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section,Old\n    Points Possible,,,,,3\n"
            '"Lovelace, Ada",31,7,ada@x.org,A,2\n"Student, Test",99,,,A,\n,,,,,Manual Posting\n',
            [Person("Lovelace, Ada", "7", "ada@x.org", "31", "A")],
        ),
        ('Student,ID,Section\n"Lovelace, Ada",31,A\n', [Person("Lovelace, Ada", "", "", "31", "A")]),
        ("id\tname\n7\tŠárka Lovelacé\n", [Person("Šárka Lovelacé", "7")]),
        ("id;name;\n7;L, A, t, h, e, f, i, r, s, t\n;;a note\n", [Person("L, A, t, h, e, f, i, r, s, t", "7")]),
        ("id,mail\n7,ada@x.org\n8,\n", [Person("ada@x.org", "7", "ada@x.org"), Person("8", "8")]),
    ],
)
def test_rosters_as_teachers_have_them(tmp_path, text, people):
    for encoding in ("utf-8", "utf-16", "cp1252"):  # what spreadsheets call text, Unicode text and CSV
        with contextlib.suppress(UnicodeEncodeError):  # 王 is in no cp1252
            (tmp_path / "r.csv").write_text(text if encoding == "utf-8" else text.lstrip("\ufeff"), encoding=encoding)
            assert class_list.read_roster(tmp_path / "r.csv") == people, encoding


def test_a_rosters_columns_may_be_called_as_other_programs_call_them(tmp_path):
    ids = ["ID", "Student ID", "ID number", "SIS User ID", "Matriculation number", "Number", "Username"]
    mails = ["E-mail", "Email", "Email address", "E-mail address", "Mail"]
    names = ["Name", "Student", "Full name", "Student name", "First name,Last name", "Given name,Surname"]
    for id, mail, name in itertools.zip_longest(ids, mails, [*names, "First name,Family name"]):
        said = "Ada,Lovelace" if "," in name else "Ada Lovelace"
        (tmp_path / "r.csv").write_text(f"{id},{mail or 'Mail'},{name}\n7,ada@x.org,{said}\n")
        assert class_list.read_roster(tmp_path / "r.csv") == [Person("Ada Lovelace", "7", "ada@x.org")], (
            id,
            mail,
            name,
        )


def test_a_table_that_is_no_roster_or_has_no_points_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no column for names"):
        class_list.read_roster(tmp_path / "x.csv")
    (tmp_path / "empty.csv").write_text("id,name\n,\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"empty\.csv lists nobody"):
        class_list.read_roster(tmp_path / "empty.csv")
    with pytest.raises(ValueError, match="no columns exercise and points"):
        read_points(tmp_path / "x.csv")
    (tmp_path / "p.csv").write_text("exercise,points\n3.2,many\n", encoding="utf-8")
    with pytest.raises(ValueError, match="'many' is no number"):
        read_points(tmp_path / "p.csv")


def test_every_exercise_has_points_and_a_file_of_ones_own_asks_for_no_other(tmp_path):
    points, (clinic,) = read_points()
    assert list(points) == list(EXERCISES) and all(value > 0 for value in points.values())
    assert (points["2.1"], points["4.3"], points["6.1"], points["6.3"]) == (2, 4, 3, 1)
    assert clinic == BestOf(tuple(id for id in EXERCISES if id.startswith("6.")), 10)
    (tmp_path / "p.csv").write_text("exercise;points\n3.2;2,5\n", encoding="utf-8")
    assert read_points(tmp_path / "p.csv") == ({"3.2": 2.5}, [])


def test_a_row_of_points_is_for_one_exercise_for_some_or_for_all_of_a_notebook(tmp_path):
    text = "exercise,points,best\n4.*,2,\n4.3,5,\n6.1 6.5 6.1,3,1\n3.*,1,2\n"
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    points, groups = read_points(tmp_path / "p.csv")
    assert points == {"4.1": 2, "4.2": 2, "4.3": 5, "6.1": 3, "6.5": 3, "3.1": 1, "3.2": 1, "3.3": 1}
    assert groups == [BestOf(("6.1", "6.5"), 1), BestOf(("3.1", "3.2", "3.3"), 2)]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("33,2,", "there is no exercise '33'"),
        ("33.*,2,", "there is no exercise '33"),
        (",2,", "there is no exercise ''"),
        ("3.2,many,", "'many' is no number of points"),
        ("3.2,-1,", "'-1' is no number of points"),
        ("3.2,inf,", "'inf' is no number of points"),
        ("3.*,1,4", "the best 4 of 3 cannot count"),
        ("3.*,1,0", "the best 0 of 3 cannot count"),
        ("3.*,1,two", "the best two of 3 cannot count"),
        ("3.1 4.1,1,1", "not across two"),
        ("4.*,1,1\n4.1 4.2,1,1", "4.1 is in two rows"),
    ],
)
def test_a_row_of_points_that_cannot_be_is_refused_by_name(tmp_path, row, said):
    (tmp_path / "p.csv").write_text(f"exercise,points,best\n{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=said) as refused:
        read_points(tmp_path / "p.csv")
    assert "p.csv: " in str(refused.value) and f"(exercise {row.splitlines()[-1].split(',')[0]})" in str(refused.value)


def test_only_the_best_of_a_group_count_in_every_table_and_page(tmp_path):
    rows = [row(ADA, "6.1", "correct", share=0.5), row(ADA, "6.2", "correct", share=1), row(ADA, "6.5", "wrong")]
    rows += [row(ADA, "6.4", "correct", share=1), row(ADA, "3.1", "correct", share=1), row(BOB, "6.2", "wrong")]
    groups = [BestOf(("6.1", "6.2", "6.4", "6.5"), 2)]
    points = {"3.1": 2, "6.1": 2, "6.2": 2, "6.4": 2, "6.5": 2}
    whole = Report(rows, [ADA, BOB], points=points, groups=groups)
    assert whole.counted(ADA) == {"3.1": 2, "6.2": 2, "6.4": 2} and whole.counted(BOB) == {"6.2": 0}
    report.write_tables(whole, tmp_path)
    assert [line[3:] for line in table_of(tmp_path / "gradebook-moodle.csv")[1:]] == [["2", "4"], ["", "0"]]
    assert table_of(tmp_path / "gradebook-canvas.csv")[1][5:] == ["2", "4"]
    verdicts = [line for line in table_of(tmp_path / "verdicts.csv") if line[0] == "Ada"]
    assert [(line[4], line[7], line[9]) for line in verdicts] == [
        ("6.1", "1", "0"), ("6.2", "2", "2"), ("6.5", "0", "0"), ("6.4", "2", "2"), ("3.1", "2", "2"),
    ]  # fmt: skip
    pages.write_pages(whole, tmp_path)
    soup = BeautifulSoup((tmp_path / "feedback" / pages.file_of(ADA)).read_text(encoding="utf-8"), "html.parser")
    said = "Of the 4 exercises of notebook 6 each student's best 2 count."
    assert soup.p.get_text().startswith(f"6 of 6 points. {said} A ✗")
    assert [line[3] for line in texts(soup, "table.list tbody tr")] == [
        "2 of 2", "1 of 2 others are better", "2 of 2", "2 of 2", "0 of 2",
    ]  # fmt: skip
    soup = BeautifulSoup((tmp_path / "class.html").read_text(encoding="utf-8"), "html.parser")
    assert [line[-1] for line in texts(soup, "table.grid tbody tr")] == ["0", "6"] and said in soup.get_text()
    assert texts(soup, "table.grid thead tr")[0][-1] == "of 6"
    whole.groups = [BestOf(("6.1", "6.2", "6.5"), 2), BestOf(("7.1", "7.2"), 1), BestOf(("3.1", "3.2"), 1)]
    assert list(whole.best_in_words()) == ["Of 6.1, 6.2, 6.5 each student's best 2 count."]


def given_to(people, *names, **numbered):
    """{name: to whom its file goes} of files that these names, or names and Canvas's numbers, stand on."""
    whose = [Owner(name) for name in names]
    whose += [Owner(name, "canvas", number) for name, number in numbered.items()]
    found = [Submission(None, f"{owner.name}.py", owner=owner, place=owner.name) for owner in whose]
    questions = owners.assign_students(found, people)
    return {submission.owner.name: submission.student for submission in found}, [
        (q.person.name, q.among) for q in questions
    ]


def test_files_find_their_students_on_the_roster():
    ada, wang = Person("Lovelace, Ada", "7", "ada.l@x.org", "31"), Person("王小明", "8", "w@x.org")
    twins = [Person("Kim Lee", "9"), Person("Lee Kim", "10")]
    names = ("ada lovelace", "AdaLovelace", "7", "ada.l")
    found, asked = given_to([ada, wang, *twins], *names, "王小明", "kim lee", "nobody", lovelaceada="31", who="31")
    assert {found[name] for name in (*names, "lovelaceada", "who")} == {ada} and found["王小明"] == wang
    assert not found["nobody"].listed and not found["kim lee"].listed
    assert asked == [("kim lee", twins), ("nobody", [])]
    assert given_to([], "ada") == ({"ada": Person("ada", listed=False)}, [])
    bjorn = Person("Bj\u00f6rn", "12")  # a .zip made on a Mac has the dots as a character of their own
    assert set(given_to([bjorn], "Bjo\u0308rn", "Ｂｊöｒｎ", "１２")[0].values()) == {
        bjorn
    }  # wide: East Asian keyboards
    anna = Person("Anna Maria Berg", "11")
    assert set(given_to([ada, anna], "Berg, Maria Anna", "bergannamaria")[0].values()) == {anna}
    first, second = Person("Kim Lee", "kim.lee"), Person("Kim Lee", "kim.lee2")
    assert given_to([first, second], "kim.lee") == ({"kim.lee": first}, []), "an id is nobody's name"


# -------------------------------------------------------------------------------------------------- what comes out

ADA, BOB, EVE = Person("Ada", "1", "ada@x.org", "31", "A"), Person("<b>Bob", "2"), Person("=cmd()", "3")


def result(id, status, misconception="", share=0.0, **more):
    return {"exercise": id, "status": status, "misconception": misconception, "message": "", "shown": "", "code": "",
            "share": share, "note": "", "difference": "", **more}  # fmt: skip


def row(person, id, status, misconception="", share=0.0, **more):
    return Row(person, f"{person.id}.ipynb", result(id, status, misconception, share, **more), 2 * share, 2)


@pytest.fixture
def small():
    rows = [
        row(ADA, "3.1", "correct", share=1.0),
        row(
            ADA,
            "3.2",
            "wrong",
            "top-left",
            message="It starts `there`.",
            code="def f():\n    return '<i>'",
            difference="First difference: `tril` <i>",
        ),
        row(BOB, "3.1", "missing"),
        row(BOB, "3.2", "wrong", "top-left", message="No <script>", note="stopped after <1> seconds"),
        row(BOB, "6.5", "wrong", share=2 / 3, message="2 of 3 right."),
        row(ADA, "6.5", "wrong", "wrong-line"),
    ]
    files = [("x.pdf", "not a <notebook>")]
    return Report(rows, [ADA, BOB, EVE], files, {"3.1": 2, "3.2": 2, "6.5": 2, "1.1": 5}, confinement="Confined.")


def table_of(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_gradebooks_have_the_columns_that_moodle_and_canvas_import(small, tmp_path):
    report.write_tables(small, tmp_path)
    titles = ["Attention 03 masking", "Attention 06 bug clinic"]
    assert table_of(tmp_path / "gradebook-moodle.csv") == [
        ["ID number", "Email address", "Full name", *titles],
        ["1", "ada@x.org", "Ada", "2", "0"],
        ["2", "", "<b>Bob", "0", "1.33"],
        ["3", "", "'=cmd()", "", ""],
    ]
    assert table_of(tmp_path / "gradebook-canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["    Points Possible", "", "", "", "", "4", "2"],
        ["Ada", "31", "1", "ada@x.org", "A", "2", "0"],
        ["<b>Bob", "", "2", "", "", "0", "1.33"],
        ["'=cmd()", "", "3", "", "", "", ""],
    ]
    marked = [(tmp_path / f"{name}.csv").read_bytes().startswith(b"\xef\xbb\xbf")
              for name in ("gradebook-moodle", "verdicts", "gradebook-canvas")]  # fmt: skip
    assert marked == [True, True, False]  # by it Excel knows UTF-8; Canvas takes it for a part of the first head
    assert small.in_words().splitlines()[0] == "3 on the roster: 2 judged, 1 with nothing handed in"
    verdicts = table_of(tmp_path / "verdicts.csv")
    assert verdicts[2] == ["Ada", "1", "ada@x.org", "1.ipynb", "3.2", "wrong", "top-left", "0", "2", "0", ""]
    assert "'=cmd()" not in [line[0] for line in verdicts]
    assert table_of(tmp_path / "handed-in.csv")[-1] == ["'=cmd()", "3", "", "nothing", "", "", ""]
    small.people.append(Person("Zed", listed=False))
    small.rows.append(row(small.people[-1], "3.1", "correct", share=1.0))
    report.write_tables(small, tmp_path)
    assert "Zed" in [line[0] for line in table_of(tmp_path / "verdicts.csv")]
    for name, column in (("moodle", 2), ("canvas", 0)):  # a platform knows no such student
        assert "Zed" not in [line[column] for line in table_of(tmp_path / f"gradebook-{name}.csv")]
    report.write_tables(Report(small.rows[-1:], small.people[-1:], points=small.points), tmp_path)  # without a roster
    assert table_of(tmp_path / "gradebook-moodle.csv")[1:] == [["", "", "Zed", "2"]]


def test_the_mistakes_of_a_class_stand_in_order_each_with_its_own_name_and_place_to_read_again():
    found = Report([row(ADA, "10.1", "wrong"), row(ADA, "2.1", "wrong")]).commonest()
    assert [id for id, _, _ in found] == ["2.1", "10.1"], "as many made each of them: as they are in the course"
    of_a_patient = ("no-line", "wrong-line", "no-name", "wrong-name", "still-ill", "amputated", grade_answer.LIBRARYS)
    assert len({report.misconception_in_words("6.5", id) for id in (*of_a_patient, "nameless")}) == 8
    for id, exercise in EXERCISES.items():
        for mistake, known in exercise.misconceptions.items():
            assert report.misconception_in_words(id, mistake) == (known.name, known.reread)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_name_reaches_a_spreadsheet_as_a_formula(text):
    assert harmless(text) == f"'{text}" and harmless("a=b") == "a=b"


def texts(soup, selector):
    return [[" ".join(cell.get_text(" ").split()) for cell in row.select("th, td")] for row in soup.select(selector)]


def test_the_class_page_says_what_most_got_wrong_which_slide_to_show_and_who_handed_in_nothing(small, tmp_path):
    pages.write_pages(small, tmp_path)
    soup = BeautifulSoup((tmp_path / "class.html").read_text(encoding="utf-8"), "html.parser")
    mistakes = texts(soup.select("table.list")[0], "tbody tr")
    assert mistakes[0][:2] == ["3.2", "The mask starts at the wrong corner"] and "2 of 2" in mistakes[0][3]
    assert mistakes[0][2].startswith("03 slide ") and "No looking ahead" in mistakes[0][2]
    assert [row[0] for row in mistakes[1:]] == ["6.5", "6.5"]
    assert [row[1] for row in mistakes[1:]] == ["Another line is named", "A mistake without a name: see the code"]
    assert (
        mistakes[0][1] in soup.select_one("h1 + p").get_text()
        and mistakes[0][2] in soup.select_one("h1 + p").get_text()
    )
    grid = texts(soup, "table.grid tbody tr")
    assert grid == [
        ["<b>Bob", "–", "✗", "✗", "1.33"],
        ["=cmd()", "nothing"],
        ["Ada", "✓", "✗", "✗", "2"],
    ]
    assert [head["colspan"] for head in soup.select("th[scope=colgroup]")] == ["2", "1"]
    assert [head.get_text() for head in soup.select("th[scope=colgroup]")] == ["03 masking", "06 bug clinic"]
    assert soup.select("main > p")[-1].get_text() == "Confined."
    assert not soup.select("table.grid b") and not soup.find("script")
    assert soup.find("meta", {"http-equiv": "Content-Security-Policy"})["content"].startswith("default-src 'none';")
    many = [Person(f"P{i}", str(i)) for i in range(8)]
    names = pages.students(Report(people=[Person("Eve"), Person("ada"), Person("Bob")]))
    assert [line[0] for line in texts(BeautifulSoup(names, "html.parser"), "tbody tr")] == ["ada", "Bob", "Eve"]
    whole = pages.mistakes(Report([row(person, "3.2", "wrong", "top-left") for person in many], many))
    assert texts(BeautifulSoup(whole, "html.parser"), "tbody tr")[0][-1].endswith(
        "P0 , P1 , P2 , P3 , P4 , P5 and 2 more"
    )
    assert texts(soup.select("table.list")[-1], "tbody tr") == [
        ["x.pdf", "not a <notebook>"], ["2.ipynb", "3.2: stopped after <1> seconds"],
    ]  # fmt: skip
    noted = pages.files(Report([row(person, "3.2", "wrong", note="late") for person in reversed(many)]))
    assert [line[0] for line in texts(BeautifulSoup(noted, "html.parser"), "tbody tr")] == [
        f"{i}.ipynb" for i in range(8)
    ]
    sign = soup.select_one("table.grid td.wrong a[href$='e3.2']")
    assert sign["title"] == sign["aria-label"] == "3.2 not yet right: The mask starts at the wrong corner"
    for link in soup.select("a[href^=feedback]"):
        file, _, place = link["href"].partition("#")
        page = BeautifulSoup((tmp_path / file).read_text(encoding="utf-8"), "html.parser")
        assert not place or page.find(id=place)


def test_the_slide_to_show_is_the_one_of_that_number_in_the_deck(small):
    from authors.deck import notes

    notebook = nbformat.read(NOTEBOOKS / "03_masking.ipynb", as_version=4)
    number = int(pages.slide("03#text-10").split()[2])
    assert notes.slides(notebook)[number - 1].source.startswith("## No looking ahead")


def test_feedback_leads_from_every_cross_to_the_students_own_code(small, tmp_path):
    broken = Submission(BOB, "in/old.ipynb", problem="cannot be read: it is a PDF", late=True)
    small.submissions, small.files = [broken], [*small.files, (broken.path, broken.problem)]
    pages.write_pages(small, tmp_path)
    soup = BeautifulSoup((tmp_path / "feedback" / pages.file_of(ADA)).read_text(encoding="utf-8"), "html.parser")
    lines = texts(soup, "table.list tbody tr")
    assert [line[0] for line in lines] == ["3.1", "3.2", "6.5"]
    assert lines[1][2].endswith("The mask starts at the wrong corner") and lines[1][3] == "0 of 2"
    assert "2 of 6 points" in soup.get_text() and "PDF" not in soup.get_text()
    bobs = BeautifulSoup((tmp_path / "feedback" / pages.file_of(BOB)).read_text(encoding="utf-8"), "html.parser")
    assert texts(bobs, "table.list tbody tr")[0][2:] == ["– not handed in", "0 of 2"] and not bobs.find(id="e3.1")
    assert (
        "old.ipynb. It came late, as the platform says. It cannot be read: it is a PDF." in bobs.get_text()
        and "not a <notebook>" not in bobs.get_text()
    )
    assert "1.33 of 6 points" in bobs.get_text() and "stopped after <1> seconds" in bobs.get_text()
    place = soup.find(id=soup.select("table.list a")[1]["href"].removeprefix("#"))
    assert "Your code, from 1.ipynb:" in place.get_text()
    assert "Read again" not in soup.find(id="e3.1").get_text()
    assert place.pre.get_text() == "1def f():\n2    return '<i>'"
    assert "It starts there." in place.get_text() and place.find("code").get_text() == "there"
    assert "Read again: notebook 3, “No looking ahead”" in place.get_text()
    assert "First difference: tril <i>" in [p.get_text() for p in place.select("p")]
    assert not soup.find("i")


@pytest.mark.parametrize("message", ["Not yet.", "Not yet.\n\nRead again: notebook 3, “No looking ahead”."])
def test_feedback_says_once_where_to_read_again(message, tmp_path):
    pages.write_pages(Report([row(ADA, "3.2", "wrong", message=message)], [ADA], points={"3.2": 2}), tmp_path)
    assert (tmp_path / "feedback" / pages.file_of(ADA)).read_text(encoding="utf-8").count("Read again") == 1


def test_pages_of_others_are_gone_and_names_make_no_paths(small, tmp_path):
    (tmp_path / "feedback").mkdir()
    (tmp_path / "feedback" / "old.html").write_text("old")
    pages.write_pages(small, tmp_path)
    assert len(list((tmp_path / "feedback").iterdir())) == 2
    for person in (Person("../../etc/passwd"), Person("a/b\\c:d"), Person(""), Person("王小明"), Person("x" * 500)):
        name = pages.file_of(person)
        assert (
            len(name) < 60
            and not name.startswith("_")
            and not set(name) & set('/\\:*?"<>| ')
            and name.endswith(".html")
        )
    assert pages.file_of(Person("a b")) != pages.file_of(Person("a_b"))


BROKEN_WORDS = """
[...document.querySelectorAll("thead th, article td, article th")].flatMap(cell => {
  const words = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (walker.nextNode()) for (const word of walker.currentNode.data.matchAll(/[^\\s-]+/g)) {
    range.setStart(walker.currentNode, word.index);
    range.setEnd(walker.currentNode, word.index + word[0].length);
    if (new Set([...range.getClientRects()].map(line => line.top)).size > 1) words.push(word[0]);
  }
  return words;
})
"""


def test_pages_fit_and_can_be_read_by_everybody(small, tmp_path, browser):
    from axe_playwright_python.sync_playwright import Axe

    page, axe = browser.new_page(), Axe()
    told(tmp_path, "ada", (time.time(), "3.2", "wrong", "top-left"))
    with dashboard.server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.clock.install()
        page.goto(f"http://127.0.0.1:{server.server_port}")
        now = page.content().replace(dashboard.SCRIPT, "")
        (tmp_path / "ada.jsonl").unlink()
        for name in ("ada", "bob"):  # without times, so that minutes do not go on meanwhile
            (tmp_path / name).mkdir()
            (tmp_path / name / ".progress.json").write_text('{"3.2": "tried"}')
        page.clock.run_for(2000)
        stuck, quiet = page.get_by_role("region", name="who is stuck"), page.locator("#quiet")
        stuck.get_by_text("bob").wait_for()
        stuck.focus()
        for begins, ends in (
            (lambda: page.context.set_offline(True), lambda: page.context.set_offline(False)),
            (lambda: page.route("**/table", lambda route: route.fulfill(status=500)), lambda: page.unroute("**/table")),
        ):
            begins()
            page.clock.run_for(2000)
            quiet.filter(has_text="no longer served").wait_for()
            ends()
            page.clock.run_for(2000)
            quiet.filter(has_not_text="served").wait_for(state="attached")
            assert stuck.evaluate("e => e === document.activeElement"), "what is the same stays as it is"
        server.shutdown()
    (tmp_path / "live.html").write_text(now, encoding="utf-8")
    shown = verdict_on("3.2", lambda q, k: torch.ones(q, k).tril().bool())._repr_html_()
    long = {"code": "x = " + "1 + " * 60 + "1", "message": "`" + "x" * 200 + "`", "shown": shown}
    small.rows.append(row(ADA, "1.1", "wrong", **long))
    pages.write_pages(small, tmp_path)
    names = ("class.html", f"feedback/{pages.file_of(ADA)}", "live.html")
    for name in names:
        page.goto((tmp_path / name).as_uri())
        for scheme, options in (("light", None), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=scheme)
            found = axe.run(page, options=options)
            assert not found.response["violations"], found.generate_report()
    small.rows += [row(ADA, id, "wrong", **long) for id in EXERCISES]  # the same, as large as it can be
    small.points |= read_points()[0]
    pages.write_pages(small, tmp_path)
    for name in names:
        page.goto((tmp_path / name).as_uri())
        for width in (390, 1366):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            assert page.evaluate(BROKEN_WORDS) == [], (name, width)
        if name == "class.html":
            who = "[...document.querySelectorAll('.list td a')].every(a => a.getBoundingClientRect().right < 390)"
            page.set_viewport_size({"width": 390, "height": 800})
            assert page.evaluate(who), "who made a mistake is seen without scrolling sideways"
            page.set_viewport_size({"width": 1366, "height": 800})
        within = "[...document.querySelectorAll('.grid')].every(t => t.scrollWidth <= t.parentElement.clientWidth)"
        assert page.evaluate(within), name  # no table is scrolled at 1366
        reached = "[...document.querySelectorAll('.wide, pre')].every(e => e.tabIndex === 0 && e.ariaLabel)"
        assert page.evaluate(reached), name  # by keys alone, where the screen is smaller
    page.close()


# ------------------------------------------------------------------------------------------------ the whole way


class JudgeHere:
    """As judge_process.JudgeProcess, in this process and with the host that is there."""

    host, asked, finished = None, (), True

    def __init__(self, *_):
        self.confinement = hosts.CONFINED

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def grade(self, submission):
        JudgeHere.asked.append(submission.path)
        results = [asdict(answer) for answer in grade_answer.graded_answers(submission, JudgeHere.host)]
        return results if JudgeHere.finished else None


def test_a_folder_becomes_tables_and_pages_and_what_was_judged_is_kept(host, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(grade_class, "JudgeProcess", JudgeHere)
    monkeypatch.setattr(JudgeHere, "host", host)
    monkeypatch.setattr(JudgeHere, "asked", [])
    folder = tmp_path / "in"
    notebook_with(folder / "ada" / "03_masking.ipynb", e2=RIGHT)
    notebook_with(folder / "03_masking_bob.ipynb", e2=TOP_LEFT)
    notebook_with(folder / "ada" / "old.ipynb")
    (folder / "eve.ipynb").write_text("{", encoding="utf-8")
    (folder / "roster.csv").write_text("id,name\n1,Ada\n2,Bob\n3,Eve\n4,王小明\n", encoding="utf-8")
    (folder / "points.csv").write_text("exercise,points\n3.2,10\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main([str(folder)]) == 0
    assert {path: path.read_bytes() for path in before} == before
    said = capsys.readouterr().out
    assert "4 on the roster: 2 judged, 1 handed in but unreadable, 1 with nothing handed in" in said
    assert "eve.ipynb: cannot be read: it is cut off" in said
    assert "ada/old.ipynb: does not count: ada/03_masking.ipynb answers more exercises" in said
    out = folder / "graded"
    assert [line[2:] for line in table_of(out / "gradebook-moodle.csv")[1:]] == [
        ["Ada", "10"], ["Bob", "0"], ["Eve", ""], ["王小明", ""],
    ]  # fmt: skip
    assert sorted(JudgeHere.asked) == ["03_masking_bob.ipynb", "ada/03_masking.ipynb"]
    notebook_with(folder / "zoe.ipynb", e2=RIGHT)
    assert main([str(folder), "--jobs", "1"]) == 0
    assert JudgeHere.asked[2:] == ["zoe.ipynb"]  # the others were kept
    assert "zoe.ipynb: not on the roster" in capsys.readouterr().out
    assert main([str(folder), "--again"]) == 0 and len(JudgeHere.asked) == 6
    assert main([str(folder), "--seconds", "60"]) == 0 and len(JudgeHere.asked) == 9  # it might come to something else
    monkeypatch.setattr(grade_class, "edition_of_the_course", lambda: "another")
    (folder / "zoe.docx").write_bytes(b"PK")
    monkeypatch.setattr(JudgeHere, "finished", False)
    assert main([str(folder)]) == 0 and len(JudgeHere.asked) == 12
    said = capsys.readouterr().out
    assert "zoe.docx: not a notebook" in said and "zoe.docx: not on the roster" not in said
    assert main([str(folder)]) == 0 and len(JudgeHere.asked) == 15  # what was not finished is not kept


def test_what_was_judged_by_another_edition_is_judged_again(tmp_path, monkeypatch):
    monkeypatch.setattr(grade_class, "HERE", tmp_path)
    (tmp_path / "judge.py").write_text("one")
    monkeypatch.setattr(grade_class, "ROOT", tmp_path)
    for folder in ("attn_lib", "notebooks"):
        (tmp_path / folder).mkdir()
    editions = [grade_class.edition_of_the_course() for _ in range(2)]
    for name in ("judge.py", "attn_lib/masks.py", "notebooks/01.ipynb"):
        (tmp_path / name).write_text("two")
        editions.append(grade_class.edition_of_the_course())
    assert len(set(editions)) == 4 and editions[0] == editions[1]


def test_a_judges_process_draws_its_probes_and_says_nothing_but_results(monkeypatch, capsys):
    drawn, limits = [], {"seconds": 3, "memory_mb": 4, "file_mb": 5, "processes": 6}

    def judged(submission, host):
        print("noise")
        return [submission.name, submission.heads, submission.cells[0].source, host.enter_result]

    monkeypatch.setattr(grade_answer, "draw_probes", drawn.append)
    monkeypatch.setattr(grade_answer, "graded_answers", judged)
    monkeypatch.setattr(
        grade_class, "best_host", lambda limits, unconfined: (contextlib.nullcontext(limits.seconds), "Confined.")
    )
    asked = {"name": "a.py", "cells": [["x = 1", "", []]], "heads": ["# 1. A"]}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(asked)))
    monkeypatch.setattr("sys.stdout", sys.stdout)  # what it changes comes back
    grade_class.main({"seed": 7, "limits": limits, "unconfined": False})
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert said == [{"words": "Confined."}, {"results": ["a.py", ["# 1. A"], "x = 1", 3]}] and drawn == [7]


def test_two_judges_work_at_once_and_what_says_nothing_about_walls_does_not_count(tmp_path, monkeypatch, capsys):
    words_of_each = [hosts.CONFINED, hosts.CONFINED, ""]  # the first had started for nothing

    class Silent(JudgeHere):
        def __init__(self, *_):
            self.words = words_of_each.pop()

        def grade(self, submission):
            return [submission.name]

    monkeypatch.setattr(grade_class, "JudgeProcess", Silent)
    same = [Submission("ada", f"{i}.py", digest="the same") for i in range(6)]
    results, words = grade_class.grade_all(same, tmp_path, Limits())
    assert words == hosts.CONFINED
    assert results == {(submission.digest, submission.path): [submission.name] for submission in same}
    assert "6/6" in capsys.readouterr().err, "how far it is"
    for path in list(tmp_path.iterdir())[:1]:
        path.write_text("[", encoding="utf-8")  # a disk that was full
    assert grade_class.grade_all(same, tmp_path, Limits())[0].keys() == results.keys()
    assert "6/6" in capsys.readouterr().err


def test_of_a_zip_of_all_tables_and_pages_stand_beside_it_where_the_roster_is(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("ada/x.docx", "")
    (tmp_path / "roster.csv").write_text("id,name\n1,Ada\n", encoding="utf-8")
    found = grade_class.grade(tmp_path / "all.zip")
    assert found.out == tmp_path / "graded" and [person.name for person in found.people] == ["Ada"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_hand_in_that_nobody_judged_is_an_error_and_not_a_row_less(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(grade_class, "JudgeProcess", JudgeHere)
    monkeypatch.setattr(JudgeHere, "asked", None)
    (tmp_path / "ada.py").write_text(RIGHT)
    assert main([str(tmp_path)]) == 1 and not (tmp_path / "graded/verdicts.csv").exists()
    assert "Nothing was graded: 1 hand-ins could not be judged; the next call goes on." in capsys.readouterr().err


def test_a_folder_with_nothing_in_it_is_an_error_and_not_an_empty_table(tmp_path, capsys):
    assert main([str(tmp_path)]) == 1 and main([str(tmp_path / "nowhere")]) == 1
    said = capsys.readouterr().err
    assert "Nothing was graded: there is nothing in" in said and "there is no folder" in said


STAND_IN = """
import json, os, sys
print(json.dumps({"words": f"Confined by {os.getpid()}."}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cells"] == [["crash", ""]]:
        os._exit(1)
    print(json.dumps({"results": [asked["name"], asked["cells"][0][0]]}), flush=True)
"""


def test_a_judges_process_goes_on_from_hand_in_to_hand_in_and_one_that_ends_is_replaced(monkeypatch):
    """The real one judges in test_deploy.py, after submissions are collected."""

    def handed(source):
        return Submission("ada", "in/a.py", cells=[Cell(source)], exercises=["1.1"])

    monkeypatch.setattr(judge_process.JudgeProcess, "command", (sys.executable, "-c", STAND_IN))
    with judge_process.JudgeProcess(Limits(), 1) as one:
        assert one.judge(handed("x = 1")) == (["a.py", "x = 1"], True)
        process, words = one.process, one.words
        assert one.judge(handed("x = 2")) == (["a.py", "x = 2"], True) and one.process is process
        assert one.judge(handed("crash")) == (None, False)
        assert one.judge(handed("x = 3")) == (["a.py", "x = 3"], True)
        assert one.words.startswith("Confined by ") and one.words != words
        process = one.process
    assert process.poll() is not None


def test_a_judge_that_ends_leaves_its_hand_in_unjudged_and_the_next_goes_on(tmp_path, monkeypatch):
    one = Submission("ada", "a", digest="a", exercises=["3.2"])
    crashing = judge_process.JudgeProcess(Limits(), 1)
    monkeypatch.setattr(judge_process.JudgeProcess, "_start", lambda self: (_ for _ in ()).throw(OSError("no")))
    assert crashing.judge(one) == (None, False)


def test_without_bubblewrap_and_a_word_no_hand_in_runs(tmp_path, monkeypatch, capfd):
    (tmp_path / "ada.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{RIGHT}")
    monkeypatch.setenv("PATH", "")
    assert main([str(tmp_path)]) == 1
    said = capfd.readouterr().err
    assert "Nothing was graded: " in said and "--unconfined" in said
    assert "hand-in" not in said.partition("Nothing was graded")[0], "it does not seem to have begun"
    assert not (tmp_path / "ran").exists() and not (tmp_path / "graded").exists()


def test_what_bounds_students_code_is_said_before_it_runs(tmp_path, monkeypatch, capfd):
    def judged(self, submission):
        assert "within limits" in capfd.readouterr().err
        return [], True

    monkeypatch.setattr(grade_class, "JudgeProcess", JudgeHere)
    monkeypatch.setattr(JudgeHere, "__init__", lambda self, *_: vars(self).update(words="within limits"))
    monkeypatch.setattr(JudgeHere, "judge", judged)
    (tmp_path / "ada.py").write_text(RIGHT)
    assert main([str(tmp_path), "--unconfined"]) == 0


def test_a_hand_in_that_ended_grading_is_named_and_not_run_again(host, tmp_path, monkeypatch, capsys):
    class Killed(JudgeHere):
        def grade(self, submission):
            notes.extend((tmp_path / "graded").rglob("*.runs"))  # what a kill would leave
            return super().grade(submission)

    notes = []
    monkeypatch.setattr(grade_class, "JudgeProcess", Killed)
    monkeypatch.setattr(JudgeHere, "host", host)
    monkeypatch.setattr(JudgeHere, "asked", [])
    for name in ("ada", "bob"):
        (tmp_path / f"{name}.py").write_text(f"{RIGHT}  # {name}")
    assert main([str(tmp_path), "--jobs", "1"]) == 0
    of_ada, of_bob = notes
    assert not of_ada.exists() and not of_bob.exists()
    of_bob.touch()
    for kept in of_bob.parent.glob("*.json"):
        kept.unlink()
    capsys.readouterr()
    assert main([str(tmp_path)]) == 0
    assert "bob.py: not judged" in capsys.readouterr().out and JudgeHere.asked == ["ada.py", "bob.py", "ada.py"]
    assert main([str(tmp_path), "--again"]) == 0
    assert "not judged" not in capsys.readouterr().out and not of_bob.exists()


# ------------------------------------------------------------------------------------------------------- live


def told(folder, name, *lines):
    keys = ("time", "exercise", "status", "misconception")
    text = "".join(json.dumps(dict(zip(keys, line, strict=True))) + "\n" for line in lines)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def test_live_shows_who_is_stuck_where_and_the_commonest_mistake_now(tmp_path):
    now = 100_000.0
    told(tmp_path, "ada", (now - 600, "3.2", "wrong", None), (now - 60, "3.2", "wrong", "top-left"))
    told(tmp_path, "bob", (now - 300, "3.2", "wrong", "top-left"), (now - 30, "3.1", "correct", None))
    told(tmp_path, "eve", (now - 300, "3.2", "wrong", "polarity"), (now - 30, "3.2", "correct", None))
    told(tmp_path, "fay", (now - 900, "3.2", "wrong", "polarity"))
    told(tmp_path, "old", (now - 2000, "3.2", "wrong", "polarity"))
    (tmp_path / "zoe").mkdir()
    (tmp_path / "zoe" / ".progress.json").write_text('{"3.1": "done"}')
    soup = BeautifulSoup(dashboard.table(dashboard.look(tmp_path), now), "html.parser")
    mistakes, stuck = (texts(table, "tbody tr") for table in soup.select("table.list"))
    assert [line[:1] + line[2:3] for line in mistakes] == [["3.2", "2"], ["3.2", "1"]]
    assert mistakes[0][1] == "The mask starts at the wrong corner" and "No looking ahead" in mistakes[0][3]
    assert [line[0:4] for line in stuck] == [
        ["fay", "3.2 A causal mask", "15 min", "1"],
        ["ada", "3.2 A causal mask", "10 min", "2"],
        ["bob", "3.2 A causal mask", "5 min", "1"],
    ]
    assert texts(soup, "table.grid tbody tr") == [
        ["ada", "", "✗", ""], ["bob", "✓", "✗", ""], ["eve", "", "✓", ""], ["fay", "", "✗", ""], ["old", "", "✗", ""],
        ["zoe", "✓", "", ""],
    ]  # fmt: skip


def test_live_keeps_what_was_right_shows_the_latest_mistake_and_knows_copies_without_times(tmp_path, monkeypatch):
    now = 100_000.0
    told(tmp_path, "ada", (now - 90, "3.1", "correct", None), (now - 80, "3.1", "wrong", None))
    told(tmp_path, "bob", (now - 90, "3.1", "wrong", None), (now - 30, "3.2", "wrong", "top-left"))
    (tmp_path / "eve" / "my").mkdir(parents=True)
    (tmp_path / "eve" / "my" / ".progress.json").write_text('{"3.2": "tried"}')
    found = dashboard.look(tmp_path)
    assert found.learners["ada"]["3.1"].status == "correct"
    assert [(name, id) for name, id, _ in found.stuck(now)] == [("bob", "3.2"), ("eve", "3.2")]
    assert found.commonest(now) == [("3.2", "top-left", 1), ("3.2", "", 1)]
    soup = BeautifulSoup(dashboard.table(found, now), "html.parser")
    assert texts(soup.select("table.list")[1], "tbody tr")[1] == ["eve", "3.2 A causal mask", "", "", ""]
    (tmp_path / "eve" / "my" / ".progress.json").write_text('{"3.1": "done", "3.2": "tried"}')
    told(
        tmp_path, "eve", (now - 90, "3.2", "wrong", "polarity"), (now - 90, "3.1", "wrong", None)
    )  # now it is said when
    found = dashboard.look(tmp_path).learners["eve"]
    assert (found["3.2"].tries, found["3.2"].since, found["3.2"].misconception) == (1, now - 90, "polarity")
    assert found["3.1"].status == "correct"
    monkeypatch.setattr(EXERCISES["2.1"], "title", "A `max`")
    for i, id in enumerate(("10.1", "2.1", "2.2", "4.1", "4.2")):
        told(tmp_path, f"p{i}", (now - 60 * i, id, "wrong", None))
    soup = BeautifulSoup(dashboard.table(dashboard.look(tmp_path), now), "html.parser")
    assert len(texts(soup, "table.list tbody tr")) == 5 + 7, "the five most frequent mistakes, and all who are stuck"
    assert "A max" in soup.get_text()
    ids = texts(soup, "table.grid thead tr")[0][1:]
    assert (ids[0], ids[-1]) == ("2.1", [id for id in EXERCISES if id.startswith("10.")][-1])
    assert set(ids) == {id for id in EXERCISES if id.split(".")[0] in ("2", "3", "4", "10")}, "as in the course"
    assert "8 learners: ✓ right" in soup.get_text()
    right = BeautifulSoup(
        dashboard.table(dashboard.Class({"ada": {"3.1": dashboard.Now("correct")}}), now), "html.parser"
    )
    assert "Nobody is stuck." in right.get_text() and "1 learner: " in right.get_text()
    assert not right.select("table.list") and right.select_one("td.correct").get_text() == "✓"


def test_live_reads_the_end_of_a_long_file(tmp_path, monkeypatch):
    told(tmp_path, "ada", *[(1e5 + i, "3.2", "wrong", None) for i in range(50)], (2e5, "3.1", "correct", None))
    monkeypatch.setattr(dashboard, "LONGEST", 200)
    found = dashboard.look(tmp_path).learners["ada"]
    assert found["3.1"].status == "correct" and found["3.2"].tries == 1


def test_live_believes_no_line_and_shows_no_markup(tmp_path):
    (tmp_path / "<b>x.jsonl").write_text(
        'half a li\n[1]\n{"exercise": "99"}\n{"exercise": "3.2", "status": "wrong", "time": "now"}\n'
        '{"exercise": "3.2", "status": "wrong", "time": 5e4, "misconception": "<script>"}\n'
        '{"exercise": "3.1", "status": "wrong", "time": -5}\n{"exercise": "3.1", "status": "wrong", "time": 1e300}\n'
        '{"exercise": ["3.2"], "status": "wrong", "time": 5e4}\n' + "[" * 100_000
    )
    (tmp_path / "nobody.jsonl").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "hal.jsonl").write_text("{}")
    (tmp_path / "gus.jsonl").write_bytes(
        b'\xff\n{"exercise": "3.2", "status": "wrong", "time": true}\n'
        b'{"exercise": "3.2", "status": ["wrong"], "time": 5e4}\n'
        b'{"exercise": "6.5", "status": "wrong", "time": 5e4, "misconception": "no-name"}\n'
    )
    (tmp_path / "gus").mkdir()
    (tmp_path / "gus" / ".progress.json").write_text('{"99": "done"}')
    soup = BeautifulSoup(dashboard.table(dashboard.look(tmp_path), 5e4), "html.parser")
    assert [line[:4] for line in texts(soup, "table.grid tbody tr")] == [["<b>x", "", "✗", ""], ["gus", "", "", ""]]
    assert not soup.find("b") and not soup.find("script")
    assert [line[-1] for line in texts(soup.select("table.list")[1], "tbody tr")] == ["", "The name is none of FAULTS"]
    assert len(soup.select("table.list code")) == 2, "what is code looks like it, in both tables"
    assert dashboard.look(tmp_path).learners["<b>x"]["3.2"].misconception == ""
    assert "Nobody has checked" in dashboard.table(dashboard.look(tmp_path / "none"), 0)


def test_live_is_served_on_this_machine_under_its_own_name_only(tmp_path, capsys, monkeypatch):
    told(tmp_path, "ada", (1e9, "3.2", "correct", None))
    with dashboard.server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert server.server_address[0] == "127.0.0.1"
        address = f"http://127.0.0.1:{server.server_port}"
        silent = socket.create_connection(server.server_address)  # as browsers do, to have it when it is needed
        whole = urllib.request.urlopen(address.replace("127.0.0.1", "localhost"), timeout=60).read().decode()
        silent.close()
        assert "The class now" in whole and "ada" in whole
        (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', whole)
        own = base64.b64encode(hashlib.sha256(dashboard.SCRIPT.encode()).digest()).decode()
        assert policy.split("; ") == [
            "default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{own}'", "connect-src 'self'",
        ]  # fmt: skip
        with urllib.request.urlopen(f"{address}/table") as answer:
            text = answer.read()
            assert "ada" in text.decode() and answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert answer.headers["Content-Length"] == str(len(text))
        for path, headers in (("/", {"Host": "evil.example"}), ("/../x", {})):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(urllib.request.Request(address + path, headers=headers))
        assert dashboard.serve(tmp_path, server.server_port) == main(["--live", str(tmp_path / "none")]) == 1
        said = capsys.readouterr()
        assert said.err == "", "not a line for every look"
        taken, missing = said.out.splitlines()
        assert f"Port {server.server_port} cannot be used (Address already in use): --port" in taken
        assert missing == f"There is no folder {tmp_path / 'none'}."
        server.shutdown()
    monkeypatch.setattr("socketserver.BaseServer.serve_forever", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["--live", str(tmp_path), "--port", "0"]) == 0
    assert re.match(r"http://127\.0\.0\.1:[1-9]\d* shows the class .*; Ctrl-C ends it\.$", capsys.readouterr().out)
