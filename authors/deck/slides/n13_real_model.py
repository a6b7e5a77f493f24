"""The slides of lesson 13. Your attention speaks English."""

from attn_lib import rotary
from workbench.board.lessons.n13_real_model import COUNTRY, GERMANY
from workbench.display.drawings import Bars, Matrices, Matrix, Points, Sentence, Spoken, Tiles, unknown

from . import again, on_board, slide


@slide(
    "Your attention speaks English",
    minutes=0.5,
    say="""
    Ask who has used a language model this week. Then: today one runs on the functions of this course, on this
    laptop. Run the imports and the next cell while they look.
    """,
)
def what_for():
    return Sentence(["The", "keys", "near", "the", "cat"], inks={1: "key"}, says=None)


@slide(
    "A model that people use. Whose attention runs in it?",
    minutes=1,
    say="""
    135 million numbers in a file of 98 MB. Let the hall read aloud what it writes. Then say whose attention
    has just run: ours, and no line of attn_lib was changed for it.
    """,
)
def it_speaks(model):
    sizes = model.sizes
    return Tiles(
        [[sizes.blocks, sizes.heads, sizes.kv_heads, sizes.head_dim]],
        columns=["blocks", "heads", "heads of keys\nand values", "features\na head"],
    ).opened(0, 4)


@slide(
    "A block of this model. Which lesson has each part?",
    minutes=1.5,
    say="""
    Show the code with c. Point at a line, let the hall name the lesson, and uncover it. Two parts are new: RMSNorm,
    which subtracts no mean, and the gate. They are for the second reading.
    """,
)
def eight_lines():
    lessons = ["4", "8", "10", "2, 3", "11", "new"]
    return Tiles([lessons], columns=["heads", "RoPE", "cache", "attention", "adding", "norm, gate"]).opened(*range(7))


@slide(
    "Three heads of keys, nine of queries. Which line?",
    minutes=1.5,
    say="""
    Two things to say: turn, with the model's own base, and repeat each head where it stands. Those who repeat the
    whole list get 0, 1, 2, 0, 1, 2: no error, and later they will read what it sounds like.
    """,
    hall="Who dictates it? [share_heads(rotary(key, base=100_000), 3)]",
)
def your_keys(key):
    heads = rotary(key, base=100_000)[0, :, 1, :4].round(decimals=1)
    return [
        Matrices(
            [
                Matrix(heads, name="keys", thing="key"),
                "→",
                Matrix(rows, name="for nine", thing="key"),
            ]
        )
        for rows in (unknown(9, 4), heads.repeat_interleave(3, dim=0))
    ]


@slide(
    "How do we know that it is right?",
    minutes=0.5,
    say="""
    It writes English, and that proves nothing, as they will see in half an hour. Somebody else's code, the same
    file, the same logits: that proves something.
    """,
)
def same_as_theirs(ours, theirs):
    return [
        Bars(["our logit", "theirs"], values, unit="", colour="output", strong=1, words=False)
        for values in ([ours[0][0].item(), None], [ours[0][0].item(), theirs[0][0].item()])
    ]


@slide(
    "The keys near the cat. What did your GPT say?",
    minutes=0.5,
    say="Remind them: .003 for were, since no story began like this. It had read 3000 stories.",
    column=True,
)
def keys():
    return [
        Bars(["were", "others"], values, unit="", strong=0, top=1000, caption="of 1000")
        for values in (unknown(2), [3, 997])
    ]


@slide(
    'Count only "was" and "were": the share of "were"?',
    minutes=1,
    say="""
    Let them write a number down. Then the four sentences: the nearest noun would say the opposite in two of them.
    Do not praise the model: after The cat is black. The dog is white. The cat is, it says white.
    """,
    hall="The share of were, between 0 and 1? Bids. [0.93]",
)
def predict_keys(model, share_of_were):
    texts = ("The keys near the cat", "The key near the cats", "The keys near the cats", "The key near the cat")
    shares = [share_of_were(model.read(model.tokens(text))[0][0, -1]).item() for text in texts]
    names = ["keys … cat", "key … cats", "keys … cats", "key … cat"]
    return [
        Bars(names, values, colour="output", strong=0, top=1)
        for values in (unknown(4), [shares[0], *unknown(3)], shares)
    ]


