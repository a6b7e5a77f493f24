"""Who may log in: NativeAuthenticator's accounts, made from a class list.

course.py hub add CLASS.csv             an account for each row of id, name, email, or of a list that Moodle or Canvas
                                        exports, as .csv, .tsv or .txt; prints id,name,password once
course.py hub add [--teacher] ID…       the same for some; whoever is added again gets a new password, and is a
                                        teacher only if --teacher is said again
course.py hub remove ID…
course.py hub list

The id is what a student logs in with: an e-mail address, a name in any script, anything without spaces, commas and
slashes. The running hub knows of a change at once. All is kept in COURSE_HUB_STATE, or .hub beside the course.
"""

import base64
import csv
import os
import re
import secrets
import sys
import unicodedata
from pathlib import Path

import bcrypt
from jupyterhub import orm
from nativeauthenticator.orm import UserInfo

STATE = Path(os.environ.get("COURSE_HUB_STATE") or Path(__file__).resolve().parents[2] / ".hub")
TEACHERS = "teachers"  # a group; values.yaml says what its role may
GONE = "removed-"  # before the number in a user's cookie: the hub keeps the number, for when they come back
FIELDS = ("id", "name", "email")
WORKBOOKS = (".xlsx", ".xls", ".ods")
LISTS = (".csv", ".tsv", ".txt", *WORKBOOKS)  # how an argument ends that is no id but a file's name
ID = re.compile(r"[^\s,/%.-][^\s,/%]{0,79}")  # what NativeAuthenticator takes, and a folder's name
COST = 8  # 80 random bits need no slow hash, and a class logs in at once; what students choose is hashed with 12


def main(arguments):
    """Add, remove or list people; prints the new passwords, and leaves with a sentence if it cannot."""
    command, *names = arguments
    teacher = "--teacher" in names
    names = [name for name in names if name != "--teacher"]
    if command == "list":
        return print(*(describe(person) for person in people()), sep="\n")
    if not names:
        sys.exit(__doc__)
    if command == "remove":
        return remove([plain(name) for name in names])
    is_list = len(names) == 1 and names[0].lower().endswith(LISTS)
    try:
        rows = read(names[0]) if is_list else [{"id": plain(name), "name": "", "email": ""} for name in names]
        out = csv.writer(sys.stdout)
        out.writerows((row["id"], row["name"], password) for row, password in add(rows, teacher))
    except (OSError, ValueError) as error:
        sys.exit(str(error))


def plain(text):
    """As NativeAuthenticator compares it, and in the one form of accents that keyboards type."""
    return unicodedata.normalize("NFC", text.strip()).lower()


def read(path):
    """The rows of a class list, as dicts of id, name and email; read as grading reads it, Moodle's and Canvas's too.

    Where nobody has an id, the e-mail address is what a student logs in with.

    Raises: ValueError for a workbook and for a file that names no id and no address, OSError for none.
    """
    if str(path).lower().endswith(WORKBOOKS):
        raise ValueError(f"{path} is a workbook: save its table as .csv.")
    try:  # on Kubernetes this file alone is copied to the hub
        from ..grade.submissions.class_list import read_roster
    except ImportError:
        raise ValueError("A copy of roster.py by itself reads no class list, only ids: add ID…") from None
    class_list = read_roster(path)
    login = "id" if any(person.id for person in class_list) else "email"
    if not any(getattr(person, login) for person in class_list):
        raise ValueError(f"{path} has no ids to log in with, under a head as in id,name,email.")
    return [{"id": plain(getattr(person, login)), "name": person.name, "email": person.email} for person in class_list]


