"""Where to read again: every exercise and misconception leads to a section that there is, and says it by its title."""

from paths import NOTEBOOKS

from authors.sections import SECTIONS, sections_of
from classroom.grade.report.pages import slide
from workbench.exercises.clinic.bug import Bug
from workbench.exercises.clinic.judge_test import FIRST, LAST
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.sections import TITLES, linked, section_in_words
from workbench.places import COPY_VARIABLE


def test_sections_toml_holds_the_headings_of_the_notebooks():
    assert SECTIONS.read_text(encoding="utf-8") == sections_of(NOTEBOOKS), "`course.py refresh` writes it"


def test_what_to_read_again_is_a_section_that_has_a_slide():
    for id, exercise in EXERCISES.items():
        misconceptions = [*exercise.misconceptions.values(), *FIRST, *LAST]
        for section in {exercise.section, *(one.reread for one in misconceptions)}:
            assert " slide " in slide(section), (id, section)
        in_clinic = isinstance(exercise, Bug)  # which is to be read before notebook 6, or before the patient opens
        assert not in_clinic or int(exercise.section[:2]) <= max(5, exercise.opens_after), id


def test_a_section_is_read_by_its_title():
    first, second = TITLES["01#text-04"], TITLES["01#text-05"]
    assert section_in_words("01#text-04") == f"notebook 1, “{first}”"
    assert section_in_words("01#text-04..text-05") == f"notebook 1, “{first}” to “{second}”"


def test_in_a_copy_a_section_is_a_link_to_its_cell(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(COPY_VARIABLE, "yes")
    (tmp_path / "08_position.ipynb").touch()
    here, elsewhere = section_in_words("08#text-waves"), section_in_words("02#text-02")
    link = '<a href="08_position.ipynb#cell-id=text-waves">'
    assert linked(f"Read again: {here}.") == f"Read again: {link}{here}</a>."
    assert linked(elsewhere) == elsewhere
