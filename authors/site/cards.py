"""The lessons as cards: of each a drawing from its own numbers, what it promises, and how far this browser has come.

A lesson of course.toml has its card by itself; its drawing is the function in `DRAWINGS` under its number, which draws
on 288 × 144 in colours of tokens.css, so that the same lines are light and dark.
"""

import html
import inspect
import math
import re
from functools import cache
from itertools import groupby

import nbformat
import torch
from torch import nn

from attn_lib import MultiHeadAttention, position_angles, scaled_dot_product_attention
from attn_lib.examples import TOKENS, W_k, W_q, X
from workbench.board.lessons import mask_board
from workbench.display.pen import element, soft
from workbench.display.show import marked, plain
from workbench.exercises.clinic import PATIENTS

from ..lessons import lessons
from ..pages.outputs import run_here

PARTS = {1: "Attention, made by you", 7: "What attention does"}  # the first lesson of each, and its name
NOWHERE = "No guess yet. What you do is kept in this browser only."
WIDTH, HEIGHT = 288, 144
ACROSS = 34  # an arc with all the weight
RING = (
    '<svg class="ring" viewBox="0 0 36 36" role="img" aria-label="not begun"><circle cx="18" cy="18" r="15"/>'
    '<circle class="part" cx="18" cy="18" r="15" pathLength="1" stroke-dasharray="0 1"/>'
    '<path d="M11 18.5l5 5 9-10"/></svg>'
)


class DrawingError(Exception):
    """Why a lesson has no drawing, in a sentence that names its function."""


def cards(pages):
    """What the first page has of the lessons: how far one is, the button that goes on, and a grid for each part."""
    begins = f'<a class="button go-on" href="notebooks/{pages[0].lesson.name}.html">Begin with lesson 1</a>'
    begin = f'<div class="how-far"><p role="status">{NOWHERE}</p>{begins}</div>'
    parts = groupby(pages, key=lambda page: max(first for first in PARTS if first <= page.lesson.number))
    grids = (f"<h3>{PARTS[first]}</h3><ol>{''.join(map(card, part))}</ol>" for first, part in parts)
    return f'<div class="cards">{begin}{"".join(grids)}</div>'


def strip(pages):
    """All lessons by name, in sight above the door's figure: on a phone one line, which goes on at its right."""
    links = "".join(
        f'<a href="notebooks/{page.lesson.name}.html"><span>{page.lesson.number}</span> {page.lesson.title}</a>'
        for page in pages
    )
    return f'<nav class="strip" aria-label="All lessons">{links}</nav>'


def still():
    """The door where no script may run: its drawing, and in words what the arcs say."""
    weights = 100 * torch.softmax((X @ W_q) @ (X @ W_k).T, dim=-1)[0]
    shares = ", ".join(
        f"{share:.0f} % to <i>{token}</i>" for token, share in zip(TOKENS, weights.tolist(), strict=True)
    )
    return (
        f'<noscript><div class="still">{picture(1)}<p>Three words. <i class="query">I</i> listens to all of them: '
        f"<b>the thicker the arc, the more.</b> It gives {shares}. Make one word more, and the others lose.</p>"
        "<p>Its numbers move where this page may run scripts, and in the notebooks.</p></div></noscript>"
    )


def card(page):
    """A link to a lesson: its drawing, name, promise and minutes, and a ring for its guesses."""
    lesson = page.lesson
    promise = lesson.promise[0].upper() + lesson.promise[1:]
    minutes = f"{lesson.minutes} minutes, {lesson.exercises} for {lesson.exercises_for}"
    return (
        f'<li><a href="notebooks/{lesson.name}.html" data-page="{lesson.name}" data-guesses="{page.guesses}">'
        f'{picture(lesson.number)}<div class="told"><h4><span>{lesson.number}</span> {marked(page.heading)}</h4>{RING}'
        f'<p>{marked(promise)}.</p><p class="minutes">{minutes}</p></div></a></li>'
    )


