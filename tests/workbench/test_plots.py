"""Figures: what is drawn where, in which colour, with which words; the description says what was drawn."""

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


def panels(figure):
    return [axes for axes in figure.axes if axes.get_xlabel()]


def written(axes):
    return {(round(text.get_position()[1]), round(text.get_position()[0])): text for text in axes.texts}


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def picture(figure, mode="RGB"):
    png = figure._repr_mimebundle_()[0]["image/png"]
    return Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA").convert(mode)


def cell_colours(axes, colours=ON_LIGHT):
    """Row and column of a cell with a number in it → its colour, on a light card or a dark one."""
    names = {to_rgb(light): name for name, light in ON_LIGHT.items()}
    found = {}
    for patch in axes.patches:
        *rgb, share = patch.get_facecolor()
        box = patch.get_path().get_extents(patch.get_patch_transform())
        place = round((box.y0 + box.y1) / 2), round((box.x0 + box.x1) / 2)
        both = zip(to_rgb(colours[names[tuple(rgb)]]), to_rgb(colours["card"]), strict=True)
        found[place] = [share * one + (1 - share) * card for one, card in both]
    return found


def test_numbers_stand_in_their_cells_queries_down_the_side():
    (axes,) = panels(heatmap(WEIGHTS, ["I", "like"], ["hot", "sweet", "tea"]))
    assert {place: text.get_text() for place, text in written(axes).items()} == {
        (0, 0): "0.90", (0, 1): "0.10", (0, 2): "0.00", (1, 0): "0.25", (1, 1): "0.25", (1, 2): "0.50",
    }  # fmt: skip
    bottom, top = axes.get_ylim()
    assert bottom > top  # row 0 is drawn highest
    left, right = axes.get_xlim()
    assert left < right
    assert ticks(axes.yaxis) == ["I", "like"] and ticks(axes.xaxis) == ["hot", "sweet", "tea"]
    assert list(axes.get_yticks()) == [0, 1] and list(axes.get_xticks()) == [0, 1, 2]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("query", "key")
    assert axes.get_title() == "Attention weights"
    assert axes.xaxis.get_label_position() == "top" and axes.xaxis.get_ticks_position() == "top"


def test_tokens_name_both_sides_of_a_square_matrix():
    (square,) = panels(heatmap(torch.eye(2), ["a", "b"]))
    assert ticks(square.xaxis) == ticks(square.yaxis) == ["a", "b"]
    (other,) = panels(heatmap(WEIGHTS, ["a", "b"]))
    assert ticks(other.yaxis) == ["a", "b"] and ticks(other.xaxis) == ["0", "1", "2"]


@pytest.mark.parametrize("low, high", [(0, 1), (0.4, 0.8)])
def test_every_number_can_be_read_on_its_cell(low, high):
    shares = torch.linspace(low, high, 64).view(8, 8)
    shares[0, :2] = torch.tensor([math.nan, math.inf])
    for figure in (heatmap(shares), heatmap(2 * shares - 1, vmin=-1)):
        (axes,) = panels(figure)
        for colours in (ON_LIGHT, ON_DARK):
            for shade in cell_colours(axes, colours).values():
                assert contrast(colours["ink"], shade) >= 4.5


@pytest.mark.parametrize("scale", [(-5, 5), (-5, 20), (-20, 1)])
def test_numbers_of_both_signs_part_at_0(scale):
    (axes,) = panels(heatmap(torch.tensor([[-1.0, 0.0, 1.0]]), vmin=scale[0], vmax=scale[1]))
    below, zero, above = (shade for _, shade in sorted(cell_colours(axes).items()))
    assert zero == pytest.approx(to_rgb(ON_LIGHT["card"]))
    assert below[0] > below[2] and above[2] > above[0], "one is orange, the other blue"
    (one_sign,) = panels(heatmap(torch.tensor([[-5.0, 0.0]]), vmin=-5, vmax=0))
    assert contrast(cell_colours(one_sign)[0, 1], ON_LIGHT["card"]) > 1.5, "the largest is the fullest"


def test_grid_of_other_matrices_names_its_rows_and_columns():
    figure = heatmap_grid(torch.eye(2)[None], ["tea", "milk"], titles=["W"], axes_names=("word", "place"))
    (axes,) = panels(figure)
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("word", "place")
    words = "W, 2 rows by 2 columns, word by place: tea has most at tea, 1.00; milk has most at milk, 1.00."
    assert words in figure.description
    nothing = heatmap(torch.zeros(1, 2), axes_names=("word", "place")).description
    assert "0 has nothing" in nothing and "attends" not in nothing


