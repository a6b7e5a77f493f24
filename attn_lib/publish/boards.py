"""Boards in pages without a kernel: their state is saved with the page, and the page computes what Python would."""

import html
import json
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
LIBRARY = HERE.parent
VIEW, STATE = "application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json"
TRAITS = ("title", "panels", "controls", "colours", "state")
STYLE = (LIBRARY / "board.css").read_text(encoding="utf-8")


def script():
    """One classic script with board.js and without_python.js: a page opened as a file may not load modules."""
    sources = [LIBRARY / "board.js", HERE / "without_python.js"]
    board, without_python = (path.read_text(encoding="utf-8") for path in sources)
    parts = [board.replace("export default { render };", ""), without_python, "window.wakeBoards = wake; wake();"]
    return "(() => {\n" + "\n".join(parts) + "\n})();\n"


def read_with_boards(path):
    """A notebook with its saved outputs, except that each board is HTML that lives without a kernel.

    The boards' state comes from running the cells up to the last of them; nothing is written to the file.
    """
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if board_output(cell)]
    if not cells:
        return notebook
    last = notebook.cells.index(cells[-1])
    run = nbformat.from_dict({**notebook, "cells": notebook.cells[: last + 1]})
    run = nbformat.reads(nbformat.writes(run), as_version=4)  # a copy: the saved outputs stay
    folder = str(Path(path).resolve().parent)
    NotebookClient(run, timeout=120, store_widget_state=True, resources={"metadata": {"path": folder}}).execute()
    models = run.metadata.widgets[STATE]["state"]
    for saved, fresh in zip(notebook.cells, run.cells, strict=False):
        if board_output(saved):
            traits = models[board_output(fresh).data[VIEW]["model_id"]]["state"]
            output = board_output(saved)
            output.data = {"text/html": embed(traits, output.data["text/html"])}
    return notebook


def board_output(cell):
    """The output of a cell that is a board (a progress bar is a widget too, but has no tables), or None."""
    for output in cell.get("outputs", []):
        if VIEW in output.get("data", {}) and "text/html" in output.data:
            return output
    return None


def embed(traits, tables):
    """A board for a page: its traits for the script, and its saved tables until the script runs."""
    saved = json.dumps({name: traits[name] for name in TRAITS}, ensure_ascii=False).replace("<", "\\u003c")
    label = html.escape(traits["title"])
    tables = tables.replace(": run the cell to move these numbers.", ".")
    return f'<div class="saved-board" aria-label="{label}"><script type="application/json">{saved}</script>{tables}</div>'
