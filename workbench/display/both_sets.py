"""A matplotlib SVG in the colours of a light page, given those of a dark one too: it takes the set around it."""

import base64
import html
import re
from functools import cache
from io import BytesIO

import numpy as np
from PIL import Image

from .colours import ON_DARK, ON_LIGHT, both_sets, face, shades

HEAD = re.compile(r'<svg[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>', re.DOTALL)
GROUND = re.compile(r' *<g id="patch_1">.*?</g>\n', re.DOTALL)
LETTERS = re.compile(r"'[\w ]+'(?:, (?:'[\w ]+'|[\w-]+))+")
TAG = re.compile(r"<[^>]*>")
DIGITS = re.compile(r"(\d+\.\d{2})\d+")
PICTURE = re.compile(r"<image [^>]*?base64,([^\"]*)[^>]*/>", re.DOTALL)
NAMES = {light.lower(): name for name, light in reversed(ON_LIGHT.items())}  # of two with one colour, the first


def in_both_sets(svg, dots, corner):
    """The SVG as a card, so many dots to an inch, with round corners and the tokens' colours as variables."""
    width, height = map(float, HEAD.search(svg).groups())
    svg = PICTURE.sub(lambda match: _twice(match[0], match[1]), GROUND.sub("", svg, count=1))
    svg = re.sub(r"#[0-9a-f]{6}", lambda match: f"var(--{NAMES[match[0]]})" if match[0] in NAMES else match[0], svg)
    svg = TAG.sub(lambda tag: tag[0] if "base64" in tag[0] else DIGITS.sub(r"\1", tag[0]), svg)  # not in its words
    svg = LETTERS.sub(html.escape(face("ui").replace('"', "'")), svg)
    names_used = set(re.findall(r"var[(]--([a-z]+)[)]", svg)) | {"card", "line"}
    hidden = "svg .night { display: none; } @media (prefers-color-scheme: dark)"
    hidden += " { svg .night { display: inline; } svg .day { display: none; } }"
    style = f"<style>{both_sets(names_used)}{hidden if 'night' in svg else ''}</style>"
    card = f'<rect x="0.4" y="0.4" width="{width - 0.8}" height="{height - 0.8}" rx="{72 * corner / dots}"'
    card += ' style="fill: var(--card); stroke: var(--line); stroke-width: 0.7"/>'
    size = f'width="{width / 72 * dots:.0f}" height="{height / 72 * dots:.0f}" viewBox="0 0 {width} {height}"'
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg {names} {size}>{style}{card}" + svg[HEAD.search(svg).end() :]


def _twice(element, data):
    """A picture of shades, and the same for the dark."""
    night = element.replace(data, _in_the_dark(data))
    return element.replace("<image ", '<image class="day" ', 1) + night.replace("<image ", '<image class="night" ', 1)


def _in_the_dark(data):
    """A PNG in base64 whose shades have become those of the dark."""
    pixels = np.asarray(Image.open(BytesIO(base64.b64decode(data))).convert("RGBA"))
    colours, which = np.unique(pixels.reshape(-1, 4), axis=0, return_inverse=True)
    light, dark = _shades()
    apart = abs(colours[:, None, :3].astype(int) - light[None]).sum(-1)
    colours[:, :3] = dark[apart.argmin(1)]
    out = BytesIO()
    Image.fromarray(colours[which.reshape(-1)].reshape(pixels.shape)).save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()


@cache
def _shades():
    """Every shade that a picture may hold, on a light page and on a dark one, in the same order."""
    shares = np.linspace(-1, 1, 1025)
    both = [[shades(colours, share) for share in shares] + [shades(colours, np.nan)] for colours in (ON_LIGHT, ON_DARK)]
    return [np.round(255 * np.array(one)).astype(int) for one in both]
