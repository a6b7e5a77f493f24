"""The commands of course.py, which says what each does; the standard library is all they need until .venv is there."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from . import machine
from .setting_up import PYTHON, ROOT, configure_jupyterlab, has_torch, run, set_up

NOTEBOOKS = ROOT / "notebooks"


def main(arguments, overview=""):
    if arguments in (["-h"], ["--help"]):
        print(overview)
        return 0
    commands = parser()
    if not arguments or arguments[0] not in commands.commands:
        sys.exit(overview if not arguments else f"course.py has no command {arguments[0]!r}.\n\n{overview}")
    options, rest = commands.parse_known_args(arguments)
    if rest and not options.passes_on:
        commands.error(f"{options.command} does not take {' '.join(rest)}")
    if options.command == "hub":
        check_hub_requirements()
    if not has_torch() and (why := machine.lacks()):
        sys.exit(why)
    votes = options.command == "present" and (options.hall or options.relay)
    set_up(*options.needs, *["classroom"] * bool(votes))
    return options.run(options, rest)


def parser():
    """What each command takes. What it does not know goes on to the program that it starts, as its usage says."""
    whole = argparse.ArgumentParser(prog="course.py", allow_abbrev=False)
    commands = whole.add_subparsers(dest="command")
    whole.commands = commands.choices

    def command(run, usage, needs=("authors",), passes_on=True, **settings):
        settings |= {"description": run.__doc__, "allow_abbrev": False}
        settings["usage"] = f"course.py {run.__name__} {usage}".strip()
        one = commands.add_parser(run.__name__, **settings)
        one.set_defaults(run=run, needs=needs, passes_on=passes_on)
        return one

    one = command(lab, "[notebook] [--fresh | --edit] [JupyterLab's options]", needs=("model",))
    one.add_argument("--fresh", action="store_true", help="begin your copy of this notebook again; the old one is kept")
    one.add_argument("--edit", action="store_true", help="open the edition that is tested, not your copy")
    one = command(test, "[--thorough] [pytest's arguments]", needs=("authors", "npm", "classroom", "model"))
    thorough = "then the notebooks once more, as another processor would compute them"
    one.add_argument("--thorough", action="store_true", help=thorough)
    hall_words = "[notebook] [--plan PLAN] [--hall [--address ADDRESS | --relay ADDRESS]] [--lectures FOLDER] "
    hall_words += "[Jupyter Server's options]"
    one = command(present, hall_words, needs=("authors", "npm", "model"))
    plans = "the lecture that the clock follows: 45 minutes, as without this option, 90, or one in which nobody votes"
    one.add_argument("--plan", choices=["45", "90", "no-votes"], help=plans)
    one.add_argument("--hall", action="store_true", help="phones vote: a server for them beside the deck")
    one.add_argument("--address", help="which of this machine's addresses phones take, where it has several")
    one.add_argument("--relay", help="phones vote on another machine, where course.py hub hall runs: its https address")
    earlier = "where lectures lie that you saved: notes say how each question was answered the last time"
    one.add_argument("--lectures", metavar="FOLDER", type=Path, help=earlier)
    for notebooks_alone in (slides, refresh):
        one = command(notebooks_alone, "[notebook ...]", needs=("authors", "npm", "model"), passes_on=False)
        one.add_argument("notebooks", nargs="*", help=argparse.SUPPRESS)
    command(site, "[Sphinx's options]", needs=("authors", "npm", "model"))
    command(minutes, "", passes_on=False)
    command(publish, "", passes_on=False)
    command(bench, "[--quick] [other options of benchmarks/bench_*.py]", needs=("authors", "classroom"))
    command(grade, "", needs=("classroom",), add_help=False)  # its own parser explains its options
    command(
        exam,
        "[--seed …] [--kinds …] [--lessons …] [--each N] [--versions N] [--bank N] [--out FOLDER]",
        needs=("classroom",),
    )
    command(worksheet, "lesson [--seed …] [--groups N] [--out FOLDER]", needs=("classroom",))
    command(handbook, "[--lessons 1-5,8] [--out FOLDER]", needs=("classroom",))
    hub_words = "[stop | add ... | remove ... | list | links ADDRESS | deadline ... | collect NOTEBOOK | "
    hub_words += "return NOTEBOOK | live | hall [new]]"
    command(hub, hub_words, needs=("classroom", "hub", "model"), epilog="classroom/hub/README.md says what each does.")
    return whole


def check_hub_requirements():
    """Leave, with a sentence for each thing that this machine lacks, before anything is installed."""
    python = PYTHON if PYTHON.is_file() else sys.executable
    if run([sys.executable, ROOT / "classroom/hub/check_requirements.py", python], check=False):
        sys.exit(1)


def lab(options, rest):
    """Open JupyterLab on your own copy of a notebook: of the first one, if none is named."""
    if options.fresh and not names_a_notebook(rest):
        sys.exit("Which one? python course.py lab --fresh 03 begins your copy of the third notebook again.")
    notebook, rest = split_notebook(rest)
    configure_jupyterlab()  # it may have changed since .venv was set up
    if options.edit:
        return jupyterlab(notebook, "notebooks", rest)
    make_copies("--fresh", notebook.stem) if options.fresh else make_copies()
    return jupyterlab(notebook, "my", rest)


def present(options, rest):
    """Open the deck of a notebook in the browser, with a kernel behind it: of the first one, if none is named."""
    notebook, rest = split_notebook(rest)
    hall = ["--hall"] if options.hall or options.relay else []
    for name in ("plan", "address", "relay"):
        hall += [f"--{name}", getattr(options, name)] if getattr(options, name) else []
    if options.lectures:
        hall += ["--lectures", options.lectures.resolve()]
    return run(
        [PYTHON, "-m", "authors.deck.serve", notebook, *hall, *server_options(), *rest], check=False, env=with_a_home()
    )


def slides(options, rest):
    """Write notebooks, or all, as decks into build/slides: one HTML file each, for use without a network."""
    notebooks = [find_notebook(name) for name in options.notebooks]
    return run([PYTHON, "-m", "authors.deck.build", *notebooks], check=False, env=one_thread())


def site(options, rest):
    """Write the series as a web site, in which the boards still move, into build/site."""
    return run([PYTHON, "-m", "authors.site.sphinx_site", *rest], check=False, env=one_thread())


def test(options, rest):
    """Run every notebook, whose outputs must be the saved ones, and all tests, in one pytest."""
    code = run([PYTHON, "-m", "pytest", *rest], check=False, env=one_thread())
    if options.thorough:
        other = {  # no vector instructions in PyTorch, and products as MKL computes them on any processor
            **os.environ,
            "ATEN_CPU_CAPABILITY": "default",
            "MKL_CBWR": "COMPATIBLE",
            "OMP_NUM_THREADS": "2",
        }
        numbers = [PYTHON, "-m", "pytest", "notebooks", "-k", "Cell or Solutions"]  # all else was seen above
        code = run(numbers, check=False, env=other) or code
    return code


def refresh(options, rest):
    """Execute notebooks, or all, and save them with their outputs; one that fails is left as it was."""
    notebooks = [find_notebook(name) for name in options.notebooks]
    return run([PYTHON, "-m", "authors.refresh", *notebooks], check=False, env=one_thread())


def minutes(options, rest):
    """Count what each lesson takes a student, and bring up to date all that is made from notebooks/course.toml."""
    return run([PYTHON, "-m", "authors.lesson_texts"], check=False)


def publish(options, rest):
    """Check the two addresses in pyproject.toml, and write the links that follow from them, or say what to fill in."""
    return run([PYTHON, "-m", "authors.publish"], check=False)


def bench(options, rest):
    """Measure speed and memory: every benchmarks/bench_*.py in turn."""
    benches = sorted((ROOT / "benchmarks").glob("bench_*.py"))
    return max(run([PYTHON, path, *rest], check=False) for path in benches)


def grade(options, rest):
    """Judge a folder of submissions: tables, gradebooks and pages; paths are the caller's."""
    code = in_callers_folder("classroom.grade", rest)
    if code < 0:  # a signal, which may have come from a submission
        print("Grading was ended from outside. Call it again: it skips the hand-ins that ran, and names them.")
    return code


