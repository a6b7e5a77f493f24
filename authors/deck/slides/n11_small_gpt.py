"""The slides of lesson 11. A small GPT that writes."""

import math

import torch
import torch.nn.functional as F

import attn_lib
from workbench.board.lessons.n11_small_gpt import KISSED
from workbench.display.drawings import Bars, Curve, Flow, Matrices, Matrix, Sentence, Tiles, unknown

from . import again, on_board, slide


@slide(
    "A small GPT that writes",
    minutes=0.5,
    say="""
    Read the line aloud with she at the end, then with he, and let the hall finish it. Ask how they knew. Run the
    imports while they read.
    """,
)
def what_for():
    return Sentence(["she", "kissed", "bob", "because", "she"], inks={4: "query"}, says=None)


@slide(
    "Who wrote this?",
    minutes=1,
    say="""
    Read it aloud, with feeling, and ask what is wrong with it: nothing. Do not say yet how it was made.
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
    Run the cell: it prints the templates. Read one aloud and point at the capitals: random, random, follows. Then
    the picture: were follows from keys, and cat is random.
    """,
)
def language():
    first = Sentence(["the", "keys", "near", "the", "cat"], inks={}, arcs=[], says=None)
    return [first, first.but(arcs=[[4, 1, 0.9]], inks={1: "key"}, says="were")]


@slide(
    "I is (1, 0, 1, 0). What does the norm make of it?",
    minutes=1.5,
    say="""
    Only two means are needed: the mean, and the mean of the squares of what remains. If somebody has .866,
    they divided by d − 1, which is 3.
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
    say="""
    Some say 1, some say that one cannot divide by 0. The lesson answers both: what all features share is
    subtracted, and ε prevents 0 divided by 0.
    """,
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
    Ask for the axis, and for keepdim. If somebody has .866, they divided by 3. In PyTorch a learned weight
    and a learned bias for each feature come after it.
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
    "What happens to the output of attention?",
    minutes=1,
    say="Draw a straight line for x, and a branch through norm and attention that joins it again.",
)
def residual():
    return [
        Flow(
            {"x": [0, 0.25], "norm": [1, 0.75], "attention": [2, 0.75], "+": [3, 0.25], "after": [4, 0.25]},
            things={"x": "input", "attention": "weights", "after": "output"},
            empty=empty,
            arrows=[["x", "norm"], ["norm", "attention"], ["attention", "+"], ["x", "+"], ["+", "after"]][:k],
        )
        for k, empty in ((2, ["+", "after"]), (5, []))
    ]


@slide(
    "Attention's output is added. To which of the two?",
    minutes=1.5,
    say="""
    Both x and the normalized rows have the right shape. Let somebody say why it has to be x. Then write tea's
    three rows below each other: normalized 0, output 0, x ones. Added to the normalized row, tea is lost.
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


def block_in_two_steps():
    """The parts of a block, first as far as attention."""
    return [
        Flow(
            {
                "x": [0, 0.2],
                "norm": [1, 0.8],
                "attention": [2, 0.8],
                "+": [3, 0.2],
                " norm": [4, 0.8],
                "MLP": [5, 0.8],
                " +": [6, 0.2],
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
    "What is a block?",
    minutes=2,
    say="""
    Follow the straight line with a finger: there are only two plus signs on it. Then the code, by c: the four
    lines of forward are the lesson so far. Ask which of them moves information between tokens: one.
    """,
)
def block():
    return block_in_two_steps()


@slide(
    "And a whole GPT?",
    minutes=1,
    say="""
    Two tables at the bottom, one product on top. They know all the rest from the last quarter of an hour.
    Ours has 18,752 numbers; the smallest GPT-2 has some 6,600 times as many, in the same parts.
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
    "68 tokens, nothing known. How large is the loss?",
    minutes=1,
    say="""
    One over 68 is the share; the loss is minus its logarithm. There are sixty-seven words and the mark at
    the end.
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
    "Which token predicts which?",
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
                Matrix(rows, thing="output", left=["next"]),
            ]
        )
        for r, rows in (("had", unknown(5)), ("had", ["one", "day", "bob", "had", None]))
    ]


@slide(
    "How low can the loss of a perfect model go?",
    minutes=1,
    say="Most say zero. Ask what a perfect reader predicts after one day.",
    hall="The lowest possible loss: Hands for 0, about .3, about 1. [.28]",
    choices="floor",
)
def predict_floor(floor):
    return [
        Bars(["knows nothing", "perfect"], values, unit="", colour="output", strong=1, words=False)
        for values in ([math.log(68), None], [math.log(68), floor])
    ]


@slide(
    "800 steps of sixteen stories: what is learned?",
    minutes=2,
    say="""
    Start the cell before you speak: it takes some fifteen seconds. Watch the bar together, and read aloud
    what the model writes at first. Afterwards say that a quarter of a minute ago its numbers were random, on
    this machine.
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
    "How much of the next word is chance?",
    minutes=1,
    say="""
    Only the newest word goes through the model. Temperature near 0: always the most likely word. Very high:
    any word. Read the story aloud: it is the one of the beginning. None of the 300 is a copy of the 3000 in
    training, out of 5.2 million possible; let them bid before you show it.
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
    The judge compares a text with the templates; it needs no list of right stories. Grammar gets the most
    hands. Remind them: what a reader can know, the model knows.
    """,
    hall="What goes wrong at .3, most often? Hands for grammar, form, forbidden. [What is forbidden]",
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
    The cell has two texts. In the second one the hat is near the cats: one noun is singular, the near one plural,
    and was is right. Let the hall say both words before you run it.
    """,
)
def your_own(language, model):
    text = "ann had two keys and a hat . but the keys near the cat"
    numbers = torch.tensor([[language.number[word] for word in f"| {text}".split()]])
    on_keys = model(numbers)[1][0][0, :, -1, 11].max()  # of the first layer's heads, the one that attends to keys most
    asked = Sentence(["but", "the", "keys", "near", "the", "cat"], says=None)
    return [
        asked,
        asked.but(arcs=[[5, 2, on_keys]], inks={2: "key"}, says=next(iter(language.after(model, text)))),
    ]


@slide(
    "First words: the keys near the cat. Still were?",
    minutes=1,
    say="Here most bid high, because the model has just said were. Do not help.",
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
    First a sentence that the hall dictates; the board names words that the model does not know. Then the task:
    she becomes he. Then two girls: was and had get similar shares, since nobody can know. Last, write at 1.6.
    """,
    hall="Which word has to change? [she, to he]",
)
def board_text():
    return on_board(text=f"{KISSED} he")


@slide(
    "No head at all. How much is still right?",
    minutes=1.5,
    say="""
    Zero is the most frequent bid. What does the word itself tell? After near the cats comes was or were. Then
    compare the four lines with the maps on the board: without the head that attends to names, names are
    lost.
    """,
    hall="No token attends to another: which share is still right? Bids. [Two in five]",
)
def which_head(deaf, film, language, model, stories):
    r = [film[800]["all"], *(language.right(stories.without(model, h))["all"] for h in range(4)), deaf]
    return [
        Bars(
            ["none off", "0 off", "1 off", "2 off", "3 off", "all off"],
            values,
            strong=5,
            top=1,
            words=False,
            caption="right of what can be known",
        )
        for values in ([r[0], None, None, None, None, None], [*r[:5], None], r)
    ]


@slide(
    "Wider, ReLU, narrow again. What comes out?",
    minutes=1,
    say="""
    Attention moves information between tokens; the MLP works on each token alone. Eight numbers
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
                Matrix(F.relu(one @ W_1), name="wider, ReLU", thing="value"),
                "→",
                Matrix(rows, name="narrow", thing="output"),
            ]
        )
        for rows in (unknown(4), F.relu(one @ W_1) @ W_2)
    ]


