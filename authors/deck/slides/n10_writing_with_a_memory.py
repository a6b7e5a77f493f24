"""The slides of lesson 10. Writing with a memory."""

import math

import torch

import attn_lib
from workbench.board.lessons.n10_cache_operations import Fault
from workbench.display.drawings import Bars, Flow, Matrices, Matrix, Sentence, Tiles, unknown

from . import on_board, slide


@slide(
    "Writing with a memory",
    minutes=0.5,
    say="""
    Ask who has waited for a chatbot: the first word comes late, then the others follow one by one. Both
    halves of that sentence are explained today. Run the imports while they read.
    """,
)
def title(scaled_dot_product_attention, W_k, W_q, W_v, X):
    return Sentence(
        ["I", "like", "tea"],
        says=None,
        inks={2: "query"},
        arcs=[
            [2, key, share] for key, share in enumerate(scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v)[1][2])
        ],
    )


@slide(
    "tea arrives. How many of the six numbers change?",
    minutes=1.5,
    say="""
    Three words, as always. Cover tea with your hand. Do not say causal again: a hall that says 6 thinks of
    notebook 1, where every token attended to all.
    """,
    hall="tea arrives: how many of the six numbers above change? Hands for 0, 3, 6. [0]",
    choices="old-rows",
)
def tea_arrives(outputs, outputs_before):
    return [
        Matrices(
            [
                Matrix(
                    [*outputs_before.tolist(), unknown(3)], name="I like", thing="output", left=["I", "like", "tea"]
                ),
                "→",
                Matrix(rows, name="I like tea", thing="output", mark=mark),
            ]
        )
        for rows, mark in ((unknown(3, 3), []), (outputs, [2]))
    ]


@slide(
    "Old tokens: what is never needed again?",
    minutes=1,
    say="Take the answer as a sentence: what is a query for?",
    hall="""
    queries, keys or values: which can be thrown away? Hands for each. [The queries: each is used once, for
    its own token's output]
    """,
    choices="never-again",
)
def never_again(outputs, parts, scaled_dot_product_attention):
    far = [
        (
            scaled_dot_product_attention(*(parts | {name: torch.cat([parts[name][:2] + 1, parts[name][2:]])}).values())[
                0
            ][2]
            - outputs[2]
        )
        .abs()
        .max()
        .item()
        .__round__(4)
        for name in parts
    ]
    return [
        Bars(
            list(parts),
            values,
            unit="",
            colour=["query", "key", "value"],
            caption="changed: tea's output moves by",
            words=False,
        )
        for values in (unknown(3), far)
    ]


@slide(
    "Nine scores. How many are new with tea?",
    minutes=0.5,
    say="Draw the table of notebook 3, three by three, and cross out what is known or hidden.",
    hall="Nine scores: how many are new and needed? [3, the row of tea]",
)
def one_row_of_scores(W_k, W_q, X):
    all_of = (X @ W_q @ (X @ W_k).T / math.sqrt(3)).tolist()
    return [
        Matrices(
            [
                Matrix(
                    rows,
                    name="scores",
                    thing="scores",
                    left=["I", "like", "tea"],
                    top=["I", "like", "tea"],
                    mark=mark,
                    only=only,
                )
            ]
        )
        for rows, mark, only in (
            (unknown(3, 3), [], None),
            ([[v if j <= i else "hatch" for j, v in enumerate(row)] for i, row in enumerate(all_of)], [2], [2]),
        )
    ]


@slide(
    "100 tokens, one by one: how many scores in all?",
    minutes=0.5,
    say="The first and the last term make 101 together, and there are fifty such pairs.",
    hall="1 + 2 + … + 100? [5050; without a cache 67 times as many]",
)
def scores_in_all(each_token):
    v = (each_token**2).sum().item()
    return [
        Bars(["without a cache", "with a cache"], [v, c], lying=True, words=False, unit="", colour=["quiet", "weights"])
        for c in (None, each_token.sum().item())
    ]


@slide(
    "Which line makes the three keys for tea?",
    minutes=1,
    say="Let somebody dictate: one product of one row, then cat.",
    hall="Who dictates the line? [torch.cat([keys, tea @ W_k])]",
)
def all_keys(all_keys, keys, tea):
    return [
        Matrices(
            [
                Matrix(keys, name="kept", thing="key", left=["I", "like"]),
                "and",
                Matrix(tea, name="x of tea", thing="input"),
                "→",
                Matrix(rows, name="all keys", thing="key", mark=mark),
            ]
        )
        for rows, mark in ((unknown(3, 3), []), (all_keys, [2]))
    ]


