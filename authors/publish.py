"""The command `python course.py publish`: two addresses in pyproject.toml become links wherever a stranger looks."""

import sys

from . import addresses, lesson_texts

DONE = """\
README.md, the notebooks, CITATION.cff, commands/README.md and pyproject.toml have their links now: commit them.
`python course.py site` writes build/site, which belongs at {site}.
Colab opens what stands in the branch gh-pages: put build/site there, with an empty file .nojekyll beside index.html.\
"""


def main():
    """Write the links, or say what is missing; returns an exit code."""
    if problems := addresses.problems():
        print("\n".join(problems))
        return 1
    lesson_texts.main()
    print(DONE.format(site=addresses.addresses()[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
