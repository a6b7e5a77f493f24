"""One run, or two side by side: what `trace` returns."""

import contextlib
import inspect
import sys

import torch
from torch.utils._pytree import tree_map

from . import compare, view
from .record import KEPT_TO_COMPARE, KEPT_WHOLE, Recorder, tensors_in


def trace(fn, *args, **kwargs):
    """Call fn and show every tensor operation it makes, in order, even up to an error; returns a `Trace`.

    With a second callable, trace(a, b, *args) runs both on the same arguments and the same random numbers, each on
    copies, and returns a `Comparison`; a callable that fn takes as its first argument stays its argument. Nothing is
    changed but what fn itself changes.
    Raises: TypeError if fn cannot be called; an error inside fn is shown, not raised.
    Source: torch.overrides.TorchFunctionMode, https://docs.pytorch.org/docs/stable/torch.overrides.html
    """
    if not callable(fn):
        raise TypeError(
            f"fn must be a function or a module, got {type(fn).__name__}: write trace(fn, x), not trace(fn(x))"
        )
    if args and callable(args[0]) and not _takes_it(fn, args, kwargs):
        return Comparison(fn, args[0], args[1:], kwargs)
    return Trace(fn, args, kwargs)


class Trace:
    """One run: `steps` as the source has them, `operations` one by one, `output`, `error` ("" if there was none)."""

    def __init__(self, fn, args, kwargs, sampled=KEPT_WHOLE):
        recorder = Recorder(sampled, view.ShownStep)
        self._fn, self.name = fn, _name(fn)
        with _uncompiled():
            self.output = recorder.run(fn, args, kwargs)
        self.steps, self.left_out = recorder.steps, recorder.left_out
        self.error, self.error_place = recorder.error, recorder.error_place

    @property
    def note(self):
        """Why nothing was seen, where nothing was, or ""."""
        if self.steps or not tensors_in(self.output):
            return ""
        if isinstance(self._fn, torch.jit.ScriptFunction | torch.jit.ScriptModule):
            return "it is scripted, and runs where trace cannot look: trace the function that was scripted"
        return "it makes no operation of PyTorch that trace can see"

    @property
    def operations(self):
        """Every single operation in order, also those inside library calls."""
        return [leaf for step in self.steps for leaf in step.operations()]

    @property
    def surprises(self):
        """Pairs (step, words), in order."""
        return [(step, words) for step in _all(self.steps) for words in step.surprises]

    def show(self, number, index=None, **tokens):
        """The heatmap of a step's result, as the step's own `show`."""
        return self[number].show(index, **tokens)

    def as_text(self, *, inner=False):
        """What is shown, as plain text; inner=True opens the library calls too."""
        return view.run_as_text(self, inner)

    def __getitem__(self, number):
        if isinstance(number, str):
            matches = [step for step in _all(self.steps) if step.number == number]
            if not matches:
                raise IndexError(f"there is no step {number}")
            return matches[0]
        if not isinstance(number, slice) and not -len(self) <= number < len(self):
            raise IndexError(f"there is no step {number}: the {len(self)} steps are numbered from 0")
        return self.steps[number]

    def __len__(self):
        return len(self.steps)

    def __repr__(self):
        return view.run_as_text(self)

    def _repr_html_(self):
        return view.run_as_html(self)


class Comparison:
    """Two runs: `first`, `second` (each a `Trace`), `difference` (None where the outputs agree), `verdict` in words."""

    def __init__(self, first, second, args, kwargs):
        state = torch.get_rng_state()
        self.first = Trace(first, *_copies(args, kwargs), sampled=KEPT_TO_COMPARE)
        torch.set_rng_state(state)
        self.second = Trace(second, *_copies(args, kwargs), sampled=KEPT_TO_COMPARE)
        self.pairs = compare.align(self.first.operations, self.second.operations)
        self.difference = compare.first_difference(self.first, self.second)

    @property
    def output(self):
        """Both outputs, as a pair."""
        return self.first.output, self.second.output

    @property
    def verdict(self):
        if self.difference is None:
            nothing = self.first.output is None  # and so is the other, or they would differ
            return "Neither returns anything." if nothing else "The outputs agree on these arguments."
        return self.difference.words

    def as_text(self, *, every=False):
        """What is shown, as plain text; every=True shows every row, and not only those that tell where the two part."""
        return view.comparison_as_text(self, every)

    def __repr__(self):
        return view.comparison_as_text(self)

    def _repr_html_(self):
        return view.comparison_as_html(self)


def _all(steps):
    for step in steps:
        yield step
        yield from _all(step.inner)


def _copies(args, kwargs):
    """Arguments of its own for each version, still tied to the caller's for gradients; q is k stays q is k."""
    copies = {}

    def copy(value):
        if not isinstance(value, torch.Tensor) or isinstance(value, torch.nn.Parameter):
            return value
        return copies.setdefault(id(value), value.clone())

    return tree_map(copy, args), tree_map(copy, kwargs)


def _takes_it(fn, args, kwargs):
    """Whether the callable after fn can only be an argument of fn, since without it fn's arguments do not fit."""
    return _fits(fn, args, kwargs) and not _fits(fn, args[1:], kwargs)


def _fits(fn, args, kwargs):
    """Whether fn says that it can be called with these arguments."""
    try:
        inspect.signature(fn.forward if isinstance(fn, torch.nn.Module) else fn).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return False
    return True


def _uncompiled():
    """Compiled functions called inside run as they are written; without them the compiler is not even imported."""
    dynamo = sys.modules.get("torch._dynamo")
    return torch.compiler.set_stance("force_eager") if dynamo else contextlib.nullcontext()


def _name(fn):
    fn = getattr(fn, "_orig_mod", fn)  # what a compiled module was made of
    if isinstance(fn, torch.nn.Module):
        return type(fn).__name__
    name = getattr(fn, "__name__", None) or type(fn).__name__
    return "lambda" if name == "<lambda>" else name
