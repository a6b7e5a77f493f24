"""The deck, as a file and live: what a hall sees, what a lecturer's keys do, and what an accident leaves."""

import itertools
import json
import os
import re
import urllib.error
import urllib.request
from base64 import b64decode
from contextlib import contextmanager
from functools import cache
from random import SystemRandom
from types import SimpleNamespace
from unittest import mock

import nbformat
import preloaded_kernels
import psutil
import pytest
import torch
from bs4 import BeautifulSoup
from contrast import CONTRAST
from lab_page import TOO_SMALL, wait_for

from authors.deck import build, notes, serve
from workbench.display.plots import curves

NOTEBOOKS = sorted(build.NOTEBOOKS.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
HALL, LAPTOP, PROJECTOR, OLD, PHONE = (1920, 1080), (1366, 768), (1280, 720), (1024, 768), (390, 844)
PATIENCE = 60_000  # ms for what the kernel has to do on a machine that is busy

SLIDE = "section.present > section.present "
IN_A_BOARD = SLIDE + ".attn-board :is(input, [tabindex='0'])"
COLOUR = "(node) => getComputedStyle(node).color"
BORDER = "(node) => getComputedStyle(node).borderLeftColor"
READY = "document.documentElement.dataset.python === 'ready'"
NUMBER = "Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1"

NEXT = "PageDown", "ArrowRight", "Space"  # which clickers send
MEASURED = {"title": "Time on this machine", "xlabel": "tokens", "ylabel": "ms"}

# Every slide, first as it comes up and then with all that can come: what is seen too early, cut, shrunk, small, beyond
# the edge, narrow or without a heading. Of all slides or of one, named by its number.
LOOK_AT_ALL = f"""(only) => {{
  {TOO_SMALL}
  {CONTRAST}
  const seen = (node) => node.checkVisibility({{ visibilityProperty: true, opacityProperty: true }});
  // Of a drawing: matplotlib draws letters as shapes of 100 units, an exponent within them smaller; diagrams have text.
  const smallestLetter = (img) => {{
    const svg = new DOMParser().parseFromString(atob(img.src.split(",")[1]), "image/svg+xml").documentElement;
    const [, , width, height] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
    const scale = (node) => {{
      const own = node.getAttribute("transform")?.match(/scale\\(([\\d.]+)/);
      return Number(own?.[1] ?? 1) * (node === svg ? 1 : scale(node.parentElement));
    }};
    const sizes = [...svg.querySelectorAll("g[transform*=scale] use")].map((letter) => 100 * scale(letter));
    for (const node of svg.querySelectorAll("[font-size]")) sizes.push(parseFloat(node.getAttribute("font-size")));
    const box = img.getBoundingClientRect();
    return Math.min(...sizes) * Math.min(box.width / width, box.height / height);
  }};
  const isText = (child) => child.nodeType === Node.TEXT_NODE && child.data.trim();
  const wrong = [];
  for (const [i, slide] of Reveal.getSlides().entries()) {{
    if (only && i + 1 !== only) continue;
    const {{ h, v }} = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    const say = (what, found = "") => wrong.push(`slide ${{i + 1}}: ${{what}} ${{found}}`);
    const question = slide.querySelector(".cell[data-question]");
    const answers = question && [question.querySelector(".outputs.saved")];
    for (let next = question; (next = next?.nextElementSibling); ) answers.push(next);
    if (answers?.some(seen)) say("answers a question before it is asked");
    if (question && !answers[0].textContent.trim()) say("has no answer to its question");
    const hidden = [...slide.querySelectorAll(".fragment:not(.visible)")];
    for (const part of hidden) part.classList.add("visible");
    const scale = Reveal.getScale(), box = slide.getBoundingClientRect();
    const [body, heading] = [".body", ".heading"].map((name) => slide.querySelector(name));
    if (!heading.textContent.trim()) say("has no heading");
    const look = getComputedStyle(heading), goesOn = heading.matches(".continued");
    if ((look.fontWeight < 600) !== goesOn || (look.color !== getComputedStyle(body).color) !== goesOn)
      say("has a heading of the wrong kind");
    if (look.textAlign !== "left") say("has a heading that begins anywhere");
    if ((parseFloat(look.fontSize) > 40) !== heading.matches("h1")) say("has a heading of the wrong size");
    const top = (heading.getBoundingClientRect().top - box.top) / scale;
    if (i && Math.abs(top - 26) > 1) say("has a heading that jumps to", top);
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) say("is cut");
    if (body.scrollHeight > body.clientHeight + 1) say("is longer than the screen");
    const parts = [...slide.querySelectorAll(".heading, .cell *")];
    const beyond = parts.find((node) => {{
      const own = node.getBoundingClientRect();
      if (!own.width || !own.height || node.closest("details:not([open])")) return false;
      return own.right > box.right + 1 || own.bottom > box.bottom + 1;
    }});
    if (beyond) say("has something beyond the edge:", beyond.outerHTML.slice(0, 80));
    const small = tooSmall(parts, scale);
    if (innerWidth >= 1280 && small.length) say("is hard to read:", small[0]);
    for (const img of slide.querySelectorAll(".cell img")) {{
      const share = img.getBoundingClientRect().width / box.width;
      if (img.matches(".drawing") && share < (img.matches(".broad") ? 0.65 : 0.5)) say("has a small drawing");
      const letter = smallestLetter(img);
      if (innerWidth >= 1280 && letter < 18) say("has letters that are small:", `${{letter}} px in ${{img.alt}}`);
    }}
    const told = [...slide.querySelectorAll("*")].filter((node) => [...node.childNodes].some(isText) && seen(node));
    for (const node of told) contrast(node, getComputedStyle(node));
    for (const words of faint.splice(0)) say("has words that are faint:", words);
    for (const part of hidden) part.classList.remove("visible");
  }}
  Reveal.slide(0, 0);
  return wrong;
}}"""


BACK_TO_THE_START = """() => {
  document.activeElement.blur();
  const shown = document.querySelectorAll(".fragment.visible");
  for (const part of shown) part.classList.remove("visible", "current-fragment");
  Reveal.slide(0, 0);
}"""


@pytest.fixture(scope="session")
def decks(built_once, notebooks_run_once):
    def build_all(folder):
        with notebooks_run_once():
            for path in NOTEBOOKS:
                (folder / f"{path.stem}.html").write_text(build.page(path), encoding="utf-8")

    return built_once("decks", build_all)


@pytest.fixture(scope="module")
def show(browser):
    """Opens a page at a size; notes what it complains of and what it asks a network for."""
    contexts = []

    def open_page(address, size=PROJECTOR, **options):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda told: told.type == "error" and page.complaints.append(told.text))
        page.goto(address)
        if size != PHONE:
            until(page, "window.Reveal && Reveal.isReady()")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def open_deck(decks, show):
    """The page of a deck, opened once, at its first slide and at the projector's size."""
    pages = {}

    def open_page(name):
        if name not in pages:
            pages[name] = show((decks / f"{name}.html").as_uri())
        page = pages[name]
        page.set_viewport_size({"width": PROJECTOR[0], "height": PROJECTOR[1]})
        page.evaluate(BACK_TO_THE_START)
        return page

    return open_page


def jump(page, number):
    for digit in str(number):
        page.keyboard.press(digit)
    page.keyboard.press("Enter")
    until(page, f"(n) => {NUMBER} === n", number)


def until(page, condition, arg=None):
    """Wait until it is so; asked at each frame, as usual, a page would draw sixty a second meanwhile."""
    page.wait_for_function(condition, arg=arg, polling=50)


def swipe(page, x, y, by=0, down=0):
    """A finger's, to the left where `by` is negative, and up where `down` is."""
    finger = page.context.new_cdp_session(page)
    for kind, at in [("Start", 0), *(("Move", part / 8) for part in range(1, 9)), ("End", None)]:
        points = [] if at is None else [{"x": x + at * by, "y": y + at * down}]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    finger.detach()


def number_of(page):
    return page.evaluate(NUMBER)


def slide_with(page, selector, nth=0):
    """The number of the first slide, or of a later one, that holds such an element."""
    found = "(s) => Reveal.getSlides().flatMap((slide, i) => (slide.querySelector(s) ? [i + 1] : []))"
    return page.evaluate(found, selector)[nth]


@cache
def slides_of(name):
    return notes.slides(nbformat.read(build.NOTEBOOKS / f"{name}.ipynb", as_version=4))


# ------------------------------------------------------------------------------------------------ what is seen


@pytest.mark.parametrize("name", NAMES)
def test_every_slide_fits_has_a_heading_that_does_not_jump_and_can_be_read_from_the_last_row(open_deck, name):
    page = open_deck(name)
    assert page.evaluate("Reveal.getTotalSlides()") == len(slides_of(name))
    assert not page.evaluate("document.getAnimations().some((one) => one instanceof CSSAnimation)"), "nothing moves"
    assert page.evaluate(LOOK_AT_ALL) == []
    assert page.complaints == [] and all(asked.startswith(("file:", "data:")) for asked in page.asked)


def test_a_plot_of_what_was_measured_can_be_read_whatever_the_machine(open_deck):
    page = open_deck("05_match_pytorch")
    plot = page.locator("img.drawing[alt^='Time on this machine']")
    here = page.evaluate("(img) => Reveal.getSlides().indexOf(img.closest('section')) + 1", plot.element_handle())
    before = plot.evaluate("(img) => img.outerHTML")
    for times in ([0.15, 0.5, 2, 7.8], [0.002, 0.002, 0.002, 0.003], [1, 2, 3, 4], [500, 9e3, 9e4, 3e6]):
        drawn = curves([128, 256, 512, 1024], {"ours": times}, **MEASURED, log_x=True, log_y=True)
        plot.evaluate("(img, html) => (img.outerHTML = html)", build.live.drawing(drawn))
        assert page.evaluate(LOOK_AT_ALL, here) == [], drawn.description
    plot.evaluate("(img, html) => (img.outerHTML = html)", before)


