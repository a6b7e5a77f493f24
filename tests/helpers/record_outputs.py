"""Keep how slides and pages show what a notebook shows, in the kernel that runs it; shared.py has it do so."""

import pickle
import sys
from contextlib import contextmanager
from pathlib import Path

import nbformat
from IPython import get_ipython

ROOT = str(Path(__file__).resolve().parents[2])


def begin(notebook):
    """Remember what each cell comes to, and draw slides as their last cells run, before the notebook's first one."""
    shell = get_ipython()
    shell.came, shell.to_come, shell.pictures = [], [], None
    shell.events.register("post_run_cell", lambda cell: shell.came.append((cell.info.raw_cell, cell.result)))
    with authors_at_hand():
        from authors.deck.pictures import Pictures
        from authors.deck.slides import file_of, slides_of, with_cells
        from authors.pages.own_lines import OwnLines
        from workbench.predict import Blank
    lesson = Path(notebook).stem
    if not file_of(lesson).is_file():
        return  # a made-up notebook
    shell.to_come = nbformat.read(notebook, as_version=4).cells
    shell.pictures, shell.lines = Pictures(with_cells(shell.to_come, slides_of(lesson))), OwnLines()
    shell.events.register("post_run_cell", lambda cell: has_run(shell, blank(cell.result)))

    def blank(value):
        return value if isinstance(value, Blank) else None


def has_run(shell, blank):
    """A cell has run: what is due after it, and after the prose that follows."""
    codes = [i for i, cell in enumerate(shell.to_come) if cell.cell_type == "code" and cell.source]
    if not codes:
        return
    until = codes[1] if len(codes) > 1 else len(shell.to_come)
    own = {name: one for name, one in shell.user_ns.items() if name not in shell.user_ns_hidden}
    if blank:
        shell.lines.judged(shell.to_come[codes[0]], blank)
    for cell in shell.to_come[:until]:
        shell.pictures(cell, shell.user_ns)
        shell.lines.after(cell, own)
    del shell.to_come[:until]


def keep(notebook, file):
    """Write what `outputs.run_here` returns for the notebook at this path into a file, and its pictures beside it."""
    with authors_at_hand():
        from authors.pages.outputs import shown
    shell = get_ipython()
    came, found = iter(shell.came), {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "code" and cell.source:
            source, value = next(came)
            assert source == cell.source, cell.id
            found[cell.id] = shown(value)
    assert not shell.to_come, "a slide could not be drawn or a line not recorded, see above"
    made = {"": {id: value for id, value in found.items() if value is not None}}
    if shell.pictures:
        made |= {".drawn": shell.pictures.made(), ".lines": shell.lines.made()}
    for suffix, kept in made.items():
        whole = Path(f"{file}{suffix}.kernel")
        whole.write_bytes(pickle.dumps(kept))
        whole.replace(f"{file}{suffix}")  # so that nobody reads half of it


@contextmanager
def authors_at_hand():
    sys.path.append(ROOT)
    try:
        yield
    finally:
        sys.path.remove(ROOT)
