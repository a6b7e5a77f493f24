"""The slides of lesson 2. Scaled dot product attention, in batches."""

import math

import torch

from workbench.display.drawings import Bars, Beside, Curve, Flow, Lines, Matrices, Matrix, Stacked, Tiles, unknown

from . import on_board, slide


@slide(
    "Any shape, and one division more",
    minutes=1,
    say="""
    Read the three goals in the notebook's first cell. The third, why a root, takes the second half of the time.
    Shift+Enter runs the imports, which no slide shows; the first run takes a few seconds.
    """,
)
def title(W_k, W_q, X):
    return Matrices(
        [
            Matrix(X @ W_q @ (X @ W_k).T, name="scores", thing="scores"),
            "÷",
            Matrix([["?"]], thing="query"),
            "→",
            Matrix(unknown(3, 3), name="weights", thing="weights"),
        ]
    )


@slide(
    "Two sentences of six tokens. Which shape has query?",
    minutes=1.5,
    say="""
    Point at the new first axis and call it "which sentence". Whoever answers (4, 3) has looked only at W_q.
    """,
    hall="W_q is (4, 3), the batch is (2, 6, 4): which shape has query? Shout. [(2, 6, 3)]",
)
def two_sentences(batch, query, W_q):
    return [
        Beside(
            Matrices(
                [
                    Matrix(batch[0], name="batch[0]", thing="input"),
                    Matrix(batch[1], name="batch[1]", thing="input"),
                    "×",
                    Matrix(W_q, name="W_q", thing="query"),
                ]
            ),
            r,
            share=0.64,
        )
        for r in (
            Tiles([["?"]], open=0),
            Matrices(
                [Matrix(query[0], name="query[0]", thing="query"), Matrix(query[1], name="query[1]", thing="query")]
            ),
        )
    ]


@slide(
    "Which two axes of the keys change places?",
    minutes=0.5,
    say="Type the line that somebody dictates.",
    hall="Which two axes change places, and which shape does the result have? Hands. [1 and 2: (2, 3, 6)]",
)
def two_axes(key, turned):
    return [
        Beside(Matrices([Matrix(key.shape, name="key", thing="key")]), r, share=0.4)
        for r in (Tiles([["?"]], open=0), Matrices([Matrix(turned.shape, name="transposed", thing="key")]))
    ]


@slide(
    "Sentence by sentence. Which shape do scores have?",
    minutes=0.5,
    say="Ask for hands first. The two shapes differ in one number.",
    hall="""
    Which shape do the scores have? Hands for (2, 6, 6) and for (2, 6, 3). [(2, 6, 6): two sentences, six
    queries, six keys]
    """,
)
def sentence_by_sentence(batch_scores, query, turned):
    return [
        Beside(
            Matrices(
                [
                    Matrix(query.shape, name="query", thing="query"),
                    "@",
                    Matrix(turned.shape, name="key, transposed", thing="key"),
                ]
            ),
            r,
            share=0.6,
        )
        for r in (Tiles([["?"]], open=0), Matrices([Matrix(batch_scores.shape, name="scores", thing="scores")]))
    ]


@slide(
    "The tokens in reverse. What do the scores do?",
    minutes=0.5,
    say="It surprises people that the order does not matter. Give them time.",
    hall="The tokens come in reverse order. Which scores are new? [None: only rows and columns are reversed]",
)
def in_reverse(batch_scores):
    return [
        Matrices(
            [
                Matrix(batch_scores[0], name="forwards", thing="scores", left=["I", "like", "tea", "tea", "I", "like"]),
                "→",
                Matrix(rows, name="in reverse", thing="scores", left=["like", "I", "tea", "tea", "like", "I"]),
            ]
        )
        for rows in (unknown(6, 6), batch_scores[1])
    ]


