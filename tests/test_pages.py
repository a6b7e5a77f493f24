"""What pages without a kernel are made of: boards that live there, and words that tell nobody to run a cell."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from authors import markdown, pages, site, speaker

NOTEBOOKS = sorted((Path(pages.__file__).parents[1] / "notebooks").glob("*.ipynb"))
VIEW = {"model_id": "1", "version_major": 2, "version_minor": 0}


def saved_board(source):
    data = {pages.VIEW: VIEW, "text/html": "<table></table>", "text/plain": "Board"}
    return new_code_cell(source, outputs=[new_output("execute_result", data)])


@pytest.fixture
def path(tmp_path):
    """A notebook with a board whose words could end a script, and a cell below it that nobody should run."""
    bar = new_output("display_data", {pages.VIEW: VIEW, "text/plain": "100%"})
    cells = [
        new_markdown_cell("# 9. A title"),
        new_code_cell("import torch\nfrom attn_lib.explorers import heads_explorer"),
        new_code_cell("print('said aloud')\nweights = torch.full((1, 2, 2), 0.5)", outputs=[bar]),
        saved_board("heads_explorer(weights, ['</script>', '<b>'])"),
        new_code_cell("raise SystemExit('nobody runs this')"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "09_small.ipynb")
    return tmp_path / "09_small.ipynb"


def test_a_board_is_html_that_holds_its_traits_and_its_tables(path, capsys):
    before = path.read_bytes()
    (output,) = pages.without_kernel(path).cells[3].outputs
    assert set(output.data) == {"text/html"}
    page = BeautifulSoup(output.data["text/html"], "html.parser")
    board = page.select_one(".saved-board")
    saved = json.loads(board.script.string)
    assert board["data-title"] == saved["spec"]["heading"] and set(saved) == {"spec", "films", "now", "heard"}
    assert "</script>" in json.dumps(saved) and len(page.select("script")) == 1  # its words do not end it
    assert board.select("table") and "run the cell" not in board.get_text()
    assert path.read_bytes() == before
    assert capsys.readouterr().out == ""


def test_a_progress_bar_leaves_its_text(path):
    assert pages.without_kernel(path).cells[2].outputs[0].data == {"text/plain": "100%"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_saved_output_tells_a_reader_without_a_kernel_to_run_a_cell(path):
    outputs = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])]
    shown = [
        data["text/html"]
        for output in outputs
        if pages.VIEW not in (data := output.get("data", {})) and "text/html" in data
    ]
    assert shown and not [page for page in shown if re.search(r"\brun (this|both|the) cells?\b", page, re.I)]


def test_the_script_of_boards_is_a_classic_one_and_wakes_them():
    script = pages.script()
    assert "export default" not in script and "import " not in script.split("function", 1)[0]
    assert script.startswith("(() => {") and ".saved-board" in script and "const BOARD = () =>" in script


def test_a_picture_takes_its_description_to_the_page(path):
    notebook = nbformat.read(path, as_version=4)
    picture = new_output("execute_result", {"image/png": "AAAA"}, metadata={"image/png": {"alt": "Who listens."}})
    notebook.cells[4].outputs = [picture]
    nbformat.write(notebook, path)
    cells = site.lesson(path).cells
    assert cells[4].metadata["mystnb"] == {"image": {"alt": "Who listens."}}
    assert "mystnb" not in cells[2].metadata


def test_links_to_files_that_the_site_does_not_show_are_only_words(tmp_path, monkeypatch):
    (tmp_path / "deploy").mkdir()
    text = "[a](https://example.org) [b](../notebooks/01.ipynb) [c](roster.py) [d](../README.md) [e](README.md#top)"
    (tmp_path / "deploy/README.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(site, "ROOT", tmp_path)
    shown = site.without_dead_links("deploy/README.md", ["deploy/README.md", "notebooks/"])
    assert shown == "[a](https://example.org) [b](../notebooks/01.ipynb) c d [e](README.md#top)"


@pytest.mark.parametrize(("code", "said"), [(0, "index.html"), (1, "has faults")])
def test_a_site_with_faults_is_not_called_done(monkeypatch, capsys, code, said):
    monkeypatch.setattr(site, "build", lambda folder, options: code)
    assert site.main(["-n"]) == code
    assert said in capsys.readouterr().out


def test_a_lesson_that_the_readme_does_not_list_is_noticed(path):
    with pytest.raises(Exception, match="README"):
        site.index([path], [])


def test_formulas_become_mathml():
    page = BeautifulSoup(markdown.to_html("A $d_k$ and\n\n$$\\text{a\\_b} = 1$$\n\n| a |\n|---|\n| 1 |"), "html.parser")
    inline, block = page.select("math")
    assert inline["display"] == "inline" and inline.msub and block["display"] == "block"
    assert "a_b" in block.get_text() and page.select_one("td").get_text() == "1"


def test_minutes_on_a_clock_and_before_each_slide():
    assert [speaker.clock(minutes) for minutes in (0, 7.5, 12.25, 61)] == ["0:00", "7:30", "12:15", "61:00"]
    slides = [("slide", 2), (None, 5), ("subslide", 1.5), ("fragment", 5), ("skip", 5), ("slide", 0)]
    cells = [
        new_markdown_cell(str(i), metadata={"slideshow": {"slide_type": kind}, "speaker": {"minutes": minutes}})
        for i, (kind, minutes) in enumerate(slides)
    ]
    notebook = new_notebook(cells=cells)
    assert [cell.source for cell in speaker.slides(notebook)] == ["0", "2", "5"]
    assert list(speaker.minutes_before(notebook).values()) == [0, 2, 3.5]
    assert speaker.notes_of(new_markdown_cell("")) == {"minutes": 0, "say": "", "ask": ""}
