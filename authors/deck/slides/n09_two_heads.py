"""The slides of lesson 9. Two heads that find each other."""

from workbench.display.drawings import Bars, Beside, Curve, Flow, Matrices, Matrix, Sentence, Tiles, Wall, unknown

from . import again, on_board, slide


@slide(
    "Two heads that find each other",
    minutes=0.5,
    say="Read the line aloud; the hall says the next word. Run the imports while they read.",
)
def what_for():
    return Sentence(["…", "Harry", "Potter", "…", "Harry"], inks={4: "query"}, says=None)


@slide(
    "Where does the last tea attend?",
    minutes=2,
    say="""
    Six people in a row, each with a word on a sheet. First everybody writes down the word of the person
    before them. Then the last one calls out tea, and the person who has written down tea stands up. Insist
    on the number. Those who say place 1 have forgotten what layer 1 fetches. Follow the
    filled box: milk has fetched tea, so milk is found.
    """,
    hall="""
    To which place does the last tea attend, counted from 0? Fingers. [2, the place of milk: it has fetched
    tea]
    """,
)
def look_behind(fetched, words):
    first = Sentence(
        ["start", "tea", "milk", "cup", "jam", "tea"],
        inks={0: "quiet", 5: "query"},
        says=None,
        fetched=[],
        counted=True,
    )
    second = first.but(fetched=[None, *(words[w] for w in fetched)])
    third = second.but(arcs=[[5, 2, 0.85]], asks="tea?", found=2)
    return [first, second, third, third.but(says="milk")]


@slide(
    "What do two heads have to know?",
    minutes=1.5,
    say="""
    Point at each factor of the second formula: the word that asks, the word it looks for, what was fetched;
    then the word attended to, and the output.
    """,
)
def three_matrices():
    return [
        Flow(
            {
                "x": [1.5, 0],
                "P": [0, 0.6],
                "heard": [1.5, 1],
                "M": [0, 1.6],
                "who": [1.5, 2],
                "W": [0, 2.6],
                "said": [1.5, 3],
            },
            things={"P": "key", "M": "query", "W": "value", "heard": "weights", "who": "weights", "said": "output"},
            labels={"P": "P: fetches", "M": "M: looks for", "W": "W: outputs", "who": "found", "said": "output"},
            arrows=[["x", "heard"], ["P", "heard"], ["heard", "who"], ["M", "who"], ["who", "said"], ["W", "said"]][:k],
            empty=empty,
        )
        for k, empty in ((0, ["heard", "who", "said"]), (2, ["who", "said"]), (4, ["said"]), (6, []))
    ]


@slide(
    "Each fetches the one before. Which matrix?",
    minutes=1,
    say="""
    The wrong diagonal is the commonest answer: a row is the place that fetches. Place 0 has no place before
    it; say nothing about it yet.
    """,
    hall="Above or below the diagonal? Hands. [Below: a row is the place that fetches]",
)
def your_P(P, text, words):
    return [
        Beside(
            Sentence([words[w] for w in text], arcs=[[i, i - 1, 0.2] for i in range(1, 6)]),
            Matrices([Matrix(rows, thing="key", left=[words[w] for w in text])]),
            share=0.6,
        )
        for rows in (unknown(6, 6), P)
    ]


@slide(
    "Which places have fetched my word? Which line?",
    minutes=1,
    say="""
    Take the line from the hall. Then ask what x @ M @ x.T would be: it finds the copy, and the asker itself.
    """,
    hall="Who dictates it? [x @ M @ heard.T]",
)
def your_scores(heard, M, scores, text, words, x):
    return [
        Matrices(
            [
                Matrix(x @ M, name="x M", thing="query", left=[words[w] for w in text]),
                "@",
                Matrix(heard.T.round(), name="heard, turned", thing="key"),
                "=",
                Matrix(rows, name="scores", thing="scores"),
            ]
        )
        for rows in (unknown(6, 6), scores.round())
    ]


