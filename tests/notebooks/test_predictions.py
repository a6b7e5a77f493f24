"""What is asked of a learner: how it is written, and that working through it (work_through.py) shows what is wrong."""

import ast
import re
import shutil

import nbformat
import preloaded_kernels
import pytest
from lab_page import write_notebook
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from notebook_run import failures
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
        truth = call.args[2]
        if not any(isinstance(node, ast.Name) for node in ast.walk(truth)):
            yield f"has an answer that was typed and not computed: {ast.unparse(truth)}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_question_is_one_cell_whose_answer_is_computed(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert {cell.id: wrong for cell in cells if (wrong := list(what_is_wrong_with(cell)))} == {}


@pytest.mark.parametrize(
    "source, tags, wrong",
    [
        ("guess = ...\npredict(Q, guess, x)", ["predict"], ""),
        ("guess = [..., ...]\npredict(Q, guess, x.sum())", ["predict"], ""),
        ("guess = ...\npredict(Q, guess, x)", [], "tag"),
        ("guess = ...", ["predict"], "tag"),
        ("x = 1\npredict(Q, guess, x)", ["predict"], "begin"),
        ("guess = 3\npredict(Q, guess, x)", ["predict"], "already"),
        ("guess = ...\npredict(Q, guess, 2)", ["predict"], "typed"),
        ("guess = ...\npredict(Q, guess, [2, -1, 'x'])", ["predict"], "typed"),
    ],
)
def test_the_rule_catches_what_it_is_there_for(source, tags, wrong):
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": tags})
    found = "; ".join(what_is_wrong_with(cell))
    assert wrong in found and bool(wrong) == bool(found)


# ------------------------------------------------------------------------------------------ worked through by a learner

