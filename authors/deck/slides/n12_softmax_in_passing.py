"""The slides of lesson 12. Softmax in passing."""

import math

import torch

from workbench.board.lessons.n12_tiles_operations import Fault
from workbench.display.drawings import Bars, Beside, Flow, Matrices, Matrix, Tiles, unknown

from . import again, on_board, slide


@slide(
    "Softmax in passing",
    minutes=0.5,
    say="""
    Draw a row of many little boxes for 4096 scores, and cover all except 64 with a hand. Ask how one can divide
    by a sum that is not there yet. Run the imports meanwhile.
    """,
)
def what_for():
    return Matrices(
        [
            Matrix([2, 4], name="seen", thing="scores"),
            Matrix(unknown(6), name="yet to come", thing="scores"),
            "→",
            Matrix([None], name="the sum", thing="weights"),
        ]
    )


@slide(
    "What has to be stored of the keys so far?",
    minutes=1,
    say="""
    Three things on the blackboard, m, ℓ, o, and below them 2, 1 and (1, 2, 3). Leave room for two more
    lines.
    """,
)
def three(scores, values):
    return [
        Matrices(
            [
                Matrix([scores[0], None, None], name="scores", thing="scores", top=["I", "like", "tea"]),
                "→",
                Matrix([m], name="m", thing="scores"),
                Matrix([l], name="ℓ", thing="weights"),
                Matrix(rows, name="o", thing="output"),
            ]
        )
        for m, l, rows in ((None, None, unknown(3)), (scores[0], 1, values[0]))
    ]


@slide(
    "A larger score comes. What is the sum now?",
    minutes=1,
    say="Let them write it down before anybody speaks. 8.4 has the factor upside down, 2 has no factor.",
    hall="What is ℓ now? On paper. [1.1353]",
)
def predict_sum():
    return [
        Bars(["the old 1", "the new one", "ℓ"], values, unit="", strong=2, lying=True, words=False, top=1.2)
        for values in (unknown(3), [math.exp(-2), 1, 1 + math.exp(-2)])
    ]


@slide(
    "Which factor does the old sum get?",
    minutes=1,
    say="Let the hall dictate it, and let somebody say why the factor is never above 1.",
    hall="Who dictates it? [torch.exp(m - new_m)]",
)
def your_factor(factor):
    return [
        Matrices(
            [
                Matrix([[1]], name="ℓ", thing="weights"),
                "·",
                Matrix([[f]], name="factor", thing="query"),
                "+",
                Matrix([[1]], name="new", thing="weights"),
                "=",
                Matrix([[r]], name="ℓ", thing="weights"),
            ]
        )
        for f, r in ((None, None), (factor, 1 + factor))
    ]


@slide(
    "Three keys: what do m, ℓ and o become?",
    minutes=1,
    say="""
    Uncover line by line. At the end divide o by ℓ on the blackboard: it is the output of I in notebook 1.
    """,
)
def take_text(film):
    return Tiles(
        [[f"{m:.0f}", f"{l:.4f}", "  ".join(f"{x:.2f}" for x in o)] for m, l, o in film],
        columns=["m", "ℓ", "o"],
        rows=["I", "like", "tea"],
    ).opened(3, 6, 9)


@slide(
    "Four faults. How many show in 4, 4, 2?",
    minutes=2,
    say="""
    Take bids, then let a pair work out 4, 4, 2 with a fault of their choice. Somebody finds that the factor
    is always 1.
    """,
    hall="""
    The keys come as 4, 4, 2. How many of the four outputs are wrong now? Fingers. [None: the largest came first, so
    every factor is 1]
    """,
    choices="hide",
)
def hide(FAULTS, passed):
    return [
        Bars(
            [name.replace("on l", "on ℓ") for name in FAULTS],
            values,
            unit="",
            lying=True,
            words=False,
            caption=caption,
            colour=["output"] + [colour] * 4,
            top=2.6,
        )
        for caption, colour, values in (
            ("first number of o / ℓ, keys 2, 4, 4", "wrong", [passed((0, 1, 2), *f)[0] for f in FAULTS.values()]),
            ("keys 4, 4, 2: ?", "wrong", unknown(5)),
            ("keys 4, 4, 2", "output", [passed((2, 1, 0), *f)[0] for f in FAULTS.values()]),
        )
    ]


