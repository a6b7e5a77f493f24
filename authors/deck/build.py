"""A notebook as one HTML page of slides: `python course.py slides` writes it as a file, `present` serves it live.

A slide shows a question, a picture or else its board or plot, and at its last step what is claimed, the sentence of its
cells that is marked with an id; its prose is what the speaker says, its code comes by a key. What it asks and draws
stands in slides/, a file for each lesson.
"""

import ast
import base64
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

import jinja2
import nbformat
from nbconvert import HTMLExporter
from pygments import highlight
from pygments.formatters import HtmlFormatter

from workbench.copies import as_written
from workbench.display import colours, drawings

from ..lessons import NOTEBOOKS, ROOT
from ..pages import boards_in_pages, faces, needs, outputs, packages
from ..pages.markdown import inline, to_html
from ..pages.own_lines import OwnLines, line_form
from .pictures import Pictures
from .plans import PLANS, for_the_deck, planned
from .slides import Slide, SlideError, slides_of, with_cells

HERE = Path(__file__).parent
BUILD = ROOT / "build" / "slides"
REVEAL = packages.PACKAGES / "reveal.js"
BUTTON = 7  # characters that Run takes from the first line of a cell, where the deck is live
WIDE = 80  # characters; a printed table with longer lines is set smaller, so that none breaks
LINE, FILLED, COMMENT = 1.5, 1.3, 1.2  # how much larger than other code the hall's line is, and the course's own
CLAIM = re.compile(r'<span id="[\w-]+">(.+?)</span>', re.S)
TICK = re.compile(r"(assert)(?:[^\n]*atol=(1e-\d+))?")
SENTENCE = re.compile(r"(?:(?<=[.?!])|(?<=[.?!]\)))\s+(?=[A-Z*`$“(\[])")


def page(path, server=None, slides=None, earlier=None):
    """A notebook as the text of an HTML page; with `server`, {"baseUrl", "token"}, a page that runs its cells there.

    slides are those of the lesson if none are given; earlier is what the last lecture leaves to be said of its
    questions, id → sentence. Raises: SlideError where they do not fit the notebook.
    """
    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    pairs = with_cells(notebook.cells, slides or slides_of(path.stem))
    pictures = Pictures(pairs)
    lines = None if server else OwnLines()  # where no Python runs, the page compares the hall's lines
    values = outputs.run_here(notebook, after=pictures, lines=lines)
    plans = for_the_deck(planned(notebook.cells, pairs))
    columns = columns_of(pairs, plans, values, pictures, boards_in_pages.buttons(notebook, values), path.parent)
    for one in [one for column in columns for one in column if one.question]:
        one.earlier = (earlier or {}).get(one.question["id"], "")
    for part in [part for column in columns for one in column for part in one.cells]:
        id = lines and lines.by_cell.get(part["id"])
        part["field"] = line_form(part["cell"], id, lines.lines[id]["name"]) if id and id in lines.lines else ""
    template = jinja2.Environment(autoescape=False).from_string((HERE / "page.html.j2").read_text(encoding="utf-8"))
    return template.render(
        title=re.match(r"# (.+)", notebook.cells[0].source).group(1),
        columns=columns,
        settings=script_data(
            {
                "name": path.stem,
                "reading": boards_in_pages.UPRIGHT,
                "server": server,
                "plans": {name: plan.label for name, plan in PLANS.items()},
                "preamble": outputs.PREAMBLE,
                "lesson": lines and lines.lesson(),
                "sources": {
                    cell.id: without_guess(cell.source)[0] for cell in notebook.cells if cell.cell_type == "code"
                },
                "slides": {one.id: to_come(one) for column in columns for one in column},
                "questions": {
                    part["id"]: {**(part["question"] or {}), "answer": part["outputs"], "compares": part["compares"]}
                    for column in columns
                    for one in column
                    for part in one.cells
                    if part["compares"]
                },
            }
        ),
        styles=[
            read(REVEAL / "dist" / "reveal.css"),
            faces.embedded(),
            colours.tokens(),
            colours.written_out(":root.dark"),
            drawings.FACES,
            needs.style(boards_in_pages.STYLE),
            needs.style(read(HERE.parent / "pages" / "own_line.css")),
            needs.style(read(HERE / "deck.css")),
            needs.style(read(HERE / "phones.css")),
            read(HERE.parent / "code.css"),
        ],
        needs=needs.OLD,
        scripts=[
            read(REVEAL / "dist" / "reveal.js"),
            speaker_view(),
            boards_in_pages.script(),
            kernel_script() if server else boards_in_pages.lines_script(),
            boards_in_pages.guess_script(),
            needs.script(HERE / "deck.js"),
        ],
    )


