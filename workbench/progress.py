"""Which exercises are done: a small file beside the notebooks, safe under several notebooks at once."""

import json
import os
import re
import time
from pathlib import Path

from filelock import FileLock, Timeout

from .places import PROGRESS_FILE, PROGRESS_VARIABLE

STATE = re.compile(r"tried|done|(\d) of (\d)")  # of several parts some may be right


def place(folder=None):
    """Where the file is: in this folder, or the one that a variable names, or the one that the kernel works in."""
    return Path(folder or os.environ.get(PROGRESS_VARIABLE) or ".") / PROGRESS_FILE


def load(folder=None):
    """Read the states as a dict, id → "tried", "2 of 3" or "done"; a damaged file or none counts as empty."""
    try:
        states = json.loads(place(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(states, dict):
        return {}
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
    try:
        path = place(folder).absolute()  # raises where the folder is gone
        with FileLock(str(path) + ".lock", timeout=3):
            states = load(folder)  # again: another notebook may have written meanwhile
            states[verdict.exercise] = max(states.get(verdict.exercise), state, key=_rank)
            _replace(path, json.dumps(states, indent=1, sort_keys=True))
    except (OSError, Timeout):
        return False
    return True


def _replace(path, text):
    """Write another file and swap: a reader sees the old one or the new one, never half of it."""
    unfinished = path.with_name(f"{PROGRESS_FILE}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    for attempt in range(20):
        try:
            return os.replace(unfinished, path)
        except PermissionError:  # Windows, while another process reads the file
            if attempt == 19:
                unfinished.unlink()
                raise
            time.sleep(0.05)
