"""What learners are shown: numbers, matrices, frames, words and errors, each as they are read."""

import itertools
import math
import re

import pytest
import torch

from workbench.display import show
from workbench.display.colours import COLOURS, ON_DARK, ON_LIGHT, contrast, on_any


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0.000"), (-0.0, "0.000"), (0.5, "0.500"), (-1.25, "−1.250"), (999.9994, "999.999"), (0.001, "0.001"),
        (0.0009, "9.00e−04"), (-0.0004, "−4.00e−04"), (1000.0, "1.00e+03"), (-12345.0, "−1.23e+04"),
        (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "nan"), (True, "True"), (3, "3"), (-3, "−3"), (2 - 1j, "(2−1j)"),
    ],
)  # fmt: skip
def test_number_in_a_column(x, text):
    assert show.number(x) == text


@pytest.mark.parametrize(
    ("x", "decimals", "text"),
    [
        (2.0, 4, "2"), (0.25, 4, "0.25"), (-1.66667, 4, "−1.6667"), (-0.00001, 4, "0"), (0.46, 1, "0.5"), (-3, 4, "−3"),
        (120.0, 4, "120"), (-math.inf, 4, "−∞"), (math.inf, 4, "∞"), (math.nan, 4, "nan"), (False, 4, "False"),
        ("columns", 4, "columns"), (1e300, 4, "1e+300"), (9.95, 4, "9.95"), (1234.5678, 4, "1234.5678"),
    ],
)  # fmt: skip
def test_number_with_no_more_digits_than_it_needs(x, decimals, text):
    assert show.short(x, decimals) == text


def test_number_with_few_decimals_is_not_rounded_away():
    assert show.number(0.01, decimals=1) == "1.00e−02"
    assert show.number(0.1, decimals=1) == "0.1"


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (torch.tensor([[1.0, -0.5], [0.0, 2.25]]), "[[1, −0.5], [0, 2.25]]"), ((3, 4), "(3, 4)"), ((3,), "(3,)"),
        (torch.tensor(1.5, requires_grad=True), "1.5"), ([True, -math.inf], "[True, −∞]"), ("columns", "columns"),
        (torch.Size([2, 3]), "(2, 3)"), ([], "[]"),
    ],
)  # fmt: skip
def test_value_in_one_line(thing, text):
    assert show.value(thing) == text


def test_number_with_fixed_decimals():
    shown = [show.fixed(x) for x in (0.25, 0.001, -0.001, -1.5, math.inf, -math.inf, math.nan)]
    assert shown == ["0.25", "0.00", "0.00", "−1.50", "∞", "−∞", "nan"]
    assert show.fixed(12.34, 1) == "12.3"


def test_tolerances_and_counts_in_words():
    assert [show.tolerance(x) for x in (0.01, 2, 1e-6)] == ["within 0.01", "within 2", "within 0.000001"]
    assert show.tolerance(show.ATOL, show.RTOL) == "within 0.00001, or 0.01 % of a larger number"
    assert [show.count(n, "number") for n in (0, 1, 2)] == ["0 numbers", "1 number", "2 numbers"]
    assert show.count(2, "query", "queries") == "2 queries"


# ------------------------------------------------------------------------------------------------------ matrices


def cells(page):
    return re.findall(r"<td style=\"([^\"]*)\">(.*?)</td>", page)


def test_matrix_as_text_stands_in_columns():
    text = show.matrix_as_text(torch.tensor([[1.0, -10.0], [0.25, -math.inf]]), "scores")
    assert text.splitlines() == ["scores", "  1.000  −10.000", "  0.250       −∞"]


def test_matrix_as_text_marks_what_differs():
    text = show.matrix_as_text([[1.0, 2.0]], other=[[1.0, 3.0]])
    assert text == "  1.000  ≠ 2.000"
    assert "≠" not in show.matrix_as_text([[1.0, 2.0]], other=[[1.0, 2.0]])


def test_matrix_differs_only_in_decimals_that_are_seen():
    assert show.matrix_as_text([[0.26]], decimals=1) == "0.3"
    assert [text for _, text in cells(show.matrix_as_html([[0.26]], decimals=1))] == ["0.3"]
    assert show.matrix_as_text([[0.26]], other=[[0.34]], decimals=1) == "0.3"


