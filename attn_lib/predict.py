"""predict: the learner's guess beside the truth; the truth stays folded away while nothing was entered."""

import html
import math

import torch

EXACT = 0.01  # what a hand-worked number may be off by


def predict(guess, truth, *, within=EXACT):
    """Show a guess beside the truth, or ask for one while guess is still `...` or None; never raises.

    truth is a number, a bool, a word, a shape, or a tensor of numbers; guess is the same, nested lists for a tensor.
    Numbers count as right when no further than `within` from the truth, words whatever their case.
    """
    return Prediction(guess, truth, within)


class Prediction:
    """What `predict` shows: `status` is "none", "right", "wrong" or "unlike" (not comparable with the truth)."""

    def __init__(self, guess, truth, within):
        self.guess, self.truth = guess, truth
        self.digits = 4 if within == EXACT else max(0, math.ceil(-math.log10(within)))  # no more than was asked for
        self.status, self.comment = _compare(guess, truth, within)

    def __repr__(self):
        if self.status == "none":
            return f"No guess entered yet. The answer: {self._shown(self.truth)}"
        return f"Your guess: {_show(self.guess)}. The answer: {self._shown(self.truth)}. {self.comment}"

    def _shown(self, value):
        return _show(value, self.digits)

    def _repr_html_(self):
        truth = f"<b>{html.escape(self._shown(self.truth))}</b>"
        if self.status == "none":
            text = (
                "No guess entered yet. Put yours in place of <code>...</code> and run this cell again."
                f"<details><summary>Show me the answer</summary>{truth}</details>"
            )
        else:
            sign = "✓" if self.status == "right" else "✗"
            guess = html.escape(_show(self.guess))
            text = f"Your guess: <b>{guess}</b> &nbsp; The answer: {truth}<br>{sign} {html.escape(self.comment)}"
        return f'<div style="border-left: 4px solid #1F5FBF; padding: 0.3em 0.8em">{text}</div>'


def _compare(guess, truth, within):
    if _unfilled(guess):
        return "none", ""
    if isinstance(truth, str | bool):
        right = str(guess).strip().casefold() == str(truth).casefold()
        return ("right", "Right.") if right else ("wrong", "Not what happens. Can you say why?")
    try:
        mine, theirs = (torch.as_tensor(_plain(side), dtype=torch.float64) for side in (guess, truth))
    except (TypeError, ValueError, RuntimeError):
        return "unlike", "The guess could not be read as numbers."
    if mine.shape != theirs.shape:
        return "unlike", f"The guess holds {_count(mine)}, the answer {_count(theirs)}."
    wrong = ~torch.isclose(mine, theirs, rtol=0.0, atol=within, equal_nan=True)
    if not wrong.any():
        return "right", "Right."
    if theirs.ndim == 0:
        return "wrong", f"Off by {_number(float(mine - theirs))}."
    return "wrong", f"{int(wrong.sum())} of {wrong.numel()} numbers differ."


def _unfilled(guess):
    return guess is None or guess is Ellipsis or (isinstance(guess, list | tuple) and any(map(_unfilled, guess)))


def _plain(value):
    return value.detach().tolist() if isinstance(value, torch.Tensor) else value


def _count(tensor):
    return "1 number" if tensor.ndim == 0 else " × ".join(map(str, tensor.shape)) + " numbers"


def _number(x, digits=4):
    if isinstance(x, bool) or not isinstance(x, int | float):
        return str(x)
    if not math.isfinite(x):
        return str(x)
    return f"{round(x, digits):.15g}".replace("-", "−")


def _show(value, digits=4):
    value = _plain(value)
    if isinstance(value, list | tuple):
        inner = ", ".join(_show(part, digits) for part in value)
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    return _number(value, digits)
