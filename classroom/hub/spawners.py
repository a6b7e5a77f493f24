"""A student's Unix account and server: what JupyterHub's spawners cannot know of this class."""

import contextlib
import grp
import hashlib
import os
import pwd
import re
import subprocess
from pathlib import Path

import psutil
from jupyterhub.spawner import LocalProcessSpawner
from systemdspawner import SystemdSpawner

GROUP = "attention-students"  # marks the accounts that a hub made
SKELETON = Path(os.environ.get("COURSE_HUB_STATE", "")) / "skeleton"


def account(name):
    """The Unix account of whoever logs in by this name, in any script: at-ada-example-org-cfe00dde."""
    readable = re.sub("[^a-z0-9]+", "-", name).strip("-")[:18]
    return "-".join(filter(None, ["at", readable, hashlib.sha256(name.encode()).hexdigest()[:8]]))


def home(name):
    """The account's entry among the system's, or None before the first server."""
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(account(name))


def make_account(spawner):
    """Before a server starts: its account, with a home that nobody else can enter."""
    name = account(spawner.user.name)
    if home(spawner.user.name):
        if name not in grp.getgrnam(GROUP).gr_mem:
            raise PermissionError(f"{name} is an account of the system's")
        return
    subprocess.run(["groupadd", "--force", GROUP], check=True)
    options = ["--create-home", "--skel", SKELETON, "--shell", "/bin/bash", "--groups", GROUP]
    subprocess.run(["useradd", *options, "--key", "HOME_MODE=0700", name], check=True)
    os.chmod(pwd.getpwnam(name).pw_dir, 0o700)  # an older useradd does not know HOME_MODE


class SystemdServer(SystemdSpawner):
    """A server as a unit of systemd's, under the student's account."""

    def _expand_user_vars(self, string):
        return string.format(USERNAME=account(self.user.name), USERID=self.user.id)


class PlainServer(LocalProcessSpawner):
    """A server as a process of the student's account, for machines without systemd."""

    def make_preexec_fn(self, name):
        """What a new server does first: take on the student's account."""
        return super().make_preexec_fn(account(name))

    def user_env(self, env):
        """The server's environment: the account's own, and no PYTHONPATH, which names folders closed to students."""
        entry = home(self.user.name)
        env = {name: value for name, value in env.items() if name != "PYTHONPATH"}
        return {**env, "USER": entry.pw_name, "HOME": entry.pw_dir, "SHELL": entry.pw_shell}

    def load_state(self, state):
        """After a restart of the hub, a number may belong to another process by now."""
        super().load_state(state)
        if owner(self.pid) != account(self.user.name):
            self.pid = 0

    async def stop(self, now=False):
        """The server, and whatever the student left running."""
        await super().stop(now)
        end_all([account(self.user.name)])


def owner(pid):
    """The name of the account that a process runs under, or None."""
    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).username()


def end_all(accounts):
    """Kill every process of these accounts and wait until they are gone."""
    processes = [process for process in psutil.process_iter() if owner(process.pid) in accounts]
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=5)
