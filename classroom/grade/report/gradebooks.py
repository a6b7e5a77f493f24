"""The tables of a grading: what was found, who handed in what, and gradebooks, which are read again once written."""

import contextlib
import csv

from ..submissions.class_list import moodle_number, worksheet
from ..tables import harmless, table_in
from .points import number, total
from .report import HANDED_IN, VERDICTS

BY_EXERCISE = "points-by-exercise.csv"
OFF = "not among the best", "taken off for lateness"


class NotAsMeant(Exception):
    """A gradebook, read again, says something else than was written."""


def write_tables(report, out, page_of=lambda person: ""):
    """verdicts.csv, handed-in.csv, points-by-exercise.csv, and the gradebooks that Moodle and Canvas import.

    `page_of` gives the file of a student's page. Raises: NotAsMeant.
    """
    report = report.settled()
    counted, states = {person: report.counted(person) for person in report.people}, report.states()
    with _table(out / "verdicts.csv") as write:
        write(VERDICTS)
        for row in report.rows:
            r, p = row.result, row.person
            counts, comment = number(counted[p].get(r["exercise"], 0)), ""
            counts = "" if report.is_open(p, r["exercise"]) else counts
            if override := report.override(p, r["exercise"]):
                comment = override.comment
            by_hand = number(override.points) if override and override.points is not None else ""
            write((p.name, p.number, p.email, row.file, r["exercise"], r["status"], r["misconception"],
                   number(row.points), number(row.of), counts, r["note"], by_hand, comment))  # fmt: skip
    with _table(out / "handed-in.csv") as write:
        write(HANDED_IN)
        for person in report.people:
            files = "; ".join(submission.path for submission in report.files_of(person))
            late = report.late_in_words(person).removeprefix("it came ")
            why = report.why_not_judged(person)
            write((person.name, person.number, person.email, states[person], late, files, why, page_of(person)))
    tables = _write_gradebooks(report, out, states)
    for path, rows in tables.items():
        compare(path, rows)
    _add_up(out)


