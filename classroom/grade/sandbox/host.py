"""Starts and ends the processes in which students' code runs: behind bubblewrap, or unconfined if told so."""

import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .protocol import Channel

ROOT = Path(__file__).resolve().parents[3]
SANDBOX = Path(__file__).resolve().parent
SEEN = (  # of the course; the packages around the worker are no more than their names
    ROOT / "attn_lib",
    ROOT / "workbench",
    *(package / "__init__.py" for package in SANDBOX.parents if package.is_relative_to(ROOT / "classroom")),
    SANDBOX,
)
NOBODY = 65534
FREE_USERS = range(2_010_000_000, 2**31)  # numbers that neither systems nor directories give to anybody
STUDENTS = "/student"  # the one folder behind bubblewrap that can be written to
END_S = 60  # to end what a student left behind
START_S = 600  # torch may have to be read from a slow disk
CONFINED = "Students' code runs behind bubblewrap: no network, no file of yours but the course, and nothing stays."
REFUSED = (
    "{why}, and without it students' code runs within limits of time and memory only, with files and the network in "
    "its reach. Install bubblewrap (Linux: apt install bubblewrap), or grade in a virtual machine that has nothing to "
    "lose and add --unconfined"
)
DOES_NOT_WORK = "bubblewrap does not work here ({})"
UNCONFINED = (
    "{why}: students' code runs {who}, within limits of time and memory only. It cannot change a verdict, but what "
    "cannot be prevented is that it reads and writes {what} and uses the network: grade people you do not know in a "
    "virtual machine, or install bubblewrap (Linux)."
)


@dataclass(frozen=True)
class Limits:
    """What one answer may take: seconds for all its calls, megabytes, and files of at most so many megabytes."""

    seconds: float = 30
    memory_mb: int = 2048
    file_mb: int = 16
    processes: int = 64

    def for_the_system(self, user=None):
        """The limits by the names of `resource.RLIMIT_…`, for the user who will run the code (default: ours)."""
        most = {"AS": self.memory_mb << 20, "FSIZE": self.file_mb << 20, "NOFILE": 128, "CORE": 0}
        return {**most, "CPU": int(4 * self.seconds) + 10, "NPROC": threads_of(user) + self.processes}


def threads_of(user=None):
    """How many threads a user (default: ours) has now, which NPROC counts together."""
    import psutil

    if user is None:
        user = os.geteuid() if hasattr(os, "geteuid") else 0
    total = 0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, AttributeError):
            total += process.num_threads() * (process.uids().real == user)
    return total


