"""The sections of the notebooks, each by the number of its notebook and the id of the cell that its heading begins.

Exercises name `"08#text-waves"`, so that a heading is written in its notebook alone. The titles stand in sections.toml,
which `course.py refresh` writes: on Colab and on a hub there is the installed package, and no folder of notebooks.
"""

import html
import re
import tomllib
from pathlib import Path

from ...places import in_a_copy


class _Titles(dict):
    """Section → its heading."""

    def __missing__(self, section):
        raise LookupError(f"there is no section {section!r} in sections.toml, which `course.py refresh` writes")


TITLES = _Titles(tomllib.loads((Path(__file__).parent.parent / "sections.toml").read_text(encoding="utf-8")))


def section_in_words(section):
    """Where a section is to be read: `notebook 8, “Two: waves”`; "01#text-18..text-25" goes from one to another."""
    notebook, _, cells = section.partition("#")
    titles = " to ".join(f"“{TITLES[f'{notebook}#{cell}']}”" for cell in cells.split(".."))
    return f"notebook {int(notebook)}, {titles}"


def linked(text):
    """HTML in which sections are named by `section_in_words`: each a link, where its notebook lies beside the copy.

    JupyterLab and Jupyter Notebook open the notebook of such a link and go to the cell.
    """
    return NAMED.sub(_link, text) if in_a_copy() else text


NAMED = re.compile("notebook ([0-9]+), “([^”]+)”(?: to “[^”]+”)?")


def _link(named):
    number = f"{int(named[1]):02}"
    title = html.unescape(named[2])
    cell = next((key for key, words in TITLES.items() if key.startswith(number) and words == title), None)
    file = next(Path().glob(f"{number}_*.ipynb"), None)
    if not cell or not file:
        return named[0]
    return f'<a href="{file.name}#cell-id={cell.partition("#")[2]}">{named[0]}</a>'
