"""Which exercises are done: a small file beside the notebooks, safe under several notebooks at once."""

import os
import re
from pathlib import Path

from . import shared_json
from .places import PROGRESS_FILE, PROGRESS_VARIABLE

STATE = re.compile(r"tried|done|(\d) of (\d)")  # of several parts some may be right


def place(folder=None):
    """Where the file is: in this folder, or the one that a variable names, or the one that the kernel works in."""
    return Path(folder or os.environ.get(PROGRESS_VARIABLE) or ".") / PROGRESS_FILE


def load(folder=None):
    """Read the states as a dict, id → "tried", "2 of 3" or "done"; a damaged file or none counts as empty."""
    return _valid(shared_json.read(place(folder)))


def _valid(states):
    return {id: state for id, state in states.items() if _rank(state) > 0}


def _rank(state):
    """How far a state is, from 0 for none at all to 3 for done; what was reached is never lost."""
    parts = STATE.fullmatch(state) if isinstance(state, str) else None
    if parts is None:
        return 0
    if parts[1] is None:
        return {"tried": 1, "done": 3}[state]
    some, whole = map(int, parts.groups())
    return 1 + some / whole if some < whole else 0  # all of them would be "done"


def tell(verdict):
    """Keep a verdict; returns a sentence to show if that failed, otherwise None."""
    return None if store(verdict) else "Progress could not be saved: this folder cannot be written to."


def store(verdict, folder=None):
    """Add a verdict to the file; returns False where it cannot be written."""
    state = "done" if verdict.status == "correct" else verdict.right_parts or "tried"
    if _rank(load(folder).get(verdict.exercise)) >= _rank(state):
        return True

    def better(states):  # another notebook may have written meanwhile
        states = _valid(states)
        return states | {verdict.exercise: max(states.get(verdict.exercise), state, key=_rank)}

    return shared_json.change(place(folder), better)
