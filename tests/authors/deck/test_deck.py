"""The deck as a file: what a hall sees, what the speaker is told, what a guess and a lecturer's keys do."""

import itertools
import json
import os
import re
from contextlib import contextmanager
from functools import cache

import nbformat
import pytest
import torch
from bs4 import BeautifulSoup
from deck_page import (
    COLOUR,
    FITS,
    LOOK_AT_ALL,
    NO_FOCUS,
    PHONE,
    SLIDE,
    jump,
    number_of,
    slide_with,
    swipe,
    until,
    until_slide,
)
from paths import LESSONS
from playwright.sync_api import expect

from authors.deck import build, slides
from authors.pages import notes

NAMES = [path.stem for path in LESSONS]
HALL, OLD, LARGE = (1920, 1080), (1024, 768), (3840, 2160)
IN_A_BOARD = SLIDE + ".attn-board :is(input, [tabindex='0'])"


@cache
def slides_of(name):
    return notes.slides(nbformat.read(build.NOTEBOOKS / f"{name}.ipynb", as_version=4))


# ------------------------------------------------------------------------------------------------ what is seen


@pytest.mark.parametrize("name", NAMES)
def test_every_slide_fits_and_can_be_read(open_deck, name):
    page = open_deck(name)
    assert page.evaluate("Reveal.getTotalSlides()") == len(slides_of(name))
    assert page.evaluate(LOOK_AT_ALL) == []
    assert page.complaints == [] and all(asked.startswith(("file:", "data:")) for asked in page.asked)


def test_axe_finds_no_violation_on_any_kind_of_slide(decks, show):
    """At first, with fields for hands, and with the code; contrast, which takes axe longest, is LOOK_AT_ALL's."""
    from axe_playwright_python.sync_playwright import Axe

    page = show((decks / "03_masking.html").as_uri(), reduced_motion="reduce")
    options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}
    for kind in (".choice", ".guess:not(:has(.choice))", ".blank", ".saved-board"):
        jump(page, slide_with(page, kind))
        for key in ("h", "c", "PageDown"):
            found = Axe().run(page, options=options)
            assert found.violations_count == 0, found.generate_report()
            page.keyboard.press(key)


def test_other_screens_show_the_same_scaled(open_deck):
    page = open_deck("01_by_hand")
    for size in (LARGE, OLD):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        scale = min(size[0] / 1280, size[1] / 720)
        until(page, "(scale) => Math.abs(Reveal.getScale() / scale - 1) < 0.01", scale)
    assert page.evaluate(LOOK_AT_ALL) == []


def test_slide_shrinks_what_does_not_fit_then_scrolls(show, lesson, tmp_path):
    path = lesson(TWO, ("# 3. Small", "title"), (PLOT, None), ("x=1", "how-much"))
    (tmp_path / "small.html").write_text(build.page(path), encoding="utf-8")
    page = show((tmp_path / "small.html").as_uri())
    fitted = """(lines) => {
      const body = Reveal.getCurrentSlide().querySelector(".body"), more = document.createElement("pre");
      more.textContent = "more\\n".repeat(lines);
      body.append(more);
      Reveal.next();
      Reveal.prev();
      more.remove();
      return [Number(body.style.zoom), body.style.overflowY];
    }"""
    size, scrolls = page.evaluate(fitted, 0)
    smaller, still = page.evaluate(fitted, 2)
    smallest, at_last = page.evaluate(fitted, 60)
    assert smallest < smaller < size and [scrolls, still, at_last] == ["", "", "auto"]


def test_dark_and_light_by_the_system_and_by_a_key(decks, show):
    page = show((decks / "03_masking.html").as_uri(), color_scheme="dark")
    assert page.locator(".jump, .python, .help").filter(visible=True).count() == 0, "nothing lies on the first slide"
    red = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"  # of a ground that is nearly grey
    is_dark = f"{red} < 128"
    assert page.evaluate(is_dark) and page.evaluate(LOOK_AT_ALL) == []
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(red) == 255, "paper is white"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(is_dark)
    page.keyboard.press("d")
    assert not page.evaluate(is_dark)
    page.reload()
    until(page, "window.Reveal && Reveal.isReady()")
    assert not page.evaluate(is_dark)


