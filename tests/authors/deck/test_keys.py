"""Every key of the help, after every kind of click, in the hall's window and in the speaker's."""

import pytest
from deck_page import NUMBER, SLIDE, jump, slide_with, until
from playwright.sync_api import TimeoutError, expect

# What a lecturer clicks, on the first slide that has it.
CLICKS = {
    "a wrong choice": ".choice >> nth=-1",
    "the code button": ".to-code",
    "a mask's cell": ".attn-board .switch",
    "a result": ".attn-board td.result",
    "Play": ".attn-board .play",
    "a sentence that sets a board": "button.try",
}
# What each key of the help does there, as a value that it changes.
PROGRESS = "Reveal.getProgress()"
SAID = "document.querySelector('.python').textContent"
DOES = {
    "→ ↓ Space PageDown": (["ArrowRight", "ArrowDown", "Space", "PageDown"], PROGRESS),
    "← ↑ PageUp": (["ArrowLeft", "ArrowUp", "PageUp"], PROGRESS),
    "a number, Enter": (["1 Enter"], NUMBER),
    "Escape": (["Escape Escape"], "Reveal.isOverview()"),  # out of what was clicked, and then
    "b or .": (["b", "."], "Reveal.isPaused()"),
    "g": (["g"], "document.activeElement.matches('.guess input')"),
    "h": (["h"], "Boolean(Reveal.getCurrentSlide().querySelector('.counting'))"),
    "v": (["v", "V"], SAID),
    "c": (["c"], "Reveal.getCurrentSlide().matches('.codes')"),
    "d": (["d"], "document.documentElement.matches('.dark')"),
    "f": (["f"], f"Boolean(document.fullscreenElement) || {SAID}"),  # or where it has to be pressed
    "?": (["?"], "Boolean(document.querySelector('dialog[open]'))"),
}
OF_PYTHON = {"Shift+Enter": "Shift+Enter", "Ctrl+Enter": "Control+Enter", "u": "u", "i": "i", "r": "r", "o": "o"}
ALIKE = {"h", "v", "d", "f", "?"}  # letters that take the way of c
WINDOW = {"s"}  # which opens the speaker's window, and then shows it

START = """async (number) => {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  if (document.fullscreenElement) await document.exitFullscreen();
  document.activeElement.blur();
  Reveal.togglePause(false);
  Reveal.toggleOverview(false);
  document.querySelector(".python").textContent = "";
  const slide = Reveal.getSlides()[number - 1], { h, v } = Reveal.getIndices(slide);
  for (const part of slide.querySelectorAll(".counting, .typed")) part.classList.remove("counting", "typed");
  slide.classList.remove("codes");
  Reveal.slide(h, v, -1);
  window.clicks = 0;
  window.addEventListener("click", () => (window.clicks += 1), { once: true });
}"""
ALL = f"[{PROGRESS}, {NUMBER}, Reveal.isPaused(), Reveal.isOverview(), document.querySelector('dialog[open]')]"


def has_effect(page, label):
    """Whether there is anything on that slide for the key."""
    selector = {"g": ".guess", "h": ".guess"}.get(label)
    return selector is None or page.locator(SLIDE + selector).count() > 0


def speakers(page):
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    opened.value.frame_locator("#current-slide iframe").locator(SLIDE + ".heading").wait_for()
    return opened.value


def click(view, page, selector):
    """In the hall's window, or in the speaker's, where its copy shows what is clicked."""
    if view is page:
        page.locator(SLIDE + selector).first.click()
        return
    share = page.locator(SLIDE + selector).first.evaluate("""(node) => {
      const box = node.getBoundingClientRect(), slides = document.querySelector(".slides").getBoundingClientRect();
      const [x, y] = [box.x + Math.min(box.width / 2, 200), box.y + box.height / 2];
      return [(x - slides.x) / slides.width, (y - slides.y) / slides.height];
    }""")
    slides = view.frame_locator("#current-slide iframe").locator(".slides").bounding_box()
    view.mouse.click(slides["x"] + share[0] * slides["width"], slides["y"] + share[1] * slides["height"])
    until(page, "window.clicks > 0")


@pytest.fixture(scope="module")
def opened(decks, show):
    """A page of notebook 3 and its speaker's window."""
    page = show((decks / "03_masking.html").as_uri(), reduced_motion="reduce")
    return page, speakers(page)


@pytest.fixture
def both(opened):
    """The same, as at the beginning but for what was answered."""
    page, view = opened
    page.evaluate(START, 1)
    view.evaluate("document.activeElement.blur()")
    return opened


@pytest.mark.parametrize("window", ["hall", "speaker"])
def test_every_key_of_the_help_works_after_every_click(decks, show, request, window):
    """All of them after the first click, then one of each two alike and one letter; for the speaker after three."""
    if window == "speaker":
        page, view = request.getfixturevalue("both")
    else:
        page = view = show((decks / "03_masking.html").as_uri(), reduced_motion="reduce")
    labels = set(page.locator(".help th").all_text_contents())
    assert labels == {*DOES, *OF_PYTHON, *WINDOW}, "a key of the help has its effect above"
    for nth, (what, selector) in enumerate([*CLICKS.items()][: 3 if window == "speaker" else None]):
        number = slide_with(page, selector.partition(" >>")[0])
        for label, (ways, value) in DOES.items():
            for keys in [] if nth and label in ALIKE else ways[:: 2 if nth else 1]:
                page.evaluate(START, number)
                if not has_effect(page, label):
                    continue
                click(view, page, selector)
                before = page.evaluate(value)
                for key in keys.split(" "):
                    view.keyboard.press(key)
                changes(page, value, before, f"{label}, pressed as {keys} after a click on {what}")
        page.evaluate(START, number)
        click(view, page, selector)
        before = page.evaluate(ALL)
        for key in (*OF_PYTHON.values(), "k", "j", "l", "p", "n", "a"):  # not the deck's, in a file
            view.keyboard.press(key)
        view.keyboard.press("d")
        assert page.evaluate(ALL) == before
    assert page.complaints == []


