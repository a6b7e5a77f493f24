"""What a notebook holds for whoever presents it: in the first cell of each slide, metadata "speaker".

{"minutes": 2, "say": "where to point, what to change live", "ask": "the question for the hall [its answer]"}

`python -m authors.pages.notes`, which `course.py refresh` calls, keeps the slides that INSTRUCTORS.md names up to date.
"""

import re
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
HANDS = re.compile(r"Hands (for .+?)[.?](?=\s|$)")
BEGINS = ("slide", "subslide")  # what the metadata of a cell that begins a slide says


def notes_of(cell):
    """The speaker metadata of a cell, complete."""
    return {"minutes": 0, "say": "", "ask": "", **cell.metadata.get("speaker", {})}


def choices_of(cell):
    """What the hall raises its hands for, if the slide that begins with this cell asks so; a list."""
    deck = cell.metadata.get("deck", {})
    hands = HANDS.search(notes_of(cell)["ask"])
    listed = re.split(r",? and for |, for |, and |, | and ", hands[1].removeprefix("for ")) if hands else []
    return deck.get("choices", listed if "right" in deck else [])


def slides(notebook):
    """The cells that begin a slide, in order."""
    return [cell for cell in notebook.cells if cell.metadata.get("slideshow", {}).get("slide_type") in BEGINS]


def minutes_before(notebook):
    """Cell id → minutes into the lesson at which its slide is planned to come up."""
    planned, total = {}, 0
    for cell in slides(notebook):
        planned[cell.id] = total
        total += notes_of(cell)["minutes"]
    return planned


def slide_numbers(notebook):
    """Cell id → number of the slide that it is on, 0 before the first."""
    number, found, beginnings = 0, {}, {cell.id for cell in slides(notebook)}
    for cell in notebook.cells:
        number += cell.id in beginnings
        found[cell.id] = number
    return found


def clock(minutes):
    """7.5 as 7:30."""
    return f"{int(minutes)}:{int(minutes % 1 * 60):02d}"


# ----------------------------------------------------------------------------------------- the guide for instructors

REFERENCE = re.compile(r"<!--(?P<cell>[\w-]+)-->(?P<lesson>\d\d) slide \d+ \(“[^”]*”\)")


def with_slides(guide, notebooks):
    """The guide with the number and the heading of every slide that it names by a cell on it.

    notebooks: a lesson's two digits → its notebook. Raises: KeyError for a cell that no slide has.
    """
    found = {}
    for lesson, notebook in notebooks.items():
        heading, numbers = "", slide_numbers(notebook)
        for cell in notebook.cells:
            if cell.cell_type == "markdown" and cell.source.startswith("#"):
                heading = cell.source.splitlines()[0].lstrip("# ")
            found[lesson, cell.id] = f"<!--{cell.id}-->{lesson} slide {numbers[cell.id]} (“{heading}”)"
    return REFERENCE.sub(lambda match: found[match["lesson"], match["cell"]], guide)


def main():
    """Bring the numbers and headings of slides in the guide up to date."""
    notebooks = {path.name[:2]: nbformat.read(path, as_version=4) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
    guide = NOTEBOOKS / "INSTRUCTORS.md"
    text = with_slides(guide.read_text(encoding="utf-8"), notebooks)
    guide.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
