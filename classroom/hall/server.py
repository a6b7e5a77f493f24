"""The vote server: a process of its own that phones reach, and that knows only the questions it is to ask.

It is started by link.py with `python -I`, without the environment, and takes orders as lines of JSON on stdin:

    {"do": "open", "round": 3, "question": {…}, "again": false}     a vote begins; the one before is over
    {"do": "close"}    {"do": "end", "record": "https://…"}    {"do": "code"}    {"do": "more"}

On stdout it reports, ten times a second at most, how many phones there are, how many find no place, and how many sent
which text. It ends when stdin does. Nothing on the network opens, closes, reads or reveals a vote, and no right answer
ever comes here. Nothing is written to disk; addresses are counted, as digests, for as long as a code holds, and never
passed on.

As a relay (classroom/hub/relay.py starts it so) it stands on a machine with a public name, and a deck that knows the
secret gives the same orders over a websocket that it opens itself. Each deck has its own hall, with its own code.
"""

import gzip
import hashlib
import hmac
import json
import logging
import os
import re
import runpy
import secrets
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from tornado import httpserver, ioloop, netutil, web, websocket

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # without 0, O, 1, I and L, which could be taken for each other
PLACES = 1200
PER_ADDRESS = 8, 60, 200, 600  # places that one address may take: the lecturer goes on to the next, never to all
APART, VOTES = 0.25, 20  # seconds between a phone's votes, and how many it has for a question
BODY, TEXT = 1024, 80  # bytes, characters
NUMBER = re.compile(r"(?=.*(?:[\d∞½]|nan|inf))(?:[\d .,+\-−%/∞½e()\[\]]|nan|inf)+", re.IGNORECASE)
REPORT_EVERY, HEARTBEAT = 0.1, 15  # seconds
AWAY = 8  # seconds after which a phone that asked for the state and did not ask again has gone
NEVER_SEEN, SLEEPS = 10, 60  # seconds without a sign of life after which a place is another's, where places lack
AT_THE_DOOR = 10  # seconds for which somebody without a place is counted after the last try
FULL = "There is no place left. Wait here: you come in by yourself as soon as there is one."
PATIENCE = 300  # seconds for which a relay keeps the hall of a deck that it has lost
PORTS = range(8000, 8020)
HERE = Path(__file__).parent
MODULES = HERE.parents[1] / "workbench/board/modules.py"  # run by its path: the package would bring PyTorch


class Phone:
    """A place in the hall: what it sent last, in which round, and whether somebody is there."""

    def __init__(self):
        self.address = None  # as a digest
        self.round, self.text, self.votes, self.last = 0, "", 0, -APART  # votes: how many in this round
        self.stream, self.seen, self.has_looked = None, time.monotonic(), False  # seen: its last sign of life

    def is_here(self):
        """Whether somebody holds it: its events are open, or it asked within `AWAY` seconds."""
        return self.stream is not None or time.monotonic() - self.seen < AWAY

    def is_lifeless(self):
        """Whether nobody seems to hold it: its page never asked what there is, or has not for a while."""
        patience = SLEEPS if self.has_looked else NEVER_SEEN
        return self.stream is None and time.monotonic() - self.seen > patience


class Refused(Exception):
    """What a phone asked for and does not get: a status of HTTP, a sentence, and for who waits a ticket."""


