"""The table of a class at work: who is stuck where, and the commonest mistake now. It is for this machine alone.

What `check` found comes from files in one folder: `NAME.jsonl`, to which `check` adds a line where the variable
ATTENTION_LIVE names that folder (and tells the learner so), and the `.progress.json` of learners' folders, which know
what is done but not when. Laptops send the same to laptops.py, a process of its own. Whatever comes was written by
others: it is read as ids and numbers, never trusted.
"""

import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from workbench import progress
from workbench.display.show import count, marked
from workbench.exercises.engine.exercise import EXERCISES

from ...hall.link import PASSED_ON, own_addresses
from ..sandbox.host import ROOT
from .pages import escape, in_parts, listing, page, slide
from .report import PART_MISTAKES, kind_of, misconception_in_words

LONGEST = 1 << 20  # bytes of one learner's file that are read, from its end
RECENT = 30 * 60  # seconds after which a mistake is no longer *now*
SIGNS = {"correct": "✓", "wrong": "✗"}


@dataclass
class Now:
    """How a learner stands in one exercise."""

    status: str  # of the last check
    misconception: str = ""
    tries: int = 0  # since the beginning, up to the first that was right
    since: float | None = None  # when the first of these was
    last: float | None = None


@dataclass
class Class:
    """Everybody: {name: {exercise: Now}}."""

    learners: dict = field(default_factory=dict)

    def exercises(self):
        notebooks = {id.split(".")[0] for states in self.learners.values() for id in states}
        return [id for id in EXERCISES if id.split(".")[0] in notebooks]

    def stuck(self, now):
        """(name, exercise, Now) of those whose last check in an exercise was wrong, the longest first."""
        stuck = []
        for name, states in self.learners.items():
            wrong = [(id, state) for id, state in states.items() if state.status == "wrong" and _is_recent(state, now)]
            if wrong:
                stuck.append((name, *max(wrong, key=lambda pair: pair[1].last or 0)))
        return sorted(stuck, key=lambda one: one[2].since or now)

    def commonest(self, now):
        """(exercise, misconception, how many learners have it now), the most frequent first."""
        frequency = Counter((id, state.misconception) for _, id, state in self.stuck(now))
        return sorted(
            ((*key, n) for key, n in frequency.items()), key=lambda one: (kind_of(*one[:2]), -one[2], one[:2])
        )


def _is_recent(state, now):
    return state.last is None or now - state.last < RECENT


class Laptops:
    """The process that laptops send verdicts to, and what it has told: `lines`, {the laptop's word: its verdicts}."""

    def __init__(self, address=None, shared=False):
        here = address or own_addresses()[0]
        bare = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        command = [sys.executable, "-E", "-s", "-m", "classroom.grade.report.laptops"]
        self.process = subprocess.Popen(command, env=bare, cwd=ROOT, **pipes)
        self.process.stdin.write(json.dumps({"address": here, "shared": shared}) + "\n")
        self.process.stdin.flush()
        first_line = json.loads(self.process.stdout.readline())
        self.address, self.code, self.refused = f"{here}:{first_line['port']}", first_line["code"], 0
        self.lines = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            self.refused = message.get("refused", self.refused)
            if "joined" in message:
                self.lines.setdefault(message["joined"], [])
            elif "name" in message:
                self.lines[message["name"]].append({**message, "time": time.time()})

    def how_to_join(self):
        """The two lines of a notebook by which a learner comes in."""
        return f'from workbench.classroom import join\njoin("{self.address}", "{self.code}")'

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


def look(folder, laptops=None):
    """The `Class` as the files of a folder, if there is one, and the laptops have it now."""
    learners = {}
    for name, lines in (laptops.lines if laptops else {}).copy().items():
        for line in lines.copy():
            _take_in(learners.setdefault(name, {}), line)
    if folder is None:
        return Class({name: states for name, states in learners.items() if states})
    for path in sorted(Path(folder).rglob(progress.PROGRESS_FILE)):
        name = path.parent.name if path.parent.name != "my" else path.parent.parent.name
        for id, state in progress.load(path.parent).items():
            if id in EXERCISES:
                status = "correct" if state == "done" else "wrong"
                learners.setdefault(name, {})[id] = Now(status)
    for path in sorted(Path(folder).rglob("*.jsonl")):
        for line in _lines(path):
            _take_in(learners.setdefault(path.stem, {}), line)
    return Class({name: states for name, states in learners.items() if states})


