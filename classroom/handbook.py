"""One page for a module handbook, from course.toml: goals, needs, hours, how it is examined, what may be chosen."""

import argparse
import re
import sys
from pathlib import Path

import nbformat

from authors.lessons import NOTEBOOKS, ROOT, lessons
from workbench.chosen import numbers
from workbench.display.show import marked

from .exam.paper import as_page, print_as_pdf
from .exam.worksheet import SHEETS

GUIDE = NOTEBOOKS / "INSTRUCTORS.md"
FOR_ALL = "https://arxiv.org/abs/1706.03762 "  # Attention Is All You Need
READINGS = "next"  # the cell, of the last lesson that has one, that says what to look for in each paper
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def page(chosen):
    """The handbook's page of the lessons of these numbers, as HTML."""
    there = {one.number: one for one in lessons()}
    chosen_lessons = [there[number] for number in chosen]
    alone = sum(one.minutes for one in chosen_lessons)
    exercises = sum(one.exercises for one in chosen_lessons)
    how_many = f"{len(chosen)}" if len(chosen) == len(there) else f"{len(chosen)} of {len(there)}"
    parts = [
        f"<header><h1>The attention mechanism</h1><p>{how_many} lessons, in Python</p></header>",
        f"<p><b>Before:</b> {as_html(before(chosen_lessons, chosen))}</p>",
        "<h2>What students can do afterwards, and the hours it takes</h2>",
        table(chosen_lessons),
        f"<p>Worked alone: {hours(alone)} for the lessons and {hours(exercises)} for their exercises, "
        f"{hours(alone + exercises)} in all, on one's own laptop, in the browser or on the class's server.</p>",
        "<h2>How it is examined</h2>",
        "<p>Exercises are handed in and judged by trials; each known mistake is named, and points, deadlines and "
        "extensions are the teacher's. An exam on paper, in two versions, and question banks for Moodle and Canvas are "
        f"drawn anew from any seed. Sheets for pencils belong to lessons {in_ranges(SHEETS)}.</p>",
        "<h2>What may be chosen</h2>",
        plans(set(chosen)),
        readings(chosen_lessons),
    ]
    return as_page("The attention mechanism", f"<div class='handbook'>{''.join(parts)}</div>")


def before(chosen_lessons, chosen):
    """What somebody must know before the first of the lessons, and which lessons are needed but were not chosen."""
    missing = {need for one in chosen_lessons for need in needed(one)} - set(chosen)
    first = next(one for one in lessons() if one.number == 1).needs
    if missing:
        first += (
            f" And what is taught in lesson{'s' * (len(missing) > 1)} {in_ranges(missing)}, which a chosen one needs."
        )
    return first


def needed(lesson):
    """The numbers of the lessons that a lesson names as needed."""
    numbers = set()
    for text in re.findall(r"notebooks? ([\d, andto]+)", lesson.needs):
        for low, high in re.findall(r"(\d+)(?: to (\d+))?", text):
            numbers |= set(range(int(low), int(high or low) + 1))
    return numbers


def in_ranges(numbers):
    """1–5, 8 and 10."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def table(chosen_lessons):
    rows = "".join(
        f"<tr><td>{one.number}</td><td><b>{as_html(one.title)}:</b> {as_html(one.promise)}</td>"
        f"<td>{in_ranges(needed(one)) if needed(one) else '–'}</td><td>{one.minutes}</td><td>{one.exercises}</td></tr>"
        for one in chosen_lessons
    )
    head = "<tr><th></th><th>lesson</th><th>needs</th><th>minutes</th><th>exercises</th></tr>"
    return f"<table class='key'><thead>{head}</thead><tbody>{rows}</tbody></table>"


def plans(chosen):
    """The plans of INSTRUCTORS.md that take some of the chosen lessons, each with all that it takes."""
    lessons_of = {}
    for plan in GUIDE.read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, text = plan.partition("\n")
        if ": " not in heading or heading[0].isdigit():
            continue
        first, more, rest = text.partition("\nMore meetings")
        lessons_of[heading] = taught_in(first)
        if more:
            lessons_of["Seven weeks: thirteen meetings"] = taught_in(first + rest)
    rows = [
        f"<li><b>{as_html(heading)}.</b> Lesson{'s' * (len(takes) > 1)} {in_ranges(takes)}"
        f"{f' (beyond this choice: {in_ranges(takes - chosen)})' if takes - chosen else ''}.</li>"
        for heading, takes in lessons_of.items()
        if takes & chosen
    ]
    return (
        "<p>Each lesson is whole after those that it needs. INSTRUCTORS.md has these plans by the minute.</p>"
        f"<ul>{''.join(rows)}</ul>"
    )


def taught_in(plan):
    """The lessons that a plan takes: a row begins with "Notebook 7"; "notebook 3" is only spoken of."""
    return {int(number) for number in re.findall(r"\bNotebook (\d+)", plan)}


def readings(chosen_lessons):
    """The papers that the last lesson sends to, with what to look for in each: those that the lessons name, if few."""
    notebooks = (nbformat.read(one.path, as_version=4) for one in reversed(lessons()))
    cell = next(cell for notebook in notebooks for cell in notebook.cells if cell.id == READINGS)
    lines = [line[2:] for line in cell.source.splitlines() if line.startswith("- ")]
    if len(chosen_lessons) < len(lessons()):
        named_readings = FOR_ALL + " ".join(reading for one in chosen_lessons for reading in one.readings)
        lines = [line for line in lines if LINK.search(line)[2] in named_readings]
    return f"<h2>To read</h2><ul>{''.join(f'<li>{as_html(line)}</li>' for line in lines)}</ul>"


def as_html(text):
    """A line of Markdown as HTML: links, emphasis, code, and a letter for a formula of one."""
    text = re.sub(r"\$(\w)\$", r"*\1*", re.sub(r"\[\*([^]]+)\*\]", r"[\1]", text.replace("\\ell", "ℓ")))
    return LINK.sub(r"<a href='\2'>\1</a>", re.sub(r"√d_k", "√d<sub>k</sub>", marked(text)))


def hours(minutes):
    """3 h 20."""
    return f"{minutes // 60} h {minutes % 60:02}" if minutes >= 60 else f"{minutes} minutes"


def main(argv):
    """Write the page of all lessons, or of those that are chosen; returns an exit code."""
    parser = argparse.ArgumentParser(
        prog="course.py handbook", description="One page for a module handbook: goals, needs, hours, exams, plans."
    )
    parser.add_argument("--lessons", default="all", help='which lessons are taught, as "1-5, 8" (default: all)')
    parser.add_argument("--out", type=Path, default=ROOT / "build", help="a folder")
    options = parser.parse_args(argv)
    try:
        chosen = numbers(options.lessons, {one.number for one in lessons()})
    except ValueError as error:
        parser.error(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    path = (
        options.out
        / f"handbook{'' if len(chosen) == len(lessons()) else '-' + in_ranges(chosen).replace(' and ', ',')}.html"
    )
    path.write_text(page(chosen), encoding="utf-8")
    print(f"Written: {path}" + (f" and {path.with_suffix('.pdf').name}" if print_as_pdf([path]) else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
