"""A class of simulated students on a real hub: do all get through, how fast, and does one see what another has?

python benchmarks/load_hub.py [--students 30] [--arrive 30] [--save]    as root, see classroom/hub/README.md

Each student logs in, starts a server, pulls the course, runs notebook 1 over the websocket as JupyterLab does, edits a
board, answers an exercise, saves, hands in, and tries to get at a neighbour's server and files. Half-way the hub is
restarted. At the end the hand-ins are collected, one student takes too much memory and one is removed from the roster.
--save writes what a learner needs to classroom/hub/measured.json.
"""

import argparse
import asyncio
import contextlib
import csv
import datetime
import json
import os
import re
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid
from collections import defaultdict
from pathlib import Path

import aiohttp
import psutil
from jupyter_server.services.kernels.connection.base import deserialize_msg_from_ws_v1, serialize_msg_to_ws_v1

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/helpers")]
from ports import free_ports

from classroom.hub import spawners
from classroom.hub import student_edition as edition

PATIENCE = 300  # seconds for any one step: a class on two cores is slow, not broken
NOTEBOOK = "attention/my/01_by_hand.ipynb"
ANSWER = """\
def my_self_attention(x, w_q, w_k, w_v):
    weights = torch.softmax((x @ w_q) @ (x @ w_k).T, dim=-1)
    return weights @ (x @ w_v)
"""
GREEDY = "taken = []\nfor _ in range(100):\n    taken.append(b'x' * (100 << 20))"
SNOOP = """\
import os, urllib.request
def refused(what, attempt):
    try:
        attempt()
    except PermissionError:
        print(what, "refused")
    except urllib.error.HTTPError as error:
        print(what, "refused" if error.code in (401, 403) else f"ANSWERED {{error.code}}")
    else:
        print(what, "ALLOWED")
refused("file", lambda: open("/home/{account}/{notebook}").read())
refused("hand-ins", lambda: os.listdir("/home/{account}/attention/handed-in"))
refused("folder", lambda: os.listdir("/home/{account}"))
refused("environment", lambda: open("/proc/{pid}/environ").read())
refused("signal", lambda: os.kill({pid}, 0))
refused("roster", lambda: open("{state}/roster.csv").read())
refused("accounts", lambda: open("{state}/jupyterhub.sqlite").read())
refused("speaker's notes", lambda: open("{course}/notebooks/INSTRUCTORS.md").read())
refused("tests", lambda: os.listdir("{course}/tests"))
refused("server", lambda: urllib.request.urlopen("http://127.0.0.1:{port}{path}/api/contents"))
if [name for _, _, names in os.walk("/home/{mine}/attention") for name in names if name == "INSTRUCTORS.md"]:
    print("INSTRUCTORS.md ALLOWED")
"""


class Failure(Exception):
    """Something that a student saw and should not have, or the other way round."""


class KernelKilled(Failure):
    """The server says that the kernel's process is gone."""


def expect(condition, *said):
    if not condition:
        raise Failure(" ".join(map(str, said)))


# ---------------------------------------------------------------------------------------------------------------- hub