def test_the_numbers_of_a_table_are_as_large_as_the_words_beside_them_and_both_as_there_is_room(open_deck):
    """Sizes in px on every slide that has a table; whether one more would fit; and what prose has elsewhere."""
    sizes = """() => Reveal.getSlides().flatMap((slide) => {
      const table = slide.querySelector(".outputs table:not(.attn-board *)"), body = slide.querySelector(".body");
      const prose = slide.querySelector(".prose"), px = (node) => parseFloat(getComputedStyle(node).fontSize);
      const { h, v } = Reveal.getIndices(slide);
      Reveal.slide(h, v);
      if (!table) return prose ? [[px(prose), null, null]] : [];
      const size = px(table), words = prose ? px(prose) : size;
      body.style.setProperty("--words", `${size + 1}px`);
      const hasRoom = body.scrollHeight <= body.clientHeight + 1 && body.scrollWidth <= body.clientWidth + 1;
      body.style.setProperty("--words", `${size}px`);
      return [[words, size, hasRoom]];
    })"""
    found = [
        tuple(slide)
        for name in ("03_masking", "04_multi_head", "06_bug_clinic")
        for slide in open_deck(name).evaluate(sizes)
    ]
    crowded = {words for words, table, _ in found if table and table < 25}
    assert len(crowded) > 1 and min(crowded) >= 20
    assert {words == table for words, table, _ in found if table} == {True}
    assert not any(room for _, table, room in found if table and table < 25)
    assert {words for words, table, _ in found if not table} == {25}


def test_what_does_not_fit_becomes_smaller_and_then_scrolls(open_deck):
    page = open_deck("06_bug_clinic")
    fitted = """(lines) => {
      const body = Reveal.getCurrentSlide().querySelector(".body"), more = document.createElement("pre");
      more.textContent = "more\\n".repeat(lines);
      body.append(more);
      Reveal.next();
      Reveal.prev();
      const seen = [Number(body.style.zoom), body.style.overflowY];
      more.remove();
      Reveal.next();
      Reveal.prev();
      return [...seen, Number(body.style.zoom), body.style.overflowY];
    }"""
    size, scrolls, *before = page.evaluate(fitted, 0)
    assert [size, ""] == before and not scrolls
    smaller, scrolls, *after = page.evaluate(fitted, 15)
    assert smaller < size and after == before and not scrolls
    smallest, scrolls, *after = page.evaluate(fitted, 60)
    assert smallest < smaller and scrolls == "auto" and after == before


# Of each line of code that is broken: its characters, and how far its rest stands in, in characters.
BROKEN = """() => Reveal.getSlides().flatMap((slide) => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  for (const part of slide.querySelectorAll(".fragment")) part.classList.add("visible");
  if (slide.querySelector("img")) return [];
  return [...slide.querySelectorAll(".source .line")].flatMap((line) => {
    const range = document.createRange();
    range.selectNodeContents(line);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1), first = boxes[0];
    const rest = boxes.filter((box) => box.top > first.bottom - 5).map((box) => box.left);
    const letter = 0.6 * parseFloat(getComputedStyle(line).fontSize) * line.currentCSSZoom * Reveal.getScale();
    return rest.length ? [[line.textContent.trimEnd().length, (Math.min(...rest) - first.left) / letter]] : [];
  });
})"""


def test_a_line_of_code_is_whole_or_too_long_for_any_screen_and_then_its_rest_stands_in(open_deck):
    page = open_deck("10_writing_with_a_memory")
    assert page.locator(".source .line").filter(has_text="rotary(query, seen)").count()
    broken = page.evaluate(BROKEN)
    assert broken and min(length for length, _ in broken) > 105
    assert {round(stands_in) for _, stands_in in broken} == {8}
    page.evaluate(BACK_TO_THE_START)


def test_a_line_of_code_that_a_cell_shows_is_whole_too(open_deck):
    page = open_deck("06_bug_clinic")
    broken = """() => Reveal.getSlides().flatMap((slide) => {
      const { h, v } = Reveal.getIndices(slide);
      if (!slide.querySelector(".outputs pre")) return [];
      Reveal.slide(h, v);
      return [...slide.querySelectorAll(".outputs pre")].filter((pre) => pre.checkVisibility()).flatMap((pre) => {
        const lines = pre.textContent.trimEnd().split("\\n");
        const rows = pre.clientHeight / parseFloat(getComputedStyle(pre).lineHeight);
        const longest = Math.max(...lines.map((line) => line.length));
        return longest > 60 && longest < 85 ? [Math.round(rows) - lines.length] : [];
      });
    })"""
    assert set(page.evaluate(broken)) == {0}


def test_what_is_said_of_a_broad_diagram_stands_below_it_and_of_another_beside_it(open_deck):
    for name, broad in (("10_writing_with_a_memory", True), ("01_by_hand", False)):
        page = open_deck(name)
        jump(page, slide_with(page, ".prose picture"))
        parts = ("picture img", "p:not(:has(img))")
        picture, words = (page.locator(f"{SLIDE}.prose {part}").first.bounding_box() for part in parts)
        assert (words["width"] > picture["width"] - 1) == broad, name
        after = page.locator(f"{SLIDE}.prose:has(picture) > :last-child").bounding_box()
        assert (after["x"] > picture["x"] + picture["width"]) != broad, "all of it"


@pytest.mark.parametrize("size", [HALL, LAPTOP, OLD, (3840, 2160)], ids=str)
def test_other_screens_show_the_same_scaled_and_whole(open_deck, size):
    page = open_deck("01_by_hand")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    scale = min(size[0] / 1280, size[1] / 720)
    until(page, "(scale) => Math.abs(Reveal.getScale() / scale - 1) < 0.01", scale)
    assert page.evaluate(LOOK_AT_ALL) == []


def test_a_phone_held_upright_gets_a_page_to_scroll_in_letters_that_can_be_read(decks, show):
    page = show((decks / "03_masking.html").as_uri(), PHONE, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert page.evaluate("document.documentElement.scrollHeight") > 5 * PHONE[1]
    sizes = page.locator(".prose p").evaluate_all("(all) => all.map((p) => parseFloat(getComputedStyle(p).fontSize))")
    assert min(sizes) >= 16 and max(sizes) <= 20
    assert page.locator("section section .heading").last.is_visible()
    diagram = page.locator("picture img")
    drawn = diagram.evaluate("(img) => [img.naturalWidth < 510, img.clientWidth / img.naturalWidth]")
    assert drawn[0] and drawn[1] * 19 > 12, "a diagram stands upright"
    assert page.evaluate(COVERED) == []
    page.locator(".heading").nth(3).evaluate("(node) => scrollBy(0, node.getBoundingClientRect().top - 500)")
    before = page.evaluate("scrollY")
    swipe(page, 60, 510, down=-300)
    until(page, "(before) => scrollY > before", before)  # also by a finger on a heading
    cells = page.locator(".attn-board td.cell").evaluate_all("(all) => all.map((cell) => cell.offsetHeight)")
    assert min(cells) >= 44, "a finger hits a cell"
    assert page.locator(".attn-board .hint").evaluate_all(CUT_AT_THE_LEFT) == []
    question = page.locator(".cell.predict").first
    later = question.locator("xpath=following-sibling::*").first
    assert not question.locator(".outputs.saved").is_visible() and not later.is_visible()
    question.get_by_label("The hall's guess").fill("show me")
    for guess in ("91", "92"):
        question.get_by_label("The hall's guess").fill(guess)
        question.get_by_role("button", name="Answer").click()
    question.locator(".outputs.saved").wait_for()
    later.wait_for()
    assert "Try again" not in question.get_by_role("status").first.inner_text(), "what for?"
    line = page.locator(".source .line").first
    assert line.evaluate("(line) => parseFloat(getComputedStyle(line).paddingLeft)") < 20, "there is little room"
    assert 13 <= line.evaluate("(line) => parseFloat(getComputedStyle(line).fontSize)") <= 15
    page.get_by_role("button", name="nobody may hear the future").click()
    until(page, SEEN_FIRST)


# Whether a board stands at the top of the screen.
SEEN_FIRST = """[...document.querySelectorAll(".saved-board")].some(
  (board) => Math.abs(board.getBoundingClientRect().top) < 1
)"""

# Words that begin left of the place they stand in.
CUT_AT_THE_LEFT = """(all) => all.filter((node) => {
  const words = document.createRange();
  words.selectNodeContents(node);
  return words.getBoundingClientRect().left < node.getBoundingClientRect().left - 1;
}).map((node) => node.textContent)"""

# Headings over which something of a cell lies.
COVERED = """() => [...document.querySelectorAll(".heading")].filter((heading) => {
  const { bottom } = heading.getBoundingClientRect();
  const seen = [...heading.parentElement.querySelectorAll(".cell *")].filter((node) => node.checkVisibility());
  return seen.some((node) => node.getClientRects().length && node.getBoundingClientRect().top < bottom - 1);
}).map((heading) => heading.textContent)"""


def test_no_line_of_a_plot_hides_behind_its_legend():
    sizes, names = [4, 16, 64, 256, 1024], ("undivided", "divided by √d_k", "divided by d_k")
    for powers, moves in (((1, 0, -1), True), ((0, 0.1, 0.2), False)):
        series = {name: [size**power for size in sizes] for name, power in zip(names, powers, strict=True)}
        figure = curves(sizes, series, title="Variance", xlabel="d_k", ylabel="variance", log_x=True, log_y=True)
        (axes,) = figure.axes
        picture = b64decode(re.search(r'base64,([^"]+)', build.live.drawing(figure))[1])
        assert (b"opacity: 0.9" in picture) != moves, "only among the lines it has a frame"
        below = axes.get_legend().get_window_extent().y1 < axes.get_window_extent().y0
        assert below == moves, "where there is room it stands among the lines"
        columns = {round(words.get_window_extent().x0) for words in axes.get_legend().get_texts()}
        assert len(columns) == 1 + moves, "below it is no higher than it must be"
        assert axes.get_legend().get_frame_on() != moves and axes.get_legend().get_texts()[0].get_fontsize() == 12
    assert not build.live.hides_a_line(None), "a picture without a legend"
    around = curves([1, 2, 3, 4, 5], {"ours": [9, 8, 0, 8, 9], "PyTorch's": [8, 7, 0, 7, 8]}, **MEASURED)
    assert not build.live.hides_a_line(around.axes[0].legend(loc="center")), "lines that go around it"


def test_a_drawing_says_how_broad_it_is_and_is_whole():
    for size, shape in (((8, 4), "drawing broad"), ((7.9, 4), "drawing"), ((5.9, 4), "drawing upright")):
        figure = curves([1, 2], {"ours": [1, 2]}, **MEASURED)
        figure.set_size_inches(size)
        figure.text(0.5, -0.5, "below")
        image = BeautifulSoup(build.live.drawing(figure), "html.parser").img
        assert " ".join(image["class"]) == shape
        _, height = re.search(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"', b64decode(image["src"].partition(",")[2])).groups()
        assert float(height) > 1.4 * 72 * build.live.LARGER * size[1]


def test_dark_and_light_by_the_system_and_by_a_key(decks, show):
    address = (decks / "03_masking.html").as_uri()
    page = show(address, color_scheme="dark")
    assert page.locator(".jump, .python, .help").filter(visible=True).count() == 0, "nothing lies on the first slide"
    is_dark = "getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'"
    assert page.evaluate(is_dark) and page.evaluate(LOOK_AT_ALL) == []
    page.evaluate(BACK_TO_THE_START)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.evaluate(is_dark), "paper is white"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(is_dark)
    page.keyboard.press("d")
    assert not page.evaluate(is_dark) and page.evaluate(LOOK_AT_ALL) == []
    page.evaluate(BACK_TO_THE_START)
    page.keyboard.press("PageDown")
    page.reload()
    until(page, "window.Reveal && Reveal.isReady()")
    assert not page.evaluate(is_dark) and number_of(page) == 2
    page.goto("about:blank")
    page.goto(address)
    until(page, "window.Reveal && Reveal.isReady()")
    assert number_of(page) == 1, "whoever comes again begins at the beginning"


# How each picture's address begins, its description, and whether it is a cell's output.
PICTURES = """[...document.images].map((img) => [
  img.getAttribute("src").slice(0, 30), img.alt, Boolean(img.closest(".outputs"))
])"""


def test_a_deck_is_one_file_with_described_pictures_and_links_to_the_other_decks(decks, open_deck):
    for name in NAMES:
        page = open_deck(name)
        assert not page.query_selector("link:not([href^='data:']), script[src]")
        assert page.evaluate("document.documentElement.lang") == "en", "so that it is read aloud in English"
        for source, description, drawn in page.evaluate(PICTURES):
            # a plot is to stay sharp at any size
            assert source.startswith("data:image/svg+xml" if drawn else "data:") and len(description) > 20, description
        for link in page.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))"):
            assert link.startswith(("https://", "#")) or (decks / link.split("#")[0]).is_file()


