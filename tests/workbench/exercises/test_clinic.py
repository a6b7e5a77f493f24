"""The bug clinic: three parts judged one by one, no diagnosis given away, and a test passes its own patient only."""

import ast
import contextlib
import copy
import inspect
import itertools
import keyword
import random
import re

import nbformat
import pytest
import torch
from bs4 import BeautifulSoup
from paths import NOTEBOOKS
from torch import nn
from wordings import inputs

import attn_lib
from workbench import progress as progress_file
from workbench.exercises import check, hint, progress
from workbench.exercises.clinic import FAULTS, PATIENTS, correct, interfaces
from workbench.exercises.clinic.anonymous import compiled, instance_of
from workbench.exercises.clinic.judge_test import Evidence, candidates, watched
from workbench.exercises.engine import runner
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.sections import section_in_words
from workbench.trace import trace

BUGS = {id: EXERCISES[id] for id in PATIENTS if EXERCISES[id].fixes}  # one is healthy
PARTS = "Diagnosis", "Mended", "Test"
each_bug = pytest.mark.parametrize("id", BUGS)
some_bugs = pytest.mark.parametrize("id", ["6.1", "6.15", "6.16", "6.33"])  # a function, a module, two lines


@pytest.fixture(autouse=True)
def new_session(own_folder, monkeypatch):
    """Progress goes beside the notebook, which here is nowhere; and no bug has been solved yet."""
    for bug in BUGS.values():
        monkeypatch.setattr(bug, "solved", False)
        monkeypatch.setattr(bug, "escapes", 0)
        monkeypatch.setattr(bug, "condemned", 0)


@pytest.fixture(scope="module")
def notebook():
    return nbformat.read(NOTEBOOKS / "06_bug_clinic.ipynb", as_version=4)


@pytest.fixture
def names(notebook):
    """What a learner has at hand after the import cell of the notebook."""
    return run_cells(notebook, {}, "imports")


def run_cells(notebook, names, *ids):
    """Run cells of the notebook without their questions; returns the names that they leave."""
    for id in ids:
        exec(re.sub(r"^(blank|predict)\(.*$", "", source_of_cell(notebook, id), flags=re.M), names)
    return names


def source_of_cell(notebook, id):
    (cell,) = (cell for cell in notebook.cells if cell.id == id)
    return cell.source


def part(verdict, name):
    """What a verdict says of one part, with its sign: "✓ Mended: right on 5 calls."."""
    (found,) = re.findall(rf"^. {name}: .*$", str(verdict), re.M)
    return found


def signs(verdict):
    return "".join(part(verdict, name)[0] for name in PARTS)


# ---------------------------------------------------------------------------------------------- three parts


@each_bug
def test_the_whole_answer_is_right_and_the_story_is_told(id):
    verdict = check(id, *BUGS[id].answer)
    assert (verdict.status, verdict.misconception) == ("correct", None), verdict
    diagnosis, story = inspect.getdoc(BUGS[id].code).split("\n\n")
    assert verdict.message.startswith(f"{diagnosis} {' '.join(story.split())}"), verdict.message
    assert f"Read again: {section_in_words(BUGS[id].section)}" in verdict.message


@some_bugs
def test_a_wrong_part_is_told_and_the_others_stand(id):
    line, fault, mended, detects = BUGS[id].answer
    wrong_line = next(n for n in range(1, 99) if n not in BUGS[id].lines)
    wrong_name = next(name for name in FAULTS if name not in BUGS[id].faults)
    for answer, misconception, expected in [
        ((wrong_line, fault, mended, detects), "wrong-line", "✗✓✓"),
        ((line, wrong_name, mended, detects), "wrong-name", "✗✓✓"),
        ((line, fault, next(iter(BUGS[id].variants.values())), detects), ..., "✓✗✓"),
        ((line, fault, mended, lambda attention: True), "never-called", "✓✓✗"),
        ((wrong_line, wrong_name, mended, lambda attention: True), "wrong-line", "✗✓✗"),  # the first one
    ]:
        verdict = check(id, *answer)
        assert (verdict.status, signs(verdict)) == ("wrong", expected), verdict
        assert misconception in (..., verdict.misconception)
        assert f"{expected.count('✓')} of 3 right" in str(verdict)


