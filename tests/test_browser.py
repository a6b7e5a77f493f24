"""In a real JupyterLab: on every board a learner sees the numbers that attn_lib computes, moved as a learner would."""

import re
from pathlib import Path

import pytest
import torch
from lab_page import ARTEFACTS, Lab

from attn_lib import self_attention_steps
from attn_lib.examples import W_k, W_q, W_v, X


@pytest.fixture(scope="module")
def boards(browser, lab):
    """The page with every board on it, run once; each test puts its board back with Reset."""
    page = Lab(browser, lab, "boards.ipynb").run_all()
    yield page
    assert page.complaints == []
    page.close()


@pytest.fixture
def by_hand(boards):
    board = boards.board("Self-attention by hand")
    reset(board)
    return board


def reset(board):
    board.get_by_role("button", name="Reset").click()
    board.get_by_text("Back to the example.").wait_for()


def cell(board, name, row, column):
    return board.get_by_label(re.compile(rf"^{re.escape(name)} row {row} column {column}(:|$)"))


def value(board, name, row, column):
    text = cell(board, name, row, column).get_attribute("aria-label").split(": ")[1]
    return float(text.replace("−", "-").replace("∞", "inf"))


def see(board, text):
    board.get_by_text(text).first.wait_for()


def see_results(board, **changed):
    """Wait until the board shows the weights and outputs of the example with these matrices changed."""
    inputs = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v} | changed
    steps = self_attention_steps(*inputs.values(), scale=1)
    wanted = [
        [f"{name} row {i} column {j}: ", number]
        for name in ("weights", "outputs")
        for i, row in enumerate(getattr(steps, name).tolist(), 1)
        for j, number in enumerate(row, 1)
    ]
    board.page.wait_for_function(
        """([board, wanted]) => wanted.every(([label, number]) => {
             const cell = board.querySelector(`[aria-label^="${label}"]`);
             const shown = Number(cell.ariaLabel.slice(label.length).replaceAll('−', '-'));
             return Math.abs(shown - number) <= Math.max(0.0051, 0.06 * Math.abs(number));
           })""",
        arg=[board.element_handle(), wanted],
    )


def changed(matrix, row, column, number):
    matrix = matrix.clone()
    matrix[row - 1, column - 1] = number
    return matrix


# -------------------------------------------------------------------------------------- editing a number


def test_typing_moves_every_result_and_does_the_task(by_hand):
    see_results(by_hand)
    cell(by_hand, "W_k", 3, 3).click()
    by_hand.page.keyboard.type("1")
    by_hand.page.keyboard.press("Enter")
    see(by_hand, "✓ Done.")
    see_results(by_hand, W_k=changed(W_k, 3, 3, 1.0))


def test_enter_moves_down_alt_arrows_anywhere_and_escape_takes_back(by_hand):
    keyboard = by_hand.page.keyboard
    cell(by_hand, "W_q", 1, 1).click()
    keyboard.type("4")
    keyboard.press("Enter")
    assert focused(by_hand) == "W_q row 2 column 1"
    keyboard.press("Alt+ArrowRight")
    assert focused(by_hand) == "W_q row 2 column 2"
    keyboard.type("99")
    keyboard.press("Escape")
    assert cell(by_hand, "W_q", 2, 2).input_value() == "0"
    see_results(by_hand, W_q=changed(W_q, 1, 1, 4.0))


def focused(board):
    return board.page.evaluate("document.activeElement.getAttribute('aria-label')") or ""


def test_arrow_keys_step_and_one_undo_takes_back_a_press(by_hand):
    keyboard = by_hand.page.keyboard
    cell(by_hand, "W_v", 1, 1).click()
    keyboard.press("ArrowUp")
    see(by_hand, "W_v row 1 column 1 is now 1.")
    keyboard.press("Shift+ArrowDown")
    see(by_hand, "W_v row 1 column 1 is now -9.")
    see_results(by_hand, W_v=changed(W_v, 1, 1, -9.0))
    keyboard.press("Control+z")
    see(by_hand, "Undone.")
    see_results(by_hand, W_v=changed(W_v, 1, 1, 1.0))
    keyboard.press("Control+y")
    see(by_hand, "Done again.")
    see_results(by_hand, W_v=changed(W_v, 1, 1, -9.0))


