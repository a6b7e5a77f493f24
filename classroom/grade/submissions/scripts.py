"""A notebook that was saved as a .py: JupyterLab's, Colab's, VS Code's and jupytext's are cut into cells again."""

import ast
import re

from .jupyter_syntax import as_python

LONGEST = 1_000_000  # characters of a script that is read as a whole
# `# %%`, `# %% title`, `#%%`, `# In[3]:`; not `# %%time`, which is a magic that was made a comment
MARK = re.compile(r"(?m)^#[ \t]*(?:%%+(?![a-z!%])|In ?\[|<codecell>).*$")
COLABS_NOTE = "# Commented out IPython magic to ensure Python compatibility."
CELL_MAGIC = re.compile(rf"(?m)^{re.escape(COLABS_NOTE)}\n((?:# .*\n)*?)(# %%[a-z!].*(?:\n#(?: .*)?$)*)")
LINE_MAGIC = re.compile(r"(?m)^([ \t]*)# (?=%time |\w[\w, ]* = [!%])")


def pieces_of(text):
    """Return the sources of a script's cells: between the marks of an export, or else its top-level statements."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if COLABS_NOTE in text or "jupytext:" in text:
        text = LINE_MAGIC.sub(r"\1", text)
    pieces = []
    for part in MARK.split(text):
        before = 0
        for magic in CELL_MAGIC.finditer(part):
            pieces += _cut(part[before : magic.start()], MARK.search(text))
            pieces.append(re.sub(r"(?m)^# ?", "", magic[2]))
            before = magic.end()
        pieces += _cut(part[before:], MARK.search(text))
    return [piece.strip("\n") for piece in pieces if piece and piece.strip()]


def _cut(text, is_one_cell):
    return [text] if is_one_cell else statements_of(text)


def statements_of(text):
    """Return the source of each top-level statement; of a text that is no Python, its paragraphs as far as they go."""
    try:
        if len(text) > LONGEST:
            raise SyntaxError
        text = as_python(text)
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return re.split(r"(?m)(?<=\n)(?=[^\s)\]}])(?!(?:else|elif|except|finally)\b)(?<!^@.\n)", text)
    return [source_of(statement, text) for statement in tree.body]


def source_of(statement, text):
    """Return a top-level statement's own source, its decorators too."""
    decorators = getattr(statement, "decorator_list", None)
    if not decorators:
        return ast.get_source_segment(text, statement)
    return "\n".join(text.splitlines()[decorators[0].lineno - 1 : statement.end_lineno])