@slide(
    "How does cat know that there were keys?",
    minutes=0.5,
    say="""
    Between cat and keys only attention moves anything. So in some block some head must have moved the plural. The arrow
    means attends to; what is moved goes the other way, from keys to cat.
    """,
    column=True,
)
def which_of_270():
    first = Sentence(["The", "keys", "near", "the", "cat"], inks={4: "query"}, arcs=[], says="were")
    return [first, first.but(arcs=[[4, 1, 0.5]], inks={4: "query", 1: "key"})]


@slide(
    "270 maps. How much does cat give to keys?",
    minutes=1.5,
    say="""
    Rows are queries, columns are keys: the last row, the column of keys. Exchanged, all are 0: nobody attends to
    what comes later. Then the picture: let them name the two darkest squares.
    """,
    hall="Who dictates it? [maps[:, :, -1, 1]]",
)
def your_weights():
    """Without a picture: its board or plot is shown."""


@slide(
    "One head off, each in turn. How many are missed?",
    minutes=2,
    say="""
    Fifteen give keys a weight above .2, and most bid near fifteen. Then the notebook's second map, of what is lost: one
    dark square. 28.7 attends with .39 and nothing is lost without it; 11.1 does not attend at all and is missed.
    """,
    hall="Of 270, how many change were by more than .05? Bids. [2]",
)
def predict_missed(whole, without):
    names = ["all heads", "not 28.7", "not 27.8", "not 11.1", "not 26.0"]
    shares = [whole, *(without[number, head] for number, head in ((28, 7), (27, 8), (11, 1), (26, 0)))]
    changed = (without - whole).abs() > 0.05
    first = Bars(
        names,
        [shares[0], *unknown(4)],
        colour="output",
        strong=0,
        top=1,
        words=False,
        caption="share of were; missed: it changes by more than .05",
    )
    inks = ["output", *("wrong" if abs(share - whole) > 0.05 else "output" for share in shares[1:])]
    return [
        first,
        first.but(
            values=shares,
            colour=inks,
            strong=None,
            caption=f"{changed.sum()} of 270 are missed",
        ),
    ]


@slide(
    "Both off, 26.0 and 27.8. What is left?",
    minutes=1.5,
    say="""
    First the one sentence, then the eighty: of plural subjects .90 are right, without the two .05. Without two
    others little changes: that is the control, and without it the claim would be worth little.
    """,
    hall="The share of were without both? Bids. [0.38]",
)
def predict_both(both, whole, without):
    names = ["all heads", "not 27.8", "not 26.0", "neither"]
    shares = [whole, without[27, 8], without[26, 0], both]
    return [
        Bars(names, values, colour="output", strong=3, top=1, words=False) for values in ([*shares[:3], None], shares)
    ]


@slide(
    "Two heads output the same as at cat. Share of were?",
    minutes=2,
    say="""
    Let them say first what each method can show: a map, turning off, an exchange. At shelf, 26.0 and 27.8 output
    what they output at cat in The keys near the cat. The book is one book, and the model says were, since two heads
    say so. With two other heads it stays at .02.
    """,
    hall="The book on the shelf, but 26.0 and 27.8 say what they said at cat: share of were? Bids. [0.88]",
)
def predict_told(model, shelf, share_of_were, told):
    unchanged = share_of_were(model.read(shelf)[0][0, -1]).item()
    return [
        Bars(
            ["as it is", "from keys … cat"],
            values,
            unit="",
            colour="output",
            strong=1,
            caption="The book on the shelf: share of were",
            lying=True,
            words=False,
            top=1,
        )
        for values in ([unchanged, None], [unchanged, told])
    ]


@slide(
    "Whose capital? Find the one head.",
    minutes=3.5,
    say="""
    A sentence from the hall first. Then the task: the capital of Germany. The darkest square of the grid is the
    answer: press it twice. The second darkest is a decoy. Then the board asks what is left: let the hall choose.
    Other cities come: the model still knows that a city must follow.
    """,
    hall="Which head? [23.4]",
)
def board_text():
    return on_board(text=GERMANY, hears=3, pair=[], out=[COUNTRY])


