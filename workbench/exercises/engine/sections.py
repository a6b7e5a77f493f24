"""The sections of the notebooks, each by the number of its notebook and the id of the cell that its heading begins.

Exercises name `"08#text-waves"`, so that a heading is written in its notebook alone. The titles stand in sections.toml,
which `course.py refresh` writes: on Colab and on a hub there is the installed package, and no folder of notebooks.
"""

import tomllib
from pathlib import Path

TITLES = tomllib.loads((Path(__file__).parent.parent / "sections.toml").read_text(encoding="utf-8"))


def section_in_words(section):
    """Where a section is to be read: `notebook 8, “Two: waves”`; "01#text-18..text-25" goes from one to another."""
    notebook, _, cells = section.partition("#")
    titles = " to ".join(f"“{TITLES[f'{notebook}#{cell}']}”" for cell in cells.split(".."))
    return f"notebook {int(notebook)}, {titles}"
