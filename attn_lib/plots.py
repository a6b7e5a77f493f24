"""Heatmaps of attention: one function, one figure, queries down the side, keys along the bottom, one scale."""

import html

import torch
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure as MatplotlibFigure

from .checks import check_tensor
from .colours import COLOURS

WEIGHTS_MAP = LinearSegmentedColormap.from_list("weights", ["#F7FAFF", "#A9C6F2", COLOURS["weights"], "#0B2E66"])
PRINTED_UP_TO = 8  # values are printed into the cells of matrices up to 8×8


class Figure(MatplotlibFigure):
    """A figure that describes itself in words: for screen readers, and where no picture is shown."""

    description = "A figure"

    def _repr_mimebundle_(self, include=None, exclude=None):
        png = self._repr_png_()
        return {"image/png": png, "text/plain": self.description}, {"image/png": {"alt": self.description}}

    def _repr_png_(self):
        from io import BytesIO

        buffer = BytesIO()
        self.savefig(buffer, format="png", bbox_inches="tight", dpi=110, facecolor="white")
        return buffer.getvalue()

    def __repr__(self):
        return self.description
