"""How boards look and move, on one page without a kernel.

One sweep asks of every board at every size whether it fits, is read and is reached; tests/helpers/board_sweep.js says
what may be wrong. Below it stands what only some boards have.
"""

import re

import pytest
import torch
from board_actions import choose
from board_page import awake
from boards import ALL
from contrast import CONTRAST
from paths import ROOT

from attn_lib.examples import TOKENS
from authors.pages import boards_in_pages
from workbench.board import Board, Input, Step
from workbench.board import operations as op
from workbench.board.lessons import heads_board

BOARDS = {name: make for name, make in ALL.items() if "," not in name and not name.endswith("_figure")}
SWEEP = ROOT / "tests/helpers/board_sweep.js"
HEAD = "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
HEAD += f"<style>{boards_in_pages.STYLE}</style>"
SIZES = {
    "laptop": (1366, 768),
    "beside a list of files": (934, 647),  # as in JupyterLab on a laptop
    "phone": (390, 844),
    "phone lying": (844, 390),
}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """address(boards): of a page with these boards."""

    def write(boards):
        path = tmp_path_factory.mktemp("boards") / "boards.html"
        shown = "\n".join(
            f'<section id="{name}">{boards_in_pages.embed(made)}</section>' for name, made in boards.items()
        )
        path.write_text(f"{HEAD}{awake(shown)}", encoding="utf-8")
        return path.as_uri()

    return write


@pytest.fixture(scope="module")
def made():
    """Every board as it begins; no test changes one."""
    return {name: make() for name, make in BOARDS.items()}


@pytest.fixture(scope="module")
def with_all(address, made):
    return address(made)


@pytest.fixture(scope="module")
def opened(browser, with_all):
    """opened(size): the page with all boards in a browser of that size, opened once; each test leaves it as it was."""
    pages, complaints = {}, []

    def opened(size, address=with_all):
        if (size, address) not in pages:
            (width, height), touch = SIZES[size], "phone" in size
            viewport = {"width": width, "height": height}
            page = browser.new_page(viewport=viewport, has_touch=touch, reduced_motion="reduce")
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.add_init_script(path=SWEEP)
            page.goto(address)
            pages[size, address] = page
        return pages[size, address]

    yield opened
    for page in pages.values():
        page.close()
    assert complaints == []


@pytest.fixture
def laptop(opened):
    return opened("laptop")


@pytest.fixture
def phone(opened):
    return opened("phone")


@pytest.fixture
def alone(opened, address):
    """alone(name, board): the page on which it stands by itself."""
    page = opened("laptop", "about:blank")

    def alone(name, made):
        page.goto(address({name: made}))
        return page

    return alone


def board(page, name):
    return page.locator(f"#{name} .attn-board")


def of_each(page, script):
    """What a script finds at each board of the page, which is asked once: name → what it finds."""
    boards = (
        "Object.fromEntries([...document.querySelectorAll('.attn-board')].map((board) => [board.closest('section').id"
    )
    return page.evaluate(f"() => {boards}, ({script})(board)]))")


# ----------------------------------------------------------------------------------- it fits, is read, and is reached


# Words that are faint, and words that are small, on a page of this kind: the site's, or JupyterLab's.
UNREAD = f"""([scheme, lab]) => {{ {CONTRAST}
  document.documentElement.style = `color-scheme: ${{scheme}}; --jp-layout-color0: ${{lab}}`;
  if (lab) document.body.dataset.jpThemeLight = String(scheme === "light");
  for (const root of document.querySelectorAll(".attn-board")) {{
    const result = [...root.querySelectorAll("td.result")].findLast((cell) => cell.getClientRects().length);
    result?.dispatchEvent(new MouseEvent("mouseenter")); // its arithmetic too
    for (const node of root.querySelectorAll("*")) {{
      const own = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim());
      if (!node.getClientRects().length || node.closest("option, .spoken, .effect")) continue;
      if (!own && !node.matches("td input")) continue;
      const style = getComputedStyle(node);
      contrast(node, style);
      if (parseFloat(style.fontSize) < 15) faint.push(`${{style.fontSize}} ${{short(node)}}`);
    }}
    result?.dispatchEvent(new MouseEvent("mouseleave"));
  }}
  document.documentElement.style = "";
  delete document.body.dataset.jpThemeLight;
  return faint;
}}"""


