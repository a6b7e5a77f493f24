"""The slides of lesson 1. Attention by hand."""

import torch

from workbench.display.drawings import Bars, Beside, Flow, Matrices, Matrix, Plane, Sentence, Stacked, Tiles, unknown

from . import slide

MAP = Flow(
    {
        "X": [0, 1],
        "query": [1, 0],
        "key": [1, 1],
        "value": [1, 2],
        "scores": [2, 0.5],
        "weights": [3, 0.5],
        "output": [4, 1.25],
    },
    things={"X": "input"},
    arrows=[
        ["X", "query"],
        ["X", "key"],
        ["X", "value"],
        ["query", "scores"],
        ["key", "scores"],
        ["scores", "weights"],
        ["weights", "output"],
        ["value", "output"],
    ],
)


@slide(
    "Attention by hand: who listens to whom?",
    minutes=0.5,
    say="""
    Run the imports now; the first run takes a few seconds, and you want them behind you. Nothing on this
    slide needs reading aloud but the first sentence.
    """,
)
def title(TOKENS):
    return Sentence(TOKENS, inks={0: "query"}, shares=unknown(3))


@slide(
    "The same word twice. Which bank is it?",
    minutes=0.5,
    say="Read both sentences aloud. Somebody will say 'context': ask which word of it.",
    hall="What tells you which bank it is? Shout the word. [river, and coins]",
)
def why_two_sentences():
    return [
        Stacked(
            Sentence(["We", "rested", "on", "the", "bank", "of", "the", "river"], inks={4: "query", **a}),
            Sentence(["The", "bank", "changed", "our", "coins"], inks={1: "query", **b}),
        )
        for a, b in (({}, {}), ({7: "key"}, {}), ({7: "key"}, {4: "key"}))
    ]


@slide(
    "Beside coins: what is the new row of bank?",
    minutes=1,
    say="Point at the pairs while you multiply. The word dot product is needed all afternoon.",
    hall="Beside coins: what is the new row of bank? On paper, half a minute. [(0.5, 1.5)]",
)
def why_likeness(bank, coins, new_bank, river):
    return [
        Matrices(
            [
                Matrix(
                    [*torch.stack([river, bank]).tolist(), torch.stack([river, bank]).mean(dim=0)],
                    thing="input",
                    left=["river", "bank", "half each"],
                    top=["water", "money"],
                    mark=[2],
                ),
                " ",
                Matrix(
                    [*torch.stack([coins, bank]).tolist(), r],
                    thing="input",
                    left=["coins", "bank", "half each"],
                    top=["water", "money"],
                    mark=[2],
                ),
            ]
        )
        for r in (unknown(2), new_bank.tolist())
    ]


@slide(
    "Where does bank go when its neighbour moves?",
    minutes=1,
    say="""
    In the notebook the neighbour can be dragged: leave the line on which its score is 2, and the share is no
    longer a half.
    """,
    hall="""
    The neighbour of bank moves from river to coins: where does bank go? Point with your arm. [From (1.5,
    0.5) to (0.5, 1.5), half way each time]
    """,
)
def bank_why(bank, coins, new_bank, river):
    return [
        Plane([["bank", bank, "query"], *k], axes=["water", "money"], between=between)
        for between, k in (
            (None, [["river", river, "key"]]),
            ([bank, river], [["river", river, "key"], ["beside river", (river + bank) / 2, "output"]]),
            ([bank, coins], [["coins", coins, "key"], ["beside coins", new_bank, "output"]]),
        )
    ]


@slide(
    "Whom does barks hear, if it listens to its like?",
    minutes=1.5,
    say="""
    Let them find it unfair that the verb listens to itself. Then a sentence for each fault: a verb needs a
    thing, which it is not; barks scores dog as dog scores barks; the only numbers are the words themselves.
    """,
    hall="The scores of barks, against dog and against itself? On paper, then shout. [3 and 5]",
)
def why_it_fails(rows):
    return [
        Matrices(
            [
                Matrix(rows, thing="key", left=["dog", "barks"], top=["thing", "action"]),
                "·",
                Matrix(rows[1][:, None], name="barks", thing="query"),
                "=",
                Matrix(s, name="scores", thing="scores"),
                "→",
                Matrix(w, name="shares", thing="weights"),
            ]
        )
        for s, w in (
            (unknown(2, 1), unknown(2, 1)),
            ((rows @ rows[1])[:, None], torch.softmax(rows @ rows[1], dim=-1)[:, None]),
        )
    ]


