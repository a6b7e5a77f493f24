"""Judging one submission: what its answers get, and that no student's code decides it.

submissions/ holds submissions as students made them, honest, broken and hostile: the first line of each is what is to
come of it.
"""

import linecache
from pathlib import Path

import nbformat
import psutil
import pytest
import torch
from fill_in import fill_in
from grading import RIGHT, TOP_LEFT, judged, probes_drawn_anew
from paths import NOTEBOOKS

from classroom.grade.grade_answer import judge
from classroom.grade.sandbox import traces
from classroom.grade.sandbox.host import Limits
from classroom.grade.sandbox.remote import Connection, RemoteFunction
from classroom.grade.submissions.extract import Cell, answer_in, course, exercises_in, read_cells, split_script
from workbench.exercises.api import verdict_on
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.function import Function

FILES = sorted((Path(__file__).parent / "submissions").glob("*/*.py"))


def expectations(path):
    """(exercise, status, mistake) for each that the first line of a submission names."""
    for words in path.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ").split("; "):
        id, status, *mistake = words.split()
        yield id, status, "".join(mistake)


@pytest.mark.filterwarnings("ignore:The use of `x.T`")  # in a submission
@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_submission_gets_the_verdict_in_its_first_line(host, path):
    if path.parent.name == "hostile" and not host.bwrap:  # it would fork, kill and hoard on the reader's own machine
        pytest.skip("hostile submissions run behind bubblewrap only, which is not installed or does not work here")
    cells, left = split_script(path.read_text(encoding="utf-8")), psutil.Process(host.process.pid).children(True)
    assert set(exercises_in(cells)) >= {id for id, _, _ in expectations(path)}
    for id, status, misconception in expectations(path):
        found = judge(answer_in(cells, id), host)
        assert (found.status, found.misconception) == (status, misconception or found.misconception), found.message
        assert found.share == (status == "correct") or path.stem == "patient_half_mended" or id == "6.1"
        assert path.parent.name != "hostile" or psutil.Process(host.process.pid).children(True) == left


NAMES = [path.stem for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))]


@pytest.mark.parametrize("name", NAMES)
def test_unanswered_exercise_gets_no_points(name):
    """Each exercise in turn is deleted, broken, emptied and commented out, in a notebook in which all are answered."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    ids = fill_in(notebook)
    cells = read_cells(nbformat.writes(notebook))
    places = [i for i, cell in enumerate(cells) if cell.exercise]
    assert ids == [id for id, asked in course().asked.items() if asked.notebook == name]
    assert exercises_in(cells) == ids, "a name that another notebook asks for too makes nobody answer that one"
    for id, place in zip(ids, places, strict=True):
        answered = cells[place].source
        assert answer_in(cells, id).expressions
        commented = "".join(f"# {line}\n" for line in answered.splitlines())
        for without, status in ((None, "missing"), (f"({answered}", "wrong"), ("", "missing"), (commented, "missing")):
            instead = [] if without is None else [Cell(without, cells[place].id, cells[place].exercise, place)]
            spoilt = [*cells[:place], *instead, *cells[place + 1 :]]
            result = judge(answer_in(spoilt, id), host=None)  # nobody needs to be asked
            assert (result.status, result.share) == (status, 0.0), (id, without)
            assert id in exercises_in(spoilt)


def test_course_solution_is_right(host):
    """The course's lines are found: what it shows as solution is right, where it can be run as it stands."""
    for id in ("2.1", "3.1", "3.3", "4.1", "4.2", "6.1", "6.3"):
        name = EXERCISES[id].asks.partition("(")[0]
        source = EXERCISES[id].solution()
        if not id.startswith("6"):
            source = source.replace(f"def {EXERCISES[id].reference.__name__}(", f"def {name}(")
        assert judged(host, id, source).status == "correct", id


