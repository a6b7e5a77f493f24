"""What goes between the judge and a student's process: every value as it was, nothing believed, within bounds.

Both sides are in this process, and what a dishonest student's process would send is written out; test_grade_answer.py
and test_confinement.py have the real one.
"""

import json
import socket
import struct
import time

import numpy
import pytest
import torch
from torch import nn

from attn_lib import MultiHeadAttention
from classroom.grade.sandbox import protocol, remote, traces
from classroom.grade.sandbox.gradients import connected
from classroom.grade.sandbox.protocol import Channel, Closed, Malformed, Reader, TimedOut, Writer
from classroom.grade.sandbox.remote import (
    CallbackServer,
    Connection,
    OverMemory,
    RemoteFunction,
    WorkerEnded,
    error_like,
)
from classroom.grade.sandbox.worker import module_from, state_of


def across(value):
    """A value as the other side has it."""
    writer = Writer()
    data = json.loads(json.dumps(writer.value(value)))
    return Reader(arrived(writer.storages), module_from).value(data)


def arrived(storages):
    return [torch.tensor(list(numbers), dtype=torch.uint8) for numbers in storages]


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours), theirs


def test_what_is_no_plain_data_is_only_its_types_name():
    own = torch.ones(1).as_subclass(type("E" * 99, (torch.Tensor,), {}))
    for value, name in (
        (10**400, "int"), (numpy.array(["a"]), "ndarray"), (print, "builtin_function_or_method"),
        (torch.eye(2).to_sparse(), "sparse tensor"), (torch.ones(1, device="meta"), "meta tensor"),
        (nn.Linear(1, 1), "Linear"), (own, "E" * 60),
    ):  # fmt: skip
        assert across(value).name == name
    deep = []
    for _ in range(protocol.DEPTH + 1):
        deep = [deep]
    assert "nested too deep" in json.dumps(Writer().value(deep))


def test_tensor_arrives_with_its_numbers_layout_and_gradient():
    x = torch.arange(12.0).view(3, 4)
    z = torch.tensor([1 + 2j])
    a_byte_more = torch.zeros(9, dtype=torch.uint8)[:8].view(torch.float32)  # than it needs
    views = x, x.T, x[1:, 2], x[::2], x[0, 0], z.conj(), z.conj().imag, a_byte_more
    for tensor in (*views, x.bool(), x.bfloat16(), torch.empty(0, 3), torch.empty(600, 0)):
        found = across(tensor)
        assert torch.equal(found, tensor) and found.dtype == tensor.dtype
    assert across(x.T).stride() == (1, 4)
    both = across(x.max(0))
    assert type(both) is tuple and all(map(torch.equal, both, x.max(0)))
    assert across(x.clone().requires_grad_()).requires_grad and not across(x).requires_grad


def test_shared_memory_stays_shared_and_parts_are_cut_out():
    x = torch.zeros(4)
    a, b = across([x, x[1:]])
    a[1] = 5
    assert b[0] == 5
    writer = Writer()
    writer.value(torch.zeros(10_000)[:2])
    assert [len(numbers) for numbers in writer.storages] == [8]
    writer, many = Writer(), [torch.full((700_000,), float(i))[:100_000] for i in range(5)]
    for part in many:  # large ones, of which the system gives the next the place of the last, should nobody keep it
        writer.value(part)
    assert [numbers[:4] for numbers in writer.storages] == [struct.pack("f", i) for i in range(5)]


FOUR = ["tensor", "float32", 0, [4], [1], 0, False]


def test_malformed_value_is_refused():
    reader, deep = Reader([torch.zeros(16, dtype=torch.uint8)]), 1
    assert torch.equal(reader.value(FOUR), torch.zeros(4))
    for _ in range(protocol.DEPTH + 3):
        deep = ["list", [deep]]
    for data in (
        ["tensor", "float32", 0, [5], [1], 0, False],  # more than there is
        ["tensor", "float32", 0, [2], [4], 0, False],
        ["tensor", "float32", 0, [2**25], [0], 0, False],  # one number, many times
        ["tensor", "float32", 1, [4], [1], 0, False],
        ["tensor", "float32", 0, [-1], [1], 0, False],
        ["tensor", "float32", 0, [1], [2**64], 0, False],
        ["tensor", "float128", 0, [4], [1], 0, False],
        ["tensor", "float32", 0, [2**20, 0], [1, 1], 0, False],  # rows without end, and nothing in them
        ["dict", [[["list", []], 1]]], ["module", "Linear", [], [], True], ["pickle", "x"], deep,
    ):  # fmt: skip
        with pytest.raises(Malformed):
            reader.value(data)