def test_dragging_sideways_changes_a_number_and_is_undone_at_once(by_hand):
    box = cell(by_hand, "X", 1, 1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = by_hand.page.mouse
    mouse.move(x, y)
    mouse.down()
    for step in range(1, 7):
        mouse.move(x + 6 * step, y)
    mouse.up()
    see(by_hand, "X row 1 column 1 is now 4.")
    see_results(by_hand, X=changed(X, 1, 1, 4.0))
    by_hand.get_by_role("button", name="Undo").click()
    see(by_hand, "Undone.")
    see_results(by_hand)


def test_the_wheel_changes_the_focused_cell_only(by_hand):
    cell(by_hand, "W_q", 4, 1).hover()
    by_hand.page.mouse.wheel(0, -1)
    cell(by_hand, "W_q", 4, 1).click()
    by_hand.page.mouse.wheel(0, -1)
    see(by_hand, "W_q row 4 column 1 is now 1.")


@pytest.mark.parametrize(
    "text, complaint", [("abc", "is not a number"), ("1e400", "is too large"), ("1,5", "write 1.5")]
)
def test_bad_input_is_answered_at_the_cell_and_the_old_number_stays(by_hand, text, complaint):
    cell(by_hand, "X", 2, 2).click()
    by_hand.page.keyboard.type(text)
    by_hand.page.keyboard.press("Tab")
    see(by_hand.locator(".complaint"), complaint)
    assert cell(by_hand, "X", 2, 2).input_value() == "2"
    assert focused(by_hand) == "X row 2 column 3"  # no trap
    see_results(by_hand)


def test_an_emptied_cell_keeps_its_number(by_hand):
    cell(by_hand, "X", 2, 2).click()
    by_hand.page.keyboard.press("Delete")
    by_hand.page.keyboard.press("Enter")
    see(by_hand.locator(".complaint"), "The cell was empty. 2 stays.")


def test_a_block_from_a_spreadsheet_is_pasted_or_refused_whole(by_hand):
    paste(by_hand, cell(by_hand, "W_v", 1, 1), "1\t2\t3\r\n4\t5\t6\r\n")
    see(by_hand, "6 cells of W_v changed.")
    pasted = W_v.clone()
    pasted[:2] = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    see_results(by_hand, W_v=pasted)
    paste(by_hand, cell(by_hand, "W_v", 4, 2), "1\t2\t3\n4\t5\t6")
    see(by_hand, "A block of 2 × 3 does not fit here, where 1 × 2 cells are left.")
    see_results(by_hand, W_v=pasted)


def paste(board, target, text):
    board.page.evaluate("text => navigator.clipboard.writeText(text)", text)
    target.click()
    board.page.keyboard.press("Control+v")


def test_random_shows_its_seed_and_as_code_gives_the_matrices(by_hand):
    by_hand.get_by_role("button", name=re.compile("Random")).click()
    by_hand.get_by_role("button", name=re.compile(r"Random \(seed \d+\)")).wait_for()
    by_hand.get_by_text("As code").click()
    made = {}
    exec(by_hand.get_by_label("The matrices as Python code").input_value(), made)
    assert made["W_q"][0, 0] == float(cell(by_hand, "W_q", 1, 1).input_value())
    by_hand.get_by_text("As code").click()


# ---------------------------------------------------------------------------- asking where a number came from


def test_with_the_keyboard_alone_a_result_says_where_it_came_from(by_hand):
    keyboard = by_hand.page.keyboard
    by_hand.get_by_role("button", name="Reset").focus()
    for _ in range(80):
        keyboard.press("Tab")
        if focused(by_hand).startswith("scores row 1 column 1"):
            break
    keyboard.press("ArrowRight")
    see(by_hand, "scores row 1 column 2:  1·4 + 0·4 + 2·0 = 4")
    assert by_hand.locator("td.lit").count() == 6
    keyboard.press("Tab")
    keyboard.press("Tab")
    see(by_hand, "weights row 1 column 1:  e^2 / (e^2 + e^4 + e^4) = 0.06")


@pytest.mark.parametrize(
    "name, row, column, text",
    [
        ("queries", 1, 3, "1·1 + 0·0 + 1·1 + 0·1 = 2"),
        ("scores × scale", 1, 1, "2 · 1 = 2"),
        ("weighted values", 2, 2, "0.47 · 8 = 3.75"),
        ("outputs", 1, 1, "0.06·1 + 0.47·2 + 0.47·2 = 1.94"),
    ],
)
def test_pointing_at_a_result_spells_out_its_arithmetic(by_hand, name, row, column, text):
    cell(by_hand, name, row, column).hover()
    see(by_hand, f"{name} row {row} column {column}:  {text}")


def test_jupyterlabs_keys_do_not_fire_on_a_board(by_hand):
    count = by_hand.page.locator(".jp-Notebook .jp-Cell").count()
    cell(by_hand, "outputs", 1, 1).click()
    for key in ("b", "a", "x", "d", "d"):
        by_hand.page.keyboard.press(key)
    see(by_hand, "outputs row 1 column 1:")
    assert by_hand.page.locator(".jp-Notebook .jp-Cell").count() == count


def test_one_board_shown_twice_stays_in_step(boards, by_hand):
    cell(by_hand, "X", 1, 1).fill("3")
    by_hand.page.keyboard.press("Enter")
    twin = boards.board("Self-attention by hand", nth=1)
    see(twin, "X row 1 column 1 is now 3.")
    assert cell(twin, "X", 1, 1).input_value() == "3"


# -------------------------------------------------------------------------------------- the other boards


def test_softmax_explorer_by_keyboard(boards):
    board = boards.board("Scores, scale and temperature")
    reset(board)
    board.get_by_role("combobox", name="Scale by 1/√d_k").select_option("off")
    d_k = board.get_by_role("slider", name=re.compile("d_k"))
    d_k.focus()
    for _ in range(4):
        boards.page.keyboard.press("ArrowRight")
    see(board, "d_k is now 256.")
    assert value(board, "weights", 1, 3) == pytest.approx(0.96, abs=0.006)
    board.get_by_role("slider", name=re.compile("Temperature")).focus()
    boards.page.keyboard.press("End")
    see(board, "✓ Done.")


def test_mask_painter_shows_the_nan_and_its_gradient(boards):
    board = boards.board("Paint a mask")
    reset(board)
    board.get_by_role("combobox", name="Preset").select_option("causal")
    see(board, "Preset is now causal.")
    board.get_by_label("mask, ✓ = may attend row 1 column 1").click()
    see(board, "✓ Done.")
    assert board.locator('[aria-label="weights row 1 column 1: nan"]').count() == 1
    assert board.locator('[aria-label="gradient of W_v row 1 column 1: nan"]').count() == 1
    board.get_by_role("combobox", name="Apply as").select_option("masked_softmax of attn_lib")
    board.locator('[aria-label="weights row 1 column 1: 0"]').wait_for()


def test_heads_explorer_reads_out_a_query(boards):
    board = boards.board("Heads")
    board.get_by_role("combobox", name="Enlarge").select_option("head 0")
    see(board, "Enlarge is now head 0.")
    cell(board, "the head chosen: queries down, keys across", 1, 1).hover()
    see(board, "query a gives a 0.90, b 0.10")
    board.get_by_role("combobox", name="Read out query").select_option("1: b")
    see(board, "✓ Done.")


def test_reshape_explorer_follows_the_features(boards):
    board = boards.board("From features to heads")
    reset(board)
    assert cell(board, "head 0: view, then transpose", 2, 1).inner_text().split() == ["10", "h0"]
    assert cell(board, "head 0: view alone", 2, 1).inner_text().split() == ["2", "h1"]
    board.get_by_role("slider", name=re.compile("Tokens")).focus()
    boards.page.keyboard.press("Home")
    see(board, "✓ Done.")


# -------------------------------------------------------------------------------- for every eye and every size


def test_axe_finds_no_violation_in_any_board(boards):
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(boards.page, context=".attn-board")
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_a_board_fits_the_page_in_both_themes(boards, theme, size):
    boards.page.set_viewport_size({"width": size[0], "height": size[1]})
    boards.page.get_by_role("menuitem", name="Settings", exact=True).click()
    boards.page.get_by_text("Theme", exact=True).hover()
    boards.page.get_by_text(theme, exact=True).click()
    boards.page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
    boards.page.wait_for_selector("#jupyterlab-splash", state="detached")
    Path(ARTEFACTS).mkdir(exist_ok=True)
    for title in ("Self-attention by hand", "Scores, scale and temperature", "Paint a mask", "Heads"):
        board = boards.board(title)
        assert board.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), f"{title} is cut off at {size}"
        board.screenshot(path=ARTEFACTS / f"{title.lower().replace(' ', '_')}-{size[0]}-{theme.split()[1].lower()}.png")


