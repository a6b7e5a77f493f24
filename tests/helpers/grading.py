"""A judge in the tests' own process, the class that is graded, and what came out, as it is read back."""

import contextlib
import csv
import json
from dataclasses import asdict

import nbformat
from paths import NOTEBOOKS

from classroom.grade import grade_answer
from classroom.grade.report.report import Row
from classroom.grade.sandbox.host import CONFINED
from classroom.grade.submissions.class_list import Person
from classroom.grade.submissions.extract import Cell, answer_in
from workbench.exercises.clinic.bug import Bug
from workbench.exercises.clinic.speaker import Speaker
from workbench.exercises.engine import runner
from workbench.exercises.engine.exercise import EXERCISES

RIGHT = "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril(k - q).bool()"
TOP_LEFT = "def my_causal_mask(q, k):\n    return torch.ones(q, k).tril().bool()"
ADA, BOB, EVE = Person("Ada", "1", "ada@x.org", "31", "A"), Person("<b>Bob", "2"), Person("=cmd()", "3")


@contextlib.contextmanager
def probes_drawn_anew(seed):
    """As in a grader's process; other tests find the course's own probes again."""
    exercises = [
        *EXERCISES.values(),
        *(bug.fix_exercise for bug in EXERCISES.values() if isinstance(bug, Bug | Speaker)),
    ]
    before = [vars(exercise).copy() for exercise in exercises]
    limit = runner.LIMIT_S
    grade_answer.draw_probes(seed)
    yield
    runner.LIMIT_S = limit
    for exercise, was in zip(exercises, before, strict=True):
        vars(exercise).clear()
        vars(exercise).update(was)


def judged(host, id, *sources):
    """The `GradedAnswer` of an exercise in a submission of these cells."""
    return grade_answer.judge(answer_in([Cell(source, place=i) for i, source in enumerate(sources)], id), host)


class JudgeHere:
    """As `JudgeProcess`, in this process and with the host that is there."""

    host, asked = None, []

    def __init__(self, *_):
        self.confinement = CONFINED

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def grade(self, submission):
        JudgeHere.asked.append(submission.path)
        return [asdict(answer) for answer in grade_answer.graded_answers(submission, JudgeHere.host)]


def notebook_with(path, **answers):
    """Notebook 3 as a learner hands it in, with answers to some exercises, and cell ids and tags of its own."""
    notebook = nbformat.read(NOTEBOOKS / "03_masking.ipynb", as_version=4)
    for cell in notebook.cells:
        name = cell.id.replace("exercise-3-", "e")
        cell.source = answers.get(name, cell.source)
        cell.id, cell.metadata = f"new-{cell.id}"[:60], {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path


def result(id, status, misconception="", share=0.0, **more):
    """One answer's result as a judge's process sends it."""
    return {**asdict(grade_answer.GradedAnswer(id, status, misconception, share=share)), **more}


def row(person, id, status, misconception="", share=0.0, **more):
    return Row(person, f"{person.id}.ipynb", result(id, status, misconception, share, **more), 2 * share, 2)


def table_of(path):
    """The cells of a CSV file."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def texts(soup, selector):
    """The words in each cell of a page's rows."""
    return [[" ".join(cell.get_text(" ").split()) for cell in row.select("th, td")] for row in soup.select(selector)]


def told(folder, name, *lines):
    """Write what a learner's `check` tells the dashboard."""
    keys = ("time", "exercise", "status", "misconception")
    text = "".join(json.dumps(dict(zip(keys, line, strict=True))) + "\n" for line in lines)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
