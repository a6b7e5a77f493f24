"""Exercises whose answer is a function: `function(…)`, and how they are judged, call by call.

Why not simpler? A test could compare one result with the library's. But a learner needs the name of the misconception,
which is found by calling its code on the same arguments; so every call's outcome is kept, the library's and the
misconceptions' once in a session. Which of torch's operations an answer runs is watched while it does, since its source
need not name them, and the course's own answer by a profiler, since that is plain Python and no function of torch's.
"""

import contextlib
import dis
import functools
import inspect
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType

import torch
from torch.overrides import TorchFunctionMode

from ...display import show
from ...trace import trace
from . import runner
from .exercise import COURSES_OWN, Exercise, register
from .outcome import (
    close,
    failed_on_one_thing,
    is_or_are,
    outcome_of,
    refuse_not_callable,
    right,
    same,
    same_complaint,
    sort_of,
)
from .probes import redrawn, with_dtype
from .runner import OutOfTime, Raised, Worker
from .watch import COURSE, Operations, first_ruled_out, is_one_of, name_of

# An answer may call whatever PyTorch and attn_lib offer, but not a function of the course that is the whole answer, and
# not what its text rules out: AUTOGRAD, where that says "without autograd".
AUTOGRAD = "backward", "grad", "_softmax_backward_data", "_log_softmax_backward_data"

NUMBERS, CORNERS, GRADIENTS = range(3)  # stages, judged in turn: the next one only if all was right so far


def function(id, reference, *, as_, **settings):
    """An exercise that asks for what `reference` does, as a function of the learner's own.

    as_ is how an answer is called, "my_causal_mask(n_queries, n_keys)"; each probe is a tuple of arguments for it.
    Settings are the fields of `Function`: title, section, probes and hints are always needed.
    """
    return register(Function(id=id, reference=reference, asks=as_, **settings))


@dataclass(frozen=True)
class Trial:
    """One call of an answer; its gradients are compared in the stage GRADIENTS."""

    args: tuple
    stage: int


@dataclass(eq=False, kw_only=True)
class Function(Exercise):
    """Right if its results are those of the reference; a misconception is known by those of its forms."""

    probes: list  # tuples of arguments
    corner_cases: list = field(default_factory=list)  # probes where two misconceptions may meet
    returns: tuple = ("the result",)  # a name for each tensor that comes back
    gradients: bool = False
    invariants: list = field(default_factory=list)  # (what is wrong where it does not hold, test(answer) → bool)
    dtype: torch.dtype = torch.float32  # of what it is tried on and by default: what its notebook works with
    without: tuple = ()  # functions of torch's that its text rules out, by whatever name they run
    numbers: tuple = ()  # of `returns`, what the text calls numbers: lists and Python's own will do for those
    read: Callable = lambda tensors: tensors  # brings equally right answers to one form
    may_change: tuple = ()  # positions of arguments that the answer is there to change
    after: Callable | None = None  # takes the arguments and the result, where what an answer leaves behind counts
    shown: Callable = lambda arg: None  # an argument in words, where its shape does not say enough
    random_probes: Callable = lambda rng: []  # more of them for grading, drawn by a `random.Random`
    prepare: Callable = lambda answer: None  # is called with an answer before its time begins

    def __post_init__(self):
        with contextlib.suppress(ValueError):  # torch's own functions have no signature
            takes = inspect.signature(self.reference)
            for probe in (*self.probes, *self.corner_cases):
                takes.bind(*probe)  # TypeError where it does not fit: probes are handed over by position
        self._order_trials()

    def draw_again(self, rng):
        self.probes = [tuple(redrawn(arg, rng) for arg in probe) for probe in self.probes] + self.random_probes(rng)
        rng.shuffle(self.probes)
        self._order_trials()

    def _order_trials(self):
        trials = [self.trial(args) for args in self.probes] + [self.trial(args, CORNERS) for args in self.corner_cases]
        trials += [Trial(trial.args, GRADIENTS) for trial in trials if self.gradients]
        self.trials = sorted(trials, key=lambda trial: (trial.stage, sum(map(_size, trial.args))))
        self._known = {}  # the reference or a form of a misconception → its outcomes on the first trials

    def trial(self, args, stage=NUMBERS):
        return Trial(tuple(with_dtype(arg, self.dtype) for arg in args), stage)

    def argument_names(self):
        inside = self.asks[self.asks.index("(") + 1 : self.asks.rindex(")")]
        return [part.split("=")[0].strip() for part in inside.split(",")]

    def call_in_words(self, trial):
        args = zip(self.argument_names(), trial.args, strict=False)
        return f"{self.asks.split('(')[0]}({', '.join(shown_arg(name, arg, self) for name, arg in args)})"

    def raised_in_words(self, call, text):
        return f"{call} raises `{text.removesuffix('.')}`."

    def outcome(self, answer, trial, run):
        return outcome_of(answer, trial.args, self, run, gradients=trial.stage == GRADIENTS)

    def known_outcomes(self, code, how_many, worker):
        """The outcomes of the reference, or of a misconception, on the first trials: computed once in a session."""
        outcomes = self._known.setdefault(code, [])
        run = functools.partial(worker.run, timed=False)
        for trial in self.trials[len(outcomes) : how_many]:
            outcome = self.outcome(code, trial, run)
            outcome.is_right = code is self.reference or right(outcome, self._known[self.reference][len(outcomes)])
            outcomes.append(outcome)
        return outcomes[:how_many]

    def judge(self, answer):
        if not callable(answer):
            return self.wrong(refuse_not_callable(self.asks, answer))
        self.prepare(answer)
        with Worker(dtype=self.dtype) as worker:
            verdict = Judgement(self, answer, worker).verdict()
            printed = worker.printed().strip()
        if printed:
            first = printed.splitlines()[0][:60]
            verdict.message += (
                f'\n\nIt prints ("{first}"): a function returns its result and leaves it to the caller what to show.'
            )
        return verdict


