"""A lesson as a page: boards that move, guesses that are answered, and what follows them folded until then."""

import ast
import html
import json
import re
from pathlib import Path

import nbformat

from workbench.copies import as_written, fold_titles
from workbench.display import drawings
from workbench.display.show import folded, framed, marked
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.numbers import Numbers
from workbench.exercises.engine.sections import section_in_words
from workbench.questions import Question, records

from ..lesson_texts import BEGINS
from ..lessons import OPENING
from ..pages import boards_in_pages, outputs, packages
from ..pages.own_lines import NOT_HERE, OwnLines, line_form
from ..pages.upright import upright
from ..pages.ways_to_run import how_to_run, notebook_of
from . import cards

DRAWINGS = Path(__file__).parent / "source"
STANDING = "where_you_stand"  # the page of the questions over all lessons
RUN_AGAIN = re.compile(r"When you come back, \*Run → Run All Cells\* runs everything again, with [^.]*\.")
STANDS_HERE = "When you come back, your guesses and lines still stand here."
ROOM = 70  # signs of a line of code beside which the column of words ends
SET_UP = "set-up"  # the tag of what only brings in what others need
STANDING_FROM = "stand"  # the cell with whose heading they begin, at the end of the last lesson


class LessonPage:
    """The page of a lesson of course.toml."""

    def __init__(self, lesson):
        self.lesson, self.notebook = lesson, nbformat.read(lesson.path, as_version=4)
        self.lines = OwnLines()
        self.plots = {}  # name of a file → the picture in it
        self.shown = outputs.run_here(self.notebook, lines=self.lines)
        ids = [cell.id for cell in self.notebook.cells]
        end = ids.index(STANDING_FROM) if STANDING_FROM in ids else len(ids)
        self.notebook.cells, self.standing = self.notebook.cells[:end], self.notebook.cells[end:]
        self.heading = self.notebook.cells[0].source.partition("\n")[0].partition(". ")[2]
        self.buttons = boards_in_pages.buttons(self.notebook, self.shown)
        self.guesses = self.questions(self.notebook.cells)

    def questions(self, cells):
        """How many of these cells ask for a guess."""
        return sum(bool(self.shown[cell.id].question) for cell in cells if cell.id in self.shown)

    def pages(self):
        """Name and notebook of the lesson's page, and of the one that its end is by itself if it looks back at all."""
        yield self.lesson.name, self.page()
        if self.standing:
            yield STANDING, self.standing_page()

    def page(self):
        notebook = self.notebook.copy()
        both = zip(notebook.cells, fold_titles(notebook.cells), strict=True)
        cells = [(cell, fold) for cell, fold in both if not cell.id.startswith(OPENING)]
        first, *others = [part for cell, fold in cells for part in self.on_page(cell, fold)]
        heading, _, rest = first.source.partition("\n")
        first.source = heading
        about = nbformat.v4.new_markdown_cell(f"{re.split(BEGINS, rest)[0].strip()}\n\n{self.about()}", id="about")
        notebook.cells = [first, *self.opening(), about, *question_first(others)]
        if self.standing:
            heading, _, _ = self.standing[0].source.partition("\n")
            leads = f"{heading}\n\n{self.looks_back()} have [a page of their own]({STANDING}.ipynb)."
            notebook.cells.append(nbformat.v4.new_markdown_cell(leads, id=STANDING_FROM))
        return notebook

    def looks_back(self):
        """How many questions the lesson ends with, and over which lessons before it."""
        asked = sum(cell.id in self.shown for cell in self.standing)
        return f"{asked} questions over lessons 1 to {self.lesson.number - 1}"

    def standing_page(self):
        """The questions over all lessons as a page of their own."""
        notebook = self.notebook.copy()
        first, *others = self.standing
        heading = nbformat.v4.new_markdown_cell(first.source.removeprefix("#"), id=first.id)
        cells = [self.in_words(cell) for cell in others]
        last = max(i for i, cell in enumerate(cells, 1) if cell.id in self.shown)
        count = nbformat.v4.new_markdown_cell('<p class="standing" role="status"></p>', id="so-far")
        notebook.cells = [heading, *cells[:last], count, *cells[last:]]
        return notebook

    def in_words(self, cell):
        """A cell of the questions over all lessons, without code: whoever looks back is asked in words."""
        shown, *_ = self.on_page(cell, None)  # what comes behind a question is its code
        return shown

    def about(self):
        """What the lesson leads to and needs, and how it is run, behind one line."""
        goals = "\n".join(f"- {goal}" for goal in self.lesson.goals)
        needed = self.lesson.time_in_words.rstrip(".")
        return (
            f'<details class="about run-it" id="run-it"><summary>{needed}: goals, needs, how to run it</summary>\n\n'
            f"Afterwards you will be able to\n\n{goals}\n\nBefore: {self.lesson.needs}\n\n"
            f"{how_to_run(self.lesson.name)}\n\n</details>"
        )

    def opening(self):
        """The drawing of the lesson and the question that it opens with, if it has one."""
        shown = self.shown.get(OPENING)
        if not shown:
            return []
        record = records(f"{self.lesson.number:02}")[OPENING]
        example = "one word" if record["form"] == "word" else "one number"
        form = guess_form(OPENING, shown.question, shown.html, example)
        shows = f'<div class="opening">{cards.opening(self.lesson.number)}<p>{marked(record["ask"])}</p>{form}</div>'
        return [nbformat.v4.new_markdown_cell(re.sub(r"\n\s*\n", "\n", shows), id=OPENING)]

    def on_page(self, cell, fold):
        """A cell as the page has it, a question before its code; fold is what stands on the fold of an answer."""
        shown = self.shown.get(cell.id)
        if not shown or not shown.question:
            return [self.as_shown(cell, fold, shown or outputs.Shown())]
        asked, code = cell.copy(), cell.copy()
        form = as_html(guess_form(cell.id, shown.question, shown.html, example=example_in(cell.source)))
        asked.outputs, asked.metadata = [form], {"tags": ["predict", "remove-input"]}
        code.outputs, code.metadata, code.id = [], {"tags": ["answer", *wide_tags(cell)]}, f"{cell.id}-code"
        code.source = computing(code.source)
        fold_behind(code, "Show how it is computed")
        return [asked, code] if code.source else [asked]

    def as_shown(self, cell, fold, shown):
        cell = cell.copy()
        cell.metadata = dict(cell.metadata)
        tags = cell.metadata["tags"] = [*cell.metadata.get("tags", []), *wide_tags(cell)]
        if cell.cell_type == "markdown":
            source = RUN_AGAIN.sub(STANDS_HERE, as_written(cell.source))
            cell.source = boards_in_pages.with_buttons(source, self.buttons)
            if beside := cell.metadata.get("beside"):  # stays in sight beside the text
                cell.source += f"\n\n{(DRAWINGS / beside).read_text(encoding='utf-8')}"
            if fold:
                cell.source = f'<details class="after-guess">\n<summary>{fold}</summary>\n\n{cell.source}\n\n</details>'
            return cell
        if "saved-board" in shown.html:
            cell.outputs = [as_html(f'<div data-id="{cell.id}">{shown.html}</div>')]
        elif shown.figure:
            printed = [output for output in cell.outputs if output.output_type == "stream"]
            cell.outputs = [*printed, as_html(self.plot(shown.figure, f"{self.lesson.name}-{cell.id}"))]
            if "answer" in tags:
                cell.metadata["tags"] = [*tags, "hide-cell"]
        elif shown.drawing:
            cell.outputs = [as_html(drawn(shown.drawing))]
        elif instead := self.instead_of_running(cell):
            cell.outputs = [as_html(instead)]
            cell.metadata["tags"] = [*tags, "remove-input"]
        elif cell.id in self.lines.by_cell:
            self.write_here(cell)
        elif "filled" in tags:
            cell.source = re.sub(r"^blank\(.*", "", cell.source, flags=re.S | re.M).strip()  # here nothing is judged
            fold_behind(cell, "Show a line that does it")
        elif is_set_up(cell):
            fold_behind(cell, "Show what is imported")
            cell.metadata["tags"].append(SET_UP)
        elif "answer" in tags:
            cell.metadata["tags"] = [*tags, "hide-cell"]
        return cell

    def write_here(self, cell):
        """Put a field in the place of a line of the learner's own, or say why it is written in the notebook."""
        id = self.lines.by_cell[cell.id]
        if id in NOT_HERE:
            cell.outputs = [as_html(f'<p class="not-here">{NOT_HERE[id]}</p>')]
        elif packages.are_there():  # without them nothing reads Python
            cell.outputs = [as_html(line_form(cell, id, self.lines.lines[id]["name"]))]
            cell.metadata["tags"] = [*cell.metadata["tags"], "remove-input"]

    def plot(self, figure, name):
        """A plot as large as in a notebook and, on a phone, as narrow; light or dark as the page is."""
        narrow = upright(figure)
        source = self.picture(narrow, f"{name}-upright", "source", "srcset") if narrow else ""
        attributes = f'class="drawing" loading="lazy" alt="{html.escape(figure.description)}"'
        return f"<picture>{source}{self.picture(figure, name, f'img {attributes}', 'src')}</picture>"

    def picture(self, figure, name, tag, source):
        """A tag that shows the figure from a file of its own: what is not looked at is not fetched."""
        svg = self.plots[f"{name}.svg"] = figure.svg()
        size = re.search(r'width="\d+" height="\d+"', svg)[0]
        media = f' media="{boards_in_pages.UPRIGHT}"' if tag == "source" else ""
        return f'<{tag}{media} {size} {source}="../_static/plots/{name}.svg">'

    def instead_of_running(self, cell):
        """What the page has where a notebook judges answers, gives hints or counts; "" for any other cell."""
        if id := cell.metadata.get("check"):
            return self.answer_place(cell, EXERCISES[id])
        if id := cell.metadata.get("hint"):
            return hints(EXERCISES[id])
        return f"<p>{so_far(self.lesson.name, self.guesses)}</p>" if cell.source == "progress()" else ""

    def answer_place(self, cell, exercise):
        """Where an exercise is answered: here if it asks for numbers, otherwise in the notebook, on a computer."""
        if not isinstance(exercise, Numbers):
            return for_later(exercise.id, notebook_of(self.lesson.name))
        return guess_form(cell.id, question_of(exercise))