def test_nan_is_written_and_has_a_colour_of_its_own():
    (axes,) = panels(heatmap(torch.tensor([[math.nan, 1.0], [0.0, 0.5]])))
    assert written(axes)[0, 0].get_text() == "nan"
    grey = cell_colours(axes)[0, 0]
    assert max(grey) - min(grey) < 0.06 and contrast(grey, ON_LIGHT["card"]) > 1.3
    assert contrast(ON_LIGHT["ink"], grey) >= 4.5
    assert "2 numbers not finite" in heatmap(torch.tensor([[math.nan, math.inf, *[0.0] * 9]])).description


@pytest.mark.parametrize("value", [1.01, -0.01, 37.0])
@pytest.mark.parametrize("draw", [heatmap, lambda w: heatmap_grid(w[None])])
def test_number_outside_the_scale_is_refused_with_both(draw, value):
    with pytest.raises(ValueError, match="outside the scale 0 to 1") as caught:
        draw(torch.tensor([[value, 0.5]]))
    assert f"{value:.4g}" in str(caught.value)


def test_other_scale_is_drawn_and_said():
    assert panels(heatmap(torch.tensor([[1.0005]])))
    figure = heatmap(torch.tensor([[-3.0, 12.0]]), vmin=-5, vmax=20)
    (axes,) = panels(figure)
    assert [text.get_text() for text in axes.texts] == ["−3.00", "12.0"]
    assert figure.description.endswith(" Colours from −5 to 20.")
    assert heatmap_grid(torch.zeros(1, 9, 9), vmax=3).description.endswith(" Colours from 0 to 3.")
    assert "Colours" not in heatmap(WEIGHTS).description


def test_numbers_are_written_up_to_8_by_8_and_not_beyond():
    assert len(panels(heatmap(torch.zeros(8, 8)))[0].texts) == 64
    assert not panels(heatmap(torch.zeros(8, 9)))[0].texts and not panels(heatmap(torch.zeros(9, 2)))[0].texts


@pytest.mark.parametrize("shape", [(512, 512), (2, 1000), (40, 9)])
def test_large_matrix_is_no_large_picture(shape):
    figure = heatmap(torch.rand(shape))
    (axes,) = panels(figure)
    assert max(picture(figure).size) <= 1500
    assert len(ticks(axes.xaxis)) <= 16 and len(ticks(axes.yaxis)) <= 16
    assert len(axes.xaxis.get_minorticklocs()) == 0  # a line for each of 512 cells takes seconds
    assert ticks(axes.yaxis)[1] == str(math.ceil(shape[0] / 16))


@pytest.mark.parametrize(("draw", "shape"), [(heatmap, (8, 8)), (heatmap_grid, (2, 8, 8))])
def test_letters_are_large_and_numbers_fit_their_cells(draw, shape):
    figure = draw(torch.full(shape, 0.25))
    figure.draw_without_rendering()  # which writes the numbers beside the scale
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 12
    for axes in panels(figure):
        width = axes.get_window_extent().width / 8
        assert all(text.get_window_extent().width < 0.8 * width for text in axes.texts)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: heatmap(WEIGHTS),
        lambda: heatmap(torch.randn(20, 20).clamp(-1, 1), vmin=-1),
        lambda: heatmap_grid(torch.rand(2, 3, 3)),
        lambda: curves([1, 2], {"a": [0.001, 0.002], "b": [0.002, 0.001]}, title="t", xlabel="x", ylabel="y"),
        lambda: arrows(torch.eye(2), torch.eye(2), ["a", "b"], ["a", "b"], title="t", xlabel="x", ylabel="y"),
    ],
    ids=["heatmap", "large", "grid", "curves", "arrows"],
)
def test_a_vector_picture_has_no_colour_of_one_set_alone(draw):
    figure = draw()
    svg = figure.svg()
    style, drawn = re.match(r"<svg[^>]*><style>(.*?)</style>(.*)", svg, re.DOTALL).groups()
    drawn = re.sub(r"base64,[^\"]*", "", drawn)
    assert not re.search(r"#[0-9a-f]{6}", drawn) and ON_DARK["card"] in style
    assert drawn.count('class="day"') == drawn.count('class="night"')
    written = re.findall(r"<text[^>]*>([^<]*)<", drawn)
    assert {text.get_text() for text in figure.findobj(Text) if text.get_text()} >= set(written) != set(), "in full"


