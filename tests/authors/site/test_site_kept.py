"""What a visitor has entered on the site is kept, and goes along in links."""

import base64
import json
import re
from urllib.parse import urlsplit

from board_actions import choose
from site_page import SERVED, address_of, ask, edit, first_question, wake

# Pastes an address with this behind its # and waits until the page has taken it up.
PASTE = """(hash) => new Promise((taken) => {
  addEventListener("hashchange", taken, { once: true });
  location.hash = hash;
})"""
FIRST = "document.querySelector('[aria-label=\"W_q row 1 column 1\"]').value"
LINK = "Link to these numbers"
NOTICE = "document.querySelector('.board-notice').textContent"


def link_to(page):
    """What the button makes of the address: the part behind its #."""
    choose(page.locator(".attn-board").first, LINK)
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    return page.url.partition("#")[2]


def test_what_was_typed_is_kept_however_a_page_is_left(reader):
    page = reader("index")
    cell = page.get_by_label("W_q row 1 column 1", exact=True)
    cell.fill("7")
    page.reload()
    assert page.evaluate(FIRST) == "7"
    link_to(page)
    cell.fill("8")
    page.get_by_role("link", name="Begin with lesson 1").click()
    page.wait_for_url("**/01_by_hand.html")
    page.go_back()
    assert page.evaluate(FIRST) == "8" and "#" not in page.url, "the address still says 7"


def test_a_guess_half_typed_is_kept_and_not_asked(reader):
    page = reader("01_by_hand")
    first_question(page)[1].press_sequentially("0.5,")
    page.reload()
    assert first_question(page)[1].input_value() == "0.5,"
    assert not first_question(page)[2].count()


def test_a_closed_tab_leaves_its_numbers_to_the_next(reader):
    page = reader("index")
    edit(page, 7)
    page.evaluate("sessionStorage.clear()")
    page.goto(address_of("search"))
    page.goto(address_of("index"))
    assert page.evaluate(FIRST) == "7" and "last time" in page.evaluate(NOTICE)
    choose(page.locator(".attn-board").first, "Reset")
    assert page.evaluate(NOTICE) == ""


STORED = {  # what a visitor's browser may hold: half written, of another version of the site
    "01_by_hand": ["{", '{"guess-gone": {"text": "1", "right": true}, "guess-none": null}'],
    "01_by_hand:typed": ["{", '"a"'],
    "01_by_hand:board-0": ["{", '{"inputs": {"X": [[1]]}, "settings": {}, "past": [{}]}'],
}


def test_what_a_browser_has_stored_never_breaks_a_page(reader):
    for which in range(2):
        page = reader("01_by_hand")
        for key, texts in STORED.items():
            stored = [f"attention:/:{key}", texts[which]]
            page.evaluate("([key, text]) => (localStorage[key] = sessionStorage[key] = text)", stored)
        page.reload()
        board = page.locator(".saved-board").first
        kept, start = board.evaluate("(board) => [board.now().inputs, board.start.inputs]")
        assert kept == start
        ask(first_question(page)[1], "[0.5, 1.5]")
        first_question(page)[2].get_by_text("✓ Right.").wait_for()


def test_undo_and_a_task_done_survive_a_reload(reader):
    page = reader("03_masking")
    board = page.get_by_role("group", name="Paint a mask")
    wake(page)
    for column in range(4):
        board.get_by_label(f"mask q1 → k{column}").click()
    done = board.locator(".task").first.inner_text()
    page.reload()
    board.locator(".task").first.wait_for()  # its fold is open as it was
    assert board.locator(".task").first.inner_text() == done and "✓" in done
    board.get_by_role("button", name="Undo").click()
    assert board.get_by_label("mask q1 → k3").get_attribute("aria-pressed") == "true"


UNTOUCHED = """() => {
  const numbers = ({ inputs, settings }) => JSON.stringify([inputs, settings]);
  return [...document.querySelectorAll(".saved-board")].map((one) => numbers(one.now()) === numbers(one.start));
}"""  # with all of them awake


def test_each_board_of_a_page_keeps_its_own_numbers(reader):
    page = reader("01_by_hand")
    titles = "The query of barks", "Self-attention by hand"
    figure, board = (page.get_by_role("group", name=title, exact=True) for title in titles)
    turned, cell = figure.get_by_role("slider"), board.get_by_label("W_v row 1 column 1", exact=True)
    wake(page)
    turned.fill("-90")
    ask(cell, "8")
    page.reload()
    wake(page)
    assert [one.input_value() for one in (turned, cell)] == ["-90", "8"]
    page.goto(address_of("index"))
    assert page.evaluate(UNTOUCHED)[0], "another page has numbers of its own"
    page.goto(address_of("01_by_hand"))
    wake(page)
    assert [one.input_value() for one in (turned, cell)] == ["-90", "8"], "who comes back finds them"
    page.locator(".saved-board").last.scroll_into_view_if_needed()
    choose(page.locator(".saved-board").last.locator(".attn-board"), LINK)
    page.get_by_text("Copied.").wait_for()
    link = page.url.partition("#")[2]
    page.evaluate("sessionStorage.clear(), localStorage.clear()")
    page.goto(f"{address_of('01_by_hand')}?sent#{link}")
    assert page.evaluate(UNTOUCHED)[-2:] == [True, False], "a link is to one board"


