"""In a learner's copy: a missing name is explained by the cell that makes it, and a line that raised has no value.

Cells get skipped, deleted, or forgotten when the kernel was started again, and Python's message names the name only.
That message stays for typing slips and for names that no cell of the notebook makes.

Why not simpler: a kernel sees one cell at a time, so which cell makes a name is read from the notebook's file and from
the course's cells that copies.py keeps. `symtable` says what a cell binds without running it; a regular expression
would miss imports, unpacking and `for`. IPython's `set_custom_exc` is the one hook that leaves other errors alone.
"""

import ast
import builtins
import json
import re
import symtable
import sys
import textwrap
import traceback
from pathlib import Path

from . import places
from .places import BASELINE_FILE

OWN = {"blank", "exercise"}  # tags of the cells in which the learner writes
PACKAGES = ("attn_lib", "workbench")
WIDTH = 72  # of an output in the column of words; JupyterLab breaks a longer line once more
AGAIN = "then this one again."
NEWER_BELOW = "Its new version stands right below: put what is yours into that one, run it, and delete this one."

_failed = set()  # names which the learner's own cell did not come to make


def watch():
    """Called by `import workbench`, where there may be a kernel or none."""
    shell = getattr(builtins, "get_ipython", lambda: None)()  # IPython puts it there while a cell runs
    if shell is not None:
        load_ipython_extension(shell)


def load_ipython_extension(shell):
    """Only in the folder of the copies; the .venv's kernels come here before a learner has run the imports."""
    if Path(BASELINE_FILE).is_file():
        from . import lab  # which knows Jupyter, as whoever only updates copies does not

        shell.set_custom_exc((NameError, ImportError), _show)
        shell.events.register("post_run_cell", _forget)
        shell.events.register("post_run_cell", lab.note)


# ---------------------------------------------------------------------------------------------- a name that is missing


def _show(shell, etype, error, tb, tb_offset=None):
    """Show an error over a name: what to do and the line that asked for it where that is known, else as always."""
    *_, (frame, line) = traceback.walk_tb(tb)
    sentences = _explain(error, line, shell) if frame.f_globals is shell.user_ns else None
    if sentences:
        where = traceback.extract_tb(tb)[-1]
        words, *text = sentences.split("\n\n", 1)
        sentences = "\n\n".join([textwrap.fill(words, WIDTH, break_on_hyphens=False), *text])
        lines = [sentences, "", f"line {line}: {where.line}", f"{etype.__name__}: {error}"]
        error._render_traceback_ = lambda: lines
    shell.showtraceback((etype, error, tb), tb_offset=tb_offset)


def _explain(error, line, shell):
    notebook = places.notebook()
    if notebook is None:
        return None
    from . import lab

    cells, course = lab.still_there(notebook.name, places.cells(notebook)), _course(notebook)
    here = places.running(cells)
    if isinstance(error, ImportError):
        source = shell.history_manager.input_hist_raw[-1]
        return import_explanation(error.name, line, source, cells, _all_lessons(notebook), here)
    if type(error) is not NameError or error.name in shell.user_ns:
        return None
    earlier = [] if any(error.name in _makes(cell) for cell in course) else _earlier(notebook)
    return explanation(error.name, cells, course, here, error.name in _failed, earlier)


def explanation(name, cells, course, here, failed=False, earlier=()):
    """Which cell to run for this name, or what the deleted one read; None where neither notebook nor course makes it.

    `here` is the number of the cell that asks for the name, or None; `earlier` are cells of earlier editions, where the
    present one does not make the name.
    """
    maker = _nearest(name, cells, here)
    was_taken_out = any(name in _makes(cell) for cell in earlier)
    if was_taken_out and (maker is None or _has_newer_below(cells, maker)):
        newer = f" and of this cell. {NEWER_BELOW}" if _has_newer_below(cells, here) else ", which has it no more."
        return f"`{name}` belongs to an earlier edition of the course{newer}"
    if maker is not None:
        cell = _in_words(name, cells, maker)
        if failed:
            return f"`{name}` has no value: {cell} ended with an error. Mend that cell and run it, {AGAIN}"
        below = "only further down, " * (here is not None and maker > here)
        return f"`{name}` comes {below}from {cell}. Run that cell, {AGAIN}{_hint(cells, maker)}"
    ids = [cell["id"] for cell in course]
    here = ids.index(cells[here]["id"]) if here is not None and cells[here]["id"] in ids else None
    maker = _nearest(name, course, here)
    if maker is None:
        return None
    deleted, under = course[maker], _heading(course, maker)
    if deleted["id"] in [cell["id"] for cell in cells]:
        line = _line(name, deleted)
        return f"`{name}` came from `{line}` under “{under}”, which is gone. Write it again and run its cell."
    return (
        f"`{name}` came from a cell that has been deleted from this copy. It stood under “{under}”. "
        "Edit → Undo Cell Operation brings it back, or put it into a new cell there; then run it, "
        f"{AGAIN} It read:\n\n{deleted['source']}"
    )


