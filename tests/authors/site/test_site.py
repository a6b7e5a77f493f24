"""The web site: complete, offline, for every screen and reader; boards move and questions are answered in the page."""

import base64
import json
import re
import subprocess
import sys
import threading
import zipfile
from contextlib import closing
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import preloaded_kernels
import pytest
import torch
from axe_playwright_python.base import AXE_SCRIPT as AXE
from board_actions import choose
from bs4 import BeautifulSoup
from contrast import CONTRAST
from playwright.sync_api import expect

import attn_lib
from attn_lib.examples import TOKENS, W_k, W_q, W_v, X, self_attention_steps
from authors import addresses
from authors.lessons import lessons
from authors.site.lesson_page import STANDING
from workbench.exercises.engine.exercise import EXERCISES

LESSONS = [lesson.name for lesson in lessons()]
SERVED = "/"  # of the server where the windows below are, whose first page needs no name
AXES = (("x", "width"), ("y", "height"))  # of what bounding_box says
SCREENS = {"laptop, light": ((1366, 768), "light"), "phone, dark": ((390, 844), "dark")}


@pytest.fixture(scope="session")
def pages(built):
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in built.rglob("*.html")}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *told):
        pass


class Kept(Quiet):
    """Lets browsers keep what they fetched, as servers do: then they read and compile no script twice."""

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def send_error(self, code, *told):
        page = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.end_headers()
        self.wfile.write(page)


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


def address_of(name):
    return SERVED + (f"notebooks/{name}.html" if name in LESSONS else f"{name}.html")


def lesson_pages(built, pages):
    return {name: pages[built / "notebooks" / f"{name}.html"] for name in LESSONS}


# ------------------------------------------------------------------------------------------------ what is there


def test_every_lesson_is_in_the_contents_between_neighbours(built, pages):
    others = {"404", "index", "record", "search", "INSTRUCTORS", "README", STANDING, *attn_lib.__all__}
    assert {path.stem for path in pages} == {*others, *LESSONS}
    both = zip([None, *LESSONS], lesson_pages(built, pages).items(), [*LESSONS[1:], None], strict=False)
    for before, (name, page), after in both:
        links = page.select("#lessons li a")
        assert [link["href"] for link in links] == ["#" if other == name else f"{other}.html" for other in LESSONS]
        assert [link["href"] for link in links if link.get("aria-current")] == ["#"]
        for way, other in {"prev": before, "next": after}.items():
            assert [link["href"] for link in page.select(f"a[rel={way}]")] == [f"{other}.html"] * bool(other)


def test_every_link_and_picture_is_there_and_none_elsewhere(pages):
    anchors = {path: {tag["id"] for tag in page.select("[id]")} for path, page in pages.items()}
    for path, page in pages.items():
        for node in page.select("[href], [src]"):
            address = node.get("href") or node.get("src")
            parts = urlsplit(address)
            if node.name == "a" and parts.scheme in ("https", "http"):
                continue  # out of the site, for whoever follows it
            if parts.scheme == "data" or address == "#":
                continue
            assert not parts.scheme and not parts.netloc, f"{path.name}: {address} needs a network"
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {address} is not there"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in anchors[target], f"{path.name}: {address} has no such anchor"


def test_first_page_has_a_board_and_a_card_for_each_lesson(built, pages):
    first = pages[built / "index.html"].select_one("article")
    assert first.select_one(".saved-board") and first.select_one(".cards .go-on")["href"].endswith(f"{LESSONS[0]}.html")
    for lesson, listed in zip(lessons(), first.select(".cards li"), strict=True):
        page = pages[built / "notebooks" / f"{lesson.name}.html"]
        (link,) = listed.select("a[href]")
        name = link.select_one("h4").get_text()
        assert link["href"].endswith(f"{lesson.name}.html") and name.split()[-1] in page.h1.get_text()
        assert f"{lesson.minutes} minutes" in link.get_text() and link.select_one(".picture")["aria-hidden"] == "true"
        assert len(link.select_one(".told p").get_text().split()) <= 9, "what it promises can be taken in at a glance"
        assert link["data-guesses"] == str(len(page.select("form.guess[data-again=false]"))), "what its ring counts"


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_screen_says_what_the_course_is_and_shows_its_lessons(reader, screen):
    page = reader("index", screen)
    what = page.locator("p").filter(has_text=re.compile(r"language model.*free.*Python"))
    readme = (Path(addresses.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert what.inner_text().partition(". ")[0] in readme and what.get_by_role("link").count(), "where its source is"
    listed = page.get_by_role("navigation", name="All lessons").get_by_role("link")
    assert [link.get_attribute("href") for link in listed.all()] == [f"notebooks/{name}.html" for name in LESSONS]
    for seen in (what, listed.first, listed.nth(1)):
        box = seen.bounding_box()
        assert box["y"] + box["height"] < page.viewport_size["height"]


def test_a_lesson_looks_back_on_a_page_of_its_own(built, pages):
    looking_back, last = (pages[built / "notebooks" / f"{name}.html"] for name in (STANDING, LESSONS[12]))
    asked = {form["id"] for form in looking_back.select("form.guess")}
    assert len(asked) == 11 and looking_back.select_one(".standing")
    assert not asked & {form["id"] for form in last.select("form.guess")} and not looking_back.select("article pre")
    assert last.select_one(f'#where-you-stand a[href="{STANDING}.html"]')


def test_a_page_that_is_not_there_leads_back(reader):
    page = reader("index")
    page.goto(f"{SERVED}library/gone/deeper.html")
    page.get_by_role("article").get_by_role("link", name="Masking").click()
    page.get_by_role("heading", level=1, name="Masking").wait_for()


def test_a_section_has_an_address_of_its_own(reader):
    page = reader("03_masking")
    heading = page.get_by_role("heading", name="Before softmax, not after")
    heading.get_by_role("link").click()
    shared = page.url
    page.goto(address_of("index"))
    page.goto(shared)
    page.wait_for_function("(node) => Math.abs(node.getBoundingClientRect().top) < 100", arg=heading.element_handle())


def test_after_one_visit_all_pages_open_without_a_network(built, browser):
    """From a server that has gone, as a phone in a tunnel has it; an address that is nowhere says so as before."""
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=built)) as server,
        closing(browser.new_context()) as context,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page, site = context.new_page(), f"http://127.0.0.1:{server.server_port}"
        page.goto(site)
        page.get_by_text("Kept in this browser: every page").wait_for(timeout=60_000)
        server.shutdown()
        server.server_close()
        page.goto(f"{site}/notebooks/{LESSONS[0]}.html")
        ask(first_question(page)[1], "0.5, 1.5")
        first_question(page)[2].get_by_text("✓ Right.").wait_for()
        page.goto(f"{site}/notebooks/nowhere.html")
        page.get_by_role("heading", name="This page is not here").wait_for()
        page.goto(site)
        page.locator("[data-numbers] .attn-board").wait_for()


