"""The slides of lesson 8. Where a token stands."""

import torch

from workbench.display.drawings import Beside, Curve, Flow, Matrices, Matrix, Plane, Sentence, Tiles, unknown

from . import on_board, slide


@slide(
    "Where a token stands",
    minutes=1,
    say="""
    Write both sentences on the blackboard, one below the other, and leave them there. Shift+Enter runs the
    imports, which no slide shows.
    """,
)
def title():
    return Matrices(
        [
            Matrix([["man", "bites", "dog"], ["dog", "bites", "man"]], thing="input"),
            "→",
            Matrix([["?", "?", "?"]], name="the same?", thing="output"),
        ]
    )


@slide(
    "We write tea I like. Which old row goes where?",
    minutes=1.5,
    say="""
    Say which row belongs to which token. Walk from the first seat of a row to the last: your position has
    changed, and you have not. Then take the guess.
    """,
    hall="""
    We write tea I like. Which of the old outputs is now in the first row, in the second, in the third? Hands
    for 0, 1, 2. [2, 0, 1: each token keeps its output]
    """,
)
def shuffled(attend, examples, order, outputs, X):
    return [
        Matrices(
            [
                Matrix(outputs, name="I like tea", thing="output", left=examples.TOKENS),
                "→",
                Matrix(rows, name="tea I like", thing="output", left=[examples.TOKENS[i] for i in order]),
            ]
        )
        for rows in (unknown(3, 3), attend(X[order]))
    ]


@slide(
    "Exchange I and like: whose output changes?",
    minutes=1,
    say="""
    Ask for each token: what can it attend to now, and what could it attend to before? Then say: this is one
    layer. With two layers tea knows the order, since it attends to outputs that differ.
    """,
    hall="""
    I like tea becomes like I tea, with the mask. Which tokens get another output? Hands for each of the
    three. [I and like; tea attends to the same three tokens]
    """,
)
def mask_knows_order(attend, causal_mask, differs, examples, second, X):
    return [
        Matrices(
            [
                Matrix(attend(X, causal_mask(3)), name="I like tea", thing="output", left=examples.TOKENS),
                "→",
                Matrix(rows, name="like I tea", thing="output", left=examples.TOKENS, mark=mark),
            ]
        )
        for rows, mark in ((unknown(3, 3), []), (second, differs.nonzero().flatten()))
    ]


@slide(
    "I like I, with the mask: what does the first I get?",
    minutes=1.5,
    say="What can the first token attend to? Only itself. So its output is its own value.",
    hall="""
    I like I, with a causal mask: what is the output of the first I? On paper. [(1, 2, 3), its own value]
    """,
)
def twins_apart(attend, causal, same, W_v):
    return [
        Matrices(
            [
                Matrix(same @ W_v, name="values", thing="value", left=["I", "like", "I"]),
                "→",
                Matrix(attend(same), name="no mask", thing="output"),
                "→",
                Matrix(rows, name="causal mask", thing="output", mark=mark),
            ]
        )
        for rows, mark in ((unknown(3, 3), [0]), (causal, [0, 2]))
    ]


@slide(
    "A row for each position. Which line adds it?",
    minutes=1,
    say="Draw three chairs with a number on each: whoever sits on a chair gets its number added.",
    hall="""
    You have a batch of three sentences of three tokens, and a table of three rows. Who dictates the line?
    [batch + table]
    """,
)
def a_table(batch, placed, table):
    return [
        Matrices(
            [
                Matrix(batch[2], name="each sentence", thing="quiet", left=["I", "like", "I"]),
                "+",
                Matrix(table, name="table", thing="input", left=["0", "1", "2"]),
                "=",
                Matrix(rows, name="placed", thing="input"),
            ]
        )
        for rows in (unknown(3, 4), placed[2])
    ]


@slide(
    "I like I, with the table: are the two I still equal?",
    minutes=0.5,
    say="""
    Rows 0 and 2 were equal without the table. Then ask how many rows the table would need for a book, and
    whether row 7 learns anything from row 6.
    """,
)
def twins_differ(attend, batch, placed):
    return [
        Matrices(
            [
                Matrix(attend(batch[2]), name="no table", thing="output", left=["I", "like", "I"], mark=[0, 2]),
                "→",
                Matrix(rows, name="with the table", thing="output", mark=mark),
            ]
        )
        for rows, mark in ((unknown(3, 3), []), (attend(placed[2]), [0, 2]))
    ]