# What of the slides is on no page of paper, or lies outside its page.
MISSING_ON_PAPER = """() => {
  const bare = (text) => text.replace(/\\s/g, ""), pages = new Map();
  const pageOf = (part) => part.closest("section section"), numberOf = (page) => parseInt(page.dataset.number);
  const beyond = (part) => {
    const [own, page] = [part, pageOf(part)].map((node) => node.getBoundingClientRect());
    return own.left < page.left || own.top < page.top || own.right > page.right || own.bottom > page.bottom;
  };
  const seen = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const told = (node, shows) => {
    const words = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), found = [];
    while (words.nextNode()) if (shows(words.currentNode.parentElement)) found.push(words.currentNode.data);
    return bare(found.join(""));
  };
  for (const page of document.querySelectorAll("section section")) {
    pages.set(numberOf(page), (pages.get(numberOf(page)) ?? "") + told(page, seen));
  }
  const cells = ".slides > :not(.answers) .cell:not(.unseen)";
  const parts = [...document.querySelectorAll(`${cells} :is(p, li, pre, table, .line)`)];
  const wanted = parts.filter((part) => !part.closest(".attn-board, details, .shown, aside"));
  const isRead = (node) => !node.closest("annotation");
  const missing = wanted.filter((part) => !pages.get(numberOf(pageOf(part))).includes(told(part, isRead)));
  const drawn = [...document.querySelectorAll(".cell img, .attn-board")];
  const unseen = drawn.filter((part) => !part.closest(".waits") && !seen(part));
  const cut = [...document.querySelectorAll(".heading, .cell *")]
    .filter((part) => part.checkVisibility() && part.getBoundingClientRect().width && beyond(part));
  const name = (part) => `${numberOf(pageOf(part))}: ${part.outerHTML.slice(0, 90)}`;
  const say = (what, found) => found.map((part) => `${what} on page ${name(part)}`);
  return [...say("missing", missing), ...say("blank", unseen), ...say("cut", cut)];
}"""


@contextmanager
def on_paper(page):
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    try:
        yield
    finally:
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")


@pytest.mark.parametrize("name", NAMES)
def test_every_text_output_and_answer_of_the_slides_is_on_paper(open_deck, name):
    page = open_deck(name)
    with on_paper(page):
        assert page.evaluate(MISSING_ON_PAPER) == []
        questions = page.locator(".slides > :not(.answers) .cell[data-question]")
        assert not questions.locator(".outputs.saved").filter(visible=True).count(), "before it is asked"
        assert page.locator(".answers [data-question] .outputs.saved").filter(visible=True).count() == questions.count()
    assert page.locator(".answers").count() == 0 and page.evaluate("Reveal.getTotalSlides()") == len(slides_of(name))


def test_a_page_of_paper_is_a_slide_whatever_the_screen_and_the_browsers_margins(open_deck):
    page = open_deck("05_match_pytorch")
    page.set_viewport_size({"width": HALL[0], "height": HALL[1]})
    around = dict.fromkeys(("top", "right", "bottom", "left"), "1cm")  # what a browser proposes
    pdf = page.pdf(prefer_css_page_size=True, print_background=True, margin=around)
    assert set(re.findall(rb"/MediaBox\s*\[([^]]*)\]", pdf)) == {b"0 0 960 540"}, "in points"
    asks = page.evaluate("Reveal.getSlides().filter((slide) => slide.querySelector('.waits')).length")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == len(slides_of("05_match_pytorch")) + asks


def test_a_sentence_leads_to_its_board_and_makes_it_ready(open_deck):
    page = open_deck("03_masking")
    jump(page, slide_with(page, "button.try"))
    sentence = page.get_by_role("button", name="nobody may hear the future")
    assert sentence.evaluate("(node) => getComputedStyle(node).borderTopWidth") == "0px", "it is read as a sentence"
    sentence.click()
    until(page, f"(n) => {NUMBER} === n", slide_with(page, ".saved-board"))
    page.get_by_label("weights q0 → k0: 1").wait_for()
    assert not page.locator(SLIDE + "[title='Larger type']").first.is_visible(), "it is large enough"


# ------------------------------------------------------------------------------------------------ what is said


def test_a_slide_shows_a_long_cells_first_sentences_or_those_named_and_the_notes_have_the_rest():
    long = " ".join(f"Sentence number {i} has a few words more than it needs." for i in range(8))
    shown, said = build.shortened(f"{long}\n\n$$x$$\n\n**Predict.** What comes out? Say it.")
    assert (
        shown
        == "Sentence number 0 has a few words more than it needs.\n\n$$x$$\n\n**Predict.** What comes out? Say it."
    )
    assert len(said) == 7 and said[0].startswith("Sentence number 1")
    shown, said = build.shortened(long, ["Sentence number 3", "Sentence number 5"])
    assert re.findall(r"\d", shown) == ["3", "5"] and len(said) == 6
    short = "Five words, nine times over. " * 9
    assert build.shortened(f"{long}\n\n**Bold.** Words.", ["Sentence number 3"])[1][-1] == "**Bold.** Words."
    listed = "1. One thing. And why.\n2. Another. And why."
    assert build.shortened(f"{long}\n\n{listed}")[0].endswith(listed)
    rows = "\n".join(50 * ["| a | b |"])
    with_much = f"One. Two.\n\n{rows}\n\n$${50 * 'x '}$$\n\n![{50 * 'word '}](x.svg)"
    assert build.shortened(with_much) == (with_much, []), "what is no sentence has no words"
    assert build.shortened(short) == (short, []) and build.shortened(f"{short}One more.")[1] == ["One more."]
    assert build.shortened("One.\n\nTwo. Three.", ["Two"]) == ("Two.", ["One.", "Three."])
    sentences = ["One (as here.)", "Two.", "*Three.* `four` is?", "$x$!", "(Six.)", "[Seven](x).", "“Eight.” is 1.5."]
    assert build.SENTENCE.split(" ".join(sentences)) == sentences
    for block in ("$$x$$", "![a](b)", "| a |", "- a", "* a", "2. a", "<b>a</b>", "```\na\n```", "# A"):
        assert not build.is_prose(block), block
    assert all(map(build.is_prose, ("A.", "*A* is.", "-1 is.", "1.5 is.", "$x$ is.")))
    assert build.words_of("a $$x\ny$$ <b class=x>b</b> ![no word](x) c\n| d |\ne") == list("abce")


