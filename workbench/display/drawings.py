"""A small vocabulary of pictures, made of numbers, for slides, notebooks and the site.

A drawing is SVG in the page's own colours (`tokens.css`), so that it is right on a light page and on a dark one, with a
description made of the same numbers. It has one step or more, each a picture of the same kind; None in it stands for
what is not known yet, which is drawn as an empty place, so that nothing moves when it comes.

    draw(Bars(["I", "like"], [0.24, 0.76]))
    draw(Bars(["I", "like"], [0.24, None]), Bars(["I", "like"], [0.24, 0.76]))

The vocabulary: Bars, Bricks, Strip, Matrices, Sentence, Curve, Plane, Crossing, Points, Flow, Tiles, Wall, Lines of
code, Spoken; Beside and Stacked for two of them, Album for four that were there before.
"""

import html
import itertools
import math
import re
import zlib
from dataclasses import dataclass, fields, replace

from .colours import tokens
from .pen import LEAST, NARROW, Pen, colour, soft

WIDTH, HEIGHT = 1168, 520
SOFT, FULL = 7, 50  # per cent of a thing's colour in a cell of 0 and in the largest


class Drawing:
    """The steps of a drawing, each as SVG; `spoken` describes each to somebody who does not see it."""

    def __init__(self, steps, spoken, height, width=WIDTH):
        self.steps, self.spoken, self.height, self.width = steps, spoken, height, width
        self.narrow = None  # the same for a phone held upright

    def svg(self, step=-1):
        """One step; what it adds to the one before it has the class `new`."""
        step %= len(self.steps)
        before = set(self.steps[step - 1]) if step else set(self.steps[0])
        parts = [
            part if part in before else part.replace(" ", ' class="new" ', 1) if " class=" not in part[:80] else part
            for part in self.steps[step]
        ]
        alt = html.escape(self.spoken[step])
        return (
            f'<svg class="attn-drawing" viewBox="0 0 {self.width} {self.height:.0f}" role="img" aria-label="{alt}">'
            f"{self.hatched(''.join(parts), step)}</svg>"
        )

    @staticmethod
    def hatched(parts, step):
        """With the pattern of what is hatched, under a name of its own: one in a hidden part would not be drawn."""
        name = f"hatch-{zlib.crc32(parts.encode())}-{step}"
        return (
            HATCH.replace("attn-hatch", name) + parts.replace("#attn-hatch", f"#{name}") if "#attn" in parts else parts
        )

    def _repr_html_(self):
        return f"<style>{STYLE}</style>{self.svg()}"

    def __repr__(self):
        return self.spoken[-1]


HATCH = (
    '<defs><pattern id="attn-hatch" width="14" height="14" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="14" height="14" fill="var(--hatch-paper)"/>'
    '<rect width="5" height="14" fill="var(--hatch-line)"/></pattern></defs>'
)
FACES = """
.attn-drawing {
  display: block; width: 100%; max-width: 1168px; height: auto; overflow: visible;
  --hatch-paper: color-mix(in srgb, var(--quiet) 18%, var(--card));
  --hatch-line: color-mix(in srgb, var(--quiet) 60%, var(--card));
}
.attn-drawing text { fill: var(--ink); font: 500 28px var(--ui); font-variant-numeric: tabular-nums; }
.attn-drawing .word { font: italic 400 44px var(--text); }
.attn-drawing .code { font: 500 26px var(--mono); }
"""
# In a notebook, whose page knows nothing of the tokens; JupyterLab and VS Code say whether they are dark.
STYLE = (
    tokens(".attn-drawing").replace("{", "{ color-scheme: light;", 1)
    + FACES
    + "[data-jp-theme-light=false] .attn-drawing, .vscode-dark .attn-drawing { color-scheme: dark; }"
)


def draw(*steps, height=HEIGHT):
    """A drawing of one picture, or of several of a kind, a step each."""
    in_full = drawing_of(steps, WIDTH, height)
    in_full.narrow = draw_narrow(*steps)
    return in_full


def draw_narrow(*steps):
    """The same drawing for a phone held upright: what stands side by side is stacked; None where it has no room."""
    if not all(step.is_narrow for step in steps):
        return None
    return drawing_of(steps, NARROW, max(step.narrow_height for step in steps))


def drawing_of(steps, width, height):
    pens = [Pen(width, height) for _ in steps]
    for pen, step in zip(pens, steps, strict=True):
        step.draw(pen, steps)
    return Drawing([pen.parts for pen in pens], [". ".join(pen.spoken) for pen in pens], height, width)


