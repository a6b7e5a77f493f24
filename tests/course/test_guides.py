"""README and the short guides beside it: every link leads somewhere, every command is one, every picture is told."""

import re

import pytest
from paths import ROOT

from commands import parser

GUIDES = [
    *("README.md", "CONTRIBUTING.md", "authors/README.md", "commands/README.md", "classroom/hub/README.md"),
    "notebooks/INSTRUCTORS.md",
]


@pytest.mark.parametrize("name", GUIDES)
def test_links_and_commands_of_a_guide_are_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if not link.startswith("https://")]
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []
    assert set(re.findall(r"python3? course\.py ([a-z]+)", text)) <= set(parser().commands)


def test_readme_offers_the_course_before_it_explains_it():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r'<img src="([^"]+)" alt="([^"]+)"', text)
    assert text.index("course.py lab") < text.index(pictures[0][0]) < text.index("\n## ")
    assert len(pictures) >= 4 and all(len(said) > 40 for _, said in pictures)
    assert sum((ROOT / path).stat().st_size for path, _ in pictures) < 2_000_000, "or it comes slowly"
