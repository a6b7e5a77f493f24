"""RealBoard: a sentence that a language model reads in Python, all its heads, and the next piece."""

import html
import json
import re
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
import traitlets

from attn_lib import Cache, causal_mask, merge_heads, rotary, scaled_dot_product_attention, share_heads

from ..smollm import heads
from . import modules
from .kept import in_units
from .kept import texts as kept_texts
from .live import PAGE, STYLE, LiveBoard

SHOWN = 6  # bars
MOST = 40  # pieces of a text: 270 maps of them are 220 KB
READINGS = 24  # texts that are read once only
VIEWS = "heard", "missed"

CONDITIONS: dict[str, Callable] = {  # (board as it stands) → bool; the page has the same in real/conditions.js
    "says_less": lambda board, piece, most: board.shares.get(piece, 0.0) < most,
    "one_out": lambda board: len(board.settings["out"]) == 1,
    "text_is": lambda board, text: board.text == text,
}


class Reading(NamedTuple):
    """What a model makes of a text: `spans`, begin and end of each piece in it, `shares` of all pieces as the next one,
    `maps` (blocks · heads, n, n), the numbers of the pieces, and what is kept to read on."""

    spans: list
    shares: torch.Tensor
    maps: torch.Tensor
    numbers: list
    caches: list | None


