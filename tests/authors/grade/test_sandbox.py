"""What goes between the judge and a student's process: every value as it was, nothing believed, within bounds.

Both sides are in this process, and what a dishonest student's process would send is written out; test_grade.py has the
real one.
"""

import ctypes
import json
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import torch
from torch import nn

from attn_lib import MultiHeadAttention
from authors.grade.sandbox import host as hosts
from authors.grade.sandbox import protocol, remote, traces, worker
from authors.grade.sandbox.gradients import connected, gradients, tensors_in
from authors.grade.sandbox.host import CONFINED, Host, Limits, environment, unconfined_notice
from authors.grade.sandbox.protocol import Channel, Closed, Malformed, Reader, TimedOut, Writer
from authors.grade.sandbox.remote import (
    Callback,
    CallbackServer,
    Connection,
    RemoteFunction,
    WorkerEnded,
    error_like,
    remote_class,
)
from authors.grade.sandbox.worker import module_from, state_of


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


# -------------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("value", [None, ..., True, 3, 2**61, 0.1, "ü\n", [1, (2, [])], {"a": 1, 2: None, None: 3}])
def test_plain_data_arrives_as_it_was(value):
    assert across(value) == value and type(across(value)) is type(value)


@pytest.mark.filterwarnings("ignore:.*(nested|quantize)")
def test_what_is_no_plain_data_is_only_its_types_name():
    class Mine(int):
        pass

    deep = []
    for _ in range(protocol.DEPTH // 2 + 1):
        deep = [{1: deep}]
    deep = across(deep)
    while isinstance(deep, list | dict):
        deep = deep[0] if isinstance(deep, list) else deep[1]
    assert deep.name == "something nested too deep"
    assert [across(value).name for value in (Mine(1), 2**62, print)] == ["Mine", "int", "builtin_function_or_method"]
    sparse = torch.eye(2).to_sparse()
    assert [across(value).name for value in (sparse, torch.ones(1, device="meta"))] == ["sparse tensor", "meta tensor"]
    nested, small = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]), torch.ones(1).to(torch.float8_e5m2)
    own = torch.ones(1).as_subclass(type("E" * 99, (torch.Tensor,), {}))
    quantized = torch.quantize_per_tensor(torch.ones(1), 1, 0, torch.quint8)
    assert [across(value).name for value in (nested, small, own, quantized)] == [
        "nested tensor", "tensor of float8_e5m2", "E" * 60, "quantized tensor",
    ]  # fmt: skip
    long = Writer().value([type("E" * 99, (), {})(), own, "x" * 20_000])[1]
    assert [len(text) for _, text in long] == [60, 60, 10_000], "what is cut is not sent"


def test_tensors_arrive_with_their_numbers_layout_and_need_of_a_gradient():
    x = torch.arange(12.0).view(3, 4)
    z = torch.tensor([1 + 2j])
    for tensor in (
        x,
        x.T,
        x[1:, 2],
        x[::2],
        x.bool(),
        x.bfloat16(),
        torch.empty(0, 3),
        torch.empty(600, 0),
        z.conj(),
        z.conj().imag,
        x[0, 0],
        torch.zeros(9, dtype=torch.uint8)[:8].view(torch.float32),  # on a byte more than it needs
    ):
        found = across(tensor)
        assert torch.equal(found, tensor) and found.dtype == tensor.dtype
    assert across(x.T).stride() == (1, 4)
    both = across(x.max(0))
    assert type(both) is tuple and all(map(torch.equal, both, x.max(0)))
    assert across(x.clone().requires_grad_()).requires_grad and not across(x).requires_grad


def test_shared_memory_stays_shared_and_a_small_part_brings_not_the_whole():
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


@pytest.mark.parametrize("bias", [True, False])
def test_modules_of_two_kinds_arrive_as_they_were_made(bias):
    x = torch.randn(2, 3, 4)
    for module in (MultiHeadAttention(4, 2, bias=bias), nn.MultiheadAttention(4, 2, bias=bias, batch_first=True)):
        found = across(module.eval())
        assert type(found) is type(module) and not found.training
        assert torch.equal(found(x, x, x)[0], module(x, x, x)[0])
    narrow = across(MultiHeadAttention(4, 2, kdim=3, vdim=5, bias=bias))
    assert (narrow.k_proj.in_features, narrow.v_proj.in_features) == (3, 5)
    assert not across(nn.MultiheadAttention(4, 2, bias=bias)).batch_first
    torchs = across(nn.MultiheadAttention(4, 2, kdim=3, vdim=5, bias=bias))
    assert (torchs.kdim, torchs.vdim) == (3, 5)
    narrow.q_proj.requires_grad_(False)
    assert [p.requires_grad for p in across(narrow).parameters()] == [p.requires_grad for p in narrow.parameters()]
    assert across(nn.Linear(1, 1)).name == "Linear"


FOUR = ["tensor", "float32", 0, [4], [1], 0, False]