def opening(number):
    """The drawing over the question that a lesson's page begins with."""
    drawings = {**DRAWINGS, **OPENINGS}
    drawn = picture(number, drawings)
    description = inspect.getdoc(drawings[number]) if number in drawings else ""
    if description is None:
        raise DrawingError(f"Lesson {number}: {drawings[number].__name__}() of authors/site/cards.py has no docstring.")
    return drawn.replace('aria-hidden="true"', f'role="img" aria-label="{html.escape(plain(description))}"')


def picture(number, drawings=None):
    """A lesson's drawing; its number where it has none. Raises: DrawingError."""
    drawings = drawings or DRAWINGS
    draw = drawings.get(number, lambda: word(144, 96, str(number), 72, "var(--quiet)"))
    try:
        drawn = draw()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise DrawingError(
            f"Lesson {number}: {draw.__name__}() of authors/site/cards.py does not draw: {why}"
        ) from error
    return f'<svg class="picture" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{drawn}</svg>'


@cache  # a card and the picture that its lesson opens with ask for the same
def names_after(id, number):
    """The variables of a lesson's notebook after the cell with that id."""
    notebook = nbformat.read(lessons()[number - 1].path, as_version=4)
    place = [cell.id for cell in notebook.cells].index(id)
    names, notebook.cells = {}, notebook.cells[: place + 1]
    run_here(notebook, names)
    return names


# ------------------------------------------------------------------------------------------------------- strokes


def tag(name, text="", **attributes):
    """An element; `stroke_width` becomes stroke-width."""
    return element(name, {key.replace("_", "-"): value for key, value in attributes.items()}, text)


def _short(path):
    """A path whose numbers have one decimal."""
    return re.sub(r"(\.\d)\d+", r"\1", path)


def faint(colour, share):
    """So much of a colour, from 0 to 1, on the picture's ground."""
    return soft(colour, 100 * share)


def line(d, colour, width=3.0, **more):
    return tag("path", d=_short(d), fill="none", stroke=f"var(--{colour})", stroke_width=width, **more)


def dot(x, y, r, fill, **more):
    return tag("circle", cx=x, cy=y, r=r, fill=fill, **more)


def word(x, y, text, size=22, fill="var(--ink)"):
    kind = {"class": "fine"} if size < 34 else {}
    return tag("text", html.escape(text), x=x, y=y, font_size=size, fill=fill, **kind)


def cells(x, y, side, fills):
    """A matrix of squares, each with its fill; None leaves a place empty."""
    places = [(i, j, fill) for i, row in enumerate(fills) for j, fill in enumerate(row) if fill]
    at = {"width": side - 2, "height": side - 2, "rx": 2.5}
    return "".join(tag("rect", x=x + j * side, y=y + i * side, fill=fill, **at) for i, j, fill in places)


def arc(left, right, height, y, colour, width, **more):
    """From one place of a line to another; a height below 0 hangs under the line."""
    d = f"M{left} {y}C{left} {y - 1.33 * height} {right} {y - 1.33 * height} {right} {y}"
    return line(d, colour, round(width, 1), **more)


def shades(matrix, colour, most=0.9):
    """A fill for each number of a matrix, faint to full."""
    low, high = matrix.min(), matrix.max()
    return [[faint(colour, 0.1 + (most - 0.1) * float((x - low) / (high - low))) for x in row] for row in matrix]


# ------------------------------------------------------------------------------------------------------ drawings


def by_hand():
    """Whom *I* listens to: arcs as thick as the weights, side by side where they leave."""
    weights = torch.softmax((X @ W_q) @ (X @ W_k).T, dim=-1)[0].tolist()
    at, foot, arcs = {"I": 58, "like": 142, "tea": 226}, 40.0, []
    for token, end, height in (("I", 30, 18), ("tea", at["tea"], 68), ("like", at["like"], 36)):
        width = ACROSS * weights[TOKENS.index(token)]
        shown = {"opacity": 0.7} if token == "like" else {}
        arcs.append(arc(foot + width / 2, end, height, 88, "weights", width, **shown))
        foot += width
    words = (word(x, 122, token, 36, "var(--query)" if token == "I" else "var(--ink)") for token, x in at.items())
    return "".join([*arcs, *words])


