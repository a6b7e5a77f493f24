"""Draws every file of img/: `python -m authors.diagrams`. Numbers in a picture come from running attn_lib.

One unit is one pixel of a picture 1000 pixels wide, y pointing down. Tinted boxes hold data, white ones parameters;
colours are named as in workbench/display/tokens.css, and a label always stands beside one. Each picture has an upright
form for phones: the same words, numbers and arrows, in the other of the two places that stand beside each.

A picture is a card of its own, with both sets of colours: as <img> it is light or dark as the `color-scheme` around it
says, or the system where nothing says it. So none lies in another black, and no page turns colours round.
"""

import html
import math
import re
import sys
from pathlib import Path as FilePath

import torch

from attn_lib.examples import TOKENS, W_k, W_q, W_v, X, self_attention_steps
from attn_lib.functional import split_heads
from attn_lib.masks import causal_mask, padding_mask
from workbench.display.colours import FULLEST, both_sets, face
from workbench.display.pen import element

IMG = FilePath(__file__).resolve().parents[1] / "img"
WIDTH, UPRIGHT = 1000, 500  # of a picture, and of its form for a phone, where letters of the same size are larger
MARGINS = 14, 8  # around what is drawn
SMALL, NORMAL, LARGE = 19, 20, 22  # heights of text in pixels
LINE, BEND, HEAD = 1.75, 8, (11, 5)  # an arrow: its width, the radius of its bends, length and half width of its head
CORNER, CELL, GAP = 10, 4, 2  # radii of boxes and cells, and what is between two cells
DATA = 0.14  # how much of its colour a box of data is filled with


def alt_text(name):
    """The sentence that says what is seen in the picture img/name.svg.

    Raises: KeyError for a name that is not in DIAGRAMS.
    """
    return " ".join(DIAGRAMS[name].__doc__.split("\n\n")[0].split())


def drawn(name, upright=False):
    """The diagram of that name, or its upright form, as a Page.

    Raises: KeyError for a name that is not in DIAGRAMS.
    """
    return DIAGRAMS[name](upright)


def main():
    """Write every diagram into img/, and its upright form into img/upright/."""
    for folder, upright in ((IMG, False), (IMG / "upright", True)):
        folder.mkdir(exist_ok=True)
        for name in DIAGRAMS:
            text = drawn(name, upright).svg(alt_text(name))
            (folder / f"{name}.svg").write_text(text, encoding="utf-8", newline="\n")


# -------------------------------------------------------------------------------------------------------- diagrams


BY_HAND = ("inputs", "parameters", "queries", "keys", "values", "scores", "weights", "outputs")  # as they are earned


def by_hand_map(upright=False):
    """The boxes of the example, still empty: inputs, parameters, queries, keys and values, scores, weights, outputs.

    The row of the first token is outlined from its input to its output.
    """
    return _by_hand(upright, filled=0)


def by_hand_scores(upright=False):
    """The same boxes, filled up to the scores; weights and outputs are still empty."""
    return _by_hand(upright, filled=BY_HAND.index("scores") + 1)


def by_hand_flow(upright=False):
    """Every box is filled: three tokens of four numbers have become queries, keys, values, scores, weights and outputs.

    The row of the first token is outlined from its input to its output.
    """
    return _by_hand(upright, filled=len(BY_HAND))


def _by_hand(upright, filled):
    """The example as a map, with numbers in the first so many of its boxes."""
    steps = self_attention_steps(X, W_q, W_k, W_v, scale=1)
    page = Page(upright, 620, 970)
    at = page.at

    def matrix(box, place, values, colour, **look):
        empty = box not in BY_HAND[:filled]
        if empty:  # nor how it will be filled
            look |= {"note": "", "fill": 0 if look.get("fill") == "value" else look.get("fill", DATA)}
        page.matrix(*place, values, colour, empty=empty, **look)

    middle = at({"query": 130, "key": 330, "value": 530}, {"query": 98, "key": 266, "value": 434})
    inputs = {"rows": TOKENS, "title": "inputs X", "note": "3 tokens", "followed": 0}
    matrix("inputs", at((56, 264), (194, 60)), X, "input", **inputs)
    products = {"query": (W_q, steps.queries), "key": (W_k, steps.keys), "value": (W_v, steps.values)}
    page.line(at([(204, 330), (226, 330)], [(266, 163), (266, 174)]))
    for kind, (parameters, product) in products.items():
        m, letter = middle[kind], kind[0]
        page.arrow(at([(226, 330), (226, m), (258, m)], [(266, 174), (m, 174), (m, 194)]))
        place = at((262, m - 66), (m - 54, 228))
        matrix("parameters", place, parameters, kind, title=f"W_{letter}", fill=0)
        page.arrow(at([(376, m), (402, m)], [(m, 364), (m, 388)]))
        names = {"query": "queries", "key": "keys", "value": "values"}
        look = {"rows": TOKENS, "title": f"{names[kind]} {letter.upper()}", "note": f"X @ W_{letter}"}
        look["followed"] = 0 if kind == "query" else None
        matrix(names[kind], at((452, m - 50), (m - 54, 444)), product, kind, **look)

    page.arrow(at([(564, 130), (580, 130), (580, 222), (596, 222)], [(98, 547), (98, 562), (115, 562), (115, 578)]))
    page.arrow(at([(564, 330), (580, 330), (580, 238), (596, 238)], [(266, 547), (266, 562), (131, 562), (131, 578)]))
    look = {"rows": TOKENS, "columns": TOKENS, "title": "scores", "note": "Q @ Kᵀ", "followed": 0}
    matrix("scores", at((642, 180), (60, 660)), steps.scores, "scores", fill=0, width=42, **look)
    page.arrow(at([(772, 230), (802, 230)], [(192, 709), (294, 709)]))
    look = {"columns": TOKENS, "title": "weights", "note": "softmax of each row", "followed": 0}
    place = at((808, 180), (300, 660))
    matrix("weights", place, steps.weights, "weights", fill="value", width=54, **look)
    page.arrow(at([(889, 284), (889, 420)], [(381, 764), (381, 794)]))
    page.arrow(at([(564, 530), (756, 530)], [(434, 547), (434, 562), (488, 562), (488, 900), (468, 900)]))
    look = {"rows": TOKENS, "title": "outputs", "note": "weights @ V", "followed": 0}
    matrix("outputs", at((808, 480), (300, 850)), steps.outputs, "output", width=54, **look)

    x, y = at((24, 508), (24, 888))
    page.frame(x, y, 36, 24)
    page.text(x + 48, y + 12, f"token {TOKENS[0]}, from", ha="left")
    page.text(x + 48, y + 34, "input to output", ha="left")
    return page


