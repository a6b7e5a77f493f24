"""What a model says on a slide: uncovered word by word, where nothing moves, and then its line."""

import re

import pytest

from workbench.display.drawings import Spoken, draw, draw_narrow

SAYS = " rises, casting a golden glow over the city.\nThe sound of the city's bustling streets fills the"


def rows(parts):
    """Of a step, the height of each line and its words."""
    lines = [re.match(r'<text[^>]* y="([\d.]+)"[^>]*>(.*)</text>', part).groups() for part in parts if "word" in part]
    return [(y, re.sub(r"<[^>]+>", "", words)) for y, words in lines]


@pytest.mark.parametrize("drawn_by", [draw, draw_narrow])
def test_words_come_one_by_one_and_none_moves(drawn_by):
    steps = Spoken("In the morning, the sun", SAYS).uncovered(line="scores = query @ key.mT", where="In the numbers")
    drawn = drawn_by(*steps)
    for before, after in zip(drawn.steps[:-1], drawn.steps[1:-1], strict=False):
        *same, (y, begun) = rows(before)
        assert rows(after)[: len(same)] == same and rows(after)[len(same)][0] == y
        assert rows(after)[len(same)][1].startswith(begun)
    assert rows(drawn.steps[0])[0][1].startswith("In the morning") and "rises" not in drawn.spoken[0]
    whole = "".join(words for _, words in rows(drawn.steps[-1]))
    assert re.sub(r"[\s⏎]", "", whole) == re.sub(r"\s", "", "In the morning, the sun" + SAYS)
    assert all("scores" not in words for words in drawn.spoken[:-1]) and "scores = query" in drawn.spoken[-1]
