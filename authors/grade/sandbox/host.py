"""Where students' code runs: behind bubblewrap; without it only where the teacher says so, within limits."""

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
SEEN = (
    "attn_lib",
    "workbench",
    "authors/__init__.py",
    "authors/grade/__init__.py",
    "authors/grade/sandbox/__init__.py",
    "authors/grade/sandbox/worker.py",
    "authors/grade/sandbox/gradients.py",
    "authors/grade/sandbox/traces.py",
    "authors/grade/sandbox/protocol.py",
)  # fmt: skip - of the course, no more
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
        """By the names that the system has for them; `user` is who will run the code, if not we."""
        most = {"AS": self.memory_mb << 20, "FSIZE": self.file_mb << 20, "NOFILE": 128, "CORE": 0}
        return {**most, "CPU": int(4 * self.seconds) + 10, "NPROC": threads_of(user) + self.processes}


def threads_of(user=None):
    """How many a user, or ours, has now: the system counts all of them together."""
    import psutil

    if user is None:
        user = os.geteuid() if hasattr(os, "geteuid") else 0
    total = 0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, AttributeError):
            total += process.num_threads() * (process.uids().real == user)
    return total


def user_for_students():
    """Whom root lets students' code run as, for each host somebody else; None where we are not root.

    Hand-ins of two judges would otherwise share what the system allows one user, and could end each other's processes.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    user = FREE_USERS.start + secrets.randbelow(len(FREE_USERS))
    return user if all(_is_known(user, kind) for kind in ("uid", "gid")) else NOBODY


def _is_known(number, kind):
    """Whether the numbers of users, or of groups, go so far: in some containers they do not."""
    try:
        lines = Path(f"/proc/self/{kind}_map").read_text().splitlines()
    except OSError:
        return False
    return any(int(first) <= number < int(first) + int(many) for first, _, many in map(str.split, lines))


class Host:
    """A process that has torch imported and forks one for each answer: `with host.student() as channel: …`.

    With `bwrap`, the path of bubblewrap, all of it is confined; without, and where there is no fork, it is not.
    """

    def __init__(self, limits=None, bwrap=None):
        self.limits, self.bwrap = limits or Limits(), bwrap
        self.forks = sys.platform == "linux"
        self.process = self.control = self.folder = self.errors = None
        self.user, self.is_other = None, False

    def __enter__(self):
        if self.forks and self.process is None:  # best_host has started it already, to see whether it can
            self._start()
        return self

    def __exit__(self, *error):
        self._stop()

    def _start(self):
        ours, theirs = socket.socketpair()
        self.folder = None if self.bwrap else tempfile.mkdtemp(prefix="student-")
        self.user = user_for_students()
        if self.folder and self.user is not None:
            with contextlib.suppress(OSError):  # a root without rights: it stays what it is
                os.chown(self.folder, self.user, self.user)
        options = {"control": theirs.fileno(), "folder": self.folder or STUDENTS, "user": self.user}
        options["limits"] = self.limits.for_the_system(self.user)
        command = [sys.executable, "-m", "authors.grade.sandbox.worker", json.dumps(options)]
        if self.bwrap:
            command = [*bubblewrap(self.bwrap), *command]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _stop; a pipe would fill up
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=surroundings(self.folder or STUDENTS),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
        )
        theirs.close()
        ours.settimeout(START_S)
        self.control = ours
        ready = self._told()
        if not ready:
            self.process.wait()
            self.errors.seek(0)
            words = self.errors.read(20_000).decode(errors="replace").strip()
            self._stop()
            raise OSError(words.splitlines()[-1] if words else "the process did not start")
        self.is_other = ready == b"o"

    def _told(self):
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
        """Bytes that students' processes hold now beyond what they share with the one that they were forked from."""
        import psutil

        with contextlib.suppress(psutil.Error, AttributeError):
            first = psutil.Process(self.process.pid)
            family = [first, *first.children(recursive=True)][bool(self.bwrap) :]
            base, *sizes = (held_by(process.pid) for process in family)
            return sum(max(0, size - base) for size in sizes)
        return 0

    @contextlib.contextmanager
    def student(self):
        """A channel to a fresh process, of which nothing is left afterwards."""
        with self._forked() if self.forks else self._started() as channel:
            yield channel

    @contextlib.contextmanager
    def _forked(self):
        if self.process is None or self.process.poll() is not None:
            self._stop()
            self._start()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(self.control, [b"f"], [theirs.fileno()])
            theirs.close()
            answered = self._told()
            if not answered:
                raise OSError("no process for this hand-in could be started")
            try:
                yield Channel(ours)
            finally:
                self._end()

    def _end(self):
        try:
            self.control.settimeout(END_S)
            self.control.send(b"e")
            ended = self._told()
            self.control.settimeout(START_S)
        except OSError:
            ended = b""
        if not ended:  # whoever does not answer is ended from here, and the next one starts afresh
            self.process.kill()
            self._stop()

    @contextlib.contextmanager
    def _started(self):
        """Where there is no fork: a process for this answer alone, which connects to a port of this machine."""
        password = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory(prefix="student-") as folder:
            options = {"port": server.getsockname()[1], "password": password, "folder": folder}
            options["limits"] = self.limits.for_the_system()
            process = subprocess.Popen(
                [sys.executable, "-m", "authors.grade.sandbox.worker", json.dumps(options)],
                cwd=ROOT,
                env=surroundings(folder),
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


def held_by(pid):
    """Bytes of memory that are no file's, of which a fork begins with as many as it came from (Linux)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def end_family(process):
    """End a process and all that are known to come of it."""
    import psutil

    with contextlib.suppress(psutil.Error):
        family = psutil.Process(process.pid).children(recursive=True)
        for member in family:
            with contextlib.suppress(psutil.Error):
                member.kill()
    process.kill()
    process.wait()


def surroundings(folder):
    """The environment of a student's process: none of the teacher's variables, whatever they hold."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *packages()])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": folder,
        "TMPDIR": folder,
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "ATTENTION_PROGRESS": folder,
    }


