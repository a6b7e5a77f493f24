"""In a real JupyterLab: on every board a learner sees the numbers that attn_lib computes, moved as a learner would."""

import re
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
import torch
from lab_page import ARTEFACTS, ROOT, Lab, jupyterlab, write_notebook

from attn_lib import self_attention_steps
from attn_lib.board import random_matrix
from attn_lib.examples import TOKENS, W_k, W_q, W_v, X

TITLES = ("Self-attention by hand", "Scores, scale and temperature", "Paint a mask", "Heads", "From features to heads")


BOARDS = """\
import torch
from attn_lib.explorers import by_hand_explorer, heads_explorer, mask_painter, reshape_explorer, softmax_explorer
heads = torch.tensor([[[0.9, 0.1], [0.5, 0.5]], [[1.0, 0.0], [0.2, 0.8]]])
---
by_hand = by_hand_explorer()
by_hand
---
softmax_explorer()
---
mask_painter()
---
heads_explorer(heads, ["a", "b"])
---
reshape_explorer()
---
by_hand
---
print(by_hand.inputs["W_k"][2, 2].item(), by_hand.done, f"{by_hand.results['weights'][0, 2]:.3f}")
"""


@pytest.fixture(scope="module")
def boards(browser, tmp_path_factory):
    """The one JupyterLab page, with every board on it, run once; each test puts its board back with Reset."""
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(folder / "boards.ipynb", BOARDS)
    saved = nbformat.read(ROOT / "notebooks/01_by_hand.ipynb", as_version=4)
    saved.cells = [cell for cell in saved.cells if "by_hand_explorer(" in cell.source]
    nbformat.write(saved, folder / "saved.ipynb")
    with jupyterlab(folder) as address:
        page = Lab(browser, address, "boards.ipynb").run_all()
        yield page
        assert page.complaints == []
        page.close()


@pytest.fixture
def by_hand(boards):
    return start_again(boards.board("Self-attention by hand"))


def start_again(board):
    board.locator(".bar button", has_text="Reset").click()
    board.locator(".said", has_text="Back to the example.").wait_for()
    return board


def cell(board, label):
    return board.locator(f'[aria-label="{label}"], [aria-label^="{label}:"]')


def number(board, label):
    text = cell(board, label).get_attribute("aria-label").split(": ")[1]
    return float(text.replace("−", "-").replace("∞", "inf").replace("≈", ""))


def see(board, text):
    board.get_by_text(text).first.wait_for()


def focused(board):
    return board.page.evaluate("document.activeElement.getAttribute('aria-label')") or ""


def keys(board, *presses):
    for key in presses:
        board.page.keyboard.press(key)


def see_results(board, **changed):
    """Wait until the board shows the weights and outputs of the example with these matrices changed."""
    inputs = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v} | changed
    steps = self_attention_steps(*(matrix.double() for matrix in inputs.values()), scale=1)
    wanted = [
        [f"weights {TOKENS[i]} → {TOKENS[j]}: ", number]
        for i, row in enumerate(steps.weights.tolist())
        for j, number in enumerate(row)
    ] + [
        [f"outputs {TOKENS[i]}, column {j + 1}: ", number]
        for i, row in enumerate(steps.outputs.tolist())
        for j, number in enumerate(row)
    ]
    board.page.wait_for_function(
        """([board, wanted]) => wanted.every(([label, number]) => {
             const cell = board.querySelector(`[aria-label^="${label}"]`);
             const shown = Number(cell.ariaLabel.slice(label.length).replaceAll('−', '-').replace('≈', ''));
             return cell.textContent === cell.ariaLabel.slice(label.length)
               && Math.abs(shown - number) <= Math.max(0.00501, 0.006 * Math.abs(number));
           })""",
        arg=[board.element_handle(), wanted],
    )


def changed(matrix, row, column, number):
    matrix = matrix.clone()
    matrix[row - 1, column - 1] = number
    return matrix


# -------------------------------------------------------------------------------------- editing a number


def test_typing_moves_every_result_and_the_task_asks_why(by_hand):
    see_results(by_hand)
    cell(by_hand, "W_k row 3 column 3").click()
    by_hand.page.keyboard.type("0.5")
    keys(by_hand, "Enter")
    see(by_hand, "✓ Now say why.")
    see_results(by_hand, W_k=changed(W_k, 3, 3, 0.5))
    reasons = by_hand.get_by_role("combobox", name="In which column, and why there?")
    reasons.select_option("Any: an entry of W_k moves every key")
    see(by_hand, "That is not the reason.")
    reasons.select_option("The third: for I it counts double, the first only once")
    see(by_hand, "✓ Done.")
    cell(by_hand, "W_q row 1 column 1").fill("5")
    keys(by_hand, "Enter")
    see_results(by_hand, W_k=changed(W_k, 3, 3, 0.5), W_q=changed(W_q, 1, 1, 5.0))
    assert by_hand.get_by_text("✓ Done.").is_visible()  # what was done stays done