@slide(
    "Random inputs: how much weight on the diagonal?",
    minutes=2,
    say="""
    The rows sum to 1, so all seems well. Take numbers from the hall and write down the smallest and the
    largest. Then show that each token gives most weight to itself. Let the hall look for reasons before the next
    slide.
    """,
    hall="""
    The inputs are random. How much weight does a token give to itself on average? Shout a number.
    [0.76, and not a quarter]
    """,
)
def dark_diagonal(noise_weights):
    return [
        Matrices(
            [
                Matrix(rows, name="weights", thing="weights", left=[f"token {i}" for i in range(4)]),
                " ",
                Matrix(noise_weights[0].sum(dim=-1, keepdim=True).round(decimals=4), name="each row", thing="weights"),
            ]
        )
        for rows in (unknown(4, 4), noise_weights[0])
    ]


@slide(
    "What takes the weight off the diagonal?",
    minutes=0.5,
    say="""
    Take the vote before you run the cell. Change one thing at a time: this is the method of the whole notebook.
    """,
    hall="""
    What brings the diagonal down to a quarter: numbers of both signs, or keys that are other vectors? Hands for
    signs, keys, both, neither. [Other keys: 0.25. With both signs it is even 1.00]
    """,
    choices="suspects",
)
def two_suspects(found, noise, on_itself):
    return [
        Bars(["as it was", "both signs", "own keys"], values, caption="weight for itself", top=1, strong=2, words=False)
        for values in ([on_itself(noise, noise), None, None], [on_itself(noise, noise), found["signs"], found["keys"]])
    ]


@slide(
    "Rows that sum to 1: what do they prove?",
    minutes=0.5,
    say="Say that a row sum of 1 tests only softmax, which is PyTorch's code.",
)
def row_sums(noise, noise_weights):
    scrambled = torch.softmax(noise[0] @ noise[0, [2, 0, 3, 1]].T / math.sqrt(768), dim=-1)
    return [
        Matrices(
            [
                Matrix(noise_weights[0], name="right", thing="weights"),
                Matrix(noise_weights[0].sum(dim=-1, keepdim=True).round(decimals=4), name="sum", thing="quiet"),
                " ",
                Matrix(scrambled, name="keys in wrong order", thing="wrong"),
                Matrix(rows, name="sum", thing="quiet"),
            ]
        )
        for rows in (unknown(4, 1), scrambled.sum(dim=-1, keepdim=True).round(decimals=4))
    ]


@slide(
    "5 sentences, 3 heads. Which shape do scores have?",
    minutes=1,
    say="""
    Read the four sizes as "sentences, heads, tokens, features". Heads come in notebook 4; here they are just
    one more axis.
    """,
    hall="Shape of the scores? Shout. [(5, 3, 135, 135)]",
)
def leading_axes(head_scores, k, q):
    return [
        Beside(
            Matrices(
                [Matrix(q.shape, name="q", thing="query"), "@", Matrix(k.mT.shape, name="k, transposed", thing="key")]
            ),
            r,
            share=0.66,
        )
        for r in (Tiles([["?"]], open=0), Matrices([Matrix(head_scores.shape, name="scores", thing="scores")]))
    ]


@slide(
    "The shape is right. Is this attention?",
    minutes=1.5,
    say="""
    Give them time to read the two lines of code. The mistake is easily overlooked. The standard deviation
    decides it: numbers of size 72 cannot be averages of numbers of size 1.
    """,
    hall="""
    The shape is right. Is this attention? Hands for yes, for unscaled and for no. [No: the softmax was
    computed and thrown away.]
    """,
    choices="thrown-away-answer",
)
def thrown_away(head_output, right_output, v):
    return [
        Stacked(
            Lines("torch.softmax(head_scores, dim=-1)\nhead_output = head_scores @ v"),
            Bars(["values", "this output", "attention"], values, unit="", lying=True, words=False, wrong=wrong),
            share=0.36,
        )
        for values, wrong in (([v.std(), None, None], None), ([v.std(), head_output.std(), right_output.std()], 1))
    ]