@slide(
    "A higher temperature: how many stories are sound?",
    minutes=1,
    say="A higher temperature is worse. Top 8 at 1.0 gains a little.",
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
    Ask for each which words one has to look at, and how many they are. Then the curves: first what one word
    decides, then copies of names, then what depends on two names at once.
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
    None raises an error. Start the cells before you speak: they take some seconds. Ask afterwards who would
    have released such a model, and read the texts aloud: the model with the lowest loss writes only the mark
    of the end; the one that is shifted twice leaves out every second word.
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
    Show notebook 1's first slide again for a moment. In how many numbers do the two rows differ
    before the block? In none: it is one row of the table. After the block they differ.
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
    "After the block they differ. What do they attend to?",
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
                    name="bank's weights, head 1",
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
    say="Ask for the six steps of a block, and for the two numbers between which a loss lies.",
)
def summary():
    return again(block, predict_floor, which_head, predict_first)


@slide(
    "Four exercises, now yours",
    minutes=0,
    say="""
    Name the four. At home, 11.2 is the one to grade: many add to the normalized row, and no error is raised.
    11.1: dividing by d − 1 is the most frequent mistake. 11.3 with lengths that differ: with equal lengths there
    is no padding, and a quarter of the known mistakes do not show. 11.4 in pairs: one writes, the other looks for a
    text on which it fails. Send them to the clinic, and back to notebook 1.
    """,
)
def exercises():
    return Tiles(
        [["LayerNorm", "a block", "the loss of\nunequal texts", "the next\nword"]],
        columns=["11.1", "11.2", "11.3", "11.4"],
    )
