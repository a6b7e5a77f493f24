"""Where the course stands, from two lines of pyproject.toml, and every link that follows from them.

`python course.py publish` checks the two lines and writes the links; without them README and notebooks say what works
on one's own machine.
"""

import re
import tomllib
from urllib.parse import quote, urlsplit

from workbench.copies import as_written

from .lessons import ROOT

GITHUB = "https://github.com/"
END = "<!-- until here -->"
STILL_LINE = r"A still picture: .*? Its numbers as tables\."  # what `still_line` writes
FILL_IN = """\
Fill in these two lines of pyproject.toml, under [tool.course], and call `python course.py publish` again:

repository = "https://github.com/OWNER/NAME"     where the course can be cloned
site = "https://OWNER.github.io/NAME"            where what `python course.py site` writes can be read\
"""


def addresses():
    """The settings of pyproject.toml: where the course's repository and this site stand; empty where not set."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["course"]
    return settings["repository"].removesuffix(".git").rstrip("/"), settings["site"].rstrip("/")


def problems():
    """What is wrong with the two settings, a sentence for each thing; how to set them where neither is."""
    repository, site = addresses()
    if not repository and not site:
        return [FILL_IN]
    sentences = []
    for name, address in (("repository", repository), ("site", site)):
        parts = urlsplit(address)
        if not address:
            sentences.append(f"{name} is empty: with one address alone, half of the links lead nowhere.")
        elif parts.scheme != "https" or "." not in parts.netloc or re.search(r"\s", address):
            sentences.append(f'{name} = "{address}" is no whole address: it begins with https:// and a host.')
        elif parts.query or parts.fragment or address.endswith(".html"):
            sentences.append(f'{name} = "{address}" names a page: leave out what stands behind the folder.')
        elif {"OWNER", "NAME"} & set(re.split(r"[/.]", address)):
            sentences.append(f'{name} = "{address}" still has OWNER or NAME in it.')
    if repository.startswith(GITHUB) and not re.fullmatch(r"[\w.-]+/[\w.-]+", repository.removeprefix(GITHUB)):
        sentences.append(f'repository = "{repository}" is not {GITHUB}OWNER/NAME.')
    return sentences


# ------------------------------------------------------------------------------------------------ links of a lesson


def page(name=""):
    """The page of a lesson on the site, or the site's first page; "" without the site's address."""
    _, site = addresses()
    return site and (f"{site}/notebooks/{name}.html" if name else f"{site}/")


def colab(name):
    """Where Colab opens a lesson, with its set-up cell inside: from the site, which GitHub keeps in gh-pages."""
    repository, _ = addresses()
    place = repository.partition("github.com/")[2]
    return f"https://colab.research.google.com/github/{place}/blob/gh-pages/run/colab/{name}.ipynb" if place else ""


def binder(name):
    """Where Binder opens a learner's copy of a lesson; "" without the repository's address."""
    repository, _ = addresses()
    place = f"gh/{repository.removeprefix(GITHUB)}" if on_github() else f"git/{quote(repository, safe='')}"
    return f"https://mybinder.org/v2/{place}/main?urlpath=lab/tree/my/{name}.ipynb" if repository else ""


def codespaces():
    """Where GitHub opens the course in a Codespace; "" where it does not stand on GitHub."""
    return f"https://codespaces.new/{addresses()[0].removeprefix(GITHUB)}" if on_github() else ""


def on_github():
    """Whether the repository's address is one on GitHub."""
    return addresses()[0].startswith(GITHUB)


def linked(*pairs):
    """[words](address) of each pair that has an address."""
    return [f"[{words}]({address})" for words, address in pairs if address]


# --------------------------------------------------------------------------------------- what is written from them


def between(text, begins, inner):
    """The text with other lines between a comment that begins so and the next END."""
    lines = re.compile(rf"(<!-- {re.escape(begins)}[^\n]*-->\n).*?({END})", re.S)
    return lines.sub(lambda match: f"{match[1]}\n{inner}\n\n{match[2]}", text)


def with_ways_in(readme):
    """README with what it offers in its first lines, and where its first picture leads."""
    leads = page("01_by_hand") or "notebooks/01_by_hand.ipynb"
    readme = re.sub(r'<a href="[^"]*">(?=<picture>)', f'<a href="{leads}">', readme, count=1)
    return between(readme, "ways in", published() if addresses()[0] else UNPUBLISHED)