class Judgement:
    """Judges one answer, which is called no more often than it takes to know what is wrong."""

    def __init__(self, exercise, answer, worker):
        self.exercise, self.answer, self.worker = exercise, answer, worker
        self.expected = exercise.known_outcomes(exercise.reference, len(exercise.trials), worker)
        self.outcomes = []  # of the first trials, as many as were needed
        self._watching = _Watching(exercise.names_in_the_course(), answer, operations=bool(exercise.without))
        self._shown_trial = None  # the trial that the verdict shows

    def verdict(self):
        exercise = self.exercise
        for stage, _ in itertools.groupby(exercise.trials, key=lambda trial: trial.stage):
            is_complete = self._run(stage)
            wrong = [i for i, outcome in enumerate(self.outcomes) if not outcome.is_right]
            if wrong:
                verdict = self._wrong(wrong[0], stage, is_complete)
                verdict.shown_in = self._shown_trial and self._shown_trial.args
                verdict.came_to = self.outcomes[wrong[0]].kind
                return verdict
        complaint = self._changes_when_called_again() or self._broken_invariant() or self._used_what_it_must_not()
        if complaint is not None:
            return exercise.wrong(f"The numbers agree with the library's, but {complaint}.")
        return exercise.correct(
            f"Right: {'numbers and gradients' if exercise.gradients else 'the numbers'} agree with the library's."
        )

    def _run(self, stage):
        """Call the answer on every trial of a stage; returns False where further calls would tell no more."""
        for trial, truth in zip(self.exercise.trials, self.expected, strict=True):
            if trial.stage == stage:
                outcome = self.exercise.outcome(self.answer, trial, self.worker.run)
                outcome.is_right = right(outcome, truth)
                self.outcomes.append(outcome)
                unreadable = outcome.kind == "unreadable" and truth.kind == "value"
                if unreadable or outcome.kind in ("late", "none", "changed"):
                    return False
        return True

    # ---------------------------------------------------------------------------------------------- a wrong answer

    def _wrong(self, first, stage, is_complete):
        exercise = self.exercise
        trial, outcome, truth = exercise.trials[first], self.outcomes[first], self.expected[first]
        if all(mine.failure is not None and mine.failure.is_stub for mine in self.outcomes):
            return exercise.unattempted()
        misconception, form = self._diagnosis(stage) if is_complete else (None, None)
        if misconception is not None:
            first = self._where_both_fail(form, first)
            trial, outcome, truth = exercise.trials[first], self.outcomes[first], self.expected[first]
            if misconception.telltale_call is not None:
                trial = exercise.trial(misconception.telltale_call)
                truth = exercise.outcome(exercise.reference, trial, self.worker.run)
                outcome = exercise.outcome(self.answer, trial, self.worker.run)
            return exercise.wrong_by(misconception, *self._explained(trial, outcome, truth))
        misconception, agreed = self._partly_explained_by() if is_complete else (None, [])
        if misconception is not None:
            return self._named_with_a_rest(misconception, agreed)
        message, matrices = self._explained(trial, outcome, truth)
        message = message.removeprefix("It shows in ")  # where nothing was named that could show
        clues = [*(self._clues(trial) if matrices else []), _globals_clue(inspect.unwrap(self.answer))]
        return exercise.wrong("\n\n".join(filter(None, [message, *clues])), matrices)

    def _clues(self, trial):
        """What else can be said of numbers that differ: that they are drawn, or where they part and what they break."""
        if self._is_random(trial):
            return ["A clue: called twice in a row it comes to two results, so it is random. Is a dropout left on?"]
        clues = [self._first_difference(trial)]
        broken = self._broken_invariant()
        if broken is not None and broken.is_seen:
            clues.append(f"A clue: {broken}.")
        return clues

    def _is_random(self, trial):
        """Whether two calls in a row, on the same arguments, have two results."""
        try:
            first, second = self.worker.run(
                lambda: [self.exercise.outcome(self.answer, trial, lambda work: work()) for _ in range(2)]
            )
        except (OutOfTime, Raised):
            return False
        return not same(first, second)

    def _explained(self, trial, outcome, truth):
        self._shown_trial = trial if outcome.kind == truth.kind == "value" else None
        return explain(self.exercise, trial, outcome, truth)

    def _diagnosis(self, stage):
        """Return the misconception whose code has the results that the answer has, and that code, or (None, None).

        Both must first go wrong at the same stage and agree on everything up to there. In corner cases, where two
        misconceptions may meet, they need to agree only where this one shows.
        """
        best, most = (None, None), 0
        for misconception, form in self._forms():
            agreed = self._agreement(form, stage)
            if agreed > most:
                best, most = (misconception, form), agreed
        return best

    def _where_both_fail(self, form, first):
        """The place of the first call in which this code is wrong too: before it the answer may have another fault."""
        pairs = enumerate(self._beside(form))
        return next((place for place, (_, mine, its) in pairs if not mine.is_right and not its.is_right), first)

    def _forms(self):
        return [(one, form) for one in self.exercise.misconceptions.values() for form in one.forms]

    def _agreement(self, form, stage):
        """How well the answer and a form of a misconception agree, or 0 if the answer is another.

        Where a form shows by errors alone, and not by numbers too, they have to come of one thing: any line may raise.
        """
        pairs = []
        for trial, mine, its in self._beside(form):
            if trial.stage < stage and not its.is_right:
                return 0
            if trial.stage == stage:
                in_words = same(mine, its)
                alike = _may_be_alike(mine, its) if stage == CORNERS else same_complaint(mine, its)
                if not (in_words or alike or (its.is_right and (mine.is_right or stage != NUMBERS))):
                    return 0
                pairs.append((mine, its, in_words, alike))
        wrong = [its for _, its, *_ in pairs if not its.is_right]
        computes = any(its.kind == "value" for _, its, *_ in pairs)  # then where it fails says enough, and not how
        by_place = stage != NUMBERS or any(its.kind == "value" for its in wrong)
        agreed = 0
        for mine, its, in_words, alike in pairs:
            alike = computes and alike and (by_place or failed_on_one_thing(mine, its))
            equal = in_words or alike or (mine.is_right and its.is_right)
            if not equal and (not its.is_right or stage == NUMBERS):
                return 0
            agreed += equal + in_words
        return agreed if wrong else 0

    def _beside(self, form):
        """(trial, the answer's outcome, the form's) one by one: what nobody looks at is not computed."""
        for place, (trial, mine) in enumerate(zip(self.exercise.trials, self.outcomes, strict=False)):
            yield trial, mine, self.exercise.known_outcomes(form, place + 1, self.worker)[place]

    def _partly_explained_by(self):
        """The misconception that explains most calls, and which ones; the others may have a second cause."""
        best, most = None, []
        for misconception, form in self._forms():
            explained = self._calls_explained_by(form, more_than=max(len(most), len(self.outcomes) / 2))
            if explained:
                best, most = misconception, explained
        return best, most

    def _calls_explained_by(self, form, more_than):
        """The places of the calls that a form explains, or [] if they are too few.

        Only real numbers count, which do not agree by chance, and it must not show where the answer is right.
        """
        explained, left = [], len(self.outcomes)
        for place, (_, mine, its) in enumerate(self._beside(form)):
            left -= 1
            if not its.is_right and _same_reals(mine, its):
                explained.append(place)
            if (mine.is_right and not its.is_right) or len(explained) + left <= more_than:
                return []
        return explained

    def _named_with_a_rest(self, misconception, agreed):
        exercise = self.exercise
        triples = list(zip(exercise.trials, self.outcomes, self.expected, strict=False))
        where, matrices = self._explained(*triples[agreed[0]])
        others = [i for i, (_, mine, _) in enumerate(triples) if i not in agreed and not mine.is_right]
        rest, _ = explain(exercise, *triples[others[0]])
        explains = f"This explains {len(agreed)} of {len(triples)} calls."
        rest = f"{explains} The other calls may have the same cause, or another. {rest}"
        return exercise.wrong_by(misconception, f"{where}\n\n{rest}", matrices)

    def _first_difference(self, trial):
        """A sentence on the first operation that differs from the library's answer.

        "" where an operation may be right and only built in another way.
        """
        if self.exercise.after is not None or hasattr(self.answer, "used"):  # nothing, or nothing here, is computed
            return ""

        def traced():
            compared = trace(self.exercise.reference, self.answer, *trial.args)
            difference = compared.difference
            return compared.verdict if difference and difference.is_cause and difference.second.place.own else ""

        try:
            clue = self.worker.run(traced)
        except (OutOfTime, Raised):  # whatever the answer does when it is run once more, its verdict stands
            return ""
        return clue and f"`trace` of the library's answer (A) and yours (B): {clue}"

    # ----------------------------------------------------------------------------- an answer whose numbers are right

    def _broken_invariant(self):
        """What is `Broken` first of the invariants, or None."""
        for what, holds in self.exercise.invariants:
            numbers = []

            def observed(*args, numbers=numbers):
                result = self.answer(*args)
                numbers.extend(_tensors_in(result))
                return result

            try:
                if self.worker.run(lambda holds=holds, observed=observed: holds(observed)):
                    continue
            except OutOfTime:
                return Broken(_too_slow(), is_seen=False)
            except Raised as raised:
                return Broken(f"in another call it raises `{show.error(raised.error)}`", is_seen=False)
            has_nan = any(bool(part.isnan().any()) for part in numbers if part.is_floating_point())
            return Broken("in another call it comes to NaN", is_seen=False) if has_nan else Broken(what)
        return None

    def _changes_when_called_again(self):
        for trial, before in reversed(list(zip(self.exercise.trials, self.outcomes, strict=True))):
            if trial.stage == GRADIENTS:
                continue
            again = self.exercise.outcome(self._watching.watched, trial, self.worker.run)
            if again.kind == "late":
                return _too_slow()
            if not (_both_raised(again, before) or same(again, before)):
                return f"`{self.exercise.call_in_words(trial)}` comes to something else when it is called again"
        return None

    def _used_what_it_must_not(self):
        exercise, answer = self.exercise, self.answer
        if exercise.is_own(answer):  # the course tries itself; `check` refuses it
            return None
        if self._watching.courses is not None:
            return COURSES_OWN.format(self._watching.courses)
        ran = self._watching.ran | getattr(answer, "used", set())  # one that runs elsewhere says what it used
        name = first_ruled_out(exercise.without, ran)
        return f"it is torch's own `{name}` that does the work; this exercise is to be done without" if name else None


