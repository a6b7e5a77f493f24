"""predict and blank: the learner's guess, or own line of code, beside the truth; a known slip is told by its name.

In the learner's copy a guess binds: without one the question's form is shown, nothing is revealed and Run All stops;
after a wrong one there is a second try, and only then the truth. In the tested edition of the notebooks, and on slides,
every cell runs through and the truth is folded away.

A page without Python judges by authors/pages/predict.js, which mirrors this file: whoever changes how an answer is
compared, or what is said of a wrong one, changes both. Why not simpler, one of them for both: a saved page has no
Python, a kernel no JavaScript. The records of workbench.questions and all sentences of slips are shared.
"""

import inspect
import math
import re

from IPython import get_ipython
from IPython.display import display

from . import questions
from .display import show
from .places import SilentForReaders, in_a_copy, is_to_be_read
from .questions import reader, second_input
from .questions.form import GuessForm

GIVEN_UP = "show"
UNCALLED = (
    "Your line gives the function itself, not its result. The brackets are missing: call it with `()` behind its name."
)
WRITTEN_DOWN = (
    "The numbers are right, but your line only writes them down. Compute them: with other inputs they would be others."
)


def predict(question, guess, truth=..., /, **slips):
    """Compare a guess with the truth; `...` and None ask for one, "show" gives up. Never raises for a guess.

    question is the id of a record of `workbench.questions`, as "01.new-bank", which says how a guess is read and how
    far a number may be off. truth is a number, a word, a shape or a tensor; guess is the same, however it is written.
    Each of slips is a name in that record and what a learner guesses who makes that slip. Without a truth, the record
    has both, as that of a lesson's opening question.
    In a learner's copy a guess that is missing is asked for by a form, where it is answered. Until something that can
    be read has been entered there, now or in an earlier kernel, `NotYet` is raised, which shows one line and stops
    Run All.
    """
    if truth is ...:
        truth, slips = questions.recorded_answer(question)
    return _judge(Prediction, question, guess, truth, slips)


def blank(question, mine, truth, /, **slips):
    """Compare what the learner's own line gives with what the course's gives, to float32's precision; as `predict`."""
    return _judge(Blank, question, mine, truth, slips)


class NotYet(Exception):
    """There is no guess yet; IPython shows its one line and no traceback."""

    def _render_traceback_(self):
        return [str(self)]


# ------------------------------------------------------------------------------------------------------- judging

_first_wrong = {}  # id of a question → the first wrong guess
_known = set()  # ids of the questions whose truth a copy has shown: it stays known, whatever is tried afterwards


def _judge(kind, question, guess, truth, slips):
    question = questions.question(question) if isinstance(question, str) else question
    if unknown := sorted(set(slips) - set(question.slips)):
        raise TypeError(f"question {question.id} has no slip called {unknown[0]!r}; it has {', '.join(question.slips)}")
    prediction = kind(question, guess, truth, slips)
    if prediction.status == "none" and in_a_copy():
        return prediction.ask()
    if prediction.status == "wrong":
        prediction.is_second = _first_wrong.setdefault(question.id, prediction.key) != prediction.key
    prediction.was_known = in_a_copy() and question.id in _known
    if prediction.is_revealed:
        _known.add(question.id)
    return prediction


