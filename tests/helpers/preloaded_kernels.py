"""Kernels and servers in processes that begin with what every notebook imports.

Importing torch takes longer than running most lessons: without this each kernel takes 2.7 seconds of a processor more.
On Linux a process of each worker imports, and forks for whoever needs one; nothing of the course is imported there, so
each runs in a process that has never seen another one's. Elsewhere each begins from nothing.
"""

import contextlib
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock

import psutil
from jupyter_client.provisioning import local_provisioner

CAN_FORK = sys.platform == "linux"
CONTEXT = multiprocessing.get_context("forkserver" if CAN_FORK else "spawn")
CONTEXT.set_forkserver_preload(["preload"])
TESTS = Path(__file__).parent
ROOT = TESTS.parents[1]


def begin():
    """Begin to import."""
    if CAN_FORK:
        with contextlib.chdir(TESTS):  # where it finds what to import; whoever is forked goes elsewhere
            forkserver.ensure_running()


def processes():
    """A pool that runs each task in a new process."""
    begin()
    return ProcessPoolExecutor(1, CONTEXT, max_tasks_per_child=1)


@contextlib.contextmanager
def server(main, arguments, log):
    """What `main(arguments)` starts, in a forked process, as its kernels are; a signal ends it, as in a terminal."""
    begin()
    process = CONTEXT.Process(target=be_server, args=(main, arguments, log))
    process.start()
    try:
        yield process
    finally:
        process.terminate()
        process.join(20)
        process.kill()  # if that was not enough


def be_server(main, arguments, log):
    sys.stdout = sys.stderr = open(log, "w", buffering=1)  # noqa: SIM115 (as long as the server lives)
    with kernels():
        main(arguments)


def kernels_of(pid):
    """The kernels of a server, as processes."""
    seen = psutil.process_iter(["name", "ppid", "cmdline"])
    own = (f"kernel-{pid}", "ipykernel_launcher")  # a forked one by its name, another as the server's child
    return [p for p in seen if p.info["name"] == own[0] or (p.info["ppid"] == pid and own[1] in p.info["cmdline"])]


def kernels():
    """Inside, Jupyter starts kernels in forked processes."""
    begin()
    return mock.patch.object(local_provisioner, "launch_kernel", Kernel) if CAN_FORK else contextlib.nullcontext()


class Kernel:
    """A kernel in a forked process, which answers Jupyter as subprocess.Popen would."""

    stdin = stdout = stderr = None

    def __init__(self, command, env, cwd=".", **_):
        heard, ready = CONTEXT.Pipe(duplex=False)
        self.process = CONTEXT.Process(target=be_kernel, args=(command, cwd, env, os.getpid(), ready), daemon=True)
        self.process.start()
        heard.recv()  # from then on it has a process group of its own, and ending that ends nobody else
        self.pid = self.process.pid

    def poll(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number):
        if self.poll() is None:  # as with Popen, it is no error to signal one that has ended
            os.kill(self.pid, number)


def be_kernel(command, cwd, env, server, ready):
    """Become what the command line would have started: its folder, variables, path and connection."""
    from ipykernel.kernelapp import launch_new_instance

    os.setsid()
    multiprocessing.set_start_method("fork", force=True)  # its locks, as tqdm's, need nobody to clean up after a kill
    Path("/proc/self/comm").write_text(f"kernel-{server}")  # its name, for `kernels_of`
    ready.send(True)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = command[command.index("-m") + 1 :]
    sys.path[:] = [
        path for path in sys.path if path and not Path(path).is_relative_to(TESTS.parent) and Path(path) != ROOT
    ]
    sys.path[:0] = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (as long as the kernel lives)
    launch_new_instance([*sys.argv[1:], f"--IPKernelApp.parent_handle={os.getppid()}"])  # with whom it ends