@slide(
    "m stays 2 for all keys. Is o / ℓ right?",
    minutes=1,
    say="Most say wrong. Let somebody multiply o and ℓ by the same number, and divide.",
    hall="Hands for right, wrong and nan. [Right: the unit cancels]",
    choices="never",
)
def never(stay, values):
    return [
        Tiles(
            [[f"{stay.sum():.4f}", "  ".join(f"{x:.1f}" for x in stay @ values), a]],
            columns=["ℓ", "o", "o / ℓ"],
            open=k,
        )
        for k, a in ((2, "?"), (3, "right"))
    ]


@slide(
    "And a whole block of keys at once?",
    minutes=0.5,
    say="""
    Nothing new: m, ℓ, o of many keys, for many queries. The masked_fill is for a block in which all keys are
    masked; say that this comes later, in Break it.
    """,
)
def merge(part, scores, values):
    return [
        Matrices(
            [
                Matrix(scores, name="scores", thing="scores", top=["I", "like", "tea"]),
                "→",
                Matrix([[r[0]]], name="m", thing="scores"),
                Matrix([[r[1]]], name="ℓ", thing="weights"),
                Matrix([r[2:]], name="o", thing="output"),
            ]
        )
        for r in (unknown(5), torch.cat(part(scores[None], values), dim=-1)[0])
    ]


@slide(
    "Two parts. What is ℓ of both together?",
    minutes=1,
    say="""
    Let the hall dictate it. Ask which of the two factors is 1: for the first query that of b, for the second
    that of a.
    """,
    hall="Who dictates it? [torch.exp(a[0] - m_both) * a[1] + torch.exp(b[0] - m_both) * b[1]]",
)
def your_l(a, b, l_both):
    return [
        Matrices(
            [
                Matrix(torch.cat(a, dim=-1), name="first key", thing="output", top=["m", "ℓ", "o", "", ""]),
                Matrix(torch.cat(b, dim=-1), name="other two", thing="output", top=["m", "ℓ", "o", "", ""]),
                "→",
                Matrix(rows, name="ℓ", thing="weights"),
            ]
        )
        for rows in (unknown(2, 1), l_both)
    ]


@slide(
    "Does it matter which are merged first?",
    minutes=0.5,
    say="No, as for a sum. So a kernel, or eight machines, can work on pieces of one row.",
)
def brackets(merge, one, three, two):
    return [
        Beside(
            Flow(
                {"I": [0, 0], "like": [0, 1], "tea": [0, 2], "two": [1, 0.5], "all": [2, 1]},
                things={"I": "key", "like": "key", "tea": "key", "two": "weights", "all": "output"},
                arrows=[["I", "two"], ["like", "two"], ["two", "all"], ["tea", "all"]],
                labels={"two": "I, like", "all": sums[0]},
                empty=empty,
            ),
            Flow(
                {"I": [0, 0], "like": [0, 1], "tea": [0, 2], "two": [1, 1.5], "all": [2, 1]},
                things={"I": "key", "like": "key", "tea": "key", "two": "weights", "all": "output"},
                arrows=[["like", "two"], ["tea", "two"], ["two", "all"], ["I", "all"]],
                labels={"two": "like, tea", "all": sums[1]},
                empty=empty,
            ),
        )
        for sums, empty in (
            (["ℓ = ?"] * 2, ["all"]),
            ([f"ℓ = {x[1].item():.2f}" for x in (merge(merge(one, two), three), merge(one, merge(two, three)))], []),
        )
    ]


@slide(
    "Eight by eight tiles. How many are computed?",
    minutes=1,
    say="""
    The hall says half. Count the diagonal: its tiles are half empty, but they are computed, too.
    """,
    hall="512 tokens, tiles of 64, causal: how many of 64 tiles are computed? [36]",
)
def tiles():
    return [
        Matrices([Matrix(rows, name="tiles", thing="scores")])
        for rows in (unknown(8, 8), (torch.arange(8)[:, None] >= torch.arange(8)).tolist())
    ]


