"""The deck, as a file and live: what a hall sees, what a lecturer's keys do, and what an accident leaves."""

import json
import re
import subprocess
import sys
from contextlib import contextmanager
from random import SystemRandom

import nbformat
import psutil
import pytest
from bs4 import BeautifulSoup
from lab_page import TOO_SMALL, wait_for

from authors import speaker
from authors.deck import build

NOTEBOOKS = sorted(build.NOTEBOOKS.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
HALL, LAPTOP, PROJECTOR, OLD, PHONE = (1920, 1080), (1366, 768), (1280, 720), (1024, 768), (390, 844)
PATIENCE = 60_000  # ms for what the kernel has to do on a machine that is busy

IN_A_BOARD = "section.present > section.present .attn-board :is(input, [tabindex='0'])"

# The slide shown, with everything on it that can come: what is cut, shrunk, small, or beyond the edge.
MEASURE = f"""() => {{
  {TOO_SMALL}
  const slide = Reveal.getCurrentSlide();
  const [body, heading] = [".body", ".heading"].map((name) => slide.querySelector(name));
  slide.querySelectorAll(".fragment").forEach((part) => part.classList.add("visible"));
  window.dispatchEvent(new Event("resize"));
  const box = slide.getBoundingClientRect();
  const beyond = [...slide.querySelectorAll(".heading, .cell *")].filter((node) => {{
    const own = node.getBoundingClientRect();
    const seen = own.width && own.height && !node.closest("details:not([open])");
    return seen && (own.right > box.right + 1 || own.bottom > box.bottom + 1);
  }});
  return {{
    number: Reveal.getSlides().indexOf(slide) + 1,
    heading: heading.textContent,
    top: heading.getBoundingClientRect().top - box.top,
    inView: box.left >= -1 && box.top >= -1 && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1,
    narrow: [...slide.querySelectorAll("img.drawing")].some((img) => 2 * img.getBoundingClientRect().width < box.width),
    shrunk: body.scrollHeight > body.clientHeight + 1,
    beyond: beyond.map((node) => node.outerHTML.slice(0, 80)).slice(0, 3),
    small: tooSmall([...slide.querySelectorAll(".cell *, .heading")], Reveal.getScale()),
  }};
}}"""


def build_all(folder):
    for path in NOTEBOOKS:
        (folder / f"{path.stem}.html").write_text(build.page(path), encoding="utf-8")


@pytest.fixture(scope="session")
def decks(built_once):
    return built_once("decks", build_all)


@pytest.fixture
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
        page.goto(address)
        if size != PHONE:
            page.wait_for_function("window.Reveal && Reveal.isReady()")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def open_deck(decks, show):
    return lambda name, size=PROJECTOR, **options: show((decks / f"{name}.html").as_uri(), size, **options)


def jump(page, number):
    for digit in str(number):
        page.keyboard.press(digit)
    page.keyboard.press("Enter")
    page.wait_for_function("(n) => Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1 === n", arg=number)


def number_of(page):
    return page.evaluate("Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1")


def slide_with(page, selector):
    """The number of the first slide that holds such an element."""
    return page.evaluate("(s) => Reveal.getSlides().findIndex((slide) => slide.querySelector(s)) + 1", selector)


def slides_of(name):
    return speaker.slides(nbformat.read(build.NOTEBOOKS / f"{name}.ipynb", as_version=4))


# ------------------------------------------------------------------------------------------------ what is seen


@pytest.mark.parametrize("name", NAMES)
def test_every_slide_fits_has_a_heading_that_does_not_jump_and_can_be_read_from_the_last_row(open_deck, name):
    page = open_deck(name)
    for number in range(1, len(slides_of(name)) + 1):
        jump(page, number)
        found = page.evaluate(MEASURE)
        assert found["number"] == number and found["heading"].strip(), found
        assert found["inView"] and not found["shrunk"] and not found["beyond"] and not found["small"], found
        assert not found["narrow"], found
        assert number == 1 or abs(found["top"] - 26) < 1, found
    assert page.complaints == [] and all(asked.startswith(("file:", "data:")) for asked in page.asked)


@pytest.mark.parametrize("size", [HALL, LAPTOP, OLD, (3840, 2160)], ids=str)
def test_other_screens_show_the_same_scaled_and_whole(open_deck, size):
    page = open_deck("01_by_hand", size)
    assert page.evaluate("Reveal.getScale()") == pytest.approx(min(size[0] / 1280, size[1] / 720), rel=0.01)
    for number in (2, slide_with(page, ".saved-board")):
        jump(page, number)
        found = page.evaluate(MEASURE)
        assert found["inView"] and not found["beyond"], found


def test_a_phone_held_upright_gets_a_page_to_scroll_in_letters_that_can_be_read(open_deck):
    page = open_deck("03_masking", PHONE, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert page.evaluate("document.documentElement.scrollHeight") > 5 * PHONE[1]
    sizes = page.locator(".prose p").evaluate_all("(all) => all.map((p) => parseFloat(getComputedStyle(p).fontSize))")
    assert min(sizes) >= 16
    assert page.locator("section section .heading").last.is_visible()
    question = page.locator(".cell.predict").first
    assert not question.locator(".outputs.saved").is_visible()
    question.get_by_label("The hall's guess").fill("show me")
    for guess in ("91", "92"):
        question.get_by_label("The hall's guess").fill(guess)
        question.get_by_role("button", name="Answer").click()
    question.locator(".outputs.saved").wait_for()


def test_dark_and_light_by_the_system_and_by_a_key(open_deck):
    page = open_deck("01_by_hand", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(22, 24, 29)"
    page.keyboard.press("d")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.reload()
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_a_deck_is_one_file_with_described_pictures_and_links_to_the_other_decks(decks):
    for path in decks.glob("*.html"):
        deck = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        assert not deck.select("link:not([href^='data:']), script[src]")
        for picture in deck.select("img"):
            assert picture["src"].startswith("data:") and len(picture.get("alt", "")) > 20, picture.get("alt")
        for drawing in deck.select(".outputs img"):
            assert drawing["src"].startswith("data:image/svg+xml"), "a plot is to stay sharp at any size"
        for link in deck.select("a[href]"):
            assert link["href"].startswith(("https://", "#")) or (decks / link["href"].split("#")[0]).is_file()


def test_on_paper_each_slide_is_a_page_and_answers_stand_at_the_end(open_deck):
    page = open_deck("01_by_hand")
    pdf = page.pdf(prefer_css_page_size=True, print_background=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    slides = len(slides_of("01_by_hand"))
    assert slides < pages <= slides + 3
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator(".cell.predict .outputs.saved").first.is_visible()
    assert page.locator(".answers").get_by_text("The answer:").first.is_visible()
    assert page.locator(".answers strong").count() == len(page.query_selector_all(".cell.predict[data-question]"))


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
    assert build.shortened("Short. Stays.") == ("Short. Stays.", [])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_sentences_that_a_slide_names_stand_in_its_cell(path):
    for cell in nbformat.read(path, as_version=4).cells:
        for beginning in cell.metadata.get("slide", []):
            sentences = [s for block in re.split(r"\n{2,}", cell.source) for s in build.SENTENCE.split(block)]
            assert any(sentence.startswith(beginning) for sentence in sentences), (cell.id, beginning)


def test_slide_numbers_in_the_instructors_guide_are_those_of_the_decks(decks):
    guide = (build.NOTEBOOKS / "INSTRUCTORS.md").read_text(encoding="utf-8")
    references = re.findall(r"(\d\d) slide (\d+) \(“([^”]+)”\)", guide)
    assert references
    for notebook, number, heading in references:
        (path,) = decks.glob(f"{notebook}_*.html")
        deck = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        assert deck.select("main section section .heading")[int(number) - 1].get_text() == heading, (notebook, number)


# ------------------------------------------------------------------------------------------------------- guesses


def test_nothing_after_a_question_shows_before_it_and_next_shows_it_step_by_step(open_deck):
    page = open_deck("03_masking")
    for number in [
        n + 1 for n, slide in enumerate(page.query_selector_all("section section")) if slide.query_selector(".guess")
    ]:
        jump(page, number)
        question = page.locator("section.present > section.present .cell[data-question]").first
        later = question.locator("xpath=following-sibling::*")
        assert not question.locator(".outputs.saved").is_visible()
        assert not any(later.nth(i).is_visible() for i in range(later.count()))


def test_next_shows_what_waits_for_a_guess_step_by_step_to_a_hall_that_gives_up(open_deck):
    page = open_deck("03_masking")
    jump(page, slide_with(page, ".guess"))
    waits = page.locator("section.present > section.present .waits")
    assert waits.count() >= 2
    for step in range(waits.count()):
        assert [waits.nth(i).is_visible() for i in range(waits.count())] == [i < step for i in range(waits.count())]
        page.keyboard.press("PageDown")


def test_a_guess_is_answered_in_the_page_with_its_slip_a_second_try_and_then_the_truth(open_deck):
    page = open_deck("01_by_hand")
    jump(page, slide_with(page, ".guess"))
    cell = page.locator("section.present > section.present .cell[data-question]").first
    question = json.loads(cell.get_attribute("data-question"))
    guess, verdict = cell.get_by_label("The hall's guess"), cell.get_by_role("status")
    assert question["slips"], "the first question has known slips"
    page.keyboard.press("g")
    page.keyboard.type(", ".join(f"{x:g}" for x in question["slips"][0]["leaves"]))
    page.keyboard.press("Enter")
    assert verdict.inner_text().startswith("✗") and verdict.inner_text().endswith("Try again.")
    assert BeautifulSoup(question["slips"][0]["says"], "html.parser").get_text() in verdict.inner_text()
    assert not cell.locator(".outputs.saved").is_visible()
    guess.fill("what?")
    page.keyboard.press("Enter")
    assert "could not be read" in verdict.inner_text() and not cell.locator(".outputs.saved").is_visible()
    guess.fill("[" + ", ".join(f"{x:g}" for x in question["leaves"]) + "]")
    page.keyboard.press("Enter")
    assert verdict.inner_text() == "✓ Right." and cell.locator(".outputs.saved").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("PageDown")


GUESSES = [
    "yes",
    "No.",
    "True",
    "columns",
    "Column",
    "the keys",
    "0.47",
    ".47",
    "47 %",
    "47%",
    "0,47",
    "1/3",
    "−2",
    "nan",
    "-inf",
    "∞",
    "3",
]
GUESSES += [
    "2, 2, 2",
    "[2, 2, 2]",
    "(2,2,2)",
    "2 2 2",
    "2; 2; 2",
    "3 x 4",
    "3×4",
    "torch.Size([3, 4])",
    "1e-3",
    "",
    "what?",
    "2, 2",
]
TRUTHS = ["yes", "no", "columns", "keys", 0.47, 1 / 3, -2.0, float("nan"), float("-inf"), float("inf"), 3, 0.001]
TRUTHS += [[2.0, 2.0, 2.0], (3, 4)]


def test_the_page_judges_as_predict_does(open_deck):
    from attn_lib.predict import Prediction

    page = open_deck("01_by_hand")
    for truth in TRUTHS:
        for guess in filter(None, GUESSES):
            slips = {"transposed": 47.0, "column": 0.5} if isinstance(truth, float | int) else {}
            mine = Prediction(guess, truth, 0.01, slips)
            page_says = page.evaluate("(both) => attnGuess.judge(...both)", [mine.for_a_page(), guess])
            status = "right" if page_says.get("right") else "unreadable" if page_says.get("unread") else "wrong"
            assert (status == "right") == (mine.status == "right"), (truth, guess, page_says, mine.status)
            if mine.slip:
                assert page_says["says"] in mine._repr_html_(), (truth, guess)
    for guess in ("5", "12"):  # within the tolerance of both slips
        mine = Prediction(guess, 251.0, 20, {"one_product": 1.0, "deviation": 15.8})
        page_says = page.evaluate("(both) => attnGuess.judge(...both)", [mine.for_a_page(), guess])
        assert page_says["says"] in mine._repr_html_(), guess


# ---------------------------------------------------------------------------------------------------------- keys


def test_keys_of_a_clicker_work_from_anywhere_and_a_board_keeps_the_others(open_deck):
    page = open_deck("01_by_hand")
    for key, there in (("Space", 2), ("PageDown", 3), ("PageUp", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        page.wait_for_function("(n) => Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1 === n", arg=there)
    board = slide_with(page, ".saved-board input, .saved-board [role=gridcell], .saved-board td")
    jump(page, board)
    page.locator(IN_A_BOARD).first.focus()
    for key in ("3", "Enter", "ArrowRight", "ArrowLeft", "ArrowUp", "b", "."):
        page.keyboard.press(key)
    assert number_of(page) == board and not page.evaluate("Reveal.isPaused()")
    page.keyboard.press("Escape")
    assert not page.evaluate("Reveal.isOverview()") and number_of(page) == board
    page.locator(IN_A_BOARD).first.focus()
    page.keyboard.press("PageUp")
    assert number_of(page) == board - 1


def test_black_overview_help_and_a_jump_that_leads_nowhere(open_deck):
    page = open_deck("01_by_hand")
    for key in ("b", "."):
        page.keyboard.press(key)
        assert page.evaluate("Reveal.isPaused()")
        page.keyboard.press(key)
        assert not page.evaluate("Reveal.isPaused()")
    page.keyboard.press("Escape")
    assert page.evaluate("Reveal.isOverview()")
    page.keyboard.press("Escape")
    assert not page.evaluate("Reveal.isOverview()")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog", name="Keys").is_visible() and number_of(page) == 1
    for key in ("9", "9", "9"):
        page.keyboard.press(key)
    assert page.locator(".jump").inner_text() == "Slide 999"
    page.keyboard.press("Enter")
    assert number_of(page) == 1 and not page.locator(".jump").is_visible()
    page.keyboard.press("4")
    page.keyboard.press("Escape")
    assert number_of(page) == 1 and not page.locator(".jump").is_visible()


def test_the_speaker_view_has_notes_question_next_slide_and_pace_and_drives(open_deck):
    page = open_deck("01_by_hand")
    jump(page, 3)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    view = opened.value
    first = slides_of("01_by_hand")[2].metadata["speaker"]
    view.locator(".speaker-controls-notes", has_text=first["say"][:30]).wait_for()
    view.locator(".pacing").wait_for()
    view.locator("#upcoming-slide iframe").wait_for()
    view.keyboard.press("PageDown")
    page.wait_for_function("Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1 >= 3")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    fifth = slides_of("01_by_hand")[4].metadata["speaker"]
    view.locator(".speaker-controls-notes", has_text=fifth["say"][:30]).wait_for()


def test_every_slide_has_its_planned_seconds(decks):
    for name in NAMES:
        deck = BeautifulSoup((decks / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        seconds = [int(slide["data-timing"]) for slide in deck.select("main section section")]
        assert seconds == [int(60 * speaker.notes_of(cell)["minutes"]) for cell in slides_of(name)]


# ------------------------------------------------------------------------------------------------ with a kernel


@contextmanager
def presenting(folder):
    """`course.py present` as it starts; yields the address of its decks."""
    port = SystemRandom().randrange(10_000, 30_000)
    options = ["--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    command = [sys.executable, "-m", "authors.deck.serve", str(NOTEBOOKS[2]), *options, "--IdentityProvider.token=test"]
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(command, cwd=build.NOTEBOOKS.parent, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}", server, folder / "server.log")
        yield f"http://127.0.0.1:{port}/deck/", server
    finally:
        for child in psutil.Process(server.pid).children(recursive=True):
            child.kill()
        server.kill()
        server.wait(20)


def kernels_of(server):
    return [p for p in psutil.Process(server.pid).children(recursive=True) if "ipykernel" in " ".join(p.cmdline())]


def run_seen(page, key="Shift+Enter"):
    """Press the key and wait until what it ran has been shown."""
    before = page.evaluate("document.documentElement.dataset.runs ?? 0")
    page.keyboard.press(key)
    page.wait_for_function(
        "(n) => document.documentElement.dataset.runs > n && !document.querySelector('.running')", arg=before
    )


def test_a_lecture_of_notebook_3_with_keys_alone(show, tmp_path):
    with presenting(tmp_path) as (address, server):
        page = show(address + "03_masking?token=test")
        page.wait_for_function("document.documentElement.dataset.python === 'ready'")
        assert page.title().startswith("3.")

        # Shift+Enter runs, stays until the output was seen, and goes on with the next press
        first = slide_with(page, ".cell.code:not(.fragment, [data-question]) > .outputs.saved:not(:empty)")
        jump(page, first)
        saved = page.locator("section.present > section.present .outputs.to-come").first
        assert not saved.is_visible()
        cells = page.locator("section.present > section.present .cell.code:not(.fragment)").count()
        for _ in range(cells):
            run_seen(page)
            assert number_of(page) == first
        assert "".join(page.locator("section.present > section.present .outputs.shown").all_inner_texts()).strip()

        # a wrong guess is answered by predict itself, with its slip or what differs; the right one shows what follows
        question = slide_with(page, ".guess")
        jump(page, question)
        cell = page.locator("section.present > section.present .cell[data-question]").first
        asked = json.loads(cell.get_attribute("data-question"))
        page.keyboard.press("g")
        page.keyboard.type("12345")
        page.keyboard.press("Enter")
        cell.locator(".outputs.shown", has_text="✗").wait_for()
        assert "The answer" not in cell.locator(".outputs.shown").inner_text()
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.press("Control+a")
        page.keyboard.type(", ".join(str(x) if isinstance(x, str) else f"{x:g}" for x in asked["leaves"]))
        page.keyboard.press("Enter")
        cell.locator(".outputs.shown", has_text="✓").wait_for()
        page.keyboard.press("Escape")

        # an error is said in one line, and mended in place; what was typed survives a reload
        assert number_of(page) == question
        page.locator("section.present > section.present .cm-content").first.focus()
        page.keyboard.press("Control+End")
        page.keyboard.type("\nnot_there")
        run_seen(page, "Control+Enter")
        assert number_of(page) == question
        assert (
            "NameError: name 'not_there' is not defined"
            in page.locator("section.present > section.present .outputs.shown .error").first.inner_text()
        )
        page.reload()
        page.wait_for_function("document.documentElement.dataset.python === 'ready'")
        assert number_of(page) == question
        assert "not_there" in page.locator("section.present > section.present .cm-content").first.inner_text()
        assert "NameError" in page.locator("section.present > section.present .outputs.shown").first.inner_text()
        assert len(kernels_of(server)) == 1, "the same kernel goes on"
        page.keyboard.press("o")
        assert "not_there" not in page.locator("section.present > section.present .cm-content").first.inner_text()
        page.keyboard.press("o")
        assert "not_there" in page.locator("section.present > section.present .cm-content").first.inner_text()
        page.keyboard.press("o")

        # an endless loop is said to be busy, and interrupted with one key
        page.locator("section.present > section.present .cm-content").first.focus()
        page.keyboard.press("Control+Home")
        page.keyboard.type("while True: pass\n")
        page.keyboard.press("Control+Enter")
        page.get_by_text("Python is busy").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("i")
        page.locator("section.present > section.present .outputs.shown .error", has_text="KeyboardInterrupt").wait_for()
        page.keyboard.press("o")

        # the kernel dies: it is said, the slide stays, u runs everything up to here
        kernels_of(server)[0].kill()
        said = page.locator(".python.trouble")
        said.wait_for()
        if "has died" in said.inner_text():  # the server gave it up before it came back by itself
            page.keyboard.press("r")
            page.get_by_text("Python has started again").wait_for()
        assert number_of(page) == question
        page.wait_for_function("document.documentElement.dataset.status === 'idle'")
        page.keyboard.press("u")
        page.wait_for_function(
            "!document.querySelector('.python').textContent && document.documentElement.dataset.status === 'idle'"
        )
        assert page.locator("section.present > section.present .error").all_inner_texts() == []

        # a board made by running its cell is alive in the slide, and a jump runs what it needs first
        board = slide_with(page, ".saved-board")
        jump(page, board)
        assert page.locator("section.present > section.present .attn-board").first.is_visible(), "alive before its run"
        page.wait_for_function("document.documentElement.dataset.status === 'idle'")
        page.keyboard.press("Shift+Enter")
        page.locator("section.present > section.present .outputs.shown .attn-board").wait_for()
        assert page.complaints == []


def test_restart_keeps_what_was_typed_and_forgets_what_was_run(show, tmp_path):
    with presenting(tmp_path) as (address, _):
        page = show(address + "01_by_hand?token=test")
        page.wait_for_function("document.documentElement.dataset.python === 'ready'")
        page.locator("section.present > section.present .cm-content").first.focus()
        page.keyboard.press("Control+End")
        page.keyboard.type("\nprint('here', 6 * 7)")
        run_seen(page, "Control+Enter")
        page.get_by_text("here 42").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("r")
        page.get_by_text("Python has started again").wait_for()
        assert "6 * 7" in page.locator("section.present > section.present .cm-content").first.inner_text()
        assert page.evaluate("JSON.parse(sessionStorage['deck:01_by_hand:session']).ran") == []


def test_without_the_token_nothing_is_served(tmp_path, show):
    with presenting(tmp_path) as (address, _):
        page = show(address.replace("/deck/", "/login"), PHONE)
        assert page.goto(address + "01_by_hand").url.count("login")
