"""A notebook as it reads on GitHub, where nothing runs: answers folded, links, words for packages that are missing."""

import re

from workbench.copies import MISSING, as_written, fold_titles, folded
from workbench.first_way import second_readings

from .addresses import STILL_LINE, still_line


def for_readers(notebook, lesson):
    """The notebook as it is read where nothing runs: answers folded, words for packages that are missing, links."""
    for cell, title in zip(notebook.cells, fold_titles(notebook.cells), strict=True):
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]  # an empty list does not survive jupytext
        if cell.cell_type == "markdown" and cell is not notebook.cells[0]:
            cell.source = folded(title, as_written(cell.source)) if title else as_written(cell.source)
        for output in cell.get("outputs", []):
            if html := output.get("data", {}).get("text/html"):
                output.data["text/html"] = re.sub(STILL_LINE, lambda _: still_line(lesson.name), html)
    imports = notebook.cells[1]
    imports.source = MISSING + as_written(imports.source)
    for heading, following in second_readings_before(notebook.cells):
        heading.source = re.sub(r"^#.*", rf"\g<0>\n\n*At a first reading go on at “{following}”.*", heading.source)
    return notebook


def second_readings_before(cells):
    """The heading cell of each section for a second reading, and the heading with which the first way goes on."""
    waiting = []
    for cell, section in zip(cells, second_readings(cells), strict=True):
        if section is not None and section not in waiting:
            waiting.append(section)
        elif section is None:
            following = cell.source.partition("\n")[0].lstrip("# ").replace("*", "")
            yield from ((one, following) for one in waiting)
            waiting = []
