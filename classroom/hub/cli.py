"""The hub of a class; `python course.py hub` runs this module in the right Python, as root.

course.py hub                start it; Ctrl-C ends the hub alone: servers and kernels go on for the next start
course.py hub stop           end it, and every student's processes
course.py hub add | remove | list                               see roster.py
course.py hub deadline | collect | return | live                see deadlines.py and collect.py
course.py hub hall [new]                                        see relay.py
course.py hub links                                             see student_edition.py
"""

import contextlib
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import psutil

from . import collect, deadlines, relay, roster, spawners
from . import student_edition as edition

STATE = roster.STATE
PROXY = "5.3.0"
PORT = int(os.environ.get("COURSE_HUB_PORT", "8000"))


def main(arguments):
    """Do what these arguments ask for; leaves with the usage for a command that there is not."""
    if not arguments:
        return start()
    if arguments == ["stop"]:
        return stop()
    if arguments[0] in ("add", "remove", "list"):
        return roster.main(arguments)
    others = {"collect": collect.main, "return": collect.hand_back, "live": collect.live, "links": edition.links}
    others |= {"deadline": deadlines.main, "hall": relay.main}
    if arguments[0] in others:
        return others[arguments[0]](arguments[1:])
    sys.exit(__doc__)


def start():
    """Become the hub, which ends with Ctrl-C; this function does not return.

    Leaves with a sentence if the roster is empty or a hub runs already.
    """
    if not roster.people():
        sys.exit("Nobody is in the roster yet: course.py hub add CLASS.csv makes accounts and prints their passwords.")
    if hub := running("hub", "jupyterhub"):
        sys.exit(f"The hub is running already, as process {hub.pid}.")
    if not running("proxy", "configurable-http-proxy"):
        pid_file("proxy").unlink(missing_ok=True)  # JupyterHub would end whatever has the number by now
    prepare()
    config = Path(__file__).with_name("jupyterhub_config.py")
    print(f"The class is at port {PORT} as soon as the hub says that it runs.", flush=True)
    os.environ["COURSE_HUB_STATE"] = str(STATE)
    os.execv(sys.executable, [sys.executable, "-P", "-m", "jupyterhub", "-f", str(config)])


def prepare():
    """Everything that is made once or brought up to date: the proxy, students' edition, what a new home holds."""
    STATE.chmod(0o700)
    os.umask(0o022)  # what students read
    edition.PLACE.mkdir(exist_ok=True)
    package = edition.PLACE / "node_modules/configurable-http-proxy/package.json"
    if not package.is_file() or f'"version": "{PROXY}"' not in package.read_text():
        command = ["npm", "install", "--no-fund", "--no-audit", "--loglevel=error", "--prefix", edition.PLACE]
        subprocess.run([*command, f"configurable-http-proxy@{PROXY}"], check=True)
    edition.write()
    edition.allow_pulling()
    edition.close_the_rest()
    (STATE / "skeleton" / collect.LIVE).mkdir(parents=True, exist_ok=True)
    cache = STATE / "skeleton/.cache/matplotlib"
    if not cache.is_dir():  # a new home has matplotlib's list of fonts: finding them takes each learner seconds
        environment = {**os.environ, "MPLCONFIGDIR": str(cache)}
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True, env=environment)
    rooms = [edition.ROOT / "attn_lib", edition.ROOT / "workbench"]  # students cannot write there
    folders = [*rooms, sysconfig.get_path("purelib")]
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "0", *folders], stdout=subprocess.DEVNULL)


def stop():
    """Hub and proxy by the numbers they left in /run, students by their accounts."""
    for name, sign in (("hub", "jupyterhub"), ("proxy", "configurable-http-proxy")):
        if process := running(name, sign):
            process.terminate()
            psutil.wait_procs([process], timeout=20)
    spawners.end_all({spawners.account(person["id"]) for person in roster.people()})


def pid_file(name):
    """Where jupyterhub_config.py has the hub write its number and the proxy's."""
    return Path(f"/run/attention-{name}-{PORT}.pid")


def running(name, sign):
    """The hub's or the proxy's process, if the number in its file still is its own, else None."""
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        process = psutil.Process(int(pid_file(name).read_text()))
        if sign in " ".join(process.cmdline()):
            return process


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
