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
    return [c["source"] for c in cells]


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


def test_what_nobody_touched_becomes_what_the_course_has():
    new = lesson(ask="**Predict.** And now?", imports=None)
    new.insert(1, prose("extra", "More."))
    assert copies.update(lesson(), lesson(), new) == new


def test_what_the_learner_ran_keeps_its_outputs_while_the_course_leaves_it_alone():
    mine = lesson()
    for c in mine:
        if c["cell_type"] == "code":
            c.update(outputs=["seen"], execution_count=3)
    new = copies.update(mine, lesson(), lesson(check='check("1.1", my_f)  # now'))
    outputs = {c["id"]: c.get("outputs") for c in new}
    assert outputs["imports"] == outputs["stub"] == ["seen"] and outputs["check"] == []


def test_a_cell_that_only_the_learner_changed_stays():
    mine = lesson(stub="def my_f(x):\n    return x", ask="my own words")
    assert sources(copies.update(mine, lesson(), lesson(title="# 1. New"))) == sources(
        lesson(stub="def my_f(x):\n    return x", ask="my own words", title="# 1. New")
    )


def test_an_empty_line_at_the_end_of_a_cell_is_no_edit():
    mine = lesson(imports="import torch\n\n")
    assert copies.update(mine, lesson(), lesson(imports="import numpy")) == lesson(imports="import numpy")


def test_how_the_learner_set_a_cell_stays_and_the_courses_tags_come():
    """A cell that was folded in JupyterLab stays folded; a tag comes with a cell that nobody touched."""
    mine, course = lesson(), lesson()
    mine[1]["metadata"] = {"collapsed": True}
    course[1]["metadata"], course[2]["metadata"] = {"tags": ["new"]}, {"tags": ["new"]}
    new = copies.update(mine, lesson(), course)
    assert new[1]["metadata"] == {"collapsed": True} and new[2]["metadata"] == {"tags": ["new"]}


def test_of_a_cell_that_both_changed_the_new_version_stands_below():
    mine = lesson(imports="import torch, math", ask="my own words")
    new = copies.update(mine, lesson(), lesson(imports="import numpy", ask="And now?"))
    assert sources(new)[1:5] == [
        "import torch, math",
        "# The course has changed this cell; yours stands above.\nimport numpy",
        "my own words",
        "*The course has changed this paragraph; yours stands above.*\n\nAnd now?",
    ]
    assert new[2]["outputs"] == [] and new[2]["execution_count"] is None  # it can be run


def test_a_cell_that_the_learner_made_words_of_stays_words():
    mine = lesson()
    mine[1] = prose("imports", "import torch")
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert new[1] == mine[1] and new[2]["source"].endswith("yours stands above.\nimport numpy")


@pytest.mark.parametrize("tag", ["exercise", "blank"])
def test_of_an_answer_the_new_stub_is_shown_and_never_run(tag):
    mine, was, course = (
        lesson(stub=source)
        for source in ("def my_f(x):\n    return x", LESSON[4]["source"], 'def my_f(x):\n    """Better."""')
    )
    for cells in (mine, was, course):
        cells[4]["metadata"] = {"tags": [tag]}
    new = copies.update(mine, was, course)
    at = ids(new).index("stub")
    assert new[at]["source"].endswith("return x")
    shown = new[at + 1]
    assert shown["cell_type"] == "markdown" and '"""Better."""' in shown["source"]
    assert "outputs" not in shown and "execution_count" not in shown and "tags" not in shown["metadata"]


def test_a_guess_goes_into_the_new_version_of_its_question():
    mine = lesson(question="guess = [\n  6]  # mine\nx = 2 * 3\npredict(guess, x)")
    new = copies.update(mine, lesson(), lesson(question="guess = ...\nx = 3 * 2\npredict(guess, x, sum=5)"))
    assert copies.by_id(new)["question"]["source"] == "guess = [\n  6]  # mine\nx = 3 * 2\npredict(guess, x, sum=5)"
    assert len(new) == len(LESSON)
    mine[3]["outputs"], tagged = [{"output_type": "stream", "name": "stdout", "text": "Right."}], lesson()
    tagged[3] = cell("question", "guess = ...\ny = 7\npredict(guess, y)", tags=["predict", "hard"])
    asked = copies.by_id(copies.update(mine, lesson(), tagged))["question"]
    assert asked["outputs"] == [] and asked["metadata"] == {"tags": ["predict", "hard"]}, "the answer was another's"


