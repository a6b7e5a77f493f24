"""The one place where what learners are shown is made: numbers, matrices, frames, words and errors.

Whatever has an HTML form has the same words in plain text, for a terminal, a screen reader and a saved notebook.
"""

import html
import math
import re

import torch

from .colours import FULLEST, RULE, on_any

ROWS, COLUMNS = 8, 8  # what is shown of a larger matrix
BY_HAND = 0.01  # what a number worked out by hand may be off by
RTOL, ATOL = 1e-4, 1e-5  # what float32 may differ by, whatever the order of the operations
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")
FOLDER = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:'\"]+[/\\])+")
EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*])")


# ------------------------------------------------------------------------------------------------------- numbers


def number(x, decimals=3):
    """A number as text, of one width in a column: fixed decimals where they say something, otherwise three digits."""
    if not isinstance(x, float):
        return _other(x)
    if not math.isfinite(x):
        return _infinite(x)
    fits = x == 0 or 10**-decimals <= abs(x) < 1000
    return _minus(f"{x:.{decimals}f}" if fits else f"{x:.2e}")


def fixed(x, decimals=2):
    """A number as text with so many decimals whatever they say, as in the cells of a heatmap: 0.25, 0.00, −1.50."""
    return _minus(f"{x:.{decimals}f}") if math.isfinite(x) else _infinite(x)


def short(x, decimals=4):
    """A number as text with no more decimals than it needs: 2, 0.25, −1.6667."""
    if not isinstance(x, float):
        return _other(x)
    return _minus(f"{round(x, decimals):.15g}") if math.isfinite(x) else _infinite(x)


def value(thing, decimals=4):
    """Whatever a learner may enter or get: a number, a word, a tensor, lists and tuples of them, as one line."""
    if isinstance(thing, torch.Tensor):
        thing = thing.tolist()
    if isinstance(thing, list | tuple):
        inner = ", ".join(value(part, decimals) for part in thing)
        return f"[{inner}]" if isinstance(thing, list) else f"({inner},)" if len(thing) == 1 else f"({inner})"
    return short(thing, decimals)


def tolerance(absolute, relative=0.0):
    """How far apart two numbers may be and still count as the same, in words."""
    text = f"within {_plain(absolute)}"
    return f"{text}, or {_plain(100 * relative)} % of a larger number" if relative else text


def count(how_many, word, plural=None):
    """`1 number`, `3 numbers`."""
    return f"{how_many} {word if how_many == 1 else plural or f'{word}s'}"


def _other(x):
    return _minus(str(x)) if isinstance(x, int | complex) else str(x)


def _infinite(x):
    return "nan" if math.isnan(x) else "∞" if x > 0 else "−∞"


def _minus(text):
    """A true minus sign, and none before a zero."""
    if text.startswith("-") and not text.strip("-0."):
        text = text[1:]
    return text.replace("-", "−")


def _plain(x):
    return f"{x:.10f}".rstrip("0").rstrip(".")


# ------------------------------------------------------------------------------------------------------ matrices


def matrix_as_text(matrix, title="", *, other=None, decimals=3):
    """A matrix in columns, a line for each row; a number that differs from that in `other` is marked ≠."""
    rows, note = _corner(matrix)
    cells = [[_cell_words(x, other, i, j, decimals) for j, x in enumerate(row)] for i, row in enumerate(rows)]
    width = max((len(text) for row in cells for text in row), default=0)
    lines = [title + note] if title + note else []
    return "\n".join([*lines, *("  ".join(text.rjust(width) for text in row) for row in cells)])


def matrix_as_html(matrix, title="", *, other=None, row_names=(), column_names=(), largest=None, decimals=3):
    """A matrix as a table whose cells are coloured by their numbers, of at most 8 × 8 of them.

    matrix is a tensor or a list of rows. A cell that differs from that in `other` is marked ≠ and outlined; `largest`
    is the number of the strongest colour, for two tables on one scale. Names are heads of the rows and columns.
    """
    rows, note = _corner(matrix)
    largest = largest or size_of(rows)
    head = "".join(_head(name, "col") for name in column_names[:COLUMNS])
    head = f"<thead><tr>{'<td></td>' if len(row_names) else ''}{head}</tr></thead>" if head else ""
    body = ""
    for i, row in enumerate(rows):
        name = _head(row_names[i], "row") if i < len(row_names) else ""
        cells = "".join(_cell(x, _cell_words(x, other, i, j, decimals), largest) for j, x in enumerate(row))
        body += f'<tr style="background: none">{name}{cells}</tr>'
    caption = f'<caption style="{CAPTION}">{html.escape(title + note)}</caption>' if title + note else ""
    table = f'<table style="{TABLE}">{caption}{head}<tbody>{body}</tbody></table>'
    return f'<div style="overflow-x: auto">{table}</div>'


def size_of(*matrices):
    """The largest finite size of any number in these matrices, 1 where there is none."""
    sizes = [abs(float(x)) for matrix in matrices for row in _rows(matrix) for x in row if math.isfinite(x)]
    return max(sizes, default=0) or 1.0


