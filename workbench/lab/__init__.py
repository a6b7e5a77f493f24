"""A notebook of the course in JupyterLab: what its page asks of the kernel that runs it.

The rest of this folder is the page's side, a JupyterLab extension that is read as it stands here, without a build step;
commands/setting_up.py puts it where JupyterLab looks. Where it is absent, nothing here is ever asked.
"""

import importlib
from pathlib import Path

from IPython.display import JSON

from .. import shared_json
from ..places import BASELINE_FILE, guesses_file

HERE = Path.cwd()  # where the kernel began: in the notebook's folder
IMPORTED = ("torch", "workbench.predict", "workbench.exercises", "workbench.board.lessons", "workbench.display.plots")
_ran = set()  # ids of the cells that ran to their end in this kernel
_entered = {}  # id of a question → what was entered on the page before the question's cell ran
_on_page = {}  # name of a notebook → ids of the cells that its page has, which may not be saved


def note(result):
    """After each cell: whether it ran to its end."""
    id = getattr(result.info, "cell_id", None)
    if id:
        (_ran.add if result.success else _ran.discard)(id)


def state_of_page(name, here=None):
    """What the page of the notebook `name` asks as it connects, and before a button runs anything.

    `here` are the ids of the cells that the page has now; the file may have others. The answer: which of its cells are
    the course's, since no button runs others; which cells have run; and what was entered in forms. Of a notebook that
    only says that it is the course's, nothing.
    """
    course = course_cells(name)
    _on_page[name] = here and set(here)  # a page of an earlier edition, still open, does not say it
    return JSON(course and {"course": course, "ran": sorted(_ran), "kept": shared_json.read(guesses_file())})


def course_cells(name):
    """The ids of the cells of a copy that are the course's; of a notebook that is no copy, none.

    A copy that the learner has doubled or renamed is known by its edition.
    """
    books, copy = shared_json.read(HERE / BASELINE_FILE), shared_json.read(HERE / name)
    edition = copy.get("metadata", {}).get("course", {}).get("version")
    book = books.get(name) or next((book for book in books.values() if edition in book["versions"]), None)
    if book is None:
        return []
    cells = {cell["id"]: "".join(cell["source"]) for cell in book["versions"][book["latest"]]}
    newer = [cell for cell in copy.get("cells", []) if is_newer(cell, cells)]
    return [*cells, *(cell["id"] for cell in newer)]


def is_newer(cell, cells):
    """Whether copies.py has put this cell of the course's below the learner's own version of it."""
    partner = cell["metadata"].get("course", {}).get("new_version_of")
    return partner in cells and "".join(cell["source"]).partition("\n")[2] == cells[partner]


def still_there(name, cells):
    """Of these cells of the notebook's file those that have not been deleted on its page since it was saved."""
    here = _on_page.get(name)
    return [cell for cell in cells if here is None or not cell["id"] or cell["id"] in here]


def enter(question, text):
    """Hand over what was entered on the page; the cell of the question runs next."""
    _entered[question] = text


def entered(question):
    """What was entered at this question and no cell has taken yet, or ""."""
    return _entered.pop(question, "")


def warm_up():
    """Load what every lesson imports while its first lines are read. No name is bound, and no cell runs."""
    for name in IMPORTED:
        importlib.import_module(name)