def test_every_public_function_has_a_page_that_names_its_lesson(built, pages):
    library = pages[built / "library" / "index.html"]
    for name in attn_lib.__all__:
        page = pages[built / "library" / f"{name}.html"]
        assert library.select_one(f'a[href="{name}.html"]') and page.h1.get_text().startswith(name)
        assert "Shapes" in page.get_text() or "Raises" in page.get_text() or name in ("Steps", "Cache")
    assert pages[built / "library" / "causal_mask.html"].select_one(f'p a[href="../notebooks/{LESSONS[2]}.html"]')


def test_every_page_says_how_to_run_its_lesson(built, pages):
    for name, page in {"index": pages[built / "index.html"], **lesson_pages(built, pages)}.items():
        ways = page.select_one("details#run-it")
        assert f"python course.py lab {name[:2] if name in LESSONS else '01'}" in ways.get_text()
        assert ways.select_one("a[download]")


def test_a_shared_link_has_a_title_and_words_of_its_own(pages):
    said = set()
    for path, page in pages.items():
        card = {tag["property"]: tag["content"] for tag in page.select("meta[property]")}
        said.add(page.select_one('meta[name="description"]')["content"])
        assert card["og:description"] in said and len(card["og:description"]) > 40
        assert ("og:url" in card) == ("og:image" in card) == bool(addresses.addresses()[1]), "whole addresses or none"
        assert path.stem not in LESSONS or card["og:title"] in page.h1.get_text()
        assert page.select_one("h1") and page.html["lang"] == "en" and page.select_one('link[rel*="icon"]')
    assert len(said) == len(LESSONS) + 2  # the first page, with those that have none, and where you stand


# In a process that knows nothing of the course: the first notebook, with what stands beside it.
ALONE = """
import json, os, sys
sys.path.insert(0, course)
os.chdir(os.path.join(course, "notebooks"))
import attn_lib
assert attn_lib.__file__.startswith(course), attn_lib.__file__
names = {}
for cell in json.load(open("01_by_hand.ipynb", encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
assert names["outputs"].shape == (3, 3)
"""


