# -*- coding: utf-8 -*-
"""The one entry to the course; needs Python 3.11 to 3.14 and nothing else.

python course.py lab [notebook]       open JupyterLab on your own copy of the first notebook, or of the one named;
                                      --fresh 03 begins a copy again, --edit 03 opens the edition that is tested
python course.py test [arguments]     re-execute every notebook and run all tests; arguments go to pytest, but for
                                      --thorough: the notebooks once more, as another processor would compute them
python course.py present [notebook]   slides with live boards and a kernel behind them, for a lecture; ? shows the keys
                                      --hall lets phones vote on its questions, --relay over a class's server;
                                      --plan 45 or 90: the minutes that its clock follows; --lectures FOLDER: notes
                                      say how questions were answered in the lectures that you saved there
python course.py slides [notebook…]   write each notebook as one HTML file of slides, for use without a network
python course.py site                 write the series as a web site in which the boards still move
python course.py refresh [notebook…]  execute notebooks and save them with their outputs
python course.py minutes              count what each lesson takes; README's table, the notebooks' first cells and
                                      INSTRUCTORS.md follow, and what notebooks/course.toml says of lessons
python course.py publish              check the two addresses in pyproject.toml and write the links that follow
python course.py bench [--quick]      measure speed and memory
python course.py grade FOLDER         judge hand-ins: verdicts, points, a page for each student and one for the class;
                                      --unconfined does so without bubblewrap too, where students' code reaches your
                                      files; --live FOLDER shows who is stuck where while a class works, with
                                      --laptops also of those that join by an address and a code
python course.py exam                 write an exam in versions, its key, and question banks for Moodle and Canvas
python course.py worksheet 01         write a lesson's numbers for a pencil, with the key on pages of its own
python course.py handbook             write one page for a module handbook: goals, hours, exams, plans
python course.py hub                  serve a class with JupyterHub, see classroom/hub/README.md; needs root and node
python course.py hub collect 03       fetch what the class handed in of the third notebook, ready for grade;
                                      hub return 03 puts the pages that came of it into the students' files

python course.py COMMAND --help       what one of them does and takes

The first call sets up .venv beside this file, with uv where there is one; later ones reuse it.
"""

# Every Python from 2.7 on can read this file, to say which one to take; what the commands do is in commands/.
import os
import subprocess
import sys


def which_python():
    """What to say to whoever called this with a Python that is too old."""
    command = " ".join(sys.argv)
    for name in ("python3", "python3.14", "python3.13", "python3.12", "python3.11"):
        if runs(name):
            return "This machine has one: {0} {1}".format(name, command)
    ubuntu = "sudo apt-get install python3.11 python3.11-venv"
    where = "Get one from https://www.python.org/downloads (Ubuntu 22.04: {0}), then: python3.11 {1}"
    return where.format(ubuntu, command)


def runs(name):
    """Whether a Python of this name fits and really runs: some names only tell what to install."""
    with open(os.devnull, "w") as nowhere:
        try:
            fits = "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))"
            return subprocess.call([name, "-c", fits], stdout=nowhere, stderr=nowhere) == 0
        except OSError:
            return False


if __name__ == "__main__":
    if sys.version_info < (3, 11):
        this = "This course needs Python 3.11 or newer; this is Python {0}.{1}.".format(*sys.version_info)
        sys.exit(this + "\n" + which_python())
    from commands import main

    try:
        sys.exit(main(sys.argv[1:], __doc__))
    except KeyboardInterrupt:
        sys.exit(130)
