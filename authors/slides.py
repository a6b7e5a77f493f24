"""Each notebook as one HTML file of slides, complete in itself: `python course.py slides`."""

import base64
import re
import sys
from functools import cache
from pathlib import Path

import jinja2
import nbformat
import sphinx_revealjs
from nbconvert import HTMLExporter
from pygments.formatters import HtmlFormatter

from . import pages
from .markdown import to_html
from .speaker import clock, minutes_before, notes_of

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "slides"
REVEAL = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"


def deck(path):
    """A notebook as the text of a stand-alone HTML page."""
    notebook = pages.without_kernel(path)
    template = jinja2.Template((HERE / "slides.html.j2").read_text(encoding="utf-8"))
    return template.render(
        clock=clock,
        title=re.match(r"# (.+)", notebook.cells[0].source).group(1),
        columns=columns(notebook, Path(path).parent),
        styles=[read(REVEAL / "dist" / "reveal.css"), pygments(), pages.STYLE, read(HERE / "slides.css")],
        scripts=[read(REVEAL / "dist" / "reveal.js"), read(REVEAL / "plugin" / "notes" / "notes.js"), pages.script()],
    )


def columns(notebook, folder):
    """Sections, each a list of slides from top to bottom, each with its cells as HTML and its speaker notes."""
    found, planned = [], minutes_before(notebook)
    for cell in notebook.cells:
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        if kind == "skip":
            continue
        if kind == "slide":
            found.append([])
        if kind in ("slide", "subslide"):
            found[-1].append({"cells": [], "notes": notes_of(cell), "planned": planned[cell.id]})
        found[-1][-1]["cells"].append({"html": cell_html(cell, folder), "fragment": kind == "fragment"})
    return found


def cell_html(cell, folder):
    """One cell with its outputs; pictures become part of the page, notebooks become their decks."""
    if cell.cell_type == "markdown":
        return f'<div class="prose">{local(to_html(cell.source), folder)}</div>'
    alone = nbformat.v4.new_notebook(cells=[cell], metadata={"language_info": {"name": "python"}})
    return exporter().from_notebook_node(alone)[0]


@cache
def exporter():
    return HTMLExporter(template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True)


def local(text, folder):
    text = re.sub(r'href="(\d\d_\w+)\.ipynb', r'href="\1.html', text)
    return re.sub(r'src="(\.\./img/[^"]+)"', lambda found: f'src="{data_uri(folder / found[1])}"', text)


def data_uri(path):
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[path.suffix]
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def pygments():
    return HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight")


def read(path):
    return path.read_text(encoding="utf-8").replace("</script", "<\\/script")


def main(paths):
    BUILD.mkdir(parents=True, exist_ok=True)
    for path in map(Path, paths):
        target = BUILD / f"{path.stem}.html"
        target.write_text(deck(path), encoding="utf-8", newline="\n")
        print(target.as_uri(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
