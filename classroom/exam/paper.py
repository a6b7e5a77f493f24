"""An exam on paper: a sheet for each version, and apart from them the key, which says what each wrong letter means."""

import html
import subprocess
from pathlib import Path

from authors.browsers import browser_here
from workbench.display.colours import tokens

from .item import Code, Table
from .shown import as_text, plain

STYLE = (Path(__file__).parent / "paper.css").read_text(encoding="utf-8")
HEADLESS = "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"


def sheet(items, version, mark):
    """One version, as a page of HTML that is printed as it is."""
    head = (
        f"<header><h1>Attention</h1><p>Version {version}</p><p class='fill'>Name</p><p class='fill'>Number</p></header>"
        f"<header><p class='fill'>Minutes</p><p class='fill'>Points of {len(items)}</p></header>"
        "<p>One answer to each question is right: mark its letter.</p>"
    )
    questions = "".join(_question(number, item) for number, item in enumerate(items, start=1))
    return as_page(f"Attention {version}", f"{head}<ol>{questions}</ol><footer>{version}-{mark}</footer>")


def key(versions, seed):
    """The right letters of all versions, and for every other letter the misconception that leads there."""
    body = f"<h1>Key of seed {html.escape(str(seed))}</h1><p>Not to be handed out.</p>"
    for version, items in versions.items():
        rows = "".join(_answers(number, item) for number, item in enumerate(items, start=1))
        body += (
            f"<table class='key'><caption>Version {version}: {' '.join(letters(items))}</caption>"
            f"<thead><tr><th>question</th><th>letter</th><th>what it says</th></tr></thead>{rows}</table>"
        )
    return as_page("Key", body)


def letters(items):
    """1b, 2e: numbers with their right letters."""
    return [f"{number}{item.letter(item.key)}" for number, item in enumerate(items, start=1)]


def _question(number, item):
    options = "".join(
        f"<li><b>{item.letter(i)}</b> {shown_on_paper(option.shown)}</li>" for i, option in enumerate(item.options)
    )
    short = max(len(option.shown) if isinstance(option.shown, str) else 12 for option in item.options)
    wide = "few" if short > 34 else "more" if short > 14 else "many"
    parts = "".join(map(shown_on_paper, item.parts))
    return (
        f"<li class='item'><small>{item.id}</small><div class='parts'>{parts}</div><p class='asks'>"
        f"{html.escape(item.asks)}</p><ol class='options {wide}'>{options}</ol></li>"
    )


def _answers(number, item):
    rows = ""
    for i, option in enumerate(item.options):
        first = f"<th rowspan='{len(item.options)}'>{number}<small>{item.id}</small></th>" if i == 0 else ""
        mark = "right" if option.is_right else ""
        rows += f"<tr class='{mark}'>{first}<td>{item.letter(i)}</td><td>{html.escape(plain(option.why))}</td></tr>"
    return f"<tbody>{rows}</tbody>"


def shown_on_paper(part):
    """A sentence, `Table` or `Code` as HTML for the page whose style is paper.css."""
    if isinstance(part, Table):
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row) + "</tr>" for row in part.rows)
        name = f"<figcaption>{html.escape(part.name)}</figcaption>" if part.name else ""
        return f"<figure>{name}<table class='matrix'>{rows}</table></figure>"
    if isinstance(part, Code):
        return f"<pre>{html.escape(as_text(part))}</pre>"
    return f"<span>{html.escape(plain(part))}</span>"


def as_page(title, body):
    """A whole HTML page, with its style inside, around a body that is HTML."""
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title>"
        f"<style>{tokens()}{STYLE}</style></head><body><main>{body}</main></body></html>"
    )


def print_as_pdf(paths):
    """Print pages beside themselves as PDF, by a browser; returns whether there was one."""
    browser = browser_here()
    if not browser:
        return False
    for path in paths:
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        target = f"--print-to-pdf={path.with_suffix('.pdf').resolve()}"
        subprocess.run([browser, *HEADLESS, target, path.resolve().as_uri()], **quiet)
    return True
