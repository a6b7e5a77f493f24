"""What a learner sees of a patient: its source, and nothing that gives the diagnosis away."""

import inspect

import pytest
from bs4 import BeautifulSoup
from known_bugs import BUGS, bugs_of_each_kind, each_bug
from torch import nn

from workbench.exercises import api, check, hint
from workbench.exercises.clinic import FAULTS, PATIENTS
from workbench.exercises.engine.sections import section_in_words
from workbench.trace import trace


def everything_shown(id):
    """All that a learner gets to see of a patient before it is diagnosed, and what Python tells of it."""
    patient, (line, fault, mended, detects) = PATIENTS[id], BUGS[id].answer
    buggy = patient.buggy
    function = type(buggy).forward if isinstance(buggy, nn.Module) else buggy
    run = trace(buggy, *BUGS[id].interface.probes[0])
    api._hints_shown.pop(id, None)
    shown = [run, patient, *(hint(id) for _ in range(3))]  # a fourth call gives it away
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


def test_each_name_of_a_fault_fits_several_bugs():
    for name, meaning in FAULTS.items():
        assert sum(name in bug.faults for bug in BUGS.values()) >= 2, name
        assert meaning in str(FAULTS) and name in str(FAULTS)
    rows = [(row.th.text, row.td.text) for row in BeautifulSoup(FAULTS._repr_html_(), "html.parser")("tr")]
    assert rows == list(FAULTS.items())


@bugs_of_each_kind
def test_a_patient_shows_its_source_and_how_it_is_called(id):
    patient = PATIENTS[id]
    shown, page = str(patient), BeautifulSoup(patient._repr_html_(), "html.parser")
    numbered = [f"{number:>2}  {line}" for number, line in enumerate(patient.source.splitlines(), start=1)]
    assert shown == "\n".join([f"Patient {id}: {patient.interface}", "", *numbered])
    assert page.pre.text.splitlines() == numbered and page.code.text == BUGS[id].interface.call
    with pytest.raises(AttributeError):
        _ = patient.detects


@bugs_of_each_kind
def test_a_trace_shows_the_lines_of_this_patient_alone(id):
    assert all(bug.buggy and bug.fixed for bug in BUGS.values())  # all are compiled, and this one's fix too
    steps = trace(PATIENTS[id].buggy, *BUGS[id].interface.probes[0]).steps
    assert {step.place.text for step in steps} <= {line.strip() for line in PATIENTS[id].source.splitlines()}
