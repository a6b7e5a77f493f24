"""A bug of the clinic: `Bug` holds all that is known of it, `Patient` is the part of that which a learner sees."""

import functools
import html
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn

from ...display import show
from ...places import is_to_be_read
from ..engine.exercise import EXERCISES, Exercise, Misconception, described_by, register
from ..engine.function import Function
from ..engine.source import source_of
from .anonymous import compiled, instance_of
from .blind_spots import constant_input
from .fault_names import FAULTS, HEALTHY
from .interfaces import Interface
from .judge_bug import judge
from .judge_test import SECTION


def bug(id, interface, **settings):
    """Register the decorated function or class as a bug; its docstring is the diagnosis, a blank line, and the story.

    Settings are the fields of `Bug`. The library's own test of it follows, under `@that_bug.tested_by`.
    """

    def add(code):
        _, name, story = described_by(code)
        asks = "a line, a name from `FAULTS`, the mended code and a test, `detects(attention)`"
        title = f"Patient {id}"
        return register(
            Bug(id=id, interface=interface, code=code, name=name, story=story, title=title, asks=asks, **settings)
        )

    return add


@dataclass(eq=False, kw_only=True)
class Bug(Exercise):
    """An attention with one fault, and what an answer to it is judged by; learners see its `Patient`.

    One without `fixes` is healthy: whoever says so is right, and whoever mends or condemns it is told what for.
    """

    interface: Interface
    code: Callable  # as it is written in bugs/, with its name and docstring
    name: str  # the diagnosis
    story: str
    fixes: list  # {line: (what stands in it, what should)}, the def line being 1; the first one is shown
    faults: tuple  # its names in FAULTS: each is accepted, the first one is shown
    variants: dict  # {in words: other code with the same fault}, which a test has to catch too
    probes: list = field(default_factory=list)  # calls on which fixed code must be right, besides the interface's
    gradients: bool = False  # whether fixed code must have the right gradients too
    counts: Callable | None = None  # counts(output, *arguments): the part of an output that is compared
    reference: Callable = None  # the library's own test
    hints: list = field(default_factory=list)
    solved: bool = False  # in this session
    order: float | None = None  # seeds the order in which a test meets its candidates; the id unless drawn
    escapes: int = 0  # tests of this session that caught the patient and let a relative get away
    escaped: Callable | None = None  # that relative, once it was named
    condemned: int = 0  # tests of this session that condemned other patients with this one
    in_parts = True

    def __post_init__(self):
        for name in set(self.faults) - set(FAULTS):
            raise ValueError(f"patient {self.id}: there is no fault {name!r}, only {', '.join(FAULTS)}")
        self.blind_to(constant_input)
        call = f"`{self.interface.call}`"
        general = f'`trace(PATIENTS["{self.id}"].buggy, …)` shows every step; the arguments are {call}. '
        self.hints = [general + self.hints[0], *self.hints[1:]]

    @property
    def is_healthy(self):
        return not self.fixes

    @functools.cached_property
    def source(self):
        """The buggy source, under a name that does not give the fault away."""
        source = re.sub(rf"\b{self.code.__name__}\b", "attention", source_of(self.code))
        return source.replace(":\n\n", ":\n", 1)  # where a docstring was

    @functools.cached_property
    def buggy(self):
        return compiled(self.source, f"<patient {self.id}>")

    @property
    def lines(self):
        """The numbers of the lines that a fix changes; each is accepted as the place of the fault."""
        return tuple(dict.fromkeys(line for fix in self.fixes for line in fix))

    def source_with(self, fix):
        """The source with the lines changed that a fix names."""
        lines = self.source.splitlines()
        for number, (wrong, right) in fix.items():
            if number > len(lines) or lines[number - 1].count(wrong) != 1:
                raise ValueError(
                    f"patient {self.id}: {wrong!r} has to stand once in line {number}, counted without the docstring"
                )
            lines[number - 1] = lines[number - 1].replace(wrong, right)
        return "\n".join(lines)

    @property
    def mended_sources(self):
        return [self.source_with(fix) for fix in self.fixes]

    @functools.cached_property
    def fixed(self):
        if self.is_healthy:
            return self.buggy
        return compiled(self.source_with(self.fixes[0]), f"<fix of {self.id}>")

    @functools.cached_property
    def half_fixed(self):
        """The code with one line changed, for each line of a fix that needs several."""
        several = [{line: change} for fix in self.fixes if len(fix) > 1 for line, change in fix.items()]
        return [compiled(self.source_with(half), f"<patient {self.id}, half mended>") for half in several]

    @functools.cached_property
    def fix_exercise(self):
        """The exercise that judges the mended code: a function that agrees with the fixed one."""
        return Function(
            id=self.id,
            reference=self.called(self.fixed),
            title=self.title,
            section=self.section,
            asks=self.interface.call.replace("attention", "mended"),
            hints=[],
            probes=[*self.interface.probes, *self.probes],
            gradients=self.gradients,
        )

    @property
    def answer(self):
        if self.is_healthy:
            return HEALTHY, ..., ..., ...
        if self.reference is None:
            raise ValueError(
                f"patient {self.id} has no test of its own: write it under @{self.code.__name__}.tested_by"
            )
        return self.lines[0], self.faults[0], self.fixed, self.reference

    @property
    def decoys(self):
        """(name, code) of attention with another fault, which a test has to let pass."""
        bugs = [bug for bug in EXERCISES.values() if isinstance(bug, Bug)]
        same = [bug for bug in bugs if bug.interface is self.interface and bug is not self and not bug.is_healthy]
        adapted = [bug for bug in bugs if bug.id in self.interface.adapted]
        return [(f"patient {bug.id}", bug.buggy) for bug in same] + [
            (f"patient {bug.id} called like this one", self.interface.adapt(bug.buggy)) for bug in adapted
        ]

    def draw_again(self, rng):
        self.order, self.escapes, self.condemned = rng.random(), -math.inf, -math.inf  # grading gives no second help
        self.fix_exercise.draw_again(rng)

    def called(self, code):
        """Code as a function of its arguments: a new module in eval for each call, and of the output what counts."""

        def attention(*args):
            instance = instance_of(code)
            output = instance.eval()(*args) if isinstance(instance, nn.Module) else instance(*args)
            return output if self.counts is None or not isinstance(output, torch.Tensor) else self.counts(output, *args)

        return attention

    def tested_by(self, detects):
        """Make the decorated function the library's own test for this fault."""
        self.reference = detects
        return detects

    def blind_to(self, *spots):
        """Add blind spots: what all calls of a test have in common if they cannot show this fault."""
        for spot in spots:
            self.add(BlindSpot(*described_by(spot), SECTION, spot))
        return spots[-1]

    def solution(self):
        """The library's own answer as source, to be run in the notebook."""
        number = self.id.partition(".")[2]
        line, fault, _, detects = self.answer
        source = self.source if self.is_healthy else self.source_with(self.fixes[0])
        mended = re.sub(r"\battention\b", f"mended_{number}", source, count=1)
        if self.is_healthy:
            return f'line_{number}, fault_{number} = "{HEALTHY}", ...\n\n{mended}  # as it came in'
        test = re.sub(rf"\b{detects.__name__}\b", f"detects_{number}", source_of(detects), count=1)
        return f'line_{number}, fault_{number} = {line}, "{fault}"\n\n{mended}\n\n{test}'

    def asks_in_words(self):
        return self.asks

    def judge(self, answer):
        return judge(self, answer)


