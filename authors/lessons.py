"""What each lesson is, from notebooks/course.toml, and the places that are made from it: `python course.py minutes`."""

import math
import re
import sys
import tomllib
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, fields, replace
from pathlib import Path

import nbformat

from workbench import questions
from workbench.copies import MISSING, as_written, fold_titles, folded
from workbench.first_way import second_readings

from .addresses import (
    STILL_LINE,
    colab,
    linked,
    page,
    still_line,
    with_citation,
    with_other_ways,
    with_run_line,
    with_urls,
    with_ways_in,
)
from .minutes import minutes_of

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
LONGEST = 45  # minutes, without the exercises; more is said
TOO_LONG = 60  # more is red
TABLE = re.compile(r"(<!-- lessons, from notebooks/course.toml -->\n).*?(<!-- until here -->)", re.S)
PROMISED = "<details><summary>Afterwards you can "
BEGUN = r"\*\*\d+ minutes, and |Afterwards you will be able to\n"  # where what is made from course.toml begins
BEFORE = "**Before you begin.**"
OPENING = "opening"  # its question in workbench.questions, and its cell
FOR_A_STUDENT = re.compile(r"(<!--(\d\d)-->).*?(<!--until here-->)", re.S)


@dataclass(frozen=True)
class Lesson:
    """An entry of course.toml: what the lesson asks and promises, and how long a student needs for it."""

    name: str  # "03_masking"
    title: str
    question: str
    promise: str  # goes on from "afterwards you can"
    goals: list
    needs: str
    readings: list
    minutes: int = 0
    exercises: int = 0
    exercises_for: str = "the exercises"

    @property
    def number(self):
        """Its number as a title has it: 3."""
        return int(self.name[:2])

    @property
    def path(self):
        """Its notebook."""
        return NOTEBOOKS / f"{self.name}.ipynb"

    @property
    def needed(self):
        """How long a student needs, as the first cell says it."""
        return f"{self.minutes} minutes, and {self.exercises} more for {self.exercises_for}."


def lessons():
    """Every lesson in order. Raises: ValueError where course.toml does not list the notebooks there are."""
    try:
        entries = tomllib.loads((NOTEBOOKS / "course.toml").read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"notebooks/course.toml cannot be read: {error}") from None
    entries.pop("chosen", None)  # which of them are served; all are made
    there = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    for name in sorted(set(there) - set(entries)):
        raise ValueError(f"notebooks/course.toml has no entry [{name}], and there is a notebook of that name")
    for name in sorted(set(entries) - set(there)):
        raise ValueError(f"notebooks/course.toml has an entry [{name}], and there is no notebook of that name")
    if list(entries) != there:
        raise ValueError(f"course.toml lists {', '.join(entries)}; there are {', '.join(there)}")
    return [as_lesson(name, entry) for name, entry in entries.items()]


def as_lesson(name, entry):
    """An entry of course.toml as a `Lesson`. Raises: ValueError for one that says too little or what no lesson has."""
    known = {field.name: field.default is NO_DEFAULT for field in fields(Lesson) if field.name != "name"}
    if missing := [field for field, is_needed in known.items() if is_needed and field not in entry]:
        raise ValueError(f"notebooks/course.toml: the entry [{name}] lacks {', '.join(missing)}")
    if unknown := [field for field in entry if field not in known]:
        raise ValueError(f"notebooks/course.toml: in [{name}] {unknown[0]} is none of {', '.join(known)}")
    return Lesson(name, **entry)


# ------------------------------------------------------------------------------------- the places made from it


def with_minutes(text, lesson):
    """course.toml with the minutes of one lesson, at the end of its entry."""
    before, head, rest = text.partition(f"[{lesson.name}]\n")
    entry, following, after = rest.partition("\n[")
    entry = re.sub(r"^(minutes|exercises) = .*\n?", "", entry, flags=re.M).rstrip()
    entry += f"\nminutes = {lesson.minutes}\nexercises = {lesson.exercises}\n"
    return before + head + entry + following + after


def minutes_of_exercises(guide, lesson):
    """The sum of what INSTRUCTORS.md estimates for a lesson's exercises: "3.1 (10 minutes), 3.2 (5)"."""
    section = guide.partition(f"({lesson.name}.ipynb)")[2].partition("\n## ")[0]
    minutes = re.findall(r"\b\d+\.\d \((\d+)\b", section) or re.findall(r"\((\d+) minutes each\)", section)
    return sum(map(int, minutes))


def with_table(readme, all_lessons):
    """README with its table of lessons."""
    rows = [
        f"| {'<br>'.join(lesson_links(one))} | {one.question} | {one.promise} | {one.minutes} |" for one in all_lessons
    ]
    head = ["| lesson | the question | afterwards you can | minutes |", "|---|---|---|---|"]
    return TABLE.sub(lambda match: match[1] + "\n" + "\n".join([*head, *rows]) + "\n\n" + match[2], readme)


def lesson_links(lesson):
    """A lesson's name, which opens it, and below it other forms of it, where there are any."""
    title, notebook = f"{lesson.number} {lesson.title}", f"notebooks/{lesson.name}.ipynb"
    if not page(lesson.name):
        return linked((title, notebook))
    others = linked(("page", page(lesson.name)), ("Colab", colab(lesson.name)), ("notebook", notebook))
    return [*linked((title, page(lesson.name))), " · ".join(others)]


def with_promise(source, lesson):
    """The first cell of a lesson: where it can be run, and at its end what it leads to, takes and needs."""
    goals = "\n".join(f"- {goal}" for goal in lesson.goals)
    promise = f"{PROMISED}{lesson.promise}.</summary>\n\nYou will be able to\n\n{goals}\n\n</details>"
    end = f"**{lesson.needed}** Before: {lesson.needs}\n\n{promise}"
    return with_run_line(f"{re.split(BEGUN, source)[0].rstrip()}\n\n{end}", lesson.name)


