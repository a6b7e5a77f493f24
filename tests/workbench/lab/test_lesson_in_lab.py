"""A lesson in a real JupyterLab, as a learner meets it: one JupyterLab, one window, a fresh copy for each test."""

import re

import nbformat
import pytest
from contrast import CONTRAST
from lab_page import ROOT, Lab, jupyterlab
from playwright.sync_api import expect

from workbench import copies
from workbench.display.colours import contrast

NAME = "01_by_hand.ipynb"
EXERCISE = "1.1"
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="  # one pixel
OWN = "open('ran', 'w').close()"  # of a cell that no button of the course's may run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Lesson 1 down to its first line, with one exercise: what a page has to read stays short."""
    folder = tmp_path_factory.mktemp("lesson")
    notebook = nbformat.read(ROOT / "notebooks" / NAME, 4)
    kinds = [cell.metadata.get("tags", []) for cell in notebook.cells]
    line = next(i for i, tags in enumerate(kinds) if "filled" in tags)
    exercise = [c for c in notebook.cells if EXERCISE in map(c.metadata.get, ("exercise", "check", "hint"))]
    uses = nbformat.v4.new_code_cell('print("The answer is", answer)', id="uses")
    drawn = 'drawn = globals().get("drawn", 0) + 1\nprint("Drawn:", drawn)'
    answer = nbformat.v4.new_code_cell(drawn, id="answer", metadata={"tags": ["answer"]})
    notebook.cells = [*notebook.cells[: line + 1], answer, notebook.cells[line + 1], *exercise, uses]
    (folder / "notebooks").mkdir()
    nbformat.write(notebook, folder / "notebooks" / NAME)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with jupyterlab(folder) as address:
        yield address


@pytest.fixture(scope="module")
def windows():
    """Those that were left, for whoever comes next."""
    return []


@pytest.fixture
def begun(browser, server, folder, windows):
    """Opens a fresh copy of the lesson, changed or not before; leaves it at the end."""
    leave = []

    def begin(change=None, name=NAME, before=None):
        path = folder / "my" / name
        copies.bring_up_to_date(folder, fresh=NAME)
        if change:
            notebook = nbformat.read(folder / "my" / NAME, 4)
            change(notebook)
            nbformat.write(notebook, path)
        page = windows.pop() if windows and not before else None
        lesson = Lesson(browser, server, f"my/{name}", before=before, page=page)
        leave.append(lesson.close if before else lambda: windows.append(lesson.leave()))
        return lesson

    yield begin
    for ending in leave:
        ending()


class Lesson(Lab):
    def question(self, nth):
        return self.page.locator("[aria-label='A question']").nth(nth)

    @property
    def line(self):
        return self.page.locator("[aria-label='Your line']")

    @property
    def compares(self):
        return self.page.locator("[aria-label^='Compares your line']")

    def menu(self, *names):
        for name in names:
            self.page.get_by_text(name, exact=True).last.click()

    def numbers(self):
        """Of the cells that have run, the numbers that JupyterLab gives them."""
        prompts = self.page.locator(".jp-InputPrompt").all_text_contents()
        return [prompt for prompt in prompts if re.search(r"\d", prompt)]


def answered(question):
    expect(question).to_contain_text("✓ Right.")


def heard(lesson, words):
    """Whether a screen reader is told: these words came into what is read out when it changes."""
    return lesson.page.wait_for_function(HEARD, arg=words)


HEARD = """(words) => [...document.querySelectorAll("[role=status], [aria-live]")].some(
  (one) => one.checkVisibility() && one.textContent.includes(words))"""


def nothing_red(lesson):
    red = lesson.page.locator("[data-mime-type$=error], [data-mime-type$=stderr]").filter(visible=True)
    expect(red).to_have_count(0)


