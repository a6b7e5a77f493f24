"""Which cells of a submission answer which exercise, and what they stand on."""

import json

import nbformat
import pytest
from grading import RIGHT, judged

from classroom.grade.grade_answer import judge
from classroom.grade.submissions.extract import (
    NOTEBOOKS,
    OTHER_NAME,
    Cell,
    Course,
    answer_in,
    course,
    exercises_in,
    lines_of,
    read_cells,
    split_script,
)
from classroom.grade.submissions.submission import submissions_in


def cells_of(*sources):
    return [Cell(source, place=i) for i, source in enumerate(sources)]


def answer(*sources, id="3.2"):
    return answer_in(cells_of(*sources), id)


def run(*sources):
    """What of a submission is run as its answer to 3.2."""
    return own(answer(*sources))


def own(answer):
    return [source for _, source, is_own in answer.steps if is_own]


def of_lesson(answer):
    return [source for _, source, is_own in answer.steps if not is_own]


def test_shared_name_does_not_tell_which_notebook_it_is(tmp_path):
    def notebooks(*sources, **more):
        return sorted({id.split(".")[0] for id in exercises_in([Cell(source) for source in sources], **more)})

    shared, own = "def my_detects(f):\n    return True", "def my_softmax_backward(weights, grad):\n    return grad"
    assert notebooks("part_5, line_5, mended_5 = 'pass', 18, None") == ["13"], "6.5 has a line and code of these names"
    assert notebooks(shared, own) == notebooks(shared, "check('7.4', my_detects)") == ["7"]
    assert notebooks(shared, file_name="08_position.py") == notebooks(shared, heads=["# 8. A token's place"]) == ["8"]
    only_it = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(shared)])
    only_it.cells.insert(0, nbformat.v4.new_markdown_cell("\n# 8. A token's place\nwords"))
    only_it.cells.append(nbformat.v4.new_markdown_cell("# 9. And then"))
    (tmp_path / "ada.ipynb").write_text(nbformat.writes(only_it), encoding="utf-8")
    assert submissions_in(tmp_path)[0].notebooks() == ["8"]
    assert notebooks(shared) == sorted({id.split(".")[0] for id in course().asked if id in ("7.4", "8.4", "9.4")})


def test_name_is_the_learners_own_or_else_the_lessons():
    uses = "def my_causal_mask(q, k):\n    return padding_mask(q, k), torch"
    mine = "def padding_mask(lengths, max_len=None):\n    return 'mine'"
    assert run(mine, uses) == [mine, uses], "also where the lesson has the name"
    lesson = "\n".join(of_lesson(answer(uses)))
    assert "import torch" in lesson and "def padding_mask" in lesson


def test_each_import_of_a_line_is_a_step_of_its_own():
    imports = [line.code for line in lines_of(Cell("from a.b import c as d, e\nimport f, g.h"))]
    assert imports == ["from a.b import c as d", "from a.b import e", "import f", "import g.h"], "each as it is needed"


@pytest.mark.parametrize(
    "imports",
    [
        "import torch\nfrom attn_lib.explorers import mask_painter\nfrom attn_lib.exercises import check, hint",
        "import torch\nfrom workbench.explorers import mask_painter\nfrom workbench.plots import heatmap_grid",
    ],
)
def test_submission_with_imports_of_an_earlier_edition_is_graded(host, imports):
    assert judged(host, "3.2", imports, RIGHT, "check('3.2', my_causal_mask)").status == "correct"


