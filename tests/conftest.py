"""A real JupyterLab in a headless Chromium, for the tests that act as a learner does."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest

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

# What takes longest begins first, so that no worker is left alone with it at the end.
LONGEST = ["test_present", "test_site", "test_browser", "test_grade", "test_solutions", "test_slides", "test_exercises"]


def pytest_collection_modifyitems(items):
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.hookimpl(optionalhook=True)  # there is none without xdist
def pytest_xdist_make_scheduler(config, log):
    """A module or a notebook stays on one worker; of test_present, which is too long for that, a function does."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return nodeid.split("[")[0] if "test_present.py" in nodeid else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.getvalue("dist") == "loadscope" else None


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
def jupyterlab(folder, options=()):
    """A JupyterLab on this folder on a free port; yields its address. Its settings are those in the folder, if any."""
    settings = folder / ".settings/@jupyterlab"
    for name, text in SETTINGS.items() if not settings.exists() else ():
        (settings / name).parent.mkdir(parents=True, exist_ok=True)
        (settings / f"{name}.jupyterlab-settings").write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [*options, "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    options += [f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=test", "--ServerApp.port_retries=0"]
    environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(folder / ".settings")}
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