@slide(
    "Which way must barks ask, to hear the dog?",
    minutes=1.5,
    say="""
    Turn it by 5 degrees with each arrow key; from 20 on it is the dog. Go on to 65, where it points at the
    dog, and to 110: both scores fall, and the share of the dog is larger still.
    """,
    hall="""
    Which way must the arrow of barks turn, so that it hears mostly dog? Show with your arm. [To the right,
    past half way between the two]
    """,
)
def why_ask():
    """Without a picture: its board or plot is shown."""


@slide(
    "Barks asks with other numbers. Whom does it hear?",
    minutes=0.5,
    say="""
    It is the arrow that you have just turned, by 37 degrees. One matrix product has changed whom the verb
    listens to.
    """,
    hall="The query of barks is (2, 1): its score against dog, and against barks? Shout. [6 and 4]",
)
def ask_matrix(asks, rows):
    return [
        Matrices(
            [
                Matrix(rows, name="what they are", thing="key", left=["dog", "barks"]),
                "·",
                Matrix(asks[1][:, None], name="barks asks", thing="query"),
                "=",
                Matrix(s, name="scores", thing="scores"),
            ]
        )
        for s in (unknown(2, 1), (rows @ asks[1])[:, None])
    ]


@slide(
    "And if the keys go through the same matrix?",
    minutes=0.5,
    say="""
    Send your arm for dog through the exchange too: everything is mirrored, and barks hears itself again. So
    two matrices; the third says what is handed over.
    """,
)
def why_three_matrices(asks, rows):
    return [
        Matrices(
            [
                Matrix(rows @ rows[1], name="no matrix", thing="scores", top=["dog", "barks"]),
                " ",
                Matrix(asks[1] @ rows.T, name="for the query", thing="scores", top=["dog", "barks"]),
                " ",
                Matrix(r, name="for both", thing="scores", top=["dog", "barks"]),
            ]
        )
        for r in (unknown(2), asks[1] @ asks.T)
    ]


@slide(
    "Four words to talk with",
    minutes=1,
    say="""
    Point at the four colours: they mean the same in every picture and on every board of the series.
    """,
)
def four_words():
    return Tiles(
        [[["looks for", "query"], ["is found by", "key"], ["hands over", "value"], ["shares of 1", "weights"]]],
        columns=["query", "key", "value", "weights"],
    ).opened(*range(5))


@slide(
    "Which of them has a number for each pair?",
    minutes=1,
    say="""
    Trace one path with the pointer: I, its query, down to the scores, into the weights, out on the right.
    Come back to this slide whenever somebody is lost; it is the map.
    """,
    hall="""
    Which boxes hold one row for each token, and which hold one number for each pair of tokens? Shout.
    [Pairs: scores and weights. The three W hold neither. All others: a row for each token.]
    """,
)
def which_are_pairs():
    return [MAP.but(empty=list(MAP.boxes)), MAP.but(empty=["X", "query", "key", "value", "output"])]


@slide(
    "What is known of each word?",
    minutes=0.5,
    say="""
    Read the second row aloud as "like is (0, 2, 0, 2)". Rows are tokens, here and in all that follows.
    """,
)
def one_row_each(TOKENS, X):
    return [Matrices([Matrix([*X[:k].tolist(), *unknown(3 - k, 4)], thing="input", left=TOKENS)]) for k in range(4)]


@slide(
    "Which inputs make the first number of a query?",
    minutes=0.5,
    say="Cover W_q with your hand except for its first column, and add up 1·1 + 0·1 for the token I.",
)
def one_column(W_k, W_q, W_v):
    return [
        Matrices(
            [
                Matrix(
                    W_q,
                    name="for queries",
                    thing="query",
                    left=["x₁", "x₂", "x₃", "x₄"],
                    top=["q₁", "q₂", "q₃"],
                    column=column,
                ),
                Matrix(W_k, name="for keys", thing="key"),
                Matrix(W_v, name="for values", thing="value"),
            ]
        )
        for column in ([], [0])
    ]


@slide(
    "With which numbers does I ask? And like?",
    minutes=2.5,
    say="""
    Do the first number of I on the board, slowly; let the hall dictate the second and the third (the second
    is 0: its column has its only 1 in row 4, where I has a 0). Then like: enter the guess that most hands
    are for, also when it is wrong, and run the cell: it says which slip it was. Then say what assert_close
    means: silence is agreement.
    """,
    hall="""
    The row of like is (0, 2, 0, 2): what is its query? One minute on paper, then hands for the first number.
    [(2, 2, 2)]
    """,
)
def queries(TOKENS, W_q, X):
    q = (X @ W_q).tolist()
    return [
        Matrices(
            [
                Matrix(X, name="X", thing="input", left=TOKENS, mark=[m]),
                "×",
                Matrix(W_q, name="for queries", thing="query", column=column),
                "=",
                Matrix(rows, name="queries", thing="query"),
            ]
        )
        for m, column, rows in (
            *((0, [min(k, 2)], [[*q[0][:k], *unknown(3 - k)], unknown(3), unknown(3)]) for k in range(3)),
            (1, [], [q[0], unknown(3), unknown(3)]),
            (1, [], q),
        )
    ]


