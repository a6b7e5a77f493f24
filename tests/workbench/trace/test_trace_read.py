"""trace: how operations read, what of them changes what was given, and what a run answers when it is asked."""

import importlib.util
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from strategies import normal
from torch import nn

import attn_lib
from workbench.trace import record, trace

READS = {  # as it is written, of a matrix x, whole numbers i and a mask b → as it reads
    "x // 2": "// 2",
    "torch.floor_divide(x, 2)": "// 2",
    "2 // x": "2 //",
    "x % 2": "% 2",
    "2 % x": "2 %",
    "x == 1": "== 1",
    "x != 1": "!= 1",
    "x < 1": "< 1",
    "x <= 1": "<= 1",
    "x >= 1": ">= 1",
    "1 < x": "> 1",
    "b | b": "|",
    "torch.bitwise_and(b, b)": "&",
    "torch.bitwise_or(b, b)": "|",
    "i ^ 1": "^ 1",
    "1 ^ i": "^ 1",
    "torch.logical_not(b)": "~",
    "torch.bitwise_not(b)": "~",
    "x.negative()": "-",
    "+x": "+",
    "2 / x": "2 /",
    "2**x": "2 **",
    "torch.sub(1, x)": "1 -",
    "torch.subtract(x, 2)": "- 2",
    "torch.multiply(x, 2)": "* 2",
    "torch.divide(x, 2)": "/ 2",
    "x.true_divide(2)": "/ 2",
    "x * 1j": "* 0+1j",
    "x * 3.14159": "* 3.142",
    "torch.add(x, x, alpha=2)": "add(alpha=2)",
    "torch.add(x, 2, x)": "add(2)",
    "torch.div(x, 2, rounding_mode='floor')": "div(2, rounding_mode='floor')",
    "torch.clamp(x, 0, 1)": "clamp(0, 1)",
    "x.mT": ".mT",
    "x.mH": ".mH",
    "x.H": ".H",
    "x.data": ".data",
    "(x + 0j).real": ".real",
    "(x + 0j).imag": ".imag",
    "x[i]": "[·]",
    "x[:, ::2]": "[:, ::2]",
    "x.to(x)": "to(float32)",
    "x.to('cpu', dtype=torch.float64)": "to('cpu', dtype=float64)",
    "x.to(torch.device('cpu'))": "to(cpu)",
    "x.sum((0, 1))": "sum(dim=(0, 1))",
    "x.sum([0, 1])": "sum(dim=(0, 1))",
    "x.sum(-1, True)": "sum(-1, True)",
    "x.squeeze_(0)": "squeeze_(dim=0)",
    "x.std(None)": "std",
    "torch.stack((x, x))": "stack",
    "torch.stack((x, x), 1)": "stack(dim=1)",
    "torch.cat((x, x))": "cat",
    "torch.cat(tensors=(x, x))": "cat",
    "torch.add(x, other=x)": "add",
    "torch.where(b, x, 0.0)": "where(·, 0)",
    "x.split(2)": "split(2, dim=0)",
    "F.dropout(x, 0.1, training=False)": "dropout(p=0.1, training=False)",
    "F.relu(x)": "relu",
    "F.relu(x, inplace=True)": "relu(inplace=True)",
    "F.layer_norm(x, (4,))": "layer_norm((4,), eps=1e-05)",
    "x.expand((4, 4))": "expand((4, 4))",
    "torch.tensor([0, 1, 2, 3, 4, 5, 6, 7])": "tensor((0, 1, 2, 3, 4, 5, 6, 7))",
    "torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 8])": "tensor((0, 1, 2, 3, 4, 5, 6, 7, …))",
    f"torch.einsum({38 * 'i'!r}, x)": f"einsum('{38 * 'i'}')",
    f"torch.einsum({39 * 'i'!r}, x)": f"einsum('{38 * 'i'}…)",
    "torch.rand(2, generator=torch.Generator())": "rand(2, generator=Generator)",
}


@pytest.mark.filterwarnings("ignore:This overload of add")
def test_operations_of_every_kind_read_as_they_are_written():
    i, b = torch.arange(4), torch.eye(4).bool()
    for written, read in READS.items():
        run = trace(eval(f"lambda x, i, b: {written}"), normal(4, 4, dtype=torch.float32), i, b)
        assert run.operations[-1].operation == read, written


