"""The slides of lesson 4. Multi-head attention."""

import torch

from workbench.display.drawings import Bars, Beside, Flow, Matrices, Matrix, Sentence, Stacked, Tiles, unknown

from . import on_board, slide


@slide(
    "Multi-head attention: two questions at once",
    minutes=1,
    say="""
    Read the sentence about the second "the" with two fingers up: two questions, one row of weights.
    Shift+Enter runs the imports, which no slide shows; the first run takes a few seconds.
    """,
)
def title():
    return Sentence(["the", "cat", "sat", "on", "the", "mat"], inks={4: "query"}, shares=unknown(6))


@slide(
    "Twelve numbers a token: what do they say?",
    minutes=1,
    say="""
    Six features say where, five say which word. Nothing is learned here; the numbers are put in by hand, so
    that the pattern is clear.
    """,
)
def twelve_numbers(position, tokens, x):
    return [
        Matrices(
            [
                Matrix(position.bool(), name="where it stands", thing="key", left=tokens),
                Matrix(rows, name="which word it is", thing="value"),
            ]
        )
        for rows in (unknown(6, 6), x[:, 6:].bool())
    ]


@slide(
    "Three keys match. How much weight does on get?",
    minutes=2,
    say="""
    Let them argue for 1, one half, one third. Three keys match equally well. Each row mixes two answers, and
    they cannot be separated again.
    """,
    hall="""
    For the second the, three keys match: the word before it, and the two the. How much weight does the word before it
    get? Hands for 1, a half, a third. [A third: 0.33]
    """,
    choices="one-head",
)
def one_head(one_head, tokens):
    first = Sentence(tokens, inks={4: "query"}, shares=unknown(6), arcs=[])
    return [
        first,
        first.but(shares=one_head[4], arcs=[[4, j, w] for j, w in enumerate(one_head[4].tolist()) if w > 0.1]),
    ]


@slide(
    "And if each question has its own softmax?",
    minutes=0.5,
    say="Say which six features go to which head; the board comes next.",
)
def two_heads(head_0, head_1, tokens):
    return [
        Stacked(
            Sentence(tokens, inks={4: "query"}, arcs=[[4, j, w] for j, w in enumerate(a) if w > 0.1]),
            Sentence(tokens, inks={4: "query"}, arcs=[[4, j, w] for j, w in enumerate(b) if w > 0.1]),
        )
        for a, b in (([], []), (head_0[4].tolist(), []), (head_0[4].tolist(), head_1[4].tolist()))
    ]


@slide(
    "Which head and query spread most evenly?",
    minutes=1,
    say="""
    Choose head 1 and query 4, the second "the": the two the share the weight. Then head 0, query 0: the flattest
    row, 0.17 six times, since no token comes before the first; the task is done.
    """,
    hall="""
    Which query in which head spreads its attention most evenly, and why? Neighbours. [Head 0, query 0: it
    asks for a predecessor and has none]
    """,
)
def most_evenly():
    """Without a picture: its board or plot is shown."""


@slide(
    "One row is the flattest. Which, and why?",
    minutes=0.5,
    say="""
    Left each token attends to the one before it, right to the same words: two clean answers in place of one
    blend. The first row asks for the token before it, and there is none.
    """,
)
def flattest_row(head_0, head_1, tokens):
    return [
        Matrices(
            [
                Matrix([r, *head_0[1:].tolist()], name="head 0: before me?", thing="weights", left=tokens, mark=[0]),
                " ",
                Matrix(head_1, name="head 1: same word?", thing="weights"),
            ]
        )
        for r in (unknown(6), head_0[0].tolist())
    ]