CAPTION = "caption-side: top; text-align: left; color: inherit"
TABLE = (
    "border-collapse: separate; border-spacing: 2px; margin: 0.4em 0; font-size: max(15px, 1em);"
    " font-family: var(--ui, inherit); font-variant-numeric: tabular-nums"
)
FRAMES = {"plain": "weights", "right": "right", "wrong": "wrong", "open": "quiet"}  # what an edge says → its colour


def _rows(matrix):
    if isinstance(matrix, torch.Tensor):
        matrix = (matrix.reshape(1, -1) if matrix.ndim < 2 else matrix).tolist()
    return matrix


def _corner(matrix):
    rows = _rows(matrix)
    corner = [list(row[:COLUMNS]) for row in rows[:ROWS]]
    whole = len(rows) <= ROWS and all(len(row) <= COLUMNS for row in rows)
    return corner, "" if whole else f", the first {len(corner)} × {max(map(len, corner))} numbers"


def _cell_words(x, other, i, j, decimals):
    text = number(x, decimals)
    if other is None:
        return text
    rows = _rows(other)
    there = number(rows[i][j], decimals) if i < len(rows) and j < len(rows[i]) else None
    return text if text == there else f"≠ {text}"


def _cell(x, text, largest):
    edge = f"2px solid {on_any('wrong')}" if text.startswith("≠") else f"1px solid {RULE}"
    style = f"background: {ground(x, largest)}; color: inherit; border: {edge}; border-radius: 4px"
    inside = f"<b>{text}</b>" if text.startswith("≠") else text
    return f'<td style="{style}; padding: 0.2em 0.55em; text-align: right">{inside}</td>'


def _head(name, scope):
    style = "font-weight: normal; padding: 0.2em 0.55em; text-align: right; border: none; background: none"
    return f'<th scope="{scope}" style="{style}">{html.escape(str(name))}</th>'


def ground(x, largest=1.0):
    """The colour of a cell: the page's at 0, blue above, orange below, grey for nan; words are read on it."""
    if math.isnan(x):
        return on_any("quiet", 0.3)
    share = min(1.0, abs(float(x)) / largest)
    return on_any("weights" if x > 0 else "below", FULLEST * share) if share else "none"


# --------------------------------------------------------------------------------------------------------- words


def framed(body, kind="plain"):
    """HTML with an edge on the left whose colour says what it is: plain, right, wrong or open, as in `FRAMES`."""
    edge = f"border-left: 4px solid {on_any(FRAMES[kind])}"
    return f'<div style="{edge}; padding: 0.3em 0.8em; color: inherit">{body}</div>'


def folded(summary, body):
    """HTML that is unfolded by a click on its summary; body is HTML, summary words."""
    return f"<details><summary>{marked(summary)}</summary>{body}</details>"


def numbered(source):
    """HTML of source with a number before each line, which is not copied with it.

    Where a line has no room it goes on below, farther in than it began.
    """
    number = '<span style="opacity: 0.7; user-select: none">{:>2}  </span>'
    lines = []
    for n, line in enumerate(html.escape(source, quote=False).splitlines(), start=1):
        inwards = 8 + len(line) - len(line.lstrip())
        style = f"display: block; padding-left: {inwards}ch; text-indent: -{inwards}ch"
        lines.append(f'<span style="{style}">{number.format(n)}{line}\n</span>')  # pages that drop styles need \n
    return f"<pre>{''.join(lines)}</pre>"


class Texts:
    """Texts that a model has written, each a paragraph: it breaks where the page ends, as no printed line does.

    A dictionary in their place has a title for each, which stands in a line above it.
    """

    def __init__(self, *texts):
        with_titles = texts[0].items() if texts and isinstance(texts[0], dict) else [("", text) for text in texts]
        self.texts = [(str(title), str(text)) for title, text in with_titles]

    def __repr__(self):
        return "\n\n".join(f"{title}:\n{text}" if title else text for title, text in self.texts)

    def _repr_html_(self):
        escaped = ([html.escape(part, quote=False) for part in pair] for pair in self.texts)
        return "".join(f"<p><b>{title}</b><br>{text}</p>" if title else f"<p>{text}</p>" for title, text in escaped)


def marked(text):
    """Words as HTML: `code` and *emphasis* as they are written here, line by line."""
    pieces = html.escape(text, quote=False).split("`")
    if len(pieces) % 2 == 0:  # one backtick stands alone
        pieces[-2:] = ["`".join(pieces[-2:])]
    words = [f"<code>{p}</code>" if i % 2 else EMPHASIS.sub(r"<em>\1</em>", p) for i, p in enumerate(pieces)]
    return "".join(words).replace("\n", "<br>")


def plain(text):
    """The same words for plain text: *emphasis* without its stars, `code` as it is."""
    pieces = text.split("`")
    return "`".join(p if i % 2 else EMPHASIS.sub(r"\1", p) for i, p in enumerate(pieces))


def error(error, up_to=300):
    """Type and message of an exception in one line, the same in every run: no addresses, no folders, no C++ trace."""
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be read)"
    text = " ".join(text.split("\nException raised from")[0].split())
    text = FOLDER.sub("", ADDRESS.sub("0x…", text))
    text = text if len(text) <= up_to else f"{text[: up_to - 1]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
