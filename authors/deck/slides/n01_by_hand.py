"""The slides of lesson 1. Attention by hand."""

import math

import torch

from workbench.display.drawings import Bars, Beside, Flow, Matrices, Matrix, Plane, Sentence, Stacked, Tiles, unknown

from . import on_board, slide

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
    "Attention by hand: who attends to whom?",
    minutes=0.5,
    say="""
    Run the imports now, since the first run takes a few seconds. Read only the first sentence of this slide
    aloud.
    """,
)
def title(TOKENS):
    return Sentence(TOKENS, inks={0: "query"}, shares=unknown(3))


@slide(
    "The same word twice. Which bank is it?",
    minutes=0.5,
    say="Read both sentences aloud. If somebody says 'the context', ask which word of the context.",
    hall="Which word tells you which bank it is? Shout the word. [river, and coins]",
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
    say="Point at the pairs while you multiply. Say the words dot product and score: they will be needed all the time.",
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
    In the notebook the neighbour can be dragged. Leave the line on which its score is 2: its share is no
    longer one half.
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
    "By likeness alone, to whom does barks attend?",
    minutes=1.5,
    say="""
    Wait until somebody objects that the verb attends to itself. Then say one sentence for each fault: a verb
    needs a thing, and is none; the score is the same in both directions; the only numbers are the words' rows.
    """,
    hall="What are the scores of barks, with dog and with itself? On paper, then shout. [3 and 5]",
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
    "Which way must barks ask, to attend to dog?",
    minutes=1.5,
    say="""
    Each arrow key turns it by 5 degrees. From 20 degrees on, dog has the larger share. Go on to 65, where the
    arrow points at dog, and to 110: both scores fall, and the share of dog is even larger.
    """,
    hall="""
    Which way must the arrow of barks turn, so that it attends mostly to dog? Show with your arm. [To the
    right, a third of the way to dog or more]
    """,
)
def why_ask():
    return on_board(query=[[math.sqrt(5), 0]])