def plain(value):
    """Tensors and arrays as lists, to the depth of a list or a dict, and six digits of a number: a sum of 1 is 1."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(one) for one in value]
    return value


def unknown(*shape):
    """Places for what is not known yet: unknown(3) is a row of three, unknown(2, 3) are two such rows."""
    length, *inner = shape
    return [unknown(*inner) if inner else None for _ in range(length)]


# ----------------------------------------------------------------------------------------------------- as words


def number(value, unit=""):
    """A number as it stands in a drawing: few digits, "≈0" for what is nearly nothing, nan as Python prints it."""
    if value is None:
        return "?"
    if isinstance(value, (str, bool)):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if unit == "%":
        return "≈0 %" if 0 < value < 0.005 else f"{100 * value:.0f} %"
    if value == int(value):
        text = f"{value:,.0f}"
    elif abs(value) < 0.005:
        return "≈0"
    elif 0.995 <= value < 1:
        text = "≈1"
    else:
        text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return "0" if text in ("-0", "0.00", "-0.00") else text.replace("-", "−")


def per_cents(values):
    """Shares as whole per cents, each rounded alone: equal shares read alike, and all as the lesson prints them."""
    return [number(value, "%") for value in values]


def largest(steps, name):
    numbers = [v for step in steps for v in flat(getattr(step, name)) if is_number(v)]
    return max(numbers, default=1) or 1


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def flat(values):
    return [one for value in values for one in (flat(value) if isinstance(value, list) else [value])]


def pairs_in_words(names, values):
    return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=False))


# -------------------------------------------------------------------------------------------------- the vocabulary


@dataclass
class Plain:
    """What is drawn, whose numbers may be handed over as tensors."""

    def __post_init__(self):
        for field in fields(self):
            setattr(self, field.name, plain(getattr(self, field.name)))

    def but(self, **changes):
        """The same with other values in some places: the next step."""
        return replace(self, **changes)


class Picture(Plain):
    """A word of the vocabulary; what it needs are the fields of its class."""

    is_narrow = False  # whether it can be read on a phone held upright
    narrow_height = 480  # how high it is drawn there

    def draw(self, pen, steps):
        """Draw it with a pen; steps are all pictures between which nothing is to move."""
        raise NotImplementedError


@dataclass
class Bars(Picture):
    """How much each has: names, values, unit ("%" unless it is ""), colour, strong (the one in its full colour), wrong.

    caption says what they are; `lying` puts a bar on each row, for many or for long names; `words`: names in italics.
    """

    names: list
    values: list
    unit: str = "%"
    colour: str | list = "weights"
    strong: int | None = None
    wrong: int | None = None
    caption: str | None = None
    lying: bool = False
    words: bool = True
    top: float | None = None

    is_narrow = True

    @property
    def narrow_height(self):
        return 76 * len(self.names) + (60 if self.caption else 0)

    def draw(self, pen, steps):
        names, values = self.names, self.values
        unit = self.unit
        labels = per_cents(values) if unit == "%" else [f"{number(value)}{unit}" for value in values]
        top = self.top or largest(steps, "values")
        strong, wrong = self.strong, self.wrong
        name_of = pen.word if self.words else pen.text

        def looks(i):
            thing = "wrong" if i == wrong else self.colour
            thing = thing[i] if isinstance(thing, list) else thing
            full = i in (strong, wrong) or (strong is None and wrong is None and isinstance(self.colour, list))
            return thing, (colour(thing) if full else soft(thing, 48)), full

        if self.caption:
            pen.text(pen.width / 2, 34, self.caption, ink="quiet")
        if self.lying or pen.width <= NARROW:
            begin = 60 if self.caption else 4
            room = max(150, 20 * max(len(str(name)) for name in names) + 24)
            step = min(130, (pen.height - begin) / len(names))
            begin += (pen.height - begin - step * len(names)) / 2
            numbers = [f"{number(v, unit)}{unit}" for every in steps for v in every.values if v is not None]
            beside = max(120, 18 * max(map(len, numbers), default=0) + 14)  # a number at its bar's end
            for i, value in enumerate(values):
                y, (thing, fill, full) = begin + i * step, looks(i)
                name_of(
                    room - 18, y + step / 2 + 11, str(names[i]), size=34, anchor="end", ink=thing if full else "ink"
                )
                long = (pen.width - room - beside) * max(value or 0, 0) / top
                if value is None:
                    pen.box(room, y + step * 0.18, 130, step * 0.64, "none", edge="quiet", dashed=True)
                    pen.text(room + 65, y + step / 2 + 11, "?", ink="quiet")
                    continue
                pen.box(room, y + step * 0.18, max(long, 3), step * 0.64, fill)
                ink = thing if full else "quiet"
                pen.text(room + max(long, 3) + 14, y + step / 2 + 11, labels[i], anchor="start", ink=ink, weight=650)
        else:
            foot = pen.height - 66
            wide = min(190, pen.width / len(names))
            left, high = (pen.width - wide * len(names)) / 2, foot - (110 if self.caption else 60)
            for i, value in enumerate(values):
                x, (thing, fill, full) = left + i * wide, looks(i)
                name_of(
                    x + wide / 2,
                    foot + 52,
                    str(names[i]),
                    size=max(LEAST, min(44, 1.85 * wide / max(3, *(len(str(n)) for n in names)))),
                )
                tall = max(3, high * max(value or 0, 0) / top)
                if value is None:
                    pen.box(
                        x + wide * 0.12, foot - high * 0.45, wide * 0.76, high * 0.45 - 2, edge="quiet", dashed=True
                    )
                    pen.text(x + wide / 2, foot - high * 0.2, "?", ink="quiet", size=36)
                    continue
                pen.box(x + wide * 0.12, foot - tall, wide * 0.76, tall, fill)
                size = 32 if wide > 110 else 26
                pen.text(x + wide / 2, foot - tall - 14, labels[i], ink=thing, weight=650, size=size)
            pen.line([(left, foot + 1), (left + wide * len(names), foot + 1)], "line")
        pen.say(self.caption, pairs_in_words(names, labels))


@dataclass
class Bricks(Picture):
    """Exponentials as stacks of bricks of 1, and the shares that they make: names, scores, asks, hatched."""

    names: list
    scores: list
    asks: str = "I"
    hatched: int | None = None

    def draw(self, pen, steps):
        names, scores = self.names, self.scores
        heights = [None if s is None else math.exp(s) for s in scores]
        top = max(math.exp(s) for every in steps for s in every.scores if s is not None)
        foot, u = pen.height - 66, (pen.height - 130) / top
        wide = 700 / max(len(names), 3)
        for j, (name, tall) in enumerate(zip(names, heights, strict=True)):
            x, middle = 20 + j * wide, 20 + j * wide + wide * 0.42
            off = j == self.hatched
            pen.word(middle, foot + 52, name, size=34 if off else 44, ink="quiet" if off else "ink")
            at = foot - (tall or 0) * u  # of what is asked for nothing stands there: a box would have a height
            for i in range(math.ceil((tall or 0) - 1e-9)):
                part = min(1, tall - i)
                fill = "url(#attn-hatch)" if off else soft("weights", 48 if j == 0 else 78)
                pen.box(x + wide * 0.14, foot - (i + part) * u, wide * 0.56, part * u - 3, fill)
            power = number(scores[j]) if scores[j] is not None else "0" if off else "?"
            e = ("e", {"font": "italic 400 38px var(--text)"})
            pen.text(middle, at - 18, [e, (power, {"dy": -15, "size": 24}), (f" = {number(tall)}", {"dy": 15})])
        pen.line([(10, foot + 1), (10 + wide * len(names), foot + 1)], "line")
        heights_known = [tall for tall in heights if tall is not None]
        x, wide, y = pen.width - 320, 150, foot
        shares = iter(per_cents([tall / sum(heights_known) for tall in heights_known]))
        for j, tall in enumerate(heights):
            if tall is None:
                continue
            part = tall / sum(heights_known) * (foot - 50)
            y -= part
            off = j == self.hatched
            pen.box(x, y, wide, part - 3, "url(#attn-hatch)" if off else soft("weights", 48 if j == 0 else 78))
            share = next(shares)
            pen.text(x + wide + 20, y + part / 2 + 12, share, anchor="start", size=36, weight=650, ink="weights")
        asks = (self.asks, {"font": "italic 400 44px var(--text)", "ink": "query"})
        pen.text(x + wide / 2, foot + 52, [asks, " attends to"])
        pen.say("e to the scores:", pairs_in_words(names, [number(tall) for tall in heights]))


@dataclass
class Strip(Picture):
    """A row of shares as one strip that is 1 long: names, shares, hatched, struck or gone (a place), total."""

    names: list
    shares: list
    hatched: int | None = None
    struck: int | None = None
    gone: int | None = None
    total: float | str | None = ""

    is_narrow = True
    narrow_height = 330

    def draw(self, pen, steps):
        names, shares = self.names, self.shares
        long, y, tall = pen.width - 40, 40, 130
        x = 20
        for j, (name, share) in enumerate(zip(names, shares, strict=True)):
            wide, odd = share * long, j in (self.hatched, self.gone)
            if j == self.gone:
                pen.box(x, y, wide - 4, tall, edge="wrong", thick=3, dashed=True)
                pen.text(x + wide / 2, y + tall / 2 + 10, number(share), ink="wrong", weight=650)
            else:
                fill = "url(#attn-hatch)" if odd else soft("weights", (52, 30)[j % 2 == 0])
                pen.box(x, y, wide - 4, tall, fill)
            if j == self.struck:
                pen.line([(x - 10, y + tall + 12), (x + wide + 6, y - 12)], "wrong", 7)
            if not odd:
                pen.word(x + wide / 2, y + 62, name)
                pen.text(x + wide / 2, y + 106, number(share), weight=600)
            elif wide > 26 * len(name):
                pen.word(x + wide / 2, y + tall + 44, name, size=34, ink="quiet")
            x += wide
        shares_left = [share for j, share in enumerate(shares) if j != self.gone]
        end, y = 20 + sum(shares_left) * long, y + tall + 60
        if self.total != "":
            if self.total is None:
                pen.text(20 + long / 2, y + 70, "Σ = ?", size=48, ink="quiet")
            else:
                pen.line([(20, y - 30), (20, y - 12), (end - 4, y - 12), (end - 4, y - 30)], "weights", 4)
                pen.text((20 + end) / 2, y + 52, number(self.total), size=56, ink="weights", weight=650)
        pen.say(pairs_in_words(names, [number(share) for share in shares]), f"together {number(self.total)}")


@dataclass
class Matrix(Plain):
    """One of Matrices: rows, or a vector, which is one row.

    A number is written in its cell; True is a filled cell, False an empty one, "hatch" one that is struck out, and None
    not known yet. `mark`ed rows and `column`s are framed, those not in `only` are pale, where "diagonal" can be asked
    for too. `left` and `top` name rows and columns; `full` is the number with the strongest colour; `bare` writes none.
    """

    rows: list
    name: str | None = None
    thing: str = "ink"
    left: list | None = None
    top: list | None = None
    mark: list | None = None
    column: list | None = None
    only: list | str | None = None
    full: float | None = None
    bare: bool = False

    @property
    def table(self):
        return self.rows if self.rows and isinstance(self.rows[0], list) else [self.rows]


@dataclass
class Matrices(Picture):
    """Matrices in a row, with signs between them: items, each a Matrix or a sign."""

    items: list

    @property
    def is_narrow(self):
        return all(len(item.table[0]) <= 9 for item in self.items if isinstance(item, Matrix))

    @property
    def narrow_height(self):
        return sum(line_height(line) for line in lines_of(self.items))

    def draw(self, pen, steps):
        items = self.items
        lines = lines_of(items)
        if pen.upright and len(lines) > 1:
            y, scale = 0, pen.height / sum(line_height(line) for line in lines)
            for line in lines:
                part = Pen(pen.width, scale * line_height(line), pen.x, spoken=pen.spoken)
                Matrices(line).draw(part, [Matrices(line)])
                pen.parts += [f'<g transform="translate(0 {y:.1f})">{one}</g>' for one in part.parts]
                y += part.height
            return
        shapes = [one if isinstance(one, str) else one.table for one in items]
        signs = sum(sign_width(one) for one in shapes if isinstance(one, str))
        sides = sum(label_width(one.left) for one in items if isinstance(one, Matrix))
        columns = sum(len(one[0]) for one in shapes if not isinstance(one, str))
        deepest = max(len(one) for one in shapes if not isinstance(one, str))
        above = any(one.name for one in items if isinstance(one, Matrix)) * 56
        topped = any(one.top for one in items if isinstance(one, Matrix)) * 50
        gaps = 26 * (len(items) - 1)
        frame = 12 * any(one.mark for every in steps for one in every.items if isinstance(one, Matrix))
        size = min(
            (pen.width - signs - sides - gaps - frame) / columns, (pen.height - above - topped - 12) / deepest, 150
        )
        high = min(size, 110) if deepest < 3 else size
        x = (pen.width - (signs + sides + gaps + columns * size)) / 2
        middle = above + topped + (pen.height - above - topped) / 2
        for item, shape in zip(items, shapes, strict=True):
            if isinstance(item, str):
                pen.text(x + sign_width(item) / 2, middle + 14, item, size=40, ink="ink")
                x += sign_width(item) + 26
                continue
            x += label_width(item.left)
            y = middle - len(shape) * high / 2
            thing = item.thing
            full = item.full or max([abs(v) for v in flat(shape) if is_number(v)], default=1) or 1
            wide = len(shape[0]) * size
            if item.name:
                pen.text(x + wide / 2 - 2, y - topped - 22, item.name, ink=thing, weight=600, size=30)
            top = [str(one) for one in item.top or []]
            letters = min([34, *(size * 2.1 / max(1, len(one)) for one in top)])
            smaller = max(LEAST, min(letters, *(size * 1.8 / max(1, len(one)) for one in [*top, ""])))
            for j, one in enumerate(top if letters >= LEAST else []):  # narrow columns go by the rows' names
                pen.word(x + j * size + size / 2 - 2, y - 14, one, size=smaller)
            for i, left in enumerate(item.left or []):
                pen.word(
                    x - 14, y + i * high + high / 2 + 10, str(left), size=min(34, max(LEAST, 0.8 * high)), anchor="end"
                )
            write = writing(shape, size - 4) if not item.bare else silent
            for i, row in enumerate(shape):
                only = item.only
                for j, value in enumerate(row):
                    pale = only is not None and (i != j if only == "diagonal" else i not in only)
                    cell(pen, x + j * size, y + i * high, size - 4, high - 4, value, thing, full, pale, write)
            for i in item.mark or []:
                pen.box(x - 5, y + i * high - 5, wide + 6, high + 6, edge=thing, thick=5, round=8)
            for j in item.column or []:
                pen.box(x + j * size - 5, y - 5, size + 6, high * len(shape) + 6, edge=thing, thick=5, round=8)
            pen.say(item.name, "; ".join(", ".join(map(number, row)) for row in shape))
            x += wide + 26


def lines_of(items):
    """Matrices, each with the sign before it, as they stand one below another."""
    lines = []
    for item in items:
        if not lines or (lines[-1] and isinstance(lines[-1][-1], Matrix)):
            lines.append([])
        lines[-1].append(item)
    return lines


def line_height(line):
    matrix = line[-1]
    size = min(90, (NARROW - 24 * 4 - label_width(matrix.left)) / len(matrix.table[0]))
    return size * len(matrix.table) + 56 * bool(matrix.name) + 50 * bool(matrix.top) + 40


def sign_width(sign):
    return 24 * max(1, len(sign))


def label_width(left):
    return 18 * max(len(str(one)) for one in left) + 20 if left else 0


def without_zero(value):
    """A number in a narrow cell: .24 for 0.24."""
    return re.sub(r"^(−?)0\.", r"\1.", number(value))


def silent(value):
    return ""


def writing(rows, wide):
    """How the numbers of a matrix are written: all of them, or none where one has no room in its cell."""
    numbers = [v for v in flat(rows) if v is not None and v != "hatch" and not isinstance(v, bool)]
    return next((w for w in (number, without_zero) if all(room_for(w(v)) <= wide for v in numbers)), silent)


def room_for(words):
    return 13.5 * len(words)


def cell(pen, x, y, wide, high, value, thing, full, pale=False, write=number):
    """One cell of a matrix."""
    if value is None:  # a grid of small dashes would be louder than what is to come into it
        pen.box(x, y, wide, high, soft("quiet", 6), edge=soft("quiet", 55), dashed=min(wide, high) >= 60)
        return
    if isinstance(value, bool):
        thing = "weights" if thing == "ink" else thing
        pen.box(x, y, wide, high, colour(thing) if value else soft("quiet", 8), edge=thing if value else "line")
        return
    if value == "hatch":
        pen.box(x, y, wide, high, "url(#attn-hatch)")
        return
    bad = number(value) == "nan"
    below = is_number(value) and value < 0
    share = SOFT + (FULL - SOFT) * min(1, abs(value) / full) if is_number(value) else SOFT
    paint = "wrong" if bad else "below" if below and thing == "ink" else thing
    pen.box(
        x, y, wide, high, soft(paint, 26 if bad else share * (0.3 if pale else 0.8)), edge="wrong" if bad else thing
    )
    words = write(value)
    size = min(44, max(24, 0.36 * wide), max(24, wide / max(2.2, 0.62 * len(words))))
    if words and wide >= room_for(words) and high >= LEAST:
        ink = "wrong" if bad else "quiet" if pale else "ink"
        pen.text(x + wide / 2, y + high / 2 + size * 0.36, words, size=size, weight=600, ink=ink)


@dataclass
class Sentence(Picture):
    """Words in a row, and who attends to whom: words, arcs above as (from, to, share), inks {place: thing}, says,
    missing.

    shares: per cents under the words; fetched: chips under the words, of which `found` is filled; counted: each place's
    number there; asks: what the last one looks for.
    """

    words: list
    inks: dict | None = None
    arcs: list | None = None
    missing: list | None = None
    shares: list | None = None
    fetched: list | None = None
    found: int | None = None
    counted: bool = False
    asks: str | None = None
    says: str | None = ""
    ending: str = "output"

    narrow_height = 330

    @property
    def is_narrow(self):
        return sum(max(4, len(str(word))) for word in self.words) <= 40 and len(self.words) < 8

    def draw(self, pen, steps):
        words = self.words
        inks = self.inks or {}
        n = len(words) + (self.says != "")
        step = pen.width / n
        ends = [every.says or "" for every in steps]
        size = min(60, 2.1 * step / max(4, *(len(str(word)) for word in [*words, *ends])))
        has_below = any(every.fetched or every.shares for every in steps)
        has_above = any(every.arcs or every.missing for every in steps)
        base = pen.height - (150 if has_below else 70) if has_above else pen.height * 0.55
        place = [step * (i + 0.5) for i in range(n)]
        for start, end, share in self.arcs or []:
            thick = max(2.5, 30 * share)
            top = base - size - 14 - min(base - 90, 60 + 52 * abs(start - end))
            a, b = place[start] + (0 if start != end else 30), place[end] - (0 if start != end else 30)
            low, head = base - size - 8, 10 + 0.9 * thick
            pen.curved((a, low), (a, top), (b, top), (b, low - 0.8 * head), "weights", thick)
            pen.head(b, low + 4, head, "weights")  # it looks at who is heard
        for start, end in self.missing or []:  # arcs that should be there and are not
            low = base - size - 8
            top = low - min(base - 90, 60 + 52 * abs(start - end))
            pen.curved(
                (place[start], low), (place[start], top), (place[end], top), (place[end], low), "wrong", 4, dash="10 10"
            )
            pen.say(words[start], "does not find", words[end])
        for i, word in enumerate(words):
            pen.word(place[i], base, str(word), size=size, ink=inks.get(i, "ink"))
        if self.says != "":
            says = self.says
            pen.word(
                place[-1],
                base,
                "?" if says is None else str(says),
                size=size,
                weight=600,
                ink="quiet" if says is None else self.ending,
            )
        if self.asks:
            pen.word(place[len(words) - 1] + 30, base - size - 40, self.asks, size=38, ink="query", anchor="start")
        shares = self.shares or []
        for i, (share, per_cent) in enumerate(zip(shares, per_cents(shares), strict=True)):
            pen.text(place[i], base + 62, per_cent, size=34, weight=650, ink="quiet" if share is None else "weights")
        for i in range(len(words)) if self.counted else []:
            pen.text(place[i], base + 62, str(i), size=LEAST, ink="quiet")
        for i, one in enumerate(self.fetched or []):
            if one is None:
                continue
            hit = i == self.found
            a, b = place[i] - 14, place[i - 1] + 16
            if i:
                pen.curved((a, base + 20), (a, base + 68), (b, base + 68), (b, base + 28), "weights", 5)
                pen.head(b, base + 12, -18, "weights")  # upwards, to the word that is fetched
            wide = max(96, 19 * len(one) + 24)
            pen.box(
                place[i] - wide / 2,
                base + 78,
                wide,
                50,
                colour("key") if hit else soft("key", 14),
                edge="key",
                round=10,
            )
            pen.word(place[i], base + 114, one, size=32, ink="paper" if hit else "key")
        pen.say("Words:", ", ".join(map(str, words)))
        for start, end, share in self.arcs or []:
            pen.say(words[start], "attends to", words[end], number(share, "%"))
        if self.fetched:
            pen.say("fetched:", ", ".join(one or "nothing" for one in self.fetched))
        if self.says:
            pen.say("says", self.says)


@dataclass
class Curve(Picture):
    """Lines over an axis: x, lines {name: numbers}, things {name: thing}, axes, upto, ball.

    ball is a place along x, ticks the places that are named; slope (at, rise, how long) is a tangent; on the axes
    in `log`, "x", "y" or "xy" (True is "x"), each doubling is as wide as the next.
    """

    x: list
    lines: dict
    things: dict | None = None
    axes: tuple = ("", "")
    upto: float | None = None
    ball: float | None = None
    ink: str | None = None
    ticks: list | None = None
    slope: tuple | None = None
    log: str | bool = ""
    scale: list | None = None
    marks: list | None = None
    ends: list | None = None
    unit: str = ""

    is_narrow = True

    def draw(self, pen, steps):
        along, lines = self.x, self.lines
        things = self.things or {}
        up = [y for every in steps for line in every.lines.values() for y in line if is_number(y)]
        logarithmic = {True: "x"}.get(self.log, self.log or "")
        low, high = self.scale or (min(up) if "y" in logarithmic else min(0, *up), max(up))
        x0, y0, y1 = 120, pen.height - 62, 56
        x1 = pen.width - (210 if len(lines) > 1 else 40)
        first, last = along[0], along[-1]

        def part_of(way, value, begin, end):
            if way in logarithmic:
                value, begin, end = math.log(value), math.log(begin), math.log(end)
            return (value - begin) / (end - begin)

        def at(x, y):
            return x0 + part_of("x", x, first, last) * (x1 - x0), y0 - part_of("y", y, low, high) * (y0 - y1)

        pen.line([(x0, y1 - 10), (x0, y0), (x1, y0)], "line", join="miter")
        across, upwards = self.axes
        pen.text(x0 - 6, y1 - 26, upwards, anchor="start", ink="quiet")
        for y in self.marks or ([low, high] if not self.ends else []):
            pen.text(x0 - 16, at(first, y)[1] + 10, number(y, self.unit), anchor="end", ink="quiet", size=26)
        for y, name in zip((low, high), self.ends or [], strict=False):
            pen.text(x0 - 16, at(first, y)[1] + 10, name, anchor="end", ink="quiet", size=26)
        ticks = apart([(at(x, low)[0], x) for x in self.ticks or [first, last]], self.ball)
        for place, x in ticks:
            here = x == self.ball
            pen.text(place, y0 + 40, f"{x:g}", ink="ink" if here else "quiet", weight=700 if here else None)
        places = [x0, *(place for place, _ in ticks), x1]
        place = max((d - c, (c + d) / 2) for c, d in itertools.pairwise(places))[1]
        pen.text(place, y0 + 40, across, ink="quiet", size=26)
        upto = last if self.upto is None else self.upto
        ends = []
        for name, line in lines.items():
            thing = things.get(name, "output")
            points = [at(x, y) for x, y in zip(along, line, strict=True) if x <= upto and is_number(y)]
            if len(points) > 1:
                pen.line(points, thing, 6)
            if len(lines) > 1:
                ends.append([points[-1], name, thing])
            whole = [y for x, y in zip(along, line, strict=True) if x <= upto]
            pen.say(name, "goes from", number(whole[0]), "to", number(whole[-1]))
        previous = y1 - 34
        for (x, y), name, thing in sorted(ends, key=lambda end: end[0][1]):
            y = previous = max(y, previous + 34)
            pen.text(x + 16, y + 9, name, anchor="start", ink=thing, weight=600, size=26)
        if self.slope:
            x, rise, long = self.slope
            y = line_at(along, next(iter(lines.values())), x)
            far = min(long, (low - y) / rise) if rise < 0 else long
            pen.line([at(x, y), at(x + far, y + rise * far)], "query", 4, dash="4 9")
        if self.ball is not None:
            name, line = next(iter(lines.items()))
            for other in (every.ball for every in steps):
                if other is None or other >= self.ball:
                    continue
                pen.disc(*at(other, line_at(along, line, other)), 9, "var(--paper)", edge=things.get(name, "output"))
            pen.disc(
                *at(self.ball, line_at(along, line, self.ball)),
                17,
                colour(self.ink or things.get(name, "output")),
            )


def apart(ticks, ball):
    """Ticks with room between them; the ball's own is there in any case."""
    spaced = []
    for place, x in ticks:
        if spaced and place - spaced[-1][0] < 50:
            if x != ball:
                continue
            spaced.pop()
        spaced.append((place, x))
    return spaced


