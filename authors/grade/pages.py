"""The pages that come out of a grading: one for the class, and one for each student, to be handed on as it is."""

import base64
import functools
import hashlib
import html
import json
import re
from pathlib import Path

from attn_lib.exercises.catalogue import EXERCISES
from attn_lib.show import count, framed, marked

from .answers import NOTEBOOKS
from .report import mistake_in_words, number, total

STYLE = (Path(__file__).parent / "pages.css").read_text(encoding="utf-8")
SIGNS = {"correct": "✓", "wrong": "✗", "unattempted": "…", "missing": "–"}
WORDS = {"correct": "right", "wrong": "not yet right", "unattempted": "not attempted", "missing": "not handed in"}


def escape(text):
    return html.escape(str(text))


def page(title, body, script=""):
    """A whole page: nothing in it comes from elsewhere, and no script runs but the one that is given."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'; connect-src 'self'"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    script = f"<script>{script}</script>" * bool(script)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><main>{body}</main>{script}</body></html>\n'


def listing(label, columns, rows, caption=""):
    """A table of rows that are HTML already, which scrolls by itself where it is too wide for the page."""
    head = "".join(f"<th scope='col'>{name}</th>" for name in columns)
    caption = f"<caption>{caption}</caption>" * bool(caption)
    table = f"<table class='list'>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<div class='wide' tabindex='0' role='region' aria-label='{label}'>{table}</div>"


def write_pages(report, out):
    """class.html, and feedback/ with a page for each student who handed something in."""
    (out / "feedback").mkdir(exist_ok=True)
    for old in (out / "feedback").glob("*.html"):
        old.unlink()
    for person in report.handed_in():
        text = page(f"Feedback for {person.name}", feedback(report, person))
        (out / "feedback" / file_of(person)).write_text(text, encoding="utf-8")
    (out / "class.html").write_text(page("The class", class_page(report)), encoding="utf-8")


def file_of(person):
    """A file's name for a student: readable, safe everywhere, no two alike."""
    readable = re.sub(r"[^\w-]+", "_", person.id or person.name).strip("_")[:40]
    distinct = hashlib.sha256(f"{person.id}\0{person.name}\0{person.email}".encode()).hexdigest()[:6]
    return f"{readable}-{distinct}.html" if readable else f"{distinct}.html"


# ---------------------------------------------------------------------------------------------- for one student


def feedback(report, person):
    rows, ids = report.of(person), report.exercises()
    counted = report.counted(person)
    reached = f"{total(counted)} of {total(report.possible())} points."
    lines = "".join(_line(id, rows.get(id), report.points[id], id in counted) for id in ids)
    best = report.best_in_words()
    said = [f"{path}: {why}" for path, why in report.files if path in {row.file for row in rows.values()}]
    return (
        f"<h1>{escape(person.name)}</h1><p>{' '.join([reached, *best])} A ✗ leads "
        "to your own code and to what <code>check</code> found.</p>"
        + listing("results", ("exercise", "what", "result", "points"), lines, "What you handed in")
        + "".join(f"<p>{escape(text)}</p>" for text in said)
        + "".join(_article(rows[id]) for id in ids if id in rows and rows[id].result["status"] != "missing")
    )


def _line(id, row, of, counts):
    status = row.result["status"] if row else "missing"
    result = f"{SIGNS[status]} {WORDS[status]}"
    if status != "missing":
        name = _name_of_mistake(row)
        result = f"<a href='#e{id}'>{result}</a>{f': {marked(name)}' if name else ''}"
    others = "<br>others are better" if row and row.points and not counts else ""
    return (
        f"<tr><th scope='row'>{id}</th><td>{marked(EXERCISES[id].title)}</td><td class='{status}'>{result}</td>"
        f"<td class='number'>{number(row.points if row else 0)} of {number(of)}{others}</td></tr>"
    )


def _name_of_mistake(row):
    result = row.result
    return mistake_in_words(result["exercise"], result["misconception"])[0] if result["misconception"] else ""


def _article(row):
    result, id = row.result, row.result["exercise"]
    status = result["status"]
    found = result["shown"] or framed(f"<b>{SIGNS[status]} {id}</b> &nbsp; {marked(result['message'])}", "open")
    reread = EXERCISES[id].section if status != "correct" and "Read again:" not in result["message"] else ""
    parts = [f"<article id='e{id}'><h2>{SIGNS[status]} {id} {marked(EXERCISES[id].title)}</h2>{found}"]
    parts += [f"<p>{marked(result['difference'])}</p>"] * bool(result["difference"])
    parts += [f"<p>Read again: {marked(reread)}.</p>"] * bool(reread)
    parts += [f"<p class='soft'>{escape(result['note'])}</p>"] * bool(result["note"])
    if result["code"]:
        parts.append(f"<p>Your code, from {escape(row.file)}:</p>{numbered(result['code'], id)}")
    return "".join([*parts, "</article>"])


