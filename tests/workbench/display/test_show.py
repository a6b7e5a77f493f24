"""What learners are shown: numbers, matrices, colours, words and errors, each as they are read."""

import itertools
import math
import re

import pytest
import torch

from workbench.display import show
from workbench.display.colours import COLOURS, ON_DARK, ON_LIGHT, contrast


@pytest.mark.parametrize(
    ("write", "numbers"),
    [
        (show.number, {  # in a column
            -0.0: "0.000", -1.25: "−1.250", 999.9994: "999.999", 0.001: "0.001", 0.0009: "9.00e−04",
            1000.0: "1.00e+03", math.inf: "∞", -math.inf: "−∞", math.nan: "nan", -3: "−3", 2 - 1j: "(2−1j)"}),
        (show.short, {  # with no more digits than it needs
            2.0: "2", 0.25: "0.25", -1.66667: "−1.6667", -0.00001: "0", 120.0: "120", math.inf: "∞", math.nan: "nan",
            False: "False", "columns": "columns", 1e300: "1e+300", 9.95: "9.95"}),
        (show.fixed, {0.25: "0.25", 0.001: "0.00", -0.001: "0.00", -1.5: "−1.50", -math.inf: "−∞", math.nan: "nan"}),
        (show.value, {
            (3, 4): "(3, 4)", (3,): "(3,)", torch.Size([2, 3]): "(2, 3)",
            torch.tensor([[1.0, -0.5], [0.0, 2.25]]): "[[1, −0.5], [0, 2.25]]"}),
        (show.tolerance, {0.01: "within 0.01", 2: "within 2", 1e-6: "within 0.000001"}),
    ],
)  # fmt: skip
def test_a_number_is_written_as_it_is_read(write, numbers):
    for number, text in numbers.items():
        assert write(number) == text


# --------------------------------------------------------------------------------- matrices, beyond what verdicts show


def numbers_of(page):
    return re.findall(r"<td style=[^>]*>(.*?)</td>", page)


def test_matrix_as_html_names_rows_and_columns_and_scrolls():
    page = show.matrix_as_html([[1.0, -2.0], [3.0, 4.0]], "a < b", row_names=["I", "<tea>"], column_names=["I", "tea"])
    assert re.findall(r'scope="col"[^>]*>([^<]*)<', page) == ["I", "tea"]
    assert re.findall(r'scope="row"[^>]*>([^<]*)<', page) == ["I", "&lt;tea&gt;"]
    assert "a &lt; b</caption>" in page and page.startswith('<div style="overflow-x: auto">')


def test_what_the_other_side_does_not_have_differs():
    page = show.matrix_as_html([[1.0, 2.0], [3.0, 4.0]], other=[[1.0]])
    assert numbers_of(page) == ["1.000", "<b>≠ 2.000</b>", "<b>≠ 3.000</b>", "<b>≠ 4.000</b>"]


def test_of_a_large_matrix_a_corner_is_shown_and_called_that():
    page, text = show.matrix_as_html(torch.zeros(9, 20), "scores"), show.matrix_as_text(torch.zeros(9, 20), "scores")
    assert len(numbers_of(page)) == 64
    assert "scores, the first 8 × 8 numbers" in page and text.startswith("scores, the first 8 × 8 numbers\n")
    assert "the first" not in show.matrix_as_html(torch.zeros(8, 8), "scores")
    assert "the first 2 × 8" in show.matrix_as_text([[0.0] * 2, [0.0] * 9])


def test_vectors_and_nothing_are_matrices_too():
    assert show.matrix_as_text(torch.arange(3)) == "0  1  2"  # a row
    assert show.matrix_as_text(torch.tensor(2.0)) == "2.000"
    assert show.matrix_as_text(torch.zeros(0, 3)) == ""


# --------------------------------------------------------------------------------------------------- colours


def test_colours_of_cells_follow_their_numbers():
    none, above, below = (show.ground(x) for x in (0.0, 2.0, -2.0))
    assert len({none, above, below, show.ground(math.nan)}) == 4
    assert (show.ground(math.inf), show.ground(-math.inf)) == (above, below)
    assert show.ground(1.0, largest=4.0) == show.ground(0.25) != show.ground(0.5)


# Linear RGB as it looks without the medium cones: Machado, Oliveira, Fernandes 2009, severity 1. And OKLab, where equal
# distances look equally far apart: https://bottosson.github.io/posts/oklab/.
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
CONES = [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.6806995, 0.107397], [0.08830246, 0.28171884, 0.6299787]]
OKLAB = [[0.21045426, 0.79361779, -0.00407205], [1.9779985, -2.4285922, 0.4505937],
         [0.02590404, 0.78277177, -0.8086758]]  # fmt: skip


def looks(colour, eye):
    parts = torch.tensor([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    light = torch.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return torch.tensor(OKLAB) @ (torch.tensor(CONES) @ (torch.tensor(eye) @ light).clamp(0, 1)) ** (1 / 3)


@pytest.mark.parametrize("eye, least", [(torch.eye(3).tolist(), 0.12), (DEUTERANOPIA, 0.08)])
def test_colours_differ_with_and_without_medium_cones(eye, least):
    for one, other in itertools.combinations(COLOURS.values(), 2):
        assert (looks(one, eye) - looks(other, eye)).norm() >= least, (one, other)


def test_words_and_frames_stand_out_on_light_pages_and_dark():
    assert all(contrast(colour, "#FFFFFF") >= 4.5 for colour in COLOURS.values())
    for of, page in ((ON_LIGHT, "#FFFFFF"), (ON_DARK, "#111111")):
        assert all(contrast(of[name], page) >= 3 for name in show.FRAMES.values())


@pytest.mark.parametrize("x", [-1, -0.5, 0.5, 1, math.nan])
def test_numbers_can_be_read_on_every_cell(x):
    layers = re.findall(r"rgb\((\d+) (\d+) (\d+) / ([\d.]+)%", show.ground(x))
    for of, layer in zip((ON_LIGHT, ON_DARK), layers, strict=True):
        *colour, share = map(float, layer)
        behind = (int(of["card"][i : i + 2], 16) for i in (1, 3, 5))
        both = [(share * a + (100 - share) * b) / 25500 for a, b in zip(colour, behind, strict=True)]
        assert contrast(of["ink"], both) >= 4.5


# ----------------------------------------------------------------------------------------------------- words


def test_code_emphasis_and_paragraphs():
    assert show.marked("use `x < y` here\n\nnot *there*\nok") == (
        "use <code>x &lt; y</code> here<br><br>not <em>there</em><br>ok"
    )
    assert show.plain("(*like*), *of the tea* `a *b* c`.") == "(like), of the tea `a *b* c`."


def test_source_stays_text_on_a_page():
    assert "q&lt;b&gt;1 &amp; 2" in show.numbered("q<b>1 & 2")


@pytest.mark.parametrize("text", ["2 * 3 * 4", "`a * b * c`", "f(*args, **kwargs)", "*", "a*b*c", "a *b*c"])
def test_star_that_multiplies_is_no_emphasis(text):
    assert "<em>" not in show.marked(text) and show.plain(text) == text


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
        (ValueError("and/or/not stay"), "ValueError: and/or/not stay"),
        (RuntimeError("mat1 (2x3)\nException raised from addmm at ../x.cpp:1\nframe #0"), "RuntimeError: mat1 (2x3)"),
        (Unreadable(), "Unreadable: (its message cannot be read)"),
        (ValueError("x" * 1000), f"ValueError: {'x' * 299}…"),
    ],
)
def test_error_is_one_line_that_is_the_same_in_every_run(error, text):
    assert show.error(error) == text
