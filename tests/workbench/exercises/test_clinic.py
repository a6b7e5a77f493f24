"""The bug clinic: three parts judged one by one, no diagnosis given away, and a test passes its own patient only."""

import ast
import contextlib
import copy
import dataclasses
import inspect
import itertools
import keyword
import random
import re
from types import SimpleNamespace

import nbformat
import pytest
import torch
import torch.nn.functional as F
from bs4 import BeautifulSoup
from paths import NOTEBOOKS
from torch import nn

import attn_lib
from workbench import progress as progress_file
from workbench.display import show
from workbench.exercises import check, hint, progress, solution
from workbench.exercises.clinic import FAULTS, PATIENTS, correct, interfaces
from workbench.exercises.clinic.anonymous import compiled, instance_of
from workbench.exercises.clinic.blind_spots import constant_input, given, no_dead_row, no_mask, square_only
from workbench.exercises.clinic.bug import Bug, Patient
from workbench.exercises.clinic.bugs import cache
from workbench.exercises.clinic.judge_bug import is_unanswered, same_code
from workbench.exercises.clinic.judge_test import Evidence, candidates, part_of, watched
from workbench.exercises.engine import runner
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.sections import section_in_words
from workbench.trace import trace

BUGS = {id: EXERCISES[id] for id in PATIENTS}
each_patient = pytest.mark.parametrize("id", PATIENTS)


@pytest.fixture(autouse=True)
def a_new_session(own_folder, monkeypatch):
    """Progress goes beside the notebook, which here is nowhere; and nobody has been diagnosed yet."""
    for bug in BUGS.values():
        monkeypatch.setattr(bug, "solved", False)


@pytest.fixture(scope="module")
def notebook():
    return nbformat.read(NOTEBOOKS / "06_bug_clinic.ipynb", as_version=4)


@pytest.fixture
def names(notebook):
    """What a learner has at hand after the first cells of the notebook."""
    names = {}
    (cell,) = (cell for cell in notebook.cells if cell.id == "imports")
    exec(cell.source, names)
    return names


def source_of_cell(notebook, id):
    (cell,) = (cell for cell in notebook.cells if cell.id == id)
    return cell.source


def part(verdict, name):
    """What a verdict says of one part, with its sign: "✓ Mended: right on 5 calls."."""
    (found,) = re.findall(rf"^. {name}: .*$", str(verdict), re.M)
    return found


def test_every_patient_is_an_exercise_and_every_case_a_patient():
    assert set(PATIENTS) == {id for id, exercise in EXERCISES.items() if isinstance(exercise, Bug)}
    assert set(PATIENTS) == {id for id in EXERCISES if id.startswith("6.")}


# ------------------------------------------------------------------------------------------- three parts, each told


@each_patient
def test_the_right_diagnosis_cure_and_test_are_right_together(id):
    verdict = check(id, *BUGS[id].answer)
    assert verdict.status == "correct", verdict
    assert verdict.misconception is None
    diagnosis, story = inspect.getdoc(BUGS[id].code).split("\n\n")
    assert verdict.message.startswith(f"{diagnosis} {' '.join(story.split())}"), verdict.message
    assert "Read again: notebook" in verdict.message


def test_a_test_that_says_so_itself_is_still_to_be_written():
    def detects(attention):
        raise NotImplementedError("later")

    line, fault, *_ = BUGS["6.1"].answer
    assert part(check("6.1", line, fault, ..., detects), "Test").endswith("is still to be written.")


def test_an_error_of_the_test_itself_is_told_whoever_it_was_tried_on():
    def detects(attention):
        return {}["nothing"]

    bug = next(bug for bug in BUGS.values() if candidates(bug)[0][0] in ("variants", "decoys"))
    said = part(check(bug.id, ..., ..., ..., detects), "Test")
    assert said.startswith("✗ Test: On code with another fault `detects` raises `KeyError: 'nothing'`.")


def test_code_is_as_it_came_in_unless_a_step_a_number_or_a_name_was_changed():
    def patient(x):
        return [y * 2 for y in x]

    def renamed(x):
        return [y * 2 for y in x]

    def another_number(x):
        return [y * 3 for y in x]

    def another_name(x):
        return [z * 2 for z in x]

    assert same_code(patient, renamed) and not same_code(patient, another_number)
    assert not same_code(patient, another_name) and not same_code(lambda x: x + 1, lambda y: y + 1)
    assert same_code(lambda x: x + 1, lambda x: x + 1) and not same_code(lambda x: x + 1, lambda x: x + 2)
    assert not same_code(lambda x: x.sum(), lambda x: x.mean())
    assert not same_code(lambda x: torch.einsum("ij->ji", x), lambda x: torch.einsum("ij->ij", x))


def test_nobody_is_known_by_their_place_in_the_row():
    rows = {id: [(group, name) for group, name, _ in candidates(bug)] for id, bug in BUGS.items()}
    assert rows == {id: [(group, name) for group, name, _ in candidates(bug)] for id, bug in BUGS.items()}
    for group in ("buggy", "correct", "variants", "decoys"):
        assert len({[kind for kind, _ in row].index(group) for row in rows.values()}) > 3, group


def test_grading_draws_another_order_and_other_calls_for_the_cure(monkeypatch):
    bug = BUGS["6.1"]
    monkeypatch.setattr(bug, "order", None)
    monkeypatch.setattr(bug, "fix_exercise", copy.copy(bug.fix_exercise))
    order, calls = [who for _, who, _ in candidates(bug)], str(bug.fix_exercise.probes)
    bug.draw_again(random.Random(1))
    assert sorted(order) == sorted(who for _, who, _ in candidates(bug)) and calls != str(bug.fix_exercise.probes)
    assert order != [who for _, who, _ in candidates(bug)]


@pytest.mark.parametrize("id", ["6.1", "6.2", "6.5"])
def test_a_cure_that_is_the_same_fault_in_other_clothes_is_still_ill(id):
    for variant in BUGS[id].variants:
        verdict = check(id, ..., ..., variant)
        assert verdict.misconception == "still-buggy", verdict
        assert part(verdict, "Mended").startswith("✗")


def test_of_several_parts_that_are_wrong_the_first_names_the_verdict():
    _, fault, mended, _ = BUGS["6.1"].answer
    verdict = check("6.1", 1, fault, mended, lambda attention: True)
    assert part(verdict, "Diagnosis").startswith("✗") and part(verdict, "Test").startswith("✗")
    assert verdict.misconception == "wrong-line"


@each_patient
def test_each_part_that_is_wrong_alone_is_told_and_the_others_stand(id):
    line, fault, mended, detects = BUGS[id].answer
    others = [n for n in range(1, len(PATIENTS[id].source.splitlines()) + 1) if n not in BUGS[id].lines]
    assert all(check(id, n, fault).misconception == "wrong-line" for n in others)
    elsewhere = others[0]
    another = next(name for name in FAULTS if name not in BUGS[id].faults)

    wrong_line = check(id, elsewhere, fault, mended, detects)
    assert (wrong_line.status, wrong_line.misconception) == ("wrong", "wrong-line")
    assert (
        part(wrong_line, "Diagnosis")
        == f"✗ Diagnosis: Line {elsewhere} is not where it goes wrong. “{fault}” is what ails it."
    )
    wrong_name = check(id, line, another, mended, detects)
    assert (wrong_name.status, wrong_name.misconception) == ("wrong", "wrong-name")
    assert (
        part(wrong_name, "Diagnosis")
        == f"✗ Diagnosis: Line {line} is where it goes wrong. “{another}” is not what ails it."
    )
    for verdict in (wrong_line, wrong_name):
        assert "2 of 3 right" in str(verdict)
        assert part(verdict, "Mended").startswith("✓") and part(verdict, "Test").startswith("✓")

    ill = BUGS[id].variants[0]
    verdict = check(id, line, fault, ill, detects)
    assert verdict.status == "wrong"
    assert [part(verdict, name)[0] for name in ("Diagnosis", "Mended", "Test")] == ["✓", "✗", "✓"]
    verdict = check(id, line, fault, mended, lambda attention: True)
    assert (verdict.status, verdict.misconception) == ("wrong", "never-called")
    assert [part(verdict, name)[0] for name in ("Diagnosis", "Mended", "Test")] == ["✓", "✓", "✗"]


@each_patient
def test_what_is_still_open_is_told_and_what_is_right_so_far_counts(id):
    line, fault, mended, detects = BUGS[id].answer
    for answer, signs in [
        ((line, fault), "✓……"),
        ((line, ...), "………"),
        ((..., fault), "………"),
        ((..., fault, mended), "…✓…"),
        ((line, fault, BUGS[id].buggy, ...), "✓……"),
        ((..., ..., ..., detects), "……✓"),
    ]:
        verdict = check(id, *answer)
        assert verdict.status == "wrong", verdict
        assert "".join(part(verdict, name)[0] for name in ("Diagnosis", "Mended", "Test")) == signs
        assert BUGS[id].story not in str(verdict)
    assert str(check(id, detects)) == str(check(id, ..., ..., ..., detects))


