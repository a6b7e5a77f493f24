"""Writes the drawings that a lesson's page opens with for JupyterLab: `python -m authors.site.openings`.

A learner's machine could not draw them: what they are of is computed from the notebooks by the authors' tools.
"""

import json

from workbench.questions import records

from ..lessons import OPENING, ROOT, lessons
from .cards import opening

FILE = ROOT / "workbench/lab/openings.json"


def drawings():
    """Of each lesson that opens with a question its drawing: "1" → svg."""
    numbers = [lesson.number for lesson in lessons() if OPENING in records(f"{lesson.number:02}")]
    return {str(number): opening(number) for number in numbers}


if __name__ == "__main__":
    FILE.write_text(json.dumps(drawings(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
