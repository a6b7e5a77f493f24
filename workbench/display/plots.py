"""Figures: one function, one figure, which is returned and never drawn twice; queries down the side, keys across.

A figure is a card of its own. As a PNG, which a notebook keeps, the card is light; as an SVG, which site and deck show,
it has both sets of colours and is light or dark as what is around it.
"""

import functools
import math
from base64 import b64encode
from io import BytesIO

import matplotlib
import numpy as np
import torch
from matplotlib import font_manager
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize, to_rgb
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import AutoLocator, LogLocator
from PIL import Image, ImageDraw

from attn_lib.checks import check_tensor

from ..places import in_a_copy
from . import show
from .both_sets import in_both_sets
from .colours import COLOURS, FULLEST, ON_LIGHT, shades

DOTS = 100  # to an inch
CARD = {"bbox_inches": "tight", "pad_inches": 0.22}  # around what is drawn
CORNER = 14  # dots, as of every card
STYLE = {
    "text.color": ON_LIGHT["ink"],
    "axes.labelcolor": ON_LIGHT["ink"],
    "axes.edgecolor": ON_LIGHT["quiet"],
    "axes.facecolor": "none",
    "axes.titleweight": "bold",
    "figure.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": ON_LIGHT["quiet"],
    "ytick.color": ON_LIGHT["quiet"],
    "grid.color": ON_LIGHT["line"],
    "legend.facecolor": ON_LIGHT["card"],
    "legend.edgecolor": ON_LIGHT["line"],
    "savefig.facecolor": ON_LIGHT["card"],
}
PRINTED_UP_TO = 8  # values are written into the cells of matrices up to 8×8
PAGE_WIDTH = 13.0  # inches; a wider figure would be shrunk by the page, its letters with it
DESCRIBED_UP_TO = 12  # rows that the description of a grid spells out
LINES = [("weights", "o", "-"), ("key", "s", "--"), ("output", "^", ":"), ("query", "D", "-."), ("value", "v", "-")]


def styled(function):
    """In the course's colours, whatever a reader's own settings are."""

    @functools.wraps(function)
    def in_style(*args, **options):
        with matplotlib.rc_context(STYLE):
            return function(*args, **options)

    return in_style


class Figure(MatplotlibFigure):
    """A figure with `description`: its alternative text, and what stands where no picture can."""

    description = "A figure."
    scale = None  # the bar of colours beside a matrix

    def __repr__(self):
        return self.description

    @styled
    def svg(self):
        """The figure as the text of an SVG with both sets of colours."""
        out = BytesIO()
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": self.description}):
            self.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, **CARD)
        return in_both_sets(out.getvalue().decode(), DOTS, CORNER)

    @styled
    def _repr_mimebundle_(self, include=None, exclude=None):
        png = BytesIO()
        self.savefig(png, format="png", dpi=DOTS, **CARD)
        data = {"image/png": b64encode(_with_round_corners(png)).decode(), "text/plain": self.description}
        if in_a_copy():  # where somebody looks who may like it dark; what is saved with the course is the picture
            data["image/svg+xml"] = self.svg()
        return data, {"image/png": {"alt": self.description}}


