"""Speaker notes: every slide has some, they fill the time that the notebook names, and a page shows them."""

import re
from pathlib import Path

import nbformat
import pytest

from authors import notes, speaker

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def test_the_first_cell_is_a_slide_and_every_section_begins_one(notebook):
    beginnings = speaker.slides(notebook)
    assert beginnings[0] is notebook.cells[0]
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and re.match("#{1,2} ", cell.source):
            assert cell.metadata["slideshow"]["slide_type"] == "slide", cell.source[:40]
        # "-" hides a cell in JupyterLab's slides, and a note cell is read by learners too
        assert cell.metadata.get("slideshow", {}).get("slide_type") in (None, "slide", "subslide", "fragment", "skip")


def test_every_slide_tells_the_speaker_something_and_nothing_else_does(notebook):
    beginnings = {cell.id for cell in speaker.slides(notebook)}
    for cell in notebook.cells:
        if cell.id in beginnings:
            assert set(cell.metadata["speaker"]) == {"minutes", "say", "ask"}, cell.source[:60]
            assert cell.metadata["speaker"]["say"], cell.source[:60]
        else:
            assert "speaker" not in cell.metadata, cell.source[:60]


def test_every_prediction_is_put_to_the_hall(notebook):
    asked = False
    for cell in notebook.cells:
        if "speaker" in cell.metadata:
            asked = bool(cell.metadata["speaker"]["ask"])
        if cell.cell_type == "markdown" and "**Predict" in cell.source:
            assert asked, cell.source[:80]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_slides_take_the_minutes_that_instructors_are_told(path):
    told = (path.parent / "INSTRUCTORS.md").read_text(encoding="utf-8")
    minutes = int(re.search(rf"\]\({path.name}\), (\d+) minutes", told)[1])
    slides = speaker.slides(nbformat.read(path, as_version=4))
    assert sum(speaker.notes_of(cell)["minutes"] for cell in slides) == minutes


def test_the_page_of_notes_lights_the_slide_that_is_due(browser, tmp_path):
    path = NOTEBOOKS[0]
    target = tmp_path / "notes.html"
    target.write_text(notes.page(path), encoding="utf-8")
    page = browser.new_page()
    page.clock.install(time=0)
    page.goto(target.as_uri())
    beginnings = speaker.slides(nbformat.read(path, as_version=4))
    minutes = [speaker.notes_of(cell)["minutes"] for cell in beginnings]
    planned = page.get_by_role("listitem").evaluate_all("(rows) => rows.map((row) => Number(row.dataset.from))")
    assert planned == [sum(minutes[:i]) for i in range(len(minutes))]
    page.get_by_role("button", name="Start the clock").click()
    page.clock.run_for(1000)
    assert page.locator("li.now").count() == 1
    first = speaker.notes_of(beginnings[0])["minutes"]
    page.clock.run_for(int(first * 60_000))
    assert page.locator("li.now").first.evaluate("(row) => row.dataset.from") == str(first)
    page.get_by_role("button", name="Stop the clock").click()
    shown = page.get_by_role("timer").inner_text()
    page.clock.run_for(60_000)
    assert page.get_by_role("timer").inner_text() == shown
    page.close()