@some_bugs
def test_an_open_part_is_told_and_the_right_ones_count(id):
    line, fault, mended, detects = BUGS[id].answer
    for answer, expected in [
        ((line, fault), "✓……"),
        ((line, ...), "………"),
        ((..., fault), "………"),
        ((None, None, mended), "…✓…"),
        ((line, fault, BUGS[id].buggy, ...), "✓……"),  # as it came in
        ((..., ..., ..., detects), "……✓"),
        ((detects,), "……✓"),
    ]:
        verdict = check(id, *answer)
        assert (verdict.status, signs(verdict)) == ("wrong", expected), verdict


@some_bugs
def test_each_true_line_and_name_is_accepted(id):
    for line, fault in itertools.product(BUGS[id].lines, BUGS[id].faults):
        assert part(check(id, line, f" {fault.upper()} "), "Diagnosis").startswith("✓")


def test_an_unattempted_answer_is_told_what_is_wanted(own_folder, notebook, names):
    for number in (1, 15, 16):
        run_cells(notebook, names, f"exercise-6-{number}")
        verdict = check(f"6.{number}", *(names[f"{name}_{number}"] for name in ("line", "fault", "mended", "detects")))
        assert (verdict.status, verdict.misconception) == ("unattempted", None), verdict
        assert "`FAULTS`" in verdict.message and "`detects(attention)`" in verdict.message
    assert check("6.1", ()).status == "unattempted"
    assert list(own_folder.iterdir()) == [], "nothing is kept"


def test_parts_that_were_right_are_kept():
    line, fault, mended, detects = BUGS["6.7"].answer
    reached = []
    for answer in [(1, fault), (line, fault), (line, fault, mended), (1,), (line, fault, mended, detects), (1,)]:
        check("6.7", *answer)
        reached.append(progress_file.load()["6.7"])
    assert reached == ["tried", "1 of 3", "2 of 3", "2 of 3", "done", "done"]
    check("6.8", BUGS["6.8"].answer[3])
    shown = str(progress()), progress()._repr_html_()
    assert all("Patient 6.7" in text and "✓ done" in text and "✗ 1 of 3" in text for text in shown)
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


# ------------------------------------------------------------------------------- what is true of every bug


def outcome(code, args):
    torch.manual_seed(0)  # some drop
    try:
        return code(*copy.deepcopy(args))
    except Exception:
        return torch.empty(0)


def alike(one, other):
    tensors = isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
    return tensors and one.shape == other.shape and torch.allclose(one, other, atol=1e-4, equal_nan=True)


def calls_of(bug):
    return [*bug.interface.probes, *bug.probes]


@each_bug
def test_a_line_may_be_named_if_its_change_fixes_it_and_no_other(id):
    bug = BUGS[id]
    lines, expected = bug.source.splitlines(), [outcome(bug.called(bug.fixed), args) for args in calls_of(bug)]

    def is_fixed(source):
        with contextlib.suppress(Exception):
            code = bug.called(compiled(source, "<changed>"))
            return all(alike(outcome(code, args), right) for args, right in zip(calls_of(bug), expected, strict=True))

    for fix in bug.fixes:
        assert part(check(id, ..., ..., compiled(bug.source_with(fix), "<fix>")), "Mended").startswith("✓"), fix
        for line, change in fix.items() if len(fix) > 1 else ():
            assert not is_fixed(bug.source_with({line: change}))
    for line in set(range(2, len(lines) + 1)) - set(bug.lines):
        for changed in small_changes(lines[line - 1]):
            assert not is_fixed("\n".join([*lines[: line - 1], changed, *lines[line:]])), (line, changed)


def small_changes(line):
    """What somebody may try in a line: exchange neighbouring names, count one more or less, leave something out."""
    words = [word for word in re.finditer(r"[^\W\d]\w*", line) if not keyword.iskeyword(word[0])]
    for one, other in itertools.pairwise(words):
        yield line[: one.start()] + other[0] + line[one.end() : other.start()] + one[0] + line[other.end() :]
    for number in re.finditer(r"\b\d+\b", line):
        for by in (1, -1):
            yield line[: number.start()] + str(int(number[0]) + by) + line[number.end() :]
    if "~" in line:
        yield line.replace("~", "")
    yield re.sub(r"\S.*", "pass", line)


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
        assert part(check(id, ..., ..., code), "Mended").startswith("✗"), code


