"""Figures: one function, one figure, which is returned and never drawn twice; queries down the side, keys across."""

import math
from base64 import b64encode
from io import BytesIO

import numpy as np
import torch
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, Normalize
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import AutoLocator, LogLocator

from attn_lib.checks import check_tensor

from . import show
from .colours import BELOW_ZERO, COLOURS, NO_NUMBER, PAPER, TYPE, WEIGHTS, contrast

WEIGHTS_MAP = LinearSegmentedColormap.from_list("weights", WEIGHTS).with_extremes(bad=NO_NUMBER)
SIGNED_MAP = LinearSegmentedColormap.from_list("signed", [*BELOW_ZERO, *WEIGHTS])
PRINTED_UP_TO = 8  # values are written into the cells of matrices up to 8×8
PAGE_WIDTH = 13.0  # inches; a wider figure would be shrunk by the page, its letters with it
DESCRIBED_UP_TO = 12  # rows that the description of a grid spells out
LINES = [("weights", "o", "-"), ("key", "s", "--"), ("output", "^", ":"), ("query", "D", "-."), ("value", "v", "-")]


class Figure(MatplotlibFigure):
    """A figure with `description`: its alternative text, and what stands where no picture can."""

    description = "A figure."

    def __repr__(self):
        return self.description

    def _repr_mimebundle_(self, include=None, exclude=None):
        png = BytesIO()
        self.savefig(png, format="png", dpi=100, bbox_inches="tight", facecolor=PAPER)
        data = {"image/png": b64encode(png.getvalue()).decode(), "text/plain": self.description}
        return data, {"image/png": {"alt": self.description}}


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
    side = 0.72 if _printed(weights) else _side(max(weights.shape), 7)
    figure = Figure(figsize=(2.6 + max(3, n_keys) * side, 1.7 + max(3, n_queries) * side), layout="constrained")
    axes = figure.subplots()
    image = _draw(axes, weights, query_tokens, key_tokens, vmin, vmax, 13, axes_names)
    axes.set_title(title, fontsize=15, pad=12)
    figure.colorbar(image, ax=axes, shrink=0.9).ax.tick_params(labelsize=12)
    figure.description = _describe(title, weights, query_tokens, key_tokens, axes_names) + _scale_in_words(vmin, vmax)
    return figure


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
    side = 0.58 + signed if _printed(weights) else _side(max(weights.shape[-2:]), 2.6, dots=0)
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
    figure.colorbar(image, ax=grid, shrink=0.8).ax.tick_params(labelsize=12)
    figure.description = f"{title}: {len(panels)} panels on one scale."
    if _printed(panels[0]) and len(panels) * len(query_tokens) <= DESCRIBED_UP_TO:
        each = zip(titles, panels, strict=True)
        words = (_describe(name, panel, query_tokens, key_tokens, axes_names) for name, panel in each)
        figure.description += " " + " ".join(words)
    figure.description += _scale_in_words(vmin, vmax)
    return figure


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
        axes.set_xticks(x, [f"{value:g}" for value in x])
    if log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(_ticks_between(*axes.get_ylim()))
        axes.yaxis.set_major_formatter("{x:g}")  # as along x: the exponent of a power is too small for the last row
        axes.yaxis.set_minor_formatter("")
    axes.set_title(title, fontsize=15, pad=10)
    axes.set_xlabel(xlabel, fontsize=13)
    axes.set_ylabel(ylabel, fontsize=13)
    axes.tick_params(labelsize=12)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=12, framealpha=0.9)
    spelled_out = f"{title}. {ylabel} against {xlabel}, {x[0]:g} to {x[-1]:g}: {'; '.join(parts)}."
    figure.description = spelled_out if description is None else description
    return figure