def _with_round_corners(png):
    """The picture as a card, which looks meant on a dark page too, in 240 colours, which take a third of the room."""
    picture = Image.open(png).convert("RGB")
    finer = 4  # times, for smooth corners
    shape = Image.new("L", [finer * length for length in picture.size])
    ImageDraw.Draw(shape).rounded_rectangle((0, 0, shape.width - 1, shape.height - 1), finer * CORNER, fill=255)
    cover = np.asarray(shape.resize(picture.size, Image.Resampling.BOX)) // 17  # 15: all of a dot
    few = picture.quantize(240, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    card = Image.fromarray(np.where(cover < 15, 240 + cover, np.asarray(few)).astype(np.uint8), "P")
    edge = [round(255 * part) for part in to_rgb(ON_LIGHT["card"])]
    card.putpalette((few.getpalette() + 720 * [0])[:720] + 16 * edge)
    out = BytesIO()
    card.save(out, "PNG", optimize=True, transparency=bytes([255] * 240 + [17 * part for part in range(16)]))
    return out.getvalue()


@styled
def heatmap(
    weights,
    query_tokens=None,
    key_tokens=None,
    *,
    title="Attention weights",
    vmin=0.0,
    vmax=1.0,
    axes_names=("query", "key"),
):
    """Draw one matrix of attention weights, query 0 on top, the numbers written in up to 8×8.

    Shapes: weights (n_queries, n_keys); tokens are words, one for each row and column, numbered if not given;
    key_tokens are query_tokens unless given. axes_names say what a row and a column are in another matrix, such as
    ("position", "feature"). Returns a Figure.
    Raises: ValueError for numbers outside vmin..vmax, another number of dimensions, or too few or many tokens.
    """
    _check_matrices(weights, (2,), vmin, vmax)
    query_tokens, key_tokens = _tokens(weights, query_tokens, key_tokens)
    n_queries, n_keys = weights.shape
    side = 0.72 if _has_numbers(weights) else _side(max(weights.shape), 7)
    figure = Figure(figsize=(2.6 + max(3, n_keys) * side, 1.7 + max(3, n_queries) * side), layout="constrained")
    axes = figure.subplots()
    image = _draw(axes, weights, query_tokens, key_tokens, vmin, vmax, 13, axes_names)
    axes.set_title(title, fontsize=15, pad=12)
    _scale_beside(figure, image, axes, 0.9)
    figure.description = _describe(title, weights, query_tokens, key_tokens, axes_names) + _scale_in_words(vmin, vmax)
    return figure


@styled
def heatmap_grid(
    weights,
    query_tokens=None,
    key_tokens=None,
    *,
    titles=None,
    title="Attention weights",
    vmin=0.0,
    vmax=1.0,
    axes_names=("query", "key"),
):
    """Draw several matrices of attention weights beside each other on one scale with one colour bar.

    Shapes: weights (panels, n_queries, n_keys), such as heads, or (batch, heads, n_queries, n_keys), a row of panels
    for each sequence; titles has one word for each panel, "head 0" and so on unless given; axes_names say what a row
    and a column are in other matrices. Returns a Figure.
    Raises: ValueError as `heatmap`, and for a wrong number of titles.
    """
    _check_matrices(weights, (3, 4), vmin, vmax)
    signed = 0.08 if vmin < 0 else 0  # inches for a minus
    side = 0.58 + signed if _has_numbers(weights) else _side(max(weights.shape[-2:]), 2.6, dots=0)
    width, height = 1.3 + max(3, weights.size(-1)) * side, 1.1 + max(3, weights.size(-2)) * side
    if weights.ndim == 4:
        rows, columns = weights.shape[:2]
        names = [f"sequence {b}, head {h}" for b in range(rows) for h in range(columns)]
    else:
        columns = min(4, len(weights), max(1, int(PAGE_WIDTH / width)))
        rows = math.ceil(len(weights) / columns)
        names = [f"head {h}" for h in range(len(weights))]
    panels = weights.reshape(-1, *weights.shape[-2:])
    titles = names if titles is None else list(titles)
    if len(titles) != len(panels):
        raise ValueError(f"titles has {show.count(len(titles), 'title')} for {len(panels)} panels")
    query_tokens, key_tokens = _tokens(panels[0], query_tokens, key_tokens)

    figure = Figure(figsize=(columns * width + 0.8, rows * height + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, panel, name in zip(grid.flat, panels, titles, strict=False):
        image = _draw(axes, panel, query_tokens, key_tokens, vmin, vmax, 12, axes_names)
        axes.set_title(name, fontsize=13, pad=8)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    figure.suptitle(title, fontsize=15)
    _scale_beside(figure, image, grid, 0.8)
    figure.draw_without_rendering()  # the first layout has the title run into those of the panels, the next one has not
    figure.description = f"{title}: {len(panels)} panels on one scale."
    if _has_numbers(panels[0]) and len(panels) * len(query_tokens) <= DESCRIBED_UP_TO:
        each = zip(titles, panels, strict=True)
        words = (_describe(name, panel, query_tokens, key_tokens, axes_names) for name, panel in each)
        figure.description += " " + " ".join(words)
    figure.description += _scale_in_words(vmin, vmax)
    return figure


@styled
def curves(x, series, *, title, xlabel, ylabel, log_x=False, log_y=False, description=None):
    """Draw named curves over the same x, told apart by marker and line style as well as by colour.

    x is a list of numbers, series a dict of name → list of as many numbers; description replaces the one made from
    the numbers, which a measurement needs, because its numbers differ from run to run. Returns a Figure.
    Raises: ValueError if a curve has another length than x, or if there are more than five.
    """
    if len(series) > len(LINES):
        raise ValueError(f"series has {len(series)} curves, at most {len(LINES)} can be told apart")
    figure = Figure(figsize=(8.2, 4.6), layout="constrained")
    axes = figure.subplots()
    x = [float(value) for value in x]
    parts = []
    for (name, y), (colour, marker, style) in zip(series.items(), LINES, strict=False):
        if len(y) != len(x):
            raise ValueError(f"series {name!r} has {show.count(len(y), 'number')}, x has {len(x)}")
        y = [float(value) for value in y]
        axes.plot(x, y, style, marker=marker, color=COLOURS[colour], label=name, linewidth=2.2, markersize=7)
        parts.append(f"{name} goes from {y[0]:.2g} to {y[-1]:.2g}")
    if log_x:
        axes.set_xscale("log", base=2)
    if log_x or len(x) < 5:  # each stands there, and nothing between them, as half a token would be
        axes.set_xticks(x, [f"{value:g}" for value in x])
    if log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(_ticks_between(*axes.get_ylim()))
        axes.yaxis.set_major_formatter("{x:g}")  # as along x: the exponent of a power is too small for the last row
        axes.yaxis.set_minor_formatter("")
    elif axes.get_ylim()[0] > 0:  # from 0, so that a curve twice as high is twice as much
        axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize=15, pad=10)
    axes.set_xlabel(xlabel, fontsize=13)
    axes.set_ylabel(ylabel, fontsize=13)
    axes.tick_params(labelsize=12)
    axes.grid()
    axes.set_axisbelow(True)
    place_legend(axes)
    spelled_out = f"{title}. {ylabel} against {xlabel}, {x[0]:g} to {x[-1]:g}: {'; '.join(parts)}."
    figure.description = spelled_out if description is None else description
    return figure


@styled
def dots(groups, *, title, xlabel, marks=None, least=1e-6):
    """Draw each value of each group as a dot, a row of dots for each group, along one logarithmic axis.

    groups is a dict of name → numbers of at least 0; what is smaller than `least`, in float32 mere rounding, stands at
    `least`. marks are values through which a line goes, each with its words, on the side to which their arrow points.
    Returns a Figure.
    Raises: ValueError if there are more groups than colours for them, or if one has no value.
    """
    if len(groups) > len(LINES):
        raise ValueError(f"groups has {len(groups)} rows, at most {len(LINES)} can be told apart")
    figure = Figure(figsize=(8.2, 0.9 + 1.1 * len(groups)), layout="constrained")
    axes = figure.subplots()
    parts = []
    for row, ((name, values), (colour, marker, _)) in enumerate(zip(groups.items(), LINES, strict=False)):
        values = np.asarray([float(value) for value in values]).clip(least)
        if not values.size:
            raise ValueError(f"group {name!r} has no value")
        aside = 0.6 * (np.arange(values.size) * 0.618 % 1 - 0.5)  # so that equal ones do not lie on each other
        axes.plot(values, row + aside, marker, color=COLOURS[colour], markersize=4.5, alpha=0.6)
        parts.append(f"{name}, {show.count(values.size, 'dot')} from {values.min():.2g} to {values.max():.2g}")
    for mark, words in (marks or {}).items():
        axes.axvline(mark, color=STYLE["axes.edgecolor"], linewidth=1.2, linestyle="--")
        side, away = ("right", -5) if words.startswith("←") else ("left", 5)
        at = {"xy": (mark, len(groups) - 0.3), "xytext": (away, 0), "textcoords": "offset points"}
        axes.annotate(words, **at, ha=side, va="bottom", fontsize=12)
    axes.set_xscale("log")
    axes.set_xlim(least / 2, 5 * axes.get_xlim()[1] if marks else None)  # room for the words of the last mark
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0,), numticks=12))
    axes.xaxis.set_major_formatter(functools.partial(_or_less, least))
    axes.xaxis.set_minor_formatter("")
    axes.set_yticks(range(len(groups)), list(groups))
    axes.set_ylim(len(groups) - 0.25, -0.5)
    axes.set_title(title, fontsize=15, pad=10)
    axes.set_xlabel(xlabel, fontsize=13)
    axes.tick_params(labelsize=12)
    figure.description = f"{title}. {xlabel}: {'; '.join(parts)}."
    return figure


