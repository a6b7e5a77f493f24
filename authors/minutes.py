"""How many minutes a student needs for a lesson, counted from its notebook."""

import itertools
import re

from workbench.copies import as_written
from workbench.first_way import first_way

LONGEST = 45  # minutes, without the exercises; more is said
TOO_LONG = 60  # more is red

WORDS_A_MINUTE = 110  # of prose that sends the eye to a formula or a picture, and back
LINES_A_MINUTE = 6  # of code: read, run, and what comes out looked at
GUESS, BLANK = 1.2, 2  # a guess is worked out on paper; a blank takes one wrong try
BOARD, FIGURE = 5, 2  # a board has a task, a figure one thing to grab

NO_WORDS = re.compile(r"</summary>.*?</details>|\$\$.*?\$\$|<[^>]*>|!\[.*?\]\(.*?\)|^\|.*$", re.S | re.M)
BOARD_CALL = re.compile(r"\b(\w+_board|\w+_figure|Board)\(")


def minutes_of(notebook):
    """What the lesson takes a student the first time, in minutes: without what is asked before it, and exercises."""
    before = itertools.takewhile(lambda cell: not re.search(r"^## Exercises$", cell.source, re.M), notebook.cells)
    cells = [cell for cell in first_way(before) if not cell.get("id", "").startswith("opening")]
    words = sum(len(words_of(cell)) for cell in cells if cell.cell_type == "markdown")
    code = [cell for cell in cells if cell.cell_type == "code"]
    boards = {name for cell in code for name in BOARD_CALL.findall(cell.source)}
    lines = sum(len(lines_of(cell)) for cell in code if is_read(cell))
    guesses = sum("predict" in tags(cell) for cell in code)
    blanks = sum("blank" in tags(cell) for cell in code)
    on_boards = sum(FIGURE if name.endswith("_figure") else BOARD for name in boards)  # with more steps it is the same
    work = GUESS * guesses + BLANK * blanks + on_boards
    return words / WORDS_A_MINUTE + lines / LINES_A_MINUTE + work


def words_of(cell):
    """The words of a prose cell: no formulas on a line of their own, tables, pictures, HTML, folds but answers."""
    return NO_WORDS.sub(" ", as_written(cell.source)).split()


def lines_of(cell):
    """The lines of a cell of code that are read; of a question's call the first, as the others name known mistakes."""
    source = re.sub(r"^(predict\(.*?)\n.*", r"\1", as_written(cell.source), flags=re.S | re.M)
    return [line for line in source.splitlines() if line.strip()]


def is_read(cell):
    """Whether a student reads a code cell: not what shows a board, and not the course's own line behind a blank."""
    return "filled" not in tags(cell) and not BOARD_CALL.search(cell.source)


def tags(cell):
    return cell.metadata.get("tags", [])