def _both_raised(one, other):
    return one.kind == other.kind == "raised"


def _may_be_alike(mine, its):
    """Whether both raised: whatever it was, unless its own error is that something is missing; then mine as well."""
    something_is_missing = "NoneType" in its.text or its.text.startswith("KeyError")
    return _both_raised(mine, its) and ("NoneType" in mine.text or not something_is_missing)


def _same_reals(one, other):
    return one.kind == "value" and any(map(torch.is_floating_point, one.tensors[:1])) and same(one, other)


@dataclass(frozen=True)
class Broken:
    """What does not hold of an answer; `is_seen` unless it raised, came to NaN or ran out of time before that."""

    what: str
    is_seen: bool = True

    def __str__(self):
        return self.what


def _too_slow():
    return f"its calls take more than {runner.LIMIT_S:g} seconds together, so that it could not be tried to the end"


def _tensors_in(result):
    if isinstance(result, torch.Tensor):
        return [result]
    return [tensor for part in result for tensor in _tensors_in(part)] if isinstance(result, tuple | list) else []


class _Watching(TorchFunctionMode):
    """Notes which of torch's functions and operations an answer runs, and whether it calls the course's own answer."""

    def __init__(self, own, answer, *, operations):
        super().__init__()
        self.ran, self.courses = set(), None
        self._own, self._answer, self._unwrapped = own, answer, inspect.unwrap(answer)
        self._operations = Operations(self.ran) if operations else contextlib.nullcontext()

    def watched(self, *args):
        """Call the answer."""
        before = sys.getprofile()
        sys.setprofile(self._on_call)
        try:
            with self, self._operations:
                return self._answer(*args)
        finally:
            sys.setprofile(before)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.ran.add(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))

    def _on_call(self, frame, event, arg):
        if event == "c_call":  # autograd's engine, and softmax where torch's modes are switched off
            self.ran.add(getattr(arg, "__name__", ""))
        if event == "call" and self.courses is None and is_one_of(frame.f_code, self._own):
            file, own = frame.f_code.co_filename, self._unwrapped
            taught = inspect.isfunction(own) and frame.f_globals is own.__globals__ and file != own.__code__.co_filename
            if taught or file.startswith(COURSE):  # taught: in another cell of the notebook
                self.courses = name_of(frame.f_code)