def import_explanation(module, line, source, cells, lessons, here):
    """Where what this line of `source` imports from the course's own `module` is found today, or None.

    `lessons` are the cells of all lessons, whose imports know.
    """
    if (module or "").partition(".")[0] not in PACKAGES:
        return None
    if _has_newer_below(cells, here):
        return f"The course has changed this cell since you did. {NEWER_BELOW}"
    names = {name for start, end, _, name in _imports(source) if start <= line <= end}
    place_of = {name: place for cell in lessons for *_, place, name in _imports(cell["source"]) if name in names}
    lines = "\n".join(f"from {place} import {name}" for name, place in place_of.items())
    return f"The course has it in another place. Write:\n\n{lines}" if place_of else None


def _imports(source):
    """(first line, last line, module, name) of each `from module import name`."""
    try:
        nodes = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return []
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return [(node.lineno, node.end_lineno, node.module, alias.name) for node in froms for alias in node.names]


def _has_newer_below(cells, i):
    """Whether copies.py has put the course's new version below this cell, to be run."""
    newer = [cell["metadata"].get("course", {}).get("new_version_of") for cell in cells if cell["cell_type"] == "code"]
    return i is not None and cells[i]["id"] in newer


def _nearest(name, cells, here):
    """The number of the last cell above that makes this name, or else of the first one; never of the cell itself."""
    makers = [i for i, cell in enumerate(cells) if cell["cell_type"] == "code" and i != here and name in _makes(cell)]
    above = [i for i in makers if here is not None and i < here]
    return above[-1] if above else makers[0] if makers else None


def _makes(cell):
    try:
        table = symtable.symtable(cell["source"], "cell", "exec")
    except (SyntaxError, ValueError):  # half written, or a line for the shell
        return set()
    return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}


def _in_words(name, cells, i):
    """A cell in words: by the line that makes the name, or by its place where the lines are folded away."""
    heading = _heading(cells, i)
    if not _is_folded(cells[i]):
        return f"the cell with `{_line(name, cells[i])}` under “{heading}”"
    grey = [k for k, cell in enumerate(cells) if _is_folded(cell) and _heading(cells, k) == heading]
    which = f", number {grey.index(i) + 1} of {len(grey)} there" if len(grey) > 1 else ""
    return f"a folded cell under “{heading}”{which}"


def _hint(cells, maker):
    if _is_folded(cells[maker]):
        return " The arrow keys select it, Shift+Enter runs it, and it stays folded."
    if all(cell["cell_type"] != "code" for cell in cells[:maker]):
        return " In a kernel that was started again, Run → Run All Above Selected Cell runs all that you had."
    return ""


def _is_folded(cell):
    return cell["cell_type"] == "code" and cell["metadata"].get("jupyter", {}).get("source_hidden", False)


def _heading(cells, i):
    texts = [cell["source"] for cell in cells[:i] if cell["cell_type"] == "markdown"]
    titles = [title for text in texts for title in re.findall(r"^#{1,6} +(.+)", text, re.M)]
    return titles[-1].replace("$", "") if titles else "the beginning"


def _line(name, cell):
    lines = [line.strip() for line in cell["source"].splitlines()]
    line = next(line for line in lines if re.search(rf"\b{name}\b", line) and not line.startswith("#"))
    is_own = OWN & set(cell["metadata"].get("tags", []))  # and may be another by now than the file was saved with
    return re.sub(rf"^(.*\b{name}\b[^=]*)=.*", r"\1= …", line) if is_own else line


# ------------------------------------------------------------------------------------------- a line that raised


def _forget(result):
    """Delete what a learner's cell made before, if it has raised now: the next cell must not judge that."""
    shell, source = sys.modules["IPython"].get_ipython(), result.info.raw_cell or ""
    notebook = places.notebook()
    mine = {name for cell in _course(notebook) if OWN & set(cell["metadata"].get("tags", [])) for name in _makes(cell)}
    for name in mine:
        if re.search(rf"^(?:def|class) +{name}\b|^[\w, ]*\b{name}\b[\w, ]*=(?!=)", source, re.M):
            _failed.discard(name)
            if not result.success:
                _failed.add(name)
                shell.user_ns.pop(name, None)


# ----------------------------------------------------------------------------------------------- notebook and course


def _course(notebook):
    """The cells of the notebook's latest edition as a copy was begun with them."""
    book = notebook and _read(notebook.parent / BASELINE_FILE).get(notebook.name)
    return book["versions"][book["latest"]] if book else []


def _all_lessons(notebook):
    books = _read(notebook.parent / BASELINE_FILE).values()
    return [cell for book in books for cell in book["versions"][book["latest"]]]


def _earlier(notebook):
    """The cells of all editions of the notebook that this learner was given."""
    book = _read(notebook.parent / BASELINE_FILE).get(notebook.name)
    return [cell for cells in book["versions"].values() for cell in cells] if book else []


def _read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