@pytest.mark.parametrize(
    "data",
    [
        ["tensor", "float32", 0, [5], [1], 0, False],  # more than there is
        ["tensor", "float32", 0, [4], [1], 1, False],
        ["tensor", "float32", 0, [2], [4], 0, False],
        ["tensor", "float32", 0, [2**25], [0], 0, False],  # one number, many times
        ["tensor", "float32", 1, [4], [1], 0, False],
        ["tensor", "float32", 0, [4], [1, 1], 0, False],
        ["tensor", "float32", 0, [-1], [1], 0, False],
        ["tensor", "float32", 0, [4.0], [1], 0, False],
        ["tensor", "float32", 0, [1], [2**64], 0, False],
        ["tensor", "float128", 0, [4], [1], 0, False],
        ["tensor", "float32", 0, [1] * 17, [1] * 17, 0, False],
        ["tensor", "float32", 0, [2**20, 0], [1, 1], 0, False],  # rows without end, and nothing in them
        ["dict", [[["list", []], 1]]],
        ["module", "Linear", [], [], True],
        ["pickle", "x"],
        {"a": 1},
    ],
)
def test_what_is_no_value_is_refused(data):
    reader = Reader([torch.zeros(16, dtype=torch.uint8)])
    assert torch.equal(reader.value(FOUR), torch.zeros(4))
    with pytest.raises(Malformed):
        reader.value(data)


def test_texts_are_cut_and_hold_nothing_that_moves_a_cursor():
    assert protocol.cleaned("a\rb") == "a\N{REPLACEMENT CHARACTER}b"
    assert Reader([]).value(["str", "\x1b" + "x" * 20_000]) == "\N{REPLACEMENT CHARACTER}" + "x" * 9_999
    assert Reader([]).value(["odd", "\x1b" + "E" * 99]).name == "\N{REPLACEMENT CHARACTER}" + "E" * 59
    assert protocol.cleaned("a\x1b[2J\n\tb\ud800") == "a\N{REPLACEMENT CHARACTER}[2J\n\tb?"
    assert protocol.cleaned("x" * 50, 10) == "x" * 10
    data = 1
    for _ in range(protocol.DEPTH + 3):
        data = ["list", [data]]
    with pytest.raises(Malformed, match="too deep"):
        Reader([]).value(data)


# ------------------------------------------------------------------------------------------------------ messages


def test_a_message_arrives_whole_with_its_storages_each_of_its_own(ends):
    ours, theirs = ends
    Channel(theirs).send({"do": "x"}, [b"abc", b"", b"defg"])
    message, storages = ours.receive()
    assert message == {"do": "x"} and [bytes(numbers.tolist()) for numbers in storages] == [b"abc", b"", b"defg"]
    assert all(numbers.untyped_storage().nbytes() == len(numbers) for numbers in storages)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (protocol.HEAD.pack(2**20 + 1, 0), "too large"),
        (protocol.HEAD.pack(0, 2**26 + 1), "too large"),
        (protocol.HEAD.pack(100_000, 0) + b"[" * 100_000, "no message"),
        (protocol.HEAD.pack(1, 0) + b"{", "no message"),
        (protocol.HEAD.pack(2, 0) + b"[]", "no message"),
        (protocol.HEAD.pack(2, 0) + b"{}", "no message"),
        (protocol.HEAD.pack(14, 1) + b'{"sizes": [0]}x', "no message"),
        (protocol.HEAD.pack(18, 1) + b'{"sizes": [-1, 2]}x', "no message"),
    ],
)
def test_what_is_no_message_is_refused_before_it_fills_the_memory(ends, sent, said):
    ours, theirs = ends
    theirs.sendall(sent)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(Malformed, match=said):
        ours.receive()


def test_waiting_ends_with_the_time_with_the_other_side_and_with_what_is_looked_at_meanwhile(ends, monkeypatch):
    class Dripping:  # a byte whenever it is asked, so that there is always something
        def setblocking(self, _):
            pass

        def recv_into(self, view):
            view[0] = 0
            return 1

    ours, theirs = ends
    looks, looked_at = [[]] * 100, []
    monkeypatch.setattr("select.select", lambda *what: looked_at.append(what) or looks.pop())
    over = time.monotonic() - 1
    for channel in (ours, Channel(Dripping())):
        with pytest.raises(TimedOut):
            channel.receive(over)
    with pytest.raises(TimedOut):
        ours.send({"text": "x" * 2**19}, [bytes(2**22)], over)  # more than the socket takes
    with pytest.raises(Malformed, match="too large"):
        ours.send({"text": "x" * protocol.TEXT})
    with monkeypatch.context() as small, pytest.raises(Malformed, match="too large"):
        small.setattr(protocol, "NUMBERS", 8)
        ours.send({}, [bytes(8), bytes(1)])
    assert not looked_at
    with pytest.raises(remote.OverMemory):
        ours.receive(None, lambda: (_ for _ in ()).throw(remote.OverMemory))
    assert looked_at == [([ours.end], [], [], 0.05)]  # and rests meanwhile, until something comes
    with pytest.raises(IndexError):
        ours.send({"text": "x" * 2**19}, [bytes(2**22)])
    assert looked_at[1:] == [([], [], [], 0.02)] * 100
    theirs.close()
    with pytest.raises(Closed):
        ours.receive()
    with pytest.raises(Closed):
        ours.send({})
    one, other = socket.socketpair()
    with one:
        other.close()  # in good order
        with pytest.raises(Closed):
            Channel(one).receive(over)


