"""What a hub needs of its machine, said before anything is installed: course.py runs this first.

Needs nothing but Python. The argument is the Python that students are to run.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {"git": "git", "useradd": "passwd", "setpriv": "util-linux"}
NODE = 20  # the proxy's oldest


def missing(python):
    """A sentence with its remedy for each thing that this machine lacks."""
    if sys.platform != "linux":
        yield "The hub gives each student an account of the system's, which it can do on Linux alone."
        return
    if os.geteuid() != 0:
        yield "The hub gives each student an account of the system's, which only root can: sudo python3 course.py hub"
        return
    for program, package in PROGRAMS.items():
        if not shutil.which(program):
            yield f"The hub needs {program}: apt-get install {package}, or your system's way of doing it."
    lacking = [program for program in ("node", "npm") if not shutil.which(program)]
    there = "this machine has no " + " and no ".join(lacking) if lacking else f"this is {node_version()}"
    if lacking or node_version() < NODE:
        yield (
            f"The hub's proxy needs node {NODE} or newer and npm, {there}: apt-get install nodejs npm, if your "
            f"system's is {NODE} or newer (Debian 13), or https://nodejs.org/en/download"
        )
    locked = [folder for folder in (ROOT, *ROOT.parents) if not folder.stat().st_mode & 0o001]
    if locked:
        yield f"Students cannot enter {locked[0]}: move the course to a folder open to all, such as /srv/attention."
    elif not answers(python, "", user="nobody", extra_groups=[]):
        yield (
            f"Students cannot run {Path(python).resolve()}: remove {ROOT / '.venv'}, if it is there, and start again "
            "with a Python that all can run: sudo /usr/bin/python3 course.py hub"
        )
    elif not answers(python, "import ensurepip, venv"):
        yield f"{python} cannot make a .venv: apt-get install python3-venv, or your system's way of doing it."


def answers(python, code, **options):
    """Whether Python runs this code, under another account if the options say so."""
    try:
        return subprocess.run([python, "-c", code], cwd="/", capture_output=True, **options).returncode == 0
    except OSError:
        return False


def node_version():
    """The major version of this machine's node, 0 where it names none."""
    answer = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    return int((re.match(r"v(\d+)", answer) or [0, 0])[1])


if __name__ == "__main__":
    lines = list(missing(sys.argv[1]))
    sys.exit("\n".join(lines) if lines else 0)
