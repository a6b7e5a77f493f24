"""A learner's test on trial: tried on the patient, on right code, on relatives of the fault and on other faults."""

import random
from dataclasses import dataclass, field

import torch
from torch import nn

from ...display import show
from ..api import is_unattempted
from ..engine import runner
from ..engine.exercise import Misconception, described_by
from ..engine.outcome import kind_of
from ..engine.runner import OutOfTime, Raised
from .anonymous import fresh
from .part import LESSON, Part


@dataclass
class Evidence:
    """What a test said of whom, and what it called them with."""

    said: dict = field(default_factory=lambda: {"patient": {}, "right": {}, "relatives": {}, "neighbours": {}})
    calls: list = field(default_factory=list)  # the arguments of each call by name, of those calls that fit
    tried: int = 0  # calls, whether they fit or not
    notices_zeros: bool = True  # whether it would condemn an implementation that returns nothing but zeros

    @property
    def caught(self):
        return any(self.said["patient"].values())

    def condemned(self, group):
        return [name for name, condemned in self.said[group].items() if condemned]

    def all_condemned(self, group):
        return all(self.said[group].values())


class Refused(Exception):
    """A test that cannot be judged; the message says why."""


class Stub(Exception):
    """A test that is still to be written."""


def judge_test(case, detects, worker):
    if is_unattempted(detects):
        return OPEN_TEST
    if not callable(detects):
        return Part("Test", "wrong", f"`detects` has to be a function; what you handed in is {kind_of(detects)}.")
    evidence = Evidence()
    try:
        for group, name, code in line_up(case):
            evidence.said[group][name] = _ask(case, detects, code, group, evidence, worker)
        if not any(evidence.condemned(group) for group in evidence.said):
            evidence.notices_zeros = _ask(case, detects, zeros_of(case), "neighbours", evidence, worker)
    except Stub:
        return OPEN_TEST
    except Refused as refused:
        return Part("Test", "wrong", str(refused))
    return weigh(case, evidence)


OPEN_TEST = Part("Test", "open", "`detects(attention)` is still to be written.")


def line_up(case):
    """Everybody the test is tried on, mixed: nobody is known by their place in the row."""
    everybody = [("patient", "the patient", case.buggy)]
    everybody += [("right", f"right code {i}", cure) for i, cure in enumerate(case.interface.cures)]
    everybody += [("relatives", f"relative {i}", code) for i, code in enumerate(case.relatives)]
    everybody += [("neighbours", *neighbour) for neighbour in case.neighbours]
    random.Random(case.order or case.id).shuffle(everybody)
    return everybody


def _ask(case, detects, code, group, evidence, worker):
    """Whether the test condemns this code."""
    raised = []
    attention = watched(fresh(code), case.interface, evidence, raised)
    try:
        said = worker.run(lambda: _plain(detects(attention)))
    except OutOfTime:
        raise Refused(f"`detects` had not come back after {runner.LIMIT_S:g} seconds.") from None
    except Raised as caught:
        if isinstance(caught.error, NotImplementedError):
            raise Stub from None
        if raised and group in ("relatives", "neighbours"):
            return False  # an exception says that something is wrong, not what
        raise Refused(_complaint(caught.error, group, bool(raised))) from None
    if said is Ellipsis:  # only one line is missing
        raise Stub
    if not isinstance(said, bool):
        if said is None:
            raise Refused("`detects` returns nothing. Is the line with `return` missing?")
        raise Refused(f"`detects` has to return a bool; what it returns is {kind_of(said)}.")
    return said


def _plain(said):
    """A bool of Python's own, where it is one of torch's or NumPy's."""
    of_torch = isinstance(said, torch.Tensor) and said.numel() == 1
    return bool(said) if of_torch or type(said).__name__ == "bool" else said


def _complaint(error, group, from_within):
    where = {"patient": "On the patient", "right": "On right code"}.get(group, "On code with another fault")
    text = f"{where} `detects` raises `{show.error(error)}`."
    if isinstance(error, AssertionError):
        return f"{text} An assertion that fails has found something: use `torch.allclose`, and return what it says."
    if from_within and group == "right":
        return f"{text} That is what right code does with such arguments; where a test expects it, it catches it."
    return text