CHANGES = {  # a statement about x and its argument → how the operation reads
    "x += y": "+=",
    "x -= 1": "-= 1",
    "x //= 2": "//= 2",
    "x %= 2": "%= 2",
    "x **= 2": "**= 2",
    "x &= y": "&=",
    "x |= y": "|=",
    "x ^= y": "^=",
    "x.fill_(2)": "fill_(2)",
    "x[0] = 7": "[0] = 7",
    "x[0] = y[0]": "[0] = ·",
    "torch.bitwise_and(x, y, out=x)": "&=",
    "F.relu(x, inplace=True)": "relu(inplace=True)",
}
KEEPS = {"x + y": "+", "x & y": "&", "~x": "~", "x > y": ">", "F.relu(x, inplace=False)": "relu", "int(x[0])": "[0]"}


@pytest.mark.parametrize("changes", [True, False])
def test_what_changes_the_callers_own_tensor_is_remarked_however_it_is_written(changes):
    for written, read in (CHANGES if changes else KEEPS).items():
        names = {"F": F, "torch": torch}
        exec(f"def f(x, y):\n    {written}\n    return x", names)
        run = trace(names["f"], torch.ones(2, dtype=torch.long), torch.full((2,), 2))
        assert run.operations[-1].operation == read, written
        assert ("the caller's own is changed" in repr(run)) == changes, written


# ------------------------------------------------------------------------------------------------- what a run answers


def test_a_result_instead_of_a_function_is_told_how_to_call_trace():
    with pytest.raises(TypeError, match=r"got Tensor: write trace\(fn, x\), not trace\(fn\(x\)\)"):
        trace(torch.ones(2))


def weights_of(q, k):
    return (q @ k.mT).softmax(-1)


def test_a_run_has_a_name_and_steps_can_be_had_in_a_row():
    run = trace(partial(weights_of, normal(2, 3)), normal(2, 3))
    assert run.name == "partial", "which has no name of its own"
    assert run[1:] == run.steps[1:] and len(run[:9]) == 3


def test_of_two_versions_each_operation_is_compared_also_inside_calls():
    def attention(q, k, scale=1):
        return weights_of(q, k) * scale

    found = trace(attention, lambda q, k, scale: (q @ k.mT).softmax(-1) * scale * 2, *[normal(2, 3)] * 2, scale=2)
    rows = [[step and step.operation for step in pair[:2]] for pair in found.pairs]
    assert rows[:3] == [[".mT"] * 2, ["@"] * 2, ["softmax(dim=-1)"] * 2]


def test_named_arguments_are_copied_for_each_version_and_parameters_are_not():
    x, weight = torch.ones(2), nn.Parameter(torch.ones(2))
    trace(lambda x: x.add_(1), lambda x: x.add_(1), x=x)
    assert x.tolist() == [1, 1]
    same = trace(lambda w: (w, w is weight), lambda w: (w, w is weight), weight)
    assert [output[1] for output in same.output] == [True, True]
    x.requires_grad_()
    trace(lambda x: x * 3, lambda x: x * 5, x).output[1].sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_where_nothing_is_compiled_the_compiler_is_not_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch._dynamo", raising=False)
    monkeypatch.setattr(torch.compiler, "set_stance", None)  # which would import it, for seconds
    assert trace(lambda x: x * 2, torch.ones(2)).output.tolist() == [2, 2]


class Applies(nn.Module):
    def forward(self, fn, x):
        return fn(x, x)


def test_a_callable_may_be_a_modules_argument():
    assert [step.operation for step in trace(Applies(), weights_of, normal(2, 3))] == ["weights_of"]
    assert trace(max, max, torch.tensor([1, 2])).difference is None  # which do not say what they take


def test_behind_a_link_the_library_and_pytorch_are_known_too(tmp_path, monkeypatch):
    """A folder may be a link, as /tmp is on a Mac: frames name their files by it."""
    folder = tmp_path / "linked"
    monkeypatch.setattr(Path, "resolve", lambda path: Path("/elsewhere") / path.name)
    monkeypatch.setattr(torch, "__file__", str(folder / "torch/__init__.py"))
    again = importlib.util.spec_from_file_location("workbench.trace.again", record.__file__)
    monkeypatch.setitem(sys.modules, again.name, importlib.util.module_from_spec(again))
    again.loader.exec_module(sys.modules[again.name])
    linked = sys.modules[again.name]
    assert str(folder / "torch/nn/modules/module.py") in linked.PLUMBING
    assert str(folder / "torch/overrides.py") == linked.OVERRIDES
    assert str(Path(attn_lib.__file__).parent / "checks.py") == linked.CHECKS
    assert str(folder / "torch/functional.py").startswith(linked.NOT_YOURS)