@some_bugs
def test_mended_code_has_to_look_at_every_sentence(id):
    right = BUGS[id].called(BUGS[id].fixed)
    verdict = check(id, ..., ..., lambda *args: right(*args)[:1].expand(right(*args).shape))
    assert part(verdict, "Mended").startswith("✗"), verdict


@each_bug
def test_no_siblings_test_condemns_a_bug(id):
    """A new bug meets the tests of those that are called as it is: each has to let it pass."""
    siblings = [bug for bug in BUGS.values() if bug.interface is BUGS[id].interface and bug.id != id]
    torch.manual_seed(0)
    condemned_by = []
    for bug in siblings:
        with contextlib.suppress(RuntimeError, ValueError):  # a patient may raise on calls that others stand
            condemned_by += [bug.id] if bug.reference(instance_of(BUGS[id].buggy)) else []
    assert not condemned_by, f"the tests of {condemned_by} take {id} for their own: ask for more in them"


@each_bug
def test_the_librarys_own_test_has_no_blind_spot(id):
    evidence = Evidence()
    torch.manual_seed(0)
    BUGS[id].reference(watched(instance_of(BUGS[id].buggy), BUGS[id].interface, evidence, []))
    spots = [spot.id for spot in BUGS[id].misconceptions.values() if spot.applies(evidence)]
    assert evidence.calls and spots == []


MORE_CALLS = {  # that cannot show every bug of their signature
    interfaces.HEADS: [interfaces.projected(num_heads=1), (*interfaces.projected(batch=1), torch.ones(1, 5, 5).bool())],
    interfaces.MERGED: [(*interfaces.qkv(n_q=5, d_k=6, d_v=6), torch.tensor([4, 4]), 3)],
    interfaces.CHUNKS: [
        interfaces.reads([3, 2], 9, heads=3, kv_heads=1),
        interfaces.reads([3, 1, 1], 3),
        interfaces.reads([2, 2, 2], 5),
    ],
}


@each_bug
def test_a_call_in_a_blind_spot_cannot_show_the_bug(id):
    bug = BUGS[id]
    for args in [*calls_of(bug), *MORE_CALLS.get(bug.interface, [])]:
        blind = Evidence(calls=[bug.interface.named(args, {}) | {"training": False}])
        spots = [spot.id for spot in bug.misconceptions.values() if spot.applies(blind)]
        if spots and spots != ["real-tokens-only"]:  # which is about what a test looks at, not about its calls
            for code in (bug.buggy, *bug.variants.values()):
                assert alike(outcome(bug.called(code), args), outcome(bug.called(bug.fixed), args)), spots


def test_grading_draws_another_order_and_other_calls(monkeypatch):
    bug = BUGS["6.1"]
    monkeypatch.setattr(bug, "order", None)
    monkeypatch.setattr(bug, "fix_exercise", copy.copy(bug.fix_exercise))
    order, calls = [name for _, name, _ in candidates(bug)], str(bug.fix_exercise.probes)
    bug.draw_again(random.Random(1))
    assert calls != str(bug.fix_exercise.probes)
    assert order != [name for _, name, _ in candidates(bug)]


# ------------------------------------------------------------------------------------------- the mended code


@pytest.mark.parametrize("id", ["6.1", "6.2", "6.5"])
def test_mended_code_that_gives_the_numbers_of_the_fault_is_told(id):
    for code in BUGS[id].variants.values():
        assert check(id, ..., ..., code).misconception == "still-buggy"


def test_one_of_two_lines_changed_is_half_mended():
    for half in BUGS["6.16"].half_fixed:
        assert check("6.16", ..., ..., half).misconception == "half-mended"


def test_mended_code_that_never_ends_is_stopped(monkeypatch):
    def endless(*args):
        while True:
            pass

    monkeypatch.setattr(runner, "LIMIT_S", 0.05)
    assert part(check("6.1", ..., ..., endless), "Mended").startswith("✗")
    assert part(check("6.1", endless), "Test").startswith("✗")


def test_nan_to_num_does_not_mend_the_gradient_of_a_dead_row():
    def patched(q, k, v, mask=None):
        scores = q @ k.mT / q.size(-1) ** 0.5
        scores = scores if mask is None else scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=-1).nan_to_num() @ v

    for id in ("6.10", "6.11"):
        assert re.search("^✗.*the gradient of q is", part(check(id, ..., ..., patched), "Mended"))