@slide(
    "One position, two pairs: at which angles?",
    minutes=1,
    say="""
    Show it with your arms as the two hands of a clock, one fast and one slow. Together they tell the time.
    """,
    hall="Position 3: which angles do the two pairs have? [3 and 0.03]",
)
def two_hands(position_angles):
    return [
        Matrices(
            [
                Matrix([[0], [1], [2], [3]], name="positions", thing="quiet"),
                "and",
                Matrix([1, 0.01], name="frequencies", thing="quiet"),
                "→",
                Matrix(rows, name="angles", thing="input"),
            ]
        )
        for rows in (unknown(4, 2), position_angles(4, 4))
    ]


@slide(
    "Two angles for each position. Which four numbers?",
    minutes=0.5,
    say="""
    The sine and the cosine of one angle are neighbours; stack and flatten put them there. The argument start
    is used later.
    """,
)
def a_pair_each(position_angles, rows):
    return [
        Matrices(
            [
                Matrix(position_angles(4, 4), name="angles", thing="quiet", left=range(4)),
                "→",
                Matrix(r, name="rows", thing="input", top=["sin", "cos", "sin", "cos"]),
            ]
        )
        for r in (unknown(4, 4), rows)
    ]


@slide(
    "Row 0 times row 1 is 1.54. Row 2 times row 3?",
    minutes=1,
    say="Some will use a calculator; who knows cos(a − b) needs none. Let one with and one without explain.",
    hall="Row 0 times row 1 is 1.54. Row 2 times row 3? One minute. [1.54 again]",
)
def rows_two_apart(rows):
    return [
        Matrices(
            [
                Matrix(rows, name="rows", thing="input", left=range(4)),
                "→",
                Matrix(r, name="row times row", thing="scores", left=range(4), top=range(4)),
            ]
        )
        for r in ([[None, (rows[0] @ rows[1]).item(), None, None], *unknown(3, 4)], rows @ rows.T)
    ]


@slide(
    "12 features, 24 positions: are two of them alike?",
    minutes=0.5,
    say="The upper rows are the fast pairs; in the lower rows the numbers hardly change. No two columns are alike.",
)
def many_places(sinusoidal_encoding):
    return [
        Matrices(
            [
                Matrix(
                    rows, bare=True, left=["fast", *[""] * 10, "slow"], top=[i if i % 6 == 0 else "" for i in range(24)]
                )
            ]
        )
        for rows in ([*sinusoidal_encoding(24, 12).T[:2].tolist(), *unknown(10, 24)], sinusoidal_encoding(24, 12).T)
    ]


@slide(
    "90° a step: where is the key of position 2?",
    minutes=1.5,
    say="""
    Hold out an arm and turn by 90 degrees for each chair. The whole idea is this: if query and key turn by the
    same angle, the angle between them stays the same.
    """,
    hall="""
    The key (3, 1) is at position 2, so it is turned twice by 90°. What is it then? On paper. [(−3, −1)]
    """,
)
def turned_key(keys):
    return [Plane([*([f"key at {i}", keys[i], "key"] for i in range(n))]) for n in (2, 3)]


@slide(
    "Query at 1, key at 2: which score?",
    minutes=1,
    say="""
    Write the row 7, 1, −7, −1 on the blackboard, and below it the next row, moved by one to the right. Query 0
    and key 1 make the same angle as query 1 and key 2: turn your head by 90 degrees, and you see the same
    picture.
    """,
    hall="Query at position 1, key at position 2: which score? [1, as from 0 to 1]",
)
def turned_score(keys, queries):
    return [
        Beside(
            Plane([["query 0", queries[0], "query"], ["key 1", keys[1], "key"], *a]),
            Matrices(
                [
                    Matrix(
                        rows,
                        name="scores, key 0 to 3",
                        thing="scores",
                        left=[f"query {i}" for i in range(4)],
                        top=range(4),
                    )
                ]
            ),
            share=0.46,
        )
        for a, rows in (
            ([], [(queries @ keys.T)[0].tolist(), *unknown(3, 4)]),
            ([["query 1", queries[1], "query"], ["key 2", keys[2], "key"]], queries @ keys.T),
        )
    ]


