"""The slides of lesson 3. Masking: who may not be heard."""

import math

import torch

from workbench.display.drawings import Bricks, Flow, Matrices, Matrix, Strip, Tiles, unknown

from . import again, slide


@slide(
    "Masking: who may not be heard",
    minutes=1,
    say="""
    Most mistakes of this hour run, have the right shape and say nothing. Say it once, without a smile.
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
    "Padding is all zeros. Does it count?",
    minutes=1.5,
    say="If the hall says 0, ask what e⁰ is. A score of 0 is a share like any other.",
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
    Say the convention aloud and let the hall repeat it: True means may attend. The axis of size 1 stands for
    the queries.
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
    Without the axis of size 1 a batch with as many sentences as queries is masked the wrong way, in silence.
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
                    name="each query of sentence 2",
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
    Take the answer as "1, less, or more". The hole of 0.07 is just what the padding had.
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
    "Where must the door be closed?",
    minutes=0.5,
    say="""
    Take the line from the hall, word by word, and type it. e to the minus infinity is 0, in the sum too.
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
    Cross out Z in both lines of the fraction on the blackboard. On paper the two are one; in float32 they
    are not.
    """,
    hall="""
    Scores 1, 2 and 200, the last one forbidden. Zero it after softmax and divide by what is left: what does
    the first get? Hands for nan and for 0.27. [nan]
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
    "Who may hear whom, while one writes?",
    minutes=0.5,
    say="Take the line from the hall. Lower left: a row is the query, and it looks to the left.",
)
def triangle(TOKENS, triangle):
    return [
        Matrices([Matrix(rows, name="may hear", thing="weights", left=TOKENS, top=TOKENS)])
        for rows in (unknown(3, 3), triangle)
    ]


@slide(
    "All scores 0, a causal mask: what comes out?",
    minutes=1.5,
    say="""
    Work it out aloud: 6; the mean of 6 and 2; the mean of all three. A causal mask alone is a running mean.
    Scores make it a weighted one, and that is all that attention adds. The first token hears nobody but
    itself, whatever its scores. Then ask whether a picture proves anything.
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
    "Another word for tea. Which outputs move?",
    minutes=1.5,
    say="""
    This is the test of every mask. Point at the last line: another word in the place of tea. Change the
    future, and the past must not move. Show the numbers: 0.0000 is not rounded.
    """,
    hall="""
    We put another word in the place of tea. Which outputs move, with the causal mask? Hands for each of the
    three. [Only that of tea itself]
    """,
)
def another_word(moved, unmasked):
    return [
        Matrices(
            [
                Matrix(
                    rows,
                    name="how far each output moves",
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
    Then I drink tea: the first blinks as well, although the word has come after it. Close 1st to 2nd too.
    """,
    hall="""
    Which cells must be closed, so that I like milk moves the third output alone? [Two: 1st to 3rd and 2nd to
    3rd. And I drink tea shows that one is missing]
    """,
)
def which_blink():
    """Without a picture: its board or plot is shown."""


@slide(
    "Two queries, five keys. Where is the triangle?",
    minutes=0.5,
    say="The last row must be all True: the newest token sees everything. Bottom right, not top left.",
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
    "Two masks, one sentence. Who is left?",
    minutes=0.5,
    say="""
    Read the counts of the second sentence aloud: 1, 2, 3, 3, 3. Above: the same five by five three times.
    Below, point at the two rows: with two queries and five keys the two conventions part.
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
    "Three masks go in. How many keys does I hear?",
    minutes=1,
    say="""
    Read the code aloud, line by line, and do not comment. The assignment to mask loses the causal mask.
    """,
    hall="""
    All three masks are handed over. Which keys can the first token see? Hands for three, two, one. [All
    three]
    """,
    choices="lost",
)
def three_masks(leaky, TOKENS, which):
    first = Flow(
        {"query mask": [0, 0], "key mask": [1, 0], "causal mask": [2, 0], "mask": [1, 1], "I hears": [1, 2]},
        things={"I hears": "weights"},
        labels={"I hears": "I hears ?"},
        arrows=[["query mask", "mask"], ["key mask", "mask"], ["causal mask", "mask"], ["mask", "I hears"]],
    )
    return [
        first,
        first.but(
            arrows=[["query mask", "mask"], ["key mask", "mask"], ["mask", "I hears"]],
            things={"I hears": "weights", "causal mask": "wrong", "mask": "wrong"},
            empty=["causal mask"],
            labels={"mask": "mask = bmm(q, k)", "I hears": ", ".join(TOKENS[k] for k in which(leaky[0, 0]))},
        ),
    ]


@slide(
    "Nobody left to hear. What is the weight?",
    minutes=1.5,
    say="A third each, and nobody notices; that is worse than NaN.",
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
    65504 is the largest float16. This error is the kind one of the three. Put the three numbers on the
    blackboard and cross out nothing: softmax looks only at the largest.
    """,
    hall="""
    Keys 1 and 2 are allowed, key 3 is padding. What does the padding get? Hands for all, a third, 0. [All of
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
    The trick in one sentence: fill a dead row with 0 for a moment, so that softmax survives, then erase it.
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
    "Where is NaN born?",
    minutes=0.5,
    say="""
    Two warnings, and the line in which NaN is born. Learners should know that they can ask for this in their
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
            (filled, w, gap, "softmax: born here"),
            (filled, w, w @ value[1], "softmax: born here"),
        )
    ]


