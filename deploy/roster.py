"""The class's roster: who may log in, with a hash for each password.

python deploy/roster.py add NAME…       add students, or give them new passwords; prints name,password once
python deploy/roster.py add - < NAMES   the same for a file with one name in a line
python deploy/roster.py add --teacher NAME
python deploy/roster.py remove NAME…
python deploy/roster.py list

The running hub sees a change at once. The file is .hub/roster.json, or the one in the folder COURSE_HUB_STATE.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import sys
from pathlib import Path

STATE = Path(os.environ.get("COURSE_HUB_STATE") or Path(__file__).resolve().parent.parent / ".hub")
GROUP = "attention-students"  # marks the Unix accounts that the hub made
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")  # a student is a Unix account of this name
COST = {"n": 2**14, "r": 8, "p": 1}
NOBODY = {"salt": "00", "hash": ""}  # checked for a name that is not there: it takes as long


def load(folder=STATE):
    """Read name → entry; no file is an empty roster."""
    try:
        return json.loads((Path(folder) / "roster.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def save(roster, folder=STATE):
    folder = Path(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = folder / "roster.json.new"
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(roster, file, indent=1, sort_keys=True)
    os.replace(fresh, folder / "roster.json")


def add(names, folder=STATE, teacher=False):
    """Give each name a new random password (80 bits: no guessing helps); returns name → password.

    Raises: ValueError for a name that no Unix account can have.
    """
    for name in names:
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no account name: a-z first, then a-z, 0-9 and -, at most 31 characters")
    roster, passwords = load(folder), {}
    for name in names:
        letters = base64.b32encode(secrets.token_bytes(10)).decode().lower()
        passwords[name] = "-".join(letters[i : i + 4] for i in range(0, 16, 4))
        salt = secrets.token_bytes(16)
        roster[name] = {"salt": salt.hex(), "hash": digest(passwords[name], salt), "teacher": teacher}
    save(roster, folder)
    return passwords


def matches(roster, name, password):
    """Whether the password is the one of this name; takes the same time for a name that is not there."""
    entry = roster.get(name, NOBODY)
    return hmac.compare_digest(digest(password, bytes.fromhex(entry["salt"])), entry["hash"])


def digest(password, salt):
    return hashlib.scrypt(password.strip().lower().encode(), salt=salt, **COST).hex()


def main(arguments):
    if not arguments or arguments[0] not in ("add", "remove", "list"):
        sys.exit(__doc__)
    command, *names = arguments
    teacher = "--teacher" in names
    names = [name for name in names if name != "--teacher"]
    if names == ["-"]:
        names = sys.stdin.read().split()
    if command == "add":
        try:
            for name, password in add(names, teacher=teacher).items():
                print(f"{name},{password}")
        except ValueError as error:
            sys.exit(str(error))
    elif command == "remove":
        save({name: entry for name, entry in load().items() if name not in names})
    else:
        for name, entry in sorted(load().items()):
            print(name, "(teacher)" if entry["teacher"] else "")


if __name__ == "__main__":
    main(sys.argv[1:])
