"""deploy/: who gets in, what each may, what is limited, handed in and collected, and what students never get.

Accounts are tried on a hub that really runs, on free ports, without its proxy and without servers. No Unix account is
made: what would do so is recorded. What needs JupyterHub is skipped where `python course.py hub` has not installed it;
the whole, with students' servers, is tried by benchmarks/load_hub.py.
"""

import asyncio
import contextlib
import csv
import datetime
import importlib
import io
import json
import os
import re
import runpy
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import pytest
from paths import ROOT
from ports import free_ports

fcntl, pwd = (pytest.importorskip(name, reason="a hub needs Unix accounts") for name in ("fcntl", "pwd"))

DEPLOY = ROOT / "deploy"
HUB = """
import sys
from jupyterhub.proxy import Proxy
sys.path.insert(0, {deploy!r})
load_subconfig({config!r})

class NoProxy(Proxy):
    "The tests ask the hub itself."
    should_start, routes = False, {{}}
    async def add_route(self, routespec, target, data):
        self.routes[routespec] = {{"routespec": routespec, "target": target, "data": data}}
    async def delete_route(self, routespec):
        self.routes.pop(routespec, None)
    async def get_all_routes(self):
        return self.routes

c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.pid_file = {state!r} + "/pid"
c.JupyterHub.services, c.JupyterHub.load_roles = [], c.JupyterHub.load_roles[:1]  # no culler
"""


def needs_jupyterhub():
    pytest.importorskip("nativeauthenticator", reason="python course.py hub has not installed JupyterHub")


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


# ------------------------------------------------------------------------------------------- accounts, on a real hub


class Hub:
    """A hub's process on free ports, its state in a folder, and its pages as browsers ask for them."""

    def __init__(self, state):
        self.roster = load("roster")
        self.roster.STATE = state
        config = state / "config.py"
        config.write_text(HUB.format(deploy=str(DEPLOY), config=str(DEPLOY / "jupyterhub_config.py"), state=str(state)))
        port = free_ports(3)
        self.address = f"http://127.0.0.1:{port + 2}/hub"
        environment = {**os.environ, "COURSE_HUB_STATE": str(state), "COURSE_HUB_PORT": str(port)}
        command = [sys.executable, "-m", "jupyterhub", "-f", config]
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, cwd=state)
        said = []
        while "is now running" not in (said or [""])[-1]:
            said.append(self.process.stderr.readline())
            assert said[-1], "".join(said)  # it ended
        self.reader = ThreadPoolExecutor(1)
        self.reader.submit(self.process.stderr.read)  # else it would fill up

    def end(self):
        self.process.kill()
        self.process.wait()
        self.reader.shutdown()

    def add(self, *names, teacher=False):
        """Make accounts; returns id → password."""
        rows = [{"id": name, "name": "", "email": ""} for name in names]
        with mock.patch.object(self.roster, "COST", 4):  # the least there is
            return {row["id"]: password for row, password in self.roster.add(rows, teacher)}

    def browser(self, name=None, password=""):
        """A browser's session after it has sent the log-in form."""
        import requests

        session = requests.Session()
        session.get(f"{self.address}/login")
        if name is not None:
            self.post(session, "login", username=name, password=password)
        return session

    def post(self, session, page, **fields):
        token = next(cookie.value for cookie in session.cookies if cookie.name == "_xsrf")
        return session.post(f"{self.address}/{page}", data={**fields, "_xsrf": token}, allow_redirects=False)

    def who(self, session):
        """Whom the hub takes this browser for, or None."""
        token = next(cookie.value for cookie in session.cookies if cookie.name == "_xsrf")
        answer = session.get(f"{self.address}/api/user", headers={"X-XSRFToken": token})
        return answer.json()["name"] if answer.status_code == 200 else None

    def token(self, session, name):
        """A token with a student's rights, as each server has one of its student's."""
        xsrf = next(cookie.value for cookie in session.cookies if cookie.name == "_xsrf")
        answer = session.post(f"{self.address}/api/users/{name}/tokens", headers={"X-XSRFToken": xsrf})
        return {"Authorization": f"token {answer.json()['token']}"}

    def takes(self, token):
        import requests

        return requests.get(f"{self.address}/api/user", headers=token).status_code == 200

    def logs_in(self, name, password):
        return self.who(self.browser(name, password)) is not None

    def code(self, session, page):
        return session.get(f"{self.address}/{page}", allow_redirects=False).status_code


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    needs_jupyterhub()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DEPLOY))
        running = Hub(tmp_path_factory.mktemp("hub"))
        yield running
        running.end()


def test_only_the_right_password_logs_in_by_names_of_every_kind(hub):
    passwords = hub.add("ada", "grace@example.org", "王小明", "josé")
    for name, password in passwords.items():
        assert hub.who(hub.browser(name, password)) == name
        assert hub.who(hub.browser(name.upper(), password)) == name
    other = passwords["grace@example.org"]
    for name, password in (("ada", other), ("ada", "wrong"), ("ada", ""), ("eve", other), ("", "")):
        assert not hub.logs_in(name, password)


def test_a_student_is_no_teacher_and_a_teacher_opens_nobodys_server(hub):
    passwords = hub.add("bob", "carol") | hub.add("emmy", teacher=True)
    _, student, teacher = (hub.browser(name, passwords[name]) for name in ("carol", "bob", "emmy"))
    assert hub.code(teacher, "admin") == 200
    for page in ("admin", "authorize", "authorize/bob", "change-password/carol"):
        assert hub.code(student, page) in (403, 404), page
    for page in ("authorize", "change-password/carol"):
        assert hub.code(teacher, page) in (403, 404), page
    for session, may in ((student, False), (teacher, True)):
        token = {"X-XSRFToken": session.cookies.get("_xsrf", path="/hub/")}
        known = session.get(f"{hub.address}/api/users/carol", headers=token)
        assert (known.status_code == 200) == may
        mine = session.get(f"{hub.address}/api/user", headers=token).json()
        assert f"servers!user={mine['name']}" in mine["scopes"]  # a server of their own
        foreign = {scope.partition("!")[0] for scope in mine["scopes"] if "!user=" + mine["name"] not in scope}
        assert not {"access:servers", "servers", "admin:users", "tokens"} & foreign
        assert ("delete:servers" in foreign) == may
        assert session.patch(f"{hub.address}/api/users/bob", headers=token, json={"admin": True}).status_code >= 403


def test_nobody_makes_an_account_for_themselves(hub):
    browser = hub.browser()
    assert hub.code(browser, "signup") == 404
    fields = {"signup_password": "a long enough one", "signup_password_confirmation": "a long enough one"}
    hub.post(browser, "signup", username="mallory", **fields)
    assert not hub.logs_in("mallory", "a long enough one")


def test_who_is_added_again_has_a_new_password_and_the_others_keep_theirs(hub):
    before = hub.add("dora", "fritz")
    assert hub.logs_in("dora", before["dora"])
    after = hub.add("dora")
    assert not hub.logs_in("dora", before["dora"])
    assert hub.logs_in("dora", after["dora"]) and hub.logs_in("fritz", before["fritz"])