def test_cells_become_slides_with_headings_numbers_steps_and_what_is_left_to_the_speaker(tmp_path):
    long = " ".join(f"Sentence number {i} has a few words more than it needs." for i in range(8))
    there = "[number 7](03_masking.ipynb#masks)"
    question = {"answer": "The answer: 2", "leaves": [2], "alone": True, "within": 0, "slips": []}
    made = [
        ("markdown", "# Title\n\nText.", "slide", {}),
        ("code", "import math", None, {"slide": []}),
        (
            "markdown",
            "## First\n\nShort.",
            "slide",
            {"speaker": {"minutes": 2, "say": "Say <this>.", "ask": "Who <is>?"}},
        ),
        ("code", "x = 1", None, {}),
        ("markdown", "### Later\n\nOn.", "fragment", {}),
        ("code", "asked", "subslide", {}),
        ("markdown", "It answers.", None, {}),
        ("markdown", "Not on a slide.", "skip", {}),
        ("markdown", f"## Second\n\n{long.replace('few', '*few*').replace('number 7', there)}", "slide", {}),
        ("code", "my_x = ...", None, {"tags": ["blank"]}),
        ("code", "x = 1", None, {}),
        ("markdown", "### Third\n\nOf its own.", "subslide", {}),
        ("code", "y = 2", "subslide", {}),
        ("code", "asked", "fragment", {}),
        ("markdown", "## *Last*", "slide", {}),
        ("code", "z = 3", None, {}),
    ]
    cells = []
    for i, (kind, source, slide, metadata) in enumerate(made):
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        more = {"slideshow": {"slide_type": slide}} if slide else {}
        cells.append(make(source, metadata={**metadata, **more}, id=f"cell-{i}"))
    notebook = nbformat.v4.new_notebook(cells=cells)
    asks = build.live.Shown("The answer: 2", question)
    columns = build.columns_of(notebook, {"cell-5": asks, "cell-13": asks}, tmp_path)
    slides = [slide for column in columns for slide in column]
    assert [len(column) for column in columns] == [1, 2, 3, 1]
    assert [(slide["number"], slide["heading"], slide["level"], slide["continued"]) for slide in slides] == [
        (1, "Title", 1, False),
        (2, "First", 2, False),
        (3, "First", 2, True),
        (4, "Second", 2, False),
        (5, "Third", 3, False),
        (6, "Second", 2, True),
        (7, "<em>Last</em>", 2, False),
    ]
    assert [[part["step"] for part in slide["cells"]] for slide in slides] == [
        [False, False],
        [False, False, True],
        [False, True],
        [False, False, True],
        [False],
        [False, False],
        [False],
    ]
    assert [part.get("unseen") for part in slides[0]["cells"]] == [None, True] and slides[0]["longest"] == 0
    assert slides[1]["longest"] == len("x = 1") + len(" [Run] ") and [slide["from"] for slide in slides] == [
        0,
        0,
        2,
        2,
        2,
        2,
        2,
    ]
    assert [sum(bool(part["question"]) for part in slide["cells"]) for slide in slides] == [0, 0, 1, 0, 0, 1, 0]
    assert len(slides[3]["said"]) == 7
    assert slides[3]["said"][0].startswith("Sentence number 1 has a <em>few</em> words")

    nbformat.write(notebook, tmp_path / "small.ipynb")
    deck = BeautifulSoup(build.page(tmp_path / "small.ipynb"), "html.parser")
    settings = json.loads(deck.find(id="settings").string)
    assert [settings["name"], settings["reading"], settings["server"]] == ["small", build.boards_in_pages.UPRIGHT, None]
    assert settings["sources"] == {cell.id: cell.source for cell in cells if cell.cell_type == "code"}
    assert not deck.select(".answers"), "nothing was asked"
    assert "<h3>Later</h3>" in str(deck.select(".prose.fragment")[0]), "only a slide's own heading stands above it"
    assert deck.title.get_text() == "Title" and "Not on a slide" not in deck.get_text()
    notes = deck.select("aside.notes")
    assert notes[3].a["href"] == "03_masking.html#masks"
    assert notes[0].get_text(" ", strip=True) == "0 min, from 0:00", "nothing to ask, nothing left out"
    assert deck.find("meta", charset="utf-8")
    assert notes[1].get_text(" ", strip=True) == "2 min, from 0:00 Ask: Who <is>? Say <this>."
    assert (
        "Sentence number 7" in notes[3].get_text()
        and "Sentence number 7" not in notes[3].parent.select_one(".body").get_text()
    )


def test_what_a_cell_printed_is_set_smaller_if_it_is_a_broad_table_and_a_widget_leaves_its_words(tmp_path):
    fits, broad, long = 80 * "x", 81 * "x", 200 * "x"
    texts = (f"{long}\nx", f"{broad}\n{broad}", f"{fits}\n{fits}")
    printed = [nbformat.v4.new_output("stream", text=text) for text in texts]
    bar = {build.boards_in_pages.VIEW: {"model_id": "1"}, "text/plain": "100 steps"}
    listed = {"text/html": "<pre>x</pre>", "text/plain": 100 * "x"}  # the code of a function, in colours
    outputs = [*printed, *(nbformat.v4.new_output("display_data", data) for data in (bar, listed))]
    cells = [nbformat.v4.new_code_cell("x", id=f"cell-{i}", outputs=[output]) for i, output in enumerate(outputs)]
    cells[0].metadata["slideshow"] = {"slide_type": "slide"}
    ((slide,),) = build.columns_of(nbformat.v4.new_notebook(cells=cells), {}, tmp_path)
    assert [part["wide"] for part in slide["cells"]] == [False, True, False, False, False]
    assert slide["longest"] == pytest.approx(1.1 * 100)
    ((alone,),) = build.columns_of(nbformat.v4.new_notebook(cells=cells[:2]), {}, tmp_path)
    assert alone["longest"] == len(broad), "a line that breaks anyway counts for nothing"
    bar = BeautifulSoup(slide["cells"][3]["outputs"], "html.parser")
    (tmp_path / "a.png").write_bytes(b"PNG")
    assert build.data_uri(tmp_path / "a.png") == "data:image/png;base64,UE5H"
    assert bar.get_text(strip=True) == "100 steps" and not bar.select("[class*=input]")


def test_what_a_notebook_shows_is_the_same_in_its_kernel_and_where_a_deck_is_built(notebooks_run_once):
    notebook = nbformat.read(NOTEBOOKS[5], as_version=4)  # which draws nothing: in a drawing there is a date
    found = build.live.run_here(notebook)
    with notebooks_run_once():
        assert build.live.run_here(notebook) == found


def test_building_a_deck_leaves_no_trace_and_goes_on_where_a_cell_fails(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(build.live.progress.PROGRESS_VARIABLE, str(tmp_path))
    sources = [
        "import os, sys; open('left behind', 'w').close(); print('noise'); print('more', file=sys.stderr)",
        f"open(os.path.join(os.environ[{build.live.progress.PROGRESS_VARIABLE!r}], 'progress'), 'w').close()",
        "1 / 0",
        "from workbench.display.plots import heatmap; import torch",
        "figure = heatmap(torch.eye(3), list('abc'), title='T')",
        "figure",
        "from workbench.board.lessons import mask_board",
        "mask_board()",
        "7",
        "from workbench.predict import blank, predict; predict('05.inside', ..., 2)",
        "blank('01.my-keys', ..., 2)",
        "torch.manual_seed(3); torch.set_num_threads(5); torch.set_printoptions(precision=1)",
        "torch.set_default_dtype(torch.float64)",
    ]
    torchs_own = [lambda: torch.get_rng_state().tolist(), torch.get_num_threads, torch.get_default_dtype]
    torchs_own.append(lambda: str(torch.ones(1) / 3))
    before = [found() for found in torchs_own]
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    found = build.live.run_here(nbformat.v4.new_notebook(cells=cells))
    assert list(tmp_path.iterdir()) == [] and capsys.readouterr() == ("", "")
    assert [found() for found in torchs_own] == before
    assert list(found) == ["cell-5", "cell-7", "cell-9"]
    assert {"leaves", "within", "slips"} <= set(found["cell-9"].question) and "answer" not in found["cell-9"].question
    assert found["cell-9"].question["leaves"] == [2] and "The answer" in found["cell-9"].html
    assert 'class="drawing upright"' in found["cell-5"].html and "saved-board" in found["cell-7"].html
    assert build.script_data("</script>") == '"\\u003c/script>"'
    assert build.live.last_value("# no value", {}) is None
    figure = curves([1, 2], {"ours": [1, 2]}, **MEASURED)
    size = figure.get_size_inches().tolist()
    build.live.drawing(figure)
    assert figure.get_size_inches().tolist() == size, "what is drawn for a slide is as large elsewhere as before"


def test_the_command_writes_every_deck_or_those_that_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "BUILD", tmp_path / "build" / "slides")
    monkeypatch.setattr(build, "page", lambda path: f"the deck of {path.stem} → …")
    assert build.main([str(NOTEBOOKS[2])]) == 0
    assert capsys.readouterr().out == f"{(build.BUILD / NAMES[2]).as_uri()}.html\n"
    assert build.main([]) == 0
    assert [line.rpartition("/")[2] for line in capsys.readouterr().out.split()] == [f"{name}.html" for name in NAMES]
    assert {path.read_text(encoding="utf-8") for path in build.BUILD.iterdir()} == {
        f"the deck of {name} → …" for name in NAMES
    }


def test_behind_a_live_deck_a_guess_has_to_be_given_and_figures_come_for_the_slide(monkeypatch):
    formats = {}
    shell = mock.Mock()
    shell.display_formatter.mimebundle_formatter.for_type = formats.__setitem__
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    with mock.patch.dict(os.environ):
        os.environ.pop(build.live.COPY_VARIABLE, None)
        build.live.prepare()
        assert os.environ[build.live.COPY_VARIABLE] == "1"
        build.live.bind(False)
        assert build.live.COPY_VARIABLE not in os.environ
    figure = curves([1, 2], {"ours": [1, 2]}, **{**MEASURED, "title": '"Here" < there & elsewhere'})
    data, _ = formats[build.live.Figure](figure, include=None, exclude=None)
    assert BeautifulSoup(data["text/html"], "html.parser").img["alt"] == figure.description
    assert '"Here" < there' in figure.description
    assert build.live.Board in formats


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_sentences_that_a_slide_names_stand_in_its_cell(path):
    for cell in nbformat.read(path, as_version=4).cells:
        for beginning in cell.metadata.get("slide", []):
            sentences = [s for block in re.split(r"\n{2,}", cell.source) for s in build.SENTENCE.split(block)]
            assert any(sentence.startswith(beginning) for sentence in sentences), (cell.id, beginning)


