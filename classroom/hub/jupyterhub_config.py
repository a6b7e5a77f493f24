"""JupyterHub for a class on one machine; `python course.py hub` starts it.

Accounts, the teacher's role, limits and culling are those of values.yaml, which Kubernetes reads too.
"""

import os
import subprocess
import sys
from pathlib import Path

import yaml
from nativeauthenticator import NativeAuthenticator

from classroom.hub import collect, deadlines, logins, spawners
from classroom.hub import student_edition as edition
from classroom.hub.roster import STATE

c = get_config()  # noqa: F821 - JupyterHub defines it
values = yaml.safe_load(Path(__file__).with_name("values.yaml").read_text(encoding="utf-8"))
student = values["singleuser"]

# ----------------------------------------------------------------------------------------------- hub, proxy and state

ADDRESS = os.environ.get("COURSE_HUB_ADDRESS", "127.0.0.1")  # put a web server with TLS before it
PORT = int(os.environ.get("COURSE_HUB_PORT", "8000"))  # the two next ones are taken too, on 127.0.0.1
c.JupyterHub.bind_url = f"http://{ADDRESS}:{PORT}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{PORT + 2}"
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.JupyterHub.pid_file = f"/run/attention-hub-{PORT}.pid"  # /run is empty after a boot: no number outlives its process
c.JupyterHub.template_vars = {"announcement_login": "Your teacher has your name and password."}
c.JupyterHub.cleanup_servers = c.JupyterHub.cleanup_proxy = False  # a restart of the hub ends nobody's work
proxy = str(Path(sys.prefix) / "hub/node_modules/configurable-http-proxy/bin/configurable-http-proxy")
c.ConfigurableHTTPProxy.command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "node", proxy]
c.ConfigurableHTTPProxy.log_level = "error"  # it outlives the terminal that it would write to
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORT + 1}"
c.ConfigurableHTTPProxy.pid_file = f"/run/attention-proxy-{PORT}.pid"

# ------------------------------------------------------------------------------------------- as values.yaml has it

for name, settings in values["hub"]["config"].items():
    c[name].update(settings)
c.JupyterHub.load_roles = [{"name": name, **role} for name, role in values["hub"]["loadRoles"].items()]
c.JupyterHub.load_roles.append(
    {
        "name": "culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["culler"],
    }
)
cull = [f"--timeout={values['cull']['timeout']}", f"--cull-every={values['cull']['every']}"]
c.JupyterHub.services = [{"name": "culler", "command": [sys.executable, "-P", "-m", "jupyterhub_idle_culler", *cull]}]
c.Spawner.mem_limit = student["memory"]["limit"]
c.Spawner.cpu_limit = student["cpu"]["limit"]
c.Spawner.start_timeout = c.Spawner.http_timeout = student["startTimeout"]

if logins.FILE.is_file():
    c.JupyterHub.authenticator_class = logins.LogIns
    c.LogIns.authenticators = logins.authenticators(NativeAuthenticator)
    c.JupyterHub.template_vars = {"announcement_login": "A password is for those to whom the teacher gave one."}

# ------------------------------------------------------------------------------------------------- a student's server

PROCESSES = 400


def at_home(spawner, name):
    """The path of this name in the home of the spawner's student."""
    return str(Path(spawners.home(spawner.user.name).pw_dir, name))


c.Spawner.pre_spawn_hook = deadlines.before_a_server
c.Spawner.cmd = [str(Path(sys.executable).parent / "jupyterhub-singleuser")]
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=7200",  # forgotten notebooks; never one with a page open
    "--KernelManager.transport=ipc",  # on a port, neighbours could listen to what a kernel says, and ports run out
]
c.Spawner.default_url = edition.pull("01_by_hand.ipynb")  # the course is there before the page opens
c.Spawner.environment = {
    **student["extraEnv"],
    "ATTENTION_HAND_IN": f"~/{collect.PLACE}",
    "ATTENTION_DEADLINES": lambda spawner: at_home(spawner, deadlines.IN_A_HOME),
    "ATTENTION_LIVE": lambda spawner: at_home(spawner, collect.LIVE),
    "JUPYTER_RUNTIME_DIR": lambda spawner: at_home(spawner, ".runtime"),  # a socket's path has 107 letters at most
    "GIT_CONFIG_SYSTEM": str(edition.SETTINGS),  # lets students pull, and their copies follow
}
if Path("/run/systemd/system").is_dir():
    c.JupyterHub.spawner_class = spawners.SystemdServer
    c.SystemdSpawner.isolate_tmp = c.SystemdSpawner.isolate_devices = c.SystemdSpawner.disable_user_sudo = True
    c.SystemdSpawner.unit_extra_properties = {"TasksMax": str(PROCESSES), "UMask": "0077"}
else:  # memory is limited for each process, not for all of a student's
    c.JupyterHub.spawner_class = spawners.PlainServer
    memory = spawners.PlainServer(mem_limit=c.Spawner.mem_limit).mem_limit
    c.Spawner.cmd = ["nice", "prlimit", f"--data={memory}", f"--nproc={PROCESSES}", *c.Spawner.cmd]
    log = os.open(STATE / "servers.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)  # outlives the hub's terminal
    c.PlainServer.popen_kwargs = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "umask": 0o077}