@slide(
    "512 keys in blocks of 64. Which line?",
    minutes=1.5,
    say="A list of parts, reduced by merge. This is the whole algorithm; later come details about the mask.",
    hall="Who dictates it? [finish(*reduce(merge, [part(q @ k.mT, v) for k, v in blocks]))[0]]",
)
def your_loop():
    return [
        Flow(
            {
                "k1": [0, 0],
                "k2": [1, 0],
                "k3": [2, 0],
                "p1": [0, 1],
                "p2": [1, 1],
                "p3": [2, 1],
                "m": [1, 2],
                "f": [2.2, 2],
            },
            labels={
                "k1": "keys 0–63",
                "k2": "keys 64–127",
                "k3": "…",
                "p1": "part",
                "p2": "part",
                "p3": "part",
                "m": "merge",
                "f": "o / ℓ",
            },
            things={
                "k1": "key",
                "k2": "key",
                "k3": "key",
                "p1": "scores",
                "p2": "scores",
                "p3": "scores",
                "m": "weights",
                "f": "output",
            },
            arrows=[["k1", "p1"], ["k2", "p2"], ["k3", "p3"], ["p1", "m"], ["p2", "m"], ["p3", "m"], ["m", "f"]][:k],
        )
        for k in (3, 7)
    ]


@slide(
    "In which order is the fault hidden?",
    minutes=4,
    say="""
    Read the task, and remind them of 4, 4, 2. Without a fault change everything: the difference stays 0. Then
    choose the fault, forwards: row I is wrong, because 4 comes after 2. Backwards row I is right. To make it
    wrong again, raise a score that is read late.
    """,
    hall="""
    In which order is the output of I right? [Backwards, or the largest first: its largest score is read
    before all smaller ones]
    """,
)
def play():
    return on_board(order="backwards", fault=str(Fault.NO_FACTOR_ON_O), read=5, mark=("difference", 0, 0))


@slide(
    "What do tiles save, if not arithmetic?",
    minutes=1.5,
    say="""
    Two memories on the blackboard, a small fast one and a large slow one. Everything that is counted here
    goes from one to the other.
    """,
)
def bytes_saved(mebibytes):
    r = [round(x, 1) for x in mebibytes(4096, 64)]
    return [
        Bars(
            ["whole", "in tiles"],
            values,
            unit=" MiB",
            lying=True,
            words=False,
            strong=strong,
            caption="4096 tokens, d = 64, 100 KB of fast memory",
            top=131,
        )
        for values, strong in (([r[0], None], 0), (r, 1))
    ]


@slide(
    "A head twice as wide: how much is saved?",
    minutes=1.5,
    say="""
    The head is twice as wide, so half as many rows fit. So there are twice as many passes, and each reads twice
    as much: nearly four times the bytes.
    """,
    hall="How many times fewer bytes at d = 128? Hands for 12, 6, 3 and 1.6. [1.6]",
    choices="wide",
)
def predict_wide(narrow, wide):
    return [
        Bars(
            ["d = 64", "d = 128"],
            values,
            unit=" ×",
            strong=1,
            lying=True,
            words=False,
            caption="in tiles: times fewer bytes",
            top=6,
        )
        for values in ([narrow, None], [narrow, wide])
    ]


@slide(
    "One block all masked. How many rows are NaN?",
    minutes=1.5,
    say="Follow one row: the first block gives nan. What is nan times 0, and nan plus anything?",
    hall="The first 64 of 512 keys are masked. In how many of 512 rows is there a nan? [512]",
)
def break_it(ill_rows):
    return [
        Bars(["rows with NaN", "of"], values, unit="", colour=["wrong", "quiet"], lying=True, words=False, top=512)
        for values in ([None, 512], [ill_rows, 512])
    ]


@slide(
    "Suppose m starts at 0. What is o / ℓ?",
    minutes=1,
    say="""
    With the scores 2, 4, 4 the result is right, and with 3 less in each score, too. It is wrong only where every
    exponential is 0.
    """,
    hall="Hands for right, zero and nan. [nan: 0 divided by 0]",
    choices="start",
)
def how_often(scores, started):
    return Tiles(
        [
            [
                "0",
                "\n".join(f"−{-s:.0f}" for s in scores - 1002),
                "\n".join(f"{p:.0f}" for p in (scores - 1002).exp()),
                f"{started[1].item():.0f}",
                ["0 / 0\n= nan", "wrong"],
            ]
        ],
        columns=["m at first", "scores", "exp(s − m)", "ℓ", "o / ℓ"],
    ).opened(2, 5)