def _or_less(least, value, _):
    """A tick's label, by a function that can be pickled, as tests keep figures."""
    return f"≤ {value:g}" if value <= least else f"{value:g}"


@styled
def place_legend(axes, below=False):
    """Put the names of the curves where they hide the least, or below the axes."""
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "ncols": 2, "frameon": False} if below else {}
    axes.legend(fontsize=12, framealpha=0.9, **place)


@styled
def arrows(queries, keys, query_tokens, key_tokens, *, title, xlabel, ylabel):
    """Draw queries and keys of two numbers each as arrows in a plane: queries solid, keys dashed, a name at each tip.

    Shapes: queries (n_queries, 2), keys (n_keys, 2); tokens are a word for each row; xlabel and ylabel say what the
    two numbers mean. The description gives every arrow and every dot product. Returns a Figure.
    Raises: ValueError for vectors of another length than 2, or too few or many tokens.
    """
    kinds = {"query": (queries, query_tokens, "-"), "key": (keys, key_tokens, (0, (4, 2)))}
    figure = Figure(figsize=(7.4, 4.6), layout="constrained")
    axes = figure.subplots()
    sentences = []
    for kind, (vectors, tokens, style) in kinds.items():
        if vectors.ndim != 2 or vectors.size(1) != 2:
            raise ValueError(f"a {kind} must be 2 numbers to be drawn in a plane, got shape {tuple(vectors.shape)}")
        if len(tokens) != len(vectors):
            raise ValueError(f"{kind}_tokens has {show.count(len(tokens), 'token')} for {len(vectors)} vectors")
        for token, tip in zip(tokens, vectors, strict=True):
            (x, y), side = tip.tolist(), "left" if tip[0] >= 0 else "right"
            axes.plot((0, 0.93 * x), (0, 0.93 * y), linestyle=style, color=COLOURS[kind], linewidth=2.4)
            shape = {"arrowstyle": "-|>,head_width=0.3,head_length=0.65", "shrinkA": 0, "shrinkB": 0}
            look = {"color": COLOURS[kind], "linewidth": 1, "mutation_scale": 18}  # solid, whatever its shaft is
            axes.annotate("", (x, y), (0.9 * x, 0.9 * y), arrowprops={**shape, **look})
            words = f"{kind} of {token}, {show.value((x, y), 2)}"
            place = {"xytext": (6 if side == "left" else -6, 7), "textcoords": "offset points", "ha": side}
            axes.annotate(words, (x, y), **place, fontsize=13, color=COLOURS[kind])
            sentences.append(words)
    products = zip(query_tokens, (queries @ keys.T).tolist(), strict=True)
    sentences += [
        f"{q} · {k} = {show.short(score, 2)}" for q, row in products for k, score in zip(key_tokens, row, strict=True)
    ]
    tips = torch.cat([queries, keys, torch.zeros(1, 2)])
    (left, low), (right, high) = tips.amin(dim=0).tolist(), tips.amax(dim=0).tolist()
    beside = 0.9 * max(right - left, high - low)  # a name stands beside its tip, on the outer side
    axes.set(
        xlim=(left - (1.2 * beside if left else 0.1), right + beside),
        ylim=(low - 0.2, high + max(0.5, 0.2 * (high - low))),
        aspect="equal",
    )
    axes.set_title(title, fontsize=15, pad=10)
    axes.set_xlabel(xlabel, fontsize=13)
    axes.set_ylabel(ylabel, fontsize=13)
    axes.tick_params(labelsize=12)
    axes.grid()
    axes.set_axisbelow(True)
    figure.description = f"{title}: {'; '.join(sentences)}."
    return figure