def test_answer_brings_the_helpers_it_needs():
    cells = ["TABLE = {1: [0]}", "TABLE[1][0] = 2", "other = 3", "n = 1", "%matplotlib inline\n!pip list\nn = TABLE"]
    needed = ["TABLE = {1: [0]}", "TABLE[1][0] = 2", "pass\npass\nn = TABLE"]
    assert run(*cells, f"{RIGHT}\nk = n") == [*needed, f"{RIGHT}\nk = n"]
    imports = ["import os.path", "import math as maths", "import this", f"{RIGHT}\nk = maths, os"]
    assert run(*imports) == [source for source in imports if source != "import this"]
    assert run("sum = 0", f"{RIGHT}\nk = sum([1])") == ["sum = 0", f"{RIGHT}\nk = sum([1])"], "no longer Python's own"
    assert run("k = 1 / 0", f"k = 2\n{RIGHT}") == [f"k = 2\n{RIGHT}"]
    other = "def my_padding_mask(lengths, max_len):\n    return 'mine'"
    assert run(other, f"{RIGHT}\nk = my_padding_mask") == [other, f"{RIGHT}\nk = my_padding_mask"]


def test_answer_comes_without_calls_of_check_and_its_like():
    says = "check('3.2', my_causal_mask); hint('3.2'); solution('3.2'); progress(); predict(1, 2); blank(1, 2)"
    assert run(f"{RIGHT}\n{says}\nk = 1") == [f"{RIGHT}\npass\nk = 1"]
    one_line = answer("answer = [1, 2, 3]; check('1.1',\n answer)", id="1.1")
    assert own(one_line) == ["answer = [1, 2, 3]"]


def test_cell_that_python_cannot_parse_is_a_problem_and_no_crash():
    assert answer(RIGHT + "  # " + "x" * 60_000).problem == "SyntaxError: more than 60000 characters in one cell"
    assert "Error" in answer(f"{RIGHT}\nx = {'-' * 9000}1").problem, "nested too deep for Python"
    assert Cell("x = '\0'").error and Cell("check()").checks == Cell("x = (").checks == []


def test_cell_knows_what_it_binds_changes_and_uses():
    def known(source):
        names = Cell(source).names
        return [" ".join(sorted(some)) for some in (names.binds, names.changes, names.uses)]

    assert known("if a:\n    def f(): b\n    class C: ...\n    async def g(): ...") == ["C f g", "", "a b"]
    assert known("k = [i for i in r]; d = {a: b for a, b in r}; s = {e for e in r}; t = (c for c in r)")[0] == "d k s t"
    assert known("h = lambda: (w := 1)\nfor j in r: (v := 2)") == ["h j v", "", "r"]
    assert known("m.weight = x\nt[0].shape[1] = y\nf().z = 1") == ["", "m t", "f m t x y"]
    assert known("x = len(y)\nfrom a.b import c as d, e") == ["d e x", "", "len y"]
    assert [id for id, _ in Cell("course.check('3.2', f)\nfor i in r: check('3.1', g)").checks] == ["3.2", "3.1"]


def test_later_of_a_broken_and_an_open_answer_counts():
    open_, broken = course().asked["3.2"].cell.source, f"({RIGHT}"
    assert answer(open_, broken).problem.startswith("SyntaxError") and answer(open_, broken).shown == broken
    assert answer(broken, open_).problem == "" and answer(broken, open_).expressions == []
    assert answer("x = (", "check('3.2')").problem == "not handed in", "it was to hold something else"
    misnamed = answer_in([Cell("def padding_mask(lengths, max_len): ...", id="exercise-3-1")], "3.1")
    assert misnamed.problem == OTHER_NAME and misnamed.shown.startswith("def padding_mask"), "it was handed in"
    in_its_place = Cell("x = (", id=course().asked["3.2"].cell.id)
    assert answer_in([in_its_place], "3.2").problem.startswith("SyntaxError")
    assert answer("check('3.2', lambda q, k: q)").shown == "check('3.2', lambda q, k: q)"
    own_names = ["def old(q, k): ...", "def new(q, k): ...", "check('3.2', old)", "check('3.2', new)"]
    assert answer(*own_names).expressions == ["new"]


