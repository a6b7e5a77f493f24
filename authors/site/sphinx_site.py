"""The series as a web site that needs no server, no network and no kernel: `python course.py site`."""

import html
import json
import os
import re
import shutil
import sys
import tomllib
import zipfile
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote

import nbformat
from sphinx.cmd.build import build_main

from workbench.board.lessons import by_hand_board
from workbench.copies import folds, lesson_of, read
from workbench.display.show import folded, framed, marked
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.numbers import Numbers
from workbench.exercises.engine.sections import section_in_words
from workbench.questions import Question

from ..deck import live
from ..lessons import lessons
from . import boards_in_pages

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = HERE / "source"
BUILD = ROOT / "build"
OTHERS = ("notebooks/INSTRUCTORS.md", "deploy/README.md")
COURSE = (  # what the zip holds: the course as it is
    *("README.md", "CONTRIBUTING.md", "course.py", "commands.py", "setting_up.py", "conftest.py"),
    *("pyproject.toml", "requirements.txt", "environment.yml", "jupyterlab.json"),
    *(
        "attn_lib",
        "workbench",
        "authors",
        "deploy",
        "img",
        "notebooks",
        "tests",
        "benchmarks",
        "binder",
        ".devcontainer",
    ),
)
ZIP = "attention.zip"
ON_COLAB = """\
!pip install -q --no-deps git+{address}.git anywidget psygnal
%env ATTENTION_COPY=1
from google.colab import output
output.enable_custom_widget_manager()"""


def lay_out(source):
    """Put together in one folder what Sphinx reads: lessons with living boards, pictures, scripts and a first page."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "notebooks").mkdir(parents=True)
    shutil.copytree(SOURCE, source, dirs_exist_ok=True)
    shutil.copytree(ROOT / "img", source / "img")
    static = source / "_static"
    shutil.copy(ROOT / "img" / "board.png", static)
    shutil.copytree(ROOT / "img" / "upright", static / "upright")
    (static / "boards.js").write_text(boards_in_pages.script(), encoding="utf-8")
    (static / "predict.js").write_text(boards_in_pages.guess_script(), encoding="utf-8")
    style = boards_in_pages.STYLE + (static / "site.css").read_text(encoding="utf-8")
    (static / "site.css").write_text(style, encoding="utf-8")
    pages = [Page(lesson) for lesson in lessons()]
    for one in pages:
        nbformat.write(one.page(), source / "notebooks" / one.lesson.path.name)
    others = [name for name in OTHERS if (ROOT / name).is_file()]
    for name in others:
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(without_dead_links(name, [*others, "notebooks/"]), encoding="utf-8")
    (source / "index.md").write_text(index(pages, others), encoding="utf-8")
    about = {f"notebooks/{one.name}": f"{one.question} Afterwards you can {one.promise}." for one in lessons()}
    (source / "about.json").write_text(json.dumps(about), encoding="utf-8")


def without_dead_links(name, shown):
    """A Markdown file of this repository in which links to files that the site does not show are only words."""

    def link(found):
        words, target = found.groups()
        place = os.path.normpath(os.path.join(os.path.dirname(name), target)).replace(os.sep, "/")
        return found[0] if target.startswith("https://") or place.startswith(tuple(shown)) else words

    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, (ROOT / name).read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------------------------ lessons


class Page:
    """A lesson as a page: boards that live, guesses that are answered, and what follows them folded until then."""

    def __init__(self, lesson):
        self.lesson, self.notebook = lesson, nbformat.read(lesson.path, as_version=4)
        self.found = live.run_here(self.notebook)
        self.buttons = boards_in_pages.buttons(self.notebook, self.found)
        self.guesses = sum(bool(shown.question) for shown in self.found.values())

    def page(self):
        notebook = self.notebook.copy()
        both = zip(notebook.cells, folds(notebook.cells), strict=True)
        notebook.cells = [self.on_page(cell, fold) for cell, fold in both]
        first = notebook.cells[0]
        heading, _, rest = first.source.partition("\n")
        first.source = f"{heading}\n\n{ways_in(self.lesson.name)}\n\n{rest}"
        return notebook

    def on_page(self, cell, fold):
        """A cell as the page has it; fold is what stands on its fold if it answers a question."""
        cell = cell.copy()
        cell.metadata = dict(cell.metadata)
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            cell.source = boards_in_pages.with_buttons(cell.source, self.buttons)
            if drawing := cell.metadata.get("beside"):  # stays in sight beside the text
                cell.source += f"\n\n{(SOURCE / drawing).read_text(encoding='utf-8')}"
            if fold:
                cell.source = f'<details class="after-guess">\n<summary>{fold}</summary>\n\n{cell.source}\n\n</details>'
            return cell
        shown = self.found.get(cell.id) or live.Shown()
        if shown.question:
            cell.outputs = [as_html(guess_form(cell.id, shown.question, shown.html, example=example_in(cell.source)))]
        elif "saved-board" in shown.html:
            cell.outputs = [as_html(f'<div data-id="{cell.id}">{shown.html}</div>')]
        elif instead := self.instead_of_running(cell):
            cell.outputs = [as_html(instead)]
            cell.metadata["tags"] = [*tags, "remove-input"]
        elif is_set_up(cell) or {"filled", "answer"} & set(tags):
            cell.metadata["tags"] = [*tags, "hide-cell"]
        if "outputs" in cell:  # a progress bar has been saved as it began, at 0 %
            cell.outputs = [output for output in cell.outputs if boards_in_pages.VIEW not in output.get("data", {})]
        for output in cell.get("outputs", []):
            alt = output.get("metadata", {}).get("image/png", {}).get("alt")
            if alt:
                cell.metadata["mystnb"] = {"image": {"alt": alt}}
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
    """A line to type into, and the answer that waits for it; without one it may be tried for ever."""
    again = not answer
    give_up = "" if again else ' <button type="button" class="show">Show me</button>'
    return (
        f'<form class="guess" id="guess-{id}" data-question="{html.escape(json.dumps(question))}"'
        f' data-again="{str(again).lower()}"><label><code>{"answer" if again else "guess"} =</code> <input'
        f' autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="{html.escape(example)}"></label>'
        f' <button>{"Check" if again else "Run"}</button>{give_up}<p class="verdict" role="status"></p>'
        f'<div class="answer" hidden>{answer}</div></form>'
    )


def example_in(source):
    """What the comment behind `guess = ...` says of its form."""
    found = re.match(r"guess = \.\.\.  # (.+)", source)
    return found[1] if found else ""


def hints(exercise):
    count = len(exercise.hints)
    return framed("".join(folded(f"Hint {i} of {count}", marked(text)) for i, text in enumerate(exercise.hints, 1)))


def is_set_up(cell):
    """Whether a cell only brings in what the others need, and shows nothing."""
    lines = cell.source.splitlines()
    return not cell.outputs and any(line.startswith(("import ", "from ")) for line in lines)


def as_html(text):
    return nbformat.v4.new_output("display_data", {"text/html": text})


# ------------------------------------------------------------------------------------------------ ways to run it


def addresses():
    """The settings of pyproject.toml: where the course's repository and this site stand; empty where not set."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["course"]
    return settings["repository"].removesuffix(".git").rstrip("/"), settings["site"].rstrip("/")