def changes(page, value, before, what):
    try:
        until(page, f"(before) => ({value}) !== before", before)
    except TimeoutError:
        pytest.fail(f"{what}: nothing happens")


def test_answered_guess_lets_go_of_the_keys(both):
    page, view = both
    for where, nth, guesses in ((view, 0, ["6, 4, 3"]), (page, 1, ["like", "I"])):  # right, and twice wrong
        typed = slide_with(page, ".guess:not(:has(.choice))", nth)
        jump(page, typed)
        where.keyboard.press("g")
        for guess in guesses:
            where.keyboard.type(guess)
            where.keyboard.press("Enter")
        page.locator(f"{SLIDE.strip()}.answered").wait_for()
        for key, there in (("ArrowRight", typed + 1), ("ArrowLeft", typed)):
            where.keyboard.press(key)
            until(page, f"(n) => {NUMBER} === n", there)


def test_tab_in_the_speakers_window_goes_round_the_fields(both):
    page, view = both
    jump(page, slide_with(page, ".attn-board"))
    fields = (
        f"[...document.querySelectorAll('{SLIDE}:is(input, textarea, select)')].filter((one) => one.checkVisibility())"
    )
    for key, place in (("Shift+Tab", -1), ("Tab", 0), ("Shift+Tab", -1)):
        view.keyboard.press(key)
        until(page, f"(place) => {fields}.at(place) === document.activeElement", place)


def test_speakers_clock_goes_on_in_a_window_that_is_opened_late_or_again(decks, show):
    page = show((decks / "03_masking.html").as_uri())
    minutes = "Number(document.querySelector('.timer .minutes-value').textContent.slice(1))"
    jump(page, 9)  # planned for the sixteenth minute: there the lecture begins
    for slide in (9, 2):
        jump(page, slide)
        view = speakers(page)
        until(view, f"{minutes} === 15")
        view.close()


def test_next_takes_away_what_lies_over_the_slide(both):
    page, view = both
    for opens in ("?", "b"):
        for where in (page, view):
            for closes in ("ArrowRight", "PageDown", "ArrowLeft"):
                before = page.evaluate(ALL)
                where.keyboard.press(opens)
                until(page, f"(before) => JSON.stringify({ALL}) !== JSON.stringify(before)", before)
                where.keyboard.press(closes)
                until(page, f"(before) => JSON.stringify({ALL}) === JSON.stringify(before)", before)


def test_reloaded_speakers_window_comes_back(decks, show):
    page = show((decks / "03_masking.html").as_uri())
    page.context.route("http://deck.test/*", lambda route: route.fulfill(path=decks / "03_masking.html"))
    page.add_init_script("const { open } = window; window.open = (...how) => (window.speakers = open(...how))")
    page.goto("http://deck.test/03_masking.html")
    until(page, "window.Reveal && Reveal.isReady()")
    view = speakers(page)
    written = "speakers.document.querySelector('#current-slide iframe')"
    view.reload()
    until(page, written)
    view.keyboard.press("ArrowRight")
    until(page, f"{NUMBER} === 2")


def test_a_line_is_written_on_its_slide_and_leaves_the_keys(decks, show):
    page = show((decks / "01_by_hand.html").as_uri())
    view = speakers(page)
    written = slide_with(page, ".own-line")
    for where, line, verdict in ((page, "X @ W_q", "query"), (view, "X @ W_k", "Right")):
        jump(page, written)
        field = page.locator(SLIDE + ".own-line textarea")
        field.fill("my_keys = ")
        field.blur()
        where.keyboard.press("g")
        where.keyboard.type(line)
        for key in ("ArrowLeft", "ArrowRight", "Control+Enter"):
            where.keyboard.press(key)
        expect(page.locator(SLIDE + ".verdict")).to_contain_text(verdict)
        copy = view.frame_locator("#current-slide iframe")
        expect(copy.locator(SLIDE + ".own-line textarea")).to_have_value(f"my_keys = {line}")
        expect(copy.locator(SLIDE + ".verdict")).to_contain_text(verdict)
        assert page.evaluate(NUMBER) == written
        for keys in (["Escape", "ArrowRight"], ["g", "PageUp"]):  # a clicker has no Escape
            before = page.evaluate(PROGRESS)
            for key in keys:
                where.keyboard.press(key)
            changes(page, PROGRESS, before, f"{keys} lead nowhere from a line")


def test_speaker_of_a_file_goes_on_seeing_while_the_hall_is_black(both):
    """And chooses the plan beside the clock."""
    page, view = both
    view.locator(".plan select").select_option("45")
    jump(page, 3)
    now, coming = (view.frame_locator(f"#{name} iframe") for name in ("current-slide", "upcoming-slide"))
    told = view.locator(".speaker-controls-notes")
    before = told.text_content()
    view.locator(".plan select").select_option("90")
    expect(told).not_to_have_text(before)
    page.keyboard.press("b")
    expect(now.get_by_text("Resume presentation")).to_be_hidden()  # reveal.js' own word on the black
    now.locator(".reveal.paused").wait_for()
    black = now.locator(".pause-overlay")
    slide = now.locator(SLIDE + ".heading").bounding_box()
    assert black.bounding_box()["y"] > slide["y"] + slide["height"], "the speaker's slide lies under it"
    assert page.locator(".pause-overlay").is_visible() and not coming.locator(".pause-overlay").is_visible()
