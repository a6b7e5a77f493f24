"""Every page of the site on every screen: it fits, it can be read, found in and hit with a finger."""

import re
from itertools import combinations
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT as AXE
from playwright.sync_api import expect
from site_page import LESSONS, SCREENS, SERVED, TWO_FRAMES, address_of, come_to, seen_by, show_on, unfold, wake

AXES = (("x", "width"), ("y", "height"))  # of what bounding_box says
CODE = ".cell_input pre, pre:has([style*='user-select'])"  # with that of the patients, whose lines have numbers
CUT_CODE = f'[...document.querySelectorAll("{CODE}")].filter((c) => c.scrollWidth > c.clientWidth).length'
# What axe finds in the text, the boards and the forms of one page alone. The rest, which takes axe longer, hangs on
# what pages of a kind have in common, and is asked of one of each kind. Contrast, which takes it longest, and what a
# keyboard cannot scroll are LOOK's.
EACH = ["aria-allowed-attr", "aria-hidden-focus", "aria-required-attr", "aria-required-children", "summary-name"]
EACH += ["aria-required-parent", "aria-roles", "aria-valid-attr-value", "button-name", "definition-list"]
EACH += ["duplicate-id-aria", "empty-heading", "heading-order", "image-alt", "label", "link-name", "list"]
EACH += ["listitem", "select-name", "svg-img-alt", "td-headers-attr", "th-has-data-cells"]
EACH = {"runOnly": EACH}
ALL = {"rules": {"target-size": {"enabled": True}, "color-contrast": {"enabled": False}}}
KINDS = {"phone, dark": ["index", "record", "search", "README", LESSONS[0]], "laptop, light": ["README"]}
# A lesson on a phone begins with something to do: it is on the first screen, and no code stands before it.
BEGINS_LATE = """() => {
  const first = document.querySelector("article :is(form.guess :is(label input, .word), .saved-board)");
  const { top, bottom } = first.getBoundingClientRect();
  const code = [...document.querySelectorAll(".cell_input")].filter((one) => one.offsetHeight);
  return bottom >= innerHeight || code.some((one) => one.getBoundingClientRect().top < top);
}"""
SHIFT = """window.moved = [];
new PerformanceObserver((seen) => moved.push(...seen.getEntries())).observe({ type: "layout-shift" })"""


