"""What a deck shows in another way than a notebook: drawings as vectors, boards that need no widget, questions.

Cells run in two places, here as the deck is built and in the kernel behind a live one, and show the same in both.
Why they run here although outputs are saved: a saved plot has a page's pixels and a page's size, a saved board is a
widget that needs a kernel, and a question's answer has to be known to the page before it is asked.
Why in this process and not by nbclient: what is wanted are the values, a figure to draw again or a board to ask.
"""

import ast
import base64
import contextlib
import html
import io
import os
import sys
import tempfile
from dataclasses import dataclass
from unittest import mock

import torch

from workbench import progress
from workbench.board.live import LiveBoard
from workbench.display.drawings import Drawing, Matrices, Matrix, draw
from workbench.display.plots import Figure, place_legend
from workbench.places import COPY_VARIABLE
from workbench.predict import Blank, Prediction
from workbench.smollm import NoModel

from . import boards_in_pages

# Runs first in the kernel of a live deck, without a trace: `guess` has to be given there, as in a learner's copy.
PREAMBLE = "from authors.pages import outputs as _deck; _deck.prepare()"
LARGER = 0.735  # of a figure's size; its letters, which stay as they are, then take up more of it


@dataclass
class Shown:
    """What a cell shows on a slide: HTML in place of its output, and the question if it asks one.

    A figure is drawn only where it is asked for: a page of the site draws it otherwise, and many are on no slide.
    """

    html: str = ""
    question: dict | None = None
    tries: tuple = ()  # phrases that set the board which is shown
    figure: Figure | None = None
    board: dict | None = None  # what its page knows of it
    drawing: Drawing | None = None

    def on_slide(self):
        """The HTML, a figure's too."""
        return drawing(self.figure) if self.figure else self.html


def shown(value):
    """How a deck shows a value, or None if it shows it as a notebook does."""
    if isinstance(value, LiveBoard):
        return Shown(boards_in_pages.embed(value), tries=value.tries, board=value.spec)
    if isinstance(value, Figure):
        return Shown(figure=value)
    if isinstance(value, Drawing):
        return Shown(value.svg(), drawing=value)
    if isinstance(value, torch.Tensor) and value.ndim in (1, 2) and value.numel() and max(value.shape) <= 10:
        rows = value.detach() if value.ndim == 2 else value.detach()[None]
        return Shown(draw(Matrices([Matrix(rows)]), height=min(400, 20 + 80 * len(rows))).svg())
    if isinstance(value, Prediction) and not isinstance(value, Blank):
        question = value.for_a_page()
        return Shown(question.pop("answer"), question)
    return None


def drawing(figure):
    """A figure as a vector picture with its description; its letters larger than on a page, for the last row."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(LARGER * width, LARGER * height)
    picture = figure.svg()
    if hidden := [axes for axes in figure.axes if hides_a_line(axes.get_legend())]:
        for axes in hidden:
            place_legend(axes, below=True)
        picture = figure.svg()
        for axes in hidden:
            place_legend(axes)
    figure.set_size_inches(width, height)
    shape = " upright" if width < 1.5 * height else " broad" if width >= 2 * height else ""  # is there room beside it?
    return f'<img class="drawing{shape}" alt="{html.escape(figure.description)}" src="{uri(picture)}">'


def axes_alone(figure):
    """The same figure before its lines, or a map's squares, are drawn, where a question is asked of them."""
    drawn_on = [one for axes in figure.axes for one in (*axes.lines, *axes.images, *axes.texts)]
    description, figure.description = figure.description, f"{figure.axes[0].get_title()}: axes alone."
    for one in drawn_on:
        one.set_visible(False)
    picture = drawing(figure)
    for one in drawn_on:
        one.set_visible(True)
    figure.description = description
    return picture


def uri(svg):
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def hides_a_line(legend):
    """Whether a legend, which finds less room in a smaller plot, stands where a line is."""
    if legend is None:
        return False
    box = legend.get_window_extent()
    lines = [line.get_path().transformed(line.get_transform()) for line in legend.axes.lines]
    return any(line.intersects_bbox(box, filled=False) for line in lines)


def prepare():
    """In the kernel of a live deck: boards and figures come as HTML that the slide can show."""
    from IPython import get_ipython

    bind(True)
    formatter = get_ipython().display_formatter.mimebundle_formatter
    for kind in (LiveBoard, Figure):
        formatter.for_type(kind, lambda value, **options: ({"text/html": shown(value).on_slide()}, {}))


def bind(on):
    """Whether guesses and blanks have to be given, as in a learner's copy: not while cells run to catch up."""
    os.environ.pop(COPY_VARIABLE, None)
    if on:
        os.environ[COPY_VARIABLE] = "1"


def run_here(notebook, names=None, after=None, lines=None):
    """Run a notebook's code cells; returns cell id → `Shown` for those whose last value a deck shows in its own way.

    A cell that fails ends it with a RuntimeError that names the cell, unless it is tagged as one that is there to fail.
    Where the language model is not here, it is said, and what needs it is shown as it was saved.

    names, a dict, holds the notebook's variables afterwards; after(cell, names) is called when a cell has run, as long
    as no model is missing. lines, of own_lines.py, records what a page without Python needs for the lines that the
    learner writes.
    """
    names, values, has_model = {} if names is None else names, {}, True
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), progress_kept_in(folder), torch_kept():
        for cell in notebook.cells:
            if cell.cell_type == "code":
                try:
                    value = last_value(cell.source, names)
                    values[cell.id] = shown(value)
                    if lines and isinstance(value, Blank):
                        lines.judged(cell, value)
                except NoModel as error:
                    print(error, file=sys.stderr)
                    has_model = False
                    continue
                except Exception as error:
                    if not has_model:
                        continue
                    if "raises-exception" not in cell.metadata.get("tags", []):  # one that is, keeps its saved output
                        name = notebook.cells[0].source.partition("\n")[0].strip("# ")
                        raise RuntimeError(f"{name}: the cell {cell.id} fails: {error!r}") from error
            if lines:
                lines.after(cell, names)
            if after and has_model:  # later cells lack what the model would have given
                after(cell, names)
    return {name: value for name, value in values.items() if value is not None}


@contextlib.contextmanager
def torch_kept():
    """What a notebook sets for itself holds for no other: how torch prints, its threads, random numbers and dtype."""
    dtype, threads, print_options = (
        torch.get_default_dtype(),
        torch.get_num_threads(),
        vars(torch._tensor_str.PRINT_OPTS).copy(),
    )
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        vars(torch._tensor_str.PRINT_OPTS).update(print_options)


def progress_kept_in(folder):
    """Nobody's own progress is read or changed."""
    return mock.patch.dict(os.environ, {progress.PROGRESS_VARIABLE: folder})


def last_value(source, names):
    """Run a cell in these names; returns the value of its last line, or None if that is no expression."""
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        return eval(compile(last, "cell", "eval"), names) if last else None
