"""What course.toml, README, INSTRUCTORS.md and notebooks say of each lesson, written anew: `course.py minutes`."""

import math
import re
import sys
from dataclasses import replace

import nbformat

from workbench import questions

from .addresses import colab, linked, page, with_citation, with_other_ways, with_run_line, with_urls, with_ways_in
from .lessons import NOTEBOOKS, OPENING, ROOT, lessons
from .minutes import LONGEST, TOO_LONG, minutes_of
from .on_github import for_readers

TABLE = re.compile(r"(<!-- lessons, from notebooks/course.toml -->\n).*?(<!-- until here -->)", re.S)
PROMISED = "<details><summary>Afterwards you can "
BEGINS = r"\*\*\d+ minutes, and "  # where a first cell's text from course.toml begins
BEFORE = "**Before you begin.**"
FOR_A_STUDENT = re.compile(r"(<!--(\d\d)-->).*?(<!--until here-->)", re.S)


def main(names=()):
    """Write every text anew, and say which of the lessons with these names, or of all, are long."""
    try:
        texts = new_texts()
    except ValueError as error:
        sys.exit(str(error))
    for path, text in texts.items():
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8", newline="\n")
    for one in lessons():
        if one.minutes > LONGEST and one.name in (names or [one.name]):
            print(
                f"{one.name} takes a student {one.minutes} minutes without its exercises: "
                f"{LONGEST} are meant, more than {TOO_LONG} is red."
            )
    return 0


def new_texts():
    """Every file with something made from course.toml or from the course's addresses → what it should hold."""
    readme, guide, course = ROOT / "README.md", NOTEBOOKS / "INSTRUCTORS.md", NOTEBOOKS / "course.toml"
    texts = {path: path.read_text(encoding="utf-8") for path in (readme, guide, course)}
    all_lessons = []
    for lesson in lessons():
        notebook = with_first_cells(nbformat.read(lesson.path, as_version=4), lesson)
        one = with_minutes_counted(lesson, notebook, texts[guide])  # a new promise takes time to read, too
        all_lessons.append(one)
        texts[course] = with_minutes(texts[course], one)
        texts[one.path] = nbformat.writes(with_first_cells(notebook, one)) + "\n"
    texts |= {
        readme: with_ways_in(with_table(texts[readme], all_lessons)),
        guide: with_times_and_readings(texts[guide], all_lessons),
    }
    linked_files = {"commands/README.md": with_other_ways, "pyproject.toml": with_urls, "CITATION.cff": with_citation}
    for name, with_links in linked_files.items():
        texts[ROOT / name] = with_links((ROOT / name).read_text(encoding="utf-8"))
    return texts


# ---------------------------------------------------------------------------------------------------------- the lessons


def with_minutes_counted(lesson, notebook, guide):
    """The lesson with the minutes that its notebook takes at most, in fives, and INSTRUCTORS.md's for its exercises."""
    needed = 5 * math.ceil(minutes_of(notebook) / 5)
    return replace(lesson, minutes=needed, exercises=minutes_of_exercises(guide, lesson))


def minutes_of_exercises(guide, lesson):
    """The sum of what INSTRUCTORS.md reckons for a lesson's exercises: "3.1 (10 minutes), 3.2 (5)"."""
    section = guide.partition(f"({lesson.name}.ipynb)")[2].partition("\n## ")[0]
    minutes = re.findall(r"\b\d+\.\d \((\d+)\b", section) or re.findall(r"\((\d+) minutes each\)", section)
    return sum(map(int, minutes))


# -------------------------------------------------------------------------------------------------- course.toml, README


def with_minutes(text, lesson):
    """course.toml with the minutes of one lesson, at the end of its entry."""
    before, head, rest = text.partition(f"[{lesson.name}]\n")
    entry, following, after = rest.partition("\n[")
    entry = re.sub(r"^(minutes|exercises) = .*\n?", "", entry, flags=re.M).rstrip()
    entry += f"\nminutes = {lesson.minutes}\nexercises = {lesson.exercises}\n"
    return before + head + entry + following + after


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


# ------------------------------------------------------------------------------------------------------- INSTRUCTORS.md


def with_times_and_readings(guide, all_lessons):
    """INSTRUCTORS.md with how long a student needs for each lesson, and what the lesson names to read."""
    sentences = {
        f"{one.number:02}": f"A student alone needs {one.time_in_words}" + readings_in_words(one.readings)
        for one in all_lessons
    }
    return FOR_A_STUDENT.sub(lambda match: match[1] + sentences[match[2]] + match[3], guide)


def readings_in_words(readings):
    return f" The lesson names {', '.join(readings)}." if readings else ""


# --------------------------------------------------------------------------------------------- a notebook's first cells


def with_first_cells(notebook, lesson):
    """The notebook as it should begin, and as it reads where nothing runs. Raises: ValueError."""
    if [cell.cell_type for cell in notebook.cells[:2]] != ["markdown", "code"]:
        raise ValueError(f"notebooks/{lesson.name}.ipynb has to begin with its title, and then a cell with its imports")
    notebook.cells[0].source = with_promise(notebook.cells[0].source, lesson)
    return for_readers(with_opening(notebook, lesson), lesson)


def with_promise(source, lesson):
    """The first cell of a lesson: where it can be run, and at its end what it leads to, takes and needs."""
    goals = "\n".join(f"- {goal}" for goal in lesson.goals)
    promise = f"{PROMISED}{lesson.promise}.</summary>\n\nYou will be able to\n\n{goals}\n\n</details>"
    end = f"**{lesson.time_in_words}** Before: {lesson.needs}\n\n{promise}"
    return with_run_line(f"{re.split(BEGINS, source)[0].rstrip()}\n\n{end}", lesson.name)


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


if __name__ == "__main__":
    sys.exit(main())
