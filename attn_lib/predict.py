"""predict and blank: the learner's guess, or own line of code, beside the truth; a known slip is told by its name.

In the learner's copy a guess binds: without one nothing is revealed and Run All stops; after a wrong one there is a
second try, and only then the truth. In the tested edition of the notebooks, and on slides, every cell runs through
and the truth is folded away.
"""

import linecache
import math
import numbers
import os
import re
import sys
from pathlib import Path

import torch

from . import show
from .missing import MARKER

VARIABLE = "ATTENTION_COPY"  # says the same where there is no such folder, as on Colab
GIVEN_UP = "show"

# What a learner did who arrives at a slip's value. A sentence says where to look, never the answer itself.
SLIPS = {
    # which numbers
    "column": "You read a column; it is a row that is asked for.",
    "row": "You read a row; it is a column that is asked for.",
    "transposed": "Rows and columns have changed places: that is the transposed matrix.",
    "query": "Those are numbers of a *query*; look again at which of the three is asked for.",
    "key": "Those are numbers of a *key*; look again at which of the three is asked for.",
    "value": "Those are numbers of a *value*; look again at which of the three is asked for.",
    "input": "Those are the token's own numbers, before any of the three matrices.",
    "swapped": "Query and key have changed places: the pair the other way round has another score.",
    "neighbour": "That is the row or entry next to it. Counting starts at 0.",
    "off_by_one": "One off: count again from 0, and ask whether the last one belongs to it.",
    "first": "That is the first one; look again at which is asked for.",
    "last": "That is the last one; look again at which is asked for.",
    "smallest": "You took the smallest; the largest is asked for.",
    "largest": "You took the largest; the smallest is asked for.",
    "unchanged": "That is what it was before; something has changed it.",
    "other_token": "Those belong to another token; look again at whose are asked for.",
    "order": "The right numbers in another order: ask which stands for what.",
    # what was done with them
    "unscaled": "That is without the scale: the scores still have to be divided.",
    "d_k": "You divided by d_k; it is its square root that scores are divided by.",
    "embed_dim": "That is scaled by the width of the whole token; each head has only its own share of the features.",
    "scaled": "That has been scaled; here nothing is divided.",
    "multiplied": "You multiplied where scores are divided.",
    "scores": "Those are scores; softmax has still to make weights of them.",
    "weights": "Those are weights; the scores before softmax are asked for.",
    "exponentials": "Those are the exponentials; they still have to be divided by their sum.",
    "unnormalised": "The sum has not been divided out: the weights of a query add up to 1.",
    "linear": "You divided the scores themselves by their sum; softmax takes their exponentials first.",
    "argmax": "You gave everything to the largest; softmax leaves something to each of the others.",
    "uniform": "That treats all alike, whatever their scores are.",
    "before_softmax": "That is what comes out if it is done *before* softmax.",
    "after_softmax": "That is what comes out if it is done *after* softmax.",
    "wrong_axis": "The right operation along the other axis: ask which of them it has to run along.",
    "sum": "You added them up and did not divide by how many there are.",
    "mean": "You took the plain mean: here each one counts as much as its weight says.",
    "unweighted": "You added up the values as they are; each has to be multiplied by its weight first.",
    "product": "You multiplied entry by entry; a dot product then adds the products up.",
    "unmultiplied": "You added up the numbers of the key; each is multiplied by a number of the query first.",
    "incomplete": "One term of the sum is missing.",
    "added": "You added all the numbers up; first they are multiplied in pairs.",
    "untransposed": "The keys are not transposed: the product ran along their columns, and a key is a row.",
    "rounded": "You went on with rounded numbers, and the rounding has grown.",
    "negated": "The size is right, the sign is not.",
    "one_product": "That is the variance of one product; a score is the sum of d_k of them.",
    "variance": "That is the variance; the standard deviation is its square root.",
    "deviation": "That is the standard deviation; the variance is its square.",
    "logarithm": "The right number of bits: the entropy here is taken with the natural logarithm.",
    "exact": "In exact arithmetic, yes. Follow the numbers through float32.",
    "cubed": "Queries and keys are twice as many, the features of each are as many as before.",
    "doubles": "So grows a tensor with one row for each token; scores have a row *and* a column for each.",
    "half": "The questions do not get equal parts: each key that matches gets one.",
    "one_row": "That is one row of the gradient; each of its entries is a sum over all the tokens.",
    # masks
    "polarity": "That is the mask the wrong way round: ask what True means here.",
    "unmasked": "That is without the mask.",
    "blocked": "You counted those that are hidden; those that may be attended to are asked for.",
    "allowed": "You counted those that may be attended to; those that are hidden are asked for.",
    "strict": "You left out the token itself: the diagonal counts too.",
    "upper_left": "You aligned the mask at the upper left corner; the last query sees every key.",
    "erased": "That much is erased; what is left of the row is asked for.",
    "renormalised": "You divided the rest by its sum again; nothing here does that.",
    "zero": "Zero is not what arithmetic makes of it: follow the numbers through softmax.",
    "one": "You expected the whole weight to go there.",
    "nan": "You expected a division of zero by zero; look at what softmax does with these numbers.",
    "finite": "You expected the arithmetic to survive; follow the infinities through softmax.",
    # shapes and heads
    "n_k": "You took the number of keys where the number of queries belongs.",
    "n_q": "You took the number of queries where the number of keys belongs.",
    "d_v": "You took the width of a value where another size belongs.",
    "features": "You counted features where tokens or heads belong.",
    "tokens": "You counted tokens where features or heads belong.",
    "heads": "You counted heads where another size belongs.",
    "all_axes": "Every axis has been turned round, the batch too; only the last two change places.",
    "unbatched": "The batch is missing: every leading dimension stays.",
    "whole_batch": "That is for the whole batch; one sentence is asked for.",
    "merged": "That is after the heads have been put together again.",
    "per_head": "That is for one head; all of them are asked for.",
    "all_heads": "That is for all heads together; one of them is asked for.",
    "head_order": "Heads and tokens have changed places.",
    "interleaved": "You dealt the features out in turn; a head gets a block of neighbours.",
    "view_alone": "That is what `view` alone does: it cuts the row of numbers without asking whose they are.",
    "with_transpose": "That is what `view` and then `transpose` do; `view` alone never moves a number.",
    "unmixed": "The last projection makes each of its features from all of those it gets.",
    "thinner": "The more heads, the thinner each of them: ask how many features one has.",
    "wider": "One head is as wide as all the thin ones together: count rows and columns of each matrix.",
    "tiled": "You repeated the whole list; each entry has to be repeated where it stands.",
    "averaged": "That is averaged over the heads.",
    "unaveraged": "That is for each head by itself; they have been averaged.",
    # learning
    "downhill": "That is the way down; a gradient points uphill, and is then taken away.",
    "weights_kept": "Those are the weights; the wish has still to be taken away.",
    "added_wish": "You added the wish; it is to be taken away.",
    "times_zero": "Some of these are multiplied by 0, and do not move.",
    "row_alone": "That is one row; more than one of them is multiplied by something other than 0.",
    "of_the_loss": "That is what the loss looks at; ask whom else the matrix belongs to.",
    "too_bold": "So it is with that one, but with a smaller one already.",
    "too_timid": "That one climbs with every step.",
    "mean_kept": "The row's mean has not been subtracted: no weight of a row changes alone.",
    "alone": "That is one weight by itself, w(1 − w); the others of its row answer too.",
    "copied": "That is what came back to the weight; the way through softmax is still ahead.",
    "logarithmic": "That is what it comes to with the logarithm; this is the square.",
    "forbidden": "Nothing is forbidden here; ask which question it was that never came.",
    "some_of_them": "Not even these: ask which keys can be a favourite at all.",
    "all_of_them": "All are too many: ask which keys can be a favourite at all.",
    "lower_loss": "Its loss is the lower one; ask what it could see in training, and what it sees now.",
    # programs
    "intended": "That is what the code is meant to do; follow what it does, line by line.",
    "ours": "That is what our own function does; this one means something else.",
    "inherited": "That line only inherits the difference; one before it makes it.",
    "everybody": "There are two key heads, and each query head uses one of them: who uses the other?",
    "unstacked": "That is how many ours has; theirs stacks some of them in one.",
    "every_path": "Not always: one of the three survives a dead row.",
    "training": "While it is trained, yes; in use, other code runs.",
    "weights_only": "Those are the weights alone; the biases count too.",
    "raised": "You counted the one that raises an error; it is the tests that are to notice.",
    "everyone": "To be ill is not to be noticed: ask what each test looks at.",
    "by_name": "The name of a test says little; read what it hands over.",
    "same_width": "With values as wide as the keys, yes. Look how wide they are here.",
    "saturated": "Three compare with right code. One of them does it where no scale matters any more.",
    # positions
    "all_move": "You let all of them move: ask of each one what it may hear now, and what it could hear before.",
    "along_batch": "That gives each *sentence* a row of the table: its rows belong to places in a sentence.",
    "itself": "That is a row times itself.",
    "exchange_only": "You exchanged the two numbers: turning by 90° also changes the sign of one.",
    "unturned": "Only one of the two has been turned.",
    "sign": "You raised the scores of those that are far away: distance costs something.",
    "from_start": "You counted from the first token: distance is counted from the query.",
    "all_can": "Not all of them: ask what the largest score has to depend on.",
    "which_pairs": "Ask what the angle between a query and a key is when both have been turned by the same.",
    "inverse": "The other way round: ask which feature comes first, not where feature 0 goes.",
    # two heads
    "the_copy": "There stands the earlier copy. Ask what *it* has fetched.",
    "the_asker": "That is the one who asks. Ask what *it* has fetched, and whether that may be found.",
    "before_it": "That is the place before it; ask who has fetched what, and who may be found.",
    "nobody_fetched": "That compares words with words. What counts here is what each place has *fetched*.",
    "stuck": "So it was at step 60. Two of the three matrices had hardly moved by then.",
    "useful": "So it is with that head. Look at the one that is asked for.",
    # writing with a memory
    "hears_later": "You let the old ones hear who comes later: ask whom each of them may hear.",
    "last_read": "The last one read may not hear who comes after it either.",
    "recomputed": "Those are all that are used; some of them are known from before.",
    "column_too": "You counted the new column as well: ask who may hear the new token.",
    "never_again": "Ask for each of the three who needs it when a new token asks.",
    "still_matched": "A new token asks all keys, the old ones too.",
    "still_mixed": "The new weights are multiplied by all values, the old ones too.",
    "key_forgotten": "Those are the kept ones; the new token's own is missing.",
    "begins_again": "That would make it the first token of a text.",
    "last_position": "The last of those that were read stands there.",
    "one_too_many": "One too many: the token itself is one of the window.",
    "one_too_few": "One too few: count how many each row leaves open.",
    "own_key": "The new token brings a key of its own, which need not be kept beforehand.",
    "whole_text": "Enough it is; but how many of these does the window let through?",
    "keys_alone": "Those are the keys alone; the values are kept too.",
    "one_layer": "That is one layer; each of them keeps its own.",
    "in_bits": "You multiplied by 16 bits; two bytes are asked for.",
    "square": "That is the whole table, with what is hidden: ask how many each token computes as it comes.",
    "last_alone": "That is the last token alone; each of those before it had some too.",
    "every_time": "That is without a cache: everything again for each token.",
    "none_of_them": "Not none: ask which of the parts is used when a single token is added.",
    # answers in words
    "worse": "That is so too, but something worse has happened.",
    "both": "Not both: one of the two is different.",
    "neither": "Not neither: one of the two does it.",
    "other": "It is the other way round.",
    "yes": "It looks so. Follow the result of each line: who takes it?",
    "no": "In part it is so. Follow the result of each line: who takes it?",
    "signs": "Change the signs and nothing else, and look at the diagonal again.",
    "keys": "Change the keys and nothing else, and look at the diagonal again.",
    "rows": "A row belongs to a query. Over which of the two axes does this softmax run?",
    "columns": "A column belongs to a key. Over which of the two axes does this softmax run?",
    "far_ahead": "Large scores put one key far ahead: would a small nudge change that?",
    "nudge_too": "The nudge is divided as well.",
    "masked": "The one with the mask does. What becomes of the other?",
    "root": "Divided by the root the scores keep their size. Does that make the weights react more?",
    "equal": "Count the rows and columns of each matrix, and its biases.",
    "only_weights": "The weights change. What becomes of the values?",
}


