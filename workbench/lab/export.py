"""A lesson as a file for others: what nbconvert, and JupyterLab's "Save and Export Notebook As", make of it.

A page of nbconvert's knows no folds: without this it shows the code of each question, which gives the answer away, with
a first line that asks to run it. commands/setting_up.py names this to nbconvert, for all notebooks of the environment.
"""

import base64
import mimetypes
import re
from pathlib import Path

from ..copies import FIRST_LINES, tags

PICTURE = re.compile(r"\]\((\.\./img/[\w.-]+)\)")  # nbconvert embeds none from beside the notebook's folder
LOOK = """<style>
body .jp-Notebook, body.jp-Notebook { max-width: 860px; margin: 0 auto; padding: 24px; box-sizing: border-box; }
body .jp-RenderedHTMLCommon.jp-RenderedMarkdown {
  max-width: 700px; font: 18px / 1.6 "Source Serif 4", "Iowan Old Style", "Palatino Linotype", P052, Georgia, serif;
}
body .jp-RenderedMarkdown details:not([open]) > :not(summary) { display: none; }
body .jp-RenderedMarkdown :is(h1, h2, h3) { font-weight: 600; text-wrap: balance; }
body .jp-RenderedMarkdown h2 { margin-top: 44px; padding-top: 28px; border-top: 1px solid #d9d6ce; font-size: 27px; }
body .jp-InputArea .jp-InputPrompt, body .jp-OutputArea .jp-OutputPrompt { display: none; }
body .jp-InputArea-editor .highlight pre, body .jp-RenderedText pre {
  white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5;
}
body .jp-InputArea-editor.jp-CodeMirrorEditor {
  border: 0; border-radius: 10px; padding: 6px 12px; background: #f5f5f5;
}
body .jp-OutputArea-output img, body .jp-OutputArea-output svg { max-width: 100%; height: auto; }
@media print {
  body .jp-Notebook, body.jp-Notebook { max-width: none; padding: 0; }
  h1, h2, h3 { break-after: avoid; }
  .jp-InputArea-editor, .jp-OutputArea-output, tr, img, svg { break-inside: avoid; }
}
</style>"""


def prepared(notebook, resources):
    """nbconvert's way to ask: of a lesson, folded code stays out, and a page looks like the course.

    Other notebooks stay as they are.
    """
    if not any("predict" in tags(cell) for cell in notebook.cells):
        return notebook, resources
    for cell in notebook.cells:
        hide_what_is_folded(cell)
    if resources["output_extension"] == ".html":
        folder = Path(resources["metadata"].get("path") or ".")
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = PICTURE.sub(lambda match: f"]({embedded(folder / match[1])})", cell.source)
        kind = type(notebook)
        notebook.cells.insert(0, kind(cell_type="markdown", id="look", metadata=kind(), source=LOOK))
    return notebook, resources


def embedded(path):
    """The address of this picture's own bytes, or what stood there where it is not."""
    if not path.is_file():
        return Path("..", *path.parts[-2:]).as_posix()
    return f"data:{mimetypes.guess_type(path)[0]};base64,{base64.b64encode(path.read_bytes()).decode()}"


def hide_what_is_folded(cell):
    """Of this cell's code nothing where it is folded, and else not the line that says how to run it."""
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        cell.metadata["transient"] = {"remove_source": True}
    for line in FIRST_LINES.values():
        cell.source = cell.source.removeprefix(f"{line}\n")
