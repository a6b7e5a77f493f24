"""Slides as stand-alone files: nothing clipped, nothing small, nothing from a network, boards that move, notes."""

from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from lab_page import TOO_SMALL

from authors import slides, speaker

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))

# What is on the slide shown, with all its fragments: its size, what is too small to read, and what is cut off.
MEASURE = f"""() => {{
  {TOO_SMALL}
  const slide = Reveal.getCurrentSlide();
  slide.querySelectorAll(".fragment").forEach((part) => part.classList.add("visible"));
  const cut = (node) => ["auto", "scroll", "hidden"].includes(getComputedStyle(node).overflowX);
  const wide = [...slide.querySelectorAll(".cell *")]
    .filter((node) => node.scrollWidth > node.clientWidth + 1 && cut(node)).map((node) => node.textContent);
  const small = tooSmall([...slide.querySelectorAll("*")], Reveal.getScale());
  return {{ height: slide.scrollHeight, width: slide.scrollWidth, small, wide, begins: slide.innerText.slice(0, 60) }};
}}"""


def build(folder):
    for path in NOTEBOOKS:
        (folder / f"{path.stem}.html").write_text(slides.deck(path), encoding="utf-8")


@pytest.fixture(scope="session")
def decks(built_once):
    return built_once("slides", build)


@pytest.fixture
def show(browser):
    """Opens a deck on a projector; notes what it asks the network for."""
    pages = []

    def open_deck(path, size=(1920, 1080)):
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        pages.append(page)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        return page

    yield open_deck
    for page in pages:
        page.close()


@pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])
def test_every_slide_fits_and_is_large_enough_to_read(decks, show, name):
    page = show(decks / f"{name}.html")
    slides_seen = 0
    for index in page.evaluate("Reveal.getSlides().map((slide) => Reveal.getIndices(slide))"):
        page.evaluate("({ h, v }) => Reveal.slide(h, v)", index)
        found = page.evaluate(MEASURE)
        assert found["height"] <= 1080 and found["width"] <= 1920, found
        assert not found["small"] and not found["wide"], found
        slides_seen += 1
    assert slides_seen == len(speaker.slides(nbformat.read(NOTEBOOKS[0].parent / f"{name}.ipynb", as_version=4)))
    assert all(asked.startswith(("file:", "data:")) for asked in page.asked)


def test_a_deck_is_one_file_with_described_pictures_and_links_to_the_other_decks(decks):
    for path in decks.glob("*.html"):
        deck = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        assert not deck.select("link, script[src]")
        for picture in deck.select("img"):
            assert picture["src"].startswith("data:") and len(picture.get("alt", "")) > 20, picture.get("alt")
        for link in deck.select("a[href]"):
            assert link["href"].startswith(("https://", "#")) or (decks / link["href"].split("#")[0]).is_file()


def test_keys_turn_the_pages_but_not_while_a_number_is_edited(decks, show):
    page = show(decks / "01_by_hand.html")
    page.keyboard.press("Space")
    assert page.evaluate("Reveal.getIndices().h + Reveal.getIndices().v") == 1
    page.evaluate(
        "Reveal.slide(...Object.values(Reveal.getIndices(document.querySelector('.saved-board').closest('section'))))"
    )
    there = page.evaluate("Reveal.getIndices()")
    board = page.get_by_role("group", name="Self-attention by hand")
    board.get_by_label("W_k row 1 column 3", exact=True).click()
    for key in ("3", "Enter", "ArrowUp", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    board.get_by_text("W_k row 2 column 3 is now").wait_for()
    board.get_by_label("outputs I, column 1:").click()
    for key in ("ArrowRight", "ArrowDown", "End"):
        page.keyboard.press(key)
    assert page.evaluate("Reveal.getIndices()") == there
    page.wait_for_function("document.querySelector('.saved-board').model.get('now').inputs.W_k[0][2] === 3")
    page.keyboard.press("PageDown")  # a key that the board does not use turns the page
    page.wait_for_function("(there) => JSON.stringify(Reveal.getIndices()) !== JSON.stringify(there)", arg=there)


def test_what_answers_a_prediction_comes_only_when_asked_for(decks, show):
    page = show(decks / "01_by_hand.html")
    answer = page.locator(".fragment", has_text="predict(guess, queries[1],").first
    page.evaluate(
        "(node) => Reveal.slide(...Object.values(Reveal.getIndices(node.closest('section'))))", answer.element_handle()
    )
    assert "visible" not in answer.get_attribute("class")
    page.keyboard.press("Space")
    assert "visible" in answer.get_attribute("class")
