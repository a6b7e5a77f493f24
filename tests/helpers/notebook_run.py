"""A made-up notebook, tested as the course's are."""

import pytest
from lab_page import ROOT


def failures(path):
    """What fails in a notebook: each cell's name, and what is said of it."""
    # In this process, which has imported everything already.
    told = Failures()
    here = [f"-c{ROOT / 'pyproject.toml'}", f"--rootdir={path.parent}", str(path)]
    pytest.main(["-n0", "-p", "shared", "-p", "no:faulthandler", *here], plugins=[told])
    return told.found


class Failures:
    """A plugin that keeps what failed."""

    def __init__(self):
        self.found = {}

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.found[report.nodeid.rpartition("::")[2]] = report.longreprtext
