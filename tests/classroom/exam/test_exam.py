"""Exams: every item has one right answer and named wrong ones, and each file says the same as the sheet and its key."""

import csv
import itertools
import math
import re
import xml.etree.ElementTree as ET
import zipfile

import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from pygiftparser import parser as gift_parser

from attn_lib import merge_heads, scaled_dot_product_attention, split_heads
from classroom.exam import __main__ as exam
from classroom.exam import worksheet
from classroom.exam.bank import bank, draw
from classroom.exam.item import is_same
from classroom.exam.item import number as on_a_sheet
from classroom.exam.kinds import KINDS, which_line
from workbench.exercises.engine.exercise import EXERCISES

SEED = "of this test"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exam")
    assert exam.main(["--seed", SEED, "--bank", "12", "--out", str(folder)]) == 0
    return folder


def page(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def numbers_in(table):
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in table.find_all("tr")]
    return torch.tensor([[value(text) for text in row] for row in rows], dtype=torch.float64)


def value(text):
    return float(text.replace("−", "-").replace("∞", "inf").replace("\u202f", ""))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(number=st.integers(1, 300))
def test_item_has_one_right_answer_and_each_wrong_one_is_a_named_mistake(kind, number):
    found = draw(kind, SEED, number)
    assert [option.is_right for option in found.options].count(True) == 1
    assert all(option.why and (option.is_right or option.mistake) for option in found.options)
    assert not any(is_same(a, b) for a, b in itertools.combinations(found.options, 2))
    shown = [str(option.shown) for option in found.options]
    assert len({*shown}) == len(shown) >= 4
    assert found == draw(kind, SEED, number)  # the same seed gives the same question


@pytest.mark.parametrize("kind", ["hand", "lesson"])
def test_right_number_is_as_often_the_smallest_as_the_middle_one(kind):
    """Or whoever crosses out the ends has it without a calculation."""
    ranks = []
    for number in range(100):
        found = draw(kind, SEED, number)
        values = [value(option.shown) for option in found.options]
        ranks.append(sorted(values).index(values[found.key]))
    counts = [ranks.count(rank) for rank in range(max(ranks) + 1)]
    assert len(counts) == len(values) and min(counts) >= 10, counts


def test_student_who_computes_chooses_what_the_key_says(written):
    """The sheet alone is read: numbers from its tables, the options by their letters."""
    for version in "AB":
        with open(written / "key.csv", encoding="utf-8-sig") as file:
            key = {row["question"]: row["right"] for row in csv.DictReader(file) if row["version"] == version}
        items = page(written / f"{version}.html").select(".item")
        by_hand = [(i, one) for i, one in enumerate(items, start=1) if one.small.get_text().startswith("hand")]
        assert len(items) == len(key) and by_hand
        for place, one in by_hand:
            query, keys, values = map(numbers_in, one.select(".parts table"))
            output = scaled_dot_product_attention(query, keys, values)[0].item()
            options = {li.b.get_text(): value(li.span.get_text()) for li in one.select(".options li")}
            assert min(options, key=lambda letter: abs(options[letter] - output)) == key[str(place)]


def test_number_that_rounds_to_zero_has_no_sign():
    assert [on_a_sheet(x) for x in (-1e-17, -0.004, -0.5, 1234.5)] == ["0", "0", "−0.5", "1\u202f234.5"]


def test_versions_share_no_question_and_show_no_seed(written):
    items = [one for v in "AB" for one in page(written / f"{v}.html").select(".item")]
    assert items and len({one.small.get_text() for one in items}) == len(items)
    assert len({str(one.select_one(".parts")) + one.select_one(".asks").get_text() for one in items}) == len(items)
    assert SEED not in page(written / "A.html").get_text()


def test_moodle_canvas_and_gift_hold_the_same_questions_with_the_same_right_answers(written):
    questions = ET.parse(written / "moodle.xml").findall("question[@type='multichoice']")
    in_moodle = {}
    for question in questions:
        right = [answer for answer in question.findall("answer") if answer.get("fraction") == "100"]
        assert len(right) == 1 and all(answer.findtext("feedback/text") for answer in question.findall("answer"))
        in_moodle[question.findtext("name/text")] = text_of(right[0].findtext("text"))
    with open(written / "bank.gift", encoding="utf-8") as file:
        in_gift = {}
        for question in gift_parser.parseFile(file):
            right = [one for one in question.answers.answers if getattr(one, "fraction", 0) == 100]
            in_gift[question.title] = text_of(right[0].answer.replace("\\:", ":"))
    assert in_gift == in_moodle and len(in_moodle) == sum(map(len, bank(KINDS, SEED, 12).values()))
    assert {*in_canvas(written / "canvas.zip")} == {*in_moodle}


def in_canvas(path):
    """The titles of the items of a QTI package, each of which scores 100 for one answer alone."""
    with zipfile.ZipFile(path) as archive:
        (name,) = [name for name in archive.namelist() if re.search(r"text2qti_assessment_\w+\.xml$", name)]
        root = ET.fromstring(archive.read(name))
    local = {"q": root.tag.partition("}")[0].lstrip("{")}
    for one in root.iterfind(".//q:item", local):
        scored = [
            cond for cond in one.iterfind(".//q:respcondition", local) if cond.find("q:setvar", local) is not None
        ]
        assert [cond.findtext("q:setvar", namespaces=local) for cond in scored] == ["100"]
        yield one.get("title")