def test_lesson_name_has_its_value_above_the_exercise(tmp_path):
    code = nbformat.v4.new_code_cell
    cells = [code("n = 1\nm = 5"), code("n = m + 1"), code("answer = ...", metadata={"exercise": "3.2"})]
    cells += [code('check("3.2", answer)'), code("n = 3\nlater = 4")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "03_small.ipynb")
    found = answer_in([Cell("answer = n, later")], "3.2", Course(tmp_path))
    assert sorted(of_lesson(found)) == ["later = 4", "m = 5", "n = m + 1"] and own(found) == ["answer = n, later"]
    cells = [code("a = 0"), code("a = 1\nb = a"), code("a = 9\nanswer(3)"), *cells[2:]]
    for name in ("04_small", "05_small"):
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / f"{name}.ipynb")
        cells[3:5] = [code("answer = ...", metadata={"exercise": "5.1"}), code('check("5.1", answer, b)')]
    of = Course(tmp_path)
    assert of_lesson(answer_in([Cell("answer = b")], "5.1", of)) == ["a = 1", "b = a"]
    assert of.shared == {"answer"} and of.asked["5.1"].names == ["answer", "b"]
    assert answer_in([Cell("b = 7")], "5.1", of).problem == "not handed in", "what the lesson has is no answer"
    found = answer_in([Cell("answer = b = 2\nk = b", place=4)], "5.1", of)
    assert (found.steps, found.given) == ([["<cell 5>", "answer = b = 2\nk = b", True]], [False, True])


COLAB = "# Commented out IPython magic to ensure Python compatibility.\n"
COMMENTED = "".join(f"# {line}\n" for line in ("%%time", *RIGHT.split("\n")))


@pytest.mark.parametrize(
    "script",
    [
        f"{COLAB}# %%time\n# x = 1\n\nimport attn_lib\nmask = attn_lib.causal_mask(3)\n\n{RIGHT}\n",
        f'"""Text"""\n\n{COLAB}{COMMENTED}\nx = 2\n',
        f"# %% [markdown]\n# Text\n\n# %%\n# %%time\n{RIGHT}\n\n#%%\nx = 1\n",
        f"# In[3]:\n\n\nget_ipython().run_cell_magic('capture', 'out', {RIGHT!r})\n",
        f"# In[3]:\n\nget_ipython().run_line_magic('matplotlib', 'inline')\nx = get_ipython().getoutput('ls')\n{RIGHT}",
    ],
)
def test_script_is_cut_and_read_as_the_notebook_that_it_was(host, script):
    answer = answer_in(split_script(script), "3.2")
    assert not [source for source in own(answer) if "attn_lib" in source]
    assert judge(answer, host).status == "correct"


def test_script_keeps_decorators():
    assert [cell.source for cell in split_script(f"x = 1\n\n@torch.no_grad()\n{RIGHT}\n")][1].startswith("@torch")


def test_answer_in_a_cell_that_never_runs_is_named(host):
    new = nbformat.v4
    for cell in (new.new_markdown_cell(f"Mine:\n```python\n{RIGHT}\n```"), new.new_raw_cell(RIGHT)):
        cells = read_cells(nbformat.writes(new.new_notebook(cells=[cell])))
        assert "3.2" in exercises_in(cells)
        result = judge(answer_in(cells, "3.2"), host)
        assert (result.status, result.misconception, result.share) == ("wrong", "no-code-cell", 0.0) and result.note
    lesson = read_cells((NOTEBOOKS / "03_masking.ipynb").read_text(encoding="utf-8"))
    assert answer_in([cell for cell in lesson if cell.kind != "code"], "3.2").problem == "not handed in"


def test_scripts_of_other_editors_and_old_notebooks_are_read():
    assert [cell.source for cell in split_script(f"# %% one\nx = 1\ny = 2\n\n# %%\n{RIGHT}\n")] == [
        "x = 1\ny = 2",
        RIGHT,
    ]
    assert [cell.source for cell in split_script("# %%\n\n# In [2]:\nx = 1\n# %%\n \n")] == ["x = 1"]
    assert [cell.source for cell in split_script("x = (\ny = 2\n  z\nw")] == ["x = (", "y = 2\n  z", "w"]
    old = [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}, {"cell_type": "markdown", "source": "x"}]
    cell, _ = read_cells(json.dumps({"worksheets": [{"cells": old}], "nbformat": 3}))
    assert cell.source == "x = 1\ny = 2"
