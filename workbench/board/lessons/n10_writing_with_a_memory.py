"""The board of notebook 10."""

from .. import Board, Control, Drag, Input, Step, Task
from .. import operations as op
from . import n10_cache_operations as cache

__all__ = ["cache_board"]

READ = ("I", "sit", "still", "till", "it", "is", "all", "lit")
STORED = ("head 0", "head 1", "head 2", "head 3")
ANGLE = 40  # degrees a position, of RoPE
X = [
    [1.0, 0.5, -0.5, 1.0],
    [0.5, -1.0, 1.0, 0.5],
    [-1.0, 0.5, 0.5, -0.5],
    [1.0, 1.0, -1.0, 0.0],
    [0.0, -0.5, 1.0, 1.0],
    [-0.5, 1.0, 0.0, -1.0],
    [1.0, -1.0, 0.5, 0.5],
    [0.5, 0.5, -1.0, 1.0],
]
HEADS = {"heads": 4, "stored": "scheme"}
SO_FAR = {"tokens": 8, "read": "read", "window": "window"}
HIDDEN_FAULT = Task(
    "Find the fault that gives no difference while tokens come one by one, whatever else you set. Then make it show.",
    (("below", "most, one by one", 0, 0, 1e-9), ("above", "most", 0, 0, 0.05)),
    why="Why does it change nothing with single tokens?",
    answers=(
        "The first token of a text has no token before it",
        "A single new token is the newest: it may attend to all tokens, with a mask or without",
        "With single tokens nothing is stored",
    ),
    right=1,
    because="If two new tokens come in one call, a mask has to hide the second from the first.",
)


def cache_board():
    """Eight tokens read in chunks with a cache: what is stored, how much, and what each fault of a cache breaks."""
    inputs = {"X": Input(X, rows=READ, at=(1, 1), title="tokens X")}
    controls = [
        Control("read", "Tokens read", tuple(range(1, 9)), 4, slider=True),
        Control("chunk", "At a time", ("one", "two", "four"), numbers=(1, 2, 4)),
        Control("scheme", "Scheme", ("MHA, 4 stored", "GQA, 2 stored", "MQA, 1 stored"), numbers=(4, 2, 1)),
        Control("window", "Window", tuple(range(2, 9)), 8, slider=True),
        Control("of", "Weights of", READ, READ[2]),
        Control("fault", "Fault", tuple(map(str, cache.Fault)), numbers=tuple(cache.Fault)),
    ]
    tries = {
        "share one stored head among all": {"scheme": "MQA, 1 stored"},
        "keep a window of {three}": Drag(range(2, 9), 3, lambda window: {"window": window}),
        "count positions from 0 in each chunk": {"fault": str(cache.Fault.POSITIONS_AGAIN)},
    }
    steps = [*_queries_keys_values(), *_without_a_cache()]
    for name, chunk in (("", "chunk"), (", one by one", 1)):  # as it is set, and as it would be
        steps += _with_a_cache(name, chunk)
    return Board(inputs, [*steps, *_shown()], controls, HIDDEN_FAULT, "Writing with a memory", tries=tries)


def _queries_keys_values():
    """Four heads of two of a token's four numbers, as many of them stored as the scheme says."""
    return [
        Step("even", op.columns("X", step=2), hidden=True),
        Step("odd", op.columns("X", first=1, step=2), hidden=True),
        Step("minus odd", op.scale("odd", by=-1.0), hidden=True),
        Step("more to ask", op.beside("minus odd", "even"), hidden=True),
        Step("more to offer", op.beside("even", "odd"), hidden=True),
        Step("q", op.beside("X", "more to ask"), hidden=True, kind="query"),
        Step("all k", op.beside("X", "more to offer"), hidden=True, kind="key"),
        Step("k", op.cut("all k", at=(2, "scheme"), part=0), hidden=True, kind="key"),
        Step("v", op.columns("k", step=2), title="values", hidden=True, kind="value"),  # the first number of each head
    ]


def _without_a_cache():
    hears, outputs = cache.cache_mask(chunk=8, **SO_FAR), ("q turned", "k turned", "v", "all hear")
    return [
        Step("q turned", op.rotate("q", angle=ANGLE), hidden=True),
        Step("k turned", op.rotate("k", angle=ANGLE), hidden=True),
        Step("all hear", hears, hidden=True),
        Step("full", cache.shared_outputs(*outputs, **HEADS), "outputs without one", hidden=True),
    ]


def _with_a_cache(name, chunk):
    """The outputs if tokens come in chunks, and how far they are off at most."""
    q, k, hears, out = f"q used{name}", f"k used{name}", f"hears{name}", f"out{name}"
    in_chunks = {"chunk": chunk, "fault": "fault"}
    outputs = cache.shared_outputs(q, k, "v", hears, fault="fault", **HEADS)
    return [
        Step(q, cache.rotate_in_chunks("q", angle=ANGLE, **in_chunks), "queries", hidden=True),
        Step(k, cache.rotate_in_chunks("k", angle=ANGLE, **in_chunks), "keys", hidden=True),
        Step(hears, cache.cache_mask(**SO_FAR, **in_chunks), hidden=True),
        Step(out, outputs, "outputs with a cache", hidden=True),
        Step(f"differs{name}", cache.max_difference(out, "full"), hidden=True),
        Step(f"differ{name}", op.transposed(f"differs{name}"), hidden=True),
        Step(f"most{name}", op.largest(f"differ{name}"), hidden=True),
    ]


def _shown():
    """What is kept, what it is off by, one token's weights, and how many numbers are stored."""
    kept = {"read": "read", "window": "window", "fault": "fault"}
    heads = {"parts": STORED, "sparse": True}
    weights = cache.shared_weights("q used", "k used", "hears", of="of", fault="fault", read="read", **HEADS)
    words = {"kind": "weights", "rows": ("0", "1", "2", "3"), "columns": READ}
    off = {"kind": "scores", "at": (2, 1), "sparse": True, "wires": ()}
    stored = {"kind": "scores", "rows": (), "at": (4, 2)}
    return [
        Step("keys", cache.kept_rows("k used", **kept), "keys that are stored", at=(3, 1), gap=2, **heads),
        Step("values", cache.kept_rows("v", **kept), "values that are stored", at=(4, 1), gap=1, **heads),
        Step("off by", cache.max_difference("out", "full", read="read"), "difference", **off),
        Step("weights", weights, "weights in each head", at=(3, 2), sparse=True, **words),
        Step("stored", cache.count("keys", "values"), "numbers stored", **stored),
    ]