def user_of_students():
    """A fresh unprivileged uid for each host, or None if we are not root.

    With one uid for all, submissions of two judges would share its limits and could end each other's processes.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    user = FREE_USERS.start + secrets.randbelow(len(FREE_USERS))
    return user if all(_exists(user, kind) for kind in ("uid", "gid")) else NOBODY


def _exists(number, kind):
    """Whether a uid or gid exists here; in some containers only the first 65,536 do."""
    try:
        lines = Path(f"/proc/self/{kind}_map").read_text().splitlines()
    except OSError:
        return False
    return any(int(first) <= number < int(first) + int(many) for first, _, many in map(str.split, lines))


class Host:
    """A process that has torch imported and forks one for each answer: `with host.channel() as channel: …`.

    With `bwrap`, the path of bubblewrap, all of it is confined; without, and where there is no fork, it is not.
    """

    def __init__(self, limits=None, bwrap=None):
        self.limits, self.bwrap = limits or Limits(), bwrap
        self.forks = sys.platform == "linux"
        self.process = self.control = self.folder = self.errors = None
        self.user, self.has_own_user = None, False

    def __enter__(self):
        if self.forks and self.process is None:  # best_host has started it already, to see whether it can
            self._start()
        return self

    def __exit__(self, *error):
        self._stop()

    def _start(self):
        ours, theirs = socket.socketpair()
        self.folder = None if self.bwrap else tempfile.mkdtemp(prefix="student-")
        self.user = user_of_students()
        if self.folder and self.user is not None:
            with contextlib.suppress(OSError):  # a root without rights: it stays what it is
                os.chown(self.folder, self.user, self.user)
        options = {"control": theirs.fileno(), "folder": self.folder or STUDENTS, "user": self.user}
        options["limits"] = self.limits.for_the_system(self.user)
        command = [sys.executable, "-m", "classroom.grade.sandbox.worker", json.dumps(options)]
        if self.bwrap:
            command = [*bubblewrap(self.bwrap), *command]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _stop; a pipe would fill up
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(self.folder or STUDENTS),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
        )
        theirs.close()
        ours.settimeout(START_S)
        self.control = ours
        ready = self._reply()
        if not ready:
            self.process.wait()
            self.errors.seek(0)
            words = self.errors.read(20_000).decode(errors="replace").strip()
            self._stop()
            raise OSError(words.splitlines()[-1] if words else "the process did not start")
        self.has_own_user = ready == b"o"

    def _reply(self):
        try:
            return self.control.recv(1)
        except OSError:
            return b""

    def _stop(self):
        if self.control is not None:
            self.control.close()
        if self.process is not None:
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.errors.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.process = self.control = self.folder = None

    def memory(self):
        """Bytes that students' processes hold beyond what they share with the process they were forked from."""
        import psutil

        with contextlib.suppress(psutil.Error, AttributeError):
            first = psutil.Process(self.process.pid)
            family = [first, *first.children(recursive=True)][bool(self.bwrap) :]
            base, *sizes = (private_memory_of(process.pid) for process in family)
            return sum(max(0, size - base) for size in sizes)
        return 0

    @contextlib.contextmanager
    def channel(self):
        """Open a channel to a fresh process, of which nothing is left afterwards."""
        with self._forked_worker() if self.forks else self._started_worker() as channel:
            yield channel

    @contextlib.contextmanager
    def _forked_worker(self):
        if self.process is None or self.process.poll() is not None:
            self._stop()
            self._start()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(self.control, [b"f"], [theirs.fileno()])
            theirs.close()
            has_started = self._reply()
            if not has_started:
                raise OSError("no process for this hand-in could be started")
            try:
                yield Channel(ours)
            finally:
                self._end()

    def _end(self):
        try:
            self.control.settimeout(END_S)
            self.control.send(b"e")
            ended = self._reply()
            self.control.settimeout(START_S)
        except OSError:
            ended = b""
        if not ended:  # whoever does not answer is ended from here, and the next one starts afresh
            self.process.kill()
            self._stop()

    @contextlib.contextmanager
    def _started_worker(self):
        """Start a process for one answer, which connects to a local port: for systems without fork."""
        password = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory(prefix="student-") as folder:
            options = {"port": server.getsockname()[1], "password": password, "folder": folder}
            options["limits"] = self.limits.for_the_system()
            process = subprocess.Popen(
                [sys.executable, "-m", "classroom.grade.sandbox.worker", json.dumps(options)],
                cwd=ROOT,
                env=environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                server.settimeout(START_S)
                end, _ = server.accept()
                end.settimeout(START_S)
                if end.recv(len(password), socket.MSG_WAITALL) != password.encode():
                    raise OSError("another process answered")
                channel = Channel(end)
                try:
                    yield channel
                finally:
                    channel.close()
            finally:
                end_family(process)


def private_memory_of(pid):
    """Bytes of a process's memory that no file holds; a fork begins with those of its parent (Linux)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def end_family(process):
    """Kill a process and its known descendants."""
    import psutil

    with contextlib.suppress(psutil.Error):
        family = psutil.Process(process.pid).children(recursive=True)
        for member in family:
            with contextlib.suppress(psutil.Error):
                member.kill()
    process.kill()
    process.wait()


def environment(folder):
    """The environment variables of a student's process, none of which is the teacher's own."""
    passed_on = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    return {
        **passed_on,
        "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *packages()])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": folder,
        "TMPDIR": folder,
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "ATTENTION_PROGRESS": folder,
    }


# ---------------------------------------------------------------------------------------------------- bubblewrap


def bubblewrap(bwrap):
    """The bubblewrap command that students' processes are started with."""
    command = [bwrap, "--die-with-parent", "--new-session", "--as-pid-1"]
    command += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.geteuid() == 0:  # root binds, and is somebody else before any student's code is read
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--cap-drop", "ALL"]
    folders = set()
    for path in readable():
        for parent in reversed(path.parents[:-1]):
            if parent not in folders:
                folders.add(parent)
                command += ["--perms", "0755", "--dir", str(parent)]
        folders.add(path)
        command += ["--ro-bind", str(path), str(path)]
    for link in ("/bin", "/lib", "/lib64", "/sbin"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link), link]
    command += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    command += ["--perms", "1777", "--size", str(64 << 20), "--tmpfs", STUDENTS, "--remount-ro", "/"]
    return [*command, "--chdir", str(ROOT), "--"]


