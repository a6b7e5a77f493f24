"""How boards look and move, on one page without a kernel: connectors, motion, phones, heights, and no script at all."""

import re

import pytest
import torch
from board_actions import choose
from board_page import awake
from boards import ALL
from contrast import CONTRAST

from attn_lib.examples import TOKENS
from authors.pages import boards_in_pages
from workbench.board import Board, Input, Step
from workbench.board import operations as op
from workbench.board.lessons import heads_board

BOARDS = {name: make for name, make in ALL.items() if "," not in name and not make().spec.get("figure")}
HEAD = "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
HEAD += f"<style>{boards_in_pages.STYLE}</style>"


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
def open_page(browser, with_all):
    """open_page(width, height, address, **what else the context is told): that page in a browser like that."""
    contexts = []

    def open_page(width=1366, height=768, address=with_all, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, **options))
        page = contexts[-1].new_page()
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def laptop(open_page):
    """With all boards, and each test leaves them as they begin."""
    page, complaints = open_page(reduced_motion="reduce"), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    assert complaints == []


@pytest.fixture(scope="module")
def phone(open_page):
    return open_page(390, 844, has_touch=True)


@pytest.fixture(scope="module")
def alone(open_page, address):
    """alone(name, board): the page on which it stands by itself."""
    page = open_page(address="about:blank")

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


# --------------------------------------------------------------------------------------------------- connectors

# Every line by the panels at which it begins and ends, or null where it hangs in the air, and whether it has a tip.
DRAWN = """root => {
  const panels = [...root.querySelectorAll(".panel")].filter((panel) => panel.getClientRects().length);
  const at = ({ x, y }, line) => {
    const point = new DOMPoint(x, y).matrixTransform(line.getScreenCTM());
    const away = panels.map((panel) => {
      const { left, right, top, bottom } = panel.getBoundingClientRect();
      return Math.hypot(Math.max(left - point.x, 0, point.x - right), Math.max(top - point.y, 0, point.y - bottom));
    });
    const nearest = Math.min(...away);
    return nearest < 9 ? panels[away.indexOf(nearest)].dataset.name : null;
  };
  return [...root.querySelectorAll(".wire")].map((line) => {
    const ends = [0, line.getTotalLength()].map((along) => at(line.getPointAtLength(along), line));
    return [...ends, line.hasAttribute("marker-end")];
  });
}"""


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


@pytest.fixture(scope="module")
def lines(laptop):
    return of_each(laptop, DRAWN)


@pytest.mark.parametrize("name", BOARDS)
def test_lines_are_the_true_dependencies(lines, made, name):
    drawn, true = {(begin, end) for begin, end, _ in lines[name]}, true_dependencies(made[name])
    assert all(tipped for _, _, tipped in lines[name])
    assert not drawn - true, "lines that nothing is computed along"
    panels = panels_of(made[name])
    left_out = {pair for pair in true - drawn if panels[pair[1]]["wires"] is None}  # a step may name its own
    assert not left_out, "dependencies without a line"


def test_a_line_follows_what_the_menu_chooses(laptop):
    shown = board(laptop, "mask")
    shown.get_by_role("combobox", name="Apply as").select_option("0 after softmax")
    moved = BOARDS["mask"]().change(fill="0 after softmax")
    true = true_dependencies(moved)
    drawn = {(begin, end) for begin, end, _ in shown.evaluate(DRAWN)}
    assert drawn <= true and ("of all", "weights") in drawn and ("with −∞", "weights") not in drawn
    choose(shown, "Reset")


def test_lines_follow_rows_that_a_slide_lowers(alone):
    page = alone("learning", BOARDS["learning"]())
    shown = board(page, "learning")
    page.add_style_tag(content=".attn-board :is(td, th) { height: 14px !important; font-size: 9px }")
    held = f"(root) => ({DRAWN})(root).every(([begin, end]) => begin && end)"
    page.wait_for_function(held, arg=shown.element_handle())
    assert shown.evaluate(DRAWN)


def test_weighted_values_come_from_weights_and_values(alone):
    page = alone("small", ALL["by_hand, weighted_values"]())
    for pair in (("weights", "weighted_values"), ("values", "weighted_values")):
        assert [*pair, True] in board(page, "small").evaluate(DRAWN)
    assert board(page, "small").evaluate(PIERCED) == []