def test_padded_queries_may_get_any_finite_output():
    def zeros(q, k, v, lengths):
        real = attn_lib.padding_mask(lengths, k.size(1))
        return attn_lib.scaled_dot_product_attention(q, k, v, real.mT & real)[0]

    assert part(check("6.12", ..., ..., zeros), "Mended").startswith("✓")


def test_a_module_that_never_ends_in_training_is_stopped(monkeypatch):
    class Endless(correct.WithoutDropout):
        def forward(self, q, k, v):
            while self.training:
                pass
            return super().forward(q, k, v)

    assert part(check("6.15", ..., ..., correct.DropoutInTraining()), "Mended").startswith("✓")
    monkeypatch.setattr(runner, "LIMIT_S", 0.5)  # enough for the calls in eval; where it is not, they are told
    assert part(check("6.15", ..., ..., Endless), "Mended").startswith("✗")


# -------------------------------------------------------------------------------------------- the learner's test


def compares(id, *, error):
    """A test that reports whatever differs from correct code; `error` is what it says of an exception."""
    right = instance_of(BUGS[id].interface.correct[0])
    if isinstance(right, nn.Module):
        right.eval()

    def detects(attention):
        if isinstance(attention, nn.Module):
            attention.eval()
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


@some_bugs
def test_a_test_that_calls_nothing_or_condemns_all_is_told(id):
    def everything(attention):
        with contextlib.suppress(TypeError):
            attention(torch.randn(2, 2, 2))
        return True

    def only_calls_that_do_not_fit(attention):
        for args in ([], [torch.randn(2, 3, 4)] * 9):
            with contextlib.suppress(TypeError, RuntimeError, ValueError):
                attention(*args)
        return False

    assert check(id, lambda attention: not attention).misconception == "never-called"
    assert check(id, everything).misconception == "always"
    assert check(id, only_calls_that_do_not_fit).misconception == "sees-nothing"


def test_what_is_wrong_with_a_test_has_a_name():
    def exact(attention):
        q, k, v = torch.randn(3, 2, 4, 6)
        return not torch.equal(attention(q, k, v), correct.by_library(q, k, v))

    def unscaled_only(attention):
        q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        return torch.allclose(attention(q, k, v), torch.softmax(q @ k.mT, dim=-1) @ v, atol=1e-5)

    def picky(attention):  # right but for one style of right code, and no other fault is condemned
        q, k, v = torch.randn(2, 5, 8, requires_grad=True), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        return BUGS["6.5"].answer[3](attention) or "ToCopy" in attention(q, k, v).grad_fn.name()

    assert check("6.1", exact).misconception == "condemns-right"
    assert check("6.5", picky).misconception == "condemns-right"
    assert check("6.1", unscaled_only).misconception == "only-this-one"
    assert check("6.1", reports_another_shape("6.1")).misconception == "sees-nothing"
    assert check("6.5", lambda attention: not BUGS["6.5"].answer[3](attention)).misconception == "upside-down"


def test_a_test_that_compares_with_wrong_mended_code_is_told():
    def mended(q, k, v, mask=None):
        return correct.by_library(q, k, v, mask) * 2

    def detects(attention):
        q, k, v = torch.randn(3, 2, 4, 6)
        return not torch.allclose(attention(q, k, v), mended(q, k, v), atol=1e-4)

    assert "your mended code" in part(check("6.1", ..., ..., mended, detects), "Test")


def test_who_condemns_others_twice_is_told_with_whom_to_begin():
    def merely_compares(attention):
        q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        return not torch.allclose(attention(q, k, v), correct.by_library(q, k, v), atol=1e-4)

    first, second = check("6.1", merely_compares), check("6.1", merely_compares)
    assert first.misconception == second.misconception == "condemns-others"
    assert 'PATIENTS["6.3"]' in second.message and 'PATIENTS["6.3"]' not in first.message
    condemned = re.search(r"True was returned also for: (.*?)\. ", first.message)[1]
    assert re.findall(r"6\.(\d+)", condemned) == ["3", "4"]  # in their order


