"""The slides of lesson 7. How attention learns."""

import math

import torch

from workbench.display.drawings import (
    Bars,
    Beside,
    Curve,
    Flow,
    Matrices,
    Matrix,
    Points,
    Sentence,
    Stacked,
    Tiles,
    unknown,
)

from . import again, on_board, slide


@slide(
    "How attention learns",
    minutes=1,
    say="""
    Ask who has ever called backward. Then say: today we compute by hand what it computes. Shift+Enter runs
    the imports, which no slide shows; the first run takes a few seconds.
    """,
)
def what_for():
    return Matrices(
        [Matrix([[0] * 3] * 4, name="zeros", thing="query"), "→", Matrix([["?"] * 3] * 4, name="W_q", thing="query")]
    )


@slide(
    "How do you tell a matrix a wish?",
    minutes=1,
    say="""
    Write three pairs on the blackboard: weight 1, loss 0; weight 0.5, loss 0.69; weight 0, loss infinite.
    """,
)
def a_wish(weights):
    return [
        Curve(
            x=[i / 100 for i in range(8, 101)],
            lines={"loss": [-math.log(i / 100) for i in range(8, 101)]},
            things={"loss": "quiet"},
            axes=["weight of tea", "loss"],
            marks=[0, round((-weights[0, 2].log()).item(), 2)],
            ticks=[round(weights[0, 2].item(), 2), 1],
            ball=ball,
            ink="weights",
        )
        for ball in (round(weights[0, 2].item(), 2), 1)
    ]


@slide(
    "Which of the three scores should rise?",
    minutes=2.5,
    say="""
    Derive the second formula on the blackboard, slowly; everything after it is multiplication. Ask for the
    signs first, then for the sum of the three numbers: the hall finds 0 by itself. Warn them: this is what each
    score should do by itself. After the real step the score of I rises and that of tea falls, as all depend on one
    query.
    """,
    hall="""
    Which of the three scores should rise? Hands for I, for like, for tea. [The score of tea: its derivative
    is −0.53, the others are positive]
    """,
    choices="grad-scores",
)
def which_way(by_hand, examples, weights, wish):
    return [
        Matrices(
            [
                Matrix(weights[0], name="weights", thing="weights", top=examples.TOKENS),
                "−",
                Matrix(wish, name="wish", thing="output"),
                "=",
                Matrix(rows, name="gradient", thing="scores"),
            ]
        )
        for rows in (unknown(3), by_hand)
    ]


@slide(
    "What is the gradient of the query?",
    minutes=1,
    say="""
    Point at the minus: only the key of tea has one. The sum points uphill, so the step will move the query
    in the opposite direction: all three numbers change their sign. Then let the hall dictate the line.
    """,
    hall="Three keys, three derivatives: who dictates the product? [grad_scores @ keys]",
)
def your_grad_query(examples, grad_query, grad_scores, keys):
    return [
        Matrices(
            [
                Matrix(grad_scores, name="of the scores", thing="scores"),
                "@",
                Matrix(keys, name="keys", thing="key", left=examples.TOKENS),
                "=",
                Matrix(rows, name="of the query", thing="query"),
            ]
        )
        for rows in (unknown(3), grad_query)
    ]


@slide(
    "How many of the twelve numbers change?",
    minutes=1,
    say="""
    Let them write the 4 by 3 table with its zeros. The two rows that change are equal, since x has a 1 for
    both.
    """,
    hall="How many of the twelve numbers change? Hands for 3, 6, 12. [6: in the first and the third row]",
    choices="six",
)
def predict_six(grad_query, moving, X):
    return [
        Matrices(
            [
                Matrix(X[0][:, None], name="x of I", thing="input"),
                "×",
                Matrix(grad_query, name="of the query", thing="query"),
                "=",
                Matrix(rows, name="gradient of W_q", thing="query"),
            ]
        )
        for rows in (unknown(4, 3), moving)
    ]


@slide(
    "All twelve at once: which line?",
    minutes=0.5,
    say="""
    Let the hall dictate the line, and then the two rows: they are equal, since x has a 1 for both.
    """,
    hall="Who dictates it? [torch.outer(X[0], grad_query)]",
)
def your_grad_W(grad_query, grad_W_q, X):
    return [
        Matrices(
            [
                Matrix(X[0][:, None], name="x of I", thing="input"),
                "×",
                Matrix(grad_query, name="of the query", thing="query"),
                "=",
                Matrix(rows, name="gradient of W_q", thing="query"),
            ]
        )
        for rows in (unknown(4, 3), grad_W_q)
    ]