def test_the_description_says_where_each_query_looks():
    figure = heatmap(WEIGHTS, ["I", "like"], ["hot", "sweet", "tea"], title="Who listens")
    assert (
        repr(figure)
        == figure.description
        == ("Who listens, 2 queries by 3 keys: I attends most to hot, 0.90; like attends most to tea, 0.50.")
    )
    data, metadata = figure._repr_mimebundle_()
    assert data["text/plain"] == metadata["image/png"]["alt"] == figure.description
    assert heatmap(torch.rand(9, 9), title="Large").description == "Large, 9 queries by 9 keys."


def test_the_description_of_ties_of_nothing_and_of_nan():
    weights = torch.tensor([[0.5, 0.498, 0.002], [0.0, 0.0, 0.0], [math.nan, 0.0, 0.0]])
    assert heatmap(weights, ["a", "b", "c"]).description == (
        "Attention weights, 3 queries by 3 keys: a attends most to a and b, 0.50; b attends to nothing; "
        "c holds numbers that are not finite."
    )
    assert "a attends most to a, 0.51" in heatmap(torch.tensor([[0.51, 0.49]]), ["a"], ["a", "b"]).description


BAD = {
    "a list": (lambda: heatmap([[1.0]]), TypeError, ["weights", "list"]),
    "three axes": (lambda: heatmap(torch.zeros(1, 2, 2)), ValueError, ["2 dimensions", "(1, 2, 2)"]),
    "a matrix for a grid": (lambda: heatmap_grid(torch.zeros(2, 2)), ValueError, ["3 or 4 dimensions", "(2, 2)"]),
    "nothing": (lambda: heatmap(torch.zeros(0, 3)), ValueError, ["(0, 3)", "no number"]),
    "few tokens": (lambda: heatmap(WEIGHTS, ["I"]), ValueError, ["query_tokens has 1 token", "n_queries=2"]),
    "many keys": (
        lambda: heatmap(WEIGHTS, key_tokens=list("abcd")),
        ValueError,
        ["key_tokens has 4", "n_keys=3"],
    ),
    "titles": (lambda: heatmap_grid(torch.zeros(2, 2, 2), titles=["one"]), ValueError, ["1 title for 2 panels"]),
    "curves": (lambda: curves([1], {str(i): [1] for i in range(6)}, **NAMES), ValueError, ["6 curves", "5"]),
    "points": (lambda: curves([1, 2], {"a": [1]}, **NAMES), ValueError, ["'a' has 1 number, x has 2"]),
}
NAMES = {"title": "Growth", "xlabel": "length", "ylabel": "MB"}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_drawn_is_refused_with_both_numbers(name):
    call, exception, words = BAD[name]
    with pytest.raises(exception) as caught:
        call()
    assert all(word in str(caught.value) for word in words)


# ------------------------------------------------------------------------------------------------------------- grids


def test_grid_has_a_panel_for_each_head_on_one_scale():
    heads = torch.stack([torch.eye(2), torch.full((2, 2), 0.5)])
    figure = heatmap_grid(heads, ["I", "like"], title="Two heads")
    first, second = panels(figure)
    assert [axes.get_title() for axes in (first, second)] == ["head 0", "head 1"]
    assert figure.get_suptitle() == "Two heads"
    assert [text.get_text() for text in first.texts] == ["1.00", "0.00", "0.00", "1.00"]
    assert [text.get_text() for text in second.texts] == ["0.50"] * 4
    assert cell_colours(first)[0, 0] != cell_colours(second)[0, 0]
    assert len(figure.axes) == 3  # one colour bar
    assert figure.description == (
        "Two heads: 2 panels on one scale. head 0, 2 queries by 2 keys: I attends most to I, 1.00; like attends most "
        "to like, 1.00. head 1, 2 queries by 2 keys: I attends most to I and like, 0.50; like attends most to I and "
        "like, 0.50."
    )