@pytest.mark.parametrize("scheme, lab", [("light", ""), ("dark", ""), ("dark", "#111111")])
def test_every_word_is_read_on_light_pages_and_on_dark(laptop, scheme, lab):
    assert laptop.evaluate(UNREAD, [scheme, lab]) == []


@pytest.mark.parametrize("size", SIZES)
def test_every_board_fits_is_read_and_is_reached(opened, size):
    page = opened(size)
    # beside a list of files a line of lesson 7 goes down behind "keys →", where there is no room beside it
    assert page.evaluate("(but) => wrongWithBoards(but)", "linesRunThrough" if "list" in size else "") == {}
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    if "phone" in size:
        assert page.evaluate(UNREAD, ["light", ""]) == [], "words that are small on a phone"
    if "list" in size:
        heights = of_each(page, "board => board.getBoundingClientRect().height")
        too_high = {name for name, height in heights.items() if height > SIZES[size][1]}
        # matrices of seven and eight rows, more than there is room for side by side: their foot stays in sight
        assert too_high <= {"cache", "induction"}
    page.reload()  # as it was, for whoever comes next


# ------------------------------------------------------------------------------------------------------ connectors


def panels_of(board):
    return {panel["name"]: panel for panel in board.spec["panels"]}


def true_dependencies(board):
    """Pairs of shown panels of which the second is computed from the first, with nothing that is shown between."""
    panels = panels_of(board)
    chosen = {
        control["name"]: dict(zip(control["values"], control["numbers"], strict=True))
        for control in board.spec["controls"]
    }

    def shown(panel):
        control, *values = panel["when"] or [None]
        is_empty = panel["role"] == "computed" and 0 in board.results[panel["name"]].shape
        return not (panel["hidden"] or is_empty) and (not control or board.settings[control] in values)

    def origins(panel):
        of = panel["of"]
        if panel["role"] == "choice":
            control = panel["options"]["chosen"]
            of = [of[chosen[control][board.settings[control]]]]
        return {found for name in of for found in ([name] if shown(panels[name]) else origins(panels[name]))}

    return {(of, name) for name, panel in panels.items() if panel["does"] and shown(panel) for of in origins(panel)}


def shows_a_step_to(picture, name, panels):
    """Whether a picture is drawn of what a panel is computed from, though that has no panel that is shown."""
    before, todo = set(), [name]
    while todo:
        of = set(panels[todo.pop()]["of"]) - before
        before |= of
        todo += of
    return panels[picture]["role"] == "picture" and before.issuperset(panels[picture]["of"])


def test_lines_are_the_true_dependencies(laptop, made):
    for name, lines in of_each(laptop, "linesOf").items():
        true, panels = true_dependencies(made[name]), panels_of(made[name])
        drawn = {(begin, end) for begin, end, _ in lines}
        assert all(has_tip for _, _, has_tip in lines), name
        true |= {(one, other) for one, other in drawn if shows_a_step_to(one, other, panels)}
        assert not drawn - true, f"{name}: lines that nothing is computed along"
        left_out = {pair for pair in true - drawn if panels[pair[1]]["wires"] is None}  # a step may name its own
        assert not left_out, f"{name}: dependencies without a line"


def test_a_line_follows_what_the_menu_chooses(laptop):
    shown = board(laptop, "mask")
    shown.get_by_role("combobox", name="Apply as").select_option("0 after softmax")
    moved = BOARDS["mask"]().change(fill="0 after softmax")
    true = true_dependencies(moved)
    drawn = {(begin, end) for begin, end, _ in shown.evaluate("board => linesOf(board)")}
    assert drawn <= true and ("of all", "weights") in drawn and ("with −∞", "weights") not in drawn
    choose(shown, "Reset")