def exam(options, rest):
    """Write an exam in versions, its key, and question banks; the wrong answers are the series' misconceptions."""
    return in_callers_folder("classroom.exam", rest)


def worksheet(options, rest):
    """Write a lesson's numbers for a pencil: empty matrices, and the key on pages of its own."""
    return in_callers_folder("classroom.exam.worksheet", rest)


def handbook(options, rest):
    """Write one page for a module handbook: goals, needs, hours, exams, and plans of what may be chosen."""
    return in_callers_folder("classroom.handbook", rest)


def hub(options, rest):
    """Serve a class with JupyterHub, end it, keep its roster, fetch what was handed in. Needs root and node."""
    configure_jupyterlab()
    return in_callers_folder("classroom.hub.cli", rest)


# --------------------------------------------------------------------------------------------------------- helpers


def names_a_notebook(arguments):
    return bool(arguments) and not arguments[0].startswith("-")


def split_notebook(arguments):
    """The notebook named first, or the first there is, and the arguments behind its name."""
    is_named = names_a_notebook(arguments)
    return find_notebook(arguments[0] if is_named else "01"), arguments[is_named:]


def find_notebook(name):
    """Take notebooks/03_masking.ipynb, 03_masking, 03 or 3, from any folder."""
    matches = list(NOTEBOOKS.glob(Path(name).stem.zfill(2) + "*.ipynb"))
    if len(matches) != 1:
        have = ", ".join(path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb")))
        sys.exit(f"{name!r} names {len(matches)} notebooks; there are: {have}")
    return matches[0]


def make_copies(*options):
    """The learner's own notebooks in my/: made, or brought up to date."""
    run([PYTHON, "-m", "workbench.copies", *options])


def jupyterlab(notebook, folder, options):
    """Start JupyterLab on the notebook of this name in a folder of the course."""
    address = f"/lab/tree/{folder}/{notebook.name}"
    own = ROOT / "my/.jupyterlab/workspaces"  # else the tabs and kernels of the user's other courses open in this one
    ours = ["--ServerApp.root_dir", ROOT, "--LabApp.default_url", address, "--LabApp.workspaces_dir", own]
    ours += server_options()
    return run([PYTHON, "-m", "jupyterlab", *ours, *options], check=False, env=with_a_home())


def with_a_home():
    """The environment for Jupyter, whose own files get a place in my/ where the user's home cannot be written."""
    home = Path("~").expanduser()
    try:
        home.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=home).close()
        return None
    except OSError as error:
        own = ROOT / "my/.jupyterlab/home"
        print(
            f"Your home folder cannot be written ({error.strerror}: {home}). Jupyter's own files go to {own} instead."
        )
    own.mkdir(parents=True, exist_ok=True)
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR")
    return {**os.environ, "HOME": str(own), **{name: str(own / name.lower()) for name in places}}


def server_options():
    """What every Jupyter server here needs: no browser where there is no screen, and a word where root starts it."""
    options = [] if has_display() else ["--no-browser"]  # Jupyter prints the address instead
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # a container, as a rule
    return options


def has_display():
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def in_callers_folder(module, arguments):
    """Run one of the course's modules where the caller stands, so that the paths named are the caller's.

    The classroom is not installed, so PYTHONPATH says where it is. With -P nothing is imported from the folder that
    the caller stands in: it may hold what students handed in.
    """
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return run([PYTHON, "-P", "-m", module, *arguments], check=False, cwd=None, env={**os.environ, "PYTHONPATH": path})


def one_thread():
    """Several notebooks run at once: more threads in each would only be in the others' way."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}
