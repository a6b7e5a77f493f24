"""What came out of a grading: every student's results, points, and the tables that teachers import."""

import contextlib
import csv
from dataclasses import dataclass, field

from workbench.display.show import count
from workbench.exercises.clinic import judge_test
from workbench.exercises.engine.exercise import EXERCISES

from ..grade_answer import RUN_ENDINGS
from ..submissions.class_list import labels, moodle_number, worksheet
from ..submissions.extract import course
from ..tables import harmless, table_in

JUDGED, UNREADABLE, UNASSIGNED = "judged", "handed in, unreadable", "handed in, unassigned"
BLANK, NOTHING = "handed in, nothing answered", "nothing"
IN_WORDS = {
    JUDGED: "judged",
    UNREADABLE: "handed in but unreadable",
    UNASSIGNED: "unassigned (a hand-in may be theirs)",
    BLANK: "with nothing answered in what they handed in",
    NOTHING: "with nothing handed in",
}
STATES = tuple(IN_WORDS)
VERDICTS = ("student", "id", "e-mail", "file", "exercise", "status", "misconception", "points", "of", "counts", "note")


HANDED_IN = ("student", "id", "e-mail", "state", "late", "files", "why it is not judged")
PART_MISTAKES = {
    sign.id: sign.name for sign in (*judge_test.FIRST, *judge_test.LAST)
} | {  # what any patient's answer can have
    "no-line": "The line is none of the patient's",
    "wrong-line": "Another line is named",
    "no-name": "The name is none of `FAULTS`",
    "wrong-name": "Another fault is named",
    "still-buggy": "The mended code still has the fault",
    "dropout-removed": "The mended module drops nothing any more",
}
NAMELESS = "A mistake without a name: see the code"


@dataclass
class Row:
    """One student's result in one exercise."""

    person: object
    file: str
    result: dict
    points: float
    of: float

    @property
    def is_answered(self):
        return self.result["status"] not in ("missing", "unattempted")


@dataclass
class Report:
    """All results of a class."""

    rows: list = field(default_factory=list)
    people: list = field(default_factory=list)  # those on the roster, and those who are not but handed something in
    files: list = field(default_factory=list)  # (path, what is to be said of it)
    points: dict = field(default_factory=dict)
    groups: list = field(default_factory=list)  # `BestOf`s
    confinement: str = ""  # how students' code was confined
    out: object = None  # the folder of tables and pages
    roster: object = None  # its file
    submissions: list = field(default_factory=list)
    questions: list = field(default_factory=list)  # of `who`
    zeros: bool = False  # whether who handed in nothing has 0 points, and not none

    def in_words(self):
        """What the command says at its end."""
        lines = [*self.counts_in_words(), *(f"{path}: {why}" for path, why in self.files)]
        if self.questions:
            lines.append(f"{self.out}/who.csv lists whose is whose: fill in the ids, and save it beside the roster.csv")
        lines += [self.confinement] * bool(self.confinement)
        return "\n".join([*lines, f"class.html, feedback/, handed-in.csv and the gradebooks are in {self.out}"])

    def counts_in_words(self):
        """How many there are of each state, on the roster and beside it; late ones too."""
        states, late = self.states(), sum(map(self.is_late, self.people))
        listed = [states[person] for person in self.people if person.listed]
        others = [states[person] for person in self.people if not person.listed]
        beside = "not matched to it" if listed else count(len(others), "student").partition(" ")[2]
        for some, who in ((listed, "on the roster"), (others, beside)):
            if some:
                each = ", ".join(f"{some.count(state)} {IN_WORDS[state]}" for state in STATES if state in some)
                yield f"{len(some)} {who}: {each}"
        if late:
            yield f"{late} handed in late, as the platform says"

    def states(self):
        """{person: state}, each one of `STATES`."""
        blank = {row.person for row in self.rows} - {
            submission.student for submission in self.submissions if submission.problem
        }
        judged = self.answered()
        handed_in = {row.person for row in self.rows} | {submission.student for submission in self.submissions}
        asked = {person for question in self.questions for person in question.among}
        state = dict.fromkeys(handed_in, UNREADABLE) | dict.fromkeys(blank, BLANK) | dict.fromkeys(judged, JUDGED)
        return {person: state.get(person, UNASSIGNED if person in asked else NOTHING) for person in self.people}

    def answered(self):
        """Those who answered something."""
        return {row.person for row in self.rows if row.is_answered}

    def files_of(self, person):
        return [submission for submission in self.submissions if submission.student == person]

    def is_late(self, person):
        return person.late or any(submission.late for submission in self.files_of(person))

    def why_not_judged(self, person):
        """What keeps a student's work from being judged, in words; "" where there is none."""
        said = [
            f"{submission.path}: {submission.problem}" for submission in self.files_of(person) if submission.problem
        ]
        asked = [question for question in self.questions if person in question.among]
        said += [f"{place}: whose is it?" for question in asked for place in question.places]
        return "; ".join(said)

    def labels(self):
        return labels(self.people)

    def exercises(self):
        """The exercises that this report is about, in order: of notebooks in which somebody answered something."""
        there = {row.result["exercise"] for row in self.rows}
        begun = {row.result["exercise"].split(".")[0] for row in self.rows if row.is_answered}
        return [id for id in EXERCISES if id in there and id.split(".")[0] in begun and self.points.get(id, 0) > 0]

    def notebooks(self):
        """{number: name} of the notebooks that somebody answered something in."""
        return {id.split(".")[0]: course().asked[id].notebook for id in self.exercises()}

    def of(self, person):
        """{exercise: row} of a student, of the exercises that this report is about."""
        ids = self.exercises()
        rows = {row.result["exercise"]: row for row in self.rows if row.person == person}
        return {id: rows[id] for id in ids if id in rows}

    def counted(self, person):
        """{exercise: points} of those of a student's results that count."""
        return self._best({id: row.points for id, row in self.of(person).items()})

    def possible(self):
        """{exercise: points} that can be reached in the notebooks that somebody answered something in."""
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

    def commonest(self):
        """The mistakes of the class: (exercise, misconception, the students who made it).

        Misconceptions come first, the most frequent of them before the others, then what no slide helps against.
        """
        who = {}
        for row in self.rows:
            if row.result["status"] == "wrong":
                who.setdefault((row.result["exercise"], row.result["misconception"]), []).append(row.person)
        order = {id: place for place, id in enumerate(EXERCISES)}
        ranked = sorted(who, key=lambda key: (kind_of(*key), -len(who[key]), order[key[0]], key[1]))
        return [(*key, who[key]) for key in ranked]


