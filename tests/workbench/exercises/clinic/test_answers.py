"""An answer of the clinic: its three parts are judged one by one, and what was right is kept."""

import itertools
import re

import pytest
import torch
from known_bugs import BUGS, bugs_of_each_kind, each_bug, inputs, part, signs

from workbench import progress as progress_file
from workbench.exercises import check, progress
from workbench.exercises.clinic import FAULTS, PATIENTS, interfaces
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.sections import section_in_words


@each_bug
def test_the_whole_answer_is_right_and_the_story_is_told(id):
    """The library's own test of a bug lets its siblings pass, a new one too: else the test is to be changed."""
    bug = BUGS[id]
    verdict = check(id, *bug.answer)
    assert (verdict.status, verdict.misconception) == ("correct", None), verdict
    assert verdict.message.startswith(f"{bug.name}. {bug.story}"), verdict.message
    assert f"Read again: {section_in_words(bug.section)}" in verdict.message


@bugs_of_each_kind
def test_each_part_is_judged_by_itself(id):
    bug, (line, fault, mended, detects) = BUGS[id], BUGS[id].answer
    wrong_line = next(n for n in range(1, 99) if n not in bug.lines)
    wrong_name = next(name for name in FAULTS if name not in bug.faults)
    still_wrong, useless = next(iter(bug.variants.values())), lambda attention: True
    for answer, expected, misconception in [
        ((wrong_line, fault, mended, detects), "✗✓✓", "wrong-line"),
        ((line, wrong_name, mended, detects), "✗✓✓", "wrong-name"),
        ((line, fault, still_wrong, detects), "✓✗✓", ...),
        ((line, fault, mended, useless), "✓✓✗", "never-called"),
        ((wrong_line, wrong_name, mended, useless), "✗✓✗", "wrong-line"),  # the first one
        ((line, fault), "✓……", None),
        ((line, ...), "………", None),
        ((..., fault), "………", None),
        ((None, None, mended), "…✓…", None),
        ((line, fault, bug.buggy, ...), "✓……", None),  # as it came in
        ((..., ..., ..., detects), "……✓", None),
        ((detects,), "……✓", None),
    ]:
        verdict = check(id, *answer)
        assert (verdict.status, signs(verdict)) == ("wrong", expected), verdict
        assert misconception in (..., verdict.misconception), verdict
        assert f"{expected.count('✓')} of 3 right" in str(verdict)


def test_each_true_line_and_name_is_accepted():
    for id, bug in BUGS.items():
        for line, fault in itertools.product(bug.lines, bug.faults):
            assert part(check(id, line, f" {fault.upper()} "), "Diagnosis").startswith("✓"), (id, line, fault)


def test_parts_that_were_right_are_kept():
    line, fault, mended, detects = BUGS["6.7"].answer
    reached = []
    for answer in [(1, fault), (line, fault), (line, fault, mended), (1,), (line, fault, mended, detects), (1,)]:
        check("6.7", *answer)
        reached.append(progress_file.load()["6.7"])
    assert reached == ["tried", "1 of 3", "2 of 3", "2 of 3", "done", "done"]
    check("6.8", BUGS["6.8"].answer[3])
    for shown in (str(progress()), progress()._repr_html_()):
        assert "Patient 6.7" in shown and "✓ done" in shown and "✗ 1 of 3" in shown
    assert "1 of" in str(progress()).splitlines()[0]  # only what is done counts as done


def test_patients_that_open_later_are_not_owed_before():
    def owed():
        return re.match(r"0 of (\d+) ", str(progress()))[1]

    late = [id for id, bug in BUGS.items() if bug.opens_after == 10]
    always = sum(not EXERCISES[id].opens_after for id in PATIENTS)
    check("6.7", 1, "not used")
    assert owed() == str(always) and f"{len(late)} patients" in str(progress())
    check(late[0], ..., "misaligned")  # whoever begins is not held up
    assert owed() == str(always + 1)
    check("10.2", lambda x, groups: x)
    assert "after notebook 10" not in str(progress())


def test_who_is_healthy_is_called_so_and_not_mended_or_condemned():
    (id,) = set(PATIENTS) - set(BUGS)
    right = interfaces.LENGTHS.correct[0]
    assert all(check(id, *said).status == "correct" for said in (("healthy",), (..., "Healthy"), ("healthy", 3, right)))
    for answer, misconception in [
        ((4, "wrong axis"), "wrong-line"),
        ((..., ..., right), "mended-the-healthy"),
        ((lambda attention: not attention(*inputs(), torch.tensor([2, 4])).isnan().any(),), "condemns-the-healthy"),
    ]:
        verdict = check(id, *answer)
        assert (verdict.status, verdict.misconception) == ("wrong", misconception), verdict
    assert check("6.1", "healthy").misconception == "not-healthy"
    for args in (*interfaces.LENGTHS.probes, (*interfaces.qkv(seed=9), torch.tensor([0, 3]))):
        torch.testing.assert_close(PATIENTS[id].buggy(*args), right(*args))


@bugs_of_each_kind
def test_the_right_code_is_shown_once_the_answer_is_accepted(id):
    bug = BUGS[id]
    check(id, *bug.answer[:3])
    with pytest.raises(AttributeError, match=f"the right code of patient {id}"):
        _ = PATIENTS[id].right
    check(id, *bug.answer)
    args = bug.interface.probes[0]
    torch.testing.assert_close(bug.called(PATIENTS[id].right)(*args), bug.called(bug.interface.correct[0])(*args))
