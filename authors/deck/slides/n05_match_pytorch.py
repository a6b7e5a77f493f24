"""The slides of lesson 5. The same as PyTorch."""

import torch

from workbench.display.drawings import Bars, Beside, Curve, Matrices, Matrix, Tiles, unknown

from . import slide


@slide(
    "Is it the real thing?",
    minutes=1,
    say="""
    One sentence: if our numbers are PyTorch's, then what they know of ours is true of PyTorch's module too.
    Shift+Enter runs the imports, which no slide shows; the first run takes a few seconds.
    """,
)
def title():
    return Matrices(
        [
            Matrix(unknown(3, 4), name="ours", thing="output"),
            "= ?",
            Matrix(unknown(3, 4), name="nn.MultiheadAttention", thing="ink"),
        ]
    )


@slide(
    "Ours has 8 tensors. How many has theirs?",
    minutes=2,
    say="""
    Two modules of the same size. Say batch_first aloud: without it the batch is taken for the tokens,
    and no error is raised. After the answer point at 36 = 3 · 12: three matrices in one, stacked as notebook 4
    stacked its heads.
    """,
    hall="""
    Ours has 8 tensors. How many has theirs? Hands for 8, 6, 4. [4: the three input projections are stacked]
    """,
    choices="inside",
)
def four_tensors(ours, theirs):
    return [
        Beside(
            Matrices(
                [
                    Matrix(
                        [p.weight.shape for p in (ours.q_proj, ours.k_proj, ours.v_proj, ours.out_proj)],
                        name="weights",
                        thing="value",
                        left=["q", "k", "v", "out"],
                    ),
                    Matrix(
                        [p.bias.shape for p in (ours.q_proj, ours.k_proj, ours.v_proj, ours.out_proj)],
                        name="biases",
                        thing="value",
                    ),
                ]
            ),
            r,
            share=0.5,
        )
        for r in (
            Tiles([["?"]], open=0),
            Matrices(
                [
                    Matrix(
                        [theirs.in_proj_weight.shape, theirs.out_proj.weight.shape],
                        name="weights",
                        thing="query",
                        left=["in", "out"],
                    ),
                    Matrix([theirs.in_proj_bias.shape, theirs.out_proj.bias.shape], name="biases", thing="query"),
                ]
            ),
        )
    ]


@slide(
    "Three weights into one: which line?",
    minutes=1.5,
    say="""
    Take the line from the hall, then run the course's own. Stack, copy, compare: read the printed difference
    aloud. Whoever has done 4.5 sees the name of their own class there.
    """,
)
def three_into_one(ours, stacked):
    return [
        Matrices(
            [
                *(
                    Matrix(getattr(ours, f"{p}_proj").weight.shape, name=p, thing=t)
                    for p, t in (("q", "query"), ("k", "key"), ("v", "value"))
                ),
                "→",
                Matrix(rows, name="theirs", thing="ink"),
            ]
        )
        for rows in (unknown(2), stacked.shape)
    ]


@slide(
    "Our padding mask for theirs: which line?",
    minutes=1,
    say="There are four cases. In each, PyTorch's module needs the opposite of our mask, in two arguments.",
)
def turned_mask(ignored, padding):
    return [
        Matrices([Matrix(padding[:, 0], name="ours", thing="weights"), "→", Matrix(rows, name="theirs", thing="wrong")])
        for rows in (unknown(3, 6), ignored)
    ]


@slide(
    "Four masks. Do outputs and gradients agree?",
    minutes=2,
    say="""
    Say why it is not exactly 0: in another order of adding the seventh digit is rounded differently. Compare
    gradients too, since a model learns from those.
    """,
    hall="Should the difference be exactly 0? Hands. [No: addition in another order rounds differently]",
)
def four_masks(cases, gradient, ours, theirs, x):
    cells = [
        [
            ["< 1e-6" if (ours(x, x, x, m)[0] - theirs(x, x, x, **t)[0]).abs().max() < 1e-06 else "no", "output"]
            for m, t in cases.values()
        ],
        [
            [
                "< 1e-5"
                if torch.allclose(gradient(ours, {"mask": m}), gradient(theirs, t), atol=1e-05, rtol=1e-05)
                else "no",
                "output",
            ]
            for m, t in cases.values()
        ],
    ]
    return Tiles(cells, columns=list(cases), rows=["outputs", "gradients"]).opened(0, 1, 2, 3, 4, 8)


