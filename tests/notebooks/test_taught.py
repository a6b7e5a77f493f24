"""What a lesson ends with is the library's source: the two cannot drift apart."""

import ast
import functools
import inspect

import nbformat
import pytest
from paths import LESSONS as NOTEBOOKS

from attn_lib import backward, cache, functional, gpt, induction, linear, masks, modules, online, position
from workbench.exercises.engine.source import without_checks

LIBRARY = {
    name: function
    for module in (functional, masks, backward, position, induction, cache, gpt, online, linear)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
} | {
    taught.__name__: taught for taught in (modules.AttentionHead, modules.MultiHeadAttentionByHeads, gpt.Block, gpt.GPT)
}


def bare(source):
    """A definition as `solution` shows it, whatever its comments and line breaks."""
    return ast.unparse(ast.parse(without_checks(source)))


@functools.cache
def taught_cells():
    """Name of the function → its cell's source, for every cell tagged taught."""
    cells = {}
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            if "taught" in cell.metadata.get("tags", []):
                name = ast.parse(cell.source).body[0].name
                assert name not in cells, f"{name} is taught twice"
                cells[name] = cell.source
    return cells


def test_every_taught_cell_is_in_the_library():
    assert set(taught_cells()) <= set(LIBRARY)


@pytest.mark.parametrize("name", LIBRARY)
def test_the_taught_definition_is_the_librarys(name):
    cells = taught_cells()
    assert name in cells, f"no notebook has a cell tagged `taught` that defines {name}"
    assert bare(cells[name]) == bare(inspect.getsource(LIBRARY[name]))


def test_the_modules_forward_has_notebook_4s_lines():
    """Mask, dropout and the kernel are the module's own business: its line that attends is longer."""
    cells = nbformat.read(NOTEBOOKS[3], as_version=4).cells
    (source,) = [cell.source for cell in cells if cell.source.startswith("def multi_head(")]
    taught = ast.parse(source.replace("module.", "self.")).body[0].body
    forward = ast.parse(inspect.cleandoc("\n" + inspect.getsource(modules.MultiHeadAttention.forward))).body[0].body
    lines = [ast.unparse(statement) for statement in forward]
    places = [
        lines.index(ast.unparse(line)) for line in taught if "scaled_dot_product_attention" not in ast.unparse(line)
    ]
    assert len(places) == 4 and places == sorted(places)