# Titles and tables that a line runs through: it would seem to come out of a panel that has no part in it.
PIERCED = """root => {
  const drawn = [...root.querySelectorAll(".panel :is(.head, table, canvas, svg)")]
    .map((node) => [node, node.getBoundingClientRect()]);
  return [...root.querySelectorAll(".wire")].flatMap((line) => {
    const found = new Set();
    for (let along = 0; along <= line.getTotalLength(); along += 3) {
      const { x, y } = line.getPointAtLength(along).matrixTransform(line.getScreenCTM());
      for (const [node, box] of drawn)
        if (x > box.left + 0.5 && x < box.right - 0.5 && y > box.top + 0.5 && y < box.bottom - 0.5) found.add(node);
    }
    const words = (node) => `${line.getAttribute("d")} through ${node.closest(".panel").dataset.name} ${node.tagName}`;
    return [...found].map(words);
  });
}"""


@pytest.fixture(scope="module")
def pierced(laptop):
    return of_each(laptop, PIERCED)


@pytest.mark.parametrize("name", BOARDS)
def test_no_line_runs_through_a_title_or_a_table(pierced, name):
    assert pierced[name] == []


# --------------------------------------------------------------------------------------------------------- colours

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


@pytest.mark.parametrize(
    "scheme, lab", [("light", ""), ("dark", ""), ("light", "#ffffff"), ("dark", "#111111"), ("dark", "#1e1e1e")]
)
def test_every_word_is_read_on_light_pages_and_on_dark(laptop, scheme, lab):
    assert laptop.evaluate(UNREAD, [scheme, lab]) == []


@pytest.mark.parametrize("width", [390, 844])
def test_no_word_is_small_on_a_phone(open_page, width):
    assert open_page(width, 1234 - width, has_touch=True).evaluate(UNREAD, ["light", ""]) == []


# -------------------------------------------------------------------------------------------------------- motion


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


# ----------------------------------------------------------------------------------------------------- on a phone


# What reaches over the edges of its board, once all boards have been fitted to the window.
STICKS_OUT = """async () => {
  for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
  return [...document.querySelectorAll(".attn-board")].flatMap((root) => {
    const { left, right } = root.getBoundingClientRect();
    return [...root.querySelectorAll(".panel, .tools, .control, .task, .foot")].filter((node) => {
      const box = node.getBoundingClientRect();
      return box.width && (box.left < left || box.right > right);
    }).map((node) => `${root.ariaLabel}: ${node.dataset.name ?? node.className}`);
  });
}"""


def test_nothing_sticks_out_of_a_board_on_a_page_between(laptop):
    for width in (640, 740, 1366):  # between a phone and a laptop, as marimo's pages are; and back again
        laptop.set_viewport_size({"width": width, "height": 768})
        assert laptop.evaluate(STICKS_OUT) == [], width
        shrunk = "board => !board.classList.contains('narrow') && parseFloat(getComputedStyle(board).fontSize) < 16"
        assert any(of_each(laptop, shrunk).values()) == (width < 1000)  # before they are drawn as on a phone


# What is touched: every cell (its switch or number fills it), buttons, menus, sliders; not the numbers within a sum,
# which are words of a sentence, and lead to cells.
TOO_SMALL = """root => [...root.querySelectorAll("td.cell, button:not(.leaf, .switch), select, [type=range]")]
  .filter((node) => {
    const { width, height } = node.getBoundingClientRect();
    return width && (width < 44 || height < 44);
  }).map((node) => node.outerHTML.slice(0, 90))"""


@pytest.fixture(scope="module", params=[(390, 844), (844, 390)], ids=["upright", "lying"])
def too_small(request, open_page):
    page = open_page(*request.param, has_touch=True)
    found = of_each(page, TOO_SMALL)
    number = page.locator("#by_hand td.input input").first
    number.tap()
    found["by_hand"] += board(page, "by_hand").evaluate(TOO_SMALL)  # the buttons that change it
    return found


@pytest.mark.parametrize("name", BOARDS)
def test_on_a_phone_what_is_touched_is_as_large_as_a_fingertip(too_small, name):
    assert too_small[name] == []


def test_on_a_phone_nothing_is_wider_than_the_phone(phone):
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