@slide(
    "512 random keys. How many are the largest so far?",
    minutes=1,
    say="""
    The second is larger than the first in one of two cases, the third is the largest in one of three. Add up.
    """,
    hall="Bids, please. [6.8]",
)
def predict_often(often):
    return [
        Bars(["every one", "half of them", "in truth"], values, unit="", strong=2, lying=True, words=False, top=512)
        for values in ([512, 256, None], [512, 256, often])
    ]


@slide(
    "Which blocks are skipped, which masked?",
    minutes=1,
    say="""
    Read the loop's end and the if aloud. The triangle of the mask ends at the lower right, as in notebook 3. Then
    compare with PyTorch.
    """,
)
def care():
    return [
        Tiles(
            [[cell(i, j) for j in range(3)] for i in range(3)],
            columns=["keys 0–3", "keys 4–7", "keys 8–11"],
            rows=["rows 0–3", "rows 4–7", "rows 8–11"],
        )
        for cell in (
            lambda i, j: (torch.arange(4 * i, 4 * i + 4)[:, None] >= torch.arange(4 * j, 4 * j + 4)).tolist(),
            lambda i, j: ["computed", "output"] if j < i else ["masked", "weights"] if i == j else "skipped",
        )
    ]


@slide(
    "Are tiles faster here, in Python?",
    minutes=1,
    say="""
    The numbers differ between machines, so look first. For short texts our calls take more time than the
    arithmetic, and our curve is above 1; for longer texts both curves fall.
    """,
)
def time():
    """Without a picture: its board or plot is shown."""


@slide(
    "The weights are gone. What is like's weight?",
    minutes=1.5,
    say="Those who say 0.5 took softmax of the block. The lse is of the whole row.",
    hall="What is like's weight? Hands for 0.5, 0.47 and 0.4. [0.4683: e to the power of 4 - 4.7586]",
    choices="weights-again",
)
def way_back(lse, scores):
    return [
        Bars(["I", "like", "tea"], values, strong=1, top=0.6)
        for values in (unknown(3), [None, *torch.exp(scores - lse)[1:]], torch.exp(scores - lse))
    ]


@slide(
    "Two outputs and their lse. What do they give?",
    minutes=1.5,
    say="Most choose the plain mean or the mean by keys. Ask what one needs to know beside the outputs.",
    hall="The first number? Hands for 1.5, 1.67 and 1.94. [1.94]",
    choices="together",
)
def hands(together):
    return [
        Matrices(
            [
                Matrix([1, 2, 3], name="I, lse 2", thing="output"),
                Matrix([2, 7, 1.5], name="like, tea, lse 4.69", thing="output"),
                "→",
                Matrix(rows, name="together", thing="output"),
            ]
        )
        for rows in (unknown(3), together)
    ]


@slide(
    "Four machines, causal. Who waits?",
    minutes=1,
    say="""
    Ten of sixteen, but not two and a half for each. Ask how they would distribute the tokens instead.
    """,
    hall="How many of its four blocks does the first machine compute? Fingers. [1]",
)
def predict_ring():
    return [
        Matrices(
            [Matrix(rows, name="has work", thing="weights", left=["machine 0", "machine 1", "machine 2", "machine 3"])]
        )
        for rows in (unknown(4, 4), torch.ones(4, 4).tril().bool().tolist())
    ]


@slide(
    "What does a kernel store of a row?",
    minutes=0.5,
    say="Ask for the three letters, and for an order of keys in which a fault does not show.",
)
def summary():
    return again(take_text, brackets, tiles, bytes_saved)


@slide(
    "Four pieces of a kernel, now yours",
    minutes=0,
    say="""
    12.1 now if there are ten minutes, 12.2 at home. 12.3 in pairs: one writes, the other looks for sizes on
    which it fails. 12.4 is for those who have read the second reading.
    """,
)
def exercises():
    return Tiles(
        [["one\nmore key", "two\noutputs", "tiles", "the\nbackward pass"]], columns=["12.1", "12.2", "12.3", "12.4"]
    )
