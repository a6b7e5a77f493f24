"""What the learner sees: verdicts, hints, solutions and progress, as HTML and as the same words in plain text."""

import html
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

import torch

from ...display.show import (
    ATOL,
    COLUMNS,
    ROWS,
    RTOL,
    count,
    folded,
    framed,
    marked,
    matrix_as_html,
    matrix_as_text,
    plain,
    size_of,
)
from ...places import SilentForReaders, is_to_be_read
from .sections import linked

SIGNS = {"correct": "✓", "wrong": "✗", "unattempted": "…"}
FRAME = {"correct": "right", "wrong": "wrong", "unattempted": "open"}
SIGN_OF_PART = {"right": SIGNS["correct"], "wrong": SIGNS["wrong"], "open": SIGNS["unattempted"]}


@dataclass
class Verdict(SilentForReaders):
    """What `check` found: `status` is "correct", "wrong" or "unattempted"; `misconception` is an id or None."""

    exercise: str
    status: str
    misconception: str | None = None
    message: str = ""
    yours: torch.Tensor | None = None
    expected: torch.Tensor | None = None
    right_parts: str = ""  # "2 of 3" where an answer has parts
    shown_in: tuple | None = None  # the arguments of the call that went wrong as shown
    came_to: str = ""  # the `kind` of that call's outcome

    def waits(self):
        return self.status == "unattempted"

    def __repr__(self):
        text = f"{SIGNS[self.status]} {self.exercise}: {plain(self.message)}"
        if self.yours is None:
            return text
        return "\n\n".join([text, *(matrix_as_text(**table) for table in self._tables())])

    def _repr_html_(self):
        body = f"<b>{SIGNS[self.status]} {self.exercise}</b> &nbsp; {linked(marked(self.message))}"
        if self.yours is not None:
            tables = "".join(matrix_as_html(**table) for table in self._tables(in_colour=True))
            body += f'<div style="display: flex; flex-wrap: wrap; gap: 2em; margin-top: 0.6em">{tables}</div>'
        return framed(body, FRAME[self.status])

    def _tables(self, *, in_colour=False):
        """The learner's matrix and the expected one, with as many decimals as it takes to tell them apart."""
        yours, expected, where = matrices(self.yours, self.expected)
        enough = [d for d in (3, 5, 7) if "≠" in matrix_as_text(yours, other=expected, decimals=d)]
        both = {"decimals": min(enough, default=3)}
        if in_colour:
            both["largest"] = size_of(yours, expected)
        return [
            {"matrix": yours, "other": expected, "title": f"yours{where}", **both},
            {"matrix": expected, "other": yours, "title": f"expected{where}", **both},
        ]


@dataclass
class Part:
    """What was found of one part of an answer that has several: `state` is "right", "wrong" or "open"."""

    name: str
    state: str
    message: str
    misconception: str | None = None  # its id, where it is known
    matrices: tuple = ()  # two matrices to show beside it, the learner's and the expected one

    def __str__(self):
        return f"{SIGN_OF_PART[self.state]} {self.name}: {self.message}"


def matrices(yours, expected):
    """The part of two tensors to show: the first matrix in which they differ, of each, and its name."""
    where = ""
    if yours.shape == expected.shape and yours.ndim > 2 and yours.numel():
        index = _first_difference(yours, expected)
        yours, expected = yours[index], expected[index]
        where = f" [{', '.join(map(str, index))}]"
    yours, expected = _matrix(yours), _matrix(expected)
    if yours.shape != expected.shape or yours.is_complex() or expected.is_complex():
        return yours, expected, where
    rows, columns = _in_view(yours, expected)
    from_where = (f", {name} from {part.start}" for name, part in (("rows", rows), ("columns", columns)) if part.start)
    where += "".join(from_where)
    return yours[rows, columns], expected[rows, columns], where


def _differ(yours, expected):
    return ~torch.isclose(yours.double(), expected.double(), rtol=RTOL, atol=ATOL, equal_nan=True)


def _first_difference(yours, expected):
    places = _differ(yours, expected).nonzero()
    return tuple(places[0, :-2].tolist()) if len(places) else (0,) * (yours.ndim - 2)