# The heights of a board, taken where more is said than before of the same panel: every look at a size costs a layout.
TAKEN = """((root) => {
  const heights = [], take = () => heights.push(root.getBoundingClientRect().height);
  const said = () => root.querySelector(".why").textContent.length + root.querySelector(".hint").textContent.length;
  let most = 0;
  return { heights, take, begin: () => (most = 0), look: () => said() > most && ((most = said()), take()) };
})(root)"""
# While each of its cells is looked at, and while the last of each panel has the focus.
HEIGHTS = (
    f"root => {{ const {{ heights, take, begin, look }} = {TAKEN};"
    + """
  take();
  for (const panel of root.querySelectorAll(".panel")) {
    const cells = [...panel.querySelectorAll("td.cell, .small-head")];
    if (!panel.getClientRects().length || !cells.length) continue;
    begin();
    for (const cell of cells) (cell.dispatchEvent(new MouseEvent("mouseenter")), look());
    cells.at(-1).dispatchEvent(new MouseEvent("mouseleave"));
    (cells.at(-1).querySelector("input, button") ?? cells.at(-1)).focus();
    take();
    document.activeElement.blur();
  }
  return heights;
}"""
)


@pytest.fixture(scope="module")
def on_a_phone(phone):
    return of_each(phone, HEIGHTS)


@pytest.mark.parametrize("name", BOARDS)
def test_height_on_a_phone_stays_when_a_cell_is_looked_at(on_a_phone, name):
    heights = on_a_phone[name]
    assert len(heights) > 6
    assert max(heights) - min(heights) < 0.5, sorted(set(heights))


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


# ------------------------------------------------------------------------------------------------ without a script


def test_without_a_script_the_tables_stand_beside_each_other(open_page):
    saved = open_page(java_script_enabled=False).evaluate(
        """() => [...document.querySelectorAll(".saved-board")].map((board) => {
          const height = (node) => node.getBoundingClientRect().height;
          return [board.parentNode.id, height(board), [...board.querySelectorAll("table")].map(height)];
        })"""
    )
    assert [name for name, *_ in saved] == [*BOARDS]
    for name, height, tables in saved:
        assert height <= 700, name
        if len(tables) > 2:
            assert height < 0.7 * sum(tables), name


# ------------------------------------------------------------------------------------------------ by keyboard alone


@pytest.fixture(scope="module")
def in_order(laptop):
    return of_each(laptop, "root => [...root.querySelectorAll('.panel')].map((panel) => panel.dataset.name)")


@pytest.mark.parametrize("name", BOARDS)
def test_tab_reaches_a_result_after_what_it_is_computed_from(in_order, name):
    order, shown = in_order[name], BOARDS[name]()
    panels = shown.spec["panels"]
    choosing = {panel["when"][0] for panel in panels if panel["when"]}  # what stands between others at times
    choosing |= {panel["options"]["chosen"] for panel in panels if panel["role"] == "choice"}
    for control in [control for control in shown.spec["controls"] if control["name"] in choosing]:
        before = shown.settings[control["name"]]
        for value in [*control["values"], before]:
            pairs = true_dependencies(shown.change(**{control["name"]: value}))
            assert [pair for pair in pairs if order.index(pair[0]) > order.index(pair[1])] == [], value
    pairs = true_dependencies(shown)
    assert [pair for pair in pairs if order.index(pair[0]) > order.index(pair[1])] == []


# Of each panel: how many stops it has before and after, how many cells the right arrow does not come to, and whether
# Tab comes back to the last; and the heights of the board on the way.
WALKED = (
    f"root => {{ const walked = [], {{ heights, take, begin, look }} = {TAKEN};"
    + """
  take();
  for (const panel of root.querySelectorAll(".panel")) {
    if (!panel.getClientRects().length || !panel.querySelector("[tabindex]")) continue;
    const cells = [...panel.querySelectorAll("td.result, td input, .switch")];
    const stops = () => panel.querySelectorAll("[tabindex='0']").length, before = stops(), last = cells.at(-1);
    let come = 0;
    begin();
    cells[0]?.focus();
    for (; come < cells.length && document.activeElement === cells[come]; come += 1) {
      look();
      cells[come].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    }
    for (const head of panel.querySelectorAll(".small-head")) (head.focus(), take());
    document.activeElement.blur();
    cells[0]?.closest("td").dispatchEvent(new MouseEvent("mouseenter"));
    take();
    cells[0]?.closest("td").dispatchEvent(new MouseEvent("mouseleave"));
    walked.push([panel.dataset.name, before, stops(), cells.length - come, !last || last.tabIndex === 0]);
  }
  return [walked, heights, root.querySelectorAll("[tabindex='0']").length];
}"""
)