def one_query(upright=False):
    """One query is compared with every key; softmax turns the scores into weights; the weighted values are added up."""
    steps = self_attention_steps(X, W_q, W_k, W_v, scale=1)
    page = Page(upright, 420, 862)
    at = page.at
    places = at((84, 154, 224), (88, 250, 412))  # of the keys: rows, or columns of the upright form

    def heading(x, y, words, note, colour):
        """Above the first row, or between the columns."""
        if upright:
            page.lines(169, y, words, colour=colour, bold=True)
            page.lines(331, y, note)
        else:
            page.heading(x, places[0], words.replace("\n", " "), note.replace("\n", " "), colour)

    def cells(j, x, y, values, colour, width, **look):
        """Of key j: in its row at x, or in its column at y."""
        left, top = at((x, places[j]), (places[j] - values.size(1) * width / 2, y))
        page.cells(left, top, values, colour, width=width, height=44, **look)

    left, top = at((32, 154), (196, 54))
    page.heading(left + 54, top, "query", "one row of Q", "query")
    page.cells(left, top, steps.queries[:1], "query", height=44)
    page.text(*at((86, 216), (150, 76)), f"token {TOKENS[0]}")
    heading(302, 144, "keys", "every row\nof K", "key")
    heading(440, 242, "scores", "query · key", "scores")
    heading(596, 402, "weights", "sum to 1", "weights")
    heading(724, 496, "values", "every row\nof V", "value")
    heading(889, 596, "weighted\nvalues", "weight\n× value", "output")
    for j, place in enumerate(places):
        y = place + 22
        page.text(*at((240, y), (place - 61, 194)), TOKENS[j], ha="right")
        cells(j, 248, 172, steps.keys[j : j + 1], "key", 36)
        page.arrow(
            at([(144, 176), (170, 176), (170, y), (198, y)], [(250, 102), (250, 118), (place, 118), (place, 168)])
        )
        cells(j, 418, 266, steps.scores[:1, j : j + 1], "scores", 44, fill=0)
        page.arrow(at([(360, y), (414, y)], [(place, 220), (place, 264)]))
    page.box(*at((494, 84, 46, 184), (42, 334, 416, 42)), "ink", "softmax", fill=0, rotation=at(90, 0))
    for j, place in enumerate(places):
        y = place + 22
        page.arrow(at([(466, y), (492, y)], [(place, 312), (place, 332)]))
        cells(j, 568, 426, steps.weights[:1, j : j + 1], "weights", 56, fill="value")
        page.arrow(at([(542, y), (564, y)], [(place, 378), (place, 424)]))
        page.text(*at((647, y), (place, 496)), "×", size=LARGE)
        cells(j, 670, 520, steps.values[j : j + 1], "value", 36)
        page.text(*at((794, y), (place, 596)), "=", size=LARGE)
        cells(j, 811, 628, steps.weighted_values[0, j : j + 1], "output", at(52, 48))
    for between in at(((889, 141), (889, 211)), ((169, 650), (331, 650))):
        page.text(*between, "+", size=at(LARGE, SMALL))
    if upright:
        page.line([(88, 676), (88, 692), (412, 692), (412, 676)])
    page.arrow(at([(889, 272), (889, 338)], [(250, 676), (250, 740)]))
    page.text(*at((904, 304), (264, 716)), "sum", ha="left")
    left, top = at((811, 344), (172, 744))
    page.text(left - 15, top + at(10, 22), "output", size=NORMAL, colour="output", bold=True, ha="right")
    words = "an average of the values, weighted by how\nwell the query matches each key"
    if upright:
        page.lines(250, 824, words)
    else:
        page.text(796, 378, words.replace("\n", " "), ha="right")
    page.cells(left, top, steps.outputs[:1], "output", height=44, width=52)
    return page


def scaled_dot_product(upright=False):
    """Queries and keys are multiplied, scaled, masked if wanted, put through softmax; the weights multiply the values.

    The shape stands beside each arrow.
    """
    page = Page(upright, 606, 872)
    at = page.at
    left, width, height = at((250, 200, 48), (120, 320, 92))
    middle, step = left + width / 2, at(86, 138)
    steps = {
        "MatMul": ("scores = Q @ Kᵀ", "each query with each key"),
        "Scale": ("scores / √d_k", "keeps softmax from saturating"),
        "Mask (optional)": ("−∞ where the mask is False", "before softmax, never after"),
        "Softmax": ("weights = softmax(scores)", "over the keys: rows sum to 1"),
        "MatMul ": ("output = weights @ V", "an average of the values"),
    }
    inputs = (
        ("query", at(220, 120), at(280, 176), "n_q, d_k", at("right", "right")),
        ("key", at(360, 248), at(420, 304), "n_k, d_k", at("left", "right")),
        ("value", at(560, 376), at(620, 468), "n_k, d_v", at("left", "right")),
    )
    for kind, x, down, shape, side in inputs:
        page.box(x, 8, at(120, 112), 48, kind, f"{kind} {kind[0].upper()}")
        page.lines(
            down + (-10 if side == "right" else 10),
            88,
            f"(…, {shape})".replace(" d", at(" d", "\nd")),
            ha=side,
            mono=True,
        )
    page.box(*at((40, 292, 110), (8, 418, 76)), 48, "input", "mask", dashed=True)
    last = 120 + 4 * step + height / 2
    page.arrow([(inputs[0][2], 56), (inputs[0][2], 118)], "query")
    page.arrow([(inputs[1][2], 56), (inputs[1][2], 118)], "key")
    page.arrow([(inputs[2][2], 56), (inputs[2][2], last), (left + width + 2, last)], "value")
    for i, (name, (formula, says)) in enumerate(steps.items()):
        top = 120 + i * step
        colour = "weights" if name == "Softmax" else "ink"
        page.box(left, top, width, height, colour, "", fill=0, dashed="optional" in name)
        page.text(middle, top + at(24, 18), name.strip(), size=NORMAL, colour=colour, bold=True)
        page.text(*at((670, top + 12), (middle, top + 46)), formula, ha=at("left", "center"), mono=True, bold=True)
        page.text(*at((670, top + 36), (middle, top + 72)), says, ha=at("left", "center"))
        colour = {"Softmax": "weights", "MatMul ": "output"}.get(name, "quiet")
        page.arrow([(middle, top + height), (middle, top + step - 2)], colour)
        shape = "(…, n_q, d_v)" if name == "MatMul " else "(…, n_q, n_k)"
        page.text(middle + 12, top + height + at(18, 22), shape, ha="left", mono=True)
    page.box(left, 120 + 5 * step, width, 48, "output", "output")
    x, y = at((40, 292), (8, 418))
    page.arrow([(x + at(110, 76), y + 24), (left - 2, y + 24)], "input")
    page.lines(x, y + at(68, 82), at("(…, n_q, n_k)", "(…, n_q,\nn_k)"), ha="left", mono=True)
    page.lines(x, y + at(92, 130), at("True = may attend", "True =\nmay attend"), ha="left")
    return page