def _ticks_between(low, high):
    """At least two numbers along a logarithmic axis, however much or little it covers."""
    if high > 100 * low:
        return LogLocator()
    return LogLocator(subs=(1, 2, 5)) if high > 5 * low else AutoLocator()


def _side(size, whole, dots=2):
    """Inches of a cell in a picture of so many inches, or of so many dots for each cell where that is more."""
    return max(min(0.5, whole / size), min(dots / 100, 10 / size))


def _has_numbers(matrix):
    return max(matrix.shape[-2:]) <= PRINTED_UP_TO


def _check_matrices(weights, dimensions, vmin, vmax):
    check_tensor("weights", weights)
    if weights.ndim not in dimensions:
        how_many = " or ".join(map(str, dimensions))
        raise ValueError(f"weights must have {how_many} dimensions, got shape {tuple(weights.shape)}")
    if weights.numel() == 0:
        raise ValueError(f"weights of shape {tuple(weights.shape)} hold no number to draw")
    finite = weights.detach()[torch.isfinite(weights.detach())]
    for value in (finite.min().item(), finite.max().item()) if finite.numel() else ():
        if not vmin - 1e-3 <= value <= vmax + 1e-3:
            raise ValueError(
                f"weights hold {value:.4g}, outside the scale {vmin:g} to {vmax:g}: are these scores, before softmax? "
                "If you mean it, pass vmin and vmax"
            )


