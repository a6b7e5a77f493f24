"""img/ holds what authors/diagrams.py draws, nothing else, in the course's colours and in letters of a fair size."""

import re
from pathlib import Path

import nbformat
import pytest

from attn_lib.colours import COLOURS
from authors.diagrams import DIAGRAMS, SMALL, alt_text, svg

IMG = Path(__file__).resolve().parent.parent / "img"
NOTEBOOKS = sorted(IMG.with_name("notebooks").glob("*.ipynb"))
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def differs(drawn, stored):
    """Whether two SVGs differ in more than a fraction of a point, which is what another system may round."""
    if NUMBER.sub("#", drawn) != NUMBER.sub("#", stored):
        return True
    pairs = zip(NUMBER.findall(drawn), NUMBER.findall(stored), strict=True)
    return any(abs(float(a) - float(b)) > 0.05 for a, b in pairs)


def test_img_holds_every_diagram_and_no_other():
    assert {path.stem for path in IMG.glob("*.svg")} == set(DIAGRAMS)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_stored_picture_is_what_the_code_draws(name):
    stored = (IMG / f"{name}.svg").read_text(encoding="utf-8")
    assert not differs(svg(name), stored), f"run `python -m authors.diagrams`: {name}.svg is not what the code draws"


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_moved_box_a_changed_colour_or_word_would_be_noticed(name):
    stored = (IMG / f"{name}.svg").read_text(encoding="utf-8")
    assert differs(re.sub(r"(?<= )(\d+)\.(\d+)(?= )", lambda m: f"{int(m[1]) + 1}.{m[2]}", stored, count=1), stored)
    colour = re.search(r"#[0-9a-f]{6}", stored)[0]
    assert differs(stored.replace(colour, "#abcdef"), stored)
    assert differs(re.sub(r"<use ", "<old ", stored, count=1), stored)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_it_has_an_alternative_text_and_is_small(name):
    assert len(alt_text(name)) > 40 and alt_text(name).endswith(".")
    assert (IMG / f"{name}.svg").stat().st_size < 150_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_says_of_each_diagram_what_was_drawn(path):
    prose = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    said = re.findall(r"!\[([^\]]*)\]\([^)]*/(\w+)\.svg\)", prose)
    assert said == [(alt_text(name), name) for _, name in said]


def test_every_diagram_stands_in_a_lesson():
    prose = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    assert [name for name in DIAGRAMS if f"../img/{name}.svg)" not in prose] == []


@pytest.mark.parametrize("name", DIAGRAMS)
def test_letters_are_large_enough_and_colours_are_the_courses(name):
    figure = DIAGRAMS[name]()
    (axes,) = figure.axes
    pixels = 1000 / (figure.get_figwidth() * 72)  # a point, on a page 1000 pixels wide
    assert min(text.get_fontsize() for text in axes.texts) * pixels >= SMALL - 0.5 >= 15
    drawn = svg(name)
    assert any(colour.lower() in drawn for colour in COLOURS.values())
