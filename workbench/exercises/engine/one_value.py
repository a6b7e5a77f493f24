"""What an exercise reads that asks for a single value: one number, or True or False, in whatever form it comes."""

from numbers import Real

import torch

from ...display.show import short
from .outcome import Unreadable, kind_of


def number_of(what, value, *, is_whole=False):
    """The one number that a result is, as a tensor to be shown; raises Unreadable for whatever is none.

    `what` is asked for: "a number of bytes"; is_whole: it counts something, and has no fraction.
    """
    number = _taken_out(value)
    if number is None:
        raise Unreadable(f"it returns nothing: {what} is asked for")
    if not isinstance(number, Real) or isinstance(number, bool):
        raise Unreadable(f"it returns {kind_of(value)}, where {what} is asked for")
    if not is_whole:
        return torch.tensor([[float(number)]], dtype=torch.float64)
    if number != number // 1:
        raise Unreadable(f"it returns {short(float(number))}, where {what} is asked for, which is whole")
    return torch.tensor([[int(number)]])


def yes_or_no(value):
    """The one True or False that a test returns, as a tensor to be shown; raises Unreadable for whatever is none."""
    answer = _taken_out(value)
    if answer is None:
        raise Unreadable("it returns nothing: True or False is asked for")
    if not isinstance(answer, Real) or answer not in (0, 1):
        raise Unreadable(f"it returns {kind_of(value)}, where True or False is asked for")
    return torch.tensor([[bool(answer)]])


def _taken_out(value):
    """What a tensor, or an array of numpy's, of one entry holds; anything else as it is."""
    how_many = value.numel() if isinstance(value, torch.Tensor) else getattr(value, "size", 0)
    return value.item() if how_many == 1 and hasattr(value, "item") else value
