"""A relay with a public name: decks reach it outwards, each with its own hall, and none without the secret."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError
from vote_server import NUMBERS

from classroom.hall.link import SERVER, Relayed


@pytest.fixture(scope="module")
def address():
    with subprocess.Popen([sys.executable, "-I", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        server.stdin.write(json.dumps({"address": "127.0.0.1", "ports": [0], "secret": "open sesame"}).encode() + b"\n")
        server.stdin.flush()
        yield f"http://127.0.0.1:{json.loads(server.stdout.readline())['port']}"
        server.stdin.close()


@asynccontextmanager
async def deck(address, secret="open sesame"):
    link = Relayed(address, secret)
    link.listen()
    try:
        yield link
    finally:
        link.end()


def play(lecture):
    """In a thread of its own: where a browser is driven, the main one has a loop already."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, lecture()).result()


async def until(is_so):
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.01)


async def send(address, path, body):
    answer = await AsyncHTTPClient().fetch(f"{address}/{path}", method="POST", body=json.dumps(body))
    return json.loads(answer.body)


def test_votes_come_through_and_survive_a_broken_line(address):
    async def lecture():
        async with deck(address) as link:
            await until(lambda: link.now["code"])
            token = (await send(address, "join", {"code": link.now["code"]}))["token"]
            link.order({"do": "open", "question": {**NUMBERS, "leaves": [0.5, 1.5]}})
            await until(lambda: link.now["phase"] == "open")
            code, line = link.now["code"], link.line
            line.close()
            await until(lambda: link.line is None)
            await send(address, "vote", {"token": token, "round": link.round, "text": "0.5; 1.5"})
            link.order({"do": "close"})
            await until(lambda: link.now["votes"]["01.new-bank"][-1]["votes"] == {"0.5; 1.5": 1})
            await until(lambda: link.now["phase"] == "closed")
            assert link.now["code"] == code and not link.now["trouble"]

    play(lecture)


def test_two_lectures_at_once_have_halls_of_their_own(address):
    async def lectures():
        async with deck(address) as one, deck(address) as other:
            await until(lambda: one.now["code"] and other.now["code"])
            assert one.now["code"] != other.now["code"]
            token = (await send(address, "join", {"code": one.now["code"]}))["token"]
            one.order({"do": "open", "question": NUMBERS})
            other.order({"do": "open", "question": NUMBERS})
            await until(lambda: one.now["phase"] == other.now["phase"] == "open")
            await send(address, "vote", {"token": token, "round": 1, "text": "1; 2"})
            await until(lambda: one.now["votes"]["01.new-bank"][-1]["answered"] == 1)
            assert other.now["votes"]["01.new-bank"][-1]["answered"] == 0

    play(lectures)


def test_without_the_secret_nobody_gives_orders(address):
    async def lecture():
        for secret in ("wrong", "", "open sesam\u00e9"):
            async with deck(address, secret) as link:
                await until(lambda: link.now["trouble"])
                assert "secret" in link.now["trouble"] and not link.now["code"]
        with pytest.raises(HTTPClientError, match="404"):
            await send(address, "join", {"code": ""})

    play(lecture)
