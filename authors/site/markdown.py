"""Markdown as pages need it: formulas as MathML, which browsers draw without any script."""

import re
from functools import cache

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin


def mathml(formula, *, display=False):
    """LaTeX as a <math> element."""
    formula = formula.replace("{aligned}", "{split}")  # the same, under the name that latex2mathml knows
    formula = re.sub(r"\\text{[^}]*}", lambda found: found[0].replace(r"\_", "_"), formula)
    drawn = convert(formula, display="block" if display else "inline")
    drawn = re.sub(r"<mi>(?=(.|&#x\w+;)</mi>)", '<mi class="letter">', drawn)  # in italics; longer ones are names
    return drawn.replace("<mo>&#x0221E;</mo>", "<mn>&#x0221E;</mn>")  # a number: no room around it, or after its minus


@cache
def reader():
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    return markdown.use(dollarmath_plugin, renderer=lambda text, options: mathml(text, display=options["display_mode"]))


def to_html(text):
    """Markdown with $formulas$ as HTML."""
    return reader().render(text)


def inline(text):
    """Markdown of one line as HTML without a paragraph around it: a heading "1. Title" is no list."""
    return reader().renderInline(text)
