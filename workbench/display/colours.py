"""What `tokens.css`, the one place for colours, faces and sizes, says to Python and to pages."""

import math
import re
from pathlib import Path

TOKENS = Path(__file__).with_name("tokens.css")
COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);")
_PAIRS = {  # in capitals, as saved pictures have them
    name: [colour.upper() for colour in pair] for name, *pair in COLOUR.findall(TOKENS.read_text(encoding="utf-8"))
}

ON_LIGHT, ON_DARK = ({name: pair[k] for name, pair in _PAIRS.items()} for k in (0, 1))  # name → "#RRGGBB"
THINGS = ("input", "query", "key", "value", "weights", "output")
COLOURS = {thing: ON_LIGHT[thing] for thing in THINGS}

# How much of its colour a cell with a number in it takes at most: ink is read on it at 4.5:1, light and dark.
FULLEST = 0.48

RULE = "rgba(127, 127, 127, 0.4)"  # between the rows of a table, on a white page and on a dark one


def on_any(name, share=1.0):
    """A token for a style of one's own, where the page does not have them: so much of it, on whatever lies behind."""
    light, dark = (" ".join(str(round(255 * part)) for part in _channels(of[name])) for of in (ON_LIGHT, ON_DARK))
    amount = "" if share == 1 else f" / {100 * share:.3g}%"
    return f"light-dark(rgb({light}{amount}), rgb({dark}{amount}))"


def shades(of, share):
    """The colour of a number in a picture, as shares of red, green and blue: card at 0, `weights` at 1, `below` at −1.

    of is ON_LIGHT or ON_DARK; a share that is not a number has a colour of its own.
    """
    if math.isnan(share):
        return _channels(of["line"])
    ends = zip(_channels(of["card"]), _channels(of["weights" if share > 0 else "below"]), strict=True)
    return [a + (b - a) * abs(share) for a, b in ends]


def face(name):
    """The typefaces that `tokens.css` has under this name, as text."""
    return " ".join(re.search(rf"--{name}:([^;]+);", TOKENS.read_text(encoding="utf-8"))[1].split())


def both_sets(names):
    """A style sheet for an SVG that is shown as <img>, where a page's own colours do not reach: names as variables."""
    light, dark = ("".join(f"--{name}: {of[name]}; " for name in sorted(names)) for of in (ON_LIGHT, ON_DARK))
    return f"svg {{ {light}}} @media (prefers-color-scheme: dark) {{ svg {{ {dark}}} }}"


def tokens(selector=":root"):
    """The declarations of `tokens.css` for what `selector` finds, as text of a style sheet."""
    return TOKENS.read_text(encoding="utf-8").replace(":root {", f"{selector} {{")


def written_out(dark, by_system=""):
    """The colours of `tokens.css` for browsers without light-dark(): on a page that is light but for these selectors.

    dark finds the root of a page that is dark by choice; by_system finds the one that then follows the system.
    """
    within = " :is(.attn-board, .attn-figure)"  # which have the tokens of their own
    light, other = ("".join(f"--{name}: {colour}; " for name, colour in of.items()) for of in (ON_LIGHT, ON_DARK))
    rules = f":root, :root{within} {{ {light}}} {dark}, {dark}{within} {{ {other}}}"
    if by_system:
        rules += f" @media (prefers-color-scheme: dark) {{ {by_system}, {by_system}{within} {{ {other}}} }}"
    return f"@supports not (color: light-dark(#000, #fff)) {{ {rules} }}\n"


def contrast(one, other):
    """How well one colour can be read on another, 1 to 21; each is "#RRGGBB" or three shares from 0 to 1.

    Source: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
    """
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour):
    colour = _channels(colour) if isinstance(colour, str) else colour
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _channels(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