@slide(
    "Where does the result of softmax go?",
    minutes=1,
    say="""
    Read the warning in the trace aloud: computed and never used. Let the hall say the rule of the whole series
    once: a right shape proves almost nothing.
    """,
)
def unused_softmax():
    return [
        Flow(
            {"q": [0, 0], "k": [0, 2], "scores": [1, 1], "softmax": [2, 0], "v": [2, 2], "output": [3, 1]},
            things={"q": "query", "k": "key", "v": "value", "softmax": t},
            arrows=[["q", "scores"], ["k", "scores"], *a],
            empty=empty,
        )
        for a, empty, t in (
            ([], ["softmax", "output"], "weights"),
            ([["scores", "softmax"], ["scores", "output"], ["v", "output"]], [], "wrong"),
        )
    ]


@slide(
    "3 French queries, 5 English keys: which shape?",
    minutes=1,
    say="""
    Draw three French words on one side and five English words on the other, with arrows from French to English.
    Ask for the shape of the scores, then for that of the output. Run one cell at a time.
    """,
    hall="Which shape do the scores have, with French queries and English keys? On paper. [(1, 3, 5)]",
)
def from_french(cross_scores, english, french):
    return [
        Beside(
            Matrices(
                [
                    Matrix(french[0].bool(), name="French", thing="query", left=["je", "bois", "thé"]),
                    "×",
                    Matrix(english[0].T.bool(), name="English", thing="key"),
                ]
            ),
            r,
            share=0.6,
        )
        for r in (Tiles([["?"]], open=0), Matrices([Matrix(cross_scores[0], name="scores", thing="scores")]))
    ]


@slide(
    "Which two of 3, 5, 8 and 2 are gone?",
    minutes=2,
    say="""
    Let somebody dictate the two lines. Look at the axes only: three down, five across. The numbers are random,
    so they say nothing about French. In the diagram of the notebook, follow the shapes on the arrows from top to
    bottom; students may want a photograph of it.
    """,
    hall="Which shape will the output have? Two of the four numbers are gone. [(1, 3, 2): the 8 and the 5 are gone]",
)
def your_output(content, cross_output, cross_weights):
    return [
        Beside(
            Matrices(
                [
                    Matrix(cross_weights.shape, name="weights", thing="weights"),
                    "@",
                    Matrix(content.shape, name="content", thing="value"),
                ]
            ),
            r,
            share=0.62,
        )
        for r in (Tiles([["?"]], open=0), Matrices([Matrix(cross_output.shape, name="output", thing="output")]))
    ]


@slide(
    "98 more in each score. What is the first weight?",
    minutes=1.5,
    say="""
    Let somebody dictate the softmax from the formula: it is right on small numbers. After the answer, go back to
    the question: 98 was added to all three scores, so on paper nothing changes. The largest float32 has 39 digits.
    """,
    hall="Scores (100, 102, 102): what is the first weight? Hands for nan and for 0.06. [nan]",
    choices="naive-large",
)
def too_large(large, naive_softmax, small):
    return [
        Matrices(
            [
                Matrix(torch.stack([small, large]), name="scores", thing="scores"),
                "→",
                Matrix([small.exp().tolist(), a], name="e to the score", thing="ink"),
                "→",
                Matrix([naive_softmax(small).tolist(), b], name="weights", thing="weights"),
            ]
        )
        for a, b in ((unknown(3), unknown(3)), (large.exp().tolist(), naive_softmax(large).tolist()))
    ]


@slide(
    "Only differences count. Which line repairs it?",
    minutes=0.5,
    say="Ask which number the largest exponential is now. It is 1, whatever the scores were.",
    hall="Who will dictate the line? [large - large.amax(dim=-1, keepdim=True)]",
)
def your_shift(large, naive_softmax, shifted):
    return [
        Matrices(
            [
                Matrix(large, name="scores", thing="scores"),
                "→",
                Matrix(a, name="moved down", thing="scores"),
                "→",
                Matrix(b, name="e to it"),
                "→",
                Matrix(c, name="weights", thing="weights"),
            ]
        )
        for a, b, c in ((unknown(3), unknown(3), unknown(3)), (shifted, shifted.exp(), naive_softmax(shifted)))
    ]


