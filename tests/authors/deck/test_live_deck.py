"""The deck with a Python behind it, as a lecturer meets it: cells run, errors, accidents, and what stays of them."""

import json
import os
import re
import urllib.error
import urllib.request
from types import SimpleNamespace

import preloaded_kernels
import psutil
import pytest
from bs4 import BeautifulSoup
from deck_page import (
    COLOUR,
    FITS,
    LOOK_AT_ALL,
    NO_FOCUS,
    NUMBER,
    SLIDE,
    jump,
    number_of,
    slide_with,
    until,
    until_slide,
)
from lab_page import wait_for
from paths import LESSONS
from playwright.sync_api import expect
from ports import free_ports

from authors.deck import build, serve
from authors.deck.slides import slides_of
from workbench.places import COPY_VARIABLE

READY = "document.documentElement.dataset.python === 'ready'"
IDLE = "document.documentElement.dataset.status === 'idle'"
NOTHING_SAID = f"document.querySelector('.python').hidden && {IDLE}"
# The key c, on every slide.
OPEN_CODE = "for (const slide of Reveal.getSlides()) slide.classList.add('codes')"
CLOSE_CODE = OPEN_CODE.replace("add", "remove")
WHOLE = "(node) => node.checkVisibility() && node.scrollHeight <= node.clientHeight + 1"
ABOVE = "([one, other]) => one.getBoundingClientRect().bottom <= other.getBoundingClientRect().top + 1"
PLAIN = ":scope:not(:has(.cell.fragment, [data-question])) "  # a slide on which nothing waits but its picture's steps
NEXT = "PageDown", "ArrowRight", "Space"  # which clickers send


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """What `course.py present` starts: the address of its decks, and the server."""
    port, log = free_ports(1), tmp_path_factory.mktemp("presenting") / "server.log"
    options = ["--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    options += ["--IdentityProvider.token=test", "--KernelRestarter.time_to_dead=0.5"]  # s between looks at Python
    with preloaded_kernels.server(serve.main, [str(LESSONS[2]), *options], log) as server:
        wait_for(f"http://127.0.0.1:{port}", server.is_alive, log)
        yield f"http://127.0.0.1:{port}/deck/", server


@pytest.fixture(scope="module")
def live_deck(show, served):
    """A page with a Python, for what begins on any slide."""
    page = show(served[0] + "07_how_attention_learns?token=test")
    until(page, READY)
    page.evaluate(OPEN_CODE)
    return page


@pytest.fixture
def lecture(show, served):
    """A page of notebook 3 with a Python of its own, which `page.kernels()` lists."""
    address, server = served
    others = {kernel.pid for kernel in preloaded_kernels.kernels_of(server.pid)}
    page = show(address + "03_masking?token=test")
    until(page, READY)
    page.evaluate(OPEN_CODE)
    page.kernels = lambda: [one for one in preloaded_kernels.kernels_of(server.pid) if one.pid not in others]
    return page


def run_seen(page, key="Shift+Enter", press=None):
    """Press the key, or do what else runs a cell, and wait until what it ran has been shown."""
    before = page.evaluate("document.documentElement.dataset.runs ?? 0")
    (press or page.keyboard.press)(*([] if press else [key]))
    ran = "Number(document.documentElement.dataset.runs) > Number(n) && !document.querySelector('.running')"
    until(page, f"(n) => {ran}", before)


def type_into_the_first_cell(page, text, at="End"):
    page.locator(SLIDE + ".cm-content").first.focus()
    page.keyboard.press(f"Control+{at}")
    page.keyboard.insert_text(text)


def write(page, selector, text):
    page.locator(selector).first.evaluate("(cell, text) => cell.write(text)", text)


def to_the_question(page):
    """Go to the first guess, and have what stands above it run."""
    jump(page, slide_with(page, ".guess"))
    return page.locator(SLIDE + ".cell[data-question]").first


def leave(page, go_on):
    """Go through the steps of a slide and on to the next."""
    here = number_of(page)
    for _ in range(page.locator(SLIDE + ".step:not(.visible)").count()):
        go_on()
        assert number_of(page) == here
    go_on()


def said(page):
    return page.locator(SLIDE + ".error")


# -------------------------------------------------------------------------------------------------- running cells


def test_shift_enter_runs_stays_and_then_goes_on(show, served):
    page = show(served[0] + "03_masking?token=test")  # pressed while Python starts
    first = slide_with(page, PLAIN + ".cell.code > .outputs.saved:not(:empty)")
    jump(page, first)
    assert not page.locator(SLIDE + ".outputs.to-come").first.is_visible()
    for _ in range(page.locator(SLIDE + ".cell.code:not(.fragment)").count()):
        run_seen(page)
        assert number_of(page) == first
    assert "".join(page.locator(SLIDE + ".outputs.shown").filter(visible=True).all_inner_texts()).strip()
    until(page, NOTHING_SAID)
    leave(page, lambda: page.keyboard.press("Shift+Enter"))
    until_slide(page, first + 1)
    assert page.complaints == []


def test_shift_enter_shows_a_hidden_cell_before_it_runs_it(lecture):
    page = lecture
    jump(page, slide_with(page, ".code:not(.unseen) ~ .code.fragment:not(.waits)"))
    hidden = page.locator(SLIDE + ".code.fragment:not(.waits)").first
    assert not hidden.is_visible()
    for _ in range(page.locator(SLIDE + ".cell.code:not(.fragment)").count()):
        run_seen(page)
    page.keyboard.press("Shift+Enter")
    hidden.wait_for()
    assert hidden.get_attribute("data-id") not in page.evaluate("sessionStorage[`deck:${location.pathname}:session`]")


@pytest.mark.parametrize("key", ["Shift+Enter", "Control+Enter"])
def test_a_cell_that_was_changed_runs_again_by_the_key_that_is_pressed_in_it(lecture, key):
    page = lecture
    jump(page, slide_with(page, ":scope:not(:has(.fragment)) .cell.code:not(.unseen)"))
    here = number_of(page)
    for _ in range(page.locator(SLIDE + ".cell.code").count()):
        run_seen(page)
    type_into_the_first_cell(page, "\nprint('once', 'more')")
    run_seen(page, key)
    page.locator(SLIDE + ".shown", has_text="once more").wait_for()
    if key == "Control+Enter":  # which stays in the cell
        page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")  # with nothing that waits to be run
    page.locator(".python", has_text="No cell").wait_for()
    assert number_of(page) == here


def test_outputs_of_every_kind_are_shown(lecture):
    page = lecture
    jump(page, slide_with(page, ":scope:not(:has(.fragment)) .cell.code:not(.unseen)"))
    write(page, SLIDE + ".cell.code:not(.unseen)", SHOWS_ALL_KINDS)
    run_seen(page)
    shown = page.locator(SLIDE + ".cell.code:not(.unseen) > .outputs.shown").first
    assert shown.locator(".stream pre").all_inner_texts()[-1].splitlines()[-2:] == ["here 42 notebooks", "there"]
    assert shown.locator("svg circle").count() == 1 and shown.locator("b").inner_text() == "bold"
    assert shown.locator("img").last.get_attribute("src") == "data:image/png;base64,UE5H"
    assert shown.locator("pre").last.inner_text() == "'the last'"


SHOWS_ALL_KINDS = """
import os; print("here", 6 * 7, os.path.basename(os.getcwd()), flush=True); print("there")
from IPython.display import HTML, SVG, Image, display
display(HTML("<b>bold</b>"), SVG("<svg><circle r='5'/></svg>"), Image(b"PNG", format="png"))
"the last"
"""


def test_board_is_alive_before_and_after_its_cell_is_run(lecture):
    page = lecture
    jump(page, slide_with(page, ".saved-board"))
    assert page.locator(SLIDE + ".attn-board").first.is_visible()
    page.keyboard.press("Shift+Enter")  # which runs what it needs first
    page.locator(SLIDE + ".outputs.shown .attn-board").wait_for()
    questions = page.locator(".cell[data-question]")
    assert questions.locator(".outputs.shown:not(:empty)").count() == 0, "nobody was asked"
    assert questions.locator(".outputs.saved").count() == questions.count()


def test_next_shows_saved_outputs_of_code_that_is_unchanged(live_deck):
    page, saved = live_deck, live_deck.locator(SLIDE + ".saved:not(:empty, :has(.saved-board))")
    plain = [slide_with(page, PLAIN + ".to-come:not(:empty)", nth) for nth in range(3)]
    jump(page, plain[0])
    type_into_the_first_cell(page, "  # another")
    page.keyboard.press("PageDown")
    assert not saved.first.is_visible()
    page.keyboard.press("o")
    for slide, key in zip(plain, NEXT, strict=True):
        go_on = lambda key=key: page.keyboard.press(key)  # noqa: E731
        jump(page, slide)
        assert saved.count() and not any(output.is_visible() for output in saved.all())
        go_on()
        assert number_of(page) == slide and all(output.is_visible() for output in saved.all())
        leave(page, go_on)
        until_slide(page, slide + 1)


# --------------------------------------------------------------------------------------------- guesses and blanks


def test_only_the_right_guess_uncovers_the_answer(lecture):
    page, cell = lecture, to_the_question(lecture)
    told = BeautifulSoup(page.evaluate("fetch(location.href).then((found) => found.text())"), "html.parser")
    asked = json.loads(told.select_one("#settings").string)["questions"][cell.get_attribute("data-id")]
    heading, right = page.locator(SLIDE + ".heading"), page.locator(SLIDE + ".choice.right")
    question = heading.inner_text()
    page.keyboard.press("g")
    page.keyboard.type("12345")
    run_seen(page, "Enter")
    shown, saved = cell.locator(".outputs.shown"), cell.locator(".outputs.saved")
    assert "✗" in shown.inner_text() and "The answer" not in shown.inner_text()
    assert heading.inner_text() == question and right.count() == 0 and saved.text_content() == ""
    page.keyboard.press("Control+a")
    page.keyboard.type(", ".join(str(x) if isinstance(x, str) else f"{x:g}" for x in asked["leaves"]))
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Enter")  # which runs what waits for it first: a guess
    shown.get_by_text("✓").first.wait_for()
    right.wait_for()
    assert heading.inner_text() != question, "what follows the answer"


def test_clicker_shows_the_answer_whatever_was_guessed(lecture):
    page, cell = lecture, to_the_question(lecture)
    missing, answer = cell.get_by_text("Your guess first"), cell.get_by_text("The answer:")
    while not missing.is_visible():  # and what stands above it on the slide
        run_seen(page)
    assert not answer.is_visible()
    for key, shows in (("PageDown", True), ("PageUp", False)):
        page.keyboard.press(key)
        assert answer.is_visible() == shows and missing.is_visible() != shows
    page.keyboard.press("g")
    page.keyboard.type("(−12345)")
    run_seen(page, "Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Enter")  # which goes on, since this guess was answered
    wrong = cell.locator(".outputs").get_by_text("✗").first
    answer.wait_for()
    assert wrong.is_visible()
    page.reload()
    until(page, READY)
    assert wrong.is_visible()


@pytest.mark.parametrize(
    ("guess", "python"),
    [
        *((text, text) for text in ("True", "'tea'", "0.47", ".5", "1e-3", "(2,3)", "[[1, 2], [3, 4]]")),
        *((text, f'"{text}"') for text in ("milk", "-inf", "47 %", "0,47", "1/3", "[2 2]", "torch.Size([3, 4])", "05")),
        ("−2", "-2"),
    ],
)
def test_guess_becomes_python_or_a_string_of_what_was_typed(live_deck, guess, python):
    written = live_deck.locator(".cell[data-question]").first.evaluate(
        """(cell, guess) => {
          cell.querySelector(".guess input").value = guess;
          cell.querySelector("form.guess > button:not(.choice)").click();
          return cell.code().split("\\n")[0];
        }""",
        guess,
    )
    assert written == f"guess = {python}"


def test_own_line_is_checked_before_the_courses_is_seen(lecture):
    page = lecture
    here = slide_with(page, ".blank")
    for slide in (here + 1, here):  # reveal.js shows all of a slide that was jumped over
        jump(page, slide)
    line, check = page.locator(SLIDE + ".blank"), page.locator(SLIDE + ".filled")
    seen = "(node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true })"
    off_by_one, right = "positions <= lengths[:, None]", "my_real = positions < lengths[:, None]"
    for keys, typed, answer in ((["g"], off_by_one, "✗"), (["g", "Control+a"], right, "✓")):  # g leads to "..."
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.type(typed)
        page.keyboard.press("Shift+Enter")
        check.locator(".shown").get_by_text(answer).wait_for()
        assert not check.locator(".source").evaluate(seen) and number_of(page) == here
        page.evaluate(CLOSE_CODE)
        assert check.locator(".shown").evaluate(WHOLE)
        verdict, written = (part.element_handle() for part in (check.locator(".shown"), line.locator(".cm-content")))
        until(page, ABOVE, [verdict, written])  # at the next frame, when the page has learned how high the line is
        page.evaluate(OPEN_CODE)
    page.keyboard.press("Shift+Enter")
    check.locator(".source").wait_for()
    assert number_of(page) == here and "✓" in check.locator(".shown").inner_text()
    line.locator(".cm-content").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("my_real = ] = 2")
    run_seen(page)
    wrong, sign = line.locator(".error pre").inner_text().splitlines()[1:3]
    assert sign.index("^") == wrong.index("]"), "the sign stands below its place"
    assert not check.locator(".shown").inner_text(), "what was said of another line"


# ---------------------------------------------------------------------------------------------------- editing code


def test_code_is_edited_as_in_a_notebook(live_deck):
    page = live_deck
    jump(page, slide_with(page, ".code:not(.unseen, [data-question]) .cm-content"))
    cell, editor = page.locator(SLIDE + ".cell.code").first, page.locator(SLIDE).get_by_label("Code").first
    written = lambda: cell.evaluate("(cell) => cell.source()")  # noqa: E731
    file = written()
    page.locator(SLIDE + ".cm-content").first.focus()
    for key in ("Control+Home", "Enter", "ArrowUp"):
        page.keyboard.press(key)
    for line in ("class Two:", "def one(x):"):
        page.keyboard.type(line)
        page.keyboard.press("Enter")
    page.keyboard.type("return [1, 'two', None]  # three")
    assert written() == f"class Two:\n    def one(x):\n        return [1, 'two', None]  # three\n{file}"
    for kind, text in {"k": "class", "nf": "Two", "m": "1", "s": "'two'", "c": "# three"}.items():
        expect(editor.locator(f".{kind}").first).to_have_text(text)
    page.keyboard.press("Tab")
    assert written().splitlines()[2].startswith(12 * " ")
    while written() != file:
        before = written()
        page.keyboard.press("Control+z")
        assert written() != before
    page.keyboard.press("Escape")
    assert page.evaluate(NO_FOCUS)


def test_run_lies_on_no_code_and_code_can_be_read(live_deck):
    page = live_deck
    page.reload()  # what other slides' cells have said is not this one's
    until(page, READY)
    page.evaluate(OPEN_CODE)
    longest = page.evaluate(
        """() => Reveal.getSlides().map((slide) => Math.max(0, ...[...slide.querySelectorAll(".cm-line:first-child")]
          .map((line) => line.textContent.length)))"""
    )
    here = longest.index(max(longest)) + 1
    jump(page, here)
    gaps = page.locator(SLIDE + ".source").evaluate_all(
        """(sources) => sources.map((source) => {
          const line = document.createRange(), run = source.querySelector(".run").getBoundingClientRect();
          line.selectNodeContents(source.querySelector(".cm-line"));
          const beside = [...line.getClientRects()].filter((text) => text.top < run.bottom && text.bottom > run.top);
          return run.left - Math.max(...beside.map((text) => text.right));
        })"""
    )
    assert max(longest) > 90 and min(gaps) >= 0
    for _ in ("light", "dark"):
        assert page.evaluate(LOOK_AT_ALL, here) == []
        page.keyboard.press("d")


# ------------------------------------------------------------------------------------------- errors and accidents


def test_error_is_one_line_and_stays_with_what_was_typed(lecture):
    page = lecture
    to_the_question(page)
    stale, code = page.locator(SLIDE + ".code.stale"), page.locator(SLIDE + ".cm-content").first
    run_seen(page, press=page.locator(SLIDE + ".run").first.click)
    assert stale.count() == 0
    type_into_the_first_cell(page, "\nnot_there")
    assert stale.count() == 1, "what is shown is of other code"
    here = number_of(page)
    run_seen(page, press=page.locator(SLIDE + ".run").first.click)
    assert number_of(page) == here and stale.count() == 0
    error = said(page).first
    assert "NameError: name 'not_there' is not defined" in error.inner_text()
    assert error.evaluate(COLOUR) != page.locator("body").evaluate(COLOUR)
    assert not error.locator("pre").is_visible()
    error.get_by_text("where").click()
    assert "----> " in error.locator("pre").inner_text() and "\x1b" not in error.locator("pre").inner_text()
    until(page, f"() => ({FITS})(document.querySelector('{SLIDE}.body'))")
    page.reload()
    until(page, READY)
    assert number_of(page) == here and len(page.kernels()) == 1, "the same Python goes on"
    assert "not_there" in code.inner_text() and "NameError" in said(page).first.inner_text()
    for there in (False, True, False):
        page.keyboard.press("o")
        assert ("not_there" in code.inner_text()) == there


def test_error_on_the_way_is_said_with_its_slide(lecture):
    page = lecture
    file = page.locator(".code.unseen").first.evaluate("(cell) => cell.source()")
    imports = slide_with(page, ".code.unseen")
    write(page, ".code.unseen", IN_ONE_LINE)
    jump(page, imports + 1)
    page.keyboard.press("u")
    stopped = f"Python runs all up to here and stopped at slide {imports}: there is an error."
    page.locator(".python", has_text="stopped").wait_for()
    assert page.locator(".python").inner_text() == stopped
    jump(page, imports)
    assert said(page).first.inner_text() == "No module named 'not_there'", "of imports too, which are not shown"
    write(page, ".code:has(.error)", f"{ASKS}\n{file}")
    page.locator(SLIDE + ".code:has(.error) .cm-content").focus()
    run_seen(page, "Control+Enter")
    assert said(page).count() == 0
    assert page.locator(SLIDE + ".shown", has_text="a guess is asked for").count() == 1, "also after an error"


IN_ONE_LINE = """
class Missing(ImportError):
    _render_traceback_ = lambda self: ["\\x1b[31mNo module named 'not_there'\\x1b[0m"]

raise Missing
"""

ASKS = f'import os; print("a guess is asked for" if {COPY_VARIABLE!r} in os.environ else "not asked for")'


def test_endless_loop_is_said_and_interrupted_by_a_key(lecture):
    page = lecture
    to_the_question(page)
    type_into_the_first_cell(page, "import time\nwhile True: time.sleep(0.01)\n", at="Home")
    page.keyboard.press("Control+Enter")
    page.get_by_text(re.compile(r"^Python is busy, \d+ s\. i interrupts it\.$")).wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    said(page).filter(has_text="KeyboardInterrupt").wait_for()
    until(page, NOTHING_SAID)


def test_death_of_python_is_said_and_u_runs_all_up_to_here(lecture):
    page, python = lecture, lecture.locator(".python")
    to_the_question(page)
    run_seen(page)
    here = number_of(page)
    type_into_the_first_cell(page, "import time; time.sleep(600)\n", at="Home")
    page.keyboard.press("Control+Enter")
    until(page, "document.documentElement.dataset.status === 'busy' && document.querySelector('.running')")
    page.keyboard.press("Control+Enter")  # which waits, and ends too
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    page.kernels()[0].kill()
    page.locator(".python.trouble").wait_for()
    page.locator(SLIDE + ".code.stale").first.wait_for()  # what is shown is of another Python
    assert python.inner_text().startswith("Python was restarted"), "it stays said"
    assert number_of(page) == here and page.locator(".running").count() == 0 and said(page).count() == 0
    words = "Reveal.getSlides().findIndex((slide, i) => i >= n && !slide.querySelector('.code')) + 1"
    jump(page, page.evaluate(f"(n) => {words}", here))
    page.keyboard.press("u")  # also where no cell stands
    until(page, NOTHING_SAID)
    jump(page, here)
    assert said(page).count() == 0 and page.locator(SLIDE + ".code.stale").count() == 0


def test_restart_ends_what_runs_and_keeps_what_was_typed(lecture):
    page = lecture
    jump(page, slide_with(page, ":scope:not(:has(.fragment)) .cell.code:not(.unseen)"))
    cell = SLIDE + ".cell.code:not(.unseen)"
    run_seen(page)
    write(page, cell, "print('it runs', flush=True); import time; time.sleep(600)")
    page.locator(SLIDE + ".cm-content").first.focus()
    for _ in ("runs", "waits"):
        page.keyboard.press("Control+Enter")
    page.locator(SLIDE + ".shown", has_text="it runs").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()
    assert page.locator(".running").count() == 0
    assert "it runs" in page.locator(cell).first.evaluate("(cell) => cell.source()")
    page.reload()
    until(page, READY)
    assert page.locator(".outputs.shown:not(:empty)").count() == 0, "and not shown after a reload"


def test_unreachable_python_is_said_and_a_key_tries_again(lecture):
    page, trouble = lecture, lecture.locator(".python.trouble")
    heard, asked = [], []

    def between(socket):
        asked.append(socket.url)
        server = socket.connect_to_server()
        server.on_message(lambda told: (b'"idle"' in told and heard.append((socket, told)), socket.send(told)))

    page.route_web_socket(re.compile("/channels"), between)
    page.route("**/api/**", lambda route: route.abort())
    page.reload()
    trouble.filter(has_text="Python cannot be reached: ").wait_for()
    page.keyboard.press("r")
    trouble.filter(has_text="Python does not start again: ").wait_for()
    page.unroute("**/api/**")
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()
    assert asked and all("token=test" in address for address in asked), "for browsers that keep no cookie"
    socket, idle = heard[-1]
    socket.send(idle.replace(b'"idle"', b'"dead"'))  # as the server says of a Python that dies whenever it begins
    trouble.filter(has_text="Python has died. r starts it again").wait_for()
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()


# ------------------------------------------------------------------------------------------ speaker view and server


def test_speaker_view_has_notes_next_slide_and_pace_and_drives(live_deck):
    page = live_deck
    here = slide_with(page, PLAIN + ".body:not(:has(.to-come:not(:empty))) ~ .step")
    jump(page, here)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    view = opened.value
    told = view.locator(".speaker-controls-notes")
    says = [slide.say for slide in slides_of("07_how_attention_learns")]
    told.filter(has_text=says[here - 1]).wait_for()
    view.locator(".pacing").wait_for()
    for copy in ("current", "upcoming"):  # which are slides, however small, and only look on
        shown = view.frame_locator(f"#{copy}-slide iframe")
        shown.locator("section.present > section.present .heading").wait_for()
        assert shown.locator("body.reading, .cm-editor").count() == 0 < shown.locator(".source .line").count()
    steps = page.locator(SLIDE + ".step").count()
    for step in range(1, steps + 1):
        view.keyboard.press("PageDown")
        page.locator(f"{SLIDE}.step.visible >> nth={step - 1}").wait_for(state="attached")
        assert number_of(page) == here
    view.keyboard.press("PageDown")
    until(page, f"(n) => {NUMBER} > n", here)  # a short plan passes what is for a second reading
    told.filter(has_text=says[number_of(page) - 1]).wait_for()
    view.close()


def test_speaker_view_has_guesses_hands_and_boards_as_they_move(live_deck):
    page = live_deck
    asked, board = slide_with(page, ".choice"), slide_with(page, ".attn-board input")
    jump(page, asked)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    seen = opened.value.frame_locator("#current-slide iframe").locator("section.present > section.present")
    seen.locator(".choice").first.wait_for()
    page.locator(SLIDE + ".choice").nth(1).click()
    seen.locator(".choice[aria-pressed=true]").wait_for()
    page.keyboard.press("h")
    page.keyboard.type("12")
    seen.locator(".choice[data-hands='12']").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.type("0.25")
    wait_for_value = "(line) => line.value === '0.25'"
    opened.value.wait_for_function("() => true")
    handle = seen.locator(".guess label input").element_handle()
    until(handle.owner_frame(), wait_for_value, handle)
    page.keyboard.press("Escape")
    jump(page, board)
    number = page.locator(SLIDE + ".attn-board td.input input").first
    copy = seen.locator(".attn-board td.input input").first
    copy.wait_for()
    before = copy.input_value()
    number.focus()
    page.keyboard.press("ArrowUp")
    handle = copy.element_handle()
    until(handle.owner_frame(), f"(number) => number.value !== {before!r}", handle)
    assert copy.input_value() == number.input_value()
    page.keyboard.press("Escape")
    jump(page, slide_with(page, ".blank"))
    page.locator(SLIDE + ".blank .cm-content").focus()
    page.keyboard.type("my_own = 1  # ")
    seen.locator(".blank .source").get_by_text("my_own = 1").wait_for()
    opened.value.close()


def test_without_the_token_nothing_is_served_nor_elsewhere(served):
    with urllib.request.urlopen(served[0] + "01_by_hand") as answer:
        assert "/login" in answer.url and "Reveal" not in answer.read().decode()
    heard = [found.laddr.ip for found in psutil.Process(served[1].pid).net_connections() if found.status == "LISTEN"]
    assert heard and set(heard) == {"127.0.0.1"}


def test_server_opens_the_named_notebook_and_knows_no_other_file(served):
    root = served[0].removesuffix("deck/")
    with urllib.request.urlopen(f"{root}?token=test") as answer:
        assert answer.url.split("?")[0] == served[0] + "03_masking"
    with urllib.request.urlopen(f"{served[0]}03_masking.html?token=test") as answer:
        assert "Reveal" in answer.read().decode(), "decks lead to each other by the names of their files"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(served[0] + "07_no_such?token=test")


@pytest.mark.parametrize(("connections", "ended"), [(0, ["one"]), (1, [])], ids=["stays away", "comes back"])
def test_python_ends_with_its_page_unless_that_comes_back(connections, ended):
    found = []

    async def get_session(session_id):
        return {"kernel": {"connections": connections}}

    async def delete_session(session):
        found.append(session)

    manager = SimpleNamespace(get_session=get_session, delete_session=delete_session)
    with pytest.raises(StopIteration):  # it never waits
        serve.LeftHandler.end(SimpleNamespace(session_manager=manager), "one").send(None)
    assert found == ended


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Asks for the deck of a notebook when its file has changed: (status, page)."""
    monkeypatch.setattr(build, "NOTEBOOKS", tmp_path)

    class Asked(serve.DeckHandler):
        made, base_url, hall, began, plan = {}, "/", "/hall", 0, "45"
        request, identity_provider = SimpleNamespace(protocol="http", host="here:1"), SimpleNamespace(token="secret")

        def __init__(self):
            self.status = 200

        def set_status(self, status):
            self.status = status

        def finish(self, text):
            self.text = text

    def ask(changed):
        (tmp_path / "a.ipynb").touch()
        os.utime(tmp_path / "a.ipynb", (changed, changed))
        one = Asked()
        one.get.__wrapped__(one, "a")
        return one.status, one.text

    return ask


def test_deck_is_made_again_when_its_notebook_has_changed(monkeypatch, asked):
    made = []
    monkeypatch.setattr(build, "page", lambda path, server, earlier: made.append((path.name, server)) or str(len(made)))
    assert [asked(changed) for changed in (5, 5, 6)] == [(200, "1"), (200, "1"), (200, "2")]
    server = {"baseUrl": "http://here:1/", "token": "secret", "hall": "/hall", "began": 0, "plan": "45", "stays": ""}
    assert made == 2 * [("a.ipynb", server)]


def test_deck_stays_as_it_was_and_says_so_where_it_cannot_be_made_anew(monkeypatch, asked):
    def page(path, server, earlier):
        if not right:
            raise TypeError("question 03.heard has no slip called 'late'")
        return f"slides {json.dumps(server)}"

    monkeypatch.setattr(build, "page", page)
    right = False
    assert asked(5)[0] == 500 and "no slip" in asked(5)[1]
    right = True
    assert asked(5)[0] == 200
    right = False
    status, text = asked(6)
    assert status == 200 and text.startswith("slides") and "no slip" in text
    right = True
    assert "no slip" not in asked(6)[1]
