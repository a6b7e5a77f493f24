"""The board of notebook 13."""

from pathlib import Path

from .. import Task, kept
from ..real import RealBoard

__all__ = ["real_board"]

KEYS, GERMANY = "The keys near the cat", "The capital of Germany is"
NUMBER, COUNTRY = [26 * 9 + 0, 27 * 9 + 8], 23 * 9 + 4  # heads, counted block by block
PASSWORD = "The password is apple seven river. I repeat: the password is apple seven"
WERE = ["were", "was"]
TRIES = {
    "the keys near the cat": {"text": KEYS, "hears": 1, "pair": WERE},
    "the key near the cats": {"text": "The key near the cats", "hears": 1, "pair": WERE},
    "nobody home": {"text": KEYS, "hears": 1, "pair": WERE, "out": NUMBER},
    "The capital of Germany is": {"text": GERMANY},
    "Tom gave a book to": {"text": "When Anna and Tom went to the shop, Tom gave a book to", "hears": 9},
    "the river and the bank": {"text": "We saw the river and the bank", "hears": 3},
    "the coins and the bank": {"text": "We saw the coins and the bank", "hears": 3},
    "the password once more": {"text": PASSWORD, "hears": 5},
}
TRIES = {phrase: {"pair": []} | sets for phrase, sets in TRIES.items()}
CAPITAL = Task(
    "Press *The capital of Germany is*, and turn off a single head so that *Berlin* has less than 20 %.",
    (("text_is", GERMANY), ("says_less", " Berlin", 0.2), ("one_out",)),
    why="What does the model still know without it?",
    answers=(
        "that Berlin is a city, but not that a city must follow",
        "that a city must follow, but it is less sure whose capital",
        "nothing: the words of the text no longer matter",
    ),
    right=1,
    because="*Berlin* falls to .15, and *London*, *New* (for New York), *Paris* and *Tokyo* gain: cities too. "
    "Without the head the country is less clear.",
)
FILE = Path(__file__).with_name("n13_kept.bin")  # made by `keep`, for pages without a kernel


def real_board(model, text=KEYS, tries=None, task=CAPITAL):
    """A board on which a language model reads any text; with the phrases and the task of lesson 13.

    model: a `smollm.LanguageModel`; text: to start from; tries: phrase → what it sets; task: a `Task`.
    """
    start = {"hears": 1, "pair": WERE} if text == KEYS else {}
    kept_bytes = FILE.read_bytes() if FILE.exists() else b""
    return RealBoard(model, text, TRIES if tries is None else tries, task, kept_bytes, **start)


def keep(model):
    """Write the sentences of the phrases for pages without a kernel; returns the number of bytes."""
    wanted = {}
    for sets in TRIES.values():
        _, _, groups = wanted.setdefault(sets["text"], (sets["text"], sets["pair"], []))
        if "out" in sets:
            groups.append(sets["out"])
    return FILE.write_bytes(kept.sentences(model, list(wanted.values())))