# ---------------------------------------------------------------------------------------------- the steps, played


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_numbers_fly_only_for_those_who_do_not_mind(laptop, motion):
    laptop.emulate_media(reduced_motion=motion)
    flying = board(laptop, "by_hand").evaluate(
        """root => {
          root.querySelector("[aria-label='Step on']").click();
          const flying = document.getAnimations().map(({ effect }) => effect.target);
          return [".leaf", ".sum", "td"].map((kind) => flying.some((node) => node.matches(kind)));
        }"""
    )
    assert flying == [motion != "reduce"] * 3  # the numbers, their sum, and the cells
    choose(board(laptop, "by_hand"), "Reset")
    laptop.emulate_media(reduced_motion="reduce")


def test_steps_are_played_one_after_the_other_to_the_last(alone):
    switch = Input(torch.ones(1, 1), toggle=True)
    steps = [("b", op.exp("a")), ("c", op.exp("b")), Step("d", op.exp("c"), at=(1, 2))]
    page = alone("three", Board({"a": switch}, steps))
    shown = board(page, "three")
    shown.evaluate("board => (board.style.transform = 'scale(0.5)')")
    choose(shown, "Large type")  # now lines are drawn anew
    drawn = [(begin, end) for begin, end, _ in shown.evaluate("board => linesOf(board)")]
    assert drawn == [("a", "b"), ("b", "c")]  # and none runs back to d, which stands below a
    page.clock.install()
    assert page.locator(".hint").inner_text().endswith("Point at a result to see where it comes from.")
    count, words = page.locator(".player output"), page.locator(".why .words")
    page.get_by_role("button", name="Play the steps").click()
    for step, name in enumerate("bcd", 1):
        assert (count.inner_text(), words.inner_text()) == (f"{step}/3", f"{name} row 1 column 1")
        page.clock.run_for(2000)  # of six seconds in all
    assert count.inner_text() == "3/3"
    page.get_by_role("button", name="Play the steps").click()  # once more
    assert count.inner_text() == "1/3"
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(9000)
    assert count.inner_text() == "1/3"
    page.get_by_label("a row 1 column 1", exact=True).click()
    page.clock.run_for(9000)  # nobody misses a Python here
    assert page.locator(".said").inner_text().startswith("a row 1 column 1 is now")


def test_on_a_phone_a_step_that_is_played_is_in_sight(phone):
    shown = board(phone, "by_hand")
    shown.scroll_into_view_if_needed()
    shown.get_by_role("button", name="Play the steps").tap()
    shown.get_by_role("button", name="Pause").tap()
    for name in ("keys", "values", "scores", "weights", "outputs"):
        shown.get_by_role("button", name="Step on").tap()
        panel, foot = shown.locator(f"[data-name={name}]").bounding_box(), shown.locator(".foot").bounding_box()
        assert panel["y"] >= 0 and panel["y"] + panel["height"] <= foot["y"] + 0.5, name
    choose(shown, "Reset")


# -------------------------------------------------------------------------------------------------------- on a phone


def test_on_a_phone_a_stepped_number_and_results_are_in_view(phone):
    shown = board(phone, "by_hand")
    number = shown.get_by_label("W_q row 1 column 1", exact=True)
    number.tap()
    before = float(number.input_value())
    for label in ("one more", "one more", "one less"):
        shown.get_by_role("button", name=label).tap()
    assert float(number.input_value()) == before + 1
    shown.locator(".edited").get_by_text(f"W_q row 1 column 1: {before + 1:g}").wait_for()
    for part in (".stepper", ".mini"):
        box = shown.locator(part).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 844
    outputs = BOARDS["by_hand"]()
    outputs.change(W_q=_stepped(outputs.inputs["W_q"]))
    named = zip(TOKENS, outputs.results["outputs"].tolist(), strict=True)
    rows = "\n".join("  ".join([f"{name} {row[0]:.2f}", *(f"{x:.2f}" for x in row[1:])]) for name, row in named)
    assert shown.locator(".mini").inner_text().endswith(f"outputs\n{rows}")
    assert number.get_attribute("inputmode") == "decimal"  # the keyboard for numbers
    assert number.evaluate("input => getComputedStyle(input).touchAction") == "pan-y"  # a swipe scrolls the page
    shown.locator("td.result:visible").first.tap()
    assert shown.locator(".why").is_visible()
    choose(shown, "Reset")