def test_the_door_stands_before_its_scripts_and_stays_as_it_is(built, browser, served):
    context = browser.new_context(**served, viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page, waiting = context.new_page(), []
    page.route(re.compile(r"/_static/\w+\.js"), lambda route: waiting.append(route))
    page.goto(SERVED, wait_until="commit")
    grip, shares = page.get_by_role("slider").first, page.locator("[data-first] .share")
    grip.wait_for()

    def percents():
        return [int(share.rstrip(" %")) for share in shares.all_text_contents()]

    things = page.locator("h1, [data-first] :is(p, button, input, a)").element_handles()

    def places():
        return [thing.bounding_box() for thing in things]

    before = percents()
    assert sum(before) == 100 and not page.evaluate("'attnBoards' in window"), "numbers are there, and no script"
    grip.press("ArrowRight")
    page.wait_for_function("(text) => !document.body.innerText.includes(text)", arg=f"{before[-1]} %")
    page.evaluate("document.fonts.ready.then(() => {})")
    moved, where = percents(), places()
    assert sum(moved) == 100 and moved[-1] > before[-1]
    for route in waiting:
        route.fulfill(path=built / urlsplit(route.request.url).path[1:])
    page.unroute_all()
    page.locator("[data-numbers] .attn-board").wait_for()
    assert (percents(), places()) == (moved, where), "what comes later moves nothing, and takes nothing back"
    assert grip.evaluate("(node) => node === document.activeElement")
    page.reload()
    page.locator("[data-numbers] .attn-board").wait_for()
    assert percents() == moved, "it was kept, though no script was there yet that keeps things"
    context.close()


def test_a_link_shows_its_numbers_until_they_are_changed(reader):
    page = reader("index")
    edit(page, 7)
    link = link_to(page)
    edit(page, 8)
    assert "#" not in page.url, "the address says what stands there, or nothing"
    page.goto(address_of("01_by_hand"))
    page.go_back()
    assert page.evaluate(FIRST) == "8", "what was done last, not the link"
    page.evaluate("scrollTo(0, 1e6)")
    page.evaluate(PASTE, link)
    assert page.evaluate(FIRST) == "7"
    assert page.locator(".saved-board").evaluate("(board) => board.getBoundingClientRect().top < innerHeight / 2")
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate(FIRST) == "8", "a link can be undone"
    page = reader("index", "phone, dark", asking=f"?another#{link}")  # another visitor's
    assert page.evaluate(FIRST) == "7"
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject())")
    choose(page.locator(".attn-board"), LINK)
    page.get_by_text("The link stands in the address bar.").wait_for()


def test_a_link_holds_a_choice_with_signs_beyond_ascii(reader):
    page = reader("03_masking")
    wake(page)
    board = page.get_by_role("group", name="Paint a mask")
    filled = board.locator("select", has=page.locator("option", has_text="−1e9 before softmax"))
    filled.select_option("−1e9 before softmax")
    chosen = filled.input_value()
    choose(board, LINK)
    page.get_by_text("Copied.").wait_for()
    page = reader("03_masking", asking=f"?another#{page.url.partition('#')[2]}")
    assert filled.input_value() == chosen != "0"


def test_a_damaged_link_is_read_or_says_so(reader):
    page = reader("index")
    edit(page, 7)
    link, state = link_to(page), page.evaluate("document.querySelector('.saved-board').now()")
    for as_sent in (f"{link.replace('=', '%3D')}.", link.replace("&", "&amp;")):
        page = reader("index", asking=f"?sent#{as_sent}")
        assert page.evaluate(FIRST) == "7" and page.evaluate(NOTICE) == "", as_sent
    spoilt = [{}, {**state, "inputs": {**state["inputs"], "W_q": [[7, 7]]}}]
    spoilt += [{**state, "settings": {**state["settings"], name: "none of them"}} for name in state["settings"]]
    links = [f"board=0&now={base64.urlsafe_b64encode(json.dumps(one).encode()).decode()}" for one in spoilt]
    for spoilt in (*links, link[:-8], "board=0", link.replace("board=0", "board=9")):
        page = reader("index", asking=f"?sent#{spoilt}")
        assert page.evaluate(FIRST) == "1" and "damaged" in page.evaluate(NOTICE), spoilt
        page.evaluate(PASTE, link)
        assert page.evaluate(FIRST) == "7" and page.evaluate(NOTICE) == ""


def test_what_a_phone_brings_is_kept_joined_and_forgotten(built, reader):
    page = reader("record", asking="#on=2026-05-03&03.after-softmax=1&03.after-softmax=less&03.padding-heard=0")
    page.get_by_text("You said 1, then less.").wait_for()
    assert "#" not in page.url, "what was guessed is in no history"
    links = page.locator("#record ul a")
    assert links.count() == 1, "what was wrong in the end is to be read again"
    target = links.first.get_attribute("href")
    assert f'id="{target.partition("#")[2]}"' in (built / target.partition("#")[0]).read_text(encoding="utf-8")
    page.goto(f"{page.url}#on=2026-05-10&01.new-bank=0.5%3B+1.5&99.x=1&03.moved=%3Cimg+src%3Dx%3E")
    page.get_by_text("You said 0.5, 1.5.").wait_for()
    page.get_by_text("You said <img src=x>").wait_for()
    assert page.locator("#record .kept-guess").count() == 4 and page.locator("#record img").count() == 0
    assert [page.locator("#record h2").nth(i).inner_text()[0] for i in (1, 2)] == ["1", "3"]
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget").click()
    page.get_by_text("Nothing is kept here yet.").wait_for()
    page.reload()
    page.get_by_text("Nothing is kept here yet.").wait_for()
