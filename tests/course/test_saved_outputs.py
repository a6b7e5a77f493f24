"""Saved pictures, descriptions, boards: each, spoilt in its own way, is noticed; another font renderer is none."""

import base64
import copy
import io
import re

import matplotlib
import nbformat
import pytest
import torch
from lab_page import write_notebook
from notebook_run import failures
from PIL import ImageDraw
from saved_outputs import differences, picture

from authors.refresh import WIDGET, as_saved
from workbench.board.lessons import reshape_board
from workbench.display.plots import curves, heatmap, heatmap_grid

WEIGHTS = torch.softmax(torch.randn(4, 4, generator=torch.Generator().manual_seed(0)), dim=-1)
WORDS = ["the", "cat", "sat", "on"]


def drawn():
    """One figure of each kind that the lessons draw, as a cell's outputs."""
    series = {"scores": [1.0, 2, 3, 4], "scaled": [1.0, 2, 6, 9]}
    figures = [
        heatmap(WEIGHTS, WORDS, title="Who listens to whom"),
        heatmap_grid(torch.stack([WEIGHTS, WEIGHTS.T]), WORDS),
        curves([1, 2, 4, 8], series, title="Variance", xlabel="d_k", ylabel="variance"),
    ]
    return [shown(*figure._repr_mimebundle_()) for figure in figures]


def shown(data, metadata):
    return nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=1)


def cell(outputs, *tags):
    return nbformat.v4.new_code_cell("", outputs=outputs, metadata={"tags": list(tags)})


@pytest.fixture(scope="module")
def saved():
    return drawn()


def edited(output, change):
    """The output with change(picture) in place of its picture."""
    image = change(picture(output.data["image/png"]))
    file = io.BytesIO()
    image.save(file, "PNG")
    output = copy.deepcopy(output)
    output.data["image/png"] = base64.b64encode(file.getvalue()).decode()
    return output


def rectangle(x, y, size, colour="red"):
    def draw(image):
        ImageDraw.Draw(image).rectangle((x, y, x + size, y + size), fill=colour)
        return image

    return draw


def test_other_letters_and_margins_are_no_difference(saved):
    with matplotlib.rc_context({"text.hinting": "none", "text.antialiased": False}):  # each differs more than with it
        assert differences(cell(saved), drawn()) == []
    made = [edited(one, lambda image: image.crop((1, 1, image.width - 1, image.height - 1))) for one in saved]
    assert differences(cell(saved), made) == []


def test_measured_curve_may_differ_but_not_be_painted_over():
    def draw(times, name="ours"):
        return shown(*curves([1, 2, 4, 8], {name: times}, title="t", xlabel="x", ylabel="ms")._repr_mimebundle_())

    before, after = draw([1.0, 2, 4, 9]), draw([3.0, 1, 6, 7])
    assert differences(cell([before]), [after])
    assert differences(cell([before], "measured"), [after]) == []
    assert differences(cell([before], "measured"), [draw([3.0, 1, 6, 7], "theirs")]), "another description"
    assert differences(cell([edited(before, rectangle(100, 100, 50))], "measured"), [after])


SPOILT = """\
import torch
from workbench.board.lessons import reshape_board
from workbench.display.plots import heatmap
"""
BAR = {WIDGET: {"model_id": "1"}, "text/plain": "  0%|          | 0/5 [00:00<?, ?it/s]"}


def test_board_is_saved_as_a_still_and_its_numbers_are_compared(saved):
    """What a reader has for whom nothing runs; a bar, as it begins, is left out on both sides."""
    made = [shown(BAR, {}), shown(*reshape_board()._repr_mimebundle_())]
    kept = as_saved(made, saved[0].data["image/png"], "A still picture.")
    above, picture = kept
    assert WIDGET not in picture.data and picture.metadata["image/png"]["alt"]
    assert above.data["text/html"].startswith("<details><summary>A still picture.</summary>")
    assert differences(cell(kept, "nbval-ignore-output"), made) == []
    made[1].data["text/html"] = made[1].data["text/html"].replace(">1.00<", ">7.00<", 1)
    assert differences(cell(kept, "nbval-ignore-output"), made) == ["another text/html was saved"]


EXERCISE = """\
class check:
    status = "wrong"
    def __init__(self, *answer): ...
    def __repr__(self): return "not so"
---
my_causal_mask = ...
---
check("3.2", my_causal_mask)
"""
PROGRESS = """\
import os
len(os.listdir(os.environ["ATTENTION_PROGRESS"]))
"""


def test_spoilt_outputs_and_wrong_solutions_fail_in_a_run(tmp_path):
    path = tmp_path / "spoilt.ipynb"
    write_notebook(
        path,
        "---\n".join([SPOILT, *["heatmap(torch.eye(2))\n"] * 4, *["reshape_board()\n"] * 2, PROGRESS, EXERCISE]),
    )
    notebook = nbformat.read(path, as_version=4)
    cells = notebook.cells
    for count, one in enumerate(cells, 1):
        one.execution_count = count
    for one in cells[1:5]:
        one.outputs = [shown(*heatmap(torch.eye(2))._repr_mimebundle_())]
    for one in cells[5:7]:
        one.outputs = [shown(*reshape_board()._repr_mimebundle_())]
    cells[7].outputs = [shown({"text/plain": "0"}, {})]
    cells[9].metadata.tags = ["exercise"]
    cells[10].outputs = [shown({"text/plain": "not so"}, {})]  # nor is it when the library's answer stands there
    cells[2].outputs = [edited(cells[2].outputs[0], rectangle(100, 100, 10))]
    del cells[3].outputs[0].data["image/png"]
    cells[4].outputs[0].metadata["image/png"]["alt"] = "Something else."
    for board in cells[5:7]:
        board.metadata.tags = ["nbval-ignore-output"]
    tables = cells[6].outputs[0].data["text/html"]
    cells[6].outputs[0].data["text/html"] = re.sub(r">1.00<", ">7.00<", tables, count=1)
    assert cells[6].outputs[0].data["text/html"] != tables
    nbformat.write(notebook, path)
    assert [*failures(path)] == ["Cell 2", "Cell 3", "Cell 4", "Cell 6", "Solutions"]