class Hub:
    """A hub of its own on free ports, with its state in a temporary folder; leaves nothing behind."""

    def __init__(self, students):
        self.state = Path(tempfile.mkdtemp(prefix="load-hub-"))
        self.port = free_ports(3)
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            "COURSE_HUB_STATE": str(self.state),
            "COURSE_HUB_PORT": str(self.port),
        }
        run = secrets.token_hex(2)
        kinds = ("load-{}-{:02}", "load.{}.{:02}@example.org", "王小明{}{:02}")  # as names come
        names = [kinds[i % len(kinds)].format(run, i) for i in range(students)]
        (self.state / "class.csv").write_text("".join(f"{name},\n" for name in ("id,name", *names)), encoding="utf-8")
        self.passwords = {}
        self.had_group = subprocess.run(["getent", "group", spawners.GROUP], capture_output=True).returncode == 0

    def add(self):
        """Accounts for the class, as a teacher makes them."""
        rows = csv.reader(self.command("add", self.state / "class.csv").splitlines())
        self.passwords = {id: password for id, _, password in rows}

    def command(self, *arguments):
        command = [sys.executable, "course.py", "hub", *arguments]
        result = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True)
        expect(result.returncode == 0, arguments, result.stderr)
        return result.stdout

    async def start(self):
        with open(self.state / "hub.log", "ab") as log:
            command = [sys.executable, "course.py", "hub"]
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        async with aiohttp.ClientSession() as session:
            for _ in range(600):
                expect(self.process.poll() is None, "the hub ended:", self.log())
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(f"{self.address}/hub/health") as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.1)
        raise Failure(f"the hub does not answer: {self.log()}")

    def log(self):
        return (self.state / "hub.log").read_text()[-2000:]

    async def restart(self):
        """End the hub's process alone, see it gone, and start another."""
        file = Path(f"/run/attention-hub-{self.port}.pid")
        before = int(file.read_text())
        psutil.Process(before).terminate()
        await asyncio.to_thread(self.process.wait, 60)
        expect(not psutil.pid_exists(before), "the hub did not end")
        await self.start()
        expect(int(file.read_text()) != before, "it is the same hub")

    def remove(self):
        self.command("stop")
        self.process.wait(60)
        spawners.end_all({spawners.account(name) for name in self.passwords})  # of whom the roster has lost, too
        for name in self.passwords:
            if spawners.home(name):
                quiet = subprocess.DEVNULL  # it says that there is no mail
                subprocess.run(["userdel", "--remove", spawners.account(name)], stderr=quiet)
        if not self.had_group:
            subprocess.run(["groupdel", spawners.GROUP], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.state)


# ------------------------------------------------------------------------------------------------------------ student


class Cookies(aiohttp.CookieJar):
    """Cookies also for a path with other letters than English ones, which aiohttp compares in two forms."""

    def update_cookies_from_headers(self, headers, response_url):
        plain = [re.sub("(?<=Path=)[^;]*", lambda path: urllib.parse.unquote(path[0]), header) for header in headers]
        super().update_cookies_from_headers(plain, response_url)


