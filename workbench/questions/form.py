"""The form of a question in a learner's copy: what is entered there is judged, kept, and answered in the same place."""

from pathlib import Path

import anywidget
import traitlets

from .. import lab, shared_json
from ..board import modules
from ..display.colours import tokens
from ..places import guesses_file

HERE = Path(__file__).parent
LONGEST, MOST = 2000, 20  # characters of an entry, entries of a question


class GuessForm(anywidget.AnyWidget):
    """Asks question, in these words or its own; judge(text) says what stands in the page after an entry.

    Nothing of the truth is sent before.

    A page has buttons where one of few words is asked for, a choice for each of several, otherwise a line. What was
    entered is kept beside the copies, so that it stands there again when the cell is run in another kernel.
    """

    _esm = modules.joined(HERE / "form.js")
    _css = tokens(".attn-guess") + (HERE / "form.css").read_text(encoding="utf-8")

    question = traitlets.Dict().tag(sync=True)  # options, rows, size, asks
    entered = traitlets.Unicode().tag(sync=True)
    verdict = traitlets.Unicode().tag(sync=True)  # HTML
    is_open = traitlets.Bool(True).tag(sync=True)  # the truth has not been shown

    def __init__(self, question, size, judge, asks=""):
        self._id, self._judge, self.prediction = question.id, judge, None
        super().__init__(
            question={
                "options": list(question.options),
                "rows": list(question.rows),
                "size": size or 1,
                "asks": asks or question.asks(size),
            },
        )
        for text in kept_guesses(question.id):
            self._answer(text)
        self.on_msg(self._hear)
        self._hear(self, {"guess": lab.entered(question.id)}, None)

    def _hear(self, _, content, __):
        text = content.get("guess") if isinstance(content, dict) else None
        if isinstance(text, str) and text.strip():
            self._answer(text[:LONGEST])
            if self.prediction.status != "unreadable":  # which costs no try
                keep_guess(self._id, {"text": text[:LONGEST], "verdict": self.verdict, "is_open": self.is_open})

    def _answer(self, text):
        self.prediction = self._judge(text)
        self.entered = "" if self.prediction.status == "shown" else text
        self.verdict, self.is_open = self.prediction._repr_html_(), not self.prediction.is_revealed

    def __repr__(self):
        return repr(self.prediction) if self.prediction else f"A guess is asked for. {self.question['asks']}"


def kept_guesses(id):
    """What was entered at the question of that id, in order; of a damaged file nothing."""
    texts = [_text(entry) for entry in _entries(shared_json.read(guesses_file()), id)]
    return [text for text in texts if isinstance(text, str)]


def keep_guess(id, entry):
    """Add an entry, its text and what was said of it, with which a page shows it before Python has judged it again.

    Where the folder cannot be written to, it is known until the kernel ends.
    """

    def added(all):
        others = [one for one in _entries(all, id) if _text(one) != entry["text"]]
        return all | {id: [*others, entry][-MOST:]}

    shared_json.change(guesses_file(), added)


def _entries(all, id):
    entries = all.get(id, [])
    return entries if isinstance(entries, list) else []


def _text(entry):
    return entry.get("text") if isinstance(entry, dict) else entry  # earlier editions kept the text alone
