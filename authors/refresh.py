"""The command `python course.py refresh`: execute notebooks and save them with their outputs."""

import base64
import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import nbformat
import numpy
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

from workbench.places import PROGRESS_VARIABLE, READ_VARIABLE

from . import lesson_texts, sections
from .addresses import still_line
from .deck import plans
from .deck.pictures import Pictures
from .deck.slides import SlideError, slides_of, with_cells
from .lacking import lacking
from .lessons import NOTEBOOKS, lessons
from .pages import notes
from .pages.outputs import run_here
from .pages.stills import stills
from .site import openings

WIDGET = "application/vnd.jupyter.widget-view+json"


def main(paths):
    """Refresh the notebooks at these paths, or all; returns 1 if one failed."""
    paths = [Path(path) for path in paths] or sorted(NOTEBOOKS.glob("*.ipynb"))
    lesson_texts.main([path.stem for path in paths])  # first: a new lesson gets the question that it opens with
    faults = []
    has_run = [refresh(path, faults) for path in paths]
    sections.main()  # headings that exercises name may have changed
    try:
        notes.main()  # slides that the guide for instructors names may have moved
        plans.main()
    except SlideError as error:  # of this lesson, told before, or of another
        faults.append(error)
    names = {path.stem for path, ran in zip(paths, has_run, strict=True) if ran}
    these = [one for one in lessons() if one.name in names]
    faults += openings.write(these)
    faults += [words for one in these for words in lacking(one)]
    print(*dict.fromkeys(map(str, faults)), sep="\n", end="\n" * bool(faults))
    return 0 if all(has_run) and not faults else 1


def refresh(path, faults=None):
    """Execute one notebook and save it; returns whether it ran. What is wrong with its slides is added to faults."""
    print(f"{path.name} … ", end="", flush=True)
    saved, notebook = (nbformat.read(path, as_version=4) for _ in range(2))
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        with own_progress():
            client.execute()
    except CellExecutionError as error:
        print(f"failed, and was not changed:\n{error}")
        return False
    notebook.metadata.get("language_info", {}).pop("version", None)
    pictures = stills_of(path, notebook, [] if faults is None else faults)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = as_saved(cell.outputs, pictures.get(cell.id), still_line(path.stem))
    keep_what_looks_the_same(saved, notebook)
    number_cells_alike(notebook)
    nbformat.validate(notebook)
    text, before = nbformat.writes(notebook) + "\n", path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8", newline="\n")
    print("unchanged" if text == before else "saved", flush=True)
    return True


def number_cells_alike(notebook):
    """The same number at every cell that ran: a cell that is put in changes none of those after it."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = 1
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = 1


def as_saved(outputs, still, line):
    """A cell's outputs as a reader has them for whom nothing runs.

    A progress bar, which the file would have as it begins, at 0 %, is left out. Of a board, which would be a widget
    without a kernel, there is a picture, `still`, and above it this line, which unfolds the tables.
    """
    parts_of = [board_as_saved(one, still, line) if still and is_board(one) else [one] for one in without_bars(outputs)]
    return [part for parts in parts_of for part in parts]


def without_bars(outputs):
    return [one for one in outputs if "%|" not in one.get("data", {}).get("text/plain", "")]


def is_board(output):
    return {WIDGET, "text/html"} <= set(output.get("data", {}))


def board_as_saved(output, still, line):
    words, tables = output.data["text/plain"], output.data["text/html"].partition("</p>")[2].removesuffix("</div>")
    picture = {"image/png": still, "text/plain": words}
    about = {"image/png": {"alt": f"A board as it stands before anything is moved. {words}."}}
    folded = f"<details><summary>{line}</summary>{tables}</details>"
    above = {"text/html": folded, "text/plain": f"{words}, as tables"}
    return [
        nbformat.v4.new_output("display_data", above),
        nbformat.v4.new_output("execute_result", picture, metadata=about, execution_count=1),
    ]


def stills_of(path, notebook, faults):
    """id → a board's still picture; on the way every slide is drawn, and why one cannot be is a fault."""
    try:
        values = run_here(notebook, after=Pictures(with_cells(notebook.cells, slides_of(path.stem))))
    except SlideError as error:
        faults.append(error)
        values = run_here(notebook)
    return stills(values)


def keep_what_looks_the_same(saved, fresh):
    """Outputs that only a file comparison tells apart stay as they were saved, so that a diff shows what changed."""

    def pixels(png):
        return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA"), int)

    before = {cell.id: cell for cell in saved.cells}
    for cell in fresh.cells:
        was = before.get(cell.id, {})
        timed = "measured" in cell.metadata.get("tags", []) and was.get("source") == cell.source
        for old, new in zip(without_bars(was.get("outputs", [])), cell.get("outputs", []), strict=False):
            if timed and "data" in old and "data" in new:
                new.data, new.metadata = old.data, old.metadata
            for mime in old.get("data", {}).keys() & new.get("data", {}).keys():
                alike = "widget-view" in mime  # it names a model that lives as long as its kernel
                if mime == "image/png":  # another processor draws edges another shade of grey
                    a, b = pixels(old.data[mime]), pixels(new.data[mime])
                    alike = a.shape == b.shape and abs(a - b).max() < 32
                if alike:
                    new.data[mime] = old.data[mime]


@contextlib.contextmanager
def own_progress():
    """Inside, exercises that are done count nowhere else: what `progress` shows is the same whoever saves it."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, variables_for_readers(folder)):
        yield


def variables_for_readers(folder):
    """What a kernel is told that runs a notebook to be saved for readers; what it keeps goes into this folder."""
    return {PROGRESS_VARIABLE: str(folder), READ_VARIABLE: "1"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
