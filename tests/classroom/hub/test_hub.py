"""classroom/hub/: who gets in, what each may, what is limited, handed in and collected, and what students never get.

Accounts are tried on a hub that really runs, on free ports, without its proxy and without servers. No Unix account is
made: what would do so is recorded. What needs JupyterHub is skipped where `python course.py hub` has not installed it;
the whole, with students' servers, is tried by benchmarks/load_hub.py.
"""

import asyncio
import base64
import contextlib
import csv
import importlib
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
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from unittest import mock
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import urlopen

import pytest
from grading import JudgeHere, result
from paths import ROOT
from ports import free_ports

import commands
import workbench.classroom
from classroom.grade import grade_class
from classroom.grade.submissions.extract import answer_in
from workbench import copies
from workbench.exercises.engine.exercise import EXERCISES

fcntl, pwd = (pytest.importorskip(name, reason="a hub needs Unix accounts") for name in ("fcntl", "pwd"))

CLASSROOM_HUB = ROOT / "classroom/hub"
HUB = """
from jupyterhub.proxy import Proxy
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


def run_async(coroutine):
    """Run it away from the event loop that a browser test may have left running in this thread."""
    with ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(asyncio.run, coroutine).result()


def load(name):
    """One of the hub's modules, which a test asks for where it needs it: most of them need JupyterHub."""
    return importlib.import_module(f"classroom.hub.{name}")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def own_process():
    """Starts processes that wait until they are ended; the words are part of their command lines."""
    started = []

    def start(*words):
        command = [sys.executable, "-c", "print(flush=True); input()", *words]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        started[-1].stdout.readline()
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


# ------------------------------------------------------------------------------------------- accounts, on a real hub


def xsrf(session):
    return next(cookie.value for cookie in session.cookies if cookie.name == "_xsrf")


class Hub:
    """A hub's process on free ports, its state in a folder, and its pages as browsers ask for them."""

    def __init__(self, state, logins=""):
        self.roster = load("roster")
        if logins:
            (state / "login.yaml").write_text(logins)
        self.roster.STATE = state
        config = state / "config.py"
        config.write_text(HUB.format(config=str(CLASSROOM_HUB / "jupyterhub_config.py"), state=str(state)))
        port = free_ports(3)
        self.address = f"http://127.0.0.1:{port + 2}/hub"
        environment = {**os.environ, "COURSE_HUB_STATE": str(state), "COURSE_HUB_PORT": str(port)}
        environment["PYTHONPATH"] = str(ROOT)  # as course.py has it
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
        return session.post(f"{self.address}/{page}", data={**fields, "_xsrf": xsrf(session)}, allow_redirects=False)

    def who(self, session):
        """Whom the hub takes this browser for, or None."""
        answer = session.get(f"{self.address}/api/user", headers={"X-XSRFToken": xsrf(session)})
        return answer.json()["name"] if answer.status_code == 200 else None

    def token(self, session, name):
        """A token with a student's rights, as each server has one of its student's."""
        answer = session.post(f"{self.address}/api/users/{name}/tokens", headers={"X-XSRFToken": xsrf(session)})
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
    running = Hub(tmp_path_factory.mktemp("hub"))
    yield running
    running.end()


def test_only_a_password_from_the_teacher_logs_in(hub):
    passwords = hub.add("ada", "grace@example.org", "王小明", "josé")
    for name, password in passwords.items():
        assert hub.who(hub.browser(name.upper(), password)) == name, "however it is written"
    other = passwords["grace@example.org"]
    for name, password in (("ada", other), ("ada", "wrong"), ("ada", ""), ("eve", other), ("", "")):
        assert not hub.logs_in(name, password), (name, password)
    new = hub.add("ada")["ada"]
    assert hub.logs_in("ada", new) and not hub.logs_in("ada", passwords["ada"]), "added again: a new password"
    browser, long = hub.browser(), "a long enough one"
    assert hub.code(browser, "signup") == 404
    hub.post(browser, "signup", username="mallory", signup_password=long, signup_password_confirmation=long)
    assert not hub.logs_in("mallory", long), "nobody signs up"
    for i in range(20):
        hub.post(browser, "login", username="ada", password=f"guess {i}")
    assert not hub.logs_in("ada", new), "guessing ends"


def test_students_choose_a_password_that_is_not_short(hub):
    old = hub.add("klara")["klara"]
    session = hub.browser("klara", old)

    def change(new):
        hub.post(session, "change-password", old_password=old, new_password=new, new_password_confirmation=new)

    change("short")
    assert hub.logs_in("klara", old) and not hub.logs_in("klara", "short")
    change("my own long password")
    assert hub.logs_in("klara", "my own long password") and not hub.logs_in("klara", old)


def test_teacher_sees_the_class_and_opens_nobodys_server(hub):
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
        assert f"servers!user={mine['name']}" in mine["scopes"], "a server of their own"
        foreign = {scope.partition("!")[0] for scope in mine["scopes"] if "!user=" + mine["name"] not in scope}
        assert not {"access:servers", "servers", "admin:users", "tokens"} & foreign
        assert ("delete:servers" in foreign) == may
        assert session.patch(f"{hub.address}/api/users/bob", headers=token, json={"admin": True}).status_code >= 403