@cache
def kernel_script():
    """kernel.js and what it takes from others as one classic script, whose exports are `attnKernel`'s."""
    options = "--bundle --minify --format=iife --global-name=attnKernel --define:global=globalThis --legal-comments=eof"
    options = [*options.split(), f"--target={needs.TARGET}", '--define:process.env.NODE_ENV="production"']
    settings = {"stdout": subprocess.PIPE, "encoding": "utf-8", "check": True}
    return packages.run("esbuild", HERE / "kernel.js", *options, **settings).stdout


# ------------------------------------------------------------------------------------------------------- slides


def columns_of(pairs, plans, values, pictures, buttons, folder):
    """Sections, each a list of slides from top to bottom: a heading, cells as HTML, and what the speaker needs."""
    columns = []
    for number, (slide, cells) in enumerate(pairs, 1):
        heading = re.match(r"(#{1,3}) ", cells[0].source) if cells[0].cell_type == "markdown" else None
        if slide.column or (heading and len(heading[1]) < 3):
            columns.append([])
        on_screen = OnScreen(
            slide=slide,
            number=number,
            id=cells[0].id,
            level=len(heading[1]) if heading else 2,
            picture=pictures.wide.get(slide.name),
            narrow=pictures.narrow.get(slide.name),
            plans=plans[number - 1],
        )
        columns[-1].append(on_screen)
        for cell in cells:
            if cell.metadata.get("slideshow", {}).get("slide_type") != "skip":
                add_cell(on_screen, cell, values.get(cell.id), folder)
        if on_screen.plot and on_screen.claim:
            for part in on_screen.cells:
                cover_plot(on_screen, part, values.get(part["id"]))
        own_values = [values[cell.id] for cell in cells if cell.id in values]
        on_screen.on_board = state_for_claim(on_screen, pictures, own_values)
        own = [f'data-board="{part["id"]}"' for part in on_screen.cells]
        on_screen.tries = [one for one in buttons.values() if any(id in one for id in own)]
        choices, on_screen.right = slide.choices_for(on_screen.question)
        if slide.choices and not choices:
            raise slide.error(f"its first question is not {slide.choices}, from whose choices the hall is to choose.")
        on_screen.choices = [(escape(one), lowered(escape(one))) for one in choices]
    return columns


@dataclass
class OnScreen:
    """A slide and what is shown of its cells."""

    slide: Slide
    number: int
    id: str  # of its first cell
    level: int  # of its heading
    picture: drawings.Drawing | None
    narrow: drawings.Drawing | None  # for a phone held upright
    plans: dict  # plan → when it comes, how long it takes and whether next passes it
    cells: list = field(default_factory=list)
    prose: list = field(default_factory=list)  # its sentences, which the speaker says in other words
    whole: list = field(default_factory=list)  # of its cells, for paper
    ticks: list = field(default_factory=list)  # what its code has checked
    plots: dict = field(default_factory=dict)  # of its cells, which come with the claim, by the cells' ids
    tries: list = field(default_factory=list)  # buttons that set its board
    on_board: dict | None = None  # the state of its board that its claim speaks of
    choices: list = field(default_factory=list)  # what the hall chooses from, and how it looks
    right: int | None = None  # the place of the right one
    claim: str = ""
    earlier: str = ""  # how its question was answered in the lecture before
    longest: float = 0  # characters in a line of code, which larger type is not to break

    @property
    def question(self):
        """Its first question, as `predict` hands it to a page, or None."""
        return next((part["question"] for part in self.cells if part["question"]), None)

    @property
    def ask(self):
        return lowered(inline(self.slide.asks))

    @property
    def waits(self):
        return any(part["question"] or part["blank"] for part in self.cells)

    @property
    def shows_code(self):
        return any(part["open"] for part in self.cells)

    @property
    def has_code(self):
        return any(not part["unseen"] for part in self.cells)

    @property
    def board(self):
        return any("saved-board" in part["outputs"] for part in self.cells)

    @property
    def plot(self):
        return not self.picture and any(part["drawn"] for part in self.cells)

    @property
    def steps(self):
        return max(len(self.picture.steps) if self.picture else 1, 2 if self.claim else 1)

    @property
    def tick(self):
        tolerance = next((to for _, to in self.ticks if to), "")
        return f"agrees to {tolerance}" if tolerance else "checked" if self.ticks else ""


