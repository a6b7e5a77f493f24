"""A bank in the GIFT format, a plain text that Moodle and others import."""

import re

from .shown import as_html, option_html, plain


def write(bank, path):
    """{kind: items}, a category for each kind. Source of the format: https://docs.moodle.org/en/GIFT_format."""
    blocks = []
    for kind, items in bank.items():
        blocks.append(f"$CATEGORY: $course$/top/Attention/{kind}")
        blocks += [_question(item) for item in items]
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _question(item):
    stem = "".join(map(as_html, (*item.parts, item.asks)))
    answers = "\n".join(
        f"{'=' if option.is_right else '~'}{_escaped(option_html(option))}#{_escaped(plain(option.why))}"
        for option in item.options
    )
    return f"::{item.id}::[html]{_escaped(stem)}{{\n{answers}\n}}"


def _escaped(text):
    """The format's own signs behind a backslash; lines of code as breaks, since an empty line ends a question."""
    return re.sub(r"([~=#{}:\\])", r"\\\1", text).replace("\n", "<br>")
