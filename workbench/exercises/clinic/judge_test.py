"""Judge a learner's test: it runs on the buggy code, on correct code, on variants of the bug, and on other bugs."""

import random
from dataclasses import dataclass, field

import torch
from torch import nn

from ...display import show
from ..engine import runner
from ..engine.exercise import Misconception, described_by
from ..engine.outcome import kind_of, refuse_not_callable
from ..engine.runner import OutOfTime, Raised
from ..engine.stub import is_unattempted
from ..engine.verdict import Part
from .anonymous import instance_of

SECTION = "06#text-07"  # what does a test have to say?


@dataclass
class Evidence:
    """Which candidates a test reported as faulty, and with which arguments it called them."""

    reported: dict = field(default_factory=lambda: {"buggy": {}, "correct": {}, "variants": {}, "decoys": {}})
    calls: list = field(default_factory=list)  # {name: argument} of each call that fits the interface
    n_calls: int = 0  # of all calls, also those that do not fit
    notices_zeros: bool = True  # whether it would report an implementation that returns nothing but zeros
    notices_noise: bool = True  # whether it would report one that returns other random numbers with each call

    @property
    def caught(self):
        return any(self.reported["buggy"].values())

    def reported_in(self, group):
        return [name for name, reported in self.reported[group].items() if reported]

    def all_reported_in(self, group):
        return all(self.reported[group].values())


class Refused(Exception):
    """A test that cannot be judged; the message says why."""


class Stub(Exception):
    """A test that is still to be written."""


def judge_test(bug, detects, worker):
    """Return the part of the verdict that is about the test."""
    if is_unattempted(detects):
        return OPEN_TEST
    if not callable(detects):
        return Part("Test", "wrong", refuse_not_callable("detects", detects))
    evidence = Evidence()
    try:
        for group, name, code in candidates(bug):
            evidence.reported[group][name] = _reports(bug, detects, code, group, evidence, worker)
        if not any(evidence.reported_in(group) for group in evidence.reported):
            evidence.notices_zeros = _reports(bug, detects, with_output(bug, _zeros), "decoys", evidence, worker)
            evidence.notices_noise = _reports(bug, detects, with_output(bug, _noise), "decoys", evidence, worker)
    except Stub:
        return OPEN_TEST
    except Refused as refused:
        return Part("Test", "wrong", str(refused))
    return part_of(bug, evidence)


OPEN_TEST = Part("Test", "open", "`detects(attention)` is still to be written.")


def candidates(bug):
    """Return (group, name, code) of all that a test runs on, shuffled so that it cannot tell them by order."""
    everything = [("buggy", "the patient", bug.buggy)]
    everything += [("correct", f"right code {i}", code) for i, code in enumerate(bug.interface.correct)]
    everything += [("variants", words, code) for words, code in bug.variants.items()]
    everything += [("decoys", *decoy) for decoy in bug.decoys]
    random.Random(bug.order or bug.id).shuffle(everything)
    return everything


def _reports(bug, detects, code, group, evidence, worker):
    """Return whether the test reports this code as faulty; raises Stub or Refused where it does not say."""
    raised = []
    attention = watched(instance_of(code), bug.interface, evidence, raised)
    try:
        returned = worker.run(lambda: _as_bool(detects(attention)))
    except OutOfTime:
        raise Refused(f"`detects` had not come back after {runner.LIMIT_S:g} seconds.") from None
    except Raised as caught:
        if isinstance(caught.error, NotImplementedError):
            raise Stub from None
        if raised and group in ("variants", "decoys"):
            return False  # an exception says that something is wrong, not what
        raise Refused(_complaint(caught.error, group, bool(raised))) from None
    if returned is Ellipsis:  # only one line is missing
        raise Stub
    if not isinstance(returned, bool):
        if returned is None:
            raise Refused("`detects` returns nothing. Is the line with `return` missing?")
        raise Refused(f"`detects` must return a bool, but it returns {kind_of(returned)}.")
    return returned


def _as_bool(value):
    """Return a bool of torch's or NumPy's as Python's own, and anything else as it is."""
    of_torch = isinstance(value, torch.Tensor) and value.numel() == 1
    return bool(value) if of_torch or type(value).__name__ == "bool" else value


def _complaint(error, group, from_attention):
    where = {"buggy": "On the patient", "correct": "On right code"}.get(group, "On code with another fault")
    text = f"{where} `detects` raises `{show.error(error)}`."
    if isinstance(error, AssertionError):
        return f"{text} A test returns True or False: use `torch.allclose` in place of the assertion."
    if from_attention and group == "correct":
        return f"{text} Right code raises this error with such arguments. If your test expects it, use `try`."
    return text


def watched(implementation, interface, evidence, raised):
    """Return the implementation as `attention`: its calls are added to `evidence`, its exceptions to `raised`."""
    is_module = isinstance(implementation, nn.Module)
    inner = implementation.forward if is_module else implementation

    def attention(*args, **kwargs):
        evidence.n_calls += 1
        arguments = interface.named(args, kwargs)
        if arguments is not None:
            evidence.calls.append(arguments | {"training": getattr(implementation, "training", False)})
        try:
            return inner(*args, **kwargs)
        except Exception as error:
            raised.append(error)
            raise

    if not is_module:
        return attention
    implementation.forward = attention
    return implementation