def arrows(queries, keys, query_tokens, key_tokens, *, title, xlabel, ylabel):
    """Draw queries and keys of two numbers each as arrows in a plane: queries solid, keys dashed, a name at each tip.

    Shapes: queries (n_queries, 2), keys (n_keys, 2); tokens are a word for each row; xlabel and ylabel say what the
    two numbers mean. The description gives every arrow and every dot product. Returns a Figure.
    Raises: ValueError for vectors of another length than 2, or too few or many tokens.
    """
    named = {"query": (queries, query_tokens, "-"), "key": (keys, key_tokens, (0, (4, 2)))}
    figure = Figure(figsize=(7.4, 4.6), layout="constrained")
    axes = figure.subplots()
    said = []
    for kind, (vectors, tokens, style) in named.items():
        if vectors.ndim != 2 or vectors.size(1) != 2:
            raise ValueError(f"a {kind} must be 2 numbers to be drawn in a plane, got shape {tuple(vectors.shape)}")
        if len(tokens) != len(vectors):
            raise ValueError(f"{kind}_tokens has {show.count(len(tokens), 'token')} for {len(vectors)} vectors")
        for token, tip in zip(tokens, vectors, strict=True):
            (x, y), side = tip.tolist(), "left" if tip[0] >= 0 else "right"
            shape = {"arrowstyle": "-|>,head_width=0.35,head_length=0.7", "shrinkA": 0, "shrinkB": 0}
            look = {"color": COLOURS[kind], "linewidth": 2.4, "linestyle": style, "mutation_scale": 18}
            axes.annotate("", (x, y), (0, 0), arrowprops={**shape, **look})
            words = f"{kind} of {token}, {show.value((x, y), 2)}"
            place = {"xytext": (6 if side == "left" else -6, 7), "textcoords": "offset points", "ha": side}
            axes.annotate(words, (x, y), **place, fontsize=13, color=COLOURS[kind])
            said.append(words)
    products = zip(query_tokens, (queries @ keys.T).tolist(), strict=True)
    said += [
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
    axes.grid(alpha=0.3)
    figure.description = f"{title}: {'; '.join(said)}."
    return figure


def _ticks_between(low, high):
    """At least two numbers along a logarithmic axis, however much or little it covers."""
    if high > 100 * low:
        return LogLocator()
    return LogLocator(subs=(1, 2, 5)) if high > 5 * low else AutoLocator()


def _side(size, whole, dots=2):
    """Inches of a cell in a picture of so many inches, or of so many dots for each cell where that is more."""
    return max(min(0.5, whole / size), min(dots / 100, 10 / size))


def _printed(matrix):
    return max(matrix.shape[-2:]) <= PRINTED_UP_TO


def _check_matrices(weights, dimensions, vmin, vmax):
    check_tensor("weights", weights)
    if weights.ndim not in dimensions:
        wanted = " or ".join(map(str, dimensions))
        raise ValueError(f"weights must have {wanted} dimensions, got shape {tuple(weights.shape)}")
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
    named = []
    for name, tokens, side, size in (
        ("query_tokens", query_tokens, "n_queries", n_queries),
        ("key_tokens", key_tokens, "n_keys", n_keys),
    ):
        tokens = [str(i) for i in range(size)] if tokens is None else [str(token) for token in tokens]
        if len(tokens) != size:
            raise ValueError(f"{name} has {show.count(len(tokens), 'token')}, the matrix has {side}={size}")
        named.append(tokens)
    return named


def _draw(axes, matrix, query_tokens, key_tokens, vmin, vmax, font, names):
    values = matrix.detach().float().cpu().numpy()
    image = axes.imshow(values, cmap=_colours(vmin, vmax), norm=Normalize(vmin, vmax), aspect="equal")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    for axis, tokens, name in ((axes.xaxis, key_tokens, names[1]), (axes.yaxis, query_tokens, names[0])):
        step = math.ceil(len(tokens) / 16)  # a tick for each token would be unreadable
        axis.set_ticks(range(0, len(tokens), step), tokens[::step], fontsize=font)
        axis.set_label_text(name, fontsize=font + 1, color=COLOURS.get(name, "#1A1A1A"), weight="bold")
    axes.tick_params(length=0, pad=5)
    if max(map(len, key_tokens)) > 4 and len(key_tokens) > 1:
        axes.set_xticks(axes.get_xticks(), axes.get_xticklabels(), rotation=40, ha="left", rotation_mode="anchor")
    if _printed(matrix):
        axes.set_xticks([i - 0.5 for i in range(1, len(key_tokens))], minor=True)
        axes.set_yticks([i - 0.5 for i in range(1, len(query_tokens))], minor=True)
        axes.grid(which="minor", color=PAPER, linewidth=2)
        shades = image.to_rgba(image.get_array())
        for (i, j), value in np.ndenumerate(values):
            colour = _read_on(shades[i, j, :3])
            axes.text(j, i, _written(value), ha="center", va="center", fontsize=font, color=colour)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    return image


def _colours(vmin, vmax):
    """The colours of a scale; with both signs on it they part at 0, and a number is as dark as its opposite."""
    if not vmin < 0 < vmax:
        return WEIGHTS_MAP
    ends = np.array([vmin, vmax]) / max(-vmin, vmax)
    return ListedColormap(SIGNED_MAP((np.linspace(*ends, 512) + 1) / 2)).with_extremes(bad=NO_NUMBER)


def _read_on(shade):
    """TYPE or PAPER, whichever has more contrast with this colour."""
    return max(TYPE, PAPER, key=lambda colour: contrast(colour, shade))


def _written(value):
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
    if not _printed(matrix):
        return f"{text}, {show.count(odd, 'number')} not finite." if odd else f"{text}."
    rows = []
    for token, row in zip(query_tokens, matrix.detach().float(), strict=True):
        if not torch.isfinite(row).all():
            rows.append(f"{token} holds numbers that are not finite")
        elif not row.any():
            rows.append(f"{token} {nothing}")
        else:  # equal to two digits counts as equal, so that the words do not hang on the last bit
            most = [key for key, weight in zip(key_tokens, row, strict=True) if row.max() - weight < 0.005]
            rows.append(f"{token} {most_is} {' and '.join(most)}, {_written(row.max().item())}")
    return f"{text}: {'; '.join(rows)}."