def for_later(id, notebook):
    """A button that hands over the link to this place, for a computer; without a script the way to the notebook."""
    way = f'<a class="button" href="{notebook}">Write it in the notebook</a>'
    return (
        f'<div class="later" id="later-{id}" data-notebook="{notebook if "://" in notebook else ""}">'
        f'<button type="button" class="button" aria-expanded="false">For later, on a computer</button>'
        f'<div class="ways" hidden></div></div><noscript><p>{way}</p></noscript>'
    )


def so_far(page, guesses):
    """Where a page says how many of its guesses were right."""
    return f'<span class="so-far" data-page="{page}" data-guesses="{guesses}"></span>'


def computing(source):
    """The lines of a question's cell that compute its answer, without the guess and the slips."""
    guess, *_, asks = ast.parse(source).body
    lines = source.splitlines()[guess.end_lineno : asks.lineno - 1]
    for answer in asks.value.args[2:]:  # an opening has none
        if not isinstance(answer, ast.Name | ast.Constant):
            lines.append(ast.get_source_segment(source, answer))
    return "\n".join(lines).strip()


def fold_behind(cell, words):
    """Fold a cell of code away behind these words."""
    cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-cell"]
    cell.metadata["mystnb"] = {"code_prompt_show": words, "code_prompt_hide": words.replace("Show", "Hide", 1)}


