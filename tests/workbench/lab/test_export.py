"""A learner's copy as a page for others, by nbconvert as the environment has it."""

import nbformat
import traitlets.config
from nbconvert import HTMLExporter
from paths import ROOT

from commands import setting_up
from workbench import copies


def exported(notebook, folder):
    exporter = HTMLExporter(config=traitlets.config.Config(setting_up.EXPORT))
    return exporter.from_notebook_node(notebook, {"metadata": {"path": str(folder)}})[0]


def test_an_exported_lesson_gives_no_answer_away(tmp_path):
    """What is folded in the copy is not in its page, and its pictures come along."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/01_by_hand.ipynb").write_bytes((ROOT / "notebooks/01_by_hand.ipynb").read_bytes())
    (tmp_path / "img").symlink_to(ROOT / "img")
    copies.bring_up_to_date(tmp_path)
    copy = nbformat.read(tmp_path / "my/01_by_hand.ipynb", 4)
    page = exported(copy, tmp_path / "my")
    assert "by_hand_board" in page and "new_bank" not in page and "A question. Run" not in page
    assert 'src="../img' not in page and "data:image/svg" in page


def test_export_leaves_another_notebook_as_it_is(tmp_path):
    cell = nbformat.v4.new_code_cell("secret = 1", metadata={"jupyter": {"source_hidden": True}})
    notebook = nbformat.v4.new_notebook(cells=[cell])
    plain = HTMLExporter().from_notebook_node(notebook, {"metadata": {"path": str(tmp_path)}})[0]
    assert exported(notebook, tmp_path) == plain
