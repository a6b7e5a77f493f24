"""How many points each exercise is worth, and of which only the best count."""

import datetime
import math
import re
from dataclasses import dataclass
from pathlib import Path

from workbench.exercises.engine.exercise import EXERCISES, find

from ..tables import rows_of

LATE = "late"  # in the column of exercises: the row says what lateness costs
PER = {"hour": datetime.timedelta(hours=1), "day": datetime.timedelta(days=1), "week": datetime.timedelta(weeks=1)}
DEFAULT_POINTS = Path(__file__).with_name("points.csv")


@dataclass(frozen=True)
class BestOf:
    """Exercises of which only the best count."""

    ids: tuple
    most: int


def read_points(path=None):
    """{exercise: points} of all that are asked for, those of a file or of the whole course, and the `BestOf`s.

    A row is for one exercise, for several, `6.1 6.5`, or for all of a notebook, `6.*`; a later row counts more. A
    number under `best` says how many of them count, each student's best. The course's points are 2 for an exercise,
    3 for a patient of the clinic, one for each part, and what points.csv says. What lateness costs is `late_rule`'s.
    Raises: ValueError for a file that is no such table, OSError for none.
    """
    points = {} if path else {id: 3.0 if exercise.in_parts else 2.0 for id, exercise in EXERCISES.items()}
    groups, path = [], path or DEFAULT_POINTS
    columns, rows = rows_of(path)
    if not {"exercise", "points"} <= set(columns):
        raise ValueError(f"{path} has no columns exercise and points")
    for row in rows:
        if row["exercise"].casefold() == LATE:
            continue
        try:
            ids = _ids_of(row["exercise"])
            points |= dict.fromkeys(ids, _points_of(row["points"]))
            if row.get("best"):
                groups.append(_best_of(ids, row["best"], groups))
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path}: {error} (exercise {row['exercise']})") from None
    return points, groups


@dataclass(frozen=True)
class LateRule:
    """What a late hand-in loses of its points, once or for each hour, day or week begun."""

    share: float = 0.0
    each: str = ""  # one of `PER`

    def share_lost(self, lateness):
        """The share that is taken off, None where it would take the time to know."""
        if not (self.share and lateness.late):
            return 0.0
        if not self.each:
            return self.share
        return None if lateness.by is None else min(1.0, self.share * -(-lateness.by // PER[self.each]))

    def in_words(self):
        each = f" for each {self.each} begun" if self.each else ""
        return f"A late hand-in loses {self.share:.0%} of its points{each}"


NO_RULE = LateRule()


def late_rule(path):
    """The `LateRule` of a points.csv: a row `late,20%` or `late,10% a day`; without one lateness costs nothing."""
    if not path:
        return NO_RULE
    for row in rows_of(path)[1]:
        if row.get("exercise", "").casefold() == LATE:
            match = re.fullmatch(r"[-−]?(\d+(?:[.,]\d+)?) ?%(?: (?:a|an|per) (hour|day|week))?", row["points"])
            if not match or float(match[1].replace(",", ".")) > 100:
                raise ValueError(f"{path}: {row['points']!r} is nothing that lateness may cost, as in 20% or 10% a day")
            return LateRule(float(match[1].replace(",", ".")) / 100, match[2] or "")
    return NO_RULE


def those_that_count(points, groups):
    """Those of {exercise: points} that count: of a group the best, of equal ones the first."""
    ids = list(points)
    for group in groups:
        best = sorted((id for id in ids if id in group.ids), key=lambda id: -points[id])
        ids = [id for id in ids if id not in best[group.most :]]
    return {id: points[id] for id in ids}


def _ids_of(text):
    """The ids that a row is for; raises KeyError for none."""
    ids = []
    for word in text.split() or [text]:
        notebook = word.removesuffix("*") if word.endswith(".*") else None
        ids += [id for id in EXERCISES if notebook and id.startswith(notebook)] or [find(word).id]
    return list(dict.fromkeys(ids))


def _points_of(text):
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = math.nan
    if not 0 <= points < math.inf:
        raise ValueError(f"{text!r} is no number of points")
    return points


def _best_of(ids, text, groups):
    if not text.isdecimal() or not 1 <= int(text) <= len(ids):
        raise ValueError(f"the best {text} of {len(ids)} cannot count")
    if len({id.split(".")[0] for id in ids}) > 1:
        raise ValueError("the best can be taken of one notebook's exercises, not across two")
    if twice := [id for group in groups for id in group.ids if id in ids]:
        raise ValueError(f"{twice[0]} is in two rows that have a best")
    return BestOf(tuple(ids), int(text))


def total(points, notebook=None):
    """The sum of {exercise: points} as it is written, of all notebooks or of one."""
    return number(sum(of for id, of in points.items() if notebook in (None, id.split(".")[0])))


def number(points):
    """2, 2.5, 0.67."""
    return f"{points:.2f}".rstrip("0").rstrip(".")