def test_a_relative_that_gets_away_twice_is_named_and_shown(monkeypatch):
    monkeypatch.setattr(BUGS["6.1"], "escaped", None)
    with pytest.raises(AttributeError) as before:
        _ = PATIENTS["6.1"].escaped
    assert "6.1" in before.value._render_traceback_()[0]  # one line, and none of our source

    def unscaled_only(attention):
        q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        return torch.allclose(attention(q, k, v), torch.softmax(q @ k.mT, dim=-1) @ v, atol=1e-5)

    first, second = check("6.1", unscaled_only), check("6.1", unscaled_only)
    named = [words for words in BUGS["6.1"].variants if words in second.message]
    assert len(named) == 1 and named[0] not in first.message
    assert PATIENTS["6.1"].escaped is BUGS["6.1"].variants[named[0]]


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
    args = (*interfaces.qkv(seed=9), torch.tensor([0, 3]))
    torch.testing.assert_close(PATIENTS[id].buggy(*args), right(*args))


def test_a_line_written_anew_is_indented_as_the_old_one_was():
    patient, line = PATIENTS["6.33"], BUGS["6.33"].lines[0]
    assert part(check("6.33", ..., ..., patient.with_line(line, "seen = seen + n_new")), "Mended").startswith("✓")
    assert check("6.33", ..., ..., patient.with_line(line, "seen = n_new")).status == "unattempted"
    with pytest.raises(ValueError, match="1 to 40"):
        patient.with_line(99, "pass")


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

    assert part(check("6.17", by_name), "Test").startswith("✓")
    assert part(check("6.15", by_forward), "Test").startswith("✓")


def test_an_exception_of_a_decoy_is_no_report():
    def exchange(attention):  # raises on 6.20, whose fault is another one
        q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        other = torch.cat([q[:1, :1].expand(2, 1, 8), torch.randn(2, 2, 8)], dim=1)
        return not torch.allclose(attention(q, k, v)[0, 0], attention(other, k, v)[0, 0], atol=1e-4)

    assert part(check("6.3", exchange), "Test").startswith("✓")


def test_a_tests_answer_may_be_a_bool_of_any_kind_and_a_stub_none():
    def of_torch(attention):
        q, k, v = torch.randn(1, 1, 8), torch.randn(1, 1, 8), torch.randn(1, 1, 4)
        return ((attention(q, k, v) - v).abs() > 1e-4).any()

    def later(attention):
        raise NotImplementedError("later")

    for detects in (of_torch, lambda attention: of_torch(attention).numpy()[()]):
        assert part(check("6.4", detects), "Test").startswith("✓")
    assert part(check("6.1", 3), "Test").startswith("✗")
    for stub in (later, lambda attention: (attention(*inputs()), ...)[1]):
        assert check("6.1", stub).status == "unattempted"


def test_what_a_test_prints_is_told_and_not_shown(capsys):
    def chatty(attention):
        print("hello\nand more")
        return BUGS["6.5"].answer[3](attention)

    verdict = check("6.5", chatty)
    assert part(verdict, "Test").startswith("✓") and "hello" in verdict.message
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------------------------------------- blind spots


def differs(right, *args, atol=1e-4, of=lambda output: output):
    """A test that compares with correct code in one call."""
    return lambda attention: not torch.allclose(of(attention(*args)), of(right(*args)), atol=atol)