class Student:
    """What a browser with JupyterLab in it does, without the browser."""

    def __init__(self, hub, name, times):
        self.hub, self.name, self.times = hub, name, times
        self.account = spawners.account(name)
        self.path_of_server = f"/user/{urllib.parse.quote(name, safe='@~')}"
        self.base = hub.address + self.path_of_server
        self.http = aiohttp.ClientSession(
            cookie_jar=Cookies(unsafe=True),  # cookies of an address without a name
            timeout=aiohttp.ClientTimeout(total=PATIENCE),
        )
        self.comms, self.answered = {}, {}

    @contextlib.asynccontextmanager
    async def step(self, title):
        started = time.perf_counter()
        async with asyncio.timeout(PATIENCE):
            yield
        self.times[title].append(time.perf_counter() - started)

    async def ask(self, method, url, want=(200, 201), **options):
        """One request with the cookies and the token that this page would send; returns the JSON of the answer."""
        async with self.http.request(method, url, headers=self.token(url), **options) as answer:
            body = await answer.text()
            expect(answer.status in want, method, url, answer.status, body[:300])
        return json.loads(body) if answer.content_type == "application/json" and body else body

    def token(self, url):
        cookie = self.http.cookie_jar.filter_cookies(aiohttp.client.URL(url)).get("_xsrf")
        return {"X-XSRFToken": cookie.value} if cookie else {}

    async def log_in(self):
        url = f"{self.hub.address}/hub/login"
        await self.ask("GET", url)
        form = {"username": self.name, "password": "wrong", "_xsrf": self.token(url)["X-XSRFToken"]}
        said = await self.ask("POST", url, data=form)
        expect("Invalid username or password" in said, "a wrong password was answered by", said[-2000:])
        form = {**form, "password": self.hub.passwords[self.name], "_xsrf": self.token(url)["X-XSRFToken"]}
        said = await self.ask("POST", f"{url}?next=/hub/home", data=form)
        expect("Invalid" not in said and "logout" in said, "not logged in:", said[-2000:])

    async def start_server(self):
        await self.ask("GET", f"{self.hub.address}/hub/spawn/{self.name}")
        await self.events(f"{self.hub.address}/hub/api/users/{self.name}/server/progress", "ready")
        await self.lands_on_the_course(f"{self.base}/")  # through the hub's consent, which leaves the cookie
        link = edition.pull("02_scaled_dot_product.ipynb")
        await self.lands_on_the_course(f"{self.hub.address}/hub/user-redirect{link}")

    async def lands_on_the_course(self, url):
        async with self.http.get(url) as answer:
            expect(answer.status == 200 and str(answer.url).startswith(f"{self.base}/git-pull?"), url, answer.url)

    async def pull(self):
        query = {"repo": f"file://{edition.EDITION}", "branch": "main", "targetpath": edition.FOLDER}
        await self.events(f"{self.base}/git-pull/api", "finished", params=query)

    async def events(self, url, goal, **options):
        """Read an event stream until the event that ends it."""
        async with self.http.get(url, headers=self.token(url), **options) as answer:
            expect(answer.status == 200, url, answer.status)
            async for line in answer.content:
                event = json.loads(line[5:]) if line.startswith(b"data:") else {}
                expect(not event.get("failed") and event.get("phase") != "error", url, event)
                if event.get(goal) or event.get("phase") == goal:
                    return
        raise Failure(f"{url} ended early")

    async def open(self, path=NOTEBOOK):
        self.path = path
        self.notebook = (await self.ask("GET", f"{self.base}/api/contents/{path}?type=notebook"))["content"]

    async def start_kernel(self):
        body = {"path": self.path, "name": Path(self.path).name, "type": "notebook", "kernel": {"name": "python3"}}
        self.kernel = (await self.ask("POST", f"{self.base}/api/sessions", json=body))["kernel"]["id"]
        await self.connect()

    async def connect(self):
        """A websocket to the kernel, and its first answer."""
        self.session = uuid.uuid4().hex
        url = f"{self.base}/api/kernels/{self.kernel}/channels?session_id={self.session}"
        protocol = ["v1.kernel.websocket.jupyter.org"]
        self.socket = await self.http.ws_connect(url, protocols=protocol, origin=self.hub.address, max_msg_size=0)
        self.inbox = asyncio.Queue()
        self.reader = asyncio.create_task(self.read(self.socket, self.inbox))
        await self.send("kernel_info_request", {})

    async def again(self, attempts=8):
        """Connect to the kernel that the server starts in place of a killed one; what comes too early gets lost."""
        for _ in range(attempts):
            await self.socket.close()
            with contextlib.suppress(TimeoutError, KernelKilled):
                return await asyncio.wait_for(self.connect(), 15)
        raise Failure(f"{self.name} got no new kernel in {attempts} attempts")

    @staticmethod
    async def read(socket, inbox):
        """Take in frames all the time: that answers the server's pings, without which it hangs up."""
        while not socket.closed:
            await inbox.put(await socket.receive())

    async def send(self, kind, content, metadata=None):
        """Send a message and take in all that comes until the kernel has answered and is idle again."""
        id = uuid.uuid4().hex
        now = datetime.datetime.now(datetime.UTC).isoformat()
        header = {"msg_id": id, "msg_type": kind, "username": self.name, "session": self.session, "date": now}
        message = {"header": {**header, "version": "5.3"}, "parent_header": {}, "metadata": metadata or {}}
        parts = [json.dumps(message[k]).encode() for k in ("header", "parent_header", "metadata")]
        await self.socket.send_bytes(serialize_msg_to_ws_v1([*parts, json.dumps(content).encode()], "shell"))
        open_ends = {"idle"} if kind == "comm_msg" else {"idle", "reply"}
        said = []
        while open_ends:
            message = await self.receive()
            if message["parent_header"].get("msg_id") != id:
                continue
            kind, content = message["header"]["msg_type"], message["content"]
            said.append((kind, content))
            if kind == "status" and content["execution_state"] == "idle":
                open_ends.discard("idle")
            elif kind.endswith("_reply"):
                open_ends.discard("reply")
        return said

    async def receive(self):
        frame = await self.inbox.get()
        expect(frame.type is aiohttp.WSMsgType.BINARY, "the websocket was closed:", frame.type, frame.data)
        _, parts = deserialize_msg_from_ws_v1(frame.data)
        names = ("header", "parent_header", "metadata", "content")
        message = {name: json.loads(part) for name, part in zip(names, parts, strict=False)}
        self.remember(message["header"]["msg_type"], message["content"])
        if message["content"].get("execution_state") in ("restarting", "autorestarting", "dead"):
            raise KernelKilled(self.name)
        return message

    def remember(self, kind, content):
        """Keep the state of each widget, as the page would."""
        if kind == "comm_open":
            self.comms[content["comm_id"]] = dict(content["data"].get("state", {}))
        elif kind == "comm_msg" and content["data"].get("method") == "update":
            self.comms.setdefault(content["comm_id"], {}).update(content["data"]["state"])

    async def execute(self, code, fine=True):
        """Run code as a cell; returns its outputs as text."""
        cell = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "stop_on_error": True}
        outputs = []
        for kind, content in await self.send("execute_request", {**cell, "allow_stdin": False}):
            if kind == "error":
                expect(not fine, self.name, content["ename"], content["evalue"])
                outputs.append(content["ename"])
            elif kind == "stream":
                outputs.append(content["text"])
            elif kind in ("execute_result", "display_data"):
                outputs.append(content["data"].get("text/plain", ""))
        return "".join(outputs)

    async def run_all(self):
        for cell in self.notebook["cells"]:
            if cell["cell_type"] == "code" and cell["source"].strip():
                cell["source"] = re.sub(r"(?m)^(guess|my_\w+) = \.\.\.", r'\1 = "show"', cell["source"])
                await self.execute(cell["source"])

    async def edit_board(self):
        """Write another number into the first cell of W_q, as the page does, and see Python take it."""
        boards = [id for id, told in self.comms.items() if "W_q" in (told.get("state") or {}).get("inputs", {})]
        expect(boards, "no board was shown")
        board = self.comms[boards[-1]]
        state = json.loads(json.dumps(board["state"]))
        state["revision"] += 1
        state["inputs"]["W_q"][0][0] += 1.5
        board["state"] = state
        update = {"method": "update", "state": {"state": state}, "buffer_paths": []}
        await self.send("comm_msg", {"comm_id": boards[-1], "data": update})
        while board["reply"]["revision"] != state["revision"]:
            await self.receive()
        expect(board["reply"]["problem"] == "", "the number did not arrive:", board["reply"])

    def cell(self, id):
        return next(cell for cell in self.notebook["cells"] if cell["id"] == id)

    async def submit(self):
        """Write the answer to exercise 1.2 and be told that it is correct."""
        self.cell("exercise-1-2")["source"] = ANSWER
        await self.execute(ANSWER)
        verdict = await self.execute(self.cell("check-1-2")["source"])
        expect("correct" in verdict.lower() or "✓" in verdict or "✔" in verdict, "the verdict was:", verdict)

    async def hand_in(self):
        """Press the button that stands below the exercise, and read what it says."""
        of_kind = lambda name: [id for id, state in self.comms.items() if state.get("_model_name") == name]  # noqa: E731
        button, words = of_kind("ButtonModel")[-1], of_kind("HTMLModel")[-1]
        press = {"method": "custom", "content": {"event": "click"}}
        await self.send("comm_msg", {"comm_id": button, "data": press})
        said = self.comms[words]["value"]
        expect("Handed in: notebook 1" in said and "not saved" not in said, "the button said:", said)

    async def save(self):
        model = {"type": "notebook", "format": "json", "content": self.notebook}
        await self.ask("PUT", f"{self.base}/api/contents/{self.path}", json=model)
        await self.read_back()

    async def read_back(self):
        saved = (await self.ask("GET", f"{self.base}/api/contents/{self.path}?type=notebook"))["content"]
        sources = [[cell["source"] for cell in notebook["cells"]] for notebook in (saved, self.notebook)]
        expect(sources[0] == sources[1], "what was read is not what was saved")

    async def is_refused(self, other):
        """A neighbour's server with the own cookies, and the neighbour's files from the own kernel."""
        no = (401, 403, 404)
        await self.ask("GET", f"{self.hub.address}/hub/admin", want=no)
        await self.ask("GET", f"{self.hub.address}/hub/authorize", want=no)
        await self.ask("GET", f"{self.hub.address}/hub/change-password/{other.name}", want=no)
        await self.ask("GET", f"{other.base}/api/contents/{NOTEBOOK}", want=no)
        await self.ask("GET", f"{other.base}/lab", want=no)
        await self.ask("GET", f"{self.hub.address}/hub/api/users/{other.name}", want=no)
        await self.ask("DELETE", f"{self.hub.address}/hub/api/users/{other.name}/server", want=no)
        with contextlib.suppress(aiohttp.WSServerHandshakeError):
            await self.http.ws_connect(f"{other.base}/api/kernels/{other.kernel}/channels")
            raise Failure("a neighbour's kernel let us in")
        pid, port = other.server()
        kernels = [p for p in processes(other.account) if "ipykernel" in " ".join(p.cmdline())]
        heard = [c for p in kernels for c in p.net_connections("inet") if c.status == "LISTEN"]
        expect(kernels and len(heard) <= len(kernels), "a kernel has ports:", heard)  # one, for what its children print
        places = {"account": other.account, "notebook": NOTEBOOK, "path": other.path_of_server, "mine": self.account}
        code = SNOOP.format(**places, pid=pid, port=port, state=self.hub.state, course=ROOT)
        said = (await self.execute(code)).splitlines()
        expect(len(said) == 10 and all(line.endswith(" refused") for line in said), said)

    def server(self):
        process = next(p for p in processes(self.account) if "jupyterhub-singleuser" in " ".join(p.cmdline()))
        return process.pid, next(c.laddr.port for c in process.net_connections() if c.status == "LISTEN")


