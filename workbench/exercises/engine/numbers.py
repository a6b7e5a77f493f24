"""Exercises whose answer is a few numbers, worked by hand: `numbers(…)` and how they are judged."""

from dataclasses import dataclass

import torch

from ...display.show import BY_HAND, count, short, value
from .exercise import Exercise, register


def numbers(id, reference, **settings):
    """An exercise that asks for the numbers that `reference()` returns; its misconceptions return others.

    Settings are the fields of `Numbers`: title, section, asks and hints are always needed.
    """
    return register(Numbers(id=id, reference=reference, **settings))


@dataclass(eq=False)
class Numbers(Exercise):
    """Right to `within`; a misconception is known by its own numbers."""

    within: float = BY_HAND

    @property
    def answer(self):
        return self.reference().tolist()

    def judge(self, answer):
        try:
            mine = torch.as_tensor(_plain(answer), dtype=torch.float64).flatten()
        except Exception:  # whatever was handed in, it was no list of numbers
            return self.wrong(f"This could not be read as {self.asks}, as in `[1.5, 2.0, 0.25]`.")
        truth = self.reference().double()
        if self._near(mine, truth):
            return self.correct(f"Right: {value(truth, 4)}.")
        for misconception in self.misconceptions.values():
            if any(self._near(mine, form()) for form in misconception.forms):
                return self.wrong_by(misconception)
        if mine.shape != truth.shape:
            return self.wrong(f"The answer is {self.asks}; this is {count(mine.numel(), 'number')}.")
        wrong = [i for i in range(len(truth)) if not self._near(mine[i], truth[i])]
        places = " and ".join(f"number {i + 1} ({short(mine[i].item())})" for i in wrong)
        verb = "is" if len(wrong) == 1 else "are"
        return self.wrong(f"Not yet: {places} {verb} off by more than {self.within}.")

    def _near(self, mine, truth):
        return mine.shape == truth.shape and bool(((mine - truth).abs() <= self.within).all())


def _plain(answer):
    """Lists, tuples, tensors and arrays, inside each other too, as lists of numbers."""
    if hasattr(answer, "tolist"):  # numpy's arrays and numbers too
        return answer.tolist()
    return [_plain(part) for part in answer] if isinstance(answer, list | tuple) else answer
