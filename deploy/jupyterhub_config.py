"""JupyterHub for a class on one machine; `python course.py hub` starts it."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import links  # noqa: E402
import roster  # noqa: E402
from classroom import RosterAuthenticator, SystemdSpawner, spawner  # noqa: E402

c = get_config()  # noqa: F821 - JupyterHub defines it

# ------------------------------------------------------------------------------------ what a class may want to change

MEMORY = "1536M"  # for a student's server and kernels together; a kernel with torch takes about 0.3 GB
CPUS = 1.0  # cores; a notebook's heaviest cell takes seconds of one
IDLE = 60 * 60  # seconds without activity after which a server is stopped; saved work stays
ADDRESS = os.environ.get("COURSE_HUB_ADDRESS", "127.0.0.1")  # put a web server with TLS before it
PORT = int(os.environ.get("COURSE_HUB_PORT", "8000"))  # the two next ones are taken too, on 127.0.0.1

# ----------------------------------------------------------------------------------------------- hub, proxy and state

STATE = roster.STATE
c.JupyterHub.bind_url = f"http://{ADDRESS}:{PORT}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{PORT + 2}"
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.JupyterHub.template_vars = {"announcement_login": "Your teacher has your name and password."}

# A restart of the hub touches nobody's server: the proxy is a process of its own (start.py) and servers stay.
c.JupyterHub.cleanup_servers = False
c.ConfigurableHTTPProxy.should_start = False
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORT + 1}"
c.ConfigurableHTTPProxy.auth_token = os.environ.get("CONFIGPROXY_AUTH_TOKEN", "")

# ----------------------------------------------------------------------------------------------------- who, and where

c.JupyterHub.authenticator_class = RosterAuthenticator
c.Authenticator.allow_all = True  # all that authenticate lets through: whoever has a password from the roster
c.Authenticator.manage_groups = True  # "teachers", from the roster
c.Authenticator.auth_refresh_age = 60  # seconds until the hub looks again whether somebody is still in the roster
c.LocalAuthenticator.create_system_users = True
c.JupyterHub.spawner_class = spawner(os.environ.get("COURSE_HUB_LIMITS", ""))
c.Spawner.cmd = [str(Path(sys.executable).parent / "jupyterhub-singleuser")]
c.Spawner.mem_limit = MEMORY
c.Spawner.cpu_limit = CPUS
c.Spawner.default_url = links.pull("01_by_hand.ipynb")  # the course is there before the page opens
c.Spawner.start_timeout = 300  # a whole class starts at once on few cores; 160 were seen on two busy ones
c.Spawner.http_timeout = 300
c.Spawner.args = ["--MappingKernelManager.cull_idle_timeout=7200"]  # forgotten notebooks; never one with a page open
c.Spawner.environment = {
    "OMP_NUM_THREADS": str(max(1, round(CPUS))),  # torch would start a thread for each core of the machine
    "GIT_CONFIG_SYSTEM": str(Path(sys.prefix) / "hub/gitconfig"),  # written by start.py: lets students pull from here
}

c.SystemdSpawner.isolate_tmp = True
c.SystemdSpawner.isolate_devices = True
c.SystemdSpawner.disable_user_sudo = True
if c.JupyterHub.spawner_class is SystemdSpawner:
    c.SystemdSpawner.unit_extra_properties = {"TasksMax": "400", "UMask": "0077"}

# -------------------------------------------------------------------------------------------------- teachers, culling

c.JupyterHub.load_roles = [
    {
        "name": "teacher",  # not an admin: those can open every student's server
        "scopes": ["admin-ui", "list:users", "read:users", "read:servers", "delete:servers"],
        "groups": ["teachers"],
    },
    {
        "name": "culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["culler"],
    },
]
c.JupyterHub.services = [
    {"name": "culler", "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={IDLE}"]}
]