def cover_plot(on_screen, part, value):
    """What a plot shows comes with the claim; until then its axes stand there."""
    if value and value.figure:
        on_screen.plots[part["id"]] = part["outputs"]
        part["outputs"] = outputs.axes_alone(value.figure)


def state_for_claim(on_screen, pictures, values):
    """What a slide's board shows with its claim, or None where no board is seen. Raises: SlideError where it cannot."""
    slide, board = on_screen.slide, next((value.board for value in values if value.board), None)
    on_board = pictures.boards.get(slide.name)
    if board is None or on_screen.picture:
        if on_board:
            raise slide.error("there is no board that could show its claim.")
        return None
    if bool(on_board) != bool(on_screen.claim):
        why = "has no claim to show" if on_board else "does not show its claim: on_board(…)"
        raise slide.error(f"its board {why}.")
    try:
        return on_board and on_board.state(board)
    except (ValueError, KeyError) as error:
        raise slide.error(f"its board cannot show the claim: {error}") from error


def add_cell(on_screen, cell, value, folder):
    """Put a cell on its slide: its code, or, where it is prose, what the speaker and the paper have of it."""
    if cell.cell_type == "code":
        add_code(on_screen, cell, value)
        return
    source = as_written(cell.source)
    if not on_screen.cells:
        source = re.sub(r"\A#{1,3} .+\n*", "", source)
    on_screen.whole.append(local(to_html(source), folder))
    on_screen.prose += [local(inline(sentence), folder) for sentence in sentences(source)]
    if claim := CLAIM.search(source):
        words = re.sub(r"[:,;.]$", "", claim[1])
        on_screen.claim = inline(words[0].upper() + words[1:] + ".")


def add_code(on_screen, cell, value):
    """What a slide has of a cell of code: it runs, and is read where somebody asks for it."""
    tags = cell.metadata.get("tags", [])
    part = {"id": cell.id, "cell": cell, "question": value.question if value else None}
    part["unseen"] = "unseen" in tags
    part["tags"] = " ".join(tags)
    part["blank"] = "blank" in tags
    part["outputs"] = outputs_of(cell, value)
    part["drawn"] = "<svg" in part["outputs"] or "<img" in part["outputs"] or "saved-board" in part["outputs"]
    source, part["compares"] = without_guess(cell.source)
    part["open"] = part["blank"]
    part["highlighted"] = highlighted(source.replace("...", "________") if part["blank"] else source)
    if not part["unseen"]:
        on_screen.whole.append(f'<div class="highlight">{part["highlighted"]}</div>')
        if not part["drawn"] or (on_screen.picture and "saved-board" not in part["outputs"]):
            on_screen.whole.append(part["outputs"])
        on_screen.ticks += TICK.findall(cell.source)
    size = LINE if part["blank"] else FILLED if "filled" in tags else 1
    lengths = [length(line, size) + (0 if i else BUTTON) for i, line in enumerate(source.splitlines())]
    lengths_printed = [len(line) for output in cell.outputs for line in output.get("text", "").splitlines()]
    part["wide"] = sum(length > WIDE for length in lengths_printed) > 1
    sources = [o.data for o in cell.outputs if "<pre" in o.get("data", {}).get("text/html", "")]
    lengths_in_lists = [1.1 * len(line) for data in sources for line in data.get("text/plain", "").splitlines()]
    is_read = part["blank"] or "filled" in tags
    lengths_read = [*(lengths if is_read else []), *lengths_in_lists, *(lengths_printed if part["wide"] else [])]
    on_screen.longest = max([on_screen.longest, *lengths_read])
    on_screen.cells.append(part)


def lowered(text):
    """W_q with its q below the line, as formulas have it."""
    return re.sub(r"(?<=\b[A-Za-z])_(\w+)", r"<sub>\1</sub>", text)


def to_come(on_screen):
    """What a slide has in store: kept out of the page until its step, as nobody is to see or hear it before."""
    slide, picture, narrow = on_screen.slide, on_screen.picture, on_screen.narrow
    asks = f"<p><strong>Ask:</strong> {escape(slide.hall)}</p>" if slide.hall else ""
    earlier = f"<p>{escape(on_screen.earlier)}</p>" if on_screen.earlier else ""
    notes = f"{asks}{earlier}<p>{escape(slide.say)}</p>"
    prose = " ".join(on_screen.prose)
    return {
        "ask": on_screen.ask,
        "claim": on_screen.claim,
        "pictures": [picture.svg(i) for i in range(len(picture.steps))] if picture else [],
        "narrow": [narrow.svg(i) for i in range(len(narrow.steps))] if narrow else [],
        "right": on_screen.right,
        "board": on_screen.on_board,
        "plots": on_screen.plots,
        "plans": on_screen.plans,
        "notes": notes + (f'<p class="notebook"><em>The notebook goes on:</em> {prose}</p>' if prose else ""),
        "whole": "".join(on_screen.whole),
    }


