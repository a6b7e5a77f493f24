"""Boards in a page without a kernel, the sentences that set them, and how pictures and code look there."""

import base64
import html
import json
import re
from functools import cache
from pathlib import Path

from PIL import Image
from pygments.lexers import PythonLexer
from pygments.styles import get_style_by_name
from pygments.token import Name, Text

from workbench.board import modules
from workbench.board.board import PAGE
from workbench.display.show import marked

VIEW = "application/vnd.jupyter.widget-view+json"
UPRIGHT = "(max-width: 600px) and (orientation: portrait)"  # screens on which diagrams stand upright
CODE, CODE_IN_THE_DARK = "a11y-high-contrast-light", "a11y-high-contrast-dark"  # styles of pygments
STYLE = (PAGE / "board.css").read_text(encoding="utf-8")
HERE = Path(__file__).parent


def buttons(notebook, shown):
    """Sentences of a notebook's prose that make a board ready → what they are in a page; in a notebook they are bold.

    They are the phrases that the boards know, where the prose has them; shown has what cells show, by their ids.
    """
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    listed = [(id, one["said"], one["sets"]) for id, found in shown.items() for one in found.tries]
    return {f"**{said}**": button(id, said, sets) for id, said, sets in listed if f"**{said}**" in prose}


def button(id, sentence, now):
    """A sentence that sets the board of that cell when it is clicked."""
    return (
        f'<button type="button" class="try" data-board="{id}" data-now="{html.escape(json.dumps(now))}">'
        f"{marked(sentence)}</button>"
    )


def with_buttons(text, found):
    """Markdown in which the sentences that `buttons` found are buttons."""
    for sentence, shown in found.items():
        text = text.replace(sentence, shown)
    return text


def size_of(path):
    """A picture's width and height in pixels; a drawing's as far as it is not scaled."""
    if path.suffix != ".svg":
        return Image.open(path).size
    points = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', path.read_text(encoding="utf-8")).groups()
    return tuple(round(float(length) * 4 / 3) for length in points)


class Python(PythonLexer):
    """Python on a page, where what has no colour of its own is no element: up to half of a lesson's would be such."""

    def get_tokens_unprocessed(self, text, stack=("root",)):
        for place, kind, words in super().get_tokens_unprocessed(text, stack):
            yield place, kind if has_colour(kind) else Text, words


@cache
def has_colour(kind):
    """Whether a kind of word looks different from a name; in the dark the same kinds do."""
    style = get_style_by_name(CODE)
    return style.style_for_token(kind) != style.style_for_token(Name)


def script():
    """One classic script: a page opened as a file may not load modules."""
    return modules.script(HERE / "standalone.js")


def guess_script():
    """Guesses read and judged in a page, by `attnGuess`."""
    return modules.script(HERE / "predict.js", "attnGuess")


def embed(shown):
    """A board for a page: its traits for the script, and its tables until the script runs."""
    frames = {name: base64.b64encode(data).decode() for name, data in shown.frames.items()}
    traits = {"spec": shown.spec, "frames": frames, "state": shown.state, "reply": shown.reply}
    saved = json.dumps(traits, ensure_ascii=False).replace("<", "\\u003c")
    script = f'<script type="application/json">{saved}</script>'
    return f'<div class="saved-board" data-title="{html.escape(shown.title)}">{script}{shown.tables("")}</div>'
