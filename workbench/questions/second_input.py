"""A learner's own line with other numbers, where those of the lesson let a wrong line pass."""

import ast
import re
import symtable
import types
from pathlib import Path

import torch
from IPython import get_ipython

from .. import shared_json
from ..places import BASELINE_FILE


def line_of(name):
    """The learner's last cell that assigns a name, as source, or None where there is none."""
    shell = get_ipython()
    cells = shell.user_ns.get("In", []) if shell else []
    return next((cell for cell in reversed(cells) if _assigns(cell, name)), None)


def _assigns(cell, name):
    """Whether running a cell binds a name: alone, among others, with a type, in a loop; not inside a function."""
    try:
        names = symtable.symtable(cell, "cell", "exec")
    except SyntaxError:
        return False
    return name in names.get_identifiers() and names.lookup(name).is_assigned()


def reads(source, names):
    """Whether a line reads all of these names: one that goes another way gives the same with other numbers for them."""
    return names <= _names_in(ast.parse(source))


def _names_in(tree, *contexts):
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, contexts or ast.expr_context)}


def with_helpers(source, numbers):
    """A line below the statements from other cells of the learner's own which it needs and other numbers change.

    Where it is not known which cells are the course's, the line alone.
    """
    course = _courses_cells()
    cells = [cell for cell in get_ipython().user_ns.get("In", []) if course and cell.strip() not in course]
    changed, depend = set(numbers), []
    for statement in (one for cell in cells for one in _statements(cell)):
        binds = _names_in(statement, ast.Store)
        if _names_in(statement, ast.Load) & changed and not binds & numbers.keys():
            depend.append(statement)
            changed |= binds
    needed, helpers = _names_in(ast.parse(source), ast.Load), []
    for statement in reversed(depend):
        if _names_in(statement, ast.Store) & needed:
            helpers.insert(0, ast.unparse(statement))
            needed |= _names_in(statement, ast.Load)
    return "\n".join([*helpers, source])


def _courses_cells():
    """The texts of the course's cells as copies were given them."""
    books = shared_json.read(Path(BASELINE_FILE)).values()
    return {cell["source"].strip() for book in books for cells in book["versions"].values() for cell in cells}


def _statements(cell):
    """The statements of a cell that give names a value, outside functions and loops."""
    try:
        return [one for one in ast.parse(cell).body if isinstance(one, ast.Assign | ast.AnnAssign)]
    except SyntaxError:  # in which IPython has a cell that is refused, too
        return []


WRITTEN = (  # what a result consists of that is written down number by number
    r"(?:torch\.(?:tensor|as_tensor|stack|bool|float\d*|double|int\d*|long|inf|nan)|math\.(?:inf|nan)|float|dtype|True|False"
    r"|\.(?:reshape|view|T)|e(?=[-\d])|[-+\d\s.,()\[\]=])*"
)


def is_written_down(source, name):
    """Whether a line computes nothing: it writes the result down, with which other numbers change nothing."""
    code = re.sub(r"#.*|^\s*import \w+$", "", source, flags=re.M)
    return bool(re.fullmatch(rf"\s*{name}\s*={WRITTEN}", code))


def other_names(names, numbers):
    """The values of other numbers, name → rows or code, where the names have these values.

    Code finds the other numbers before it.
    """
    others = {}
    for one, rows in numbers.items():
        others[one] = _value(rows, names | others, names.get(one))
    return others


def _value(rows, names, own):
    """Rows as a tensor that lies in memory as the lesson's does; code is worked out."""
    value = eval(rows, {"torch": torch} | names) if isinstance(rows, str) else torch.as_tensor(rows)
    if not isinstance(own, torch.Tensor):
        return value
    value = value.to(own.dtype)
    return torch.empty_like(own).copy_(value) if value.shape == own.shape else value


def right_with(numbers, gives, names=None):
    """What a right line gives with other numbers: `gives`, or what its code comes to; names are the notebook's."""
    if not isinstance(gives, str):
        return gives
    names = get_ipython().user_ns if names is None else names
    return eval(gives, {"torch": torch} | names | other_names(names, numbers))


def value_with(source, name, numbers):
    """What the name holds after this source has run with other numbers, name → rows or code; nothing else is changed.

    The notebook's functions find these numbers, too.

    Raises: whatever the source raises; KeyError if it gives the name nothing.
    """
    own = get_ipython().user_ns
    namespace = own | other_names(own, numbers)
    for other, value in own.items():
        if isinstance(value, types.FunctionType) and value.__globals__ is own:
            again = types.FunctionType(value.__code__, namespace, other, value.__defaults__, value.__closure__)
            again.__kwdefaults__ = value.__kwdefaults__
            namespace[other] = again
    namespace.pop(name, None)  # what the line gave before is not what it gives with these numbers
    exec(compile(source, f"<{name} with other numbers>", "exec"), namespace)
    return namespace[name]
