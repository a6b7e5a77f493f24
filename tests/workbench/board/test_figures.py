"""Figures in the hands of a person: what is grabbed moves the picture, the sum and every number alike."""

import re

import pytest
from board_page import awake

from authors.pages import boards_in_pages
from workbench.board.lessons import bank_figure, by_hand_board, plane_figure, sentence_figure, turn_figure
from workbench.display.colours import tokens


def opened(browser, tmp_path, board, **options):
    page = browser.new_page(**{"viewport": {"width": 1366, "height": 768}, "reduced_motion": "reduce", **options})
    head = '<!doctype html><html lang="en"><meta charset=utf-8><meta name=viewport content="width=device-width">'
    style = f"<title>A figure</title><style>{tokens()}{boards_in_pages.STYLE}</style>"
    numbers = '<div style="height: 2000px"></div><div data-numbers="door"></div>'
    shown = boards_in_pages.embed(board, "door")
    (tmp_path / "figure.html").write_text(f"{head}{style}<main data-first>{awake(shown + numbers)}</main>")
    page.goto((tmp_path / "figure.html").as_uri())
    return page


@pytest.fixture
def door(browser, tmp_path):
    page = opened(browser, tmp_path, sentence_figure())
    yield page
    page.close()


def shares(page):
    return [int(text.replace("≈", "").removesuffix(" %")) for text in page.locator("svg .share").all_text_contents()]


def arcs(page):
    return page.locator(".arc").evaluate_all("(all) => all.map((arc) => arc.getAttribute('stroke-width') * 1)")


def test_five_presses_let_tea_gain_what_others_lose(door):
    assert shares(door) == [6, 47, 47], "the sentence is there at first"
    assert door.locator(".becomes .output").all_text_contents() == ["1.94", "6.68", "1.60"]
    cells = door.locator("[data-numbers] td.cell.result").all_inner_texts()
    assert cells and all(cells)
    width = sum(arcs(door))
    slider = door.locator(".attn-figure").get_by_role("slider")
    slider.focus()
    for _ in range(5):
        door.keyboard.press("ArrowRight")
        assert sum(shares(door)) == 100 and sum(arcs(door)) == pytest.approx(width)
    assert shares(door)[2] > 47
    gains = [int(text.replace("−", "-").replace("±", "")) for text in door.locator(".answer .number").all_inner_texts()]
    assert sum(gains) == 0 and gains[0] > 0 and gains[0] == shares(door)[2] - 47
    assert door.locator(".becomes .ghost").count() == 3
    heard = slider.get_attribute("aria-valuetext")
    assert [int(share) for share in re.findall(r"(\d+) percent", heard)] == shares(door)
    claim = door.locator(".attn-figure > [role=status].unseen")
    claim.filter(has_text="lose").wait_for(state="attached")
    assert claim.inner_text() in door.locator(".answer").inner_text(), "heard once"


def test_every_number_has_what_was_grabbed_and_lets_it_go(door):
    door.locator(".attn-figure").get_by_role("slider").focus()
    door.keyboard.press("End")
    yours = door.locator("[data-numbers] td.yours input")
    assert yours.count() == 1 and yours.input_value() == "3"
    yours.fill("1.5")
    yours.press("Enter")
    assert door.locator(".thumb").inner_text() == "1.5"
    door.get_by_role("button", name="Why? The sum").click()
    assert door.locator(".sum .chip.yours").all_inner_texts() == ["1.5"]
    door.locator("[data-numbers]").get_by_role("button", name="let go").click()
    assert door.locator(".yours:is(td, .chip)").count() == 0 and shares(door) == [6, 47, 47]


def test_the_sums_shares_add_up_and_its_arc_stays_whole(door):
    word = door.locator("[data-numbers] [data-name=W_q] input").first
    for x in ("0.5", "-1"):
        word.fill(x)
        word.press("Enter")
        if x == "0.5":
            door.get_by_role("button", name="Why? The sum").click()
        told = door.locator(".sum tbody .chip.weights").all_inner_texts()
        assert sum(float(share) for share in told) == pytest.approx(1, abs=1e-9)
    assert shares(door)[0] > 80
    left = "(all) => Math.min(...all.map((arc) => arc.getBBox().x - arc.getAttribute('stroke-width') / 2))"
    assert door.locator(".arc").evaluate_all(left) >= 0