@slide(
    "And what is the output of the last tea?",
    minutes=0.5,
    say="""
    Let the hall say the word before you run it. On the left is layer 1, in the middle layer 2. Only the
    last row of layer 2 matters: its weight is on milk.
    """,
)
def last_output(before, match, text, words):
    return [
        Matrices(
            [
                Matrix(before, name="layer 1", thing="weights", left=[words[w] for w in text], mark=[2]),
                "→",
                Matrix(rows, name="layer 2", thing="weights", mark=mark),
                "→",
                Matrix([[s]], name="output", thing="output"),
            ]
        )
        for rows, mark, s in ((unknown(6, 6), [], None), (match, [5], None), (match, [5], "milk"))
    ]


@slide(
    "One text proves nothing. And all the others?",
    minutes=1,
    say="360 orders of four words; three words of each can be asked again: 1080. Every square is a text.",
)
def puzzles(answers, circuit, M, P, puzzles, W):
    ok = circuit(puzzles, P, M, W)[0].argmax(dim=-1) == answers
    return [
        Wall(r, caption=caption)
        for r, caption in ((unknown(len(ok)), f"{len(ok)} texts"), (ok.tolist(), f"{ok.sum()} of {len(ok)} right"))
    ]


@slide(
    "Sixty steps, 3 in 100 right. And after 100?",
    minutes=3.5,
    say="""
    The training knows nothing of fetching or of copies: there are zeros, and a loss. Write the loss on the
    blackboard, because the slide does not have it: 1.95 at step 0, 1.76 at step 60. This is the bet of the
    lesson: write the shares on the blackboard, let everybody sign one.
    """,
    hall="After step 100: which share is right? Hands for all, half, a sixth, none. [All of them]",
    choices="moment",
)
def from_zeros(circuit, film, right, words, x):
    return [
        Beside(
            Curve(
                x=range(101),
                lines={"right": right},
                axes=["steps", "right"],
                scale=[0, 1],
                ends=["none", "all"],
                ticks=[0, 60, 100][: k + 1],
                upto=step,
                ball=step,
            ),
            Bars(
                words[1:],
                circuit(x[None], *film[step])[0][0].softmax(dim=-1)[1:],
                lying=True,
                top=1,
                strong=strong,
                wrong=wrong,
                colour="output",
            ),
            share=0.58,
        )
        for k, step, strong, wrong in ((1, 60, None, 0), (2, 100, 1, None))
    ]


@slide(
    "Which of the two heads is first?",
    minutes=1.5,
    say="""
    In the picture fetching rises first, because the share of looking needs both heads. But the two matrices grow
    together: the largest entries of P and M are 0.38 and 0.46 at step 60, 0.97 and 0.96 at step 70. The gradient of
    P is proportional to M, and M helps only as far as P fetches. Then show the cell that prints two zeros: the
    gradients of P and M at step 0.
    """,
)
def why_sudden(lines, shown):
    return [
        Curve(
            x=list(shown),
            lines={
                "right": lines["right"],
                "fetches": lines["layer 1, on the place before"],
                "looks": lines["layer 2, on the right place"],
            },
            things={"right": "output", "fetches": "key", "looks": "query"},
            axes=["steps", "share"],
            scale=[0, 1],
            marks=[0, 1],
            ticks=[0, 60, 100],
            upto=upto,
        )
        for upto in (60, 100)
    ]


@slide(
    "Why less than a sixth at first?",
    minutes=1,
    say="""
    After the first steps the model is worse than guessing, and it stays so for sixty. If you stop training there,
    you will report that it cannot be learned.
    """,
)
def why_below(circuit, film, text, words, x):
    return [
        Sentence(
            [words[w] for w in text],
            inks={0: "quiet", 1: "query", 5: "query"},
            shares=shares,
            ending="wrong",
            says=says,
        )
        for shares, says in (
            (unknown(6), None),
            (circuit(x[None], *film[60])[2][0], words[circuit(x[None], *film[60])[0][0].argmax()]),
        )
    ]


@slide(
    "What have M and W become?",
    minutes=0.5,
    say="""
    Ask what they expect to see before you go on. The numbers are rounded. Read the row of tea in M: 4 for a place
    that has fetched tea, 0 for the other words, −2 for start, because no word looks for start. W is the same again:
    the word attended to is the output; the column of start has −2, because start is never an answer.
    """,
    column=True,
)
def become(M_learned, W_learned, words):
    gap = unknown(7, 7)
    return [
        Matrices(
            [
                Matrix(m, name="M: looks for", thing="query", left=words, only=only),
                Matrix(w, name="W: outputs", thing="value", left=words, only=only),
            ]
        )
        for m, w, only in (
            (gap, gap, None),
            (M_learned.round(), gap, None),
            (M_learned.round(), W_learned.round(), None),
            (M_learned.round(), W_learned.round(), "diagonal"),
        )
    ]