@each_patient
def test_every_other_line_and_name_that_is_true_is_taken(id):
    _, _, mended, detects = BUGS[id].answer
    for line in BUGS[id].lines:
        for fault in BUGS[id].faults:
            assert check(id, line, f" {fault.upper()} ", mended, detects).status == "correct"


def test_a_line_or_a_name_that_there_is_not_is_told_what_there_is():
    for line in (0, 7, True, "4", 4.0):
        verdict = check("6.7", line, "too weak")
        assert "from 1 to 5" in part(verdict, "Diagnosis") and verdict.misconception == "no-line"
    for fault in ("axis", 3, ["wrong axis"]):
        verdict = check("6.7", 4, fault)
        assert all(name in part(verdict, "Diagnosis") for name in FAULTS) and verdict.misconception == "no-name"
    assert part(check("6.7", 0, ...), "Diagnosis").startswith("✗")
    another = next(name for name in FAULTS if name not in BUGS["6.7"].faults)
    assert check("6.7", 1, another).misconception == "wrong-line"  # before the name, which is wrong too
    assert (
        part(check("6.7", 4, ...), "Diagnosis")
        == "… Diagnosis: Line 4 is where it goes wrong. Which of the names in `FAULTS`?"
    )


def test_unattempted_says_what_is_wanted_and_writes_nothing(own_folder, notebook, names):
    for stub in ("exercise-6-1", "exercise-6-15", "exercise-6-16"):
        exec(source_of_cell(notebook, stub), names)
        number = stub.split("-")[-1]
        parts = [names[f"{name}_{number}"] for name in ("line", "fault", "mended", "detects")]
        verdict = check(f"6.{number}", *parts)
        assert (verdict.status, verdict.misconception) == ("unattempted", None), verdict
        assert "`FAULTS`" in verdict.message and "`detects(attention)`" in verdict.message
    for nothing in ((), []):
        assert check("6.1", nothing).status == "unattempted"
    assert list(own_folder.iterdir()) == []


def test_how_many_parts_are_right_is_kept_and_never_lost():
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


# ------------------------------------------------------------------------------------------------------- the cure


@each_patient
def test_relatives_of_the_fault_do_not_pass_for_mended(id):
    bug = BUGS[id]
    for code in bug.variants:
        verdict = check(id, ..., ..., code)
        assert part(verdict, "Mended").startswith("✗"), verdict
    assert check(id, ..., ..., bug.buggy).status == "unattempted"


@each_patient
def test_a_patient_in_other_words_does_not_pass_for_mended(id):
    ill = BUGS[id].called(BUGS[id].buggy)
    assert part(check(id, ..., ..., lambda *args: ill(*args)), "Mended").startswith("✗")


@pytest.mark.parametrize("id", [id for id in PATIENTS if id not in ("6.19", "6.20")])  # these raise at some sizes
def test_relatives_answer_every_call_that_right_code_answers(id):
    for code, args in itertools.product(BUGS[id].variants, BUGS[id].interface.probes):
        assert isinstance(BUGS[id].called(code)(*args), torch.Tensor)


def test_relatives_of_the_ward_of_memory_are_right_code_but_for_one_part():
    for args in interfaces.CHUNKS.probes:
        right = correct.read_at_once()(*args)
        torch.testing.assert_close(cache.reading()(*args), right)
        torch.testing.assert_close(cache.reading(missing=1)(*args), BUGS["6.26"].buggy(*args))
        torch.testing.assert_close(cache.reading(mask=cache.corner(lambda new, keys: keys - new))(*args), right)


def mended_calls(id):
    return [*BUGS[id].interface.probes, *BUGS[id].probes]


# Kinds of calls, each of which somebody mends alone or forgets alone: what must be among those a cure is tried on.
KINDS = [
    ("6.1", "as many queries as keys", lambda q, k, v, *mask: q.size(1) == k.size(1)),
    ("6.1", "values as wide as queries", lambda q, k, v, *mask: q.size(2) == v.size(2)),
    ("6.1", "no mask and fewer queries than keys", lambda q, k, v, *mask: not mask and q.size(1) < k.size(1)),
    ("6.1", "one mask for all sentences", lambda q, k, v, *mask: mask and mask[0].ndim == 2),
    ("6.1", "a mask for each sentence", lambda q, k, v, *mask: mask and mask[0].ndim == 3),
    ("6.2", "no mask", lambda *args: len(args) == 6),
    ("6.2", "two heads", lambda *args: args[5] == 2),
    ("6.2", "one mask for all sentences", lambda *args: len(args) > 6 and args[6].ndim == 2),
    ("6.2", "a padded sentence", lambda *args: len(args) > 6 and args[6].size(1) == 1 and not args[6].all()),
    ("6.2", "a mask of its own for each of two sentences", lambda *args: len(args) > 6 and args[6].shape == (2, 5, 5)),
    ("6.2", "as many sentences as heads, each with a mask of its own",
     lambda *args: len(args) > 6 and len(args[6]) == args[5] == len(args[6].unique(dim=0))),
    ("6.9", "scores far below a million", lambda q, k, v, *mask: bool((q @ k.mT).min() < -1e7)),
    ("6.10", "a row with nothing left", lambda q, k, v, *mask: mask and not mask[0].any(-1).all()),
    ("6.11", "a row with nothing left", lambda q, k, v, *mask: mask and not mask[0].any(-1).all()),
    ("6.12", "a sentence without padding beside one with it", lambda q, k, v, n: n.max() == k.size(1) > n.min()),
    ("6.12", "a single token that is real", lambda q, k, v, n: bool((n == 1).any())),
    ("6.13", "neither lengths nor a mask", lambda q, k, v, *more: not more),
    ("6.13", "lengths alone", lambda q, k, v, *more: len(more) == 1 and more[0].min() < k.size(1)),
    ("6.13", "a mask alone", lambda q, k, v, *more: len(more) == 2 and more[0] is None is not more[1]),
    ("6.13", "both", lambda q, k, v, *more: len(more) == 2 and more[0] is not None),
    ("6.14", "as many queries as keys", lambda q, k, v: q.size(1) == k.size(1)),
    ("6.14", "two queries, the newest of five", lambda q, k, v: q.size(1) == 2 and k.size(1) == 5),
    ("6.14", "one query", lambda q, k, v: q.size(1) == 1 < k.size(1)),
    ("6.15", "as many queries as keys", lambda q, k, v: q.size(1) == k.size(1)),
    ("6.15", "fewer queries than keys", lambda q, k, v: q.size(1) < k.size(1)),
    ("6.17", "sizes that do not divide", lambda *args: args[0].size(2) % args[5]),
    ("6.18", "more heads than sentences, of several lengths", lambda *args: args[4] > len(set(args[3].tolist())) > 1),
    ("6.18", "more sentences than heads, of several lengths", lambda *args: len(set(args[3].tolist())) > args[4] > 1),
    ("6.22", "two chunks within the window", lambda q, k, v, chunks, window: len(chunks) == 2 and window > sum(chunks)),
    ("6.22", "three chunks, the last of several", lambda q, k, v, chunks, window: len(chunks) == 3 and chunks[2] > 1),
    ("6.22", "a single one, and then two", lambda q, k, v, chunks, window: chunks[1:] == [1, 2]),
    ("6.22", "chunks longer than the window", lambda q, k, v, chunks, window: len(chunks) > 1 and max(chunks) > window),
    ("6.22", "one after the other at first", lambda q, k, v, chunks, window: chunks[:2] == [1, 1] and window < 5),
    ("6.22", "at once, longer than its window", lambda q, k, v, chunks, window: chunks == [5] and window < 5),
    ("6.22", "one head kept for all", lambda q, k, v, chunks, window: k.size(1) == 1 < q.size(1)),
    ("6.22", "two heads kept for four", lambda q, k, v, chunks, window: k.size(1) == 2 and q.size(1) == 4),
    ("6.22", "three heads to share each", lambda q, k, v, chunks, window: q.size(1) == 3 * k.size(1) > 3),
    ("6.22", "several sentences", lambda q, k, v, chunks, window: len(q) > 1),
]  # fmt: skip


@pytest.mark.parametrize(("id", "when"), [pytest.param(id, when, id=f"{id} {name}") for id, name, when in KINDS])
def test_a_cure_that_is_wrong_in_one_kind_of_call_only_is_none(id, when):
    right = BUGS[id].called(BUGS[id].fixed)

    def mended(*args):
        if not when(*args):
            return right(*args)
        try:
            return right(*args) + 1
        except ValueError:
            return torch.zeros(1)

    assert part(check(id, ..., ..., mended), "Mended").startswith("✗")


