"""Speaker notes of a notebook as a page for the speaker's own screen: what to say, what to ask, and by when."""

import argparse
import re
import sys
import webbrowser
from pathlib import Path

import jinja2
import nbformat

from .markdown import to_html
from .speaker import clock, minutes_before, notes_of, slides

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "notes"


def page(path):
    """A notebook's speaker notes as the text of one HTML page."""
    notebook = nbformat.read(path, as_version=4)
    planned = minutes_before(notebook)
    rows = [
        {
            **{name: to_html(text) if isinstance(text, str) else text for name, text in notes_of(cell).items()},
            "number": number,
            "from": planned[cell.id],
            "heading": heading(notebook.cells, notebook.cells.index(cell)),
        }
        for number, cell in enumerate(slides(notebook), start=1)
    ]
    template = jinja2.Template((HERE / "notes.html.j2").read_text(encoding="utf-8"))
    total = sum(row["minutes"] for row in rows)
    return template.render(title=rows[0]["heading"], rows=rows, total=total, clock=clock)


def heading(cells, index):
    """What a slide is about: its own heading or its first words, since it goes on below a heading."""
    cell = cells[index]
    first = cell.source.strip().splitlines()[0]
    return re.sub(r"[#*`]", "", first).strip()[:90] if cell.cell_type == "markdown" else f"In [ ]: {first[:70]}"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    options = parser.parse_args(arguments)
    BUILD.mkdir(parents=True, exist_ok=True)
    target = BUILD / f"{options.notebook.stem}.html"
    target.write_text(page(options.notebook), encoding="utf-8", newline="\n")
    print(f"Speaker notes, for a second screen: {target.as_uri()}", flush=True)
    if options.open:
        webbrowser.open(target.as_uri())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