def test_who_is_removed_is_out_at_once_and_the_others_stay(hub, capsys):
    passwords = hub.add("gustav", "hanna")
    gone, stays = (hub.browser(name, passwords[name]) for name in ("gustav", "hanna"))
    never_came = hub.add("ilse")["ilse"]
    token, hannas = hub.token(gone, "gustav"), hub.token(stays, "hanna")
    assert hub.takes(token)
    hub.roster.remove(["gustav", "ilse", "nobody"])
    assert not hub.takes(token) and hub.takes(hannas)
    assert not hub.logs_in("ilse", never_came)
    assert hub.who(gone) is None and not hub.logs_in("gustav", passwords["gustav"])
    assert hub.who(stays) == "hanna"
    assert "nobody is not in the roster" in capsys.readouterr().err
    ids = [person["id"] for person in hub.roster.people()]
    assert "gustav" not in ids and "hanna" in ids
    assert hub.logs_in("gustav", hub.add("gustav")["gustav"])  # and may come back


def test_a_teacher_who_is_added_as_a_student_is_one_from_the_next_start_on(roster, capsys):
    from jupyterhub import orm

    def is_teacher():
        with roster.session() as db:
            return [group.name for group in orm.User.find(db, "ida").groups] == ["teachers"]

    for teacher, said in ((True, False), (True, False), (False, True), (True, True)):
        roster.main(["add", *["--teacher"] * teacher, "ida"])
        assert is_teacher() == teacher
        assert roster.people()[0]["teacher"] == ("yes" if teacher else "")
        assert ("ida: the hub knows from its next start on" in capsys.readouterr().err) == said
    roster.main(["remove", "ida"])
    roster.main(["add", "ida"])  # a hub that runs may remember what she was
    assert not is_teacher() and "next start" in capsys.readouterr().err


def test_students_may_choose_a_password_that_is_not_short(hub):
    old = hub.add("klara")["klara"]
    session = hub.browser("klara", old)

    def change(new):
        hub.post(session, "change-password", old_password=old, new_password=new, new_password_confirmation=new)

    change("short")
    assert hub.logs_in("klara", old) and not hub.logs_in("klara", "short")
    change("my own long password")
    assert hub.logs_in("klara", "my own long password") and not hub.logs_in("klara", old)


def test_guessing_ends_after_some_attempts(hub):
    password = hub.add("lise")["lise"]
    session = hub.browser()
    for i in range(20):
        hub.post(session, "login", username="lise", password=f"guess {i}")
    assert not hub.logs_in("lise", password)


# ------------------------------------------------------------------------------------------------------------- roster


@pytest.fixture
def roster(monkeypatch, tmp_path):
    needs_jupyterhub()
    module = load("roster")
    monkeypatch.setattr(module, "STATE", tmp_path / "hub")
    return module


@pytest.mark.parametrize(
    "text",
    [
        "id,name,email\nAda@Example.org,Ada Lovelace,ada@example.org\n王小明,王小明\n",
        "\ufeffE-Mail;ID;Name;Group\nada@example.org; ADA@example.org ; Ada Lovelace ;3\n;王小明;王小明\n",
        '\ufeff"Group, seat",ID,Name,E-Mail\n"3, 4",ada@example.org,Ada Lovelace,ada@example.org\n,王小明,王小明,\n',
    ],
)
def test_a_class_list_is_read_as_spreadsheets_write_it(roster, tmp_path, text):
    file = tmp_path / "class.csv"
    file.write_text(text, encoding="utf-8")
    ada, xiaoming = roster.read(file)
    assert ada == {"id": "ada@example.org", "name": "Ada Lovelace", "email": "ada@example.org"}
    assert xiaoming == {"id": "王小明", "name": "王小明", "email": ""}


def test_one_form_of_accents_counts(roster):
    assert roster.plain("Jose\u0301") == "josé"


@pytest.mark.parametrize("name", ["", "ada smith", "../ada", "-ada", ".", "ada,1", "ada\n", "a\u200bb"])
def test_an_id_that_cannot_be_one_is_refused_and_nobody_is_added(roster, name):
    with pytest.raises(ValueError, match="cannot be an id"):
        roster.add([{"id": person, "name": "", "email": ""} for person in ("grace", name)])
    assert roster.people() == []


def test_the_roster_is_kept_from_the_command_line(roster, tmp_path, capsys):
    file = tmp_path / "class.csv"
    file.write_text("id,name,email\n王小明,Wang Xiaoming,xm@example.org\n", encoding="utf-8")
    roster.main(["add", str(file)])
    (roster.STATE / ".roster.csv").touch(0o600)
    (roster.STATE / ".roster.csv").write_text("half of a longer one, of a write that was cut off\n" * 9)
    roster.main(["add", "--teacher", "Emmy"])
    printed = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert [line[:2] for line in printed] == [["王小明", "Wang Xiaoming"], ["emmy", ""]]
    passwords = [line[2] for line in printed]
    assert all(re.fullmatch(r"([a-z2-7]{4}-){3}[a-z2-7]{4}", password) for password in passwords)  # 80 bits
    assert len(set(passwords)) == 2
    roster.main(["list"])
    assert capsys.readouterr().out == "王小明 Wang Xiaoming xm@example.org\nemmy (teacher)\n"
    assert mode(roster.STATE) == 0o700 and mode(roster.STATE / "roster.csv") == 0o600
    kept = b"".join(path.read_bytes() for path in roster.STATE.iterdir())
    assert not any(password.encode() in kept for password in passwords)
    assert [*map(int, re.findall(rb"\$2b\$(\d\d)\$", kept))] == [8, 8]  # a class logs in within a second
    roster.main(["remove", "EMMY"])
    assert [person["id"] for person in roster.people()] == ["王小明"]


