"""`course.py present`: in a JupyterLab set up for a hall a notebook runs, slides fit, and keys stay in boards.

One page on notebook 1 stands for all: every slide of every notebook is measured as a stand-alone deck (test_slides.py).
"""

import shutil

import nbformat
import pytest
from lab_page import ROOT, TOO_SMALL, Lab, jupyterlab

from authors import speaker

NAME = "01_by_hand"
HALL = (1920, 1080)

# Show the slide that ends with this cell, fragments and all; then what of it does not fit, or is too small to read.
MEASURE = f"""async (last) => {{
  {TOO_SMALL}
  jupyterapp.shell.currentWidget.content.activeCellIndex = last;
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  const cells = [...document.querySelectorAll(".jp-deck-mod-onscreen")];
  const boxes = cells.map((cell) => cell.getBoundingClientRect());
  const wide = cells.flatMap((cell) => [...cell.querySelectorAll("pre, img, table, .attn-board, .cm-line")]);
  return {{
    cells: cells.length,
    small: tooSmall(cells.flatMap((cell) => [...cell.querySelectorAll("*")])),
    top: Math.min(...boxes.map((box) => box.top)),
    bottom: Math.max(...boxes.map((box) => box.bottom)),
    right: Math.max(0, ...wide.map((node) => node.getBoundingClientRect().right)),
  }};
}}"""


@pytest.fixture(scope="module")
def cells():
    return nbformat.read(ROOT / "notebooks" / f"{NAME}.ipynb", as_version=4).cells


@pytest.fixture(scope="module")
def hall(browser, tmp_path_factory):
    """A page of JupyterLab as `course.py present` starts it; tests act on it one after the other, as in a lecture."""
    folder = tmp_path_factory.mktemp("hall")
    shutil.copytree(ROOT / "img", folder / "img")
    (folder / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / f"{NAME}.ipynb", folder / "notebooks")
    shutil.copytree(ROOT / "authors/present/settings", folder / ".settings")
    shutil.copytree(ROOT / "authors/present/config", folder / ".CONFIG")
    with jupyterlab(folder, ["--LabApp.custom_css=True", "--LabApp.expose_app_in_browser=True"]) as address:
        lab = Lab(browser, address, f"notebooks/{NAME}.ipynb", HALL)
        lab.page.wait_for_selector("[data-jp-deck-mode=presenting] .jp-deck-mod-visible")
        yield lab
        lab.close()


@pytest.fixture(scope="module")
def run(hall):
    """The same page with every cell run."""
    hall.page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    return hall.wait_until_run()


def ends_of_slides(cells):
    """For each slide the index of its last cell that is shown."""
    begins = [cells.index(cell) for cell in speaker.slides(nbformat.from_dict({"cells": cells}))]
    shown = [i for i, c in enumerate(cells) if c.metadata.get("slideshow", {}).get("slide_type") != "skip"]
    return [max(i for i in shown if i < end) for end in [*begins[1:], len(cells)]]


def test_slides_begin_at_once_and_keys_turn_them_and_run_cells(hall):
    page = hall.page
    page.get_by_role("heading", name="1. Attention by hand").wait_for()
    assert not page.get_by_role("heading", name="One word, two meanings").is_visible()
    for _ in range(2):  # to the imports below the title, and on
        page.keyboard.press("Space")
    page.get_by_role("heading", name="One word, two meanings").wait_for()
    for _ in range(2):
        page.keyboard.press("Shift+Space")
    page.get_by_role("heading", name="1. Attention by hand").wait_for()
    for _ in range(2):
        page.keyboard.press("Shift+Enter")
    page.get_by_role("heading", name="One word, two meanings").wait_for()
    page.wait_for_function("document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[0].textContent === '[1]:'")


def test_a_notebook_runs_without_a_complaint_and_every_slide_fits(run, cells):
    page = run.page
    errors = page.locator("[data-mime-type='application/vnd.jupyter.error']")
    assert errors.count() == 0, errors.first.inner_text()
    broken = "[...document.querySelectorAll('.jp-Notebook img')].filter((i) => i.complete && !i.naturalWidth)"
    assert page.evaluate(f"{broken}.map((i) => i.src.slice(0, 80))") == []
    assert run.complaints == []
    for last in ends_of_slides(cells):
        found = page.evaluate(MEASURE, last)
        fits = found["top"] >= 0 and found["bottom"] <= HALL[1] and found["right"] <= HALL[0]
        assert found["cells"] and fits and not found["small"], (last, found)


def test_keys_typed_into_a_board_stay_there_and_its_left_edge_takes_clicks(run, cells):
    page = run.page
    board_cell = next(i for i, cell in enumerate(cells) if cell.source == "by_hand_explorer()")
    page.evaluate("(index) => (jupyterapp.shell.currentWidget.content.activeCellIndex = index)", board_cell)
    board = page.get_by_role("group", name="Self-attention by hand", exact=True)
    first = board.get_by_label("inputs X I, column 1", exact=True)
    first.click()
    for key in ("2", "Enter", "ArrowUp", "ArrowRight", "Space", "Escape", "b", "d", "d"):
        page.keyboard.press(key)
    board.get_by_text("inputs X like, column 1 is now 1.").wait_for()
    assert first.input_value() == "2"
    # JupyterLab lays a fold button over the leftmost strip of an output, where this button is
    board.get_by_role("button", name="Undo").click(position={"x": 5, "y": 5})
    board.get_by_text("Undone.").wait_for()
    board.get_by_label("outputs I, column 1:").click()
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert board.is_visible()
    assert page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex") == board_cell
    assert page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length") == len(cells)
