"""A notebook for a page without a kernel: its boards live there."""

import ast
import base64
import contextlib
import html
import io
import json

import nbformat

from attn_lib.board import Board
from attn_lib.board.board import PAGE
from attn_lib.board.board import script as board_script

VIEW = "application/vnd.jupyter.widget-view+json"
STYLE = (PAGE / "board.css").read_text(encoding="utf-8")
# Brings the boards of a page to life: each stands as its saved tables, with its traits in a script beside them. A page
# that gets boards later, as a deck does when a cell runs, calls attnBoards.wake for what is new.
WAKE = """
const widget = BOARD;
function wake(within) {
  for (const place of within.querySelectorAll(".saved-board")) {
    if (place.model) continue;
    const traits = JSON.parse(place.querySelector("script").textContent);
    const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    traits.films = Object.fromEntries(Object.entries(traits.films).map(([name, text]) => [name, bytes(text)]));
    const set = (name, value) => (traits[name] = value);
    const model = { alone: true, get: (name) => traits[name], set, on() {}, off() {}, save_changes() {} };
    const holder = document.createElement("div");
    place.replaceChildren(holder);
    place.model = model;
    widget().render({ model, el: holder });
  }
}
window.attnBoards = { wake };
wake(document);
"""


def script():
    """One classic script: a page opened as a file may not load modules."""
    return "(() => {\n" + board_script().replace("export default ", "const BOARD = ") + WAKE + "})();\n"


def without_kernel(path):
    """A notebook with its saved outputs, in which each board is HTML that computes what Python would.

    The boards come from running the cells up to the last of them here; nothing is written to the file.
    """
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    while code and not shows_board(code[-1]):
        code.pop()
    names = {"__name__": "__main__"}
    for cell in code:
        value = last_value(cell.source, names)
        if isinstance(value, Board):
            cell.outputs = [nbformat.v4.new_output("execute_result", {"text/html": embed(value)}, execution_count=None)]
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(VIEW, None)  # of a progress bar its text stays
    return notebook


def shows_board(cell):
    """A progress bar is a widget too, but has no tables to be read where there is no kernel."""
    return any({VIEW, "text/html"} <= set(output.get("data", {})) for output in cell.outputs)


def last_value(source, names):
    """Run a cell in these names; returns the value of its last line, or None if that is no expression."""
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        return eval(compile(last, "cell", "eval"), names) if last else None


def embed(shown):
    """A board for a page: its traits for the script, and its tables until the script runs."""
    films = {name: base64.b64encode(data).decode() for name, data in shown.films.items()}
    traits = {"spec": shown.spec, "films": films, "now": shown.now, "heard": shown.heard}
    saved = json.dumps(traits, ensure_ascii=False).replace("<", "\\u003c")
    script = f'<script type="application/json">{saved}</script>'
    return f'<div class="saved-board" data-title="{html.escape(shown.title)}">{script}{shown.tables("")}</div>'
