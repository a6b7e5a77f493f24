"""What a teacher says of an exercise by hand: overrides.csv, which no run writes and each run reads."""

from dataclasses import dataclass

from workbench.exercises.engine.exercise import find

from ..tables import rows_of
from .points import number

OVERRIDES_FILE = "overrides.csv"


@dataclass(frozen=True)
class Override:
    """Points in place of those that were found, None for these, and a word to the student."""

    points: float | None
    comment: str = ""


def read_overrides(path, who, most):
    """({(person, exercise): Override}, [(row, what is wrong with it)]) of overrides.csv.

    Its columns are id, exercise, points, comment. `who` gives the people that an id may mean, `most` is {exercise:
    points that it is worth}. The last row of a student's exercise counts. Raises: ValueError for a file that is no such
    table.
    """
    if not path.is_file():
        return {}, []
    columns, rows = rows_of(path)
    if not {"id", "exercise", "points"} <= set(columns):
        raise ValueError(f"{path} has no columns id, exercise and points")
    overrides, wrong = {}, []
    for row in rows:
        try:
            person, exercise = _one(who(row["id"]), row["id"]), find(row["exercise"]).id
            override = Override(_points(row["points"]), row.get("comment", ""))
        except (KeyError, ValueError) as error:
            wrong.append(
                (f"{path.name}: {row['id']} {row['exercise']}", str(error.args[0]).partition("; there are")[0])
            )
            continue
        if (person, exercise) in overrides:
            wrong.append((f"{path.name}: {row['id']} {row['exercise']}", "stands there twice; the last row counts"))
        if override.points is not None and override.points > most.get(exercise, 0):
            points, of = number(override.points), number(most.get(exercise, 0))
            wrong.append(
                (f"{path.name}: {row['id']} {row['exercise']}", f"{points} points, of {of}, count as they stand")
            )
        overrides[person, exercise] = override
    return overrides, wrong


def _one(people, id):
    if len(people) == 1:
        return people[0]
    raise ValueError(f"{len(people)} students have the id {id}" if people else f"nobody has the id {id}")


def _points(text):
    if not text:
        return None
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points < 1000:
        raise ValueError(f"{text!r} is no number of points")
    return points
