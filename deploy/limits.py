"""What keeps one student's processes from taking the machine: control groups, or what every kernel gives.

A kind has prepare (in the hub, as root), enter (in the student's first process, while it is still root) and remove.
"""

import contextlib
import os
import resource
import zlib
from dataclasses import dataclass
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
CLASS = "attention-class"
PERIOD = 100_000  # microseconds over which CPU time is counted
ALL_OF_THEM = 0.9  # the share of the machine's memory that all students together may take


@dataclass(frozen=True)
class Limits:
    """memory in bytes and cpus in cores for all that one student runs, and how many processes and threads."""

    memory: int
    cpus: float
    processes: int = 400


class CgroupV2:
    """One control group per student below one for the class."""

    name = "cgroup v2"

    def __init__(self, root=CGROUPS):
        self.folder = Path(root) / CLASS

    def usable(self):
        """Whether the memory controller can be handed down to a group of ours."""
        try:
            if "memory" not in (self.folder.parent / "cgroup.controllers").read_text().split():
                return False
            self._hand_down(self.folder.parent)
            self.folder.mkdir(exist_ok=True)
            self._hand_down(self.folder)
            write(self.folder / "memory.max", int(ALL_OF_THEM * machine_memory()))
        except OSError:  # read-only, or a container's root that has processes of its own
            return False
        return True

    @staticmethod
    def _hand_down(folder):
        file = folder / "cgroup.subtree_control"
        missing = {"memory", "cpu", "pids"} - set(file.read_text().split())
        if missing:
            write(file, " ".join(f"+{name}" for name in sorted(missing)))

    def prepare(self, student, limits):
        folder = self.folder / student
        folder.mkdir(exist_ok=True)
        write(folder / "memory.max", limits.memory)
        with contextlib.suppress(OSError):  # a kernel without swap accounting has no such file
            write(folder / "memory.swap.max", 0)
        write(folder / "cpu.max", f"{int(limits.cpus * PERIOD)} {PERIOD}")
        write(folder / "pids.max", limits.processes)

    def enter(self, student, limits):
        write(self.folder / student / "cgroup.procs", os.getpid())

    def remove(self, student=""):
        with contextlib.suppress(OSError):  # not there, or a process is still leaving it: the next start reuses it
            (self.folder / student).rmdir()


class CgroupV1:
    """The same for kernels that still mount one hierarchy for each controller."""

    name = "cgroup v1"
    controllers = ("memory", "cpu", "pids")

    def __init__(self, root=CGROUPS):
        self.folders = [Path(root) / controller / CLASS for controller in self.controllers]

    def usable(self):
        try:
            for folder in self.folders:
                if not (folder.parent / "cgroup.procs").is_file():
                    return False
                folder.mkdir(exist_ok=True)
            write(self.folders[0] / "memory.limit_in_bytes", int(ALL_OF_THEM * machine_memory()))
        except OSError:
            return False
        return True

    def prepare(self, student, limits):
        memory, cpu, pids = (folder / student for folder in self.folders)
        for folder in (memory, cpu, pids):
            folder.mkdir(exist_ok=True)
        write(memory / "memory.limit_in_bytes", limits.memory)
        write(cpu / "cpu.cfs_period_us", PERIOD)
        write(cpu / "cpu.cfs_quota_us", int(limits.cpus * PERIOD))
        write(pids / "pids.max", limits.processes)

    def enter(self, student, limits):
        for folder in self.folders:
            write(folder / student / "cgroup.procs", os.getpid())

    def remove(self, student=""):
        for folder in self.folders:
            with contextlib.suppress(OSError):
                (folder / student).rmdir()


class Rlimits:
    """No control groups: memory is limited for each process, CPU by the cores that a student may use.

    Weaker: a student with three kernels may take three times the memory.
    """

    name = "rlimits"

    def usable(self):
        return True

    def prepare(self, student, limits):
        pass

    def enter(self, student, limits):
        resource.setrlimit(resource.RLIMIT_DATA, (limits.memory, limits.memory))
        resource.setrlimit(resource.RLIMIT_NPROC, (limits.processes, limits.processes))
        os.sched_setaffinity(0, cores(student, limits.cpus, sorted(os.sched_getaffinity(0))))
        os.nice(5)  # the hub and its proxy go first

    def remove(self, student=""):
        pass


KINDS = (CgroupV2, CgroupV1, Rlimits)


def best(wanted=""):
    """The strongest kind that works on this machine, or the one of the given name."""
    for kind in KINDS:
        if (not wanted or kind.name == wanted) and (one := kind()).usable():
            return one
    raise ValueError(f"{wanted!r} does not work here; there are {', '.join(kind.name for kind in KINDS)}")


def cores(student, cpus, available):
    """Which cores a student gets: neighbours from a place that the name decides, so that students spread out."""
    count = min(len(available), max(1, round(cpus)))
    first = zlib.crc32(student.encode())
    return {available[(first + i) % len(available)] for i in range(count)}


def machine_memory():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def write(file, value):
    Path(file).write_text(str(value))