class RealBoard(LiveBoard):
    """A text, piece by piece; whom each head of each block attends to; the next piece, and what it is without heads.

    model: a `smollm.LanguageModel`; text: to start from; tries: phrase → what it sets (text; asks and hears, two
    places; head, the one that is shown; out, those that are out; shows, "heard" or "missed"; word, the piece whose
    loss is shown; pair, two words that are compared); start: what of these is set at first; task: a `Task`; kept:
    sentences for pages without a kernel, as `kept.sentences` makes them.
    The page asks, and Python answers: a page has no room for 134 million numbers.
    Read back what stands there with `text`, `shares`, `maps` and `settings`.
    """

    _esm = modules.joined(PAGE / "real" / "page.js")
    _css = STYLE

    progress = traitlets.Float(0.0).tag(sync=True)  # of all heads, how many have been taken out, 0 to 1

    def __init__(self, model, text="", tries=None, task=None, kept=b"", title="A sentence and its heads", **start):
        self.title, self._task, self._model = title, task, model
        self._readings = {}  # (text, heads that are out) → Reading
        self._asked = None  # the text that a page said, if there was no room for all of it
        self._losses, self._losses_of = None, None  # what comes next without each head, and in which text
        self._start = {"text": text}
        self._now = dict(self._start)
        self._settings = {"asks": -1, "hears": -1, "head": -1, "out": [], "shows": VIEWS[0]}
        self._settings |= {"word": "", "pair": []} | start
        self._begin(tries, {"maps": b"", "missed": b"", "kept": kept}, texts=kept_texts(kept))
        self.reply = self.reply | self._for_the_page()

    # ------------------------------------------------------------------------------------------------- read back

    @property
    def text(self):
        """The text that stands there."""
        return self._now["text"]

    @property
    def shares(self):
        """Piece → share of the next place, of the pieces that the page shows."""
        return {piece: share for piece, share, _ in self._next()}

    @property
    def maps(self):
        """What each place attends to: (heads of all blocks, places, places)."""
        return self._reading.maps.clone()

    # -------------------------------------------------------------------------------------------- hear and judge

    def _with(self, values):
        state = self._as_state(self._revision + 1)
        if "text" in values:
            state["settings"] |= {"asks": -1, "hears": -1, "word": ""}
        for name, value in values.items():
            if name not in ("text", *self._settings):
                raise ValueError(f"{name!r} is nothing that is set here; there are {['text', *self._settings]}")
            state["inputs" if name == "text" else "settings"][name] = value
        return state

    def _read(self, state):
        text, settings = state["inputs"]["text"], state["settings"]
        read = {name: settings[name] for name in self._settings}
        if not isinstance(text, str):
            raise ValueError(f"the text cannot be {str(text)[:20]}")
        n = len(self._model.pieces.encode(text))
        if n > MOST:
            raise ValueError(f"the board has room for {MOST} pieces, this text has {n}")
        may = {"asks": range(-1, MOST), "hears": range(-1, MOST), "head": range(-1, self._count)}
        for name, among in may.items():
            if type(read[name]) is not int or read[name] not in among:
                raise ValueError(f"{name} cannot be {str(read[name])[:20]}")
        for name in ("asks", "hears"):  # a page cannot know how many pieces a text has that it has just made
            read[name] = read[name] if read[name] < n else -1
        if not all(type(head) is int and head in range(self._count) for head in read["out"]):
            raise ValueError(f"no such heads: {str(read['out'])[:20]}")
        if read["shows"] not in VIEWS or not isinstance(read["word"], str):
            raise ValueError(f"shows and word cannot be {str([read['shows'], read['word']])[:40]}")
        if len(read["pair"]) not in (0, 2):
            raise ValueError(f"a pair cannot be {str(read['pair'])[:40]}")
        for word in read["pair"]:
            self._model.piece(f" {word}")  # ValueError where it is several
        return {"text": text}, read

    def _take(self, message):
        self._asked = None
        text = message["inputs"]["text"]
        if not isinstance(text, str) or (begun := beginning(self._model.pieces, text)) == text:
            return super()._take(message)
        problem = super()._take({**message, "inputs": {"text": begun}})
        self._asked, self._listens = text, False
        self.state = self._as_state(self._revision)  # a page that is loaded anew starts there
        self._listens = True
        return problem

    @property
    def _count(self):
        return self._model.sizes.blocks * self._model.sizes.heads

    def _compute(self):
        out = tuple(self._settings["out"])
        self._reading, self._whole = self._reading_of(self.text, out), self._reading_of(self.text, ())
        if self._settings["shows"] == "missed" and self._reading.spans and self._losses_of != self.text:
            self._losses = without_each(self._model, self.text, self._tell_progress)
            self._losses_of = self.text
        holds = self._task and all(CONDITIONS[kind](self, *rest) for kind, *rest in self._task.conditions)
        self._reached = self._reached or bool(holds)
        return ""

    def _reading_of(self, text, out):
        if (text, out) not in self._readings:
            begun = [one for (_, silent), one in self._readings.items() if silent == out]
            self._readings[text, out] = reading_of(
                self._model, text, [divmod(head, self._heads) for head in out], begun
            )
            if len(self._readings) > READINGS:
                self._readings.pop(next(iter(self._readings)))
        return self._readings[text, out]

    @property
    def _heads(self):
        return self._model.sizes.heads

    def _tell_progress(self, share):
        self.progress = share

    # ------------------------------------------------------------------------------------------------- describe

    def _next(self):
        """The pieces that come next, likeliest first: piece, its share, and its share with all heads."""
        if not self._reading.spans:
            return []
        now, whole = self._reading.shares, self._whole.shares
        numbers = dict.fromkeys(number for shares in (now, whole) for number in shares.topk(SHOWN).indices.tolist())
        rows = [(self._model.pieces.decode([k]), now[k].item(), whole[k].item()) for k in numbers]
        return sorted(rows, key=lambda row: -row[1])

    def _for_the_page(self):
        """What the page draws of the state that it asked for; what has many numbers is in `frames`."""
        rows, pair = self._next(), self._pair() if self._reading.spans else []
        missed = b""
        if self._losses_of == self.text:  # (heads of all blocks, rows, and the pair)
            shares = self._losses[:, [self._model.pieces.encode(piece)[0] for piece, *_ in rows]]
            of_two = [of_pair(self._losses, pair).unsqueeze(1)] if pair else []
            missed = torch.cat([shares, *of_two], dim=1).numpy().tobytes()
        self.frames = self.frames | {"maps": packed(self._reading.maps), "missed": missed}
        said = {"text": self.text, "asked": self._asked, "out": self._settings["out"]}
        said |= {"pieces": self._reading.spans, "next": rows}
        shares = [of_pair(seen.shares, pair).item() for seen in (self._reading, self._whole)] if pair else []
        return {"reading": said | {"pair": [*self._settings["pair"], *shares]}}

    def _pair(self):
        return [self._model.piece(f" {word}") for word in self._settings["pair"]]

    def _describe(self, texts):
        described = {"kind": "real", "heading": self.title, "tries": self.tries, "most": MOST, "texts": texts}
        described |= {"blocks": self._model.sizes.blocks, "heads": self._heads}
        task = ("text", "conditions", "why", "answers", "right", "because")
        described["task"] = self._task and {name: getattr(self._task, name) for name in task}
        described["start"] = {"inputs": self._start, "settings": self._start_settings}
        return json.loads(json.dumps(described))

    def __repr__(self):
        return f"{self.title}: {self.text}"

    def tables(self, words="run the cell to change these words."):
        """The text, and the likeliest next pieces with their shares."""
        likely = "".join(
            f"<tr><td>{html.escape(piece)}</td><td>{share:.2f}</td></tr>" for piece, share, _ in self._next()[:SHOWN]
        )
        return (
            f"<div><p>{html.escape(self.title)}: {words}</p><p><em>{html.escape(self.text)} …</em></p>"
            f"<table><tr><th>next piece</th><th>share</th></tr>{likely}</table></div>"
        )


