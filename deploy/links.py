"""Links that bring the course into a student's home and open a notebook.

python deploy/links.py https://hub.example.org     print one link for each notebook

nbgitpuller pulls, and git then calls copies.py (see start.py): the student's own copies in my/ are
made or brought up to date, and what a student wrote stays.
"""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "attention"  # in the student's home


def source():
    """Where students pull from and which branch: COURSE_HUB_REPO and COURSE_HUB_BRANCH, or this very clone."""
    repository = os.environ.get("COURSE_HUB_REPO") or f"file://{ROOT}"
    return repository, os.environ.get("COURSE_HUB_BRANCH") or branch()


def branch():
    """The branch that this clone is on; main where that cannot be said."""
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "symbolic-ref", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "main"


def pull(notebook):
    """The path below a student's server that pulls the course and goes on to a notebook."""
    repository, branch = source()
    goal = f"lab/tree/{FOLDER}/my/{notebook}"
    return "/git-pull?" + urlencode({"repo": repository, "branch": branch, "targetpath": FOLDER, "urlpath": goal})


def main(arguments):
    if len(arguments) != 1 or not arguments[0].startswith("http"):
        sys.exit(__doc__)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        print(f"{arguments[0].rstrip('/')}/hub/user-redirect{pull(path.name)}")


if __name__ == "__main__":
    main(sys.argv[1:])
