"""Whether PyTorch has a build for this machine and this Python: asked before anything is downloaded.

PyPI has the release of requirements.txt for CPython 3.11 to 3.14 on Linux (x86-64 and ARM, glibc 2.28 or newer), on
macOS 14 and newer with Apple's chips, and on Windows with x86-64. The standard library is all that this needs.
"""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig

OLDEST, NEWEST = (3, 11), (3, 14)
GLIBC, MACOS = (2, 28), (14, 0)
ANYWHERE = (
    "The course's web site needs a browser and nothing else; Colab, Binder and Codespaces run the notebooks on other "
    "machines, as commands/README.md says."
)


def lacks():
    """What PyTorch has no build for here and what works instead, in words; empty where it has one."""
    for what in (_python, _mac, _windows, _linux):
        if words := what():
            return f"PyTorch has no build for {words} Nothing was downloaded."
    return ""


def _python():
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if sys.implementation.name != "cpython":
        return f"{platform.python_implementation()}. {_another_python()}"
    if sys.version_info[:2] > NEWEST:
        return f"Python {version}, only up to {_dotted(NEWEST)}. {_another_python()}"
    if sys.maxsize < 2**32:
        return f"a Python of 32 bits. {_another_python()}"
    return ""


def _mac():
    if sys.platform != "darwin":
        return ""
    if platform.machine() == "x86_64":
        if _output("sysctl", "-n", "hw.optional.arm64") == "1":
            return (
                "a Python that was made for Intel's chips, and this Mac has Apple's. The Python of "
                "https://www.python.org/downloads runs on both: call that one."
            )
        return f"Macs with an Intel chip. {ANYWHERE}"
    if _numbers(platform.mac_ver()[0]) < MACOS:
        conda = "conda has builds for it too: commands/README.md has the line."
        return f"macOS {platform.mac_ver()[0]}, only from {MACOS[0]} on. Update it, or use conda: {conda} {ANYWHERE}"
    return ""


def _windows():
    if sysconfig.get_platform() != "win-arm64":
        return ""
    other = (
        "Windows 11 also runs the Python for x86-64, “Windows installer (64-bit)” of https://www.python.org/downloads"
    )
    return f"Windows on ARM. {other}: call that one. {ANYWHERE}"


def _linux():
    if sys.platform != "linux":
        return ""
    if platform.machine() not in ("x86_64", "aarch64"):
        return f"Linux on {platform.machine()}. {ANYWHERE}"
    libc = _glibc()
    if libc is None:
        return (
            "Linux without glibc, as Alpine is. In a container take an image of Debian, as python:3.13-slim. "
            f"{ANYWHERE}"
        )
    if libc < GLIBC:
        conda = "conda brings what it needs: commands/README.md has the line."
        return f"a Linux with glibc {_dotted(libc)}, only from {_dotted(GLIBC)} on. {conda} {ANYWHERE}"
    return ""


def _glibc():
    """Its version, or None where the C library is another one."""
    try:
        return _numbers(os.confstr("CS_GNU_LIBC_VERSION").partition(" ")[2])
    except (ValueError, OSError, AttributeError):
        return None


def _another_python():
    """Which Python of this machine to take, or where to get one."""
    call = " ".join(["course.py", *sys.argv[1:]])
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        ways = [["py", f"-3.{minor}"]] if os.name == "nt" else [[f"python3.{minor}"]]
        for way in ways:
            if _output(*way, "-c", "import sys; print(sys.implementation.name, sys.maxsize > 2**32)") == "cpython True":
                return f"This machine has one that works: {' '.join(way)} {call}"
    if shutil.which("uv"):
        return f"uv gets another one: uv run --no-project --python {_dotted(NEWEST)} {call}"
    return (
        f"Get Python {_dotted(NEWEST)} from https://www.python.org/downloads, it can stand beside this one. {ANYWHERE}"
    )


def _output(*command):
    """What a command prints, empty where it is not there or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _numbers(text):
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


def _dotted(version):
    return ".".join(map(str, version))
