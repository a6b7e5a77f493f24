"""The slides of lesson 3. Masking: which keys get no weight."""

import math

import torch

from workbench.display.drawings import Bricks, Flow, Matrices, Matrix, Strip, Tiles, unknown

from . import again, on_board, slide


@slide(
    "Masking: which keys get no weight",
    minutes=1,
    say="""
    Most mistakes of this hour give the right shape and raise no error. Say it once, seriously.
    Shift+Enter runs the imports, which no slide shows; the first run takes a few seconds.
    """,
)
def title():
    return Matrices(
        [
            Matrix([["I", "like", "tea"], ["I", "like", "hatch"]], thing="input"),
            "→",
            Matrix([["I", "?", "?"], ["I", "like", "?"]], thing="weights"),
        ]
    )


@slide(
    "The padding's score is 0. Which weight does it get?",
    minutes=1.5,
    say="If the hall says 0, ask what e⁰ is. A key with the score 0 gets a weight like any other.",
    hall="The padding's score is 0. Which weight does it get? Hands for more than 0 and for 0. [0.07]",
    choices="padding-heard",
)
def a_score_of_0(scores):
    first = Bricks(["I", "like", "padding"], [*scores[1, 0, :2].tolist(), None], hatched=2)
    return [first, first.but(scores=scores[1, 0])]


@slide(
    "Two lengths. Which positions are real?",
    minutes=1,
    say="""
    Say the convention aloud and let the hall repeat it: True means may attend.
    """,
)
def mask_from_lengths(real):
    return [
        Matrices(
            [
                Matrix([[0, 1, 2]], name="positions", thing="input"),
                "<",
                Matrix([[3], [2]], name="lengths", thing="key"),
                "=",
                Matrix(rows, name="real", thing="weights"),
            ]
        )
        for rows in (unknown(2, 3), real)
    ]


@slide(
    "A row for each sentence. And the queries?",
    minutes=0.5,
    say="""
    The new axis of size 1 is that of the queries. Without it, a batch with as many sentences as queries is masked the
    wrong way, without an error.
    """,
)
def every_query(padding_mask, real):
    return [
        Matrices(
            [
                Matrix(real, name="real", thing="weights", mark=[1]),
                "→",
                Matrix(
                    rows,
                    name="queries, second sentence",
                    thing="weights",
                    left=["I", "like", "padding"],
                    top=["I", "like", "padding"],
                ),
            ]
        )
        for rows in (unknown(3, 3), padding_mask([3, 2])[1].expand(3, 3))
    ]


@slide(
    "Erase the padding after softmax. What is left?",
    minutes=1.5,
    say="""
    Take the answer as "1, less, or more". The missing 0.07 is the weight that the padding had.
    """,
    hall="""
    Erase the weight after softmax: to what does the row sum? Hands for 1, less, more. [Less: 0.93]
    """,
    choices="after-softmax",
)
def after_softmax(after, heard):
    first = Strip(["I", "like", "padding"], heard[1, 0], hatched=2, struck=2, total=None)
    return [first, first.but(hatched=None, struck=None, gone=2, total=after[1, 0].sum())]


@slide(
    "Where must the mask act?",
    minutes=0.5,
    say="""
    Take the line from the hall, word by word, and type it. e to the minus infinity is 0, and it adds
    nothing to the sum.
    """,
)
def before_softmax(before, mask, scores):
    closed = scores[1, 0].masked_fill(~mask[1, 0], -math.inf)
    return [
        Matrices(
            [
                Matrix(s, name="scores", top=["I", "like", "padding"]),
                "→",
                Matrix(e, name="e to the score"),
                "→",
                Matrix(r, name="weights", thing="weights"),
            ]
        )
        for s, e, r in ((scores[1, 0], unknown(3), unknown(3)), (closed, closed.exp(), before[1, 0]))
    ]


