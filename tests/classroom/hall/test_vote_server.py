"""The vote server, met over HTTP by phones and by those who mean it harm."""

import itertools
import json
import os
import socket
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from vote_server import NUMBERS, WORDS, VoteServer

from classroom.hall import server as vote_server_process


@contextmanager
def started(**settings):
    server = VoteServer(**settings)
    try:
        yield server
    finally:
        server.end()
    assert server.process.returncode == 0, "it ends with the deck"


@pytest.fixture(scope="module")
def running():
    with started() as one:
        yield one


@pytest.fixture
def server(running):
    """In which nobody is yet and no vote is open."""
    before = running.now["code"]
    for do in ("close", "code"):
        running.order({"do": do})
    running.until(lambda: running.now["code"] != before)
    return running


def test_votes_are_counted_the_last_one_and_a_second_one_beside_it(server):
    one, other = server.join(), server.join()
    server.open()
    assert [server.vote(one, "0.5; 1.5"), server.vote(other, "1; 2"), server.vote(one, "1; 2")] == 3 * [200]
    server.until(lambda: server.rounds()[-1]["votes"] == {"1; 2": 2})
    assert (server.now["phones"], server.rounds()[-1]["answered"]) == (2, 2)
    server.open(again=True)
    server.vote(one, "3; 4")
    server.until(lambda: [one["votes"] for one in server.rounds()] == [{"1; 2": 2}, {"3; 4": 1}])


def test_a_late_vote_lands_nowhere_nor_does_what_is_no_option(server):
    phone = server.join()
    first = server.open()
    server.order({"do": "close"})
    server.until(lambda: server.now["phase"] == "closed")
    assert server.vote(phone, "1; 2", first) == 409
    server.open(WORDS)
    assert server.vote(phone, "yes", first) == 409
    assert [server.vote(phone, text) for text in ("maybe", "Yes", "yes")] == [400, 400, 200]
    server.until(lambda: server.rounds()[-1]["votes"] == {"yes": 1})
    assert server.now["votes"]["01.new-bank"][-1]["votes"] == {}


def test_phone_is_told_all_but_the_answer_whenever_it_comes(server):
    phone = server.join()
    events = server.events(phone)
    assert next(events)["phase"] != "open"
    server.open({**NUMBERS, "leaves": [0.5, 1.5], "slips": [{"name": "swapped"}], "answer": "0.5"})
    assert next(events)["question"] == NUMBERS
    events.close()
    late = server.join()
    state = json.loads(server.ask("GET", f"/state?token={late}")[1])
    assert state == next(server.events(late))
    assert (state["phase"], state["round"], state["again"]) == ("open", server.round, False)


BAD = [
    (b"", 400), (b"votes", 400), (b"[]", 400), (b"[" * 500, 400), (b"\xff", 400), (b"x" * 2000, 400),
    ({"round": "1"}, 409), ({"round": True}, 409), ({"round": 1.0}, 409), ({"round": None}, 409),
    ({"text": 5}, 400), ({"text": ""}, 400), ({"text": ["1"]}, 400), ({"text": "5" * 81}, 400),
    ({"text": "<b>1</b>"}, 400), ({"text": "1\n2"}, 400), ({"text": "\ud800"}, 400), ({"text": "fr@x.com"}, 400),
    ({"token": None}, 403), ({"token": "a.b"}, 403), ({"token": "é.é"}, 403), ({"token": 7}, 403),
]  # fmt: skip


def test_bad_votes_and_forged_tokens_are_refused_and_change_nothing(server):
    phone = server.join()
    name, _, signature = phone.partition(".")
    server.open()
    server.vote(phone, "3; 4")
    forged = [({"token": token}, 403) for token in (name, f"{name}.", f"{name}.{signature[::-1]}")]
    for body, status in [*BAD, *forged]:
        sent = {"token": phone, "round": server.round, "text": "1; 2"}
        assert server.ask("POST", "/vote", {**sent, **body} if isinstance(body, dict) else body)[0] == status, body
    server.until(lambda: server.rounds()[-1]["votes"] == {"3; 4": 1})
    assert server.ask("GET", f"/state?token={name}.x")[0] == server.ask("GET", "/events?token=")[0] == 403