def test_slide_numbers_in_the_instructors_guide_are_those_of_the_decks(open_deck):
    guide = (build.NOTEBOOKS / "INSTRUCTORS.md").read_text(encoding="utf-8")
    references = re.findall(r"(\d\d) slide (\d+) \(“([^”]+)”\)", guide)
    assert references
    all_of = "Reveal.getSlides().map((slide) => slide.querySelector('.heading').textContent)"
    headings = {name[:2]: open_deck(name).evaluate(all_of) for name in NAMES}
    for notebook, number, heading in references:
        assert headings[notebook][int(number) - 1] == heading, (notebook, number)


# ------------------------------------------------------------------------------------------------------- guesses


def test_next_shows_what_waits_for_a_guess_step_by_step_to_a_hall_that_gives_up(open_deck):
    page = open_deck("03_masking")
    jump(page, slide_with(page, ".guess"))
    waits = page.locator(SLIDE + ".waits")
    assert waits.count() >= 2
    page.keyboard.press("g")
    for step in range(waits.count()):
        assert [waits.nth(i).is_visible() for i in range(waits.count())] == [i < step for i in range(waits.count())]
        page.keyboard.press("PageDown")
    assert page.evaluate("document.activeElement === document.body"), "the line for the guess was left"


def test_what_was_jumped_over_still_waits_for_its_guess_and_what_was_shown_stays(open_deck):
    page = open_deck("03_masking")
    asked, other = (slide_with(page, ".waits", nth) for nth in (1, 6))
    assert asked < other
    jump(page, other + 1)
    jump(page, asked)
    waits = page.locator(SLIDE + ".waits")
    assert not any(one.is_visible() for one in waits.all())
    page.keyboard.press("PageDown")
    assert waits.first.is_visible()
    jump(page, other + 1)
    jump(page, asked)
    assert waits.first.is_visible()


def test_a_guess_is_answered_in_the_page_with_its_slip_a_second_try_and_then_the_truth(open_deck):
    page = open_deck("01_by_hand")
    jump(page, slide_with(page, ".guess"))
    cell = page.locator(SLIDE + ".cell[data-question]").first
    question = json.loads(cell.get_attribute("data-question"))
    guess, verdict = cell.get_by_label("The hall's guess"), cell.get_by_role("status")
    assert question["slips"], "the first question has known slips"
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    assert verdict.text_content() == "", "nothing was guessed"
    assert guess.evaluate("(node) => getComputedStyle(node).outlineWidth") == "3px"
    sizes = "(node) => [parseFloat(getComputedStyle(node).fontSize) >= 24, getComputedStyle(node).fontWeight]"
    assert guess.evaluate(sizes) == [True, "400"] and verdict.evaluate(sizes) == [True, "600"], "the hall reads both"
    page.keyboard.type(", ".join(f"{x:g}" for x in question["slips"][0]["leaves"]))
    page.keyboard.press("Enter")
    assert verdict.inner_text().startswith("✗") and verdict.inner_text().endswith("Try again.")
    wrong = verdict.evaluate(COLOUR)
    assert BeautifulSoup(question["slips"][0]["says"], "html.parser").get_text() in verdict.inner_text()
    assert not cell.locator(".outputs.saved").is_visible()
    guess.fill("what?")
    page.keyboard.press("Enter")
    assert "could not be read" in verdict.inner_text() and not cell.locator(".outputs.saved").is_visible()
    guess.fill("[" + ", ".join(f"{x:g}" for x in question["leaves"]) + "]")
    page.keyboard.press("Enter")
    assert verdict.inner_text() == "✓ Right." and cell.locator(".outputs.saved").is_visible()
    assert len({wrong, verdict.evaluate(COLOUR), page.locator("body").evaluate(COLOUR)}) == 3
    cell.evaluate(
        """(cell) => {
          const question = JSON.parse(cell.dataset.question);
          question.slips[0].says = "Much is to be said of this. ".repeat(99);
          cell.dataset.question = JSON.stringify(question);
        }"""
    )
    guess.fill(", ".join(f"{x:g}" for x in question["slips"][0]["leaves"]))
    page.keyboard.press("Enter")
    assert "Much is to be said" in verdict.inner_text()
    fits = "(body) => body.scrollHeight <= body.clientHeight + 1 || body.style.overflowY === 'auto'"
    assert page.locator(SLIDE + ".body").evaluate(fits)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body"), "one key leaves the line"
    page.keyboard.press("PageDown")


# ---------------------------------------------------------------------------------------------------------- keys