# ------------------------------------------------------------------------------------- what the judge makes of it

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


def student(*answers):
    return Connection(Scripted(*({**SAID, **answer} for answer in answers)), 5)


def test_what_an_answer_used_printed_and_called_is_remembered(capsys):
    one = student({"used": ["exp"], "printed": "a\x1b"}, {"used": ["sum"], "library": "mask"}, {"library": "other"})
    f = RemoteFunction(one, 0)
    assert [f(), f(), f()] == [None] * 3
    assert f.used == {"exp", "sum"} and one.library == "mask"
    assert capsys.readouterr().out == "a\N{REPLACEMENT CHARACTER}"


def test_an_error_is_of_its_own_kind_and_says_the_same():
    error = error_like("ValueError", "no\x1b")
    assert (
        isinstance(error, ValueError)
        and type(error).__name__ == "ValueError"
        and str(error) == "no\N{REPLACEMENT CHARACTER}"
    )
    assert (
        type(error_like("Mine", "x")).__mro__[1] is Exception and type(error_like("exit", "")).__mro__[1] is Exception
    )
    assert not isinstance(error_like("KeyboardInterrupt", ""), KeyboardInterrupt)
    assert type(error_like("", "x")).__name__ == "Error"
    with pytest.raises(IndexError, match="too far"):
        RemoteFunction(student({"raised": ["IndexError", "too far"]}), 0)()


def test_what_a_call_changes_is_changed_here_too():
    def after(*values):
        return lambda writer: [writer.value(value) for value in values]

    x, numbers, module = torch.zeros(2), [1], MultiHeadAttention(4, 2)
    other = MultiHeadAttention(4, 2)
    RemoteFunction(student({"after": after(torch.ones(3), [2, 3], other)}), 0)(x, numbers, module)
    assert torch.equal(x, torch.ones(3)) and numbers == [2, 3]
    assert torch.equal(module.q_proj.weight, other.q_proj.weight)

    def less(writer):
        other.k_proj.requires_grad_(False)
        *kind, parameters, training = writer.value(other)
        return [[*kind, [told for told in parameters if told[0] != "v_proj.weight"], training]]

    RemoteFunction(student({"after": less}), 0)(module)
    assert [p.requires_grad for p in (module.q_proj.weight, module.k_proj.weight)] == [True, False]
    assert not hasattr(module.v_proj, "weight") and module.v_proj.bias is not None
    with pytest.raises(WorkerEnded, match="beyond recognition"):
        RemoteFunction(student({"after": after(1)}), 0)(x)
    one, _ = state_of([x]), x.add_(1)
    assert state_of([x]) != one


def test_chance_is_drawn_from_what_the_judge_draws_from():
    def seed():
        one = student({})
        RemoteFunction(one, 0)()
        return one.channel.sent[0]["seed"]

    torch.manual_seed(3)
    first, second = seed(), seed()
    torch.manual_seed(3)
    assert seed() == first != second


def test_the_first_trouble_ends_all_and_is_what_is_said(monkeypatch):
    question = {"ask": "train", "args": [False], "named": []}
    assert RemoteFunction(student(*[question] * 100, {}), 0)(nn.Dropout()) is None  # a thorough test
    monkeypatch.setattr(remote, "ASKED", 3)
    for given, answers, said in (
        ((), [question], "nothing to ask"),
        ((nn.Dropout(),), [question] * 3, "questions without end"),
        ((), [{"used": 3}], "no answer"),
        ((), [{"result": ["pickle"]}], "no answer"),
    ):
        one = student(*answers)
        f = RemoteFunction(one, 0)
        for _ in range(2):  # the second time nothing is asked
            with pytest.raises(WorkerEnded, match=said):
                f(*given)
        assert one.channel.closed and said in str(one._end("something else"))


@pytest.mark.parametrize("told", [3, [3]])
def test_gradients_that_are_none_end_all(told):
    made = torch.ones(2, requires_grad=True)
    one = student({"result": lambda writer: writer.value(made)}, {"result": lambda writer: writer.value(told)})
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(WorkerEnded, match="its process sent no gradients"):
        torch.autograd.grad(RemoteFunction(one, 0)(x).sum(), x)
    assert one.channel.closed