@slide(
    "What comes before attention?",
    minutes=0.5,
    say="Point only at what is new: three nn.Linear before the attention that notebook 3 ended with.",
)
def projections():
    return [
        Flow(
            {"x": [0, 1], "W_q": [1, 0], "W_k": [1, 1], "W_v": [1, 2], "attention": [2, 1], "output": [3, 1]},
            things={"x": "input", "W_q": "query", "W_k": "key", "W_v": "value", "attention": "weights"},
            arrows=[
                ["x", "W_q"],
                ["x", "W_k"],
                ["x", "W_v"],
                ["W_q", "attention"],
                ["W_k", "attention"],
                ["W_v", "attention"],
                ["attention", "output"],
            ],
            empty=empty,
        )
        for empty in (["W_q", "W_k", "W_v"], [])
    ]


@slide(
    "Three heads of 4 features. Who joins them?",
    minutes=0.5,
    say="Two lines matter: the list of heads, and the cat of their outputs.",
)
def who_joins_them():
    return [
        Flow(
            {
                "x": [0, 1],
                "head 0": [1, 0],
                "head 1": [1, 1],
                "head 2": [1, 2],
                "side by side": [2, 1],
                "W_o": [3, 1],
                "output": [4, 1],
            },
            things={
                "x": "input",
                "head 0": "weights",
                "head 1": "weights",
                "head 2": "weights",
                "side by side": "value",
                "W_o": "output",
            },
            arrows=[
                ["x", "head 0"],
                ["x", "head 1"],
                ["x", "head 2"],
                ["head 0", "side by side"],
                ["head 1", "side by side"],
                ["head 2", "side by side"],
                ["side by side", "W_o"],
                ["W_o", "output"],
            ],
            empty=empty,
        )
        for empty in (["side by side", "W_o"], ["W_o"], [])
    ]


@slide(
    "Which has more parameters, one head or six?",
    minutes=1,
    say="The hall says six heads. Ask how wide each of the six is.",
    hall="Which has more parameters, 1 head or 6? Hands for 1, 6, equal. [Equal: heads divide the features]",
    choices="parameters",
)
def parameters(one, six):
    return [Bars(["1 head", "6 heads"], [one, v], unit="", words=False, colour="value") for v in (None, six)]