def _in_view(yours, expected):
    """The rows and columns from which two matrices are shown: only so many have room, and one difference has to."""
    places = _differ(yours, expected).nonzero()
    i, j = min(places.tolist(), key=lambda place: (place[0] // ROWS, place[1] // COLUMNS), default=(0, 0))
    return slice(i - i % ROWS, None), slice(j - j % COLUMNS, None)


def _matrix(tensor):
    while tensor.ndim > 2:
        tensor = tensor[0] if len(tensor) else tensor.flatten(1)
    return tensor.reshape(1, -1) if tensor.ndim < 2 else tensor


# ------------------------------------------------------------------------------------------- hints and solutions


class Hint:
    """The hints called up so far, each folded: to run the cell, also with all others, is not yet to ask for help.

    Who asks again after the last hint gets the solution below the hints, folded as well.
    """

    def __init__(self, id, hints, total, solution=None):
        self.id, self.hints, self.total, self.solution = id, hints, total, solution

    def _titles(self):
        return [f"Hint {i} of {self.total} for {self.id}" for i in range(1, len(self.hints) + 1)]

    def _more(self):
        if is_to_be_read() or self.solution:
            return ""
        if len(self.hints) < self.total:
            return f"Ask again for hint {len(self.hints) + 1}."
        return "That was the last hint. Ask once more for the solution."

    def __repr__(self):
        lines = [f"{title}: {hint}" for title, hint in zip(self._titles(), self.hints, strict=True)]
        text = plain("\n".join(filter(None, [*lines, self._more()])))
        return f"{text}\n\n{self.solution!r}" if self.solution else text

    def _repr_html_(self):
        parts = [folded(title, marked(hint)) for title, hint in zip(self._titles(), self.hints, strict=True)]
        if is_to_be_read():
            return framed(folded(f"{len(parts)} hints for {self.id}", "".join(parts)))
        if self.solution:
            return f'{framed("".join(parts))}<div class="attn-solution">{self.solution._repr_html_()}</div>'
        return framed("".join(parts) + f"<small>{marked(self._more())}</small>" * bool(self._more()))


class Solution:
    """An answer's source, folded away."""

    def __init__(self, id, source):
        self.id, self.source = id, source

    def __repr__(self):
        return self.source

    def _repr_html_(self):
        code = f"<pre>{html.escape(self.source, quote=False)}</pre>"
        return framed(folded(f"Solution of {self.id}", code))


class Overview(SilentForReaders):
    """What `progress` shows: the exercises of every notebook that was begun, and how far the learner is."""

    WORDS: ClassVar = {"done": "✓ done", None: "– open"}  # others are "tried" and "2 of 3", parts right

    def __init__(self, rows, elsewhere=0):
        self.rows = [(id, title, state, self._word(state)) for id, title, state in rows]
        self.elsewhere = elsewhere  # how many stand in notebooks that were not begun

    def waits(self):
        return not self.rows

    def _word(self, state):
        if isinstance(state, int):  # a later notebook comes first
            return f"– after notebook {state}"
        return self.WORDS.get(state, f"✗ {state}")

    def _summary(self):
        if not self.rows:  # says no number, so that a new notebook changes no saved output
            return "No exercise attempted yet. A notebook is listed here once you have tried one of its exercises."
        states = [state for *_, state, _ in self.rows if not isinstance(state, int)]
        done = f"{states.count('done')} of {count(len(states), 'exercise')} done"
        return f"{done}; there are more in notebooks that you have not begun" if self.elsewhere else done

    def _lines(self):
        """(id, title, words) of each exercise; patients in a row who are equally far make one line."""
        for (words, is_patient), rows in groupby(self.rows, lambda row: (row[3], row[1] == f"Patient {row[0]}")):
            rows = list(rows)
            if is_patient and len(rows) > 1:
                yield f"{rows[0][0]} to {rows[-1][0]}", f"{len(rows)} patients", words
            else:
                yield from ((id, title, words) for id, title, *_ in rows)

    def __repr__(self):
        lines = [f"{id:>5}  {words:<8} {title}" for id, title, words in self._lines()]
        return "\n".join([self._summary(), *lines])

    def _repr_html_(self):
        rows = "".join(
            f"<tr><th scope='row'>{id}</th><td style='text-align: left'>{html.escape(title)}</td>"
            f"<td style='text-align: left'>{words}</td></tr>"
            for id, title, words in self._lines()
        )
        return framed(f"<b>{self._summary()}</b>" + f"<table><tbody>{rows}</tbody></table>" * bool(rows))