def length(line, size):
    """A line's length in letters of usual code, where its own are larger and its comment's a little."""
    code, mark, comment = line.replace("...", "________").partition("  #")
    return size * len(code) + (COMMENT if size > 1 else 1) * len(mark + comment)


def without_guess(source):
    """A cell's code without its comparison of a guess or a line, which names the wrong answers; and that comparison."""
    judges = re.compile(r"(predict|blank)\(")
    if not judges.search(source):
        return source, ""
    lines = re.sub(r"^# The course's own:$", "", source, flags=re.M).splitlines()
    judging = [
        node for node in ast.parse(source).body if re.match(r"guess = \.\.\.|predict\(|blank\(", ast.unparse(node))
    ]
    lines_judging = [line for node in judging for line in lines[node.lineno - 1 : node.end_lineno]]
    for node in reversed(judging):
        del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines).strip(), "\n".join(line for line in lines_judging if not line.startswith("guess = "))


def sentences(source):
    """The sentences of a cell's prose: no formulas, pictures, tables, lists, headings, nor what only leads to them."""
    blocks = re.split(r"\n{2,}", source.strip())
    prose = [sentence for block in blocks if is_prose(block) for sentence in SENTENCE.split(block)]
    return [sentence for sentence in prose if not sentence[-1:].isalnum()]


def is_prose(block):
    return not re.match(r"(\$\$|!\[|\||[-*] |\d+\. |<|```|#)", block)


# --------------------------------------------------------------------------------------------------------- cells


def highlighted(source):
    """Code as HTML in colours; each line an element, so that a line that has to be broken shows as one."""
    lines = highlight(source, boards_in_pages.Python(), HtmlFormatter(linespans="line"))
    return re.sub(r'<span id="line-\d+">', '<span class="line">', lines)


def outputs_of(cell, value):
    """The saved outputs of a code cell as HTML: drawings sharp at any size, boards alive, other things as saved."""
    if value:
        return value.on_slide()
    if not cell.outputs:
        return ""
    alone = nbformat.v4.new_code_cell("", outputs=cell.outputs)
    return exporter().from_notebook_node(nbformat.v4.new_notebook(cells=[alone]))[0].strip()


@cache
def exporter():
    return HTMLExporter(
        template_name="basic", exclude_input=True, exclude_input_prompt=True, exclude_output_prompt=True
    )


def local(text, folder):
    """Pictures become part of the page, diagrams with their form for phones; notebooks become their decks."""
    text = re.sub(r'href="(\d\d_\w+)\.ipynb', r'href="\1.html', text)
    return re.sub(
        r'<img src="\.\./img/([^"]+)"([^>]*)>', lambda match: picture(folder.parent / "img", *match.groups()), text
    )


def picture(folder, name, rest):
    """A picture inside the page; one twice as wide as high is marked: words on it stand below it."""
    upright, (width, height) = folder / "upright" / name, boards_in_pages.size_of(folder / name)
    image = f'<img{" class=broad" if width >= 2 * height else ""} src="{data_uri(folder / name)}"{rest}>'
    if not upright.is_file():
        return image
    return f'<picture><source media="{boards_in_pages.UPRIGHT}" srcset="{data_uri(upright)}">{image}</picture>'


def data_uri(path):
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[path.suffix]
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


# As it opens: the slide above the clock and what phones sent, the next one above the notes, which get all the room
# that is left.
SPEAKER = """
body[data-speaker-layout=default] {
  & #current-slide { height: 35vw; border-bottom: 0; }
  & #upcoming-slide { height: calc(23vw + 30px); border-bottom: 30px solid transparent; }
  & #upcoming-slide .label { bottom: -28px; }
  & .speaker-controls-time { position: absolute; left: 0; top: 35vw; width: 60%; box-sizing: border-box; border: 0; }
  & .plan { position: absolute; right: 16px; bottom: 20px; font-size: 16px; cursor: auto; }
  & .plan select { font: inherit; max-width: 22em; }
  & #speaker-controls { position: static; border: 0; }
  & .hall-votes {
    position: absolute; left: 0; top: calc(35vw + 130px); bottom: 0; width: 60%; box-sizing: border-box; overflow: auto;
    align-content: start; background: #fff;
  }
  & .speaker-controls-notes {
    position: absolute; right: 0; top: calc(23vw + 30px); bottom: 44px; width: 40%; box-sizing: border-box;
    overflow-y: scroll; scrollbar-color: #777 #eee;
    background: linear-gradient(#fff 30%, transparent) top / 100% 48px local no-repeat,
      linear-gradient(transparent, #fff 70%) bottom / 100% 48px local no-repeat,
      linear-gradient(#0004, transparent) top / 100% 16px no-repeat,
      linear-gradient(transparent, #0004) bottom / 100% 16px no-repeat;
    & .label { display: none; } & .value { margin: 0; font-size: 19px; line-height: 1.32; } & p { margin: 0 0 0.5em; }
    & .notebook { font-size: 15px; }
  }
}
""".replace("\n", " ")