@slide(
    "Which of these can be wrong without an error?",
    minutes=1,
    say="Show the nine lines with c. One is wrong in all 30 blocks. Ask what can be wrong without an error: all six.",
    column=True,
)
def one_wrong_line():
    lines = [["scale", "softmax", "mask"], ["heads", "positions", "cache"]]
    return [Tiles(lines), Tiles([[[line, "wrong"] for line in row] for row in lines])]


@slide(
    "No mask at all. What is the loss?",
    minutes=1.5,
    say="""
    The healthy model has 3.36. Most bid higher. Then read its answer aloud: it repeats the question, word for
    word, since each piece sees the one that it is to predict.
    """,
    hall="The loss without a mask, where the healthy one has 3.36? Bids. [1.74]",
)
def predict_no_mask(healthy, unmasked):
    return [
        Bars(["healthy", "no mask"], values, unit="", colour="output", strong=1, words=False)
        for values in ([healthy, None], [healthy, unmasked])
    ]


@slide(
    "Two questions. Where is the wrong line?",
    minutes=2,
    say="""
    The prompt is read in one pass, each later word alone. Draw the table on the blackboard before you uncover it.
    """,
)
def two_questions():
    return Tiles(
        [["no fault, or\nnowhere", "cache"], ["pass", "numbers"]],
        columns=["goes on\nin English", "falls apart"],
        rows=["first piece right", "first piece wrong"],
    ).opened(0, 1, 2, 3, 4)


@slide(
    "Patient A speaks. Where is its wrong line?",
    minutes=1,
    say="""
    Uncover it word by word, and read it aloud. After the first word ask: is it right? At the end: did it go on in
    English? Then they vote, and only then comes the line.
    """,
    hall="Patient A: where is the line? numbers, pass, cache, or nowhere that a reader could tell? [cache]",
    choices="patient-a",
)
def predict_patient_a(PROMPT, says, PATIENTS, where, WRONG):
    _, wrong = WRONG[PATIENTS["A"]]
    return Spoken(PROMPT, says["A"][0]).uncovered(line=wrong, where=where["A"])


@slide(
    "Here is B's wrong line. In which part is it?",
    minutes=1,
    say="""
    The other way round: the line is known, and the hall says what it will do. One softmax for all queries: what is
    it for many queries, and for one? Then uncover the text. It speaks well, and its first word is wrong.
    """,
    hall="Patient B, one softmax for all queries: numbers, pass, cache, or nowhere? [pass]",
    choices="patient-b",
)
def predict_patient_b(PROMPT, says, PATIENTS, where, WRONG):
    _, wrong = WRONG[PATIENTS["B"]]
    first = Spoken(PROMPT, says["B"][0], line=wrong)
    return first.uncovered(line=wrong, where=where["B"])


@slide(
    "In winter the snow is … Which part is ill?",
    minutes=1,
    say="""
    The first row is what the healthy model writes. In pairs, half a minute: sort C to F
    into the table of the blackboard. Then one after the other, hands for each part. C repeats the whole list of heads:
    0, 1, 2, 0, 1, 2.
    """,
    hall="C, D, E, F: numbers, pass, cache, or nowhere? In pairs, then hands. [numbers, pass, cache, numbers]",
)
def diagnoses(says, where):
    words = {"healthy": 2, "C": 1, "D": 3, "E": 5, "F": 2}  # enough of each to be told, and no more to read
    texts = {}
    for who, many in words.items():
        begins, rest = says[who][1].split()[:many], says[who][1].split()[many:]
        texts[who] = " ".join([*begins, "…"] if rest else begins)
    return [
        Tiles(
            [
                [texts["healthy"], "–"],
                *([texts[who], [where[who], "output"] if k < told else "?"] for k, who in enumerate("CDEF")),
            ],
            rows=list(texts),
        )
        for told in range(len(texts))
    ]