def test_an_object_of_a_class_is_put_into_eval_where_it_lives():
    one = student({}, {}, {}, {})
    for _ in range(2):
        remote_class(one, 2)().eval()
    assert [message["do"] for message in one.channel.sent] == ["new", "train"] * 2
    assert [message["training"] for message in one.channel.sent[1::2]] == [False, False]
    assert [message["object"] for message in one.channel.sent[1::2]] == [0, 1]


# ------------------------------------------------------------------------------- what a student's test is tried on


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


def test_what_a_test_is_tried_on_can_be_called_trained_and_asked_for_gradients_within_bounds(monkeypatch):
    service = CallbackServer(lambda x, scale=1: x * scale)
    x = torch.ones(2, requires_grad=True)
    result, kept = ask(service, args=[x], grad=True, scale=3)
    assert result.tolist() == [3, 3]
    assert ask(service, "back", [torch.tensor([1.0, 2.0])], kept=kept)[0][0].tolist() == [3, 6]
    assert ask(service, "back", [torch.ones(2)], kept=kept)["raised"][0] == "KeyError"  # each once
    assert ask(service, "back", [torch.ones(2)], kept=ask(service, args=[x])[1])["raised"][0] == "KeyError"
    assert ask(service, args=[print])["raised"] == [
        "TypeError", "attention is called with tensors and numbers, not with builtin_function_or_method",
    ]  # fmt: skip
    result, kept = ask(service, args=[torch.ones(2)], grad=True, scale=x)  # by name too
    assert ask(service, "back", [torch.ones(2)], kept=kept)[0][0].tolist() == [1, 1]
    long = CallbackServer(lambda: (_ for _ in ()).throw(ValueError("x" * 5000)))
    assert ask(long)["raised"] == ["ValueError", "x" * 2000]
    with pytest.raises(Malformed):
        service({"ask": "call", "args": [["pickle"]], "named": []}, Reader([]))
    monkeypatch.setattr(remote, "LARGEST", 1)
    assert ask(service, args=[x])["raised"] == ["ValueError", "more than 1 numbers at once"]
    module = nn.Dropout()
    ask(CallbackServer(module), "train", [False])
    assert not module.training and Callback(module).words() == ["attention", "module"]
    assert Callback(print).words() == ["attention", "function"]


@pytest.mark.parametrize(("kind", "raised"), [("ValueError", ValueError), ("SystemExit", RuntimeError)])
def test_a_test_gets_the_error_that_what_it_is_tried_on_raised(kind, raised):
    channel = Scripted({"raised": [kind, "no"]})
    with pytest.raises(raised, match=r"^no$"):
        worker.Attention(channel)(torch.ones(1), scale=2)
    assert channel.sent[0]["ask"] == "call" and channel.sent[0]["named"] == [["scale", 2]]


def test_what_a_test_is_tried_on_is_asked_for_gradients_where_they_are_wanted():
    nothing = {"result": None, "kept": 0}
    channel = Scripted(*[nothing] * 5)
    module, x = worker.AttentionModule(channel), torch.ones(1, requires_grad=True)
    module(x), module(x.detach(), of=x)
    with torch.no_grad():
        module(x)
    module.eval()
    module.train()
    assert [message["grad"] for message in channel.sent] == [True, True, False, False, False]
    assert [(message["ask"], *message["args"]) for message in channel.sent[3:]] == [("train", False), ("train", True)]


# ------------------------------------------------------------------------------------------- the student's side


class Handed:
    """A student's side in this process: cells that are loaded there, and calls of the last one's `f`."""

    def __init__(self, *cells, lesson=(), own=(), without=True):
        self.answer = worker.Session(None)
        what = {"exercise": "3.2", "own": own, "without": without, "lesson": [["<lesson>", line] for line in lesson]}
        what |= {"cells": [["<cell>", cell] for cell in cells], "answer": ["f"]}
        self.told = self.answer.load(what, Reader([]), Writer())

    def call(self, *args):
        message = {"part": 0, "object": None, "args": args, "keep": None, "seed": 0}
        return self.answer.call(message, Reader([]), Writer())


def test_a_line_of_the_lesson_that_fails_here_does_not_keep_the_next_from_it():
    assert Handed("f = lambda: n", lesson=["n = 1", "1 / 0", "n = 2"]).call()["result"] == 2


def test_of_what_is_the_librarys_the_first_that_is_called_is_named_and_what_is_offered_is_not():
    f = "import attn_lib\nfrom workbench.exercises.clinic import anonymous\n"
    f += "def f(*names):\n    anonymous.compiled('def attention(): ...', '<mine>')\n    for name in names:\n"
    handed = Handed(f"{f}        getattr(attn_lib, name[0])(*name[1:])", own=["causal_mask", "padding_mask"])
    found = handed.call()
    assert (found["library"], found.get("raised")) == (None, None)
    found = handed.call(["list", [["str", "causal_mask"], 2, 2]], ["list", [["str", "padding_mask"], ["list", [1]]]])
    assert (found["library"], found.get("raised")) == ("causal_mask", None)


