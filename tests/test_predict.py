"""predict and blank: what counts as the same answer, what a wrong one is told, and what a learner's copy keeps back."""

import fractions
import math
import sys
import types

import IPython  # noqa: F401 - as where a notebook runs
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_lib import predict as module
from attn_lib.colours import FRAMES
from attn_lib.predict import SLIPS, NotYet, blank, predict

NUMBERS = torch.tensor([1.0, 5.0, 2.0])


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The kernel works in a learner's copy."""
    (tmp_path / module.MARKER).write_text("{}")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def no_tries_yet(monkeypatch):
    module._first_wrong.clear()


def texts(shown):
    return repr(shown), shown._repr_html_()


# ----------------------------------------------------------------------------------------- the tested edition


@pytest.mark.parametrize("guess", [..., None, [...], [1, ...], [[..., 2]]])
def test_without_a_guess_the_answer_is_folded_away(guess):
    shown = predict(guess, torch.tensor([1.5, 2.0]))
    assert shown.status == "none"
    html = shown._repr_html_()
    assert "[1.5, 2]" in html[html.index("<details>") : html.index("</details>")]
    assert html.count("[1.5, 2]") == 1


def test_the_answer_to_a_wrong_guess_is_folded_too():
    html = predict(3, 12)._repr_html_()
    assert html.count("12") == 1 and html.index("<details>") < html.index("12") < html.index("</details>")


# ------------------------------------------------------------------------------------------ the same answer


@pytest.mark.parametrize(
    "guess, truth",
    [
        (2, 2),
        ([2], 2),
        (0.47, torch.tensor(0.4683)),
        ("0.47", torch.tensor(0.4683)),
        ("47 %", torch.tensor(0.4683)),
        ("47%", torch.tensor(0.4683)),
        ("0,47", torch.tensor(0.4683)),
        (fractions.Fraction(1, 2), 0.5),
        ("1/2", 0.5),
        (np.float32(0.5), 0.5),
        ("−∞", -math.inf),
        ([1, 0, 2], torch.tensor([1.0, 0.0, 2.0])),
        ("1, 0, 2", torch.tensor([1.0, 0.0, 2.0])),
        ("[1 0 2]", torch.tensor([1.0, 0.0, 2.0])),
        (np.array([1, 0, 2]), torch.tensor([1.0, 0.0, 2.0])),
        (range(3), torch.arange(3)),
        (torch.tensor([1, 0]), torch.tensor([1.0, 0.0], requires_grad=True)),
        ((2, 3, 4), torch.Size([2, 3, 4])),
        ([2, 3, 4], (2, 3, 4)),
        ("2 x 3 x 4", torch.Size([2, 3, 4])),
        ("2×3×4", torch.Size([2, 3, 4])),
        ("torch.Size([2, 3, 4])", torch.Size([2, 3, 4])),
        (" Yes ", "yes"),
        ("y", "yes"),
        (True, "yes"),
        (False, "no"),
        ("true", True),
        ("no", False),
        ("false", False),
        ("½", 0.5),
        (torch.tensor(True), True),
        ("column", "columns"),
        ("the Columns.", "column"),
        ("1 heads", "1 head"),
        ("a row of an output", "rows of output"),
        (float("nan"), "nan"),
        ("NaN", torch.tensor(math.nan)),
        (["yes", "no"], ["yes", "no"]),
        ("yes, no", ["yes", "no"]),
    ],
)
def test_a_right_guess_in_any_way_of_writing(guess, truth):
    shown = predict(guess, truth)
    assert shown.status == "right" and "✓" in shown._repr_html_() and "Right" in repr(shown)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=6), st.sampled_from([list, tuple, torch.tensor, np.array]))
def test_what_is_the_truth_is_right(numbers, make):
    assert predict(make(numbers), torch.tensor(numbers, dtype=torch.float64)).status == "right"


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.sampled_from([", ", " ", "x", " × ", ";"]))
def test_numbers_in_words_are_numbers(numbers, between):
    assert predict(between.join(map(str, numbers)), tuple(numbers)).status == "right"


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_a_number_is_right_as_far_as_within_says(guess, truth):
    expected = "right" if abs(guess - truth) <= 0.5 + 1e-9 * abs(truth) else "wrong"
    assert predict(guess, truth, within=0.5).status == expected


def test_within_says_how_many_digits_are_shown():
    assert predict(0.7, torch.tensor(0.7634), within=0.1).status == "right"
    assert predict(1.0, 1.1, within=0.1).status == "right"  # though 1.1 − 1.0 is a bit more than 0.1 in float64
    assert predict(0.7, torch.tensor(0.7634)).status == "wrong"
    assert "0.8" in repr(predict(..., torch.tensor(0.7634), within=0.1))
    assert "251" in repr(predict(..., torch.tensor(250.9381), within=20))