def line_at(along, line, x):
    """A line's height at x, between the two points beside it."""
    for (a, b), (c, d) in zip(zip(along, line, strict=True), list(zip(along, line, strict=True))[1:], strict=False):
        if a <= x <= c:
            return b + (d - b) * (x - a) / (c - a)
    return line[-1]


@dataclass
class Plane(Picture):
    """Arrows from the middle of a plane: arrows, each [name, (x, y), thing]; a name of "" has been named before.

    With `axes`, the names of the two numbers, only the part where both are positive, with its scales; between is two
    points that a dashed line joins.
    """

    arrows: list
    axes: list | None = None
    between: list | None = None

    is_narrow = True

    def draw(self, pen, steps):
        points = [point for every in steps for _, point, _ in every.arrows]
        if self.axes:
            x0, y0, unit = quadrant(pen, self.axes, *(max(point[i] for point in points) for i in (0, 1)))
        else:
            x0, y0, unit = four_quadrants(pen, max(abs(v) for point in points for v in point))
        if self.between:
            pen.line([(x0 + x * unit, y0 - y * unit) for x, y in self.between], "quiet", 3, dash="2 10")
        for name, (x, y), thing in self.arrows:
            end = x0 + x * unit, y0 - y * unit
            pen.arrow((x0, y0), end, thing, 8)
            long = math.hypot(x, y) * unit
            away = x0 + x * unit * (1 + 26 / long), end[1] - y * unit * 34 / long + 10
            side = "start" if x > 0.2 * abs(y) else "end" if x < -0.2 * abs(y) else "middle"
            pen.text(*away, name, ink=thing, weight=650, anchor=side)
            pen.say(name, "points to", f"({number(x)}, {number(y)})")