@slide(
    "From where does the last place fetch most?",
    minutes=0.5,
    say="""
    What if it fetched itself? Then the last tea would find itself. Rows 2, 3 and 4 are as by hand. The last row
    has gone to start: M gives start the lowest score.
    """,
    hall="""
    From which place does the last one fetch most? Fingers. [0, from start: no word looks for start]
    """,
)
def predict_rest(causal_mask, masked_softmax, P_learned):
    return [
        Matrices(
            [
                Matrix(
                    [*masked_softmax(P_learned, causal_mask(6))[:5].tolist(), r],
                    name="layer 1, learned",
                    thing="weights",
                    left=[f"place {i}" for i in range(6)],
                    top=range(6),
                )
            ]
        )
        for r in (unknown(6), masked_softmax(P_learned, causal_mask(6))[5].tolist())
    ]


@slide(
    "All three texts right. Which matrix comes first?",
    minutes=3,
    say="""
    Read the task, then half a minute of silence. With the picture of layer 1 one finds P at once. P: 10 below
    the diagonal in rows 2, 3 and 4. M: 10 on the diagonal for the three words that ask; W: 10 for the three
    answers. Then choose learned, and drag the step: W grows first, P and M very slowly, then all three between
    65 and 85.
    """,
    hall="Which of the nine entries can be left out for the first text alone? Hands. [All but three]",
)
def play():
    return on_board(whose="learned", step=60, mark=("W learned", 1, 1))


@slide(
    "No start mark. How much for the right place?",
    minutes=0.5,
    say="""
    Five tokens are left; nothing else has changed. Run the first cell and read the three shares aloud.
    What can the first word fetch, if it may not look ahead? Wait for the answer, and then run the next cell.
    """,
    hall="""
    How much for the right place? Hands for 0, a fifth, a half, 1. [A half; the other half goes to the copy]
    """,
    choices="start-weight",
)
def start(first_asked):
    first = Sentence(["tea", "milk", "cup", "jam", "tea"], inks={4: "query"}, shares=unknown(5), says=None)
    return [
        first,
        first.but(
            shares=first_asked.mean(dim=0), arcs=[[4, 0, first_asked[:, 0].mean()], [4, 1, first_asked[:, 1].mean()]]
        ),
    ]


@slide(
    "Is one head not enough?",
    minutes=0.5,
    say="""
    Three words could be the answer: the three that come after a word that may be asked. Guessing among them
    gives a third.
    """,
)
def one_head(alone_right):
    return [Bars(["two heads", "one head", "guessing"], [1, v, 1 / 3], strong=1, top=1) for v in (None, alone_right)]


@slide(
    "Two heads side by side: how many are right?",
    minutes=1,
    say="""
    So far it seemed that two layers are needed. Let the hall be sure of it. Then run it, and ask how that
    can be: read the two small maps.
    """,
    hall="""
    Two heads in one layer, neither can use the other. Which share is right? Hands for a third, a half, all.
    [All of them]
    """,
    choices="side-by-side",
)
def predict_side(alone_right, pair_right, right):
    return [
        Bars(["one head", "one layer", "two layers"], [alone_right, v, right[100]], strong=1, top=1)
        for v in (None, pair_right)
    ]


@slide(
    "Longer lists: which model still gets them?",
    minutes=1.5,
    say="""
    The copy may be at seven places, and there are two heads that know places. The rule does not depend on
    the length of the list.
    """,
    hall="Ten places: which gets more than half? Hands for two layers, one layer, both. [Two layers]",
)
def break_it(after_right, beside_right):
    return [
        Bars(["two layers", "one layer", "guessing"], [a, b, 1 / 7], strong=0, top=1)
        for a, b in ((None, None), (after_right, beside_right))
    ]


