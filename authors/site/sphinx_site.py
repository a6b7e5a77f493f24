"""The series as a web site that needs no server, no network and no kernel: `python course.py site`."""

import html
import json
import os
import re
import shutil
import sys
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import nbformat
from sphinx.cmd.build import build_main

from workbench.board.lessons import sentence_figure
from workbench.display.colours import tokens, written_out

from ..addresses import addresses
from ..lessons import lessons
from ..pages import boards_in_pages, faces, needs, packages
from ..pages.ways_to_run import ZIP, pack, ways_in, write_for_colab
from . import cards, library, offline, record
from .lesson_page import STANDING, LessonPage

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = HERE / "source"
BUILD = ROOT / "build"
OTHERS = ("notebooks/INSTRUCTORS.md", "classroom/hub/README.md")


def lay_out(source):
    """Put together in one folder what Sphinx reads: lessons with living boards, pictures, scripts and a first page."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "notebooks").mkdir(parents=True)
    shutil.copytree(SOURCE, source, dirs_exist_ok=True)
    shutil.copytree(ROOT / "img", source / "img")
    static = source / "_static"
    shutil.copy(ROOT / "img" / "door.png", static)
    shutil.copytree(ROOT / "img" / "upright", static / "upright")
    (static / "boards.js").write_text(boards_in_pages.script(), encoding="utf-8")
    (static / "predict.js").write_text(boards_in_pages.guess_script(), encoding="utf-8")
    (static / "door.js").write_text(boards_in_pages.door_script(), encoding="utf-8")
    (static / "site.js").write_text(needs.script(SOURCE / "_static" / "site.js"), encoding="utf-8")
    if packages.are_there():
        (static / "lines.js").write_text(boards_in_pages.lines_script(), encoding="utf-8")
    minify(*(static / name for name in ("boards.js", "predict.js", "door.js", "site.js")))
    files = (
        *(HERE.parent / "code.css", static / "site.css", HERE.parent / "pages" / "own_line.css"),
        *(static / "cards.css", static / "record.css"),
    )
    own = [file.read_text(encoding="utf-8") for file in files]
    by_choice = written_out(':root[data-shade="dark"]', by_system=':root:not([data-shade="light"])')
    style = "".join([faces.copied(static), in_rem(tokens()), by_choice, boards_in_pages.STYLE, *map(in_rem, own)])
    (static / "site.css").write_text(needs.style(style) if packages.are_there() else style, encoding="utf-8")
    minify(static / "site.css")
    (static / "plots").mkdir()
    pages = [LessonPage(lesson) for lesson in lessons()]
    asked = {}
    for one in pages:
        if packages.are_there() and one.lines.lines:
            (static / "lines").mkdir(exist_ok=True)
            (static / "lines" / f"{one.lesson.name}.js").write_text(one.lines.script(), encoding="utf-8", newline="\n")
        for name, page in one.pages():
            nbformat.write(page, source / "notebooks" / f"{name}.ipynb")
            asked |= record.questions(one, name, page)
        for name, svg in one.plots.items():
            (static / "plots" / name).write_text(svg, encoding="utf-8", newline="\n")
    record.write(asked, static / "record.js")
    minify(static / "record.js")
    for name, text in library.pages():
        (source / name).parent.mkdir(exist_ok=True)
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    others = [name for name in OTHERS if (ROOT / name).is_file()]
    for name in others:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(without_dead_links(name, [*others, "notebooks/"]), encoding="utf-8")
    (source / "index.md").write_text(
        index(pages, others, (static / "door.js").read_text(encoding="utf-8")), encoding="utf-8"
    )
    (static / "door.js").unlink()  # it stands in the page
    (source / "manifest.webmanifest").write_text(offline.manifest(), encoding="utf-8")
    about = {f"notebooks/{one.name}": f"{one.question} Afterwards you can {one.promise}." for one in lessons()}
    (looking_back,) = [one.looks_back() for one in pages if one.standing]
    about[f"notebooks/{STANDING}"] = f"{looking_back}: each mistake says which to open again."
    (source / "about.json").write_text(json.dumps(about), encoding="utf-8")


FONT = re.compile(r"(?:font|font-size|--(?:least|number|body|lede|h1|h2)): [^;{}]*")


def in_rem(style):
    """A style sheet whose letters, given in px, follow the size of text that a reader has chosen in the browser."""
    sized = partial(re.sub, r"(\d+(?:\.\d+)?)px", lambda match: f"{float(match[1]) / 16:g}rem")
    return FONT.sub(lambda match: sized(match[0]), style)


def minify(*files):
    """Write scripts or a style sheet smaller, where npm's packages are there for it; names that pages share stay."""
    if packages.are_there():
        packages.run(
            "esbuild", *files, f"--outdir={files[0].parent}", *MINIFIED, f"--target={needs.TARGET}", check=True
        )