def colab(name):
    """Where Colab opens a lesson, with its set-up cell inside: from this site, which GitHub keeps in gh-pages."""
    repository, _ = addresses()
    place = repository.partition("github.com/")[2]
    return f"https://colab.research.google.com/github/{place}/blob/gh-pages/run/colab/{name}.ipynb" if place else ""


def binder(name):
    repository, _ = addresses()
    github = repository.startswith("https://github.com/")
    place = f"gh/{repository.removeprefix('https://github.com/')}" if github else f"git/{quote(repository, safe='')}"
    return f"https://mybinder.org/v2/{place}/main?urlpath=lab/tree/my/{name}.ipynb" if repository else ""


def notebook_of(name):
    """Where one button leads: the lesson as a notebook that runs, or how to get one."""
    return colab(name) or "#run-it"


def ways_in(name):
    """How to run a lesson: the zip with its three lines, and the places that need nothing installed."""
    up = "../" if name else ""
    number = name[:2] if name else "01"
    opened = [(colab(name or "01_by_hand"), "Colab"), (binder(name or "01_by_hand"), "Binder")]
    links = " or ".join(f'<a href="{href}">{where}</a>' for href, where in opened if href)
    elsewhere = f"<p>Without installing anything: open it in {links}.</p>" if links else ""
    return (
        f'<details class="run-it" id="run-it"><summary>Run this {"lesson" if name else "course"}</summary>'
        f'<p>Download <a href="{up}run/{ZIP}" download>{ZIP}</a>. With Python 3.11 or newer, these lines open '
        f"{'it' if name else 'the first lesson'} as a notebook that asks for your guesses and checks your code. On "
        "macOS, Debian and Ubuntu write <code>python3</code>:</p>"
        f"<pre>python -m zipfile -e {ZIP} .\ncd attention\npython course.py lab {number}</pre>"
        f"{elsewhere}</details>"
    )


