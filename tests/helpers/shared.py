"""What all tests share, notebooks too: one run of each notebook, one browser, what is built once."""

import ast
import copy
import gc
import hashlib
import itertools
import json
import os
import pickle
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from unittest import mock

import nbformat
import preloaded_kernels
import pytest
from filelock import FileLock
from fill_in import fill_in
from hypothesis import settings
from lab_page import FLAGS, QUICKEST
from nbval.plugin import IPyNbCell
from saved_outputs import differences

from authors import browsers

# What one process compiles, the others find compiled, also where the environment says otherwise: kernels and servers
# import the course more than a hundred times.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The same examples in every run: a red run can be repeated. No deadline: these machines are shared.
settings.register_profile("course", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("course")

# Files that take long begin first, so that no worker is left with one at the end; before site and decks one that shows
# no notebook, while the last of those are still run.
LONG = [
    "test_lesson_in_lab",
    "test_boards_in_lab",
    "test_site_on_screens",
    "test_deck",
    "test_live_deck",
    "test_board_layout",
    "test_grade_answer",
    "test_hub",
    "test_bugs",
]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One more than there are cores, since one or other waits for a kernel or a browser; two for part of the tests."""
    return 2 if config.invocation_params.args else min((os.cpu_count() or 1) + 1, 4)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["shown"] = str(node.config.shown)


def pytest_configure(config):
    given = getattr(config, "workerinput", {})
    config.shown = Path(given.get("shown") or tempfile.mkdtemp())  # where notebooks' kernels keep what they have shown


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.shown)


def pytest_terminal_summary(terminalreporter):
    """One line for each reason for which something was skipped."""
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped"))
    for reason, times in reasons.items():
        terminalreporter.write_line(f"{times} skipped: {reason}")


def pytest_collection_modifyitems(config, items):
    """In its kernel a notebook is asked for more; notebooks begin, since site and decks show what they have shown."""
    last = {item.parent: item for item in items if isinstance(item, IPyNbCell)}
    for notebook, cell in last.items():
        file = shown_by(notebook.nb, config)
        more = {
            "Shown": in_its_kernel("record_outputs", "keep", notebook.path, file),
            "Solutions": answers(notebook),
            "Questions": in_its_kernel("solve_lesson", "work_through", notebook.path),
        }
        at = items.index(cell) + 1
        items[at:at] = [one_more(notebook, name, source) for name, source in more.items()]
    turns = {name: turn for turn, name in enumerate(LONG)}
    items.sort(key=lambda item: (-1 if item.parent in last else turns.get(item.path.stem, len(LONG)), item.path))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected stays: only afterwards Python looks for garbage, among what tests make."""
    gc.disable()  # looking through torch again and again takes as long as collecting does
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000)  # it looks after every 700 objects else, for a seventh of all that tests take
        gc.enable()


# ---------------------------------------------------------------------------------------------------------- notebooks


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """A notebook's kernel, started for its first cell, keeps its progress to itself: nobody's is shown or changed."""
    if not isinstance(item, IPyNbCell) or item.parent.kernel:
        return (yield)
    from authors.refresh import variables_for_readers

    item.parent.progress = tempfile.TemporaryDirectory()  # which goes when the notebook has been run
    with preloaded_kernels.kernels(), pytest.MonkeyPatch.context() as variables:
        for name, value in variables_for_readers(item.parent.progress.name).items():
            variables.setenv(name, value)
        result = yield
    if any(other.parent is item.parent and other.name == "Shown" for other in item.session.items):
        item.parent.kernel.kc.execute(in_its_kernel("record_outputs", "begin", item.parent.path), silent=True)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A cell that nbval is content with is looked at again, for what nbval does not compare.

    Every other test draws the same random numbers in every run: torch begins elsewhere in each process.
    """
    import torch  # not where pytest only hands the tests out

    torch.default_generator.manual_seed(0)
    result = yield
    if isinstance(item, IPyNbCell) and (found := differences(item.cell, item.test_outputs)):
        item.raise_cell_error("Cell outputs differ from the saved ones", "\n".join(found))
    return result


def one_more(notebook, name, source):
    """A cell for the kernel that has run a notebook, to be run in it too."""
    cell = nbformat.v4.new_code_cell(source, execution_count=1)
    number = len(notebook.nb.cells)
    return IPyNbCell.from_parent(notebook, name=name, cell_num=number, cell=cell, options=defaultdict(bool))


def answers(notebook):
    """In a cell: the library's answer to each exercise, and the verdict; `check` would refuse it for being that."""
    filled = copy.deepcopy(notebook.nb)
    fill_in(filled)
    lines = ["from workbench.exercises.api import verdict_on"]
    for cell, following in itertools.pairwise(cell for cell in filled.cells if cell.cell_type == "code"):
        if "exercise" in cell.metadata.get("tags", []):
            verdict = ast.unparse(ast.parse(following.source).body[-1]).replace("check(", "verdict_on(", 1)
            lines += [cell.source, f"assert {verdict}.status == 'correct', {verdict}"]
    return "\n".join(lines)