def processes(account):
    return [process for process in psutil.process_iter() if spawners.owner(process.pid) == account]


# ------------------------------------------------------------------------------------------------------------ a class


async def first_half(student, delay):
    await asyncio.sleep(delay)
    for title, do in {
        "log in": student.log_in,
        "start a server": student.start_server,
        "pull the course": student.pull,
        "open notebook 1": student.open,
        "start a kernel": student.start_kernel,
        "run notebook 1, all cells": student.run_all,
        "edit a board": student.edit_board,
        "save and read back": student.save,
    }.items():
        async with student.step(title):
            await do()
    await student.execute(f"mine = {student.name!r}")


async def second_half(student, other):
    async with student.step("the kernel after the hub's restart"):
        await student.connect()  # as a page does by itself: the proxy was a new one
        expect(student.name in await student.execute("mine"), "the kernel forgot")
    async with student.step("a new page after the restart"):
        await student.ask("GET", f"{student.base}/lab")
        await student.read_back()
        await student.connect()
        expect(student.name in await student.execute("mine"), "the kernel forgot")
    async with student.step("submit an answer"):
        await student.submit()
    async with student.step("edit a board again"):
        await student.execute(student.cell("board")["source"])
        await student.edit_board()
    async with student.step("save and read back"):
        await student.save()
    async with student.step("hand in"):
        await student.hand_in()
    async with student.step("be refused elsewhere"):
        await student.is_refused(other)