def test_when_the_kernel_is_gone_the_board_says_so(browser, lab):
    page = Lab(browser, lab, "boards.ipynb").run_all()
    try:
        board = page.board("Self-attention by hand")
        page.page.evaluate(
            """async address => {
                 const get = await fetch(address + '/api/sessions?token=test');
                 const here = (await get.json()).find(s => s.path === 'boards.ipynb');
                 const xsrf = document.cookie.match(/_xsrf=([^;]+)/)?.[1] ?? '';
                 await fetch(`${address}/api/kernels/${here.kernel.id}/restart?token=test`,
                             {method: 'POST', headers: {'X-XSRFToken': xsrf}});
               }""",
            lab,
        )
        cell(board, "X", 1, 1).fill("3")
        page.page.keyboard.press("Enter")
        see(board, "Python does not answer")
        assert "stale" in board.get_attribute("class")
    finally:
        page.close()


def test_a_saved_notebook_shows_a_board_as_plain_tables_before_it_is_run(browser, lab):
    page = Lab(browser, lab, "notebooks/saved_01_by_hand.ipynb")
    try:
        text = page.page.get_by_text("run the cell to move these numbers")
        text.scroll_into_view_if_needed()
        assert text.is_visible()
        assert page.page.get_by_role("caption").filter(has_text="outputs").count() == 1
    finally:
        page.close()
