"""What a class needs, from what one learner was measured to take: prints the tables of deploy/README.md.

The numbers of one learner are in measured.json, which `tests/load_hub.py --save` writes.
"""

import json
import math
from pathlib import Path

HERE = Path(__file__).resolve().parent

# students, share of them at work at the busiest time, minutes within which those arrive
CLASSES = [(30, 1.0, 1), (300, 0.7, 5), (3000, 0.3, 15)]
KERNELS = 1.5  # notebooks that a learner has open on average
SPARE = 1.3  # for what nobody foresaw
HUB_GB = 2.0  # the hub, its proxy and the system
HOME_GB = 0.05  # a clone with pictures, notebooks with outputs, caches
NODE = (8, 32)  # cores and GB of one Kubernetes node
MINUTES = 25  # notebook 1, as its table in the main README says
AGAIN = 5  # times that a learner runs each cell


def main():
    measured = json.loads((HERE / "measured.json").read_text())
    print(per_learner(measured), classes(measured), sep="\n\n")


def per_learner(measured):
    """What was measured, as a table."""
    first, fourth = measured["after_1"], measured["after_4"]
    lines = ["| one learner | memory, shared pages split | memory of its own | CPU |", "|---|---|---|---|"]
    for name, part in (
        ("server, idle after start and pull", first["server"]),
        ("kernel after notebook 1", first["kernel"]),
        ("kernel after notebook 4", fourth["kernel"]),
    ):
        lines.append(
            f"| {name} | {part['pss_mb']:.0f} MB | {part['uss_mb']:.0f} MB | {part['cpu_seconds']:.1f} s of a core |"
        )
    minute = 60 * work(measured)
    lines.append(f"| a minute of notebook 1, each cell run {AGAIN} times | | | {minute:.1f} s of a core |")
    return "\n".join(lines)


def classes(measured):
    """One row for each size of class."""
    lines = [
        "| students | at work at once | arrive within | memory | cores | disk | Kubernetes nodes of "
        f"{NODE[0]} cores, {NODE[1]} GB |",
        "|---|---|---|---|---|---|---|",
    ]
    for students, share, minutes in CLASSES:
        active = round(students * share)
        memory, cores = HUB_GB + SPARE * active * memory_gb(measured), SPARE * active * cpu(measured, minutes)
        nodes = max(math.ceil(memory / NODE[1]), math.ceil(cores / NODE[0]))
        disk = 4 + students * HOME_GB
        lines.append(
            f"| {students} | {active} | {minutes} min | {memory:.0f} GB | {max(2, math.ceil(cores))} | {disk:.1f} GB "
            f"| {'one machine will do' if nodes == 1 else nodes} |"
        )
    return "\n".join(lines)


def memory_gb(measured):
    """A learner's server and kernels; the larger of the two notebooks."""
    kernel = max(measured[after]["kernel"]["pss_mb"] for after in ("after_1", "after_4"))
    return (measured["after_1"]["server"]["pss_mb"] + KERNELS * kernel) / 1000


def cpu(measured, minutes):
    """Cores that one learner keeps busy: while all arrive, or at work, whichever is more."""
    arrive = sum(measured["after_1"][kind]["cpu_seconds"] for kind in ("server", "kernel")) / (60 * minutes)
    return max(arrive, work(measured))


def work(measured):
    """Cores that a learner at work keeps busy; the kernel's own start is in it, so it is rather too much."""
    return AGAIN * measured["after_1"]["kernel"]["cpu_seconds"] / (60 * MINUTES)


if __name__ == "__main__":
    main()
