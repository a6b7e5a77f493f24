"""img/ holds what authors/diagrams.py draws, nothing else, in the course's colours and in letters of a fair size."""

import functools
import itertools
import re
from collections import namedtuple

import matplotlib
import nbformat
import pytest
from paths import ROOT
from PIL import ImageFont

from authors import diagrams
from authors.diagrams import DIAGRAMS, alt_text
from workbench.display.colours import ON_DARK, ON_LIGHT, contrast

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


drawn = functools.cache(diagrams.drawn)  # once for all tests: they look at a page and leave it as it is
LETTERS = f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans"  # the widest of the faces that a picture asks for


def svg(name, upright=False):
    return drawn(name, upright).svg(alt_text(name))


def words(page):
    return sorted(" ".join(words for _, _, words, _ in page.words).split())


@functools.cache
def letters(mono, bold, size):
    return ImageFont.truetype(f"{LETTERS}{'Mono' if mono else ''}{'-Bold' if bold else ''}.ttf", size)


def place_of(x, y, words, look):
    """The box around words, as wide as the widest of their faces has them."""
    size = look["size"]
    width = letters(look["mono"], look["bold"], size).getlength(words)
    if look["rotation"]:
        return Box(x - 0.4 * size, y - width / 2, x + 0.4 * size, y + width / 2)
    left = x - {"left": 0, "center": width / 2, "right": width}[look["ha"]]
    return Box(left, y - 0.4 * size, left + width, y + 0.55 * size)


def test_img_holds_every_diagram_wide_and_upright_and_no_other():
    for folder in (IMG, IMG / "upright"):
        assert {path.stem for path in folder.glob("*.svg")} == set(DIAGRAMS)


@pytest.mark.parametrize("upright", [False, True], ids=["wide", "upright"])
@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_stored_picture_is_what_the_code_draws(name, upright):
    stored = (IMG / ("upright" if upright else "") / f"{name}.svg").read_text(encoding="utf-8")
    assert not differs(svg(name, upright), stored), f"run `python -m authors.diagrams`: {name}.svg is another"


@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_upright_form_says_the_same_in_the_same_colours(name):
    wide, upright = drawn(name), drawn(name, upright=True)
    assert words(wide) == words(upright)
    faces = [sorted(re.findall(r"<rect[^>]*( fill[^>]*?) stroke", svg(name, form))) for form in (False, True)]
    assert faces[0] == faces[1]
    assert upright.width < wide.width / 1.9


@pytest.mark.parametrize("upright", [False, True], ids=["wide", "upright"])
@pytest.mark.parametrize("name", DIAGRAMS)
def test_no_words_lie_on_others_or_beyond_the_edge(name, upright):
    page = drawn(name, upright)
    boxes = [(one[2], place_of(*one)) for one in page.words]
    for said, box in boxes:
        assert box.x0 >= 1 and box.y0 >= -1 and box.x1 <= page.width - 1 and box.y1 <= page.height + 1, said
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert shared[0] <= 0 or shared[1] <= 3, f"{one} lies on {other}"  # of the height, what letters leave free


def joined(page, points):
    """Which boxes an arrow joins: the one it begins at, and the first that lies ahead of its tip."""

    def outside(point, box):
        return max(box[0] - point[0], point[0] - box[2], box[1] - point[1], point[1] - box[3])

    begins = min(range(len(page.boxes)), key=lambda i: outside(points[0], page.boxes[i]))
    dx, dy = diagrams.towards(points[-2], points[-1])
    ahead = [(points[-1][0] + pixels * dx, points[-1][1] + pixels * dy) for pixels in range(0, 150, 2)]
    return begins, next(i for point in ahead for i, box in enumerate(page.boxes) if outside(point, box) < 9)


@pytest.mark.parametrize("upright", [False, True], ids=["wide", "upright"])
@pytest.mark.parametrize("name", DIAGRAMS)
def test_arrows_run_from_what_is_computed_first(name, upright):
    page = drawn(name, upright)
    for points in page.arrows:
        begins, ends = joined(page, points)
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
def test_letters_are_large_and_read_in_both_sets_of_colours(name):
    for page, width, least in ((drawn(name), 1000, 18.5), (drawn(name, upright=True), 358, 13)):
        shown = min(1, width / page.width)  # 358: what a phone of 390 pixels leaves between the margins
        assert min(look["size"] for *_, look in page.words) * shown >= least
    for colour in set(re.findall(r'<text[^>]*fill="var[(]--(\w+)[)]', svg(name))) - {"card"}:
        for colours in (ON_LIGHT, ON_DARK):
            assert contrast(colours[colour], colours["card"]) >= 4.5