def _globals_clue(answer):
    """Names the notebook's own tensors that a function reads: they stay as they are, whatever it is called with."""
    if not isinstance(answer, FunctionType):
        return ""
    # co_names has attributes too: the `values` of `topk(3).values` is none of the notebook's
    global_names = dict.fromkeys(line.argval for line in dis.get_instructions(answer) if line.opname == "LOAD_GLOBAL")
    tensor_names = [name for name in global_names if isinstance(answer.__globals__.get(name), torch.Tensor)]
    if not tensor_names:
        return ""
    names = " and ".join(f"`{name}`" for name in tensor_names)
    return f"A clue: it reads {names} of the notebook, which stays the same whatever the function is called with."


# ---------------------------------------------------------------------------------------- an outcome in words


def explain(exercise, trial, outcome, truth):
    """Return an outcome in words, and the two matrices to draw beside it, or None."""
    call = f"`{exercise.call_in_words(trial)}`"
    if outcome.kind == "late":
        return (
            f"{call} had not come back after {runner.LIMIT_S:g} seconds and was stopped. Does a loop never end?",
            None,
        )
    if outcome.kind == "raised" and trial.stage == GRADIENTS and "modified by an inplace operation" in outcome.text:
        return (
            f"{call}: the numbers are right, but no gradient can be computed, because numbers that it needs have been "
            f"overwritten. What overwrites a tensor: `x /= …`, `x[…] = …`, or a method that ends in `_`, such as "
            f"`x.div_(…)`. Make a new tensor instead: `x = x / …`.",
            None,
        )
    if outcome.kind == "raised":
        return " ".join(filter(None, [exercise.raised_in_words(call, outcome.text), _where(outcome.failure)])), None
    if truth.kind == "raised":
        return f"{call} returns something, where it has to raise an error: the library raises `{truth.text}`.", None
    if outcome.kind == "none":
        return f"{call} returns nothing. Is the line with `return` missing?", None
    if outcome.kind == "changed":
        return f"{call} changes its argument `{outcome.text}`, which the caller still needs. Work on a copy.", None
    if outcome.kind == "unreadable":
        return f"{call}: {outcome.text}.", None
    if outcome.kind == "detached":
        return (
            f"{call}: the numbers are right, but no gradient flows back. What cuts it: `.detach()`, `.item()`, "
            f"`.tolist()`, numpy, or `torch.tensor(…)` around results?",
            None,
        )
    return _explain_values(exercise, trial, outcome, truth, call)


