"""Two addresses in pyproject.toml become links wherever a stranger looks, and a notebook says what it needs."""

import json
import subprocess
import sys
import tomllib

import nbformat
import pytest
from paths import ROOT

from authors import addresses, lesson_texts, publish

REPOSITORY, SITE = "https://github.com/a-school/attention", "https://a-school.github.io/attention"
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def filled_in(monkeypatch, tmp_path):
    """filled_in(repository, site): what the owner writes into pyproject.toml."""
    monkeypatch.setattr(addresses, "ROOT", tmp_path)

    def fill(repository, site):
        text = f"[tool.course]\nrepository = {json.dumps(repository)}\nsite = {json.dumps(site)}\n"
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")

    return fill


def test_two_addresses_make_every_link(filled_in):
    filled_in(f"{REPOSITORY}.git", f"{SITE}/")
    assert addresses.problems() == []
    texts = {path.relative_to(ROOT).as_posix(): text for path, text in lesson_texts.new_texts().items()}
    first = texts["README.md"].partition("\n## ")[0]
    for name in LESSONS:
        ways = [
            f"{SITE}/notebooks/{name}.html",
            f"https://colab.research.google.com/github/a-school/attention/blob/gh-pages/run/colab/{name}.ipynb",
        ]
        row = next(line for line in texts["README.md"].splitlines() if line.startswith("| [") and f"/{name}." in line)
        assert all(f"]({link})" in row for link in [*ways, f"notebooks/{name}.ipynb"]), row
        ways.append(f"https://mybinder.org/v2/gh/a-school/attention/main?urlpath=lab/tree/my/{name}.ipynb")
        notebook = nbformat.reads(texts[f"notebooks/{name}.ipynb"], 4)
        run_it = notebook.cells[0].source.split("\n\n")[1]
        assert all(f"]({link})" in run_it for link in ways) and f"git+{REPOSITORY}.git" in run_it
        stills = [cell.outputs for cell in notebook.cells if "nbval-ignore-output" in cell.metadata.get("tags", [])]
        said = [one[0].data["text/html"] for one in stills if len(one) == 2 and "image/png" in one[1].data]
        assert all(f'<a href="{ways[0]}">' in one for one in said)
        if name == LESSONS[0]:
            assert said and all(f"]({link})" in first for link in ways[1:])
    for link in (
        f"({SITE}/)",
        "(https://codespaces.new/a-school/attention)",
        f"git clone {REPOSITORY}\ncd attention\n",
    ):
        assert link in first
    assert f'<a href="{SITE}/notebooks/{LESSONS[0]}.html"><picture>' in first
    urls = tomllib.loads(texts["pyproject.toml"])["project"]["urls"]
    assert urls == {"Homepage": SITE, "Repository": REPOSITORY, "Issues": f"{REPOSITORY}/issues"}
    assert f'repository-code: "{REPOSITORY}"\nurl: "{SITE}"\n' in texts["CITATION.cff"]
    assert f"git+{REPOSITORY}.git" in texts["commands/README.md"] and "REPOSITORY" not in texts["commands/README.md"]
    assert "YOUR-GIT-HOST" not in texts["commands/README.md"]


def test_other_addresses_take_the_place_of_earlier_ones(filled_in):
    """Filled in, changed and taken back, each file is as if only the last had been there."""
    changes = [addresses.with_urls, addresses.with_citation, addresses.with_other_ways, addresses.with_ways_in]
    files = ["pyproject.toml", "CITATION.cff", "commands/README.md", "README.md"]
    for change, name in zip(changes, files, strict=True):
        text = (ROOT / name).read_text(encoding="utf-8")
        filled_in("", "")
        bare = change(text)
        for address in ("https://github.com/x/one", "https://git.example.org/y/two"):
            filled_in(address, f"{address}/site")
            assert change(change(bare)) == change(bare) != bare
            text = change(text)
        assert text == change(bare) and "x/one" not in text
        filled_in("", "")
        assert change(text) == bare


@pytest.mark.parametrize(
    "repository, site, said",
    [
        ("", "", "Fill in these two lines"),
        (REPOSITORY, "", "site is empty"),
        ("", SITE, "repository is empty"),
        ("git@github.com:a/b.git", SITE, "https://"),
        ("https://github.com/OWNER/NAME", SITE, "OWNER"),
        ("https://github.com/a-school", SITE, "https://github.com/OWNER/NAME"),
        (REPOSITORY, f"{SITE}/index.html", "names a page"),
        (REPOSITORY, "a-school.github.io/attention", "https://"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_and_nothing_written(
    filled_in, monkeypatch, capsys, repository, site, said
):
    filled_in(repository, site)
    monkeypatch.setattr(lesson_texts, "main", lambda: pytest.fail("something was written"))
    assert publish.main() == 1 and said in capsys.readouterr().out


def test_without_the_packages_a_notebook_says_what_to_install(tmp_path):
    """Each begins so: test_minutes_and_promises_are_current."""
    first = nbformat.read(ROOT / f"notebooks/{LESSONS[2]}.ipynb", as_version=4).cells[1].source
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", first], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1 and "pip install" in ran.stderr and "Traceback" not in ran.stderr