class Hall:
    """One lecture's phones and the vote that goes on; tell is called with each report for the deck, a dict."""

    def __init__(self, tell, per_address=PER_ADDRESS[0]):
        self.tell, self.per_address = tell, per_address  # places that one address may take
        self.round, self.phase, self.again, self.question, self.record = 0, "wait", False, None, None
        self.phones, self.away, self.answers_of_the_gone = {}, {}, Counter()
        self.next_report, self.later, self.looked_through = None, None, 0
        self.new_code()

    # ------------------------------------------------------------------------------------------------ orders

    def obey(self, order):
        """Do what an order says, a dict as in the head of this file. Raises: KeyError or TypeError for another."""
        {"open": self.open, "close": self.close, "end": self.end, "code": self.new_code, "more": self.more}[
            order.pop("do")
        ](**order)
        self.changed()

    def open(self, round, question, again=False):
        """Begin a vote; round is its number, and again says that it is the second about this question."""
        if round != self.round:
            self.away, self.answers_of_the_gone = {}, Counter()
        self.round, self.question, self.again = round, question, again
        self.go_on_to("open")

    def close(self):
        """End the vote, if one is open."""
        if self.phase == "open":
            self.go_on_to("closed")

    def end(self, record=None):
        """End the lecture; record is the page that keeps a phone's guesses, or None."""
        self.record = record
        self.go_on_to("end")

    def new_code(self):
        """Make a new code and send every phone away; whoever reads the new code from the screen joins again.

        What was sent in a vote that is over stays counted; one that is open begins again, without those who are away.
        """
        self.answers_of_the_gone = Counter() if self.phase == "open" else self.answers()
        for phone in self.phones.values():
            if phone.stream:
                phone.stream.send({"phase": "gone"})
                phone.stream.leave()
        self.code, self.key = "".join(secrets.choice(LETTERS) for _ in range(4)), secrets.token_bytes(32)
        self.phones, self.away, self.addresses, self.waiting = {}, {}, Counter(), {}

    def more(self):
        """Let one address take as many places as the next step of `PER_ADDRESS` has."""
        self.per_address = next((step for step in PER_ADDRESS if step > self.per_address), self.per_address)

    def go_on_to(self, phase):
        """Begin a phase, "open", "closed" or "end", and send it to every phone."""
        self.phase = phase
        for phone in self.phones.values():
            if phone.stream:
                phone.stream.send(self.state())

    # ------------------------------------------------------------------------------------------------ phones

    def state(self):
        """All that a phone has to know, sent whole each time: a phone that was away misses nothing."""
        return {
            "phase": self.phase,
            "round": self.round,
            "again": self.again,
            "question": self.question,
            "record": self.record,
        }

    def join(self, address, ticket=None, before=None):
        """A phone's token: a new one, or that which it had before its place was given back. Raises: Refused."""
        digest = hmac.digest(self.key, address.encode(), "sha256")
        if not self.has_place(digest):
            raise Refused(503, FULL, self.wait(ticket))
        if isinstance(ticket, str):
            self.waiting.pop(ticket, None)
        self.addresses[digest] += 1
        name = self.name_in(before)
        phone = self.away.pop(name, None)
        if phone is None:
            name, phone = secrets.token_urlsafe(9), Phone()
        phone.address, phone.seen = digest, time.monotonic()
        self.phones[name] = phone
        self.changed()
        return f"{name}.{self.signed(name)}"

    def has_place(self, digest):
        """Whether there is a place for a phone of this address, if need be one that gives no sign of life."""

        def is_free():
            return len(self.phones) < PLACES and self.addresses[digest] < self.per_address

        if not is_free() and time.monotonic() - self.looked_through > 1:  # a flood of requests makes no work
            self.looked_through = time.monotonic()
            self.give_back_places()
        return is_free()

    def give_back_places(self):
        """Take their places from phones without a sign of life; what they sent in this round stays counted.

        Not so what a program sent that never asked what there is: it could come back again and again.
        """
        for name, phone in list(self.phones.items()):
            if phone.is_lifeless():
                self.away[name] = self.phones.pop(name)
                self.addresses[phone.address] -= 1
        self.away = {name: phone for name, phone in self.away.items() if self.has_answered(phone) and phone.has_looked}

    def wait(self, ticket):
        """Count somebody who finds no place; the ticket says that it is the same one who tries again."""
        if not isinstance(ticket, str) or ticket not in self.waiting:
            ticket = secrets.token_urlsafe(9)
        if ticket in self.waiting or len(self.waiting) < PLACES:
            self.waiting[ticket] = time.monotonic()
        self.changed()
        return ticket

    def signed(self, name):
        """The signature of a phone's name, which nobody can make without this code's key."""
        return hmac.new(self.key, name.encode(), hashlib.sha256).hexdigest()[:20]

    def name_in(self, token):
        """The name in a token of this hall, or None in another."""
        name, _, signature = token.partition(".") if isinstance(token, str) and token.isascii() else ("", "", "")
        return name if hmac.compare_digest(signature, self.signed(name)) else None

    def phone(self, token):
        """The `Phone` that has this token, or None."""
        return self.phones.get(self.name_in(token))

    def vote(self, phone, round, text):
        """Count what a phone sent in place of what it sent before. Raises: Refused, with a status and a sentence."""
        if type(round) is not int or round != self.round or self.phase != "open":
            raise Refused(409, "The vote is closed.")
        if not isinstance(text, str) or not 0 < len(text) <= TEXT:
            raise Refused(400, "That is no answer.")
        options = self.question.get("options")
        if options and self.question["kind"] == "one":
            if text not in options:
                raise Refused(400, "That is none of the answers.")
        elif self.question["kind"] == "each":
            if not all(word in options for word in text.split("; ")):
                raise Refused(400, "That is none of the answers.")
        elif not all(NUMBER.fullmatch(part) for part in text.split("; ")) and text != "none":
            raise Refused(400, "Numbers are asked for.")
        votes = phone.votes if phone.round == round else 0
        if votes >= VOTES or (votes and time.monotonic() - phone.last < APART):
            raise Refused(429, "Too fast." if votes < VOTES else "That was changed often enough; the last one counts.")
        phone.round, phone.text, phone.votes, phone.last = round, text, votes + 1, time.monotonic()
        self.changed()

    # ---------------------------------------------------------------------------------------------- reports

    def changed(self):
        """Report soon, within `REPORT_EVERY` seconds: several changes make one report."""
        self.next_report = self.next_report or ioloop.IOLoop.current().call_later(REPORT_EVERY, self.report)

    def has_answered(self, phone):
        """Whether what a phone sent last is for the round that is or was last open."""
        return phone.round == self.round > 0

    def answers(self):
        """How many sent which text in this round, wherever they are by now."""
        there = [*self.phones.values(), *self.away.values()]
        return self.answers_of_the_gone + Counter(phone.text for phone in there if self.has_answered(phone))

    def report(self):
        """Tell the deck how many phones there are and how many sent which text."""
        self.next_report = None
        now, answers = time.monotonic(), self.answers()
        self.waiting = {one: last for one, last in self.waiting.items() if now - last < AT_THE_DOOR}
        self.tell(
            {
                "code": self.code,
                "phase": self.phase,
                "round": self.round,
                "phones": sum(phone.is_here() or self.has_answered(phone) for phone in self.phones.values()),
                "refused": len(self.waiting),
                "per_address": self.per_address,
                "most": max(self.addresses.values(), default=0),
                "more": next((step for step in PER_ADDRESS if step > self.per_address), None),
                "answered": answers.total(),
                "votes": answers,
            }
        )
        if self.waiting and not self.later:  # some of them give up, which nothing else would tell
            self.later = ioloop.IOLoop.current().call_later(2, self.look_at_the_door)

    def look_at_the_door(self):
        """Report again how many wait, also when nobody comes any more."""
        self.later = None
        self.changed()


