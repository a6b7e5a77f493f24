"""What a lesson ends with is the library's source: the two cannot drift apart."""

import ast
import inspect
from pathlib import Path

import nbformat
import pytest

from attn_lib import functional, masks

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
LIBRARY = {
    name: function
    for module in (functional, masks)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
}


def bare(source):
    """A definition without its docstring and its argument checks."""
    (definition,) = ast.parse(source).body
    definition.body = [s for s in definition.body if not is_docstring(s) and not is_check(s)]
    return ast.unparse(definition)


def is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_check(statement):
    call = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(call, ast.Call) and call.func.id.startswith("check_")


def taught_cells():
    """Name of the function → (its cell's source, the source of the next code cell), for every cell tagged taught."""
    cells = {}
    for path in NOTEBOOKS:
        code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        for cell, following in zip(code, [*code[1:], None], strict=True):
            if "taught" in cell.metadata.get("tags", []):
                name = ast.parse(cell.source).body[0].name
                assert name not in cells, f"{name} is taught twice"
                cells[name] = (cell.source, following.source if following else "")
    return cells


def test_every_taught_cell_is_a_library_function():
    assert set(taught_cells()) <= set(LIBRARY)


@pytest.mark.parametrize("name", LIBRARY)
def test_the_taught_definition_is_the_librarys(name):
    cells = taught_cells()
    assert name in cells, f"no notebook has a cell tagged `taught` that defines {name}"
    source, following = cells[name]
    assert bare(source) == bare(inspect.getsource(LIBRARY[name]))
    assert "assert" in following and name in following, f"the cell after {name} does not show that it equals ours"


def test_a_changed_sign_or_default_would_be_noticed():
    source = "def f(x, y=1):\n    '''Text.'''\n    check_floating('x', x)\n    return x - y"
    assert bare(source) == "def f(x, y=1):\n    return x - y"
    assert bare(source) != bare(source.replace("-", "+"))
    assert bare(source) != bare(source.replace("y=1", "y=2"))