def blind_tests():
    """{(id, test): blind spot}: tests that let the patient pass, and why."""
    torch.manual_seed(1)
    ones, (q, k, v) = torch.ones(2, 3, 4), torch.randn(3, 2, 4, 6)
    x, w, causal = torch.randn(3, 4, 6), torch.randn(4, 6, 6), attn_lib.causal_mask(4)
    plain = differs(correct.by_library, q, k, v)
    lively = differs(correct.by_library, q, k, v, causal)
    lengths, of_heads = torch.tensor([2, 4]), correct.lengths_per_head
    real = differs(correct.with_lengths(), q, q, q, lengths, of=lambda output: output[0, :2])
    one_sentence = differs(correct.list_of_heads, x[:1], *w, 3, causal[None], atol=1e-3)
    text, read = torch.randn(2, 1, 1, 6, 4), correct.read_with_a_cache
    whole, singles, cut = ([6], 9), ([3, 1, 1, 1], 9), ([4, 2], 9)
    asks, offers = text
    rows, table, of_texts = torch.randn(1, 5, 4), torch.randn(8, 4), correct.of_texts()
    alone, padded, packed = (torch.tensor([row]) for row in ([1, 1, 1, 1, 1], [0, 0, 1, 1, 1], [1, 1, 2, 2, 2]))

    def reads(q, how):
        return differs(read, q, offers, offers, *how)

    short, long = interfaces.with_gates(), interfaces.with_gates(n=14)

    def with_open_gates(q, k, v, keep, rate):
        return differs(correct.by_states, q, k, v, torch.ones_like(keep), rate)

    def in_training(attention):
        return not bool(attention(q, k, v).isfinite().all()) or bool((attention(q, k, v) == 0).all())

    return {
        **{(id, differs(correct.by_library, *[ones] * 3)): "constant-input" for id in ("6.1", "6.5", "6.9", "6.11")},
        **{(id, plain): "no-mask" for id in ("6.5", "6.6", "6.7", "6.8", "6.9", "6.10", "6.11")},
        ("6.9", lively): "tame-scores",
        ("6.10", lively): "no-dead-row",
        ("6.11", lively): "no-dead-row",
        ("6.12", real): "real-tokens-only",
        ("6.13", differs(correct.with_both(), q, q, q, lengths)): "never-both",
        ("6.14", differs(correct.causal_of(), q, k, v)): "square-only",
        ("6.15", in_training): "only-in-training",
        ("6.16", differs(correct.list_of_heads, x, *w, 1, atol=1e-3)): "one-head",
        ("6.17", differs(correct.list_of_heads, x, *w, 3, atol=1e-3)): "sizes-divide",
        ("6.18", differs(of_heads, q, q, q, torch.tensor([3, 4]), 1)): "one-head",
        ("6.18", differs(of_heads, q, q, q, torch.tensor([4, 4]), 2)): "equal-lengths",
        ("6.19", one_sentence): "one-sequence",
        ("6.19", differs(correct.list_of_heads, x, *w, 3, atol=1e-3)): "no-mask",
        **{(id, reads(asks, whole)): "at-once" for id in ("6.22", "6.23", "6.24", "6.26")},
        ("6.23", reads(asks, singles)): "one-new-token",
        ("6.24", reads(0 * asks, cut)): "nobody-asks",
        ("6.25", reads(asks, singles)): "nothing-shared",
        ("6.25", reads(asks.expand(1, 4, 6, 4), cut)): "nothing-shared",
        ("6.26", reads(asks, cut)): "within-the-window",
        ("6.30", differs(correct.tiled(), q, k, v, 9, False)): "in-one-block",
        ("6.31", differs(correct.tiled(), q, k, v, k.size(-2), True)): "whole-blocks",
        ("6.32", differs(correct.tiled(), q, k, v, 2, False)): "not-causal",
        ("6.38", differs(of_texts, rows, table, alone)): "nothing-before",
        ("6.38", differs(of_texts, rows, 0 * table, padded)): "no-places",
        ("6.39", differs(of_texts, rows, table, padded)): "one-text-in-a-row",
        ("6.39", differs(of_texts, rows, 0 * table, packed)): "no-places",
        ("6.40", reads(asks, whole)): "at-once",
        ("6.40", reads(asks, singles)): "one-new-token",
        ("6.41", differs(correct.with_both(), q, q, q, lengths, causal)): "not-both-at-once",
        **{(id, with_open_gates(*long)): "open-gates" for id in ("6.42", "6.44")},
        ("6.44", differs(correct.by_states, *short)): "at-most-two-chunks",
        ("6.33", differs(correct.whole_pass(), x, *w, 3, [2, 2], torch.tensor([4, 4, 4]))): "at-most-two-chunks",
    }


def test_a_blind_spot_of_a_test_is_named():
    told = blind_tests()
    for (id, detects), name in told.items():
        verdict = check(id, detects)
        assert verdict.misconception == name, (id, name, verdict)
    assert {(id, name) for (id, _), name in told.items()} >= {
        (id, name) for id, bug in BUGS.items() for name in bug.misconceptions if name != "constant-input"
    }


def test_no_call_is_too_odd_for_a_blind_spot():
    odd = ["word", 0, (), torch.tensor(True), torch.zeros(0), torch.zeros(0, dtype=torch.bool)]
    for id, bug in BUGS.items():
        names = [parameter.partition("=")[0] for parameter in bug.interface.parameters]
        for spot, value in itertools.product(bug.misconceptions.values(), odd):
            assert spot.applies(Evidence(calls=[dict.fromkeys(names, value)])) in (True, False), (id, spot.id)


