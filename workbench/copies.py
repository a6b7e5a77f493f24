"""The learner's own copies of the notebooks, in my/: made on first use, then brought up to date cell by cell.

python -m workbench.copies              make what is missing, bring the rest up to date
python -m workbench.copies --fresh 03   the same, and begin the third notebook again; the old one is kept

What a learner wrote, added, moved or deleted stays as it is. Where both the learner and the course have changed a
cell, the course's new version stands beside it. Before a file changes, it is kept in my/kept/DATE. `course.py lab`
calls this.

Why not nbdime: it merges by lines and leaves conflict marks, or takes one side. Here a conflict is two whole cells, of
which either runs; a guess moves into its rewritten question; and a cell is known again after an editor has given it
another id, or the learner moved it. The merge is three-way, from BASELINE_FILE; tests/workbench/test_copies.py says by
random edits of both sides what must hold. nbdime would also bring Jupyter along, which `copies` has to do without.
"""

import argparse
import ast
import bisect
import difflib
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import time
import uuid
from pathlib import Path

from filelock import FileLock

from . import shared_json
from .chosen import chosen
from .first_way import second_readings
from .places import BASELINE_FILE, GUESSES_FILE, PROGRESS_FILE

COURSE, MINE = "notebooks", "my"
OLD_VERSIONS = "kept"
KINDS = ("code", "markdown", "raw")
AFTER, STILL_AFTER = "After {}", "More after {}"  # the second right below the first
FOLD = re.compile(r"<details>\n<summary>(?:After|More after) .+</summary>\n\n(.*)\n\n</details>", re.S)
MISSING = """\
try: __import__("workbench.exercises")
except ImportError: raise SystemExit("The course is missing: pip install it as “Run it”, above, says.") from None

"""  # how the first cell of code begins, in two lines: it is none of what the lesson is about
RUN_IT = re.compile(r"^\*\*Run it:\*\* .*\n\n?", re.M)
GO_ON = re.compile(r"\n\n\*At a first reading go on at .*\*")  # below a second reading's heading; a copy folds it
GUESSED, WRITTEN, TRIED = "your guess", "your line", "you have tried it"  # the last below a board
BOARD = "nbval-ignore-output"  # a board has a task, which is a question too
FIRST_LINES = {  # tag → the first line of a hidden cell, which is shown
    "predict": "# A question. Run this cell (Shift+Enter) and answer below it. Its code gives the answer away.",
    "filled": "# This compares your line with the course's. Run it (Shift+Enter), and read it when you have yours.",
    "answer": "# This belongs to the answer. Run it too (Shift+Enter), and read it when you have yours.",
}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fresh", metavar="NOTEBOOK", help="begin this notebook again; the old one is kept")
    options = parser.parse_args(arguments)
    if not Path(COURSE).is_dir():
        sys.exit(f"There is no folder {COURSE}/ here: call this in the folder of the course.")
    try:
        for line in bring_up_to_date(Path.cwd(), fresh=options.fresh):
            print(line, flush=True)
    except OSError as error:
        sys.exit(f"Your copies in {MINE}/ could not be written: {error}")
    except ValueError as error:
        sys.exit(str(error))


def bring_up_to_date(root, fresh=None):
    """Every notebook of root/notebooks has its copy in root/my afterwards; returns what was done, in lines."""
    mine = Path(root) / MINE
    mine.mkdir(exist_ok=True)
    with FileLock(mine / ".copy.lock", timeout=60):  # two that start at once do it one after the other
        return Copies(Path(root)).update_all(fresh)


# --------------------------------------------------------------------------------------------------- files