@slide(
    "Erase, then divide. What does key 0 get?",
    minutes=1,
    say="""
    Cross out Z in both lines of the fraction on the blackboard. On paper the two are equal; in float32
    they are not.
    """,
    hall="""
    Scores 1, 2 and 200; the last key is hidden. Set its weight to 0 after softmax and divide by the sum that
    remains: what does the first get? Hands for nan and for 0.27. [nan]
    """,
    choices="renormalise-breaks",
)
def erase_and_divide(allowed, erased, large):
    return [
        Matrices(
            [
                Matrix(large, name="scores", top=["key 0", "key 1", "padding"]),
                "→",
                Matrix(a, name="softmax", thing="weights"),
                "→",
                Matrix(b, name="erased, divided", thing="weights"),
            ]
        )
        for a, b in (
            (unknown(3), unknown(3)),
            (torch.softmax(large, dim=-1), unknown(3)),
            (torch.softmax(large, dim=-1), (erased / erased.sum()).where(allowed, 0).tolist()),
        )
    ]


@slide(
    "Writing: who may attend to whom?",
    minutes=0.5,
    say="Take the line from the hall. A row is a query: it may attend to its own key and to all keys left of it.",
)
def triangle(TOKENS, triangle):
    return [
        Matrices([Matrix(rows, name="may attend", thing="weights", left=TOKENS, top=TOKENS)])
        for rows in (unknown(3, 3), triangle)
    ]


@slide(
    "All scores 0, a causal mask: what comes out?",
    minutes=1.5,
    say="""
    Work it out aloud: 6; the mean of 6 and 2; the mean of all three. A causal mask alone is a running mean.
    Scores make it a weighted mean, and attention adds nothing else. The first token attends only to itself,
    whatever its scores. Then ask whether a picture proves anything.
    """,
    hall="""
    All scores are 0, the mask is causal, the values are 6, 2 and 1. Which three outputs? On paper. [6, 4, 3]
    """,
)
def running_mean(even, TOKENS, values):
    return [
        Matrices(
            [
                Matrix([[0] * 3] * 3, name="scores", left=TOKENS),
                "→",
                Matrix(w, name="weights", thing="weights", top=TOKENS),
                "@",
                Matrix(values[:, None], name="values", thing="value"),
                "=",
                Matrix(r, name="outputs", thing="output"),
            ]
        )
        for w, r in ((unknown(3, 3), unknown(3, 1)), (even, unknown(3, 1)), (even, (even @ values)[:, None]))
    ]


@slide(
    "Another word for tea. Which outputs change?",
    minutes=1.5,
    say="""
    This is the test of every mask. In the code (key c), other has another word in the place of tea. A change in the
    future must not change the past. Point at the two zeros: they are exactly 0, not rounded.
    """,
    hall="""
    We put another word in the place of tea. Which outputs change, with the causal mask? Hands for each of the
    three. [Only that of tea itself]
    """,
)
def another_word(moved, unmasked):
    return [
        Matrices(
            [
                Matrix(
                    rows,
                    name="how far each output changes",
                    thing="output",
                    left=["no mask", "causal mask"],
                    top=["I", "like", "tea"],
                )
            ]
        )
        for rows in ([unmasked.tolist(), unknown(3)], [unmasked, moved])
    ]


@slide(
    "Another word: which outputs may blink?",
    minutes=1,
    say="""
    Choose I like milk: all three blink. Drag down the last column, first two cells: only the third blinks.
    Then I drink tea: the first blinks as well, although drink comes after it. Close query 0, key 1 too.
    """,
    hall="""
    Which cells must be closed, so that with I like milk only the third output changes? [Two: key 2 for
    queries 0 and 1. And I drink tea shows that one is missing]
    """,
)
def which_blink():
    return on_board(chosen="I like milk", mask={(0, 2): 0, (1, 2): 0}, mark=("moved by", 2, 0))


@slide(
    "Two queries, five keys. Where is the triangle?",
    minutes=0.5,
    say="The last row must be all True: the newest token may attend to every key. Bottom right, not top left.",
)
def where_the_triangle(causal_mask):
    return [
        Matrices(
            [
                Matrix(
                    rows,
                    name="causal_mask(2, 5)",
                    thing="weights",
                    left=["query 3", "query 4"],
                    top=[f"key {i}" for i in range(5)],
                )
            ]
        )
        for rows in (unknown(2, 5), causal_mask(2, 5))
    ]


