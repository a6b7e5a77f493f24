"""Whoever makes a lesson is told what it lacks, one sentence for each, and never by a traceback."""

import dataclasses
import json
import shutil

import nbformat
import pytest
from paths import NOTEBOOKS

from authors import lesson_texts, lessons
from authors.lacking import lacking
from authors.site import cards, openings

ENTRY = (
    '[01_new]\ntitle = "New"\nquestion = "Why?"\npromise = "see"\ngoals = ["a"]\nneeds = "nothing."\nreadings = []\n'
)


def test_no_lesson_lacks_anything_and_a_new_one_much():
    all_lessons = lessons.lessons()
    assert [words for one in all_lessons for words in lacking(one)] == []
    told = " ".join(lacking(dataclasses.replace(all_lessons[0], name="77_new", title="New")))
    for place in ("exercises/lessons/n77_new.py", "INSTRUCTORS.md", "## 77 New", "<!--plan 77-->", "cards.py"):
        assert place in told
    (told,) = lacking(dataclasses.replace(all_lessons[0], exercises=0))
    assert "minutes" in told and "1.1" in told


@pytest.mark.parametrize(
    "entry, cells, words",
    [
        (ENTRY.replace('goals = ["a"]\n', ""), 2, "[01_new] lacks goals"),
        (ENTRY + "colour = 3\n", 2, "colour is none of title, question"),
        (ENTRY + "[01_new\n", 2, "course.toml cannot be read"),
        ("", 2, "no entry [01_new]"),
        (ENTRY, 0, "01_new.ipynb has to begin with"),
        (ENTRY, 1, "01_new.ipynb has to begin with"),
    ],
)
def test_what_stops_a_lesson_is_said_in_a_sentence(monkeypatch, tmp_path, entry, cells, words):
    begin = [nbformat.v4.new_markdown_cell("# 1. New"), nbformat.v4.new_code_cell("import torch")]
    nbformat.write(nbformat.v4.new_notebook(cells=begin[:cells]), tmp_path / "01_new.ipynb")
    (tmp_path / "course.toml").write_text(entry, encoding="utf-8")
    shutil.copy(NOTEBOOKS / "INSTRUCTORS.md", tmp_path)
    monkeypatch.setattr(lessons, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(lesson_texts, "NOTEBOOKS", tmp_path)
    with pytest.raises(SystemExit) as stopped:
        lesson_texts.main()
    assert words in str(stopped.value)


def test_drawing_that_fails_is_named_and_the_others_are_drawn(monkeypatch, tmp_path):
    def fails():
        """What a slip of the pen leaves."""
        return nowhere  # noqa: F821

    def untold():
        return ""

    monkeypatch.setattr(openings, "FILE", tmp_path / "openings.json")
    openings.FILE.write_text('{"10": "as it was"}')
    monkeypatch.setitem(cards.OPENINGS, 10, fails)
    monkeypatch.setitem(cards.OPENINGS, 11, untold)
    failed, lacks_words = map(str, openings.write(lessons.lessons()[9:12]))
    assert "Lesson 10: fails() of authors/site/cards.py" in failed and "'nowhere' is not defined" in failed
    assert "Lesson 11: untold() of authors/site/cards.py has no docstring" in lacks_words
    drawn = json.loads(openings.FILE.read_text(encoding="utf-8"))
    assert drawn["10"] == "as it was" and drawn["12"].startswith("<svg") and "11" not in drawn