def test_answer_over_its_time_is_stopped_and_the_next_is_judged(host):
    host.limits, before = Limits(seconds=1, memory_mb=300), host.limits
    try:
        endless = judged(host, "3.2", "def my_causal_mask(n_queries, n_keys):\n    while True: pass")
        in_the_cell = judged(host, "3.2", f"import time\ntime.sleep(1000)\n{RIGHT}")
    finally:
        host.limits = before
    assert (endless.status, endless.note) == ("wrong", "stopped after 1 seconds")
    assert "had not come back after 1 seconds" in endless.message
    assert (in_the_cell.status, in_the_cell.note) == ("wrong", "stopped after 1 seconds")
    assert judged(host, "3.2", RIGHT).status == "correct"


@pytest.mark.parametrize(
    ("id", "source", "said"),
    [
        ("3.2", TOP_LEFT, "A has `tril(3)`, B has `tril`: "),
        ("3.2", f"def corner(n, m):\n    return torch.ones(n, m).tril()\n{TOP_LEFT.replace('torch.ones', 'corner')}",
         "In your code: `return torch.ones(n, m).tril()`."),
        ("4.1", "def my_split_heads(x, h):\n    return x.view(len(x), h, -1, x.size(-1) // h)",
         ""),  # a view may come first in a right answer too
        ("3.2", "def my_causal_mask(q, k):\n    return q.no", ""),  # the message says it all
        ("3.2", f"def my_causal_mask(q, k):\n    return sum(torch.ones(q) for _ in range({traces.MOST}))", ""),
    ],
)  # fmt: skip
def test_wrong_answer_comes_with_the_line_that_causes_it(host, id, source, said):
    found = judged(host, id, source)
    assert found.status == "wrong" and said in found.difference and bool(said) == bool(found.difference)


FAILING = {  # that raises, and where check and grade have to see the same
    "2.2": "def my_attention(q, k, v):\n    return torch.softmax(q @ k.T / 2, -1) @ v, 0",
    "5.2": "def my_load_from_torch(ours, theirs):\n    ours.q_proj.weight.data.copy_(theirs.in_proj_weight)",
    "3.3": "def my_masked_softmax(scores, mask):\n    return torch.softmax(scores & mask, -1)",
    "2.1": "def my_softmax(scores):\n    return torch.special.softmax(scores, -1)",
    "7.1": "def my_softmax_backward(weights, grad_weights):\n"
    "    s = weights.clamp(min=1e-30).log()\n    return torch.func.vjp(lambda s: s.softmax(-1), s)[1](grad_weights)[0]",
}


@pytest.mark.parametrize("id", FAILING)
def test_what_runs_and_where_it_fails_is_seen_as_in_a_notebook(host, id):
    notebook = {"torch": torch}
    exec(compile(FAILING[id], "<notebook>", "exec"), notebook)
    linecache.cache["<notebook>"] = 0, None, FAILING[id].splitlines(keepends=True), "<notebook>"
    (answer,) = (value for name, value in notebook.items() if name.startswith("my_"))
    there, here = judged(host, id, f"import torch\n{FAILING[id]}"), verdict_on(id, answer)
    assert (there.status, there.message) == (here.status, here.message)
    assert here.misconception in (None, there.misconception)


def test_forged_failure_and_trace_leave_the_verdict_as_it_is(host):
    lies = "import workbench.exercises.engine.watch as w\nw.Failure.as_data = lambda self: [1, 2, [3], 'yes']\n"
    failing = f"{lies}def my_causal_mask(q, k):\n    raise NotImplementedError"
    assert judged(host, "3.2", failing).status in ("wrong", "unattempted")
    lies = "from classroom.grade.sandbox import traces\ntraces.as_data = lambda run: [1, [[2, [], {}]]]\n"
    found = judged(host, "3.2", f"{lies}{TOP_LEFT}")
    assert (found.misconception, found.difference) == ("top-left", "")


