"""The deck's line to its vote server: one that it starts beside itself, or a relay that it reaches outwards."""

import asyncio
import contextlib
import io
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import segno
from tornado import httpclient, ioloop, websocket

SERVER = Path(__file__).with_name("server.py")
ASKED = (
    "id",
    "ask",
    "kind",
    "options",
    "size",
    "whole",
    "first",
    "rows",
    "reads",
)  # all that a phone gets of a question
HEARD = ("code", "phones", "refused", "per_address", "most", "more", "phase")  # that the deck shows as they are
PASSED_ON = ("PATH", "LANG", "SYSTEMROOT")  # of the environment, which has tokens; Windows needs the last


class Link:
    """Orders go out, counts come in; `now` is all that a deck has to know, and `listeners` are set when it changes.

    now: address, qr, code, phones, refused (who wait for a place), per_address (places that one may take), most (that
    one has taken), more (places after the next order "more", or None), phase (of the round, "open" while phones may
    answer), site, trouble, spent (slide → seconds), and votes, a question's id → its rounds, each {again, open,
    answered, phones, cut, told, votes}: votes are texts and how many sent each, phones how many there were while it
    was open, cut that it was closed in passing, told that the truth has been shown since.
    """

    def __init__(self, site=""):
        self.site, self.round, self.asked, self.listeners = site, 0, "", set()
        self.departures = 0  # how often a listener has gone
        self.now = {"address": "", "qr": "", "code": "", "phones": 0, "site": site, "trouble": ""}
        self.now |= {"votes": {}, "spent": {}}

    def order(self, order):
        """Do what the deck wants, a dict; what phones are not to know stays here.

        {"do": "open", "question", "again"}, {"do": "forget" or "told", "question"}, {"do": "close", "cut"}, and "end",
        "code" and "more" alone; {"do": "spent", "slide", "seconds"} on a slide, and
        "begin", from when they count. Raises: KeyError for an order that lacks something.
        """
        do = order["do"]
        if do == "open":
            question = {name: order["question"][name] for name in ASKED if name in order["question"]}
            self.send(
                {"do": "open", "question": question, **self.begin_round(question["id"], bool(order.get("again")))}
            )
        elif do == "forget":
            self.now["votes"].pop(order["question"], None)
            self.asked = "" if self.asked == order["question"] else self.asked
            self.send({"do": "close"})
            self.changed()
        elif do == "told":
            self.now["votes"][order["question"]][-1]["told"] = True
            self.changed()
        elif do == "end":
            self.send({"do": "end", "record": f"{self.site}/record.html" if self.site else None})
        elif do == "spent":
            slide = order["slide"]
            self.now["spent"][slide] = self.now["spent"].get(slide, 0) + float(order["seconds"])
            self.changed()
        elif do == "begin":
            self.now["spent"] = {}
            self.changed()
        elif do in ("close", "code", "more"):
            if do == "close" and self.asked:
                self.now["votes"][self.asked][-1]["cut"] = bool(order.get("cut"))
            self.send({"do": do})

    def begin_round(self, id, again):
        """The number of the round that begins, and whether it is a question's second; one cut short goes on."""
        rounds = self.now["votes"].setdefault(id, [])
        if self.asked == id and rounds and rounds[-1]["cut"]:
            rounds[-1] |= {"cut": False, "open": True}
            return {"round": self.round, "again": rounds[-1]["again"]}
        for others in self.now["votes"].values():
            for one in others:
                one["cut"] = False  # phones have gone on
        del rounds[1 if again else 0 :]
        new_round = {"again": again, "open": True, "answered": 0, "phones": self.now["phones"], "votes": {}}
        rounds.append({**new_round, "cut": False, "told": False})
        self.round, self.asked = self.round + 1, id
        return {"round": self.round, "again": again}

    def hear(self, report):
        """Take in what the vote server reports, as `Hall.report` writes it."""
        if report.get("round") == self.round and self.asked:
            last = self.now["votes"][self.asked][-1]
            last |= {"answered": report["answered"], "votes": report["votes"], "open": report["phase"] == "open"}
            if last["open"]:
                last["phones"] = report["phones"]
        before = self.now["code"]
        self.now |= {name: report[name] for name in HEARD}
        if self.now["code"] != before:
            self.now["qr"] = segno.make(self.scanned(), error="m").svg_inline(border=2, omitsize=True)
        self.changed()

    def changed(self):
        """Wake everybody who waits for news of the hall."""
        for one in self.listeners:
            one.set()

    def scanned(self):
        """What a phone's camera reads: the address with the code, which goes to nobody on the way."""
        return f"{self.now['address']}#{self.now['code']}"

    def in_letters(self):
        """Address and code for a terminal, with the picture for a camera."""
        picture = io.StringIO()
        segno.make(self.scanned(), error="l").terminal(picture, border=2, compact=True)
        return f"{picture.getvalue()}\n{self.now['address']}  code {self.now['code']}"