def with_opening(notebook, lesson):
    """The notebook with the question that it opens with behind its imports, in words and in code."""
    try:
        ask = questions.records(f"{lesson.number:02}")[OPENING]["ask"]
    except (FileNotFoundError, KeyError):
        file = f"workbench/questions/{lesson.number:02}.toml"
        raise ValueError(f"Lesson {lesson.number} opens with no question: write [{OPENING}] in {file}.") from None
    code = f'guess = ...\npredict("{lesson.number:02}.{OPENING}", guess)'
    skip = {"slideshow": {"slide_type": "skip"}}
    question = nbformat.v4.new_markdown_cell(f"{BEFORE} {ask}", id=f"{OPENING}-asked", metadata=skip)
    code_cell = nbformat.v4.new_code_cell(code, id=OPENING, metadata={**skip, "tags": ["predict"]})
    cells = {cell.id: cell for cell in notebook.cells}
    if OPENING in cells:
        cells[question.id].source, cells[OPENING].source = question.source, code
    else:
        notebook.cells[2:2] = [question, code_cell]
    return notebook


def for_readers(notebook, lesson):
    """The notebook as it is read where nothing runs: answers folded, words for packages that are missing, links."""
    for cell, title in zip(notebook.cells, fold_titles(notebook.cells), strict=True):
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]  # an empty list does not survive jupytext
        if cell.cell_type == "markdown" and cell is not notebook.cells[0]:
            cell.source = folded(title, as_written(cell.source)) if title else as_written(cell.source)
        if is_picture_first(cell):
            cell.outputs.reverse()  # the line says what the picture below it is
        for output in cell.get("outputs", []):
            if html := output.get("data", {}).get("text/html"):
                output.data["text/html"] = re.sub(STILL_LINE, lambda _: still_line(lesson.name), html)
    imports = notebook.cells[1]
    imports.source = MISSING + as_written(imports.source)
    for heading, following in second_readings_before(notebook.cells):
        heading.source = re.sub(r"^#.*", rf"\g<0>\n\n*At a first reading go on at “{following}”.*", heading.source)
    return notebook


def is_picture_first(cell):
    """Whether a board was saved as its picture, and below it the line that says what that is."""
    datas = [output.get("data", {}) for output in cell.get("outputs", [])]
    return len(datas) == 2 and "image/png" in datas[0] and re.search(STILL_LINE, datas[1].get("text/html", ""))


def second_readings_before(cells):
    """The heading cell of each section for a second reading, and the heading with which the first way goes on."""
    waiting = []
    for cell, section in zip(cells, second_readings(cells), strict=True):
        if section is not None and section not in waiting:
            waiting.append(section)
        elif section is None:
            following = cell.source.partition("\n")[0].lstrip("# ").replace("*", "")
            yield from ((one, following) for one in waiting)
            waiting = []


def with_needs(guide, all_lessons):
    """INSTRUCTORS.md with how long a student needs for each lesson, and what the lesson names to read."""
    sentences = {
        f"{one.number:02}": f"A student alone needs {one.needed}" + readings_in_words(one.readings)
        for one in all_lessons
    }
    return FOR_A_STUDENT.sub(lambda match: match[1] + sentences[match[2]] + match[3], guide)


def readings_in_words(readings):
    return f" The lesson names {', '.join(readings)}." if readings else ""


def with_new_texts():
    """Every file that tells of a lesson's minutes, promise or readings → what it should hold, minutes counted anew."""
    readme, guide, course = ROOT / "README.md", NOTEBOOKS / "INSTRUCTORS.md", NOTEBOOKS / "course.toml"
    texts = {path: path.read_text(encoding="utf-8") for path in (readme, guide, course)}
    all_lessons = [with_minutes_counted(one, texts[guide]) for one in lessons()]
    for one in all_lessons:
        texts[course] = with_minutes(texts[course], one)
        notebook = nbformat.read(one.path, as_version=4)
        if [cell.cell_type for cell in notebook.cells[:2]] != ["markdown", "code"]:
            raise ValueError(
                f"notebooks/{one.name}.ipynb has to begin with its title, and then a cell with its imports"
            )
        notebook.cells[0].source = with_promise(notebook.cells[0].source, one)
        notebook = for_readers(with_opening(notebook, one), one)
        texts[one.path] = nbformat.writes(notebook) + "\n"
    texts |= {
        readme: with_ways_in(with_table(texts[readme], all_lessons)),
        guide: with_needs(texts[guide], all_lessons),
    }
    own = {"commands/README.md": with_other_ways, "pyproject.toml": with_urls, "CITATION.cff": with_citation}
    return texts | {ROOT / name: change((ROOT / name).read_text(encoding="utf-8")) for name, change in own.items()}


def with_minutes_counted(lesson, guide):
    """The lesson with the minutes that its notebook takes at most, in fives, and INSTRUCTORS.md's for its exercises."""
    needed = 5 * math.ceil(minutes_of(nbformat.read(lesson.path, as_version=4)) / 5)
    return replace(lesson, minutes=needed, exercises=minutes_of_exercises(guide, lesson))


def main(names=()):
    """Bring all places up to date, and say which of the lessons with these names, or of all, are long."""
    try:
        places = with_new_texts()
    except ValueError as error:
        sys.exit(str(error))
    for path, text in places.items():
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8", newline="\n")
    for one in lessons():
        if one.minutes > LONGEST and one.name in (names or [one.name]):
            print(
                f"{one.name} takes a student {one.minutes} minutes without its exercises: "
                f"{LONGEST} are meant, more than {TOO_LONG} is red."
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
