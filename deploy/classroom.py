"""JupyterHub's two parts that know the class: who logs in, and how a student's server is started."""

import asyncio
import contextlib
import grp
import os
import pwd
import subprocess
import sys
from pathlib import Path

import psutil
from jupyterhub.auth import LocalAuthenticator
from jupyterhub.spawner import LocalProcessSpawner
from systemdspawner import SystemdSpawner
from tornado.ioloop import IOLoop

sys.path.insert(0, str(Path(__file__).parent))
import limits
import roster


class RosterAuthenticator(LocalAuthenticator):
    """Names and password hashes from the roster, and a Unix account for each at the first login."""

    async def authenticate(self, handler, data):
        name, password = data["username"], data["password"]
        members = roster.load()  # each time: a student who was just added need not wait
        known = await IOLoop.current().run_in_executor(None, roster.matches, members, name, password)
        if not known:
            return None
        if not ours_or_free(name):
            self.log.error("%s is in the roster, but is an account or group of the system's: give another name", name)
            return None
        return {"name": name, "groups": groups(members[name])}

    async def refresh_user(self, user, handler=None, **kwargs):
        """Asked now and then for whoever is logged in: who left the roster is out."""
        members = roster.load()
        return {"name": user.name, "groups": groups(members[user.name])} if user.name in members else False

    def add_system_user(self, user):
        """Make an account with a home that nobody else can enter."""
        skeleton = roster.STATE / "skeleton"
        options = ["--create-home", "--skel", str(skeleton), "--shell", "/bin/bash", "--groups", roster.GROUP]
        subprocess.run(["groupadd", "--force", roster.GROUP], check=True)
        subprocess.run(["useradd", *options, "--key", "HOME_MODE=0700", user.name], check=True)
        os.chmod(pwd.getpwnam(user.name).pw_dir, 0o700)  # an older useradd does not know HOME_MODE


def groups(member):
    return ["teachers"] if member["teacher"] else []


def ours_or_free(name):
    """Whether a student may have this account: the hub made it, or there is no account nor group of the name."""
    if exists(name):
        return exists(roster.GROUP, grp.getgrnam) and name in grp.getgrnam(roster.GROUP).gr_mem
    return not exists(name, grp.getgrnam)


def exists(name, look_up=pwd.getpwnam):
    try:
        look_up(name)
    except KeyError:
        return False
    return True


class LimitedSpawner(LocalProcessSpawner):
    """A student's server as a process of the student's account, with limits that the kernel holds up.

    For machines without systemd; where it runs, SystemdSpawner does the same and more.
    """

    kind = limits.Rlimits()

    def limits(self):
        return limits.Limits(memory=int(self.mem_limit), cpus=self.cpu_limit)

    def make_preexec_fn(self, name):
        drop, kind, mine = super().make_preexec_fn(name), self.kind, self.limits()

        def before_the_server():
            kind.enter(name, mine)
            os.umask(0o077)
            drop()

        return before_the_server

    async def start(self):
        name = self.user.name
        self.kind.prepare(name, self.limits())
        logs = roster.STATE / "logs"
        logs.mkdir(mode=0o700, exist_ok=True)
        with open(logs / f"{name}.log", "wb") as log:  # not the hub's own output, which ends with the hub
            self.popen_kwargs = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT}
            return await super().start()

    def load_state(self, state):
        """After a restart of the hub, a number may belong to another process by now."""
        super().load_state(state)
        if self.pid and owner(self.pid) != self.user.name:
            self.pid = 0

    async def stop(self, now=False):
        """The server, and whatever the student left running."""
        await super().stop(now)
        await asyncio.to_thread(end_all, self.user.name)  # the hub answers others meanwhile
        self.kind.remove(self.user.name)


def end_all(name):
    """Kill every process of an account and wait until they are gone."""
    left = [process for process in psutil.process_iter() if owner(process.pid) == name]
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=2)


def owner(pid):
    """The name of the account that a process runs under, or None."""
    try:
        return psutil.Process(pid).username()
    except psutil.Error:
        return None


def spawner(wanted=""):
    """SystemdSpawner where systemd runs, else ours with the strongest limits that work here."""
    if wanted in ("", "systemd") and Path("/run/systemd/system").is_dir():
        return SystemdSpawner
    LimitedSpawner.kind = limits.best(wanted)
    return LimitedSpawner