def bank():
    """*Bank* as the lesson's table has it, half way between two words that may stand beside it."""
    rows = names_after("words", 1)
    river, coins, own = (rows[name].tolist() for name in ("river", "coins", "bank"))

    def at(row):
        return 66 + 62 * row[0], 124 - 46 * row[1]

    def towards(other):
        """An arrow to half of each, which it takes as both are as like it."""
        (a, b), (c, d) = at(own), at([(x + y) / 2 for x, y in zip(own, other, strict=True)])
        x, y = (c - a) / math.hypot(c - a, d - b), (d - b) / math.hypot(c - a, d - b)
        head = f"M{c - 8 * x + 6 * y} {d - 8 * y - 6 * x}L{c} {d}L{c - 8 * x - 6 * y} {d - 8 * y + 6 * x}"
        return f"M{a + 12 * x} {b + 12 * y}L{c} {d}{head}"

    axes = line("M66 14V124H230", "line", 2)
    pulls = line(towards(river) + towards(coins), "weights", 3.5, stroke_linecap="round")
    dots = "".join(
        dot(*at(row), 6, f"var(--{colour})") for row, colour in ((river, "input"), (coins, "input"), (own, "query"))
    )
    (rx, ry), (cx, cy), (bx, by) = at(river), at(coins), at(own)
    words = (
        word(rx, ry - 14, "river") + word(cx + 36, cy + 6, "coins") + word(bx + 34, by - 6, "bank", 26, "var(--query)")
    )
    return (
        axes
        + pulls
        + dots
        + words
        + word(262, 129, "water", 15, "var(--quiet)")
        + word(34, 24, "money", 15, "var(--quiet)")
    )


def scaled():
    """Dot products of 16 random numbers with 16 others, as they are and divided by √16."""
    torch.manual_seed(0)
    products = (torch.randn(20000, 16) * torch.randn(20000, 16)).sum(dim=1)
    across = torch.linspace(26, 262, 60).tolist()

    def outline(numbers):
        high = torch.histc(numbers, 60, -9, 9).tolist()
        return "M" + "L".join(f"{x} {124 - y / 25}" for x, y in zip(across, high, strict=True))

    wide, narrow = outline(products), outline(products / 4)
    return "".join(
        [
            tag("path", d=_short(narrow + "Z"), fill=faint("weights", 0.28)),
            line(narrow, "weights", 4, stroke_linejoin="round"),
            line(wide, "scores", 3, stroke_dasharray="2 6", stroke_linecap="round"),
            line("M20 125H268", "line", 2),
            line("M48 62H92M84 54l9 8-9 8M240 62H196M204 54l-9 8 9 8", "query", 3.5, stroke_linecap="round"),
        ]
    )


def masking():
    """The weights of the lesson's board with a causal mask, and the doors that it closes."""
    weights = mask_board().change(given="causal").results["weights"]
    fills = [
        [faint("quiet", 0.1) if j > i else faint("weights", 0.12 + 0.8 * float(weights[i, j])) for j in range(4)]
        for i in range(4)
    ]
    closed = "".join(f"M{92 + 30 * j} {35 + 30 * i}l10-10" for i in range(4) for j in range(i + 1, 4))
    return cells(83, 13, 30, fills) + line(closed, "quiet", 2, opacity=0.6, stroke_linecap="round")


def heads():
    """Two heads over six words: above them who stands before, below them who is the same word."""
    names = names_after("two-heads", 4)
    words, at = names["tokens"], [28 + 46 * k for k in range(6)]
    above, below = names["two_heads"]
    drawn = []
    for head, colour, y, most in ((above, "weights", 76, 58), (below, "query", 108, -26)):
        for i, j in (head > 0.1).nonzero().tolist():
            if i != j:
                drawn.append(arc(at[i], at[j], most * (0.1 + 0.18 * abs(i - j)), y, colour, 1 + 5 * float(head[i, j])))
    return "".join([*drawn, *(word(x, 98, text, 21) for x, text in zip(at, words, strict=True))])


