"""deploy/: who gets in, what each may, what is limited and ended, and the files that other services read.

No account is made and no hub started: what would do so is recorded, processes are these tests' own. What needs
JupyterHub itself is skipped where `python course.py hub` has not installed it; the whole is tried by tests/load_hub.py.
"""

import asyncio
import http.server
import importlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

if sys.platform == "win32":
    pytest.skip("a hub needs Unix accounts", allow_module_level=True)

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(DEPLOY))


def run_async(coroutine):
    """Run it away from the event loop that a browser test may have left running in this thread."""
    with ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(asyncio.run, coroutine).result()


def load(name):
    return importlib.import_module(name)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def state(tmp_path, monkeypatch):
    """A hub's own folder, which all modules use that read it from now on."""
    monkeypatch.setenv("COURSE_HUB_STATE", str(tmp_path / "hub"))
    importlib.reload(load("roster"))
    yield tmp_path / "hub"
    monkeypatch.delenv("COURSE_HUB_STATE")
    importlib.reload(load("roster"))


@pytest.fixture
def own_process():
    """Starts processes that wait until they are ended; the words are part of their command lines."""
    started = []

    def start(*words):
        code = "print(flush=True); input()"
        started.append(
            subprocess.Popen([sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        )
        started[-1].stdout.readline()
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


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


def test_who_is_not_there_takes_as_long_as_who_is(tmp_path, monkeypatch):
    roster = load("roster")
    roster.add(["ada"], tmp_path)
    counted, digest = [], roster.digest
    monkeypatch.setattr(roster, "digest", lambda *arguments: counted.append(1) or digest(*arguments))
    assert not roster.matches(roster.load(tmp_path), "nobody", "guess")
    assert len(counted) == 1


def test_a_password_cannot_be_guessed(tmp_path):
    passwords = load("roster").add([f"student-{i}" for i in range(20)], tmp_path).values()
    assert len(set(passwords)) == 20
    assert all(re.fullmatch(r"([a-z2-7]{4}-){3}[a-z2-7]{4}", password) for password in passwords)  # 80 bits
    assert load("roster").COST["n"] >= 2**14


def test_a_new_folder_of_the_roster_is_its_owners_alone(tmp_path):
    load("roster").add(["ada"], tmp_path / "new")
    assert mode(tmp_path / "new") == 0o700


def roster_command(state, *arguments, typed=""):
    environment = {**os.environ, "COURSE_HUB_STATE": str(state)}
    command = [sys.executable, DEPLOY / "roster.py", *arguments]
    return subprocess.run(command, input=typed, env=environment, capture_output=True, text=True)


def test_the_roster_is_kept_from_the_command_line(tmp_path):
    roster = load("roster")
    printed = roster_command(tmp_path, "add", "-", typed="ada\ngrace\n").stdout
    printed += roster_command(tmp_path, "add", "--teacher", "emmy").stdout
    passwords = dict(line.split(",") for line in printed.splitlines())
    assert set(passwords) == {"ada", "grace", "emmy"}
    kept = roster.load(tmp_path)
    assert {name: entry["teacher"] for name, entry in kept.items()} == {"ada": False, "grace": False, "emmy": True}
    assert all(roster.matches(kept, name, password) for name, password in passwords.items())
    assert roster_command(tmp_path, "list").stdout.split("\n") == ["ada ", "emmy (teacher)", "grace ", ""]
    assert roster_command(tmp_path, "remove", "ada").returncode == 0
    kept = roster.load(tmp_path)
    assert set(kept) == {"emmy", "grace"} and not roster.matches(kept, "ada", passwords["ada"])
    assert roster.matches(kept, "grace", passwords["grace"])


def test_who_was_a_teacher_is_a_student_when_added_as_one(tmp_path):
    roster_command(tmp_path, "add", "--teacher", "ada")
    roster_command(tmp_path, "add", "ada")
    assert load("roster").load(tmp_path)["ada"]["teacher"] is False


@pytest.mark.parametrize(
    ("arguments", "said"), [([], "roster.py add"), (["make"], "roster.py add"), (["add", "A"], "A")]
)
def test_a_roster_command_that_cannot_be_done_says_so(tmp_path, arguments, said):
    result = roster_command(tmp_path, *arguments)
    assert result.returncode == 1 and said in result.stderr and "Traceback" not in result.stderr
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
    assert (folder.parent / "memory.max").read_text() == str(int(0.9 * limits.machine_memory()))  # all students


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
    assert read["cpu/attention-class/ada/cpu.cfs_period_us"] == "100000"
    assert read["pids/attention-class/ada/pids.max"] == "400"
    for name in ("memory", "cpu", "pids"):
        assert read[f"{name}/attention-class/ada/cgroup.procs"] == str(os.getpid())
    of_all = (tmp_path / "memory/attention-class/memory.limit_in_bytes").read_text()
    assert of_all == str(int(0.9 * limits.machine_memory()))


@pytest.mark.parametrize("kind", ["CgroupV1", "CgroupV2"])
def test_a_students_group_is_removed_and_the_others_stay(tmp_path, kind):
    kind = getattr(load("limits"), kind)(tmp_path)
    folders = getattr(kind, "folders", None) or [kind.folder]
    for folder in folders:
        for name in ("ada", "grace"):
            (folder / name).mkdir(parents=True)
    kind.remove("ada")
    kind.remove("was never there")
    assert [[path.name for path in folder.iterdir()] for folder in folders] == [["grace"]] * len(folders)


@pytest.mark.parametrize(
    ("usable", "wanted", "best"),
    [
        (["cgroup v2", "cgroup v1"], "", "cgroup v2"),
        (["cgroup v1"], "", "cgroup v1"),
        ([], "", "rlimits"),
        (["cgroup v2", "cgroup v1"], "rlimits", "rlimits"),
        (["cgroup v2", "cgroup v1"], "cgroup v1", "cgroup v1"),
        (["cgroup v1"], "cgroup v2", None),
        ([], "quotas", None),
    ],
)
def test_the_strongest_limits_that_work_here_are_taken(monkeypatch, usable, wanted, best):
    limits = load("limits")
    for kind in (limits.CgroupV2, limits.CgroupV1):
        monkeypatch.setattr(kind, "usable", lambda self: self.name in usable)
    if best:
        assert limits.best(wanted).name == best
    else:
        with pytest.raises(ValueError, match=f"'{wanted}' does not work here; there are cgroup v2, cgroup v1, rlimits"):
            limits.best(wanted)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold up RLIMIT_DATA")
def test_rlimits_stop_a_process_that_takes_too_much():
    code = f"""if True:
        import os, sys
        sys.path.insert(0, {str(DEPLOY)!r})
        import limits
        before = os.nice(0)
        limits.Rlimits().enter("ada", limits.Limits(memory=300 << 20, cpus=1))
        assert len(os.sched_getaffinity(0)) == 1
        assert os.nice(0) > before  # the hub goes first
        assert limits.resource.getrlimit(limits.resource.RLIMIT_NPROC) == (400, 400)
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


def test_students_cannot_do_what_teachers_can_and_teachers_open_nobodys_server(config):
    roles = {role["name"]: role for role in config.JupyterHub.load_roles}
    assert set(roles) == {"teacher", "culler"}
    assert roles["teacher"]["groups"] == ["teachers"] and "users" not in roles["teacher"]
    seen = {"admin-ui", "list:users", "read:users", "read:servers", "delete:servers"}
    assert set(roles["teacher"]["scopes"]) == seen
    assert roles["culler"]["services"] == ["culler"] and "groups" not in roles["culler"]
    assert not {"admin_users", "any_allow_config"} & set(config.Authenticator)
    assert "admin_access" not in config.JupyterHub


def test_students_pull_the_course_with_one_thread_for_each_core(config):
    assert config.Spawner.default_url.startswith("/git-pull?") and "01_by_hand.ipynb" in config.Spawner.default_url
    assert config.Spawner.environment["OMP_NUM_THREADS"] == "1"
    assert (config.Spawner.mem_limit, config.Spawner.cpu_limit) == ("1536M", 1.0)
    (culler,) = config.JupyterHub.services
    assert culler["command"][-1] == "--timeout=3600"


@pytest.fixture
def classroom(state):
    pytest.importorskip("jupyterhub", reason="python course.py hub has not installed JupyterHub")
    return load("classroom")


@pytest.fixture
def accounts(monkeypatch):
    """Unix accounts by name and groups by name, as this machine would answer."""
    of_users, of_groups = {}, {}
    monkeypatch.setattr("pwd.getpwnam", of_users.__getitem__)
    monkeypatch.setattr("grp.getgrnam", of_groups.__getitem__)
    classroom = load("classroom")
    monkeypatch.setattr(classroom.exists, "__defaults__", (of_users.__getitem__,))
    return SimpleNamespace(users=of_users, groups=of_groups)


def log_in(classroom, name, password):
    authenticator = classroom.RosterAuthenticator()
    return run_async(authenticator.authenticate(None, {"username": name, "password": password}))


def test_only_the_right_password_logs_in_and_only_teachers_are_teachers(classroom, accounts, state):
    roster = load("roster")
    passwords = roster.add(["ada", "grace"], state) | roster.add(["emmy"], state, teacher=True)
    assert log_in(classroom, "ada", passwords["ada"]) == {"name": "ada", "groups": []}
    assert log_in(classroom, "emmy", passwords["emmy"]) == {"name": "emmy", "groups": ["teachers"]}
    for name, password in (("ada", passwords["grace"]), ("ada", "wrong"), ("ada", ""), ("eve", passwords["ada"])):
        assert log_in(classroom, name, password) is None


def test_an_account_of_the_system_is_nobodys_whatever_the_roster_says(classroom, accounts, state):
    passwords = load("roster").add(["ada", "grace", "staff"], state)
    accounts.users |= {"ada": "the system's", "grace": "a student's"}
    accounts.groups |= {"attention-students": SimpleNamespace(gr_mem=["grace"]), "staff": SimpleNamespace(gr_mem=[])}
    assert log_in(classroom, "ada", passwords["ada"]) is None
    assert log_in(classroom, "staff", passwords["staff"]) is None  # a group alone
    assert log_in(classroom, "grace", passwords["grace"])


def test_who_left_the_roster_is_out_and_a_teacher_may_become_a_student(classroom, state):
    def again(name):
        user = SimpleNamespace(name=name)
        return run_async(classroom.RosterAuthenticator().refresh_user(user))

    roster = load("roster")
    roster.add(["ada", "emmy"], state, teacher=True)
    assert again("emmy") == {"name": "emmy", "groups": ["teachers"]}
    roster.add(["emmy"], state)
    assert again("emmy") == {"name": "emmy", "groups": []}
    assert roster_command(state, "remove", "emmy").returncode == 0
    assert again("emmy") is False and again("ada")


def test_a_new_account_is_marked_and_its_home_closed(classroom, accounts, monkeypatch, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    accounts.users["ada"] = SimpleNamespace(pw_dir=str(home))
    commands = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: commands.append(command))
    classroom.RosterAuthenticator().add_system_user(SimpleNamespace(name="ada"))
    groupadd, useradd = commands
    assert groupadd == ["groupadd", "--force", "attention-students"]
    assert useradd[0] == "useradd" and useradd[-1] == "ada" and "HOME_MODE=0700" in useradd
    assert useradd[useradd.index("--groups") + 1] == "attention-students" and "--create-home" in useradd
    assert mode(home) == 0o700


class Kind:
    """Limits that note what is asked of them."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        return lambda *arguments: self.asked.append((name, *arguments))


@pytest.fixture
def spawner(classroom, monkeypatch):
    spawner = classroom.LimitedSpawner()
    spawner.user = SimpleNamespace(name="ada")
    spawner.mem_limit, spawner.cpu_limit = "512M", 1.5
    spawner.kind = Kind()
    return spawner


def test_a_students_first_process_is_limited_before_it_stops_being_root(classroom, spawner, monkeypatch):
    kind = spawner.kind
    drop = lambda: kind.asked.append("not root any more")  # noqa: E731
    monkeypatch.setattr(classroom.LocalProcessSpawner, "make_preexec_fn", lambda self, name: drop)
    before = os.umask(0o022)
    try:
        spawner.make_preexec_fn("ada")()
        assert os.umask(0o022) == 0o077  # what a student writes is the student's alone
    finally:
        os.umask(before)
    wanted = load("limits").Limits(memory=512 << 20, cpus=1.5)
    assert kind.asked == [("enter", "ada", wanted), "not root any more"]


def test_a_server_starts_in_its_group_and_writes_a_log_of_its_own(classroom, spawner, monkeypatch, state):
    async def start(self):
        self.popen_kwargs["stdout"].write(b"said")
        return "started"

    state.mkdir()
    monkeypatch.setattr(classroom.LocalProcessSpawner, "start", start)
    assert run_async(spawner.start()) == "started"
    assert spawner.kind.asked == [("prepare", "ada", spawner.limits())]
    assert (state / "logs/ada.log").read_bytes() == b"said" and mode(state / "logs") == 0o700


def test_after_a_restart_a_number_that_another_account_has_is_not_taken_over(classroom, spawner, monkeypatch):
    monkeypatch.setattr(classroom, "owner", {41: "ada", 42: "grace"}.get)
    for number, taken_over in ((41, 41), (42, 0), (43, 0)):
        spawner.load_state({"pid": number})
        assert spawner.pid == taken_over


def test_stopping_a_server_ends_all_of_its_student_and_nothing_else(classroom, spawner, monkeypatch, own_process):
    async def stop(self, now):
        return None

    left, others = own_process(), own_process()
    monkeypatch.setattr(classroom, "owner", {left.pid: "ada", others.pid: "grace"}.get)
    monkeypatch.setattr(classroom.LocalProcessSpawner, "stop", stop)
    run_async(spawner.stop())
    assert left.wait(20) is not None and others.poll() is None
    assert spawner.kind.asked == [("remove", "ada")]


@pytest.mark.parametrize(("systemd", "wanted", "taken"), [(1, "", 0), (1, "systemd", 0), (1, "rlimits", 1), (0, "", 1)])
def test_systemd_is_used_where_it_runs(classroom, monkeypatch, systemd, wanted, taken):
    monkeypatch.setattr(classroom, "Path", lambda path: SimpleNamespace(is_dir=lambda: bool(systemd)))
    monkeypatch.setattr(classroom.LimitedSpawner, "kind", None)
    monkeypatch.setattr(load("limits"), "best", lambda wanted: wanted or "the strongest")
    assert classroom.spawner(wanted) is (classroom.SystemdSpawner, classroom.LimitedSpawner)[taken]
    assert classroom.LimitedSpawner.kind == (wanted or "the strongest" if taken else None)


# --------------------------------------------------------------------------------------------------- start and stop


@pytest.fixture
def start(state, monkeypatch, tmp_path):
    """deploy/start.py on folders of its own, its commands recorded."""
    module = importlib.reload(load("start"))
    monkeypatch.setattr(module, "NODE", tmp_path / "node")
    monkeypatch.setattr(module, "HOOKS", tmp_path / "node/hooks")
    monkeypatch.setattr(module, "PROXY", tmp_path / "node/proxy/bin/configurable-http-proxy")
    (tmp_path / "node").mkdir()
    module.commands = []
    run = lambda command, **options: module.commands.append([str(part) for part in command])  # noqa: E731
    monkeypatch.setattr(module, "subprocess", SimpleNamespace(**{**vars(subprocess), "run": run}))
    return module


def test_only_root_starts_a_hub_and_stop_needs_nothing_but_root(start, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit, match="sudo"):
        start.main([])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(start, "stop", lambda: "stopped")
    assert start.main(["stop"]) == "stopped"
    with pytest.raises(SystemExit, match=r"start\.py stop"):
        start.main(["everything"])


def test_what_a_machine_lacks_is_said_in_one_line_each(start, monkeypatch, state, own_process, tmp_path):
    def lines():
        return " ".join(start.missing())

    root = tmp_path / "srv/attention"
    (root / ".git").mkdir(parents=True)
    for folder in (root, *root.parents):
        monkeypatch.setattr(start, "ROOT", root)
        if folder == tmp_path:
            break
        folder.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda program: f"/bin/{program}")
    monkeypatch.setattr(start, "students_run_python", lambda: True)
    monkeypatch.setattr(Path, "stat", lambda path, **_: SimpleNamespace(st_mode=0o40755))
    monkeypatch.setattr(Path, "is_dir", lambda path: path == root / ".git")
    monkeypatch.delenv("COURSE_HUB_REPO", raising=False)
    assert "Nobody is in the roster" in lines() and lines().count(":") == 1
    monkeypatch.setattr(start.roster, "load", lambda: {"ada": {}})
    assert lines() == ""
    for program in ("node", "npm", "git", "useradd"):
        with monkeypatch.context() as change:
            change.setattr(shutil, "which", lambda name, lacking=program: None if name == lacking else "/bin")
            assert f"The hub needs {program}" in lines()
    with monkeypatch.context() as change:
        change.setattr(start, "students_run_python", lambda: False)
        assert "Students cannot run" in lines()
    with monkeypatch.context() as change:
        change.setattr(Path, "stat", lambda path, **_: SimpleNamespace(st_mode=0o40700 if path == root else 0o40755))
        assert f"Students cannot enter {root}" in lines()
    with monkeypatch.context() as change:
        change.setattr(Path, "is_dir", lambda path: False)
        assert "no git clone" in lines()
        change.setenv("COURSE_HUB_REPO", "https://example.org/attention")
        assert lines() == ""
    with monkeypatch.context() as change:
        change.setattr(start, "running", lambda file, sign: SimpleNamespace(pid=7) if file.name == "hub.pid" else None)
        assert "running already, as process 7" in lines()


def test_what_is_missing_ends_the_start_and_nothing_missing_does_not(start):
    assert start.complain([]) is None
    with pytest.raises(SystemExit, match="one\ntwo"):
        start.complain(iter(["one", "two"]))


def test_students_run_python_is_tried_as_an_account_without_rights(start, monkeypatch):
    def answer(result):
        def run(command, user, **options):
            assert command[0] == sys.executable and user == "nobody" and options["extra_groups"] == []
            if isinstance(result, Exception):
                raise result
            return SimpleNamespace(returncode=result)

        return SimpleNamespace(run=run)

    for result, fine in ((0, True), (1, False), (PermissionError(), False)):
        monkeypatch.setattr(start, "subprocess", answer(result))
        assert start.students_run_python() is fine


def test_what_the_hub_keeps_is_closed_to_others_and_its_secret_stays(start, state):
    state.mkdir(mode=0o755)
    state.chmod(0o755)  # by an earlier version
    start.prepare()
    assert mode(state) == mode(state / "logs") == 0o700
    assert mode(state / "proxy_token") == 0o600
    secret = (state / "proxy_token").read_text()
    assert len(secret) == 64
    assert any(command[:2] == ["npm", "install"] for command in start.commands)
    assert next(c for c in start.commands if c[0] == "npm")[-1] == f"configurable-http-proxy@{start.PROXY_VERSION}"
    assert any("compileall" in command and str(ROOT / "attn_lib") in command for command in start.commands)
    package = start.PROXY.parent.parent / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text(f'{{"version": "{start.PROXY_VERSION}"}}')
    start.commands.clear()
    start.prepare()
    assert (state / "proxy_token").read_text() == secret
    assert not any(command[0] == "npm" for command in start.commands)
    package.write_text('{"version": "4.0.0"}')
    start.prepare()
    assert any(command[0] == "npm" for command in start.commands)


def test_git_lets_students_pull_from_the_course(start, tmp_path):
    start.allow_pulling()
    settings = tmp_path / "node/gitconfig"
    assert mode(settings) == 0o644
    command = ["git", "config", "--no-includes", "--file", settings, "--get-all", "safe.directory"]
    listed = subprocess.run(command, capture_output=True, text=True).stdout.split("\n")
    assert listed[:2] == [str(ROOT), str(ROOT / ".git")]


def test_a_new_home_knows_the_fonts(start, state):
    start.make_skeleton()
    assert (state / "skeleton/.cache/matplotlib").is_dir() and "font_manager" in start.commands[-1][-1]
    start.commands.clear()
    start.make_skeleton()
    assert start.commands == []


@pytest.fixture
def proxy(start, state, monkeypatch):
    """A proxy's door that lets in whoever has the token."""

    class Door(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            right = self.headers["Authorization"] == "token right" and self.path == "/api/routes"
            self.send_response(200 if right else 403)
            self.end_headers()

        def log_message(self, *_):
            pass

    state.mkdir(exist_ok=True)
    (state / "logs").mkdir()
    (state / "proxy_token").write_text("right")
    with http.server.HTTPServer(("127.0.0.1", 0), Door) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(start, "PORT", server.server_port - 1)
        yield server
        server.shutdown()


def test_a_proxy_answers_whoever_has_the_token(start, proxy, state):
    assert start.proxy_answers()
    (state / "proxy_token").write_text("wrong")
    assert not start.proxy_answers()
    proxy.server_close()
    (state / "proxy_token").write_text("right")
    start.PORT = 1
    assert not start.proxy_answers()


def test_a_proxy_that_runs_is_left_and_another_is_started_without_rights(start, state, monkeypatch):
    state.mkdir()
    (state / "logs").mkdir()
    (state / "proxy_token").write_text("right")
    answers, started = iter([True, False, False, True]), []

    def popen(command, **options):
        started.append((command, options))
        return SimpleNamespace(pid=4321, poll=lambda: None)

    monkeypatch.setattr(start, "proxy_answers", lambda: next(answers))
    monkeypatch.setattr(start, "subprocess", SimpleNamespace(Popen=popen, DEVNULL=subprocess.DEVNULL))
    start.start_proxy()
    assert started == []
    start.start_proxy()
    ((command, options),) = started
    assert (options["user"], options["group"], options["extra_groups"]) == ("nobody", "nogroup", [])
    assert options["start_new_session"] and options["env"]["CONFIGPROXY_AUTH_TOKEN"] == "right"
    given = dict(zip(command[2::2], command[3::2], strict=True))
    assert given["--ip"] == given["--api-ip"] == "127.0.0.1"
    assert (int(given["--port"]), int(given["--api-port"])) == (start.PORT, start.PORT + 1)
    assert given["--default-target"] == f"http://127.0.0.1:{start.PORT + 2}"
    assert (state / "proxy.pid").read_text() == "4321"


def test_a_proxy_that_ends_at_once_is_told(start, state, monkeypatch):
    (state / "logs").mkdir(parents=True)
    (state / "proxy_token").write_text("right")
    monkeypatch.setattr(start, "proxy_answers", lambda: False)
    popen = lambda *_, **__: SimpleNamespace(pid=1, poll=lambda: 1)  # noqa: E731
    monkeypatch.setattr(start, "subprocess", SimpleNamespace(Popen=popen, DEVNULL=subprocess.DEVNULL))
    with pytest.raises(SystemExit, match=r"logs/proxy\.log says why"):
        start.start_proxy()


def test_the_hub_and_its_proxy_know_each_other(start, state):
    state.mkdir()
    (state / "proxy_token").write_text("secret")
    environment = start.environment()
    assert environment["CONFIGPROXY_AUTH_TOKEN"] == "secret" and environment["COURSE_HUB_STATE"] == str(state)


def test_a_number_counts_only_for_the_process_that_wrote_it(start, tmp_path, own_process):
    hub, other = own_process("jupyterhub"), own_process("somebody else's")
    file = tmp_path / "hub.pid"
    file.write_text(str(hub.pid))
    assert start.running(file, "jupyterhub").pid == hub.pid
    for text in (str(other.pid), "no number", "999999999"):
        file.write_text(text)
        assert start.running(file, "jupyterhub") is None
    assert start.running(tmp_path / "none", "jupyterhub") is None


def test_stop_ends_hub_proxy_and_students_and_nobody_else(start, state, monkeypatch, own_process):
    state.mkdir()
    hub, took_the_number = own_process("jupyterhub"), own_process("somebody else's")
    (state / "hub.pid").write_text(str(hub.pid))
    (state / "proxy.pid").write_text(str(took_the_number.pid))
    students, removed = {name: own_process() for name in ("ada", "daemon", "eve")}, []
    load("roster").add(["ada", "daemon"], state)  # daemon is an account of the system's, eve no student
    everybody = [psutil.Process(process.pid) for process in students.values()]
    for name, process in zip(students, everybody, strict=True):
        process.info = {"username": name}
    monkeypatch.setattr(start.psutil, "process_iter", lambda attributes: everybody)
    monkeypatch.setattr("grp.getgrnam", {"attention-students": SimpleNamespace(gr_mem=["ada", "eve"])}.__getitem__)
    monkeypatch.setattr(start.limits, "KINDS", [lambda: SimpleNamespace(remove=removed.append)])
    assert start.stop() == 0
    assert hub.wait(20) is not None and students["ada"].wait(20) is not None
    assert [process.poll() for process in (took_the_number, students["daemon"], students["eve"])] == [None] * 3
    assert not list(state.glob("*.pid"))
    assert removed == ["ada", ""]  # the group of the class after its students'


def test_no_account_is_a_students_where_no_hub_ever_ran(start, monkeypatch):
    monkeypatch.setattr("grp.getgrnam", {}.__getitem__)
    assert start.accounts_of_students() == set()


def test_students_pull_from_this_clone_or_from_where_they_are_told(monkeypatch, tmp_path):
    links = load("links")
    for name in ("COURSE_HUB_REPO", "COURSE_HUB_BRANCH"):
        monkeypatch.delenv(name, raising=False)
    repository, branch = links.source()
    assert repository == f"file://{ROOT}" and branch == links.branch()
    monkeypatch.setenv("COURSE_HUB_REPO", "https://example.org/attention")
    monkeypatch.setenv("COURSE_HUB_BRANCH", "spring")
    assert links.source() == ("https://example.org/attention", "spring")
    monkeypatch.setattr(links, "ROOT", Path("/"))
    assert links.branch() == "main"  # that cannot be said
    subprocess.run(["git", "init", "-q", "--initial-branch", "autumn", tmp_path], check=True)
    monkeypatch.setattr(links, "ROOT", tmp_path)
    monkeypatch.delenv("COURSE_HUB_BRANCH")
    assert links.source()[1] == "autumn"


def test_links_ask_for_an_address():
    result = subprocess.run([sys.executable, DEPLOY / "links.py", "hub"], capture_output=True, text=True)
    assert result.returncode == 1 and "links.py https://" in result.stderr


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
    for path, link in zip(sorted((ROOT / "notebooks").glob("*.ipynb")), out, strict=True):
        assert path.name in link and "targetpath=attention" in link


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


def test_the_simulated_student_answers_by_the_name_that_the_exercise_asks_for():
    (answer,) = re.findall(r'^ANSWER = """.*?"""', (ROOT / "tests/load_hub.py").read_text(), re.M | re.S)
    notebook = json.loads((ROOT / "notebooks/01_by_hand.ipynb").read_text())
    cells = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    (name,) = re.findall(r'check\("1.2", (\w+)\)', cells["check-1-2"])
    assert f"def {name}(" in answer and f"def {name}(" in cells["exercise-1-2"]


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
