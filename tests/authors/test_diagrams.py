"""img/ holds what authors/diagrams.py draws, nothing else, in the course's colours and in letters of a fair size."""

import functools
import itertools
import re
from collections import namedtuple

import matplotlib
import nbformat
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from paths import ROOT

from authors import diagrams
from authors.diagrams import DIAGRAMS, alt_text, svg
from workbench.display.colours import COLOURS

IMG = ROOT / "img"
NOTEBOOKS = sorted(IMG.with_name("notebooks").glob("*.ipynb"))
Box = namedtuple("Box", "x0 y0 x1 y1")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def differs(drawn, stored):
    """Whether two SVGs differ in more than a fraction of a point, which is what another system may round."""
    if NUMBER.sub("#", drawn) != NUMBER.sub("#", stored):
        return True
    pairs = zip(NUMBER.findall(drawn), NUMBER.findall(stored), strict=True)
    return any(abs(float(a) - float(b)) > 0.05 for a, b in pairs)


drawn = functools.cache(diagrams.drawn)  # once for all tests: they look at a figure and leave it as it is


def words(figure):
    return sorted(" ".join(text.get_text() for text in figure.axes[0].texts).split())


def test_img_holds_every_diagram_wide_and_upright_and_no_other():
    for folder in (IMG, IMG / "upright"):
        assert {path.stem for path in folder.glob("*.svg")} == set(DIAGRAMS)


@pytest.mark.parametrize("upright", [False, True], ids=["wide", "upright"])
@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_stored_picture_is_what_the_code_draws(name, upright):
    stored = (IMG / ("upright" if upright else "") / f"{name}.svg").read_text(encoding="utf-8")
    found = differs(svg(name, drawn(name, upright)), stored)
    assert not found, f"run `python -m authors.diagrams`: {name}.svg is not what the code draws"


def test_settings_of_ones_own_change_no_picture():
    name = next(iter(DIAGRAMS))
    usual = svg(name, drawn(name))
    own = {"savefig.bbox": "tight", "savefig.facecolor": "red", "font.size": 30, "path.sketch": (2, 100, 2)}
    with matplotlib.rc_context(own):
        assert svg(name, diagrams.drawn(name)) == usual
        assert matplotlib.rcParams["savefig.bbox"] == "tight"


def test_one_command_writes_every_picture_again(monkeypatch, tmp_path):
    name = min(DIAGRAMS, key=lambda name: (IMG / f"{name}.svg").stat().st_size)
    monkeypatch.setattr(diagrams, "IMG", tmp_path)
    monkeypatch.setattr(diagrams, "DIAGRAMS", {name: DIAGRAMS[name]})
    monkeypatch.setattr(diagrams, "drawn", drawn)
    diagrams.main()
    for path in (f"{name}.svg", f"upright/{name}.svg"):
        written = (tmp_path / path).read_bytes()
        assert b"\r" not in written and not differs(written.decode(), (IMG / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_upright_form_says_the_same_in_the_same_colours(name):
    wide, upright = drawn(name), drawn(name, upright=True)
    assert words(wide) == words(upright)
    faces = [sorted(to_hex(shape.get_facecolor()) for shape in figure.axes[0].patches) for figure in (wide, upright)]
    assert faces[0] == faces[1]
    assert upright.get_figwidth() < wide.get_figwidth() / 1.9


@pytest.mark.parametrize("upright", [False, True], ids=["wide", "upright"])
@pytest.mark.parametrize("name", DIAGRAMS)
def test_no_words_lie_on_others_or_beyond_the_edge(name, upright):
    figure = drawn(name, upright)
    canvas = FigureCanvasAgg(figure)
    boxes = [
        (text.get_text(), Box(*text.get_window_extent(canvas.get_renderer()).extents)) for text in figure.axes[0].texts
    ]
    width, height = canvas.get_width_height()
    for said, box in boxes:
        assert box.x0 >= 1 and box.y0 >= -1 and box.x1 <= width - 1 and box.y1 <= height + 1, said
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert shared[0] <= 0 or shared[1] <= 3, f"{one} lies on {other}"  # of the height, what letters leave free


def joined(figure, points):
    """Which boxes an arrow joins: the one it begins at, and the first that lies ahead of its tip."""

    def outside(point, box):
        return max(box[0] - point[0], point[0] - box[2], box[1] - point[1], point[1] - box[3])

    begins = min(range(len(figure.boxes)), key=lambda i: outside(points[0], figure.boxes[i]))
    onwards = (points[-1] - points[-2]) / abs(points[-1] - points[-2]).max()
    ahead = (points[-1] + pixels * onwards for pixels in range(0, 150, 2))
    return begins, next(i for point in ahead for i, box in enumerate(figure.boxes) if outside(point, box) < 9)


@pytest.mark.parametrize("upright", [False, True], ids=["wide", "upright"])
@pytest.mark.parametrize("name", DIAGRAMS)
def test_arrows_run_from_what_is_computed_first(name, upright):
    figure = drawn(name, upright)
    for points in figure.arrows:
        begins, ends = joined(figure, points)
        assert begins < ends, f"from {points[0]} to {points[-1]}"


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
    for figure, width, least in ((drawn(name), 1000, 18.5), (drawn(name, upright=True), 358, 13)):
        (axes,) = figure.axes  # 358: what a phone of 390 pixels leaves between the margins
        pixels = width / (figure.get_figwidth() * 72)
        assert min(text.get_fontsize() for text in axes.texts) * pixels >= least
    stored = (IMG / f"{name}.svg").read_text(encoding="utf-8")
    assert any(colour.lower() in stored for colour in COLOURS.values())