# --------------------------------------------------------------------------------------------------- what is served


class Halls(dict):
    """Id → hall: one of them, or on a relay one for each deck."""

    def of(self, token):
        """The hall and the phone of a token. Raises: Refused."""
        for hall in self.values():
            if phone := hall.phone(token):
                return hall, phone
        raise Refused(403, "This phone is not in the hall.")

    def called(self, code):
        """The hall with this code, in any case and with spaces around it. Raises: Refused."""
        code = code.strip().upper() if isinstance(code, str) and len(code) < 20 else ""
        for hall in self.values():
            if code and hmac.compare_digest(code.encode(), hall.code.encode()):
                return hall
        raise Refused(404, "No hall has this code.")


class Handler(web.RequestHandler):
    """What all pages that phones ask for have in common."""

    def initialize(self, halls):
        """Take the halls, a `Halls`."""
        self.halls = halls

    def set_default_headers(self):
        """Name no server, and let nobody keep an answer or guess its kind."""
        self.set_header("Server", "")
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")

    def write_error(self, status, exc_info=None, **_):
        """Answer with a sentence that the phone shows: that of `Refused`, or one for everything else."""
        error = exc_info[1] if exc_info else None
        if isinstance(error, Refused):
            status, says, *ticket = error.args
            self.set_status(status)
        else:
            says, ticket = "That was not understood.", []
        self.finish({"says": says, "ticket": ticket[0]} if ticket else {"says": says})

    def body(self):
        """What was sent, a dict. Raises: Refused."""
        try:
            message = json.loads(self.request.body)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise Refused(400, "That was not understood.")
        return message

    def log_exception(self, *_):
        """Log nothing: whoever sent something wrong has been answered."""
        pass


