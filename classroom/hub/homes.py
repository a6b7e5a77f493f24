"""A student's files, read and written with that student's rights alone."""

import contextlib
import os
from pathlib import Path


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


def put(entry, place, content):
    """Write a file into a student's home with the student's own rights, whole or not at all."""
    with acting_as(entry):
        path = Path(entry.pw_dir, place)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(content)
        os.replace(fresh, path)