@slide(
    "Two masks, one sentence. Which pairs remain?",
    minutes=0.5,
    say="""
    Read the counts of the second sentence aloud: 1, 2, 3, 3, 3. These are its three masks. The picture in the notebook
    also shows PyTorch's is_causal=True for two queries and five keys: its triangle begins at the top left.
    """,
)
def both_masks(both, causal_mask, padding_mask):
    return [
        Matrices(
            [
                Matrix(padding_mask([5, 3])[1].expand(5, 5), name="padding", thing="weights"),
                "&",
                Matrix(causal_mask(5), name="causal", thing="weights"),
                "=",
                Matrix(rows, name="both", thing="weights"),
            ]
        )
        for rows in (unknown(5, 5), both[1])
    ]


@slide(
    "Three masks go in. How many keys does I attend to?",
    minutes=1,
    say="""
    Read the code aloud, line by line, and do not comment. The assignment to mask loses the causal mask.
    """,
    hall="""
    All three masks are passed. Which keys does the first token attend to? Hands for three, two, one. [All
    three]
    """,
    choices="lost",
)
def three_masks(leaky, TOKENS, which):
    first = Flow(
        {"query mask": [0, 0], "key mask": [1, 0], "causal mask": [2, 0], "mask": [1, 1], "keys of I": [1, 2]},
        things={"keys of I": "weights"},
        labels={"keys of I": "keys of I: ?"},
        arrows=[["query mask", "mask"], ["key mask", "mask"], ["causal mask", "mask"], ["mask", "keys of I"]],
    )
    return [
        first,
        first.but(
            arrows=[["query mask", "mask"], ["key mask", "mask"], ["mask", "keys of I"]],
            things={"keys of I": "weights", "causal mask": "wrong", "mask": "wrong"},
            empty=["causal mask"],
            labels={"mask": "bmm(q, k)", "keys of I": ", ".join(TOKENS[k] for k in which(leaky[0, 0]))},
        ),
    ]


@slide(
    "Every key is hidden. What does −∞ give?",
    minutes=1.5,
    say="A third each, and nothing shows the mistake; that is worse than NaN.",
    hall="And with −∞? Hands for 0, nan and a third. [nan]",
    choices="dead",
)
def nobody_left(dead_row, empty, nothing_left):
    return [
        Matrices(
            [
                Matrix(empty, name="scores"),
                "→",
                Matrix(
                    torch.softmax(empty.masked_fill(~nothing_left, -1000000000.0), dim=-1),
                    name="with −10⁹",
                    thing="weights",
                ),
                "or",
                Matrix(rows, name="with −∞", thing="weights"),
            ]
        )
        for rows in (unknown(3), dead_row)
    ]


@slide(
    "A million below zero. What does padding get?",
    minutes=1.5,
    say="""
    Of the mistakes with fill values only one raises an error: a number too large for float16, whose largest is 65504.
    Put the three numbers on the blackboard and ask which is the largest: −10⁶, that of the padding.
    """,
    hall="""
    Keys 0 and 1 are allowed, key 2 is padding. What does the padding get? Hands for all, a third, 0. [All of
    it: 1]
    """,
    choices="runaway",
)
def a_million_below(runaway):
    return [
        Matrices(
            [
                Matrix(["−2·10⁶", "−3·10⁶", "−10⁶"], name="scores", top=["key 0", "key 1", "padding"]),
                "→",
                Matrix(rows, name="weights", thing="weights", top=["key 0", "key 1", "padding"]),
            ]
        )
        for rows in (unknown(3), torch.softmax(runaway, dim=-1))
    ]


@slide(
    "What should an empty row give?",
    minutes=1,
    say="""
    The trick in one sentence: fill a dead row with 0, so that softmax makes no NaN, then set its weights
    to 0.
    Should padded queries be masked, too? That is worth a minute if somebody asks: no, it only makes dead
    rows.
    """,
)
def empty_row(dead_row, empty, masked_softmax, nothing_left):
    return [
        Matrices(
            [
                Matrix(empty, name="scores"),
                "→",
                Matrix(dead_row, name="with −∞", thing="weights"),
                "or",
                Matrix(rows, name="masked_softmax", thing="weights"),
            ]
        )
        for rows in (unknown(3), masked_softmax(empty, nothing_left))
    ]


