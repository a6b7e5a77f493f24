"""The page on which a student keeps what they guessed in lectures, and finds what to read again.

A phone leads here at the end of a lecture, by a link whose guesses stand behind the #, which is sent to nobody.
"""

import json
from pathlib import Path

from ..deck.slides import slides_of, with_cells
from ..pages import needs

SCRIPT = Path(__file__).with_name("record.js")


def write(asked, target):
    """The page's script, with the questions that lectures ask; asked is what `questions` found on all pages."""
    data = json.dumps(asked, ensure_ascii=False).replace("<", "\\u003c")
    script = needs.script(SCRIPT).replace("const ASKED = {};", f"const ASKED = {data};")
    target.write_text(script, encoding="utf-8", newline="\n")


def questions(lesson_page, name, page):
    """A question's id → what is to be known of it, of the questions of a lesson that stand on the page of this name."""
    heading, asked = "", {}
    own = lesson_page.notebook.cells
    there = {cell.id for cell in page.cells} & {cell.id for cell in own}
    for slide, cells in with_cells([*own, *lesson_page.standing], slides_of(lesson_page.lesson.name)):
        for cell in cells:
            if cell.cell_type == "markdown" and cell.source.startswith("#"):
                heading = cell.source.partition("\n")[0].lstrip("# ")
            shown = lesson_page.shown.get(cell.id)
            if shown and shown.question and cell.id in there:
                choices, right = slide.choices_for(shown.question)
                asked[shown.question["id"]] = {
                    "lesson": f"{lesson_page.lesson.number}. {lesson_page.heading}",
                    "at": f"notebooks/{name}.html#guess-{cell.id}",
                    "section": heading,
                    "ask": slide.asks.replace("`", ""),
                    "answer": shown.html,
                    "question": shown.question,
                    "choices": choices,
                    "right": right,
                }
    return asked