@pytest.fixture(scope="module")
def by_keyboard(laptop):
    return of_each(laptop, WALKED)


@pytest.mark.parametrize("name", BOARDS)
def test_a_panel_is_one_tab_stop_and_arrows_walk_through_it(by_keyboard, name):
    walked, heights, stops = by_keyboard[name]
    assert len(walked) > 1
    assert [panel for panel in walked if panel[1:] != [1, 1, 0, True]] == []
    assert stops < 20
    assert len(heights) > 6
    assert max(heights) - min(heights) < 0.5, sorted(set(heights))


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
        assert picture.locator(".cross").bounding_box()["y"] >= box["y"] - 1
    big.mouse.click(box["x"] + box["width"] * 0.99, box["y"] + box["height"] * 0.99)
    for key in ("ArrowDown", "ArrowRight"):
        big.keyboard.press(key)
        assert "the head chosen 29 → 29: " in big.locator(".spoken").inner_text()
        cross = picture.locator(".cross").bounding_box()
        for side, length in (("x", "width"), ("y", "height")):
            assert cross[side] + cross[length] <= box[side] + box[length] + 1
    dark = picture.locator("canvas").evaluate(
        """canvas => { const at = (x, y) => canvas.getContext("2d").getImageData(x, y, 1, 1).data[3];
           return [at(29, 0), at(0, 29)]; }"""
    )
    assert dark[0] > 100 > dark[1]


def test_every_head_of_many_is_drawn(alone):
    page = alone("big", heads_board(torch.eye(24).expand(40, 24, 24)))
    drawn = """canvases => canvases.map(canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, 2, 2);
      return [data[3], data[7]];
    })"""
    pixels = page.locator(".small-head canvas").evaluate_all(drawn)
    assert len(pixels) == 40 and all(on > 3 * off > 0 for on, off in pixels)


def test_steps_are_played_one_after_the_other_to_the_last(alone):
    switch = Input(torch.ones(1, 1), toggle=True)
    steps = [("b", op.exp("a")), ("c", op.exp("b")), Step("d", op.exp("c"), at=(1, 2))]
    page = alone("three", Board({"a": switch}, steps))
    shown = board(page, "three")
    shown.evaluate("board => (board.style.transform = 'scale(0.5)')")
    choose(shown, "Large type")  # now lines are drawn anew
    drawn = [(begin, end) for begin, end, _ in shown.evaluate(DRAWN)]
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


# While the steps of a board are played: what its arithmetic lies on of that which the next step reads.
IN_THE_WAY = """root => {
  root.scrollIntoView({ block: "center" });
  const wrong = [], count = Number(root.querySelector(".player input").max);
  for (let k = 0, why = null; !root.querySelector(".player").hidden && k <= count; k += 1) {
    root.querySelector("[aria-label='Step on']").click();
    for (const table of root.querySelectorAll("table:has(.lit)")) {
      const { left, right, top, bottom } = table.querySelector("tbody").getBoundingClientRect();
      const hidden = why && left < why.right && right > why.left && top < why.bottom && bottom > why.top;
      if (hidden) wrong.push(`${k}: ${table.closest(".panel").dataset.name}`);
    }
    why = root.querySelector(".why:not([hidden])")?.getBoundingClientRect();
  }
  root.querySelector("[title='Back to the example']").click();
  document.activeElement.blur();
  return wrong;
}"""


def test_arithmetic_lies_on_nothing_that_the_next_step_reads(laptop):
    assert {name: wrong for name, wrong in of_each(laptop, IN_THE_WAY).items() if wrong} == {}


def test_nothing_moves_when_a_task_is_done_and_its_words_change(phone):
    shown = board(phone, "two_heads")
    top = "root => root.querySelector('.flow').getBoundingClientRect().top - root.getBoundingClientRect().top"
    tops = [shown.evaluate(top)]
    for place in ("row 1 column 1", "row 2 column 2"):
        shown.get_by_label(f"W_o {place}", exact=True).fill("0")
        phone.keyboard.press("Enter")
    shown.get_by_text("✓ Now say why.").wait_for()
    tops.append(shown.evaluate(top))
    shown.get_by_role("combobox", name="Which part of W_o").select_option("1")
    shown.get_by_text("✓ Done.").wait_for()
    tops.append(shown.evaluate(top))
    assert max(tops) - min(tops) < 0.5
    choose(shown, "Reset")


