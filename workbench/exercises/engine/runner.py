"""Run a learner's code so that the notebook goes on whatever it does: bounded time, nothing printed, nothing left.

Why not simpler? An endless loop has to be stopped. A signal with an alarm does not exist on Windows and works in the
main thread only, where the kernel needs the stop button itself; a process would have to be sent the notebook's own
functions, which cannot be pickled, and to import torch. So the code runs in a thread, and an exception is raised in it
by the interpreter's C interface, PyThreadState_SetAsyncExc, again and again, since the code may catch it.
"""

import contextlib
import ctypes
import io
import queue
import threading
import time

import torch

LIMIT_S = 10.0  # for all calls of one check together
GRACE_S = 0.5  # how long a stopped call may take to unwind before its thread is left behind

_one_at_a_time = threading.Lock()  # what is printed, random numbers and the default dtype belong to the whole process


class _TimeUp(BaseException):
    """Raised inside the learner's call; not an Exception, so that `except Exception` lets it through."""


class OutOfTime(Exception):
    """The call did not come back in time."""


class Raised(Exception):
    """The learner's code raised `error`, whatever that is: SystemExit and KeyboardInterrupt too."""

    def __init__(self, error):
        super().__init__()
        self.error = error


class Worker:
    """A thread in which a learner's code runs, one for a whole check: `with Worker() as worker: worker.run(work)`.

    Works alike on every system and inside a kernel: signals would not. While it is open what is printed goes to
    `printed()`, and the notebook's random numbers and default dtype are put aside and come back afterwards; `dtype` is
    the default meanwhile.
    """

    def __init__(self, seconds=None, dtype=torch.float32):
        self.seconds_left = LIMIT_S if seconds is None else seconds
        self._dtype = dtype
        self._inside = isinstance(threading.current_thread(), _Thread)  # a learner's function that calls check itself
        self._out = io.StringIO()

    def __enter__(self):
        if not self._inside:
            self._open = contextlib.ExitStack()
            self._open.enter_context(_one_at_a_time)
            self._open.enter_context(contextlib.redirect_stdout(self._out))
            self._open.enter_context(contextlib.redirect_stderr(io.StringIO()))  # warnings are not the learner's words
            self._open.enter_context(torch.random.fork_rng(devices=[]))
            self._open.enter_context(as_when_torch_starts())
            self._thread = _Thread()
            self._thread.start()
        return self

    def __exit__(self, *error):
        if not self._inside:
            self._thread.tasks.put(None)
            self._open.close()

    def printed(self):
        return self._out.getvalue()

    def run(self, work, *, timed=True):
        """Call `work()` and return its result; raises `Raised` if it raises, and OutOfTime once the time is up.

        Random numbers that it draws are the same each time. The library's own code is not `timed`.
        """
        if self._inside:
            return _result_of(_result_or_error(work, self._dtype))
        if timed and self.seconds_left <= 0:
            raise OutOfTime
        started = time.monotonic()
        self._thread.tasks.put((work, self._dtype))
        try:
            result_and_error = self._thread.results.get(timeout=self.seconds_left if timed else None)
        except queue.Empty:
            self.seconds_left = 0
            self._thread.stop()
            raise OutOfTime from None
        except BaseException:  # the learner presses stop, which raises KeyboardInterrupt here
            self._thread.stop()
            raise
        self.seconds_left -= (time.monotonic() - started) if timed else 0
        return _result_of(result_and_error)


class _Thread(threading.Thread):
    """Does one piece of work after the other until it is handed None."""

    def __init__(self):
        super().__init__(daemon=True, name="check")
        self.tasks, self.results = queue.SimpleQueue(), queue.SimpleQueue()

    def run(self):
        with contextlib.suppress(_TimeUp):
            while (task := self.tasks.get()) is not None:
                self.results.put(_result_or_error(*task))

    def stop(self):
        """Raise _TimeUp in it until it ends; one that hangs in C code is left behind, a daemon."""
        end = time.monotonic() + GRACE_S
        while self.is_alive() and time.monotonic() < end:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(_TimeUp))
            self.join(0.05)


def _result_or_error(work, dtype=torch.float32):
    """Return (result, error) of work that finds torch as it is when it starts, whatever calls before it have set."""
    torch.default_generator.manual_seed(0)  # torch.manual_seed writes down a stack trace for every absent device
    torch.set_default_dtype(dtype)
    try:
        with torch.inference_mode(False):  # gradients are on then, too
            return work(), None
    except _TimeUp:
        raise
    except BaseException as error:
        return None, error


def _result_of(result_and_error):
    result, error = result_and_error
    if error is not None:
        raise Raised(error)
    return result


@contextlib.contextmanager
def as_when_torch_starts():
    """Inside, float32 and the processor are the defaults and gradients are on, as when torch is imported."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    elsewhere = torch.get_default_device().type != "cpu"
    device = torch.device("cpu") if elsewhere else contextlib.nullcontext()  # not for nothing: it slows each call
    try:
        with torch.inference_mode(False), device:  # gradients are on then, too
            yield
    finally:
        torch.set_default_dtype(before)