@slide(
    "The keys of all three: which line?",
    minutes=0.5,
    say="""
    Type what the hall says. Let them check one entry of the values by hand; the text does the first.
    """,
    hall="The keys of all tokens: who dictates the line? [X @ W_k]",
)
def keys(keys, TOKENS, W_k, X):
    return [
        Matrices(
            [
                Matrix(X, name="X", thing="input", left=TOKENS),
                "×",
                Matrix(W_k, name="for keys", thing="key"),
                "=",
                Matrix(rows, name="keys", thing="key"),
            ]
        )
        for rows in (unknown(3, 3), keys)
    ]


@slide(
    "How well does a query match a key?",
    minutes=1,
    say="Multiply along the lines, pair by pair. Say each time whose query it is and whose key.",
    hall="""
    Which two rows make the score of like against I? Neighbours, half a minute. [The query of like and the
    key of I; the other way round it would be another question.]
    """,
)
def one_score(keys, queries, TOKENS):
    return [
        Matrices(
            [
                Matrix(keys, name="keys", thing="key", left=TOKENS),
                "·",
                Matrix(queries[0][:, None], name="query of I", thing="query"),
                "=",
                Matrix([[s] for s in r], name="scores", thing="scores"),
            ]
        )
        for r in (unknown(3), *([*(keys @ queries[0])[:k].tolist(), *unknown(3 - k)] for k in (1, 2, 3)))
    ]


@slide(
    "What is the score of tea against like?",
    minutes=1,
    say="""
    Type the number of the hall. If somebody says 14, they have added up all six entries instead of
    multiplying pairs.
    """,
    hall="What is the score of tea against like? On paper, then shout. [2·4 + 1·4 + 3·0 = 12]",
)
def pair_by_pair(keys, queries, score):
    return [
        Matrices(
            [
                Matrix(queries[2], name="query of tea", thing="query"),
                "·",
                Matrix(keys[1], name="key of like", thing="key"),
                "→",
                Matrix(rows, name="pair by pair", thing="scores"),
                "→",
                Matrix([s], name="score", thing="scores"),
            ]
        )
        for rows, s in ((unknown(3), None), (queries[2] * keys[1], score))
    ]


@slide(
    "What are the three scores of like?",
    minutes=1,
    say="A query of equal numbers is quick: twice the sum of the key.",
    hall="The three scores of like? Every second row of the hall takes one. [4, 16, 12]",
)
def three_scores(keys, queries, scores_of_like, TOKENS):
    return [
        Matrices(
            [
                Matrix(keys, name="keys", thing="key", left=TOKENS),
                "·",
                Matrix(queries[1][:, None], name="query of like", thing="query"),
                "=",
                Matrix(rows, name="scores", thing="scores"),
            ]
        )
        for rows in (unknown(3, 1), scores_of_like[:, None])
    ]


@slide(
    "All nine scores: which line?",
    minutes=1.5,
    say="""
    Ask what goes wrong without the T: nothing complains here, since both are 3 by 3. Draw a line under row 1
    with your finger, then down column 1. Rows ask, columns are asked. Before going on, ask where the 3 of
    d_k has gone: it was summed away. Trace the row of I from the left to its three scores. Two boxes are
    still empty.
    """,
    hall="All nine scores in one line: who dictates it? [queries @ keys.T]",
)
def your_scores(keys, queries, scores, TOKENS):
    return [
        Matrices(
            [
                Matrix(queries, name="queries", thing="query", left=TOKENS),
                "×",
                Matrix(keys.T, name="keys, turned", thing="key", top=TOKENS),
                "=",
                Matrix(rows, name="scores", thing="scores", left=TOKENS, top=TOKENS),
            ]
        )
        for rows in (unknown(3, 3), scores)
    ]


@slide(
    "How do scores become shares?",
    minutes=1,
    say="Write 7.389 and 54.598 on the blackboard and leave them there for the next slide.",
)
def exponentials(scores, TOKENS):
    return [
        Beside(
            Bars(TOKENS, scores[0], caption="scores of I", unit="", colour="scores"),
            Bars(TOKENS, values, caption="e to the score", unit=""),
        )
        for values in (unknown(3), scores[0].exp())
    ]


