"""What all tests share is in tests/helpers/shared.py: several folders have a conftest, and a module one name."""

from functools import cache
from pathlib import Path

import pytest

from workbench.smollm import place

pytest_plugins = ["shared"]


NOTEBOOKS = Path(__file__).parent / "notebooks"


@cache
def with_the_model():
    """The names of the notebooks that run the language model."""
    return [path.stem for path in NOTEBOOKS.glob("*.ipynb") if "= smollm()" in path.read_text(encoding="utf-8")]


def pytest_collection_modifyitems(items):
    """What shows or compares a notebook with the language model runs where its file is; it may not have come."""
    if place.package_file() is None:
        for item in items:
            if any(name in item.nodeid for name in with_the_model()):
                item.add_marker(pytest.mark.skip(reason=place.MISSING))
