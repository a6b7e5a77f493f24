"""Which exercises are done: a small file beside the notebooks, safe under several notebooks at once."""

import json
import os
import time
from pathlib import Path

from filelock import FileLock, Timeout

from .catalogue import EXERCISES
from .verdict import Overview

NAME = ".progress.json"
VARIABLE = "ATTENTION_PROGRESS"  # another folder: the tested edition shows everybody the same, whoever runs it
RANKS = {"tried": 1, "done": 2}  # what is done stays done


def progress():
    """Show which exercises are done, as kept in the folder of the learner's copies."""
    states = load()
    return Overview([(id, exercise.title, states.get(id)) for id, exercise in EXERCISES.items()])


def place(folder=None):
    """Where the file is: in this folder, or the one that a variable names, or the one that the kernel works in."""
    return Path(folder or os.environ.get(VARIABLE) or ".") / NAME


def load(folder=None):
    """Read the states as a dict, id → "tried" or "done"; a file that is missing or damaged counts as empty."""
    try:
        states = json.loads(place(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(states, dict):
        return {}
    return {id: state for id, state in states.items() if isinstance(state, str) and state in RANKS}


def store(verdict, folder=None):
    """Add a verdict to the file; returns False where it cannot be written."""
    state = "done" if verdict.status == "correct" else "tried"
    if RANKS.get(load(folder).get(verdict.exercise), 0) >= RANKS[state]:
        return True
    try:
        path = place(folder).absolute()  # raises where the folder is gone
        with FileLock(str(path) + ".lock", timeout=3):
            states = load(folder)  # again: another notebook may have written meanwhile
            before = RANKS.get(states.get(verdict.exercise), 0)
            states[verdict.exercise] = state if RANKS[state] > before else states[verdict.exercise]
            _replace(path, json.dumps(states, indent=1, sort_keys=True) + "\n")
    except (OSError, Timeout):
        return False
    return True


def _replace(path, text):
    """Write beside the file and swap: a reader sees the old one or the new one, never half of it."""
    fresh = path.with_name(f"{NAME}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    for attempt in range(20):
        try:
            return os.replace(fresh, path)
        except PermissionError:  # Windows, while another process reads the file
            if attempt == 19:
                fresh.unlink(missing_ok=True)
                raise
            time.sleep(0.05)