TICKS = "setInterval( _updateTimer, 1000 );"
READ_AND_TICK = "function () { getTimings( function ( now ) { timings = now; _updateTimer(); } ); }"


def speaker_view():
    """reveal.js' second window; its labels stand where they cover nothing of a slide, and its notes have room."""
    plugin = read(REVEAL / "plugin" / "notes" / "notes.js")
    below = "top: auto !important; left: auto !important; right: 0; bottom: -30px; height: 26px; line-height: 26px;"
    for label, place in (
        ("#upcoming-slide .label {", below),
        ("#speaker-layout {", "top: auto !important; bottom: 4px;"),
        ("#speaker-controls {", "box-sizing: border-box; border-bottom: 44px solid transparent;"),
    ):
        plugin = plugin.replace(label, f"{label} {place}", 1)
    for once, instead in {**KEYS_OF_SPEAKER, **CLOCK_OF_SPEAKER}.items():
        if once not in plugin:
            raise RuntimeError(f"reveal.js' notes have no {once}: the speaker's keys or clock would do something else")
        plugin = plugin.replace(once, instead)
    plugin = plugin.replace(TICKS, TICKS.replace("_updateTimer", READ_AND_TICK), 1)  # the plan may be another by now
    return plugin.replace("</style>", f"{SPEAKER}</style>", 1)


# clock.js says when the lecture began, and hears of a click, which sets the clock.
CLOCK_OF_SPEAKER = {
    "timeEl.addEventListener( 'click', function() {": (
        "timeEl.addEventListener( 'began', event => { start = new Date( event.detail ); _updateTimer(); } ); "
        "timeEl.addEventListener( 'click', function() {"
    ),
    "start = new Date(now.getTime() - previousSlidesTiming);": (
        "start = new Date(now.getTime() - previousSlidesTiming); "
        "timeEl.dispatchEvent( new CustomEvent( 'reset', { detail: start.getTime() } ) );"
    ),
}

# In the speaker's window a key is the hall's, as keys.js hears it; but for those of the browser and of its own fields.
# Its copies move nothing by themselves: late by half a second, they would throw a quick lecturer back.
KEYS_OF_SPEAKER = {
    "currentSlide.contentWindow.postMessage("
    " JSON.stringify({ method: 'triggerKey', args: [ event.keyCode ] }), '*' );": (
        "if( /^F[0-9]/.test( event.key ) || event.target.closest( 'select, input, textarea' ) ) return; "
        "if( event.altKey || ( ( event.ctrlKey || event.metaKey ) && event.key !== 'Enter' ) ) return; "
        "event.preventDefault(); "
        "const { key, shiftKey, ctrlKey, metaKey } = event; "
        "const message = JSON.stringify({ namespace: 'deck-key', key, shiftKey, ctrlKey, metaKey }); "
        "const fills = key === 'f' && self.origin !== 'null'; "
        "window.opener.postMessage( message, fills ? { targetOrigin: self.origin, delegate: 'fullscreen' } : '*' );"
    ),
    "window.opener.postMessage( JSON.stringify({ method: 'setState', args: [ state ]} ), '*' );": "",
    "function setupNotes() {": (  # what was chosen there is left, so that the next key is the lecture's
        "function setupNotes() { document.addEventListener( 'change', event => event.target.blur() );"
    ),
    "pendingCalls[data.callId](data.result)": "pendingCalls[data.callId]?.(data.result)",  # two answer after a reload
}


def script_data(value):
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def read(path):
    return path.read_text(encoding="utf-8")


def main(names):
    BUILD.mkdir(parents=True, exist_ok=True)
    for path in [Path(name) for name in names] or sorted(NOTEBOOKS.glob("*.ipynb")):
        target = BUILD / f"{path.stem}.html"
        try:
            target.write_text(page(path), encoding="utf-8", newline="\n")
        except SlideError as error:
            sys.exit(str(error))
        print(target.as_uri(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
