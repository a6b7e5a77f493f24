"""Fetch what students handed in, ready for `course.py grade`, hand its pages back, and fetch what `check` says.

course.py hub collect 03 [FOLDER]     into FOLDER/03, or collected/03 beside the course:
    ID/TIME 03_masking.ipynb          every hand-in, also those of earlier calls; grading says which counts
    roster.csv, times.csv             all students, and when each file came
    deadlines.csv                     as `hub deadline` has them
course.py hub return 03 [FOLDER]      each student's page of FOLDER/03/graded into attention/my/feedback in their files
course.py hub live [FOLDER]           ID.jsonl for each student into FOLDER/live, again and again until Ctrl-C

TIME is when the system last saw the file change, which no student can set.
"""

import contextlib
import csv
import datetime
import itertools
import os
import re
import stat
import sys
import time
from pathlib import Path

from . import deadlines, homes, roster, spawners

ROOT = Path(__file__).resolve().parents[2]
PLACE = "attention/handed-in"  # in a student's home; jupyterhub_config.py tells the notebook
FEEDBACK = "attention/my/feedback"  # beside the notebooks, where the list of files shows it
LIVE = ".attention-live"  # there check adds a line for each verdict; cli.py puts the folder into new homes
LARGEST, MOST = 20_000_000, 200  # bytes of a file, and files of one student


def main(arguments):
    """Fetch all hand-ins of a notebook and write the tables that grading reads; says who handed in nothing."""
    number, name, folder = which(arguments)
    os.umask(0o077)
    place = folder / number
    place.mkdir(parents=True, exist_ok=True)
    counts = {person["id"]: fetch_from(person, number, place, name) for person in roster.students()}
    roster.write(roster.students(), place / "roster.csv", roster.FIELDS)
    came = [{"path": str(copy.relative_to(place)), "time": when(copy)} for copy in copies(place)]
    roster.write(came, place / "times.csv", ("path", "time"))
    of_this = [row for row in deadlines.rows() if row["notebook"] == number]
    roster.write(of_this, place / "deadlines.csv", deadlines.FIELDS)
    give_to_the_teacher(folder)
    absent = [id for id, count in counts.items() if not count]
    print(f"{len(counts) - len(absent)} of {len(counts)} handed in notebook {number}.", end=" ")
    print(f"Nothing from: {', '.join(absent)}." if absent else "")
    print(f"python course.py grade {place}")


def which(arguments):
    """(number, file name, folder) of the notebook that is asked for; leaves with the usage if it is none."""
    notebooks = sorted((ROOT / "notebooks").glob(f"{arguments[0].zfill(2)}*.ipynb")) if arguments else []
    if len(notebooks) != 1 or len(arguments) > 2:
        sys.exit(__doc__)
    folder = Path(arguments[1] if len(arguments) == 2 else ROOT / "collected")
    return re.match(r"\d+", notebooks[0].name)[0], notebooks[0].name, folder


def hand_back(arguments):
    """Put the page that grading wrote for each student into their files."""
    number, _, folder = which(arguments)
    graded = folder / number / "graded"
    try:
        with open(graded / "handed-in.csv", encoding="utf-8-sig", newline="") as file:
            pages = {row["id"]: row["page"] for row in csv.DictReader(file) if row["page"]}
    except FileNotFoundError:
        sys.exit(f"{folder / number} is not graded yet: python course.py grade {folder / number}")
    how_many, unwritten = 0, []
    for person in roster.students():
        entry, page = spawners.home(person["id"]), pages.get(person["id"])
        if entry and page:
            try:
                homes.put(entry, f"{FEEDBACK}/{number}.html", (graded / "feedback" / Path(page).name).read_bytes())
                how_many += 1
            except OSError as error:
                unwritten.append(f"{person['id']} ({error.strerror})")
    where = f"{FEEDBACK.removeprefix('attention/')}/{number}.html"
    print(f"{how_many} of {len(roster.students())} students have their page: {where}")
    if unwritten:
        print(f"It could not be written for: {', '.join(unwritten)}.", file=sys.stderr)


def live(arguments, until_stopped=True):
    """Copy what `check` said to each student, as ID.jsonl; again every 5 seconds, unless once is enough."""
    os.umask(0o077)
    folder = Path(arguments[0] if arguments else ROOT / "collected") / "live"
    folder.mkdir(parents=True, exist_ok=True)
    print(f"python course.py grade --live {folder}", flush=True)
    while True:
        for person in roster.students():
            lines = b"".join(content for _, content in fetch(spawners.home(person["id"]), LIVE, ".jsonl"))
            fresh = folder / f".{person['id']}"
            fresh.write_bytes(lines)
            os.replace(fresh, folder / f"{person['id']}.jsonl")
        give_to_the_teacher(folder)
        if not until_stopped:
            return
        time.sleep(5)


def fetch_from(person, number, place, name):
    """Fetch one student's hand-ins; returns how many there are, those of earlier calls too."""
    mine = place / person["id"]
    for time_saved, content in fetch(spawners.home(person["id"]), f"{PLACE}/{number}"):
        mine.mkdir(exist_ok=True)
        copy = mine / f"{datetime.datetime.fromtimestamp(time_saved):%Y-%m-%d %H.%M.%S.%f} {name}"
        copy.write_bytes(content)
        os.utime(copy, (time_saved, time_saved))
    return len(list(mine.glob("*.ipynb")))


def copies(place):
    """All that was collected, and nothing of what grading wrote."""
    return sorted(copy for person in roster.students() for copy in (place / person["id"]).glob("*.ipynb"))


def when(copy):
    """When a hand-in came, as ISO with its distance from UTC."""
    return datetime.datetime.fromtimestamp(copy.stat().st_mtime).astimezone().isoformat()


def fetch(entry, place, kind=".ipynb"):
    """Time and content of each file in a folder of a student's home; entry is None before the first log-in."""
    files = []
    if entry is None:
        return files
    with homes.acting_as(entry), contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
        for path in itertools.islice(Path(entry.pw_dir, place).iterdir(), MOST):
            if path.suffix == kind and not path.name.startswith("."):
                try:
                    files.append(read(path))
                except (OSError, ValueError) as error:
                    print(f"{entry.pw_name}: {path.name} was left out: {error}", file=sys.stderr)
    return files


def read(path):
    """When a file was last changed, in seconds since 1970, and what is in it.

    Opened so that a pipe keeps nobody waiting and a link is not followed. Raises: ValueError for what is no file, or a
    large one, OSError for what cannot be read.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise ValueError("no file, or larger than 20 MB")
        return status.st_ctime, file.read(LARGEST)


def give_to_the_teacher(folder):
    """Make whoever called sudo the owner of a folder and all that is in it."""
    if "SUDO_UID" in os.environ:
        owner = int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"])
        for path in (folder, *folder.rglob("*")):
            os.chown(path, *owner, follow_symlinks=False)