@slide(
    "Our causal mask in theirs. What does the last give?",
    minutes=1.5,
    say="""
    This is the most expensive trap of the three, and known from notebook 3. Take the answer, then run it.
    Each token attends to the future only. The last row is NaN; nothing else shows the mistake.
    """,
    hall="""
    The last of the six tokens: what is its first weight? Hands for 0, 1/6, nan. [nan: it has no future]
    """,
    choices="polarity",
)
def no_future(causal, future):
    return [
        Matrices(
            [
                Matrix(~causal, name="may attend", thing="weights", mark=[5]),
                "→",
                Matrix(rows, name="weights of head 0", thing="weights", mark=[5]),
            ]
        )
        for rows in (unknown(6, 6), future[0, 0])
    ]


@slide(
    "The outputs agree. Do the weights?",
    minutes=1.5,
    say="""
    Outputs agree, so all is well? trace compares all that is returned. If each of two heads attends
    to one token, their mean attends to two. A picture of averaged weights shows a head that does not exist.
    """,
)
def averaged_weights(theirs, x):
    heads = theirs(x, x, x, average_attn_weights=False)[1][2, :, 3].tolist()
    return [
        Matrices(
            [
                Matrix(
                    [*heads, r],
                    name="weights of token 3, in the last text",
                    thing="weights",
                    left=["head 0", "head 1", "comes back"],
                    top=[f"key {k}" for k in range(6)],
                    mark=[2],
                )
            ]
        )
        for r in (unknown(6), theirs(x, x, x)[1][2, 3].tolist())
    ]


@slide(
    "An empty sentence: nan or finite, three times?",
    minutes=1.5,
    say="""
    Take all three words before you run the cell. A model can be trained for weeks, and fail on its first day in
    use.
    """,
    hall="""
    An empty sentence: with weights, without, and without in use: nan or finite? Three words each, on paper.
    [nan, finite, nan]
    """,
)
def empty_sentence(outcomes):
    return Tiles(
        [[[o, "wrong" if o == "nan" else "output"] for o in outcomes]],
        columns=["with weights", "without", "without, in use"],
    ).opened(0, 3)


@slide(
    "Two queries of five: how many keys has the last?",
    minutes=3,
    say="""
    Unit vectors as values make the output the weights: a trick worth keeping. In the left picture the triangle
    begins at the top left, in the right picture it ends at the bottom right. A model that writes needs the one on
    the right.
    """,
    hall="""
    Two queries, five keys, is_causal=True: how many keys does the last query see? Hands for 2 and for 5. [2]
    """,
    choices="corner-answer",
)
def corners(bottom_right, top_left):
    return [
        Matrices(
            [
                Matrix(a, name="is_causal=True", thing="wrong", left=["3", "4"]),
                " ",
                Matrix(b, name="causal_mask(2, 5)", thing="weights", left=["3", "4"]),
            ]
        )
        for a, b in ((unknown(2, 5), unknown(2, 5)), (top_left, bottom_right))
    ]


@slide(
    "In which line do the two begin to differ?",
    minutes=3,
    say="""
    Give them half a minute to read both functions, and ask who has found something. Take a vote, and only
    then run the cell. Read the first line of the trace: the scale differs. All later lines only inherit
    it.
    """,
    hall="""
    Which line is the first with another result: 1, 2, 3, 4? Hands for each. [2: √6, of the number of keys,
    in place of √12]
    """,
    choices="trace-line",
)
def first_difference(differ):
    return [
        Tiles(
            [["q · kᵀ"] * 2, ["÷ √query.size(-1)", c], ["softmax"] * 2, ["@ value"] * 2],
            columns=["ours", "a colleague’s"],
            rows=[1, 2, 3, 4],
        )
        for c in ("÷ √scores.size(-1)", ["÷ √scores.size(-1)", "wrong"] if differ[0] == 2 else "÷ √scores.size(-1)")
    ]


