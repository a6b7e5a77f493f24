"""A bank as QTI for Canvas (Quizzes → Import, or New Quizzes), by text2qti."""

import re
import textwrap

from text2qti.config import Config
from text2qti.qti import QTI
from text2qti.quiz import Quiz

from .item import Code, Table
from .shown import as_text, plain


def write(bank, text_path, zip_path):
    """{kind: items}: one group for each kind, of which a quiz picks one item; text2qti's source beside its .zip."""
    source = quiz_text(bank)
    text_path.write_text(source, encoding="utf-8")
    QTI(Quiz(source, config=_config(), source_name=text_path.name)).save(str(zip_path))


def _config():
    config = Config()
    config["run_code_blocks"] = False  # what an item shows is never run
    return config


def quiz_text(bank):
    """The bank in the language that text2qti reads: https://github.com/gpoore/text2qti."""
    blocks = ["Quiz title: Attention"]
    for items in bank.values():
        blocks += ["GROUP", "pick: 1", "points per question: 1", *map(_question, items), "END_GROUP"]
    return "\n".join(blocks) + "\n"


def _question(item):
    stem = "\n\n".join(map(_markdown, (*item.parts, item.asks)))
    lines = [f"Title: {item.id}", "1.  " + textwrap.indent(stem, "    ").lstrip()]
    for letter, option in zip("abcdefgh", item.options, strict=False):
        mark = f"{'*' if option.is_right else ''}{letter})".ljust(4)  # what follows is indented as far
        text = _rows(option.shown) if isinstance(option.shown, Table) else _literal(plain(option.shown))
        lines.append(mark + textwrap.indent(text, "    ").lstrip())
        lines.append("... " + _literal(plain(option.why)))
    return "\n".join(lines)


def _markdown(part):
    if isinstance(part, Table):
        return "```\n" + as_text(part) + "\n```"
    if isinstance(part, Code):
        return "```python\n" + as_text(part) + "\n```"
    return _literal(part)


def _rows(table):
    """A table's rows one below the other: an option takes paragraphs, and no block of code."""
    return "\n\n".join(f"`{' '.join(row)}`" for row in table.rows)


def _literal(text):
    """Text in which Markdown and TeX find no signs of theirs."""
    return re.sub(r"([\\`*_\[\]<>#$|~^])", r"\\\1", text)