def _where(failure):
    """A sentence on the learner's line that raised, and the shapes that torch was given there."""
    if failure is None or not failure.line:
        return ""
    operands = f", where `{failure.operation}` is given {failure.operands_in_words()}" if failure.operands else ""
    return f"That is in the line `{failure.line}`{operands}."


def _explain_values(exercise, trial, outcome, truth, call):
    if len(outcome.tensors) != len(truth.tensors):
        return f"{call} returns something of another form than what is asked for.", None
    with_gradients = trial.stage == GRADIENTS
    names = [f"the gradient of {name}" for name in _differentiable(exercise, trial)]
    for name, yours, expected in zip(
        names if with_gradients else exercise.returns, outcome.tensors, truth.tensors, strict=True
    ):
        if sort_of(yours) != sort_of(expected):
            matrices = None if yours.is_complex() else (yours, expected)
            return f"{call}: {name} {is_or_are(name)} {yours.dtype}, where {expected.dtype} was expected.", matrices
        if yours.shape != expected.shape:
            sizes = f"{tuple(yours.shape)}, where {tuple(expected.shape)} was expected"
            return f"{call}: {name} {'have' if is_or_are(name) == 'are' else 'has'} shape {sizes}.", None
        if not close(yours, expected, outcome.rounding):
            return f"It shows in {call}: {name} {_how_it_differs(name, yours, expected)}.", (yours, expected)
    return f"{call} is right.", None  # only where a misconception does not show in its own telltale call