def test_removed_student_is_out_at_once(hub, capsys):
    passwords = hub.add("gustav", "hanna", "ilse")
    gone, stays = (hub.browser(name, passwords[name]) for name in ("gustav", "hanna"))
    token, hannas = hub.token(gone, "gustav"), hub.token(stays, "hanna")
    assert hub.takes(token)
    hub.roster.remove(["gustav", "ilse", "nobody"])
    assert not hub.takes(token) and hub.takes(hannas)
    assert hub.who(gone) is None and hub.who(stays) == "hanna"
    assert not any(hub.logs_in(name, passwords[name]) for name in ("gustav", "ilse")), "who came, and who never did"
    assert "nobody is not in the roster" in capsys.readouterr().err
    ids = [person["id"] for person in hub.roster.people()]
    assert "gustav" not in ids and "hanna" in ids
    assert hub.logs_in("gustav", hub.add("gustav")["gustav"]), "and may come back"


class Institution:
    """An identity provider as a university has one: OpenID's code flow, and a learning platform's LTI 1.3 launch."""

    LTI = "https://purl.imsglobal.org/spec/lti/claim"
    SECRET = "known to the hub"

    def __init__(self, port):
        from cryptography.hazmat.primitives.asymmetric import rsa

        self.address, self.person, self.codes = f"http://127.0.0.1:{port}", "", {}
        self.key, self.forged = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))

    def logins(self):
        return f"""
- name: the university
  class: generic-oauth
  settings:
    client_id: hub
    client_secret: {self.SECRET}
    authorize_url: {self.address}/authorize
    token_url: {self.address}/token
    userdata_url: {self.address}/userinfo
    username_claim: email
    scope: [openid, email]
- name: Moodle
  class: lti13
  settings:
    client_id: [hub]
    issuer: {self.address}
    authorize_url: {self.address}/lti
    jwks_endpoint: {self.address}/keys
    username_key: email
"""

    def serve(self):
        """Start it in a thread; returns the server, to be shut down."""
        from jwt.algorithms import RSAAlgorithm

        institution = self

        class Pages(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                asked = {name: values[0] for name, values in parse_qs(url.query).items()}
                if url.path == "/authorize":  # whoever sits there has logged in at the institution
                    code = institution.codes[institution.person] = uuid.uuid4().hex
                    self.send_response(302)
                    self.send_header("Location", f"{asked['redirect_uri']}?code={code}&state={quote(asked['state'])}")
                    return self.end_headers()
                if url.path == "/userinfo":
                    token = self.headers["Authorization"].split()[-1]
                    return self.say({"email": next(who for who, c in institution.codes.items() if c == token)})
                key = {**json.loads(RSAAlgorithm.to_jwk(institution.key.public_key())), "kid": "1", "use": "sig"}
                return self.say({"keys": [key]})

            def do_POST(self):
                sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                (code,) = sent["code"]
                basic = base64.b64encode(f"hub:{institution.SECRET}".encode()).decode()
                known = institution.SECRET in sent.get("client_secret", []) or basic in self.headers["Authorization"]
                assert known and code in institution.codes.values()
                self.say({"access_token": code, "token_type": "Bearer"})

            def say(self, what):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(what).encode())

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", int(self.address.rpartition(":")[2])), Pages)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def launch(self, asked, person, key):
        """What the platform's page posts back to the hub for this person."""
        import jwt

        said = {
            "iss": self.address, "aud": "hub", "sub": "4711", "email": person, "nonce": asked["nonce"],
            "iat": int(time.time()), "exp": int(time.time()) + 60, f"{self.LTI}/version": "1.3.0",
            f"{self.LTI}/message_type": "LtiResourceLinkRequest", f"{self.LTI}/deployment_id": "1",
            f"{self.LTI}/target_link_uri": "http://hub", f"{self.LTI}/resource_link": {"id": "1"},
            f"{self.LTI}/roles": [],
        }  # fmt: skip
        return {"id_token": jwt.encode(said, key, "RS256", headers={"kid": "1"}), "state": asked["state"]}


def test_institutions_log_ins_let_in_the_roster_and_nobody_else(tmp_path):
    needs_jupyterhub()
    pytest.importorskip("multiauthenticator", reason="python course.py hub has not installed it")
    there = Institution(free_ports(1))
    server, hub = there.serve(), Hub(tmp_path, there.logins())
    passwords = hub.add("ada@example.org", "grace")
    page = hub.browser().get(f"{hub.address}/login").text
    assert "Log in with the university" in page and "Log in with a password" in page and "Moodle" not in page
    for person, known in (("Ada@Example.org", True), ("mallory@example.org", False)):
        there.person, browser = person, hub.browser()
        answer = browser.get(f"{hub.address}/log-in-1/oauth_login", allow_redirects=False)
        answer = browser.get(answer.headers["Location"], allow_redirects=False)  # at the institution, and back
        answer = browser.get(answer.headers["Location"], allow_redirects=False)
        assert answer.status_code == (302 if known else 403)
        assert hub.who(browser) == ("ada@example.org" if known else None)
    for person, key, status in (
        ("ada@example.org", there.key, 302),
        ("mallory@example.org", there.key, 403),
        ("ada@example.org", there.forged, 400),
    ):
        browser = hub.browser()
        sent = {"iss": there.address, "login_hint": "1", "target_link_uri": hub.address, "client_id": "hub"}
        answer = browser.post(f"{hub.address}/log-in-2/lti13/oauth_login", data=sent, allow_redirects=False)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["Location"]).query).items()}
        answer = browser.post(asked["redirect_uri"], data=there.launch(asked, person, key), allow_redirects=False)
        assert answer.status_code == status, answer.text[-500:]
        assert hub.who(browser) == (person if status == 302 else None)
    for password, who in ((passwords["grace"], "grace"), ("wrong", None)):
        hub.post(browser := hub.browser(), "native/login", username="grace", password=password)
        assert hub.who(browser) == who, "the hub's own passwords go on"
    hub.end()
    server.shutdown()