def test_an_answer_runs_what_stands_above_it_and_no_more(begun):
    """Skipping a question leads to it; a verdict is told in place; what belongs to the answer opens."""
    lesson = begun(lambda notebook: notebook.cells.insert(1, nbformat.v4.new_code_cell(OWN, id="mine")))
    first, second, page = lesson.question(0), lesson.question(1), lesson.page
    expect(first.get_by_role("img")).to_be_visible()  # the drawing that the lesson opens with
    assert not lesson.numbers() and page.locator(".jp-mod-dirty").count() == 0
    expect(page.get_by_text("A question. Run this cell").filter(visible=True)).to_have_count(0)
    second.get_by_role("textbox", name="Your guess").fill("[0.5, 1.5]")
    page.keyboard.press("Enter")
    expect(first.get_by_text("First your guess here")).to_be_visible()
    expect(first.get_by_role("button", name="rested")).to_be_focused()
    first.get_by_role("button", name="river").click()
    answered(first)
    told = page.locator("details", has_text="After your guess").first
    expect(told).not_to_have_attribute("open", "")
    second.get_by_role("button", name="Check").filter(visible=True).click()
    answered(second)
    expect(told).to_have_attribute("open", "")
    expect(page.get_by_text(re.compile("^2 of . guesses"))).to_be_visible()
    second.get_by_role("textbox", name="Your guess").filter(visible=True).fill("[7, 7]")
    page.keyboard.press("Enter")  # what was right stays done, and the new guess is judged
    expect(second.get_by_text("Neither of the two numbers is right.").filter(visible=True)).to_be_visible()
    expect(second.get_by_text("Try again").filter(visible=True)).to_have_count(0)
    expect(page.get_by_text(re.compile("^2 of . guesses"))).to_be_visible()
    expect(page.locator(".jp-Cell", has_text=OWN).locator(".jp-InputPrompt")).to_have_text("[ ]:")
    nothing_red(lesson)


def test_a_lesson_is_walked_by_keys_alone(begun):
    lesson = begun()
    page, first, second = lesson.page, lesson.question(0), lesson.question(1)
    window = page.viewport_size
    page.set_viewport_size({**window, "height": 560})  # in which the first form has just room
    first.focus()
    page.keyboard.press("Enter")
    expect(first.get_by_role("button", name="rested")).to_be_focused()
    page.keyboard.press("Escape")
    expect(first).to_be_focused()
    page.keyboard.press("Shift+Enter")
    expect(first.get_by_text("Your guess first.")).to_be_in_viewport()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Enter")  # river
    answered(first)
    expect(first.locator("xpath=following-sibling::*[1]")).to_be_focused()
    second.focus()
    page.keyboard.press("Enter")
    page.keyboard.type("dunno")
    page.keyboard.press("Enter")
    expect(second.get_by_text("could not be read").filter(visible=True)).to_be_in_viewport()
    page.keyboard.press("Control+a")
    page.keyboard.type("[0.5, 1.5]")
    page.keyboard.press("Enter")
    answered(second)
    expect(second).to_be_focused()
    assert "predict(" not in second.inner_text()
    page.set_viewport_size(window)


