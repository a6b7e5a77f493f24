"""What a student's process can do, tried by code that runs in one, and what is left of it afterwards."""

import contextlib
import json
import os
import socket
import sys
from pathlib import Path

import psutil
import pytest
from grading import RIGHT, judged
from paths import NOTEBOOKS, ROOT

from classroom.grade.sandbox import host as hosts
from classroom.grade.sandbox import worker
from classroom.grade.sandbox.host import Host, Limits, best_host
from classroom.grade.sandbox.remote import Connection, RemoteFunction

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="there is no fork")


@contextlib.contextmanager
def looking(host, source):
    """`look`, a function of a submission, as the judge calls it."""
    with host.channel() as channel:
        connection = Connection(channel, 100)
        steps = [["<cell>", source, True]]
        connection.load(exercise="3.2", own=[], without=False, steps=steps, answer=["look"])
        yield RemoteFunction(connection, 0)


def looked(host, source):
    """What `look`, a function of a submission, returns."""
    with looking(host, source) as look:
        return look()


def processes_of(host):
    return len(psutil.Process(host.process.pid).children(recursive=True))


TRY = """
import os, socket
def attempt(do):
    try:
        return str(do())
    except OSError as error:
        return type(error).__name__
def look():
    read = lambda name: attempt(lambda: open(name).read(9))
    write = lambda name: attempt(lambda: open(name, "w").write("mine"))
    return {
        "reads": [read(name) for name in %r],
        "writes": [write(name) for name in %r],
        "network": attempt(lambda: socket.create_connection(("127.0.0.1", %d), timeout=5)),
        "environment": sorted(os.environ), "root": sorted(os.listdir("/")),
        "users": [os.getuid(), *os.getresgid(), *os.getgroups()],
    }
"""


def test_bubblewrap_hides_files_network_and_the_teachers_rights(bubblewrap, tmp_path, monkeypatch):
    monkeypatch.setenv("TEACHERS_SECRET", "x")
    (tmp_path / "neighbour.py").write_text("my answer")
    hidden = [tmp_path / "neighbour.py", "/etc/passwd", next(NOTEBOOKS.glob("*.ipynb")), ROOT / "authors/site"]
    fixed = [ROOT / "attn_lib/masks.py", ROOT / "classroom/grade/sandbox/worker.py"]
    hidden, fixed = [*map(str, hidden)], [*map(str, fixed), "/mine", "/dev/mine", "/dev/shm/mine"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        seen = looked(bubblewrap, TRY % ([*hidden, "/proc/1/environ"], fixed, server.getsockname()[1]))
    assert seen["reads"] == ["FileNotFoundError"] * len(hidden) + ["PermissionError"]
    assert seen["writes"] == ["OSError"] * len(fixed), "read-only"
    assert seen["network"].endswith("Error")
    assert "TEACHERS_SECRET" not in seen["environment"] and "HOME" in seen["environment"]
    system = {"bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "student", "usr"}
    on_the_way = {part for path in hosts.readable() for part in path.parts}
    assert set(seen["root"]) <= system | on_the_way
    assert 0 not in seen["users"] and len(set(seen["users"])) == 1


LEAVE = """
import os, subprocess, time
def look():
    before = sorted(os.listdir("."))
    open("left behind", "w").write("here")
    os.symlink(%r, "link")
    child = subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
    return before, os.getsid(0) == os.getpgrp() == os.getpid()
"""


@LINUX
@pytest.mark.parametrize("confined", [True, False])
def test_nothing_of_a_submission_is_left(request, tmp_path, monkeypatch, confined):
    (tmp_path / "teachers").write_text("kept")
    if confined:
        host = request.getfixturevalue("bubblewrap")
    else:
        monkeypatch.setenv("PATH", "")
        monkeypatch.setenv("TEACHERS_SECRET", "x")
        host, words = best_host(Limits(seconds=100, memory_mb=300), unconfined=True)
        assert words.startswith("bubblewrap is not installed: ") and "cannot be prevented" in words
    folder, before = host.folder, processes_of(host)
    with host if not confined else contextlib.nullcontext():
        for _ in range(2):
            listed, alone = looked(host, LEAVE % str(tmp_path))
            assert listed == [] and processes_of(host) == before, "the detached ones end too"
            assert alone, "what it sends to its group does not reach the teacher's"
        if not confined:
            assert "TEACHERS_SECRET" not in looked(host, TRY % ([], [], 1))["environment"]
            assert os.stat(folder).st_mode & 0o77 == 0, "closed to all others"
        assert judged(host, "3.2", RIGHT).status == "correct"
    assert (tmp_path / "teachers").exists() and (confined or not Path(folder).exists())


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


def test_processes_are_counted_for_each_submission_apart(bubblewrap):
    user, started = looked(bubblewrap, STARTING)
    assert bubblewrap.limits.processes // 2 < started
    assert os.geteuid() != 0 or (started < bubblewrap.limits.processes and user in hosts.FREE_USERS)


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


def test_memory_of_all_processes_of_an_answer_is_added_up(host):
    with looking(host, HOLDING) as look:
        before = host.memory() >> 20
        look()
        assert before < 20 and 60 <= (host.memory() >> 20) < 60 + 20
    assert host.memory() == 0, "nobody's, when nobody is there"


@LINUX
@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes somebody else")
@pytest.mark.parametrize(("readable", "left"), [("/", 12345), ("/nowhere", 0)])
def test_root_is_left_if_the_new_user_can_read_the_course(monkeypatch, readable, left):
    monkeypatch.setattr(worker, "imported_files", lambda: [readable])
    pid = os.fork()
    if pid == 0:  # there is no way back
        worker.leave_root(12345)
        os._exit(not os.getuid() == os.getresgid()[0] == left)
    assert os.waitpid(pid, 0)[1] == 0


def test_without_fork_each_answer_has_its_own_process():
    host, children = Host(Limits(seconds=100)), psutil.Process().children()
    host.forks = False
    with host:
        assert judged(host, "1.1", "answer = [1.5105, 3.3094, 2.2658]").status == "correct"
    assert psutil.Process().children() == children  # it has ended


def test_process_without_the_password_is_refused(monkeypatch):
    def stranger(command, **options):
        end = socket.create_connection(("127.0.0.1", json.loads(command[-1])["port"]))
        end.sendall(b"0" * 32)
        return end

    ended = []
    monkeypatch.setattr("subprocess.Popen", stranger)
    monkeypatch.setattr(hosts, "end_family", ended.append)
    host = Host()
    host.forks = False
    with pytest.raises(OSError, match="another process answered"), host, host.channel():
        pass
    ended.pop().close()


@LINUX
def test_bubblewrap_that_does_not_work_is_said_with_its_reason(tmp_path, monkeypatch):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(OSError, match=r"does not work here \(no room\), and without it.*--unconfined"):
        best_host()
    with pytest.raises(OSError, match=r"does not work here \(no room\)"):
        hosts.refuse_unconfined()
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(OSError, match="There is no bubblewrap for darwin"):
        hosts.refuse_unconfined()


@LINUX
def test_host_that_was_killed_is_replaced(host):
    for _ in range(2):
        assert judged(host, "1.1", "answer = [1.5105, 3.3094, 2.2658]").status == "correct"
        host.process.kill()
        host.process.wait()