def as_weights(attention, mask=None):
    """What it makes of three keys whose weights are to be as 1 to 2 to 4."""
    keys = torch.zeros(1, 3, 4)
    keys[0, :, 0] = torch.tensor([1.0, 2.0, 4.0]).log()
    return attention(torch.tensor([[[2.0, 0.0, 0.0, 0.0]]]), keys, torch.eye(3)[None], mask).flatten()


RIGHT, OPEN, SHUT = [1 / 7, 2 / 7, 4 / 7], None, torch.tensor([[True, True, False]])
FALSE_WEIGHTS = {  # of the patient and its variants: without a mask, or where the third key may not be attended to
    "6.1": (OPEN, [[1 / 21, 4 / 21, 16 / 21], [0.22654, 0.32038, 0.45308], [1 / 273, 16 / 273, 256 / 273],
                   [0.12220, 0.27207, 0.60573]]),
    "6.3": (OPEN, [[1, 1, 1], RIGHT, [1, 1, 1]]),  # each query for itself has all of each key
    "6.4": (OPEN, [[0, 0.69315, 1.38629], [-1.94591, -1.25276, -0.55962], [1 / 2, 2 / 3, 4 / 5],
                   [0, 1.38629, 2.77259]]),
    "6.5": (SHUT, [RIGHT, RIGHT, RIGHT]),
    "6.6": (SHUT, [[0, 0, 1], [0, 0, 1], [0, 0, 1]]),
    "6.7": (SHUT, [[0.22364, 0.44728, 0.32909], [0.31258, 0.62517, 0.06225], [1 / 4, 2 / 4, 1 / 4]]),
    "6.8": (SHUT, [[1 / 7, 2 / 7, 0], [1 / 7, 2 / 7, 1e-9], [3 / 14, 6 / 14, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("id", FALSE_WEIGHTS)
def test_relatives_have_the_same_fault_with_other_numbers(id):
    mask, expected = FALSE_WEIGHTS[id]
    for code, weights in zip([BUGS[id].buggy, *BUGS[id].variants], expected, strict=True):
        torch.testing.assert_close(as_weights(code, mask), torch.tensor(weights).float(), rtol=1e-4, atol=1e-12)


def comes_to(bug, code, args):
    torch.manual_seed(0)  # some of them drop
    try:
        return bug.called(code)(*args)
    except (RuntimeError, ValueError):  # as right code does, and two of the patients, at some sizes
        return torch.empty(0)


def alike(one, other):
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-4, equal_nan=True)


OTHER_CLOTHES = {  # variants that come to what the patient comes to, on all calls: the same fault written otherwise
    "6.5": [0, 1], "6.6": [0, 1], "6.8": [0], "6.9": [0, 1], "6.10": [0], "6.11": [0, 1], "6.12": [0, 1], "6.15": [0],
    "6.19": [0], "6.21": [0],
}  # fmt: skip


@each_patient
def test_nobodys_relatives_are_right_and_only_some_come_to_the_same_as_the_patient(id):
    bug, calls = BUGS[id], mended_calls(id)
    if bug.interface is interfaces.CHUNKS:
        calls.append(interfaces.reads([1] * 8, 5))  # a window in which it shows how many are missing
    fixed, ill, *variants = ([comes_to(bug, code, args) for args in calls] for code in
                              (bug.fixed, bug.buggy, *bug.variants))  # fmt: skip
    as_the_patient = [i for i, variant in enumerate(variants) if all(map(alike, variant, ill))]
    assert as_the_patient == OTHER_CLOTHES.get(id, [])
    others = [variant for i, variant in enumerate(variants) if i not in as_the_patient]
    for one, other in itertools.combinations([fixed, ill, *others], 2):
        assert not all(map(alike, one, other))


def masked(*mask):
    return *interfaces.qkv(), *mask


NOTHING_TO_SEE = {  # calls on which the patient is right, which is why a test that makes no others sees nothing
    **{(id, "without a mask"): masked() for id in ("6.5", "6.6", "6.7", "6.8", "6.9", "6.10", "6.11")},
    **{(id, "no row empty"): masked(torch.ones(3, 5).tril(1) > 0) for id in ("6.9", "6.10", "6.11")},
    ("6.13", "lengths alone"): masked(torch.tensor([5, 2])),
    ("6.13", "a mask alone"): masked(None, attn_lib.causal_mask(3, 5)),
    ("6.14", "as many queries as keys"): interfaces.qkv(n_q=4, n_k=4),
    ("6.16", "one head"): interfaces.projected(num_heads=1),
    ("6.17", "sizes that divide"): interfaces.projected(),
    ("6.18", "equal lengths"): (*interfaces.qkv(n_q=5, d_k=6, d_v=6), torch.tensor([4, 4]), 3),
    ("6.19", "without a mask"): interfaces.projected(),
    ("6.19", "one sentence"): (*interfaces.projected(batch=1), attn_lib.causal_mask(5)[None]),
    **{(f"6.{n}", "at once"): interfaces.reads([5], 3) for n in (22, 23, 24, 26)},
    ("6.23", "then single ones"): interfaces.reads([3, 1, 1], 3),
    ("6.24", "queries of 0"): (0 * torch.ones(1, 1, 5, 6), *interfaces.reads([3, 2], 9, heads=1, kv_heads=1)[1:]),
    ("6.25", "no heads that share"): interfaces.reads([3, 2], 9),
    ("6.25", "one head for all"): interfaces.reads([3, 2], 9, heads=3, kv_heads=1),
    ("6.26", "within the window"): interfaces.reads([3, 2], 7),
}


@pytest.mark.parametrize(("id", "where"), NOTHING_TO_SEE)
def test_where_a_test_sees_nothing_there_is_nothing_to_be_seen(id, where):
    bug, args = BUGS[id], NOTHING_TO_SEE[id, where]
    for code in (bug.buggy, *bug.variants):
        assert alike(comes_to(bug, code, args), comes_to(bug, bug.fixed, args))


def test_only_one_patient_and_its_relatives_have_no_numbers_for_a_row_with_nothing_left():
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[1] = False
    without_numbers = {
        bug.id
        for bug in BUGS.values()
        for code in (bug.buggy, *bug.variants)
        if bug.interface is interfaces.PLAIN and not code(*interfaces.qkv(n_q=4, n_k=4), mask).isfinite().all()
    }
    assert without_numbers == {"6.11"}


def test_a_cure_that_comes_to_the_same_as_the_fault_is_told_that():
    def reworded(q, k, v, mask=None):
        scores = torch.matmul(q, k.mT) * q.size(-1) ** -0.5
        return torch.softmax(scores, dim=1) @ v

    verdict = check("6.3", ..., ..., reworded)
    assert verdict.misconception == "still-buggy"


def test_a_cure_that_goes_wrong_elsewhere_is_shown_the_call_and_both_matrices():
    def halved(q, k, v, mask=None):
        return attn_lib.scaled_dot_product_attention(q, k, v, mask)[0] / 2

    verdict = check("6.3", ..., ..., halved)
    assert verdict.misconception is None
    assert "mended(q (2, 3, 8), k (2, 5, 8), v (2, 5, 4))" in verdict.message
    torch.testing.assert_close(verdict.yours * 2, verdict.expected)


def test_a_cure_that_raises_or_is_no_function_or_returns_nothing_is_told():
    def raises(q, k, v, mask=None):
        raise ZeroDivisionError("no")

    def forgets(q, k, v, mask=None):
        scores = q @ k.mT
        torch.softmax(scores, dim=-1) @ v

    assert "raises `ZeroDivisionError: no`" in part(check("6.3", ..., ..., raises), "Mended")

    def forgets_with_a_mask(q, k, v, mask=None):
        return attn_lib.scaled_dot_product_attention(q, k, v)[0] if mask is None else None

    assert "returns nothing" in part(check("6.3", ..., ..., forgets_with_a_mask), "Mended")
    assert "but it is an int" in part(check("6.3", ..., ..., 3), "Mended")
    assert check("6.3", ..., ..., forgets).status == "unattempted"


def test_any_right_code_is_a_cure():
    def by_hand(query, key, value, mask=None):
        scores = torch.einsum("bqd,bkd->bqk", query, key) / query.size(-1) ** 0.5
        if mask is not None:
            scores = torch.where(mask, scores, -torch.inf)
        return torch.softmax(scores, dim=-1) @ value

    for id in ("6.1", "6.3", "6.5", "6.6", "6.7", "6.8", "6.20"):
        calls = len(BUGS[id].fix_exercise.trials)
        assert part(check(id, ..., ..., by_hand), "Mended") == f"✓ Mended: right on {calls} calls.", id
    for id in ("6.10", "6.11"):  # here a dead row is what counts
        assert part(check(id, ..., ..., by_hand), "Mended").startswith("✗"), id
    assert part(check("6.20", ..., ..., F.scaled_dot_product_attention), "Mended").startswith("✓")


def test_nan_to_num_mends_the_outputs_of_a_dead_row_and_not_its_gradients():
    def patched(q, k, v, mask=None):
        scores = q @ k.mT / q.size(-1) ** 0.5
        scores = scores if mask is None else scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=-1).nan_to_num() @ v

    for id in ("6.10", "6.11"):
        assert "the gradient of q is not finite" in part(check(id, ..., ..., patched), "Mended")


def test_padded_queries_may_come_to_anything_finite_once_mended():
    def zeros(q, k, v, lengths):
        real = attn_lib.padding_mask(lengths, k.size(1))
        return attn_lib.scaled_dot_product_attention(q, k, v, real.mT & real)[0]

    assert part(check("6.12", ..., ..., zeros), "Mended").startswith("✓")
    assert check("6.12", ..., ..., lambda q, k, v, lengths: None).status == "unattempted"


def test_a_module_that_drops_nothing_any_more_is_cured_of_too_much():
    verdict = check("6.15", ..., ..., correct.WithoutDropout)
    assert verdict.misconception == "dropout-removed" and "✗" in part(verdict, "Mended")
    for mended in (correct.DropoutInTraining, correct.DropoutInTraining()):
        assert part(check("6.15", ..., ..., mended), "Mended").startswith("✓")


def test_a_module_that_fails_in_training_is_told_that():
    class Rests(correct.WithoutDropout):
        def forward(self, q, k, v):
            return super().forward(q, k, v) if not self.training else self.nothing

    verdict = check("6.15", ..., ..., Rests)
    assert verdict.misconception is None
    assert "in training it raises `AttributeError: 'Rests' object has no attribute" in part(verdict, "Mended")


def test_a_module_that_never_ends_in_training_is_told_that(monkeypatch):
    class Restless(correct.WithoutDropout):
        def forward(self, q, k, v):
            while self.training:
                pass
            return super().forward(q, k, v)

    monkeypatch.setattr(runner, "LIMIT_S", 0.5)  # enough for the calls in eval; where it is not, they are told
    assert "had not come back after 0.5 seconds" in part(check("6.15", ..., ..., Restless), "Mended")


def test_an_endless_cure_or_test_is_stopped(monkeypatch):
    monkeypatch.setattr(runner, "LIMIT_S", 0.05)

    def endless(*args):
        while True:
            pass

    assert "had not come back" in part(check("6.1", ..., ..., endless), "Mended")
    assert "had not come back" in part(check("6.1", endless), "Test")


# ------------------------------------------------------------------------------------------- the test, on trial


def catches_by_comparing(id, *, error):
    """A recipe for all patients: whatever differs from right code anywhere is caught; `error` is said of exceptions."""
    bug, right = BUGS[id], instance_of(BUGS[id].interface.correct[0])
    right = right.eval() if isinstance(right, nn.Module) else right

    def detects(attention):
        if isinstance(attention, nn.Module):
            attention.eval()
        for args in (*bug.interface.probes, *bug.probes):
            try:
                if not torch.allclose(attention(*args), right(*args), atol=1e-4):
                    return True
            except (RuntimeError, ValueError, TypeError):
                if error:
                    return True
        return False

    return detects


def raises_anywhere(id):
    bug = BUGS[id]

    def detects(attention):
        for args in (*bug.interface.probes, *bug.probes):
            try:
                attention(*args)
            except Exception:
                return True
        return False

    return detects


def has_another_shape(id):
    args = BUGS[id].interface.probes[0]
    return lambda attention: attention(*args).shape != BUGS[id].called(BUGS[id].fixed)(*args).shape


@each_patient
def test_no_recipe_passes_a_patient(id):
    recipes = {
        "compare": catches_by_comparing(id, error=True),
        "compare, errors left out": catches_by_comparing(id, error=False),
        "any error": raises_anywhere(id),
        "shape": has_another_shape(id),
        "always": lambda attention: attention is not None,
        "never": lambda attention: attention is None,
        "the first": iter([True] + [False] * 99).__next__,
    }
    for name, recipe in recipes.items():
        verdict = check(id, recipe if name != "the first" else lambda attention, first=recipe: first())
        assert verdict.status == "wrong" and part(verdict, "Test").startswith("✗"), (name, verdict)


@pytest.mark.parametrize("id", [id for id in PATIENTS if id != "6.17"])  # there, what right code does is to refuse
def test_merely_comparing_is_told_whom_it_condemns_as_well(id):
    verdict = check(id, catches_by_comparing(id, error=False))
    if id not in ("6.15", "6.20"):  # one is right where it can be compared at all, and the other raises
        assert verdict.misconception == "condemns-others", verdict
        decoys = [name for name, _ in BUGS[id].decoys]
        assert any(name in part(verdict, "Test") for name in decoys)


@each_patient
def test_a_test_passes_its_own_patient_only(id):
    for other in PATIENTS:
        if other != id:
            verdict = check(id, BUGS[other].answer[3])
            assert verdict.status == "wrong" and not part(verdict, "Test").startswith("✓"), (other, verdict)


@each_patient
def test_there_are_right_ones_relatives_and_neighbours_for_every_patient(id):
    bug = BUGS[id]
    assert len(bug.interface.correct) >= 3 and len(bug.variants) >= 2 and len(bug.decoys) >= 3
    names = [name for name, _ in bug.decoys]
    assert all(name.startswith("patient 6.") and name != f"patient {id}" for name in names)
    borrowed = [f"patient {other} called like this one" for other in bug.interface.adapted]
    assert [name for name in names if "called like" in name] == borrowed


def test_on_how_many_right_ones_a_test_is_tried_and_on_how_many_calls_a_cure():
    counts = (
        "PLAIN 5 5 0, HEADS 5 5 0, LENGTHS 5 2 4, BOTH 5 4 4, CAUSAL 5 4 4, MODULE 3 2 3, MERGED 4 2 4, CHUNKS 4 4 4"
    )
    for name, *wanted in map(str.split, counts.split(", ")):
        interface = getattr(interfaces, name)
        assert [len(those) for those in (interface.correct, interface.probes, interface.adapted)] == [*map(int, wanted)]


def test_no_right_code_is_tried_twice():
    for interface in {bug.interface for bug in BUGS.values()}:
        kinds = [(cure.__name__, cure.__qualname__, *map(repr, made_of(cure))) for cure in interface.correct]
        assert len(set(kinds)) == len(kinds), interface.call


def made_of(code):
    return [] if isinstance(code, type) else inspect.getclosurevars(code).nonlocals.values()


def test_one_of_the_right_ones_reads_a_text_token_by_token(monkeypatch):
    calls, whole = [], correct.cached_attention
    monkeypatch.setattr(correct, "cached_attention", lambda *args, **kwargs: calls.append(1) or whole(*args, **kwargs))
    text = torch.randn(3, 1, 1, 5, 4)
    assert correct.read_one_by_one in interfaces.CHUNKS.correct and correct.read_one_by_one(*text, [5], 9).shape == (
        1,
        1,
        5,
        4,
    )
    assert len(calls) == 5


@each_patient
def test_who_answers_every_sentence_as_the_first_is_not_mended(id):
    right = BUGS[id].called(BUGS[id].fixed)
    verdict = check(id, ..., ..., lambda *args: right(*args)[:1].expand(right(*args).shape))
    assert part(verdict, "Mended").startswith("✗"), verdict


def test_a_test_of_shapes_is_told_that_it_would_miss_zeros():
    def zeros_only(attention):
        q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        return bool((attention(q, k, v) == 0).all())

    assert check("6.5", zeros_only).misconception == "no-mask"  # it would not miss them
    verdict = check("6.1", has_another_shape("6.1"))
    assert verdict.misconception == "sees-nothing" and "returns zeros" in verdict.message


@each_patient
def test_a_test_that_condemns_all_or_calls_nothing_is_called_that(id):
    assert check(id, lambda attention: not attention).misconception == "never-called"

    def everything(attention):
        with contextlib.suppress(TypeError):  # a call that fits nobody is still a call, and nothing breaks
            attention(torch.randn(2, 2, 2))
        return True

    assert check(id, everything).misconception == "always"


def test_a_call_is_noted_by_the_names_of_its_arguments_where_it_fits():
    named = interfaces.BOTH.named  # attention(q, k, v, lengths=None, mask=None)
    assert named((1, 2, 3), {"mask": 4}) == {"q": 1, "k": 2, "v": 3, "mask": 4}
    assert named((1,), {"v": 3, "k": 2}) == {"q": 1, "k": 2, "v": 3}
    misfits = [((1, 2), {}), ((1, 2, 3), {"q": 1}), ((1, 2, 3), {"more": 1}), ((1, 2, 3, 4, 5, 6), {})]
    assert [named(*call) for call in misfits] == [None] * 4


@each_patient
def test_calls_that_fit_nobody_are_no_excuse_and_no_crash(id):
    def careless(attention):
        for args in ([], [torch.randn(2, 3, 4)], [torch.randn(2, 3, 4)] * 9):
            with contextlib.suppress(TypeError, RuntimeError, ValueError):
                attention(*args)
        return False

    assert check(id, careless).misconception == "sees-nothing"


def test_arguments_by_name_are_as_good():
    def by_name(attention):
        x, w = torch.randn(1, 4, 10), torch.randn(10, 10)
        try:
            attention(x=x, w_q=w, w_k=w, w_v=w, w_o=w, num_heads=4)
        except (ValueError, RuntimeError):
            return False
        return True

    def divides(attention):
        x, w = torch.randn(1, 4, 10), torch.randn(10, 10)
        return bool(attention(num_heads=5, w_o=w, w_v=w, w_k=w, w_q=w, x=x).isnan().any())

    assert part(check("6.17", by_name), "Test").startswith("✓")
    assert check("6.17", divides).misconception == "sees-nothing"  # it would let zeros pass
    assert interfaces.HEADS.named((1, 2), {"x": 3}) is None


def test_a_module_may_be_called_by_its_forward():
    def by_forward(attention):
        q, k, v = torch.randn(3, 2, 5, 8)
        attention.eval()
        return not torch.equal(attention.forward(q, k, v), attention.forward(q, k, v))

    assert part(check("6.15", by_forward), "Test").startswith("✓")


def test_a_module_that_is_never_put_into_eval_is_told():
    def in_training(attention):
        q, k, v = torch.randn(3, 2, 5, 8)
        return not bool(attention(q, k, v).isfinite().all()) or bool((attention(q, k, v) == 0).all())

    verdict = check("6.15", in_training)
    assert verdict.misconception == "only-in-training"


def test_an_exception_within_attention_is_no_catch_and_no_condemnation():
    def exchange(attention):  # raises on 6.20, whose fault is another one
        q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        other = torch.cat([q[:1, :1].expand(2, 1, 8), torch.randn(2, 2, 8)], dim=1)
        return not torch.allclose(attention(q, k, v)[0, 0], attention(other, k, v)[0, 0], atol=1e-4)

    def not_square(attention):
        q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        return attention(q, k, v).shape != (2, 3, 4)

    assert part(check("6.3", exchange), "Test").startswith("✓")
    said = part(check("6.20", not_square), "Test")
    assert "On the patient `detects` raises" in said and "right code" not in said


def test_an_error_of_the_tests_own_is_told_with_where_it_comes_from():
    def misspelt(attention):
        return attention(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)).summ() > 0

    def expects_no_error(attention):
        w = torch.randn(10, 10)
        attention(torch.randn(1, 4, 10), w, w, w, w, 4)
        return True

    def divides(attention):
        return 1 / float(attention(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)).sum()) > 1e9

    assert "AttributeError" in part(check("6.1", misspelt), "Test")
    assert "On code with another fault `detects` raises `ZeroDivisionError" in part(check("6.1", divides), "Test")
    assert "missing 2 required" in part(check("6.1", lambda attention: attention(torch.ones(1, 2, 3))), "Test")
    said = part(check("6.17", expects_no_error), "Test")
    assert "On right code `detects` raises" in said and "where a test expects it, it catches it" in said


