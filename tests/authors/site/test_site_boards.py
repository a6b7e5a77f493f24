"""The site's boards move in the page, by numbers, fingers and sentences."""

import json

import pytest
import torch
from board_actions import choose
from playwright.sync_api import expect
from site_page import LESSONS, TWO_FRAMES, address_of, come_to, edit

from attn_lib.examples import TOKENS, W_k, W_q, W_v, X, self_attention_steps


def test_numbers_typed_into_a_page_give_what_attn_lib_does(reader):
    page = reader("index")
    inputs = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v}
    generator = torch.Generator().manual_seed(5)
    for name in inputs:
        matrix = inputs[name] = inputs[name].double()
        row, column = (int(torch.randint(size, (), generator=generator)) for size in matrix.shape)
        matrix[row, column] = number = round(float(torch.randn((), generator=generator)) * 2, 3)
        edit(page, number, f"inputs X {TOKENS[row]}, column {column + 1}" if name == "X" else
             f"{name} row {row + 1} column {column + 1}")  # fmt: skip
    steps = self_attention_steps(*inputs.values(), scale=1)
    for i, row in enumerate(steps.outputs.tolist()):
        for j, number in enumerate(row):
            label = page.get_by_label(f"outputs {TOKENS[i]}, column {j + 1}: ").get_attribute("aria-label")
            assert abs(float(label.split(": ")[1].replace("−", "-").replace("≈", "")) - number) < 0.0051


# What a finger changes elsewhere: the texts of results, and of what is said of a number, that nothing lies on.
IN_VIEW = """(board) => {
  const there = (node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    return width && seen && (node.contains(seen) || seen.contains(node));
  };
  const told = "td.result, .why, .edited, .mini .tone > div, .word-line, .say";
  const parts = [...board.querySelectorAll(told)].filter(there);
  return parts.map((node) => node.textContent);
}"""


def seen_otherwise(page, board, before):
    """Waits until something else is in view."""
    changed = f"([node, before]) => JSON.stringify(({IN_VIEW})(node)) !== before"
    page.wait_for_function(
        changed, arg=[board.element_handle(), json.dumps(before, separators=(",", ":"), ensure_ascii=False)]
    )


def second_readings_wait_under_their_headings(page):
    """A press on a heading opens it."""
    folds = page.locator("details.second-reading")
    for fold in folds.all():
        expect(fold.locator(":scope > summary :is(h2, h3)")).to_be_visible()
        expect(fold.locator(":scope > :not(summary)").first).to_be_hidden()
    if folds.count():
        folds.first.locator("summary").first.click()
        expect(folds.first.locator(":scope > :not(summary)").first).to_be_visible()


@pytest.mark.parametrize("name", ["index", LESSONS[0], LESSONS[3], LESSONS[10], LESSONS[12]])
def test_on_a_phone_a_tap_and_an_edit_change_a_board(phone, name):
    """On boards of numbers, of heads, of a story and of the real model."""
    page = phone
    page.goto(address_of(name))
    if name == "index":
        grip = page.get_by_role("slider").first.bounding_box()
        assert grip["y"] + grip["height"] <= 844, "a visitor's first number is on the first screen"
    else:
        second_readings_wait_under_their_headings(page)
    board = come_to(page, ".attn-board:has(td.input, .words .word)")
    if board.locator("td.input").count():
        choose(board, "Random")  # between zeros one number may well change nothing
    cells, moved = board.locator("td.input input, td.input .switch, .words .word").filter(visible=True), []
    # on lesson 13's board a piece moves colours alone, and a phrase the numbers
    phrase = page.get_by_role("button", name="The capital of Germany is").first
    last = phrase if page.locator(".attn-board.real").count() else cells.last
    for cell in (cells.first, last):
        cell.evaluate("(node) => node.scrollIntoView({ block: 'center', behavior: 'instant' })")
        before = board.evaluate(IN_VIEW)
        cell.tap()
        seen_otherwise(page, board, before)
        if cell.evaluate("(node) => node.matches('input')"):
            board.get_by_label("one more").wait_for()
            more = board.get_by_label("one more").bounding_box()
            assert more["y"] + more["height"] <= 844, "the stepper is out of sight"
            page.touchscreen.tap(more["x"] + 9, more["y"] + 9)
            page.evaluate(TWO_FRAMES)
        moved.append(board.evaluate(IN_VIEW)[1:] != before[1:])
    assert any(moved)


def test_a_sentence_makes_the_board_ready(reader):
    page = reader("01_by_hand", "phone, dark")
    board = page.get_by_role("group", name="Self-attention by hand", exact=True)
    page.get_by_role("button", name="set all of W_k to 0").click()
    board.get_by_label("weights I → tea: 0.33").wait_for()
    top = "(node) => node.closest('.saved-board').getBoundingClientRect().top"
    assert -1 < board.evaluate(top) < 300, "the board has been brought into view, from where it begins"


def test_a_sentences_number_is_moved_by_keys_and_by_a_hand(reader):
    page = reader("04_multi_head")
    board = page.get_by_role("group", name="Two heads", exact=True)
    slider = page.get_by_role("slider", name="cut after the … feature")
    control = board.get_by_label("Cut after feature")

    def both_say(word, number):
        said = "([slider, control, word, number]) => slider.ariaValueText === word && control.ariaValueText === number"
        page.wait_for_function(said, arg=[slider.element_handle(), control.element_handle(), word, number])

    slider.focus()
    slider.press("Enter")
    both_say("first", "1")
    slider.press("End")
    both_say("third", "3")
    control.press("ArrowLeft")
    both_say("second", "2")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] - 300, box["y"] + 5, steps=9)
    page.mouse.up()
    both_say("first", "1")
    board.get_by_role("button", name="Undo").click()
    both_say("second", "2")


def test_every_phrase_that_a_board_knows_can_be_pressed_or_moved(pages, reader):
    seen = 0
    for path, page in pages.items():
        for place in page.select("[data-id]:has(.saved-board)"):
            spec = json.loads(place.select_one(".saved-board script").string)["spec"]
            tries = spec["tries"]
            if spec.get("kind") == "story":  # a phrase sets a whole text
                words = [" ".join(one["sets"]["inputs"]["text"]) for one in tries]
                assert words == texts_of_phrases(reader(path.stem), place["data-id"], [one["said"] for one in tries])
                seen += len(tries)
                continue
            found = [json.loads(one["data-now"]) for one in page.select(f'.try[data-board="{place["data-id"]}"]')]
            numbers = [
                json.loads(one["data-number"]) for one in page.select(f'[data-number][data-board="{place["data-id"]}"]')
            ]
            found += [number["sets"][number["at"]] for number in numbers]
            assert all(one["sets"] in found for one in tries), (path.name, tries)
            seen += len(tries)
    assert seen > 5


def texts_of_phrases(page, id, phrases):
    """The text that stands on a board of words after each of its phrases was pressed."""
    board, found = come_to(page, f"[data-id='{id}'] .attn-board"), []
    for phrase in phrases:
        page.locator(f'.try[data-board="{id}"]').get_by_text(phrase, exact=True).first.click()
        found.append(" ".join(board.locator(".words .word .name").all_inner_texts()[1:]))
    return found


def test_a_page_stands_still_for_whom_motion_disturbs(reader):
    page = reader("index", motion="reduce")
    assert page.evaluate("scrollTo(0, 300), scrollY") == 300, "it glides there"