def test_python_holds_what_the_page_shows_and_judges_the_task(boards, by_hand):
    cell(by_hand, "W_k row 3 column 3").click()
    by_hand.page.keyboard.type("0.5")
    keys(by_hand, "Enter")
    by_hand.get_by_role("combobox", name="In which column").select_option(index=1)
    see(by_hand, "✓ Done.")
    last = boards.page.locator(".jp-CodeCell").last
    last.locator(".cm-content").click()
    keys(by_hand, "Control+Enter")
    last.get_by_text("0.5 True 0.665").wait_for()


def test_a_typed_digit_replaces_what_stands_there(by_hand):
    box = cell(by_hand, "W_q row 1 column 1")  # it holds 1
    box.click()
    box.click()  # again, into the cell that has the focus
    by_hand.page.keyboard.type("7")
    assert box.input_value() == "7"
    keys(by_hand, "Escape")
    assert box.input_value() == "1"
    keys(by_hand, "ArrowUp")
    by_hand.page.keyboard.type("3")
    assert box.input_value() == "3"
    by_hand.page.keyboard.type("5")  # but a second one stands behind the first
    keys(by_hand, "Enter")
    see_results(by_hand, W_q=changed(W_q, 1, 1, 35.0))


def test_enter_moves_down_shift_enter_up_alt_arrows_anywhere_and_escape_takes_back(by_hand):
    cell(by_hand, "W_q row 1 column 1").click()
    by_hand.page.keyboard.type("4")
    keys(by_hand, "Enter")
    assert focused(by_hand) == "W_q row 2 column 1"
    keys(by_hand, "Alt+ArrowRight", "Alt+ArrowDown")
    assert focused(by_hand) == "W_q row 3 column 2"
    keys(by_hand, "Shift+Enter")
    assert focused(by_hand) == "W_q row 2 column 2"
    by_hand.page.keyboard.type("99")
    keys(by_hand, "Escape")
    assert cell(by_hand, "W_q row 2 column 2").input_value() == "0"
    see_results(by_hand, W_q=changed(W_q, 1, 1, 4.0))


def test_arrow_keys_step_and_one_undo_takes_back_a_press(by_hand):
    cell(by_hand, "W_v row 1 column 1").click()
    keys(by_hand, "ArrowUp")
    see(by_hand, "W_v row 1 column 1 is now 1.")
    keys(by_hand, "Shift+ArrowDown")
    see(by_hand, "W_v row 1 column 1 is now −9.")
    see_results(by_hand, W_v=changed(W_v, 1, 1, -9.0))
    keys(by_hand, "Control+z")
    see(by_hand, "Undone.")
    see_results(by_hand, W_v=changed(W_v, 1, 1, 1.0))
    keys(by_hand, "Control+y")
    see(by_hand, "Redone.")
    see_results(by_hand, W_v=changed(W_v, 1, 1, -9.0))


def test_a_held_key_and_a_drag_are_each_undone_at_once_and_a_right_click_drags_nothing(by_hand):
    keyboard, mouse = by_hand.page.keyboard, by_hand.page.mouse
    cell(by_hand, "inputs X I, column 2").click()
    for _ in range(5):
        keyboard.down("ArrowUp")
    keyboard.up("ArrowUp")
    see(by_hand, "inputs X I, column 2 is now 5.")
    box = cell(by_hand, "inputs X I, column 1").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for button, shift in (("left", 36), ("right", 36)):
        mouse.move(x, y)
        mouse.down(button=button)
        for step in range(1, 7):
            mouse.move(x + shift * step / 6, y)
        mouse.up(button=button)
    keys(by_hand, "Escape")
    both = changed(changed(X, 1, 2, 5.0), 1, 1, 4.0)
    see_results(by_hand, X=both)
    by_hand.get_by_role("button", name="Undo").click()
    see_results(by_hand, X=changed(X, 1, 2, 5.0))
    by_hand.get_by_role("button", name="Undo").click()
    see_results(by_hand)


def test_the_wheel_changes_the_focused_cell_only(by_hand):
    cell(by_hand, "W_q row 4 column 1").hover()
    by_hand.page.mouse.wheel(0, -1)
    cell(by_hand, "W_q row 4 column 1").click()
    by_hand.page.mouse.wheel(0, -1)
    see(by_hand, "W_q row 4 column 1 is now 1.")