def readable():
    """The paths a student's process can read: Python, its packages, the system's libraries, parts of the course."""
    candidates = ["/usr", "/etc/ld.so.cache", sys.prefix, sys.base_prefix, *packages(), *SEEN]
    candidates += [link for link in ("/bin", "/lib", "/lib64", "/sbin") if not os.path.islink(link)]
    candidates += [os.path.realpath(sys.executable)]
    paths = []
    for path in sorted({Path(path) for path in candidates if os.path.exists(path)}, key=lambda path: len(path.parts)):
        if not any(path.is_relative_to(other) for other in paths):
            paths.append(path)
    return paths


def packages():
    """The folders that hold the packages a worker imports, which need not be Python's own."""
    specs = (importlib.util.find_spec(name) for name in ("torch", "numpy", "psutil", "filelock"))
    return sorted({Path(spec.origin).resolve().parent.parent for spec in specs if spec and spec.origin})


def why_unconfined():
    """Why bubblewrap cannot be started, "" if it is installed."""
    if sys.platform != "linux":
        return f"There is no bubblewrap for {sys.platform}"
    return "" if shutil.which("bwrap") else "bubblewrap is not installed"


def refuse_unconfined():
    """Raise OSError, with what to do, if bubblewrap does not work; takes no worker, so it is quick."""
    if why := why_unconfined() or _why_it_does_not_work(shutil.which("bwrap")):
        raise OSError(REFUSED.format(why=why))


def _why_it_does_not_work(bwrap):
    try:
        command = [*bubblewrap(bwrap), sys.executable, "-ISc", ""]
        attempt = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=END_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return DOES_NOT_WORK.format(error)
    words = attempt.stderr.strip().splitlines() or [f"it ends with {attempt.returncode}"]
    return DOES_NOT_WORK.format(words[-1]) if attempt.returncode else ""


def best_host(limits=None, *, unconfined=False):
    """Return a started host and the line that says what it prevents.

    Raises: OSError, with what to do, if bubblewrap does not work and `unconfined` is False.
    """
    why = why_unconfined()
    if not why:
        host = Host(limits, shutil.which("bwrap"))
        try:
            host.__enter__()
            return host, CONFINED
        except OSError as error:
            why = DOES_NOT_WORK.format(error)
    if not unconfined:
        raise OSError(REFUSED.format(why=why))
    host = Host(limits)
    host.__enter__()
    return host, unconfined_notice(why, host.has_own_user)


def unconfined_notice(why, has_own_user=False):
    """The warning for students' code that only limits keep from this machine."""
    if has_own_user:
        return UNCONFINED.format(why=why, who="as a user who owns nothing", what="what everybody may")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    who = "as root" if root else "with your rights"
    return UNCONFINED.format(why=why, who=who, what="every file" if root else "your files")
