"""Which test notices which patient: a chart with a row for each test and a column for each patient."""

import html

import torch

from ...display import show
from ...display.colours import RULE, on_any

CAUGHT, PASSED, RAISES = "caught", "·", "raises"
MARKS = {CAUGHT: "●", PASSED: "·", RAISES: "!"}


def outcome(test, attention):
    """Return "caught" if the test notices something, "·" if not, and "raises" where one of the two raises an error.

    An error is noticed too, but it is not the test that says so.
    """
    try:
        with torch.random.fork_rng(devices=[]):
            answer = test(attention)
            return CAUGHT if answer is not ... and bool(answer) else PASSED
    except Exception:
        return RAISES


class Chart:
    """The outcome of each test on each patient, as a table; `rows` has the words, by the tests' names."""

    def __init__(self, tests, patients, below=None):
        """tests: functions; patients: a dict, name → attention; below: a last row, (its name, a word for each)."""
        self.names = list(patients)
        self.rows = {test.__name__: [outcome(test, patient) for patient in patients.values()] for test in tests}
        self.below = below

    def __repr__(self):
        rows = [("", self.names), *self.rows.items(), *([self.below] if self.below else [])]
        first = max(len(name) for name, _ in rows)
        width = max(len(word) for _, row in rows for word in row) + 2
        return "\n".join(f"{name:{first}}" + "".join(f"{word:>{width}}" for word in row) for name, row in rows)

    def _repr_html_(self):
        head = "".join(f'<th scope="col" style="{HEAD}">{html.escape(name)}</th>' for name in self.names)
        body = "".join(_row(name, row) for name, row in self.rows.items())
        below = _last(*self.below) if self.below else ""
        rows = f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}{below}</tbody>"
        words_there = {word for row in self.rows.values() for word in row}
        legend = " &nbsp; ".join(f"{MARKS[word]} {word}" for word in (CAUGHT, RAISES) if word in words_there)
        table = f'<table class="chart" style="{show.TABLE}">{rows}</table>'
        return f'<div style="overflow-x: auto">{table}</div><small>{legend}</small>'


HEAD = "font-weight: normal; padding: 0.2em 0.3em; text-align: center; border: none; background: none"


def _row(name, row):
    return f'<tr style="background: none">{_name(name)}{"".join(map(_cell, row))}</tr>'


def _last(name, row):
    style = f"{HEAD}; max-width: 4em; white-space: normal; vertical-align: top"
    cells = "".join(f'<td style="{style}"><b>{html.escape(word)}</b></td>' for word in row)
    return f'<tr style="background: none">{_name(name, is_code=False)}{cells}</tr>'


def _name(name, is_code=True):
    style = "font-weight: normal; padding: 0.2em 0.55em; text-align: right; border: none; background: none"
    words = f"<code>{html.escape(name)}</code>" if is_code else html.escape(name)
    return f'<th scope="row" style="{style}">{words}</th>'


def _cell(word):
    ground = {CAUGHT: on_any("weights", 0.55), RAISES: on_any("quiet", 0.3)}.get(word, "none")
    style = f"background: {ground}; color: inherit; border: 1px solid {RULE}; border-radius: 4px; min-width: 2.2em"
    return f'<td style="{style}; padding: 0.2em 0.3em; text-align: center" aria-label="{word}">{MARKS[word]}</td>'