class Prediction:
    """What `predict` shows: `status` is "none", "right", "wrong", "unreadable" or "shown"; `slip` a name, or None."""

    request = f'Your guess first: above, or in this cell in place of ... (guess = "{GIVEN_UP}" gives up). Then go on.'
    label = "Your guess"
    again = "Change your guess and run this cell again: you have another try."

    def __init__(self, question, guess, truth, slips):
        self.question, self.guess, self.truth, self.slip, self.comment = question, guess, truth, None, ""
        self.is_second = False  # whether another guess at the same question was wrong before it
        self.was_known = False  # whether the truth was shown before this guess
        within = question.within
        exact = within in (show.BY_HAND, show.RTOL)
        self.digits = 4 if exact else max(0, math.ceil(-math.log10(within)))  # no more than was asked for
        self.wanted = reader.read(question, truth)
        self.raw_slips = slips
        self.slips = {name: reader.read(question, value) for name, value in slips.items()}
        self.slips |= {option: [option] for option in question.options if option in question.slips}
        self.reveals_at_once = not in_a_copy()
        self.key = None  # the same for every way of writing one guess
        self.status = self._compare()
        self.mine = _text(guess)

    def _compare(self):
        if _unfilled(self.guess):
            return "none"
        if isinstance(self.guess, str) and reader.phrase(self.guess) == GIVEN_UP:
            return "shown"
        question, wanted, within = self.question, self.wanted, self.question.within
        size = reader.size(question, wanted)
        try:
            mine = reader.read(question, self.guess, size)
            self.key = repr(mine)
        except Exception:  # whatever was entered
            if question.form == "tensor" and inspect.isroutine(self.guess):
                self.comment = UNCALLED
                return "unreadable"
            is_refused = reader.is_refused(question, self.guess, size)
            self.comment = question.refuses() if is_refused else f"That could not be read. {question.asks(size)}"
            return "unreadable"
        if _same(mine, wanted, within):
            self.comment = "Right."
            return "right"
        near = {name: _largest_gap(mine, slip) for name, slip in self.wrong_slips() if _same(mine, slip, within)}
        self.slip = min(near, key=near.get, default=None)
        if near:
            self.comment = question.slips[self.slip].says
            return "wrong"
        self.comment = self._words_on_its_size(mine) or _if_in_percent(mine, wanted, within)
        if self.comment:
            return "unreadable"
        self.comment = _several_for_one(self.guess, self.truth) or _difference(question.form, mine, wanted, within)
        return "wrong"

    def wrong_slips(self):
        """Pairs of a slip's name and the answer it leads to, without slips that lead to the right answer."""
        return [(name, slip) for name, slip in self.slips.items() if not _same(slip, self.wanted, self.question.within)]

    def _words_on_its_size(self, mine):
        """The sentence for a guess of another size than the question asked for, or ""."""
        size = reader.size(self.question, self.wanted)
        if size is None or reader.form(mine) == reader.form(self.wanted):
            return ""
        word = "word" if self.question.options else "number"
        if _is_one_in_words(self.guess, mine):
            return f"It was read as one number, {show.short(*_flat(mine))}. {self.question.asks(size)}"
        return f"It has {_how_many(reader.form(mine), word)}. {self.question.asks(size)}"

    def ask(self):
        """The question's form, with what was entered before; the first time it is shown and Run All stops."""

        def judged(text):
            prediction = _judge(type(self), self.question, text, self.truth, self.raw_slips)
            prediction.again = "" if prediction.status == "unreadable" else "Try again."  # as questions/entry.js
            return prediction

        form = GuessForm(self.question, reader.size(self.question, self.wanted), judged, _asked_beside())
        if form.is_open and (form.prediction is None or form.prediction.status == "unreadable"):
            display(form)
            raise NotYet(self.request)
        return form

    @property
    def is_revealed(self):
        """Whether the truth stands in the open: once it is known, given up, or missed twice; from then on always."""
        return self.was_known or self.status in ("right", "shown") or (self.status == "wrong" and self.is_second)

    def for_a_page(self):
        """The question as data, so that a page without Python can read and judge an answer."""
        return self.question.as_data(self.wanted) | {
            "id": self.question.id,
            "leaves": _leaves(self.wanted),
            "slips": [
                {"name": name, "label": label, "leaves": _leaves(value), "says": show.marked(says)}
                for name, value in self.wrong_slips()
                for label, says in [self.question.slips[name]]
            ],
            "answer": show.framed(f"The answer: {self._answer_as_html()}", "open"),
        }

    def __repr__(self):
        if self.status == "none":
            return "No guess entered yet. " * (not is_to_be_read()) + f"The answer: {self._answer()}"
        answer = f" The answer: {self._answer()}." if self.is_revealed or self.reveals_at_once else ""
        if self.status == "shown":
            return answer.strip()
        again = "" if self.is_revealed else f" {self.again}"
        return f"{self.label}: {self.mine}.{answer} {show.plain(self.comment)}{again}"

    def _answer(self):
        return show.value(self.truth, self.digits)

    def _answer_as_html(self):
        return f"<b>{show.marked(self._answer())}</b>"

    def _repr_html_(self):
        if self.status == "none":
            text = "Guess first, then look. A guess in place of `...` is compared when the cell runs."
            asks = "" if is_to_be_read() else show.marked(text)
            return show.framed(asks + show.folded("Show me the answer", self._answer_as_html()), "open")
        if self.status == "shown":
            return show.framed(f"The answer: {self._answer_as_html()}", "open")
        sign = {"right": "✓", "wrong": "✗", "unreadable": "…"}[self.status]
        body = f"{self.label}: <b>{_escape(self.mine)}</b>"
        if self.is_revealed:
            body += f" &nbsp; The answer: {self._answer_as_html()}"
        body += f"<br>{sign} {show.marked(self.comment)}"
        if not self.is_revealed:
            body += f" {self.again}"
            if self.reveals_at_once:
                body += show.folded("Show me the answer", self._answer_as_html())
        return show.framed(body, {"unreadable": "open"}.get(self.status, self.status))


