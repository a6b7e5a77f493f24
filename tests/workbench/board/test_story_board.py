"""The story board: its page reads as torch does, words are changed by keys and by touch, and nothing needs a kernel."""

import random

import pytest
import torch
from board_page import assert_close, awake, open_page, traits
from torch import nn

from attn_lib import GPT, next_shares
from authors.pages import boards_in_pages
from workbench.board import Task
from workbench.board.grammar import Grammar
from workbench.board.story import StoryBoard

WORDS = ["|", ".", "?", "ann", "bob", "cat", "had", "key", "keys", "the", "was", "were"]


def gpt(heads=4, blocks=1, words=12, places=20, activation=None, seed=0):
    """A model that was never trained, with weights large enough to hear some words more than others."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = GPT(words, places, 16, heads, blocks)
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.6)
    for block in model.blocks:
        block.mlp[1] = activation or nn.GELU()
    return model


def read_by_torch(model, tokens, out):
    """Logits and maps of the model in float16's numbers, where a head that is out gives the projection nothing."""
    heads = model.blocks[0].attention.num_heads
    model = model.double()
    for parameter in model.parameters():
        parameter.data = parameter.data.half().double()
    for number, block in enumerate(model.blocks):

        def without(module, given, number=number):
            parts = given[0].unflatten(-1, (heads, -1)).clone()
            parts[..., [head - number * heads for head in out if head // heads == number], :] = 0
            return parts.flatten(-2)

        block.attention.out_proj.register_forward_pre_hook(without)
    with torch.no_grad():
        logits, maps = model(torch.tensor([tokens]))
    return logits[0], torch.cat(maps, 1)[0]


@pytest.mark.parametrize(("heads", "blocks", "activation"), [(4, 1, None), (2, 3, None), (1, 2, nn.ReLU())])
def test_page_and_python_read_as_torch_with_heads_out(browser, heads, blocks, activation):
    page, r = open_page(browser), random.Random(heads)
    model = gpt(heads, blocks, activation=activation)
    board = StoryBoard(model, WORDS)
    for length in (0, 1, 7, 19):
        text, out = r.choices(WORDS[1:], k=length), sorted(r.sample(range(heads * blocks), r.randint(0, heads)))
        temperature, top = r.choice([0.3, 1.0, 1.6]), r.choice([0, 1, 4])
        board.change(text=" ".join(text), out=out, temperature=temperature, top=top)
        assert board.reply["problem"] == ""
        logits, maps = read_by_torch(gpt(heads, blocks, activation=activation), [0, *map(WORDS.index, text)], out)
        theirs = page.evaluate("storyOf", traits(board))
        assert_close(theirs["logits"], logits, text)
        assert_close(theirs["maps"], maps, text)
        assert_close(theirs["drawn"], next_shares(logits[-1], temperature, top or None), (temperature, top))
        assert_close(list(board.shares.values()), logits[-1].softmax(-1), text)
        assert_close(board.maps, maps, text)
    page.close()


def follows(drawn):
    many = drawn["THING"].endswith("s")
    return drawn | {"TWO": "two" if many else "a", "SHE": "she" if drawn["HERO"] == "ann" else "he"}


def test_a_grammar_finds_what_does_not_follow_as_soon_as_it_stands_there(browser):
    may = {"HERO": {"ann", "bob"}, "FRIEND": {"ann", "bob"}, "THING": {"key", "keys"}, "TWO": {"a", "two"}}
    forms = [["", "one day"], ["Hero had Two Thing ."], ["SHE asked Friend .", "then SHE lost the Thing ."]]
    grammar = Grammar(forms, may | {"SHE": {"she", "he"}}, follows, apart=[("HERO", "FRIEND")])
    words = ["|", *sorted({"one", "day", "had", ".", "asked", "then", "lost", "the"}.union(*grammar.may.values()))]
    page, model = open_page(browser), gpt(words=len(words))

    def verdict(text):
        found = page.evaluate("storyOf", traits(StoryBoard(model, words, text, judge=grammar)))["verdict"]
        return found["isWhole"], [fault["at"] for fault in found["faults"]], found["left"]

    assert verdict("one day bob had two keys . then he lost the keys .") == (True, [], None)
    assert verdict("one day bob had two keys . then he") == (False, [], None)
    assert verdict("one day bob had two") == (False, [], None)  # nothing has been drawn that says otherwise
    assert verdict("bob had two key") == (False, [2], None)
    assert verdict("ann had a key . then he lost the keys .") == (True, [6, 9], None)
    assert verdict("ann had a key . she asked ann .") == (True, [7], None)
    assert verdict("bob had two keys . she asked bob .") == (True, [5, 7], None)  # in the order of the text
    assert verdict("ann had the key .") == (False, [], 2)
    assert not verdict(grammar.begins())[1]
    page.close()


# --------------------------------------------------------------------------------------------- words changed by hand


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Boards as a page has them that no kernel stands behind: one of twelve words, one with names in other scripts."""
    own = ["|", ".", "小明", "小红", "喜欢", "茶", "שרה", "אוהבת", "תה"]
    boards = {
        "words": StoryBoard(gpt(seed=3), WORDS, "ann had the key", {"the cats": {"text": "the cat was"}}),
        "long": StoryBoard(gpt(places=60, seed=3), WORDS, "ann had the key . the cat was the keys ? bob had " * 4),
        "chinese": StoryBoard(gpt(words=len(own)), own, "小明 喜欢"),
        "hebrew": StoryBoard(gpt(words=len(own)), own, "שרה אוהבת תה"),
    }
    path = tmp_path_factory.mktemp("story") / "boards.html"
    shown = "".join(f'<section id="{name}">{boards_in_pages.embed(board)}</section>' for name, board in boards.items())
    path.write_text(f"<!doctype html><meta charset=utf-8><style>{boards_in_pages.STYLE}</style>{awake(shown)}", "utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def pages(browser, saved):
    phone = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce")
    desk = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    yield {"desk": desk, "phone": phone}
    phone.close()
    desk.close()


def opened(page, saved, name="words"):
    page.goto(saved)
    return page.locator(f"#{name} .story")


def text(board):
    return " ".join(board.locator(".words .word:not(.start, [hidden]) .name").all_inner_texts())


def listed(board):
    return board.locator(".say:not([hidden]) .name").all_inner_texts()


def word(board, name):
    return board.locator(".words .word", has_text=name).first


def test_enter_says_what_was_typed_and_an_arrow_takes_the_likely(pages, saved):
    board, keys = opened(pages["desk"], saved), pages["desk"].keyboard
    field = board.get_by_role("textbox")
    field.focus()
    keys.type("was ca")
    assert text(board) == "ann had the key was" and listed(board)[0] == "cat"
    keys.press("Enter")
    assert text(board) == "ann had the key was cat"
    spoken = board.get_by_role("status").last.inner_text()
    assert "cat" in spoken and listed(board)[0].replace("the end", "end") in spoken, "a change is heard once"
    keys.type(".")
    keys.press("Enter")  # as one confirms what was typed: the green word is nothing that anybody wrote
    assert text(board) == "ann had the key was cat ."
    keys.press("Backspace")
    keys.press("Escape")
    likely = listed(board)[0]
    assert field.get_attribute("placeholder") in (likely, "")
    keys.press("ArrowRight")
    assert text(board) == f"ann had the key was cat {likely}"
    keys.press("Backspace")
    assert text(board) == "ann had the key was cat" and field.input_value() == likely
    keys.press("Escape")
    keys.press("Control+z")
    assert text(board) == f"ann had the key was cat {likely}"


def test_a_strange_word_is_refused_and_what_follows_waits_for_it(pages, saved):
    board, keys = opened(pages["desk"], saved), pages["desk"].keyboard
    field, line = board.get_by_role("textbox"), board.locator(".word-line")
    field.focus()
    keys.type("kex was bob?")
    assert text(board) == "ann had the key" and field.input_value().split() == ["kex", "was", "bob", "?"]
    assert "kex" in line.inner_text() and "key" in listed(board)[:2], "the nearest are offered"
    chosen = listed(board)[0]
    keys.press("ArrowDown")
    keys.press("Enter")
    assert text(board) == f"ann had the key {chosen} was bob ?" and not field.input_value()
    assert "kex" not in line.inner_text()
    field.focus()
    keys.type("kex ")
    board.get_by_role("button", name="Undo").click()  # another text: what was typed has no place in it
    assert not field.input_value() and "kex" not in line.inner_text()


def test_a_text_that_is_put_back_is_not_written_on(browser, saved):
    page = browser.new_page()
    board = opened(page, saved, "long")
    before = text(board)
    said = """(board) => ["Write on", "Stop", "Reset"].map((name) => {
      const button = [...board.querySelectorAll("button")].find((one) => one.textContent === name);
      if (name !== "Stop") button?.click();
      return Boolean(button);
    })"""  # in one breath: the first word is written at once
    assert board.evaluate(said) == [True, True, True]
    assert board.get_by_role("button", name="Write on").count() and text(board) == before
    page.close()


def test_a_word_is_chosen_changed_and_removed_by_keys(pages, saved):
    board, keys = opened(pages["desk"], saved), pages["desk"].keyboard
    word(board, "key").focus()
    keys.press("ArrowLeft")
    assert word(board, "the").get_attribute("aria-pressed") == "true"
    keys.press("ArrowLeft")
    keys.type("was")
    keys.press("Enter")
    assert text(board) == "ann was the key"
    word(board, "was").focus()
    keys.press("Delete")
    assert text(board) == "ann the key"
    word(board, "ann").focus()
    keys.press("Enter")
    keys.type("bob had ")
    keys.press("Escape")
    assert text(board) == "bob had the key"


def test_fingers_choose_a_word_and_say_another_one(pages, saved):
    board = opened(pages["phone"], saved)
    word(board, "had").tap()
    assert word(board, "had").get_attribute("aria-pressed") == "true"
    other = next(name for name in listed(board) if name not in ("the", "the end"))
    board.locator(".say", has=board.page.get_by_text(other, exact=True)).tap()
    assert text(board) == f"ann had {other} key"
    word(board, "ann").tap()
    board.get_by_role("button", name="Remove ann").tap()
    assert text(board) == f"had {other} key"
    small = board.locator("button:visible, input:visible").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().height < 44).map(one => one.outerHTML)"
    )
    assert not small


def test_a_seed_writes_the_same_words_whoever_asks(pages, saved):
    written = []
    for page in pages.values():
        board = opened(page, saved)
        board.get_by_role("button", name="Write on").click()
        first = text(board)
        board.get_by_role("button", name="Another").click()
        written.append((first, text(board)))
        assert first.startswith("ann had the key") and first != text(board)
    assert written[0] == written[1]


def test_a_head_that_is_out_hears_nobody_and_comes_back(pages, saved):
    board = opened(pages["desk"], saved)
    before = board.locator(".share").all_inner_texts()
    for head in range(4):
        board.get_by_role("switch").nth(head).click()
    assert board.locator(".ribbons path").count() == 0 and board.locator(".share").all_inner_texts() != before
    for head in range(4):
        board.get_by_role("switch").nth(head).click()
    assert board.locator(".share").all_inner_texts() == before and board.locator(".ribbons path").count()


@pytest.mark.parametrize(("name", "typed", "becomes"), [("chinese", "茶 ", "小明 喜欢 茶"), ("hebrew", "תה ", None)])
def test_words_of_any_script_are_typed_and_stand_in_their_order(pages, saved, name, typed, becomes):
    board = opened(pages["desk"], saved, name)
    board.get_by_role("textbox").focus()
    before = text(board)
    board.page.keyboard.insert_text(typed)
    assert text(board) == (becomes or f"{before} {typed.strip()}")
    first, second = (board.locator(".words .word").nth(k).bounding_box()["x"] for k in (0, 1))
    assert (first > second) == (name == "hebrew")


def test_a_link_or_a_kept_text_is_taken_and_a_damaged_one_is_not(pages, saved):
    board = opened(pages["desk"], saved)
    put = """(board, [text, place]) => {
      const saved = board.closest(".saved-board");
      return saved.put({ inputs: { text }, settings: { ...saved.start.settings, place } });
    }"""
    assert board.evaluate(put, [["the", "cat"], 1]) and text(board) == "the cat"
    assert word(board, "the").get_attribute("aria-pressed") == "true"
    for damaged in ([["kex"], -1], [["the"], 2], ["the", -1], [["the"] * 20, -1]):
        assert not board.evaluate(put, damaged)
    assert text(board) == "the cat"
    board.get_by_role("button", name="Undo").click()
    assert text(board) == "ann had the key"


def test_python_hears_words_judges_the_task_and_refuses_nonsense():
    task = Task("Say *was*.", (("one_word_off", "the key"), ("all_heads",)))
    board = StoryBoard(gpt(), WORDS, "the key", task=task)
    assert not board.done and board.change(text="the cat").done and board.text == "the cat"
    for said in ({"text": ["kex"]}, {"text": ["the"] * 20}, {"text": 3}):
        board.set_state({"state": {**board.state, "inputs": said, "revision": 7}})
        assert board.reply["problem"] and board.text == "the cat"
    with pytest.raises(ValueError, match="kex"):
        StoryBoard(gpt(), WORDS, "kex")
