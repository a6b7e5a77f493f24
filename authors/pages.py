"""Boards for a page without a kernel: they live there."""

import base64
import html
import json
from pathlib import Path

from attn_lib.board.board import PAGE
from attn_lib.board.board import script as board_script

VIEW = "application/vnd.jupyter.widget-view+json"
STYLE = (PAGE / "board.css").read_text(encoding="utf-8")
WAKE = (Path(__file__).parent / "wake.js").read_text(encoding="utf-8")


def script():
    """One classic script: a page opened as a file may not load modules."""
    return "(() => {\n" + board_script().replace("export default ", "const widget = ") + WAKE + "})();\n"


def embed(shown):
    """A board for a page: its traits for the script, and its tables until the script runs."""
    films = {name: base64.b64encode(data).decode() for name, data in shown.films.items()}
    traits = {"spec": shown.spec, "films": films, "now": shown.now, "heard": shown.heard}
    saved = json.dumps(traits, ensure_ascii=False).replace("<", "\\u003c")
    script = f'<script type="application/json">{saved}</script>'
    return f'<div class="saved-board" data-title="{html.escape(shown.title)}">{script}{shown.tables("")}</div>'