def test_keys_of_a_clicker_work_from_anywhere_and_a_board_keeps_the_others(open_deck):
    page = open_deck("01_by_hand")
    for key, there in (("Space", 2), ("PageDown", 3), ("PageUp", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        until(page, f"(n) => {NUMBER} === n", there)
    board = slide_with(page, ".saved-board input, .saved-board [role=gridcell], .saved-board td")
    jump(page, board)
    page.locator(IN_A_BOARD).first.focus()
    for key in ("3", "Enter", "ArrowRight", "ArrowLeft", "ArrowUp", "b", "."):
        page.keyboard.press(key)
    assert number_of(page) == board and not page.evaluate("Reveal.isPaused()")
    cell = page.locator(SLIDE + ".attn-board td[tabindex='0']").first
    cell.focus()
    here = cell.element_handle()
    page.keyboard.press("ArrowRight")
    inside = "(here) => document.activeElement !== here && document.activeElement.closest('.attn-board') !== null"
    assert page.evaluate(inside, here) and number_of(page) == board, "the board has heard it"
    page.keyboard.press("Escape")
    assert not page.evaluate("Reveal.isOverview()") and number_of(page) == board
    page.locator(SLIDE + ".attn-board button:enabled").first.focus()
    for key in ("b", "n", "ArrowRight"):
        page.keyboard.press(key)
    assert number_of(page) == board and not page.evaluate("Reveal.isPaused()"), "a button's keys are its own too"
    page.locator(IN_A_BOARD).first.focus()
    page.keyboard.press("PageUp")
    assert number_of(page) == board - 1


def test_a_swipe_turns_the_page_and_a_finger_that_drags_a_number_changes_that(open_deck):
    page = open_deck("01_by_hand")
    for by, there in ((-120, 2), (120, 1), (-120, 2)):
        swipe(page, 640, 300, by)
        until(page, f"(n) => {NUMBER} === n", there)
    board = slide_with(page, ".saved-board input")
    jump(page, board)
    number = page.locator(SLIDE + ".attn-board input").first
    before, box = number.input_value(), number.bounding_box()
    swipe(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, -120)
    after = number.input_value()
    assert number_of(page) == board and float(after.replace("−", "-")) < float(before.replace("−", "-"))


def test_after_a_jump_next_and_back_lead_to_the_neighbours_also_where_a_chapter_was_left_in_its_middle(open_deck):
    page = open_deck("01_by_hand")
    chapters = page.evaluate(
        "Reveal.getSlides().flatMap((slide, i) => (Reveal.getIndices(slide).v === 0 ? [i + 1] : []))"
    )
    first = next(one for one, other in itertools.pairwise(chapters[1:]) if other - one > 3)
    jump(page, first + 2)  # a chapter's third slide, which must not be where the chapter goes on
    for start, key, there in ((first - 1, "PageDown", first), (first + 3, "PageUp", first + 2), (1, "Space", 2)):
        jump(page, start)
        while key != "PageUp" and page.locator(SLIDE + ".fragment:not(.visible)").count():
            page.keyboard.press(key)
        page.keyboard.press(key)
        assert number_of(page) == there, f"{key} from slide {start}"


def test_black_overview_help_and_a_jump_that_leads_nowhere(open_deck):
    page = open_deck("01_by_hand")
    for key in ("b", "."):
        page.keyboard.press(key)
        assert page.evaluate("Reveal.isPaused()")
        page.keyboard.press(key)
        assert not page.evaluate("Reveal.isPaused()")
    for leave in ("Escape", "Enter"):
        page.keyboard.press("Escape")
        assert page.evaluate("Reveal.isOverview()")
        page.keyboard.press(leave)
        assert not page.evaluate("Reveal.isOverview()")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    size = "(node) => parseFloat(getComputedStyle(node).fontSize)"
    assert page.locator(".help td").first.evaluate(size) >= 18 and page.locator(".jump").evaluate(size) >= 36
    page.keyboard.press("7")
    page.get_by_role("button", name="Close").click()
    assert not page.locator(".jump").is_visible(), "what is pressed while the help is open is not the deck's"
    for key in ("Control+7", "Alt+7", "Control+d"):  # these are the browser's
        page.keyboard.press(key)
    assert not page.locator(".jump").is_visible() and not page.locator("html.dark").count()
    assert not page.get_by_role("dialog", name="Keys").is_visible() and number_of(page) == 1
    for key in ("9", "9", "9"):
        page.keyboard.press(key)
    assert page.locator(".jump").inner_text() == "Slide 999"
    page.keyboard.press("Enter")
    assert number_of(page) == 1 and not page.locator(".jump").is_visible()
    for key in ("4", "2", "Backspace"):
        page.keyboard.press(key)
    assert page.locator(".jump").inner_text() == "Slide 4"
    page.keyboard.press("Escape")
    assert number_of(page) == 1 and not page.locator(".jump").is_visible()
    jump(page, 3)
    assert "".join(page.locator(".slide-number").inner_text().split()) == f"3/{len(slides_of('01_by_hand'))}"
    assert page.locator(".slide-number").bounding_box()["x"] < 20, "at the right are arrows, and what Python does"
    until(page, "location.hash.startsWith('#/')")  # a slide has an address


def test_a_key_pressed_while_the_help_is_closing_is_the_decks(open_deck):
    """The button of the closed help keeps the focus until the next frame, which may be late on a busy machine."""
    page = open_deck("01_by_hand")
    page.keyboard.press("?")
    page.evaluate(
        """() => {
          const help = document.querySelector(".help");
          help.close();
          const key = new KeyboardEvent("keydown", { key: "7", bubbles: true, cancelable: true });
          help.querySelector("button").dispatchEvent(key);
        }"""
    )
    assert page.locator(".jump").inner_text() == "Slide 7"
    page.keyboard.press("Escape")


def test_the_speaker_view_has_notes_question_next_slide_and_pace_and_drives(live_deck):
    page = live_deck
    here = page.evaluate("Reveal.getSlides().findIndex((slide, i) => i && !slide.querySelector('.fragment')) + 1")
    jump(page, here)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    view = opened.value
    notes = view.locator(".speaker-controls-notes")
    said = [cell.metadata["speaker"]["say"] for cell in slides_of("07_how_attention_learns")]
    notes.filter(has_text=said[here - 1]).wait_for()
    view.locator(".pacing").wait_for()
    for copy in ("current", "upcoming"):  # which are slides, however small, and only look on
        shown = view.frame_locator(f"#{copy}-slide iframe")
        shown.locator("section.present > section.present .heading").wait_for()
        assert shown.locator("body.reading, .cm-editor").count() == 0 < shown.locator(".source .line").count()
    view.keyboard.press("PageDown")
    until(page, f"(n) => {NUMBER} === n", here + 1)
    notes.filter(has_text=said[here]).wait_for()
    jump(page, 5)
    notes.filter(has_text=said[4]).wait_for()
    view.close()


def test_every_slide_has_its_planned_seconds(open_deck):
    for name in NAMES:
        seconds = open_deck(name).evaluate("Reveal.getSlides().map((slide) => Number(slide.dataset.timing))")
        assert seconds == [int(60 * notes.notes_of(cell)["minutes"]) for cell in slides_of(name)]


# ------------------------------------------------------------------------------------------------ with a kernel


@contextmanager
def presenting(folder):
    """What `course.py present` starts; yields the address of its decks and the server."""
    port = SystemRandom().randrange(10_000, 30_000)
    options = ["--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    arguments = [str(NOTEBOOKS[2]), *options, "--IdentityProvider.token=test"]
    arguments += [
        "--KernelRestarter.time_to_dead=0.5"
    ]  # looks every half second, not every third, whether Python lives
    with preloaded_kernels.server(serve.main, arguments, folder / "server.log") as server:
        wait_for(f"http://127.0.0.1:{port}", server.is_alive, folder / "server.log")
        yield f"http://127.0.0.1:{port}/deck/", server


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with presenting(tmp_path_factory.mktemp("presenting")) as found:
        yield found


@pytest.fixture(scope="module")
def live_deck(show, served):
    """The page of a deck with a kernel, for what begins on any slide."""
    page = show(served[0] + "07_how_attention_learns?token=test")
    until(page, READY)
    return page


def run_seen(page, key="Shift+Enter", press=None):
    """Press the key, or do what else runs a cell, and wait until what it ran has been shown."""
    before = page.evaluate("document.documentElement.dataset.runs ?? 0")
    (press or page.keyboard.press)(*([] if press else [key]))
    until(
        page,
        "(n) => Number(document.documentElement.dataset.runs) > Number(n) && !document.querySelector('.running')",
        before,
    )


def as_if_the_server_listened_late(page):
    """From the page's next load on: while `.now` of what it returns, a new Python is not heard till asked twice.

    `.runs`: how often code was sent to be run.
    """
    late = SimpleNamespace(now=False, runs=0)

    def between(socket):
        server, needed, asked = socket.connect_to_server(), 2 if late.now else 0, []

        def sends(message):
            late.runs += b'"execute_request"' in message
            asked.extend([message] * (b"kernel_info_request" in message))
            server.send(message)

        socket.on_message(sends)
        server.on_message(lambda said: (len(asked) < needed and b'"status"' in said) or socket.send(said))

    page.route_web_socket(re.compile("/channels"), between)
    return late


def type_into_the_first_cell(page, text, at="End"):
    page.locator(SLIDE + ".cm-content").first.focus()
    page.keyboard.press(f"Control+{at}")
    page.keyboard.insert_text(text)


def test_without_the_token_nothing_is_served(served):
    with urllib.request.urlopen(served[0] + "01_by_hand") as answer:
        assert "/login" in answer.url and "Reveal" not in answer.read().decode()
    heard = [found.laddr.ip for found in psutil.Process(served[1].pid).net_connections() if found.status == "LISTEN"]
    assert heard and set(heard) == {"127.0.0.1"}


def test_the_server_opens_the_notebook_that_was_named_and_knows_no_other_file(served):
    root = served[0].removesuffix("deck/")
    with urllib.request.urlopen(f"{root}?token=test") as answer:
        assert answer.url.split("?")[0] == served[0] + "03_masking"
    with urllib.request.urlopen(f"{served[0]}03_masking.html?token=test") as answer:
        assert "Reveal" in answer.read().decode(), "decks lead to each other by the names of their files"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(served[0] + "07_no_such?token=test")


def test_a_deck_is_made_once_and_again_when_its_notebook_has_changed(monkeypatch, tmp_path):
    made, sent, settings = [], [], {"protocol": "http", "host": "here:1"}
    monkeypatch.setattr(build, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(build, "page", lambda path, server: made.append((path.name, server)) or len(made))
    who = SimpleNamespace(token="secret")
    asked = SimpleNamespace(made={}, request=SimpleNamespace(**settings), base_url="/", identity_provider=who)
    asked.finish = sent.append
    (tmp_path / "a.ipynb").touch()
    for time in (5, 5, 6):
        os.utime(tmp_path / "a.ipynb", (time, time))
        serve.DeckHandler.get.__wrapped__(asked, "a")
    assert sent == [1, 1, 2] and made == 2 * [("a.ipynb", {"baseUrl": "http://here:1/", "token": "secret"})]


def test_a_lecture_is_heard_on_this_machine_alone_whatever_the_lecturers_settings_say(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "before")
    app = mock.Mock(base_url="/hub/")
    monkeypatch.setattr(serve.ServerApp, "instance", lambda: app)
    serve.main([str(NOTEBOOKS[0]), "--port=1"])
    (arguments,) = app.initialize.call_args.args  # which count for more than a file of settings
    assert app.initialize.call_args.kwargs == {"find_extensions": False}, "what else is installed is not loaded"
    _, [(address, _), *_] = app.web_app.add_handlers.call_args.args
    assert re.fullmatch(address, "/hub/deck/03_masking") and not re.fullmatch(address, "/deck/03_masking")
    assert "--ServerApp.ip=127.0.0.1" in arguments and arguments[-1] == "--port=1"
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [str(serve.ROOT), "before"]
    monkeypatch.delenv("PYTHONPATH")
    serve.main([str(NOTEBOOKS[0])])
    assert os.environ["PYTHONPATH"] == str(serve.ROOT)


NOTHING_SAID = "document.querySelector('.python').hidden && document.documentElement.dataset.status === 'idle'"

# Which clocks of the deck's own still go.
CLOCKS = """
  const { setInterval: begin, clearInterval: end } = window;
  window.clocks = new Map();
  window.setInterval = (call, ...given) => {
    const clock = begin(call, ...given);
    clocks.set(clock, String(call));
    return clock;
  };
  window.clearInterval = (clock) => { clocks.delete(clock); end(clock); };
"""

GOING = "[...clocks.values()].filter((done) => /busy|requestKernelInfo/.test(done))"

SHOWS_ALL_KINDS = """
import os; print("here", 6 * 7, os.path.basename(os.getcwd()), flush=True); print("there")
from IPython.display import HTML, SVG, Image, display
display(HTML("<b>bold</b>"), SVG("<svg><circle r='5'/></svg>"), Image(b"PNG", format="png"))
"the last"
"""

IN_ONE_LINE = """
class Missing(ImportError):
    _render_traceback_ = lambda self: ["\\x1b[31mNo module named 'not_there'\\x1b[0m"]

raise Missing
"""

ASKS = f"""
import os
print("a guess is asked for" if {build.live.COPY_VARIABLE!r} in os.environ else "answers are shown at once")
"""


def test_a_lecture_of_notebook_3_with_keys_alone(show, served):
    address, server = served
    others = {kernel.pid for kernel in preloaded_kernels.kernels_of(server.pid)}
    own_kernels = lambda: [kernel for kernel in preloaded_kernels.kernels_of(server.pid) if kernel.pid not in others]  # noqa: E731
    page = show(address + "03_masking?token=test")
    assert page.title().startswith("3.")
    code, shown, said = (page.locator(SLIDE + part) for part in (".cm-content", ".outputs.shown", ".error"))
    python = page.locator(".python")

    # Shift+Enter, pressed while Python starts too, runs, stays until the output was seen, and then goes on
    first = slide_with(page, ":scope:not(:has(.fragment)) .cell.code > .outputs.saved:not(:empty)")
    jump(page, first)
    assert not page.locator(SLIDE + ".outputs.to-come").first.is_visible()
    for _ in range(page.locator(SLIDE + ".cell.code:not(.fragment)").count()):
        run_seen(page)
        assert number_of(page) == first
    assert "".join(shown.all_inner_texts()).strip()
    until(page, NOTHING_SAID)
    assert page.locator(SLIDE + ".code:not(.fragment) > .saved").count() == 0, "no room is kept for what came"
    for _ in range(page.locator(SLIDE + ".fragment:not(.visible)").count() + 1):
        page.keyboard.press("Shift+Enter")
    until(page, f"(n) => {NUMBER} === n + 1", first)

    # a wrong guess is answered by predict itself, with its slip or what differs; the right one shows what follows
    question = slide_with(page, ".guess")
    jump(page, question)
    cell = page.locator(SLIDE + ".cell[data-question]").first
    asked = json.loads(cell.get_attribute("data-question"))
    page.keyboard.press("g")
    page.keyboard.type("12345")
    run_seen(page, "Enter")
    said_of_it, waiting = cell.locator(".outputs.shown").inner_text(), page.locator(SLIDE + ".waits").all()
    assert "✗" in said_of_it and "The answer" not in said_of_it
    assert len(waiting) > 1 and not any(part.is_visible() for part in waiting), "what is right is not shown yet"
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("Control+a")
    page.keyboard.type(", ".join(str(x) if isinstance(x, str) else f"{x:g}" for x in asked["leaves"]))
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Enter")  # which runs what waits for it first: a guess
    cell.locator(".outputs.shown", has_text="✓").wait_for()
    page.locator(SLIDE + ".cell.waits").first.wait_for()  # what follows the answer
    page.keyboard.press("Escape")

    # an error is said in one line, and mended in place; what was typed survives a reload
    assert number_of(page) == question
    stale = page.locator(SLIDE + ".code.stale > .source")
    assert stale.count() == 0
    type_into_the_first_cell(page, "\nnot_there")
    assert stale.first.evaluate("(node) => getComputedStyle(node).borderLeftStyle") == "dashed"
    run_seen(page, press=page.locator(SLIDE + ".run").first.click)
    assert number_of(page) == question and stale.count() == 0
    assert "NameError: name 'not_there' is not defined" in said.first.inner_text()
    assert said.first.evaluate(COLOUR) != page.locator("body").evaluate(COLOUR)
    assert not said.first.locator("pre").is_visible()
    said.first.get_by_text("where").click()
    where = said.first.locator("pre")
    assert "----> " in where.inner_text() and "\x1b" not in where.inner_text()
    assert where.locator("[class*=ansi]").count(), "in colours"
    fits = "(body) => body.scrollHeight <= body.clientHeight + 1 || body.style.overflowY === 'auto'"
    until(page, f"() => ({fits})(document.querySelector('{SLIDE}.body'))")
    page.keyboard.press("Escape")
    page.add_init_script(CLOCKS)
    late = as_if_the_server_listened_late(page)
    page.reload()
    until(page, READY)
    assert number_of(page) == question
    assert "not_there" in code.first.inner_text() and "NameError" in shown.first.inner_text()
    assert page.locator(".outputs.shown:not(:empty)").count() > 1, "what was said on other slides is there too"
    assert len(own_kernels()) == 1, "the same kernel goes on"
    for there in (False, True, False):
        page.keyboard.press("o")
        assert ("not_there" in code.first.inner_text()) == there

    # an endless loop is said to be busy, and interrupted with one key
    type_into_the_first_cell(page, "import time\nwhile True: time.sleep(0.01)\n", at="Home")
    page.keyboard.press("Control+Enter")
    page.get_by_text(re.compile(r"^Python is busy, \d{1,2} s\. i interrupts it\.$")).wait_for()
    assert late.runs == 1, "what was run before the page was loaded again is not run once more"
    assert len({source.evaluate(BORDER) for source in page.locator(SLIDE + ".source").all()}) > 1
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    said.filter(has_text="KeyboardInterrupt").wait_for()
    until(page, NOTHING_SAID)
    assert page.evaluate(GOING) == [], "nothing will be said later"

    # Python dies while a cell runs: it is said, the slide stays, u runs everything up to here
    until(page, "document.documentElement.dataset.status === 'idle'")
    page.locator(SLIDE + ".cm-content").first.focus()
    page.keyboard.press("Control+Enter")
    page.locator(SLIDE + ".running").wait_for()
    until(page, "document.documentElement.dataset.status === 'busy'")
    page.keyboard.press("Control+Enter")  # which waits, and ends too
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    late.now = True
    own_kernels()[0].kill()
    page.locator(".python.trouble").wait_for()
    assert python.inner_text().startswith("Python was restarted")
    until(page, "document.documentElement.dataset.status === 'idle'")
    late.now = False
    assert python.inner_text().startswith("Python was restarted"), "it stays said"
    assert number_of(page) == question and page.locator(".running").count() == 0 and said.count() == 0
    stale.first.wait_for()  # what is shown is of another Python
    words = "Reveal.getSlides().findIndex((slide, i) => i >= n && !slide.querySelector('.code')) + 1"
    jump(page, page.evaluate(f"(n) => {words}", question))
    page.keyboard.press("u")  # also where no cell stands
    until(page, NOTHING_SAID)
    jump(page, question)
    assert said.all_inner_texts() == [] and stale.count() == 0
    assert page.evaluate(GOING) == [], "nobody is asked any more"

    # a board made by running its cell is alive in the slide, and a jump runs what it needs first
    board = slide_with(page, ".saved-board")
    jump(page, board)
    assert page.locator(SLIDE + ".attn-board").first.is_visible(), "alive before its run"
    page.keyboard.press("Shift+Enter")
    page.locator(SLIDE + ".outputs.shown .attn-board").wait_for()
    questions = page.locator(".cell[data-question]")
    answered = questions.locator(".outputs.shown:not(:empty)").count()
    assert answered == 1 and questions.locator(".outputs.saved").count() == questions.count() - 1, "nobody was asked"

    # a restart keeps what was typed, forgets what was run and ends what runs and what waits behind it
    jump(page, first)
    code.first.focus()
    page.evaluate("(text) => document.activeElement.closest('.cell').write(text)", SHOWS_ALL_KINDS)
    run_seen(page)
    page.get_by_text("here 42 notebooks").wait_for()
    mine = page.locator(SLIDE + ".cell:focus-within > .outputs.shown").first
    assert mine.locator(".stream pre").all_inner_texts()[-1].splitlines()[-2:] == ["here 42 notebooks", "there"]
    assert mine.locator("svg circle").count() == 1 and mine.locator("b").inner_text() == "bold"
    assert mine.locator("img").last.get_attribute("src") == "data:image/png;base64,UE5H"
    assert mine.locator("pre").last.inner_text() == "'the last'"
    page.keyboard.press("Shift+Enter")
    assert page.evaluate("document.activeElement === document.body"), "what was seen is not run again"
    jump(page, first)
    type_into_the_first_cell(page, "\nimport time; time.sleep(600)")
    page.keyboard.press("Control+Enter")
    mine.locator("b").wait_for()
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()
    assert "6 * 7" in code.first.inner_text() and page.locator(".running").count() == 0
    assert page.evaluate("JSON.parse(sessionStorage['deck:03_masking:session']).ran") == []
    assert page.evaluate("sessionStorage['deck:03_masking:outputs']") == "{}", "nor shown after a reload"
    assert stale.count() == page.locator(SLIDE + ".outputs.shown:not(:empty)").count() > 0

    # an error on the way is said with its slide, and is shown, of imports too
    file = page.evaluate("document.querySelector('.code.unseen').source()")
    page.evaluate("(text) => document.querySelector('.code.unseen').write(text)", IN_ONE_LINE)
    page.keyboard.press("u")
    python.filter(has_text="stopped").wait_for()
    imports = slide_with(page, ".code.unseen, .code:has(.error)")
    assert python.inner_text() == f"Python runs all up to here and stopped at slide {imports}: there is an error."
    jump(page, imports)
    assert said.first.is_visible() and said.first.inner_text() == "No module named 'not_there'"
    page.evaluate("(text) => document.querySelector('.code:has(.error)').write(text)", ASKS + file)
    page.locator(SLIDE + ".code:has(.error) .cm-content").focus()
    run_seen(page, "Control+Enter")
    until(page, NOTHING_SAID)
    assert said.count() == 0
    assert shown.filter(has_text="a guess is asked for").count() == 1, "also after an error"

    # Shift+Enter runs no cell that is not seen yet: it comes first
    page.keyboard.press("Escape")
    steps = slide_with(page, ".code:not(.unseen) ~ .code.fragment:not(.waits)")
    jump(page, steps)
    hidden = page.locator(SLIDE + ".code.fragment:not(.waits)").first
    assert not hidden.is_visible()
    for _ in range(page.locator(SLIDE + ".cell.code:not(.fragment)").count()):
        run_seen(page)
    page.keyboard.press("Shift+Enter")
    ran = page.evaluate("JSON.parse(sessionStorage['deck:03_masking:session']).ran")
    assert hidden.is_visible() and ran and hidden.get_attribute("data-id") not in ran
    unanswered = "Canceled future for kernel_info_request"  # the library's own, which nobody heard
    assert [told for told in page.complaints if not told.startswith(unanswered)] == []


def test_a_clicker_shows_the_answer_after_a_run_without_a_guess_and_after_a_wrong_one(show, served):
    page = show(served[0] + "03_masking?token=test")
    until(page, READY)
    jump(page, slide_with(page, ".guess"))
    cell = page.locator(SLIDE + ".cell[data-question]").first
    missing, answer = cell.get_by_text("Your guess first"), cell.get_by_text("The answer:")
    while not missing.is_visible():  # and what stands above it on the slide
        run_seen(page)
    assert missing.inner_text().startswith("Your guess first") and not answer.is_visible()
    page.keyboard.press("PageDown")
    assert answer.is_visible() and not missing.is_visible()
    page.keyboard.press("PageUp")
    assert missing.is_visible() and not answer.is_visible()
    cell.evaluate("(cell) => cell.write(cell.source().replace('...', '...  # whatever'))")
    page.keyboard.press("g")
    page.keyboard.type("(−12345)")
    run_seen(page, "Enter")
    assert "guess = (-12345)  # whatever" in cell.locator(".cm-content").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Enter")  # which goes on too, since this guess was answered
    assert cell.get_by_text("✗").is_visible() and answer.is_visible()
    page.reload()
    until(page, READY)
    assert cell.get_by_text("✗").is_visible()
    page.keyboard.press("g")
    page.keyboard.type("show")
    run_seen(page, "Enter")
    assert answer.count() == 1, "Python has said it"
    page.reload()
    until(page, READY)
    assert answer.count() == 1
    written = cell.evaluate(WRITTEN, [*AS_IT_IS, *IN_QUOTES])
    assert written == [f"guess = {guess}  # why" for guess in (*AS_IT_IS, *map(json.dumps, IN_QUOTES))]


AS_IT_IS = [
    "True",
    "None",
    "'tea'",
    '"a b"',
    "0.47",
    "-2",
    ".5",
    "3.",
    "1e-3",
    "[1, 0, 2]",
    "(2,3)",
    "[[1, 2], [3, 4]]",
]
IN_QUOTES = ["tea", "-inf", "47 %", "0,47", "1/3", "2, 2, 2", "3 x 4", "[2 2]", "torch.Size([3, 4])", "05", ".", "(3"]

# What each guess becomes in the cell; it is not run.
WRITTEN = """(cell, guesses) => guesses.map((guess) => {
  const form = cell.querySelector("form.guess"), written = [];
  cell.source = () => "guess = ...  # why";
  cell.write = (source) => written.push(source);
  form.querySelector("input").value = guess;
  form.requestSubmit();
  return written[0];
})"""


def test_next_shows_what_is_not_run_as_it_was_saved_unless_the_code_is_another(live_deck):
    page, saved = live_deck, live_deck.locator(SLIDE + ".saved:not(:empty, :has(.saved-board))")
    plain = [slide_with(page, ":scope:not(:has(.fragment)) .to-come:not(:empty)", nth) for nth in range(4)]
    arrow = page.locator(".navigate-right").click
    for slide, go_on in zip(plain, [*(lambda key=key: page.keyboard.press(key) for key in NEXT), arrow], strict=True):
        jump(page, slide)
        assert saved.count() and not any(output.is_visible() for output in saved.all())
        go_on()
        assert number_of(page) == slide and all(output.is_visible() for output in saved.all())
        go_on()
        until(page, f"(n) => {NUMBER} === n + 1", slide)
    late = page.locator(SLIDE + ".code.fragment > .saved:not(:empty)").first
    jump(page, slide_with(page, ".code.fragment > .to-come:not(:empty)", -1))
    assert not late.locator("..").is_visible()
    while not late.locator("..").is_visible():
        page.keyboard.press("PageDown")
    assert not late.is_visible(), "its code comes first"
    swipe(page, 640, 20, -120)
    late.wait_for()
    changed = slide_with(page, ":scope:not(:has(.fragment, .code ~ .code)) .to-come:not(:empty)")
    jump(page, changed)
    assert not saved.first.is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("PageDown")
    assert number_of(page) == changed + 1, "in the overview next is the next slide"
    page.keyboard.press("Escape")
    jump(page, changed)
    type_into_the_first_cell(page, "  # another")
    page.keyboard.press("PageDown")
    assert not saved.first.is_visible()
    jump(page, changed)
    page.keyboard.press("o")
    page.keyboard.press("PageDown")
    assert saved.first.is_visible()


def test_run_lies_on_no_code_however_long_the_first_line_and_code_can_be_read(live_deck):
    """The button stands at the end of the first line, which is broken before it."""
    page = live_deck
    lengths = page.evaluate(
        """() => Reveal.getSlides().map((slide) => {
          const first = [...slide.querySelectorAll(".cm-line:first-child")];
          return Math.max(0, ...first.map((line) => line.textContent.length));
        })"""
    )
    assert max(lengths) > 90
    jump(page, lengths.index(max(lengths)) + 1)
    gaps = page.locator(SLIDE + ".source").evaluate_all(
        """(sources) => sources.map((source) => {
          const line = document.createRange(), run = source.querySelector(".run").getBoundingClientRect();
          line.selectNodeContents(source.querySelector(".cm-line"));
          const beside = [...line.getClientRects()].filter((text) => text.top < run.bottom && text.bottom > run.top);
          return run.left - Math.max(...beside.map((text) => text.right));
        })"""
    )
    assert min(gaps) >= 0 and max(gaps) < 1280, gaps
    for _ in ("light", "dark"):
        assert page.evaluate(LOOK_AT_ALL, lengths.index(max(lengths)) + 1) == []
        page.keyboard.press("d")


def test_code_is_edited_as_in_a_notebook(live_deck):
    page = live_deck
    jump(page, slide_with(page, ".code:not(.unseen, [data-question]) .cm-content"))
    cell, editor = page.locator(SLIDE + ".cell.code").first, page.locator(SLIDE).get_by_label("Code").first
    written, typed = (
        lambda: cell.evaluate("(cell) => cell.source()"),
        "localStorage['deck:07_how_attention_learns:typed']",
    )
    file = written()
    page.locator(SLIDE + ".cm-content").first.focus()
    for key in ("Control+Home", "Enter", "ArrowUp"):
        page.keyboard.press(key)
    for line in ("class Two:", "def one(x):"):
        page.keyboard.type(line)
        page.keyboard.press("Enter")
    page.keyboard.type("return [1, 'two', None]  # three")
    assert written() == f"class Two:\n    def one(x):\n        return [1, 'two', None]  # three\n{file}"
    wanted = {"k": ["class", "def"], "nf": ["Two", "one"], "m": ["1", "None"], "s": ["'two'"], "c": ["# three"]}
    for kind, words in wanted.items():
        assert editor.locator(f".{kind}").all_inner_texts()[: len(words)] == words
    for _ in "  # three":
        page.keyboard.press("ArrowLeft")
    assert editor.locator(".cm-matchingBracket").all_inner_texts() == ["[", "]"]
    page.keyboard.press("Tab")
    assert written().splitlines()[2].startswith(12 * " ")
    assert page.evaluate(typed).count("def one") == 1, "it is kept"
    while written() != file:
        before = written()
        page.keyboard.press("Control+z")
        assert written() != before
    assert page.evaluate(typed) == "{}", "as in the file"
    page.keyboard.press("Escape")


def test_a_line_of_ones_own_is_checked_before_the_courses_is_seen(show, served):
    page = show(served[0] + "03_masking?token=test")
    until(page, READY)
    here = slide_with(page, ".blank")
    for slide in (here + 1, here):  # reveal.js shows all of a slide that was jumped over
        jump(page, slide)
    line, check = page.locator(SLIDE + ".blank"), page.locator(SLIDE + ".filled")
    source, says = check.locator(".source"), check.locator(".shown")

    def covered():
        return not source.evaluate(
            "(node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true })"
        )

    assert covered()
    line.locator(".cm-content").focus()
    for typed, said in (("positions <= lengths[:, None]", "✗"), ("positions < lengths[:, None]", "✓")):
        page.keyboard.press("Control+a")
        page.keyboard.type(f"my_real = {typed}")
        page.keyboard.press("Shift+Enter")
        says.get_by_text(said).wait_for()
        assert covered() and number_of(page) == here
    page.keyboard.press("Shift+Enter")
    source.wait_for()
    assert number_of(page) == here and "✓" in says.inner_text() and not covered()
    line.locator(".cm-content").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("my_real = ] = 2")
    run_seen(page)
    wrong, sign = line.locator(".error pre").inner_text().splitlines()[1:3]
    assert sign.index("^") == wrong.index("]"), "the sign stands below its place"
    assert not says.inner_text(), "what was said of another line"


def test_a_deck_nobody_can_type_into_has_no_line_to_fill(open_deck):
    page = open_deck("03_masking")
    lines = page.locator(".blank .source").all_text_contents()
    assert lines and all("____" in line and "..." not in line for line in lines)


@pytest.mark.parametrize(("connections", "ends"), [(0, ["one"]), (1, [])])
def test_a_page_that_was_left_takes_its_python_along_unless_it_came_back(connections, ends):
    ended = []

    async def get_session(session_id):
        return {"kernel": {"connections": connections}}

    async def delete_session(session):
        ended.append(session)

    manager = SimpleNamespace(get_session=get_session, delete_session=delete_session)
    with pytest.raises(StopIteration):  # it never waits
        serve.LeftHandler.end(SimpleNamespace(session_manager=manager), "one").send(None)
    assert ended == ends


def test_where_python_cannot_be_reached_it_is_said_and_one_key_tries_again(live_deck):
    page, python = live_deck, live_deck.locator(".python.trouble")
    heard, asked = [], []

    def between(socket):
        asked.append(socket.url)
        server = socket.connect_to_server()
        server.on_message(lambda said: (b'"idle"' in said and heard.append((socket, said)), socket.send(said)))

    page.route_web_socket(re.compile("/channels"), between)
    page.route("**/api/**", lambda route: route.abort())
    page.reload()
    python.filter(has_text="Python cannot be reached: ").wait_for()
    page.keyboard.press("r")
    python.filter(has_text="Python does not start again: ").wait_for()
    page.unroute("**/api/**")
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()
    assert page.evaluate(READY) and python.count() == 0
    socket, idle = heard[-1]
    socket.send(idle.replace(b'"idle"', b'"dead"'))  # as the server says of a Python that dies whenever it begins
    python.filter(has_text="Python has died. r starts it again").wait_for()
    assert asked and all("token=test" in address for address in asked), "for browsers that keep no cookie"
    page.evaluate("document.querySelector('.python').textContent = ''")
    jump(page, slide_with(page, ".cm-content"))
    page.keyboard.press("Control+Enter")
    python.filter(has_text="Python has died. r starts it again").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()
