import contextlib
import io

import pytest
from paths import LESSONS

from authors.deck import build
from authors.site import sphinx_site


@pytest.fixture(scope="session")
def built(built_once, notebooks_run_once):
    """The folder with the site."""

    def build_site(folder):
        with notebooks_run_once(), contextlib.redirect_stdout(io.StringIO()):
            assert sphinx_site.build(folder) == 0, "Sphinx has warnings"

    return built_once("site", build_site) / "site"


@pytest.fixture(scope="session")
def decks(built_once, notebooks_run_once):
    """The folder with the decks of all notebooks."""

    def build_all(folder):
        with notebooks_run_once():
            for path in LESSONS:
                (folder / f"{path.stem}.html").write_text(build.page(path), encoding="utf-8")

    return built_once("decks", build_all)
