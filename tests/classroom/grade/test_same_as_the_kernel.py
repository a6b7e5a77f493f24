"""What `check` says in the running notebook, grading says of the file, whatever a learner has made of the copy.

A small lesson is edited at random, run cell by cell in IPython, and handed in as a notebook or as a script.
"""

import contextlib
import io
from dataclasses import dataclass

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from nbconvert import PythonExporter
from traitlets.config import Config

from classroom.grade.grade_answer import judge
from classroom.grade.submissions.extract import Course, answer_in, read_cells, split_script
from workbench import exercises

LESSON = """
import torch
from workbench.exercises import check
---
positions = torch.arange(4)
limits = [4]
---
def which(lengths, n):
    return positions[:n] < torch.as_tensor(lengths)[:, None]
---
#3.1
def my_padding_mask(lengths, max_len):
    ...
---
check("3.1", my_padding_mask)
---
positions = torch.arange(3)
---
#3.2
def my_causal_mask(n_queries, n_keys):
    ...
---
check("3.2", my_causal_mask)
---
limits.append(5)
"""
PADDING = [
    *(
        f"def my_padding_mask(lengths, max_len):\n    return {it}"
        for it in (
            "(torch.arange(max_len) < torch.as_tensor(lengths)[:, None])[:, None]",
            "(positions[:max_len] < torch.as_tensor(lengths)[:, None])[:, None]",
            "which(lengths, max_len)[:, None]",
            "helper(lengths, max_len)[:, None]",
            "(limits[-1][:max_len] < torch.as_tensor(lengths)[:, None])[:, None]",
            "torch.arange(max_len) >= torch.as_tensor(lengths)[:, None]",
        )
    ),
    "my_padding_mask = lambda lengths, n: table[:n].lt(torch.as_tensor(lengths)[:, None])[:, None]",
]
CAUSAL = [
    "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril(k - q).bool()",
    "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril().bool()",
    "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril(k - q + shift).bool()",
    "my_causal_mask = make(0)",
]
OWN = [
    "positions = torch.arange(64)",
    "def which(lengths, n):\n    return torch.arange(n) < torch.as_tensor(lengths)[:, None]",
    "def helper(lengths, n):\n    return positions[:n] < torch.as_tensor(lengths)[:, None]",
    "def helper(lengths, n):\n    return which(lengths, n)",
    "def fill():\n    global positions, shift\n    positions, shift = torch.arange(32), 0",
    "fill()",
    "def change(what):\n    what += [torch.arange(64)]\n    return len(what)",
    "length = change(limits)",
    "limits.append(torch.arange(64))",
    "for n in (3, 64):\n    limits += [torch.arange(n)]",
    "shift = 0",
    "shift += 1",
    "def make(more):\n    return lambda q, k: torch.ones(q, k).tril(k - q + more).bool()",
    "table = positions = torch.arange(40)",
    "if len(limits) > 1:\n    table = limits[-1]",
    "class torch2: pass\nbool = torch.bool",
    "globals()['table'] = torch.arange(48)",
    "tensor, sum = torch.tensor, 0",
    "from math import inf as shift",
    "import torch as helper",
    "print(positions, limits)",
    "del positions",
    "1 / 0\npositions = None",
    "my_padding_mask = None",
    "import attn_lib\nassert attn_lib.causal_mask(2, 2).all() or True",
]
MAGIC = [
    "%%time\n{}", "%%capture out\n{}", "!true\n{}", "{}\n!true", "files = !true\n{}", "print?\n{}",
    "{}\nt = %time 3", "%matplotlib inline\n{}", "%%timeit -n1 -r1\n{}", "%%bash\n{}", "%time shift = 0\n{}",
    "!true \\\n  more\n{}",
]  # fmt: skip


@dataclass
class Cell:
    source: str
    exercise: str = ""


def lesson():
    cells = []
    for source in LESSON.strip().split("\n---\n"):
        first, _, rest = source.partition("\n")
        cells.append(Cell(rest, first[1:]) if first.startswith("#") else Cell(source))
    return cells


def notebook_of(cells):
    code = [nbformat.v4.new_code_cell(cell.source, metadata={"exercise": cell.exercise}) for cell in cells]
    return nbformat.v4.new_notebook(cells=code)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    nbformat.write(notebook_of(lesson()), folder / "03_small.ipynb")
    return Course(folder)


@st.composite
def edited(draw):
    """The cells of a learner's copy after some edits."""
    cells = lesson()
    for cell in cells:
        if cell.exercise:
            cell.source = draw(st.sampled_from(PADDING if cell.exercise == "3.1" else CAUSAL))
    for own in draw(st.lists(st.sampled_from(OWN), max_size=7)):
        cells.insert(draw(st.integers(1, len(cells))), Cell(own))
    for _ in range(draw(st.integers(0, 2))):
        moved = cells.pop(draw(st.integers(1, len(cells) - 1)))
        cells.insert(draw(st.integers(1, len(cells))), moved)
    for _ in range(draw(st.integers(0, 2))):  # a cell runs into the next
        place = draw(st.integers(1, len(cells) - 2))
        if not cells[place + 1].source.startswith(("!", "%")):
            cells[place].source += f"\n{cells.pop(place + 1).source}"
    for _ in range(draw(st.integers(0, 3))):
        cell = draw(st.sampled_from(cells[1:]))
        if not cell.source.startswith("%%"):
            cell.source = draw(st.sampled_from(MAGIC)).format(cell.source)
    return cells


def said_in_the_kernel(cells):
    """{exercise: its last verdict} as the cells are run from top to bottom.

    Where a name was missing it is the verdict of a second time: whoever has run a cell below has checked once more.
    """
    verdicts = {}

    def check(id, *answer):
        verdicts.pop(id, None)
        verdicts[id] = exercises.check(id, *answer)

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for _ in range(2):
                for cell in cells:
                    shell.run_cell(cell.source)
                    shell.user_ns["check"] = check
                if not any("NameError" in verdict.message for verdict in verdicts.values()):
                    break
    finally:
        InteractiveShell.clear_instance()
    return verdicts


def percent_script(cells):
    return "".join(f"# %%\n{cell.source}\n\n" for cell in cells)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(cells=edited(), form=st.sampled_from(["notebook", "script", "percent"]))
def test_grading_says_what_check_says_in_the_notebook(host, course, cells, form):
    verdicts = said_in_the_kernel(cells)
    notebook = notebook_of(cells)
    if form == "notebook":
        handed_in = read_cells(nbformat.writes(notebook))
    else:
        text = percent_script(cells) if form == "percent" else PythonExporter().from_notebook_node(notebook)[0]
        handed_in = split_script(text)
    for id in course.asked:
        result = judge(answer_in(handed_in, id, course), host)
        verdict = verdicts.get(id)
        if verdict is None:  # its cell has raised
            continue
        assert result.status == verdict.status, result
        assert verdict.misconception in (None, result.misconception), result