# ------------------------------------------------------------------------------------------------------------- roster


@pytest.fixture
def roster(monkeypatch, tmp_path):
    needs_jupyterhub()
    module = load("roster")
    monkeypatch.setattr(module, "STATE", tmp_path / "hub")
    return module


def test_class_list_becomes_log_ins(roster, tmp_path):
    """tests/classroom/grade/test_class_list.py has the many forms of a list."""
    file = tmp_path / "class.csv"
    file.write_text("\ufeffE-Mail;ID;Name\nada@x.org; ADA@x.org ; Ada Lovelace\n;王小明;王小明\n", encoding="utf-8")
    ada = {"id": "ada@x.org", "name": "Ada Lovelace", "email": "ada@x.org"}
    assert roster.read(file) == [ada, {"id": "王小明", "name": "王小明", "email": ""}]
    file.write_text("First name,Last name,Email address\nAda,Lovelace,Ada@x.org\n")
    assert [row["id"] for row in roster.read(file)] == ["ada@x.org"], "without ids: addresses"
    assert roster.plain("Jose\u0301") == "josé"


def test_roster_says_what_cannot_be_done_and_adds_nobody(roster, tmp_path, monkeypatch):
    for name in ("", "ada smith", "../ada", "-ada", ".", "ada,1", "ada\n", "a\u200bb"):
        with pytest.raises(ValueError, match="cannot be an id"):
            roster.add([{"id": person, "name": "", "email": ""} for person in ("grace", name)])
    monkeypatch.chdir(tmp_path)
    Path("heads.csv").write_text("name\nAda\n")
    Path("twice.txt").write_text("id,name\nada,Ada\nADA,Eve\n")
    for words, said in (
        ("", "course.py hub add CLASS.csv"), ("a b", "'a b' cannot"), ("none.csv", "none.csv"),
        ("heads.csv", "no ids to log in with"), ("twice.txt", "'Ada' and 'Eve' have the same id, 'ada'"),
        ("class.xlsx", "save its table as .csv"),
    ):  # fmt: skip
        with pytest.raises(SystemExit, match=re.escape(said)):
            roster.main(["add", *[words] * bool(words)])
    assert roster.people() == []


def test_roster_is_kept_from_the_command_line(roster, tmp_path, capsys):
    file = tmp_path / "class.txt"
    file.write_text("id,name,email\n王小明,Wang Xiaoming,xm@example.org\n", encoding="utf-8")
    roster.main(["add", str(file)])
    (roster.STATE / ".roster.csv").touch(0o600)
    (roster.STATE / ".roster.csv").write_text("half of a longer one, of a write that was cut off\n" * 9)
    roster.main(["add", "--teacher", "Emmy"])
    roster.main(["add", "王小明", "王小明"])
    printed = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert [line[:2] for line in printed] == [["王小明", "Wang Xiaoming"], ["emmy", ""], ["王小明", "Wang Xiaoming"]]
    passwords = [line[2] for line in printed]
    assert all(re.fullmatch(r"([a-z2-7]{4}-){3}[a-z2-7]{4}", password) for password in passwords)  # 80 bits
    assert len(set(passwords)) == 3
    roster.main(["list"])
    assert capsys.readouterr().out == "王小明 Wang Xiaoming xm@example.org\nemmy (teacher)\n"
    assert mode(roster.STATE) == 0o700 and mode(roster.STATE / "roster.csv") == 0o600
    kept = b"".join(path.read_bytes() for path in roster.STATE.iterdir())
    assert not any(password.encode() in kept for password in passwords)
    assert [*map(int, re.findall(rb"\$2b\$(\d\d)\$", kept))] == [8, 8]  # a class logs in within a second
    roster.main(["remove", "EMMY"])
    assert [person["id"] for person in roster.people()] == ["王小明"]


def test_teacher_added_as_a_student_is_one_after_a_restart(roster, capsys):
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


# ---------------------------------------------------------------------------------------------- what JupyterHub is told


@pytest.fixture
def config(roster, monkeypatch):
    """The configuration as JupyterHub loads it, without and with systemd."""
    from traitlets.config import PyFileConfigLoader

    roster.STATE.mkdir()
    is_dir = Path.is_dir

    def load_config(systemd=False):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "is_dir", lambda path: systemd if str(path) == "/run/systemd/system" else is_dir(path))
            return PyFileConfigLoader("jupyterhub_config.py", path=str(CLASSROOM_HUB)).load_config()

    return load_config


@pytest.fixture
def spawners(roster):
    return load("spawners")


@pytest.fixture
def accounts(spawners, monkeypatch):
    """Unix accounts by name, and who is in the group of students, as this machine would answer."""
    of_users, students = {}, []
    monkeypatch.setattr("pwd.getpwnam", of_users.__getitem__)
    monkeypatch.setattr("grp.getgrnam", lambda name: SimpleNamespace(gr_mem=students))
    return SimpleNamespace(users=of_users, students=students)