@slide(
    "How many closed cells make a row NaN?",
    minutes=3,
    say="""
    Read the task, and say that a preset may help. After the hands choose the preset "causal", then click q0,
    k0: one click, and the row is NaN, with the whole gradient. Now "Apply as" −1e9: the row is 0.25 each and sums to
    1, and the gradient looks right. Then masked_softmax: 0, and a gradient that is right. Let the hall
    decide which of the three is the worst: −1e9, which looks right.
    """,
    hall="""
    How many cells of the mask have to be closed until a row is NaN? Hands for 1, 2, 4. [4, all cells of the row; with
    the causal preset one click is enough: q0 attends only to k0]
    """,
)
def one_click():
    return on_board(given="causal", mask={(0, 0): 0}, mark=("weights", 0, 0))


@slide(
    "Where does NaN begin?",
    minutes=0.5,
    say="""
    Two warnings, and the line in which NaN begins. Learners should know that they can ask for this in their
    own code.
    """,
)
def where_nan_is_born(one_empty, scores, value):
    filled = scores[1].masked_fill(~one_empty[1], -math.inf)
    w = torch.softmax(filled, dim=-1)
    gap = unknown(3, 3)
    return [
        Matrices(
            [
                Matrix(a, name="masked_fill"),
                "→",
                Matrix(b, name=name, thing="weights"),
                "→",
                Matrix(c, name="@ value", thing="output"),
            ]
        )
        for a, b, c, name in (
            (gap, gap, gap, "softmax"),
            (filled, gap, gap, "softmax"),
            (filled, w, gap, "softmax: NaN begins"),
            (filled, w, w @ value[1], "softmax: NaN begins"),
        )
    ]


@slide(
    "12 numbers in the gradient. How many are NaN?",
    minutes=2,
    say="""
    This is the padded sentence, backwards, so X and the weights are transposed. The padding is hidden
    as a key and as a query: its row has no allowed key, and is drawn here as a column of NaN. The loss does not use
    its output, so that output's gradient is a row of zeros. 0 · NaN is NaN, and a sum with NaN is NaN; what the other
    sentence adds is finite. After one step of training every number of W_v is NaN. With masked_softmax there is
    no NaN to come back: run the last cell.
    """,
    hall="""
    The loss is a plain number. How many of the 12 entries of the gradient are NaN? Hands for 0, 3 and 12.
    [12]
    """,
    choices="poison-answer",
)
def nan_in_the_gradient(batch, gradient, pair_mask, plain_softmax, real, scores):
    return [
        Matrices(
            [
                Matrix(batch[1].T, name="Xᵀ", thing="input"),
                "×",
                Matrix(plain_softmax(scores, pair_mask)[1].T, name="weightsᵀ", thing="weights", column=[2]),
                "×",
                Matrix(real[1].float()[:, None].expand(3, 3), name="gradient of outputs", thing="output", mark=[2]),
                "→",
                Matrix(rows, name="gradient of W_v", thing="value"),
            ]
        )
        for rows in (unknown(4, 3), gradient(plain_softmax))
    ]


@slide(
    "Half of the weights dropped. And the others?",
    minutes=1,
    say="""
    0 and 0.5, never 0.25: the weights that remain are doubled. This is for training only, and the function does not
    know it: set dropout_p to 0 outside. The last lines compare with PyTorch's own. From here on the function is
    imported.
    """,
)
def dropout():
    return [
        Matrices(
            [
                Matrix([0.25] * 4, name="weights", thing="weights"),
                "→",
                Matrix([0.25, "hatch", "hatch", 0.25], name="dropped: half", thing="weights"),
                "→",
                Matrix(rows, name="divided by ½", thing="weights"),
            ]
        )
        for rows in (unknown(4), torch.tensor([0.25, 0, 0, 0.25]) / 0.5)
    ]


