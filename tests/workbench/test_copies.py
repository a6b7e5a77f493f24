"""The learner's own copies: how they begin and are brought up to date, and that nothing of theirs is ever lost."""

import ast
import copy
import json
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from paths import ROOT

from workbench import copies
from workbench.places import BASELINE_FILE, PROGRESS_FILE

NAMES = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


# ---------------------------------------------------------------------------------- a course, and a learner's hands


def cell(name, source, kind="code", **metadata):
    extra = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"id": name, "cell_type": kind, "source": source, "metadata": metadata, **extra}


def prose(name, source, **metadata):
    return cell(name, source, "markdown", **metadata)


def ids(cells):
    return [c["id"] for c in cells]


def sources(cells):
    """What stands in the cells, but for the line that a hidden question shows."""
    return [c["source"].removeprefix(f"{copies.FIRST_LINES['predict']}\n") for c in cells]


LESSON = [
    prose("title", "# 1. Title"),
    cell("imports", "import torch"),
    prose("ask", "**Predict.** What is it?"),
    cell("question", "guess = ...  # a number\nx = 2 * 3\npredict(guess, x)", tags=["predict"]),
    cell("stub", "def my_f(x):\n    ...", tags=["exercise"]),
    cell("check", 'check("1.1", my_f)'),
]


def lesson(**changes):
    """The course's cells, with some changed, or removed where the change is None."""
    new = [{**c, "source": changes.get(c["id"], c["source"])} for c in copy.deepcopy(LESSON)]
    return [c for c in new if c["source"] is not None]


CODE = "# The course has changed this cell; yours stands above.\n"
TEXT = "*The course has changed this paragraph; yours stands above.*\n\n"
ASKED = LESSON[3]["source"]
NEWLY = "guess = ...\nx = 3 * 2\npredict(guess, x, sum=5)"
GUESSED = ASKED.replace("...", "6")
MERGES = {  # a cell, what the learner made of it and what the course, what it is then, what stands below; None: deleted
    "only the course": ("ask", LESSON[2]["source"], "new", "new", None),
    "only the learner": ("ask", "mine", LESSON[2]["source"], "mine", None),
    "an empty line at the end": ("imports", "import torch\n\n", "new", "new", None),
    "both, code": ("imports", "mine", "new", "mine", f"{CODE}new"),
    "both, words": ("ask", "mine", "new", "mine", f"{TEXT}new"),
    "deleted by the learner": ("imports", None, "new", None, None),
    "deleted by the course": ("imports", "import torch", None, None, None),
    "deleted by the course, written into": ("ask", "mine", None, "mine", None),
    "a guess": ("question", ASKED.replace("...", "[\n 6]"), NEWLY, NEWLY.replace("...", "[\n 6]  # a number"), None),
    "a guess, an empty line": ("question", GUESSED + "\n", NEWLY, NEWLY.replace("...", "6  # a number"), None),
    "a guess and more": ("question", "guess = 6\nx", NEWLY, "guess = 6\nx", CODE + NEWLY.replace("...", "6")),
    "a guess, asked for no more": ("question", GUESSED, "x = 6", GUESSED, f"{CODE}x = 6"),
    "a guess not at the head": ("question", "# Mine.\nguess = 6", NEWLY, "# Mine.\nguess = 6", CODE + NEWLY),
    "a guess that is no code": ("question", "guess = (", NEWLY, "guess = (", CODE + NEWLY),
}


@pytest.mark.parametrize("name, mine, course, now, below", MERGES.values(), ids=MERGES)
def test_update_merges_a_cell(name, mine, course, now, below):
    wanted = lesson(**{name: now}, title="# New")
    if below:
        wanted.insert(ids(wanted).index(name) + 1, cell("below", below))
    result = copies.update(lesson(**{name: mine}), lesson(), lesson(**{name: course}, title="# New"))
    assert sources(result) == sources(wanted)


def test_update_keeps_outputs_of_cells_that_the_course_left_alone():
    mine = lesson()
    for c in mine:
        if c["cell_type"] == "code":
            c.update(outputs=["seen"], execution_count=3)
    new = copies.update(mine, lesson(), lesson(check='check("1.1", my_f)  # now', question=NEWLY))
    outputs = {c["id"]: c.get("outputs") for c in new}
    assert outputs["imports"] == outputs["stub"] == ["seen"] and outputs["check"] == outputs["question"] == []