def test_a_word_that_is_pressed_asks(door):
    door.get_by_role("button", name="like", exact=True).focus()
    door.keyboard.press("Enter")
    assert shares(door)[1] > 90 and door.get_by_role("button", name="like", exact=True).get_attribute("aria-pressed")
    assert "like" in door.locator(".lede").inner_text() and "like" in door.locator(".becomes .label").text_content()
    told = door.locator(".attn-figure > [role=status].unseen")
    told.filter(has_text=f"like {shares(door)[1]} percent").wait_for(state="attached")
    heard = door.locator("[data-numbers] [role=status]").evaluate_all("(all) => all.map((one) => one.ariaLive)")
    assert "polite" not in heard[:1], "the matrices, which nobody looks at, are silent"


def finger_at(page, x, y):
    """drag(by_x, by_y): with a finger that is set down there."""
    finger = page.context.new_cdp_session(page)

    def drag(by_x, by_y):
        for k in range(10):
            kind = "touchStart" if k == 0 else "touchEnd" if k == 9 else "touchMove"
            at = {"x": x + by_x * k / 8, "y": y + by_y * k / 8}
            points = {"type": kind, "touchPoints": [] if kind == "touchEnd" else [at]}
            finger.send("Input.dispatchTouchEvent", points)

    return drag


