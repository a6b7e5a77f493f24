"""The series as a web site that needs no server, no network and no kernel: `python course.py site`."""

import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
from sphinx.cmd.build import build_main

from . import pages

HERE = Path(__file__).parent
ROOT = HERE.parent
BUILD = ROOT / "build"
OTHERS = ("notebooks/INSTRUCTORS.md", "deploy/README.md")


def lay_out(source):
    """Put together in one folder what Sphinx reads: lessons with living boards, pictures, scripts and a first page."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "notebooks").mkdir(parents=True)
    shutil.copy(HERE / "website" / "conf.py", source)
    shutil.copytree(ROOT / "img", source / "img")
    shutil.copytree(HERE / "website" / "_static", source / "_static")
    (source / "_static" / "boards.js").write_text(pages.script(), encoding="utf-8")
    style = pages.STYLE + (HERE / "website" / "_static" / "site.css").read_text(encoding="utf-8")
    (source / "_static" / "site.css").write_text(style, encoding="utf-8")
    lessons = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in lessons:
        nbformat.write(lesson(path), source / "notebooks" / path.name)
        (source / "downloads").mkdir(exist_ok=True)
        shutil.copy(path, source / "downloads")
    others = [name for name in OTHERS if (ROOT / name).is_file()]
    for name in others:
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(without_dead_links(name, [*others, "notebooks/"]), encoding="utf-8")
    (source / "index.md").write_text(index(lessons, others), encoding="utf-8")


def without_dead_links(name, shown):
    """A Markdown file of this repository in which links to files that the site does not show are only words."""

    def link(found):
        words, target = found.groups()
        place = os.path.normpath(os.path.join(os.path.dirname(name), target)).replace(os.sep, "/")
        return found[0] if target.startswith("https://") or place.startswith(tuple(shown)) else words

    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, (ROOT / name).read_text(encoding="utf-8"))


def lesson(path):
    """A notebook for the page: boards that live there, and pictures that carry their descriptions."""
    notebook = pages.without_kernel(path)
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


MENDED = (  # what the theme leaves out, and a reader of screens needs
    ('<aside class="sidebar-drawer"', '<aside class="sidebar-drawer" aria-label="All lessons"'),
    ('<aside class="toc-drawer', '<aside aria-label="This page" class="toc-drawer'),
    ('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'),
    ('<div id="search-results"></div>', '<h1>Search</h1><div id="search-results"></div>'),
)


def mend(target):
    for path in target.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for old, new in MENDED:
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8", newline="\n")


def build(folder, options=()):
    """Write the site into folder/site; returns Sphinx's exit code, which a warning makes 1."""
    source, target = folder / "site-source", folder / "site"
    lay_out(source)
    shutil.rmtree(target, ignore_errors=True)
    code = build_main(["-q", "-W", "--keep-going", "-d", str(source / ".doctrees"), *options, str(source), str(target)])
    mend(target)
    return code


def main(options):
    code = build(BUILD, options)
    print((BUILD / "site/index.html").as_uri() if code == 0 else "The site has faults, see above.", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