def test_note_says_how_a_cell_failed(host):
    failing = f"{TOP_LEFT}\n1 / 0"
    assert judged(host, "3.2", failing).note == "a cell ended with ZeroDivisionError: division by zero"
    first = judged(host, "3.2", "n = 0\n1 / 0", TOP_LEFT.replace("tril()", "tril(n)") + "\nnowhere")
    assert first.note == "a cell ended with ZeroDivisionError: division by zero", "the first of several"
    stands = judged(host, "3.2", f"{RIGHT}\n1 / 0")
    assert (stands.status, stands.note) == ("correct", ""), "what fails is a look at it, as in a notebook"
    own = judged(host, "3.2", f"import my_masks\n{RIGHT}")
    assert (own.status, own.misconception) == ("wrong", "cannot-be-run")
    assert "No module named 'my_masks'" in own.message and "into a cell" in own.message and own.note


def test_call_of_the_library_is_named_and_its_result_not_shown(host):
    in_a_thread = "import threading, attn_lib\ndef my_causal_mask(q, k):\n    found = []\n"
    in_a_thread += "    thread = threading.Thread(target=lambda: found.append(attn_lib.causal_mask(q, k)))\n"
    found = judged(host, "3.2", f"{in_a_thread}    thread.start()\n    thread.join()\n    return ~found[0]")
    assert (found.status, found.misconception, found.note) == ("wrong", "librarys-own", "the library's own causal_mask")
    assert found.difference == ""
    fixed = "from workbench.exercises.engine.exercise import EXERCISES\nline_5, fault_5 = 4, 'not used'\n"
    fixed += "mended_5 = EXERCISES['6.5'].fixed\ndef detects_5(attention):\n    return True"
    assert judged(host, "6.5", fixed).misconception == "librarys-own"
    assert "<td" not in found.shown and "<td" in judged(host, "3.2", TOP_LEFT).shown


@pytest.mark.parametrize(
    "call",
    [
        "before = sys.getprofile(); sys.setprofile(None); found.append(causal_mask(q, k)); sys.setprofile(before)",
        "_thread.start_new_thread(lambda: found.append(causal_mask(q, k)), ())",
        "os.fork() or (os.write(w, marshal.dumps(causal_mask(q, k).tolist())), os._exit(0)); "
        "found.append(torch.tensor(marshal.loads(os.read(r, 65536)))); os.close(r); os.close(w); os.wait()",
    ],
    ids=["unprofiled", "in a thread of its own", "in a process of its own"],
)
def test_call_of_the_library_cannot_be_hidden(bubblewrap, call):
    start = "import _thread, marshal, os, sys, torch\nfrom attn_lib.masks import causal_mask\n"
    function = f"def my_causal_mask(q, k):\n    found, (r, w) = [], os.pipe()\n    {call}\n"
    found = judged(bubblewrap, "3.2", f"{start}{function}    while not found: pass\n    return found[0]")
    assert (found.status, found.misconception, found.share) == ("wrong", "hidden", 0)


def test_answer_that_prints_or_ends_its_process_is_told_so(host, capsys):
    printing = (
        judged(host, "3.2", mask.replace("return", "print('3.2: correct')\n    return")) for mask in (RIGHT, TOP_LEFT)
    )
    for found, status in zip(printing, ("correct", "wrong"), strict=True):
        assert found.status == status and "It prints" in found.message and capsys.readouterr().out == ""
    found = judged(host, "3.2", "import os\ndef my_causal_mask(q, k):\n    os._exit(0)")
    assert "ended its own process" in found.message and "in the line" not in found.message


def test_comparing_an_answer_with_the_library_costs_nothing(host):
    compares = "import attn_lib\nassert torch.equal(my_causal_mask(2, 3), attn_lib.causal_mask(2, 3))"
    assert judged(host, "3.2", f"{RIGHT}\n{compares}").status == "correct"
    assert judged(host, "3.2", f"{TOP_LEFT}\n{compares}").misconception == "top-left"
    table = "import attn_lib\ntable = []\nassert not table.append(attn_lib.causal_mask(64, 64))"
    taken = f"{table}\ndef my_causal_mask(q, k):\n    return table[0][64 - q :, 64 - k :]"
    assert judged(host, "3.2", taken).misconception == "librarys-own"