@slide(
    "One row alone: does it equal all at once?",
    minutes=1,
    say="""
    There is no mask, and none is needed: the last token may attend to all. The result is the last row of
    the full computation, with a third of the scores.
    """,
    hall="Who dictates it? [softmax of tea's query times all keys over √3, times all values]",
)
def one_row_alone(all_values, outputs, weights_of_tea):
    return [
        Matrices(
            [
                Matrix(weights_of_tea, name="weights of tea", thing="weights", top=["I", "like", "tea"]),
                "·",
                Matrix(all_values, name="values", thing="value"),
                "=",
                Matrix(rows, name="output of tea", thing="output", left=["at once", "alone"]),
            ]
        )
        for rows in ([outputs[2].tolist(), unknown(3)], [outputs[2].tolist(), *(weights_of_tea @ all_values).tolist()])
    ]


@slide(
    "Six are read, two come: which keys may they use?",
    minutes=1.5,
    say="""
    Only sizes change: batch 1, 4 heads, 8 tokens, 6 features. The second one is easy. For the first: which
    token may it not attend to?
    """,
    hall="Six are read, two come at once: how many keys for each? Two numbers. [7 and 8]",
)
def two_come(allowed):
    return [
        Matrices(
            [
                Matrix(r, name="they attend to", thing="weights", left=["6", "7"], top=range(8)),
                "not",
                Matrix(w, name="is_causal=True", thing="wrong", top=range(8)),
            ]
        )
        for r, w in (
            (unknown(2, 8), unknown(2, 8)),
            (allowed, unknown(2, 8)),
            (allowed, torch.ones(2, 8, dtype=torch.bool).tril()),
        )
    ]


@slide(
    "Six are read. Which start does the next one need?",
    minutes=1,
    say="Notebook 8 said what start is for. The cell tries them all and says which fits.",
    hall="Six have been read: which position has the next one? [6, counted from 0]",
)
def where_it_starts(memory, whole):
    off = [round((memory.scores_from(start) - whole).abs().max().item(), 2) for start in range(9)]
    return [
        Bars(list(range(9)), values, unit="", colour="wrong", words=False, caption="start: scores off by up to")
        for values in (unknown(9), off)
    ]


