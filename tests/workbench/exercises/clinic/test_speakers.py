"""Patients that speak: the judge tells parts and lines apart, and the model still says what their transcripts say."""

import nbformat
import pytest
import torch
from paths import LESSONS

from workbench.exercises import check
from workbench.exercises.clinic import speaker
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
def test_each_part_of_an_answer_counts_by_itself(id):
    part, number, mended = EXERCISES[id].answer
    assert check(id, part, ..., ...).right_parts == "1 of 3"
    as_it_came_in = check(id, part, number, SPEAKERS[id].buggy)
    assert as_it_came_in.right_parts == "2 of 3" and as_it_came_in.misconception is None
    elsewhere = check(id, part, number - 2, mended)
    assert elsewhere.right_parts == "2 of 3" and elsewhere.misconception == "wrong-line"
    assert check(id, part, number, lambda *args: (args[0], None)).status == "wrong"
    for line in EXERCISES[id].also:
        assert check(id, part, line, mended).status == "correct"


def test_a_block_in_a_style_of_ones_own_mends():
    def mended(x, w, cache, heads, kv_heads, base):
        old = x[:, :0] if cache is None else cache  # the rows themselves are kept, and all is read again
        everything = torch.cat([old, x], dim=1)
        rows, _ = EXERCISES["13.6"].reference(everything, w, None, heads, kv_heads, base)
        return rows[:, old.size(1) :], everything

    assert check("13.6", "cache", 15, mended).status == "correct"


@pytest.mark.parametrize(
    ("id", "part", "line", "status"),
    [
        ("13.5", "in the pass over the prompt", "x = x + output.reshape(x.shape) @ W_o.T  # line 18", "correct"),
        ("13.5", "Pass", "the heads are merged without a transpose", "correct"),
        ("13.5", "pass", "merge_heads(output) @ W_o.T", "correct"),
        ("13.6", "the KV cache", "line 15: the mask", "correct"),
        ("13.6", "cache", "causal_mask(query.size(2), key.size(2))", "correct"),
        ("13.8", "the numbers", "the scale", "correct"),
        ("13.8", "numbers", "scores = query @ all_keys.mT / query.size(-1)", "correct"),
        ("13.8", "numbers", "masked_softmax(scores, mask)", "wrong"),
        ("13.8", "numbers", "the cache", "wrong"),
        ("13.8", "not the numbers", 14, "wrong"),
    ],
)
def test_a_part_and_a_line_may_be_said_in_words_or_as_code(id, part, line, status):
    assert check(id, part, line, EXERCISES[id].answer[2]).status == status


def test_healthy_may_be_said_in_a_sentence():
    assert check("13.7", "it is healthy", ..., ...).status == "correct"
    assert check("13.7", "it is not healthy", ..., ...).status == "wrong"


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


@pytest.fixture(scope="module")
def model():
    try:
        return smollm()
    except NoModel as error:
        pytest.skip(f"needs the model: {error}")


@pytest.mark.parametrize("id", SPEAKERS)
def test_a_transcript_begins_as_the_model_does(model, id):
    for shown, text in SPEAKERS[id].says.items():
        begun = speaker.speak(
            model, SPEAKERS[id].buggy, PROMPTS[shown], pieces=2
        )  # after the prompt one word, read alone
        assert begun and text.startswith(begun)


@pytest.mark.parametrize("id", SPEAKERS)
def test_a_patients_code_runs_with_the_names_that_the_lesson_imports(id):
    cells = nbformat.read(LESSONS[12], as_version=4).cells
    names = {}
    exec(next(cell.source for cell in cells if cell.id == "imports"), names)
    exec(EXERCISES[id].solution(), names)
    assert (
        check(id, *(names[f"{part}_{id.partition('.')[2]}"] for part in ("part", "line", "mended"))).status == "correct"
    )