@slide(
    "The text begins at position 100. What changes?",
    minutes=1,
    say="Read the printed difference aloud: all positions are larger by 100, and no score has changed.",
)
def from_place_100(key, query, rotary, scores):
    return [
        Matrices(
            [
                Matrix(scores[0, :5, :5], name="from 0", thing="scores"),
                "→",
                Matrix(rows, name="from 100", thing="scores"),
            ]
        )
        for rows in (unknown(5, 5), (rotary(query, start=100) @ rotary(key, start=100).mT)[0, :5, :5])
    ]


@slide(
    "Run by halves: does only the distance count?",
    minutes=1,
    say="Expect many hands for no. Then show that the scores still differ from those of training.",
    hall="""
    Trained with neighbours, run with halves: do the scores still depend on the distance only? Hands for yes
    and no. [Yes; so a test of this does not find the mistake]
    """,
    choices="halves-relative",
    column=True,
)
def halves(by_halves, further, scores):
    return [
        Matrices(
            [
                Matrix(scores[0, :4, :4], name="trained: neighbours", thing="scores"),
                "→",
                Matrix(a, name="run: halves", thing="scores"),
                "→",
                Matrix(b, name="halves, from 100", thing="scores"),
            ]
        )
        for a, b in ((unknown(4, 4), unknown(4, 4)), (by_halves[0, :4, :4], further[0, :4, :4]))
    ]


@slide(
    "In which order must the eight features be?",
    minutes=1,
    say="Write 0 1, 2 3, 4 5, 6 7 on the blackboard, then 0 4, 1 5, 2 6, 3 7 below it.",
    hall="In which order must the eight features be? [0, 2, 4, 6, 1, 3, 5, 7]",
)
def in_which_order(as_halves):
    return [
        Matrices([Matrix([list(range(8)), r], thing="key", left=["neighbours", "as halves"])])
        for r in (unknown(8), as_halves.tolist())
    ]


@slide(
    "Minus 0.5 for each step: which scores are left?",
    minutes=1,
    say="Compare it with a journey that costs more the further you go. A far key gets weight only if it matches well.",
    hall="""
    The scores are 4, 12, 10. Subtract 0.5 for each step back from tea: which three are left? [3, 11.5, 10]
    """,
)
def half_a_point(examples):
    return [
        Matrices(
            [
                Matrix([4, 12, 10], name="scores of tea", thing="scores", top=examples.TOKENS),
                "−",
                Matrix(p, name="price", thing="wrong", top=examples.TOKENS),
                "=",
                Matrix(r, name="left", thing="scores", top=examples.TOKENS),
            ]
        )
        for p, r in ((unknown(3), unknown(3)), ([1, 0.5, 0], [3, 11.5, 10]))
    ]


@slide(
    "Eight heads, eight prices: how do scores change?",
    minutes=0.5,
    say="""
    With eight heads the slopes are a half, a quarter, and so on. For twelve heads the paper's code takes the
    slopes for eight, and for the other four heads every second slope for sixteen. In the code (key c) point at
    PyTorch's own attention, which takes them as a float mask.
    """,
)
def alibi_bias(alibi_bias):
    return [
        Curve(
            x=range(17),
            lines={f"head {h}": alibi_bias(8, 17)[h, 0] for h in (7, 2, 1, 0)},
            things={"head 7": "weights", "head 2": "scores", "head 1": "scores", "head 0": "wrong"},
            axes=["steps back", "added to the score"],
            ticks=[0, 8, 16],
            upto=upto,
        )
        for upto in (1, 16)
    ]


@slide(
    "Where is each of the four applied?",
    minutes=0.5,
    say="""
    Ask for each of the four whether it changes the values. [Only the first two do.]
    """,
)
def where_each_comes_in():
    all_of = [["table, waves", "input"], ["RoPE", "query"], ["ALiBi", "scores"]]
    return [
        Flow(
            {
                "table, waves": [0, 0],
                "RoPE": [0, 1],
                "ALiBi": [0, 2],
                "input": [1.5, 0],
                "query": [1.5, 1],
                "value": [3, 1],
                "scores": [1.5, 2],
                "weights": [1.5, 3],
                "output": [3, 3],
            },
            labels={"query": "queries, keys"},
            arrows=[
                ["input", "query"],
                ["input", "value"],
                ["query", "scores"],
                ["scores", "weights"],
                ["weights", "output"],
                ["value", "output"],
                *to,
            ],
            empty=["table, waves", "RoPE", "ALiBi"][len(to) :],
            things={"query": "key"},
        )
        for to in (all_of[:k] for k in range(4))
    ]