def _write_gradebooks(report, out, states):
    """Write them; returns {path: the rows that they are to have}. A cell is empty where nothing was judged."""
    notebooks, ids = report.notebooks(), report.exercises()
    on_roster = [person for person in report.people if person.listed] or report.people
    titles = [f"Attention {name.replace('_', ' ')}" for name in notebooks.values()]
    cells = {person: [_cell(report, person, states[person], number) for number in notebooks] for person in on_roster}
    moodle = [("ID number", "Email address", "Full name", *titles)]
    moodle += [(person.id, person.email, person.name, *cells[person]) for person in on_roster]
    canvas = [("Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles)]
    canvas += [("    Points Possible", "", "", "", "", *(total(report.possible(), n) for n in notebooks))]
    canvas += [
        (person.name, person.canvas, person.id, person.email, person.section, *cells[person]) for person in on_roster
    ]
    each = [("ID number", "Email address", "Full name", "state", *ids, *OFF, "total")]
    each += [(p.id, p.email, p.name, states[p], *_by_exercise(report, p, ids, cells[p])) for p in on_roster]
    rows_of = {out / "gradebook-moodle.csv": moodle, out / "gradebook-canvas.csv": canvas, out / BY_EXERCISE: each}
    for path, rows in rows_of.items():
        with _table(path, mark=path.name != "gradebook-canvas.csv") as write:
            for row in rows:
                write(row)
    if report.roster and any(person.moodle for person in on_roster):
        rows_of |= _write_worksheet(report, out / "grading-worksheet.csv", states)
    return rows_of


def _by_exercise(report, person, ids, cells):
    """A student's points in each exercise, what of them does not count, and the sum; empty where nothing was judged."""
    judged_points, counted = report.judged_points(person), report.counted(person)
    judged = report.judged(person)
    is_known = [id.split(".")[0] in judged and not report.is_open(person, id) for id in ids]
    points = [number(judged_points.get(id, 0)) if there else "" for id, there in zip(ids, is_known, strict=True)]
    if not judged:
        return (*points, "", "", *(["0"] if any(cells) else [""]))
    uncounted = sum(judged_points.values()) - sum(counted.values())
    return (*points, number(uncounted), number(sum(report.losses(person).values())), number(report.reached(person)))


def _cell(report, person, state, notebook):
    """A student's points for a notebook: none where nothing was judged, or, with `zeros`, 0 after the deadline."""
    if report.is_judged(person, notebook):
        return number(report.reached(person, notebook))
    return "0" if report.is_zero(person, state, notebook) else ""


def _write_worksheet(report, path, states):
    """Moodle's own grading worksheet, every cell as it was but the grades of those whose work was judged."""
    separator, (heads, *lines) = table_in(report.roster)
    place = worksheet(heads, lines)
    if "grade" not in place:
        return {}
    at, of, grade = place["moodle"], place.get("most"), place["grade"]
    possible = sum(report.possible().values())
    people = {person.moodle: person for person in report.people if person.listed and person.moodle}
    for line in lines:
        person = people.get(moodle_number(line[at])) if len(line) == len(heads) else None
        if not person:
            continue
        zero = not line[grade].strip() and all(
            report.is_zero(person, states[person], notebook) for notebook in report.notebooks() or [""]
        )
        if report.judged(person) or zero:
            line[grade] = scaled(report.reached(person), possible, line[of] if of is not None else "")
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=separator).writerows([heads, *lines])
    return {path: [heads, *lines]}


def compare(path, rows):
    """Read a gradebook again as a platform does and compare it with the rows that were written.

    Raises: NotAsMeant, which names the first cell that differs.
    """
    heads, *lines = [[str(cell) for cell in row] for row in rows]
    _, (heads_there, *lines_there) = table_in(path)
    if heads_there != heads or len(lines_there) != len(lines):
        raise NotAsMeant(f"{path}, read again, has {len(lines_there)} rows for {len(lines)}, or other columns")
    for line, cells in zip(lines, lines_there, strict=True):
        for head, text, cell in zip(heads, line, cells, strict=True):
            if cell not in (text, harmless(text)):
                raise NotAsMeant(f"{path}, read again, has {cell!r} for {text!r} under {head} of {line[0] or line[2]}")


def _add_up(out):
    """Check in the written files that each student's exercises add up to the total, and so do the notebooks.

    Raises: NotAsMeant.
    """
    _, (heads, *each) = table_in(out / BY_EXERCISE)
    _, (_, *by_notebook) = table_in(out / "gradebook-moodle.csv")
    first, off = 4, heads.index(OFF[0])
    for line, books in zip(each, by_notebook, strict=True):
        points, (uncounted, late, reached) = map(_points, line[first:off]), map(_points, line[off:])
        sums = sum(points) - uncounted - late, sum(map(_points, books[3:]))
        if any(abs(total_there - reached) > 0.01 * len(heads) for total_there in sums):
            raise NotAsMeant(
                f"{out / BY_EXERCISE}: {line[-1]} points of {line[2]} are not what the parts come to, {sums}"
            )


def _points(cell):
    return float(cell or 0)


def scaled(reached, possible, most):
    """Points as the platform counts them, whose most is `most`, "100.00" or "100,00"."""
    with contextlib.suppress(ValueError):
        grade = number(reached * float(most.replace(",", ".")) / possible) if possible else number(reached)
        return grade.replace(".", ",") if "," in most else grade
    return number(reached)


class _table:
    """Writes rows of texts to a CSV file; the mark is that by which Excel knows UTF-8."""

    def __init__(self, path, mark=True):
        self.path, self.mark = path, mark

    def __enter__(self):
        self.file = open(self.path, "w", newline="", encoding="utf-8-sig" if self.mark else "utf-8")
        writer = csv.writer(self.file)
        return lambda row: writer.writerow([harmless(str(value)) for value in row])

    def __exit__(self, *error):
        self.file.close()