def test_what_a_test_returns_has_to_be_a_bool():
    def forgets(attention):
        attention(torch.randn(1, 2, 3), torch.randn(1, 2, 3), torch.randn(1, 2, 3)).sum()

    def asserts(attention):
        raise AssertionError("differs")

    def one_line_missing(attention):
        attention(torch.randn(1, 2, 3), torch.randn(1, 2, 3), torch.randn(1, 2, 3))
        return ...

    def a_tensor(attention):
        q, k, v = torch.randn(1, 1, 8), torch.randn(1, 1, 8), torch.randn(1, 1, 4)
        return ((attention(q, k, v) - v).abs() > 1e-4).any()

    class Undecided(torch.Tensor):
        def __bool__(self):
            raise ValueError("neither")

    undecided = torch.ones(()).as_subclass(Undecided)
    assert "raises `ValueError: neither`" in part(check("6.1", lambda attention: undecided), "Test")
    assert "`detects` returns nothing. Is the line with `return` missing?" in part(check("6.1", forgets), "Test")
    assert "use `torch.allclose`" in part(check("6.1", asserts), "Test")
    assert "a str" in part(check("6.1", lambda attention: "yes"), "Test")
    assert "a tensor of shape (3,)" in part(check("6.1", lambda attention: torch.ones(3)), "Test")
    assert "but it is an int" in part(check("6.1", 3), "Test")
    assert check("6.1", one_line_missing).status == "unattempted"
    assert part(check("6.4", a_tensor), "Test").startswith("✓")
    assert part(check("6.4", lambda attention: a_tensor(attention).numpy()[()]), "Test").startswith("✓")  # NumPy's bool


