"""In a real JupyterLab: what only JupyterLab could spoil. A hand on a board alone is in test_board_editing.py."""

from contextlib import suppress

import nbformat
import pytest
from board_actions import cell, changed, focused, press, see, see_results, start_again
from lab_page import ARTEFACTS, ROOT, Lab, jupyterlab, write_notebook
from playwright.sync_api import expect

from attn_lib.examples import W_q, X

TITLES = ["Self-attention by hand", "Scores, scale and temperature", "Paint a mask", "Heads", "From features to heads"]
STORY, REAL = "A sentence of your own", "A sentence and its heads"
BOARDS = f"""\
import sys
sys.path.append({str(ROOT / "tests/helpers")!r})
import torch
from workbench.board.lessons import by_hand_board, heads_board, mask_board, reshape_board, softmax_board
heads = torch.tensor([[[0.9, 0.1], [0.5, 0.5]], [[1.0, 0.0], [0.2, 0.8]]])
---
by_hand = by_hand_board()
by_hand
---
softmax_board()
---
mask_board()
---
heads_board(heads, ["a", "b"])
---
reshape_board()
---
by_hand
---
from attn_lib import GPT
from workbench.board.lessons import story_board
story = story_board(GPT(5, 12), ["|", "a", "b", "dd", "x"], "a b x")
story
---
from small_model import small_model
from workbench.board.real import RealBoard
real = RealBoard(small_model(), "The keys")
real
---
print(by_hand.inputs["W_k"][2, 2].item(), by_hand.done, f"{{by_hand.results['weights'][0, 2]:.3f}}", story.text)
print(real.text, real.settings["out"], real.settings["shows"])
"""
RESTARTED = """\
from workbench.board.lessons import by_hand_board
by_hand_board()
"""


@pytest.fixture(scope="module")
def boards(browser, tmp_path_factory):
    """The one JupyterLab page, with every board on it, run once; each test puts its board back with Reset."""
    folder = tmp_path_factory.mktemp("lab")
    path = folder / "boards.ipynb"
    write_notebook(path, BOARDS)
    notebook, lesson = nbformat.read(path, 4), nbformat.read(ROOT / "notebooks/01_by_hand.ipynb", 4)
    (notebook.cells[1].outputs,) = (cell.outputs for cell in lesson.cells if cell.source == "by_hand_board()")
    nbformat.write(notebook, path)
    write_notebook(folder / "restarted.ipynb", RESTARTED)
    with jupyterlab(folder) as address:
        page = Lab(browser, address, "boards.ipynb")
        saved = page.page.locator(".jp-OutputArea", has=page.page.get_by_text("Its numbers as tables"))
        assert saved.get_by_role("img").first.is_visible()
        saved.get_by_text("Its numbers as tables").click()
        page.before_it_was_run = saved.inner_text()
        page.run_all()
        yield page
        assert page.complaints == []
        page.close()


@pytest.fixture
def by_hand(boards):
    return start_again(boards.board("Self-attention by hand"))


def test_a_saved_board_is_a_picture_with_its_tables_before_it_is_run(boards):
    assert "A still picture" in boards.before_it_was_run
    for title in ("inputs X", "W_q", "weights", "outputs"):
        assert f"{title}\n" in boards.before_it_was_run


def test_python_holds_what_the_page_shows_and_judges_the_task(boards, by_hand):
    cell(by_hand, "W_k row 3 column 3").click()
    by_hand.page.keyboard.type("1")
    press(by_hand, "Enter")
    by_hand.get_by_role("combobox", name="In which column").select_option(index=1)
    see(by_hand, "✓ Done.")
    last = boards.page.locator(".jp-CodeCell").last
    last.locator(".cm-content").click()
    press(by_hand, "Control+Enter")
    last.get_by_text("1.0 True 0.787").wait_for()


def test_words_that_are_jupyterlabs_commands_are_typed_and_python_has_them(boards):
    story = boards.board(STORY)
    story.get_by_role("button", name="Reset").click()
    story.get_by_role("textbox").focus()
    story.page.keyboard.type("dd ")
    story.get_by_role("button", name="a, word 1").focus()
    story.page.keyboard.type("b")
    press(story, "Enter")
    last = boards.page.locator(".jp-CodeCell").last
    last.locator(".cm-content").click()
    press(story, "Control+Enter")
    last.get_by_text("b b x dd").wait_for()