@slide(
    "12 numbers in the gradient. How many are NaN?",
    minutes=2,
    say="""
    This is the padded sentence, backwards, so X and the weights are turned round. The query of the padding
    is masked along with its keys: its row has nothing left, and stands here as a column of NaN. The loss
    never looks at it, so a row of zeros came back. 0 · NaN is NaN, and a sum with NaN is NaN; what the other
    sentence adds is finite. After one step of training every number of W_v is. With masked_softmax there is
    none to come back: run the last cell.
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
                Matrix(real[1].float()[:, None].expand(3, 3), name="what came back", thing="output", mark=[2]),
                "→",
                Matrix(rows, name="gradient of W_v", thing="value"),
            ]
        )
        for rows in (unknown(4, 3), gradient(plain_softmax))
    ]


@slide(
    "Make one row NaN. In how few clicks?",
    minutes=3,
    say="""
    Read the task and the hint that a preset may help. Choose the preset "causal", then click q0, k0: one
    click, and the row is NaN, with the whole gradient. Now "Apply as" −1e9: the row is 0.25 each and sums to
    1, and the gradient looks healthy. Then masked_softmax: 0, and a healthy gradient, this time rightly. Let
    the hall decide which of the three is the worst. The one that looks healthy.
    """,
    hall="""
    What is the fewest clicks for a NaN? Hands for 4, 2, 1. [1, with the causal preset: the first query sees
    only itself]
    """,
)
def one_click():
    """Without a picture: its board or plot is shown."""


@slide(
    "Half of the weights dropped. And the others?",
    minutes=1,
    say="""
    0 and 0.5, never 0.25: what is kept is doubled. Training only; eval() switches it off. The last line
    compares with PyTorch's own. From here on the function is imported.
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
    "The module, with our mask. Who is heard?",
    minutes=1.5,
    say="The other function means the opposite. Nothing is raised, the model trains on the future.",
    hall="""
    nn.MultiheadAttention gets our causal mask. Which keys does the first token see? Hands for only itself,
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
    "The same mask. Who is heard where?",
    minutes=1.5,
    say="""
    This table is for a photograph. Only the first two agree. Turned round, both masks of the module do what
    ours does; ours refuses what would be added. The last row hangs on a switch that has nothing to do with
    masks.
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
        rows=["True", "1.0", "all False"],
    ).opened(*range(10))


@slide(
    "A mask of 1.0 and 0.0: how many keys does I hear?",
    minutes=1.5,
    say="""
    Go slowly: code that moves from one of these functions to another goes wrong here. 0 and −∞ is what can
    be added. Only the bool mask and the one of 0 and −∞ agree. The integer mask that is refused is the
    kindest.
    """,
    hall="""
    A mask of 1.0 and 0.0 instead of True and False: which keys does the first token see? Hands for one and
    for three. [Three: it is added to the scores]
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
    "The mask turned round. What does I get?",
    minutes=1,
    say="Nobody expects zeros. Ask what the first sentence has left after the flip.",
    hall="""
    The mask is turned round. What is the output of I in the sentence without padding? Hands for the same,
    zeros, nan. [Zeros: nothing is left to attend to]
    """,
    choices="break-it",
)
def turned_round(broken, padding_mask):
    return [
        Matrices(
            [
                Matrix(~padding_mask([3, 2])[:, 0], name="may hear", thing="weights", left=["I like tea", "I like"]),
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
    Name the four exercises, and that 3.3 has two answers which both pass. At home. The usual answer has the
    triangle at the top left: right for a square, wrong for two queries and five keys; check shows it on just
    that. At home. A correction after softmax leaves NaN in the gradient although the numbers look right;
    check looks at gradients too. 3.4 needs both masks of today, and a third condition. Next: several
    attentions side by side.
    """,
)
def exercises():
    return Tiles(
        [["a padding\nmask", "a causal\nmask", "a softmax\nthat survives", "several texts\nin one row"]],
        columns=["3.1", "3.2", "3.3", "3.4"],
    )
