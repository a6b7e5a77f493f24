"""How many points each exercise is worth, and of which only the best count."""

import math
from dataclasses import dataclass
from pathlib import Path

from workbench.exercises.engine.exercise import EXERCISES, find

from ..tables import rows_of

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
    3 for a patient of the clinic, one for each part, and what points.csv says.
    Raises: ValueError for a file that is no such table, OSError for none.
    """
    points = {} if path else {id: 3.0 if exercise.in_parts else 2.0 for id, exercise in EXERCISES.items()}
    groups, path = [], path or DEFAULT_POINTS
    columns, rows = rows_of(path)
    if not {"exercise", "points"} <= set(columns):
        raise ValueError(f"{path} has no columns exercise and points")
    for row in rows:
        try:
            ids = _ids_of(row["exercise"])
            points |= dict.fromkeys(ids, _points_of(row["points"]))
            if row.get("best"):
                groups.append(_best_of(ids, row["best"], groups))
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path}: {error} (exercise {row['exercise']})") from None
    return points, groups


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