def test_matrix_as_html_has_every_number_in_its_place():
    page = show.matrix_as_html(torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, math.nan]]), "a < b")
    assert [text for _, text in cells(page)] == ["1.000", "−2.000", "3.000", "4.000", "5.000", "nan"]
    assert page.count("<tr") == 2
    assert "a &lt; b</caption>" in page and "<caption" not in show.matrix_as_html([[1.0]])
    assert page.startswith('<div style="overflow-x: auto">')  # a broad one is scrolled
    assert all("color: inherit;" in style for style, _ in cells(page))  # on a dark page too
    assert all("text-align: right" in style for style, _ in cells(page))


def test_matrix_as_html_names_rows_and_columns():
    page = show.matrix_as_html([[1.0, 2.0], [3.0, 4.0]], row_names=["I", "<tea>"], column_names=["I", "tea"])
    assert re.findall(r'scope="col"[^>]*>([^<]*)<', page) == ["I", "tea"]
    assert re.findall(r'scope="row"[^>]*>([^<]*)<', page) == ["I", "&lt;tea&gt;"]
    assert page.count("font-weight: normal") == 4  # the numbers are what is looked at
    assert "<td></td><th" in page  # the corner above the rows' names
    assert "<td></td>" not in show.matrix_as_html([[1.0]], column_names=["tea"])


def test_matrix_as_html_outlines_what_differs_and_only_that():
    page = show.matrix_as_html([[1.0, 2.0]], other=[[1.0, 3.0]])
    (first_style, first), (second_style, second) = cells(page)
    assert (first, second) == ("1.000", "<b>≠ 2.000</b>")
    assert on_any("wrong") in second_style and on_any("wrong") not in first_style


def test_what_the_other_side_does_not_have_differs():
    page = show.matrix_as_html([[1.0, 2.0], [3.0, 4.0]], other=[[1.0]])
    assert [text for _, text in cells(page)] == ["1.000", "<b>≠ 2.000</b>", "<b>≠ 3.000</b>", "<b>≠ 4.000</b>"]


def test_of_a_large_matrix_a_corner_is_shown_and_called_that():
    page, text = show.matrix_as_html(torch.zeros(9, 20), "scores"), show.matrix_as_text(torch.zeros(9, 20), "scores")
    assert len(cells(page)) == 64
    assert "scores, the first 8 × 8 numbers" in page and text.startswith("scores, the first 8 × 8 numbers\n")
    assert "the first" not in show.matrix_as_html(torch.zeros(8, 8), "scores")
    assert "the first 2 × 8" in show.matrix_as_text(torch.zeros(2, 9))
    assert "the first 8 × 2" in show.matrix_as_text(torch.zeros(9, 2))
    assert "the first 2 × 8" in show.matrix_as_text([[0.0] * 2, [0.0] * 9])
    named = show.matrix_as_html(torch.zeros(2, 20), column_names=list(range(20)))
    assert re.findall(r'scope="col"[^>]*>([^<]*)<', named) == list("01234567")


def test_vectors_and_nothing_are_matrices_too():
    assert len(cells(show.matrix_as_html(torch.arange(3)))) == 3
    assert show.matrix_as_text(torch.arange(3)) == "0  1  2"  # a row
    assert show.matrix_as_text(torch.tensor(2.0)) == "2.000"
    assert show.matrix_as_text(torch.zeros(0, 3)) == ""


def layers(ground):
    """Red, green, blue and percent of a cell's ground, on a light page and on a dark one."""
    return [[*map(float, found)] for found in re.findall(r"rgb\((\d+) (\d+) (\d+) / ([\d.]+)%", ground)]


def test_colours_of_cells_follow_their_numbers():
    none, above, below = (show.ground(x) for x in (0.0, 2.0, -2.0))
    assert len({none, above, below, show.ground(math.nan)}) == 4
    assert (show.ground(math.inf), show.ground(-math.inf)) == (above, below)
    assert show.ground(1.0, largest=4.0) == show.ground(0.25) != show.ground(0.5)
    assert show.ground(7.0) == above  # beyond the scale is its end


# --------------------------------------------------------------------------------------------------- colours


def test_words_in_a_colour_can_be_read_on_white():
    assert contrast("#000000", (1, 1, 1)) == pytest.approx(21)
    assert all(contrast(colour, "#FFFFFF") >= 4.5 for colour in COLOURS.values())