def test_update_brings_tags_and_keeps_what_the_learner_folded():
    mine, course = lesson(), lesson()
    mine[1]["metadata"] = {"collapsed": True}
    course[1]["metadata"], course[2]["metadata"] = {"tags": ["new"]}, {"tags": ["new"]}
    new = copies.update(mine, lesson(), course)
    assert new[1]["metadata"] == {"collapsed": True} and new[2]["metadata"] == {"tags": ["new"]}


def test_cell_that_the_learner_made_words_of_stays_words():
    mine = lesson()
    mine[1] = prose("imports", "import torch")
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert new[1] == mine[1] and new[2]["source"] == f"{CODE}import numpy"
    assert new[2]["outputs"] == [] and new[2]["execution_count"] is None  # it can be run


@pytest.mark.parametrize("tag", ["exercise", "blank"])
def test_new_stub_below_an_answer_is_shown_and_never_run(tag):
    mine, was, course = (lesson(stub=source) for source in ("my answer", LESSON[4]["source"], '"""Better."""'))
    for cells in (mine, was, course):
        cells[4]["metadata"] = {"tags": [tag]}
    new = copies.update(mine, was, course)
    at = ids(new).index("stub")
    assert new[at]["source"] == "my answer"
    shown = new[at + 1]
    assert shown["cell_type"] == "markdown" and '"""Better."""' in shown["source"]
    assert "outputs" not in shown and "execution_count" not in shown and "tags" not in shown["metadata"]


def test_newer_version_replaces_the_one_below_and_an_adopted_one_goes():
    mine, versions = lesson(imports="mine"), [lesson(), lesson(imports="two"), lesson(imports="three")]
    second = copies.update(mine, versions[0], versions[1])
    third = copies.update(second, versions[1], versions[2])
    assert sources(third)[1:3] == ["mine", f"{CODE}three"]
    third[1]["source"] = "three"
    assert sources(copies.update(third, versions[2], lesson(imports="three"))) == sources(versions[2])
    second[2]["source"] += "\nworked in"
    third = copies.update(second, versions[1], versions[2])
    assert {"mine", second[2]["source"], f"{CODE}three"} <= set(sources(third))


@pytest.mark.parametrize(
    "notes, course, wanted",
    [
        ({4: "note", 0: "top"}, ["title", "question", "more", "check"], "top title question note more check"),
        ({4: "note"}, ["new1", "new2", *ids(LESSON)], "new1 new2 title imports ask question note stub check"),
        ({}, ["ask", "title", "imports", "question", "stub", "check"], "ask title imports question stub check"),
    ],
)  # fmt: skip
def test_notes_stay_below_what_they_were_written_below(notes, course, wanted):
    mine, known = lesson(), {c["id"]: c for c in lesson()}
    for at, name in notes.items():
        mine.insert(at, prose(name, f"my {name}"))
    assert ids(copies.update(mine, lesson(), [known.get(name, cell(name, name)) for name in course])) == wanted.split()


def test_cell_that_the_learner_moved_stays_there():
    mine = lesson()
    mine.append(mine.pop(1))  # imports to the end
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert ids(new) == ["title", "ask", "question", "stub", "check", "imports"] and new[-1]["source"] == "import numpy"


def without_ids(cells):
    """As an editor leaves them that gives every cell another id."""
    return [{**c, "id": f"{i:08x}"} for i, c in enumerate(cells)]


@pytest.mark.parametrize("edited", [{}, {"stub": "def my_f(x):\n    return x"}])
def test_cells_that_lost_their_ids_are_known_by_their_content(edited):
    mine = without_ids(lesson(**edited))
    mine.insert(2, {key: value for key, value in prose("note", "mine alone").items() if key != "id"})
    mine.append(mine.pop(1))  # and moved
    new = copies.update(mine, lesson(), lesson(title="# 1. New", **edited))
    assert [name for name in ids(new) if name in ids(LESSON)] == [
        "title",
        "ask",
        "question",
        "stub",
        "check",
        "imports",
    ]
    assert "mine alone" in sources(new) and new[0]["source"] == "# 1. New" and len(new) == len(LESSON) + 1


OWN = [
    without_ids(lesson(imports="notes = ['why', 'how']")),
    without_ids(lesson(imports="import math\nprint(math.pi)")),
    [*without_ids(lesson(imports=None)), cell("0000000f", "import torch, os")],  # like one that was deleted elsewhere
    without_ids([prose("words", c["source"] + "!") if c["id"] == "imports" else c for c in lesson()]),
]


