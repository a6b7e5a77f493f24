"""What a lesson still lacks beside its notebook and its slides: `course.py refresh` says it, one sentence for each."""

from workbench.exercises.engine.exercise import EXERCISES

from .lessons import NOTEBOOKS
from .site import cards

GUIDE = NOTEBOOKS / "INSTRUCTORS.md"


def lacking(lesson):
    """What this lesson of course.toml lacks: exercises, its section of the guide, the drawing that it opens with."""
    whats = [*no_exercises(lesson), *no_guide(lesson), *no_drawing(lesson)]
    return [f"Lesson {lesson.number} {what}" for what in whats]


def no_exercises(lesson):
    if not any(id.startswith(f"{lesson.number}.") for id in EXERCISES):
        yield f"has no exercises: write workbench/exercises/lessons/n{lesson.name}.py."


def no_guide(lesson):
    guide, number = GUIDE.read_text(encoding="utf-8"), lesson.number
    heading, link = f"## {number} {lesson.title}", f"[Notebook {number}]({lesson.name}.ipynb)"
    begins = heading, link, f"<!--{number:02}-->", f"<!--plan {number:02}-->"
    if missing := [words for words in begins if words not in guide]:
        yield f"lacks in INSTRUCTORS.md {', '.join(missing)}: the section of another lesson shows where they stand."
    elif not lesson.exercises:
        yield f"has no minutes for its exercises in INSTRUCTORS.md: write “Hand out: {number}.1 (5 minutes)” there."


def no_drawing(lesson):
    if lesson.number not in cards.DRAWINGS:
        yield "has no drawing: write a function in authors/site/cards.py, and name it in DRAWINGS."
