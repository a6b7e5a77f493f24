"""Keep how slides and pages show what a notebook has just shown, in the kernel that has just run it.

conftest.py has the kernel run this file after the notebook's last cell.
"""

import pickle
import sys
from pathlib import Path

import nbformat
from IPython import get_ipython

ROOT = str(Path(__file__).parent.parent)


def keep(notebook, file):
    """Write what `live.run_here` returns for the notebook at this path into a file, from the values it has shown."""
    sys.path.append(ROOT)
    try:
        from authors.deck.live import shown
    finally:
        sys.path.remove(ROOT)
    values = get_ipython().user_ns["Out"]
    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    found = {cell.id: shown(values[number]) for number, cell in enumerate(cells, 1) if number in values}
    whole = Path(f"{file}.kernel")
    whole.write_bytes(pickle.dumps({id: value for id, value in found.items() if value is not None}))
    whole.replace(file)  # so that nobody reads half of it
