"""The commands of course.py, which says what each does; the standard library is all they need until .venv is there."""

import ast
import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
NOTEBOOKS = ROOT / "notebooks"
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"
SETTINGS = "jupyterlab.json"  # as JupyterLab reads its overrides.json
# What is installed for whom; each part is added by the first command that needs it.
PARTS = {"learners": "requirements.txt", "authors": "authors/requirements.txt", "hub": "deploy/requirements.txt"}


def main(arguments, usage=""):
    commands = {"lab": lab, "test": test, "present": present, "slides": slides, "site": site}
    commands |= {"refresh": refresh, "minutes": minutes, "bench": bench, "grade": grade, "hub": hub}
    if not arguments or arguments[0] not in commands:
        sys.exit(usage if not arguments else f"course.py has no command {arguments[0]!r}.\n\n{usage}")
    if arguments[0] == "hub":
        look_at_the_machine()
    set_up(*{"lab": (), "hub": ("hub",)}.get(arguments[0], ("authors",)))
    return commands[arguments[0]](arguments[1:])


# ---------------------------------------------------------------------------------------------------------- set-up


def look_at_the_machine():
    """What a hub needs of it and is not there is said before anything is installed."""
    python = PYTHON if PYTHON.is_file() else sys.executable
    if run([sys.executable, ROOT / "deploy/check_requirements.py", python], check=False):
        sys.exit(1)


def set_up(*parts):
    """Make .venv, install what learners need and these parts; what was finished for the same files before is left."""
    for part in ("learners", *parts):
        stamp, wanted = VENV / f"{part}-ready", fingerprint(part)  # written last: without it the part is not finished
        if stamp.is_file() and stamp.read_text() == wanted and PYTHON.is_file():
            continue
        keep_off_others()
        size = "a few minutes, about 1.3 GB" if part == "learners" else "a minute"
        print(f"Setting up {VENV} for {part} (once; {size}) …", flush=True)
        stamp.unlink(missing_ok=True)
        if VENV.exists() and not works(PYTHON):
            shutil.rmtree(VENV)  # half made, or made by a Python that is gone
        if not VENV.exists():
            if conda := os.environ.get("CONDA_DEFAULT_ENV"):
                print(CONDA.format(conda))
            run([sys.executable, "-m", "venv", VENV])
        install(PARTS[part], torch_index() if part == "learners" else [])
        settle_jupyterlab()
        stamp.write_text(wanted)
        print("Set up.", flush=True)


CONDA = (
    "The conda environment {0} is active and stays as it is: this course has a .venv of its own. To learn in a conda "
    "environment instead, make one of environment.yml; README.md has the line."
)


def keep_off_others():
    """Leave a .venv alone that is a link or that another copy of the course uses: it would no longer be theirs."""
    if VENV.is_symlink():
        sys.exit(f"{VENV} is a link to {VENV.resolve()}, which was not made for this folder. Remove the link: {REST}")
    for other in copies_served():
        if not (other / ".venv").exists() or other.samefile(ROOT):
            continue
        if VENV.samefile(other / ".venv"):
            sys.exit(f"{VENV} is used by the course in {other}. Remove {other / '.venv'} there, or use that copy.")


REST = "the next call then sets up a .venv here (about 1.3 GB)."


def copies_served():
    """The folders whose attn_lib is imported in .venv: pip notes where what it installs with -e stands."""
    for note in VENV.rglob("attn_lib-*.dist-info/direct_url.json"):
        with contextlib.suppress(ValueError):  # half written
            address = json.loads(note.read_text(encoding="utf-8"))["url"]
            yield Path(urllib.request.url2pathname(urllib.parse.urlsplit(address).path))


def fingerprint(part):
    """What a part's set-up depends on: its inputs, the Python that made it, and where it stands."""
    names = [PARTS[part], "pyproject.toml", SETTINGS] if part == "learners" else [PARTS[part]]
    files = b"".join((ROOT / name).read_bytes() for name in names)
    return hashlib.sha256(f"{sys.version_info[:2]} {ROOT}".encode() + files).hexdigest()


def works(python):
    command = [str(python), "-m", "pip", "--version"]
    return python.is_file() and subprocess.run(command, capture_output=True).returncode == 0


def install(requirements, index):
    """With uv where there is one and it can, which takes a tenth of the time; otherwise with pip."""
    uv = shutil.which("uv")
    if uv:
        command = [uv, "pip", "install", "--compile-bytecode", "--python", PYTHON]  # as pip does: a hub's users cannot
        command += [*as_pip_is_told(), *index, "-r", requirements]
        if run(command, check=False) == 0:
            return
        print("uv could not do it, pip will.", flush=True)
    run([PYTHON, "-m", "pip", "install", *index, "-r", requirements])