@dataclass(eq=False)
class BlindSpot(Misconception):
    """A known reason why a test lets the buggy code pass: `spot(calls)` says whether it applies."""

    spot: Callable

    def applies(self, evidence):
        if evidence.caught or not evidence.calls:
            return False
        try:
            return bool(self.spot(evidence.calls))
        except Exception:  # a learner's test may call with anything: words for tensors, no heads at all
            return False


_first_read = []  # whose source a reader has met open


def source_shown(patient):
    """A patient's numbered source, in HTML; for readers folded, but for the first, which shows how patients look.

    There are many, and in the clinic the source stands once more in the cell in which it is to be mended.
    """
    numbered = show.numbered(patient.source)
    if not is_to_be_read() or patient.id in (_first_read or [patient.id]):
        _first_read[:] = _first_read or [patient.id]
        return numbered
    return show.folded("Its source, with the numbers of the lines", numbered)


class NotShownYet(AttributeError):
    """What a patient does not show before `check` has said so; IPython shows one line and no traceback."""

    def _render_traceback_(self):
        return [str(self)]


class Patient:
    """A bug as the learner meets it: `interface`, `source`, and `buggy`, to be called and traced."""

    def __init__(self, bug):
        self.id, self.interface = bug.id, str(bug.interface)
        self._bug = bug

    @property
    def source(self):
        """The patient's source, under a name that does not give the fault away."""
        return self._bug.source

    @property
    def buggy(self):
        """The patient, to be called; of a class a new module each time."""
        return instance_of(self._bug.buggy)

    @property
    def escaped(self):
        """A relative that a test let get away, once `check` has named it.

        Raises: NotShownYet before that.
        """
        if self._bug.escaped is None:
            raise NotShownYet(f"`check` has not named a form of the fault that your test of {self.id} does not find.")
        return instance_of(self._bug.escaped)

    def with_line(self, number, text):
        """The patient with one of its lines written anew, to be called; `...` as long as one of the two is missing.

        The new line is indented as the old one was.
        Raises: ValueError for a number that no line has, SyntaxError for a line that is no Python.
        """
        if number is ... or text is ...:
            return ...
        lines = self.source.splitlines()
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(lines):
            raise ValueError(f"number={number!r} is no line of patient {self.id}, whose lines are 1 to {len(lines)}")
        old = lines[number - 1]
        lines[number - 1] = old[: len(old) - len(old.lstrip())] + text.strip()
        return compiled("\n".join(lines), f"<patient {self.id}, line {number} written anew>")

    @property
    def right(self):
        """The same code with nothing wrong, once `check` has accepted the whole answer.

        Raises: NotShownYet before that.
        """
        if not self._bug.solved:
            raise NotShownYet(f"the right code of patient {self.id} is shown once `check` has accepted your answer")
        return instance_of(self._bug.fixed)

    def __repr__(self):
        lines = enumerate(self.source.splitlines(), start=1)
        numbered = "\n".join(f"{number:>2}  {line}" for number, line in lines)
        return f"Patient {self.id}: {self.interface}\n\n{numbered}"

    def _repr_html_(self):
        call, meaning = (html.escape(part, quote=False) for part in self.interface.split(" → output; "))
        head = f"<b>Patient {self.id}</b> &nbsp; <code>{call}</code> → output; {meaning}"
        return show.framed(head + source_shown(self))