@pytest.mark.parametrize(
    "text, complaint",
    [("abc", "is not a number"), ("1e400", "is too large"), ("1,5", "write 1.5"), ("0x10", "is not a number")],
)
def test_bad_input_is_answered_at_the_cell_and_the_old_number_stays(by_hand, text, complaint):
    box = cell(by_hand, "inputs X like, column 2")
    box.click()
    by_hand.page.keyboard.type(text)
    keys(by_hand, "Enter")
    see(by_hand.locator(".complaint"), complaint)
    assert box.input_value() == "2" and box.get_attribute("aria-invalid") == "true"
    keys(by_hand, "Tab")  # no trap
    assert not focused(by_hand).startswith("inputs X")
    see_results(by_hand)


def test_an_emptied_cell_keeps_its_number(by_hand):
    cell(by_hand, "inputs X like, column 2").click()
    keys(by_hand, "Delete", "Enter")
    see(by_hand.locator(".complaint"), "The cell was empty. 2 stays.")


def test_pythons_answer_never_wipes_what_is_being_typed(by_hand):
    cell(by_hand, "W_q row 1 column 1").click()
    by_hand.page.keyboard.type("3")
    keys(by_hand, "Enter")
    by_hand.page.keyboard.type("12")  # while Python answers
    see_results(by_hand, W_q=changed(W_q, 1, 1, 3.0))
    assert cell(by_hand, "W_q row 2 column 1").input_value() == "12"
    keys(by_hand, "Escape")


def test_a_block_from_a_spreadsheet_is_pasted_or_refused_whole(by_hand):
    paste(by_hand, cell(by_hand, "W_v row 1 column 1"), "1\t2\t3\r\n4\t5\t6\r\n")
    see(by_hand, "6 cells of W_v changed.")
    pasted = W_v.clone()
    pasted[:2] = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    see_results(by_hand, W_v=pasted)
    paste(by_hand, cell(by_hand, "W_v row 4 column 2"), "1\t2\t3\n4\t5\t6")
    see(by_hand, "A block of 2 × 3 does not fit here, where 1 × 2 cells are left.")
    see_results(by_hand, W_v=pasted)


def paste(board, target, text):
    board.page.evaluate("text => navigator.clipboard.writeText(text)", text)
    target.click()
    keys(board, "Control+v")


def test_random_is_what_its_seed_means_in_python_and_as_code_can_be_copied(by_hand):
    by_hand.get_by_role("button", name=re.compile("Random")).click()
    text = by_hand.get_by_role("button", name=re.compile(r"Random \d+")).inner_text()
    seed = int(re.search(r"\d+", text).group())
    drawn = [random_matrix(matrix.shape, seed, place) for place, matrix in enumerate((X, W_q, W_k, W_v))]
    see_results(by_hand, **dict(zip(("X", "W_q", "W_k", "W_v"), drawn, strict=True)))
    by_hand.get_by_text("As code").click()
    by_hand.get_by_role("button", name="Copy").click()
    see(by_hand, "Copied.")
    made = {}
    exec(by_hand.page.evaluate("navigator.clipboard.readText()"), made)
    for name, matrix in zip(("X", "W_q", "W_k", "W_v"), drawn, strict=True):
        assert torch.equal(made[name], matrix)
    by_hand.get_by_text("As code").click()


def test_large_type_is_larger(boards, by_hand):
    boards.page.set_viewport_size({"width": 1920, "height": 1080})
    size = "board => parseFloat(getComputedStyle(board.querySelector('td.cell')).fontSize)"
    before = by_hand.evaluate(size)
    by_hand.get_by_role("button", name="Large type").click()
    assert by_hand.evaluate(size) > 1.2 * before
    by_hand.get_by_role("button", name="Large type").click()
    assert by_hand.evaluate(size) == before
    boards.page.set_viewport_size({"width": 1366, "height": 768})


# ---------------------------------------------------------------------------- asking where a number came from


def test_with_the_keyboard_alone_a_result_says_where_it_came_from_and_is_heard(by_hand):
    by_hand.get_by_role("button", name="Reset").focus()
    stops = []
    for _ in range(30):
        keys(by_hand, "Tab")
        stops.append(focused(by_hand))
        if stops[-1].startswith("scores I → I"):
            break
    assert len(stops) < 20 and sum(stop.startswith("W_q") for stop in stops) == 1  # one stop for each panel
    keys(by_hand, "ArrowDown", "ArrowDown", "ArrowRight")
    line = by_hand.locator(".why")
    line.get_by_text("scores tea → like").wait_for()
    assert line.inner_text().split("\n")[1] == "2·4 + 1·4 + 3·0 = 12"
    assert by_hand.locator(".spoken").inner_text() == "scores tea → like: 2·4 + 1·4 + 3·0 = 12"
    assert by_hand.locator("td.lit").count() == 6
    keys(by_hand, "Enter")  # back to where it came from
    assert focused(by_hand) == "queries tea, column 1: 2"


