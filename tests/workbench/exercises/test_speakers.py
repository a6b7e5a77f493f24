"""Patients that speak: the judge tells parts and lines apart, and the model still says what their transcripts say."""

import pytest

from workbench.exercises import check
from workbench.exercises.engine import speaker
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.lessons.n13_patients import HEARD, PROMPTS, SPEAKERS
from workbench.smollm import NoModel, smollm

pytestmark = pytest.mark.usefixtures("own_folder")
ILL = [id for id in SPEAKERS if not EXERCISES[id].is_healthy]


@pytest.mark.parametrize("id", SPEAKERS)
def test_the_courses_own_answer_is_right_and_others_are_not(id):
    answer = EXERCISES[id].answer
    assert check(id, *answer).status == "correct"
    for part in set(HEARD) - {answer[0]}:
        assert check(id, part, *answer[1:]).status == "wrong"


@pytest.mark.parametrize("id", ILL)
def test_any_line_that_mends_a_patient_is_accepted_and_no_other(id):
    part, number, text = EXERCISES[id].answer
    lines = SPEAKERS[id].source.splitlines()
    before, own = lines[number - 2].strip(), lines[number - 1].strip()
    assert check(id, part, number, own).right_parts == "2 of 3"  # as it came in: the text is still open
    elsewhere = check(id, part, number - 1, before)
    assert elsewhere.right_parts == "1 of 3" and elsewhere.misconception == "wrong-line"
    after = check(id, part, number, "        " + text + "  # mended")
    assert after.status == "correct"
    assert check(id, part, number, "query = (").misconception == "no-python"
    assert check(id, part, number, own + " + 0").status == "wrong"
    assert check(id, part, ..., ...).right_parts == "1 of 3"


def test_a_mend_in_another_line_than_the_courses_counts():
    turned = "rotary({0}, seen + (cache is not None), base=base)"
    text = f"query, key = {turned.format('query')}, {turned.format('key')}"
    assert check("13.9", "nowhere", 8, text).status == "correct"


@pytest.mark.parametrize(("id", "sees"), [("13.5", 0), ("13.6", 1), ("13.7", None), ("13.8", 0), ("13.9", 1)])
def test_the_two_tests_see_what_they_are_there_for(id, sees):
    against_another, one_by_one = SPEAKERS[id].tests()
    assert (max(against_another, one_by_one) > 0.1) == (sees is not None)
    assert sees is None or (against_another, one_by_one)[sees] > 0.1


@pytest.mark.parametrize(
    "answer", [..., None, ("cache",), (3,), ("pass", "four"), ("pass", 99, 7), ("pass", 3, 7), ([], {}, ())]
)
def test_check_survives_odd_answers(answer):
    assert check("13.5", *(answer if isinstance(answer, tuple) else (answer,))).status in ("wrong", "unattempted")


@pytest.mark.parametrize("id", SPEAKERS)
def test_the_model_says_what_the_transcript_says(id):
    try:
        model = smollm()
    except NoModel as error:
        pytest.skip(f"needs the model: {error}")
    for shown, said in SPEAKERS[id].says.items():
        assert speaker.speak(model, SPEAKERS[id].block, PROMPTS[shown]) == said