@pytest.mark.skipif(not shutil.which("prlimit"), reason="util-linux is not there")
def test_server_without_systemd_cannot_take_too_much_memory(config):
    settings, log = config(), load("roster").STATE / "servers.log"
    *limits, server = settings.Spawner.cmd
    assert server.endswith("jupyterhub-singleuser")
    code = "open('made', 'w'); x = bytes(1 << 30)\ntry:\n    bytes(1 << 30)\nexcept MemoryError:\n    print('stopped')"
    for _ in range(2):
        subprocess.run([*limits, sys.executable, "-c", code], cwd=log.parent, **settings.PlainServer.popen_kwargs)
    assert log.read_text() == "stopped\n" * 2, "each server writes behind what others wrote"
    assert mode(log) == mode(log.parent / "made") == 0o600


def test_systemd_unit_has_the_rights_and_limits_of_its_student(config, spawners, accounts, monkeypatch):
    from systemdspawner import systemd

    started = {}
    accounts.users[spawners.account("王小明")] = SimpleNamespace(pw_uid=1007, pw_gid=1008, pw_dir="/home/x")

    async def running(unit):
        return bool(started)

    async def start(unit, **options):
        started.update(options, unit=unit)

    for name, instead in {
        "service_running": running,
        "service_failed": running,
        "start_transient_service": start,
    }.items():
        monkeypatch.setattr(systemd, name, instead)
    monkeypatch.setattr(spawners.SystemdServer, "get_env", lambda self: {"A": "1"})
    monkeypatch.setattr(spawners.SystemdServer, "get_args", lambda self: [])
    server = spawners.SystemdServer(user=SimpleNamespace(name="王小明", id=7), config=config(systemd=True))
    assert run_async(server.start()) == ("127.0.0.1", server.port)
    assert (started["uid"], started["gid"], started["working_dir"]) == (1007, 1008, "/home/x")
    properties = started["properties"]
    assert properties["MemoryMax"] == 1536 << 20 and properties["CPUQuota"] == "100%"
    assert properties["TasksMax"] == "400" and properties["UMask"] == "0077"
    assert properties["NoNewPrivileges"] == properties["PrivateTmp"] == properties["PrivateDevices"] == "yes"
    assert started["cmd"][0].endswith("jupyterhub-singleuser")


def test_hub_listens_only_where_it_is_told(config, monkeypatch):
    hub, proxy = config().JupyterHub, config().ConfigurableHTTPProxy
    for address in (hub.bind_url, hub.hub_bind_url, proxy.api_url):
        assert address.startswith("http://127.0.0.1:")
    assert "--reuid=nobody" in proxy.command and hub.cleanup_servers is False and hub.cleanup_proxy is False
    monkeypatch.setenv("COURSE_HUB_ADDRESS", "0.0.0.0")
    monkeypatch.setenv("COURSE_HUB_PORT", "8123")
    hub, proxy = config().JupyterHub, config().ConfigurableHTTPProxy
    assert hub.bind_url == "http://0.0.0.0:8123"
    assert (proxy.api_url, hub.hub_bind_url) == ("http://127.0.0.1:8124", "http://127.0.0.1:8125")
    cli = load("cli")
    monkeypatch.setattr(cli, "PORT", 8123)
    assert [hub.pid_file, proxy.pid_file] == [str(cli.pid_file(name)) for name in ("hub", "proxy")]


def test_student_begins_with_the_course_and_can_hand_in(config, spawners, monkeypatch):
    from workbench import places

    spawner = config().Spawner
    assert spawner.default_url.startswith("/git-pull?") and "01_by_hand.ipynb" in spawner.default_url
    assert spawner.environment[places.HAND_IN_VARIABLE] == f"~/{load('collect').PLACE}"
    longest = f"/home/{spawners.account('x' * 90)}"
    monkeypatch.setattr(spawners, "home", lambda name: SimpleNamespace(pw_dir=longest))
    student = SimpleNamespace(user=SimpleNamespace(name="ada"))
    assert spawner.environment[places.LIVE_VARIABLE](student) == f"{longest}/{load('collect').LIVE}"
    runtime = spawner.environment["JUPYTER_RUNTIME_DIR"](student)
    assert "--KernelManager.transport=ipc" in spawner.args and len(f"{runtime}/kernel-{uuid.uuid4()}-ipc-5") < 108


def test_kubernetes_leaves_room_for_a_learner():
    values = pytest.importorskip("yaml").safe_load((CLASSROOM_HUB / "values.yaml").read_text(encoding="utf-8"))
    measured = json.loads((CLASSROOM_HUB / "measured.json").read_text())
    needed = sum(measured["after_4"][kind]["uss_mb"] for kind in ("server", "kernel"))
    memory = values["singleuser"]["memory"]
    assert needed < int(memory["guarantee"].rstrip("M")) < int(memory["limit"].rstrip("M"))
    assert values["scheduling"]["userPlaceholder"]["replicas"]


# ------------------------------------------------------------------------------------------------- accounts, servers


def test_every_name_has_an_account_that_the_system_takes(spawners):
    names = ["ada", "ada@example.org", "ada-example-org", "王小明", "王小红", "root", "7up", "x" * 90]
    accounts = [spawners.account(name) for name in names]
    assert len(set(accounts)) == len(names)
    assert all(re.fullmatch("at-[a-z0-9-]{1,28}", account) for account in accounts)
    assert accounts[1] == "at-ada-example-org-cfe00dde"  # the same after a restart, and in which it can be read whose