def test_sequences_are_rows_of_a_grid_and_titles_can_be_given():
    figure = heatmap_grid(torch.rand(2, 3, 2, 2))
    names = [axes.get_title() for axes in panels(figure)]
    assert names == [f"sequence {b}, head {h}" for b in range(2) for h in range(3)]
    tops = [axes.get_subplotspec().rowspan.start for axes in panels(figure)]
    assert tops == [0, 0, 0, 1, 1, 1]
    assert [axes.get_title() for axes in panels(heatmap_grid(torch.rand(2, 2, 2), titles=["a", "b"]))] == ["a", "b"]


def test_grid_of_many_heads_wraps_and_shows_no_empty_axes():
    figure = heatmap_grid(torch.rand(5, 3, 3))
    assert len(panels(figure)) == 5
    assert max(axes.get_subplotspec().colspan.stop for axes in panels(figure)) <= 4
    empty = [axes for axes in figure.axes if axes.get_subplotspec() and not axes.texts and axes.axison]
    assert len(empty) <= 1  # the colour bar
    assert "attends" not in figure.description  # 15 rows would be too much to hear
    assert figure.description == "Attention weights: 5 panels on one scale."
    assert heatmap_grid(torch.rand(4, 3, 3)).description.count("attends most to") == 12


# ------------------------------------------------------------------------------------------------------------ curves


def test_curves_are_told_apart_without_colour_and_described():
    figure = curves([1, 2, 4], {"ours": [1.0, 2.0, 4.0], "theirs": torch.tensor([3.0, 2.0, 1.0])}, **NAMES)
    (axes,) = figure.axes
    one, two = axes.lines
    assert one.get_ydata().tolist() == [1, 2, 4] and two.get_xdata().tolist() == [1, 2, 4]
    assert (one.get_marker(), one.get_linestyle()) != (two.get_marker(), two.get_linestyle())
    assert one.get_marker() != two.get_marker() and one.get_linestyle() != two.get_linestyle()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ours", "theirs"]
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("Growth", "length", "MB")
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    assert all(axis.get_gridlines()[0].get_visible() for axis in (axes.xaxis, axes.yaxis))
    assert figure.description == ("Growth. MB against length, 1 to 4: ours goes from 1 to 4; theirs goes from 3 to 1.")


def test_logarithmic_axes_and_a_description_of_ones_own():
    figure = curves([512, 1024], {"a": [1, 10]}, **NAMES, log_x=True, log_y=True, description="Measured.")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert ticks(axes.xaxis) == ["512", "1024"] and not len(axes.xaxis.get_minorticklocs())
    assert figure.description == "Measured."


@pytest.mark.parametrize(
    "low, high, written",
    [
        (0.15, 0.16, "0.15 0.152 0.154 0.156 0.158 0.16"),
        (0.15, 4, "0.2 0.5 1 2"),
        (2, 8, "2 3 4 5 6 7 8"),
        (0.02, 900, "0.1 1 10 100 1000"),
        (1, 5000, "1 10 100 1000"),
    ],
)
def test_logarithmic_axis_names_some_numbers_in_full(low, high, written):
    (axes,) = curves([1, 2], {"a": [low, high]}, **NAMES, log_y=True).axes
    bottom, top = axes.get_ylim()
    seen = [label for label, at in zip(ticks(axes.yaxis), axes.get_yticks(), strict=True) if bottom <= at <= top]
    assert seen == written.split() and not any(label.get_text() for label in axes.get_yticklabels(minor=True))


def test_map_of_something_else_says_what_its_rows_and_columns_are():
    figure = heatmap(torch.zeros(10, 12), title="Sinusoids", vmin=-1, axes_names=("position", "feature"))
    assert figure.description == "Sinusoids, 10 rows by 12 columns, position by feature. Colours from −1 to 1."
    assert [axis.get_label_text() for axis in (figure.axes[0].yaxis, figure.axes[0].xaxis)] == ["position", "feature"]
    assert "10 queries by 12 keys" in heatmap(torch.zeros(10, 12)).description


@pytest.mark.filterwarnings("error:Glyph")
def test_a_word_whose_signs_no_face_has_is_named_by_its_place():
    nobodys = "\U000f0000"  # of private use: no face has it
    figure = heatmap(torch.eye(3), ["tea", nobodys, "תה"], title="Own words")
    assert [ticks(axis) for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis)] == [["tea", "1", "תה"]] * 2
    figure.savefig(io.BytesIO())
