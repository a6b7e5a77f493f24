"""CSV files as teachers have them, read and written."""

import csv
import io
import itertools
import re
from pathlib import Path


def rows_of(path):
    """A CSV file's rows as dicts with lower-case column names; commas, semicolons or tabs.

    Raises: ValueError for a file that is no such table.
    """
    heads, *lines = table_in(path)[1] or [[]]
    names = [name.strip().casefold() for name in heads]
    rows = []
    for line in lines:
        row = {name: value.strip() for name, value in itertools.zip_longest(names, line[: len(names)], fillvalue="")}
        row.pop("", None)
        if any(row.values()):
            rows.append(row)
    return names, rows


def table_in(path):
    """(what separates a CSV file's cells, the cells as they are, line by line)."""
    data = Path(path).read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data.decode("cp1252", "replace")
    separator_line = re.match(r"sep=(.)\r?\n", text)  # Excel's own first line
    text = text[separator_line.end() :] if separator_line else text
    unquoted_heads = re.sub(r'"[^"\n]*"', "", text).partition("\n")[0]
    separator = separator_line[1] if separator_line else max(",;\t", key=unquoted_heads.count)
    try:
        return separator, list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise ValueError(f"{path} is no table: {error}") from None


def harmless(text):
    """A text that begins like a formula would be run as one by a spreadsheet."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
