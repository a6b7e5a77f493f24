"""Items as HTML and as plain text, for the writers."""

import html

from .item import Code, Table


def as_html(part):
    """A sentence, table or piece of code as HTML that stands by itself: style is in it, since a platform keeps none."""
    if isinstance(part, Table):
        cell = '<td style="padding: 1px 7px; text-align: right">'
        rows = "".join("<tr>" + "".join(f"{cell}{html.escape(x)}</td>" for x in row) + "</tr>" for row in part.rows)
        edge = "border-left: 1px solid; border-right: 1px solid; border-collapse: collapse; font-family: monospace"
        table = f'<table style="{edge}"><tbody>{rows}</tbody></table>'
        return f"<p>{html.escape(part.name)}</p>{table}" if part.name else table
    if isinstance(part, Code):
        return f"<pre>{html.escape(as_text(part))}</pre>"
    return f"<p>{html.escape(part)}</p>"


def option_html(option):
    """What an option shows, as HTML without a paragraph of its own unless it is a table."""
    return as_html(option.shown) if isinstance(option.shown, Table) else html.escape(plain(option.shown))


def as_text(part):
    """The same in characters alone; a table's rows stand under its name."""
    if isinstance(part, Table):
        wide = max(len(x) for row in part.rows for x in row)
        rows = ["[" + " ".join(x.rjust(wide) for x in row) + "]" for row in part.rows]
        return "\n".join([f"{part.name}:"] * bool(part.name) + rows)
    if isinstance(part, Code):
        numbers = ["  ", *(f"{i} " for i in range(1, len(part.lines)))] if part.numbered else [""] * len(part.lines)
        return "\n".join(number + line for number, line in zip(numbers, part.lines, strict=True))
    return part


def plain(text):
    """A lesson's sentence without the marks by which a notebook sets words and code; a star in code stays."""
    parts = text.split("`")
    return "".join(part if i % 2 else part.replace("*", "") for i, part in enumerate(parts))
