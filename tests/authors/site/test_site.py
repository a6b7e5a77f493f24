"""The web site: complete, offline, for every screen and reader; boards move and questions are answered in the page."""

import base64
import contextlib
import io
import json
import re
import runpy
import subprocess
import sys
import zipfile
from urllib.parse import unquote, urlsplit

import nbformat
import preloaded_kernels
import pytest
import torch
from axe_playwright_python.base import AXE_SCRIPT as AXE
from bs4 import BeautifulSoup
from contrast import CONTRAST
from paths import ROOT

from attn_lib.examples import TOKENS, W_k, W_q, W_v, X, self_attention_steps
from authors.lessons import lessons
from authors.site import sphinx_site, ways_to_run
from workbench.exercises.engine.exercise import EXERCISES

LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
SERVED = "https://site.test/"  # where the site stands too, as on a server, whose first page needs no name
SCREENS = {"laptop, light": ((1366, 768), "light"), "phone, dark": ((390, 844), "dark")}


@pytest.fixture(scope="session")
def built(built_once, notebooks_run_once):
    def build(folder):
        with notebooks_run_once(), contextlib.redirect_stdout(io.StringIO()):
            assert sphinx_site.build(folder) == 0, "Sphinx has warnings"

    return built_once("site", build) / "site"


@pytest.fixture(scope="session")
def pages(built):
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in built.rglob("*.html")}