@slide(
    "The gradient points uphill. How do we go down?",
    minutes=1,
    say="""
    Read the loop aloud: weights, gradient, step. The weights are computed again in each round; in exercise 7.3
    many forget this.
    """,
)
def one_step(film, weights_with):
    return [
        Curve(
            x=range(51),
            lines={"tea": [weights_with(w)[0, 2] for w in film]},
            things={"tea": "weights"},
            axes=["steps", "weight of tea"],
            scale=[0, 1],
            marks=[0, 1],
            ticks=[0, 1, 50][: k + 1],
            upto=step,
            ball=step,
        )
        for k, step in enumerate((0, 1, 50))
    ]


@slide(
    "Only I had a wish. Whose weights have changed?",
    minutes=1,
    say="Most say: only I. Then ask which tokens use the matrix that was changed.",
    hall="Whose weights have changed? Hands for each of the three. [I and tea]",
    choices="rows",
)
def predict_rows(examples, film, weights, weights_with):
    return [
        Matrices(
            [
                Matrix(weights, name="before", thing="weights", left=examples.TOKENS, top=examples.TOKENS),
                "→",
                Matrix(rows, name="after fifty steps", thing="weights", top=examples.TOKENS),
            ]
        )
        for rows in (unknown(3, 3), weights_with(film[-1]))
    ]


@slide(
    "When does tea get less than a tenth?",
    minutes=3.5,
    say="""
    Read the task, and wait half a minute. At rate 1, step 1, I gives itself 0.93; at step 2 it gives nearly
    everything to like. Then choose rate 0.1 and step 50, and give like a wish too, (1, 0, 0): like gives I 1.00, and
    I still gives tea 0.82. Set Learns to W_q and W_k, choose rate 3, and drag the step from 0 to 50: the numbers grow
    until they cannot be stored, and every box that is computed shows nan.
    """,
    hall="At rate 1 and step 1, which token does I attend to most? Hands for like, for tea, for itself. [Itself]",
)
def play():
    return on_board(rate=1, step=1, mark=("weights", 0, 2))


@slide(
    "Which is the smallest rate that makes it worse?",
    minutes=1.5,
    say="""
    Ask whether anybody chooses 0.5. Then show the plot. Follow the line of rate 1 with a finger: it falls to
    0.00, rises again, and ends above the lines of rates 0.1 and 0.5.
    """,
    hall="The smallest rate whose first step makes it worse? Hands for 0.1, 0.5, 1, 3, none. [0.5]",
    choices="rate",
)
def predict_rate(examples, grad_W_q, W_q, weights_with):
    return [
        Beside(
            Curve(
                x=[i / 50 for i in range(56)],
                lines={"loss": [-weights_with(W_q - i / 50 * grad_W_q)[0, 2].log() for i in range(56)]},
                things={"loss": "quiet"},
                axes=["how far", "loss"],
                marks=[0],
                ticks=[0, 0.1, 0.5, 1][: k + 1],
                upto=max(ball, 0.02),
                ball=ball,
                ink="query",
                slope=[0, -(grad_W_q**2).sum().item(), 0.3],
            ),
            Bars(examples.TOKENS, weights_with(W_q - ball * grad_W_q)[0], strong=2, top=1),
            share=0.62,
        )
        for k, ball in enumerate((0, 0.1, 0.5, 1))
    ]


@slide(
    "One score rises. Which weights fall?",
    minutes=1.5,
    say="""
    Weights sum to 1, so one weight rises only if others fall. In the notebook one score is raised by 0.01; read
    the three changes aloud, and let the hall find the sum. Then the formula: each gradient is compared with
    the weighted mean of its row, and the difference is multiplied by the weight.
    """,
)
def through_softmax(examples, keys, W_q, X):
    return [
        Bars(examples.TOKENS, torch.softmax((X @ W_q)[0] @ keys.T + torch.tensor([0, 0, b]), dim=-1), strong=2, top=1)
        for b in (0.0, 1.0)
    ]


@slide(
    "What is the first score's derivative?",
    minutes=1,
    say="The loss is half the square, so that its derivative is simply the difference.",
    hall="0.0634 times what? Half a minute, in pairs. [−2.91 minus 2.20 is −5.11; times 0.0634 it is −0.32]",
)
def predict_dS(average, examples, g, grad_weights, w, weights):
    return [
        Matrices(
            [
                Matrix([f"{w:.4f}" for w in weights[0].tolist()], name="weights", thing="weights", top=examples.TOKENS),
                "×",
                Matrix(grad_weights - weights[0] @ grad_weights, name="gradients − 2.20", thing="output"),
                "=",
                Matrix(rows, name="of the scores", thing="scores"),
            ]
        )
        for rows in (unknown(3), [(w * (g - average)).item(), None, None])
    ]


