"""Run a learner's function so that the notebook goes on whatever it does: bounded time, nothing raised or printed."""

import contextlib
import ctypes
import io
import threading
import time

import torch

LIMIT_S = 10.0  # for all calls of one check together
GRACE_S = 0.5  # how long a stopped call may take to unwind before its thread is left behind


class _TimeUp(BaseException):
    """Raised inside the learner's call; not an Exception, so that `except Exception` lets it through."""


class OutOfTime(Exception):
    """The call did not come back in time."""


class Deadline:
    """The moment by which all calls of one check must be back."""

    def __init__(self, seconds=None):
        self.seconds = LIMIT_S if seconds is None else seconds
        self.end = time.monotonic() + self.seconds

    def left(self):
        return max(0.0, self.end - time.monotonic())


def run(work, deadline, printed=None):
    """Call `work()` in a thread of its own; return its result, raise its exception, or raise OutOfTime.

    Works alike on every system and inside a kernel: signals would not. What is printed is appended to the list
    `printed`, and the random numbers that the call draws are the same each time and do not disturb the notebook's.
    """
    result, error = [], []

    def target():
        try:
            result.append(work())
        except BaseException as raised:  # SystemExit and _TimeUp too: they are the learner's, not ours
            error.append(raised)

    out = io.StringIO()
    thread = threading.Thread(target=target, daemon=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)  # torch.manual_seed writes down a stack trace for every absent device
        thread.start()
        try:
            thread.join(deadline.left())
        finally:  # also when the learner presses stop, which raises KeyboardInterrupt here
            stopped = thread.is_alive()
            if stopped:
                _stop(thread)
    if printed is not None and out.getvalue().strip():
        printed.append(out.getvalue())
    if stopped:
        raise OutOfTime
    if error:
        raise error[0]
    return result[0]


def _stop(thread):
    """Raise _TimeUp in the thread until it ends; one that hangs in C code is left behind, a daemon."""
    end = time.monotonic() + GRACE_S
    while thread.is_alive() and time.monotonic() < end:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_TimeUp))
        thread.join(0.05)