def test_on_a_phone_a_choice_shows_what_it_changes(phone):
    shown = board(phone, "tiles")
    shown.get_by_role("combobox", name="Keys").select_option("4")
    slider = shown.get_by_role("slider", name="Blocks of keys read")
    slider.press("End")
    assert slider.get_attribute("aria-valuetext") == "2"  # as many as there are now
    shown.get_by_role("combobox", name="Fault").focus()
    shown.get_by_role("combobox", name="Fault").select_option("factor missing on o")
    shown.locator(".mini").get_by_text("difference").wait_for()
    choose(shown, "Reset")


def _stepped(matrix):
    matrix[0, 0] += 1
    return matrix


# Of each board, while its first number is changed: what its strip says, how far numbers reach over its edge, where it
# stands, and which of the results that are worth a look is neither in it nor in sight above it.
STEPPED = """async (named) => {
  const found = [], isShown = (node) => node.getClientRects().length > 0;
  for (const root of document.querySelectorAll(".attn-board")) {
    const number = [...root.querySelectorAll("td input")].find(isShown);
    if (!number) continue;
    number.focus();
    root.querySelector("[aria-label='one more']").click();
    for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame);
    const small = root.querySelector(".mini"), strip = root.querySelector(".foot").getBoundingClientRect();
    const all = document.createRange();
    all.selectNodeContents(small);
    const out = small.innerText ? all.getBoundingClientRect().right - small.getBoundingClientRect().right : 0;
    const results = [...root.querySelectorAll(".panel:has(td.result)")].filter(isShown);
    const own = results.filter((panel) => named[root.ariaLabel]?.includes(panel.dataset.name));
    const weights = results.find((panel) => panel.matches(".weights")) ?? results.at(-1);
    const isKnown = (panel) => {
      const { top, bottom } = panel.querySelector("tbody").getBoundingClientRect();
      return (top >= 0 && bottom <= strip.top) || small.innerText.includes(panel.querySelector("b").innerText);
    };
    const areKnown = (own.length ? own : [weights]).every(isKnown);
    found.push([root.ariaLabel, small.innerText, out, [strip.top, strip.bottom], areKnown]);
    document.activeElement.blur();
    root.querySelector("[title='Back to the example']").click();
  }
  return found;
}"""


def test_on_a_phone_results_are_in_sight_while_a_number_is_changed(phone):
    kept = lambda board: [p["name"] for p in board.spec["panels"] if p.get("strip")]  # noqa: E731
    there = [make() for make in BOARDS.values()]
    found = phone.evaluate(STEPPED, {board.title: kept(board) for board in there})
    numbers = [any(p.get("editable") and not p["toggle"] for p in board.spec["panels"]) for board in there]
    assert len(found) == sum(numbers)  # heads, for one, have none to change
    assert "difference" in next(said for name, said, *_ in found if "patient" in name)  # where the flow ends
    for name, said, out, strip, is_in_sight in found:
        assert is_in_sight, name
        assert out < 0.5, f"{name}: numbers beyond the edge"
        assert "NaN" not in said and not re.search(r"\d\.\d{4}", said), name
        assert 0 < strip[0] < strip[1] <= 844.5 and strip[1] - strip[0] < 170, name


# ------------------------------------------------------------------------------------------------ by keyboard alone


def test_tab_reaches_a_result_after_what_it_is_computed_from(laptop):
    panels_in_order = "root => [...root.querySelectorAll('.panel')].map((panel) => panel.dataset.name)"
    for name, order in of_each(laptop, panels_in_order).items():
        shown = BOARDS[name]()
        panels = shown.spec["panels"]
        choosing = {panel["when"][0] for panel in panels if panel["when"]}  # what stands between others at times
        choosing |= {panel["options"]["chosen"] for panel in panels if panel["role"] == "choice"}
        settings = [{}]
        for control in [control for control in shown.spec["controls"] if control["name"] in choosing]:
            values = [*control["values"], shown.settings[control["name"]]]
            settings += [{control["name"]: value} for value in values]
        for setting in settings:
            pairs = true_dependencies(shown.change(**setting))
            assert [pair for pair in pairs if order.index(pair[0]) > order.index(pair[1])] == [], (name, setting)