def found_by_axe(page, options):
    """What axe finds: the rules, each with the first node that breaks it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    run = "async (options) => (await axe.run(document, options)).violations"
    found = page.evaluate(run, {**options, "resultTypes": ["violations"], "selectors": False, "preload": False})
    return {violation["id"]: violation["nodes"][0]["html"][:200] for violation in found}


def test_every_page_fits_its_screen_and_can_be_read(built, pages, reader):
    """Opened on one screen, each page is then given the room and the light of the other; the next begins there."""
    page, faults, screens = reader("index"), [], list(SCREENS)
    for path in sorted(pages):
        if path.parent.name == "library" and path.stem not in ("index", "MultiHeadAttention"):
            continue  # one form makes them all: the longest stands for the others
        page.goto(f"/{path.relative_to(built).as_posix()}")
        unfold(page)
        for screen in screens:
            show_on(page, screen)
            found = seen_by(page)
            if screen.startswith("laptop"):
                found["code cut at the right"] = page.evaluate(CUT_CODE)
            elif path.stem in LESSONS:
                found["nothing to do at first"] = page.evaluate(BEGINS_LATE)
            if path.stem in KINDS[screen]:
                found |= found_by_axe(page, ALL)
            elif screen.startswith("phone"):
                found |= found_by_axe(page, EACH)
            faults += [(path.name, screen, fault, what) for fault, what in found.items() if what]
        screens.reverse()
    assert not faults, "\n".join(map(str, faults))


def test_no_window_is_scrolled_sideways(reader):
    page, wider = reader("01_by_hand"), {}
    for width in (700, 800, 1024, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 768})
        wider[width] = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert not any(wider.values()), wider


def test_dark_by_choice_is_dark_by_the_system(reader):
    page = reader("03_masking")
    of = "(selector) => { const { color, backgroundColor } = getComputedStyle(document.querySelector(selector));"
    look = f"['body', '.attn-board', '.highlight .kn'].map({of} return color + backgroundColor; }})"

    def turned():
        page.get_by_role("button", name="Dark or light page").click()
        return page.evaluate(look)

    framed = (
        "document.querySelector('meta[name=theme-color]').content === getComputedStyle(document.body).backgroundColor"
    )
    light, dark = page.evaluate(look), turned()
    assert page.evaluate(framed), "what the browser draws around the page is dark, too"
    assert all(one != other for one, other in zip(light, dark, strict=True)) and seen_by(page)["faint"] == []
    page.reload()
    assert page.evaluate(look) == dark, "it is kept"
    assert turned() == light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(look) == dark, "nothing of one's own is kept that the system asks for"
    assert turned() == light


def test_diagrams_and_plots_stand_upright_on_a_phone(reader):
    page = reader("03_masking", "phone, dark")
    page.locator("picture img:not(.drawing)").first.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('picture img:not(.drawing)').currentSrc.includes('/upright/')")
    show_on(page, "laptop, light")
    page.wait_for_function("!document.querySelector('picture img:not(.drawing)').currentSrc.includes('/upright/')")
    page = reader("09_two_heads", "phone, dark")
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    plot = page.locator("img.drawing").first
    plot.scroll_into_view_if_needed()
    assert page.evaluate("(plot) => plot.decode().then(() => plot.naturalWidth)", plot.element_handle()) <= 390
    show_on(page, "laptop, light")
    page.wait_for_function("(plot) => plot.naturalWidth > 500", arg=plot.element_handle())


def test_the_search_finds_a_word_of_a_lesson(reader):
    page = reader("index")
    page.get_by_role("button", name="Lessons").click()
    page.get_by_label("Search").fill("saturated")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li").filter(has=page.get_by_role("link", name="1. Attention by hand"))
    found.first.get_by_text(re.compile("saturated", re.I)).wait_for()  # with the words around it
    page.goto(f"{SERVED}search.html?q=mask")
    found = page.locator("#search-results li").filter(has=page.get_by_role("link", name="3. Masking"))
    assert "The answer" not in found.filter(has=page.locator(".context")).first.inner_text()


@pytest.mark.parametrize(
    ("word", "lesson", "section"),
    [
        ("transformer", "11_small_gpt", "A block"),
        ("mask", "03_masking", "A mask from lengths"),
        ("sliding window", "10_writing_with_a_memory", "A window"),  # which the lesson calls by another name
        ("gradient", "07_how_attention_learns", "Which way is down?"),
    ],
)
def test_the_search_begins_with_the_section_that_teaches(reader, word, lesson, section):
    page = reader("search", asking=f"?q={word}")
    link = page.locator("#search-results a").first
    expect(link).to_contain_text(section)
    link.click()
    expect(page).to_have_url(re.compile(lesson))
    expect(page.locator(":target")).to_contain_text(section)


def test_the_search_shows_the_reference_after_the_lessons_and_leaves_code_out(reader):
    def found(word):
        page = reader("search", asking=f"?q={word}")
        page.locator(".search-summary:not(:empty)").wait_for()
        return page.locator("#search-results li > a").evaluate_all("links => links.map((link) => link.pathname)")

    are_lessons = [re.search(r"/notebooks/\d", lead) is not None for lead in found("gpt")]
    assert are_lessons == sorted(are_lessons, reverse=True) and not all(are_lessons)
    leads = found("show_difference")  # lesson 1 says what it does; nearly every lesson calls it
    assert [lead.rpartition("/")[2] for lead in leads] == [f"{LESSONS[0]}.html"]


def test_fonts_that_come_late_move_nothing(built, browser, served):
    """They come when all else stands there; what has moved by then, browsers count themselves."""
    size = {"width": 390, "height": 844}
    context = browser.new_context(**served, viewport=size, is_mobile=True, reduced_motion="reduce")
    page, waiting = context.new_page(), []
    context.route("**/*.woff2", lambda route: waiting.append(route))
    for name in ("index", LESSONS[0], LESSONS[8], LESSONS[10]):
        page.goto(address_of(name), wait_until="domcontentloaded")
        page.evaluate(TWO_FRAMES)
        page.evaluate(SHIFT)
        while waiting:
            route = waiting.pop()
            route.fulfill(path=built / urlsplit(route.request.url).path[1:])
        page.evaluate("document.fonts.ready.then(() => {})")
        page.evaluate(TWO_FRAMES)
        assert page.evaluate("moved.reduce((all, one) => all + one.value, 0)") < 0.02, name
    context.close()


def test_code_and_printed_numbers_are_read_on_a_phone_without_scrolling_sideways(reader):
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    page = reader("09_two_heads", "phone, dark")
    page.evaluate("document.querySelectorAll('article details').forEach((fold) => (fold.open = true))")
    code = page.locator(".cell_input pre")
    assert code.count() > 20 and code.evaluate_all(cut) == 0
    page = reader("07_how_attention_learns", "phone, dark")
    numbers = page.locator(".output pre").filter(has_text="tensor(").filter(visible=True)
    assert numbers.count() > 5 and numbers.evaluate_all(cut) == 0


def test_what_is_written_on_is_in_sight_on_a_phone(reader):
    page = reader("11_small_gpt", "phone, dark")
    story = come_to(page, ".attn-board.story")
    story.evaluate("(node) => node.scrollIntoView()")
    write = story.get_by_role("button", name="Write on")
    write.click()
    for seen in (write, story.locator(".words .word").last):
        box = seen.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 844


def test_large_letters_leave_the_header_whole(reader):
    page = reader("01_by_hand", "phone, dark")
    body = "parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)"
    before = page.evaluate(body)
    page.add_style_tag(content="html { font-size: 200% }")
    assert page.evaluate(body) == 2 * before
    boxes = [part.bounding_box() for part in page.locator("header.top > :is(a, button)").all()]
    for one, other in combinations(boxes, 2):
        apart = (
            abs(2 * (one[at] - other[at]) + one[size] - other[size]) - one[size] - other[size] for at, size in AXES
        )
        assert max(apart) >= -1, "one lies on the other"
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 + 12 for box in boxes)  # one's own room stands out


def test_the_step_being_read_is_lit_on_the_map(built, pages, reader):
    drawn = {box["data-step"] for box in pages[built / "notebooks/01_by_hand.html"].select("svg.map [data-step]")}
    page = reader("01_by_hand")
    headings = page.locator("article h2").filter(has_text=re.compile(r"^Step \d")).all()
    assert len(drawn) == len(headings)
    for heading in headings:
        heading.evaluate("(node) => (node.scrollIntoView(), scrollBy(0, -0.4 * innerHeight))")
        number = re.match(r"Step (\d)", heading.inner_text())[1]
        page.locator(f"svg.map .lit[data-step='{number}']").first.wait_for(state="attached")
        assert page.locator("svg.map .lit").count() == page.locator(f"svg.map [data-step='{number}']").count()
    page.get_by_role("heading", name="Where likeness fails").evaluate("(node) => node.scrollIntoView()")
    page.locator("svg.map").wait_for(state="hidden")  # that is no step


def test_the_margin_says_where_one_is_and_gives_way_to_a_board(reader):
    page = reader("03_masking")
    margin = page.get_by_role("navigation", name="Where you are")
    heading = page.get_by_role("heading", name="Before softmax, not after")
    heading.evaluate("(node) => node.scrollIntoView()")
    margin.locator("[aria-current]").get_by_text(heading.inner_text()).wait_for()
    come_to(page, ".attn-board").evaluate("(node) => node.scrollIntoView()")
    margin.get_by_role("link").first.wait_for(state="hidden")


def test_on_a_phone_the_contents_are_at_hand_in_a_lesson(phone):
    """One touch leads to them from wherever one reads; they and their button say how far one is."""
    page = phone
    page.goto(address_of("03_masking"))
    page.get_by_role("heading", name="Before softmax, not after").evaluate("(node) => node.scrollIntoView()")
    button = page.get_by_role("button", name="Contents")
    expect(button).to_contain_text("3 of")
    expect(button).to_be_in_viewport()
    box = button.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    contents = page.get_by_role("navigation", name="On this page")
    row = contents.get_by_role("link", name="Before softmax, not after")
    expect(row).to_have_attribute("aria-current", "true")
    expect(row.get_by_role("img", name="0 of 3 done")).to_be_visible()
    contents.get_by_role("link", name="Play with it").tap()
    expect(contents).to_be_hidden()
    heading = page.get_by_role("heading", name="Play with it")
    expect(heading).to_be_in_viewport()
    header = page.locator("header.top").bounding_box()
    assert heading.bounding_box()["y"] >= header["y"] + header["height"]  # nothing lies on what was gone to


def test_a_task_that_is_met_out_of_sight_is_told_at_the_foot(phone):
    page = phone
    page.goto(address_of("01_by_hand"))
    board = come_to(page, ".attn-board:has(.task p)")
    cell = board.get_by_label("W_k row 1 column 3")
    cell.evaluate("(node) => node.scrollIntoView()")  # the task is above the screen
    told = board.locator(".foot").get_by_role("button", name="Now say why")
    expect(told).to_be_hidden()
    cell.fill("2")
    cell.press("Enter")
    told.tap()
    expect(board.locator(".task select")).to_be_in_viewport()
    expect(told).to_be_hidden()


# What a finger has to hit, but for words of a sentence: what is lower or narrower than it should be. A cell is hit as a
# whole, and so is a label.
TOO_SMALL = """() => [...document.querySelectorAll("a[href], button, input, select, summary")].flatMap((node) => {
  if (node.closest("p, article li:not(.cards *), td:not(.cell), .skip, .sentence")) return [];
  const { width, height } = (node.closest("td.cell, label, .rail") ?? node).getBoundingClientRect();
  const isSeen = width && node.checkVisibility({ visibilityProperty: true });
  return isSeen && Math.min(width, height) < 43.5 ? [`${width} × ${height}: ${node.outerHTML.slice(0, 90)}`] : [];
})"""


def test_a_finger_hits_everything_on_a_phone_upright_or_not(phone):
    page, small = phone, {}
    for name in ("index", "record", "search", "01_by_hand", "04_multi_head"):
        page.goto(address_of(name))
        wake(page)
        for width, height in ((390, 844), (844, 390)):
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(TWO_FRAMES)
            small[name, width] = page.evaluate(TOO_SMALL)
        page.set_viewport_size({"width": 390, "height": 844})
    assert not any(small.values()), small
