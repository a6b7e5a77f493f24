"""A page without a kernel on which the boards' JavaScript can be asked for what it computes."""

import base64
import json
import math

from authors.site import boards_in_pages
from workbench.board.board import script

NAMES = (
    "Engine, explained, counted, CONDITIONS, OPERATIONS, evaluate, sources, spelledOut, plainText, randomMatrix,"
    " read, readNumber, readNumbers, written, exact, wire"
)
# A board's engine on the traits that Python sends, as a page has it where nobody answers.
ENGINE = """
window.engineOf = (text) => {
  const traits = JSON.parse(text), bytes = (b) => Uint8Array.from(atob(b), (c) => c.charCodeAt(0));
  traits.films = Object.fromEntries(Object.entries(traits.films).map(([name, b]) => [name, bytes(b)]));
  return new Engine({ alone: true, get: (name) => traits[name], set() {}, on() {}, save_changes() {} });
};
window.words = (x) => Array.isArray(x) || ArrayBuffer.isView(x) ? Array.from(x, words)
  : typeof x !== "number" || Number.isFinite(x) ? x : { NaN: "nan", Infinity: "inf", "-Infinity": "-inf" }[String(x)];
window.valuesOf = (engine) => Object.fromEntries(engine.steps.map((s) => [s.name, words(engine.values[s.name])]));
"""


def open_page(browser):
    page = browser.new_page()
    page.set_content("<p>A page without a kernel.</p>")
    source = script().replace("export default ", "window.widget = ")
    page.add_script_tag(content=f"{source}\nObject.assign(window, {{ {NAMES} }});{ENGINE}")
    return page


def awake(shown):
    """Boards of a page, and what brings them to life."""
    return f"{shown}<script>{boards_in_pages.script()}attnBoards.wakeAll(document)</script>"


def values_of(page, *boards_as_text):
    """What the page computes for each of these boards, as their `traits` tell: step → rows."""
    return json.loads(page.evaluate("(all) => JSON.stringify(all.map(engineOf).map(valuesOf))", list(boards_as_text)))


def traits(board):
    films = {name: base64.b64encode(data).decode() for name, data in board.films.items()}
    return json.dumps({"spec": board.spec, "films": films, "now": board.now, "heard": board.heard})


def assert_close(theirs, ours, where, tolerance=1e-9):
    """Nested lists from the page against a tensor, nan and infinities included."""
    ours = ours.tolist() if hasattr(ours, "tolist") else ours
    if isinstance(ours, list):
        assert len(theirs) == len(ours), where
        for a, b in zip(theirs, ours, strict=True):
            assert_close(a, b, where, tolerance)
    else:
        a, b = float(theirs), float(ours)
        same = math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)  # infinity is near nothing but itself
        assert same or (math.isnan(a) and math.isnan(b)), (where, a, b)