def in_its_kernel(file, function, *paths):
    """In a cell: a function of a file in tests/helpers/, called with paths."""
    where, given = (
        str(Path(__file__).with_name(f"{file}.py")),
        ", ".join(repr(str(path)) for path in paths),
    )
    return f"__import__('runpy').run_path({where!r})[{function!r}]({given})"  # which leaves no name there


def shown_by(notebook, config):
    """Where the kernel that runs a notebook keeps what it has shown."""
    return config.shown / hashlib.sha256(json.dumps(notebook, sort_keys=True).encode()).hexdigest()


# --------------------------------------------------------------------------------------------------------- built once


@pytest.fixture(scope="session")
def built_once(tmp_path_factory):
    """built_once(name, build): a folder that build(folder) fills, once for all workers."""

    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root

    def make(name, build):
        folder = root / name
        with FileLock(f"{folder}.lock"):
            if not (folder / "built").exists():
                folder.mkdir(exist_ok=True)
                build(folder)
                (folder / "built").touch()
        return folder

    return make


@pytest.fixture(scope="session")
def notebooks_run_once(pytestconfig):
    """Inside `with notebooks_run_once():` what a notebook shows is what its kernel has shown, if it was run here."""
    from authors.pages import outputs

    run_here = outputs.run_here

    def keep(value, file):
        whole = file.with_suffix(f".{os.getpid()}")
        whole.write_bytes(pickle.dumps(value))
        whole.replace(file)

    def found(notebook, after=None, lines=None):
        file = shown_by(notebook, pytestconfig)
        drawn, recorded = file.with_suffix(".drawn"), file.with_suffix(".lines")
        wanted = [file, *([drawn] if after else []), *([recorded] if lines else [])]
        if not all(one.exists() for one in wanted):  # a part of the tests is run, or no kernel has come to its end yet
            keep(run_here(notebook, after=after, lines=lines), file)
            if after:
                keep(after.made(), drawn)
            if lines:
                keep(lines.made(), recorded)
        if after:
            after.steps, after.wide, after.narrow, after.boards = pickle.loads(drawn.read_bytes())
        if lines:
            vars(lines).update(pickle.loads(recorded.read_bytes()))
        return pickle.loads(file.read_bytes())

    return lambda: mock.patch.object(outputs, "run_here", found)


@pytest.fixture(scope="module")
def one_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture
def own_folder(one_folder, monkeypatch):
    """Where `check` keeps progress: a folder to work in, emptied for each test, since `tmp_path` takes longer.

    And `check` waits for as long as it takes: these machines are shared.
    """
    monkeypatch.setattr("workbench.exercises.engine.runner.LIMIT_S", 600)
    for entry in one_folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    monkeypatch.chdir(one_folder)
    return one_folder


@pytest.fixture
def imported_afresh():
    """Inside, the course's own packages are not imported yet, as in a new kernel; afterwards all is as it was."""

    def ours():
        rooms = "attn_lib", "workbench", "authors", "classroom"
        return [name for name in sys.modules if name.partition(".")[0] in rooms]

    before = {name: sys.modules.pop(name) for name in ours()}
    yield
    for name in ours():
        del sys.modules[name]
    sys.modules.update(before)


# ------------------------------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="session")
def chromium():
    """The browser of this machine; CHROMIUM may name one. Skips where there is none, but never in CI."""
    path = browsers.browser_here(first=QUICKEST)
    if not path:
        message = f"no browser found: looked for {', '.join(browsers.BROWSERS)} and the variable CHROMIUM"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    return path


@pytest.fixture(scope="session")
def browser(chromium):
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # as long as all else waits, not 5 s: these machines are shared
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()