class Copies:
    """The folder my/ with its baselines: for each notebook, the cells of every version of the course it was given."""

    def __init__(self, root):
        self.course, self.mine = root / COURSE, root / MINE
        self.old_versions = self.mine / OLD_VERSIONS / time.strftime("%Y-%m-%d %H.%M.%S")
        self.report = []
        self.baselines = self._read_baselines()

    def update_all(self, fresh=None):
        first = not (self.mine / BASELINE_FILE).exists()
        names = [path.name for path in chosen(self.course)]
        again = [name for name in names if fresh and name.startswith(Path(fresh).stem.zfill(2))]
        if fresh and len(again) != 1:
            return [f"{fresh!r} names {len(again)} notebooks; there are: {', '.join(names)}"]
        self._move_progress()
        for name in names:
            lesson = lesson_of(read(self.course / name))
            self._follow_a_new_name(name, lesson, names)
            self._update(name, lesson, again=name in again)
        return [f"Your own copies of the notebooks are in {MINE}/.", *self.report] if first else self.report

    def _update(self, name, lesson, again):
        path, version = self.mine / name, version_of(lesson)
        old = read(path) if path.exists() else None
        if path.exists() and (old is None or again):
            self._keep(path)
            self._forget_guesses(name)
            self._report(
                f"{name} starts afresh" if again else f"{name} could not be read as a notebook and starts afresh"
            )
            old = None
        versions = self.baselines.setdefault(name, {"versions": {}})["versions"]
        had = (old or {}).get("metadata", {}).get("course", {}).get("version", self.baselines[name].get("latest"))
        if old is not None and had == version:
            if version not in versions:  # the file was lost
                versions[version], self.baselines[name]["latest"] = lesson["cells"], version
                write(self.mine / BASELINE_FILE, self.baselines)
            return
        notebook = lesson if old is None else {**old, "cells": update(old["cells"], versions.get(had), lesson["cells"])}
        notebook["metadata"] = {**lesson["metadata"], **notebook.get("metadata", {}), "course": {"version": version}}
        notebook |= {"nbformat": lesson["nbformat"], "nbformat_minor": lesson["nbformat_minor"]}
        versions[version], self.baselines[name]["latest"] = lesson["cells"], version
        if old is not None:
            self._keep(path)
            self._report(f"{name} has been brought up to date with the course")
        write(self.mine / BASELINE_FILE, self.baselines)  # first: a copy's version is always in it
        write(path, notebook)

    def _keep(self, path):
        self.old_versions.mkdir(parents=True, exist_ok=True)
        place = self.old_versions / path.name
        if place.exists():  # within one second
            place = place.with_name(f"{fresh_id()} {path.name}")
        shutil.copy2(path, place)

    def _report(self, what):
        self.report.append(f"{MINE}/{what}. Your old version is in {self.old_versions.relative_to(self.mine.parent)}")

    def _read_baselines(self):
        path = self.mine / BASELINE_FILE
        if not path.exists():
            return {}
        try:
            baselines = json.loads(path.read_text(encoding="utf-8"))
            if all(isinstance(book["versions"], dict) for book in baselines.values()):
                return baselines
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        self._keep(path)  # without them every difference counts as the learner's
        return {}

    def _follow_a_new_name(self, name, lesson, names):
        """The course has renamed a notebook: its copy is renamed too. Most of its cells are the same."""
        if name in self.baselines:
            return
        ids = {cell["id"] for cell in lesson["cells"]}
        for old in [old for old in self.baselines if old not in names]:
            had = {cell["id"] for cell in self.baselines[old]["versions"].get(self.baselines[old].get("latest"), [])}
            if len(ids & had) > len(had) / 2 and (self.mine / old).exists() and not (self.mine / name).exists():
                self.baselines[name] = self.baselines.pop(old)
                self._keep(self.mine / old)
                os.replace(self.mine / old, self.mine / name)
                return

    def _forget_guesses(self, name):
        """What was entered in a lesson's forms would stand in the fresh copy again."""
        path = self.mine / GUESSES_FILE
        if any(id.startswith(name[:2]) for id in shared_json.read(path)):
            self._keep(path)
            shared_json.change(path, lambda all: {id: texts for id, texts in all.items() if id[:2] != name[:2]})

    def _move_progress(self):
        """Whoever worked in notebooks/ itself at first finds that progress in the copies too."""
        if (self.course / PROGRESS_FILE).exists() and not (self.mine / PROGRESS_FILE).exists():
            shutil.copy2(self.course / PROGRESS_FILE, self.mine / PROGRESS_FILE)


