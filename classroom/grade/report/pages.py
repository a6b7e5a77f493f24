"""The pages that come out of a grading: one for the class, and one for each student, to be handed on as it is."""

import base64
import functools
import hashlib
import html
import itertools
import re
import zipfile
from pathlib import Path

import nbformat

from authors.pages.notes import slide_numbers
from workbench.board import modules
from workbench.display.colours import tokens
from workbench.display.show import framed, marked
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.sections import TITLES, section_in_words

from ..grade_answer import RUN_ENDINGS
from ..submissions.extract import NOTEBOOKS
from .points import number, total
from .report import BLANK, ELSEWHERE, NOTHING, UNASSIGNED, UNREADABLE, kind_of, misconception_in_words

STYLE = tokens() + (Path(__file__).parent / "pages.css").read_text(encoding="utf-8")
OWN_TIMES = modules.script(Path(__file__).with_name("own_times.js"))
SIGNS = {"correct": "✓", "wrong": "✗", "unattempted": "…", "missing": "–"}
BY_HAND = "✎"
FOR_MOODLE = "feedback-moodle.zip"
COLUMNS = 80  # exercises in a row of a table
MOST_LINES, MOST_CODE = 200, 10_000  # of an answer that a page shows
WORDS = {"correct": "right", "wrong": "not yet right", "unattempted": "not attempted", "missing": "not handed in"}


def escape(text):
    return html.escape(str(text))


def page(title, body, script=""):
    """A whole page: nothing in it comes from elsewhere, and no script runs but the one that is given.

    Where none is, a page with a moment in it has the one that puts the reader's own time beside that.
    """
    script = script or (OWN_TIMES if " (UTC" in body else "")
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
    """class.html, and feedback/ with a page for each student who handed something in, be it readable or not.

    Who handed in nothing has one too, where a teacher gave points by hand. Pages of Moodle's hand-ins are also in
    feedback-moodle.zip.
    """
    report = report.settled()
    (out / "feedback").mkdir(exist_ok=True)
    for old in (out / "feedback").glob("*.html"):
        old.unlink()
    labels, has_page = report.labels(), page_of(report)
    for person in filter(has_page, report.people):
        text = page(f"Feedback for {labels[person]}", feedback(report, person, labels[person]))
        (out / "feedback" / file_of(person)).write_text(text, encoding="utf-8")
    _zip_for_moodle(report, out, filter(has_page, report.people))
    (out / "class.html").write_text(page("The class", class_page(report)), encoding="utf-8")


def _zip_for_moodle(report, out, people):
    """feedback-moodle.zip, each page in a folder as Moodle calls it: by that it finds whose it is."""
    path, numbers = out / FOR_MOODLE, {}
    for one in report.submissions:
        if one.owner and one.owner.platform == "moodle":
            numbers.setdefault(one.student, one.owner.number)
    path.unlink(missing_ok=True)
    if not numbers:
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for person in people:
            if number := person.moodle or numbers.get(person):
                name = re.sub(r"[_/\\]+", " ", person.name)  # what stands before the number is only read
                page = out / "feedback" / file_of(person)
                archive.write(page, f"{name}_{number}_assignsubmission_file_/feedback.html")


def page_of(report):
    """Return person → the name of their page's file, "" for who has none."""
    states = report.states()
    return lambda person: (
        file_of(person) if states[person] not in (NOTHING, ELSEWHERE, UNASSIGNED) or report.judged(person) else ""
    )


def file_of(person):
    """A file's name for a student: readable, safe everywhere, no two alike."""
    readable = re.sub(r"[^\w-]+", "_", person.id or person.name).strip("_")[:40]
    distinct = hashlib.sha256(f"{person.apart}\0{person.name}\0{person.email}".encode()).hexdigest()[:6]
    return f"{readable}-{distinct}.html" if readable else f"{distinct}.html"


# ---------------------------------------------------------------------------------------------- for one student


def feedback(report, person, label):
    rows, ids, state = report.of(person), report.exercises(), report.states()[person]
    there = "".join(f"<li>{text}</li>" for text in _files_in_words(report, person))
    there = f"<h2>Your files</h2><ul>{there}</ul>" * bool(there)
    if any(question.person == person for question in report.questions):
        there = "<p>From the file alone your teacher cannot tell whose it is: say that it is yours.</p>" + there
    judged = report.judged(person)
    if state == BLANK and not judged:
        return (
            f"<h1>{escape(label)}</h1><p>Nothing is answered in what you handed in. If you did answer, it was another "
            f"file: hand in the one that holds your answers.</p>{there}"
        )
    if state == UNREADABLE and not judged:
        return (
            f"<h1>{escape(label)}</h1><p>What you handed in could not be judged. You have no points for it yet, which "
            "is not 0 points. Open the file on your own machine, see that it holds your answers, and hand it in once "
            f"more as .ipynb, .py or .zip.</p>{there}"
        )
    possible = {id: of for id, of in report.possible().items() if id.split(".")[0] in judged}
    reached = f"{number(report.reached(person))} of {total(possible)} points."
    lines = "".join(_line(report, person, id, rows.get(id)) for id in ids)
    sentences = [reached, *_lateness(report, person), *report.best_in_words()]
    return (
        f"<h1>{escape(label)}</h1><p>{' '.join(sentences)} A ✗ leads "
        "to your own code and to what <code>check</code> found.</p>"
        + listing("results", ("exercise", "what", "result", "points"), lines, "What you handed in")
        + there
        + "".join(_article(rows[id]) for id in ids if id in rows and rows[id].result["status"] != "missing")
    )


