"""What pages without a kernel are made of: boards, buttons in sentences, links, formulas."""

import json
from base64 import b64decode

import pytest
import torch
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authors.deck import build
from authors.pages import boards_in_pages, markdown
from authors.site import sphinx_site
from workbench.board import lessons


def test_a_board_is_html_with_its_traits_and_tables():
    shown = lessons.heads_board(torch.full((1, 2, 2), 0.5), ["</script>", "<b>"])
    page = BeautifulSoup(boards_in_pages.embed(shown), "html.parser")
    board = page.select_one(".saved-board")
    saved = json.loads(board.script.string)
    assert board["data-title"] == saved["spec"]["heading"] and set(saved) == {"spec", "frames", "state", "reply"}
    assert [saved[name] for name in ("spec", "state", "reply")] == [shown.spec, shown.state, shown.reply]
    assert shown.state and {name: b64decode(film) for name, film in saved["frames"].items()} == shown.frames
    assert "</script>" in json.dumps(saved) and len(page.select("script")) == 1  # its words do not end it
    assert board.select("table")


def test_a_sentence_that_sets_a_board_becomes_a_button():
    tries = [{"said": "Say *no* to it", "sets": {"inputs": {"q": [["<1>"]]}}}, {"said": "Say nothing", "sets": {}}]
    prose = "First. **Say *no* to it**, and then **Say yes**."
    notebook = new_notebook(cells=[new_markdown_cell(prose), new_code_cell("board", id="seen")])
    found = boards_in_pages.buttons(notebook, {"seen": build.outputs.Shown(tries=tries)})
    assert list(found) == ["**Say *no* to it**"]
    shown = boards_in_pages.with_buttons(prose, found)
    button = BeautifulSoup(shown, "html.parser").button
    assert (button["data-board"], json.loads(button["data-now"])) == ("seen", {"inputs": {"q": [["<1>"]]}})
    assert button.get_text() == "Say no to it" and shown.endswith("</button>, and then **Say yes**.")


def test_links_out_of_the_site_become_words(tmp_path, monkeypatch):
    (tmp_path / "classroom/hub").mkdir(parents=True)
    text = (
        "[a](https://example.org) [b](../../notebooks/1.ipynb) [c](roster.py) [d](../../README.md) [e](README.md#top)"
    )
    (tmp_path / "classroom/hub/README.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sphinx_site, "ROOT", tmp_path)
    shown = sphinx_site.without_dead_links("classroom/hub/README.md", ["classroom/hub/README.md", "notebooks/"])
    assert shown == "[a](https://example.org) [b](../../notebooks/1.ipynb) c d [e](README.md#top)"


@pytest.mark.parametrize(("code", "said"), [(0, "index.html"), (1, "has faults")])
def test_a_site_with_faults_is_not_called_done(monkeypatch, capsys, code, said):
    monkeypatch.setattr(sphinx_site, "build", lambda folder, options: code)
    assert sphinx_site.main(["-n"]) == code
    assert said in capsys.readouterr().out


def test_formulas_become_mathml():
    page = BeautifulSoup(markdown.to_html("A $d_k$ and\n\n$$\\text{a\\_b} = 1$$\n\n| a |\n|---|\n| 1 |"), "html.parser")
    inline, block = page.select("math")
    assert inline["display"] == "inline" and inline.msub and block["display"] == "block"
    assert "a_b" in block.get_text() and page.select_one("td").get_text() == "1"
    rows = BeautifulSoup(markdown.mathml(r"\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}"), "html.parser")
    assert len(rows.select("mtr")) == 2 and rows.get_text().replace(" ", "") == "a=1b=2"


def test_html_in_prose_stays_and_a_heading_is_one_line():
    assert markdown.to_html("a <b>c</b>") == "<p>a <b>c</b></p>\n"
    assert markdown.inline("1. A *title*") == "1. A <em>title</em>"
