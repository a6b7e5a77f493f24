"""Write workbench/exercises/sections.toml, the headings of the notebooks: `python -m authors.sections`."""

import json
import re

from .lessons import NOTEBOOKS, ROOT

SECTIONS = ROOT / "workbench/exercises/sections.toml"


def sections_of(notebooks):
    """sections.toml of a folder of notebooks, as text: `"08#text-waves" = "Two: waves"` for each heading."""
    lines = ["# The heading that a cell begins with, by notebook and id of the cell; `course.py refresh` writes it."]
    for path in sorted(notebooks.glob("[0-9]*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            heading = re.match(r"#+ (.+)", "".join(cell["source"]))
            if cell["cell_type"] == "markdown" and heading:
                title = re.sub(r"[$*`]", "", heading[1].strip())
                title = json.dumps(title, ensure_ascii=False)  # as TOML writes it too
                lines.append(f'"{path.stem.partition("_")[0]}#{cell["id"]}" = {title}')
    return "\n".join(lines) + "\n"


def main():
    """Bring the headings of sections that exercises name up to date."""
    SECTIONS.write_text(sections_of(NOTEBOOKS), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