@slide(
    "What share does I give to each?",
    minutes=1,
    say="If many say 0.5 and 0.5, ask what is left for I itself.",
    hall="Which weights do like and tea get from I? Two digits, on paper. [0.47 each]",
)
def shares(exponentials, TOKENS, weights_of_I):
    return [
        Matrices(
            [
                Matrix(exponentials, name="e to the score", top=TOKENS),
                "÷",
                Matrix([exponentials.sum()], name="sum"),
                "=",
                Matrix(rows, name="weights of I", thing="weights", top=TOKENS),
            ]
        )
        for rows in ([weights_of_I[0], None, None], weights_of_I)
    ]


@slide(
    "Like: 16 against 12. How much is a lead of 4?",
    minutes=0.5,
    say="Differences count: each unit multiplies the ratio by e.",
    hall="How much larger is the larger share, when its score leads by 4? [e⁴, about 55 times]",
)
def a_lead_of_4(scores, TOKENS, weights):
    return [
        Beside(
            Bars(TOKENS, scores[1], caption="scores of like", unit="", colour="scores"),
            Bars(TOKENS, values, caption="weights of like", strong=1, top=1),
        )
        for values in (unknown(3), weights[1])
    ]


@slide(
    "Every row sums to 1. And every column?",
    minutes=0.5,
    say="""
    Read one row aloud as a sentence: "tea gives 0.88 to like and 0.12 to itself". A column has no such
    sentence.
    """,
    hall="Do the columns sum to 1 too? Hands. [No: the column of like holds 2.33 in all.]",
)
def heatmap_weights(TOKENS, weights):
    return [
        Matrices(
            [
                Matrix(weights, name="weights", thing="weights", left=TOKENS, top=TOKENS),
                " ",
                Matrix(weights.sum(dim=1, keepdim=True), name="each row", thing="weights"),
                " ",
                Matrix(rows, name="each column", thing="quiet", top=TOKENS),
            ]
        )
        for rows in (unknown(3), weights.sum(dim=0))
    ]


@slide(
    "What does each share bring along?",
    minutes=0.5,
    say="""
    One row times one number each: point at the weight on the left, then at its value on the right.
    """,
)
def brought_along(TOKENS, values, weighted_values_of_I, weights):
    return [
        Matrices(
            [
                Matrix(weights[0][:, None], name="I hears", thing="weights", left=TOKENS),
                "·",
                Matrix(values, name="values", thing="value"),
                "=",
                Matrix(rows, name="brought along", thing="output"),
            ]
        )
        for rows in (unknown(3, 3), weighted_values_of_I)
    ]


@slide(
    "What is the second number of the output of I?",
    minutes=1.5,
    say="""
    Ask for the largest second number among the values before you run: the answer cannot be above it. That is
    what an average means. The whole path of I in one picture: let somebody read it aloud from left to right.
    """,
    hall="The second number of the output of I: on paper or in the head, then shout. [6.6831]",
)
def added_up(output_of_I, TOKENS, weighted_values_of_I):
    def three_digits(rows):
        return [[f"{v:.3f}" if v else "0" for v in row] for row in rows.tolist()]

    return [
        Matrices(
            [
                Matrix(three_digits(weighted_values_of_I), name="brought along", thing="value", left=TOKENS),
                "→",
                Matrix(r, name="added up", thing="output"),
            ]
        )
        for sums in three_digits(output_of_I[None])
        for r in ([sums[0], None, None], sums)
    ]


@slide(
    "All outputs at once: which line?",
    minutes=0.5,
    say="Before you run it, ask for the shape: a row for each query, as wide as a value.",
    hall="Steps 6 and 7 for all tokens: who dictates the line? [weights @ values]",
)
def all_outputs(outputs, TOKENS, values, weights):
    return [
        Matrices(
            [
                Matrix(weights, name="weights", thing="weights", left=TOKENS),
                "×",
                Matrix(values, name="values", thing="value"),
                "=",
                Matrix(rows, name="outputs", thing="output"),
            ]
        )
        for rows in (unknown(3, 3), outputs)
    ]