MINIFIED = ["--minify", "--keep-names", "--allow-overwrite", "--charset=utf8", "--log-level=warning"]


def without_dead_links(name, shown):
    """A Markdown file of this repository in which links to files that the site does not show are only words."""

    def link(match):
        words, target = match.groups()
        place = os.path.normpath(os.path.join(os.path.dirname(name), target)).replace(os.sep, "/")
        return match[0] if target.startswith("https://") or place.startswith(tuple(shown)) else words

    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, (ROOT / name).read_text(encoding="utf-8"))


def index(pages, others, script):
    """The first page: the door and the script that draws it there, every number of it, the ways in, and the cards."""
    door = sentence_figure(link=("Lesson 1", f"notebooks/{pages[0].lesson.name}.html"))
    fill = {
        "what": what_it_is(),
        "strip": cards.strip(pages),
        "still": cards.still(),
        "door": f"{boards_in_pages.embed(door, 'door')}\n\n<script>{script}</script>",
        "ways": ways_in(),
        "cards": cards.cards(pages),
        "pages": "\n".join(f"notebooks/{name}" for name in [*(page.lesson.name for page in pages), STANDING]),
        "others": "\n".join([f"{library.FOLDER}/index", *(name[:-3] for name in others)]),
    }
    first = (SOURCE / "index.md").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fill.get(match[1], match[0]), first)


def what_it_is():
    """What attention is, in README's first sentence; for whom the course is, what it costs, where its source stands."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.match(r"# .+\n\n(.+?\.) ", readme)[1]
    source = addresses()[0] or f"run/{ZIP}"
    return (
        f'<p class="what">{first} Learn it here: free, <a href="{source}">with sources</a>, '
        "for whoever multiplies matrices and reads a little Python.</p>"
    )


TABLE = re.compile(r'<table class="[^"]*docutils.*?</table>', re.S)
STYLE_SHEET = re.compile(r'<link rel="stylesheet"[^>]*href="([^"]*)site\.css[^>]*>')
CODE = re.compile(r'(<div class="highlight-(?:ipython3|python)[^"]*"><div class="highlight"><pre>)(.*?)(</pre>)', re.S)
PRINTED = re.compile(r'(<div class="output[^"]*"><div class="highlight"><pre>)(.*?)(</pre>)', re.S)
NUMBERED = re.compile(r'(<pre>)((?:<span style="opacity[^"]*">[ \d]+</span>[^\n]*?(?:\n|(?=</pre>)))+)(</pre>)')
NUMBERS = 4  # signs that the number of a line takes
NUMBER = re.compile(r"<span[^>]*>[ \d]+</span>")
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")
WHOLE = re.compile(r"tensor\([^()\n]*\)|\[[^\[\]\n]*\]|[\d.]+e-\d+")  # what is broken last where a printed line is
BEGINS = re.compile(r"^ *(?:[\[(]|dtype=)|tensor\(")
FITS, WRAPS = 46, 72  # signs: what still fits with smaller letters, and what is read when each row takes two lines
TABLE_CELL = re.compile(r"<t[dh][^>]*>.*?</t[dh]>", re.S)
NAME = re.compile(r'(?<=<span class="pre">)[^<]+')
IN_SUMMARY = re.compile(r'(<summary><h\d>(?:(?!</summary>).)*?)<a class="headerlink"[^>]*></a>', re.S)
COMMENT = re.compile(r'<span class="c1">(.*?)</span>$')
WITH_ITS_STOP = re.compile(
    r"(?:\(?<math(?:(?!</math>).)*</math>|<button type=\"button\" class=\"try\"[^>]*>[^<]*</button>)[,.;:?!)’”]+", re.S
)
LONG_NAME = re.compile(r"(?<=<h[23]>)[^<]*[a-z]_[^<]*")
PICTURE = re.compile(r'<img ([^>]*)src="(\.\./_images/[^"]+)"([^>]*)>')


def mend(target):
    """Give tables room of their own to scroll in, pictures their size and form for phones, pages their style."""
    for path in target.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        text = text.replace(' aria-label="Toggle hidden content"', "")  # its words say what is under it
        text = IN_SUMMARY.sub(r"\1", text)  # there a press opens the fold
        text = TABLE.sub(in_a_frame, text)
        text = CODE.sub(in_rows, text)
        text = NUMBERED.sub(numbered_in_rows, text)
        text = PRINTED.sub(printed_in_rows, text)
        text = LONG_NAME.sub(lambda words: re.sub(r"(?<=\w\w)[._](?=\w)", r"\g<0><wbr>", words[0]), text)
        text = WITH_ITS_STOP.sub(r"<span class=unbroken>\g<0></span>", text)  # no line begins with a comma
        text = PICTURE.sub(partial(sized, path.parent), text)
        text = STYLE_SHEET.sub(partial(inlined, target), text)
        path.write_text(text, encoding="utf-8", newline="\n")


def in_rows(match):
    """Code of which a narrow screen wraps each line with room before it, and shows each comment below its line.

    A long line breaks behind a bracket rather than within a name.
    """
    before, code, after = match.groups()
    lines = code.removeprefix("<span></span>").removesuffix("\n").split("\n")
    return f"{before}{''.join(map(row, lines))}{after}"


def numbered_in_rows(match):
    """A patient's source, wrapped as code is; each line has its number before it."""
    before, code, after = match.groups()
    return f"{before}{''.join(map(numbered_row, code.removesuffix(chr(10)).split(chr(10))))}{after}"


