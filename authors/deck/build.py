"""A notebook as one HTML page of slides: `python course.py slides` writes it as a file, `present` serves it live.

A slide whose first cell has the metadata "deck" shows a question, a picture and at its last step what is claimed, the
sentence of its cells that is marked with an id; its prose is what the speaker says, its code comes by a key. Any other
shows its cells one below another, as short as `shortened` makes them.
"""

import ast
import base64
import json
import re
import subprocess
import sys
from functools import cache
from html import escape
from pathlib import Path

import jinja2
import nbformat
from nbconvert import HTMLExporter
from pygments import highlight
from pygments.formatters import HtmlFormatter

from workbench.display import colours, drawings

from ..pages import boards_in_pages, faces, needs, outputs, packages
from ..pages.markdown import inline, to_html
from ..pages.notes import BEGINS, choices_of, clock, minutes_before, notes_of
from . import pictures

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "notebooks"
BUILD = HERE.parents[1] / "build" / "slides"
REVEAL = packages.PACKAGES / "reveal.js"
SHOWN_WHOLE = 45  # words; of a longer cell a slide shows the first sentence of each paragraph, the notes the rest
BUTTON = 7  # characters that Run takes from the first line of a cell, where the deck is live
WIDE = 80  # characters; a printed table with longer lines is set smaller, so that none breaks
LINE, FILLED, COMMENT = 1.5, 1.3, 1.2  # how much larger than other code the hall's line is, and the course's own
SHORT = 7  # lines of a function that a slide shows with its prose
CLAIM = re.compile(r'<span id="[\w-]+">(.+?)</span>', re.S)
TICK = re.compile(r"(assert)(?:[^\n]*atol=(1e-\d+))?")
SENTENCE = re.compile(r"(?:(?<=[.?!])|(?<=[.?!]\)))\s+(?=[A-Z*`$“(\[])")


def page(path, server=None):
    """A notebook as the text of an HTML page; with `server`, {"baseUrl", "token"}, a page that runs its cells there."""
    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    shown = outputs.run_here(notebook)
    columns = columns_of(notebook, shown, path.parent)
    template = jinja2.Environment(autoescape=False).from_string((HERE / "page.html.j2").read_text(encoding="utf-8"))
    return template.render(
        title=re.match(r"# (.+)", notebook.cells[0].source).group(1),
        columns=columns,
        settings=script_data(
            {
                "name": path.stem,
                "reading": boards_in_pages.UPRIGHT,
                "server": server,
                "preamble": outputs.PREAMBLE,
                "sources": {
                    cell.id: without_guess(cell.source)[0] for cell in notebook.cells if cell.cell_type == "code"
                },
                "slides": {slide["id"]: to_come(slide) for column in columns for slide in column},
                "questions": {
                    part["id"]: {**(part["question"] or {}), "answer": part["outputs"], "compares": part["compares"]}
                    for column in columns
                    for slide in column
                    for part in slide["cells"]
                    if part.get("compares")
                },
            }
        ),
        styles=[
            read(REVEAL / "dist" / "reveal.css"),
            faces.embedded(),
            colours.tokens(),
            colours.written_out(":root.dark"),
            drawings.FACES,
            needs.style(boards_in_pages.STYLE),
            needs.style(read(HERE / "deck.css")),
            needs.style(read(HERE / "phones.css")),
            read(HERE.parent / "code.css"),
        ],
        needs=needs.OLD,
        scripts=[
            read(REVEAL / "dist" / "reveal.js"),
            speaker_view(),
            boards_in_pages.script(),
            *([kernel_script()] if server else []),
            boards_in_pages.guess_script(),
            needs.script(HERE / "deck.js"),
        ],
    )


@cache
def kernel_script():
    """kernel.js and what it takes from others as one classic script, whose exports are `attnKernel`'s."""
    options = "--bundle --minify --format=iife --global-name=attnKernel --define:global=globalThis --legal-comments=eof"
    options = [*options.split(), f"--target={needs.TARGET}", '--define:process.env.NODE_ENV="production"']
    settings = {"stdout": subprocess.PIPE, "encoding": "utf-8", "check": True}
    return packages.run("esbuild", HERE / "kernel.js", *options, **settings).stdout


# ------------------------------------------------------------------------------------------------------- slides