def test_an_operand_is_a_way_back_to_its_cell(by_hand):
    cell(by_hand, "scores tea → like").click()
    by_hand.locator(".why .leaf").nth(1).click()
    assert focused(by_hand) == "keys like, column 1: 4"
    by_hand.locator(".why .leaf").nth(2).click()  # 0·0 + 2·1 + 0·0 + 2·1: the second 2 of X
    assert focused(by_hand) == "inputs X like, column 2"


@pytest.mark.parametrize(
    "label, text",
    [
        ("queries I, column 3", "1·1 + 0·0 + 1·1 + 0·1 = 2"),
        ("weights I → I", "e^2 / (e^2 + e^4 + e^4) ≈ 0.063"),
        ("outputs I, column 1", "0.06·1 + 0.47·2 + 0.47·2 = 1.94"),
    ],
)
def test_pointing_at_a_result_spells_out_its_arithmetic(by_hand, label, text):
    cell(by_hand, label).hover()
    by_hand.locator(".why").get_by_text(label).wait_for()
    assert by_hand.locator(".why").inner_text().split("\n")[1] == text


def test_an_entry_of_w_k_shows_what_it_will_move(by_hand):
    cell(by_hand, "W_k row 3 column 3").click()
    see(by_hand, "W_k row 3 column 3 moves 2 of keys, 6 of scores, 9 of weights, 9 of outputs.")
    moved = by_hand.locator("td.moved")
    assert {label.split(" ")[0] for label in moved.evaluate_all("cells => cells.map(c => c.ariaLabel)")} == {
        "keys",
        "scores",
        "weights",
        "outputs",
    }


def test_jupyterlabs_commands_do_not_fire_on_a_board_and_ctrl_s_saves(boards, by_hand):
    count = by_hand.page.locator(".jp-Notebook .jp-Cell").count()
    cell(by_hand, "outputs I, column 1").click()
    keys(by_hand, "b", "a", "x", "d", "d")
    assert by_hand.page.locator(".jp-Notebook .jp-Cell").count() == count
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
            keys(board, "Control+s")
            return
    raise AssertionError("Ctrl+S saves nothing")


def test_one_board_shown_twice_stays_in_step(boards, by_hand):
    cell(by_hand, "inputs X I, column 1").fill("3")
    keys(by_hand, "Enter")
    twin = boards.board("Self-attention by hand", nth=1)
    see_results(twin, X=changed(X, 1, 1, 3.0))
    assert cell(twin, "inputs X I, column 1").input_value() == "3"
    twin.get_by_role("button", name="Undo").click()
    see_results(by_hand)


def test_the_steps_can_be_played_one_by_one(by_hand):
    by_hand.get_by_role("button", name="Step on").click()
    see(by_hand, "queries: inputs X times W_q")
    assert cell(by_hand, "weights I → I").get_attribute("aria-label").endswith("not yet")
    keys(by_hand, "PageDown", "PageDown", "PageDown", "PageDown")
    see(by_hand, "weights: Softmax of each row of")
    assert number(by_hand, "weights I → I") == 0.06
    assert cell(by_hand, "outputs I, column 1").get_attribute("aria-label").endswith("not yet")
    by_hand.get_by_role("slider", name="Steps").press("End")
    see_results(by_hand)


def test_nothing_moves_a_board_up_or_down(by_hand):
    height = "board => board.getBoundingClientRect().height"
    before = by_hand.evaluate(height)
    for label in ("outputs I, column 1", "W_k row 3 column 3", "scores tea → like"):
        cell(by_hand, label).hover()
        assert by_hand.evaluate(height) == before
    cell(by_hand, "W_k row 3 column 3").click()
    by_hand.page.keyboard.type("0.5x")
    keys(by_hand, "Enter")
    by_hand.page.keyboard.type("0.5")
    keys(by_hand, "Shift+Enter")
    by_hand.get_by_role("button", name="Random").click()
    assert by_hand.evaluate(height) == before


# -------------------------------------------------------------------------------------- the other boards


