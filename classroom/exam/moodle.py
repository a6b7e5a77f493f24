"""A bank as Moodle XML: Site or course → Question bank → Import → Moodle XML format."""

import xml.etree.ElementTree as ET

from .shown import as_html, option_html, plain


def write(bank, path):
    """{kind: items} as a category for each kind. Source of the format: https://docs.moodle.org/en/Moodle_XML_format."""
    quiz = ET.Element("quiz")
    for kind, items in bank.items():
        category = ET.SubElement(quiz, "question", type="category")
        _text(category, "category", f"$course$/top/Attention/{kind}")
        for item in items:
            quiz.append(_question(item))
    ET.indent(quiz)
    ET.ElementTree(quiz).write(path, encoding="utf-8", xml_declaration=True)


def _question(item):
    question = ET.Element("question", type="multichoice")
    _text(question, "name", item.id)
    _text(question, "questiontext", "".join(map(as_html, (*item.parts, item.asks))), format="html")
    _text(question, "generalfeedback", "", format="html")
    settings = {"defaultgrade": "1", "penalty": "0.3333333", "hidden": "0", "single": "true", "shuffleanswers": "true"}
    for name, value in (settings | {"answernumbering": "abc"}).items():
        ET.SubElement(question, name).text = value
    for option in item.options:
        answer = ET.SubElement(question, "answer", fraction="100" if option.is_right else "0", format="html")
        ET.SubElement(answer, "text").text = option_html(option)
        _text(answer, "feedback", as_html(plain(option.why)), format="html")
    return question


def _text(parent, name, text, **attributes):
    ET.SubElement(ET.SubElement(parent, name, **attributes), "text").text = text
