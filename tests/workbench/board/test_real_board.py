"""The board of a language model: what it shows is what the model does, live and from kept sentences."""

import re

import pytest
import torch
from board_page import awake, open_page, traits
from playwright.sync_api import expect
from small_model import SIZES, small_model
from torch.testing import assert_close

from authors.pages import boards_in_pages
from workbench.board import Task, kept
from workbench.board.lessons import n13_real_model, real_board
from workbench.board.real import RealBoard, reading_of, spans_of, without_each
from workbench.smollm import NoModel, smollm

KEYS, KEY = "The keys near the cat", "The key near the cats"
HEADS = SIZES.blocks * SIZES.heads
TASK = Task("Take one out.", (("text_is", KEYS), ("says_less", " were", 2.0), ("one_out",)))


@pytest.fixture(scope="module")
def model():
    return small_model()


def without(model, heads):
    """A model in whose blocks the projection takes nothing of these heads: another way to silence them."""
    other = small_model()
    for block, head in heads:
        own = slice(head * SIZES.head_dim, (head + 1) * SIZES.head_dim)
        other.blocks[block].W_o[:, own] = 0
    return other


@pytest.mark.parametrize("out", [[], [(0, 2)], [(1, 5)], [(0, 0), (1, 3)]])
def test_a_reading_is_what_the_model_says_without_those_heads(model, out):
    seen = reading_of(model, KEYS, out)
    logits, _ = without(model, out).read(model.tokens(KEYS))
    assert_close(seen.shares, logits[0, -1].softmax(-1))
    assert seen.maps.shape == (HEADS, 5, 5) and (seen.maps.triu(1) == 0).all()
    assert_close(seen.maps.sum(-1), torch.ones(HEADS, 5))


def test_a_text_that_is_read_on_is_read_the_same(model):
    begun = [reading_of(model, text) for text in ("The keys", KEYS, "The key near")]
    for text in (f"{KEYS} were the", f"{KEYS}s"):  # the second one does not begin so: its last piece is another
        whole, onwards = reading_of(model, text), reading_of(model, text, begun=begun)
        assert_close(onwards.shares, whole.shares)
        assert_close(onwards.maps, whole.maps)


def test_all_heads_out_one_by_one_tell_how_far_they_are(model):
    told = []
    shares = without_each(model, KEYS, told.append)
    assert told[-1] == 1 and told == sorted(told)
    for head in range(HEADS):
        assert_close(shares[head], reading_of(model, KEYS, [divmod(head, SIZES.heads)]).shares)


@pytest.mark.parametrize("text", [KEYS, "Tee, später 😀 und naïve", " the\n\ncat", "x", ""])
def test_pieces_cover_a_text_from_end_to_end(model, text):
    spans, units = spans_of(model.pieces, text), text.encode("utf-16-le")
    assert len(spans) == len(model.pieces.encode(text))
    assert b"".join(units[2 * a : 2 * b] for a, b in spans) == units


def test_python_reads_what_stands_there_and_refuses_nonsense(model):
    board = RealBoard(model, KEYS, task=TASK, pair=["were", "was"])
    assert not board.done and board.change(out=[7]).done
    board.change(text=KEY, out=[])
    assert (board.text, board.settings["out"]) == (KEY, []) and board.reply["reading"]["text"] == KEY
    one, other = (reading_of(model, KEY).shares[model.piece(word)] for word in (" were", " was"))
    assert_close(board.reply["reading"]["pair"][2], (one / (one + other)).item())
    settings = board.state["settings"]
    nonsense = [{"out": [HEADS]}, {"asks": 99}, {"head": "1"}, {"shows": "all"}, {"pair": ["several pieces", "was"]}]
    for k, said in enumerate(nonsense):
        board.set_state({"state": {**board.state, "settings": settings | said, "revision": 90 + k}})
        assert board.reply["problem"] and board.text == KEY, said
    with pytest.raises(ValueError, match="99"):
        board.change(text="x" * 99)


@pytest.mark.parametrize("words, fits", [(["the", "cat"] * 30, 40), (["x" * 99], 40), (["was", "x" * 45], 1)])
def test_of_a_long_text_forty_pieces_are_read_and_the_rest_waits_in_the_field(browser, model, words, fits):
    page, board = open_page(browser), RealBoard(model, "")
    page.evaluate("(text) => window.asked = realOf(text)", traits(board))
    text = " " + " ".join(words)
    asked = {**board.state, "inputs": {"text": text}, "settings": board.settings, "revision": 1}
    page.evaluate("text => engineOfReal.rewrite(text, '')", text)
    board.set_state({"state": asked})
    assert not board.reply["problem"] and text.startswith(board.text)
    assert len(model.pieces.encode(board.text)) == len(board.reply["reading"]["pieces"]) == fits
    state = page.evaluate("(text) => answerReal(text)", traits(board))
    assert state["drawn"] == board.text and not state["isWaiting"]
    assert page.evaluate("engineOfReal.left") == text[len(board.text) :].strip()
    page.close()