class Beside(Link):
    """A vote server of this machine's own, in a process that has neither our environment nor our open files."""

    def __init__(self, site="", address=None, **where):
        """where: ports, those that are tried instead of the server's own."""
        super().__init__(site)
        here = address or own_addresses()[0]
        bare = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        self.process = subprocess.Popen([sys.executable, "-I", SERVER], env=bare, cwd=SERVER.parent, **pipes)
        self.send({"address": here, **where})
        self.now["address"] = f"http://{here}:{json.loads(self.process.stdout.readline())['port']}/"
        self.hear(json.loads(self.process.stdout.readline()))

    def listen(self):
        """From now on, in the loop that runs here."""
        threading.Thread(target=self.read, args=(ioloop.IOLoop.current(),), daemon=True).start()

    def read(self, loop):
        """In a thread: pass what the server reports to the loop, line by line, until the server ends."""
        for line in self.process.stdout:
            loop.add_callback(self.hear, json.loads(line))
        loop.add_callback(self.ended)

    def ended(self):
        """Tell the deck that the vote server is gone."""
        self.now["trouble"] = "The vote server has ended. Count hands with h."
        self.changed()

    def send(self, order):
        """Give the server an order, a dict; one that has ended gets none."""
        with contextlib.suppress(OSError):  # it has ended, and `ended` says so
            self.process.stdin.write(f"{json.dumps(order)}\n")
            self.process.stdin.flush()

    def end(self):
        """End the server and wait for it, at most 10 seconds."""
        self.process.stdin.close()
        self.process.wait(10)


class Relayed(Link):
    """A vote server with a public name; the line is opened from here, and again when it breaks."""

    def __init__(self, address, secret, site=""):
        super().__init__(site)
        self.now["address"] = address.rstrip("/") + "/"
        self.secret, self.id, self.line, self.waiting = secret, secrets.token_urlsafe(16), None, []

    def listen(self):
        """From now on, in the loop that runs here, keep a line to the relay."""
        self.task = asyncio.ensure_future(self.stay_connected())

    async def stay_connected(self):
        """Open the line, take in what comes, and open it again 2 seconds after it broke; never returns."""
        desk = "ws" + self.now["address"].removeprefix("http") + "desk"
        headers = {"Authorization": f"Bearer {self.secret}"}
        while True:
            try:
                request = httpclient.HTTPRequest(desk, headers=headers)
                self.line = await websocket.websocket_connect(request, ping_interval=20)
                self.line.write_message(json.dumps({"hall": self.id}))
                orders, self.waiting, self.now["trouble"] = self.waiting, [], ""
                for order in orders:
                    self.send(order)
                while line := await self.line.read_message():
                    self.hear(json.loads(line))
                self.trouble("The relay does not answer; it is tried again.")
            except httpclient.HTTPClientError as error:
                why = "The relay does not know this secret." if error.code == 403 else f"The relay says {error}."
                self.trouble(why)
            except OSError as error:
                self.trouble(f"The relay cannot be reached: {error}")
            self.line = None
            await asyncio.sleep(2)

    def trouble(self, sentence):
        """Tell the deck what is wrong, in a sentence."""
        self.now["trouble"] = sentence
        self.changed()

    def send(self, order):
        """Give the relay an order, a dict: at once, or when the line is open again."""
        if self.line is None:
            self.waiting.append(order)
        else:
            self.sending = asyncio.ensure_future(self.write(order))

    async def write(self, order):
        """Write an order to the line; if the line has just broken, the order waits for the next."""
        try:
            await self.line.write_message(json.dumps(order))
        except (websocket.WebSocketClosedError, AttributeError):
            self.waiting.append(order)

    def end(self):
        """Open no line any more."""
        self.task.cancel()


def own_addresses():
    """This machine's addresses: first that of the way to the internet, then the others, last 127.0.0.1."""
    addresses = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent
        addresses.append(probe.getsockname()[0])
    for network in psutil.net_if_addrs().values():
        addresses += [one.address for one in network if one.family == socket.AF_INET and one.address not in addresses]
    return [one for one in addresses if not one.startswith("127.")] + ["127.0.0.1"]