def test_votes_come_no_faster_than_a_person_types(monkeypatch):
    hall, now = vote_server_process.Hall(print), 0
    monkeypatch.setattr(vote_server_process, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(hall, "changed", lambda: None)
    hall.open(1, NUMBERS)
    phone = hall.phone(hall.join("192.0.2.1"))
    for now in range(20):
        hall.vote(phone, 1, "1; 2")
        with pytest.raises(vote_server_process.Refused, match="Too fast" if now < 19 else "often enough"):
            hall.vote(phone, 1, "1; 3")
    assert phone.text == "1; 2"


def test_wrong_code_says_nothing_of_the_question(server):
    server.open()
    status, said = server.ask("POST", "/join", {"code": "0000"})
    assert (status, json.loads(said)) == (404, {"says": "No hall has this code."})
    assert server.join(f" {server.now['code'].lower()} ") not in (404, 400)


@pytest.mark.skipif(sys.platform != "linux", reason="only there a machine has many addresses of its own")
def test_a_program_at_one_address_leaves_places_to_all_others():
    with started() as server:
        for limit in (8, 60, 200, 600):
            server.until(lambda limit=limit: server.now["per_address"] == limit)
            while server.join() != 503:
                pass
            server.until(lambda limit=limit: server.now["refused"] and server.now["most"] == limit)
            server.open()
            assert server.vote(server.join(came_from="127.0.0.2"), "1; 2") == 200
            server.order({"do": "more"})


class Room:
    """A hall on a clock of the test's own."""

    def __init__(self, monkeypatch):
        self.now = 0
        monkeypatch.setattr(vote_server_process, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.hall = vote_server_process.Hall(self.hear)
        self.hall.changed = lambda: None
        self.hall.question = NUMBERS

    def hear(self, report):
        self.told = report

    def come_in(self, looks=True, **known):
        token = self.hall.join("192.0.2.1", **known)
        self.hall.phone(token).has_looked = looks
        return token


@pytest.fixture
def room(monkeypatch):
    return Room(monkeypatch)


def test_places_without_a_sign_of_life_are_given_back(room):
    lasting = [room.come_in() for _ in range(4)]
    ghosts = [room.come_in(looks=False) for _ in range(4)]
    room.hall.open(1, NUMBERS)
    for ghost in ghosts:
        room.hall.vote(room.hall.phone(ghost), 1, "1; 2")
    with pytest.raises(vote_server_process.Refused):
        room.come_in()
    room.now = 11
    assert room.come_in() and all(map(room.hall.phone, lasting)) and not any(map(room.hall.phone, ghosts))
    assert room.hall.answers() == {}
    room.now = 30
    room.hall.phone(lasting[0]).seen = 30
    [room.come_in() for _ in range(3)]
    room.now = 80
    assert room.come_in() and room.hall.phone(lasting[0]) and not room.hall.phone(lasting[1])


def test_who_slept_comes_back_to_the_vote_that_was_sent(room):
    room.hall.open(1, NUMBERS)
    asleep = room.come_in()
    room.hall.vote(room.hall.phone(asleep), 1, "1; 2")
    [room.come_in() for _ in range(7)]
    room.now = 61
    others = [room.come_in() for _ in range(7)]
    assert room.hall.phone(asleep) is None and room.hall.answers() == {"1; 2": 1}
    room.hall.give_back_places()
    assert room.come_in(before=asleep) == asleep and others
    room.now = 62
    room.hall.vote(room.hall.phone(asleep), 1, "3; 4")
    assert room.hall.answers() == {"3; 4": 1}


def test_who_tries_again_is_counted_once_and_who_gave_up_is_not(room):
    [room.come_in() for _ in range(8)]
    ticket = None
    for room.now in (1, 4, 7):
        with pytest.raises(vote_server_process.Refused) as refused:
            room.come_in(ticket=ticket)
        ticket = refused.value.args[2]
    room.hall.later = True  # no loop runs here that could report again
    room.hall.report()
    assert room.told["refused"] == 1
    room.now = 30
    room.hall.report()
    assert room.told["refused"] == 0


def test_new_code_throws_everybody_out_and_keeps_what_is_on_the_wall(server):
    phone, old = server.join(), server.now["code"]
    events = server.events(phone)
    next(events)
    server.open()
    server.vote(phone, "1; 2")
    server.until(lambda: server.rounds()[-1]["answered"] == 1)
    server.order({"do": "close"})
    server.order({"do": "code"})
    assert [told["phase"] for told in events] == ["open", "closed", "gone"]
    server.until(lambda: server.now["code"] != old and server.now["phones"] == 0)
    assert server.vote(phone, "1; 2") == 403
    assert server.join(old) == 404
    newcomer = server.join()
    server.until(lambda: server.now["phones"] == 1)
    wall = {"answered": 1, "phones": 1, "votes": {"1; 2": 1}}
    assert {name: server.rounds()[-1][name] for name in wall} == wall
    server.open(again=True)
    assert server.vote(newcomer, "3; 4") == 200
    server.until(lambda: server.rounds()[-1]["votes"] == {"3; 4": 1})


def test_nothing_else_is_served_and_nothing_on_the_network_opens_or_reveals(server):
    server.open()
    for path in ("/api/kernels", "/tree", "/server.py", "/desk"):
        assert server.ask("GET", path) == (404, b""), path
    assert b"tornado" not in server.ask("GET", "/?x=/../server.py")[1]
    for path, method in itertools.product(
        ("/", "/state", "/events", "/open", "/close", "/reveal"), ("POST", "PUT", "DELETE")
    ):
        assert server.ask(method, path, {"do": "close"})[0] in (404, 405), f"{method} {path}"
    server.until(lambda: server.rounds()[-1]["open"])


def test_page_is_small_and_asks_nobody_else(server):
    status, packed = server.ask("GET", "/", **{"Accept-Encoding": "gzip"})
    page = server.ask("GET", "/")[1].decode()
    assert status == 200 and len(packed) < 14_000, "what a server sends before it waits for a first answer"
    assert "http" not in page.replace("http-equiv", "") and page.endswith("</html>\n")


def test_half_sent_requests_keep_nobody_waiting(server):
    phone = server.join()
    server.open()
    hanging = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(400)]
    for line in hanging:
        line.send(b"POST /vote HTTP/1.1\r\nHost: x\r\n")
    assert server.vote(phone, "1; 2") == 200
    for line in hanging:
        line.close()


@pytest.mark.skipif(not Path("/proc/self/environ").is_file(), reason="only Linux shows what a process holds")
def test_process_holds_nothing_of_ours(monkeypatch, tmp_path):
    monkeypatch.setenv("JUPYTER_TOKEN", "secret-of-the-deck")
    with open(tmp_path / "grades.csv", "w"), started() as server:
        process = Path(f"/proc/{server.process.pid}")
        assert set(os.environ) > {one.partition("=")[0] for one in (process / "environ").read_text().split("\0")} - {""}
        assert "secret-of-the-deck" not in (process / "environ").read_text()
        opened = [os.readlink(one) for one in (process / "fd").iterdir()]
        assert not [name for name in opened if "grades" in name or name.startswith("/work")]
