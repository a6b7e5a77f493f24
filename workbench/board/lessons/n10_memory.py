"""The board of notebook 10."""

from .. import Board, Control, Input, Step, Task
from .. import operations as op

__all__ = ["cache_board"]

READ = ("I", "sit", "still", "till", "it", "is", "all", "lit")
STORED = ("head 0", "head 1", "head 2", "head 3")
CACHE_FAULTS = (  # operations.py knows their places
    "none",
    "top-left mask",
    "no mask once there is a cache",
    "positions start again",
    "heads repeated as a list",
    "window one too short",
)


def cache_board():
    """Eight tokens read in chunks with a cache: what is kept, how much, and what each fault of a cache breaks."""
    x = [
        [1.0, 0.5, -0.5, 1.0],
        [0.5, -1.0, 1.0, 0.5],
        [-1.0, 0.5, 0.5, -0.5],
        [1.0, 1.0, -1.0, 0.0],
        [0.0, -0.5, 1.0, 1.0],
        [-0.5, 1.0, 0.0, -1.0],
        [1.0, -1.0, 0.5, 0.5],
        [0.5, 0.5, -1.0, 1.0],
    ]
    inputs = {"X": Input(x, rows=READ, at=(1, 1), title="tokens X")}
    heads = {"heads": 4, "stored": "scheme"}
    read = {"tokens": 8, "read": "read", "window": "window"}
    steps = [
        Step("even", op.columns("X", step=2), hidden=True),
        Step("odd", op.columns("X", first=1, step=2), hidden=True),
        Step("minus odd", op.scale("odd", by=-1.0), hidden=True),
        Step("more to ask", op.beside("minus odd", "even"), hidden=True),
        Step("more to offer", op.beside("even", "odd"), hidden=True),
        Step("q", op.beside("X", "more to ask"), hidden=True, kind="query"),  # four heads of two numbers each
        Step("all k", op.beside("X", "more to offer"), hidden=True, kind="key"),
        Step("k", op.cut("all k", at=(2, "scheme"), part=0), hidden=True, kind="key"),
        Step("v", op.columns("k", step=2), title="values", hidden=True, kind="value"),  # the first number of each head
        Step("q turned", op.rotate("q", angle=ANGLE), hidden=True),
        Step("k turned", op.rotate("k", angle=ANGLE), hidden=True),
        Step("all hear", op.remembered(chunk=8, **read), hidden=True),
        Step(
            "full",
            op.shared_outputs("q turned", "k turned", "v", "all hear", **heads),
            "outputs without one",
            hidden=True,
        ),
    ]
    for name, chunk in (("", "chunk"), (", one by one", 1)):  # as it is set, and as it would be
        q, k, hears, out = f"q used{name}", f"k used{name}", f"hears{name}", f"out{name}"
        steps += [
            Step(f"q again{name}", op.rotate("q", angle=ANGLE, every=chunk), hidden=True),
            Step(f"k again{name}", op.rotate("k", angle=ANGLE, every=chunk), hidden=True),
            Step(q, op.choose(*_unless_again("q turned", f"q again{name}"), chosen="fault"), "queries", hidden=True),
            Step(k, op.choose(*_unless_again("k turned", f"k again{name}"), chosen="fault"), "keys", hidden=True),
            Step(hears, op.remembered(chunk=chunk, fault="fault", **read), hidden=True),
            Step(out, op.shared_outputs(q, k, "v", hears, fault="fault", **heads), "outputs with a cache", hidden=True),
            Step(f"differs{name}", op.apart(out, "full"), hidden=True),
            Step(f"differ{name}", op.transposed(f"differs{name}"), hidden=True),
            Step(f"most{name}", op.largest(f"differ{name}"), hidden=True),
        ]
    steps += [
        Step(
            "keys",
            op.kept("k used", read="read", window="window", fault="fault"),
            "keys that are kept",
            at=(2, 1),
            gap=2,
            parts=STORED,
            sparse=True,
        ),
        Step(
            "values",
            op.kept("v", read="read", window="window", fault="fault"),
            "values that are kept",
            at=(3, 1),
            gap=1,
            parts=STORED,
            sparse=True,
        ),
        Step(
            "off by",
            op.apart("out", "full", read="read"),
            "difference",
            kind="scores",
            at=(4, 1),
            sparse=True,
            wires=(),
        ),
        Step(
            "weights",
            op.shared_weights("q used", "k used", "hears", of="of", fault="fault", read="read", **heads),
            "weights in each head",
            at=(2, 2),
            rows=("0", "1", "2", "3"),
            columns=READ,
            kind="weights",
            sparse=True,
        ),
        Step(
            "stored",
            op.amount("keys", "values"),
            "numbers stored",
            kind="scores",
            rows=(),
            at=(3, 2),
            wires=("values",),
        ),
    ]
    controls = [
        Control("read", "Tokens read", tuple(range(1, 9)), 4, slider=True),
        Control("chunk", "At a time", ("one", "two", "four"), numbers=(1, 2, 4)),
        Control("scheme", "Scheme", ("MHA, 4 stored", "GQA, 2 stored", "MQA, 1 stored"), numbers=(4, 2, 1)),
        Control("window", "Window", tuple(range(2, 9)), 8, slider=True),
        Control("of", "Weights of", READ, READ[2]),
        Control("fault", "Fault", CACHE_FAULTS),
    ]
    task = Task(
        "Find the fault that nobody notices as long as tokens come one by one, and make it show.",
        (("at_least", "fault", 1), ("below", "most, one by one", 0, 0, 1e-9), ("above", "most", 0, 0, 0.05)),
        why="Why is it silent with single tokens?",
        answers=(
            "The first token of a text has nobody before it",
            "A single new token is the newest: it may hear all that is there, with a mask or without",
            "With single tokens nothing is kept",
        ),
        right=1,
        because="Two that come together need a mask between them: the first may not hear the second.",
    )
    tries = {
        "share one stored head among all": {"scheme": "MQA, 1 stored"},
        "keep a window of three": {"window": 3},
        "count positions from 0 in each chunk": {"fault": "positions start again"},
    }
    return Board(inputs, steps, controls, task, "Writing with a memory", tries=tries)


ANGLE = 40  # degrees a position, of the RoPE of cache_board


def _unless_again(usual, wrong):
    """Names to choose from by the menu of faults."""
    return [wrong if fault == "positions start again" else usual for fault in CACHE_FAULTS]
