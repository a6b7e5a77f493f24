"""A kernel in a warm process is the kernel that its command line would have started."""

import json
import os
import signal
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace

import nbformat
import preloaded_kernels
import pytest
from jupyter_client import KernelManager
from nbclient import NotebookClient
from paths import ROOT

SEEN = """\
import json, os, sys
said = [os.environ["SAID"], "PATH" in os.environ]
print(json.dumps([os.getcwd(), said, sys.path, list(sys.modules), sys.argv[1:], os.getpid()]))
"""


@pytest.fixture
def pool():
    """One that has begun: what is set from now on is not what its processes begin with."""
    with preloaded_kernels.processes() as pool:
        assert pool.submit(abs, -1).result() == 1
        yield pool


def test_a_warm_kernel_has_its_own_folder_variables_and_and_path_and_nothing_of_the_tests(pool, tmp_path, monkeypatch):
    monkeypatch.setenv("SAID", "here")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "more"))
    monkeypatch.delenv("PATH")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in (SEEN, "1 / 0", SEEN)])
    client = NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}})
    with preloaded_kernels.kernels():
        client.execute()
    first, again = (json.loads(cell.outputs[0].text) for cell in notebook.cells[::2])
    assert first[-1] == again[-1], "an error ends no kernel"
    folder, said, path, modules, arguments, _ = first
    assert folder == str(tmp_path) and said == ["here", False] and arguments[0] == "-f"
    assert "" in path and str(tmp_path / "more") in path
    assert not [place for place in path if Path(place) == ROOT or Path(place).is_relative_to(ROOT / "tests")]
    assert ("torch" in modules) == preloaded_kernels.CAN_FORK
    assert not [name for name in modules if name.partition(".")[0] in ("authors", "conftest", "fill_in")]


def test_when_a_kernel_is_ended_nobody_else_is(pool):
    """Jupyter ends whole groups of processes."""
    with preloaded_kernels.kernels():
        manager = KernelManager()
        manager.start_kernel()
        kernel = manager.provisioner.process
        assert manager.is_alive() and [found.pid for found in preloaded_kernels.kernels_of(os.getpid())] == [kernel.pid]
        manager.shutdown_kernel(now=True)
        assert not manager.is_alive() and preloaded_kernels.kernels_of(os.getpid()) == []
        kernel.send_signal(signal.SIGTERM)  # to one that has ended, as Jupyter does before it starts another
    assert pool.submit(abs, -2).result() == 2


def test_each_task_has_a_process_of_its_own(pool):
    assert pool.submit(os.getpid).result() != pool.submit(os.getpid).result()


def test_kernels_of_others_are_nobodys_of_ours(monkeypatch):
    rows = [("kernel-7", 1, []), ("kernel-77", 7, []), ("python", 7, ["ipykernel_launcher"]), ("python", 7, ["x"])]
    rows += [("python", 8, ["ipykernel_launcher"])]
    all_there_are = [SimpleNamespace(info=dict(zip(("name", "ppid", "cmdline"), row, strict=True))) for row in rows]
    monkeypatch.setattr(preloaded_kernels.psutil, "process_iter", lambda names: all_there_are)
    assert preloaded_kernels.kernels_of(7) == [all_there_are[0], all_there_are[2]]


def test_a_server_is_asked_to_end_before_it_is_waited_for(monkeypatch):
    done = []
    steps = {name: lambda *_, name=name: done.append(name) for name in ("start", "terminate", "join", "kill")}
    monkeypatch.setattr(preloaded_kernels, "begin", lambda: None)
    monkeypatch.setattr(preloaded_kernels, "CONTEXT", SimpleNamespace(Process=lambda **_: SimpleNamespace(**steps)))
    with pytest.raises(ZeroDivisionError), preloaded_kernels.server(len, (), "log"):
        raise ZeroDivisionError
    assert done == ["start", "terminate", "join", "kill"]


def forked_from(address):
    """In another process, which has not heard of it yet: whose child a third one is."""
    forkserver._forkserver._forkserver_address = None
    preloaded_kernels.share(address)
    with preloaded_kernels.processes() as pool:
        return pool.submit(os.getppid).result()


@pytest.mark.skipif(not preloaded_kernels.CAN_FORK, reason="no process that has imported torch can be forked here")
def test_two_that_share_fork_from_one_process(pool):
    assert pool.submit(forked_from, preloaded_kernels.begin()).result() == pool.submit(os.getppid).result()
