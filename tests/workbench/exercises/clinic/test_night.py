"""Lesson 6 at night: strangers that cannot be read, recognised by tests; and the chart of tests on patients."""

import pytest
import torch

from workbench.exercises.clinic import PATIENTS, Chart, night_shift
from workbench.exercises.clinic.night import FAMILIES
from workbench.exercises.engine.exercise import EXERCISES
from workbench.trace import trace


def named(id, test):
    def detects(attention):
        return test(attention)

    detects.__name__ = f"detects_{id.partition('.')[2]}"
    return detects


LIBRARYS = [named(id, EXERCISES[id].reference) for id in FAMILIES]


def test_the_librarys_tests_recognise_every_stranger():
    night = night_shift(LIBRARYS)
    assert night.summary.startswith("12 of 12"), night
    assert sum("healthy" in word for word in night.chart.below[1]) == 1


def test_tests_are_found_among_a_notebooks_names():
    names = {test.__name__: test for test in LIBRARYS[:2]} | {"math": torch, "detects_99": LIBRARYS[0], "x": 1}
    assert str(night_shift(names)) == str(night_shift(LIBRARYS[:2]))


def test_two_tests_recognise_two_and_the_missing_are_named():
    summary = night_shift(LIBRARYS[:2]).summary
    assert summary.startswith("2 of 12")
    assert summary.rstrip(".").partition("the tests for ")[2].split(", ") == FAMILIES[2:]


@pytest.mark.parametrize("test", [lambda attention: ..., lambda attention: None])
def test_a_test_still_to_be_written_has_no_row(test):
    night = night_shift([named("6.5", test), LIBRARYS[0]])
    assert list(night.chart.rows) == ["detects_1"]
    assert "6.5" in night.summary


def test_a_test_that_says_too_much_is_told():
    night = night_shift([named("6.4", lambda attention: True), LIBRARYS[0]])
    assert "6.1 or 6.4?" in night.chart.below[1] and "✗" in night.chart.below[1]
    assert "another fault" in night.summary and "not specific" in night.summary


def test_a_test_that_misses_its_own_stranger_is_named():
    night = night_shift([named("6.1", lambda attention: False), LIBRARYS[1]])
    assert "the fault of 6.1, and your test for it returns False" in night.summary
    assert "returns False" not in night_shift(LIBRARYS).summary


def test_a_test_that_raises_or_takes_something_else_breaks_nothing():
    night = night_shift([named("6.7", lambda attention: 1 / 0), named("6.8", lambda attention: attention(1))])
    assert night.summary.startswith("0 of 12")
    assert night._repr_html_()


def test_a_stranger_can_be_called_and_not_traced():
    stranger = night_shift()["C"]
    query, key, value = torch.randn(2, 4, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 3)
    assert stranger(query, key, value).shape == (2, 4, 3)
    assert "0 operations" in str(trace(stranger, query, key, value))


def test_a_chart_says_where_code_raises_which_no_test_has_caught():
    query, key, value = torch.randn(2, 4, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 3)

    def shape(attention):
        return attention(query, key, value).shape != (2, 4, 3)

    chart = Chart([shape], {id: PATIENTS[id].buggy for id in ("6.1", "6.20")})
    assert chart.rows == {"shape": ["·", "raises"]}
    assert "raises" in chart._repr_html_()
