"""The handbook's page, and a chosen part of the course: what is promised is what is served."""

import re
import shutil

import pytest
from bs4 import BeautifulSoup
from paths import ROOT

from authors.lessons import lessons
from classroom import handbook
from workbench import copies
from workbench.chosen import chosen


def words(numbers):
    return BeautifulSoup(handbook.page(numbers), "html.parser").get_text(" ")


def test_the_page_adds_up_the_hours_of_its_lessons_and_names_what_is_missing():
    page = words([8, 10])
    taken = [one for one in lessons() if one.number in (8, 10)]
    (h, m) = map(int, re.search(r"(\d+) h (\d+) in all", page).groups())
    assert 60 * h + m == sum(one.minutes + one.exercises for one in taken)
    assert "lessons 1–5 and 7, which a chosen one needs" in page
    assert "needs" not in words([one.number for one in lessons()]).partition("Before:")[2].partition("lesson")[0]


def test_it_is_one_page_on_paper(tmp_path, capsys):
    handbook.main(["--out", str(tmp_path)])
    if not (pdf := tmp_path / "handbook.pdf").exists():
        pytest.skip("no browser to print with")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) == 1


def test_learners_get_the_chosen_lessons_and_keep_what_they_have(tmp_path):
    (tmp_path / "notebooks").mkdir()
    for name in ("01_by_hand", "02_scaled_dot_product", "05_match_pytorch"):
        shutil.copy(ROOT / f"notebooks/{name}.ipynb", tmp_path / "notebooks")
    course = tmp_path / "notebooks/course.toml"
    course.write_text('chosen = "1, 5-5"')
    copies.bring_up_to_date(tmp_path)
    assert [path.name[:2] for path in sorted((tmp_path / "my").glob("*.ipynb"))] == ["01", "05"]
    course.write_text('chosen = "2"')
    copies.bring_up_to_date(tmp_path)
    assert [path.name[:2] for path in sorted((tmp_path / "my").glob("*.ipynb"))] == ["01", "02", "05"]


@pytest.mark.parametrize("choice, named", [("1-3", "lesson 3"), ("two", "'two'"), ("", "''")])
def test_a_choice_that_is_none_is_named(tmp_path, choice, named):
    for name in ("01_a.ipynb", "02_b.ipynb"):
        (tmp_path / name).touch()
    (tmp_path / "course.toml").write_text(f'chosen = "{choice}"')
    with pytest.raises(ValueError, match=named):
        chosen(tmp_path)
