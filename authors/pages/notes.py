"""The numbers of slides, by the cells that they begin with: a cell's metadata "slide" has the slide's name.

`python -m authors.pages.notes`, which `course.py refresh` calls, keeps the slides that INSTRUCTORS.md names up to date.
"""

import re

import nbformat

from ..lessons import NOTEBOOKS


def slides(notebook):
    """The cells that begin a slide, in order."""
    return [cell for cell in notebook.cells if "slide" in cell.metadata]


def slide_numbers(notebook):
    """Cell id → number of the slide that it is on, 0 before the first."""
    number, numbers = 0, {}
    for cell in notebook.cells:
        number += "slide" in cell.metadata
        numbers[cell.id] = number
    return numbers


def clock(minutes):
    """7.5 as 7:30."""
    return f"{int(minutes)}:{int(minutes % 1 * 60):02d}"


# ----------------------------------------------------------------------------------------- the guide for instructors

REFERENCE = re.compile(r"<!--(?P<cell>[\w-]+)-->(?P<lesson>\d\d) slide \d+ \(“[^”]*”\)")


def with_slides(guide, notebooks):
    """The guide with the number and the heading of every slide that it names by a cell on it.

    notebooks: a lesson's two digits → its notebook. Raises: KeyError for a cell that no slide has.
    """
    references = {}
    for lesson, notebook in notebooks.items():
        heading, numbers = "", slide_numbers(notebook)
        for cell in notebook.cells:
            if cell.cell_type == "markdown" and cell.source.startswith("#"):
                heading = cell.source.splitlines()[0].lstrip("# ")
            references[lesson, cell.id] = f"<!--{cell.id}-->{lesson} slide {numbers[cell.id]} (“{heading}”)"
    return REFERENCE.sub(lambda match: references[match["lesson"], match["cell"]], guide)


def main():
    """Bring the numbers and headings of slides in the guide up to date."""
    notebooks = {path.name[:2]: nbformat.read(path, as_version=4) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
    guide = NOTEBOOKS / "INSTRUCTORS.md"
    text = with_slides(guide.read_text(encoding="utf-8"), notebooks)
    guide.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
