"""A vote server as a deck has one: orders into it, counts out of it, and phones that reach it over HTTP."""

import http.client
import json
import threading
import time

from classroom.hall.link import Beside

NUMBERS = {"id": "01.new-bank", "ask": "What is the new row?", "kind": "numbers", "size": 2}
WORDS = {"id": "02.thrown-away", "ask": "Is this attention?", "kind": "one", "options": ["yes", "no"]}


class VoteServer(Beside):
    """Listens without a loop of its own: what it is told comes in a thread."""

    def __init__(self, site=""):
        # any free port: at one that is given again at once, phones would meet another test's server
        super().__init__(site, address="127.0.0.1", ports=[0])
        self.port = int(self.now["address"].split(":")[2].strip("/"))
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            self.hear(json.loads(line))

    def open(self, question=NUMBERS, again=False):
        self.order({"do": "open", "question": question, "again": again})
        return self.until(lambda: self.begun == self.round and self.now["phase"] == "open") and self.round

    def hear(self, report):
        self.begun = report["round"]  # which the server has begun, be it ordered earlier
        super().hear(report)

    def rounds(self):
        return self.now["votes"][self.asked]

    def until(self, is_so, seconds=60):
        """Wait until what was told says so."""
        end = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < end, self.now
            time.sleep(0.01)
        return True

    def ask(self, method, path, body=None, came_from="127.0.0.1", **headers):
        """(status, what was said) of one request; body is bytes, or what becomes JSON."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20, source_address=(came_from, 0))
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        line.request(method, path, sent, headers)
        answer = line.getresponse()
        said = answer.read()
        line.close()
        return answer.status, said

    def join(self, code=None, came_from="127.0.0.1"):
        """A phone's token, or the status with which it was refused."""
        status, said = self.ask("POST", "/join", {"code": code or self.now["code"]}, came_from)
        return json.loads(said)["token"] if status == 200 else status

    def vote(self, token, text, round=None):
        """The status; what comes too soon after the phone's last vote is sent again, as a person would."""
        status, said = None, b"Too fast"
        while b"Too fast" in said:
            status, said = self.ask("POST", "/vote", {"token": token, "round": round or self.round, "text": text})
        return status

    def events(self, token):
        """The states that a phone is sent, one after another."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        line.request("GET", f"/events?token={token}")
        answer = line.getresponse()
        while told := answer.readline():
            if told.startswith(b"data: "):
                yield json.loads(told[6:])
