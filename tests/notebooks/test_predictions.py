"""What is asked of a learner: how it is written, and where it stops. helpers/solve_lesson.py works through it."""

import ast

import nbformat
import pytest
from paths import ROOT

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