def test_softmax_explorer_by_keyboard(boards):
    board = start_again(boards.board("Scores, scale and temperature"))
    board.get_by_role("slider", name=re.compile("d_k")).focus()
    keys(board, *["ArrowRight"] * 4)
    see(board, "d_k is now 256.")
    assert number(board, "weights, / 1 key 2") == pytest.approx(0.96, abs=0.006)
    assert number(board, "weights, / √d_k key 2") == pytest.approx(0.27, abs=0.006)
    board.get_by_role("slider", name=re.compile("Temperature")).focus()
    keys(board, *["ArrowRight"] * 4)
    see(board, "✓ Now say why.")


def test_mask_painter_shows_the_nan_and_its_gradient(boards):
    board = start_again(boards.board("Paint a mask"))
    board.get_by_role("combobox", name="Preset").select_option("causal")
    cell(board, "mask q0 → k0").click()
    see(board, "✓ Done.")
    nan = board.locator('[aria-label="weights q0 → k0: nan"]')
    assert "repeating-linear-gradient" in nan.evaluate("cell => getComputedStyle(cell).backgroundImage")
    assert board.locator('[aria-label="gradient of W_v row 1 column 1: nan"]').count() == 1
    board.get_by_role("combobox", name="Apply as").select_option("masked_softmax of attn_lib")
    board.locator('[aria-label="weights q0 → k0: 0"]').wait_for()
    assert board.get_by_text("✓ Done.").is_visible()


def test_a_head_is_chosen_by_clicking_it(boards):
    board = start_again(boards.board("Heads"))
    board.get_by_role("button", name="head 0", exact=True).click()
    board.locator('[aria-label="the head chosen a → a: 0.90"]').wait_for()
    board.get_by_role("combobox", name="Query").select_option("1: b")
    see(board, "✓ Done.")
    board.get_by_role("combobox", name="Curves").select_option("shown")
    board.get_by_role("img", name="Who listens to whom: a most to a, b most to a.").wait_for()


def test_reshape_explorer_follows_a_feature(boards):
    board = start_again(boards.board("From features to heads"))
    cell(board, "x: a row for each token row 2 column 1").hover()
    board.page.wait_for_function("board => board.querySelectorAll('td.moved').length === 2", arg=board.element_handle())
    assert board.locator("td.moved").all_inner_texts() == ["10", "10"]
    board.get_by_role("slider", name=re.compile("Tokens")).focus()
    keys(board, "Home")
    see(board, "✓ Done.")


# -------------------------------------------------------------------------------- for every eye and every size


def test_axe_finds_no_violation_in_any_board(boards):
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(boards.page, context=".attn-board")
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_a_board_fits_beside_the_file_list_in_both_themes(boards, theme):
    boards.page.get_by_role("menuitem", name="Settings", exact=True).click()
    boards.page.get_by_text("Theme", exact=True).hover()
    boards.page.get_by_text(theme, exact=True).click()
    boards.page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
    boards.page.wait_for_selector("#jupyterlab-splash", state="detached")
    assert boards.page.locator(".jp-DirListing").is_visible()
    Path(ARTEFACTS).mkdir(exist_ok=True)
    for width, height in ((1920, 1080), (1366, 768)):
        boards.page.set_viewport_size({"width": width, "height": height})
        room = boards.page.locator(".jp-WindowedPanel-outer").first.bounding_box()["height"]
        for title in TITLES:
            board = boards.board(title)
            assert board.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), f"{title} is cut off at {width}"
            assert board.bounding_box()["height"] <= room, f"{title} is higher than what is seen at {width}"
            if width == 1366:
                name = f"{title.lower().replace(' ', '_')}-{theme.split()[1].lower()}.png"
                board.screenshot(path=ARTEFACTS / name)


def test_when_the_kernel_is_restarted_the_board_goes_on_and_says_that_python_was_not_told(boards, by_hand):
    boards.page.get_by_role("menuitem", name="Kernel", exact=True).click()
    boards.page.get_by_text("Restart Kernel…", exact=True).click()
    with boards.page.expect_response(lambda answer: answer.url.split("?")[0].endswith("/restart")):
        boards.page.locator(".jp-Dialog").get_by_text("Restart", exact=True).click()
    boards.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(state="attached")
    cell(by_hand, "inputs X I, column 1").fill("3")
    keys(by_hand, "Enter")
    see_results(by_hand, X=changed(X, 1, 1, 3.0))
    see(by_hand, "Python has not been told")


def test_a_saved_notebook_shows_a_board_as_plain_tables_before_it_is_run(boards):
    boards.page.locator(".jp-DirListing").get_by_text("saved.ipynb").dblclick()
    boards.page.get_by_text("run the cell to move these numbers").first.scroll_into_view_if_needed()
    boards.page.get_by_role("caption").filter(has_text="outputs").wait_for()  # the one there is
