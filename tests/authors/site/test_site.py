"""The site: its lessons, links and pictures are there, none elsewhere, and it opens without a network."""

import re
import subprocess
import sys
import threading
import zipfile
from contextlib import closing
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import preloaded_kernels
import pytest
from site_page import LESSONS, SCREENS, SERVED, Quiet, address_of, ask, first_question

import attn_lib
from authors import addresses
from authors.lessons import lessons
from authors.site.lesson_page import STANDING


def lesson_pages(built, pages):
    return {name: pages[built / "notebooks" / f"{name}.html"] for name in LESSONS}


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