def test_a_line_is_compared_and_an_exercise_checked_in_its_card(begun):
    """Also a line that was deleted and brought back."""
    lesson = begun()
    page, compares = lesson.page, lesson.compares
    for question in (lesson.question(k) for k in range(lesson.page.locator("[aria-label='A question']").count())):
        if question.is_visible():
            question.get_by_role("button", name="Show me").filter(visible=True).click()
            expect(question).to_contain_text("The answer:")
    lesson.line.locator(".cm-content").click()
    for key in ("Escape", "d", "d"):
        page.keyboard.press(key)
    expect(lesson.line).to_have_count(0)
    page.keyboard.press("z")
    compares.get_by_role("button", name="Compare my line").click()
    expect(compares.get_by_text("Your line first")).to_be_visible()
    page.keyboard.type("X @ W_q")  # in place of the dots
    page.keyboard.press("Shift+Enter")
    expect(compares).to_contain_text("numbers of a query")
    heard(lesson, "numbers of a query")
    lesson.line.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("my_keys = W_none")
    compares.get_by_role("button", name="Compare my line").click()
    expect(compares.get_by_text("stopped with an error")).to_be_visible()
    expect(compares.get_by_text("numbers of a query")).to_be_hidden()
    lesson.line.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("my_keys = X @ W_k")
    compares.get_by_role("button", name="Compare my line").click()
    expect(compares).to_contain_text("Right: your line")
    compares.get_by_role("button", name="Show the course's line").click()
    expect(compares.get_by_text("keys = X @ W_k")).to_be_visible()
    expect(compares.get_by_text("Shift+Enter")).to_be_hidden()  # it would say how to run what a button runs
    lesson.line.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("my_kyes = X @ W_k")  # Python still has what the name was given before
    compares.get_by_role("button", name="Compare my line").click()
    expect(compares.get_by_text("give my_keys a value")).to_be_visible()
    expect(compares.get_by_text("Right: your line")).to_be_hidden()
    lesson.line.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("my_keys = X @ W_k")
    compares.get_by_role("button", name="Compare my line").click()
    expect(compares).to_contain_text("Right: your line")
    above = page.locator(".jp-CodeCell", has_text="W_q, W_k, W_v").locator(".cm-content").filter(visible=True).first
    above.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n1 / 0")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("division by zero").first).to_be_visible()
    compares.get_by_role("button", name="Compare my line").click()
    expect(compares.get_by_text("ended in an error")).to_be_visible()
    expect(compares.get_by_text("Right: your line")).to_be_hidden()
    above.click()
    page.keyboard.press("Control+End")
    for _ in "\n1 / 0":
        page.keyboard.press("Backspace")
    compares.get_by_role("button", name="Compare my line").click()
    expect(compares.get_by_text("Right: your line")).to_be_visible()
    check = page.locator("[aria-label='The check of the exercise']")
    check.get_by_role("button", name="Check").click()
    expect(page.get_by_text("Not attempted yet")).to_be_visible()
    heard(lesson, "Not attempted yet")
    nothing_red(lesson)
    hint = page.locator("[aria-label='A hint']").first
    for count in (1, 2, 3):
        hint.get_by_role("button", name="Hint").click()
        expect(hint.locator("details[open]")).to_contain_text(f"Hint {count} of 3")
    hint.get_by_role("button", name="Hint").click()
    expect(hint.get_by_text("Solution of 1.1")).to_be_visible()
    expect(hint.locator("details[open]")).to_contain_text("Hint 3 of 3")
    uses, exercise = page.locator(".jp-CodeCell", has_text="The answer is"), page.locator("[aria-label^='An exercise']")
    uses.get_by_role("button", name="Run this cell").click()
    expect(uses.get_by_text("The answer is Ellipsis")).to_be_visible()
    for code, told in (("answer = 7", "✗ 1.1"), ("def", "stopped with an error")):
        exercise.locator(".cm-content").click()
        page.keyboard.press("Control+a")
        page.keyboard.type(code)
        check.get_by_role("button", name="Check").click()
        expect(check.get_by_text(told)).to_be_visible()
        expect(uses.get_by_text("The answer is Ellipsis")).to_be_hidden()  # it is that of the code before
        expect(uses.get_by_text("has changed")).to_be_visible()
    expect(page.get_by_text("Not attempted yet")).to_be_hidden()
    exercise.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("answer = 8")
    uses.get_by_role("button", name="Run this cell").click()
    expect(uses.get_by_text("The answer is 8")).to_be_visible()
    expect(uses.get_by_text("has changed")).to_be_hidden()
    check.get_by_role("button", name="Check").click()
    expect(check.get_by_text("✗ 1.1")).to_be_visible()
    exercise.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" + 1")
    page.keyboard.press("Control+Enter")
    expect(check.get_by_text("✗ 1.1")).to_be_hidden()  # it was said of the code before


