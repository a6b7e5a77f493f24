"""The board of notebook 11."""

from .. import Task
from ..grammar import Grammar
from ..story import StoryBoard

__all__ = ["Grammar", "story_board"]

LOST = "ann had two keys and a hat . then she lost the keys . she asked bob : where are my"
KISSED = (
    "ann had a hat and two keys . then she lost the hat . she asked bob : where is my hat ? bob said : it is in the box"
    " . ann found her hat in the box . she kissed bob because"
)
START = "ann had two keys and a hat . but the keys near the cat"
TRIES = {
    "where are my": {"text": LOST},
    "why she kissed bob": {"text": f"{KISSED} she"},
    "two girls": {"text": f"{KISSED} she".replace("bob", "eve")},
    "no story": {"text": "the keys near the cat"},
    "nothing": {"text": ""},
    "at temperature 1.6": {"text": "one day", "temperature": 1.6},
}
BECAUSE = Task(
    "Press *why she kissed bob*, and change one word so that the model says *had* in place of *was*.",
    (("one_word_off", f"{KISSED} she"), ("says", "had", 0.9), ("all_heads",)),
    why="Why *had*?",
    answers=(
        "the model has read this story before",
        "*he* is bob, and the one who is kissed had helped",
        "in every story the word after *he* is *had*",
    ),
    right=1,
    because="*She* is ann, who was glad; *he* is bob, who had helped. With *two girls* nobody can know it.",
)


def story_board(model, vocabulary, text=None, tries=None, task=None, judge=None):
    """A board on which a small GPT goes on with any text of its vocabulary; with lesson 11's words, lesson 11's tries.

    model, vocabulary: as `StoryBoard` takes them; text: words to start from; tries: phrase → what it sets; task: a
    `Task`; judge: the `Grammar` that texts are judged by. What of these is not given is the lesson's, as far as the
    vocabulary has its words; of another language a text begins as its grammar's stories do.
    """
    knows = set(vocabulary).issuperset
    if text is None:
        text = START if knows(START.split()) else judge.begins() if judge else ""
    if tries is None:
        tries = {phrase: sets for phrase, sets in TRIES.items() if knows(sets["text"].split())}
    if task is None and knows(KISSED.split()) and knows(["had", "she"]):
        task = BECAUSE
    return StoryBoard(model, vocabulary, text, tries, task, judge)
