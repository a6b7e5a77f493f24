"""What a learner is shown after check, hint, solution and progress: the same in text and on the page, and in order."""

import html

import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from workbench.display.colours import on_any
from workbench.display.show import FRAMES
from workbench.exercises import Verdict
from workbench.exercises.engine.exercise import EXERCISES
from workbench.exercises.engine.verdict import Hint, Overview, Solution

YOURS = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
EXPECTED = torch.tensor([[1.0, 2.0], [3.0, 5.0]])


def page(shown):
    return BeautifulSoup(shown._repr_html_(), "html.parser")


def wrong(yours, expected):
    return Verdict("3.2", "wrong", None, "Not so.", yours, expected)


def columns(text):
    """The tables of a verdict in text: title → rows of words."""
    tables = {}
    for part in text.split("\n\n")[1:]:
        title, *rows = part.splitlines()
        tables[title] = [row.replace("≠ ", "≠").split() for row in rows]
    return tables


def test_text_and_page_show_yours_and_then_what_is_expected():
    verdict = wrong(YOURS, EXPECTED)
    rows = {"yours": [["1.000", "2.000"], ["3.000", "≠4.000"]], "expected": [["1.000", "2.000"], ["3.000", "≠5.000"]]}
    assert columns(str(verdict)) == rows
    tables = page(verdict).find_all("table")
    assert [table.caption.text for table in tables] == ["yours", "expected"]
    for table, wanted in zip(tables, rows.values(), strict=True):
        assert [[cell.text.replace(" ", "") for cell in row("td")] for row in table("tr")] == wanted


def test_both_tables_have_one_scale_of_colours():
    yours, expected = (t.find_all("td") for t in page(wrong(YOURS, EXPECTED * 10)).find_all("table"))
    ground = [[cell["style"].split(";")[0] for cell in cells] for cells in (yours, expected)]
    assert len(set(ground[0])) == 4 and ground[0][3] != ground[1][3]  # 4 of 50 is paler than 50 of 50
    alone = page(wrong(YOURS, EXPECTED)).find_all("table")[0].find_all("td")
    assert alone[3]["style"].split(";")[0] != ground[0][3]


def test_the_first_matrix_that_differs_is_the_one_that_is_shown():
    expected = torch.arange(24.0).reshape(2, 3, 2, 2)
    yours = expected.clone()
    yours[1, 2, 0, 1] = -1
    shown = columns(str(wrong(yours, expected)))
    assert shown["yours [1, 2]"] == [["20.000", "≠−1.000"], ["22.000", "23.000"]]
    assert shown["expected [1, 2]"] == [["20.000", "≠21.000"], ["22.000", "23.000"]]


def test_a_difference_is_shown_however_far_out_it_is():
    expected = torch.zeros(3, 12, 20)
    yours = expected.clone()
    yours[1, 10, 17] = 1
    shown = columns(str(wrong(yours, expected)))
    (of_yours,) = (rows for title, rows in shown.items() if title.startswith("yours [1], rows from 8, columns from 16"))
    assert of_yours[2][1] == "≠1.000"


def test_nan_where_nan_is_expected_is_no_difference():
    expected = torch.full((2, 2, 2), float("nan"))
    yours = expected.clone()
    yours[1, 0, 0] = 1
    assert "yours [1]" in columns(str(wrong(yours, expected)))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 2, 3), (0,), (0, 3), (2, 0, 3), (0, 2, 3), (2, 0, 3, 3)])
def test_any_shape_can_be_shown(shape):
    for expected in (torch.zeros(2, 3), torch.zeros(shape)):
        verdict = wrong(torch.ones(shape), expected)
        assert "expected" in str(verdict) and len(page(verdict).find_all("table")) == 2


def test_a_small_difference_is_shown_with_more_decimals():
    shown = columns(str(wrong(torch.tensor([[0.25004]]), torch.tensor([[0.25]]))))
    assert shown == {"yours": [["≠0.25004"]], "expected": [["≠0.25000"]]}
    assert "0.25004" in page(wrong(torch.tensor([[0.25004]]), torch.tensor([[0.25]]))).text


@pytest.mark.parametrize(
    ("status", "sign", "frame"), [("correct", "✓", "right"), ("wrong", "✗", "wrong"), ("unattempted", "…", "open")]
)
def test_each_status_has_its_sign_and_its_frame(status, sign, frame):
    verdict = Verdict("2.1", status, None, "Said.")
    assert str(verdict) == f"{sign} 2.1: Said."
    assert page(verdict).div.b.text == f"{sign} 2.1"
    assert on_any(FRAMES[frame]) in page(verdict).div["style"]


@given(st.text(max_size=80))
def test_whatever_a_message_holds_stays_words(message):
    said = page(Verdict("1.1", "wrong", None, message))
    assert {tag.name for tag in said.find_all()} <= {"div", "b", "code", "em", "br"}


HINTS = ["First, *one*.", "Then `two`.", "Last."]


def test_a_hint_is_folded_however_often_its_cell_was_run():
    for count in (1, 2, 3):
        details = page(Hint("3.2", HINTS[:count], 3)).find_all("details")
        assert [d.summary.text for d in details] == [f"Hint {i} of 3 for 3.2" for i in range(1, count + 1)]
        assert not any(d.has_attr("open") for d in details)


def test_no_text_of_an_exercise_shows_its_markup():
    for id, exercise in EXERCISES.items():
        texts = [*exercise.hints, *(f"{known.name}. {known.why}" for known in exercise.misconceptions.values())]
        for text in texts:
            said = page(Verdict(id, "wrong", None, text))
            for code in said.find_all("code"):
                code.replace_with("")
            assert "*" not in said.text and "`" not in said.text and "\n" not in text.replace("\n\n", ""), id


def test_a_solution_is_folded_on_the_page_and_plain_in_text():
    shown = Solution("2.1", "def f(a):\n    return a < b & c")
    assert str(shown) == "def f(a):\n    return a < b & c"
    said = page(shown)
    assert not said.details.has_attr("open") and said.details.summary.text.startswith("Solution of 2.1")
    assert said.pre.text == str(shown) and html.escape("a < b & c", quote=False) in shown._repr_html_()


ROWS = [("1.1", "One <b>", "done"), ("2.1", "Two", "tried"), ("10.1", "Ten", None)]


def test_progress_on_the_page_is_the_same_table():
    assert not page(Overview([])).find_all("table")
    said = page(Overview(ROWS))
    head, *lines = str(Overview(ROWS)).splitlines()
    assert said.b.text == head
    rows = [[cell.text for cell in row.find_all(["th", "td"])] for row in said.find_all("tr")]
    assert [f"{id} {words} {title}".split() for id, title, words in rows] == [line.split() for line in lines]
    assert all(row.th["scope"] == "row" for row in said.find_all("tr"))
