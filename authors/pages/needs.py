"""What pages need of a browser: the one place in which it is looked up whether they may take something for granted.

Pages work in browsers of five years ago, WORKS_FROM. What is younger stands in needs.toml, with the versions that
brought it and what happens without it: older.js gives it, or the page does without, and says in one sentence that it
looks plainer. What is younger and used by no page stands there too, so that a test catches its first use.
Versions: https://github.com/web-platform-dx/web-features, data of 3.40.0.
"""

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbench.board import modules

from . import packages

WORKS_FROM = {"chrome": 96, "firefox": 94, "safari": 15}  # November 2021
TARGET = ",".join(f"{browser}{version}" for browser, version in WORKS_FROM.items())  # as esbuild names them
OLD = (
    f"a newer browser: Chrome or Edge {WORKS_FROM['chrome']}, Firefox {WORKS_FROM['firefox']}, Safari "
    f"{WORKS_FROM['safari']}, or later"
)


@dataclass(frozen=True)
class Need:
    """Something younger than WORKS_FROM in at least one browser.

    uses is a regular expression for it, in style sheets where there is `supports`, what CSS.supports is asked, and else
    in scripts; since has the versions of Chrome, Firefox and Safari that brought it; without says what happens where it
    is missing; take is JavaScript that takes it away, for a test. A style sheet's names are changed there instead.
    """

    name: str
    uses: str
    since: list
    without: str
    take: str = ""
    supports: str = ""


PLAIN = "said in one sentence"  # how `without` begins where only the looks are others, and the page says so
_TABLE = tomllib.loads(Path(__file__).with_name("needs.toml").read_text(encoding="utf-8"))
NEEDS = [Need(**row) for row in _TABLE["need"]]
AVOIDED = _TABLE["avoided"]  # "scripts" and "styles" → a regular expression


def script(path, name="", before=()):
    """A script for pages, from the module at path and all that it imports; what it exports is called `name`."""
    looks = [need.supports for need in NEEDS if need.without.startswith(PLAIN)]
    return modules.script(path, name, before=before).replace("const LOOKS = [];", f"const LOOKS = {json.dumps(looks)};")


@cache
def style(text):
    """A style sheet as browsers from WORKS_FROM on read it, as far as it can be said in their words."""
    options = ["--loader=css", f"--target={TARGET}", "--charset=utf8", "--log-level=warning"]
    return packages.run("esbuild", *options, input=text, capture_output=True, encoding="utf-8", check=True).stdout


def uses(pattern, text):
    """Whether a script or a style sheet uses it, comments left out."""
    without_comments = re.sub(r"/\*.*?\*/|(?<![:\"'\w])//[^\n]*", "", text, flags=re.S)
    return re.search(pattern, without_comments)