def test_a_guess_goes_along_whatever_blank_lines_end_its_cell():
    new = copies.update(
        lesson(question=LESSON[3]["source"].replace("...", "6") + "\n"), lesson(), lesson(question="guess = ...\ny")
    )
    assert new[3]["source"] == "guess = 6  # a number\ny"


def test_where_the_course_asks_no_more_the_learners_guess_stays_beside_what_it_has():
    mine = lesson(question=LESSON[3]["source"].replace("...", "6"))
    new = copies.update(mine, lesson(), lesson(question="x = 2 * 3\nx"))
    assert new[3] == mine[3] and new[4]["source"].endswith("yours stands above.\nx = 2 * 3\nx")


def test_what_is_no_code_has_no_guess():
    assert [copies.split_guess({"source": text}) for text in ("", "guess = (", "guess = 6\0")] == [
        ("", ""),
        ("", "guess = ("),
        ("", "guess = 6\0"),
    ]


@pytest.mark.parametrize(
    "mine, was, new",
    [
        ("# One number.\nguess = 6\nx = 1", "# One number.\nguess = ...\nx = 1", "# Two.\nguess = ...\nx = 1"),
        ("guess = 6", "guess = ...", "guess = ...\nx = 1"),
    ],
    ids=["words above", "nothing below"],
)
def test_a_guess_that_does_not_stand_at_the_head_of_its_question_stays_where_it_is(mine, was, new):
    made = copies.update(lesson(question=mine), lesson(question=was), lesson(question=new))
    at = ids(made).index("question")
    assert made[at]["source"] == mine and made[at + 1]["source"].endswith(new) and len(made) == len(LESSON) + 1


def test_a_question_that_was_rewritten_keeps_its_guess_beside_too():
    mine = lesson(question="guess = 6\nx = 2 * 3\nprint(x)\npredict(guess, x)")
    new = copies.update(mine, lesson(), lesson(question="guess = ...\nx = 3 * 2\npredict(guess, x)"))
    at = ids(new).index("question")
    assert new[at]["source"] == mine[3]["source"]
    assert new[at + 1]["source"].endswith("yours stands above.\nguess = 6\nx = 3 * 2\npredict(guess, x)")


def test_a_newer_version_replaces_the_one_beside_and_an_adopted_one_goes():
    mine, versions = lesson(imports="mine"), [lesson(), lesson(imports="two"), lesson(imports="three")]
    second = copies.update(mine, versions[0], versions[1])
    third = copies.update(second, versions[1], versions[2])
    assert sources(third)[1:3] == ["mine", "# The course has changed this cell; yours stands above.\nthree"]
    third[1]["source"] = "three"
    assert sources(copies.update(third, versions[2], lesson(imports="three"))) == sources(versions[2])


def test_a_version_beside_that_the_learner_worked_in_stays():
    second = copies.update(lesson(imports="mine"), lesson(), lesson(imports="two"))
    second[2]["source"] += "\nworked"
    third = copies.update(second, lesson(imports="two"), lesson(imports="three"))
    assert "mine" in sources(third) and second[2]["source"] in sources(third)
    assert any(source.endswith("three") for source in sources(third))


def test_what_the_learner_deleted_stays_away():
    mine = [c for c in lesson() if c["id"] != "imports"]
    new = copies.update(mine, lesson(), lesson(imports="import numpy", title="# 1. New"))
    assert ids(new) == ids(mine)


def test_what_the_learner_wrote_into_a_cell_that_the_course_removed_stays():
    mine = lesson(ask="my own words")
    assert "my own words" in sources(copies.update(mine, lesson(), lesson(ask=None)))


def test_notes_stay_below_what_they_were_written_below():
    mine = lesson()
    mine.insert(4, prose("note", "why 6?"))
    mine.insert(0, prose("top", "my name"))
    new = lesson(ask=None)
    new.insert(3, cell("more", "y = 1"))
    assert ids(copies.update(mine, lesson(), new)) == [
        "top",
        "title",
        "imports",
        "question",
        "note",
        "more",
        "stub",
        "check",
    ]


def test_a_note_stays_where_it_is_when_the_course_begins_with_more():
    mine = lesson()
    mine.insert(4, prose("note", "why 6?"))
    new = [prose("first", "Before."), prose("second", "And this."), *lesson()]
    assert ids(copies.update(mine, lesson(), new))[5:8] == ["question", "note", "stub"]