# Linear RGB as it looks without the medium cones: Machado, Oliveira, Fernandes 2009, severity 1. And OKLab, where equal
# distances look equally far apart: https://bottosson.github.io/posts/oklab/.
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
CONES = [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.6806995, 0.107397], [0.08830246, 0.28171884, 0.6299787]]
OKLAB = [
    [0.21045426, 0.79361779, -0.00407205],
    [1.9779985, -2.4285922, 0.4505937],
    [0.02590404, 0.78277177, -0.8086758],
]


def looks(colour, eye=None):
    parts = torch.tensor([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    light = torch.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = light if eye is None else (torch.tensor(eye) @ light).clamp(0, 1)
    return torch.tensor(OKLAB) @ (torch.tensor(CONES) @ seen) ** (1 / 3)


def nearest(colours, eye=None):
    return min((looks(a, eye) - looks(b, eye)).norm().item() for a, b in itertools.combinations(colours, 2))


def test_colours_differ_with_and_without_medium_cones():
    assert nearest(COLOURS.values()) >= 0.12
    assert nearest(COLOURS.values(), DEUTERANOPIA) >= 0.08
    assert nearest([COLOURS["weights"], "#6D3FC0"], DEUTERANOPIA) < 0.01  # a violet that would be the weights' blue
    assert looks("#FFFFFF").tolist() == pytest.approx([1, 0, 0], abs=1e-4)
    assert looks("#FF0000").tolist() == pytest.approx([0.628, 0.225, 0.126], abs=1e-3)


def test_frames_stand_out_on_a_light_and_on_a_dark_page():
    for of, page in ((ON_LIGHT, "#FFFFFF"), (ON_DARK, "#111111")):
        assert all(contrast(of[name], page) >= 3 for name in show.FRAMES.values())


@pytest.mark.parametrize("x", [-1, -0.5, 0.5, 1, math.nan])
def test_numbers_can_be_read_on_every_cell(x):
    for of, (*colour, share) in zip((ON_LIGHT, ON_DARK), layers(show.ground(x)), strict=True):
        behind = (int(of["card"][i : i + 2], 16) for i in (1, 3, 5))
        both = [(share * a + (100 - share) * b) / 25500 for a, b in zip(colour, behind, strict=True)]
        assert contrast(of["ink"], both) >= 4.5


# ----------------------------------------------------------------------------------------------------- words


def test_code_emphasis_and_paragraphs():
    assert show.marked("use `x < y` here\n\nnot *there*\nok") == (
        "use <code>x &lt; y</code> here<br><br>not <em>there</em><br>ok"
    )
    assert show.marked('(*like*), *of the tea*. A " and a `') == '(<em>like</em>), <em>of the tea</em>. A " and a `'
    assert show.plain("(*like*), *of the tea* `a *b* c`.") == "(like), of the tea `a *b* c`."


@pytest.mark.parametrize("text", ["2 * 3 * 4", "`a * b * c`", "f(*args, **kwargs)", "*", "a*b*c", "a*b* c", "a *b*c"])
def test_star_that_multiplies_is_no_emphasis(text):
    assert "<em>" not in show.marked(text)
    assert show.plain(text) == text


def test_frames_and_folds():
    assert on_any("right") in show.framed("x", "right") and ">x</div>" in show.framed("x")
    assert on_any("weights") in show.framed("x")
    assert show.folded("a `b` <", "<i>x</i>") == "<details><summary>a <code>b</code> &lt;</summary><i>x</i></details>"


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("a\n   b"), "ValueError: a b"),
        (KeyError(), "KeyError"),
        (TypeError("<object at 0x7f12ab34>"), "TypeError: <object at 0x…>"),
        (OSError("no /home/me/course/x.pt here"), "OSError: no x.pt here"),
        (OSError(r"no C:\Users\me\x.pt here"), "OSError: no x.pt here"),
        (OSError("'/a/x.py':'/b/y.py'"), "OSError: 'x.py':'y.py'"),
        (ValueError("and/or/not stay"), "ValueError: and/or/not stay"),
        (RuntimeError("mat1 (2x3)\nException raised from addmm at ../x.cpp:1\nframe #0"), "RuntimeError: mat1 (2x3)"),
        (Unreadable(), "Unreadable: (its message cannot be read)"),
        (ValueError("x" * 1000), f"ValueError: {'x' * 299}…"),
    ],
)
def test_error_is_one_line_that_is_the_same_in_every_run(error, text):
    assert show.error(error) == text