@pytest.mark.parametrize("mine", OWN)
def test_cell_of_ones_own_is_not_taken_for_one_of_the_courses(mine):
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert sources(new) == sources(mine) and "imports" not in ids(new)


def test_doubled_cell_is_the_learners_own():
    mine = lesson()
    mine.insert(2, dict(mine[1]))
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert sources(new)[1:3] == ["import numpy", "import torch"] and len(set(ids(new))) == len(new)


@pytest.mark.parametrize(
    "name, stays", [("my_note-1", True), ("x" * 65, False), ("", False), ("a b", False), (7, False)]
)
def test_id_that_jupyter_refuses_becomes_one_that_it_takes(name, stays):
    mine = [*lesson(), {**prose("", "mine"), "id": name}]
    (found,) = ids(copies.update(mine, lesson(), lesson()))[len(LESSON) :]
    assert (found == name) == stays and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", found)


def test_without_a_baseline_every_difference_is_the_learners():
    mine = lesson(stub="def my_f(x):\n    return x")
    new = copies.update(mine, None, lesson(title="# 1. New"))
    assert set(sources(mine)) <= set(sources(new)) and any("# 1. New" in source for source in sources(new))


# ------------------------------------------------------------------------ any edits of both, one after the other

words = st.sampled_from(["a = 1", "b = 2", "a = 1\nb = 2", "Read *this*.", "guess = 3\npredict(guess, 3)", ""])
actions = st.lists(
    st.tuples(
        st.sampled_from(["edit", "add", "delete", "move", "run", "reid"]), st.randoms(use_true_random=False), words
    ),
    max_size=6,
)


def worked(cells, actions, own=None):
    """Cells after these actions; with `own`, a dict, each text that the learner wrote is noted there under its cell."""
    cells = copy.deepcopy(cells)
    for action, chance, words in actions:
        at = chance.randrange(len(cells) + 1)
        some = cells[at] if at < len(cells) else None
        name = f"{'course' if own is None else 'mine'}{chance.getrandbits(32):08x}"
        if name in ids(cells):  # of so many numbers never the same, but where hypothesis looks for the simplest
            continue
        if action == "add":
            kind = chance.choice(["code", "markdown"])
            text = f"{words} # {name}"
            cells.insert(at, cell(name, text, kind))
            if own is not None:
                own[name] = text
        elif some is None:
            continue
        elif action == "edit":
            some["source"] = f"{words} # {chance.getrandbits(32):08x}"
            if own is not None:
                own[some["id"]] = some["source"]
        elif action == "delete":
            cells.remove(some)
            if own is not None:
                own.pop(some["id"], None)
        elif action == "move":
            cells.insert(chance.randrange(len(cells)), cells.pop(at))
        elif action == "run" and some["cell_type"] == "code":
            some["outputs"] = ["ran"]
        elif action == "reid" and own is not None:
            if some["id"] in own:
                own[name] = own.pop(some["id"])
            some["id"] = name
    return cells


def unique(cells):
    """A lesson has no two cells alike: they could not be told apart once their ids are lost."""
    return [{**c, "source": f"{c['source']} # {i}"} for i, c in enumerate(cells)]


START = unique(LESSON)


@given(st.lists(st.tuples(actions, actions), min_size=1, max_size=3))
@example([([], [])])
def test_nothing_of_the_learners_is_lost_in_any_edits(rounds):
    course, mine = START, copy.deepcopy(START)
    for by_learner, by_course in rounds:
        own = {}
        mine = worked(mine, by_learner, own)
        old, course = course, worked(course, by_course)
        known = copies.with_course_ids(copy.deepcopy(mine), old)
        result = copies.update(copy.deepcopy(mine), old, course)
        texts = sources(result)
        for text in own.values():  # what they wrote, in this round
            assert any(text in source for source in texts), text
        was, new, now = copies.by_id(old), copies.by_id(course), copies.by_id(result)
        for c in known:
            name = c["id"]
            if name in was and copies.same(c, was[name]):  # untouched
                assert (name in now) == (name in new)
                if name in new:
                    assert now[name]["source"].rstrip() == new[name]["source"].rstrip()
        for name in set(new) - set(was):
            assert name in now  # what is new has come
        for name in set(was) - set(copies.by_id(known)):
            assert name not in now  # what was deleted stays away
        assert len(set(ids(result))) == len(result)
        assert copies.update(copy.deepcopy(result), course, course) == result  # nothing more to do
        mine = result