@slide(
    "Our mask in the module. Which keys get weight?",
    minutes=1.5,
    say="In the module True means the opposite. There is no error: the model attends to the future.",
    hall="""
    nn.MultiheadAttention gets our causal mask. Which keys does the first token attend to? Hands for only itself,
    the other two, all three. [The other two]
    """,
    choices="polarity-module",
)
def the_module(seen, triangle):
    return [
        Matrices(
            [
                Matrix(triangle, name="our mask", thing="weights", mark=[0]),
                "→",
                Matrix(rows, name="weights in the module", thing="weights"),
            ]
        )
        for rows in (unknown(3, 3), seen[0])
    ]


@slide(
    "The same mask. What does each function do?",
    minutes=1.5,
    say="""
    This table is for a photograph. Only the first two agree. With True and False exchanged, both masks of the
    module do what ours does; ours refuses a float mask. The last row depends on need_weights, an argument
    that has nothing to do with masks.
    """,
)
def two_meanings(triangle):
    return Tiles(
        [
            [triangle, triangle, ~triangle],
            ["refused", ["added", "below"], ["added", "below"]],
            ["0", "0", ["NaN or 0", "wrong"]],
        ],
        columns=["attn_lib", "F.scaled_dot_\nproduct_attention", "nn.Multihead\nAttention"],
        rows=["True", "1.0", "dead row"],
    ).opened(*range(10))


@slide(
    "A mask of 1.0 and 0.0: I attends to how many?",
    minutes=1.5,
    say="""
    Go slowly: code that moves from one of these functions to another goes wrong here. A float mask must hold 0 and
    −∞; then it hides what the bool mask hides. It is kindest to refuse a float mask, as our own function does.
    """,
    hall="""
    A mask of 1.0 and 0.0 instead of True and False: which keys does the first token attend to? Hands for
    one and for three. [Three: it is added to the scores]
    """,
    choices="polarity-float",
)
def a_float_mask(added, causal_mask, scores, TOKENS):
    return [
        Matrices(
            [
                Matrix(scores[0, 0], name="scores of I"),
                "+",
                Matrix(causal_mask(3).float()[0], name="our mask", thing="key"),
                "→",
                Matrix(rows, name="weights of I", thing="weights", top=TOKENS),
            ]
        )
        for rows in (unknown(3), added[0, 0])
    ]


@slide(
    "True and False exchanged. What does I get?",
    minutes=1,
    say="Hardly anybody expects zeros. Ask which keys the first sentence may attend to after the exchange.",
    hall="""
    True and False are exchanged. What is the output of I in the sentence without padding? Hands for the
    same, zeros, nan. [Zeros: every key is hidden]
    """,
    choices="break-it",
)
def turned_round(broken, padding_mask):
    return [
        Matrices(
            [
                Matrix(~padding_mask([3, 2])[:, 0], name="may attend", thing="weights", left=["I like tea", "I like"]),
                "→",
                Matrix(rows, name="output of I", thing="output"),
            ]
        )
        for rows in (unknown(2, 3), broken[:, 0])
    ]


@slide(
    "What holds for every mask?",
    minutes=0.5,
    say="Let the hall say the convention once more before you show the summary.",
)
def summary():
    return again(every_query, before_softmax, running_mean, empty_row)


@slide(
    "Four functions, now yours",
    minutes=0,
    say="""
    Name the four exercises, and that 3.3 can be written in more than one way. In 3.2 the usual answer has the
    triangle at the top left: right for a square, wrong for two queries and five keys, which check tries. In
    3.3 NaN that is replaced after softmax stays in the gradient, although the numbers look right;
    check looks at gradients too. 3.4 needs the causal mask and one more condition: the same text. Next: several
    attentions side by side.
    """,
)
def exercises():
    return Tiles(
        [["a padding\nmask", "a causal\nmask", "a softmax\nwithout NaN", "several texts\nin one row"]],
        columns=["3.1", "3.2", "3.3", "3.4"],
    )
