"""What came out of a grading: every student's results, points, and the tables that teachers import."""

import functools
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from workbench.display.moments import zone_of
from workbench.display.show import count
from workbench.exercises.clinic import judge_test
from workbench.exercises.clinic.fault_names import HEALTHY
from workbench.exercises.clinic.speaker import HEARD
from workbench.exercises.engine.exercise import EXERCISES

from ..grade_answer import RUN_ENDINGS
from ..submissions.class_list import labels
from ..submissions.extract import course
from ..submissions.times import IN_TIME, Deadlines, Lateness
from .points import NO_RULE, LateRule, those_that_count

JUDGED, UNREADABLE, UNASSIGNED = "judged", "handed in, unreadable", "handed in, unassigned"
BLANK, NOTHING = "handed in, nothing answered", "nothing"
ELSEWHERE = "on the platform, not in this folder"
IN_WORDS = {
    JUDGED: "judged",
    UNREADABLE: "handed in but unreadable",
    UNASSIGNED: "unassigned (a hand-in may be theirs)",
    BLANK: "with nothing answered in what they handed in",
    ELSEWHERE: "whose hand-in the platform has and this folder has not",
    NOTHING: "with nothing handed in",
}
STATES = tuple(IN_WORDS)
VERDICTS = ("student", "id", "e-mail", "file", "exercise", "status", "misconception",
            "points", "of", "counts", "note", "by hand", "comment")  # fmt: skip
HANDED_IN = ("student", "id", "e-mail", "state", "late", "files", "why it is not judged", "page")
PART_MISTAKES = {sign.id: sign.name for sign in (*judge_test.FIRST, *judge_test.LAST)} | {  # of any patient
    "no-line": "The line is none of the patient's",
    "wrong-line": "Another line is named",
    "no-name": "The name is none of `FAULTS`",
    "wrong-name": "Another fault is named",
    "still-buggy": "The mended code still has the fault",
    "dropout-removed": "The mended module drops nothing any more",
    "not-healthy": "The patient is called healthy, and has a fault",
    "no-part": "The part is none of `HEARD`",
    **{f"not-{part}": "Another part is named" for part in HEARD if part != HEALTHY},
}
NAMELESS = "A mistake without a name: see the code"


def asked_often(method):
    """A method of `Report` whose answers are kept once the report is settled: tables and pages ask for them often."""

    @functools.wraps(method)
    def answer(report, *arguments):
        if report.answers is None:
            return method(report, *arguments)
        asked = method.__name__, *arguments
        if asked not in report.answers:
            report.answers[asked] = method(report, *arguments)
        return report.answers[asked]

    return answer


@dataclass
class Row:
    """One student's result in one exercise."""

    person: object
    file: str
    result: dict
    points: float  # as the judging found them
    of: float
    late: Lateness = IN_TIME

    @property
    def is_answered(self):
        return self.result["status"] not in ("missing", "unattempted")

    @property
    def notebook(self):
        return self.result["exercise"].split(".")[0]


