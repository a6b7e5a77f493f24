"""The series as a web site that needs no server, no network and no kernel: `python course.py site`."""

import re
import shutil
import sys
from pathlib import Path

import nbformat
from sphinx.cmd.build import build_main

from . import boards

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build"
OTHERS = ("notebooks/INSTRUCTORS.md", "deploy/README.md")


def lay_out(source):
    """Put together in one folder what Sphinx reads: lessons with living boards, pictures, scripts and a first page."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "notebooks").mkdir(parents=True)
    shutil.copy(HERE / "website" / "conf.py", source)
    shutil.copytree(ROOT / "img", source / "img")
    shutil.copytree(HERE / "website" / "_static", source / "_static")
    (source / "_static" / "boards.js").write_text(boards.script(), encoding="utf-8")
    style = boards.STYLE + (HERE / "website" / "_static" / "site.css").read_text(encoding="utf-8")
    (source / "_static" / "site.css").write_text(style, encoding="utf-8")
    lessons = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in lessons:
        nbformat.write(lesson(path), source / "notebooks" / path.name)
        (source / "downloads").mkdir(exist_ok=True)
        shutil.copy(path, source / "downloads")
    others = [name for name in OTHERS if (ROOT / name).is_file()]
    for name in others:
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    (source / "index.md").write_text(index(lessons, others), encoding="utf-8")


def lesson(path):
    """A notebook for the page: boards that live there, and pictures that carry their descriptions."""
    notebook = boards.read_with_boards(path)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            alt = output.get("metadata", {}).get("image/png", {}).get("alt")
            if alt:
                cell.metadata["mystnb"] = {"image": {"alt": alt}}
    return notebook


def index(lessons, others):
    """The first page: the lessons with the question of each, taken from the README's table."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(.+?)\]\(notebooks/(\w+)\.ipynb\) \| (.+?) \| (.+?) \| (\d+) \|", readme, re.M)
    assert [name for _, name, *_ in rows] == [path.stem for path in lessons], "README's table and notebooks/ differ"
    listed = [
        f"**[{title}](notebooks/{name}.ipynb)**<br>{question} You build {built}. {minutes} minutes, "
        f"or {{download}}`the notebook <downloads/{name}.ipynb>`.\n"
        for title, name, question, built, minutes in rows
    ]
    page = (HERE / "website" / "index.md").read_text(encoding="utf-8")
    pages = "\n".join(f"notebooks/{path.stem}" for path in lessons)
    return page.format(lessons="\n".join(listed), pages=pages, others="\n".join(name[:-3] for name in others))


def main(arguments):
    source, target = BUILD / "site-source", BUILD / "site"
    lay_out(source)
    shutil.rmtree(target, ignore_errors=True)
    code = build_main(["-q", "-W", "--keep-going", "-j", "auto", "-d", str(BUILD / "site-cache"), *arguments, str(source), str(target)])
    print(f"{(target / 'index.html').as_uri()}" if code == 0 else "The site was not built.", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
