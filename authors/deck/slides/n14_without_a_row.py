"""The slides of lesson 14. Attention without a row."""

from workbench.display.drawings import Bars, Beside, Crossing, Curve, Flow, Matrices, Matrix, Tiles, unknown

from . import again, slide

KEYS = (("tea", (1, 0)), ("milk", (0, 1)), ("cup", (0.6, 0.8)))


def lines(*numbers):
    return [[name, key, number] for (name, key), number in zip(KEYS, numbers, strict=True)]


@slide(
    "Attention without a row",
    minutes=0.5,
    say="""
    Remind them of the cache of notebook 10, which grows with each token. Run the imports meanwhile. Ask the opening
    question: a memory that can only add is given 3, then 5, for the same word.
    """,
)
def what_for():
    return Matrices(
        [
            Matrix([["…"] * 3] * 4, name="keys and values, growing", thing="key", bare=True),
            "→",
            Matrix(unknown(3, 3), name="one matrix", thing="weights"),
        ]
    )


@slide(
    "Can the brackets be moved?",
    minutes=1,
    say="Scores times values, or query times a matrix. Write both on the blackboard; the digits are the same.",
)
def one_matrix(scores, values, S, queries):
    return [
        Matrices(
            [
                Matrix(queries[2], name="query of tea", thing="query"),
                Matrix(matrix, name="S", thing="weights"),
                "→",
                Matrix(row, name="output", thing="output"),
            ]
        )
        for matrix, row in ((S, unknown(3)), (S, queries[2] @ S))
    ]


@slide(
    "like writes. Which line?",
    minutes=1.5,
    say="With a pencil: every number of the key times every number of the value. Then let the hall dictate the line.",
    hall="Who dictates it? [state + key[:, None] * value]",
)
def your_write(after_like, keys, values):
    first = keys[0][:, None] * values[0]
    return [
        Matrices(
            [
                Matrix(first, name="written by I", thing="weights"),
                "+",
                Matrix(keys[1][:, None], name="key", thing="key"),
                Matrix(values[1], name="value", thing="value"),
                "=",
                Matrix(rows, name="S", thing="weights"),
            ]
        )
        for rows in (unknown(3, 3), after_like)
    ]


@slide(
    "like reads with (2, 2, 2). What?",
    minutes=1.5,
    say="Those who say 4, 8, 12 have read before the write. Those who say 2, 8, 0 still use softmax.",
    hall="Three numbers, on paper. [36, 136, 12]",
)
def predict_reads(after_like, queries):
    return [
        Matrices(
            [
                Matrix(queries[1], name="query", thing="query"),
                Matrix(after_like, name="S", thing="weights"),
                "=",
                Matrix(row, name="read", thing="output"),
            ]
        )
        for row in (unknown(3), queries[1] @ after_like)
    ]


@slide(
    "What is lost without softmax?",
    minutes=1,
    say="Scores 4, 12, 10. Divided by their sum they are flat; with the exponential they are sharp.",
)
def nobody_divides(plain, soft):
    names = ["I", "like", "tea"]
    return [
        Beside(
            Bars(names, one, strong=1, caption="without exponential", top=1),
            Bars(names, two, strong=1, caption="softmax", top=1),
        )
        for one, two in ((plain, unknown(3)), (plain, soft))
    ]


@slide(
    "3, 4 and 5 are added. What does cup read?",
    minutes=1.5,
    say="Let somebody work out 0.6 · 6 + 0.8 · 8. Ask whose numbers are in the 10.",
    hall="What does cup read? [10]",
)
def three_pairs():
    return [
        Tiles(
            [["(1, 0)", 3, a], ["(0, 1)", 4, b], ["(0.6, 0.8)", 5, c]],
            columns=["key", "wrote", "reads"],
            rows=["tea", "milk", "cup"],
        )
        for a, b, c in ((None, None, None), (["6", "wrong"], ["8", "wrong"], ["10", "wrong"]))
    ]


