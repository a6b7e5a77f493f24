"""The site's pages on attn_lib: one for each of its public names, made from the docstrings and the source."""

import ast
import inspect
import re
import sys
import textwrap
from itertools import groupby

import nbformat

import attn_lib

from ..lessons import lessons

FOLDER = "library"
ABOUT = (
    "What the lessons build up, and nothing else. Each function is written line by line in the lesson that its page "
    "names, and it is the same code there and here. The library needs PyTorch alone: `pip install .` in the course's "
    "folder, then `import attn_lib`."
)
PART = re.compile(r"^(Shapes|Raises|Source): ")
ADDRESS = re.compile(r"https://[^\s,;]*[^\s,;.]")
CODE = re.compile(r"`(\w+)`")


def pages():
    """Each page's place below the site's root, and its Markdown: an index, and a page for each public name."""
    taught = where_taught()
    yield f"{FOLDER}/index", index()
    for name in attn_lib.__all__:
        yield f"{FOLDER}/{name}", page(name, taught.get(name))


def index():
    """What the library has, module by module, with the first sentence of each docstring."""
    lines = ["# The library, attn_lib", "", ABOUT, ""]
    for module, names in groupby(sorted(attn_lib.__all__, key=place), key=lambda name: place(name)[0]):
        lines += [f"## {module.rpartition('.')[2]}", "", paragraphs(sys.modules[module])[0], ""]
        lines += [f"- [`{name}`]({name}.md): {linked(paragraphs(getattr(attn_lib, name))[0], name)}" for name in names]
        lines.append("")
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *attn_lib.__all__, "```", ""])


def page(name, lesson):
    """One public name: how it is called, what its docstring says, the lesson that builds it up, its source."""
    thing = getattr(attn_lib, name)
    lines = [f"# {name}", "", "```python", *calls(name, thing), "```", ""]
    lines += [f"{linked(paragraph, name)}\n" for paragraph in paragraphs(thing)]
    if lesson:
        lines += [f"Built up in [lesson {lesson.number}, {lesson.title}](../notebooks/{lesson.name}.ipynb).", ""]
    for method, documented in methods(thing):
        lines += [f"## {method}", "", "```python", call(f"{name}.{method}", documented), "```", ""]
        lines += [f"{linked(paragraph, name)}\n" for paragraph in paragraphs(documented)]
    lines += ["## Its code", "", "```python", code(thing), "```", ""]
    return "\n".join([*lines, "[All of attn_lib](index.md)", ""])


def place(name):
    """Where a name stands in the library: by module, then from top to bottom."""
    thing = getattr(attn_lib, name)
    return thing.__module__, inspect.getsourcelines(thing)[1]


def calls(name, thing):
    """How it is called, with the defaults that it has: a function or a class, and then a module's `forward`."""
    yield call(name, thing)
    if "forward" in vars(thing):
        yield call("module", thing.forward)


def call(name, thing):
    signature = inspect.signature(thing)
    without_self = [one for one in signature.parameters.values() if one.name != "self"]
    return f"{name}{signature.replace(parameters=without_self)}"


def code(thing):
    """The source without the docstring, which stands above it on the page."""
    lines = inspect.getsource(thing).rstrip().split("\n")
    docstring = ast.parse(textwrap.dedent("\n".join(lines))).body[0].body[0]
    del lines[docstring.lineno - 1 : docstring.end_lineno]
    return "\n".join(lines)


def methods(thing):
    """The public methods of a class that say what they do."""
    if inspect.isclass(thing):
        for name in vars(thing):
            documented = getattr(thing, name)
            if not name.startswith("_") and inspect.isroutine(documented) and documented.__doc__:
                yield name, documented


def paragraphs(thing):
    """A docstring's paragraphs; Shapes, Raises and Source begin one each, with the word in bold."""
    lines = []
    for line in inspect.getdoc(thing).splitlines():
        lines += ["", PART.sub(r"**\1.** ", line)] if PART.match(line) else [line]
    return re.split(r"\n\n+", "\n".join(lines))


def linked(text, page):
    """The text with its addresses as links, and the library's names as links to their pages."""
    text = ADDRESS.sub(r"<\g<0>>", text)
    others = {name for name in attn_lib.__all__ if name != page}
    return CODE.sub(lambda match: f"[`{match[1]}`]({match[1]}.md)" if match[1] in others else match[0], text)


def where_taught():
    """Which lesson builds a name up: its cell tagged `taught`, or else the first lesson that imports the name."""
    taught, imported = {}, {}
    for lesson in lessons():
        for cell in nbformat.read(lesson.path, as_version=4).cells:
            if cell.cell_type != "code":
                continue
            for node in statements(cell):
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and "taught" in cell.metadata.get("tags", []):
                    taught.setdefault(node.name, lesson)
                elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("attn_lib"):
                    for alias in node.names:
                        imported.setdefault(alias.name, lesson)
    return imported | taught


def statements(cell):
    """A cell's statements; none of one that Python cannot read, which stands there to fail."""
    try:
        return ast.parse(cell.source).body
    except SyntaxError:
        return []
