"""Writes the drawings that a lesson's page opens with for JupyterLab; `course.py refresh` does so for its lessons.

A learner's machine could not draw them: what they are of is computed from the notebooks by the authors' tools.
`python -m authors.site.openings` writes all of them.
"""

import json

from workbench.questions import records

from ..lessons import OPENING, ROOT, lessons
from .cards import DrawingError, opening

FILE = ROOT / "workbench/lab/openings.json"


def write(some_lessons):
    """Draw these lessons anew, those that open with a question, and leave the drawings of all others: "1" → svg.

    Returns: why some of them could not be drawn, a `DrawingError` for each; they keep the drawing that they had.
    """
    drawings, faults = json.loads(FILE.read_text(encoding="utf-8")), []
    for lesson in some_lessons:
        if OPENING in records(f"{lesson.number:02}"):
            try:
                drawings[str(lesson.number)] = opening(lesson.number)
            except DrawingError as error:
                faults.append(error)
    in_order = dict(sorted(drawings.items(), key=lambda pair: int(pair[0])))
    FILE.write_text(json.dumps(in_order, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return faults


if __name__ == "__main__":
    print(*write(lessons()), sep="\n")