@slide(
    "cup reads 5 already. How to make it 15?",
    minutes=1.5,
    say="It reads 5 before it has written anything. So only 10 are missing. Let the hall dictate.",
    hall="Who dictates it? [before_cup + cup_key * (number - cup_key @ before_cup)]",
)
def your_delta(after_cup):
    return [
        Matrices(
            [
                Matrix([3, 4], name="S", thing="weights"),
                "+",
                Matrix([error], name="error", thing="wrong"),
                "·",
                Matrix([0.6, 0.8], name="key", thing="key"),
                "=",
                Matrix(rows, name="S", thing="weights"),
            ]
        )
        for error, rows in ((None, unknown(2)), (10, after_cup))
    ]


@slide(
    "cup gets 10, not 5. What does tea read?",
    minutes=1.5,
    say="cup now reads 10, as it should. Ask what that has cost, and whom.",
    hall="What does tea read now? Hands for 3, 6 and 9. [6]",
)
def predict_pushed():
    return [
        Tiles(
            [[3, 3, a], [4, 4, b], [10, 5, c]],
            columns=["wrote", "read before", "reads now"],
            rows=["tea", "milk", "cup"],
        )
        for a, b, c in ((None, None, None), (["6", "wrong"], ["8", "wrong"], 10))
    ]


@slide(
    "Which states read 3 with the key of tea?",
    minutes=1.5,
    say="""
    Draw it on the blackboard first: all points whose first number is 3. Then milk, then let somebody draw cup. The
    sum walks on, the delta rule stays.
    """,
)
def line():
    added, kept = [(0, 0), (3, 0), (3, 4), (6, 8)], [(0, 0), (3, 0), (3, 4)]
    steps = (
        (lines(None, None, None), added[:1], kept[:1]),
        (lines(3, None, None), added[:2], kept[:2]),
        (lines(3, 4, 5), added, kept),
    )
    return [
        Beside(Crossing(pairs, way, caption="the sum"), Crossing(pairs, other, caption="the delta rule"))
        for pairs, way, other in steps
    ]


@slide(
    "cup is 10. Where does the point go?",
    minutes=1.5,
    say="""
    At a right angle onto the line of cup, and away from the crossing of the other two. There is a state for any
    two pairs with keys in different directions; one pass finds it if the keys are at a right angle.
    """,
)
def miss():
    pairs = lines(3, 4, 10)
    return [Crossing(pairs, way) for way in ([(0, 0), (3, 0), (3, 4)], [(0, 0), (3, 0), (3, 4), (6, 8)])]


@slide(
    "Which number can cup be given?",
    minutes=4,
    say="""
    Read the task. Take bids, choose the delta rule, then drag the line of cup until the point stands on all three.
    Then the longer key, for a laugh: the point runs away.
    """,
    hall="Which number of cup lets all three be read back? [8: its line goes through the crossing of the other two]",
)
def play():
    """Without a picture: its board or plot is shown."""


@slide(
    "64 pairs, 32 features. Who gives back more?",
    minutes=1.5,
    say="Nearly everybody says the delta rule. It is the better one for the newest quarter, and only there.",
    hall="Hands for sum, delta and equal. [sum]",
    choices="more",
)
def how_many(draws):
    quarters = [right.double().view(50, 4, 16).mean(dim=(0, 2)) for right in draws]
    names = ["oldest", "older", "newer", "newest"]
    return [
        Beside(
            Bars(names, one, caption="sum", words=False, top=1),
            Bars(names, two, caption="delta rule", words=False, top=1),
        )
        for one, two in ((unknown(4), unknown(4)), quarters)
    ]


@slide(
    "Four keys, written sixteen times. What is due?",
    minutes=1,
    say="Read the text aloud, row by row, and let them find the newest value of each key that is asked.",
)
def who_overwrites(states, tokens, due):
    *told, a, b, c, d = states.as_words(tokens[0]).split()
    pairs = [f"{key} {value}" for key, value in zip(told[::2], told[1::2], strict=True)]
    asked = [f"{key} {value}" for key, value in zip((a, b, c, d), states.as_words(due[0]).split(), strict=True)]
    newest = {len(pairs) - 1 - pairs[::-1].index(pair) for pair in asked}
    marked = [[pair, "output"] if i in newest else pair for i, pair in enumerate(pairs)]
    return [
        Tiles([cells[i : i + 4] for i in range(0, 16, 4)] + [last], rows=["written", "", "", "", "asked"])
        for cells, last in (
            (pairs, [f"{key} ?" for key in (a, b, c, d)]),
            (marked, [[pair, "output"] for pair in asked]),
        )
    ]


