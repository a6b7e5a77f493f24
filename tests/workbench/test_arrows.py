"""Arrows in a plane: where they end, how they are told apart, and a description made from what is drawn."""

import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.text import Annotation

from workbench.display.colours import COLOURS
from workbench.display.plots import arrows

QUERIES = torch.tensor([[2.0, 1.0], [-1.5, 0.0]])
KEYS = torch.tensor([[3.0, 0.0], [1.0, 2.0]])
LABELS = {"title": "Who is looked for", "xlabel": "thing", "ylabel": "action"}


def drawn(figure):
    """Name at the tip → (tip, colour, line style) of every arrow, with what the axes show."""
    (axes,) = figure.axes
    found = [child for child in axes.get_children() if isinstance(child, Annotation)]
    heads, names = found[::2], found[1::2]
    return axes, {
        name.get_text(): (tuple(head.xy), to_hex(head.arrow_patch.get_edgecolor()), shaft.get_linestyle())
        for head, name, shaft in zip(heads, names, axes.lines, strict=True)
    }


def test_arrow_goes_from_the_origin_to_its_numbers():
    axes, found = drawn(arrows(QUERIES, KEYS, ["barks", "it"], ["dog", "barks"], **LABELS))
    assert {name: tip for name, (tip, _, _) in found.items()} == {
        "query of barks, (2, 1)": (2, 1),
        "query of it, (−1.5, 0)": (-1.5, 0),
        "key of dog, (3, 0)": (3, 0),
        "key of barks, (1, 2)": (1, 2),
    }
    styles = {name.split()[0]: (colour, str(style)) for name, (_, colour, style) in found.items()}
    assert [styles[kind][0] for kind in ("query", "key")] == [COLOURS[kind].lower() for kind in ("query", "key")]
    assert styles["query"][1] != styles["key"][1]  # colour is never the only cue
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("Who is looked for", "thing", "action")
    assert axes.get_aspect() == 1  # or an angle would not be what it looks like


def test_no_name_leaves_the_picture():
    figure = arrows(QUERIES, KEYS, ["barks", "it"], ["dog", "barks"], **LABELS)
    figure.canvas.draw()
    (axes,) = figure.axes
    for name in axes.texts:
        if name.get_text():
            box, frame = name.get_window_extent(), axes.get_window_extent()
            assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1, name


def test_a_name_stands_on_the_outer_side_of_its_tip():
    (axes,) = arrows(QUERIES, KEYS, ["barks", "it"], ["dog", "barks"], **LABELS).axes
    sides = {name.get_text(): (name.get_ha(), name.xyann[0] > 0) for name in axes.texts if name.get_text()}
    assert sides["query of barks, (2, 1)"] == ("left", True) and sides["query of it, (−1.5, 0)"] == ("right", False)


def test_the_description_holds_every_arrow_and_every_dot_product():
    figure = arrows(QUERIES[:1], KEYS, ["barks"], ["dog", "barks"], **LABELS)
    assert repr(figure) == (
        "Who is looked for: query of barks, (2, 1); key of dog, (3, 0); key of barks, (1, 2); "
        "barks · dog = 6; barks · barks = 4."
    )


def test_wrong_vectors_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"a key must be 2 numbers.*\(2, 3\)"):
        arrows(QUERIES, torch.ones(2, 3), ["a", "b"], ["a", "b"], **LABELS)
    with pytest.raises(ValueError, match="query_tokens has 1 token for 2"):
        arrows(QUERIES, KEYS, ["a"], ["a", "b"], **LABELS)
