"""A page of JupyterLab on one notebook, as the browser tests and the benchmark of boards use it."""

import contextlib
import re
import threading
import urllib.request

PATIENCE = 20_000  # ms: how long something may take to be seen on a machine that is busy


# JavaScript: those of the nodes whose own text is shown in less than 18 px, which nobody reads from the last row.
TOO_SMALL = """const tooSmall = (nodes, scale = 1) => nodes.filter((node) =>
  [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim())
  && node.getClientRects().length && !node.closest("aside, mjx-container, math, script")
  && parseFloat(getComputedStyle(node).fontSize) * scale < 17.9
).map((node) => `${node.className} ${getComputedStyle(node).fontSize}: ${node.textContent.slice(0, 20)}`);
"""


class Lab:
    """One JupyterLab page on one notebook, and what a person does there."""

    def __init__(self, browser, address, path, size=(1366, 768)):
        self.address = address
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]})
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(f"{address}/lab/tree/{path}?token=test&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", state="attached")
        self.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(state="attached")  # slides hide the status bar

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
        board = self.page.get_by_role("group", name=title).nth(nth)
        board.scroll_into_view_if_needed()
        return board

    def close(self):
        self.context.close()
        with urllib.request.urlopen(f"{self.address}/api/sessions?token=test") as answer:
            kernels = set(re.findall(r'"kernel": \{"id": "([^"]+)"', answer.read().decode()))
        threading.Thread(target=self._end, args=(kernels,), daemon=True).start()  # a kernel takes a second to end

    def _end(self, kernels):
        for kernel in kernels:
            request = urllib.request.Request(f"{self.address}/api/kernels/{kernel}?token=test", method="DELETE")
            with contextlib.suppress(OSError):  # the server is gone, and its kernels with it
                urllib.request.urlopen(request).close()
