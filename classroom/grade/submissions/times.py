"""When work came in, by the platform's word alone, and whether that is after the deadline.

A file's own date is never asked: students set it, and a .zip has none that says when it was handed in.
"""

import datetime
from dataclasses import dataclass

from workbench.display.moments import moment_in_words

from ..tables import rows_of
from .moments import moment
from .owners import entry_for, plain_path

TIMES_FILE, DEADLINES_FILE = "times.csv", "deadlines.csv"
MINUTE = datetime.timedelta(minutes=1)


@dataclass(frozen=True)
class Lateness:
    """Whether a hand-in is late; `by` is None where only a mark says so, `is_unclear` where not even that is known."""

    late: bool = False
    by: datetime.timedelta | None = None
    due: datetime.datetime | None = None
    is_unclear: bool = False

    def in_words(self):
        """How late, "" for what is not."""
        if self.is_unclear:
            return "whether it came in time cannot be told: the platform marks it late, and this student has longer"
        if not self.late:
            return ""
        if self.by is None:
            return "it came late, as the platform says"
        return f"it came {_duration(self.by)} after the deadline, {moment_in_words(self.due)}"


IN_TIME = Lateness()


class Deadlines:
    """Until when work is taken: for all, for a notebook, and longer for whom the teacher gives longer."""

    def __init__(self, rows=()):
        self.rows = list(rows)  # (Person or None for all, notebook's number or "" for each, moment)

    def due(self, person, number=""):
        """(the deadline of a student for a notebook or None, whether it is this student's own)."""
        best = None, False, (-1, -1)
        for whose, notebook, until in self.rows:
            rank = whose is not None, bool(notebook)
            if whose in (None, person) and notebook in ("", number) and rank >= best[2]:
                best = until, whose is not None, rank
        return best[:2]

    def lateness(self, submission, number=""):
        """The `Lateness` of a file; the whole minute of the deadline is in time."""
        due, is_own = self.due(submission.student, number)
        is_marked = submission.late or (submission.from_worksheet and getattr(submission.student, "late", False))
        if due and submission.came:
            by = _minute(submission.came) - _minute(due)
            return Lateness(by > datetime.timedelta(0), by, due)
        if is_marked and is_own:
            return Lateness(due=due, is_unclear=True)
        return Lateness(is_marked, due=due)

    def is_over(self, person, number, now=None):
        """Whether nothing more can come in time; it is, where there is no deadline."""
        due, _ = self.due(person, number)
        return due is None or _minute(now or datetime.datetime.now().astimezone()) > _minute(due)


def _minute(moment):
    return moment.astimezone(datetime.UTC).replace(second=0, microsecond=0)


def _duration(by):
    minutes = by // MINUTE
    days, hours, minutes_left = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [(days, "day"), (hours, "hour"), (minutes_left if not days else 0, "minute")]
    return " ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in parts if n) or "less than an hour"


# ------------------------------------------------------------------------------------------------ the teacher's tables


def read_times(path):
    """{file or folder: when it came} of times.csv, whose columns are path and time.

    Raises: ValueError for a file that is no such table, or a time that is none.
    """
    if not path.is_file():
        return {}
    rows = _table(path, "path", "time")
    return {plain_path(row["path"].removeprefix("'")): _moment_in(path, row["time"]) for row in rows}


def read_deadlines(path, who, everybodys=None):
    """(`Deadlines`, [(row, what is wrong with it)]) of deadlines.csv.

    Its columns are deadline and, where it is not for all, id and notebook. `who` gives the people that an id may mean;
    `everybodys` counts in place of the file's row for all.
    Raises: ValueError for a deadline that is no time.
    """
    rows, wrong = [], []
    for row in _table(path, "deadline") if path.is_file() else ():
        person, id = None, row.get("id", "")
        if id:
            people = who(id)
            if len(people) != 1:
                how_many = f"{len(people)} students have" if people else "nobody on the roster has"
                wrong.append((f"{path.name}: {id}", f"{how_many} this id"))
                continue
            (person,) = people
        rows.append((person, row.get("notebook", "").lstrip("0"), _moment_in(path, row["deadline"], "23:59")))
    if everybodys:
        rows.append((None, "", _moment_in("--deadline", everybodys, "23:59")))
    return Deadlines(rows), wrong


def set_times(submissions, times):
    """Note of each submission when it came, by times.csv or a grading worksheet of Moodle's.

    The worksheet tells of what a student has in a folder of Moodle's, or, where all such names are gone, of all that
    is theirs.
    """
    in_folder = {one.student for one in submissions if _platform(one) == "moodle"}
    for submission in submissions:
        here = "moodle" if submission.student in in_folder else ""
        from_worksheet = _platform(submission) == here
        submission.from_worksheet = from_worksheet
        submission.came = entry_for(submission.path, times) or (submission.student.came if from_worksheet else None)


def _platform(submission):
    return submission.owner.platform if submission.owner else ""


def _table(path, *needed):
    columns, rows = rows_of(path)
    if not set(needed) <= set(columns):
        raise ValueError(f"{path} has no column{'s' * (len(needed) > 1)} {' and '.join(needed)}")
    return rows


def _moment_in(where, text, last_minute=""):
    """The moment that a text names; a day alone is meant until its last minute, where one is given."""
    if when := moment(text, last_minute):
        return when
    raise ValueError(f"{where}: {text!r} is no time, as in 2026-05-03 23:59 or 2026-05-03 23:59 Europe/Berlin")