# ---------------------------------------------------------------------------------------------------- bubblewrap


def bubblewrap(bwrap, size=True):
    """The command line behind which everything of a student runs."""
    command = [bwrap, "--die-with-parent", "--new-session", "--as-pid-1"]
    command += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.geteuid() == 0:  # root binds, and is somebody else before any student's code is read
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--cap-drop", "ALL"]
    made = set()
    for path in readable():
        for parent in reversed(path.parents[:-1]):
            if parent not in made:
                made.add(parent)
                command += ["--perms", "0755", "--dir", str(parent)]
        made.add(path)
        command += ["--ro-bind", str(path), str(path)]
    for link in ("/bin", "/lib", "/lib64", "/sbin"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link), link]
    command += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    command += ["--perms", "1777", "--size", str(64 << 20), "--tmpfs", STUDENTS, "--remount-ro", "/"]
    return [*command, "--chdir", str(ROOT), "--"]


def readable():
    """What a student's process can read: Python and what is installed for it, the system's libraries, the course's."""
    found = ["/usr", "/etc/ld.so.cache", sys.prefix, sys.base_prefix, *packages(), *(ROOT / part for part in SEEN)]
    found += [link for link in ("/bin", "/lib", "/lib64", "/sbin") if not os.path.islink(link)]
    found += [os.path.realpath(sys.executable)]
    paths = []
    for path in sorted({Path(path) for path in found if os.path.exists(path)}, key=lambda path: len(path.parts)):
        if not any(path.is_relative_to(other) for other in paths):
            paths.append(path)
    return paths


def packages():
    """The folders in which what is needed is installed, should that not be where Python is."""
    specs = (importlib.util.find_spec(name) for name in ("torch", "numpy", "psutil", "filelock"))
    return sorted({Path(spec.origin).resolve().parent.parent for spec in specs if spec and spec.origin})


def why_unconfined():
    """Why there is no bubblewrap; "" where there is one."""
    if sys.platform != "linux":
        return f"There is no bubblewrap for {sys.platform}"
    return "" if shutil.which("bwrap") else "bubblewrap is not installed"


def refuse_unconfined():
    """Raise OSError, with what to do, where bubblewrap does not work: asked of it alone, before torch is read."""
    if why := why_unconfined() or _why_it_does_not_work(shutil.which("bwrap")):
        raise OSError(REFUSED.format(why=why))


def _why_it_does_not_work(bwrap):
    try:
        command = [*bubblewrap(bwrap), sys.executable, "-ISc", ""]
        tried = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=END_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return DOES_NOT_WORK.format(error)
    words = tried.stderr.strip().splitlines() or [f"it ends with {tried.returncode}"]
    return DOES_NOT_WORK.format(words[-1]) if tried.returncode else ""


def best_host(limits=None, *, unconfined=False):
    """The host for students' code, started, and the line that says what it prevents and what not.

    Raises: OSError, with what to do, where there is no bubblewrap that works and nobody said `unconfined`.
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
    return host, within_limits(why, host.is_other)


def within_limits(why, is_other=False):
    """What is said where nothing but limits stands between students' code and this machine."""
    if is_other:
        return UNCONFINED.format(why=why, who="as a user who owns nothing", what="what everybody may")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    who = "as root" if root else "with your rights"
    return UNCONFINED.format(why=why, who=who, what="every file" if root else "your files")