ASK = "guess = ...\n"
RECORDS = """
slips = {name: {"label": name, "says": name} for name in ("zero", "one", "half", "other", "all_can")}
words = {"yes": {"says": "It is no."}, "no": {"says": "It is yes."}}
Q, TWO = (Question(form, {"form": form, "slips": slips}) for form in ("number", "numbers"))
YES, WORDS = (Question(form, {"form": form, "options": words, "slips": slips}) for form in ("word", "words"))
LINE = Question("line", {"form": "tensor"})
"""
PAIR = "predict(TWO, guess, [n, n], zero=[0, 0], one=[1, 1])"
CALL = "predict(Q, guess, n, zero=0, one=1)"
ORDERS = "the notebook", "questions backwards", "all else backwards"
# Cells of a made-up lesson: name, tag, source, the answer that was saved; and what is wrong with it.
LESSON = [
    ("imports", "", "from workbench.predict import NotYet, blank, predict", "", []),
    ("records", "", f"from workbench.questions import Question{RECORDS}", "", []),
    ("start", "", "n, m, seen, first, more = 3, 1, 5, 1, []", "", []),
    ("twice", "", "first = 2", "", []),
    ("board", "nbval-ignore-output", "assert m == 1", "", []),
    ("good", "predict", CALL, "3", []),
    ("good-yes", "predict", "predict(YES, guess, 'yes' if n == 3 else 'no')", "yes", []),
    ("good-no", "predict", "predict(YES, guess, 'yes' if m == 3 else 'no')", "no", []),
    ("good-words", "predict", "predict(WORDS, guess, ['yes', 'no'][:n], other=['no', 'yes'], all_can=['yes'] * 2)",
     "[yes, no]", []),
    ("good-list", "predict", f"guess = [..., ...]  # such as [1, ...]\n{PAIR}", "[3, 3]", []),
    ("two-lines", "predict", f"guess = [...,\n         ...]\n{PAIR}", "[3, 3]",
     [f"who gives up after {order} is shown IndentationError" for order in ORDERS]),
    ("given", "predict", f"guess = n if guess is ... else guess\n{CALL}", "3",
     ["without a guess it does not stop: None"]),
    ("fails", "predict", f"if guess is ...: n[3]\n{CALL}", "3", ["without a guess it does not stop: TypeError"]),
    ("half", "predict", "predict(Q, guess, n + 0.5, zero=0, one=1)", "3",
     [f"who gives up after {order} is shown The answer: 3.5.; saved was 'The answer: 3'" for order in ORDERS]),
    ("long", "predict", f"if guess is ...: raise NotYet('\"show\"\\nor a guess')\n{CALL}", "3",
     ["without a guess it does not say in one line how to give up"]),
    ("silent", "predict", f"if guess is ...: raise NotYet('Guess.')\n{CALL}", "3",
     ["without a guess it does not say in one line how to give up: Guess."]),
    ("prints", "predict", f"print(n)\n{CALL}", "3", ["without a guess it shows something: 3"]),
    ("warns", "predict", f"import sys\nprint(n, file=sys.stderr)\n{CALL}", "3",
     ["without a guess it shows something: 3"]),
    ("draws", "predict", f"display(n)\n{CALL}", "3",
     ["without a guess it shows something: {'text/plain': '3'"]),
    ("hides", "predict", f"{CALL}\nNone", "3",
     [f"who gives up after {order} is shown None; saved was 'The answer: 3'" for order in ORDERS]),
    ("breaks", "predict", f"if guess == 'show': n[3]\n{CALL}", "3",
     [f"who gives up after {order} is shown TypeError" for order in ORDERS]),
    ("sets", "predict", "seen = 5\npredict(Q, guess, seen, zero=0, one=1)", "5", []),
    ("seen", "predict", "predict(Q, guess, seen, zero=0, one=1)", "5",
     ["who gives up after questions backwards is shown The answer: 9.; saved was 'The answer: 5'"]),
    ("spoils", "predict", "seen = 9\npredict(Q, guess, seen, zero=0, one=1)", "9", []),
    ("first-run", "predict", "predict(Q, guess, first, zero=0, one=1.5)", "2",
     ["who gives up after all else backwards is shown The answer: 1.; saved was 'The answer: 2'"]),
    ("early", "predict", "predict(Q, guess, m, zero=0, half=0.5)", "1",
     [f"who gives up after {order} is shown The answer: 2.; saved was 'The answer: 1'" for order in ORDERS[:2]]),
    ("few", "predict", "predict(Q, guess, n, zero=0)", "3", ["only 1 of its slips ['zero'] are wrong answers"]),
    ("right-slip", "predict", "predict(Q, guess, n, zero=0, one=n)", "3",
     ["only 1 of its slips ['zero', 'one'] are wrong answers"]),
    ("same-slip", "predict", "predict(Q, guess, n, zero=0, one=0)", "3",
     ["[0.0] is read as zero, not as one", "'[0]' is read as zero, not as one"]),
    ("talks", "", "guess = n", "", []),
    ("not-filled", "blank", "my_own = ...", "", []),
    ("goes-on", "", "n + m", "", []),
    ("own", "blank", "my_n = ...", "", []),
    ("words", "in words", "Here n is 3.", "", []),
    ("own-filled", "filled", "blank(LINE, my_n, n)", "", []),
    ("own-f", "blank", "def my_f(x):\n    return ...", "", []),
    ("own-f-filled", "filled", "def f(x):\n    return x\n\nblank(LINE, my_f(n), f(n))", "", []),
    ("other", "blank", "my_other = ...", "", []),
    ("other-filled", "filled", "more = [*more, n]\nblank(LINE, my_other, more)", "",
     ["after 'my_other = more' it does not say 'Right'"]),
    ("wrong", "blank", "my_wrong = ...", "", []),
    ("wrong-filled", "filled", "my_wrong = n if my_wrong == 'show' else my_wrong\nblank(LINE, my_wrong, n)", "",
     ["""after 'my_wrong = "show"' it does not say 'The answer:'"""]),
    ("broken", "blank", "my_broken = ...", "", []),
    ("broken-filled", "filled", "if my_broken is not ...: n[3]\nblank(LINE, my_broken, n)", "",
     ["""after 'my_broken = "show"' it does not say 'The answer:': TypeError""",
      "after 'my_broken = n' it does not say 'Right': TypeError",
      "run again after those below it, it fails: TypeError"]),
    ("shown", "blank", "my_shown = ...", "", []),
    ("shown-filled", "filled", "my_shown = n if my_shown is ... else my_shown\nblank(LINE, my_shown, n)", "",
     ["without a guess it does not stop: None"]),
    ("later", "", "m = 2", "", []),
    ("holds", "", "assert n == 3", "", []),
    ("held", "", "assert n == 3 and seen == 9", "", ["run again after those below it, it fails: AssertionError"]),
    ("raises", "raises-exception", "n[3]", "", []),
]  # fmt: skip


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What is said of each cell of the made-up lesson, in lines."""
    path = tmp_path_factory.mktemp("lesson") / "made_up.ipynb"
    asks = [ASK * (tag == "predict" and not source.startswith("guess = [")) for _, tag, source, *_ in LESSON]
    write_notebook(path, "---\n".join(f"{ask}{cell[2]}\n" for ask, cell in zip(asks, LESSON, strict=True)))
    notebook = nbformat.read(path, as_version=4)
    for cell, (name, tag, _, answer, _) in zip(notebook.cells, LESSON, strict=True):
        data = {"text/plain": f"No guess entered yet. The answer: {answer}"}
        cell.id, cell.metadata = name, {"tags": [tag]} if tag else {}
        cell.outputs = [nbformat.v4.new_output("execute_result", data)] if answer else []
        if tag == "in words":
            cell.cell_type = "markdown"
            del cell["outputs"], cell["execution_count"]
    nbformat.write(notebook, path)
    return [line for line in failures(path)["Questions"].splitlines() if re.match("[a-z-]+: ", line)]


@pytest.mark.parametrize("name, wrong", [pytest.param(name, wrong, id=name) for name, *_, wrong in LESSON])
def test_working_through_a_lesson_shows_what_is_wrong(said, name, wrong):
    found = [line.removeprefix(f"{name}: ") for line in said if line.startswith(f"{name}: ")]
    assert len(found) == len(wrong) and all(a.startswith(b) for a, b in zip(found, wrong, strict=True)), found


def test_run_all_stops_at_the_first_question_with_one_line(tmp_path):
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
    (output,) = ran[-1].outputs
    (line,) = output.traceback
    assert output.output_type == "error" and "Your guess first" in line and "\n" not in line