def with_output(bug, change):
    """Return correct code whose output is changed."""
    correct = bug.interface.correct[0]
    if not isinstance(correct, type):
        return lambda *args, **kwargs: change(correct(*args, **kwargs))

    class Changed(correct):
        def forward(self, *args):
            return change(super().forward(*args))

    return Changed


def _zeros(output):
    return output * 0


def _noise(output):
    return output * 0 + torch.randn(output.shape, dtype=output.dtype)


def part_of(bug, evidence):
    """Return the part of the verdict that follows from what a test reported."""
    reported, caught = evidence.reported, len(evidence.reported_in("variants"))
    wrongly = evidence.reported_in("correct") + evidence.reported_in("decoys")
    if evidence.caught and evidence.all_reported_in("variants") and not wrongly:
        finds = f"It finds the patient and {show.count(caught, 'variant')} of the fault"
        lets_pass = f"{len(reported['correct'])} right implementations and {len(reported['decoys'])} with another fault"
        return Part("Test", "right", f"{finds}, and lets {lets_pass} pass.")
    if bug.is_healthy and evidence.caught:
        words = "It returns True for this patient. What does right code return for the same calls? Compare the numbers."
        return Part("Test", "wrong", words, "condemns-the-healthy")
    for misconception in (*FIRST, *bug.misconceptions.values(), *LAST):
        if misconception.applies(evidence):
            decoys = evidence.reported_in("decoys") if misconception.applies is condemns_others else []
            names = f" True was returned also for: {_in_order(decoys)}." if decoys else ""
            more = _escaped(bug, evidence) if misconception.applies is only_this_one else _begin_with(bug, decoys)
            message = f"{misconception.name}.{names} {misconception.why}{more}"
            return Part("Test", "wrong", message, misconception.id)
    variants = show.count(len(reported["variants"]), "variant")
    return Part("Test", "wrong", f"It returns False for the patient; of {variants} of the fault it finds {caught}.")


def _number_of(decoy):
    """The number of the patient that a decoy is: 10 of "patient 6.10 called like this one"."""
    return int(decoy.split()[1].partition(".")[2])


def _in_order(decoys):
    return ", ".join(sorted(decoys, key=_number_of))


def _begin_with(bug, decoys):
    """Which of those condemned to look at, from the second such test on."""
    alike = [decoy for decoy in sorted(decoys, key=_number_of) if decoy.count(" ") == 1]
    bug.condemned += bool(alike)
    if not alike or bug.condemned < 2:
        return ""
    other = f'`PATIENTS["6.{_number_of(alike[0])}"].buggy`'
    return f"\n\nBegin with one: on which call is {other} right, though this patient is not?"


def _escaped(bug, evidence):
    """Which relative got away, from the second such test on: the first is the learner's own to find."""
    bug.escapes += 1
    if bug.escapes < 2:
        return ""
    away = next(words for words, reported in evidence.reported["variants"].items() if not reported)
    bug.escaped = bug.variants[away]
    return f'\n\nYour test does not find this form: {away}. It is `PATIENTS["{bug.id}"].escaped`: call or `trace` it.'


# ------------------------------------------------------------------------- misconceptions that any test may show


@dataclass(eq=False)
class SeenInReports(Misconception):
    """A misconception that is recognised by what a test reported: `applies(evidence)`."""

    applies: object


def never_called(evidence):
    """It never calls `attention`.

    So it cannot know what the function computes. Call the function with inputs of your own, and look at the output.
    """
    return not evidence.n_calls


def always(evidence):
    """It returns True for everything.

    It returns True also for right code. A test is useful only if it returns False for right code.
    """
    return all(map(evidence.all_reported_in, evidence.reported))


def upside_down(evidence):
    """It returns True for right code and False for the patient.

    True has to mean that the fault is there: is a `not` missing, or one too many?
    """
    return not evidence.caught and evidence.all_reported_in("correct")


def sees_nothing(evidence):
    """It finds nothing wrong even with a function that returns only zeros.

    A shape alone does not tell right code from wrong code: nearly every fault of this clinic has the right shape. Look
    at numbers.
    """
    return not (evidence.notices_zeros or evidence.notices_noise)


def lets_zeros_pass(evidence):
    """It finds nothing wrong even with a function that returns only zeros.

    What your test compares is the same for right code, for the patient, and for an output of zeros. On which input do
    the numbers of the patient differ from the right ones?
    """
    return not evidence.notices_zeros


def condemns_right(evidence):
    """It returns True for right code, too.

    Right code can differ in the last digits, since the order of operations differs: compare with a tolerance, as
    `torch.allclose` does. And do not demand a detail that other right code does differently.
    """
    return bool(evidence.reported_in("correct"))


def condemns_others(evidence):
    """It returns True for code that has another fault.

    A comparison with right code shows *that* something is wrong, not *what*. Test what only this fault breaks: choose
    inputs on which the other patients are right, or add a second condition that they do not meet.
    """
    return evidence.caught and bool(evidence.reported_in("decoys"))


def only_this_one(evidence):
    """It finds this patient, but not every form of its fault.

    It does not find the same fault written in another way or with another number. Test what must be true of right code,
    and not only the one number that is wrong here.
    """
    return evidence.caught


def _seen_in_reports(*signs):
    return [SeenInReports(*described_by(sign), SECTION, sign) for sign in signs]


FIRST = _seen_in_reports(never_called, always, upside_down, sees_nothing)  # before those of one bug
LAST = _seen_in_reports(condemns_right, condemns_others, only_this_one, lets_zeros_pass)
