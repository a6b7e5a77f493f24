"""Grade a folder of handed-in notebooks: every one in a fresh kernel, a table of verdicts as CSV and HTML.

A handed-in notebook is untrusted only as far as time and memory go: those are bounded, and one bad notebook never
stops the rest. It is not walled off: its code runs with your rights, can read your files and could even write its own
verdicts. Grade the work of people you do not know in a container or on a machine that holds nothing else.
"""

import argparse
import asyncio
import contextlib
import csv
import html
import json
import logging
import os
import re
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from attn_lib.exercises.catalogue import EXERCISES
from attn_lib.exercises.checker import RECORD

CELL_SECONDS, NOTEBOOK_SECONDS, MEMORY_MB = 60, 600, 2048
SIGNS = {"correct": "✓", "wrong": "✗", "unattempted": "…", "missing": "–"}
QUIET = logging.Logger("grade", logging.CRITICAL)  # what goes wrong stands in the table, not between progress bars
NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
LESSONS = "|".join(path.stem.partition("_")[2] for path in NOTEBOOKS.glob("[0-9]*.ipynb"))
NAME = re.compile(rf"(?P<before>.*?)[-_ ]*0*(?P<number>[1-9][0-9]*)_(?:{LESSONS})[-_ ]*(?P<after>.*)")

# Runs first in every kernel. torch's own libraries are mapped before the limit is counted from there.
LIMIT_MEMORY = """
import psutil, torch
try:
    import resource
except ImportError:
    pass  # Windows: the grader watches from outside
else:
    _limit = psutil.Process().memory_info().vms + {bytes}
    resource.setrlimit(resource.RLIMIT_AS, (_limit, _limit))
del psutil
"""


@dataclass
class Row:
    """One student's result in one exercise; status "missing" if the notebook never came to a verdict."""

    student: str
    notebook: str
    exercise: str
    status: str
    misconception: str = ""
    note: str = ""


@dataclass
class Report:
    """All rows, and where they were written."""

    rows: list = field(default_factory=list)
    csv: Path | None = None
    html: Path | None = None

    def commonest(self):
        """The mistakes of the whole class, the most frequent first: (exercise, misconception, number of students)."""
        once = {(row.student, row.exercise, row.misconception) for row in self.rows if row.status == "wrong"}
        wrong = Counter((exercise, misconception) for _, exercise, misconception in once)
        return [(*key, count) for key, count in sorted(wrong.items(), key=lambda item: (-item[1], item[0]))]


def grade(
    folder,
    out=None,
    *,
    cell_seconds=CELL_SECONDS,
    notebook_seconds=NOTEBOOK_SECONDS,
    memory_mb=MEMORY_MB,
    show_progress=True,
):
    """Run every notebook under `folder` and write verdicts.csv and verdicts.html into `out`; returns a `Report`.

    A student is a folder, `anna/01_by_hand.ipynb`, or part of a file's name, `anna_01_by_hand.ipynb`. `out` is the
    folder itself unless given. Each cell gets cell_seconds, each notebook notebook_seconds and memory_mb.
    Raises: FileNotFoundError if there is no such folder or no notebook in it.
    """
    from tqdm import tqdm

    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    found = sorted(path for path in folder.rglob("*.ipynb") if not _is_hidden(path.relative_to(folder)))
    if not found:
        raise FileNotFoundError(f"there is no notebook under {folder}")
    out = folder if out is None else Path(out)
    out.mkdir(parents=True, exist_ok=True)  # before the work: a folder that cannot be written to is noticed now
    report = Report()
    for path in tqdm(found, unit="notebook", disable=not show_progress):
        limits = Limits(cell_seconds, notebook_seconds, memory_mb * 2**20)
        report.rows += _rows(path, path.relative_to(folder), limits)
    _write(report, out)
    return report


def main(argv):
    """The command `grade FOLDER`; returns an exit code."""
    parser = argparse.ArgumentParser(prog="grade", description="Run handed-in notebooks and tabulate their verdicts.")
    parser.add_argument("folder", help="holds one folder or one file for each student")
    parser.add_argument("--out", help="where verdicts.csv and verdicts.html go (default: the folder itself)")
    parser.add_argument("--cell-seconds", type=int, default=CELL_SECONDS)
    parser.add_argument("--notebook-seconds", type=int, default=NOTEBOOK_SECONDS)
    parser.add_argument("--memory-mb", type=int, default=MEMORY_MB)
    options = parser.parse_args(argv)
    try:
        report = grade(**vars(options))
    except OSError as error:
        print(f"Nothing was graded: {error}.", file=sys.stderr)
        return 1
    print(f"{len({row.student for row in report.rows})} students: {report.csv}, {report.html}")
    return 0