@slide(
    "768 features and 10 heads. What happens?",
    minutes=0.5,
    say="""
    PyTorch raises no error when the layers are made, only when data go through them. A module should check the sizes
    at once, and name both numbers.
    """,
)
def indivisible():
    return [
        Matrices(
            [
                Matrix([[768 // 10] * 5] * 2, name="each head gets", thing="value"),
                "=",
                Matrix([r], name="together", thing="wrong"),
                " ",
                Matrix([768], name="W_o takes", thing="output"),
            ]
        )
        for r in (None, 768 // 10 * 10)
    ]


@slide(
    "GPT-2: how many parameters in one attention?",
    minutes=0.5,
    say="""
    Let them multiply on paper: four matrices of 768 by 768. Then compare with the 624 of the lesson's module.
    """,
    hall="""
    GPT-2 has 768 features and 12 heads: how many parameters has one attention? On paper, to ten thousand.
    [2,360,000]
    """,
)
def gpt_2(gpt2):
    return [
        Bars(["one matrix", "and its bias", "all four"], [*v], unit="", words=False, colour="value")
        for v in (unknown(3), [768**2, 768**2 + 768, gpt2])
    ]


@slide(
    "The output of head 1 is doubled. What changes?",
    minutes=1.5,
    say="""
    Ask for two numbers, without W_o and with it. Then say: each head contributes to all 12 features, and the output
    is the sum.
    """,
    hall="""
    The output of head 1 is multiplied by 2. How many of the 12 output features change without W_o, and how many
    with it? [4, and 12]
    """,
)
def W_o_mixes(pairs):
    return [
        Matrices([Matrix(rows, thing="output", left=["before W_o", "after W_o"])])
        for rows in (unknown(2, 12), [(a != b).any(dim=(0, 1)).tolist() for a, b in pairs])
    ]


@slide(
    "Three matrices, one product: which line?",
    minutes=1.5,
    say="Three small products, or one large one: the same numbers. Take the line from the hall.",
)
def one_product(listed, stacked):
    return [
        Matrices(
            [
                *(Matrix(h.q_proj.weight.shape, name=f"head {i}", thing="query") for i, h in enumerate(listed.heads)),
                "→",
                Matrix(rows, name="stacked", thing="query"),
            ]
        )
        for rows in (unknown(2), stacked.shape)
    ]


@slide(
    "Two heads: what does head 0 get?",
    minutes=1.5,
    say="""
    Read one number aloud: 12 is token 1, feature 2. view reads the numbers in their
    order and only divides them anew.
    """,
    hall="""
    What does head 0 hold, with view and transpose? Three pairs, on paper. [(0, 1), (10, 11), (20, 21)]
    """,
)
def head_0(numbered, split):
    return [
        Matrices(
            [
                Matrix(numbered[0], name="tokens", thing="input"),
                "→",
                Matrix(a, name="head 0", thing="query"),
                Matrix(b, name="head 1", thing="key"),
            ]
        )
        for a, b in ((unknown(3, 2), unknown(3, 2)), (split[0, 0], split[0, 1]))
    ]


@slide(
    "The same shape by view alone. What does head 0 get?",
    minutes=1.5,
    say="""
    Read the twelve numbers aloud in order and cut after every second one. Follow token 0: with view alone both its
    halves are in head 0, and head 1 has nothing of it.
    """,
    hall="And with view alone? Three pairs, on paper. [(0, 1), (2, 3), (10, 11)]",
)
def view_alone(numbered, wrong):
    return [
        Matrices(
            [
                Matrix(numbered[0], name="tokens", thing="input"),
                "→",
                Matrix(a, name="head 0", thing="wrong"),
                Matrix(b, name="head 1", thing="key"),
            ]
        )
        for a, b in ((unknown(3, 2), unknown(3, 2)), (wrong[0, 0], wrong[0, 1]))
    ]


@slide(
    "For which sizes is view alone right?",
    minutes=1.5,
    say="""
    Start as it stands, then set tokens to 1: both are the same, and the task is done. Set heads to 3: both are still
    the same. Set tokens to 2: they differ again. One token has no other token with which it could be mixed.
    """,
    hall="""
    With two heads or more: for which sizes is view alone right? Hands for few heads, few features, few tokens. [One
    token: then there is nothing to mix]
    """,
)
def when_view_is_right():
    return on_board(tokens=1, mark=("wrong 1", 0, 0))


@slide(
    "From tokens to heads in two lines. Which?",
    minutes=0.5,
    say="Two lines: view cuts an axis, transpose swaps two.",
)
def split_in_two_lines(batch, split_heads):
    return [
        Matrices(
            [
                Matrix(batch.shape, name="x", thing="input"),
                "→",
                Matrix(a, name="view", thing="input"),
                "→",
                Matrix(b, name="transpose", thing="query"),
            ]
        )
        for a, b in (
            (unknown(4), unknown(4)),
            (split_heads(batch, 3).transpose(1, 2).shape, unknown(4)),
            (split_heads(batch, 3).transpose(1, 2).shape, split_heads(batch, 3).shape),
        )
    ]


@slide(
    "And back: which line undoes it?",
    minutes=1,
    say="""
    Take the line from the hall: the last step of split first. reshape alone copies in the wrong order, and
    the shape is right again.
    """,
    hall="Is split.reshape(1, 3, 4) enough? Which four numbers would token 0 get? [No: 0, 1, 10, 11]",
)
def merge(merged, split):
    return [
        Matrices(
            [
                Matrix(split[0, 0], name="head 0", thing="query"),
                Matrix(split[0, 1], name="head 1", thing="key"),
                "→",
                Matrix(rows, name="tokens", thing="input"),
            ]
        )
        for rows in (unknown(3, 4), merged[0])
    ]


@slide(
    "Five words for all of it. Which?",
    minutes=1,
    say="""
    Project, split, attend, merge, project: five words, five fingers, along the picture from top to bottom.
    """,
)
def five_words():
    steps = ["project", "split", "attend", "merge", " project"]
    return [
        Flow(
            {"project": [0, 0], "split": [1, 1], "attend": [2, 2], "merge": [3, 3], " project": [4, 4]},
            things={"project": "query", "split": "key", "attend": "weights", "merge": "value", " project": "output"},
            labels=dict.fromkeys(empty, "?"),
            arrows=[["project", "split"], ["split", "attend"], ["attend", "merge"], ["merge", " project"]],
            empty=empty,
        )
        for empty in (steps[i:] for i in range(6))
    ]


@slide(
    "A mask for each sentence. And for the heads?",
    minutes=1,
    say="""
    Write the two shapes under each other, flush right: the 2 of the sentences stands under the 3 of the
    heads. Take the line from the hall: [:, None].
    """,
)
def mask_for_heads(for_heads, padding_mask):
    return [
        Matrices([Matrix([(2, 3, 6, 6), r], thing="scores", left=["weights", "mask"])])
        for r in (["", *padding_mask([6, 4]).shape], for_heads.shape)
    ]


@slide(
    "The list of heads, the one product: how far apart?",
    minutes=1,
    say="""
    The slide shows head 1 in sentence 1, whose last two tokens are padding. The comparison is the point: the same
    numbers by heads and in one.
    """,
)
def two_ways(batch, lengths_mask, listed, weights):
    return [
        Matrices(
            [
                Matrix(listed(batch, batch, batch, lengths_mask)[1][1, 1], name="list of heads", thing="weights"),
                " ",
                Matrix(rows, name="one product", thing="weights"),
            ]
        )
        for rows in (unknown(6, 6), weights[1, 1])
    ]


@slide(
    "Two queries, six keys, three heads: which shape?",
    minutes=1,
    say="""
    The shapes of mask and weights are compared from the right, so first the shape of the weights: a matrix for
    each sentence and each head.
    """,
    hall="""
    Two queries, six keys, three heads, two sentences: what is the shape of the weights? On paper. [(2, 3, 2,
    6)]
    """,
)
def one_map_each(batch, newest_weights):
    return [
        Beside(
            Matrices(
                [
                    Matrix(batch[:, -2:].shape, name="query", thing="query"),
                    " ",
                    Matrix(batch.shape, name="key", thing="key"),
                ]
            ),
            r,
            share=0.6,
        )
        for r in (Tiles([["?"]], open=0), Matrices([Matrix(newest_weights.shape, name="weights", thing="weights")]))
    ]


@slide(
    "A mask without an axis for heads. What is seen?",
    minutes=1.5,
    say="""
    Write (3, 6, 6) under (3, 3, 6, 6), flush right: the 3 of the sentences stands under the 3 of the heads.
    attn_lib raises an error, and says where the axis of size 1 belongs.
    """,
    hall="""
    Three sentences, three heads, a mask (3, 6, 6). Sentence 2 has 2 tokens: how many keys does its head 0
    see? Hands for 2 and for 6. [6: the mask of sentence 0]
    """,
    choices="mask-per-head",
)
def mask_without_axis(per_sentence, seen):
    return [
        Matrices(
            [
                Matrix([seen.shape, ["", *per_sentence.shape]], thing="scores", left=["scores", "mask"]),
                "→",
                Matrix(rows, name="2 tokens, head 0", thing="weights"),
            ]
        )
        for rows in (unknown(6), seen[2, 0, 0])
    ]


@slide(
    "All heads in the batch: lengths in which order?",
    minutes=1,
    say="""
    Write the four rows on the board as sentence 0 head 0, sentence 0 head 1 and so on, then the lengths
    beside them.
    """,
    hall="In which order do the four rows need their lengths? Four numbers, on paper. [3, 3, 2, 2]",
)
def heads_in_the_batch(lengths):
    return [
        Matrices(
            [
                Matrix(
                    a, name="length", thing="output", left=[f"sentence {s}, head {h}" for s in (0, 1) for h in (0, 1)]
                ),
                " ",
                Matrix(b, name="repeat", thing="wrong"),
            ]
        )
        for a, b in (
            (unknown(4, 1), unknown(4, 1)),
            (lengths.repeat_interleave(2)[:, None], lengths.repeat(2)[:, None]),
        )
    ]


@slide(
    "Which of the two tests shows the damage?",
    minutes=0.5,
    say="""
    Outputs of about 0.6 are off by as much as 1.55; on ones nothing is seen. Constant input hides every wrong
    weight.
    """,
)
def repeat_damage(damage):
    off = [
        float(damage(rows).split()[4].strip(","))
        for rows in ([torch.manual_seed(0), torch.randn(4, 3, 4)][1], torch.ones(4, 3, 4))
    ]
    return [
        Bars(["random", "all ones"], values, caption="off by up to", unit="", words=False, wrong=0, top=2)
        for values in ([None, None], off)
    ]


@slide(
    "√768 in place of √64: how large is a score?",
    minutes=1.5,
    say="""
    Which features meet in the dot product? Those of one head. With 50 keys the largest weight is then
    about 0.04, and equal weights would be 0.02: such a head has hardly any preference.
    """,
    hall="""
    Divided by √768 instead of √64: how large is a score? Hands for 1, about 0.3, about 0.1. [0.29]
    """,
    choices="root",
)
def wrong_root(raw, too_small):
    return [
        Bars(
            ["÷ √64", "÷ √768"],
            [(raw / 8).std(), v],
            caption="standard deviation",
            unit="",
            words=False,
            colour="scores",
            strong=1,
        )
        for v in (None, too_small.std())
    ]


@slide(
    "Ten features, four heads: over how many tokens?",
    minutes=1.5,
    say="""
    40 numbers are 5 tokens of 8. Merged into rows of 10 they are 4 tokens again, so no shape shows the mistake. Only
    with 4, 8, 12, … tokens is there no error: only then is the count of numbers a multiple of 8.
    """,
    hall="Four tokens go in. Over how many does each head attend? Hands for 4 and for 5. [5]",
    choices="fake-tokens",
)
def fake_tokens(torn):
    return [
        Beside(
            Matrices([Matrix((torch.arange(40) // 10).view(4, 10), name="4 tokens of 10", thing="value", full=5)]),
            r,
            share=0.55,
        )
        for r in (
            Tiles([["?"]], open=0),
            Matrices(
                [
                    Matrix(
                        (torch.arange(40) // 10).view(torn.size(2), 8),
                        name=f"{torn.size(2)} of 8",
                        thing="value",
                        full=5,
                    )
                ]
            ),
        )
    ]


@slide(
    "What do heads do to the model?",
    minutes=0.5,
    say="Let somebody say the five words of the picture again.",
)
def summary():
    return Tiles(
        [["heads divide,\nW_o mixes", "view cuts,\ntranspose swaps"], ["÷ √head_dim", "right shapes\nprove little"]]
    ).opened(*range(5))


@slide(
    "Split, merge, and all of it",
    minutes=1.5,
    say="""
    Now, in pairs. view alone has the right shape, and check shows what was mixed. The others are for home: 4.2 is
    4.1 backwards, where reshape without the transpose is the usual mistake; in 4.3 it is the scale, embed_dim in
    place of head_dim; 4.4 takes heads out; 4.5 is the class that the next lesson goes on with. Next: is it what
    PyTorch computes?
    """,
    hall="""
    Who has it? Show of hands after two minutes. [view(batch, n, num_heads, -1), then transpose(1, 2)]
    """,
)
def exercises():
    return Tiles(
        [["split\nheads", "merge\nheads", "multi-head,\nwhole", "fewer\nheads", "the class"]],
        columns=["4.1", "4.2", "4.3", "4.4", "4.5"],
    )