@slide(
    "At which angle does each attend to the one before?",
    minutes=3.5,
    say="""
    Read the task. Change the key so that it has the direction of the query after one more turn: from (3, 1) to
    (−1, 2), then make it longer. At 90° the 6th token attends to the 1st as well: 5 steps are a full turn and
    one step. With the key (−2, 4) the task is
    done at 70° and at 80°; at 60° the tokens one and two steps back get equal weights. Move the start: queries and
    keys turn, and no score changes. Choose the waves: now the scores change too.
    """,
    hall="""
    At which angle does the 6th token give the 1st as much weight as the one before it, and why? [90°: 5 steps are a
    full turn and one step]
    """,
)
def board_angles():
    return on_board(angle=40, k=[[2, 3]], mark=("weights", 5, 4))


@slide(
    "Two rules. In what do they differ?",
    minutes=1.5,
    say="""
    One rule needs distances, the other positions. Let the hall say which is which, and which of sinusoids and
    RoPE can follow which rule. Take guesses: most will say that each follows one rule.
    """,
)
def two_rules():
    return [
        Beside(
            Sentence(
                some, arcs=[[i, i - 1, 0.3] for i in range(1, 6)][:a], says=some[4] if a else None, inks={5: "query"}
            ),
            Sentence(some, arcs=[[i, 0, 0.3] for i in range(1, 6)][:b], says=some[0] if b else None, inks={5: "query"}),
            share=0.5,
        )
        for some in torch.randint(8, (1, 6), generator=torch.Generator().manual_seed(8)).tolist()
        for a, b in ((0, 0), (5, 0), (5, 5))
    ]


@slide(
    "Row 5, turned by one step: whose row is it?",
    minutes=1.5,
    say="""
    The turn leads to the row before, not to the next row, since in a pair the sine stands before the cosine. Most
    will dictate the transpose first: run it, and the verdict says that each token then looks for the position after
    it.
    """,
    hall="""
    Row 5, turned by one step: which row is it now? And who dictates m? [20 * turn(1): the sine comes first,
    so the angle gets smaller, and it is row 4]
    """,
)
def row_5(sinusoidal_encoding, turn):
    return [
        Matrices(
            [
                Matrix(sinusoidal_encoding(9, 16)[4:7, :4], name="rows", thing="input", left=range(4, 7), mark=mark),
                "→",
                Matrix([r], name="row 5, turned", thing="key"),
            ]
        )
        for r, mark in ((unknown(4), [1]), ((sinusoidal_encoding(9, 16)[5] @ turn(1))[:4], [1]))
    ]


@slide(
    "Which pair's score still grows at 4,000 steps?",
    minutes=1.5,
    say="""
    The board had only one pair. To look far back we take the slowest pair. Then run the cell: with numbers set by
    hand both methods find their token, also among 1024.
    """,
    hall="""
    Eight pairs, the first fast, the last slow: which one's score still grows at 4,000 steps? [the last: its
    quarter turn takes 4,967]
    """,
)
def far_query():
    return [
        Curve(
            x=range(0, 4001, 50),
            lines={f"pair {i}": (torch.arange(0, 4001, 50) * 10000 ** (-i / 8)).sin() for i in (5, 6, 7)},
            things={"pair 5": "wrong", "pair 6": "scores", "pair 7": "key"},
            axes=["distance", "score"],
            scale=[-1, 1],
            marks=[0],
            ticks=[0, 1000, 2000, 3000, 4000],
            upto=upto,
        )
        for upto in (400, 4000)
    ]


@slide(
    "256 tokens: which method still finds what?",
    minutes=2.5,
    say="""
    These are four small trainings on eight tokens; at eight tokens all four are always
    right. You have just seen that both methods can also be right on long texts. So the question is what training
    found. Ask some of those who raise a hand for a reason. By chance 12 of 100 would be right. The training uses
    Adagrad; with plain gradient steps the result differs.
    """,
    hall="""
    256 tokens: which method still finds the token before, and which the first token? Hands for sinusoids and
    for RoPE each time. [before: RoPE; first: sinusoids]
    """,
)
def race_far(shares):
    return Tiles(
        [
            [[f"{100 * s:.0f} %", "output" if s > 0.5 else "wrong"] for s in shares[:2]],
            [[f"{100 * s:.0f} %", "output" if s > 0.5 else "wrong"] for s in shares[2:]],
        ],
        columns=["sinusoids", "RoPE"],
        rows=["token before", "first token"],
    ).opened(0, 4)


