"""The test of an answer: no recipe passes, what is wrong with it has a name, and it may be written in any way."""

import contextlib
import copy
import random
import re

import pytest
import torch
from known_bugs import BUGS, calls_of, each_bug, inputs, part
from torch import nn

from workbench.exercises import check
from workbench.exercises.clinic import PATIENTS, correct
from workbench.exercises.clinic.anonymous import instance_of
from workbench.exercises.clinic.judge_test import candidates


def said_of(id, detects):
    return part(check(id, detects), "Test")


def compares(id, *, error):
    """A test that reports whatever differs from correct code; `error` is what it says of an exception."""
    right = instance_of(BUGS[id].interface.correct[0])

    def detects(attention):
        for code in (attention, right):
            if isinstance(code, nn.Module):
                code.eval()
        for args in calls_of(BUGS[id]):
            try:
                if not torch.allclose(attention(*args), right(*args), atol=1e-4):
                    return True
            except (RuntimeError, ValueError, TypeError):
                if error:
                    return True
        return False

    return detects


def reports_another_shape(id):
    args = BUGS[id].interface.probes[0]
    return lambda attention: attention(*args).shape != BUGS[id].called(BUGS[id].fixed)(*args).shape


@each_bug
def test_no_recipe_passes_for_a_test(id):
    first = iter([True] + [False] * 99)
    recipes = {
        "compare": compares(id, error=True),
        "compare, errors left out": compares(id, error=False),
        "shape": reports_another_shape(id),
        "the first": lambda attention: next(first),
    }
    for name, recipe in recipes.items():
        verdict = check(id, recipe)
        assert verdict.status == "wrong" and part(verdict, "Test").startswith("✗"), (name, verdict)


def everything(attention):
    with contextlib.suppress(TypeError):
        attention(torch.randn(2, 2, 2))
    return True


def only_calls_that_do_not_fit(attention):
    for args in ([], [torch.randn(2, 3, 4)] * 9):
        with contextlib.suppress(TypeError, RuntimeError, ValueError):
            attention(*args)
    return False


def merely_compares(attention, are_alike=lambda one, other: torch.allclose(one, other, atol=1e-4)):
    q, k, v = inputs()
    return not are_alike(attention(q, k, v), correct.by_library(q, k, v))


def exactly(attention):
    return merely_compares(attention, torch.equal)


def unscaled_only(attention):
    q, k, v = inputs()
    return torch.allclose(attention(q, k, v), torch.softmax(q @ k.mT, dim=-1) @ v, atol=1e-5)


def picky(attention):  # right but for one style of right code, and no other fault is condemned
    q, k, v = (tensor.requires_grad_() for tensor in inputs())
    return BUGS["6.5"].reference(attention) or "ToCopy" in attention(q, k, v).grad_fn.name()


@pytest.mark.parametrize(
    ("id", "detects", "misconception"),
    [
        *((id, lambda attention: not attention, "never-called") for id in ("6.1", "6.15")),
        *((id, everything, "always") for id in ("6.1", "6.15")),
        *((id, only_calls_that_do_not_fit, "sees-nothing") for id in ("6.1", "6.15")),
        ("6.1", exactly, "condemns-right"),
        ("6.5", picky, "condemns-right"),
        ("6.1", unscaled_only, "only-this-one"),
        ("6.1", reports_another_shape("6.1"), "sees-nothing"),
        ("6.5", lambda attention: not BUGS["6.5"].reference(attention), "upside-down"),
    ],
)
def test_what_is_wrong_with_a_test_has_a_name(id, detects, misconception):
    assert check(id, detects).misconception == misconception


def test_a_test_that_compares_with_wrong_mended_code_is_told():
    def mended(q, k, v, mask=None):
        return correct.by_library(q, k, v, mask) * 2

    def detects(attention):
        q, k, v = inputs()
        return not torch.allclose(attention(q, k, v), mended(q, k, v), atol=1e-4)

    assert "your mended code" in part(check("6.1", ..., ..., mended, detects), "Test")