def read(path):
    """A notebook with each source as one text, or None if the file is none."""
    try:
        notebook, is_known = json.loads(path.read_text(encoding="utf-8-sig")), True
        for cell in notebook["cells"]:
            source = cell["source"]
            cell["source"] = source if isinstance(source, str) else "".join(source)
            cell["metadata"] = dict(cell.get("metadata", {}))
            is_known &= cell["cell_type"] in KINDS
        return {**notebook, "metadata": dict(notebook.get("metadata", {}))} if is_known else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def write(path, content):
    """Write another file and swap: whoever reads sees the old one or the new one, never half of it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(content, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def version_of(lesson):
    return hashlib.sha256(json.dumps(lesson["cells"], sort_keys=True).encode()).hexdigest()[:16]


# ------------------------------------------------------------------------------------- from the course's edition


def lesson_of(notebook):
    """The course's notebook as a learner begins it: no outputs, answers folded, the course's lines hidden."""
    cells = notebook["cells"]
    metadata = notebook.get("metadata", {})
    language = {**metadata.get("language_info", {}), "version": platform.python_version()}
    return {  # where the kernel has to add its version, the notebook is unsaved as soon as it is opened
        **notebook,
        "metadata": {**metadata, "language_info": language},
        "cells": [
            fresh_copy_of(cell, title, section)
            for cell, title, section in zip(cells, fold_titles(cells), second_readings(cells), strict=True)
        ],
    }


def fold_titles(cells):
    """For each cell the title of its fold if it answers a question, otherwise None."""
    since, after_what = None, GUESSED  # the kinds of cells since the last question, None where no answer can follow
    for cell in cells:
        answers = since is not None and is_answer(cell, since)
        yield (STILL_AFTER if since[-1:] == ["markdown"] else AFTER).format(after_what) if answers else None
        asks = {"predict", "filled", BOARD} & set(tags(cell))
        if cell["cell_type"] == "code" and asks and "measured" not in tags(cell):
            since, after_what = [], TRIED if asks == {BOARD} else WRITTEN if "filled" in asks else GUESSED
        elif since is not None:
            kind = "answer" if "answer" in tags(cell) and not answers else cell["cell_type"]  # folded code: no way on
            since = [*since, kind] if answers or cell["cell_type"] == "code" else None


def fresh_copy_of(cell, fold_title, second_reading=None):
    """The cell as a copy begins with it; fold_title is None unless it answers a question.

    second_reading is the heading of the section for a second reading that it stands in. JupyterLab folds the section
    under its heading; a question there, which nobody may have seen, does not stop Run All.
    """
    metadata = {key: value for key, value in cell["metadata"].items() if key not in ("slide", "slideshow")}
    if cell is second_reading:
        metadata["jp-MarkdownHeadingCollapsed"] = True
    elif second_reading is not None and {"predict", "filled"} & set(tags(cell)):
        metadata["tags"] = [*tags(cell), "raises-exception"]
    new = {"id": cell["id"], "cell_type": cell["cell_type"], "metadata": metadata, "source": cell["source"]}
    if "attachments" in cell:
        new["attachments"] = cell["attachments"]
    if cell["cell_type"] == "code":
        new |= {"outputs": [], "execution_count": None}
        for line in [FIRST_LINES[tag] for tag in tags(cell) if tag in FIRST_LINES]:
            new["source"] = with_first_line(line, cell["source"])
            metadata["jupyter"] = {**metadata.get("jupyter", {}), "source_hidden": True}
            metadata |= {"cellView": "form", "_kg_hide-input": True}  # the same on Colab, on Kaggle
    else:
        text = as_written(cell["source"])
        new["source"] = folded(fold_title, text) if fold_title else text
    return new


def with_first_line(line, source):
    """The source under this line, without the comment that it may begin with itself, which says less."""
    first, _, rest = source.partition("\n")
    return f"{line}\n{rest if first.startswith('#') else source}"


def is_answer(cell, since):
    """Whether a paragraph answers the question above it, and does not only go on from there.

    It is tagged so, and follows its question, with a picture between them at most.
    """
    if cell["cell_type"] != "markdown" or re.search(r"^#|\*\*(Predict|Your line)", cell["source"], re.M):
        return False
    return "answer" in tags(cell) and since.count("code") < 2


def folded(title, text):
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


def as_written(source):
    """A cell's source without what is there for who meets it elsewhere: a fold, where it runs, what is missing."""
    fold = FOLD.fullmatch(source)
    return GO_ON.sub("", RUN_IT.sub("", fold[1] if fold else source.removeprefix(MISSING)))


