"""The web site: complete, offline, for every screen and reader, and its boards move without Python."""

import contextlib
import io
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

from attn_lib.examples import TOKENS, W_k, W_q, W_v, X, self_attention_steps
from authors import site

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
SCREENS = {"laptop, light": ((1366, 768), "light"), "phone, dark": ((390, 844), "dark")}


def build(folder):
    with contextlib.redirect_stdout(io.StringIO()):
        assert site.build(folder) == 0, "Sphinx has warnings"


@pytest.fixture(scope="session")
def built(built_once):
    return built_once("site", build) / "site"


@pytest.fixture(scope="session")
def pages(built):
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in built.rglob("*.html")}


@pytest.fixture
def reader(browser):
    """Opens a page of the site as a file, on a given screen; whatever it asks the network for is noted."""
    contexts = []

    def open_page(path, screen="laptop, light"):
        size, scheme = SCREENS[screen]
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.asked.append(f"error: {error}"))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_every_lesson_is_a_page_with_contents_search_and_neighbours(built, pages):
    for before, name, after in zip([None, *LESSONS], LESSONS, [*LESSONS[1:], None], strict=False):
        page = pages[built / "notebooks" / f"{name}.html"]
        contents = [link["href"] for link in page.select(".sidebar-tree a")]
        listed = [href for href in contents if href == "#" or href.endswith(tuple(f"{n}.html" for n in LESSONS))]
        assert len(listed) == len(LESSONS)
        assert page.select_one("form.sidebar-search-container")
        neighbours = {link["class"][0]: link["href"] for link in page.select(".related-pages a")}
        assert neighbours.get("prev-page") == (f"{before}.html" if before else "../index.html")
        assert after is None or neighbours["next-page"] == f"{after}.html"


def test_every_link_anchor_picture_and_script_is_there_and_none_is_elsewhere(pages):
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


def test_the_first_page_has_the_question_of_each_lesson_and_its_notebook_to_download(built, pages):
    first = pages[built / "index.html"].select_one("article")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in LESSONS:
        row = next(line for line in readme.splitlines() if f"(notebooks/{name}.ipynb)" in line)
        _, _, question, _, minutes, _ = (cell.strip() for cell in row.split("|"))
        (listed,) = [part for part in first.select("p") if part.select_one(f'a[href$="notebooks/{name}.html"]')]
        assert question in listed.get_text() and f"{minutes} minutes" in listed.get_text()
        (download,) = [link["href"] for link in listed.select("a[download]")]
        assert (built / unquote(download)).read_bytes() == (ROOT / "notebooks" / f"{name}.ipynb").read_bytes()


def test_nobody_is_told_to_run_a_cell(pages):
    for path, page in pages.items():
        assert not page.find(string=lambda text: "both cells again" in text or "this cell again" in text), path.name


def test_every_picture_is_described_and_every_formula_is_drawn(pages):
    for path, page in pages.items():
        for picture in page.select("article img"):
            assert len(picture.get("alt", "")) > 20, f"{path.name}: {picture}"
        for formula in page.select("math"):
            assert "&" not in formula.get_text() and "\\" not in formula.get_text(), formula.get_text()


# Of all texts that look the same, on the same ground, the first is marked, unless that look was seen on another page.
MARK_LOOKS = """(seen) => {
  const look = (node) => {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(node), grounds = [];
    for (let at = node; at; at = at.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(at);
      grounds.push(backgroundColor, backgroundImage, opacity);
      if (/^rgb\\(/.test(backgroundColor)) break;
    }
    return [color, fontSize, fontWeight, textShadow, ...new Set(grounds)].join(" ");
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), known = new Set(seen), found = [];
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !node.checkVisibility() || node.closest("script, style")) continue;
    const one = look(node);
    if (known.has(one)) continue;
    known.add(one);
    found.push(one);
    node.dataset.look = "";
  }
  return found;
}"""
CONTRAST = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
ALL_BUT_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}, "resultTypes": ["violations"]}
# Of the others, these hang on the width of the screen or on colours: on the second screen every page is asked these,
# and the rest, which read the page's structure, are asked once of each kind of page.
OF_THE_SCREEN = {
    "runOnly": ["link-in-text-block", "meta-viewport", "scrollable-region-focusable"],
    "resultTypes": ["violations"],
}
KINDS = ["index", "search", "README", LESSONS[0]]  # a page of each kind


