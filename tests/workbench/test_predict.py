"""predict and blank: what counts as the same answer, what a wrong one is told, and what a learner's copy keeps back."""

import contextlib
import fractions
import json
import math
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from workbench import places
from workbench import predict as module
from workbench.predict import NotYet, blank, predict
from workbench.questions import Question

NUMBERS = torch.tensor([1.0, 5.0, 2.0])
SLIPS = {name: {"label": name, "says": f"You *did* {name}."} for name in ("column", "row", "deviation", "one_product")}


def made_up(form, **record):
    return Question(f"made up {form} {record}", {"form": form, "slips": SLIPS, **record})


ONE, MANY, MATRIX, SHAPE = (made_up(form) for form in ("number", "numbers", "matrix", "shape"))
WHOLE, TOKENS = made_up("number", whole=True), made_up("set", range=[0, 2])
YES, SCHEMES = (made_up(form, options={"yes": {}, "no": {"says": "It looks so."}}) for form in ("word", "words"))
LINE = made_up("tensor")


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The kernel works in a learner's copy."""
    (tmp_path / places.BASELINE_FILE).write_text("{}")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def no_tries_yet(monkeypatch):
    module._first_wrong.clear()
    module._known.clear()


def texts(shown):
    return repr(shown), shown._repr_html_()


# ----------------------------------------------------------------------------------------- the tested edition


@pytest.mark.parametrize("guess", [..., None, [...], [1, ...], [[..., 2]]])
def test_without_a_guess_the_answer_is_folded_away(guess):
    shown = predict(MANY, guess, torch.tensor([1.5, 2.0]))
    assert shown.status == "none"
    html = shown._repr_html_()
    assert "[1.5, 2]" in html[html.index("<details>") : html.index("</details>")]
    assert html.count("[1.5, 2]") == 1


def test_the_answer_to_a_wrong_guess_is_folded_too():
    html = predict(ONE, 3, 12)._repr_html_()
    assert html.count("12") == 1 and html.index("<details>") < html.index("12") < html.index("</details>")


# ------------------------------------------------------------------------------------------ the same answer


@pytest.mark.parametrize(
    "question, guess, truth",
    [
        (ONE, [2], 2),
        (ONE, {2}, 2),
        (ONE, fractions.Fraction(1, 2), 0.5),
        (ONE, float("nan"), "nan"),
        (MANY, np.array([1, 0, 2]), torch.tensor([1.0, 0.0, 2.0])),
        (MANY, ["6 %", "0,47", 0.47], torch.tensor([0.0634, 0.4683, 0.4683])),
        (MANY, torch.tensor([1, 0]), torch.tensor([1.0, 0.0], requires_grad=True)),
        (MANY, torch.ones(1, 2), torch.ones(2)),
        (MATRIX, [[0, "1"], (10, 11), [20, 21]], torch.tensor([[0, 1], [10, 11], [20, 21]])),
        (SHAPE, (2, 3, 4), torch.Size([2, 3, 4])),
        (TOKENS, [2, 0], torch.tensor([0, 2])),
        (TOKENS, {0, 2}, [0, 2]),
        (TOKENS, range(3), "all"),
        (TOKENS, [], "none"),
        (YES, True, "yes"),
        (YES, torch.tensor(False), "no"),
        (SCHEMES, [True, "no"], ["yes", "no"]),
    ],
)
def test_a_right_guess_in_any_way_of_writing(question, guess, truth):
    shown = predict(question, guess, truth)
    assert shown.status == "right" and "✓" in shown._repr_html_() and "Right" in repr(shown)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=6), st.sampled_from([list, tuple, torch.tensor, np.array]))
def test_what_is_the_truth_is_right(numbers, make):
    assert predict(MANY, make(numbers), torch.tensor(numbers, dtype=torch.float64)).status == "right"


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_a_number_is_right_as_far_as_within_says(guess, truth):
    near = abs(guess - truth) <= 0.5 + 1e-9 * abs(truth)
    assert (predict(made_up("number", within=0.5), guess, truth).status == "right") == near