def test_the_courses_new_order_holds_and_so_does_a_move_by_the_learner():
    mine = lesson()
    mine.append(mine.pop(1))  # imports to the end
    new = lesson()
    new.insert(0, new.pop(2))  # ask before the title
    assert ids(copies.update(mine, lesson(), new)) == ["ask", "title", "question", "stub", "check", "imports"]


@pytest.mark.parametrize("edited", [{}, {"stub": "def my_f(x):\n    return x"}])
def test_cells_that_lost_their_ids_are_known_by_what_is_in_them(edited):
    mine = [{**c, "id": f"{i:08x}"} for i, c in enumerate(lesson(**edited))]
    mine.insert(2, {key: value for key, value in prose("note", "mine alone").items() if key != "id"})
    new = copies.update(mine, lesson(), lesson(title="# 1. New", **edited))
    assert [name for name in ids(new) if name in ids(LESSON)] == ids(LESSON)
    assert "mine alone" in sources(new) and new[0]["source"] == "# 1. New" and len(new) == len(LESSON) + 1


@pytest.mark.parametrize("own", ["notes = ['why', 'how']", "import math\nprint(math.pi)"])
def test_a_cell_of_ones_own_in_the_place_of_one_that_was_deleted_is_not_taken_for_it(own):
    mine = [{**c, "id": f"{i:08x}"} for i, c in enumerate(lesson(imports=own))]
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert sources(new) == sources(mine) and "imports" not in ids(new)


def test_a_cell_of_ones_own_is_not_taken_for_one_that_was_deleted_elsewhere():
    mine = [{**c, "id": f"{i:08x}"} for i, c in enumerate(lesson(imports=None))]
    mine.append(cell("0000000f", "import torch, os"))
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert sources(new) == sources(mine) and "imports" not in ids(new)


def test_a_cell_that_lost_its_id_and_was_moved_is_known_too():
    mine = [{**c, "id": f"{i:08x}"} for i, c in enumerate(lesson())]
    mine.append(mine.pop(1))  # imports to the end
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert ids(new) == ["title", "ask", "question", "stub", "check", "imports"] and new[-1]["source"] == "import numpy"


def test_a_moved_cell_that_lost_its_id_is_the_learners_own_where_two_of_the_courses_are_like_it():
    course = [*lesson(), cell("one", "same"), prose("between", "Words."), cell("two", "same")]
    mine = [{**c, "id": f"{i:08x}"} for i, c in enumerate([course[-1], *lesson()])]
    new = copies.update(mine, course, course)
    assert sources(new)[0] == "same" and not {"one", "two"} & set(ids(new))


def test_words_that_look_like_code_are_not_taken_for_it():
    mine = [{**c, "id": f"{i:08x}"} for i, c in enumerate(lesson())]
    mine[1] = prose("00000001", "import torch!")
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert sources(new) == sources(mine) and "imports" not in ids(new)


def test_a_doubled_cell_is_the_learners_own():
    mine = lesson()
    mine.insert(2, dict(mine[1]))
    new = copies.update(mine, lesson(), lesson(imports="import numpy"))
    assert sources(new)[1:3] == ["import numpy", "import torch"] and len(set(ids(new))) == len(new)


@pytest.mark.parametrize(
    "name, stays",
    [("my_note-1", True), ("x" * 64, True), ("x" * 65, False), ("", False), ("a b", False), (7, False), (None, False)],
)
def test_an_id_that_jupyter_does_not_take_becomes_one_that_it_takes(name, stays):
    mine = [*lesson(), {**prose("", "mine"), "id": name}]
    (found,) = ids(copies.update(mine, lesson(), lesson()))[len(LESSON) :]
    assert (found == name) == stays and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", found)


def test_cells_of_ones_own_get_ids_of_their_own():
    assert len({copies.fresh_id() for _ in range(99)}) == 99


def test_without_the_books_every_difference_is_the_learners():
    mine = lesson(stub="def my_f(x):\n    return x")
    mine[1]["metadata"] = {"collapsed": True}
    new = copies.update(mine, None, lesson(title="# 1. New"))
    assert copies.by_id(new)["imports"]["metadata"] == {"collapsed": True}
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
        if action == "add":
            name = f"{chance.getrandbits(32):08x}"
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
            new = f"{chance.getrandbits(32):08x}"
            if some["id"] in own:
                own[new] = own.pop(some["id"])
            some["id"] = new
    return cells


