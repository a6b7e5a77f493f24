"""A real JupyterLab in a headless Chromium, for the tests that act as a learner does."""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent
ARTEFACTS = ROOT / "test-artefacts"
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "chrome", "msedge"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SETTINGS = {
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
    "notebook-extension/tracker": '{"windowingMode": "none"}',  # every cell is on the page, not only those in view
}
BOARDS = """\
import torch
from attn_lib.explorers import by_hand_explorer, heads_explorer, mask_painter, reshape_explorer, softmax_explorer
heads = torch.tensor([[[0.9, 0.1], [0.5, 0.5]], [[1.0, 0.0], [0.2, 0.8]]])
---
by_hand = by_hand_explorer()
by_hand
---
softmax_explorer()
---
mask_painter()
---
heads_explorer(heads, ["a", "b"])
---
reshape_explorer()
---
by_hand
"""


# The longest first, so that no worker is left with them at the end, and into how many groups each is cut.
LONG = {"test_present": 2, "test_site": 3, "test_browser": 1, "test_grade": 1, "test_exercises": 4, "test_slides": 2}


def pytest_collection_modifyitems(items):
    order = list(LONG)
    items.sort(key=lambda item: order.index(item.path.stem) if item.path.stem in order else len(order))


@pytest.hookimpl(optionalhook=True)  # there is none without xdist
def pytest_xdist_make_scheduler(config, log):
    """A group runs on one worker, one test after the other: a notebook, a file of tests, or a part of a long one."""
    from xdist.scheduler import LoadScopeScheduling

    class InGroups(LoadScopeScheduling):
        groups, counted = {}, Counter()

        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            if nodeid not in self.groups:
                self.groups[nodeid] = f"{file} {self.counted[file] % LONG.get(Path(file).stem, 1)}"
                self.counted[file] += 1
            return self.groups[nodeid]

    return InGroups(config, log)


@pytest.fixture(scope="session")
def built_once(tmp_path_factory):
    """built_once(name, build): a folder that build(folder) fills, once for all workers."""

    def make(name, build):
        if "PYTEST_XDIST_WORKER" not in os.environ:
            folder = tmp_path_factory.mktemp(name)
            build(folder)
            return folder
        folder = tmp_path_factory.getbasetemp().parent / name
        with FileLock(f"{folder}.lock"):
            if not (folder / "built").exists():
                folder.mkdir(exist_ok=True)
                build(folder)
                (folder / "built").touch()
        return folder

    return make


def find_browser():
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def chromium():
    """The browser of this machine; CHROMIUM may name one. Skips where there is none, but never in CI."""
    path = find_browser()
    if not path:
        message = f"no browser found: looked for {', '.join(BROWSERS)} and the variable CHROMIUM"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    return path


@pytest.fixture(scope="session")
def lab(chromium, tmp_path_factory):
    """The address of a JupyterLab that serves copies of the notebooks, unexecuted, and one with all boards."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "img", folder / "img")
    (folder / "notebooks").mkdir()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, folder / "notebooks" / f"saved_{path.name}")
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        nbformat.write(notebook, folder / "notebooks" / path.name)
    write_notebook(folder / "boards.ipynb", BOARDS)
    with jupyterlab(folder) as address:
        yield address


def write_notebook(path, text):
    """A notebook of code cells, which stand in the text with --- between them."""
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in text.split("---\n")]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


@contextlib.contextmanager
def jupyterlab(folder, options=(), **variables):
    """A JupyterLab on this folder on a free port; yields its address. Its settings are those in the folder, if any."""
    settings = folder / ".settings/@jupyterlab"
    for name, text in SETTINGS.items() if not settings.exists() else ():
        (settings / name).parent.mkdir(parents=True, exist_ok=True)
        (settings / f"{name}.jupyterlab-settings").write_text(text)
    port = random.SystemRandom().randrange(10_000, 30_000)  # the next free one would be that of another worker too
    options = [*options, "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    options += [f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=test", "--ServerApp.port_retries=0"]
    environment = {**os.environ, **variables, "JUPYTERLAB_SETTINGS_DIR": str(folder / ".settings")}
    environment |= {f"JUPYTER_{kind}_DIR": str(folder / f".{kind}") for kind in ("CONFIG", "RUNTIME")}
    environment["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / ".workspaces")
    with open(folder / "lab.log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, server, folder / "lab.log")
        yield address
    finally:
        server.terminate()
        server.wait(20)


def wait_for(address, server, log):
    for _ in range(240):
        if server.poll() is not None:
            break
        try:
            return urllib.request.urlopen(f"{address}/api?token=test", timeout=2).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.25)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


@pytest.fixture(scope="session")
def browser(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()