def four_quadrants(pen, longest):
    """A grid around 0 as far as the longest arrow; where its middle is, and how long a 1."""
    x0, y0 = pen.width / 2, pen.height / 2
    unit = min((pen.width - 220) / 2, (pen.height - 90) / 2) / longest
    for i in range(-math.ceil(longest), math.ceil(longest) + 1):
        far = unit * (math.ceil(longest) + 0.3)
        for line in (
            [(x0 + i * unit, y0 - far), (x0 + i * unit, y0 + far)],
            [(x0 - far, y0 + i * unit), (x0 + far, y0 + i * unit)],
        ):
            pen.line(line, "line", 1 if i else 3)
    return x0, y0, unit


def quadrant(pen, axes, across, up):
    """A grid from 0 up and to the right with its scales; where its corner is, and how long a 1."""
    left, right = (110, 190) if pen.width <= NARROW else (150, 270)  # room for the names of axes and arrows
    unit = min((pen.width - left - right) / across, (pen.height - 140) / up)
    x0, y0 = (pen.width + left - right - unit * across) / 2, pen.height - 70
    for i in range(math.floor(across) + 1):
        pen.line([(x0 + i * unit, y0), (x0 + i * unit, y0 - unit * up)], "line", 1 if i else 3)
        pen.text(x0 + i * unit, y0 + 36, number(i), ink="quiet", size=24)
    for i in range(math.floor(up) + 1):
        pen.line([(x0, y0 - i * unit), (x0 + across * unit, y0 - i * unit)], "line", 1 if i else 3)
        pen.text(x0 - 18, y0 - i * unit + 9, number(i), ink="quiet", size=24, anchor="end")
    pen.text(x0 + (math.floor(across) - 0.5) * unit, y0 + 36, axes[0], ink="quiet", size=26)
    pen.text(x0 - 18, y0 - (math.floor(up) - 0.5) * unit + 9, axes[1], ink="quiet", size=26, anchor="end")
    return x0, y0, unit


