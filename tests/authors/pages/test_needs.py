"""What pages need of a browser: all work in one that keeps nothing, in another site's frame, and in an older one."""

import gzip
import json
import re
import threading
import time
from urllib.parse import urlsplit

import pytest
from grading import told
from paths import ROOT
from playwright.sync_api import expect
from vote_server import VoteServer

from authors.pages import boards_in_pages, needs, packages
from classroom.grade.report import dashboard
from classroom.hall import server as vote_server

SITE, PLATFORM = "https://site.test", "https://platform.test/"
SOME = {"id": "03.moved", "ask": "Which move?", "kind": "set", "options": ["0 I", "1 like", "2 tea"], "first": 0}
FORGETS, PLAINER = "keeps nothing for this page", "plainer in this browser"
REFUSES = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("Access is denied.", "SecurityError"); } });"""
OLD = "\n".join(f"{need.take};" for need in needs.NEEDS if need.take)
SCRIPTS = [path for room in ("authors", "classroom", "workbench") for path in (ROOT / room).rglob("*.js")]
STYLES = [path for room in ("authors", "classroom", "workbench") for path in (ROOT / room).rglob("*.css")]


# --------------------------------------------------------------------------------------------------- what is done there


def in_lesson(page):
    """A guess is asked and answered, a board comes, and the menus open and close."""
    first = page.locator("form.guess").first
    first.get_by_label("Your guess").fill("3")
    first.get_by_role("button", name="Check").click()
    expect(first.locator(".verdict")).to_contain_text("✗")
    first.get_by_role("button", name="Show me").click()
    expect(first.locator(".answer")).to_be_visible()
    page.locator(".saved-board").first.scroll_into_view_if_needed()
    expect(page.locator(".attn-board td.input").first).to_be_visible()
    other = page.locator("#lessons a").nth(3)
    for opens in (True, False):
        page.get_by_role("button", name="Lessons").click()
        expect(other).to_be_visible() if opens else expect(other).to_be_hidden()


def on_first_page(page):
    expect(page.locator("#door .attn-figure, .attn-figure").first).to_be_visible()
    expect(page.locator("#numbers td.cell").first).to_be_visible()
    page.get_by_role("button", name="Dark or light").click()


def in_record(page):
    expect(page.get_by_text("You said")).to_be_visible()
    page.get_by_role("button", name="Forget all of it").click()
    page.get_by_role("button", name="Forget it for good?").click()
    expect(page.get_by_text("Nothing is kept here yet")).to_be_visible()


def in_search(page):
    expect(page.locator("#search-results li").first).to_be_visible()


def in_deck(page):
    expect(page.locator("section.present > section.present")).to_be_visible()
    page.locator("section.present .heading").first.click()  # a frame has to be gone into
    body = page.locator("body")
    body.press("PageDown")
    body.press("?")
    expect(page.locator(".help")).to_be_visible()
    page.locator(".help .close").click()
    expect(page.locator(".help")).to_be_hidden()
    body.press("d")
    page.locator(".slide-foot").first.wait_for(state="attached")


KINDS = {
    "lesson": ("notebooks/03_masking.html", in_lesson),
    "first page": ("index.html", on_first_page),
    "record": ("record.html#on=2026-01-02&{question}=5", in_record),
    "search": ("search.html?q=softmax", in_search),
    "deck": ("03_masking.html", in_deck),
}
FRAME = "<iframe sandbox='allow-scripts' style='width: 100%; height: 95vh' src='{}'>"
WAYS = {
    "in a frame that keeps nothing": (FRAME, "", FORGETS),
    "in a browser of five years ago": ("", OLD, PLAINER),
}  # fmt: skip


def aged(text):
    """A page as that older browser reads it: names in its style sheets that it does not know."""
    parts = re.split(r"(<script\b.*?</script>)", text, flags=re.S)  # every other one is a script
    for need in needs.NEEDS:
        if need.supports:
            parts[::2] = [
                re.sub(need.uses, lambda use: re.sub("[a-z]", r"gone-\g<0>", use[0], count=1), part)
                for part in parts[::2]
            ]
    parts[1::2] = map(unsupported, parts[1::2])
    return "".join(parts)


def unsupported(script):
    """A script whose questions about style sheets that browser answers with no."""
    for need in needs.NEEDS:
        if need.supports:
            script = script.replace(json.dumps(need.supports), '"gone: gone"')
    return script


@pytest.fixture
def visit(browser, built, decks):
    """visit(way, address): the page, or the frame it is in, as that browser shows it; it breaks nowhere."""
    contexts, complaints = [], []

    def open_page(way, address):
        frame, script, _ = WAYS[way]

        def serve(route):
            place = urlsplit(route.request.url).path[1:]
            file = next(folder / place for folder in (built, decks) if (folder / place).is_file())
            if script is OLD and file.suffix in (".html", ".css", ".js"):
                kinds = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
                change = unsupported if file.suffix == ".js" else aged
                route.fulfill(body=change(file.read_text(encoding="utf-8")), content_type=kinds[file.suffix])
            else:
                route.fulfill(path=file, headers={"Access-Control-Allow-Origin": "*"} | type_of(file))

        context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
        contexts.append(context)
        context.add_init_script(script)
        context.route(f"{SITE}/**", serve)
        context.route(
            f"{PLATFORM}**",
            lambda route: route.fulfill(body=frame.format(f"{SITE}/{address}"), content_type="text/html"),
        )
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(PLATFORM if frame else f"{SITE}/{address}")
        return page.frame_locator("iframe") if frame else page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def type_of(file):
    return {"Content-Type": "text/html; charset=utf-8"} if file.suffix == ".html" else {}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_page_works_and_says_once_what_it_lacks(visit, built, kind, way):
    address, works = KINDS[kind]
    (question, *_) = re.findall(r"\"(\d\d\.[\w-]+)\":", (built / "_static/record.js").read_text(encoding="utf-8"))
    page = visit(way, address.format(question=question))
    if kind not in ("record", "search"):
        expect(page.get_by_text(WAYS[way][2])).to_have_count(1)
    works(page)


# ------------------------------------------------------------------------------------- phones, and the class's table

LECTURE = {"where site data are refused": REFUSES, "in a browser of five years ago": OLD}


def old_or_refusing(browser, way, complaints):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    context.add_init_script(LECTURE[way])
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def age(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=aged(answer.text()))

    if LECTURE[way] is OLD:
        context.route(re.compile("//[^/]+/(#|$)"), age)  # a function would hold up every request, votes too
    return page


@pytest.mark.parametrize("way", LECTURE)
def test_phone_votes(browser, way):
    complaints, server = [], VoteServer()
    try:
        page = old_or_refusing(browser, way, complaints)
        page.goto(server.scanned())
        page.get_by_label("The code on the screen").wait_for(state="hidden")
        server.open(SOME)
        for name, is_chosen in (("1 like", "true"), ("2 tea", "true"), ("1 like", "false")):
            chip = page.get_by_role("button", name=name, exact=True)
            chip.tap()
            expect(chip).to_have_attribute("aria-pressed", is_chosen)
        page.get_by_role("button", name="Send").tap()
        expect(page.get_by_text("You said: 2 tea")).to_be_visible()
        server.until(lambda: server.rounds()[-1]["votes"] == {"2": 1})
        page.get_by_role("button", name="What you guessed").tap()
        expect(page.locator("#kept li")).to_contain_text("Which move?")
        page.context.close()
    finally:
        server.end()
    assert not complaints


@pytest.mark.parametrize("way", LECTURE)
def test_table_of_the_class_goes_on(browser, tmp_path, way):
    complaints, server = [], dashboard.server(tmp_path)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = old_or_refusing(browser, way, complaints)
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        told(tmp_path, "ada", (time.time() - 60, "3.2", "wrong", "top-left"))
        expect(page.get_by_text("ada").first).to_be_visible()
        page.context.close()
    finally:
        server.shutdown()
        server.server_close()
    assert not complaints


# --------------------------------------------------------------------------------------------------------- the table


def used_in(need):
    return [path.name for path in (STYLES if need.supports else SCRIPTS) if needs.uses(need.uses, read(path))]


def read(path):
    return path.read_text(encoding="utf-8")


def test_what_pages_use_is_in_the_table_and_what_is_there_is_used():
    assert [need.name for need in needs.NEEDS if not used_in(need)] == []
    for kind, paths in {"scripts": SCRIPTS, "styles": STYLES}.items():
        assert len(paths) > 10
        assert [(path.name, use[0]) for path in paths if (use := needs.uses(needs.AVOIDED[kind], read(path)))] == []


@pytest.mark.parametrize("script", [boards_in_pages.script, boards_in_pages.guess_script, lambda: vote_server_script()])
def test_scripts_are_written_in_what_those_browsers_read(script):
    """esbuild says of what it can write in no older way; and a script that is sent as it stands needs no change."""
    options = ["--loader=js", f"--target={needs.TARGET}", "--log-level=info"]
    settings = {"input": script(), "capture_output": True, "encoding": "utf-8"}
    done = packages.run("esbuild", *options, **settings)
    assert done.returncode == 0 and not done.stderr, done.stderr


def vote_server_script():
    page = gzip.decompress(vote_server.page()).decode()
    return re.search(r"<script>(.*)</script>", page, re.S)[1]