def test_within_says_how_many_digits_are_shown():
    tenths, twenty = made_up("number", within=0.1), made_up("number", within=20)
    assert predict(tenths, 0.7, torch.tensor(0.7634)).status == "right"
    assert predict(tenths, 1.0, 1.1).status == "right"  # though 1.1 − 1.0 is a bit more than 0.1 in float64
    assert predict(ONE, 0.7, torch.tensor(0.7634)).status == "wrong"
    assert "0.8" in repr(predict(tenths, ..., torch.tensor(0.7634)))
    assert "251" in repr(predict(twenty, ..., torch.tensor(250.9381)))


# ------------------------------------------------------------------------------------------- a wrong answer


def test_a_known_slip_is_told_in_words():
    shown = predict(MANY, [1, 2, 3], NUMBERS, row=[9, 9, 9], column=[1, 2, 3])
    assert shown.status == "wrong" and shown.slip == "column"
    assert "You did column." in repr(shown) and "✗ You <em>did</em> column." in shown._repr_html_()


def test_a_slip_that_is_the_truth_is_none():
    assert predict(MANY, [1, 5, 2], NUMBERS, column=NUMBERS + 0.001).status == "right"
    assert predict(ONE, 12.015, 12.0, column=12.008).slip is None


@pytest.mark.parametrize("guess, slip", [(16, "deviation"), (1, "one_product"), (12, "deviation"), (5, "one_product")])
def test_of_two_slips_within_the_tolerance_the_nearer_is_told(guess, slip):
    assert predict(made_up("number", within=20), guess, 251.0, one_product=1, deviation=15.8).slip == slip


@pytest.mark.parametrize(
    "question, guess, truth, words",
    [
        (ONE, 10, torch.tensor(12.0), "too small"),
        (ONE, 13, torch.tensor(12.0), "too large"),
        (made_up("number", within=0.15), 2, 0.1, "too large"),  # per cent of what is nearly nothing
        (ONE, -12, torch.tensor(12.0), "sign"),
        (MANY, [1, 2, 2], NUMBERS, "1 of 3 numbers is not right"),
        (MANY, [1, 2, 3], NUMBERS, "2 of 3 numbers are not right"),
        (MANY, [7, 2, 3], NUMBERS, "None of the numbers"),
        (MANY, [7, 2], NUMBERS[:2], "Neither of the two numbers"),
        (MANY, [5, 1, 2], NUMBERS, "another order"),
        (SHAPE, (1, 2), (1, 2, 3), "2 numbers, the answer 3 numbers"),
        (TOKENS, [1], [0, 2], "1 of yours does not belong there, and 2 of the right ones are missing"),
        (TOKENS, "all", [0, 2], "1 of yours does not belong there."),
        (ONE, 3, math.nan, "not a number"),
        (ONE, math.nan, 3, "A number does"),
        (YES, "no", "yes", "It looks so."),
        (YES, "yes", "no", "why"),
        (SCHEMES, "yes, yes", ["yes", "no"], "1 of 2 is not right"),
    ],
)
def test_another_wrong_guess_says_in_what_it_differs(question, guess, truth, words):
    shown = predict(question, guess, truth)
    assert shown.status == "wrong" and all(words in text for text in texts(shown))