def test_python_reads_a_text_word_by_word_and_takes_heads_out(boards):
    real = boards.board(REAL)
    real.get_by_role("textbox", name="What comes next").focus()
    real.page.keyboard.type("near dd ")  # which are commands of JupyterLab, too
    real.get_by_role("button", name="d, piece 6").wait_for()  # no word of the model's: Python has cut it
    head = real.get_by_title("head 1.3")
    head.click()
    head.click()
    real.get_by_role("button", name="Turn on head 1.3").wait_for()
    real.get_by_role("button", name="missed").click()
    real.get_by_text("Missed most:").wait_for()
    last = boards.page.locator(".jp-CodeCell").last
    last.locator(".cm-content").click()
    press(real, "Control+Enter")
    last.get_by_text("The keys near dd [9] missed").wait_for()


def test_pythons_answer_never_wipes_what_is_being_typed(by_hand):
    cell(by_hand, "W_q row 1 column 1").click()
    by_hand.page.keyboard.type("3")
    press(by_hand, "Enter")
    by_hand.page.keyboard.type("12")  # while Python answers
    see_results(by_hand, W_q=changed(W_q, 1, 1, 3.0))
    assert cell(by_hand, "W_q row 2 column 1").input_value() == "12"
    press(by_hand, "Escape")


def test_jupyterlabs_commands_do_not_fire_on_a_board(boards, by_hand):
    notebook = "[...document.querySelectorAll('.jp-Notebook .jp-InputPrompt')].map((prompt) => prompt.textContent)"
    before = boards.page.evaluate(notebook)
    cell(by_hand, "outputs I, column 1").click()
    press(by_hand, "b", "a", "x", "d", "d", "ArrowUp", "Enter")
    assert focused(by_hand) == "weights I → I: 0.06"
    cell(by_hand, "W_q row 2 column 1").click()
    press(by_hand, "7", "Shift+Enter", "Alt+ArrowRight", "Delete", "Escape", "Tab", "Shift+Tab", "Control+z")
    see(by_hand, "Undone.")
    assert focused(by_hand) == "W_q row 1 column 2"
    by_hand.get_by_role("button", name="Step on").focus()
    press(by_hand, "PageDown")
    see(by_hand, "queries: inputs X times W_q")
    assert boards.page.evaluate(notebook) == before  # no cell came, went or ran
    for label in ("outputs I, column 1", "W_q row 1 column 1"):
        cell(by_hand, label).click()
        save(by_hand)


def save(board):
    """Ctrl+S; once more if JupyterLab was still at the save before, as it then drops the key."""
    from playwright.sync_api import TimeoutError

    for _ in range(60):
        with (
            suppress(TimeoutError),
            board.page.expect_request(
                lambda request: request.method == "PUT" and "contents/boards.ipynb" in request.url, timeout=1000
            ),
        ):
            press(board, "Control+s")
            return
    raise AssertionError("Ctrl+S saves nothing")


def test_one_board_shown_twice_stays_in_step(boards, by_hand):
    cell(by_hand, "inputs X I, column 1").fill("3")
    press(by_hand, "Enter")
    twin = boards.board("Self-attention by hand", nth=1)
    see_results(twin, X=changed(X, 1, 1, 3.0))
    assert cell(twin, "inputs X I, column 1").input_value() == "3"
    twin.get_by_role("button", name="Undo").click()
    see_results(by_hand)