def wide_tags(cell):
    """Tags of a cell of code for site.css: whether it is wider than words are, and whether what it says is a text."""
    if cell.cell_type != "code":
        return []
    printed = [line for output in cell.outputs for line in output.get("text", "").splitlines()]
    is_wide = any(len(line) > ROOM for line in cell.source.splitlines())
    return [*["wide"] * is_wide, *["story"] * any(len(line) > 2 * ROOM for line in printed)]


def question_first(cells):
    """Cells in the order of the page: what only makes the first question ready comes behind it, in one fold."""
    first = next((i for i, cell in enumerate(cells) if is_answered(cell)), 0)
    before, question, after = cells[:first], cells[first : first + 1], cells[first + 1 :]
    silent = [cell for cell in before if cell.cell_type == "code" and not cell.outputs]
    if not silent:
        return cells
    for cell in before:
        if cell.cell_type == "code":
            cell.metadata["tags"] = ["hide-input", *wide_tags(cell)]
    ready = silent[0]
    ready.source = "\n\n".join(cell.source for cell in silent)
    ready.metadata["tags"] = ["hide-cell", SET_UP, *wide_tags(ready)]
    return [cell for cell in before if cell not in silent] + question + [ready] + after


def is_answered(cell):
    """Whether a cell of the page is a question or a board."""
    shown = "".join(output.get("data", {}).get("text/html", "") for output in cell.get("outputs", []))
    return '<form class="guess carded"' in shown or "saved-board" in shown


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


