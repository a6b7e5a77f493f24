"""A plot as a phone held upright shows it: panels below each other, and letters as large as a page's."""

import math
import pickle
import textwrap

from matplotlib.ticker import FixedLocator, LogLocator

from workbench.display.plots import styled

WIDTH = 3.1  # inches; with the room around it a card is as wide as a phone's column
AS_NARROW = 4.8  # inches of a figure that a phone shows as it is: its letters lose a quarter at most
TITLE, NAMES, TICKS = 12, 11, 10  # points
SIGNS = {TITLE: 28, NAMES: 32}  # in a line
HEIGHT = 3.3  # inches of a plot of curves
LINE = 0.17  # inches of a line of words
SIGN = 0.64  # of its size: how wide a digit is


@styled
def upright(figure):
    """The figure drawn again, as narrow as a phone; None where it is narrow already."""
    if figure.get_size_inches()[0] <= AS_NARROW:
        return None
    again = pickle.loads(pickle.dumps(figure))
    if again.scale:
        below_each_other(again)
    elif again.axes[0].get_aspect() == 1:  # arrows, with words beside their tips
        again.set_size_inches(AS_NARROW, HEIGHT)
    else:
        again.set_size_inches(WIDTH, HEIGHT)
        for axes in again.axes:
            letters(axes)
            fewer_names(axes)
            legend_below(again, axes)
    return again


def below_each_other(figure):
    """Matrices in a column; their scale below them, or none where the numbers are written."""
    image = figure.scale.mappable
    figure.scale.remove()
    panels = [axes for axes in figure.axes if axes.axison]
    rows = max(round(abs(end - start)) for start, end in (axes.get_ylim() for axes in panels))
    columns = max(round(abs(end - start)) for start, end in (axes.get_xlim() for axes in panels))
    names = max(len(label.get_text()) for axes in panels for label in axes.get_yticklabels())
    side = (WIDTH - 0.35 - 0.09 * names) / columns  # inches of a cell
    places = figure.add_gridspec(len(panels), 1)
    for place, axes in zip(places, panels, strict=True):
        axes.set_subplotspec(place)
        letters(axes)
        fit_in(axes, side)
    if figure.get_suptitle():
        figure.suptitle(textwrap.fill(figure.get_suptitle(), SIGNS[TITLE]), fontsize=TITLE)
    is_written = any(axes.texts for axes in panels)
    if not is_written:
        figure.colorbar(image, ax=panels, location="bottom", aspect=24).outline.set_visible(False)
    figure.set_size_inches(WIDTH, len(panels) * (rows * side + 1) + (0.4 if is_written else 0.9))


def fit_in(axes, side):
    """Numbers that stay in their cells of so many inches, and as many names as there is room for."""
    most = max((len(text.get_text()) for text in axes.texts), default=1)
    for text in axes.texts:
        text.set_fontsize(min(TICKS, 72 * 0.88 * side / (SIGN * most)))
    is_turned = axes.get_xticklabels()[0].get_rotation() > 0
    every(axes.xaxis, side, LINE if is_turned else width_of(axes.get_xticklabels()))
    every(axes.yaxis, side, LINE)


def fewer_names(axes):
    """Numbers along an axis that do not run into each other, where each value has its own or a power of ten has."""
    if isinstance(axes.xaxis.get_major_locator(), LogLocator):
        axes.locator_params(axis="x", numticks=5)
    elif isinstance(axes.xaxis.get_major_locator(), FixedLocator):
        labels = axes.get_xticklabels()
        every(axes.xaxis, 0.75 * WIDTH / len(labels), width_of(labels), step=1)


def every(axis, side, least, step=None):
    """Show only so many of an axis's names that each has the inches it needs; side is from a place to the next."""
    places = axis.get_ticklocs()
    apart = side * (step or (places[1] - places[0] if len(places) > 1 else 1))
    for i, label in enumerate(axis.get_ticklabels()):
        label.set_visible(i % math.ceil(least / apart) == 0)


def width_of(labels):
    """Inches that the longest of these names needs, with room to the next."""
    return 0.09 * max(len(label.get_text()) for label in labels) + 0.06


def letters(axes):
    """Letters of a page's size, long lines of them in two."""
    for put, words, size in (
        (axes.set_title, axes.get_title(), TITLE),
        (axes.set_xlabel, axes.get_xlabel(), NAMES),
        (axes.set_ylabel, axes.get_ylabel(), NAMES),
    ):
        put(textwrap.fill(words, SIGNS[size]), fontsize=size)
    axes.tick_params(labelsize=TICKS)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_fontsize(TICKS)


def legend_below(figure, axes):
    """The names of the curves under the plot, where they hide no line."""
    if axes.get_legend():
        axes.get_legend().remove()
        figure.legend(loc="outside lower center", fontsize=TICKS, frameon=False)