def _lateness(report, person):
    """Sentences on what came late, and what that costs."""
    late = report.late_in_words(person)
    if late:
        yield escape(f"{late[0].upper()}{late[1:]}.")
    if loss := sum(report.losses(person).values()):
        yield escape(f"{report.late_rule.in_words()}: here {number(loss)} of them.")


def _files_in_words(report, person):
    """A sentence on each file of a student that was not judged, does not count or came late."""
    remarks = dict(report.files)
    for submission in report.files_of(person):
        why = remarks.get(submission.path, "")
        if submission.problem:
            why = submission.problem.partition(". ")[0]  # what follows is for the teacher
        elif not why.startswith("does not count"):
            why = ""
        late = report.deadlines.lateness(submission, *submission.notebooks()[:1]).in_words()
        if why or late:
            late = f"{late[0].upper()}{late[1:]}. " if late else ""
            yield f"We have your file {escape(submission.in_words())}. {late}{escape(_sentence(why))}"


def _sentence(why):
    """A remark on a file as a sentence to its student."""
    if why.startswith(("cannot", "does")):
        return f"It {why}."
    return f"There is {why}." if why.startswith("no ") else f"It is {why}." if why else ""


def _line(report, person, id, row):
    """An exercise: its result, and its points, by hand or as found; none of a notebook that was not judged."""
    of, override = report.points.get(id, 0), report.override(person, id)
    judged_points, counted_points, loss = (
        some(person).get(id) for some in (report.judged_points, report.counted, report.losses)
    )
    status = row.result["status"] if row else "missing"
    unread = status == "missing" and report.why_not_judged(person)
    result = f"{SIGNS[status]} {'not judged' if unread else WORDS[status]}"
    if status != "missing":
        name = _name_of_mistake(row)
        result = f"<a href='#e{id}'>{result}</a>{f': {marked(name)}' if name else ''}"
    points = f"{'–' if judged_points is None else number(judged_points)} of {number(of)}"
    if override and override.points is not None:
        points += "<br>by hand" + (f", not {number(row.points)}" if row and row.points != override.points else "")
    if override and override.comment:
        result += f"<br><span class='comment'>Your teacher: {escape(override.comment)}</span>"
    points += "<br>others are better" if judged_points and counted_points is None else ""
    points += f"<br>late: {number(loss)} off" if loss else ""
    return (
        f"<tr><th scope='row'>{id}</th><td>{marked(EXERCISES[id].title)}</td><td class='{status}'>{result}</td>"
        f"<td class='number'>{points}</td></tr>"
    )


def _name_of_mistake(row):
    result = row.result
    return misconception_in_words(result["exercise"], result["misconception"])[0] if result["misconception"] else ""


def _article(row):
    result, id = row.result, row.result["exercise"]
    status = result["status"]
    verdict = result["shown"] or framed(f"<b>{SIGNS[status]} {id}</b> &nbsp; {marked(result['message'])}", "open")
    reread = EXERCISES[id].section if status != "correct" and "Read again:" not in result["message"] else ""
    parts = [f"<article id='e{id}'><h2>{SIGNS[status]} {id} {marked(EXERCISES[id].title)}</h2>"]
    parts += [f"<div class='wide' tabindex='0' role='region' aria-label='what was found of {id}'>{verdict}</div>"]
    parts += [f"<p>{marked(result['difference'])}</p>"] * bool(result["difference"])
    parts += [f"<p>Read again: {marked(section_in_words(reread))}.</p>"] if reread else []
    message_says_it = result["misconception"] in RUN_ENDINGS and "a cell ended" not in result["note"]
    note = "" if message_says_it else result["note"]
    parts += [f"<p class='soft'>{escape(note)}</p>"] * bool(note)
    if result["code"]:
        parts.append(f"<p>Your code, from {escape(row.file)}:</p>{numbered(result['code'], id)}")
    return "".join([*parts, "</article>"])