def test_an_answer_to_an_older_question_is_not_drawn(browser, model):
    page = open_page(browser)
    board = RealBoard(model, KEYS)
    drawn = page.evaluate("(text) => window.asked = realOf(text)", traits(board))
    assert drawn == {"text": KEYS, "isWaiting": False, "words": KEYS.split(), "drawn": KEYS}
    asked = page.evaluate("asked => { engineOfReal.append('were'); engineOfReal.append('the'); return stateOfReal() }")
    assert asked["isWaiting"] and asked["drawn"] == KEYS and asked["words"][-2:] == ["were", "the"]
    for text, is_drawn in ((f"{KEYS} were", False), (f"{KEYS} were the", True)):
        board.change(text=text)
        state = page.evaluate("(text) => answerReal(text)", traits(board))
        assert state["isWaiting"] != is_drawn and (state["drawn"] == text) == is_drawn
    page.close()


# ------------------------------------------------------------------------------------------- a page without a kernel


@pytest.fixture(scope="module")
def alone(browser, model, tmp_path_factory):
    """The board as a page has it: two kept sentences, and a pair of heads that are out together."""
    saved = kept.sentences(model, [(KEYS, ["were", "was"], [[1, 8]]), (KEY, ["were", "was"], [])])
    tries = {"one key": {"text": KEY}, "both": {"text": KEYS, "out": [1, 8]}}
    board = RealBoard(model, KEYS, tries, TASK, saved, pair=["were", "was"])
    path = tmp_path_factory.mktemp("real") / "board.html"
    head = f"<!doctype html><meta charset=utf-8><style>{boards_in_pages.STYLE}</style>"
    path.write_text(head + awake(boards_in_pages.embed(board)), "utf-8")
    page = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    page.goto(path.as_uri())
    yield page
    page.close()


@pytest.fixture
def board(alone):
    alone.reload()
    shown = alone.locator(".real:not(.waiting)")
    shown.wait_for()
    return shown


def square(board, block, head):
    return board.locator(f"[title='head {block}.{head}']")


def shown_shares(board):
    return board.locator(".next .list >> nth=0").locator(".say:not([hidden]) .share").all_inner_texts()


def test_kept_shares_without_a_head_are_the_models(board, model):
    for head in (0, 7, 11):
        block, own = divmod(head, SIZES.heads)
        square(board, block, own).click()
        square(board, block, own).click()
        due = reading_of(model, KEYS, [(block, own)]).shares.topk(5).values.tolist()
        assert shown_shares(board)[:5] == [percent(share) for share in due]
        assert "is off" in board.locator(".word-line").inner_text()
        board.get_by_role("button", name="Undo").click()
        board.locator(".word-line", has_text="Undone").wait_for()


def test_squares_are_as_dark_as_what_is_heard_or_missed(board, model):
    board.get_by_label("To whom").select_option("1")
    maps = reading_of(model, KEYS).maps
    for head in range(HEADS):
        label = square(board, *divmod(head, SIZES.heads)).get_attribute("aria-label")
        assert label.endswith(f"attends to keys, {percent(maps[head, -1, 1].item())}")
    board.get_by_role("button", name="missed").click()
    numbers = [model.piece(word) for word in (" were", " was")]
    whole, *rest = (
        row[numbers[0]] / row[numbers].sum() for row in (reading_of(model, KEYS).shares, *without_each(model, KEYS))
    )
    for head, share in enumerate(rest):
        label = square(board, *divmod(head, SIZES.heads)).get_attribute("aria-label")
        assert label.endswith(f": {percent(share.item())} without it, in place of {percent(whole.item())}")


def percent(share):
    """As the notebook rounds a share, in the words of the board."""
    if share < 0.005 or 0.995 < share < 0.9995:
        return "< 1\xa0%" if share < 0.5 else "> 99\xa0%"
    return f"{round(100 * share)}\xa0%"


