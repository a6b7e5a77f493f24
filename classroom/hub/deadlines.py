"""Until when a notebook is taken; students see it beside the button, and `hub collect` hands it on to grading.

course.py hub deadline                           list them
course.py hub deadline 03 "2026-12-01 23:59"     of the third notebook, for all; a day alone means its last minute
course.py hub deadline 03 "2026-12-01 23:59 Europe/Berlin"      or +01:00; else by this machine's clock
course.py hub deadline 03 2026-12-08 ID…         longer, for some
course.py hub deadline 03 none [ID…]             take it back

Late work is taken too: grading says that it is late. Kept in the hub's folder, as deadlines.csv.
"""

import csv
import datetime
import json
import os
import re
import sys
import zoneinfo

from workbench.display.moments import moment_in_words

from . import homes, roster, spawners

FIELDS = ("notebook", "id", "deadline")
IN_A_HOME = ".attention-deadlines.json"  # {notebook: deadline} of this student, for what stands by the button


def main(arguments):
    """List deadlines, or set or take back one, and tell the students; leaves with a sentence if it cannot."""
    if not arguments:
        return print(*(f"{row['notebook']}  {row['deadline']}  {row['id'] or 'all'}" for row in rows()), sep="\n")
    number, text, *ids = [*arguments, ""] if len(arguments) == 1 else arguments
    if not re.fullmatch(r"\d\d?", number):
        sys.exit(__doc__)
    deadline = None if text == "none" else read(text)
    ids = [roster.plain(id) for id in ids]
    ids_on_roster = {person["id"] for person in roster.people()}
    if not_on_roster := [id for id in ids if id not in ids_on_roster]:
        sys.exit(f"Nobody in the roster has the id {', '.join(not_on_roster)}.")
    keys = {(f"{int(number):02}", id) for id in ids or [""]}
    kept_rows = [row for row in rows() if (row["notebook"], row["id"]) not in keys]
    if deadline:
        kept_rows += [{"notebook": notebook, "id": id, "deadline": deadline} for notebook, id in sorted(keys)]
    roster.write(
        sorted(kept_rows, key=lambda row: (row["notebook"], row["id"])), roster.STATE / "deadlines.csv", FIELDS
    )
    for person in roster.students():
        tell(person["id"])
    if deadline:
        for id in ids or [""]:
            print(in_words({"notebook": f"{int(number):02}", "id": id, "deadline": deadline}))
        print(
            "A deadline without a zone is by this machine's clock. Students see the zone, and their own time beside it."
        )


def in_words(row):
    """A row of deadlines.csv as a line: notebook, until when with its zone, for whom."""
    until = datetime.datetime.fromisoformat(row["deadline"])
    return f"{row['notebook']}  {moment_in_words(until)}  {row['id'] or 'all'}"


def read(text):
    """A deadline as ISO with its distance from UTC; of this machine's zone where the text names none.

    Ends the program for a text that names no time.
    """
    name = re.search(r" ([A-Za-z]\w*/[\w/+-]+|UTC)$", text)
    plain = text[: name.start()] if name else text
    try:
        zone = zoneinfo.ZoneInfo(name[1]) if name else None
        plain = re.sub(r" (?=[+-]\d\d)", "", plain)
        moment = datetime.datetime.fromisoformat(plain if re.search(r"\d:\d", plain) else f"{plain} 23:59")
    except (ValueError, zoneinfo.ZoneInfoNotFoundError):
        sys.exit(f'{text!r} is no deadline, as in "2026-12-01 23:59" or "2026-12-01 23:59 Europe/Berlin".')
    moment = moment.replace(tzinfo=zone) if zone else moment if moment.tzinfo else moment.astimezone()
    return moment.isoformat(timespec="minutes")


def rows():
    """The rows of deadlines.csv; an empty id is all students."""
    try:
        with open(roster.STATE / "deadlines.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []


def deadlines_of(id):
    """{notebook: deadline} of a student, their own before everybody's."""
    ordered = sorted(rows(), key=lambda row: bool(row["id"]))
    return {row["notebook"]: row["deadline"] for row in ordered if row["id"] in ("", id)}


def tell(id):
    """Write a student's deadlines into their home, where there is one; nobody else's name stands there."""
    if entry := spawners.home(id):
        homes.put(entry, IN_A_HOME, json.dumps(deadlines_of(id)).encode())


def before_a_server(spawner):
    """Make the account of a student who comes for the first time, and tell them their deadlines."""
    spawners.make_account(spawner)
    if os.geteuid() == 0:
        tell(spawner.user.name)