def masks(upright=False):
    """A padding mask and a causal mask, what is left when both apply, and a causal mask for fewer queries than keys.

    A blocked cell is crossed out, an allowed one is filled and dotted.
    """
    page = Page(upright, 590, 950)
    at = page.at
    padding = padding_mask([3], 5).expand(1, 5, 5)[0]
    causal = causal_mask(5)
    page.mask(*at((70, 112), (56, 112)), padding, "padding mask", "padding_mask([3], 5)")
    page.text(*at((318, 212), (242, 197)), "&", size=34, bold=True)
    page.mask(*at((400, 112), (318, 112)), causal, "causal mask", "causal_mask(5)")
    page.text(*at((648, 212), (100, 497)), "=", size=34, bold=True)
    page.mask(*at((730, 112), (200, 412)), padding & causal, "both", "padding & causal")
    newest = torch.ones(2, 5, dtype=torch.bool).tril()
    for place, mask, title, code, says in (
        (at((70, 458), (56, 736)), causal_mask(2, 5), "causal mask,\n2 queries", "causal_mask(2, 5)",
         "bottom right: the last\nsees every key"),
        (at((480, 458), (318, 736)), newest, "PyTorch's,\n2 queries", "is_causal=True",
         "top left: the newest\nsee the oldest keys"),
    ):  # fmt: skip
        page.mask(*place, mask, page.broken(title), code)
        page.lines(place[0] - at(0, 48), place[1] + at(106, 106), page.broken(says), ha="left")
    for place, allowed, says in (
        (at((740, 430), (40, 890)), True, "may attend (True)"),
        (at((740, 480), (286, 890)), False, "blocked (False)"),
    ):
        page.mask_cell(*place, allowed)
        page.text(place[0] + 50, place[1] + 20, says, ha="left")
    return page


def multi_head(upright=False):
    """Query, key and value are projected and cut into heads; the heads attend in parallel, are joined and projected.

    Shapes stand in and beside the boxes; each head takes one slice of each projection.
    """
    page = Page(upright, 620, 902)
    at = page.at
    centres, heads, width = at((180, 500, 820), (86, 250, 414)), range(3), at(294, 153)
    slice_width, centre = width / 3, at(500, 250)
    tops = at(
        {"input": 6, "linear": 86, "shape": 148, "slice": 182, "head": 278, "merged": 412, "last": 482, "output": 554},
        {"input": 8, "linear": 122, "shape": 196, "slice": 270, "head": 398, "merged": 572, "last": 710, "output": 784},
    )
    for kind, x in zip(("query", "key", "value"), centres, strict=True):
        colour, letter, n = kind, kind[0], "n_q" if kind == "query" else "n_k"
        left, height = x - width / 2, at(56, 88)
        page.box(left, tops["input"], width, height, colour, kind, page.broken(f"(batch, {n},\nembed_dim)"))
        page.arrow([(x, tops["input"] + height), (x, tops["linear"] - 2)], colour)
        page.box(left, tops["linear"], width, 38, colour, f"Linear W_{letter}", fill=0)
        page.arrow([(x, tops["linear"] + 38), (x, tops["shape"] - 2)], colour)
        shape = page.broken(f"(…, heads,\n{n},\nhead_dim)")
        page.cell(left, tops["shape"], width, at(34, 74), shape, colour, 0, mono=True)
        for head in heads:
            place = left + slice_width * head, tops["slice"], slice_width, at(34, 54)
            page.cell(*place, page.broken(f"head\n{head}"), colour, DATA)
    for head, x in zip(heads, centres, strict=True):
        top = tops["head"]
        for kind, source, port in zip(("query", "key", "value"), centres, (-1, 0, 1), strict=True):
            colour, end = kind, x + port * slice_width
            page.curve((source + slice_width * (head - 1), tops["slice"] + at(34, 54)), (end, top - 2), colour)
            page.text(end, top + 14, kind[0].upper(), size=NORMAL, colour=colour, bold=True)
        page.box(x - width / 2, top, width, at(84, 112), "weights", "")
        page.text(x, top + at(38, 42), f"head {head}", size=NORMAL, colour="weights", bold=True)
        page.lines(x, top + at(64, 80), page.broken("softmax(Q Kᵀ /\n√head_dim) V"))
        merged = centre - 147 + 98 * head, tops["merged"]
        page.curve((x, top + at(84, 112)), (merged[0] + 49, tops["merged"] - 2), "output")
        page.cell(*merged, 98, 38, f"head {head}", "output", DATA)
    x, y = at((338, 431), (236, 656))
    page.lines(
        x,
        y,
        at(
            "merge_heads: side by side,\nthe order of the heads kept",
            "merge_heads:\nside by side, the order\nof the heads kept",
        ),
        ha="right",
    )
    page.lines(at(662, 264), y, page.broken("(batch, n_q,\nembed_dim)"), ha="left", mono=True)
    left = centre - 147
    page.arrow([(centre, tops["merged"] + 38), (centre, tops["last"] - 2)], "output")
    page.box(left, tops["last"], 294, 42, "output", "Linear W_o", fill=0)
    page.arrow([(centre, tops["last"] + 42), (centre, tops["output"] - 2)], "output")
    page.box(left, tops["output"], 294, 58, "output", "output", "(batch, n_q, embed_dim)")
    page.lines(
        *at((662, 583), (250, 870)),
        "embed_dim = heads · head_dim:\nmore heads, thinner slices",
        ha=at("left", "center"),
    )
    return page


