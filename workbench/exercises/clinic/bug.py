"""What a patient is: the case, with all that is known of it, and the face of it that learners get to see."""

import functools
import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn

from ...display import show
from ..engine.exercise import EXERCISES, Exercise, Misconception, described_by, register
from ..engine.function import Function
from ..engine.source import source_of
from .anonymous import compiled, fresh
from .blind_spots import constant_input
from .fault_names import FAULTS
from .interfaces import Interface
from .judge_bug import judge
from .part import LESSON


def patient(id, interface, **settings):
    """Register the decorated function or class as a patient; its docstring is the diagnosis, a line, and the story.

    Settings are the fields of `Case`. Its test follows, under `@that_patient.tested_by`.
    """

    def admit(code):
        _, name, story = described_by(code)
        asks = "a line, a name from `FAULTS`, the mended code and a test, `detects(attention)`"
        title = f"Patient {id}"
        return register(
            Case(id=id, interface=interface, code=code, name=name, story=story, title=title, asks=asks, **settings)
        )

    return admit


@dataclass(eq=False, kw_only=True)
class Case(Exercise):
    """All that is known of a patient; none of it is shown before the learner has found it out."""

    interface: Interface
    code: Callable  # the patient as it is written in its ward, with its name and docstring
    name: str  # the diagnosis
    story: str
    cures: list  # ways to mend it, the first told: {line: (what stands in it, what should)}, the def line being 1
    faults: tuple  # what ails it, of FAULTS; where several names are true, each may be given
    relatives: list  # the same fault with another number or in other clothes
    probes: list = field(default_factory=list)  # more that mended code has to be right on
    gradients: bool = False  # mended code has to have the right gradients too
    counts: Callable | None = None  # counts(output, *arguments): the part of an output that matters
    reference: Callable = None  # the library's own test
    hints: list = field(default_factory=list)
    solved: bool = False  # in this session
    order: float | None = None  # draws another order in which a test meets its line-up
    in_parts = True

    def __post_init__(self):
        assert set(self.faults) <= set(FAULTS), self.id
        self.blind_to(constant_input)
        call = f"`{self.interface.call}`"
        general = f'`trace(PATIENTS["{self.id}"].buggy, …)` shows every step; the patient is called as {call}. '
        self.hints = [general + self.hints[0], *self.hints[1:]]

    @functools.cached_property
    def source(self):
        """The patient's source, under a name that does not give the fault away."""
        source = re.sub(rf"\b{self.code.__name__}\b", "attention", source_of(self.code))
        return source.replace(":\n\n", ":\n")  # where a docstring was

    @functools.cached_property
    def buggy(self):
        return compiled(self.source, f"<patient {self.id}>")

    @property
    def lines(self):
        """Where it goes wrong: the lines that a cure changes; each may be named."""
        return tuple(dict.fromkeys(line for cure in self.cures for line in cure))

    def mended(self, changes):
        """The source with some lines changed, as a cure says."""
        lines = self.source.splitlines()
        for number, (wrong, right) in changes.items():
            assert lines[number - 1].count(wrong) == 1, (self.id, number)
            lines[number - 1] = lines[number - 1].replace(wrong, right)
        return "\n".join(lines)

    @functools.cached_property
    def cured(self):
        return compiled(self.mended(self.cures[0]), f"<cure of {self.id}>")

    @functools.cached_property
    def half_cured(self):
        """The patient with one line mended of several that have to be."""
        several = [{line: change} for cure in self.cures if len(cure) > 1 for line, change in cure.items()]
        return [compiled(self.mended(half), f"<patient {self.id}, half mended>") for half in several]

    @functools.cached_property
    def mending(self):
        """To mend it, as an exercise of its own."""
        return Function(
            id=self.id,
            reference=self.called(self.cured),
            title=self.title,
            section=self.section,
            asks=self.interface.call.replace("attention", "mended"),
            hints=[],
            probes=[*self.interface.probes, *self.probes],
            gradients=self.gradients,
        )

    @property
    def answer(self):
        return self.lines[0], self.faults[0], self.cured, self.reference

    @property
    def neighbours(self):
        """(what it is called, code) of attention whose fault is another one."""
        cases = [case for case in EXERCISES.values() if isinstance(case, Case)]
        same = [case for case in cases if case.interface is self.interface and case is not self]
        dressed = [case for case in cases if case.id in self.interface.borrowed]
        return [(f"patient {case.id}", case.buggy) for case in same] + [
            (f"patient {case.id} in this one's clothes", self.interface.dressed(case.buggy)) for case in dressed
        ]

    def draw_again(self, rng):
        self.order = rng.random()
        self.mending.draw_again(rng)

    def called(self, code):
        """Code as a function of tensors alone: a module made afresh and in eval, and of the output what counts."""

        def attention(*args):
            made = fresh(code)
            output = made.eval()(*args) if isinstance(made, nn.Module) else made(*args)
            return output if self.counts is None or not isinstance(output, torch.Tensor) else self.counts(output, *args)

        return attention

    def tested_by(self, detects):
        """The decorated function is the library's own test for this fault."""
        self.reference = detects
        return detects

    def blind_to(self, *spots):
        """Add blind spots: what the calls of a test have in common where they cannot show this fault."""
        for spot in spots:
            self.add(BlindSpot(*described_by(spot), LESSON, spot))
        return spots[-1]

    def solution(self):
        """The library's own answer as source, to be run in the notebook."""
        number = self.id.partition(".")[2]
        line, fault, _, detects = self.answer
        mended = re.sub(r"\battention\b", f"mended_{number}", self.mended(self.cures[0]), count=1)
        test = re.sub(rf"\b{detects.__name__}\b", f"detects_{number}", source_of(detects), count=1)
        return f'line_{number}, fault_{number} = {line}, "{fault}"\n\n{mended}\n\n{test}'

    def asked(self):
        return self.asks

    def judge(self, answer):
        return judge(self, answer)