def misconception_in_words(exercise, misconception):
    """(what is told of it, the section to read again; "" for what no reading helps against)."""
    known = EXERCISES[exercise].misconceptions.get(misconception)
    if known:
        return known.name, known.reread
    if misconception in RUN_ENDINGS:
        return RUN_ENDINGS[misconception], ""
    return PART_MISTAKES.get(misconception, NAMELESS), EXERCISES[exercise].section


def kind_of(exercise, misconception):
    """0 for a misconception, which a teacher can speak about; 1 for a mistake without a name; 2 for a run's end."""
    if misconception in EXERCISES[exercise].misconceptions or misconception in PART_MISTAKES:
        return 0
    return 2 if misconception in RUN_ENDINGS else 1


# ---------------------------------------------------------------------------------------------------------- tables


def write_tables(report, out):
    """verdicts.csv, handed-in.csv, and the gradebooks that Moodle and Canvas import."""
    counted, states = {person: report.counted(person) for person in report.people}, report.states()
    with _table(out / "verdicts.csv") as write:
        write(VERDICTS)
        for row in report.rows:
            r, p = row.result, row.person
            counts = number(counted[p].get(r["exercise"], 0))
            write((p.name, p.number, p.email, row.file, r["exercise"], r["status"], r["misconception"],
                   number(row.points), number(row.of), counts, r["note"]))  # fmt: skip
    with _table(out / "handed-in.csv") as write:
        write(HANDED_IN)
        for person in report.people:
            files = "; ".join(submission.path for submission in report.files_of(person))
            late = "late" * report.is_late(person)
            why = report.why_not_judged(person)
            write((person.name, person.number, person.email, states[person], late, files, why))
    _write_gradebooks(report, out, counted, states)


def _write_gradebooks(report, out, counted, states):
    """A cell is empty where nothing was judged: `handed-in.csv` says why."""
    notebooks = report.notebooks()
    listed = [person for person in report.people if person.listed] or report.people
    titles = [f"Attention {name.replace('_', ' ')}" for name in notebooks.values()]
    cells = {
        person: [_cell(report, person, counted[person], states[person], number) for number in notebooks]
        for person in listed
    }
    with _table(out / "gradebook-moodle.csv") as write:
        write(("ID number", "Email address", "Full name", *titles))
        for person in listed:
            write((person.id, person.email, person.name, *cells[person]))
    with _table(out / "gradebook-canvas.csv", mark=False) as write:
        write(("Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles))
        write(("    Points Possible", "", "", "", "", *(total(report.possible(), n) for n in notebooks)))
        for person in listed:
            write((person.name, person.canvas, person.id, person.email, person.section, *cells[person]))
    if any(person.moodle and person.listed for person in listed):
        readable = {person: counted[person] if states[person] != UNREADABLE else {} for person in counted}
        _write_worksheet(report, out / "grading-worksheet.csv", readable)


def _cell(report, person, counted, state, notebook):
    """A student's points for a notebook: none where nothing of it was judged, or, with `zeros`, handed in."""
    if state != UNREADABLE and any(id.split(".")[0] == notebook for id in counted):
        return total(counted, notebook)
    in_the_way = state == UNASSIGNED or report.why_not_judged(person)
    return "0" if report.zeros and not in_the_way else ""


def _write_worksheet(report, path, counted):
    """Moodle's own grading worksheet, every cell as it was but the grades of those whose work was judged."""
    separator, (heads, *lines) = table_in(report.roster)
    place = worksheet(heads, lines)
    if "grade" not in place:
        return
    at, of, grade = place["moodle"], place.get("most"), place["grade"]
    possible = sum(report.possible().values())
    people = {person.moodle: person for person in report.people if person.listed and person.moodle}
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        write = csv.writer(file, delimiter=separator).writerow
        write(heads)
        for line in lines:
            person = people.get(moodle_number(line[at])) if len(line) == len(heads) else None
            zero = report.zeros and person and not (line[grade].strip() or report.why_not_judged(person))
            if person and (counted[person] or zero):
                most = line[of] if of is not None else ""
                line[grade] = scaled(sum(counted[person].values()), possible, most)
            write(line)


def scaled(reached, possible, most):
    """Points as the platform counts them, whose most is `most`, "100.00" or "100,00"."""
    with contextlib.suppress(ValueError):
        grade = number(reached * float(most.replace(",", ".")) / possible) if possible else number(reached)
        return grade.replace(".", ",") if "," in most else grade
    return number(reached)


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