def add(rows, teacher=False):
    """Make accounts, or give new passwords; returns pairs of row and password, one for each id.

    Raises: ValueError for an id that cannot be one, or that two names have; then nobody is added.
    """
    everybody, by_id = {person["id"]: person for person in people()}, {}
    for row in rows:
        if not ID.fullmatch(row["id"]) or not row["id"].isprintable():
            raise ValueError(
                f"{row['id']!r} cannot be an id: it is empty or long, or has a space, comma or slash in it."
            )
        first = by_id.setdefault(row["id"], row)
        if has_name(first) and has_name(row) and first["name"] != row["name"]:
            raise ValueError(f"{first['name']!r} and {row['name']!r} have the same id, {row['id']!r}.")
        by_id[row["id"]] = filled_up(row, first)
    rows = [row if has_name(row) else filled_up(row, everybody.get(id, row)) for id, row in by_id.items()]
    with session() as db:
        passwords = [secret() for _ in rows]
        for row, password in zip(rows, passwords, strict=True):
            account = UserInfo.find(db, row["id"]) or UserInfo(username=row["id"], is_authorized=True)
            account.password = bcrypt.hashpw(password.encode(), bcrypt.gensalt(COST))
            db.add(account)
            set_teacher(db, row["id"], teacher)
        db.commit()
    everybody |= {row["id"]: {**row, "teacher": "yes" if teacher else ""} for row in rows}
    write(everybody.values())
    return list(zip(rows, passwords, strict=True))


def has_name(row):
    """Whether a row says more of somebody than the id; a list without names has the ids as names."""
    return row["name"] not in ("", row["id"])


def filled_up(row, other):
    """A row that has the name and the address of another where it has none."""
    name = row["name"] if has_name(row) else other["name"] or row["name"]
    return {"id": row["id"], "name": name, "email": row["email"] or other["email"]}


def remove(names):
    """No log-in and no session any more; homes and hand-ins stay."""
    with session() as db:
        for name in names:
            account, user = UserInfo.find(db, name), orm.User.find(db, name)
            if not account:
                print(f"{name} is not in the roster.", file=sys.stderr)
                continue
            db.delete(account)
            if user:
                user.cookie_id = GONE + user.cookie_id.removeprefix(GONE)
                for token in user.api_tokens:
                    db.delete(token)
        db.commit()
    write(person for person in people() if person["id"] not in names)


def set_teacher(db, name, teacher):
    """Put a user into the group of teachers, or take them out of it; lets who was removed come back."""
    group = orm.Group.find(db, TEACHERS) or orm.Group(name=TEACHERS)
    user = orm.User.find(db, name)
    if user:
        user.cookie_id = user.cookie_id.removeprefix(GONE)
        if bool(user.groups) != teacher:
            print(f"{name}: the hub knows from its next start on who is a teacher now.", file=sys.stderr)
    elif teacher:
        user = orm.User(name=name)
        db.add_all([group, user])
    if user:
        user.groups = [group] if teacher else []


def secret():
    """A new password of 80 random bits, in letters and digits without 0 and 1, which could be read as letters."""
    letters = base64.b32encode(secrets.token_bytes(10)).decode().lower()
    return "-".join(letters[i : i + 4] for i in range(0, 16, 4))


def session():
    """A session with the hub's database, which is made where there is none."""
    STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
    return orm.new_session_factory(f"sqlite:///{STATE}/jupyterhub.sqlite")()


def people():
    """Everybody in the roster, as dicts of id, name, email and teacher."""
    try:
        with open(STATE / "roster.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []


def students():
    """Everybody in the roster who is no teacher, as dicts."""
    return [person for person in people() if not person["teacher"]]


def write(people, path=None, fields=(*FIELDS, "teacher")):
    """The roster as a file that its owner alone can read, swapped in whole."""
    path = Path(path or STATE / "roster.csv")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}")
    people = list(people)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, fields, extrasaction="ignore")
        out.writeheader()
        out.writerows(people)
    os.replace(fresh, path)


def describe(person):
    """A person of the roster as a line."""
    return " ".join(filter(None, [person["id"], person["name"], person["email"], person["teacher"] and "(teacher)"]))


if __name__ == "__main__":
    main(sys.argv[1:])