@slide(
    "All three at once: which line?",
    minutes=1,
    say="""
    Let the hall dictate the line, and insist on the brackets. The test for it: each row of the result sums to
    0, for any gradient.
    """,
    hall="Who dictates all three at once? [weights[0] * (grad_weights - weights[0] @ grad_weights)]",
)
def your_dS(examples, grad_row, grad_weights, weights):
    return [
        Matrices(
            [
                Matrix([f"{w:.4f}" for w in weights[0].tolist()], name="weights", thing="weights", top=examples.TOKENS),
                "×",
                Matrix(grad_weights - weights[0] @ grad_weights, name="gradients − 2.20", thing="output"),
                "=",
                Matrix(rows, name="of the scores", thing="scores"),
            ]
        )
        for rows in (unknown(3), grad_row)
    ]


@slide(
    "Forward runs down. How do gradients run?",
    minutes=2.5,
    say="""
    Move one hand down on the left and the other up on the right: the boxes are the same, and every arrow is
    reversed. Let the hall say for each line of the code to which line of attention it belongs. Then read the
    printed difference from autograd aloud.
    """,
)
def all_of_it():
    return [
        Flow(
            {
                "query": [0, 0],
                "key": [1, 0],
                "value": [3, 0],
                "scores": [0.5, 1],
                "weights": [0.5, 2],
                "output": [2, 3],
            },
            arrows=[
                ["query", "scores"],
                ["key", "scores"],
                ["scores", "weights"],
                ["weights", "output"],
                ["value", "output"],
            ],
            back=back,
        )
        for back in (
            [],
            [["output", "value", "× weights"], ["output", "weights", "× value"]],
            [["output", "value", "× weights"], ["output", "weights", "× value"], ["weights", "scores", "softmax"]],
            [
                ["output", "value", "× weights"],
                ["output", "weights", "× value"],
                ["weights", "scores", "softmax"],
                ["scores", "query", "× key", "left"],
                ["scores", "key", "× query"],
            ],
        )
    ]


@slide(
    "With the square: what does like give to I?",
    minutes=1.5,
    say="""
    Both losses are 0 for the same wish. Say so twice. Take hands before you run the cell. Then run the next
    one: after 5000 steps the square has learned it too.
    """,
    hall="""
    Fifty steps with the square: what does like give to I? Hands for 1, for a third, for 0. [0.00; with the
    logarithm 1.00]
    """,
    choices="squared",
)
def break_it(weights):
    w = weights[1, 0].item()
    return [
        Tiles(
            [[f"{w:.6f}", a, b], [f"{w:.6f}", c, [d, "wrong"] if k else d]],
            columns=["weight", "× slope of the loss", "= reaches the score"],
            rows=["−ln", "square"],
        )
        for k, (a, b, c, d) in enumerate(
            (
                unknown(4),
                (
                    f"−1 / {w:.6f}",
                    f"{w * (-1 / w):.0f}".replace("-", "−"),
                    f"{2 * (w - 1):.0f}".replace("-", "−"),
                    f"{w * 2 * (w - 1):.6f}".replace("-", "−"),
                ),
            )
        )
    ]


@slide(
    "Can attention sort a list?",
    minutes=1.5,
    say="Do it with three numbers on the blackboard: 4, 1, 7. The start mark finds 1, then 1 finds 4, then 4 finds 7.",
)
def sorting():
    return [
        Sentence(
            ["start", 7, 2, 9, 4, 0, 5],
            inks={0: "quiet"},
            arcs=[[0, 5, 0.2], [5, 2, 0.2], [2, 4, 0.2], [4, 6, 0.2], [6, 1, 0.2], [1, 3, 0.2]][:k],
        )
        for k in (0, 1, 2, 3, 6)
    ]


@slide(
    "Which scores are in row 9?",
    minutes=2.5,
    say="""
    Nothing here is new: the softmax, then grad_scores @ keys and the outer product with x, then the step. Write
    the two products on the blackboard. Ask in which list the 9 gives a query. In none: it is always written
    last. Read a row from its dark cell to the right: the next number has the highest score; then the scores fall,
    in the long rows until they are about as low as on the left.
    """,
    hall="Which number is in row 9, ten times? Call it out. [0: the 9 never gives a query]",
)
def train_sorting(W_sort):
    return [
        Matrices(
            [
                Matrix(
                    [*W_sort[[10, 0, 2, 4, 6, 8]].round().tolist(), r],
                    name="every second row, and that of 9",
                    thing="weights",
                    left=["start", 0, 2, 4, 6, 8, 9],
                    top=range(10),
                )
            ]
        )
        for r in (unknown(10), W_sort[9].round().tolist())
    ]