class Page(Handler):
    """The phone's page, which is one file."""

    whole = None

    def get(self):
        """Send the page, compressed where the phone takes it so."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Content-Security-Policy", SOURCES)
        self.set_header("X-Frame-Options", "DENY")
        packed = "gzip" in self.request.headers.get("Accept-Encoding", "")
        if packed:
            self.set_header("Content-Encoding", "gzip")
        self.finish(self.whole if packed else gzip.decompress(self.whole))


SOURCES = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def page():
    """The page with its style and script in it, compressed."""
    text = (HERE / "phone.html").read_text(encoding="utf-8")
    script = runpy.run_path(str(MODULES))["script"](HERE / "phone.js")
    text = text.replace("/*css*/", (HERE / "phone.css").read_text(encoding="utf-8"))
    text = text.replace("/*js*/", script)
    text = re.sub(r"^\s*(//.*\n|/\*\*.*\*/\n)?", "", text, flags=re.M)  # whole lines alone: a string may hold //
    return gzip.compress(text.encode(), 9, mtime=0)


class Join(Handler):
    """A phone comes in with the code."""

    def post(self):
        """Give a place, as a token, and the hall's state."""
        message = self.body()
        hall = self.halls.called(message.get("code"))
        token = hall.join(self.request.remote_ip, message.get("ticket"), message.get("token"))
        self.finish({"token": token, "state": hall.state()})


class Vote(Handler):
    """A phone answers."""

    def post(self):
        """Take an answer, and send back which one counts now."""
        message = self.body()
        hall, phone = self.halls.of(message.get("token"))
        hall.vote(phone, message.get("round"), message.get("text"))
        self.finish({"round": phone.round, "text": phone.text})


class State(Handler):
    """For phones to which events do not come through: they ask again and again."""

    def get(self):
        """The hall's state, for the phone of this token."""
        hall, phone = self.halls.of(self.get_argument("token", ""))
        phone.seen, phone.has_looked = time.monotonic(), True
        hall.changed()
        self.finish(hall.state())


class Events(Handler):
    """Server-sent events: the whole state, whenever it has changed."""

    phone = None

    async def get(self):
        """Send the state now and whenever it changes; returns when the phone has gone or opened another line."""
        self.hall, self.phone = self.halls.of(self.get_argument("token", ""))
        if self.phone.stream:
            self.phone.stream.leave()  # a phone has one
        self.phone.stream, self.phone.has_looked = self, True
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("X-Accel-Buffering", "no")
        self.send(self.hall.state())
        self.hall.changed()
        self.beat = ioloop.PeriodicCallback(lambda: self.send(), HEARTBEAT * 1000)
        self.beat.start()
        self.closed = ioloop.asyncio.Event()
        await self.closed.wait()

    def send(self, state=None):
        """Send the state, or without one a line that keeps the connection open."""
        self.write(f"data: {json.dumps(state, ensure_ascii=False)}\n\n" if state else ":\n\n")
        self.flush().add_done_callback(lambda flushed: flushed.cancelled() or flushed.exception())

    def leave(self):
        """End this line, whether the phone or the hall wants that."""
        if self.phone and self.phone.stream is self:
            self.phone.stream, self.phone.seen = None, time.monotonic() - AWAY
        self.beat.stop()
        self.closed.set()

    def on_connection_close(self):
        """Count the phone as gone."""
        if self.phone and self.phone.stream is self:
            self.leave()
            self.hall.changed()