def as_pip_is_told():
    """uv's options for what this user's pip is configured to: uv reads no settings of pip's.

    And pip takes the best version that any of its indexes has, uv that of the first index that knows the name.
    """
    listed = subprocess.run([PYTHON, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    settings = {}
    for line in sorted(listed.splitlines(), key=lambda line: line.startswith(":env:")):  # the environment counts most
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = ast.literal_eval(value).split()
    options = ["--index-strategy", "unsafe-best-match"]
    names = {"index-url": "--default-index", "extra-index-url": "--extra-index-url", "find-links": "--find-links"}
    for name, option in (names | {"trusted-host": "--allow-insecure-host"}).items():
        options += [part for value in settings.get(name, ()) for part in (option, value)]
    return options


def torch_index():
    """PyPI's wheel for Linux x86-64 brings 2.7 GB of CUDA; PyTorch's own index has one without."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or has_torch():
        return []
    try:
        with urllib.request.urlopen(CPU_WHEELS + "/torch/", timeout=5):
            return ["--extra-index-url", CPU_WHEELS]
    except OSError:
        print(LARGE, flush=True)
    if not sys.stdin or not sys.stdin.isatty():
        print("It begins now, since nobody can be asked here; Ctrl-C stops it.", flush=True)
        return []
    with contextlib.suppress(EOFError):
        if input("Download it all the same? [y/N] ").strip().lower() in ("y", "yes"):
            return []
    sys.exit("Nothing was installed.")


LARGE = (
    f"PyTorch's index of builds for the processor alone, {CPU_WHEELS}, does not answer, and the usual build has CUDA: "
    "2.7 GB more to download. Try again later or from another network; if yours has a mirror of that index, tell pip "
    "so: pip config set global.extra-index-url ADDRESS"
)


def has_torch():
    """Whether .venv has the right torch already, of whichever build: then nothing is left to choose."""
    version = re.search(r"^torch==(\S+)", (ROOT / PARTS["learners"]).read_text(), re.M)[1]
    return any(VENV.glob(f"lib/python*/site-packages/torch-{version}*"))


def settle_jupyterlab():
    """No question about news, ↓ stops at folded cells too, and kernels explain names that are missing from a copy."""
    settings = VENV / "share/jupyter/lab/settings"
    settings.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / SETTINGS, settings / "overrides.json")
    kernels = VENV / "etc/ipython"
    kernels.mkdir(parents=True, exist_ok=True)
    (kernels / "ipython_kernel_config.py").write_text(
        'import os\n\nif os.path.exists(".copy.json"):  # in the folder of a learner\'s copies\n'
        '    c.InteractiveShellApp.extensions = ["workbench.missing"]\n'
    )


# -------------------------------------------------------------------------------------------------------- commands


def lab(arguments):
    """Open JupyterLab on the learner's copy; --no-browser, --port and JupyterLab's other options pass through."""
    ours = [argument for argument in arguments if argument in ("--edit", "--fresh")]
    arguments = [argument for argument in arguments if argument not in ours]
    if "--fresh" in ours and not named(arguments):
        sys.exit("Which one? python course.py lab --fresh 03 begins your copy of the third notebook again.")
    notebook, options = find_notebook(arguments[0] if named(arguments) else "01"), arguments[named(arguments) :]
    if "--edit" in ours:
        return jupyterlab(notebook, "notebooks", options)
    make_copies("--fresh", notebook.stem) if "--fresh" in ours else make_copies()
    return jupyterlab(notebook, "my", options)


def present(arguments):
    """The deck of a notebook with a kernel behind it, in the browser; --no-browser, --port and others pass through."""
    notebook = find_notebook(arguments[0] if named(arguments) else "01")
    options = [*server_options(), *arguments[named(arguments) :]]
    return run([PYTHON, "-m", "authors.deck.serve", notebook, *options], check=False)


def slides(arguments):
    """Write notebooks as decks into build/slides."""
    notebooks = [find_notebook(name) for name in arguments]
    return run([PYTHON, "-m", "authors.deck.build", *notebooks], check=False, env=one_thread())


def site(arguments):
    """Write the web site into build/site."""
    return run([PYTHON, "-m", "authors.site.sphinx_site", *arguments], check=False, env=one_thread())


def test(arguments):
    """Every notebook strictly and the tests, in one pytest; with --thorough the notebooks on a lesser processor too."""
    thorough = "--thorough" in arguments
    arguments = [argument for argument in arguments if argument != "--thorough"]
    code = run([PYTHON, "-m", "pytest", *arguments], check=False, env=one_thread())
    if thorough:
        other = {**os.environ, "ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "2"}  # no vector instructions
        code = run([PYTHON, "-m", "pytest", "notebooks"], check=False, env=other) or code
    return code


def refresh(arguments):
    """Execute notebooks and save them with outputs; one that fails is left as it was."""
    if Path(sys.prefix).resolve() != VENV.resolve():  # nbclient lives in .venv
        return run([PYTHON, ROOT / "course.py", "refresh", *arguments], check=False, env=one_thread())
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    failed = []
    for path in [find_notebook(name) for name in arguments] or sorted(NOTEBOOKS.glob("*.ipynb")):
        print(f"{path.name} … ", end="", flush=True)
        saved, notebook = (nbformat.read(path, as_version=4) for _ in range(2))
        client = NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(path.parent)}},
        )
        try:
            with own_progress():
                client.execute()
        except CellExecutionError as error:
            failed.append(path.name)
            print(f"failed, and was not changed:\n{error}")
            continue
        notebook.metadata.get("language_info", {}).pop("version", None)
        keep_what_looks_the_same(saved, notebook)
        nbformat.validate(notebook)
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
        print("saved", flush=True)
    run([PYTHON, "-m", "authors.sections"])  # headings that exercises name may have changed
    run([PYTHON, "-m", "authors.deck.notes"])  # slides that the guide for instructors names may have moved
    minutes()
    return 1 if failed else 0


def minutes(arguments=()):
    """Count what each lesson takes a student, and bring up to date all that is made from notebooks/course.toml."""
    return run([PYTHON, "-m", "authors.lessons"])


def keep_what_looks_the_same(saved, made):
    """Outputs that only a file comparison tells apart stay as they were saved, so that a diff shows what changed."""
    import base64
    import io

    import numpy
    from PIL import Image

    def pixels(png):
        return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA"), int)

    before = {cell.id: cell for cell in saved.cells}
    for cell in made.cells:
        was = before.get(cell.id, {})
        timed = "measured" in cell.metadata.get("tags", []) and was.get("source") == cell.source
        for old, new in zip(was.get("outputs", []), cell.get("outputs", []), strict=False):
            if timed and "data" in old and "data" in new:
                new.data, new.metadata = old.data, old.metadata
            for mime in old.get("data", {}).keys() & new.get("data", {}).keys():
                alike = "widget-view" in mime  # it names a model that lives as long as its kernel
                if mime == "image/png":  # another processor draws edges another shade of grey
                    a, b = pixels(old.data[mime]), pixels(new.data[mime])
                    alike = a.shape == b.shape and abs(a - b).max() < 32
                if alike:
                    new.data[mime] = old.data[mime]


def bench(arguments):
    """Run every benchmarks/bench_*.py in turn."""
    benches = sorted((ROOT / "benchmarks").glob("bench_*.py"))
    return max(run([PYTHON, path, *arguments], check=False) for path in benches)


def grade(arguments):
    """Judge a folder of hand-ins: tables, gradebooks and pages; paths are the caller's."""
    code = run([PYTHON, "-m", "authors.grade", *arguments], check=False, cwd=None, env=with_authors())
    if code < 0:  # a signal, which may have come from a hand-in
        print("Grading was ended from outside. Call it again: it skips the hand-ins that ran, and names them.")
    return code


def hub(arguments):
    """Start JupyterHub for a class, stop it, keep its roster, fetch what was handed in; paths are the caller's."""
    return run([PYTHON, ROOT / "deploy/cli.py", *arguments], check=False, cwd=None)


# --------------------------------------------------------------------------------------------------------- helpers


def find_notebook(name):
    """Take notebooks/03_masking.ipynb, 03_masking or 03, from any folder."""
    matches = list(NOTEBOOKS.glob(Path(name).stem + "*.ipynb"))
    if len(matches) != 1:
        have = ", ".join(path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb")))
        sys.exit(f"{name!r} names {len(matches)} notebooks; there are: {have}")
    return matches[0]


def named(arguments):
    return bool(arguments) and not arguments[0].startswith("-")


def make_copies(*options):
    """The learner's own notebooks in my/: made, or brought up to date."""
    run([PYTHON, "-m", "workbench.copies", *options])


def jupyterlab(notebook, folder, options):
    """Start JupyterLab on the notebook of this name in a folder of the course."""
    address = f"/lab/tree/{folder}/{notebook.name}"
    own = ROOT / "my/.jupyterlab/workspaces"  # else the tabs and kernels of the user's other courses open in this one
    ours = ["--ServerApp.root_dir", ROOT, "--LabApp.default_url", address, "--LabApp.workspaces_dir", own]
    ours += server_options()
    return run([PYTHON, "-m", "jupyterlab", *ours, *options], check=False)


def server_options():
    """What every Jupyter server here needs: no browser where there is no screen, and a word where root starts it."""
    options = [] if has_display() else ["--no-browser"]  # Jupyter prints the address instead
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # a container, as a rule
    return options


def has_display():
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def with_authors():
    """The authors' tools are not installed: a command that stays in the caller's folder finds them by path."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}


@contextlib.contextmanager
def own_progress():
    """Inside, exercises that are done count nowhere else: what `progress` shows is the same whoever saves it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTENTION_PROGRESS"] = folder
        try:
            yield
        finally:
            del os.environ["ATTENTION_PROGRESS"]


def one_thread():
    """Several notebooks run at once: more threads in each would only be in the others' way."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def run(command, *, check=True, env=None, cwd=ROOT):
    """Run in the project's folder; leave with its exit code if it fails and `check` says that this ends it."""
    code = subprocess.run([str(part) for part in command], cwd=cwd, env=env).returncode
    if check and code:
        sys.exit(f"This step failed; the next call takes it up again: {' '.join(map(str, command))}")
    return code
