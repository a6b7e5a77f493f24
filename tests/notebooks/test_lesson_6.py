"""What notebook 6 gives a learner to begin with: every patient's cells, and two answers that lack one line."""

import ast
import itertools
import re

import nbformat
import pytest
import torch
from paths import NOTEBOOKS

from workbench.exercises import check
from workbench.exercises.clinic import PATIENTS, correct, interfaces

BUGS = {id: patient._bug for id, patient in PATIENTS.items() if not patient._bug.is_healthy}
PARTS = "line", "fault", "mended", "detects"
pytestmark = pytest.mark.usefixtures("own_folder")


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
        exec(re.sub(r"^(blank|predict)\(.*$", "", cell_of(notebook, id).source, flags=re.M), names)
    return names


def cell_of(notebook, id):
    (cell,) = (cell for cell in notebook.cells if cell.id == id)
    return cell


def checked(names, number):
    return check(f"6.{number}", *(names[f"{part}_{number}"] for part in PARTS))


def test_every_patient_has_its_cells_with_its_code_ready(notebook):
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    exercises = [pair for pair in itertools.pairwise(code) if "exercise" in pair[0].metadata.get("tags", [])]
    assert {cell.metadata["exercise"] for cell, _ in exercises} == set(PATIENTS)
    shown = "\n".join(cell.source for cell in notebook.cells)
    for cell, following in exercises:
        id, source = cell.metadata["exercise"], cell.source
        number = id.removeprefix("6.")
        assert following.source == f'check("{id}", {", ".join(f"{part}_{number}" for part in PARTS)})'
        assert len(re.findall(rf"^def detects_{number}\(", shown, re.M)) == 1
        assert f'PATIENTS["{id}"]' in shown
        if number == "3":  # the one that is worked in the lesson
            continue
        assert source.startswith(f"line_{number}, fault_{number} = ..., ...")
        if "with_line(..., " in source:  # too long to be copied
            assert PATIENTS[id].with_line(..., "…") is ...
        else:
            stub = next(n for n in ast.parse(source).body if getattr(n, "name", "") == f"mended_{number}")
            patient = ast.parse(PATIENTS[id].source.replace("attention(", f"mended_{number}(", 1)).body[0]
            assert ast.unparse(stub) == ast.unparse(patient)


def test_an_unattempted_answer_is_told_what_is_wanted(own_folder, notebook, names):
    for number in (1, 15, 16):
        run_cells(notebook, names, f"exercise-6-{number}")
        verdict = checked(names, number)
        assert (verdict.status, verdict.misconception) == ("unattempted", None), verdict
        assert "`FAULTS`" in verdict.message and "`detects(attention)`" in verdict.message
    assert check("6.1", ()).status == "unattempted"
    assert list(own_folder.iterdir()) == [], "nothing is kept"


def test_every_patient_runs_when_it_is_pasted_into_a_cell(names):
    for id, patient in PATIENTS.items():
        exec(patient.source, names)
        pasted, buggy = (
            came_to(patient._bug.called(code), patient._bug.interface.probes[0])
            for code in (names["attention"], patient._bug.buggy)
        )
        torch.testing.assert_close(pasted, buggy, equal_nan=True, msg=id)


def came_to(code, args):
    torch.manual_seed(0)  # some drop
    try:
        return code(*args)
    except (ValueError, RuntimeError):
        return torch.empty(0)


def test_the_worked_patient_is_right_but_for_the_missing_line(notebook, names):
    run_cells(notebook, names, "patient-first", "examine", "my-line-filled", "mask-earlier", "my-mended", "mended")
    run_cells(notebook, names, "first-try", "exercise-6-3")
    assert names["first_try"].misconception == "condemns-others"
    assert "patient 6.4" in str(names["first_try"]) and "2 of 3 right" in str(names["first_try"])
    assert "… Test" in str(checked(names, 3))
    line = "return not torch.allclose(before, after, atol=1e-4)"
    exec(cell_of(notebook, "exercise-6-3").source.replace("return ...", line), names)
    assert checked(names, 3).status == "correct"


def test_the_second_patients_test_needs_one_line(notebook, names):
    run_cells(notebook, names, "patient-first", "examine", "mask-effect")
    line = "return torch.allclose(with_mask, without)  #"
    exec(cell_of(notebook, "exercise-6-5").source.replace("return ...  #", line), names)
    assert "✓ Test" in str(check("6.5", names["detects_5"]))


def test_the_notebook_names_the_patients_that_raise(notebook):
    calls = [(id, bug, args) for id, bug in BUGS.items() for args in bug.interface.probes]
    raising = {id for id, bug, args in calls if came_to(bug.called(bug.buggy), args).numel() == 0}
    (told,) = (words for cell in notebook.cells for words in re.findall(r"The exceptions are .*", cell.source))
    assert raising and raising <= set(re.findall(r"6\.\d+", told)), "a short table, which some need, is no probe"


def test_the_matrix_has_every_patient_of_its_signature(notebook):
    head, *rows = cell_of(notebook, "matrix").outputs[0].data["text/plain"].splitlines()
    assert head.split() == [id for id, bug in BUGS.items() if bug.interface is interfaces.PLAIN], "refresh notebook 6"
    outcomes = [row.split()[1:] for row in rows]
    assert all(set(column) - {"·"} for column in zip(*outcomes, strict=True)), "each is caught by some test"
    assert set(outcomes[0]) == {"·", "raises"}  # the test of shapes catches nobody


def test_correct_code_passes_all_tests_of_the_matrix(notebook, names):
    tests = ("tests-shape", "tests-numbers", "tests-invariants", "tests-edges")
    run_cells(notebook, names, "patient-first", "examine", "mask-effect", *tests, "my-saboteur")
    for right in (*correct.CORES, names["my_saboteur"]):
        assert [test.__name__ for test in names["tests"] if test(right)] == []