@slide(
    "One line for each arrow. Which?",
    minutes=0.5,
    say="""
    The map, full. Trace I once more from left to right. Say that the hall has now seen all of
    self-attention.
    """,
    hall="""
    Which line of code is each arrow? Shout. [Three products with W, one with keys.T, softmax, one with the
    values.]
    """,
)
def map_outputs():
    return [
        MAP.but(arrows=MAP.arrows[:arrows], empty=list(MAP.boxes)[boxes:])
        for arrows, boxes in ((0, 1), (3, 4), (5, 5), (6, 6), (8, 7))
    ]


@slide(
    "When I hears more of tea, who pays?",
    minutes=0.5,
    say="""
    The third number of the key of tea goes from 1 to 1.5. Take the votes first. In the notebook it is a
    number to drag.
    """,
    hall="""
    When I hears more of tea, who pays: I itself or like? And whose share shrinks by the larger factor? [Both
    by the same factor; so like, which had most, pays most]
    """,
)
def sentence_why(queries, scores, TOKENS):
    return [
        Sentence(TOKENS, inks={0: "query", 2: "key"}, arcs=[[0, j, shares[j]] for j in range(3)], shares=shares)
        for t in (0, 0.5)
        for shares in [torch.softmax(scores[0] + queries[0, 2] * torch.tensor([0, 0, t]), dim=-1).tolist()]
    ]


@slide(
    "Weights a little off. And the outputs?",
    minutes=0.5,
    say="""
    The 0.063 moves from a value with 2 to values with 8 and 6: that is where the factor 5 is from.
    """,
    hall="""
    The weights are off by 0.063 at most: are the outputs off by less, as much, or more? Hands for each.
    [More: by 0.32, five times as much]
    """,
)
def rounded_weights(outputs, rounded, values, weights):
    return [
        Bars(
            ["weights", "outputs"],
            [(weights - rounded).abs().max(), v],
            caption="off by at most",
            unit="",
            colour=["weights", "output"],
            top=0.35,
            words=False,
        )
        for v in (None, (outputs - rounded @ values).abs().max())
    ]


@slide(
    "I to tea over 0.7: which entry of W_k?",
    minutes=3,
    say="""
    Read the task, and give half a minute of silence before you touch anything. Click W_k row 3 column 3 and
    press the up arrow: I gives tea 0.79, like keeps 0.88. Answer the board's question, and the task is done.
    Undo. Then change W_v row 1 column 1 to 5 and show that no weight moves. Last, set Weights to "rounded to
    one digit" and read the first output. Play shows the steps one by one. One sentence each: parameters
    belong to everybody, values are nobody's business but the output's, a row of X goes into all three.
    """,
    hall="""
    Which column of W_k makes I listen to tea and leaves like alone? Take two proposals and try both. [The
    third: there the query of I has its largest number, 2, as has that of like; in the first, I has 1 and
    like 2]
    """,
)
def no_single_entry():
    """Without a picture: its board or plot is shown."""


@slide(
    "W_q ten times as large: what is tea’s best?",
    minutes=2,
    say="""
    Do not explain saturation yet; let the number do it. Two rows are deaf. Say "saturated" once, slowly; it
    comes back in notebook 2.
    """,
    hall="""
    W_q is ten times as large. What is tea's largest weight now: about 0.88, about 0.95, or 1? Hands. [1, to
    four digits]
    """,
    choices="break-it",
)
def ten_times_W_q(TOKENS, too_sure, weights):
    return [
        Matrices(
            [
                Matrix(weights, name="as it was", thing="weights", left=TOKENS, top=TOKENS, mark=[2]),
                "→",
                Matrix(rows, name="ten times W_q", thing="weights", top=TOKENS, mark=[2]),
            ]
        )
        for rows in (unknown(3, 3), too_sure)
    ]


@slide(
    "From a row to an output: in which steps?",
    minutes=0.5,
    say="Ask somebody in the last row to say all seven steps from memory, with the slide covered.",
)
def summary():
    return Tiles(
        [
            [["row → query,\nkey, value", "input"], ["score:\nquery · key", "scores"]],
            [["softmax:\nweights", "weights"], ["output: average\nof values", "output"]],
        ]
    ).opened(*range(5))


@slide(
    "Another sentence, and all of it yours",
    minutes=0,
    say="""
    At home, or now if there are ten minutes: a pocket calculator will do. The common mistake is rounded
    weights, and check says so. At home. Five lines; they are usually written with a loop first, which is
    fine as a start and not as an answer: check tries other sizes. Say what comes next: the same steps for
    thousands of sentences, and the question what the root is for.
    """,
)
def exercises():
    return Tiles(
        [["We drink coffee:\nby hand", "self-attention\nas a function", "a token left out:\nwho misses it?"]],
        columns=["1.1", "1.2", "1.3"],
    )