def test_gradients_flow_whatever_a_cell_has_set_and_torch_is_watched_where_that_is_asked():
    with torch.enable_grad():  # which comes back
        handed = Handed(
            "import torch\ntorch.set_grad_enabled(False)\nf = lambda x: torch.is_grad_enabled()", without=False
        )
        found = handed.call(1)
    assert found["result"] is True and found["used"] == []


def test_what_an_answer_prints_uses_and_raises_fits_a_message(capsys):
    loud = f"import sys, torch\ndef f(x):\n    print('x' * {protocol.TEXT})\n    print('aside', file=sys.stderr)"
    found = Handed(f"{loud}\n    return torch.ones(2).exp().sum().log() + x").call(1)
    assert found["printed"] == "x" * 1000 and {"exp", "sum", "log", "add"} <= {*found["used"]}
    assert capsys.readouterr() == ("", "") and "after" not in found, "nor what has not changed"
    many = Handed("f = None")
    many.answer.parts = [lambda: many.answer.watch.seen.update(map(str, range(5000)))]
    assert len(many.call()["used"]) == 1000
    raising = Handed("class " + "E" * 99 + "(Exception): ...\ndef f(text):\n    raise " + "E" * 99 + "(text)")
    assert raising.call(["str", "\ud800" + "x" * 5000])["raised"] == ["E" * 60, "?" + "x" * 1999]
    silent = "class Silent(Exception):\n    def __str__(self):\n        1 / 0\ndef f():\n    raise Silent"
    assert Handed(silent).call()["raised"] == ["Silent", "(its message cannot be read)"]


@pytest.mark.skipif(sys.platform != "linux", reason="there is no fork")
def test_a_process_for_answers_keeps_no_connection_and_leaves_with_the_judge(monkeypatch):
    monkeypatch.setattr("os.fork", lambda: 1)
    ended = []
    monkeypatch.setattr(worker, "end_all", lambda: ended.append("all"))
    ours, control = socket.socketpair()
    theirs, handed_over = socket.socketpair()
    with ours, control, theirs:
        with handed_over:
            socket.send_fds(ours, [b"f"], [handed_over.fileno()])
        ours.send(b"e")
        ours.shutdown(socket.SHUT_WR)
        worker.fork_on_request(control, {})
        theirs.setblocking(False)
        assert theirs.recv(1) == b"", "an end was left open here"
        assert ours.recv(10) == b"fe" and ended == ["all"] * 2


def test_root_leaves_its_groups_before_it_leaves_its_rights(monkeypatch):
    left = []
    for name in ("setgroups", "setresgid", "setresuid"):
        monkeypatch.setattr(f"os.{name}", lambda *who, name=name: left.append((name, *who)))
    worker._change_user(7)
    assert left == [("setgroups", []), ("setresgid", 7, 7, 7), ("setresuid", 7, 7, 7)]


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
def test_a_process_for_answers_is_closed_to_others_and_orphans_are_its_own():
    pid = os.fork()
    if pid == 0:
        said = 99
        try:
            worker.close_to_others()
            system, adopts = ctypes.CDLL(None), ctypes.c_int()
            open_to_others = system.prctl(3, 0, 0, 0, 0)  # PR_GET_DUMPABLE
            system.prctl(37, ctypes.byref(adopts), 0, 0, 0)  # PR_GET_CHILD_SUBREAPER
            said = 10 * open_to_others + adopts.value
        finally:
            os._exit(said)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def test_what_a_hand_in_left_in_its_folder_is_gone_and_nothing_that_a_link_leads_to(tmp_path, monkeypatch):
    left, elsewhere = tmp_path / "left", tmp_path / "elsewhere"
    for folder in (left / "a" / "b", elsewhere):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (left / "file").touch()
    (left / "link").symlink_to(elsewhere)
    monkeypatch.chdir(left)
    ended = []
    monkeypatch.setattr("os.kill", lambda *what: ended.append(what))
    monkeypatch.setattr(worker, "offspring", lambda: [7])
    monkeypatch.setattr("os.waitpid", lambda *_: (_ for _ in ()).throw(ChildProcessError))
    worker.end_all()
    assert not list(left.iterdir()) and (elsewhere / "file").exists()
    assert ended == [(7, signal.SIGKILL)], "what cannot be ignored"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what is mapped")
def test_memory_is_counted_from_what_the_library_takes_and_an_unknown_limit_is_left_out(monkeypatch):
    import resource

    set_here = {}
    monkeypatch.setattr("resource.setrlimit", lambda what, most: set_here.update({what: most}))
    mapped = psutil.Process().memory_info().vms
    worker.limit({"AS": 1 << 30, "NOFILE": 128, "UNHEARD_OF": 1})
    soft, hard = set_here.pop(resource.RLIMIT_AS)
    assert soft == hard and abs(soft - mapped - (1 << 30)) < 1 << 28
    assert set_here == {resource.RLIMIT_NOFILE: (128, 128)}


# ----------------------------------------------------------------------------------------------------- gradients