def predict(guess, truth, *, within=show.BY_HAND, **slips):
    """Compare a guess with the truth; `...` and None ask for one, "show" gives up. Never raises for a guess.

    truth is a number, a bool, a word, a shape, or a tensor of numbers; guess is the same, in any way of writing it.
    Numbers count as right when no further than `within` from the truth, words whatever their case or plural.
    Each of slips is a name in `SLIPS` and what a learner guesses who makes that slip.
    In a learner's copy a guess that is missing raises `NotYet`, which shows one line and stops Run All.
    """
    return _judge(Prediction, guess, truth, within, slips)


def blank(mine, truth, **slips):
    """Compare what the learner's own line gives with what the course's gives, to float32's precision; as `predict`."""
    return _judge(Blank, mine, truth, show.RTOL, slips)


class NotYet(Exception):
    """There is no guess yet; IPython shows its one line and no traceback."""

    def _render_traceback_(self):
        return [str(self)]


def in_a_copy():
    """Whether this kernel works in a learner's copy of the notebooks."""
    return Path(MARKER).is_file() or bool(os.environ.get(VARIABLE))


# ------------------------------------------------------------------------------------------------------- judging

_first_wrong = {}  # question → the first wrong guess


def _judge(kind, guess, truth, within, slips):
    unknown = sorted(set(slips) - set(SLIPS))
    if unknown:
        raise TypeError(f"no slip is called {unknown[0]!r}; attn_lib.predict.SLIPS has the names and their sentences")
    found = kind(guess, truth, within, slips)
    if found.status == "none" and in_a_copy():
        raise NotYet(found.asking)
    if found.status == "wrong":
        found.is_second = _first_wrong.setdefault(_question(), found.key) != found.key
    return found


