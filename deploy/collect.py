"""Fetch what students handed in, ready for `course.py grade`, or what `check` says to them, for its live table.

course.py hub collect 03 [FOLDER]     into FOLDER, or collected/ beside the course:
    03/ID/03_masking.ipynb            what counts: each student's newest; 03/roster.csv names all students
    03-all/ID/TIME.ipynb              every hand-in, also those of earlier calls
    03-times.csv                      id, name, when the newest was handed in, how many there are
course.py hub live [FOLDER]           ID.jsonl for each student into FOLDER/live, again and again until Ctrl-C

TIME is when the system last saw the file change, which no student can set.
"""

import contextlib
import datetime
import itertools
import os
import re
import shutil
import stat
import sys
import time
from pathlib import Path

import roster
import spawners

ROOT = Path(__file__).resolve().parent.parent
PLACE = "attention/handed-in"  # in a student's home; jupyterhub_config.py tells the notebook
LIVE = ".attention-live"  # there check adds a line for each verdict; cli.py puts the folder into new homes
LARGEST, MOST = 20_000_000, 200  # bytes of a file, and files of one student


def main(arguments):
    found = sorted((ROOT / "notebooks").glob(f"{arguments[0]}*.ipynb")) if arguments else []
    if len(found) != 1 or len(arguments) > 2:
        sys.exit(__doc__)
    os.umask(0o077)
    folder = Path(arguments[1] if len(arguments) == 2 else ROOT / "collected")
    number = re.match(r"\d+", found[0].name)[0]
    rows = [one(person, number, folder, found[0].name) for person in students()]
    counted = folder / number
    counted.mkdir(parents=True, exist_ok=True)
    roster.write(students(), counted / "roster.csv", roster.FIELDS)
    roster.write(rows, folder / f"{number}-times.csv", ("id", "name", "newest", "count"))
    give_to_the_teacher(folder)
    absent = [row["id"] for row in rows if not row["count"]]
    print(f"{len(rows) - len(absent)} of {len(rows)} handed in notebook {number}.", end=" ")
    print(f"Nothing from: {', '.join(absent)}." if absent else "")
    print(f"python course.py grade {counted}")


def live(arguments, until_stopped=True):
    """Copy what `check` told of each student, under the name that the roster has."""
    os.umask(0o077)
    folder = Path(arguments[0] if arguments else ROOT / "collected") / "live"
    folder.mkdir(parents=True, exist_ok=True)
    print(f"python course.py grade --live {folder}", flush=True)
    while True:
        for person in students():
            lines = b"".join(content for _, content in fetch(spawners.home(person["id"]), LIVE, ".jsonl"))
            fresh = folder / f".{person['id']}"
            fresh.write_bytes(lines)
            os.replace(fresh, folder / f"{person['id']}.jsonl")
        give_to_the_teacher(folder)
        if not until_stopped:
            return
        time.sleep(5)


def students():
    return [person for person in roster.people() if not person["teacher"]]


def one(person, number, folder, name):
    """Fetch one student's hand-ins; returns the row that says what there is."""
    mine = folder / f"{number}-all" / person["id"]
    for changed, content in fetch(spawners.home(person["id"]), f"{PLACE}/{number}"):
        mine.mkdir(parents=True, exist_ok=True)
        copy = mine / f"{datetime.datetime.fromtimestamp(changed):%Y-%m-%d %H.%M.%S.%f}.ipynb"
        copy.write_bytes(content)
        os.utime(copy, (changed, changed))
    copies = sorted(mine.glob("*.ipynb"))
    if copies:
        counts = folder / number / person["id"] / name
        counts.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(copies[-1], counts)
    return {**person, "newest": copies[-1].stem[:19] if copies else "", "count": len(copies)}


def fetch(entry, place, kind=".ipynb"):
    """Time and content of each file in a folder of a student's home; entry is None before the first log-in."""
    found = []
    if entry is None:
        return found
    with acting_as(entry), contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
        for path in itertools.islice(Path(entry.pw_dir, place).iterdir(), MOST):
            if path.suffix == kind and not path.name.startswith("."):
                try:
                    found.append(read(path))
                except (OSError, ValueError) as error:
                    print(f"{entry.pw_name}: {path.name} was left out: {error}", file=sys.stderr)
    return found


@contextlib.contextmanager
def acting_as(entry):
    """With the student's rights alone: a link of theirs to somebody else's file leads nowhere."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(entry.pw_gid)
    os.seteuid(entry.pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def read(path):
    """When a file was last changed and what is in it; a pipe would be waited for, and may be anything's."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise ValueError("no file, or larger than 20 MB")
        return status.st_ctime, file.read(LARGEST)


def give_to_the_teacher(folder):
    """To whoever called sudo."""
    if "SUDO_UID" in os.environ:
        owner = int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"])
        for path in (folder, *folder.rglob("*")):
            os.chown(path, *owner, follow_symlinks=False)
