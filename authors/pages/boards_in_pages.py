"""Boards in a page without a kernel, the sentences that set them, and how pictures and code look there."""

import base64
import html
import json
import re
import subprocess
from functools import cache
from pathlib import Path

from PIL import Image
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Number, Operator, String, Text

from workbench.board import live
from workbench.display.show import marked

from . import needs, packages

UPRIGHT = "(max-width: 600px) and (orientation: portrait)"  # screens on which diagrams stand upright
COLOURED = Comment, Keyword, Number, Operator.Word, String  # kinds of words in code; the others are plain
STYLE = live.STYLE
HERE = Path(__file__).parent


def buttons(notebook, values):
    """Sentences of a notebook's prose that make a board ready → what they are in a page; in a notebook they are bold.

    They are the phrases that the boards know, where the prose has them; shown has what cells show, by their ids.
    """
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    phrases = [(id, one) for id, value in values.items() for one in value.tries]
    return {f"**{one['said']}**": setting(id, one) for id, one in phrases if f"**{one['said']}**" in prose}


def setting(id, phrase):
    """A phrase that sets the board of that cell: a button, or a sentence whose number is dragged."""
    return sentence(id, phrase["number"]) if "number" in phrase else button(id, phrase["said"], phrase["sets"])


def button(id, sentence, now):
    """A sentence that sets the board of that cell when it is clicked."""
    return (
        f'<button type="button" class="try" data-board="{id}" data-now="{html.escape(json.dumps(now))}">'
        f"{marked(sentence)}</button>"
    )


def sentence(id, number):
    """A sentence whose number sets the board of that cell, as page/tries.js writes it under a board."""
    before, after, values, at = (number[part] for part in ("before", "after", "values", "at"))
    label = html.escape(f"{before}…{after}".replace("*", ""))
    return (
        f'<span class="sentence">{marked(before)}<span class="attn-number" data-prevent-swipe data-board="{id}"'
        f' data-number="{html.escape(json.dumps(number))}"><b aria-hidden="true">{values[at]}</b><input type="range"'
        f' min="0" max="{len(values) - 1}" value="{at}" aria-label="{label}" aria-valuetext="{values[at]}"'
        f' autocomplete="off"></span>{marked(after)}</span>'
    )


def with_buttons(text, buttons_of):
    """Markdown in which the sentences that `buttons` found are buttons."""
    for sentence, as_html in buttons_of.items():
        text = text.replace(sentence, as_html)
    return text


def size_of(path):
    """A picture's width and height in pixels; a drawing's as far as it is not scaled."""
    if path.suffix != ".svg":
        return Image.open(path).size
    return tuple(map(int, re.search(r'width="(\d+)" height="(\d+)"', path.read_text(encoding="utf-8")).groups()))


class Python(PythonLexer):
    """Python on a page, where what has no colour of its own is no element: up to half of a lesson's would be such."""

    def get_tokens_unprocessed(self, text, stack=("root",)):
        for place, kind, words in super().get_tokens_unprocessed(text, stack):
            yield place, kind if any(kind in one for one in COLOURED) else Text, words


def script():
    """One classic script: a page opened as a file may not load modules."""
    return needs.script(HERE / "standalone.js", before=live.OF_LESSONS)


def door_script():
    """What draws the board that stands before it, as a figure, while the page is still coming."""
    return needs.script(HERE / "door.js")


def guess_script():
    """Guesses read and judged in a page, by `attnGuess`."""
    return needs.script(HERE / "predict.js", "attnGuess")


@cache
def lines_script():
    """What reads and judges a line of one's own, by `attnLines`; with npm's @lezer/python in it."""
    options = "--bundle --minify --format=iife --global-name=attnLines --charset=utf8 --legal-comments=eof"
    settings = {"stdout": subprocess.PIPE, "encoding": "utf-8", "check": True}
    folder = HERE / "lines"
    alias = f"--alias:@lezer/highlight={folder / 'no_colours.js'}"
    options = [*options.split(), alias, f"--target={needs.TARGET}"]
    return packages.run("esbuild", folder / "lines.js", *options, **settings).stdout


def embed(board, id=""):
    """A board for a page: its traits for the script, and its tables until the script runs; id as it is named there."""
    frames = {name: base64.b64encode(data).decode() for name, data in board.frames.items()}
    traits = {"spec": board.spec, "frames": frames, "state": board.state, "reply": board.reply}
    text = json.dumps(traits, ensure_ascii=False).replace("<", "\\u003c")
    script = f'<script type="application/json">{text}</script>'
    with_id = f' id="{id}"' if id else ""
    return f'<div class="saved-board"{with_id} data-title="{html.escape(board.title)}">{script}{board.tables("")}</div>'
