"""The slides of lesson 11. A small GPT that writes."""

import math

import torch
import torch.nn.functional as F

import attn_lib
from workbench.display.drawings import Bars, Curve, Flow, Matrices, Matrix, Sentence, Tiles, unknown

from . import again, slide


@slide(
    "A small GPT that writes",
    minutes=0.5,
    say="""
    Read the line aloud with she, then with he, and let the hall finish it. Ask who told them. Run the
    imports while they read.
    """,
)
def what_for():
    return Sentence(["she", "kissed", "bob", "because", "she"], inks={4: "query"}, says=None)


@slide(
    "Who wrote this?",
    minutes=1,
    say="""
    Read it aloud, with feeling, and ask what is wrong with it: nothing. Say nothing yet of how it was done.
    """,
)
def who_wrote():
    return Tiles(
        [
            ["the key near the cat was gone"],
            ["he kissed fay because she had helped"],
            [[f"{sum(p.numel() for p in attn_lib.GPT(68, 55).parameters()):,} numbers", "output"]],
        ]
    ).opened(2, 3)


@slide(
    "Two girls, and because she. Can it be known?",
    minutes=0.5,
    say="Take the hands, then ask one of each side why.",
    hall="Two girls, because she: can it be known? Hands for yes and no. [No: she may be either of them]",
    choices="two-girls",
)
def predict_two_girls():
    first = Sentence(["ann", "asked", "eve", "…", "because", "she"], inks={5: "query"}, arcs=[], says=None)
    return [first, first.but(arcs=[[5, 0, 0.5], [5, 2, 0.5]], says="both")]


@slide(
    "What follows from what?",
    minutes=1,
    say="""
    Read one template aloud, pointing at the capitals: drawn, drawn, follows. The code is for those who want
    it.
    """,
)
def language():
    first = Sentence(["the", "keys", "near", "the", "cat"], inks={}, arcs=[], says=None)
    return [first, first.but(arcs=[[4, 1, 0.9]], inks={1: "key"}, says="were")]


@slide(
    "I is (1, 0, 1, 0). What does the norm make of it?",
    minutes=1.5,
    say="""
    Two means, no more: the mean, and the mean of the squares of what is left. Whoever has .866 has divided
    by 3.
    """,
)
def layer_norm(normed, x):
    return [
        Matrices(
            [
                Matrix(x[0], name="I", thing="input"),
                "→",
                Matrix(a, name="minus its mean"),
                "→",
                Matrix(b, name="by its deviation", thing="output"),
            ]
        )
        for a, b in ((unknown(4), unknown(4)), (x[0] - 0.5, unknown(4)), (x[0] - 0.5, normed[0].round()))
    ]


@slide(
    "tea is all ones. What is left of it?",
    minutes=0.5,
    say="Somebody says 1, somebody says it cannot be divided. Both are told by name.",
    hall="And tea, all ones? Shout. [(0, 0, 0, 0)]",
)
def predict_tea(normed, x):
    return [
        Matrices(
            [
                Matrix(x, name="before", thing="input", left=["I", "like", "tea"]),
                "→",
                Matrix([*normed[:2].round().tolist(), r], name="normed", thing="output"),
            ]
        )
        for r in (unknown(4), normed[2])
    ]


@slide(
    "All three rows at once. Which line?",
    minutes=2,
    say="""
    Ask for the axis, and for keepdim. Whoever has .866 has divided by 3. In PyTorch a factor and a summand
    for each feature stand behind it.
    """,
    hall="Who dictates it? [centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()]",
)
def your_norm(centred, normed):
    return [
        Matrices(
            [
                Matrix(centred, name="centred", left=["I", "like", "tea"]),
                "→",
                Matrix(rows, name="normed", thing="output"),
            ]
        )
        for rows in (unknown(3, 4), normed.round())
    ]


@slide(
    "What becomes of what was heard?",
    minutes=1,
    say="Draw the road: x straight on, and a branch through norm and attention that joins it again.",
)
def residual():
    return [
        Flow(
            {"x": [0, 0.5], "norm": [1, 1], "attention": [2, 1], "+": [3, 0.5], "after": [4, 0.5]},
            things={"x": "input", "attention": "weights", "after": "output"},
            empty=empty,
            arrows=[["x", "norm"], ["norm", "attention"], ["attention", "+"], ["x", "+"], ["+", "after"]][:k],
        )
        for k, empty in ((2, ["+", "after"]), (5, []))
    ]