def numbered(code, id):
    """Source with the numbers of its lines, as much of it as a page has room for."""
    lines = code[:MOST_CODE].splitlines()[:MOST_LINES]
    characters_left = len(code) - len("\n".join(lines))
    numbered_lines = (f"<span class='n'>{i}</span>{escape(line)}" for i, line in enumerate(lines, start=1))
    more = f"<p class='soft'>{characters_left:,} more characters of it are in the file.</p>" * (characters_left > 1)
    opening = f"<pre tabindex='0' role='region' aria-label='your code for {id}'>"
    return opening + "\n".join(numbered_lines) + f"</pre>{more}"


# ------------------------------------------------------------------------------------------------- for the class


def class_page(report):
    parts = [
        "<h1>The class</h1>",
        opening(report),
        "".join(f"<p>{escape(line)}.</p>" for line in report.counts_in_words()),
        mistakes(report),
        students(report),
        late_ones(report),
        by_hand(report),
        shared_files(report),
        files(report),
        f"<p class='soft'>{escape(report.confinement)}</p>" if report.confinement else "",
    ]
    return "\n".join(parts)


def opening(report):
    """What to begin the next meeting with."""
    for id, misconception, who in report.commonest()[:1]:
        if kind_of(id, misconception) == 0:
            name, reread = misconception_in_words(id, misconception)
            return (
                f"<p class='opening'>Begin with {slide(reread)}: in {id}, {len(who)} of {_how_many_judged(report)} "
                f"made {'the same' if len(who) > 1 else 'this'} mistake, “{marked(name)}”.</p>"
            )
    return ""


def _how_many_judged(report):
    return len(report.who_answered())


def mistakes(report):
    rows, labels, how_many = "", report.labels(), _how_many_judged(report)
    for id, misconception, who in report.commonest():
        name, reread = misconception_in_words(id, misconception)
        people = ", ".join(
            f"<a href='feedback/{escape(file_of(person))}#e{id}'>{escape(labels[person])}</a>" for person in who[:6]
        ) + (f" and {len(who) - 6} more" if len(who) > 6 else "")
        rows += (
            f"<tr><th scope='row'>{id}</th><td>{marked(name)}</td><td>{slide(reread) if reread else ''}</td>"
            f"<td>{len(who)} of {how_many}<br>{people}</td></tr>"
        )
    if not rows:
        return "<p>Nothing was answered wrongly.</p>"
    columns = ("exercise", "mistake", "show", "students")  # no more than a phone is wide
    return listing("mistakes of the class", columns, rows, "What the class got wrong most")


def slide(reread):
    """A section with the number of its slide, `03 slide 17 (“No looking ahead”)`; of several the first."""
    section = reread.partition("..")[0]
    place, title = slides().get(section), marked(f"“{TITLES[section]}”")
    return f"{section[:2]} slide {place} ({title})" if place else marked(section_in_words(section))


@functools.cache
def slides():
    """{section or another cell: number of the slide that it is on}, 0 before the first slide."""
    places = {}
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        numbers = slide_numbers(nbformat.read(path, as_version=4))
        places |= {f"{path.name[:2]}#{cell}": number for cell, number in numbers.items()}
    return places


def students(report):
    parts = in_parts(report.exercises())
    grids = "".join(_grid(report, ids, whole=ids is parts[-1]) for ids in parts)
    best = "".join(f" {words}" for words in report.best_in_words())
    is_set = any(override.points is not None for override in report.overrides.values())
    by_hand = f", {BY_HAND} set by hand" * is_set
    return (
        f"<h2>Each student</h2><p>✓ right, ✗ not yet right, … not attempted, – not handed in{by_hand}. A sign leads to "
        f"the student's page.{best}</p>{grids}"
    )


def in_parts(ids):
    """Exercises as the columns of tables that a laptop shows whole: lists of ids, each of whole lessons."""
    parts = [[]]
    for _, lesson in itertools.groupby(ids, key=notebook_of):
        lesson = list(lesson)
        if parts[-1] and len(parts[-1]) + len(lesson) > COLUMNS:
            parts.append([])
        parts[-1] += lesson
    return parts


def notebook_of(id):
    return id.partition(".")[0]