def numbered(code, id):
    """Source with the numbers of its lines."""
    lines = (f"<span class='n'>{i}</span>{escape(line)}" for i, line in enumerate(code.splitlines(), start=1))
    return f"<pre tabindex='0' role='region' aria-label='your code for {id}'>" + "\n".join(lines) + "</pre>"


# ------------------------------------------------------------------------------------------------- for the class


def class_page(report):
    there, absent = report.handed_in(), report.nothing_from()
    parts = [
        "<h1>The class</h1>",
        f"<p>{count(len(there), 'student')} handed something in"
        + (f", {len(absent)} did not: {', '.join(escape(person.name) for person in absent)}." if absent else ".")
        + "</p>",
        mistakes(report, len(there)),
        students(report),
        files(report),
        f"<p class='soft'>{escape(report.words)}</p>" if report.words else "",
    ]
    return "\n".join(parts)


def mistakes(report, how_many):
    rows = ""
    for id, misconception, who in report.commonest():
        name, reread = mistake_in_words(id, misconception)
        people = ", ".join(
            f"<a href='feedback/{escape(file_of(person))}#e{id}'>{escape(person.name)}</a>" for person in who[:6]
        ) + (f" and {len(who) - 6} more" if len(who) > 6 else "")
        rows += (
            f"<tr><th scope='row'>{id}</th><td>{marked(name)}</td><td class='number'>{len(who)} of {how_many}</td>"
            f"<td>{slide(reread)}</td><td>{people}</td></tr>"
        )
    if not rows:
        return "<p>Nothing was answered wrongly.</p>"
    columns = ("exercise", "mistake", "students", "show", "who")
    return listing("mistakes of the class", columns, rows, "What the class got wrong most")


def slide(reread):
    """Where to read again, with the number of its slide: `03 slide 17 (“No looking ahead”)`."""
    match = re.match(r"notebook (\d+), “([^”]+)”", reread)
    if not match:
        return marked(reread)
    places = [at for (number, heading), at in slides().items() if number == match[1] and heading.startswith(match[2])]
    place = places[0] if places else None
    title = marked(f"“{match[2]}”")
    return f"{int(match[1]):02d} slide {place} ({title})" if place else f"notebook {match[1]}, {title}"


@functools.cache
def slides():
    """{(number of the notebook, heading): number of the slide under it}."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        number = path.stem.split("_")[0].lstrip("0")
        place = 0
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            place += cell["metadata"].get("slideshow", {}).get("slide_type") in ("slide", "subslide")
            if cell["cell_type"] == "markdown" and (match := re.match(r"#+\s+(.+)", "".join(cell["source"]))):
                found[number, match[1].strip()] = place
    return found


def students(report):
    ids, notebooks = report.exercises(), report.notebooks()
    groups = ""
    for notebook, name in notebooks.items():
        wide = sum(id.split(".")[0] == notebook for id in ids)
        groups += f"<th scope='colgroup' colspan='{wide}'>{escape(name.replace('_', ' '))}</th>"
    heads = "".join(f"<th scope='col' class='id'>{id}</th>" for id in ids)
    body = ""
    for person in sorted(report.people, key=lambda person: person.name.casefold()):
        mine = report.of(person)
        cells = "".join(_cell(mine.get(id), person) for id in ids)
        name = escape(person.name)
        name = f"<a href='feedback/{escape(file_of(person))}'>{name}</a>" if mine else name
        body += f"<tr><th scope='row'>{name}</th>{cells}<td>{total(report.counted(person))}</td></tr>"
    out_of = total(report.possible())
    best = "".join(f" {words}" for words in report.best_in_words())
    return (
        "<h2>Each student</h2><p>✓ right, ✗ not yet right, … not attempted, – not handed in. A sign leads to the "
        f"student's page.{best}</p><div class='wide' tabindex='0' role='region' aria-label='each student'>"
        f"<table class='grid'><thead><tr><th rowspan='2' scope='col'>student</th>{groups}"
        f"<th rowspan='2' scope='col'>of {out_of}</th></tr><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(row, person):
    if row is None:
        return "<td></td>"
    status, id = row.result["status"], row.result["exercise"]
    name = _name_of_mistake(row)
    says = escape(f"{id} {WORDS[status]}" + (f": {name}" if name else ""))
    if status == "missing":
        return f"<td title='{says}'>{SIGNS[status]}</td>"
    link = f"<a href='feedback/{escape(file_of(person))}#e{id}' title='{says}' aria-label='{says}'>{SIGNS[status]}</a>"
    return f"<td class='{status}'>{link}</td>"


def files(report):
    notes = {(row.file, f"{row.result['exercise']}: {row.result['note']}") for row in report.rows if row.result["note"]}
    said = [*report.files, *sorted(notes)]
    if not said:
        return ""
    rows = "".join(f"<tr><th scope='row'>{escape(path)}</th><td>{escape(why)}</td></tr>" for path, why in said)
    return "<h2>Files to look at</h2>" + listing("files", ("file", "what"), rows)
