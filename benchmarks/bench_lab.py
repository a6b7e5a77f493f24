"""A lesson in JupyterLab with the course's extension and without: typing, scrolling, a board's slider, in turn.

One JupyterLab, one browser, two windows on the same lesson; in the second the extension does not come. What counts on a
busy machine are the ratios. --quick: fewer rounds.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/helpers")]

import nbformat
from lab_page import FLAGS, QUICKEST, Lab, jupyterlab
from playwright.sync_api import sync_playwright

from authors.browsers import browser_here
from workbench import copies

LESSON = "01_by_hand.ipynb"
FIGURE = "bank_figure()"
BOARD = ".attn-figure"
# Milliseconds from this act to after the frame is painted that shows it; or from the next key that goes down.
PAINTED = """
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(performance.now());
    port2.postMessage(0);
  }));
"""
SCROLL = f"""async (by) => {{{PAINTED}
  const scroller = document.querySelector(".jp-WindowedPanel-outer");
  const start = performance.now();
  scroller.scrollTop += by;
  return await painted() - start;
}}"""
NEXT_KEY = f"""() => {{{PAINTED}
  window.taken = null;
  window.addEventListener("keydown", async () => {{
    const start = performance.now();
    await new Promise((done) => setTimeout(done));
    window.taken = await painted() - start;
  }}, {{ capture: true, once: true }});
}}"""


def window(browser, address, *, is_plain):
    """The lesson, and its cell with a board, which has run."""

    def without_the_extension(page):
        page.route("**/attention/page/lab/lesson.js*", lambda route: route.abort())

    lab = Lab(browser, address, f"my/{LESSON}", before=without_the_extension if is_plain else None)
    cell = lab.page.locator(".jp-CodeCell", has_text=FIGURE).last
    cell.locator(".cm-content").click()
    lab.page.keyboard.press("Control+Enter")
    lab.page.locator(f"{BOARD} input").first.wait_for()
    return lab.page, cell


def key(page, name):
    page.evaluate(NEXT_KEY)
    page.keyboard.press(name)
    return page.wait_for_function("window.taken").json_value()


def acts(page, cell, n):
    """One round: a letter typed into code, steps down or up the whole lesson, a slider moved."""
    cell.locator(".cm-content").click()
    page.keyboard.press("End")
    yield "a letter in a cell", key(page, "x")
    page.keyboard.press("Backspace")
    slider = page.locator(f"{BOARD} input").first
    slider.focus()
    yield "a step of a slider", key(page, "ArrowLeft" if n % 2 else "ArrowRight")
    for _ in range(10):
        yield "a screen further", page.evaluate(SCROLL, 600 if n % 2 else -600)


def measure(browser, rounds):
    taken = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "notebooks").mkdir()
        (folder / "notebooks" / LESSON).write_bytes((ROOT / "notebooks" / LESSON).read_bytes())
        copies.bring_up_to_date(folder)
        copy = nbformat.read(folder / "my" / LESSON, 4)
        for cell in copy.cells:
            if cell.source == FIGURE:  # as somebody has it who runs no other cell
                cell.source = f"from workbench.board.lessons import bank_figure; {FIGURE}"
        nbformat.write(copy, folder / "my" / LESSON)
        with jupyterlab(folder) as address:
            windows = [window(browser, address, is_plain=is_plain) for is_plain in (True, False)]
            for n in range(rounds):
                for k in (0, 1) if n % 2 else (1, 0):
                    page, cell = windows[k]
                    page.bring_to_front()
                    for what, time in acts(page, cell, n):
                        taken.setdefault(what, ([], []))[k].append(time)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    rounds = 6 if parser.parse_args().quick else 30
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_here(first=QUICKEST), args=FLAGS)
        taken = measure(browser, rounds)
        browser.close()
    print(f"load {os.getloadavg()[0]:.1f}")
    print("| median, ms | without | with the extension | ratio |\n|---|---|---|---|")
    for what, both in taken.items():
        plain, lesson = map(statistics.median, both)
        print(f"| {what} | {plain:.1f} | {lesson:.1f} | {lesson / plain:.2f} |")


if __name__ == "__main__":
    main()