def test_what_it_prints_is_told_and_not_shown(capsys):
    def chatty(attention):
        print("hello\nand more")
        return BUGS["6.5"].answer[3](attention)

    verdict = check("6.5", chatty)
    assert part(verdict, "Test").startswith("✓") and 'It prints ("hello")' in verdict.message
    assert capsys.readouterr().out == ""


def test_the_blind_spots_of_a_test_have_names():
    def ones(attention):
        x = torch.ones(2, 3, 4)
        return not torch.allclose(attention(x, x, x), x)

    def no_mask(attention):
        q, k, v = torch.randn(3, 2, 4, 6)
        return not torch.allclose(attention(q, k, v), F.scaled_dot_product_attention(q, k, v), atol=1e-5)

    def lively(attention):
        q, k, v = torch.randn(3, 2, 4, 6)
        mask = torch.ones(4, 4, dtype=torch.bool).tril()
        return not torch.allclose(attention(q, k, v, mask), F.scaled_dot_product_attention(q, k, v, mask), atol=1e-5)

    def square(attention):
        q, k, v = torch.randn(3, 2, 4, 6)
        return not torch.allclose(
            attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-5
        )

    def in_one_sentence(attention):
        x, w, mask = torch.randn(1, 4, 6), torch.randn(4, 6, 6), attn_lib.causal_mask(4)[None]
        return bool((attention(x, *w, 3, mask) - correct.list_of_heads(x, *w, 3, mask)).abs().max() > 1e-4)

    def same_lengths(attention):
        q, lengths = torch.randn(2, 4, 6), torch.tensor([4, 4])
        return not torch.allclose(
            attention(q, q, q, lengths, 2), correct.lengths_per_head(q, q, q, lengths, 2), atol=1e-5
        )

    def one_head(attention):
        q, lengths = torch.randn(2, 4, 6), torch.tensor([3, 4])
        return not torch.allclose(
            attention(q, q, q, lengths, 1), correct.lengths_per_head(q, q, q, lengths, 1), atol=1e-5
        )

    def lengths_alone(attention):
        q = torch.randn(2, 4, 6)
        right = correct.with_lengths()(q, q, q, torch.tensor([2, 4]))
        return not torch.allclose(attention(q, q, q, torch.tensor([2, 4])), right, atol=1e-5)

    def real_ones(attention):
        q, lengths = torch.randn(2, 4, 6), torch.tensor([2, 4])
        return not torch.allclose(attention(q, q, q, lengths)[0, :2], correct.with_lengths()(q, q, q, lengths)[0, :2])

    def heads_without_a_mask(attention):
        x, w = torch.randn(3, 4, 6), torch.randn(4, 6, 6)
        return bool((attention(x, *w, 3) - correct.list_of_heads(x, *w, 3)).abs().max() > 1e-3)

    def divides(attention):
        x, w = torch.randn(1, 4, 8), torch.randn(4, 8, 8)
        return bool((attention(x, *w, 4) - correct.list_of_heads(x, *w, 4)).abs().max() > 1e-3)

    told = {
        ("6.9", lively): "tame-scores",
        ("6.10", lively): "no-dead-row",
        ("6.11", lively): "no-dead-row",
        ("6.12", real_ones): "real-tokens-only",
        ("6.13", lengths_alone): "never-both",
        ("6.14", square): "square-only",
        ("6.17", divides): "sizes-divide",
        ("6.18", one_head): "one-head",
        ("6.18", same_lengths): "equal-lengths",
        ("6.19", in_one_sentence): "one-sequence",
        ("6.19", heads_without_a_mask): "no-mask",
    }
    told |= memory_blind_spots()
    told |= {(id, no_mask): "no-mask" for id in ("6.5", "6.6", "6.7", "6.8", "6.9", "6.10", "6.11")}
    told |= {(id, ones): "constant-input" for id in ("6.1", "6.5", "6.9", "6.11")}
    for (id, detects), name in told.items():
        verdict = check(id, detects)
        assert verdict.misconception == name, (id, name, verdict)
        assert BUGS[id].misconceptions[name].why in verdict.message