@given(actions, actions)
def test_order_is_the_courses_where_the_learner_moved_nothing(by_learner, by_course):
    by_learner = [a for a in by_learner if a[0] not in ("move", "reid")]
    mine, course = worked(START, by_learner, {}), worked(START, by_course)
    result = copies.update(mine, START, course)
    untouched = [c["id"] for c in result if c["id"] in copies.by_id(course)]
    touched = {
        c["id"] for c in mine if c["id"] in copies.by_id(START) and not copies.same(c, copies.by_id(START)[c["id"]])
    }
    stay = [name for name in untouched if name not in touched]
    assert stay == [name for name in ids(course) if name in stay]


# --------------------------------------------------------------------------------------------- how a copy begins


@pytest.fixture
def root(tmp_path):
    """A small course of two notebooks."""
    (tmp_path / "notebooks").mkdir()
    for name in ("01_first.ipynb", "02_second.ipynb"):
        save(tmp_path / "notebooks" / name, lesson())
    return tmp_path


def save(path, cells, **metadata):
    content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), encoding="utf-8")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def learner(root, name="01_first.ipynb"):
    return root / "my" / name


def answer(root, name="01_first.ipynb"):
    """What a learner does who writes an answer and saves."""
    edited = load(learner(root, name))
    edited["cells"][4]["source"] = "mine"
    learner(root, name).write_text(json.dumps(edited))


def kept(root):
    return sorted((root / "my/kept").rglob("*.ipynb"))


def test_copy_begins_without_outputs_and_names_of_slides(root):
    cells = lesson()
    cells[1].update(outputs=[{"output_type": "stream", "name": "stdout", "text": "6"}], execution_count=1)
    cells[1]["metadata"] = {"slide": "it-is-6", "slideshow": {"slide_type": "skip"}, "tags": ["x"]}
    save(root / "notebooks/01_first.ipynb", cells)
    copies.bring_up_to_date(root)
    begun = load(learner(root))["cells"][1]
    assert begun["outputs"] == [] and begun["execution_count"] is None and begun["metadata"] == {"tags": ["x"]}


@pytest.mark.parametrize(
    "between, text, closed",
    [
        ([], "Six.", True),
        ([cell("drawn", "plot()")], "Six.", True),
        ([cell("drawn", "plot()"), cell("other", "x")], "Six.", False),
        ([cell("drawn", "plot()"), cell("folded", "x", tags=["answer"])], "Six.", True),
        ([prose("first", "Six.", tags=["answer"]), cell("drawn", "plot()")], "As you see.", True),
        ([prose("apart", "Something else.")], "Six.", False),
        ([], "## Next\n\nSix.", False),
        ([], "Six.\n\n## Next", False),
        ([], "**Predict.** And what is this?", False),
        ([], "**Your line.** Write it.", False),
    ],
)
def test_only_answers_to_the_question_right_above_are_folded(between, text, closed):
    cells = [*lesson()[:4], *between, prose("tagged", text, tags=["answer"])]
    begun = copies.lesson_of({"cells": cells})["cells"][-1]["source"]
    assert begun.startswith("<details>") == closed


@pytest.mark.parametrize("tag", ["nbval-ignore-output", "filled"])
def test_answer_to_a_board_or_a_blank_is_folded_too(tag):
    cells = [cell("asked", "mask_board()", tags=[tag]), prose("why", "Six.", tags=["answer"])]
    assert copies.lesson_of({"cells": cells})["cells"][1]["source"].startswith("<details>")
    cells[0]["metadata"]["tags"] = []
    assert copies.lesson_of({"cells": cells})["cells"][1]["source"] == "Six."


def test_a_second_reading_is_folded_and_stops_nobody():
    """JupyterLab folds what stands below a heading; Run All would end at a question there that nobody has seen."""
    deeper = prose("deeper", "### Why not? On a second reading")
    cells = [*lesson(), deeper, {**lesson()[3], "id": "asked-there"}, prose("on", "### And on"), *lesson()[3:4]]
    *_, heading, there, on, here = copies.lesson_of({"cells": cells})["cells"]
    folded = [one["metadata"].get("jp-MarkdownHeadingCollapsed", False) for one in (heading, on)]
    stops = ["raises-exception" not in copies.tags(one) for one in (there, here)]
    assert (folded, stops) == ([True, False], [False, True])


