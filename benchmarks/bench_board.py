"""From a key press to the painted result, every board, in JupyterLab and on a page without a kernel: `course.py bench`.

Beside them, in the same run, what one would write first: a grid of ipywidgets whose figure is drawn anew. Painted
means painted: a message posted from the frame's callback comes after layout and paint. --quick: fewer presses.

--against FOLDER: this edition beside the one in that folder (`git worktree add FOLDER COMMIT`), on pages without a
kernel in one browser, press by press in turn, as fast as the machine is and with a processor a quarter as fast; and how
long waking a board takes. What counts on a busy machine are the ratios.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/helpers")]

import torch
from board_page import awake
from lab_page import FLAGS, QUICKEST, Lab, jupyterlab, write_notebook
from playwright.sync_api import sync_playwright

from authors.browsers import browser_here
from authors.pages import boards_in_pages
from workbench.board import lessons

PACE = 0.12  # seconds between presses, as a hand makes them
BUILD = ROOT / "build"
HEADS = "heads_board(torch.randn({0}, {1}, {1}, generator=torch.Generator().manual_seed(0)).softmax(-1))"
BOARDS = {  # what to focus, and the two keys to press in turn
    "by_hand_board()": ("[aria-label='W_q row 1 column 1']", "ArrowUp", "ArrowDown"),
    "softmax_board()": ("[aria-label^='how well each key matches key 0']", "ArrowUp", "ArrowDown"),
    "mask_board()": ("[aria-label='scores q0 → k0']", "ArrowUp", "ArrowDown"),
    "two_heads_board()": ("[aria-label^='queries I, ']", "ArrowUp", "ArrowDown"),
    "reshape_board()": (".control input", "ArrowLeft", "ArrowRight"),
    "fused_board()": ("[aria-label='keys k0, column 1']", "ArrowUp", "ArrowDown"),
    "patient_board()": ("[aria-label^='queries I, ']", "ArrowUp", "ArrowDown"),
    "learning_board()": (".control input", "ArrowRight", "ArrowLeft"),
    "position_board()": (".control input", "ArrowRight", "ArrowLeft"),
    "cache_board()": (".control input", "ArrowRight", "ArrowLeft"),
    HEADS.format(16, 64): (".small-head[tabindex='0']", "ArrowLeft", "ArrowRight"),
    HEADS.format(16, 256): (".small-head[tabindex='0']", "ArrowLeft", "ArrowRight"),
}
GRID = """\
import itertools
import ipywidgets, torch
from attn_lib.examples import W_k, W_q, W_v, X, self_attention_steps
from workbench.display.plots import heatmap_grid
from IPython.display import clear_output, display
grid = [ipywidgets.FloatText(value, step=1, layout={"width": "5em"}) for value in W_q.flatten().tolist()]
canvas, drawn = ipywidgets.Output(), itertools.count()
def redraw(_=None):
    with canvas:
        clear_output()
        steps = self_attention_steps(X, torch.tensor([cell.value for cell in grid]).reshape(W_q.shape), W_k, W_v)
        display(heatmap_grid(torch.stack([steps.weights, steps.weights]), vmin=0, vmax=1))
        display(steps.scores, steps.outputs)
        print("drawn", next(drawn))
for cell in grid:
    cell.observe(redraw, "value")