def _how_it_differs(name, yours, expected):
    verb = is_or_are(name)
    if yours.is_floating_point() and bool(yours.isnan().all()):
        return f"{verb} NaN"
    for kind, of in (("NaN", torch.isnan), ("infinite", torch.isinf)):
        if yours.is_floating_point() and bool((of(yours) & ~of(expected)).any()):
            return f"{verb} {kind} in places"
    return "differs" if verb == "is" else "differ"


def _differentiable(exercise, trial):
    pairs = zip(exercise.argument_names(), trial.args, strict=False)
    return [name for name, arg in pairs if isinstance(arg, torch.Tensor) and arg.is_floating_point()]


def shown_arg(name, arg, exercise):
    """An argument in words: a number as it is, a small integer or bool tensor written out, another by its shape."""
    if (words := exercise.shown(arg)) is not None:
        return f"{name}={words}"
    if not isinstance(arg, torch.Tensor):
        return f"{name}={arg}" if isinstance(arg, int | list) or arg is None else name
    if arg.ndim == 1 and not arg.is_floating_point() and arg.numel() <= 8:
        return f"{name}={arg.tolist()}"
    return f"{name} {tuple(arg.shape)}"


def _size(arg):
    if isinstance(arg, torch.Tensor):
        return arg.numel()
    return arg if isinstance(arg, int) else 0