def _tokens(weights, query_tokens, key_tokens):
    n_queries, n_keys = weights.shape
    if key_tokens is None and n_queries == n_keys:
        key_tokens = query_tokens
    both = []
    for name, tokens, side, size in (
        ("query_tokens", query_tokens, "n_queries", n_queries),
        ("key_tokens", key_tokens, "n_keys", n_keys),
    ):
        tokens = [str(i) for i in range(size)] if tokens is None else [str(token) for token in tokens]
        if len(tokens) != size:
            raise ValueError(f"{name} has {show.count(len(tokens), 'token')}, the matrix has {side}={size}")
        both.append(tokens)
    return both


SCRIPTS = (  # faces with signs that matplotlib's own has not, as systems bring them along
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei"),
    *("Microsoft YaHei", "SimHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans GB", "Hiragino Sans"),
    *("Apple SD Gothic Neo", "Noto Sans Devanagari", "Nirmala UI", "Arial Unicode MS"),
)


@functools.cache
def _faces():
    """Name of each face that is here for words → the signs it has, matplotlib's own first."""
    here = {face.name for face in font_manager.fontManager.ttflist}
    own = font_manager.FontProperties().get_name()
    files = {
        name: font_manager.findfont(name) for name in (own, *SCRIPTS) if name in here
    }  # its lighter cuts have less
    return {name: frozenset(font_manager.get_font(file).get_charmap()) for name, file in files.items()}


def _readable(tokens):
    """The tokens as they can be written here, one whose signs no face has by its place, and the faces for them."""
    signs = frozenset().union(*_faces().values())
    words = [token if signs.issuperset(map(ord, token)) else str(place) for place, token in enumerate(tokens)]
    return words, list(_faces())


def _draw(axes, matrix, query_tokens, key_tokens, vmin, vmax, font, names):
    """Draw the matrix; returns what a scale beside it is made from."""
    values = matrix.detach().float().cpu().numpy()
    if _has_numbers(matrix):
        _draw_cells(axes, values, vmin, vmax, font)
        image = ScalarMappable(Normalize(vmin, vmax), _colours(vmin, vmax, FULLEST))
    else:
        look = {"cmap": _colours(vmin, vmax), "norm": Normalize(vmin, vmax), "interpolation": "none"}
        image = axes.imshow(values, aspect="equal", **look)
    # cells without numbers have no edges: a frame shows where a row or a column of white ends
    axes.spines[:].set(visible=not _has_numbers(matrix), color=ON_LIGHT["line"])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    for axis, tokens, name in ((axes.xaxis, key_tokens, names[1]), (axes.yaxis, query_tokens, names[0])):
        step = math.ceil(len(tokens) / 16)  # a tick for each token would be unreadable
        words, faces = _readable(tokens)
        look = {"fontsize": font, "fontfamily": faces, "color": ON_LIGHT["ink"]}
        axis.set_ticks(range(0, len(tokens), step), words[::step], **look)
        axis.set_label_text(name, fontsize=font + 1, color=COLOURS.get(name, ON_LIGHT["ink"]), weight="bold")
        axis.labelpad = 8
    axes.tick_params(length=0, pad=5)
    if max(map(len, key_tokens)) > 4 and len(key_tokens) > 1:
        axes.set_xticks(axes.get_xticks(), axes.get_xticklabels(), rotation=40, ha="left", rotation_mode="anchor")
    return image