def text_of(shown):
    return " ".join(BeautifulSoup(shown, "html.parser").get_text(" ").split())


@pytest.mark.parametrize("words", [["--kinds", "essay"], ["--each", "0"], ["--versions", "9"], ["--lessons", "x"]])
def test_what_cannot_be_asked_for_is_said(words, capsys):
    with pytest.raises(SystemExit):
        exam.main(words)
    assert words[1] in capsys.readouterr().err


@pytest.mark.parametrize("lesson", worksheet.SHEETS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_worksheet_has_a_place_for_every_number_of_its_key_and_none_beside_it(lesson, seed):
    sheet, key = BeautifulSoup(worksheet.page(lesson, seed), "html.parser").find_all("section")
    empty = sheet.select(".blanks table")
    filled = key.select(".blanks table")
    assert [len(table.find_all("td")) for table in empty] == [len(table.find_all("td")) for table in filled]
    assert not any(cell.get_text() for table in empty for cell in table.find_all("td"))
    assert all(cell.get_text() for table in filled for cell in table.find_all("td"))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_key_of_the_first_worksheet_is_what_a_pencil_comes_to(seed):
    sheet, key = BeautifulSoup(worksheet.page(1, seed), "html.parser").find_all("section")
    x, w_q, w_k, w_v = map(numbers_in, sheet.select(".parts table"))
    queries, keys, values, scores, powers, weights, outputs = map(numbers_in, key.select(".blanks table"))
    assert x.any(0).all() and values.any(0).all() and len(weights.unique(dim=0)) == 3, "something to do in each"
    assert torch.equal(queries, x @ w_q) and torch.equal(keys, x @ w_k) and torch.equal(values, x @ w_v)
    assert torch.equal(scores, queries @ keys.T) and scores.max() <= 4
    exact = scores.exp() / scores.exp().sum(-1, keepdim=True)
    assert (powers - scores.exp()).abs().max() < 0.06 and (weights - exact).abs().max() < 0.006
    assert (outputs - exact @ values).abs().max() < 0.006


def filled_in(lesson, seed):
    """What is given on a worksheet, and the numbers of its key."""
    sheet, key = BeautifulSoup(worksheet.page(lesson, seed), "html.parser").find_all("section")
    return [list(map(numbers_in, part)) for part in (sheet.select(".parts table"), key.select(".blanks table"))]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_way_back_on_paper_is_autograds(seed):
    (query, keys, values, weights, grad_output), (_, _, of_scores, total, of_query, of_keys) = filled_in(7, seed)
    query, keys, scores = query.requires_grad_(), keys.requires_grad_(), weights.log().requires_grad_()
    torch.softmax(scores, -1).matmul(values).backward(grad_output)
    assert torch.allclose(scores.grad, of_scores) and total == 0
    (query @ keys.T).backward(of_scores)
    assert torch.equal(query.grad, of_query) and torch.equal(keys.grad, of_keys)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_merge_on_paper_comes_to_the_softmax_of_all_keys(seed):
    (scores, values), steps = filled_in(12, seed)
    assert (steps[-1] - torch.softmax(scores, -1) @ values).abs().max() < 0.006


FAULTS = [(program, fault) for program in (which_line.MASKED, which_line.HEADS) for fault in program.faults]


@pytest.mark.parametrize("program, fault", FAULTS, ids=lambda one: getattr(one, "code", ""))
def test_faulty_line_gives_what_code_with_its_misconception_gives(program, fault):
    exercise, name = fault.explanation[1].split()
    if exercise not in WHOLE or name == "ignored":  # a slip has no code, and code that forgets a result returns none
        pytest.skip("its mistake has no code to compare with")
    torch.manual_seed(0)
    given = program.given() if program is which_line.HEADS or exercise == "3.3" else (*program.given()[:3], OPEN)
    results = [WHOLE[exercise](form, *given) for form in EXERCISES[exercise].misconceptions[name].forms]
    names = {"torch": torch, "math": math}
    exec("\n".join(program.source(fault)), names)
    ours = names["attend"](*given)
    assert any(ours.shape == other.shape and torch.allclose(ours, other, atol=1e-5) for other in results)


OPEN = torch.ones(2, 4, 5, dtype=torch.bool)


def with_heads(split=split_heads, merge=merge_heads):
    def attend(x, w_q, w_k, w_v, w_o, heads):
        return merge(scaled_dot_product_attention(*(split(x @ w, heads) for w in (w_q, w_k, w_v)))[0]) @ w_o

    return attend


WHOLE = {  # exercise → attention as a whole, one part of which is an answer to that exercise
    "2.1": lambda softmax, q, k, v, mask: softmax(q @ k.mT / math.sqrt(8)) @ v,
    "2.2": lambda attention, q, k, v, mask: attention(q, k, v)[0],
    "3.3": lambda softmax, q, k, v, mask: softmax(q @ k.mT / math.sqrt(8), mask) @ v,
    "4.1": lambda split, *given: with_heads(split=split)(*given),
    "4.2": lambda merge, *given: with_heads(merge=merge)(*given),
    "4.3": lambda attention, *given: attention(*given),
}
