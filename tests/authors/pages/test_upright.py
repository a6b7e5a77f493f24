"""A plot on a phone held upright: as narrow as its column, nothing runs into anything, letters can be read."""

import re
from itertools import pairwise

import pytest
import torch
from matplotlib.text import Text

from authors.pages.upright import upright
from workbench.display.plots import arrows, curves, dots, heatmap, heatmap_grid

WORDS = ["start", "tea", "milk", "cup", "jam", "egg", "oat"]
SIZES = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
PLOTS = {
    "numbers": lambda: heatmap(torch.full((7, 7), -4.32), WORDS, title="Which word looks for which", vmin=-5, vmax=5),
    "many": lambda: heatmap(
        torch.rand(9, 30), title="Which head looks at the first word", axes_names=("head", "block")
    ),
    "panels": lambda: heatmap_grid(torch.rand(2, 6, 6), WORDS[:6], titles=["before", "after"], title="Two heads"),
    "curves": lambda: curves(
        SIZES, {"measured": SIZES, "counted": SIZES}, title="Memory", xlabel="n", ylabel="MB", log_x=True
    ),
    "dots": lambda: dots({"one": [1e-9, 1], "two": [0.1]}, title="Rows", xlabel="change", marks={1e-3: "← dead"}),
    "arrows": lambda: arrows(torch.eye(2), 2 * torch.eye(2), "ab", "cd", title="A plane", xlabel="x", ylabel="y"),
}


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_is_readable_on_a_phone(name):
    plot = PLOTS[name]()
    wide = len(plot.axes), *plot.get_size_inches()
    figure = upright(plot)
    width = int(re.search(r'width="(\d+)"', figure.svg())[1])
    least = 8 if name == "numbers" else 11  # px; 49 numbers with a minus need their room
    shown = min(1, 354 / width)
    for axes in figure.axes:
        along, down = (
            [one for one in axis.get_ticklabels() if one.get_visible() and one.get_text()]
            for axis in (axes.xaxis, axes.yaxis)
        )
        for text in (*filter(Text.get_text, axes.texts), *along, *down):
            assert shown * text.get_fontsize() * 100 / 72 >= least
        level = [one for one in along if not one.get_rotation()]
        for one, other in (*pairwise(level), *pairwise(down), *pairwise(axes.texts if axes.patches else ())):
            assert not one.get_window_extent().overlaps(other.get_window_extent())
    assert (len(plot.axes), *plot.get_size_inches()) == wide, "a wide page still has the wide plot"


def test_what_is_narrow_already_stays_as_it_is():
    assert upright(heatmap(torch.eye(3))) is None