def test_home_is_closed_and_no_account_of_the_systems_is_taken(spawners, accounts, monkeypatch, tmp_path):
    home, made = tmp_path / "home", []
    home.mkdir(mode=0o755)

    def run(command, check):
        made.append(command[0])
        accounts.users[command[-1]] = SimpleNamespace(pw_dir=str(home))

    monkeypatch.setattr(subprocess, "run", run)
    spawners.make_account(SimpleNamespace(user=SimpleNamespace(name="王小明")))
    assert made == ["groupadd", "useradd"] and spawners.account("王小明") in accounts.users
    assert mode(home) == 0o700
    name, ada = spawners.account("ada"), SimpleNamespace(user=SimpleNamespace(name="ada"))
    accounts.users[name] = "somebody's"
    with pytest.raises(PermissionError, match=name):
        spawners.make_account(ada)
    accounts.students.append(name)
    spawners.make_account(ada)
    assert len(made) == 2


def test_server_is_its_students_from_start_to_stop(spawners, accounts, monkeypatch, own_process):
    server, mine = spawners.PlainServer(), spawners.account("王小明")
    server.user = SimpleNamespace(name="王小明")
    monkeypatch.setattr(spawners.LocalProcessSpawner, "make_preexec_fn", lambda self, name: name)
    assert server.make_preexec_fn("王小明") == mine
    accounts.users[mine] = SimpleNamespace(pw_name=mine, pw_dir=f"/home/{mine}", pw_shell="/bin/bash")
    environment = server.user_env({"A": "1", "PYTHONPATH": str(ROOT)})  # a hub's, which students' servers do not get
    assert environment == {"A": "1", "USER": mine, "HOME": f"/home/{mine}", "SHELL": "/bin/bash"}
    assert spawners.owner(os.getpid()) == pwd.getpwuid(os.geteuid()).pw_name and spawners.owner(999_999_999) is None

    async def stop(self, now):
        asked.append(self)

    asked = []
    left, others = own_process(), own_process()
    monkeypatch.setattr(spawners, "owner", {41: mine, 42: "root", left.pid: mine, others.pid: "at-grace"}.get)
    for number, taken_over in ((41, 41), (42, 0), (43, 0)):
        server.load_state({"pid": number})
        assert server.pid == taken_over, "a restart takes over the student's own process alone"
    monkeypatch.setattr(spawners.LocalProcessSpawner, "stop", stop)
    run_async(server.stop())
    assert left.wait(20) is not None and others.poll() is None and asked == [server], "all of its student's ends"


# ------------------------------------------------------------------------------------------- what a machine must have


def test_machine_is_told_what_it_lacks_and_the_remedy(monkeypatch):
    needs = load("check_requirements")

    def told(lacks=(), node=20, closed="none", fails="never", user=0, system="linux"):
        with monkeypatch.context() as change:
            change.setattr(sys, "platform", system)
            change.setattr(os, "geteuid", lambda: user)
            change.setattr(shutil, "which", lambda program: None if program in lacks else f"/bin/{program}")
            change.setattr(needs, "node_version", lambda: node)
            change.setattr(needs, "answers", lambda _, code, user="", **__: fails not in (user, code.partition(",")[0]))
            change.setattr(needs, "ROOT", Path("/srv/attention"))
            modes = lambda path, **_: SimpleNamespace(st_mode=0o776 if path.name == closed else 0o701)  # noqa: E731
            change.setattr(Path, "stat", modes)
            return list(needs.missing("/usr/bin/python3"))

    assert told() == []
    for machine, said in (
        ({"lacks": ["git"]}, "The hub needs git: apt-get install git,"),
        ({"lacks": ["useradd"]}, "The hub needs useradd: apt-get install passwd,"),
        ({"lacks": ["node", "npm"]}, "this machine has no node and no npm: apt-get install nodejs"),
        ({"node": 18}, "needs node 20 or newer and npm, this is 18"),
        ({"closed": "srv"}, "Students cannot enter /srv: move the course"),
        ({"fails": "nobody"}, "Students cannot run /usr/bin/python3"),
        ({"fails": "import ensurepip"}, "apt-get install python3-venv"),
        ({"user": 1000}, "sudo python3 course.py hub"),
        ({"system": "darwin"}, "Linux alone"),
    ):
        (line,) = told(**machine)
        assert said in line


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root becomes somebody else")
def test_python_in_a_closed_home_is_not_for_students(tmp_path):
    needs = load("check_requirements")
    tmp_path.chmod(0o700)
    (tmp_path / "python").symlink_to(sys.executable)
    assert not needs.answers(tmp_path / "python", "", user="nobody", extra_groups=[])


# --------------------------------------------------------------------------------------------------- start and stop


@pytest.fixture
def start(roster, monkeypatch):
    """classroom/hub/cli.py on a folder of its own."""
    module = load("cli")
    monkeypatch.setattr(module, "STATE", roster.STATE)
    return module


NPM = """#!/bin/sh
for last in "$@"; do [ "$before" != --prefix ] || place=$last; before=$last; done
package="$place/node_modules/configurable-http-proxy"
mkdir -p "$package" && printf x >> "$package/times"
echo "{\\"version\\": \\"${last##*@}\\"}" > "$package/package.json"
"""