@slide(
    "d_k is 256: what is the variance of a score?",
    minutes=1.5,
    say="""
    Say the rule: variances of independent terms add up. Whoever says 16 has given the standard deviation.
    """,
    hall="""
    d_k is 256: what is the variance of a score? Hands for 1, 16 and 256. [256; 251 in this sample]
    """,
    choices="variance",
)
def variance(random_scores, variance):
    return [
        Bars(
            ["1 product", "256"],
            [random_scores(1).var(), r],
            caption="variance",
            unit="",
            words=False,
            strong=1,
            colour="scores",
            top=256,
        )
        for r in (None, variance)
    ]


@slide(
    "Divided by 1, √d_k or d_k: what stays the same?",
    minutes=0.5,
    say="""
    There are three lines: one rises with d_k, one stays at 1, one falls. We do not know yet which is good; the next
    two plots show it.
    """,
)
def variance_curve(sizes, variances):
    return [
        Curve(
            x=sizes,
            lines=dict(zip(("÷ 1", "÷ √d_k", "÷ d_k"), variances.values(), strict=False)),
            things={"÷ 1": "wrong", "÷ √d_k": "weights", "÷ d_k": "quiet"},
            ticks=sizes,
            upto=upto,
            axes=["d_k", "variance"],
            log="xy",
            marks=[0.01, 1, 1000],
        )
        for upto in (4, 1024)
    ]


@slide(
    "d_k is 1024, undivided: how far spread is a row?",
    minutes=2,
    say="""
    3.47 means that all keys have the same weight, 0 that one key has all of it. These rows have not been trained:
    only chance has chosen the one key.
    """,
    hall="d_k is 1024 and nothing is divided: what is the mean entropy? Bids, between 0 and 3.47. [0.1]",
)
def one_key_left(entropies, sizes):
    return [
        Curve(
            x=sizes,
            lines=dict(zip(("÷ 1", "÷ √d_k", "÷ d_k"), entropies.values(), strict=False)),
            things={"÷ 1": "wrong", "÷ √d_k": "weights", "÷ d_k": "quiet"},
            ticks=sizes,
            upto=upto,
            axes=["d_k", "entropy"],
            log="x",
            scale=[0, math.log(32)],
            marks=[0, 1, 2, math.log(32)],
        )
        for upto in (4, 1024)
    ]


@slide(
    "A small change, d_k 1024. Whose rows all react?",
    minutes=2,
    say="""
    Undivided, one key is so far ahead that a small change of the query changes nothing, or two keys are equal and
    the change decides between them. Divided by d_k, the change is divided as well. Let students read the first row
    of dots: some are at the far left, some at the far right. Say also that at d_k = 4 the undivided rows do well.
    """,
    hall="""
    At 1024, which 200 rows are neither dead nor jumpy: undivided, divided by the root, or by d_k? Hands for each.
    [Those divided by the root]
    """,
    choices="reaction-answer",
)
def a_nudge(moved):
    return Tiles(
        [
            [
                [f"{n}", thing] if n else "0"
                for n, thing in zip(
                    ((m < 0.001).sum(), ((m >= 0.001) & (m <= 0.1)).sum(), (m > 0.1).sum()),
                    ("wrong", "output", "wrong"),
                    strict=False,
                )
            ]
            for m in moved.values()
        ],
        rows=["undivided", "÷ √d_k", "÷ d_k"],
        columns=["dead\nbelow 0.001", "reacts\nof 200", "jumpy\nabove 0.1"],
    ).opened(0, 9)