# ------------------------------------------------------------------------------------ nothing gives it away


def everything_shown(id):
    """All that a learner gets to see of a patient before it is diagnosed, and what Python tells of it."""
    patient, (line, fault, mended, detects) = PATIENTS[id], BUGS[id].answer
    buggy = patient.buggy
    function = type(buggy).forward if isinstance(buggy, nn.Module) else buggy
    run = trace(buggy, *BUGS[id].interface.probes[0])
    shown = [run, patient, *(hint(id) for _ in range(3))]
    for answer in [
        (),
        (9, "no"),
        (1, fault),
        (line, "wrong order"),
        (..., ..., mended),
        (..., ..., next(iter(BUGS[id].variants.values()))),
        (detects,),
        (lambda a: 1 / 0,),
    ]:
        verdict = check(id, *answer)
        shown += [verdict] if verdict.status != "correct" else []
    texts = [text for thing in shown for text in (repr(thing), thing._repr_html_())]
    texts += [repr(buggy), run.name, type(buggy).__name__, patient.source, str(dir(patient)), str(function.__doc__)]
    texts += [function.__name__, function.__qualname__, function.__module__, inspect.getsource(function)]
    texts += [function.__code__.co_name, function.__code__.co_filename, *map(str, function.__code__.co_consts)]
    return "\n".join(texts)


@each_bug
def test_no_name_trace_or_message_gives_the_diagnosis_away(id):
    bug, shown = BUGS[id], everything_shown(id)
    assert bug.code.__name__ not in shown
    assert bug.name not in shown and bug.story not in shown and section_in_words(bug.section) not in shown
    assert "noqa" not in shown and "workbench/exercises" not in shown


@some_bugs
def test_the_right_code_is_shown_once_the_answer_is_accepted(id):
    line, fault, mended, detects = BUGS[id].answer
    check(id, line, fault, mended)
    with pytest.raises(AttributeError, match=f"the right code of patient {id}"):
        _ = PATIENTS[id].right
    check(id, line, fault, mended, detects)
    bug, args = BUGS[id], BUGS[id].interface.probes[0]
    right, expected = bug.called(PATIENTS[id].right)(*args), bug.called(bug.interface.correct[0])(*args)
    if bug.counts:  # of an output the part that matters
        right, expected = right.nan_to_num(), expected.nan_to_num()
    torch.testing.assert_close(right, expected)


def test_each_name_of_a_fault_fits_several_bugs():
    for name, meaning in FAULTS.items():
        assert sum(name in bug.faults for bug in BUGS.values()) >= 2, name
        assert meaning in str(FAULTS) and name in str(FAULTS)
    rows = [(row.th.text, row.td.text) for row in BeautifulSoup(FAULTS._repr_html_(), "html.parser")("tr")]
    assert rows == list(FAULTS.items())


@some_bugs
def test_a_patient_shows_its_source_and_how_it_is_called(id):
    patient = PATIENTS[id]
    shown, page = str(patient), BeautifulSoup(patient._repr_html_(), "html.parser")
    numbered = [f"{number:>2}  {line}" for number, line in enumerate(patient.source.splitlines(), start=1)]
    assert shown == "\n".join([f"Patient {id}: {patient.interface}", "", *numbered])
    assert page.pre.text.splitlines() == numbered and page.code.text == BUGS[id].interface.call
    with pytest.raises(AttributeError):
        _ = patient.detects


@some_bugs
def test_a_trace_shows_the_lines_of_this_patient_alone(id):
    assert all(bug.buggy and bug.fixed for bug in BUGS.values())  # all are compiled, and this one's fix too
    steps = trace(PATIENTS[id].buggy, *BUGS[id].interface.probes[0]).steps
    assert {step.place.text for step in steps} <= {line.strip() for line in PATIENTS[id].source.splitlines()}


# ------------------------------------------------------------------------------------------------- the notebook


@each_bug
def test_a_patient_pasted_into_a_cell_runs_and_can_be_mended(id, names):
    bug = BUGS[id]
    exec(PATIENTS[id].source, names)
    for args in bug.interface.probes:
        pasted, buggy = (outcome(bug.called(code), args) for code in (names["attention"], bug.buggy))
        torch.testing.assert_close(pasted, buggy, equal_nan=True)
    exec(bug.source_with(bug.fixes[0]), names)
    assert part(check(id, ..., ..., names["attention"]), "Mended").startswith("✓")