# ------------------------------------------------------------------------------------------- a wrong answer


@pytest.mark.parametrize("name", SLIPS)
def test_a_known_slip_is_told_in_words(name):
    shown = predict([1, 2, 3], NUMBERS, **{"off_by_one": [9, 9, 9], name: [1, 2, 3]})
    assert shown.status == "wrong" and shown.slip == name
    assert (
        module.show.plain(SLIPS[name]) in repr(shown) and f"✗ {module.show.marked(SLIPS[name])}" in shown._repr_html_()
    )


def test_a_slip_that_is_the_truth_is_none():
    assert predict([1, 5, 2], NUMBERS, column=NUMBERS + 0.001).status == "right"
    assert predict(12.015, 12.0, column=12.008).slip is None


@pytest.mark.parametrize("guess, slip", [(16, "deviation"), (1, "one_product"), (12, "deviation"), (5, "one_product")])
def test_of_two_slips_within_the_tolerance_the_nearer_is_told(guess, slip):
    assert predict(guess, 251.0, within=20, one_product=1, deviation=15.8).slip == slip


def test_a_slip_without_a_sentence_is_an_error_of_the_lesson():
    with pytest.raises(TypeError, match=r"'sideways'.*SLIPS"):
        predict(..., 1, sideways=2)


@pytest.mark.parametrize(
    "guess, truth, words",
    [
        (10, torch.tensor(12.0), "too small"),
        (13, torch.tensor(12.0), "too large"),
        (-12, torch.tensor(12.0), "sign"),
        (47, torch.tensor(0.4683), "per cent"),
        ([1, 2, 2], NUMBERS, "1 of 3 numbers is not right"),
        ([1, 2, 3], NUMBERS, "2 of 3 numbers are not right"),
        ([7, 2, 3], NUMBERS, "None of the numbers"),
        ([7, 2], NUMBERS[:2], "Neither of the two numbers"),
        (0.45, torch.tensor(0.4683), "too small"),
        ([5, 1, 2], NUMBERS, "another order"),
        ([1, 2], NUMBERS, "2 numbers, the answer 3 numbers"),
        (1, torch.ones(2, 2), "1 number, the answer 2 × 2"),
        ([[1], [1, 2]], torch.ones(2, 2), "different lengths"),
        (3, math.nan, "not a number"),
        (math.nan, 3, "A number does"),
        ("no", "yes", "why"),
        (3, "yes", "why"),
    ],
)
def test_another_wrong_guess_says_in_what_it_differs(guess, truth, words):
    shown = predict(guess, truth)
    assert shown.status == "wrong" and all(words in text for text in texts(shown))


@pytest.mark.parametrize("guess", ["many", object(), {}, {1}, print, 1j, [object()], "1 or 2"])
def test_what_is_no_number_can_be_tried_again(guess):
    for _ in range(3):
        shown = predict(guess, torch.tensor(3.0))
        assert shown.status == "unreadable" and "could not be read" in repr(shown) and not shown.is_revealed


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


@given(st.recursive(STRANGE, lambda inner: st.lists(inner, max_size=4)), st.sampled_from([3.0, NUMBERS, "yes", True]))
def test_no_guess_raises(guess, truth):
    texts(predict(guess, truth, column=1, row=[1, 2]))


@pytest.mark.parametrize(
    "guess, truth, said",
    [
        (torch.zeros(1), torch.ones(3, 6, dtype=torch.bool), "It has 1 entry, the answer 3 × 6 entries."),
        (["nan", "nan"], ["nan", "finite", "nan"], "It has 2 entries, the answer 3 entries."),
        ([1, 2], torch.ones(2, 2), "It has 2 numbers, the answer 2 × 2 numbers."),
        (["nan", "nan", "nan"], ["nan", "finite", "nan"], "Can you say why?"),
    ],
)
def test_an_answer_of_another_size_is_told_the_sizes(guess, truth, said):
    assert said in repr(predict(guess, truth))


def test_what_is_shown_is_text_and_never_markup():
    html = predict("<script> & <b>", "yes")._repr_html_()
    assert "&lt;script&gt; &amp; &lt;b&gt;" in html and "<script" not in html


@pytest.mark.parametrize("guess", ["because " * 90, list(range(900))])
def test_of_a_long_guess_the_beginning_is_shown(guess):
    shown = repr(predict(guess, "yes"))
    assert len(shown) < 250 and "…" in shown


