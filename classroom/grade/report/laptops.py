"""Where the laptops of a class send what `check` says: a process of its own that knows nothing and keeps nothing.

It is started by dashboard.py with `python -E -s -m`, in the course's folder and without the environment; the first
line of stdin is its settings, and it ends when stdin does. On stdout it tells its port and code, then a line for each
verdict that came. It takes a join with the code and verdicts with the token that this gives, and gives nothing back: no
name is sent, no table is served, and nobody's verdicts can be asked for. A laptop is known by a word that its learner
sees too.
"""

import json
import logging
import re
import secrets
import sys
import threading
import time

from tornado import httpserver, ioloop, web

from classroom.hall import server as hall

WORDS = """
adder badger beaver bison crane dipper dolphin eagle falcon ferret finch gannet goose hare heron ibis jackdaw kestrel
kingfisher lark lynx magpie marten mole newt osprey otter owl plover puffin quail raven robin seal skylark stork swallow
swan swift tern thrush toad vole walrus weasel whale wren yak
""".split()  # noqa: SIM905
EXERCISE, MISTAKE, STATUS = re.compile(r"\d{1,2}\.\d{1,2}"), re.compile(r"[a-z0-9-]{0,60}"), ("correct", "wrong")
BURST, A_SECOND = 40, 2  # verdicts of a laptop at once, as Run All sends them, and in the long run


class Room(hall.Hall):
    """The laptops that joined, each with a word for its name; the hall's places, tokens and limits."""

    def changed(self):
        """Nothing is counted here."""

    def join(self, address):
        try:
            token = super().join(address)
        except hall.Refused:
            self.tell({"refused": len(self.waiting)})
            raise
        laptop = self.phone(token)
        laptop.word = self.next_word()
        self.tell({"joined": laptop.word})
        return token

    def next_word(self):
        """One that nobody has, in an order that says nothing of who came first."""
        words_in_use = {getattr(laptop, "word", "") for laptop in self.phones.values()}
        for lap in range(1, hall.PLACES):
            free = [
                word for word in (f"{word} {lap}" if lap > 1 else word for word in WORDS) if word not in words_in_use
            ]
            if free:
                return secrets.choice(free)

    def take(self, laptop, verdict):
        """Pass a verdict on, a dict as `check` sends it. Raises: Refused for what is none, or for too many."""
        exercise, status = verdict.get("exercise"), verdict.get("status")
        mistake = verdict.get("misconception") or ""
        whole = isinstance(exercise, str) and isinstance(mistake, str) and status in STATUS
        if not (whole and EXERCISE.fullmatch(exercise) and MISTAKE.fullmatch(mistake)):
            raise hall.Refused(400, "That is no verdict.")
        now = time.monotonic()
        laptop.votes = max(0.0, laptop.votes - A_SECOND * (now - laptop.last)) + 1  # of late
        laptop.last = now
        if laptop.votes > BURST:
            raise hall.Refused(429, "too many in a short time.")
        self.tell({"name": laptop.word, "exercise": exercise, "status": status, "misconception": mistake})


class Join(hall.Handler):
    def post(self):
        room = self.halls.called(self.body().get("code"))
        token = room.join(self.request.remote_ip)
        self.finish({"token": token, "name": room.phone(token).word})


class Told(hall.Handler):
    def post(self):
        verdict = self.body()
        room, laptop = self.halls.of(verdict.get("token"))
        room.take(laptop, verdict)
        self.finish({})


def main(settings):
    """settings: address, the ports to try, and whether many laptops come from one address."""
    logging.disable()
    hall.allow_many_phones()
    listening = hall.listen(settings["address"], settings.get("ports", hall.PORTS))
    room = Room(hall.say, per_address=hall.PER_ADDRESS[-1 if settings.get("shared") else 0])
    halls = hall.Halls({"": room})
    routes = [(r"/join", Join, {"halls": halls}), (r"/told", Told, {"halls": halls})]
    application = web.Application(routes, default_handler_class=hall.Nothing, log_function=lambda handler: None)
    limits = {"max_body_size": hall.BODY, "max_buffer_size": 16 * hall.BODY, "max_header_size": 8 * hall.BODY}
    server = httpserver.HTTPServer(application, idle_connection_timeout=60, body_timeout=5, **limits)
    server.add_sockets(listening)
    hall.say({"port": listening[0].getsockname()[1], "code": room.code})
    threading.Thread(target=hall.hear, args=(ioloop.IOLoop.current(), None), daemon=True).start()
    ioloop.IOLoop.current().start()


if __name__ == "__main__":
    main(json.loads(sys.stdin.buffer.readline()))
