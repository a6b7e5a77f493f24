"""course.py hub hall: votes by phone for lecture halls whose network keeps devices apart.

The vote server of classroom/hall, as a relay: a lecturer's deck connects to it from wherever it is, with the secret
that this prints, keeps every right answer, and gives the orders. Put it behind TLS at a path of its own (Caddy:
`redir /hall /hall/` and `handle_path /hall/* { reverse_proxy 127.0.0.1:8088 }`).
"""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

from . import roster

SERVER = Path(__file__).resolve().parents[1] / "hall/server.py"
PORT = int(os.environ.get("COURSE_HALL_PORT", "8088"))
NOBODY = "nobody"  # whose rights are enough to serve phones


def main(arguments):
    """Serve phones until Ctrl-C; returns the server's exit code. `new` makes another secret, and the old one ends."""
    if arguments not in ([], ["new"]):
        sys.exit("course.py hub hall, or course.py hub hall new for another secret")
    secret = relay_secret(new=bool(arguments))
    print(f"Phones vote at port {PORT}, behind your web server with TLS. From a lecture:", flush=True)
    print(f"  HALL_SECRET={secret} python course.py present 03 --relay https://YOUR-HUB/hall/", flush=True)
    user = NOBODY if hasattr(os, "geteuid") and os.geteuid() == 0 else None
    settings = {"address": "127.0.0.1", "ports": [PORT], "secret": secret, "user": user}
    bare = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    with subprocess.Popen([sys.executable, "-I", SERVER], stdin=subprocess.PIPE, env=bare, encoding="utf-8") as server:
        server.stdin.write(json.dumps(settings) + "\n")  # no other process's list shows it
        server.stdin.flush()
        try:
            return server.wait()
        except KeyboardInterrupt:
            server.stdin.close()
            return server.wait(10)


def relay_secret(new=False):
    """The relay's secret, made once, or anew; it stands in a file that its owner alone reads."""
    file = roster.STATE / "hall-secret"
    if new or not file.is_file():
        roster.STATE.mkdir(mode=0o700, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(24))
    return file.read_text()