async def too_much(greedy, other):
    """One takes more memory than allowed and is stopped; the neighbour's kernel does not notice."""
    before, _ = greedy.server()
    try:
        how = await greedy.execute(GREEDY + "\nlen(taken)", fine=False)
        expect("Error" in how, "nothing stopped it:", how)
    except KernelKilled:
        how = "kernel killed"
        await greedy.again()
    expect(greedy.server()[0] == before, "the greedy student's server is gone too")
    expect(other.name in await other.execute("mine"), "the neighbour's kernel forgot")
    return how


def collected(hub, students):
    """The teacher gets of each student what that student saved."""
    hub.command("collect", "01", hub.state / "collected")
    for student in students:
        (file,) = (hub.state / "collected/01" / student.name).glob("* 01_by_hand.ipynb")
        sources = [cell["source"] for cell in json.loads(file.read_text())["cells"]]
        expect(["".join(source) for source in sources] == [cell["source"] for cell in student.notebook["cells"]], file)


async def leaves(hub, student):
    """Who is removed from the roster is out at once, with the page that is open too, and cannot come back."""
    hub.command("remove", student.name)
    async with student.http.get(f"{hub.address}/hub/home") as answer:
        expect("/hub/login" in str(answer.url), "still logged in:", answer.url)
    with contextlib.suppress(Failure):
        await student.log_in()
        raise AssertionError(f"{student.name} could log in after being removed")


