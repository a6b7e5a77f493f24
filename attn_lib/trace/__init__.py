"""trace: see every tensor operation inside your own code, with its shapes; or where two versions part.

t = trace(attention, q, k, v)      # shows itself: lines, operations, shapes, surprises, an error if there was one
t[5], t["5.2"]                     # one step with its numbers; "5.2" is inside a call
t.show(5)                          # its heatmap
trace(mine, theirs, q, k, v)       # side by side, and the first operation whose result differs
"""

import torch
from torch.utils._pytree import tree_map

from . import compare, view
from .record import Recorder, keep, tensors_in

__all__ = ["Comparison", "Trace", "trace"]


def trace(fn, *args, **kwargs):
    """Call fn and show every tensor operation it makes, in order, even up to an error; returns a `Trace`.

    With a second callable, trace(a, b, *args) runs both on the same arguments and the same random numbers, each on
    copies, and returns a `Comparison`. Nothing is changed but what fn itself changes.
    Raises: TypeError if fn cannot be called; an error inside fn is shown, not raised.
    Source: torch.overrides.TorchFunctionMode, https://docs.pytorch.org/docs/stable/torch.overrides.html
    """
    if not callable(fn):
        raise TypeError(
            f"fn must be a function or a module, got {type(fn).__name__}: write trace(fn, x), not trace(fn(x))"
        )
    if args and callable(args[0]) and not isinstance(args[0], torch.Tensor):
        return Comparison(fn, args[0], args[1:], kwargs)
    return Trace(fn, args, kwargs)


class Trace:
    """One run: `steps` as the source has them, `operations` one by one, `output`, `error` ("" if there was none)."""

    def __init__(self, fn, args, kwargs):
        recorder = Recorder()
        self.name = _name(fn)
        self.output = recorder.run(fn, args, kwargs)
        self.steps, self.left_out = recorder.steps, recorder.left_out
        self.error, self.error_place = recorder.error, recorder.error_place

    @property
    def operations(self):
        """Every single operation in order, also those inside library calls."""
        return [leaf for step in self.steps for leaf in step.operations()]

    @property
    def surprises(self):
        """Pairs (step, words), in order."""
        return [(step, words) for step in _all(self.steps) for words in step.surprises]

    def show(self, number, index=None, **tokens):
        """The heatmap of a step's result, as `Step.show`."""
        return self[number].show(index, **tokens)

    def as_text(self, *, inner=False):
        """What is shown, as plain text; inner=True opens the library calls too."""
        return view.run_as_text(self, inner)

    def __getitem__(self, number):
        if isinstance(number, str):
            found = [step for step in _all(self.steps) if step.number == number]
            if not found:
                raise IndexError(f"there is no step {number}")
            return found[0]
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
        self.first = Trace(first, *_copies(args, kwargs))
        torch.set_rng_state(state)
        self.second = Trace(second, *_copies(args, kwargs))
        self.pairs = compare.align(self.first.operations, self.second.operations)
        outputs = [[keep(tensor) for tensor in tensors_in(run.output)] for run in (self.first, self.second)]
        self.difference = compare.first_difference(self.first, self.second, outputs)

    @property
    def output(self):
        """Both outputs, as a pair."""
        return self.first.output, self.second.output

    @property
    def verdict(self):
        if self.difference is None:
            return "The outputs agree on these arguments."
        return f"First difference: {self.difference.words}."

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
    made = {}

    def copy(value):
        if not isinstance(value, torch.Tensor) or isinstance(value, torch.nn.Parameter):
            return value
        return made.setdefault(id(value), value.clone())

    return tree_map(copy, args), tree_map(copy, kwargs)


def _name(fn):
    if isinstance(fn, torch.nn.Module):
        return type(fn).__name__
    name = getattr(fn, "__name__", None) or type(fn).__name__
    return "lambda" if name == "<lambda>" else name
