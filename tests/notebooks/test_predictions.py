"""What is asked of a learner: how it is written, and where it stops. helpers/solve_lesson.py works through it."""

import ast
import shutil

import nbformat
import preloaded_kernels
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from paths import ROOT

from workbench import copies

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def calls(cell):
    tree = ast.parse(cell.source)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "predict"]


def what_is_wrong_with(cell):
    """A question is one cell: a guess that is asked for, and truths that are computed from what the notebook holds."""
    is_tagged = "predict" in cell.metadata.get("tags", [])
    if bool(calls(cell)) != is_tagged:
        yield "calls predict without the tag predict, or has the tag without the call"
    if not is_tagged:
        return
    first = ast.parse(cell.source).body[0]
    if not (isinstance(first, ast.Assign) and ast.unparse(first.targets[0]) == "guess"):
        yield "does not begin with guess = ..."
    elif "..." not in ast.unparse(first.value):
        yield "has a guess in it already"
    for call in calls(cell):
        if call.args[0].value.endswith(".opening"):
            continue  # asked before there is anything to compute with; its record has the answer
        truth = call.args[2]
        if not any(isinstance(node, ast.Name) for node in ast.walk(truth)):
            yield f"has an answer that was typed and not computed: {ast.unparse(truth)}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_question_is_one_cell_with_a_computed_answer(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert {cell.id: wrong for cell in cells if (wrong := list(what_is_wrong_with(cell)))} == {}


def test_run_all_stops_at_the_first_question_with_its_form(tmp_path):
    """In a real kernel, as JupyterLab runs it."""
    (tmp_path / "notebooks").mkdir()
    shutil.copy2(NOTEBOOKS[0], tmp_path / "notebooks")
    copies.bring_up_to_date(tmp_path)
    notebook = nbformat.read(tmp_path / "my" / NOTEBOOKS[0].name, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path / "my")}})
    with preloaded_kernels.kernels(), pytest.raises(CellExecutionError):
        client.execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    ran = [cell for cell in code if cell.execution_count is not None]
    assert "predict" in ran[-1].metadata.tags and ran == code[: len(ran)] and len(ran) < 10
    form, output = ran[-1].outputs
    assert "application/vnd.jupyter.widget-view+json" in form.data
    (line,) = output.traceback
    assert output.output_type == "error" and "Your guess first" in line and "\n" not in line
