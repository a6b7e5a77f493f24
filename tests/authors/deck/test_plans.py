"""The plans of a lecture: they fit into its time, the guide tells them, and the clock and next follow them."""

import json
import re
from datetime import date

import nbformat
import pytest
from deck_page import jump, number_of
from paths import LESSONS

from authors.deck import plans
from authors.deck.lectures import Lectures
from authors.deck.slides import slides_of, with_cells

THIRD = LESSONS[2]


def planned(path):
    cells = nbformat.read(path, as_version=4).cells
    return plans.planned(cells, with_cells(cells, slides_of(path.stem)))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_lecture_fits_into_its_time(path):
    slides = planned(path)
    for minutes in (45, 90):
        taken = sum(one.minutes(plans.PLANS[str(minutes)]) for one in slides)
        assert minutes / 2 < taken <= minutes, f"it takes {taken} of {minutes}, of which at least half are meant"


def test_guide_tells_the_plans_that_the_decks_have():
    guide = plans.GUIDE.read_text(encoding="utf-8")
    assert plans.with_plans(guide) == guide and guide.count("<!--plan ") == len(LESSONS), "run authors.deck.plans"
    for path in LESSONS:
        told = re.search(rf"\]\({path.name}\), ([\d.]+) minutes", guide)[1]
        assert sum(slide.minutes for slide in slides_of(path.stem)) == float(told)


def test_a_vote_takes_its_time_and_what_is_passed_none():
    slides = planned(THIRD)
    vote = next(one for one in slides if one.votes and one.slide.name == "after-softmax")
    line = next(one for one in slides if one.dictates and one.slide.name == "before-softmax")
    later = next(one for one in slides if one.slide.name == "erase-and-divide")
    minutes = {name: [one.minutes(plan) for one in (vote, line, later)] for name, plan in plans.PLANS.items()}
    assert minutes == {"45": [3, 2.5, 0], "90": [5.5, 2.5, 5], "no-votes": [1.5, 0.5, 1]}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_note_of_what_can_wait_says_where_to_go_on(path):
    slides = planned(path)
    for one, told in zip(slides, plans.for_the_deck(slides), strict=True):
        for name, plan in plans.PLANS.items():
            jump_to = [word for word in told[name]["note"].split() if word.isdigit()]
            if one.is_later:
                after = next(other for other in slides[one.number :] if not other.is_later)
                assert f"Second reading: {after.number} Enter goes on" in told[name]["note"]
            assert told[name]["passes"] == one.is_passed(plan) <= (name == "45") and all(jump_to)


def walk(page, key):
    """The numbers of the slides that a key leads over, to either end."""
    numbers = [number_of(page)]
    while not page.evaluate("Reveal.isLastSlide()" if key == "PageDown" else "Reveal.isFirstSlide()"):
        page.keyboard.press(key)
        if number_of(page) != numbers[-1]:
            numbers.append(number_of(page))
    return numbers


def test_next_and_back_pass_the_second_reading_and_a_number_reaches_it(open_deck):
    page = open_deck("03_masking")
    slides = planned(THIRD)
    wanted = [one.number for one in slides if not one.is_passed(plans.PLANS["45"])]
    assert walk(page, "PageDown") == wanted
    assert walk(page, "PageUp") == wanted[::-1]
    later = next(one.number for one in slides if one.is_later)
    jump(page, later)
    assert walk(page, "PageDown")[:2] == [later, later + 1]


RECORD = {
    "lesson": "03_masking",
    "on": "2025-11-26",
    "questions": [
        {
            "id": "03.after-softmax",
            "rounds": [{"answered": 140, "of": 150, "right": 0.31}, {"answered": 138, "of": 150, "right": 0.87}],
            "bars": [
                {"value": "less", "is": True, "many": [43, 120]},
                {"value": "1", "is": False, "many": [70, 9]},
                {"value": "more", "is": False, "many": [27, 9]},
            ],
        }
    ],
}


def saved(folder, name, **other):
    text = json.dumps({**RECORD, **other})
    (folder / name).write_text(f'<script type="application/json" id="lecture">{text}</script>', encoding="utf-8")


def test_notes_say_how_it_was_answered_the_last_time(tmp_path):
    saved(tmp_path, "old.html", on="2024-11-20", questions=[])
    saved(tmp_path, "last.html")
    saved(tmp_path, "another.html", lesson="04_multi_head", on="2026-01-01")
    (tmp_path / "strange.html").write_text("<p>no lecture", encoding="utf-8")
    (tmp_path / "broken.html").write_text('<script type="application/json" id="lecture">{</script>', encoding="utf-8")
    said = {"03.after-softmax": "Last year 31 %, then 87 % right, of 140. Most frequent known mistake: 1 (70)."}
    assert Lectures(tmp_path).last("03_masking", date(2026, 11, 26)) == said
    assert Lectures(tmp_path).last("05_match_pytorch") == {}
    later = Lectures(tmp_path).last("03_masking", date(2027, 1, 1))["03.after-softmax"]
    assert later.startswith("On 26 November 2025 31 %")
    with pytest.raises(SystemExit, match="no folder"):
        Lectures(tmp_path / "nowhere")
