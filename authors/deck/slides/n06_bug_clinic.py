"""The slides of lesson 6. The bug clinic."""

import math

import torch
import torch.nn.functional as F

from workbench.display.drawings import Bars, Lines, Matrices, Matrix, Tiles, unknown

from . import slide


def normal(*size, seed):
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed))


def chart(alike, outcome, PATIENTS, tests):
    """Which test catches which patient, a row for each test; "hatch" where it raises an error."""
    signs = {"caught": True, "·": False, "raises": "hatch"}
    return [[signs[outcome(test, PATIENTS[name].buggy)] for name in alike] for test in tests]


def uncovered(seen, alike, tests, shows, mark=()):
    """The chart with those places open of which shows(row, patient) is true."""
    rows = [
        [value if shows(i, name) else None for name, value in zip(alike, row, strict=True)]
        for i, row in enumerate(seen)
    ]
    names = [test.__name__ for test in tests]
    return Matrices([Matrix(rows, thing="weights", left=names, top=alike, mark=mark)])


def parted(patients, PATIENTS, rotary, scaled_dot_product_attention, window_mask):
    """Which patients of the ward of memory give something else than right code, read in four ways."""

    def is_wrong(name, chunks, heads, window):
        q, k, v = normal(3, 1, 4, 8, 6, seed=0)
        k, v = k[:, :heads], v[:, :heads]
        right = scaled_dot_product_attention(
            rotary(q),
            rotary(k).repeat_interleave(4 // heads, dim=1),
            v.repeat_interleave(4 // heads, dim=1),
            window_mask(8, 8, window),
        )[0]
        return not torch.allclose(PATIENTS[name].buggy(q, k, v, chunks, window), right, atol=1e-4)

    ways = {
        "one by one": ([1] * 8, 4, 99),
        "prompt, two": ([6, 2], 4, 99),
        "shared heads": ([8], 2, 99),
        "a window": ([1] * 8, 4, 3),
    }
    rows = [[is_wrong(name, *way) for name in patients] for way in ways.values()]
    return [
        Matrices([Matrix(r, thing="wrong", left=list(ways), top=patients)]) for r in (unknown(4, len(patients)), rows)
    ]


@slide(
    "The bug clinic",
    minutes=1,
    say="""
    Mistakes like these were found in public code. Say it: this happens to people who know what they are doing.
    Shift+Enter runs the imports, which no slide shows; the first run takes a few seconds.
    """,
)
def title(PATIENTS, scaled_dot_product_attention):
    q, k, v = normal(3, 1, 3, 3, seed=0)
    a, b = (scaled_dot_product_attention(q, k, v)[0], PATIENTS["6.3"].buggy(q, k, v))
    return Matrices(
        [Matrix(a[0], name="healthy", thing="output"), "?", Matrix(b[0], name="patient 6.3", thing="output")]
    )


@slide(
    "Which shape does this patient return?",
    minutes=2,
    say="""
    Read the source aloud, as a doctor reads a chart. Then the sizes: all different, so that no two axes can be
    mixed up.
    """,
    hall="What shape comes out? Hands. [2 sentences, 4 queries, values of 3: (2, 4, 3), as it should be]",
)
def shape(k, patient, q, v):
    return Lines(
        patient.source, caption=", ".join((f"{name} {tuple(x.shape)}" for name, x in (("q", q), ("k", k), ("v", v))))
    )


@slide(
    "What do the weights of one sentence add up to?",
    minutes=1.5,
    say="""
    The trick with the unit matrix is worth a blackboard: weights times a unit matrix. Let them read the source
    for half a minute.
    """,
    hall="""
    What do all the weights of one sentence add up to? Hands for 1, 4, 5. [5: the weights of each key sum to 1,
    not those of each query]
    """,
    choices="weights-sum",
)
def sum_of_weights(k, patient, q, unit):
    one = patient.buggy(q, k, unit)[0]
    return [
        Matrices(
            [
                Matrix(w, name="weights", thing="weights", left=[*(f"query {i}" for i in range(4)), "sum"]),
                Matrix(t, name="sum", thing="scores"),
            ]
        )
        for w, t in (
            (unknown(5, 5), unknown(5, 1)),
            ([*one.tolist(), one.sum(dim=0).tolist()], [*one.sum(dim=1)[:, None].tolist(), [one.sum().item()]]),
        )
    ]


@slide(
    "Which line is it?",
    minutes=2,
    say="""
    The columns sum to 1. Follow the trace line by line with a finger (key c): which line decides along which
    axis? Half a minute to read it again, then vote on the line.
    """,
    hall="""
    Which line, and which fault? Hands for each line. [Line 5, wrong axis: the softmax runs along the queries]
    """,
)
def which_line(line_3, patient):
    return [Lines(patient.source, mark=mark) for mark in ({}, {line_3: "wrong"})]


@slide(
    "Which of these names is its fault?",
    minutes=1,
    say="Read the names aloud: each of them fits several patients.",
)
def its_name(fault_3, FAULTS):
    return [
        Tiles(
            [
                [
                    [name.replace(" ", "\n"), "wrong"] if k and name == fault_3 else name.replace(" ", "\n")
                    for name in row
                ]
                for row in (list(FAULTS)[:5], list(FAULTS)[5:10])
            ]
        )
        for k in (0, 1)
    ]


@slide(
    "Now mend it: what has to change?",
    minutes=1,
    say="""
    One number changes. Type it and run both cells. Then trace both: equal, equal, equal, and then the first
    operation that differs.
    """,
)
def the_mending(line_3, patient):
    return Lines(patient.source.splitlines()[line_3 - 1].strip(), first=line_3, mark={line_3: "wrong"})


@slide(
    "Values of 1: is only this patient wrong?",
    minutes=3,
    say="""
    Let somebody say why values of 1 must come out as 1 before you run it. Then read the verdict aloud, part by
    part: two are right, the third is not, and it says for which other patients the test returns True.
    """,
    hall="""
    Why do values of 1 show this fault? Neighbours. [The weights of each query should sum to 1, so each number
    of the output should be 1]
    """,
)
def values_of_1(k, mended_3, patient, PATIENTS, q):
    return [
        Matrices(
            [
                Matrix(attention(q, k, torch.ones(2, 5, 3))[0] if i < n else unknown(4, 3), name=name, thing=thing)
                for i, (name, attention, thing) in enumerate(
                    (
                        ("mended", mended_3, "output"),
                        ("6.3", patient.buggy, "wrong"),
                        ("6.4", PATIENTS["6.4"].buggy, "wrong"),
                    )
                )
            ]
        )
        for n in (1, 2, 3)
    ]


@slide(
    "All other queries change: what must stay?",
    minutes=2,
    say="Do not tell the line; let the hall say it in words first, then type what they say.",
    hall="""
    All queries but the first change. What must be true of the first one's output? Shout. [It stays: compare
    before and after]
    """,
)
def others_ask(k, mended_3, patient, q, v):
    others = torch.cat([q[:, :1], -q[:, 1:]], dim=1)
    return [
        Matrices(
            [
                Matrix([mended_3(q, k, v)[0, 0].tolist(), a], name="mended", thing="output", left=["before", "after"]),
                Matrix([patient.buggy(q, k, v)[0, 0].tolist(), b], name="patient 6.3", thing="output"),
            ]
        )
        for a, b in (
            (unknown(3), unknown(3)),
            (mended_3(others, k, v)[0, 0].tolist(), unknown(3)),
            (mended_3(others, k, v)[0, 0].tolist(), patient.buggy(others, k, v)[0, 0].tolist()),
        )
    ]


@slide(
    "Does the mask have any effect?",
    minutes=1,
    say="Read it, and ask what line 4 returns, and where the result is used.",
    hall="""
    Does the mask have any effect? Hands. [No: masked_fill returns a new tensor, and it is not used]
    """,
)
def mask_without_effect(PATIENTS, with_mask, without):
    return [
        Lines(PATIENTS["6.5"].source, caption=f"largest difference that the mask makes: {d}")
        for d in ("?", f"{(with_mask - without).abs().max():g}")
    ]


@slide(
    "Which line shows its weights?",
    minutes=1,
    say="""
    The unit matrix again, now with the mask. The surprise is in the trace (key c), without anything to compare
    with.
    """,
    hall="""
    Who dictates the line? [PATIENTS["6.5"].buggy(q, k, unit, mask)]
    """,
)
def unit_values(mask, weights_5):
    return [
        Matrices(
            [
                Matrix(mask, name="mask", thing="weights", left=[f"query {i}" for i in range(4)]),
                "→",
                Matrix(rows, name="patient 6.5", thing="weights", mark=mark),
            ]
        )
        for rows, mark in ((unknown(4, 5), []), (weights_5[0], [0]))
    ]


@slide(
    "The mask is lost: what is true of both outputs?",
    minutes=2.5,
    say="""
    Fill in the parts together, in any order, and run check after each: it says which of the three is right so
    far.
    """,
    hall="What is true of the two outputs if the mask is lost? Shout. [They are equal]",
)
def the_lost_mask(k, mask, q, scaled_dot_product_attention, v, with_mask, without):
    return [
        Matrices(
            [
                Matrix(
                    [scaled_dot_product_attention(q, k, v, m)[0][0, 0].tolist() for m in (mask, None)],
                    name="healthy",
                    thing="output",
                    left=["with mask", "without"],
                ),
                Matrix([with_mask[0, 0].tolist(), r], name="patient 6.5", thing="output"),
            ]
        )
        for r in (unknown(3), without[0, 0].tolist())
    ]


@slide(
    "How many of eleven does the shape test catch?",
    minutes=3,
    say="""
    Eleven patients take the same arguments, so one test can examine them all. Name the seven tests one by one,
    a sentence each; the code is for later. What a mask hides must have no influence; a row with all keys
    hidden; extremely large scores. Right code passes all seven. If a patient raises an error, the test has not found
    it: such places are hatched. Then let them guess the first row; write it on the blackboard and leave it there.
    """,
    hall="""
    How many patients does the shape test catch? A number. [0; 6.20 raises an error, but the test does not
    return True]
    """,
)
def shape_test(alike, outcome, PATIENTS, tests):
    seen = chart(alike, outcome, PATIENTS, tests)
    return [
        uncovered(seen, alike, tests, lambda row, name: False),
        uncovered(seen, alike, tests, lambda row, name: row == 0, mark=[0]),
    ]


@slide(
    "The lost mask, 6.5: how many tests find it?",
    minutes=1.5,
    short=0,
    say="Go through the seven one by one: which of them pass a mask at all?",
    hall="How many of the seven tests catch the second patient, whose mask is lost? A number. [4]",
)
def who_notices(alike, outcome, PATIENTS, tests):
    seen = chart(alike, outcome, PATIENTS, tests)
    return [
        uncovered(seen, alike, tests, lambda row, name: row == 0),
        uncovered(seen, alike, tests, lambda row, name: row == 0 or name == "6.5"),
    ]


@slide(
    "How many of the seven do you need?",
    minutes=2.5,
    say="""
    Read three rows aloud: shape, random, huge scores. Then one column. Every fault needs a test that finds it.
    """,
    hall="""
    How many of the seven do you need to find every patient? Neighbours, one minute. [3: dead_row for 6.10 and
    6.11, huge_scores for 6.9, and random_input or masked_input for 6.1]
    """,
)
def seven_tests(alike, outcome, PATIENTS, tests):
    seen = chart(alike, outcome, PATIENTS, tests)
    return [
        uncovered(seen, alike, tests, lambda row, name: row == 0 or name == "6.5"),
        uncovered(seen, alike, tests, lambda row, name: row < 4 or name == "6.5"),
        uncovered(seen, alike, tests, lambda row, name: True),
        uncovered(seen, alike, tests, lambda row, name: True, mark=[2, 5, 6]),
    ]


@slide(
    "A stranger without source: what is its fault?",
    minutes=3,
    say="""
    It has no source. Four of the seven tests find it, and the same four find 6.5, 6.6 and 6.7: the chart does
    not tell the three apart. On the right are its weights under a causal mask. Vote, and let somebody say why; the
    first row has three equal numbers. Then tell them what their own tests are for: night_shift runs them on twelve
    strangers.
    """,
    hall="""
    What is wrong with the stranger: is the mask not used, exchanged, or too weak? Hands for each. [Too weak:
    the mask has an effect, and each hidden key keeps a little]
    """,
    choices="stranger",
)
def a_stranger(k, mask, night, q, unit):
    return [
        Matrices(
            [
                Matrix(mask, name="mask", thing="weights", left=[f"query {i}" for i in range(4)]),
                "→",
                Matrix(night["C"](q, k, unit, mask)[0], name="stranger C", thing="weights", mark=mark),
            ]
        )
        for mark in ([], [0])
    ]


@slide(
    "√d_v for √d_k: how many of seven find it?",
    minutes=2,
    say="""
    Take two guesses before you run it. The tests find it because all sizes differ. Then the hall makes a bug: let it
    propose a change, type it into the right code (key c), and run the cell below it.
    """,
    hall="""
    √d_v in place of √d_k: how many of the seven tests find it? Hands. [2: the two that compare with right code
    on ordinary numbers]
    """,
)
def sabotage(mended_3, saboteur, tests):
    return [
        Matrices(
            [
                Matrix(
                    [[test(mended_3)] for test in tests],
                    name="healthy",
                    left=[test.__name__ for test in tests],
                    thing="weights",
                ),
                "  →  ",
                Matrix(rows, name="sabotage", thing="weights"),
            ]
        )
        for rows in (unknown(7, 1), [[bool(test(saboteur))] for test in tests])
    ]


@slide(
    "How is wrong code found?",
    minutes=1,
    say="One sentence each; the last one is for their own repositories.",
)
def summary():
    return Tiles(
        [
            ["compare,\nall sizes different", "a mask,\na dead row"],
            ["change what\na mask hides", "a unit matrix\nfor values"],
        ]
    ).opened(*range(5))


@slide(
    "Which patient do you examine?",
    minutes=4,
    short=1,
    say="""
    Form pairs and give each pair one patient of the first ward. Five minutes, then two pairs report: which
    line, which fault, and which test shows it.
    """,
    hall="""
    Two pairs report: which line was it, and for which other patients did your first test say True? [6.1: line
    2, no scale; 6.4: line 6, the weights are not used; `solution` has each]
    """,
)
def wards():
    return Tiles(
        [
            ["scores,\nweights", "masks", "extreme\ncases"],
            ["heads", "dropout", "a whole\npass"],
            ["memory", "blocks", "tiles"],
        ]
    )


@slide(
    "Patient 6.1: which line is wrong?",
    minutes=0,
    say="""
    Self-study. Nothing divides by √d_k. A comparison with right code finds it, but without a mask it finds 6.3 and
    6.4 too. The weights of 6.1 still sum to 1; those of 6.3 and 6.4 do not.
    """,
)
def patient_1(k, PATIENTS, q, scaled_dot_product_attention, v):
    off = (PATIENTS["6.1"].buggy(q, k, v) - scaled_dot_product_attention(q, k, v)[0]).abs().max()
    return [
        Lines(PATIENTS["6.1"].source, caption=caption) for caption in (None, f"right code differs by up to {off:.2f}")
    ]


@slide(
    "Patient 6.2: which line is wrong?",
    minutes=0,
    say="""
    Self-study. √embed_dim where √head_dim belongs: wrong only with more than one head. With w_q = 0 it is
    right; 6.16 and 6.21, whose heads or projections are wrong, are not.
    """,
)
def patient_2(merge_heads, PATIENTS, scaled_dot_product_attention, split_heads):
    x, ws = normal(2, 5, 6, seed=0), normal(4, 6, 6, seed=1)
    off = []
    for heads in (1, 3):
        right = merge_heads(scaled_dot_product_attention(*(split_heads(x @ w, heads) for w in ws[:3]))[0]) @ ws[3]
        off.append((PATIENTS["6.2"].buggy(x, *ws, heads) - right).abs().max())
    return [
        Lines(PATIENTS["6.2"].source, caption=caption)
        for caption in (None, f"one head: off by {off[0]:.2f}; three heads: {off[1]:.2f}")
    ]


@slide(
    "Patient 6.4: which line is wrong?",
    minutes=0,
    say="""
    Self-study. The softmax is thrown away, as in the tutorial of notebook 2. With one query and one key the
    value has to come out.
    """,
)
def patient_4(k, PATIENTS, q, unit):
    off = PATIENTS["6.4"].buggy(q, k, unit)[0, 0].sum()
    return [
        Lines(PATIENTS["6.4"].source, caption=caption)
        for caption in (None, f"the weights of query 0 add up to {off:.2f}".replace("-", "−"))
    ]


@slide(
    "Patient 6.20: which line is wrong?",
    minutes=0,
    say="""
    Self-study. Query and key are exchanged. Other sizes raise an error; to test it, equal sizes are needed.
    Changing one query moves other outputs.
    """,
)
def patient_20(k, PATIENTS, q, v):
    k, v, buggy = k[:, :4], v[:, :4], PATIENTS["6.20"].buggy  # as many keys as queries
    others_ask = torch.cat([q[:, :1], -q[:, 1:]], dim=1)
    off = (buggy(q, k, v) - buggy(others_ask, k, v))[:, 0].abs().max()
    return [
        Lines(PATIENTS["6.20"].source, caption=caption)
        for caption in (None, f"other queries change: output 0 changes by {off:.2f}")
    ]


@slide(
    "A causal mask: which keys does each patient use?",
    minutes=0,
    say="""
    Self-study. Key c shows all three. 6.6: True and False are exchanged. Allow only one key, change its value,
    and nothing changes. 6.7: The mask is added as 0 and 1: the weights change a little and no key is hidden.
    All weights are above 0, and the mask has an effect. 6.8: Weights are set to 0 after softmax: with values
    of 1 the output is 1 without a mask, but not with one.
    """,
)
def mask_ward(causal_mask, k, masked_softmax, PATIENTS, q):
    a, b, one, m = (q[:, :3], k[:, :4], torch.eye(4).expand(2, 4, 4), causal_mask(3, 4))
    return [
        Matrices(
            [
                Matrix(w if i == 0 or s else unknown(3, 4), name=name, thing="weights")
                for i, (name, w) in enumerate(
                    (
                        ("healthy", masked_softmax(a @ b.mT / math.sqrt(8), m)[0]),
                        *((name, PATIENTS[name].buggy(a, b, one, m)[0]) for name in ("6.6", "6.7", "6.8")),
                    )
                )
            ]
        )
        for s in (0, 1)
    ]


@slide(
    "Other arguments: which keys do these use?",
    minutes=0,
    say="""
    Self-study. Key c shows them; 6.19 needs as many sentences as heads. 6.13: With lengths given, the causal
    mask is lost. Lengths and mask as two arguments must give the same as one mask made of both. 6.14: The
    triangle starts at the top left: this is right for as many queries as keys. The newest queries alone must get the
    same outputs as among all queries.
    6.19: The mask of each sentence is used as the mask of each head. As many sentences as heads, and then one
    sentence alone. 6.34 is healthy: its table has a row for each key, and the other lines fit that.
    """,
)
def own_calls(k, mask, PATIENTS, q, unit):
    return [
        Matrices(
            [
                Matrix(w if i == 0 or s else unknown(4, 5), name=name, thing="weights")
                for i, (name, w) in enumerate(
                    (
                        ("healthy", mask),
                        ("6.13", PATIENTS["6.13"].buggy(q, k, unit, [5, 5], mask)[0] > 0),
                        ("6.14", PATIENTS["6.14"].buggy(q, k, unit)[0] > 0),
                    )
                )
            ]
        )
        for s in (0, 1)
    ]


@slide(
    "Off by how much, on which input?",
    minutes=0,
    say="""
    Self-study. Key c shows all four. 6.9: A finite fill value, and real scores that are even lower. It is wrong
    with huge scores and right with ordinary ones. 6.10: A dead row gets the average of everything, while the
    mask works elsewhere. 6.11: A dead row is NaN. Ask whether the numbers are numbers. 6.12: Padded queries are
    masked along with the keys, and the gradient is NaN. backward() shows it.
    """,
)
def extreme_cases(k, mask, PATIENTS, q, scaled_dot_product_attention, v):
    return Tiles(
        [
            [
                ["0", "output"] if off < 0.0001 else [f"{off:.2f}", "wrong"]
                for off in (
                    (PATIENTS[name].buggy(a, b, v, m) - scaled_dot_product_attention(a, b, v, m)[0]).abs().max()
                    for a, b, m in (
                        (q, k, mask),
                        (q, k, mask & torch.tensor([False, True, True, True])[:, None]),
                        (-100000.0 * q.abs(), 100000.0 * k.abs(), mask),
                    )
                )
            ]
            for name in ("6.9", "6.10", "6.11")
        ],
        columns=["ordinary", "dead row", "huge scores"],
        rows=["6.9", "6.10", "6.11"],
    ).opened(0, 3, 6, 9)


@slide(
    "Six features, 1, 3 or 4 heads: which are wrong?",
    minutes=0,
    say="""
    Self-study. Key c shows all four. 6.16: Heads cut with view alone. Without a mask, if the tokens are
    reordered, the outputs must be reordered too. 6.17: A −1 in a view makes additional tokens when num_heads
    does not divide the features. Right code raises an error. 6.18: repeat in place of repeat_interleave: head 1
    of sentence 0 has the length of sentence 1. One sentence alone must get the same. 6.21: The output
    projection is never used. Change w_o: nothing changes.
    """,
)
def heads_ward(merge_heads, outcome, PATIENTS, scaled_dot_product_attention, split_heads):
    x, ws = normal(2, 4, 6, seed=0), normal(4, 6, 6, seed=1)
    right = {
        h: merge_heads(scaled_dot_product_attention(*(split_heads(x @ w, h) for w in ws[:3]))[0]) @ ws[3]
        for h in (1, 3)
    }
    return Tiles(
        [
            [
                *(
                    ["0", "output"] if off < 0.0001 else [f"{off:.2f}", "wrong"]
                    for off in ((PATIENTS[name].buggy(x, *ws, h) - right[h]).abs().max() for h in (1, 3))
                ),
                ["runs", "wrong"]
                if outcome(lambda attention: attention(x, *ws, 4) is not None, PATIENTS[name].buggy) == "caught"
                else ["an error", "output"],
            ]
            for name in ("6.16", "6.17", "6.21")
        ],
        columns=["1 head", "3 heads", "4 heads"],
        rows=["6.16", "6.17", "6.21"],
    ).opened(0, 3, 6, 9)


@slide(
    "After eval(), called twice: is it the same?",
    minutes=0,
    say="Self-study. Dropout that stays on in eval. Call it twice after eval() and compare.",
)
def no_rest(k, PATIENTS, q, v):
    made = PATIENTS["6.15"].buggy.eval()
    torch.manual_seed(1)
    first, second = made(q, k, v)[0], made(q, k, v)[0]
    return [
        Matrices(
            [Matrix(first, name="first call", thing="output"), "and", Matrix(rows, name="second call", thing="output")]
        )
        for rows in (unknown(4, 3), second)
    ]


@slide(
    "Six tokens in chunks: how far off is each?",
    minutes=0,
    say="""
    Self-study; the 40 lines are in the notebook. Nothing tells the line or the topic. Ask how tests usually cut a
    text for a cache: into a prompt and one word after it. 6.33: The count of tokens starts
    from 0 again with each chunk, so the third is the first that is wrong.
    """,
)
def chunks(causal_mask, merge_heads, PATIENTS, scaled_dot_product_attention, split_heads):
    x, ws = normal(1, 6, 4, seed=0), normal(4, 4, 4, seed=1)
    right = (
        merge_heads(scaled_dot_product_attention(*(split_heads(x @ w, 2) for w in ws[:3]), causal_mask(6))[0]) @ ws[3]
    )
    rows = torch.stack(
        [
            (PATIENTS["6.33"].buggy(x, *ws, 2, chunks, torch.tensor([6])) - right)[0].abs().amax(dim=-1)
            for chunks in ([6], [3, 3], [4, 2], [1] * 6)
        ],
        dim=-1,
    ).round(decimals=3)
    return [
        Matrices(
            [
                Matrix(
                    rows if s else unknown(6, 4),
                    thing="wrong",
                    left=[f"token {i}" for i in range(6)],
                    top=["6", "3 + 3", "4 + 2", "1 + …"],
                )
            ]
        )
        for s in (0, 1)
    ]


@slide(
    "Twelve strangers: which do your tests recognise?",
    minutes=0,
    say="""
    Self-study. Whoever has written a test runs night_shift(globals()): twelve strangers whose code nobody can
    read, and one of them is healthy. The chart says which stranger each test recognises. Where two tests
    return True for one stranger, one of them is not specific enough: let the hall find which.
    """,
)
def night_shift():
    return Tiles([list("ABCDEF"), list("GHIJKL")])


@slide(
    "Read like this: which differ from right code?",
    minutes=0,
    say="""
    Self-study, after notebook 10; key c shows both. Say that these are optional, for those who know that
    notebook. 6.22: The mask of a chunk begins at the upper left. Queries of 0 make plain averages: read six at
    once, and five and one. 6.23: There is no mask once there is a cache. Five and one is right, four and two is
    not.
    """,
)
def memory_ward(PATIENTS, rotary, scaled_dot_product_attention, window_mask):
    return parted(["6.22", "6.23"], PATIENTS, rotary, scaled_dot_product_attention, window_mask)


@slide(
    "And which differ here?",
    minutes=0,
    say="""
    Self-study, after notebook 10; key c shows both. 6.24: Each chunk's positions begin at 0. With queries of 0
    the cut does not matter, with others it does. 6.25: The stored heads are tiled. Give each query head a copy
    of its keys and values, and compare.
    """,
)
def memory_ward_later(PATIENTS, rotary, scaled_dot_product_attention, window_mask):
    return parted(["6.24", "6.25"], PATIENTS, rotary, scaled_dot_product_attention, window_mask)


@slide(
    "The last of the ward: when does it differ?",
    minutes=0,
    say="""
    Self-study, after notebook 10. One token too many is removed. It shows only where the text is at least as long
    as its window.
    """,
)
def memory_ward_last(PATIENTS, rotary, scaled_dot_product_attention, window_mask):
    return parted(["6.26"], PATIENTS, rotary, scaled_dot_product_attention, window_mask)


@slide(
    "One block, four tokens: how far off is each?",
    minutes=0,
    say="""
    Self-study, after notebook 11; key c shows all three. Say that these are optional, for those who know that
    notebook. 6.27: The residual path begins after the norm. A token whose features are all equal must not
    change, but becomes 0. 6.28: The norm runs along the text, and no mask stops it. A text of one token is
    normed to 0. 6.29: The MLP reads the row as it was before the attention. One token, and a sum by hand.
    Homework for the brave: bring code of your own, or of a repository you like, and examine it next time.
    """,
)
def block_ward(causal_mask, PATIENTS, scaled_dot_product_attention):
    block = [normal(*size, seed=i) for i, size in enumerate(((1, 4, 4), (4, 4), (4, 4), (4, 4), (4, 12), (12, 4)))]
    x, w_q, w_k, w_v, w_1, w_2 = block
    h = F.layer_norm(x, (4,))
    x = x + scaled_dot_product_attention(h @ w_q, h @ w_k, h @ w_v, causal_mask(4))[0]
    right = x + F.relu(F.layer_norm(x, (4,)) @ w_1) @ w_2
    rows = torch.stack(
        [(PATIENTS[name].buggy(*block) - right)[0].abs().amax(dim=-1) for name in ("6.27", "6.28", "6.29")], dim=-1
    )
    return [
        Matrices(
            [
                Matrix(
                    rows if s else unknown(4, 3),
                    thing="wrong",
                    left=[f"token {i}" for i in range(4)],
                    top=["6.27", "6.28", "6.29"],
                )
            ]
        )
        for s in (0, 1)
    ]


@slide(
    "Seven keys, causal: how far off is each?",
    minutes=0,
    say="""
    Self-study, after notebook 12; key c shows all three. Say that these are optional, for those who know that
    notebook. 6.30: The output so far is not rescaled. Two keys, the second with the larger score, in blocks of
    one. 6.31: Keys that do not fill a block are left out. Three keys in blocks of two, all the weight on the
    last. 6.32: nothing shows here; see the next slide.
    """,
)
def tiles_ward(causal_mask, PATIENTS, scaled_dot_product_attention):
    a = [normal(1, 7, 4, seed=i) for i in range(3)]
    right = scaled_dot_product_attention(*a, causal_mask(7))[0]
    rows = [
        [(PATIENTS[name].buggy(*a, size, True) - right).abs().max().item() for name in ("6.30", "6.31", "6.32")]
        for size in (1, 2, 3, 7)
    ]
    return [
        Matrices(
            [
                Matrix(
                    rows if s else unknown(4, 3),
                    thing="wrong",
                    left=[f"blocks of {size}" for size in (1, 2, 3, 7)],
                    top=["6.30", "6.31", "6.32"],
                )
            ]
        )
        for s in (0, 1)
    ]


@slide(
    "A real score far below: who gets the weight?",
    minutes=0,
    say="""
    Self-study, after notebook 12. A number stands for minus infinity, and nothing shows until a real score is
    far below it. Homework for the brave: bring code of your own, or of a repository you like, and examine it
    next time.
    """,
)
def far_below(PATIENTS):
    q, k, v = (torch.tensor(row).view(1, 2, 1) for row in ([1e6, 1e6], [-1e6, 0.0], [0.0, 1.0]))
    out = PATIENTS["6.32"].buggy(q, k, v, 1, True)[0, 0].item()
    return [
        Bars(["allowed", "masked"], v, words=False, wrong=1, top=1, caption="patient 6.32, a real score of −10¹²")
        for v in ([None, None], [1 - out, out])
    ]