class Blank(SilentForReaders, Prediction):
    """What `blank` shows, as `Prediction`."""

    request = (
        f'Your own line first: write it above in place of ..., then compare it; "{GIVEN_UP}" there goes on without.'
    )
    label = "Yours"
    again = "Mend your line and compare it again, or look at the course's."

    def _compare(self):
        status = super()._compare()
        if status != "right":
            return status
        if self.question.form == "tensor" and not self.question.constant and self._is_written_down():
            self.comment = WRITTEN_DOWN
            return "wrong"
        failed = (one for one in self.question.second if not self._holds_with(one))
        if other := next(failed, None):
            self.comment = self.by_chance(other)
            return "wrong"
        return status

    def _is_written_down(self):
        name = self._name()
        source = second_input.line_of(name)
        return source is not None and second_input.is_written_down(source, name)

    def _name(self):
        return self.question.id.partition(".")[2].replace("-", "_")

    def _holds_with(self, other):
        """Whether the learner's line gives what it should with another input of the record, too."""
        numbers = dict(other)
        always, gives, name = numbers.pop("always", False), numbers.pop("gives"), self._name()
        numbers.pop("with", None)
        source = second_input.line_of(name)
        if source is None or not (always or second_input.reads(source, numbers.keys())):  # there is nothing to try
            return True
        right = reader.read(self.question, second_input.right_with(numbers, gives))

        def gives_right(code):
            try:
                return _same(reader.read(self.question, second_input.value_with(code, name, numbers)), right, 1e-3)
            except Exception:  # whatever the line raises with other numbers
                return False

        return gives_right(source) or gives_right(second_input.with_helpers(source, numbers))

    @staticmethod
    def by_chance(other):
        """The sentence on a line that is right with the lesson's numbers and wrong with another input."""
        numbers = dict(other)
        gives = numbers.pop("gives")
        numbers.pop("always", None)
        named = " and ".join(f"`{name} = {rows}`" for name, rows in numbers.items())
        inputs = numbers.get("with", named)
        by_chance = f"On these numbers your line is right by chance. With {inputs} it"
        if isinstance(gives, str):  # which is the line itself
            return f"{by_chance} does not give what it should."
        return f"{by_chance} should give `{gives}`, and does not."

    def ask(self):
        raise NotYet(self.request)

    def waits(self):
        return self.status == "none"

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


def _asked_beside():
    """What the comment behind `guess = ...` of the cell that runs says of an answer, as a sentence, or ""."""
    shell = get_ipython()
    source = shell.history_manager.input_hist_raw[-1] if shell else ""
    beside = re.search(r"^guess = .*\.\.\..*?  # (.+)", source, re.M)
    return f"{beside[1][0].upper()}{beside[1][1:]}." if beside else ""


def _unfilled(guess):
    if isinstance(guess, list | tuple):
        return any(part is Ellipsis or part is None or (part is not guess and _unfilled(part)) for part in guess[:64])
    return guess is None or guess is Ellipsis


def _same(mine, wanted, within):
    if isinstance(wanted, list):
        alike = isinstance(mine, list) and len(mine) == len(wanted)
        return alike and all(_same(a, b, within) for a, b in zip(mine, wanted, strict=True))
    if type(mine) is type(wanted) is float:
        return _near(mine, wanted, within)
    return type(mine) is type(wanted) and mine == wanted


def _near(a, b, within):
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= within + 1e-9 * abs(b)


def _largest_gap(mine, slip):
    """The largest gap between a guess and a slip of the same form; 0 for words."""
    pairs = [(a, b) for a, b in zip(_flat(mine), _flat(slip), strict=True) if isinstance(b, float)]
    return max((abs(a - b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)), default=0.0)


def _leaves(thing):
    """The numbers and words of an answer in a row, as JSON can hold them."""
    return [show.short(x) if isinstance(x, float) and not math.isfinite(x) else x for x in _flat(thing)]


def _flat(thing):
    return [leaf for part in thing for leaf in _flat(part)] if isinstance(thing, list) else [thing]


# ------------------------------------------------------------------------------------------- in what a guess differs


def _if_in_percent(mine, wanted, within):
    """The comment on 93, or [6, 47, 47], where shares are asked for; "" where 0 would be right as well."""
    mine, wanted = _flat(mine), _flat(wanted)
    if not all(isinstance(x, float) for x in [*mine, *wanted]) or len(mine) != len(wanted) or max(mine, default=0) <= 1:
        return ""
    if not all(_near(a / 100, b, within) for a, b in zip(mine, wanted, strict=True)):
        return ""
    if all(_near(0.0, b, within) for b in wanted):
        return ""
    return f'Right if you mean per cent, but then write it as "{", ".join(f"{show.short(x)} %" for x in mine)}".'