@slide(
    "Four heads ask. How many must be stored?",
    minutes=1.5,
    say="""
    Four people share two telephones, and only the telephones cost anything: these are the stored heads. Read a row
    of each matrix: this query head uses that stored head. It is one line of code, and its common fault is repeat in
    place of repeat_interleave. Run the next cell: PyTorch's own gives the same, and half as many numbers are stored.
    """,
)
def shared_keys(share_heads):
    return [
        Matrices(
            [
                Matrix(
                    share_heads(torch.eye(kv)[:, None], 4 // kv)[:, 0].bool() if i < k else unknown(4, kv),
                    name=name,
                    thing="key",
                    **{"left": [f"head {h}" for h in range(4)]} if kv == 4 else {},
                )
                for i, (name, kv) in enumerate((("MHA", 4), ("GQA", 2), ("MQA", 1)))
            ]
        )
        for k in (1, 2, 3)
    ]


@slide(
    "One call: which step comes where?",
    minutes=2,
    say="""
    Each call makes a new cache and leaves the old one as it is, like a photograph. Many libraries keep the cache
    inside the module; then two texts disturb each other. Go line by line: position, cat, mask, share, drop. Ask for
    the section of each line; that of the last one, the window, comes two slides later.
    """,
)
def one_call():
    return [
        Flow(
            {
                "new tokens": [0, 0],
                "old cache": [0, 2],
                "rotate": [1, 0],
                "append": [1.5, 1],
                "mask, attend": [2, 0],
                "output": [3, 0],
                "drop": [2, 2],
                "new cache": [3, 2],
            },
            things={
                "new tokens": "input",
                "old cache": "key",
                "new cache": "key",
                "mask, attend": "weights",
                "rotate": "quiet",
                "append": "quiet",
                "drop": "quiet",
            },
            arrows=[
                ["new tokens", "rotate"],
                ["rotate", "append"],
                ["old cache", "append"],
                ["append", "mask, attend"],
                ["mask, attend", "output"],
                ["append", "drop"],
                ["drop", "new cache"],
            ][:k],
            empty=["rotate", "append", "mask, attend", "output", "drop", "new cache"][[0, 1, 1, 2, 2, 3, 4, 4][k] :]
            if k < 7
            else [],
        )
        for k in (0, 1, 3, 5, 7)
    ]


@slide(
    "One cache: can two texts go on from it?",
    minutes=1,
    say="""
    The call with tea has not changed the cache of I like, so another sentence can go on from it. Ask what would
    come out if the library kept the cache inside the module.
    """,
    hall="Who dictates it? [cached_attention(*heads(X[:1]), i_like)]",
)
def your_way(keys, other_way, with_tea):
    return [
        Matrices(
            [
                Matrix(keys, name="kept", thing="key", left=["I", "like"]),
                "→",
                Matrix(
                    [with_tea[0, 0, 0].tolist(), r], name="goes on", thing="output", left=["I like tea", "I like I"]
                ),
            ]
        )
        for r in (unknown(3), other_way[0, 0, 0].tolist())
    ]


@slide(
    "A text too long to store. Which keys are left?",
    minutes=0.5,
    say="Look out of the window of a train: always the same width, and it moves with you.",
)
def window(causal_mask):
    return [
        Matrices(
            [
                Matrix(causal_mask(8), name="causal", thing="weights"),
                "→",
                Matrix(rows, name="a window of three", thing="weights"),
            ]
        )
        for rows in (unknown(8, 8), attn_lib.window_mask(8, 8, 3))
    ]


@slide(
    "A window of three: how many must be stored?",
    minutes=1,
    say="""
    Count on fingers. The usual answer is three, which stores one token more than needed. One token too few
    is one of the five faults that come later.
    """,
    hall="""
    A window of three: how many are stored for the next token? Hands for 4, 3, 2. [2: it brings its own key]
    """,
    choices="kept-for-window",
)
def kept_for_a_window(window_mask):
    return [
        Matrices([Matrix([h, k], thing="weights", left=["used by 7", "stored"], top=range(8))])
        for row in window_mask(1, 8, 3).tolist()
        for h, k in ((unknown(8), unknown(8)), (row, [*row[:7], "new"]))
    ]


@slide(
    "Two new tokens, a window of three: which line?",
    minutes=1,
    say="""
    Draw two rows of six on the blackboard and let somebody fill them. Read the two rows aloud: three keys
    each, and the last one is the token's own.
    """,
    hall="Two rows, six keys, a window of three: which are open? [0 0 1 1 1 0 and 0 0 0 1 1 1: triu(2)]",
)
def two_in_a_window(window_of_three):
    return [
        Matrices([Matrix(rows, thing="weights", left=["4", "5"], top=range(6))])
        for rows in (unknown(2, 6), window_of_three)
    ]


@slide(
    "The first key leaves the window. What comes out?",
    minutes=1,
    say="""
    Ask for the weights first: three scores of 0 give three thirds. The head was to add nothing, and now it adds the
    mean of three values that nobody asked for. The board has the task for home; lesson 13 has it in English.
    """,
    hall="""
    Scores 4, 0, 0, 0 and values 0, 2, 8, 6 give 0.28. With a window of three the first key is outside: which output?
    [5.33, the mean of 2, 8 and 6]
    """,
    choices="first-dropped",
    column=True,
)
def first_dropped(rests, four_values, silent, loud):
    values = Matrix(four_values[:, None], name="values", thing="value")
    names = {"left": ["no window", "window of 3"], "top": ["I", "sit", "still", "till"]}
    resting = torch.softmax(rests, dim=-1).tolist()
    return [
        Matrices(
            [
                Matrix([resting, last], name="weights of till", thing="weights", **names),
                "·",
                values,
                "→",
                Matrix([[silent.item()], [output]], name="output", thing="output"),
            ]
        )
        for last, output in ((unknown(4), None), ([0, 1 / 3, 1 / 3, 1 / 3], loud.item()))
    ]


@slide(
    "Llama 2 7B: how many KiB does one token cost?",
    minutes=1.5,
    say="""
    Five factors, and one is always forgotten: the first 2, a key and a value. On paper, in a row: 2 times 32
    times 32 times 128 times 2. Half a megabyte for a syllable.
    """,
    hall="2 · 32 · 32 · 128 · 2 bytes: how many KiB? [512]",
)
def one_token(kib):
    return [
        Matrices(
            [
                Matrix([2, 32, 32, 128, 2], thing="input", top=["key, value", "layers", "heads", "head_dim", "bytes"]),
                "→",
                Matrix([v], thing="key", top=["KiB"]),
            ]
        )
        for v in (None, kib)
    ]


@slide(
    "131,072 tokens: how many GiB does each model keep?",
    minutes=1,
    say="""
    Read the bars. From Llama 2 7B to Llama 3 8B: a quarter, from one decision. Nobody has to learn these
    numbers.
    """,
    hall="Which of the five factors differs most between these models? [The stored heads: 32, 8, 1]",
)
def five_models(cache_bytes, memory):
    all_of = [cache_bytes(*sizes, tokens=131072) / 2**30 for sizes in memory.MODELS.values()]
    return [
        Bars(list(memory.MODELS), values, lying=True, words=False, unit=" GiB", colour="key")
        for values in ([None, all_of[1], None, None, None], all_of)
    ]


@slide(
    "Eight scores without a key: which line?",
    minutes=1.5,
    say="""
    Store the latent, not the keys; and the trick is that the keys are never made. q (c W)ᵀ = q Wᵀ cᵀ. Write
    the shapes below: (1, 16), (16, 4), (4, 8).
    """,
    hall="Who dictates the line? [(asks @ W_uk.T) @ latent.T]",
)
def latent(asks, latent, W_uk):
    return [
        Flow(
            {"query": [0, 0], "latent": [0, 1], "key": [1, 1], "short": [1, 0], "scores": [2, 0.5]},
            labels={
                "query": f"query: {asks.size(1)}",
                "latent": f"latent: {latent.size(1)}",
                "key": f"keys: {W_uk.size(1)}",
                "short": f"query: {W_uk.size(0)}" if k else "?",
                "scores": "8 scores",
            },
            things={"latent": "key", "short": "query"},
            arrows=arrows,
            empty=[["short"], ["key"]][k],
        )
        for k, arrows in enumerate(
            ([["latent", "key"], ["key", "scores"]], [["query", "short"], ["short", "scores"], ["latent", "scores"]])
        )
    ]


@slide(
    "RoPE: may we rotate the latent, not the key?",
    minutes=0.5,
    say="""
    To rotate the latent in place of the key gives other scores: show the number. That is why RoPE gets
    features of its own.
    """,
)
def turned_latent(turned_latent, with_rope):
    return [
        Matrices(
            [Matrix([with_rope[0].tolist(), r], name="scores", thing="scores", left=["keys rotated", "latent rotated"])]
        )
        for r in (unknown(8), turned_latent[0].tolist())
    ]


@slide(
    "1000 are read, then 100 written: how much is it?",
    minutes=1,
    say="""
    A tenth of the tokens: a tenth of the work? Let somebody say how many tokens a late one attends to.
    Without a cache it would be 8,796 million, a hundred times the prompt.
    """,
    hall="80 million to read 1000 tokens, and how many to write 100 more? Hands for 8, 15, 800. [15]",
    choices="writing",
)
def reading_and_writing(products):
    return [
        Bars(
            ["reading 1000", "writing 100"],
            [round(products(1, 1000)), v],
            lying=True,
            words=False,
            unit=" million",
            colour=["quiet", "weights"],
        )
        for v in (None, round(products(1001, 1100)))
    ]


@slide(
    "Reading 1000, writing 100: which takes longer?",
    minutes=1,
    say="""
    Write the two words on the blackboard: prefill and decode. Every call reads all weights once, for one
    token or for a thousand. For one written token the card mostly waits for its memory. Then ask why a draft
    of four tokens costs nearly what one token costs.
    """,
    hall="Which takes longer, the prompt of 1000 or 100 written tokens? Hands. [The 100: some 450 ms against 13]",
)
def why_writing_is_slow(weights):
    reading, multiplying = 2 * weights / 3e12 * 1000, weights / 5e14 * 1000
    call = max(reading, 1000 * multiplying)
    return [
        Bars(
            ["reading 1000", "writing 100"],
            values,
            lying=True,
            words=False,
            unit=" ms",
            caption="Llama 2 7B on one H100",
            colour=["quiet", "weights"],
        )
        for values in ([round(call), None], [round(call), round(100 * reading)])
    ]


@slide(
    "Twice as many tokens: how much longer does it take?",
    minutes=0.5,
    say="""
    Two things in the loop differ: only the last token goes in, and the cache is passed on. Read no number
    aloud before you have seen it. At 32 tokens the two may change places: for small products the call itself
    takes most of the time.
    """,
)
def twice_the_tokens():
    """Without a picture: its board or plot is shown."""


@slide(
    "Which fault hides if tokens come one by one?",
    minutes=3,
    say="""
    Read the task. With no fault, move everything: the difference stays 0. Then try the faults, one token at a
    time. Three of them stay at 0 at first. Heads repeated as a list show as soon as heads share, the short window
    once the text is as long as the window. Only no mask once there is a cache still stays at 0. It shows
    with two at a time: the first of two attends to the second. Choose *Weights of* that first token.
    """,
    hall="""
    Which fault is silent as long as tokens come one by one? Hands for each. [No mask once there is a cache:
    a single new token may attend to all]
    """,
)
def hidden_fault():
    return on_board(fault=str(Fault.NO_MASK), chunk="two", mark=("off by", 2, 0))


@slide(
    "Five faults of a cache. What does each replace?",
    minutes=1.5,
    say="""
    Name each in a sentence: corner, mask, start, heads, window. The code is for later, and so are
    the five tests: they differ in how the text is cut, in the heads, and in whether there is a window.
    """,
)
def five_faults(causal_mask, memory, share_heads, window_mask):
    return Tiles(
        [
            [
                causal_mask(2, 4).tolist(),
                window_mask(2, 4, 99).tolist(),
                "6",
                " ".join(str(h) for h in share_heads(torch.arange(2)[:, None, None], 2).flatten().tolist()),
                f"{3 - 1}",
            ],
            [
                [row, "wrong"] if isinstance(row, str) else row
                for row in (
                    memory.top_left(2, 4, 99).tolist(),
                    memory.none_with_a_cache(2, 4, 99).tolist(),
                    "0",
                    " ".join(str(h) for h in torch.arange(2)[:, None, None].repeat(2, 1, 1).flatten().tolist()),
                    f"{3 - 2}",
                )
            ],
        ],
        columns=["corner", "mask", "start", "heads", "window"],
        rows=["right", "fault"],
    ).opened(5, 10)


@slide(
    "One by one: how many of the five are noticed?",
    minutes=1,
    say="Go through the five with the hall. Two remain.",
    hall="""
    One by one, own heads, no window: how many of the five are noticed? Bids. [2: the corner and the start]
    """,
)
def one_by_one(one_by_one):
    return [
        Matrices(
            [Matrix([r], thing="weights", left=["one by one"], top=["corner", "mask", "start", "heads", "window"])]
        )
        for r in (unknown(5), one_by_one)
    ]


@slide(
    "Which tests are needed to find all five?",
    minutes=1,
    say="""
    Read it by columns. Three faults are found by one test only: no mask, the heads, the window. The corner
    and the start are found by several. Then ask whether the three tests together find all five. They do.
    """,
    hall="Which tests are needed to find all five? [prompt and two, shared heads, a window]",
)
def which_tests(memory):
    all_of = [
        [memory.notices(test, code) for code in (*memory.faults().values(), memory.with_part())]
        for test in memory.tests().values()
    ]
    return [
        Matrices(
            [
                Matrix(
                    [row if i == 1 or k else unknown(6) for i, row in enumerate(all_of)],
                    thing="weights",
                    left=list(memory.tests()),
                    top=[*["corner", "mask", "start", "heads", "window"], "right"],
                    mark=[2, 3, 4] if k == 2 else [],
                )
            ]
        )
        for k in range(3)
    ]


@slide(
    "Eight tokens, cut into 5, 1 and 2: the same?",
    minutes=0.5,
    say="""
    Three ways to cut eight tokens, with and without a window: always the same, up to rounding. A test that
    asks for equality to the bit fails on some machine.
    """,
)
def three_cuts(memory):
    return [
        Matrices(
            [
                Matrix(
                    memory.read([8])[0][0, 0, 3:, :3],
                    name="at once",
                    thing="output",
                    left=[f"token {i}" for i in range(3, 8)],
                ),
                "=",
                Matrix(rows, name="5, 1 and 2", thing="output"),
            ]
        )
        for rows in (unknown(5, 3), memory.read([5, 1, 2])[0][0, 0, 3:, :3])
    ]


@slide(
    "What does a memory need to be right?",
    minutes=0.5,
    say="Ask for the five factors of the memory, for the three tests, and why writing is slow.",
)
def summary():
    return Tiles(
        [["mask at the\nlower right", "positions\ngo on"], ["heads repeated\nin place", "three tests,\nnot one"]]
    ).opened(*range(5))


@slide(
    "Five exercises, now yours",
    minutes=0,
    say="""
    At home. 10.1 is the one to grade: the common mistakes are top-left masks and positions that start again.
    10.2 is one line; a student who writes repeat is told so. 10.3: one key too many is a common slip. 10.4
    takes five minutes: the factor 2 and the heads are what is forgotten. In 10.5 the large model reads a draft
    in one call; the slip to expect is to count all places that agree. Then send them back to the
    clinic: the ward of memory is open now.
    """,
)
def exercises():
    return Tiles(
        [["memory", "sharing", "window", "bytes", "a draft"]], columns=["10.1", "10.2", "10.3", "10.4", "10.5"]
    )
