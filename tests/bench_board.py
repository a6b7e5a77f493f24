"""From a key press to the repainted result, in a browser: `python course.py bench` (--quick: fewer presses).

A Board beside what one would write first: a grid of ipywidgets whose figure is drawn anew into an Output, and
`interact`. All three compute the same self-attention. Median and p95 of the presses, and the ratio to the board.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from lab_page import FLAGS, Lab, find_browser, jupyterlab, write_notebook
from playwright.sync_api import sync_playwright

PACE = 0.15  # seconds between presses, as a hand makes them
BUILD = Path(__file__).resolve().parent.parent / "build"
NOTEBOOK = """\
import ipywidgets
import torch
from attn_lib.examples import W_k, W_q, W_v, X, self_attention_steps
from attn_lib.explorers import by_hand_explorer
from attn_lib.plots import heatmap_grid
from IPython.display import clear_output, display

def draw(w_q):
    steps = self_attention_steps(X, w_q, W_k, W_v)
    display(heatmap_grid(torch.stack([steps.weights, steps.weights]), vmin=0, vmax=1))
    display(steps.scores, steps.outputs)
---
by_hand_explorer()
---
grid = [ipywidgets.FloatText(value, step=1, layout={"width": "5em"}) for value in W_q.flatten().tolist()]
canvas = ipywidgets.Output()
def redraw(_=None):
    with canvas:
        clear_output()
        draw(torch.tensor([cell.value for cell in grid]).reshape(W_q.shape))
for cell in grid:
    cell.observe(redraw, "value")
redraw()
ipywidgets.VBox([ipywidgets.GridBox(grid, layout={"grid_template_columns": "repeat(3, 6em)"}), canvas])
---
@ipywidgets.interact(a=ipywidgets.IntSlider(1, -1000, 1000))
def move(a):
    draw(torch.cat([torch.tensor([[float(a), 0, 1]]), W_q[1:]]))
"""
# The time from the key going down to the first frame after the results have changed; results reads them off the page
WATCH = """
  results => {
    window.pressed = null;
    window.times = [];
    const read = eval(results);
    let before = read();
    document.addEventListener('keydown', () => { window.pressed = performance.now(); before = read(); }, true);
    new MutationObserver(() => {
      if (window.pressed === null || read() === before || read() === '') return;
      const start = window.pressed;
      window.pressed = null;
      requestAnimationFrame(() => window.times.push(performance.now() - start));
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributeFilter: ['src'] });
  }
"""
VARIANTS = {
    "board": ('.attn-board [aria-label="W_q row 1 column 1"]', "() => cell(1).querySelector('.output').textContent"),
    "ipywidgets grid, figure redrawn": (".jp-Cell:nth-of-type(3) input[type=number]", "() => picture(2)"),
    "interact": (".jp-Cell:nth-of-type(4) .noUi-handle", "() => picture(3)"),
}
HELPERS = """() => {
  window.cell = n => document.querySelectorAll('.jp-CodeCell')[n];
  window.picture = n => { const i = cell(n).querySelectorAll('.jp-OutputArea img'); return i.length ? i[0].src : ''; };
}"""


def presses(page, selector, results, count):
    """Milliseconds of every press, each made after the one before has been seen."""
    target = page.locator(selector).first
    target.scroll_into_view_if_needed()
    target.focus()
    page.evaluate(WATCH, results)
    for n in range(count):
        page.keyboard.press("ArrowDown" if n % 2 else "ArrowUp")  # to and fro: large numbers saturate and look alike
        page.wait_for_function("n => window.times.length > n", arg=n)
        time.sleep(PACE)
    return page.evaluate("window.times")


def lag_after_holding(page, seconds=3, per_second=30):
    """Hold an arrow key, as a keyboard repeats it, and return how far behind the result is when it is let go, in ms."""
    target = page.locator(VARIANTS["board"][0]).first
    target.focus()
    for _ in range(seconds * per_second):
        page.keyboard.down("ArrowUp")
        time.sleep(1 / per_second)
    page.keyboard.up("ArrowUp")
    start = time.perf_counter()
    page.wait_for_function(
        "() => cell(1).querySelector('.said').textContent"
        " === `W_q row 1 column 1 is now ${cell(1).querySelector('[aria-label=\"W_q row 1 column 1\"]').value}.`"
    )
    return 1000 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 presses instead of 60")
    count = 10 if parser.parse_args().quick else 60
    browser_path = find_browser()
    if not browser_path:
        sys.exit("bench_board needs Chromium or Chrome; none was found.")

    rows, times = [], {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_notebook(Path(folder) / "bench.ipynb", NOTEBOOK)
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        with jupyterlab(Path(folder)) as address:
            for name, (selector, results) in VARIANTS.items():
                page = Lab(browser, address, "bench.ipynb").run_all()
                page.page.evaluate(HELPERS)
                page.page.wait_for_selector(selector)
                times[name] = presses(page.page, selector, results, count)
                if name == "board":
                    lag = lag_after_holding(page.page)
                page.close()
        browser.close()
    for name, taken in times.items():
        median, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
        rows.append(f"| {name} | {median:.0f} | {p95:.0f} | {median / statistics.median(times['board']):.1f} |")
    text = "| key press → repaint | median ms | p95 ms | ratio |\n| --- | --- | --- | --- |\n" + "\n".join(rows)
    text += f"\n\nAfter an arrow key was held for 3 s the last result was seen {lag:.0f} ms after the key went up.\n"
    BUILD.mkdir(exist_ok=True)
    (BUILD / "bench_board.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