def test_right_answer_counts_whether_it_was_checked_or_written_last(host):
    check = "check('3.2', my_causal_mask)"
    for cells in ((RIGHT, check, TOP_LEFT), (TOP_LEFT, check, RIGHT), (RIGHT, check, "my_causal_mask = None")):
        assert judged(host, "3.2", *cells).status == "correct", cells
    assert judged(host, "3.2", RIGHT, TOP_LEFT, check).misconception == "top-left"


def test_unchanged_patient_is_no_attempt(host):
    stub = f"{course().asked['6.5'].cell.source}\nnotes = 'later'"
    assert judged(host, "6.5", stub).status == "unattempted"
    assert judged(host, "1.1", "answer = [1.5, ..., 2.2]").status == "unattempted"
    assert judged(host, "6.3", "def detects_3(attention):\n    return ...").status == "unattempted"  # the rest is ours


def test_answer_runs_as_in_a_notebook_with_the_judges_randomness(host):
    indented = RIGHT.replace("def", "    def").replace("return", "    return")
    assert judged(host, "3.2", f"if __name__ == '__main__':\n{indented}").status == "correct"
    with host.channel() as channel:
        connection = Connection(channel, 100)
        cell = "import torch\ntorch.set_default_dtype(torch.float64)\ndef f(n):\n    return torch.rand(n)"
        load(connection, cell, "f")
        drawn = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            drawn.append(RemoteFunction(connection, 0)(3))
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[1], drawn[2])
    assert drawn[0].dtype == torch.float32


def test_random_numbers_are_those_of_the_learners_notebook(host):
    """A right answer stays right: the lesson's data is what its cell has drawn, all of it, from its seed."""
    cells = nbformat.read(NOTEBOOKS / "02_scaled_dot_product.ipynb", as_version=4).cells
    (drawing,) = (cell.source for cell in cells if "content = torch.randn" in cell.source)  # after two other draws
    names = {"torch": torch}
    with torch.random.fork_rng(devices=[]):
        exec(drawing, names)
    own = "seed = torch.initial_seed()\ndef my_softmax(scores):\n    weights = (scores - scores.amax(-1, True)).exp()\n"
    own += "    return weights / weights.sum(-1, True)"
    as_drawn = f"content.tolist() == {names['content'].tolist()}"
    without_a_seed = "seed == 0"  # the same at each grading
    for condition in (as_drawn, without_a_seed):
        assert judged(host, "2.1", f"{own} if {condition} else None").status == "correct", condition


def load(connection, cell, name, **more):
    what = {"exercise": "3.2", "own": [], "without": False, **more}
    return connection.load(**what, steps=[["<cell>", cell, True]], answer=[name])


def test_gradients_asked_by_the_judge_do_not_count_as_used(host):
    with host.channel() as channel:
        connection = Connection(channel, 100)
        load(connection, "def f(x):\n    return x.exp() * 2", "f", without=True)
        x = torch.zeros(2, requires_grad=True)
        result = RemoteFunction(connection, 0)(x)
        (gradient,) = torch.autograd.grad(result.sum(), x)
    assert gradient.tolist() == [2, 2] and {"exp", "mul"} <= connection.used
    assert not {"backward", "grad"} & connection.used, "7.2 would take it for autograd"


def numbers_of(probe):
    return str([list(arg.parameters()) if isinstance(arg, torch.nn.Module) else arg for arg in probe])


def test_probes_differ_from_the_courses_and_with_each_seed():
    functions = {id: exercise for id, exercise in EXERCISES.items() if isinstance(exercise, Function)}
    functions = {id: exercise for id, exercise in functions.items() if not callable(exercise.probes[0][0])}
    before = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    with probes_drawn_anew(seed=11):
        one = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    with probes_drawn_anew(seed=13):
        other = {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()}
    for id in functions:
        new, others = set(one[id]) - set(before[id]), set(other[id]) - set(before[id])
        assert new and others and new != others, id
    assert {id: list(map(numbers_of, exercise.probes)) for id, exercise in functions.items()} == before
