"""JupyterLab for the browser's tests and the benchmark of boards: a server on a folder, and a page on a notebook."""

import contextlib
import json
import os
import random
import shutil
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import preloaded_kernels
import pytest
from paths import ROOT

from commands import setting_up

ARTEFACTS = ROOT / "test-artefacts"
QUICKEST = "chromium-headless-shell"  # of the browsers, to open a window
FEATURES = [  # that a browser of tests is without; Chromium heeds one list only, so Playwright's own stands in it
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),  # two pages more in every window, which cost half of opening one
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"),
    *("HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"),
    *("AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"),
    "PreconnectToSearch",
]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=" + ",".join(FEATURES),
]
SETTINGS = {
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
    "notebook-extension/tracker": '{"windowingMode": "none"}',  # every cell is on the page, not only those in view
}
WITHOUT = {"disabledExtensions": {"@jupyterlab/notebook-extension:export": True}}  # its menu has nbconvert imported
PATIENCE = 60_000  # ms: how long something may take to be seen on a machine that is busy


# JavaScript: those of the nodes whose own text is shown in less than 18 px, which nobody reads from the last row.
TOO_SMALL = """const tooSmall = (nodes, scale = 1) => nodes.filter((node) =>
  [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim())
  && node.getClientRects().length && !node.closest("aside, mjx-container, math, script")
  && parseFloat(getComputedStyle(node).fontSize) * scale * (node.currentCSSZoom ?? 1) < 17.9
).map((node) => `${node.className} ${getComputedStyle(node).fontSize}: ${node.textContent.slice(0, 20)}`);
"""


class Lab:
    """One JupyterLab page on one notebook, and what a person does there."""

    def __init__(self, browser, address, path, size=(1366, 768), before=None, page=None):
        """In a window of its own, or in the page of one that was left: JupyterLab takes half as long to come there."""
        self.address, self.path = address, path
        viewport = {"width": size[0], "height": size[1]}
        self.page = page or browser.new_context(viewport=viewport, reduced_motion="reduce").new_page()
        self.context = self.page.context
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
        self.page.set_default_timeout(PATIENCE)
        self.complaints = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if is_complaint(m) else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if before:
            before(self.page)
        self.page.goto(f"{address}/lab/tree/{path}?token=test&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", state="attached")
        self.idle()

    def idle(self):
        """Wait until the notebook in front has a kernel that is waiting."""
        self.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    def run_all(self):
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_text("Run All Cells", exact=True).click()
        return self.wait_until_run()

    def wait_until_run(self):
        self.page.wait_for_function(
            """() => [...document.querySelectorAll('.jp-CodeCell')].every(cell =>
                 /\\[\\d+\\]/.test(cell.querySelector('.jp-InputPrompt').textContent)
                 || !cell.querySelector('.cm-content').textContent.trim())"""
        )
        return self

    def board(self, title, nth=0):
        board = self.page.locator(f".attn-board[role=group][aria-label='{title}']").nth(nth)
        board.scroll_into_view_if_needed()
        return board

    def leave(self):
        """Its kernels end, and a window remains that knows nothing, for the next one."""
        self.end(self.kernels())
        self.page.goto(f"{self.address}/api?token=test")  # a lesson that is still open may write down more
        self.page.evaluate("localStorage.clear(), sessionStorage.clear()")
        self.page.goto("about:blank")
        return self.page

    def close(self):
        self.context.close()
        kernels = self.kernels()
        threading.Thread(target=self.end, args=(kernels,), daemon=True).start()  # a kernel takes a second to end

    def kernels(self):
        """Of this notebook, however often it is open."""
        with urllib.request.urlopen(f"{self.address}/api/sessions?token=test") as answer:
            sessions = json.load(answer)
        return {session["kernel"]["id"] for session in sessions if session["path"] == self.path}

    def end(self, kernels):
        for kernel in kernels:
            request = urllib.request.Request(f"{self.address}/api/kernels/{kernel}?token=test", method="DELETE")
            with contextlib.suppress(OSError):  # the server is gone, and its kernels with it
                urllib.request.urlopen(request).close()


def is_complaint(message):
    """Whether the page says that something is wrong; not that the list of kernels, asked for again and again, failed.

    jupyter_server answers 500 to that while a kernel is just starting: it has no time of its last activity yet.
    """
    return message.type == "error" and "/api/kernels?" not in message.location["url"]


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
    (folder / ".app").mkdir(exist_ok=True)
    setting_up.put_lab(folder / ".labextensions")  # of this tree: .venv may have an earlier one
    shutil.copy(ROOT / "commands/jupyterlab.json", folder / ".app/overrides.json")
    (folder / ".CONFIG/labconfig").mkdir(parents=True, exist_ok=True)
    (folder / ".CONFIG/labconfig/page_config.json").write_text(json.dumps(WITHOUT))
    port = random.SystemRandom().randrange(10_000, 30_000)  # the next free one would be that of another worker too
    options = [*options, "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    options += [
        f"--LabApp.app_settings_dir={folder / '.app'}",
        f"--LabApp.extra_labextensions_path={folder / '.labextensions'}",
        f"--ServerApp.root_dir={folder}",
        "--IdentityProvider.token=test",
        "--ServerApp.port_retries=0",
    ]
    environment = {**os.environ, **variables, "JUPYTERLAB_SETTINGS_DIR": str(folder / ".settings")}
    environment["PATH"] = str(Path(sys.executable).parent)  # as for most learners: JupyterLab finds no Node.js to ask
    environment |= {f"JUPYTER_{kind}_DIR": str(folder / f".{kind}") for kind in ("CONFIG", "RUNTIME")}
    environment["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / ".workspaces")
    address = f"http://127.0.0.1:{port}"
    with preloaded_kernels.server(be_jupyterlab, (options, environment), folder / "lab.log") as server:
        wait_for(address, server.is_alive, folder / "lab.log")
        yield address


def be_jupyterlab(started_with):
    """Become what `python -m jupyterlab` with these options and variables would have started."""
    options, environment = started_with
    os.environ.clear()
    os.environ.update(environment)
    from jupyterlab.labapp import main

    main(options)


def wait_for(address, alive, log):
    for _ in range(240):
        if not alive():
            break
        try:
            return urllib.request.urlopen(f"{address}/api?token=test", timeout=2).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.25)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")