@dataclass
class Crossing(Picture):
    """Pairs as lines in the plane of a state of two numbers, and the state as a point that steps from line to line.

    pairs: each [name, key, number]: on its line are the states from which its key reads the number; no line where the
    number is not known. path: the states one after the other. reach: how far the plane goes; caption.
    """

    pairs: list
    path: list
    reach: float = 10
    caption: str | None = None

    is_narrow = True
    narrow_height = 560

    def draw(self, pen, steps):
        x0, y0, unit = self.grid(pen)

        def at(point):
            return x0 + point[0] * unit, y0 - point[1] * unit

        for name, (a, b), n in self.pairs:
            if n is None:
                continue
            ends = ends_of_line(a, b, n, self.reach)
            if ends:
                pen.line([at(end) for end in ends], "key", 4)
                self.name(pen, name, *(at(end) for end in ends))
            pen.say("the line of", name, "has the states from which it reads", number(n))
        for one, other in itertools.pairwise(self.path):
            if one != other:
                pen.arrow(at(one), at(other), "weights", 6, short=15 if other == self.path[-1] else 0)  # at its dot
        for point in self.path[:-1]:
            pen.disc(*at(point), 6, colour("weights"))
        if self.path:
            pen.disc(*at(self.path[-1]), 12, colour("weights"), edge="card")
            pen.say("the state goes", ", ".join(f"({number(x)}, {number(y)})" for x, y in self.path))

    def name(self, pen, name, upper, lower):
        """A line's name: above one that stands, beside one that lies, and on one that slopes near its lower end."""
        if upper[0] == lower[0]:
            pen.text(upper[0], upper[1] - 12, name, ink="key", size=26)
        elif upper[1] == lower[1]:
            pen.text(max(upper[0], lower[0]) + 10, upper[1] + 8, name, ink="key", size=26, anchor="start")
        else:
            x, y = (0.25 * one + 0.75 * other for one, other in zip(upper, lower, strict=True))
            pen.text(x + 10, y - 10, name, ink="key", size=26, anchor="start")

    def grid(self, pen):
        """Its scales from 0 on; where its corner is, and how long a 1."""
        top = 76 if self.caption else 40
        unit = min((pen.width - 150) / self.reach, (pen.height - top - 50) / self.reach)
        x0, y0 = (pen.width - 40 - unit * self.reach) / 2, pen.height - 46
        long = unit * self.reach
        for i in range(0, math.floor(self.reach) + 1, 2):
            thick = 1 if i else 3
            pen.line([(x0 + i * unit, y0), (x0 + i * unit, y0 - long)], "line", thick)
            pen.line([(x0, y0 - i * unit), (x0 + long, y0 - i * unit)], "line", thick)
            pen.text(x0 + i * unit, y0 + 34, number(i), ink="quiet", size=26)
            pen.text(x0 - 14, y0 - i * unit + 9, number(i) if i else "", ink="quiet", size=26, anchor="end")
        if self.caption:
            pen.text(x0 + long / 2, 30, self.caption, size=28, weight=600)
            pen.say(self.caption)
        return x0, y0, unit


