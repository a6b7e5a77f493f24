"""Where a learner's work is found: files in the folder of the copies, and environment variables that name others."""

import functools
import json
import os
import sys
from pathlib import Path

BASELINE_FILE = ".copy.json"  # the course's cells as each copy was given them; where it stands, copies are
PROGRESS_FILE = ".progress.json"
GUESSES_FILE = ".guesses.json"  # beside it: what was entered in the forms of questions

COPY_VARIABLE = "ATTENTION_COPY"  # set: a copy is worked in though no baseline stands beside it, as on Colab
READ_VARIABLE = "ATTENTION_READ"  # set: a notebook runs to be read as saved, and nobody is there to answer
PROGRESS_VARIABLE = "ATTENTION_PROGRESS"  # folder of the progress file, in place of the one that the kernel works in
HAND_IN_VARIABLE = "ATTENTION_HAND_IN"  # folder into which a button copies notebooks, for classroom/hub/collect.py
DEADLINES_VARIABLE = "ATTENTION_DEADLINES"  # file with {"03": deadline} of this learner; stands beside the button
LIVE_VARIABLE = "ATTENTION_LIVE"  # folder into which verdicts go; `course.py grade --live` reads them
NAME_VARIABLE = "ATTENTION_NAME"  # under which name the teacher sees the learner there; the user's unless given


def guesses_file():
    """The file of what was entered in the forms of questions."""
    return Path(os.environ.get(PROGRESS_VARIABLE) or ".") / GUESSES_FILE


def in_a_copy():
    """Whether this kernel works in a learner's copy of the notebooks, wherever that was moved to."""
    return Path(BASELINE_FILE).is_file() or bool(os.environ.get(COPY_VARIABLE)) or _notebook_is_a_copy()


def is_to_be_read():
    """Whether the notebook runs only to be saved for readers: then what waits for an answer says nothing."""
    return bool(os.environ.get(READ_VARIABLE)) and not in_a_copy()


class SilentForReaders:
    """What is shown of an answer and has nothing to say to a reader while `waits()` for one."""

    def _ipython_display_(self):
        if not (is_to_be_read() and self.waits()):
            raise NotImplementedError  # IPython then shows it as it shows anything else


def notebook():
    """The notebook's file, as JupyterLab and VS Code tell their kernels; None where neither does or it has moved."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    names = shell.user_ns if shell else {}
    path = str(names.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", ""))
    return Path(path) if path.endswith(".ipynb") and Path(path).is_file() else None


def cells(notebook):
    """The cells of a notebook's file, each with its id, or "", and its text; of a file that is not there, none."""
    try:
        book = json.loads(notebook.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [{"id": "", **cell, "source": "".join(cell["source"])} for cell in book.get("cells", [])]


def running(cells):
    """Which of these cells runs now: by its id where the front end sends it, else by its text; None if none does."""
    shell = sys.modules["IPython"].get_ipython()
    parent = getattr(shell, "get_parent", dict)() or {}
    id, text = parent.get("metadata", {}).get("cellId"), shell.history_manager.input_hist_raw[-1]
    same = [i for i, cell in enumerate(cells) if id and cell["id"] == id]
    same += [i for i, cell in enumerate(cells) if cell["source"].strip() == text.strip()]
    return same[0] if same else None


def _notebook_is_a_copy():
    """Whether its metadata say so; of a notebook that is not known, whether one in this folder does."""
    open_notebook = notebook()
    files = [open_notebook] if open_notebook else Path().glob("*.ipynb")
    return any(_is_a_copy(file, file.stat().st_mtime_ns) for file in files)


@functools.cache
def _is_a_copy(file, time_changed):
    """As the file says; read again once it has changed."""
    try:
        return "version" in json.loads(file.read_text(encoding="utf-8-sig"))["metadata"]["course"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