@slide(
    "Trained up to distance 7. And beyond?",
    minutes=1,
    say="Cover everything right of 7 with your hand: what the hall still sees was trained. Then take the hand away.",
)
def beyond_7(by_distance):
    return [
        Curve(
            x=range(40),
            lines=by_distance,
            things={"before": "key", "first": "wrong"},
            axes=["distance", "RoPE's score"],
            ticks=[0, 1, 7, 20, 39],
            marks=[0],
            upto=upto,
        )
        for upto in (7, 39)
    ]


@slide(
    "Learned on 8, positions divided by 4: still right?",
    minutes=1,
    say="""
    The first row is what you know. Let the hall say what distance 1 becomes, and what 28 becomes. The board of the
    notebook shows the curves; its task is homework.
    """,
    hall="""
    32 tokens, all positions divided by 4: is more than half still right, for the token before, for the first token?
    Hands for each. [before: no; first: yes]
    """,
    column=True,
)
def squeezed(undivided, divided):
    return Tiles(
        [
            [[f"{100 * share:.0f} %", "output" if share > 0.5 else "wrong"] for share in row]
            for row in (undivided, divided)
        ],
        columns=["token before", "first token"],
        rows=["as learned", "divided by 4"],
    ).opened(2, 4)


@slide(
    "The token before, longer texts: who finds it?",
    minutes=0.5,
    say="""
    One line stays at the top: RoPE. ALiBi is relative too, but its score only rises or only falls with the
    distance, so it cannot find distance 1. The line of the sinusoids could be at the top as well: by hand it
    was.
    """,
)
def token_before(lengths, right):
    return [
        Curve(
            x=lengths,
            log=True,
            lines=right["before"],
            things={"sinusoids": "input", "RoPE": "key", "ALiBi": "wrong"},
            axes=["positions", "right"],
            scale=[0, 1],
            marks=[0, 1],
            unit="%",
            ticks=[8, 32, 256],
            upto=upto,
        )
        for upto in (16, 256)
    ]


@slide(
    "The first token, longer texts: who finds it?",
    minutes=0.5,
    say="""
    Now the sinusoids stay high and RoPE falls at once. ALiBi stays at the top too, with a negative price that
    the published ALiBi does not have.
    """,
)
def first_token(lengths, right):
    return [
        Curve(
            x=lengths,
            log=True,
            lines=right["first"],
            things={"sinusoids": "input", "RoPE": "key", "ALiBi": "wrong"},
            axes=["positions", "right"],
            scale=[0, 1],
            marks=[0, 1],
            unit="%",
            ticks=[8, 32, 256],
            upto=upto,
        )
        for upto in (16, 256)
    ]


@slide(
    "Four ways to give the order. Where, and what?",
    minutes=0.5,
    say="Ask for the four methods from memory, and where each of them is applied.",
)
def summary():
    return Tiles(
        [
            ["table, waves:\nadded", "RoPE:\nturns", "ALiBi:\na price"],
            [["where", "input"], ["how far", "key"], ["how far", "scores"]],
        ],
        columns=["inputs", "queries, keys", "scores"],
    ).opened(0, 3, 6)


@slide(
    "Five exercises, now yours",
    minutes=0,
    say="""
    All at home. 8.1: the commonest mistake doubles the exponent, since the loop's number is already 2i. 8.2:
    the usual mistake is to turn pairs of neighbours by the angles for halves. 8.3: the last query has the position
    of the last key. 8.4: a test with one sentence misses code that adds the table to
    the first sentence only. 8.5: a query for any number of
    steps back: in which direction must it be turned? Next: what two heads can do that one cannot.
    """,
)
def exercises():
    return Tiles(
        [["sinusoids", "RoPE", "ALiBi", "a test of\npositions", "any number\nof steps back"]],
        columns=["8.1", "8.2", "8.3", "8.4", "8.5"],
    )