def test_run_all_stops_at_a_question_and_the_next_day_says_so(begun, server):
    lesson = begun()
    page = lesson.page
    lesson.question(0).get_by_role("button", name="river").click()
    answered(lesson.question(0))
    lesson.menu("Run", "Run All Cells")
    expect(lesson.question(1).get_by_text("Run All stops here: your guess first.")).to_be_in_viewport()
    expect(lesson.question(1).get_by_role("textbox", name="Your guess")).to_be_focused()
    nothing_red(lesson)
    page.keyboard.type("[0.5, 1.5]")
    page.keyboard.press("Enter")
    answered(lesson.question(1))
    board = page.locator(".jp-CodeCell", has_text="bank_figure()").first
    board.hover()
    board.get_by_role("button", name="Run this cell").click()
    board.get_by_text("money of the").first.wait_for()
    page.keyboard.press("Control+s")
    page.locator(".jp-mod-dirty").wait_for(state="detached")
    page.goto("about:blank")
    lesson.end(lesson.kernels())
    page.goto(f"{server}/lab/tree/my/{NAME}?token=test&reset")
    page.get_by_text("Python is new here").wait_for()
    answered(lesson.question(1))
    expect(board).to_be_in_viewport()  # where one was
    expect(board).to_contain_text("sleeps until Python has run it")
    expect(page.get_by_text("Error displaying widget").filter(visible=True)).to_have_count(0)
    board.get_by_role("button", name="Wake it").click()
    board.get_by_text("money of the").first.wait_for()
    lesson.menu("Kernel", "Restart Kernel…", "Restart")
    page.get_by_text("Python has been started again").wait_for()
    page.get_by_role("button", name="Run it down to here").click()
    page.get_by_text("Python has been started again").wait_for(state="hidden")
    expect(lesson.question(1)).to_have_class(re.compile("attn-ran"))


def test_run_all_runs_what_is_drawn_with_an_answer_once(begun):
    lesson = begun()
    page = lesson.page
    for question in page.locator("[aria-label='A question']").filter(visible=True).all():
        question.get_by_role("button", name="Show me").filter(visible=True).click()
        expect(question).to_contain_text("The answer:")
    lesson.compares.get_by_role("button", name="Show me").click()
    expect(page.get_by_text("Drawn:")).to_have_text("Drawn: 1")
    lesson.menu("Run", "Run All Cells")
    page.get_by_text("The answer is Ellipsis").wait_for()
    page.get_by_role("button", name="Check", exact=True).last.click()  # which waits for all that was to run before
    page.get_by_text("Not attempted yet").wait_for()
    expect(page.get_by_text("Drawn:")).to_have_text("Drawn: 2")


def test_an_answer_is_seen_on_another_page_of_the_lesson(begun, server):
    lesson = begun()
    other = lesson.context.new_page()
    other.goto(f"{server}/lab/tree/my/{NAME}?token=test&reset")  # with the bar that JupyterLab begins with
    question = other.locator("[aria-label='A question']").first
    question.get_by_role("button", name="river").wait_for()
    lesson.question(0).get_by_role("button", name="river").click()
    answered(lesson.question(0))
    answered(question)
    other.locator("[data-id='attention-lesson']").click()
    expect(other.get_by_text(re.compile("^1 of . guesses"))).to_be_visible()
    other.close()
    elsewhere = lesson.context.browser.new_context().new_page()  # a browser that kept nothing of it
    elsewhere.goto(f"{server}/lab/tree/my/{NAME}?token=test&reset")
    answered(elsewhere.locator("[aria-label='A question']").first)
    expect(elsewhere.get_by_text(re.compile("^1 of . guesses"))).to_be_attached()  # beside the lesson, open or not
    elsewhere.context.close()


def test_stop_ends_what_a_check_has_begun(begun):
    def change(notebook):
        notebook.cells[1].source += "\nimport time; time.sleep(600)"

    lesson = begun(change)
    first = lesson.question(0)
    first.get_by_role("button", name="river").click()
    first.get_by_role("button", name="Stop").click()
    expect(first).to_contain_text("Stopped")
    assert "Right" not in first.inner_text()


def test_a_notebook_that_only_says_it_is_the_courses_runs_nothing(begun, folder):
    def change(notebook):
        notebook.metadata.course = {"version": "somebody else's"}

    lesson = begun(change, name="foreign.ipynb")
    expect(lesson.page.get_by_role("button", name="river")).to_have_count(0)
    assert not lesson.numbers()
    (folder / "my/foreign.ipynb").unlink()


def test_without_the_extension_a_lesson_is_a_notebook(begun):
    lesson = begun(before=lambda page: page.route("**/attention/page/lab/lesson.js*", lambda route: route.abort()))
    lesson.page.get_by_text("A question. Run this cell").first.wait_for()
    assert any("attention" in complaint for complaint in lesson.complaints)