def _difference(form, mine, wanted, within):
    """What can be said of a wrong guess without saying the answer; form is the question's."""
    try:
        here, there = reader.form(mine), reader.form(wanted)
    except ValueError:
        return "Its rows have different lengths."
    mine, wanted = _flat(mine), _flat(wanted)
    if form == "set":
        return _set_difference(set(mine), set(wanted))
    if here != there and form == "tensor":
        return _shape_difference(here, there, mine, wanted, within)
    if here != there:
        return f"It has {_how_many(here, 'number')}, the answer {_how_many(there, 'number')}."
    if {*map(type, wanted)} == {bool} != {*map(type, mine)}:
        return "True and False are asked for, and yours has numbers."
    if wanted == ["nan"]:
        return "It is not a number that comes out."
    if mine == ["nan"]:
        return "A number does come out."
    if any(type(x) is not float for x in [*mine, *wanted]):
        if {*map(type, wanted)} == {bool} or len(wanted) > 1:
            wrong = sum(not _same(a, b, within) for a, b in zip(mine, wanted, strict=True))
            return f"{wrong} of {len(wanted)} {'is' if wrong == 1 else 'are'} not right."
        return "That is not what happens. Can you say why?"
    if all(_near(-a, b, within) for a, b in zip(mine, wanted, strict=True)):
        return "The size is right, the sign is not."
    if len(wanted) == 1:
        return "That is too large." if mine > wanted else "That is too small."
    if all(_near(a, b, within) for a, b in zip(sorted(mine), sorted(wanted), strict=True)):
        return "The right numbers, in another order."
    wrong = sum(not _near(a, b, within) for a, b in zip(mine, wanted, strict=True))
    if wrong == len(wanted):
        return "None of the numbers is right." if wrong > 2 else "Neither of the two numbers is right."
    return f"{wrong} of {len(wanted)} numbers {'is' if wrong == 1 else 'are'} not right."


def _is_one_in_words(guess, mine):
    """Whether one whole number was written as a word, such as "two", which may have been meant as their count."""
    first, *more = _flat(mine) or [None]
    is_word = isinstance(guess, str) and not re.search(r"\d", guess)
    return is_word and not more and isinstance(first, float) and first.is_integer()


def _several_for_one(guess, truth):
    """The sentence on an answer with several results of a call, of which one is asked for, or ""."""
    if not (isinstance(guess, list | tuple) and len(guess) > 1 and hasattr(truth, "tolist")):
        return ""
    of_tensors = [getattr(part, "ndim", 0) > 0 for part in guess]
    if all(of_tensors):  # which may be the rows of one
        rows = {getattr(part, "shape", None) for part in guess}
        return "" if rows == {truth.shape[1:]} else f"It is {len(guess)} tensors; one is asked for."
    if not (isinstance(guess, tuple) and any(of_tensors)):
        return ""
    several = "pair" if len(guess) == 2 else f"tuple of {len(guess)}"
    kinds = " and ".join(type(part).__name__ for part in guess)
    return f"It is a {several}, {kinds}; one tensor is asked for."


def _set_difference(mine, wanted):
    """How many members of each set the other does not have, in a sentence."""
    extra, missing = len(mine - wanted), len(wanted - mine)
    clauses = [f"{extra} of yours {'does' if extra == 1 else 'do'} not belong there"] if extra else []
    clauses += [f"{missing} of the right ones {'is' if missing == 1 else 'are'} missing"] if missing else []
    return f"{', and '.join(clauses)}."


def _shape_difference(here, there, mine, wanted, within):
    """What the shape of the learner's line is and should be, in a sentence."""
    sentence = f"Its shape is {show.value(here)}, and should be {show.value(there)}."
    if here == there[::-1] and len(here) == 2:
        turned = [mine[row * here[1] + column] for column in range(here[1]) for row in range(here[0])]
        if _same(turned, wanted, within):
            return f"Rows and columns have changed places. {sentence}"
    if len(mine) == len(wanted) and _same(mine, wanted, within):
        values = "values" if {*map(type, wanted)} == {bool} else "numbers"
        return f"The right {values}, but the shape is part of the answer. {sentence}"
    return sentence


def _how_many(form, word):
    if len(form) < 2:
        return show.count(form[0] if form else 1, word)
    return f"{' × '.join(map(str, form))} {word}s"


def _text(guess):
    """What was entered, in one line of at most 80 characters; never raises."""
    try:
        is_numpy = hasattr(guess, "tolist") and not hasattr(guess, "detach")
        text = guess.strip() if isinstance(guess, str) else show.value(guess.tolist() if is_numpy else guess)
    except Exception:
        try:
            text = str(guess)
        except Exception:
            text = type(guess).__name__
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def _escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
