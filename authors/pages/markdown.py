"""Markdown as pages need it: formulas as MathML, which browsers draw without any script."""

import re
import xml.etree.ElementTree as ET
from functools import cache

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

MATHML = "{http://www.w3.org/1998/Math/MathML}"
ET.register_namespace("", MATHML[1:-1])
BEFORE_A_SIGN = r"<mo[^>]*>(?:,|\(|&#x0003D;|&#x02190;|&#x00028;|&#x0002C;)</mo>"  # a minus after one is a number's own
BARS = "\u00af\u2015"  # over what they are the mean of


def mathml(formula, *, display=False):
    """LaTeX as a <math> element."""
    formula = formula.replace("{aligned}", "{split}")  # the same, under the name that latex2mathml knows
    formula = re.sub(r"\\text{[^}]*}", lambda match: match[0].replace(r"\_", "_"), formula)
    xml = convert(formula, display="block" if display else "inline")
    xml = re.sub(r"<mi>(?=(.|&#x\w+;)</mi>)", '<mi class="letter">', xml)  # in italics; longer ones are names
    xml = xml.replace("<mo>&#x0221E;</mo>", "<mn>&#x0221E;</mn>")  # a number: no room around it, or after its minus
    xml = re.sub(
        rf"({BEFORE_A_SIGN})<mo>&#x02212;</mo>", r'\1<mo form="prefix" lspace="0" rspace="0">&#x02212;</mo>', xml
    )
    xml = re.sub(r"</m[in]>(?=<mi>(?:log|ln|exp|sin|cos)<)", r'\g<0><mspace width="0.17em"/>', xml)
    xml = re.sub(r"<mi>(?:log|ln|exp|sin|cos)</mi>(?=<m(?!o))", r'\g<0><mspace width="0.17em"/>', xml)
    return as_high_and_wide(xml)


def as_high_and_wide(xml):
    """Roots and bars as rows that site.css draws lines around: not every machine has a face in which they grow."""
    tree = ET.fromstring(xml)
    for node in list(tree.iter()):
        if node.tag == f"{MATHML}msqrt":
            sign, under = ET.Element(f"{MATHML}mo"), ET.Element(f"{MATHML}mrow", {"class": "bar"})
            sign.text, under[:] = "\u221a", list(node)
            _as_row(node, "root", [sign, under])
        elif node.tag == f"{MATHML}mover" and (node[1].text or "") in BARS:
            _as_row(node, "bar", [node[0]])
    return ET.tostring(tree, encoding="unicode")


def _as_row(node, name, content):
    node.tag, node.attrib = f"{MATHML}mrow", {"class": name}
    node[:] = content


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
