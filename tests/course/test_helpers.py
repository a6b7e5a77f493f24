"""The tests' own helpers where a fault would hide faults: no test that uses them would see it."""

import json

import nbformat
import preloaded_kernels
import pytest
import shared
from lab_page import TOO_SMALL
from nbclient import NotebookClient
from paths import ROOT


def test_chromium_is_skipped_where_there_is_none_but_never_in_ci(monkeypatch):
    look = shared.chromium._get_wrapped_function()
    monkeypatch.setattr(shared, "find_browser", lambda: None)
    for ci, outcome in (("", pytest.skip.Exception), ("true", pytest.fail.Exception)):
        monkeypatch.setenv("CI", ci)
        with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as caught:
            look()
        assert caught.type is outcome  # else this test would be skipped itself


SMALL = """<style>body { font-size: 12px } .big { font-size: 20px }</style>
<p class="a">small</p> <p class="big">large <i style="font-size: 10px"> </i></p> <p hidden>hidden</p>
<p class="d big" style="zoom: 0.5">shrunk</p>"""


def test_too_small_finds_letters_that_nobody_reads(browser):
    page = browser.new_page()
    page.set_content(SMALL)
    found = f"(scale) => {{ {TOO_SMALL} return tooSmall([...document.body.querySelectorAll('*')], scale) }}"
    assert [line.split()[0] for line in page.evaluate(found, 1)] == ["a", "d"]
    page.close()


SEEN = "import json, os, sys\nprint(json.dumps([os.getcwd(), os.environ['SAID'], sys.path, list(sys.modules)]))"


def test_forked_kernel_sees_nothing_of_the_tests(tmp_path, monkeypatch):
    with preloaded_kernels.processes() as pool:
        pool.submit(abs, -1).result()  # it has begun: what is set from now on is not what its processes begin with
    monkeypatch.setenv("SAID", "here")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SEEN)])
    with preloaded_kernels.kernels():
        NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    folder, said, path, modules = json.loads(notebook.cells[0].outputs[0].text)
    assert (folder, said) == (str(tmp_path), "here") and "" in path
    assert not {str(ROOT), str(ROOT / "tests/helpers")} & set(path)
    assert ("torch" in modules) == preloaded_kernels.CAN_FORK, "what takes long is there already"
    ours = {"attn_lib", "workbench", "authors", "classroom", "shared"}
    assert not {name.partition(".")[0] for name in modules} & ours