ROW, ONES, NUMBER = torch.tensor([[1.0, 2.0]]), torch.ones(1, 2), torch.ones(1)
MASK, DEAD = torch.tensor([[True, False]]), torch.tensor([[True, False], [False, False]])
MANY, FEW = torch.ones(2, 5, 8), torch.ones(2, 3, 8)
NOT_BLIND, BLIND = False, True


@pytest.mark.parametrize(
    ("spot", "calls", "is_blind"),
    [
        (constant_input, [{"q": ONES, "k": 3 * ONES}, {"q": -ONES}], BLIND),
        (constant_input, [{"q": ONES, "mask": MASK, "n": 3}], BLIND),
        (constant_input, [{"q": ONES, "k": ROW}], NOT_BLIND),
        (constant_input, [{"q": ONES}, {"q": ROW}], NOT_BLIND),
        (constant_input, [{"q": ONES, "k": NUMBER}], BLIND),
        (constant_input, [{"q": NUMBER}], NOT_BLIND),  # one number is neither constant nor otherwise
        (no_mask, [{"q": ONES, "mask": None}], BLIND),
        (no_mask, [{"q": ONES, "lengths": torch.tensor([1])}], BLIND),
        (no_mask, [{"q": ONES}, {"q": ONES, "mask": MASK}], NOT_BLIND),
        (no_dead_row, [{"mask": MASK}, {"mask": MASK}], BLIND),
        (no_dead_row, [{"mask": MASK}, {"mask": DEAD}], NOT_BLIND),
        (no_dead_row, [{"q": ONES}], NOT_BLIND),  # it has no mask, which is another blind spot
        (square_only, [{"q": MANY, "k": MANY}, {"q": FEW, "k": FEW}], BLIND),
        (square_only, [{"q": MANY, "k": MANY}, {"q": FEW, "k": MANY}], NOT_BLIND),
    ],
)
def test_a_blind_spot_is_what_all_calls_have_in_common(spot, calls, is_blind):
    assert spot(calls) == is_blind


def heads(stored, asking):
    return {"k": torch.ones(1, stored, 6, 4), "q": torch.ones(1, asking, 6, 4)}


CALLS = {  # for each blind spot of one patient a call that cannot show the fault, and one that can
    ("6.9", "tame-scores"): ({"q": ROW, "mask": MASK}, {"q": 100 * ROW, "mask": MASK}),
    ("6.12", "real-tokens-only"): ({"q": ROW, "v": ROW}, {"q": ROW, "v": ROW.clone().requires_grad_()}),
    ("6.13", "never-both"): ({"mask": MASK}, {"mask": MASK, "lengths": NUMBER}),
    ("6.14", "square-only"): ({"q": FEW, "k": FEW}, {"q": FEW, "k": MANY}),
    ("6.15", "only-in-training"): ({"training": True}, {"training": False}),
    ("6.16", "one-head"): ({"num_heads": 1}, {"num_heads": 2}),
    ("6.17", "sizes-divide"): ({"x": MANY, "num_heads": 4}, {"x": MANY, "num_heads": 3}),
    ("6.18", "one-head"): ({"num_heads": 1}, {"num_heads": 2}),
    ("6.18", "equal-lengths"): ({"lengths": torch.tensor([3, 3])}, {"lengths": torch.tensor([3, 4])}),
    ("6.19", "one-sequence"): ({"x": MANY[:1]}, {"x": MANY}),
    ("6.22", "at-once"): ({"chunks": [5]}, {"chunks": [4, 1]}),
    ("6.23", "one-new-token"): ({"chunks": [4, 1]}, {"chunks": [3, 2]}),
    ("6.24", "nobody-asks"): ({"q": 0 * MANY}, {"q": torch.eye(5)}),
    ("6.25", "nothing-shared"): (heads(1, 4), heads(2, 4)),
    ("6.26", "within-the-window"): (heads(1, 1) | {"window": 7}, heads(1, 1) | {"window": 6}),
}


@pytest.mark.parametrize(("id", "name"), CALLS)
def test_a_blind_spot_is_no_longer_one_with_the_first_call_that_can_show_the_fault(id, name):
    blind, seeing = CALLS[id, name]
    spot = BUGS[id].misconceptions[name].spot
    assert spot([blind]) and spot([blind, blind]) and not spot([blind, seeing])


def test_what_was_given_for_an_argument_leaves_out_none():
    assert given([{"lengths": 3}, {"lengths": None}, {}], "lengths") == [3]


def test_a_blind_spot_speaks_of_calls_that_were_made_where_the_patient_got_away():
    spot = BUGS["6.5"].misconceptions["no-mask"]
    assert not spot.applies(Evidence()) and spot.applies(Evidence(calls=[{"q": ROW}]))
    assert not spot.applies(Evidence(calls=[{"q": ROW}], reported={"buggy": {"the patient": True}}))


def test_no_call_is_so_odd_that_a_blind_spot_cannot_bear_it():
    for id, bug in BUGS.items():
        names = [parameter.partition("=")[0] for parameter in bug.interface.parameters]
        odd = ["word", 0, (), torch.tensor(True), torch.zeros(0), torch.zeros(0, dtype=torch.bool)]
        for known, value in itertools.product(bug.misconceptions.values(), odd):
            assert known.applies(Evidence(calls=[dict.fromkeys(names, value)])) in (True, False), (id, known.id)

    def no_heads(attention):
        x, w = torch.randn(1, 4, 8), torch.randn(4, 8, 8)
        with contextlib.suppress(ValueError, ZeroDivisionError):
            attention(x, *w, 0)
        return bool((attention(x, *w, 2) == 0).all())

    assert "lets the patient pass" in part(check("6.17", no_heads), "Test")


def weighed(patient, *variants, right=False, decoys=False, id="6.1"):
    """What is said of a test with random input that says this of the patient, its variants and one of the right."""
    said = {"buggy": {"the patient": patient}, "variants": dict(enumerate(variants))}
    said |= {"correct": {0: right, 1: False, 2: False}, "decoys": dict.fromkeys("abcdefg", decoys)}
    return str(part_of(BUGS[id], Evidence(reported=said, calls=[{"q": ROW}], n_calls=1)))


def test_what_a_test_cannot_see_is_told_before_what_it_condemns_as_well():
    assert weighed(False, False, id="6.5", right=True).startswith("✗ Test: The test never passes a mask.")


def test_who_catches_the_patient_is_not_upside_down():
    said = {"buggy": {"the patient": True}, "variants": {0: True}, "correct": {0: True}, "decoys": {"a": False}}
    assert (
        part_of(BUGS["6.1"], Evidence(reported=said, calls=[{"q": ROW}], n_calls=1)).misconception == "condemns-right"
    )


def test_how_many_relatives_are_caught_is_said():
    assert weighed(True, True, True) == (
        "✓ Test: It catches the patient and 2 variants of the fault, "
        "and lets 3 right implementations and 7 with another fault pass."
    )
    assert weighed(False, True, False) == ("✗ Test: It lets the patient pass; of 2 variants of the fault it catches 1.")
    assert weighed(True, True, False).startswith("✗ Test: It catches this patient, but not every variant")


def test_whoever_lets_the_patient_pass_is_told_that_and_not_whom_else_it_condemns():
    assert weighed(False, False, decoys=True).startswith("✗ Test: It lets the patient pass;")
    assert weighed(True, True, decoys=True).startswith("✗ Test: It condemns code whose fault is another one.")


def memory_blind_spots():
    """Tests of the ward of memory that cannot see, by what they have in common."""
    right = correct.read_with_a_cache

    def differs(q, k, chunks, window=9):
        return lambda attention: (
            not torch.allclose(attention(q, k, k, chunks, window), right(q, k, k, chunks, window), atol=1e-4)
        )

    def text(seed, heads=1, n=6):
        return torch.randn(1, heads, n, 4, generator=torch.Generator().manual_seed(seed))

    asks, offers = text(1), text(2)
    whole, singles = differs(asks, offers, [6]), differs(asks, offers, [3, 1, 1, 1])
    return {
        **{(id, whole): "at-once" for id in ("6.22", "6.23", "6.24", "6.26")},
        ("6.23", singles): "one-new-token",
        ("6.24", differs(0 * asks, offers, [4, 2])): "nobody-asks",
        ("6.25", singles): "nothing-shared",
        ("6.25", differs(text(3, heads=4), offers, [4, 2])): "nothing-shared",
        ("6.26", differs(asks, offers, [4, 2])): "within-the-window",
    }


def test_the_ward_that_opens_later_is_said_to_and_nobody_owes_it():
    check("6.7", 1, "not used")
    ward = [id for id, bug in BUGS.items() if bug.opens_after == 10]
    assert ward == ["6.22", "6.23", "6.24", "6.25", "6.26"]
    first, *rows = str(progress()).splitlines()
    assert first.startswith("0 of 21 exercises done")
    assert [row.split()[0:3:2] for row in rows if "– after notebook 10" in row] == [[ward[0], ward[-1]]]
    assert "5 patients" in rows[-1] and progress()._repr_html_().count("– after notebook 10") == 1
    check("6.22", ..., "misaligned")  # whoever begins is not held up
    assert str(progress()).splitlines()[0].startswith("0 of 22")
    check("10.2", lambda x, groups: x)
    shown = str(progress())
    assert "after notebook 10" not in shown and shown.startswith("0 of 30 exercises done")