def watched(implementation, interface, evidence, raised):
    """The implementation as `attention`, which notes every call, in whatever way it is made."""
    is_module = isinstance(implementation, nn.Module)
    inner = implementation.forward if is_module else implementation

    def attention(*args, **kwargs):
        evidence.tried += 1
        named = interface.named(args, kwargs)
        if named is not None:
            evidence.calls.append(named | {"training": getattr(implementation, "training", False)})
        try:
            return inner(*args, **kwargs)
        except Exception as error:
            raised.append(error)
            raise

    if not is_module:
        return attention
    implementation.forward = attention
    return implementation


def zeros_of(case):
    """Right code, but for its numbers: all of them are 0."""
    cure = case.interface.cures[0]
    if not isinstance(cure, type):
        return lambda *args, **kwargs: cure(*args, **kwargs) * 0

    class Zeros(cure):
        def forward(self, *args):
            return super().forward(*args) * 0

    return Zeros


def weigh(case, evidence):
    """What a test is worth, told by what it said of whom."""
    said, caught = evidence.said, len(evidence.condemned("relatives"))
    wrongly = evidence.condemned("right") + evidence.condemned("neighbours")
    if evidence.caught and evidence.all_condemned("relatives") and not wrongly:
        found = f"It catches the patient and {show.count(caught, 'relative')} of the fault"
        passed = f"{len(said['right'])} right implementations and {len(said['neighbours'])} with another fault"
        return Part("Test", "right", f"{found}, and lets {passed} pass.")
    for misconception in (*FIRST, *case.misconceptions.values(), *LAST):
        if misconception.applies(evidence):
            whom = evidence.condemned("neighbours") if misconception.applies is condemns_others else []
            names = f" Condemned with the patient: {', '.join(whom)}." if whom else ""
            return Part("Test", "wrong", f"{misconception.name}.{names} {misconception.why}", misconception.id)
    relatives = show.count(len(said["relatives"]), "relative")
    return Part("Test", "wrong", f"It lets the patient pass; of {relatives} of the fault it catches {caught}.")


# ------------------------------------------------------------------------------misconceptions that any test can have


@dataclass(eq=False)
class Sign(Misconception):
    """A misconception that is known by what a test said of whom: `applies(evidence)`."""

    applies: object


def never_called(evidence):
    """It never calls `attention`.

    Whatever it looks at, it is not what the function computes: call it with inputs of your own and look at the output.
    """
    return not evidence.tried


def always(evidence):
    """It condemns everything.

    It says True to right code as well. A test is worth something only if it lets the right ones pass.
    """
    return all(map(evidence.all_condemned, evidence.said))


def upside_down(evidence):
    """It says True of right code and False of the patient.

    True has to mean that the fault is there: is a `not` missing, or one too many?
    """
    return not evidence.caught and evidence.all_condemned("right")


def sees_nothing(evidence):
    """It lets even a function pass that returns zeros.

    A shape alone does not tell right from wrong: nearly every fault of this clinic has the right one. Look at numbers.
    """
    return not evidence.notices_zeros


def condemns_right(evidence):
    """It condemns right code too.

    Right code need not agree to the last bit, since the order of operations differs: compare with a tolerance, as
    `torch.allclose` does, and ask for nothing that is only one way of doing it.
    """
    return bool(evidence.condemned("right"))


def condemns_others(evidence):
    """It condemns code whose fault is another one.

    Comparing with right code tells *that* something is wrong, not *what*. Ask for what only this fault breaks: choose
    inputs on which the others are right, or a second condition that they do not meet.
    """
    return evidence.caught and bool(evidence.condemned("neighbours"))


def only_this_one(evidence):
    """It catches this patient, but not its relatives.

    The same mistake with another number gets away. Test what has to hold of right code, not the one number that is
    wrong here.
    """
    return evidence.caught


FIRST = [Sign(*described_by(sign), LESSON, sign) for sign in (never_called, always, upside_down, sees_nothing)]
LAST = [Sign(*described_by(sign), LESSON, sign) for sign in (condemns_right, condemns_others, only_this_one)]