async def everyone(students, failures, what):
    """Run one coroutine for each student; returns those who got through."""
    results = await asyncio.gather(*(what(i, student) for i, student in enumerate(students)), return_exceptions=True)
    for student, result in zip(students, results, strict=True):
        if result is not None:
            failures.append(f"{student.name}: {type(result).__name__}: {result}")
    return [student for student, result in zip(students, results, strict=True) if result is None]


async def a_class(hub, options, times, failures):
    """The whole story; returns what was measured."""
    students = [Student(hub, name, times) for name in hub.passwords]
    gap = options.arrive / max(1, len(students))
    measured = {"machine": machine(), "students": len(students)}
    try:
        through = await everyone(students, failures, lambda i, student: first_half(student, i * gap))
        if not through:
            return measured
        measured["after_1"] = usage(through)
        await hub.restart()
        through = await everyone(
            through, failures, lambda i, student: second_half(student, through[(i + 1) % len(through)])
        )
        collected(hub, through)
        if options.save and through:
            measured["after_4"] = await notebook_4(through[: min(5, len(through))])
        if len(through) > 1:
            measured["greedy"] = await too_much(through[0], through[1])
            await leaves(hub, through[0])
    except Exception as error:
        failures.append(f"{type(error).__name__}: {error}")
    finally:
        for student in students:
            await student.http.close()
    return measured


async def notebook_4(students):
    """Some run notebook 4 in a kernel of its own, the one of notebook 1 closed as its page would be."""

    async def one(student):
        await student.ask("DELETE", f"{student.base}/api/kernels/{student.kernel}", want=(204,))
        await student.open("attention/my/04_multi_head.ipynb")
        await student.start_kernel()
        await student.run_all()
        await student.execute(f"mine = {student.name!r}")

    await asyncio.gather(*(one(student) for student in students))
    return usage(students)


def usage(students):
    """What one student's processes take on average, in MB and in seconds of one core."""
    sums = {kind: defaultdict(float) for kind in ("server", "kernel")}
    for student in students:
        for process in processes(student.account):
            kind = "kernel" if "ipykernel" in " ".join(process.cmdline()) else "server"
            memory, cpu = process.memory_full_info(), process.cpu_times()
            sums[kind]["pss_mb"] += memory.pss / 1e6
            sums[kind]["uss_mb"] += memory.uss / 1e6
            sums[kind]["cpu_seconds"] += cpu.user + cpu.system
    return {kind: {name: round(x / len(students), 2) for name, x in totals.items()} for kind, totals in sums.items()}


def machine():
    memory = psutil.virtual_memory().total / 2**30
    return {"cores": os.cpu_count(), "memory_gib": round(memory, 1), "date": datetime.date.today().isoformat()}


def table(times):
    lines = ["| step | times | p50 | p95 |", "|---|---|---|---|"]
    for title, seconds in times.items():
        cuts = statistics.quantiles(seconds, n=20, method="inclusive") if len(seconds) > 1 else seconds * 20
        lines.append(f"| {title} | {len(seconds)} | {statistics.median(seconds):.2f} s | {cuts[18]:.2f} s |")
    return "\n".join(lines)


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--arrive", type=float, default=30, help="seconds over which they arrive")
    parser.add_argument("--save", action="store_true", help="write classroom/hub/measured.json")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("A hub makes accounts, which only root can: sudo .venv/bin/python benchmarks/load_hub.py")
    times, failures = defaultdict(list), []
    hub = Hub(options.students)
    started = time.perf_counter()
    measured = {}
    try:
        hub.add()
        await hub.start()
        measured = await a_class(hub, options, times, failures)
        if failures:
            print(hub.log())
    finally:
        hub.remove()
    print(f"{measured['machine']}, {time.perf_counter() - started:.0f} s in all\n")
    print(table(times))
    print(f"\ntoo much memory: {measured.get('greedy')}\n{json.dumps(measured)}\nfailures: {len(failures)}")
    print(*failures, sep="\n")
    if options.save and not failures:
        (ROOT / "classroom/hub/measured.json").write_text(json.dumps(measured) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