def unique(cells):
    """A lesson has no two cells alike: they could not be told apart once their ids are lost."""
    return [{**c, "source": f"{c['source']} # {i}"} for i, c in enumerate(cells)]


START = unique(LESSON)


@given(st.lists(st.tuples(actions, actions), min_size=1, max_size=3))
@example([([], [])])
def test_nothing_of_the_learners_is_lost_and_the_rest_is_the_courses(rounds):
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


def kept(root):
    return sorted((root / "my/kept").rglob("*.ipynb"))


def test_a_copy_begins_without_outputs_and_without_what_is_only_for_lectures(root):
    cells = lesson()
    cells[1].update(outputs=[{"output_type": "stream", "name": "stdout", "text": "6"}], execution_count=1)
    cells[1]["metadata"] = {"speaker": {"say": "It is 6."}, "slideshow": {"slide_type": "slide"}, "tags": ["x"]}
    save(root / "notebooks/01_first.ipynb", cells)
    copies.bring_up_to_date(root)
    begun = load(learner(root))["cells"][1]
    assert begun["outputs"] == [] and begun["execution_count"] is None and begun["metadata"] == {"tags": ["x"]}


def test_a_picture_that_is_part_of_a_cell_comes_along():
    picture = {"x.png": {"image/png": "AAAA"}}
    (begun,) = copies.lesson_of({"cells": [{**prose("seen", "![x](attachment:x.png)"), "attachments": picture}]})[
        "cells"
    ]
    assert begun["attachments"] == picture


def test_what_answers_a_prediction_is_folded(root):
    fragment = {"slideshow": {"slide_type": "fragment"}}
    cells = lesson()
    cells[4:4] = [
        prose("answer", "It is 6.", **fragment),
        prose("more", "So it is.", **fragment),
        cell("drawn", "plot()"),
        prose("goes on", "Said of the plot.", tags=["answer"]),
        prose("later", "Something else."),
        prose("tagged", "Six.", tags=["answer"]),
        prose("title2", "## Next\n\nText.", **fragment),
        prose("apart", "A fragment of its own.", **fragment),
    ]
    begun = {c["id"]: c["source"] for c in copies.lesson_of({"cells": cells})["cells"]}
    fold = re.compile(r"<details>\n<summary>(.*)</summary>\n\n")
    closed = {name: found[1] for name, text in begun.items() if (found := fold.match(text))}
    after = "After your guess"
    assert closed == {"answer": after, "more": f"More {after[0].lower()}{after[1:]}", "goes on": after}
    assert "It is 6." in begun["answer"]


@pytest.mark.parametrize(
    "between, text, closed",
    [
        ([], "Six.", True),
        ([cell("drawn", "plot()")], "Six.", True),
        ([cell("drawn", "plot()"), cell("other", "x")], "Six.", False),
        ([prose("first", "Six.", tags=["answer"]), cell("drawn", "plot()")], "As you see.", True),
        ([prose("apart", "Something else.")], "Six.", False),
        ([], "## Next\n\nSix.", False),
        ([], "Six.\n\n## Next", False),
        ([], "**Predict.** And what is this?", False),
        ([], "**Your line.** Write it.", False),
    ],
)
def test_only_what_answers_the_question_right_above_is_folded(between, text, closed):
    cells = [*lesson()[:4], *between, prose("tagged", text, tags=["answer"])]
    begun = copies.lesson_of({"cells": cells})["cells"][-1]["source"]
    assert begun.startswith("<details>") == closed


@pytest.mark.parametrize("source, tag", [("mask_board()", "nbval-ignore-output"), ("x = 6\nblank(my_x, x)", "filled")])
def test_what_answers_the_task_of_a_board_or_a_line_of_ones_own_is_folded(source, tag):
    cells = [cell("asked", source, tags=[tag]), prose("why", "Six.", tags=["answer"])]
    assert copies.lesson_of({"cells": cells})["cells"][1]["source"].startswith("<details>")
    cells[0]["metadata"]["tags"] = []
    assert copies.lesson_of({"cells": cells})["cells"][1]["source"] == "Six."