# ------------------------------------------------------------------------------------------------------- running


@dataclass
class Limits:
    cell_seconds: int
    notebook_seconds: int
    memory: int


def _is_hidden(path):
    return any(part.startswith(".") for part in path.parts)


def _rows(path, relative, limits):
    student, number = _student_and_number(relative)
    name = relative.relative_to(student).as_posix() if len(relative.parts) > 1 else path.name
    try:
        notebook = _read(path)
    except Exception as error:  # not JSON, not a notebook, not UTF-8: whatever it is, the others go on
        return _fill({}, student, name, number, f"could not be read ({type(error).__name__})")
    number = number or _number_of(notebook)
    verdicts, note = _run(notebook, limits)
    return _fill(verdicts, student, name, number, note)


def _student_and_number(relative):
    match = NAME.fullmatch(relative.stem)
    number = match["number"] if match else None
    if len(relative.parts) > 1:
        return relative.parts[0], number
    names = [part for part in (match["before"], match["after"]) if part] if match else [relative.stem]
    return " ".join(names) or "(no name)", number


def _read(path):
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def _number_of(notebook):
    """The N of the first heading, `# N. Title`, for files that were renamed."""
    text = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    match = re.match(r"#\s*(\d+)\.", text)
    return match[1] if match else None


def _fill(verdicts, student, name, number, note):
    expected = [id for id in EXERCISES if id.split(".")[0] == number]
    rows = []
    for id in [*expected, *(id for id in verdicts if id not in expected)]:
        status, misconception = verdicts.get(id, ("missing", None))
        rows.append(Row(student, name, id, status, misconception or "", note))
    return rows or [Row(student, name, "", "missing", "", note or "no exercise found")]


def _run(notebook, limits):
    """Execute a notebook; return its last verdict of each exercise, and a note on what went wrong."""
    import nbformat

    first = nbformat.v4.new_code_cell(LIMIT_MEMORY.format(bytes=limits.memory))
    notebook.cells.insert(0, first)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        record = Path(folder) / "verdicts.jsonl"
        note = asyncio.run(_execute(notebook, folder, record, limits))
        verdicts = _last_verdicts(record)
    return verdicts, note or _note_on_errors(notebook)