UNREAD = [
    (ONE, "many", 3, "one number"),
    (ONE, True, 3, "one number"),
    (ONE, [1, 2], 3, "It has 2 numbers."),
    (ONE, 47, 0.4683, 'Right if you mean per cent, but then write it as "47 %"'),
    (MANY, [6, 47, 47], [0.0634, 0.4683, 0.4683], '"6 %, 47 %, 47 %"'),
    (MANY, "two", NUMBERS, "It was read as one number, 2. Write it as 3 numbers, [a, b, c]."),
    (MANY, [1, 2], NUMBERS, "It has 2 numbers. Write it as 3 numbers, [a, b, c]."),
    (MANY, {1, 5, 2}, NUMBERS, "3 numbers"),
    (MATRIX, [1, 2], torch.ones(2, 2), "rows of numbers"),
    (MATRIX, [[1], [1, 2]], torch.ones(2, 2), "rows of numbers"),
    (WHOLE, "several", 3, "That could not be read. Write it as one whole number."),
    (WHOLE, 2.5, 3, "2.5. The answer: 3. A whole number is asked for."),
    (WHOLE, "2.5", 3, "2.5. The answer: 3. A whole number is asked for."),
    (TOKENS, [3], [0, 2], "[3]. The answer: [0, 2]. Whole numbers from 0 to 2 are asked for."),
    (YES, "√d_k", "yes", "Answer yes or no."),
    (YES, 2, "yes", "Answer yes or no."),
    (SCHEMES, ["yes", "maybe"], ["yes", "no"], "2 words, [a, b], each of them yes or no"),
    *((ONE, guess, 3, "one number") for guess in (object(), {}, print, 1j, [object()], "1 or 2")),
]


@pytest.mark.parametrize("question, guess, truth, told", UNREAD)
def test_what_cannot_be_read_costs_no_try_and_says_how_to_write_it(question, guess, truth, told):
    for _ in range(3):
        shown = predict(question, guess, truth)
        assert shown.status == "unreadable" and told in repr(shown) and not shown.is_revealed
    assert not module._first_wrong


class Spiteful:
    def __str__(self):
        raise RuntimeError("no")

    __float__ = __str__
    __hash__ = object.__hash__


LOOP = []
LOOP.append(LOOP)
STRANGE = st.one_of(
    st.none(),
    st.text(),
    st.binary(),
    st.complex_numbers(),
    st.integers(),
    st.floats(),
    st.dictionaries(st.text(), st.text()),
    st.sampled_from([LOOP, Spiteful(), [Spiteful()], 10**400, [10**400], type, torch.nn.Linear, range(10**9)]),
    st.sampled_from([torch.ones(2).to_sparse(), torch.ones(2, device="meta"), torch.ones(0), torch.ones(2) * 1j]),
)


@given(
    st.recursive(STRANGE, lambda inner: st.lists(inner, max_size=4)),
    st.sampled_from(
        [(ONE, 3.0), (MANY, NUMBERS), (MATRIX, torch.ones(2, 2)), (YES, "yes"), (TOKENS, [0]), (LINE, NUMBERS)]
    ),
)
def test_no_guess_raises(guess, asked):
    texts(predict(asked[0], guess, asked[1]))


def test_what_is_shown_is_text_and_never_markup():
    html = predict(YES, "<script> & <b>", "yes")._repr_html_()
    assert "&lt;script&gt; &amp; &lt;b&gt;" in html and "<script" not in html


@pytest.mark.parametrize("guess", ["because " * 90, list(range(900))])
def test_of_a_long_guess_the_beginning_is_shown(guess):
    shown = repr(predict(YES, guess, "yes"))
    assert len(shown) < 250 and "…" in shown


# -------------------------------------------------------------------------------------- in the learner's copy


@pytest.mark.parametrize("guess", [..., None, [1, ...]])
def test_in_a_copy_nothing_is_revealed_without_a_guess(copy, guess, capsys):
    with pytest.raises(NotYet) as stop:
        predict(ONE, guess, 1234, column=5678)
    (line,) = stop.value._render_traceback_()
    assert "\n" not in line and 'guess = "show"' in line and "..." in line
    assert not any(number in said for number in ("1234", "5678") for said in (line, capsys.readouterr().out))


def test_a_copy_asks_wherever_it_was_moved_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    course, copy = tmp_path / "03_masking.ipynb", tmp_path / "week 1.ipynb"
    course.write_text(json.dumps({"metadata": {}, "cells": []}))
    copy.write_text(json.dumps({"metadata": {"course": {"version": "1"}}, "cells": []}))
    for told, asks in ((course, False), (copy, True), (tmp_path / "renamed meanwhile.ipynb", True)):
        monkeypatch.setenv("JPY_SESSION_NAME", str(told))
        with pytest.raises(NotYet) if asks else contextlib.nullcontext():
            predict(ONE, ..., 1234)