@pytest.mark.parametrize("tag", ["filled", "answer"])
def test_the_courses_own_lines_and_answers_in_code_are_hidden(tag):
    cells = lesson()
    cells[5]["metadata"] = {"tags": [tag]}
    begun = copies.lesson_of({"cells": cells})["cells"][5]
    metadata = begun["metadata"]
    assert "my_f" not in begun["source"].splitlines()[0]  # which JupyterLab shows of a hidden cell
    assert begun["source"].endswith(cells[5]["source"])
    assert metadata["jupyter"]["source_hidden"] is True and metadata["cellView"] == "form"


def test_of_a_hidden_cell_one_comment_is_seen_and_it_says_what_stands_there():
    cells = lesson()
    cells[5]["source"] = "# The course's own:\ny = 1  # the answer"
    shown = {}
    for tag in ("filled", "answer"):
        cells[5]["metadata"] = {"tags": [tag]}
        shown[tag], *rest = copies.lesson_of({"cells": cells})["cells"][5]["source"].splitlines()
        assert shown[tag].startswith("#") and rest == ["y = 1  # the answer"]
    assert "yours" in shown["filled"] and shown["filled"] != shown["answer"]


def test_how_the_course_set_a_cell_stays_when_it_is_hidden():
    cells = [cell("answer", "y = 1", tags=["filled"], jupyter={"outputs_hidden": True})]
    begun = copies.lesson_of({"cells": cells})["cells"][0]
    assert begun["metadata"]["jupyter"] == {"outputs_hidden": True, "source_hidden": True}


def test_a_raw_cell_is_never_folded():
    cells = [*lesson()[:4], cell("raw", "Six.", "raw", tags=["answer"])]
    assert copies.lesson_of({"cells": cells})["cells"][-1]["source"] == "Six."


@pytest.mark.parametrize("name", NAMES)
def test_each_notebook_of_the_course_has_a_copy_that_jupyter_takes_with_its_code(name, tmp_path):
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


def test_a_copy_is_written_as_jupyter_writes_notebooks(root):
    copies.bring_up_to_date(root)
    assert learner(root).read_bytes() == f"{json.dumps(load(learner(root)), indent=1)}\n".encode()


def test_the_same_cells_are_the_same_version_in_whatever_order_they_were_written():
    one, other = {"id": "a", "source": "x"}, {"source": "x", "id": "a"}
    assert copies.version_of({"cells": [one]}) == copies.version_of({"cells": [other]})
    assert len({copies.version_of({"cells": [{"id": "a", "source": str(i)}]}) for i in range(300)}) == 300


def test_a_copy_whose_cells_have_no_metadata_is_read(root):
    copies.bring_up_to_date(root)
    bare = [{key: part for key, part in c.items() if key != "metadata"} for c in lesson(stub="mine")]
    learner(root).write_text(json.dumps({**load(learner(root)), "cells": bare}))
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. New"))
    copies.bring_up_to_date(root)
    assert sources(load(learner(root))["cells"]) == sources(lesson(stub="mine", title="# 1. New"))


def test_an_update_keeps_the_old_file_and_one_with_nothing_new_touches_none(root):
    copies.bring_up_to_date(root)
    edited = load(learner(root))
    edited["cells"][4]["source"] = "mine"
    learner(root).write_text(json.dumps(edited))
    before = learner(root).read_bytes()
    assert copies.bring_up_to_date(root) == [] and learner(root).read_bytes() == before and not kept(root)
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. New"))
    (line,) = copies.bring_up_to_date(root)
    assert "my/01_first.ipynb" in line
    assert re.search(r"my/kept/\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d$", line.replace("\\", "/"))
    assert [path.read_bytes() for path in kept(root)] == [before]
    assert sources(load(learner(root))["cells"]) == sources(lesson(title="# 1. New", stub="mine"))


def test_beginning_again_keeps_the_old_one_and_leaves_the_others(root):
    copies.bring_up_to_date(root)
    for name in ("01_first.ipynb", "02_second.ipynb"):
        save(learner(root, name), lesson(stub="mine"))
    copies.bring_up_to_date(root, fresh="02")
    assert sources(load(learner(root, "02_second.ipynb"))["cells"]) == sources(LESSON)
    assert "mine" in sources(load(learner(root))["cells"])
    assert any("mine" in path.read_text() for path in kept(root))
    copies.bring_up_to_date(root, fresh="02")
    assert len(list((root / "my/kept").rglob("*02_second.ipynb"))) == 2