@slide(
    "Sixteen writes: which are below half?",
    minutes=2,
    say="""
    The training takes eight seconds: take the hands meanwhile. Say that this is one layer without positions, and
    that five seeds of five gave the same.
    """,
    hall="Which stay below one half after sixteen writes? [softmax and the sum]",
    choices="below",
)
def predict_below(share):
    names = list(share)
    return [
        Bars(names, values, words=False, strong=3, top=1)
        for values in (unknown(4), [right[2] for right in share.values()])
    ]


@slide(
    "Which share of 16 pairs does delta get?",
    minutes=2,
    say="Now the delta rule is no better than the sum: four features are too few. One layer of softmax finds all.",
    hall="Which share of the 16 is right with the delta rule, the first bar? [about a quarter, 4 of 16]",
)
def recall(recalled):
    names = ["delta", "sum", "softmax", "sum, then softmax"]
    return [Bars(names, values, words=False, strong=3, top=1) for values in (unknown(4), list(recalled.values()))]


@slide(
    "4, then 10, a gate of one half. What is read?",
    minutes=1,
    say="4, then it fades to 2, the error is 8, and 10 is read. With the error taken first it would be 8.",
)
def gate():
    return Tiles(
        [[4, 0, 4, 4], [10, 2, 8, ["10", "output"]]],
        columns=["number", "after fading", "error", "reads"],
        rows=["first", "second"],
    ).opened(4, 8)


@slide(
    "Three gates of one half. Which line?",
    minutes=2,
    say="The old state has met all three gates, the first write two of them, the last write none.",
    hall="Who dictates it? [faded * before + (left[:, None] * keys).T @ values]",
    short=0,
)
def in_chunks():
    columns = ["the old state", "written 1st", "2nd", "3rd"]
    return [Tiles([left], columns=columns) for left in (unknown(4), ["⅛", "¼", "½", "1"])]


@slide(
    "128 features. When are cache and state equal?",
    minutes=2,
    say="Two bytes and four bytes. Then the table of Qwen3-Next: more for short texts, a quarter for long ones.",
    hall="At how many tokens is the cache as large as the state? [128]",
)
def weighs():
    d = 128
    n = list(range(0, 513, 32))
    cache, state = [4 * d * k / 1024 for k in n], [4 * d * d / 1024] * len(n)
    return [
        Curve(
            n,
            {"cache": cache, "state": state},
            things={"cache": "key", "state": "weights"},
            axes=("tokens", "KiB"),
            upto=upto,
            ticks=ticks,
        )
        for upto, ticks in ((32, [0, 512]), (512, [0, d, 512]))
    ]


@slide(
    "Ones in bfloat16. Where does the state stop?",
    minutes=1.5,
    say="257 needs nine binary digits. Then 100, faded 1,000 times by 0.998: each time 99.8 is rounded to 100 again.",
    hall="Where does it stop? [256]",
)
def break_it(half_precision, remains):
    names, right = ["bfloat16", "right"], (3000, 100 * 0.998**1000)
    numbers = {"unit": "", "words": False, "lying": True, "wrong": 0}
    return [
        Beside(
            Bars(names, [ones, right[0]], caption="3000 ones added", top=3000, **numbers),
            Bars(names, [left, right[1]], caption="100, faded 1,000 times by .998", top=100, **numbers),
        )
        for ones, left in ((None, None), (half_precision, remains))
    ]


@slide(
    "Do large models need rows?",
    minutes=0.5,
    say="Those who build them disagree. Say that our puzzles do not decide it.",
)
def disputed():
    return Tiles(
        [["3 of 4"], ["7 of 8"], ["none"]],
        columns=["layers without softmax"],
        rows=["Kimi Linear", "MiniMax-01", "MiniMax-M2"],
    ).opened(0, 1, 2, 3)