def _question():
    """Which question is asked: its cell, where the front end names it, and the call as it is written there."""
    frame = sys._getframe(3)
    first, last, *_ = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    call = linecache.getlines(frame.f_code.co_filename)[(first or 1) - 1 : last]
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    parent = getattr(shell, "get_parent", dict)() or {}
    return parent.get("metadata", {}).get("cellId"), "".join(call).strip()


class Prediction:
    """What `predict` shows: `status` is "none", "right", "wrong", "unreadable" or "shown"; `slip` a name, or None."""

    asking = f'Your guess first: write it in place of ... and run this cell again; guess = "{GIVEN_UP}" gives up.'
    called = "Your guess"
    again = "Change your guess and run this cell again: you have another try."

    def __init__(self, guess, truth, within, slips):
        self.guess, self.truth, self.slip, self.comment = guess, truth, None, ""
        self.is_second = False  # whether another guess at the same question was wrong before it
        exact = within == show.BY_HAND or within == show.RTOL
        self.digits = 4 if exact else max(0, math.ceil(-math.log10(within)))  # no more than was asked for
        self.within, self.slips = within, slips
        self.reveals_at_once = not in_a_copy()
        self.key = None  # the same for every way of writing one guess
        self.status = self._compared(within, slips)
        self.mine = _text(guess)

    def _compared(self, within, slips):
        if _unfilled(self.guess):
            return "none"
        if isinstance(self.guess, str) and _word(self.guess) == GIVEN_UP:
            return "shown"
        try:
            wanted = _read(self.truth)
            mine = _read(self.guess, like=wanted)
            self.key = repr(mine) if isinstance(mine, list | float) else _word(mine)
        except Exception:  # whatever was entered
            self.comment = _wanted_as(self.truth)
            return "unreadable"
        if _same(mine, wanted, within):
            self.comment = "Right."
            return "right"
        known = {name: _read(value, like=wanted) for name, value in slips.items()}
        near = {
            name: _apart(mine, slip)
            for name, slip in known.items()
            if _same(mine, slip, within) and not _same(slip, wanted, within)
        }
        self.slip = min(near, key=near.get, default=None)
        self.comment = SLIPS[self.slip] if near else _difference(mine, wanted, within)
        return "wrong"

    @property
    def is_revealed(self):
        """Whether the truth stands in the open: once it is known, given up, or missed twice."""
        return self.status in ("right", "shown") or (self.status == "wrong" and self.is_second)

    def for_a_page(self):
        """The question as data, so that a page without Python can answer: numbers as they are, words as compared."""
        wanted = _read(self.truth)
        slips = [(name, _read(value, like=wanted)) for name, value in self.slips.items()]
        return {
            "leaves": _leaves(wanted),
            "alone": not isinstance(wanted, list),
            "within": self.within,
            "slips": [
                {"leaves": _leaves(value), "says": show.marked(SLIPS[name])}
                for name, value in slips
                if not _same(value, wanted, self.within)
            ],
            "answer": show.framed(f"The answer: {self._answer_as_html()}", "open"),
        }

    def __repr__(self):
        if self.status == "none":
            return f"No guess entered yet. The answer: {self._answer()}"
        answer = f" The answer: {self._answer()}." if self.is_revealed or self.reveals_at_once else ""
        if self.status == "shown":
            return answer.strip()
        again = "" if self.is_revealed else f" {self.again}"
        return f"{self.called}: {self.mine}.{answer} {show.plain(self.comment)}{again}"

    def _answer(self):
        return show.value(self.truth, self.digits)

    def _answer_as_html(self):
        return f"<b>{show.marked(self._answer())}</b>"

    def _repr_html_(self):
        if self.status == "none":
            text = "Guess first, then look. A guess in place of `...` is compared when the cell runs."
            return show.framed(show.marked(text) + show.folded("Show me the answer", self._answer_as_html()), "open")
        if self.status == "shown":
            return show.framed(f"The answer: {self._answer_as_html()}", "open")
        sign = {"right": "✓", "wrong": "✗", "unreadable": "…"}[self.status]
        body = f"{self.called}: <b>{_escaped(self.mine)}</b>"
        if self.is_revealed:
            body += f" &nbsp; The answer: {self._answer_as_html()}"
        body += f"<br>{sign} {show.marked(self.comment)}"
        if not self.is_revealed:
            body += f" {self.again}"
            if self.reveals_at_once:
                body += show.folded("Show me the answer", self._answer_as_html())
        return show.framed(body, {"unreadable": "open"}.get(self.status, self.status))


