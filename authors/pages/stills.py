"""Boards as still pictures, for a reader whose page runs no script: each is kept as a browser would print it."""

import base64
import io
import tempfile
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from workbench.display import colours

from ..browsers import browser_here
from . import boards_in_pages, faces, needs

WIDTH = 980  # of a page on GitHub, beside the numbers of cells
SHARPNESS = 1.5  # pixels in the width of one
COLOURS = 96  # a picture of few colours is a third as large
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>A board</title>
<style>{style} body {{ margin: 0 }} .saved-board {{ padding: 16px; background: var(--paper) }}</style>
{board}<script>{script}attnBoards.wakeAll(document)</script></html>"""


def stills(values):
    """id of a board's cell → PNG in base64, for each board of what `run_here` returns."""
    boards = {id: one for id, one in values.items() if "saved-board" in one.html}
    if not boards:
        return {}
    with pages() as photograph:
        return {id: photograph(one.html) for id, one in boards.items()}


@contextmanager
def pages():
    """A function that takes a board's HTML to its picture."""
    style = faces.embedded() + colours.tokens() + needs.style(boards_in_pages.STYLE)
    script = boards_in_pages.script()
    look = {"color_scheme": "light", "reduced_motion": "reduce", "device_scale_factor": SHARPNESS}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_here(), args=["--no-sandbox"])
        page = browser.new_page(**look, viewport={"width": WIDTH, "height": 800})
        file = Path(folder) / "board.html"

        def photograph(board):
            file.write_text(PAGE.format(style=style, board=board, script=script), encoding="utf-8")
            page.emulate_media(media="screen")
            page.goto(file.as_uri())
            page.evaluate("document.fonts.ready")
            board = page.locator(".saved-board")
            board.locator(".attn-board, .attn-figure").first.wait_for()
            page.emulate_media(media="print")  # without what could only be pressed
            return in_few_colours(board.screenshot(animations="disabled"))

        yield photograph
        browser.close()


def in_few_colours(png):
    """A PNG again, smaller, in base64."""
    image = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()
