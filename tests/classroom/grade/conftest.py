"""What several tests of grading stand on: processes for students' code, and judges in the tests' own process."""

import shutil
import subprocess

import grading
import pytest

from classroom.grade import grade_class
from classroom.grade.sandbox.host import Limits, best_host


@pytest.fixture(scope="session")
def started_host():
    """Students' processes as this machine can confine them best; generous, since nobody is stopped for being slow."""
    host, _ = best_host(Limits(seconds=100, memory_mb=300, processes=20), unconfined=True)
    with host:
        yield host


@pytest.fixture(scope="module")
def host(started_host):
    with grading.probes_drawn_anew(seed=1):
        yield started_host


@pytest.fixture
def bubblewrap(host):
    """A host behind bubblewrap; without one, what would harm this machine is not run."""
    if not host.bwrap:
        plainly = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
        assert not shutil.which("bwrap") or subprocess.run(plainly).returncode, "it works, but not as we call it"
        pytest.skip("bubblewrap is not installed, or does not work here")
    return host


@pytest.fixture
def judge_here(host, monkeypatch):
    """Judges in this process; `asked` lists what they judged."""
    monkeypatch.setattr(grade_class, "JudgeProcess", grading.JudgeHere)
    monkeypatch.setattr(grade_class, "refuse_unconfined", lambda: None)
    monkeypatch.setattr(grading.JudgeHere, "host", host)
    monkeypatch.setattr(grading.JudgeHere, "asked", [])
    return grading.JudgeHere
