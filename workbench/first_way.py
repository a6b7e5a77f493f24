"""Which cells of a lesson are for the first time, and which stand in a section for a second reading.

A section is for a second reading if its heading says "on a second reading", with all that stands under it. Nothing on
the first way needs it: it is folded in a learner's copy and on the site, and takes none of the lesson's minutes.
Cells are those of a notebook file or of nbformat; the module knows neither torch nor Jupyter, as `copies` does not.
"""

import re

SECOND_READING = "on a second reading"


def second_readings(cells):
    """For each cell the heading of the section for a second reading that it stands in, itself included, or None."""
    section, level = None, 0
    for cell in cells:
        heading = re.match(r"(#+) (.+)", cell["source"]) if cell["cell_type"] == "markdown" else None
        if heading and (section is None or len(heading[1]) <= level):
            section, level = (cell, len(heading[1])) if SECOND_READING in heading[2].lower() else (None, 0)
        yield section


def first_way(cells):
    """The cells that are for the first time."""
    cells = list(cells)
    return [cell for cell, section in zip(cells, second_readings(cells), strict=True) if section is None]
