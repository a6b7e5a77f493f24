"""Figures, beyond what the notebooks show: every colour scheme, odd numbers, large ones, what is refused."""

import base64
import io
import math
import re

import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image

from workbench.display.colours import ON_DARK, ON_LIGHT, contrast
from workbench.display.plots import arrows, curves, heatmap, heatmap_grid

WEIGHTS = torch.tensor([[0.9, 0.1, 0.0], [0.25, 0.25, 0.5]])
NAMES = {"title": "Growth", "xlabel": "length", "ylabel": "MB"}


def panels(figure):
    return [axes for axes in figure.axes if axes.get_xlabel()]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def cell_colours(axes, colours):
    """The colour of each cell with a number in it, on a light card or a dark one."""
    names = {to_rgb(light): name for name, light in ON_LIGHT.items()}
    for patch in axes.patches:
        *rgb, share = patch.get_facecolor()
        both = zip(to_rgb(colours[names[tuple(rgb)]]), to_rgb(colours["card"]), strict=True)
        yield [share * one + (1 - share) * card for one, card in both]


@pytest.mark.parametrize("low, high", [(0, 1), (0.4, 0.8)])
def test_every_number_can_be_read_on_its_cell(low, high):
    shares = torch.linspace(low, high, 64).view(8, 8)
    shares[0, :2] = torch.tensor([math.nan, math.inf])
    for figure in (heatmap(shares), heatmap(2 * shares - 1, vmin=-1)):
        (axes,) = panels(figure)
        for colours in (ON_LIGHT, ON_DARK):
            shades = list(cell_colours(axes, colours))
            assert len(shades) == 64 and all(contrast(colours["ink"], shade) >= 4.5 for shade in shades)


@pytest.mark.parametrize("value", [1.01, -0.01])
@pytest.mark.parametrize("draw", [heatmap, lambda w: heatmap_grid(w[None])])
def test_number_outside_the_scale_is_refused_with_both(draw, value):
    with pytest.raises(ValueError, match=rf"(?s)(?=.*outside the scale 0 to 1).*{value}"):
        draw(torch.tensor([[value, 0.5]]))


def test_large_matrix_is_no_large_picture():
    figure = heatmap(torch.rand(512, 512))
    (axes,) = panels(figure)
    png = Image.open(io.BytesIO(base64.b64decode(figure._repr_mimebundle_()[0]["image/png"])))
    assert max(png.size) <= 1500 and not axes.texts
    assert ticks(axes.yaxis)[1] == "32" and len(ticks(axes.xaxis)) <= 16


@pytest.mark.parametrize(("draw", "shape"), [(heatmap, (8, 8)), (heatmap_grid, (2, 8, 8))])
def test_letters_are_large_and_numbers_fit_their_cells(draw, shape):
    figure = draw(torch.full(shape, 0.25))
    figure.draw_without_rendering()  # which writes the numbers beside the scale
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 12
    for axes in panels(figure):
        width = axes.get_window_extent().width / 8
        assert len(axes.texts) == 64 and all(text.get_window_extent().width < 0.8 * width for text in axes.texts)


@pytest.mark.parametrize("shape", [(4, 5), (8, 8), (2, 5)])
def test_the_title_of_a_grid_stands_clear_of_its_panels(shape):
    figure = heatmap_grid(torch.rand(2, *shape))
    figure.draw_without_rendering()  # as its picture is drawn
    below = max(axes.title.get_window_extent().y1 for axes in panels(figure))
    assert figure.get_suptitle() and figure._suptitle.get_window_extent().y0 > below + 4