class Blank(Prediction):
    """What `blank` shows, as `Prediction`."""

    asking = (
        f'Your own line first: write it above in place of ... and run both cells; "{GIVEN_UP}" there goes on without.'
    )
    called = "Yours"
    again = "Mend your line and run both cells again, or open this cell to see the course's."

    def _answer(self):
        answer = super()._answer()
        return answer if len(answer) <= 80 else "many numbers; this cell has the line that gives them, open it"

    def __repr__(self):
        if self.status == "none":
            return "Nothing written yet in the cell above. This cell has the course's own line."
        if self.status == "right":
            return "Right: your line gives what the course's gives."
        return super().__repr__()

    def _repr_html_(self):
        if self.status == "none":
            return show.framed(repr(self), "open")
        if self.status == "right":
            return show.framed(f"✓ {self!r}", "right")
        return super()._repr_html_()


# --------------------------------------------------------------------------------- what was entered, and what it means

YES, NO = {"yes", "y", "true", "yeah", "ja"}, {"no", "n", "false", "nope", "nein"}
LONGEST = 10_000  # numbers in a row
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:/\d+)?%?|[+-]?(?:nan|inf(?:inity)?)", re.I)
SIGNS = str.maketrans({"−": "-", "–": "-", "∞": "inf", "×": ",", ";": ",", "½": "0.5"})