@pytest.mark.parametrize(
    "arguments, said",
    [(["add"], "course.py hub add CLASS.csv"), (["add", "a b"], "'a b' cannot"), (["add", "none.csv"], "none.csv"),
     (["add", "heads.csv"], "heads id, name, email")],
)  # fmt: skip
def test_a_roster_command_that_cannot_be_done_says_so(roster, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("heads.csv").write_text("name\nAda\n")
    with pytest.raises(SystemExit, match=re.escape(said)):
        roster.main(arguments)
    assert roster.people() == []


# ---------------------------------------------------------------------------------------------- what JupyterHub is told


@pytest.fixture
def config(roster, monkeypatch):
    """The configuration as JupyterHub loads it, without and with systemd."""
    from traitlets.config import PyFileConfigLoader

    roster.STATE.mkdir()
    is_dir = Path.is_dir

    def load_config(systemd):
        answer = lambda path: systemd if str(path) == "/run/systemd/system" else is_dir(path)  # noqa: E731
        monkeypatch.setattr(Path, "is_dir", answer)
        loaded = PyFileConfigLoader("jupyterhub_config.py", path=str(DEPLOY)).load_config()
        monkeypatch.setattr(Path, "is_dir", is_dir)
        return loaded

    return load_config


@pytest.fixture
def classroom(roster):
    return load("spawners")


@pytest.fixture
def accounts(classroom, monkeypatch):
    """Unix accounts by name, and who is in the group of students, as this machine would answer."""
    of_users, students = {}, []
    monkeypatch.setattr("pwd.getpwnam", of_users.__getitem__)
    monkeypatch.setattr("grp.getgrnam", lambda name: SimpleNamespace(gr_mem=students))
    return SimpleNamespace(users=of_users, students=students)


@pytest.fixture
def values():
    return pytest.importorskip("yaml").safe_load((DEPLOY / "values.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("systemd", [False, True])
def test_the_config_names_only_what_there_is(config, systemd):
    from jupyterhub.app import JupyterHub
    from jupyterhub.proxy import ConfigurableHTTPProxy
    from nativeauthenticator import NativeAuthenticator

    classroom = load("spawners")
    known = [JupyterHub, ConfigurableHTTPProxy, NativeAuthenticator, classroom.PlainServer, classroom.SystemdServer]
    for name, settings in config(systemd).items():
        owners = [one for one in known if name in [base.__name__ for base in one.__mro__]]
        assert owners, name
        assert set(settings) <= set(owners[-1 if systemd else 0].class_traits(config=True)), name


def test_one_machine_and_kubernetes_have_the_same_accounts_and_limits(config, values):
    one = config(False)
    for name, settings in values["hub"]["config"].items():
        assert settings.items() <= one[name].items()
    assert one.JupyterHub.authenticator_class == "nativeauthenticator.NativeAuthenticator"
    native = one.NativeAuthenticator
    assert native.enable_signup is False and native.minimum_password_length >= 12 and native.allowed_failed_logins
    assert set(one.Authenticator) == {"allow_all"}  # no admins: they could open every student's server
    student = values["singleuser"]
    assert one.Spawner.mem_limit == student["memory"]["limit"] and one.Spawner.cpu_limit == student["cpu"]["limit"]
    assert one.Spawner.environment["OMP_NUM_THREADS"] == student["extraEnv"]["OMP_NUM_THREADS"] == "1"
    assert student["startTimeout"] == one.Spawner.start_timeout == one.Spawner.http_timeout >= 300
    (culler,) = one.JupyterHub.services
    cull = values["cull"]
    assert {f"--timeout={cull['timeout']}", f"--cull-every={cull['every']}"} <= set(culler["command"])
    assert "jupyterhub_idle_culler" in culler["command"]
    teacher, cull = one.JupyterHub.load_roles
    assert teacher == {"name": "teacher", **values["hub"]["loadRoles"]["teacher"]} and cull["services"] == ["culler"]
    assert set(cull["scopes"]) == {"list:users", "read:users:activity", "read:servers", "delete:servers"}


def test_without_systemd_a_server_has_the_limits_of_its_process(config):
    settings = config(False)
    assert settings.JupyterHub.spawner_class.__name__ == "PlainServer"
    command = settings.Spawner.cmd
    assert command[:4] == ["nice", "prlimit", f"--data={1536 << 20}", "--nproc=400"]
    options, log = settings.PlainServer.popen_kwargs, load("roster").STATE / "servers.log"
    assert command[4].endswith("jupyterhub-singleuser") and options["umask"] == 0o077
    assert options["stdin"] == subprocess.DEVNULL and options["stdout"] == options["stderr"]
    assert os.path.samestat(os.fstat(options["stdout"]), log.stat()) and mode(log) == 0o600
    assert fcntl.fcntl(options["stdout"], fcntl.F_GETFL) & os.O_APPEND, "each server writes behind what others wrote"


@pytest.mark.skipif(not shutil.which("prlimit"), reason="util-linux is not there")
def test_the_limit_stops_a_process_that_takes_too_much():
    code = "x = b'x' * (100 << 20)\ntry:\n    x + b'x' * (400 << 20)\nexcept MemoryError:\n    print('stopped')"
    command = ["nice", "prlimit", f"--data={300 << 20}", "--nproc=400", sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "stopped\n"


def test_with_systemd_a_server_is_a_unit_of_its_student(config):
    settings = config(True)
    classroom = load("spawners")
    assert settings.JupyterHub.spawner_class is classroom.SystemdServer
    assert not any("prlimit" in part for part in settings.Spawner.cmd)
    unit = settings.SystemdSpawner
    assert unit.isolate_tmp and unit.isolate_devices and unit.disable_user_sudo
    assert unit.unit_extra_properties == {"TasksMax": "400", "UMask": "0077"}
    user = SimpleNamespace(name="王小明", id=7)
    server = classroom.SystemdServer(user=user, config=settings)
    assert server.mem_limit == 1536 << 20 and server.cpu_limit == 1
    assert server._expand_user_vars(server.username_template) == classroom.account("王小明")
    assert server.unit_name == f"jupyter-{classroom.account('王小明')}-singleuser"


def test_a_unit_is_started_with_the_rights_and_limits_of_its_student(config, accounts, monkeypatch):
    from systemdspawner import systemd

    classroom, started = load("spawners"), {}
    accounts.users[classroom.account("王小明")] = SimpleNamespace(pw_uid=1007, pw_gid=1008, pw_dir="/home/x")

    async def running(unit):
        return bool(started)

    async def start(unit, **options):
        started.update(options, unit=unit)

    monkeypatch.setattr(systemd, "service_running", running)
    monkeypatch.setattr(systemd, "service_failed", running)
    monkeypatch.setattr(systemd, "start_transient_service", start)
    monkeypatch.setattr(classroom.SystemdServer, "get_env", lambda self: {"A": "1"})
    monkeypatch.setattr(classroom.SystemdServer, "get_args", lambda self: [])
    server = classroom.SystemdServer(user=SimpleNamespace(name="王小明", id=7), config=config(True))
    assert run_async(server.start()) == ("127.0.0.1", server.port)
    assert (started["uid"], started["gid"], started["working_dir"]) == (1007, 1008, "/home/x")
    properties = started["properties"]
    assert properties["MemoryMax"] == 1536 << 20 and properties["CPUQuota"] == "100%"
    assert properties["TasksMax"] == "400" and properties["UMask"] == "0077"
    assert properties["NoNewPrivileges"] == properties["PrivateTmp"] == properties["PrivateDevices"] == "yes"
    assert started["cmd"][0].endswith("jupyterhub-singleuser")


def test_the_hub_is_not_open_and_its_end_is_nobody_elses(config):
    hub = config(False).JupyterHub
    assert hub.bind_url.startswith("http://127.0.0.1:") and hub.hub_bind_url.startswith("http://127.0.0.1:")
    assert hub.cleanup_servers is False and hub.cleanup_proxy is False
    proxy = config(False).ConfigurableHTTPProxy
    assert proxy.command[:4] == ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    assert proxy.api_url.startswith("http://127.0.0.1:")
    state = load("roster").STATE
    assert hub.db_url == f"sqlite:///{state}/jupyterhub.sqlite" and hub.cookie_secret_file == f"{state}/cookie_secret"
    assert "announcement_login" in hub.template_vars and proxy.log_level == "error"


def test_a_hub_stands_where_it_is_told_and_its_three_ports_follow_each_other(config, monkeypatch):
    monkeypatch.setenv("COURSE_HUB_ADDRESS", "0.0.0.0")
    monkeypatch.setenv("COURSE_HUB_PORT", "8123")
    settings, start = config(False), runpy.run_path(str(DEPLOY / "cli.py"))
    hub, proxy = settings.JupyterHub, settings.ConfigurableHTTPProxy
    assert hub.bind_url == "http://0.0.0.0:8123"
    assert (proxy.api_url, hub.hub_bind_url) == ("http://127.0.0.1:8124", "http://127.0.0.1:8125")
    assert [hub.pid_file, proxy.pid_file] == [str(start["pid_file"](name)) for name in ("hub", "proxy")]
    assert "8123" in hub.pid_file and hub.pid_file.startswith("/run/")


def test_a_student_begins_with_the_course_and_can_hand_in(config, monkeypatch):
    spawner = config(False).Spawner
    assert spawner.pre_spawn_hook is load("spawners").make_account
    assert "--MappingKernelManager.cull_idle_timeout=7200" in spawner.args
    assert spawner.default_url.startswith("/git-pull?") and "01_by_hand.ipynb" in spawner.default_url
    assert spawner.environment["ATTENTION_HAND_IN"] == f"~/{load('collect').PLACE}"
    assert spawner.environment["GIT_CONFIG_SYSTEM"] == str(load("student_edition").SETTINGS)
    live = spawner.environment["ATTENTION_LIVE"]
    home = SimpleNamespace(pw_dir="/home/at-ada")
    monkeypatch.setattr(load("spawners"), "home", {"ada": home}.get)
    assert live(SimpleNamespace(user=SimpleNamespace(name="ada"))) == f"/home/at-ada/{load('collect').LIVE}"
    longest = load("spawners").account("x" * 90)
    monkeypatch.setattr(load("spawners"), "home", lambda name: SimpleNamespace(pw_dir=f"/home/{longest}"))
    runtime = spawner.environment["JUPYTER_RUNTIME_DIR"](SimpleNamespace(user=SimpleNamespace(name="ada")))
    assert "--KernelManager.transport=ipc" in spawner.args and len(f"{runtime}/kernel-{uuid.uuid4()}-ipc-5") < 108
    source = (ROOT / "workbench/places.py").read_text()
    assert re.search('^HAND_IN_VARIABLE = "(.*)"', source, re.M)[1] in spawner.environment


# ------------------------------------------------------------------------------------------------- accounts, servers


def test_every_name_has_an_account_of_its_own_that_the_system_takes(classroom):
    names = [
        "ada",
        "ada@example.org",
        "ada-example-org",
        "ada.example.org",
        "王小明",
        "王小红",
        "root",
        "7up",
        "x" * 90,
    ]
    accounts = [classroom.account(name) for name in names]
    assert len(set(accounts)) == len(names)
    assert all(re.fullmatch("at-[a-z0-9-]{1,28}", account) for account in accounts)
    assert accounts[1] == "at-ada-example-org-cfe00dde"  # the same after a restart, and in which it can be read whose


def test_a_new_account_is_marked_and_its_home_closed(classroom, accounts, monkeypatch, tmp_path):
    home, commands = tmp_path / "home", []
    home.mkdir(mode=0o755)

    def run(command, check):
        commands.append([str(part) for part in command])
        accounts.users[command[-1]] = SimpleNamespace(pw_dir=str(home))

    monkeypatch.setattr(subprocess, "run", run)
    classroom.make_account(SimpleNamespace(user=SimpleNamespace(name="王小明")))
    groupadd, useradd = commands
    assert groupadd == ["groupadd", "--force", "attention-students"]
    assert useradd[0] == "useradd" and useradd[-1] == classroom.account("王小明") and "HOME_MODE=0700" in useradd
    assert useradd[useradd.index("--groups") + 1] == "attention-students" and "--create-home" in useradd
    assert useradd[useradd.index("--shell") + 1] == "/bin/bash"
    assert mode(home) == 0o700


def test_an_account_that_no_hub_made_is_nobodys(classroom, accounts, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    name = classroom.account("ada")
    accounts.users[name] = "somebody's"
    spawner = SimpleNamespace(user=SimpleNamespace(name="ada"))
    with pytest.raises(PermissionError, match=name):
        classroom.make_account(spawner)
    accounts.students.append(name)
    classroom.make_account(spawner)


@pytest.fixture
def server(classroom):
    server = classroom.PlainServer()
    server.user = SimpleNamespace(name="王小明")
    return server


def test_a_server_runs_as_its_students_account(classroom, server, accounts, monkeypatch):
    mine = classroom.account("王小明")
    monkeypatch.setattr(classroom.LocalProcessSpawner, "make_preexec_fn", lambda self, name: name)
    assert server.make_preexec_fn("王小明") == mine
    accounts.users[mine] = SimpleNamespace(pw_name=mine, pw_dir=f"/home/{mine}", pw_shell="/bin/bash")
    assert server.user_env({"A": "1"}) == {"A": "1", "USER": mine, "HOME": f"/home/{mine}", "SHELL": "/bin/bash"}


def test_after_a_restart_a_number_that_another_account_has_is_not_taken_over(classroom, server, monkeypatch):
    assert classroom.owner(os.getpid()) == pwd.getpwuid(os.geteuid()).pw_name and classroom.owner(999_999_999) is None
    monkeypatch.setattr(classroom, "owner", {41: classroom.account("王小明"), 42: "root"}.get)
    for number, taken_over in ((41, 41), (42, 0), (43, 0)):
        server.load_state({"pid": number})
        assert server.pid == taken_over


def test_stopping_a_server_ends_all_of_its_student_and_nothing_else(classroom, server, monkeypatch, own_process):
    async def stop(self, now):
        asked.append(self)

    asked = []
    left, others = own_process(), own_process()
    monkeypatch.setattr(classroom, "owner", {left.pid: classroom.account("王小明"), others.pid: "at-grace"}.get)
    monkeypatch.setattr(classroom.LocalProcessSpawner, "stop", stop)
    run_async(server.stop())
    assert left.wait(20) is not None and others.poll() is None and asked == [server]


# ------------------------------------------------------------------------------------------- what a machine must have


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """deploy/check_requirements.py on a machine that has all; returns it and what it says of one."""
    needs = load("check_requirements")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda program: f"/bin/{program}")
    monkeypatch.setattr(needs, "answers", lambda *_, **__: True)
    monkeypatch.setattr(needs, "node_version", lambda: 22)
    monkeypatch.setattr(needs, "ROOT", Path("/srv/attention"))
    monkeypatch.setattr(Path, "stat", lambda path, **_: SimpleNamespace(st_mode=0o40755))
    return needs, lambda: list(needs.missing("/usr/bin/python3"))


@pytest.mark.skipif(sys.platform != "linux", reason="a hub runs on Linux")
def test_what_a_machine_lacks_is_said_in_a_sentence_with_its_remedy(machine, monkeypatch):
    needs, said = machine
    assert said() == []
    with monkeypatch.context() as change:
        change.setattr(needs, "node_version", lambda: 20)  # the oldest that will do
        assert said() == []
    for program, package in (("git", "git"), ("useradd", "passwd"), ("setpriv", "util-linux")):
        with monkeypatch.context() as change:
            change.setattr(shutil, "which", lambda name, lacking=program: None if name == lacking else "/bin")
            (line,) = said()
            assert line.startswith(f"The hub needs {program}: apt-get install {package},")
    for without, there in (
        (("node",), "this machine has no node"),
        (("npm",), "this machine has no npm"),
        (("node", "npm"), "this machine has no node and no npm"),
        ((), "this is 18"),
    ):
        with monkeypatch.context() as change:
            change.setattr(shutil, "which", lambda name, lacking=without: None if name in lacking else "/bin")
            change.setattr(needs, "node_version", lambda: 18)
            (line,) = said()
            assert line.startswith(f"The hub's proxy needs node 20 or newer and npm, {there}: apt-get install nodejs")
            assert line.endswith("https://nodejs.org/en/download")
    with monkeypatch.context() as change:
        change.setattr(Path, "stat", lambda path, **_: SimpleNamespace(st_mode=0o776 if path.name == "srv" else 0o701))
        assert said() == [
            "Students cannot enter /srv: move the course to a folder open to all, such as /srv/attention."
        ]
    with monkeypatch.context() as change:
        change.setattr(needs, "answers", lambda python, code, user=None, **_: user != "nobody")
        assert "Students cannot run /usr/bin/python3" in said()[0] and "sudo /usr/bin/python3 course.py" in said()[0]
    with monkeypatch.context() as change:
        change.setattr(needs, "answers", lambda python, code, user=None, **_: "ensurepip" not in code)
        assert "apt-get install python3-venv" in said()[0]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo python3 course.py hub" in said()[0]
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "Linux alone" in said()[0]


def test_a_python_is_tried_as_an_account_without_rights(monkeypatch, tmp_path):
    needs = load("check_requirements")
    (tmp_path / "venv.py").write_text("1 / 0")  # of the folder where the command was typed
    monkeypatch.chdir(tmp_path)
    assert needs.answers(sys.executable, "import venv") and not needs.answers(sys.executable, "1 / 0")
    assert not needs.answers("/no/python", "")
    asked = []
    monkeypatch.setattr(subprocess, "run", lambda *_, **options: asked.append(options) or SimpleNamespace(returncode=0))
    needs.answers("python", "", user="nobody", extra_groups=[])
    assert asked[0]["user"] == "nobody" and asked[0]["extra_groups"] == []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root becomes somebody else")
def test_a_python_in_a_closed_home_is_not_for_students(tmp_path):
    needs = load("check_requirements")
    tmp_path.chmod(0o700)
    (tmp_path / "python").symlink_to(sys.executable)
    assert not needs.answers(tmp_path / "python", "", user="nobody", extra_groups=[])


@pytest.mark.parametrize("said, version", [("v20.19.2\n", 20), ("v8.1.0", 8), ("", 0), ("?", 0)])
def test_nodes_version_is_read(monkeypatch, said, version):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=said))
    assert load("check_requirements").node_version() == version


# --------------------------------------------------------------------------------------------------- start and stop


@pytest.fixture
def start(roster, monkeypatch, tmp_path):
    """deploy/cli.py on folders of its own, its commands recorded."""
    module, edition = load("cli"), load("student_edition")
    monkeypatch.setattr(module, "STATE", roster.STATE)
    monkeypatch.setattr(edition, "PLACE", tmp_path / "place")
    for name in ("write", "allow_pulling", "close_the_rest"):
        monkeypatch.setattr(edition, name, lambda name=name: module.commands.append([name]))
    module.commands = []
    module.variables = []

    def run(command, env=None, **_):
        module.commands.append([str(part) for part in command])
        module.variables.append(env or {})

    monkeypatch.setattr(module, "subprocess", SimpleNamespace(run=run, DEVNULL=subprocess.DEVNULL))
    return module


SIGNS = {"hub": "jupyterhub", "proxy": "configurable-http-proxy"}  # what stands in the command line of each


def test_each_command_goes_where_it_is_done(start, monkeypatch):
    for place, name in (
        ("roster", "main"),
        ("collect", "main"),
        ("collect", "live"),
        ("edition", "links"),
        ("start", "start"),
        ("start", "stop"),
    ):
        done = lambda *arguments, place=place, name=name: (place, name, *arguments)  # noqa: E731
        monkeypatch.setattr(load(place), name, done)
    for word in ("add", "remove", "list"):
        assert start.main([word, "x"]) == ("roster", "main", [word, "x"])
    assert start.main(["collect", "03"]) == ("collect", "main", ["03"])
    assert start.main(["live"]) == ("collect", "live", [])
    assert start.main(["links", "https://x"]) == ("edition", "links", ["https://x"])
    assert start.main(["stop"]) == ("start", "stop") and start.main([]) == ("start", "start")
    with pytest.raises(SystemExit, match=r"course\.py hub stop"):
        start.main(["everything"])


def test_a_hub_without_a_class_or_beside_another_does_not_start(start, monkeypatch, tmp_path):
    assert str(start.pid_file("hub")) == f"/run/attention-hub-{start.PORT}.pid"
    monkeypatch.setattr(start, "pid_file", tmp_path.joinpath)
    (tmp_path / "proxy").write_text("1")  # of a proxy that is gone: the number may be anybody's
    monkeypatch.setattr(start, "running", lambda name, sign: None)
    with pytest.raises(SystemExit, match="Nobody is in the roster yet"):
        start.start()
    monkeypatch.setattr(start.roster, "people", lambda: [{"id": "ada"}])
    monkeypatch.setattr(start, "running", lambda name, sign: SimpleNamespace(pid=7))
    with pytest.raises(SystemExit, match="running already, as process 7"):
        start.start()
    assert start.commands == []
    asked, printed = [], io.BytesIO()
    monkeypatch.setattr(start, "running", lambda *process: asked.append(process))
    monkeypatch.setattr(start, "prepare", lambda: start.commands.append("prepared"))
    monkeypatch.setattr(os, "execv", lambda program, command: start.commands.append([*command, printed.getvalue()]))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed))
    monkeypatch.setattr(start, "PORT", 8123)
    monkeypatch.setenv("COURSE_HUB_STATE", "")
    start.start()
    assert not (tmp_path / "proxy").exists()
    assert asked == list(SIGNS.items())
    prepared, (_, *command, said) = start.commands
    assert prepared == "prepared" and command == ["-m", "jupyterhub", "-f", str(DEPLOY / "jupyterhub_config.py")]
    assert b"The class is at port 8123 " in said, "what is not flushed is lost when another program takes over"
    assert os.environ["COURSE_HUB_STATE"] == str(start.STATE)
    (tmp_path / "proxy").write_text("2")
    monkeypatch.setattr(start, "running", lambda name, sign: name == "proxy" or None)
    start.start()
    assert (tmp_path / "proxy").exists(), "that of a proxy that runs stays"