# ------------------------------------------------------------------------------------------------- what is computed


def reading_of(model, text, out=(), begun=()):
    """Read a text while these heads, (block, head), say nothing: a `Reading`.

    begun: readings of other texts without the same heads; where one is the beginning of this text, it is read on.
    """
    numbers = model.pieces.encode(text)
    if not numbers:
        return Reading([], torch.zeros(0), torch.zeros(0, 0, 0), [], None)
    known = [one for one in begun if one.numbers and numbers[: len(one.numbers)] == one.numbers != numbers]
    before = max(known, key=lambda one: len(one.numbers), default=None)
    seen = len(before.numbers) if before else 0
    rows_of_maps = []  # of each block, for the new tokens

    def attend(query, key, value, cache, base):
        output, weights, cache = _attention(query, key, value, cache, base)
        for block, head in out:
            if block == len(rows_of_maps):  # blocks come one after the other
                output[:, head] = 0
        rows_of_maps.append(weights[0])
        return merge_heads(output), cache

    rows, caches = model.rows(torch.tensor([numbers[seen:]]), before and before.caches, attend)
    new = torch.cat(rows_of_maps)  # (blocks · heads, new, n)
    maps = torch.cat([F.pad(before.maps, (0, len(numbers) - seen)), new], dim=1) if before else new
    shares = model.logits(rows[0, -1]).softmax(dim=-1)
    return Reading(spans_of(model.pieces, text), shares, maps, numbers, caches)


def _attention(query, key, value, cache, base):
    """As attn_lib's cached_attention, with the weights, which a board draws."""
    seen = 0 if cache is None else cache.seen
    query, key = rotary(query, seen, base=base), rotary(key, seen, base=base)
    if cache is not None:
        key, value = torch.cat([cache.keys, key], dim=2), torch.cat([cache.values, value], dim=2)
    groups, mask = query.size(1) // key.size(1), causal_mask(query.size(2), key.size(2))
    output, weights = scaled_dot_product_attention(query, share_heads(key, groups), share_heads(value, groups), mask)
    return output, weights, Cache(key, value, seen + query.size(2))


def without_each(model, text, tell=lambda share: None):
    """Shares of all pieces as the next one, without each head: (heads of all blocks, vocabulary); tell(share done)."""
    blocks, in_block = model.sizes.blocks, model.sizes.heads
    shares = torch.empty(blocks * in_block, len(model.pieces.words))  # 53 MB, once
    for done, (number, logits) in enumerate(heads.without_each(model, model.tokens(text)), start=1):
        shares[number * in_block : (number + 1) * in_block] = logits.softmax(dim=-1)
        tell(done / blocks)
    return shares


def of_pair(shares, pair):
    """What the first of two pieces has of their shares together."""
    one, other = (shares[..., number] for number in pair)
    return one / (one + other)


def spans_of(pieces, text):
    """Where each piece begins and ends in a text, counted as JavaScript counts; one that is part of a sign has none."""
    numbers, ends = pieces.encode(text), []
    for k in range(1, len(numbers) + 1):
        begun = pieces.decode(numbers[:k])
        while not text.startswith(begun):
            begun = begun[:-1]  # a sign of which the rest comes with the next piece
        ends.append(len(begun.encode("utf-16-le", "surrogatepass")) // 2)
    return [list(span) for span in zip([0, *ends[:-1]], ends, strict=True)] if ends else []


def beginning(pieces, text):
    """As much of a text as the board has room for; it ends between two words, if it has several."""
    numbers = pieces.encode(text)
    if len(numbers) <= MOST:
        return text
    begun = text[: len(pieces.decode(numbers[:MOST]))]
    words = re.match(r"(.*\S)\s", begun + text[len(begun) : len(begun) + 1], re.DOTALL)
    begun = words[1] if words else begun
    while len(pieces.encode(begun)) > MOST:  # what is cut within a word may have other pieces
        begun = begun[:-1]
    return begun


def packed(maps):
    """Maps as bytes, 0 to 255, row by row, each up to its own place."""
    n = maps.size(-1)
    rows, columns = torch.tril_indices(n, n)
    return in_units(maps[:, rows, columns], 255).to(torch.uint8).numpy().tobytes()
