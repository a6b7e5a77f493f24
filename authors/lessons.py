"""What each lesson is: its entry in notebooks/course.toml."""

import tomllib
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
OPENING = "opening"  # the question that a lesson opens with: its record in workbench.questions, and its cell


@dataclass(frozen=True)
class Lesson:
    """An entry of course.toml: what the lesson asks and promises, and how long a student needs for it."""

    name: str  # "03_masking"
    title: str
    question: str
    promise: str  # goes on from "afterwards you can"
    goals: list
    needs: str
    readings: list
    minutes: int = 0
    exercises: int = 0
    exercises_for: str = "the exercises"

    @property
    def number(self):
        """Its number as a title has it: 3."""
        return int(self.name[:2])

    @property
    def path(self):
        """Its notebook."""
        return NOTEBOOKS / f"{self.name}.ipynb"

    @property
    def time_in_words(self):
        """How long a student needs, as the first cell says it."""
        return f"{self.minutes} minutes, and {self.exercises} more for {self.exercises_for}."


def lessons():
    """Every lesson in order. Raises: ValueError where course.toml does not list the notebooks there are."""
    try:
        entries = tomllib.loads((NOTEBOOKS / "course.toml").read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"notebooks/course.toml cannot be read: {error}") from None
    entries.pop("chosen", None)  # which of them are served; all are made
    there = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    for name in sorted(set(there) - set(entries)):
        raise ValueError(f"notebooks/course.toml has no entry [{name}], and there is a notebook of that name")
    for name in sorted(set(entries) - set(there)):
        raise ValueError(f"notebooks/course.toml has an entry [{name}], and there is no notebook of that name")
    if list(entries) != there:
        raise ValueError(f"course.toml lists {', '.join(entries)}; there are {', '.join(there)}")
    return [as_lesson(name, entry) for name, entry in entries.items()]


def as_lesson(name, entry):
    """An entry of course.toml as a `Lesson`. Raises: ValueError for one that says too little or what no lesson has."""
    known = {field.name: field.default is NO_DEFAULT for field in fields(Lesson) if field.name != "name"}
    if missing := [field for field, is_needed in known.items() if is_needed and field not in entry]:
        raise ValueError(f"notebooks/course.toml: the entry [{name}] lacks {', '.join(missing)}")
    if unknown := [field for field in entry if field not in known]:
        raise ValueError(f"notebooks/course.toml: in [{name}] {unknown[0]} is none of {', '.join(known)}")
    return Lesson(name, **entry)