@pytest.mark.parametrize("guess, kind", [(3, "right"), (4, "wrong"), ("many", "open"), ("show", "open"), (..., "open")])
def test_an_edge_in_a_colour_says_how_it_went(guess, kind):
    assert f"solid {FRAMES[kind]}" in predict(guess, 3)._repr_html_().split(">")[0]


def test_a_page_without_python_gets_what_it_needs_to_judge():
    asked = predict(..., torch.tensor([1.0, 0.5]), within=0.1, column=[2, 3], row=[1.05, 0.5]).for_a_page()
    assert (asked["leaves"], asked["alone"], asked["within"]) == ([1.0, 0.5], False, 0.1)
    (slip,) = asked["slips"]  # the other one is right, within the tolerance
    assert slip == {"leaves": [2.0, 3.0], "says": SLIPS["column"]}
    assert predict(..., torch.tensor([math.nan, 1])).for_a_page()["leaves"] == ["nan", 1]  # as JSON can hold it
    assert predict(..., 3).for_a_page()["alone"] and "[1, 0.5]" in asked["answer"]


# -------------------------------------------------------------------------------------- in the learner's copy


@pytest.mark.parametrize("guess", [..., None, [1, ...]])
def test_in_a_copy_nothing_is_revealed_without_a_guess(copy, guess):
    with pytest.raises(NotYet) as stop:
        predict(guess, 1234, column=5678)
    (line,) = stop.value._render_traceback_()
    assert "\n" not in line and 'guess = "show"' in line and "..." in line
    assert "1234" not in line and "5678" not in line


def ask(*guesses, truth=1234, **slips):
    """The same question answered with each of these guesses in turn."""
    return [predict(guess, truth, **slips) for guess in guesses]


def test_in_a_copy_the_truth_comes_after_the_second_wrong_guess(copy):
    once, again, twice, back, right = ask(1, "1", 2, 1, 1234)
    for shown in (once, again, back):
        assert not any("1234" in text for text in texts(shown))
        assert all("another try" in text for text in texts(shown))
    assert all("1234" in text and "another try" not in text for text in texts(twice))
    assert right.status == "right"


def test_in_a_copy_each_question_has_tries_of_its_own(copy):
    first = predict(1, 1234)
    other = predict(2, 1234, within=0.02)
    longer = [
        predict(
            3,
            1234,
        ),
        predict(
            4,
            1234,
            within=0.03,
        ),
    ]
    assert not any(shown.is_revealed for shown in (first, other, *longer))


def test_in_a_copy_the_same_line_in_another_cell_has_tries_of_its_own(copy, monkeypatch):
    cells = iter(["one", "two", "one"])
    shell = types.SimpleNamespace(get_parent=lambda: {"metadata": {"cellId": next(cells)}})
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    revealed = [predict(guess, 1234).is_revealed for guess in (1, 2, 3)]
    assert revealed == [False, False, True]


def test_giving_up_shows_the_truth(copy):
    for guess in ("show", " Show "):
        assert all("1234" in text for text in texts(predict(guess, 1234)))


def test_a_slip_is_told_without_the_truth(copy):
    shown = predict(7, 1234, unscaled=7)
    assert not any("1234" in text for text in texts(shown)) and "scale" in repr(shown)


def test_the_copy_can_be_said_by_a_variable(monkeypatch):
    monkeypatch.setenv(module.VARIABLE, "1")
    with pytest.raises(NotYet):
        predict(..., 1)


# ------------------------------------------------------------------------------------------------------ blank


def test_a_blank_is_compared_to_the_precision_of_float32():
    truth = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert blank(truth + 5e-5, truth).status == "right"
    assert blank(truth + 5e-3, truth).status == "wrong" and repr(blank(truth + 1, truth)).startswith("Yours: [[2, 3]")
    shown = blank(truth.T, truth, transposed=truth.T)
    assert shown.slip == "transposed" and "[[1, 2], [3, 4]]" not in repr(shown).replace("answer: [[1, 2]", "")


def test_a_blank_that_is_empty_says_so_and_stops_in_a_copy(monkeypatch):
    assert "Nothing written yet" in repr(blank(..., torch.ones(2)))
    monkeypatch.setenv(module.VARIABLE, "1")
    with pytest.raises(NotYet, match="both cells"):
        blank(None, torch.ones(2))
    assert blank("show", torch.ones(2)).status == "shown"


def test_many_numbers_are_not_poured_out_the_line_that_gives_them_stands_there():
    few, many = blank("show", torch.ones(2)), blank("show", torch.ones(4, 8))
    assert "[1, 1]" in repr(few) and "1, 1" not in repr(many)
    assert "this cell has the line" in repr(many) and "this cell has the line" in many._repr_html_()