def test_keys_alone_choose_pieces_and_take_heads_out(board):
    keys = board.page.keyboard
    board.locator(".words .word").last.focus()
    keys.press("ArrowLeft")
    keys.press("Shift+ArrowLeft")
    asks, heard = board.get_by_label("Who asks"), board.get_by_label("To whom")
    assert (asks.input_value(), heard.input_value()) == ("3", "2")
    square(board, 0, 0).focus()
    keys.press("ArrowRight")
    keys.press("ArrowDown")
    keys.press("Enter")
    assert square(board, 1, 1).get_attribute("aria-selected") == "true"
    keys.press("Enter")
    assert "is off" in square(board, 1, 1).get_attribute("aria-label")
    spoken = board.get_by_role("status").last.inner_text()
    assert "1.1 is off" in spoken and "Next" in spoken


def test_what_only_a_kernel_can_do_is_said(board):
    assert not board.get_by_role("textbox", name="What comes next").is_visible()
    board.locator(".say").first.click()
    assert "JupyterLab" in board.locator(".word-line").inner_text()
    for own in (2, 3):  # two that were not kept together
        square(board, 0, own).click()
        square(board, 0, own).click()
    assert "JupyterLab" in board.locator(".word-line").inner_text()
    assert board.locator(".grid .out").count() == 1


def test_an_older_browser_keeps_to_the_first_sentence_and_says_so(browser, alone):
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(alone.url)
    board = page.locator(".real")
    assert shown_shares(board)
    for _ in range(2):
        square(board, 0, 1).click()
    assert "newer" in board.locator(".word-line").inner_text()
    board.get_by_role("button", name="Undo").click()
    assert "newer" not in board.locator(".word-line").inner_text()
    page.close()


def test_a_page_takes_kept_states_only(board):
    put = """(board, [text, out]) => {
      const saved = board.closest(".saved-board");
      return saved.put({ inputs: { text }, settings: { ...saved.start.settings, out } });
    }"""
    assert board.evaluate(put, [KEY, [3]]) and board.locator(".grid .out").count() == 1
    for damaged in (["The cat", []], [KEY, [99]], [KEY, "3"], [3, []]):
        assert not board.evaluate(put, damaged)


def test_the_task_is_done_where_it_was_done(board):
    square(board, 1, 2).click()
    assert "Task" in board.locator(".task").inner_text()
    square(board, 1, 2).click()
    assert "Done" in board.locator(".task").inner_text()


def test_on_a_phone_the_grid_lies_on_its_side(board):
    board.page.set_viewport_size({"width": 390, "height": 844})
    board.page.locator(".real.narrow").wait_for()
    first, below, beside = (square(board, *which).bounding_box() for which in ((0, 0), (1, 0), (0, 1)))
    assert below["y"] > first["y"] and beside["x"] > first["x"] and below["x"] == first["x"]
    assert board.evaluate("board => board.scrollWidth <= board.clientWidth")
    board.page.set_viewport_size({"width": 1366, "height": 768})


# --------------------------------------------------------------------------------------------------- the real model


@pytest.fixture(scope="module")
def real():
    try:
        return smollm()
    except NoModel as error:
        pytest.skip(f"needs the model: {error}")


def test_the_lessons_task_has_one_answer_also_in_a_page_without_a_kernel(real, browser, tmp_path):
    board, country = real_board(real), divmod(n13_real_model.COUNTRY, real.sizes.heads)
    assert set(board.spec["texts"]) == {sets["text"] for sets in n13_real_model.TRIES.values()}
    (tmp_path / "board.html").write_text(f"<meta charset=utf-8>{awake(boards_in_pages.embed(board))}", "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "board.html").as_uri())
    board.change(text=n13_real_model.GERMANY, out=[])
    page.evaluate("state => document.querySelector('.saved-board').put(state)", board.state)
    shown = page.locator(".real:not(.waiting)")
    shown.get_by_role("button", name="missed").dispatch_event("click")
    labels = shown.locator("[title^='head ']").evaluate_all("all => all.map(({ ariaLabel }) => ariaLabel)")
    head_and_share = [re.match(r"head (\d+)\.(\d+): \D*(\d+)", label).groups() for label in labels]
    assert len(labels) == 270
    assert [(int(b), int(h)) for b, h, share in head_and_share if int(share) < 20] == [country]
    for _ in range(2):
        square(shown, *country).dispatch_event("click")
    expect(shown.locator(".task")).to_contain_text("Now say")
    shares = reading_of(real, n13_real_model.GERMANY, [country]).shares.topk(4).values.tolist()
    assert shown_shares(shown)[:4] == [percent(share) for share in shares]
    page.close()