def _draw_cells(axes, values, vmin, vmax, font):
    """A cell for each number, which is written in it and read on every shade."""
    n_queries, n_keys = values.shape
    axes.set(xlim=(-0.5, n_keys - 0.5), ylim=(n_queries - 0.5, -0.5), aspect="equal")
    for (i, j), value in np.ndenumerate(values):
        share = _share(float(value), vmin, vmax)
        colour = "line" if math.isnan(share) else "below" if share < 0 else "weights"
        full = 1 if math.isnan(share) else round(FULLEST * abs(share), 3)
        look = {"facecolor": (ON_LIGHT[colour], full), "edgecolor": (ON_LIGHT[colour], 0.4), "linewidth": 0.8}
        shape = {"boxstyle": "round,pad=0,rounding_size=0.07"}
        axes.add_patch(FancyBboxPatch((j - 0.46, i - 0.46), 0.92, 0.92, **shape, **look))
        axes.text(j, i, _in_cell(value), ha="center", va="center", fontsize=font)


def _share(value, vmin, vmax):
    """How much of the colour a number gets, from 0 to 1; of that for numbers below zero, from 0 to −1.

    With both signs on a scale they part at 0, and a number is as dark as its opposite.
    """
    if math.isnan(value):
        return value
    share = value / max(-vmin, vmax) if vmin < 0 < vmax else (value - vmin) / (vmax - vmin)
    return min(1.0, max(-1.0, share))


def _colours(vmin, vmax, full=1.0):
    """The colours of a scale, from `shades`."""
    values = np.linspace(vmin, vmax, 512)
    colours = [shades(ON_LIGHT, full * _share(value, vmin, vmax)) for value in values]
    return ListedColormap(colours).with_extremes(bad=ON_LIGHT["line"])


def _scale_beside(figure, image, axes, shrink):
    bar = figure.colorbar(image, ax=axes, shrink=shrink, aspect=24)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=12, length=0)
    figure.scale = bar


def _in_cell(value):
    return show.fixed(float(value), 2 if abs(value) < 10 else 1)


def _scale_in_words(vmin, vmax):
    return (
        "" if (vmin, vmax) == (0.0, 1.0) else f" Colours from {show.short(float(vmin))} to {show.short(float(vmax))}."
    )


def _describe(name, matrix, query_tokens, key_tokens, axes_names):
    size = f"{len(query_tokens)} {{}} by {len(key_tokens)} {{}}"
    if axes_names == ("query", "key"):
        text, most_is, nothing = f"{name}, {size.format('queries', 'keys')}", "attends most to", "attends to nothing"
    else:
        text = f"{name}, {size.format('rows', 'columns')}, {axes_names[0]} by {axes_names[1]}"
        most_is, nothing = "has most at", "has nothing"
    odd = int((~torch.isfinite(matrix.detach())).sum())
    if not _has_numbers(matrix):
        return f"{text}, {show.count(odd, 'number')} not finite." if odd else f"{text}."
    rows = []
    for token, row in zip(query_tokens, matrix.detach().float(), strict=True):
        if not torch.isfinite(row).all():
            rows.append(f"{token} holds numbers that are not finite")
        elif not row.any():
            rows.append(f"{token} {nothing}")
        else:  # equal to two digits counts as equal, so that the words do not hang on the last bit
            most = [key for key, weight in zip(key_tokens, row, strict=True) if row.max() - weight < 0.005]
            rows.append(f"{token} {most_is} {' and '.join(most)}, {_in_cell(row.max().item())}")
    return f"{text}: {'; '.join(rows)}."
