"""The table of a class at work: who is stuck where, and what is commonest now."""

import socket
import threading
import urllib.error
import urllib.request

import pytest
from bs4 import BeautifulSoup
from grading import texts, told

from authors.grade.__main__ import main
from authors.grade.report import dashboard
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
    assert texts(soup, "table.grid tbody tr") == [
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