def tags(cell):
    return cell["metadata"].get("tags", [])


# ----------------------------------------------------------------------------------- course and learner together


def update(mine, base, fresh):
    """The cells of a copy: the learner's `mine`, begun from the course's `base`, brought up to the course's `fresh`.

    base is None where it is not known: every difference then counts as the learner's.
    """
    was, new = by_id(base or []), by_id(fresh)
    mine = with_course_ids(mine, base or fresh)
    have, moved = {cell["id"] for cell in mine}, moved_by_learner(mine, base or fresh)
    drop = {cell["id"] for cell in mine if is_superseded(cell, mine, was, new)}
    result = [
        cell["id"] for cell in fresh if (cell["id"] in have and cell["id"] not in moved) or is_new(cell, have, was)
    ]
    content = {cell["id"]: [cell] for cell in fresh if is_new(cell, have, was)}
    in_result, after = set(result), 0
    for cell in mine:
        name = cell["id"]
        if name in drop:
            continue
        content[name] = merge_cell(cell, was.get(name), new[name]) if name in new else [cell]
        if name not in in_result:
            result.insert(after, name)
        after = result.index(name) + 1
    return distinct([cell for name in result for cell in content[name]])


def by_id(cells):
    return {cell["id"]: cell for cell in cells}


def is_new(cell, have, was):
    """In the course now and not before; what was there and is gone, the learner has deleted."""
    return cell["id"] not in have and cell["id"] not in was


def is_superseded(cell, mine, was, new):
    """Whether a cell goes: the learner left it as it was and the course has it no more, or it is a new version that
    stands below the learner's own and was adopted or is no longer the newest.
    """
    name = cell["id"]
    if name in was and name not in new:
        return same(cell, was[name])
    partner = cell["metadata"].get("course", {}).get("new_version_of")
    if partner not in was:
        return False
    theirs = by_id(mine).get(partner)
    if theirs is None or not same(cell, new_version_cell(theirs, was[partner])):
        return False
    return same(theirs, was[partner]) or not same(was[partner], new.get(partner, was[partner]))


def merge_cell(mine, was, new):
    """One cell of the course's as the copy has it: current, or the learner's with the new version beside it."""
    if same(mine, new) or (was is not None and same(was, new)):
        return [{**mine, "metadata": merged_metadata(mine, was, new)}]
    if was is not None and same(mine, was):
        return [new]
    if was is not None and (carried := with_guess(mine, was, new)):
        return [carried]
    return [mine, new_version_cell(mine, new)]


def merged_metadata(mine, was, new):
    return new["metadata"] if was is not None and mine["metadata"] == was["metadata"] else mine["metadata"]


def same(one, other):
    return one["cell_type"] == other["cell_type"] and one["source"].rstrip() == other["source"].rstrip()


def with_guess(mine, was, new):
    """The new question with the learner's guess, where the guess is all that the learner has entered."""
    (guess, rest), (_, rest_was), (guess_new, rest_new) = map(split_guess, (mine, was, new))
    if guess and guess_new and rest.rstrip() == rest_was.rstrip():
        ours = new["source"].removesuffix(guess_new + rest_new)  # what stands above a guess
        return {**new, "source": ours + guess + rest_new}
    return None


def split_guess(cell):
    """`guess = …` at the beginning of a cell, and the rest; a line of ours above it says nothing here."""
    source = cell["source"].removeprefix(f"{FIRST_LINES['predict']}\n")
    lines = source.splitlines(keepends=True)
    try:
        first = ast.parse(source).body[0]
    except (SyntaxError, ValueError, IndexError):
        return "", source
    is_guess = isinstance(first, ast.Assign) and ast.unparse(first.targets[0]) == "guess" and first.lineno == 1
    end = first.end_lineno if is_guess and len(lines) > first.end_lineno else 0
    return "".join(lines[:end]), "".join(lines[end:])


