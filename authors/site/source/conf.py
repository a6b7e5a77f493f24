"""Sphinx settings of the web site; authors/site/sphinx_site.py lays out what they are applied to."""

import html
import json
import re
import tomllib
from pathlib import Path

from docutils.nodes import SkipNode, literal_block, raw, section, title
from sphinx.addnodes import index

from authors.addresses import addresses
from authors.lessons import lessons
from authors.pages import boards_in_pages, faces, needs
from authors.pages.markdown import mathml
from workbench.display.colours import ON_DARK, ON_LIGHT
from workbench.first_way import SECOND_READING

project = "Learn attention by moving its numbers"
html_title = "Learn attention"
ABOUT = json.loads(Path(__file__).with_name("about.json").read_text(encoding="utf-8"))  # page → one sentence
WHAT = "Attention with numbers you can edit: boards that move in the page, notebooks that ask before they tell."
OTHER_WORDS = tomllib.loads(Path(__file__).with_name("other_words.toml").read_text(encoding="utf-8"))
PICTURE = "Three words, I like tea, and arcs from I to each: the thicker the arc, the more of that word it takes."
language = "en"

extensions = ["myst_nb"]
nb_execution_mode = "off"  # the outputs are those saved in the notebooks, which the tests keep true
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
myst_enable_extensions = ["dollarmath"]

html_theme = "basic"
templates_path = ["templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("predict.js", "boards.js", "site.js")]
html_extra_path = ["manifest.webmanifest"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_use_index = False
html_permalinks_icon = ""  # site.css draws it: a heading's text is its words
html_additional_pages = {"404": "404.html"}
html_math_renderer = "mathml"
LESSONS = lessons()
html_context = {
    "needs": needs.OLD,
    "lessons": LESSONS,
    "papers": {"light": ON_LIGHT["paper"], "dark": ON_DARK["paper"]},
    "repository": addresses()[0],
    "site": addresses()[1],
    "faces": [path.name for path in faces.files()[:2]],  # what the first screen of a page is set in
}


def describe(app, name, template, context, doctree):
    """What a search, and a link that is shared, show of a page; and which pages lie beside it."""
    about, site = ABOUT.get(name, WHAT), addresses()[1]
    title = context.get("title") if name in ABOUT else project
    card = {"og:title": title, "og:description": about, "og:type": "article"}
    if site:  # whoever shows the link fetches them by their whole address
        width, height = boards_in_pages.size_of(Path(__file__).with_name("_static") / "door.png")
        card |= {"og:url": f"{site}/{name}.html", "og:image": f"{site}/_static/door.png", "og:image:alt": PICTURE}
        card |= {"og:image:width": str(width), "og:image:height": str(height)}
    tags = [f'<meta property="{key}" content="{html.escape(text)}">' for key, text in card.items()]
    tags += [f'<meta name="description" content="{html.escape(about)}">']
    tags += [f'<meta name="twitter:card" content="{"summary_large_image" if site else "summary"}">']
    context["metatags"] = "\n".join(tags)
    places = [f"notebooks/{lesson.name}" for lesson in LESSONS]
    if name in places:
        around = [None, *LESSONS, None]
        context["before"], _, context["after"] = around[places.index(name) :][:3]
    functions = {name for name in app.env.found_docs if name.startswith("library/") and name != "library/index"}
    others = sorted(app.env.found_docs - {"index", *places, *functions})
    context["others"] = {other: app.env.titles[other].astext() for other in others}


def fold_second_readings(app, doctree):
    """A section for a second reading is folded under its heading, and with it what stands below."""

    def is_for_a_second_reading(node):
        return isinstance(node, section) and SECOND_READING in node[0].astext().lower()

    for one in [node for node in doctree.findall(section) if is_for_a_second_reading(node)]:
        around = one.parent
        while around is not None and not is_for_a_second_reading(around):
            around = around.parent
        if around is None:
            heading, *rest = one.children
            marks = ('<details class="second-reading"><summary>', "</summary>", "</details>")
            begin, after, end = (raw("", mark, format="html") for mark in marks)
            one.children = []
            one.extend([begin, heading, after, *rest, end])


def search_words_only(app):
    """The search knows the words of a page: neither its code nor what answers a question."""
    whole = app.builder.index_page

    def is_no_prose(node):
        return isinstance(node, literal_block) or (isinstance(node, raw) and "<form" in node.astext())

    def index_page(name, doctree, heading):
        words = doctree.deepcopy()
        for node in list(words.findall(is_no_prose)):
            node.parent.remove(node)
        words += index(entries=other_words(name, doctree))
        whole(name, words, heading)

    app.builder.index_page = index_page


def other_words(name, doctree):
    """Sphinx's entries for what the search finds under another name than the lesson's, each at its heading.

    Raises: KeyError where the lesson has no such heading.
    """
    named = OTHER_WORDS.get(name.removeprefix("notebooks/"), {})
    headings = {next(one.findall(title)).astext(): one["ids"][0] for one in doctree.findall(section)}
    ids = {heading.partition(" (")[0].partition(", on a")[0]: id for heading, id in headings.items()}
    ids["the lesson"] = ""
    return [("single", word, ids[heading], "main", None) for heading, words in named.items() for word in words]


def setup(app):
    """Formulas without a script: <math>, which every browser draws; and what a shared link shows."""
    app.connect("html-page-context", describe)
    app.connect("doctree-read", fold_second_readings)
    app.connect("builder-inited", search_words_only)
    for name in ("ipython3", "python"):
        app.add_lexer(name, boards_in_pages.Python)

    def inline(writer, node):
        writer.body.append(mathml(node.astext()))
        raise SkipNode

    def block(writer, node):
        parts = re.split(r"\\qquad(?:\\quad)?", node.astext())  # on a phone one stands below the other
        formulas = "".join(f"<span>{mathml(part, display=True)}</span>" for part in parts)
        writer.body.append(f'<div class="math-wrapper">{formulas}</div>')
        raise SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