redraw()
ipywidgets.VBox([ipywidgets.GridBox(grid, layout={"grid_template_columns": "repeat(3, 6em)"}), canvas])
"""
# The time from the key going down to after the frame is painted in which the results have changed; the grid's are
# there when its last line is, not when the old ones are taken away.
WATCH = """what => {
  const drawn = (root) => root.textContent.match(/drawn \\d+/g)?.at(-1);
  const root = document.querySelector(what);
  window.pressed = null; window.times = []; window.sent = [];
  const painted = (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = then;
    port2.postMessage(0);
  });
  let last = drawn(root);
  const isGrid = Boolean(last);
  document.addEventListener('keydown', () => { window.pressed = performance.now(); }, true);
  new MutationObserver(() => {
    if (window.pressed === null || (isGrid && [undefined, last].includes(drawn(root)))) return;
    last = drawn(root);
    const start = window.pressed;
    window.pressed = null;
    painted(() => window.times.push(performance.now() - start));
  }).observe(root, { subtree: true, childList: true, characterData: true, attributeFilter: ['src', 'style'] });
}"""


def presses(page, scope, target, keys, count):
    """Milliseconds of every press, each made after the one before has been painted."""
    node = page.locator(target).first
    node.scroll_into_view_if_needed()
    node.focus()
    page.evaluate(WATCH, scope)
    for n in range(count):
        page.keyboard.press(keys[n % 2])
        page.wait_for_function("n => window.times.length > n", arg=n)
        time.sleep(PACE)
    return page.evaluate("window.times")


def line(name, taken, grid=None, sent=None):
    median, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    ratio = f"{statistics.median(grid) / median:.1f}" if grid else ""
    return f"| {name} | {median:.1f} | {p95:.1f} | {ratio} | {sent or ''} |"


def in_jupyterlab(browser, count):
    rows, taken, sent = [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for k, (source, _) in enumerate([*BOARDS.items(), (GRID, None)]):
            text = GRID if source == GRID else f"import torch\nfrom workbench.board.lessons import *\n{source}"
            write_notebook(Path(folder) / f"{k}.ipynb", text)
        with jupyterlab(Path(folder)) as address:
            for k, source in enumerate([*BOARDS, GRID]):
                page, bytes_sent = Lab(browser, address, f"{k}.ipynb"), []
                page.page.on("websocket", lambda s, b=bytes_sent: s.on("framesent", lambda f: b.append(len(f))))
                page.page.reload()
                page.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(state="attached")
                page.run_all()
                scope = ".jp-OutputArea-output:has(input)" if source == GRID else ".attn-board"
                target, *keys = ("input[type=number]", "ArrowUp", "ArrowDown") if source == GRID else BOARDS[source]
                page.page.locator(f"{scope} {target}").first.wait_for()
                if source == GRID:
                    page.page.get_by_text("drawn 0").wait_for()
                before = sum(bytes_sent)
                taken[source] = presses(page.page, scope, f"{scope} {target}", keys, count)
                sent[source] = (sum(bytes_sent) - before) // count
                page.close()
    rows.append(line("ipywidgets grid, figure redrawn", taken[GRID], sent=sent[GRID]))
    rows += [line(source[:60], taken[source], taken[GRID], sent[source]) for source in BOARDS]
    return rows


def on_the_site(browser, count):
    rows = []
    for source, (target, *keys) in BOARDS.items():
        board = eval(source, {**vars(lessons), "torch": torch})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "board.html"
            head = f"<!doctype html><meta charset=utf-8><style>{boards_in_pages.STYLE}</style>"
            path.write_text(f"{head}{awake(boards_in_pages.embed(board))}", encoding="utf-8")
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.goto(path.as_uri())
            rows.append(line(source[:60], presses(page, ".attn-board", f".attn-board {target}", keys, count)))
            page.close()
    return rows


# Of a page whose board sleeps yet: until it has been painted awake, and the longest task on the way.
WAKE = """() => new Promise((done) => {
  const start = performance.now();
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask" });
  attnBoards.wakeAll(document);
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(performance.now() - start);
    port2.postMessage(0);
  });
})"""
# Runs in the folder of an edition: a page for each board, by the number of its line.
PAGES = """
import sys, torch
from pathlib import Path
from authors.pages import boards_in_pages
from workbench.board import lessons
for n, source in enumerate(sys.argv[2:]):
    board = eval(source, {**vars(lessons), "torch": torch})
    head = f"<!doctype html><meta charset=utf-8><style>{boards_in_pages.STYLE}</style>"
    page = f"{head}{boards_in_pages.embed(board)}<script>{boards_in_pages.script()}</script>"
    Path(sys.argv[1], f"{n}.html").write_text(page, encoding="utf-8")