def test_commands_of_the_hub_go_where_they_are_done(start, capsys):
    start.main(["add", "Ada"])
    assert capsys.readouterr().out.startswith("ada,,")
    start.main(["list"])
    start.main(["links", "https://hub.example.org/"])
    name, *links = capsys.readouterr().out.splitlines()
    assert name == "ada"
    for path, link in zip(sorted((ROOT / "notebooks").glob("*.ipynb")), links, strict=True):
        assert link.startswith("https://hub.example.org/hub/user-redirect/git-pull?repo=file")
        assert f"urlpath=lab%2Ftree%2Fattention%2Fmy%2F{path.name}" in link and "targetpath=attention" in link
    for wrong, said in (
        (["everything"], "course.py hub stop"), (["collect", "99"], "hub collect 03"),
        (["links", "hub"], "links https://"),
    ):  # fmt: skip
        with pytest.raises(SystemExit, match=said):
            start.main(wrong)


def test_relay_serves_phones_until_it_is_stopped(tmp_path):
    needs_jupyterhub()
    port = free_ports(1)
    settings = {"COURSE_HUB_STATE": str(tmp_path / "hub"), "COURSE_HALL_PORT": str(port), "PYTHONPATH": str(ROOT)}
    relay = subprocess.Popen(
        [sys.executable, "-P", "-m", "classroom.hub.cli", "hall"], env={**os.environ, **settings}, cwd=tmp_path,
        stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # Ctrl-C counts in a background job too
    )  # fmt: skip
    try:
        assert f"port {port}" in relay.stdout.readline() and "HALL_SECRET=" in relay.stdout.readline()
        assert json.loads(relay.stdout.readline()) == {"port": port}  # the server itself, which listens now
        with urlopen(f"http://127.0.0.1:{port}/") as answer:
            assert answer.status == 200
        relay.send_signal(signal.SIGINT)
        assert relay.wait(20) == 0
    finally:
        relay.terminate()
        relay.communicate()
    assert mode(tmp_path / "hub/hall-secret") == 0o600


def test_start_needs_a_class_and_no_other_hub(start, monkeypatch, tmp_path):
    done, there = [], {"hub": SimpleNamespace(pid=7)}
    monkeypatch.setattr(start, "pid_file", tmp_path.joinpath)
    monkeypatch.setattr(start, "running", lambda name, sign: there.get(name))
    monkeypatch.setattr(start, "prepare", lambda: done.append("prepared"))
    monkeypatch.setattr(os, "execv", lambda program, command: done.append(command[1:]))
    monkeypatch.setenv("COURSE_HUB_STATE", "")
    with pytest.raises(SystemExit, match="Nobody is in the roster yet"):
        start.start()
    monkeypatch.setattr(start.roster, "people", lambda: [{"id": "ada"}])
    with pytest.raises(SystemExit, match="running already, as process 7"):
        start.start()
    assert done == []
    del there["hub"]
    (tmp_path / "proxy").write_text("1")  # of a proxy that is gone: the number may be anybody's
    start.start()
    assert not (tmp_path / "proxy").exists() and os.environ["COURSE_HUB_STATE"] == str(start.STATE)
    assert done == ["prepared", ["-P", "-m", "jupyterhub", "-f", str(CLASSROOM_HUB / "jupyterhub_config.py")]]
    (tmp_path / "proxy").write_text("2")
    there["proxy"] = SimpleNamespace(pid=8)
    start.start()
    assert (tmp_path / "proxy").exists(), "that of a proxy that runs stays"


def test_start_makes_what_is_missing_and_leaves_what_is_there(start, edition, monkeypatch, tmp_path):
    npm = tmp_path / "bin/npm"
    npm.parent.mkdir()
    npm.write_text(NPM)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=os.pathsep)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "no packages"))
    monkeypatch.setattr(start, "STATE", tmp_path / "hub")
    start.STATE.mkdir(mode=0o755)
    before = os.umask(0o077)
    try:
        start.prepare()
        start.prepare()
        installed = edition.PLACE / "node_modules/configurable-http-proxy"
        assert (installed / "times").read_text() == "x"
        (installed / "package.json").write_text('{"version": "4.0.0"}')
        start.prepare()
        assert (installed / "times").read_text() == "xx"
    finally:
        os.umask(before)
    assert mode(edition.PLACE) == 0o755 and (edition.EDITION / "notebooks/01_by_hand.ipynb").is_file()
    assert edition.SETTINGS.is_file() and mode(edition.ROOT / "tests") == 0o700
    new_home = start.STATE / "skeleton"
    assert mode(start.STATE) == 0o700 and (new_home / start.collect.LIVE).is_dir()
    assert list((new_home / ".cache/matplotlib").glob("fontlist*.json"))
    assert list((edition.ROOT / "attn_lib").rglob("*.pyc")), "students cannot write there"


def test_pid_counts_only_for_the_process_that_wrote_it(start, monkeypatch, tmp_path, own_process):
    hub, other, file = own_process("jupyterhub"), own_process("somebody else's"), tmp_path / "pid"
    monkeypatch.setattr(start, "pid_file", {"hub": file}.get)
    file.write_text(str(hub.pid))
    assert start.running("hub", "jupyterhub").pid == hub.pid
    for text in (str(other.pid), "no number", "999999999"):
        file.write_text(text)
        assert start.running("hub", "jupyterhub") is None
    file.unlink()
    assert start.running("hub", "jupyterhub") is None


def test_stop_ends_hub_proxy_and_students_alone(start, monkeypatch, own_process):
    hub, proxy, student, other = own_process(), own_process(), own_process(), own_process()
    processes = {("hub", "jupyterhub"): hub, ("proxy", "configurable-http-proxy"): proxy}  # by name and command line
    monkeypatch.setattr(start, "running", lambda *of: start.psutil.Process(processes[of].pid))
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
    """classroom/hub/student_edition.py for a small course in a folder of its own."""
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