class Desk(websocket.WebSocketHandler):
    """On a relay: the line that a deck opens and gives its orders through."""

    def initialize(self, halls, secret):
        """Take the halls, and the secret that a deck has to know."""
        self.halls, self.secret, self.hall, self.id = halls, secret, None, None

    def prepare(self):
        """Refuse whoever does not know the secret, with status 403."""
        header = self.request.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(header, f"Bearer {self.secret}".encode()):
            self.set_status(403)
            self.finish()

    def check_origin(self, origin):
        """Refuse every page: a deck's server names no origin."""
        return False

    def on_message(self, line):
        """Take a line: the first names the deck's hall, each later one is an order. A wrong one closes the desk."""
        try:
            order = json.loads(line)
            if self.hall is None:
                self.begin(order["hall"])
            else:
                self.hall.obey(order)
        except (ValueError, KeyError, TypeError, AttributeError):
            self.close(1003)

    def begin(self, id):
        """Take over the hall of this id, or make it."""
        self.id = str(id)[:64]
        self.hall = self.halls.setdefault(self.id, Hall(self.tell, PER_ADDRESS[-1]))
        self.hall.tell = self.tell
        self.hall.changed()

    def tell(self, report):
        """Send a report to the deck, if it is there."""
        if self.ws_connection:
            self.write_message(json.dumps(report, ensure_ascii=False)).add_done_callback(lambda task: task.exception())

    def on_close(self):
        """Keep the hall for `PATIENCE` seconds, in which the deck may come back."""
        if self.hall:
            ioloop.IOLoop.current().call_later(PATIENCE, self.forget)

    def forget(self):
        """Drop the hall unless another line has taken it over."""
        if self.hall.tell == self.tell:  # nobody has taken it over
            self.halls.pop(self.id, None)


def application(halls, secret=None):
    """The pages of these halls; with a secret also the desk, where decks give orders."""
    routes = [(r"/", Page), (r"/join", Join), (r"/vote", Vote), (r"/state", State), (r"/events", Events)]
    routes = [(path, handler, {"halls": halls}) for path, handler in routes]
    if secret:
        routes.append((r"/desk", Desk, {"halls": halls, "secret": secret}))
    return web.Application(
        routes,
        default_handler_class=Nothing,
        log_function=lambda handler: None,
        websocket_ping_interval=20,
        websocket_max_message_size=100_000,
    )


class Nothing(web.RequestHandler):
    """Every other address."""

    def prepare(self):
        """Answer with 404 and no text."""
        self.set_status(404)
        self.finish("")


# ---------------------------------------------------------------------------------------------------------- the process


def main(settings):
    """settings: address, and ports to try or one; for a relay its secret, and the user whose rights are enough."""
    logging.disable()
    allow_many_phones()
    Page.whole = page()
    halls, secret = Halls(), settings.get("secret")
    listening = listen(settings["address"], settings.get("ports", PORTS))
    port = listening[0].getsockname()[1]
    give_up_rights(settings.get("user"))
    server = httpserver.HTTPServer(
        application(halls, secret),
        xheaders=bool(secret),
        max_body_size=BODY,
        max_buffer_size=16 * BODY,
        max_header_size=8 * BODY,
        idle_connection_timeout=60,
        body_timeout=5,
    )
    server.add_sockets(listening)
    loop = ioloop.IOLoop.current()
    say({"port": port})
    if not secret:
        halls[""] = Hall(say)
        halls[""].changed()
    threading.Thread(target=hear, args=(loop, halls.get("")), daemon=True).start()
    loop.start()


def hear(loop, hall):
    """Orders from stdin, in a thread, as Windows has no other way; the process ends with it."""
    for line in sys.stdin.buffer:
        if hall:
            loop.add_callback(hall.obey, json.loads(line))
    loop.add_callback(loop.stop)


def say(report):
    """Write a report, a dict, as a line of JSON to stdout."""
    print(json.dumps(report), flush=True)


def listen(address, ports):
    """Sockets at the first of these ports that is free. Raises: OSError if none is."""
    for port in ports:
        try:
            return netutil.bind_sockets(port, address, backlog=1024)
        except OSError:
            if port == ports[-1]:
                raise


def allow_many_phones():
    """A Mac allows 256 open files; there are as many phones."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = 8192 if most == resource.RLIM_INFINITY else min(8192, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))


def give_up_rights(user):
    """Go on with the rights of this user alone; without a name nothing changes."""
    if user:
        import pwd

        entry = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)


if __name__ == "__main__":
    main(json.loads(sys.stdin.buffer.readline()))
