"""The table of a class at work: who is stuck where, and what is commonest now."""

import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup
from grading import texts, told

from classroom.grade.__main__ import main
from classroom.grade.report import dashboard
from workbench import classroom
from workbench.exercises.api import verdict_on
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.sections import TITLES

CORNER = EXERCISES["3.2"].misconceptions["top-left"]


def test_dashboard_shows_who_is_stuck_and_the_commonest_mistake(tmp_path):
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
    assert mistakes[0][1] == CORNER.name and TITLES[CORNER.reread] in mistakes[0][3]
    assert [line[0:4] for line in stuck] == [
        ["fay", "3.2 A causal mask", "15 min", "1"],
        ["ada", "3.2 A causal mask", "10 min", "2"],
        ["bob", "3.2 A causal mask", "5 min", "1"],
    ]
    assert [line[:4] for line in texts(soup, "table.grid tbody tr")] == [
        ["ada", "", "✗", ""], ["bob", "✓", "✗", ""], ["eve", "", "✓", ""], ["fay", "", "✗", ""], ["old", "", "✗", ""],
        ["zoe", "✓", "", ""],
    ]  # fmt: skip


def test_dashboard_keeps_what_was_right_and_the_latest_mistake(tmp_path):
    now = 100_000.0
    told(tmp_path, "ada", (now - 90, "3.1", "correct", None), (now - 80, "3.1", "wrong", None))
    told(tmp_path, "bob", (now - 90, "3.1", "wrong", None), (now - 30, "3.2", "wrong", "top-left"))
    found = dashboard.look(tmp_path)
    assert found.learners["ada"]["3.1"].status == "correct"
    assert [(name, id) for name, id, _ in found.stuck(now)] == [("bob", "3.2")]
    assert found.commonest(now) == [("3.2", "top-left", 1)]


def test_dashboard_reads_copies_that_know_no_times(tmp_path):
    now = 100_000.0
    (tmp_path / "eve" / "my").mkdir(parents=True)
    (tmp_path / "eve" / "my" / ".progress.json").write_text('{"3.1": "done", "3.2": "tried"}')
    found = dashboard.look(tmp_path)
    soup = BeautifulSoup(dashboard.table(found, now), "html.parser")
    assert texts(soup.select("table.list")[1], "tbody tr") == [["eve", "3.2 A causal mask", "", "", ""]]
    told(tmp_path, "eve", (now - 90, "3.2", "wrong", "polarity"), (now - 90, "3.1", "wrong", None))  # now it is known
    found = dashboard.look(tmp_path).learners["eve"]
    assert (found["3.2"].tries, found["3.2"].since, found["3.2"].misconception) == (1, now - 90, "polarity")
    assert found["3.1"].status == "correct"


def test_dashboard_lists_five_mistakes_all_who_are_stuck_and_nobody(tmp_path):
    now = 100_000.0
    for i, id in enumerate(("10.1", "2.1", "2.2", "3.1", "3.2", "4.1", "4.2")):
        told(tmp_path, f"p{i}", (now - 60 * i, id, "wrong", None))
    soup = BeautifulSoup(dashboard.table(dashboard.look(tmp_path), now), "html.parser")
    assert len(texts(soup, "table.list tbody tr")) == 5 + 7
    assert texts(soup, "table.grid thead tr")[0][1:] == [
        id for id in EXERCISES if id.split(".")[0] in ["2", "3", "4", "10"]
    ]
    right = dashboard.Class({"ada": {"3.1": dashboard.Now("correct")}})
    right = BeautifulSoup(dashboard.table(right, now), "html.parser")
    assert "Nobody is stuck." in right.get_text() and not right.select("table.list")


def test_dashboard_reads_the_end_of_a_long_file(tmp_path, monkeypatch):
    told(tmp_path, "ada", *[(1e5 + i, "3.2", "wrong", None) for i in range(50)], (2e5, "3.1", "correct", None))
    monkeypatch.setattr(dashboard, "LONGEST", 200)
    found = dashboard.look(tmp_path).learners["ada"]
    assert found["3.1"].status == "correct" and found["3.2"].tries == 1


def test_dashboard_believes_no_line_and_shows_no_markup(tmp_path):
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


