"""A lesson as a page: boards that move, guesses that are answered, and what follows them folded until then."""

import html
import json
import re
from pathlib import Path

import nbformat

from workbench.copies import fold_titles
from workbench.display.show import folded, framed, marked
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.numbers import Numbers
from workbench.exercises.engine.sections import section_in_words
from workbench.predict import predict
from workbench.questions import Question

from ..deck import outputs
from ..lessons import PROMISED
from . import boards_in_pages, cards
from .ways_to_run import how_to_run, notebook_of

DRAWINGS = Path(__file__).parent / "source"


class LessonPage:
    """The page of a lesson of course.toml."""

    def __init__(self, lesson):
        self.lesson, self.notebook = lesson, nbformat.read(lesson.path, as_version=4)
        self.found = outputs.run_here(self.notebook)
        self.heading = self.notebook.cells[0].source.partition("\n")[0].partition(". ")[2]
        self.buttons = boards_in_pages.buttons(self.notebook, self.found)
        self.guesses = sum(bool(shown.question) for shown in self.found.values()) + bool(lesson.opening)

    def page(self):
        notebook = self.notebook.copy()
        both = zip(notebook.cells, fold_titles(notebook.cells), strict=True)
        first, *others = [self.on_page(cell, fold) for cell, fold in both]
        heading, _, rest = first.source.partition("\n")
        why, _, promised = rest.partition(PROMISED)
        first.source = heading
        about = nbformat.v4.new_markdown_cell(f"{why.strip()}\n\n{self.about(promised.strip())}", id="about")
        notebook.cells = [first, *self.opening(), about, *question_first(others)]
        return notebook

    def about(self, promised):
        """What the first cell promises and needs, and how the lesson is run, behind one line."""
        goals, _, needs = promised.rpartition("\n\n")
        minutes, _, before = needs.replace("**", "").partition(". ")
        goals = f"Afterwards you will be able to\n\n{goals}\n\n" if goals else ""
        return (
            f'<details class="about run-it" id="run-it"><summary>{minutes}: goals, needs, how to run it</summary>\n\n'
            f"{goals}{before}\n\n{how_to_run(self.lesson.name)}\n\n</details>"
        )

    def opening(self):
        """The drawing of the lesson and the question that its page begins with, if it has one."""
        if not self.lesson.opening:
            return []
        said = dict(self.lesson.opening)
        ask, answer, wrong = said.pop("ask"), said.pop("answer"), said.pop("wrong", {})
        shown = outputs.shown(predict(Question("", said), None, answer, **wrong))
        example = "one word" if said["form"] == "word" else "one number"
        form = guess_form("opening", shown.question, shown.html, example, in_words=True)
        shows = f'<div class="opening">{cards.opening(self.lesson.number)}<p>{marked(ask)}</p>{form}</div>'
        return [nbformat.v4.new_markdown_cell(re.sub(r"\n\s*\n", "\n", shows), id="opening")]

    def on_page(self, cell, fold):
        """A cell as the page has it; fold is what stands on its fold if it answers a question."""
        cell = cell.copy()
        cell.metadata = dict(cell.metadata)
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            cell.source = boards_in_pages.with_buttons(cell.source, self.buttons)
            if beside := cell.metadata.get("beside"):  # stays in sight beside the text
                cell.source += f"\n\n{(DRAWINGS / beside).read_text(encoding='utf-8')}"
            if fold:
                cell.source = f'<details class="after-guess">\n<summary>{fold}</summary>\n\n{cell.source}\n\n</details>'
            return cell
        shown = self.found.get(cell.id) or outputs.Shown()
        if shown.question:
            cell.outputs = [as_html(guess_form(cell.id, shown.question, shown.html, example=example_in(cell.source)))]
        elif "saved-board" in shown.html:
            cell.outputs = [as_html(f'<div data-id="{cell.id}">{shown.html}</div>')]
        elif shown.figure:
            cell.outputs = [as_html(plot(shown.figure))]
            if "answer" in tags:
                cell.metadata["tags"] = [*tags, "hide-cell"]
        elif instead := self.instead_of_running(cell):
            cell.outputs = [as_html(instead)]
            cell.metadata["tags"] = [*tags, "remove-input"]
        elif is_set_up(cell) or {"filled", "answer"} & set(tags):
            cell.metadata["tags"] = [*tags, "hide-cell"]
        if "outputs" in cell:  # a progress bar has been saved as it began, at 0 %
            cell.outputs = [output for output in cell.outputs if boards_in_pages.VIEW not in output.get("data", {})]
        return cell

    def instead_of_running(self, cell):
        """What the page has where a notebook judges answers, gives hints or counts; "" for any other cell."""
        if id := cell.metadata.get("check"):
            return self.answer_place(cell, EXERCISES[id])
        if id := cell.metadata.get("hint"):
            return hints(EXERCISES[id])
        return f"<p>{self.so_far()}</p>" if cell.source == "progress()" else ""

    def so_far(self):
        """Where the page says how many of its guesses were right."""
        return f'<span class="so-far" data-page="{self.lesson.name}" data-guesses="{self.guesses}"></span>'

    def answer_place(self, cell, exercise):
        """Where an exercise is answered: here if it asks for numbers, otherwise one button leads to the notebook."""
        if not isinstance(exercise, Numbers):
            return f'<p><a class="button" href="{notebook_of(self.lesson.name)}">Write it in the notebook</a></p>'
        return guess_form(cell.id, question_of(exercise))


