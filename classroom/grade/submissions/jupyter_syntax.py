"""What Jupyter reads beyond Python, as plain Python that needs no Jupyter.

IPython's own transformer reads it. The calls of `get_ipython()` that come of it, which scripts exported from notebooks
have too, become what they leave behind in a notebook: the code under `%%time`, an empty list for `x = !ls`, nothing
for a question mark. No command is run.
"""

import ast
import functools
import re

MOST_MAGICS = 200  # of a cell; IPython reads the whole cell again for each of them
RUNS_ITS_LINE = {"time", "prun"}
RUNS_ITS_CELL = {"time", "prun", "capture"}
RUNS_ELSEWHERE = {  # in another program, or, as timeit does, among names of its own
    "!", "HTML", "R", "SVG", "bash", "bigquery", "cmd", "file", "html", "javascript", "js", "julia", "latex",
    "markdown", "matlab", "octave", "perl", "pypy", "python", "python2", "python3", "ruby", "script", "sh", "sql",
    "svg", "sx", "system", "timeit", "writefile",
}  # fmt: skip
NO_LINES = "__import__('IPython.utils.text', fromlist=['SList']).SList()"
NOTHING_CAPTURED = "__import__('IPython.utils.capture', fromlist=['CapturedIO']).CapturedIO(None, None, [])"
TIMED = (
    "__import__('types').SimpleNamespace(best=1e-6, worst=1e-6, average=1e-6, stdev=0.0, all_runs=[1e-6], "
    "timings=[1e-6], loops=1, repeat=1)"
)
VALUES = {  # what a magic gives that a name is bound to; of all others it is None
    "pwd": "__import__('os').getcwd()",
    "sx": NO_LINES,
    "system": NO_LINES,
    "who_ls": "[]",
    "env": "''",
}


def as_python(source):
    """Return a cell's source as Python.

    Raises: SyntaxError for what neither Python nor Jupyter can read.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        source = _transformed(source)
        tree = ast.parse(source)
    if "get_ipython" not in source:
        return source
    before = ast.dump(tree)
    tree = ast.fix_missing_locations(_WithoutJupyter().visit(tree))
    return source if ast.dump(tree) == before else ast.unparse(tree)


def _transformed(source):
    if len(re.findall(r"(?m)^\s*[%!?]|\?\s*$", source)) > MOST_MAGICS:
        raise SyntaxError(f"more than {MOST_MAGICS} magics and commands in one cell")
    try:
        return _transformer()(source)
    except RuntimeError as error:  # it gives up
        raise SyntaxError(str(error)) from None


@functools.cache
def _transformer():
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell


class _WithoutJupyter(ast.NodeTransformer):
    """Puts in place of each `get_ipython().run_…(…)` what it leaves behind."""

    def visit_Expr(self, node):
        call = _call_of_jupyter(node.value)
        if call is None:
            return self.generic_visit(node)
        match call:
            case "run_cell_magic", [name, line, body]:
                return _left_by_cell(name, line, body) or ast.Pass()
            case ("run_line_magic", [name, line]) if name in RUNS_ITS_LINE and not line.startswith("-"):
                return ast.parse(as_python(line)).body or ast.Pass()
        return ast.Pass()

    def visit_Call(self, node):
        match _call_of_jupyter(node):
            case None:
                return self.generic_visit(node)
            case "getoutput", _:
                text = NO_LINES
            case ("run_line_magic", [name, line]) if name in RUNS_ITS_LINE and not line.startswith("-"):
                text = f"({line})"
            case ("run_line_magic", ["timeit", line]) if "-o" in line.split():
                text = TIMED
            case "run_line_magic", [name, _]:
                text = VALUES.get(name, "None")
            case _:
                text = "None"
        return ast.parse(text, mode="eval").body


def _call_of_jupyter(node):
    """(method, its arguments) of a call `get_ipython().method("…")`, None for anything else."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name("get_ipython"), args=[]), attr=method)):
            args = [getattr(arg, "value", None) for arg in node.args]
            if not all(isinstance(arg, str) for arg in args):
                return None
            if method == "magic":  # as nbconvert wrote it years ago
                name, _, line = " ".join(args).lstrip("%").partition(" ")
                return "run_line_magic", [name, line.strip()]
            methods = "run_cell_magic", "run_line_magic", "system", "getoutput"
            return (method, args) if method in methods else None
    return None


def _left_by_cell(name, line, body):
    """The statements of a cell under a magic that are run in the notebook itself."""
    if name in RUNS_ELSEWHERE:
        return []
    try:
        statements = ast.parse(as_python(body)).body
    except SyntaxError:
        if name in RUNS_ITS_CELL:
            raise
        return []  # an extension's, for another language
    target = next((word for word in line.split() if word.isidentifier()), "")
    if name == "capture" and target:
        statements += ast.parse(f"{target} = {NOTHING_CAPTURED}").body
    return statements
