"""The mended code of an answer: right whatever its style, and wrong with a name."""

import re

import pytest
import torch
from known_bugs import BUGS, each_bug, part

import attn_lib
from workbench.exercises import check
from workbench.exercises.clinic import PATIENTS, correct
from workbench.exercises.engine import runner


def said_of(id, code):
    return part(check(id, ..., ..., code), "Mended")


@each_bug
def test_every_correct_implementation_passes_for_mended(id):
    for code in BUGS[id].interface.correct:
        verdict = check(id, ..., ..., code)
        removed = code is correct.WithoutDropout
        assert part(verdict, "Mended").startswith("✗" if removed else "✓"), verdict
        assert verdict.misconception == ("dropout-removed" if removed else None)


@each_bug
def test_no_variant_and_no_other_bug_passes_for_mended(id):
    """Other bugs count where ordinary calls show them: those that need probes of their own are seen by these alone."""
    bug = BUGS[id]
    shown = [other.buggy for other in BUGS.values() if other.interface is bug.interface and not other.probes]
    for code in [*bug.variants.values(), *(code for code in shown if code is not bug.buggy)]:
        assert said_of(id, code).startswith("✗"), code


def test_mended_code_that_gives_the_numbers_of_the_fault_is_told():
    for id in ("6.1", "6.2", "6.5"):
        for code in BUGS[id].variants.values():
            assert check(id, ..., ..., code).misconception == "still-buggy", id
    for half in BUGS["6.16"].half_fixed:
        assert check("6.16", ..., ..., half).misconception == "half-mended"


def test_mended_code_has_to_look_at_every_sentence():
    right = BUGS["6.1"].fixed
    assert said_of("6.1", lambda *args: right(*args)[:1].expand(right(*args).shape)).startswith("✗")


def test_code_that_never_ends_is_stopped(monkeypatch):
    def endless(*args):
        while True:
            pass

    class EndlessInTraining(correct.WithoutDropout):
        def forward(self, q, k, v):
            while self.training:
                pass
            return super().forward(q, k, v)

    assert said_of("6.15", correct.DropoutInTraining()).startswith("✓")
    monkeypatch.setattr(runner, "LIMIT_S", 0.5)  # enough for the calls in eval; where it is not, they are told
    assert said_of("6.15", EndlessInTraining).startswith("✗")
    monkeypatch.setattr(runner, "LIMIT_S", 0.05)
    assert said_of("6.1", endless).startswith("✗")
    assert part(check("6.1", endless), "Test").startswith("✗")


def test_nan_to_num_does_not_mend_the_gradient_of_a_dead_row():
    def patched(q, k, v, mask=None):
        scores = q @ k.mT / q.size(-1) ** 0.5
        scores = scores if mask is None else scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=-1).nan_to_num() @ v

    for id in ("6.10", "6.11"):
        assert re.search("^✗.*the gradient of q is", said_of(id, patched))


def test_padded_queries_may_get_any_finite_output():
    def zeros(q, k, v, lengths):
        real = attn_lib.padding_mask(lengths, k.size(1))
        return attn_lib.scaled_dot_product_attention(q, k, v, real.mT & real)[0]

    assert said_of("6.12", zeros).startswith("✓")


def test_a_line_written_anew_is_indented_as_the_old_one_was():
    patient, line = PATIENTS["6.33"], BUGS["6.33"].lines[0]
    assert said_of("6.33", patient.with_line(line, "seen = seen + n_new")).startswith("✓")
    assert check("6.33", ..., ..., patient.with_line(line, "seen = n_new")).status == "unattempted"
    with pytest.raises(ValueError, match="1 to 40"):
        patient.with_line(99, "pass")
