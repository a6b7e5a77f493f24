"""What students get: the notebooks and their pictures, and nothing that is for teachers.

It is a git repository in .venv/hub that students pull from; nbgitpuller pulls, and git then calls workbench.copies: the
student's own copies in my/ are made or brought up to date, and what a student wrote stays.
"""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from workbench.chosen import chosen

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path(sys.prefix) / "hub"
EDITION, HOOKS, SETTINGS = PLACE / "edition", PLACE / "hooks", PLACE / "gitconfig"
FOLDER = "attention"  # in the student's home
OPEN = ("attn_lib", "workbench", "attn_lib.egg-info", ".venv")  # what students read; the rest is closed


def write():
    """The edition as the course is now; students get what changed when they next open a link."""
    EDITION.mkdir(parents=True, exist_ok=True)
    git("init", "--quiet", "--initial-branch=main")
    for part in ("notebooks", "img"):
        shutil.rmtree(EDITION / part, ignore_errors=True)
    shutil.copytree(ROOT / "img", EDITION / "img")
    (EDITION / "notebooks").mkdir()
    for path in chosen(ROOT / "notebooks"):
        shutil.copy(path, EDITION / "notebooks")
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message=The course, for students")
    for path in (EDITION, *EDITION.rglob("*")):
        path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))


def git(*arguments):
    """Run git in the edition, with no settings of this machine's. Raises: CalledProcessError if it fails."""
    author = ["-c", "user.name=course", "-c", "user.email=course@localhost", "-c", "core.hooksPath=/dev/null"]
    subprocess.run(["git", "-C", EDITION, *author, *arguments], check=True)


def allow_pulling():
    """Settings for every student's git, which refuses to pull from another's folder that they do not name."""
    folders = "".join(f"\tdirectory = {folder}\n" for folder in (EDITION, EDITION / ".git"))
    SETTINGS.write_text(f"[include]\n\tpath = /etc/gitconfig\n[core]\n\thooksPath = {HOOKS}\n[safe]\n{folders}")
    HOOKS.mkdir(exist_ok=True)
    python = shlex.quote(sys.executable)
    for name in ("post-checkout", "post-merge"):  # git calls them as the student, after a clone and a merge
        (HOOKS / name).write_text(f"#!/bin/sh\n[ ! -d notebooks ] || {python} -m workbench.copies || true\n")
        (HOOKS / name).chmod(0o755)
    SETTINGS.chmod(0o644)


def close_the_rest():
    """INSTRUCTORS.md, what speakers say, tests and what was handed in lie in folders that only their owner enters."""
    for folder in ROOT.iterdir():
        if folder.is_dir() and not folder.is_symlink() and folder.name not in OPEN:
            folder.chmod(0o700)


def pull(notebook):
    """The path below a student's server that pulls the course and goes on to a notebook."""
    goal = f"lab/tree/{FOLDER}/my/{notebook}"
    query = {"repo": f"file://{EDITION}", "branch": "main", "targetpath": FOLDER, "urlpath": goal}
    return "/git-pull?" + urlencode(query)


def links(arguments):
    """Print one link for each notebook, for a course page; the argument is the hub's address."""
    if len(arguments) != 1 or not arguments[0].startswith("http"):
        sys.exit("Which hub? course.py hub links https://hub.example.org")
    for path in chosen(ROOT / "notebooks"):
        print(f"{arguments[0].rstrip('/')}/hub/user-redirect{pull(path.name)}")