def test_matrices_that_were_learned_are_no_steps_to_play(laptop):
    shown = board(laptop, "induction")
    shown.get_by_role("combobox", name="Matrices").select_option("learned")
    assert shown.locator("[data-name='M learned']").is_visible() and not shown.locator(".player").is_visible()
    choose(shown, "Reset")


# ------------------------------------------------------------------------------------------------- what is painted


def test_queries_keys_and_values_have_three_colours(laptop):
    colour = "title => getComputedStyle(title).color"
    titles = [board(laptop, "by_hand").locator(f"[data-name={name}] b") for name in ("queries", "keys", "values")]
    assert len({title.evaluate(colour) for title in titles}) == 3


def test_on_paper_a_board_has_its_matrices_and_nothing_to_press(laptop):
    laptop.emulate_media(media="print")
    visible = "board => [...board.querySelectorAll('.tools, .foot')].some((e) => e.getClientRects().length)"
    assert not any(of_each(laptop, visible).values())
    assert all(of_each(laptop, "board => board.querySelector('.panel').getClientRects().length > 0").values())
    laptop.emulate_media(media="screen")


def test_sums_of_shares_read_1_and_numbers_fit_their_cells(laptop):
    assert board(laptop, "mask").locator("td[aria-label^='sum of each row']").all_inner_texts() == ["1"] * 4
    for name in BOARDS:
        wide = (
            board(laptop, name)
            .locator("td.result:visible")
            .evaluate_all(
                """cells => cells.filter((cell) => {
              const words = document.createRange();
              words.selectNodeContents(cell);
              return words.getBoundingClientRect().width > cell.clientWidth;
            }).map((cell) => cell.getAttribute("aria-label"))"""
            )
        )
        assert wide == []


def test_a_share_is_painted_as_strong_as_it_is(laptop):
    strengths = "cells => cells.map((cell) => parseFloat(cell.style.getPropertyValue('--share')))"
    painted = board(laptop, "by_hand").locator("[data-name=weights] td.result").evaluate_all(strengths)
    weights = BOARDS["by_hand"]().results["weights"]
    assert painted == pytest.approx((100 * weights).flatten().tolist(), abs=0.051)


def test_a_computed_mask_has_the_signs_of_a_clicked_one(laptop):
    shown = board(laptop, "mask")
    shown.get_by_role("combobox", name="Preset").select_option("causal")
    assert shown.locator("[data-name=allowed] tbody tr").first.locator("td").all_inner_texts() == ["✓", "✕", "✕", "✕"]
    choose(shown, "Reset")


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


def test_curves_are_the_heavier_the_larger_their_weight(alone):
    page = alone("few", heads_board(torch.tensor([[[0.99, 0.01], [0.05, 0.95]]])))
    page.get_by_role("combobox", name="Curves").select_option("shown")
    looks = "all => all.map((path) => [path.getAttribute('stroke-width'), path.getAttribute('opacity')].map(Number))"
    large, small, less = page.locator(".arcs path").evaluate_all(looks)  # of 0.99, 0.05 and 0.95
    assert all(a > b > 3 * c for a, b, c in zip(large, less, small, strict=True))


# What is not seen whole of what is said of a number while it is changed.
CUT = """root => {
  const told = root.querySelector(".line .told"), cut = [];
  for (const input of root.querySelectorAll("td.cell input")) {
    if (!input.getClientRects().length) continue;
    input.focus();
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true, cancelable: true }));
    if (told.scrollHeight > told.clientHeight + 1) cut.push(told.textContent);
  }
  document.activeElement.blur();
  return cut;
}"""


@pytest.mark.parametrize("width, height", [(1366, 768), (900, 768), (700, 768), (390, 844)])
def test_what_a_changed_number_moves_is_said_in_full(open_page, width, height):
    cut = of_each(open_page(width, height, reduced_motion="reduce"), CUT)
    assert {name: said for name, said in cut.items() if said} == {}