def test_text_is_cut_and_holds_no_control_characters():
    assert protocol.cleaned("a\x1b[2J\n\tb\ud800") == "a\N{REPLACEMENT CHARACTER}[2J\n\tb?"
    assert Reader([]).value(["str", "x" * 20_000]) == "x" * 10_000


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (protocol.HEAD.pack(2**20 + 1, 0), "too large"),
        (protocol.HEAD.pack(0, 2**26 + 1), "too large"),
        (protocol.HEAD.pack(100_000, 0) + b"[" * 100_000, "no message"),
        (protocol.HEAD.pack(2, 0) + b"{}", "no message"),
        (protocol.HEAD.pack(14, 1) + b'{"sizes": [0]}x', "no message"),
    ],
)
def test_malformed_message_is_refused_unread(ends, sent, said):
    ours, theirs = ends
    theirs.sendall(sent)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(Malformed, match=said):
        ours.receive()


def test_waiting_for_a_message_ends(ends, monkeypatch):
    class Dripping:  # a byte whenever it is asked, so that there is always something
        def setblocking(self, _):
            pass

        def recv_into(self, view):
            view[0] = 0
            return 1

    def greedy():
        raise OverMemory

    ours, theirs = ends
    over = time.monotonic() - 1
    for channel in (ours, Channel(Dripping())):
        with pytest.raises(TimedOut):
            channel.receive(over)
    with pytest.raises(TimedOut):
        ours.send({}, [bytes(2**25)], over)  # more than the socket takes
    with pytest.raises(Malformed, match="too large"):
        ours.send({"text": "x" * protocol.TEXT})
    with pytest.raises(OverMemory):
        ours.receive(None, greedy)
    theirs.close()
    with pytest.raises(Closed):
        ours.receive()


SAID = {"result": None, "used": [], "library": None, "printed": ""}


class Scripted:
    """A channel on which a student's process says what is written here."""

    def __init__(self, *answers):
        self.answers, self.sent, self.closed = [*answers], [], False

    def send(self, message, storages=(), deadline=None):
        self.sent.append(message)

    def receive(self, deadline=None, meanwhile=None):
        writer = Writer()
        answer = self.answers.pop(0)
        return {key: value(writer) if callable(value) else value for key, value in answer.items()}, arrived(
            writer.storages
        )

    def close(self):
        self.closed = True


def connection(*answers):
    return Connection(Scripted(*({**SAID, **answer} for answer in answers)), 5)


def test_error_has_the_type_and_message_it_had_there():
    error = error_like("ValueError", "no\x1b")
    assert isinstance(error, ValueError) and type(error).__name__ == "ValueError"
    assert str(error) == "no\N{REPLACEMENT CHARACTER}"
    assert type(error_like("Mine", "x")).__mro__[1] is Exception and type(error_like("", "x")).__name__ == "Error"
    assert not isinstance(error_like("KeyboardInterrupt", ""), KeyboardInterrupt)
    with pytest.raises(IndexError, match="too far"):
        RemoteFunction(connection({"raised": ["IndexError", "too far"]}), 0)()


def test_change_of_an_argument_arrives():
    def after(*values):
        return lambda writer: [writer.value(value) for value in values]

    x, numbers, module, other = torch.zeros(2), [1], MultiHeadAttention(4, 2), MultiHeadAttention(4, 2)
    RemoteFunction(connection({"after": after(torch.ones(3), [2, 3], other)}), 0)(x, numbers, module)
    assert torch.equal(x, torch.ones(3)) and numbers == [2, 3]
    assert torch.equal(module.q_proj.weight, other.q_proj.weight)
    with pytest.raises(WorkerEnded, match="beyond recognition"):
        RemoteFunction(connection({"after": after(1)}), 0)(x)
    one, _ = state_of([x]), x.add_(1)
    assert state_of([x]) != one


