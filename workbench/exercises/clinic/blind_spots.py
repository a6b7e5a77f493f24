"""Blind spots: reasons why a test lets the buggy code pass, told by the arguments that it calls `attention` with.

A blind spot is a function of the calls that a test made, each a dict of arguments by name: whether none of them can
show the fault. Its name is the misconception's id, its docstring what the learner is told.
"""

import torch


def inputs(calls):
    """Return every floating-point tensor that `attention` was called with."""
    return [arg for call in calls for arg in call.values() if _is_tensor(arg) and arg.is_floating_point()]


def masks(calls):
    return [arg for call in calls for arg in call.values() if _is_tensor(arg) and arg.dtype == torch.bool]


def arguments(calls, name):
    """Return what each call gave for an argument, without the calls that gave nothing."""
    return [call[name] for call in calls if call.get(name) is not None]


def _is_tensor(arg):
    return isinstance(arg, torch.Tensor)


def constant_input(calls):
    """All inputs are constant.

    If all keys are equal, all scores are equal, and any weights give the same output: with inputs of ones you can see
    almost no fault. Take random numbers.
    """
    several = [tensor for tensor in inputs(calls) if tensor.numel() > 1]
    return bool(several) and all(float(tensor.min()) == float(tensor.max()) for tensor in several)


def no_mask(calls):
    """The test never passes a mask.

    Without a mask this patient is right.
    """
    return not masks(calls)


def no_dead_row(calls):
    """No row of the mask is empty.

    The fault appears only if a query has no allowed key at all. Set one row of the mask to False.
    """
    return bool(masks(calls)) and all(bool(mask.any(dim=-1).all()) for mask in masks(calls))


def square_only(calls):
    """There are as many queries as keys.

    Then a triangle from the upper left and one from the lower right are the same mask. Take fewer queries than keys.
    """
    return all(call["q"].shape[-2] == call["k"].shape[-2] for call in calls)