def test_the_zip_runs_where_it_was_unpacked_and_its_links_lead_to_files_in_it(built, tmp_path):
    """The first command and the first notebook; what the command installs is the same as everywhere."""
    zipfile.ZipFile(built / "run" / "attention.zip").extractall(tmp_path)
    course = tmp_path / "attention"
    told = [path for path in course.rglob("*.md") if "site" not in path.parts]  # those are pages of this site
    nowhere = []
    for path in (*told, *course.rglob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join(c.source for c in nbformat.reads(text, 4).cells if c.cell_type == "markdown")
        links = [urlsplit(link) for link in re.findall(r"\]\(([^)\s]+)", text)]
        places = {unquote(link.path) for link in links if not link.scheme and link.path}
        nowhere += [f"{path.name}: {place}" for place in places if not (path.parent / place).exists()]
    assert len(told) > 3 and nowhere == []
    said = subprocess.run([sys.executable, "course.py"], cwd=course, capture_output=True, text=True)
    assert "lab" in said.stdout + said.stderr
    subprocess.run([sys.executable, "-m", "workbench.copies"], cwd=course, check=True, capture_output=True)
    assert sorted(path.stem for path in (course / "my").glob("*.ipynb")) == LESSONS
    with preloaded_kernels.processes() as pool:
        pool.submit(exec, ALONE, {"course": str(course)}).result()


def test_code_is_coloured_what_answers_is_folded_and_nobody_is_told_to_run_a_cell(built, pages):
    for name, page in lesson_pages(built, pages).items():
        assert page.select(".highlight .kn") and page.select(".highlight .mi"), name
        answers = page.select(".tag_answer, .tag_filled")
        open_ones = [str(cell)[:200] for cell in answers if not cell.select_one("details:not([open])")]
        assert answers and not open_ones, open_ones
        assert not page.find(string=re.compile(r"Run All Cells|\b(both cells|this cell) again")), name


def test_pictures_are_described_and_formulas_drawn(pages):
    for path, page in pages.items():
        for picture in page.select("article img"):
            assert len(picture.get("alt", "")) > 20, f"{path.name}: {picture}"
            assert (
                picture["width"] and picture["height"] and picture["loading"] == "lazy"
            )  # nothing jumps when it comes
        for formula in page.select("math"):
            assert "&" not in formula.get_text() and "\\" not in formula.get_text(), formula.get_text()
        assert "$$" not in page.select_one("article").get_text(), path.name


# --------------------------------------------------------------------------------------- every page on every screen

# Everything that shows, looked at once: the texts whose contrast with what is painted behind them is below 4.5, each
# look of text on each ground once; those on the screen on which something else lies; what scrolls and can neither be
# reached with the keyboard nor holds anything that can; and what is reached and scrolls nowhere.
LOOK = (
    f"() => {{ {CONTRAST}"
    + """
  const covered = [], unreached = [], needless = [], small = [];
  const words = document.createRange();
  const scale = (node) => { // of a drawing's letters
    const { b, d } = node instanceof SVGElement ? node.getScreenCTM() : { b: 0, d: 1 };
    return Math.hypot(b, d);
  };
  const least = (node) => { // an index may be smaller, and has to be smaller than the letter that bears it
    const below = ":is(msub, msup, msubsup, munder, mover) > :nth-child(n + 2)", index = node.closest(below);
    if (node.closest("pre.fits")) return 12; // numbers in columns, which would break otherwise
    if (!index) return 14.5;
    if (index.parentElement.closest(below)) return 13; // an index's own
    const [own, bears] = [index, index.parentElement.firstElementChild].map((one) => getComputedStyle(one).fontSize);
    return parseFloat(own) > 0.85 * parseFloat(bears) ? Infinity : 13;
  };
  const isClear = (node) => { // a button over a picture's words, say
    const { backgroundColor, backgroundImage } = getComputedStyle(node);
    return backgroundColor === "rgba(0, 0, 0, 0)" && backgroundImage === "none" && !node.textContent.trim();
  };
  const isCovered = (text, node) => { // its first line, at its middle, if that is on the screen
    words.selectNodeContents(text);
    const { left, top, width, height } = words.getClientRects()[0] ?? new DOMRect(-1);
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!seen || seen.contains(node) || isClear(seen) || node.closest(".unseen")) return false;
    return !seen.closest(".foot"); // which is to lie there, and may be scrolled away
  };
  const onScreen = ({ top, bottom }) => bottom > 0 && top < innerHeight;
  const shows = (node) => node.checkVisibility() || getComputedStyle(node).display === "contents";
  const filter = (node) => (shows(node) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
  const all = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT, filter);
  while (all.nextNode()) {
    const node = all.currentNode, style = getComputedStyle(node);
    const texts = [...node.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    if (texts.length) contrast(node, style);
    const isRead = texts.length && !node.closest(".unseen, [role=status]");
    if (isRead && parseFloat(style.fontSize) * scale(node) < least(node)) {
      small.push(short(node));
    }
    if (texts.length && onScreen(node.getBoundingClientRect()) && texts.some((text) => isCovered(text, node))) {
      covered.push(short(node));
    }
    const broad = node.scrollWidth > node.clientWidth, scrolls = /auto|scroll/.test(style.overflow);
    if (scrolls && (node.scrollWidth > node.clientWidth + 13 || node.scrollHeight > node.clientHeight + 13)) {
      const within = "a, button, input, select, summary, [tabindex='0']";
      if (node.tabIndex < 0 && !node.querySelector(within)) unreached.push(short(node));
    }
    if (!(scrolls && broad) && node.matches(":is(p, pre, .output div)[tabindex='0']:not(.attn-board *)")) {
      needless.push(short(node));
    }
  }
  const cut = (document.querySelector("main")?.scrollWidth ?? 0) - 12; // a board's own room stands out
  const wider = Math.max(document.documentElement.scrollWidth, cut) - innerWidth;
  return { faint, covered, small, unreached, needless, "wider by": wider, looks: looks.size };
}"""
)
CODE = ".cell_input pre, pre:has([style*='user-select'])"  # with that of the patients, whose lines have numbers
CUT_CODE = f'[...document.querySelectorAll("{CODE}")].filter((c) => c.scrollWidth > c.clientWidth).length'
# What axe finds in the text, the boards and the forms of one page alone. The rest, which takes axe longer, hangs on
# what pages of a kind have in common, and is asked of one of each kind. Contrast, which takes it longest, and what a
# keyboard cannot scroll are LOOK's.
EACH = ["aria-allowed-attr", "aria-hidden-focus", "aria-required-attr", "aria-required-children", "summary-name"]
EACH += ["aria-required-parent", "aria-roles", "aria-valid-attr-value", "button-name", "definition-list"]
EACH += ["duplicate-id-aria", "empty-heading", "heading-order", "image-alt", "label", "link-name", "list"]
EACH += ["listitem", "select-name", "svg-img-alt", "td-headers-attr", "th-has-data-cells"]
EACH = {"runOnly": EACH}
ALL = {"rules": {"target-size": {"enabled": True}, "color-contrast": {"enabled": False}}}
KINDS = {"phone, dark": ["index", "record", "search", "README", LESSONS[0]], "laptop, light": ["README"]}
# A lesson on a phone begins with something to do: it is on the first screen, and no code stands before it.
BEGINS_LATE = """() => {
  const first = document.querySelector("article :is(form.guess :is(label input, .word), .saved-board)");
  const { top, bottom } = first.getBoundingClientRect();
  const code = [...document.querySelectorAll(".cell_input")].filter((one) => one.offsetHeight);
  return bottom >= innerHeight || code.some((one) => one.getBoundingClientRect().top < top);
}"""


SHIFT = """window.moved = [];
new PerformanceObserver((seen) => moved.push(...seen.getEntries())).observe({ type: "layout-shift" })"""
TWO_FRAMES = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def show_on(page, screen, motion="reduce"):
    """Give the window the size and the theme of a screen, and the boards a moment to take their room."""
    (width, height), scheme = SCREENS[screen]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(media="screen", color_scheme=scheme, reduced_motion=motion)
    page.evaluate(TWO_FRAMES)


def seen_by(page):
    """What is too faint, covered, too wide or out of reach on this screen."""
    found = page.evaluate(LOOK)
    assert found.pop("looks") > 2
    return found


def found_by_axe(page, options):
    """What axe finds: the rules, each with the first node that breaks it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    run = "async (options) => (await axe.run(document, options)).violations"
    found = page.evaluate(run, {**options, "resultTypes": ["violations"], "selectors": False, "preload": False})
    return {violation["id"]: violation["nodes"][0]["html"][:200] for violation in found}


def test_every_page_fits_its_screen_and_can_be_read(built, pages, reader):
    """Opened on one screen, each page is then given the room and the light of the other; the next begins there."""
    page, faults, screens = reader("index"), [], list(SCREENS)
    for path in sorted(pages):
        if path.parent.name == "library" and path.stem not in ("index", "MultiHeadAttention"):
            continue  # one form makes them all: the longest stands for the others
        page.goto(f"/{path.relative_to(built).as_posix()}")
        unfold(page)
        for screen in screens:
            show_on(page, screen)
            found = seen_by(page)
            if screen.startswith("laptop"):
                found["code cut at the right"] = page.evaluate(CUT_CODE)
            elif path.stem in LESSONS:
                found["nothing to do at first"] = page.evaluate(BEGINS_LATE)
            if path.stem in KINDS[screen]:
                found |= found_by_axe(page, ALL)
            elif screen.startswith("phone"):
                found |= found_by_axe(page, EACH)
            faults += [(path.name, screen, fault, what) for fault, what in found.items() if what]
        screens.reverse()
    assert not faults, "\n".join(map(str, faults))


def test_no_window_is_scrolled_sideways(reader):
    page, wider = reader("01_by_hand"), {}
    for width in (700, 800, 1024, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 768})
        wider[width] = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert not any(wider.values()), wider


def test_dark_by_choice_is_dark_by_the_system(reader):
    page = reader("03_masking")
    of = "(selector) => { const { color, backgroundColor } = getComputedStyle(document.querySelector(selector));"
    look = f"['body', '.attn-board', '.highlight .kn'].map({of} return color + backgroundColor; }})"

    def turned():
        page.get_by_role("button", name="Dark or light page").click()
        return page.evaluate(look)

    framed = (
        "document.querySelector('meta[name=theme-color]').content === getComputedStyle(document.body).backgroundColor"
    )
    light, dark = page.evaluate(look), turned()
    assert page.evaluate(framed), "what the browser draws around the page is dark, too"
    assert all(one != other for one, other in zip(light, dark, strict=True)) and seen_by(page)["faint"] == []
    page.reload()
    assert page.evaluate(look) == dark, "it is kept"
    assert turned() == light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(look) == dark, "nothing of one's own is kept that the system asks for"
    assert turned() == light


def test_diagrams_and_plots_stand_upright_on_a_phone(reader):
    page = reader("03_masking", "phone, dark")
    page.locator("picture img:not(.drawing)").first.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('picture img:not(.drawing)').currentSrc.includes('/upright/')")
    show_on(page, "laptop, light")
    page.wait_for_function("!document.querySelector('picture img:not(.drawing)').currentSrc.includes('/upright/')")
    page = reader("09_two_heads", "phone, dark")
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    plot = page.locator("img.drawing").first
    plot.scroll_into_view_if_needed()
    assert page.evaluate("(plot) => plot.decode().then(() => plot.naturalWidth)", plot.element_handle()) <= 390
    show_on(page, "laptop, light")
    page.wait_for_function("(plot) => plot.naturalWidth > 500", arg=plot.element_handle())


def test_the_search_finds_a_word_of_a_lesson(reader):
    page = reader("index")
    page.get_by_role("button", name="Lessons").click()
    page.get_by_label("Search").fill("saturated")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li").filter(has=page.get_by_role("link", name="1. Attention by hand"))
    found.first.get_by_text(re.compile("saturated", re.I)).wait_for()  # with the words around it
    page.goto(f"{SERVED}search.html?q=mask")
    found = page.locator("#search-results li").filter(has=page.get_by_role("link", name="3. Masking"))
    assert "The answer" not in found.filter(has=page.locator(".context")).first.inner_text()


@pytest.mark.parametrize(
    ("word", "lesson", "section"),
    [
        ("transformer", "11_small_gpt", "A block"),
        ("mask", "03_masking", "A mask from lengths"),
        ("sliding window", "10_writing_with_a_memory", "A window"),  # which the lesson calls by another name
        ("gradient", "07_how_attention_learns", "Which way is down?"),
    ],
)
def test_the_search_begins_with_the_section_that_teaches(reader, word, lesson, section):
    page = reader("search", asking=f"?q={word}")
    link = page.locator("#search-results a").first
    expect(link).to_contain_text(section)
    link.click()
    expect(page).to_have_url(re.compile(lesson))
    expect(page.locator(":target")).to_contain_text(section)


def test_the_search_shows_the_reference_after_the_lessons_and_leaves_code_out(reader):
    def found(word):
        page = reader("search", asking=f"?q={word}")
        page.locator(".search-summary:not(:empty)").wait_for()
        return page.locator("#search-results li > a").evaluate_all("links => links.map((link) => link.pathname)")

    are_lessons = [re.search(r"/notebooks/\d", lead) is not None for lead in found("gpt")]
    assert are_lessons == sorted(are_lessons, reverse=True) and not all(are_lessons)
    leads = found("show_difference")  # lesson 1 says what it does; nearly every lesson calls it
    assert [lead.rpartition("/")[2] for lead in leads] == [f"{LESSONS[0]}.html"]


def test_fonts_that_come_late_move_nothing(built, browser, served):
    """They come when all else stands there; what has moved by then, browsers count themselves."""
    size = {"width": 390, "height": 844}
    context = browser.new_context(**served, viewport=size, is_mobile=True, reduced_motion="reduce")
    page, waiting = context.new_page(), []
    context.route("**/*.woff2", lambda route: waiting.append(route))
    for name in ("index", LESSONS[0], LESSONS[8], LESSONS[10]):
        page.goto(address_of(name), wait_until="domcontentloaded")
        page.evaluate(TWO_FRAMES)
        page.evaluate(SHIFT)
        while waiting:
            route = waiting.pop()
            route.fulfill(path=built / urlsplit(route.request.url).path[1:])
        page.evaluate("document.fonts.ready.then(() => {})")
        page.evaluate(TWO_FRAMES)
        assert page.evaluate("moved.reduce((all, one) => all + one.value, 0)") < 0.02, name
    context.close()


def test_code_and_printed_numbers_are_read_on_a_phone_without_scrolling_sideways(reader):
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    page = reader("09_two_heads", "phone, dark")
    page.evaluate("document.querySelectorAll('article details').forEach((fold) => (fold.open = true))")
    code = page.locator(".cell_input pre")
    assert code.count() > 20 and code.evaluate_all(cut) == 0
    page = reader("07_how_attention_learns", "phone, dark")
    numbers = page.locator(".output pre").filter(has_text="tensor(").filter(visible=True)
    assert numbers.count() > 5 and numbers.evaluate_all(cut) == 0


def test_what_is_written_on_is_in_sight_on_a_phone(reader):
    page = reader("11_small_gpt", "phone, dark")
    story = come_to(page, ".attn-board.story")
    story.evaluate("(node) => node.scrollIntoView()")
    write = story.get_by_role("button", name="Write on")
    write.click()
    for seen in (write, story.locator(".words .word").last):
        box = seen.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 844


def test_large_letters_leave_the_header_whole(reader):
    page = reader("01_by_hand", "phone, dark")
    body = "parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)"
    before = page.evaluate(body)
    page.add_style_tag(content="html { font-size: 200% }")
    assert page.evaluate(body) == 2 * before
    boxes = [part.bounding_box() for part in page.locator("header.top > :is(a, button)").all()]
    for one, other in combinations(boxes, 2):
        apart = (
            abs(2 * (one[at] - other[at]) + one[size] - other[size]) - one[size] - other[size] for at, size in AXES
        )
        assert max(apart) >= -1, "one lies on the other"
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 + 12 for box in boxes)  # one's own room stands out


def test_the_step_being_read_is_lit_on_the_map(built, pages, reader):
    drawn = {box["data-step"] for box in pages[built / "notebooks/01_by_hand.html"].select("svg.map [data-step]")}
    page = reader("01_by_hand")
    headings = page.locator("article h2").filter(has_text=re.compile(r"^Step \d")).all()
    assert len(drawn) == len(headings)
    for heading in headings:
        heading.evaluate("(node) => (node.scrollIntoView(), scrollBy(0, -0.4 * innerHeight))")
        number = re.match(r"Step (\d)", heading.inner_text())[1]
        page.locator(f"svg.map .lit[data-step='{number}']").first.wait_for(state="attached")
        assert page.locator("svg.map .lit").count() == page.locator(f"svg.map [data-step='{number}']").count()
    page.get_by_role("heading", name="Where likeness fails").evaluate("(node) => node.scrollIntoView()")
    page.locator("svg.map").wait_for(state="hidden")  # that is no step


def test_the_margin_says_where_one_is_and_gives_way_to_a_board(reader):
    page = reader("03_masking")
    margin = page.get_by_role("navigation", name="Where you are")
    heading = page.get_by_role("heading", name="Before softmax, not after")
    heading.evaluate("(node) => node.scrollIntoView()")
    margin.locator("[aria-current]").get_by_text(heading.inner_text()).wait_for()
    come_to(page, ".attn-board").evaluate("(node) => node.scrollIntoView()")
    margin.get_by_role("link").first.wait_for(state="hidden")


def test_on_a_phone_the_contents_are_at_hand_in_a_lesson(phone):
    """One touch leads to them from wherever one reads; they and their button say how far one is."""
    page = phone
    page.goto(address_of("03_masking"))
    page.get_by_role("heading", name="Before softmax, not after").evaluate("(node) => node.scrollIntoView()")
    button = page.get_by_role("button", name="Contents")
    expect(button).to_contain_text("3 of")
    expect(button).to_be_in_viewport()
    box = button.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    contents = page.get_by_role("navigation", name="On this page")
    row = contents.get_by_role("link", name="Before softmax, not after")
    expect(row).to_have_attribute("aria-current", "true")
    expect(row.get_by_role("img", name="0 of 3 done")).to_be_visible()
    contents.get_by_role("link", name="Play with it").tap()
    expect(contents).to_be_hidden()
    heading = page.get_by_role("heading", name="Play with it")
    expect(heading).to_be_in_viewport()
    header = page.locator("header.top").bounding_box()
    assert heading.bounding_box()["y"] >= header["y"] + header["height"]  # nothing lies on what was gone to


def test_a_task_that_is_met_out_of_sight_is_told_at_the_foot(phone):
    page = phone
    page.goto(address_of("01_by_hand"))
    board = come_to(page, ".attn-board:has(.task p)")
    cell = board.get_by_label("W_k row 1 column 3")
    cell.evaluate("(node) => node.scrollIntoView()")  # the task is above the screen
    told = board.locator(".foot").get_by_role("button", name="Now say why")
    expect(told).to_be_hidden()
    cell.fill("2")
    cell.press("Enter")
    told.tap()
    expect(board.locator(".task select")).to_be_in_viewport()
    expect(told).to_be_hidden()


# What a finger has to hit, but for words of a sentence: what is lower or narrower than it should be. A cell is hit as a
# whole, and so is a label.
TOO_SMALL = """() => [...document.querySelectorAll("a[href], button, input, select, summary")].flatMap((node) => {
  if (node.closest("p, article li:not(.cards *), td:not(.cell), .skip, .sentence")) return [];
  const { width, height } = (node.closest("td.cell, label, .rail") ?? node).getBoundingClientRect();
  const isSeen = width && node.checkVisibility({ visibilityProperty: true });
  return isSeen && Math.min(width, height) < 43.5 ? [`${width} × ${height}: ${node.outerHTML.slice(0, 90)}`] : [];
})"""


def test_a_finger_hits_everything_on_a_phone_upright_or_not(phone):
    page, small = phone, {}
    for name in ("index", "record", "search", "01_by_hand", "04_multi_head"):
        page.goto(address_of(name))
        wake(page)
        for width, height in ((390, 844), (844, 390)):
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(TWO_FRAMES)
            small[name, width] = page.evaluate(TOO_SMALL)
        page.set_viewport_size({"width": 390, "height": 844})
    assert not any(small.values()), small


# ------------------------------------------------------------------------------------------------------- guesses


def first_question(page):
    """The first question of notebook 1: the new row of bank, (0.5, 1.5)."""
    form = page.locator("#guess-new-bank")
    return form, form.locator("input"), form.get_by_role("status")


def ask(line, guess):
    line.fill(guess)
    line.press("Enter")


def test_a_right_guess_opens_its_answer_and_is_counted(reader):
    page = reader("01_by_hand")
    form, line, verdict = first_question(page)
    fold = page.locator("details.after-guess").first
    ask(line, "  ")
    verdict.get_by_text("still empty").wait_for()  # which costs no try
    ask(line, "1, 3")
    verdict.get_by_text("Try again.").wait_for()  # and says which slip it is
    assert fold.get_attribute("open") is None and not form.get_by_text("The answer").is_visible()
    fold.evaluate("(node) => node.insertAdjacentHTML('afterend', `<h3>More</h3>${node.outerHTML}`)")  # no answer to it
    line.fill("[0.5, 1.5]")
    form.get_by_role("button", name="Check").click()
    verdict.get_by_text("✓ Right.").wait_for()
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()
    assert not form.locator(".how").is_visible(), "how to write it is no answer to what was read"
    assert page.locator("details.after-guess[open]").count() == 1  # the next question's stays shut
    assert not form.get_by_role("button", name="Show me").count() and seen_by(page)["faint"] == []

    questions = page.locator("form.guess[data-again=false]").count()
    counted = page.get_by_text(f"1 of {questions} guesses right", exact=True)
    counted.wait_for()
    page.reload()
    form, line, verdict = first_question(page)
    verdict.get_by_text("✓ Right.").wait_for()
    ask(line, "7, 7")  # what was right stays so; the other guess is judged all the same
    for _ in range(2):
        verdict.get_by_text("Neither of the two numbers is right.").wait_for()
        assert "Try again" not in verdict.inner_text() and form.get_by_text("The answer").is_visible()
        counted.wait_for()
        page.reload()
        form, line, verdict = first_question(page)


def test_one_line_stands_below_a_question_until_it_is_answered(reader):
    page = reader("09_two_heads")
    below = """(form) => {
      const rest = [...document.querySelectorAll("form.guess, h2, h3, details.after-guess, .tag_answer details")];
      const own = rest.slice(rest.indexOf(form) + 1);
      const folds = own.slice(0, own.findIndex((node) => !node.matches("details")));
      return [folds.length, folds.filter((fold) => fold.checkVisibility()).length, folds.every((fold) => fold.open)];
    }"""
    form = page.locator("#guess-moment")
    many, seen, _ = form.evaluate(below)
    assert many > 2 and seen == 1
    ask(form.locator("input"), "1")
    form.get_by_text("The answer: 1").wait_for()
    assert form.evaluate(below) == [many, many, True]
    page.goto(address_of("06_bug_clinic") + "#claim-suite")  # which stands in the second of two folds
    page.locator("#claim-suite").wait_for()


def test_first_page_goes_on_where_one_stopped(reader):
    page = reader("index")
    onwards, ring = page.locator(".go-on"), page.locator(".cards .ring").first
    assert ring.get_attribute("aria-label") == "not begun" and "guess" in page.locator(".how-far").inner_text()
    onwards.click()
    page.wait_for_load_state()  # nobody types before scripts are there
    first = first_question(page)[1]
    ask(first, "1, 3")
    ask(first, "0.5, 1.5")
    ask(page.locator("#guess-likeness input"), "3, 5")
    questions = page.locator("form.guess[data-again=false]").count()
    page.go_back()
    page.get_by_text(re.compile(r"^1 begun. 2 guesses, 1 right at once")).wait_for()
    page.get_by_role("img", name=f"2 of {questions} guesses done").wait_for()
    assert "Go on" in onwards.inner_text() and onwards.get_attribute("href").endswith(f"{LESSONS[0]}.html")
    page.goto(address_of(LESSONS[0]))
    page.locator("form.guess .show").evaluate_all("(buttons) => buttons.forEach((button) => button.click())")
    page.goto(address_of("index"))
    page.get_by_role("img", name="finished").wait_for()
    assert "Begin" in onwards.inner_text() and onwards.get_attribute("href").endswith(f"{LESSONS[1]}.html")


def test_where_you_stand_names_the_lessons_that_slipped(reader):
    page = reader("index")
    page.goto(f"{SERVED}notebooks/{STANDING}.html")
    result, forms = page.locator(".standing"), page.locator("form.guess")
    for form in forms.all():
        ask(form.locator("input"), "3")  # right of one or two at most
    count = forms.count()
    result.get_by_text(
        re.compile(rf"^{count} of {count} answered, \d right at once. To open again: lesson 1, lesson 2")
    ).wait_for()
    result.get_by_role("link", name="lesson 2").click()
    page.get_by_role("heading", level=1, name=re.compile("^2")).wait_for()
    page.goto(address_of("index"))
    expect(page.locator(".how-far p")).to_have_text(re.compile(rf"^{count} guesses, \d right at once"))
    assert "Begin" in page.locator(".go-on").inner_text()


def test_two_wrong_guesses_or_giving_up_show_the_answer(reader):
    page = reader("01_by_hand", "phone, dark")
    form, line, verdict = first_question(page)
    again = {"7, 7": True, "many": False, "7,7": True, "8, 8": False}  # what is no number, or the same, does not count
    for guess, once_more in again.items():
        assert not form.get_by_text("The answer").is_visible()
        ask(line, guess)
        verdict.get_by_text("could not be read" if guess == "many" else "✗").wait_for()
        assert ("Try again" in verdict.inner_text()) == once_more, guess
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()
    other = page.locator("form.guess").nth(3)
    other.get_by_role("button", name="Show me").click()
    other.get_by_text("The answer").wait_for()
    open_after = """(form) => [...document.querySelectorAll('.tag_answer details[open]')].filter(
        (fold) => form.compareDocumentPosition(fold) & Node.DOCUMENT_POSITION_FOLLOWING).length"""
    assert other.evaluate(open_after)
    assert not page.locator("form.guess").nth(4).evaluate(open_after), "the next question's code stays folded"
    page.get_by_text(re.compile(r"^0 of \d+ guesses right$")).wait_for()
    page.reload()
    other.get_by_text("The answer").wait_for()
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()


def test_an_exercise_in_numbers_names_the_mistake_only(reader):
    page = reader("01_by_hand")
    form = page.locator("form.guess[data-again=true]").first
    outputs = self_attention_steps(X, W_q, W_k, W_v, scale=1).outputs[1].tolist()  # of the wrong sentence
    for digits in (3, 4, 5):
        ask(form.locator("input"), ", ".join(f"{number:.{digits}f}" for number in outputs))
        form.get_by_role("status").get_by_text("This is an output of I like tea").wait_for()
        assert "Try again" not in form.inner_text()  # it may be tried for ever
    ask(form.locator("input"), f"{EXERCISES['1.1'].answer}")
    form.get_by_role("status").get_by_text("✓").wait_for()
    page.get_by_text(re.compile(r"^0 of \d+ guesses right$")).wait_for()  # an exercise is none
    assert form.locator(".answer[hidden]").count() == 1 and not form.locator(".answer").inner_text()


# ---------------------------------------------------------------------------------------------------- boards


def edit(page, number, place="W_q row 1 column 1"):
    cell = page.get_by_label(place, exact=True)
    cell.fill(str(number))
    cell.press("Enter")
    page.get_by_role("status").get_by_text(f"{place} is now {number}.".replace("-", "−")).wait_for()


def test_numbers_typed_into_a_page_give_what_attn_lib_does(reader):
    page = reader("index")
    inputs = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v}
    generator = torch.Generator().manual_seed(5)
    for name in inputs:
        matrix = inputs[name] = inputs[name].double()
        row, column = (int(torch.randint(size, (), generator=generator)) for size in matrix.shape)
        matrix[row, column] = number = round(float(torch.randn((), generator=generator)) * 2, 3)
        edit(page, number, f"inputs X {TOKENS[row]}, column {column + 1}" if name == "X" else
             f"{name} row {row + 1} column {column + 1}")  # fmt: skip
    steps = self_attention_steps(*inputs.values(), scale=1)
    for i, row in enumerate(steps.outputs.tolist()):
        for j, number in enumerate(row):
            label = page.get_by_label(f"outputs {TOKENS[i]}, column {j + 1}: ").get_attribute("aria-label")
            assert abs(float(label.split(": ")[1].replace("−", "-").replace("≈", "")) - number) < 0.0051


# What a finger changes elsewhere: the texts of results, and of what is said of a number, that nothing lies on.
IN_VIEW = """(board) => {
  const there = (node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    return width && seen && (node.contains(seen) || seen.contains(node));
  };
  const told = "td.result, .why, .edited, .mini .tone > div, .word-line, .say";
  const parts = [...board.querySelectorAll(told)].filter(there);
  return parts.map((node) => node.textContent);
}"""


def come_to(page, board):
    """The first such board of a page, though boards wake only as they come near."""
    wake(page)
    return page.locator(board).first


def unfold(page):
    """Open what waits under the headings of second readings."""
    page.evaluate("document.querySelectorAll('details.second-reading').forEach((fold) => (fold.open = true))")


def wake(page):
    """Come near each board."""
    unfold(page)
    for place in page.locator(".saved-board").all():
        place.scroll_into_view_if_needed()
        place.locator(".attn-board, .attn-figure").first.wait_for(state="attached")


def seen_otherwise(page, board, before):
    """Waits until something else is in view."""
    changed = f"([node, before]) => JSON.stringify(({IN_VIEW})(node)) !== before"
    page.wait_for_function(
        changed, arg=[board.element_handle(), json.dumps(before, separators=(",", ":"), ensure_ascii=False)]
    )


def second_readings_wait_under_their_headings(page):
    """A press on a heading opens it."""
    folds = page.locator("details.second-reading")
    for fold in folds.all():
        expect(fold.locator(":scope > summary :is(h2, h3)")).to_be_visible()
        expect(fold.locator(":scope > :not(summary)").first).to_be_hidden()
    if folds.count():
        folds.first.locator("summary").first.click()
        expect(folds.first.locator(":scope > :not(summary)").first).to_be_visible()


@pytest.mark.parametrize("name", ["index", LESSONS[0], LESSONS[3], LESSONS[10], LESSONS[12]])
def test_on_a_phone_a_tap_and_an_edit_change_a_board(phone, name):
    """On boards of numbers, of heads, of a story and of the real model."""
    page = phone
    page.goto(address_of(name))
    if name == "index":
        grip = page.get_by_role("slider").first.bounding_box()
        assert grip["y"] + grip["height"] <= 844, "a visitor's first number is on the first screen"
    else:
        second_readings_wait_under_their_headings(page)
    board = come_to(page, ".attn-board:has(td.input, .words .word)")
    if board.locator("td.input").count():
        choose(board, "Random")  # between zeros one number may well change nothing
    cells, moved = board.locator("td.input input, td.input .switch, .words .word").filter(visible=True), []
    # on lesson 13's board a piece moves colours alone, and a phrase the numbers
    phrase = page.get_by_role("button", name="The capital of Germany is").first
    last = phrase if page.locator(".attn-board.real").count() else cells.last
    for cell in (cells.first, last):
        cell.evaluate("(node) => node.scrollIntoView({ block: 'center', behavior: 'instant' })")
        before = board.evaluate(IN_VIEW)
        cell.tap()
        seen_otherwise(page, board, before)
        if cell.evaluate("(node) => node.matches('input')"):
            board.get_by_label("one more").wait_for()
            more = board.get_by_label("one more").bounding_box()
            assert more["y"] + more["height"] <= 844, "the stepper is out of sight"
            page.touchscreen.tap(more["x"] + 9, more["y"] + 9)
            page.evaluate(TWO_FRAMES)
        moved.append(board.evaluate(IN_VIEW)[1:] != before[1:])
    assert any(moved)


def test_a_sentence_makes_the_board_ready(reader):
    page = reader("01_by_hand", "phone, dark")
    board = page.get_by_role("group", name="Self-attention by hand", exact=True)
    page.get_by_role("button", name="set all of W_k to 0").click()
    board.get_by_label("weights I → tea: 0.33").wait_for()
    top = "(node) => node.closest('.saved-board').getBoundingClientRect().top"
    assert -1 < board.evaluate(top) < 300, "the board has been brought into view, from where it begins"


def test_a_sentences_number_is_moved_by_keys_and_by_a_hand(reader):
    page = reader("04_multi_head")
    board = page.get_by_role("group", name="Two heads", exact=True)
    slider = page.get_by_role("slider", name="cut after the … feature")
    control = board.get_by_label("Cut after feature")

    def both_say(word, number):
        said = "([slider, control, word, number]) => slider.ariaValueText === word && control.ariaValueText === number"
        page.wait_for_function(said, arg=[slider.element_handle(), control.element_handle(), word, number])

    slider.focus()
    slider.press("Enter")
    both_say("first", "1")
    slider.press("End")
    both_say("third", "3")
    control.press("ArrowLeft")
    both_say("second", "2")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] - 300, box["y"] + 5, steps=9)
    page.mouse.up()
    both_say("first", "1")
    board.get_by_role("button", name="Undo").click()
    both_say("second", "2")


def test_every_phrase_that_a_board_knows_can_be_pressed_or_moved(pages, reader):
    seen = 0
    for path, page in pages.items():
        for place in page.select("[data-id]:has(.saved-board)"):
            spec = json.loads(place.select_one(".saved-board script").string)["spec"]
            tries = spec["tries"]
            if spec.get("kind") == "story":  # a phrase sets a whole text
                words = [" ".join(one["sets"]["inputs"]["text"]) for one in tries]
                assert words == texts_of_phrases(reader(path.stem), place["data-id"], [one["said"] for one in tries])
                seen += len(tries)
                continue
            found = [json.loads(one["data-now"]) for one in page.select(f'.try[data-board="{place["data-id"]}"]')]
            numbers = [
                json.loads(one["data-number"]) for one in page.select(f'[data-number][data-board="{place["data-id"]}"]')
            ]
            found += [number["sets"][number["at"]] for number in numbers]
            assert all(one["sets"] in found for one in tries), (path.name, tries)
            seen += len(tries)
    assert seen > 5


def texts_of_phrases(page, id, phrases):
    """The text that stands on a board of words after each of its phrases was pressed."""
    board, found = come_to(page, f"[data-id='{id}'] .attn-board"), []
    for phrase in phrases:
        page.locator(f'.try[data-board="{id}"]').get_by_text(phrase, exact=True).first.click()
        found.append(" ".join(board.locator(".words .word .name").all_inner_texts()[1:]))
    return found


def test_a_page_stands_still_for_whom_motion_disturbs(reader):
    page = reader("index", motion="reduce")
    assert page.evaluate("scrollTo(0, 300), scrollY") == 300, "it glides there"


# ------------------------------------------------------------------------------------- what is kept, and links

# Pastes an address with this behind its # and waits until the page has taken it up.
PASTE = """(hash) => new Promise((taken) => {
  addEventListener("hashchange", taken, { once: true });
  location.hash = hash;
})"""
FIRST = "document.querySelector('[aria-label=\"W_q row 1 column 1\"]').value"
LINK = "Link to these numbers"
NOTICE = "document.querySelector('.board-notice').textContent"


def link_to(page):
    """What the button makes of the address: the part behind its #."""
    choose(page.locator(".attn-board").first, LINK)
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    return page.url.partition("#")[2]


def test_what_was_typed_is_kept_however_a_page_is_left(reader):
    page = reader("index")
    cell = page.get_by_label("W_q row 1 column 1", exact=True)
    cell.fill("7")
    page.reload()
    assert page.evaluate(FIRST) == "7"
    link_to(page)
    cell.fill("8")
    page.get_by_role("link", name="Begin with lesson 1").click()
    page.wait_for_url("**/01_by_hand.html")
    page.go_back()
    assert page.evaluate(FIRST) == "8" and "#" not in page.url, "the address still says 7"


def test_a_guess_half_typed_is_kept_and_not_asked(reader):
    page = reader("01_by_hand")
    first_question(page)[1].press_sequentially("0.5,")
    page.reload()
    assert first_question(page)[1].input_value() == "0.5,"
    assert not first_question(page)[2].count()


def test_a_closed_tab_leaves_its_numbers_to_the_next(reader):
    page = reader("index")
    edit(page, 7)
    page.evaluate("sessionStorage.clear()")
    page.goto(address_of("search"))
    page.goto(address_of("index"))
    assert page.evaluate(FIRST) == "7" and "last time" in page.evaluate(NOTICE)
    choose(page.locator(".attn-board").first, "Reset")
    assert page.evaluate(NOTICE) == ""


STORED = {  # what a visitor's browser may hold: half written, of another version of the site
    "01_by_hand": ["{", '{"guess-gone": {"text": "1", "right": true}, "guess-none": null}'],
    "01_by_hand:typed": ["{", '"a"'],
    "01_by_hand:board-0": ["{", '{"inputs": {"X": [[1]]}, "settings": {}, "past": [{}]}'],
}


def test_what_a_browser_has_stored_never_breaks_a_page(reader):
    for which in range(2):
        page = reader("01_by_hand")
        for key, texts in STORED.items():
            stored = [f"attention:/:{key}", texts[which]]
            page.evaluate("([key, text]) => (localStorage[key] = sessionStorage[key] = text)", stored)
        page.reload()
        board = page.locator(".saved-board").first
        kept, start = board.evaluate("(board) => [board.now().inputs, board.start.inputs]")
        assert kept == start
        ask(first_question(page)[1], "[0.5, 1.5]")
        first_question(page)[2].get_by_text("✓ Right.").wait_for()


def test_undo_and_a_task_done_survive_a_reload(reader):
    page = reader("03_masking")
    board = page.get_by_role("group", name="Paint a mask")
    wake(page)
    for column in range(4):
        board.get_by_label(f"mask q1 → k{column}").click()
    done = board.locator(".task").first.inner_text()
    page.reload()
    board.locator(".task").first.wait_for()  # its fold is open as it was
    assert board.locator(".task").first.inner_text() == done and "✓" in done
    board.get_by_role("button", name="Undo").click()
    assert board.get_by_label("mask q1 → k3").get_attribute("aria-pressed") == "true"


UNTOUCHED = """() => {
  const numbers = ({ inputs, settings }) => JSON.stringify([inputs, settings]);
  return [...document.querySelectorAll(".saved-board")].map((one) => numbers(one.now()) === numbers(one.start));
}"""  # with all of them awake


def test_each_board_of_a_page_keeps_its_own_numbers(reader):
    page = reader("01_by_hand")
    titles = "The query of barks", "Self-attention by hand"
    figure, board = (page.get_by_role("group", name=title, exact=True) for title in titles)
    turned, cell = figure.get_by_role("slider"), board.get_by_label("W_v row 1 column 1", exact=True)
    wake(page)
    turned.fill("-90")
    ask(cell, "8")
    page.reload()
    wake(page)
    assert [one.input_value() for one in (turned, cell)] == ["-90", "8"]
    page.goto(address_of("index"))
    assert page.evaluate(UNTOUCHED)[0], "another page has numbers of its own"
    page.goto(address_of("01_by_hand"))
    wake(page)
    assert [one.input_value() for one in (turned, cell)] == ["-90", "8"], "who comes back finds them"
    page.locator(".saved-board").last.scroll_into_view_if_needed()
    choose(page.locator(".saved-board").last.locator(".attn-board"), LINK)
    page.get_by_text("Copied.").wait_for()
    link = page.url.partition("#")[2]
    page.evaluate("sessionStorage.clear(), localStorage.clear()")
    page.goto(f"{address_of('01_by_hand')}?sent#{link}")
    assert page.evaluate(UNTOUCHED)[-2:] == [True, False], "a link is to one board"


def test_the_door_stands_before_its_scripts_and_stays_as_it_is(built, browser, served):
    context = browser.new_context(**served, viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page, waiting = context.new_page(), []
    page.route(re.compile(r"/_static/\w+\.js"), lambda route: waiting.append(route))
    page.goto(SERVED, wait_until="commit")
    grip, shares = page.get_by_role("slider").first, page.locator("[data-first] .share")
    grip.wait_for()

    def percents():
        return [int(share.rstrip(" %")) for share in shares.all_text_contents()]

    things = page.locator("h1, [data-first] :is(p, button, input, a)").element_handles()

    def places():
        return [thing.bounding_box() for thing in things]

    before = percents()
    assert sum(before) == 100 and not page.evaluate("'attnBoards' in window"), "numbers are there, and no script"
    grip.press("ArrowRight")
    page.wait_for_function("(text) => !document.body.innerText.includes(text)", arg=f"{before[-1]} %")
    page.evaluate("document.fonts.ready.then(() => {})")
    moved, where = percents(), places()
    assert sum(moved) == 100 and moved[-1] > before[-1]
    for route in waiting:
        route.fulfill(path=built / urlsplit(route.request.url).path[1:])
    page.unroute_all()
    page.locator("[data-numbers] .attn-board").wait_for()
    assert (percents(), places()) == (moved, where), "what comes later moves nothing, and takes nothing back"
    assert grip.evaluate("(node) => node === document.activeElement")
    page.reload()
    page.locator("[data-numbers] .attn-board").wait_for()
    assert percents() == moved, "it was kept, though no script was there yet that keeps things"
    context.close()


def test_a_link_shows_its_numbers_until_they_are_changed(reader):
    page = reader("index")
    edit(page, 7)
    link = link_to(page)
    edit(page, 8)
    assert "#" not in page.url, "the address says what stands there, or nothing"
    page.goto(address_of("01_by_hand"))
    page.go_back()
    assert page.evaluate(FIRST) == "8", "what was done last, not the link"
    page.evaluate("scrollTo(0, 1e6)")
    page.evaluate(PASTE, link)
    assert page.evaluate(FIRST) == "7"
    assert page.locator(".saved-board").evaluate("(board) => board.getBoundingClientRect().top < innerHeight / 2")
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate(FIRST) == "8", "a link can be undone"
    page = reader("index", "phone, dark", asking=f"?another#{link}")  # another visitor's
    assert page.evaluate(FIRST) == "7"
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject())")
    choose(page.locator(".attn-board"), LINK)
    page.get_by_text("The link stands in the address bar.").wait_for()


def test_a_link_holds_a_choice_with_signs_beyond_ascii(reader):
    page = reader("03_masking")
    wake(page)
    board = page.get_by_role("group", name="Paint a mask")
    filled = board.locator("select", has=page.locator("option", has_text="−1e9 before softmax"))
    filled.select_option("−1e9 before softmax")
    chosen = filled.input_value()
    choose(board, LINK)
    page.get_by_text("Copied.").wait_for()
    page = reader("03_masking", asking=f"?another#{page.url.partition('#')[2]}")
    assert filled.input_value() == chosen != "0"


def test_a_damaged_link_is_read_or_says_so(reader):
    page = reader("index")
    edit(page, 7)
    link, state = link_to(page), page.evaluate("document.querySelector('.saved-board').now()")
    for as_sent in (f"{link.replace('=', '%3D')}.", link.replace("&", "&amp;")):
        page = reader("index", asking=f"?sent#{as_sent}")
        assert page.evaluate(FIRST) == "7" and page.evaluate(NOTICE) == "", as_sent
    spoilt = [{}, {**state, "inputs": {**state["inputs"], "W_q": [[7, 7]]}}]
    spoilt += [{**state, "settings": {**state["settings"], name: "none of them"}} for name in state["settings"]]
    links = [f"board=0&now={base64.urlsafe_b64encode(json.dumps(one).encode()).decode()}" for one in spoilt]
    for spoilt in (*links, link[:-8], "board=0", link.replace("board=0", "board=9")):
        page = reader("index", asking=f"?sent#{spoilt}")
        assert page.evaluate(FIRST) == "1" and "damaged" in page.evaluate(NOTICE), spoilt
        page.evaluate(PASTE, link)
        assert page.evaluate(FIRST) == "7" and page.evaluate(NOTICE) == ""


# ------------------------------------------------------------------------------------------------------- print


def test_in_print_hints_and_answers_stand_at_the_end(reader):
    page = reader("01_by_hand")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    ends = page.locator("article > section.answers")
    hints, end = ends.first, ends.last
    questions = page.locator("form.guess[data-again=false]").count()
    assert end.locator(".answered").count() == questions and "[0.5, 1.5]" in end.inner_text()
    assert end.evaluate("(node) => node === node.parentElement.lastElementChild")
    assert end.text_content().count(page.locator("details.after-guess p").first.text_content()) == 1
    assert not page.locator("form.guess .answer").first.is_visible()
    assert not page.locator("details.after-guess").first.is_visible()
    for folded in ("filled", "answer", "set-up"):
        code = page.locator(f".tag_{folded} details")
        assert code.count() and not code.and_(page.locator("[open]")).count()
    asked = page.locator(".hints")
    told = asked.last.locator("details").last.evaluate("(fold) => fold.lastChild.textContent")
    assert told in hints.text_content() and not asked.last.is_visible()
    assert hints.locator(".answered").count() == asked.count()
    assert not any(button.is_visible() for button in page.locator("article button:not(.saved-board *, .try)").all())
    assert page.locator(".saved-board").count() == page.locator(":is(.attn-board, .attn-figure)").count(), (
        "all have come"
    )
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert ends.count() == 0, "all is as it was before"
    page.goto(address_of("index"))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert ends.count() == 0, "a page without questions has no answers"


def test_what_a_phone_brings_is_kept_joined_and_forgotten(built, reader):
    page = reader("record", asking="#on=2026-05-03&03.after-softmax=1&03.after-softmax=less&03.padding-heard=0")
    page.get_by_text("You said 1, then less.").wait_for()
    assert "#" not in page.url, "what was guessed is in no history"
    links = page.locator("#record ul a")
    assert links.count() == 1, "what was wrong in the end is to be read again"
    target = links.first.get_attribute("href")
    assert f'id="{target.partition("#")[2]}"' in (built / target.partition("#")[0]).read_text(encoding="utf-8")
    page.goto(f"{page.url}#on=2026-05-10&01.new-bank=0.5%3B+1.5&99.x=1&03.moved=%3Cimg+src%3Dx%3E")
    page.get_by_text("You said 0.5, 1.5.").wait_for()
    page.get_by_text("You said <img src=x>").wait_for()
    assert page.locator("#record .kept-guess").count() == 4 and page.locator("#record img").count() == 0
    assert [page.locator("#record h2").nth(i).inner_text()[0] for i in (1, 2)] == ["1", "3"]
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget").click()
    page.get_by_text("Nothing is kept here yet.").wait_for()
    page.reload()
    page.get_by_text("Nothing is kept here yet.").wait_for()
