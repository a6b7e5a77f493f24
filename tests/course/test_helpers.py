"""The tests' own helpers where a fault would hide faults: no test that uses them would see it."""

import json

import nbformat
import preloaded_kernels
from nbclient import NotebookClient
from paths import ROOT

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
