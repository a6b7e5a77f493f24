"""In a real JupyterLab every notebook runs from the top, without an error and without a complaint of the page."""

import pytest
from conftest import ROOT
from lab_page import Lab

NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_notebook_runs_in_jupyterlab(browser, lab, name):
    page = Lab(browser, lab, f"notebooks/{name}.ipynb")
    try:
        page.run_all()
        errors = page.page.locator("[data-mime-type='application/vnd.jupyter.error']")
        assert errors.count() == 0, errors.first.inner_text()
        broken = "() => [...document.querySelectorAll('.jp-Notebook img')].filter(i => i.complete && !i.naturalWidth)"
        assert page.page.evaluate(f"({broken})().map(i => i.src.slice(0, 80))") == []
        assert page.complaints == []
    finally:
        page.close()


def test_a_saved_notebook_shows_a_board_as_plain_tables_before_it_is_run(browser, lab):
    page = Lab(browser, lab, "notebooks/saved_01_by_hand.ipynb")
    try:
        text = page.page.get_by_text("run the cell to move these numbers")
        text.scroll_into_view_if_needed()
        assert text.is_visible()
        assert page.page.get_by_role("caption").filter(has_text="outputs").count() == 1
    finally:
        page.close()