def form_of(question, truth, **slips):
    """The form that the cell shows, in a kernel that has seen no guess yet."""
    module._first_wrong.clear()
    module._known.clear()
    shown = []
    with mock.patch.object(module, "display", shown.append):
        try:
            return predict(question, ..., truth, **slips)
        except NotYet:
            return shown[0]


def enter(form, text):
    form._hear(form, {"guess": text}, [])
    return form.prediction.status


def test_a_form_tells_a_page_nothing_before_its_answer(copy):
    form = form_of(ONE, 1234, column=5678)
    for text, told in (("what?", False), ("5678", False), ("7", True)):
        enter(form, text)
        assert ("1234" in str(form.get_state())) == told == (not form.is_open)


def test_a_form_has_another_try_and_says_what_was_wrong(copy):
    form = form_of(ONE, 1234, column=5678)
    assert enter(form, "5678") == "wrong" and "You <em>did</em> column. Try again." in form.verdict
    assert enter(form, "1234.0") == "right" and "Right" in form.verdict and form.entered == "1234.0"


def test_after_a_right_guess_another_one_is_judged_and_the_answer_stays(copy):
    enter(form_of(ONE, 1234, column=5678), "1234")
    for form in (form_of(ONE, 1234, column=5678), form_of(ONE, 1234, column=5678)):  # the second finds both
        for text, told in (("5678", "You <em>did</em> column."), ("what?", "could not be read")):
            enter(form, text)
            assert told in form.verdict and "1234" in form.verdict and "Try again" not in form.verdict
            assert not form.is_open


def test_what_was_entered_stands_there_in_the_next_kernel(copy):
    for text in ("7", "what?", "5678"):
        enter(form_of(ONE, 1234, column=5678), text)
    again = form_of(ONE, 1234, column=5678)
    assert again.entered == "5678" and "column" in again.verdict and not again.is_open
    assert form_of(WHOLE, 12).prediction is None  # another question has its own
    enter(form_of(YES, "yes"), "show")
    assert form_of(YES, "yes").prediction.status == "shown"


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"01.x": 7}', '{"%s": 7}', '{"%s": [7, null, {"verdict": 7}]}'])
def test_damaged_guesses_cost_nothing_but_themselves(copy, content):
    Path(places.GUESSES_FILE).write_text(content.replace("%s", ONE.id))
    assert enter(form_of(ONE, 1234), "1234") == "right" and form_of(ONE, 1234).entered == "1234"


def test_a_guess_in_the_cell_counts_before_the_forms(copy):
    enter(form_of(ONE, 1234), "7")
    assert predict(ONE, 1234, 1234).status == "right"


def test_in_a_copy_the_truth_comes_after_the_second_wrong_guess(copy):
    once, again, twice, back, right = [predict(ONE, guess, 1234) for guess in (1, "1", 2, 1, 1234)]
    for shown in (once, again):
        assert not any("1234" in text for text in texts(shown))
        assert all("another try" in text for text in texts(shown))
    for shown in (twice, back):  # what was shown stays
        assert all("1234" in text and "another try" not in text for text in texts(shown))
    assert right.status == "right"


def test_in_a_copy_each_question_has_tries_of_its_own(copy):
    for question, guess in ((ONE, 1), (WHOLE, 2)):
        assert not predict(question, guess, 1234).is_revealed
    assert predict(ONE, 3, 1234).is_revealed


def test_giving_up_shows_the_truth(copy):
    for guess in ("show", " Show "):
        assert all("1234" in text for text in texts(predict(ONE, guess, 1234)))


# ------------------------------------------------------------------------------------------------------ blank


def test_a_blank_is_compared_to_the_precision_of_float32():
    truth = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert blank(LINE, truth + 5e-5, truth).status == "right"
    assert blank(LINE, truth + 5e-3, truth).status == "wrong"
    assert repr(blank(LINE, truth + 1, truth)).startswith("Yours: [[2, 3]")
    shown = blank(LINE, truth.T, truth, row=truth.T)
    assert shown.slip == "row" and "[[1, 2], [3, 4]]" not in repr(shown).replace("answer: [[1, 2]", "")