def test_the_wards_of_notebook_6_say_when_the_last_one_opens(notebook):
    assert "of memory, opens after notebook 10" in source_of_cell(notebook, "text-20")
    ward = source_of_cell(notebook, "text-memory-ward")
    assert "(10_writing_with_a_memory.ipynb)" in ward and "is done with this notebook" in ward


def test_exactness_narrowness_and_a_missing_not_have_names():
    def exact(attention):
        q, k, v = torch.randn(3, 2, 4, 6)
        return not torch.equal(attention(q, k, v), attn_lib.scaled_dot_product_attention(q, k, v)[0])

    def unscaled_only(attention):
        q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        return torch.allclose(attention(q, k, v), torch.softmax(q @ k.mT, dim=-1) @ v, atol=1e-5)

    def picky(attention):  # right but for one style of right code, and no other fault is condemned
        q, k, v = torch.randn(2, 5, 8, requires_grad=True), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
        return BUGS["6.5"].answer[3](attention) or "ToCopy" in attention(q, k, v).grad_fn.name()

    verdict = check("6.1", exact)
    assert verdict.misconception == "condemns-right" and "Condemned with the patient" not in verdict.message
    assert check("6.5", picky).misconception == "condemns-right"
    assert check("6.1", unscaled_only).misconception == "only-this-one"
    assert check("6.5", lambda attention: not BUGS["6.5"].answer[3](attention)).misconception == "upside-down"


def test_check_leaves_the_notebooks_random_numbers_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    check("6.1", *BUGS["6.1"].answer)
    torch.testing.assert_close(torch.rand(3), expected)


# ------------------------------------------------------------------------------------ nothing gives it away


def everything_shown(id):
    """All that a learner gets to see of a patient before it is diagnosed, and what Python tells of it."""
    patient, (line, fault, mended, detects) = PATIENTS[id], BUGS[id].answer
    buggy = patient.buggy
    function = type(buggy).forward if isinstance(buggy, nn.Module) else buggy
    run = trace(buggy, *BUGS[id].interface.probes[0])
    texts = [repr(patient), patient._repr_html_(), repr(run), run._repr_html_(), repr(buggy), run.name]
    texts += [
        type(buggy).__name__,
        function.__name__,
        function.__qualname__,
        function.__module__,
        str(function.__doc__),
    ]
    texts += [function.__code__.co_name, function.__code__.co_filename, *map(str, function.__code__.co_consts)]
    texts += [inspect.getsource(function), patient.source, str(dir(patient))]
    for answer in [
        (),
        (9, "no"),
        (1, fault),
        (line, "wrong order"),
        (..., ..., mended),
        (detects,),
        (lambda a: 1 / 0,),
    ]:
        verdict = check(id, *answer)
        texts += [repr(verdict), verdict._repr_html_()] if verdict.status != "correct" else []
    texts += [repr(hint(id)) for _ in range(3)][-1:]
    return "\n".join(texts)


@each_patient
def test_no_name_trace_or_message_gives_the_diagnosis_away(id):
    bug, shown = BUGS[id], everything_shown(id)
    assert bug.code.__name__ not in shown
    assert bug.name not in shown and bug.story not in shown and section_in_words(bug.section) not in shown
    assert "noqa" not in shown and "workbench/exercises" not in shown


@each_patient
def test_a_wrong_cure_is_not_told_the_right_one(id):
    """Where the two part would say what to change."""
    broken = BUGS[id].called(BUGS[id].variants[0])
    verdict = check(id, ..., ..., lambda *args: broken(*args) * 1.5)
    assert part(verdict, "Mended").startswith("✗") and "trace" not in verdict.message


@each_patient
def test_the_right_code_is_to_be_had_once_the_diagnosis_stands(id):
    line, fault, mended, detects = BUGS[id].answer
    check(id, line, fault, mended)
    with pytest.raises(AttributeError, match=f"the right code of patient {id}"):
        _ = PATIENTS[id].right
    check(id, line, fault, mended, detects)
    args = BUGS[id].interface.probes[0]
    right = PATIENTS[id].right
    right = right.eval() if isinstance(right, nn.Module) else right
    expected = BUGS[id].called(BUGS[id].interface.correct[0])(*args)
    real = slice(None, 2) if id == "6.12" else slice(None)  # what padded queries get is nobody's business
    torch.testing.assert_close(right(*args)[:, real], expected[:, real])


@each_patient
def test_the_names_of_faults_give_nothing_away(id):
    assert set(BUGS[id].faults) <= set(FAULTS)
    html = FAULTS._repr_html_()
    assert sum(BUGS[id].faults[0] in bug.faults for bug in BUGS.values()) >= 2
    assert str(FAULTS) == "\n".join(f"{name:12}  {means}" for name, means in FAULTS.items())
    rows = [
        (row.th["style"], row.th.text, row.td["style"], row.td.text) for row in BeautifulSoup(html, "html.parser")("tr")
    ]
    assert rows == [("text-align: left", name, "text-align: left", meaning) for name, meaning in FAULTS.items()]
    assert html.count("<th scope='row'") == len(FAULTS) and all(f"<code>{name}</code>" in html for name in FAULTS)
    assert all(len(meaning.split()) >= 5 for meaning in FAULTS.values())


@each_patient
def test_a_patient_shows_its_source_line_by_line_and_how_it_is_called(id):
    patient = PATIENTS[id]
    shown, page = str(patient), patient._repr_html_()
    for number, line in enumerate(patient.source.splitlines(), start=1):
        assert f"{number:>2}  {line}".rstrip() in [text.rstrip() for text in shown.splitlines()]
    assert shown.startswith(f"Patient {id}: {patient.interface}\n") and page.startswith(
        show.framed(f"<b>Patient {id}</b> ")[:-6]
    )
    assert page.count('<span style="opacity: 0.6; user-select: none">') == len(patient.source.splitlines())
    assert BeautifulSoup(page, "html.parser").pre.text == shown.partition("\n\n")[2]
    assert "→ output; " in page and f"<code>{BUGS[id].interface.call}</code>" in page
    with pytest.raises(AttributeError):
        _ = patient.detects


def test_the_source_of_a_patient_stays_words_on_the_page():
    bug = SimpleNamespace(id="6.0", interface="attention(q) → output; q < k", source="def attention(q):\n    q<b>1 & 2")
    assert Patient(bug)._repr_html_().count("&lt;") == 2 and "1 &amp; 2" in Patient(bug)._repr_html_()


@each_patient
def test_a_trace_shows_the_lines_of_this_patient_and_of_no_other(id):
    for bug in BUGS.values():
        assert bug.buggy and bug.fixed  # all are compiled, and this one's cure too
    steps = trace(PATIENTS[id].buggy, *BUGS[id].interface.probes[0]).steps
    assert {step.place.text for step in steps} <= {line.strip() for line in PATIENTS[id].source.splitlines()}
    assert BUGS[id].buggy.__module__ == "clinic"


@each_patient
def test_every_patient_has_hints_of_its_own_behind_how_to_look_at_it(id):
    first, *more = hints = BUGS[id].hints
    general = (
        f'`trace(PATIENTS["{id}"].buggy, …)` shows every step; the patient is called as `{BUGS[id].interface.call}`. '
    )
    assert first.startswith(general) and len(hints) >= 3
    assert all(re.search(r"\w{2,} .*[.?]$", own) for own in (first.removeprefix(general), *more))
    shown = [str(hint(id)) for _ in hints]
    assert all(words in told for words, told in zip(hints, shown, strict=True))


def test_the_first_hint_ends_with_what_the_ward_says_and_the_others_follow():
    said = ["What does each line return, and who takes it?", "Call it with a mask and without one."]
    assert [own.endswith(words) for own, words in zip(BUGS["6.5"].hints, said, strict=False)] == [True, True]


def test_who_is_written_down_wrongly_is_not_admitted():
    with pytest.raises(AssertionError, match=r"6\.1"):
        dataclasses.replace(BUGS["6.1"], misconceptions={}, faults=("tired",))
    twice = dataclasses.replace(BUGS["6.1"], misconceptions={}, fixes=[{3: ("s", "t")}])
    with pytest.raises(AssertionError, match=r"6\.1"):
        _ = twice.fixed