"""


def pages_of(edition, folder):
    folder.mkdir()
    command = [sys.executable, "-c", PAGES, str(folder), *BOARDS]
    subprocess.run(command, cwd=edition, env={**os.environ, "PYTHONPATH": str(edition)}, check=True)


def side_by_side(browser, other, count):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder) / name for name in ("before", "now")]
        for edition, pages in zip((other, ROOT), folders, strict=True):
            pages_of(edition, pages)
        for n, (source, (target, *keys)) in enumerate(BOARDS.items()):
            for rate in (1, 4):
                both = each_in_turn(browser, [f"{pages}/{n}.html" for pages in folders], target, keys, count, rate)
                rows.append(in_a_line(f"{source[:40]} ÷ {rate}", *both))
    return rows


def each_in_turn(browser, paths, target, keys, count, rate):
    """For each page: the time of every press, of every waking, and the longest task while it was pressed."""
    opened = [browser.new_page(viewport={"width": 1366, "height": 768}) for _ in paths]
    for page in opened:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": rate})
    waking = [[] for _ in paths]
    for _ in range(max(3, count // 10)):
        for page, path, times in zip(opened, paths, waking, strict=True):
            page.goto(Path(path).as_uri())
            times.append(page.evaluate(WAKE))
    for page in opened:
        page.locator(f".attn-board {target}").first.focus()
        page.evaluate(WATCH, ".attn-board")
        page.evaluate("window.tasks.length = 0")
    for n in range(count):
        for page in opened:
            page.keyboard.press(keys[n % 2])
            page.wait_for_function("n => window.times.length > n", arg=n)
    pressed = [page.evaluate("window.times") for page in opened]
    longest = [page.evaluate("Math.max(0, ...window.tasks)") for page in opened]
    for page in opened:
        page.close()
    return list(zip(pressed, waking, longest, strict=True))


def in_a_line(name, before, now):
    cells = [name]
    for k in (0, 1):
        old, new = (statistics.median(edition[k]) for edition in (before, now))
        cells += [f"{old:.1f}", f"{new:.1f}", f"{new / old:.2f}"]
    cells += [f"{before[2]:.0f}", f"{now[2]:.0f}"]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 presses instead of 60")
    parser.add_argument("--site", action="store_true", help="only the pages without a kernel")
    parser.add_argument("--only", default="", help="only the boards whose call contains this")
    parser.add_argument(
        "--against", type=Path, help="a folder with another edition, to be compared on the site's pages"
    )
    options = parser.parse_args()
    count = 10 if options.quick else 60
    for source in [source for source in BOARDS if options.only not in source]:
        del BOARDS[source]
    browser_path = browser_here(first=QUICKEST)
    if not browser_path:
        sys.exit("bench_board needs Chromium or Chrome; none was found.")
    head = "| key press → painted | median ms | p95 ms | times faster than the grid | bytes sent a press |\n"
    head += "| --- | --- | --- | --- | --- |\n"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        if options.against:
            text = "| board, processor | press → painted: before, ms | now | ratio | waking: before, ms | now | ratio "
            text += "| longest task at a press: before | now |\n" + "| --- " * 9 + "|\n"
            text += "\n".join(side_by_side(browser, options.against.resolve(), count)) + "\n"
            browser.close()
            print(text)
            return
        text = f"On a page without a kernel\n\n{head}" + "\n".join(on_the_site(browser, count)) + "\n"
        if not options.site:
            text += f"\nIn JupyterLab\n\n{head}" + "\n".join(in_jupyterlab(browser, count)) + "\n"
        browser.close()
    BUILD.mkdir(exist_ok=True)
    (BUILD / "bench_board.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