@slide(
    "What was heard is added. To which of the two?",
    minutes=1.5,
    say="""
    Both x and the normed rows fit. Let somebody say why it has to be x; then write tea's three rows below
    each other: normed 0, heard 0, x ones. Added to the normed row it would be gone.
    """,
    hall="Who dictates it? [x + heard @ W_o]",
)
def your_residual(behind, heard, normed, W_o, x):
    return [
        Matrices(
            [
                Matrix(x[[0, 2]], name="x", thing="input", left=["I", "tea"]),
                "or",
                Matrix(normed[[0, 2]].round(), name="normed", thing="key"),
                "+",
                Matrix(
                    (heard @ W_o)[[0, 2]].round().abs() * (heard @ W_o)[[0, 2]].round().sign(),
                    name="heard",
                    thing="weights",
                ),
                "=",
                Matrix(rows, name="after", thing="output"),
            ]
        )
        for rows in (unknown(2, 4), behind[[0, 2]].round())
    ]


@slide(
    "What is a block?",
    minutes=2,
    say="""
    Follow the straight road with a finger: nothing on it but two plus signs. Then the code, by c: four lines
    of forward are the lesson so far. Ask which of them moves news between tokens: one.
    """,
)
def block():
    return [
        Flow(
            {
                "x": [0, 0.5],
                "norm": [1, 1.2],
                "attention": [2, 1.2],
                "+": [3, 0.5],
                " norm": [4, 1.2],
                "MLP": [5, 1.2],
                " +": [6, 0.5],
            },
            things={"x": "input", "attention": "weights", "MLP": "value"},
            empty=empty,
            arrows=[
                ["x", "norm"],
                ["norm", "attention"],
                ["attention", "+"],
                ["x", "+"],
                ["+", " norm"],
                [" norm", "MLP"],
                ["MLP", " +"],
                ["+", " +"],
            ][:k],
        )
        for k, empty in ((4, [" norm", "MLP", " +"]), (8, []))
    ]


@slide(
    "And a whole GPT?",
    minutes=1,
    say="""
    Two tables at the bottom, one product on top. All the rest was the last quarter of an hour. 18,752
    numbers; GPT-2 has seven thousand times as many, of the same parts.
    """,
)
def gpt():
    return [
        Flow(
            {"words": [0, 0], "places": [0, 2], "+": [1, 1], "block": [2, 1], "norm": [3, 1], "logits": [4, 1]},
            things={"words": "input", "places": "input", "block": "weights", "logits": "output"},
            empty=empty,
            arrows=[["words", "+"], ["places", "+"], ["+", "block"], ["block", "norm"], ["norm", "logits"]][:k],
        )
        for k, empty in ((0, ["+", "block", "norm", "logits"]), (5, []))
    ]


@slide(
    "Nothing known of 68 signs. What does it cost?",
    minutes=1,
    say="""
    One over 68 is the share, not the cost: minus the logarithm of it. Sixty-seven words and the sign of the
    end.
    """,
)
def ignorance(known, untrained):
    return [
        Bars(["knows nothing", "at first"], values, unit="", colour="wrong", strong=0, words=False, top=5)
        for values in (
            [None, None],
            [math.log(68), None],
            [math.log(68), attn_lib.next_token_loss(untrained(known[:100])[0], known[:100]).item()],
        )
    ]


@slide(
    "Which token judges which?",
    minutes=1,
    say="""
    Draw two rows of five boxes and shift the lower one. The last logit and the first token are left over.
    """,
    hall="Who dictates it? [F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())]",
)
def your_loss():
    return [
        Matrices(
            [
                Matrix(["|", "one", "day", "bob", r], thing="input", left=["read"]),
                "→",
                Matrix(rows, thing="output", left=["due"]),
            ]
        )
        for r, rows in (("had", unknown(5)), ("had", ["one", "day", "bob", "had", None]))
    ]


@slide(
    "How low can the loss of a perfect model go?",
    minutes=1,
    say="Zero is what most say. Ask what a perfect reader says after one day.",
    hall="The best loss there can be: Hands for 0, about .3, about 1. [.28]",
    choices="floor",
)
def predict_floor(floor):
    return [
        Bars(["knows nothing", "perfect"], values, unit="", colour="output", strong=1, words=False)
        for values in ([math.log(68), None], [math.log(68), floor])
    ]


@slide(
    "Sixteen stories a step. What comes of it?",
    minutes=2,
    say="""
    Start the cell before you speak: it takes some fifteen seconds. Watch the bar together, and read aloud
    what it says at first; afterwards say that it began with lots, on this machine, a quarter of a minute
    ago.
    """,
)
def training(film):
    e = [step for step in film if step <= 200]
    return [
        Curve(
            x=e,
            lines={"right": [film[step]["all"] for step in e]},
            axes=["steps", "right"],
            scale=[0, 1],
            ends=["none", "all"],
            ticks=[20, 100, 200],
            upto=b,
            ball=b,
        )
        for b in (20, 100, 200)
    ]


