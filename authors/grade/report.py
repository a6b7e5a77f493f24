"""What came out of a grading: every student's results, points, and the tables that teachers import."""

import csv
from dataclasses import dataclass, field

from attn_lib.exercises.catalogue import EXERCISES
from attn_lib.exercises.clinic import trial

from .answers import course
from .judge import LIBRARYS

VERDICTS = ("student", "id", "e-mail", "file", "exercise", "status", "misconception", "points", "of", "counts", "note")


OF_A_PART = {sign.id: sign.name for sign in (*trial.FIRST, *trial.LAST)} | {  # what any patient's answer can have
    LIBRARYS: "The library's own function was called",
    "no-line": "The line is none of the patient's",
    "wrong-line": "Another line is named",
    "no-name": "The name is none of `FAULTS`",
    "wrong-name": "Another fault is named",
    "still-ill": "The mended code still has the fault",
    "amputated": "The mended module drops nothing any more",
}


@dataclass
class Row:
    """One student's result in one exercise."""

    person: object
    file: str
    result: dict
    points: float
    of: float


@dataclass
class Report:
    """All results of a class."""

    rows: list = field(default_factory=list)
    people: list = field(default_factory=list)  # those on the roster, and those who are not but handed something in
    files: list = field(default_factory=list)  # (path, what is to be said of it)
    points: dict = field(default_factory=dict)
    groups: list = field(default_factory=list)  # `BestOf`s
    words: str = ""  # how students' code was confined
    out: object = None  # the folder of tables and pages

    def in_words(self):
        """What the command says at its end."""
        nothing = self.nothing_from()
        lines = [f"{len(self.handed_in())} students handed something in" + f", {len(nothing)} did not" * bool(nothing)]
        lines += [f"{path}: {why}" for path, why in self.files]
        lines += [self.words] * bool(self.words)
        return "\n".join([*lines, f"class.html, feedback/, verdicts.csv and the gradebooks are in {self.out}"])

    def exercises(self):
        """The exercises that this report is about, in the order of the notebooks."""
        there = {row.result["exercise"] for row in self.rows}
        return [id for id in EXERCISES if id in there and self.points.get(id, 0) > 0]

    def notebooks(self):
        """{number: name} of the notebooks that somebody handed in."""
        return {id.split(".")[0]: course().asked[id].notebook for id in self.exercises()}

    def of(self, person):
        return {row.result["exercise"]: row for row in self.rows if row.person == person}

    def counted(self, person):
        """{exercise: points} of those of a student's results that count."""
        return self._best({id: row.points for id, row in self.of(person).items()})

    def possible(self):
        """{exercise: points} that can be reached in the notebooks that somebody handed in."""
        return self._best(self.points)

    def _best(self, points):
        """Those of {exercise: points} that count: of a group the best, of equal ones the first."""
        ids = [id for id in self.exercises() if id in points]
        for group in self.groups:
            best = sorted((id for id in ids if id in group.ids), key=lambda id: -points[id])
            ids = [id for id in ids if id not in best[group.most :]]
        return {id: points[id] for id in ids}

    def best_in_words(self):
        """A sentence for each group of which somebody handed something in."""
        there = self.exercises()
        for group in self.groups:
            ids = [id for id in group.ids if id in there]
            if len(ids) > group.most:
                whole = sum(id.split(".")[0] == ids[0].split(".")[0] for id in there) == len(ids)
                whom = f"the {len(ids)} exercises of notebook {ids[0].split('.')[0]}" if whole else ", ".join(ids)
                yield f"Of {whom} each student's best {group.most} count."

    def handed_in(self):
        there = {row.person for row in self.rows}
        return [person for person in self.people if person in there]

    def nothing_from(self):
        there = {row.person for row in self.rows}
        return [person for person in self.people if person not in there]

    def commonest(self):
        """The mistakes of the class, the most frequent first: (exercise, misconception, the students who made it)."""
        who = {}
        for row in self.rows:
            if row.result["status"] == "wrong":
                who.setdefault((row.result["exercise"], row.result["misconception"]), []).append(row.person)
        order = {id: place for place, id in enumerate(EXERCISES)}
        ranked = sorted(who, key=lambda key: (-len(who[key]), key[1] == "", order[key[0]], key[1]))
        return [(*key, who[key]) for key in ranked]


def mistake_in_words(exercise, misconception):
    """(what is told of it, where to read again)."""
    known = EXERCISES[exercise].mistakes.get(misconception)
    if known:
        return known.name, known.reread
    return OF_A_PART.get(misconception, "A mistake without a name: see the code"), EXERCISES[exercise].section


# ---------------------------------------------------------------------------------------------------------- tables


def write_tables(report, out):
    """verdicts.csv, and the gradebooks that Moodle and Canvas import."""
    counted = {person: report.counted(person) for person in report.people}
    with _table(out / "verdicts.csv") as write:
        write(VERDICTS)
        for row in report.rows:
            r, p = row.result, row.person
            counts = number(counted[p].get(r["exercise"], 0))
            write((p.name, p.id, p.email, row.file, r["exercise"], r["status"], r["misconception"],
                   number(row.points), number(row.of), counts, r["note"]))  # fmt: skip
        for person in report.nothing_from():
            write((person.name, person.id, person.email, "", "", "nothing handed in", "", "0", "", "", ""))
    notebooks = report.notebooks()
    listed = [person for person in report.people if person.listed] or report.people
    titles = [f"Attention {name.replace('_', ' ')}" for name in notebooks.values()]
    with _table(out / "gradebook-moodle.csv") as write:
        write(("ID number", "Email address", "Full name", *titles))
        for person in listed:
            write((person.id, person.email, person.name, *(total(counted[person], n) for n in notebooks)))
    with _table(out / "gradebook-canvas.csv", mark=False) as write:
        write(("Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles))
        write(("    Points Possible", "", "", "", "", *(total(report.possible(), n) for n in notebooks)))
        for person in listed:
            who = (person.name, person.canvas, person.id, person.email, person.section)
            write((*who, *(total(counted[person], n) for n in notebooks)))


def total(points, notebook=None):
    """The sum of {exercise: points} as it is written, of all notebooks or of one."""
    return number(sum(of for id, of in points.items() if notebook in (None, id.split(".")[0])))


def number(points):
    """2, 2.5, 0.67."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


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


def harmless(text):
    """A text that begins like a formula would be run as one by a spreadsheet."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