def exercises_in(notebook):
    """(number, the exercise's source, the source of the cell that checks it) of every patient with cells."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, following in itertools.pairwise(code):
        if "exercise" in cell.metadata.get("tags", []):
            yield cell.id.removeprefix("exercise-6-"), cell.source, following.source


def test_every_patient_has_its_cells_with_its_code_ready(notebook):
    assert {f"6.{number}" for number, *_ in exercises_in(notebook)} == set(PATIENTS)
    shown = "\n".join(cell.source for cell in notebook.cells)
    for number, source, check_cell in exercises_in(notebook):
        answer = ", ".join(f"{name}_{number}" for name in ("line", "fault", "mended", "detects"))
        assert check_cell == f'check("6.{number}", {answer})'
        assert len(re.findall(rf"^def detects_{number}\(", shown, re.M)) == 1
        assert f'PATIENTS["6.{number}"]' in shown
        if "with_line(..., " in source:  # too long to be copied
            assert PATIENTS[f"6.{number}"].with_line(..., "…") is ...
        elif number != "3":  # the one that is worked in the lesson
            stub = next(n for n in ast.parse(source).body if getattr(n, "name", "") == f"mended_{number}")
            patient = ast.parse(PATIENTS[f"6.{number}"].source.replace("attention(", f"mended_{number}(", 1)).body[0]
            assert ast.unparse(stub) == ast.unparse(patient)
        assert number == "3" or source.startswith(f"line_{number}, fault_{number} = ..., ...")


def test_the_worked_patient_is_right_but_for_the_missing_line(notebook, names):
    run_cells(notebook, names, "patient-first", "examine", "my-line-filled", "mask-earlier", "my-mended", "mended")
    run_cells(notebook, names, "first-try", "exercise-6-3")
    assert "patient 6.4" in part(names["first_try"], "Test") and "2 of 3 right" in str(names["first_try"])
    assert names["first_try"].misconception == "condemns-others"

    def verdict():
        return check("6.3", *(names[f"{name}_3"] for name in ("line", "fault", "mended", "detects")))

    assert part(verdict(), "Test").startswith("…")
    filled = source_of_cell(notebook, "exercise-6-3").replace(
        "return ...", "return not torch.allclose(before, after, atol=1e-4)"
    )
    exec(filled, names)
    assert verdict().status == "correct"


def test_the_second_patients_test_needs_one_line(notebook, names):
    run_cells(notebook, names, "patient-first", "examine", "mask-effect")
    filled = source_of_cell(notebook, "exercise-6-5").replace(
        "return ...  #", "return torch.allclose(with_mask, without)  #"
    )
    exec(filled, names)
    assert part(check("6.5", names["detects_5"]), "Test").startswith("✓")


def test_the_notebook_names_the_patients_that_raise(notebook):
    raising = set()
    for id, args in ((id, args) for id, bug in BUGS.items() for args in bug.interface.probes):
        try:
            BUGS[id].called(BUGS[id].buggy)(*args)
        except (ValueError, RuntimeError):
            raising.add(id)
    (told,) = (words for cell in notebook.cells for words in re.findall(r"The exceptions are .*", cell.source))
    assert raising and raising <= set(re.findall(r"6\.\d+", told)), "a short table, which some need, is no probe"


def test_the_matrix_has_every_patient_of_its_signature(notebook):
    (cell,) = (cell for cell in notebook.cells if cell.id == "matrix")
    head, *rows = cell.outputs[0].data["text/plain"].splitlines()
    known = [id for id in BUGS if BUGS[id].interface is interfaces.PLAIN]
    assert head.split() == known, "run `course.py refresh 06`"
    outcomes = [row.split()[1:] for row in rows]
    assert all(set(column) - {"·"} for column in zip(*outcomes, strict=True)), "each is caught by some test"
    assert set(outcomes[0]) == {"·", "raises"}  # the test of shapes catches nobody


def test_correct_code_passes_all_tests_of_the_matrix(notebook, names):
    tests = ("tests-shape", "tests-numbers", "tests-invariants", "tests-edges")
    run_cells(notebook, names, "patient-first", "examine", "mask-effect", *tests, "my-saboteur")
    for right in (*correct.CORES, names["my_saboteur"]):
        assert [test.__name__ for test in names["tests"] if test(right)] == []