@slide(
    "Its own lists: all right. And the puzzles?",
    minutes=0.5,
    say="""
    Stress: the data are right, the rule is the same, the model can do more than before. The loss is 0.01,
    and all of its own lists are right. Ask who would ship this model.
    """,
    hall="Which share of the puzzles? Hands for all, a half, a third, none. [A third]",
    choices="road",
)
def road_mended_text(answers, circuit, puzzles, road, share_right):
    return [
        Bars(["its own lists", "our puzzles"], [1, v], strong=1, colour="output", top=1)
        for v in (None, share_right(circuit, puzzles, answers, road[-1]))
    ]


@slide(
    "What is bob called, this time?",
    minutes=0.5,
    say="""
    If ann were always lee, a table of words would be enough. The last names are drawn again for each list,
    so there is only one way to know: look back.
    """,
)
def gpt(some, two_heads):
    return [
        Sentence([two_heads.VOCABULARY[token] for token in some[0, :10]], inks={9: "query"}, says=says, arcs=arcs)
        for says, arcs in ((None, []), (None, [[9, 4, 0.7]]), (two_heads.VOCABULARY[some[0, 10]], [[9, 4, 0.7]]))
    ]


@slide(
    "Two layers of two heads: do they know last names?",
    minutes=1,
    say="""
    Run it first, then talk: it takes two seconds. Positions go into queries and keys, not into values. The
    loss stays above 0, since no model can know which guest comes next.
    """,
)
def gpt_model(model, two_heads):
    return [
        Flow(
            {
                "tokens": [0, 0],
                "places": [2, 0],
                "head 0": [0.5, 1],
                "head 1": [1.5, 1],
                " head 0": [0.5, 2],
                " head 1": [1.5, 2],
                "last name": [1, 3],
            },
            things={
                "tokens": "input",
                "places": "input",
                "head 0": "weights",
                "head 1": "weights",
                " head 0": "weights",
                " head 1": "weights",
                "last name": "output",
            },
            labels={"last name": label},
            arrows=[
                ["tokens", "head 0"],
                ["tokens", "head 1"],
                ["places", "head 0"],
                ["places", "head 1"],
                ["head 0", " head 0"],
                ["head 1", " head 1"],
                ["head 0", " head 1"],
                ["head 1", " head 0"],
                [" head 0", "last name"],
                [" head 1", "last name"],
            ],
        )
        for label in ("last name ?", f"right: {two_heads.names_right(model):.0%}")
    ]


@slide(
    "Which head looks at the place after the copy?",
    minutes=1,
    say="Draw it for tea milk cup tea: after the copy means one column to the right of it.",
)
def which_head(model, some, two_heads):
    return [
        Beside(
            Sentence(
                [two_heads.VOCABULARY[token] for token in some[0, :10]],
                inks={9: "query"},
                says=two_heads.VOCABULARY[some[0, 10]],
                arcs=arcs,
            ),
            Matrices(
                [
                    Matrix(
                        rows,
                        name="after the copy",
                        thing="weights",
                        left=["layer 0", "layer 1"],
                        top=["head 0", "head 1"],
                    )
                ]
            ),
            share=0.62,
        )
        for rows, arcs in (
            (unknown(2, 2), [[9, 4, 0.05]]),
            (two_heads.head_scores(model)[1], [[9, 4, model(some[:, :-1])[1][1][0, 1, 9, 4].item()]]),
        )
    ]


@slide(
    "Which head fetches the first name?",
    minutes=0.5,
    say="""
    Two heads of four have large numbers, and they are the two of our circuit. Other seeds give them to other
    heads, or share them out. Ask what the other two are for.
    """,
)
def score_table(behind_copy, on_the_first):
    return [
        Matrices(
            [
                Matrix(
                    rows, name="on the first name", thing="key", left=["layer 0", "layer 1"], top=["head 0", "head 1"]
                ),
                "and",
                Matrix(behind_copy, name="after the copy", thing="weights", top=["head 0", "head 1"]),
            ]
        )
        for rows in (unknown(2, 2), on_the_first)
    ]


