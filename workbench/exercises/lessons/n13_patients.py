"""The patients of notebook 13, who speak: each a block with one line of its own, and what the model writes with it.

The transcripts are saved; tests/workbench/exercises/clinic/test_speakers.py has the model begin them where it is
there.
"""

from workbench.smollm.model import CHAT

from ..clinic.fault_names import HEALTHY
from ..clinic.speaker import HEARD, patients, speaker

__all__ = ["HEARD", "SPEAKERS"]

FRANCE, MORNING, ITALY = "The capital city of France is", "In the morning, the sun", "What is the capital of Italy?"
PROMPTS = {FRANCE: FRANCE, MORNING: MORNING, ITALY: CHAT.format(ITALY)}  # as it is shown → as it is read
LISTEN = "Ask two questions: is the first piece right? Does the text go on in English? Then look at `HEARD`."


@speaker(
    "13.5",
    heard="pass",
    line=("merge_heads(output)", "output.reshape(x.shape)"),
    also=(17,),
    says={
        FRANCE: " a place where people can find a place to stay, a place where people can find a place to",
        MORNING: '" is a common idiomatic expression that means "to the end of the day" or "to',
        ITALY: "\nThe company's own company, which is a non-profit organization, has been accused of using",
    },
    section="13#one-wrong-line",
    hints=[
        LISTEN,
        "The prompt is read in one pass, with many queries at once; each later word is read alone. Which line can be "
        "wrong for several queries and right for one?",
        "Look at how the heads are put side by side again. What is the shape of `output`, and what does `reshape` read "
        "first?",
    ],
)
def merged_without_transpose():
    """The heads are merged without being transposed.

    `reshape` reads (batch, heads, n, head_dim) head by head, so the row of a token gets numbers of other tokens. With a
    single query nothing can be mixed: from the second word on the model is healthy, with a prompt that it never
    understood. It writes well, but nothing that fits the prompt.
    """


@speaker(
    "13.6",
    heard="cache",
    line=(
        "causal_mask(query.size(2), key.size(2))",
        "torch.ones(query.size(2), key.size(2), dtype=torch.bool).tril()",
    ),
    also=(16,),
    says={
        FRANCE: " Paris and,,,,,,,,,,,,,,,,,,",
        MORNING: " rises to,,,,,,,,,,,,,,,,,,",
        ITALY: "The-------------------",
    },
    section="13#one-wrong-line",
    hints=[
        LISTEN,
        "The first word comes from a pass without a cache, the others from passes of one query with all that is kept. "
        "Which line is right for as many queries as keys, and for no other number?",
        "Print the mask for one query and five keys. To which keys may the newest token attend?",
    ],
)
def mask_at_the_upper_left():
    """The mask lies at the upper left: with a cache the newest token attends to the first token only.

    `tril` counts from the upper left corner. For as many queries as keys that is right, so the prompt is understood and
    the first word is right. A single query is taken for the first one of the text.
    """


@speaker(
    "13.7",
    heard=HEALTHY,
    line=("0 if cache is None else cache[0].size(2)", "100 if cache is None else 100 + cache[0].size(2)"),
    says={
        FRANCE: " Paris.\n\nThe United States has a population of approximately 311 million people.\n",
        MORNING: " rises, casting a golden glow over the city. The sound of the city's bustling streets fills the",
        ITALY: "The capital of Italy is Rome.",
    },
    section="13#one-wrong-line",
    hints=[
        LISTEN,
        'A line looks odd. Before you mend it, ask the two tests: `SPEAKERS["13.7"].tests()`.',
        "On what does the score of a query and a key depend after both were turned: on their positions, or on the "
        "distance between them?",
    ],
)
def a_hundred_places_on():
    """Nothing is wrong: all positions are counted from 100.

    After the turn a score depends on the distance of query and key alone. If both move by a hundred places, no score
    changes, and the model writes the same text, word for word. What looks odd need not be wrong, and a test tells.
    """


@speaker(
    "13.8",
    heard="numbers",
    line=("math.sqrt(query.size(-1))", "query.size(-1)"),
    says={
        FRANCE: "_--_ the more than the more than the more.--_Thet.-",
        MORNING: ",-_ the Wincook.-------------",
        ITALY: "____ wishearts\n\n___________",
    },
    section="13#one-wrong-line",
    hints=[
        LISTEN,
        "Every pass is wrong, that over the prompt and those of one word. So the line has nothing to do with the "
        "number of queries, nor with what is kept.",
        "By what are the scores divided, and by what did you divide them in notebook 2?",
    ],
)
def divided_by_the_features():
    """Scores are divided by head_dim, and not by its root.

    All scores are eight times too small, so each head gives all tokens nearly the same weight, in every block and at
    every word. What the model then writes is hardly language.
    """


@speaker(
    "13.9",
    heard="nowhere",
    line=("0 if cache is None else cache[0].size(2)", "0 if cache is None else cache[0].size(2) - 1"),
    also=(8,),
    says={
        FRANCE: " Paris.\n\nThe United States has a population of approximately 311 million people.\n",
        MORNING: " rises with a gentle glow, illuminating the delicate petals of the rose. "
        "The scent of lavender and cham",
        ITALY: "The capital of Italy is Rome.",
    },
    section="13#one-wrong-line",
    hints=[
        LISTEN,
        'No reader notices it. Run the two tests: `SPEAKERS["13.9"].tests()`. Which of the two numbers is large, and '
        "what is special about the calls of this test?",
        "Read one prompt, then one word: which position does the new word get, and which had the last one?",
    ],
)
def one_place_too_early():
    """With a cache, new tokens get the position of the token before them.

    The first new token has the same position as the last of the prompt, and all later ones are one too early as well.
    Among themselves they are right, and so is the prompt: one position is used twice, and the model writes on as if
    nothing had happened. Reading one by one and in one pass differ, and nothing else tells.
    """


SPEAKERS = patients()