def test_dashboard_is_served_to_this_machine_only(tmp_path, capsys):
    told(tmp_path, "ada", (1e9, "3.2", "correct", None))
    with dashboard.server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert server.server_address[0] == "127.0.0.1"
        address = f"http://127.0.0.1:{server.server_port}"
        silent = socket.create_connection(server.server_address)  # as browsers do, to have it when it is needed
        whole = urllib.request.urlopen(address.replace("127.0.0.1", "localhost"), timeout=60).read().decode()
        silent.close()
        assert "The class now" in whole and "ada" in whole
        with urllib.request.urlopen(f"{address}/table") as answer:
            assert "ada" in answer.read().decode() and answer.headers["Cache-Control"] == "no-store"
        for path, headers in (("/", {"Host": "evil.example"}), ("/../x", {})):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(urllib.request.Request(address + path, headers=headers))
        assert dashboard.serve(tmp_path, server.server_port) == main(["--live", str(tmp_path / "none")]) == 1
        said = capsys.readouterr()
        assert said.err == "", "not a line for every look"
        taken, missing = said.out.splitlines()
        assert f"Port {server.server_port} cannot be used" in taken
        assert missing == f"There is no folder {tmp_path / 'none'}."
        server.shutdown()


@pytest.fixture
def laptops():
    """Where laptops come in, as `grade --live --laptops` starts it."""
    there = dashboard.Laptops("127.0.0.1")
    yield there
    there.end()
    assert there.process.returncode == 0


def wait_until(there):
    """What another process has sent is soon here."""
    until = time.monotonic() + 20
    while not there() and time.monotonic() < until:
        time.sleep(0.01)
    assert there()


def test_laptop_joins_by_address_and_code_and_sends_no_name(laptops, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_PROGRESS", str(tmp_path))
    monkeypatch.setenv("ATTENTION_NAME", "Ada Lovelace")
    monkeypatch.delenv("ATTENTION_LIVE", raising=False)
    verdict = verdict_on("3.2", lambda q, k: torch.ones(q, k).tril().bool())
    assert classroom.tell(verdict) is None, "nobody has joined anything"
    assert "No hall has this code" in repr(classroom.join(laptops.address, "XXXX"))
    said = repr(classroom.join(laptops.address, laptops.code.lower()))
    word = re.search("“(.+)” today", said)[1]
    assert word in classroom.tell(verdict)
    wait_until(lambda: laptops.lines.get(word))
    page = BeautifulSoup(dashboard.joining(laptops) + dashboard.table(dashboard.look(None, laptops), 0), "html.parser")
    assert laptops.how_to_join() in page.pre.get_text() and "1 laptop joined" in page.get_text()
    assert texts(page, "table.grid tbody tr")[0][:4] == [word, "", "✗", ""] and CORNER.name in page.get_text()
    assert "Ada" not in json.dumps(laptops.lines)
    classroom.leave()
    assert classroom.tell(verdict) is None
    classroom.join(laptops.address, laptops.code)
    laptops.end()
    assert "does not see this result: nothing answers" in classroom.tell(verdict)
    assert "no address with a port" in repr(classroom.join("http://evil.example/", "XXXX"))


def test_laptops_door_gives_nothing_away_and_takes_nothing_else(laptops):
    def ask(path, said=None):
        data = said if isinstance(said, bytes | None) else json.dumps(said).encode()
        try:
            with urllib.request.urlopen(f"http://{laptops.address}{path}", data) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    token = ask("/join", {"code": laptops.code})[1]["token"]
    verdict = {"token": token, "exercise": "3.2", "status": "wrong", "misconception": "top-left"}
    for path in ("/", "/table", "/told", "/join", "/state", "/events", "/api/kernels"):
        status, said = ask(path)
        assert status in (404, 405) and laptops.code not in said and "heron" not in said
    for changed, status in (
        ({"token": token[:-1] + "10"[token[-1] == "1"]}, 403), ({"token": None}, 403), ({"exercise": "<b>"}, 400),
        ({"status": "seen"}, 400), ({"misconception": "x" * 999}, 400), ({"misconception": "<script>"}, 400),
    ):  # fmt: skip
        assert ask("/told", verdict | changed)[0] == status
    assert ask("/join", {"code": "AAAA"})[0] == 404 and ask("/join", b"[")[0] == 400
    assert [ask("/told", verdict)[0] for _ in range(45)][::44] == [200, 429], "a flood ends, and Run All does not"
    assert [ask("/join", {"code": laptops.code})[0] for _ in range(8)] == [200] * 7 + [503], "eight from one address"
    wait_until(lambda: laptops.refused)
    assert "1 laptop found no place" in dashboard.joining(laptops)
    environment = Path(f"/proc/{laptops.process.pid}/environ")
    if environment.exists():
        there = {line.partition("=")[0] for line in environment.read_text().split("\0") if line}
        assert there <= {"PATH", "LANG", "LC_CTYPE"}, "no token of the teacher's is within its reach"