def same():
    """Outputs of PyTorch's module, and of ours with its weights."""
    torch.manual_seed(0)
    theirs, ours = nn.MultiheadAttention(3, 1, batch_first=True), MultiHeadAttention(3, 1)
    with torch.no_grad():
        for projection, rows in zip(
            (ours.q_proj, ours.k_proj, ours.v_proj), theirs.in_proj_weight.chunk(3), strict=True
        ):
            projection.weight.copy_(rows)
            projection.bias.zero_()
        ours.out_proj.load_state_dict(theirs.out_proj.state_dict())
        x = torch.randn(1, 3, 3)
        left, right = (made[0][0] for made in (theirs(x, x, x), ours(x, x, x)))
    equal = line("M132 64H156M132 80H156", "ink", 5, stroke_linecap="round")
    return cells(26, 27, 30, shades(left, "output")) + equal + cells(172, 27, 30, shades(right, "output"))


def clinic():
    """What the first patient makes of weights, and under the glass the one that is furthest from the truth."""
    torch.manual_seed(0)
    q, k, unit = torch.randn(2, 4, 8), torch.randn(2, 5, 8), torch.eye(5).expand(2, 5, 5)
    weights = PATIENTS["6.3"].buggy(q, k, unit)[0]
    off = (weights - scaled_dot_product_attention(q, k, unit)[0][0]).abs()
    i, j = divmod(int(off.argmax()), 5)
    fills = shades(weights, "input", 0.5)
    fills[i][j] = "var(--wrong)"
    x, y = 74 + 28 * j + 13, 16 + 28 * i + 13
    glass = dot(x, y, 26, "none", stroke="var(--ink)", stroke_width=5)
    return cells(74, 16, 28, fills) + glass + line(f"M{x + 19} {y + 19}l26 24", "ink", 8, stroke_linecap="round")


def learning():
    """The loss along the first gradient; a careful step goes down, a bold one past the valley."""
    keys = (X @ W_k).double()
    x, w_q = X.double(), W_q.double()
    to_scores = torch.softmax(x[0] @ w_q @ keys.T, -1) - torch.tensor([0.0, 0.0, 1.0]).double()
    gradient = torch.outer(x[0], to_scores @ keys)

    def at(rate):
        loss = -torch.log_softmax(x[0] @ (w_q - rate * gradient) @ keys.T, -1)[2]
        return 34 + 205 * rate, 142 - 40 * float(loss)

    valley = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in (at(k / 40) for k in range(46)))
    balls = [
        dot(at(0)[0], at(0)[1] - 8, 6, faint("query", 0.45)),
        dot(at(0.1)[0], at(0.1)[1] - 10, 9, "var(--query)"),
        dot(
            at(1)[0] - 6, at(1)[1] - 8, 9, "var(--card)", stroke="var(--query)", stroke_width=3, stroke_dasharray="4 4"
        ),
    ]
    return line(valley, "quiet", 4, stroke_linecap="round", stroke_linejoin="round") + "".join(balls)


def dial(x, radius, number, *hands):
    """A clock's face over its number, with hands: an angle, a length and a colour each."""
    face = dot(x, 62, radius, "var(--card)", stroke="var(--line)", stroke_width=2.5)
    drawn = [
        line(f"M{x} 62l{r * math.sin(a):.1f} {-r * math.cos(a):.1f}", colour, 4.5, stroke_linecap="round")
        for a, r, colour in hands
    ]
    return "".join([face, *drawn, word(x, 118, str(number), 20, "var(--quiet)")])


def position():
    """The first two pairs of sinusoids at positions 0 to 3: a quick hand and a slow one."""
    angles = position_angles(4, 12)[:, :2].tolist()
    return "".join(
        dial(48 + 64 * k, 27, k, (quick, 23, "key"), (slow, 15, "query")) for k, (quick, slow) in enumerate(angles)
    )


def clock():
    """A clock's hand at positions 0 and 1, a quarter turn apart; the faces of positions 2, 3 and 4 are empty."""
    hands = [[(0, 19, "key")], [(math.pi / 2, 19, "key")], [], [], []]
    return "".join(dial(32 + 56 * k, 24, k, *hand) for k, hand in enumerate(hands))