def published():
    """README's first lines once the course has an address: badges, ways to run it elsewhere, and how to clone it."""
    repository, site = addresses()
    first = "01_by_hand"
    badges = [
        (site and "Read and play online", "https://img.shields.io/badge/read_and_play-online-1F5FBF", page()),
        ("Open In Colab", "https://colab.research.google.com/assets/colab-badge.svg", colab(first)),
        ("Binder", "https://mybinder.org/badge_logo.svg", binder(first)),
        ("Open in GitHub Codespaces", "https://github.com/codespaces/badge.svg", codespaces()),
    ]
    links = " ".join(f"[![{words}]({picture})]({to})" for words, picture, to in badges if to)
    elsewhere = linked(("Colab", colab(first)), ("Binder", binder(first)), ("Codespaces", codespaces()))
    online = f"**[Read and play it online]({page()})**: nothing to install. " if site else ""
    return f"""\
{links}

{online}As notebooks that ask for your guesses and check your code: {", ".join(elsewhere)}, or on your machine:

```
git clone {repository}
cd {repository.rpartition("/")[2]}
python course.py lab
```"""


UNPUBLISHED = """\
**Open it here, with nothing to install:** [lesson 1](notebooks/01_by_hand.ipynb) with its questions, results and \
pictures. The answer is folded below each question. [All lessons](#the-notebooks).

To move the numbers and have your guesses and code checked, run it on your own machine. In the folder of the course,

```
python course.py lab
```

opens JupyterLab with your own copy of the first notebook. `python course.py site` writes the course as web pages in \
which every number can be moved, into `build/site`. Open `build/site/index.html` in your browser: the pages need no \
server. For a phone in the same network serve them, with `python -m http.server --directory build/site`, and open \
`http://`, this machine's address and `:8000` there. (This copy has no address on the web yet: [whoever publishes \
it](authors/README.md) fills in two lines, and links to read it online and to Colab, Binder and Codespaces stand \
here.)"""


def run_line(name):
    """The line of a notebook that says where it can be run, for whoever meets it on a page."""
    number, repository = name[:2], addresses()[0]
    ways = linked(("on its page", page(name)), ("in Colab", colab(name)), ("in Binder", binder(name)))
    package = f'"attn-lib[workbench] @ git+{repository}.git"' if repository else "'.[workbench]'"
    where = "" if repository else " in the course's folder"
    begins = f"{', '.join(ways)}, with nothing to install; " if ways else ""
    how = f"{repository}#readme" if on_github() else "../README.md"
    return (
        f"**Run it:** {begins}on your machine with `python course.py lab {number}` ([how]({how})). "
        f"Anywhere else it needs `pip install {package}`{where}."
    )


def with_run_line(source, name):
    """The first cell of a notebook, with that line under its title."""
    title, _, rest = as_written(source).partition("\n")
    return f"{title}\n\n{run_line(name)}\n\n{rest.lstrip()}"


def still_line(name):
    """What stands above the still picture of a board, over its folded tables, in HTML."""
    there = page(name)
    its_page = f'<a href="{there}">on the lesson\'s page</a>' if there else "on the lesson's page"
    return f"A still picture: it moves in JupyterLab and {its_page}. Its numbers as tables."


def with_other_ways(guide):
    """commands/README.md with the addresses in its lines for Binder and Colab."""
    repository, _ = addresses()
    stands = f"[{binder('01_by_hand')}]({binder('01_by_hand')})" if repository else ""
    guide = between(
        guide,
        "binder",
        f"**Binder.** {stands} opens it."
        if repository
        else "**Binder.** `https://mybinder.org/v2/git/REPOSITORY/main?urlpath=lab/tree/my/01_by_hand.ipynb`, with the "
        "repository's address percent-encoded (`/v2/gh/OWNER/NAME/main` on GitHub).",
    )
    return re.sub(r"git\+\S+(?= anywidget)", f"git+{repository or 'https://YOUR-GIT-HOST/attention'}.git", guide)


def with_urls(settings):
    """pyproject.toml with the addresses as those of the package."""
    repository, site = addresses()
    lines = [f'{name} = "{to}"' for name, to in (("Homepage", site), ("Repository", repository)) if to]
    lines += [f'Issues = "{repository}/issues"'] if on_github() else []
    table = "\n[project.urls]  # `python course.py publish` writes them\n" + "\n".join(lines) + "\n" if lines else ""
    bare = re.sub(r"\n\[project\.urls\].*?\n(?=\n\[)", "", settings, flags=re.S)
    return bare.replace("\n[project.optional-dependencies]", f"{table}\n[project.optional-dependencies]")


def with_citation(citation):
    """CITATION.cff with the addresses."""
    repository, site = addresses()
    without = re.sub(r"^(repository-code|url): .*\n", "", citation, flags=re.M)
    lines = [f'{name}: "{to}"\n' for name, to in (("repository-code", repository), ("url", site)) if to]
    return without + "".join(lines)
