"""What the learner sees: verdicts, hints, solutions and progress, as HTML and as the same words in plain text."""

import html
import math
from dataclasses import dataclass, field
from typing import ClassVar

import torch

from ..colours import COLOURS

SIGNS = {"correct": "✓", "wrong": "✗", "unattempted": "…"}
SHOWN_UP_TO = 8  # rows and columns of a drawn matrix
LIGHT, DARK, INK = (247, 250, 255), (141, 179, 236), "#10203A"  # a cell's ground, never too dark for the ink


@dataclass
class Verdict:
    """What `check` found: `status` is "correct", "wrong" or "unattempted"; `misconception` is an id or None."""

    exercise: str
    status: str
    misconception: str | None = None
    message: str = ""
    yours: torch.Tensor | None = field(default=None, repr=False)
    expected: torch.Tensor | None = field(default=None, repr=False)

    def __repr__(self):
        lines = [f"{SIGNS[self.status]} {self.exercise}: {self.message}"]
        if self.yours is not None:
            yours, expected, where = matrices(self.yours, self.expected)
            for name, matrix in (("yours", yours), ("expected", expected)):
                lines += ["", f"{name}{where}", *(" ".join(f"{number(x):>8}" for x in row) for row in matrix)]
        return "\n".join(lines)

    def _repr_html_(self):
        body = f"<b>{SIGNS[self.status]} {self.exercise}</b> &nbsp; {as_html(self.message)}"
        if self.yours is not None:
            yours, expected, where = matrices(self.yours, self.expected)
            tables = _table("yours" + where, yours, expected) + _table("expected" + where, expected, yours)
            body += f'<div style="display: flex; flex-wrap: wrap; gap: 2em; margin-top: 0.6em">{tables}</div>'
        colour = {"correct": COLOURS["output"], "wrong": COLOURS["key"]}.get(self.status, COLOURS["input"])
        return framed(body, colour)


def framed(body, colour=COLOURS["weights"]):
    return f'<div style="border-left: 4px solid {colour}; padding: 0.3em 0.8em">{body}</div>'


def as_html(text):
    """Escape text in which `code` is marked as here and paragraphs are parted by an empty line."""
    pieces = html.escape(text, quote=False).split("`")
    marked = "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
    return marked.replace("\n\n", "<br><br>").replace("\n", "<br>")


def folded(summary, body, *, is_open=False):
    return f"<details{' open' if is_open else ''}><summary>{html.escape(summary)}</summary>{body}</details>"


# ------------------------------------------------------------------------------------------------------- matrices


def matrices(yours, expected):
    """The part of two tensors to show, as nested lists: the first matrix in which they differ, and its name."""
    where = ""
    if yours.shape == expected.shape and yours.ndim > 2:
        index = _first_difference(yours, expected)
        yours, expected = yours[index], expected[index]
        where = f" [{', '.join(map(str, index))}]"
    return _rows(yours), _rows(expected), where


def _first_difference(yours, expected):
    close = torch.isclose(yours.double(), expected.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
    places = (~close).nonzero()
    return tuple(places[0, :-2].tolist()) if len(places) else (0,) * (yours.ndim - 2)


def _rows(tensor):
    while tensor.ndim > 2:
        tensor = tensor[0] if len(tensor) else tensor.flatten(1)
    tensor = tensor.detach().reshape(1, -1) if tensor.ndim < 2 else tensor.detach()
    return tensor[:SHOWN_UP_TO, :SHOWN_UP_TO].tolist()


def number(x):
    """Three decimals where they say something, otherwise three digits."""
    if isinstance(x, bool | int):
        return str(x)
    if not math.isfinite(x):
        return str(x)
    text = f"{x:.3f}" if x == 0 or 0.001 <= abs(x) < 1000 else f"{x:.2e}"
    return text.replace("-", "−")


def _table(title, matrix, other):
    finite = [abs(float(x)) for row in (*matrix, *other) for x in row if math.isfinite(x)]
    largest = max(finite, default=0) or 1.0
    rows = "".join(
        "<tr>" + "".join(_cell(x, _at(other, i, j), largest) for j, x in enumerate(row)) + "</tr>"
        for i, row in enumerate(matrix)
    )
    caption = f'<caption style="caption-side: top; text-align: left">{html.escape(title)}</caption>'
    return f'<table style="border-collapse: collapse; margin: 0">{caption}<tbody>{rows}</tbody></table>'


def _at(matrix, i, j):
    return matrix[i][j] if i < len(matrix) and j < len(matrix[i]) else None


def _cell(x, other, largest):
    share = min(1.0, abs(float(x)) / largest) if math.isfinite(x) else 0.0
    ground = ", ".join(str(round(a + (b - a) * share)) for a, b in zip(LIGHT, DARK, strict=True))
    differs = other is None or number(x) != number(other)
    edge = f"2px solid {COLOURS['key']}" if differs else "1px solid #C9D3E3"
    text = f"<b>≠ {number(x)}</b>" if differs else number(x)
    style = f"background: rgb({ground}); color: {INK}; border: {edge}; padding: 0.2em 0.5em; text-align: right"
    return f'<td style="{style}">{text}</td>'


# ------------------------------------------------------------------------------------------- hints and solutions


class Hint:
    """The hints called up so far; the first output is folded, the newest of later ones is open."""

    def __init__(self, id, hints, total):
        self.id, self.hints, self.total = id, hints, total

    def _titles(self):
        return [f"Hint {i} of {self.total} for {self.id}" for i in range(1, len(self.hints) + 1)]

    def _more(self):
        if len(self.hints) < self.total:
            return "Run this cell again for the next one."
        return f'That was the last one; `solution("{self.id}")` shows how the library does it.'

    def __repr__(self):
        lines = [f"{title}: {hint}" for title, hint in zip(self._titles(), self.hints, strict=True)]
        return "\n".join([*lines, self._more()])

    def _repr_html_(self):
        parts = [
            folded(title, as_html(hint), is_open=len(self.hints) > 1 and i == len(self.hints))
            for i, (title, hint) in enumerate(zip(self._titles(), self.hints, strict=True), start=1)
        ]
        return framed("".join(parts) + f"<small>{as_html(self._more())}</small>")


class Solution:
    """The library's own source, folded away."""

    def __init__(self, id, source):
        self.id, self.source = id, source

    def __repr__(self):
        return self.source

    def _repr_html_(self):
        code = f"<pre>{html.escape(self.source, quote=False)}</pre>"
        return framed(folded(f"Solution of {self.id}, as the library has it", code))


class Overview:
    """What `progress` shows: every exercise with its title and how far the learner is."""

    WORDS: ClassVar = {"done": "✓ done", "tried": "✗ tried", None: "– open"}

    def __init__(self, rows):
        self.rows = rows  # (id, title, "done", "tried" or None)

    def _summary(self):
        return f"{sum(state == 'done' for *_, state in self.rows)} of {len(self.rows)} exercises done"

    def __repr__(self):
        lines = [f"{id:>5}  {self.WORDS[state]:<8} {title}" for id, title, state in self.rows]
        return "\n".join([self._summary(), *lines])

    def _repr_html_(self):
        rows = "".join(
            f"<tr><th scope='row'>{id}</th><td style='text-align: left'>{html.escape(title)}</td>"
            f"<td style='text-align: left'>{self.WORDS[state]}</td></tr>"
            for id, title, state in self.rows
        )
        return framed(f"<b>{self._summary()}</b><table><tbody>{rows}</tbody></table>")