@pytest.mark.parametrize(
    "draw",
    [
        lambda: heatmap(torch.randn(20, 20).clamp(-1, 1), vmin=-1),
        lambda: heatmap_grid(torch.rand(2, 3, 3)),
        lambda: curves([1, 2], {"a": [0.001, 0.002], "b": [0.002, 0.001]}, **NAMES),
        lambda: arrows(torch.eye(2), torch.eye(2), ["a", "b"], ["a", "b"], **NAMES),
    ],
    ids=["large", "grid", "curves", "arrows"],
)
def test_a_vector_picture_has_no_colour_of_one_set_alone(draw):
    style, drawn = re.match(r"<svg[^>]*><style>(.*?)</style>(.*)", draw().svg(), re.DOTALL).groups()
    drawn = re.sub(r"base64,[^\"]*", "", drawn)
    assert not re.search(r"#[0-9a-f]{6}", drawn) and ON_DARK["card"] in style
    assert drawn.count('class="day"') == drawn.count('class="night"') and "<text" in drawn


def test_the_description_of_ties_of_nothing_and_of_nan():
    weights = torch.tensor([[0.5, 0.498, 0.002], [0.0, 0.0, 0.0], [math.nan, 0.0, 0.0]])
    assert heatmap(weights, ["a", "b", "c"]).description == (
        "Attention weights, 3 queries by 3 keys: a attends most to a and b, 0.50; b attends to nothing; "
        "c holds numbers that are not finite."
    )


@pytest.mark.parametrize(
    "draw, exception, words",
    [
        (lambda: heatmap([[1.0]]), TypeError, "weights .*list"),
        (lambda: heatmap(torch.zeros(1, 2, 2)), ValueError, r"2 dimensions.*\(1, 2, 2\)"),
        (lambda: heatmap_grid(torch.zeros(2, 2)), ValueError, r"3 or 4 dimensions.*\(2, 2\)"),
        (lambda: heatmap(torch.zeros(0, 3)), ValueError, r"\(0, 3\).*no number"),
        (lambda: heatmap(WEIGHTS, ["I"]), ValueError, "query_tokens has 1 token, .*n_queries=2"),
        (lambda: heatmap(WEIGHTS, key_tokens=list("abcd")), ValueError, "key_tokens has 4 .*n_keys=3"),
        (lambda: curves([1], {str(i): [1] for i in range(6)}, **NAMES), ValueError, "6 curves.* 5"),
        (lambda: curves([1, 2], {"a": [1]}, **NAMES), ValueError, "'a' has 1 number, x has 2"),
        (lambda: arrows(torch.eye(2), torch.ones(2, 3), "ab", "ab", **NAMES), ValueError, r"2 numbers.*\(2, 3\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_both_numbers(draw, exception, words):
    with pytest.raises(exception, match=words):
        draw()


@pytest.mark.parametrize(
    "low, high, numbers",
    [
        (0.15, 0.16, "0.15 0.152 0.154 0.156 0.158 0.16"),
        (0.15, 4, "0.2 0.5 1 2"),
        (2, 8, "2 3 4 5 6 7 8"),
        (1, 5000, "1 10 100 1000"),
    ],
)
def test_logarithmic_axis_names_some_numbers_in_full(low, high, numbers):
    (axes,) = curves([1, 2], {"a": [low, high]}, **NAMES, log_y=True).axes
    bottom, top = axes.get_ylim()
    seen = [label for label, at in zip(ticks(axes.yaxis), axes.get_yticks(), strict=True) if bottom <= at <= top]
    assert seen == numbers.split() and not any(label.get_text() for label in axes.get_yticklabels(minor=True))


def test_no_name_of_an_arrow_leaves_the_picture():
    queries, keys = torch.tensor([[2.0, 1.0], [-1.5, 0.0]]), torch.tensor([[3.0, 0.0], [1.0, 2.0]])
    figure = arrows(queries, keys, ["barks", "it"], ["dog", "barks"], **NAMES)
    figure.canvas.draw()
    frame = figure.axes[0].get_window_extent()
    for name in filter(Text.get_text, figure.axes[0].texts):
        box = name.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1, name


@pytest.mark.filterwarnings("error:Glyph")
def test_a_word_whose_signs_no_face_has_is_named_by_its_place():
    nobodys = "\U000f0000"  # of private use: no face has it
    figure = heatmap(torch.eye(3), ["tea", nobodys, "תה"], title="Own words")
    assert [ticks(axis) for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis)] == [["tea", "1", "תה"]] * 2
    figure.savefig(io.BytesIO())