@pytest.mark.parametrize("tag", ["filled", "answer"])
def test_courses_own_lines_and_answers_in_code_are_hidden(tag):
    cells = lesson()
    cells[5]["metadata"] = {"tags": [tag]}
    begun = copies.lesson_of({"cells": cells})["cells"][5]
    metadata = begun["metadata"]
    assert "my_f" not in begun["source"].splitlines()[0]  # which JupyterLab shows of a hidden cell
    assert begun["source"].endswith(cells[5]["source"])
    assert metadata["jupyter"]["source_hidden"] is True and metadata["cellView"] == "form"


@pytest.mark.parametrize("name", NAMES)
def test_copy_of_each_notebook_is_valid_and_has_its_code(name, tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / name).write_bytes((ROOT / "notebooks" / name).read_bytes())
    copies.bring_up_to_date(tmp_path)
    mine = nbformat.read(learner(tmp_path, name), as_version=4)
    nbformat.validate(mine)
    assert not any(c.get("outputs") for c in mine.cells)
    course = nbformat.read(ROOT / "notebooks" / name, as_version=4)
    assert ids(mine.cells) == ids(course.cells)
    assert code_of(mine) == code_of(course), "what was worked through in the course's kernel would be something else"


def code_of(notebook):
    """What each cell does; comments do nothing."""
    return [ast.dump(ast.parse(c.source)) for c in notebook.cells if c.cell_type == "code"]


# -------------------------------------------------------------------------------------------------- files


def test_all_notebooks_get_a_copy_so_that_links_hold(root):
    (told,) = copies.bring_up_to_date(root)
    assert "my/" in told and copies.bring_up_to_date(root) == []
    assert learner(root).exists() and learner(root, "02_second.ipynb").exists() and not kept(root)


def test_update_keeps_the_old_file_unless_nothing_is_new(root):
    copies.bring_up_to_date(root)
    answer(root)
    before = learner(root).read_bytes()
    assert copies.bring_up_to_date(root) == [] and learner(root).read_bytes() == before and not kept(root)
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. New"))
    (line,) = copies.bring_up_to_date(root)
    assert "my/01_first.ipynb" in line
    assert re.search(r"my/kept/\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d$", line.replace("\\", "/"))
    assert [path.read_bytes() for path in kept(root)] == [before]
    assert sources(load(learner(root))["cells"]) == sources(lesson(title="# 1. New", stub="mine"))


def test_fresh_copy_keeps_the_old_one_and_leaves_the_others(root):
    copies.bring_up_to_date(root)
    for name in ("01_first.ipynb", "02_second.ipynb"):
        save(learner(root, name), lesson(stub="mine"))
    copies.bring_up_to_date(root, fresh="02")
    assert sources(load(learner(root, "02_second.ipynb"))["cells"]) == sources(LESSON)
    assert "mine" in sources(load(learner(root))["cells"])
    assert any("mine" in path.read_text() for path in kept(root))
    copies.bring_up_to_date(root, fresh="2")
    assert len(list((root / "my/kept").rglob("*02_second.ipynb"))) == 2
    assert "'0' names 0 notebooks" in copies.bring_up_to_date(root, fresh="0")[0]


OF_ANOTHER_KIND = '{"cells": [{"cell_type": "chapter", "source": ""}]}'
NO_NOTEBOOKS = ["", "{", "[]", "{}", '{"cells": [1]}', '{"cells": [{"cell_type": "code"}]}', OF_ANOTHER_KIND]


@pytest.mark.parametrize("content", NO_NOTEBOOKS)
def test_copy_that_is_no_notebook_is_kept_and_begins_again(root, content):
    copies.bring_up_to_date(root)
    learner(root).write_text(content)
    (line,) = copies.bring_up_to_date(root)
    assert "could not be read" in line and [path.read_text() for path in kept(root)] == [content]
    assert sources(load(learner(root))["cells"]) == sources(LESSON)


def test_renamed_notebook_keeps_its_copy(root):
    copies.bring_up_to_date(root)
    save(learner(root), lesson(stub="mine"))
    (root / "notebooks/01_first.ipynb").rename(root / "notebooks/01_by_hand.ipynb")
    copies.bring_up_to_date(root)
    assert "mine" in sources(load(learner(root, "01_by_hand.ipynb"))["cells"]) and not learner(root).exists()
    assert [path.name for path in kept(root)] == ["01_first.ipynb"]