@pytest.mark.parametrize("screen", SCREENS)
def test_every_page_fits_its_screen_and_axe_finds_nothing(pages, reader, screen):
    """Contrast, which takes axe longest, is looked at once for each look of text, wherever it occurs first."""
    axe, looks, faults = Axe(), [], []
    page = reader(next(iter(pages)), screen)
    for path in pages:
        page.goto(path.as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{path.name} is {wide} px too wide"
        new = page.evaluate(MARK_LOOKS, looks)
        looks += new
        whole = screen == next(iter(SCREENS)) or path.stem in KINDS
        runs = [axe.run(page, options=ALL_BUT_CONTRAST if whole else OF_THE_SCREEN)]
        runs += [axe.run(page, context={"include": [["[data-look]"]]}, options=CONTRAST)] if new else []
        found = [violation for one in runs for violation in one.response["violations"]]
        faults += [(path.name, violation["id"], violation["nodes"][0]["html"][:200]) for violation in found]
    assert not faults
    assert len(looks) > 10
    assert all(asked.startswith("file:") for asked in page.asked), page.asked


SPOILT = {
    "a pale text": ("article p:last-of-type { color: #ccc }", "", CONTRAST, "color-contrast"),
    "a dark ground": ("article p:last-of-type { background: #555 }", "", CONTRAST, "color-contrast"),
    "a picture without words": ("", "<img src=''>", ALL_BUT_CONTRAST, "image-alt"),
    "a text that only a mouse can scroll": (
        "", "<div style='height: 1em; overflow: auto'>one<br>two<br>three</div>", OF_THE_SCREEN,
        "scrollable-region-focusable",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", SPOILT)
def test_what_nobody_could_read_would_be_found(built, reader, fault):
    style, added, options, rule = SPOILT[fault]
    page = reader(built / "notebooks" / "INSTRUCTORS.html")
    looks = page.evaluate(MARK_LOOKS, [])
    page.evaluate("document.querySelectorAll('[data-look]').forEach((node) => delete node.dataset.look)")
    page.evaluate("(html) => document.querySelector('article').insertAdjacentHTML('beforeend', html)", added)
    if style:
        page.add_style_tag(content=style)
        assert page.evaluate(MARK_LOOKS, looks)
    context = {"include": [["[data-look]"]]} if style else None
    found = Axe().run(page, context=context, options=options).response["violations"]
    assert [violation["id"] for violation in found] == [rule]


def test_numbers_typed_into_a_page_give_what_attn_lib_computes(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html")
    board = page.get_by_role("group", name="Self-attention by hand", exact=True)
    inputs = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v}
    generator = torch.Generator().manual_seed(5)
    for name in inputs:
        matrix = inputs[name] = inputs[name].double()
        row, column = (int(torch.randint(size, (), generator=generator)) for size in matrix.shape)
        matrix[row, column] = number = round(float(torch.randn((), generator=generator)) * 2, 3)
        place = (
            f"inputs X {TOKENS[row]}, column {column + 1}"
            if name == "X"
            else f"{name} row {row + 1} column {column + 1}"
        )
        cell = board.get_by_label(place, exact=True)
        cell.fill(str(number))
        cell.press("Enter")
        board.get_by_text(f"{place} is now {number}.".replace("-", "−")).wait_for()
    steps = self_attention_steps(*inputs.values(), scale=1)
    for i, row in enumerate(steps.outputs.tolist()):
        for j, number in enumerate(row):
            label = board.get_by_label(f"outputs {TOKENS[i]}, column {j + 1}: ").get_attribute("aria-label")
            assert abs(float(label.split(": ")[1].replace("−", "-").replace("≈", "")) - number) < 0.0051


def test_every_other_board_moves_too(built, reader):
    page = reader(built / "notebooks" / "02_scaled_dot_product.html")
    board = page.get_by_role("group", name="Scores, scale and temperature")
    board.get_by_label("d_k", exact=True).press("End")
    board.get_by_label("weights, / 1 key 2: 1.00").wait_for()
    page = reader(built / "notebooks" / "03_masking.html")
    board = page.get_by_role("group", name="Paint a mask")
    for column in range(4):
        board.get_by_label(f"mask q1 → k{column}").click()
    board.get_by_text("✓ Done.").wait_for()
    assert board.get_by_label("weights q1 → k0: nan").count() == 1
    page = reader(built / "notebooks" / "04_multi_head.html")
    board = page.get_by_role("group", name="Heads")
    board.get_by_role("button", name="head 1", exact=True).click()
    board.get_by_text("Head is now head 1.").wait_for()
    board = page.get_by_role("group", name="From features to heads")
    board.get_by_label("Tokens").press("Home")
    board.get_by_text("✓ Done.").wait_for()


def test_a_mistyped_number_is_refused_and_explained(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html", "phone, dark")
    board = page.get_by_role("group", name="Self-attention by hand", exact=True)
    cell = board.get_by_label("W_q row 1 column 1", exact=True)
    cell.fill("1,5")
    cell.press("Enter")
    board.get_by_role("status").get_by_text("1,5 has a comma: write 1.5. 1 stays.").wait_for()
    assert cell.input_value() == "1"


def test_the_search_finds_a_word_of_a_lesson(built, reader):
    page = reader(built / "index.html")
    page.get_by_label("Search").first.fill("saturated")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="1. Attention by hand").nth(1).wait_for()


def test_light_and_dark_can_be_chosen(built, reader):
    page = reader(built / "notebooks" / "03_masking.html")
    background = "getComputedStyle(document.querySelector('.attn-board')).backgroundColor"
    light = page.evaluate(background)
    toggle = page.get_by_role("button", name="Toggle Light / Dark / Auto color theme").first
    while page.evaluate("document.body.dataset.theme") != "dark":
        toggle.click()
    assert page.evaluate(background) != light
