"""For each test of the clinic a session in which no bug has been solved yet, and no progress is kept."""

import pytest
from known_bugs import BUGS


@pytest.fixture(autouse=True)
def new_session(own_folder, monkeypatch):
    for bug in BUGS.values():
        for name, value in {"solved": False, "escapes": 0, "escaped": None, "condemned": 0}.items():
            monkeypatch.setattr(bug, name, value)
