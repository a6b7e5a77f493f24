"""Every prediction: computed, the same whenever it is run, silent without a guess, and its slips known by name."""

import ast
import re
import shutil
from pathlib import Path

import nbformat
import pytest
import warm
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from work_through import in_this_process

import copies

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
YES_OR_NO = ("yes", "no", "true", "false")


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
        if not any(isinstance(node, ast.Name) for node in ast.walk(call.args[1])):
            yield f"has an answer that was typed and not computed: {ast.unparse(call.args[1])}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_question_is_one_cell_whose_answer_is_computed(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert {cell.id: wrong for cell in cells if (wrong := list(what_is_wrong_with(cell)))} == {}


@pytest.mark.parametrize(
    "source, tags, wrong",
    [
        ("guess = ...\npredict(guess, x)", ["predict"], ""),
        ("guess = [..., ...]\npredict(guess, x.sum())", ["predict"], ""),
        ("guess = ...\npredict(guess, x)", [], "tag"),
        ("guess = ...", ["predict"], "tag"),
        ("x = 1\npredict(guess, x)", ["predict"], "begin"),
        ("guess = 3\npredict(guess, x)", ["predict"], "already"),
        ("guess = ...\npredict(guess, 2)", ["predict"], "typed"),
        ("guess = ...\npredict(guess, [2, -1, 'x'])", ["predict"], "typed"),
    ],
)
def test_the_rule_catches_what_it_is_there_for(source, tags, wrong):
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": tags})
    found = "; ".join(what_is_wrong_with(cell))
    assert wrong in found and bool(wrong) == bool(found)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "notebooks", root / "notebooks", ignore=shutil.ignore_patterns(".*"))
    copies.bring_up_to_date(root)
    return root


@pytest.fixture(scope="module")
def processes():
    with warm.processes() as pool:
        yield pool


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def worked(request, course, processes):
    """What came of working through a copy: see work_through.py."""
    result = processes.submit(in_this_process, course / "my" / request.param.name).result()
    return {"name": request.param.stem, **result}


def test_a_copy_can_be_worked_through(worked):
    assert worked["errors"] == []
    assert sum("predict" in question["tags"] for question in worked["questions"]) >= 5


def test_without_a_guess_every_question_stops_and_says_nothing(worked):
    for question in worked["questions"]:
        assert question["stopped"] == "NotYet", question["id"]
        assert re.search(r'"show"', question["said"]) and "\n" not in question["said"], question["said"]


def test_who_gives_up_is_shown_the_truth(worked):
    for question in worked["questions"]:
        assert "The answer:" in question["given_up"], question["id"]


def test_a_line_like_the_courses_is_right(worked):
    filled = [question for question in worked["questions"] if "filled" in question["tags"]]
    assert [question["id"] for question in filled if "Right" not in question["right"]] == []
    assert len(filled) >= 3


def test_a_question_has_the_same_answer_whenever_it_is_run_again(worked):
    """After Run All, in order, in reverse order, and after all other cells: nothing they did may reach it."""
    found = {}
    for question in worked["questions"]:
        if "predict" in question["tags"]:
            truths = [asked["truth"] for asked in question["asked"]]
            if any(again != truths for again in question["again"]):
                found[question["id"]] = [truths, *question["again"]]
    assert found == {}


def test_wrong_answers_are_known_by_name(worked):
    """At least two slips that are no answers; of yes and no, only one can be wrong."""
    few = {}
    for question in worked["questions"]:
        for asked in question["asked"] if "predict" in question["tags"] else ():
            needed = 1 if asked["word"] in YES_OR_NO else 2
            if len(set(asked["slips"])) < needed:
                few[question["id"]] = asked["slips"]
    assert few == {}


def test_what_is_chosen_is_not_what_the_slips_leave_over(worked):
    """Of a few words all stand among the slips or none: else the cell itself says which is the answer."""
    told = [q["id"] for q in worked["questions"] for asked in q["asked"] if asked["is_choice"] and asked["slips"]
            and not asked["among_slips"] and "predict" in q["tags"]]  # fmt: skip
    assert told == []


def test_run_all_stops_at_the_first_question_with_one_line(course):
    """In a real kernel, as JupyterLab runs it."""
    notebook = nbformat.read(course / "my" / NOTEBOOKS[0].name, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(course / "my")}})
    with warm.kernels(), pytest.raises(CellExecutionError):
        client.execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    ran = [cell for cell in code if cell.execution_count is not None]
    assert "predict" in ran[-1].metadata.tags and ran == code[: len(ran)] and len(ran) < 10
    (output,) = ran[-1].outputs
    (line,) = output.traceback
    assert output.output_type == "error" and "Your guess first" in line and "\n" not in line