@slide(
    "4096 tokens, 12 heads: what has to be kept?",
    minutes=1.5,
    say="""
    Explain with the safe softmax of notebook 2: the largest score so far is kept, and corrected if a larger one
    comes.
    """,
)
def what_is_kept():
    return [
        Bars(
            ["ours", "fused"],
            [2 * 12 * 4096**2 / 1000000.0, r],
            caption="million numbers, heads of 64",
            unit="",
            words=False,
            colour=["wrong", "output"],
        )
        for r in (None, 12 * 4096 * (64 + 2) / 1000000.0)
    ]


@slide(
    "Twice the tokens: how much more memory?",
    minutes=2.5,
    say="""
    megabytes adds up the bytes of every new tensor. Let them guess first. The table of scores gets twice as many
    rows and twice as many columns. Both axes are logarithmic: a line twice as steep grows with the square.
    attn_lib's module has a switch for it, need_weights.
    """,
    hall="Twice the tokens: how many times the memory does our function need? Guesses. [Nearly 4]",
)
def twice_the_tokens(fused_mb, ours_mb, sizes):
    return [
        Curve(
            x=sizes,
            lines={"ours": ours_mb, "fused": fused_mb},
            things={"ours": "wrong", "fused": "output"},
            axes=["tokens", "MB"],
            log="xy",
            marks=[0.25, 1, 4, 16],
            ticks=sizes,
            upto=upto,
        )
        for upto in (128, 1024)
    ]


@slide(
    "Ours in all six layers: does the last still agree?",
    minutes=2.5,
    say="""
    Say first what is done: here are six whole layers of PyTorch, and in a copy of them our attention replaces
    PyTorch's. The class that translates the mask is short; key c shows it. Then open the layers one by one:
    rounding, no more.
    """,
)
def transplant(apart, causal, layers, with_ours, x):
    return Tiles(
        [[["< 1e-5" if d < 1e-05 else "no", "output"] for d in apart(layers, with_ours, x, src_mask=~causal)]],
        columns=[f"layer {n}" for n in range(6)],
    ).opened(0, 6)


@slide(
    "One of the six is loaded wrongly: which?",
    minutes=3,
    say="""
    Do not look into the cell: a random number has chosen the layer (the same one each time). Ask how one would find
    it in a model of a hundred layers; then open them from the left. All later layers differ too, and are not wrong
    themselves.
    """,
)
def loaded_wrongly(apart, causal, layers, one_wrong, x):
    return Tiles(
        [
            [
                ["< 1e-5", "output"] if d < 1e-05 else ["> .1", "wrong"]
                for d in apart(layers, one_wrong, x, src_mask=~causal)
            ]
        ],
        columns=[f"layer {n}" for n in range(6)],
    ).opened(0, 3, 6)


@slide(
    "Three traps, one module: what to keep?",
    minutes=0.5,
    say="One sentence for each trap.",
)
def summary():
    return Tiles(
        [
            ["True means\nignored", "weights are\naveraged"],
            ["a dead row:\nNaN", ["fused: no weights\nwritten down", "output"]],
        ]
    ).opened(*range(5))


@slide(
    "Masks, and weights from there to here",
    minutes=2,
    say="""
    Now, in pairs: the shape (batch, max_len) and the polarity, True = ignored. At home. What goes wrong is
    the order of the three blocks, forgotten biases, and assigning in place of copying. 5.3 at home: all
    heads of sentence 0 come first. Next: code that is wrong and does not show it.
    """,
    hall="Who has it? Show of hands after ninety seconds. [torch.arange(max_len) >= lengths[:, None]]",
)
def exercises():
    return Tiles(
        [["a padding mask\nfor theirs", "their weights\nin ours", "a mask for\neach head"]],
        columns=["5.1", "5.2", "5.3"],
    )
