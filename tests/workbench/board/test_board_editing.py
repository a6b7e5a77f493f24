"""Boards in the hands of a person, on a page without a kernel: keys, mouse, what is said, and Python keeping silent."""

import re

import pytest
import torch
from board_actions import cell, changed, choose, focused, number, press, see, see_results, start_again
from board_page import awake, open_page, traits

from attn_lib.examples import W_k, W_q, W_v, X
from authors.pages import boards_in_pages
from workbench.board import Board, Control, Task, lessons, random_matrix
from workbench.board import operations as op

HEADS = torch.tensor([[[0.9, 0.1], [0.5, 0.5]], [[1.0, 0.0], [0.2, 0.8]]])


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    names = ("by_hand_board", "softmax_board", "mask_board", "two_heads_board", "reshape_board", "other_word_figure")
    made = {name: getattr(lessons, name)() for name in names}
    made["heads_board"] = lessons.heads_board(HEADS, ["a", "b"])
    shown = "".join(f'<section id="{name}">{boards_in_pages.embed(board)}</section>' for name, board in made.items())
    path = tmp_path_factory.mktemp("hands") / "boards.html"
    head = f"<!doctype html><meta charset=utf-8><style>{boards_in_pages.STYLE}</style>"
    path.write_text(f"{head}{awake(shown)}", encoding="utf-8")
    may = ["clipboard-read", "clipboard-write"]
    page = browser.new_page(viewport={"width": 1366, "height": 768}, permissions=may, reduced_motion="reduce")
    page.goto(path.as_uri())
    yield page
    page.close()


@pytest.fixture
def by_hand(page):
    return restarted(page, "by_hand_board")


def restarted(page, name):
    page.mouse.move(0, 0)
    return start_again(page.locator(f"#{name} .attn-board"))


def said(board):
    return board.locator(".said").inner_text()


# -------------------------------------------------------------------------------------------------------- changing


def test_an_edit_tells_a_screen_reader_what_it_moved(by_hand):
    tokens, board = ("I", "like", "tea"), lessons.by_hand_board()
    before, keys = board.results["weights"], board.inputs["W_k"]
    keys[0, 0] = 3
    after = board.change(W_k=keys).results["weights"]
    i, j = divmod(int((after - before).abs().argmax()), 3)
    cell(by_hand, "W_k row 1 column 1").fill("3")
    press(by_hand, "Enter")
    told = by_hand.locator(".effect").inner_text()
    assert told == f"weights {tokens[i]} → {tokens[j]}: {before[i, j]:.2f} → {after[i, j]:.2f}"