def test_heads_are_chosen_and_read_off_by_arrow_keys(alone, laptop):
    shown = board(laptop, "heads")
    shown.locator(".small-head").last.focus()
    laptop.keyboard.press("ArrowLeft")
    assert shown.get_by_role("combobox", name="Head").input_value() == "0"
    assert shown.get_by_role("button", name="head 0").get_attribute("aria-pressed") == "true"
    laptop.keyboard.press("End")
    assert shown.get_by_role("combobox", name="Head").input_value() == "1"
    laptop.keyboard.press("Home")
    assert shown.get_by_role("combobox", name="Head").input_value() == "0"
    choose(shown, "Reset")
    shown.get_by_role("button", name="More", exact=True).click()
    assert shown.get_by_role("menuitem").all_inner_texts() == ["Reset"]  # nothing can be edited
    laptop.keyboard.press("Escape")
    weights = torch.eye(30)  # too many for cells: query 0 listens to key 29 and 28
    weights[0] = torch.tensor([0.0] * 28 + [0.5, 0.5])
    big = alone("big", heads_board(weights[None]))
    picture = big.get_by_role("application")
    box = picture.bounding_box()
    assert box["height"] == pytest.approx(box["width"], abs=2)  # as many keys as queries
    big.mouse.click(box["x"] + box["width"] * 0.99, box["y"] + box["height"] * 0.01)  # query 0, key 29
    assert "the head chosen 0 → 29: 0.5 = 0.5" in big.locator(".spoken").inner_text()
    big.keyboard.press("ArrowDown")
    assert "the head chosen 1 → 29" in big.locator(".spoken").inner_text()
    for keys, there in ((("ArrowUp",) * 2, "0 → 29"), (("Home", "ArrowLeft"), "0 → 0")):
        for key in keys:
            big.keyboard.press(key)
        assert f"the head chosen {there}: " in big.locator(".spoken").inner_text(), "nobody walks over the edge"


# ------------------------------------------------------------------------------------------------- what is painted


def test_on_paper_a_board_has_its_matrices_and_nothing_to_press(laptop):
    laptop.emulate_media(media="print")
    visible = "board => [...board.querySelectorAll('.tools, .foot')].some((e) => e.getClientRects().length)"
    assert not any(of_each(laptop, visible).values())
    assert all(of_each(laptop, "board => board.querySelector('.panel').getClientRects().length > 0").values())
    laptop.emulate_media(media="screen")


# Whether nothing lies on a node, along its middle.
ON_TOP = """node => {
  const { left, top, width, height } = node.getBoundingClientRect();
  const at = (share) => document.elementFromPoint(left + width * share, top + height / 2);
  return [0.02, 0.25, 0.5, 0.75, 0.98].every((share) => node.contains(at(share)));
}"""


def test_a_cell_without_a_number_is_empty_and_says_so(laptop):
    shown = board(laptop, "cache")
    keys = shown.locator(".panel[data-name='keys'] td.result")
    assert [text != "" for text in keys.all_inner_texts()[::8]] == [True] * 4 + [False] * 4
    assert keys.nth(8 * 7).get_attribute("aria-label").endswith("not yet")
    differences = shown.locator(".panel[data-name='off by'] td.result").all_inner_texts()
    assert differences == ["0"] * 4 + [""] * 4
    keys.nth(8 * 3).hover()
    assert shown.locator(".why").is_visible() and shown.locator(".why").evaluate(ON_TOP)
    keys.nth(8 * 7).hover()
    assert not shown.locator(".why").is_visible()
    shown.get_by_role("slider", name="Tokens read").fill("7")
    shown.get_by_role("slider", name="Window").fill("1")  # the second, 3
    assert [text != "" for text in keys.all_inner_texts()[::8]] == [False] * 6 + [True] * 2
    assert shown.locator(".panel[data-name='stored'] td.result").inner_text() == "24"
    choose(shown, "Reset")