FAINT = f"""() => {{
  {CONTRAST}
  const words = document.querySelectorAll(".jp-RenderedText pre span");
  for (const node of words) contrast(node, getComputedStyle(node));
  return faint;
}}"""


def test_axe_finds_no_violation_in_a_lesson(begun):
    from axe_playwright_python.sync_playwright import Axe

    def change(notebook):
        data, said = {"image/png": DOT, "text/plain": "Figure"}, {"image/png": {"alt": "Weights of three words"}}
        plot = nbformat.v4.new_output("display_data", data, metadata=said)
        coloured = "".join(f"\033[{ink}mink {ink}\033[39m " for ink in range(31, 37))
        fault = nbformat.v4.new_output("error", ename="E", evalue="", traceback=[coloured])
        notebook.cells.insert(1, nbformat.v4.new_code_cell("plot", outputs=[plot, fault], id="plot"))

    page = begun(change).page
    expect(page.get_by_text("ink 33")).to_be_visible()
    expect(page.get_by_role("img", name="Weights of three words")).to_have_count(1)
    for context in (".attn-side", ".attn-lesson .jp-Notebook"):
        results = Axe().run(page, context=context, options={"resultTypes": ["violations"]})
        assert results.violations_count == 0, results.generate_report()
    assert not page.evaluate(FAINT)  # which axe leaves to others where a ground lies far below


def test_presenting_leaves_nothing_but_the_lesson(begun):
    page = begun().page
    heading = page.get_by_role("heading", level=1)
    small = heading.bounding_box()["height"]
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_role("menuitem", name="Kernel")).not_to_be_in_viewport()
    expect(page.get_by_text("guesses and lines")).to_be_hidden()
    assert heading.bounding_box()["height"] > small
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".jp-Notebook .jp-mod-active")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menuitem", name="Kernel")).to_be_in_viewport()
    expect(page.get_by_text("guesses and lines")).to_be_visible()
    expect(page.locator(".jp-Notebook .jp-mod-active")).to_be_in_viewport()


def test_printing_gives_the_whole_lesson_and_nothing_else(begun):
    """Ctrl+P: each of its headings once, then JupyterLab is as it was."""
    page = begun().page
    page.evaluate("window.print = () => { window.isPrinted = true }")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("Control+p")
    page.wait_for_function("window.isPrinted")
    pdf = page.pdf(print_background=True, tagged=True, outline=True)
    titles = [title.decode() for title in re.findall(rb"/Title \((.+?)\)", pdf)]
    headings = page.locator(".jp-Notebook").get_by_role("heading").all_text_contents()
    assert sorted(titles) == sorted(heading.removesuffix("¶") for heading in headings)
    assert len(re.findall(rb"/Type /Page\b", pdf)) > 2
    expect(page.get_by_role("menuitem", name="Kernel")).to_be_in_viewport()


def test_beside_a_closed_lesson_nothing_of_it_stands(begun):
    lesson = begun()
    page = lesson.page
    expect(page.get_by_text("guesses and lines")).to_be_visible()
    lesson.menu("File", "Close Tab")
    expect(page.get_by_text("guesses and lines")).to_have_count(0)


def test_a_table_can_be_read_on_paper_from_the_dark_theme(begun):
    table = nbformat.v4.new_output("display_data", {"text/html": "<table><tr><td>0.25</td></tr></table>"})
    cell = nbformat.v4.new_code_cell("table", outputs=[table], execution_count=1)
    lesson = begun(lambda notebook: notebook.cells.insert(2, cell))
    page, number = lesson.page, lesson.page.get_by_role("cell", name="0.25")
    lesson.menu("Settings", "Theme", "JupyterLab Dark")
    page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    ink = number.evaluate("node => getComputedStyle(node).color")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    lesson.menu("Settings", "Theme", "JupyterLab Light")
    page.locator("body[data-jp-theme-light=true]").wait_for(state="attached")
    assert contrast([int(part) / 255 for part in re.findall(r"\d+", ink)[:3]], "#FFFFFF") > 4.5