def ends_of_line(a, b, n, reach):
    """Where the line a · x + b · y = n leaves the square from 0 to reach, the upper end first; None if it misses it."""
    ends = [(x, (n - a * x) / b) for x in (0, reach) if b] + [((n - b * y) / a, y) for y in (0, reach) if a]
    inside = sorted({(round(x, 6), round(y, 6)) for x, y in ends if -1e-9 <= x <= reach and -1e-9 <= y <= reach})
    return sorted((inside[0], inside[-1]), key=lambda end: (-end[1], -end[0])) if len(inside) > 1 else None


@dataclass
class Flow(Picture):
    """Boxes, and arrows as values run or, thick, as gradients run: boxes {name: [column, row]} on a grid, arrows, back.

    arrows are (from, to); back are (from, to, what it is times, on which side), drawn in the colour of where they end.
    """

    boxes: dict
    arrows: list | None = None
    back: list | None = None
    things: dict | None = None
    labels: dict | None = None
    empty: list | None = None

    is_narrow = True

    @property
    def across(self):
        """How many columns its grid has."""
        return 1 + max(column for column, _ in self.boxes.values())

    @property
    def narrow_height(self):
        rows = 1 + max(row for _, row in self.boxes.values())
        return 120 * (self.across if self.across > 3 else rows)

    def draw(self, pen, steps):
        if pen.width <= NARROW and self.across > 3:  # from top to bottom, where it runs from left to right
            upright = [every.but(boxes={name: [r, c] for name, (c, r) in every.boxes.items()}) for every in steps]
            return upright[steps.index(self)].draw_in(pen, upright)
        self.draw_in(pen, steps)

    def draw_in(self, pen, steps):
        boxes = self.boxes
        columns = 1 + max(c for every in steps for c, _ in every.boxes.values())
        rows = 1 + max(r for every in steps for _, r in every.boxes.values())
        tall, wide = 66, min(250, pen.width / columns - 30)
        things = self.things or {}

        def middle(name):
            c, r = boxes[name]
            return pen.width * (c + 0.5) / columns, tall / 2 + 4 + r * (pen.height - tall - 8) / max(1, rows - 1)

        def edge(name, other, shift):
            """Where a line from one to the other leaves the box."""
            (x, y), (a, b) = middle(name), middle(other)
            dx, dy = a - x, b - y
            far = min((wide / 2 + 6) / abs(dx) if dx else 9, (tall / 2 + 6) / abs(dy) if dy else 9)
            return x + dx * far + shift, y + dy * far

        back = self.back or []
        for start, end in self.arrows or []:
            pen.arrow(edge(start, end, 0), edge(end, start, 0), "line" if back else "quiet", 4)
        for name in boxes:
            x, y = middle(name)
            thing = things.get(name, name if name in KNOWN else "ink")
            empty = name in (self.empty or [])
            pen.box(
                x - wide / 2,
                y - tall / 2,
                wide,
                tall,
                soft(thing, 0 if empty else 14),
                edge=thing,
                thick=3,
                dashed=empty,
                round=10,
            )
            label = (self.labels or {}).get(name, name)
            pen.text(x, y + 11, label, size=min(34, 1.75 * wide / max(5, len(label))), weight=650, ink=thing)
        for start, end, words, *side in back:
            thing = things.get(end, end if end in KNOWN else "ink")
            one, other = edge(start, end, 22), edge(end, start, 22)
            pen.arrow(one, other, thing, 11)
            x, y = 0.38 * one[0] + 0.62 * other[0], 0.38 * one[1] + 0.62 * other[1]
            way = -1 if "left" in side else 1
            dx, dy = other[0] - one[0], other[1] - one[1]
            off = 36 * way * math.copysign(1, dy) / math.hypot(dx, dy)  # straight away from the arrow, to that side
            foot = y + 11 - dx * off
            pen.text(x + dy * off, foot, words, anchor="end" if way < 0 else "start", size=30, weight=600)
        for start, end in self.arrows or []:
            pen.say(start, "goes into", end)
        for start, end, words, *_ in back:
            pen.say("the gradient of", start, "goes back to", end + ",", words)


KNOWN = ("input", "query", "key", "value", "scores", "weights", "output", "wrong")


@dataclass
class Wall(Picture):
    """Many small squares, one for each try: right, a row of True and False or None where nothing is known; caption."""

    right: list
    caption: str | None = None

    is_narrow = True

    def draw(self, pen, steps):
        right = self.right
        begin = 60 if any(every.caption is not None for every in steps) else 0
        across = math.ceil(math.sqrt(len(right) * pen.width / (pen.height - begin)))
        size = min(pen.width / across, (pen.height - begin) / math.ceil(len(right) / across))
        left = (pen.width - across * size) / 2
        for thing, result in (("line", None), ("output", True), ("wrong", False)):
            places = [divmod(i, across) for i, one in enumerate(right) if one is result]
            square = f"h{size - 3:.1f}v{size - 3:.1f}h-{size - 3:.1f}z"
            way = "".join(f"M{pen.x + left + c * size:.1f} {begin + r * size:.1f}{square}" for r, c in places)
            if way:
                pen.parts.append(f'<path d="{way}" fill="{colour(thing)}"/>')
        if self.caption:
            pen.text(pen.width / 2, 40, self.caption, size=36, weight=600)
        pen.say(self.caption, f"{sum(one is True for one in right)} of {len(right)} are right")


@dataclass
class Points(Picture):
    """Named points on one line: names, at, strong (places in full colour), asks (which way somebody looks, 1 or -1).

    With numbers, where each point stands is written below its name. things are two colours, of the points and of who
    asks; caption is said above.
    """

    names: list
    at: list
    strong: list | None = None
    numbers: bool = False
    asks: int | None = None
    things: tuple = ("key", "query")
    caption: str | None = None

    is_narrow = True

    def draw(self, pen, steps):
        low, high = min(self.at), max(self.at)
        point, asker = self.things
        foot, strong = pen.height * 0.55, self.strong
        pen.line([(20, foot), (pen.width - 20, foot)], "line", 4)
        places = [80 + (pen.width - 160) * (value - low) / (high - low) for value in self.at]
        above = self.above(places)
        for i, x in enumerate(places):
            on = strong is None or i in strong
            ink = point if on else "quiet"
            pen.disc(x, foot, 24 if strong and on else 15, colour(point) if on else soft("quiet", 30))
            line = foot + 74 if i not in above else foot - (92 if self.numbers else 42)
            pen.word(x, line, str(self.names[i]), size=48, ink=ink)
            if self.numbers:
                pen.text(x, line + 50, number(self.at[i]), size=40, ink=ink, weight=600 if on else None)
        if self.asks:
            way = self.asks
            begin, end = (pen.width / 2 - way * 240, pen.width / 2 + way * 240)
            pen.arrow((begin, foot - 110), (end, foot - 110), asker, 11)
        if self.caption:
            lines = set_in_lines(self.caption, pen.width, 34)
            for k, line in enumerate(reversed(lines)):
                pen.text(pen.width / 2, foot - 150 - 42 * k, line.strip(), size=34, ink=asker, weight=600)
            pen.say(self.caption)
        pen.say(pairs_in_words(self.names, [number(value) for value in self.at]))
        if strong:
            pen.say("in full colour:", ", ".join(str(self.names[i]) for i in strong))

    def above(self, places):
        """The points that are named above the line, as the name of the one before them has taken the room below."""
        above, taken = set(), -math.inf
        for x, i in sorted(zip(places, range(len(places)), strict=True)):
            half = max(24 * len(str(self.names[i])), 25 * len(number(self.at[i])) * self.numbers) / 2
            if x - half < taken:
                above.add(i)
                taken = -math.inf
            else:
                taken = x + half + 8
        return above