def test_reload_stays_on_its_slide_and_a_new_visit_begins(decks, show):
    address = (decks / "03_masking.html").as_uri()
    page = show(address)
    page.keyboard.press("PageDown")
    page.reload()
    until(page, "window.Reveal && Reveal.isReady()")
    assert number_of(page) == 2
    page.goto("about:blank")
    page.goto(address)
    until(page, "window.Reveal && Reveal.isReady()")
    assert number_of(page) == 1


def test_deck_is_one_file_whose_links_lead_somewhere(decks, open_deck):
    for name in NAMES:
        page = open_deck(name)
        assert not page.query_selector("link:not([href^='data:']), script[src]")
        assert page.evaluate("document.documentElement.lang") == "en", "so that it is read aloud in English"
        pictures = "[...document.images].map((img) => [img.getAttribute('src'), img.alt, img.matches('.outputs *')])"
        for source, description, drawn in page.evaluate(pictures):
            # a plot is to stay sharp at any size
            assert source.startswith("data:image/svg+xml" if drawn else "data:") and len(description) > 20, description
        for link in page.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))"):
            assert link.startswith(("https://", "#")) or (decks / link.split("#")[0]).is_file()


def test_sentence_leads_to_its_board_and_sets_it(open_deck):
    page = open_deck("03_masking")
    board = slide_with(page, "button.try")
    jump(page, board)
    page.get_by_role("button", name="hide every later key").click()
    until_slide(page, board)
    page.get_by_label("weights q0 → k0: 1").wait_for()


# Whether a board stands at the top of the screen.
SEEN_FIRST = """[...document.querySelectorAll(".saved-board")].some(
  (board) => Math.abs(board.getBoundingClientRect().top) < 1
)"""