@slide(
    "Which of these has no fault?",
    minutes=0.5,
    say="""
    Read all three aloud. Hands for the first, the second, the third. Two are alike, word for word, and the other
    is as good. Nobody in this hall can hear that RoPE turns with another base, or that a position stays free between
    the prompt and what is written.
    """,
    hall="In the morning, the sun …: which of the three has no fault? Hands. [the first]",
)
def nobody_hears(model, attend, faulty):
    attends = {
        "healthy": attend,
        "base 10,000": faulty("RoPE with base 10,000"),
        "too late": faulty("one position too late"),
    }
    texts = [model.write("In the morning, the sun", 6, one).strip() for one in attends.values()]
    return [
        Tiles([[text] for text in texts], columns=["… the sun …"], rows=rows) for rows in ([1, 2, 3], list(attends))
    ]


@slide(
    "Which test finds which of the two faults?",
    minutes=0.5,
    say="Each of the two tests sees one of the two faults, and is blind to the other.",
)
def two_tests(two_tests, model, faulty, paragraph):
    attends = {name: faulty(name) for name in ("RoPE with base 10,000", "one position too late")}
    rows = two_tests(model, attends, paragraph[:, :16]).values()
    return Tiles(
        [[[f"{one:.1f}", "output"] if one > 0.05 else f"{one:.1f}" for one in row] for row in rows],
        columns=["piece by piece", "other code"],
        rows=["base 10,000", "too late"],
    ).opened(0, 4)


@slide(
    "Bank has 576 numbers. What do they mean?",
    minutes=1,
    say="""
    Nobody says. But two heaps of sentences make two means, and two means make a line. Show notebook 1's first
    slide for a moment.
    """,
    column=True,
)
def bank():
    first = Points(["money", "water"], [-1, 1], strong=[])
    return [first, first.but(strong=[0, 1], caption="a line of our own")]


@slide(
    "Money −1, water +1. Where does a row stand?",
    minutes=1.5,
    say="Begin at the middle; a dot product; divided by the axis's product with itself. It is lesson 1's.",
    hall="Who dictates it? [(row - middle) @ axis / (axis @ axis)]",
    short=0,
)
def your_place():
    first = Points(["money", "middle", "water"], [-1, 0, 1], strong=[1], numbers=True)
    return [first, first.but(strong=[0, 1, 2])]


@slide(
    "We saw the hat and the bank. Where is bank?",
    minutes=1,
    say="""
    No river, no coins. Bids from −1 to 1; the ends are the two means. Then hat, tree and lake; the cell has ten words.
    Last: all heads off, −.72 beside river and beside coins alike.
    """,
    hall="The hat and the bank: from −1 to 1? Bids. [−0.48]",
)
def predict_hat(places):
    first = Points(["money", "water"], [-1, 1], strong=[], numbers=True, caption="hat ?")
    words = ["hat", "tree", "lake"]
    at = [-1, *(places[word] for word in words), 1]
    return [first, first.but(names=["money", *words, "water"], at=at, strong=[1, 2, 3], caption=None)]


@slide(
    "How does somebody notice a wrong line?",
    minutes=0.5,
    say="""
    First ask for the three methods and what each shows of a head. Then the four pictures: no error, a loss that even
    falls, the two questions, and the two tests that see what nobody hears.
    """,
)
def summary():
    return again(one_wrong_line, predict_no_mask, two_questions, two_tests)


@slide(
    "Four exercises, and five patients who speak",
    minutes=0,
    say="""
    13.1 is the one to grade. 13.2 in pairs: many who converted such a file forgot it. 13.4
    asks for the difference of two logits. The patients are for home: read first, then look for the line.
    """,
)
def exercises():
    return Tiles(
        [["a block's\nattention", "rows for\nneighbours", "four bits", "what a head\ncarries"]],
        columns=["13.1", "13.2", "13.3", "13.4"],
    )


@slide(
    "Eleven questions. Which lesson once more?",
    minutes=0,
    say="""
    For the last meeting: read them one by one, hands for each. After a wrong answer, write down the lesson.
    """,
)
def ten_questions():
    return Tiles(
        [
            ["1\nby hand", "2\nscaled", "3\nmasks", "4\nheads", "5\nPyTorch", "6\nbugs"],
            ["7\nlearning", "8\nplaces", "9\ntwo heads", "10\nmemory", "11\na GPT", "12\ntiles"],
        ],
        rows=["part one", "part two"],
    )