def test_students_pull_and_keep_their_work(edition, tmp_path, monkeypatch):
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
    mine, lesson = home / "my/01_by_hand.ipynb", edition.ROOT / "notebooks/01_by_hand.ipynb"
    mine.write_text(mine.read_text().replace("# 1. ", "# One. "))
    lesson.write_text(lesson.read_text().replace("import torch", "import  torch"))
    edition.write()
    git("pull", "-q", cwd=home)
    assert "# One. " in mine.read_text() and "import  torch" in mine.read_text()
    pulled = [path.read_bytes() for path in (home / "notebooks").iterdir()]
    assert pulled == [lesson.read_bytes()], "whatever the machine's encoding is"
    python.write_text("#!/bin/sh\nexit 1\n")
    git(*clone, str(tmp_path / "another home"))  # the course is there even where no copies can be made


def test_students_cannot_enter_what_is_for_teachers(edition):
    for folder in edition.ROOT.iterdir():
        folder.chmod(0o755)
    edition.close_the_rest()
    modes = {folder.name: mode(folder) for folder in edition.ROOT.iterdir()}
    assert {name for name, bits in modes.items() if bits == 0o755} == {"attn_lib", "workbench", ".venv"}
    assert {name for name, bits in modes.items() if bits == 0o700} == {"notebooks", "tests", ".git", "my", "img"}


def test_dev_container_opens_what_there_is():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    there = [f"my/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")]
    assert set(container["customizations"]["codespaces"]["openFiles"]) <= set(there)
    assert 'commands.set_up("model"); commands.make_copies()' in container["postCreateCommand"]
    assert callable(commands.make_copies)


# ----------------------------------------------------------------------------------------------------------- hand-ins


@pytest.fixture
def class_of(roster, monkeypatch, tmp_path):
    """classroom/hub/collect.py for students whose homes are folders of these tests; returns it and the homes."""
    collect = load("collect")
    people = [{"id": id, "name": id.title(), "email": "", "teacher": ""} for id in ("ada@example.org", "王小明", "eve")]
    monkeypatch.setattr(roster, "people", lambda: [*people, {**people[0], "id": "emmy", "teacher": "yes"}])
    homes = {person["id"]: tmp_path / "homes" / person["id"] for person in people[:2]}
    entries = {id: SimpleNamespace(pw_dir=str(home), pw_name=id) for id, home in homes.items()}
    monkeypatch.setattr(collect.spawners, "home", entries.get)
    monkeypatch.setattr(collect.homes, "acting_as", lambda entry: contextlib.nullcontext())
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


def rows_of(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_collect_keeps_all_says_when_and_names_the_missing(class_of, tmp_path, capsys, monkeypatch):
    collect, homes = class_of
    first = handed_in(homes["王小明"], "2026-01-01 09.00.00.000000 03_masking.ipynb", "first")
    out = tmp_path / "out/03"
    os.utime(first, (0, 0))  # whoever is late may try that
    load("deadlines").main(["3", "2026-12-01"])
    collect.main(["03", str(out.parent)])
    first.unlink()  # it stays collected
    second = "second, with an earlier name"
    handed_in(homes["王小明"], "2025-01-01 09.00.00.000000 03_masking.ipynb", second)
    collect.main(["03", str(out.parent)])
    collect.main(["03", str(out.parent)])
    assert "1 of 3 handed in notebook 03. Nothing from: ada@example.org, eve." in capsys.readouterr().out
    came = {row["path"]: row["time"] for row in rows_of(out / "times.csv")}
    assert [(out / path).read_text() for path in sorted(came, key=came.get)] == ["first", second]
    assert {*came, "roster.csv", "times.csv", "deadlines.csv"} == {
        str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()
    }
    assert all(moment > "2026" for moment in came.values()), "what a student sets is not asked"
    assert [row["id"] for row in rows_of(out / "roster.csv")] == ["ada@example.org", "王小明", "eve"]
    assert "03,,2026-12-01T23:59" in (out / "deadlines.csv").read_text()
    assert all(mode(path) & 0o077 == 0 for path in (out, out / "times.csv"))
    owned = {}
    monkeypatch.setattr(os, "chown", lambda path, *who, follow_symlinks: owned.update({Path(path): who}))
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "1001")
    collect.main(["03", str(out.parent)])
    collect.live([str(out.parent)], until_stopped=False)
    assert set(owned.values()) == {(1000, 1001)}, "they belong to whoever called sudo"
    assert {out / "times.csv", out.parent / "live/王小明.jsonl"} <= {*owned}


def test_students_see_their_own_deadline_and_nobody_elses(class_of, capsys):
    _, homes = class_of
    deadlines, told = load("deadlines"), lambda id: json.loads((homes[id] / deadlines.IN_A_HOME).read_text())
    deadlines.main(["03", "2026-12-01 18:00"])
    assert "18:00 (UTC" in capsys.readouterr().out, "the teacher is told the zone"
    deadlines.main(["3", "2026-12-08", "王小明"])
    assert deadlines.read("2026-12-08 23:59 America/New_York") == "2026-12-08T23:59-05:00"
    capsys.readouterr()
    deadlines.main([])
    assert [line.split()[::2] for line in capsys.readouterr().out.splitlines()] == [["03", "all"], ["03", "王小明"]]
    assert told("ada@example.org")["03"].startswith("2026-12-01T18:00")
    assert told("王小明")["03"].startswith("2026-12-08T23:59")
    deadlines.main(["03", "none", "王小明"])
    assert told("王小明") == told("ada@example.org")
    for wrong, said in (["soon"], "'soon' is no deadline"), (["2026-12-08", "nobody"], "has the id nobody"):
        with pytest.raises(SystemExit, match=said):
            deadlines.main(["03", *wrong])