def _unfilled(guess):
    if isinstance(guess, list | tuple):
        return any(part is Ellipsis or part is None or (part is not guess and _unfilled(part)) for part in guess[:64])
    return guess is None or guess is Ellipsis


def _read(thing, like=None, depth=0):
    """A number, a word, a bool or nested lists of them; `like` is the truth as it was read. Raises if it cannot be."""
    if depth > 8:
        raise ValueError("nested too deep")
    if isinstance(thing, str):
        return _read_text(thing, like)
    if hasattr(thing, "tolist"):  # of torch and of numpy
        thing = thing.detach().tolist() if isinstance(thing, torch.Tensor) else thing.tolist()
    if isinstance(thing, list | tuple | range) and len(thing) < LONGEST:
        parts = like if isinstance(like, list) else [like] * len(thing)
        inner = [_read(part, parts[0] if parts else None, depth + 1) for part in thing]
        return inner[0] if len(inner) == 1 and depth == 0 else inner  # one number in brackets is that number
    if isinstance(thing, bool):
        return thing
    if isinstance(thing, numbers.Real) or hasattr(thing, "__float__"):
        return float(thing)
    raise TypeError(f"{type(thing).__name__} is neither a number nor a word")


def _read_text(text, like):
    if like is None:
        return text
    if isinstance(like, list):
        return [_read_text(part, like[0]) for part in re.split(r"[,\s]+", _bare(text)) if part]
    if isinstance(like, str | bool):
        return text
    bare = _bare(text).replace(" ", "")
    if re.fullmatch(r"[+-]?\d+,\d+%?", bare):  # 0,47 as much of the world writes it
        bare = bare.replace(",", ".")
    if not NUMBER.fullmatch(bare):
        raise ValueError(f"{text!r} is no number")
    over, _, under = bare.rstrip("%").partition("/")
    return float(over) / float(under or 1) / (100 if bare.endswith("%") else 1)


def _bare(text):
    """Text without brackets; ×, x and ; part numbers as commas do."""
    text = re.sub(r"(?<=\d)\s*x\s*(?=\d)", ",", text.translate(SIGNS))
    return re.sub(r"torch\.size|[\[\](){}]", " ", text, flags=re.I).strip(" ,")