@slide(
    "One word is drawn. How boldly?",
    minutes=1,
    say="""
    Only the newest word goes through the model. Temperature towards 0: always the likeliest. Very high: any
    word at all. Read the story aloud: it is the one of the beginning. None of the 300 is a copy, of 3000
    read and 5.2 million possible; let them bid before you show it.
    """,
)
def writing(language, model):
    p = language.after(model, "")
    return [
        Bars(
            list(p)[:5],
            (torch.tensor(list(p.values())).log() / t).softmax(-1)[:5],
            caption=f"the first word, at temperature {t}",
            colour="output",
            strong=0,
            top=1,
        )
        for t in (1.6, 1, 0.3)
    ]


@slide(
    "At .3: what goes wrong most often?",
    minutes=1.5,
    say="""
    The judge is the grammar run backwards; it needs no list of right stories. Grammar gets most hands.
    Remember: all that can be known it knows.
    """,
    hall="What goes wrong at .3, most often? Hands for grammar, form, forbidden. [What must not be said]",
    choices="kinds-of-faults",
)
def judge(wrong):
    return [
        Bars(["grammar", "form", "forbidden"], values, unit="", colour="wrong", strong=2, caption="of 300 stories")
        for values in (unknown(3), [len(wrong[k]) for k in ("grammar", "form", "forbidden")])
    ]


@slide(
    "Which noun decides: the far one, or the near one?",
    minutes=1,
    say="""
    The second line is the first with the numbers exchanged. Let the hall say the word before you run it.
    """,
)
def your_own(language, model):
    text = "ann had two keys and a hat . but the keys near the cat"
    numbers = torch.tensor([[language.number[word] for word in f"| {text}".split()]])
    on_keys = model(numbers)[1][0][0, :, -1, 11].max()  # of the first layer's heads, that which hears keys most
    asked = Sentence(["but", "the", "keys", "near", "the", "cat"], says=None)
    return [
        asked,
        asked.but(arcs=[[5, 2, on_keys]], inks={2: "key"}, says=next(iter(language.after(model, text)))),
    ]


@slide(
    "A text begins: the keys near the cat. And were?",
    minutes=1,
    say="Here most bid high: it has just said were. Do not help.",
    hall="A text that begins with the keys near the cat: the share of were? Bids. [Almost 0]",
)
def predict_first(language, model):
    return [
        Bars([".", "asked", "was", "were"], values, colour="output", strong=3, top=1)
        for values in (
            unknown(4),
            [language.after(model, "the keys near the cat")[w] for w in (".", "asked", "was", "were")],
        )
    ]


@slide(
    "Change one word, and had takes the place of was.",
    minutes=3.5,
    say="""
    First a sentence that the hall dictates; words that it does not know are named. Then the task: she
    becomes he. Then two girls: was and had are near each other, and it cannot know. Last, write at 1.6.
    """,
    hall="Which word has to change? [she, to he]",
)
def board_text():
    """Without a picture: its board or plot is shown."""


@slide(
    "No head at all. How much is still right?",
    minutes=1.5,
    say="""
    Zero is the commonest bid. What does the word itself tell? After near the cats come was or were. Then
    hold the four lines against the board's maps: the head that listens to names is the one without which
    names are lost.
    """,
    hall="Nobody hears anybody: which share is still right? Bids. [Two in five]",
)
def which_head(deaf, film, language, model, stories):
    r = [film[800]["all"], *(language.right(stories.without(model, h))["all"] for h in range(4)), deaf]
    return [
        Bars(
            ["all four", "not 0", "not 1", "not 2", "not 3", "none"],
            values,
            strong=5,
            top=1,
            words=False,
            caption="right of what can be known, with which heads",
        )
        for values in ([r[0], None, None, None, None, None], [*r[:5], None], r)
    ]


@slide(
    "Wider, bent, narrow again. What comes out?",
    minutes=1,
    say="""
    Attention moves news between tokens, the MLP works on it; say who hears whom: nobody. Eight numbers
    first: 1 0 1 0 0 1 0 1. Then add the halves.
    """,
    hall="Four numbers. [(1, 1, 1, 1): it makes |x|]",
)
def mlp(one, W_1, W_2):
    return [
        Matrices(
            [
                Matrix(one, name="one", thing="input"),
                "→",
                Matrix(F.relu(one @ W_1), name="wider, bent", thing="value"),
                "→",
                Matrix(rows, name="narrow", thing="output"),
            ]
        )
        for rows in (unknown(4), F.relu(one @ W_1) @ W_2)
    ]


