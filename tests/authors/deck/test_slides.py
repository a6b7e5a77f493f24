"""Slides: every one has its cells, its words and its time, and each file is read as the lecture goes."""

import re

import nbformat
import pytest
from paths import LESSONS

from authors.deck.slides import slides_of, with_cells
from authors.pages import notes


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def lecture(path):
    """Pairs of a slide and its cells."""
    return with_cells(nbformat.read(path, as_version=4).cells, slides_of(path.stem))


def test_every_section_begins_a_slide(lecture):
    """But for sections that are for a second reading, some of which no lecture has."""
    for _, (_, *others) in lecture:
        for cell in others:
            if cell.metadata.get("slideshow", {}).get("slide_type") != "skip" and cell.cell_type == "markdown":
                assert not re.match("#{1,2} (?!.*second reading)", cell.source), cell.source[:40]


def test_every_slide_asks_in_a_line_and_says_something(lecture):
    for slide, _ in lecture:
        assert 0 < len(slide.asks) <= 52 and slide.say, slide.name


def test_every_prediction_is_put_to_the_hall(lecture):
    for slide, cells in lecture:
        shown = [cell for cell in cells if cell.metadata.get("slideshow", {}).get("slide_type") != "skip"]
        if any("**Predict" in cell.source for cell in shown if cell.cell_type == "markdown"):
            assert slide.hall, slide.name


def test_choices_are_those_of_a_question_that_the_slide_asks(lecture):
    for slide, cells in lecture:
        number = slide.lesson[:2]
        asked = [cell.source for cell in cells if f'predict("{number}.{slide.choices}"' in cell.source]
        assert len(asked) == bool(slide.choices), slide.name


def test_minutes_are_said_as_on_a_clock():
    assert [notes.clock(minutes) for minutes in (0, 7.5, 12.25, 61)] == ["0:00", "7:30", "12:15", "61:00"]


def test_figures_in_the_guide_stand_in_the_notebook_or_its_slides(path):
    guide = (path.parent / "INSTRUCTORS.md").read_text(encoding="utf-8")
    section = guide.partition(f"]({path.name})")[2].partition("\n## ")[0]
    section = re.sub(r"<!--plan \d\d-->.*?<!--until here-->|^, [\d.]+ minutes", "", section, flags=re.S)  # computed
    paragraphs = [text for text in section.split("\n\n") if "board" not in text]  # what boards show has its own tests
    paragraphs = [re.sub(r"`check\(.*?\)`|^Hand out: .*", "", text) for text in paragraphs]
    said = " ".join(f"{slide.say} {slide.hall}" for slide in slides_of(path.stem))
    shown = f"{path.read_text(encoding='utf-8')} {said}".replace("−", "-")
    for figure in re.findall(r"(?<![\w.])\d+\.\d+(?![.\d])", " ".join(paragraphs)):
        there = figure in shown or f"exercise-{figure.replace('.', '-')}" in shown
        assert there, f"{figure} stands in INSTRUCTORS.md, and neither in the notebook nor in its slides' words"