def test_a_finger_that_scrolls_over_a_sentences_number_sets_nothing(browser, tmp_path):
    board = by_hand_board()
    phrase = boards_in_pages.setting("b", next(one for one in board.tries if "number" in one))
    shown = f'<p style="margin-top: 400px">{phrase}</p><div data-id="b">{boards_in_pages.embed(board)}</div>'
    (tmp_path / "sentence.html").write_text(f"<style>{boards_in_pages.STYLE}</style>{awake(shown)}")
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto((tmp_path / "sentence.html").as_uri())
    number = page.locator("p .attn-number")
    box = number.bounding_box()
    drag = finger_at(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.evaluate("void addEventListener('scrollend', () => (window.stopped = true))")
    drag(0, -120)
    page.wait_for_function("window.stopped && scrollY > 0")  # a page goes on for a while behind a finger
    assert page.locator("td.yours").count() == 0
    page.evaluate("scrollTo(0, 0)")
    drag(60, 0)
    page.locator("td.yours").first.wait_for()
    page.close()


@pytest.mark.parametrize("size", [(360, 640), (844, 390)])
def test_a_finger_drags_the_number_and_the_page(browser, tmp_path, size):
    wide, high = size
    page = opened(browser, tmp_path, sentence_figure(), viewport={"width": wide, "height": high}, has_touch=True)
    box = page.locator(".thumb").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    assert box["y"] > 0 and box["y"] + box["height"] <= high and min(box["width"], box["height"]) >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= wide
    drag = finger_at(page, x, y)
    drag(56, 0)
    page.wait_for_function("document.querySelector('.thumb').textContent !== '1.0'")
    assert shares(page)[2] > 47 and sum(shares(page)) == 100
    before = shares(page)
    page.evaluate("void addEventListener('scrollend', () => (window.stopped = true))")
    drag(0, -120)
    page.wait_for_function("window.stopped && scrollY > 0")  # a page goes on for a while behind a finger
    assert shares(page) == before
    page.close()


def test_it_invites_once_and_stops_at_a_hand(browser, tmp_path):
    page = opened(browser, tmp_path, sentence_figure(), reduced_motion="no-preference")
    page.wait_for_function("document.querySelector('.thumb').textContent === '1.8'")
    assert page.locator("td.yours").count() == 0  # it is only shown
    page.locator(".attn-figure").get_by_role("slider").press("ArrowRight")
    assert page.locator(".thumb").inner_text() == "1.1"
    page.close()


def test_what_stands_on_one_line_of_the_plane_scores_alike(browser, tmp_path):
    page = opened(browser, tmp_path, plane_figure())
    scores = lambda: page.locator("svg .score").all_text_contents()  # noqa: E731
    assert scores()[1] == scores()[2]
    first, third = page.locator(".attn-figure").get_by_role("slider").all()
    third.press("ArrowRight")
    assert scores()[1] != scores()[2]
    for _ in range(2):
        first.press("ArrowLeft")  # I asks with (1, ·, 2)
    assert scores()[1] == scores()[2]
    hand = page.locator(".hand").bounding_box()
    page.mouse.move(hand["x"] + 24, hand["y"] + 24)
    page.mouse.down()
    page.mouse.move(hand["x"] + 24, hand["y"] - 60, steps=4)
    page.mouse.up()
    assert scores()[1] != scores()[2] and page.locator("[data-numbers] td.yours").count() == 2
    page.close()


def test_what_bank_becomes_goes_with_its_neighbour(browser, tmp_path):
    page = opened(browser, tmp_path, bank_figure())
    water, money = page.locator(".attn-figure").get_by_role("slider").all()
    becomes = page.locator("svg text.becomes")
    assert becomes.inner_html() == "(1.5, 0.5)"
    for slider, to in ((water, 0), (money, 2)):
        slider.fill(str(to))
    assert becomes.inner_html() == "(0.5, 1.5)" and "0.50" in page.locator(".answer").inner_text()
    money.fill("-1")
    assert becomes.inner_html() != "(0.5, 1.5)" and "0.05" in page.locator(".answer").inner_text()
    page.close()


def test_a_query_that_is_turned_hears_another_word(browser, tmp_path):
    page = opened(browser, tmp_path, turn_figure())
    scores, weights = (page.locator(f"svg .number.{kind}") for kind in ("scores", "weights"))
    number = lambda text: float(text.replace("−", "-"))  # noqa: E731
    assert scores.all_text_contents() == ["3", "5"]
    slider = page.locator(".attn-figure").get_by_role("slider")
    slider.focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight")
        assert sum(map(number, weights.all_text_contents())) == pytest.approx(1)
    dog = number(weights.first.text_content())
    assert dog > 0.8 and f"dog {dog:.2f}" in slider.get_attribute("aria-valuetext")
    for _ in range(7):
        page.keyboard.press("ArrowLeft")
    assert scores.all_text_contents() == ["3", "5"] and "Turn its arrow" in page.locator(".answer").inner_text()
    tip, origin = (page.locator(f".stage {one}").bounding_box() for one in (".hand", ".orbit"))
    x, y = (origin[at] + origin[size] / 2 for at, size in (("x", "width"), ("y", "height")))
    page.mouse.move(tip["x"] + tip["width"] / 2, tip["y"] + tip["height"] / 2)
    page.mouse.down()
    page.mouse.move(x - 90, y, steps=5)
    page.mouse.up()
    assert [number(text) for text in scores.all_text_contents()] == pytest.approx([-3 * 5**0.5, -(5**0.5)], abs=0.1)
    assert page.locator(".stage .orbit").bounding_box() == pytest.approx(origin, abs=0.1), "it only turns"
    page.keyboard.press("Control+z")
    assert scores.all_text_contents() == ["3", "5"]
    page.close()


# Words of the picture that lie on each other, or reach over its edge.
COLLIDING = """() => {
  const texts = [...document.querySelectorAll("svg text")];
  const all = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const lies = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6;
  const wrong = all.filter(([, box]) => box.left < 0 || box.right > innerWidth).map(([words]) => words);
  all.forEach(([words, box], i) => wrong.push(...all.slice(i + 1)
    .filter(([, other]) => lies(box, other)).map(([others]) => `${words} on ${others}`)));
  return wrong;
}"""
FIGURES = {  # and where their sliders are moved to
    turn_figure: [(degrees,) for degrees in range(-180, 181, 90)],
    plane_figure: [(2, 1), (0, 0), (5, 3), (-1, -1)],
    bank_figure: [(2, 0), (3, 3), (-1, -1), (0, 0), (0.6, 1.8)],
    sentence_figure: [(-1,), (1,), (3,)],
}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
def test_words_of_a_figure_give_way_to_each_other(browser, tmp_path, figure):
    page = opened(browser, tmp_path, figure())
    for width, height in ((390, 844), (844, 390), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        for places in FIGURES[figure]:
            for slider, to in zip(page.locator(".attn-figure").get_by_role("slider").all(), places, strict=True):
                slider.fill(str(to))
            assert page.evaluate(COLLIDING) == [], (width, places)
    page.close()