def test_new_notebook_like_an_old_one_takes_no_copy_of_it(root):
    copies.bring_up_to_date(root)
    save(learner(root), lesson(stub="mine"))
    (root / "notebooks/01_first.ipynb").unlink()
    save(root / "notebooks/01_by_hand.ipynb", [*LESSON[:2], cell("other", "z = 1")])
    copies.bring_up_to_date(root)
    assert "mine" in sources(load(learner(root))["cells"])
    assert sources(load(learner(root, "01_by_hand.ipynb"))["cells"])[-1] == "z = 1" and not kept(root)


def test_copy_saved_over_an_update_is_updated_again(root):
    copies.bring_up_to_date(root)
    stale = load(learner(root))
    stale["cells"][4]["source"] = "mine"
    new = lesson(title="# 1. New")
    new.insert(2, cell("extra", "y = 1"))
    save(root / "notebooks/01_first.ipynb", new)
    copies.bring_up_to_date(root)
    learner(root).write_text(json.dumps(stale))  # JupyterLab had the old one open
    copies.bring_up_to_date(root)
    wanted = [{**c, "source": "mine"} if c["id"] == "stub" else c for c in new]
    assert sources(load(learner(root))["cells"]) == sources(wanted)


@pytest.mark.parametrize("content", ["", "[]", '{"01_first.ipynb": 3}', '{"01_first.ipynb": {"versions": 3}}'])
def test_damaged_baseline_costs_nothing_of_the_learners(root, content):
    copies.bring_up_to_date(root)
    answer(root)
    (root / "my" / BASELINE_FILE).write_text(content)
    copies.bring_up_to_date(root)
    assert [path.read_text() for path in (root / "my/kept").rglob(BASELINE_FILE)] == [content]
    assert sources(load(learner(root))["cells"]) == sources(lesson(stub="mine"))
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. New"))
    copies.bring_up_to_date(root)
    assert sources(load(learner(root))["cells"]) == sources(lesson(stub="mine", title="# 1. New"))


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("which", [1, 2])
def test_interrupted_update_leaves_a_whole_file(root, monkeypatch, call, which):
    copies.bring_up_to_date(root)
    answer(root)
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. New"))
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == which:
            raise KeyboardInterrupt
        return whole(*arguments)

    whole = getattr(copies.os, call)
    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):
        context.setattr(copies.os, call, interrupted)
        copies.bring_up_to_date(root)
    assert "mine" in sources(load(learner(root))["cells"])
    copies.bring_up_to_date(root)
    assert sources(load(learner(root))["cells"]) == sources(lesson(stub="mine", title="# 1. New"))


def test_updates_at_the_same_time_do_no_harm(root):
    copies.bring_up_to_date(root)
    for name in ("01_first.ipynb", "02_second.ipynb"):
        answer(root, name)
        save(root / "notebooks" / name, lesson(title="# 1. New"))
    command = [sys.executable, "-m", "workbench.copies"]
    started = [subprocess.Popen(command, cwd=root) for _ in range(4)]
    assert [process.wait(60) for process in started] == [0] * 4
    for name in ("01_first.ipynb", "02_second.ipynb"):
        assert sources(load(learner(root, name))["cells"]) == sources(lesson(stub="mine", title="# 1. New"))
    assert len(kept(root)) == 2


def test_progress_moves_into_the_copies_once(root):
    (root / "notebooks" / PROGRESS_FILE).write_text('{"1.1": "done"}')
    copies.bring_up_to_date(root)
    assert (root / "my" / PROGRESS_FILE).read_text() == '{"1.1": "done"}'
    (root / "my" / PROGRESS_FILE).write_text('{"1.2": "done"}')
    copies.bring_up_to_date(root)
    assert (root / "my" / PROGRESS_FILE).read_text() == '{"1.2": "done"}'


def test_command_says_what_it_did(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    copies.main([])
    assert capsys.readouterr().out == "Your own copies of the notebooks are in my/.\n"
    copies.main(["--fresh", "my/02_second.ipynb"])
    assert capsys.readouterr().out.startswith("my/02_second.ipynb starts afresh. Your old version is in ")
    shutil.rmtree(root / "my")
    (root / "my").write_text("a file")
    with pytest.raises(SystemExit, match="could not be written"):
        copies.main([])
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        copies.main(["--help"])
    assert "--fresh NOTEBOOK  begin this notebook again; the old one is kept" in capsys.readouterr().out