@slide(
    "Barks asks with other numbers. What are its scores?",
    minutes=0.5,
    say="""
    This is the arrow of the last slide, 37 degrees from where it began. One matrix product has changed to whom
    the verb attends.
    """,
    hall="The query of barks is (2, 1): what is its score with dog, and with barks? Shout. [6 and 4]",
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
    If the key of dog is exchanged too, everything is mirrored, and barks attends mostly to itself again. So
    we need two matrices. The third makes what is taken from a word.
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
    Point at the four colours. They mean the same in every picture and on every board of the series.
    """,
)
def four_words():
    return Tiles(
        [[["looks for", "query"], ["is found by", "key"], ["is taken", "value"], ["shares of 1", "weights"]]],
        columns=["query", "key", "value", "weights"],
    ).opened(*range(5))


@slide(
    "Which of them has a number for each pair?",
    minutes=1,
    say="""
    Follow one path with the pointer: I, its query, its scores, its weights, its output on the right. This is
    the map: come back to it whenever somebody is lost.
    """,
    hall="""
    Which boxes hold one row for each token, and which hold one number for each pair of tokens? Shout.
    [Pairs: scores and weights. All others: a row for each token.]
    """,
)
def which_are_pairs():
    return [MAP.but(empty=list(MAP.boxes)), MAP.but(empty=["X", "query", "key", "value", "output"])]


@slide(
    "What do we know of each word?",
    minutes=0.5,
    say="""
    Read the second row aloud: "like is (0, 2, 0, 2)". Rows are tokens, here and everywhere in the series.
    """,
)
def one_row_each(TOKENS, X):
    return [Matrices([Matrix([*X[:k].tolist(), *unknown(3 - k, 4)], thing="input", left=TOKENS)]) for k in range(4)]


@slide(
    "Which inputs make the first number of a query?",
    minutes=0.5,
    say="Cover all of W_q except its first column with your hand, and add up 1·1 + 0·1 for the token I.",
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
    "What is the query of I? And that of like?",
    minutes=2.5,
    say="""
    Work out the first number of I on the blackboard, slowly. Let the hall dictate the second and the third (the
    second is 0: its column has its only 1 in row 4, where I has a 0). For like, enter the guess with most
    hands, also if it is wrong, and run the cell: it says which mistake it was.
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
    Type what the hall says. Let them work out one entry of the values by hand; the text has the first.
    """,
    hall="The keys of all tokens: who will dictate the line? [X @ W_k]",
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
    Which two rows make the score of like with I? Ask your neighbour, half a minute. [The query of like and
    the key of I. The query of I and the key of like make another score.]
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
    Type the number of the hall. Whoever says 14 has added up all six entries and has not multiplied in
    pairs.
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
    say="With a query of equal numbers this is quick: the score is twice the sum of the key.",
    hall="What are the three scores of like? Each third of the hall works out one. [4, 16, 12]",
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
    Ask what goes wrong without the T: no error is raised here, since both are 3 by 3. Run a finger along row 1,
    then down column 1: a row belongs to a query, a column to a key. Before going on, ask where the 3 of d_k has
    gone: each score is a sum over it. Follow the row of I from the left to its three scores.
    """,
    hall="All nine scores in one line: who will dictate it? [queries @ keys.T]",
)
def your_scores(keys, queries, scores, TOKENS):
    return [
        Matrices(
            [
                Matrix(queries, name="queries", thing="query", left=TOKENS),
                "×",
                Matrix(keys.T, name="keys.T", thing="key", top=TOKENS),
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
    "What weight does I give to each token?",
    minutes=1,
    say="If many say 0.5 and 0.5, ask which weight is left for I itself.",
    hall="Which weights does I give to like and to tea? Two digits, on paper. [0.47 each]",
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
    say="""
    Only the difference of two scores counts: each unit of it multiplies the ratio of the weights by e. Here
    you can also say what a silent assert means: the two agree.
    """,
    hall="If one score is larger by 4, how many times as large is its weight? [e⁴, about 55 times]",
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
    Read one row aloud as a sentence: "tea gives 0.88 to like and 0.12 to itself". No such sentence can be made
    of a column.
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
    "What does each weight take from its value?",
    minutes=0.5,
    say="""
    Each row is multiplied by one number: point at the weight on the left, then at its value on the right.
    """,
)
def brought_along(TOKENS, values, weighted_values_of_I, weights):
    return [
        Matrices(
            [
                Matrix(weights[0][:, None], name="weights of I", thing="weights", left=TOKENS),
                "·",
                Matrix(values, name="values", thing="value"),
                "=",
                Matrix(rows, name="weighted values", thing="output"),
            ]
        )
        for rows in (unknown(3, 3), weighted_values_of_I)
    ]


@slide(
    "What is the second number of the output of I?",
    minutes=1.5,
    say="""
    Before you run the cell, ask for the largest second number among the values: the answer cannot be above it.
    That is what an average means. Then let somebody read the whole path of I aloud, from left to right.
    """,
    hall="What is the second number of the output of I? On paper or in your head, then shout. [6.6831]",
)
def added_up(output_of_I, TOKENS, weighted_values_of_I):
    def three_digits(rows):
        return [[f"{v:.3f}" if v else "0" for v in row] for row in rows.tolist()]

    return [
        Matrices(
            [
                Matrix(three_digits(weighted_values_of_I), name="weighted values", thing="value", left=TOKENS),
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
    say="Before you run the line, ask for the shape: a row for each query, as wide as a value.",
    hall="Steps 6 and 7 for all tokens: who will dictate the line? [weights @ values]",
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
    "One line of code fills each box. Which line?",
    minutes=0.5,
    say="""
    The map is full. Follow I once more from left to right. Say that the hall has now seen all of
    self-attention.
    """,
    hall="""
    Which line is it? Shout, box by box. [Three products with W, one with keys.T, softmax, one with the
    values.]
    """,
)
def map_outputs():
    return [
        MAP.but(arrows=MAP.arrows[:arrows], empty=list(MAP.boxes)[boxes:])
        for arrows, boxes in ((0, 1), (3, 4), (5, 5), (6, 6), (8, 7))
    ]


@slide(
    "I gives tea more weight. Who loses weight?",
    minutes=0.5,
    say="""
    The third number of the key of tea goes from 1 to 1.5. Take the votes first. In the notebook it is a
    number to drag.
    """,
    hall="""
    When I gives more weight to tea, who loses weight: I itself or like? And whose weight shrinks by the larger
    factor? [Both shrink by the same factor, so like, whose weight was larger, loses more]
    """,
)
def sentence_why(queries, scores, TOKENS):
    return [
        Sentence(TOKENS, inks={0: "query", 2: "key"}, arcs=[[0, j, shares[j]] for j in range(3)], shares=shares)
        for t in (0, 0.5)
        for shares in [torch.softmax(scores[0] + queries[0, 2] * torch.tensor([0, 0, t]), dim=-1).tolist()]
    ]


@slide(
    "Weights are a little wrong. And the outputs?",
    minutes=0.5,
    say="""
    The weight 0.063 moves from a value with a 2 to values with an 8 and a 6: this makes the factor 5.
    """,
    hall="""
    The largest error of the weights is 0.063. Is that of the outputs smaller, equal, or larger? Hands for each.
    [Larger: 0.32, five times as large]
    """,
)
def rounded_weights(outputs, rounded, values, weights):
    return [
        Bars(
            ["weights", "outputs"],
            [(weights - rounded).abs().max(), v],
            caption="largest error",
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
    Read the task, then wait half a minute before you touch anything. Click W_k row 1 column 3 and press the up
    arrow: I gives tea 0.79, and like gives itself 0.88. Answer the board's question, and the task is done. Undo.
    Then change W_v row 1 column 1 to 5 and show that no weight changes. Last, set Weights to "rounded to one
    digit" and read the first output. Play shows the steps one by one. Say three sentences: a parameter acts on
    all tokens; values change only the outputs; a row of X goes into its query, its key and its value.
    """,
    hall="""
    Which column of W_k gives tea more weight in the row of I, and changes the row of like little? Take two
    proposals and try both. [The third: there the query of I has its largest number, 2. The query of like has 2
    everywhere, so every column moves it equally.]
    """,
)
def no_single_entry():
    return on_board(W_k={(0, 2): 2}, mark=("W_k", 0, 2))


@slide(
    "W_q ten times as large: what is tea’s top weight?",
    minutes=2,
    say="""
    Show the number first, then explain: in two rows all weight is on one token, and small changes of the scores
    do nothing any more. Say "saturated" once, slowly; the word comes back in notebook 2.
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
    1.1 is for home, or for now if there are ten minutes; a pocket calculator is enough. The common mistake is
    rounded weights, and check names it. 1.2 and 1.3 are for home. 1.2 needs five lines. Say what comes next: the
    same steps for thousands of sentences, and the question what the root is for.
    """,
)
def exercises():
    return Tiles(
        [["We drink coffee:\nby hand", "self-attention\nas a function", "a token left out:\nhow much changes?"]],
        columns=["1.1", "1.2", "1.3"],
    )
