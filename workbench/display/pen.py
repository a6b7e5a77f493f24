"""The pen that drawings are made with: shapes and words as SVG, in the page's own colours."""

import html
import math
import re

NARROW = 600  # for a phone held upright, on which a letter of LEAST has 14 pixels
LEAST = 24  # pixels of a letter, where a drawing is as wide as it can be
SUBSCRIPT = re.compile(r"(?<=\b[A-Za-z])_(\w+)")


def element(name, attributes, inside=""):
    """An element of SVG; attributes that are None are left out, numbers have two decimals at most."""
    rounded = {key: f"{round(value, 2):g}" if isinstance(value, float) else value for key, value in attributes.items()}
    in_tag = "".join(f' {key}="{value}"' for key, value in rounded.items() if value is not None)
    return f"<{name}{in_tag}>{inside}</{name}>" if inside else f"<{name}{in_tag}/>"


def colour(name):
    return name if name.startswith(("url", "none", "color-mix")) else f"var(--{name})"


def soft(name, share):
    """A thing's colour, as much of it as `share` says, 0 to 100, on a card."""
    return f"color-mix(in srgb, var(--{name}) {share:.0f}%, var(--card))"


class Pen:
    """Collects the parts of one step; `x` is where what it draws begins, `upright` whether it is all for a phone."""

    def __init__(self, width, height, x=0, parts=None, spoken=None, upright=None):
        self.width, self.height, self.x = width, height, x
        self.upright = width <= NARROW if upright is None else upright
        self.parts = [] if parts is None else parts
        self.spoken = [] if spoken is None else spoken

    def within(self, x, width):
        return Pen(width, self.height, self.x + x, self.parts, self.spoken, self.upright)

    def say(self, *words):
        self.spoken.append(" ".join(str(word) for word in words if word not in ("", None)))

    def text(self, x, y, words, *, size=28, ink="ink", anchor="middle", face="", weight=None):
        """Words; a list of them has parts, each words or (words, what is different: ink, up, down, face, weight)."""
        style = f"font-size:{size:g}px;" + (f"font-weight:{weight};" if weight else "")
        face = f' class="{face}"' if face else ""
        parts = words if isinstance(words, list) else [words] if "code" in face else lowered(words, size)
        inner = "".join(span(part) for part in parts)
        self.parts.append(
            f'<text{face} x="{self.x + x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{style}fill:{colour(ink)}">'
            f"{inner}</text>"
        )

    def word(self, x, y, words, *, size=44, **more):
        self.text(x, y, words, size=size, face="word", **more)

    def box(self, x, y, width, height, fill="none", *, edge=None, thick=2, dashed=False, round=4):
        edge = f' stroke="{colour(edge)}" stroke-width="{thick}"' if edge else ""
        dash = ' stroke-dasharray="7 7"' if dashed else ""
        self.parts.append(
            f'<rect x="{self.x + x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" '
            f'rx="{round}" fill="{fill}"{edge}{dash}/>'
        )

    def line(self, points, ink="quiet", thick=3, *, dash="", join="round"):
        way = "M" + "L".join(f"{self.x + x:.1f} {y:.1f}" for x, y in points)
        self.path(way, ink, thick, dash=dash, join=join)

    def curved(self, start, one, other, end, ink, thick, *, dash=""):
        (a, b), (c, d), (e, f), (g, h) = [(self.x + x, y) for x, y in (start, one, other, end)]
        self.path(f"M{a:.1f} {b:.1f}C{c:.1f} {d:.1f} {e:.1f} {f:.1f} {g:.1f} {h:.1f}", ink, thick, dash=dash)

    def path(self, way, ink, thick, *, dash="", join="round"):
        dash = f' stroke-dasharray="{dash}" stroke-linecap="round"' if dash else ""
        self.parts.append(
            f'<path d="{way}" fill="none" stroke="{colour(ink)}" stroke-width="{thick:.1f}" '
            f'stroke-linejoin="{join}"{dash}/>'
        )

    def head(self, x, y, size, ink):
        """An arrow's head whose point is there, downwards; of a size below 0, upwards."""
        points = " ".join(
            f"{self.x + a:.1f},{b:.1f}" for a, b in ((x, y), (x - 0.62 * size, y - size), (x + 0.62 * size, y - size))
        )
        self.parts.append(f'<polygon points="{points}" fill="{colour(ink)}"/>')

    def disc(self, x, y, radius, fill, *, edge=None):
        edge = f' stroke="{colour(edge)}" stroke-width="4"' if edge else ""
        self.parts.append(f'<circle cx="{self.x + x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}"{edge}/>')

    def arrow(self, start, end, ink, thick, short=0):
        """Straight, with its head at the end, or as much short of it."""
        (a, b), (c, d) = start, end
        angle, size = math.atan2(d - b, c - a), 9 + 2 * thick
        c, d = c - short * math.cos(angle), d - short * math.sin(angle)
        e, f = c - size * math.cos(angle), d - size * math.sin(angle)
        self.line([(a, b), (e, f)], ink, thick)
        across = 0.55 * size * math.sin(angle), 0.55 * size * math.cos(angle)
        head = [(c, d), (e - across[0], f + across[1]), (e + across[0], f - across[1])]
        points = " ".join(f"{self.x + x:.1f},{y:.1f}" for x, y in head)
        self.parts.append(f'<polygon points="{points}" fill="{colour(ink)}"/>')


def lowered(words, size):
    """The parts of words in which W_q has its q below the line."""
    parts = []
    for i, part in enumerate(SUBSCRIPT.split(str(words))):
        down = round(0.22 * size)
        if i % 2:
            parts.append((part, {"size": max(LEAST, round(0.7 * size)), "dy": down}))
        elif part:
            parts.append((part, {"dy": -down}) if i else part)
    return parts


def span(part):
    if isinstance(part, str):
        return html.escape(part, quote=False)
    words, how = part
    style = "".join(
        f"{name}:{value};"
        for name, value in (
            ("fill", colour(how["ink"]) if "ink" in how else ""),
            ("font-size", f"{how['size']}px" if "size" in how else ""),
            ("font", how.get("font", "")),
            ("font-weight", how.get("weight", "")),
        )
        if value
    )
    move = f' dy="{how["dy"]}"' if "dy" in how else ""
    return f'<tspan style="{style}"{move}>{html.escape(words, quote=False)}</tspan>'