def nearest(picture):
    """The last step of a picture, drawn for the room in which its smallest word is largest once it is small."""
    whole = drawn_in(picture, 1)
    smaller = [drawn_in(picture, share) for share in (0.5, 0.56, 0.62, 0.7, 0.8, 0.9)]

    def has_all(pen):
        return len(words_in(pen)) == len(words_in(whole)) and crowded(pen) <= crowded(whole)

    def smallest(pen):
        return min((size for *_, size in words_in(pen)), default=1) / pen.width

    return max([whole, *filter(has_all, smaller)], key=smallest)


def drawn_in(picture, share):
    """The pen that has drawn the last step of a picture in this share of the usual width and height."""
    pen = Pen(share * WIDTH, share * HEIGHT, upright=False)
    picture[-1].draw(pen, picture)
    return pen


TEXT = re.compile(
    r'<text[^>]* x="([-.\d]+)" y="([-.\d]+)" text-anchor="(\w+)" style="font-size:([.\d]+)px[^>]*>(.*?)</text>'
)


def words_in(pen):
    """About where each of its texts stands, left, top, right and bottom, and its size."""
    boxes = []
    for x, y, anchor, size, inner in TEXT.findall("".join(pen.parts)):
        size, words = float(size), html.unescape(re.sub("<[^>]*>", "", inner))
        wide = 0.6 * size * len(words)
        left = float(x) - {"start": 0, "middle": 0.5, "end": 1}[anchor] * wide
        boxes.append((left, float(y) - 0.75 * size, left + wide, float(y) + 0.2 * size, size))
    return boxes


def crowded(pen):
    """How many of its texts lie over each other or beyond its edge."""
    boxes = words_in(pen)
    over = sum(
        a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for i, a in enumerate(boxes) for b in boxes[:i]
    )
    return over + sum(a[0] < 0 or a[1] < 0 or a[2] > pen.width or a[3] > pen.height for a in boxes)


def edges(pen):
    """Where what it has drawn begins and ends: a name may be longer than the column that it stands over."""
    boxes = words_in(pen)
    return min([0, *(box[0] for box in boxes)]), max([pen.width, *(box[2] for box in boxes)])