@pytest.mark.parametrize(
    ("given", "answers", "said"),
    [
        ((), [{"ask": "train", "args": [False], "named": []}], "nothing to ask"),
        ((nn.Dropout(),), [{"ask": "train", "of": 0, "args": [False], "named": []}] * 3, "questions without end"),
        ((nn.Dropout(),), [{"ask": "train", "of": 1, "args": [False], "named": []}], "its process sent"),
        ((), [{"used": 3}], "no answer"),
        ((), [{"result": ["pickle"]}], "no answer"),
    ],
)
def test_dishonest_process_is_asked_nothing_more(monkeypatch, given, answers, said):
    monkeypatch.setattr(remote, "ASKED", 3)
    one = connection(*answers)
    for _ in range(2):  # the second time nothing is asked
        with pytest.raises(WorkerEnded, match=said):
            RemoteFunction(one, 0)(*given)
    assert one.channel.closed


def test_malformed_gradients_end_the_connection():
    made, x = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    one = connection({"result": lambda writer: writer.value(made)}, {"result": lambda writer: writer.value([3])})
    with pytest.raises(WorkerEnded, match="its process sent no gradients"):
        torch.autograd.grad(RemoteFunction(one, 0)(x).sum(), x)
    assert one.channel.closed


def ask(service, what="call", args=(), grad=False, kept=None, **named):
    writer = Writer()
    data = [writer.value(arg) for arg in args]
    named = [[name, writer.value(value)] for name, value in named.items()]
    storages = arrived(writer.storages)
    answer, storages = service(
        {"ask": what, "args": data, "named": named, "grad": grad, "kept": kept}, Reader(storages)
    )
    read = Reader(arrived(storages))
    return answer if "raised" in answer else (read.value(answer["result"]), answer.get("kept"))


def test_attention_lent_to_a_test_answers_within_bounds(monkeypatch):
    service = CallbackServer(lambda x, scale=1: x * scale)
    x = torch.ones(2, requires_grad=True)
    result, kept = ask(service, args=[x], grad=True, scale=3)
    assert result.tolist() == [3, 3]
    assert ask(service, "back", [torch.tensor([1.0, 2.0])], kept=kept)[0][0].tolist() == [3, 6]
    assert ask(service, "back", [torch.ones(2)], kept=kept)["raised"][0] == "KeyError"  # each once
    assert ask(service, args=[print])["raised"][0] == "TypeError"
    with pytest.raises(Malformed):
        service({"ask": "call", "args": [["pickle"]], "named": []}, Reader([]))
    monkeypatch.setattr(remote, "LARGEST", 1)
    assert ask(service, args=[x])["raised"] == ["ValueError", "more than 1 numbers at once"]
    module = nn.Dropout()
    ask(CallbackServer(module), "train", [False])
    assert not module.training


def test_second_derivative_across_processes_is_an_error_and_not_0():
    x = torch.randn(2, requires_grad=True)
    linked = connected(torch.ones(2, requires_grad=True), [x], lambda weights: [weights[0]])
    (once,) = torch.autograd.grad(linked.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        once.sum().backward()


STEP = ["tril", "tril", "line", [[2, 2], "float32", 4, torch.ones(4).double()], [None], [0]]


def test_malformed_run_is_refused():
    assert traces.from_data(None) is None and len(traces.from_data([1, [STEP]]).operations) == 1
    for data in (
        3,
        [1, [STEP] * (traces.MOST + 1)],
        [1, [[*STEP[:4], [0], []]]],  # of itself
        [1, [[*STEP[:3], [[2, "2"], "float32", 4, None], [], []]]],
        [1, [[*STEP[:3], [[2, 2], "float", 4, None], [], []]]],
        [1, [[*STEP[:3], [[2, 2], "float32", 4, torch.ones(4)], [], []]]],
    ):
        with pytest.raises(Malformed):
            traces.from_data(data)