def test_who_condemns_others_twice_is_told_with_whom_to_begin():
    first, second = check("6.1", merely_compares), check("6.1", merely_compares)
    assert first.misconception == second.misconception == "condemns-others"
    assert 'PATIENTS["6.3"]' in second.message and 'PATIENTS["6.3"]' not in first.message
    condemned = re.search(r"True was returned also for: (.*?)\. ", first.message)[1]
    ids = [int(number) for number in re.findall(r"6\.(\d+)", condemned)]
    assert ids[:2] == [3, 4] and ids == sorted(ids)


def test_a_relative_that_gets_away_twice_is_named_and_shown():
    with pytest.raises(AttributeError) as before:
        _ = PATIENTS["6.1"].escaped
    assert "6.1" in before.value._render_traceback_()[0]  # one line, and none of our source
    first, second = check("6.1", unscaled_only), check("6.1", unscaled_only)
    (named,) = (words for words in BUGS["6.1"].variants if words in second.message)
    assert named not in first.message
    assert PATIENTS["6.1"].escaped is BUGS["6.1"].variants[named]


def test_attention_may_be_called_by_name_and_by_forward():
    def by_name(attention):
        x, w = torch.randn(1, 4, 10), torch.randn(10, 10)
        try:
            attention(x=x, w_q=w, w_k=w, w_v=w, w_o=w, num_heads=4)
        except (ValueError, RuntimeError):
            return False
        return True

    def by_forward(attention):
        q, k, v = torch.randn(3, 2, 5, 8)
        attention.eval()
        return not torch.equal(attention.forward(q, k, v), attention.forward(q, k, v))

    assert said_of("6.17", by_name).startswith("✓")
    assert said_of("6.15", by_forward).startswith("✓")


def test_an_exception_of_a_decoy_is_no_report():
    def exchange(attention):  # raises on 6.20, whose fault is another one
        q, k, v = inputs()
        other = torch.cat([q[:1, :1].expand(2, 1, 8), torch.randn(2, 2, 8)], dim=1)
        return not torch.allclose(attention(q, k, v)[0, 0], attention(other, k, v)[0, 0], atol=1e-4)

    assert said_of("6.3", exchange).startswith("✓")


def test_a_tests_answer_may_be_a_bool_of_any_kind_and_a_stub_none():
    def of_torch(attention):
        q, k, v = torch.randn(1, 1, 8), torch.randn(1, 1, 8), torch.randn(1, 1, 4)
        return ((attention(q, k, v) - v).abs() > 1e-4).any()

    def later(attention):
        raise NotImplementedError("later")

    for detects in (of_torch, lambda attention: of_torch(attention).numpy()[()]):
        assert said_of("6.4", detects).startswith("✓")
    assert said_of("6.1", 3).startswith("✗")
    for stub in (later, lambda attention: (attention(*inputs()), ...)[1]):
        assert check("6.1", stub).status == "unattempted"


def test_what_a_test_prints_is_told_and_not_shown(capsys):
    def chatty(attention):
        print("hello\nand more")
        return BUGS["6.5"].reference(attention)

    verdict = check("6.5", chatty)
    assert part(verdict, "Test").startswith("✓") and "hello" in verdict.message
    assert capsys.readouterr().out == ""


def test_grading_asks_in_another_order_and_on_other_calls(monkeypatch):
    bug = BUGS["6.1"]
    monkeypatch.setattr(bug, "order", None)
    monkeypatch.setattr(bug, "fix_exercise", copy.copy(bug.fix_exercise))
    order, calls = [name for _, name, _ in candidates(bug)], str(bug.fix_exercise.probes)
    bug.draw_again(random.Random(1))
    assert calls != str(bug.fix_exercise.probes)
    assert order != [name for _, name, _ in candidates(bug)]