def guess_form(id, question, answer="", example=""):
    """A line to type into, or a button for each of few words, and the answer that waits for it.

    Without an answer it may be tried for ever.
    """
    again = not answer
    name = f"Your {'answer' if again else 'guess'}"
    give_up = "" if again else ' <button type="button" class="show">Show me</button>'
    how = f"{example[0].upper()}{example[1:]}." if example else question["asks"]
    if question["options"] and question["size"] == 1:
        words = "".join(
            f'<button type="button" class="word">{html.escape(word)}</button>' for word in question["options"]
        )
        entry, how = f'<span class="words" role="group" aria-label="{name}">{words}</span>', ""
    elif question["options"]:
        entry = "".join(choice(row, question["options"]) for row in question["rows"]) + " <button>Check</button>"
        how = ""
    else:
        entry = (
            f'<label>{name} <input inputmode="{keyboard(question)}" enterkeyhint="done"'
            ' autocomplete="off" autocapitalize="off" spellcheck="false"></label>'
            " <button>Check</button>"
        )
    return (
        f'<form class="guess carded" id="guess-{id}" data-question="{html.escape(json.dumps(question))}"'
        f' data-again="{str(again).lower()}">{entry}{give_up}'
        f'<p class="how">{html.escape(how)}</p><p class="verdict" role="status"></p>'
        f'<div class="answer" hidden>{answer}</div></form>'
    )


def choice(row, options):
    """A choice of one of these words for a row, as questions/form.js has it."""
    words = "".join(f"<option>{html.escape(word)}</option>" for word in options)
    return f'<label class="choice">{html.escape(row)}<select><option value="">…</option>{words}</select></label>'


def keyboard(question):
    """Which keys a phone shows: those of one number; with letters for words, signs and lists, which those lack."""
    leaves = question["leaves"]
    is_number = question["size"] == 1 and isinstance(leaves[0], (int, float)) and leaves[0] >= 0
    return "decimal" if is_number else "text"


def example_in(source):
    """What the comment behind `guess = ...` says of its form."""
    example = re.match(r"guess = \.\.\.  # (.+)", source)
    return example[1] if example else ""


def hints(exercise):
    count = len(exercise.hints)
    folds = "".join(folded(f"Hint {i} of {count}", marked(text)) for i, text in enumerate(exercise.hints, 1))
    return f'<div class="hints" data-exercise="{exercise.id}">{framed(folds)}</div>'


def drawn(drawing):
    """A drawing of the notebook's in the page's own colours, and the same for a phone held upright."""
    narrow = f'<div class="narrow">{drawing.narrow.svg()}</div>' if drawing.narrow else ""
    return f'<style>{drawings.FACES}</style><div class="drawn"><div class="wide">{drawing.svg()}</div>{narrow}</div>'


def is_set_up(cell):
    """Whether a cell only brings in what the others need, and shows nothing."""
    lines = cell.source.splitlines()
    return not cell.outputs and any(line.startswith(("import ", "from ")) for line in lines)


def as_html(text):
    return nbformat.v4.new_output("display_data", {"text/html": text})