def test_gradients_cross_as_if_the_call_had_been_made_here():
    def made(x, y):
        return x.exp() * 2, x.detach().argmax(), (x * x.detach()).bfloat16(), torch.ones(2)

    x, y = torch.randn(2, requires_grad=True), torch.randn(2, requires_grad=True)
    here, there = made(x, y), made(x, y)
    bare = tuple(part.detach().requires_grad_(part.requires_grad) for part in there)
    found = connected(bare, [x, y], lambda weights: gradients(tensors_in(there), [x, y], weights))
    assert [part.requires_grad for part in found] == [True, False, True, False]
    weights = [torch.tensor([1.0, 5.0]), torch.tensor([2.0, 3.0])]
    loss = (here[0] * weights[0]).sum() + (here[2].float() * weights[1]).sum()
    (want,) = torch.autograd.grad(loss, x, retain_graph=True)
    total = (found[0] * weights[0]).sum() + (found[2].float() * weights[1]).sum()
    mine, none = torch.autograd.grad(total, (x, y), allow_unused=True)
    assert torch.allclose(mine, want, rtol=1e-2) and none is None
    assert connected(there[1], [x], None) is there[1] and connected(there[0], [], None) is there[0]
    assert isinstance(connected(list(bare), [x], None), list)
    for several in (list(there), there, there[0]):
        assert len(tensors_in(several)) == (1 if several is there[0] else 4)
    linked = connected(torch.ones(2, requires_grad=True), [x], lambda weights: [weights[0]])
    (once,) = torch.autograd.grad(linked.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):  # and not a gradient of 0
        once.sum().backward()
    (half,) = gradients([here[2]], [x], [torch.ones(2, dtype=torch.float64)])  # ask_gradients in another dtype
    assert torch.allclose(half, x, rtol=1e-2)


# ----------------------------------------------------------------------------------------------------------- runs


def test_a_run_arrives_with_its_sources_its_own_lines_and_what_it_returned():
    def mask(n):
        ones = torch.ones(n, n)
        return ones.tril()

    run = traces.recorded(mask, [2])
    run.operations[0].place = traces.Place(file="/torch/library.py", text="of the library")
    run.operations[1].place = traces.Place(file="<cell 1>", text="return `ones`.tril()")
    data = traces.as_data(run)
    assert [step[:3] for step in data[1]] == [["ones", "ones(2, 2)", ""], ["tril", "tril", "return `ones`.tril()"]]
    assert [step[4:] for step in data[1]] == [[[], []], [[0], [0]]]  # from what, and at which place it is returned
    theirs = traces.from_data(data)
    assert theirs.operations[1].sources == [theirs.operations[0]] and theirs.operations[1].returned == {0}
    said = traces.first_difference(lambda n: torch.ones(n, n).tril(1), theirs, [2])
    assert said.endswith("In your code: `return 'ones'.tril()`.")
    assert traces.first_difference(mask, theirs, [2]) == ""
    nested = traces.recorded(lambda n: torch.nested.nested_tensor([torch.ones(n), torch.ones(3)]) + 1, [2])
    told = traces.from_data(traces.as_data(nested))
    assert [step.kept.shape for step in told.operations] == [step.kept.shape for step in nested.operations]
    traces.first_difference(mask, told, [2])  # can be laid beside another
    assert traces.as_data(traces.recorded(lambda n: torch.ones(n) / n.none, [2])) is None
    assert len(traces.as_data(traces.recorded(lambda n: sum(torch.ones(n) for _ in range(200)), [2]))[1]) == 400
    run.operations *= traces.MOST
    assert traces.as_data(run) is None


def test_the_innermost_line_of_ones_own_is_named():
    step = traces.Step("tril", traces.Place(file="torch.py", text="torch"))
    within = [traces.Place(file="<cell 1>", text="outer"), traces.Place(file="<cell 2>", text="inner")]
    step.within = [type("Call", (), {"place": place}) for place in within]
    assert traces._own_line(step) == "inner"


# --------------------------------------------------------------------------------------------------------- limits


def test_the_system_is_told_every_limit():
    most = Limits(seconds=2, memory_mb=300, file_mb=3, processes=7).for_the_system(hosts.FREE_USERS.start)
    assert most == {"AS": 300 << 20, "FSIZE": 3 << 20, "NOFILE": 128, "CORE": 0, "CPU": 18, "NPROC": 7}
    assert Limits().for_the_system(hosts.FREE_USERS.start)["NPROC"] == 64


def test_threads_of_the_user_who_will_run_the_code_are_counted(monkeypatch):
    def process(user, threads):
        return SimpleNamespace(num_threads=lambda: threads, uids=lambda: SimpleNamespace(real=user))

    gone = SimpleNamespace(num_threads=lambda: (_ for _ in ()).throw(psutil.NoSuchProcess(1)))
    running = [process(0, 1), gone, process(hosts.NOBODY, 2), process(7, 4)]
    monkeypatch.setattr("psutil.process_iter", lambda: running)
    monkeypatch.setattr("os.geteuid", lambda: 7, raising=False)
    for user, threads in ((None, 4), (hosts.NOBODY, 2), (8, 0)):
        assert Limits(processes=10).for_the_system(user)["NPROC"] == 10 + threads