def question_first(cells):
    """Cells in the order of the page: what only makes the first question ready comes behind it, in one fold."""
    first = next((i for i, cell in enumerate(cells) if is_answered(cell)), 0)
    before, question, after = cells[:first], cells[first : first + 1], cells[first + 1 :]
    silent = [cell for cell in before if cell.cell_type == "code" and not cell.outputs]
    if not silent:
        return cells
    for cell in before:
        if cell.cell_type == "code":
            cell.metadata["tags"] = ["hide-input"]
    ready = silent[0]
    ready.source = "\n\n".join(cell.source for cell in silent)
    ready.metadata["tags"] = ["hide-cell"]
    return [cell for cell in before if cell not in silent] + question + [ready] + after


def is_answered(cell):
    """Whether a cell of the page is a question or a board."""
    shown = "".join(output.get("data", {}).get("text/html", "") for output in cell.get("outputs", []))
    return '<form class="guess"' in shown or "saved-board" in shown


def question_of(exercise):
    """An exercise that asks for numbers as data for the page, with its misconceptions as slips."""
    slips = [
        {
            "leaves": form().tolist(),
            "says": marked(f"{one.name}. {one.why} Read again: {section_in_words(one.reread)}."),
        }
        for one in exercise.misconceptions.values()
        for form in one.forms
    ]
    asked = Question("", {"form": "numbers", "within": exercise.within})
    return asked.as_data(exercise.answer) | {"leaves": exercise.answer, "slips": slips}


def guess_form(id, question, answer="", example="", *, in_words=False):
    """A line to type into, and the answer that waits for it; without one it may be tried for ever.

    in_words: it reads as a question of the page, not as a line of the notebook's code.
    """
    again = not answer
    name = "Your guess" if in_words else f"<code>{'answer' if again else 'guess'} =</code>"
    give_up = "" if again else ' <button type="button" class="show">Show me</button>'
    return (
        f'<form class="guess" id="guess-{id}" data-question="{html.escape(json.dumps(question))}"'
        f' data-again="{str(again).lower()}"><label>{name} <input'
        f' autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="{html.escape(example)}"></label>'
        f' <button>{"Check" if again or in_words else "Run"}</button>{give_up}<p class="verdict" role="status"></p>'
        f'<div class="answer" hidden>{answer}</div></form>'
    )


def example_in(source):
    """What the comment behind `guess = ...` says of its form."""
    found = re.match(r"guess = \.\.\.  # (.+)", source)
    return found[1] if found else ""


def hints(exercise):
    count = len(exercise.hints)
    return framed("".join(folded(f"Hint {i} of {count}", marked(text)) for i, text in enumerate(exercise.hints, 1)))


def plot(figure):
    """A plot as large as in a notebook, and light or dark as the page is."""
    svg = figure.svg()
    size = re.search(r'width="\d+" height="\d+"', svg)[0]
    return (
        f'<img class="drawing" loading="lazy" {size} alt="{html.escape(figure.description)}" src="{outputs.uri(svg)}">'
    )


def is_set_up(cell):
    """Whether a cell only brings in what the others need, and shows nothing."""
    lines = cell.source.splitlines()
    return not cell.outputs and any(line.startswith(("import ", "from ")) for line in lines)


def as_html(text):
    return nbformat.v4.new_output("display_data", {"text/html": text})
