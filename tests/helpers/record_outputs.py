"""Keep how slides and pages show what a notebook shows, in the kernel that runs it; shared.py has it do so."""

import pickle
import sys
from pathlib import Path

import nbformat
from IPython import get_ipython

ROOT = str(Path(__file__).resolve().parents[2])


def begin():
    """Remember what each cell comes to, before the notebook's first one."""
    shell = get_ipython()
    shell.came = []
    shell.events.register("post_run_cell", lambda cell: shell.came.append((cell.info.raw_cell, cell.result)))


def keep(notebook, file):
    """Write what `outputs.run_here` returns for the notebook at this path into a file, from what its cells came to."""
    sys.path.append(ROOT)
    try:
        from authors.pages.outputs import shown
    finally:
        sys.path.remove(ROOT)
    came, found = iter(get_ipython().came), {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "code" and cell.source:
            source, value = next(came)
            assert source == cell.source, cell.id
            found[cell.id] = shown(value)
    whole = Path(f"{file}.kernel")
    whole.write_bytes(pickle.dumps({id: value for id, value in found.items() if value is not None}))
    whole.replace(file)  # so that nobody reads half of it
