"""Speaker notes: every slide has some, and they fill the time that the notebook names."""

import re

import nbformat
import pytest
from paths import LESSONS as NOTEBOOKS

from authors.pages import notes


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def test_the_first_cell_is_a_slide_and_every_section_begins_one(notebook):
    """But for sections that are for a second reading, some of which no lecture has."""
    beginnings = notes.slides(notebook)
    assert beginnings[0] is notebook.cells[0]
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and re.match("#{1,2} (?!.*second reading)", cell.source):
            assert cell.metadata["slideshow"]["slide_type"] == "slide", cell.source[:40]
        # the deck leaves out "skip" alone: "-" and "notes" are nothing that it knows
        assert cell.metadata.get("slideshow", {}).get("slide_type") in (None, "slide", "subslide", "fragment", "skip")


def test_each_slide_and_no_other_cell_has_speaker_notes(notebook):
    beginnings = {cell.id for cell in notes.slides(notebook)}
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


def test_minutes_are_said_as_on_a_clock():
    assert [notes.clock(minutes) for minutes in (0, 7.5, 12.25, 61)] == ["0:00", "7:30", "12:15", "61:00"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_slides_take_the_minutes_that_instructors_are_told(path):
    told = (path.parent / "INSTRUCTORS.md").read_text(encoding="utf-8")
    minutes = int(re.search(rf"\]\({path.name}\), (\d+) minutes", told)[1])
    slides = notes.slides(nbformat.read(path, as_version=4))
    assert sum(notes.notes_of(cell)["minutes"] for cell in slides) == minutes


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_figures_in_the_guide_stand_in_the_notebook(path):
    guide = (path.parent / "INSTRUCTORS.md").read_text(encoding="utf-8")
    section = guide.partition(f"]({path.name})")[2].partition("\n## ")[0]
    paragraphs = [text for text in section.split("\n\n") if "board" not in text]  # what boards show has its own tests
    paragraphs = [re.sub(r"`check\(.*?\)`|^Hand out: .*", "", text) for text in paragraphs]
    shown = path.read_text(encoding="utf-8").replace("−", "-")
    for figure in re.findall(r"(?<![\w.])\d+\.\d+(?![.\d])", " ".join(paragraphs)):
        assert figure in shown or f"exercise-{figure.replace('.', '-')}" in shown, figure