@slide(
    "256 numbers, undivided: which temperature helps?",
    minutes=2.5,
    say="""
    Read the task. It sets d_k and forbids the numbers of the first row, so the temperature must do it. Look at the
    row divided by 1. With d_k at 64 the largest weight is 0.82, at 256 it is 0.96, at 1024 1.00; the row divided by
    the root does not change. Go back to 256 and change the temperature: at 8 the entropy is 1.49, at 16 it is 1.86.
    Ask why exactly 16, then answer the board's question. √d_k is a temperature that is chosen once for all sizes.
    """,
    hall="""
    Which temperature gives the weights that the row divided by √d_k has? Hands for 4, 16 and 256. [16, the root of
    256]
    """,
)
def temperature():
    return on_board(d_k=256, temperature=16, mark=("scores / 1", 0, 2))


@slide(
    "All of it in one function. In which order?",
    minutes=1,
    say="""
    Read the function from top to bottom. It divides the query, not the scores; on paper the result is the same.
    """,
)
def one_function():
    return [
        Flow(
            {
                "query": [0, 0],
                "÷ √d_k": [1, 0],
                "key": [1, 2],
                "scores": [2, 1],
                "weights": [3, 1],
                "value": [3, 2.8],
                "output": [4, 2],
            },
            things={"÷ √d_k": "query"},
            labels={"weights": "softmax"},
            arrows=[
                ["query", "÷ √d_k"],
                ["÷ √d_k", "scores"],
                ["key", "scores"],
                ["scores", "weights"],
                ["weights", "output"],
                ["value", "output"],
            ][:k],
            empty=empty,
        )
        for k, empty in (
            (0, ["÷ √d_k", "scores", "weights", "output"]),
            (1, ["scores", "weights", "output"]),
            (3, ["weights", "output"]),
            (4, ["output"]),
            (6, []),
        )
    ]


@slide(
    "Softmax over the other axis: what sums to 1?",
    minutes=1.5,
    say="""
    If the hall is unsure, ask over which axis softmax runs now. The weights of I sum to 0.14, those of like to more
    than 2. The shape has not changed, and no error is raised.
    """,
    hall="With dim=-2 instead of -1, what sums to 1? Hands for rows, columns, both, neither. [The columns]",
    choices="wrong-axis",
)
def other_axis(wrong):
    return [
        Matrices(
            [
                Matrix(w, name="weights", thing="weights", left=["I", "like", "tea"], top=["I", "like", "tea"]),
                " ",
                Matrix(a, name="each row", thing="wrong"),
                " ",
                Matrix(b, name="each column", thing="quiet", top=["I", "like", "tea"]),
            ]
        )
        for w, a, b in (
            (unknown(3, 3), unknown(3, 1), unknown(3)),
            (wrong, wrong.sum(dim=-1, keepdim=True), wrong.sum(dim=-2).round(decimals=4)),
        )
    ]


@slide(
    "Any shape, any size: what do we keep?",
    minutes=0.5,
    say="Say one sentence for each tile. The last one leads to notebook 6.",
)
def summary():
    return Tiles(
        [
            [["scores: each query,\neach key", "scores"], ["softmax over\nthe keys", "weights"]],
            [["÷ √d_k:\nvariance 1", "query"], ["right shapes\nprove little", "wrong"]],
        ]
    ).opened(*range(5))


@slide(
    "Three functions, now written by you",
    minutes=3,
    say="""
    Let students write 2.1 now, in pairs. Common mistakes are a missing keepdim=True, and the maximum of all numbers
    in place of that of each row; check names both. 2.2 is for home, from an empty cell. There, common mistakes are
    .T in place of transpose(-2, -1), d_v in place of d_k, and softmax over the wrong axis. 2.3, cosines in place of
    scores, is for pairs. Next come sentences of
    different lengths, and models that must not look at later words.
    """,
    hall="""
    Whose softmax is right for a score of a million? Show of hands after three minutes. [x − x.amax(dim=-1,
    keepdim=True), then exp, then divide by the sum with keepdim]
    """,
)
def exercises():
    return Tiles(
        [["a softmax right\nfor a million", "attention, from\nan empty cell", "divided by\ntheir lengths"]],
        columns=["2.1", "2.2", "2.3"],
    )