@slide(
    "And lists that were not in the training?",
    minutes=0.5,
    say="Let them look at the two lists before you show the sentence. Which step of each was never trained?",
)
def unseen(failed, known):
    asked = {pair for row in known.tolist() for pair in zip(["start", *sorted(row)], sorted(row), strict=False)}
    first, second = [
        Sentence(
            ["start", *row],
            inks={0: "quiet"},
            ending="wrong",
            missing=[
                [0 if a == "start" else row.index(a) + 1, row.index(b) + 1]
                for a, b in zip(["start", *sorted(row)], sorted(row), strict=False)
                if (a, b) not in asked
            ],
        )
        for row in failed
    ]
    return [
        Stacked(
            first.but(missing=first.missing[:k], says=says),
            second.but(missing=second.missing[:k], says=says),
        )
        for k, says in ((0, None), (1, "never"))
    ]


@slide(
    "One number each. How many lists are sorted?",
    minutes=0.5,
    say="""
    Only point at the two lines of the step: one for the queries, one for the keys. Let them find out what
    happens with d = 1: a positive query scores highest with the largest key, a negative one with the smallest.
    There is no third case.
    """,
    hall="""
    With one number each, how many of 105 lists are sorted? Hands for none, about half, all. [None]
    """,
    choices="low-rank-answer",
)
def low_rank(learned_scores):
    row = [7, 2, 9, 4, 0, 5]
    keys_of = (learned_scores(1)[0] / learned_scores(1)[0].abs().max()).tolist()
    at = [keys_of[i] for i in row]
    return [
        Points(row, at, strong=strong, asks=way, caption=said)
        for strong, way, said in (
            (None, None, "with one number each, keys are on a line"),
            ([at.index(max(at))], 1, "the highest score for a query above 0"),
            ([at.index(max(at)), at.index(min(at))], -1, "and for a query below 0"),
        )
    ]


@slide(
    "Two numbers, three, eight. How many now?",
    minutes=0.5,
    say="""
    With two numbers the keys are points in a plane, and each key on a circle is the best for the query that
    points to it. So two numbers are enough: by hand all 105 lists are sorted. Training sorts 28 of them with
    two numbers, and 103 with three.
    """,
)
def low_rank_more(sorted_by, unseen):
    return [
        Bars([f"d = {d}" for d in sorted_by], values, unit="", strong=2, top=len(unseen))
        for values in ([sorted_by[1], None, None, None], list(sorted_by.values()))
    ]


@slide(
    "One has no mask. Which writes a sentence?",
    minutes=2.5,
    say="""
    The two trainings differ in one argument only, the mask. The line that matters is attention_backward, our
    own. Read the loop of the writing aloud: query, weighted sum, the word with the highest score, append. The
    loss without the mask is a hundred times lower, so most will vote for it.
    """,
    hall="Which of the two writes a sentence? Hands for with, without, both, neither. [With]",
    choices="writes",
)
def future(with_mask, without, written):
    return [
        Tiles(
            [[f"{with_mask[2]:.2f}", a], [f"{without[2]:.3f}", b]],
            columns=["loss", "writes"],
            rows=["with the mask", "without"],
        )
        for a, b in (unknown(2), ([written["with"], "output"], [written["without"], "wrong"]))
    ]


@slide(
    "What does a head learn?",
    minutes=0.5,
    say="Ask the students in the last row: which of the twelve numbers changed, and why?",
)
def summary():
    return again(which_way, your_grad_query, low_rank, your_dS)


@slide(
    "Five exercises, now yours",
    minutes=0,
    say="""
    7.1: at home, or now if there are ten minutes; most forget that all weights of a row change.
    7.2: at home; the scale is forgotten in the gradients more often than in attention itself. 7.3: at home;
    with autograd the gradients add up unless they are set to 0. 7.4: in pairs; a test that looks only at the
    gradient of the query misses two of the wrong functions. 7.5 goes beyond the lesson: ask which gradients a
    key gets if all heads use it. Say what comes next: the order of
    the words.
    """,
)
def exercises():
    return Tiles(
        [["through\nsoftmax", "through\nattention", "learning", "a test for\ngradients", "one key for\nall heads"]],
        columns=["7.1", "7.2", "7.3", "7.4", "7.5"],
    )