def split_merge(upright=False):
    """Split into heads by view and transpose, every token gives each head its slice; by view alone, tokens are mixed.

    Entry 12 is feature 2 of token 1. Features of head 0 are dark, those of head 1 light, wherever they go.
    """
    tokens, features, heads = 3, 4, 2
    head_dim = features // heads
    x = 10 * torch.arange(tokens)[:, None] + torch.arange(features)  # 12: token 1, feature 2
    x = x[None]  # (1, tokens, features)
    right, alone = (1, tokens, heads, head_dim), (1, heads, tokens, head_dim)
    page = Page(upright, 622, 1352)
    at = page.at

    def numbers(left, top, matrix):
        for i, row in enumerate(matrix.tolist()):
            for j, number in enumerate(row):
                dark = number % 10 < head_dim  # a feature of head 0
                place = left + 42 * j, top + 42 * i, 42, 42
                page.cell(*place, f"{number:02d}", "query", 1 if dark else 0.18)

    def tokens_by_features(left, top):
        page.heading(left + 84, top, "x", f"{tuple(x.shape)}", "query")
        numbers(left, top, x[0])
        for token in range(tokens):
            page.text(left - 8, top + 42 * token + 21, f"token {token}", ha="right")

    def in_heads(left, top, blocks):
        for head, block in enumerate(blocks):
            page.heading(left + 98 * head + 42, top, f"head {head}", "", "query")
            numbers(left + 98 * head, top, block)

    def in_slices(left, top, tokens_in_slices):
        """A row of its own for each token, in which each head has its slice."""
        page.heading(left + 87, top, "token by token", "", "query")
        for token, slices in enumerate(tokens_in_slices):
            page.text(left - 8, top + 54 * token + 21, f"token {token}", ha="right")
            for head, part in enumerate(slices):
                numbers(left + 90 * head, top + 54 * token, part[None])

    def held_in_words(blocks):
        """Which features of which tokens head 0 holds, in words."""
        tokens_of = {}  # tokens of which head 0 holds the same features, together
        for token in range(tokens):
            of_token = [number % 10 for number in blocks[0, 0].flatten().tolist() if number // 10 == token]
            tokens_of.setdefault(", ".join(map(str, of_token)), []).append(str(token))
        parts = [
            f"{features} of token{'s' * (len(whose) > 1)} {', '.join(whose)}"
            for features, whose in tokens_of.items()
            if features
        ]
        return page.broken("head 0 holds features\n" + " and ".join(parts))

    page.text(*at((24, 22), (16, 30)), "right: view, then transpose", size=LARGE, bold=True, ha="left")
    tokens_by_features(*at((84, 106), (166, 116)))
    page.arrow(at([(260, 169), (396, 169)], [(250, 246), (250, 308)]))
    page.lines(*at((329, 138), (264, 276)), f".view\n{right}", mono=True, ha=at("center", "left"))
    in_slices(*at((486, 94), (163, 346)), x.view(right)[0])
    page.arrow(at([(668, 169), (780, 169)], [(250, 500), (250, 558)]))
    page.lines(*at((721, 138), (264, 528)), ".transpose\n(1, 2)", mono=True, ha=at("center", "left"))
    blocks = split_heads(x, heads)
    in_heads(*at((788, 106), (159, 596)), blocks[0])
    back = at([(879, 236), (879, 284), (168, 284), (168, 236)], [(155, 659), (48, 659), (48, 179), (80, 179)])
    page.arrow(back, undoes=True)
    page.lines(*at((524, 266), (60, 536)), page.broken("and back:\nmerge_heads"), ha=at("center", "left"))  # asked: how
    page.lines(*at((974, 308), (250, 758)), held_in_words(blocks), ha=at("right", "center"))

    page.text(*at((24, 368), (16, 820)), "wrong: view alone", size=LARGE, bold=True, ha="left")
    tokens_by_features(*at((84, 452), (166, 904)))
    page.arrow(at([(260, 515), (780, 515)], [(250, 1034), (250, 1124)]))
    page.text(*at((520, 496), (264, 1054)), f".view{alone}", mono=True, ha=at("center", "left"))
    page.lines(
        *at((520, 536), (264, 1090)), page.broken("reads the numbers\nin the order of memory"), ha=at("center", "left")
    )
    blocks = x.view(alone)
    in_heads(*at((788, 452), (159, 1164)), blocks[0])
    page.lines(*at((974, 604), (250, 1326)), held_in_words(blocks), ha=at("right", "center"))
    return page


def way_back(upright=False):
    """Attention from query, key and value to the output, and its gradients, which go the same way back.

    Beside each arrow stands what is done on it.
    """
    page = Page(upright, 500, 966)
    at = page.at
    there = {"ends": 34, "scores": 162, "weights": 290, "output": 418}
    back = at(there, {"ends": 908, "scores": 760, "weights": 632, "output": 504})
    there = at(there, {name: top - 26 for name, top in there.items()})
    for left, tops, gradient in ((at(30, 55), there, False), (at(560, 55), back, True)):
        of = "gradient of " if gradient else ""
        boxes = [(left + 135 * i, "ends", 120, kind, kind) for i, kind in enumerate(("query", "key", "value"))]
        boxes += [(left, "scores", 255, "scores", f"{of}scores"), (left, "weights", 255, "weights", f"{of}weights")]
        boxes += [(left, "output", 390, "output", f"{of}output")]
        for x, row, width, colour, words in reversed(boxes) if gradient else boxes:  # as they are computed
            page.box(x, tops[row], width, 48, colour, words, fill=0 if row == "scores" else DATA)
        for x, near, far, kind in (
            (60, "ends", "scores", "query"),
            (195, "ends", "scores", "key"),
            (127, "scores", "weights", None),
            (127, "weights", "output", None),
            (330, "ends", "output", "value"),
        ):
            start, end = (far, near) if gradient else (near, far)
            down = tops[end] > tops[start]
            tip = tops[end] - (28 if upright and end == "ends" else 2) if down else tops[end] + 50
            colour = kind or "quiet"
            page.arrow([(left + x, tops[start] + (48 if down else 0)), (left + x, tip)], colour)

    def on(tops, near, far):
        """The middle of the way between two boxes."""
        return (tops[near] + tops[far]) / 2 + 24

    page.text(*at((560, 16), (55, 894)), "gradients of", ha="left", bold=True)
    x = at(30, 55)
    page.text(x + 127, on(there, "ends", "scores"), "Q @ Kᵀ", mono=True)
    page.lines(x + 140, on(there, "scores", "weights"), "· scale,\nsoftmax", ha="left", mono=True)
    page.text(x + 140, on(there, "weights", "output"), "@ V", ha="left", mono=True)
    x = at(560, 55)
    ends = on(back, "ends", "scores") - at(0, 14)
    page.text(x + 72, ends, "(·) @ K", ha="left", mono=True)
    page.text(x + 207, ends, "(·)ᵀ @ Q", ha="left", mono=True)
    y = on(back, "scores", "weights")
    page.text(x + at(115, 134), y - at(0, 12), "softmax_backward", ha=at("right", "left"), mono=True)
    page.text(x + at(140, 134), y + at(0, 12), "· scale", ha="left", mono=True)
    page.text(x + 115, on(back, "weights", "output"), "(·) @ Vᵀ", ha="right", mono=True)
    page.text(x + 320, on(back, "weights", "output"), "weightsᵀ @ (·)", ha="right", mono=True)
    page.arrow(at([(420, 442), (558, 442)], [(250, 440), (250, 502)]))
    page.text(*at((489, 424), (284, 470)), "loss")
    return page


def block(upright=False):
    """A straight road from x through two plus signs; a branch through norm and attention joins it, then norm and MLP.

    Whatever the parts say is added to what was there.
    """
    page = Page(upright, 300, 700)
    at = page.at
    page.box(*at((30, 66), (50, 34)), at(80, 100), 52, "input", "x")
    leaves = at([(70, 118), (70, 212)], [(150, 60), (345, 60)])  # where a branch begins, and where it turns
    road = at((110, 92), (100, 86))
    parts = (("attention", "weights", "tokens attend\nto each other"), ("MLP", "value", "each token\nalone"))
    for i, (words, colour, note) in enumerate(parts):
        x, y = at((135 + 360 * i, 186), (250, 110 + 260 * i))
        page.box(x, y, at(90, 190), 52, "ink", "norm", fill=0)
        page.arrow([*leaves, at((x - 2, 212), (345, y - 2))])
        left, top = at((x + 110, 186), (250, y + 82))
        page.box(left, top, at(130, 190), 52, colour, words)
        page.arrow(at([(x + 90, 212), (left - 2, 212)], [(345, y + 52), (345, top - 2)]))
        page.lines(*at((left + 65, 264), (230, top + 26)), page.broken(note), ha=at("center", "right"), colour="quiet")
        x, y = at((x + 270, 66), (74, top + 90))
        page.box(x, y, 52, 52, "ink", "+", fill=0)
        page.arrow(
            at([(left + 130, 212), (x + 26, 212), (x + 26, 120)], [(345, top + 52), (345, y + 26), (128, y + 26)]),
            colour,
        )
        page.arrow([road, at((x - 2, 92), (100, y - 2))], "input")
        road = at((x + 52, 92), (100, y + 52))
        leaves = at([(x + 52, 106), (x + 70, 106), (x + 70, 212)], [(126, y + 40), (345, y + 40)])
    page.box(*at((870, 66), (50, 616)), 100, 52, "output", "out")
    page.arrow([road, at((868, 92), (100, 614))], "input")
    page.text(*at((257, 70), (112, 106)), "the residual", ha=at("center", "left"), colour="input")
    return page


def tiles(upright=False):
    """Eight rows of tiles: left of the diagonal they are computed, on it computed and masked; the others are skipped.

    One row of tiles is followed: its m, ℓ and o, and in the end their quotient.
    """
    page = Page(upright, 450, 758)
    at = page.at
    left, top, size = at((110, 96), (92, 92)), at(40, 44), 8
    (x0, y0), cell = left, top
    page.text(x0 + size * cell / 2, y0 - 62, "keys, in blocks", size=NORMAL, colour="key", bold=True)
    page.text(x0 - 58, y0 + size * cell / 2, "queries, in blocks", size=NORMAL, colour="query", bold=True, rotation=90)
    for k in range(size):
        page.text(x0 + (k + 0.5) * cell, y0 - 18, str(k))
        page.text(x0 - 20, y0 + (k + 0.5) * cell, str(k))
    for i in range(size):
        for j in range(size):
            _tile(page, x0 + j * cell, y0 + i * cell, cell, j - i)
    followed = 5
    page.frame(x0, y0 + followed * cell, (followed + 1) * cell, cell)
    y = y0 + (followed + 0.5) * cell
    state, quotient = at((530, y - 26, 150), (60, 510, 150)), at((780, y - 26, 120), (310, 510, 120))
    page.box(*state[:2], state[2], 52, "weights", "m, ℓ, o")
    page.box(*quotient[:2], quotient[2], 52, "output", "o / ℓ")
    end = x0 + (followed + 1) * cell + 2
    page.arrow(at([(end, y), (state[0] - 2, y)], [(end, y), (470, y), (470, 480), (135, 480), (135, 508)]), "weights")
    middle = state[1] + 26
    page.arrow([(state[0] + state[2], middle), (quotient[0] - 2, middle)], "output")
    page.lines(state[0] + state[2] / 2, state[1] + 80, "kept from tile\nto tile", colour="quiet")
    page.lines(quotient[0] + quotient[2] / 2, quotient[1] + 80, "divided once,\nat the end", colour="quiet")
    for k, (offset, says) in enumerate(((-1, "computed"), (0, "computed, then masked"), (1, "skipped"))):
        x, y = at((560, 92 + 46 * k), (60, 632 + 40 * k))
        _tile(page, x, y, 34, offset)
        page.text(x + 50, y + 17, says, ha="left")
    return page


def _tile(page, x, y, size, offset):
    """A tile before the diagonal, on it (0) or behind it: filled, half filled, or empty with a dashed edge."""
    inside = x + GAP / 2, y + GAP / 2, size - GAP, size - GAP
    fill = DATA if offset > 0 else FULLEST * 0.75
    if offset > 0:
        page.parts.append(page.rectangle(*inside, "quiet", 0, radius=CELL, edge=1, dashed=True, strength=0.6))
    else:
        page.parts.append(page.rectangle(*inside, "scores", fill if offset else 0, radius=CELL, edge=1.5))
    if not offset:
        corners = f"M{inside[0]} {inside[1]}V{inside[1] + inside[3]}H{inside[0] + inside[2]}Z"
        page.parts.append(element("path", {"d": corners, "fill": "var(--scores)", "fill-opacity": round(fill, 3)}))
    page.boxes.append((x, y, x + size, y + size))


def positions(upright=False):
    """Where each scheme comes in: table and sinusoids at the inputs, RoPE at queries and keys, ALiBi at the scores.

    The way of the values passes by RoPE and ALiBi untouched.
    """
    page = Page(upright, 400, 716)
    at = page.at
    page.box(*at((24, 24), (155, 8)), 190, 60, "ink", "table, sinusoids", "added", fill=0, dashed=True)
    page.arrow(at([(119, 84), (119, 164)], [(250, 68), (250, 104)]))
    page.box(*at((6, 166), (146, 106)), 208, 60, "input", "inputs", "a row for each token")
    page.line(at([(214, 196), (232, 196)], [(250, 166), (250, 178)]))
    middle = {"query": at(76, 20), "key": at(166, 160)}  # how far down they stand, or how far right
    for kind, place in (*middle.items(), ("value", at(316, 366))):
        m = place + at(30, 60)
        page.arrow(at([(232, 196), (244, 196), (244, m), (273, m)], [(250, 178), (250, 188), (m, 188), (m, 222)]), kind)
        page.box(*at((275, place), (place, 224)), 120, 60, kind, f"{kind} {kind[0].upper()}")
    page.box(*at((430, 60, 130, 182), (20, 324, 260, 60)), "ink", "RoPE", "turns both", fill=0, dashed=True)
    for kind, place in middle.items():
        m = place + at(30, 60)
        page.arrow(at([(395, m), (428, m)], [(m, 284), (m, 322)]), kind)
        enters = at(151, 120) + (m - at(151, 150)) / 6
        page.arrow(
            at([(560, m), (604, m), (604, enters), (633, enters)], [(m, 384), (m, 404), (enters, 404), (enters, 432)]),
            kind,
        )
    page.box(*at((622, 8, 176), (238, 434, 176)), 60, "ink", "ALiBi", "takes off a price", fill=0, dashed=True)
    page.arrow(at([(710, 68), (710, 119)], [(238, 464), (204, 464)]))
    page.box(*at((635, 121, 150), (38, 434, 164)), 60, "scores", "scores", "Q @ Kᵀ / √d_k", fill=0)
    page.arrow(at([(785, 151), (838, 151)], [(120, 494), (120, 538)]), "weights")
    page.box(*at((840, 121, 136), (38, 540, 164)), 60, "weights", "weights", "softmax")
    page.arrow(at([(908, 181), (908, 314)], [(120, 600), (120, 644)]), "weights")
    page.arrow(at([(395, 346), (838, 346)], [(440, 284), (440, 676), (204, 676)]), "value")
    page.box(*at((840, 316, 136), (38, 646, 164)), 60, "output", "outputs", "weights @ V")
    page.lines(*at((616, 328), (328, 640)), page.broken("not turned,\nand at no price"))
    return page


def two_heads(upright=False):
    """Six tokens in a row; in layer 1 each fetches the word before it, in layer 2 the last tea finds milk.

    Milk has fetched tea, so the last tea gets milk, and not the first tea, which has fetched start. The arrow leaves
    the token milk, whose value it carries, and passes what milk has fetched, its key.
    """
    page = Page(upright, 400, 600)
    at, broken = page.at, page.broken
    words = ["start", "tea", "milk", "cup", "jam", "tea"]
    places = [at(219 + 126 * place, 86 + 84 * place) for place in range(6)]  # from the left, or from the top
    page.text(*at((196, 115), (112, 44)), "tokens", ha=at("right", "center"), colour="input", bold=True)
    look = {"ha": at("right", "center"), "bold": True}
    page.lines(*at((196, 229), (286, 44)), broken("fetched in\nlayer 1"), colour="key", **look)
    page.lines(*at((196, 352), (420, 44)), broken("found in\nlayer 2"), colour="weights", **look)
    for i, (place, word) in enumerate(zip(places, words, strict=True)):
        page.text(*at((place + 50, 64), (40, place + 29)), str(i))
        page.box(*at((place, 86), (62, place)), 100, 58, "input", word)
        page.box(*at((place, 200), (236, place)), 100, 58, "key", words[max(0, i - 1)], fill=0, dashed=True)
        if i:
            before = places[i - 1]
            page.arrow(at([(before + 62, 144), (place + 38, 198)], [(162, before + 35), (234, place + 23)]), "key")
    page.frame(*at((places[2], 200), (236, places[2])), 100, 58)
    middle = places[2] + at(50, 29)
    beside = places[2] - 13  # between the boxes of milk and of the first tea
    page.box(*at((places[5], 323), (394, places[5])), 100, 58, "weights", words[2], fill=0, dashed=True)
    page.arrow(
        at(
            [(places[2], 115), (beside, 115), (beside, 352), (places[5] - 2, 352)],
            [(112, places[2]), (112, beside), (444, beside), (444, places[5] - 2)],
        ),
        "weights",
    )
    place, says = at((middle + 153, 334), (388, middle + 126)), broken("place 2\nhas\nfetched\ntea")
    page.lines(*place, says, colour="weights")
    return page


def shared_heads(upright=False):
    """Four heads of queries over what is stored for them: four, two or one heads of keys and values.

    Neighbours share: MHA, GQA and MQA.
    """
    page = Page(upright, 290, 876)
    places = page.at(((20, 0), (360, 0), (700, 0)), ((110, 0), (110, 294), (110, 588)))
    for (left, top), name, kv_heads in zip(places, ("MHA", "GQA", "MQA"), (4, 2, 1), strict=True):
        middle = [left + 34 + 71 * h for h in range(4)]
        groups = [middle[h : h + 4 // kv_heads] for h in range(0, 4, 4 // kv_heads)]
        page.text(left + 140, top + 24, name, size=LARGE, bold=True)
        for h, group in enumerate(groups):
            place = sum(group) / len(group)  # below the heads that ask it
            for x in group:
                page.line([(x, top + 100), (place, top + 176)])
            page.box(place - 31, top + 176, 62, 48, "key", f"k v {h}")
        for h, x in enumerate(middle):
            page.box(x - 31, top + 52, 62, 48, "query", f"q {h}")
        page.text(left + 140, top + 262, f"{2 * kv_heads} · head_dim kept a token", size=NORMAL)
    return page


def real_block(upright=False):
    """A block, each part with its lesson: heads from 4, RoPE from 8, cache from 10, attention from 2 and 3, adding from
    11; norm and gate are new.

    Nine heads of queries share three of keys and values, and only queries and keys are turned.
    """
    page = Page(upright, 376, 812)
    at = page.at
    page.box(*at((14, 138), (186, 8)), at(60, 100), 52, "input", "x")
    page.box(*at((108, 134), (167, 96)), 138, 60, "ink", "RMSNorm", "new", fill=0)
    page.arrow(at([(74, 164), (106, 164)], [(236, 60), (236, 94)]))
    page.line(at([(246, 164), (254, 164)], [(236, 156), (236, 178)]))
    middle = {
        "query": at(68, 82),
        "key": at(164, 236),
        "value": at(260, 390),
    }  # how far down they stand, or how far right
    for (kind, m), note in zip(middle.items(), ("9 heads", "3 heads", "3 heads"), strict=True):
        page.arrow(at([(254, 164), (266, 164), (266, m), (290, m)], [(236, 178), (236, 188), (m, 188), (m, 216)]), kind)
        page.box(*at((292, m - 30), (m - 64, 218)), 128, 60, kind, kind, note)
    page.text(*at((356, 16), (84, 158)), "heads: lesson 4", colour="quiet")
    page.box(*at((452, 38, 116, 156), (18, 322, 282, 60)), "ink", "RoPE", "lesson 8", fill=0)
    page.box(*at((600, 134, 116, 156), (172, 426, 282, 60)), "ink", "cache", "lesson 10", fill=0)
    page.box(*at((748, 38, 168, 252), (18, 530, 436, 60)), "weights", "attention", "lessons 2 and 3")
    to_rope, to_cache, to_attention = at((450, 598, 746), (320, 424, 528))  # where the arrows into the three end
    ends = {
        "query": (to_rope, to_attention),
        "key": (to_rope, to_cache, to_attention),
        "value": (to_cache, to_attention),
    }
    for kind, m in middle.items():
        after = at(420, 278)
        for end in ends[kind]:
            page.arrow(at([(after, m), (end, m)], [(m, after), (m, end)]), kind)
            after = end + at(118, 62)
    x, y = at((752, 314), (210, 656))
    page.box(x, y, 52, 48, "ink", "+", fill=0)
    page.arrow(at([(778, 290), (778, 312)], [(236, 590), (236, 654)]), "output")
    page.arrow(
        at([(44, 190), (44, 338), (750, 338)], [(286, 34), (484, 34), (484, 680), (264, 680)]),
        "input",
    )
    page.text(*at((420, 322), (362, 664)), "added: lesson 11", colour="input")
    page.box(*at((828, 308), (156, 744)), at(160, 160), 60, "ink", "norm, MLP, +", "gate: new", fill=0)
    page.arrow(at([(804, 338), (826, 338)], [(236, 704), (236, 742)]), "input")
    return page


def one_state(upright=False):
    """Three words write into one matrix, S, each its key times its value; then each reads from it with its query.

    The numbers are those of `by_hand_flow`, without softmax and without a scale.
    """
    steps = self_attention_steps(X, W_q, W_k, W_v, scale=1)
    page = Page(upright, 440, 880)
    at = page.at
    for t, token in enumerate(TOKENS):
        query, key, value = (rows[t : t + 1] for rows in (steps.queries, steps.keys, steps.values))
        state = steps.keys[: t + 1].T @ steps.values[: t + 1]
        x, y = at((12 + 333 * t, 16), (16, 16 + 292 * t))
        page.text(x, y + 4, token, size=LARGE, bold=True, ha="left")
        page.cells(*at((x + 90, y + 50), (x + 38, y + 50)), key.T, "key")
        page.text(*at((x + 108, y + 32), (x + 56, y + 32)), "key", size=NORMAL, colour="key", bold=True)
        page.text(*at((x + 149, y + 99), (x + 96, y + 99)), "×", size=LARGE)
        left = at(x + 172, x + 116)
        page.cells(left, y + 83, value, "value")
        page.text(left + 54, y + 65, "value", size=NORMAL, colour="value", bold=True)
        left, top = at((x + 163, y + 194), (x + 310, y + 50))
        middle = top + 50
        if t:
            page.text(*at((left - 20, middle - 16), (left + 137, top + 2)), "+", size=LARGE)
        page.cells(left, top, state, "weights", width=42)
        page.text(*at((left + 6, top - 16), (left + 63, top - 18)), "S", size=NORMAL, colour="weights", bold=True)
        page.arrow(at([(x + 226, y + 116), (x + 226, top - 4)], [(x + 224, middle), (left - 4, middle)]))
        page.text(*at((x + 238, y + 152), (x + 266, middle - 16)), "writes", ha=at("left", "center"))
        if t:  # on from the state before
            before = at(left - 333 + 126, top - 292 + 82)
            side = left + 126
            page.arrow(
                at(
                    [(before, middle), (left - 4, middle)],
                    [(side, before), (side + 26, before), (side + 26, top + 17), (side + 4, top + 17)],
                )
            )
        y = top + at(150, 142)
        page.cells(x, y, query, "query", width=30)
        page.text(x + 45, y + 51, "query", size=NORMAL, colour="query", bold=True)
        output = x + at(160, 307)
        page.text(at(x + 125, (x + 90 + output) / 2), y + 16, "@ S =", mono=True)
        page.cells(output, y, query @ state, "output", width=44)
        page.text(output + 66, y + 51, "output", size=NORMAL, colour="output", bold=True)
        page.arrow([(left + 63, top + 99), (left + 63, y - 4)])
        page.text(left + 75, (top + 95 + y) / 2, "is read", ha="left")
    return page


DIAGRAMS = {
    function.__name__: function
    for function in (
        by_hand_map,
        by_hand_scores,
        by_hand_flow,
        one_query,
        scaled_dot_product,
        masks,
        multi_head,
        split_merge,
        way_back,
        block,
        positions,
        two_heads,
        shared_heads,
        tiles,
        real_block,
        one_state,
    )
}


# ---------------------------------------------------------------------------------------------------------- drawing


class Page:
    """A card to draw on, wide or upright, y pointing down; `svg` is the text of its file.

    Boxes are drawn in the order in which they are computed, and every arrow runs from one to a later one. They are
    kept, `boxes` as (left, top, right, bottom), `arrows` as points, and `words` as they are given to `text`, for a test
    to hold them to it.
    """

    def __init__(self, upright, height, upright_height):
        self.upright = upright
        self.width, self.height = self.at((WIDTH, height), (UPRIGHT, upright_height))
        self.parts, self.above = [], []  # what is drawn, and what lies above all of it
        self.boxes, self.arrows, self.words = [], [], []

    def svg(self, title):
        """The picture as a file, with the colours that it names."""
        shapes = "\n".join(self.parts + self.above)
        margin = self.at(*MARGINS)
        width, height = self.width + 2 * margin, self.height + 2 * margin
        place = {"x": 0.5 - margin, "y": 0.5 - margin, "width": width - 1, "height": height - 1, "rx": 13.5}
        card = element("rect", place | {"fill": "var(--card)", "stroke": "var(--line)"})
        size = f'width="{width}" height="{height}" viewBox="{-margin} {-margin} {width} {height}"'
        letters = html.escape(face("ui"))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{letters}" font-size="{SMALL}"'
            f' style="font-variant-numeric: tabular-nums">\n<title>{html.escape(title)}</title>\n'
            f"<style>{both_sets(set(re.findall(r'var[(]--([a-z]+)[)]', card + shapes)))}"
            f" .mono {{ font-family: {face('mono')}; }}</style>\n{card}\n{shapes}\n</svg>\n"
        )

    def at(self, wide, upright):
        """Where something stands on this page, of its two places."""
        return upright if self.upright else wide

    def broken(self, words):
        """Words that stand in one line, and on an upright page in the lines they are written in."""
        return words if self.upright else words.replace("\n", " ")

    def lines(self, x, y, words, **look):
        """One line or more, y in their middle."""
        lines = words.split("\n")
        for i, line in enumerate(lines):
            self.text(x, y + 24 * (i - (len(lines) - 1) / 2), line, **look)

    def text(self, x, y, words, *, size=SMALL, colour="ink", ha="center", mono=False, bold=False, rotation=0):
        """Words whose capitals have their middle at y; `d_k` stands as d with a small k below the line."""
        if not words:
            return
        self.words.append((x, y, words, {"size": size, "ha": ha, "mono": mono, "bold": bold, "rotation": rotation}))
        look = {"x": x, "y": y + 0.36 * size, "fill": f"var(--{colour})"}
        look |= {"text-anchor": {"center": "middle", "right": "end"}.get(ha), "class": "mono" if mono else None}
        look |= {"font-size": None if size == SMALL else size, "font-weight": 600 if bold else None}
        look |= {"transform": f"rotate(-{rotation} {x} {y})" if rotation else None}
        text = html.escape(words, quote=False)
        if not mono:
            text = re.sub(r"(?<=\w)_(\w)\b", rf'<tspan dy="4" font-size="{0.75 * size:g}">\1</tspan>', text)
            text = re.sub(r"(</tspan>)([^<]+)", r'\1<tspan dy="-4">\2</tspan>', text)
        self.parts.append(element("text", look, text))

    def heading(self, x, top, words, note, colour):
        """Name what stands below `top`, with a note on where it comes from."""
        self.text(x, top - (40 if note else 18), words, size=NORMAL, colour=colour, bold=True)
        if note:
            self.text(x, top - 16, note, colour="quiet")

    def rectangle(self, x, y, width, height, colour, fill=0.0, *, radius=CORNER, edge=1.5, dashed=False, strength=1.0):
        """A shape filled with so much of its colour, and its edge in so much of it."""
        place = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
        look = {"fill": f"var(--{colour})", "fill-opacity": fill} if fill else {"fill": "none"}
        look |= {"stroke": f"var(--{colour})", "stroke-width": edge, "stroke-dasharray": "5 4" if dashed else None}
        look |= {"stroke-opacity": strength if strength < 1 else None}
        return element("rect", place | look)

    def box(self, x, y, width, height, colour, words, note="", *, fill=DATA, dashed=False, rotation=0):
        edge = "quiet" if colour == "ink" else colour
        self.parts.append(self.rectangle(x, y, width, height, edge, fill, dashed=dashed))
        self.boxes.append((x, y, x + width, y + height))
        middle, below = y + height / 2, 12 * len(note.split("\n")) if note else 0
        self.text(x + width / 2, middle - below, words, size=NORMAL, colour=colour, bold=True, rotation=rotation)
        if note:
            self.lines(x + width / 2, middle + 13, note, mono=note.startswith("("), colour="quiet")

    def frame(self, x, y, width, height):
        """Outline what is followed through the picture."""
        self.above.append(self.rectangle(x - 2, y - 2, width + 4, height + 4, "ink", radius=6, edge=2.5))

    def line(self, points, colour="quiet"):
        self.parts.append(stroke(bent(points), colour))

    def arrow(self, points, colour="quiet", *, undoes=False):
        """An arrow along straight pieces from the first point to the last; one that undoes leads to an earlier box."""
        self.arrows.append(points[::-1] if undoes else points)
        self._arrow(bent([*points[:-1], short_of(*points[-2:])]), points[-2], points[-1], colour)

    def curve(self, start, end, colour):
        """An arrow that leaves downwards and arrives downwards."""
        middle, above = (start[1] + end[1] - 14) / 2, (end[0], end[1] - 14)
        self.arrows.append([start, above, end])
        way = f"M{xy(start)} C{xy((start[0], middle))} {xy((end[0], middle))} {xy(above)} L{xy(short_of(above, end))}"
        self._arrow(way, above, end, colour)

    def _arrow(self, way, before, tip, colour):
        dx, dy = towards(before, tip)
        length, half = HEAD
        back = tip[0] - length * dx, tip[1] - length * dy
        corners = [tip, (back[0] - half * dy, back[1] + half * dx), (back[0] + half * dy, back[1] - half * dx)]
        self.parts.append(stroke(way, colour))
        self.parts.append(element("path", {"d": f"M{' '.join(map(xy, corners))}Z", "fill": f"var(--{colour})"}))

    def cells(self, x, y, values, colour, *, width=36, height=33, fill=DATA, empty=False):
        """A matrix of numbers; fill is how much of the colour the cells hold, or "value" for as much as they say."""
        digits = 0 if torch.equal(values, values.round()) else 2
        for i, row in enumerate(values.tolist()):
            for j, value in enumerate(row):
                amount = round(FULLEST * value, 3) if fill == "value" else fill
                words = "" if empty else f"{value:.{digits}f}"
                self.cell(x + j * width, y + i * height, width, height, words, colour, amount)

    def cell(self, x, y, width, height, words, colour, fill, *, mono=False):
        inside = x + GAP / 2, y + GAP / 2, width - GAP, height - GAP
        self.parts.append(self.rectangle(*inside, colour, fill, radius=CELL, edge=1, strength=0.55))
        self.boxes.append((x, y, x + width, y + height))
        self.lines(x + width / 2, y + height / 2, words, colour="card" if fill > 0.6 else "ink", mono=mono)

    def matrix(
        self,
        x,
        y,
        values,
        colour,
        *,
        title,
        note="",
        rows=(),
        columns=(),
        followed=None,
        width=36,
        fill=DATA,
        empty=False,
    ):
        """Cells with a title above, tokens beside the rows and above the columns, and one row outlined."""
        height = 33
        self.cells(x, y, values, colour, width=width, height=height, fill=fill, empty=empty)
        for i, token in enumerate(rows):
            self.text(x - 10, y + (i + 0.5) * height, token, ha="right")
        for j, token in enumerate(columns):
            self.text(x + (j + 0.5) * width, y - 14, token)
        self.heading(x + values.size(1) * width / 2, y - (26 if columns else 0), title, note, colour)
        if followed is not None:
            self.frame(x, y + followed * height, values.size(1) * width, height)

    def mask(self, x, y, mask, title, code):
        """A mask with query 0 on top: a dot in a filled cell where a query may attend, a cross where it may not."""
        (n_queries, n_keys), cell, aside = mask.shape, self.at(40, 34), self.at(0, 48)
        titles = title.split("\n")
        self.lines(x - aside, y - 88 - 12 * (len(titles) - 1), title, size=LARGE, bold=True, ha="left")
        self.text(x - aside, y - 62, code, mono=True, ha="left", colour="quiet")
        self.text(x + n_keys * cell / 2, y - 36, "key", size=NORMAL, colour="key", bold=True)
        middle = y + n_queries * cell / 2
        self.text(x - 42, middle, "query", size=NORMAL, colour="query", bold=True, rotation=90)
        for j in range(n_keys):
            self.text(x + (j + 0.5) * cell, y - 13, str(j))
        for i in range(n_queries):
            self.text(x - 16, y + (i + 0.5) * cell, str(i))
            for j in range(n_keys):
                self.mask_cell(x + j * cell, y + i * cell, mask[i, j], cell)

    def mask_cell(self, x, y, allowed, size=40):
        inside = x + GAP / 2, y + GAP / 2, size - GAP, size - GAP
        fill, strength = (FULLEST, 1) if allowed else (0, 0.4)
        self.parts.append(self.rectangle(*inside, "weights", fill, radius=CELL, edge=1, strength=strength))
        x, y, arm = x + size / 2, y + size / 2, 0.17 * size
        if allowed:
            self.parts.append(element("circle", {"cx": x, "cy": y, "r": 6, "fill": "var(--weights)"}))
        else:
            for up in (arm, -arm):
                self.line([(x - arm, y - up), (x + arm, y + up)])


def stroke(way, colour):
    return element("path", {"d": way, "fill": "none", "stroke": f"var(--{colour})", "stroke-width": LINE})


def xy(point):
    return " ".join(f"{round(float(length), 2):g}" for length in point)


def towards(here, there):
    """The direction from one point to another, of length 1."""
    length = math.dist(here, there)
    return (there[0] - here[0]) / length, (there[1] - here[1]) / length


def short_of(before, tip):
    """Where an arrow's line ends: inside its head."""
    dx, dy = towards(before, tip)
    return tip[0] - (HEAD[0] - 1) * dx, tip[1] - (HEAD[0] - 1) * dy


def bent(points):
    """A way along straight pieces, its bends round."""
    points = [point for i, point in enumerate(points) if not i or point != points[i - 1]]
    way = f"M{xy(points[0])}"
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(BEND, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        (ax, ay), (bx, by) = towards(before, corner), towards(corner, after)
        arrives = corner[0] - radius * ax, corner[1] - radius * ay
        leaves = corner[0] + radius * bx, corner[1] + radius * by
        way += f" L{xy(arrives)} Q{xy(corner)} {xy(leaves)}"
    return f"{way} L{xy(points[-1])}"


if __name__ == "__main__":
    sys.exit(main())