def test_root_lets_students_code_run_as_a_user_for_each_host(monkeypatch):
    maps = {"uid": f"0 1000 1\n1 100000 {2**31 - 1}\n", "gid": f"0 0 {2**32 - 1}\n"}
    monkeypatch.setattr("os.geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(Path, "read_text", lambda path: maps[path.name.removesuffix("_map")])
    first, second = hosts.user_of_students(), hosts.user_of_students()
    assert first != second and first in hosts.FREE_USERS and second in hosts.FREE_USERS
    for kind in maps:
        with monkeypatch.context() as small:  # a container with fewer users, or groups
            small.setitem(maps, kind, "0 1000 1\n1 100000 65535\n")
            assert hosts.user_of_students() == hosts.NOBODY
    with monkeypatch.context() as elsewhere:  # a system without such files
        elsewhere.setattr(Path, "read_text", lambda path: (_ for _ in ()).throw(FileNotFoundError))
        assert hosts.user_of_students() == hosts.NOBODY
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert hosts.user_of_students() is None


class Started:
    """A host's process that answers as it is told, and ends when that is all."""

    answers, error, all, owners = b"", b"", (), {}

    def __init__(self, command, *, pass_fds, stderr, **options):
        self.end = socket.socket(fileno=os.dup(pass_fds[0]))
        self.end.sendall(self.answers)
        self.end.shutdown(socket.SHUT_WR)
        stderr.write(self.error)
        self.killed, self.ended = False, None
        Started.all = (*Started.all, self)

    def poll(self):
        return self.ended

    def wait(self, timeout=None):
        self.end.close()

    def kill(self):
        self.killed = True


@pytest.fixture
def unconfined_host(monkeypatch):
    if sys.platform != "linux":
        pytest.skip("there is no fork")
    monkeypatch.setattr("subprocess.Popen", Started)
    monkeypatch.setattr(Started, "all", ())
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(Started, "owners", {})
    monkeypatch.setattr("os.chown", lambda path, user, group: Started.owners.update({path: (user, group)}))
    return Host()


def test_students_write_into_a_folder_of_their_own_that_is_gone_afterwards(unconfined_host, monkeypatch):
    monkeypatch.setattr(Started, "answers", b"o")
    with unconfined_host as host:
        folder = Path(host.folder)
        assert host.has_own_user and Started.owners == {host.folder: (host.user, host.user)}
        assert host.user in hosts.FREE_USERS and folder.stat().st_mode & 0o7777 == 0o700  # closed to all others
        (folder / "left").write_text("x")
        errors = host.errors
    assert not folder.exists() and errors.closed


def test_a_host_that_does_not_start_is_an_error_of_one_line(unconfined_host, monkeypatch):
    monkeypatch.setattr(Started, "error", b"Traceback\nOSError: no room\n")
    with pytest.raises(OSError, match=r"^OSError: no room$"):
        unconfined_host.__enter__()
    monkeypatch.setattr(Started, "error", b"")
    with pytest.raises(OSError, match="the process did not start"):
        unconfined_host.__enter__()


def test_where_bubblewrap_does_not_work_it_is_said_why(unconfined_host, monkeypatch):
    def popen(command, **options):
        Started.answers, Started.error = (b"", b"no room") if command[0] == "/bwrap" else (b"o", b"")
        return Started(command, **options)

    monkeypatch.setattr(Started, "answers", b"")
    monkeypatch.setattr(Started, "error", b"")
    monkeypatch.setattr("subprocess.Popen", popen)
    monkeypatch.setattr("shutil.which", lambda name: f"/{name}")
    host, words = hosts.best_host(unconfined=True)
    with host:
        assert words.startswith(
            "bubblewrap does not work here (no room): students' code runs as a user who owns nothing"
        )
    monkeypatch.setattr("sys.platform", "darwin")
    host, words = hosts.best_host(unconfined=True)
    assert words.startswith("There is no bubblewrap for darwin: ") and host.process is None


def test_a_host_that_ended_or_does_not_answer_is_replaced(unconfined_host, monkeypatch):
    monkeypatch.setattr(Started, "answers", b"rfe")
    with unconfined_host as host:
        Started.all[0].ended = 1
        with host.channel():
            pass
        assert host.process is Started.all[1] and not host.process.killed
    monkeypatch.setattr(Started, "answers", b"rf")
    with unconfined_host as host:
        with host.channel():
            pass
        assert Started.all[-1].killed and host.process is None
    monkeypatch.setattr(Started, "answers", b"r")
    with unconfined_host as host, pytest.raises(OSError, match="no process for this hand-in"), host.channel():
        pass


def test_a_host_that_does_not_end_is_ended(unconfined_host, monkeypatch):
    monkeypatch.setattr(Started, "answers", b"r")
    with unconfined_host as host:
        (process,) = Started.all
        waits = [lambda: None, lambda: (_ for _ in ()).throw(subprocess.TimeoutExpired("", 5))]
        process.wait = lambda timeout=None: waits.pop()()
        assert host.process is process
    assert process.killed and not waits
    process.end.close()


def test_whoever_does_not_end_a_student_is_not_waited_for_as_long_as_for_a_start():
    host, waits = Host(), []
    host.control = SimpleNamespace(settimeout=waits.append, send=lambda _: None, recv=lambda _: b"e")
    host._end()
    assert waits == [hosts.END_S, hosts.START_S]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_a_family_is_ended_whole():
    process = subprocess.Popen(["sh", "-c", "sleep 1000 & echo; exec sleep 1000"], stdout=subprocess.PIPE)
    process.stdout.readline()
    hosts.end_family(process)
    ended, _, _ = select.select([process.stdout], [], [], 60)
    assert ended and process.returncode and process.stdout.read() == b""  # nobody holds it open any more
    process.stdout.close()


def test_whoever_connects_without_the_password_is_no_student(monkeypatch):
    def answers(command, **options):
        end = socket.create_connection(("127.0.0.1", json.loads(command[-1])["port"]))
        end.sendall(b"0" * 32)
        return SimpleNamespace(end=end)

    ended = []
    monkeypatch.setattr("subprocess.Popen", answers)
    monkeypatch.setattr(hosts, "end_family", ended.append)
    host = Host()
    host.forks = False
    with pytest.raises(OSError, match="another process answered"), host, host.channel():
        pass
    ended.pop().end.close()

    def knows(command, **options):
        told = json.loads(command[-1])
        end = socket.create_connection(("127.0.0.1", told["port"]))
        end.sendall(told["password"].encode())
        return SimpleNamespace(end=end)

    monkeypatch.setattr("subprocess.Popen", knows)
    with host, host.channel() as channel:
        assert channel.end.fileno() >= 0
    assert channel.end.fileno() < 0
    ended.pop().end.close()

    class Patient(socket.socket):
        def accept(self):
            assert self.gettimeout(), "waits without end"
            return super().accept()

        def recv(self, *most):
            assert self.gettimeout(), "waits without end"
            return super().recv(*most)

    monkeypatch.setattr("socket.socket", Patient)
    monkeypatch.setattr(hosts, "START_S", 0.1)
    for comes in (True, False):  # and says nothing

        def waits(command, *, comes=comes, **options):
            address = ("127.0.0.1", json.loads(command[-1])["port"])
            return SimpleNamespace(end=socket.create_connection(address) if comes else socket.socket())

        monkeypatch.setattr("subprocess.Popen", waits)
        with pytest.raises(OSError, match="timed out"), host, host.channel():
            pass
        ended.pop().end.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says it")
def test_memory_of_ones_own_is_counted_and_a_files_is_not(tmp_path):
    size, page = 64 << 20, mmap.PAGESIZE
    with open(tmp_path / "large", "wb") as file:
        file.truncate(size)
    before = hosts.private_memory_of(os.getpid())
    with open(tmp_path / "large", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert not any(mapped[::page]) and hosts.private_memory_of(os.getpid()) - before < size / 2
    for whose in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):  # one's own, or for one's forks too
        before = hosts.private_memory_of(os.getpid())
        with mmap.mmap(-1, size, flags=whose | mmap.MAP_ANONYMOUS) as own:  # never a place that was free already
            own[::page] = bytes([1]) * (size // page)
            assert hosts.private_memory_of(os.getpid()) - before > size / 2


def test_a_students_surroundings_hold_nothing_of_the_teachers(monkeypatch):
    monkeypatch.setenv("TEACHERS_SECRET", "x")
    for name in ("PATH", "SYSTEMROOT", "LANG"):
        monkeypatch.setenv(name, "as it is")
    found = environment("/student")
    assert str(hosts.ROOT) in found.pop("PYTHONPATH").split(os.pathsep)
    assert found == {
        **dict.fromkeys(("PATH", "SYSTEMROOT", "LANG"), "as it is"),
        **dict.fromkeys(("HOME", "TMPDIR", "ATTENTION_PROGRESS"), "/student"),
        **dict.fromkeys(("OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"), "1"),
        "MPLBACKEND": "agg",  # a plot opens no window
    }


def test_whoever_the_code_runs_as_is_said(monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 0, raising=False)
    assert "runs as a user who owns nothing" in unconfined_notice(
        "why", True
    ) and "what everybody may" in unconfined_notice("", True)
    assert "runs as root" in unconfined_notice("why") and "every file" in unconfined_notice("why")
    monkeypatch.setattr("os.geteuid", lambda: 1000, raising=False)
    assert "with your rights" in unconfined_notice("why") and "your files" in unconfined_notice("why")
    assert "no network" in CONFINED