@slide(
    "Take out the head that shows nothing. And now?",
    minutes=1,
    say="""
    Draw the merged heads side by side, and out_proj after them: head h meets its own columns and no others.
    From the maps the head seems not to be needed. Let the hall vote on the maps, and write the vote on the
    blackboard. This is seed 2: with some other seeds the quiet head is not missed, or there is none.
    """,
    hall="""
    Without the head that shows nothing, how many names are right? Hands for all, nine in ten, a half, none.
    [About a half]
    """,
    choices="without",
)
def take_out(model, two_heads):
    one = [two_heads.right_without(model, i, j) for i in range(2) for j in range(2)]
    return [
        Bars(
            ["all there", "0 · 0", "0 · 1", "1 · 0", "1 · 1"],
            values,
            caption="names right, without layer · head",
            strong=3,
            top=1,
        )
        for values in ([1, None, None, None, None], [1, None, None, one[2], None], [1, *one])
    ]


@slide(
    "Its output is for another list. How many right?",
    minutes=1,
    say="""
    An output of 0 is not neutral: the rest of the model has never met it in training. An exchange is the
    fairer question: does the output say anything about *this* list? No.
    """,
    hall="""
    The head now has its output for another list. How many names are right? Hands for a tenth, a half, all.
    [All of them]
    """,
    choices="exchanged",
)
def predict_exchange(worth):
    silent = worth[2, 0].item()
    return [
        Bars(
            ["all there", "silent", "exchanged"],
            [1, silent, v],
            caption="names right, head 0 of layer 1",
            strong=2,
            top=1,
        )
        for v in (None, worth[2, 2].item())
    ]


@slide(
    "And if its output is the same for every list?",
    minutes=1,
    say="""
    One line, and the axis is the question: over the lists, not over the places. At the end all four heads:
    without the two of our circuit most names are wrong in all three tests; if head 1 of layer 0 is silent,
    one name in ten is wrong.
    """,
    hall="Who dictates it? [said.mean(dim=0, keepdim=True)]",
)
def your_mean(worth):
    return [
        Matrices(
            [
                Matrix(
                    [
                        [None if (i == 1 and k == 0) or (j != 2 and k < 2) else share for j, share in enumerate(row)]
                        for i, row in enumerate(worth.T.tolist())
                    ],
                    name="names right, layer · head",
                    thing="output",
                    left=["silent", "its mean", "another list"],
                    top=[f"{i} · {j}" for i in range(2) for j in range(2)],
                    column=[2],
                )
            ]
        )
        for k in range(3)
    ]


@slide(
    "Which of the three needs what was fetched?",
    minutes=1.5,
    say="""
    Point at the two layers: what head 0 of layer 0 has fetched is at each place, and three things in layer 1
    are made from it. Ask which of them are the columns of M: the words that were fetched. A third of the
    names is left, because there are three guests.
    """,
    hall="Which of them must not come from another list? Hands for queries, keys, values. [The keys]",
    choices="patched",
)
def predict_patched(right_if):
    return [
        Bars(
            ["queries", "keys", "values"],
            values,
            caption="names right, one of three from another list",
            strong=1,
            top=1,
        )
        for values in (unknown(3), list(right_if.values()))
    ]


@slide(
    "Head 3: where does the second bob look?",
    minutes=0.5,
    say="""
    Heads 0 and 1 are layer 0, heads 2 and 3 layer 1. Choose head 3 and the second bob: its weight is on the
    token after the first bob. Head 2 looks at commas; say nothing about it yet.
    """,
)
def heads_board():
    return on_board(head="head 3", query="3: bob", mark=("row", 0, 1))


@slide(
    "Two heads: what did it take?",
    minutes=0.5,
    say="Ask somebody to play the second tea: what do you look for? A token that has fetched tea.",
)
def summary():
    return again(look_behind, why_sudden, break_it, take_out)


@slide(
    "Four exercises, now yours",
    minutes=0,
    say="""
    9.1 at home, or now if there are fifteen minutes: most students exchange rows and columns in one of the
    matrices, and check says in which. 9.2 at home: the usual slip is the weight on the copy itself; the mean of
    the diagonal below finds the other head. 9.3 at home: rows set to 0 silence features of the output; queries set
    to 0 make a head that attends to all equally. 9.4 in pairs: one list is not enough, because one list fits every
    rule. Say what comes next: a memory, and what fills it.
    """,
)
def exercises():
    return Tiles(
        [["two after,\nin capitals", "induction\nscore", "a head\ntaken out", "a test of\ntraining data"]],
        columns=["9.1", "9.2", "9.3", "9.4"],
    )
