"""Start the hub of a class, or stop it; `python course.py hub` calls this in the right Python.

start.py          start proxy and hub; Ctrl-C ends the hub alone: servers and kernels go on for the next start
start.py stop     end hub, proxy and every student's processes
"""

import contextlib
import grp
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from pathlib import Path

import limits
import psutil
import roster

ROOT = Path(__file__).resolve().parent.parent
STATE = roster.STATE
PROXY_VERSION = "5.3.0"
NODE = Path(sys.prefix) / "hub"  # where npm puts the proxy
HOOKS = NODE / "hooks"
PROXY = NODE / "node_modules/configurable-http-proxy/bin/configurable-http-proxy"
ADDRESS = os.environ.get("COURSE_HUB_ADDRESS", "127.0.0.1")
PORT = int(os.environ.get("COURSE_HUB_PORT", "8000"))


def main(arguments):
    if os.geteuid() != 0:
        sys.exit("The hub gives each student an account of their own, which only root can: sudo python course.py hub")
    if arguments == ["stop"]:
        return stop()
    if arguments:
        sys.exit(__doc__)
    complain(missing())
    prepare()
    start_proxy()
    (STATE / "hub.pid").write_text(str(os.getpid()))
    config = Path(__file__).with_name("jupyterhub_config.py")
    print(f"The class is at http://{ADDRESS}:{PORT} as soon as the hub says that it runs.", flush=True)
    os.execve(sys.executable, [sys.executable, "-m", "jupyterhub", "-f", str(config)], environment())


# -------------------------------------------------------------------------------------------------------------- before


def missing():
    """What this machine lacks, one line each."""
    for program, package in (("node", "nodejs"), ("npm", "npm"), ("git", "git"), ("useradd", "passwd")):
        if not shutil.which(program):
            yield f"The hub needs {program}: apt-get install {package}, or your system's way of doing it."
    closed = [folder for folder in (ROOT, *ROOT.parents) if not folder.stat().st_mode & 0o001]
    if closed:
        yield f"Students cannot enter {closed[0]}: move the course to a folder open to all, such as /srv/attention."
    elif not students_run_python():
        real = Path(sys.executable).resolve()
        yield f"Students cannot run {real}: remove .venv and start again with a Python of all, as /usr/bin/python3."
    if not os.environ.get("COURSE_HUB_REPO") and not (ROOT / ".git").is_dir():
        yield "This folder is no git clone for students to pull from: set COURSE_HUB_REPO to the course's address."
    if hub := running(STATE / "hub.pid", "jupyterhub"):
        yield f"The hub is running already, as process {hub.pid}."
    if not roster.load():
        yield "Nobody is in the roster yet: python deploy/roster.py add NAME… prints a password for each."


def students_run_python():
    """Whether an account without rights can: a Python under /root or in a closed home is out of its reach."""
    try:
        return subprocess.run([sys.executable, "-c", ""], user="nobody", extra_groups=[], cwd="/").returncode == 0
    except OSError:
        return False


def complain(lines):
    lines = list(lines)
    if lines:
        sys.exit("\n".join(lines))


def prepare():
    """Everything that is made once: the proxy, secrets, what a new home holds."""
    for folder in (STATE, STATE / "logs"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    if not (STATE / "proxy_token").exists():
        with open(os.open(STATE / "proxy_token", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
    if not installed():
        command = ["npm", "install", "--no-fund", "--no-audit", "--loglevel=error", "--prefix", NODE]
        subprocess.run([*command, f"configurable-http-proxy@{PROXY_VERSION}"], check=True)
    allow_pulling()
    copy_after_pulling()
    make_skeleton()
    folders = [ROOT / "attn_lib", sysconfig.get_path("purelib")]  # students cannot write there, and uv leaves it open
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "0", *folders], stdout=subprocess.DEVNULL)


def installed():
    package = PROXY.parent.parent / "package.json"
    return package.is_file() and f'"version": "{PROXY_VERSION}"' in package.read_text()


def allow_pulling():
    """Git refuses to pull from a folder that belongs to somebody else, unless its settings name that folder."""
    folders = "".join(f"\tdirectory = {folder}\n" for folder in (ROOT, ROOT / ".git"))
    (NODE / "gitconfig").write_text(
        f"[include]\n\tpath = /etc/gitconfig\n[core]\n\thooksPath = {HOOKS}\n[safe]\n{folders}"
    )
    (NODE / "gitconfig").chmod(0o644)


def copy_after_pulling():
    """Git calls these as the student, after a clone and a merge: the student's own copies of the notebooks follow."""
    HOOKS.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-merge"):
        (HOOKS / name).write_text(f"#!/bin/sh\n[ ! -f copies.py ] || {shlex.quote(sys.executable)} copies.py || true\n")
        (HOOKS / name).chmod(0o755)


def make_skeleton():
    """A new home has matplotlib's list of fonts: finding them takes each learner seconds otherwise."""
    cache = STATE / "skeleton/.cache/matplotlib"
    if not cache.is_dir():
        cache.mkdir(parents=True)
        code = "import matplotlib.font_manager"
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "MPLCONFIGDIR": str(cache)})


# --------------------------------------------------------------------------------------------------------------- proxy


def environment():
    """The hub's environment: it and the proxy know each other by a token."""
    token = (STATE / "proxy_token").read_text()
    return {**os.environ, "CONFIGPROXY_AUTH_TOKEN": token, "COURSE_HUB_STATE": str(STATE)}


def start_proxy():
    """A process of its own, under an account without rights; it outlives the hub, and so do open pages."""
    if proxy_answers():
        return
    hub = f"http://127.0.0.1:{PORT + 2}"
    command = ["node", PROXY, "--ip", ADDRESS, "--port", PORT, "--api-ip", "127.0.0.1", "--api-port", PORT + 1]
    command += ["--default-target", hub, "--error-target", f"{hub}/hub/error"]
    with open(STATE / "logs/proxy.log", "ab") as log:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd="/",
            env=environment(),
            user="nobody",
            group="nogroup",
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (STATE / "proxy.pid").write_text(str(process.pid))
    for _ in range(100):
        if proxy_answers():
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"The proxy did not start; {STATE}/logs/proxy.log says why.")


def proxy_answers():
    token = (STATE / "proxy_token").read_text()
    address, headers = f"http://127.0.0.1:{PORT + 1}/api/routes", {"Authorization": f"token {token}"}
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


def stop():
    """Hub and proxy by the numbers they left, students by their accounts."""
    for name, sign in (("hub", "jupyterhub"), ("proxy", "configurable-http-proxy")):
        end(STATE / f"{name}.pid", sign)
    students = set(roster.load()) & accounts_of_students()
    left = [process for process in psutil.process_iter(["username"]) if process.info["username"] in students]
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=5)
    for kind in limits.KINDS:
        for name in (*students, ""):  # the class's own group last
            kind().remove(name)
    return 0


def accounts_of_students():
    """Names of accounts that a hub made: never those of the system, whatever the roster says."""
    try:
        return set(grp.getgrnam(roster.GROUP).gr_mem)
    except KeyError:
        return set()


def running(file, sign):
    """The process whose number a file holds, if it still is the one that wrote it, else None."""
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        process = psutil.Process(int(file.read_text()))
        if process.is_running() and sign in " ".join(process.cmdline()):
            return process
    return None


def end(file, sign):
    process = running(file, sign)
    if process:
        process.terminate()
        psutil.wait_procs([process], timeout=20)
    file.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