@slide(
    "Six faults. How many does one chunk show?",
    minutes=0,
    say="For those who write such code. Hand a state in, and compare the one that comes out.",
    hall="How many of the six does the test with one chunk find? [2]",
)
def tests_second(table):
    names = ["one chunk", "and its state", "odd text"]
    rows = ["one chunk", "one chunk, and state", "odd text"]
    return [
        Bars(names, values, unit="", words=False, lying=True, top=6)
        for values in (unknown(3), [sum(table[row].values()) for row in rows])
    ]


@slide(
    "Two parts are exchanged. Still 9?",
    minutes=0,
    say="Work it out on the blackboard. In lesson 12 order did not matter, as nothing faded.",
    hall="The second number now? [8]",
)
def order_second():
    return [Tiles([["9", x]], columns=["in order", "exchanged"], open=k) for k, x in ((1, "?"), (2, ["8", "wrong"]))]


@slide(
    "The key is 2, 3 is written. What is read?",
    minutes=0,
    say="12, then −24, 84, −240: an error is multiplied by 1 − |k|² at each write.",
    hall="What does it read? [12]",
)
def long_second(readings):
    return [
        Tiles([values], columns=["1st", "2nd", "3rd", "4th"], open=k)
        for k, values in ((0, ["12", "−24", "84", "−240"]), (4, [f"{x:.0f}".replace("-", "−") for x in readings[:4]]))
    ]


@slide(
    "What does a word's error depend on?",
    minutes=0,
    say="On the old state, and on the errors of the words before it in the chunk: a triangular system.",
)
def errors_second():
    boxes = {"old state": [0, 1], "1st error": [2, 0], "2nd error": [1, 1], "3rd error": [2, 2]}
    arrows = [["old state", name] for name in list(boxes)[1:]]
    arrows += [["1st error", "2nd error"], ["1st error", "3rd error"], ["2nd error", "3rd error"]]
    return [Flow(boxes, arrows=some, things=dict.fromkeys(boxes, "weights")) for some in (arrows[:3], arrows)]


@slide(
    "Can a write be taken back?",
    minutes=0,
    say="Two pasts, 3 and −7, lead to the same state. A cache is cut; of a state one keeps copies.",
    hall="Hands for yes and no. [no]",
    choices="back",
)
def back_second(after):
    return [
        Matrices(
            [
                Matrix([3, 4], name="one past", thing="weights"),
                Matrix([-7, 4], name="another", thing="weights"),
                "→",
                Matrix(one, name="after", thing="output"),
                Matrix(other, name="after", thing="output"),
            ]
        )
        for one, other in ((unknown(2), unknown(2)), after)
    ]


@slide(
    "Softmax with RoPE, at 16 and at 24 writes?",
    minutes=0,
    say="With positions softmax can tell the newest, up to the length of its training texts.",
)
def rope_second(helped):
    names = ["RoPE, 16", "RoPE, 24", "and delta, 16", "and delta, 24"]
    right = [share for shares in helped.values() for share in shares]
    return [Bars(names, values, words=False, top=1, lying=True) for values in (unknown(4), right)]


@slide(
    "What is stored of all that was read?",
    minutes=0.5,
    say="Ask what a sum, a gate and the delta rule each forget, and for the number at which ones stop.",
)
def summary():
    return again(your_write, line, predict_below, break_it)


@slide(
    "Three exercises",
    minutes=0,
    say="14.1 now if there are ten minutes, 14.2 at home. The last ward of notebook 6 has four faults of states.",
)
def exercises():
    return Tiles([["one\ntoken", "a chunk\nwith a gate", "from where\non"]], columns=["14.1", "14.2", "14.3"])


@slide(
    "Words that you will meet",
    minutes=0,
    say="Not for the hall: a page to come back to. A part of each word is in one of the lessons.",
)
def words():
    return Tiles(
        [["QK-norm", "sinks", "YaRN", "NoPE"], ["MLA", "pages", "selected keys", "hybrids"]],
    )