def _word(thing):
    """A word as it is compared: lower case, without signs, articles and plural."""
    if isinstance(thing, bool):
        return "yes" if thing else "no"
    if isinstance(thing, float):
        return show.short(thing)
    words = re.sub(r"[^\w~.√∞+−-]+", " ", thing.casefold().replace("-", "−")).strip(" .").split()
    words = [word for word in words if word not in ("the", "a", "an")]
    words = [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in words]
    text = " ".join(words)
    return "yes" if text in YES else "no" if text in NO else text


def _same(mine, wanted, within):
    if isinstance(wanted, list):
        alike = isinstance(mine, list) and len(mine) == len(wanted)
        return alike and all(_same(a, b, within) for a, b in zip(mine, wanted, strict=True))
    if isinstance(mine, list):
        return False
    if isinstance(wanted, float):
        return not isinstance(mine, str) and _near(float(mine), wanted, within)
    return _word(mine) == _word(wanted)


def _near(a, b, within):
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= within + 1e-9 * abs(b)


def _apart(mine, slip):
    """By how much a guess misses what it is the same as within the tolerance; words miss nothing."""
    pairs = [(a, b) for a, b in zip(_flat(mine), _flat(slip), strict=True) if isinstance(b, float)]
    return max((abs(a - b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)), default=0.0)


def _leaves(thing):
    """The numbers and words of an answer in a row, as JSON can hold them."""
    return [x if isinstance(x, float) and math.isfinite(x) else _word(x) for x in _flat(thing)]


def _flat(thing):
    return [leaf for part in thing for leaf in _flat(part)] if isinstance(thing, list) else [thing]


def _form(thing):
    """The sizes of nested lists, () for one number; raises if they are ragged."""
    if not isinstance(thing, list):
        return ()
    inner = {_form(part) for part in thing}
    if len(inner) > 1:
        raise ValueError("ragged")
    return (len(thing), *(inner.pop() if inner else ()))


# ------------------------------------------------------------------------------------------- in what a guess differs


def _difference(mine, wanted, within):
    """What can be said of a wrong guess without saying the answer."""
    in_numbers = all(isinstance(leaf, float) for leaf in _flat(wanted))
    try:
        here, there = _form(mine), _form(wanted)
    except ValueError:
        return "Its rows have different lengths."
    if here != there:
        nouns = ("number", "numbers") if in_numbers else ("entry", "entries")
        return f"It has {_how_many(here, *nouns)}, the answer {_how_many(there, *nouns)}."
    if not in_numbers:
        return "That is not what happens. Can you say why?"
    mine, wanted = [float(x) for x in _flat(mine)], _flat(wanted)
    if all(_near(-a, b, within) for a, b in zip(mine, wanted, strict=True)):
        return SLIPS["negated"]
    if not here:
        return _which_way(mine[0], wanted[0], within)
    if all(_near(a, b, within) for a, b in zip(sorted(mine), sorted(wanted), strict=True)):
        return "The right numbers, in another order."
    wrong = [i for i, (a, b) in enumerate(zip(mine, wanted, strict=True)) if not _near(a, b, within)]
    if len(wrong) == len(wanted):
        return "None of the numbers is right." if len(wanted) > 2 else "Neither of the two numbers is right."
    return f"{len(wrong)} of {len(wanted)} numbers {'is' if len(wrong) == 1 else 'are'} not right."


def _which_way(mine, wanted, within):
    if _near(mine / 100, wanted, within) and mine > 1:
        return f'Right if you mean per cent, but then write it as "{show.short(mine)} %".'
    if math.isnan(wanted):
        return "It is not a number that comes out."
    if math.isnan(mine):
        return "A number does come out."
    return "That is too large." if mine > wanted else "That is too small."


def _how_many(form, one, many):
    if len(form) < 2:
        return show.count(form[0] if form else 1, one, many)
    return f"{' × '.join(map(str, form))} {many}"


def _wanted_as(truth):
    return (
        "That could not be read as a word." if isinstance(truth, str | bool) else "That could not be read as numbers."
    )


def _text(guess):
    """What was entered, in one line, however strange it is."""
    try:
        text = guess.strip() if isinstance(guess, str) else show.value(_read(guess) if _sized(guess) else guess)
    except Exception:
        try:
            text = str(guess)
        except Exception:
            text = type(guess).__name__
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def _sized(guess):
    return hasattr(guess, "tolist") and not isinstance(guess, torch.Tensor)


def _escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