@pytest.mark.parametrize("name, found", [("07", 0), ("0", 2)])
def test_to_begin_again_one_notebook_has_to_be_named(root, name, found):
    copies.bring_up_to_date(root)
    save(learner(root), lesson(stub="mine"))
    (told,) = copies.bring_up_to_date(root, fresh=name)
    assert f"{name!r} names {found} notebooks" in told and "01_first.ipynb, 02_second.ipynb" in told
    assert "mine" in sources(load(learner(root))["cells"]) and not kept(root)


def test_a_copy_that_an_editor_saved_with_a_byte_order_mark_is_read(root):
    copies.bring_up_to_date(root)
    learner(root).write_text(json.dumps({**load(learner(root)), "cells": lesson(stub="mine")}), encoding="utf-8-sig")
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. New"))
    copies.bring_up_to_date(root)
    assert sources(load(learner(root))["cells"]) == sources(lesson(title="# 1. New", stub="mine"))


OF_ANOTHER_KIND = '{"cells": [{"cell_type": "chapter", "source": ""}]}'
NO_NOTEBOOKS = ["", "{", "[]", "{}", '{"cells": [1]}', '{"cells": [{"cell_type": "code"}]}', OF_ANOTHER_KIND]


@pytest.mark.parametrize("content", NO_NOTEBOOKS)
def test_a_copy_that_is_no_notebook_is_kept_and_begins_again(root, content):
    copies.bring_up_to_date(root)
    learner(root).write_text(content)
    (line,) = copies.bring_up_to_date(root)
    assert "could not be read" in line and [path.read_text() for path in kept(root)] == [content]
    assert sources(load(learner(root))["cells"]) == sources(LESSON)


def test_a_copy_that_was_deleted_is_made_anew(root):
    copies.bring_up_to_date(root)
    learner(root).unlink()
    copies.bring_up_to_date(root)
    assert learner(root).exists()


def test_a_notebook_that_the_course_renames_keeps_its_copy(root):
    copies.bring_up_to_date(root)
    save(learner(root), lesson(stub="mine"))
    (root / "notebooks/01_first.ipynb").rename(root / "notebooks/01_by_hand.ipynb")
    copies.bring_up_to_date(root)
    assert "mine" in sources(load(learner(root, "01_by_hand.ipynb"))["cells"]) and not learner(root).exists()
    assert [path.name for path in kept(root)] == ["01_first.ipynb"]


def test_a_renamed_notebook_keeps_its_copy_after_the_books_were_lost_too(root):
    copies.bring_up_to_date(root)
    save(learner(root), lesson(stub="mine"), **load(learner(root))["metadata"])
    (root / "my" / BASELINE_FILE).unlink()
    copies.bring_up_to_date(root)
    (root / "notebooks/01_first.ipynb").rename(root / "notebooks/01_by_hand.ipynb")
    copies.bring_up_to_date(root)
    assert "mine" in sources(load(learner(root, "01_by_hand.ipynb"))["cells"])


def test_a_new_notebook_with_a_cell_of_an_old_one_is_not_the_old_one_renamed(root):
    copies.bring_up_to_date(root)
    save(learner(root), lesson(stub="mine"))
    (root / "notebooks/01_first.ipynb").unlink()
    save(root / "notebooks/01_by_hand.ipynb", [*LESSON[:2], cell("other", "z = 1")])
    copies.bring_up_to_date(root)
    assert "mine" in sources(load(learner(root))["cells"])
    assert sources(load(learner(root, "01_by_hand.ipynb"))["cells"])[-1] == "z = 1" and not kept(root)


def test_a_notebook_that_was_there_before_takes_no_other_ones_copy(root):
    copies.bring_up_to_date(root)
    save(learner(root, "02_second.ipynb"), lesson(stub="mine"))
    (root / "notebooks/02_second.ipynb").unlink()
    learner(root).unlink()
    copies.bring_up_to_date(root)
    assert "mine" in sources(load(learner(root, "02_second.ipynb"))["cells"])
    assert sources(load(learner(root))["cells"]) == sources(LESSON)


def test_of_a_renamed_notebook_a_copy_that_was_deleted_is_made_anew(root):
    copies.bring_up_to_date(root)
    learner(root).unlink()
    (root / "notebooks/01_first.ipynb").rename(root / "notebooks/01_by_hand.ipynb")
    copies.bring_up_to_date(root)
    assert sources(load(learner(root, "01_by_hand.ipynb"))["cells"]) == sources(lesson())