def test_before_a_start_everything_is_made_and_what_is_there_is_left(start, tmp_path):
    start.STATE.mkdir(mode=0o755)
    before = os.umask(0o077)
    try:
        start.prepare()
    finally:
        os.umask(before)
    assert mode(tmp_path / "place") == 0o755  # students pull from a folder in it
    install, *done, fonts, compiled = start.commands
    assert install[:2] == ["npm", "install"] and install[-1] == f"configurable-http-proxy@{start.PROXY}"
    assert done == [["write"], ["allow_pulling"], ["close_the_rest"]]
    assert install[install.index("--prefix") + 1] == str(tmp_path / "place")
    assert "font_manager" in fonts[-1] and {
        str(ROOT / "attn_lib"),
        str(ROOT / "workbench"),
        sysconfig.get_path("purelib"),
    } <= set(compiled)
    cache = start.STATE / "skeleton/.cache/matplotlib"
    assert any(variables.get("MPLCONFIGDIR") == str(cache) for variables in start.variables)
    assert mode(start.STATE) == 0o700 and (start.STATE / "skeleton" / start.collect.LIVE).is_dir()
    package = tmp_path / "place/node_modules/configurable-http-proxy/package.json"
    package.parent.mkdir(parents=True)
    (start.STATE / "skeleton/.cache/matplotlib").mkdir(parents=True)
    for version, installs in ((start.PROXY, 0), ("4.0.0", 1)):
        package.write_text(f'{{"version": "{version}"}}')
        start.commands.clear()
        start.prepare()
        assert sum(command[0] == "npm" for command in start.commands) == installs
        assert not any("font_manager" in command[-1] for command in start.commands)