def _lines(path):
    try:
        with open(path, "rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - LONGEST))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # half of a line
        if isinstance(record, dict):
            yield record


def _take_in(states, line):
    id, status, when = line.get("exercise"), line.get("status"), line.get("time")
    if not (isinstance(id, str) and isinstance(status, str) and type(when) in (int, float)):
        return
    if id not in EXERCISES or status not in SIGNS or not 0 < when < 1e11:
        return
    mistake = str(line.get("misconception"))
    mistake = mistake if mistake in EXERCISES[id].misconceptions or mistake in PART_MISTAKES else ""
    before = states.get(id)
    if before is not None and before.status == "correct":
        return  # what was right once is done
    if before is None or before.last is None:
        before = Now("wrong", since=when)
    states[id] = Now(status, mistake, before.tries + 1, before.since, when)


# ------------------------------------------------------------------------------------------------------ as a page


def table(the_class, now):
    """The whole of it as HTML."""
    if not the_class.learners:
        return "<p>Nobody has checked anything yet.</p>"
    return _commonest(the_class, now) + _stuck(the_class, now) + _everybody(the_class)


def _commonest(the_class, now):
    rows = ""
    for id, mistake, how_many in the_class.commonest(now)[:5]:
        name, reread = misconception_in_words(id, mistake)
        rows += (
            f"<tr><th scope='row'>{id}</th><td>{marked(name)}</td>"
            f"<td class='number' data-head='learners'>{how_many}</td>"
            f"<td>{slide(reread)}</td></tr>"
        )
    if not rows:
        return "<h2>Mistakes now</h2><p>Nobody is stuck.</p>"
    return "<h2>Mistakes now</h2>" + listing("mistakes now", ("exercise", "mistake", "learners", "show"), rows)


def _stuck(the_class, now):
    rows = ""
    for name, id, state in the_class.stuck(now):
        minutes = f"{(now - state.since) / 60:.0f} min" if state.since else ""
        mistake = misconception_in_words(id, state.misconception)[0] if state.misconception else ""
        tries = " data-head='tries'" if state.tries else ""
        rows += (
            f"<tr><th scope='row'>{escape(name)}</th><td>{id} {marked(EXERCISES[id].title)}</td>"
            f"<td class='number'>{minutes}</td><td class='number'{tries}>{state.tries or ''}</td>"
            f"<td>{marked(mistake)}</td></tr>"
        )
    if not rows:
        return ""
    return "<h2>Who is stuck</h2>" + listing("who is stuck", ("who", "where", "for", "tries", "last mistake"), rows)


def _everybody(the_class):
    grids = "".join(_grid(the_class.learners, ids) for ids in in_parts(the_class.exercises()))
    return f"<h2>Everybody</h2><p>{count(len(the_class.learners), 'learner')}: ✓ right, ✗ not yet.</p>{grids}"


def _grid(learners, ids):
    head = "".join(f"<th scope='col' class='id'>{id}</th>" for id in ids)
    body = ""
    for name, states in sorted(learners.items()):
        cells = "".join(
            f"<td class='{states[id].status}'>{SIGNS[states[id].status]}</td>" if id in states else "<td></td>"
            for id in ids
        )
        body += f"<tr><th scope='row'>{escape(name)}</th>{cells}</tr>"
    return (
        "<div class='wide' tabindex='0' role='region' aria-label='everybody'><table class='grid'><thead><tr>"
        f"<th scope='col'>learner</th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


SCRIPT = """
const place = document.getElementById("now"), fresh = document.createElement("div");
setInterval(async () => {
  try {
    const answer = await fetch("/table");
    if (!answer.ok) throw answer.status;
    fresh.innerHTML = await answer.text();
    if (fresh.innerHTML !== place.innerHTML) place.replaceChildren(...fresh.childNodes);  // else a selection would go
    document.getElementById("quiet").textContent = "";
  } catch { document.getElementById("quiet").textContent = "The table is no longer served: what stands here is old."; }
}, 2000);
"""


def joining(laptops):
    """What to project so that laptops come in, and how many have."""
    if not laptops:
        return ""
    without_place = ""
    if laptops.refused:
        many = count(laptops.refused, "laptop")
        without_place = f" {many} found no place: eight may come from one address, unless you start with --shared."
    return (
        f"<p>On a laptop of this network, in a cell of any notebook:</p><pre>{escape(laptops.how_to_join())}</pre>"
        f"<p>{count(len(laptops.lines), 'laptop')} joined. Each has an animal's name, which its learner sees too; "
        f"whose it is, only the learner knows.{without_place}</p>"
    )


def server(folder, port=0, laptops=None):
    """A server of the table on this machine alone, to be started."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            here = f"{self.server.server_port}"
            if self.headers.get("Host") not in (f"127.0.0.1:{here}", f"localhost:{here}"):  # another name for us
                return self.send_error(403)
            body = joining(laptops) + table(look(folder, laptops), time.time())
            if self.path == "/table":
                return self._answer(body)
            if self.path == "/":
                return self._answer(
                    page(
                        "The class now",
                        f"<h1>The class now</h1><p id='quiet' role='status'></p><div id='now'>{body}</div>",
                        script=SCRIPT,
                    )
                )
            return self.send_error(404)

        def _answer(self, text):
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")  # names of students stay on no disk
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            """Says nothing in the terminal."""

    return http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)


def serve(folder, port, laptops=None):
    """Serve the table until Ctrl-C; returns an exit code. `laptops` makes a `Laptops`, for those to come in."""
    if folder is not None and not Path(folder).is_dir():
        print(f"There is no folder {folder}.")
        return 1
    try:
        there = laptops() if laptops else None
    except (OSError, ValueError):
        print("No laptop can come in: that address is none of this machine's, or no port of it can be used.")
        return 1
    try:
        live = server(folder, port, there)
    except OSError as error:
        print(f"Port {port} cannot be used ({error.strerror}): --port names another.")
        if there:
            there.end()
        return 1
    with live:
        shows = f"the class as the files in {folder} have it" if folder is not None else "the class"
        print(f"http://127.0.0.1:{live.server_port} shows {shows}; Ctrl-C ends it.")
        if there:
            print(f"On a laptop of this network, in a cell of any notebook:\n{there.how_to_join()}", flush=True)
        try:
            live.serve_forever()
        except KeyboardInterrupt:
            return 0
        finally:
            if there:
                there.end()