def test_a_renamed_notebooks_copy_replaces_no_file_of_the_learners(root):
    copies.bring_up_to_date(root)
    save(learner(root, "01_by_hand.ipynb"), lesson(stub="mine"))
    (root / "notebooks/01_first.ipynb").rename(root / "notebooks/01_by_hand.ipynb")
    copies.bring_up_to_date(root)
    assert "mine" in sources(load(learner(root, "01_by_hand.ipynb"))["cells"]) and learner(root).exists()


def test_lines_of_a_cell_are_one_text(root):
    save(root / "notebooks/01_first.ipynb", [cell("lines", ["x = 1\n", "y = 2"])])
    copies.bring_up_to_date(root)
    assert sources(load(learner(root))["cells"]) == ["x = 1\ny = 2"]


def test_what_the_course_says_of_a_notebook_comes_with_an_update(root):
    copies.bring_up_to_date(root)
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. New"), title="New")
    copies.bring_up_to_date(root)
    assert load(learner(root))["metadata"]["title"] == "New"
    edited = load(learner(root))
    edited["metadata"]["title"], edited["nbformat_minor"] = "My own", 4
    learner(root).write_text(json.dumps(edited))
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. Newer"), title="Newer")
    copies.bring_up_to_date(root)
    assert load(learner(root))["metadata"]["title"] == "My own" and load(learner(root))["nbformat_minor"] == 5


def test_a_page_that_saved_over_an_update_is_brought_up_to_date_again(root):
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
def test_damaged_books_cost_nothing_of_the_learners(root, content):
    copies.bring_up_to_date(root)
    edited = load(learner(root))
    edited["cells"][4]["source"] = "mine"
    learner(root).write_text(json.dumps(edited))
    (root / "my" / BASELINE_FILE).write_text(content)
    copies.bring_up_to_date(root)
    assert [path.read_text() for path in (root / "my/kept").rglob(BASELINE_FILE)] == [content]
    assert sources(load(learner(root))["cells"]) == sources(lesson(stub="mine"))
    save(root / "notebooks/01_first.ipynb", lesson(title="# 1. New"))
    copies.bring_up_to_date(root)
    assert sources(load(learner(root))["cells"]) == sources(lesson(stub="mine", title="# 1. New"))


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("which", [1, 2])
def test_an_interrupted_update_leaves_a_whole_file_and_the_next_one_ends_it(root, monkeypatch, call, which):
    copies.bring_up_to_date(root)
    edited = load(learner(root))
    edited["cells"][4]["source"] = "mine"
    learner(root).write_text(json.dumps(edited))
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


def test_two_at_once_do_no_harm(root):
    copies.bring_up_to_date(root)
    for name in ("01_first.ipynb", "02_second.ipynb"):
        edited = load(learner(root, name))
        edited["cells"][4]["source"] = "mine"
        learner(root, name).write_text(json.dumps(edited))
        save(root / "notebooks" / name, lesson(title="# 1. New"))
    command = [sys.executable, "-m", "workbench.copies"]
    started = [subprocess.Popen(command, cwd=root) for _ in range(4)]
    assert [process.wait(60) for process in started] == [0] * 4
    for name in ("01_first.ipynb", "02_second.ipynb"):
        assert sources(load(learner(root, name))["cells"]) == sources(lesson(stub="mine", title="# 1. New"))
    assert len(kept(root)) == 2


def test_progress_moves_along_once(root):
    (root / "notebooks" / PROGRESS_FILE).write_text('{"1.1": "done"}')
    copies.bring_up_to_date(root)
    assert (root / "my" / PROGRESS_FILE).read_text() == '{"1.1": "done"}'
    (root / "my" / PROGRESS_FILE).write_text('{"1.2": "done"}')
    copies.bring_up_to_date(root)
    assert (root / "my" / PROGRESS_FILE).read_text() == '{"1.2": "done"}'


def test_a_folder_that_cannot_be_written_is_told_in_one_line(root):
    (root / "my").write_text("a file")
    command = [sys.executable, "-m", "workbench.copies"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert result.returncode == 1 and result.stderr.startswith("Your copies in my/ could not be written: ")
    assert "File exists" in result.stderr and result.stderr.count("\n") == 1


def test_the_command_says_what_was_done_and_begins_again_what_is_named(root, monkeypatch, capsys):
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