def test_feedback_comes_into_each_students_files(class_of, tmp_path, capsys):
    collect, homes = class_of
    with pytest.raises(SystemExit, match="not graded yet"):
        collect.hand_back(["03", str(tmp_path)])
    feedback = tmp_path / "03/graded/feedback"
    feedback.mkdir(parents=True)
    rows = ["student,id,page", "Ada,ada@example.org,a.html", "X,王小明,x.html", "Eve,eve,"]
    (feedback.parent / "handed-in.csv").write_text("\n".join(rows), encoding="utf-8-sig")
    for text in ("first", "after a word with the teacher"):
        for name in "ax":
            (feedback / f"{name}.html").write_text(f"{name}, {text}")
        collect.hand_back(["03", str(tmp_path)])
    pages = {id: home / "attention/my/feedback/03.html" for id, home in homes.items()}
    assert {id: page.read_text()[0] for id, page in pages.items()} == {"ada@example.org": "a", "王小明": "x"}
    assert all("a word" in page.read_text() and mode(page) == 0o600 for page in pages.values())
    assert "2 of 3 students have their page: my/feedback/03.html" in capsys.readouterr().out


def test_collect_leaves_out_what_is_no_notebook_and_says_so(class_of, tmp_path, capsys, monkeypatch):
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
    assert [path.read_text() for path in (tmp_path / "out/03/王小明").iterdir()] == ["good"]
    said = capsys.readouterr().err
    assert all(f"{name}.ipynb was left out" in said for name in ("large", "pipe", "link")) and "half" not in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_link_to_a_neighbours_work_leads_nowhere(roster, tmp_path, capsys):
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


def test_live_copies_what_check_said_of_each_student(class_of, tmp_path, capsys):
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
    """As commands.run does `python -P -m MODULE …`, but here, where torch is imported already."""
    module = command[3]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", command[3:])
        patch.delitem(sys.modules, f"{module}.__main__", raising=False)  # another test's
        runpy.run_module(module, run_name="__main__")
    return ended.value.code


class ByTheDiagonal(JudgeHere):
    """A judge that runs nothing: an answer to 3.2 is right whose triangle ends at the corner below."""

    def grade(self, submission):
        is_right = "m - n" in answer_in(submission.cells, "3.2").shown
        found = result("3.2", "correct", share=1.0) if is_right else result("3.2", "wrong", "top-left")
        return [found, *(result(id, "missing") for id in submission.exercises if id != "3.2")]


def test_from_the_button_to_the_gradebook(class_of, tmp_path, capfd, monkeypatch):
    """Learners' copies are handed in, collected and graded; how an answer is judged is seen in test_grade_answer.py."""
    collect, homes = class_of
    monkeypatch.setattr(commands, "run", in_this_process)
    monkeypatch.setattr(grade_class, "JudgeProcess", ByTheDiagonal)
    lesson, out = tmp_path / "course/notebooks/03_masking.ipynb", tmp_path / "out"
    lesson.parent.mkdir(parents=True)
    shutil.copy(ROOT / "notebooks/03_masking.ipynb", lesson)
    copies.bring_up_to_date(lesson.parent.parent)
    mine = tmp_path / "course/my/03_masking.ipynb"
    whole = json.loads(mine.read_text(encoding="utf-8"))
    (cell,) = (cell for cell in whole["cells"] if cell.get("id") == "exercise-3-2")

    def press(id, diagonal):
        cell["source"] = f"def my_causal_mask(n, m):\n    return torch.ones(n, m).tril({diagonal}).bool()"
        mine.write_text(json.dumps(whole), encoding="utf-8")
        assert "Handed in: notebook 3" in workbench.classroom.hand_in(mine, homes[id] / collect.PLACE)[1]

    press("ada@example.org", "m - n")
    press("王小明", "m - n")
    press("王小明", "")  # the newest counts
    load("deadlines").main(["03", "2026-01-01"])
    load("deadlines").main(["03", "2999-01-01", "王小明"])
    collect.main(["03", str(out)])
    said = capfd.readouterr().out
    assert said.endswith(f"python course.py grade {out / '03'}\n")
    monkeypatch.setattr(commands, "set_up", lambda *parts: None)
    assert commands.main([*said.split()[-2:], "--unconfined"]) == 0  # where there is no bubblewrap
    books = rows_of(out / "03/graded/gradebook-moodle.csv")
    points = {row["ID number"]: row["Attention 03 masking"] for row in books}
    assert points == {"ada@example.org": "2", "王小明": "0", "eve": ""}
    said = capfd.readouterr()
    assert "3 on the roster: 2 judged, 1 with nothing handed in" in said.out and "2/2" in said.err
    (page,) = (path.read_text(encoding="utf-8") for path in (out / "03/graded/feedback").glob("王小明*"))
    assert EXERCISES["3.2"].misconceptions["top-left"].name in page
    collect.hand_back(["03", str(out)])
    back = {id: (home / "attention/my/feedback/03.html").read_text(encoding="utf-8") for id, home in homes.items()}
    assert back["王小明"] == page and "after the deadline" not in page
    assert "2 of 9 points" in back["ada@example.org"] and "after the deadline" in back["ada@example.org"]
