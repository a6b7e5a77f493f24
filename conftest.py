"""What all tests share is in tests/helpers/shared.py: several folders have a conftest, and a module one name."""

from functools import cache

import pytest

from workbench.smollm import place

pytest_plugins = ["shared"]


@cache
def needs_the_model(path):
    return path.suffix == ".ipynb" and "= smollm()" in path.read_text(encoding="utf-8")


def pytest_collection_modifyitems(items):
    """A notebook that runs the language model is compared where its file is; it may not have come."""
    if place.package_file() is None:
        for item in items:
            if needs_the_model(item.path):
                item.add_marker(pytest.mark.skip(reason=place.MISSING))