def test_a_number_counts_only_for_the_process_that_wrote_it(start, monkeypatch, tmp_path, own_process):
    hub, other = own_process("jupyterhub"), own_process("somebody else's")
    file = tmp_path / "pid"
    monkeypatch.setattr(start, "pid_file", {"hub": file}.get)
    file.write_text(str(hub.pid))
    assert start.running("hub", "jupyterhub").pid == hub.pid
    for text in (str(other.pid), "no number", "999999999"):
        file.write_text(text)
        assert start.running("hub", "jupyterhub") is None
    file.unlink()
    assert start.running("hub", "jupyterhub") is None


def test_stop_ends_hub_proxy_and_the_classs_processes_and_nobody_elses(start, monkeypatch, own_process):
    hub, proxy, student, other = own_process(), own_process(), own_process(), own_process()
    processes = {"hub": hub, "proxy": proxy}
    there = lambda name, sign: start.psutil.Process(processes[name].pid) if SIGNS[name] == sign else None  # noqa: E731
    monkeypatch.setattr(start, "running", there)
    monkeypatch.setattr(start.roster, "people", lambda: [{"id": "ada"}])
    owners = {student.pid: start.spawners.account("ada"), other.pid: start.spawners.account("eve")}
    monkeypatch.setattr(start.spawners, "owner", owners.get)
    waited_for = []
    monkeypatch.setattr(start.psutil, "wait_procs", lambda processes, timeout: waited_for.extend(processes))
    start.stop()
    assert [process.pid for process in waited_for] == [hub.pid, proxy.pid, student.pid]  # until they are gone
    assert [process.wait(20) for process in (hub, proxy)] == [-signal.SIGTERM] * 2, "they end what they have begun"
    assert student.wait(20) == -signal.SIGKILL and other.poll() is None