def _grid(report, ids, whole):
    """The table of these exercises, a row for each student; whole: with what each has reached in all of them."""
    groups = ""
    for notebook, name in report.notebooks().items():
        wide = sum(notebook_of(id) == notebook for id in ids)
        if wide:
            groups += f"<th scope='colgroup' colspan='{wide}'>{escape(name.replace('_', ' '))}</th>"
    heads = "".join(f"<th scope='col' class='id'>{id}</th>" for id in ids)
    body = ""
    labels, states, has_page = report.labels(), report.states(), page_of(report)
    for person in sorted(report.people, key=lambda person: labels[person].casefold()):
        mine, name, state = report.of(person), escape(labels[person]), states[person]
        if has_page(person):
            name = f"<a href='feedback/{escape(file_of(person))}'>{name}</a>"
        name += " <b class='late'>late</b>" * report.is_late(person)
        if report.judged(person):
            cells = "".join(
                _cell(None if report.is_open(person, id) else mine.get(id), person, id, report.override(person, id))
                for id in ids
            )
            cells += f"<td class='total'>{number(report.reached(person))}</td>" * whole
        else:
            why = report.why_not_judged(person)
            text = f"{state}{f' ({why})' if why else ''}"
            cells = f"<td class='unjudged' colspan='{len(ids) + whole}'>{escape(text)}</td>"
        body += f"<tr><th scope='row'>{name}</th>{cells}</tr>"
    total_head = f"<th rowspan='2' scope='col' class='total'>of {total(report.possible())}</th>" * whole
    return (
        "<div class='wide' tabindex='0' role='region' aria-label='each student'>"
        f"<table class='grid'><thead><tr><th rowspan='2' scope='col'>student</th>{groups}{total_head}</tr>"
        f"<tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(row, person, id, override):
    if override and override.points is not None:
        says = escape(
            f"{id} set by hand: {number(override.points)}{f', {override.comment}' if override.comment else ''}"
        )
        page = file_of(person) + (f"#e{id}" if row and row.result["status"] != "missing" else "")
        return f"<td><a href='feedback/{escape(page)}' title='{says}' aria-label='{says}'>{BY_HAND}</a></td>"
    if row is None:
        return "<td></td>"
    status = row.result["status"]
    name = _name_of_mistake(row)
    says = escape(f"{id} {WORDS[status]}" + (f": {name}" if name else ""))
    if status == "missing":
        return f"<td title='{says}'>{SIGNS[status]}</td>"
    link = f"<a href='feedback/{escape(file_of(person))}#e{id}' title='{says}' aria-label='{says}'>{SIGNS[status]}</a>"
    return f"<td class='{status}'>{link}</td>"


def _linked(report, person, label):
    """A student's name, which leads to their page where there is one."""
    return (
        f"<a href='feedback/{escape(file_of(person))}'>{escape(label)}</a>"
        if page_of(report)(person)
        else escape(label)
    )


def late_ones(report):
    """Who came late, how late, and what that costs."""
    rows, labels = "", report.labels()
    for person in sorted(filter(report.is_late, report.people), key=lambda person: labels[person].casefold()):
        how, loss = report.late_in_words(person).removeprefix("it came "), sum(report.losses(person).values())
        off = f"points off: {number(loss)}" if loss else ""
        rows += f"<tr><th scope='row'>{_linked(report, person, labels[person])}</th><td>{escape(how)}</td>"
        rows += f"<td>{off}</td></tr>" if report.late_rule.share else "</tr>"
    if not rows:
        return ""
    columns = ("student", "came", "cost")[: 3 if report.late_rule.share else 2]
    return "<h2>Late</h2>" + listing("late", columns, rows)


def by_hand(report):
    """What a teacher set or said of single results."""
    rows, labels = "", report.labels()
    for (person, id), override in report.overrides.items():
        row = report.of(person).get(id)
        before = f"{number(row.points)} found" if row else "nothing found"
        points = before if override.points is None else f"{number(override.points)} points ({before})"
        rows += f"<tr><th scope='row'>{_linked(report, person, labels[person])}</th>"
        rows += f"<td>{id}: {points}</td><td>{escape(override.comment)}</td></tr>"
    if not rows:
        return ""
    return "<h2>By hand</h2>" + listing("by hand", ("student", "exercise", "comment"), rows)


def shared_files(report):
    """Equal files of several students; pairs that work together have them too."""
    rows, labels = "", report.labels()
    for same in report.shared_files():
        who = ", ".join(_linked(report, one.student, labels[one.student]) for one in same)
        rows += f"<tr><th scope='row'>{who}</th><td>{'<br>'.join(_breakable(one.path) for one in same)}</td></tr>"
    if not rows:
        return ""
    why = "Equal to the last byte. A pair that works together hands in the same, too: ask before you think anything."
    return f"<h2>The same file from several</h2><p>{why}</p>" + listing("same files", ("students", "files"), rows)


def _breakable(text):
    """Text whose lines may break inside a path, but not inside a name's ending."""
    return re.sub("[_/]", r"\g<0><wbr>", escape(text))


def files(report):
    notes = {(row.file, f"{row.result['exercise']}: {row.result['note']}") for row in report.rows if row.result["note"]}
    remarks = [*report.files, *sorted(notes)]
    if not remarks:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{_breakable(path)}</th><td>{_breakable(why)}</td></tr>" for path, why in remarks
    )
    return "<h2>Files to look at</h2>" + listing("files", ("file", "what"), rows)
