"""deploy/: the roster, the limits, the tables of the README and the files that other services read.

What needs JupyterHub itself is skipped where `python course.py hub` has not installed it; the whole is tried by
tests/load_hub.py.
"""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("a hub needs Unix accounts", allow_module_level=True)

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(DEPLOY))


def load(name):
    return importlib.import_module(name)


# ------------------------------------------------------------------------------------------------------------- roster


def test_a_password_opens_its_own_name_alone(tmp_path):
    roster = load("roster")
    passwords = roster.add(["ada", "grace"], tmp_path)
    kept = roster.load(tmp_path)
    assert roster.matches(kept, "ada", passwords["ada"])
    assert roster.matches(kept, "ada", f" {passwords['ada'].upper()} ")  # typed from paper
    for name, password in (("ada", passwords["grace"]), ("ada", ""), ("nobody", passwords["ada"]), ("nobody", "")):
        assert not roster.matches(kept, name, password)


def test_the_roster_holds_no_password_and_is_its_owners_alone(tmp_path):
    roster = load("roster")
    passwords = roster.add(["ada", "grace"], tmp_path)
    text = (tmp_path / "roster.json").read_text()
    assert not any(password in text for password in passwords.values())
    assert os.stat(tmp_path / "roster.json").st_mode & 0o077 == 0
    kept = json.loads(text)
    assert kept["ada"]["salt"] != kept["grace"]["salt"]


def test_adding_again_gives_a_new_password_and_leaves_the_others(tmp_path):
    roster = load("roster")
    before = roster.add(["ada", "grace"], tmp_path)
    after = roster.add(["ada"], tmp_path)
    kept = roster.load(tmp_path)
    assert not roster.matches(kept, "ada", before["ada"])
    assert roster.matches(kept, "ada", after["ada"])
    assert roster.matches(kept, "grace", before["grace"])


@pytest.mark.parametrize("name", ["", "Ada", "ada smith", "../ada", "-ada", "7up", "a" * 40, "ada\n"])
def test_a_name_that_no_account_can_have_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="no account name"):
        load("roster").add([name], tmp_path)
    assert not (tmp_path / "roster.json").exists()


# ------------------------------------------------------------------------------------------------------------- limits


def cgroup_v2(root, controllers="cpuset cpu io memory pids"):
    (root / "cgroup.controllers").write_text(controllers)
    for folder in (root, root / "attention-class"):
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.subtree_control").write_text("cpu")


def test_cgroup_v2_gets_the_numbers(tmp_path):
    limits = load("limits")
    cgroup_v2(tmp_path)
    kind = limits.CgroupV2(tmp_path)
    assert kind.usable()
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids"
    kind.prepare("ada", limits.Limits(memory=2**30, cpus=1.5, processes=99))
    kind.enter("ada", None)
    folder = tmp_path / "attention-class/ada"
    written = {file.name: file.read_text() for file in folder.iterdir()}
    assert written == {
        "memory.max": str(2**30),
        "memory.swap.max": "0",
        "cpu.max": "150000 100000",
        "pids.max": "99",
        "cgroup.procs": str(os.getpid()),
    }


def test_cgroup_v2_without_the_memory_controller_is_not_used(tmp_path):
    cgroup_v2(tmp_path, controllers="hugetlb")
    assert not load("limits").CgroupV2(tmp_path).usable()
    assert not load("limits").CgroupV1(tmp_path).usable()