@each_patient
def test_a_line_may_be_named_if_its_change_heals_and_no_other(id):
    bug = BUGS[id]
    lines, expected = bug.source.splitlines(), [answer(bug.called(bug.fixed), args) for args in mended_calls(id)]

    def heals(source):
        with contextlib.suppress(Exception):
            code = bug.called(compiled(source, "<changed>"))
            return all(
                alike(answer(code, copy.deepcopy(args)), right)
                for args, right in zip(mended_calls(id), expected, strict=True)
            )

    for cure in bug.fixes:
        assert part(check(id, ..., ..., compiled(bug.source_with(cure), "<fix>")), "Mended").startswith("✓"), cure
        for line, change in cure.items() if len(cure) > 1 else ():
            assert not heals(bug.source_with({line: change}))
    for line in set(range(2, len(lines) + 1)) - set(bug.lines):
        for changed in small_changes(lines[line - 1]):
            assert not heals("\n".join([*lines[: line - 1], changed, *lines[line:]])), (line, changed)


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


def answer(code, args):
    try:
        output = code(*args)
    except Exception:
        return torch.empty(0)
    return output if isinstance(output, torch.Tensor) else torch.empty(0, 0)


def test_a_cure_that_mends_one_of_two_lines_is_told_that_it_is_half():
    for half in BUGS["6.16"].half_fixed:
        assert check("6.16", ..., ..., half).misconception == "half-mended"


# ------------------------------------------------------------------------------------------------- the notebook


@each_patient
def test_a_patient_pasted_into_the_notebook_runs_and_can_be_mended(id, names):
    bug = BUGS[id]
    exec(PATIENTS[id].source, names)
    pasted = bug.called(names["attention"])
    outputs = []
    for code in (pasted, bug.called(bug.buggy)):
        torch.manual_seed(0)  # one of them drops, whenever it is called
        outputs.append(
            code(*next(args for args in bug.interface.probes if id != "6.20" or args[0].shape == args[1].shape))
        )
    torch.testing.assert_close(*outputs, equal_nan=True)
    exec(bug.source_with(bug.fixes[0]), names)
    assert part(check(id, ..., ..., names["attention"]), "Mended").startswith("✓")


@each_patient
def test_the_solution_runs_in_the_notebook_and_is_right(id, names):
    exec(str(solution(id)), names)
    number = id.partition(".")[2]
    answer = [names[f"{name}_{number}"] for name in ("line", "fault", "mended", "detects")]
    verdict = check(id, *answer)
    assert verdict.status == "correct", verdict
    assert "<details><summary>" in solution(id)._repr_html_() and "@" not in str(solution(id)).splitlines()[0]
    assert answer[:2] == [BUGS[id].lines[0], BUGS[id].faults[0]]  # of those that are true the plainest stands first


def exercises_in(notebook):
    """(number, the exercise's source, the source of the cell that checks it) of every patient with cells."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, following in itertools.pairwise(code):
        if "exercise" in cell.metadata.get("tags", []):
            yield cell.id.removeprefix("exercise-6-"), cell.source, following.source


def test_every_patient_has_its_cells_and_its_name_stands_in_one_place(notebook):
    assert {f"6.{number}" for number, *_ in exercises_in(notebook)} == set(PATIENTS)
    shown = "\n".join(cell.source for cell in notebook.cells)
    for number, source, check_cell in exercises_in(notebook):
        answer = ", ".join(f"{name}_{number}" for name in ("line", "fault", "mended", "detects"))
        assert check_cell == f'check("6.{number}", {answer})'
        assert len(re.findall(rf"^def detects_{number}\(", shown, re.M)) == 1
        assert f'PATIENTS["6.{number}"]' in shown
        if number != "3":  # the one that is worked in the lesson
            lies_ready = next(n for n in ast.parse(source).body if getattr(n, "name", "") == f"mended_{number}")
            patient = ast.parse(PATIENTS[f"6.{number}"].source.replace("attention(", f"mended_{number}(", 1)).body[0]
            assert ast.unparse(lies_ready) == ast.unparse(patient)
            assert source.startswith(f"line_{number}, fault_{number} = ..., ...")


def test_the_worked_patient_is_right_up_to_the_line_that_is_missing(notebook, names):
    for id in ("patient-first", "examine", "my-line-filled", "mended", "first-try", "exercise-6-3"):
        exec(re.sub(r"^(blank|predict)\(.*$", "", source_of_cell(notebook, id), flags=re.M), names)
    assert "patient 6.4" in part(names["first_try"], "Test") and "2 of 3 right" in str(names["first_try"])
    assert names["first_try"].misconception == "condemns-others"
    stub = check("6.3", names["line_3"], names["fault_3"], names["mended_3"], names["detects_3"])
    assert part(stub, "Test").startswith("…")
    filled = source_of_cell(notebook, "exercise-6-3").replace(
        "return ...", "return not torch.allclose(before, after, atol=1e-4)"
    )
    exec(filled, names)
    answer = [names[f"{name}_3"] for name in ("line", "fault", "mended", "detects")]
    verdict = check("6.3", *answer)
    assert verdict.status == "correct", verdict


def test_the_second_patients_test_needs_the_one_line_that_is_asked_for(notebook, names):
    for id in ("examine", "mask-effect"):
        source = re.sub(r"^predict\(.*$", "", source_of_cell(notebook, id), flags=re.M)
        exec(source.replace("patient.buggy", 'PATIENTS["6.3"].buggy'), names)
    filled = source_of_cell(notebook, "exercise-6-5").replace(
        "return ...  #", "return torch.allclose(with_mask, without)  #"
    )
    exec(filled, names)
    assert part(check("6.5", names["detects_5"]), "Test").startswith("✓")


def test_only_two_patients_ever_raise_and_the_notebook_says_on_what(notebook):
    raising = {}
    for id, bug in BUGS.items():
        for args in bug.interface.probes:
            try:
                bug.called(bug.buggy)(*args)
            except (ValueError, RuntimeError):
                raising.setdefault(id, []).append(args)
    assert set(raising) == {"6.19", "6.20"}
    assert all(q.size(1) != k.size(1) for q, k, *_ in raising["6.20"])
    assert all(x.size(0) != heads and mask.ndim == 3 for x, *_, heads, mask in raising["6.19"])
    said = notebook.cells[0].source
    assert "Only two ever raise an error" in said and "6.20" in said and "6.19" in said


def test_the_matrix_has_every_patient_of_its_interface_and_no_empty_column(notebook):
    (cell,) = (cell for cell in notebook.cells if cell.id == "matrix")
    head, *rows = cell.outputs[0].text.rstrip().splitlines()
    assert head.split() == [id for id in PATIENTS if BUGS[id].interface is interfaces.PLAIN]
    outcomes = [row.split()[1:] for row in rows]
    assert len(outcomes) == 7 and all(len(row) == len(head.split()) for row in outcomes)
    assert all(set(column) - {"·"} for column in zip(*outcomes, strict=True))
    assert set(outcomes[0]) == {"·", "raises"}  # the test of shapes catches nobody


def test_right_code_of_every_style_passes_all_seven_tests(notebook, names):
    for id in (
        "patient-first",
        "examine",
        "mask-effect",
        "tests-shape",
        "tests-numbers",
        "tests-invariants",
        "tests-edges",
    ):
        exec(re.sub(r"^predict\(.*$", "", source_of_cell(notebook, id), flags=re.M), names)
    exec(source_of_cell(notebook, "my-saboteur"), names)
    for right in (*correct.CORES, names["my_saboteur"]):
        assert [test.__name__ for test in names["tests"] if test(right)] == []


DIAGNOSES = {  # by hand from the stories: solutions are read off the patients themselves, and would agree with any name
    "wrong scale": {"6.1", "6.2"},
    "wrong axis": {"6.3", "6.16", "6.19"},
    "not used": {"6.4", "6.5", "6.13", "6.21"},
    "exchanged": {"6.6", "6.20"},
    "too weak": {"6.7", "6.9", "6.10"},
    "wrong order": {"6.8", "6.16", "6.18", "6.20", "6.25"},
    "nothing left": {"6.10", "6.11", "6.12"},
    "misaligned": {"6.14", "6.18", "6.19", "6.22", "6.24", "6.25"},
    "not asked": {"6.15", "6.17", "6.23"},
    "miscounted": {"6.14", "6.22", "6.24", "6.26"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_name_of_a_fault_is_right_for_those_who_have_it(fault):
    bugs = [bug for bug in EXERCISES.values() if isinstance(bug, Bug)]
    assert {bug.id for bug in bugs if fault in bug.faults} == DIAGNOSES[fault]


def test_none_and_dots_are_no_answer_yet_but_false_and_nothing_are():
    assert [is_unanswered(part) for part in (None, ..., False, 0, "", [])] == [True, True] + [False] * 4


def test_a_call_of_a_module_is_known_as_one_in_training_or_in_eval():
    def detects(attention):
        for mode in (True, False):
            attention.train(mode)(*torch.randn(3, 1, 2, 4))
        return False

    evidence = Evidence()
    detects(watched(Passing(), interfaces.MODULE, evidence, []))
    assert [call["training"] for call in evidence.calls] == [True, False]


class Passing(nn.Module):
    def forward(self, q, k, v):
        return v