@dataclass
class Report:
    """All results of a class."""

    rows: list = field(default_factory=list)
    people: list = field(default_factory=list)  # those on the roster, and those who are not but handed something in
    files: list = field(default_factory=list)  # (path, remark for the teacher)
    points: dict = field(default_factory=dict)
    groups: list = field(default_factory=list)  # `BestOf`s
    confinement: str = ""  # how students' code was confined
    out: object = None  # the folder of tables and pages
    roster: object = None  # its file
    submissions: list = field(default_factory=list)
    questions: list = field(default_factory=list)  # of `who`
    zeros: bool = False  # whether who answered nothing by the deadline has 0 points, and not none
    deadlines: Deadlines = field(default_factory=Deadlines)
    late_rule: LateRule = NO_RULE
    overrides: dict = field(default_factory=dict)  # {(person, exercise): Override}
    answers: dict | None = None  # of methods that are `asked_often`; None while something may still change

    def settled(self):
        """A copy of this report for when nothing in it changes any more: what is `asked_often` is worked out once."""
        return replace(self, answers={})

    def in_words(self):
        """What the command says at its end."""
        lines = [*self.counts_in_words(), *(f"{path}: {why}" for path, why in self.files)]
        if self.questions:
            lines.append(f"{self.out}/who.csv lists whose is whose: fill in the ids, and save it beside the roster.csv")
        for files in self.shared_files():
            lines.append(f"{' and '.join(one.path for one in files)}: the same file")
        lines += [self.confinement] * bool(self.confinement)
        lines += [f"class.html, feedback/, handed-in.csv and the gradebooks, read again and right, are in {self.out}"]
        return "\n".join(lines)

    def counts_in_words(self):
        """How many there are of each state, on the roster and beside it; late ones too."""
        states, late = self.states(), sum(map(self.is_late, self.people))
        on_roster = [states[person] for person in self.people if person.listed]
        others = [states[person] for person in self.people if not person.listed]
        beside = "not matched to it" if on_roster else count(len(others), "student").partition(" ")[2]
        for some, who in ((on_roster, "on the roster"), (others, beside)):
            if some:
                each = ", ".join(f"{some.count(state)} {IN_WORDS[state]}" for state in STATES if state in some)
                yield f"{len(some)} {who}: {each}"
        if self.deadlines.rows:
            yield f"Times that name no zone are this machine's, {zone_of(datetime.now().astimezone())} today"
        if late:
            yield f"{late} handed in late, as the platform says"
            if self.late_rule.share:
                yield self.late_rule.in_words()
        labels, notebooks = self.labels(), self.notebooks() or [""]
        if away := [labels[person] for person, state in states.items() if state == ELSEWHERE]:
            yield f"The platform has a hand-in that is not in this folder of {', '.join(away)}: download all once more"
        with_zero = [p for p, state in states.items() if any(self.is_zero(p, state, number) for number in notebooks)]
        if with_zero:
            names = ", ".join(labels[person] for person in with_zero)
            yield f"0 points filled in, where nothing was answered, for {count(len(with_zero), 'student')}: {names}"
        if self.overrides:
            yield f"{count(len(self.overrides), 'result')} set or commented by hand"

    @asked_often
    def states(self):
        """{person: state}, each one of `STATES`."""
        blank = {row.person for row in self.rows} - {
            submission.student for submission in self.submissions if submission.problem
        }
        judged = self.who_answered()
        handed_in = {row.person for row in self.rows} | {submission.student for submission in self.submissions}
        perhaps_theirs = {person for question in self.questions for person in question.among}
        state = dict.fromkeys(handed_in, UNREADABLE) | dict.fromkeys(blank, BLANK) | dict.fromkeys(judged, JUDGED)
        away = dict.fromkeys(self._elsewhere(), ELSEWHERE)
        state = away | dict.fromkeys(perhaps_theirs, UNASSIGNED) | state
        return {person: state.get(person, NOTHING) for person in self.people}

    def _elsewhere(self):
        """Those of whom a grading worksheet, in whatever language, says that they handed something in.

        It does by a time, or by the words that it has of somebody whose hand-in is here.
        """
        here = {one.student.status for one in self.submissions if one.owner and one.owner.platform == "moodle"}
        for person in self.people:
            says_handed_in = person.status in here or person.status.casefold().startswith("submitted")
            if person.came or (person.status and says_handed_in):
                yield person

    def is_zero(self, person, state, notebook):
        """Whether `zeros` gives 0 points, after the deadline, for a notebook of which nothing was judged."""
        in_the_way = state in (UNASSIGNED, ELSEWHERE) or self.why_not_judged(person)
        unjudged = self.zeros and not in_the_way and not self.is_judged(person, notebook)
        return bool(unjudged and self.deadlines.is_over(person, notebook))

    def who_answered(self):
        """Those who answered something."""
        return {row.person for row in self.rows if row.is_answered}

    @asked_often
    def files_of(self, person):
        return [submission for submission in self.submissions if submission.student == person]

    def is_late(self, person):
        return bool(self.late_in_words(person))

    @asked_often
    def late_in_words(self, person):
        """How late what counts of a student came, or what could not be read; "" for in time."""
        mine = [row.late for row in self.rows if row.person == person]
        mine += [self.deadlines.lateness(one) for one in self.files_of(person) if one.problem or not mine]
        late = sorted((late for late in mine if late.late), key=lambda late: late.by or timedelta())
        return late[-1].in_words() if late else "it came late, as the platform says" if person.late and not mine else ""

    @asked_often
    def is_judged(self, person, notebook):
        """Whether points of a notebook are known: something in it was answered and judged, or a teacher gave points."""
        has_answer = any(row.person == person and row.is_answered and row.notebook == notebook for row in self.rows)
        set_by_hand = (
            id for (whose, id), override in self.overrides.items() if whose == person and override.points is not None
        )
        return has_answer or any(id.split(".")[0] == notebook for id in set_by_hand)

    @asked_often
    def is_open(self, person, exercise):
        """Whether an exercise is without a result where one may still be: in a file that could not be read."""
        by_hand, row = self.override(person, exercise), self.of(person).get(exercise)
        if (by_hand and by_hand.points is not None) or (row and row.result["status"] != "missing"):
            return False
        return bool(self.why_not_judged(person))

    @asked_often
    def judged(self, person):
        """The numbers of the notebooks of which a student's points are known."""
        return [number for number in self.notebooks() if self.is_judged(person, number)]

    def override(self, person, exercise):
        return self.overrides.get((person, exercise))

    def shared_files(self):
        """[files] of several students, equal to the last byte; who answered nothing has what all were given."""
        same, with_answers = {}, {row.file for row in self.rows if row.is_answered}
        for one in self.submissions:
            if one.path in with_answers:
                same.setdefault(one.digest, []).append(one)
        return [files for files in same.values() if len({one.student for one in files}) > 1]

    @asked_often
    def why_not_judged(self, person):
        """What keeps a student's work from being judged, in words; "" where there is none."""
        reasons = [
            f"{submission.path}: {submission.problem}" for submission in self.files_of(person) if submission.problem
        ]
        open_questions = [question for question in self.questions if person in question.among]
        reasons += [f"{place}: whose is it?" for question in open_questions for place in question.places]
        return "; ".join(reasons)

    @asked_often
    def labels(self):
        return labels(self.people)

    @asked_often
    def exercises(self):
        """The exercises that this report is about, in order: of notebooks in which somebody answered something."""
        set_by_hand = {id for (_, id), override in self.overrides.items() if override.points is not None}
        with_results = {row.result["exercise"] for row in self.rows} | set_by_hand
        answered = {row.notebook for row in self.rows if row.is_answered}
        notebooks = answered | {id.split(".")[0] for id in set_by_hand}
        ids = [id for id in EXERCISES if id in with_results and id.split(".")[0] in notebooks]
        return [id for id in ids if self.points.get(id, 0) > 0]

    @asked_often
    def notebooks(self):
        """{number: name} of the notebooks that somebody answered something in."""
        return {id.split(".")[0]: course().asked[id].notebook for id in self.exercises()}

    @asked_often
    def of(self, person):
        """{exercise: row} of a student, of the exercises that this report is about."""
        ids = self.exercises()
        rows = {row.result["exercise"]: row for row in self.rows if row.person == person}
        return {id: rows[id] for id in ids if id in rows}

    @asked_often
    def judged_points(self, person):
        """{exercise: points} of a student's judged notebooks: those of the judging, or a teacher's by hand."""
        rows, points = self.of(person), {}
        for id in self.exercises():
            by_hand = self.override(person, id)
            if by_hand and by_hand.points is not None:
                points[id] = by_hand.points
            elif id in rows and self.is_judged(person, rows[id].notebook) and not self.is_open(person, id):
                points[id] = rows[id].points
        return points

    @asked_often
    def counted(self, person):
        """{exercise: points} of those of a student's results that count."""
        return those_that_count(self.judged_points(person), self.groups)

    @asked_often
    def losses(self, person):
        """{exercise: points} that lateness takes off what counts; what was set by hand stays as it is."""
        rows, losses = self.of(person), {}
        for id, points in self.counted(person).items():
            by_hand = self.override(person, id)
            if id in rows and not (by_hand and by_hand.points is not None):
                losses[id] = points * (self.late_rule.share_lost(rows[id].late) or 0.0)
        return losses

    @asked_often
    def reached(self, person, notebook=None):
        """A student's points in all notebooks or in one, each exercise's lateness taken off."""
        ids = [(id, points) for id, points in self.counted(person).items() if notebook in (None, id.split(".")[0])]
        losses = self.losses(person)
        return sum(points - losses.get(id, 0.0) for id, points in ids)

    @asked_often
    def possible(self):
        """{exercise: points} that can be reached in the notebooks that somebody answered something in."""
        return those_that_count({id: self.points[id] for id in self.exercises()}, self.groups)

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
    """(the mistake in words, the section to read again, "" where no reading helps)."""
    if known := EXERCISES[exercise].misconceptions.get(misconception):
        return known.name, known.reread
    if misconception in RUN_ENDINGS:
        return RUN_ENDINGS[misconception], ""
    return PART_MISTAKES.get(misconception, NAMELESS), EXERCISES[exercise].section


def kind_of(exercise, misconception):
    """0 for a misconception, which a teacher can speak about; 1 for a mistake without a name; 2 for a run's end."""
    if misconception in EXERCISES[exercise].misconceptions or misconception in PART_MISTAKES:
        return 0
    return 2 if misconception in RUN_ENDINGS else 1
