"""The night shift: strangers whose source cannot be read, recognised by a learner's own tests."""

import re

import torch

from ...display import show
from ..engine.exercise import EXERCISES
from . import correct
from .chart import CAUGHT, Chart
from .interfaces import PLAIN


@correct.plain
def _a_finite_fill(scores, mask):
    """A relative of 6.9 that is right with a dead row, which 6.9's own variants are not: they have two illnesses."""
    if mask is None:
        return torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, -3e4), dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


# By letter: whose relative it is, and which of that patient's variants. The library's tests recognise each.
WHO = {
    "A": ("6.8", 1),
    "B": ("6.1", 0),
    "C": ("6.7", 1),
    "D": ("6.11", 0),
    "E": ("6.3", 0),
    "F": (None, correct.by_loop),
    "G": ("6.9", _a_finite_fill),
    "H": ("6.5", 1),
    "I": ("6.20", 2),
    "J": ("6.4", 1),
    "K": ("6.10", 1),
    "L": ("6.6", 1),
}


class Stranger:
    """Attention as it is brought in at night: it can be called, and nothing of it can be read or traced."""

    def __init__(self, letter, code):
        self.letter, self._code = letter, code

    def __call__(self, q, k, v, mask=None):
        with torch._C.DisableTorchFunction():  # as compiled code: no operation of it is seen from outside
            return self._code(q, k, v, mask)

    def __repr__(self):
        return f"Stranger {self.letter}: {PLAIN}. Its source cannot be read."


def night_shift(tests=()):
    """Return the strangers of the night, and whom of them these tests recognise.

    tests: a learner's tests, functions called detects_1, detects_3, …, or the notebook's `globals()`, in which they
    are found. A stranger is recognised if the test for its patient says True and no other does; the healthy one,
    once there is a test for each patient and none says a word. night_shift()["C"] is a stranger, to be called.
    """
    candidates = tests.values() if isinstance(tests, dict) else tests
    by_id = {_patient(test): test for test in candidates if _patient(test) in FAMILIES}
    return Night({id: by_id[id] for id in FAMILIES if id in by_id})


def _patient(test):
    number = re.fullmatch(r"detects_(\d+)", getattr(test, "__name__", ""))
    return f"6.{number[1]}" if number and callable(test) else None


FAMILIES = [id for id in EXERCISES if id in {family for family, _ in WHO.values()}]


def _code(family, which):
    return which if callable(which) else list(EXERCISES[family].variants.values())[which]


class Night:
    """Twelve strangers, by letter, and a chart of what the tests say of them."""

    def __init__(self, tests):
        self.strangers = {letter: Stranger(letter, _code(*who)) for letter, who in WHO.items()}
        finished = {id: test for id, test in tests.items() if _is_written(test)}
        self._missing = [id for id in FAMILIES if id not in finished]
        self.chart = Chart(finished.values(), self.strangers)
        rows = dict(zip(finished, self.chart.rows.values(), strict=True))
        self.suspects = {letter: self._suspects(i, rows) for i, letter in enumerate(WHO)}
        own = {family: letter for letter, (family, _) in WHO.items()}
        self._silent = [id for id in finished if id not in self.suspects[own[id]]]
        self.chart.below = "who it is", [self._word(letter) for letter in WHO]

    def __getitem__(self, letter):
        return self.strangers[letter]

    def _suspects(self, i, rows):
        """The patients whose tests say True of a stranger: those of whom it might be a relative."""
        return [id for id, row in rows.items() if row[i] == CAUGHT]

    def _word(self, letter):
        family, suspects = WHO[letter][0], self.suspects[letter]
        if not suspects:
            return "healthy ✓" if family is None and not self._missing else "?"
        if suspects == [family]:
            return f"{family} ✓"
        return f"{' or '.join(suspects)}?" if family in suspects else "✗"

    @property
    def summary(self):
        """How many are recognised, and what is missing, in words."""
        words = self.chart.below[1]
        right = sum(word.endswith("✓") for word in words)
        sentences = [f"{right} of {show.count(len(words), 'stranger')} recognised by your tests."]
        if "✗" in words:
            sentences.append("✗: a test returned True for a stranger that has another fault.")
        if any(word.endswith("?") and word != "?" for word in words):
            sentences.append("Where two tests return True, one of them is not specific enough.")
        if self._silent:
            sentences.append(
                f"There is a stranger with the fault of {', '.join(self._silent)}, and your test for it returns False."
            )
        if self._missing:
            sentences.append(f"Still to be written: the tests for {', '.join(self._missing)}.")
        elif "?" in words:
            sentences.append("There is a stranger with a fault that no test finds.")
        return " ".join(sentences)

    def __repr__(self):
        return f"{self.summary}\n\n{self.chart}" if self.chart.rows else self.summary

    def _repr_html_(self):
        chart = self.chart._repr_html_() if self.chart.rows else ""
        return show.framed(f"{show.marked(self.summary)}{chart}")


def _is_written(test):
    """Whether a test says anything: one that is still to be written returns nothing, or `...`."""
    healthy = correct.by_library
    try:
        with torch.random.fork_rng(devices=[]):
            answer = test(healthy)
    except Exception:  # it may mean something else by its arguments; then its row shows it
        return True
    return answer is not None and answer is not ...