@pytest.mark.parametrize(
    "mine, truth, told",
    [
        (torch.ones(3, 4), torch.ones(1, 3, 4), "Its shape is (3, 4), and should be (1, 3, 4)."),
        (torch.ones(1, 3, 4), torch.ones(3, 4), "The right numbers"),
        (torch.zeros(1), torch.ones(3, 6, dtype=torch.bool), "Its shape is (1,), and should be (3, 6)."),
        (torch.eye(3), torch.eye(3).bool(), "True and False are asked for"),
        (torch.eye(3).bool(), ~torch.eye(3).bool(), "9 of 9 are not right"),
        ([[1.0], [1.0, 2.0]], torch.ones(2, 2), "different lengths"),
        ((torch.ones(2, 3), torch.ones(2, 2)), torch.zeros(2, 3), "It is 2 tensors; one is asked for."),
        ((torch.ones(2, 3), (torch.ones(2, 2), 5)), torch.zeros(2, 3), "It is a pair, Tensor and tuple; one tensor"),
        ([torch.ones(3), torch.ones(3)], torch.zeros(2, 3), "None of the numbers"),
    ],
)
def test_shape_and_kind_of_a_blank_are_part_of_the_answer(mine, truth, told):
    shown = blank(LINE, mine, truth)
    assert shown.status == "wrong" and told in repr(shown)


def test_a_blank_that_is_empty_says_so_and_stops_in_a_copy(monkeypatch):
    assert "Nothing written yet" in repr(blank(LINE, ..., torch.ones(2)))
    monkeypatch.setenv(places.COPY_VARIABLE, "1")
    with pytest.raises(NotYet, match="write it above"):
        blank(LINE, None, torch.ones(2))
    assert blank(LINE, "show", torch.ones(2)).status == "shown"


@pytest.fixture
def shell():
    yield InteractiveShell.instance(config=Config(HistoryManager={"hist_file": ":memory:"}))
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    "line, status",
    [
        ("my_scores = queries @ keys.T", "right"),
        ("my_scores = torch.matmul(queries, keys.T)", "right"),
        ("my_scores = keys @ queries.T", "wrong"),
        ("half = queries / 2\nmy_scores = 2 * half @ keys.T", "right"),
        ("my_scores = (X @ W_q) @ (X @ W_k).T", "right"),
    ],
)
def test_a_line_that_is_right_by_chance_is_told_so(shell, line, status):
    shell.run_cell("import torch\nfrom attn_lib.examples import W_k, W_q, X\nqueries, keys = X @ W_q, X @ W_k", True)
    shell.run_cell(line, store_history=True)
    scores = shell.user_ns["queries"] @ shell.user_ns["keys"].T
    shown = blank("01.my-scores", shell.user_ns["my_scores"], scores)
    assert shown.status == status and ("by chance" in repr(shown)) is (status == "wrong")


def test_other_numbers_reach_cells_of_the_learners_own(shell, copy):
    """What stands there of the course's does not help: it may be the answer."""
    course = "import torch\nfrom attn_lib.examples import W_k, W_q, X\nqueries, keys = X @ W_q, X @ W_k"
    answer = "scores = queries @ keys.T"
    book = {"versions": {"1": [{"source": course}, {"source": answer}]}}
    Path(places.BASELINE_FILE).write_text(json.dumps({"01_by_hand.ipynb": book}))
    for cell in (course, answer, "turned = keys.T", "half = queries / 2\nwhole = 2 * half"):
        shell.run_cell(cell, store_history=True)
    for line, status in (
        ("my_scores = whole @ turned", "right"),
        ("my_scores = 0 * queries @ keys.T + scores", "wrong"),
    ):
        shell.run_cell(line, store_history=True)
        assert blank("01.my-scores", shell.user_ns["my_scores"], shell.user_ns["scores"]).status == status