def test_cgroup_v1_gets_the_numbers(tmp_path):
    limits = load("limits")
    for name in ("memory", "cpu", "pids"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cgroup.procs").touch()
    kind = limits.CgroupV1(tmp_path)
    assert kind.usable()
    kind.prepare("ada", limits.Limits(memory=2**30, cpus=0.5))
    kind.enter("ada", None)
    read = {str(f.relative_to(tmp_path)): f.read_text() for f in tmp_path.glob("*/attention-class/ada/*")}
    assert read["memory/attention-class/ada/memory.limit_in_bytes"] == str(2**30)
    assert read["cpu/attention-class/ada/cpu.cfs_quota_us"] == "50000"
    assert all(read[f"{name}/attention-class/ada/cgroup.procs"] == str(os.getpid()) for name in ("memory", "cpu"))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold up RLIMIT_DATA")
def test_rlimits_stop_a_process_that_takes_too_much():
    code = f"""if True:
        import os, sys
        sys.path.insert(0, {str(DEPLOY)!r})
        import limits
        limits.Rlimits().enter("ada", limits.Limits(memory=300 << 20, cpus=1))
        assert len(os.sched_getaffinity(0)) == 1
        fits = b"x" * (100 << 20)
        try:
            fits + b"x" * (400 << 20)
        except MemoryError:
            print("stopped")
    """
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "stopped\n", result.stderr


def test_cores_spread_and_never_exceed_what_there_is():
    cores = load("limits").cores
    assert cores("ada", 8, [0, 1]) == {0, 1}
    assert {core for i in range(20) for core in cores(f"student-{i}", 1, [0, 1, 2])} == {0, 1, 2}


# ---------------------------------------------------------------------------------------------------------- jupyterhub


@pytest.fixture
def config(tmp_path, monkeypatch):
    pytest.importorskip("jupyterhub", reason="python course.py hub has not installed JupyterHub")
    from traitlets.config import PyFileConfigLoader

    monkeypatch.setenv("COURSE_HUB_LIMITS", "rlimits")
    monkeypatch.setattr(load("roster"), "STATE", tmp_path)
    return PyFileConfigLoader("jupyterhub_config.py", path=str(DEPLOY)).load_config()


def test_the_config_loads_and_names_only_what_jupyterhub_has(config):
    from jupyterhub.app import JupyterHub
    from jupyterhub.proxy import ConfigurableHTTPProxy

    classroom = load("classroom")
    known = [JupyterHub, ConfigurableHTTPProxy, classroom.LimitedSpawner, classroom.RosterAuthenticator]
    for name, values in config.items():
        owners = [c for c in (*known, classroom.SystemdSpawner) if name in [base.__name__ for base in c.__mro__]]
        assert owners, name
        assert set(values) <= set(owners[0].class_traits(config=True)), name


def test_the_config_is_not_open_and_survives_a_restart(config):
    assert config.JupyterHub.authenticator_class.__name__ == "RosterAuthenticator"
    assert config.JupyterHub.cleanup_servers is False
    assert config.ConfigurableHTTPProxy.should_start is False
    assert config.JupyterHub.bind_url.startswith("http://127.0.0.1:")
    spawner = config.JupyterHub.spawner_class(config=config)
    assert (spawner.limits().memory, spawner.limits().cpus) == (1536 << 20, 1.0)


def test_an_account_of_the_system_is_nobodys():
    pytest.importorskip("jupyterhub", reason="python course.py hub has not installed JupyterHub")
    classroom = load("classroom")
    assert not classroom.ours_or_free("root")
    assert not classroom.ours_or_free("tty")  # a group alone
    assert classroom.ours_or_free("nobody-has-this-name")


def test_links_open_every_notebook():
    out = subprocess.run(
        [sys.executable, DEPLOY / "links.py", "https://hub.example.org/"], capture_output=True, text=True
    ).stdout.splitlines()
    assert len(out) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert all(
        re.match(
            r"https://hub\.example\.org/hub/user-redirect/git-pull\?repo=.+&urlpath=lab%2Ftree%2Fattention%2Fmy%2F\d", x
        )
        for x in out
    )


# -------------------------------------------------------------------------------------------------- tables and files


def test_the_readme_has_the_tables_that_the_script_prints():
    printed = subprocess.run([sys.executable, DEPLOY / "sizing.py"], capture_output=True, text=True).stdout
    text = (DEPLOY / "README.md").read_text(encoding="utf-8")
    for table in printed.strip().split("\n\n"):
        assert table in text, f"python deploy/sizing.py prints another table now:\n{table}"


def test_kubernetes_values_leave_room_for_a_learner():
    values = pytest.importorskip("yaml").safe_load((DEPLOY / "values.yaml").read_text())
    measured = json.loads((DEPLOY / "measured.json").read_text())
    needed = sum(measured["after_4"][kind]["uss_mb"] for kind in ("server", "kernel"))
    memory = values["singleuser"]["memory"]
    assert needed < int(memory["guarantee"].rstrip("M")) < int(memory["limit"].rstrip("M"))
    assert f'MEMORY = "{memory["limit"]}"' in (DEPLOY / "jupyterhub_config.py").read_text()
    assert values["cull"]["enabled"] and values["scheduling"]["userPlaceholder"]["replicas"]


def test_binder_has_the_versions_of_requirements():
    pins = [set(re.findall(r"^[\w-]+==\S+", (ROOT / name).read_text(), re.M)) for name in
            ("binder/requirements.txt", "requirements.txt", "deploy/requirements.txt")]  # fmt: skip
    assert pins[0] <= pins[1] | pins[2]
    assert "\n.\n" in (ROOT / "binder/requirements.txt").read_text()  # not -e: a disk is mounted over the folder
    assert os.access(ROOT / "binder/postBuild", os.X_OK)


def test_the_dev_container_opens_what_there_is():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    copies = [f"my/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")]
    assert set(container["customizations"]["codespaces"]["openFiles"]) <= set(copies)
    assert "course.set_up(); course.make_copies()" in container["postCreateCommand"]
    assert callable(importlib.import_module("course").make_copies)


def test_binder_and_kubernetes_make_the_learners_copies_before_they_open_one():
    values = (DEPLOY / "values.yaml").read_text()
    assert "python copies.py" in (ROOT / "binder/postBuild").read_text() and "python copies.py" in values
    name = "my/01_by_hand.ipynb"
    assert f"lab/tree/{name}" in (ROOT / "README.md").read_text() and f"/lab/tree/attention/{name}" in values
    assert (ROOT / "notebooks" / Path(name).name).is_file()


def test_a_student_who_pulls_gets_copies_and_keeps_what_they_wrote(tmp_path, monkeypatch):
    start = load("start")
    monkeypatch.setattr(start, "NODE", tmp_path)
    monkeypatch.setattr(start, "HOOKS", tmp_path / "hooks with a space")
    start.allow_pulling()
    start.copy_after_pulling()
    course, home = tmp_path / "course", tmp_path / "home"
    (course / "notebooks").mkdir(parents=True)
    for name in ("copies.py", "notebooks/01_by_hand.ipynb", ".gitignore"):
        shutil.copy(ROOT / name, course / name)
    environment = {**os.environ, "GIT_CONFIG_SYSTEM": str(tmp_path / "gitconfig"), "HOME": str(tmp_path)}
    environment |= {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*arguments, cwd=course):
        result = subprocess.run(["git", *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    git("clone", "-q", str(course), str(home), cwd=tmp_path)
    mine = home / "my/01_by_hand.ipynb"
    mine.write_text(mine.read_text().replace("# 1. ", "# One. "))
    lesson = course / "notebooks/01_by_hand.ipynb"
    lesson.write_text(lesson.read_text().replace("import torch", "import  torch"))
    git("commit", "-qam", "two")
    git("pull", "-q", cwd=home)
    assert "# One. " in mine.read_text() and "import  torch" in mine.read_text()