@dataclass
class Album(Picture):
    """Four pictures of before, small, to be known again: pictures, each the steps of one; open, how many."""

    pictures: list
    open: int | None = None

    def draw(self, pen, steps):
        pictures, wide, tall = self.pictures, pen.width / 2, pen.height / 2
        how_many = len(pictures) if self.open is None else self.open
        for i, picture in enumerate(pictures):
            x, y = (i % 2) * wide, (i // 2) * tall
            is_open = i < how_many
            pen.box(
                x + 8,
                y + 6,
                wide - 16,
                tall - 12,
                "var(--card)" if is_open else soft("quiet", 6),
                edge="line",
                round=12,
            )
            if not is_open:
                pen.text(x + wide / 2, y + tall / 2 + 14, "?", size=44, ink="quiet")
                continue
            small = nearest(picture)
            pen.spoken += small.spoken
            begin, end = edges(small)
            scale = min((wide - 36) / (end - begin), (tall - 24) / small.height)
            left, top = x + (wide - scale * (begin + end)) / 2, y + (tall - scale * small.height) / 2
            place = f"translate({pen.x + left:.1f} {top:.1f})"
            pen.parts.append(f'<g class="small" transform="{place} scale({scale:.3f})">{"".join(small.parts)}</g>')


@dataclass
class Tiles(Picture):
    """A table that is uncovered cell by cell: columns, rows, cells; open is how many of them, row by row.

    A cell is words, a number, a pattern of True and False, words in a thing's colour as [words, thing], or None, not
    known yet, which looks covered.
    """

    cells: list
    columns: list | None = None
    rows: list | None = None
    open: int | None = None

    def opened(self, *counts):
        """The table with so many of its cells uncovered, a step for each count."""
        return [self.but(open=count) for count in counts]

    @property
    def is_narrow(self):
        longest = max(len(line) for row in self.cells for one in row for line in words_of_tile(one).split("\n"))
        names = max(map(len, map(str, self.rows or [""])))
        return len(self.cells[0]) * 14 * longest + 16 * names < NARROW

    @property
    def narrow_height(self):
        return 150 * len(self.cells) + 60

    def draw(self, pen, steps):
        columns, rows, cells = self.columns or [], self.rows or [], self.cells
        across, down = len(cells[0]), len(cells)
        how_many = across * down if self.open is None else self.open
        room = max([16.2 * len(str(row)) + 24 for row in rows], default=0)
        lines = max([name.count("\n") + 1 for name in columns], default=0)  # of the columns' names
        begin = 24 + 34 * lines if columns else 0
        wide, high = (pen.width - room) / across, (pen.height - begin) / down
        high = min(high, 240)
        spare = (pen.height - begin - high * down) / 2
        begin += spare
        for c, name in enumerate(columns):
            parts = name.split("\n")
            size = min(30, 1.6 * wide / max(4, *map(len, parts)))
            for i, part in enumerate(parts, lines - len(parts)):
                y = spare + 38 + 34 * i
                pen.text(room + (c + 0.5) * wide, y, part, size=max(24, size), weight=600, ink="quiet")
        for r, name in enumerate(rows):
            pen.text(room - 22, begin + (r + 0.5) * high + 10, str(name), anchor="end", size=30, weight=600)
        lines_of_all = [line for row in cells for one in row for line in words_of_tile(one).split("\n")]
        size = max(24, min(46, 1.62 * (wide - 30) / max(7, *map(len, lines_of_all))))  # one for all
        for r, row in enumerate(cells):
            for c, value in enumerate(row):
                x, y = room + c * wide + 6, begin + r * high + 6
                tile(pen, x, y, wide - 12, high - 12, value, size, r * across + c < how_many)
        open_cells = [cell for i, cell in enumerate(c for row in cells for c in row) if i < how_many]
        pen.say(
            "; ".join(
                str(c[0])
                if isinstance(c, list) and isinstance(c[0], str)
                else "a pattern"
                if isinstance(c, list)
                else number(c)
                for c in open_cells
            )
            or "all covered"
        )


def words_of_tile(one):
    one = one[0] if isinstance(one, list) and isinstance(one[0], str) else one
    return "" if isinstance(one, list) else one if isinstance(one, str) else number(one)


def tile(pen, x, y, wide, high, value, size, is_open):
    if not is_open or value is None:
        pen.box(x, y, wide, high, soft("quiet", 9), edge="line", round=10)
        pen.text(x + wide / 2, y + high / 2 + 13, "?", size=38, ink="quiet")
        return
    words, thing = value if isinstance(value, list) and isinstance(value[0], str) else (value, None)
    pen.box(
        x,
        y,
        wide,
        high,
        soft(thing, 12) if thing else "var(--card)",
        edge=thing or "line",
        thick=3 if thing else 2,
        round=10,
    )
    if isinstance(words, list):  # a pattern
        side = min((high - 16) / len(words), (wide - 16) / len(words[0]))
        a, b = x + (wide - side * len(words[0])) / 2, y + (high - side * len(words)) / 2
        for i, row in enumerate(words):
            for j, one in enumerate(row):
                cell(pen, a + j * side, b + i * side, side - 4, side - 4, one, "weights", 1)
        return
    words = words if isinstance(words, str) else number(words)
    lines = words.split("\n")
    for i, line in enumerate(lines):
        low = y + high / 2 + (i - len(lines) / 2 + 0.5) * size * 1.25 + size * 0.35
        pen.text(x + wide / 2, low, line, size=size, weight=600, ink=thing or "ink")


@dataclass
class Lines(Picture):
    """Lines of code with their numbers, where the line is the point: source, mark {number: thing}, first, caption.

    The marked ones are framed in their thing's colour; first is the number of the first line; the caption is below.
    """

    source: str
    mark: dict | None = None
    first: int = 1
    caption: str | None = None

    def draw(self, pen, steps):
        source = [line for every in steps for line in [every.source.splitlines()]]
        code_lines = self.source.splitlines()
        longest = max(len(line) for one in source for line in one)
        size = max(LEAST, min(32, (pen.width - 90) / (0.61 * longest)))
        below = 70 if any(every.caption is not None for every in steps) else 0
        high = min(2.5 * size, (pen.height - below - 10) / max(map(len, source)))
        mark = self.mark or {}
        for i, line in enumerate(code_lines):
            y, number = 10 + i * high, self.first + i
            thing = mark.get(number)
            if thing:
                pen.box(0, y, pen.width, high - 4, soft(thing, 10), edge=thing, thick=3, round=8)
            foot = y + high / 2 + 0.32 * size - 2
            pen.text(46, foot, str(number), size=size, face="code", ink=thing or "quiet", anchor="end")
            indent = len(line) - len(line.lstrip())
            pen.text(74 + 0.602 * size * indent, foot, line.lstrip(), size=size, face="code", anchor="start")
        if self.caption:
            pen.text(74, 10 + len(code_lines) * high + 50, self.caption, size=32, anchor="start", weight=600)
        pen.say(f"{len(code_lines)} lines of code")
        for number in mark:
            pen.say("line", number, "is marked:", code_lines[number - self.first].strip())
        pen.say(self.caption)


@dataclass
class Spoken(Picture):
    """What a model writes after a prompt, uncovered word by word: prompt, says, open (how many words), line, where.

    line is the line of code that was wrong, and where is where it lies; both come below once they are known.
    """

    prompt: str
    says: str
    open: int | None = None
    line: str | None = None
    where: str | None = None

    is_narrow = True
    narrow_height = 620

    @property
    def words(self):
        """What is uncovered at once: a word with its space, or up to four signs."""
        return re.findall(r"\s*[\w'’]+|\s*[^\w\s]{1,4}|\s+$", self.says)

    def uncovered(self, line=None, where=None, least=0):
        """A step for each word, from the first ones on, and last of all the line."""
        steps = [self.but(open=count) for count in range(least, len(self.words) + 1)]
        return [*steps, self.but(line=line, where=where)] if line or where else steps

    @property
    def asks(self):
        """The prompt as it stands before what is said: a question has a line of its own."""
        return f"{self.prompt}\n" if self.prompt.endswith("?") else self.prompt

    def draw(self, pen, steps):
        below = 60 if any(every.where for every in steps) else 0
        code = max(1, *(len(code_in_lines(every.line, pen.width)) for every in steps))
        below += 34 * code + 20 if any(every.line for every in steps) else 0
        size = 46 if pen.width > NARROW else 34

        def highest(size):
            return 1.36 * size * max(len(set_in_lines(every.asks + every.says, pen.width, size)) for every in steps)

        while size > LEAST and highest(size) > pen.height - below - 20:
            size -= 2
        text = "".join(self.words[: self.open])
        letters_left, letters_asked = len(self.asks) + len(text), len(self.asks)
        for i, row in enumerate(set_in_lines(self.asks + self.says, pen.width, size)):
            row = row[:letters_left]
            parts = [(row[:letters_asked].replace("\n", ""), {"ink": "quiet"}), row[letters_asked:].replace("\n", "⏎")]
            letters_left, letters_asked = letters_left - len(row), max(0, letters_asked - len(row))
            if row.strip():
                y = 20 + size + 1.36 * size * i
                parts = [part for part in parts if part and part[0]]
                pen.text(0, y, parts, size=size, face="word", anchor="start")
        pen.say(f"After “{self.prompt}”:", f"“{text}”" if text else "nothing is uncovered yet")
        if self.where:
            pen.text(0, pen.height - below + 40, self.where, size=34, anchor="start", weight=600, ink="output")
        for i, row in enumerate(code_in_lines(self.line, pen.width)):
            y = pen.height - 34 * (code - i) + 14
            pen.text(0, y, row, size=LEAST, face="code", anchor="start", ink="wrong")
        pen.say(self.where or "", self.line or "")


WIDE_LETTER = 0.56  # of its size: how wide a letter is counted


def set_in_lines(words, width, size):
    """Words in lines of this width; a line ends after a line break that is not the first sign of a word's space."""
    room = int(width / (WIDE_LETTER * size))
    rows = [""]
    for part in re.findall(r"[^\S\n]*\S+[^\S\n]*|\n", words):
        while len(part.rstrip()) > room:
            rest = room - len(rows[-1])
            rows[-1], part = rows[-1] + part[:rest], part[rest:]
            rows.append("")
        if len(rows[-1]) + len(part.rstrip()) > room or rows[-1].endswith("\n"):
            rows.append("")
        rows[-1] += part
    return rows


WIDE_SIGN = 0.61  # of its size: how wide a sign of code is


def code_in_lines(code, width):
    """Code, or None for none, in lines of this width, cut wherever they end."""
    room = int(width / (WIDE_SIGN * LEAST))
    return [code[at : at + room] for at in range(0, len(code or ""), room)]


@dataclass
class Beside(Picture):
    """Two pictures side by side; share is the left one's."""

    left: Picture
    right: Picture
    share: float = 0.5

    @property
    def is_narrow(self):
        return self.left.is_narrow and self.right.is_narrow

    @property
    def narrow_height(self):
        return self.left.narrow_height + self.right.narrow_height + 30

    def draw(self, pen, steps):
        if pen.width <= NARROW:
            stacked = [Stacked(every.left, every.right) for every in steps]
            for every in stacked:  # as high as the two of this step need
                every.share = self.left.narrow_height / (self.left.narrow_height + self.right.narrow_height)
            return stacked[steps.index(self)].draw(pen, stacked)
        share, gap = self.share, 40
        parts = [
            ("left", 0, pen.width * share - gap / 2),
            ("right", pen.width * share + gap / 2, pen.width * (1 - share) - gap / 2),
        ]
        for side, x, wide in parts:
            getattr(self, side).draw(pen.within(x, wide), alike(self, steps, side))


@dataclass
class Stacked(Picture):
    """Two pictures, one below the other; share is the upper one's."""

    upper: Picture
    lower: Picture
    share: float = 0.5

    @property
    def is_narrow(self):
        return self.upper.is_narrow and self.lower.is_narrow

    @property
    def narrow_height(self):
        return self.upper.narrow_height + self.lower.narrow_height + 30

    def draw(self, pen, steps):
        share, gap = self.share, 30
        parts = [
            ("upper", 0, pen.height * share - gap / 2),
            ("lower", pen.height * share + gap / 2, pen.height * (1 - share) - gap / 2),
        ]
        for side, y, tall in parts:
            part = Pen(pen.width, tall, pen.x, spoken=pen.spoken, upright=pen.upright)
            getattr(self, side).draw(part, alike(self, steps, side))
            pen.parts += [f'<g transform="translate(0 {y:.1f})">{one}</g>' for one in part.parts]


def alike(step, steps, side):
    """What one side shows at each of the steps at which it is a picture of the same kind."""
    return [one for every in steps if type(one := getattr(every, side)) is type(getattr(step, side))]