# Of each board its title, whether something is cut off at its side, and whether it is higher than what is seen; asked
# when JupyterLab has taken the window's new width, and the boards have been fitted to it.
SPILLED = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const right = () => document.querySelector(".jp-NotebookPanel").getBoundingClientRect().right;
  while (Math.abs(right() - innerWidth) > 60) await frame();
  for (let frames = 0; frames < 2; frames += 1) await frame();
  const room = document.querySelector(".jp-WindowedPanel-outer").getBoundingClientRect().height;
  return [...document.querySelectorAll(".attn-board[role=group]")].map((board) =>
    [board.ariaLabel, board.scrollWidth > board.clientWidth + 1, board.getBoundingClientRect().height > room]);
}"""


def test_a_sentence_of_ones_own_is_typed_taken_back_and_pasted(boards):
    board, keys = boards.board(REAL), boards.page.keyboard
    words = board.locator(".words .word")
    board.locator("input.field").focus()
    keys.press("ControlOrMeta+a")
    keys.type("The cat near ")
    expect(words).to_have_text(["The", "cat", "near"])
    expect(board).to_have_attribute("aria-busy", "false")
    words.nth(1).click()
    keys.type("keys the ")  # in place of one piece, and the next word beside it
    expect(words).to_have_text(["The", "keys", "the", "near"])
    keys.press("Enter")
    for _ in range(20):  # as fast as a key that is held
        keys.press("Backspace")
    expect(words).to_have_count(0)
    boards.page.evaluate("navigator.clipboard.writeText('The cat' + ' the cat'.repeat(29))")
    keys.press("ControlOrMeta+v")
    expect(words).to_have_count(40)
    expect(board.locator(".word-line")).to_contain_text("40")
    assert not board.locator(".problem").count()
    assert board.locator("input.field").input_value().split() == ["the", "cat"] * 10
    board.get_by_role("button", name="Empty").click()
    expect(words).to_have_count(0)
    board.get_by_role("button", name="Reset").click()
    expect(words).to_have_text(["The", "keys"])


def test_what_is_said_of_an_edit_is_in_sight_with_its_cell(boards, by_hand):
    scroller = boards.page.locator(".jp-WindowedPanel-outer")
    number = cell(by_hand, "inputs X I, column 1")
    for block in ("start", "center", "end"):  # wherever the number stands in the window
        number.evaluate("(node, block) => node.scrollIntoView({ block })", block)
        number.focus()
        press(by_hand, "ArrowUp")
        see(by_hand, "inputs X I, column 1 is now")
        room, line, box = scroller.bounding_box(), by_hand.locator(".line").bounding_box(), number.bounding_box()
        assert room["y"] <= box["y"] and box["y"] + box["height"] <= line["y"], block
        assert line["y"] + line["height"] <= room["y"] + room["height"] + 1, block


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_a_board_fits_beside_the_file_list_in_both_themes(boards, theme):
    boards.page.get_by_role("menuitem", name="Settings", exact=True).click()
    boards.page.get_by_text("Theme", exact=True).hover()
    boards.page.get_by_text(theme, exact=True).click()
    boards.page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
    boards.page.wait_for_selector("#jupyterlab-splash", state="detached")
    assert boards.page.locator(".jp-DirListing").is_visible()
    for width, height in ((1920, 1080), (1366, 768)):
        boards.page.set_viewport_size({"width": width, "height": height})
        *matrices, (story, is_cut, _), (real, real_is_cut, _) = boards.page.evaluate(SPILLED)
        assert matrices == [[title, False, False] for title in [*TITLES, TITLES[0]]], width
        assert (story, is_cut, real, real_is_cut) == (STORY, False, REAL, False), width
    ARTEFACTS.mkdir(exist_ok=True)
    boards.board(STORY).screenshot(path=ARTEFACTS / f"a-story-in-{theme.lower().replace(' ', '-')}.png")
    boards.board(TITLES[0]).screenshot(path=ARTEFACTS / f"a-board-in-{theme.lower().replace(' ', '-')}.png")


def test_after_a_restart_a_board_says_python_was_not_told(boards, browser):
    lab = Lab(browser, boards.address, "restarted.ipynb").run_all()
    page, by_hand = lab.page, lab.board("Self-attention by hand")
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_text("Restart Kernel…", exact=True).click()
    with page.expect_response(lambda answer: answer.url.split("?")[0].endswith("/restart")):
        page.locator(".jp-Dialog").get_by_text("Restart", exact=True).click()
    lab.idle()
    page.clock.install()
    cell(by_hand, "inputs X I, column 1").fill("3")
    press(by_hand, "Enter")
    see_results(by_hand, X=changed(X, 1, 1, 3.0))
    page.clock.fast_forward(4000)  # ms that a kernel may take to answer
    see(by_hand, "Python has not been told")
    lab.close()