def test_phone_held_upright_gets_a_page_to_scroll_and_answer(decks, show):
    page = show((decks / "03_masking.html").as_uri(), PHONE, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    sizes = page.locator(".picture + .body .source .line, .prose p").evaluate_all(
        "(all) => all.map((p) => parseFloat(getComputedStyle(p).fontSize))"
    )
    assert min(sizes) >= 13 and max(sizes) <= 20
    numbers = "[...document.querySelectorAll('.attn-board td.input')]"  # which a board lays out in its first frame
    until(page, f"{numbers}.length && {numbers}.every((one) => one.offsetHeight >= 44)")  # a finger hits them
    page.locator(".heading").nth(3).evaluate("(node) => scrollBy(0, node.getBoundingClientRect().top - 500)")
    before = page.evaluate("scrollY")
    swipe(page, 60, 510, down=-300)
    until(page, "(before) => scrollY > before", before)  # also by a finger on a heading
    slide = page.locator("section.asks:has(.choice)").first
    before = slide.locator(".heading").inner_text()
    slide.get_by_role("button", name="more than 0").tap()
    expect(slide.get_by_role("status")).to_contain_text("✓")
    assert slide.locator(".heading").inner_text() != before, "the claim comes with the answer"
    page.get_by_role("button", name="hide every later key").tap()
    until(page, SEEN_FIRST)
    assert page.complaints == []


# A finger on each picture, or else its heading, for each step that its slide has; what is claimed by then, and before.
TAPPED_THROUGH = """() => [...document.querySelectorAll("section.drawn:has(.step)")].map((slide) => {
  const heading = slide.querySelector(".heading"), before = heading.textContent;
  for (const _ of slide.querySelectorAll(".step")) (slide.querySelector(":scope > .picture") ?? heading).click();
  return [before, heading.textContent];
})"""


@pytest.mark.parametrize("name", ["03_masking", "07_how_attention_learns"])
def test_on_a_phone_taps_lead_every_slide_to_its_claim(decks, show, name):
    page = show((decks / f"{name}.html").as_uri(), PHONE, has_touch=True, is_mobile=True)
    slides = page.evaluate(TAPPED_THROUGH)
    assert len(slides) > 15 and all(asked != claimed for asked, claimed in slides)
    assert page.locator(".next-step").filter(visible=True).count() == 0 and page.complaints == []


# ----------------------------------------------------------------------------------------------------- on paper


# What lies outside its page or under something else; the pages have a slide above and its cells below.
CUT_ON_PAPER = """() => [...document.querySelectorAll("section[data-cell]")].flatMap((page) => {
  const edge = page.getBoundingClientRect(), below = page.querySelector(".under-slide");
  const slide = [...page.querySelectorAll(".heading, .picture text, .body *")].filter((part) => part.checkVisibility());
  const beyond = (part, low) => {
    const { left, top, right, bottom, width } = part.getBoundingClientRect();
    return width && (left < edge.left - 1 || top < edge.top - 1 || right > edge.right + 1 || bottom > low + 1);
  };
  const lost = [
    ...slide.filter((part) => beyond(part, below.getBoundingClientRect().top)),
    ...[...below.querySelectorAll("*")].filter((part) => beyond(part, edge.bottom)),
  ];
  return lost.map((part) => [page.dataset.number, part.outerHTML.slice(0, 90)]);
})"""


@contextmanager
def on_paper(page):
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    try:
        yield
    finally:
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")


def plain_words(text):
    """The words of prose, without the numbers that a list puts before its lines."""
    return re.findall(r"\w+", re.sub(r"^\d+\. ", "", BeautifulSoup(text, "html.parser").get_text(), flags=re.M))


@pytest.mark.parametrize("name", ["03_masking", "06_bug_clinic", "09_two_heads", "11_small_gpt"])
def test_all_that_the_cells_say_is_on_paper_with_question_and_claim(open_deck, name):
    page = open_deck(name)
    notebook = nbformat.read(build.NOTEBOOKS / f"{name}.ipynb", as_version=4)
    said = [cell for cell in notebook.cells if cell.metadata.get("slideshow", {}).get("slide_type") != "skip"]
    prose = [block for cell in said if cell.cell_type == "markdown" for block in cell.source.split("\n\n")]
    plain = [block for block in prose if not re.search(r"[$!|#`\[<*]", block)]
    with on_paper(page):
        assert page.evaluate(CUT_ON_PAPER) == []
        pages = " ".join(re.findall(r"\w+", " ".join(page.locator(".under-slide").all_inner_texts())))
        assert plain and [block for block in plain if " ".join(plain_words(block)) not in pages] == []
        asked = page.locator(".asked-first").all_text_contents()
        claims = page.locator("section:has(> .asked-first) > .heading").all_text_contents()
        assert len(asked) > 15 and not set(asked) & set(claims)
        still_to_come = "document.getAnimations().filter((one) => one.animationName === 'come').length"
        assert page.evaluate(still_to_come) == 0, "a step that fades in would be printed before it is there"
    assert page.locator(".under-slide").count() == 0
    assert page.evaluate("Reveal.getTotalSlides()") == len(slides_of(name))


def test_paper_has_a_page_for_each_slide(open_deck):
    page = open_deck("03_masking")
    page.set_viewport_size({"width": HALL[0], "height": HALL[1]})
    around = dict.fromkeys(("top", "right", "bottom", "left"), "1cm")  # what a browser proposes
    pdf = page.pdf(prefer_css_page_size=True, print_background=True, margin=around)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == len(slides_of("03_masking"))


# ------------------------------------------------------------------------------------------------ what is said


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Writes a lesson of these cells, each its source, the slide that it begins and its tags, and slides; its path."""
    monkeypatch.setattr(slides, "HERE", tmp_path)

    def write(text, *cells):
        made = []
        for i, (source, name, *tags) in enumerate(cells):
            prose = source.startswith(("# ", "It "))
            make = nbformat.v4.new_markdown_cell if prose else nbformat.v4.new_code_cell
            made.append(make(source, id=f"cell-{i}", metadata={"tags": tags} | ({"slide": name} if name else {})))
        (tmp_path / "n03_small.py").write_text(f"{IMPORTS}\n{text}", encoding="utf-8")
        nbformat.write(nbformat.v4.new_notebook(cells=made), tmp_path / "03_small.ipynb")
        return tmp_path / "03_small.ipynb"

    return write


IMPORTS = """
from authors.deck.slides import again, slide
from workbench.display.drawings import Bars, unknown
"""
PLOT = """
from workbench.display.plots import curves
curves([1, 2], {"a": [1, 2]}, title="Growing", xlabel="x", ylabel="y", description="It grows.")
"""
TWO = """
@slide("Small", minutes=1.5, say="Begin.")
def title():
    "No picture."

@slide("How much?", minutes=2, say="Say <this>.", hall="Who <is>?")
def how_much(x):
    return [Bars(["a", "b"], values) for values in (unknown(2), [x, 2 * x])]
"""


def test_cells_and_slides_become_columns_with_steps_and_notes(lesson):
    last = """
@slide("And again?", minutes=1, say="One by one.", column=True)
def all_of_it():
    return again(how_much)
"""
    path = lesson(
        TWO + last,
        ("# 3. Small\n\nText.", "title"),
        ("x=1", "how-much"),
        ('It answers: <span id="claim">twice as much</span>. See [masks](03_masking.ipynb#masks).', None),
        ("x=5", "all-of-it"),
    )
    deck = BeautifulSoup(build.page(path), "html.parser")
    columns = deck.select(".slides > section")
    assert [[slide["data-cell"] for slide in column("section")] for column in columns] == [
        ["cell-0", "cell-1"],
        ["cell-3"],
    ]
    store = json.loads(deck.select_one("#settings").string)["slides"]
    assert [len(slide["pictures"]) for slide in store.values()] == [0, 2, 2]
    assert "b 2" in store["cell-1"]["pictures"][1], "x as it was when the slide's cells had run"
    assert store["cell-1"]["pictures"][1].count("?") == 0 < store["cell-1"]["pictures"][0].count("?")
    assert [store["cell-1"][part] for part in ("ask", "claim")] == ["How much?", "Twice as much."]
    told = BeautifulSoup(store["cell-1"]["notes"], "html.parser")
    assert told.get_text(" ", strip=True).startswith("Ask: Who <is>? Say <this>.")
    assert store["cell-1"]["plans"]["45"]["note"] == "2 min, from 1:30 of 4.5; 40.5 are spare."
    assert told.a["href"] == "03_masking.html#masks"


@pytest.mark.parametrize(
    "text, cells, said",
    [
        (TWO, [("# 3. Small", "title"), ("x=1", None)], "slide how-much: no cell"),
        (TWO, [("# 3. Small", "title"), ("x=1", "how-many"), ("x=2", "how-much")], "slide how-many: cell cell-1"),
        (TWO, [("# 3. Small", "how-much"), ("x=1", "title")], "slide title: in the notebook how-much comes"),
        (TWO, [("# 3. Small", "title"), ("y=1", "how-much")], "slide how-much: the notebook has no x"),
        (TWO.replace("(2), [x", "(2), [c"), [("# 3. Small", "title"), ("x=1", "how-much")], "slide how-much: .*'c'"),
        (
            TWO.replace("hall=", "choices='which', hall="),
            [("# 3. Small", "title"), ("x=1", "how-much")],
            "slide how-much: its first question is not which",
        ),
        (
            TWO.replace("values)", "values, colours=1)"),
            [("# 3. Small", "title"), ("x=1", "how-much")],
            "slide how-much: .*'colours'",
        ),
    ],
)
def test_what_does_not_fit_is_said_with_lesson_and_slide(lesson, text, cells, said):
    with pytest.raises(slides.SlideError, match=f"^Lesson 3, {said}.*$"):
        build.page(lesson(text, *cells))


def test_building_a_deck_changes_nothing_else(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(build.outputs.progress.PROGRESS_VARIABLE, str(tmp_path))
    sources = [
        "import os, torch; open('left behind', 'w').close(); print('noise')",
        f"open(os.path.join(os.environ[{build.outputs.progress.PROGRESS_VARIABLE!r}], 'progress'), 'w').close()",
        "torch.manual_seed(3); torch.set_printoptions(precision=1); torch.set_default_dtype(torch.float64)",
        "1 / 0",
        "from workbench.board.lessons import mask_board; mask_board()",
    ]
    torchs_own = [lambda: torch.get_rng_state().tolist(), torch.get_default_dtype, lambda: str(torch.ones(1) / 3)]
    before = [found() for found in torchs_own]
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    cells[3].metadata["tags"] = ["raises-exception"]
    assert list(build.outputs.run_here(nbformat.v4.new_notebook(cells=cells))) == ["cell-4"], "that cell is to fail"
    cells[3].metadata["tags"] = []
    with pytest.raises(RuntimeError, match=r"cell-3 .*division"):
        build.outputs.run_here(nbformat.v4.new_notebook(cells=cells))
    assert [found() for found in torchs_own] == before
    assert list(tmp_path.iterdir()) == [] and capsys.readouterr() == ("", "")
    assert os.environ[build.outputs.progress.PROGRESS_VARIABLE] == str(tmp_path)


def test_command_writes_the_named_decks_or_all(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "BUILD", tmp_path / "build" / "slides")
    monkeypatch.setattr(build, "page", lambda path: f"the deck of {path.stem} → …")
    assert build.main([str(LESSONS[2])]) == 0
    assert capsys.readouterr().out == f"{(build.BUILD / NAMES[2]).as_uri()}.html\n"
    assert build.main([]) == 0
    assert sorted(path.stem for path in build.BUILD.iterdir()) == NAMES


# ------------------------------------------------------------------------------------------------------- guesses


def test_truth_comes_with_the_last_step_and_goes_with_it(decks, show):
    page = show((decks / "03_masking.html").as_uri())  # of its own: what was shown once has been said aloud, and stays
    asked = slide_with(page, ".choice")
    jump(page, asked)
    heading, right = page.locator(SLIDE + ".heading"), page.locator(SLIDE + ".choice.right")
    question = heading.inner_text()
    until(page, "(question) => document.querySelector('.aria-status').textContent.includes(question)", question)
    page.keyboard.press("PageDown")
    claim = heading.inner_text()
    assert claim != question and right.count() == 1
    page.keyboard.press("PageUp")
    assert heading.inner_text() == question and right.count() == 0
    assert claim not in page.evaluate("document.documentElement.textContent")
    for number in (asked + 5, asked):  # what was jumped over waits
        jump(page, number)
    assert heading.inner_text() == question


STATE = "place => JSON.stringify([place.now().inputs, place.now().settings])"


@pytest.mark.parametrize("name", NAMES)
def test_a_board_shows_what_its_claim_says_and_goes_back(decks, open_deck, name):
    page = open_deck(name)
    store = json.loads(
        BeautifulSoup((decks / f"{name}.html").read_text(), "html.parser").select_one("#settings").string
    )
    for number, slide in enumerate(store["slides"].values(), 1):
        if not slide["board"]:
            continue
        jump(page, number)
        board = page.locator(SLIDE + ".saved-board").first
        before = board.evaluate(STATE)
        while not page.locator(f"{SLIDE.strip()}.answered").count():
            page.keyboard.press("PageDown")
        shown = json.loads(board.evaluate(STATE))
        assert shown == [slide["board"][part] for part in ("inputs", "settings")] != json.loads(before)
        assert board.locator(".asked").count() == bool(slide["board"]["mark"]), "the cell that the claim speaks of"
        page.keyboard.press("PageUp")
        assert board.evaluate(STATE) == before and board.locator(".asked").count() == 0
        page.keyboard.press("PageDown")
        if number < len(store):
            page.keyboard.press("PageDown")
            until_slide(page, number + 1)


def test_what_a_claim_shows_ends_the_film_of_a_board(decks, show):
    page = show((decks / "03_masking.html").as_uri())
    jump(page, slide_with(page, ".attn-board .play"))
    page.locator(SLIDE + ".play").first.click()
    page.locator(SLIDE + ".attn-board.playing").wait_for()
    while not page.locator(f"{SLIDE.strip()}.answered").count():
        page.keyboard.press("PageDown")
    page.locator(SLIDE + ".attn-board:not(.playing) .asked").wait_for()


def test_lines_of_a_plot_come_with_the_claim(open_deck):
    page = open_deck("12_softmax_in_passing")
    jump(page, slide_with(page, ".body > .code > .outputs img.drawing"))
    plot = "document.querySelector('section.present > section.present .outputs img').src.length"
    axes = page.evaluate(plot)
    page.keyboard.press("PageDown")
    assert page.evaluate(plot) > axes
    page.keyboard.press("PageUp")
    assert page.evaluate(plot) == axes


def test_tick_of_what_was_checked_comes_with_the_last_step(open_deck):
    page = open_deck("05_match_pytorch")
    jump(page, slide_with(page, ".tick"))
    tick = page.locator(SLIDE + ".tick")
    for _ in range(page.locator(SLIDE + ".step").count()):
        assert not tick.is_visible()
        page.keyboard.press("PageDown")
    assert tick.is_visible()


def test_code_comes_by_a_key_without_the_wrong_answers(open_deck):
    page = open_deck("03_masking")
    jump(page, slide_with(page, ".choice"))
    code = page.locator(SLIDE + ".source")
    assert not code.filter(visible=True).count()
    page.keyboard.press("c")
    shown = " ".join(code.all_inner_texts())
    assert "softmax" in shown and "predict(" not in shown and "guess" not in shown
    page.keyboard.press("c")
    assert not code.filter(visible=True).count()


def question_of(html, cell):
    """What the page knows of a question and keeps out of its own text."""
    told = BeautifulSoup(html, "html.parser").select_one("#settings").string
    return json.loads(told)["questions"][cell.get_attribute("data-id")]


def test_word_of_a_choice_is_a_guess_too(decks, show):
    page = show((decks / "03_masking.html").as_uri())  # of its own: an answered slide stays so
    for nth, wrong, right in ((1, "More", "less"), (0, "0", "more than 0")):
        jump(page, slide_with(page, ".choice", nth))
        page.keyboard.press("g")
        for typed, sign in ((wrong, "✗"), (right, "✓")):
            page.locator(SLIDE).get_by_label("The hall's guess").fill(typed)
            page.keyboard.press("Enter")
            assert page.locator(SLIDE + ".verdict").text_content().startswith(sign)
        page.locator(f"{SLIDE.strip()}.answered").wait_for()
        page.keyboard.press("Escape")


def test_clicked_choice_is_judged_as_if_it_were_typed(decks, show):
    page = show((decks / "03_masking.html").as_uri())  # of its own: an answered slide stays so
    html = (decks / "03_masking.html").read_text(encoding="utf-8")
    for number, wrong, right in ((2, "0", "more than 0"), (14, "two", "three")):
        jump(page, number)
        page.locator(SLIDE + f".choice[data-value='{wrong}']").click()
        question = question_of(html, page.locator(SLIDE + "[data-question]"))
        verdict = page.locator(SLIDE + ".verdict").inner_text()
        assert verdict.startswith("✗") and any(slip["says"] in verdict for slip in question["slips"])
        assert not page.locator(f"{SLIDE.strip()}.answered").count() and page.evaluate(LOOK_AT_ALL, number) == []
        jump(page, number)
        page.locator(SLIDE + f".choice[data-value='{right}']").click()
        page.locator(f"{SLIDE.strip()}.answered").wait_for()


def test_guess_is_answered_in_the_page_with_its_slip(decks, open_deck):
    page = open_deck("01_by_hand")
    jump(page, slide_with(page, ".guess"))
    cell = page.locator(SLIDE + ".cell[data-question]").first
    question = question_of((decks / "01_by_hand.html").read_text(encoding="utf-8"), cell)
    slip = question["slips"][0]
    guess, verdict, answer = cell.get_by_label("The hall's guess"), cell.get_by_role("status"), cell.locator(".saved")
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    assert verdict.text_content() == "", "nothing was guessed"
    page.keyboard.type(", ".join(f"{x:g}" for x in slip["leaves"]))
    page.keyboard.press("Enter")
    said = verdict.inner_text()
    assert said.startswith("✗") and said.endswith("Try again.") and not answer.is_visible()
    assert BeautifulSoup(slip["says"], "html.parser").get_text() in said
    wrong = verdict.evaluate(COLOUR)
    guess.fill("what?")
    page.keyboard.press("Enter")
    assert "could not be read" in verdict.inner_text() and not answer.is_visible()
    guess.fill("[" + ", ".join(f"{x:g}" for x in question["leaves"]) + "]")
    page.keyboard.press("Enter")
    assert verdict.inner_text() == "✓ Right."
    assert len({wrong, verdict.evaluate(COLOUR), page.locator("body").evaluate(COLOUR)}) == 3
    assert page.locator(SLIDE + ".body").evaluate(FITS)
    page.keyboard.press("Escape")
    assert page.evaluate(NO_FOCUS), "one key leaves the line"
    asked = page.locator(SLIDE + ".heading").inner_text()
    page.keyboard.press("PageDown")
    assert page.locator(SLIDE + ".heading").inner_text() != asked, "the picture's next step is the answer"


# Whether a verdict lies on a word of the picture above it.
ON_THE_PICTURE = """(form) => {
  const high = form.getBoundingClientRect().top;
  const words = [...form.closest("section").querySelectorAll(".picture text")];
  return words.some((word) => word.getBoundingClientRect().bottom > high + 4);
}"""


@pytest.mark.parametrize("name", ["01_by_hand", "07_how_attention_learns"])
def test_verdict_of_any_guess_shows_no_code_and_covers_nothing(open_deck, name):
    page = open_deck(name)
    typed = ".guess:not(:has(.choice))"
    slides = page.evaluate(
        "(typed) => Reveal.getSlides().flatMap((one, i) => (one.querySelector(typed) ? [i + 1] : []))", typed
    )
    for number in slides:
        jump(page, number)
        form, verdict = page.locator(SLIDE + typed).first, page.locator(SLIDE + ".verdict").first
        for guess in ("0.1, 0.2, 0.3, 0.4", "0.9999"):  # one of a wrong form, one of a wrong value
            page.keyboard.press("g")
            page.keyboard.type(guess)
            page.keyboard.press("Enter")
            assert verdict.inner_text() and not re.search(r"predict|slip|[=\[(]\w+\(", verdict.inner_text())
            assert not form.evaluate(ON_THE_PICTURE), f"slide {number}"
            page.keyboard.press("Escape")
    assert slides


def test_empty_field_leaves_with_the_truth(open_deck):
    page = open_deck("03_masking")
    jump(page, slide_with(page, ".guess:not(:has(.choice))"))
    field = page.locator(SLIDE).get_by_label("The hall's guess")
    assert field.is_visible()
    while not page.locator(f"{SLIDE.strip()}.answered").count():
        page.keyboard.press("PageDown")
    assert not field.is_visible()


def test_hands_are_bars_by_value_named_with_the_truth(open_deck):
    page = open_deck("03_masking")
    jump(page, slide_with(page, ".choice") + 3)
    page.keyboard.press("h")
    for many in ("22", "9", "3"):
        page.keyboard.type(many)
        page.keyboard.press("Tab")
    page.get_by_label("How many sit in the hall").fill("40")
    page.keyboard.press("Escape")
    choices, name = page.locator(SLIDE + ".choice"), page.locator(SLIDE + ".choice small")
    assert "34 of" in page.locator(SLIDE + ".slide-foot").inner_text()
    long = [float(choice.evaluate(LONG)) for choice in choices.all()]
    assert long[0] == 100 and long[0] > long[1] > long[2] > 0
    assert name.count() == 0 and page.locator(SLIDE + ".right").count() == 0
    page.keyboard.press("PageDown")
    assert name.inner_text() and page.locator(SLIDE + ".choice.right").count() == 1
    assert not page.locator(SLIDE + ".hands").first.is_visible(), "names stand where fields were"
    assert page.evaluate(LOOK_AT_ALL, number_of(page)) == []


LONG = "(choice) => parseFloat(choice.style.getPropertyValue('--hands'))"


def test_line_to_fill_is_drawn_where_nobody_can_type(open_deck):
    lines = open_deck("03_masking").locator(".blank .source").all_text_contents()
    assert lines and all("____" in line and "..." not in line for line in lines)


# ---------------------------------------------------------------------------------------------------------- keys


def test_clicker_keys_work_from_anywhere(open_deck):
    page = open_deck("01_by_hand")
    for key, way in (("Space", ">"), ("PageDown", ">"), ("PageUp", "<"), ("ArrowRight", ">"), ("ArrowLeft", "<")):
        before = page.evaluate("Reveal.getProgress()")  # a step of a slide counts too
        page.keyboard.press(key)
        page.wait_for_function(f"(before) => Reveal.getProgress() {way} before", arg=before)
    board = slide_with(page, ".attn-board input")
    jump(page, board)
    page.locator(IN_A_BOARD).first.focus()
    page.keyboard.press("PageUp")
    assert number_of(page) < board


def test_a_board_keeps_its_keys(open_deck):
    page = open_deck("01_by_hand")
    board = slide_with(page, ".attn-board input")
    jump(page, board)
    for part in (IN_A_BOARD, SLIDE + ".attn-board button:enabled"):
        page.locator(part).first.focus()
        for key in ("3", "ArrowRight", "ArrowLeft", "b", "n", "."):
            page.keyboard.press(key)
        assert number_of(page) == board and not page.evaluate("Reveal.isPaused()")
    cell = page.locator(SLIDE + ".attn-board td[tabindex='0']").first
    cell.focus()
    here = cell.element_handle()
    page.keyboard.press("ArrowRight")
    inside = "(here) => document.activeElement !== here && document.activeElement.closest('.attn-board') !== null"
    assert page.evaluate(inside, here), "the board has heard it"
    page.keyboard.press("Escape")
    assert not page.evaluate("Reveal.isOverview()") and page.evaluate(NO_FOCUS) and number_of(page) == board


def test_swipe_turns_the_page_but_not_while_it_drags_a_number(open_deck):
    page = open_deck("01_by_hand")
    for by, there in ((-120, 2), (120, 1), (-120, 2)):
        swipe(page, 640, 300, by)
        until_slide(page, there)
    board = slide_with(page, ".attn-board input")
    jump(page, board)
    number = page.locator(SLIDE + ".attn-board input").first
    before, box = number.input_value(), number.bounding_box()
    swipe(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, -120)
    after = number.input_value()
    assert number_of(page) == board and float(after.replace("−", "-")) < float(before.replace("−", "-"))


def test_next_and_previous_after_a_jump(open_deck):
    page = open_deck("01_by_hand")
    begins = "Reveal.getSlides().flatMap((slide, i) => (Reveal.getIndices(slide).v === 0 ? [i + 1] : []))"
    chapters = page.evaluate(begins)
    first = next(one for one, other in itertools.pairwise(chapters[1:]) if other - one > 3)
    jump(page, first + 2)  # a chapter's third slide, which must not be where the chapter goes on
    for start, key, there in ((first - 1, "PageDown", first), (first + 2, "PageUp", first + 1), (1, "Space", 2)):
        jump(page, start)
        while key != "PageUp" and page.locator(SLIDE + ".fragment:not(.visible)").count():
            page.keyboard.press(key)
        page.keyboard.press(key)
        assert number_of(page) == there, f"{key} from slide {start}"


def test_black_screen_overview_and_help_come_and_go(open_deck):
    page = open_deck("01_by_hand")
    for key in ("b", "."):
        for black in (True, False):
            page.keyboard.press(key)
            assert page.evaluate("Reveal.isPaused()") == black
    for leave in ("Escape", "Enter"):
        page.keyboard.press("Escape")
        assert page.evaluate("Reveal.isOverview()")
        page.keyboard.press(leave)
        assert not page.evaluate("Reveal.isOverview()")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("7")
    page.get_by_role("button", name="Close").click()
    assert not page.locator(".jump").is_visible(), "what is pressed while the help is open is not the deck's"
    assert not page.get_by_role("dialog", name="Keys").is_visible() and number_of(page) == 1


def test_a_number_and_enter_jump_to_that_slide(open_deck):
    page = open_deck("01_by_hand")
    said = page.locator(".jump")
    for key in ("Control+7", "Alt+7", "Control+d"):  # these are the browser's
        page.keyboard.press(key)
    assert not said.is_visible() and not page.locator("html.dark").count()
    page.keyboard.type("999")
    assert said.inner_text() == "Slide 999"
    page.keyboard.press("Enter")
    assert number_of(page) == 1 and not said.is_visible()
    for key in ("4", "2", "Backspace"):
        page.keyboard.press(key)
    assert said.inner_text() == "Slide 4"
    page.keyboard.press("Escape")
    assert number_of(page) == 1 and not said.is_visible()
    jump(page, 3)
    assert page.locator(SLIDE + ".slide-foot").inner_text().startswith("3")