# ---------------------------------------------------------------------------------------------- what students get


@pytest.fixture
def edition(monkeypatch, tmp_path):
    """deploy/student_edition.py for a small course in a folder of its own."""
    module = load("student_edition")
    course, place = tmp_path / "course", tmp_path / "place with a space"
    for name in ("notebooks/01_by_hand.ipynb", "notebooks/INSTRUCTORS.md", "img/masks.svg"):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, course / name)
    for name in ("tests/secret.py", ".venv/x.py", "attn_lib/x.py", "workbench/x.py", ".git/HEAD", "my/x"):
        (course / name).parent.mkdir(exist_ok=True)
        (course / name).touch()
    place.mkdir()
    paths = {"ROOT": course, "PLACE": place, "EDITION": place / "edition"}
    for name, path in (paths | {"HOOKS": place / "hooks", "SETTINGS": place / "gitconfig"}).items():
        monkeypatch.setattr(module, name, path)
    return module


def test_students_pull_notebooks_without_notes_get_copies_and_keep_what_they_wrote(edition, tmp_path, monkeypatch):
    python = tmp_path / "a python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    edition.SETTINGS.touch(0o600)  # of an earlier start
    edition.write()
    edition.allow_pulling()
    assert mode(edition.SETTINGS) == 0o644
    command = ["git", "config", "--no-includes", "--file", edition.SETTINGS, "--get-all", "safe.directory"]
    listed = subprocess.run(command, capture_output=True, text=True).stdout.split("\n")
    assert listed[:2] == [str(edition.EDITION), str(edition.EDITION / ".git")]
    environment = {**os.environ, "GIT_CONFIG_SYSTEM": str(edition.SETTINGS), "HOME": str(tmp_path)}

    def git(*arguments, cwd=tmp_path):
        result = subprocess.run(["git", *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr

    home = tmp_path / "home"
    link = parse_qs(urlsplit(edition.pull("01_by_hand.ipynb")).query)
    clone = ["clone", "-q", "--branch", *link["branch"], *link["repo"]]
    git(*clone, str(home))
    got = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and ".git/" not in str(path)}
    hidden = {name for name in got if name.startswith("my/.")}
    assert got - hidden == {"notebooks/01_by_hand.ipynb", "my/01_by_hand.ipynb", "img/masks.svg"}
    assert '"speaker"' in (ROOT / "notebooks/01_by_hand.ipynb").read_text()
    assert not any('"speaker"' in path.read_text() for path in home.rglob("*.ipynb"))
    mine, lesson = home / "my/01_by_hand.ipynb", edition.ROOT / "notebooks/01_by_hand.ipynb"
    mine.write_text(mine.read_text().replace("# 1. ", "# One. "))
    lesson.write_text(lesson.read_text().replace("import torch", "import  torch"))
    edition.write()
    git("pull", "-q", cwd=home)
    assert "# One. " in mine.read_text() and "import  torch" in mine.read_text()
    assert all(path.read_bytes().isascii() for path in home.glob("notebooks/*")), "whatever the machine's encoding is"
    python.write_text("#!/bin/sh\nexit 1\n")
    git(*clone, str(tmp_path / "another home"))  # the course is there even where no copies can be made


def test_what_is_for_teachers_is_closed_and_what_students_run_is_open(edition, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere").chmod(0o755)
    (edition.ROOT / "link").symlink_to(tmp_path / "elsewhere")
    old = os.umask(0o022)
    try:
        for folder in edition.ROOT.iterdir():
            if folder.is_dir():
                folder.chmod(0o755)
        edition.close_the_rest()
        assert mode(tmp_path / "elsewhere") == 0o755  # is not the course's
        (edition.ROOT / "link").unlink()
    finally:
        os.umask(old)
    modes = {folder.name: mode(folder) for folder in edition.ROOT.iterdir() if folder.is_dir()}
    assert {name for name, bits in modes.items() if bits == 0o755} == {"attn_lib", "workbench", ".venv"}
    assert {name for name, bits in modes.items() if bits == 0o700} == {"notebooks", "tests", ".git", "my", "img"}


def test_the_edition_is_readable_whatever_the_teachers_umask(edition):
    old = os.umask(0o077)
    try:
        edition.write()
    finally:
        os.umask(old)
    for path in (edition.EDITION, *edition.EDITION.rglob("*")):
        wanted = 0o005 if path.is_dir() else 0o004
        assert mode(path) & wanted == wanted, path


def test_there_is_a_link_to_every_notebook(monkeypatch, capsys):
    edition = load("student_edition")
    edition.links(["https://hub.example.org/"])
    links = capsys.readouterr().out.splitlines()
    for path, link in zip(sorted((ROOT / "notebooks").glob("*.ipynb")), links, strict=True):
        assert link.startswith("https://hub.example.org/hub/user-redirect/git-pull?repo=file")
        assert f"urlpath=lab%2Ftree%2Fattention%2Fmy%2F{path.name}" in link and "targetpath=attention" in link
    with pytest.raises(SystemExit, match="links https://"):
        edition.links(["hub"])


# ----------------------------------------------------------------------------------------------------------- hand-ins


@pytest.fixture
def class_of(roster, monkeypatch, tmp_path):
    """deploy/collect.py for students whose homes are folders of these tests; returns it and the homes."""
    collect = load("collect")
    people = [{"id": id, "name": id.title(), "email": "", "teacher": ""} for id in ("ada@example.org", "王小明", "eve")]
    monkeypatch.setattr(roster, "people", lambda: [*people, {**people[0], "id": "emmy", "teacher": "yes"}])
    homes = {person["id"]: tmp_path / "homes" / person["id"] for person in people[:2]}
    entries = {id: SimpleNamespace(pw_dir=str(home), pw_name=id) for id, home in homes.items()}
    monkeypatch.setattr(collect.classroom, "home", entries.get)
    monkeypatch.setattr(collect, "acting_as", lambda entry: contextlib.nullcontext())
    monkeypatch.delenv("SUDO_UID", raising=False)
    old = os.umask(0o022)
    yield collect, homes
    os.umask(old)


def handed_in(home, name, text):
    """A student presses the button."""
    file = home / "attention/handed-in/03" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_the_newest_counts_every_one_is_kept_and_who_is_missing_is_named(class_of, tmp_path, capsys):
    collect, homes = class_of
    first = handed_in(homes["王小明"], "2026-01-01 09.00.00.000000 03_masking.ipynb", "first")
    out = tmp_path / "out"
    os.utime(first, (0, 0))  # whoever is late may try that
    collect.main(["03", str(out)])
    assert not [*(out / "03-all/王小明").glob("1970*")]
    first.unlink()  # it stays collected
    handed_in(homes["王小明"], "2025-01-01 09.00.00.000000 03_masking.ipynb", "second, with an earlier name")
    collect.main(["03", str(out)])
    collect.main(["03", str(out)])
    assert "1 of 3 handed in notebook 03. Nothing from: ada@example.org, eve." in capsys.readouterr().out
    assert {str(path.relative_to(out / "03")) for path in (out / "03").rglob("*") if path.is_file()} == {
        "roster.csv", "王小明/03_masking.ipynb",
    }  # fmt: skip
    assert (out / "03/王小明/03_masking.ipynb").read_text() == "second, with an earlier name"
    assert sorted(path.read_text() for path in (out / "03-all/王小明").iterdir()) == [
        "first", "second, with an earlier name",
    ]  # fmt: skip
    with open(out / "03/roster.csv", encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ["ada@example.org", "王小明", "eve"]
    with open(out / "03-times.csv", encoding="utf-8", newline="") as file:
        counts = {row["id"]: row["count"] for row in csv.DictReader(file)}
    assert counts == {"ada@example.org": "0", "王小明": "2", "eve": "0"}
    assert all(mode(path) & 0o077 == 0 for path in (out / "03", out / "03-all", out / "03-times.csv"))


def test_a_copy_has_the_time_of_what_was_handed_in_and_the_table_the_newest(class_of, tmp_path, monkeypatch):
    collect, _ = class_of
    times = [datetime.datetime(2026, 3, day, 9).timestamp() for day in (2, 1)]
    monkeypatch.setattr(collect, "fetch", lambda entry, place: [(times[0], b"new"), (times[1], b"old")])
    row = collect.one({"id": "王小明", "name": "", "email": ""}, "03", tmp_path, "03_masking.ipynb")
    assert (row["newest"], row["count"]) == ("2026-03-02 09.00.00", 2)
    copies = sorted((tmp_path / "03-all/王小明").iterdir())
    assert [path.stat().st_mtime for path in copies] == times[::-1]
    counts = tmp_path / "03/王小明/03_masking.ipynb"
    assert counts.read_bytes() == b"new" and counts.stat().st_mtime == times[0]


def test_what_is_no_notebook_or_too_large_is_left_out_and_said(class_of, tmp_path, capsys, monkeypatch):
    collect, homes = class_of
    home = homes["王小明"]
    handed_in(home, "a good one.ipynb", "good")
    handed_in(home, ".half.ipynb", "half written")
    handed_in(home, "large.ipynb", "x" * 11)
    os.mkfifo(home / "attention/handed-in/03/pipe.ipynb")
    (tmp_path / "elsewhere").write_text("small")
    (home / "attention/handed-in/03/link.ipynb").symlink_to(tmp_path / "elsewhere")
    (homes["ada@example.org"] / "attention").mkdir(parents=True)
    (homes["ada@example.org"] / "attention/handed-in").touch()  # no folder, which is hers to do
    assert collect.LARGEST == 20e6, "what a file left out is told"
    monkeypatch.setattr(collect, "LARGEST", 10)
    collect.main(["03", str(tmp_path / "out")])
    assert [path.read_text() for path in (tmp_path / "out/03-all/王小明").iterdir()] == ["good"]
    said = capsys.readouterr().err
    assert all(f"{name}.ipynb was left out" in said for name in ("large", "pipe", "link")) and "half" not in said


def test_nobody_fills_the_teachers_disk(class_of, tmp_path, monkeypatch):
    collect, homes = class_of
    for i in range(4):
        handed_in(homes["王小明"], f"{i}.ipynb", str(i))
    monkeypatch.setattr(collect, "MOST", 3)
    collect.main(["03", str(tmp_path / "out")])
    assert len([*(tmp_path / "out/03-all/王小明").iterdir()]) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_a_link_to_a_neighbours_work_leads_nowhere(roster, tmp_path, capsys):
    collect = load("collect")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    ada, eve = (SimpleNamespace(pw_uid=uid, pw_gid=uid, pw_dir=str(tmp_path / str(uid)), pw_name=str(uid))
                for uid in (54321, 54322))  # fmt: skip
    for entry in (ada, eve):
        handed_in(Path(entry.pw_dir), "mine.ipynb", entry.pw_name)
        for path in (Path(entry.pw_dir), *Path(entry.pw_dir).rglob("*")):
            os.chown(path, entry.pw_uid, entry.pw_gid)
        Path(entry.pw_dir).chmod(0o700)
    (Path(eve.pw_dir) / "attention/handed-in/04").symlink_to(Path(ada.pw_dir) / "attention/handed-in/03")
    assert [text for _, text in collect.fetch(ada, "attention/handed-in/03")] == [b"54321"]
    assert collect.fetch(eve, "attention/handed-in/04") == []
    assert os.geteuid() == 0 and os.getegid() == 0
    groups = os.getgroups()
    try:
        os.setgroups([54323])
        with collect.acting_as(ada):
            assert os.geteuid() == os.getegid() == 54321 and os.getgroups() == []
        assert os.getgroups() == [54323]
    finally:
        os.setgroups(groups)


def test_what_check_said_is_copied_under_the_rosters_names(class_of, tmp_path, capsys):
    collect, homes = class_of
    place = homes["王小明"] / collect.LIVE
    place.mkdir(parents=True)
    (place / "at-123.jsonl").write_text("one\n")
    (place / "ada@example.org.jsonl").write_text("not hers\n")
    (place / "pipe.txt").write_text("no")
    for _ in range(2):
        collect.live([str(tmp_path / "out")], until_stopped=False)
    files = {path.name: sorted(path.read_text().split("\n")) for path in (tmp_path / "out/live").iterdir()}
    assert files["王小明.jsonl"] == ["", "not hers", "one"]
    assert files["ada@example.org.jsonl"] == files["eve.jsonl"] == [""] and len(files) == 3
    assert f"grade --live {tmp_path / 'out/live'}" in capsys.readouterr().out and mode(tmp_path / "out/live") == 0o700


def in_this_process(command, **options):
    """As course.run does `python -m MODULE …`, but here, where torch is imported already."""
    _, _, module, *_ = command
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", command[2:])
        patch.delitem(sys.modules, f"{module}.__main__", raising=False)  # another test's
        runpy.run_module(module, run_name="__main__")
    return ended.value.code


def test_from_the_button_to_the_gradebook(class_of, tmp_path, capfd, monkeypatch):
    """Learners' copies are handed in, collected and graded, each by the code that does it in a class."""
    collect, homes = class_of
    monkeypatch.syspath_prepend(str(ROOT))
    course, hand_in = load("commands"), load("workbench.classroom")
    monkeypatch.setattr(course, "run", in_this_process)
    lesson, out = tmp_path / "course/notebooks/03_masking.ipynb", tmp_path / "out"
    lesson.parent.mkdir(parents=True)
    shutil.copy(ROOT / "notebooks/03_masking.ipynb", lesson)
    load("workbench.copies").bring_up_to_date(lesson.parent.parent)
    mine = tmp_path / "course/my/03_masking.ipynb"
    whole = json.loads(mine.read_text(encoding="utf-8"))
    (cell,) = (cell for cell in whole["cells"] if cell.get("id") == "exercise-3-2")

    def press(id, diagonal):
        cell["source"] = f"def my_causal_mask(n, m):\n    return torch.ones(n, m).tril({diagonal}).bool()"
        mine.write_text(json.dumps(whole), encoding="utf-8")
        assert "Handed in: notebook 3" in hand_in.hand_in(mine, homes[id] / collect.PLACE)[1]

    press("ada@example.org", "m - n")
    press("王小明", "m - n")
    press("王小明", "")  # the newest counts
    collect.main(["03", str(out)])
    said = capfd.readouterr().out
    assert said.endswith(f"python course.py grade {out / '03'}\n")
    monkeypatch.setattr(course, "set_up", lambda *parts: None)
    assert course.main([*said.split()[-2:], "--unconfined"]) == 0  # where there is no bubblewrap
    with open(out / "03/graded/gradebook-moodle.csv", encoding="utf-8-sig", newline="") as file:
        points = {row["ID number"]: row["Attention 03 masking"] for row in csv.DictReader(file)}
    assert points == {"ada@example.org": "2", "王小明": "0", "eve": ""}
    said = capfd.readouterr()
    assert "3 on the roster: 2 judged, 1 with nothing handed in" in said.out and "2/2" in said.err
    (page,) = (path.read_text(encoding="utf-8") for path in (out / "03/graded/feedback").glob("王小明*"))
    assert "The mask starts at the wrong corner" in page and "First difference: A has" in page


def test_what_was_collected_belongs_to_whoever_called_sudo(class_of, tmp_path, monkeypatch, capsys):
    collect, homes = class_of
    handed_in(homes["王小明"], "one.ipynb", "one")
    owned = {}
    monkeypatch.setattr(os, "chown", lambda path, *who, follow_symlinks: owned.update({Path(path): who}))
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "1001")
    collect.main(["03", str(tmp_path / "out")])
    assert set(owned.values()) == {(1000, 1001)} and tmp_path / "out/03/王小明/03_masking.ipynb" in owned
    collect.live([str(tmp_path / "out")], until_stopped=False)
    assert owned[tmp_path / "out/live/王小明.jsonl"] == (1000, 1001)
    monkeypatch.setattr(collect.roster, "people", lambda: [{"id": "王小明", "name": "", "email": "", "teacher": ""}])
    capsys.readouterr()
    collect.main(["03", str(tmp_path / "out")])
    assert "1 of 1 handed in notebook 03. \n" in capsys.readouterr().out, "nobody is missing"


@pytest.mark.parametrize("arguments", [[], ["0"], ["99"], ["03", "a", "b"]])
def test_a_notebook_has_to_be_named(class_of, arguments):
    with pytest.raises(SystemExit, match=r"course\.py hub collect 03"):
        class_of[0].main(arguments)


# -------------------------------------------------------------------------------------------------- numbers and files


def test_the_readme_says_what_was_measured():
    measured = json.loads((DEPLOY / "measured.json").read_text())
    text = (DEPLOY / "README.md").read_text(encoding="utf-8")
    server, kernel = measured["after_1"]["server"], measured["after_4"]["kernel"]
    assert f"{server['pss_mb']:.0f} MB for a server, {kernel['pss_mb']:.0f} MB for a kernel" in text
    assert f"{server['cpu_seconds'] + measured['after_1']['kernel']['cpu_seconds']:.1f} s of a core" in text
    each = 1.3 * (server["pss_mb"] + 1.5 * kernel["pss_mb"]) / 1000
    assert f"{each:.1f} GB for each" in text
    assert f"{measured['students']} students" in text


def test_kubernetes_values_leave_room_for_a_learner(values):
    measured = json.loads((DEPLOY / "measured.json").read_text())
    needed = sum(measured["after_4"][kind]["uss_mb"] for kind in ("server", "kernel"))
    memory = values["singleuser"]["memory"]
    assert needed < int(memory["guarantee"].rstrip("M")) < int(memory["limit"].rstrip("M"))
    assert values["scheduling"]["userPlaceholder"]["replicas"]


def test_binder_installs_the_package_away_from_its_folder():
    assert "\n.\n" in (ROOT / "binder/requirements.txt").read_text()  # not -e: a disk is mounted over the folder
    assert os.access(ROOT / "binder/postBuild", os.X_OK)


def test_the_dev_container_opens_what_there_is():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    copies = [f"my/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")]
    assert set(container["customizations"]["codespaces"]["openFiles"]) <= set(copies)
    assert "commands.set_up(); commands.make_copies()" in container["postCreateCommand"]
    assert callable(importlib.import_module("commands").make_copies)


def test_binder_and_kubernetes_make_the_learners_copies_before_they_open_one():
    values = (DEPLOY / "values.yaml").read_text()
    assert (
        "python -m workbench.copies" in (ROOT / "binder/postBuild").read_text()
        and "python -m workbench.copies" in values
    )
    name = "my/01_by_hand.ipynb"
    assert f"lab/tree/{name}" in (ROOT / "README.md").read_text() and f"/lab/tree/attention/{name}" in values
    assert (ROOT / "notebooks" / Path(name).name).is_file()


def test_the_simulated_student_answers_by_the_name_that_the_exercise_asks_for():
    (answer,) = re.findall(r'^ANSWER = """.*?"""', (ROOT / "benchmarks/load_hub.py").read_text(), re.M | re.S)
    notebook = json.loads((ROOT / "notebooks/01_by_hand.ipynb").read_text())
    cells = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    (name,) = re.findall(r'check\("1.2", (\w+)\)', cells["check-1-2"])
    assert f"def {name}(" in answer and f"def {name}(" in cells["exercise-1-2"]
