"""How a notebook is kept and how it teaches, as rules."""

import ast
import builtins
import functools
import itertools
import re
import statistics
import subprocess
import sys

import nbformat
import pytest
from paths import ROOT

from authors.lesson_texts import new_texts
from authors.lessons import lessons
from authors.minutes import TOO_LONG, minutes_of, words_of
from classroom.grade.submissions.extract import Cell
from workbench.copies import as_written
from workbench.first_way import first_way, second_readings

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
WIDGETS = re.compile(r"(\w+_board|\w+_figure|Board|tqdm)\(")
RULES = []


@functools.cache
def read(path):
    """A notebook to look at: all rules are given the same one."""
    return nbformat.read(path, as_version=4)


def rule(function):
    """A rule takes a notebook and yields what is wrong with it."""
    RULES.append(function)
    return function


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def tags(cell):
    return cell.metadata.get("tags", [])


def number(notebook):
    """The number that the title gives: 3 for `# 3. Masking`."""
    return int(re.match(r"# (\d+)\.", notebook.cells[0].source)[1])


def headings(notebook):
    text = "\n".join(cell.source for cell in prose_cells(notebook))
    return [(len(marks), title) for marks, title in re.findall(r"^(#+) (.+)$", text, re.M)]


def names_defined(cell):
    """What a cell binds at its top level: by assignment, import, def, class, for or with."""
    bound = set()
    for node in ast.parse(cell.source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                bound.add(part.id)
            elif isinstance(part, ast.alias):
                bound.add((part.asname or part.name).partition(".")[0])
    return bound


# -------------------------------------------------------------------------------------------- as a file


@rule
def counts_are_all_1(notebook):
    """So that a cell that is put in changes no other."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if set(counts) != {1}:
        yield f"execution counts are {counts[:5]} …: run `course.py refresh`"


@rule
def no_errors_and_no_stderr(notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error" and "raises-exception" not in tags(cell):
                yield f"{cell.id} saved an error, {output.ename}"
            if output.get("name") == "stderr":
                yield f"{cell.id} saved stderr: {output.text[:60]!r}"


@rule
def no_widget_state_and_no_versions(notebook):
    if "widgets" in notebook.metadata:
        yield "widget state is saved"
    if "version" in notebook.metadata.get("language_info", {}):
        yield "a Python version is saved"


@rule
def cell_ids_are_unique(notebook):
    ids = [cell.id for cell in notebook.cells]
    yield from (f"id {name} twice" for name in set(ids) if ids.count(name) > 1)


@rule
def only_widget_cells_are_excepted_from_comparison(notebook):
    for cell in code_cells(notebook):
        excepted = "nbval-ignore-output" in tags(cell)
        widget = bool(WIDGETS.search(cell.source))
        if excepted and not widget:
            yield f"{cell.id} is not a widget, its output must be compared"
        if widget and not excepted:
            yield f"{cell.id} shows a widget and lacks nbval-ignore-output"
        if any("nbval" in tag and tag != "nbval-ignore-output" for tag in tags(cell)) or "NBVAL" in cell.source:
            yield f"{cell.id} switches nbval off"


@rule
def code_is_plain_python(notebook):
    forbidden = {
        r"^\s*[%!]": "a magic or shell line",
        r"sys\.path": "sys.path",
        r"import \*": "import *",
        r"https?://|urllib|requests|download": "the network",
        r"(/home/|/Users/|/work/|[A-Z]:\\)": "a path of one machine",
        r"(;|^_)\s*\Z": "a last line that hides its output",
    }
    for cell in code_cells(notebook):
        for pattern, name in forbidden.items():
            if re.search(pattern, cell.source, re.M):
                yield f"{cell.id} has {name}"


# ------------------------------------------------------------------------------------------- as a lesson


@rule
def one_title_first_and_no_skipped_levels(notebook):
    levels = [level for level, _ in headings(notebook)]
    if levels.count(1) != 1 or not notebook.cells[0].source.startswith("# "):
        yield "the first cell must hold the one title"
    yield from (f"level {b} follows level {a}" for a, b in itertools.pairwise(levels) if b > a + 1)


@rule
def imports_stand_in_one_cell_after_the_first(notebook):
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            imports = any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(ast.parse(cell.source)))
            if imports != (i == 1):
                yield f"{cell.id}: imports belong in the second cell, and only there"


@rule
def there_is_a_summary_and_exercises_with_answers_to_check(notebook):
    titles = [title for _, title in headings(notebook)]
    yield from (f"no section {name!r}" for name in ("Summary", "Exercises") if name not in titles)
    found = {"exercise": [], "check": [], "hint": []}
    for cell in code_cells(notebook):
        for kind, ids in found.items():
            ids += [cell.metadata[kind]] if kind in cell.metadata else []
        if ("exercise" in tags(cell)) != ("exercise" in cell.metadata):
            yield f"{cell.id} has the tag exercise without the metadata, or the other way round"
        called = re.match(r'(check|hint)\("([\d.]+)"', cell.source)
        if called and cell.metadata.get(called[1]) != called[2]:
            yield f"{cell.id} calls {called[0]} …) and its metadata {called[1]!r} says otherwise"
    if not found["exercise"] or not found["exercise"] == found["check"] == found["hint"]:
        yield f"exercises, their checks and their hints differ: {found}"


@rule
def what_checks_and_hints_tell_to_call_is_imported(notebook):
    """The last hint names `solution`, a verdict `hint`: a learner pastes the line that stands there."""
    known = names_defined(code_cells(notebook)[0])
    yield from (f"{name} is not imported" for name in ("check", "hint", "progress", "solution") if name not in known)


@rule
def the_first_way_needs_nothing_of_a_second_reading(notebook):
    """Which is folded: whoever leaves it so has every name that a cell uses, exercises too."""
    known = set()
    for cell in first_way(notebook.cells):
        if cell.cell_type == "code":
            read = Cell(cell.source)
            known |= read.binds
            missing = read.names.uses - known - vars(builtins).keys()
            yield from (f"{cell.id} uses {name}, which no cell of the first way makes" for name in missing)


@rule
def a_second_reading_says_what_it_is_about(notebook):
    for cell, section in zip(notebook.cells, second_readings(notebook.cells), strict=True):
        if cell is section and len(words_of(cell)) < 20:
            yield f"{cell.id}: a heading over code, and no word on why one would open it"
        if cell is section and re.search(r"\*\*(Predict|Your)\b|:$", cell.source):
            yield f"{cell.id} asks or announces what is folded away: do so in a cell below"


@rule
def the_learner_predicts_and_breaks(notebook):
    code = "\n".join(cell.source for cell in first_way(notebook.cells) if cell.cell_type == "code")
    asked = len(re.findall(r"^guess = ", code, re.M))
    shown = len(re.findall(r'^\s*predict\("[\w.-]+", guess\b', code, re.M))
    if asked < 5 or shown < asked:
        yield f"{asked} guesses are asked for and {shown} compared"
    if not any(title == "Break it" for _, title in headings(notebook)):
        yield "there is nothing to break"


@rule
def some_lines_are_the_learners_own(notebook):
    code = code_cells(notebook)
    blanks = [cell for cell in code if "blank" in tags(cell)]
    on_first_way = sum("blank" in tags(cell) for cell in first_way(notebook.cells))
    if on_first_way < 3:
        yield f"{on_first_way} blanks on the first way, three at least"
    for cell in blanks:
        following = code[code.index(cell) + 1]
        if "filled" not in tags(following) or not re.search(r'^blank\("[\w.-]+", my_', following.source, re.M):
            yield f"{cell.id} is not compared in the cell after it"
        if not following.source.startswith("#"):  # JupyterLab shows the first line of a cell that is hidden
            yield f"{following.id} begins with the answer, which its copy is to hide"


@rule
def what_the_learner_defines_no_lesson_cell_does(notebook):
    """Else the lesson would go on with the learner's, or `check` would be handed the lesson's."""
    theirs = [cell for cell in code_cells(notebook) if {"exercise", "blank"} & set(tags(cell))]
    names = [name for cell in theirs for name in names_defined(cell)]
    yield from (f"two cells ask for {name}" for name in sorted(set(names)) if names.count(name) > 1)
    for cell in code_cells(notebook):
        if cell not in theirs:
            yield from (f"{cell.id} defines {name}, as the learner does" for name in names_defined(cell) & set(names))


@rule
def a_question_is_never_folded_away(notebook):
    for cell in prose_cells(notebook):
        if "answer" in tags(cell) and re.search(r"\*\*(Predict|Your)\b", cell.source):
            yield f"{cell.id} asks something and is folded away as an answer"


@rule
def what_comes_out_below_a_question_waits_for_the_guess(notebook):
    """Pages show what a cell gives, in JupyterLab it is run in passing: what is tagged answer is folded."""
    asked = None
    for cell in notebook.cells:
        if (
            cell.cell_type != "code"
            or not cell.outputs
            or {"answer", "filled", "nbval-ignore-output"} & set(tags(cell))
        ):
            asked = None
        elif "predict" in tags(cell):
            asked = cell.id
        elif asked:
            yield f"{cell.id} shows something right below {asked}, and is not tagged answer"


@rule
def cells_are_short(notebook):
    lengths = [len(as_written(cell.source).splitlines()) for cell in code_cells(notebook)]
    yield from (f"a code cell of {n} lines" for n in lengths if n > 20)
    if statistics.median(lengths) > 5:
        yield f"the median code cell has {statistics.median(lengths)} lines"
    for cell in prose_cells(notebook):
        words = len(words_of(cell))
        if words > (140 if cell is notebook.cells[0] else 120):
            yield f"{cell.id} has {words} words"


@rule
def functions_fit_on_a_slide(notebook):
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno + 1 > 12:
                yield f"{cell.id}: {node.name} has {node.end_lineno - node.lineno + 1} lines"


@rule
def prose_stands_between_code(notebook):
    run = 0
    for cell in notebook.cells:
        run = run + 1 if cell.cell_type == "code" else 0
        if run == 6:
            yield f"six code cells in a row, up to {cell.id}"


@rule
def images_exist_and_say_what_they_show(notebook):
    for cell in prose_cells(notebook):
        for alt, path in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", cell.source):
            if len(alt) < 40:
                yield f"{path}: alt text too short: {alt!r}"
            if not (ROOT / "notebooks" / path).is_file():
                yield f"{path} does not exist"
        for target in re.findall(r"\]\((\d\d_\w+\.ipynb)\)", cell.source):
            if not (ROOT / "notebooks" / target).is_file():
                yield f"{target} does not exist"


# ----------------------------------------------------------------------------------------------- the tests


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    wrong = [f"{check.__name__}: {words}" for check in RULES for words in check(read(path))]
    assert not wrong, "\n".join(wrong)


def test_notebooks_are_valid_and_there_are_some():
    assert len(NOTEBOOKS) >= 4
    for path in NOTEBOOKS:
        nbformat.validate(nbformat.read(path, as_version=4))


def test_minutes_and_promises_are_current():
    """What `course.py minutes` would write: course.toml, README, INSTRUCTORS.md and the first cells."""
    stale = [path.name for path, text in new_texts().items() if text != path.read_text(encoding="utf-8")]
    assert stale == [], "run `python course.py minutes`"


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_course_toml_is_true_of_the_lesson(lesson):
    text = "\n".join(cell.source for cell in prose_cells(read(lesson.path)))
    assert len(lesson.promise.split()) <= 9, "a promise has nine words at most"
    assert len(lesson.goals) == 3, "a lesson has three goals"
    assert lesson.exercises > 0, "INSTRUCTORS.md says no minutes of its exercises under Hand out"
    assert lesson.minutes <= TOO_LONG, f"{lesson.name}: shorten it, or let a section be on a second reading"
    assert lesson.time_in_words in text and f"Before: {lesson.needs}" in text
    for reading in lesson.readings:
        assert re.sub(r"\[(.+)\]\(.+\)", r"\1", reading) in text, "the lesson does not name it"


def test_a_second_reading_takes_no_minutes_of_the_first():
    """A section says so in its heading; it ends with the next one that is not below it."""

    def minutes(*sources):
        return minutes_of(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text) for text in sources]))

    told, later = "word " * 110, ["### Deeper, on a second reading", "word " * 110, "#### Still", "word " * 110]
    whole = minutes("# Title", "## One", told, "### More", told, "## Two", told)
    assert minutes("# Title", "## One", told, *later, "### More", told, *later, "## Two", told) == pytest.approx(whole)
    assert minutes("# Title", *later, "#### On", told) == minutes("# Title")


# ------------------------------------------------------------------------------------------ the house itself


@pytest.mark.parametrize("arguments", [["check", "."], ["format", "--check", "."]])
def test_ruff(arguments):
    result = subprocess.run([sys.executable, "-m", "ruff", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_biome():
    """JavaScript and CSS: `.venv/bin/python -m authors.pages.packages biome check --write` mends them."""
    command = [sys.executable, "-m", "authors.pages.packages", "biome", "ci"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_importing_attn_lib_imports_torch_and_nothing_more(imported_afresh, monkeypatch):
    asked, real = set(), builtins.__import__

    def noting(name, globals=None, locals=None, fromlist=(), level=0):
        asked.update([] if level else [name.partition(".")[0]])
        return real(name, globals, locals, fromlist, level)

    monkeypatch.setattr(builtins, "__import__", noting)
    import attn_lib

    ours = {"workbench", "authors", "classroom"}
    assert attn_lib.causal_mask and "torch" in asked
    assert not asked & {*ours, "matplotlib", "ipywidgets", "anywidget", "IPython", "pandas"}