@slide(
    "Bolder: how many stories are sound?",
    minutes=1,
    say="Bolder is worse. Top 8 at 1.0 wins back a little.",
)
def temperatures(sound):
    return [
        Bars(
            ["0.3", "0.7", "1", "1.3", "1.6"],
            values,
            colour="output",
            words=False,
            top=1,
            caption="sound stories, by temperature",
        )
        for values in ([sound[0.3, None], *unknown(4)], [sound[t, None] for t in (0.3, 0.7, 1.0, 1.3, 1.6)])
    ]


@slide(
    "Verb, name, reason: which is learned last?",
    minutes=2,
    say="""
    Ask of each what one has to look at, and how many words that are. Then the film: first what one word
    tells, then copies of names, then what hangs on two names at once.
    """,
    hall="""
    Which is learned last: were, bob said, or because he had? Hands for verb, name, reason. [reason: it takes
    both names and the pronoun]
    """,
    choices="learned-last",
)
def break_it(asked, film):
    e = [step for step in film if step <= 200]
    return [
        Curve(
            x=e,
            lines={name: [film[step][slot] for step in e] for name, slot in asked.items()},
            axes=["steps", "right"],
            scale=[0, 1],
            ends=["none", "all"],
            things={"verb": "key", "name": "query", "reason": "output"},
            ticks=[20, 100, 200],
            upto=upto,
        )
        for upto in (20, 200)
    ]


@slide(
    "Right or broken: which has the lowest loss?",
    minutes=1.5,
    say="""
    None raises an error, and all were found in public code. Start the cells before you speak: some seconds.
    Ask afterwards who would have shipped it, and read the texts aloud: the lowest loss of the lesson repeats
    one word; the third says every second word.
    """,
    hall="Which has the lowest loss? Hands for right, unshifted, twice, shares. [unshifted]",
    choices="lowest",
)
def predict_broken(losses):
    return [
        Bars(["right", "unshifted", "twice", "shares"], values, unit="", colour="wrong", strong=1, top=4, words=False)
        for values in ([losses["right"], None, None, None], list(losses.values()))
    ]


@slide(
    "Two banks. Do their rows differ?",
    minutes=1,
    say="""
    Put notebook 1's first slide on the wall again for a moment. In how many numbers do the two rows differ
    before the block? In none: it is one row. After it they do.
    """,
    column=True,
)
def bank(bank_before, bank_behind):
    return [
        Matrices(
            [
                Matrix(bank_before[:, :4], name="before the block", thing="input", left=["by the river", "with coins"]),
                "→",
                Matrix(rows, name="after it", thing="output"),
            ]
        )
        for rows in (unknown(2, 4), bank_behind[:, :4])
    ]


@slide(
    "After the block they differ. Whom do they hear?",
    minutes=1,
    say="Upper row: river. Lower row: coins. It is the picture of notebook 1, learned.",
)
def bank_map(bank_maps):
    part = bank_maps[:, 1, -1, [1, 4, 7, 11]]
    return [
        Matrices(
            [
                Matrix(
                    rows,
                    name="what bank hears, in head 1",
                    thing="weights",
                    left=["by the river", "with coins"],
                    top=["ann", "river / coins", "hat", "bank", "rest"],
                )
            ]
        )
        for rows in (unknown(2, 5), torch.cat([part, 1 - part.sum(-1, keepdim=True)], dim=-1))
    ]


@slide(
    "A GPT that writes: what did it take?",
    minutes=0.5,
    say="Ask for the six words of a block, and for the two numbers between which a loss lies.",
)
def summary():
    return again(block, predict_floor, which_head, predict_first)


@slide(
    "Four exercises, now yours",
    minutes=0,
    say="""
    Name the four. At home, 11.2 is the one to grade: half add to the normed row, and nothing complains.
    11.1: dividing by d − 1 is the commonest slip. 11.3 with lengths that differ: with equal ones half of the
    faults are silent. 11.4 in pairs: one writes, the other looks for a text on which it fails. Send them to
    the clinic, and home to notebook 1.
    """,
)
def exercises():
    return Tiles(
        [["LayerNorm", "a block", "the loss of\nunequal texts", "the next\nword"]],
        columns=["11.1", "11.2", "11.3", "11.4"],
    )