def two_heads():
    """The share of new puzzles that was right at each step of the lesson's training; the ring is at step 60."""

    right = names_after("learned", 9)["right"]

    def at(step):
        return 28 + 2.3 * step, 118 - 92 * right[step]

    curve = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in map(at, range(101)))
    moment = dot(*at(60), 7, "var(--card)", stroke="var(--output)", stroke_width=4)
    return line("M26 18V122H264", "line", 2.5) + line(curve, "output", 4.5, stroke_linejoin="round") + moment


def memory():
    """The keys that are kept when each word arrives, and its own."""
    return cells(86, 14, 20, [[faint("key", 0.24)] * i + ["var(--key)"] for i in range(6)])


def story():
    """A sentence and its next word: *were* belongs to *keys*, and not to the cat."""
    at = {"keys": 38, "near": 98, "the": 143, "cat": 180, "were": 246}
    looks = {"keys": (34, "var(--ink)"), "were": (34, "var(--output)")}
    words = (word(x, 104, text, *looks.get(text, (22, "var(--quiet)"))) for text, x in at.items())
    return arc(at["keys"], at["were"], 56, 78, "weights", 9) + "".join(words)


def two_verbs():
    """A sentence that goes on in one of two ways: *keys near the cat*, then *was* or *were*."""
    ways = "".join(
        line(f"M206 72L220 {y}", "line", 3, stroke_linecap="round") + word(252, y + 7, verb, 26, "var(--output)")
        for y, verb in ((44, "was"), (100, "were"))
    )
    return word(106, 79, "keys near the cat", 24) + ways


def tiles():
    """The tiles of a causal mask that are read one after the other, up to the one that is read now."""
    fills = [[faint("scores", 0.1)] * 6 for _ in range(6)]
    for i in range(6):
        for j in range(i + 1):
            fills[i][j] = faint("weights", 0.3) if (i, j) < (4, 2) else faint("scores", 0.28)
    fills[4][2] = "var(--weights)"
    way = line("M91 105H134M128 99l7 6-7 6", "query", 3, stroke_linecap="round", stroke_linejoin="round")
    return cells(84, 12, 20, fills) + way


def speaking():
    """Three models that speak, each with one wrong line: in the numbers, in the pass over the prompt, in the cache."""
    texts = (("neighbors B B B B B B", "scores"), ("What is the capital", "query"), ("itl'Italy is itl'", "weights"))
    drawn = []
    for i, (text, colour) in enumerate(texts):
        x, y, wide = 18 + 26 * i, 8 + 44 * i, 60 + 8.2 * len(text)
        at = {"x": x, "y": y, "width": wide, "height": 34, "rx": 10}
        drawn.append(tag("rect", fill=faint(colour, 0.16), stroke=f"var(--{colour})", stroke_width=2, **at))
        drawn.append(word(x + wide / 2, y + 23, text, 18))
    return "".join(drawn)


def without_a_row():
    """Three pairs as lines that cross in one point, and the way of a state that is written by the delta rule."""

    def at(x, y):
        return 68 + 19 * x, 128 - 14.5 * y

    def stroke(points, colour, width, **more):
        return line(
            "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (at(*point) for point in points)), colour, width, **more
        )

    pairs = [[(3, 0), (3, 8)], [(0, 4), (8.5, 4)], [(0, 6.25), (25 / 3, 0)]]
    drawn = [stroke(pair, "key", 3) for pair in pairs] + [stroke([(0, 8), (0, 0), (9, 0)], "line", 2.5)]
    way = stroke([(0, 0), (3, 0), (3, 4)], "weights", 4.5, stroke_linejoin="round")
    return "".join([*drawn, way, dot(*at(3, 4), 8, "var(--weights)", stroke="var(--card)", stroke_width=2.5)])


DRAWINGS = {
    1: by_hand,
    2: scaled,
    3: masking,
    4: heads,
    5: same,
    6: clinic,
    7: learning,
    8: position,
    9: two_heads,
    10: memory,
    11: story,
    12: tiles,
    13: speaking,
    14: without_a_row,
}
OPENINGS = {1: bank, 8: clock, 11: two_verbs}  # what a page begins with where that is not its card's drawing
