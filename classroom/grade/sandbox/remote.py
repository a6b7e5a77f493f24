"""A student's functions as the judge sees them: each call goes to the student's process, data goes and data comes."""

import builtins
import time
from dataclasses import dataclass

import torch
from torch import nn

from workbench.exercises.engine.watch import Failure

from .gradients import connected, gradients, tensors_in
from .protocol import Closed, Malformed, NotData, Reader, TimedOut, Writer, cleaned, settings_of
from .traces import from_data

ASKED = 2000  # how often a test may call what it is tried on, each time
LARGEST = 2**18  # numbers that a test may hand over at once


class WorkerEnded(RuntimeError):
    """The student's process is gone, or says what it must not."""


class OverMemory(Exception):
    """The student's processes hold more memory than they may."""


@dataclass
class Callback:
    """An argument that stays here: the student's side gets something that asks us."""

    attention: object

    def words(self, place):
        return ["attention", "module" if isinstance(self.attention, nn.Module) else "function", place]


class Connection:
    """The connection to a student's process, and what it has said so far beside results."""

    def __init__(self, channel, seconds, check_memory=lambda: None):
        self.channel, self.seconds, self._check_memory = channel, seconds, check_memory
        self.patience = seconds  # how long a single answer may take
        self.library = None  # the library's own function that an answer called
        self.hides = None  # what it did that would keep such a call from being noticed
        self.used = set()  # torch's functions that it called
        self.failure = None  # where its last call raised
        self.trouble = ""  # why nothing more can be asked
        self._calls_kept = 0
        self._last_object = -1  # the number of the last one that was made of a class

    # ------------------------------------------------------------------------------------------------- questions

    def load(self, **what):
        """Run the cells of an answer; returns what the process says it consists of."""
        answer, reader = self._ask({"do": "load", **what})
        return answer, reader

    def call(self, part, number, args):
        """Call a function that was handed in, or an object that was made of a class."""
        leaves = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad]
        keep = None
        if leaves and torch.is_grad_enabled():
            keep = self._calls_kept = self._calls_kept + 1
        servers = {i: CallbackServer(arg.attention) for i, arg in enumerate(args) if isinstance(arg, Callback)}
        seed = torch.randint(2**40, ()).item()  # of what the judge draws from, which it sets before each of its calls
        answer, reader = self._ask(
            {"do": "call", "part": part, "object": number, "keep": keep, "seed": seed}, args, servers
        )
        result = self._result(answer, reader)
        self._take_over(args, answer.get("after"), reader)
        return result if keep is None else connected(result, leaves, lambda weights: self._back(keep, weights))

    def new(self, part):
        """Make an object of a class that was handed in; returns its number."""
        answer, reader = self._ask({"do": "new", "part": part})
        self._result(answer, reader)
        self._last_object += 1
        return self._last_object

    def train(self, number, mode):
        answer, reader = self._ask({"do": "train", "object": number, "training": bool(mode)})
        self._result(answer, reader)

    def trace(self, part, args):
        """One more call of a function, recorded: a `Run`, or None."""
        answer, reader = self._ask({"do": "trace", "part": part}, args)
        return from_data(self._result({**answer, "printed": ""}, reader))  # the call before has printed it

    def _back(self, keep, weights):
        answer, reader = self._ask({"do": "back", "call": keep}, weights, name="weights")
        grads = self._result(answer, reader)
        if not isinstance(grads, list) or not all(g is None or isinstance(g, torch.Tensor) for g in grads):
            raise self._end("its process sent no gradients")
        return grads

    # --------------------------------------------------------------------------------------------------- answers

    def _ask(self, message, values=(), servers=None, name="args"):
        """Send a message; return (answer, reader).

        While it waits, `servers` answer what the process asks: for each argument that stays here, its own one.
        """
        if self.trouble:
            raise WorkerEnded(self.trouble)
        writer = Writer()
        message[name] = [
            value.words(place) if isinstance(value, Callback) else writer.value(value)
            for place, value in enumerate(values)
        ]
        deadline = time.monotonic() + self.patience
        try:
            self.channel.send(message, writer.storages, deadline)
            for _ in range(ASKED):
                answer, storages = self.channel.receive(deadline, self._check_memory)
                if "ask" not in answer:
                    return answer, Reader(storages)
                if not servers:
                    raise Malformed("a question where there is nothing to ask")
                self.channel.send(*servers[answer["of"]](answer, Reader(storages)), deadline)
            raise Malformed("questions without end")
        except TimedOut:
            raise self._end(f"stopped after {self.seconds:g} seconds") from None
        except Closed:
            raise self._end("it ended its own process") from None
        except OverMemory as error:
            raise self._end(str(error)) from None
        except (Malformed, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise self._end(f"its process sent {cleaned(error, 200)}") from None
        except BaseException:  # the judge's time is up
            self._end(f"stopped after {self.seconds:g} seconds")
            raise

    def _end(self, why):
        self.trouble, self.failure = self.trouble or why, None
        self.channel.close()
        return WorkerEnded(self.trouble)

    def _result(self, answer, reader):
        """The value in an answer, or the error that the student's code raised; what it printed is printed here."""
        try:
            error = error_like(*answer["raised"]) if "raised" in answer else None
            self.failure = _failure_in(answer)
            result = None if error else _local(reader.value(answer["result"]))
            self.used.update(str(name) for name in answer["used"])
            self.library = self.library or (answer["library"] and cleaned(answer["library"], 60))
            self.hides = self.hides or cleaned(answer.get("hides") or "", 60)
            text = cleaned(answer["printed"], 1000)
        except (Malformed, KeyError, TypeError, ValueError, RuntimeError, RecursionError):
            raise self._end("its process sent no answer") from None
        print(text, end="")
        if error:
            raise error
        return result

    def _take_over(self, args, after, reader):
        """Change our arguments as the call has changed theirs: the judge is to notice."""
        if after is None:
            return
        try:
            for arg, data in zip(args, after, strict=True):
                if isinstance(arg, Callback):
                    continue
                if isinstance(arg, nn.Module):
                    _change_module(arg, data, reader)
                elif isinstance(arg, torch.Tensor):
                    arg.data = reader.tensor(data)
                elif isinstance(arg, list):
                    arg[:] = reader.value(data)
        except (Malformed, TypeError, ValueError, RuntimeError, AttributeError, KeyError):
            raise self._end("it changed its arguments beyond recognition") from None


def _change_module(module, data, reader):
    _, _, _, parameters, _ = data
    tensors = {str(name): reader.tensor(tensor) for name, tensor in parameters}
    for name, parameter in list(module.named_parameters()):
        if name in tensors:
            parameter.data = tensors[name].detach()
            parameter.requires_grad_(tensors[name].requires_grad)
        else:
            owner, _, last = name.rpartition(".")
            delattr(module.get_submodule(owner), last)


def _failure_in(answer):
    """Where a call raised, or None; the line is the student's, and shown."""
    if "failure" not in answer:
        return None
    failure = Failure.from_data(answer["failure"])
    failure.line, failure.operation = cleaned(failure.line, 200), cleaned(failure.operation, 60)
    return failure


def _local(value):
    """What is no plain data becomes an object of a type with the same name, so that a verdict can say what it is."""
    if isinstance(value, NotData):
        return type(value.name or "something", (), {})()
    return type(value)(map(_local, value)) if type(value) in (list, tuple) else value


def error_like(kind, text):
    """An exception of the same name and message; of a type of Python's own where there is one."""
    kind, text = cleaned(kind, 60) or "Error", cleaned(text, 2000)
    own = getattr(builtins, kind, None)
    base = own if isinstance(own, type) and issubclass(own, Exception) else Exception
    return type(kind, (base,), {"__init__": lambda self: None, "__str__": lambda self: text})()


class CallbackServer:
    """Calls an implementation for a student's test: data comes, data goes, within bounds."""

    def __init__(self, attention):
        self.attention, self._results = attention, {}

    def __call__(self, question, reader):
        writer = Writer()
        try:
            args = [self._argument(data, reader) for data in question["args"]]
            named_args = {cleaned(name, 100): self._argument(data, reader) for name, data in question["named"]}
            values = [*args, *named_args.values()]
            if sum(value.numel() for value in values if isinstance(value, torch.Tensor)) > LARGEST:
                raise ValueError(f"more than {LARGEST} numbers at once")
            return self._answer(question, args, named_args, writer), writer.storages
        except Malformed:
            raise
        except Exception as error:
            return {"raised": [type(error).__name__, str(error)[:2000]]}, []

    @staticmethod
    def _argument(data, reader):
        value = reader.value(data)
        if isinstance(value, NotData):
            raise TypeError(f"attention is called with tensors and numbers, not with {value.name}")
        return value

    def _answer(self, question, args, named_args, writer):
        if question["ask"] == "train":
            self.attention.train(bool(args[0]))
            return {"result": None, "kept": None}
        if question["ask"] == "back":
            results, leaves = self._results.pop(question["kept"])
            return {"result": writer.value(gradients(results, leaves, args))}
        leaves = [
            value for value in (*args, *named_args.values()) if isinstance(value, torch.Tensor) and value.requires_grad
        ]
        result = self.attention(*args, **named_args)
        number = len(self._results)
        if question["grad"] and leaves:
            self._results[number] = tensors_in(result), leaves
        return {"result": writer.value(result), "kept": number}


# ------------------------------------------------------------------------------------- what the judge is handed


class RemoteFunction:
    """A function that was handed in."""

    def __init__(self, connection, part):
        self.connection, self._part = connection, part

    @property
    def used(self):
        """The names of torch's functions that it has called so far."""
        return self.connection.used

    @property
    def failure(self):
        """Where its last call raised, or None."""
        return self.connection.failure

    def __call__(self, *args):
        args = [Callback(arg) if callable(arg) and settings_of_any(arg) is None else arg for arg in args]
        return self.connection.call(self._part, None, args)

    def traced(self, args):
        """The run of one more call, or None."""
        return self.connection.trace(self._part, args)


def settings_of_any(arg):
    return settings_of(arg) if isinstance(arg, nn.Module) else None


def remote_class(connection, part):
    """A class that was handed in, for modules: its objects live in the student's process."""

    class Handed(nn.Module):
        def __init__(self):
            super().__init__()
            self._number = connection.new(part)

        def forward(self, *args):
            return connection.call(None, self._number, args)

        def train(self, mode=True):
            connection.train(self._number, mode)
            return super().train(mode)

    return Handed
