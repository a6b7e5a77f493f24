"""A page without a kernel on which the boards' JavaScript can be asked for what it computes."""

import base64
import json
import math

from paths import ROOT

from authors.pages import boards_in_pages
from workbench.board import live, modules


def open_page(browser):
    page = browser.new_page()
    page.set_content("<p>A page without a kernel.</p>")
    script = modules.script(ROOT / "tests/helpers/board_page.js", before=live.OF_LESSONS)
    page.add_script_tag(content=script)
    return page


def awake(shown):
    """Boards of a page, and what brings them to life."""
    return f"{shown}<script>{boards_in_pages.script()}attnBoards.wakeAll(document)</script>"


def values_of(page, *boards_as_text):
    """What the page computes for each of these boards, as their `traits` tell: step → rows."""
    return json.loads(page.evaluate("(all) => JSON.stringify(all.map(engineOf).map(valuesOf))", list(boards_as_text)))


def traits(board):
    frames = {name: base64.b64encode(data).decode() for name, data in board.frames.items()}
    return json.dumps({"spec": board.spec, "frames": frames, "state": board.state, "reply": board.reply})


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