def new_version_cell(mine, new):
    """The course's new version of a cell that the learner has changed too; of what a learner writes, as text."""
    text, kind = new["source"], new["cell_type"]
    if kind == "code" and {"exercise", "blank"} & set(tags(new)):
        text = folded("The course has a new version of the cell above", f"````python\n{text}\n````")
        kind = "markdown"  # running it would undo the learner's own
    elif kind == "code":
        guess, rest = split_guess(mine)[0], split_guess(new)[1]
        text = guess + rest if guess and rest != text else text
        text = f"# The course has changed this cell; yours stands above.\n{text}"
    else:
        text = f"*The course has changed this paragraph; yours stands above.*\n\n{text}"
    metadata = {key: value for key, value in new["metadata"].items() if key != "tags"}
    cell = {**new, "id": fresh_id(), "cell_type": kind, "source": text}
    cell["metadata"] = {**metadata, "course": {"new_version_of": new["id"]}}
    if kind != "code":
        cell.pop("outputs", None), cell.pop("execution_count", None)
    return cell


def fresh_id():
    return uuid.uuid4().hex[:8]


def moved_by_learner(mine, base):
    """The ids that no longer follow each other as the course had them: all but the longest run that does."""
    place = {cell["id"]: i for i, cell in enumerate(base)}
    order = [cell["id"] for cell in mine if cell["id"] in place]
    ends, at, before = [], [], {}  # of the best run of each length: its last place and id; who came before whom
    for name in order:
        length = bisect.bisect_left(ends, place[name])
        before[name] = at[length - 1] if length else None
        ends[length : length + 1], at[length : length + 1] = [place[name]], [name]
    name, stay = (at[-1] if at else None), set()
    while name is not None:
        stay.add(name)
        name = before[name]
    return set(order) - stay


def with_course_ids(mine, base):
    """The learner's cells, each of the course's under the course's id, also where an editor has given it another."""
    ids, names = {cell["id"] for cell in base}, [cell.get("id") for cell in mine]
    names = [name if name in ids else None for name in names]
    match_by_content(mine, names, base)
    match_by_likeness(mine, names, base)
    cells = [
        {**cell, "id": name or (cell.get("id") if is_valid(cell.get("id")) else fresh_id())}
        for cell, name in zip(mine, names, strict=True)
    ]
    return distinct(cells)


def is_valid(name):
    return isinstance(name, str) and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)


def distinct(cells):
    """No id twice: of a cell that was doubled, the second one is the learner's own."""
    ids = set()
    for i, cell in enumerate(cells):
        if cell["id"] in ids:
            cells[i] = cell = {**cell, "id": fresh_id()}
        ids.add(cell["id"])
    return cells


def match_by_content(mine, names, base):
    """Name the cells that have lost their id and nothing else."""
    course_cells = [cell for cell in base if cell["id"] not in names]
    without_id = [i for i, name in enumerate(names) if name is None]
    texts = [
        [(cell["cell_type"], cell["source"].rstrip()) for cell in cells]
        for cells in ([mine[i] for i in without_id], course_cells)
    ]
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    for a, b, size in matcher.get_matching_blocks():
        for k in range(size):
            names[without_id[a + k]] = course_cells[b + k]["id"]
    for i, text in zip(without_id, texts[0], strict=True):  # what was moved as well
        same_text = [cell["id"] for cell, other in zip(course_cells, texts[1], strict=True) if other == text]
        if names[i] is None and len(same_text) == 1:
            names[i] = same_text[0]


def match_by_likeness(mine, names, base):
    """Name the cells that have lost their id and were edited: alike, and between the same neighbours."""
    place = {cell["id"]: i for i, cell in enumerate(base)}
    for i, cell in enumerate(mine):
        if names[i] is not None:
            continue
        above = next((place[name] for name in reversed(names[:i]) if name), -1)
        below = next((place[name] for name in names[i + 1 :] if name), len(base))
        near = [c for c in base[above + 1 : below] if c["id"] not in names and c["cell_type"] == cell["cell_type"]]
        alike = {c["id"]: likeness(cell["source"], c["source"]) for c in near}
        best = max(alike, key=alike.get, default=None)
        if best and alike[best] > 0.6:
            names[i] = best


def likeness(one, other):
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


if __name__ == "__main__":
    main(sys.argv[1:])