def columns_of(notebook, shown, folder):
    """Sections, each a list of slides from top to bottom: a heading, cells as HTML, and what the speaker needs."""
    columns, planned, number, section = [], minutes_before(notebook), 0, ""
    drawn = pictures.drawn(notebook)
    buttons = boards_in_pages.buttons(notebook, shown)
    for cell in notebook.cells:
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        if kind == "skip":
            continue
        if kind in BEGINS:
            number += 1
            if kind == "slide":
                columns.append([])
            own = re.match(r"(#{1,3}) (.+)\n*", cell.source) if cell.cell_type == "markdown" else None
            section = own[2] if own and kind == "slide" else section
            columns[-1].append(
                {
                    "number": number,
                    "id": cell.id,
                    "level": len(own[1]) if own else 2,
                    "heading": inline(own[2] if own else section),
                    "continued": own is None,
                    "deck": cell.metadata.get("deck"),
                    "picture": drawn.get(cell.id, (None, None))[0],
                    "narrow": drawn.get(cell.id, (None, None))[1],
                    "notes": notes_of(cell),
                    "choices": choices_of(cell),
                    "said": [],
                    "whole": [],  # of its cells, for paper
                    "ticks": [],
                    "claim": "",
                    "from": planned[cell.id],
                    "cells": [],
                    "longest": 0,  # characters in a line of code, which larger type is not to break
                }
            )
        add_cell(columns[-1][-1], cell, kind == "fragment", shown.get(cell.id), folder, buttons)
    for slide in (slide for column in columns for slide in column):
        own = [f'data-board="{part["id"]}"' for part in slide["cells"]]
        slide["tries"] = [one for one in buttons.values() if slide["deck"] and any(id in one for id in own)]
        finish(slide)
    return columns


def add_cell(slide, cell, fragment, value, folder, buttons):
    """Put a cell on its slide; what comes after a question waits until it was asked for."""
    after_question = any(part["question"] or part.get("blank") for part in slide["cells"])
    question = value.question if value else None
    step = after_question or (fragment and not question)
    part = {"id": cell.id, "code": cell.cell_type == "code", "question": question, "step": step}
    if cell.cell_type == "markdown":
        source = re.sub(r"\A#{1,3} .+\n*", "", cell.source) if not slide["cells"] else cell.source
        slide["whole"].append(local(to_html(source), folder))
        if claim := CLAIM.search(source):
            said = re.sub(r"[:,;.]$", "", claim[1])
            slide["claim"] = inline(said[0].upper() + said[1:] + ".")
        wanted = [] if slide["deck"] else cell.metadata.get("slide")
        on_slide, said = shortened(source, wanted)
        part["html"] = "" if slide["deck"] else local(to_html(boards_in_pages.with_buttons(on_slide, buttons)), folder)
        slide["said"] += [local(inline(text), folder) for text in said]
    else:
        add_code(slide, part, cell, value)
    if part.get("html", True):
        slide["cells"].append(part)


def add_code(slide, part, cell, value):
    """What a slide has of a cell of code: it runs, and is read where somebody asks for it."""
    tags = cell.metadata.get("tags", [])
    part["unseen"] = cell.metadata.get("slide") == []
    part["tags"] = " ".join(tags)
    part["blank"] = "blank" in tags
    part["outputs"] = outputs_of(cell, value)
    part["drawn"] = "<svg" in part["outputs"] or "<img" in part["outputs"] or "saved-board" in part["outputs"]
    source, part["compares"] = without_guess(cell.source)
    lines = source.count("\n") + 1
    part["open"] = part["blank"] or (not slide["deck"] and "taught" in tags and lines <= SHORT)
    part["highlighted"] = highlighted(source.replace("...", "________") if part["blank"] else source)
    if not part["unseen"]:
        slide["whole"].append(f'<div class="highlight">{part["highlighted"]}</div>')
        if not part["drawn"] or (slide["picture"] and "saved-board" not in part["outputs"]):
            slide["whole"].append(part["outputs"])
        slide["ticks"] += TICK.findall(cell.source)
    size = LINE if part["blank"] else FILLED if "filled" in tags else 1
    lengths = [
        length(line, size if slide["deck"] else 1) + (0 if i else BUTTON) for i, line in enumerate(source.splitlines())
    ]
    slide["longest"] = max([slide["longest"], *(lengths if part["open"] or "filled" in tags else [])])
    printed = [len(line) for output in cell.outputs for line in output.get("text", "").splitlines()]
    part["wide"] = sum(length > WIDE for length in printed) > 1
    sources = [o.data for o in cell.outputs if "<pre" in o.get("data", {}).get("text/html", "")]
    listed = [1.1 * len(line) for data in sources for line in data.get("text/plain", "").splitlines()]
    slide["longest"] = max([slide["longest"], *listed, *(printed if part["wide"] else [])])