def test_on_a_phone_a_long_name_moves_nothing(alone):
    rows = ("a name that is far longer than a phone is wide, " * 3, "short")
    page = alone("long", Board({"inputs": Input(torch.ones(2, 2), rows=rows)}, [("twice", op.scale("inputs", by=2))]))
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".attn-board.narrow").wait_for()
    assert not page.get_by_role("button", name="one more").is_visible()  # before a number was tapped
    assert not page.locator(".player").is_visible()  # there is but one step
    heights = board(page, "long").evaluate(HEIGHTS)
    assert len(heights) > 4 and max(heights) - min(heights) < 0.5, heights
    page.locator("td input").first.focus()
    bottoms = page.locator(".line, .line .told").evaluate_all("all => all.map((e) => e.getBoundingClientRect().bottom)")
    assert bottoms[1] <= bottoms[0] + 0.5  # a third line would be cut through
    page.set_viewport_size({"width": 1366, "height": 768})


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


# Of the last result of each panel: what is wrong while it is asked about, if anything: its sum is cut, or lies over it,
# or is out of sight.
ASKED = """root => [...root.querySelectorAll(".panel")].flatMap((panel) => {
  const isShown = (one) => one.textContent && one.getClientRects().length;
  const cell = [...panel.querySelectorAll("td.result")].findLast(isShown);
  if (!cell) return [];
  cell.focus();
  if (root.matches(".folded")) cell.scrollIntoView({ block: "nearest" });
  else root.scrollIntoView();
  const why = root.querySelector(".why"), wrong = [];
  const box = (node) => node.getBoundingClientRect();
  if (!why.hidden) {
    const line = box(root.querySelector(".line")), end = box(why.lastElementChild), asked = box(cell);
    if (end.bottom > line.bottom + 1 || end.right > line.right + 1) wrong.push("cut");
    if (line.top < 0 || line.bottom > innerHeight + 1) wrong.push("out of sight");
    const hidden = [cell, ...(root.matches(".folded") ? [] : root.querySelectorAll(".lit"))].some((node) => {
      const { left, right, top, bottom } = box(node);
      return bottom > line.top + 1 && top < line.bottom && left < line.right && right > line.left;
    });
    if (hidden) wrong.push("covers what it speaks of");
  }
  document.activeElement.blur();
  return wrong.map((one) => `${panel.dataset.name}: ${one}`);
})"""


@pytest.mark.parametrize("size", [(390, 844), (844, 390), (800, 768), (1366, 768), (1366, 620)])
def test_arithmetic_is_whole_in_sight_and_hides_nothing(open_page, size):
    page = open_page(*size, has_touch=min(size) < 400)
    assert {name: wrong for name, wrong in of_each(page, ASKED).items() if wrong} == {}


def test_on_a_phone_the_player_and_the_sum_have_room(open_page):
    phone = open_page(390, 844, has_touch=True)
    shown = board(phone, "by_hand")
    assert not shown.locator(".stepper").is_visible()  # before a number was tapped
    assert not board(phone, "reshape").locator(".stepper").is_visible()  # which has none to change
    shown.locator("td.result:visible").first.tap()
    assert shown.locator(".line").bounding_box()["width"] > 300
    assert shown.get_by_role("button", name="Play the steps").is_visible()
    shown.get_by_role("button", name="More", exact=True).tap()
    assert not shown.get_by_text("Large type").is_visible()
    phone.keyboard.press("Escape")


def test_on_a_phone_a_step_that_is_played_is_in_sight(open_page):
    shown = board(open_page(390, 844, has_touch=True, reduced_motion="reduce"), "by_hand")
    shown.scroll_into_view_if_needed()
    shown.get_by_role("button", name="Play the steps").tap()
    shown.get_by_role("button", name="Pause").tap()
    for name in ("keys", "values", "scores", "weights", "outputs"):
        shown.get_by_role("button", name="Step on").tap()
        panel, foot = shown.locator(f"[data-name={name}]").bounding_box(), shown.locator(".foot").bounding_box()
        assert panel["y"] >= 0 and panel["y"] + panel["height"] <= foot["y"] + 0.5, name
    choose(shown, "Reset")


# As in JupyterLab on a laptop with its list of files.
def test_a_board_is_no_higher_than_what_it_is_seen_in(open_page):
    heights = of_each(open_page(934, 647), "board => board.getBoundingClientRect().height")
    too_high = {name for name, height in heights.items() if height > 647}
    # matrices of seven and eight rows, more than there is room for side by side: their foot stays in sight
    assert too_high <= {"cache", "induction"}, too_high