def numbered_row(line):
    number = NUMBER.match(line)[0]
    code = line.removeprefix(number)
    begins = NUMBERS + len(code) - len(code.lstrip(" "))
    return f'<span class="row" style="--begins: {begins}">{number}{opened(code)}\n</span>'


def printed_in_rows(match):
    """What was printed, for a narrow screen: words, and code, wrapped; what stands in columns, in letters that fit.

    A table that is too wide for that stays as it is, and is moved in its frame.
    """
    before, printed, after = match.groups()
    lines = printed.removeprefix("<span></span>").removesuffix("\n").split("\n")
    if lines[0].startswith(("def ", "class ")):
        return f"{before}{''.join(map(row, lines))}{after}"
    lines = "\n".join(map(with_type_below, lines)).split("\n")
    longest = max(len(html.unescape(line)) for line in lines)
    has_columns = is_table(lines) or (len(lines) > 1 and all(map(BEGINS.search, filter(None, lines))))
    if has_columns and longest <= FITS:
        style = f'<pre class="fits" style="--signs: {longest}">'
        return before.replace("<pre>", style) + "\n".join(lines) + f"\n{after}"
    if has_columns and longest > WRAPS:
        return match[0]
    return f"{before}{''.join(map(printed_row, lines))}{after}"


def with_type_below(line):
    """A long line that ends with a tensor's type has it on a line of its own, as torch writes a longer one."""
    numbers, comma, kind = line.rpartition(", dtype=")
    if not comma or len(line) <= FITS:
        return line
    begins = line.rfind("tensor(") + len("tensor(")
    return f"{numbers},\n{' ' * max(begins, len('tensor('))}{comma[2:]}{kind}"


def is_table(lines):
    """Whether columns stand below each other: room of two spaces or more that ends at one place in two lines."""
    places = [match.end() for line in lines for match in GAP.finditer(line)]
    return len(set(places)) < len(places)


def printed_row(line):
    """A printed line that may be wrapped, but not within what stands in brackets if that fits on a line."""
    begins = len(line) - len(line.lstrip(" "))
    unbroken = WHOLE.sub(lambda one: one[0] if len(one[0]) > 33 else f"<span class=unbroken>{one[0]}</span>", line)
    return f'<span class="row" style="--begins: {begins}">{unbroken}\n</span>'


def in_a_frame(table):
    """A table that scrolls in room of its own."""
    return f'<div class="table-wrapper">{TABLE_CELL.sub(with_breaks, table[0])}</div>'


def with_breaks(cell):
    """A cell of a table whose names of functions may be broken behind a full stop or a _, and nowhere else."""
    return NAME.sub(lambda name: re.sub(r"(?<=\w\w\w)[._](?=\w)", r"\g<0><wbr>", name[0]), cell[0])


def opened(code):
    """Code that may be broken behind a bracket."""
    return re.sub(r"\((?!\))", "(<wbr>", code)


def row(line):
    """One line of code, and where it begins; the end of a line belongs to its comment, which may be a line itself."""
    begins = len(line) - len(line.lstrip(" "))
    line = opened(line)
    comment = COMMENT.search(line)
    alone = comment and not line[: comment.start()].strip()
    if alone:
        line = f'<span class="c1">{line[:begins]}{comment[1]}\n</span>'
    elif comment:
        line = f'{line[: comment.start()]}<span class="c1">{comment[1]}\n</span>'
    style = f' style="--begins: {begins}"' if begins else ""
    return f'<span class="row"{style}>{line if comment else f"{line}{chr(10)}"}</span>'


def inlined(target, match):
    """The style sheet as part of the page: nothing is painted before it has come, and faces come at the same time."""
    style = (target / "_static" / "site.css").read_text(encoding="utf-8")
    placed = re.sub(r"(?<=src:url\()|(?<=src: url\()", match[1], style)
    return f"<style>{placed}</style>"


def sized(folder, match):
    """A picture that is fetched when it comes near, and whose place is kept until then; upright on a phone."""
    before, source, after = match.groups()
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
    offline.write(target)
    return code


def main(options):
    code = build(BUILD, options)
    print((BUILD / "site/index.html").as_uri() if code == 0 else "The site has faults, see above.", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
