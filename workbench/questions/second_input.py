"""A learner's own line with other numbers, where those of the lesson let a wrong line pass."""

import ast

import torch
from IPython import get_ipython


def line_of(name):
    """The learner's last cell that assigns a name, as source, or None where there is none."""
    shell = get_ipython()
    cells = shell.user_ns.get("In", []) if shell else []
    return next((cell for cell in reversed(cells) if _assigns(cell, name)), None)


def _assigns(cell, name):
    try:
        statements = ast.parse(cell).body
    except SyntaxError:
        return False
    targets = [target for line in statements if isinstance(line, ast.Assign) for target in line.targets]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def reads(source, names):
    """Whether a line reads all of these names: one that goes another way gives the same with other numbers for them."""
    return names <= {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def value_with(source, name, numbers):
    """What the name holds after this source has run with other numbers, name → rows; nothing else is changed.

    Raises: whatever the source raises.
    """
    own = get_ipython().user_ns
    others = {other: torch.as_tensor(rows, dtype=own[other].dtype) for other, rows in numbers.items()}
    namespace = own | others
    exec(compile(source, f"<{name} with other numbers>", "exec"), namespace)
    return namespace[name]
