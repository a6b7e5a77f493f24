"""Draws every file of img/: `python -m authors.diagrams`. Numbers in a picture come from running attn_lib.

One unit is one pixel of a picture 1000 pixels wide, y pointing down. Tinted boxes hold data, white ones parameters;
colours are those of `attn_lib.colours`, and a label always stands beside a colour.
"""

import io
import sys
from pathlib import Path as FilePath

import matplotlib
import torch
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path

from attn_lib.colours import COLOURS
from attn_lib.examples import TOKENS, W_k, W_q, W_v, X, self_attention_steps
from attn_lib.functional import split_heads
from attn_lib.masks import causal_mask, padding_mask

IMG = FilePath(__file__).resolve().parents[1] / "img"
WIDTH = 1000
SMALL, NORMAL, LARGE = 19, 20, 22  # heights of text in pixels
INK, WHITE = "#1A1A1A", "#FFFFFF"
DATA = 0.12  # how much of its colour a box of data is filled with


def alt_text(name):
    """The sentence that says what is seen in the picture img/name.svg.

    Raises: KeyError for a name that is not in DIAGRAMS.
    """
    return " ".join(DIAGRAMS[name].__doc__.split("\n\n")[0].split())


def svg(name):
    """The diagram of that name as the text of an SVG file, the same on every machine.

    Raises: KeyError for a name that is not in DIAGRAMS.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a reader's own matplotlibrc changes nothing
        matplotlib.rcParams.update({"svg.hashsalt": name, "svg.fonttype": "path"})
        text = io.StringIO()
        metadata = {"Title": alt_text(name), "Date": None, "Creator": None}
        DIAGRAMS[name]().savefig(text, format="svg", metadata=metadata)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def main():
    """Write every diagram into img/."""
    IMG.mkdir(exist_ok=True)
    for name in DIAGRAMS:
        (IMG / f"{name}.svg").write_text(svg(name), encoding="utf-8", newline="\n")


# -------------------------------------------------------------------------------------------------------- diagrams


BY_HAND = ("inputs", "parameters", "queries", "keys", "values", "scores", "weights", "outputs")  # as they are earned


def by_hand_map():
    """The boxes of the example, still empty: inputs, parameters, queries, keys and values, scores, weights, outputs.

    The row of the first token is outlined from its input to its output.
    """
    return _by_hand(filled=0)


def by_hand_scores():
    """The same boxes, filled up to the scores; weights and outputs are still empty."""
    return _by_hand(filled=BY_HAND.index("scores") + 1)


def by_hand_flow():
    """Every box is filled: three tokens of four numbers have become queries, keys, values, scores, weights and outputs.

    The row of the first token is outlined from its input to its output.
    """
    return _by_hand(filled=len(BY_HAND))


def _by_hand(filled):
    """The example as a map, with numbers in the first so many of its boxes."""
    steps = self_attention_steps(X, W_q, W_k, W_v, scale=1)
    page = Page(620)

    def matrix(box, x, y, values, colour, **look):
        empty = box not in BY_HAND[:filled]
        if empty:  # nor how it will be filled
            look |= {"note": "", "fill": 0 if look.get("fill") == "value" else look.get("fill", DATA)}
        page.matrix(x, y, values, colour, empty=empty, **look)

    middle = {"query": 130, "key": 330, "value": 530}
    inputs = {"rows": TOKENS, "title": "inputs X", "note": "3 tokens", "followed": 0}
    matrix("inputs", 56, middle["key"] - 66, X, COLOURS["input"], **inputs)
    products = {"query": (W_q, steps.queries), "key": (W_k, steps.keys), "value": (W_v, steps.values)}
    page.line([(204, 330), (226, 330)])
    for kind, (parameters, product) in products.items():
        y, letter = middle[kind], kind[0]
        page.arrow([(226, 330), (226, y), (258, y)])
        matrix("parameters", 262, y - 66, parameters, COLOURS[kind], title=f"W_{letter}", fill=0)
        page.arrow([(374, y), (402, y)])
        names = {"query": "queries", "key": "keys", "value": "values"}
        look = {"rows": TOKENS, "title": f"{names[kind]} {letter.upper()}", "note": f"X @ W_{letter}"}
        look["followed"] = 0 if kind == "query" else None
        matrix(names[kind], 444, y - 50, product, COLOURS[kind], **look)

    page.arrow([(556, 130), (574, 130), (574, 222), (590, 222)])
    page.arrow([(556, 330), (574, 330), (574, 238), (590, 238)])
    top = 230 - 50
    look = {"rows": TOKENS, "columns": TOKENS, "title": "scores", "note": "Q @ Kᵀ", "followed": 0}
    matrix("scores", 636, top, steps.scores, INK, fill=0, width=42, **look)
    page.arrow([(768, 230), (802, 230)])
    look = {"columns": TOKENS, "title": "weights", "note": "softmax of each row", "followed": 0}
    matrix("weights", 808, top, steps.weights, COLOURS["weights"], fill="value", width=54, **look)
    page.arrow([(889, 284), (889, 420)])
    page.arrow([(556, 530), (760, 530)])
    look = {"rows": TOKENS, "title": "outputs", "note": "weights @ V", "followed": 0}
    matrix("outputs", 808, 480, steps.outputs, COLOURS["output"], width=54, **look)

    page.frame(24, 508, 36, 24)
    page.text(72, 520, f"token {TOKENS[0]}, from", ha="left")
    page.text(72, 542, "input to output", ha="left")
    return page.figure


def one_query():
    """One query is compared with every key; softmax turns the scores into weights; the weighted values are added up."""
    steps = self_attention_steps(X, W_q, W_k, W_v, scale=1)
    page = Page(420)
    tops = [84, 154, 224]
    page.heading(86, tops[1], "query", "one row of Q", COLOURS["query"])
    page.cells(32, tops[1], steps.queries[:1], COLOURS["query"], height=44)
    page.text(86, tops[1] + 62, f"token {TOKENS[0]}")
    page.heading(302, tops[0], "keys", "every row of K", COLOURS["key"])
    page.heading(440, tops[0], "scores", "query · key", INK)
    page.heading(596, tops[0], "weights", "sum to 1", COLOURS["weights"])
    page.heading(724, tops[0], "values", "every row of V", COLOURS["value"])
    page.heading(889, tops[0], "weighted values", "weight × value", COLOURS["output"])
    page.box(494, tops[0], 46, 184, INK, "softmax", fill=0, rotation=90)
    for j, top in enumerate(tops):
        y = top + 22
        page.arrow([(144, tops[1] + 22), (170, tops[1] + 22), (170, y), (198, y)])
        page.text(240, y, TOKENS[j], ha="right")
        page.cells(248, top, steps.keys[j : j + 1], COLOURS["key"], height=44)
        page.arrow([(360, y), (414, y)])
        page.cells(418, top, steps.scores[:1, j : j + 1], INK, height=44, width=44, fill=0)
        page.arrow([(466, y), (492, y)])
        page.arrow([(542, y), (564, y)])
        page.cells(568, top, steps.weights[:1, j : j + 1], COLOURS["weights"], height=44, width=56, fill="value")
        page.text(647, y, "×", size=LARGE)
        page.cells(670, top, steps.values[j : j + 1], COLOURS["value"], height=44)
        page.text(794, y, "=", size=LARGE)
        page.cells(811, top, steps.weighted_values[0, j : j + 1], COLOURS["output"], height=44, width=52)
    for top in tops[1:]:
        page.text(889, top - 13, "+", size=LARGE)
    page.arrow([(889, 272), (889, 338)])
    page.text(904, 304, "sum", ha="left")
    page.text(796, 354, "output", size=NORMAL, colour=COLOURS["output"], bold=True, ha="right")
    page.text(796, 378, "an average of the values, weighted by how well the query matches each key", ha="right")
    page.cells(811, 344, steps.outputs[:1], COLOURS["output"], height=44, width=52)
    return page.figure


def scaled_dot_product():
    """Queries and keys are multiplied, scaled, masked if wanted, put through softmax; the weights multiply the values.

    The shape stands beside each arrow.
    """
    page = Page(606)
    left, width, height = 250, 200, 48
    tops = {"MatMul": 120, "Scale": 206, "Mask (optional)": 292, "Softmax": 378, "MatMul ": 464}
    says = {
        "MatMul": ("scores = Q @ Kᵀ", "each query with each key"),
        "Scale": ("scores / √d_k", "keeps softmax from saturating"),
        "Mask (optional)": ("−∞ where the mask is False", "before softmax, never after"),
        "Softmax": ("weights = softmax(scores)", "over the keys: rows sum to 1"),
        "MatMul ": ("output = weights @ V", "an average of the values"),
    }
    inputs = (("query", 280, "n_q, d_k", "right"), ("key", 420, "n_k, d_k", "left"), ("value", 620, "n_k, d_v", "left"))
    for kind, x, shape, side in inputs:
        page.box(x - 60, 8, 120, height, COLOURS[kind], f"{kind} {kind[0].upper()}")
        page.text(x + (-10 if side == "right" else 10), 88, f"(…, {shape})", ha=side, mono=True)
    page.arrow([(280, 56), (280, 118)], COLOURS["query"])
    page.arrow([(420, 56), (420, 118)], COLOURS["key"])
    page.arrow([(620, 56), (620, 488), (452, 488)], COLOURS["value"])
    for name, top in tops.items():
        colour = COLOURS["weights"] if name == "Softmax" else INK
        page.box(left, top, width, height, colour, name.strip(), fill=0, dashed="optional" in name)
        page.text(670, top + 12, says[name][0], ha="left", mono=True, bold=True)
        page.text(670, top + 36, says[name][1], ha="left")
    for name, top in tops.items():
        last = name == "MatMul "
        colour = {"Softmax": COLOURS["weights"], "MatMul ": COLOURS["output"]}.get(name, INK)
        page.arrow([(350, top + height), (350, top + 84)], colour)
        page.text(362, top + 66, "(…, n_q, d_v)" if last else "(…, n_q, n_k)", ha="left", mono=True)
    page.box(left, 550, width, height, COLOURS["output"], "output")
    page.box(40, 292, 110, height, COLOURS["input"], "mask", dashed=True)
    page.arrow([(150, 316), (248, 316)], COLOURS["input"])
    page.text(40, 360, "(…, n_q, n_k)", ha="left", mono=True)
    page.text(40, 384, "True = may attend", ha="left")
    return page.figure


def masks():
    """A padding mask and a causal mask, what is left when both apply, and a causal mask for fewer queries than keys.

    A blocked cell is crossed out, an allowed one is filled and dotted.
    """
    page = Page(590)
    padding = padding_mask([3], 5).expand(1, 5, 5)[0]
    causal = causal_mask(5)
    top = 112
    page.mask(70, top, padding, "padding mask", "padding_mask([3], 5)")
    page.text(318, top + 100, "&", size=34, bold=True)
    page.mask(400, top, causal, "causal mask", "causal_mask(5)")
    page.text(648, top + 100, "=", size=34, bold=True)
    page.mask(730, top, padding & causal, "both", "padding & causal")
    top = 458
    page.mask(70, top, causal_mask(2, 5), "causal mask, 2 queries", "causal_mask(2, 5)")
    page.text(70, top + 106, "bottom right: the last sees every key", ha="left")
    page.mask(480, top, torch.ones(2, 5, dtype=torch.bool).tril(), "PyTorch's, 2 queries", "is_causal=True")
    page.text(480, top + 106, "top left: the newest see the oldest keys", ha="left")
    page.mask_cell(740, 430, True)
    page.text(790, 450, "may attend (True)", ha="left")
    page.mask_cell(740, 480, False)
    page.text(790, 500, "blocked (False)", ha="left")
    return page.figure


def multi_head():
    """Query, key and value are projected and cut into heads; the heads attend in parallel, are joined and projected.

    Shapes stand in and beside the boxes; each head takes one slice of each projection.
    """
    page = Page(708)
    centres, heads, width, slice_width = (180, 500, 820), range(3), 294, 98
    kinds = ("query", "key", "value")
    for kind, x in zip(kinds, centres, strict=True):
        colour, letter, n = COLOURS[kind], kind[0], "n_q" if kind == "query" else "n_k"
        left = x - width / 2
        page.box(left, 20, width, 60, colour, kind, f"(batch, {n}, embed_dim)")
        page.arrow([(x, 80), (x, 108)], colour)
        page.box(left, 110, width, 44, colour, f"Linear W_{letter}", fill=0)
        page.arrow([(x, 154), (x, 182)], colour)
        page.cell(left, 184, width, 36, f"(…, heads, {n}, head_dim)", colour, 0, mono=True)
        for head in heads:
            page.cell(left + slice_width * head, 220, slice_width, 36, f"head {head}", colour, DATA)
    for head, x in zip(heads, centres, strict=True):
        for kind, source, port in zip(kinds, centres, (-1, 0, 1), strict=True):
            colour, end = COLOURS[kind], x + port * slice_width
            page.curve((source + slice_width * (head - 1), 256), (end, 330), colour)
            page.text(end, 348, kind[0].upper(), size=NORMAL, colour=colour, bold=True)
        page.box(x - width / 2, 332, width, 96, COLOURS["weights"], "")
        page.text(x, 378, f"head {head}", size=NORMAL, colour=COLOURS["weights"], bold=True)
        page.text(x, 406, "softmax(Q Kᵀ / √head_dim) V")
    for head, x in zip(heads, centres, strict=True):
        page.curve((x, 428), (500 + slice_width * (head - 1), 482), COLOURS["output"])
        page.cell(353 + slice_width * head, 484, slice_width, 40, f"head {head}", COLOURS["output"], DATA)
    page.text(338, 492, "merge_heads: side by side,", ha="right")
    page.text(338, 516, "the order of the heads kept", ha="right")
    page.text(662, 504, "(batch, n_q, embed_dim)", ha="left", mono=True)
    page.arrow([(500, 524), (500, 552)], COLOURS["output"])
    page.box(353, 554, width, 44, COLOURS["output"], "Linear W_o", fill=0)
    page.arrow([(500, 598), (500, 626)], COLOURS["output"])
    page.box(353, 628, width, 60, COLOURS["output"], "output", "(batch, n_q, embed_dim)")
    page.text(662, 646, "embed_dim = heads · head_dim:", ha="left")
    page.text(662, 670, "more heads, thinner slices", ha="left")
    return page.figure


def split_merge():
    """Split into heads by view and transpose, every token gives each head its slice; by view alone, tokens are mixed.

    Entry 12 is feature 2 of token 1. Features of head 0 are dark, those of head 1 light, wherever they go.
    """
    tokens, features, heads = 3, 4, 2
    head_dim = features // heads
    x = 10 * torch.arange(tokens)[:, None] + torch.arange(features)  # 12: token 1, feature 2
    x = x[None]  # (1, tokens, features)
    right, alone = (1, tokens, heads, head_dim), (1, heads, tokens, head_dim)
    page = Page(650)

    def numbers(left, top, matrix):
        for i, row in enumerate(matrix.tolist()):
            for j, number in enumerate(row):
                dark = number % 10 < head_dim  # a feature of head 0
                place = left + 42 * j, top + 42 * i, 42, 42
                page.cell(*place, f"{number:02d}", COLOURS["query"], 1 if dark else 0.18)

    def tokens_by_features(top):
        page.heading(168, top, "x", f"{tuple(x.shape)}", COLOURS["query"])
        numbers(84, top, x[0])
        for token in range(tokens):
            page.text(76, top + 42 * token + 21, f"token {token}", ha="right")

    def in_heads(top, split):
        for head, left in zip(range(heads), (788, 890), strict=True):
            page.heading(left + 42, top, f"head {head}", "", COLOURS["query"])
            numbers(left, top, split[0, head])
        held = {}  # tokens of which head 0 holds the same features, together
        for token in range(tokens):
            of_token = [number % 10 for number in split[0, 0].flatten().tolist() if number // 10 == token]
            held.setdefault(", ".join(map(str, of_token)), []).append(str(token))
        parts = [
            f"{features} of token{'s' * (len(whose) > 1)} {', '.join(whose)}"
            for features, whose in held.items()
            if features
        ]
        return "head 0 holds features " + " and ".join(parts)

    top = 124
    page.text(24, 34, "right: view, then transpose", size=LARGE, bold=True, ha="left")
    tokens_by_features(top)
    page.arrow([(260, top + 63), (424, top + 63)])
    page.text(342, top + 20, ".view", mono=True)
    page.text(342, top + 44, f"{right}", mono=True)
    for head in range(heads):
        page.heading(474 + 98 * head, top, f"head {head}", "", COLOURS["query"])
        numbers(432 + 98 * head, top, x.view(right)[0, :, head])
    page.arrow([(622, top + 63), (780, top + 63)])
    page.text(700, top + 20, ".transpose", mono=True)
    page.text(700, top + 44, "(1, 2)", mono=True)
    says = in_heads(top, split_heads(x, heads))
    page.arrow([(881, 256), (881, 306), (168, 306), (168, 256)])
    page.text(524, 288, "and back: merge_heads")  # how, the learner is asked
    page.text(974, 328, says, ha="right")

    top = 472
    page.text(24, 392, "wrong: view alone", size=LARGE, bold=True, ha="left")
    tokens_by_features(top)
    page.arrow([(260, top + 63), (780, top + 63)])
    page.text(520, top + 44, f".view{alone}", mono=True)
    page.text(520, top + 84, "reads the numbers in the order of memory")
    page.text(974, top + 150, in_heads(top, x.view(alone)), ha="right")
    return page.figure


def way_back():
    """Attention on the left, from query, key and value down to the output; its gradients on the right, the way back up.

    Beside each arrow stands what is done on it.
    """
    page = Page(500)
    tops = {"ends": 34, "scores": 162, "weights": 290, "output": 418}
    for left, of in ((30, ""), (560, "gradient of ")):
        for x, kind in ((left, "query"), (left + 135, "key"), (left + 270, "value")):
            page.box(x, tops["ends"], 120, 48, COLOURS[kind], kind)
        page.box(left, tops["scores"], 255, 48, INK, f"{of}scores", fill=0)
        page.box(left, tops["weights"], 255, 48, COLOURS["weights"], f"{of}weights")
        page.box(left, tops["output"], 390, 48, COLOURS["output"], f"{of}output")
    page.text(560, 16, "gradients of", ha="left", bold=True)
    there = [(90, 82, 160, "query"), (225, 82, 160, "key"), (157, 210, 288, None), (157, 338, 416, None)]
    there.append((360, 82, 416, "value"))
    for x, top, bottom, kind in there:
        colour = INK if kind is None else COLOURS[kind]
        page.arrow([(x, top), (x, bottom)], colour)
        if x < 500:
            page.arrow([(x + 530, bottom), (x + 530, top)], colour)  # and back again
    page.text(157, 122, "Q @ Kᵀ", mono=True)
    page.text(170, 249, "· scale, softmax", ha="left", mono=True)
    page.text(170, 377, "@ V", ha="left", mono=True)
    page.text(632, 122, "(·) @ K", ha="left", mono=True)
    page.text(767, 122, "(·)ᵀ @ Q", ha="left", mono=True)
    page.text(675, 249, "softmax_backward", ha="right", mono=True)
    page.text(700, 249, "· scale", ha="left", mono=True)
    page.text(675, 377, "(·) @ Vᵀ", ha="right", mono=True)
    page.text(880, 377, "weightsᵀ @ (·)", ha="right", mono=True)
    page.arrow([(420, 442), (558, 442)])
    page.text(489, 424, "loss")
    return page.figure


def positions():
    """Where each scheme comes in: table and sinusoids at the inputs, RoPE at queries and keys, ALiBi at the scores.

    The way of the values passes by RoPE and ALiBi untouched.
    """
    page = Page(400)
    colour, height, told = COLOURS, 60, INK
    page.box(24, 24, 190, height, told, "table, sinusoids", "added", fill=0, dashed=True)
    page.arrow([(119, 84), (119, 164)])
    page.box(24, 166, 190, height, colour["input"], "inputs", "a row for each token")
    for kind, y in (("query", 76), ("key", 166), ("value", 316)):
        page.arrow([(214, 196), (244, 196), (244, y + height / 2), (273, y + height / 2)], colour[kind])
        page.box(275, y, 120, height, colour[kind], f"{kind} {kind[0].upper()}")
    page.box(430, 60, 130, 182, told, "RoPE", "turns both", fill=0, dashed=True)
    for kind, y in (("query", 106), ("key", 196)):
        page.arrow([(395, y), (428, y)], colour[kind])
        page.arrow([(560, y), (604, y), (604, 151 + (y - 151) / 6), (633, 151 + (y - 151) / 6)], colour[kind])
    page.box(635, 8, 150, height, told, "ALiBi", "takes off a price", fill=0, dashed=True)
    page.arrow([(710, 68), (710, 119)])
    page.box(635, 121, 150, height, colour["weights"], "scores", "Q @ Kᵀ / √d_k", fill=0)
    page.arrow([(785, 151), (838, 151)], colour["weights"])
    page.box(840, 121, 136, height, colour["weights"], "weights", "softmax")
    page.arrow([(908, 181), (908, 314)], colour["weights"])
    page.arrow([(395, 346), (838, 346)], colour["value"])
    page.box(840, 316, 136, height, colour["output"], "outputs", "weights @ V")
    page.text(616, 328, "not turned, and at no price")
    return page.figure


def two_heads():
    """Six tokens in a row; in layer 1 each fetches the word before it, in layer 2 the last tea finds who fetched tea.

    Milk has fetched tea, so the last tea listens to milk, and not to the first tea, which has fetched start.
    """
    page = Page(400)
    words = ["start", "tea", "milk", "cup", "jam", "tea"]
    width, left, top = 128, 150, 86
    middle = [left + (place + 0.5) * width for place in range(6)]
    page.text(132, top + 29, "tokens", ha="right", colour=COLOURS["input"], bold=True)
    page.text(132, 229, "fetched in layer 1", ha="right", colour=COLOURS["key"], bold=True)
    page.text(132, 352, "heard in layer 2", ha="right", colour=COLOURS["weights"], bold=True)
    for place, (x, word) in enumerate(zip(middle, words, strict=True)):
        page.text(x, top - 22, str(place))
        page.box(x - 50, top, 100, 58, COLOURS["input"], word)
        fetched = words[max(0, place - 1)]
        page.box(x - 50, 200, 100, 58, COLOURS["key"], fetched, fill=0, dashed=True)
        if place:
            page.arrow([(middle[place - 1] + 12, top + 58), (x - 12, 198)], COLOURS["key"])
    page.frame(middle[2] - 50, 200, 100, 58)
    page.arrow([(middle[5], 258), (middle[5], 352), (middle[2], 352), (middle[2], 262)], COLOURS["weights"])
    page.text((middle[2] + middle[5]) / 2, 334, "who has fetched tea?", colour=COLOURS["weights"])
    return page.figure


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
        positions,
        two_heads,
    )
}


# ---------------------------------------------------------------------------------------------------------- drawing


class Page:
    """A white page 1000 pixels wide to draw on, y pointing down, and `figure`, the Figure it is."""

    def __init__(self, height):
        self.figure = Figure(figsize=(WIDTH / 96, height / 96), dpi=96, facecolor=WHITE)
        self.axes = self.figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(height, 0))
        self.axes.set_axis_off()

    def text(self, x, y, words, *, size=SMALL, colour=INK, ha="center", mono=False, bold=False, rotation=0):
        self.axes.text(
            x,
            y,
            words,
            fontsize=size * 0.75,  # pixels to points
            color=colour,
            ha=ha,
            va="center_baseline" if not rotation else "center",
            family="DejaVu Sans Mono" if mono else "DejaVu Sans",  # comes with matplotlib, on every system
            weight="bold" if bold else "normal",
            rotation=rotation,
        )

    def heading(self, x, top, words, note, colour):
        """Name what stands below `top`, with a note on where it comes from."""
        self.text(x, top - (40 if note else 17), words, size=NORMAL, colour=colour, bold=True)
        if note:
            self.text(x, top - 16, note)

    def box(self, x, y, width, height, colour, words, note="", *, fill=DATA, dashed=False, rotation=0):
        shape = FancyBboxPatch(
            (x + 7, y + 7),
            width - 14,
            height - 14,
            boxstyle="round,pad=7,rounding_size=7",
            facecolor=tint(colour, fill),
            edgecolor=colour,
            linewidth=1.5,
            linestyle=(0, (4, 2.5)) if dashed else "-",
        )
        self.axes.add_patch(shape)
        middle = y + height / 2
        raised = middle - (12 if note else 0)
        self.text(x + width / 2, raised, words, size=NORMAL, colour=colour, bold=True, rotation=rotation)
        if note:
            self.text(x + width / 2, middle + 13, note, mono=note.startswith("("))

    def frame(self, x, y, width, height):
        """Outline what is followed through the picture."""
        self.axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=INK, linewidth=2.6, zorder=3))

    def line(self, points, colour=INK):
        self.axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.6, solid_capstyle="butt")

    def arrow(self, points, colour=INK):
        """An arrow along straight pieces from the first point to the last."""
        self._arrow(Path(points), colour)

    def curve(self, start, end, colour):
        """An arrow that leaves downwards and arrives downwards."""
        middle = (start[1] + end[1] - 14) / 2
        points = [start, (start[0], middle), (end[0], middle), (end[0], end[1] - 14), end]
        self._arrow(Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO]), colour)

    def _arrow(self, path, colour):
        style = "-|>,head_length=7,head_width=3.6"
        self.axes.add_patch(
            FancyArrowPatch(
                path=path, arrowstyle=style, mutation_scale=1, color=colour, linewidth=1.6, joinstyle="miter"
            )
        )

    def cells(self, x, y, values, colour, *, width=36, height=33, fill=DATA, empty=False):
        """A matrix of numbers; fill is how much of the colour the cells hold, or "value" for as much as they say."""
        digits = 0 if torch.equal(values, values.round()) else 2
        for i, row in enumerate(values.tolist()):
            for j, value in enumerate(row):
                amount = value if fill == "value" else fill
                words = "" if empty else f"{value:.{digits}f}"
                self.cell(x + j * width, y + i * height, width, height, words, colour, amount)

    def cell(self, x, y, width, height, words, colour, fill, *, mono=False):
        face = tint(colour, fill)
        self.axes.add_patch(Rectangle((x, y), width, height, facecolor=face, edgecolor=colour, linewidth=0.8))
        self.text(x + width / 2, y + height / 2, words, colour=WHITE if fill > 0.6 else INK, mono=mono)

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
            self.text(x - 8, y + (i + 0.5) * height, token, ha="right")
        for j, token in enumerate(columns):
            self.text(x + (j + 0.5) * width, y - 14, token)
        self.heading(x + values.size(1) * width / 2, y - (26 if columns else 0), title, note, colour)
        if followed is not None:
            self.frame(x, y + followed * height, values.size(1) * width, height)

    def mask(self, x, y, mask, title, code):
        """A mask with query 0 on top: a dot in a filled cell where a query may attend, a cross where it may not."""
        n_queries, n_keys = mask.shape
        self.text(x, y - 88, title, size=LARGE, bold=True, ha="left")
        self.text(x, y - 62, code, mono=True, ha="left")
        self.text(x + n_keys * 20, y - 36, "key", size=NORMAL, colour=COLOURS["key"], bold=True)
        self.text(x - 42, y + n_queries * 20, "query", size=NORMAL, colour=COLOURS["query"], bold=True, rotation=90)
        for j in range(n_keys):
            self.text(x + j * 40 + 20, y - 13, str(j))
        for i in range(n_queries):
            self.text(x - 16, y + i * 40 + 20, str(i))
            for j in range(n_keys):
                self.mask_cell(x + j * 40, y + i * 40, mask[i, j])

    def mask_cell(self, x, y, allowed):
        colour = COLOURS["weights"]
        self.axes.add_patch(
            Rectangle((x, y), 40, 40, facecolor=tint(colour, 0.3 if allowed else 0), edgecolor=colour, linewidth=1)
        )
        if allowed:
            self.axes.plot([x + 20], [y + 20], "o", markersize=9, color=colour, markeredgewidth=0)
        else:
            for ends in ((y + 11, y + 29), (y + 29, y + 11)):
                self.line([(x + 11, ends[0]), (x + 29, ends[1])])


def tint(colour, amount):
    """That much of the colour, from 0 to 1, on white."""
    return to_hex([1 - amount * (1 - part) for part in to_rgb(colour)])


if __name__ == "__main__":
    sys.exit(main())