def test_changes_are_undone_and_redone_until_a_new_one(by_hand):
    number = cell(by_hand, "W_q row 1 column 1")
    undo, redo = (by_hand.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    number.hover()
    number.focus()
    for _ in range(2):  # one turn of the wheel, taken back, and another
        by_hand.page.mouse.wheel(0, -1)
        by_hand.get_by_text("W_q row 1 column 1 is now 2.").wait_for()
        press(by_hand, "Control+z")
        assert number.input_value() == "1" and said(by_hand) == "Undone."
    press(by_hand, "Control+Shift+z")
    assert number.input_value() == "2" and redo.is_disabled()
    undo.click()
    cell(by_hand, "W_q row 1 column 2").fill("5")
    press(by_hand, "Enter")
    assert redo.is_disabled()


def test_a_typed_digit_replaces_what_stands_there(by_hand):
    box = cell(by_hand, "W_q row 1 column 1")  # it holds 1
    box.click()
    assert box.evaluate("box => [box.selectionStart, box.selectionEnd]") == [0, 1]
    box.click()  # again, into the cell that has the focus
    after = "box => new Promise(setTimeout).then(() => [box.selectionStart, box.selectionEnd])"
    assert box.evaluate(after) == [0, 1]  # as the next digit takes the place of all
    by_hand.page.keyboard.type("7")
    assert box.input_value() == "7"
    press(by_hand, "Escape")
    assert box.input_value() == "1"
    press(by_hand, "ArrowUp")
    by_hand.page.keyboard.type("3")
    assert box.input_value() == "3"
    by_hand.page.keyboard.type("5")  # but a second one stands behind the first
    press(by_hand, "Enter")
    see_results(by_hand, W_q=changed(W_q, 1, 1, 35.0))
    box.focus()
    press(by_hand, "0", ".", "2", "5", "ArrowUp")  # a step from what was typed
    assert box.input_value() == "1.25"


def test_enter_alt_arrows_and_escape_in_a_number(by_hand):
    cell(by_hand, "W_q row 1 column 1").click()
    by_hand.page.keyboard.type("4")
    press(by_hand, "Enter")
    assert focused(by_hand) == "W_q row 2 column 1"
    press(by_hand, "Alt+ArrowRight", "Alt+ArrowDown")
    assert focused(by_hand) == "W_q row 3 column 2"
    press(by_hand, "Shift+Enter")
    assert focused(by_hand) == "W_q row 2 column 2"
    by_hand.page.keyboard.type("99")
    press(by_hand, "Escape")
    assert cell(by_hand, "W_q row 2 column 2").input_value() == "0"
    see_results(by_hand, W_q=changed(W_q, 1, 1, 4.0))


def test_f2_or_a_double_click_goes_on_and_leaving_takes_a_number(by_hand):
    box = cell(by_hand, "W_q row 1 column 1")  # it holds 1
    box.focus()
    press(by_hand, "F2", "5", "Enter")
    assert box.input_value() == "15"
    box.dblclick()
    press(by_hand, "End", "0", "Enter")
    assert box.input_value() == "150"
    for typed, key in (("4", "Tab"), ("3", "Alt+ArrowRight")):
        box.focus()
        press(by_hand, typed, key)
        see_results(by_hand, W_q=changed(W_q, 1, 1, float(typed)))


def test_arrow_keys_step_and_shift_takes_ten(by_hand):
    cell(by_hand, "W_v row 1 column 1").click()
    press(by_hand, "ArrowUp")
    see(by_hand, "W_v row 1 column 1 is now 1.")
    press(by_hand, "Shift+ArrowDown")
    see(by_hand, "W_v row 1 column 1 is now −9.")
    see_results(by_hand, W_v=changed(W_v, 1, 1, -9.0))


def test_a_held_key_and_a_drag_are_each_one_undo(by_hand):
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
    press(by_hand, "Escape")
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
    zoom = "new WheelEvent('wheel', { deltaY: -1, ctrlKey: true, bubbles: true, cancelable: true })"
    assert cell(by_hand, "W_q row 4 column 1").evaluate(f"box => box.dispatchEvent({zoom}) && box.value") == "1"


def test_bad_input_is_answered_at_the_cell(by_hand):
    box, height = cell(by_hand, "inputs X like, column 2"), "board => board.getBoundingClientRect().height"
    for text, complaint in (("abc", "“abc” is not a number. 2 stays."), ("2e6", "at most a million")):
        start_again(by_hand)
        box.click()
        before = by_hand.evaluate(height)
        by_hand.page.keyboard.type(text)
        press(by_hand, "Enter")
        see(by_hand, complaint)
        mark = by_hand.locator(".said").evaluate("said => getComputedStyle(said, '::before').content")
        assert mark == '"! "' and by_hand.evaluate(height) == before
        assert box.input_value() == "2" and box.get_attribute("aria-invalid") == "true"
        press(by_hand, "Tab")  # no trap
        assert not focused(by_hand).startswith("inputs X")
        see_results(by_hand)
    box.click()
    press(by_hand, "Delete", "Enter")
    see(by_hand, "The cell was empty. 2 stays.")


# Whether all of a refusal is seen, and the cell as well.
SEEN_WHOLE = """(said, cell) => {
  const { left, right, top, bottom } = said.getBoundingClientRect(), around = cell.getBoundingClientRect();
  const line = said.closest(".line").getBoundingClientRect();
  const isOnTop = (node, x, y) => node.contains(document.elementFromPoint(x, y));
  const corners = [left + 3, right - 3].flatMap((x) => [isOnTop(said, x, top + 3), isOnTop(said, x, bottom - 3)]);
  const isCut = bottom > line.bottom + 1 || right > line.right + 1;
  return corners.every(Boolean) && !isCut && isOnTop(cell, around.left + 9, around.top + 9);
}"""


def test_a_refusal_is_seen_whole_and_enter_stays_with_it(by_hand):
    label = "W_k row 1 column 1"
    box = cell(by_hand, label)
    box.click()
    by_hand.page.keyboard.type("abc and more")
    press(by_hand, "Enter")
    assert focused(by_hand) == label
    assert by_hand.locator(".said").evaluate(SEEN_WHOLE, box.element_handle())
    assert box.get_attribute("aria-errormessage") == by_hand.locator(".said").get_attribute("id")
    press(by_hand, "Enter")  # the old number is as good as any
    assert focused(by_hand) == label.replace("row 1", "row 2")
    cell(by_hand, "W_v row 1 column 1").fill("7")
    press(by_hand, "Enter")
    assert not by_hand.get_by_text("not a number").is_visible() and box.get_attribute("aria-errormessage") is None


PASTE = """(input, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def test_a_block_is_pasted_whole_or_not_at_all(by_hand):
    number = cell(by_hand, "W_v row 1 column 1")
    number.evaluate(PASTE, "1.25\t2\r\n3\t4\r\n")  # as a spreadsheet of Windows copies it
    found = [cell(by_hand, f"W_v row {row} column {column}").input_value() for row in (1, 2) for column in (1, 2)]
    assert found == ["1.25", "2", "3", "4"] and said(by_hand) == "4 cells of W_v changed."
    number.evaluate(PASTE, "[[5, 6], [7, 8]]")
    assert cell(by_hand, "W_v row 2 column 2").input_value() == "8"
    number.evaluate(PASTE, "1.25 2\n")
    assert [cell(by_hand, f"W_v row 1 column {column}").input_value() for column in (1, 2)] == ["1.25", "2"]
    number.evaluate(PASTE, "1\t2\t3\t4")
    assert "1 × 4 does not fit here, where 4 × 3 cells are left" in said(by_hand) and number.input_value() == "1.25"


def test_random_is_its_seed_and_the_code_follows(by_hand, page):
    def drawn(board):
        choose(board, re.compile("Random"))
        seed = int(said(board).split()[-1].rstrip("."))
        choose(board, "As code")
        made = {}
        exec(board.locator("textarea").input_value(), made)
        press(board, "Escape")
        return made, seed

    (first, seed), (second, next_seed) = drawn(by_hand), drawn(by_hand)
    assert torch.equal(first["W_q"], random_matrix((4, 3), seed, place=1))
    assert torch.equal(second["W_q"], random_matrix((4, 3), seed + 1, place=1)) and next_seed == seed + 1
    mask = restarted(page, "mask_board")
    assert set(drawn(mask)[0]["mask"].unique().tolist()) <= {0, 1}


def test_as_code_the_matrices_can_be_copied_and_pasted_back(by_hand, page):
    cell(by_hand, "W_v row 1 column 1").fill("0,25")
    choose(by_hand, "As code")
    by_hand.get_by_role("button", name="Copy").click()
    see(by_hand, "Copied.")
    made = {}
    copied = page.evaluate("navigator.clipboard.readText()")
    exec(copied, made)
    for name, matrix in {"X": X, "W_q": W_q, "W_k": W_k, "W_v": changed(W_v, 1, 1, 0.25)}.items():
        assert torch.equal(made[name], matrix.double())
    start_again(by_hand)
    cell(by_hand, "inputs X I, column 1").evaluate(PASTE, copied)
    see_results(by_hand, W_v=changed(W_v, 1, 1, 0.25))


def test_a_number_longer_than_its_cell_is_whole_in_a_hand(by_hand):
    number = cell(by_hand, "W_q row 1 column 1")
    number.fill("123456.789")
    number.press("Enter")
    assert (number.input_value(), number.get_attribute("title")) == ("123k", "123456.789")
    number.focus()
    assert number.input_value() == "123456.789"
    assert number.evaluate("(input) => input.scrollWidth <= input.clientWidth"), "and is seen to its end"
    number.press("Escape")
    press(by_hand, "Control+z")


def test_the_reason_is_asked_when_the_task_was_done(by_hand):
    reasons = by_hand.get_by_role("combobox", name="In which column, and why there?")
    assert not reasons.is_visible()
    column, mark = cell(by_hand, "W_k row 3 column 3"), by_hand.locator(".task b")
    for typed, told in (("1", "✓ Now say why."), ("9", "✓ It was so. Say why."), ("1", "✓ Now say why.")):
        column.fill(typed)
        column.press("Enter")
        assert mark.inner_text().strip() == told
    by_hand.get_by_text("In which column, and why there?").click()
    assert focused(by_hand) == "In which column, and why there?"
    reasons.select_option("1")
    assert said(by_hand).startswith("That is not it")
    assert mark.inner_text().strip() == "✗ Not for that reason.", "said where it was chosen"
    reasons.select_option("0")
    assert mark.inner_text().strip() == "✓ Done." and said(by_hand) == "Right."
    assert by_hand.locator(".task p").inner_text().startswith("✓ Done. If an entry of the third column grows by d")
    choose(by_hand, "Reset")
    assert mark.inner_text().strip() == "Task." and not reasons.is_visible()


# --------------------------------------------------------------------------------------------------------- looking


def test_by_keyboard_a_result_says_where_it_came_from(by_hand):
    by_hand.get_by_role("button", name="More", exact=True).focus()
    stops = []
    for _ in range(30):
        press(by_hand, "Tab")
        stops.append(focused(by_hand))
        if stops[-1].startswith("scores"):
            break
    assert len(stops) < 20 and sum(stop.startswith("W_q") for stop in stops) == 1  # one stop for each panel
    press(by_hand, "ArrowUp", "ArrowUp", "Home", "ArrowDown", "ArrowDown", "ArrowRight")
    line = by_hand.locator(".why")
    line.get_by_text("scores tea → like").wait_for()
    assert line.inner_text().endswith("2·4 + 1·4 + 3·0 = 12")
    assert by_hand.locator(".spoken").inner_text() == "scores tea → like: 2·4 + 1·4 + 3·0 = 12"
    assert by_hand.locator("td.lit").count() == 6
    press(by_hand, "Enter")  # back to where it came from
    assert focused(by_hand) == "queries tea, column 1: 2"


def test_an_operand_is_a_way_back_to_its_cell(by_hand):
    cell(by_hand, "scores tea → like").click()
    by_hand.locator(".why .words").click()  # nothing is lost
    operand = by_hand.locator(".why .leaf").nth(1)
    assert operand.get_attribute("title") == "keys like, column 1"
    operand.click()
    assert focused(by_hand) == "keys like, column 1: 4"
    by_hand.locator(".why .leaf").nth(2).click()  # 0·0 + 2·1 + 0·0 + 2·1: the second 2 of X
    assert focused(by_hand) == "inputs X like, column 2"


def test_pointing_at_a_result_spells_out_its_arithmetic(by_hand):
    sums = {"queries I, column 3": "1·1 + 0·0 + 1·1 + 0·1 = 2", "weights I → I": "e2 / (e2 + e4 + e4) ≈ 0.063"}
    for label, text in sums.items():
        cell(by_hand, label).hover()
        by_hand.locator(".why").get_by_text(label).wait_for()
        assert by_hand.locator(".why").inner_text().endswith(text)
        assert label not in by_hand.locator(".spoken").inner_text()  # which would be read at every move of the mouse


def test_the_focused_cell_stays_explained_over_its_panel(by_hand):
    words = by_hand.locator(".why .words")
    cell(by_hand, "scores I → tea").focus()
    cell(by_hand, "scores tea → I").hover()
    assert words.inner_text() == "scores I → tea"
    cell(by_hand, "weights I → I").hover()
    assert words.inner_text() == "weights I → I"
    by_hand.page.mouse.move(0, 0)
    assert words.inner_text() == "scores I → tea"
    by_hand.get_by_role("button", name="More", exact=True).focus()  # it is left
    cell(by_hand, "weights I → I").hover()
    by_hand.page.mouse.move(0, 0)
    assert not by_hand.locator(".why").is_visible()


def test_an_input_says_what_it_will_move(by_hand, page):
    hint = by_hand.locator(".hint")
    by_hand.page.evaluate("document.activeElement.blur()")
    assert hint.inner_text() == "Change a number: type, or press ↑ ↓. Point at a result to see where it comes from."
    cell(by_hand, "W_k row 3 column 3").focus()
    moves = "W_k row 3 column 3 moves 2 of keys, 6 of scores, 9 of weights, 9 of outputs."
    assert hint.inner_text() == moves == by_hand.locator(".spoken").inner_text()
    assert by_hand.locator(".moved").count() == 26
    mark = "node => getComputedStyle(node, '::after').backgroundColor"
    assert by_hand.locator(".moved").first.evaluate(mark) != "rgba(0, 0, 0, 0)"
    by_hand.get_by_role("button", name="More", exact=True).focus()  # what is said next is of what a button does
    assert "moves" not in hint.inner_text()
    mask = restarted(page, "mask_board")
    cell(mask, "mask q0 → k0").focus()
    assert (
        "moves 1 of “scores, filled”, 4 of weights, 1 of sum of each row, 2 of outputs, 4 of gradient"
        in mask.locator(".hint").inner_text()
    )


# Whether a key is nobody's: neither taken from what lies around, nor from the browser.
IS_PASSED_ON = """(node, key) => {
  let passed = false;
  document.addEventListener("keydown", () => (passed = true), { once: true });
  return node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })) && passed;
}"""


def test_the_steps_can_be_played_one_by_one(by_hand):
    slider = by_hand.get_by_role("slider", name="Steps")
    assert slider.input_value() == slider.get_attribute("max")
    back, shown = by_hand.get_by_role("button", name="Step back"), by_hand.locator(".player output")
    for step in ("6/6", "5/6"):
        back.click()
        assert shown.inner_text() == step
    for end, key, step in (("End", "PageDown", "6/6"), ("Home", "PageUp", "1/6")):  # there it turns the page
        slider.press(end)
        assert slider.evaluate(IS_PASSED_ON, key) and shown.inner_text() == step
    see(by_hand, "queries: inputs X times W_q")
    pale = by_hand.locator(".panel.veiled")
    assert pale.count() == 5 and "" not in pale.locator("td.cell").all_inner_texts(), "its number is there all the time"
    press(by_hand, "PageDown", "PageDown", "PageDown", "PageDown")
    see(by_hand, "weights: Softmax of each row of")
    assert number(by_hand, "weights I → I") == 0.06
    assert pale.count() == 1
    slider.press("End")
    assert slider.get_attribute("aria-valuetext") == "outputs"
    see_results(by_hand)


def test_large_type_is_larger(by_hand, page):
    page.set_viewport_size({"width": 1920, "height": 1080})
    size = "board => parseFloat(getComputedStyle(board.querySelector('td.cell')).fontSize)"
    before = by_hand.evaluate(size)
    choose(by_hand, "Large type")
    assert by_hand.evaluate(size) > 1.2 * before
    choose(by_hand, "Large type")
    assert by_hand.evaluate(size) == before
    page.set_viewport_size({"width": 1366, "height": 768})


# ------------------------------------------------------------------------------------------------ the other boards


def test_softmax_board_by_keyboard(page):
    board = restarted(page, "softmax_board")
    start = number(board, "weights, / 1 key 2"), number(board, "weights, / √d_k key 2")
    board.get_by_role("slider", name=re.compile("d_k")).focus()
    press(board, *["ArrowRight"] * 4)
    see(board, "d_k is now 256.")
    assert board.get_by_role("slider", name=re.compile("d_k")).get_attribute("aria-valuetext") == "256"
    assert board.locator(".control output").all_inner_texts() == ["256", "1"]
    assert number(board, "weights, / 1 key 2") == pytest.approx(0.96, abs=0.006)
    assert number(board, "weights, / √d_k key 2") == pytest.approx(0.27, abs=0.006)
    board.get_by_role("slider", name=re.compile("Temperature")).focus()
    press(board, *["ArrowRight"] * 4)
    see(board, "✓ Now say")
    press(board, "Control+z", "Control+z")  # each way of a slider is one step
    assert (number(board, "weights, / 1 key 2"), number(board, "weights, / √d_k key 2")) == start


def test_a_mask_is_painted_by_mouse_and_by_keys(page):
    board = restarted(page, "mask_board")
    closed = board.locator("[data-name=mask] .switch[aria-pressed=false]")
    cell(board, "mask q0 → k1").hover()
    page.mouse.down()
    cell(board, "mask q0 → k3").hover()  # at one go: no cell on the way is left out
    page.mouse.up()
    assert closed.evaluate_all("all => all.map((one) => one.ariaLabel)") == [f"mask q0 → k{k}" for k in (1, 2, 3)]
    assert number(board, "weights q0 → k0") == 1 and "3 cells of mask are now blocked" in said(board)
    press(board, "Control+z")
    assert closed.count() == 0
    cell(board, "mask q1 → k2").focus()
    press(board, "Enter", "Shift+ArrowRight", "Shift+ArrowDown")
    assert focused(board) == "mask q2 → k3" and closed.count() == 3
    press(board, "ArrowUp", "Enter")
    assert focused(board) == "mask q1 → k3" and closed.count() == 2


def test_an_output_that_hears_nothing_of_a_new_word_keeps(page):
    board = restarted(page, "other_word_figure")
    moved = board.locator("[data-name='moved by'] td.cell")
    board.get_by_role("combobox").select_option("I like milk")
    assert "keeps" not in moved.all_inner_texts()
    cell(board, "mask query 0 → key 2").focus()
    press(board, "Enter", "Shift+ArrowDown")
    assert moved.all_inner_texts()[:2] == ["keeps"] * 2 and number(board, "moved by query 2, column 1") > 0
    board.get_by_role("combobox").select_option("I drink tea")
    assert number(board, "moved by query 0, column 1") > 0


def test_mask_board_shows_the_nan_and_its_gradient(page):
    board = restarted(page, "mask_board")
    cell(board, "scores, filled q0 → k1").focus()
    assert board.locator("[data-name=mask] td.lit").count() == 1  # of that what is seen; "mask and preset" is not
    board.get_by_role("combobox", name="Preset").select_option("causal")
    cell(board, "mask q0 → k0").click()
    looks = cell(board, "scores, filled q0 → k1").evaluate("cell => [cell.className, cell.style.cssText]")
    assert "below" in looks[0] and "100.0%" in looks[1]  # −∞ is as far down as there is
    pressed = [cell(board, f"mask q{i} → k0").get_attribute("aria-pressed") for i in (0, 1)]
    assert pressed == ["false", "true"]
    see(board, "✓ Done.")
    cell(board, "scores q1 → k3").focus()
    assert board.locator(".hint").inner_text() == "scores q1 → k3 moves nothing, as things stand."
    nan = board.locator('[aria-label="weights q0 → k0: nan"]')
    assert "repeating-linear-gradient" in nan.evaluate("cell => getComputedStyle(cell).backgroundImage")
    assert board.locator('[aria-label="gradient of W_v row 1 column 1: nan"]').count() == 1
    board.get_by_role("combobox", name="Apply as").select_option("masked_softmax of attn_lib")
    board.locator('[aria-label="weights q0 → k0: 0"]').wait_for()
    assert board.get_by_text("✓ Done.").is_visible()


def test_a_head_is_chosen_by_clicking_it(page):
    board = restarted(page, "heads_board")
    board.get_by_role("button", name="head 0", exact=True).click()
    board.locator('[aria-label="the head chosen a → a: 0.90"]').wait_for()
    board.get_by_role("combobox", name="Query").select_option("1: b")
    see(board, "✓ Done.")
    board.get_by_role("combobox", name="Curves").select_option("shown")
    board.get_by_role("img", name="Who attends to whom: a most to a, b most to a.").wait_for()


def test_reshape_board_follows_a_feature(page):
    board = restarted(page, "reshape_board")
    board.get_by_role("slider", name="head_dim").press("End")
    cell(board, "x: a row for each token row 2 column 1").hover()
    board.page.wait_for_function("board => board.querySelectorAll('td.moved').length === 2", arg=board.element_handle())
    assert board.locator("td.moved").all_inner_texts() == ["10", "10"]
    colour = "board => board.querySelector('[aria-label$=\": 1\"]').style.getPropertyValue('--share')"
    before = board.evaluate(colour)
    board.get_by_role("slider", name=re.compile("Tokens")).focus()
    press(board, "Home")
    see(board, "✓ Done.")
    assert board.evaluate(colour) == before  # the same number keeps its colour on a smaller matrix


def test_axe_finds_no_violation_in_any_board(page):
    from axe_playwright_python.sync_playwright import Axe

    contrast = {"color-contrast": {"enabled": False}}  # which test_board_view looks at, on every board
    results = Axe().run(page, context=".attn-board", options={"resultTypes": ["violations"], "rules": contrast})
    assert results.violations_count == 0, results.generate_report()


# ------------------------------------------------------------------------------------ keys that are not the board's


def test_only_keys_that_the_board_uses_are_kept_from_jupyterlab(by_hand):
    passes = {"b": False, "Control+s": True, "Control+z": False, "Shift+Enter": True, "PageDown": True, " ": True}
    for key, is_passed in passes.items():
        start_again(by_hand)
        cell(by_hand, "scores I → tea").focus()
        press(by_hand, key)
        kept = by_hand.page.evaluate("document.activeElement.hasAttribute('data-lm-suppress-shortcuts')")
        assert kept != is_passed, key


# ---------------------------------------------------------------------------------------------- Python, or its silence

MODEL = """([text, deaf]) => {
  const traits = JSON.parse(text), listeners = {};
  traits.frames = {};
  window.engine = new Engine({
    get: (name) => traits[name], set: (name, value) => (traits[name] = value),
    on: (what, then) => (listeners[what] = then),
    save_changes() { if (deaf) throw new Error("no kernel"); },
  });
  window.say = (name, value) => ((traits[name] = value), listeners[`change:${name}`]());
  window.answer = (more) => say("reply", { revision: engine.revision, problem: "", ...more });
}"""


@pytest.fixture
def asking(browser):
    """asking(board, deaf): a page whose engine tells a Python that the test speaks for, with a clock that is ours."""
    page = open_page(browser)
    page.clock.install()

    def ask(board, deaf=False):
        page.evaluate(MODEL, [traits(board), deaf])
        return page

    yield ask
    page.close()


def test_a_python_that_is_gone_or_silent_is_said_to_know_nothing(asking):
    board = lessons.by_hand_board()
    for deaf, wait in ((True, 10), (False, 5000)):
        page = asking(board, deaf)
        page.evaluate("engine.edit('W_q', [[0, 0, '3']])")
        page.clock.run_for(wait)
        assert page.evaluate("engine.untold").startswith("Python has not been told")
        assert page.evaluate("engine.values.queries[0][0]") == 3  # the page goes on
    page.evaluate("answer({})")
    assert page.evaluate("engine.untold") == ""


def test_what_python_changes_is_shown_at_once(asking):
    board = lessons.by_hand_board()
    page = asking(board)
    page.evaluate("() => { window.shown = 0; engine.views.add(() => (shown += 1)); }")
    state = board.change(W_q=changed(W_q, 1, 1, 3.0)).state
    page.evaluate("(state) => say('state', state)", {**state, "answer": 0})
    assert page.evaluate("[engine.values.queries[0][0], engine.answer, shown]") == [3, 0, 1]
    page.evaluate("say('state', { ...engine.state, revision: engine.revision })")  # its own words coming back
    assert page.evaluate("[engine.answer, shown]") == [0, 1]


def test_what_the_page_cannot_compute_leaves_old_results(asking):
    board = Board({"a": torch.ones(1, 1)}, [("b", op.row("a", chosen="n"))], [Control("n", "N", (0, 9))])
    page = asking(board)
    page.evaluate("engine.set('n', 9)")
    assert page.evaluate("engine.problem").startswith("This cannot be computed (")
    assert page.evaluate("engine.values.b") == [[1]]


def test_python_is_told_of_a_task_done_and_of_reset(asking):
    board = Board({"a": torch.zeros(1, 1)}, [], task=Task("Make a large.", (("above", "a", 0, 0, 5),)))
    page = asking(board)
    for act, done in (("edit('a', [[0, 0, '6']])", True), ("edit('a', [[0, 0, '1']])", True), ("reset()", False)):
        page.evaluate(f"engine.{act}")
        page.clock.run_for(10)
        board.set_state({"state": page.evaluate("engine.model.get('state')")})
        assert board.done is done is page.evaluate("engine.done")


def test_a_result_that_is_written_over_is_filled_and_let_go(by_hand):
    tea = cell(by_hand, "keys tea, column 3")
    tea.focus()
    press(by_hand, "1", ".", "5", "Enter")
    yours = cell(by_hand, "keys tea, column 3")
    assert yours.input_value() == "1.5" and cell(by_hand, "scores I → tea").inner_text() == "5"
    fill = "(node) => getComputedStyle(node).backgroundColor"
    others = by_hand.locator(".panel[data-name=keys] td.cell:not(.yours)")
    assert yours.evaluate(fill) not in [others.nth(i).evaluate(fill) for i in range(others.count())]
    choose(by_hand, "As code")
    assert "keys[2, 2] = 1.5" in by_hand.get_by_label("The matrices as Python code").input_value()
    press(by_hand, "Escape")
    yours.focus()
    by_hand.page.keyboard.press("Control+z")
    assert by_hand.locator("td.yours").count() == 0
    assert focused(by_hand).startswith("keys tea, column 3"), "the next key would be a command of the page around it"
    by_hand.page.keyboard.press("Control+y")
    by_hand.get_by_role("button", name="let go").click()
    assert cell(by_hand, "keys tea, column 3").inner_text() == "1" and focused(by_hand).startswith("keys tea, column 3")
    assert by_hand.get_by_role("button", name="let go").count() == 0