def finish(slide):
    """What is known of a slide when all its cells are: its steps, its choices, and what is ticked off."""
    question = next((part for part in slide["cells"] if part["question"]), None)
    blank = any(part.get("blank") for part in slide["cells"])
    deck, picture = slide["deck"], slide["picture"]
    slide["waits"] = bool(question or blank)
    slide["shows_code"] = any(part.get("open") for part in slide["cells"])
    slide["has_code"] = any(part["code"] and not part["unseen"] for part in slide["cells"])
    slide["board"] = any("saved-board" in part.get("outputs", "") for part in slide["cells"])
    slide["plot"] = not picture and any(part.get("drawn") for part in slide["cells"])
    steps = max(len(picture.steps) if picture else 1, 2 if slide["claim"] else 1)
    slide["steps"] = steps if deck else 1
    slide["ask"] = lowered(inline(deck["ask"])) if deck else slide["heading"]
    slide["choices"] = [(escape(one), lowered(escape(one))) for one in slide["choices"]] if question else []
    tolerance = next((to for _, to in slide["ticks"] if to), "")
    slide["tick"] = f"agrees to {tolerance}" if tolerance else "checked" if slide["ticks"] and deck else ""


def lowered(text):
    """W_q with its q below the line, as formulas have it."""
    return re.sub(r"(?<=\b[A-Za-z])_(\w+)", r"<sub>\1</sub>", text)


def to_come(slide):
    """What a slide has in store: kept out of the page until its step, as nobody is to see or hear it before."""
    picture, narrow, note = slide["picture"], slide["narrow"], slide["notes"]
    asked = f"<p><strong>Ask:</strong> {escape(note['ask'])}</p>" if note["ask"] else ""
    said = f'<p class="notebook"><em>The notebook goes on:</em> {" ".join(slide["said"])}</p>' if slide["said"] else ""
    notes = f"<p>{note['minutes']} min, from {clock(slide['from'])}</p>{asked}<p>{escape(note['say'])}</p>"
    return {
        "ask": slide["ask"],
        "claim": slide["claim"],
        "pictures": [picture.svg(i) for i in range(len(picture.steps))] if picture else [],
        "narrow": [narrow.svg(i) for i in range(len(narrow.steps))] if narrow else [],
        "right": (slide["deck"] or {}).get("right"),
        "notes": notes + said,
        "whole": "".join(slide["whole"]),
    }


def length(line, size):
    """A line's length in letters of usual code, where its own are larger and its comment's a little."""
    code, mark, comment = line.replace("...", "________").partition("  #")
    return size * len(code) + (COMMENT if size > 1 else 1) * len(mark + comment)


def without_guess(source):
    """A cell's code without its comparison of a guess or a line, which names the wrong answers; and that comparison."""
    judges = re.compile(r"(predict|blank)\(")
    if not judges.search(source):
        return source, ""
    lines = re.sub(r"^# The course's own:$", "", source, flags=re.M).splitlines()
    found = [
        node for node in ast.parse(source).body if re.match(r"guess = \.\.\.|predict\(|blank\(", ast.unparse(node))
    ]
    said = [line for node in found for line in lines[node.lineno - 1 : node.end_lineno]]
    for node in reversed(found):
        del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines).strip(), "\n".join(line for line in said if not line.startswith("guess = "))


def shortened(source, wanted=None):
    """What of a cell's prose the slide shows, and the sentences that are left to the speaker.

    `wanted`, a cell's metadata "slide", names the sentences to show by how they begin. Without it a short cell is shown
    whole, and of a long one the first sentence of each paragraph, with questions, formulas, pictures, tables and lists.
    A cell of code with an empty "slide", as imports have, runs like any other and is not shown.
    """
    blocks = re.split(r"\n{2,}", source.strip())
    if wanted is None and len(words_of(source)) <= SHOWN_WHOLE:
        return source, []
    kept, said = [], []
    for block in blocks:
        if not is_prose(block) or (wanted is None and block.startswith("**")):
            kept.append(block)
            continue
        sentences = SENTENCE.split(block)
        show = [s for s in sentences if s.startswith(tuple(wanted))] if wanted is not None else sentences[:1]
        kept += [" ".join(show)] if show else []
        said += [s for s in sentences if s not in show]
    return "\n\n".join(kept), said