def pack(target):
    """Write the course as a zip; the same files give the same bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for name in COURSE for path in [ROOT / name, *(ROOT / name).rglob("*")]):
            if path.is_file() and not {"__pycache__", ".ipynb_checkpoints", "node_modules"} & set(path.parts):
                entry = zipfile.ZipInfo(f"attention/{path.relative_to(ROOT).as_posix()}")
                mode = 0o755 if os.access(path, os.X_OK) else 0o644
                entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())


def write_for_colab(folder):
    """Learners' copies of the lessons whose first cell sets Colab up; none without the repository's address."""
    repository, _ = addresses()
    for lesson in lessons() if repository else []:
        folder.mkdir(parents=True, exist_ok=True)
        copy = lesson_of(read(lesson.path))
        set_up = nbformat.v4.new_code_cell(ON_COLAB.format(address=repository), id="set-up-colab")
        copy["cells"].insert(0, set_up)
        (folder / lesson.path.name).write_text(json.dumps(copy, ensure_ascii=False, indent=1), encoding="utf-8")


# -------------------------------------------------------------------------------------------------- the whole site


def index(pages, others):
    """The first page: a board, the ways in, and each lesson with its question."""
    listed = [
        f'<li><a href="notebooks/{lesson.name}.html"><b>{lesson.number} {lesson.title}</b></a> '
        f"{marked(lesson.question)}<small>{lesson.minutes} minutes {page.so_far()}</small></li>"
        for page in pages
        for lesson in [page.lesson]
    ]
    fill = {
        "board": boards_in_pages.embed(by_hand_board()),
        "ways": ways_in(""),
        "lessons": "\n".join(listed),
        "pages": "\n".join(f"notebooks/{page.lesson.name}" for page in pages),
        "others": "\n".join(name[:-3] for name in others),
    }
    first = (SOURCE / "index.md").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: fill[found[1]], first)


MENDED = (  # what the theme leaves out, and a reader of screens needs
    ('<aside class="sidebar-drawer"', '<aside class="sidebar-drawer" aria-label="All lessons"'),
    ('<aside class="toc-drawer', '<aside aria-label="This page" class="toc-drawer'),
    ('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'),
    ('<div id="search-results"></div>', '<h1>Search</h1><div id="search-results"></div>'),
)


def mend(target):
    for path in target.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for old, new in MENDED:
            text = text.replace(old, new)
        text = re.sub(r'<a [^>]*class="back-to-top.*?</a>', "", text, flags=re.S)  # it would lie on boards
        text = re.sub(r'<img ([^>]*)src="(\.\./_images/[^"]+)"([^>]*)>', partial(sized, path.parent), text)
        path.write_text(text, encoding="utf-8", newline="\n")


def sized(folder, found):
    """A picture that is fetched when it comes near, and whose place is kept until then; upright on a phone."""
    before, source, after = found.groups()
    drawn = f'<img {before}loading="lazy" {size(folder / unquote(source))} src="{source}"{after}>'
    upright = f"../_static/upright/{source.rpartition('/')[2]}"
    if not (folder / upright).is_file():
        return drawn
    source = f'<source media="{boards_in_pages.UPRIGHT}" srcset="{upright}" {size(folder / upright)}>'
    return f"<picture>{source}{drawn}</picture>"


def size(path):
    """A picture's width and height in pixels as attributes."""
    width, height = boards_in_pages.size_of(path)
    return f'width="{width}" height="{height}"'


def build(folder, options=()):
    """Write the site into folder/site; returns Sphinx's exit code, which a warning makes 1."""
    source, target = folder / "site-source", folder / "site"
    lay_out(source)
    shutil.rmtree(target, ignore_errors=True)
    code = build_main(["-q", "-W", "--keep-going", "-d", str(source / ".doctrees"), *options, str(source), str(target)])
    mend(target)
    pack(target / "run" / ZIP)
    write_for_colab(target / "run" / "colab")
    return code


def main(options):
    code = build(BUILD, options)
    print((BUILD / "site/index.html").as_uri() if code == 0 else "The site has faults, see above.", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
