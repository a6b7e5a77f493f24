"""What the hostile hand-ins got from the grader of before, which ran each notebook whole and asked it for its verdicts.

python tests/hand_ins/old_grader.py [NAME…]     all of hostile/, or some; half a minute each

The grader is taken from this repository's history into a folder of its own, and runs behind bubblewrap as nobody:
these hand-ins harm whoever runs them. README.md has what came out.
"""

import csv
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LAST = "f6ba515^"  # the last commit that had it
LIMITS, SECONDS = "--cell-seconds 20 --notebook-seconds 60 --memory-mb 500", 120
sys.path.insert(0, str(ROOT))

from authors.grade.answers import split_script  # noqa: E402


def main(names):
    with tempfile.TemporaryDirectory() as place:
        old, work = Path(place, "course"), Path(place, "work")
        archive = subprocess.run(["git", "-C", ROOT, "archive", LAST], check=True, capture_output=True).stdout
        old.mkdir()
        subprocess.run(["tar", "-x", "-C", old], input=archive, check=True)
        Path(place).chmod(0o755)
        for path in sorted((HERE / "hostile").glob("*.py")):
            if not names or path.stem in names:
                print(f"{path.stem}: {tried(path, old, work)}", flush=True)


def tried(path, old, work):
    """What the old grader's table says, and what is left of the hand-in once it has ended."""
    text = path.read_text(encoding="utf-8")
    id = text.split()[1]
    shutil.rmtree(work, ignore_errors=True)
    for folder in (work, work / "in", work / "out"):
        folder.mkdir()
        folder.chmod(0o777)
    (stem,) = (path for path in (old / "notebooks").glob("*.ipynb") if path.name.startswith(f"0{id[0]}"))
    (work / "in" / stem.name).write_text(json.dumps(handed_in(stem, id, text)), encoding="utf-8")
    (work / "run.sh").write_text(
        f"{sys.executable} -m authors.grade {work}/in --out {work}/out {LIMITS} >{work}/out/said 2>&1\n"
        f"echo $? >{work}/out/code; ps -o rss=,comm= -u nobody | grep -v -e ' sh$' -e ' ps$' -e ' grep$' >{work}/out/left\n"
    )
    home, needed = Path.home(), {ROOT, Path(sys.prefix), Path(sys.base_prefix)}
    command = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--perms", "0755", "--tmpfs", home]
    for path in needed:
        if path.is_relative_to(home):
            above = [folder for folder in reversed(path.parents) if folder.is_relative_to(home) and folder != home]
            command += [part for folder in above for part in ("--perms", "0755", "--dir", folder)]
            command += ["--ro-bind", path, path]
    command += ["--bind", work, work]
    command += ["--tmpfs", "/dev/shm", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent"]
    command += ["--setenv", "PYTHONPATH", old, "--setenv", "HOME", work / "out", "--setenv", "TMPDIR", work / "out"]
    command += ["--chdir", work, "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    try:
        subprocess.run([*command, "prlimit", "--nproc=400", "sh", work / "run.sh"], timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"had not come back after {SECONDS} seconds"
    return read(work / "out", id)


def handed_in(notebook, id, text):
    """The course's notebook up to an exercise, and this hand-in in its place, with the check below unless it has one."""
    whole = json.loads(notebook.read_text(encoding="utf-8"))
    cells = whole["cells"]
    (place,) = (i for i, cell in enumerate(cells) if "".join(cell["source"]).startswith(f'check("{id}"'))
    start = max(i for i in range(place) if "exercise" in cells[i]["metadata"].get("tags", ()))
    new = [cell.source for cell in split_script(text) if cell.tree and cell.tree.body]
    own = any(found == id for cell in split_script(text) for found, _ in cell.checks)
    made = [{**cells[start], "id": f"new-{i}", "source": source} for i, source in enumerate(new)]
    return {**whole, "cells": [*cells[:start], *made, *([] if own else [cells[place]])]}


def read(out, id):
    code = (out / "code").read_text().strip() if (out / "code").exists() else "none"
    said = (out / "said").read_text(errors="replace").strip().splitlines()
    left = (out / "left").read_text().splitlines() if (out / "left").exists() else []
    megabytes = sum(int(line.split()[0]) for line in left) >> 10
    words = f"code {code}; {len(left)} processes with {megabytes} MB are left; {said[-1] if said else 'nothing said'}"
    if not (out / "verdicts.csv").exists():
        return f"no table; {words}"
    with open(out / "verdicts.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    row = next((row for row in rows if row["exercise"] == id), None)
    if row is None:
        return f"a table of {len(rows)} rows without {id}; {words}"
    return f"{row['status']} {row['misconception']} ({row['note']}); {words}"


if __name__ == "__main__":
    main(sys.argv[1:])