async def _execute(notebook, folder, record, limits):
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    client = NotebookClient(
        notebook,
        timeout=limits.cell_seconds,
        interrupt_on_timeout=True,  # a cell that hangs is stopped, the next one runs
        allow_errors=True,
        kernel_name="python3",
        extra_arguments=["--log-level=40"],
        log=QUIET,
        resources={"metadata": {"path": folder}},
    )
    env = {**os.environ, RECORD: str(record), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    watch = Watch(client, limits.memory)
    note, deadline = "", asyncio.timeout(limits.notebook_seconds)
    try:
        watch.start()
        async with deadline:
            await client.async_execute(env=env)
    except DeadKernelError:
        note = "the kernel died"
    except Exception as error:
        note = f"could not be run ({type(error).__name__})"
    finally:
        watch.done.set()
        await _end(client)
    if deadline.expired():  # whatever nbclient made of being stopped
        note = f"stopped after {limits.notebook_seconds} seconds"
    return "used too much memory" if watch.killed else note


async def _end(client):
    """Make sure that no kernel is left, whatever state the client is in."""
    manager = client.km
    if manager is not None and manager.has_kernel:
        try:
            await asyncio.wait_for(_maybe(manager.shutdown_kernel(now=True)), 10)
        except Exception:  # it was gone already
            return


async def _maybe(value):
    return await value if hasattr(value, "__await__") else value


class Watch(threading.Thread):
    """Kills a kernel whose processes together hold more memory than allowed, on systems that set no limit."""

    def __init__(self, client, memory):
        super().__init__(daemon=True)
        self.client, self.memory = client, memory
        self.done, self.killed = threading.Event(), False

    def run(self):
        while not self.done.wait(0.2):
            self.look()

    def look(self):
        import psutil

        pid = getattr(getattr(self.client.km, "provisioner", None), "pid", None)
        if pid is None:
            return
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            kernel = psutil.Process(pid)
            family = [kernel, *kernel.children(recursive=True)]
            if sum(process.memory_info().rss for process in family) > self.memory + 2**29:  # torch's own half GB
                self.killed = True
                for process in family:
                    process.kill()


def _last_verdicts(record):
    verdicts = {}
    if record.is_file():
        for line in record.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                verdict = json.loads(line)
                verdicts[str(verdict["exercise"])] = (str(verdict["status"]), verdict["misconception"])
            except (ValueError, KeyError, TypeError):
                continue  # a line that was cut off when the kernel died
    return {id: verdict for id, verdict in verdicts.items() if id in EXERCISES and verdict[0] in SIGNS}


def _note_on_errors(notebook):
    names = [
        output.get("ename", "Error")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    return f"{len(names)} cells failed, the first with {names[0]}" if names else ""


# ------------------------------------------------------------------------------------------------------- writing


def _write(report, out):
    report.csv, report.html = out / "verdicts.csv", out / "verdicts.html"
    with open(report.csv, "w", newline="", encoding="utf-8-sig") as file:  # the mark by which Excel knows UTF-8
        writer = csv.writer(file)
        writer.writerow(["student", "notebook", "exercise", "status", "misconception", "note"])
        for row in report.rows:
            values = (row.student, row.notebook, row.exercise, row.status, row.misconception, row.note)
            writer.writerow([_harmless(value) for value in values])
    report.html.write_text(_page(report), encoding="utf-8")


def _harmless(text):
    """A file name that begins like a formula would be run as one by a spreadsheet."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


STYLE = """body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; color: #10203A; background: white }
table { border-collapse: collapse; margin: 1rem 0 2rem } caption { text-align: left; font-weight: bold }
th, td { border: 1px solid #C9D3E3; padding: 0.3rem 0.6rem; text-align: left; vertical-align: top }
.correct { background: #E3F3E8 } .wrong { background: #FBE9DC } .missing, .unattempted { color: #475569 }"""


def _page(report):
    ids = [id for id in EXERCISES if any(row.exercise == id for row in report.rows)]
    students = defaultdict(dict)
    notes = defaultdict(dict)
    for row in report.rows:
        before = students[row.student].get(row.exercise)
        if before is None or before.status == "missing":  # two notebooks of one student: the one with a verdict
            students[row.student][row.exercise] = row
        if row.note:
            notes[row.student][row.notebook] = row.note
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Verdicts</title><style>{STYLE}</style>'
        f"<h1>Verdicts</h1><p>✓ correct, ✗ wrong, … not attempted, – no verdict: the cell is missing or never ran.</p>"
        f"{_class_table(report, len(students))}{_student_table(students, notes, ids)}</html>\n"
    )


def _class_table(report, total):
    rows = ""
    for id, misconception, count in report.commonest():
        known = EXERCISES[id].mistakes.get(misconception)
        name = known.name if known else "wrong in a way that is not in the catalogue"
        rows += f"<tr><td>{id}</td><td>{html.escape(name)}</td><td>{count} of {total}</td></tr>"
    head = "<tr><th scope='col'>exercise</th><th scope='col'>mistake</th><th scope='col'>students</th></tr>"
    caption = "<caption>What the class got wrong most</caption>"
    return f"<table>{caption}{head}{rows}</table>" if rows else "<p>Nothing was answered wrongly.</p>"


def _student_table(students, notes, ids):
    head = "".join(f"<th scope='col'>{id}</th>" for id in ids)
    body = ""
    for student in sorted(students):
        cells = "".join(_cell(students[student].get(id)) for id in ids)
        said = "; ".join(f"{name}: {note}" for name, note in sorted(notes[student].items()))
        body += f"<tr><th scope='row'>{html.escape(student)}</th>{cells}<td>{html.escape(said)}</td></tr>"
    caption = "<caption>Each student</caption>"
    return f"<table>{caption}<tr><th scope='col'>student</th>{head}<th scope='col'>notes</th></tr>{body}</table>"


def _cell(row):
    if row is None:
        return "<td></td>"
    what = f"<br>{html.escape(row.misconception)}" if row.misconception else ""
    return f'<td class="{row.status}" title="{row.status}">{SIGNS[row.status]}{what}</td>'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
