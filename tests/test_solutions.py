"""Every exercise can be solved where it stands: with all solutions filled in, the series runs green."""

import ast
import itertools
import json
import os
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

from attn_lib.exercises.checker import RECORD

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
SOLUTION = """\
from attn_lib.exercises.catalogue import EXERCISES
from attn_lib.exercises.clinic import PATIENTS

{name} = {reference}
"""
BEGIN = """\
%reset -f
import os
os.chdir({folder!r})
del os
"""


def reference(exercise):
    """Where the library keeps its own answer: three numbers in 1.1, a test for each patient, a function elsewhere."""
    if exercise == "1.1":
        return "[2.0000, 7.9640, 0.0540]"
    return f'PATIENTS["{exercise}"].detects' if exercise.startswith("6.") else f'EXERCISES["{exercise}"].reference'


def fill_in(notebook):
    """Put the library's answer into every exercise cell; returns the ids."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    filled = []
    for cell, following in itertools.pairwise(code):
        if "exercise" in cell.metadata.get("tags", []):
            call = ast.parse(following.source).body[-1].value  # check("3.2", causal_mask)
            exercise, name = call.args[0].value, call.args[1].id
            cell.source = SOLUTION.format(name=name, reference=reference(exercise))
            filled.append(exercise)
    return filled


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One kernel for all notebooks, each of which begins with an emptied namespace; and where it records verdicts."""
    record = tmp_path_factory.mktemp("verdicts") / "verdicts.jsonl"
    manager, client = start_new_kernel(env={**os.environ, RECORD: str(record)})  # and so no progress is written
    client.stop_channels()
    yield manager, record
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_with_every_solution_filled_in_a_notebook_runs_and_all_is_correct(path, kernel):
    manager, record = kernel
    record.write_text("")
    notebook = nbformat.read(path, as_version=4)
    filled = fill_in(notebook)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(BEGIN.format(folder=str(path.parent))))
    NotebookClient(notebook, km=manager, timeout=120).execute()
    verdicts = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert filled and {verdict["exercise"]: verdict["status"] for verdict in verdicts} == dict.fromkeys(
        filled, "correct"
    )
