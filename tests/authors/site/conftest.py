"""The site in a browser: one server and one window for all tests, a new visitor for each."""

import threading
from functools import partial
from http.server import ThreadingHTTPServer

import pytest
from bs4 import BeautifulSoup
from site_page import SERVED, Kept, address_of, show_on


@pytest.fixture(scope="session")
def pages(built):
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in built.rglob("*.html")}


@pytest.fixture(scope="module")
def served(built):
    """What opens a window on the site that is served here, without a worker that would fetch all of its pages."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Kept, directory=built)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"base_url": f"http://127.0.0.1:{server.server_port}", "service_workers": "block"}
        server.shutdown()


@pytest.fixture(scope="module")
def window(browser, served):
    """One window for all tests: opening one costs more than most of them do in it."""
    context = browser.new_context(**served, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.asked.append(f"error: {error}"))
    yield page
    context.close()


@pytest.fixture(scope="module")
def phones(browser, served):
    context = browser.new_context(
        **served, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    yield context
    context.close()


@pytest.fixture
def phone(phones):
    """A phone of a new visitor, held upright."""
    page = phones.new_page()
    page.goto(f"{SERVED}_static/favicon.svg")
    page.evaluate("localStorage.clear(), sessionStorage.clear()")
    yield page
    page.close()


@pytest.fixture
def reader(served, window):
    """Opens a page of the site, on a given screen, for a new visitor; asks no network and breaks nowhere.

    As on a server: what a page opened as a file has kept, Chromium 156 does not find again in one of fifty reloads.
    """

    def open_page(name, screen="laptop, light", motion="reduce", asking=""):
        window.goto(f"{SERVED}_static/favicon.svg")  # where no script keeps anything
        show_on(window, screen, motion)
        window.evaluate("localStorage.clear(), sessionStorage.clear()")
        window.goto(address_of(name) + asking)
        return window

    window.asked.clear()
    yield open_page
    assert not [asked for asked in window.asked if not asked.startswith(served["base_url"])]
