"""A small JSON file that several notebooks write at once: changed under a lock, and never seen half written."""

import json
import os
import time

from filelock import FileLock, Timeout


def read(path):
    """The dict in the file; a damaged file or none counts as empty."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def change(path, change_content):
    """Write change_content(what stands there); returns False where that cannot be done, and then all is as it was."""
    try:
        path = path.absolute()  # raises where the folder is gone
        with FileLock(f"{path}.lock", timeout=3):
            replace(path, json.dumps(change_content(read(path)), indent=1, sort_keys=True))
    except (OSError, Timeout):
        return False
    return True


def replace(path, text):
    """Write another file and swap: a reader sees the old one or the new one, never half of it."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    for attempt in range(20):
        try:
            return os.replace(unfinished, path)
        except PermissionError:  # Windows, while another process reads the file
            if attempt == 19:
                unfinished.unlink()
                raise
            time.sleep(0.05)