def is_prose(block):
    return not re.match(r"(\$\$|!\[|\||[-*] |\d+\. |<|```|#)", block)


def words_of(source):
    return re.sub(r"\$\$.*?\$\$|<[^>]*>|!\[.*?\]\(.*?\)|^\|[^\n]*", " ", source, flags=re.S | re.M).split()


# --------------------------------------------------------------------------------------------------------- cells


def highlighted(source):
    """Code as HTML in colours; each line an element, so that a line that has to be broken shows as one."""
    lines = highlight(source, boards_in_pages.Python(), HtmlFormatter(linespans="line"))
    return re.sub(r'<span id="line-\d+">', '<span class="line">', lines)


def outputs_of(cell, value):
    """The saved outputs of a code cell as HTML: drawings sharp at any size, boards alive, other things as saved."""
    if value:
        return value.html
    if not cell.outputs:
        return ""
    alone = nbformat.v4.new_code_cell("", outputs=cell.outputs)
    return exporter().from_notebook_node(nbformat.v4.new_notebook(cells=[alone]))[0].strip()


@cache
def exporter():
    return HTMLExporter(
        template_name="basic", exclude_input=True, exclude_input_prompt=True, exclude_output_prompt=True
    )


def local(text, folder):
    """Pictures become part of the page, diagrams with their form for phones; notebooks become their decks."""
    text = re.sub(r'href="(\d\d_\w+)\.ipynb', r'href="\1.html', text)
    return re.sub(
        r'<img src="\.\./img/([^"]+)"([^>]*)>', lambda found: picture(folder.parent / "img", *found.groups()), text
    )


def picture(folder, name, rest):
    """A picture of the page's own; what is said of one that is twice as wide as high has its place below it."""
    upright, (width, height) = folder / "upright" / name, boards_in_pages.size_of(folder / name)
    drawn = f'<img{" class=broad" if width >= 2 * height else ""} src="{data_uri(folder / name)}"{rest}>'
    if not upright.is_file():
        return drawn
    return f'<picture><source media="{boards_in_pages.UPRIGHT}" srcset="{data_uri(upright)}">{drawn}</picture>'


def data_uri(path):
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[path.suffix]
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


# As it opens: the slide above the clock and what phones sent, the next one above the notes, which get all the room
# that is left.
SPEAKER = """
body[data-speaker-layout=default] {
  & #current-slide { height: 35vw; border-bottom: 0; }
  & #upcoming-slide { height: calc(23vw + 30px); border-bottom: 30px solid transparent; }
  & #upcoming-slide .label { bottom: -28px; }
  & .speaker-controls-time { position: absolute; left: 0; top: 35vw; width: 60%; box-sizing: border-box; border: 0; }
  & #speaker-controls { position: static; border: 0; }
  & .hall-votes {
    position: absolute; left: 0; top: calc(35vw + 130px); bottom: 0; width: 60%; box-sizing: border-box; overflow: auto;
    align-content: start; background: #fff;
  }
  & .speaker-controls-notes {
    position: absolute; right: 0; top: calc(23vw + 30px); bottom: 44px; width: 40%; box-sizing: border-box;
    overflow: auto;
    & .label { display: none; } & .value { margin: 0; font-size: 20px; line-height: 1.35; } & p { margin: 0 0 0.5em; }
  }
}
""".replace("\n", " ")


def speaker_view():
    """reveal.js' second window; its labels stand where they cover nothing of a slide, and its notes have room."""
    plugin = read(REVEAL / "plugin" / "notes" / "notes.js")
    below = "top: auto !important; left: auto !important; right: 0; bottom: -30px; height: 26px; line-height: 26px;"
    for label, place in (
        ("#upcoming-slide .label {", below),
        ("#speaker-layout {", "top: auto !important; bottom: 4px;"),
        ("#speaker-controls {", "box-sizing: border-box; border-bottom: 44px solid transparent;"),
    ):
        plugin = plugin.replace(label, f"{label} {place}", 1)
    return plugin.replace("</style>", f"{SPEAKER}</style>", 1)


def script_data(value):
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def read(path):
    return path.read_text(encoding="utf-8")


def main(names):
    BUILD.mkdir(parents=True, exist_ok=True)
    for path in [Path(name) for name in names] or sorted(NOTEBOOKS.glob("*.ipynb")):
        target = BUILD / f"{path.stem}.html"
        target.write_text(page(path), encoding="utf-8", newline="\n")
        print(target.as_uri(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