@pytest.fixture(scope="module")
def window(browser, built):
    """One window for all tests: opening one costs more than most of them do in it."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    place = lambda address: built / (urlsplit(address).path[1:] or "index.html")  # noqa: E731
    context.route(f"{SERVED}**", lambda route: route.fulfill(path=place(route.request.url)))
    page = context.new_page()
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.asked.append(f"error: {error}"))
    yield page
    context.close()


@pytest.fixture
def reader(built, window):
    """Opens a page of the site as a file, on a given screen, for a new visitor; asks no network and breaks nowhere."""

    def open_page(path, screen="laptop, light", motion="reduce", asking=""):
        window.goto((built / "_static" / "favicon.svg").as_uri())  # where no script keeps anything
        show_on(window, screen, motion)
        window.evaluate("localStorage.clear(), sessionStorage.clear()")
        window.goto(path.as_uri() + asking)
        return window

    window.asked.clear()
    yield open_page
    quotes = "error: Failed to fetch"  # the search would quote from the pages it finds, which may not be read as files
    assert not [asked for asked in window.asked if not asked.startswith(("file:", SERVED)) and asked != quotes]


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
        assert {fold.get_text(strip=True) for fold in page.select("details.hide summary")} == {
            "Show the codeHide the code"
        }
    assert {path.stem for path in pages} == {"index", "search", "INSTRUCTORS", "README", *LESSONS}
    assert not any((built / "_sources").glob("**/*.*")), "nothing is there twice"


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


def test_the_first_page_has_a_board_the_ways_in_and_the_question_of_each_lesson(built, pages):
    first = pages[built / "index.html"].select_one("article")
    assert len(first.select(".saved-board")) == 1
    assert first.select_one('.begin a.button[href="notebooks/01_by_hand.html"]').get_text() == "Begin with lesson 1"
    assert "yours to change" in first.select_one("p strong").get_text(), "what to do with the board is said before it"
    captions = pages[built / "index.html"].select(".sidebar-tree .caption-text")
    assert [caption.get_text() for caption in captions] == ["Lessons", "For instructors"]
    assert not first.select(".toctree-wrapper li"), "the lessons are listed once, with their questions"
    assert pages[built / "index.html"].select("aside.toc-drawer.no-toc"), "a short page needs no contents"
    assert (built / first.select_one("a[download]")["href"]).is_file()
    for lesson in lessons():
        name = lesson.name
        (listed,) = [part for part in first.select("li") if part.select_one(f'a[href$="notebooks/{name}.html"]')]
        assert lesson.question in listed.get_text() and f"{lesson.minutes} minutes" in listed.get_text()
        told = listed.select_one("small .so-far")  # how many of its guesses were right
        asked = pages[built / "notebooks" / f"{name}.html"].select("form.guess[data-again=false]")
        assert told["data-page"] == name and told["data-guesses"] == str(len(asked))


def test_a_shared_link_has_title_picture_and_words(built, pages):
    for path, page in pages.items():
        card = {tag["property"]: tag["content"] for tag in page.select("meta[property]")}
        assert card["og:title"] and len(card["og:description"]) > 40
        assert ("og:url" in card) == ("og:image" in card) == bool(ways_to_run.addresses()[1]), "whole addresses or none"
        assert len(page.select("meta[name=viewport]")) == 1
        assert page.select_one('meta[name="description"]')["content"] == card["og:description"]
        assert (path.parent / page.select_one('link[rel*="icon"]')["href"].split("?")[0]).resolve().is_file()
        assert path.stem not in LESSONS or card["og:title"] in page.h1.get_text()
        assert page.html["lang"] == "en" and card["og:type"] == "article"
        name, _, course = page.title.get_text().rpartition(" - ")
        assert course == "Learn attention" and name in page.h1.get_text() and bool(name) == (path.stem != "index")
        assert "Copyright" not in page.get_text() and "Sphinx" not in page.footer.get_text()
    described = {page.select_one('meta[name="description"]')["content"] for page in pages.values()}
    assert len(described) == len(LESSONS) + 1
    card = {tag["property"]: tag["content"] for tag in pages[built / "index.html"].select("meta[property]")}
    assert card["og:title"] == "Learn attention by moving its numbers" and "you can edit" in card["og:description"]


def test_what_a_shared_link_shows_may_hold_any_letter_and_leads_to_where_the_site_stands(built):
    conf = runpy.run_path(built.parent / "site-source/conf.py")
    names, said, title = conf["describe"].__globals__, 'It\'s "so" & <b>', 'x & "y"'
    names["ABOUT"]["a"], names["addresses"] = said, lambda: ("", "https://here/there")
    context = {"title": title, "metatags": '<meta name="own" content="stays">'}
    conf["describe"](None, "a", "page.html", context, None)
    found = BeautifulSoup(context["metatags"], "html.parser").select("meta")
    assert {tag.get("property") or tag["name"]: tag["content"] for tag in found} == {
        **{"own": "stays", "og:title": title, "og:description": said, "description": said, "og:type": "article"},
        **{"og:url": "https://here/there/a.html", "og:image": "https://here/there/_static/board.png"},
        "twitter:card": "summary_large_image",
    }


def test_the_map_has_every_step_of_its_lesson_by_its_name(built, pages):
    lesson = pages[built / "notebooks" / "01_by_hand.html"]
    drawn, steps = lesson.select_one("svg.map[role=img][aria-label][viewbox]"), {}
    for box in drawn.select("[data-step]"):
        steps.setdefault(box["data-step"], []).append(box.get_text())
    names = ["X", "W_q W_k W_v", "Q K V", "scores", "weights", "weighted", "outputs"]
    assert [" ".join(steps[f"{i}"]) for i in range(1, 8)] == names and len(steps) == 7
    assert set(steps) <= set(re.findall(r"Step (\d)", lesson.get_text())), "which begin with a heading each"


def test_every_lesson_says_how_to_run_it(built, pages):
    for name in LESSONS:
        ways = pages[built / "notebooks" / f"{name}.html"].select_one("details#run-it")
        assert f"python course.py lab {name[:2]}" in ways.get_text()
        assert "these lines open it as a notebook" in ways.get_text()
        assert (built / "notebooks" / ways.select_one("a[download]")["href"]).resolve().is_file()


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


def test_the_zip_runs_where_it_was_unpacked(built, tmp_path):
    """The first command and the first notebook; what the command installs is the same as everywhere."""
    zipfile.ZipFile(built / "run" / "attention.zip").extractall(tmp_path)
    course = tmp_path / "attention"
    said = subprocess.run([sys.executable, "course.py"], cwd=course, capture_output=True, text=True)
    assert "lab" in said.stdout + said.stderr
    subprocess.run([sys.executable, "-m", "workbench.copies"], cwd=course, check=True, capture_output=True)
    assert sorted(path.stem for path in (course / "my").glob("*.ipynb")) == LESSONS
    with preloaded_kernels.processes() as pool:
        pool.submit(exec, ALONE, {"course": str(course)}).result()


def test_links_in_the_zip_lead_to_files_in_it(tmp_path):
    ways_to_run.pack(tmp_path / "course.zip")
    zipfile.ZipFile(tmp_path / "course.zip").extractall(tmp_path)
    told = [path for path in tmp_path.rglob("*.md") if "website" not in path.parts]  # a page of the site's
    nowhere = []
    for path in (*told, *tmp_path.rglob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        links = [urlsplit(link) for link in re.findall(r"\]\(([^)\s]+)", text)]
        places = {unquote(link.path) for link in links if not link.scheme and link.path}
        nowhere += [f"{path.name}: {place}" for place in places if not (path.parent / place).exists()]
    assert len(told) > 3 and nowhere == []


def test_code_has_the_colours_that_it_has_on_slides(built, pages):
    colours_in = re.compile(r"\.highlight \.[kscm]\w* \{ color: (#\w+)").findall
    here = (built / "_static" / "pygments.css").read_text(encoding="utf-8")
    assert set(colours_in(here)) == set(colours_in("\n".join(sphinx_site.colours_of_code())))
    lesson = pages[built / "notebooks" / "03_masking.html"]
    assert lesson.select(".highlight .kn") and lesson.select(".highlight .mi")
    assert not lesson.select(".highlight :is(.n, .p, .w, .nn)"), "elements without a colour of their own"


def test_code_that_answers_a_question_is_folded(pages):
    answers = [cell for page in pages.values() for cell in page.select(".tag_answer, .tag_filled")]
    assert len(answers) > len(LESSONS) and all(cell.select_one("details:not([open])") for cell in answers)


def test_pages_for_instructors_keep_their_links_out_of_the_site(built, pages):
    for name in sphinx_site.OTHERS:
        page = pages[(built / name).with_suffix(".html")]
        linked = {link["href"] for link in page.select("article a")}
        assert linked >= set(re.findall(r"\]\((https:[^)]+)\)", (ROOT / name).read_text(encoding="utf-8"))), name


def test_nobody_is_told_to_run_a_cell(pages):
    for path, page in pages.items():
        assert not page.find(string=lambda text: "both cells again" in text or "this cell again" in text), path.name


def test_every_picture_is_described_and_every_formula_is_drawn(pages):
    for path, page in pages.items():
        assert all(aside.get("aria-label") for aside in page.select("aside")), path.name
        assert all(heading.get("aria-level") for heading in page.select("[role=heading]")), path.name
        for picture in page.select("article img"):
            assert len(picture.get("alt", "")) > 20, f"{path.name}: {picture}"
            diagram = picture["src"].endswith(".svg") and "_images" in picture["src"]
            assert diagram == (picture.parent.name == "picture"), "a diagram has a form for phones"
            phone = picture.parent.source if diagram else picture
            assert not diagram or int(phone["height"]) / int(phone["width"]) > int(picture["height"]) / int(
                picture["width"]
            )
            assert int(picture["width"]) > 100 and picture["loading"] == "lazy"  # nothing jumps when it comes
        if path.stem in LESSONS:
            prose = [
                c.source
                for c in nbformat.read(ROOT / f"notebooks/{path.stem}.ipynb", 4).cells
                if c.cell_type == "markdown"
            ]
            alone = sum(len(re.findall(r"^\$\$.+?\$\$", text, re.M | re.S)) for text in prose)
            assert len(page.select("article div > math[display=block]")) == alone, path.name
        for formula in page.select("math"):
            assert "&" not in formula.get_text() and "\\" not in formula.get_text(), formula.get_text()


# Everything that shows, looked at once: the texts whose contrast with what is painted behind them is below 4.5, each
# look of text on each ground once; those on the screen on which something else lies; what scrolls and can neither be
# reached with the keyboard nor holds anything that can; and what is reached and scrolls nowhere.
LOOK = (
    f"() => {{ {CONTRAST}"
    + """
  const covered = [], unreached = [], needless = [];
  const words = document.createRange();
  const isCovered = (text, node) => { // its first line, at its middle, if that is on the screen
    words.selectNodeContents(text);
    const { left, top, width, height } = words.getClientRects()[0] ?? new DOMRect(-1);
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    return seen && !seen.contains(node) && !seen.closest(".strip"); // which is to lie there, and may be scrolled away
  };
  const onScreen = ({ top, bottom }) => bottom > 0 && top < innerHeight;
  const shows = (node) => node.checkVisibility() || getComputedStyle(node).display === "contents";
  const filter = (node) => (shows(node) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
  const all = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT, filter);
  while (all.nextNode()) {
    const node = all.currentNode, style = getComputedStyle(node);
    const texts = [...node.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    if (texts.length) contrast(node, style);
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
  return [{ faint, covered, unreached, needless }, looks.size];
}"""
)
CUT_CODE = "[...document.querySelectorAll('.cell_input pre')].filter((c) => c.scrollWidth > c.clientWidth).length"
# What axe finds in the text, the boards and the forms of one page alone. The rest, which takes axe longer, hangs on
# what pages of a kind have in common, and is asked of one of each kind. Contrast, which takes it longest, and what a
# keyboard cannot scroll are LOOK's.
EACH = ["aria-allowed-attr", "aria-hidden-focus", "aria-required-attr", "aria-required-children", "summary-name"]
EACH += ["aria-required-parent", "aria-roles", "aria-valid-attr-value", "button-name", "definition-list"]
EACH += ["duplicate-id-aria", "empty-heading", "heading-order", "image-alt", "label", "link-name", "list"]
EACH += ["listitem", "select-name", "svg-img-alt", "td-headers-attr", "th-has-data-cells"]
EACH = {"runOnly": EACH}
ALL = {"rules": {"target-size": {"enabled": True}, "color-contrast": {"enabled": False}}}
KINDS = {"phone, dark": ["index", "search", "README", LESSONS[0]], "laptop, light": ["README"]}


def show_on(page, screen, motion="reduce"):
    """Give the window the size and the theme of a screen, and the boards a moment to take their room."""
    (width, height), scheme = SCREENS[screen]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(media="screen", color_scheme=scheme, reduced_motion=motion)
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def seen_by(page):
    """What is too faint, covered or out of reach on this screen."""
    found, looks = page.evaluate(LOOK)
    assert looks > 5
    return found


def found_by_axe(page, options):
    """What axe finds: the rules, each with the first node that breaks it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    run = "async (options) => (await axe.run(document, options)).violations"
    found = page.evaluate(run, {**options, "resultTypes": ["violations"], "selectors": False, "preload": False})
    return {violation["id"]: violation["nodes"][0]["html"][:200] for violation in found}


def test_every_page_fits_its_screen_and_everybody_can_read_it(pages, reader):
    """Opened on one screen, each page is then given the room and the light of the other; the next begins there."""
    page, faults, screens = reader(next(iter(pages))), [], list(SCREENS)
    for path in sorted(pages):
        page.goto(path.as_uri())
        for screen in screens:
            show_on(page, screen)
            found = seen_by(page)
            found["wider by"] = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if screen.startswith("laptop"):
                found["code cut at the right"] = page.evaluate(CUT_CODE)
            if path.stem in KINDS[screen]:
                found |= found_by_axe(page, ALL)
            elif screen.startswith("phone"):
                found |= found_by_axe(page, EACH)
            faults += [(path.name, screen, fault, what) for fault, what in found.items() if what]
        screens.reverse()
    assert faults == []


SMALL = "<button style='all: unset; font-size: 8px; line-height: 1'>a</button>" * 2
SCROLLS = "<div style='height: 1em; overflow: auto'>one<br>two<br>three</div>"
COVERED = "<p style='position: relative'>a<span style='position: absolute; inset: 0; background: #fff'></span></p>"
SPOILT = {  # a node that is added, what axe is asked, and what is found
    "a pale text": ("<p style='color: #ccc'>a</p>", EACH, ["faint"]),
    "a dark ground": ("<p style='background: #555'>a</p>", EACH, ["faint"]),
    "a faded text": ("<p style='opacity: 0.4'>a</p>", EACH, ["faint"]),
    "a gradient with a dark end": ("<p style='background: linear-gradient(#fff, #555)'>a</p>", EACH, ["faint"]),
    "a text under something": (COVERED, EACH, ["covered"]),
    "a picture without words": ("<p><img src=''></p>", EACH, ["image-alt"]),
    "a button too small for a finger": (f"<p>{SMALL}</p>", ALL, ["target-size"]),
    "a text that only a mouse can scroll": (SCROLLS, EACH, ["unreached"]),
}


def test_what_nobody_could_read_would_be_found(built, reader):
    page, found = reader(built / "search.html"), {}
    for fault, (added, asked, _) in SPOILT.items():
        page.evaluate("(html) => document.querySelector('article').insertAdjacentHTML('beforeend', html)", added)
        seen = [name for name, what in seen_by(page).items() if what]
        found[fault] = sorted([*seen, *found_by_axe(page, asked)])
        page.evaluate("document.querySelector('article').lastElementChild.remove()")
    assert found == {fault: faults for fault, (_, _, faults) in SPOILT.items()}


def test_numbers_typed_into_a_page_give_what_attn_lib_computes(built, reader):
    page = reader(built / "index.html")
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


def test_arrow_keys_belong_to_the_boards(built, reader):
    page = reader(built / "notebooks" / "03_masking.html")
    keys = (
        "(key) => dispatchEvent.call(document, new KeyboardEvent('keydown', { key, cancelable: true, bubbles: true }))"
    )
    assert page.evaluate(keys, "ArrowRight") and page.evaluate(keys, "ArrowLeft"), "they lead to another page"


def test_a_mistyped_number_is_refused_and_explained(built, reader):
    page = reader(built / "index.html", "phone, dark")
    board = page.get_by_role("group", name="Self-attention by hand", exact=True)
    cell = board.get_by_label("W_q row 1 column 1", exact=True)
    cell.fill("abc")
    cell.press("Enter")
    board.get_by_role("status").get_by_text("“abc” is not a number").wait_for()
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
    look = (
        "[...['--right', '--wrong', '--drawn'].map((name) => getComputedStyle(document.body).getPropertyValue(name))]"
    )
    chosen = page.evaluate(look)
    assert "invert" in page.locator("picture img").evaluate("(node) => getComputedStyle(node).filter")
    button = page.locator("article a.button").first
    button.hover()
    words = button.evaluate("(node) => getComputedStyle(node).color")
    assert words == page.evaluate("getComputedStyle(document.body).backgroundColor"), (
        "a link's colour is that of a button"
    )
    page.emulate_media(color_scheme="dark")
    while page.evaluate("document.body.dataset.theme") != "auto":
        toggle.click()
    assert page.evaluate(look) == chosen and "invert(0.92) hue-rotate(180deg)" in chosen
    while page.evaluate("document.body.dataset.theme") != "light":
        toggle.click()
    assert page.evaluate(background) == light and page.evaluate(look)[2] == "none", "light in a dark room"


def test_a_diagram_stands_upright_on_a_phone(built, reader):
    page = reader(built / "notebooks" / "03_masking.html", "phone, dark")
    page.locator("picture img").first.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('picture img').currentSrc.includes('/upright/')")
    show_on(page, "laptop, light")
    page.wait_for_function("!document.querySelector('picture img').currentSrc.includes('/upright/')")


# -------------------------------------------------------------------------------------- guesses, states, map, print


def first_question(page):
    """The first question of lesson 1: the new row of bank, (0.5, 1.5)."""
    form = page.locator("form.guess").first
    return form, form.locator("input"), form.get_by_role("status")


def test_a_guess_is_answered_in_the_page_and_what_follows_opens(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html")
    form, line, verdict = first_question(page)
    fold = page.locator("details.after-guess").first
    assert not fold.get_attribute("open") and not form.get_by_text("The answer").is_visible()
    line.press("Enter")
    line.fill("  ")
    line.press("Enter")
    assert not verdict.count(), "nothing was guessed"
    assert line.get_attribute("placeholder") == "two numbers, such as [1.5, 0.5]"
    line.fill("1, 3")
    line.press("Enter")
    verdict.get_by_text("Try again.").wait_for()  # and says which slip it is
    assert "✗" in verdict.inner_text() and "numbers" not in verdict.inner_text()
    assert fold.get_attribute("open") is None
    fold.evaluate("(node) => node.insertAdjacentHTML('afterend', `<h3>More</h3>${node.outerHTML}`)")  # no answer to it
    line.fill("[0.5, 1.5]")
    form.get_by_role("button", name="Run").click()
    verdict.get_by_text("✓ Right.").wait_for()
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()
    page.locator("details.after-guess[open]").first.wait_for()
    assert page.locator("details.after-guess[open]").count() == 1  # the next question's stays shut
    assert verdict.get_attribute("class") == "verdict right" and seen_by(page)["faint"] == []
    assert not form.get_by_role("button", name="Show me").count(), "there is nothing left to show"

    questions = page.locator("form.guess[data-again=false]").count()
    page.get_by_text(f"1 of {questions} guesses right", exact=True).wait_for()
    page.reload()  # the progress stays, also on the first page
    first_question(page)[2].get_by_text("✓ Right.").wait_for()
    assert first_question(page)[1].input_value() == "[0.5, 1.5]"
    page.goto((built / "index.html").as_uri())
    page.get_by_text(f"1 of {questions} guesses right", exact=True).wait_for()
    assert "".join(page.locator(".so-far").all_text_contents()[1:]) == "", "of what nobody began nothing is said"


def test_a_browser_that_keeps_nothing_answers_too(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html")
    page.evaluate("localStorage['attention:01_by_hand'] = sessionStorage['attention:01_by_hand:board-0'] = '{'")
    page.reload()
    assert page.evaluate("boards[0].now().inputs") == page.evaluate("boards[0].start.inputs")
    page.evaluate("void (Storage.prototype.setItem = () => { throw new Error('full') })")
    _, line, verdict = first_question(page)
    line.fill("[0.5, 1.5]")
    line.press("Enter")
    verdict.get_by_text("✓ Right.").wait_for()
    page.get_by_role("button", name="take every key away").click()
    page.get_by_label("weights I → tea: 0.33").wait_for()


def test_two_wrong_guesses_or_giving_up_show_the_truth(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html", "phone, dark")
    form, line, verdict = first_question(page)
    again = {"7, 7": True, "seven": False, "7,7": True, "8, 8": False}  # what is no number, or the same, does not count
    for guess, once_more in again.items():
        assert not form.get_by_text("The answer").is_visible()
        line.fill(guess)
        line.press("Enter")
        verdict.get_by_text("could not be read" if guess == "seven" else "✗").wait_for()
        assert ("Try again" in verdict.inner_text()) == once_more, guess
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()
    assert verdict.get_attribute("class") == "verdict wrong" and seen_by(page)["faint"] == []
    other = page.locator("form.guess").nth(2)
    other.locator("input").fill("9, 9, 9")
    other.get_by_role("button", name="Run").click()
    other.get_by_text("✗").wait_for()
    other.get_by_role("button", name="Show me").click()
    other.get_by_text("The answer").wait_for()
    assert not other.get_by_role("status").count(), "what was said of the guess is gone"
    assert page.locator(".tag_answer details[open]").count() == 1, (
        "the code that answers it opens, the next one's does not"
    )
    page.get_by_text(re.compile(r"^0 of \d+ guesses right$")).wait_for()
    page.reload()
    other.get_by_text("The answer").wait_for()
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()
    assert "Try again" not in verdict.inner_text() and not other.get_by_role("button", name="Show me").count()


def test_an_exercise_in_numbers_names_the_mistake_and_never_gives_itself_away(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html")
    form = page.locator("form.guess[data-again=true]").first
    outputs = self_attention_steps(X, W_q, W_k, W_v, scale=1).outputs[1].tolist()  # of the wrong sentence
    for digits in (3, 4, 5):
        form.locator("input").fill(", ".join(f"{number:.{digits}f}" for number in outputs))
        form.get_by_role("button", name="Check").click()
        form.get_by_role("status").get_by_text("This is an output of I like tea").wait_for()
        assert "Try again" not in form.inner_text()  # it may be tried for ever
    form.locator("input").fill(f"{EXERCISES['1.1'].answer}")
    form.get_by_role("button", name="Check").click()
    form.get_by_role("status").get_by_text("✓").wait_for()
    page.get_by_text(re.compile(r"^0 of \d+ guesses right$")).wait_for()  # an exercise is none
    assert seen_by(page)["faint"] == []
    assert not form.locator(".answer").is_visible() and form.locator(".answer[hidden]").count() == 1


def edit(page, number, place="W_q row 1 column 1"):
    cell = page.get_by_label(place, exact=True)
    cell.fill(str(number))
    cell.press("Enter")
    page.get_by_role("status").get_by_text(f"{place} is now {number}.").wait_for()


# What a finger changes elsewhere: the texts of results, and of what is said of a number, that nothing lies on.
IN_VIEW = """(board) => {
  const there = (node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    return width && seen && (node.contains(seen) || seen.contains(node));
  };
  const parts = [...board.querySelectorAll("td.result, .why, .edited, .mini .tone > div")].filter(there);
  return parts.map((node) => node.textContent);
}"""


@pytest.mark.parametrize("name", ["index", *LESSONS])
def test_on_a_phone_a_tap_and_an_edit_change_something_in_view(built, browser, name):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    page.goto((built / (f"notebooks/{name}.html" if name in LESSONS else "index.html")).as_uri())
    board = page.locator(".attn-board:has(td.input)").first
    board.get_by_role("button", name="Random").tap()  # between zeros one number may well change nothing
    cells, moved = board.locator("td.input input, td.input .switch").filter(visible=True), []
    for cell in (cells.first, cells.last):
        cell.evaluate("(node) => node.scrollIntoView({ block: 'center', behavior: 'instant' })")
        before = board.evaluate(IN_VIEW)
        cell.tap()
        tapped = board.evaluate(IN_VIEW)
        assert tapped != before
        if cell.evaluate("(node) => node.matches('input')"):
            more = board.get_by_label("one more").bounding_box()
            assert more["y"] + more["height"] <= 844, "the stepper is out of sight"
            page.touchscreen.tap(more["x"] + 9, more["y"] + 9)
        moved.append(board.evaluate(IN_VIEW)[1:] != before[1:])
    context.close()
    assert any(moved)


def test_a_visitor_on_a_phone_changes_a_number_on_the_first_page(built, reader):
    page = reader(built / "index.html", "phone, dark")
    cell = page.get_by_label("inputs X I, column 1", exact=True)
    assert cell.bounding_box()["y"] < 844, "the first number stands below the first screen"
    before = page.get_by_label(re.compile("^outputs I, column 1: ")).get_attribute("aria-label")
    edit(page, 5, "inputs X I, column 1")
    assert page.get_by_label(re.compile("^outputs I, column 1: ")).get_attribute("aria-label") != before


# Resolves after every observer that was there before it has been told what is in view.
OBSERVED = "new Promise((seen) => new IntersectionObserver(seen).observe(document.querySelector('.attn-board')))"


def test_the_first_board_plays_once_by_itself_until_anything_is_touched(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html", motion="no-preference")
    page.locator(".attn-board").first.evaluate("(board) => board.scrollIntoView({ behavior: 'instant' })")
    page.evaluate(OBSERVED)
    assert page.evaluate("localStorage['attention:played'] ?? null") is None, "a lesson's board waits"
    page.set_viewport_size({"width": 1366, "height": 250})
    page.goto(SERVED)
    pause, play = (page.get_by_role("button", name=name, exact=True) for name in ("Pause", "Play the steps"))
    outputs = page.get_by_label("outputs I, column 1: 1.94")
    page.evaluate(OBSERVED)
    assert play.count() == 1, "too little of it is in view"
    page.set_viewport_size({"width": 1366, "height": 768})
    pause.wait_for()
    assert outputs.count() == 0, "it comes last"
    page.keyboard.press("Tab")
    play.wait_for()
    outputs.wait_for()
    page.reload()
    page.evaluate(OBSERVED)
    assert play.count() == 1, "once"
    edit(page, 7)
    page.evaluate("localStorage.clear()")
    page.reload()
    page.evaluate(OBSERVED)
    assert play.count() == 1, "somebody's own numbers are not played with"


def test_a_page_stands_still_for_whom_motion_disturbs(built, reader):
    page = reader(built / "index.html", motion="reduce")
    page.evaluate(OBSERVED)
    assert page.get_by_role("button", name="Play the steps", exact=True).count() == 1
    assert page.evaluate("scrollTo(0, 300), scrollY") == 300, "it glides there"
    drawer = page.locator(".sidebar-drawer")
    moves = "(node) => [null, '::before', '::after'].map((part) => getComputedStyle(node, part).transitionProperty)"
    assert drawer.evaluate(moves) == ["none"] * 3, "it slides"


# Pastes an address with this behind its # and waits until the page has taken it up.
PASTE = """(hash) => new Promise((taken) => {
  addEventListener("hashchange", taken, { once: true });
  location.hash = hash;
})"""
FIRST = "document.querySelector('[aria-label=\"W_q row 1 column 1\"]').value"
NOTICE = "document.querySelector('.board-notice').textContent"


def link_to(page):
    """What the button makes of the address: the part behind its #."""
    page.get_by_role("button", name="Link to these numbers").first.click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    return page.url.partition("#")[2]


def reload(page):
    page.reload()


def follow_a_link_at_once(page):
    page.get_by_role("link", name="Begin with lesson 1").click()
    page.wait_for_url("**/01_by_hand.html")
    page.go_back()


def leave_by_the_address_bar(page):
    here = page.url.split("#")[0]
    page.goto(here.replace("index.html", "search.html"))
    page.goto(here)


def go_back_and_come_again(page):
    page.go_back()
    page.go_forward()


@pytest.mark.parametrize("leave", [reload, follow_a_link_at_once, leave_by_the_address_bar, go_back_and_come_again])
def test_what_was_typed_is_kept_however_a_page_is_left(built, reader, leave):
    page = reader(built / "index.html")
    cell = page.get_by_label("W_q row 1 column 1", exact=True)
    cell.fill("7")
    leave(page)
    assert page.evaluate(FIRST) == "7"
    link_to(page)
    cell.fill("8")
    leave(page)
    assert page.evaluate(FIRST) == "8" and "#" not in page.url, "the address still says 7"
    lesson = page.goto((built / "notebooks" / "01_by_hand.html").as_uri()) and first_question(page)[1]
    lesson.press_sequentially("0.5, ")
    page.reload()
    assert first_question(page)[1].input_value() == "0.5, ", "a guess half typed is not asked"
    assert not first_question(page)[2].count()


def test_a_closed_tab_leaves_its_numbers_to_the_next(built, reader):
    page = reader(built / "index.html")
    edit(page, 7)
    page.evaluate("sessionStorage.clear()")
    page.goto((built / "search.html").as_uri())
    page.goto((built / "index.html").as_uri())
    assert page.evaluate(FIRST) == "7" and "last time" in page.evaluate(NOTICE)
    page.get_by_role("button", name="Reset", exact=True).click()
    assert page.evaluate(NOTICE) == ""


def test_undo_and_the_reason_that_was_chosen_survive_a_reload(built, reader):
    page = reader(built / "notebooks" / "03_masking.html")
    board = page.get_by_role("group", name="Paint a mask")
    for column in range(4):
        board.get_by_label(f"mask q1 → k{column}").click()
    reason = board.locator(".reason select")
    if reason.count():
        reason.select_option("0")
    done = board.locator(".task").first.inner_text()
    page.reload()
    assert board.locator(".task").first.inner_text() == done and "✓" in done
    board.get_by_role("button", name="Undo").click()
    assert board.get_by_label("mask q1 → k3").get_attribute("aria-pressed") == "true"


def test_a_link_shows_its_numbers_until_they_are_changed(built, reader):
    page = reader(built / "index.html")
    edit(page, 7)
    link = link_to(page)
    edit(page, 8)
    assert "#" not in page.url, "the address says what stands there, or nothing"
    page.goto((built / "notebooks" / "01_by_hand.html").as_uri())
    page.go_back()
    assert page.evaluate(FIRST) == "8", "what was done last, not the link"
    page.evaluate("scrollTo(0, 1e6)")
    page.evaluate(PASTE, link)
    assert page.evaluate(FIRST) == "7"
    assert page.locator(".saved-board").evaluate("(board) => board.getBoundingClientRect().top < innerHeight / 2")
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate(FIRST) == "8", "a link can be undone"
    page = reader(built / "index.html", "phone, dark", asking=f"?another#{link}")  # another visitor's
    assert page.evaluate(FIRST) == "7" and page.evaluate("scrollY") > 0
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject())")
    page.get_by_role("button", name="Link to these numbers").click()
    page.get_by_text("It stands in the address bar.").wait_for()


def test_a_link_holds_what_is_no_letter_of_ascii(built, reader):
    lesson = built / "notebooks" / "03_masking.html"
    page = reader(lesson)
    filled = page.locator("select", has=page.locator("option", has_text="−1e9 before softmax"))
    filled.select_option("−1e9 before softmax")
    chosen = filled.input_value()
    page.get_by_role("button", name="Link to these numbers").click()
    page.get_by_text("Copied.").wait_for()
    page = reader(lesson, asking=f"?another#{page.url.partition('#')[2]}")
    assert filled.input_value() == chosen != "0"
    odd = "~ä√>?ÿ"
    assert page.evaluate("(inputs) => decoded(coded({ inputs })).inputs", odd) == odd
    assert page.evaluate("(inputs) => /^[\\w=]+$/.test(coded({ inputs }))", odd)


def test_each_board_of_a_page_keeps_its_own_numbers(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html")
    titles = "Self-attention by hand, up to the values", "Self-attention by hand"
    boards = [page.get_by_role("group", name=title, exact=True) for title in titles]
    cells = [board.get_by_label("W_v row 1 column 1", exact=True) for board in boards]
    for board, cell, number in zip(boards, cells, "78", strict=True):
        cell.fill(number)
        cell.press("Enter")
        board.get_by_role("status").get_by_text(f"W_v row 1 column 1 is now {number}.").wait_for()
    page.reload()
    assert [cell.input_value() for cell in cells] == ["7", "8"]
    page.goto((built / "index.html").as_uri())
    assert page.evaluate("boards[0].isAsLeft") is False, "another page has numbers of its own"
    page.goto((built / "notebooks" / "01_by_hand.html").as_uri())
    assert [cell.input_value() for cell in cells] == ["7", "8"], "who comes back finds them"
    links, number = [], page.locator(".saved-board").count()
    place = page.evaluate("(title) => boards.findIndex((one) => one.textContent.includes(title))", titles[1])
    for i in (place, number - 1):
        page.get_by_role("button", name="Link to these numbers").nth(i).click()
        page.locator(".board-tools").nth(i).get_by_role("status").get_by_text("Copied.").wait_for()
        links.append(page.url.partition("#")[2])
    cells[1].fill("9")
    cells[1].press("Enter")
    boards[1].get_by_role("status").get_by_text("W_v row 1 column 1 is now 9.").wait_for()
    page.goto(f"{(built / 'notebooks' / '01_by_hand.html').as_uri()}?again#{links[0]}")
    assert [cell.input_value() for cell in cells] == ["7", "8"], "a link comes before what was there"
    page.evaluate("sessionStorage.clear(), localStorage.clear()")
    page.goto(f"{(built / 'notebooks' / '01_by_hand.html').as_uri()}?once_more#{links[1]}")
    assert page.evaluate("boards.map((one) => one.isAsLeft)") == [False] * (number - 1) + [True]


def test_a_damaged_link_is_read_or_says_so(built, reader):
    page = reader(built / "index.html")
    edit(page, 7)
    link, state = link_to(page), page.evaluate("boards[0].now()")
    for as_sent in (link.replace("=", "%3D"), f"{link}.", f"{link}),", link.replace("&", "&amp;")):
        page = reader(built / "index.html", asking=f"?sent#{as_sent}")
        assert page.evaluate(FIRST) == "7" and page.evaluate(NOTICE) == "", as_sent
    inputs = state["inputs"]
    others = [{"W_q": [[7, 7]]}, {"W_q": [["7"] * len(row) for row in inputs["W_q"]]}]
    others += [{"W_q": [[number, *inputs["W_q"][0][1:]], *inputs["W_q"][1:]]} for number in (1e300, -1_000_001, None)]
    spoilt = [{}, {"inputs": {}, "settings": {}}, *({**state, "inputs": {**inputs, **other}} for other in others)]
    spoilt += [{**state, "settings": {**state["settings"], name: "none of them"}} for name in state["settings"]]
    links = [f"board=0&now={base64.urlsafe_b64encode(json.dumps(one).encode()).decode()}" for one in spoilt]
    for spoilt in (*links, link[:-8], "board=0&now=bm8=", "board=0", link.replace("board=0", "board=9")):
        page = reader(built / "index.html", asking=f"?sent#{spoilt}")
        assert page.evaluate(FIRST) == "1" and "damaged" in page.evaluate(NOTICE), spoilt
        page.evaluate(PASTE, link)
        assert page.evaluate(FIRST) == "7" and page.evaluate(NOTICE) == ""
        page.evaluate(PASTE, spoilt)
        assert page.evaluate(FIRST) == "7" and "damaged" in page.evaluate(NOTICE)


def test_a_sentence_makes_the_board_ready(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html", "phone, dark")
    board = page.get_by_role("group", name="Self-attention by hand", exact=True)
    page.get_by_role("button", name="take every key away").click()
    board.get_by_label("weights I → tea: 0.33").wait_for()
    assert all(cell.input_value() == "0" for cell in board.get_by_label(re.compile("^W_k row")).all())
    top = "(node) => node.closest('.saved-board').getBoundingClientRect().top"
    assert -1 < board.evaluate(top) < 300, "the board has been brought into view, from where it begins"


def test_every_phrase_that_a_board_knows_is_a_button_in_a_sentence(pages):
    seen = 0
    for path, page in pages.items():
        for place in page.select("[data-id]:has(.saved-board)"):
            tries = json.loads(place.select_one(".saved-board script").string)["spec"]["tries"]
            buttons = page.select(f'button.try[data-board="{place["data-id"]}"]')
            found = [json.loads(button["data-now"]) for button in buttons]
            assert all(one["sets"] in found for one in tries), (path.name, tries)
            assert all(button.find_parent("p").get_text().count(" ") > 10 for button in buttons), path.name
            seen += len(tries)
    assert seen > 5


def test_the_map_stays_in_sight_and_the_step_being_read_is_lit(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html")
    steps = page.locator("svg.map")
    assert not steps.is_visible()
    for heading, box in (("Step 4: the scores", "scores"), ("Step 7: the output", "outputs")):
        come_to = "(node) => (node.scrollIntoView(), scrollBy(0, -0.4 * innerHeight))"  # from below, before the middle
        page.get_by_role("heading", name=heading).evaluate(come_to)
        steps.locator(".lit").get_by_text(box).wait_for()
        assert steps.is_visible() and steps.locator(".lit").count() == 1
    below = page.locator(".sidebar-scroll").bounding_box()
    assert below["y"] + below["height"] <= steps.bounding_box()["y"] + 1, "it lies on no link"
    page.emulate_media(media="print")
    assert not steps.is_visible(), "on a broad sheet it would stand beside whatever is there"
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 1366, "height": 600})
    assert not steps.is_visible(), "there is room for the links or for it"
    page.set_viewport_size({"width": 900, "height": 768})
    assert not steps.is_visible(), "the links are in a drawer"
    page.set_viewport_size({"width": 1366, "height": 768})
    page.get_by_role("heading", name="Where likeness fails").evaluate("(node) => node.scrollIntoView()")
    page.wait_for_function("!document.querySelector('svg.map .lit')")
    assert not steps.is_visible(), "that is no step"
    page.set_viewport_size({"width": 1366, "height": 9000})
    page.goto(f"{(built / 'notebooks' / '01_by_hand.html').as_uri()}?tall")
    assert steps.is_visible(), "a step can be read before anything was scrolled"


def test_no_window_is_scrolled_sideways(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html")
    wider = {}
    for width in (700, 800, 1024, 1100, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 768})
        wider[width] = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        contents = "getComputedStyle(document.querySelector('.toc-content-icon')).display"
        assert page.evaluate(contents) == "none" or width > 1440, "a sign for contents that are not there"
    room = "(node) => node.offsetWidth / parseFloat(getComputedStyle(node).fontSize)"
    assert page.locator(".content").evaluate(room) == pytest.approx(57, abs=0.1), "the column of lessons keeps its own"
    assert not any(wider.values()), wider


def test_in_print_answers_stand_at_the_end_and_hints_open(built, reader):
    page = reader(built / "notebooks" / "01_by_hand.html")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 794, "height": 1123})  # a sheet of A4
    opened = "[...document.querySelectorAll('details')].find((node) => node.textContent.startsWith('Hint 1 of 3'))"
    page.evaluate(f"void ({opened}.open = true)")
    page.evaluate("document.body.dataset.theme = 'dark', dispatchEvent(new Event('beforeprint'))")
    end = page.locator("article > section.answers")
    questions = page.locator("form.guess[data-again=false]").count()
    assert end.locator(".answered").count() == questions and "[0.5, 1.5]" in end.inner_text()
    assert end.evaluate("(node) => node === node.parentElement.lastElementChild")
    assert end.get_by_role("heading").first.inner_text() == "Answers"
    assert end.text_content().count(page.locator("details.after-guess p").first.text_content()) == 1
    assert "After your guess" not in end.text_content() and "Show the code" not in end.text_content()
    assert end.locator(".answered > b").all_text_contents()[:2] == ["1.", "2."]
    assert page.locator("form.guess[data-again=false]").nth(1).get_attribute("data-number") == "2"
    assert not page.locator("form.guess .answer").first.is_visible()
    assert not page.locator("details.after-guess").first.is_visible()
    assert not end.locator("pre").count(), "code stays where it is"
    for folded in ("filled", "answer"):
        code = page.locator(f".tag_{folded} details")
        assert code.count() and not code.and_(page.locator("[open]")).count()
    hint = "[...document.querySelectorAll('details')].find((node) => node.textContent.startsWith('Hint 3 of 3')).open"
    assert page.evaluate(hint)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert end.count() == 0 and not page.evaluate(hint) and page.evaluate(f"{opened}.open"), "all is as it was before"
    page.goto((built / "index.html").as_uri())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert end.count() == 0, "a page without questions has no answers"