@dataclass(eq=False)
class BlindSpot(Misconception):
    """A known reason why a test lets its patient pass: `spot(calls)`."""

    spot: Callable

    def applies(self, evidence):
        if evidence.caught or not evidence.calls:
            return False
        try:
            return bool(self.spot(evidence.calls))
        except Exception:  # of calls with words for tensors, or with no heads at all, it has nothing to say
            return False


class Patient:
    """A patient as the learner meets it: `interface`, `source`, and `buggy`, to be called and traced."""

    def __init__(self, case):
        self.id, self.interface = case.id, str(case.interface)
        self._case = case

    @property
    def source(self):
        """The patient's source, under a name that does not give the fault away."""
        return self._case.source

    @property
    def buggy(self):
        """The patient, to be called; a module is made afresh each time."""
        return fresh(self._case.buggy)

    @property
    def right(self):
        """The same code with nothing wrong, once `check` is satisfied.

        Raises: AttributeError before that.
        """
        if not self._case.solved:
            raise AttributeError(f"patient {self.id} is shown in health once `check` is satisfied with your diagnosis")
        return fresh(self._case.cured)

    def __repr__(self):
        lines = enumerate(self.source.splitlines(), start=1)
        numbered = "\n".join(f"{number:>2}  {line}" for number, line in lines)
        return f"Patient {self.id}: {self.interface}\n\n{numbered}"

    def _repr_html_(self):
        number = '<span style="opacity: 0.6; user-select: none">{:>2}  </span>'
        lines = enumerate(html.escape(self.source, quote=False).splitlines(), start=1)
        numbered = "\n".join(number.format(n) + line for n, line in lines)
        call, meaning = (html.escape(part, quote=False) for part in self.interface.split(" → output; "))
        head = f"<b>Patient {self.id}</b> &nbsp; <code>{call}</code> → output; {meaning}"
        return show.framed(f"{head}<pre>{numbered}</pre>")
