"""The vote server with a hall full of simulated phones, all on this machine: how long a vote takes to get into the
bars, what a full drop of the network loses, and what a flood of forged requests does to honest votes.

python benchmarks/bench_hall.py [--phones 300] [--quick]
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from contextlib import suppress

import psutil

sys.path.insert(0, str(__file__).rpartition("benchmarks")[0])
from classroom.hall.link import ASKED, SERVER

QUESTION = {"id": "03.after-softmax", "ask": "What is left?", "kind": "numbers", "size": 1}
assert QUESTION.keys() <= set(ASKED)


class Server:
    """The process, what it told, and when each text was first in the bars."""

    async def start(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = await asyncio.create_subprocess_exec(sys.executable, "-I", SERVER, **pipes, limit=2**20)
        self.send({"address": "127.0.0.1", "ports": [0]})
        self.port = json.loads(await self.process.stdout.readline())["port"]
        self.round, self.told, self.seen = 0, {}, {}
        self.reading = asyncio.create_task(self.read())
        self.usage = psutil.Process(self.process.pid)
        while not self.told:
            await asyncio.sleep(0.01)

    async def read(self):
        while line := await self.process.stdout.readline():
            self.told, now = json.loads(line), time.perf_counter()
            for text in self.told["votes"]:
                self.seen.setdefault((self.told["round"], text), now)

    def send(self, order):
        self.process.stdin.write(json.dumps(order).encode() + b"\n")

    def open(self):
        self.round += 1
        self.send({"do": "open", "round": self.round, "question": QUESTION})
        return time.perf_counter()

    async def until(self, is_so, seconds=30):
        async with asyncio.timeout(seconds):
            while not is_so():
                await asyncio.sleep(0.005)

    async def end(self):
        self.process.stdin.close()
        assert await self.process.wait() == 0

    def worked(self):
        """Seconds of a core so far, which others' work on the machine does not change."""
        return sum(self.usage.cpu_times()[:2])

    def megabytes(self):
        return self.usage.memory_info().rss / 1e6

    async def post(self, path, body):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        sent = json.dumps(body).encode()
        writer.write(b"POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(sent), sent))
        status, length = int((await reader.readline()).split()[1]), 0
        while (line := await reader.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        told = await reader.readexactly(length)
        writer.close()
        return status, told


class Phone:
    """One that follows events, and comes back 0 to 2 s after its connection was lost."""

    def __init__(self, server, number):
        self.server, self.number, self.knows, self.writer, self.back = server, number, {}, None, []

    async def join(self):
        _, told = await self.server.post("join", {"code": self.server.told["code"]})
        self.token = json.loads(told)["token"]
        self.following = asyncio.create_task(self.follow())

    async def follow(self):
        while True:
            begun = time.perf_counter()
            with suppress(OSError, asyncio.IncompleteReadError):
                reader, self.writer = await asyncio.open_connection("127.0.0.1", self.server.port)
                self.writer.write(b"GET /events?token=%s HTTP/1.1\r\nHost: x\r\n\r\n" % self.token.encode())
                first = True
                while line := await reader.readline():
                    if line.startswith(b"data: "):
                        state = json.loads(line[6:])
                        self.knows.setdefault(state["round"], time.perf_counter())
                        if first:
                            self.back.append(time.perf_counter() - begun)
                            first = False
            await asyncio.sleep(random.uniform(0, 2))

    async def vote(self, after=0.0):
        """When it was sent."""
        await asyncio.sleep(after)
        begun = time.perf_counter()
        status, _ = await self.server.post(
            "vote", {"token": self.token, "round": self.server.round, "text": str(self.number)}
        )
        assert status == 200, status
        return begun


def percentiles(seconds):
    ordered = sorted(1000 * one for one in seconds)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]  # noqa: E731
    return f"median {statistics.median(ordered):4.0f} ms, p95 {at(0.95):4.0f}, largest {ordered[-1]:4.0f}"


async def votes_in_bars(server, phones, within):
    server.open()
    round = server.round
    await server.until(lambda: all(round in phone.knows for phone in phones))
    used = server.worked()
    sent = await asyncio.gather(*(phone.vote(random.uniform(0, within)) for phone in phones))
    await server.until(lambda: server.told["answered"] == len(phones))
    waits = [server.seen[round, str(phone.number)] - begun for phone, begun in zip(phones, sent, strict=True)]
    work = f"{1000 * (server.worked() - used) / len(phones):.1f} ms of a core for each"
    print(f"vote to bars, {len(phones)} votes within {within:g} s: {percentiles(waits)}; lost 0; {work}")


async def drop(server, phones):
    """All connections end at once; all come back, and every vote of the next round counts."""
    opened = server.open()
    await server.until(lambda: all(server.round in phone.knows for phone in phones))
    print(f"question known: {percentiles([phone.knows[server.round] - opened for phone in phones])}")
    for phone in phones:
        phone.back.clear()
        phone.writer.transport.abort()
    begun = time.perf_counter()
    opened = server.open()
    await server.until(lambda: all(server.round in phone.knows for phone in phones))
    took, again = time.perf_counter() - begun, [phone.back[0] for phone in phones]
    print(f"all cut off: all {len(phones)} back after {took:.1f} s; state again after connecting: {percentiles(again)}")
    await votes_in_bars(server, phones, 1)


async def flood(server, phones, seconds):
    """Forged votes from 50 connections that are kept open, beside honest ones."""
    forged, ends = 0, time.perf_counter() + seconds
    body = json.dumps({"token": "abcdefghijkl.0123456789abcdef0123", "round": server.round, "text": "1"}).encode()
    request = b"POST /vote HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    async def attack():
        nonlocal forged
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while time.perf_counter() < ends:
            writer.write(request)
            await reader.readuntil(b"}")
            forged += 1
        writer.close()

    server.open()
    attacks = [asyncio.create_task(attack()) for _ in range(50)]
    waits = []
    for phone in phones[:50]:
        begun = await phone.vote()
        waits.append(time.perf_counter() - begun)
        await asyncio.sleep(seconds / 70)
    await asyncio.gather(*attacks)
    print(f"{forged / seconds:.0f} forged votes a second: honest ones answered in {percentiles(waits)}")
    await server.until(lambda: server.told["answered"] == len(waits))


async def take_places():
    """One script from one address: with each cap that a lecturer may set, and what the key for a new code does."""
    server = Server()
    await server.start()

    async def taken(tries):
        found = await asyncio.gather(*(server.post("join", {"code": server.told["code"]}) for _ in range(tries)))
        return sum(status == 200 for status, _ in found)

    begun, places = time.perf_counter(), await taken(50)
    print(f"one script's places: {places}", end="")
    while step := server.told["more"]:
        server.send({"do": "more"})
        await server.until(lambda step=step: server.told["per_address"] == step)
        while got := await taken(50):
            places += got
        print(f", then {places}", end="")
    print(f", in {time.perf_counter() - begun:.1f} s")
    full, _ = await server.post("join", {"code": server.told["code"]})
    before = server.told["code"]
    server.send({"do": "code"})
    await server.until(lambda: server.told["code"] != before)
    after, _ = await server.post("join", {"code": server.told["code"]})
    print(f"an honest phone then: {full}; after the new code: {after}")
    await server.end()


async def main(options):
    server = Server()
    await server.start()
    empty = server.megabytes()
    for _ in "abc":
        server.send({"do": "more"})
    await server.until(lambda: server.told["per_address"] >= options.phones)
    phones = [Phone(server, number) for number in range(1, options.phones + 1)]
    for phone in phones:
        await phone.join()
    await server.until(lambda: server.told["phones"] == len(phones) and all(0 in phone.knows for phone in phones))
    full, used = server.megabytes(), server.worked()
    pause = 2 if options.quick else 10
    await asyncio.sleep(pause)
    idle = (server.worked() - used) / pause
    print("load of this machine", *(f"{one:.1f}" for one in psutil.getloadavg()))
    print(f"{len(phones)} phones: memory {empty:.0f} MB, with them {full:.0f}; idle {100 * idle:.1f} % of a core")
    for within in (1,) if options.quick else (5, 1, 0):
        await votes_in_bars(server, phones, within)
    await drop(server, phones)
    await flood(server, phones, 2 if options.quick else 5)
    for phone in phones:
        phone.following.cancel()
    print(f"memory at the end {server.megabytes():.0f} MB")
    await server.end()
    await take_places()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phones", type=int, default=300)
    parser.add_argument("--quick", action="store_true")
    asyncio.run(main(parser.parse_args()))
