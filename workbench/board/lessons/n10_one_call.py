"""The second board of notebook 10: what one call of a large model costs, and why."""

from .. import Board, Control, Drag, Step, Task
from .. import operations as op
from . import n10_call_operations as call

__all__ = ["one_call_board"]

ROWS = ("reading", "multiplying")
WITH_32 = ("times as long", "GB in memory")
LENGTHS = ("1,000", "4,000", "16,000", "64,000")
NEW = ("1", "2", "4", "8", "16", "64", "256", "1,000")
TOGETHER = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SHARED_HEADS = Task(
    "One stored head instead of 32 hardly changes the call at the start. Find a setting in which the call with 32 "
    "stored heads takes more than three times as long, and everything still fits into a card of 80 GB.",
    (("above", "slower", 0, 0, 3), ("below", "in memory", 0, 0, 80)),
    why="Why does one stored head make the call faster only there?",
    answers=(
        "With one stored head the card does a 32nd of the multiplications",
        "All weights are read in any case: sharing saves much time only where the caches are large, too",
        "A short text has too few tokens for 32 heads",
    ),
    right=1,
    because="With short texts the card reads little except the weights, and sharing heads makes the weights only "
    "a little smaller (here they count as equally large).",
)


def one_call_board():
    """What one call reads and multiplies, as bars of milliseconds: the longer bar is how long the call takes."""
    controls = [
        Control("prompt", "Tokens in the cache", LENGTHS, "4,000", slider=True, numbers=(1000, 4000, 16_000, 64_000)),
        Control("texts", "Texts at once", TOGETHER, 1, slider=True),
        Control("tokens", "New tokens of each", NEW, "1", slider=True, numbers=(1, 2, 4, 8, 16, 64, 256, 1000)),
        Control("stored", "Stored heads", (32, 8, 1), 32),
        Control("window", "Window", ("none", "4,096", "1,024"), numbers=(1_000_000, 4096, 1024)),
        Control("bits", "Bits of a stored number", (16, 8, 4), 16),
    ]
    tries = {
        "write one token after {16,000}": Drag(LENGTHS, "16,000", lambda length: {"prompt": length}),
        "check a draft of four": {"tokens": "4"},
        "read 1,000 tokens in one call": {"prompt": "1,000", "tokens": "1,000"},
        "write 64 texts at once": {"texts": 64, "stored": 8},
    }
    return Board({}, _steps(), controls, SHARED_HEADS, "One token: what is read, what is multiplied", tries=tries)


def _steps():
    lengths = {"prompt": "prompt", "texts": "texts", "window": "window"}
    parts = ("weights", "cache")
    read, with_32 = (call.bytes_read(**lengths, stored=stored, bits="bits") for stored in ("stored", 32))
    made = call.products_made(**lengths, tokens="tokens")
    for_each = op.scale("call", powers={"texts": -1, "tokens": -1})
    return [
        Step("read", read, "read, GB", kind="key", columns=parts, at=(1, 1)),
        Step("made", made, "multiplied, billions", kind="query", columns=parts, at=(1, 2)),
        Step("read by 32", with_32, hidden=True),
        Step("times", call.milliseconds("read", "made"), kind="scores", rows=ROWS, columns=parts, hidden=True),
        Step("times of 32", call.milliseconds("read by 32", "made"), hidden=True),
        Step("bars", op.bars("times"), "milliseconds: the longer bar is how long the call takes", at=(2, 1, 2)),
        Step("call", call.longer("times"), hidden=True),
        Step(
            "each", for_each, "for each new token, ms", kind="output", rows=(), columns=(), at=(3, 1), wires=("bars",)
        ),
        Step("call of 32", call.longer("times of 32"), hidden=True),
        Step("slower", op.divide("call of 32", "call"), hidden=True),
        Step("in memory", op.total("read by 32"), hidden=True),
        Step("with 32", op.beside("slower", "in memory"), "with 32 stored heads", columns=WITH_32, at=(3, 2), wires=()),
    ]
